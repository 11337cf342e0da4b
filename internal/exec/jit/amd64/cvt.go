package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// cvtTypes are what a conversion goes by.
type cvtTypes struct {
	d     optab.TypeID
	round optab.Round
	s     optab.TypeID
}

func cvtTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	dt, st := op.Type(0), op.Type(1)
	dtype, stype := dt.Info(), st.Info()
	if m := op.Mods(); d.Kind != ir.Row || a.Kind != ir.Row || m.Ftz || m.Sat || m.Relu || m.Satfinite {
		return nil
	}
	if dt.Integer() && st.Integer() {
		return integerCvt(d, a, dtype.Bits, stype.Bits, dt.Signed(), st.Signed())
	}
	if int(d.Width) != dtype.Bits || int(a.Width) != stype.Bits {
		return nil
	}
	switch (cvtTypes{dt, op.Mods().Round, st}) {
	case cvtTypes{optab.F32, optab.RoundRn, optab.S32}:
		return unary(op, optab.B32, asm.CvtDQ2PS, asm.CvtDQ2PS)
	case cvtTypes{optab.F32, optab.RoundRn, optab.U32}:
		return unary(op, optab.B32, asm.CvtUDQ2PS, asm.CvtUDQ2PS)
	case cvtTypes{optab.S32, optab.RoundRzi, optab.F32}:
		return truncate(op, asm.CvtTPS2DQ)
	case cvtTypes{optab.U32, optab.RoundRzi, optab.F32}:
		return truncate(op, asm.CvtTPS2UDQ)
	case cvtTypes{optab.F32, optab.RoundRni, optab.F32}:
		return roundInt(op, asm.RoundNearest)
	case cvtTypes{optab.F32, optab.RoundRmi, optab.F32}:
		return roundInt(op, asm.RoundDown)
	case cvtTypes{optab.F32, optab.RoundRpi, optab.F32}:
		return roundInt(op, asm.RoundUp)
	case cvtTypes{optab.F32, optab.RoundRzi, optab.F32}:
		return roundInt(op, asm.RoundZero)
	case cvtTypes{optab.F64, optab.NoRound, optab.F32}:
		return widenFloat(d, a, asm.CvtPS2PD)
	case cvtTypes{optab.F64, optab.RoundRn, optab.S32}:
		return widenFloat(d, a, asm.CvtDQ2PD)
	case cvtTypes{optab.F64, optab.RoundRn, optab.U32}:
		return widenFloat(d, a, asm.CvtUDQ2PD)
	case cvtTypes{optab.F32, optab.RoundRn, optab.F64}:
		return func(g *gen) {
			for p := range g.each(d) {
				g.pin()
				g.V(asm.CvtPD2PS, asm.Z, 0, 0, g.reg(a, 2*p))
				g.V(asm.CvtPD2PS, asm.Z, 1, 0, g.reg(a, 2*p+1))
				g.VI(asm.InsertQ4, asm.Z, 0, 0, 1, 1)
				z, o := g.dst(d, p)
				g.V(asm.MovA32, o, z, 0, 0)
			}
		}
	}
	return nil
}

// roundInt rounds f32 to integral values. NaNs are canonical.
func roundInt(op *ir.Op, mode asm.Round) emitter {
	d, a := &op.Args[0], &op.Args[1]
	if !rows(ir.W32, d, a) {
		return nil
	}
	return func(g *gen) {
		for p := range g.each(d) {
			g.pin()
			ra := g.rawReg(a, p)
			z, o := g.dst(d, p)
			g.VI(asm.RndScalePS, o, z, 0, ra, mode.Exactly())
			g.lazyNaN(z)
		}
	}
}

func widenFloat(d, a *ir.Arg, x asm.Op) emitter {
	return func(g *gen) {
		for q := range g.each(d) {
			g.pin()
			r := g.reg(a, q/2)
			if q&1 == 1 {
				g.VI(asm.ExtractQ4, asm.Z, r, 0, 0, 1)
				r = 0
			}
			z, o := g.dst(d, q)
			g.V(x, o, z, 0, r)
		}
	}
}

