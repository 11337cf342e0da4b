package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

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

// byPieces makes an operation on rows of one class of a body that leaves a piece of the result in register 0. The body
// gets the registers of the sources, which it must not change, and has 0 to 7 and RAX to itself.
func byPieces(c ir.Class, d *ir.Arg, in []*ir.Arg, body func(g *gen, r []asm.Vec)) emitter {
	if !rows(c, append([]*ir.Arg{d}, in...)...) {
		return nil
	}
	return func(g *gen) {
		r := make([]asm.Vec, len(in))
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
func (g *gen) extend16(z, r asm.Vec) {
	g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, z, r, 16)
	g.VShift(asm.ShiftD, asm.Z, asm.ShiftSra, z, z, 16)
}

// narrowTemplate is integer arithmetic of 16 bits, single and in pairs, and relu of 32.
func narrowTemplate(op *ir.Op) emitter {
	typ, form := op.Type(0), op.Opcode()
	d, in := &op.Args[0], sources(op)
	if op.Mods().Sat {
		return nil
	}
	relu := op.Mods().Relu
	extremes := map[optab.Opcode][2]asm.Op{optab.OpImin: {asm.MinUD, asm.MinSD}, optab.OpImax: {asm.MaxUD, asm.MaxSD}}
	if typ == optab.S32 && relu {
		return byPieces(ir.W32, d, in, func(g *gen, r []asm.Vec) {
			g.V(extremes[form][1], asm.Z, 0, r[0], r[1])
			g.V(asm.XorD, asm.Z, 1, 1, 1)
			g.V(asm.MaxSD, asm.Z, 0, 0, 1)
		})
	}
	if typ == optab.U16x2 || typ == optab.S16x2 {
		high := uint32(0xffff0000)
		x, ok := extremes[form]
		switch {
		case form == optab.OpIadd:
			return byPieces(ir.W32, d, in, func(g *gen, r []asm.Vec) {
				g.VL(asm.AndD, asm.Z, 1, r[0], g.word32(high))
				g.VL(asm.AndD, asm.Z, 2, r[1], g.word32(high))
				g.V(asm.AddD, asm.Z, 1, 1, 2)
				g.V(asm.AddD, asm.Z, 0, r[0], r[1])
				g.VL(asm.AndD, asm.Z, 0, 0, g.word32(^high))
				g.V(asm.OrD, asm.Z, 0, 0, 1)
			})
		case ok:
			c := x[0]
			if typ == optab.S16x2 {
				c = x[1]
			}
			return byPieces(ir.W32, d, in, func(g *gen, r []asm.Vec) {
				g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 1, r[0], 16)
				g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 2, r[1], 16)
				g.V(c, asm.Z, 1, 1, 2)
				g.VL(asm.AndD, asm.Z, 0, r[0], g.word32(high))
				g.VL(asm.AndD, asm.Z, 2, r[1], g.word32(high))
				g.V(c, asm.Z, 0, 0, 2)
				if relu {
					g.V(asm.XorD, asm.Z, 2, 2, 2)
					g.V(asm.MaxSD, asm.Z, 0, 0, 2)
					g.V(asm.MaxSD, asm.Z, 1, 1, 2)
				}
				g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, 1, 1, 16)
				g.V(asm.OrD, asm.Z, 0, 0, 1)
			})
		}
		return nil
	}
	n, signed := typ.IntegerBits()
	if n != 16 || relu {
		return nil
	}
	cut := true
	var body func(g *gen, r []asm.Vec)
	product := func(g *gen, r []asm.Vec) {
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
		x := map[optab.Opcode]asm.Op{optab.OpIadd: asm.AddD, optab.OpIsub: asm.SubD, optab.OpAnd: asm.AndD,
			optab.OpOr: asm.OrD, optab.OpXor: asm.XorD}[form]
		body = func(g *gen, r []asm.Vec) { g.V(x, asm.Z, 0, r[0], r[1]) }
	case optab.OpNot:
		body = func(g *gen, r []asm.Vec) { g.VL(asm.XorD, asm.Z, 0, r[0], g.word32(0xffffffff)) }
	case optab.OpIneg:
		body = func(g *gen, r []asm.Vec) {
			g.V(asm.XorD, asm.Z, 0, 0, 0)
			g.V(asm.SubD, asm.Z, 0, 0, r[0])
		}
	case optab.OpIabs:
		body = func(g *gen, r []asm.Vec) {
			g.extend16(0, r[0])
			g.V(asm.AbsD, asm.Z, 0, 0, 0)
		}
	case optab.OpShl:
		body = func(g *gen, r []asm.Vec) { g.V(asm.SllVD, asm.Z, 0, r[0], r[1]) }
	case optab.OpShr:
		body = func(g *gen, r []asm.Vec) {
			if !signed {
				g.V(asm.SrlVD, asm.Z, 0, r[0], r[1])
				return
			}
			g.extend16(0, r[0])
			g.V(asm.SraVD, asm.Z, 0, 0, r[1])
		}
	case optab.OpImin, optab.OpImax:
		x := extremes[form]
		body = func(g *gen, r []asm.Vec) {
			if !signed {
				g.V(x[0], asm.Z, 0, r[0], r[1])
				return
			}
			g.extend16(0, r[0])
			g.extend16(1, r[1])
			g.V(x[1], asm.Z, 0, 0, 1)
		}
	case optab.OpImul, optab.OpImad:
		part := op.Mods().Part
		cut = part != optab.PartWide
		body = func(g *gen, r []asm.Vec) {
			product(g, r)
			if part == optab.PartHi {
				g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, 0, 0, 16)
			}
			if form == optab.OpImad {
				g.V(asm.AddD, asm.Z, 0, 0, r[2])
			}
		}
	default:
		return nil
	}
	return byPieces(ir.W32, d, in, func(g *gen, r []asm.Vec) {
		body(g, r)
		if cut {
			g.VL(asm.AndD, asm.Z, 0, 0, g.word32(0xffff))
		}
	})
}

