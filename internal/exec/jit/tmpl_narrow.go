package jit

import (
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// narrowTemplates are operations of 16-bit integers, of half precision, and of single and double precision with other roundings and modifiers: what the main tables
// leave. Rows of 16-bit registers have zeros in their upper halves.
var narrowTemplates = map[optab.Opcode]template{
	optab.OpIadd: narrowTemplate, optab.OpIsub: narrowTemplate, optab.OpImul: narrowTemplate, optab.OpImad: narrowTemplate, optab.OpAnd: narrowTemplate, optab.OpOr: narrowTemplate, optab.OpXor: narrowTemplate, optab.OpNot: narrowTemplate,
	optab.OpShl: narrowTemplate, optab.OpShr: narrowTemplate, optab.OpIneg: narrowTemplate, optab.OpIabs: narrowTemplate, optab.OpImin: narrowTemplate, optab.OpImax: narrowTemplate, optab.OpMov: narrowMove,
	optab.OpMovPack: narrowMove, optab.OpMovUnpack: narrowMove, optab.OpSetp: narrowCompare, optab.OpSet: setTemplate,
	optab.OpFadd: floatTemplate, optab.OpFsub: floatTemplate, optab.OpFmul: floatTemplate, optab.OpFfma: floatTemplate, optab.OpFdiv: floatTemplate, optab.OpSqrt: floatTemplate, optab.OpRcp: floatTemplate,
	optab.OpFabs: signedTemplate, optab.OpFneg: signedTemplate, optab.OpFmin: extremumTemplate, optab.OpFmax: extremumTemplate, optab.OpCopysign: copysignTemplate, optab.OpCvt: narrowCvt, optab.OpCvtPair: pairCvt,
	optab.OpCvta: windowTemplate, optab.OpCvtaTo: windowTemplate,
}

// word32 is a label at which a word stands 16 times, word64 one with 64-bit elements.
func (g *gen) word32(w uint32) asm.Label {
	var v [16]uint32
	for i := range v {
		v[i] = w
	}
	return g.vector(v)
}

func (g *gen) word64(w uint64) asm.Label {
	var v [16]uint32
	for i := range v {
		v[i] = uint32(w >> (32 * (i & 1)))
	}
	return g.vector(v)
}

// pieceMove moves whole registers of a class under its mask.
func pieceMove(c ir.Class) asm.Op {
	if c == ir.W64 {
		return asm.MovA64
	}
	return asm.MovA32
}

// byPieces makes an operation on rows of one class of a body that leaves a piece of the result in register 0. The body gets the registers of the
// sources, which it must not change, and has 0 to 7 and RAX to itself.
func byPieces(c ir.Class, d *ir.Arg, in []*ir.Arg, body func(g *gen, r []uint8)) emitter {
	if !rows(c, append([]*ir.Arg{d}, in...)...) {
		return nil
	}
	return func(g *gen) {
		r := make([]uint8, len(in))
		for p := range g.each(d) {
			g.pin()
			for i, a := range in {
				r[i] = g.reg(a, p)
			}
			body(g, r)
			z, o := g.dst(d, p)
			g.V(pieceMove(c), o, z, 0, 0)
		}
	}
}

// extend16 is the sign extension of the low 16 bits.
func (g *gen) extend16(z, r uint8) {
	g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, z, r, 16)
	g.VI(asm.ShiftD, asm.Z, asm.ShiftSra, z, z, 16)
}

