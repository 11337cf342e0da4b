package texture

import (
	"encoding/binary"
	"unsafe"

	"github.com/gocuda/cuda/internal/num"
)

// Block is a block-compressed format: 4 by 4 texels in 8 or 16 bytes. What the blocks mean is published (Khronos Data
// Format Specification, "S3TC", "RGTC", "BPTC"; Direct3D 11, BC6H and BC7). BC6H and BC7 are defined to the bit. Of the
// others the definitions leave the width of results open: here colours and the alpha of BC2 and BC3 have 8 bits, BC4
// and BC5 have 16, each the nearest to the exact number; what an H200 makes of them was not recorded.
type Block uint8

// The block-compressed formats. 0 is none.
const (
	NoBlock Block = iota
	BC1
	BC2
	BC3
	BC4
	SignedBC4
	BC5
	SignedBC5
	BC6H
	SignedBC6H
	BC7
)

// blockSide is how many texels a block is wide and high.
const blockSide = 4

// BlockFormat is the format of texels that come out of blocks. Channels that it does not have read as 0, as those of
// other formats do.
func BlockFormat(b Block) Format {
	f := Format{Kind: Unorm, Bits: 8, Channels: 4, Block: b}
	switch b {
	case BC4, SignedBC4:
		f.Bits, f.Channels = 16, 1
	case BC5, SignedBC5:
		f.Bits, f.Channels = 16, 2
	case BC6H, SignedBC6H:
		f.Kind, f.Bits, f.Channels = Float, 16, 3
	}
	if b == SignedBC4 || b == SignedBC5 {
		f.Kind = Snorm
	}
	return f
}

// size is the size of a block in bytes.
func (b Block) size() uint64 {
	switch b {
	case BC1, BC4, SignedBC4:
		return 8
	}
	return 16
}

// Units is how many units of Size bytes stand in a row of so many texels, and how many rows of them in a column: texels
// themselves, or blocks.
func (f Format) Units(texels uint64) uint64 {
	if f.Block == NoBlock {
		return texels
	}
	return (texels + blockSide - 1) / blockSide
}

// fetch reads the texel at a place of a level.
func (f Format) fetch(l *Level, x, y, z uint32) texel {
	if f.Block == NoBlock {
		return f.load(l.at(x, y, z, f.Size()))
	}
	p := l.at(x/blockSide, y/blockSide, z, f.Size())
	var b [16]byte
	copy(b[:], unsafe.Slice((*byte)(p), f.Size()))
	return f.Block.decode(&b, int(y%blockSide*blockSide+x%blockSide))
}

// decode is texel i of a block, rows first.
func (b Block) decode(data *[16]byte, i int) (v texel) {
	low, high := binary.LittleEndian.Uint64(data[:8]), binary.LittleEndian.Uint64(data[8:])
	switch b {
	case BC1:
		return colours(low, i, false)
	case BC2:
		v = colours(high, i, true)
		v[3] = uint32(low>>(4*i)&15) * 17
	case BC3:
		v = colours(high, i, true)
		n, d := ramp(low, i, 255, false)
		v[3] = uint32((2*n + d) / (2 * d))
	case BC4, BC5:
		v[0] = wide(low, i)
		if b == BC5 {
			v[1] = wide(high, i)
		}
	case SignedBC4, SignedBC5:
		v[0] = wideSigned(low, i)
		if b == SignedBC5 {
			v[1] = wideSigned(high, i)
		}
	case BC6H, SignedBC6H:
		for k, h := range decodeBC6H(low, high, i, b == SignedBC6H) {
			v[k] = num.F16ToF32(h)
		}
	case BC7:
		return decodeBC7(low, high, i)
	}
	return v
}

