package softdev

import (
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/profiles"
)

// limitRule says how a context limit behaves; it comes from the device's profile.
type limitRule struct {
	profiles.Limit
	known bool // the device has the limit
}

func (d *Driver) ctxGetLimit(cur driver.CUcontext, out *uint64, limit driver.CUlimit) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil || limit >= d.limitMax() {
		return invalidValue
	}
	if !c.dev.rules[limit].known {
		return driver.CUDA_ERROR_UNSUPPORTED_LIMIT
	}
	*out = c.limit(limit)
	return success
}

func (d *Driver) ctxSetLimit(cur driver.CUcontext, limit driver.CUlimit, value uint64) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if limit >= d.limitMax() {
		return invalidValue
	}
	rule := &c.dev.rules[limit]
	switch {
	case !rule.known:
		return driver.CUDA_ERROR_UNSUPPORTED_LIMIT
	case rule.Set == profiles.Denied:
		return driver.CUDA_ERROR_NOT_PERMITTED
	}
	value, ok := rule.Round(value)
	if !ok {
		return invalidValue
	}
	if limit == driver.CU_LIMIT_MALLOC_HEAP_SIZE {
		u := c.dev.heap.Usage()
		value = min(value, u.Limit-u.Used) // hardware cuts it to a part of the free memory
	}
	c.limits[limit].Store(value)
	return success
}

func (c *context) limit(id driver.CUlimit) uint64 { return c.limits[id].Load() }
