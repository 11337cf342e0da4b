package interp

import (
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// approx32 are the approximate functions of f32 with one operand.
var approx32 = map[optab.Opcode]func(x uint32, o num.Opt) uint32{
	optab.OpRcp: num.RcpApprox32, optab.OpSqrt: num.SqrtApprox32, optab.OpRsqrt: num.RsqrtApprox32,
	optab.OpLg2: num.Lg2Approx32, optab.OpEx2: num.Ex2Approx32,
	optab.OpSin:  func(x uint32, _ num.Opt) uint32 { return num.SinApprox32(x) },
	optab.OpCos:  func(x uint32, _ num.Opt) uint32 { return num.CosApprox32(x) },
	optab.OpTanh: func(x uint32, _ num.Opt) uint32 { return num.TanhApprox32(x) },
}

// resolveApprox is the approximate functions of f32, f64, f16 and bf16.
func resolveApprox(in *inst, op *ir.Op) error {
	code, o := op.Opcode(), options(op)
	switch op.Type(0) {
	case optab.F32:
		if code == optab.OpFdiv {
			f := num.DivApprox32
			if op.Mods().Full {
				f = num.DivFull32
			}
			in.fn = bin32(func(a, b uint32) uint32 { return f(a, b, o) })
			return nil
		}
		if f := approx32[code]; f != nil {
			in.fn = un32(func(x uint32) uint32 { return f(x, o) })
			return nil
		}
	case optab.F64:
		switch {
		case code == optab.OpRcp:
			in.fn = un64(num.RcpApproxFtz64)
			return nil
		case code == optab.OpRsqrt && o&num.FTZ != 0:
			in.fn = un64(num.RsqrtApproxFtz64)
			return nil
		case code == optab.OpRsqrt:
			in.fn = un64(num.RsqrtApprox64)
			return nil
		}
	default:
		switch code {
		case optab.OpEx2:
			return halfUnary(in, op, num.Ex2F16, num.Ex2BF16)
		case optab.OpTanh:
			return halfUnary(in, op, num.TanhF16, num.TanhBF16)
		}
	}
	return unsupported(op)
}
