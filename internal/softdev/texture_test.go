package softdev

import (
	"encoding/binary"
	"math"
	"os"
	"path"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/corpus"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/skip"
)

// TestRecordedTextures replays corpus module textures through the driver API: arrays of one, two and three dimensions,
// layered and cubemap arrays, linear and pitched memory. Every result has to be the recorded one to the bit.
func TestRecordedTextures(t *testing.T) {
	const dir = "../../../shared/corpus"
	if _, err := os.Stat(dir); err != nil {
		skip.Without(t, skip.Recordings, err)
	}
	d, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tab := d.Table()
	must(t, tab.Init(0, 0))
	m, err := corpus.Open(os.DirFS(dir)).Module("textures")
	if err != nil {
		t.Fatal(err)
	}
	r := &corpus.Runner{T: tab, Detail: d.LastDetail}
	for build, file := range m.Files {
		if path.Ext(file) != ".ptx" {
			continue
		}
		n := 0
		for _, res := range r.Run(m, build) {
			if res.Launch < 0 && res.Status == corpus.Passed {
				continue
			}
			if res.Status != corpus.Passed || !res.Equal && res.Launch >= 0 {
				t.Errorf("%s launch %d %s: %v equal %v %s", build, res.Launch, res.Kernel, res.Status, res.Equal,
					res.Text)
			}
			n++
		}
		t.Logf("%s: %d launches", build, n)
	}
}

// TestArrayFacts: answers of driver 580.159.04 (CUDA 13.0, H200) to descriptors and handles of arrays.
func TestArrayFacts(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	for _, c := range []struct {
		w, h     uint64
		format   driver.CUarray_format
		channels uint32
		want     driver.CUresult
	}{
		{16, 16, 32, 1, 0}, {16, 0, 32, 4, 0}, {0, 0, 32, 1, 1}, {0, 16, 32, 1, 1}, {16, 16, 32, 3, 1},
		{16, 16, 99, 1, 1}, {16, 16, 0, 1, 1}, {131072, 1, 1, 1, 0},
		{131073, 1, 1, 1, 1}, {131072, 65537, 1, 1, 1}, {16, 16, 16, 2, 0}, {16, 16, 32, 0, 1}, {131073, 0, 1, 1, 1},
	} {
		var a driver.CUarray
		desc := driver.CUDA_ARRAY_DESCRIPTOR{Width: c.w, Height: c.h, Format: c.format, NumChannels: c.channels}
		if r := tab.ArrayCreate_v2(ctx, &a, &desc); r != c.want || (a != 0) != (r == 0) {
			t.Errorf("%+v: %v, handle %#x, want %v", desc, r, a, c.want)
		}
		if a != 0 {
			var back driver.CUDA_ARRAY_DESCRIPTOR
			must(t, tab.ArrayGetDescriptor_v2(ctx, &back, a))
			if back != desc {
				t.Errorf("descriptor %+v came back as %+v", desc, back)
			}
			must(t, tab.ArrayDestroy(ctx, a))
			if r := tab.ArrayDestroy(ctx, a); r != driver.CUDA_ERROR_CONTEXT_IS_DESTROYED {
				t.Errorf("second destruction: %v", r)
			}
		}
	}
	var a driver.CUarray
	must(t, tab.ArrayCreate_v2(ctx, &a, &driver.CUDA_ARRAY_DESCRIPTOR{Width: 16, Height: 16,
		Format: driver.CU_AD_FORMAT_FLOAT, NumChannels: 1}))
	res := func(typ driver.CUresourcetype, a driver.CUarray) *driver.CUDA_RESOURCE_DESC {
		r := &driver.CUDA_RESOURCE_DESC{ResType: typ}
		r.Res.Array().HArray = a
		return r
	}
	good := res(driver.CU_RESOURCE_TYPE_ARRAY, a)
	var obj driver.CUtexObject
	for _, c := range []struct {
		name string
		res  *driver.CUDA_RESOURCE_DESC
		desc *driver.CUDA_TEXTURE_DESC
		want driver.CUresult
		obj  driver.CUtexObject
	}{
		{"good", good, &driver.CUDA_TEXTURE_DESC{}, 0, 1},
		{"no texture descriptor", good, nil, 1, 0},
		{"no resource", nil, &driver.CUDA_TEXTURE_DESC{}, 1, 0},
		{"resource type 9", res(9, a), &driver.CUDA_TEXTURE_DESC{}, 1, 0},
		{"NULL array", res(driver.CU_RESOURCE_TYPE_ARRAY, 0), &driver.CUDA_TEXTURE_DESC{}, 1, 0},
		{"wrap without normalised coordinates", good, &driver.CUDA_TEXTURE_DESC{}, 0, 2},
		{"address mode 9", good, &driver.CUDA_TEXTURE_DESC{AddressMode: [3]driver.CUaddress_mode{9}}, 1, 0},
	} {
		obj = 0
		if r := tab.TexObjectCreate(ctx, &obj, c.res, c.desc, nil); r != c.want || obj != c.obj {
			t.Errorf("%s: %v, object %d, want %v, %d", c.name, r, obj, c.want, c.obj)
		}
	}
	must(t, tab.TexObjectDestroy(ctx, 0))
	must(t, tab.SurfObjectDestroy(ctx, 0))
	var surf driver.CUsurfObject
	must(t, tab.SurfObjectCreate(ctx, &surf, good))
	must(t, tab.TexObjectDestroy(ctx, 1))
	if r := tab.TexObjectGetResourceDesc(ctx, &driver.CUDA_RESOURCE_DESC{}, 1); r != invalidValue {
		t.Errorf("descriptor of a destroyed object: %v", r)
	}
}

