package softdev

import (
	"reflect"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// The first versions of the memory calls (before CUDA 3.2) have addresses and sizes of 32 bits. They work in a context
// that cuCtxCreate in its first version made and in no other (recorded). There the calls that take addresses are the
// later ones; those that give one fail, since no memory of the window has an address that short.

// firstVersion is the check of a call's first version: the context that it runs in, where there is one, is of the API's
// first version.
func (d *Driver) firstVersion(cur driver.CUcontext) driver.CUresult {
	if c, r := d.attach(cur); r == success && c.version != apiVersion1 {
		return invalidCtx
	}
	return success
}

// firstVersions are the calls that look at the context's version before anything else (cases zeros/context of
// internal/conform/api).
var firstVersions = []string{
	"MemAlloc", "MemAllocPitch", "MemFree", "MemGetInfo", "MemAllocHost", "MemHostGetDevicePointer", "MemcpyHtoD",
	"MemcpyHtoDAsync", "MemcpyDtoH", "MemcpyDtoHAsync", "MemcpyDtoD", "MemcpyDtoDAsync",
	"MemcpyHtoA", "MemcpyHtoAAsync", "MemcpyAtoH", "MemcpyAtoHAsync", "MemcpyAtoA", "MemcpyDtoA", "MemcpyAtoD",
	"Memcpy2D", "Memcpy2DUnaligned", "Memcpy2DAsync", "Memcpy3D", "Memcpy3DAsync",
	"MemsetD8", "MemsetD16", "MemsetD32", "MemsetD2D8", "MemsetD2D16", "MemsetD2D32", "ArrayCreate", "Array3DCreate",
}

// checkFirstVersions puts that check before those calls.
func (d *Driver) checkFirstVersions(t *driver.Table) {
	v := reflect.ValueOf(t).Elem()
	for _, name := range firstVersions {
		f := v.FieldByName(name)
		call := reflect.ValueOf(f.Interface()) // the function as it is now, not the field
		f.Set(reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
			if r := d.firstVersion(driver.CUcontext(args[0].Uint())); r != success {
				return []reflect.Value{reflect.ValueOf(r)}
			}
			return call.Call(args)
		}))
	}
}

// short gives an address in 32 bits, or undoes what made it.
func (d *Driver) short(out *driver.CUdeviceptr_v1, p driver.CUdeviceptr, undo func()) driver.CUresult {
	if p>>32 != 0 {
		if undo != nil {
			undo()
		}
		d.explain(nil, "the address %#x does not fit the 32 bits of the call's first version", uint64(p))
		return notSupported
	}
	*out = driver.CUdeviceptr_v1(p)
	return success
}

func wide2D(p *driver.CUDA_MEMCPY2D_v1) *driver.CUDA_MEMCPY2D {
	if p == nil {
		return nil
	}
	return &driver.CUDA_MEMCPY2D{
		SrcXInBytes: uint64(p.SrcXInBytes), SrcY: uint64(p.SrcY), SrcMemoryType: p.SrcMemoryType, SrcHost: p.SrcHost,
		SrcDevice: driver.CUdeviceptr(p.SrcDevice), SrcArray: p.SrcArray, SrcPitch: uint64(p.SrcPitch),
		DstXInBytes: uint64(p.DstXInBytes), DstY: uint64(p.DstY), DstMemoryType: p.DstMemoryType, DstHost: p.DstHost,
		DstDevice: driver.CUdeviceptr(p.DstDevice), DstArray: p.DstArray, DstPitch: uint64(p.DstPitch),
		WidthInBytes: uint64(p.WidthInBytes), Height: uint64(p.Height),
	}
}

func wide3D(p *driver.CUDA_MEMCPY3D_v1) *driver.CUDA_MEMCPY3D {
	if p == nil {
		return nil
	}
	return &driver.CUDA_MEMCPY3D{
		SrcXInBytes: uint64(p.SrcXInBytes), SrcY: uint64(p.SrcY), SrcZ: uint64(p.SrcZ), SrcLOD: uint64(p.SrcLOD),
		SrcMemoryType: p.SrcMemoryType, SrcHost: p.SrcHost,
		SrcDevice: driver.CUdeviceptr(p.SrcDevice), SrcArray: p.SrcArray, SrcPitch: uint64(p.SrcPitch),
		SrcHeight:   uint64(p.SrcHeight),
		DstXInBytes: uint64(p.DstXInBytes), DstY: uint64(p.DstY), DstZ: uint64(p.DstZ), DstLOD: uint64(p.DstLOD),
		DstMemoryType: p.DstMemoryType, DstHost: p.DstHost,
		DstDevice: driver.CUdeviceptr(p.DstDevice), DstArray: p.DstArray, DstPitch: uint64(p.DstPitch),
		DstHeight:    uint64(p.DstHeight),
		WidthInBytes: uint64(p.WidthInBytes), Height: uint64(p.Height), Depth: uint64(p.Depth),
	}
}

