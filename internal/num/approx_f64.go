package num

import "math"

// The f64 forms. The unit sees only the high word: 20 fraction bits in, 20 out, the low word of the result zero.

const nanHigh64 = 0x7fffffff00000000 // what the unit returns for a NaN

// RcpApproxFtz64 is rcp.approx.ftz.f64. Subnormals count as zero on both sides.
func RcpApproxFtz64(x uint64) uint64 {
	h := uint32(x >> 32)
	m := h & mag32
	neg := h>>31 != 0
	switch {
	case m > inf64>>32:
		return nanHigh64
	case m == inf64>>32:
		return x & sign64
	case m < 1<<20:
		return x&sign64 | inf64
	}
	e := int(m>>20) - 1023
	v, frac := int64(1)<<40, m&0xfffff<<3
	if frac != 0 {
		v = rcpCurve.at(frac)
	}
	return high64(neg, v, -e)
}

// RsqrtApproxFtz64 is rsqrt.approx.ftz.f64. Subnormals count as zero.
func RsqrtApproxFtz64(x uint64) uint64 {
	h := uint32(x >> 32)
	m := h & mag32
	switch {
	case m > inf64>>32:
		return nanHigh64
	case m < 1<<20:
		return x&sign64 | inf64
	case h>>31 != 0:
		return nanHigh64
	case m == inf64>>32:
		return 0
	}
	e := int(m>>20) - 1023
	v, at := int64(1)<<40, m&0xfffff<<3|uint32(e&1)<<23
	if at != 0 {
		v = rsqrtCurve.at(at)
	}
	return high64(false, v, -(e >> 1))
}

// high64 is v * 2^(exp-40) cut to 20 fraction bits; results below the normal range become zero.
func high64(neg bool, v int64, exp int) uint64 {
	z := RoundTo(F64, neg, exp-40, uint64(v), RZ)
	if z&inf64 == 0 {
		return z & sign64
	}
	return z &^ (1<<32 - 1)
}

// RsqrtApprox64 is rsqrt.approx.f64: the unit's result and one step of third order in fused arithmetic.
func RsqrtApprox64(x uint64) uint64 {
	switch m := x & mag64; {
	case m > inf64:
		return x | quiet
	case m == 0:
		return x | inf64
	case x>>63 != 0:
		return invalid64
	case m == inf64:
		return 0
	case m < 1<<52: // scaled by 2^54 and back by 2^27
		y := RsqrtApprox64(b64(f64(x) * (1 << 54)))
		return b64(f64(y) * (1 << 27))
	}
	y := f64(RsqrtApproxFtz64(x))
	e := math.FMA(f64(x), -float64(y*y), 1)
	return b64(math.FMA(math.FMA(e, 0.375, 0.5), float64(y*e), y))
}
