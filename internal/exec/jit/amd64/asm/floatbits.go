package asm

// Bits of floating-point numbers.
const (
	F32Sign      = 1 << 31
	F32Abs       = F32Sign - 1 // all but the sign
	F32Mantissa  = 1<<23 - 1
	F32Inf       = 0x7f800000
	F32One       = 0x3f800000
	F32Half      = 0x3f000000
	F32MinNormal = 1 << 23
	F32Max       = F32Inf - 1
	F32Two16     = 0x47800000 // 2^16
	F32Two31     = 0x4f000000 // 2^31
	F32NaN       = 0x7fffffff // PTX's canonical NaN

	F64Sign     = 1 << 63
	F64Abs      = F64Sign - 1
	F64Mantissa = 1<<52 - 1
	F64Quiet    = 1 << 51 // the bit of NaNs that do not signal
	F64Inf      = 0x7ff0000000000000
	F64One      = 0x3ff0000000000000
	F64NaN      = 0xfff8000000000000 // the processor's default NaN

	F16Sign = 0x8000
	F16Abs  = F16Sign - 1
	F16Inf  = 0x7c00
	F16NaN  = 0x7fff // PTX's canonical NaN, that of bf16 too
)
