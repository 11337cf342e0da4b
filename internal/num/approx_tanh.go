package num

// tanh on f32, f16 and bf16, and ex2 on f16 and bf16. See approx.go for the unit and APPROX.md for the study. C0 of
// tanh is in units of 2^-24.

// octave describes the segments of one power of two: 2^man of them, n without the operand's lowest drop bits.
type octave struct {
	first     int16 // in tanhTable
	man, drop uint8
	shift     uint8 // C1 and C2 are in units of 2^-(40-shift)
}

// From 2^-8 up. Every n has 17 bits.
var tanhOctaves = [11]octave{
	{0, 0, 6, 0}, {1, 0, 6, 1}, {2, 0, 6, 2}, {3, 1, 5, 2}, {5, 1, 5, 3}, {7, 2, 4, 3},
	{11, 2, 4, 3}, {15, 2, 4, 4}, {19, 3, 3, 3}, {27, 4, 2, 1}, {43, 3, 3, 3},
}

// TanhApprox32 is tanh.approx.f32. Up to 2^-8 the result is the operand, from 8 on it is 1.
func TanhApprox32(x uint32) uint32 {
	m := x & mag32
	switch {
	case m > inf32:
		return nan32
	case m <= 0x3b800000:
		return x
	case m >= 0x41000000:
		return x&sign32 | one32
	}
	o := &tanhOctaves[m>>23-119]
	frac := m & 0x7fffff
	k := &tanhTable[int(o.first)+int(frac>>(23-o.man))]
	n := frac & (1<<(23-o.man) - 1) >> o.drop
	v := int64(k[0])<<16 + (int64(k[1])*int64(n)+int64(k[2])*int64(square(n, 19)))<<o.shift
	return uint32(RoundTo(F32, x>>31 != 0, -40, uint64(v), RZ))
}

// cut16 narrows an f32 result of the unit to f16 or bf16: cut toward zero, but what is beyond the largest value becomes
// infinite.
func cut16(f Format, y uint32) uint16 {
	l := &layouts[f]
	z := uint16(CvtFloat(f, F32, uint64(y), RZ, 0))
	if uint64(z&mag16) == l.max && CvtFloat(f, F32, uint64(y), RN, 0)&mag16 != l.max {
		z++
	}
	return z
}

// Ex2F16 is ex2.approx.f16.
func Ex2F16(x uint16) uint16 { return cut16(F16, Ex2Approx32(F16ToF32(x), 0)) }

// Ex2BF16 is ex2.approx.ftz.bf16; subnormal operands and results count as zero.
func Ex2BF16(x uint16) uint16 { return cut16(BF16, Ex2Approx32(BF16ToF32(x), FTZ)) }

// TanhF16 is tanh.approx.f16: the f32 result cut.
func TanhF16(x uint16) uint16 { return cut16(F16, TanhApprox32(F16ToF32(x))) }

// TanhBF16 is tanh.approx.bf16: the f32 result cut.
func TanhBF16(x uint16) uint16 { return cut16(BF16, TanhApprox32(BF16ToF32(x))) }
