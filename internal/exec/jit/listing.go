package jit

import (
	"bytes"
	"runtime"
	"slices"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// Listing is the machine code of a function.
type Listing struct {
	Func   string
	Native []bool // by operation: it has machine code; the others return to Go
	// Whole is the code that runs whole CTAs, and nil when there is none; Warps is that for whole warps, which runs
	// CTAs that stop before their end.
	Whole, Warps *Code
	WhyNot       []*plan.NoCodeError // what stood in the way of Whole; the last says why there is none
	Falls        []*plan.NoCodeError // what is left to the interpreter of Warps
}

// Code is machine code with the operations that it was made of.
type Code struct {
	Bytes []byte
	Marks []Mark // by offset
}

// Size is the number of bytes; none for nil.
func (c *Code) Size() int {
	if c == nil {
		return 0
	}
	return len(c.Bytes)
}

// Mark says which operation's code begins at an offset.
type Mark = abi.Mark

// OutOfLine stands for no operation in a Mark: what all operations before have behind the function's end.
const OutOfLine = abi.OutOfLine

// Count says how many of the operations have machine code.
func (l *Listing) Count() (native int) {
	for _, n := range l.Native {
		if n {
			native++
		}
	}
	return native
}

// List compiles a kernel for blocks of the given dimensions, for looking at; isa is as for New.
func List(k *ir.Kernel, block [3]uint32, isa string) ([]Listing, error) {
	x, err := New(isa)
	if err != nil {
		return nil, err
	}
	e := x.(*engine)
	e.listing = true
	y, err := e.Compile(k)
	if err != nil {
		return nil, err
	}
	c := y.(*code)
	var list []Listing
	for i := range c.funcs {
		f := &c.funcs[i]
		l := Listing{Func: f.f.Name, Native: make([]bool, len(f.f.Ops))}
		if v := c.compile(f, 1, nil); v.region != nil {
			l.Warps = &Code{bytes.Clone(v.region.mem), slices.Clone(*f.marks)}
		}
		for j := range f.f.Ops {
			switch op := &f.f.Ops[j]; op.Ctl {
			case ir.Branch, ir.Jump:
				l.Native[j] = true
			default:
				l.Native[j] = f.analysis.Native[j] || f.barriers[j] != 0
			}
		}
		if i == 0 {
			if v := c.ctaVersion(&c.cta, ctaKey{dims: block}, nil); v != nil {
				l.Whole = &Code{bytes.Clone(v.region.mem), slices.Clone(*c.cta.marks)}
			}
			l.WhyNot = slices.Clone(c.cta.falls)
		}
		for j := range f.f.Ops {
			if c := f.f.Ops[j].Ctl; l.Whole != nil && (c == ir.Exit || c == ir.Ret) {
				l.Native[j] = true
			}
		}
		l.Falls = slices.Clone(f.falls)
		list = append(list, l)
	}
	runtime.KeepAlive(c)
	return list, nil
}

// marks is where a listing's marks go; nil when the engine makes none.
func (e *engine) marks() *[]Mark {
	if !e.listing {
		return nil
	}
	return new([]Mark)
}

// CodeBytes is how much executable memory is mapped now.
func (e *engine) CodeBytes() int64 { return e.mapped.Load() }