// narrowMove is mov of 16 bits, and between 32 bits and vectors of narrower elements.
func narrowMove(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	width := op.Type(0).Info().Bits
	switch {
	case d.Kind == ir.Row && a.Reg():
		if width != 16 {
			return nil
		}
		return byPieces(ir.W32, d, []*ir.Arg{a}, func(g *gen, r []asm.Vec) {
			g.VL(asm.AndD, asm.Z, 0, r[0], g.word32(0xffff))
		})
	case d.Kind == ir.Vec && a.Reg() && a.Class == ir.W32 && width == 32:
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
					z := asm.Vec(i)
					g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, z, r, uint8(bits*i))
					g.VL(asm.AndD, asm.Z, z, z, g.word32(1<<bits-1))
				}
				for i := range d.Elems {
					if e := &d.Elems[i]; e.Kind == ir.Row {
						z, o := g.dst(e, p)
						g.V(asm.MovA32, o, z, 0, asm.Vec(i))
					}
				}
			}
		}
	case a.Kind == ir.Vec && d.Kind == ir.Row && d.Class == ir.W32 && width == 32:
		bits := 32 / len(a.Elems)
		var in []*ir.Arg
		for i := range a.Elems {
			in = append(in, &a.Elems[i])
		}
		if bits != 16 && bits != 8 {
			return nil
		}
		return byPieces(ir.W32, d, in, func(g *gen, r []asm.Vec) {
			g.VL(asm.AndD, asm.Z, 0, r[0], g.word32(1<<bits-1))
			for i := 1; i < len(r); i++ {
				g.VL(asm.AndD, asm.Z, 1, r[i], g.word32(1<<bits-1))
				g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 1, 1, uint8(bits*i))
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
	switch op.Mods().Space {
	case optab.SpaceLocal:
		off = abi.OffLocalGen
	case optab.SpaceParam:
		off = abi.OffParamGen
	default:
		return nil
	}
	x := asm.AddQ
	if op.Opcode() == optab.OpCvtaTo {
		x = asm.SubQ
	}
	return byPieces(ir.W64, d, []*ir.Arg{a}, func(g *gen, r []asm.Vec) {
		g.VM(x, asm.Z.Broadcast(), 0, r[0], inContext(off))
	})
}

// halfType says what kind of 16-bit floats an operation works on.
func halfType(typ optab.TypeID) (bf, pair, ok bool) {
	switch typ {
	case optab.F16:
		return false, false, true
	case optab.F16x2:
		return false, true, true
	case optab.Bf16:
		return true, false, true
	case optab.Bf16x2:
		return true, true, true
	}
	return false, false, false
}

// halfToSingle widens the low or the high 16 bits of r into z; NaNs stay NaNs.
func (g *gen) halfToSingle(z, r asm.Vec, bf, high bool) {
	switch {
	case bf && high:
		g.VL(asm.AndD, asm.Z, z, r, g.word32(0xffff0000))
	case bf:
		g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, z, r, 16)
	default:
		if high {
			g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, z, r, 16)
			r = z
		}
		g.V(asm.MovDW, asm.Z, r, 0, z)
		g.V(asm.CvtPH2PS, asm.Z, z, 0, z)
	}
}

