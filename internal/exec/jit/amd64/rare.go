package amd64

import (
	"math"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// approx64Template is rcp.approx.ftz.f64 and rsqrt.approx of f64: the tables of f32 with the upper words, one step of
// refinement for rsqrt without ftz (num/approx_f64.go).
func approx64Template(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	if !op.Mods().Approx || op.Type(0) != optab.F64 || !rows(ir.W64, d, a) {
		return nil
	}
	root := op.Opcode() == optab.OpRsqrt
	refine := root && !op.Mods().Ftz
	return func(g *gen) {
		n := g.pieces(d)
		for p := range (n + 1) / 2 {
			g.pin()
			var x [2]asm.Vec
			for i := range x {
				r := g.reg(a, 2*p+i)
				x[i] = r
				if refine { // subnormals are brought into range
					x[i] = g.temp()
					g.tiny(r)
					g.V(asm.MovA64, asm.Z, x[i], 0, r)
					g.VL(asm.MovU64, asm.Z, 1, 0, g.word64(math.Float64bits(1<<54)))
					g.V(asm.MulPD, asm.Z.Mask(asm.K7), x[i], x[i], 1)
				}
			}
			h, to := g.temp(), g.temp()
			for i := range asm.Vec(2) {
				g.VShift(asm.ShiftQ, asm.Z, asm.ShiftSrl, i, x[i], 32)
				g.V(asm.MovQD, asm.Z, i, 0, i)
			}
			g.VI(asm.InsertQ4, asm.Z, h, 0, 1, 1)
			if root {
				g.rsqrtHigh(h, to)
			} else {
				g.rcpHigh(h, to)
			}
			for i := range 2 {
				q := 2*p + i
				if q >= n {
					break
				}
				r := to
				if i == 1 {
					g.VI(asm.ExtractQ4, asm.Z, to, 0, 0, 1)
					r = 0
				}
				g.V(asm.MovZXDQ, asm.Z, 0, 0, r)
				g.VShift(asm.ShiftQ, asm.Z, asm.ShiftSll, 0, 0, 32)
				if refine {
					g.refineRoot(x[i], g.reg(a, q))
				}
				z, o := g.dst(d, q)
				g.V(asm.MovA64, o, z, 0, 0)
			}
			g.release()
		}
	}
}

// tiny finds the lanes of k7 whose f64 is subnormal, not zero. Registers 1 and 2 are used.
func (g *gen) tiny(r asm.Vec) {
	g.VL(asm.AndQ, asm.Z, 1, r, g.word64(asm.F64Abs))
	g.VL(asm.SubQ, asm.Z, 1, 1, g.word64(1))
	g.VL(asm.MovU64, asm.Z, 2, 0, g.word64(asm.F64Mantissa))
	g.VCmp(asm.CmpUQ, asm.Z, asm.K7, 1, 2, asm.CmpLT)
}

// exponents finishes a table's value, cut to 20 fraction bits of an upper word with the exponent of its units (2^-40)
// but for what is added: bias - shift.
func (g *gen) rcpHigh(h, to asm.Vec) {
	g.splat(0, 0xfffff)
	g.V(asm.AndD, asm.Z, 0, 0, h)
	g.shift32(asm.ShiftSll, 0, 0, 3)
	g.curve(curveRcp, to, nil)
	g.shift32(asm.ShiftSrl, to, to, 3)
	g.splat(1, 0xfffff)
	g.VTest(asm.TestNMD, asm.Z, asm.K7, 1, h)
	g.set(to, 167<<20) // powers of two
	g.splat(1, 0x7ff00000)
	g.V(asm.AndD, asm.Z, 1, 1, h)
	g.V(asm.SubD, asm.Z, to, to, 1)
	g.splat(1, (896-40+1023)<<20)
	g.V(asm.AddD, asm.Z, to, to, 1)
	g.splat(7, 1<<20)
	g.VCmp(asm.CmpD, asm.Z, asm.K7, to, 7, asm.CmpLT)
	g.set(to, 0)
	g.magnitude(0, h)
	g.cmp(0, 0x7ff00000, asm.CmpGE)
	g.set(to, 0)
	g.cmp(0, 1<<20, asm.CmpLT)
	g.set(to, 0x7ff00000)
	g.withSign(to, h)
	g.cmp(0, 0x7ff00000, asm.CmpGT)
	g.set(to, asm.F32NaN)
}

func (g *gen) rsqrtHigh(h, to asm.Vec) {
	at := g.temp()
	g.splat(1, 0xfffff)
	g.V(asm.AndD, asm.Z, 1, 1, h)
	g.shift32(asm.ShiftSll, 1, 1, 3)
	g.shift32(asm.ShiftSrl, 0, h, 20)
	g.splat(2, 1)
	g.V(asm.AndD, asm.Z, 0, 0, 2)
	g.V(asm.XorD, asm.Z, 0, 0, 2)
	g.shift32(asm.ShiftSll, 0, 0, 23)
	g.V(asm.OrD, asm.Z, 0, 0, 1)
	g.V(asm.MovA32, asm.Z, at, 0, 0)
	g.curve(curveRsqrt, to, nil)
	g.shift32(asm.ShiftSrl, to, to, 3)
	g.cmp(at, 0, asm.CmpEQ)
	g.set(to, 167<<20)
	g.magnitude(1, h)
	g.shift32(asm.ShiftSrl, 1, 1, 20)
	g.splat(2, 1023)
	g.V(asm.SubD, asm.Z, 1, 1, 2)
	g.shift32(asm.ShiftSra, 1, 1, 1)
	g.shift32(asm.ShiftSll, 1, 1, 20)
	g.V(asm.SubD, asm.Z, to, to, 1)
	g.splat(1, (896-40)<<20)
	g.V(asm.AddD, asm.Z, to, to, 1)
	g.magnitude(0, h)
	g.cmp(0, 0x7ff00000, asm.CmpEQ)
	g.set(to, 0)
	g.cmp(h, asm.F32Sign, asm.CmpGE)
	g.set(to, asm.F32NaN)
	g.cmp(0, 1<<20, asm.CmpLT)
	g.set(to, 0x7ff00000)
	g.splat(1, asm.F32Sign)
	g.V(asm.AndD, asm.Z, 1, 1, h)
	g.V(asm.OrD, asm.Z.Mask(asm.K7), to, to, 1)
	g.cmp(0, 0x7ff00000, asm.CmpGT)
	g.set(to, asm.F32NaN)
}

// refineRoot makes rsqrt.approx.f64 of the unit's result in 0 for x, which was raw before subnormals were scaled.
func (g *gen) refineRoot(x, raw asm.Vec) {
	g.V(asm.MulPD, asm.Z, 3, 0, 0)
	g.VL(asm.XorQ, asm.Z, 3, 3, g.word64(1<<63))
	g.VL(asm.MovU64, asm.Z, 4, 0, g.word64(math.Float64bits(1)))
	g.V(asm.FMA213PD, asm.Z, 3, x, 4) // e
	g.V(asm.MulPD, asm.Z, 5, 0, 3)    // y*e
	g.VL(asm.MovU64, asm.Z, 4, 0, g.word64(math.Float64bits(0.375)))
	g.VL(asm.MovU64, asm.Z, 6, 0, g.word64(math.Float64bits(0.5)))
	g.V(asm.FMA213PD, asm.Z, 3, 4, 6)
	g.V(asm.FMA213PD, asm.Z, 3, 5, 0)
	g.V(asm.MovA64, asm.Z, 0, 0, 3)
	g.tiny(raw)
	g.VL(asm.MovU64, asm.Z, 1, 0, g.word64(math.Float64bits(1<<27)))
	g.V(asm.MulPD, asm.Z.Mask(asm.K7), 0, 0, 1)
	g.VL(asm.AndQ, asm.Z, 3, raw, g.word64(asm.F64Abs))
	g.VL(asm.MovU64, asm.Z, 4, 0, g.word64(asm.F64Inf))
	g.VCmp(asm.CmpUQ, asm.Z, asm.K7, 3, 4, asm.CmpEQ)
	g.V(asm.XorQ, asm.Z.Mask(asm.K7), 0, 0, 0)
	g.V(asm.XorQ, asm.Z, 5, 5, 5)
	g.VCmp(asm.CmpQ, asm.Z, asm.K7, raw, 5, asm.CmpLT)
	g.VL(asm.MovU64, asm.Z.Mask(asm.K7), 0, 0, g.word64(asm.F64NaN))
	g.VCmp(asm.CmpUQ, asm.Z, asm.K7, 3, 5, asm.CmpEQ)
	g.V(asm.OrQ, asm.Z.Mask(asm.K7), 0, raw, 4)
	g.VCmp(asm.CmpUQ, asm.Z, asm.K7, 3, 4, asm.CmpGT)
	g.VL(asm.OrQ, asm.Z.Mask(asm.K7), 0, raw, g.word64(asm.F64Quiet))
}

// miniTables are the values of e4m3 and e5m2 as f16.
type miniTables [2][256]uint32

func (t *miniTables) fill() {
	for i, f := range []num.Format{num.E4M3, num.E5M2} {
		for x := range 256 {
			t[i][x] = uint32(num.MiniToF16(f, uint8(x), 0))
		}
	}
}

var miniFormats = map[optab.TypeID]int{optab.E4m3x2: 0, optab.E5m2x2: 1}

// fromMiniTemplate is cvt.rn.f16x2 from e4m3x2 and e5m2x2.
func fromMiniTemplate(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	if op.Mods().NumTypes < 2 || op.Type(0) != optab.F16x2 || op.Mods().Relu || len(in) != 1 {
		return nil
	}
	which, ok := miniFormats[op.Type(1)]
	if !ok {
		return nil
	}
	return byPieces(ir.W32, d, in, func(g *gen, r []asm.Vec) {
		g.Ld(asm.RAX, inContext(abi.OffTables))
		for i := range asm.Vec(2) {
			g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, 3, r[0], 8*uint8(i))
			g.VL(asm.AndD, asm.Z, 3, 3, g.word32(0xff))
			g.V(asm.XorD, asm.Z, i, i, i)
			g.KXnorW(asm.K7, asm.K7, asm.K7)
			g.VX(asm.GatherDD, asm.Z.Mask(asm.K7), i, asm.RAX, 3, 4, offMini+int32(1024*which))
		}
		g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 1, 1, 16)
		g.V(asm.OrD, asm.Z, 0, 0, 1)
	})
}

