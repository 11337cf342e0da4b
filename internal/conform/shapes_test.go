package conform

import (
	"encoding/hex"
	"errors"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/internal/device"
)

// shapesPTX has a kernel with scalars of several sizes, one with a struct by value, and a variable.
const shapesPTX = `.version 7.0
.target sm_70
.address_size 64

.visible .global .align 4 .u32 table[4] = {11, 22, 33, 44};

.visible .entry scale(.param .u64 p, .param .f32 a, .param .u32 n)
{
	.reg .pred %q;
	.reg .b32 %r<4>;
	.reg .f32 %f<3>;
	.reg .b64 %d<3>;
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %ntid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.u32 %r0, %r0, %r1, %r2;
	ld.param.u32 %r3, [n];
	setp.ge.u32 %q, %r0, %r3;
	@%q ret;
	ld.param.u64 %d0, [p];
	mad.wide.u32 %d0, %r0, 4, %d0;
	ld.param.f32 %f0, [a];
	ld.global.f32 %f1, [%d0];
	mul.rn.f32 %f1, %f1, %f0;
	st.global.f32 [%d0], %f1;
	ret;
}

.visible .entry weigh(.param .align 8 .b8 s[24], .param .u8 k, .param .s16 h)
{
	.reg .b32 %r<4>;
	.reg .b16 %h<3>;
	.reg .b64 %d<3>;
	ld.param.u64 %d0, [s];
	ld.param.u32 %r0, [s+8];
	ld.param.u16 %h0, [s+12];
	ld.param.u64 %d1, [s+16];
	ld.param.u8 %h1, [k];
	ld.param.s16 %h2, [h];
	cvt.u32.u16 %r1, %h0;
	add.u32 %r0, %r0, %r1;
	cvt.u32.u16 %r1, %h1;
	add.u32 %r0, %r0, %r1;
	cvt.s32.s16 %r1, %h2;
	add.u32 %r0, %r0, %r1;
	cvt.u32.u64 %r1, %d1;
	add.u32 %r0, %r0, %r1;
	st.global.u32 [%d0], %r0;
	ret;
}
`

// shapes is the device under test with a context.
type shapes struct {
	c    cu.API
	dev  cu.CUdevice
	ctx  cu.CUcontext
	soft bool
}

// must stops the test at an error.
func (s *shapes) must(t *testing.T, call string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", call, err)
	}
}

func bytesOf[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

// ipcVariable hands a memory handle to the child process of the test of structs by value.
const ipcVariable = "GOCUDA_CONFORM_IPC"

// TestShapes makes calls of every shape through the public API, group by group: each way in which arguments and results
// cross the border to the device. What the calls must answer is in NVIDIA's driver API reference; both devices must
// answer it.
func TestShapes(t *testing.T) {
	d, err := device.Open(device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Log(d.String())
	s := &shapes{c: *cu.New(d.Table), soft: d.Kind == device.Software}
	s.must(t, "cuInit", s.c.Init(0))
	s.dev, err = s.c.DeviceGet(0)
	s.must(t, "cuDeviceGet", err)
	s.ctx, err = s.c.DevicePrimaryCtxRetain(s.dev)
	s.must(t, "cuDevicePrimaryCtxRetain", err)
	s.c = s.c.In(s.ctx)
	if h := os.Getenv(ipcVariable); h != "" {
		s.ipcChild(t, h)
		return
	}
	for _, group := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"errors", s.errors}, {"version", s.version}, {"device", s.device}, {"context", s.context},
		{"memory", s.memory}, {"copies of pitched memory", s.pitched},
		{"pointer attributes", s.pointers}, {"stream-ordered memory", s.pool}, {"module", s.module},
		{"library", s.library}, {"launch", s.launch}, {"old launch", s.oldLaunch}, {"stream", s.stream},
		{"event", s.event}, {"callbacks", s.callbacks}, {"occupancy", s.occupancy}, {"arrays", s.arrays},
		{"tensor map", s.tensorMap}, {"stream memory operations", s.memoryOperations},
		{"struct by value, 8 bytes", s.location}, {"struct by value, 64 bytes", s.ipc},
		{"texture references", s.texref}, {"graph", s.graph}, {"missing context", s.noContext},
	} {
		t.Run(group.name, group.run)
	}
}

func (s *shapes) errors(t *testing.T) {
	name, err := s.c.GetErrorName(cu.CUDA_ERROR_ILLEGAL_ADDRESS)
	s.must(t, "cuGetErrorName", err)
	text, err := s.c.GetErrorString(cu.CUDA_ERROR_ILLEGAL_ADDRESS)
	s.must(t, "cuGetErrorString", err)
	if name != "CUDA_ERROR_ILLEGAL_ADDRESS" || text == "" {
		t.Errorf("%q %q", name, text)
	}
	if _, err := s.c.GetErrorName(cu.CUresult(12345)); !errors.Is(err, cu.CUDA_ERROR_INVALID_VALUE) {
		t.Errorf("the name of error 12345: %v", err)
	}
}

