package api

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

func peerCopyCases(c *cases) {
	for _, access := range []struct {
		name string
		do   func(e *Env, a, b driver.CUcontext)
	}{{"without", func(*Env, driver.CUcontext, driver.CUcontext) {}},
		{"with", func(e *Env, a, b driver.CUcontext) { e.enable(a, b) }},
		{"back", func(e *Env, a, b driver.CUcontext) { e.enable(b, a) }}} {
		c.two("copy/"+access.name, func(e *Env, a, b driver.CUcontext) {
			access.do(e, a, b)
			p, q := e.allocIn(a, 4096, 1), e.allocIn(b, 4096, 5)
			next := func() {
				e.Do("cuCtxSynchronize")
				e.block(p)
				e.Must("cuMemsetD8_v2", p, 1, 4096)
				e.Must("cuCtxSynchronize")
			}
			e.Do("cuMemcpy", p, q, 16)
			next()
			e.Do("cuMemcpyAsync", p, q, 16, nil)
			next()
			e.Do("cuMemcpyDtoD_v2", p, q, 16)
			next()
			e.Do("cuMemcpyDtoDAsync_v2", p, q, 16, nil)
			next()
			e.Do("cuMemcpyPeer", p, a, q, b, 16)
			next()
			e.Do("cuMemcpyPeerAsync", p, a, q, b, 16, nil)
			next()
			s := driver.CUstream(0)
			e.in(b, func() { s = e.stream(1) })
			e.Do("cuMemcpyPeerAsync", p, a, q, b, 16, s)
			e.in(b, func() { e.Do("cuStreamSynchronize", s) })
			next()
			e.Do("cuMemcpyDtoDAsync_v2", p, q, 16, s)
			e.Do("cuStreamSynchronize", s)
			next()
			e.Do("cuMemcpyDtoD_v2", q, p, 8) // and back
			e.block(q)
			e.Do("cuMemcpyDtoD_v2", q, q+64, 8) // all of it there
			var word uint32
			e.Do("cuMemcpyDtoH_v2", &word, q, 4)
			e.Do("cuMemcpyHtoD_v2", q, raw{"host", []byte{1, 2, 3, 4}}, 4)
			e.Do("cuMemsetD32_v2", q, 0x77, 2)
			e.Do("cuMemsetD8Async", q+8, 0x66, 4, nil)
			e.Do("cuMemsetD2D32_v2", q+64, 256, 3, 2, 2)
			e.Do("cuCtxSynchronize")
			e.block(q)
			e.block(q + 64)
			x := driver.CUDA_MEMCPY2D{SrcMemoryType: 2, SrcDevice: q, SrcPitch: 64, DstMemoryType: 2, DstDevice: p,
				DstPitch: 32, WidthInBytes: 16, Height: 2}
			e.Do("cuMemcpy2D_v2", in{"2D", &x})
			next()
			x.SrcMemoryType, x.DstMemoryType = 4, 4
			e.Do("cuMemcpy2DAsync_v2", in{"unified", &x}, nil)
			next()
			y := driver.CUDA_MEMCPY3D{SrcMemoryType: 2, SrcDevice: q, SrcPitch: 64, DstMemoryType: 2, DstDevice: p,
				DstPitch: 32, WidthInBytes: 16, Height: 2, Depth: 1}
			e.Do("cuMemcpy3D_v2", in{"3D", &y})
			next()
			z := driver.CUDA_MEMCPY3D_PEER{SrcMemoryType: 2, SrcDevice: q, SrcContext: b, SrcPitch: 64,
				DstMemoryType: 2,
				DstDevice:     p, DstContext: a, DstPitch: 32, WidthInBytes: 16, Height: 2, Depth: 1}
			e.Do("cuMemcpy3DPeer", in{"peer", &z})
			next()
			e.Do("cuMemcpy3DPeerAsync", in{"peer", &z}, nil)
			next()
			z.SrcContext, z.DstContext = 0, 0
			e.Do("cuMemcpy3DPeer", in{"no contexts", &z})
			next()
			z.SrcContext, z.DstContext = a, b
			e.Do("cuMemcpy3DPeer", in{"swapped", &z})
			next()
		})
	}
	c.two("copy/contexts", func(e *Env, a, b driver.CUcontext) {
		p, q := e.allocIn(a, 4096, 1), e.allocIn(b, 4096, 5)
		e.Do("cuMemcpyPeer", p, b, q, a, 16) // swapped
		e.block(p)
		e.Do("cuMemcpyPeer", p, nil, q, b, 16)
		e.Do("cuMemcpyPeer", p, a, q, nil, 16)
		e.Do("cuMemcpyPeer", p, nil, q, nil, 16)
		e.Do("cuMemcpyPeer", p, a, p+64, a, 16)
		e.Do("cuMemcpyPeer", p, a, q, b, 0)
		e.Do("cuMemcpyPeer", p, a, q, b, 5000)
		e.Do("cuMemcpyPeer", p, a, nil, b, 16)
		e.Do("cuMemcpyPeer", nil, a, q, b, 16)
		e.Do("cuMemcpyPeer", p, a, garbage, b, 16)
		e.in(b, func() {
			e.Do("cuMemcpyPeer", p, a, q, b, 16)
			e.Do("cuMemcpyDtoD_v2", p, q, 16)
			e.block(p)
		})
		var host unsafe.Pointer
		e.Must("cuMemHostAlloc", &host, 4096, 0)
		e.Do("cuMemcpyPeer", p, a, named("pinned", uint64(uintptr(host))), b, 16)
		e.Do("cuMemcpyPeer", named("pinned", uint64(uintptr(host))), a, q, b, 16)
	})
	c.twoAlone("copy/garbage", func(e *Env, a, b driver.CUcontext) {
		p, q := e.allocIn(a, 4096, 1), e.allocIn(b, 4096, 5)
		e.Do("cuMemcpyPeer", p, garbage, q, b, 16)
	})
	c.two("copy/no-current", func(e *Env, a, b driver.CUcontext) {
		p, q := e.allocIn(a, 4096, 1), e.allocIn(b, 4096, 5)
		e.Must("cuCtxSetCurrent", nil)
		e.Do("cuMemcpyPeer", p, a, q, b, 16)
		e.Do("cuMemcpyPeerAsync", p, a, q, b, 16, nil)
		e.Do("cuMemcpyDtoD_v2", p, q, 16)
		e.Must("cuCtxSetCurrent", a)
		e.block(p)
	})
	c.two("copy/batch", func(e *Env, a, b driver.CUcontext) {
		p, q := e.allocIn(a, 4096, 1), e.allocIn(b, 4096, 5)
		s := e.stream(1)
		dst, src := [2]driver.CUdeviceptr{p, q + 64}, [2]driver.CUdeviceptr{q, p + 64}
		size, index := [2]uint64{16, 16}, [2]uint64{}
		attr := driver.CUmemcpyAttributes{SrcAccessOrder: 1, SrcLocHint: onSecond, DstLocHint: onDevice}
		e.Do("cuMemcpyBatchAsync_v2", in{"dst", &dst[0]}, in{"src", &src[0]}, in{"sizes", &size[0]}, 2,
			in{"attr", &attr}, in{"index", &index[0]}, 1, s)
		e.Do("cuStreamSynchronize", s)
		e.block(p)
		e.block(q + 64)
	})
	c.two("copy/array", func(e *Env, a, b driver.CUcontext) {
		var arr driver.CUarray
		e.in(b, func() { arr = e.array(16, 4, 0, driver.CU_AD_FORMAT_UNSIGNED_INT32, 1, 0) })
		p := e.allocIn(a, 4096, 3)
		x := driver.CUDA_MEMCPY2D{SrcMemoryType: 2, SrcDevice: p, SrcPitch: 64, DstMemoryType: 3, DstArray: arr,
			WidthInBytes: 16, Height: 2}
		e.Do("cuMemcpy2D_v2", in{"to array", &x})
		e.in(b, func() { e.Do("cuMemcpy2D_v2", in{"to array", &x}) })
		z := driver.CUDA_MEMCPY3D_PEER{SrcMemoryType: 2, SrcDevice: p, SrcContext: a, SrcPitch: 64, SrcHeight: 2,
			DstMemoryType: 3, DstArray: arr, DstContext: b, WidthInBytes: 16, Height: 2, Depth: 1}
		e.Do("cuMemcpy3DPeer", in{"to array", &z})
		x = driver.CUDA_MEMCPY2D{DstMemoryType: 2, DstDevice: p + 256, DstPitch: 64, SrcMemoryType: 3, SrcArray: arr,
			WidthInBytes: 16, Height: 2}
		e.Do("cuMemcpy2D_v2", in{"from array", &x})
		e.block(p + 256)
	})
}

