package softdev

import (
	"bytes"
	"fmt"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// Expectations are answers of driver 580.159.04 on an H200 unless a comment says otherwise.

const bad = driver.CUDA_ERROR_INVALID_VALUE

func alloc(t testing.TB, tab *driver.Table, ctx driver.CUcontext, n uint64) driver.CUdeviceptr {
	t.Helper()
	var p driver.CUdeviceptr
	must(t, tab.MemAlloc_v2(ctx, &p, n))
	return p
}

func TestAlloc(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	p := driver.CUdeviceptr(7)
	want(t, "0 bytes", tab.MemAlloc_v2(ctx, &p, 0), bad)
	if p != 0 {
		t.Errorf("a failed allocation left %#x", p)
	}
	for _, n := range []uint64{1 << 40, 1 << 47, 1 << 60, ^uint64(0), ^uint64(511)} {
		want(t, fmt.Sprintf("%#x bytes", n), tab.MemAlloc_v2(ctx, &p, n), driver.CUDA_ERROR_OUT_OF_MEMORY)
	}
	var free, total, after uint64
	must(t, tab.MemGetInfo_v2(ctx, &free, &total))
	want(t, "all", tab.MemAlloc_v2(ctx, &p, total+1), driver.CUDA_ERROR_OUT_OF_MEMORY)
	p = alloc(t, tab, ctx, 5000)
	if p%512 != 0 {
		t.Errorf("address %#x", p)
	}
	want(t, "free interior", tab.MemFree_v2(ctx, p+512), bad)
	want(t, "free", tab.MemFree_v2(ctx, p), driver.CUDA_SUCCESS)
	want(t, "free twice", tab.MemFree_v2(ctx, p), bad)
	want(t, "free 0", tab.MemFree_v2(ctx, 0), driver.CUDA_SUCCESS)
	want(t, "free garbage", tab.MemFree_v2(ctx, 0x1234), bad)
	must(t, tab.MemGetInfo_v2(ctx, &after, nil))
	if after != free {
		t.Errorf("free memory %d, before %d", after, free)
	}
	var pitch uint64
	for _, c := range []struct {
		w, h   uint64
		e      uint32
		result driver.CUresult
		pitch  uint64
	}{
		{100, 10, 4, 0, 512}, {100, 10, 8, 0, 512}, {100, 10, 16, 0, 512}, {100, 10, 1, bad, 0}, {100, 10, 0, bad, 0},
		{100, 10, 32, bad, 0},
		{0, 10, 4, bad, 0}, {10, 0, 4, bad, 0}, {513, 3, 4, 0, 1024},
		{1 << 40, 4, 4, driver.CUDA_ERROR_OUT_OF_MEMORY, 1 << 40}, {1 << 33, 1 << 33, 4, bad, 1 << 33},
	} {
		what := fmt.Sprintf("pitch %dx%d/%d", c.w, c.h, c.e)
		want(t, what, tab.MemAllocPitch_v2(ctx, &p, &pitch, c.w, c.h, c.e), c.result)
		if pitch != c.pitch {
			t.Errorf("%s: %d, want %d", what, pitch, c.pitch)
		}
	}
	_ = d
}

func TestHostMemory(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	var h unsafe.Pointer
	var p driver.CUdeviceptr
	var f uint32
	for flags := range uint32(8) {
		must(t, tab.MemHostAlloc(ctx, &h, 100, flags))
		must(t, tab.MemHostGetFlags(ctx, &f, h))
		if w := flags | 2; f != w { // recorded: memory/host-alloc/flags, one after the other in one process
			t.Errorf("flags %d read %d, want %d", flags, f, w)
		}
		must(t, tab.MemHostGetDevicePointer_v2(ctx, &p, unsafe.Add(h, 10), 0))
		if p != driver.CUdeviceptr(uintptr(h))+10 {
			t.Errorf("device pointer %#x of %p+10", p, h)
		}
		must(t, tab.MemFreeHost(ctx, h))
	}
	// While others are there that came with other flags, theirs are read.
	var plain, combined unsafe.Pointer
	must(t, tab.MemHostAlloc(ctx, &plain, 100, 0))
	must(t, tab.MemHostAlloc(ctx, &combined, 100, 4))
	for flags := range uint32(8) {
		must(t, tab.MemHostAlloc(ctx, &h, 100, flags))
		must(t, tab.MemHostGetFlags(ctx, &f, h))
		if w := flags&4 | 2; f != w {
			t.Errorf("flags %d beside others read %d, want %d", flags, f, w)
		}
		must(t, tab.MemFreeHost(ctx, h))
	}
	must(t, tab.MemFreeHost(ctx, plain))
	must(t, tab.MemFreeHost(ctx, combined))
	want(t, "flags 8", tab.MemHostAlloc(ctx, &h, 100, 8), bad)
	want(t, "0 bytes", tab.MemHostAlloc(ctx, &h, 0, 0), driver.CUDA_SUCCESS)
	if h != nil {
		t.Error("0 bytes are not NULL")
	}
	must(t, tab.MemAllocHost_v2(ctx, &h, 100))
	want(t, "free interior", tab.MemFreeHost(ctx, unsafe.Add(h, 8)), bad)
	want(t, "cuMemFree of it", tab.MemFree_v2(ctx, driver.CUdeviceptr(uintptr(h))), bad)
	want(t, "register it", tab.MemHostRegister_v2(ctx, h, 64, 0), bad)
	want(t, "unregister it", tab.MemHostUnregister(ctx, h), bad)
	copy(unsafe.Slice((*byte)(h), 4), "abcd") // it is plain memory
	want(t, "free", tab.MemFreeHost(ctx, h), driver.CUDA_SUCCESS)
	want(t, "free twice", tab.MemFreeHost(ctx, h), bad)
	want(t, "free NULL", tab.MemFreeHost(ctx, nil), driver.CUDA_SUCCESS)

	buf := make([]byte, 1<<16)
	b := unsafe.Pointer(&buf[0])
	want(t, "unknown", tab.MemHostGetFlags(ctx, &f, b), bad)
	want(t, "register", tab.MemHostRegister_v2(ctx, b, 32768, 0), driver.CUDA_SUCCESS)
	want(t, "again", tab.MemHostRegister_v2(ctx, b, 32768, 0), driver.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
	want(t, "overlap", tab.MemHostRegister_v2(ctx, unsafe.Add(b, 4096), 32768, 0),
		driver.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
	want(t, "neighbour", tab.MemHostRegister_v2(ctx, unsafe.Add(b, 32768), 4096, 1), driver.CUDA_SUCCESS)
	must(t, tab.MemHostGetFlags(ctx, &f, unsafe.Add(b, 32768)))
	if f != 3 {
		t.Errorf("flags %d, want 3", f)
	}
	want(t, "unregister interior", tab.MemHostUnregister(ctx, unsafe.Add(b, 4096)), bad)
	want(t, "free registered", tab.MemFreeHost(ctx, b), bad)
	want(t, "unregister", tab.MemHostUnregister(ctx, b), driver.CUDA_SUCCESS)
	want(t, "twice", tab.MemHostUnregister(ctx, b), driver.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)
	want(t, "NULL", tab.MemHostUnregister(ctx, nil), bad)
	for _, flags := range []uint32{4, 16, 32} {
		want(t, fmt.Sprint("register flags ", flags), tab.MemHostRegister_v2(ctx, b, 4096, flags), bad)
	}
	want(t, "0 bytes", tab.MemHostRegister_v2(ctx, b, 0, 0), bad)

	for flags := range uint32(9) {
		expect := bad
		if flags == 1 || flags == 2 {
			expect = driver.CUDA_SUCCESS
		}
		want(t, fmt.Sprint("managed flags ", flags), tab.MemAllocManaged(ctx, &p, 4096, flags), expect)
		if expect == driver.CUDA_SUCCESS {
			want(t, "free managed interior", tab.MemFree_v2(ctx, p+4), bad)
			must(t, tab.MemFree_v2(ctx, p))
		}
	}
}

func TestAddressRange(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	e := alloc(t, tab, ctx, 4096)
	var base driver.CUdeviceptr
	var size uint64
	for _, off := range []driver.CUdeviceptr{0, 100, 4095} {
		must(t, tab.MemGetAddressRange_v2(ctx, &base, &size, e+off))
		if base != e || size != 4096 {
			t.Errorf("range of +%d: %#x %d", off, base, size)
		}
	}
	for _, p := range []driver.CUdeviceptr{e + 4096, 0, 0x1234} {
		want(t, fmt.Sprintf("range of %#x", p), tab.MemGetAddressRange_v2(ctx, &base, &size, p),
			driver.CUDA_ERROR_NOT_FOUND)
		if base != 0 || size != 0 {
			t.Error("a failed call left a range")
		}
	}
	want(t, "no outputs", tab.MemGetAddressRange_v2(ctx, nil, nil, e), driver.CUDA_SUCCESS)
}

func TestCopyChecks(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	// d ends at an allocation boundary that nothing follows.
	d, e := alloc(t, tab, ctx, 1<<20), alloc(t, tab, ctx, 4096)
	const n = 1 << 20
	var pinned unsafe.Pointer
	must(t, tab.MemHostAlloc(ctx, &pinned, 4096, 0))
	pin := driver.CUdeviceptr(uintptr(pinned))
	var man driver.CUdeviceptr
	must(t, tab.MemAllocManaged(ctx, &man, 4096, 1))
	host := make([]byte, n+1)
	h := unsafe.Pointer(&host[0])
	hp := driver.CUdeviceptr(address(t, &host[0]))
	ok := driver.CUDA_SUCCESS
	for _, c := range []struct {
		what string
		got  driver.CUresult
		want driver.CUresult
	}{
		{"HtoD all", tab.MemcpyHtoD_v2(ctx, d, h, n), ok},
		{"HtoD over", tab.MemcpyHtoD_v2(ctx, d, h, n+1), bad},
		{"DtoH over", tab.MemcpyDtoH_v2(ctx, h, d, n+1), bad},
		{"DtoD over", tab.MemcpyDtoD_v2(ctx, d, e, 4097), bad},
		{"UVA over", tab.Memcpy(ctx, d, e, 4097), bad},
		{"HtoDAsync over", tab.MemcpyHtoDAsync_v2(ctx, d, h, n+1, 0), bad},
		{"HtoD huge", tab.MemcpyHtoD_v2(ctx, d, h, 1<<40), bad},
		{"HtoD last", tab.MemcpyHtoD_v2(ctx, d+n-1, h, 1), ok},
		{"HtoD nothing", tab.MemcpyHtoD_v2(ctx, d, h, 0), ok},
		{"HtoD nothing to 0", tab.MemcpyHtoD_v2(ctx, 0, h, 0), ok},
		{"HtoD to 0", tab.MemcpyHtoD_v2(ctx, 0, h, 16), bad},
		{"DtoH from garbage", tab.MemcpyDtoH_v2(ctx, h, 0x1234, 16), bad},
		{"HtoD to host memory", tab.MemcpyHtoD_v2(ctx, hp, h, 16), bad},
		{"UVA to host memory", tab.Memcpy(ctx, hp, e, 16), ok},
		{"UVA host to host", tab.Memcpy(ctx, hp, hp+64, 16), ok},
		{"UVA NULL", tab.Memcpy(ctx, 0, 0, 16), bad},
		{"HtoD to pinned", tab.MemcpyHtoD_v2(ctx, pin, h, 16), ok},
		{"HtoD to managed", tab.MemcpyHtoD_v2(ctx, man, h, 16), ok},
		{"HtoD over managed", tab.MemcpyHtoD_v2(ctx, man, h, 4097), bad},
		{"HtoD over pinned", tab.MemcpyHtoD_v2(ctx, pin, h, 4097), bad},
		{"HtoD from NULL", tab.MemcpyHtoD_v2(ctx, d, nil, 16), bad},
		{"HtoD nothing from NULL", tab.MemcpyHtoD_v2(ctx, d, nil, 0), ok},
		{"DtoH to NULL", tab.MemcpyDtoH_v2(ctx, nil, d, 16), bad},
		{"Async legacy", tab.MemcpyHtoDAsync_v2(ctx, d, h, 16, 1), ok},
		{"Async per thread", tab.MemcpyHtoDAsync_v2(ctx, d, h, 16, 2), ok},
		// the driver dies
		{"Async bad stream", tab.MemcpyHtoDAsync_v2(ctx, d, h, 16, 0x1234), driver.CUDA_ERROR_INVALID_HANDLE},
		{"D8 over", tab.MemsetD8_v2(ctx, e, 0, 4097), bad},
		{"D8 odd", tab.MemsetD8_v2(ctx, e+1, 0, 4), ok},
		{"D8 0", tab.MemsetD8_v2(ctx, 0, 0, 4), bad},
		{"D8 0 nothing", tab.MemsetD8_v2(ctx, 0, 0, 0), ok},
		{"D8 host", tab.MemsetD8_v2(ctx, hp, 0, 4), bad},
		{"D8 pinned", tab.MemsetD8_v2(ctx, pin, 0, 4), ok},
		{"D16 odd", tab.MemsetD16_v2(ctx, e+1, 0, 4), bad},
		{"D16 even", tab.MemsetD16_v2(ctx, e+2, 0, 4), ok},
		{"D16 over", tab.MemsetD16_v2(ctx, e, 0, 2049), bad},
		{"D32 +2", tab.MemsetD32_v2(ctx, e+2, 0, 4), bad},
		{"D32 all", tab.MemsetD32_v2(ctx, e, 0, 1024), ok},
		{"D8 2^62", tab.MemsetD8_v2(ctx, e, 0, 1<<62), bad},
		{"D32 2^62", tab.MemsetD32_v2(ctx, e, 0, 1<<62), ok}, // the size wraps to 0
		{"2D D8", tab.MemsetD2D8_v2(ctx, e, 64, 0, 10, 4), ok},
		{"2D D8 pitch < width", tab.MemsetD2D8_v2(ctx, e, 8, 0, 10, 4), bad},
		{"2D D8 pitch 0 one row", tab.MemsetD2D8_v2(ctx, e, 0, 0, 10, 1), ok},
		{"2D D8 pitch 0", tab.MemsetD2D8_v2(ctx, e, 0, 0, 10, 4), bad},
		{"2D D8 odd pitch", tab.MemsetD2D8_v2(ctx, e, 63, 0, 4, 4), ok},
		{"2D D16 odd pitch", tab.MemsetD2D16_v2(ctx, e, 63, 0, 4, 4), bad},
		{"2D D32 over", tab.MemsetD2D32_v2(ctx, e, 1<<20, 0, 4, 4), bad},
	} {
		want(t, c.what, c.got, c.want)
	}
}

func TestCopyContents(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	d := alloc(t, tab, ctx, 4096)
	src := make([]byte, 4096)
	for i := range src {
		src[i] = byte(i * 7)
	}
	got := make([]byte, 4096)
	at := func(b []byte) unsafe.Pointer { return unsafe.Pointer(&b[0]) }
	read := func() []byte {
		t.Helper()
		must(t, tab.MemcpyDtoH_v2(ctx, at(got), d, 4096))
		return got
	}
	must(t, tab.MemcpyHtoD_v2(ctx, d, at(src), 4096))
	if !bytes.Equal(read(), src) {
		t.Fatal("copy there and back differs")
	}
	must(t, tab.MemcpyDtoD_v2(ctx, d+8, d, 64)) // overlapping: as memmove
	if w := append(append(append([]byte{}, src[:8]...), src[:64]...), src[72:]...); !bytes.Equal(read(), w) {
		t.Error("overlapping copy differs")
	}
	fills := []struct {
		do   func() driver.CUresult
		at   int
		want []byte
	}{
		{func() driver.CUresult { return tab.MemsetD8_v2(ctx, d+3, 0x5a, 5) }, 3, []byte{0x5a, 0x5a, 0x5a, 0x5a, 0x5a}},
		{func() driver.CUresult {
			return tab.MemsetD16_v2(ctx, d+100, 0x1234, 3)
		}, 100, []byte{0x34, 0x12, 0x34, 0x12, 0x34, 0x12}},
		{func() driver.CUresult {
			return tab.MemsetD32_v2(ctx, d+200, 0x01020304, 2)
		}, 200, []byte{4, 3, 2, 1, 4, 3, 2, 1}},
		{func() driver.CUresult {
			return tab.MemsetD2D16_v2(ctx, d+300, 6, 0xabcd, 2, 2)
		}, 300, []byte{0xcd, 0xab, 0xcd, 0xab, 0, 0, 0xcd, 0xab, 0xcd, 0xab, 0, 0}},
	}
	must(t, tab.MemsetD8_v2(ctx, d, 0, 4096))
	for i, f := range fills {
		must(t, f.do())
		if b := read()[f.at : f.at+len(f.want)]; !bytes.Equal(b, f.want) {
			t.Errorf("fill %d: % x, want % x", i, b, f.want)
		}
	}
	// A box of 3 slices of 2 rows of 5 bytes, from pitch 16 and height 4 at (1,1,1).
	must(t, tab.MemcpyHtoD_v2(ctx, d, at(src), 4096))
	out := make([]byte, 30)
	c := driver.CUDA_MEMCPY3D{
		SrcMemoryType: driver.CU_MEMORYTYPE_DEVICE, SrcDevice: d, SrcXInBytes: 1, SrcY: 1, SrcZ: 1, SrcPitch: 16,
		SrcHeight:     4,
		DstMemoryType: driver.CU_MEMORYTYPE_HOST, DstHost: address(t, &out[0]), DstPitch: 5, DstHeight: 2,
		WidthInBytes: 5, Height: 2, Depth: 3,
	}
	must(t, tab.Memcpy3D_v2(ctx, &c))
	for z := range 3 {
		for y := range 2 {
			w := src[(z+1)*64+(y+1)*16+1:][:5]
			if b := out[(z*2+y)*5:][:5]; !bytes.Equal(b, w) {
				t.Errorf("slice %d row %d: % x, want % x", z, y, b, w)
			}
		}
	}
	two := driver.CUDA_MEMCPY2D{
		SrcMemoryType: driver.CU_MEMORYTYPE_HOST, SrcHost: address(t, &src[0]), SrcPitch: 16,
		DstMemoryType: driver.CU_MEMORYTYPE_UNIFIED, DstDevice: d, DstPitch: 32, WidthInBytes: 8, Height: 4,
	}
	must(t, tab.MemsetD8_v2(ctx, d, 0, 4096))
	must(t, tab.Memcpy2D_v2(ctx, &two))
	for y := range 4 {
		if b, w := read()[y*32:][:9], append(append([]byte{}, src[y*16:][:8]...), 0); !bytes.Equal(b, w) {
			t.Errorf("row %d: % x, want % x", y, b, w)
		}
	}
	for what, change := range map[string]func(*driver.CUDA_MEMCPY2D){
		"source pitch < width":      func(c *driver.CUDA_MEMCPY2D) { c.SrcPitch = 7 },
		"destination pitch < width": func(c *driver.CUDA_MEMCPY2D) { c.DstPitch = 7 },
		"memory type 0":             func(c *driver.CUDA_MEMCPY2D) { c.SrcMemoryType = 0 },
		"memory type 9":             func(c *driver.CUDA_MEMCPY2D) { c.DstMemoryType = 9 },
		"array NULL":                func(c *driver.CUDA_MEMCPY2D) { c.DstMemoryType = driver.CU_MEMORYTYPE_ARRAY },
		"beyond the end":            func(c *driver.CUDA_MEMCPY2D) { c.Height = 1000 },
		"source NULL":               func(c *driver.CUDA_MEMCPY2D) { c.SrcHost = 0 },
	} {
		c := two
		change(&c)
		want(t, what, tab.Memcpy2D_v2(ctx, &c), bad)
	}
	for _, change := range []func(*driver.CUDA_MEMCPY2D){
		func(c *driver.CUDA_MEMCPY2D) { c.WidthInBytes = 0 }, func(c *driver.CUDA_MEMCPY2D) {
			c.Height = 0
		}, func(c *driver.CUDA_MEMCPY2D) { c.SrcPitch, c.DstPitch = 0, 0 },
	} {
		c := two
		change(&c)
		want(t, "empty or tight", tab.Memcpy2D_v2(ctx, &c), driver.CUDA_SUCCESS)
	}
}

func TestPointerAttributes(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	dev := alloc(t, tab, ctx, 5000)
	var h unsafe.Pointer
	must(t, tab.MemHostAlloc(ctx, &h, 5000, 0))
	pin := driver.CUdeviceptr(uintptr(h))
	var man driver.CUdeviceptr
	must(t, tab.MemAllocManaged(ctx, &man, 5000, 1))
	buf := make([]byte, 8192)
	must(t, tab.MemHostRegister_v2(ctx, unsafe.Pointer(&buf[0]), 5000, 0))
	reg := driver.CUdeviceptr(address(t, &buf[0]))
	const untouched = 0xeeeeeeeeeeeeeeee
	low := func(v uint64) uint64 { return untouched&^0xffffffff | v }
	for _, c := range []struct {
		what string
		p    driver.CUdeviceptr
		attr driver.CUpointer_attribute
		r    driver.CUresult
		v    uint64
	}{
		{"dev", dev, 0, bad, untouched}, {"dev", dev, 22, bad, untouched},
		{"dev", dev, 1, 0, uint64(ctx)}, {"dev", dev, 2, 0, low(2)}, {"dev", dev + 100, 3, 0, uint64(dev) + 100},
		{"dev", dev, 4, bad, 0},
		{"dev", dev, 6, 0, low(0)}, {"dev", dev, 8, 0, low(0)}, {"dev", dev, 9, 0, low(0)},
		{"dev", dev + 4999, 11, 0, uint64(dev)},
		{"dev", dev, 12, 0, 5000}, {"dev", dev, 13, 0, low(1)}, {"dev", dev, 14, 0, 0}, {"dev", dev, 16, 0, low(3)},
		{"dev", dev, 17, 0, 0}, {"dev", dev, 18, 0, 2097152},
		{"pin", pin, 2, 0, low(1)}, {"pin", pin + 8, 4, 0, uint64(pin) + 8}, {"pin", pin, 6, 0, low(0)},
		{"pin", pin, 8, 0, low(0)}, {"pin", pin, 18, 0, 2097152},
		{"man", man, 2, 0, low(2)}, {"man", man, 4, 0, uint64(man)}, {"man", man, 6, 0, low(1)},
		{"man", man, 8, 0, low(1)},
		{"reg", reg, 2, 0, low(1)}, {"reg", reg + 8, 11, 0, uint64(reg)}, {"reg", reg, 12, 0, 5000},
		{"reg+6000", reg + 6000, 2, bad, untouched},
	} {
		v := uint64(untouched)
		what := fmt.Sprintf("%s attribute %d", c.what, c.attr)
		want(t, what, tab.PointerGetAttribute(ctx, unsafe.Pointer(&v), c.attr, c.p), c.r)
		if v != c.v {
			t.Errorf("%s: %#x, want %#x", what, v, c.v)
		}
	}
	attrs := []driver.CUpointer_attribute{2, 3, 4, 9, 12}
	var v [5]uint64
	var at [5]unsafe.Pointer
	for i := range v {
		v[i], at[i] = untouched, unsafe.Pointer(&v[i])
	}
	// Memory that nobody knows: zeros, and no device (CUDA Driver API, cuPointerGetAttributes).
	must(t, tab.PointerGetAttributes(ctx, 5, &attrs[0], &at[0], reg+6000))
	if w := [5]uint64{low(0), 0, 0, low(0xfffffffe), 0}; v != w {
		t.Errorf("attributes of unknown memory %#x, want %#x", v, w)
	}
}

func TestPool(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	var pool, other driver.CUmemoryPool
	must(t, tab.DeviceGetDefaultMemPool(0, &pool, 0))
	must(t, tab.DeviceGetMemPool(0, &other, 0))
	if pool != other {
		t.Error("the current pool is not the default one")
	}
	var s driver.CUstream
	must(t, tab.StreamCreate(ctx, &s, 0))
	p := driver.CUdeviceptr(7)
	want(t, "0 bytes", tab.MemAllocAsync(ctx, &p, 0, s), driver.CUDA_SUCCESS)
	if p != 0 {
		t.Error("0 bytes are not NULL")
	}
	want(t, "huge", tab.MemAllocAsync(ctx, &p, 1<<45, s), driver.CUDA_ERROR_OUT_OF_MEMORY)
	must(t, tab.MemAllocAsync(ctx, &p, 100, s))
	used := func() (v uint64) {
		must(t, tab.MemPoolGetAttribute(0, pool, driver.CU_MEMPOOL_ATTR_USED_MEM_CURRENT, unsafe.Pointer(&v)))
		return v
	}
	if used() < 100 {
		t.Errorf("%d bytes used", used())
	}
	want(t, "free interior", tab.MemFreeAsync(ctx, p+8, s), bad)
	want(t, "free", tab.MemFreeAsync(ctx, p, s), driver.CUDA_SUCCESS)
	want(t, "free twice", tab.MemFreeAsync(ctx, p, s), bad)
	want(t, "free 0", tab.MemFreeAsync(ctx, 0, s), driver.CUDA_SUCCESS)
	must(t, tab.StreamSynchronize(ctx, s))
	if used() != 0 {
		t.Errorf("%d bytes used after the free", used())
	}
	must(t, tab.MemAllocAsync(ctx, &p, 100, 0))
	want(t, "cuMemFree of it", tab.MemFree_v2(ctx, p), driver.CUDA_SUCCESS)
	d := alloc(t, tab, ctx, 100)
	want(t, "cuMemFreeAsync of cuMemAlloc", tab.MemFreeAsync(ctx, d, s), driver.CUDA_SUCCESS)
	var v uint64
	want(t, "attribute 0", tab.MemPoolGetAttribute(0, pool, 0, unsafe.Pointer(&v)), bad)
	want(t, "attribute 9", tab.MemPoolGetAttribute(0, pool, 9, unsafe.Pointer(&v)), bad)
	want(t, "destroy the default", tab.MemPoolDestroy(0, pool), bad)
	props := driver.CUmemPoolProps{AllocType: driver.CU_MEM_ALLOCATION_TYPE_PINNED,
		Location: driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE}}
	must(t, tab.MemPoolCreate(0, &other, &props))
	must(t, tab.DeviceSetMemPool(0, 0, other))
	must(t, tab.MemPoolDestroy(0, other))
	var now driver.CUmemoryPool
	must(t, tab.DeviceGetMemPool(0, &now, 0))
	if now != pool {
		t.Error("the default pool is not back after the current one was destroyed")
	}
	props.Location.Id = 9
	want(t, "device 9", tab.MemPoolCreate(0, &other, &props), bad)
}
