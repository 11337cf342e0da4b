package num

import "math/bits"

// The approximate functions on f32: rcp, rsqrt, sqrt, ex2, lg2, sin, cos, div.
//
// Silicon evaluates them in one unit: the operand's top bits pick a segment, the rest is n, and the result is C0 + C1*n
// + C2*q, where q is the square of n computed without its low partial products, cut to 24 bits. The structure and the
// tables were found by fitting recorded results; APPROX.md tells how. Every result is an H200's.

// coef holds a segment's C0, C1 and C2.
type coef [3]int32

// curve is a table with the scales of its columns: shifts to units of 2^-40.
type curve struct {
	seg     []coef
	n       uint    // bits of n
	low     uint    // column below which the square's partial products are dropped
	shift   [3]uint // of C0, C1, C2
	bias    int64   // rounding constant
	c1Extra uint    // added to C1's shift in the table's second half
}

func (c *curve) at(x uint32) int64 {
	s := x >> c.n
	n := x & (1<<c.n - 1)
	k := &c.seg[s]
	c1 := c.shift[1]
	if c.c1Extra != 0 && int(s) >= len(c.seg)/2 {
		c1 += c.c1Extra
	}
	return int64(k[0])<<c.shift[0] + c.bias + int64(k[1])*int64(n)<<c1 + int64(k[2])*int64(square(n, c.low))<<c.shift[2]
}

// square is n*n over 2^low, computed without the partial products below column low.
func square(n uint32, low uint) uint64 {
	var drop uint64
	// Of bit i falls away its square, and its products with the bits j above it while i+j+1 < low.
	for m := n & (1<<((low+1)/2) - 1); m != 0; m &= m - 1 {
		i := uint(bits.TrailingZeros32(m))
		above := m & (m - 1) // in m, and in n above it
		above |= n &^ (1<<((low+1)/2) - 1)
		drop += 1<<(2*i) + uint64(above&(1<<(low-1-i)-1))<<(i+1)
	}
	return (uint64(n)*uint64(n) - drop) >> low
}

var (
	rcpCurve   = curve{seg: rcpTable[:], n: 16, low: 17, shift: [3]uint{14, 1, 1}, bias: 4046}
	rsqrtCurve = curve{seg: rsqrtTable[:], n: 17, low: 19, shift: [3]uint{14, 0, 2}, bias: 16383}
	sqrtCurve  = curve{seg: sqrtTable[:], n: 17, low: 19, shift: [3]uint{15, 0, 1}, bias: 32767, c1Extra: 1}
	ex2Curve   = curve{seg: ex2Table[:], n: 17, low: 19, shift: [3]uint{15, 2, 2}, bias: 24456}
	lg2Curve   = curve{seg: lg2Table[:], n: 17, low: 19, shift: [3]uint{14, 2, 3}, bias: 3350}
	sinCurve   = curve{seg: sinTable[:], n: 17, low: 19, shift: [3]uint{15, 3, 3}}
)

// scaled32 is v * 2^(exp-40), cut to 24 bits; results below the normal range become zero.
func scaled32(neg bool, v int64, exp int) uint32 {
	z := uint32(RoundTo(F32, neg, exp-40, uint64(v), RZ))
	if z&mag32 < min32 {
		return z & sign32
	}
	return z
}

// power32 is 2^e, flushed or infinite outside the normal range.
func power32(neg bool, e int) uint32 {
	var z uint32
	switch {
	case e > 127:
		z = inf32
	case e >= -126:
		z = uint32(e+127) << 23
	}
	if neg {
		z |= sign32
	}
	return z
}

// rcpUnit is the hardware reciprocal: subnormals count as zero on both sides.
func rcpUnit(x uint32) uint32 {
	m, neg := x&mag32, x>>31 != 0
	switch {
	case m > inf32:
		return nan32
	case m == inf32:
		return x & sign32
	case m < min32:
		return x&sign32 | inf32
	}
	e := int(m>>23) - 127
	frac := m & 0x7fffff
	if frac == 0 {
		return power32(neg, -e)
	}
	return scaled32(neg, rcpCurve.at(frac), -e)
}

