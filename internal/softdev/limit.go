package softdev

import "github.com/gocuda/cuda/internal/driver"

// defaultLimits are those of a fresh context (H200, driver 580).
func (dev *device) defaultLimits() (l [driver.CU_LIMIT_MAX]uint64) {
	for id, v := range limitTable {
		l[id] = v.initial
	}
	return l
}

type limitRule struct {
	known   bool
	initial uint64
	max     uint64 // larger values are cut to it; 0 for none
	unit    uint64 // values are rounded up to it
	fixed   bool   // can be read, not set
}

var limitTable = [driver.CU_LIMIT_MAX]limitRule{
	driver.CU_LIMIT_STACK_SIZE:                       {known: true, initial: 1024, unit: 16},
	driver.CU_LIMIT_PRINTF_FIFO_SIZE:                 {known: true, initial: 7340032, unit: 1},
	driver.CU_LIMIT_MALLOC_HEAP_SIZE:                 {known: true, initial: 8 << 20, unit: 1},
	driver.CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: {known: true, initial: 2048, unit: 1},
	driver.CU_LIMIT_MAX_L2_FETCH_GRANULARITY:         {known: true, initial: 128, max: 128, unit: 1},
	driver.CU_LIMIT_PERSISTING_L2_CACHE_SIZE:         {known: true, initial: 0, unit: 1},
}

func (d *Driver) ctxGetLimit(cur driver.CUcontext, out *uint64, limit driver.CUlimit) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil || limit >= driver.CU_LIMIT_MAX {
		return invalidValue
	}
	if !limitTable[limit].known {
		return driver.CUDA_ERROR_UNSUPPORTED_LIMIT
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	*out = c.limits[limit]
	return success
}

func (d *Driver) ctxSetLimit(cur driver.CUcontext, limit driver.CUlimit, value uint64) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if limit >= driver.CU_LIMIT_MAX {
		return invalidValue
	}
	rule := &limitTable[limit]
	if !rule.known {
		return driver.CUDA_ERROR_UNSUPPORTED_LIMIT
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case limit == driver.CU_LIMIT_STACK_SIZE && value > c.dev.maxStack():
		return invalidValue
	case rule.max != 0 && value > rule.max:
		value = rule.max
	}
	c.limits[limit] = (value + rule.unit - 1) / rule.unit * rule.unit
	return success
}

func (c *context) limit(id driver.CUlimit) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limits[id]
}
