package jit

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// Operations of whole CTAs that Go executes: what has no template and lets nothing else run, as a texture fetch or a
// tensor copy. The code stores what is in registers, leaves with abi.ExitServe, and goes on behind the operation
// (blockRunner.serve); the scheduler does not hear of it.

// analyseWhole is plan.Analyse for the entry of a kernel as code of whole CTAs. s has the kernel; checked, if not nil,
// is the entry as a memory checker has it, which asks for accesses that are left to Go; tells finds the accesses that
// are noted for another checker, and takes from native what cannot be.
func analyseWhole(back backend, k *ir.Kernel, s *interp.Single, checked *function,
	tells func(native []bool) []*plan.Told) *plan.Func {
	f := k.Funcs[0]
	native := make([]bool, len(f.Ops))
	for i := range f.Ops {
		native[i] = back.Supports(&f.Ops[i]) &&
			(checked == nil || !plan.Accesses(&f.Ops[i]) || checked.allowed(i))
	}
	var told []*plan.Told
	if tells != nil {
		told = tells(native)
	}
	a := plan.Analyse(f, native, true)
	a.Kernel, a.Told = k, told
	if checked != nil {
		a.Bounds = checked.bounded
	}
	a.Serve(func(i int32) (serves, alone bool) { return s.Serves(f.Index, i) })
	return a
}

// learn tells the code about the texture that an operation which was left to Go has fetched from.
func (r *blockRunner) learn(pc int32) {
	n, ok := r.c.samplers[pc]
	if !ok {
		return
	}
	if s := &r.samplers[n]; s.Handle != s.Wanted && r.l.Texture != nil {
		if t := r.l.Texture.Texture(s.Wanted); t != nil {
			d, ok := t.Direct()
			s.Set(s.Wanted, &d, ok)
		}
	}
}

// serve executes an operation for the warp that the machine code left, in its registers.
func (r *blockRunner) serve(pc int32) {
	x, lay := r.x, r.v.code.Frame
	if r.c.e.check {
		r.tellBefore()
	}
	warp := r.warp()
	var local unsafe.Pointer
	if r.c.usesLocal() {
		local = r.localOf(warp)
	}
	w := r.guest.Enter(x.CTAID, warp, x.Frame, local, *(*uint32)(unsafe.Add(x.Frame, lay.Live)), x.Mask)
	w.CC = *(*uint32)(unsafe.Add(x.Frame, lay.CC))
	r.pc, r.serving = pc, true
	r.c.single.Serve(w, pc)
	r.serving = false
	r.learn(pc)
	*(*uint32)(unsafe.Add(x.Frame, lay.CC)) = w.CC
}
