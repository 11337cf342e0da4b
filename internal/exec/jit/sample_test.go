package jit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/texture"
)

// textures is a texture unit that counts how often it is asked: each fetch in Go asks at least once.
type textures struct {
	list  []texture.Texture // by their handles, from 1 on
	asked int
}

func (u *textures) Texture(h uint64) *texture.Texture {
	u.asked++
	if h == 0 || h > uint64(len(u.list)) {
		return nil
	}
	return &u.list[h-1]
}
func (*textures) Sampler(uint64) *texture.Sampler { return nil }
func (*textures) Surface(uint64) *texture.Surface { return nil }

// geometries are those of tex that are tested, with their coordinates.
var geometries = []struct {
	name, coord string
	dims        uint8
	layered     bool
}{
	{"1d", "{%f1}", 1, false}, {"2d", "{%f1, %f2}", 2, false}, {"3d", "{%f1, %f2, %f3, %f3}", 3, false},
	{"a1d", "{%r4, %f1}", 1, true}, {"a2d", "{%r4, %f1, %f2, %f2}", 2, true},
}

// fetching is a kernel with a fetch of all lanes with a handle that is a parameter, one of some lanes with a handle of
// each lane's own, and one in a loop that lanes leave one after another.
func fetching(geometry, coord, typ string) string {
	reg, word := "%r", "u32"
	if typ == "f32" {
		reg, word = "%f", typ
	}
	four := func(n int) string {
		return fmt.Sprintf("{%[1]s%[2]d, %[1]s%[3]d, %[1]s%[4]d, %[1]s%[5]d}", reg, n, n+1, n+2, n+3)
	}
	tex := func(n int, handle string) string {
		return fmt.Sprintf("tex.%s.v4.%s.f32 %s, [%s, %s];\n", geometry, typ, four(n), handle, coord)
	}
	st := func(n, at int) string { return fmt.Sprintf("st.global.v4.%s [%%q3+%d], %s;\n", word, at, four(n)) }
	var s strings.Builder
	s.WriteString(".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(" +
		".param .u64 in, .param .u64 out, .param .u64 tex, .param .u64 other) {\n" +
		".reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %q<16>; .reg .pred %p<4>;\n" +
		"ld.param.u64 %q1, [in]; ld.param.u64 %q2, [out]; ld.param.u64 %q4, [tex]; ld.param.u64 %q5, [other];\n" +
		"mov.u32 %r0, %tid.x; mul.wide.u32 %q6, %r0, 16; add.u64 %q1, %q1, %q6; mul.wide.u32 %q6, %r0, 48; " +
		"add.u64 %q3, %q2, %q6;\n" +
		"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%q1]; mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f3, %r3;\n")
	s.WriteString(tex(10, "%q4") + st(10, 0))
	s.WriteString("and.b32 %r5, %r0, 3; setp.ne.u32 %p1, %r5, 0; and.b32 %r6, %r0, 32; " +
		"setp.ne.u32 %p2, %r6, 0; and.b32 %r7, %r0, 64; setp.ne.u32 %p3, %r7, 0;\n" +
		"@%p3 and.b32 %r6, %r0, 1; @%p3 setp.ne.u32 %p2, %r6, 0; " +
		"selp.b64 %q7, %q4, %q5, %p2;\n@%p1 " + tex(10, "%q7") + st(10, 16))
	s.WriteString("mov.u32 %r8, 0;\nL: " + tex(10, "%q4") + "add.u32 %r8, %r8, 1; " +
		"add.f32 %f1, %f1, 0f3E800000; setp.le.u32 %p1, %r8, %r5; @%p1 bra L;\n" + st(10, 32) + "ret; }\n")
	return s.String()
}

