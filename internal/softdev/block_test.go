package softdev

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

const blockModule = `.version 9.0
.target sm_90
.address_size 64
.visible .entry sample(.param .u64 tex, .param .u64 p) {
.reg .b64 %rd<5>; .reg .b32 %r<5>; .reg .f32 %f<8>;
ld.param.u64 %rd1, [tex]; ld.param.u64 %rd2, [p];
mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;
cvt.rn.f32.u32 %f1, %r1; cvt.rn.f32.u32 %f2, %r2;
mov.u32 %r3, %ctaid.x; cvt.rn.f32.u32 %f7, %r3;
fma.rn.f32 %f1, %f7, 0f3EAAAAAB, %f1; add.f32 %f1, %f1, 0f3F000000; add.f32 %f2, %f2, 0f3F000000;
tex.2d.v4.f32.f32 {%f3,%f4,%f5,%f6}, [%rd1, {%f1, %f2}];
mad.lo.u32 %r4, %r3, 8, %r2; mad.lo.u32 %r4, %r4, 12, %r1; mul.wide.u32 %rd3, %r4, 16; add.u64 %rd3, %rd3, %rd2;
st.global.v4.f32 [%rd3], {%f3,%f4,%f5,%f6};
ret;
}
`

// blockBytes are the sizes of blocks by format (CUarray_format, descriptions).
func blockBytes(f driver.CUarray_format) uint64 {
	switch f {
	case driver.CU_AD_FORMAT_BC1_UNORM, driver.CU_AD_FORMAT_BC1_UNORM_SRGB, driver.CU_AD_FORMAT_BC4_UNORM,
		driver.CU_AD_FORMAT_BC4_SNORM:
		return 8
	}
	return 16
}

// TestBlockArrays fetches from arrays of each block-compressed format, with and without filtering: both engines give
// the same bits, and so does a view of the same blocks as words. What blocks mean is tested in package texture.
func TestBlockArrays(t *testing.T) {
	views := map[driver.CUarray_format]driver.CUresourceViewFormat{145: 25, 147: 26, 149: 27, 151: 28, 152: 29, 153: 30,
		154: 31, 155: 32, 156: 33, 157: 34}
	const width, height, fetches = 12, 8, 2 * 12 * 8
	results := map[driver.CUarray_format][]float32{}
	for _, engine := range []string{"interpreter", "auto"} {
		d, tab, ctx := open(t, Options{EngineName: engine})
		f := fn(t, d, ctx, load(t, d, ctx, blockModule), "sample")
		out := alloc(t, tab, ctx, fetches*16)
		sample := func(a driver.CUarray, linear bool, view *driver.CUDA_RESOURCE_VIEW_DESC) []float32 {
			t.Helper()
			res := driver.CUDA_RESOURCE_DESC{ResType: driver.CU_RESOURCE_TYPE_ARRAY}
			res.Res.Array().HArray = a
			desc := driver.CUDA_TEXTURE_DESC{AddressMode: [3]driver.CUaddress_mode{1, 1, 1}}
			if linear {
				desc.FilterMode = driver.CU_TR_FILTER_MODE_LINEAR
			}
			var tex driver.CUtexObject
			if r := tab.TexObjectCreate(ctx, &tex, &res, &desc, view); r != driver.CUDA_SUCCESS {
				t.Fatal(r)
			}
			args := []unsafe.Pointer{unsafe.Pointer(&tex), unsafe.Pointer(&out)}
			must(t, tab.LaunchKernel(ctx, f, 2, 1, 1, width, height, 1, 0, 0, &args[0], nil))
			got := make([]float32, 4*fetches)
			must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&got[0]), out, fetches*16))
			must(t, tab.TexObjectDestroy(ctx, tex))
			return got
		}
		for format := driver.CU_AD_FORMAT_BC1_UNORM; format <= driver.CU_AD_FORMAT_BC7_UNORM_SRGB; format++ {
			size := blockBytes(format)
			channels := uint32(4)
			switch {
			case format == 151 || format == 152:
				channels = 1
			case format == 153 || format == 154:
				channels = 2
			case format == 155 || format == 156:
				channels = 3
			}
			blocks := make([]byte, 6*size)
			for i := range blocks {
				blocks[i] = byte(i*i*37 + i*11 + 5)
			}
			var a, words driver.CUarray
			desc := driver.CUDA_ARRAY_DESCRIPTOR{Width: width, Height: height, Format: format, NumChannels: channels}
			must(t, tab.ArrayCreate_v2(ctx, &a, &desc))
			desc = driver.CUDA_ARRAY_DESCRIPTOR{Width: width / 4, Height: height / 4,
				Format: driver.CU_AD_FORMAT_UNSIGNED_INT32, NumChannels: uint32(size / 4)}
			must(t, tab.ArrayCreate_v2(ctx, &words, &desc))
			for _, x := range []driver.CUarray{a, words} { // rows of blocks
				must(t, tab.Memcpy2D_v2(ctx, &driver.CUDA_MEMCPY2D{SrcMemoryType: driver.CU_MEMORYTYPE_HOST,
					SrcHost: address(t, &blocks[0]), DstMemoryType: driver.CU_MEMORYTYPE_ARRAY, DstArray: x,
					WidthInBytes: 3 * size, Height: 2}))
			}
			back := make([]byte, 6*size)
			move := driver.CUDA_MEMCPY2D{SrcMemoryType: driver.CU_MEMORYTYPE_ARRAY, SrcArray: a,
				DstMemoryType: driver.CU_MEMORYTYPE_HOST, DstHost: address(t, &back[0]), WidthInBytes: 3 * size,
				Height: 2}
			must(t, tab.Memcpy2D_v2(ctx, &move))
			if string(back) != string(blocks) {
				t.Errorf("format %d: %x came back as %x", format, blocks, back)
			}
			move.Height = 3
			want(t, "three rows of blocks", tab.Memcpy2D_v2(ctx, &move), bad)
			move.Height, move.WidthInBytes = 1, size/2
			want(t, "half a block", tab.Memcpy2D_v2(ctx, &move), bad)
			got := append(sample(a, false, nil), sample(a, true, nil)...)
			if view := views[format]; view != 0 {
				v := &driver.CUDA_RESOURCE_VIEW_DESC{Format: view, Width: width, Height: height}
				seen := append(sample(words, false, v), sample(words, true, v)...)
				if !sameBits(got, seen) {
					t.Errorf("format %d: a view of words gives other numbers", format)
				}
			}
			if before := results[format]; before != nil && !sameBits(before, got) {
				t.Errorf("format %d: the engines do not agree", format)
			}
			results[format] = got
			if n := len(slices.Compact(slices.Sorted(slices.Values(got)))); n < 20 {
				t.Errorf("format %d: only %d different numbers", format, n)
			}
		}
	}
}

