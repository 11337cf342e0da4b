package abi

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/exec/texture"
)

// Sampling is the memory of the routine that fetches from textures. It has no pointers, so that the allocator puts it
// where lines begin.
type Sampling struct {
	Coord    [3][32]uint32
	Layer    [32]uint32
	Out      [4][32]uint32
	Axis     [3]SampledAxis
	Offset   [8][32]uint32 // of the texels of a footprint
	Outside  [8][32]uint32 // all bits where the border is
	Weight   [8][32]uint32
	Raw      [4][8][32]uint32 // words of the texels
	Value    [8][32]uint32
	Tmp      [16]uint32
	Lanes    [32]uint32 // 31 less the lane
	Samplers uintptr    // one for each operation that fetches; whoever made them keeps them
	Mask     uint32
	Con      [SamplingConsts]uint32
}

// SampledAxis is what one coordinate gives: byte offsets of two texels, whether they lie outside, and the weight of the
// second.
type SampledAxis struct {
	At, Outside [2][16]uint32
	Weight      [16]uint32
}

// Constants of Sampling.Con.
const (
	SamplingAbs = iota
	SamplingByte
	SamplingOne
	SamplingHalfUp   // 128
	SamplingHalfDown // 127
	SamplingWhole    // 256
	SamplingMag16
	SamplingMost16 // the largest finite half
	SamplingWidens // 2^112 as a float32
	SamplingMost   // 65535 as a float32
	SamplingTop    // the largest exponent of finite numbers
	SamplingTies   // 64 bits: what makes 1 and 2^-40 of 1
	samplingTies2
	SamplingConsts
)

// NewSampling makes the memory for a function with so many fetches.
func NewSampling(samplers []Sampler) *Sampling {
	s := &Sampling{Samplers: uintptr(unsafe.Pointer(unsafe.SliceData(samplers)))}
	for i := range s.Lanes {
		s.Lanes[i] = uint32(31 - i)
	}
	s.Con = [SamplingConsts]uint32{
		SamplingAbs: 1<<31 - 1, SamplingByte: 255, SamplingOne: 1, SamplingHalfUp: 128,
		SamplingHalfDown: 127, SamplingWhole: 256,
		SamplingMag16: 0x7fff, SamplingMost16: 0x7bff, SamplingWidens: (112 + 127) << 23,
		SamplingMost: 0x477fff00, SamplingTop: 254, SamplingTies: 1 << 12,
	}
	return s
}

// Sampler is what the routine knows of a texture: texture.Direct in the form in which code reads it.
type Sampler struct {
	Handle   uint64 // of the texture, 0 for none yet
	Wanted   uint64 // the handle of the last fetch that was left to Go
	Data     unsafe.Pointer
	Axes     uint32
	Ready    uint32 // 0: Go has to fetch
	Linear   uint32
	Form     uint32
	Border   uint32
	Taps     uint32 // 1, 4 or 8
	Words    uint32 // of a texel, at least 1
	Narrow   uint32 // bytes of a texel that has less than 4, or 0
	Channels uint32
	Layers   uint32 // last layer
	Layer    uint32
	Bits     uint32
	Ones     uint32    // a channel's bits
	Most     float32   // largest number of a channel
	Left     uint32    // bits left of a channel at the low end of a word
	Least    uint32    // exponent of the smallest normal number
	Scale    uint32    // of texels: less the exponent, that of the factor which leaves 28 (15) bits
	Unscale  uint32    // that of the sum's unit, less the texels' exponent
	Colour   [4]uint32 // see texture.Direct
	_        uint32
	Axis     [3]SamplerAxis
}

// SamplerAxis is a texture.Axis.
type SamplerAxis struct {
	Unit, Scale, Offset float64
	Limit               float32
	Last                uint32 // texel
	LastStep            uint32 // texel in steps of 1/256
	Step                uint32
	Mode                uint32
	Period              uint32
	PeriodLast          uint32
	Inverse             float32 // 1 / Period
}

// Set makes it the sampler of a handle.
func (s *Sampler) Set(handle uint64, d *texture.Direct, ok bool) {
	*s = Sampler{Handle: handle, Wanted: handle}
	if !ok {
		return
	}
	s.Ready, s.Data, s.Axes, s.Form, s.Taps, s.Words = 1, d.Data, uint32(d.Axes), uint32(d.Form), 1, max(d.Texel/4, 1)
	s.Channels, s.Layers, s.Layer, s.Bits, s.Colour = uint32(d.Channels), d.Layers-1, d.Layer, uint32(d.Bits), d.Colour
	s.Ones, s.Left = uint32(1<<d.Bits-1), uint32(32-d.Bits)
	s.Most = float32(s.Ones)
	if d.Linear {
		s.Linear, s.Taps = 1, 1<<d.Axes
	}
	if d.Border {
		s.Border = 1
	}
	if d.Texel < 4 {
		s.Narrow = d.Texel
	}
	// A texel of exponent e at the largest one stands in 28 bits as an integer: 2^(154-e) of it. The sum has eight
	// more.
	s.Least, s.Scale, s.Unscale = 1, 154+1023, 1023-154-8
	if d.Form == texture.FormBlendHalf {
		s.Least, s.Scale, s.Unscale = 127-14, 141+1023, 1023-141-8
	}
	for i := range int(d.Axes) {
		a := &d.Axis[i]
		s.Axis[i] = SamplerAxis{
			Unit: a.Unit, Scale: a.Scale, Offset: a.Offset, Limit: a.Limit,
			Last: a.Size - 1, LastStep: (a.Size - 1) << 8, Step: a.Step, Mode: uint32(a.Mode),
			Period: a.Period, PeriodLast: a.Period - 1,
		}
		if a.Period > 0 {
			s.Axis[i].Inverse = 1 / float32(a.Period)
		}
	}
}
