package num

// CvtFloat is cvt between two of F16, BF16, TF32 (as destination), F32 and F64, also of equal size, without integer
// rounding. Options: FTZ (f32 operand and result; silicon does not flush the operand of cvt.f16.f32), Sat, Relu,
// SatFinite. A widening conversion is exact and ignores r.
func CvtFloat(dst, src Format, x uint64, r Round, o Opt) uint64 {
	if src == F32 && dst != F16 && o&FTZ != 0 {
		x = uint64(Flush32(uint32(x)))
	}
	var z uint64
	switch {
	case dst == TF32:
		return cvtTF32(uint32(x), r, o)
	case src == BF16 && dst == F32 && o&FTZ == 0:
		z = x << 16 // payload and signalling bit survive
	case src == dst && src >= F32 && o&FTZ == 0:
		z = x // the compiler makes it a move
	default:
		n := src.unpack(x)
		if n.class == nan {
			z = cvtNaN(dst, src, x, o)
		} else {
			z = dst.pack(n, r)
		}
	}
	return finishCvt(dst, z, o)
}

// finishCvt applies the modifiers to an encoded result.
func finishCvt(dst Format, z uint64, o Opt) uint64 {
	if o == 0 {
		return z
	}
	l := &layouts[dst]
	sign := uint64(1) << (l.bits - 1)
	if dst == F32 && o&FTZ != 0 {
		z = uint64(Flush32(uint32(z)))
	}
	if o&SatFinite != 0 && z&^sign == l.inf {
		z = z&sign | l.max
	}
	if o&Relu != 0 {
		switch {
		case z&^sign > l.inf:
			z = l.nan
		case z&sign != 0:
			z = 0
		}
	}
	if o&Sat != 0 {
		if z > l.inf {
			return 0
		}
		z = min(z, uint64(l.bias)<<l.man)
	}
	return z
}

// cvtNaN converts a NaN: to and from f64 the sign and the payload's top bits stay and it becomes quiet; everywhere
// else, and under .ftz where f32 takes part, the canonical NaN comes out.
func cvtNaN(dst, src Format, x uint64, o Opt) uint64 {
	d, s := &layouts[dst], &layouts[src]
	if dst != F64 && src != F64 {
		return d.nan
	}
	if src == F32 && o&FTZ != 0 {
		x = s.nan
	}
	frac := x & (1<<s.man - 1) << (64 - s.man) >> (64 - d.man)
	neg := x >> (s.bits - 1) & 1
	return neg<<(d.bits-1) | d.inf | frac | 1<<(d.man-1)
}

// cvtTF32 is cvt.tf32.f32. The .rna form works on the bare pattern: a NaN or an infinity only loses its low 13 bits, so
// that a small payload becomes an infinity, and .satfinite takes one unit off whatever has the highest exponent
// (recorded).
func cvtTF32(x uint32, r Round, o Opt) uint64 {
	const unit = 1 << 13
	if r == RNA {
		if x&inf32 != inf32 {
			x += unit / 2
		}
		x &^= unit - 1
		if o&SatFinite != 0 && x&inf32 == inf32 {
			x -= unit
		}
		return uint64(x)
	}
	z := TF32.pack(F32.unpack(uint64(x)), r)
	return finishCvt(TF32, z>>13, o) << 13
}

// RoundInt is cvt with integer rounding (.rni .rzi .rmi .rpi) between equal formats F16, BF16, F32, F64: the value
// rounded to an integer, a zero keeping the operand's sign. Options: FTZ, Sat.
func RoundInt(f Format, x uint64, r Round, o Opt) uint64 {
	if f == F32 && o&FTZ != 0 {
		x = uint64(Flush32(uint32(x)))
	}
	l := &layouts[f]
	sign := uint64(1) << (l.bits - 1)
	mag := x & (sign - 1)
	var z uint64
	switch {
	case mag > l.inf:
		z = l.nan
		if f == F64 {
			z = x | quiet
		}
	case mag >= uint64(l.bias+int16(l.man))<<l.man || mag == 0:
		z = x // already an integer, or infinite
	default:
		neg := x&sign != 0
		if e := int(mag>>l.man) - int(l.bias); e < 0 {
			// Below 1: all remainder, one half if e is -1 and the fraction is zero.
			rest, half := uint64(1), uint64(2)
			if e == -1 {
				rest, half = mag&(1<<l.man-1)+1, 1
			}
			if roundsUp(r, neg, false, rest, half) {
				z = uint64(l.bias) << l.man
			}
		} else {
			shift := uint(int(l.man) - e)
			rest := mag & (1<<shift - 1)
			odd := e == 0 || mag>>shift&1 != 0 // the unit of [1, 2) is the implicit bit
			z = mag - rest
			if rest != 0 && roundsUp(r, neg, odd, rest, 1<<(shift-1)) {
				z += 1 << shift
			}
		}
		z |= x & sign
	}
	return finishCvt(f, z, o)
}
