package api

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// address is host memory of the case as a number for a struct.
func (e *Env) address(b []byte) uintptr {
	e.keepAlive(b)
	e.pin(&b[0])
	return uintptr(unsafe.Pointer(&b[0]))
}

func copyCases(c *cases) {
	var p driver.CUdeviceptr
	words := func(e *Env, d driver.CUdeviceptr, offsets ...int) {
		for _, off := range offsets {
			e.word(d + driver.CUdeviceptr(off))
		}
	}
	type two struct {
		name string
		edit func(m *driver.CUDA_MEMCPY2D, d driver.CUdeviceptr, h uintptr)
	}
	for _, t := range []two{
		{"ok", func(*driver.CUDA_MEMCPY2D, driver.CUdeviceptr, uintptr) {}},
		{"pitch-0", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, _ uintptr) { m.SrcPitch, m.DstPitch = 0, 0 }},
		{"pitch-0-one-row", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, _ uintptr) {
			m.SrcPitch, m.DstPitch, m.Height = 0, 0, 1
		}},
		{"pitch-short", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, _ uintptr) { m.SrcPitch = 8 }},
		{"width-0", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, _ uintptr) { m.WidthInBytes = 0 }},
		{"height-0", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, _ uintptr) { m.Height = 0 }},
		{"offset", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, _ uintptr) {
			m.SrcXInBytes, m.SrcY, m.DstXInBytes, m.DstY = 4, 1, 8, 2
		}},
		{"offset-beyond-pitch", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, _ uintptr) { m.SrcXInBytes = 60 }},
		{"beyond", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, _ uintptr) { m.DstY = 100 }},
		{"type-0", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, _ uintptr) { m.SrcMemoryType = 0 }},
		{"type-9", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, _ uintptr) { m.DstMemoryType = 9 }},
		{"unified", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, _ uintptr) {
			m.SrcMemoryType, m.DstMemoryType = driver.CU_MEMORYTYPE_UNIFIED, driver.CU_MEMORYTYPE_UNIFIED
		}},
		{"from-host", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, h uintptr) {
			m.SrcMemoryType, m.SrcHost = driver.CU_MEMORYTYPE_HOST, h
		}},
		{"to-host", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, h uintptr) {
			m.DstMemoryType, m.DstHost = driver.CU_MEMORYTYPE_HOST, h
		}},
		{"from-null", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, _ uintptr) { m.SrcDevice = 0 }},
		{"host-null", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, _ uintptr) {
			m.SrcMemoryType = driver.CU_MEMORYTYPE_HOST
		}},
		{"array-null", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, _ uintptr) {
			m.SrcMemoryType = driver.CU_MEMORYTYPE_ARRAY
		}},
		{"pitch-large", func(m *driver.CUDA_MEMCPY2D, _ driver.CUdeviceptr, _ uintptr) {
			m.SrcPitch, m.Height = 1<<31, 1
		}},
	} {
		for _, fn := range []string{"cuMemcpy2D_v2", "cuMemcpy2DUnaligned_v2", "cuMemcpy2DAsync_v2"} {
			c.add("copy/2d/"+t.name+"/"+fn, func(e *Env) {
				d := e.alloc(4096)
				host := make([]byte, 4096)
				e.Must("cuMemsetD32_v2", d, 7, 256)
				m := &driver.CUDA_MEMCPY2D{SrcMemoryType: driver.CU_MEMORYTYPE_DEVICE, SrcDevice: d, SrcPitch: 64,
					DstMemoryType: driver.CU_MEMORYTYPE_DEVICE, DstDevice: d + 2048, DstPitch: 64, WidthInBytes: 16,
					Height: 3}
				t.edit(m, d, e.address(host))
				if fn == "cuMemcpy2DAsync_v2" {
					e.Do(fn, in{t.name, m}, nil)
				} else {
					e.Do(fn, in{t.name, m})
				}
				e.Do("cuCtxSynchronize")
				words(e, d, 2048, 2048+64, 2048+128+8)
				e.Note("host %x", host[64:68])
			})
		}
	}
	for _, t := range []struct {
		name string
		edit func(m *driver.CUDA_MEMCPY3D)
	}{
		{"ok", func(*driver.CUDA_MEMCPY3D) {}},
		{"depth-0", func(m *driver.CUDA_MEMCPY3D) { m.Depth = 0 }},
		{"height-0", func(m *driver.CUDA_MEMCPY3D) { m.Height = 0 }},
		{"slice-height-0", func(m *driver.CUDA_MEMCPY3D) { m.SrcHeight = 0 }},
		{"slice-height-short", func(m *driver.CUDA_MEMCPY3D) { m.SrcHeight = 1 }},
		{"lod-1", func(m *driver.CUDA_MEMCPY3D) { m.SrcLOD = 1 }},
		{"reserved", func(m *driver.CUDA_MEMCPY3D) { m.Reserved0 = 1 }},
		{"pitch-short", func(m *driver.CUDA_MEMCPY3D) { m.DstPitch = 8 }},
		{"beyond", func(m *driver.CUDA_MEMCPY3D) { m.DstZ = 100 }},
	} {
		for _, fn := range []string{"cuMemcpy3D_v2", "cuMemcpy3DAsync_v2", "cuMemcpy3DPeer", "cuMemcpy3DPeerAsync"} {
			c.add("copy/3d/"+t.name+"/"+fn, func(e *Env) {
				d := e.alloc(8192)
				e.Must("cuMemsetD32_v2", d, 7, 1024)
				m := &driver.CUDA_MEMCPY3D{SrcMemoryType: driver.CU_MEMORYTYPE_DEVICE, SrcDevice: d, SrcPitch: 64,
					SrcHeight: 4, DstMemoryType: driver.CU_MEMORYTYPE_DEVICE, DstDevice: d + 4096, DstPitch: 64,
					DstHeight:    4,
					WidthInBytes: 16, Height: 3, Depth: 2}
				t.edit(m)
				ctx := e.current()
				peer := &driver.CUDA_MEMCPY3D_PEER{SrcMemoryType: m.SrcMemoryType, SrcDevice: m.SrcDevice,
					SrcPitch: m.SrcPitch, SrcHeight: m.SrcHeight, SrcLOD: m.SrcLOD, DstMemoryType: m.DstMemoryType,
					DstDevice: m.DstDevice,
					DstPitch:  m.DstPitch, DstHeight: m.DstHeight, DstZ: m.DstZ, WidthInBytes: m.WidthInBytes,
					Height: m.Height, Depth: m.Depth, SrcContext: ctx, DstContext: ctx}
				switch fn {
				case "cuMemcpy3D_v2":
					e.Do(fn, in{t.name, m})
				case "cuMemcpy3DAsync_v2":
					e.Do(fn, in{t.name, m}, nil)
				case "cuMemcpy3DPeer":
					e.Do(fn, in{t.name, peer})
				default:
					e.Do(fn, in{t.name, peer}, nil)
				}
				e.Do("cuCtxSynchronize")
				words(e, d, 4096, 4096+256)
			})
		}
	}
	c.add("copy/3d/peer-contexts", func(e *Env) {
		d := e.alloc(8192)
		m := &driver.CUDA_MEMCPY3D_PEER{SrcMemoryType: driver.CU_MEMORYTYPE_DEVICE, SrcDevice: d,
			DstMemoryType: driver.CU_MEMORYTYPE_DEVICE, DstDevice: d + 4096, WidthInBytes: 16, Height: 1, Depth: 1}
		e.Do("cuMemcpy3DPeer", in{"no-contexts", m})
		e.Do("cuMemcpyPeer", d+4096, e.current(), d, e.current(), 16)
		e.Do("cuMemcpyPeer", d+4096, nil, d, e.current(), 16)
		e.Do("cuMemcpyPeer", d+4096, e.current(), d, e.current(), 0)
		e.Do("cuMemcpyPeerAsync", d+4096, e.current(), d, nil, 16, nil)
		e.Do("cuMemcpyPeerAsync", d+4096, e.current(), d, e.current(), 16, nil)
		e.Do("cuCtxSynchronize")
	})
	for _, t := range []struct {
		name string
		w, h int
		pit  int
	}{{"ok", 4, 3, 64}, {"pitch-0", 4, 3, 0}, {"pitch-0-one-row", 4, 1, 0}, {"pitch-short", 16, 3, 8},
		{"width-0", 0, 3, 64}, {"height-0", 4, 0, 64}, {"beyond", 4, 100, 64}, {"pitch-odd", 4, 3, 65}} {
		c.add("copy/fill-2d/"+t.name, func(e *Env) {
			d := e.alloc(4096)
			e.Do("cuMemsetD2D32_v2", d, t.pit, 7, t.w, t.h)
			e.Do("cuMemsetD2D16_v2", d, t.pit, 7, t.w, t.h)
			e.Do("cuMemsetD2D8_v2", d, t.pit, 7, t.w, t.h)
			e.Do("cuMemsetD2D32Async", d, t.pit, 9, t.w, t.h, nil)
			words(e, d, 0, 64)
		})
	}
	type copyBatch struct {
		dst, src      []driver.CUdeviceptr
		sizes, starts []uint64
		attrs         []driver.CUmemcpyAttributes
		n, k          int
		s             driver.CUstream
	}
	batch := func(name string, edit func(b *copyBatch)) {
		for _, fn := range []string{"cuMemcpyBatchAsync", "cuMemcpyBatchAsync_v2"} {
			c.alone("copy/batch/"+name+"/"+fn, func(e *Env) {
				d := e.alloc(4096)
				e.Must("cuMemsetD32_v2", d, 7, 256)
				e.Must("cuCtxSynchronize")
				b := &copyBatch{dst: []driver.CUdeviceptr{d + 2048, d + 2304}, src: []driver.CUdeviceptr{d, d + 256},
					sizes: []uint64{16, 16}, starts: []uint64{0, 1},
					attrs: []driver.CUmemcpyAttributes{{SrcAccessOrder: 1}, {SrcAccessOrder: 1}}, n: 2, k: 1,
					s: e.stream(1)}
				edit(b)
				fail := ^uint64(0)
				args := []any{in{"dst", &b.dst[0]}, in{"src", &b.src[0]}, in{"sizes", &b.sizes[0]}, b.n,
					in{"attrs", &b.attrs[0]}, in{"starts", &b.starts[0]}, b.k}
				if fn == "cuMemcpyBatchAsync" {
					args = append(args, &fail)
				}
				e.Do(fn, append(args, b.s)...)
				e.Do("cuCtxSynchronize")
				words(e, d, 2048, 2304)
			})
		}
	}
	batch("ok", func(*copyBatch) {})
	batch("two-attributes", func(b *copyBatch) { b.k = 2 })
	batch("three-attributes", func(b *copyBatch) { b.k = 3 })
	batch("no-attributes", func(b *copyBatch) { b.k = 0 })
	batch("empty", func(b *copyBatch) { b.n = 0 })
	batch("start-1", func(b *copyBatch) { b.starts[0] = 1 })
	batch("starts-equal", func(b *copyBatch) { b.starts[1], b.k = 0, 2 })
	batch("start-beyond", func(b *copyBatch) { b.starts[1], b.k = 2, 2 })
	for order := range 5 {
		batch("order-"+itoa(order), func(b *copyBatch) {
			b.attrs[0].SrcAccessOrder = driver.CUmemcpySrcAccessOrder(order)
		})
	}
	batch("flags-1", func(b *copyBatch) { b.attrs[0].Flags = 1 })
	batch("flags-2", func(b *copyBatch) { b.attrs[0].Flags = 2 })
	batch("size-0", func(b *copyBatch) { b.sizes[0] = 0 })
	batch("beyond", func(b *copyBatch) { b.sizes[1] = 4096 })
	batch("null", func(b *copyBatch) { b.dst[1] = 0 })
	batch("hint", func(b *copyBatch) { b.attrs[0].SrcLocHint, b.attrs[0].DstLocHint = onDevice, onDevice })
	batch("hint-9", func(b *copyBatch) { b.attrs[0].SrcLocHint.Type = 9 })
	batch("legacy-stream", func(b *copyBatch) { b.s = 0 })
	for _, t := range []struct {
		name string
		edit func(o *driver.CUDA_MEMCPY3D_BATCH_OP)
	}{{"ok", func(*driver.CUDA_MEMCPY3D_BATCH_OP) {}}, {"type-0", func(o *driver.CUDA_MEMCPY3D_BATCH_OP) {
		o.Src.Type = 0
	}}, {"order-0", func(o *driver.CUDA_MEMCPY3D_BATCH_OP) { o.SrcAccessOrder = 0 }},
		{"order-9", func(o *driver.CUDA_MEMCPY3D_BATCH_OP) {
			o.SrcAccessOrder = 9
		}}, {"flags-2", func(o *driver.CUDA_MEMCPY3D_BATCH_OP) {
			o.Flags = 2
		}}, {"depth-0", func(o *driver.CUDA_MEMCPY3D_BATCH_OP) { o.Extent.Depth = 0 }},
		{"row-short", func(o *driver.CUDA_MEMCPY3D_BATCH_OP) { o.Src.Op.Ptr().RowLength = 8 }}} {
		for _, fn := range []string{"cuMemcpy3DBatchAsync", "cuMemcpy3DBatchAsync_v2"} {
			c.alone("copy/batch-3d/"+t.name+"/"+fn, func(e *Env) {
				d, s := e.alloc(4096), e.stream(1)
				e.Must("cuMemsetD32_v2", d, 7, 256)
				e.Must("cuCtxSynchronize")
				o := &driver.CUDA_MEMCPY3D_BATCH_OP{Extent: driver.CUextent3D{Width: 16, Height: 2, Depth: 1},
					SrcAccessOrder: 1}
				o.Src.Type, o.Dst.Type = driver.CU_MEMCPY_OPERAND_TYPE_POINTER, driver.CU_MEMCPY_OPERAND_TYPE_POINTER
				src, dst := o.Src.Op.Ptr(), o.Dst.Op.Ptr()
				src.Ptr, src.RowLength, src.LayerHeight = d, 64, 2
				dst.Ptr, dst.RowLength, dst.LayerHeight = d+2048, 64, 2
				t.edit(o)
				fail := ^uint64(0)
				if fn == "cuMemcpy3DBatchAsync" {
					e.Do(fn, 1, in{t.name, o}, &fail, 0, s)
					e.Do(fn, 1, in{t.name, o}, &fail, 1, s)
					e.Do(fn, 0, in{t.name, o}, &fail, 0, s)
				} else {
					e.Do(fn, 1, in{t.name, o}, 0, s)
					e.Do(fn, 1, in{t.name, o}, 1, s)
					e.Do(fn, 0, in{t.name, o}, 0, s)
				}
				e.Do("cuCtxSynchronize")
				words(e, d, 2048, 2112)
			})
		}
	}
	c.add("copy/register", func(e *Env) {
		b := make([]byte, 16384)
		base := uintptr(unsafe.Pointer(&b[0]))
		e.pin(&b[0])
		off := (4096 - base%4096) % 4096
		page := raw{"page", b[off:]}
		odd := raw{"odd", b[off+100:]}
		var flags uint32
		for _, f := range []int{0, 1, 2, 4, 8, 16, 32, 3} {
			if e.Do("cuMemHostRegister_v2", page, 4096, f) == driver.CUDA_SUCCESS {
				e.Do("cuMemHostGetFlags", &flags, page)
				e.Do("cuMemHostRegister_v2", page, 4096, f)
				e.Do("cuMemHostGetDevicePointer_v2", hidden{&p}, page, 0)
				e.Do("cuMemHostUnregister", page)
			}
		}
		e.Do("cuMemHostRegister_v2", odd, 1000, 0)
		e.Do("cuMemHostRegister_v2", page, 4096, 0)
		e.Do("cuMemHostUnregister", odd)
		e.Do("cuMemHostUnregister", odd)
		e.Do("cuMemHostRegister_v2", page, 0, 0)
		e.Do("cuMemHostRegister_v2", nil, 4096, 0)
		e.Do("cuMemHostUnregister", nil)
		e.Do("cuMemHostGetFlags", &flags, page)
	})
}