const textureModule = `.version 9.0
.target sm_90
.address_size 64
.global .texref t;
.global .surfref s;
.visible .entry fetch(.param .u64 p) {
.reg .b64 %rd<5>; .reg .b32 %r<5>; .reg .f32 %f<8>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, %tid.x;
cvt.rn.f32.u32 %f1, %r1;
add.f32 %f1, %f1, 0f3F000000;
mov.f32 %f2, 0f3F000000;
tex.2d.v4.f32.f32 {%f3,%f4,%f5,%f6}, [t, {%f1, %f2}];
mul.wide.u32 %rd2, %r1, 4;
add.u64 %rd2, %rd2, %rd1;
st.global.f32 [%rd2], %f3;
ret;
}
.visible .entry write() {
.reg .b32 %r<5>;
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, 1;
sust.b.2d.b32.trap [s, {%r2, %r3}], {%r1};
ret;
}
.visible .entry level(.param .u64 tex, .param .u64 p, .param .f32 lod) {
.reg .b64 %rd<5>; .reg .f32 %f<8>;
ld.param.u64 %rd1, [tex]; ld.param.u64 %rd2, [p]; ld.param.f32 %f1, [lod];
mov.f32 %f2, 0f3F000000;
tex.level.2d.v4.f32.f32 {%f3,%f4,%f5,%f6}, [%rd1, {%f2, %f2}], %f1;
st.global.f32 [%rd2], %f3;
ret;
}
`

// textureBench is a device with textureModule loaded.
type textureBench struct {
	t   *testing.T
	d   *Driver
	tab *driver.Table
	ctx driver.CUcontext
	mod driver.CUmodule
	out driver.CUdeviceptr
}

func newTextureBench(t *testing.T) *textureBench {
	d, tab, ctx := open(t, Options{})
	b := &textureBench{t: t, d: d, tab: tab, ctx: ctx}
	b.mod = load(t, d, ctx, textureModule)
	must(t, b.tab.MemAlloc_v2(ctx, &b.out, 256))
	return b
}

func (b *textureBench) launch(name string, threads uint32, args ...unsafe.Pointer) {
	b.t.Helper()
	var f driver.CUfunction
	must(b.t, b.tab.ModuleGetFunction(b.ctx, &f, b.mod, cstr(name)))
	if len(args) == 0 {
		args = []unsafe.Pointer{nil}
	}
	must(b.t, b.tab.LaunchKernel(b.ctx, f, 1, 1, 1, threads, 1, 1, 0, 0, &args[0], nil))
}

func (b *textureBench) floats(n int) []float32 {
	b.t.Helper()
	buf := make([]byte, 4*n)
	must(b.t, b.tab.MemcpyDtoH_v2(b.ctx, unsafe.Pointer(&buf[0]), b.out, uint64(len(buf))))
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(buf[4*i:]))
	}
	return out
}