func (s *shapes) version(t *testing.T) {
	v, err := s.c.DriverGetVersion()
	s.must(t, "cuDriverGetVersion", err)
	if v < 12000 || v%10 != 0 {
		t.Errorf("version %d", v)
	}
}

func (s *shapes) device(t *testing.T) {
	n, err := s.c.DeviceGetCount()
	s.must(t, "cuDeviceGetCount", err)
	name, err := s.c.DeviceGetName(s.dev)
	s.must(t, "cuDeviceGetName", err)
	uuid, err := s.c.DeviceGetUuid(s.dev)
	s.must(t, "cuDeviceGetUuid", err)
	mem, err := s.c.DeviceTotalMem(s.dev)
	s.must(t, "cuDeviceTotalMem", err)
	warp, err := s.c.DeviceGetAttribute(cu.CU_DEVICE_ATTRIBUTE_WARP_SIZE, s.dev)
	s.must(t, "cuDeviceGetAttribute", err)
	if n < 1 || name == "" || uuid == (cu.CUuuid{}) || mem < 1<<30 || warp != 32 {
		t.Errorf("%d devices, %q, %x, %d bytes, warps of %d", n, name, uuid, mem, warp)
	}
	bus, err := s.c.DeviceGetPCIBusId(s.dev)
	s.must(t, "cuDeviceGetPCIBusId", err)
	back, err := s.c.DeviceGetByPCIBusId(bus)
	s.must(t, "cuDeviceGetByPCIBusId", err)
	if back != s.dev || strings.Count(bus, ":") != 2 {
		t.Errorf("bus %q is device %d", bus, back)
	}
	if _, err := s.c.DeviceGet(-1); !errors.Is(err, cu.CUDA_ERROR_INVALID_DEVICE) {
		t.Errorf("device -1: %v", err)
	}
	if _, err := s.c.DeviceGetAttribute(0, s.dev); !errors.Is(err, cu.CUDA_ERROR_INVALID_VALUE) {
		t.Errorf("attribute 0: %v", err)
	}
}

func (s *shapes) context(t *testing.T) {
	least, greatest, err := s.c.CtxGetStreamPriorityRange()
	s.must(t, "cuCtxGetStreamPriorityRange", err)
	if least < greatest {
		t.Errorf("priorities from %d to %d: smaller numbers are greater priorities", least, greatest)
	}
	dev, err := s.c.CtxGetDevice()
	s.must(t, "cuCtxGetDevice", err)
	id, err := s.c.CtxGetId(s.ctx)
	s.must(t, "cuCtxGetId", err)
	limit, err := s.c.CtxGetLimit(cu.CU_LIMIT_STACK_SIZE)
	s.must(t, "cuCtxGetLimit", err)
	if dev != s.dev || id == 0 || limit == 0 {
		t.Errorf("device %d, id %d, stack %d", dev, id, limit)
	}
	flags, active, err := s.c.DevicePrimaryCtxGetState(s.dev)
	s.must(t, "cuDevicePrimaryCtxGetState", err)
	if active != 1 {
		t.Errorf("primary context: flags %d, active %d", flags, active)
	}
	// A context of its own, current on this thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	free := s.c.In(0)
	ctx, err := free.CtxCreate(nil, 0, s.dev)
	s.must(t, "cuCtxCreate", err)
	cur, err := free.CtxGetCurrent()
	s.must(t, "cuCtxGetCurrent", err)
	popped, err := free.CtxPopCurrent()
	s.must(t, "cuCtxPopCurrent", err)
	if cur != ctx || popped != ctx {
		t.Errorf("made %x, current %x, popped %x", ctx, cur, popped)
	}
	s.must(t, "cuCtxDestroy", free.CtxDestroy(ctx))
}

func (s *shapes) alloc(t *testing.T, n uint64) cu.CUdeviceptr {
	t.Helper()
	p, err := s.c.MemAlloc(n)
	s.must(t, "cuMemAlloc", err)
	t.Cleanup(func() {
		if err := s.c.MemFree(p); err != nil {
			t.Errorf("cuMemFree: %v", err)
		}
	})
	return p
}

