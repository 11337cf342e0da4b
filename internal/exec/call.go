package exec

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// maxDepth and maxFrames bound the calls under way in one warp, whatever its local memory: their number and the bytes
// of their registers and parameters.
const (
	maxDepth  = 16384
	maxFrames = 2 * ir.MaxFrame
)

// newActivation makes an activation of f, or takes one that has ended. Registers that a kernel reads before it writes
// them have no defined value, but narrow ones must keep their upper bits zero, so another function's leavings are
// cleared.
func (w *Warp) newActivation(f *ir.Func) *Activation {
	var a *Activation
	need, n := int(f.FrameSize+64), len(w.acts)
	best := -1
	for i := n - 1; i >= 0 && i >= n-8; i-- {
		x := w.acts[i]
		if x.Func == f {
			best = i
			break
		}
		if best < 0 && len(x.frame) >= need {
			best = i
		}
	}
	if best >= 0 {
		a = w.acts[best]
		w.acts[best] = w.acts[n-1]
		w.acts = w.acts[:n-1]
		if a.Func != f {
			clear(a.frame)
		}
		a.Caller, a.Call, a.Dyn = nil, nil, nil
	} else {
		a = &Activation{frame: w.memory((f.FrameSize + 64 + 63) &^ 63)}
		p := unsafe.Pointer(unsafe.SliceData(a.frame))
		a.Frame = unsafe.Add(p, -uintptr(p)&63) // rows on cache lines
	}
	a.Func = f
	w.actBytes += uint64(len(a.frame))
	return a
}

func (w *Warp) freeActivation(a *Activation) {
	if a == w.root {
		return
	}
	w.acts = append(w.acts, a)
	w.actBytes -= uint64(len(a.frame))
}

// Call enters a function with the given lanes of the current split; the others go on after the call later. ret is the
// operation after it.
func (w *Warp) Call(f *ir.Func, info *ir.CallInfo, lanes uint32, ret int32) Event {
	s := w.Cur
	caller := s.Act
	local := check.Layout{Size: uint64(caller.Top)}
	if caller.Dyn != nil {
		for l, t := range caller.Dyn {
			if lanes>>l&1 != 0 {
				local.Size = max(local.Size, uint64(t))
			}
		}
	}
	at := local.Place(f.Local.Size, f.Local.Align)
	if local.Size > uint64(w.LocalSize) && f.Local.Size > 0 || caller.Depth >= maxDepth ||
		w.actBytes+f.FrameSize > maxFrames {
		w.Throw(FaultStack, bits.TrailingZeros32(lanes),
			"calls are nested too deep for the thread's stack (CU_LIMIT_STACK_SIZE)")
	}
	a := w.newActivation(f)
	a.Caller, a.Call, a.Return, a.Live, a.Depth = caller, info, ret, lanes, caller.Depth+1
	a.Local, a.Top = uint32(at), uint32(local.Size)
	for i := range info.Args {
		c := &info.Args[i]
		if c.To >= len(f.Params) {
			w.Throw(FaultPC, bits.TrailingZeros32(lanes),
				"the function called through a pointer takes fewer parameters")
		}
		w.copyParam(c, caller.Frame, part(f.Params[c.To], c.At), f.ParamRegs[c.To], a.Frame, lanes, true)
	}
	if rest := s.Mask &^ lanes; rest != 0 {
		t := w.newSplit()
		t.PC, t.Mask, t.Act = ret, rest, caller // guarded off: they skip the call
		s.Mask = lanes
	}
	s.Act, s.PC = a, 0
	return EventReschedule
}

// Return ends the function for lanes of the current split; the rest goes on at next.
func (w *Warp) Return(lanes uint32, next int32) Event {
	s := w.Cur
	a := s.Act
	if a.Caller == nil {
		w.Exit(lanes, next)
		return EventReschedule
	}
	info := a.Call
	for i := range info.Rets {
		c := &info.Rets[i]
		if c.To >= len(a.Func.Returns) {
			break
		}
		w.copyParam(c, a.Caller.Frame, part(a.Func.Returns[c.To], c.At), a.Func.RetRegs[c.To], a.Frame, lanes, false)
	}
	a.Live &^= lanes
	if rest := s.Mask &^ lanes; rest != 0 {
		t := w.newSplit()
		t.PC, t.Mask, t.Act = next, rest, a
		s.Mask = lanes
	}
	s.PC, s.Act = a.Return, a.Caller
	if a.Live == 0 {
		w.freeActivation(a)
		w.Act = nil
	}
	return EventReschedule
}