func (b *textureBench) array(w, h uint64, format driver.CUarray_format) driver.CUarray {
	b.t.Helper()
	var a driver.CUarray
	must(b.t, b.tab.ArrayCreate_v2(b.ctx, &a, &driver.CUDA_ARRAY_DESCRIPTOR{Width: w, Height: h, Format: format,
		NumChannels: 1}))
	return a
}

func equalFloats(t *testing.T, got, want []float32) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d is %v, want %v", i, got[i], want[i])
		}
	}
}

// TestTextureReferences binds module variables in each of the four ways; what they read follows from what was copied
// in.
func TestTextureReferences(t *testing.T) {
	b := newTextureBench(t)
	tab, ctx := b.tab, b.ctx
	var ref driver.CUtexref
	// recorded for a variable and an unknown name
	for name, want := range map[string]driver.CUresult{"t": 0, "s": driver.CUDA_ERROR_NOT_FOUND,
		"x": driver.CUDA_ERROR_NOT_FOUND} {
		if r := tab.ModuleGetTexRef(ctx, &ref, b.mod, cstr(name)); r != want {
			t.Errorf("cuModuleGetTexRef %s: %v, want %v", name, r, want)
		}
	}
	must(t, tab.TexRefSetAddressMode(ctx, ref, 0, driver.CU_TR_ADDRESS_MODE_CLAMP))
	data := []float32{1, 2, 3, 4, 5, 6, 7, 8}
	a := b.array(4, 2, driver.CU_AD_FORMAT_FLOAT)
	must(t, tab.MemcpyHtoA_v2(ctx, a, 0, unsafe.Pointer(&data[0]), 32))
	must(t, tab.TexRefSetArray(ctx, ref, a, driver.CU_TRSA_OVERRIDE_FORMAT))
	b.launch("fetch", 6, unsafe.Pointer(&b.out))
	equalFloats(t, b.floats(6), []float32{1, 2, 3, 4, 4, 4})
	var back driver.CUarray
	must(t, tab.TexRefGetArray(ctx, &back, ref))
	if back != a {
		t.Errorf("array %#x, want %#x", back, a)
	}

	// Pitched memory of bytes, read as numbers from 0 to 1.
	var p driver.CUdeviceptr
	must(t, tab.MemAlloc_v2(ctx, &p, 1024))
	bytes := []byte{0, 51, 102, 255}
	must(t, tab.MemcpyHtoD_v2(ctx, p, unsafe.Pointer(&bytes[0]), 4))
	desc := driver.CUDA_ARRAY_DESCRIPTOR{Width: 4, Height: 1, Format: driver.CU_AD_FORMAT_UNSIGNED_INT8, NumChannels: 1}
	must(t, tab.TexRefSetAddress2D_v3(ctx, ref, &desc, p, 32))
	b.launch("fetch", 4, unsafe.Pointer(&b.out))
	equalFloats(t, b.floats(4), []float32{0, 0.2, 0.4, 1})

	// Linear memory, from an address that is not aligned.
	must(t, tab.TexRefSetFormat(ctx, ref, driver.CU_AD_FORMAT_FLOAT, 1))
	must(t, tab.MemcpyHtoD_v2(ctx, p, unsafe.Pointer(&data[0]), 32))
	var offset uint64
	if r := tab.TexRefSetAddress_v2(ctx, nil, ref, p+4, 28); r != invalidValue {
		t.Errorf("unaligned address without a place for the offset: %v", r)
	}
	must(t, tab.TexRefSetAddress_v2(ctx, &offset, ref, p+4, 28))
	if offset != 4 {
		t.Errorf("offset %d, want 4", offset)
	}
	b.launch("fetch", 4, unsafe.Pointer(&b.out))
	equalFloats(t, b.floats(4), []float32{1, 2, 3, 4})

	// The format may come after the address.
	must(t, tab.TexRefSetFormat(ctx, ref, driver.CU_AD_FORMAT_UNSIGNED_INT8, 1))
	must(t, tab.TexRefSetAddress_v2(ctx, &offset, ref, p, 32))
	must(t, tab.TexRefSetFormat(ctx, ref, driver.CU_AD_FORMAT_FLOAT, 1))
	b.launch("fetch", 4, unsafe.Pointer(&b.out))
	equalFloats(t, b.floats(4), []float32{1, 2, 3, 4})

	// Memory behind the allocation is taken and reads as 0, as do no memory and a format that does not exist (what the
	// calls take: cases texture/reference of internal/conform/api; what a fetch then gives is not defined).
	var short driver.CUdeviceptr
	must(t, tab.MemAlloc_v2(ctx, &short, 16))
	must(t, tab.MemcpyHtoD_v2(ctx, short, unsafe.Pointer(&data[0]), 16))
	must(t, tab.TexRefSetAddress_v2(ctx, &offset, ref, short, 8192))
	b.launch("fetch", 6, unsafe.Pointer(&b.out))
	equalFloats(t, b.floats(6), []float32{1, 2, 3, 4, 0, 0})
	must(t, tab.TexRefSetFormat(ctx, ref, 99, 1))
	b.launch("fetch", 2, unsafe.Pointer(&b.out))
	equalFloats(t, b.floats(2), []float32{0, 0})
	must(t, tab.TexRefSetFormat(ctx, ref, driver.CU_AD_FORMAT_FLOAT, 1))
	b.launch("fetch", 2, unsafe.Pointer(&b.out))
	equalFloats(t, b.floats(2), []float32{1, 2})
	must(t, tab.TexRefSetAddress_v2(ctx, &offset, ref, short, 0))
	b.launch("fetch", 2, unsafe.Pointer(&b.out))
	equalFloats(t, b.floats(2), []float32{0, 0})

	// A launch keeps the binding that it was made with.
	must(t, tab.TexRefSetArray(ctx, ref, a, driver.CU_TRSA_OVERRIDE_FORMAT))
	b.launch("fetch", 1, unsafe.Pointer(&b.out))
	must(t, tab.TexRefSetAddress2D_v3(ctx, ref, &desc, p, 32))
	equalFloats(t, b.floats(1), []float32{1})
	must(t, tab.ModuleUnload(ctx, b.mod))
	if r := tab.TexRefSetFlags(ctx, ref, 0); r != badHandle {
		t.Errorf("reference of an unloaded module: %v", r)
	}
}

