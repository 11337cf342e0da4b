package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Conversions that cvt.go leaves, and comparisons of any type.

// quarter puts quarter q of a source as 64-bit integers into z: its low bits, extended.
func (g *gen) quarterInt(z asm.Vec, a *ir.Arg, q, bits int, signed bool) {
	if a.Class == ir.W64 {
		g.V(asm.MovA64, asm.Z, z, 0, g.reg(a, q))
	} else {
		g.widen(z, a, q, false)
	}
	if bits == 64 {
		return
	}
	g.VShift(asm.ShiftQ, asm.Z, asm.ShiftSll, z, z, uint8(64-bits))
	if signed {
		g.VShift(asm.ShiftAQ, asm.Z, asm.ShiftSra, z, z, uint8(64-bits))
	} else {
		g.VShift(asm.ShiftQ, asm.Z, asm.ShiftSrl, z, z, uint8(64-bits))
	}
}

// quarterDouble puts quarter q of a floating point source as f64 into z. z+1 is used.
func (g *gen) quarterDouble(z asm.Vec, a *ir.Arg, q int, typ optab.TypeID) {
	if typ == optab.F64 {
		g.V(asm.MovA64, asm.Z, z, 0, g.reg(a, q))
		return
	}
	r := g.reg(a, q/2)
	if typ != optab.F32 {
		g.halfToSingle(z+1, r, typ == optab.Bf16, false)
		r = z + 1
	}
	if q&1 == 1 {
		g.VI(asm.ExtractQ4, asm.Z, r, 0, z, 1)
		r = z
	}
	g.V(asm.CvtPS2PD, asm.Z, z, 0, r)
}

// byQuarters makes an operation of a body that leaves 64-bit results of quarter q in register 0, or 32-bit ones in its
// lower half when narrow is set.
func byQuarters(d, a *ir.Arg, narrow bool, body func(g *gen, q int)) emitter {
	if d.Kind != ir.Row || d.Class != ir.W32 && d.Class != ir.W64 || !a.Reg() ||
		a.Class != ir.W32 && a.Class != ir.W64 {
		return nil
	}
	return func(g *gen) {
		if d.Class == ir.W64 {
			for q := range g.each(d) {
				g.pin()
				body(g, q)
				if narrow { // a register wider than the type
					g.V(asm.MovZXDQ, asm.Z, 0, 0, 0)
				}
				z, o := g.dst(d, q)
				g.V(asm.MovA64, o, z, 0, 0)
			}
			return
		}
		for p := range g.each(d) {
			g.pin()
			for h := 1; h >= 0; h-- {
				body(g, 2*p+h)
				if !narrow {
					g.V(asm.MovQD, asm.Z, 0, 0, 0)
				}
				if h == 1 {
					g.V(asm.MovA32, asm.Z, 7, 0, 0)
				}
			}
			g.VI(asm.InsertQ4, asm.Z, 0, 0, 7, 1)
			if d.Width != 0 && d.Width < 32 {
				g.VL(asm.AndD, asm.Z, 0, 0, g.word32(1<<d.Width-1))
			}
			z, o := g.dst(d, p)
			g.V(asm.MovA32, o, z, 0, 0)
		}
	}
}

// oddSingle rounds quarter conversions of x to f32 to odd in register 0: convert is the instruction. Registers 5 and 6
// are used.
func (g *gen) oddSingle(convert asm.Op, x asm.Vec) {
	g.V(convert, asm.Rounded(asm.RoundDown), 5, 0, x)
	g.V(convert, asm.Rounded(asm.RoundUp), 6, 0, x)
	g.V(convert, asm.Rounded(asm.RoundZero), 0, 0, x)
	g.VCmp(asm.CmpPS, asm.Y, asm.K7, 5, 6, asm.FloatNEU)
	g.VL(asm.OrD, asm.Y.Mask(asm.K7), 0, 0, g.word32(1))
}

