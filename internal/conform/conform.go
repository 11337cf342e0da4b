// Package conform replays recorded cases on any device and reports what came out: instruction cases (package silicon) and
// whole modules (package corpus). One binary runs it on the software device and on a GPU.
package conform

import (
	"fmt"
	"io/fs"
	"math"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/gocuda/cuda/internal/corpus"
	"github.com/gocuda/cuda/internal/device"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/silicon"
)

// Options choose the device and the cases.
type Options struct {
	Device   device.Options
	Only     []string // groups or modules; empty for all
	Build    string   // modules: the build to load; "" for the PTX that suits the device
	Progress func(done, total int, what string)
}

func (o *Options) wants(name string) bool {
	if len(o.Only) == 0 {
		return true
	}
	for _, n := range o.Only {
		if n == name {
			return true
		}
	}
	return false
}

func (o *Options) progress(done, total int, what string) {
	if o.Progress != nil {
		o.Progress(done, total, what)
	}
}

// Count counts outcomes. Equal counts the passed cases whose bits are all those recorded.
type Count struct {
	Passed         int `json:"passed"`
	Failed         int `json:"failed"`
	NotImplemented int `json:"not_implemented"`
	Equal          int `json:"bit_equal"`
}

// Add adds another count.
func (c *Count) Add(o Count) {
	c.Passed += o.Passed
	c.Failed += o.Failed
	c.NotImplemented += o.NotImplemented
	c.Equal += o.Equal
}

// CaseReport is a case that is not simply equal.
type CaseReport struct {
	Name   string `json:"name"`
	Group  string `json:"group"`
	Kind   string `json:"kind"`
	Status string `json:"status"`
	Text   string `json:"text,omitempty"`
}

// Distance is how far a form that is not exact by specification is from the recorded bits.
type Distance struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"`
	Elements  int    `json:"elements"`
	Different int    `json:"different"`
	ULP       string `json:"max_ulp"`
}

// Report is the outcome of a set.
type Report struct {
	Device    string           `json:"device"`
	Groups    map[string]Count `json:"groups"`
	Kinds     map[string]Count `json:"kinds"`
	Cases     []CaseReport     `json:"cases,omitempty"`
	Distances []Distance       `json:"distances,omitempty"`
	LeftOut   int              `json:"left_out,omitempty"` // launches that must fail, on a device that would not survive it in this process
}

// Failed is the number of failed cases.
func (r *Report) Failed() int {
	n := 0
	for _, c := range r.Groups {
		n += c.Failed
	}
	return n
}

// Total is the sum over all groups.
func (r *Report) Total() Count {
	var t Count
	for _, c := range r.Groups {
		t.Add(c)
	}
	return t
}

func (r *Report) add(group, kind string, c Count) {
	g, k := r.Groups[group], r.Kinds[kind]
	g.Add(c)
	k.Add(c)
	r.Groups[group], r.Kinds[kind] = g, k
}

func newReport(d *device.Device) *Report {
	return &Report{Device: d.String(), Groups: map[string]Count{}, Kinds: map[string]Count{}}
}

// Instructions replays a set of instruction cases.
func Instructions(fsys fs.FS, o Options) (*Report, error) {
	set, err := silicon.Open(fsys)
	if err != nil {
		return nil, err
	}
	d, err := device.Open(o.Device)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	t := d.Table
	var dev driver.CUdevice
	if c := t.Init(0, 0); c != driver.CUDA_SUCCESS {
		return nil, fmt.Errorf("cuInit: %v", c)
	}
	if c := t.DeviceGet(0, &dev, 0); c != driver.CUDA_SUCCESS {
		return nil, fmt.Errorf("cuDeviceGet: %v", c)
	}
	var cases []*silicon.Case
	for i := range set.Cases {
		if o.wants(set.Cases[i].Group) {
			cases = append(cases, &set.Cases[i])
		}
	}
	rep := newReport(d)
	run := &silicon.Runner{T: t, Detail: d.LastDetail}
	defer func() { t.CtxDestroy_v2(0, run.Ctx) }()
	for i, c := range cases {
		o.progress(i+1, len(cases), c.ID)
		if run.Ctx == 0 {
			if code := t.CtxCreate_v2(0, &run.Ctx, 0, dev); code != driver.CUDA_SUCCESS {
				return nil, fmt.Errorf("cuCtxCreate: %v", code)
			}
		}
		res := run.Run(set, c)
		rep.instruction(c, &res)
		if res.Status == silicon.Failed && res.Diffs == nil { // the context may be broken
			t.CtxDestroy_v2(0, run.Ctx)
			*run = silicon.Runner{T: t, Detail: d.LastDetail}
		}
	}
	sort.Slice(rep.Distances, func(i, j int) bool { return rep.Distances[i].Name < rep.Distances[j].Name })
	return rep, nil
}

