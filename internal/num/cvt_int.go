package num

// FromInt is cvt from a signed integer to F16, BF16, F32 or F64. Options: Sat.
func FromInt(f Format, v int64, r Round, o Opt) uint64 {
	if v < 0 {
		return finishCvt(f, RoundTo(f, true, 0, -uint64(v), r), o&Sat)
	}
	return FromUint(f, uint64(v), r, o)
}

// FromUint is cvt from an unsigned integer to F16, BF16, F32 or F64. Options: Sat.
func FromUint(f Format, v uint64, r Round, o Opt) uint64 {
	if v == 0 {
		return 0
	}
	return finishCvt(f, RoundTo(f, false, 0, v, r), o&Sat)
}

// ToInt is cvt from F16, BF16, F32 or F64 to an integer of width bits (8, 16, 32, 64), signed or not. The result is
// extended to 64 bits as a wider destination register is: by the sign if signed, with zeros otherwise. Values out of
// range clamp, with or without .sat. A NaN gives 0, or the value with only the top bit set when a 64-bit type takes
// part (9.7.9.21, Integer Notes). Options: FTZ.
func ToInt(f Format, x uint64, r Round, o Opt, width uint, signed bool) uint64 {
	if f == F32 && o&FTZ != 0 {
		x = uint64(Flush32(uint32(x)))
	}
	n := f.unpack(x)
	switch n.class {
	case zero:
		return 0
	case nan:
		if f != F64 && width != 64 {
			return 0
		}
		z := uint64(1) << (width - 1)
		if signed {
			z = -z
		}
		return z
	}
	top := ^uint64(0) >> (64 - width) // largest magnitude of the sign at hand
	if signed {
		top >>= 1
		if n.neg {
			top++
		}
	} else if n.neg {
		top = 0
	}
	v := top
	if n.class == finite && n.exp <= 0 {
		v = integral(n, r)
		v = min(v, top)
	}
	if n.neg {
		v = -v
	}
	return v
}

// integral rounds m * 2^exp, exp <= 0, to an integer.
func integral(n number, r Round) uint64 {
	shift := uint(-n.exp)
	var q, rest, half uint64
	switch {
	case shift == 0:
		return n.m
	case shift < 64:
		q, rest, half = n.m>>shift, n.m&(1<<shift-1), 1<<(shift-1)
	case shift == 64:
		rest, half = n.m, 1<<63
	default:
		rest, half = 1, 2
	}
	if rest != 0 && roundsUp(r, n.neg, q&1 != 0, rest, half) {
		q++ // cannot wrap: with a remainder, q has at most 63 bits
	}
	return q
}

// CvtPack is cvt.pack.sat (9.7.9.22): a and b clamped to width bits, b lowest; below 16 bits the old contents c move up
// above them.
func CvtPack(a, b int32, c uint32, width uint, signed bool) uint32 {
	lo, hi := int32(0), int32(1)<<width-1
	if signed {
		lo, hi = -1<<(width-1), 1<<(width-1)-1
	}
	mask := uint32(1)<<width - 1
	z := uint32(max(lo, min(a, hi)))&mask<<width | uint32(max(lo, min(b, hi)))&mask
	return c<<(2*width) | z
}
