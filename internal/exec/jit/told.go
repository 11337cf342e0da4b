package jit

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// Under a checker that follows accesses (exec.Launch.Check) machine code notes those of plain loads, stores and atomic
// operations in its context, and Go tells the checker of them when the code comes back: before anything else that the
// checker is told of, and before another warp runs. Other operations that it has to know of are the interpreter's.

// NewWatched is New for kernels that tell exec.Launch.Check (race) or exec.Launch.Init (init) of what they do. They
// have to be launched with what was asked for.
func NewWatched(name string, race, init bool) (exec.Engine, error) {
	isa, err := chooseISA(name)
	if err != nil {
		return nil, err
	}
	e, err := newEngine(amd64.New(isa))
	if err != nil {
		return nil, err
	}
	e.check, e.init = race, init
	return e, nil
}

// Places are the kernel's operations as the checker knows them; nil for an engine without one.
func (c *code) Places() *exec.Places { return c.single.Places() }

// notes says whether machine code notes accesses.
func (e *engine) notes() bool { return e.check || e.init }

// tells finds the accesses of a function that machine code notes; what else the checker has to know of gets no machine
// code.
func (c *code) tells(f *ir.Func, native []bool) (told []*plan.Told) {
	switch {
	case !c.e.check && c.e.init:
		return storesOf(f)
	case !c.e.check:
		return nil
	}
	told = make([]*plan.Told, len(native))
	for i := range native {
		t := c.single.Told(f.Index, int32(i))
		if t == nil || !native[i] {
			continue
		}
		base, ok := t.Addressed()
		if !ok || base != nil && base.Class != ir.W64 && base.Class != ir.W32 {
			native[i] = false
			continue
		}
		told[i] = &plan.Told{Base: base}
	}
	return told
}

// openLog makes room for notes.
func (x *context) openLog() {
	if x.Log == nil {
		x.Log = new([abi.LogSize]byte)
	}
	x.LogAt = uintptr(unsafe.Pointer(x.Log))
	x.LogEnd = x.LogAt + abi.LogSize - abi.LogHead - 8*32
}

// drain tells of the accesses that the warp's code has noted. Of the last one nothing is told when it is that of an
// operation that was left to Go, or that faulted: but for -1 this is the number of that operation.
func (c *code) drain(w *exec.Warp, x *context, f int, undone int32) {
	start := unsafe.Pointer(x.Log)
	end := x.LogAt
	full := end > x.LogEnd
	x.LogAt = uintptr(start)
	for p := start; uintptr(p) < end; {
		e := (*abi.LogEntry)(p)
		t := c.single.Told(f, int32(e.Op))
		base, _ := t.Addressed()
		at := unsafe.Add(p, abi.LogHead)
		switch {
		case base == nil:
			p = at
		case base.Class == ir.W32:
			p = unsafe.Add(at, 4*32)
		default:
			p = unsafe.Add(at, 8*32)
		}
		if uintptr(p) >= end && !full && int32(e.Op) == undone {
			return
		}
		if e.Lanes != 0 {
			t.Tell(w, e.Lanes, at)
		}
	}
}