// TestPitchedMemory: of an image that goes beyond its allocation the rows in it are there (that the driver takes such
// images: cases texture/object/pitch2d of internal/conform/api).
func TestPitchedMemory(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	c, _ := d.contextOf(ctx)
	p := alloc(t, tab, ctx, 4096)
	for _, x := range []struct {
		w, h, pitch   uint64
		width, height uint32
	}{{16, 4, 64, 16, 4}, {16, 64, 64, 16, 64}, {16, 1000, 64, 16, 64}, {32, 1000, 64, 32, 63}, {32, 4, 64, 32, 4},
		{0, 4, 64, 1, 1}, {16, 0, 64, 1, 1}, {2048, 3, 8192, 1, 1}} {
		im, r := c.pitchedImage(p, driver.CU_AD_FORMAT_FLOAT, 1, x.w, x.h, x.pitch)
		if l := im.Levels[0]; r != success || l.Width != x.width || l.Height != x.height || l.Data == nil {
			t.Errorf("%+v: %v, %+v", x, r, l)
		}
	}
}

// TestSurfaceReference writes through a module's surface and reads the array back in the ways that arrays are copied.
func TestSurfaceReference(t *testing.T) {
	b := newTextureBench(t)
	tab, ctx := b.tab, b.ctx
	var a driver.CUarray
	must(t, tab.Array3DCreate_v2(ctx, &a, &driver.CUDA_ARRAY3D_DESCRIPTOR{Width: 4, Height: 2,
		Format: driver.CU_AD_FORMAT_UNSIGNED_INT32, NumChannels: 1, Flags: uint32(driver.CUDA_ARRAY3D_SURFACE_LDST)}))
	zero := make([]byte, 32)
	must(t, tab.MemcpyHtoA_v2(ctx, a, 0, unsafe.Pointer(&zero[0]), 32))
	var ref driver.CUsurfref
	must(t, tab.ModuleGetSurfRef(ctx, &ref, b.mod, cstr("s")))
	plain := b.array(4, 2, driver.CU_AD_FORMAT_UNSIGNED_INT32)
	// recorded: texture/reference/bind
	want(t, "an array without CUDA_ARRAY3D_SURFACE_LDST", tab.SurfRefSetArray(ctx, ref, plain, 0), invalidValue)
	must(t, tab.SurfRefSetArray(ctx, ref, a, 0))
	b.launch("write", 4)
	want := []uint32{0, 0, 0, 0, 0, 1, 2, 3}
	check := func(how string, got []uint32, want []uint32) {
		t.Helper()
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: word %d is %d, want %d", how, i, got[i], want[i])
			}
		}
	}
	got := make([]uint32, 8)
	must(t, tab.MemcpyAtoH_v2(ctx, unsafe.Pointer(&got[0]), a, 0, 32))
	check("cuMemcpyAtoH", got, want)
	other := b.array(4, 2, driver.CU_AD_FORMAT_UNSIGNED_INT32)
	must(t, tab.MemcpyAtoA_v2(ctx, other, 0, a, 16, 16))
	must(t, tab.MemcpyAtoD_v2(ctx, b.out, other, 0, 16))
	must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&got[0]), b.out, 16))
	check("cuMemcpyAtoA, AtoD", got, want[4:])
	must(t, tab.MemcpyDtoA_v2(ctx, other, 16, b.out, 16))
	must(t, tab.MemcpyAtoHAsync_v2(ctx, unsafe.Pointer(&got[0]), other, 16, 16, 0))
	must(t, tab.StreamSynchronize(ctx, 0))
	check("cuMemcpyDtoA, AtoHAsync", got, want[4:])

	// A box of two by one out of the middle.
	box := driver.CUDA_MEMCPY2D{SrcMemoryType: driver.CU_MEMORYTYPE_ARRAY, SrcArray: a, SrcXInBytes: 4, SrcY: 1,
		DstMemoryType: driver.CU_MEMORYTYPE_HOST,
		DstHost:       address(t, &got[0]), WidthInBytes: 8, Height: 1}
	must(t, tab.Memcpy2D_v2(ctx, &box))
	check("cuMemcpy2D", got, []uint32{1, 2})
	box.SrcXInBytes = 12
	if r := tab.Memcpy2D_v2(ctx, &box); r != invalidValue {
		t.Errorf("a box beyond the row: %v", r)
	}
	if r := tab.MemcpyAtoH_v2(ctx, unsafe.Pointer(&got[0]), a, 20, 16); r != invalidValue {
		t.Errorf("a copy beyond the array: %v", r)
	}
}

