package texture

import (
	"math"
	"testing"
	"unsafe"
)

// solid is an image of one float32 channel whose texel (x, y, z) holds f(x, y, z).
func solid(w, h, d uint32, f func(x, y, z uint32) float32) Image {
	data := make([]float32, 0, w*h*d)
	for z := range d {
		for y := range h {
			for x := range w {
				data = append(data, f(x, y, z))
			}
		}
	}
	return Image{Format: plain(Float, 32, 1), Dims: 2,
		Levels: []Level{{unsafe.Pointer(&data[0]), w, h, d, uint64(4 * w), uint64(4 * w * h)}}}
}

func fetch1(t *Texture, c Coord, f Fetch) float32 { return math.Float32frombits(t.Fetch(&c, &f)[0]) }

// TestPlaces holds indices outside against the table of address modes in the CUDA Programming Guide ("Texture Memory").
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		mode       AddressMode
		normalized bool
		in, out    int64
	}{
		{Wrap, true, -1, 7}, {Wrap, true, 8, 0}, {Wrap, true, 17, 1}, {Wrap, true, -9, 7}, {Mirror, true, -1, 0},
		{Mirror, true, 8, 7}, {Mirror, true, 15, 0},
		{Mirror, true, 16, 0}, {Mirror, true, -9, 7}, {Clamp, true, -5, 0}, {Clamp, true, 99, 7},
		{Border, true, -1, -1}, {Border, true, 8, -1}, {Border, false, 7, 7},
		{Wrap, false, 9, 7}, {Mirror, false, -3, 0},
	} {
		if got := place(c.in, 8, c.mode, c.normalized); got != c.out {
			t.Errorf("mode %d, normalised %v: %d of 8 is %d, want %d", c.mode, c.normalized, c.in, got, c.out)
		}
	}
}

// TestWeights: the parts of a footprint add up to 256 and are at most one step away from the product of the fractions,
// whatever they are.
func TestWeights(t *testing.T) {
	for x := int32(0); x < 256; x += 5 {
		for y := int32(0); y < 256; y += 3 {
			for z := int32(0); z < 256; z += 17 {
				w := weights(x, y, z)
				sum := int32(0)
				for k, v := range w {
					sum += v
					p := func(f int32, second int) float64 {
						if second != 0 {
							return float64(f) / 256
						}
						return float64(256-f) / 256
					}
					exact := 256 * p(x, k&1) * p(y, k>>1&1) * p(z, k>>2)
					if math.Abs(float64(v)-exact) > 1.01 {
						t.Fatalf("%d %d %d: weight %d is %d, want about %v", x, y, z, k, v, exact)
					}
				}
				if sum != 256 {
					t.Fatalf("%d %d %d: weights add up to %d", x, y, z, sum)
				}
			}
		}
	}
}

// TestBlend: exact where it must be, close otherwise, and IEEE 754 for what is not finite.
func TestBlend(t *testing.T) {
	f := math.Float32bits
	inf, nanIn := f(float32(math.Inf(1))), f(float32(math.NaN()))
	for _, c := range []struct {
		v    []uint32
		w    []int32
		want uint32
	}{
		{[]uint32{f(3), f(5)}, []int32{128, 128}, f(4)},
		{[]uint32{f(-1), f(1)}, []int32{128, 128}, 0},
		{[]uint32{f(1e30), f(1)}, []int32{0, 256}, f(1)},
		{[]uint32{f(3e38), f(3e38)}, []int32{100, 156}, f(3e38)},
		{[]uint32{2, 6}, []int32{128, 128}, 4}, {[]uint32{2, 5}, []int32{128, 128}, 4},
		{[]uint32{inf, f(1)}, []int32{1, 255}, inf},
		{[]uint32{inf, f(1)}, []int32{0, 256}, f(1)},
		{[]uint32{nanIn, f(1)}, []int32{1, 255}, nan},
		{[]uint32{inf, inf ^ 1<<31}, []int32{1, 255}, nan},
	} {
		if got := single.blend(c.v, c.w); got != c.want {
			t.Errorf("%#x with %v: %#x, want %#x", c.v, c.w, got, c.want)
		}
	}
}

