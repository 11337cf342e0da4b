package amd64

import (
	"slices"

	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Arithmetic of f16 and bf16, single and in pairs.
//
// It is done in f32. The result of that, rounded to 24 bits, is rounded once more, to 11 or 8. Rounding is monotone,
// and what lies halfway between two halves is an f32; so the second rounding can only go wrong where the first one gave
// such a number (a tie) and was not exact. Sums and differences are never both: they have no more than 2*11+2 bits, or
// are exact. Products of f16 are exact. What is left, fma and products of bf16, is looked through for numbers that may
// be ties, and computed once more out of line, rounded to odd, where there are any.

// halves is addition, subtraction, multiplication and fma.
func halves(op *ir.Op, form optab.Opcode, d *ir.Arg, in []*ir.Arg, bf, pair bool) emitter {
	h := halfOp{op, form, in, bf, pair, op.Mods().Ftz}
	ties := form == optab.OpFfma || form == optab.OpFmul && bf
	sat, relu := op.Mods().Sat, op.Mods().Relu
	return byPieces(ir.W32, d, in, func(g *gen, r []asm.Vec) {
		parts := 1
		if pair {
			parts = 2
		}
		z := [2]asm.Vec{1, 4}
		x := make([]asm.Vec, len(in))
		for p := range parts {
			for i, a := range in {
				if p == 1 && i > 0 && !bf && g.uniform(a) {
					continue // it is as it was
				}
				x[i] = z[p] + asm.Vec(i)
				h.widen(g, x[i], r[i], p, i)
			}
			if form == optab.OpFfma {
				g.V(asm.FMA213PS, asm.Z, z[p], x[1], x[2])
			} else {
				g.V(floatOps[form][0], asm.Z, z[p], x[0], x[1])
			}
		}
		if ties {
			h.ties(g, r, z[:parts])
		}
		for p, z := range z[:parts] {
			switch {
			case bf:
				g.VCmp(asm.CmpPS, asm.Z, asm.K7, z, z, asm.FloatUnord)
				g.VL(asm.MovU32, asm.Z.Mask(asm.K7), z, 0, g.word32(0x7fff0000)) // no sum below carries into the sign
			case form != optab.OpFfma: // see ties
				g.canonical(z, asm.K0)
			}
			if sat {
				g.VL(asm.MovU32, asm.Z, 7, 0, g.word32(asm.F32Inf))
				g.VCmp(asm.CmpUD, asm.Z, asm.K7, z, 7, asm.CmpGT) // NaNs and what has a sign
				g.V(asm.XorD, asm.Z.Mask(asm.K7), z, z, z)
				g.VL(asm.MinUD, asm.Z, z, z, g.word32(asm.F32One))
			}
			if relu {
				g.V(asm.XorD, asm.Z, 7, 7, 7)
				g.V(asm.MaxSD, asm.Z, z, z, 7)
			}
			h.narrow(g, z, p)
		}
		if h.ftz {
			g.flush16(0, 0)
		}
	})
}

// halfOp is an operation on halves.
type halfOp struct {
	op       *ir.Op
	form     optab.Opcode
	in       []*ir.Arg
	bf, pair bool
	ftz      bool
}

// uniform says whether all lanes of a source have the same value.
func (g *gen) uniform(a *ir.Arg) bool {
	if a.Kind == ir.Imm {
		return true
	}
	w, ok := g.scalarWeb(a)
	return ok && g.v.Webs[w].Variation.Kind == plan.Uniform
}

// widen makes f32 of operand i: all halves of single ones; of pairs those of words 0 to 7 or 8 to 15 (f16), the lower
// or the upper ones (bf16).
func (h *halfOp) widen(g *gen, x, r asm.Vec, part, i int) {
	if h.ftz {
		g.flush16(x, r)
		r = x
	}
	switch {
	case !h.pair || h.bf:
		g.halfToSingle(x, r, h.bf, part == 1)
	case part == 0 || g.uniform(h.in[i]):
		g.V(asm.CvtPH2PS, asm.Z, x, 0, r)
	default:
		g.VI(asm.ExtractQ4, asm.Z, r, 0, x, 1)
		g.V(asm.CvtPH2PS, asm.Z, x, 0, x)
	}
	if h.in[i].Neg {
		g.VL(asm.XorD, asm.Z, x, x, g.word32(asm.F32Sign))
	}
}

// narrow rounds part of a result to nearest even and puts it into 0. NaNs are canonical.
func (h *halfOp) narrow(g *gen, z asm.Vec, part int) {
	switch {
	case h.bf:
		t := asm.Vec(7)
		g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, t, z, 16)
		g.VL(asm.AndD, asm.Z, t, t, g.word32(1))
		g.VL(asm.AddD, asm.Z, t, t, g.word32(0x7fff))
		g.V(asm.AddD, asm.Z, z, z, t)
		if part == 0 {
			g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, 0, z, 16)
			return
		}
		g.VL(asm.AndD, asm.Z, z, z, g.word32(0xffff0000))
		g.V(asm.OrD, asm.Z, 0, 0, z)
	case part == 0:
		g.VI(asm.CvtPS2PH, asm.Z, z, 0, 0, uint8(asm.RoundNearest))
		if !h.pair {
			g.V(asm.MovZXWD, asm.Z, 0, 0, 0)
		}
	default:
		g.VI(asm.CvtPS2PH, asm.Z, z, 0, z, uint8(asm.RoundNearest))
		g.VI(asm.InsertQ4, asm.Z, 0, 0, z, 1)
	}
}

