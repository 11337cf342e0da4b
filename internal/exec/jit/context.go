package jit

import (
	"math/bits"
	"runtime/debug"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// context is what machine code knows of the warp that it runs for.
type context struct{ abi.Context }

// contextOf returns the warp's context, filled in for its CTA.
func contextOf(w *exec.Warp, t unsafe.Pointer, matrix func() unsafe.Pointer) *context {
	c := (*context)(w.Ext)
	switch {
	case c == nil || c.Self != t || w.ExtState == exec.ExtStale:
	case w.ExtState == exec.ExtReady:
		return c
	default:
		w.ExtState = exec.ExtReady
		c.CTAID, c.Op = w.CTA.Index, 0
		return c
	}
	if c == nil {
		c = new(context)
		w.Ext = unsafe.Pointer(c)
	}
	if matrix != nil && c.Matrix == nil {
		c.Matrix = matrix()
	}
	w.ExtState = exec.ExtReady
	l := w.CTA.Launch
	c.Self, c.Tables = t, t
	c.Low, c.Span = globalRange(l.Mem)
	c.CTA, c.SharedLow = unsafe.Pointer(w.CTA), uint64(w.CTA.SharedAddress(0))
	c.Shared = uintptr(w.CTA.Shared) - uintptr(c.SharedLow)
	shared := w.CTA.SharedSize
	if l.Mem.Check != nil {
		shared = w.CTA.SharedEnd()
	}
	for i := range c.SharedTop {
		c.SharedTop[i] = shared - 1<<i
	}
	c.Checked = nil
	c.Params = unsafe.Pointer(unsafe.SliceData(l.Params))
	c.Launch, c.LocalGen, c.ParamGen, c.ParamSize = unsafe.Pointer(l), l.Mem.Base+l.Mem.LocalOff, l.ParamAddr,
		uint32(len(l.Params))
	c.SharedGen = l.Mem.Base + l.Mem.SharedOff
	c.Warp, c.Block, c.CTAID, c.Grid = uint32(w.Index), l.Block, w.CTA.Index, l.Grid
	c.Consts = w.Base[1]
	c.Op = 0
	return c
}

// globalRange is the memory that machine code reaches by itself.
func globalRange(m *exec.Memory) (low, span uint64) {
	if m.Span > 2*plan.Slack {
		span = m.Span - 2*plan.Slack
	}
	return m.Base + m.Low, span
}

// Locate implements exec.FaultLocator.
func (c *code) Locate(w *exec.Warp, addr uint64) (at uint64, ok bool) {
	x := (*context)(w.Ext)
	if x == nil || x.Op>>24 == abi.AccessNone {
		return addr, false
	}
	w.Op = int32(x.Op & (1<<24 - 1))
	if c.e.check {
		c.drain(w, x, w.Act.Func.Index, w.Op)
	}
	active := w.Cur.Mask
	op := &w.Act.Func.Ops[w.Op]
	if op.Guard >= 0 {
		active &= x.Out
	}
	w.Lane, addr = x.locate(x.Op>>24, active, addr, op)
	return addr, true
}

// within says whether the access of size bytes at an address fails at addr, and gives the first of its bytes that does.
// Gathers of less than a word read the word around it.
func within(addr, at, size uint64) (uint64, bool) {
	if addr < at && addr == at&^3 && size < 4 {
		return at, true
	}
	return addr, addr-at < size
}

// locate finds the lane among the active ones whose access failed at addr, and its address.
func (x *context) locate(kind, active uint32, addr uint64, op *ir.Op) (lane int, at uint64) {
	first := bits.TrailingZeros32(active) & 31
	switch kind {
	case abi.AccessUniform:
		return first, addr
	case abi.AccessLane:
		return int(x.Addr[0]) & 31, addr
	}
	a, ok := op.Access()
	if !ok {
		return first, addr
	}
	size, disp := uint64(a.Size), uint64(a.Addr.Disp)
	for m := active; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		a := x.Addrs[l]
		switch kind {
		case abi.AccessHalf0, abi.AccessHalf1:
			if h := int(kind - abi.AccessHalf0); h != l/16 {
				continue
			}
			a = x.Addr[kind-abi.AccessHalf0] + uint64(l%16)*size
		}
		if at, ok := within(addr, a+disp, size); ok {
			return l, at
		}
		if kind == abi.AccessLanes && x.stores(op, a+disp) {
			return l, a + disp
		}
	}
	return first, addr
}

// stores says whether an operation is a store that fails at an address too: stores begin with the highest lane, and
// what is told is the lowest one that fails.
func (x *context) stores(op *ir.Op, addr uint64) (fails bool) {
	if op.Effect() != optab.MemStore {
		return false
	}
	m := (*exec.Launch)(x.Launch).Mem
	if addr-m.Base >= m.Size {
		return false
	}
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() { fails = recover() != nil }()
	mem.AddUint32((*uint32)(unsafe.Add(m.Ptr, (addr-m.Base)&^3)), 0)
	return false
}
