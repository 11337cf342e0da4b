package softdev

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

const addOne = `.version 8.0
.target sm_80
.address_size 64
.visible .entry addone(.param .u64 p)
{
	.reg .u64 %a; .reg .u32 %v, %t; .reg .u64 %o;
	ld.param.u64 %a, [p];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %o, %t, 4;
	add.u64 %a, %a, %o;
	ld.global.u32 %v, [%a];
	add.u32 %v, %v, 1;
	st.global.u32 [%a], %v;
	ret;
}
`

// TestMultiDeviceLaunch: the rules are those of the description of cuLaunchCooperativeKernelMultiDevice.
func TestMultiDeviceLaunch(t *testing.T) {
	d, err := New(Options{Profiles: []string{"", ""}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tab := d.Table()
	must(t, tab.Init(0, 0))
	text := append([]byte(addOne), 0)
	var list [2]driver.CUDA_LAUNCH_PARAMS
	var mem [2]driver.CUdeviceptr
	var ctx [2]driver.CUcontext
	var pins runtime.Pinner
	defer pins.Unpin()
	for i := range list {
		must(t, tab.CtxCreate_v2(0, &ctx[i], 0, driver.CUdevice(i)))
		var m driver.CUmodule
		var f driver.CUfunction
		var s driver.CUstream
		must(t, tab.ModuleLoadData(0, &m, unsafe.Pointer(&text[0])))
		must(t, tab.ModuleGetFunction(0, &f, m, cstr("addone")))
		must(t, tab.StreamCreate(0, &s, 1))
		must(t, tab.MemAlloc_v2(0, &mem[i], 4*32))
		must(t, tab.MemsetD32_v2(0, mem[i], uint32(i)*100, 32))
		args := &[1]unsafe.Pointer{unsafe.Pointer(&mem[i])}
		pins.Pin(&mem[i])
		pins.Pin(args)
		list[i] = driver.CUDA_LAUNCH_PARAMS{Function: f, GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 32,
			BlockDimY: 1, BlockDimZ: 1, HStream: s, KernelParams: &args[0]}
	}
	must(t, tab.LaunchCooperativeKernelMultiDevice(0, &list[0], 2, 0))
	for i := range list {
		must(t, tab.StreamSynchronize(ctx[i], list[i].HStream))
		var got [32]uint32
		must(t, tab.MemcpyDtoH_v2(ctx[i], unsafe.Pointer(&got), mem[i], 128))
		for _, v := range got {
			if v != uint32(i)*100+1 {
				t.Fatalf("device %d: %v", i, got)
			}
		}
	}
	for _, c := range []struct {
		name string
		edit func(l *[2]driver.CUDA_LAUNCH_PARAMS) (n, flags uint32)
		want driver.CUresult
	}{
		{"no launches", func(*[2]driver.CUDA_LAUNCH_PARAMS) (uint32, uint32) { return 0, 0 }, invalidValue},
		{"more launches than devices", func(*[2]driver.CUDA_LAUNCH_PARAMS) (uint32, uint32) {
			return 3, 0
		}, invalidValue},
		{"flags", func(*[2]driver.CUDA_LAUNCH_PARAMS) (uint32, uint32) { return 2, 4 }, invalidValue},
		{"default stream", func(l *[2]driver.CUDA_LAUNCH_PARAMS) (uint32, uint32) {
			l[1].HStream = 0
			return 2, 0
		}, badHandle},
		{"one device twice", func(l *[2]driver.CUDA_LAUNCH_PARAMS) (uint32, uint32) {
			l[1] = l[0]
			return 2, 0
		}, driver.CUDA_ERROR_INVALID_DEVICE}, // recorded
		{"other sizes", func(l *[2]driver.CUDA_LAUNCH_PARAMS) (uint32, uint32) {
			l[1].BlockDimX = 31
			return 2, 0
		}, invalidValue},
		{"no function", func(l *[2]driver.CUDA_LAUNCH_PARAMS) (uint32, uint32) {
			l[1].Function = 0
			return 2, 0
		}, badHandle},
		{"too large", func(l *[2]driver.CUDA_LAUNCH_PARAMS) (uint32, uint32) {
			l[0].GridDimX = 1 << 20
			return 1, 0
		}, driver.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE},
	} {
		l := new([2]driver.CUDA_LAUNCH_PARAMS)
		*l = list
		n, flags := c.edit(l)
		if r := tab.LaunchCooperativeKernelMultiDevice(0, &l[0], n, flags); r != c.want {
			t.Errorf("%s: %v, want %v", c.name, r, c.want)
		}
	}
}

// TestAtomicCapabilities: H200 devices have no native atomics on host memory
// (CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED is recorded as 0).
func TestAtomicCapabilities(t *testing.T) {
	d, err := New(Options{Profiles: []string{"", ""}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tab := d.Table()
	must(t, tab.Init(0, 0))
	ops := [2]driver.CUatomicOperation{driver.CU_ATOMIC_OPERATION_INTEGER_ADD, driver.CU_ATOMIC_OPERATION_CAS}
	got := [2]uint32{99, 99}
	must(t, tab.DeviceGetHostAtomicCapabilities(0, &got[0], &ops[0], 2, 0))
	if got != [2]uint32{} {
		t.Errorf("host: %v", got)
	}
	got = [2]uint32{99, 99}
	must(t, tab.DeviceGetP2PAtomicCapabilities(0, &got[0], &ops[0], 2, 0, 1))
	if got != [2]uint32{} { // recorded with two H100 that NVLink joins
		t.Errorf("peer: %v", got)
	}
	if r := tab.DeviceGetP2PAtomicCapabilities(0, &got[0], &ops[0], 2, 1, 1); r != driver.CUDA_ERROR_INVALID_DEVICE {
		t.Errorf("one device: %v", r)
	}
	ops[1] = driver.CU_ATOMIC_OPERATION_MAX
	if r := tab.DeviceGetHostAtomicCapabilities(0, &got[0], &ops[0], 2, 0); r != invalidValue {
		t.Errorf("no operation: %v", r)
	}
}