// TestSamples compares texture fetches in machine code with package texture, whose results are an H200's
// (TestRecordedFetches and TestRules there): all formats, filters, address modes and shapes, with coordinates inside,
// at every kind of edge, far outside, infinite and NaN. Where the texture is one that the code knows and the
// coordinates are ordinary it fetches without Go.
func TestSamples(t *testing.T) {
	formats := []texture.Format{
		{Kind: texture.Float, Bits: 32}, {Kind: texture.Float, Bits: 16}, {Kind: texture.Uint, Bits: 8},
		{Kind: texture.Uint, Bits: 16}, {Kind: texture.Uint, Bits: 32},
		{Kind: texture.Sint, Bits: 8},
		{Kind: texture.Sint, Bits: 16}, {Kind: texture.Sint, Bits: 32}, {Kind: texture.Unorm, Bits: 8},
		{Kind: texture.Unorm, Bits: 16}, {Kind: texture.Snorm, Bits: 8},
		{Kind: texture.Unorm, Bits: texture.Packed, Channels: 4},
	}
	eachISA(t, func(t *testing.T, e *engine) {
		r := rand.New(rand.NewPCG(7, 9))
		direct := 0
		for _, g := range geometries {
			for _, typ := range []string{"f32", "u32", "s32"} {
				src := fetching(g.name, g.coord, typ)
				d := exectest.Open(t)
				kernels := map[bool]*exectest.Kernel{}
				for _, fast := range []bool{false, true} {
					d.Engine = interp.New()
					if fast {
						d.Engine = e
					}
					k, err := d.Load(src).Kernel("k")
					if err != nil {
						t.Fatalf("%v\n%s", err, src)
					}
					kernels[fast] = k
				}
				for range 150 {
					special := r.IntN(4) == 0
					u := &textures{list: []texture.Texture{
						randomTexture(r, formats[r.IntN(len(formats))], g.dims, g.layered, special),
						randomTexture(r, formats[0], g.dims, g.layered, special),
					}}
					x := &u.list[0]
					a1, in := d.Alloc(128 * 16)
					for i := range 128 {
						for j := range 3 {
							binary.LittleEndian.PutUint32(in[16*i+4*j:],
								math.Float32bits(randomCoordinate(r, x, j, special)))
						}
						binary.LittleEndian.PutUint32(in[16*i+12:], uint32(r.IntN(6)))
						if special && r.IntN(8) == 0 {
							binary.LittleEndian.PutUint32(in[16*i+12:], r.Uint32())
						}
					}
					a2, out := d.Alloc(128 * 48)
					var want []byte
					for _, fast := range []bool{false, true} {
						clear(out)
						u.asked = 0
						cfg := exectest.Config{Grid: exectest.Dim(1), Block: exectest.Dim(128), Workers: 1, Texture: u}
						if err := kernels[fast].Run(cfg, a1, a2, uint64(1), uint64(2)); err != nil {
							t.Fatal(err)
						}
						if !fast {
							want = bytes.Clone(out)
							continue
						}
						if !bytes.Equal(out, want) {
							n := 0
							for out[n] == want[n] {
								n++
							}
							n &^= 3
							i := n / 48
							t.Fatalf("%s %s, %+v %+v\nfetch %d of thread %d, channel %d: %#x, want %#x; coordinates %x",
								g.name, typ, x.Format, x.Sampler, n%48/16, i, n%16/4,
								binary.LittleEndian.Uint32(out[n:]), binary.LittleEndian.Uint32(want[n:]),
								in[16*i:16*i+16])
						}
						if _, ok := x.Direct(); ok && !special {
							direct++
							// The second fetch of the last two warps has two textures: Go fetches, and asks for up to
							// 32 lanes.
							if u.asked > 100 {
								t.Errorf("%s %s, %+v %+v: the texture unit was asked %d times", g.name, typ, x.Format,
									x.Sampler, u.asked)
							}
						}
					}
					d.Free(a1)
					d.Free(a2)
				}
			}
		}
		if direct < 300 {
			t.Errorf("machine code knew %d textures alone", direct)
		}
	})
}

// randomTexture is a texture of some size; with special its texels may be infinities, NaNs and subnormals.
func randomTexture(r *rand.Rand, f texture.Format, dims uint8, layered, special bool) texture.Texture {
	if f.Channels == 0 {
		f.Channels = []uint8{1, 2, 4}[r.IntN(3)]
	}
	size := [3]uint32{uint32(r.IntN(9) + 1), 1, 1}
	if dims > 1 {
		size[1] = uint32(r.IntN(9) + 1)
	}
	if dims > 2 || layered {
		size[2] = uint32(r.IntN(5) + 1)
	}
	if r.IntN(10) == 0 {
		size[0] = uint32(r.IntN(10000) + 1)
	}
	row := (uint64(size[0])*f.Size() + 3) / 4 * 4
	words := make([]uint32, (row*uint64(size[1])*uint64(size[2])+3)/4+4)
	data := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 4*len(words))
	spread := r.IntN(30) + 1
	for i := range words {
		words[i] = r.Uint32()
		switch {
		case f.Kind == texture.Float && f.Bits == 32 && (!special || r.IntN(4) != 0):
			words[i] = words[i]&0x807fffff | uint32(115+r.IntN(spread))<<23
			if r.IntN(8) == 0 {
				words[i] = 0
			}
		case f.Kind == texture.Float && f.Bits == 16 && (!special || r.IntN(4) != 0):
			words[i] &= 0xbfffbfff
		}
	}
	pick := func() texture.AddressMode { return texture.AddressMode(r.IntN(4)) }
	x := texture.Texture{
		Image: texture.Image{Format: f, Dims: dims, Layered: layered, Levels: []texture.Level{{
			Data: unsafe.Pointer(&data[0]), Width: size[0], Height: size[1], Depth: size[2],
			Row: row, Slice: row * uint64(size[1]),
		}}},
		Sampler: texture.Sampler{
			Address: [3]texture.AddressMode{pick(), pick(), pick()},
			Linear:  r.IntN(2) == 0, Normalized: r.IntN(2) == 0, Integer: r.IntN(3) == 0, SRGB: r.IntN(9) == 0,
		},
	}
	for i := range x.Border {
		x.Border[i] = r.Float32()*3 - 1.5
	}
	return x
}