// colours is a texel of BC1's half of a block: two colours of 5, 6 and 5 bits, and two bits for each texel. The fourth
// colour is black without opacity where the first colour is not the greater number, except in blocks of BC2 and BC3.
func colours(word uint64, i int, four bool) (v texel) {
	c0, c1 := uint32(word&0xffff), uint32(word>>16&0xffff)
	a, b := colour565(c0), colour565(c1)
	index := word >> (32 + 2*i) & 3
	four = four || c0 > c1
	for k := range 3 {
		switch {
		case index == 0:
			v[k] = a[k]
		case index == 1:
			v[k] = b[k]
		case four && index == 2:
			v[k] = (2*a[k] + b[k] + 1) / 3
		case four:
			v[k] = (a[k] + 2*b[k] + 1) / 3
		case index == 2:
			v[k] = (a[k] + b[k] + 1) / 2
		}
	}
	if v[3] = 255; !four && index == 3 {
		v[3] = 0
	}
	return v
}

// colour565 widens each channel by its own upper bits.
func colour565(c uint32) [3]uint32 {
	r, g, b := c>>11, c>>5&63, c&31
	return [3]uint32{r<<3 | r>>2, g<<2 | g>>4, b<<3 | b>>2}
}

// ramp is a texel of a channel with two ends of 8 bits and three bits for each texel, as a fraction: six numbers
// between the ends, or four and the least and the most.
func ramp(word uint64, i int, most int64, signed bool) (n, d int64) {
	a, b := int64(word&0xff), int64(word>>8&0xff)
	first := a > b
	least := int64(0)
	if signed {
		a, b, least = int64(int8(a)), int64(int8(b)), -most
		first = a > b
		a, b = max(a, least), max(b, least) // -128 stands for -1, too
	}
	switch index := int64(word >> (16 + 3*i) & 7); {
	case index == 0:
		return a, 1
	case index == 1:
		return b, 1
	case first:
		return (8-index)*a + (index-1)*b, 7
	case index == 6:
		return least, 1
	case index == 7:
		return most, 1
	default:
		return (6-index)*a + (index-1)*b, 5
	}
}

// wide and wideSigned are a channel of BC4 and BC5 in 16 bits.
func wide(word uint64, i int) uint32 {
	n, d := ramp(word, i, 255, false)
	return uint32((2*257*n + d) / (2 * d))
}

func wideSigned(word uint64, i int) uint32 {
	n, d := ramp(word, i, 127, true)
	n, d = n*32767, d*127
	if n < 0 {
		return uint32(int32(-((-2*n + d) / (2 * d))))
	}
	return uint32(int32((2*n + d) / (2 * d)))
}

// bitReader takes bits from the low end of a block.
type bitReader struct{ low, high uint64 }

func (r *bitReader) take(n int) uint32 {
	v := uint32(r.low & (1<<n - 1))
	r.low = r.low>>n | r.high<<(64-n)
	r.high >>= n
	return v
}

// indexWeights are the parts in 64 of the second end, by the bits of an index.
var indexWeights = [5][]int32{
	2: {0, 21, 43, 64},
	3: {0, 9, 18, 27, 37, 46, 55, 64},
	4: {0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64},
}

// between is a number between two ends.
func between(a, b, w int32) int32 { return (a*(64-w) + b*w + 32) >> 6 }

// indexOf reads the indices up to texel i and returns that one. The first index of each subset has a bit less, whose
// highest is 0: it stands at the subset's anchor.
func indexOf(r *bitReader, i, width int, anchors []int) (index uint32) {
	for k := range i + 1 {
		n := width
		for _, a := range anchors {
			if a == k {
				n--
			}
		}
		index = r.take(n)
	}
	return index
}

// subsetOf is the subset of texel i, and anchorsOf the anchors, of a partition of a block in so many.
func subsetOf(subsets, partition, i int) int {
	if subsets == 1 {
		return 0
	}
	return int(partitions[subsets-2][partition] >> (2 * i) & 3)
}

func anchorsOf(subsets, partition int) []int {
	switch subsets {
	case 2:
		return []int{0, int(anchors[0][partition])}
	case 3:
		return []int{0, int(anchors[1][partition]), int(anchors[2][partition])}
	}
	return []int{0}
}
