// Package conform replays recorded cases on any device and reports what came out: instruction cases (package silicon)
// and whole modules (package corpus). One binary runs it on the software device and on a GPU.
package conform

import (
	"fmt"
	"io/fs"
	"math"
	"slices"
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
	Only     []string // groups; or modules, with ":" and a number one launch of a module; empty for all
	Build    string   // modules: the build to load; "" for the PTX that suits the device, AllBuilds
	Progress func(done, total int, what string)
}

// AllBuilds stands for every build of a module that holds PTX.
const AllBuilds = "all"

// wants says whether a group or module is chosen, and which launches of it, none meaning all.
func (o *Options) wants(name string) (launches []int, ok bool) {
	if len(o.Only) == 0 {
		return nil, true
	}
	for _, n := range o.Only {
		if n == name {
			return nil, true
		}
		if i, err := strconv.Atoi(strings.TrimPrefix(n, name+":")); err == nil {
			launches = append(launches, i)
		}
	}
	return launches, launches != nil
}

// known fails when a chosen name is not among those that exist.
func (o *Options) known(what string, names []string) error {
	for _, n := range o.Only {
		base, _, _ := strings.Cut(n, ":")
		if !slices.Contains(names, base) {
			return fmt.Errorf("the set has no %s %q, only: %s", what, base, strings.Join(names, " "))
		}
	}
	return nil
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
	// Launch is the launch of a module as Options.Only takes it, and Exception the reason when it is one of Exceptions.
	Launch    string `json:"launch,omitempty"`
	Exception string `json:"exception,omitempty"`
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
	// launches that must fail on a device that would not survive it in this process, as Options.Only takes them
	LeftOut []string `json:"left_out,omitempty"`
	// launches that pass although an exception names them
	Stale []string `json:"stale_exceptions,omitempty"`
}

// Failed is the number of failed cases.
func (r *Report) Failed() int {
	n := 0
	for _, c := range r.Groups {
		n += c.Failed
	}
	return n
}

// Unexpected counts the failed cases that no exception names.
func (r *Report) Unexpected() int {
	n := r.Failed()
	for i := range r.Cases {
		if c := &r.Cases[i]; c.Status == failed && c.Exception != "" {
			n--
		}
	}
	return n
}

// The statuses of a CaseReport.
const (
	failed         = "failed"
	notImplemented = "not implemented"
	notEqual       = "not bit-equal"
)

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
	name := d.String()
	if d.Engine != "" {
		name += ", " + d.Engine
	}
	return &Report{Device: name, Groups: map[string]Count{}, Kinds: map[string]Count{}}
}

// session is an open device that can be opened anew: a fault ends every use of a device by the process, and only the
// software device lets a process start over.
type session struct {
	opts device.Options
	d    *device.Device
	dev  driver.CUdevice

	printed, complained output
}

// DeviceError is a device that does not open.
type DeviceError struct{ Err error }

func (e *DeviceError) Error() string { return e.Err.Error() }

// Unwrap returns the error of package device.
func (e *DeviceError) Unwrap() error { return e.Err }

func openSession(o device.Options) (*session, error) {
	s := &session{opts: o}
	s.opts.Software.Stdout, s.opts.Software.Stderr = &s.printed, &s.complained
	return s, s.open()
}

func (s *session) open() (err error) {
	if s.d, err = device.Open(s.opts); err != nil {
		return &DeviceError{err}
	}
	if c := s.d.Table.DeviceGet(0, &s.dev, 0); c != driver.CUDA_SUCCESS {
		s.d.Close()
		return fmt.Errorf("cuDeviceGet: %v", c)
	}
	return nil
}

func (s *session) detail(ctx driver.CUcontext) string { return s.d.LastDetail(ctx) }

func (s *session) renew() (*driver.Table, error) {
	if err := s.d.Close(); err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s.d.Table, nil
}