// TestMipmaps fetches from the levels of a mipmapped array; with a linear mipmap filter half way between two is their
// mean.
func TestMipmaps(t *testing.T) {
	b := newTextureBench(t)
	tab, ctx := b.tab, b.ctx
	var m driver.CUmipmappedArray
	desc := driver.CUDA_ARRAY3D_DESCRIPTOR{Width: 8, Height: 4, Format: driver.CU_AD_FORMAT_FLOAT, NumChannels: 1}
	must(t, tab.MipmappedArrayCreate(ctx, &m, &desc, 99))
	sizes := [][2]uint64{{8, 4}, {4, 2}, {2, 1}, {1, 1}}
	var level driver.CUarray
	for i, size := range sizes {
		must(t, tab.MipmappedArrayGetLevel(ctx, &level, m, uint32(i)))
		var d driver.CUDA_ARRAY_DESCRIPTOR
		must(t, tab.ArrayGetDescriptor_v2(ctx, &d, level))
		if d.Width != size[0] || d.Height != size[1] {
			t.Errorf("level %d is %d x %d, want %d x %d", i, d.Width, d.Height, size[0], size[1])
		}
		texels := make([]float32, size[0]*size[1])
		for j := range texels {
			texels[j] = float32(10 * (i + 1))
		}
		must(t, tab.MemcpyHtoA_v2(ctx, level, 0, unsafe.Pointer(&texels[0]), uint64(4*len(texels))))
	}
	// A level's array can be destroyed (cases array/mipmapped of internal/conform/api), and the level stays.
	must(t, tab.ArrayDestroy(ctx, level))
	if r := tab.ArrayGetDescriptor_v2(ctx, &driver.CUDA_ARRAY_DESCRIPTOR{}, level); r == success {
		t.Error("a level that was destroyed has a descriptor")
	}
	must(t, tab.MipmappedArrayGetLevel(ctx, &level, m, 3))
	var texel float32
	if must(t, tab.MemcpyAtoH_v2(ctx, unsafe.Pointer(&texel), level, 0, 4)); texel != 40 {
		t.Errorf("level 3 has %v", texel)
	}
	if r := tab.MipmappedArrayGetLevel(ctx, &level, m, 4); r != invalidValue {
		t.Errorf("level 4 of 4: %v", r)
	}
	res := driver.CUDA_RESOURCE_DESC{ResType: driver.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY}
	res.Res.Mipmap().HMipmappedArray = m
	td := driver.CUDA_TEXTURE_DESC{Flags: driver.CU_TRSF_NORMALIZED_COORDINATES,
		MipmapFilterMode: driver.CU_TR_FILTER_MODE_LINEAR, MaxMipmapLevelClamp: 2}
	var tex driver.CUtexObject
	must(t, tab.TexObjectCreate(ctx, &tex, &res, &td, nil))
	for _, c := range []struct{ lod, want float32 }{{0, 10}, {-3, 10}, {1, 20}, {0.5, 15}, {1.25, 22.5}, {3, 30}} {
		b.launch("level", 1, unsafe.Pointer(&tex), unsafe.Pointer(&b.out), unsafe.Pointer(&c.lod))
		equalFloats(t, b.floats(1), []float32{c.want})
	}
	must(t, tab.MipmappedArrayDestroy(ctx, m))
	if r := tab.ArrayGetDescriptor_v2(ctx, &driver.CUDA_ARRAY_DESCRIPTOR{}, level); r == success {
		t.Error("a level outlives its mipmap")
	}
}