// toMiniTemplate is cvt.rn.satfinite from two f32 to e4m3x2 and e5m2x2, the first operand in the upper byte.
func toMiniTemplate(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	if op.Mods().NumTypes < 2 || op.Type(1) != optab.F32 || len(in) != 2 || !op.Mods().Satfinite {
		return nil
	}
	which, ok := miniFormats[op.Type(0)]
	if !ok {
		return nil
	}
	// fraction bits, bias, the smallest normal number, what has the unit of subnormals as its last place, the largest
	// code
	f := []struct {
		man, bias          uint8
		normal, magic, max uint32
	}{{3, 7, 0x3c800000, 0x46800000, 0x7e}, {2, 15, 0x38800000, 0x43000000, 0x7b}}[which]
	relu := op.Mods().Relu
	return byPieces(ir.W32, d, in, func(g *gen, r []asm.Vec) {
		for i := range 2 {
			z, s := asm.Vec(i), r[i]
			shift := 23 - f.man
			g.VL(asm.AndD, asm.Z, 2, s, g.word32(asm.F32Abs))
			g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, z, 2, shift)
			g.VL(asm.AndD, asm.Z, z, z, g.word32(1))
			g.VL(asm.AddD, asm.Z, z, z, g.word32(1<<(shift-1)-1))
			g.V(asm.AddD, asm.Z, z, z, 2)
			g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, z, z, shift)
			g.VL(asm.SubD, asm.Z, z, z, g.word32(uint32(127-f.bias)<<f.man))
			g.VL(asm.MovU32, asm.Z, 3, 0, g.word32(f.normal))
			g.VCmp(asm.CmpUD, asm.Z, asm.K7, 2, 3, asm.CmpLT)
			g.VL(asm.AddPS, asm.Z, 4, 2, g.word32(f.magic))
			g.VL(asm.SubD, asm.Z.Mask(asm.K7), z, 4, g.word32(f.magic))
			g.VL(asm.MinUD, asm.Z, z, z, g.word32(f.max))
			g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, 3, s, 31)
			g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 3, 3, 7)
			g.V(asm.OrD, asm.Z, z, z, 3)
			if relu {
				g.VTestL(asm.TestMD, asm.Z, asm.K7, s, g.word32(asm.F32Sign))
				g.V(asm.XorD, asm.Z.Mask(asm.K7), z, z, z)
			}
			g.VL(asm.MovU32, asm.Z, 3, 0, g.word32(asm.F32Inf))
			g.VCmp(asm.CmpUD, asm.Z, asm.K7, 2, 3, asm.CmpGT)
			g.VL(asm.MovU32, asm.Z.Mask(asm.K7), z, 0, g.word32(0x7f))
		}
		g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 0, 0, 8)
		g.V(asm.OrD, asm.Z, 0, 0, 1)
	})
}

