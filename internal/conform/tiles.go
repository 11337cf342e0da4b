package conform

import (
	"fmt"
	"io/fs"

	"github.com/gocuda/cuda/internal/device"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/tileset"
)

// Tiles replays a set of Tile IR kernels; its groups are the families of modules. from are the folders that hold the
// set's files.
func Tiles(o Options, from ...fs.FS) (*Report, error) {
	set, err := tileset.Open(from...)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for i := range set.Modules {
		names = append(names, set.Modules[i].Family)
	}
	if err := o.known("family", names); err != nil {
		return nil, err
	}
	s, err := openSession(o.Device)
	if err != nil {
		return nil, err
	}
	defer func() { s.d.Close() }()
	rep := newReport(s.d)
	var run *tileset.Runner
	defer func() {
		if run != nil {
			run.T.CtxDestroy_v2(0, run.Ctx)
		}
	}()
	for i := range set.Cases {
		c := &set.Cases[i]
		o.progress(i+1, len(set.Cases), c.Name)
		if _, ok := o.wants(set.Family(c)); !ok {
			continue
		}
		software := s.d.Kind == device.Software
		if c.Expect.Sync != driver.CUDA_SUCCESS.String() && !software {
			rep.LeftOut = append(rep.LeftOut, c.Name) // it would cost this process its GPU
			continue
		}
		if run == nil {
			run = &tileset.Runner{T: s.d.Table, Detail: s.detail}
			if software {
				run.Printed = s.printed.take
			}
			if code := run.T.CtxCreate_v2(0, &run.Ctx, 0, s.dev); code != driver.CUDA_SUCCESS {
				return nil, fmt.Errorf("cuCtxCreate: %v", code)
			}
		}
		res := run.Run(set, c)
		rep.tile(set.Family(c), &res)
		if res.Broken || res.Status == tileset.Failed && software {
			run.T.CtxDestroy_v2(0, run.Ctx)
			run = nil
			if _, err := s.renew(); err != nil {
				return nil, err
			}
		}
	}
	return rep, nil
}

// The kinds of tile cases: results that the dialect fixes, and those with a tolerance.
const (
	tileExact     = "exact"
	tileTolerance = "tolerance"
)

func (r *Report) tile(family string, res *tileset.Result) {
	c := CaseReport{Name: res.Case.Name, Group: family, Kind: tileExact, Text: res.Text}
	for i := range res.Case.Buffers {
		if how := res.Case.Buffers[i].Compare; how != nil {
			if _, bits, err := tileset.ParseTolerance(how); err == nil && !bits {
				c.Kind = tileTolerance
			}
		}
	}
	n := Count{}
	switch res.Status {
	case tileset.Passed:
		n.Passed, c.Status = 1, notEqual
		if res.Equal {
			n.Equal = 1
		}
	case tileset.Failed:
		n.Failed, c.Status = 1, failed
	case tileset.NotLoaded:
		n.NotImplemented, c.Status = 1, notImplemented
	}
	r.add(family, c.Kind, n)
	if n.Equal == 0 {
		r.Cases = append(r.Cases, c)
	}
}