func peerPointerCases(c *cases) {
	all := []driver.CUpointer_attribute{1, 2, 3, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21}
	kinds := []struct {
		name string
		make func(e *Env, b driver.CUcontext) driver.CUdeviceptr // with b current
	}{
		{"memory", func(e *Env, b driver.CUcontext) driver.CUdeviceptr { return e.allocIn(b, 4096, 5) }},
		{"managed", func(e *Env, _ driver.CUcontext) (p driver.CUdeviceptr) {
			e.Must("cuMemAllocManaged", &p, 4096, 1)
			return p
		}},
		{"pinned", func(e *Env, _ driver.CUcontext) driver.CUdeviceptr {
			var host unsafe.Pointer
			e.Must("cuMemHostAlloc", &host, 4096, 0)
			return driver.CUdeviceptr(uintptr(host))
		}},
		{"portable", func(e *Env, _ driver.CUcontext) driver.CUdeviceptr {
			var host unsafe.Pointer
			e.Must("cuMemHostAlloc", &host, 4096, 3)
			return driver.CUdeviceptr(uintptr(host))
		}},
		{"async", func(e *Env, _ driver.CUcontext) (p driver.CUdeviceptr) {
			e.Must("cuMemAllocAsync", &p, 4096, nil)
			e.Must("cuCtxSynchronize")
			return p
		}},
		{"mapped", func(e *Env, _ driver.CUcontext) driver.CUdeviceptr {
			h := e.store(driver.CUmemAllocationProp{Type: 1, Location: onSecond}, granule)
			return e.mappedFor(h, onSecond)
		}},
	}
	for _, k := range kinds {
		c.two("pointer/"+k.name, func(e *Env, a, b driver.CUcontext) {
			var p, base driver.CUdeviceptr
			var size uint64
			e.in(b, func() { p = k.make(e, b) })
			at := named("memory", p)
			e.pointer(at, all...)
			e.Do("cuMemGetAddressRange_v2", hidden{&base}, &size, at)
			e.enable(a, b)
			e.pointer(at, 2, 9, 13, 16)
			e.in(b, func() { e.pointer(at, 1, 2, 9, 13, 16) })
			// several at once
			var typ, ordinal uint32
			ids := [2]driver.CUpointer_attribute{2, 9}
			data := [2]unsafe.Pointer{unsafe.Pointer(&typ), unsafe.Pointer(&ordinal)}
			e.pin(&typ)
			e.pin(&ordinal)
			e.pin(&data)
			e.Do("cuPointerGetAttributes", 2, in{"type,ordinal", &ids[0]}, in{"data", &data[0]}, at)
			e.Note("%d %d", typ, ordinal)
			one := uint32(1)
			e.Do("cuPointerSetAttribute", in{"1", &one}, 6, at)
		})
	}
	for _, flags := range []int{0, 1, 2, 3} {
		c.two("host/alloc/"+itoa(flags), func(e *Env, a, b driver.CUcontext) {
			// pinned memory of b, used in a
			var host unsafe.Pointer
			var p driver.CUdeviceptr
			var u uint32
			e.in(b, func() { e.Must("cuMemHostAlloc", &host, 4096, flags) })
			h := named("pinned", host)
			at := named("pinned", uint64(uintptr(host)))
			e.Do("cuMemHostGetDevicePointer_v2", hidden{&p}, h, 0)
			e.Do("cuMemHostGetFlags", &u, h)
			e.Do("cuMemsetD32_v2", at, 9, 4)
			q := e.allocIn(a, 64, 1)
			e.launch(e.fnIn(a, peerPTX(peerForms[0].body), "k"), 1, 1, params{named("pinned", p).value, q})
			e.Do("cuCtxSynchronize")
			e.block(q)
			e.Do("cuMemFreeHost", h)
		})
		c.two("host/register/"+itoa(flags), func(e *Env, a, b driver.CUcontext) {
			var host unsafe.Pointer
			var p driver.CUdeviceptr
			buf := make([]byte, 3*4096)
			e.keepAlive(buf)
			host = unsafe.Pointer(&buf[4096-int(uintptr(unsafe.Pointer(&buf[0]))%4096)])
			h := named("registered", host)
			e.in(b, func() { e.Do("cuMemHostRegister_v2", h, 4096, flags) })
			e.Do("cuMemHostRegister_v2", h, 4096, flags)
			e.Do("cuMemHostGetDevicePointer_v2", hidden{&p}, h, 0)
			e.Do("cuMemcpyHtoDAsync_v2", e.allocIn(a, 64, 1), h, 64, nil)
			e.Do("cuCtxSynchronize")
			e.Do("cuMemHostUnregister", h)
			e.Do("cuMemHostUnregister", h)
		})
	}
}
