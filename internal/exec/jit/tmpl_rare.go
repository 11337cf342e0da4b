package jit

import (
	"math"

	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// rareTemplates compute what few kernels want.
var rareTemplates = map[optab.Opcode]template{
	optab.OpRcp: approx64Template, optab.OpRsqrt: approx64Template, optab.OpCvtWiden: fromMiniTemplate, optab.OpCvtPair: toMiniTemplate, optab.OpCvtPack: packCvt, optab.OpPrmt: permuteMode, optab.OpSlct: slctTemplate,
	optab.OpTestp: testpTemplate, optab.OpCreatepolicy: policyTemplate, optab.OpFdiv: flushedDivTemplate, optab.OpCvt: wideCvt,
}

// approx64Template is rcp.approx.ftz.f64 and rsqrt.approx of f64: the tables of f32 with the upper words, one step of refinement for rsqrt without ftz (num/approx_f64.go).
func approx64Template(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	if !op.Match.Has("approx") || op.Match.Type(0) != "f64" || !rows(ir.W64, d, a) {
		return nil
	}
	root := op.Opcode() == optab.OpRsqrt
	refine := root && !op.Match.Has("ftz")
	return func(g *gen) {
		n := g.each(d)
		for p := range (n + 1) / 2 {
			g.pin()
			var x [2]uint8
			for i := range x {
				r := g.reg(a, 2*p+i)
				x[i] = r
				if refine { // subnormals are brought into range
					x[i] = g.temp()
					g.tiny(r)
					g.V(asm.MovA64, asm.Z, x[i], 0, r)
					g.VL(asm.MovU64, asm.Z, 1, 0, g.word64(math.Float64bits(1<<54)))
					g.V(asm.MulPD, asm.Z.Mask(7), x[i], x[i], 1)
				}
			}
			h, to := g.temp(), g.temp()
			for i := range uint8(2) {
				g.VI(asm.ShiftQ, asm.Z, asm.ShiftSrl, i, x[i], 32)
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
				g.VI(asm.ShiftQ, asm.Z, asm.ShiftSll, 0, 0, 32)
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
func (g *gen) tiny(r uint8) {
	g.VL(asm.AndQ, asm.Z, 1, r, g.word64(1<<63-1))
	g.VL(asm.SubQ, asm.Z, 1, 1, g.word64(1))
	g.VL(asm.MovU64, asm.Z, 2, 0, g.word64(1<<52-1))
	g.VI(asm.CmpUQ, asm.Z, 7, 1, 2, 1)
}

// exponents finishes a table's value, cut to 20 fraction bits of an upper word with the exponent of its units (2^-40) but for what is added: bias - shift.
func (g *gen) rcpHigh(h, to uint8) {
	g.splat(0, 0xfffff)
	g.V(asm.AndD, asm.Z, 0, 0, h)
	g.shift32(asm.ShiftSll, 0, 0, 3)
	g.curve(curveRcp, to, nil)
	g.shift32(asm.ShiftSrl, to, to, 3)
	g.splat(1, 0xfffff)
	g.V(asm.TestNMD, asm.Z, 7, 1, h)
	g.set(to, 167<<20) // powers of two
	g.splat(1, 0x7ff00000)
	g.V(asm.AndD, asm.Z, 1, 1, h)
	g.V(asm.SubD, asm.Z, to, to, 1)
	g.splat(1, (896-40+1023)<<20)
	g.V(asm.AddD, asm.Z, to, to, 1)
	g.splat(7, 1<<20)
	g.VI(asm.CmpD, asm.Z, 7, to, 7, 1)
	g.set(to, 0)
	g.magnitude(0, h)
	g.cmp(0, 0x7ff00000, 5)
	g.set(to, 0)
	g.cmp(0, 1<<20, 1)
	g.set(to, 0x7ff00000)
	g.withSign(to, h)
	g.cmp(0, 0x7ff00000, 6)
	g.set(to, 0x7fffffff)
}

func (g *gen) rsqrtHigh(h, to uint8) {
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
	g.cmp(at, 0, 0)
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
	g.cmp(0, 0x7ff00000, 0)
	g.set(to, 0)
	g.cmp(h, signBit, 5)
	g.set(to, 0x7fffffff)
	g.cmp(0, 1<<20, 1)
	g.set(to, 0x7ff00000)
	g.splat(1, signBit)
	g.V(asm.AndD, asm.Z, 1, 1, h)
	g.V(asm.OrD, asm.Z.Mask(7), to, to, 1)
	g.cmp(0, 0x7ff00000, 6)
	g.set(to, 0x7fffffff)
}

// refineRoot makes rsqrt.approx.f64 of the unit's result in 0 for x, which was raw before subnormals were scaled.
func (g *gen) refineRoot(x, raw uint8) {
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
	g.V(asm.MulPD, asm.Z.Mask(7), 0, 0, 1)
	g.VL(asm.AndQ, asm.Z, 3, raw, g.word64(1<<63-1))
	g.VL(asm.MovU64, asm.Z, 4, 0, g.word64(0x7ff0000000000000))
	g.VI(asm.CmpUQ, asm.Z, 7, 3, 4, 0)
	g.V(asm.XorQ, asm.Z.Mask(7), 0, 0, 0)
	g.V(asm.XorQ, asm.Z, 5, 5, 5)
	g.VI(asm.CmpQ, asm.Z, 7, raw, 5, 1)
	g.VL(asm.MovU64, asm.Z.Mask(7), 0, 0, g.word64(0xfff8000000000000))
	g.VI(asm.CmpUQ, asm.Z, 7, 3, 5, 0)
	g.V(asm.OrQ, asm.Z.Mask(7), 0, raw, 4)
	g.VI(asm.CmpUQ, asm.Z, 7, 3, 4, 6)
	g.VL(asm.OrQ, asm.Z.Mask(7), 0, raw, g.word64(1<<51))
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

var miniFormats = map[string]int{"e4m3x2": 0, "e5m2x2": 1}

// fromMiniTemplate is cvt.rn.f16x2 from e4m3x2 and e5m2x2.
func fromMiniTemplate(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	if len(op.Match.Types) < 2 || op.Match.Type(0) != "f16x2" || op.Match.Has("relu") || len(in) != 1 {
		return nil
	}
	which, ok := miniFormats[op.Match.Type(1)]
	if !ok {
		return nil
	}
	return byPieces(ir.W32, d, in, func(g *gen, r []uint8) {
		g.Ld(asm.RAX, inContext(offTables))
		for i := range uint8(2) {
			g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, 3, r[0], 8*i)
			g.VL(asm.AndD, asm.Z, 3, 3, g.word32(0xff))
			g.V(asm.XorD, asm.Z, i, i, i)
			g.KXnorW(7, 7, 7)
			g.VX(asm.GatherDD, asm.Z.Mask(7), i, asm.RAX, 3, 4, offMini+int32(1024*which))
		}
		g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, 1, 1, 16)
		g.V(asm.OrD, asm.Z, 0, 0, 1)
	})
}

// toMiniTemplate is cvt.rn.satfinite from two f32 to e4m3x2 and e5m2x2, the first operand in the upper byte.
func toMiniTemplate(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	if len(op.Match.Types) < 2 || op.Match.Type(1) != "f32" || len(in) != 2 || !op.Match.Has("satfinite") {
		return nil
	}
	which, ok := miniFormats[op.Match.Type(0)]
	if !ok {
		return nil
	}
	// fraction bits, bias, the smallest normal number, what has the unit of subnormals as its last place, the largest code
	f := []struct {
		man, bias          uint8
		normal, magic, max uint32
	}{{3, 7, 0x3c800000, 0x46800000, 0x7e}, {2, 15, 0x38800000, 0x43000000, 0x7b}}[which]
	relu := op.Match.Has("relu")
	return byPieces(ir.W32, d, in, func(g *gen, r []uint8) {
		for i := range 2 {
			z, s := uint8(i), r[i]
			shift := 23 - f.man
			g.VL(asm.AndD, asm.Z, 2, s, g.word32(1<<31-1))
			g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, z, 2, shift)
			g.VL(asm.AndD, asm.Z, z, z, g.word32(1))
			g.VL(asm.AddD, asm.Z, z, z, g.word32(1<<(shift-1)-1))
			g.V(asm.AddD, asm.Z, z, z, 2)
			g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, z, z, shift)
			g.VL(asm.SubD, asm.Z, z, z, g.word32(uint32(127-f.bias)<<f.man))
			g.VL(asm.MovU32, asm.Z, 3, 0, g.word32(f.normal))
			g.VI(asm.CmpUD, asm.Z, 7, 2, 3, 1)
			g.VL(asm.AddPS, asm.Z, 4, 2, g.word32(f.magic))
			g.VL(asm.SubD, asm.Z.Mask(7), z, 4, g.word32(f.magic))
			g.VL(asm.MinUD, asm.Z, z, z, g.word32(f.max))
			g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, 3, s, 31)
			g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, 3, 3, 7)
			g.V(asm.OrD, asm.Z, z, z, 3)
			if relu {
				g.VL(asm.TestMD, asm.Z, 7, s, g.word32(1<<31))
				g.V(asm.XorD, asm.Z.Mask(7), z, z, z)
			}
			g.VL(asm.MovU32, asm.Z, 3, 0, g.word32(0x7f800000))
			g.VI(asm.CmpUD, asm.Z, 7, 2, 3, 6)
			g.VL(asm.MovU32, asm.Z.Mask(7), z, 0, g.word32(0x7f))
		}
		g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, 0, 0, 8)
		g.V(asm.OrD, asm.Z, 0, 0, 1)
	})
}

