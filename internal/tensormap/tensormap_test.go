package tensormap

import (
	"errors"
	"math/rand/v2"
	"testing"
)

func plain() Map {
	return Map{Type: Float32, Rank: 3, Address: 0x10000, Dim: [5]uint64{64, 32, 16}, Stride: [5]uint64{0, 256, 8192},
		Box: [5]uint32{16, 8, 4}, ElementStride: [5]uint32{1, 1, 1}}
}

func column() Map {
	return Map{Mode: Im2col, Type: Float16, Rank: 4, Address: 0x10000, Dim: [5]uint64{64, 14, 14, 2},
		Stride: [5]uint64{0, 128, 1792, 25088},
		Lower:  [3]int32{-1, -1}, Upper: [3]int32{-1, -1}, Channels: 32, Pixels: 64,
		ElementStride: [5]uint32{1, 1, 1, 1}}
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 0; n < 2000; n++ {
		m := Map{Mode: Mode(r.IntN(3)), Type: DataType(r.IntN(int(dataTypes))), Rank: 1 + r.IntN(5),
			Address: r.Uint64(), Interleave: Interleave(r.IntN(3)),
			Swizzle: Swizzle(r.IntN(7)), L2Promotion: uint8(r.IntN(4)), NaN: r.IntN(2) == 1, Wide128: r.IntN(2) == 1,
			Channels: r.Uint32N(257), Pixels: r.Uint32N(1025)}
		for i := 0; i < MaxRank; i++ {
			m.Dim[i] = 1 + r.Uint64N(1<<32)
			m.Box[i], m.ElementStride[i] = r.Uint32N(257), r.Uint32N(9)
			if i > 0 {
				m.Stride[i] = r.Uint64N(1<<36) << 4
			}
		}
		for i := range m.Lower {
			m.Lower[i], m.Upper[i] = int32(int16(r.Uint32())), int32(int16(r.Uint32()))
		}
		b := m.Pack()
		got, err := Unpack(b[:])
		if err != nil || got != m {
			t.Fatalf("%v\npacked  %+v\nunpacked %+v", err, m, got)
		}
	}
}

// The requirements are those of the Driver API reference, "Tensor Map Object Management".
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		base  func() Map
		edit  func(m *Map)
		param string // "" when it is fine
	}{
		{"plain", plain, func(m *Map) {}, ""},
		{"type", plain, func(m *Map) { m.Type = 16 }, "tensorDataType"},
		{"rank 0", plain, func(m *Map) { m.Rank = 0 }, "tensorRank"},
		{"rank 6", plain, func(m *Map) { m.Rank = 6 }, "tensorRank"},
		{"rank 2 interleaved", plain, func(m *Map) { m.Rank, m.Interleave = 2, Interleave16B }, "tensorRank"},
		{"rank 1", plain, func(m *Map) { m.Rank = 1 }, ""},
		{"address", plain, func(m *Map) { m.Address += 8 }, "globalAddress"},
		{"null", plain, func(m *Map) { m.Address = 0 }, "globalAddress"},
		{"address, interleaved", plain, func(m *Map) {
			m.Address, m.Interleave, m.Swizzle = 0x10010, Interleave32B, Swizzle32B
		}, "globalAddress"},
		{"dim 0", plain, func(m *Map) { m.Dim[1] = 0 }, "globalDim"},
		{"dim 2^32", plain, func(m *Map) { m.Dim[2] = 1 << 32 }, ""},
		{"dim above", plain, func(m *Map) { m.Dim[2] = 1<<32 + 1 }, "globalDim"},
		{"stride", plain, func(m *Map) { m.Stride[1] = 264 }, "globalStrides"},
		{"stride 2^40", plain, func(m *Map) { m.Stride[2] = 1 << 40 }, "globalStrides"},
		{"stride unused", plain, func(m *Map) { m.Stride[3] = 7 }, ""},
		{"box 0", plain, func(m *Map) { m.Box[2] = 0 }, "boxDim"},
		{"box 257", plain, func(m *Map) { m.Box[2] = 257 }, "boxDim"},
		{"box bytes", plain, func(m *Map) { m.Box[0] = 6 }, "boxDim"},
		{"step 0", plain, func(m *Map) { m.ElementStride[1] = 0 }, "elementStrides"},
		{"step 9", plain, func(m *Map) { m.ElementStride[1] = 9 }, "elementStrides"},
		{"step ignored", plain, func(m *Map) { m.ElementStride[0] = 99 }, ""},
		{"swizzle fits", plain, func(m *Map) { m.Swizzle = Swizzle64B }, ""},
		{"swizzle narrow", plain, func(m *Map) { m.Swizzle = Swizzle32B }, "swizzle"},
		{"swizzle 128", plain, func(m *Map) { m.Swizzle, m.Box[0] = Swizzle128B, 64 }, "swizzle"},
		{"swizzle unknown", plain, func(m *Map) { m.Swizzle = 7 }, "swizzle"},
		{"interleave 32 without", plain, func(m *Map) { m.Interleave = Interleave32B }, "swizzle"},
		{"interleave unknown", plain, func(m *Map) { m.Interleave = 3 }, "interleave"},
		{"promotion", plain, func(m *Map) { m.L2Promotion = 4 }, "l2Promotion"},
		{"NaN", plain, func(m *Map) { m.NaN = true }, ""},
		{"NaN of integers", plain, func(m *Map) { m.NaN, m.Type = true, Int32 }, "oobFill"},
		{"packed", plain, func(m *Map) { m.Type, m.Dim[0], m.Box[0] = U4x16Align16, 128, 128 }, ""},
		{"packed box", plain, func(m *Map) { m.Type, m.Dim[0], m.Box[0] = U4x16Align16, 128, 64 }, "boxDim"},
		{"packed dim", plain, func(m *Map) { m.Type, m.Dim[0], m.Box[0] = U6x16Align16, 64, 128 }, "globalDim"},
		{"packed swizzle", plain, func(m *Map) {
			m.Type, m.Dim[0], m.Box[0], m.Swizzle = U6x16Align16, 128, 128, Swizzle128BAtom32BFlip8B
		}, "swizzle"},
		{"column", column, func(m *Map) {}, ""},
		{"column rank", column, func(m *Map) { m.Rank = 2 }, "tensorRank"},
		{"column corner", column, func(m *Map) { m.Lower[1] = -129 }, "pixelBoxLowerCorner"},
		{"column corner at the end", column, func(m *Map) { m.Upper[0] = 128 }, "pixelBoxUpperCorner"},
		{"column empty", column, func(m *Map) { m.Upper[0] = -15 }, "pixelBoxUpperCorner"},
		{"column channels", column, func(m *Map) { m.Channels = 257 }, "channelsPerPixel"},
		{"column pixels", column, func(m *Map) { m.Pixels = 1025 }, "pixelsPerColumn"},
		{"wide", column, func(m *Map) { m.Mode, m.Swizzle = Im2colWide, Swizzle128B }, ""},
		{"wide corner", column, func(m *Map) { m.Mode, m.Swizzle, m.Lower[0] = Im2colWide, Swizzle128B, -32768 }, ""},
		{"wide plain", column, func(m *Map) { m.Mode = Im2colWide }, ""}, // recorded (internal/conform/sequence)
		{"wide narrow", column, func(m *Map) { m.Mode, m.Swizzle = Im2colWide, Swizzle32B }, "swizzle"},
	} {
		m := c.base()
		c.edit(&m)
		_, err := Encode(&m)
		var e *Error
		if c.param == "" && err != nil || c.param != "" && (!errors.As(err, &e) || e.Param != c.param) {
			t.Errorf("%s: %v, want a fault of %q", c.name, err, c.param)
		}
	}
}