func (s *shapes) memory(t *testing.T) {
	p := s.alloc(t, 64)
	free, total, err := s.c.MemGetInfo()
	s.must(t, "cuMemGetInfo", err)
	base, size, err := s.c.MemGetAddressRange(p + 5)
	s.must(t, "cuMemGetAddressRange", err)
	if free > total || base != p || size != 64 {
		t.Errorf("%d of %d free; %x+%d is %x+%d", free, total, p, 64, base, size)
	}
	s.must(t, "cuMemsetD8", s.c.MemsetD8(p, 0xab, 64))
	s.must(t, "cuMemsetD16", s.c.MemsetD16(p+8, 0x1234, 4))
	s.must(t, "cuMemsetD32", s.c.MemsetD32(p+16, 0x89abcdef, 2))
	s.must(t, "cuMemcpyHtoD", s.c.MemcpyHtoD(p+24, []byte{1, 2, 3, 4, 5}))
	s.must(t, "cuMemcpyDtoD", s.c.MemcpyDtoD(p+40, p+8, 16))
	got := make([]byte, 64)
	s.must(t, "cuMemcpyDtoH", s.c.MemcpyDtoH(got, p))
	want := slices.Repeat([]byte{0xab}, 64)
	copy(want[8:], slices.Repeat([]byte{0x34, 0x12}, 4))
	copy(want[16:], slices.Repeat([]byte{0xef, 0xcd, 0xab, 0x89}, 2))
	copy(want[24:], []byte{1, 2, 3, 4, 5})
	copy(want[40:], want[8:24])
	if !slices.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	h, err := s.c.MemHostAlloc(32, cu.CU_MEMHOSTALLOC_DEVICEMAP)
	s.must(t, "cuMemHostAlloc", err)
	hd, err := s.c.MemHostGetDevicePointer(h, 0)
	s.must(t, "cuMemHostGetDevicePointer", err)
	s.must(t, "cuMemsetD8", s.c.MemsetD8(hd, 7, 32))
	s.must(t, "cuCtxSynchronize", s.c.CtxSynchronize())
	if b := unsafe.Slice((*byte)(h), 32); b[0] != 7 || b[31] != 7 {
		t.Errorf("host memory through its device address: %x", b)
	}
	s.must(t, "cuMemFreeHost", s.c.MemFreeHost(h))
	if err := s.c.MemFree(p + 1); !errors.Is(err, cu.CUDA_ERROR_INVALID_VALUE) {
		t.Errorf("freeing the middle of an allocation: %v", err)
	}
	if _, err := s.c.MemAlloc(0); !errors.Is(err, cu.CUDA_ERROR_INVALID_VALUE) {
		t.Errorf("allocating nothing: %v", err)
	}
}

func (s *shapes) pitched(t *testing.T) {
	p, pitch, err := s.c.MemAllocPitch(20, 3, 4)
	s.must(t, "cuMemAllocPitch", err)
	defer s.c.MemFree(p)
	if pitch < 20 || pitch%64 != 0 {
		t.Errorf("pitch %d", pitch)
	}
	src := make([]byte, 60)
	for i := range src {
		src[i] = byte(i)
	}
	got := make([]byte, 60)
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&src[0])
	pin.Pin(&got[0])
	s.must(t, "cuMemcpy2D", s.c.Memcpy2D(&cu.CUDA_MEMCPY2D{SrcMemoryType: cu.CU_MEMORYTYPE_HOST,
		SrcHost: unsafe.Pointer(&src[0]), SrcPitch: 20, DstMemoryType: cu.CU_MEMORYTYPE_DEVICE, DstDevice: p,
		DstPitch: pitch, WidthInBytes: 20, Height: 3}))
	s.must(t, "cuMemsetD2D8", s.c.MemsetD2D8(p+4, pitch, 0xee, 2, 3))
	s.must(t, "cuMemcpy2D", s.c.Memcpy2D(&cu.CUDA_MEMCPY2D{SrcMemoryType: cu.CU_MEMORYTYPE_DEVICE, SrcDevice: p,
		SrcPitch: pitch, DstMemoryType: cu.CU_MEMORYTYPE_HOST, DstHost: unsafe.Pointer(&got[0]), DstPitch: 20,
		WidthInBytes: 20, Height: 3}))
	for y := range 3 {
		copy(src[20*y+4:], []byte{0xee, 0xee})
	}
	if !slices.Equal(got, src) {
		t.Errorf("got  %x\nwant %x", got, src)
	}
}

