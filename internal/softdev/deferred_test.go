package softdev

import (
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/skip"
)

// TestDeferredArrays: an array that was made without memory has none until cuMemMapArrayAsync, and then that of the
// handle: what is written through the array is in the memory (descriptions of CUDA_ARRAY3D_DEFERRED_MAPPING and
// cuMemMapArrayAsync).
func TestDeferredArrays(t *testing.T) {
	if !ipcHost {
		skip.Without(t, skip.Stores)
	}
	tab, ctx := ipcDevice(t)
	desc := driver.CUDA_ARRAY3D_DESCRIPTOR{Width: 64, Height: 64, Format: driver.CU_AD_FORMAT_FLOAT, NumChannels: 1,
		Flags: driver.CUDA_ARRAY3D_DEFERRED_MAPPING}
	var a driver.CUarray
	var m driver.CUmipmappedArray
	must(t, tab.Array3DCreate_v2(ctx, &a, &desc))
	must(t, tab.MipmappedArrayCreate(ctx, &m, &desc, 3))
	var req, mreq driver.CUDA_ARRAY_MEMORY_REQUIREMENTS
	must(t, tab.ArrayGetMemoryRequirements(ctx, &req, a, 0))
	must(t, tab.MipmappedArrayGetMemoryRequirements(ctx, &mreq, m, 0))
	if req.Size < 64*64*4 || req.Alignment == 0 || req.Size%req.Alignment != 0 || mreq.Size < req.Size {
		t.Fatalf("%+v, %+v", req, mreq)
	}
	data := make([]float32, 64*64)
	for i := range data {
		data[i] = float32(i)
	}
	cp := driver.CUDA_MEMCPY2D{SrcMemoryType: driver.CU_MEMORYTYPE_HOST, SrcHost: uintptr(unsafe.Pointer(&data[0])),
		SrcPitch: 256, DstMemoryType: driver.CU_MEMORYTYPE_ARRAY, DstArray: a, WidthInBytes: 256, Height: 64}
	if r := tab.Memcpy2D_v2(ctx, &cp); r != invalidValue {
		t.Error("copied to an array without memory:", r)
	}
	if r := tab.MemcpyHtoA_v2(ctx, a, 0, unsafe.Pointer(&data[0]), 256); r != invalidValue {
		t.Error("copied to an array without memory:", r)
	}
	prop := driver.CUmemAllocationProp{Type: driver.CU_MEM_ALLOCATION_TYPE_PINNED,
		Location: driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE}}
	var h driver.CUmemGenericAllocationHandle
	if req.Size != 64<<10 || req.Alignment != 64<<10 { // case array/create/flags/128/0 of internal/conform/api
		t.Errorf("%+v", req)
	}
	req.Size = mem.Granule // what cuMemCreate gives, and an array needs only a part of
	must(t, tab.MemCreate(ctx, &h, req.Size, &prop, 0))
	info := driver.CUarrayMapInfo{ResourceType: driver.CU_RESOURCE_TYPE_ARRAY,
		MemOperationType: driver.CU_MEM_OPERATION_TYPE_MAP, MemHandleType: driver.CU_MEM_HANDLE_TYPE_GENERIC,
		DeviceBitMask: 1}
	*info.Resource.Array() = a
	*info.MemHandle.MemHandle() = h
	must(t, tab.MemMapArrayAsync(ctx, &info, 1, 0))
	must(t, tab.Memcpy2D_v2(ctx, &cp))
	// A second array in the same memory, at the end of the handle.
	var b driver.CUarray
	must(t, tab.Array3DCreate_v2(ctx, &b, &desc))
	second := info
	*second.Resource.Array() = b
	second.Offset = mem.Granule - 64<<10
	must(t, tab.MemMapArrayAsync(ctx, &second, 1, 0))
	zeros := make([]float32, 64*64)
	zeros[64*64-1] = -5
	must(t, tab.MemcpyHtoA_v2(ctx, b, 0, unsafe.Pointer(&zeros[0]), 64*64*4))
	if second.Offset += 4096; tab.MemMapArrayAsync(ctx, &second, 1, 0) != invalidValue {
		t.Error("mapped at an offset that is no multiple of the alignment")
	}
	defer func() { must(t, tab.ArrayDestroy(ctx, b)) }()
	var p driver.CUdeviceptr
	access := driver.CUmemAccessDesc{Location: prop.Location, Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE}
	must(t, tab.MemAddressReserve(ctx, &p, req.Size, 0, 0, 0))
	must(t, tab.MemMap(ctx, p, req.Size, 0, h, 0))
	must(t, tab.MemSetAccess(ctx, p, req.Size, &access, 1))
	must(t, tab.MemRelease(ctx, h))
	found, other := false, false
	all := make([]float32, req.Size/4)
	must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&all[0]), p, req.Size))
	for i := range all {
		found = found || all[i] == 64*64-1
		other = other || all[i] == -5
	}
	if !other {
		t.Error("the second array's memory is not the handle's")
	}
	if !found {
		t.Error("the array's memory is not the handle's")
	}
	info.MemOperationType = driver.CU_MEM_OPERATION_TYPE_UNMAP
	must(t, tab.MemMapArrayAsync(ctx, &info, 1, 0))
	if r := tab.Memcpy2D_v2(ctx, &cp); r != invalidValue {
		t.Error("copied to an array without memory:", r)
	}
	for _, bad := range []func(i *driver.CUarrayMapInfo){
		func(i *driver.CUarrayMapInfo) { *i.Resource.Array() = 5 }, func(i *driver.CUarrayMapInfo) {
			i.Flags = 1
		}, func(i *driver.CUarrayMapInfo) { i.DeviceBitMask = 2 },
		func(i *driver.CUarrayMapInfo) { i.Offset = 512 }, func(i *driver.CUarrayMapInfo) {
			i.MemOperationType = 9
		}, func(i *driver.CUarrayMapInfo) { *i.MemHandle.MemHandle() = h },
	} {
		x := info
		x.MemOperationType = driver.CU_MEM_OPERATION_TYPE_MAP
		bad(&x)
		if r := tab.MemMapArrayAsync(ctx, &x, 1, 0); r != invalidValue {
			t.Errorf("%+v: %v", x, r)
		}
	}
	must(t, tab.ArrayDestroy(ctx, a))
	desc.Flags = 0
	must(t, tab.Array3DCreate_v2(ctx, &a, &desc))
	if r := tab.ArrayGetMemoryRequirements(ctx, &req, a, 0); r != invalidValue {
		t.Error("requirements of an array with memory:", r)
	}
	must(t, tab.MipmappedArrayDestroy(ctx, m))
}

