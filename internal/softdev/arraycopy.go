package softdev

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// resolveArray is resolve for the side of a copy that is an array: offsets and extents have to lie inside it and to be
// whole texels (CUDA Driver API, CUDA_MEMCPY2D). Of block-compressed arrays blocks are copied: bytes of a row of
// blocks, and rows of them. A handle that is not valid is a bad value here (recorded).
func (p *place) resolveArray(c *context, w, h, depth uint64) (first unsafe.Pointer, pitch, slice uint64,
	r driver.CUresult) {
	a, r := c.d.array(p.array)
	if r != success {
		return nil, 0, 0, invalidValue
	}
	l, size := &a.level, a.format.Size()
	if !a.reachable() || p.x%size != 0 || w%size != 0 || p.x > l.Row || w > l.Row-p.x || p.y > a.rows() ||
		h > a.rows()-p.y || p.z > uint64(l.Depth) || depth > uint64(l.Depth)-p.z {
		return nil, 0, 0, invalidValue
	}
	return unsafe.Add(l.Data, p.z*l.Slice+p.y*l.Row+p.x), l.Row, l.Slice, success
}

// arrayEnd is one side of a copy between an array and linear memory. Offsets count bytes from the first texel, row
// after row.
func (d *Driver) arrayEnd(h driver.CUarray, offset, n uint64) (endpoint, driver.CUresult) {
	a, r := d.array(h)
	if r != success {
		return endpoint{}, invalidValue // as in resolveArray (recorded for NULL)
	}
	if size := a.format.Size(); offset%size != 0 || n%size != 0 { // recorded for an offset of 1
		return endpoint{}, invalidValue
	}
	if !a.reachable() || offset > a.size || n > a.size-offset {
		return endpoint{}, invalidValue
	}
	return endpoint{p: unsafe.Add(a.level.Data, offset)}, success
}

// arrayCopy is the common part of the copies from and to arrays.
func (d *Driver) arrayCopy(cur driver.CUcontext, n uint64, stream driver.CUstream, async bool,
	ends func() (dst, src endpoint, r driver.CUresult)) driver.CUresult {
	c, s, r := d.target(cur, stream, async)
	if r != success {
		return r
	}
	if n == 0 {
		return success
	}
	dst, src, r := ends()
	if r != success {
		return r
	}
	if async {
		return s.copyLater(dst, src, n)
	}
	return c.copyNow(dst, src, n)
}

func (d *Driver) htoa(cur driver.CUcontext, a driver.CUarray, offset uint64, p unsafe.Pointer, n uint64,
	s driver.CUstream, async bool) driver.CUresult {
	return d.arrayCopy(cur, n, s, async, func() (to, from endpoint, r driver.CUresult) {
		if to, r = d.arrayEnd(a, offset, n); r == success {
			var ok bool
			if from, ok = d.memory.hostEnd(p, n); !ok {
				r = invalidValue
			}
		}
		return
	})
}

func (d *Driver) atoh(cur driver.CUcontext, p unsafe.Pointer, a driver.CUarray, offset, n uint64, s driver.CUstream,
	async bool) driver.CUresult {
	return d.arrayCopy(cur, n, s, async, func() (to, from endpoint, r driver.CUresult) {
		if from, r = d.arrayEnd(a, offset, n); r == success {
			var ok bool
			if to, ok = d.memory.hostEnd(p, n); !ok {
				r = invalidValue
			}
		}
		return
	})
}

func (d *Driver) memcpyHtoA(cur driver.CUcontext, a driver.CUarray, offset uint64, p unsafe.Pointer,
	n uint64) driver.CUresult {
	return d.htoa(cur, a, offset, p, n, 0, false)
}

func (d *Driver) memcpyHtoAAsync(cur driver.CUcontext, a driver.CUarray, offset uint64, p unsafe.Pointer, n uint64,
	s driver.CUstream) driver.CUresult {
	return d.htoa(cur, a, offset, p, n, s, true)
}