// narrowTemplate is integer arithmetic of 16 bits, single and in pairs, and relu of 32.
func narrowTemplate(op *ir.Op) emitter {
	typ, form := op.Match.Type(0), op.Opcode()
	d, in := &op.Args[0], sources(op)
	if op.Match.Has("sat") {
		return nil
	}
	relu := op.Match.Has("relu")
	extremes := map[optab.Opcode][2]asm.Op{optab.OpImin: {asm.MinUD, asm.MinSD}, optab.OpImax: {asm.MaxUD, asm.MaxSD}}
	if typ == "s32" && relu {
		return byPieces(ir.W32, d, in, func(g *gen, r []uint8) {
			g.V(extremes[form][1], asm.Z, 0, r[0], r[1])
			g.V(asm.XorD, asm.Z, 1, 1, 1)
			g.V(asm.MaxSD, asm.Z, 0, 0, 1)
		})
	}
	if typ == "u16x2" || typ == "s16x2" {
		high := uint32(0xffff0000)
		x, ok := extremes[form]
		switch {
		case form == optab.OpIadd:
			return byPieces(ir.W32, d, in, func(g *gen, r []uint8) {
				g.VL(asm.AndD, asm.Z, 1, r[0], g.word32(high))
				g.VL(asm.AndD, asm.Z, 2, r[1], g.word32(high))
				g.V(asm.AddD, asm.Z, 1, 1, 2)
				g.V(asm.AddD, asm.Z, 0, r[0], r[1])
				g.VL(asm.AndD, asm.Z, 0, 0, g.word32(^high))
				g.V(asm.OrD, asm.Z, 0, 0, 1)
			})
		case ok:
			c := x[0]
			if typ == "s16x2" {
				c = x[1]
			}
			return byPieces(ir.W32, d, in, func(g *gen, r []uint8) {
				g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, 1, r[0], 16)
				g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, 2, r[1], 16)
				g.V(c, asm.Z, 1, 1, 2)
				g.VL(asm.AndD, asm.Z, 0, r[0], g.word32(high))
				g.VL(asm.AndD, asm.Z, 2, r[1], g.word32(high))
				g.V(c, asm.Z, 0, 0, 2)
				if relu {
					g.V(asm.XorD, asm.Z, 2, 2, 2)
					g.V(asm.MaxSD, asm.Z, 0, 0, 2)
					g.V(asm.MaxSD, asm.Z, 1, 1, 2)
				}
				g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, 1, 1, 16)
				g.V(asm.OrD, asm.Z, 0, 0, 1)
			})
		}
		return nil
	}
	n, signed := optab.IntegerOf(typ)
	if n != 16 || relu {
		return nil
	}
	cut := true
	var body func(g *gen, r []uint8)
	product := func(g *gen, r []uint8) {
		if signed {
			g.extend16(0, r[0])
			g.extend16(1, r[1])
			g.V(asm.MulLD, asm.Z, 0, 0, 1)
		} else {
			g.V(asm.MulLD, asm.Z, 0, r[0], r[1])
		}
	}
	switch form {
	case optab.OpIadd, optab.OpIsub, optab.OpAnd, optab.OpOr, optab.OpXor:
		x := map[optab.Opcode]asm.Op{optab.OpIadd: asm.AddD, optab.OpIsub: asm.SubD, optab.OpAnd: asm.AndD, optab.OpOr: asm.OrD, optab.OpXor: asm.XorD}[form]
		body = func(g *gen, r []uint8) { g.V(x, asm.Z, 0, r[0], r[1]) }
	case optab.OpNot:
		body = func(g *gen, r []uint8) { g.VL(asm.XorD, asm.Z, 0, r[0], g.word32(0xffffffff)) }
	case optab.OpIneg:
		body = func(g *gen, r []uint8) {
			g.V(asm.XorD, asm.Z, 0, 0, 0)
			g.V(asm.SubD, asm.Z, 0, 0, r[0])
		}
	case optab.OpIabs:
		body = func(g *gen, r []uint8) {
			g.extend16(0, r[0])
			g.V(asm.AbsD, asm.Z, 0, 0, 0)
		}
	case optab.OpShl:
		body = func(g *gen, r []uint8) { g.V(asm.SllVD, asm.Z, 0, r[0], r[1]) }
	case optab.OpShr:
		body = func(g *gen, r []uint8) {
			if !signed {
				g.V(asm.SrlVD, asm.Z, 0, r[0], r[1])
				return
			}
			g.extend16(0, r[0])
			g.V(asm.SraVD, asm.Z, 0, 0, r[1])
		}
	case optab.OpImin, optab.OpImax:
		x := extremes[form]
		body = func(g *gen, r []uint8) {
			if !signed {
				g.V(x[0], asm.Z, 0, r[0], r[1])
				return
			}
			g.extend16(0, r[0])
			g.extend16(1, r[1])
			g.V(x[1], asm.Z, 0, 0, 1)
		}
	case optab.OpImul, optab.OpImad:
		part := op.Match.One("lo", "hi", "wide")
		cut = part != "wide"
		body = func(g *gen, r []uint8) {
			product(g, r)
			if part == "hi" {
				g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, 0, 0, 16)
			}
			if form == optab.OpImad {
				g.V(asm.AddD, asm.Z, 0, 0, r[2])
			}
		}
	default:
		return nil
	}
	return byPieces(ir.W32, d, in, func(g *gen, r []uint8) {
		body(g, r)
		if cut {
			g.VL(asm.AndD, asm.Z, 0, 0, g.word32(0xffff))
		}
	})
}