// TestCubeFaces: the centre of every face, by the programming guide's table of faces, and that direction is the inverse
// of faceOf.
func TestCubeFaces(t *testing.T) {
	for face, d := range [][3]float32{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}} {
		if f, u, v := faceOf(d[0], d[1], d[2]); int(f) != face || u != 0.5 || v != 0.5 {
			t.Errorf("%v: face %d at %v, %v, want %d in its middle", d, f, u, v, face)
		}
		for _, p := range [][2]float64{{0.25, -0.5}, {-0.75, 0.5}} {
			x, y, z := direction(uint32(face), p[0], p[1])
			f, u, v := faceOf(float32(x), float32(y), float32(z))
			if int(f) != face || float64(u) != (p[0]+1)/2 || float64(v) != (p[1]+1)/2 {
				t.Errorf("face %d %v comes back as %d %v %v", face, p, f, u, v)
			}
		}
	}
}

// TestSeamless: a function that is smooth on the sphere stays smooth across an edge when filtering is seamless, and has
// a step of half a texel when it is not.
func TestSeamless(t *testing.T) {
	const n = 16
	im := solid(n, n, 6, func(x, y, z uint32) float32 {
		dx, dy, dz := direction(z, float64(2*x+1)/n-1, float64(2*y+1)/n-1)
		return float32(dx / math.Sqrt(dx*dx+dy*dy+dz*dz))
	})
	im.Cube = true
	jump := func(seamless bool) float64 {
		x := &Texture{Image: im, Sampler: Sampler{Linear: true, Normalized: true, Seamless: seamless}}
		a := fetch1(x, Coord{X: 1, Y: 0.1, Z: 0.9999}, Fetch{})
		b := fetch1(x, Coord{X: 0.9999, Y: 0.1, Z: 1}, Fetch{})
		return math.Abs(float64(a - b))
	}
	if s, hard := jump(true), jump(false); s > 0.002 || hard < 0.02 {
		t.Errorf("steps of %v (seamless) and %v", s, hard)
	}
}

// TestGradients: a footprint of four texels reads level 2, and of none level 0.
func TestGradients(t *testing.T) {
	x := &Texture{Sampler: Sampler{Normalized: true, MaxLevel: 10}}
	for i := range 4 {
		im := solid(16>>i, 16>>i, 1, func(_, _, _ uint32) float32 { return float32(i) })
		im.Levels = append(x.Levels, im.Levels...)
		x.Image = im
	}
	for _, c := range []struct {
		d    float32
		want float32
	}{{0, 0}, {1.0 / 16, 0}, {2.0 / 16, 1}, {4.0 / 16, 2}, {100, 3}} {
		if got := fetch1(x, Coord{X: 0.5, Y: 0.5}, Fetch{Lod: Grad, DX: [3]float32{c.d}}); got != c.want {
			t.Errorf("derivative %v: level %v, want %v", c.d, got, c.want)
		}
	}
	x.Anisotropy, x.Sampler.Linear = 4, true
	if got := fetch1(x, Coord{X: 0.5, Y: 0.5}, Fetch{Lod: Grad, DX: [3]float32{4.0 / 16},
		DY: [3]float32{0, 1.0 / 16}}); got != 0 {
		t.Errorf("anisotropic footprint of 4 to 1: level %v, want 0", got)
	}
}