// truncate is cvt.rzi from f32 to 32 bits: values out of range clamp, a NaN gives 0.
func truncate(op *ir.Op, x asm.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	if !rows(ir.W32, d, a) {
		return nil
	}
	signed := x == asm.CvtTPS2DQ
	return func(g *gen) {
		g.V(asm.XorD, asm.Z, 2, 2, 2)
		if signed {
			g.MovI32(asm.RAX, asm.F32Two31)
			g.VR(asm.BroadcastDR, asm.Z, 1, asm.RAX)
			g.MovI32(asm.RAX, 0x7fffffff)
		}
		for p := range g.each(d) {
			g.pin()
			ra := g.rawReg(a, p)
			g.V(x, asm.Z, 0, 0, ra)
			if signed {
				g.VCmp(asm.CmpPS, asm.Z, asm.K7, ra, 1, asm.FloatGE) // ge
				g.VR(asm.BroadcastDR, asm.Z.Mask(asm.K7), 0, asm.RAX)
				g.VCmp(asm.CmpPS, asm.Z, asm.K7, ra, ra, asm.FloatUnord)
			} else {
				g.VCmp(asm.CmpPS, asm.Z, asm.K7, ra, 2, asm.FloatLTU) // less or unordered
			}
			g.V(asm.MovA32, asm.Z.Mask(asm.K7), 0, 0, 2)
			z, o := g.dst(d, p)
			g.V(asm.MovA32, o, z, 0, 0)
		}
	}
}

// integerCvt takes the low bits of the source by its type, extends them, and cuts them to the destination's type,
// extended again to the register.
func integerCvt(d, a *ir.Arg, dbits, sbits int, dsigned, ssigned bool) emitter {
	if d.Class == ir.WPred || a.Class == ir.WPred || d.Class == ir.W128 || a.Class == ir.W128 || d.Width == 0 ||
		a.Width == 0 {
		return nil
	}
	// As extensions of the low n bits: first by the source's type, then by the destination's; one of both is enough.
	n, signed := sbits, ssigned
	if dbits <= sbits {
		n, signed = dbits, dsigned
	} else if dbits < 64 && dsigned != ssigned && !dsigned && ssigned && int(d.Width) > dbits {
		return nil // sign-extended to dbits, then zeros above
	}
	if int(d.Width) > dbits && dbits > sbits && dsigned != ssigned {
		return nil
	}
	return func(g *gen) {
		switch {
		case d.Class == ir.W32:
			for p := range g.each(d) {
				g.pin()
				r := asm.Vec(0)
				if a.Class == ir.W64 {
					g.narrow(0, a, p, 0)
				} else {
					r = g.reg(a, p)
				}
				cut := uint8(0)
				switch {
				case n < 32 && !signed:
					cut = uint8(32 - n)
				case n < 32:
					g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 0, r, uint8(32-n))
					g.VShift(asm.ShiftD, asm.Z, asm.ShiftSra, 0, 0, uint8(32-n))
					r = 0
				}
				if d.Width < 32 && (cut == 0 || 32-int(cut) > int(d.Width)) {
					cut = 32 - d.Width
				}
				z, o := g.dst(d, p)
				if cut != 0 {
					g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 0, r, cut)
					g.VShift(asm.ShiftD, o, asm.ShiftSrl, z, 0, cut)
				} else {
					g.V(asm.MovA32, o, z, 0, r)
				}
			}
		default:
			for q := range g.each(d) {
				g.pin()
				r := asm.Vec(0)
				if a.Class == ir.W64 {
					r = g.reg(a, q)
				} else {
					g.widen(0, a, q, false)
				}
				z, o := g.dst(d, q)
				if n >= 64 {
					g.V(asm.MovA64, o, z, 0, r)
					continue
				}
				g.VShift(asm.ShiftQ, asm.Z, asm.ShiftSll, 0, r, uint8(64-n))
				if signed {
					g.VShift(asm.ShiftAQ, o, asm.ShiftSra, z, 0, uint8(64-n))
				} else {
					g.VShift(asm.ShiftQ, o, asm.ShiftSrl, z, 0, uint8(64-n))
				}
			}
		}
	}
}