func narrowCvt(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	dt, st := op.Type(0), op.Type(1)
	dtype, stype := dt.Info(), st.Info()
	if d.Kind != ir.Row || !a.Reg() || op.Mods().Relu || op.Mods().Satfinite {
		return nil
	}
	ftz, sat := op.Mods().Ftz, op.Mods().Sat
	float := func(t optab.TypeID) bool { return t.Info().Class == optab.Float }
	mode, known := roundingOf(op)
	integral := op.Mods().Integral()
	class := func(t *optab.Type) ir.Class { return ir.ClassOf(t.Bits) }
	if float(st) && a.Class != class(stype) || float(dt) && d.Class != class(dtype) {
		return nil
	}
	clamp := func(g *gen) { // f32 in 0 to [0, 1]
		g.VL(asm.MovU32, asm.Z, 3, 0, g.word32(asm.F32Inf))
		g.VCmp(asm.CmpUD, asm.Z, asm.K7, 0, 3, asm.CmpGT)
		g.V(asm.XorD, asm.Z.Mask(asm.K7), 0, 0, 0)
		g.VL(asm.MinUD, asm.Z, 0, 0, g.word32(asm.F32One))
	}
	switch {
	case dt == optab.Tf32 && st == optab.F32 && op.Mods().Round == optab.RoundRna && !ftz && !sat:
		return byPieces(ir.W32, d, []*ir.Arg{a}, func(g *gen, r []asm.Vec) {
			g.VL(asm.AndD, asm.Z, 1, r[0], g.word32(asm.F32Inf))
			g.VL(asm.MovU32, asm.Z, 2, 0, g.word32(asm.F32Inf))
			g.V(asm.MovA32, asm.Z, 0, 0, r[0])
			g.VCmp(asm.CmpD, asm.Z, asm.K7, 1, 2, asm.CmpNE)
			g.VL(asm.AddD, asm.Z.Mask(asm.K7), 0, 0, g.word32(1<<12))
			g.VL(asm.AndD, asm.Z, 0, 0, g.word32(0xffffe000))
		})
	case !known:
		return nil
	case dt.Integer() && float(st):
		if ftz && st != optab.F32 {
			return nil
		}
		return toInteger(op, d, a, st, dtype.Bits, dtype.Class == optab.Signed, mode, ftz)
	case float(dt) && st.Integer():
		if ftz || sat {
			return nil
		}
		return fromInteger(d, a, dt, stype.Bits, stype.Class == optab.Signed, mode)
	case dt.Integer() && st.Integer():
		if !sat || d.Class != ir.W32 || stype.Bits > 32 || dtype.Bits > 32 || a.Class != ir.W32 {
			return nil
		}
		return saturatingCvt(d, a, dtype.Bits, stype.Bits, dtype.Class == optab.Signed, stype.Class == optab.Signed)
	case dt == optab.F32 && st == optab.F32:
		return byPieces(ir.W32, d, []*ir.Arg{a}, func(g *gen, r []asm.Vec) {
			s := r[0]
			if ftz {
				g.flush32(0, s)
				s = 0
			}
			if integral {
				g.VI(asm.RndScalePS, asm.Z, 0, 0, s, mode.Exactly())
			} else if s != 0 {
				g.V(asm.MovA32, asm.Z, 0, 0, s)
			}
			if ftz || integral {
				g.canonical(0, asm.K0)
			}
			if sat {
				clamp(g)
			}
		})
	case ftz && (dt == optab.F64 || st == optab.F64):
		return nil
	case dt == optab.F64 && st == optab.F64 && !sat:
		if !integral {
			return copyRow(d, a)
		}
		return byPieces(ir.W64, d, []*ir.Arg{a}, func(g *gen, r []asm.Vec) {
			g.VI(asm.RndScalePD, asm.Z, 0, 0, r[0], mode.Exactly())
		})
	case dt == st && integral && !ftz: // halves
		bf := dt == optab.Bf16
		return byPieces(ir.W32, d, []*ir.Arg{a}, func(g *gen, r []asm.Vec) {
			g.halfToSingle(0, r[0], bf, false)
			g.VI(asm.RndScalePS, asm.Z, 0, 0, 0, mode.Exactly())
			if sat {
				clamp(g)
			}
			g.singleToHalf(0, 1, bf, 0)
		})
	case integral || dt == st:
		return nil
	case dt == optab.F32 && (st == optab.F16 || st == optab.Bf16):
		bf := st == optab.Bf16
		return byPieces(ir.W32, d, []*ir.Arg{a}, func(g *gen, r []asm.Vec) {
			g.halfToSingle(0, r[0], bf, false)
			if !bf || ftz {
				g.canonical(0, asm.K0)
			}
			if ftz {
				g.flush32(0, 0)
			}
			if sat {
				clamp(g)
			}
		})
	case st == optab.F32 && (dt == optab.F16 || dt == optab.Bf16 && mode == asm.RoundNearest):
		if ftz {
			return nil
		}
		bf := dt == optab.Bf16
		return byPieces(ir.W32, d, []*ir.Arg{a}, func(g *gen, r []asm.Vec) {
			g.V(asm.MovA32, asm.Z, 0, 0, r[0])
			if sat {
				clamp(g)
			}
			g.singleToHalf(0, 1, bf, mode)
		})
	case dt == optab.F64 && !sat:
		return byQuarters(d, a, false, func(g *gen, q int) { g.quarterDouble(0, a, q, st) })
	case dt == optab.F32 && st == optab.F64 && !sat:
		return byQuarters(d, a, true, func(g *gen, q int) { g.V(asm.CvtPD2PS, asm.Rounded(mode), 0, 0, g.reg(a, q)) })
	}
	return nil
}

