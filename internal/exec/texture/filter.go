package texture

import (
	"math"
	"math/bits"
)

// up and down are the share f/256 of a weight, a half rounded up and down.
func up(w, f int32) int32   { return (w*f + 128) >> 8 }
func down(w, f int32) int32 { return (w*f + 127) >> 8 }

// weights splits 256 among the eight texels of a footprint, x fastest, then y, then z; unused dimensions have weight 0.
func weights(x, y, z int32) (w [8]int32) {
	x1 := up(z, x)
	for k, part := range [2][2]int32{{256 - z - (x - x1), x - x1}, {z - x1, x1}} {
		y0, y1 := down(part[0], y), up(part[1], y)
		w[4*k], w[4*k+1], w[4*k+2], w[4*k+3] = part[0]-y0, part[1]-y1, y0, y1
	}
	return w
}

const nan = 0x7fffffff // the NaN of the hardware's float32 results

// precision is how a weighted sum of floats is made: mantissas are cut to aligned bits at the exponent of the largest
// texel, and the sum is rounded to result bits with a half away from zero. least is the exponent field, in float32, of
// the format's subnormals.
type precision struct {
	aligned, result int32
	least           int32
}

// single and half reproduce every recorded result. srgb, for channels that were converted from sRGB, gives 92 % of the
// 32,768 recorded ones and the others within one unit of its eight bits.
var (
	single = precision{28, 24, 1}
	half   = precision{15, 11, 127 - 14}
	srgb   = precision{8, 11, 127 - 14}
)

// blend is the weighted sum of float32 texels, weights in 1/256.
func (p precision) blend(v []uint32, w []int32) uint32 {
	top := int32(-1) // exponent field of the largest texel
	special := false
	for i, x := range v {
		if w[i] == 0 {
			continue
		}
		e := int32(x >> 23 & 0xff)
		if e == 255 {
			special = true
		}
		top = max(top, e, p.least)
	}
	if special {
		return p.blendSpecial(v, w)
	}
	if top < 0 {
		return 0
	}
	// 28 bits at the largest exponent, of which those that are not kept are lost.
	lost := 28 - p.aligned
	var sum int64
	for i, x := range v {
		if w[i] == 0 {
			continue
		}
		e := int32(x >> 23 & 0xff)
		m := int64(x & 0x7fffff)
		if e == 0 {
			e = 1
		} else {
			m |= 1 << 23
		}
		if d := top - e; d < 28 {
			m = m << 4 >> d >> lost << lost
		} else {
			m = 0
		}
		if x>>31 != 0 {
			m = -m
		}
		sum += m * int64(w[i])
	}
	if sum == 0 {
		return 0
	}
	sign := uint32(0)
	if sum < 0 {
		sign, sum = 1<<31, -sum
	}
	// sum is in units of 2^(top-127-23-4-8).
	n := int32(bits.Len64(uint64(sum)))
	drop := max(n-p.result, n-p.result+p.least-(top-36+n))
	if drop > 0 {
		sum = (sum + 1<<(drop-1)) >> drop << drop
	}
	unit := math.Float64frombits(uint64(top-162+1023) << 52)
	return sign | math.Float32bits(float32(float64(sum)*unit)) // exact, or too large
}

// blendSpecial is blend where an infinity or a NaN takes part, as IEEE 754 has it. Recorded for float32 and half but
// for 18 of 32,768 results: there an infinity or a NaN whose two fractions are not zero but whose weight rounds to zero
// counts all the same.
func (p precision) blendSpecial(v []uint32, w []int32) uint32 {
	s := 0.0
	for i, x := range v {
		if w[i] != 0 {
			s += float64(float64(math.Float32frombits(x)) * float64(w[i]))
		}
	}
	if s != s {
		return nan &^ (1<<(24-p.result) - 1)
	}
	return math.Float32bits(float32(s))
}

// blendUnorm is the weighted sum of unsigned normalised integers: the mean has 16 bits (not recorded for those of 10
// and 2 bits).
func blendUnorm(v []uint32, w []int32, width uint8) uint32 {
	sum := uint64(0)
	for i, x := range v {
		sum += uint64(x) * uint64(w[i])
	}
	switch width {
	case 8:
		sum *= 257
	case Packed:
		sum = sum<<6 + sum>>4
	case 2:
		sum *= 65535 / 3
	}
	return unorm(uint32((sum+128)>>8), 16)
}

// blendSnorm is the weighted sum of signed normalised integers. The smallest number takes part as it stands and the
// result is cut to the range; a sum of 8-bit ones is widened by its own upper bits (recorded).
func blendSnorm(v []uint32, w []int32, width uint8) uint32 {
	sum := int64(0)
	for i, x := range v {
		sum += int64(int32(x)) * int64(w[i])
	}
	if width == 8 {
		sum = sum*258 + sum>>12*32
	}
	return snorm(int32((sum+128)>>8), 16)
}

// blendInteger is the weighted sum of integers that are read as integers: 8 and 16 bits rounded to the nearest with a
// half up, 32 bits rounded down (recorded).
func blendInteger(v []uint32, w []int32, f Format) uint32 {
	sum := int64(0)
	for i, x := range v {
		if f.Kind == Sint {
			sum += int64(int32(x)) * int64(w[i])
		} else {
			sum += int64(x) * int64(w[i])
		}
	}
	if f.Bits < 32 {
		sum += 128
	}
	return uint32(sum >> 8)
}