// narrowMove is mov of 16 bits, and between 32 bits and vectors of narrower elements.
func narrowMove(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	width := func(typ string) int {
		n, _ := optab.IntegerOf(typ)
		if typ == "f16" || typ == "bf16" {
			n = 16
		}
		return n
	}
	switch {
	case d.Kind == ir.Row && a.Reg():
		if width(d.Type) != 16 {
			return nil
		}
		return byPieces(ir.W32, d, []*ir.Arg{a}, func(g *gen, r []uint8) { g.VL(asm.AndD, asm.Z, 0, r[0], g.word32(0xffff)) })
	case d.Kind == ir.Vec && a.Reg() && a.Class == ir.W32 && width(a.Type) == 32:
		bits := 32 / len(d.Elems)
		for i := range d.Elems {
			if e := &d.Elems[i]; e.Kind != ir.None && (e.Kind != ir.Row || e.Class != ir.W32) {
				return nil
			}
		}
		if bits != 16 && bits != 8 {
			return nil
		}
		return func(g *gen) {
			for p := range 2 { // a piece of an element is written when those of the source are read
				g.pin()
				r := g.reg(a, p)
				for i := range d.Elems {
					z := uint8(i)
					g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, z, r, uint8(bits*i))
					g.VL(asm.AndD, asm.Z, z, z, g.word32(1<<bits-1))
				}
				for i := range d.Elems {
					if e := &d.Elems[i]; e.Kind == ir.Row {
						z, o := g.dst(e, p)
						g.V(asm.MovA32, o, z, 0, uint8(i))
					}
				}
			}
		}
	case a.Kind == ir.Vec && d.Kind == ir.Row && d.Class == ir.W32 && width(d.Type) == 32:
		bits := 32 / len(a.Elems)
		var in []*ir.Arg
		for i := range a.Elems {
			in = append(in, &a.Elems[i])
		}
		if bits != 16 && bits != 8 {
			return nil
		}
		return byPieces(ir.W32, d, in, func(g *gen, r []uint8) {
			g.VL(asm.AndD, asm.Z, 0, r[0], g.word32(1<<bits-1))
			for i := 1; i < len(r); i++ {
				g.VL(asm.AndD, asm.Z, 1, r[i], g.word32(1<<bits-1))
				g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, 1, 1, uint8(bits*i))
				g.V(asm.OrD, asm.Z, 0, 0, 1)
			}
		})
	}
	return nil
}

// windowTemplate converts addresses of local memory and parameters.
func windowTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	off := int32(0)
	switch op.Match.One("local", "param", "param::entry") {
	case "local":
		off = offLocalGen
	case "param", "param::entry":
		off = offParamGen
	default:
		return nil
	}
	x := asm.AddQ
	if op.Opcode() == optab.OpCvtaTo || op.Match.Has("to") {
		x = asm.SubQ
	}
	return byPieces(ir.W64, d, []*ir.Arg{a}, func(g *gen, r []uint8) { g.VM(x, asm.Z.Broadcast(), 0, r[0], inContext(off)) })
}

// halfType says what kind of 16-bit floats an operation works on.
func halfType(typ string) (bf, pair, ok bool) {
	switch typ {
	case "f16":
		return false, false, true
	case "f16x2":
		return false, true, true
	case "bf16":
		return true, false, true
	case "bf16x2":
		return true, true, true
	}
	return false, false, false
}

