package interp

import (
	"math"

	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
)

// The approximate functions. They are computed in f64 and rounded once, which is inside every bound of the manual (PTX ISA 9.7.3); the
// special values are those of the manual's tables and of the recorded cases.

const (
	nanF32 = 0x7fffffff // what f32 operations return for every NaN (recorded)
	turn32 = 0x3e22f983 // 1/(2 pi): sin and cos count in turns, and this product is rounded to f32
)

// approx32 is one function of f32; x has been flushed already when .ftz was given.
var approx32 = map[string]func(x float64) float64{
	"rcp":   func(x float64) float64 { return 1 / x },
	"sqrt":  math.Sqrt,
	"rsqrt": func(x float64) float64 { return 1 / math.Sqrt(x) },
	"lg2":   math.Log2,
	"ex2":   math.Exp2,
	"tanh":  math.Tanh,
	"sin": func(x float64) float64 {
		t := turns(x)
		return math.Copysign(math.Sin(t*2*math.Pi), t)
	},
	"cos": func(x float64) float64 { return math.Cos(turns(x) * 2 * math.Pi) },
}

// turns is the fraction of a turn, in (-1, 1), rounded as the hardware does.
func turns(x float64) float64 {
	t := math.Float32frombits(num.MulRN32(math.Float32bits(float32(x)), turn32))
	_, f := math.Modf(float64(t))
	return f
}

func canonF32(f float64) uint32 {
	if f != f {
		return nanF32
	}
	return math.Float32bits(float32(f))
}

func resolveApprox(in *inst, op *ir.Op) error {
	name, o := op.Match.Form.Name, options(op)
	flush := func(x uint32) uint32 { return x }
	if o&num.FTZ != 0 {
		flush = num.Flush32
	}
	if name == "div" {
		return resolveDivApprox(in, op, flush)
	}
	f := approx32[name]
	if f == nil {
		return unsupported(op)
	}
	switch op.Match.Type(0) {
	case "f32":
		in.fn = un32(func(x uint32) uint32 { return flush(canonF32(f(float64(math.Float32frombits(flush(x)))))) })
	case "f64":
		return resolveApprox64(in, op, o)
	default:
		narrow := func(to func(uint32) uint16, from func(uint16) uint32) func(uint16) uint16 {
			return func(x uint16) uint16 { return to(canonF32(f(float64(math.Float32frombits(flush(from(x))))))) }
		}
		return halfUnary(in, op, narrow(num.F32ToF16, num.F16ToF32), narrow(num.F32ToBF16, num.BF16ToF32))
	}
	return nil
}

// resolveDivApprox is div.approx and div.full. div.approx of a divisor above 2^126 gives zero, and NaN for infinity over it.
func resolveDivApprox(in *inst, op *ir.Op, flush func(uint32) uint32) error {
	full := op.Match.Has("full")
	in.fn = bin32(func(a, b uint32) uint32 {
		a, b = flush(a), flush(b)
		if m := b &^ (1 << 31); !full && m > 0x7e800000 && m < 0x7f800000 {
			b = b&(1<<31) | 0x7f800000
		}
		return flush(num.Div32(a, b, num.RN, 0))
	})
	return nil
}

// resolveApprox64 is rcp.approx.ftz.f64, which works on the upper halves of operand and result, and rsqrt.approx.f64.
func resolveApprox64(in *inst, op *ir.Op, o num.Opt) error {
	half := o&num.FTZ != 0
	root := false
	switch op.Match.Form.Name {
	case "rcp":
	case "rsqrt":
		root = true
	default:
		return unsupported(op)
	}
	in.fn = un64(func(x uint64) uint64 {
		if half {
			x = upper64(x)
		}
		var z uint64
		if root {
			z = num.Sqrt64(x, num.RN)
			z = num.Rcp64(z, num.RN)
		} else {
			z = num.Rcp64(x, num.RN)
		}
		if half {
			z = upper64(z)
		}
		return z
	})
	return nil
}

// upper64 keeps the upper half and flushes a subnormal to zero.
func upper64(x uint64) uint64 {
	if x&infF64 == 0 {
		return x & (1 << 63)
	}
	return x &^ math.MaxUint32
}