func (s *shapes) pointers(t *testing.T) {
	p := s.alloc(t, 256)
	var kind uint32
	var managed uint32
	var ctx cu.CUcontext
	var pin runtime.Pinner
	defer pin.Unpin()
	for _, v := range []any{&kind, &managed, &ctx} {
		pin.Pin(v)
	}
	s.must(t, "cuPointerGetAttribute", s.c.PointerGetAttribute(unsafe.Pointer(&kind),
		cu.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p))
	if cu.CUmemorytype(kind) != cu.CU_MEMORYTYPE_DEVICE {
		t.Errorf("memory type %d", kind)
	}
	kind, managed = 0, 9
	s.must(t, "cuPointerGetAttributes",
		s.c.PointerGetAttributes([]cu.CUpointer_attribute{cu.CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
			cu.CU_POINTER_ATTRIBUTE_IS_MANAGED, cu.CU_POINTER_ATTRIBUTE_CONTEXT},
			[]unsafe.Pointer{unsafe.Pointer(&kind), unsafe.Pointer(&managed), unsafe.Pointer(&ctx)}, p+100))
	if cu.CUmemorytype(kind) != cu.CU_MEMORYTYPE_DEVICE || managed&0xff != 0 || ctx != s.ctx {
		t.Errorf("type %d, managed %d, context %x, want %x", kind, managed, ctx, s.ctx)
	}
	if err := s.c.PointerGetAttributes([]cu.CUpointer_attribute{cu.CU_POINTER_ATTRIBUTE_MEMORY_TYPE}, nil,
		p); !errors.Is(err, cu.CUDA_ERROR_INVALID_VALUE) {
		t.Errorf("slices of different lengths: %v", err)
	}
}

func (s *shapes) pool(t *testing.T) {
	st, err := s.c.StreamCreate(0)
	s.must(t, "cuStreamCreate", err)
	defer s.c.StreamDestroy(st)
	p, err := s.c.MemAllocAsync(1024, st)
	s.must(t, "cuMemAllocAsync", err)
	s.must(t, "cuMemsetD32Async", s.c.MemsetD32Async(p, 5, 256, st))
	got := make([]uint32, 256)
	s.must(t, "cuMemcpyDtoHAsync", s.c.MemcpyDtoHAsync(bytesOf(got), p, st))
	s.must(t, "cuMemFreeAsync", s.c.MemFreeAsync(p, st))
	s.must(t, "cuStreamSynchronize", s.c.StreamSynchronize(st))
	if got[0] != 5 || got[255] != 5 {
		t.Errorf("%d %d", got[0], got[255])
	}
	pool, err := s.c.DeviceGetDefaultMemPool(s.dev)
	s.must(t, "cuDeviceGetDefaultMemPool", err)
	var threshold uint64 = 1
	s.must(t, "cuMemPoolGetAttribute", s.c.MemPoolGetAttribute(pool, cu.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
		unsafe.Pointer(&threshold)))
	if threshold != 0 {
		t.Errorf("release threshold of the default pool: %d", threshold)
	}
}

func (s *shapes) load(t *testing.T) cu.CUmodule {
	t.Helper()
	m, err := s.c.ModuleLoadData([]byte(shapesPTX))
	s.must(t, "cuModuleLoadData", err)
	t.Cleanup(func() {
		if err := s.c.ModuleUnload(m); err != nil {
			t.Errorf("cuModuleUnload: %v", err)
		}
	})
	return m
}

func (s *shapes) function(t *testing.T, name string) cu.CUfunction {
	t.Helper()
	f, err := s.c.ModuleGetFunction(s.load(t), name)
	s.must(t, "cuModuleGetFunction", err)
	return f
}

func (s *shapes) module(t *testing.T) {
	m := s.load(t)
	n, err := s.c.ModuleGetFunctionCount(m)
	s.must(t, "cuModuleGetFunctionCount", err)
	fs, err := s.c.ModuleEnumerateFunctions(n, m)
	s.must(t, "cuModuleEnumerateFunctions", err)
	var names []string
	for _, f := range fs {
		name, err := s.c.FuncGetName(f)
		s.must(t, "cuFuncGetName", err)
		names = append(names, name)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"scale", "weigh"}) {
		t.Errorf("functions %q", names)
	}
	p, size, err := s.c.ModuleGetGlobal(m, "table")
	s.must(t, "cuModuleGetGlobal", err)
	got := make([]uint32, 4)
	if size != 16 {
		t.Fatalf("table has %d bytes", size)
	}
	s.must(t, "cuMemcpyDtoH", s.c.MemcpyDtoH(bytesOf(got), p))
	if !slices.Equal(got, []uint32{11, 22, 33, 44}) {
		t.Errorf("table %v", got)
	}
	f, err := s.c.ModuleGetFunction(m, "weigh")
	s.must(t, "cuModuleGetFunction", err)
	for i, want := range [][2]uint64{{0, 24}, {24, 1}, {26, 2}} {
		off, size, err := s.c.FuncGetParamInfo(f, uint64(i))
		s.must(t, "cuFuncGetParamInfo", err)
		if off != want[0] || size != want[1] {
			t.Errorf("parameter %d: %d bytes at %d, want %v", i, size, off, want)
		}
	}
	if _, _, err := s.c.FuncGetParamInfo(f, 3); !errors.Is(err, cu.CUDA_ERROR_INVALID_VALUE) {
		t.Errorf("parameter 3: %v", err)
	}
	back, err := s.c.FuncGetModule(f)
	s.must(t, "cuFuncGetModule", err)
	if back != m {
		t.Errorf("module %x, want %x", back, m)
	}
	if _, err := s.c.ModuleGetFunction(m, "scales"); !errors.Is(err, cu.CUDA_ERROR_NOT_FOUND) {
		t.Errorf("an unknown function: %v", err)
	}
	log := make([]byte, 4096)
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&log[0])
	_, err = s.c.ModuleLoadDataEx([]byte(strings.Replace(shapesPTX, "mul.rn.f32", "mull.rn.f32", 1)),
		[]cu.CUjit_option{cu.CU_JIT_ERROR_LOG_BUFFER, cu.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES},
		[]uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))})
	if text, _, _ := strings.Cut(string(log), "\x00"); !errors.Is(err, cu.CUDA_ERROR_INVALID_PTX) ||
		!strings.Contains(text, "mull") {
		t.Errorf("PTX with an error: %v, log %q", err, text)
	}
}

