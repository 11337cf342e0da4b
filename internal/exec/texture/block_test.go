package texture

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"testing"
	"unsafe"
)

// plain is the format of an image without blocks.
func plain(k Kind, bits, channels uint8) Format {
	return Format{Kind: k, Bits: bits, Channels: channels}
}

// someBlocks are bytes without order.
func someBlocks(seed uint64, n int) []byte {
	b := make([]byte, 16*n)
	for i := range b {
		seed = seed*6364136223846793005 + 1442695040888963407
		b[i] = byte(seed >> 56)
	}
	return b
}

// TestExactBlocks: BC6H and BC7 are defined to the bit. The sums are of what the decoder bcdec 0.98 makes of the same
// 4,096 blocks, as imagecodecs 2026.3.6 for Python calls it; Pillow 13.0 agrees for BC7, but for blocks without a mode.
func TestExactBlocks(t *testing.T) {
	const n = 4096
	check := func(name string, sum, expect uint32) {
		if sum != expect {
			t.Errorf("%s: %08x, want %08x", name, sum, expect)
		}
	}
	blocks := someBlocks(7, n)
	h := crc32.NewIEEE()
	for i := range n {
		b := blocks[16*i : 16*i+16]
		if m := i % 9; m < 8 {
			b[0] = b[0]&^(1<<(m+1)-1) | 1<<m
		} else {
			b[0] = 0 // no mode
		}
		for k := range 16 {
			v := decodeBC7(binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), k)
			h.Write([]byte{byte(v[0]), byte(v[1]), byte(v[2]), byte(v[3])})
		}
	}
	check("BC7", h.Sum32(), 0xca58aa51)
	ids := []byte{0, 1, 2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19} // the last is no mode
	for _, signed := range []bool{false, true} {
		blocks, h := someBlocks(6, n), crc32.NewIEEE()
		for i := range n {
			b := blocks[16*i : 16*i+16]
			if m := ids[i%len(ids)]; m < 2 {
				b[0] = b[0]&^3 | m
			} else {
				b[0] = b[0]&^31 | m
			}
			for k := range 16 {
				v := decodeBC6H(binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), k, signed)
				for _, x := range v {
					h.Write([]byte{byte(x), byte(x >> 8)})
				}
			}
		}
		if signed {
			check("signed BC6H", h.Sum32(), 0xbd8abab6)
		} else {
			check("BC6H", h.Sum32(), 0x53c20920)
		}
	}
}

// TestBlocks: BC1 to BC5 by the formulas of their definitions in floating point; what is fetched is within half a unit
// of the width that it has here.
func TestBlocks(t *testing.T) {
	blocks := someBlocks(1, 512)
	for b := BC1; b <= SignedBC5; b++ {
		size := int(b.size())
		f := BlockFormat(b)
		tex := &Texture{Image: Image{Format: f, Dims: 2}}
		unit := 1 / float64(uint64(1)<<f.Bits-1)
		if f.Kind == Snorm {
			unit = 1.0 / 32767
		}
		for k := 0; k < len(blocks); k += size {
			l := Level{Data: unsafe.Pointer(&blocks[k]), Width: 4, Height: 4, Depth: 1, Row: uint64(size)}
			for i := range 16 {
				v := tex.finish(f.fetch(&l, uint32(i%4), uint32(i/4), 0), tex.reading())
				want := defined(b, blocks[k:k+size], i)
				for c := range int(f.Channels) {
					got := float64(math.Float32frombits(v[c]))
					if math.Abs(got-want[c]) > unit/2+1e-7 {
						t.Fatalf("format %d, block %x, texel %d, channel %d: %v, want %v", b, blocks[k:k+size], i, c, got,
							want[c])
					}
				}
			}
		}
	}
}

// defined is a texel as the definitions have it.
func defined(b Block, data []byte, i int) (v [4]float64) {
	colour := func(d []byte, always bool) {
		c := [2]uint16{binary.LittleEndian.Uint16(d), binary.LittleEndian.Uint16(d[2:])}
		rgb := func(x uint16) [3]float64 {
			wide := func(v, bits uint16) float64 { return float64(v<<(8-bits)|v>>(2*bits-8)) / 255 }
			return [3]float64{wide(x>>11, 5), wide(x>>5&63, 6), wide(x&31, 5)}
		}
		p, q := rgb(c[0]), rgb(c[1])
		index := d[4+i/4] >> (2 * (i % 4)) & 3
		v[3] = 1
		for k := range 3 {
			switch {
			case index == 0:
				v[k] = p[k]
			case index == 1:
				v[k] = q[k]
			case always || c[0] > c[1]:
				w := float64(index-1) / 3
				v[k] = p[k]*(1-w) + q[k]*w
			case index == 2:
				v[k] = (p[k] + q[k]) / 2
			default:
				v[k], v[3] = 0, 0
			}
		}
	}
	channel := func(d []byte, signed bool) float64 {
		var word uint64
		for k := range 6 {
			word |= uint64(d[2+k]) << (8 * k)
		}
		index := float64(word >> (3 * i) & 7)
		p, q, least := float64(d[0])/255, float64(d[1])/255, 0.0
		if signed {
			p, q, least = max(float64(int8(d[0]))/127, -1), max(float64(int8(d[1]))/127, -1), -1
		}
		first := d[0] > d[1]
		if signed {
			first = int8(d[0]) > int8(d[1])
		}
		switch {
		case index == 0:
			return p
		case index == 1:
			return q
		case first:
			return p*(8-index)/7 + q*(index-1)/7
		case index == 6:
			return least
		case index == 7:
			return 1
		}
		return p*(6-index)/5 + q*(index-1)/5
	}
	switch b {
	case BC1:
		colour(data, false)
	case BC2:
		colour(data[8:], true)
		v[3] = float64(data[i/2]>>(4*(i%2))&15) / 15
	case BC3:
		colour(data[8:], true)
		v[3] = channel(data, false)
	case BC4, SignedBC4:
		v[0] = channel(data, b == SignedBC4)
	default:
		v[0], v[1] = channel(data, b == SignedBC5), channel(data[8:], b == SignedBC5)
	}
	return v
}
