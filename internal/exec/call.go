package exec

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/ir"
)

// maxDepth bounds the calls of one thread, whatever its local memory.
const maxDepth = 16384

func (w *Warp) newActivation(f *ir.Func) *Activation {
	var a *Activation
	for i := len(w.acts) - 1; i >= 0 && i >= len(w.acts)-4; i-- {
		if uint32(len(w.acts[i].frame)) >= f.FrameSize+64 {
			a = w.acts[i]
			w.acts = append(w.acts[:i], w.acts[i+1:]...)
			break
		}
	}
	if a == nil {
		buf := make([]uint64, (f.FrameSize+64+63)/64*8)
		a = &Activation{frame: unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(buf))), len(buf)*8)}
		p := unsafe.Pointer(unsafe.SliceData(a.frame))
		a.Frame = unsafe.Add(p, -uintptr(p)&63) // rows on cache lines
	} else {
		a.Caller, a.Call, a.Dyn = nil, nil, nil
	}
	a.Func = f
	return a
}

func (w *Warp) freeActivation(a *Activation) { w.acts = append(w.acts, a) }

// Call enters a function with the given lanes of the current split; the others go on after the call later. ret is the operation after it.
func (w *Warp) Call(f *ir.Func, info *ir.CallInfo, lanes uint32, ret int32) Event {
	s := w.Cur
	caller := s.Act
	a := w.newActivation(f)
	a.Caller, a.Call, a.Return, a.Live, a.Depth = caller, info, ret, lanes, caller.Depth+1
	a.Local = caller.Top
	if caller.Dyn != nil {
		for l, t := range caller.Dyn {
			if lanes>>l&1 != 0 {
				a.Local = max(a.Local, (t+15)&^15)
			}
		}
	}
	a.Top = a.Local + f.LocalSize
	if a.Top > w.LocalSize && f.LocalSize > 0 || a.Depth > maxDepth {
		w.Throw(FaultStack, bits.TrailingZeros32(lanes), "calls are nested too deep for the thread's stack (CU_LIMIT_STACK_SIZE)")
	}
	for i := range info.Args {
		c := &info.Args[i]
		if c.To >= len(f.Params) {
			w.Throw(FaultPC, bits.TrailingZeros32(lanes), "the function called through a pointer takes fewer parameters")
		}
		w.copyParam(c, caller.Frame, f.Params[c.To], f.ParamRegs[c.To], a.Frame, lanes, true)
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
		w.copyParam(c, a.Caller.Frame, a.Func.Returns[c.To], a.Func.RetRegs[c.To], a.Frame, lanes, false)
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

// copyParam moves one argument into a callee (in) or one result out of it.
func (w *Warp) copyParam(c *ir.Copy, callerFrame unsafe.Pointer, slot ir.Slot, reg *ir.Arg, calleeFrame unsafe.Pointer, lanes uint32, in bool) {
	if c.Row == nil && c.Slot.Size == 0 && c.Slot.Stride == 0 {
		return // the sink
	}
	for m := lanes; m != 0; m &= m - 1 {
		l := uint32(bits.TrailingZeros32(m))
		var a, b unsafe.Pointer
		size := slot.Size
		if c.Row != nil {
			base := callerFrame
			if c.Row.Ref.Sel == 1 {
				base = w.Base[1]
			}
			if c.Row.Class == ir.WPred {
				w.Throw(FaultUnsupported, int(l), "a predicate as a call argument")
			}
			a = unsafe.Add(base, c.Row.Ref.Off+l*c.Row.Class.RowSize()/32)
			size = min(size, c.Row.Class.RowSize()/32)
		} else {
			a = unsafe.Add(callerFrame, c.Slot.Off+l*c.Slot.Stride)
			size = min(size, c.Slot.Size)
		}
		if reg != nil {
			b = unsafe.Add(calleeFrame, reg.Ref.Off+l*reg.Class.RowSize()/32)
		} else {
			b = unsafe.Add(calleeFrame, slot.Off+l*slot.Stride)
		}
		if in {
			a, b = b, a
		}
		// a is the destination, b the source
		if in {
			copyBytes(a, b, size)
			if reg != nil && size < reg.Class.RowSize()/32 {
				clear(unsafe.Slice((*byte)(unsafe.Add(a, size)), reg.Class.RowSize()/32-size))
			}
		} else {
			copyBytes(a, b, size)
			if c.Row != nil && size < c.Row.Class.RowSize()/32 {
				clear(unsafe.Slice((*byte)(unsafe.Add(a, size)), c.Row.Class.RowSize()/32-size))
			}
		}
	}
}

func copyBytes(dst, src unsafe.Pointer, n uint32) {
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
}

// CallSome enters a function with some of the lanes that execute an indirect call; the other lanes of want execute the call
// again, and those that are guarded off go on after it.
func (w *Warp) CallSome(f *ir.Func, info *ir.CallInfo, lanes, want uint32, ret int32) Event {
	s := w.Cur
	t := w.newSplit()
	t.PC, t.Mask, t.Act = s.PC, want&^lanes, s.Act
	s.Mask &^= t.Mask
	w.Diverged++
	return w.Call(f, info, lanes, ret)
}