func (s *shapes) library(t *testing.T) {
	l, err := s.c.LibraryLoadData([]byte(shapesPTX), nil, nil, nil, nil)
	s.must(t, "cuLibraryLoadData", err)
	defer s.c.LibraryUnload(l)
	k, err := s.c.LibraryGetKernel(l, "scale")
	s.must(t, "cuLibraryGetKernel", err)
	name, err := s.c.KernelGetName(k)
	s.must(t, "cuKernelGetName", err)
	off, size, err := s.c.KernelGetParamInfo(k, 1)
	s.must(t, "cuKernelGetParamInfo", err)
	f, err := s.c.KernelGetFunction(k)
	s.must(t, "cuKernelGetFunction", err)
	if name != "scale" || off != 8 || size != 4 || f == 0 {
		t.Errorf("%q: parameter 1 has %d bytes at %d; function %x", name, size, off, f)
	}
}

// scaled fills 100 floats with 1.5, runs a launch that must multiply them, and returns the result.
func (s *shapes) scaled(t *testing.T, launch func(p cu.CUdeviceptr)) []float32 {
	t.Helper()
	p := s.alloc(t, 400)
	s.must(t, "cuMemsetD32", s.c.MemsetD32(p, math.Float32bits(1.5), 100))
	launch(p)
	s.must(t, "cuCtxSynchronize", s.c.CtxSynchronize())
	got := make([]float32, 100)
	s.must(t, "cuMemcpyDtoH", s.c.MemcpyDtoH(bytesOf(got), p))
	return got
}

