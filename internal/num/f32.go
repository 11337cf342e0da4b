package num

import "math"

const (
	sign32 = 1 << 31
	mag32  = sign32 - 1
	inf32  = 0x7f800000
	nan32  = 0x7fffffff // what f32 operations return for every NaN (recorded on an H200)
	min32  = 0x00800000 // smallest normal
	one32  = 0x3f800000

	sign64 = 1 << 63
	mag64  = sign64 - 1
	inf64  = 0x7ff0000000000000
	quiet  = 0x0008000000000000
)

func f32(b uint32) float32 { return math.Float32frombits(b) }
func b32(f float32) uint32 { return math.Float32bits(f) }
func f64(b uint64) float64 { return math.Float64frombits(b) }
func b64(f float64) uint64 { return math.Float64bits(f) }

// Flush32 turns a subnormal into a zero of the same sign.
func Flush32(x uint32) uint32 {
	if x&inf32 == 0 {
		return x & sign32
	}
	return x
}

// Sat32 clamps to [0, 1]; NaN and -0 become +0.
func Sat32(x uint32) uint32 {
	if x > inf32 { // NaN, or negative
		return 0
	}
	return min(x, one32)
}

// canon32 encodes f with the canonical NaN.
func canon32(f float32) uint32 {
	if f != f {
		return nan32
	}
	return b32(f)
}

// finish32 applies .ftz and .sat to a result.
func finish32(z uint32, o Opt) uint32 {
	if o&FTZ != 0 {
		z = Flush32(z)
	}
	if o&Sat != 0 {
		z = Sat32(z)
	}
	return z
}

// ftz32 flushes a result z of exact value n. What counts is the value rounded as if the exponent had no lower limit: a
// result that only reached the smallest normal number by rounding in the subnormal range is flushed too (recorded for
// div.rp.ftz; hosts with a flush mode in hardware agree).
func ftz32(z uint32, n number, r Round) uint32 {
	if z&mag32 == min32 && n.class == finite && n.exp+63 < -126 {
		if n.exp+63 < -127 {
			return z & sign32
		}
		n.exp += 64
		if F32.pack(n, r)&mag32 < min32+64<<23 {
			return z & sign32
		}
	}
	return Flush32(z)
}

// AddRN32 is add.rn.f32.
func AddRN32(a, b uint32) uint32 { return canon32(f32(a) + f32(b)) }

// SubRN32 is sub.rn.f32.
func SubRN32(a, b uint32) uint32 { return canon32(f32(a) - f32(b)) }

// MulRN32 is mul.rn.f32.
func MulRN32(a, b uint32) uint32 { return canon32(float32(f32(a) * f32(b))) }

// FmaRN32 is fma.rn.f32. The product is exact in f64; rounding the f64 sum again goes wrong only if that sum is a
// tie (or a value) of f32, and those have their low 28 bits clear.
func FmaRN32(a, b, c uint32) uint32 {
	s := float64(float64(f32(a))*float64(f32(b))) + float64(f32(c))
	if b64(s)&(1<<28-1) != 0 {
		return canon32(float32(s))
	}
	return fmaHard32(a, b, c)
}

func fmaHard32(a, b, c uint32) uint32 {
	return canon32(float32(sumOdd(float64(float64(f32(a))*float64(f32(b))), float64(f32(c)))))
}

// sumOdd is x + y rounded to odd: toward zero, with the last bit set if inexact. Such a sum can be rounded
// once more, to a format with at least two bits less, in any direction and still be right.
// The operands must be far from f64's limits, as products and values of narrower formats are.
func sumOdd(x, y float64) float64 {
	s := x + y
	v := s - x
	e := (x - (s - v)) + (y - v)
	if e == 0 || s-s != 0 {
		return s
	}
	u := b64(s)
	if u&1 == 0 {
		if (b64(e)^u)>>63 == 0 {
			u++
		} else {
			u--
		}
	}
	return f64(u)
}

// zeroSum gives an exact zero sum of x and y its sign: that of both, or minus when rounding down.
func zeroSum(x, y float64, r Round) uint32 {
	if b64(x) == b64(y) && x == 0 {
		return uint32(b64(x) >> 32)
	}
	if r == RM {
		return sign32
	}
	return 0
}

// narrow32 rounds an f64 that is exact or rounded to odd.
func narrow32(x float64, r Round) uint32 {
	if r == RN {
		return canon32(float32(x))
	}
	return uint32(F32.pack(F64.unpack(b64(x)), r))
}