func (d *Driver) memcpyAtoH(cur driver.CUcontext, p unsafe.Pointer, a driver.CUarray, offset,
	n uint64) driver.CUresult {
	return d.atoh(cur, p, a, offset, n, 0, false)
}

func (d *Driver) memcpyAtoHAsync(cur driver.CUcontext, p unsafe.Pointer, a driver.CUarray, offset, n uint64,
	s driver.CUstream) driver.CUresult {
	return d.atoh(cur, p, a, offset, n, s, true)
}

func (d *Driver) memcpyDtoA(cur driver.CUcontext, a driver.CUarray, offset uint64, p driver.CUdeviceptr,
	n uint64) driver.CUresult {
	return d.arrayCopy(cur, n, 0, false, func() (to, from endpoint, r driver.CUresult) {
		if to, r = d.arrayEnd(a, offset, n); r == success {
			var ok bool
			if from, ok = d.memory.deviceEnd(p, n); !ok {
				r = invalidValue
			}
		}
		return
	})
}

func (d *Driver) memcpyAtoD(cur driver.CUcontext, p driver.CUdeviceptr, a driver.CUarray, offset,
	n uint64) driver.CUresult {
	return d.arrayCopy(cur, n, 0, false, func() (to, from endpoint, r driver.CUresult) {
		if from, r = d.arrayEnd(a, offset, n); r == success {
			var ok bool
			if to, ok = d.memory.deviceEnd(p, n); !ok {
				r = invalidValue
			}
		}
		return
	})
}

func (d *Driver) memcpyAtoA(cur driver.CUcontext, dst driver.CUarray, dstOffset uint64, src driver.CUarray, srcOffset,
	n uint64) driver.CUresult {
	return d.arrayCopy(cur, n, 0, false, func() (to, from endpoint, r driver.CUresult) {
		if to, r = d.arrayEnd(dst, dstOffset, n); r == success {
			from, r = d.arrayEnd(src, srcOffset, n)
		}
		return
	})
}

