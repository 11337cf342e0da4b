package kernels

import "math"

// Mix is the finalizer of splitmix64 that hashes and arguments are made with.
func Mix(h uint64) uint64 {
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}

var specialFloats = [16]uint32{0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 1,
	0x807fffff, 0x00800000, 0x7f7fffff, 0x3f000000, 0x40000000, 0x40490fdb, 0xc1200000, 0x4b000001}

var specialDoubles = [16]uint32{0, 0x80000000, 0x3ff00000, 0xbff00000, 0x7ff00000, 0xfff00000, 0x7ff80000, 0,
	0x800fffff, 0x00100000, 0x7fefffff, 0x3fe00000, 0x40000000, 0x400921fb, 0xc0240000, 0x43300000}

var specialInts = [16]uint64{0, math.MaxUint64, 1, 2, 31, 32, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 63,
	math.MaxInt64, 127, 255, 65535}

func special(t byte, k uint32) uint64 {
	k &= 15
	switch t {
	case 'f':
		return uint64(specialFloats[k])
	case 'd':
		v := uint64(specialDoubles[k]) << 32
		if k == 7 {
			v |= 1
		}
		return v
	}
	return specialInts[k]
}

// Tuple returns word slot of tuple n of a sequence, a value of type t: any bits, one near 1, one in a wide range, or a
// special one. It is generate of internal/tools/devlibrecord/record.cu.
func Tuple(t byte, seed, n uint64, slot int) uint64 {
	h := Mix(seed + n*0x9e3779b97f4a7c15 + uint64(slot)*0xd1342543de82ef95 + 1)
	g := Mix(h + 0x632be59bd9b4e019)
	c := h & 7
	width := func(narrow, wide uint64) uint64 {
		switch {
		case c < 2:
			return 0
		case c < 5:
			return narrow
		}
		return wide
	}
	var v uint64
	switch {
	case t == 'n':
		return g % 5
	case t == 'k':
		return g % 129
	case c == 7:
		v = special(t, uint32(h>>8))
	case t == 'f':
		v = g & 0xffffffff
		if w := width(8, 40); w != 0 {
			v = v&0x807fffff | (127-w+uint64(uint32(g>>40))%(2*w))<<23
		}
	case t == 'd':
		v = g
		if w := width(8, 120); w != 0 {
			v = v&0x800fffffffffffff | (1023-w+(h>>16)%(2*w))<<52
		}
	case c < 4:
		v = g
	case c < 6:
		v = g%64 - 32
	default:
		v = g >> (h >> 16 & 63)
	}
	switch t {
	case 'i', 'u', 'f':
		v &= 0xffffffff
	case 'h':
		v &= 0xffff
	}
	return v
}

// NaN says whether a word of type t is not a number.
func NaN(t byte, v uint64) bool {
	switch t {
	case 'f':
		return v&0x7fffffff > 0x7f800000
	case 'd':
		return v&math.MaxInt64 > 0x7ff0000000000000
	}
	return false
}

// Distance returns how many values of type t lie from a to b, numbers of floating point that is; of integers, the
// difference.
func Distance(t byte, a, b uint64) uint64 {
	if t == 'L' {
		return max(a, b) - min(a, b)
	}
	p, q := place(t, a), place(t, b)
	return uint64(max(p, q)) - uint64(min(p, q))
}

func place(t byte, v uint64) int64 {
	switch t {
	case 'f':
		if i := int32(v); i < 0 {
			return -int64(i & math.MaxInt32)
		}
		return int64(int32(v))
	case 'd':
		if i := int64(v); i < 0 {
			return -(i & math.MaxInt64)
		}
	case 'i':
		return int64(int32(v))
	}
	return int64(v)
}

// What the repository keeps of a recording (testdata): results of the first Samples tuples of seed 1, and for functions
// of one argument of 32 bits the hash of all arguments and of some groups of HashGroup.
const (
	Samples   = 512
	HashGroup = 1 << 22
)

// HashGroups returns the numbers of the groups whose hashes are kept: every sixteenth, and those with infinities and
// what is not a number.
func HashGroups() []int {
	var list []int
	for i := 0; i < 1<<32/HashGroup; i += 16 {
		list = append(list, i)
	}
	return append(list, 510, 511, 1022, 1023)
}

// Width is the size in bytes of a result of type t in the kept samples.
func Width(t byte) int {
	switch t {
	case 'd', 'l', 'L':
		return 8
	}
	return 4
}

// Hash is what the results of an argument add to the hash of a group.
func Hash(in uint64, out []uint64) uint64 {
	r := out[0]
	for _, o := range out[1:] {
		r = r*0x9e3779b97f4a7c15 + o
	}
	return Mix(Mix(in) ^ r)
}