const fetchTexture = `.version 8.0
.target sm_80
.address_size 64
.visible .entry fetch(.param .u64 p, .param .u64 t)
{
	.reg .u64 %p, %t; .reg .f32 %f<8>;
	ld.param.u64 %p, [p];
	ld.param.u64 %t, [t];
	mov.f32 %f1, 0f3F000000;
	tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%t, {%f1, %f1}];
	st.global.f32 [%p], %f2;
	ret;
}
`

// TestDeferredArrayRead: a kernel that reads an array without memory faults as it does with any address where there is
// none, and nothing else happens.
func TestDeferredArrayRead(t *testing.T) {
	if !ipcHost {
		skip.Without(t, skip.Stores)
	}
	for _, engine := range []string{"interpreter", "auto"} {
		d, err := New(Options{EngineName: engine})
		if err != nil {
			t.Fatal(err)
		}
		tab := d.Table()
		var ctx driver.CUcontext
		must(t, tab.Init(0, 0))
		must(t, tab.DevicePrimaryCtxRetain(0, &ctx, 0))
		desc := driver.CUDA_ARRAY3D_DESCRIPTOR{Width: 64, Height: 64, Format: driver.CU_AD_FORMAT_FLOAT, NumChannels: 1,
			Flags: driver.CUDA_ARRAY3D_DEFERRED_MAPPING}
		var a driver.CUarray
		must(t, tab.Array3DCreate_v2(ctx, &a, &desc))
		var o driver.CUtexObject
		res := driver.CUDA_RESOURCE_DESC{ResType: driver.CU_RESOURCE_TYPE_ARRAY}
		res.Res.Array().HArray = a
		must(t, tab.TexObjectCreate(ctx, &o, &res, &driver.CUDA_TEXTURE_DESC{}, nil))
		text := append([]byte(fetchTexture), 0)
		var m driver.CUmodule
		var f driver.CUfunction
		var p driver.CUdeviceptr
		must(t, tab.ModuleLoadData(ctx, &m, unsafe.Pointer(&text[0])))
		must(t, tab.ModuleGetFunction(ctx, &f, m, cstr("fetch")))
		must(t, tab.MemAlloc_v2(ctx, &p, 4))
		args := [2]unsafe.Pointer{unsafe.Pointer(&p), unsafe.Pointer(&o)}
		must(t, tab.LaunchKernel(ctx, f, 1, 1, 1, 1, 1, 1, 0, 0, &args[0], nil))
		if r := tab.CtxSynchronize(ctx); r != driver.CUDA_ERROR_ILLEGAL_ADDRESS {
			t.Errorf("%s: %v", engine, r)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