// toInteger is cvt from floating point: values out of range clamp, a NaN gives 0, or the value with only the top bit
// set when a 64-bit type takes part.
func toInteger(op *ir.Op, d, a *ir.Arg, st optab.TypeID, width int, signed bool, mode asm.Round, ftz bool) emitter {
	return byQuarters(d, a, false, func(g *gen, q int) {
		g.quarterDouble(1, a, q, st)
		if ftz { // an f32 that is subnormal
			g.VL(asm.AndQ, asm.Z, 2, 1, g.word64(asm.F64Abs))
			g.VL(asm.MovU64, asm.Z, 3, 0, g.word64(0x3810000000000000)) // 2^-126
			g.VCmp(asm.CmpUQ, asm.Z, asm.K7, 2, 3, asm.CmpLT)
			g.V(asm.XorQ, asm.Z.Mask(asm.K7), 1, 1, 1)
		}
		if !signed && width == 64 {
			g.V(asm.CvtPD2UQQ, asm.Rounded(mode), 0, 0, 1)
			g.V(asm.XorQ, asm.Z, 2, 2, 2)
			g.VCmp(asm.CmpPD, asm.Z, asm.K7, 1, 2, asm.FloatLT)
			g.V(asm.MovA64, asm.Z.Mask(asm.K7), 0, 0, 2)
		} else {
			g.VI(asm.RndScalePD, asm.Z, 0, 0, 1, mode.Exactly())
			g.V(asm.CvtTPD2QQ, asm.Z, 0, 0, 0)
			g.VL(asm.MovU64, asm.Z, 2, 0, g.word64(0x43e0000000000000)) // 2^63
			g.VCmp(asm.CmpPD, asm.Z, asm.K7, 1, 2, asm.FloatGE)
			g.VL(asm.MovU64, asm.Z.Mask(asm.K7), 0, 0, g.word64(1<<63-1))
			if width < 64 {
				lo, hi := uint64(0), uint64(1)<<width-1
				if signed {
					lo, hi = ^uint64(0)<<(width-1), 1<<(width-1)-1
				}
				g.VL(asm.MinSQ, asm.Z, 0, 0, g.word64(hi))
				g.VL(asm.MaxSQ, asm.Z, 0, 0, g.word64(lo))
			}
		}
		nan := uint64(0)
		if st == optab.F64 || width == 64 {
			nan = 1 << (width - 1)
			if signed {
				nan = -nan
			}
		}
		g.VCmp(asm.CmpPD, asm.Z, asm.K7, 1, 1, asm.FloatUnord)
		g.VL(asm.MovU64, asm.Z.Mask(asm.K7), 0, 0, g.word64(nan))
	})
}

// fromInteger is cvt to floating point.
func fromInteger(d, a *ir.Arg, dt optab.TypeID, bits int, signed bool, mode asm.Round) emitter {
	if a.Class == ir.W32 && bits > 32 {
		return nil
	}
	if dt == optab.F64 {
		x := asm.CvtUQQ2PD
		if signed {
			x = asm.CvtQQ2PD
		}
		return byQuarters(d, a, false, func(g *gen, q int) {
			g.quarterInt(1, a, q, bits, signed)
			g.V(x, asm.Rounded(mode), 0, 0, 1)
		})
	}
	x := asm.CvtUQQ2PS
	if signed {
		x = asm.CvtQQ2PS
	}
	if dt == optab.F32 {
		return byQuarters(d, a, true, func(g *gen, q int) {
			g.quarterInt(1, a, q, bits, signed)
			g.V(x, asm.Rounded(mode), 0, 0, 1)
		})
	}
	bf := dt == optab.Bf16
	if bf && mode != asm.RoundNearest {
		return nil
	}
	return byQuarters(d, a, true, func(g *gen, q int) {
		g.quarterInt(1, a, q, bits, signed)
		g.oddSingle(x, 1)
		g.singleToHalf(0, 1, bf, mode)
	})
}