func (r *Report) instruction(c *silicon.Case, res *silicon.Result) {
	n := Count{}
	status := ""
	switch res.Status {
	case silicon.Passed:
		n.Passed = 1
		if res.Equal {
			n.Equal = 1
		} else {
			status = "not bit-equal"
		}
	case silicon.Failed:
		n.Failed = 1
		status = "failed"
	case silicon.NotImplemented:
		n.NotImplemented = 1
		status = "not implemented"
	}
	r.add(c.Group, c.Kind, n)
	if status != "" {
		r.Cases = append(r.Cases, CaseReport{c.ID, c.Group, c.Kind, status, res.Text})
	}
	if c.Kind != "exact" && res.Diffs != nil {
		d := Distance{Name: c.Group + ": " + c.ID, Kind: c.Kind}
		ulp := uint64(0)
		for _, x := range res.Diffs {
			d.Elements += x.Elements
			d.Different += x.Different
			ulp = max(ulp, x.MaxULP)
		}
		d.ULP = strconv.FormatUint(ulp, 10) + " ulp"
		if ulp == math.MaxUint64 {
			d.ULP = "not a float, or NaN or infinity against a number"
		}
		r.Distances = append(r.Distances, d)
	}
}

// Modules replays a set of modules.
func Modules(fsys fs.FS, o Options) (*Report, error) {
	set := corpus.Open(fsys)
	names, err := set.Names()
	if err != nil {
		return nil, err
	}
	var printed output
	o.Device.Software.Stdout = &printed
	d, err := device.Open(o.Device)
	if err != nil {
		return nil, err
	}
	defer func() { d.Close() }()
	run := &corpus.Runner{T: d.Table}
	run.Detail = func(ctx driver.CUcontext) string { return d.LastDetail(ctx) }
	if d.Kind == device.Software {
		run.Printed = printed.take
		run.Renew = func() (*driver.Table, error) {
			if err := d.Close(); err != nil {
				return nil, err
			}
			if d, err = device.Open(o.Device); err != nil {
				return nil, err
			}
			return d.Table, nil
		}
	}
	if c := d.Table.DeviceGet(0, &run.Dev, 0); c != driver.CUDA_SUCCESS {
		return nil, fmt.Errorf("cuDeviceGet: %v", c)
	}
	rep := newReport(d)
	for i, name := range names {
		o.progress(i+1, len(names), name)
		if !o.wants(name) {
			continue
		}
		m, err := set.Module(name)
		if err != nil {
			return nil, err
		}
		build := o.Build
		if build == "" {
			build = m.PTXBuild()
		}
		if m.Files[build] == "" {
			continue
		}
		for _, res := range run.Run(m, build) {
			n := Count{}
			switch res.Status {
			case corpus.Passed:
				n.Passed, n.Equal = 1, 1
			case corpus.Failed:
				n.Failed = 1
			case corpus.NotImplemented:
				n.NotImplemented = 1
			case corpus.NotApplicable:
				continue
			case corpus.LeftOut:
				rep.LeftOut++
				continue
			}
			rep.add(name, m.Kind, n)
			if res.Status != corpus.Passed {
				rep.Cases = append(rep.Cases, CaseReport{fmt.Sprintf("%s launch %d, %s (%s)", name, res.Launch, res.Kernel, build), name, m.Kind, res.Status.String(), res.Text})
			}
		}
	}
	return rep, nil
}

// output collects what kernels print.
type output struct {
	mu sync.Mutex
	b  strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) take() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.b.String()
	o.b.Reset()
	return s
}