// singleToHalf rounds z to nearest even, or for f16 in another direction; NaNs become canonical. t is used.
func (g *gen) singleToHalf(z, t asm.Vec, bf bool, mode asm.Round) {
	g.VCmp(asm.CmpPS, asm.Z, asm.K7, z, z, asm.FloatUnord)
	if bf {
		g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, t, z, 16)
		g.VL(asm.AndD, asm.Z, t, t, g.word32(1))
		g.VL(asm.AddD, asm.Z, t, t, g.word32(0x7fff))
		g.V(asm.AddD, asm.Z, z, z, t)
		g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, z, z, 16)
	} else {
		g.VI(asm.CvtPS2PH, asm.Z, z, 0, z, uint8(mode))
		g.V(asm.MovZXWD, asm.Z, z, 0, z)
	}
	g.VL(asm.MovU32, asm.Z.Mask(asm.K7), z, 0, g.word32(asm.F16NaN))
}

// flush16 makes subnormal halves zeros, in both halves of words.
func (g *gen) flush16(z, r asm.Vec) {
	if z != r {
		g.V(asm.MovA32, asm.Z, z, 0, r)
	}
	for _, m := range []uint32{0x7c00, 0x7c000000} {
		g.VTestL(asm.TestNMD, asm.Z, asm.K7, z, g.word32(m))
		keep := uint32(0xffff8000)
		if m > 0x7c00 {
			keep = 0x8000ffff
		}
		g.VL(asm.AndD, asm.Z.Mask(asm.K7), z, z, g.word32(keep))
	}
}

// flush32 makes subnormals zeros.
func (g *gen) flush32(z, r asm.Vec) {
	if z != r {
		g.V(asm.MovA32, asm.Z, z, 0, r)
	}
	g.VTestL(asm.TestNMD, asm.Z, asm.K7, z, g.word32(asm.F32Inf))
	g.VL(asm.AndD, asm.Z.Mask(asm.K7), z, z, g.word32(asm.F32Sign))
}

// roundingOf is the rounding mode that an operation names.
func roundingOf(op *ir.Op) (mode asm.Round, ok bool) {
	switch op.Mods().Round {
	case optab.NoRound, optab.RoundRn, optab.RoundRni:
		return asm.RoundNearest, true
	case optab.RoundRm, optab.RoundRmi:
		return asm.RoundDown, true
	case optab.RoundRp, optab.RoundRpi:
		return asm.RoundUp, true
	case optab.RoundRz, optab.RoundRzi:
		return asm.RoundZero, true
	}
	return 0, false
}