func (s *shapes) launch(t *testing.T) {
	f := s.function(t, "scale")
	expect := func(how string, got []float32, a float32, n int) {
		t.Helper()
		for i, v := range got {
			want := float32(1.5)
			if i < n {
				want *= a
			}
			if v != want {
				t.Fatalf("%s: [%d] = %v, want %v", how, i, v, want)
			}
		}
	}
	a, n := float32(-3), uint32(70)
	expect("cuLaunchKernel", s.scaled(t, func(p cu.CUdeviceptr) {
		s.must(t, "cuLaunchKernel", s.c.LaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, 0,
			[]unsafe.Pointer{unsafe.Pointer(&p), unsafe.Pointer(&a), unsafe.Pointer(&n)}, nil))
	}), a, 70)
	expect("cuLaunchKernel, extra", s.scaled(t, func(p cu.CUdeviceptr) {
		buf := struct {
			p cu.CUdeviceptr
			a float32
			n uint32
		}{p, 4, 99}
		s.must(t, "cuLaunchKernel", s.c.LaunchKernel(f, 4, 1, 1, 32, 1, 1, 0, 0, nil,
			unsafe.Slice((*byte)(unsafe.Pointer(&buf)), unsafe.Sizeof(buf))))
	}), 4, 99)
	expect("cuLaunchKernelEx", s.scaled(t, func(p cu.CUdeviceptr) {
		cfg := cu.CUlaunchConfig{GridDimX: 2, GridDimY: 1, GridDimZ: 1, BlockDimX: 64, BlockDimY: 1, BlockDimZ: 1}
		s.must(t, "cuLaunchKernelEx", s.c.LaunchKernelEx(&cfg, f,
			[]unsafe.Pointer{unsafe.Pointer(&p), unsafe.Pointer(&a), unsafe.Pointer(&n)}, nil))
	}), a, 70)
	expect("cuLaunchCooperativeKernel", s.scaled(t, func(p cu.CUdeviceptr) {
		s.must(t, "cuLaunchCooperativeKernel", s.c.LaunchCooperativeKernel(f, 1, 1, 1, 128, 1, 1, 0, 0,
			[]unsafe.Pointer{unsafe.Pointer(&p), unsafe.Pointer(&a), unsafe.Pointer(&n)}))
	}), a, 70)

	// A struct by value and small integers.
	w := s.function(t, "weigh")
	out := s.alloc(t, 4)
	arg := struct {
		out  cu.CUdeviceptr
		a    uint32
		b    uint16
		wide uint64
	}{out, 1_000_000, 60_000, 1 << 40 >> 20}
	k, h := uint8(200), int16(-30_000)
	s.must(t, "cuLaunchKernel", s.c.LaunchKernel(w, 1, 1, 1, 1, 1, 1, 0, 0,
		[]unsafe.Pointer{unsafe.Pointer(&arg), unsafe.Pointer(&k), unsafe.Pointer(&h)}, nil))
	got := make([]uint32, 1)
	s.must(t, "cuMemcpyDtoH", s.c.MemcpyDtoH(bytesOf(got), out))
	if want := uint32(1_000_000 + 60_000 + 1<<20 + 200 - 30_000); got[0] != want {
		t.Errorf("weigh = %d, want %d", got[0], want)
	}
	if err := s.c.LaunchKernel(f, 1, 1, 1, 2048, 1, 1, 0, 0,
		[]unsafe.Pointer{unsafe.Pointer(&out), unsafe.Pointer(&a), unsafe.Pointer(&n)}, nil); !errors.Is(err,
		cu.CUDA_ERROR_INVALID_VALUE) {
		t.Errorf("2048 threads in a block: %v", err)
	}
}

func (s *shapes) stream(t *testing.T) {
	_, greatest, err := s.c.CtxGetStreamPriorityRange()
	s.must(t, "cuCtxGetStreamPriorityRange", err)
	st, err := s.c.StreamCreateWithPriority(uint32(cu.CU_STREAM_NON_BLOCKING), greatest)
	s.must(t, "cuStreamCreateWithPriority", err)
	prio, err := s.c.StreamGetPriority(st)
	s.must(t, "cuStreamGetPriority", err)
	flags, err := s.c.StreamGetFlags(st)
	s.must(t, "cuStreamGetFlags", err)
	ctx, err := s.c.StreamGetCtx(st)
	s.must(t, "cuStreamGetCtx", err)
	if prio != greatest || flags != uint32(cu.CU_STREAM_NON_BLOCKING) || ctx != s.ctx {
		t.Errorf("priority %d, flags %d, context %x", prio, flags, ctx)
	}
	s.must(t, "cuStreamQuery", s.c.StreamQuery(st))
	s.must(t, "cuStreamDestroy", s.c.StreamDestroy(st))
}

func (s *shapes) event(t *testing.T) {
	a, err := s.c.EventCreate(0)
	s.must(t, "cuEventCreate", err)
	b, err := s.c.EventCreate(0)
	s.must(t, "cuEventCreate", err)
	s.must(t, "cuEventRecord", s.c.EventRecord(a, 0))
	p := s.alloc(t, 1<<20)
	s.must(t, "cuMemsetD8Async", s.c.MemsetD8Async(p, 1, 1<<20, 0))
	s.must(t, "cuEventRecord", s.c.EventRecord(b, 0))
	s.must(t, "cuEventSynchronize", s.c.EventSynchronize(b))
	ms, err := s.c.EventElapsedTime(a, b) // a float through a pointer
	s.must(t, "cuEventElapsedTime", err)
	if ms < 0 || ms > 60_000 {
		t.Errorf("%v ms between two events", ms)
	}
	s.must(t, "cuEventDestroy", s.c.EventDestroy(a))
	s.must(t, "cuEventDestroy", s.c.EventDestroy(b))
}

func (s *shapes) callbacks(t *testing.T) {
	st, err := s.c.StreamCreate(0)
	s.must(t, "cuStreamCreate", err)
	defer s.c.StreamDestroy(st)
	var order []string
	s.must(t, "cuLaunchHostFunc", s.c.LaunchHostFunc(st, func() { order = append(order, "host function") }))
	s.must(t, "cuStreamAddCallback", s.c.StreamAddCallback(st, func(in cu.CUstream, status cu.CUresult) {
		if in != st || status != cu.CUDA_SUCCESS {
			order = append(order, "wrong arguments")
		}
		order = append(order, "stream callback")
	}, 0))
	s.must(t, "cuStreamSynchronize", s.c.StreamSynchronize(st))
	if !slices.Equal(order, []string{"host function", "stream callback"}) {
		t.Errorf("%q", order)
	}
}