// packCvt is cvt.pack.sat.
func packCvt(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	t := op.Type(0).Info()
	if t.Bits > 16 || len(in) != 2 && len(in) != 3 {
		return nil
	}
	width := uint8(t.Bits)
	lo, hi := uint32(0), uint32(1)<<width-1
	if t.Class == optab.Signed {
		lo, hi = ^uint32(0)<<(width-1), 1<<(width-1)-1
	}
	return byPieces(ir.W32, d, in, func(g *gen, r []asm.Vec) {
		for i := range asm.Vec(2) {
			g.VL(asm.MaxSD, asm.Z, i, r[i], g.word32(lo))
			g.VL(asm.MinSD, asm.Z, i, i, g.word32(hi))
			g.VL(asm.AndD, asm.Z, i, i, g.word32(1<<width-1))
		}
		g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 0, 0, width)
		g.V(asm.OrD, asm.Z, 0, 0, 1)
		if len(in) == 3 && width < 16 {
			g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 1, r[2], 2*width)
			g.V(asm.OrD, asm.Z, 0, 0, 1)
		}
	})
}

// permuteMode is prmt with a mode: two bits choose the selector.
func permuteMode(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	mode := op.Mods().Permute
	if mode == optab.NoPermute || len(in) != 3 || !alike(32, d) || !alike(32, in...) {
		return nil
	}
	var sel [16]uint32
	for c := range uint32(4) {
		for i := range uint32(4) {
			s := [...]uint32{optab.PermuteF4e: c + i, optab.PermuteB4e: (c - i) & 7, optab.PermuteRc8: c,
				optab.PermuteEcl: max(c, i), optab.PermuteEcr: min(c, i), optab.PermuteRc16: c&1*2 + i&1}[mode]
			sel[c] |= s << (4 * i)
		}
	}
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.ld(asm.RAX, 2)
		l.AndI32(asm.RAX, 3)
		l.LeaLabel(asm.RDX, l.vector(sel))
		l.Ld32(asm.RAX, asm.Indexed(asm.RDX, asm.RAX, 4, 0))
		l.StR(false, laneMem(laneIn(2), ir.W32), asm.RAX)
		l.permute()
	})
}

