package softdev

import (
	"sync/atomic"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec/texture"
)

// surfaceObject is a surface object.
type surfaceObject struct {
	surface  texture.Surface
	resource driver.CUDA_RESOURCE_DESC
	gone     atomic.Bool // as a texture object's
}

// surfObjectCreate makes a surface of an array. CUDA_ARRAY3D_SURFACE_LDST is not asked for (recorded).
func (d *Driver) surfObjectCreate(cur driver.CUcontext, out *driver.CUsurfObject,
	res *driver.CUDA_RESOURCE_DESC) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil || res == nil || res.ResType != driver.CU_RESOURCE_TYPE_ARRAY {
		return invalidValue
	}
	im, r := c.resourceImage(res)
	if r != success {
		return r
	}
	if im.Format.Block != texture.NoBlock {
		return invalidValue // not recorded
	}
	c.tex.mu.Lock()
	c.tex.lastSurf++
	h := c.tex.lastSurf
	c.tex.mu.Unlock()
	c.tex.surfaces.Store(h, &surfaceObject{surface: texture.Surface{Image: im}, resource: *res})
	*out = driver.CUsurfObject(h)
	return success
}

func (d *Driver) surfObjectDestroy(cur driver.CUcontext, h driver.CUsurfObject) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if h == 0 {
		return success // recorded
	}
	if o, ok := c.tex.surfaces.Load(uint64(h)); !ok || !o.(*surfaceObject).gone.CompareAndSwap(false, true) {
		return invalidValue
	}
	c.retire(&c.tex.surfaces, uint64(h))
	return success
}

func (d *Driver) surfObjectGetResourceDesc(cur driver.CUcontext, out *driver.CUDA_RESOURCE_DESC,
	h driver.CUsurfObject) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	o, ok := c.tex.surfaces.Load(uint64(h))
	if !ok || out == nil || o.(*surfaceObject).gone.Load() {
		return invalidValue
	}
	*out = o.(*surfaceObject).resource
	return success
}