// Add32 is add.f32. Options: FTZ, Sat.
func Add32(a, b uint32, r Round, o Opt) uint32 {
	if o&FTZ != 0 {
		a, b = Flush32(a), Flush32(b)
	}
	var z uint32
	if r == RN {
		z = AddRN32(a, b)
	} else {
		x, y := float64(f32(a)), float64(f32(b))
		if s := sumOdd(x, y); s == 0 {
			z = zeroSum(x, y, r)
		} else {
			z = narrow32(s, r)
		}
	}
	if o == 0 {
		return z
	}
	return finish32(z, o)
}

// Sub32 is sub.f32. Options: FTZ, Sat.
func Sub32(a, b uint32, r Round, o Opt) uint32 { return Add32(a, b^sign32, r, o) }

// Mul32 is mul.f32. Options: FTZ, Sat.
func Mul32(a, b uint32, r Round, o Opt) uint32 {
	if o&FTZ != 0 {
		a, b = Flush32(a), Flush32(b)
	}
	var z uint32
	if r == RN {
		z = MulRN32(a, b)
	} else {
		z = narrow32(float64(f32(a))*float64(f32(b)), r)
	}
	if o == 0 {
		return z
	}
	if o&FTZ != 0 && z&mag32 == min32 {
		z = ftz32(z, mulNum(F32.unpack(uint64(a)), F32.unpack(uint64(b))), r)
	}
	return finish32(z, o)
}

// Fma32 is fma.f32 and mad.f32. Options: FTZ, Sat.
func Fma32(a, b, c uint32, r Round, o Opt) uint32 {
	if o&FTZ != 0 {
		a, b, c = Flush32(a), Flush32(b), Flush32(c)
	}
	var z uint32
	if r == RN {
		z = FmaRN32(a, b, c)
	} else {
		p, y := float64(float64(f32(a))*float64(f32(b))), float64(f32(c))
		if s := sumOdd(p, y); s == 0 {
			z = zeroSum(p, y, r)
		} else {
			z = narrow32(s, r)
		}
	}
	if o == 0 {
		return z
	}
	if o&FTZ != 0 && z&mag32 == min32 {
		z = ftz32(z, fmaNum(F32.unpack(uint64(a)), F32.unpack(uint64(b)), F32.unpack(uint64(c)), r), r)
	}
	return finish32(z, o)
}

// Div32 is div.rnd.f32. Options: FTZ.
func Div32(a, b uint32, r Round, o Opt) uint32 {
	if o&FTZ != 0 {
		a, b = Flush32(a), Flush32(b)
	}
	x, y := f32(a), f32(b)
	z := canon32(x / y)
	if r != RN && x-x == 0 && y-y == 0 && x != 0 && y != 0 {
		// |q*b| against |a| tells on which side of the quotient q lies; the product is exact in f64.
		p := math.Abs(float64(f32(z)) * float64(y))
		z = direct32(z, p-math.Abs(float64(x)), r)
	}
	if o&FTZ != 0 {
		z = ftz32(z, divNum(F32.unpack(uint64(a)), F32.unpack(uint64(b))), r)
	}
	return z
}

// direct32 turns a nearest result into one rounded in direction r; excess has the sign of |z| - |exact|.
func direct32(z uint32, excess float64, r Round) uint32 {
	neg := z>>31 != 0
	up := r == RP && !neg || r == RM && neg
	switch {
	case excess > 0 && !up:
		return z - 1
	case excess < 0 && up:
		return z + 1
	}
	return z
}

// Rcp32 is rcp.rnd.f32. Options: FTZ.
func Rcp32(a uint32, r Round, o Opt) uint32 { return Div32(one32, a, r, o) }

// Sqrt32 is sqrt.rnd.f32. Options: FTZ.
func Sqrt32(a uint32, r Round, o Opt) uint32 {
	if o&FTZ != 0 {
		a = Flush32(a)
	}
	x := float64(f32(a))
	z := canon32(float32(math.Sqrt(x)))
	if r != RN && x-x == 0 && x > 0 {
		s := float64(f32(z))
		z = direct32(z, float64(s*s)-x, r)
	}
	return z
}

// Abs32 is abs.f32; a NaN becomes the canonical one. Options: FTZ.
func Abs32(a uint32, o Opt) uint32 {
	if o&FTZ != 0 {
		a = Flush32(a)
	}
	if a &= mag32; a > inf32 {
		return nan32
	}
	return a
}

// Neg32 is neg.f32; a NaN becomes the canonical one. Options: FTZ.
func Neg32(a uint32, o Opt) uint32 {
	if o&FTZ != 0 {
		a = Flush32(a)
	}
	if a&mag32 > inf32 {
		return nan32
	}
	return a ^ sign32
}

// Copysign32 is copysign.f32: the sign of a on the value of b, payloads kept.
func Copysign32(a, b uint32) uint32 { return b&mag32 | a&sign32 }
