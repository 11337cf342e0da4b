package softdev

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// lock keeps the test on one OS thread, for calls that use the thread's current context.
func lock(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
}

// bare makes a driver after cuInit with no context anywhere.
func bare(t *testing.T, o Options) (*Driver, *driver.Table) {
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
	must(t, d.Table().Init(0, 0))
	return d, d.Table()
}

func TestInit(t *testing.T) {
	d, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	tab := d.Table()
	var n, v int32
	want(t, "cuDeviceGetCount before cuInit", tab.DeviceGetCount(0, &n), driver.CUDA_ERROR_NOT_INITIALIZED)
	want(t, "cuDriverGetVersion before cuInit", tab.DriverGetVersion(0, &v), driver.CUDA_SUCCESS)
	if v != 13000 {
		t.Errorf("version %d, want 13000", v)
	}
	want(t, "cuInit(1)", tab.Init(0, 1), driver.CUDA_ERROR_INVALID_VALUE)
	want(t, "cuInit(0)", tab.Init(0, 0), driver.CUDA_SUCCESS)
	want(t, "cuInit(0) again", tab.Init(0, 0), driver.CUDA_SUCCESS)
	want(t, "cuInit(1) after", tab.Init(0, 1), driver.CUDA_ERROR_INVALID_VALUE)
	must(t, tab.DeviceGetCount(0, &n))
	if n != 1 {
		t.Errorf("%d devices", n)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	want(t, "after Close", tab.DeviceGetCount(0, &n), driver.CUDA_ERROR_DEINITIALIZED)
	if err := d.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// TestErrorText and the tests below: expectations are answers of driver 580.159.04 on an H200 unless they say
// otherwise.
func TestErrorText(t *testing.T) {
	_, tab := bare(t, Options{})
	var s *byte
	must(t, tab.GetErrorName(0, driver.CUDA_ERROR_INVALID_VALUE, &s))
	if got := driver.String(s); got != "CUDA_ERROR_INVALID_VALUE" {
		t.Error(got)
	}
	want(t, "unknown code", tab.GetErrorName(0, 99999, &s), driver.CUDA_ERROR_INVALID_VALUE)
	if s != nil {
		t.Error("the name of an unknown code is not NULL")
	}
}

func TestGetProcAddress(t *testing.T) {
	d, err := New(Options{ProcAddr: func(symbol string) uintptr { return uintptr(len(symbol)) }})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, c := range []struct {
		name    string
		version int32
		flags   uint64
		result  driver.CUresult
		found   bool
		status  driver.CUdriverProcAddressQueryResult
	}{
		{"cuMemAlloc", 13000, 0, driver.CUDA_SUCCESS, true, 0},
		{"cuMemAlloc", 2000, 0, driver.CUDA_SUCCESS, true, 0},
		{"cuMemAlloc", 1000, 0, driver.CUDA_SUCCESS, false, 2},
		{"cuFoo", 13000, 0, driver.CUDA_SUCCESS, false, 1},
		{"", 13000, 0, driver.CUDA_SUCCESS, false, 1},
		{"cuMemAlloc_v2", 13000, 0, driver.CUDA_SUCCESS, false, 1},
		{"cuMemcpyHtoD", 13000, 3, driver.CUDA_SUCCESS, true, 0},
		{"cuMemcpyHtoD", 13000, 99, driver.CUDA_ERROR_INVALID_VALUE, false, 77},
		{"cuLaunchKernelEx", 11000, 0, driver.CUDA_SUCCESS, false, 2},
		{"cuLaunchKernelEx", 13010, 0, driver.CUDA_ERROR_INVALID_VALUE, false, 77},
		{"cuLaunchKernelEx", 0, 0, driver.CUDA_SUCCESS, false, 2},
		{"cuLaunchKernelEx", -1, 0, driver.CUDA_SUCCESS, true, 0},
	} {
		var p uintptr
		status := driver.CUdriverProcAddressQueryResult(77)
		what := fmt.Sprintf("%s %d %d", c.name, c.version, c.flags)
		want(t, what, d.Table().GetProcAddress_v2(0, cstr(c.name), &p, c.version, c.flags, &status), c.result)
		if (p != 0) != c.found || status != c.status {
			t.Errorf("%s: pointer %#x status %d, want found %v status %d", what, p, status, c.found, c.status)
		}
	}
}

func TestContextFlags(t *testing.T) {
	lock(t)
	_, tab := bare(t, Options{})
	for _, c := range []struct {
		flags  uint32
		result driver.CUresult
		get    uint32
	}{
		{0, 0, 0}, {1, 0, 1}, {2, 0, 2}, {3, 1, 0}, {4, 0, 4}, {5, 1, 0}, {6, 1, 0}, {7, 1, 0}, {8, 0, 8}, {16, 0, 16},
		{24, 0, 24},
		{32, 0, 32}, {64, 0, 32}, {96, 0, 32}, {128, 0, 128}, {255, 1, 0}, {256, 1, 0}, {65536, 1, 0},
	} {
		var ctx driver.CUcontext
		what := fmt.Sprintf("cuCtxCreate flags %#x", c.flags)
		want(t, what, tab.CtxCreate_v4(0, &ctx, nil, c.flags, 0), c.result)
		if c.result != 0 {
			continue
		}
		var f, v uint32
		must(t, tab.CtxGetFlags(0, &f))
		must(t, tab.CtxGetApiVersion(0, ctx, &v))
		if f != c.get || v != 3020 {
			t.Errorf("%s: reads %#x version %d, want %#x version 3020", what, f, v, c.get)
		}
		must(t, tab.CtxDestroy_v2(0, ctx))
	}
	var ctx driver.CUcontext
	must(t, tab.CtxCreate(0, &ctx, 0, 0))
	var v uint32
	must(t, tab.CtxGetApiVersion(0, ctx, &v))
	if v != 3010 {
		t.Errorf("cuCtxCreate: version %d", v)
	}
	last := uint32(0)
	for _, c := range []struct {
		flags  uint32
		result driver.CUresult
		get    uint32
	}{{0, 0, 0}, {1, 0, 1}, {3, 1, 1}, {4, 0, 4}, {7, 1, 4}, {8, 0, 0}, {16, 0, 16}, {32, 0, 0}, {64, 0, 0},
		{128, 0, 128}, {256, 1, 128}} {
		want(t, fmt.Sprintf("cuCtxSetFlags(%d)", c.flags), tab.CtxSetFlags(0, c.flags), c.result)
		must(t, tab.CtxGetFlags(0, &last))
		if last != c.get {
			t.Errorf("after cuCtxSetFlags(%d): %d, want %d", c.flags, last, c.get)
		}
	}
}

func TestContextStack(t *testing.T) {
	lock(t)
	_, tab := bare(t, Options{})
	current := func() (c driver.CUcontext) { must(t, tab.CtxGetCurrent(0, &c)); return c }
	pop := func() (c driver.CUcontext) { must(t, tab.CtxPopCurrent_v2(0, &c)); return c }
	var dev driver.CUdevice
	var c0 driver.CUcontext
	want(t, "device without context", tab.CtxGetDevice(0, &dev), driver.CUDA_ERROR_INVALID_CONTEXT)
	want(t, "synchronize without context", tab.CtxSynchronize(0), driver.CUDA_ERROR_INVALID_CONTEXT)
	want(t, "pop from nothing", tab.CtxPopCurrent_v2(0, &c0), driver.CUDA_ERROR_INVALID_CONTEXT)
	want(t, "push NULL", tab.CtxPushCurrent_v2(0, 0), driver.CUDA_ERROR_INVALID_VALUE)
	want(t, "set NULL", tab.CtxSetCurrent(0, 0), driver.CUDA_SUCCESS)
	want(t, "set garbage", tab.CtxSetCurrent(0, 0x1234), driver.CUDA_ERROR_INVALID_CONTEXT) // the driver dies
	want(t, "destroy NULL", tab.CtxDestroy_v2(0, 0), driver.CUDA_ERROR_INVALID_VALUE)
	var a, b, c driver.CUcontext
	for _, p := range []*driver.CUcontext{&a, &b, &c} {
		must(t, tab.CtxCreate_v2(0, p, 0, 0))
	}
	expect := func(what string, got, w driver.CUcontext) {
		t.Helper()
		if got != w {
			t.Errorf("%s: %#x, want %#x", what, got, w)
		}
	}
	expect("after create A, B, C", current(), c)
	expect("pop", pop(), c)
	expect("then", current(), b)
	must(t, tab.CtxSetCurrent(0, a))
	expect("after set A", current(), a)
	expect("pop", pop(), a)
	expect("then", current(), a)
	must(t, tab.CtxPushCurrent_v2(0, a))
	must(t, tab.CtxSetCurrent(0, 0))
	expect("set NULL pops", current(), a)
	must(t, tab.CtxPushCurrent_v2(0, b))
	// Destroying a context that is not current leaves it where it is on stacks.
	must(t, tab.CtxDestroy_v2(0, a))
	expect("after destroy of A below B", current(), b)
	want(t, "destroy A again", tab.CtxDestroy_v2(0, a), driver.CUDA_ERROR_CONTEXT_IS_DESTROYED)
	expect("pop", pop(), b)
	expect("the dead one is current", current(), a)
	var p driver.CUdeviceptr
	var v uint32
	var id uint64
	want(t, "synchronize", tab.CtxSynchronize(0), driver.CUDA_ERROR_CONTEXT_IS_DESTROYED)
	want(t, "alloc", tab.MemAlloc_v2(0, &p, 16), driver.CUDA_ERROR_CONTEXT_IS_DESTROYED)
	want(t, "device", tab.CtxGetDevice(0, &dev), driver.CUDA_SUCCESS)
	want(t, "set", tab.CtxSetCurrent(0, a), driver.CUDA_SUCCESS)
	want(t, "push", tab.CtxPushCurrent_v2(0, a), driver.CUDA_SUCCESS)
	want(t, "version", tab.CtxGetApiVersion(0, a, &v), driver.CUDA_ERROR_INVALID_CONTEXT)
	want(t, "id", tab.CtxGetId(0, a, &id), driver.CUDA_ERROR_CONTEXT_IS_DESTROYED)
	// A context named in the call needs no thread.
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		want(t, "other thread", tab.MemAlloc_v2(0, &p, 16), driver.CUDA_ERROR_INVALID_CONTEXT)
		want(t, "other thread with context", tab.MemAlloc_v2(b, &p, 16), driver.CUDA_SUCCESS)
	}()
	wg.Wait()
}

func TestPrimaryContext(t *testing.T) {
	lock(t)
	_, tab := bare(t, Options{})
	state := func(what string, flags uint32, active int32) {
		t.Helper()
		var f uint32
		var a int32
		must(t, tab.DevicePrimaryCtxGetState(0, 0, &f, &a))
		if f != flags || a != active {
			t.Errorf("%s: flags %d active %d, want %d %d", what, f, a, flags, active)
		}
	}
	state("first", 0, 0)
	want(t, "release unretained", tab.DevicePrimaryCtxRelease_v2(0, 0), driver.CUDA_ERROR_INVALID_CONTEXT)
	want(t, "reset unretained", tab.DevicePrimaryCtxReset_v2(0, 0), driver.CUDA_SUCCESS)
	for _, c := range []struct {
		flags  uint32
		result driver.CUresult
		get    uint32
	}{{1, 0, 1}, {7, 1, 1}, {256, 1, 1}, {8, 1, 1}, {16, 0, 16}, {128, 0, 128}, {4, 0, 4}} {
		want(t, fmt.Sprintf("set flags %d", c.flags), tab.DevicePrimaryCtxSetFlags_v2(0, 0, c.flags), c.result)
		state("after set", c.get, 0)
	}
	var p, q driver.CUcontext
	must(t, tab.DevicePrimaryCtxRetain(0, &p, 0))
	state("retained", 4, 1)
	must(t, tab.CtxGetCurrent(0, &q))
	if q != 0 {
		t.Error("retain made the context current")
	}
	must(t, tab.DevicePrimaryCtxRetain(0, &q, 0))
	if p != q {
		t.Errorf("second retain gives %#x, first %#x", q, p)
	}
	want(t, "destroy", tab.CtxDestroy_v2(0, p), driver.CUDA_ERROR_INVALID_CONTEXT)
	must(t, tab.CtxSetCurrent(0, p))
	var f uint32
	must(t, tab.CtxGetFlags(0, &f))
	if f != 12 {
		t.Errorf("flags of the context %d, want 12", f)
	}
	must(t, tab.DevicePrimaryCtxSetFlags_v2(0, 0, 1))
	must(t, tab.CtxGetFlags(0, &f))
	if f != 9 {
		t.Errorf("flags of the context %d, want 9", f)
	}
	var d driver.CUdeviceptr
	must(t, tab.MemAlloc_v2(0, &d, 4096))
	must(t, tab.DevicePrimaryCtxRelease_v2(0, 0))
	state("released once", 1, 1)
	host := make([]byte, 16)
	want(t, "copy", tab.MemcpyHtoD_v2(0, d, unsafe.Pointer(&host[0]), 16), driver.CUDA_SUCCESS)
	must(t, tab.DevicePrimaryCtxReset_v2(0, 0))
	state("reset", 0, 0)
	var dev driver.CUdevice
	want(t, "alloc after reset", tab.MemAlloc_v2(0, &d, 16), driver.CUDA_ERROR_CONTEXT_IS_DESTROYED)
	want(t, "device after reset", tab.CtxGetDevice(0, &dev), driver.CUDA_SUCCESS)
	must(t, tab.DevicePrimaryCtxRetain(0, &q, 0))
	if q != p {
		t.Errorf("retain after reset gives %#x, before %#x", q, p)
	}
	want(t, "alloc after retain", tab.MemAlloc_v2(0, &d, 16), driver.CUDA_SUCCESS)
	must(t, tab.DevicePrimaryCtxRelease_v2(0, 0))
	state("reset does not take users away", 0, 1)
	must(t, tab.DevicePrimaryCtxRelease_v2(0, 0))
	state("released", 0, 0)
	want(t, "one too many", tab.DevicePrimaryCtxRelease_v2(0, 0), driver.CUDA_ERROR_INVALID_CONTEXT)
	want(t, "set", tab.CtxSetCurrent(0, p), driver.CUDA_SUCCESS)
	want(t, "use", tab.CtxSynchronize(0), driver.CUDA_ERROR_CONTEXT_IS_DESTROYED)
}

func TestLimits(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	for limit, initial := range map[driver.CUlimit]uint64{0: 1024, 1: 8650752, 2: 8388608, 4: 2048, 5: 64, 6: 11796480,
		7: 232448, 8: 0} {
		var v uint64
		must(t, tab.CtxGetLimit(ctx, &v, limit))
		if v != initial {
			t.Errorf("limit %d is %d, want %d", limit, v, initial)
		}
	}
	for _, limit := range []driver.CUlimit{3, 9} {
		var v uint64
		want(t, fmt.Sprint("limit ", limit), tab.CtxGetLimit(ctx, &v, limit), driver.CUDA_ERROR_UNSUPPORTED_LIMIT)
		want(t, fmt.Sprint("set limit ", limit), tab.CtxSetLimit(ctx, limit, 1), driver.CUDA_ERROR_UNSUPPORTED_LIMIT)
	}
	for _, c := range []struct {
		limit  driver.CUlimit
		value  uint64
		result driver.CUresult
		get    uint64
	}{
		{0, 0, 0, 0}, {0, 1, 0, 16}, {0, 1000, 0, 1008}, {0, 1025, 0, 1040}, {0, 65536, 0, 65536},
		{0, 524288, 1, 65536}, {0, 1 << 40, 1, 65536},
		{1, 0, 0, 524288}, {1, 1 << 20, 0, 1 << 20}, {1, 1 << 31, 0, 1 << 31}, {1, 1 << 36, 0, 1 << 31},
		{2, 0, 0, 4194304}, {2, 10485760, 0, 10485760}, {2, 1 << 30, 0, 1 << 30},
		{4, 0, 0, 32}, {4, 1 << 20, 0, 599186}, {5, 0, 0, 0}, {5, 33, 0, 33}, {5, 128, 0, 128}, {5, 129, 1, 128},
		{6, 0, 0, 0}, {6, 1, 0, 3932160}, {6, 31457280, 0, 31457280}, {6, 62914560, 1, 31457280},
		{7, 1, driver.CUDA_ERROR_NOT_PERMITTED, 232448}, {8, 1, driver.CUDA_ERROR_NOT_PERMITTED, 0},
	} {
		what := fmt.Sprintf("cuCtxSetLimit(%d, %d)", c.limit, c.value)
		want(t, what, tab.CtxSetLimit(ctx, c.limit, c.value), c.result)
		var v uint64
		must(t, tab.CtxGetLimit(ctx, &v, c.limit))
		if v != c.get {
			t.Errorf("%s: %d, want %d", what, v, c.get)
		}
	}
	want(t, "limit 10", tab.CtxSetLimit(ctx, 10, 1), driver.CUDA_ERROR_INVALID_VALUE)
}

func TestDevice(t *testing.T) {
	d, tab, ctx := open(t, Options{Profiles: []string{"h200", "h200"}})
	var n int32
	must(t, tab.DeviceGetCount(0, &n))
	if n != 2 {
		t.Fatalf("%d devices", n)
	}
	var dev driver.CUdevice
	for _, ordinal := range []int32{-1, 2, 99} {
		want(t, fmt.Sprint("cuDeviceGet ", ordinal), tab.DeviceGet(0, &dev, ordinal), driver.CUDA_ERROR_INVALID_DEVICE)
	}
	want(t, "NULL before ordinal", tab.DeviceGet(0, nil, 99), driver.CUDA_ERROR_INVALID_VALUE)
	var u, v driver.CUuuid
	must(t, tab.DeviceGetUuid_v2(0, &u, 0))
	must(t, tab.DeviceGetUuid_v2(0, &v, 1))
	if u == v {
		t.Error("two devices have one UUID")
	}
	buf := make([]byte, 64)
	for _, c := range []struct {
		n      int32
		result driver.CUresult
	}{{0, 1}, {1, 1}, {5, 1}, {12, 1}, {13, 0}, {14, 0}, {-1, 1}} {
		want(t, fmt.Sprint("cuDeviceGetPCIBusId length ", c.n), tab.DeviceGetPCIBusId(0, &buf[0], c.n, 0), c.result)
	}
	for ordinal := range int32(2) {
		must(t, tab.DeviceGetPCIBusId(0, &buf[0], 64, driver.CUdevice(ordinal)))
		must(t, tab.DeviceGetByPCIBusId(0, &dev, &buf[0]))
		if dev != driver.CUdevice(ordinal) {
			t.Errorf("bus id of device %d leads to %d", ordinal, dev)
		}
	}
	want(t, "garbage", tab.DeviceGetByPCIBusId(0, &dev, cstr("garbage")), driver.CUDA_ERROR_INVALID_VALUE)
	want(t, "absent", tab.DeviceGetByPCIBusId(0, &dev, cstr("0000:FF:1F.0")), driver.CUDA_ERROR_INVALID_DEVICE)
	must(t, tab.DeviceGetName(0, &buf[0], 5, 0))
	if buf[4] != 0 {
		t.Error("a short name has no NUL")
	}
	var value int32
	want(t, "attribute 0", tab.DeviceGetAttribute(0, &value, 0, 0), driver.CUDA_ERROR_INVALID_VALUE)
	want(t, "attribute 9999", tab.DeviceGetAttribute(0, &value, 9999, 0), driver.CUDA_ERROR_INVALID_VALUE)
	must(t, tab.DeviceGetAttribute(0, &value, driver.CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0))
	if value != 32 {
		t.Errorf("warp size %d", value)
	}
	must(t, tab.DeviceCanAccessPeer(0, &value, 0, 1))
	if value != 1 {
		t.Error("devices of one driver cannot reach each other")
	}
	want(t, "p2p with itself", tab.DeviceGetP2PAttribute(0, &value, 1, 0, 0), driver.CUDA_ERROR_INVALID_DEVICE)
	want(t, "peer access to itself", tab.CtxEnablePeerAccess(ctx, ctx, 0), driver.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED)
	want(t, "peer flags", tab.CtxEnablePeerAccess(ctx, ctx, 1), driver.CUDA_ERROR_INVALID_VALUE)
	var other driver.CUcontext
	must(t, tab.DevicePrimaryCtxRetain(0, &other, 1))
	want(t, "not enabled", tab.CtxDisablePeerAccess(ctx, other), driver.CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
	must(t, tab.CtxEnablePeerAccess(ctx, other, 0))
	want(t, "twice", tab.CtxEnablePeerAccess(ctx, other, 0), driver.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
	must(t, tab.CtxDisablePeerAccess(ctx, other))
	// What is missing says so.
	want(t, "GL", tab.GraphicsGLRegisterBuffer(ctx, new(driver.CUgraphicsResource), 1, 0),
		driver.CUDA_ERROR_NOT_SUPPORTED)
	if got := d.LastDetail(ctx); got != "cuGraphicsGLRegisterBuffer: "+noGraphics {
		t.Errorf("detail %q", got)
	}
}