// rsqrtUnit is the hardware reciprocal root: subnormals count as zero.
func rsqrtUnit(x uint32) uint32 {
	m := x & mag32
	switch {
	case m > inf32:
		return nan32
	case m < min32:
		return x&sign32 | inf32
	case x>>31 != 0:
		return nan32
	case m == inf32:
		return 0
	}
	e := int(m>>23) - 127
	at := m&0x7fffff | uint32(e&1)<<23
	if at == 0 {
		return power32(false, -e/2)
	}
	return scaled32(false, rsqrtCurve.at(at), -(e >> 1))
}

// sqrtUnit is the hardware root: subnormals count as zero.
func sqrtUnit(x uint32) uint32 {
	m := x & mag32
	switch {
	case m > inf32:
		return nan32
	case m < min32:
		return x & sign32
	case x>>31 != 0:
		return nan32
	case m == inf32:
		return inf32
	}
	e := int(m>>23) - 127
	at := m&0x7fffff | uint32(e&1)<<23
	if at == 0 {
		return power32(false, e/2)
	}
	return scaled32(false, sqrtCurve.at(at), e>>1)
}

// ex2Unit is the hardware power of two: subnormal results become zero. The operand is cut to 23 fraction bits; a
// negative one is taken in ones' complement.
func ex2Unit(x uint32) uint32 {
	m := x & mag32
	switch {
	case m > inf32:
		return nan32
	case m >= 0x43800000: // 256
		if x>>31 != 0 {
			return 0
		}
		return inf32
	}
	k := fixed(m, 23)
	e, frac := int(k>>23), uint32(k&0x7fffff)
	if x>>31 != 0 {
		if frac == 0 {
			return power32(false, -e)
		}
		e, frac = -e-1, 0x7fffff-frac
	}
	if e > 127 {
		return inf32
	}
	return scaled32(false, ex2Curve.at(frac), e)
}

// fixed is the magnitude m of an f32 in units of 2^-bits, cut; m is below 2^(64-bits).
func fixed(m uint32, bits int) uint64 {
	e := int(m >> 23)
	if e == 0 {
		return 0
	}
	v := uint64(m&0x7fffff | 0x800000)
	if s := e - 150 + bits; s >= 0 {
		return v << s
	} else if s > -24 {
		return v >> -s
	}
	return 0
}

// lg2Unit is the hardware logarithm: subnormals count as zero. The sum with the exponent is kept to 2^-36 and, if
// negative, complemented bit by bit.
func lg2Unit(x uint32) uint32 {
	m := x & mag32
	switch {
	case m > inf32:
		return nan32
	case m < min32:
		return sign32 | inf32
	case x>>31 != 0:
		return nan32
	case m == inf32:
		return inf32
	case m == one32:
		return 0
	}
	v := int64(int(m>>23)-127)<<36 + lg2Curve.at(m&0x7fffff)>>4
	if v < 0 {
		return uint32(RoundTo(F32, true, -36, uint64(^v), RZ))
	}
	return uint32(RoundTo(F32, false, -36, uint64(v), RZ))
}

// sinUnit is the hardware sine of the angle x/(2*pi), plus quarter quarters of a turn.
func sinUnit(x uint32, quarter uint32) uint32 {
	m := x & mag32
	if m >= inf32 {
		return nan32
	}
	var k uint64 // 2^-25 turns, whole turns dropped
	if m < 0x4b800000 {
		k = fixed(m, 25)
	}
	frac := uint32(k & 0x7fffff)
	q := uint32(k>>23) + quarter
	neg := q&2 != 0
	if quarter == 0 && x>>31 != 0 {
		neg = !neg
	}
	var v int64
	switch {
	case q&1 == 0:
		v = sinCurve.at(frac)
	case frac == 0:
		v = 1 << 40
	default:
		v = sinCurve.at(0x7fffff - frac)
	}
	if v >>= 3; v <= 0 {
		return uint32(bit31(neg))
	}
	return uint32(RoundTo(F32, neg, -37, uint64(v), RZ))
}

