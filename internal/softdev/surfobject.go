package softdev

import (
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec/texture"
)

// surfaceObject is a surface object.
type surfaceObject struct {
	surface  texture.Surface
	resource driver.CUDA_RESOURCE_DESC
}

// surfObjectCreate makes a surface of an array. CUDA_ARRAY3D_SURFACE_LDST is not asked for (recorded).
func (d *Driver) surfObjectCreate(cur driver.CUcontext, out *driver.CUsurfObject, res *driver.CUDA_RESOURCE_DESC) driver.CUresult {
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
	c.tex.mu.Lock()
	c.tex.lastSurf++
	h := c.tex.lastSurf
	c.tex.mu.Unlock()
	c.tex.surfaces.Store(h, &surfaceObject{texture.Surface{Image: im}, *res})
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
	if _, ok := c.tex.surfaces.LoadAndDelete(uint64(h)); !ok {
		return invalidValue
	}
	return success
}

func (d *Driver) surfObjectGetResourceDesc(cur driver.CUcontext, out *driver.CUDA_RESOURCE_DESC, h driver.CUsurfObject) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	o, ok := c.tex.surfaces.Load(uint64(h))
	if !ok || out == nil {
		return invalidValue
	}
	*out = o.(*surfaceObject).resource
	return success
}
