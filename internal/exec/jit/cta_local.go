package jit

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
)

// Local memory of CTAs that run as a whole. A warp's frame says where its lane 0 has it; machine code tells the context
// (enterWarp).

// usesLocal says whether the kernel accesses local memory, which it may do by an address of its own making without
// having variables there.
func (c *code) usesLocal() bool { return c.funcs[0].local }

// localBytes is what the local memory of a CTA takes at most.
func (c *code) localBytes(l *exec.Launch) uint64 {
	n := 32 * l.LocalSize()
	if !c.usesLocal() {
		return n // a guest's
	}
	return n * uint64((l.Block[0]*l.Block[1]*l.Block[2]+31)/32)
}

// giveLocal gives each warp its local memory.
func (r *blockRunner) giveLocal() {
	x := r.x
	x.LocalSize, x.LocalOff, x.ActTop = uint32(r.l.LocalSize()), 0, uint32(r.c.k.Funcs[0].Local.Size)
	if need := int(r.c.localBytes(r.l)/8) + 2; len(r.local) < need {
		r.local = make([]uint64, need)
	}
	for w := range r.v.code.Values.Warps {
		*(*uint64)(unsafe.Add(r.first, w*int(r.size)+int(r.v.code.Frame.Local))) = uint64(uintptr(r.localOf(w)))
	}
}

// localOf is the local memory of a warp's lane 0.
func (r *blockRunner) localOf(warp int) unsafe.Pointer {
	p := unsafe.Pointer(unsafe.SliceData(r.local))
	return unsafe.Add(p, int(-uintptr(p)&15)+warp*32*int(r.x.LocalSize))
}

// restoreLocal copies a warp's local memory for the scheduler, and its stack pointers once it has begun.
func (r *blockRunner) restoreLocal(warp int, w *exec.Warp, begun bool) {
	if at := r.v.code.Frame.Tops; at != 0 && begun {
		tops := *(*[32]uint32)(unsafe.Add(r.first, warp*int(r.size)+int(at)))
		w.Entry().Dyn = &tops
	}
	to, size := w.LocalMemory()
	copy(unsafe.Slice((*byte)(to), 32*int(size)), unsafe.Slice((*byte)(r.localOf(warp)), 32*int(size)))
}