// ties computes results once more where one may lie halfway between two halves, and makes the NaNs of f16 canonical: a
// tie of f16, subnormal ones too, ends in 12 zeros, and so does a NaN of operands that were halves.
func (h *halfOp) ties(g *gen, r, z []asm.Vec) {
	masks := [2]asm.Mask{asm.K7, asm.K7}
	for p, z := range z {
		k := [2]asm.Mask{asm.K7, asm.K0}[p]
		masks[p] = k
		if !h.bf {
			g.VTestL(asm.TestNMD, asm.Z, k, z, g.word32(1<<12-1))
			continue
		}
		g.VL(asm.AndD, asm.Z, 0, z, g.word32(0xffff))
		g.VL(asm.MovU32, asm.Z, 7, 0, g.word32(0x8000))
		g.VCmp(asm.CmpD, asm.Z, k, 0, 7, asm.CmpEQ)
	}
	g.KOrTestW(masks[0], masks[len(z)-1])
	back := g.NewLabel()
	r = slices.Clone(r) // the stub is written later
	g.J(asm.NE, g.outOfLine(func() {
		for p, z := range z {
			g.Dead(1<<0|1<<5|1<<6|1<<7, 1<<0|1<<7)
			if h.bf {
				h.roundOdd(g, r, z, p)
			} else {
				h.sumOdd(g, r, z, p)
				g.canonical(z, asm.K0)
			}
		}
		g.Jmp(back)
	}))
	g.rejoin(back, 1<<0|1<<2|1<<3|1<<5|1<<6|1<<7)
}

// sumOdd is fma of f16 in f32, rounded to odd. The product is exact; the sum's error is, too (Knuth's TwoSum): all is a
// multiple of 2^-48 and less than 2^34.
func (h *halfOp) sumOdd(g *gen, r []asm.Vec, z asm.Vec, part int) {
	const p, c, t, e = 5, 6, 0, 7
	h.widen(g, p, r[0], part, 0)
	h.widen(g, c, r[1], part, 1)
	g.V(asm.MulPS, asm.Z, p, p, c)
	h.widen(g, c, r[2], part, 2)
	g.V(asm.AddPS, asm.Z, z, p, c)
	g.V(asm.SubPS, asm.Z, t, z, p)
	g.V(asm.SubPS, asm.Z, c, c, t)
	g.V(asm.SubPS, asm.Z, t, z, t)
	g.V(asm.SubPS, asm.Z, e, p, t)
	g.V(asm.AddPS, asm.Z, e, e, c)
	// Where it is not zero: one step towards zero when it goes there, and odd.
	g.V(asm.XorD, asm.Z, t, t, t)
	g.VCmp(asm.CmpPS, asm.Z, asm.K7, e, t, asm.FloatNE)
	g.V(asm.XorD, asm.Z, e, e, z)
	g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, e, e, 31)
	g.V(asm.SubD, asm.Z.Mask(asm.K7), z, z, e)
	g.VL(asm.OrD, asm.Z.Mask(asm.K7), z, z, g.word32(1))
}