// halfToSingle widens the low or the high 16 bits of r into z; NaNs stay NaNs.
func (g *gen) halfToSingle(z, r uint8, bf, high bool) {
	switch {
	case bf && high:
		g.VL(asm.AndD, asm.Z, z, r, g.word32(0xffff0000))
	case bf:
		g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, z, r, 16)
	default:
		if high {
			g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, z, r, 16)
			r = z
		}
		g.V(asm.MovDW, asm.Z, r, 0, z)
		g.V(asm.CvtPH2PS, asm.Z, z, 0, z)
	}
}

// singleToHalf rounds z to nearest even, or for f16 in another direction; NaNs become canonical. t is used.
func (g *gen) singleToHalf(z, t uint8, bf bool, mode uint8) {
	g.VI(asm.CmpPS, asm.Z, 7, z, z, 3)
	if bf {
		g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, t, z, 16)
		g.VL(asm.AndD, asm.Z, t, t, g.word32(1))
		g.VL(asm.AddD, asm.Z, t, t, g.word32(0x7fff))
		g.V(asm.AddD, asm.Z, z, z, t)
		g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, z, z, 16)
	} else {
		g.VI(asm.CvtPS2PH, asm.Z, z, 0, z, mode)
		g.V(asm.MovZXWD, asm.Z, z, 0, z)
	}
	g.VL(asm.MovU32, asm.Z.Mask(7), z, 0, g.word32(0x7fff))
}

// flush16 makes subnormal halves zeros, in both halves of words.
func (g *gen) flush16(z, r uint8) {
	if z != r {
		g.V(asm.MovA32, asm.Z, z, 0, r)
	}
	for _, m := range []uint32{0x7c00, 0x7c000000} {
		g.VL(asm.TestNMD, asm.Z, 7, z, g.word32(m))
		keep := uint32(0xffff8000)
		if m > 0x7c00 {
			keep = 0x8000ffff
		}
		g.VL(asm.AndD, asm.Z.Mask(7), z, z, g.word32(keep))
	}
}

// flush32 makes subnormals zeros.
func (g *gen) flush32(z, r uint8) {
	if z != r {
		g.V(asm.MovA32, asm.Z, z, 0, r)
	}
	g.VL(asm.TestNMD, asm.Z, 7, z, g.word32(0x7f800000))
	g.VL(asm.AndD, asm.Z.Mask(7), z, z, g.word32(1<<31))
}

// roundings are embedded rounding modes by direction.
func roundingOf(op *ir.Op) (mode uint8, ok bool) {
	switch op.Match.One("rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi") {
	case "", "rn", "rni":
		return 0, true
	case "rm", "rmi":
		return 1, true
	case "rp", "rpi":
		return 2, true
	case "rz", "rzi":
		return 3, true
	}
	return 0, false
}

// rounded is the option for an instruction of registers that rounds by a mode.
func rounded(mode uint8) asm.Opt { return asm.Opt{LL: mode, Bcast: true} }

var floatOps = map[optab.Opcode][2]asm.Op{optab.OpFadd: {asm.AddPS, asm.AddPD}, optab.OpFsub: {asm.SubPS, asm.SubPD}, optab.OpFmul: {asm.MulPS, asm.MulPD}, optab.OpFdiv: {asm.DivPS, asm.DivPD}, optab.OpRcp: {asm.DivPS, asm.DivPD},
	optab.OpSqrt: {asm.SqrtPS, asm.SqrtPD}, optab.OpFfma: {asm.FMA213PS, asm.FMA213PD}}

// floatTemplate is arithmetic with any rounding and the modifiers ftz, sat and relu.
func floatTemplate(op *ir.Op) emitter {
	form, typ := op.Opcode(), op.Match.Type(0)
	d, in := &op.Args[0], sources(op)
	mode, ok := roundingOf(op)
	if !ok || op.Match.One("approx", "full", "oob", "satfinite", "NaN", "xorsign") != "" {
		return nil
	}
	want := map[optab.Opcode]int{optab.OpSqrt: 1, optab.OpRcp: 1, optab.OpFfma: 3}[form]
	if want == 0 {
		want = 2
	}
	if len(in) != want {
		return nil
	}
	switch typ {
	case "f32":
		return single(op, form, d, in, mode)
	case "f64":
		return double(op, form, d, in, mode)
	}
	if bf, pair, ok := halfType(typ); ok && mode == 0 && form != optab.OpFdiv && form != optab.OpSqrt && form != optab.OpRcp {
		return halves(op, form, d, in, bf, pair)
	}
	return nil
}

