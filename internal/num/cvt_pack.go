package num

// Conversions to and from the formats of eight bits and less. One element a call; pairs are packed by CvtPair and its
// kin.
//
// e4m3 and e5m2 behave as recorded on an H200. The formats of six and four bits, ue8m0 and .rs need sm_100 and follow
// the text of PTX ISA 9.0, 9.7.9.21; no silicon confirmed them here.

// ToMini is cvt.rn.satfinite to E4M3, E5M2, E2M3, E3M2 or E2M1 from F32, F16 or BF16. A NaN gives 0x7f, or the largest
// value where the format has no NaN. Options: Relu.
func ToMini(dst, src Format, x uint64, o Opt) uint8 {
	n := src.unpack(x)
	if n.class == nan {
		return uint8(layouts[dst].nan)
	}
	return finishMini(dst, n.neg, dst.pack(n, RN), o)
}

// ToMiniRS is cvt.rs.satfinite from F32, with the low n bits of random. Options: Relu.
func ToMiniRS(dst Format, x uint32, random uint32, n uint, o Opt) uint8 {
	v := F32.unpack(uint64(x))
	switch v.class {
	case nan:
		return uint8(layouts[dst].nan)
	case finite:
		return finishMini(dst, v.neg, RoundStochastic(dst, v.neg, int(v.exp), v.m, random, n), o)
	}
	return finishMini(dst, v.neg, dst.pack(v, RZ), o)
}

func finishMini(dst Format, neg bool, z uint64, o Opt) uint8 {
	l := &layouts[dst]
	sign := uint64(1) << (l.bits - 1)
	if neg && o&Relu != 0 {
		return 0
	}
	if z&^sign >= l.inf {
		z = z&sign | l.max
	}
	return uint8(z)
}

// MiniToF16 is cvt.rn.f16 from E4M3, E5M2, E2M3, E3M2 or E2M1; exact. Options: Relu.
func MiniToF16(src Format, x uint8, o Opt) uint16 {
	return finish16(uint16(F16.pack(src.unpack(uint64(x)), RN)), o&Relu)
}

// ToUE8M0 is cvt.rz and cvt.rp to ue8m0 from F32 or BF16: the sign is ignored, the value rounded down or up to a power
// of two. Zero and everything below 2^-127 rounded down give the smallest, 2^-127. A NaN gives 0xff, and so does an
// infinity or an overflow unless .satfinite asks for 0xfe. Options: SatFinite.
func ToUE8M0(src Format, x uint64, r Round, o Opt) uint8 {
	n := src.unpack(x)
	over := uint8(0xff)
	if o&SatFinite != 0 {
		over = 0xfe
	}
	switch n.class {
	case zero:
		return 0
	case nan:
		return 0xff
	case infinite:
		return over
	}
	e := int(n.exp) + 63 + 127
	if r == RP && n.m != 1<<63 {
		e++
	}
	switch {
	case e > 0xfe:
		return over
	case e < 0:
		return 0
	}
	return uint8(e)
}

// UE8M0ToBF16 is cvt.rn.bf16 from ue8m0; exact. 0 is the subnormal 2^-127, 0xff the canonical NaN.
func UE8M0ToBF16(x uint8) uint16 {
	switch x {
	case 0:
		return 0x40
	case 0xff:
		return nan16
	}
	return uint16(x) << 7
}

// PairToMini is cvt.rn.satfinite to a pair from two F32: hi in the upper half. A half is 8 bits, with two zero bits on
// top for six-bit formats; E2M1 halves are 4 bits. Options: Relu.
func PairToMini(dst Format, hi, lo uint32, o Opt) uint16 {
	return joinMini(dst, ToMini(dst, F32, uint64(hi), o), ToMini(dst, F32, uint64(lo), o))
}

// HalvesToMini is cvt.rn.satfinite to a pair from a packed pair of src, F16 or BF16. Options: Relu.
func HalvesToMini(dst, src Format, x uint32, o Opt) uint16 {
	return joinMini(dst, ToMini(dst, src, uint64(x>>16), o), ToMini(dst, src, uint64(x&0xffff), o))
}

func joinMini(dst Format, hi, lo uint8) uint16 {
	if dst == E2M1 {
		return uint16(hi)<<4 | uint16(lo)
	}
	return uint16(hi)<<8 | uint16(lo)
}

// MiniToHalves is cvt.rn.f16x2 from a pair. Options: Relu.
func MiniToHalves(src Format, x uint16, o Opt) uint32 {
	hi, lo := uint8(x>>8), uint8(x)
	if src == E2M1 {
		hi, lo = uint8(x>>4), uint8(x)
	}
	return uint32(MiniToF16(src, hi, o))<<16 | uint32(MiniToF16(src, lo, o))
}

// QuadToMini is cvt.rs.satfinite to four elements from {a, b, e, f}, a uppermost. Of the random bits a and b use the
// upper half and e and f the lower; for E2M1 a and b use the upper byte of each half, e and f the lower bytes. That two
// elements share their bits unchanged is this package's reading of the manual. Options: Relu.
func QuadToMini(dst Format, v [4]uint32, random uint32, o Opt) uint32 {
	up, down := random>>16, random&0xffff
	step := uint(8)
	if dst == E2M1 {
		up, down = up&0xff00|down>>8, up<<8&0xff00|down&0xff
		step = 4
	}
	var z uint32
	for i, x := range v {
		rnd := up
		if i >= 2 {
			rnd = down
		}
		z = z<<step | uint32(ToMiniRS(dst, x, rnd, 16, o))
	}
	return z
}

// CvtRS is cvt.rs from F32 to F16 or BF16. The manual gives F16 the low 13 bits of a 16-bit half of rbits and BF16 all
// 16; random is that half. Options: Relu, SatFinite.
func CvtRS(dst Format, x uint32, random uint16, o Opt) uint16 {
	bits := uint(16)
	if dst == F16 {
		bits = 13
	}
	n := F32.unpack(uint64(x))
	var z uint64
	if n.class == finite {
		z = RoundStochastic(dst, n.neg, int(n.exp), n.m, uint32(random), bits)
	} else {
		z = dst.pack(n, RZ)
	}
	return uint16(finishCvt(dst, z, o&(Relu|SatFinite)))
}