// roundOdd is fma or a product of bf16 in f32, rounded to odd: down and up differ where it is not exact.
func (h *halfOp) roundOdd(g *gen, r []asm.Vec, z asm.Vec, part int) {
	x := []asm.Vec{5, 6, 7}[:len(r)]
	for i := range r {
		h.widen(g, x[i], r[i], part, i)
	}
	g.compute(h.form, 0, asm.Rounded(asm.RoundDown), z, x)
	g.compute(h.form, 0, asm.Rounded(asm.RoundUp), 0, x)
	g.VCmp(asm.CmpPS, asm.Z, asm.K7, z, 0, asm.FloatNEU)
	g.compute(h.form, 0, asm.Rounded(asm.RoundZero), z, x)
	g.VL(asm.OrD, asm.Z.Mask(asm.K7), z, z, g.word32(1))
}

// halfNaNs makes NaNs canonical in both halves of words. t is used.
func (g *gen) halfNaNs(z, t asm.Vec, bf bool) {
	above := 0x7fff - uint32(asm.F16Inf) // added to the pattern of a NaN without its sign, it reaches the sign
	if bf {
		above = 0x7fff - 0x7f80
	}
	g.VL(asm.AndD, asm.Z, t, z, g.word32(0x7fff7fff))
	g.VL(asm.AddW, asm.Z, t, t, g.word32(above<<16|above))
	g.VShift(asm.ShiftW, asm.Z, asm.ShiftSra, t, t, 15)
	g.V(asm.AndND, asm.Z, z, t, z)
	g.VShift(asm.ShiftW, asm.Z, asm.ShiftSrl, t, t, 1)
	g.V(asm.OrD, asm.Z, z, z, t)
}

// halfSign is abs and neg.
func halfSign(d *ir.Arg, in []*ir.Arg, abs, ftz, bf, pair bool) emitter {
	bits := uint32(asm.F16Sign)
	if pair {
		bits = 0x80008000
	}
	return byPieces(ir.W32, d, in, func(g *gen, r []asm.Vec) {
		s := r[0]
		if ftz {
			g.flush16(0, s)
			s = 0
		}
		if abs {
			g.VL(asm.AndD, asm.Z, 0, s, g.word32(^bits))
		} else {
			g.VL(asm.XorD, asm.Z, 0, s, g.word32(bits))
		}
		g.halfNaNs(0, 1, bf)
	})
}

// halfExtremum is min and max. Halves whose sign is set have their other bits turned, which orders them as signed
// numbers: as a circle, the NaNs lie between +inf and -inf. It is cut behind +inf for max and before -inf for min, so
// that as unsigned numbers the NaNs come first or last.
func halfExtremum(d *ir.Arg, in []*ir.Arg, larger, ftz, bf bool) emitter {
	inf := uint32(asm.F16Inf)
	if bf {
		inf = 0x7f80
	}
	x, cut := asm.MinUW, 0xffff-inf // -inf is the first: 0x8000|inf, turned
	if larger {
		x, cut = asm.MaxUW, inf+1
	}
	turn := func(g *gen, z, s, t asm.Vec) {
		g.VShift(asm.ShiftW, asm.Z, asm.ShiftSra, t, s, 15)
		g.VShift(asm.ShiftW, asm.Z, asm.ShiftSrl, t, t, 1)
		g.V(asm.XorD, asm.Z, z, s, t)
	}
	return byPieces(ir.W32, d, in, func(g *gen, r []asm.Vec) {
		minus := -cut & 0xffff
		for i, s := range r {
			z := asm.Vec(i)
			if ftz {
				g.flush16(z, s)
				s = z
			}
			turn(g, z, s, 2)
			g.VL(asm.AddW, asm.Z, z, z, g.word32(minus<<16|minus))
		}
		g.V(x, asm.Z, 0, 0, 1)
		g.VL(asm.AddW, asm.Z, 0, 0, g.word32(cut<<16|cut))
		turn(g, 0, 0, 2)
		g.halfNaNs(0, 2, bf)
	})
}
