package num

import "math/bits"

// Round is a rounding direction of PTX.
type Round uint8

const (
	RN  Round = iota // .rn, .rni: to nearest, ties to even
	RZ               // .rz, .rzi: toward zero
	RM               // .rm, .rmi: toward minus infinity
	RP               // .rp, .rpi: toward plus infinity
	RNA              // .rna: to nearest, ties away from zero
)

var roundNames = [...]string{"rn", "rz", "rm", "rp", "rna"}

// String is the modifier's name without the dot.
func (r Round) String() string {
	if int(r) < len(roundNames) {
		return roundNames[r]
	}
	return "round?"
}

// Opt is the set of modifiers of one operation. A function ignores the bits that its instruction does not have.
type Opt uint8

const (
	FTZ       Opt = 1 << iota // .ftz: subnormal f32 (f16) operands and results become zero of the same sign
	Sat                       // .sat: clamp to [0, 1], NaN becomes +0
	Relu                      // .relu: negative results (and -0) become +0, NaN becomes the canonical NaN
	SatFinite                 // .satfinite: beyond the largest finite value (infinities too) becomes that value
	PropNaN                   // .NaN of min and max: a NaN operand gives the canonical NaN
	XorSign                   // .xorsign.abs of min and max
)

// Format is a floating-point format.
type Format uint8

const (
	F16 Format = iota
	BF16
	TF32 // in a 32-bit register, the low 13 bits zero
	F32
	F64
	E4M3
	E5M2
	E2M3
	E3M2
	E2M1
	UE8M0 // a power of two, no sign and no zero; only the pair conversions of cvt_pack.go know it
	numFormats
)

// layout describes a format. The encodings max, inf and nan are magnitudes in field units: without sign and
// without the low zero bits of TF32.
type layout struct {
	name string
	bits uint8 // width of the field, sign included
	man  uint8 // stored fraction bits
	low  uint8 // zero bits below the field
	bias int16
	max  uint64 // largest finite magnitude
	inf  uint64 // what an overflow gives: infinity where the format has one
	nan  uint64 // canonical NaN
}

// Encodings: PTX ISA 5.2.3 and IEEE 754. Canonical NaNs: as recorded on an H200.
// A format without infinity answers an overflow with its NaN (e4m3) or, lacking that too, its largest value.
var layouts = [numFormats]layout{
	F16:   {"f16", 16, 10, 0, 15, 0x7bff, 0x7c00, 0x7fff},
	BF16:  {"bf16", 16, 7, 0, 127, 0x7f7f, 0x7f80, 0x7fff},
	TF32:  {"tf32", 19, 10, 13, 127, 0x3fbff, 0x3fc00, 0x3ffff},
	F32:   {"f32", 32, 23, 0, 127, 0x7f7fffff, 0x7f800000, 0x7fffffff},
	F64:   {"f64", 64, 52, 0, 1023, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000},
	E4M3:  {"e4m3", 8, 3, 0, 7, 0x7e, 0x7f, 0x7f},
	E5M2:  {"e5m2", 8, 2, 0, 15, 0x7b, 0x7c, 0x7f},
	E2M3:  {"e2m3", 6, 3, 0, 1, 0x1f, 0x1f, 0x1f},
	E3M2:  {"e3m2", 6, 2, 0, 3, 0x1f, 0x1f, 0x1f},
	E2M1:  {"e2m1", 4, 1, 0, 1, 0x7, 0x7, 0x7},
	UE8M0: {"ue8m0", 8, 0, 0, 127, 0xfe, 0xff, 0xff},
}

// String is the type's name in PTX.
func (f Format) String() string {
	if f < numFormats {
		return layouts[f].name
	}
	return "format?"
}

// Bits is the width of the register that holds one value: 32 for TF32.
func (f Format) Bits() uint {
	l := &layouts[f]
	return uint(l.bits + l.low)
}

// NaN is the canonical NaN as silicon returns it; the largest value in a format without NaN.
func (f Format) NaN() uint64 {
	l := &layouts[f]
	return l.nan << l.low
}

// Max is the largest finite value.
func (f Format) Max() uint64 {
	l := &layouts[f]
	return l.max << l.low
}

// IsNaN reports whether x encodes a NaN of f.
func (f Format) IsNaN(x uint64) bool {
	l := &layouts[f]
	m := x >> l.low & (1<<(l.bits-1) - 1)
	if f == UE8M0 {
		return x&0xff == 0xff
	}
	return m > l.inf || f == E4M3 && m == 0x7f
}

type class uint8

const (
	zero class = iota
	finite
	infinite
	nan
)

