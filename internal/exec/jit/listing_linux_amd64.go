package jit

import (
	"bytes"
	"runtime"

	"github.com/gocuda/cuda/internal/ir"
)

// List compiles a kernel for looking at. A function that machine code cannot hold has a Listing without Code.
func List(k *ir.Kernel) ([]Listing, error) {
	e, err := New()
	if err != nil {
		return nil, err
	}
	x, err := e.Compile(k)
	if err != nil {
		return nil, err
	}
	c := x.(*code)
	var list []Listing
	for i := range c.funcs {
		f := &c.funcs[i]
		l := Listing{Func: f.f.Name, Native: make([]bool, len(f.f.Ops))}
		for j := range f.f.Ops {
			switch op := &f.f.Ops[j]; op.Ctl {
			case ir.Branch, ir.Jump:
				l.Native[j] = true
			default:
				l.Native[j] = lookup(op) != nil || f.barriers[j] != 0
			}
		}
		if v := c.compile(f, 1); v.region != nil {
			l.Code, l.Entry = bytes.Clone(v.region.mem), v.entry
			for j, native := range l.Native { // the processor may lack what a template needs
				l.Native[j] = native && (f.analysis.native[j] != nil || lookup(&f.f.Ops[j]) == nil)
			}
		}
		list = append(list, l)
	}
	runtime.KeepAlive(c)
	return list, nil
}

// CodeBytes is how much executable memory is mapped now.
func (e *engine) CodeBytes() int64 { return e.mapped.Load() }