// packCvt is cvt.pack.sat.
func packCvt(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	t, ok := optab.TypeOf(op.Match.Type(0))
	if !ok || t.Bits > 16 || len(in) != 2 && len(in) != 3 {
		return nil
	}
	width := uint8(t.Bits)
	lo, hi := uint32(0), uint32(1)<<width-1
	if t.Class == optab.Signed {
		lo, hi = ^uint32(0)<<(width-1), 1<<(width-1)-1
	}
	return byPieces(ir.W32, d, in, func(g *gen, r []uint8) {
		for i := range uint8(2) {
			g.VL(asm.MaxSD, asm.Z, i, r[i], g.word32(lo))
			g.VL(asm.MinSD, asm.Z, i, i, g.word32(hi))
			g.VL(asm.AndD, asm.Z, i, i, g.word32(1<<width-1))
		}
		g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, 0, 0, width)
		g.V(asm.OrD, asm.Z, 0, 0, 1)
		if len(in) == 3 && width < 16 {
			g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, 1, r[2], 2*width)
			g.V(asm.OrD, asm.Z, 0, 0, 1)
		}
	})
}

// permuteMode is prmt with a mode: two bits choose the selector.
func permuteMode(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	mode := op.Match.One("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
	if mode == "" || len(in) != 3 || !alike(32, d) || !alike(32, in...) {
		return nil
	}
	var sel [16]uint32
	for c := range uint32(4) {
		for i := range uint32(4) {
			s := map[string]uint32{"f4e": c + i, "b4e": (c - i) & 7, "rc8": c, "ecl": max(c, i), "ecr": min(c, i), "rc16": c&1*2 + i&1}[mode]
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
	if len(op.Match.Types) < 2 || len(in) != 3 {
		return nil
	}
	float, ftz := op.Match.Type(1) == "f32", op.Match.Has("ftz")
	return byPieces(ir.W32, d, in, func(g *gen, r []uint8) {
		g.V(asm.XorD, asm.Z, 1, 1, 1)
		c := r[2]
		if float {
			if ftz {
				g.flush32(2, c)
				c = 2
			}
			g.VI(asm.CmpPS, asm.Z, 7, c, 1, 29)
		} else {
			g.VI(asm.CmpD, asm.Z, 7, c, 1, 5)
		}
		g.V(asm.BlendMD, asm.Z.Mask(7), 0, r[1], r[0])
	})
}

// testpTemplate is testp of f32.
func testpTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	if op.Match.Type(0) != "f32" || d.Kind != ir.Row || !a.Reg() || a.Class != ir.W32 {
		return nil
	}
	// as an unsigned number less than another one: the magnitude less the first
	ranges := map[string][2]uint32{"finite": {0, 0x7f800000}, "infinite": {0x7f800000, 1}, "number": {0, 0x7f800001}, "notanumber": {0x7f800001, 0x7fffff}, "subnormal": {1, 0x7fffff},
		"normal": {0x00800000, 0x7f000000}}
	which := op.Match.Words[0]
	x, ok := ranges[which]
	if !ok {
		return nil
	}
	return func(g *gen) {
		g.StI32(inContext(laneOut(0)), 0)
		for p := range 2 {
			g.pin()
			g.VL(asm.AndD, asm.Z, 1, g.reg(a, p), g.word32(1<<31-1))
			g.VL(asm.SubD, asm.Z, 2, 1, g.word32(x[0]))
			g.VL(asm.MovU32, asm.Z, 3, 0, g.word32(x[1]))
			g.VI(asm.CmpUD, asm.Z, 7, 2, 3, 1)
			g.KMovRW(asm.RAX, 7)
			if which == "normal" { // zero too
				g.V(asm.TestNMD, asm.Z, 7, 1, 1)
				g.KMovRW(asm.RDX, 7)
				g.Or32(asm.RAX, asm.RDX)
			}
			g.ShlI32(asm.RAX, uint8(16*p))
			g.MR(asm.ArithOr, false, inContext(laneOut(0)), asm.RAX)
		}
		g.Ld32(asm.RAX, inContext(laneOut(0)))
		g.setPred(d, asm.RAX)
	}
}

// policyTemplate is createpolicy.fractional with a fraction that is known: the bits that an H200 gives (interp/policy.go).
func policyTemplate(op *ir.Op) emitter {
	d, f := &op.Args[0], op.Arg("f")
	if op.Match.Has("cvt") || d.Kind != ir.Row || d.Class != ir.W64 || f != nil && f.Reg() && (f.Kind != ir.Imm || f.Sym) {
		return nil
	}
	primary, frac := uint64(0), uint64(15)
	prio := map[string]uint64{"L2::evict_unchanged": 0, "L2::evict_first": 2, "L2::evict_last": 4, "L2::evict_normal": 6}
	for _, w := range op.Match.Words {
		if p, ok := prio[w]; ok {
			primary = p
			break
		}
	}
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
	if op.Match.Type(0) != "f32" || !op.Match.Has("approx") || !op.Match.Has("ftz") || !rows(ir.W32, d, a, b) {
		return nil
	}
	return func(g *gen) {
		n := g.each(d)
		for p := range n { // into registers first: what follows must not change the cache
			g.reg(a, p)
			g.reg(b, p)
		}
		slow := g.slow()
		var t [2]uint8
		for p := range n {
			t[p] = g.temp()
		}
		for p := range n {
			ra, rb := g.reg(a, p), g.reg(b, p)
			g.rcpUnit(rb, t[p])
			g.flush32(1, ra)
			g.flush32(2, t[p])
			g.V(asm.MulPS, asm.Z, t[p], 1, 2)
			g.canonical(t[p], 0)
			// what only reached the smallest normal number by rounding is flushed too: the interpreter looks at those
			g.VL(asm.AndD, asm.Z, 1, t[p], g.word32(1<<31-1))
			g.VL(asm.MovU32, asm.Z, 2, 0, g.word32(minBits))
			g.VI(asm.CmpD, asm.Z.Mask(g.mask(ir.W32, p)), 7, 1, 2, 0)
			g.KOrTestW(7, 7)
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
	if len(op.Match.Types) < 2 || op.Match.One("relu", "satfinite", "ftz") != "" {
		return nil
	}
	dt, st := op.Match.Type(0), op.Match.Type(1)
	dtype, ok1 := optab.TypeOf(dt)
	stype, ok2 := optab.TypeOf(st)
	mode, known := roundingOf(op)
	sat := op.Match.Has("sat")
	if !ok1 || !ok2 || !known {
		return nil
	}
	integer := func(t optab.Type) bool { return t.Class == optab.Signed || t.Class == optab.Unsigned }
	switch {
	case integer(dtype) && integer(stype) && sat:
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
	case dt == "f32" && st == "f64" && sat:
		return byQuarters(d, a, true, func(g *gen, q int) {
			g.V(asm.CvtPD2PS, rounded(mode), 0, 0, g.reg(a, q))
			g.VL(asm.MovU32, asm.Z, 3, 0, g.word32(0x7f800000))
			g.VI(asm.CmpUD, asm.Z, 7, 0, 3, 6)
			g.V(asm.XorD, asm.Z.Mask(7), 0, 0, 0)
			g.VL(asm.MinUD, asm.Z, 0, 0, g.word32(0x3f800000))
		})
	case dt == "f16" && st == "f64" && !sat:
		return byQuarters(d, a, true, func(g *gen, q int) {
			g.oddSingle(asm.CvtPD2PS, g.reg(a, q))
			g.VI(asm.CvtPS2PH, asm.Z, 0, 0, 0, mode)
			g.V(asm.MovZXWD, asm.Z, 0, 0, 0)
		})
	}
	return nil
}
