package interp

import (
	"math"

	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
)

// nanF32 is what f32 operations return for every NaN (recorded on an H200).
const nanF32 = 0x7fffffff

// approx32 are the approximate functions of f32 with one operand.
var approx32 = map[string]func(x uint32, o num.Opt) uint32{
	"rcp": num.RcpApprox32, "sqrt": num.SqrtApprox32, "rsqrt": num.RsqrtApprox32, "lg2": num.Lg2Approx32, "ex2": num.Ex2Approx32,
	"sin":  func(x uint32, _ num.Opt) uint32 { return num.SinApprox32(x) },
	"cos":  func(x uint32, _ num.Opt) uint32 { return num.CosApprox32(x) },
	"tanh": func(x uint32, _ num.Opt) uint32 { return tanh32(x) },
}

// tanh32 is rounded once from f64: within the manual's bound, but not the silicon's bits.
func tanh32(x uint32) uint32 {
	f := math.Tanh(float64(math.Float32frombits(x)))
	if f != f {
		return nanF32
	}
	return math.Float32bits(float32(f))
}

func resolveApprox(in *inst, op *ir.Op) error {
	name, o := op.Match.Form.Name, options(op)
	if name == "div" {
		f := num.DivApprox32
		if op.Match.Has("full") {
			f = num.DivFull32
		}
		in.fn = bin32(func(a, b uint32) uint32 { return f(a, b, o) })
		return nil
	}
	f := approx32[name]
	if f == nil {
		return unsupported(op)
	}
	switch op.Match.Type(0) {
	case "f32":
		in.fn = un32(func(x uint32) uint32 { return f(x, o) })
	case "f64":
		return resolveApprox64(in, op, o)
	default:
		return halfUnary(in, op,
			func(x uint16) uint16 { return num.F32ToF16(f(num.F16ToF32(x), o)) },
			func(x uint16) uint16 { return num.F32ToBF16(f(num.BF16ToF32(x), o)) })
	}
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
		switch {
		case !half:
		case z&^(1<<63) > infF64:
			z = nanF32 << 32 // the f32 unit's NaN, in the upper half (recorded)
		default:
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
