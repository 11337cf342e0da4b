package softdev

import (
	"errors"
	"sync/atomic"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/link"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// linkOptions are what package link has to know of the device.
func (dev *device) linkOptions(sm int) link.Options {
	return link.Options{SM: sm, MaxShared: dev.maxSharedOptin(), Newest: dev.d.newestPTX, Builtin: interp.Builtin,
		Runtime: interp.DeviceRuntime}
}

// linkError turns a failure of package link into the driver's result.
func linkError(err error) *loadError {
	if errors.Is(err, ptx.ErrStopped) {
		return &loadError{result: driver.CUDA_ERROR_NOT_READY, err: err}
	}
	var e *link.Error
	if !errors.As(err, &e) {
		return &loadError{result: driver.CUDA_ERROR_UNKNOWN, err: err}
	}
	return &loadError{result: driver.CUresult(e.Result()), log: e.Log, err: e}
}

// reload makes a program of an image that the linker made, here or in another process. It was compiled then: options of
// the load change nothing.
func (d *Driver) reload(data []byte, dev *device, stop *atomic.Bool) (*program, *loadError) {
	lo := dev.linkOptions(dev.sm())
	lo.Stop = stop
	l, err := link.Load(data, lo) // as machine code: CUDA_DISABLE_PTX_JIT does not stop it
	if err != nil {
		return nil, linkError(err)
	}
	p := &program{d: d, sm: dev.sm()}
	p.assemble(l)
	return p, nil
}

// functionDistance is how far the addresses of functions lie apart.
const functionDistance = 256

// assemble takes over a linked program: variables get their places in the blocks, functions their addresses.
func (p *program) assemble(l *link.Linked) {
	p.linked = l
	for _, v := range l.Variables {
		switch {
		case opaque(v):
			p.refer(v)
		case v.Space == "const":
			p.consts.add(v)
		case v.Managed:
			p.managed.add(v)
		default:
			p.globals.add(v)
		}
	}
	// Addresses of functions are numbers in the part of the window that never holds memory, different in every program.
	n := uint64(len(l.Taken)) * functionDistance
	p.syms = l.Symbols(p.d.codeEnd.Add(n)-n, functionDistance)
	p.syms.Registers = p.d.env.CoredumpOnException
	p.syms.NoInline = p.d.uninit != nil || p.syms.Registers
	target, align := map[*check.Func]int{}, map[*check.Func]uint64{}
	for _, u := range l.Units {
		a := uint64(1)
		for _, v := range u.Module.Vars {
			if v.Space == "shared" && v.Size == 0 {
				a = max(a, v.Align)
			}
		}
		for _, f := range u.Module.Funcs {
			target[f], align[f] = u.Module.Target.SM, a
		}
	}
	p.byName, p.byAddress = map[string]*entry{}, map[uint64]*entry{}
	for _, f := range l.Kernels {
		e := &entry{prog: p, fn: f, target: target[f], with: l.Compile(f), align: align[f]}
		p.entries = append(p.entries, e)
		if l.Kernel(f.Name) == f {
			p.byName[f.Name] = e
		}
		if at, ok := p.syms.Handles[f]; ok {
			p.byAddress[at] = e
		}
	}
}

// global finds a variable that the program can ask for by name, nil when there is none.
func (p *program) global(name string) *check.Var {
	if v := p.linked.Variable(name); v != nil && !opaque(v) {
		return v
	}
	return nil
}
