package exec

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/ir"
)

// What the memory checker (Memory.Check) needs beside the check of global addresses.

// SharedEnd is where the shared memory ends that the launch asked for: what a memory checker allows of it.
func (c *CTA) SharedEnd() uint32 {
	return ir.ReservedShared + c.Launch.Code.Kernel().SharedSize + c.Launch.Shared
}

// localEnd is where the variables of the functions under way and what they took by alloca end in a thread's local
// memory.
func (w *Warp) localEnd(lane int) uint64 {
	end := w.CTA.Launch.Code.Kernel().Funcs[0].Local.Size
	if w.Act != nil {
		end = max(end, uint64(w.Act.Top))
		if w.Act.Dyn != nil {
			end = max(end, uint64(w.Act.Dyn[lane]))
		}
	}
	return end
}

// others looks for the threads of the warp behind the faulting one that would make a bad access with the same
// operation. Their registers are what they were: lanes act one after another.
func (w *Warp) others(f *Fault) {
	f.Program = w.CTA.Launch.Code.Kernel()
	op := w.operation()
	if op == nil || w.Cur == nil || w.Lane < 0 {
		return
	}
	mask := w.Cur.Mask
	if op.Guard >= 0 {
		p := *(*uint32)(unsafe.Add(w.Base[0], op.Guard))
		if op.Neg {
			p = ^p
		}
		mask &= p
	}
	first := w.Lane
	for i := range op.Args {
		a := &op.Args[i]
		if a.Kind != ir.Addr || a.Space == ir.FrameParam || !w.bad(a, first, f) {
			continue
		}
		for m := mask &^ (1<<(first+1) - 1); m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); w.bad(a, l, f) {
				f.More++
				f.LastThread, f.LastAddr = w.ThreadIndex(l), w.laneAddress(a, l)
			}
		}
		break
	}
	w.Lane = first
}

// laneAddress is the address of a memory operand.
func (w *Warp) laneAddress(a *ir.Arg, lane int) uint64 {
	switch {
	case a.Base == nil && a.Space == ir.Local:
		return uint64(w.Act.Local) + uint64(a.Disp)
	case a.Base == nil:
		return uint64(a.Disp)
	case a.Base.Class == ir.W32:
		return uint64(w.R32(a.Base.Ref)[lane] + uint32(a.Disp))
	}
	return w.R64(a.Base.Ref)[lane] + uint64(a.Disp)
}

// bad says whether a lane's access would fault as f has.
func (w *Warp) bad(a *ir.Arg, lane int, f *Fault) (bad bool) {
	align := uint32(1)
	if f.Kind == FaultMisaligned {
		align = f.Size
	}
	w.probing = true
	defer func() {
		w.probing = false
		bad = recover() != nil
	}()
	w.Ptr(a.Space, lane, w.laneAddress(a, lane), f.Size, align, f.Write)
	return false
}
