package interp

import (
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Half precision arithmetic (PTX ISA 9.7.4). A packed pair is two independent operations; a single value stands in a
// row whose upper bits are zero, and so does its result.

// halfUnary makes a handler for f16, bf16 and their pairs.
func halfUnary(in *inst, op *ir.Op, f16, bf16 func(a uint16) uint16) error {
	f, packed, ok := halfForm(op, f16, bf16)
	switch {
	case !ok:
		return unsupported(op)
	case packed:
		in.fn = un32(func(a uint32) uint32 { return uint32(f(uint16(a>>16)))<<16 | uint32(f(uint16(a))) })
	default:
		in.fn = un32(func(a uint32) uint32 { return uint32(f(uint16(a))) })
	}
	return nil
}

func halfBinary(in *inst, op *ir.Op, f16, bf16 func(a, b uint16) uint16) error {
	f, packed, ok := halfForm(op, f16, bf16)
	switch {
	case !ok:
		return unsupported(op)
	case packed:
		in.fn = bin32(func(a, b uint32) uint32 {
			return uint32(f(uint16(a>>16), uint16(b>>16)))<<16 | uint32(f(uint16(a), uint16(b)))
		})
	default:
		in.fn = bin32(func(a, b uint32) uint32 { return uint32(f(uint16(a), uint16(b))) })
	}
	return nil
}

// halfForm chooses by the first type of the instruction.
func halfForm[F any](op *ir.Op, f16, bf16 F) (f F, packed, ok bool) {
	switch op.Type(0) {
	case optab.F16:
		return f16, false, true
	case optab.F16x2:
		return f16, true, true
	case optab.Bf16:
		return bf16, false, true
	case optab.Bf16x2:
		return bf16, true, true
	}
	return f, false, false
}

// halfFma is fma of f16, bf16 and their pairs, on rows.
func halfFma(op *ir.Op, r num.Round, o num.Opt) (fma func(a, b, c uint32) uint32, ok bool) {
	bf16 := func(a, b, c uint16) uint16 { return num.FmaBF16(a, b, c, num.RN, o) }
	oob := op.Mods().Oob
	if r == num.RZ && op.Type(0) == optab.Bf16 {
		// The manual does not have .rz here, but the driver takes it, and what an H200 then does is an f16 operation to
		// nearest without .oob and .relu (recorded). The packed form just rounds to nearest.
		oob = false
		bf16 = func(a, b, c uint16) uint16 { return num.FmaF16(a, b, c, 0) }
	}
	f, packed, ok := halfForm(op, func(a, b, c uint16) uint16 { return num.FmaF16(a, b, c, o) }, bf16)
	if !ok {
		return nil, false
	}
	if oob {
		g := f
		f = func(a, b, c uint16) uint16 {
			if a == num.OOBNaN16 || b == num.OOBNaN16 {
				return 0
			}
			return g(a, b, c)
		}
	}
	if !packed {
		return func(a, b, c uint32) uint32 { return uint32(f(uint16(a), uint16(b), uint16(c))) }, true
	}
	return func(a, b, c uint32) uint32 {
		return uint32(f(uint16(a>>16), uint16(b>>16), uint16(c>>16)))<<16 | uint32(f(uint16(a), uint16(b), uint16(c)))
	}, true
}
