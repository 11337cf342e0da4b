package softdev

import (
	"bytes"
	"runtime"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// open makes a driver with a context; the returned context is current in every call that names it.
func open(t testing.TB, o Options) (*Driver, *driver.Table, driver.CUcontext) {
	t.Helper()
	d, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	tab := d.Table()
	must(t, tab.Init(0, 0))
	var ctx driver.CUcontext
	must(t, tab.DevicePrimaryCtxRetain(0, &ctx, 0))
	return d, tab, ctx
}

func must(t testing.TB, r driver.CUresult) {
	t.Helper()
	if r != driver.CUDA_SUCCESS {
		t.Fatalf("%v", r)
	}
}

func want(t testing.TB, what string, got, expect driver.CUresult) {
	t.Helper()
	if got != expect {
		t.Errorf("%s: %v, want %v", what, got, expect)
	}
}

// address gives memory a number that stays true: Go moves stacks, so the memory is pinned until the test ends.
func address[T any](t testing.TB, p *T) uintptr {
	t.Helper()
	var pin runtime.Pinner
	pin.Pin(p)
	t.Cleanup(pin.Unpin)
	return uintptr(unsafe.Pointer(p))
}

func cstr(s string) *byte {
	b := append([]byte(s), 0)
	return &b[0]
}

func load(t testing.TB, d *Driver, ctx driver.CUcontext, text string) driver.CUmodule {
	t.Helper()
	var m driver.CUmodule
	if r := d.Table().ModuleLoadData(ctx, &m, unsafe.Pointer(cstr(text))); r != driver.CUDA_SUCCESS {
		t.Fatalf("load: %v: %s", r, d.LastDetail(ctx))
	}
	return m
}

func fn(t testing.TB, d *Driver, ctx driver.CUcontext, m driver.CUmodule, name string) driver.CUfunction {
	t.Helper()
	var f driver.CUfunction
	must(t, d.Table().ModuleGetFunction(ctx, &f, m, cstr(name)))
	return f
}

const addPTX = `
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 bias = 5;
.visible .entry add(.param .u64 p, .param .u32 k)
{
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r1, [k];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r2, %r3, %r4;
	mul.wide.u32 %rd2, %r5, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r6, [%rd3];
	add.s32 %r6, %r6, %r1;
	ld.global.u32 %r7, [bias];
	add.s32 %r6, %r6, %r7;
	st.global.u32 [%rd3], %r6;
	ret;
}
`

func TestLaunch(t *testing.T) {
	var out bytes.Buffer
	d, tab, ctx := open(t, Options{Stdout: &out})
	m := load(t, d, ctx, addPTX)
	f := fn(t, d, ctx, m, "add")
	var p driver.CUdeviceptr
	const n = 1024
	must(t, tab.MemAlloc_v2(ctx, &p, n*4))
	host := make([]uint32, n)
	for i := range host {
		host[i] = uint32(i)
	}
	must(t, tab.MemcpyHtoD_v2(ctx, p, unsafe.Pointer(&host[0]), n*4))
	k := uint32(7)
	params := []unsafe.Pointer{unsafe.Pointer(&p), unsafe.Pointer(&k)}
	if r := tab.LaunchKernel(ctx, f, n/128, 1, 1, 128, 1, 1, 0, 0, &params[0], nil); r != 0 {
		t.Fatal(r, d.LastDetail(ctx))
	}
	must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&host[0]), p, n*4))
	for i, v := range host {
		if v != uint32(i)+12 {
			t.Fatalf("element %d is %d, want %d", i, v, i+12)
		}
	}
	must(t, tab.MemFree_v2(ctx, p))
}