// slctTemplate takes a where c is not negative: -0 is not negative, a NaN is.
func slctTemplate(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	if op.Mods().NumTypes < 2 || len(in) != 3 {
		return nil
	}
	float, ftz := op.Type(1) == optab.F32, op.Mods().Ftz
	return byPieces(ir.W32, d, in, func(g *gen, r []asm.Vec) {
		g.V(asm.XorD, asm.Z, 1, 1, 1)
		c := r[2]
		if float {
			if ftz {
				g.flush32(2, c)
				c = 2
			}
			g.VCmp(asm.CmpPS, asm.Z, asm.K7, c, 1, asm.FloatGE)
		} else {
			g.VCmp(asm.CmpD, asm.Z, asm.K7, c, 1, asm.CmpGE)
		}
		g.V(asm.BlendMD, asm.Z.Mask(asm.K7), 0, r[1], r[0])
	})
}

// testpTemplate is testp of f32.
func testpTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	if op.Type(0) != optab.F32 || d.Kind != ir.Row || !a.Reg() || a.Class != ir.W32 {
		return nil
	}
	// as an unsigned number less than another one: the magnitude less the first
	ranges := map[optab.FloatClass][2]uint32{optab.FloatClassFinite: {0, asm.F32Inf},
		optab.FloatClassInfinite: {asm.F32Inf, 1}, optab.FloatClassNumber: {0, asm.F32Inf + 1},
		optab.FloatClassNotANumber: {asm.F32Inf + 1, asm.F32Mantissa}, optab.FloatClassSubnormal: {1, asm.F32Mantissa},
		optab.FloatClassNormal: {asm.F32MinNormal, 0x7f000000}}
	which := op.Mods().FloatClass
	x, ok := ranges[which]
	if !ok {
		return nil
	}
	return func(g *gen) {
		g.StI32(inContext(laneOut(0)), 0)
		for p := range 2 {
			g.pin()
			g.VL(asm.AndD, asm.Z, 1, g.reg(a, p), g.word32(asm.F32Abs))
			g.VL(asm.SubD, asm.Z, 2, 1, g.word32(x[0]))
			g.VL(asm.MovU32, asm.Z, 3, 0, g.word32(x[1]))
			g.VCmp(asm.CmpUD, asm.Z, asm.K7, 2, 3, asm.CmpLT)
			g.KMovRW(asm.RAX, asm.K7)
			if which == optab.FloatClassNormal { // zero too
				g.VTest(asm.TestNMD, asm.Z, asm.K7, 1, 1)
				g.KMovRW(asm.RDX, asm.K7)
				g.Or32(asm.RAX, asm.RDX)
			}
			g.ShlI32(asm.RAX, uint8(16*p))
			g.MR(asm.ArithOr, false, inContext(laneOut(0)), asm.RAX)
		}
		g.Ld32(asm.RAX, inContext(laneOut(0)))
		g.setPred(d, asm.RAX)
	}
}

