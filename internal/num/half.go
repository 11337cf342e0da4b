package num

// Arithmetic of f16 and bf16. Callers take packed pairs apart.
//
// Sums and f16 products are computed in f32 and rounded again: f32 has more than twice the bits plus two, and results
// below the narrow format's normal range are exact in f32, so the second rounding is the only one that counts. A bf16
// product can be below f32's range and is computed in f64; fused operations are rounded to odd in f64 first.

const (
	sign16 = 0x8000
	mag16  = 0x7fff
	infF16 = 0x7c00
	infB16 = 0x7f80
	nan16  = 0x7fff // what f16 and bf16 operations return for every NaN (recorded on an H200)
	oneF16 = 0x3c00
)

// F16ToF32 widens; exact. A NaN becomes the canonical one, as cvt.f32.f16 does.
func F16ToF32(x uint16) uint32 {
	s := uint32(x&sign16) << 16
	m := uint32(x & mag16)
	switch {
	case m > infF16:
		return nan32
	case m == infF16:
		return s | inf32
	case m >= 0x400:
		return s | (m<<13 + 112<<23)
	}
	// A subnormal is m units of 2^-24.
	return s | b32(float32(m)*(1.0/(1<<24)))
}

// BF16ToF32 widens; exact, and a NaN keeps its payload and its signalling bit, as cvt.f32.bf16 does.
func BF16ToF32(x uint16) uint32 { return uint32(x) << 16 }

// F32ToF16 rounds to nearest even; NaN becomes canonical.
func F32ToF16(x uint32) uint16 {
	s := uint16(x >> 16 & sign16)
	m := x & mag32
	switch {
	case m > inf32:
		return nan16
	case m >= 0x47800000: // 2^16 and more
		return s | infF16
	case m >= 0x38800000: // 2^-14: normal; a carry may run up to infinity
		m -= 112 << 23
		return s | uint16((m+0xfff+m>>13&1)>>13)
	}
	// Adding 1/2 puts the unit of 2^-24 at the last place, and the host rounds.
	return s | uint16(b32(f32(m)+0.5)-b32(0.5))
}

// F32ToBF16 rounds to nearest even; NaN becomes canonical.
func F32ToBF16(x uint32) uint16 {
	if x&mag32 > inf32 {
		return nan16
	}
	return uint16((x + 0x7fff + x>>16&1) >> 16)
}

// Flush16 turns a subnormal f16 into a zero of the same sign.
func Flush16(x uint16) uint16 {
	if x&infF16 == 0 {
		return x & sign16
	}
	return x
}

// finish16 applies .ftz, .sat and .relu to an f16 result; canonical NaN in, canonical NaN out.
func finish16(z uint16, o Opt) uint16 {
	if o&FTZ != 0 {
		z = Flush16(z)
	}
	if o&Sat != 0 {
		if z > infF16 {
			return 0
		}
		z = min(z, oneF16)
	}
	if o&Relu != 0 {
		z = relu16(z)
	}
	return z
}

func relu16(z uint16) uint16 {
	if z&sign16 != 0 {
		return 0
	}
	return z
}

// AddF16 is add.f16. Options: FTZ, Sat.
func AddF16(a, b uint16, o Opt) uint16 {
	if o&FTZ != 0 {
		a, b = Flush16(a), Flush16(b)
	}
	return finish16(F32ToF16(b32(f32(F16ToF32(a))+f32(F16ToF32(b)))), o)
}

// SubF16 is sub.f16. Options: FTZ, Sat.
func SubF16(a, b uint16, o Opt) uint16 { return AddF16(a, b^sign16, o) }

// MulF16 is mul.f16. Options: FTZ, Sat.
func MulF16(a, b uint16, o Opt) uint16 {
	if o&FTZ != 0 {
		a, b = Flush16(a), Flush16(b)
	}
	return finish16(F32ToF16(b32(float32(f32(F16ToF32(a))*f32(F16ToF32(b))))), o)
}

// FmaF16 is fma.rn.f16. Options: FTZ, Sat, Relu.
func FmaF16(a, b, c uint16, o Opt) uint16 {
	if o&FTZ != 0 {
		a, b, c = Flush16(a), Flush16(b), Flush16(c)
	}
	// The product is exact in f32.
	p := float32(f32(F16ToF32(a)) * f32(F16ToF32(b)))
	s := sumOdd(float64(p), float64(f32(F16ToF32(c))))
	return finish16(uint16(F16.pack(F64.unpack(b64(s)), RN)), o)
}

func bf16f64(x uint16) float64 { return float64(f32(uint32(x) << 16)) }

// AddBF16 is add.bf16.
func AddBF16(a, b uint16) uint16 {
	return F32ToBF16(b32(f32(BF16ToF32(a)) + f32(BF16ToF32(b))))
}

// SubBF16 is sub.bf16.
func SubBF16(a, b uint16) uint16 { return AddBF16(a, b^sign16) }

// MulBF16 is mul.bf16.
func MulBF16(a, b uint16) uint16 {
	return uint16(BF16.pack(F64.unpack(b64(bf16f64(a)*bf16f64(b))), RN))
}

// FmaBF16 is fma.bf16; besides .rn the driver takes .rz. Options: Relu.
func FmaBF16(a, b, c uint16, r Round, o Opt) uint16 {
	p, y := float64(bf16f64(a)*bf16f64(b)), bf16f64(c)
	s := sumOdd(p, y)
	var z uint16
	if s == 0 {
		z = uint16(zeroSum(p, y, r) >> 16)
	} else {
		z = uint16(BF16.pack(F64.unpack(b64(s)), r))
	}
	if o&Relu != 0 {
		z = relu16(z)
	}
	return z
}

// AbsF16 is abs.f16; a NaN becomes the canonical one. Options: FTZ.
func AbsF16(a uint16, o Opt) uint16 {
	if o&FTZ != 0 {
		a = Flush16(a)
	}
	return unary16(a, 0, infF16) & mag16
}

// NegF16 is neg.f16; a NaN becomes the canonical one. Options: FTZ.
func NegF16(a uint16, o Opt) uint16 {
	if o&FTZ != 0 {
		a = Flush16(a)
	}
	return unary16(a, sign16, infF16)
}

// AbsBF16 is abs.bf16; a NaN becomes the canonical one.
func AbsBF16(a uint16) uint16 { return unary16(a, 0, infB16) & mag16 }

// NegBF16 is neg.bf16; a NaN becomes the canonical one.
func NegBF16(a uint16) uint16 { return unary16(a, sign16, infB16) }

func unary16(a, flip, inf uint16) uint16 {
	if a&mag16 > inf {
		return nan16
	}
	return a ^ flip
}