// saturatingCvt is cvt.sat between integers of up to 32 bits.
func saturatingCvt(d, a *ir.Arg, dbits, sbits int, dsigned, ssigned bool) emitter {
	top := uint32(1<<dbits - 1)
	if dsigned {
		top = 1<<(dbits-1) - 1
	}
	return byPieces(ir.W32, d, []*ir.Arg{a}, func(g *gen, r []asm.Vec) {
		s := uint8(32 - sbits)
		kind := asm.Shift(asm.ShiftSrl)
		if ssigned {
			kind = asm.ShiftSra
		}
		g.V(asm.MovA32, asm.Z, 0, 0, r[0])
		if s > 0 {
			g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 0, 0, s)
			g.VShift(asm.ShiftD, asm.Z, kind, 0, 0, s)
		}
		if !ssigned {
			g.VL(asm.MinUD, asm.Z, 0, 0, g.word32(top))
		} else {
			lo := uint32(0)
			if dsigned {
				lo = ^uint32(0) << (dbits - 1)
			}
			g.VL(asm.MaxSD, asm.Z, 0, 0, g.word32(lo))
			if top>>31 == 0 {
				g.VL(asm.MinSD, asm.Z, 0, 0, g.word32(top))
			}
		}
		if d.Width != 0 && d.Width < 32 {
			g.VL(asm.AndD, asm.Z, 0, 0, g.word32(1<<d.Width-1))
		}
	})
}

// pairCvt converts two f32 to f16x2 or bf16x2, the first operand in the upper half.
func pairCvt(op *ir.Op) emitter {
	bf, pair, ok := halfType(op.Type(0))
	mode, known := roundingOf(op)
	d, in := &op.Args[0], sources(op)
	if !ok || !pair || !known || len(in) != 2 || op.Mods().Satfinite || op.Mods().Ftz || op.Mods().Sat ||
		bf && mode != asm.RoundNearest || op.Mods().Round == optab.RoundRs {
		return nil
	}
	relu := op.Mods().Relu
	return byPieces(ir.W32, d, in, func(g *gen, r []asm.Vec) {
		for i := range asm.Vec(2) {
			g.V(asm.MovA32, asm.Z, i, 0, r[i])
			g.singleToHalf(i, 2, bf, mode)
			if relu {
				g.VTestL(asm.TestMD, asm.Z, asm.K7, i, g.word32(asm.F16Sign))
				g.V(asm.XorD, asm.Z.Mask(asm.K7), i, i, i)
			}
		}
		g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 0, 0, 16)
		g.V(asm.OrD, asm.Z, 0, 0, 1)
	})
}

// comparison describes how an operation compares a type: imm is the predicate of the instruction.
type comparison struct {
	typ  optab.TypeID
	cl   ir.Class
	x    asm.CompareOp
	imm  asm.Predicate
	half bool
	bf   bool
	pair bool
	n16  bool
	ftz  bool
}

func comparisonOf(op *ir.Op, typ optab.TypeID) (c comparison, ok bool) {
	c = comparison{typ: typ, ftz: op.Mods().Ftz}
	float := false
	switch typ {
	case optab.S16, optab.U16, optab.B16:
		c.n16, c.x = true, asm.CmpUD
		if typ == optab.S16 {
			c.x = asm.CmpD
		}
	case optab.S32:
		c.x = asm.CmpD
	case optab.U32, optab.B32:
		c.x = asm.CmpUD
	case optab.S64:
		c.x, c.cl = asm.CmpQ, ir.W64
	case optab.U64, optab.B64:
		c.x, c.cl = asm.CmpUQ, ir.W64
	case optab.F32:
		c.x, float = asm.CmpPS, true
	case optab.F64:
		c.x, c.cl, float = asm.CmpPD, ir.W64, true
	default:
		if c.bf, c.pair, c.half = halfType(typ); !c.half {
			return c, false
		}
		c.x, float = asm.CmpPS, true
	}
	of := intPredicates
	if float {
		of = floatPredicates
	}
	c.imm, ok = of[op.Mods().Cmp]
	return c, ok && !(c.bf && c.ftz)
}

