package num

// Order is the relation of two values, one bit each, so that a comparison of PTX is a mask: .lt is Less, .ltu is
// Less|Unordered, .ne is Less|Greater, .num is Less|Equal|Greater, .nan is Unordered.
type Order uint8

const (
	Less Order = 1 << iota
	Equal
	Greater
	Unordered
)

// Cmp32 orders two f32 values. With ftz, subnormals count as zero.
func Cmp32(a, b uint32, ftz bool) Order {
	if ftz {
		a, b = Flush32(a), Flush32(b)
	}
	return order(f32(a), f32(b))
}

// Cmp64 orders two f64 values.
func Cmp64(a, b uint64) Order { return order(f64(a), f64(b)) }

// CmpF16 orders two f16 values. With ftz, subnormals count as zero.
func CmpF16(a, b uint16, ftz bool) Order {
	if ftz {
		a, b = Flush16(a), Flush16(b)
	}
	return order(f32(F16ToF32(a)), f32(F16ToF32(b)))
}

// CmpBF16 orders two bf16 values.
func CmpBF16(a, b uint16) Order { return order(f32(BF16ToF32(a)), f32(BF16ToF32(b))) }

func order[T float32 | float64](a, b T) Order {
	switch {
	case a < b:
		return Less
	case a == b:
		return Equal
	case a > b:
		return Greater
	}
	return Unordered
}

// extremum is min and max (9.7.3.11, 9.7.3.12) on patterns of width w with the given infinity and canonical NaN:
// one NaN is ignored unless .NaN asks for it, -0 is below +0.
func extremum(a, b uint64, w uint, inf, canon uint64, larger bool, o Opt) uint64 {
	sign := uint64(1) << (w - 1)
	mag := sign - 1
	var xor uint64
	if o&XorSign != 0 {
		xor = (a ^ b) & sign
		a &= mag
		b &= mag
	}
	an, bn := a&mag > inf, b&mag > inf
	switch {
	case an && bn, (an || bn) && o&PropNaN != 0:
		return canon
	case an:
		return b | xor
	case bn:
		return a | xor
	}
	// Negative values order backwards.
	ka, kb := a^sign, b^sign
	if a&sign != 0 {
		ka = ^a & (sign | mag)
	}
	if b&sign != 0 {
		kb = ^b & (sign | mag)
	}
	if (ka < kb) == larger {
		a = b
	}
	return a | xor
}

// Min32 is min.f32. Options: FTZ, PropNaN, XorSign.
func Min32(a, b uint32, o Opt) uint32 { return extremum32(a, b, false, o) }

// Max32 is max.f32. Options: FTZ, PropNaN, XorSign.
func Max32(a, b uint32, o Opt) uint32 { return extremum32(a, b, true, o) }

func extremum32(a, b uint32, larger bool, o Opt) uint32 {
	if o&FTZ != 0 {
		a, b = Flush32(a), Flush32(b)
	}
	return uint32(extremum(uint64(a), uint64(b), 32, inf32, nan32, larger, o))
}

// Min3 is min.f32 with three operands (sm_100). Options: FTZ, PropNaN, and XorSign by the same steps.
func Min3(a, b, c uint32, o Opt) uint32 { return Min32(Min32(a, b, o), c, o) }

// Max3 is max.f32 with three operands (sm_100). Options: FTZ, PropNaN, and XorSign by the same steps.
func Max3(a, b, c uint32, o Opt) uint32 { return Max32(Max32(a, b, o), c, o) }

// Min64 is min.f64. With two NaNs the second survives, quiet (recorded).
func Min64(a, b uint64) uint64 { return extremum64(a, b, false) }

// Max64 is max.f64. With two NaNs the second survives, quiet (recorded).
func Max64(a, b uint64) uint64 { return extremum64(a, b, true) }

func extremum64(a, b uint64, larger bool) uint64 {
	return extremum(a, b, 64, inf64, b|quiet, larger, 0)
}

// MinF16 is min.f16. Options: FTZ, PropNaN, XorSign.
func MinF16(a, b uint16, o Opt) uint16 { return extremumF16(a, b, false, o) }

// MaxF16 is max.f16. Options: FTZ, PropNaN, XorSign.
func MaxF16(a, b uint16, o Opt) uint16 { return extremumF16(a, b, true, o) }

func extremumF16(a, b uint16, larger bool, o Opt) uint16 {
	if o&FTZ != 0 {
		a, b = Flush16(a), Flush16(b)
	}
	return uint16(extremum(uint64(a), uint64(b), 16, infF16, nan16, larger, o))
}

// MinBF16 is min.bf16. Options: PropNaN, XorSign.
func MinBF16(a, b uint16, o Opt) uint16 {
	return uint16(extremum(uint64(a), uint64(b), 16, infB16, nan16, false, o))
}

// MaxBF16 is max.bf16. Options: PropNaN, XorSign.
func MaxBF16(a, b uint16, o Opt) uint16 {
	return uint16(extremum(uint64(a), uint64(b), 16, infB16, nan16, true, o))
}

// Test is a property that testp asks for.
type Test uint8

const (
	TestFinite Test = iota
	TestInfinite
	TestNumber
	TestNotANumber
	TestNormal // zero counts as normal
	TestSubnormal
)

// Testp is testp.f32 (f F32) and testp.f64 (f F64).
func Testp(f Format, x uint64, t Test) bool {
	l := &layouts[f]
	m := x & (1<<(l.bits-1) - 1)
	switch t {
	case TestFinite:
		return m < l.inf
	case TestInfinite:
		return m == l.inf
	case TestNumber:
		return m <= l.inf
	case TestNotANumber:
		return m > l.inf
	case TestNormal:
		return m == 0 || m < l.inf && m >= 1<<l.man
	case TestSubnormal:
		return m != 0 && m < 1<<l.man
	}
	return false
}