// textureTable fills the table with the functions of arrays, textures and surfaces.
func (d *Driver) textureTable(t *driver.Table) {
	type (
		ctx = driver.CUcontext
		arr = driver.CUarray
		str = driver.CUstream
		res = driver.CUresult
		ptr = unsafe.Pointer
	)
	t.ArrayCreate_v2 = d.arrayCreate
	t.Array3DCreate_v2 = d.array3DCreate
	t.ArrayGetDescriptor_v2 = d.arrayGetDescriptor
	t.Array3DGetDescriptor_v2 = d.array3DGetDescriptor
	t.ArrayDestroy = d.arrayDestroy
	t.ArrayGetPlane = d.arrayGetPlane
	t.ArrayGetMemoryRequirements = d.arrayGetMemoryRequirements
	t.ArrayGetSparseProperties = d.arrayGetSparseProperties
	t.MipmappedArrayCreate = d.mipmappedArrayCreate
	t.MipmappedArrayGetLevel = d.mipmappedArrayGetLevel
	t.MipmappedArrayDestroy = d.mipmappedArrayDestroy
	t.MipmappedArrayGetMemoryRequirements = d.mipmappedArrayGetMemoryRequirements
	t.MipmappedArrayGetSparseProperties = d.mipmappedArrayGetSparseProperties
	t.MemMapArrayAsync = d.memMapArrayAsync

	t.MemcpyHtoA_v2 = d.memcpyHtoA
	t.MemcpyHtoAAsync_v2 = d.memcpyHtoAAsync
	t.MemcpyAtoH_v2 = d.memcpyAtoH
	t.MemcpyAtoHAsync_v2 = d.memcpyAtoHAsync
	t.MemcpyDtoA_v2 = d.memcpyDtoA
	t.MemcpyAtoD_v2 = d.memcpyAtoD
	t.MemcpyAtoA_v2 = d.memcpyAtoA

	// First versions, with sizes of 32 bits.
	t.ArrayCreate = func(cur ctx, out *arr, v *driver.CUDA_ARRAY_DESCRIPTOR_v1) res {
		if v == nil {
			return d.arrayCreate(cur, out, nil)
		}
		return d.arrayCreate(cur, out, &driver.CUDA_ARRAY_DESCRIPTOR{Width: uint64(v.Width), Height: uint64(v.Height),
			Format: v.Format, NumChannels: v.NumChannels})
	}
	t.Array3DCreate = func(cur ctx, out *arr, v *driver.CUDA_ARRAY3D_DESCRIPTOR_v1) res {
		if v == nil {
			return d.array3DCreate(cur, out, nil)
		}
		return d.array3DCreate(cur, out, &driver.CUDA_ARRAY3D_DESCRIPTOR{Width: uint64(v.Width),
			Height: uint64(v.Height), Depth: uint64(v.Depth), Format: v.Format,
			NumChannels: v.NumChannels, Flags: v.Flags})
	}
	t.ArrayGetDescriptor = func(cur ctx, out *driver.CUDA_ARRAY_DESCRIPTOR_v1, a arr) res {
		var v driver.CUDA_ARRAY_DESCRIPTOR
		r := d.arrayGetDescriptor(cur, &v, a)
		if r == success && out == nil {
			return invalidValue
		}
		if r == success {
			*out = driver.CUDA_ARRAY_DESCRIPTOR_v1{Width: uint32(v.Width), Height: uint32(v.Height), Format: v.Format,
				NumChannels: v.NumChannels}
		}
		return r
	}
	t.Array3DGetDescriptor = func(cur ctx, out *driver.CUDA_ARRAY3D_DESCRIPTOR_v1, a arr) res {
		var v driver.CUDA_ARRAY3D_DESCRIPTOR
		r := d.array3DGetDescriptor(cur, &v, a)
		if r == success && out == nil {
			return invalidValue
		}
		if r == success {
			*out = driver.CUDA_ARRAY3D_DESCRIPTOR_v1{Width: uint32(v.Width), Height: uint32(v.Height),
				Depth: uint32(v.Depth), Format: v.Format,
				NumChannels: v.NumChannels, Flags: v.Flags}
		}
		return r
	}
	t.MemcpyHtoA = func(cur ctx, a arr, at uint32, p ptr, n uint32) res {
		return d.memcpyHtoA(cur, a, uint64(at), p, uint64(n))
	}
	t.MemcpyHtoAAsync = func(cur ctx, a arr, at uint32, p ptr, n uint32, s str) res {
		return d.memcpyHtoAAsync(cur, a, uint64(at), p, uint64(n), s)
	}
	t.MemcpyAtoH = func(cur ctx, p ptr, a arr, at, n uint32) res {
		return d.memcpyAtoH(cur, p, a, uint64(at), uint64(n))
	}
	t.MemcpyAtoHAsync = func(cur ctx, p ptr, a arr, at, n uint32, s str) res {
		return d.memcpyAtoHAsync(cur, p, a, uint64(at), uint64(n), s)
	}
	t.MemcpyAtoA = func(cur ctx, dst arr, at uint32, src arr, from, n uint32) res {
		return d.memcpyAtoA(cur, dst, uint64(at), src, uint64(from), uint64(n))
	}
	t.MemcpyDtoA = func(cur ctx, a arr, at uint32, p driver.CUdeviceptr_v1, n uint32) res {
		return d.memcpyDtoA(cur, a, uint64(at), driver.CUdeviceptr(p), uint64(n))
	}
	t.MemcpyAtoD = func(cur ctx, p driver.CUdeviceptr_v1, a arr, at, n uint32) res {
		return d.memcpyAtoD(cur, driver.CUdeviceptr(p), a, uint64(at), uint64(n))
	}
	d.textureObjectTable(t)
	d.textureReferenceTable(t)
}
