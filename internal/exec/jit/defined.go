package jit

import (
	"bytes"
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Code of whole CTAs under a checker that follows what nobody has written (exec.Launch.Init). It runs as long as
// everything that it loads is defined: then all its registers are, since plan.Func.Follow has seen that none is read
// before it is written, and everything that it stores. The first operation that would load an undefined byte is left to
// the interpreter, which goes on with the CTA from there and follows undefined bits one by one.
//
// Loads from global memory have bounds, as under a memory checker: within one all bytes are defined, and Go looks for
// another range where an address is not. Stores to global memory are noted, and Go makes what they wrote defined when
// it reads the notes, at the latest when it is asked of bytes that are not defined. Of shared memory the code keeps a
// byte for each byte, abi.DefinedOff behind it: all ones where it is defined.

// loads is the kernel's entry with bounds for its loads.
func (c *code) loads() *function {
	f := &function{loads: true}
	f.prepare(c.k.Funcs[0], true)
	return f
}

// storesOf are a function's stores to global memory, which are noted.
func storesOf(f *ir.Func) []*plan.Told {
	told := make([]*plan.Told, len(f.Ops))
	for i := range f.Ops {
		if a, ok := storeOf(&f.Ops[i]); ok && a.Addr.Base != nil && a.Addr.Base.Class == ir.W64 {
			told[i] = &plan.Told{Base: a.Addr.Base}
		}
	}
	return told
}

// storeOf is what a store to global memory writes.
func storeOf(op *ir.Op) (a ir.Access, ok bool) {
	a, ok = plan.SoleAccess(op)
	return a, ok && op.Effect() == optab.MemStore && (a.Addr.Space == ir.Global || a.Addr.Space == ir.Generic)
}

// defining is what a runner has for a checker that follows what nobody has written.
type defining struct {
	shared  bool // the kernel accesses shared memory
	tripped bool // the CTA stopped where it loads what is not defined
	trips   int  // of the launch
	global  *checker.Bytes
}

// maxTrips is how many CTAs of a launch may load what nobody has written until the rest is left to the interpreter.
const maxTrips = 64

// beginDefined is for a launch.
func (r *blockRunner) beginDefined() {
	d := &r.defining
	d.tripped, d.trips, d.shared = false, 0, false
	for _, f := range r.s.analysis.Followed {
		d.shared = d.shared || f != nil
	}
}

// undefineShared is for a CTA that begins.
func (r *blockRunner) undefineShared() {
	if r.defining.shared {
		clear(r.definedBytes())
	}
}

// definedBytes is what is known of shared memory, byte by byte.
func (r *blockRunner) definedBytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Add(r.memory, abi.DefinedOff)), r.sharedBytes)
}

// goodAround is the memory around an address in which an operation may access everything: that checkers allow, and
// where it reads all of which is defined.
func (r *blockRunner) goodAround(at uint64, b *plan.BoundedAccess) (low, size uint64) {
	m := r.l.Mem
	low, size = m.Base+m.Low, m.Span
	if m.CheckRange != nil {
		low, size = m.CheckRange(at, b.Write)
	}
	if !r.c.e.init || !b.Reads || size < uint64(b.Size) {
		return low, size
	}
	first, last := r.definedAround(at)
	if last-first < uint64(b.Size) || last-at < uint64(b.Size) {
		r.tellNotes(-1)
		first, last = r.definedAround(at)
	}
	first, last = max(first, low), min(last, low+size)
	if last < first || last-at < uint64(b.Size) {
		r.defining.tripped = true
		return at, 0
	}
	return first, last - first
}

func (r *blockRunner) definedAround(at uint64) (low, high uint64) {
	defer r.l.Init.UnlockGlobal()
	return r.l.Init.LockGlobal().Around(at)
}

// defines makes defined what an operation stores that has been noted. Global memory is locked.
func (r *blockRunner) defines(o *noted, lanes uint32, at unsafe.Pointer) {
	g := r.defining.global
	size := uint64(o.stores)
	if s := o.scalar; s != nil && o.base.Class == ir.W64 {
		first := func(l int) uint64 {
			base, more := laneOf(at, s, l)
			return *(*uint64)(base) + uint64(more) + uint64(int64(o.disp))
		}
		switch {
		case s.Kind == plan.Uniform:
			define(g, first(0), size)
			return
		case lanes == 1<<32-1 && s.Linear() && s.Stride == int64(size):
			define(g, first(0), 32*size)
			return
		case lanes == 1<<32-1 && s.Stride == int64(size):
			define(g, first(0), 16*size)
			define(g, first(16), 16*size)
			return
		}
	}
	var rows [32]uint64
	r.addresses(o, at, &rows)
	start, n := uint64(0), uint64(0)
	for ; lanes != 0; lanes &= lanes - 1 {
		a := rows[bits.TrailingZeros32(lanes)&31]
		if n > 0 && a == start+n {
			n += size
			continue
		}
		define(g, start, n)
		start, n = a, size
	}
	define(g, start, n)
}

func define(g *checker.Bytes, at, n uint64) {
	if n > 0 && !g.Defined(at, n) {
		g.SetRange(at, n, false)
	}
}

// handDefined gives a CTA that stopped to the interpreter, with what is known of its memory. The CTA has not run yet.
func (r *blockRunner) handDefined(c *exec.CTA) {
	if r.defining.shared {
		b, known := c.Init().Shared, r.definedBytes()
		for at, n := 0, 0; at < len(known); at += n {
			if n = bytes.IndexByte(known[at:], known[at]^0xff); n < 0 { // as many as are alike
				n = len(known) - at
			}
			if known[at] != 0 {
				b.SetRange(uint64(at), uint64(n), false)
			}
		}
	}
	for _, w := range c.Warps {
		r.c.single.Defined(w)
	}
}
