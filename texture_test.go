package cuda_test

import (
	"errors"
	"testing"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cudatest"
)

// texturePTX reads a texture at a place, and adds one to all elements of a surface of 4 x 2 numbers.
const texturePTX = `.version 8.0
.target sm_80
.address_size 64
.visible .entry sample(.param .u64 t, .param .u64 .ptr .global out, .param .f32 x, .param .f32 y)
{
	.reg .b64 %t, %o;
	.reg .f32 %x, %y, %r<4>;
	ld.param.u64 %t, [t];
	ld.param.u64 %o, [out];
	ld.param.f32 %x, [x];
	ld.param.f32 %y, [y];
	tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%t, {%x, %y}];
	st.global.v4.f32 [%o], {%r0, %r1, %r2, %r3};
	ret;
}
.visible .entry fetch(.param .u64 t, .param .u64 .ptr .global out, .param .s32 x)
{
	.reg .b64 %t, %o;
	.reg .b32 %x, %r<4>;
	ld.param.u64 %t, [t];
	ld.param.u64 %o, [out];
	ld.param.s32 %x, [x];
	tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%t, {%x}];
	st.global.v4.u32 [%o], {%r0, %r1, %r2, %r3};
	ret;
}
.visible .entry increment(.param .u64 s)
{
	.reg .b64 %s;
	.reg .b32 %x, %y, %v;
	ld.param.u64 %s, [s];
	mov.u32 %x, %tid.x;
	shl.b32 %x, %x, 2;
	mov.u32 %y, %tid.y;
	suld.b.2d.b32.trap {%v}, [%s, {%x, %y}];
	add.u32 %v, %v, 1;
	sust.b.2d.b32.trap [%s, {%x, %y}], {%v};
	ret;
}
`

// TestTextures: addresses and interpolation as the Programming Guide has them (appendix Texture Fetching): element i
// has its middle at i + 0.5.
func TestTextures(t *testing.T) {
	c := cudatest.Open(t)
	m := cudatest.Load(t, c, []byte(texturePTX))
	sample, err := m.Kernel("sample")
	check(t, err)
	fetch, err := m.Kernel("fetch")
	check(t, err)
	out := cudatest.Alloc[[4]float32](t, c, 1)
	one := cuda.LinearBlock(1, 1)
	at := func(x *cuda.Texture, u, v float32) [4]float32 {
		t.Helper()
		check(t, sample.Launch(nil, one, cuda.Val(x.Handle()), cuda.Ptr(out), cuda.Val(u), cuda.Val(v)))
		return cudatest.Download(t, out.View)[0]
	}

	a, err := cuda.AllocArray[float32](c, 2, 2, 0, cuda.ArrayOptions{})
	check(t, err)
	check(t, a.CopyFrom([]float32{0, 1, 2, 4}))
	point, err := cuda.NewTexture(a, cuda.TextureOptions{Address: cuda.Border, BorderColor: [4]float32{9, 0, 0, 0}})
	check(t, err)
	linear, err := cuda.NewTexture(a, cuda.TextureOptions{Address: cuda.Clamp, Linear: true})
	check(t, err)
	around, err := cuda.NewTexture(a, cuda.TextureOptions{Address: cuda.Wrap, Normalized: true})
	check(t, err)
	for _, test := range []struct {
		name string
		x    *cuda.Texture
		u, v float32
		want float32
	}{
		{"point", point, 1.2, 1.9, 4}, {"border", point, -0.1, 0.5, 9}, {"linear", linear, 1, 1, 1.75},
		{"clamped", linear, 5, 0.5, 1}, {"wrapped", around, 1.75, 2.25, 1},
	} {
		if got := at(test.x, test.u, test.v)[0]; got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	var open *cuda.OpenError
	if err := a.Close(); !errors.As(err, &open) || open.Open != 3 || open.Kind != "array" {
		t.Errorf("Close of an array with textures: %v", err)
	}

	// Pixels in rows with a pitch, read as floats.
	pixels, err := cuda.AllocMatrix[struct{ R, G, B, A uint8 }](c, 3, 2)
	check(t, err)
	check(t, pixels.CopyFrom([]struct{ R, G, B, A uint8 }{5: {R: 255, A: 51}}))
	colour, err := cuda.NewTexture(pixels.MatrixView, cuda.TextureOptions{AsFloat: true, Address: cuda.Clamp})
	check(t, err)
	if got := at(colour, 2.5, 1.5); got != [4]float32{1, 0, 0, 51.0 / 255} {
		t.Errorf("colour %v", got)
	}
	// Numbers in a row, read as they are.
	row := cudatest.Upload(t, c, []uint16{10, 20, 30})
	numbers, err := cuda.NewTexture(row.View, cuda.TextureOptions{})
	check(t, err)
	raw, err := cuda.Cast[[4]uint32](out.View)
	check(t, err)
	check(t, fetch.Launch(nil, one, cuda.Val(numbers.Handle()), cuda.Ptr(raw), cuda.Val(int32(1))))
	if got := cudatest.Download(t, raw)[0][0]; got != 20 {
		t.Errorf("element 1: %d, want 20", got)
	}
	for _, r := range []interface{ Close() error }{point, linear, around, a, colour, pixels, numbers} {
		check(t, r.Close())
	}
	if _, err := cuda.NewTexture(a, cuda.TextureOptions{}); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("texture of a closed array: %v", err)
	}
	if _, err := cuda.AllocArray[float64](c, 2, 2, 0, cuda.ArrayOptions{}); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("float64: %v", err)
	}
	if _, err := cuda.NewTexture(cuda.View[[3]float32]{}, cuda.TextureOptions{}); !errors.Is(err,
		cuda.ErrInvalidValue) {
		t.Errorf("three numbers: %v", err)
	}
}

func TestSurface(t *testing.T) {
	c := cudatest.Open(t)
	k := cudatest.Kernel(t, c, []byte(texturePTX), "increment")
	a, err := cuda.AllocArray[uint32](c, 4, 2, 0, cuda.ArrayOptions{Surface: true})
	check(t, err)
	host, err := cuda.AllocPinned[uint32](c, 8, cuda.PinnedOptions{})
	check(t, err)
	for i := range host.Data() {
		host.Data()[i] = uint32(10 * i)
	}
	s := cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true})
	surface, err := cuda.NewSurface(a)
	check(t, err)
	check(t, a.CopyFromAsync(s, host.PinnedView))
	check(t, k.Launch(s, cuda.LaunchConfig{Grid: cuda.Dim(1), Block: cuda.Dim(4, 2)}, cuda.Val(surface.Handle())))
	check(t, a.CopyToAsync(s, host.PinnedView))
	check(t, s.Synchronize())
	got := make([]uint32, 8)
	check(t, a.CopyTo(got))
	for i := range got {
		if got[i] != uint32(10*i+1) || host.Data()[i] != got[i] {
			t.Errorf("%v and %v, want 1 11 21 ...", got, host.Data())
			break
		}
	}
	check(t, a.CopyFrom(got))
	if err := a.CopyFrom(got[1:]); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("a slice that is too short: %v", err)
	}
	for _, r := range []interface{ Close() error }{surface, a, host} {
		check(t, r.Close())
	}
}