func sameBits(a, b []float32) bool {
	x := unsafe.Slice((*uint32)(unsafe.Pointer(&a[0])), len(a))
	return len(a) == len(b) && slices.Equal(x, unsafe.Slice((*uint32)(unsafe.Pointer(&b[0])), len(b)))
}

// TestBlockArraysRefused: what blocks cannot be. Levels of mipmaps smaller than a block have one.
func TestBlockArraysRefused(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	const bc1 = driver.CU_AD_FORMAT_BC1_UNORM
	for name, desc := range map[string]driver.CUDA_ARRAY3D_DESCRIPTOR{
		"channels": {Width: 16, Height: 16, Format: bc1, NumChannels: 1}, // recorded
		"a row":    {Width: 16, Format: bc1, NumChannels: 4},
		"written": {Width: 16, Height: 16, Format: bc1, NumChannels: 4,
			Flags: driver.CUDA_ARRAY3D_SURFACE_LDST},
		"too wide": {Width: 1 << 20, Height: 16, Format: bc1, NumChannels: 4},
	} {
		var a driver.CUarray
		want(t, name, tab.Array3DCreate_v2(ctx, &a, &desc), bad)
	}
	var a driver.CUarray
	must(t, tab.ArrayCreate_v2(ctx, &a, &driver.CUDA_ARRAY_DESCRIPTOR{Width: 6, Height: 5, Format: bc1,
		NumChannels: 4}))
	res := driver.CUDA_RESOURCE_DESC{ResType: driver.CU_RESOURCE_TYPE_ARRAY}
	res.Res.Array().HArray = a
	want(t, "a surface", tab.SurfObjectCreate(ctx, new(driver.CUsurfObject), &res), bad)
	view := &driver.CUDA_RESOURCE_VIEW_DESC{Format: driver.CU_RES_VIEW_FORMAT_UINT_2X32, Width: 6, Height: 5}
	want(t, "a view of words", tab.TexObjectCreate(ctx, new(driver.CUtexObject), &res, new(driver.CUDA_TEXTURE_DESC),
		view), bad)
	want(t, "of memory", tab.TexObjectCreate(ctx, new(driver.CUtexObject),
		linearResource(alloc(t, tab, ctx, 4096), bc1), new(driver.CUDA_TEXTURE_DESC), nil), bad)
	var m driver.CUmipmappedArray
	must(t, tab.MipmappedArrayCreate(ctx, &m, &driver.CUDA_ARRAY3D_DESCRIPTOR{Width: 8, Height: 8, Format: bc1,
		NumChannels: 4}, 4))
	for level := range uint32(4) {
		must(t, tab.MipmappedArrayGetLevel(ctx, &a, m, level))
		var block [32]byte
		rows := uint64(1)
		if level == 0 {
			rows = 2
		}
		must(t, tab.Memcpy2D_v2(ctx, &driver.CUDA_MEMCPY2D{SrcMemoryType: driver.CU_MEMORYTYPE_HOST,
			SrcHost: address(t, &block[0]), DstMemoryType: driver.CU_MEMORYTYPE_ARRAY, DstArray: a,
			WidthInBytes: 8 * rows, Height: rows}))
	}
}

func linearResource(p driver.CUdeviceptr, f driver.CUarray_format) *driver.CUDA_RESOURCE_DESC {
	res := &driver.CUDA_RESOURCE_DESC{ResType: driver.CU_RESOURCE_TYPE_LINEAR}
	*res.Res.Linear() = driver.CUDA_RESOURCE_DESC_res_linear{DevPtr: p, Format: f, NumChannels: 4, SizeInBytes: 4096}
	return res
}