func (d *Driver) oldMemoryTable(t *driver.Table) {
	type (
		ctx = driver.CUcontext
		old = driver.CUdeviceptr_v1
		dev = driver.CUdeviceptr
		ptr = unsafe.Pointer
		str = driver.CUstream
		res = driver.CUresult
	)
	t.MemAlloc = func(cur ctx, out *old, n uint32) res {
		if out == nil {
			return d.memAlloc(cur, nil, uint64(n))
		}
		*out = 0
		var p dev
		if r := d.memAlloc(cur, &p, uint64(n)); r != success {
			return r
		}
		return d.short(out, p, func() { d.memFree(cur, p) })
	}
	t.MemAllocPitch = func(cur ctx, out *old, pitch *uint32, w, h, element uint32) res {
		if out == nil || pitch == nil {
			return d.memAllocPitch(cur, nil, nil, uint64(w), uint64(h), element)
		}
		*out, *pitch = 0, 0
		var p dev
		var n uint64
		r := d.memAllocPitch(cur, &p, &n, uint64(w), uint64(h), element)
		*pitch = uint32(n)
		if r != success {
			return r
		}
		return d.short(out, p, func() { d.memFree(cur, p) })
	}
	t.MemFree = func(cur ctx, p old) res { return d.memFree(cur, dev(p)) }
	t.MemGetInfo = func(cur ctx, free, total *uint32) res {
		var f, n uint64
		r := d.memGetInfo(cur, &f, &n)
		for _, x := range []struct {
			out *uint32
			v   uint64
		}{{free, f}, {total, n}} {
			if x.out != nil {
				*x.out = uint32(min(x.v, 1<<32-1))
			}
		}
		return r
	}
	t.MemGetAddressRange = func(cur ctx, base *old, size *uint32, p old) res {
		if base == nil && size == nil {
			return d.memGetAddressRange(cur, nil, nil, dev(p))
		}
		var b dev
		var n uint64
		if r := d.memGetAddressRange(cur, &b, &n, dev(p)); r != success {
			return r
		}
		if size != nil {
			*size = uint32(min(n, 1<<32-1))
		}
		if base == nil {
			return success
		}
		return d.short(base, b, nil)
	}
	t.MemHostGetDevicePointer = func(cur ctx, out *old, p ptr, flags uint32) res {
		if out == nil {
			return d.memHostGetDevicePointer(cur, nil, p, flags)
		}
		*out = 0
		var q dev
		if r := d.memHostGetDevicePointer(cur, &q, p, flags); r != success {
			return r
		}
		return d.short(out, q, nil)
	}
	t.MemcpyHtoD = func(cur ctx, p old, q ptr, n uint32) res { return d.memcpyHtoD(cur, dev(p), q, uint64(n)) }
	t.MemcpyHtoDAsync = func(cur ctx, p old, q ptr, n uint32, s str) res {
		return d.memcpyHtoDAsync(cur, dev(p), q, uint64(n), s)
	}
	t.MemcpyDtoH = func(cur ctx, q ptr, p old, n uint32) res { return d.memcpyDtoH(cur, q, dev(p), uint64(n)) }
	t.MemcpyDtoHAsync = func(cur ctx, q ptr, p old, n uint32, s str) res {
		return d.memcpyDtoHAsync(cur, q, dev(p), uint64(n), s)
	}
	t.MemcpyDtoD = func(cur ctx, p, q old, n uint32) res { return d.memcpyDtoD(cur, dev(p), dev(q), uint64(n)) }
	t.MemcpyDtoDAsync = func(cur ctx, p, q old, n uint32, s str) res {
		return d.memcpyDtoDAsync(cur, dev(p), dev(q), uint64(n), s)
	}
	t.Memcpy2D = func(cur ctx, p *driver.CUDA_MEMCPY2D_v1) res { return d.memcpy2D(cur, wide2D(p)) }
	t.Memcpy2DUnaligned = t.Memcpy2D
	t.Memcpy2DAsync = func(cur ctx, p *driver.CUDA_MEMCPY2D_v1, s str) res { return d.memcpy2DAsync(cur, wide2D(p), s) }
	t.Memcpy3D = func(cur ctx, p *driver.CUDA_MEMCPY3D_v1) res { return d.memcpy3D(cur, wide3D(p)) }
	t.Memcpy3DAsync = func(cur ctx, p *driver.CUDA_MEMCPY3D_v1, s str) res { return d.memcpy3DAsync(cur, wide3D(p), s) }
	t.MemsetD8 = func(cur ctx, p old, v uint8, n uint32) res {
		return d.memset(cur, dev(p), 1, uint32(v), uint64(n), 0, false)
	}
	t.MemsetD16 = func(cur ctx, p old, v uint16, n uint32) res {
		return d.memset(cur, dev(p), 2, uint32(v), uint64(n), 0, false)
	}
	t.MemsetD32 = func(cur ctx, p old, v, n uint32) res { return d.memset(cur, dev(p), 4, v, uint64(n), 0, false) }
	t.MemsetD2D8 = func(cur ctx, p old, pitch uint32, v uint8, w, h uint32) res {
		return d.memset2D(cur, dev(p), uint64(pitch), 1, uint32(v), uint64(w), uint64(h), 0, false)
	}
	t.MemsetD2D16 = func(cur ctx, p old, pitch uint32, v uint16, w, h uint32) res {
		return d.memset2D(cur, dev(p), uint64(pitch), 2, uint32(v), uint64(w), uint64(h), 0, false)
	}
	t.MemsetD2D32 = func(cur ctx, p old, pitch, v, w, h uint32) res {
		return d.memset2D(cur, dev(p), uint64(pitch), 4, v, uint64(w), uint64(h), 0, false)
	}
}
