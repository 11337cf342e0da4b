package texture

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"testing"
	"unsafe"
)

// recording is one recorded launch of corpus module textures: a texture, the coordinates of its fetches and what an
// H200 answered.
type recording struct {
	Kernel     string
	Res, Fmt   string
	Channels   uint8
	Dims       []uint32
	Address    []string
	Filter     string
	Read       string
	Normalized bool
	Layered    bool
	Cubemap    bool
	SRGB       bool
	Border     [4]float32
	Data       []byte
	Coords     []byte
	Expected   []byte
	Scalars    []int32
}

func recordings(t testing.TB) (rs []recording) {
	t.Helper()
	b, err := os.ReadFile("testdata/fetches.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(&rs); err != nil {
		t.Fatal(err)
	}
	return rs
}

func (r *recording) texture(t testing.TB) *Texture {
	formats := map[string]Format{"f32": plain(Float, 32, 1), "f16": plain(Float, 16, 1), "u8": plain(Uint, 8, 1),
		"i16": plain(Sint, 16, 1),
		"i32": plain(Sint, 32, 1)}
	f, ok := formats[r.Fmt]
	if !ok {
		t.Fatalf("format %s", r.Fmt)
	}
	f.Channels = r.Channels
	modes := map[string]AddressMode{"wrap": Wrap, "clamp": Clamp, "mirror": Mirror, "border": Border}
	dims := [3]uint32{1, 1, 1}
	copy(dims[:], r.Dims)
	row := uint64(dims[0]) * f.Size()
	x := &Texture{
		Image: Image{
			Format: f, Dims: uint8(len(r.Dims)), Layered: r.Layered, Cube: r.Cubemap, Linear: r.Res == "linear",
			Levels: []Level{{unsafe.Pointer(&r.Data[0]), dims[0], dims[1], dims[2], row, row * uint64(dims[1])}},
		},
		Sampler: Sampler{Linear: r.Filter == "linear", Normalized: r.Normalized, Integer: r.Read == "element",
			SRGB: r.SRGB, Border: r.Border},
	}
	if r.Layered || r.Cubemap {
		x.Dims = 2
	}
	for i := range x.Address {
		x.Address[i] = modes[r.Address[i]]
	}
	return x
}

// run does what the kernel of the same name in textures.cu does for one thread, and gives the words that it stores.
func (r *recording) run(x *Texture, i int) []uint32 {
	u := func(n int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(r.Coords[4*n:])) }
	fetch := func(c Coord, f Fetch) []uint32 { v := x.Fetch(&c, &f); return v[:] }
	at := func() Coord { return Coord{X: u(2 * i), Y: u(2*i + 1)} }
	switch r.Kernel {
	case "tex1d_linear":
		return fetch(Coord{I: [3]int32{int32(i) * 3 % r.Scalars[0]}}, Fetch{Integer: true})[:1]
	case "tex1d":
		return fetch(Coord{X: u(i)}, Fetch{})[:1]
	case "tex2d":
		return fetch(at(), Fetch{})[:1]
	case "tex2d4", "tex2du":
		return fetch(at(), Fetch{})
	case "tex2di":
		return fetch(at(), Fetch{})[:2]
	case "tex3d", "texcube":
		return fetch(Coord{X: u(4 * i), Y: u(4*i + 1), Z: u(4*i + 2)}, Fetch{})[:1]
	case "texlayer":
		c := at()
		c.Layer = uint32(i) % uint32(r.Scalars[1])
		return fetch(c, Fetch{})[:1]
	case "texgather":
		return fetch(at(), Fetch{Gather: true})
	case "texlod":
		a := fetch(at(), Fetch{Lod: Explicit})[0]
		b := fetch(at(), Fetch{Lod: Grad})[0]
		return []uint32{math.Float32bits(math.Float32frombits(a) + math.Float32frombits(b))}
	case "texquery":
		return []uint32{x.Image.Query(Width, 0), x.Image.Query(Height, 0)}
	case "texhalf":
		w := int(r.Scalars[0])
		return fetch(Coord{X: float32(i%w) + 0.5, Y: float32(i/w) + 0.5}, Fetch{})[:1]
	}
	return nil
}

// TestRecordedFetches asks for the bits that an H200 gave (corpus module textures).
func TestRecordedFetches(t *testing.T) {
	total := 0
	for n, r := range recordings(t) {
		x := r.texture(t)
		wrong := 0
		for done, i := 0, 0; done < len(r.Expected); i++ {
			got := r.run(x, i)
			if got == nil {
				t.Fatalf("kernel %s", r.Kernel)
			}
			for _, v := range got {
				var want uint32
				if r.Kernel == "tex2du" {
					want = uint32(r.Expected[done])
					done++
				} else {
					want = binary.LittleEndian.Uint32(r.Expected[done:])
					done += 4
				}
				total++
				if v != want {
					if wrong++; wrong < 4 {
						t.Errorf("%d %s %v %s, fetch %d: %#x (%v), want %#x (%v)", n, r.Kernel, r.Address, r.Filter, i,
							v, math.Float32frombits(v), want, math.Float32frombits(want))
					}
				}
			}
		}
		if wrong > 0 {
			t.Errorf("%d %s: %d results differ", n, r.Kernel, wrong)
		}
	}
	t.Logf("%d results", total)
}