var floatOps = map[optab.Opcode][2]asm.Op{optab.OpFadd: {asm.AddPS, asm.AddPD}, optab.OpFsub: {asm.SubPS, asm.SubPD},
	optab.OpFmul: {asm.MulPS, asm.MulPD}, optab.OpFdiv: {asm.DivPS, asm.DivPD}, optab.OpRcp: {asm.DivPS, asm.DivPD},
	optab.OpSqrt: {asm.SqrtPS, asm.SqrtPD}, optab.OpFfma: {asm.FMA213PS, asm.FMA213PD}}

// floatTemplate is arithmetic with any rounding and the modifiers ftz, sat and relu.
func floatTemplate(op *ir.Op) emitter {
	form, typ := op.Opcode(), op.Type(0)
	d, in := &op.Args[0], sources(op)
	mode, ok := roundingOf(op)
	if m := op.Mods(); !ok || m.Approx || m.Full || m.Oob || m.Satfinite || m.PropNaN || m.Xorsign {
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
	case optab.F32:
		return single(op, form, d, in, mode)
	case optab.F64:
		return double(op, form, d, in, mode)
	}
	if bf, pair, ok := halfType(typ); ok && mode == asm.RoundNearest && form != optab.OpFdiv && form != optab.OpSqrt &&
		form != optab.OpRcp {
		return halves(op, form, d, in, bf, pair)
	}
	return nil
}