// Instructions replays a set of instruction cases.
func Instructions(fsys fs.FS, o Options) (*Report, error) {
	set, err := silicon.Open(fsys)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(set.Groups))
	for i := range set.Groups {
		names[i] = set.Groups[i].Name
	}
	if err := o.known("group", names); err != nil {
		return nil, err
	}
	s, err := openSession(o.Device)
	if err != nil {
		return nil, err
	}
	defer func() { s.d.Close() }()
	var cases []*silicon.Case
	for i := range set.Cases {
		if _, ok := o.wants(set.Cases[i].Group); ok {
			cases = append(cases, &set.Cases[i])
		}
	}
	rep := newReport(s.d)
	var run *silicon.Runner
	defer func() {
		if run != nil {
			run.T.CtxDestroy_v2(0, run.Ctx)
		}
	}()
	for i, c := range cases {
		o.progress(i+1, len(cases), c.ID)
		if run == nil {
			run = &silicon.Runner{T: s.d.Table, Detail: s.detail}
			if code := run.T.CtxCreate_v2(0, &run.Ctx, 0, s.dev); code != driver.CUDA_SUCCESS {
				return nil, fmt.Errorf("cuCtxCreate: %v", code)
			}
		}
		res := run.Run(set, c)
		rep.instruction(c, &res)
		if res.Status == silicon.Failed && res.Diffs == nil { // the context may be broken, and the device with it
			run.T.CtxDestroy_v2(0, run.Ctx)
			run = nil
			if s.d.Kind == device.Software {
				if _, err := s.renew(); err != nil {
					return nil, err
				}
			}
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
			status = notEqual
		}
	case silicon.Failed:
		n.Failed, status = 1, failed
	case silicon.NotImplemented:
		n.NotImplemented, status = 1, notImplemented
	}
	r.add(c.Group, c.Kind, n)
	if status != "" {
		r.Cases = append(r.Cases, CaseReport{Name: c.ID, Group: c.Group, Kind: c.Kind, Status: status, Text: res.Text})
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
	if err := o.known("module", names); err != nil {
		return nil, err
	}
	s, err := openSession(o.Device)
	if err != nil {
		return nil, err
	}
	defer func() { s.d.Close() }()
	run := &corpus.Runner{T: s.d.Table, Dev: s.dev, Detail: s.detail}
	if s.d.Kind == device.Software {
		run.Printed, run.Complained, run.Renew, run.DeviceRuntime = s.printed.take, s.complained.take, s.renew, true
	}
	rep := newReport(s.d)
	var exceptions map[string]string // a GPU has none
	if s.d.Kind == device.Software {
		exceptions = Exceptions()
	}
	held := false
	for i, name := range names {
		o.progress(i+1, len(names), name)
		launches, ok := o.wants(name)
		if !ok {
			continue
		}
		m, err := set.Module(name)
		if err != nil {
			return nil, err
		}
		for _, build := range o.builds(m) {
			held = true
			for _, res := range run.Run(m, build, launches...) {
				rep.launch(m, &res, exceptions)
			}
		}
	}
	if !held && o.Build != "" {
		return nil, fmt.Errorf("no module of the set has a build %q", o.Build)
	}
	return rep, nil
}

func (o *Options) builds(m *corpus.Manifest) []string {
	switch o.Build {
	case "":
		if b := m.PTXBuild(); b != "" {
			return []string{b}
		}
	case AllBuilds:
		return m.Builds()
	default:
		if m.Files[o.Build] != "" {
			return []string{o.Build}
		}
	}
	return nil
}

func (r *Report) launch(m *corpus.Manifest, res *corpus.Result, exceptions map[string]string) {
	n := Count{}
	c := CaseReport{Name: fmt.Sprintf("%s:%d %s (%s)", m.Name, res.Launch, res.Kernel, res.Build), Group: m.Name,
		Kind: m.Kind, Text: res.Text, Launch: fmt.Sprintf("%s:%d", m.Name, res.Launch)}
	switch res.Status {
	case corpus.Passed:
		n.Passed, c.Status = 1, notEqual
		if res.Equal {
			n.Equal = 1
		}
	case corpus.Failed:
		n.Failed, c.Status = 1, failed
	case corpus.NotImplemented:
		n.NotImplemented, c.Status = 1, notImplemented
	case corpus.NotApplicable:
		return
	case corpus.LeftOut:
		r.LeftOut = append(r.LeftOut, c.Launch)
		return
	}
	r.add(m.Name, m.Kind, n)
	key, known := exception(exceptions, c.Launch)
	if known && res.Status == corpus.Passed {
		r.Stale = append(r.Stale, c.Launch)
	}
	if n.Equal == 0 {
		c.Exception = exceptions[key]
		r.Cases = append(r.Cases, c)
	}
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
