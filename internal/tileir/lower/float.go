package lower

import (
	"github.com/gocuda/cuda/internal/tileir"
)

// Numbers of 16 bits are computed with in 32, and rounded after every operation.

var roundings = map[tileir.Rounding]string{tileir.NearestEven: ".rn", tileir.Zero: ".rz", tileir.NegativeInf: ".rm",
	tileir.PositiveInf: ".rp", tileir.NearestAway: ".rna"}

// up gives an f16 or bf16 as f32; others as they are.
func (g *fn) up(k tileir.Kind, r reg) reg {
	switch k {
	case tileir.F16:
		return g.e.op(b32, "cvt.f32.f16", r)
	case tileir.BF16:
		return g.e.op(b32, "cvt.f32.bf16", r)
	}
	return r
}

// down rounds an f32 to f16 or bf16.
func (g *fn) down(k tileir.Kind, r reg, round tileir.Rounding) reg {
	switch k {
	case tileir.F16:
		return g.e.op(b16, "cvt"+mode4(round)+".f16.f32", r)
	case tileir.BF16:
		switch round {
		case tileir.NegativeInf, tileir.PositiveInf:
			return g.directedBF16(r, round)
		case tileir.Zero:
			return g.e.op(b16, "cvt.rz.bf16.f32", r)
		}
		return g.e.op(b16, "cvt.rn.bf16.f32", r)
	}
	return r
}

// mode4 is one of the roundings of IEEE, to the nearest if another one is said.
func mode4(r tileir.Rounding) string {
	if r > tileir.PositiveInf {
		return ".rn"
	}
	return roundings[r]
}

// directedBF16 rounds an f32 up or down, which PTX has no instruction for: where cut bits were not zero the magnitude
// grows by one, of negative numbers downward, of positive ones upward.
func (g *fn) directedBF16(r reg, round tileir.Rounding) reg {
	e := g.e
	cut := e.op(b32, "and.b32", r, number(b32, 0xffff))
	lost := e.op(pred, "setp.ne.u32", cut, number(b32, 0))
	side := "setp.lt.s32"
	if round == tileir.PositiveInf {
		side = "setp.ge.s32"
	}
	lost = e.op(pred, "and.pred", lost, e.op(pred, side, r, number(b32, 0)))
	lost = e.op(pred, "and.pred", lost, e.op(pred, "setp.num.f32", r, r))
	step := e.op(b32, "selp.b32", number(b32, 0x10000), number(b32, 0), lost)
	sum := e.op(b32, "add.s32", r, step)
	return e.op(b16, "cvt.u16.u32", e.op(b32, "shr.u32", sum, number(b32, 16)))
}

// widest is the type in which an operation on a kind is computed: "f32" or "f64".
func widest(k tileir.Kind) (c class, t string) {
	if k == tileir.F64 {
		return b64, "f64"
	}
	return b32, "f32"
}

// float writes an operation on floats.
func (g *fn) float(o *tileir.Op, k tileir.Kind, a []reg) reg {
	e := g.e
	half := k == tileir.F16 || k == tileir.BF16
	if half {
		switch o.Code {
		case tileir.AbsF:
			return e.op(b16, "and.b16", a[0], number(b16, 0x7fff))
		case tileir.NegF:
			return e.op(b16, "xor.b16", a[0], number(b16, 0x8000))
		case tileir.Fma:
			// One rounding, not two.
			if o.Rounding == tileir.NearestEven {
				return e.op(b16, "fma.rn."+map[tileir.Kind]string{tileir.F16: "f16", tileir.BF16: "bf16"}[k], a...)
			}
		case tileir.FPowI:
			return g.down(k, g.powI(o, k, g.up(k, a[0]), a[1]), tileir.NearestEven)
		}
		wide := make([]reg, len(a))
		for i := range a {
			wide[i] = g.up(k, a[i])
		}
		return g.down(k, g.real(o, k, wide), o.Rounding)
	}
	if o.Code == tileir.FPowI {
		return g.powI(o, k, a[0], a[1])
	}
	return g.real(o, k, a)
}