func adviceCases(c *cases) {
	var (
		p driver.CUdeviceptr
		v uint32
	)
	managed := func(e *Env) driver.CUdeviceptr {
		e.Must("cuMemAllocManaged", &p, 4<<20, 1)
		e.Must("cuMemsetD8_v2", p, 0, 4<<20)
		e.Must("cuCtxSynchronize")
		e.sizes[uint64(p)] = 4 << 20
		e.symbol(uint64(p), "CUdeviceptr")
		return p
	}
	for _, l := range locations {
		c.alone("advice/"+l.name, func(e *Env) {
			m := managed(e)
			for advice := range 8 {
				e.Do("cuMemAdvise_v2", m, 4096, advice, named(l.name, l.loc))
				e.Do("cuMemRangeGetAttribute", &v, 4, 1, m, 4096)
			}
			e.Do("cuMemPrefetchAsync_v2", m, 4096, named(l.name, l.loc), 0, nil)
			e.Do("cuMemPrefetchAsync_v2", m, 4096, named(l.name, l.loc), 1, nil)
			for _, a := range []int{2, 4, 5, 6, 7, 8} {
				e.Do("cuMemRangeGetAttribute", &v, 4, a, m, 4096)
			}
			e.Do("cuCtxSynchronize")
		})
	}
	c.alone("advice/attributes", func(e *Env) {
		m := managed(e)
		for a := range 11 {
			e.Do("cuMemRangeGetAttribute", &v, 4, a, m, 4096)
		}
		e.Do("cuMemRangeGetAttribute", &v, 8, 1, m, 4096)
		e.Do("cuMemRangeGetAttribute", &v, 2, 1, m, 4096)
		e.Do("cuMemRangeGetAttribute", &v, 4, 1, m, 0)
		e.Do("cuMemRangeGetAttribute", &v, 4, 1, m, 8<<20)
		e.Do("cuMemRangeGetAttribute", nil, 4, 1, m, 4096)
		e.Do("cuMemRangeGetAttribute", &v, 4, 1, e.alloc(4096), 4096)
		e.Do("cuMemRangeGetAttribute", &v, 4, 1, garbage, 4096)
		e.Do("cuMemAdvise_v2", m, 4096, 1, named("device", onDevice))
		e.Do("cuMemAdvise_v2", m+4096, 4096, 5, named("device", onDevice))
		e.Do("cuMemAdvise_v2", m, 0, 1, named("device", onDevice))
		e.Do("cuMemAdvise_v2", m, 8<<20, 1, named("device", onDevice))
		e.Do("cuMemAdvise_v2", e.alloc(4096), 4096, 1, named("device", onDevice))
		e.Do("cuMemRangeGetAttribute", &v, 4, 1, m, 4096)
		e.Do("cuMemRangeGetAttribute", &v, 4, 1, m, 8192)
		list := new([4]int32)
		for _, size := range []int{4, 8, 16, 3} {
			e.Do("cuMemRangeGetAttribute", list, size, 3, m, 4096)
			e.Do("cuMemRangeGetAttribute", list, size, 3, m+4096, 4096)
		}
	})
	for _, l := range locations[:4] {
		c.alone("advice/pool/"+l.name, func(e *Env) {
			var pool driver.CUmemoryPool
			e.Must("cuMemPoolCreate", &pool, in{"managed", &driver.CUmemPoolProps{AllocType: 2, Location: onDevice}})
			e.Must("cuMemAllocFromPoolAsync", &p, 4<<20, pool, nil)
			e.Must("cuMemsetD8_v2", p, 0, 4<<20)
			e.Must("cuCtxSynchronize")
			e.sizes[uint64(p)] = 4 << 20
			e.symbol(uint64(p), "CUdeviceptr")
			for advice := 1; advice < 7; advice++ {
				e.Do("cuMemAdvise_v2", p, 4096, advice, named(l.name, l.loc))
			}
			e.Do("cuMemPrefetchAsync_v2", p, 4096, named(l.name, l.loc), 0, nil)
			for a := 1; a < 9; a++ {
				e.Do("cuMemRangeGetAttribute", &v, 4, a, p, 4096)
			}
			e.Do("cuCtxSynchronize")
		})
	}
	c.alone("advice/old", func(e *Env) {
		m := managed(e)
		for _, dev := range []int{0, -1, 9} {
			for advice := 1; advice < 7; advice++ {
				e.Do("cuMemAdvise", m, 4096, advice, dev)
			}
			e.Do("cuMemPrefetchAsync", m, 4096, dev, nil)
		}
		e.Do("cuCtxSynchronize")
		e.Do("cuMemPrefetchAsync", e.alloc(4096), 4096, 0, nil)
		e.Do("cuMemPrefetchAsync", m, 0, 0, nil)
		e.Do("cuMemPrefetchAsync", m, 8<<20, 0, nil)
	})
	c.alone("advice/batch", func(e *Env) {
		m, s := managed(e), e.stream(1)
		ptrs := [2]driver.CUdeviceptr{m, m + 2<<20}
		sizes := [2]uint64{4096, 4096}
		places := [2]driver.CUmemLocation{onDevice, onHost}
		index := [2]uint64{0, 1}
		for _, t := range []struct {
			name  string
			n, k  int
			flags int
		}{{"ok", 2, 2, 0}, {"one-place", 2, 1, 0}, {"no-place", 2, 0, 0}, {"empty", 0, 1, 0}, {"flags", 2, 1, 1},
			{"more-places", 1, 2, 0}} {
			args := []any{in{"ptrs", &ptrs[0]}, in{"sizes", &sizes[0]}, t.n, in{"places", &places[0]},
				in{"index", &index[0]}, t.k, t.flags, s}
			e.Note("%s", t.name)
			e.Do("cuMemPrefetchBatchAsync", args...)
			e.Do("cuMemDiscardAndPrefetchBatchAsync", args...)
			e.Do("cuMemDiscardBatchAsync", in{"ptrs", &ptrs[0]}, in{"sizes", &sizes[0]}, t.n, t.flags, s)
		}
		e.Do("cuCtxSynchronize")
		index[0] = 1
		e.Do("cuMemPrefetchBatchAsync", in{"ptrs", &ptrs[0]}, in{"sizes", &sizes[0]}, 2, in{"places", &places[0]},
			in{"index", &index[0]}, 1, 0, s)
		ptrs[0] = e.alloc(4096)
		e.Do("cuMemDiscardBatchAsync", in{"device", &ptrs[0]}, in{"sizes", &sizes[0]}, 1, 0, s)
		e.Do("cuMemDiscardBatchAsync", in{"device", &ptrs[0]}, in{"sizes", &sizes[0]}, 1, 0, nil)
		e.Do("cuCtxSynchronize")
	})
	c.alone("advice/attach", func(e *Env) {
		m, s := managed(e), e.stream(0)
		for _, flags := range []int{0, 1, 2, 4, 3} {
			e.Do("cuStreamAttachMemAsync", s, m, 0, flags)
			e.Do("cuStreamAttachMemAsync", s, m, 4096, flags)
			e.Do("cuStreamAttachMemAsync", s, m, 4<<20, flags)
			e.Do("cuStreamAttachMemAsync", nil, m, 0, flags)
		}
		e.Do("cuStreamAttachMemAsync", s, m+4096, 0, 1)
		e.Do("cuStreamAttachMemAsync", s, e.alloc(4096), 0, 1)
		e.Do("cuStreamSynchronize", s)
	})
}
