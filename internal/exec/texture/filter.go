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

// blend is the weighted sum of float32 texels, weights in 1/256.
func blend(v []uint32, w []int32) uint32 {
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
		top = max(top, e, 1)
	}
	if special {
		return blendSpecial(v, w)
	}
	if top < 0 {
		return 0
	}
	// Mantissas of 28 bits at the largest exponent; cut bits are lost.
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
			m = m << 4 >> d
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
	e := top - 12 + n - 24 // exponent field when 24 bits are kept
	drop := n - 24
	if e < 1 {
		drop += 1 - e
		e = 1
	}
	switch {
	case drop > 0:
		sum = (sum + 1<<(drop-1)) >> drop
		if sum == 1<<24 {
			sum >>= 1
			e++
		}
	case drop < 0:
		sum <<= -drop
	}
	if sum < 1<<23 {
		return sign | uint32(sum) // subnormal
	}
	if e >= 255 {
		return sign | 0x7f800000
	}
	return sign | uint32(e)<<23 | uint32(sum)&0x7fffff
}

// blendSpecial is blend where an infinity or a NaN takes part (not recorded: as IEEE 754 has it).
func blendSpecial(v []uint32, w []int32) uint32 {
	s := 0.0
	for i, x := range v {
		if w[i] != 0 {
			s += float64(float64(math.Float32frombits(x)) * float64(w[i]))
		}
	}
	if s != s {
		return nan
	}
	return math.Float32bits(float32(s))
}

// blendUnorm is the weighted sum of unsigned normalised integers.
func blendUnorm(v []uint32, w []int32, width uint8) uint32 {
	sum := uint64(0)
	for i, x := range v {
		sum += uint64(x) * uint64(w[i])
	}
	if width == 8 {
		sum *= 257
	}
	return unorm(uint32((sum+128)>>8), 16)
}

// blendSnorm is the same for signed ones, by analogy (not recorded); 8 bits are widened by 32767/127.
func blendSnorm(v []uint32, w []int32, width uint8) uint32 {
	most := int64(1)<<(width-1) - 1
	sum := int64(0)
	for i, x := range v {
		sum += max(int64(int32(x)), -most) * int64(w[i])
	}
	if width == 8 {
		sum = int64(math.Round(float64(sum*32767) / 127))
	}
	return snorm(int32((sum+128)>>8), 16)
}
