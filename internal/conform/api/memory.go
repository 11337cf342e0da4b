package api

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

func memoryCases(c *cases) {
	var (
		p, q driver.CUdeviceptr
		n    uint64
		u    uint32
	)
	host := func(e *Env, n int) raw { return raw{"host", make([]byte, n)} }
	c.noInit("memory/before-init", func(e *Env) {
		e.Do("cuMemAlloc_v2", &p, 16)
		e.Do("cuMemFree_v2", nil)
		e.Do("cuMemcpy", nil, nil, 0)
	})
	c.noContext("memory/no-context", func(e *Env) {
		e.Do("cuMemAlloc_v2", &p, 16)
		e.Do("cuMemFree_v2", nil)
		e.Do("cuMemFree_v2", garbage)
		e.Do("cuMemsetD8_v2", nil, 0, 0)
		e.Do("cuMemcpyHtoD_v2", nil, host(e, 16), 0)
	})
	for _, x := range []int{0, 1, 512, 1 << 20, 1 << 40, 1 << 47, -1} {
		c.add("memory/alloc/"+itoa(x), func(e *Env) {
			if e.Do("cuMemAlloc_v2", &p, x) == driver.CUDA_SUCCESS {
				e.Do("cuMemGetAddressRange_v2", &q, &n, p)
				e.Do("cuMemFree_v2", p)
			}
		})
	}
	c.call("memory/alloc/null", "cuMemAlloc_v2", nil, 16)
	c.add("memory/free/inside", func(e *Env) {
		d := e.alloc(4096)
		e.Do("cuMemFree_v2", d+512)
		e.Do("cuMemFree_v2", d)
		e.Do("cuMemFree_v2", d)
	})
	c.add("memory/free/host", func(e *Env) { e.Do("cuMemFree_v2", host(e, 64)) })
	for _, w := range [][3]int{{100, 10, 4}, {100, 10, 8}, {100, 10, 16}, {100, 10, 5}, {0, 10, 4}, {10, 0, 4},
		{513, 3, 4}} {
		c.add("memory/pitch/"+itoa(w[0])+"x"+itoa(w[1])+"x"+itoa(w[2]), func(e *Env) {
			e.Do("cuMemAllocPitch_v2", &p, &n, w[0], w[1], w[2])
		})
	}
	for _, w := range []struct {
		name string
		off  int
		n    int
	}{{"ok", 0, 16}, {"all", 0, 4096}, {"over", 0, 4097}, {"end", 4096, 1}, {"last", 4095, 1}, {"zero", 0, 0},
		{"zero-at-end", 4096, 0}} {
		c.add("memory/copy/"+w.name, func(e *Env) {
			d, o := e.alloc(4096), e.alloc(8192)
			h := host(e, 8192)
			e.Do("cuMemcpyHtoD_v2", d+driver.CUdeviceptr(w.off), h, w.n)
			e.Do("cuMemcpyDtoH_v2", h, d+driver.CUdeviceptr(w.off), w.n)
			e.Do("cuMemcpyDtoD_v2", d+driver.CUdeviceptr(w.off), o, w.n)
			e.Do("cuMemcpy", d+driver.CUdeviceptr(w.off), o, w.n)
			e.Do("cuMemcpyHtoDAsync_v2", d+driver.CUdeviceptr(w.off), h, w.n, nil)
			e.Do("cuMemcpyDtoHAsync_v2", h, d+driver.CUdeviceptr(w.off), w.n, nil)
			e.Do("cuMemsetD8_v2", d+driver.CUdeviceptr(w.off), 1, w.n)
			e.Do("cuMemsetD8Async", d+driver.CUdeviceptr(w.off), 1, w.n, nil)
			e.Do("cuCtxSynchronize")
		})
	}
	c.add("memory/copy/nulls", func(e *Env) {
		d := e.alloc(64)
		e.Do("cuMemcpyHtoD_v2", nil, host(e, 64), 16)
		e.Do("cuMemcpyHtoD_v2", d, nil, 16)
		e.Do("cuMemcpyDtoH_v2", nil, d, 16)
		e.Do("cuMemcpyDtoD_v2", nil, d, 16)
		e.Do("cuMemcpyDtoD_v2", d, nil, 16)
		e.Do("cuMemcpyHtoD_v2", d, nil, 0)
	})
	c.add("memory/copy/freed", func(e *Env) {
		d := e.alloc(8 << 20)
		e.Must("cuMemFree_v2", d)
		e.Do("cuMemcpyHtoD_v2", d, host(e, 16), 16)
		e.Do("cuMemsetD8_v2", d, 0, 16)
		e.Do("cuMemGetAddressRange_v2", &q, &n, d)
	})
	c.add("memory/set/unaligned", func(e *Env) {
		d := e.alloc(64)
		for off := range driver.CUdeviceptr(5) {
			e.Do("cuMemsetD16_v2", d+off, 1, 2)
			e.Do("cuMemsetD32_v2", d+off, 1, 2)
		}
	})
	for _, x := range []int{0, 1, 2, 4, 7, 8, 16, -1} {
		c.add("memory/host-alloc/flags/"+itoa(x), func(e *Env) {
			var h unsafe.Pointer
			if e.Do("cuMemHostAlloc", hidden{&h}, 100, x) == driver.CUDA_SUCCESS {
				pinned := named("pinned", h)
				e.Do("cuMemHostGetFlags", &u, pinned)
				e.Do("cuMemHostGetDevicePointer_v2", hidden{&p}, pinned, 0)
				e.Do("cuMemHostGetDevicePointer_v2", hidden{&p}, pinned, 1)
				e.Do("cuMemFreeHost", pinned)
				e.Do("cuMemFreeHost", pinned)
			}
		})
	}
	for _, x := range []int{0, 1, 2, 3, 4, 5} {
		c.add("memory/managed/flags/"+itoa(x), func(e *Env) {
			if e.Do("cuMemAllocManaged", &p, 100, x) == driver.CUDA_SUCCESS {
				e.Do("cuMemsetD8_v2", p, 0, 100)
				e.Do("cuMemFree_v2", p)
			}
		})
	}
	c.add("memory/managed/odd", func(e *Env) {
		e.Do("cuMemAllocManaged", &p, 0, 1)
		e.Do("cuMemAllocManaged", nil, 16, 1)
	})
	c.add("memory/range", func(e *Env) {
		d := e.alloc(4096)
		for _, off := range []driver.CUdeviceptr{0, 1, 4095, 4096} {
			e.Do("cuMemGetAddressRange_v2", &q, &n, d+off)
		}
		e.Do("cuMemGetAddressRange_v2", nil, &n, d)
		e.Do("cuMemGetAddressRange_v2", &q, nil, d)
		e.Do("cuMemGetAddressRange_v2", nil, nil, d)
		e.Do("cuMemGetAddressRange_v2", &q, &n, nil)
	})
	c.add("memory/info", func(e *Env) {
		var f, t uint64
		e.Do("cuMemGetInfo_v2", hidden{&f}, hidden{&t})
		e.Do("cuMemGetInfo_v2", nil, hidden{&t})
		e.Do("cuMemGetInfo_v2", hidden{&f}, nil)
		e.Do("cuMemGetInfo_v2", nil, nil)
	})
	c.add("memory/pointer", func(e *Env) {
		d := e.alloc(100)
		var kind uint32
		var ctx driver.CUcontext
		e.Do("cuPointerGetAttribute", &ctx, 1, d)
		e.Do("cuPointerGetAttribute", &kind, 2, d)
		e.Do("cuPointerGetAttribute", &q, 3, d+8)
		e.Do("cuPointerGetAttribute", &kind, 8, d)
		e.Do("cuPointerGetAttribute", &kind, 9, d)
		e.Do("cuPointerGetAttribute", &kind, 99, d)
		e.Do("cuPointerGetAttribute", nil, 2, d)
		e.Do("cuPointerGetAttribute", &kind, 2, nil)
		e.Do("cuPointerGetAttribute", &kind, 2, garbage)
	})
	c.add("memory/async", func(e *Env) {
		s := e.stream(0)
		e.Do("cuMemAllocAsync", &p, 100, s)
		e.Do("cuMemsetD8Async", p, 0, 100, s)
		e.Do("cuMemFreeAsync", p, s)
		e.Do("cuStreamSynchronize", s)
		e.Do("cuMemAllocAsync", &p, 0, s)
		e.Do("cuMemAllocAsync", nil, 100, s)
		e.Do("cuMemFreeAsync", nil, s)
	})
}
