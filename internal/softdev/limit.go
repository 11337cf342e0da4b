package softdev

import "github.com/gocuda/cuda/internal/driver"

// limitRule says how a context limit behaves; all of it was recorded on an H200 with driver 580.
type limitRule struct {
	known   bool
	initial uint64
	least   uint64 // smaller values are raised to it
	most    uint64 // larger values are cut to it; 0 for none
	unit    uint64 // values are rounded up to a multiple; 0 for none
	refused uint64 // values from here on are invalid; 0 for none
	fixed   bool   // cannot be set
}

var limitTable = [driver.CU_LIMIT_MAX]limitRule{
	driver.CU_LIMIT_STACK_SIZE:                       {known: true, initial: 1024, unit: 16, refused: 512 << 10},
	driver.CU_LIMIT_PRINTF_FIFO_SIZE:                 {known: true, initial: 8650752, least: 512 << 10, most: 2 << 30},
	driver.CU_LIMIT_MALLOC_HEAP_SIZE:                 {known: true, initial: 8 << 20, least: 4 << 20, most: 17681179680},
	driver.CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: {known: true, initial: 2048, least: 32, most: 599186},
	driver.CU_LIMIT_MAX_L2_FETCH_GRANULARITY:         {known: true, initial: 64, refused: 129},
	driver.CU_LIMIT_PERSISTING_L2_CACHE_SIZE:         {known: true, initial: 11796480, unit: 3932160},
	driver.CU_LIMIT_SHMEM_SIZE:                       {known: true, fixed: true},
	driver.CU_LIMIT_CIG_ENABLED:                      {known: true, fixed: true},
}

// rule is the rule of a limit with what depends on the device.
func (dev *device) limitRule(limit driver.CUlimit) limitRule {
	r := limitTable[limit]
	switch limit {
	case driver.CU_LIMIT_SHMEM_SIZE:
		r.initial = dev.maxSharedOptin()
	case driver.CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
		r.refused = uint64(dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE)) + 1
	}
	return r
}

// defaultLimits are those of a fresh context.
func (dev *device) defaultLimits() (l [driver.CU_LIMIT_MAX]uint64) {
	for id := range limitTable {
		l[id] = dev.limitRule(driver.CUlimit(id)).initial
	}
	return l
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
	*out = c.limit(limit)
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
	rule := c.dev.limitRule(limit)
	switch {
	case !rule.known:
		return driver.CUDA_ERROR_UNSUPPORTED_LIMIT
	case rule.fixed:
		return driver.CUDA_ERROR_NOT_PERMITTED
	case rule.refused != 0 && value >= rule.refused:
		return invalidValue
	case rule.most != 0 && value > rule.most:
		value = rule.most
	}
	value = max(value, rule.least)
	if rule.unit != 0 {
		value = (value + rule.unit - 1) / rule.unit * rule.unit
	}
	c.limits[limit].Store(value)
	return success
}

func (c *context) limit(id driver.CUlimit) uint64 { return c.limits[id].Load() }
