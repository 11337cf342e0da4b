package texture

import (
	"math"
	"unsafe"

	"github.com/gocuda/cuda/internal/num"
)

// texel is what stands in an image, channel by channel: the bits of a float32, or an integer, sign extended. Channels
// that the format does not have read as 0, the fourth too (recorded).
type texel [4]uint32

// reading is what a fetch makes of a format: channels come out as floats or as integers.
type reading uint8

const (
	asInteger reading = iota
	asFloat           // the format holds floats
	asUnorm           // integers divided by the largest one
	asSnorm
	asSRGB
)

func (t *Texture) reading() reading {
	f := t.Format
	switch {
	case f.Kind == Float:
		return asFloat
	case f.Kind == Unorm || f.Kind == Uint && f.Bits < 32 && !t.Integer:
		if (t.Sampler.SRGB || f.SRGB) && f.Bits == 8 {
			return asSRGB
		}
		return asUnorm
	case f.Kind == Snorm || f.Kind == Sint && f.Bits < 32 && !t.Integer:
		return asSnorm
	}
	return asInteger
}

// load reads the channels as they stand in memory.
func (f Format) load(p unsafe.Pointer) (v texel) {
	n := int(f.Channels)
	switch {
	case f.Bits == Packed:
		x := *(*uint32)(p)
		for i := range n {
			v[i] = x >> (Packed * i) & (1<<f.bits(i) - 1)
		}
	case f.Bits == 32:
		for i := range n {
			v[i] = *(*uint32)(unsafe.Add(p, 4*i))
		}
	case f.Bits == 16 && f.Kind == Float:
		for i := range n {
			v[i] = num.F16ToF32(*(*uint16)(unsafe.Add(p, 2*i)))
		}
	case f.Bits == 16 && (f.Kind == Sint || f.Kind == Snorm):
		for i := range n {
			v[i] = uint32(int32(*(*int16)(unsafe.Add(p, 2*i))))
		}
	case f.Bits == 16:
		for i := range n {
			v[i] = uint32(*(*uint16)(unsafe.Add(p, 2*i)))
		}
	case f.Kind == Sint || f.Kind == Snorm:
		for i := range n {
			v[i] = uint32(int32(*(*int8)(unsafe.Add(p, i))))
		}
	default:
		for i := range n {
			v[i] = uint32(*(*uint8)(unsafe.Add(p, i)))
		}
	}
	return v
}

const one = 0x3f800000 // 1 as a float32

// finish turns one unfiltered texel into the result of a fetch.
func (t *Texture) finish(v texel, r reading) (out [4]uint32) {
	f := t.Format
	n := int(f.Channels)
	for i := range n {
		switch r {
		case asUnorm:
			out[i] = unorm(v[i], f.bits(i))
		case asSnorm:
			out[i] = snorm(int32(v[i]), f.Bits)
		case asSRGB:
			if i < 3 {
				out[i] = math.Float32bits(linearOf(v[i]))
			} else {
				out[i] = unorm(v[i], f.Bits)
			}
		default:
			out[i] = v[i]
		}
	}
	return out
}

// unorm divides by the largest number of the width. The quotient of such small integers is correctly rounded by way of
// float64.
func unorm(v uint32, bits uint8) uint32 {
	return math.Float32bits(float32(float64(v) / float64(uint64(1)<<bits-1)))
}

// snorm likewise; the two smallest numbers both stand for -1.
func snorm(v int32, bits uint8) uint32 {
	most := int32(1)<<(bits-1) - 1
	return math.Float32bits(float32(float64(max(v, -most)) / float64(most)))
}

// border is the border colour as a texel, in the form that load gives (recorded): a float in the format's width,
// normalised formats as the nearest number that the format holds with a half going towards zero, integers as the low
// bits of the word.
func (t *Texture) border(r reading) (v texel) {
	f := t.Format
	for i := range int(f.Channels) {
		b := t.Border[i]
		switch r {
		case asInteger:
			v[i] = math.Float32bits(b)
			switch {
			case f.Bits == 8 && f.Kind == Sint:
				v[i] = uint32(int32(int8(v[i])))
			case f.Bits == 16 && f.Kind == Sint:
				v[i] = uint32(int32(int16(v[i])))
			case f.Bits < 32:
				v[i] &= 1<<f.Bits - 1
			}
		case asUnorm, asSRGB:
			v[i] = uint32(nearestInteger(b, 0, float64(uint64(1)<<f.bits(i)-1)))
		case asSnorm:
			most := float64(uint64(1)<<(f.Bits-1) - 1)
			v[i] = uint32(int32(nearestInteger(b, -most, most)))
		default:
			if v[i] = math.Float32bits(b); f.Bits == 16 {
				v[i] = num.F16ToF32(num.F32ToF16(v[i]))
			}
		}
	}
	return v
}

// nearestInteger is x times hi, cut to lo and hi, as the nearest integer; a half goes towards zero.
func nearestInteger(x float32, lo, hi float64) int64 {
	y := float64(x)
	if y != y {
		return 0
	}
	y = min(max(float64(y*hi), lo), hi)
	n := math.Ceil(math.Abs(y) - 0.5)
	return int64(math.Copysign(n, y))
}

// store writes channels in the format: values are float32 bits or integers as the format asks (sust.p, PTX ISA
// 9.7.11.2).
func (f Format) store(p unsafe.Pointer, v [4]uint32) {
	packed := uint32(0)
	for i := range int(f.Channels) {
		x := v[i]
		switch f.Kind {
		case Float:
			if f.Bits == 16 {
				x = uint32(num.F32ToF16(x))
			}
		case Unorm:
			x = uint32(scale(x, 0, float64(uint64(1)<<f.bits(i)-1)))
		case Snorm:
			most := float64(uint64(1)<<(f.Bits-1) - 1)
			x = uint32(int32(scale(x, -most, most)))
		case Sint:
			if f.Bits < 32 {
				most := int32(1)<<(f.Bits-1) - 1
				x = uint32(min(max(int32(x), -most-1), most))
			}
		case Uint:
			if f.Bits < 32 {
				x = min(x, 1<<f.Bits-1)
			}
		}
		switch f.Bits {
		case Packed:
			packed |= x << (Packed * i)
			*(*uint32)(p) = packed
		case 8:
			*(*uint8)(unsafe.Add(p, i)) = uint8(x)
		case 16:
			*(*uint16)(unsafe.Add(p, 2*i)) = uint16(x)
		default:
			*(*uint32)(unsafe.Add(p, 4*i)) = x
		}
	}
}

// scale is a float32 times the largest number of a normalised format, rounded to the nearest even integer.
func scale(bits uint32, lo, hi float64) int64 {
	x := float64(math.Float32frombits(bits))
	if x != x {
		return 0
	}
	return int64(math.RoundToEven(min(max(float64(x*hi), lo), hi)))
}

// IntegerResult says whether a fetch gives integers.
func (t *Texture) IntegerResult() bool { return t.reading() == asInteger }