// compute writes the operation of a form on registers into 0, which may not be a source but for the first of fma.
func (g *gen) compute(form optab.Opcode, which int, o asm.Opt, z uint8, r []uint8) {
	x := floatOps[form][which]
	switch form {
	case optab.OpSqrt:
		g.V(x, o, z, 0, r[0])
	case optab.OpRcp:
		if which == 0 {
			g.VL(asm.MovU32, asm.Z, z, 0, g.word32(0x3f800000))
		} else {
			g.VL(asm.MovU64, asm.Z, z, 0, g.word64(0x3ff0000000000000))
		}
		g.V(x, o, z, z, r[0])
	case optab.OpFfma:
		g.V(asm.MovA32, asm.Z, z, 0, r[0])
		g.V(x, o, z, r[1], r[2])
	default:
		g.V(x, o, z, r[0], r[1])
	}
}

// single is f32 arithmetic.
func single(op *ir.Op, form optab.Opcode, d *ir.Arg, in []*ir.Arg, mode uint8) emitter {
	ftz, sat := op.Match.Has("ftz"), op.Match.Has("sat")
	if op.Match.Has("relu") || !rows(ir.W32, append([]*ir.Arg{d}, in...)...) {
		return nil
	}
	// A result that only reached the smallest normal number by rounding is flushed too: the interpreter looks at those.
	careful := ftz && (form == optab.OpFmul || form == optab.OpFfma || form == optab.OpFdiv || form == optab.OpRcp)
	return func(g *gen) {
		n := g.each(d)
		for p := range n { // into registers first: what follows must not change the cache
			for _, a := range in {
				g.reg(a, p)
			}
		}
		var slow asm.Label
		if careful {
			slow = g.slow()
		}
		for p := range n {
			r := make([]uint8, len(in))
			for i, a := range in {
				r[i] = g.reg(a, p)
				if ftz || a.Neg {
					t := uint8(2 + i)
					if a.Neg {
						g.VL(asm.XorD, asm.Z, t, r[i], g.word32(1<<31))
						r[i] = t
					}
					if ftz {
						g.flush32(t, r[i])
					}
					r[i] = t
				}
			}
			z := uint8(6 + p)
			g.compute(form, 0, rounded(mode), z, r)
			g.canonical(z, 0)
			if careful {
				g.VL(asm.AndD, asm.Z, 1, z, g.word32(0x7fffffff))
				g.VL(asm.MovU32, asm.Z, 2, 0, g.word32(0x00800000))
				g.VI(asm.CmpD, asm.Z.Mask(g.runs(ir.W32, p)), 7, 1, 2, 0)
				g.KOrTestW(7, 7)
				g.J(asm.NE, slow)
			}
			if ftz && form != optab.OpSqrt {
				g.flush32(z, z)
			}
			if sat {
				g.V(asm.XorD, asm.Z, 1, 1, 1)
				g.VL(asm.MovU32, asm.Z, 2, 0, g.word32(0x3f800000))
				g.VL(asm.MovU32, asm.Z, 3, 0, g.word32(0x7f800000))
				g.VI(asm.CmpUD, asm.Z, 7, z, 3, 6)
				g.V(asm.MovA32, asm.Z.Mask(7), z, 0, 1)
				g.V(asm.MinUD, asm.Z, z, z, 2)
			}
		}
		for p := range n {
			g.pin()
			z, o := g.dst(d, p)
			g.V(asm.MovA32, o, z, 0, uint8(6+p))
		}
	}
}

// runs is mask for instructions that compare: lanes that take no part must not count.
func (g *gen) runs(c ir.Class, p int) uint8 { return g.mask(c, p) }