// randomCoordinate is one for dimension j, mostly in and near the image.
func randomCoordinate(r *rand.Rand, x *texture.Texture, j int, special bool) float32 {
	l := &x.Levels[0]
	n := float32([3]uint32{l.Width, l.Height, l.Depth}[j])
	u := (r.Float32()*3 - 1) * n
	switch r.IntN(8) {
	case 0:
		u = float32(math.Floor(float64(u*512))) / 512
	case 1:
		u = float32(r.IntN(int(n)+2)-1) + float32(r.IntN(3)-1)/256
	case 2:
		u *= 5
	}
	if x.Normalized {
		u /= n
	}
	if special && r.IntN(16) == 0 {
		return math.Float32frombits(r.Uint32())
	}
	return u
}

// BenchmarkSamples measures fetches of a warp from a large image.
func BenchmarkSamples(b *testing.B) {
	src := ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 tex) {\n" +
		".reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %q<16>; .reg .pred %p<4>;\n" +
		"ld.param.u64 %q1, [out]; ld.param.u64 %q2, [tex]; mov.u32 %r0, %tid.x; cvt.rn.f32.u32 %f1, %r0; " +
		"mul.f32 %f2, %f1, 0f3F19999A; mul.f32 %f1, %f1, 0f3F4CCCCD; mov.u32 %r1, 0; mov.f32 %f9, 0f00000000;\n" +
		"L: tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%q2, {%f1, %f2}]; add.f32 %f9, %f9, %f3; " +
		"add.f32 %f1, %f1, 0f3E800000; add.f32 %f2, %f2, 0f3E000000; add.u32 %r1, %r1, 1; " +
		"setp.lt.u32 %p1, %r1, 1000; @%p1 bra L;\n" +
		"mul.wide.u32 %q3, %r0, 4; add.u64 %q1, %q1, %q3; st.global.f32 [%q1], %f9; ret; }\n"
	image := make([]float32, 1<<20) // finite as halves, too
	for i := range image {
		image[i] = float32(i%1000/8*8) / 1024
	}
	for name, set := range isas() {
		if _, err := chooseISA(name); err != nil {
			continue
		}
		e, err := newEngine(generators()[set])
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range []struct {
			name   string
			format texture.Format
			linear bool
		}{
			{"f32", texture.Format{Kind: texture.Float, Bits: 32, Channels: 1}, true},
			{"f16", texture.Format{Kind: texture.Float, Bits: 16, Channels: 1}, true},
			{"u8x4", texture.Format{Kind: texture.Uint, Bits: 8, Channels: 4}, true},
			{"f32x4", texture.Format{Kind: texture.Float, Bits: 32, Channels: 4}, true},
			{"point", texture.Format{Kind: texture.Float, Bits: 32, Channels: 1}, false},
		} {
			b.Run(name+"/"+c.name, func(b *testing.B) {
				d := exectest.Open(b)
				d.Engine = e
				k, err := d.Load(src).Kernel("k")
				if err != nil {
					b.Fatal(err)
				}
				row := 512 * c.format.Size()
				level := texture.Level{Data: unsafe.Pointer(&image[0]), Width: 512, Height: 512, Depth: 1,
					Row: row, Slice: 512 * row}
				u := &textures{list: []texture.Texture{{
					Image: texture.Image{Format: c.format, Dims: 2, Levels: []texture.Level{level}},
					Sampler: texture.Sampler{Address: [3]texture.AddressMode{texture.Clamp, texture.Clamp},
						Linear: c.linear},
				}}}
				out, _ := d.Alloc(128)
				for i := 0; i < b.N; i += 1000 {
					cfg := exectest.Config{Grid: exectest.Dim(1), Block: exectest.Dim(32), Workers: 1, Texture: u}
					if err := k.Run(cfg, out, uint64(1)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