// TestArrayCopyFacts: answers of driver 580.159.04 (H200) for an array of 16 x 16 floats.
func TestArrayCopyFacts(t *testing.T) {
	b := newTextureBench(t)
	a := b.array(16, 16, driver.CU_AD_FORMAT_FLOAT)
	host := make([]byte, 2048)
	for _, c := range []struct {
		what      string
		offset, n uint64
		want      driver.CUresult
	}{{"the first texels", 0, 64, 0}, {"more than the array", 0, 2048, 1}, {"offset of 1", 1, 64, 1}} {
		want(t, c.what, b.tab.MemcpyHtoA_v2(b.ctx, a, c.offset, unsafe.Pointer(&host[0]), c.n), c.want)
	}
}

// TestTextureObjectDestroyedInFlight: FFmpeg's CUDA filters destroy texture objects right after the asynchronous launch
// that reads them, and get their frames on a GPU. The handle is dead for the API at once (recorded), for the kernel
// when the kernel is done.
func TestTextureObjectDestroyedInFlight(t *testing.T) {
	b := newTextureBench(t)
	tab, ctx := b.tab, b.ctx
	data := []float32{7, 8, 9, 10}
	a := b.array(4, 1, driver.CU_AD_FORMAT_FLOAT)
	must(t, tab.MemcpyHtoA_v2(ctx, a, 0, unsafe.Pointer(&data[0]), 16))
	var res driver.CUDA_RESOURCE_DESC
	res.Res.Array().HArray = a
	var obj driver.CUtexObject
	must(t, tab.TexObjectCreate(ctx, &obj, &res, &driver.CUDA_TEXTURE_DESC{}, nil))
	g := newGate()
	g.hold(t, tab, ctx, 0)
	lod := float32(0)
	b.launch("level", 1, unsafe.Pointer(&obj), unsafe.Pointer(&b.out), unsafe.Pointer(&lod))
	must(t, tab.TexObjectDestroy(ctx, obj))
	if r := tab.TexObjectDestroy(ctx, obj); r != invalidValue {
		t.Errorf("second destruction: %v", r)
	}
	if r := tab.TexObjectGetTextureDesc(ctx, &driver.CUDA_TEXTURE_DESC{}, obj); r != invalidValue {
		t.Errorf("descriptor of a destroyed object: %v", r)
	}
	close(g.open)
	must(t, tab.CtxSynchronize(ctx))
	equalFloats(t, b.floats(1), data[:1])
	// Once it is idle the context keeps nothing.
	must(t, tab.TexObjectCreate(ctx, &obj, &res, &driver.CUDA_TEXTURE_DESC{}, nil))
	must(t, tab.TexObjectDestroy(ctx, obj))
	c, _ := b.d.contextOf(ctx)
	c.tex.objects.Range(func(h, _ any) bool {
		t.Errorf("texture object %v is still there", h)
		return true
	})
}