// TestFormats: integers with and without normalisation, by the rules of CU_TRSF_READ_AS_INTEGER in the driver API
// reference; channels that a format lacks read as 0 (recorded: testdata/rules.json.gz).
func TestFormats(t *testing.T) {
	word := uint32(0x80ff7f01)
	for _, c := range []struct {
		f       Format
		integer bool
		want    [4]float32
		raw     bool
	}{
		{plain(Uint, 8, 4), true, [4]float32{1, 127, 255, 128}, true},
		{plain(Uint, 8, 4), false, [4]float32{1.0 / 255, 127.0 / 255, 1, 128.0 / 255}, false},
		{plain(Sint, 8, 4), true, [4]float32{1, 127, -1, -128}, true},
		{plain(Sint, 8, 4), false, [4]float32{1.0 / 127, 1, -1.0 / 127, -1}, false},
		{plain(Unorm, 8, 4), true, [4]float32{1.0 / 255, 127.0 / 255, 1, 128.0 / 255}, false},
		// channels from the low end, as CU_AD_FORMAT_UNORM_INT_101010_2 is described
		{plain(Unorm, Packed, 4), false, [4]float32{0x301 / 1023.0, 0x3df / 1023.0, 0xf / 1023.0, 2.0 / 3}, false},
		{plain(Snorm, 16, 2), true, [4]float32{32513.0 / 32767, -32513.0 / 32767, 0, 0}, false},
	} {
		x := &Texture{Image: Image{Format: c.f, Dims: 2, Levels: []Level{{unsafe.Pointer(&word), 1, 1, 1, 4, 4}}},
			Sampler: Sampler{Integer: c.integer}}
		v := x.Fetch(&Coord{X: 0.5, Y: 0.5}, &Fetch{})
		for i := range v {
			got := math.Float32frombits(v[i])
			if c.raw {
				got = float32(int32(v[i]))
			}
			if got != c.want[i] {
				t.Errorf("%+v integer %v: channel %d is %v, want %v", c.f, c.integer, i, got, c.want[i])
			}
		}
	}
	packed := plain(Unorm, Packed, 4)
	var v [4]uint32
	for i, x := range packed.load(unsafe.Pointer(&word)) {
		v[i] = unorm(x, packed.bits(i))
	}
	var back uint32
	if packed.store(unsafe.Pointer(&back), v); back != word || packed.Size() != 4 {
		t.Errorf("%#x came back as %#x", word, back)
	}
	// Half way between two texels is their mean.
	row := [2]uint32{0, 0xc00003ff}
	x := &Texture{Image: Image{Format: packed, Dims: 2, Levels: []Level{{unsafe.Pointer(&row), 2, 1, 1, 8, 8}}},
		Sampler: Sampler{Linear: true}}
	for i, bits := range x.Fetch(&Coord{X: 1, Y: 0.5}, &Fetch{}) {
		want := [4]float64{0.5, 0, 0, 0.5}[i]
		if got := float64(math.Float32frombits(bits)); math.Abs(got-want) > 1.0/65535 {
			t.Errorf("filtered channel %d is %v, want %v", i, got, want)
		}
	}
}

// TestNamedLevel: fetches by integer coordinates outside the image are zero, but from a level that is named they are
// clamped, with every address mode; a level that is not there is zero (an H200's results for tex and tex.level with
// coordinates from -4 to 11).
func TestNamedLevel(t *testing.T) {
	for _, mode := range []AddressMode{Wrap, Clamp, Mirror, Border} {
		x := &Texture{Image: solid(8, 4, 1, func(x, y, _ uint32) float32 {
			return float32(1 + x + 10*y)
		}), Sampler: Sampler{Address: [3]AddressMode{mode, mode, mode}}}
		for _, c := range []struct {
			i, off      [3]int32
			base, named float32
		}{
			{[3]int32{2, 1}, [3]int32{}, 13, 13}, {[3]int32{-4, 1}, [3]int32{}, 0, 11},
			{[3]int32{9, 9}, [3]int32{}, 0, 38}, {[3]int32{2, 0}, [3]int32{0, -1}, 0, 3},
			{[3]int32{7, 3}, [3]int32{1, -2}, 0, 18},
		} {
			at := Coord{I: c.i, Offset: c.off}
			if got := fetch1(x, at, Fetch{Integer: true}); got != c.base {
				t.Errorf("mode %d: %v + %v is %v, want %v", mode, c.i, c.off, got, c.base)
			}
			if got := fetch1(x, at, Fetch{Integer: true, Lod: Explicit}); got != c.named {
				t.Errorf("mode %d: %v + %v of level 0 is %v, want %v", mode, c.i, c.off, got, c.named)
			}
			for _, level := range []float32{-1, 1} {
				if got := fetch1(x, at, Fetch{Integer: true, Lod: Explicit, Level: level}); got != 0 {
					t.Errorf("mode %d: %v + %v of level %v is %v, want 0", mode, c.i, c.off, level, got)
				}
			}
		}
	}
}

// TestGatherSubnormal: tld4 gives zero of the same sign for a subnormal number, tex the number (an H200's results).
func TestGatherSubnormal(t *testing.T) {
	for _, c := range []struct{ texel, gathered uint32 }{{0x00093eac, 0}, {0x807fffff, 0x80000000},
		{0x00800000, 0x00800000}, {0x7f800001, 0x7f800001}} {
		x := &Texture{Image: solid(1, 1, 1, func(_, _, _ uint32) float32 { return math.Float32frombits(c.texel) })}
		if got := x.Fetch(&Coord{}, &Fetch{})[0]; got != c.texel {
			t.Errorf("%#x is fetched as %#x", c.texel, got)
		}
		if got := x.Fetch(&Coord{}, &Fetch{Gather: true}); got != [4]uint32{c.gathered, c.gathered, c.gathered,
			c.gathered} {
			t.Errorf("%#x is gathered as %#x, want %#x", c.texel, got, c.gathered)
		}
	}
}