// policyTemplate is createpolicy.fractional with a fraction that is known: the bits that an H200 gives
// (interp/policy.go).
func policyTemplate(op *ir.Op) emitter {
	d, f := &op.Args[0], op.Arg("f")
	if d.Kind != ir.Row || d.Class != ir.W64 || f != nil && f.Reg() && (f.Kind != ir.Imm || f.Sym) {
		return nil
	}
	primary := [...]uint64{optab.EvictUnchanged: 0, optab.EvictFirst: 2, optab.EvictLast: 4,
		optab.EvictNormal: 6}[op.Mods().Evict]
	frac := uint64(15)
	if f != nil && f.Kind == ir.Imm {
		frac = uint64(max(0, min(15, math.Ceil(float64(math.Float32frombits(uint32(f.Bits)))*16)-1)))
	}
	return func(g *gen) {
		for p := range g.each(d) {
			g.pin()
			z, o := g.dst(d, p)
			g.VL(asm.MovU64, o, z, 0, g.word64(1<<60|primary<<56|frac<<52))
		}
	}
}

// flushedDivTemplate is div.approx.ftz.f32.
func flushedDivTemplate(op *ir.Op) emitter {
	d, a, b := &op.Args[0], &op.Args[1], &op.Args[2]
	if op.Type(0) != optab.F32 || !op.Mods().Approx || !op.Mods().Ftz || !rows(ir.W32, d, a, b) {
		return nil
	}
	return func(g *gen) {
		n := g.pieces(d)
		for p := range n { // into registers first: what follows must not change the cache
			g.reg(a, p)
			g.reg(b, p)
		}
		slow := g.slow()
		var t [2]asm.Vec
		for p := range n {
			t[p] = g.temp()
		}
		for p := range n {
			ra, rb := g.reg(a, p), g.reg(b, p)
			g.rcpUnit(rb, t[p])
			g.flush32(1, ra)
			g.flush32(2, t[p])
			g.V(asm.MulPS, asm.Z, t[p], 1, 2)
			g.canonical(t[p], asm.K0)
			// what only reached the smallest normal number by rounding is flushed too: the interpreter looks at those
			g.VL(asm.AndD, asm.Z, 1, t[p], g.word32(asm.F32Abs))
			g.VL(asm.MovU32, asm.Z, 2, 0, g.word32(asm.F32MinNormal))
			g.VCmp(asm.CmpD, asm.Z.Mask(g.mask(ir.W32, p)), asm.K7, 1, 2, asm.CmpEQ)
			g.KOrTestW(asm.K7, asm.K7)
			g.J(asm.NE, slow)
			g.flush32(t[p], t[p])
		}
		for p := range n {
			z, o := g.dst(d, p)
			g.V(asm.MovA32, o, z, 0, t[p])
		}
		g.release()
	}
}

