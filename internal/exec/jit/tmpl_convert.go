package jit

import (
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

var convertTemplates = map[optab.Opcode]template{optab.OpCvt: cvtTemplate}

func cvtTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	dt, st := op.Match.Type(0), op.Match.Type(1)
	dtype, ok1 := optab.TypeOf(dt)
	stype, ok2 := optab.TypeOf(st)
	if !ok1 || !ok2 || d.Kind != ir.Row || a.Kind != ir.Row || op.Match.One("ftz", "sat", "relu", "satfinite") != "" {
		return nil
	}
	integer := func(t optab.Type) bool { return t.Class == optab.Signed || t.Class == optab.Unsigned }
	if integer(dtype) && integer(stype) {
		return integerCvt(d, a, dtype.Bits, stype.Bits, dtype.Class == optab.Signed, stype.Class == optab.Signed)
	}
	if int(d.Width) != dtype.Bits || int(a.Width) != stype.Bits {
		return nil
	}
	switch r := op.Match.One("rn", "rzi", "rz", "rm", "rp", "rni", "rmi", "rpi", "rna"); dt + "." + r + "." + st {
	case "f32.rn.s32":
		return unary(op, "b32", asm.CvtDQ2PS, asm.CvtDQ2PS)
	case "f32.rn.u32":
		return unary(op, "b32", asm.CvtUDQ2PS, asm.CvtUDQ2PS)
	case "s32.rzi.f32":
		return truncate(op, asm.CvtTPS2DQ)
	case "u32.rzi.f32":
		return truncate(op, asm.CvtTPS2UDQ)
	case "f32.rni.f32":
		return roundInt(op, 0)
	case "f32.rmi.f32":
		return roundInt(op, 1)
	case "f32.rpi.f32":
		return roundInt(op, 2)
	case "f32.rzi.f32":
		return roundInt(op, 3)
	case "f64..f32":
		return widenFloat(d, a, asm.CvtPS2PD)
	case "f64.rn.s32":
		return widenFloat(d, a, asm.CvtDQ2PD)
	case "f64.rn.u32":
		return widenFloat(d, a, asm.CvtUDQ2PD)
	case "f32.rn.f64":
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
func roundInt(op *ir.Op, mode uint8) emitter {
	d, a := &op.Args[0], &op.Args[1]
	if !rows(ir.W32, d, a) {
		return nil
	}
	return func(g *gen) {
		for p := range g.each(d) {
			g.pin()
			ra := g.rawReg(a, p)
			z, o := g.dst(d, p)
			g.VI(asm.RndScalePS, o, z, 0, ra, 8|mode)
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
			g.MovI32(asm.RAX, 0x4f000000) // 2^31
			g.V(asm.BroadcastDR, asm.Z, 1, 0, asm.RAX)
			g.MovI32(asm.RAX, 0x7fffffff)
		}
		for p := range g.each(d) {
			g.pin()
			ra := g.rawReg(a, p)
			g.V(x, asm.Z, 0, 0, ra)
			if signed {
				g.VI(asm.CmpPS, asm.Z, 7, ra, 1, 29) // ge
				g.V(asm.BroadcastDR, asm.Z.Mask(7), 0, 0, asm.RAX)
				g.VI(asm.CmpPS, asm.Z, 7, ra, ra, 3)
			} else {
				g.VI(asm.CmpPS, asm.Z, 7, ra, 2, 25) // less or unordered
			}
			g.V(asm.MovA32, asm.Z.Mask(7), 0, 0, 2)
			z, o := g.dst(d, p)
			g.V(asm.MovA32, o, z, 0, 0)
		}
	}
}

// integerCvt takes the low bits of the source by its type, extends them, and cuts them to the destination's type, extended again to the register.
func integerCvt(d, a *ir.Arg, dbits, sbits int, dsigned, ssigned bool) emitter {
	if d.Class == ir.WPred || a.Class == ir.WPred || d.Class == ir.W128 || a.Class == ir.W128 || d.Width == 0 || a.Width == 0 {
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
				r := uint8(0)
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
					g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, 0, r, uint8(32-n))
					g.VI(asm.ShiftD, asm.Z, asm.ShiftSra, 0, 0, uint8(32-n))
					r = 0
				}
				if d.Width < 32 && (cut == 0 || 32-int(cut) > int(d.Width)) {
					cut = 32 - d.Width
				}
				z, o := g.dst(d, p)
				if cut != 0 {
					g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, 0, r, cut)
					g.VI(asm.ShiftD, o, asm.ShiftSrl, z, 0, cut)
				} else {
					g.V(asm.MovA32, o, z, 0, r)
				}
			}
		default:
			for q := range g.each(d) {
				g.pin()
				r := uint8(0)
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
				g.VI(asm.ShiftQ, asm.Z, asm.ShiftSll, 0, r, uint8(64-n))
				if signed {
					g.VI(asm.ShiftAQ, o, asm.ShiftSra, z, 0, uint8(64-n))
				} else {
					g.VI(asm.ShiftQ, o, asm.ShiftSrl, z, 0, uint8(64-n))
				}
			}
		}
	}
}