// number is an unpacked value. For class finite it is m * 2^exp with the top bit of m set.
type number struct {
	class class
	neg   bool
	exp   int32
	m     uint64
}

// unpack takes x apart; x's bits above the format are ignored.
func (f Format) unpack(x uint64) number {
	l := &layouts[f]
	x >>= l.low
	n := number{neg: x>>(l.bits-1)&1 != 0}
	mag := x & (1<<(l.bits-1) - 1)
	if mag > l.max {
		n.class = infinite
		if mag > l.inf || f == E4M3 {
			n.class = nan
		}
		return n
	}
	if mag == 0 {
		return n
	}
	n.class = finite
	be := int32(mag >> l.man)
	m := mag & (1<<l.man - 1)
	if be == 0 {
		be = 1
	} else {
		m |= 1 << l.man
	}
	s := bits.LeadingZeros64(m)
	n.m = m << s
	n.exp = be - int32(l.bias) - int32(l.man) - int32(s)
	return n
}

// RoundTo rounds the value m * 2^exp, negative if neg, to format f and returns its encoding: the one rounding step that
// everything in this package shares. m must not be zero. Bit 0 of m may be sticky (stand for any nonzero amount
// below it) when m has two bits more than the format's precision; the exact engine's results do.
// An overflow gives infinity or the largest finite value, as the direction says.
func RoundTo(f Format, neg bool, exp int, m uint64, r Round) uint64 {
	l := &layouts[f]
	s := bits.LeadingZeros64(m)
	m <<= s
	exp -= s
	// The leading bit weighs 2^(exp+63).
	be := exp + 63 + int(l.bias)
	shift := uint(63 - l.man)
	if be < 1 {
		shift += uint(1 - be)
		be = 1
	}
	var q, rest, half uint64 // kept, dropped, half of a unit of q
	switch {
	case shift < 64:
		q, rest, half = m>>shift, m&(1<<shift-1), 1<<(shift-1)
	case shift == 64:
		rest, half = m, 1<<63
	default:
		rest, half = 1, 2
	}
	if rest != 0 && roundsUp(r, neg, q&1 != 0, rest, half) {
		q++
	}
	mag := q + uint64(be-1)<<l.man
	if be > 1<<(l.bits-1-l.man) || mag > l.max {
		mag = l.inf
		if r == RZ || r == RM && !neg || r == RP && neg {
			mag = l.max
		}
	}
	if neg {
		mag |= 1 << (l.bits - 1)
	}
	return mag << l.low
}

// roundsUp says whether a magnitude with the nonzero remainder rest grows by one unit.
func roundsUp(r Round, neg, odd bool, rest, half uint64) bool {
	switch r {
	case RN:
		return rest > half || rest == half && odd
	case RNA:
		return rest >= half
	case RM:
		return neg
	case RP:
		return !neg
	}
	return false
}

// RoundStochastic is RoundTo for .rs (PTX ISA 9.7.9.21): the low n bits of random, aligned with the top of the
// dropped bits, are added to them, and a carry moves the result away from zero. The manual fixes this for normal
// results; that a subnormal result aligns the same way is this package's reading.
func RoundStochastic(f Format, neg bool, exp int, m uint64, random uint32, n uint) uint64 {
	l := &layouts[f]
	s := bits.LeadingZeros64(m)
	m <<= s
	exp -= s
	be := exp + 63 + int(l.bias)
	shift := uint(63 - l.man)
	if be < 1 {
		shift += uint(1 - be)
		be = 1
	}
	rnd := uint64(random) & (1<<n - 1) << (64 - n)
	var q, rest uint64 // rest is aligned so that one unit of q is 2^64
	switch {
	case shift < 64:
		q, rest = m>>shift, m<<(64-shift)
	case shift < 128:
		rest = m >> (shift - 64)
	}
	_, carry := bits.Add64(rest, rnd, 0)
	mag := q + carry + uint64(be-1)<<l.man
	if be > 1<<(l.bits-1-l.man) || mag > l.max {
		mag = l.inf
	}
	if neg {
		mag |= 1 << (l.bits - 1)
	}
	return mag << l.low
}

// pack encodes n, rounding in direction r; a NaN becomes the canonical one.
func (f Format) pack(n number, r Round) uint64 {
	l := &layouts[f]
	var mag uint64
	switch n.class {
	case finite:
		return RoundTo(f, n.neg, int(n.exp), n.m, r)
	case infinite:
		mag = l.inf
	case nan:
		return l.nan << l.low
	}
	if n.neg {
		mag |= 1 << (l.bits - 1)
	}
	return mag << l.low
}