// wideCvt is cvt.sat between integers of which one has 64 bits, f32 from f64 with sat, and f16 from f64.
func wideCvt(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	if m := op.Mods(); m.NumTypes < 2 || m.Relu || m.Satfinite || m.Ftz {
		return nil
	}
	dt, st := op.Type(0), op.Type(1)
	dtype, stype := dt.Info(), st.Info()
	mode, known := roundingOf(op)
	sat := op.Mods().Sat
	if !known {
		return nil
	}
	switch {
	case dt.Integer() && st.Integer() && sat:
		top := ^uint64(0) >> (64 - dtype.Bits)
		if dtype.Class == optab.Signed {
			top >>= 1
		}
		if a.Class == ir.W32 && stype.Bits > 32 {
			return nil
		}
		signed := stype.Class == optab.Signed
		return byQuarters(d, a, false, func(g *gen, q int) {
			g.quarterInt(0, a, q, stype.Bits, signed)
			if !signed {
				g.VL(asm.MinUQ, asm.Z, 0, 0, g.word64(top))
				return
			}
			lo := uint64(0)
			if dtype.Class == optab.Signed {
				lo = ^uint64(0) << (dtype.Bits - 1)
			}
			g.VL(asm.MaxSQ, asm.Z, 0, 0, g.word64(lo))
			if int64(top) >= 0 {
				g.VL(asm.MinSQ, asm.Z, 0, 0, g.word64(top))
			}
		})
	case dt == optab.F32 && st == optab.F64 && sat:
		return byQuarters(d, a, true, func(g *gen, q int) {
			g.V(asm.CvtPD2PS, asm.Rounded(mode), 0, 0, g.reg(a, q))
			g.VL(asm.MovU32, asm.Z, 3, 0, g.word32(asm.F32Inf))
			g.VCmp(asm.CmpUD, asm.Z, asm.K7, 0, 3, asm.CmpGT)
			g.V(asm.XorD, asm.Z.Mask(asm.K7), 0, 0, 0)
			g.VL(asm.MinUD, asm.Z, 0, 0, g.word32(asm.F32One))
		})
	case dt == optab.F16 && st == optab.F64 && !sat:
		return byQuarters(d, a, true, func(g *gen, q int) {
			g.oddSingle(asm.CvtPD2PS, g.reg(a, q))
			g.VI(asm.CvtPS2PH, asm.Z, 0, 0, 0, uint8(mode))
			g.V(asm.MovZXWD, asm.Z, 0, 0, 0)
		})
	}
	return nil
}