func (s *shapes) occupancy(t *testing.T) {
	f := s.function(t, "scale")
	n, err := s.c.OccupancyMaxActiveBlocksPerMultiprocessor(f, 1024, 0)
	s.must(t, "cuOccupancyMaxActiveBlocksPerMultiprocessor", err)
	if n < 1 || n > 2 {
		t.Errorf("%d blocks of 1024 threads on a multiprocessor", n)
	}
	asked := 0
	grid, block, err := s.c.OccupancyMaxPotentialBlockSize(f, func(size int32) uint64 {
		asked++
		return uint64(size) * 16
	}, 0, 0)
	s.must(t, "cuOccupancyMaxPotentialBlockSize", err)
	if asked == 0 || grid < 1 || block < 32 || block > 1024 {
		t.Errorf("grid %d, block %d, the function was asked %d times", grid, block, asked)
	}
}

func (s *shapes) arrays(t *testing.T) {
	a, err := s.c.ArrayCreate(&cu.CUDA_ARRAY_DESCRIPTOR{Width: 16, Height: 2, Format: cu.CU_AD_FORMAT_UNSIGNED_INT32,
		NumChannels: 1})
	s.must(t, "cuArrayCreate", err)
	defer s.c.ArrayDestroy(a)
	d, err := s.c.ArrayGetDescriptor(a) // a struct as a result
	s.must(t, "cuArrayGetDescriptor", err)
	if d.Width != 16 || d.Height != 2 || d.Format != cu.CU_AD_FORMAT_UNSIGNED_INT32 || d.NumChannels != 1 {
		t.Errorf("%+v", d)
	}
	line := make([]uint32, 16)
	for i := range line {
		line[i] = uint32(i * i)
	}
	s.must(t, "cuMemcpyHtoA", s.c.MemcpyHtoA(a, 0, bytesOf(line)))
	got := make([]uint32, 16)
	s.must(t, "cuMemcpyAtoH", s.c.MemcpyAtoH(bytesOf(got), a, 0))
	if !slices.Equal(got, line) {
		t.Errorf("%v", got)
	}
}

