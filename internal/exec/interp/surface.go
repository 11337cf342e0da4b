package interp

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/texture"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// surfaceAccess is a prepared surface operand.
type surfaceAccess struct {
	ref       reference
	c         coords
	bounds    texture.Bounds
	formatted bool
}

func surfaceAccessOf(op *ir.Op) (s surfaceAccess, ok bool) {
	a := op.Arg("a")
	if a == nil || a.Kind != ir.Addr || len(a.Extra) != 1 || a.Extra[0].Kind != ir.Vec || a.Space == ir.FrameParam {
		return s, false
	}
	s.ref, s.c, s.formatted = referenceOf(a), coordsOf(op, &a.Extra[0]), op.Mods().Formatted
	switch op.Mods().Bound {
	case optab.BoundClamp:
		s.bounds = texture.ToEdge
	case optab.BoundZero:
		s.bounds = texture.Zero
	}
	return s, true
}

// at resolves a lane's access of n bytes; nil when it lies outside and does nothing.
func (s *surfaceAccess) at(w *exec.Warp, lane int, n uint32, write bool) (*texture.Surface, unsafe.Pointer) {
	h := s.ref.handle(w, lane)
	surf := surfaceOf(w, lane, h)
	p := texture.Place{X: int32(get(w, s.c.x, lane)), Texels: s.formatted}
	if s.c.y != nil {
		p.Y = int32(get(w, s.c.y, lane))
	}
	if s.c.z != nil {
		p.Z = int32(get(w, s.c.z, lane))
	}
	if s.c.layer != nil {
		p.Layer = uint32(get(w, s.c.layer, lane))
	}
	q, outside := surf.Address(p, n, s.bounds)
	if outside && s.bounds == texture.Trap {
		w.ThrowAddr(exec.FaultTrap, lane, "surface", h, n, write)
	}
	return surf, q
}

// operandRegs lists the registers of a vector or a single operand.
func operandRegs(a *ir.Arg) (regs []*ir.Arg) {
	if a.Kind != ir.Vec {
		return []*ir.Arg{a}
	}
	for i := range a.Elems {
		regs = append(regs, &a.Elems[i])
	}
	return regs
}

func resolveSurfaceLoad(in *inst, op *ir.Op) error {
	s, ok := surfaceAccessOf(op)
	if !ok {
		return unsupported(op)
	}
	regs := operandRegs(op.Arg("d"))
	size := op.Type(0).Bytes()
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		var buf [4][2]uint64
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			_, p := s.at(w, l, size*uint32(len(regs)), false)
			for i := range regs {
				buf[i] = [2]uint64{}
				if p != nil {
					buf[i] = loadElement(unsafe.Add(p, uint32(i)*size), size, false)
				}
			}
			for i, r := range regs {
				storeReg(w, r, l, buf[i])
			}
		}
	}
	return nil
}

func resolveSurfaceStore(in *inst, op *ir.Op) error {
	s, ok := surfaceAccessOf(op)
	if !ok {
		return unsupported(op)
	}
	regs := operandRegs(op.Arg("c"))
	size := op.Type(0).Bytes()
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			surf, p := s.at(w, l, size*uint32(len(regs)), true)
			if p == nil {
				continue
			}
			if s.formatted {
				var v [4]uint32 // components that the vector lacks are written as 0; the manual leaves them open
				for i, r := range regs {
					v[i] = uint32(get(w, r, l))
				}
				surf.Store(p, v)
				continue
			}
			for i, r := range regs {
				storeElement(unsafe.Add(p, uint32(i)*size), size, [2]uint64{get(w, r, l)})
			}
		}
	}
	return nil
}

// resolveSurfaceReduce is sured: an atomic operation without result. Formatted ones take the sign of the type from the
// surface.
func resolveSurfaceReduce(in *inst, op *ir.Op) error {
	s, ok := surfaceAccessOf(op)
	typ := op.Type(0)
	if !ok {
		return unsupported(op)
	}
	unsigned, signed := typ, typ
	switch {
	case !s.formatted:
	case typ.Info().Bits == 64:
		unsigned, signed = optab.U64, optab.S64
	default:
		unsigned, signed = optab.U32, optab.S32
	}
	f, _, ok := atomFunc(op.Mods().Func, unsigned)
	g, _, ok2 := atomFunc(op.Mods().Func, signed)
	if !ok || !ok2 {
		return unsupported(op)
	}
	c := op.Arg("c")
	size := op.Type(0).Bytes()
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			surf, p := s.at(w, l, size, true)
			if p == nil {
				continue
			}
			h := f
			if surf.Format.Kind == texture.Sint {
				h = g
			}
			if s.formatted && surf.Format.Size() < uint64(size) {
				w.Throw(exec.FaultInstruction, l, "reduction of a surface whose texels are smaller than the operand")
			}
			update(p, size, false, get(w, c, l), 0, h)
		}
	}
	return nil
}
