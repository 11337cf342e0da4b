package texture

import "unsafe"

// Kind is how the bits of a channel are read.
type Kind uint8

// The kinds of channels.
const (
	Uint  Kind = iota // unsigned integers; a fetch gives [0, 1] unless Sampler.Integer is set or they have 32 bits
	Sint              // signed integers, likewise [-1, 1]
	Float             // half or single precision
	Unorm             // unsigned integers that always stand for [0, 1]
	Snorm             // signed integers that always stand for [-1, 1]
)

// Format is the format of a texel.
type Format struct {
	Kind     Kind
	Bits     uint8 // of a channel: 8, 16 or 32, or Packed
	Channels uint8 // 1, 2 or 4; 3 of BC6H
	Block    Block // what stands in memory are blocks, of which the other members say what comes out
	SRGB     bool  // colour is sRGB, whatever the sampler says
}

// Packed is the number of bits of the first three channels of a texel of 32 bits, from the low end; the fourth has the
// 2 bits that are left (CU_AD_FORMAT_UNORM_INT_101010_2).
const Packed = 10

// bits is the number of bits of a channel.
func (f Format) bits(channel int) uint8 {
	if f.Bits == Packed && channel == 3 {
		return 2
	}
	return f.Bits
}

// Size is the size of a texel in bytes, or of a block.
func (f Format) Size() uint64 {
	if f.Block != NoBlock {
		return f.Block.size()
	}
	if f.Bits == Packed {
		return 4
	}
	return uint64(f.Bits) / 8 * uint64(f.Channels)
}

// AddressMode says what a coordinate outside the image means (CUaddress_mode, in its order).
type AddressMode uint8

// The address modes. Wrap and Mirror act on normalised coordinates only; otherwise they clamp.
const (
	Wrap AddressMode = iota
	Clamp
	Mirror
	Border
)

// Level is one level of a mipmap, or the whole image.
type Level struct {
	Data                 unsafe.Pointer
	Width, Height, Depth uint32 // in texels, at least 1; Depth counts slices of a volume or layers
	Row, Slice           uint64 // bytes from row to row and from slice to slice
}

// Image is the memory of a texture or surface.
type Image struct {
	Format  Format
	Dims    uint8 // 1, 2 or 3
	Layered bool
	Cube    bool // six layers for each cube
	Linear  bool // plain memory: fetched by integer coordinates, never filtered
	Levels  []Level
}

// Sampler is how a texture is read.
type Sampler struct {
	Address    [3]AddressMode
	Linear     bool // filter between texels
	Normalized bool // coordinates go from 0 to 1
	Integer    bool // integers of 8 and 16 bits are returned as they are
	SRGB       bool // 8-bit unsigned colour is sRGB
	Seamless   bool // filtering goes across the edges of a cube
	MipLinear  bool // filter between levels
	Bias       float32
	MinLevel   float32
	MaxLevel   float32
	Anisotropy uint32 // samples along the longer axis of a footprint, at most
	Border     [4]float32
}

// Texture is an image with a sampler.
type Texture struct {
	Image
	Sampler
}

// Surface is an image that kernels write; its only level is level 0.
type Surface struct {
	Image
}

// layers is the number of layers of level 0, of a cubemap array the number of cubes.
func (m *Image) layers() uint32 {
	if !m.Layered && !m.Cube {
		return 1
	}
	n := m.Levels[0].Depth
	if m.Cube {
		n /= 6
	}
	return max(n, 1)
}

// at is the place of a texel that lies in the level.
func (l *Level) at(x, y, z uint32, size uint64) unsafe.Pointer {
	return unsafe.Add(l.Data, uint64(z)*l.Slice+uint64(y)*l.Row+uint64(x)*size)
}
