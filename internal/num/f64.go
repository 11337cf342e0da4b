package num

import "math"

const (
	// What an invalid f64 operation returns (recorded on an H200).
	invalid64 = 0xfff8000000000000
	one64     = 0x3ff0000000000000
)

func isNaN64(x uint64) bool { return x&mag64 > inf64 }

// nan64 picks the NaN that an f64 operation hands on: quiet, its sign and payload kept. The order is the caller's:
// for sums, products and fused operations the second operand, then the third, then the first; for division the
// dividend first. So did every recorded case of the optimising compiler, which may swap operands.
func nan64(x, y, z uint64) (uint64, bool) {
	switch {
	case isNaN64(x):
		return x | quiet, true
	case isNaN64(y):
		return y | quiet, true
	case isNaN64(z):
		return z | quiet, true
	}
	return 0, false
}

// pack64 rounds n; an invalid operation's NaN is negative.
func pack64(n number, r Round) uint64 {
	if n.class == nan {
		return invalid64
	}
	return F64.pack(n, r)
}

func canon64(f float64) uint64 {
	if f != f {
		return invalid64
	}
	return b64(f)
}

// Add64 is add.f64.
func Add64(a, b uint64, r Round) uint64 {
	if z, ok := nan64(b, a, 0); ok {
		return z
	}
	if r == RN {
		return canon64(f64(a) + f64(b))
	}
	return pack64(addNum(F64.unpack(a), F64.unpack(b), r), r)
}

// Sub64 is sub.f64.
func Sub64(a, b uint64, r Round) uint64 {
	if z, ok := nan64(b, a, 0); ok {
		return z
	}
	return Add64(a, b^sign64, r)
}

// Mul64 is mul.f64.
func Mul64(a, b uint64, r Round) uint64 {
	if z, ok := nan64(b, a, 0); ok {
		return z
	}
	if r == RN {
		return canon64(float64(f64(a) * f64(b)))
	}
	return pack64(mulNum(F64.unpack(a), F64.unpack(b)), r)
}

// Fma64 is fma.f64 and mad.f64.
func Fma64(a, b, c uint64, r Round) uint64 {
	if z, ok := nan64(b, c, a); ok {
		return z
	}
	if r == RN {
		return canon64(math.FMA(f64(a), f64(b), f64(c)))
	}
	return pack64(fmaNum(F64.unpack(a), F64.unpack(b), F64.unpack(c), r), r)
}

// Div64 is div.rnd.f64.
func Div64(a, b uint64, r Round) uint64 {
	if z, ok := nan64(a, b, 0); ok {
		return z
	}
	if r == RN {
		return canon64(f64(a) / f64(b))
	}
	return pack64(divNum(F64.unpack(a), F64.unpack(b)), r)
}

// Rcp64 is rcp.rnd.f64.
func Rcp64(a uint64, r Round) uint64 { return Div64(one64, a, r) }

// Sqrt64 is sqrt.rnd.f64.
func Sqrt64(a uint64, r Round) uint64 {
	if z, ok := nan64(a, 0, 0); ok {
		return z
	}
	if r == RN {
		return canon64(math.Sqrt(f64(a)))
	}
	return pack64(sqrtNum(F64.unpack(a)), r)
}

// Abs64 is abs.f64; a NaN becomes quiet and keeps its sign.
func Abs64(a uint64) uint64 {
	if isNaN64(a) {
		return a | quiet
	}
	return a & mag64
}

// Neg64 is neg.f64; a NaN becomes quiet and keeps its sign.
func Neg64(a uint64) uint64 {
	if isNaN64(a) {
		return a | quiet
	}
	return a ^ sign64
}

// Copysign64 is copysign.f64: the sign of a on the value of b, payloads kept.
func Copysign64(a, b uint64) uint64 { return b&mag64 | a&sign64 }

// Sat64 clamps to [0, 1]; NaN and -0 become +0.
func Sat64(x uint64) uint64 {
	if x > inf64 {
		return 0
	}
	return min(x, one64)
}
