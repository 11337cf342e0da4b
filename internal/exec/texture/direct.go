package texture

import (
	"math"
	"unsafe"

	"github.com/gocuda/cuda/internal/num"
)

// Form is how the words of texels become channels, in fetches that a Direct describes.
type Form uint8

// The forms.
const (
	FormWord     Form = iota // 32 bits as they stand
	FormUnsigned             // 8 and 16 bits, zero-extended
	FormSigned               // sign-extended
	FormUnorm                // over the largest number
	FormHalf                 // half precision
	FormBlend                // of single precision, filtered
	FormBlendHalf
	FormBlendUnorm
)

// Direct describes a texture to machine code that fetches from it as Fetch does: where coordinates are not integers,
// without offsets, comparison and gathering.
type Direct struct {
	Data     unsafe.Pointer
	Form     Form
	Bits     uint8     // of a channel
	Channels uint8     // 1, 2 or 4
	Linear   bool      // filtered: two texels along each axis
	Border   bool      // an axis has borders
	Texel    uint32    // bytes
	Axes     uint8     // 2, or 3 of a volume; one that the texture does not have has coordinate 0
	Axis     [3]Axis   // x, y, z
	Layers   uint32    // a fetch takes the last one for those behind it
	Layer    uint32    // bytes from layer to layer
	Colour   [4]uint32 // of the border, as a texel stands in memory; of texels of less than 32 bits at the low end
}

// Axis is what a fetch makes of one coordinate u: floor(floor(u*Unit)*Scale + Offset) is the texel, of filtered ones in
// steps of 1/256. All of this is exact in float64 up to Limit.
type Axis struct {
	Unit, Scale, Offset float64
	Limit               float32 // magnitudes of coordinates that are known to be calculated rightly
	Size                uint32  // texels
	Step                uint32  // bytes from one to the next
	Period              uint32  // after which texels come again, of Wrap and Mirror; at most 2^22
	Mode                AddressMode
}

// Bounds of what Direct describes: offsets stand in 31 bits, and indices in a float32.
const (
	mostBytes = 1 << 31
	mostSize  = 1 << 20
	mostIndex = 1 << 21
)

// Direct describes the texture; false where Fetch alone knows how to read it.
func (t *Texture) Direct() (d Direct, ok bool) {
	if len(t.Levels) != 1 || t.Cube || t.Format.Block != NoBlock || t.Format.SRGB || t.Image.Linear && t.Dims == 1 {
		return d, false
	}
	f, l, r := t.Format, &t.Levels[0], t.reading()
	d = Direct{
		Data: l.Data, Bits: f.Bits, Channels: f.Channels, Linear: t.Sampler.Linear, Texel: uint32(f.Size()), Axes: 2,
		Layers: t.layers(), Layer: uint32(l.Slice),
	}
	switch {
	case f.Bits == Packed || r == asSRGB || r == asSnorm || d.Linear && r == asInteger:
		return d, false
	case d.Linear && r == asUnorm:
		d.Form = FormBlendUnorm
	case d.Linear && f.Bits == 16:
		d.Form = FormBlendHalf
	case d.Linear:
		d.Form = FormBlend
	case r == asUnorm:
		d.Form = FormUnorm
	case f.Bits == 32:
		d.Form = FormWord
	case r == asFloat:
		d.Form = FormHalf
	case f.Kind == Sint:
		d.Form = FormSigned
	default:
		d.Form = FormUnsigned
	}
	if t.Dims == 3 {
		d.Axes = 3
	}
	sizes, steps := [3]uint32{l.Width, l.Height, l.Depth}, [3]uint64{f.Size(), l.Row, l.Slice}
	last := uint64(0)
	for i := range sizes {
		if sizes[i] == 0 || sizes[i] > mostSize || steps[i] >= mostBytes || uint64(sizes[i])*steps[i] >= mostBytes {
			return d, false
		}
		if last += uint64(sizes[i]) * steps[i]; i < int(d.Axes) {
			d.Axis[i] = t.axis(i, sizes[i], uint32(steps[i]))
			d.Border = d.Border || d.Axis[i].Mode == Border
		}
	}
	if last >= mostBytes {
		return d, false
	}
	d.Colour = t.colour(r)
	return d, true
}

// axis describes dimension i; see along, nearest and place.
func (t *Texture) axis(i int, size, step uint32) Axis {
	a := Axis{Unit: coordinateUnit(size), Scale: 1, Limit: mostIndex, Size: size, Step: step, Mode: t.Address[i]}
	switch {
	case i >= int(t.Dims): // of a coordinate that is 0
		a.Unit, a.Limit = 0, math.MaxFloat32
	case t.Normalized:
		a.Scale, a.Limit = float64(size), mostIndex/float32(size)
	}
	a.Scale /= coordinateUnit(size)
	if t.Sampler.Linear {
		a.Scale, a.Offset = 256*a.Scale, -127.5
	}
	switch {
	case !t.Normalized && a.Mode != Border:
		a.Mode = Clamp
	case a.Mode == Wrap:
		a.Period = size
	case a.Mode == Mirror:
		a.Period = 2 * size
	}
	return a
}

// colour is the border as a texel in memory.
func (t *Texture) colour(r reading) (c [4]uint32) {
	for i, v := range t.border(r) {
		bits := int(t.Format.Bits)
		if r == asFloat && bits == 16 {
			v = uint32(num.F32ToF16(v))
		}
		at := i * bits
		if i < int(t.Format.Channels) {
			c[at/32] |= uint32(uint64(v)&(1<<bits-1)) << (at % 32)
		}
	}
	return c
}