// double is f64 arithmetic.
func double(op *ir.Op, form optab.Opcode, d *ir.Arg, in []*ir.Arg, mode uint8) emitter {
	if op.Match.One("sat", "relu") != "" {
		return nil
	}
	order := map[optab.Opcode][]int{optab.OpFadd: {1, 0}, optab.OpFsub: {1, 0}, optab.OpFmul: {1, 0}, optab.OpFdiv: {0, 1}, optab.OpSqrt: {0}, optab.OpRcp: {0}, optab.OpFfma: {1, 2, 0}}[form]
	if op.First {
		order = map[optab.Opcode][]int{optab.OpFadd: {0, 1}, optab.OpFsub: {0, 1}, optab.OpFmul: {0, 1}, optab.OpFfma: {0, 2, 1}}[form]
		if order == nil {
			return nil
		}
	}
	return byPieces(ir.W64, d, in, func(g *gen, r []uint8) {
		x := append([]uint8(nil), r...)
		for i, a := range in {
			if a.Neg {
				x[i] = uint8(2 + i)
				g.VL(asm.XorQ, asm.Z, x[i], r[i], g.word64(1<<63))
			}
		}
		g.compute(form, 1, rounded(mode), 0, x)
		var nans []uint8
		for _, i := range order {
			nans = append(nans, r[i])
		}
		g.nan64(0, nans...)
	})
}

// halves is arithmetic of f16 and bf16: in f32, whose results are rounded to odd where one rounding more could go wrong.
func halves(op *ir.Op, form optab.Opcode, d *ir.Arg, in []*ir.Arg, bf, pair bool) emitter {
	ftz, sat, relu := op.Match.Has("ftz"), op.Match.Has("sat"), op.Match.Has("relu")
	odd := form == optab.OpFfma || form == optab.OpFmul && bf
	return byPieces(ir.W32, d, in, func(g *gen, r []uint8) {
		n := 1
		if pair {
			n = 2
		}
		for h := n - 1; h >= 0; h-- {
			x := make([]uint8, len(in))
			for i, a := range in {
				x[i] = uint8(1 + i)
				s := r[i]
				if ftz {
					g.flush16(x[i], s)
					s = x[i]
				}
				g.halfToSingle(x[i], s, bf, h == 1)
				if a.Neg {
					g.VL(asm.XorD, asm.Z, x[i], x[i], g.word32(1<<31))
				}
			}
			if !odd {
				g.compute(form, 0, rounded(0), 0, x)
			} else {
				g.compute(form, 0, rounded(1), 4, x)
				g.compute(form, 0, rounded(2), 5, x)
				g.compute(form, 0, rounded(3), 0, x)
				g.VI(asm.CmpPS, asm.Z, 7, 4, 5, 4)
				g.VL(asm.OrD, asm.Z.Mask(7), 0, 0, g.word32(1))
			}
			g.singleToHalf(0, 4, bf, 0)
			if ftz {
				g.flush16(0, 0)
			}
			if sat {
				g.VL(asm.MovU32, asm.Z, 4, 0, g.word32(0x7c00))
				g.VI(asm.CmpUD, asm.Z, 7, 0, 4, 6)
				g.V(asm.XorD, asm.Z.Mask(7), 0, 0, 0)
				g.VL(asm.MinUD, asm.Z, 0, 0, g.word32(0x3c00))
			}
			if relu {
				g.VL(asm.TestMD, asm.Z, 7, 0, g.word32(0x8000))
				g.V(asm.XorD, asm.Z.Mask(7), 0, 0, 0)
			}
			if h == 1 {
				g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, 6, 0, 16)
			} else if pair {
				g.V(asm.OrD, asm.Z, 0, 0, 6)
			}
		}
	})
}