// compute writes the operation of a form on registers into 0, which may not be a source but for the first of fma.
func (g *gen) compute(form optab.Opcode, which int, o asm.Opt, z asm.Vec, r []asm.Vec) {
	x := floatOps[form][which]
	switch form {
	case optab.OpSqrt:
		g.V(x, o, z, 0, r[0])
	case optab.OpRcp:
		if which == 0 {
			g.VL(asm.MovU32, asm.Z, z, 0, g.word32(asm.F32One))
		} else {
			g.VL(asm.MovU64, asm.Z, z, 0, g.word64(asm.F64One))
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
func single(op *ir.Op, form optab.Opcode, d *ir.Arg, in []*ir.Arg, mode asm.Round) emitter {
	ftz, sat := op.Mods().Ftz, op.Mods().Sat
	if op.Mods().Relu || !rows(ir.W32, append([]*ir.Arg{d}, in...)...) {
		return nil
	}
	// A result that only reached the smallest normal number by rounding is flushed too: the interpreter looks at those.
	careful := ftz && (form == optab.OpFmul || form == optab.OpFfma || form == optab.OpFdiv || form == optab.OpRcp)
	return func(g *gen) {
		n := g.pieces(d)
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
			r := make([]asm.Vec, len(in))
			for i, a := range in {
				r[i] = g.reg(a, p)
				if ftz || a.Neg {
					t := asm.Vec(2 + i)
					if a.Neg {
						g.VL(asm.XorD, asm.Z, t, r[i], g.word32(asm.F32Sign))
						r[i] = t
					}
					if ftz {
						g.flush32(t, r[i])
					}
					r[i] = t
				}
			}
			z := asm.Vec(6 + p)
			g.compute(form, 0, asm.Rounded(mode), z, r)
			g.canonical(z, asm.K0)
			if careful {
				g.VL(asm.AndD, asm.Z, 1, z, g.word32(asm.F32Abs))
				g.VL(asm.MovU32, asm.Z, 2, 0, g.word32(asm.F32MinNormal))
				g.VCmp(asm.CmpD, asm.Z.Mask(g.runs(ir.W32, p)), asm.K7, 1, 2, asm.CmpEQ)
				g.KOrTestW(asm.K7, asm.K7)
				g.J(asm.NE, slow)
			}
			if ftz && form != optab.OpSqrt {
				g.flush32(z, z)
			}
			if sat {
				g.V(asm.XorD, asm.Z, 1, 1, 1)
				g.VL(asm.MovU32, asm.Z, 2, 0, g.word32(asm.F32One))
				g.VL(asm.MovU32, asm.Z, 3, 0, g.word32(asm.F32Inf))
				g.VCmp(asm.CmpUD, asm.Z, asm.K7, z, 3, asm.CmpGT)
				g.V(asm.MovA32, asm.Z.Mask(asm.K7), z, 0, 1)
				g.V(asm.MinUD, asm.Z, z, z, 2)
			}
		}
		for p := range n {
			g.pin()
			z, o := g.dst(d, p)
			g.V(asm.MovA32, o, z, 0, asm.Vec(6+p))
		}
	}
}

// runs is mask for instructions that compare: lanes that take no part must not count.
func (g *gen) runs(c ir.Class, p int) asm.Mask { return g.mask(c, p) }

// double is f64 arithmetic.
func double(op *ir.Op, form optab.Opcode, d *ir.Arg, in []*ir.Arg, mode asm.Round) emitter {
	if op.Mods().Sat || op.Mods().Relu {
		return nil
	}
	order := map[optab.Opcode][]int{optab.OpFadd: {1, 0}, optab.OpFsub: {1, 0}, optab.OpFmul: {1, 0},
		optab.OpFdiv: {0, 1}, optab.OpSqrt: {0}, optab.OpRcp: {0}, optab.OpFfma: {1, 2, 0}}[form]
	if op.First {
		order = map[optab.Opcode][]int{optab.OpFadd: {0, 1}, optab.OpFsub: {0, 1}, optab.OpFmul: {0, 1},
			optab.OpFfma: {0, 2, 1}}[form]
		if order == nil {
			return nil
		}
	}
	return byPieces(ir.W64, d, in, func(g *gen, r []asm.Vec) {
		x := append([]asm.Vec(nil), r...)
		for i, a := range in {
			if a.Neg {
				x[i] = asm.Vec(2 + i)
				g.VL(asm.XorQ, asm.Z, x[i], r[i], g.word64(asm.F64Sign))
			}
		}
		g.compute(form, 1, asm.Rounded(mode), 0, x)
		var nans []asm.Vec
		for _, i := range order {
			nans = append(nans, r[i])
		}
		g.nan64(0, nans...)
	})
}

// signedTemplate is abs and neg.
func signedTemplate(op *ir.Op) emitter {
	typ := op.Type(0)
	d, in := &op.Args[0], sources(op)
	abs, ftz := op.Opcode() == optab.OpFabs, op.Mods().Ftz
	if len(in) != 1 || op.Mods().Relu || op.Mods().Sat {
		return nil
	}
	sign := func(g *gen, r asm.Vec, bits uint32) {
		if abs {
			g.VL(asm.AndD, asm.Z, 0, r, g.word32(^bits))
		} else {
			g.VL(asm.XorD, asm.Z, 0, r, g.word32(bits))
		}
	}
	switch typ {
	case optab.F32:
		return byPieces(ir.W32, d, in, func(g *gen, r []asm.Vec) {
			s := r[0]
			if ftz {
				g.flush32(0, s)
				s = 0
			}
			sign(g, s, 1<<31)
			g.canonical(0, asm.K0)
		})
	case optab.F64:
		return byPieces(ir.W64, d, in, func(g *gen, r []asm.Vec) {
			if abs {
				g.VL(asm.AndQ, asm.Z, 0, r[0], g.word64(asm.F64Abs))
			} else {
				g.VL(asm.XorQ, asm.Z, 0, r[0], g.word64(asm.F64Sign))
			}
			g.VCmp(asm.CmpPD, asm.Z, asm.K7, r[0], r[0], asm.FloatUnord)
			g.VL(asm.OrQ, asm.Z.Mask(asm.K7), 0, r[0], g.word64(asm.F64Quiet))
		})
	}
	if bf, pair, ok := halfType(typ); ok {
		return halfSign(d, in, abs, ftz, bf, pair)
	}
	return nil
}

// extremumTemplate is min and max: one NaN is ignored, of f32 with .NaN it is the result; -0 is below +0. Patterns are
// compared as signed numbers: negative ones with their other bits turned.
func extremumTemplate(op *ir.Op) emitter {
	typ := op.Type(0)
	d, in := &op.Args[0], sources(op)
	larger, ftz := op.Opcode() == optab.OpFmax, op.Mods().Ftz
	nan := op.Mods().PropNaN
	if m := op.Mods(); len(in) != 2 || nan && typ != optab.F32 || m.Xorsign || m.Relu || m.Abs {
		return nil
	}
	switch typ {
	case optab.F32:
		return byPieces(ir.W32, d, in, func(g *gen, r []asm.Vec) {
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
			if nan {
				g.VCmp(asm.CmpPS, asm.Z, asm.K7, a, b, asm.FloatUnord)
				g.VL(asm.MovU32, asm.Z.Mask(asm.K7), 0, 0, g.word32(asm.F32NaN))
				return
			}
			g.VCmp(asm.CmpPS, asm.Z, asm.K7, b, b, asm.FloatUnord)
			g.V(asm.MovA32, asm.Z.Mask(asm.K7), 0, 0, a)
			g.VCmp(asm.CmpPS, asm.Z, asm.K7, a, a, asm.FloatUnord)
			g.V(asm.MovA32, asm.Z.Mask(asm.K7), 0, 0, b)
			g.canonical(0, asm.K0)
		})
	case optab.F64:
		return byPieces(ir.W64, d, in, func(g *gen, r []asm.Vec) {
			for i, s := range r {
				g.VShift(asm.ShiftAQ, asm.Z, asm.ShiftSra, 3, s, 63)
				g.VShift(asm.ShiftQ, asm.Z, asm.ShiftSrl, 3, 3, 1)
				g.V(asm.XorQ, asm.Z, asm.Vec(1+i), s, 3)
			}
			pred := asm.CmpLT
			if larger {
				pred = asm.CmpGT
			}
			g.V(asm.MovA64, asm.Z, 0, 0, r[1])
			g.VCmp(asm.CmpQ, asm.Z, asm.K7, 1, 2, pred)
			g.V(asm.MovA64, asm.Z.Mask(asm.K7), 0, 0, r[0])
			g.VCmp(asm.CmpPD, asm.Z, asm.K7, r[1], r[1], asm.FloatUnord)
			g.V(asm.MovA64, asm.Z.Mask(asm.K7), 0, 0, r[0])
			g.VCmp(asm.CmpPD, asm.Z, asm.K7, r[0], r[0], asm.FloatUnord)
			g.V(asm.MovA64, asm.Z.Mask(asm.K7), 0, 0, r[1])
			g.VCmp(asm.CmpPD, asm.Z, asm.K7, 0, 0, asm.FloatUnord) // both
			g.VL(asm.OrQ, asm.Z.Mask(asm.K7), 0, r[1], g.word64(asm.F64Quiet))
		})
	}
	if bf, _, ok := halfType(typ); ok {
		return halfExtremum(d, in, larger, ftz, bf)
	}
	return nil
}

func copysignTemplate(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	if len(in) != 2 {
		return nil
	}
	if op.Type(0) == optab.F64 {
		return byPieces(ir.W64, d, in, func(g *gen, r []asm.Vec) {
			g.VL(asm.AndQ, asm.Z, 0, r[0], g.word64(asm.F64Sign))
			g.VL(asm.AndQ, asm.Z, 1, r[1], g.word64(asm.F64Abs))
			g.V(asm.OrQ, asm.Z, 0, 0, 1)
		})
	}
	return byPieces(ir.W32, d, in, func(g *gen, r []asm.Vec) {
		g.VL(asm.AndD, asm.Z, 0, r[0], g.word32(asm.F32Sign))
		g.VL(asm.AndD, asm.Z, 1, r[1], g.word32(asm.F32Abs))
		g.V(asm.OrD, asm.Z, 0, 0, 1)
	})
}
