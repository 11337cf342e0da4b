package interp

import (
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
)

// approx32 are the approximate functions of f32 with one operand.
var approx32 = map[string]func(x uint32, o num.Opt) uint32{
	"rcp": num.RcpApprox32, "sqrt": num.SqrtApprox32, "rsqrt": num.RsqrtApprox32, "lg2": num.Lg2Approx32, "ex2": num.Ex2Approx32,
	"sin":  func(x uint32, _ num.Opt) uint32 { return num.SinApprox32(x) },
	"cos":  func(x uint32, _ num.Opt) uint32 { return num.CosApprox32(x) },
	"tanh": func(x uint32, _ num.Opt) uint32 { return num.TanhApprox32(x) },
}

// resolveApprox is the approximate functions of f32, f64, f16 and bf16.
func resolveApprox(in *inst, op *ir.Op) error {
	name, o := op.Match.Form.Name, options(op)
	switch op.Match.Type(0) {
	case "f32":
		if name == "div" {
			f := num.DivApprox32
			if op.Match.Has("full") {
				f = num.DivFull32
			}
			in.fn = bin32(func(a, b uint32) uint32 { return f(a, b, o) })
			return nil
		}
		if f := approx32[name]; f != nil {
			in.fn = un32(func(x uint32) uint32 { return f(x, o) })
			return nil
		}
	case "f64":
		switch {
		case name == "rcp":
			in.fn = un64(num.RcpApproxFtz64)
			return nil
		case name == "rsqrt" && o&num.FTZ != 0:
			in.fn = un64(num.RsqrtApproxFtz64)
			return nil
		case name == "rsqrt":
			in.fn = un64(num.RsqrtApprox64)
			return nil
		}
	default:
		switch name {
		case "ex2":
			return halfUnary(in, op, num.Ex2F16, num.Ex2BF16)
		case "tanh":
			return halfUnary(in, op, num.TanhF16, num.TanhBF16)
		}
	}
	return unsupported(op)
}