func (s *shapes) tensorMap(t *testing.T) {
	p := s.alloc(t, 64*64*4)
	m, err := s.c.TensorMapEncodeTiled(cu.CU_TENSOR_MAP_DATA_TYPE_FLOAT32, p, []uint64{64, 64}, []uint64{256},
		[]uint32{16, 16}, []uint32{1, 1},
		cu.CU_TENSOR_MAP_INTERLEAVE_NONE, cu.CU_TENSOR_MAP_SWIZZLE_NONE, cu.CU_TENSOR_MAP_L2_PROMOTION_NONE,
		cu.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
	s.must(t, "cuTensorMapEncodeTiled", err)
	if m == (cu.CUtensorMap{}) {
		t.Error("the map is empty")
	}
	if _, err := s.c.TensorMapEncodeTiled(cu.CU_TENSOR_MAP_DATA_TYPE_FLOAT32, p+4, []uint64{64, 64}, []uint64{256},
		[]uint32{16, 16}, []uint32{1, 1},
		cu.CU_TENSOR_MAP_INTERLEAVE_NONE, cu.CU_TENSOR_MAP_SWIZZLE_NONE, cu.CU_TENSOR_MAP_L2_PROMOTION_NONE,
		cu.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE); !errors.Is(err, cu.CUDA_ERROR_INVALID_VALUE) {
		t.Errorf("an address that is no multiple of 16: %v", err)
	}
}

func (s *shapes) memoryOperations(t *testing.T) {
	p := s.alloc(t, 16)
	s.must(t, "cuMemsetD8", s.c.MemsetD8(p, 0, 16))
	ops := make([]cu.CUstreamBatchMemOpParams, 2) // an array of unions
	for i := range ops {
		w := ops[i].WriteValue()
		w.Operation, w.Address = cu.CU_STREAM_MEM_OP_WRITE_VALUE_32, p+cu.CUdeviceptr(4*i)
		*w.Value() = uint32(i + 5)
	}
	st, err := s.c.StreamCreate(0)
	s.must(t, "cuStreamCreate", err)
	defer s.c.StreamDestroy(st)
	s.must(t, "cuStreamBatchMemOp", s.c.StreamBatchMemOp(st, ops, 0))
	s.must(t, "cuStreamSynchronize", s.c.StreamSynchronize(st))
	got := make([]uint32, 4)
	s.must(t, "cuMemcpyDtoH", s.c.MemcpyDtoH(bytesOf(got), p))
	if !slices.Equal(got, []uint32{5, 6, 0, 0}) {
		t.Errorf("%v", got)
	}
}

func (s *shapes) location(t *testing.T) {
	p, err := s.c.MemAllocManaged(1<<16, uint32(cu.CU_MEM_ATTACH_GLOBAL))
	s.must(t, "cuMemAllocManaged", err)
	defer s.c.MemFree(p)
	here := cu.CUmemLocation{Type: cu.CU_MEM_LOCATION_TYPE_DEVICE, Id: int32(s.dev)}
	s.must(t, "cuMemAdvise", s.c.MemAdvise(p, 1<<16, cu.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here))
	where := []int32{-7}
	s.must(t, "cuMemRangeGetAttribute", s.c.MemRangeGetAttribute(bytesOf(where),
		cu.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 1<<16))
	if where[0] != int32(s.dev) {
		t.Errorf("preferred location %d, want %d", where[0], s.dev)
	}
	s.must(t, "cuMemPrefetchAsync", s.c.MemPrefetchAsync(p, 1<<16, here, 0, 0))
	s.must(t, "cuCtxSynchronize", s.c.CtxSynchronize())
	if err := s.c.MemPrefetchAsync(p, 1<<16, cu.CUmemLocation{Type: cu.CU_MEM_LOCATION_TYPE_DEVICE, Id: 77}, 0,
		0); err == nil {
		t.Error("a prefetch to device 77 succeeds")
	}
}

// ipc opens memory in another process: the handle of 64 bytes goes by value.
func (s *shapes) ipc(t *testing.T) {
	p := s.alloc(t, 1<<21)
	s.must(t, "cuMemsetD32", s.c.MemsetD32(p, 0x600df00d, 16))
	s.must(t, "cuCtxSynchronize", s.c.CtxSynchronize())
	h, err := s.c.IpcGetMemHandle(p)
	s.must(t, "cuIpcGetMemHandle", err)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestShapes$", "-test.v")
	cmd.Env = append(os.Environ(), ipcVariable+"="+
		hex.EncodeToString(unsafe.Slice((*byte)(unsafe.Pointer(&h)), unsafe.Sizeof(h))))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func (s *shapes) ipcChild(t *testing.T, text string) {
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	var h cu.CUipcMemHandle
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&h)), unsafe.Sizeof(h)), b)
	p, err := s.c.IpcOpenMemHandle(h, uint32(cu.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
	s.must(t, "cuIpcOpenMemHandle", err)
	got := make([]uint32, 16)
	s.must(t, "cuMemcpyDtoH", s.c.MemcpyDtoH(bytesOf(got), p))
	if got[0] != 0x600df00d || got[15] != 0x600df00d {
		t.Errorf("%x", got)
	}
	s.must(t, "cuIpcCloseMemHandle", s.c.IpcCloseMemHandle(p))
}

func (s *shapes) graph(t *testing.T) {
	g, err := s.c.GraphCreate(0)
	s.must(t, "cuGraphCreate", err)
	defer s.c.GraphDestroy(g)
	a, err := s.c.GraphAddEmptyNode(g, nil)
	s.must(t, "cuGraphAddEmptyNode", err)
	b, err := s.c.GraphAddEmptyNode(g, []cu.CUgraphNode{a})
	s.must(t, "cuGraphAddEmptyNode", err)
	_, n, err := s.c.GraphGetNodes(g, 0)
	s.must(t, "cuGraphGetNodes", err)
	nodes, _, err := s.c.GraphGetNodes(g, n) // an array whose size the call says
	s.must(t, "cuGraphGetNodes", err)
	if n != 2 || !slices.Contains(nodes, a) || !slices.Contains(nodes, b) {
		t.Errorf("%d nodes %x, want %x and %x", n, nodes, a, b)
	}
	from, to, _, _, err := s.c.GraphGetEdges(g, 1) // several arrays with one count
	s.must(t, "cuGraphGetEdges", err)
	if !slices.Equal(from, []cu.CUgraphNode{a}) || !slices.Equal(to, []cu.CUgraphNode{b}) {
		t.Errorf("edges from %x to %x", from, to)
	}
}

func (s *shapes) noContext(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	free := s.c.In(0)
	for { // what other tests have left on this thread, contexts that are gone included
		if _, err := free.CtxPopCurrent(); errors.Is(err, cu.CUDA_ERROR_INVALID_CONTEXT) {
			break
		}
	}
	if _, err := free.MemAlloc(16); !errors.Is(err, cu.CUDA_ERROR_INVALID_CONTEXT) {
		t.Errorf("an allocation without a context: %v", err)
	}
}