// part is a parameter variable from a byte on. A function that is called through a pointer may have a shorter one than
// the call says.
func part(s ir.Slot, at uint64) ir.Slot {
	at = min(at, s.Size)
	return ir.Slot{Off: s.Off + at, Stride: s.Stride, Size: s.Size - at}
}

// copyParam moves one argument into a callee (in) or one result out of it. Both sides are a register or a parameter
// variable.
func (w *Warp) copyParam(c *ir.Copy, callerFrame unsafe.Pointer, slot ir.Slot, reg *ir.Arg, calleeFrame unsafe.Pointer,
	lanes uint32, in bool) {
	if c.Row == nil && c.Slot.Size == 0 {
		return // the sink
	}
	if c.Row != nil && c.Row.Ref.Sel == 1 {
		callerFrame = w.Base[1]
	}
	caller, callee := place{slot: c.Slot, reg: c.Row, frame: callerFrame},
		place{slot: slot, reg: reg, frame: calleeFrame}
	dst, src := caller, callee
	if in {
		dst, src = callee, caller
	}
	if dst.isPred() || src.isPred() {
		for m := lanes; m != 0; m &= m - 1 {
			l := uint32(bits.TrailingZeros32(m))
			dst.setBit(l, src.bit(l))
		}
		return
	}
	size := min(dst.size(), src.size())
	rest := uint64(0)
	if dst.reg != nil {
		rest = uint64(dst.reg.Class.RowSize())/32 - size // registers are zero above what they hold
	}
	for m := lanes; m != 0; m &= m - 1 {
		l := uint32(bits.TrailingZeros32(m))
		d := dst.at(l)
		copyBytes(d, src.at(l), size)
		if rest > 0 {
			clear(unsafe.Slice((*byte)(unsafe.Add(d, size)), rest))
		}
	}
}

// place is where an argument or result stands: a register row, or a parameter variable in the frame.
type place struct {
	slot  ir.Slot
	reg   *ir.Arg
	frame unsafe.Pointer
}

func (p *place) isPred() bool { return p.reg != nil && p.reg.Class == ir.WPred }

// size is the bytes of one lane.
func (p *place) size() uint64 {
	switch {
	case p.reg == nil:
		return p.slot.Size
	case p.reg.Width == 8 || p.reg.Width == 16:
		return uint64(p.reg.Width) / 8
	}
	return uint64(p.reg.Class.RowSize()) / 32
}

func (p *place) at(lane uint32) unsafe.Pointer {
	if p.reg != nil {
		return unsafe.Add(p.frame, p.reg.Ref.Off+lane*(p.reg.Class.RowSize()/32))
	}
	return unsafe.Add(p.frame, p.slot.Off+uint64(lane)*p.slot.Stride)
}

// bit is the truth of a lane's predicate; in other places it is a byte.
func (p *place) bit(lane uint32) bool {
	if p.isPred() {
		v := *(*uint32)(unsafe.Add(p.frame, p.reg.Ref.Off))>>lane&1 != 0
		return v != p.reg.Neg
	}
	return *(*byte)(p.at(lane)) != 0
}

func (p *place) setBit(lane uint32, v bool) {
	x := uint32(0)
	if v {
		x = 1
	}
	if p.isPred() {
		q := (*uint32)(unsafe.Add(p.frame, p.reg.Ref.Off))
		*q = *q&^(1<<lane) | x<<lane
		return
	}
	if d := unsafe.Slice((*byte)(p.at(lane)), p.size()); len(d) > 0 { // a variadic parameter has no bytes
		clear(d)
		d[0] = byte(x)
	}
}

func copyBytes(dst, src unsafe.Pointer, n uint64) {
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
}

// CallSome enters a function with some of the lanes that execute an indirect call; the other lanes of want execute the
// call again, and those that are guarded off go on after it.
func (w *Warp) CallSome(f *ir.Func, info *ir.CallInfo, lanes, want uint32, ret int32) Event {
	s := w.Cur
	t := w.newSplit()
	t.PC, t.Mask, t.Act = s.PC, want&^lanes, s.Act
	s.Mask &^= t.Mask
	w.Diverged++
	return w.Call(f, info, lanes, ret)
}