// signedTemplate is abs and neg.
func signedTemplate(op *ir.Op) emitter {
	typ := op.Match.Type(0)
	d, in := &op.Args[0], sources(op)
	abs, ftz := op.Opcode() == optab.OpFabs, op.Match.Has("ftz")
	if len(in) != 1 || op.Match.One("relu", "sat") != "" {
		return nil
	}
	sign := func(g *gen, r uint8, bits uint32) {
		if abs {
			g.VL(asm.AndD, asm.Z, 0, r, g.word32(^bits))
		} else {
			g.VL(asm.XorD, asm.Z, 0, r, g.word32(bits))
		}
	}
	switch typ {
	case "f32":
		return byPieces(ir.W32, d, in, func(g *gen, r []uint8) {
			s := r[0]
			if ftz {
				g.flush32(0, s)
				s = 0
			}
			sign(g, s, 1<<31)
			g.canonical(0, 0)
		})
	case "f64":
		return byPieces(ir.W64, d, in, func(g *gen, r []uint8) {
			if abs {
				g.VL(asm.AndQ, asm.Z, 0, r[0], g.word64(1<<63-1))
			} else {
				g.VL(asm.XorQ, asm.Z, 0, r[0], g.word64(1<<63))
			}
			g.VI(asm.CmpPD, asm.Z, 7, r[0], r[0], 3)
			g.VL(asm.OrQ, asm.Z.Mask(7), 0, r[0], g.word64(1<<51))
		})
	}
	bf, pair, ok := halfType(typ)
	if !ok {
		return nil
	}
	inf := uint32(0x7c00)
	if bf {
		inf = 0x7f80
	}
	return byPieces(ir.W32, d, in, func(g *gen, r []uint8) {
		s := r[0]
		if ftz {
			g.flush16(1, s)
			s = 1
		}
		bits := uint32(0x8000)
		if pair {
			bits = 0x80008000
		}
		sign(g, s, bits)
		g.VL(asm.AndD, asm.Z, 2, s, g.word32(0x7fff))
		g.VL(asm.MovU32, asm.Z, 3, 0, g.word32(inf))
		g.VI(asm.CmpUD, asm.Z, 7, 2, 3, 6)
		if !pair {
			g.VL(asm.MovU32, asm.Z.Mask(7), 0, 0, g.word32(0x7fff))
			return
		}
		g.VL(asm.AndD, asm.Z.Mask(7), 0, 0, g.word32(0xffff0000))
		g.VL(asm.OrD, asm.Z.Mask(7), 0, 0, g.word32(0x7fff))
		g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, 2, s, 16)
		g.VL(asm.AndD, asm.Z, 2, 2, g.word32(0x7fff))
		g.VI(asm.CmpUD, asm.Z, 7, 2, 3, 6)
		g.VL(asm.AndD, asm.Z.Mask(7), 0, 0, g.word32(0xffff))
		g.VL(asm.OrD, asm.Z.Mask(7), 0, 0, g.word32(0x7fff0000))
	})
}