func TestUnpackForeign(t *testing.T) {
	for _, b := range [][]byte{nil, make([]byte, 127), make([]byte, 128)} {
		if _, err := Unpack(b); !errors.Is(err, ErrNotAMap) {
			t.Errorf("%d zero bytes: %v", len(b), err)
		}
	}
	m := plain()
	b := m.Pack()
	for i := offMode; i <= offSwizzle; i++ {
		c := b
		c[i] = 0xff
		if _, err := Unpack(c[:]); !errors.Is(err, ErrNotAMap) {
			t.Errorf("byte %d: %v", i, err)
		}
	}
}

// A pattern is a permutation of each 1024 bytes that keeps its chunks whole.
func TestSwizzleIsPermutation(t *testing.T) {
	for s := SwizzleNone; s <= Swizzle128BAtom64B; s++ {
		seen := map[uint32]bool{}
		for off := uint32(0); off < 1024; off++ {
			to := s.SwizzleOffset(off)
			if to >= 1024 || seen[to] || to>>7 != off>>7 || to&7 != off&7 {
				t.Fatalf("swizzle %d: %d goes to %d", s, off, to)
			}
			seen[to] = true
		}
	}
	// Swizzle128B: chunk c of line r is chunk c xor r (CUDA C++ Programming Guide, "TMA Swizzle").
	for r := uint32(0); r < 8; r++ {
		for c := uint32(0); c < 8; c++ {
			if got := Swizzle128B.SwizzleOffset(r*128 + c*16); got != r*128+(c^r)*16 {
				t.Fatalf("line %d chunk %d at %d", r, c, got)
			}
		}
	}
}

func TestBoxBytes(t *testing.T) {
	m := plain()
	if n := m.BoxBytes(); n != 16*8*4*4 {
		t.Errorf("plain: %d", n)
	}
	m.ElementStride = [5]uint32{3, 3, 2}
	if n := m.BoxBytes(); n != 16*3*2*4 { // the first stride is ignored, the others round up
		t.Errorf("strided: %d", n)
	}
	m = column()
	if n := m.BoxBytes(); n != 32*64*2 {
		t.Errorf("column: %d", n)
	}
}

func FuzzUnpack(f *testing.F) {
	m := plain()
	b := m.Pack()
	f.Add(b[:])
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := Unpack(b); err == nil {
			m.BoxBytes()
			_ = m.Check()
		}
	})
}