// real writes an operation on f32 or f64; k is the kind of the operation.
func (g *fn) real(o *tileir.Op, k tileir.Kind, a []reg) reg {
	e := g.e
	c, t := widest(k)
	ftz := ""
	if o.Flags&tileir.FlushToZero != 0 {
		ftz = ".ftz"
	}
	round := mode4(o.Rounding)
	special := ""
	switch o.Rounding {
	case tileir.Approx:
		special = ".approx"
	case tileir.Full:
		special = ".full"
	}
	switch o.Code {
	case tileir.AddF:
		return e.op(c, "add"+round+ftz+"."+t, a...)
	case tileir.SubF:
		return e.op(c, "sub"+round+ftz+"."+t, a...)
	case tileir.MulF:
		return e.op(c, "mul"+round+ftz+"."+t, a...)
	case tileir.Fma:
		return e.op(c, "fma"+round+ftz+"."+t, a...)
	case tileir.DivF:
		if special != "" {
			round = special
		}
		return e.op(c, "div"+round+ftz+"."+t, a...)
	case tileir.Sqrt:
		if special == ".approx" {
			round = special
		}
		return e.op(c, "sqrt"+round+ftz+"."+t, a...)
	case tileir.AbsF:
		return e.op(c, "abs."+t, a...)
	case tileir.NegF:
		return e.op(c, "neg."+t, a...)
	case tileir.MaxF:
		return g.extreme("max", o, k, a, ftz)
	case tileir.MinF:
		return g.extreme("min", o, k, a, ftz)
	case tileir.Ceil:
		return e.op(c, "cvt.rpi."+t+"."+t, a...)
	case tileir.Floor:
		return e.op(c, "cvt.rmi."+t+"."+t, a...)
	case tileir.Exp2:
		if t == "f32" {
			return e.op(c, "ex2.approx"+ftz+".f32", a...)
		}
	case tileir.Rsqrt:
		if t == "f32" {
			return e.op(c, "rsqrt.approx"+ftz+".f32", a...)
		}
	case tileir.TanH:
		if special == ".approx" && t == "f32" {
			return e.op(c, "tanh.approx.f32", a...)
		}
	}
	if name := functionNames[o.Code]; name != "" {
		return g.call(o, "tile$"+name+"_"+t, c, a...)
	}
	g.fail(o, "no such operation on floats")
	return reg{}
}

// functionNames are the names of mathematical functions in package devmath.
var functionNames = map[tileir.Opcode]string{
	tileir.Exp: "exp", tileir.Exp2: "exp2", tileir.Log: "log", tileir.Log2: "log2", tileir.FPowF: "pow",
	tileir.Sin: "sin", tileir.Cos: "cos", tileir.Tan: "tan",
	tileir.SinH: "sinh", tileir.CosH: "cosh", tileir.TanH: "tanh", tileir.Atan2: "atan2", tileir.Rsqrt: "rsqrt",
	tileir.RemF: "fmod",
}

// extreme is the larger or the smaller of two numbers.
func (g *fn) extreme(name string, o *tileir.Op, k tileir.Kind, a []reg, ftz string) reg {
	nan := o.Flags&tileir.PropagateNaN != 0
	if k != tileir.F64 {
		if nan {
			ftz += ".NaN"
		}
		return g.e.op(b32, name+ftz+".f32", a...)
	}
	r := g.e.op(b64, name+".f64", a...)
	if !nan {
		return r
	}
	p := g.e.op(pred, "setp.nan.f64", a...)
	return g.choose(p, g.e.op(b64, "mov.b64", number(b64, 0x7fff<<48)), r)
}

// powI raises to the power of an integer.
func (g *fn) powI(o *tileir.Op, k tileir.Kind, x, n reg) reg {
	c, t := widest(k)
	return g.call(o, "tile$powi_"+t, c, x, g.extended(o.Operands[1].Type.Elem.Kind, n, true))
}

// call calls a function of package devmath.
func (g *fn) call(o *tileir.Op, name string, c class, a ...reg) reg {
	if _, _, ok := mathSource(name); !ok {
		g.fail(o, "the function %s is missing", name)
	}
	g.w.library[name] = true
	e := g.e
	level := e.level()
	r := e.fresh(c)
	r.level = level
	args := ""
	for i, x := range a {
		if i > 0 {
			args += ", "
		}
		if x.imm {
			x = e.op(x.class, "mov"+classType[x.class], x)
		}
		args += x.text
	}
	e.line("call (%s), %s, (%s)", r.text, name, args)
	return r
}

func (g *fn) cmpF(o *tileir.Op, a []reg) reg {
	k := o.Operands[0].Type.Elem.Kind
	_, t := widest(k)
	u := ""
	if o.Ordering == tileir.Unordered {
		u = "u"
	}
	return g.e.op(pred, "setp."+comparisons[o.Compare]+u+"."+t, g.up(k, a[0]), g.up(k, a[1]))
}
