package cudart_test

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/cudart"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/skip"
	"github.com/gocuda/cuda/internal/softdev"
)

const image = `.version 8.0
.target sm_90
.address_size 64
.visible .const .align 4 .u32 factor = 3;
.visible .global .align 4 .u32 total;
.visible .entry store(.param .u64 p, .param .u32 v)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r1, [v];
	ld.const.u32 %r2, [factor];
	mul.lo.u32 %r3, %r1, %r2;
	st.global.u32 [%rd1], %r3;
	ret;
}
`

// open makes the runtime of CUDA 13 over a software device and registers the image, with kernel 1 and variable 2.
func open(t *testing.T) (*cudart.Runtime, *cudart.Views, *cudart.Module) {
	t.Helper()
	r, views, m, _ := openTable(t)
	return r, views, m
}

func openTable(t *testing.T) (*cudart.Runtime, *cudart.Views, *cudart.Module, *driver.Table) {
	t.Helper()
	d, err := softdev.New(softdev.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	views := cudart.New(d.Table(), cudart.Options{})
	r := views[1][0]
	text := append([]byte(image), 0)
	m := r.RegisterFatBinary(unsafe.Pointer(&text[0]))
	r.RegisterFunction(m, 1, "store")
	r.RegisterFunction(m, 3, "missing")
	r.RegisterVar(m, 2, "factor", 4, nil)
	return r, views, m, d.Table()
}

func want(t *testing.T, what string, got, want cudart.Error) {
	t.Helper()
	if got != want {
		t.Errorf("%s: error %d, want %d", what, got, want)
	}
}

// address is where a variable stands until the test ends: the stack moves.
func address[T any](t *testing.T, p *T) uintptr {
	t.Helper()
	var pin runtime.Pinner
	pin.Pin(p)
	t.Cleanup(pin.Unpin)
	return uintptr(unsafe.Pointer(p))
}

// launch stores 5 times the factor and returns what is there.
func launch(t *testing.T, r *cudart.Runtime, th *cudart.Thread) uint32 {
	t.Helper()
	var p uintptr
	want(t, "Malloc", r.Malloc(th, &p, 4), cudart.Success)
	v := uint32(5)
	args := [2]uintptr{address(t, &p), address(t, &v)}
	one := cudart.Dim3{X: 1, Y: 1, Z: 1}
	want(t, "LaunchKernel", r.LaunchKernel(th, 1, one, one, &args[0], 0, 0), cudart.Success)
	var out uint32
	want(t, "Memcpy", r.Memcpy(th, address(t, &out), p, 4, cudart.MemcpyDeviceToHost), cudart.Success)
	want(t, "Free", r.Free(th, p), cudart.Success)
	return out
}

func TestRegistered(t *testing.T) {
	r, _, m := open(t)
	th := new(cudart.Thread)
	if v := launch(t, r, th); v != 15 {
		t.Errorf("the kernel stored %d", v)
	}
	seven := uint32(7)
	want(t, "MemcpyToSymbol", r.MemcpyToSymbol(th, 2, address(t, &seven), 4, 0, cudart.MemcpyHostToDevice),
		cudart.Success)
	if v := launch(t, r, th); v != 35 {
		t.Errorf("the kernel stored %d", v)
	}
	one := cudart.Dim3{X: 1, Y: 1, Z: 1}
	want(t, "a kernel that the image has not", r.LaunchKernel(th, 3, one, one, nil, 0, 0),
		cudart.ErrorInvalidDeviceFunction)
	want(t, "no kernel", r.LaunchKernel(th, 99, one, one, nil, 0, 0), cudart.ErrorInvalidResourceHandle)
	want(t, "no variable", r.MemcpyToSymbol(th, 1, address(t, &seven), 4, 0, cudart.MemcpyHostToDevice),
		cudart.ErrorInvalidSymbol)
	want(t, "UnregisterFatBinary", r.UnregisterFatBinary(th, m), cudart.Success)
	want(t, "what was registered", r.LaunchKernel(th, 1, one, one, nil, 0, 0), cudart.ErrorInvalidResourceHandle)
}

// The last error is the thread's, stays until it is asked for, and is not that of a query.
func TestLastError(t *testing.T) {
	r, _, _ := open(t)
	a, b := new(cudart.Thread), new(cudart.Thread)
	want(t, "Malloc", r.Malloc(a, nil, 4), cudart.ErrorInvalidValue)
	want(t, "Free", r.Free(a, 0), cudart.Success)
	want(t, "PeekAtLastError", r.PeekAtLastError(a), cudart.ErrorInvalidValue)
	want(t, "PeekAtLastError of another", r.PeekAtLastError(b), cudart.Success)
	want(t, "GetLastError", r.GetLastError(a), cudart.ErrorInvalidValue)
	want(t, "GetLastError again", r.GetLastError(a), cudart.Success)
}

// After a reset the image is loaded anew with its values, in this thread and in one that knew the old context.
func TestReset(t *testing.T) {
	r, _, _ := open(t)
	th := new(cudart.Thread)
	seven := uint32(7)
	want(t, "MemcpyToSymbol", r.MemcpyToSymbol(th, 2, address(t, &seven), 4, 0, cudart.MemcpyHostToDevice),
		cudart.Success)
	want(t, "DeviceReset", r.DeviceReset(th), cudart.Success)
	if v := launch(t, r, th); v != 15 {
		t.Errorf("the kernel stored %d", v)
	}
}

// Records have the layout of the version: a short one is not written beyond its end.
func TestVersions(t *testing.T) {
	r, views, _ := open(t)
	th := new(cudart.Thread)
	var p uintptr
	want(t, "Malloc", r.Malloc(th, &p, 64), cudart.Success)
	type guarded struct {
		a     cudart.PointerAttributes_v12
		guard uint64
	}
	g := guarded{guard: 77}
	want(t, "PointerGetAttributes", views[0][0].PointerGetAttributes(th,
		(*cudart.PointerAttributes)(unsafe.Pointer(&g)), p), cudart.Success)
	if g.guard != 77 || g.a.Type != cudart.MemoryTypeDevice || g.a.DevicePointer != p {
		t.Errorf("%+v", g)
	}
	var d12 cudart.DeviceProp_v12
	var d13 cudart.DeviceProp
	want(t, "12", views[0][0].GetDeviceProperties(th, (*cudart.DeviceProp)(unsafe.Pointer(&d12)), 0), cudart.Success)
	want(t, "13", r.GetDeviceProperties(th, &d13, 0), cudart.Success)
	if d12.Major != 9 || d13.Major != 9 || d12.TotalGlobalMem != d13.TotalGlobalMem || d12.ClockRate == 0 {
		t.Errorf("%d.%d, %d.%d", d12.Major, d12.Minor, d13.Major, d13.Minor)
	}
	want(t, "a launch that no device could run, 12",
		views[0][0].LaunchKernel(th, 1, cudart.Dim3{}, cudart.Dim3{}, nil, 0,
			0), cudart.ErrorInvalidConfiguration)
	want(t, "13", r.LaunchKernel(th, 1, cudart.Dim3{}, cudart.Dim3{}, nil, 0, 0), cudart.ErrorInvalidValue)
}

// A launch allocates nothing beyond what the driver's does.
func TestLaunchAllocates(t *testing.T) {
	if skip.Race {
		skip.Without(t, skip.Pools)
	}
	r, _, _, table := openTable(t)
	th := new(cudart.Thread)
	var p uintptr
	want(t, "Malloc", r.Malloc(th, &p, 4), cudart.Success)
	v := uint32(5)
	args := [2]uintptr{address(t, &p), address(t, &v)}
	one := cudart.Dim3{X: 1, Y: 1, Z: 1}
	call := func() {
		r.LaunchKernel(th, 1, one, one, &args[0], 0, 0)
		r.StreamSynchronize(th, 0)
	}
	var f driver.CUfunction
	want(t, "GetFuncBySymbol", r.GetFuncBySymbol(th, &f, 1), cudart.Success)
	direct := func() {
		table.LaunchKernel(th.Current, f, 1, 1, 1, 1, 1, 1, 0, 0, (*unsafe.Pointer)(unsafe.Pointer(&args[0])), nil)
		table.StreamSynchronize(th.Current, 0)
	}
	call()
	if n, m := testing.AllocsPerRun(200, call), testing.AllocsPerRun(200, direct); n > m {
		t.Errorf("%v allocations, the driver's launch has %v", n, m)
	}
}