// compare leaves the lanes where it holds in eax; high compares upper halves. rdx and registers 0 to 3 are used.
func (g *gen) compare(c *comparison, a, b *ir.Arg, high bool) {
	n := plan.Pieces(c.cl)
	for p := range n {
		g.pin()
		r := [2]asm.Vec{g.reg(a, p), g.reg(b, p)}
		for i := range r {
			z := asm.Vec(1 + i)
			switch {
			case c.half:
				s := r[i]
				if c.ftz {
					g.flush16(z, s)
					s = z
				}
				g.halfToSingle(z, s, c.bf, high)
				r[i] = z
			case c.n16:
				g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, z, r[i], 16)
				r[i] = z
			case c.ftz && c.typ == optab.F32:
				g.flush32(z, r[i])
				r[i] = z
			}
		}
		g.VCmp(c.x, asm.Z, asm.K0, r[0], r[1], c.imm)
		if p == 0 {
			g.KMovRD(asm.RAX, asm.K0)
			continue
		}
		g.KMovRD(asm.RDX, asm.K0)
		g.ShlI32(asm.RDX, uint8(32/n*p))
		g.Or32(asm.RAX, asm.RDX)
	}
}

func narrowCompare(op *ir.Op) emitter {
	d := &op.Args[0]
	a, b, c := op.Arg("a"), op.Arg("b"), op.Arg("c")
	cmp, ok := comparisonOf(op, op.Type(0))
	if !ok || a == nil || b == nil || !a.Reg() || !b.Reg() || a.Class != cmp.cl || b.Class != cmp.cl ||
		d.Kind != ir.Row && d.Kind != ir.None {
		return nil
	}
	combine := op.Mods().Func
	q := d.Second
	return func(g *gen) {
		// The lanes of both results wait in the context until all sources are read.
		for i := range 2 {
			if i == 1 && q == nil {
				break
			}
			if i == 0 || cmp.pair {
				g.compare(&cmp, a, b, i == 1)
			} else {
				g.Ld32(asm.RAX, inContext(laneOut(2)))
				g.Not32(asm.RAX)
			}
			g.St32(inContext(laneOut(2)), asm.RAX) // before it is combined
			if c != nil && combine != optab.NoFunc {
				g.pred(asm.RDX, c)
				g.combine(combine, asm.RAX, asm.RDX)
			}
			g.St32(inContext(laneOut(i)), asm.RAX)
		}
		for i, x := range []*ir.Arg{d, q} {
			if x != nil && x.Kind == ir.Row {
				g.Ld32(asm.RAX, inContext(laneOut(i)))
				g.setPred(x, asm.RAX)
			}
		}
	}
}

// setTemplate is set: true is all ones for an integer destination and one for a floating point one.
func setTemplate(op *ir.Op) emitter {
	d := &op.Args[0]
	a, b, c := op.Arg("a"), op.Arg("b"), op.Arg("c")
	cmp, ok := comparisonOf(op, op.Type(1))
	if !ok || a == nil || b == nil || !a.Reg() || !b.Reg() || a.Class != cmp.cl || b.Class != cmp.cl ||
		d.Kind != ir.Row || d.Class != ir.W32 {
		return nil
	}
	combine := op.Mods().Func
	dt := op.Type(0)
	yes := map[optab.TypeID]uint32{optab.U16: 0xffff, optab.S16: 0xffff, optab.U32: 0xffffffff, optab.S32: 0xffffffff,
		optab.F32: asm.F32One, optab.F16: 0x3c00, optab.Bf16: 0x3f80}[dt]
	if cmp.pair {
		yes = map[optab.TypeID]uint32{optab.U32: 0xffff, optab.S32: 0xffff, optab.F16x2: 0x3c00,
			optab.Bf16x2: 0x3f80}[dt]
	}
	if yes == 0 {
		return nil
	}
	return func(g *gen) {
		n := 1
		if cmp.pair {
			n = 2
		}
		for i := range n {
			g.compare(&cmp, a, b, i == 1)
			if c != nil && combine != optab.NoFunc {
				g.pred(asm.RDX, c)
				g.combine(combine, asm.RAX, asm.RDX)
			}
			g.St32(inContext(laneOut(i)), asm.RAX)
		}
		for p := range g.each(d) {
			g.pin()
			for i := range n {
				g.Ld32(asm.RAX, inContext(laneOut(i)))
				if p == 1 {
					g.ShrI32(asm.RAX, 16)
				}
				g.KMovDR(asm.K7, asm.RAX)
				g.VL(asm.MovU32, asm.Z.Mask(asm.K7).Zeroing(), asm.Vec(i), 0, g.word32(yes<<(16*i)))
			}
			if n == 2 {
				g.V(asm.OrD, asm.Z, 0, 0, 1)
			}
			z, o := g.dst(d, p)
			g.V(asm.MovA32, o, z, 0, 0)
		}
	}
}