func bit31(b bool) uint32 {
	if b {
		return sign32
	}
	return 0
}

// scale32 multiplies by a power of two, rounding to nearest.
func scale32(x uint32, e int) uint32 { return MulRN32(x, power32(false, e)) }

// RcpApprox32 is rcp.approx.f32. Options: FTZ.
func RcpApprox32(x uint32, o Opt) uint32 {
	if m := x & mag32; o&FTZ == 0 {
		switch {
		case m != 0 && m < min32:
			return scale32(rcpUnit(scale32(x, 24)), 24)
		case m > 0x7e800000 && m < inf32: // the result is subnormal
			return scale32(rcpUnit(scale32(x, -2)), -2)
		}
	}
	return rcpUnit(x)
}

// SqrtApprox32 is sqrt.approx.f32. Options: FTZ.
func SqrtApprox32(x uint32, o Opt) uint32 {
	if m := x & mag32; o&FTZ == 0 && m != 0 && m < min32 {
		return scale32(sqrtUnit(scale32(x, 24)), -12)
	}
	return sqrtUnit(x)
}

// RsqrtApprox32 is rsqrt.approx.f32. Options: FTZ.
func RsqrtApprox32(x uint32, o Opt) uint32 {
	if m := x & mag32; o&FTZ == 0 && m != 0 && m < min32 {
		return scale32(rsqrtUnit(scale32(x, 24)), 12)
	}
	return rsqrtUnit(x)
}

// Ex2Approx32 is ex2.approx.f32. Options: FTZ.
func Ex2Approx32(x uint32, o Opt) uint32 {
	if o&FTZ == 0 && x > 0xc2fc0000 && x < sign32|inf32 { // below -126
		y := ex2Unit(scale32(x, -1))
		return MulRN32(y, y)
	}
	return ex2Unit(x)
}

// Lg2Approx32 is lg2.approx.f32. Options: FTZ.
func Lg2Approx32(x uint32, o Opt) uint32 {
	if m := x & mag32; o&FTZ == 0 && m != 0 && m < min32 {
		return AddRN32(lg2Unit(scale32(x, 24)), 0xc1c00000) // -24
	}
	return lg2Unit(x)
}

// The f32 next to 1/(2*pi), by which sine and cosine scale their operand.
const turn32 = 0x3e22f983

// SinApprox32 is sin.approx.f32; .ftz makes no difference, since the operand is cut to fixed point.
func SinApprox32(x uint32) uint32 { return sinUnit(Mul32(x, turn32, RZ, 0), 0) }

// CosApprox32 is cos.approx.f32; .ftz makes no difference.
func CosApprox32(x uint32) uint32 { return sinUnit(Mul32(x, turn32, RZ, 0), 1) }

// DivApprox32 is div.approx.f32: the dividend times the hardware reciprocal. A divisor above 2^126 gives zero. Options:
// FTZ.
func DivApprox32(a, b uint32, o Opt) uint32 {
	if m := b & mag32; o&FTZ == 0 && m != 0 && m < min32 {
		a, b = scale32(a, 24), scale32(b, 24)
	}
	return Mul32(a, rcpUnit(b), RN, o&FTZ)
}

// DivFull32 is div.full.f32: DivApprox32 with the divisor brought into range. Options: FTZ.
func DivFull32(a, b uint32, o Opt) uint32 {
	if m := b & mag32; m > 0x7e800000 && m < inf32 {
		if o&FTZ != 0 {
			a = Flush32(a)
		}
		a, b = scale32(a, -2), scale32(b, -2)
	}
	return DivApprox32(a, b, o)
}