// extremumTemplate is min and max: one NaN is ignored, -0 is below +0. Patterns are compared as signed numbers: negative ones with their other bits turned.
func extremumTemplate(op *ir.Op) emitter {
	typ := op.Match.Type(0)
	d, in := &op.Args[0], sources(op)
	larger, ftz := op.Opcode() == optab.OpFmax, op.Match.Has("ftz")
	if len(in) != 2 || op.Match.One("NaN", "xorsign", "relu", "abs") != "" {
		return nil
	}
	switch typ {
	case "f32":
		return byPieces(ir.W32, d, in, func(g *gen, r []uint8) {
			a, b := r[0], r[1]
			if ftz {
				g.flush32(1, a)
				g.flush32(2, b)
				a, b = 1, 2
			}
			which := uint8(4)
			if larger {
				which = 5
			}
			g.VI(asm.RangePS, asm.Z, 0, a, b, which)
			g.VI(asm.CmpPS, asm.Z, 7, b, b, 3)
			g.V(asm.MovA32, asm.Z.Mask(7), 0, 0, a)
			g.VI(asm.CmpPS, asm.Z, 7, a, a, 3)
			g.V(asm.MovA32, asm.Z.Mask(7), 0, 0, b)
			g.canonical(0, 0)
		})
	case "f64":
		return byPieces(ir.W64, d, in, func(g *gen, r []uint8) {
			for i, s := range r {
				g.VI(asm.ShiftAQ, asm.Z, asm.ShiftSra, 3, s, 63)
				g.VI(asm.ShiftQ, asm.Z, asm.ShiftSrl, 3, 3, 1)
				g.V(asm.XorQ, asm.Z, uint8(1+i), s, 3)
			}
			pred := uint8(1) // a < b
			if larger {
				pred = 6
			}
			g.V(asm.MovA64, asm.Z, 0, 0, r[1])
			g.VI(asm.CmpQ, asm.Z, 7, 1, 2, pred)
			g.V(asm.MovA64, asm.Z.Mask(7), 0, 0, r[0])
			g.VI(asm.CmpPD, asm.Z, 7, r[1], r[1], 3)
			g.V(asm.MovA64, asm.Z.Mask(7), 0, 0, r[0])
			g.VI(asm.CmpPD, asm.Z, 7, r[0], r[0], 3)
			g.V(asm.MovA64, asm.Z.Mask(7), 0, 0, r[1])
			g.VI(asm.CmpPD, asm.Z, 7, 0, 0, 3) // both
			g.VL(asm.OrQ, asm.Z.Mask(7), 0, r[1], g.word64(1<<51))
		})
	}
	bf, pair, ok := halfType(typ)
	if !ok {
		return nil
	}
	inf := uint32(0x7c00) << 16
	if bf {
		inf = 0x7f80 << 16
	}
	return byPieces(ir.W32, d, in, func(g *gen, r []uint8) {
		n := 1
		if pair {
			n = 2
		}
		for h := n - 1; h >= 0; h-- {
			// each half at the top of a word, and the number by which it is ordered
			for i, s := range r {
				x, y := uint8(1+i), uint8(3+i)
				if ftz {
					g.flush16(x, s)
					s = x
				}
				if h == 0 {
					g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, x, s, 16)
				} else {
					g.VL(asm.AndD, asm.Z, x, s, g.word32(0xffff0000))
				}
				g.VI(asm.ShiftD, asm.Z, asm.ShiftSra, y, x, 31)
				g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, y, y, 1)
				g.V(asm.XorD, asm.Z, y, x, y)
			}
			pred := uint8(1)
			if larger {
				pred = 6
			}
			g.V(asm.MovA32, asm.Z, 0, 0, 2)
			g.VI(asm.CmpD, asm.Z, 7, 3, 4, pred)
			g.V(asm.MovA32, asm.Z.Mask(7), 0, 0, 1)
			g.VL(asm.MovU32, asm.Z, 5, 0, g.word32(inf))
			g.VL(asm.AndD, asm.Z, 3, 2, g.word32(1<<31-1))
			g.VI(asm.CmpUD, asm.Z, 7, 3, 5, 6)
			g.V(asm.MovA32, asm.Z.Mask(7), 0, 0, 1)
			g.VL(asm.AndD, asm.Z, 3, 1, g.word32(1<<31-1))
			g.VI(asm.CmpUD, asm.Z, 7, 3, 5, 6)
			g.V(asm.MovA32, asm.Z.Mask(7), 0, 0, 2)
			g.VL(asm.AndD, asm.Z, 3, 0, g.word32(1<<31-1))
			g.VI(asm.CmpUD, asm.Z, 7, 3, 5, 6)
			g.VL(asm.MovU32, asm.Z.Mask(7), 0, 0, g.word32(0x7fff0000))
			if h == 1 {
				g.V(asm.MovA32, asm.Z, 6, 0, 0)
				continue
			}
			g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, 0, 0, 16)
			if pair {
				g.V(asm.OrD, asm.Z, 0, 0, 6)
			}
		}
	})
}

func copysignTemplate(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	if len(in) != 2 {
		return nil
	}
	if op.Match.Type(0) == "f64" {
		return byPieces(ir.W64, d, in, func(g *gen, r []uint8) {
			g.VL(asm.AndQ, asm.Z, 0, r[0], g.word64(1<<63))
			g.VL(asm.AndQ, asm.Z, 1, r[1], g.word64(1<<63-1))
			g.V(asm.OrQ, asm.Z, 0, 0, 1)
		})
	}
	return byPieces(ir.W32, d, in, func(g *gen, r []uint8) {
		g.VL(asm.AndD, asm.Z, 0, r[0], g.word32(1<<31))
		g.VL(asm.AndD, asm.Z, 1, r[1], g.word32(1<<31-1))
		g.V(asm.OrD, asm.Z, 0, 0, 1)
	})
}
