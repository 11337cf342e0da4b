package api

import "github.com/gocuda/cuda/internal/driver"

func contextCases(c *cases) {
	var (
		ctx, other driver.CUcontext
		u          uint32
		n          uint64
		dev        driver.CUdevice
		a, b       int32
	)
	for _, x := range []int{0, 1, 2, 3, 4, 5, 8, 16, 32, 64, 128, 256, 512, -1} {
		c.add("context/create/flags/"+itoa(x), func(e *Env) {
			if e.Do("cuCtxCreate_v2", &ctx, x, 0) == driver.CUDA_SUCCESS {
				e.Do("cuCtxGetFlags", &u)
				e.Do("cuCtxDestroy_v2", ctx)
			}
		})
	}
	for _, x := range []int{-1, 1, 99} {
		c.add("context/create/device/"+itoa(x), func(e *Env) { e.Do("cuCtxCreate_v2", &ctx, 0, x) })
	}
	c.call("context/create/null", "cuCtxCreate_v2", nil, 0, 0)
	c.add("context/create/v1", func(e *Env) {
		e.Do("cuCtxCreate", &ctx, 0, 0)
		e.Do("cuCtxGetApiVersion", ctx, &u)
		e.Do("cuCtxDestroy", ctx)
	})
	*c = append(*c, Case{Name: "context/create/v1-first", Start: NoContext, Alone: true, run: func(e *Env) {
		e.Do("cuCtxCreate", &ctx, 0, 0)
		e.Do("cuCtxGetApiVersion", ctx, &u)
		var m driver.CUmodule
		var p driver.CUdeviceptr_v1
		var q driver.CUdeviceptr
		var size uint32
		e.Do("cuModuleLoadData", &m, basicImage())
		e.Do("cuModuleGetGlobal", hidden{&p}, &size, m, "gvar")
		e.Do("cuMemAlloc_v2", hidden{&q}, 16)
		e.Do("cuCtxCreate", &other, 0, 0)
		e.Do("cuCtxCreate_v2", &other, 0, 0)
		e.Do("cuDevicePrimaryCtxRetain", &other, 0)
	}})
	c.alone("context/create/v1-after-v2", func(e *Env) {
		e.Must("cuDevicePrimaryCtxRelease_v2", 0)
		e.Must("cuCtxSetCurrent", nil)
		e.Do("cuCtxCreate_v2", &ctx, 0, 0)
		e.Do("cuCtxCreate", &other, 0, 0)
		e.Do("cuCtxDestroy_v2", ctx)
		e.Do("cuCtxCreate", &other, 0, 0)
	})
	c.add("context/create/v3", func(e *Env) {
		e.Do("cuCtxCreate_v3", &ctx, nil, 0, 0, 0)
		e.Do("cuCtxGetApiVersion", ctx, &u)
		e.Do("cuCtxDestroy_v2", ctx)
	})
	c.add("context/create/v4", func(e *Env) {
		e.Do("cuCtxCreate_v4", &ctx, nil, 0, 0)
		e.Do("cuCtxGetApiVersion", ctx, &u)
		e.Do("cuCtxDestroy_v2", ctx)
	})
	c.add("context/stack", func(e *Env) {
		e.Do("cuCtxGetCurrent", &ctx)
		e.Do("cuCtxCreate_v2", &ctx, 0, 0)
		e.Do("cuCtxCreate_v2", &other, 0, 0)
		e.Do("cuCtxGetCurrent", &other)
		e.Do("cuCtxPopCurrent_v2", &other)
		e.Do("cuCtxGetCurrent", &other)
		e.Do("cuCtxPopCurrent_v2", nil)
		e.Do("cuCtxGetCurrent", &other)
		e.Do("cuCtxPushCurrent_v2", ctx)
		e.Do("cuCtxGetCurrent", &other)
		e.Do("cuCtxSetCurrent", nil)
		e.Do("cuCtxGetCurrent", &other)
		e.Do("cuCtxDestroy_v2", ctx)
	})
	c.noContext("context/empty-stack", func(e *Env) {
		e.Do("cuCtxPopCurrent_v2", &ctx)
		e.Do("cuCtxPopCurrent_v2", nil)
		e.Do("cuCtxGetCurrent", &ctx)
		e.Do("cuCtxGetDevice", &dev)
		e.Do("cuCtxSynchronize")
		e.Do("cuCtxGetFlags", &u)
		e.Do("cuCtxGetLimit", &n, 0)
		e.Do("cuCtxGetStreamPriorityRange", &a, &b)
		e.Do("cuCtxPushCurrent_v2", nil)
		e.Do("cuCtxSetCurrent", nil)
		e.Do("cuCtxGetApiVersion", nil, &u)
		e.Do("cuCtxGetId", nil, &n)
	})
	c.add("context/destroy/current", func(e *Env) {
		e.Must("cuCtxCreate_v2", &ctx, 0, 0)
		e.Do("cuCtxDestroy_v2", ctx)
		e.Do("cuCtxGetCurrent", &other)
		e.Do("cuCtxSynchronize")
	})
	c.alone("context/destroy/below-the-top", func(e *Env) {
		e.Must("cuCtxCreate_v2", &ctx, 0, 0)
		e.Must("cuCtxCreate_v2", &other, 0, 0)
		e.Do("cuCtxDestroy_v2", ctx)
		e.Do("cuCtxPopCurrent_v2", &other)
		e.Do("cuCtxGetCurrent", &other)
		e.Do("cuCtxSynchronize")
		e.Do("cuCtxGetDevice", &dev)
		e.Do("cuCtxGetFlags", &u)
	})
	c.alone("context/destroy/twice", func(e *Env) {
		e.Must("cuCtxCreate_v2", &ctx, 0, 0)
		e.Do("cuCtxDestroy_v2", ctx)
		e.Do("cuCtxDestroy_v2", ctx)
	})
	c.alone("context/destroyed", func(e *Env) {
		e.Must("cuCtxCreate_v2", &ctx, 0, 0)
		e.Do("cuCtxDestroy_v2", ctx)
		e.Do("cuCtxGetApiVersion", ctx, &u)
		e.Do("cuCtxPushCurrent_v2", ctx)
		e.Do("cuCtxSynchronize")
		e.Do("cuCtxGetDevice", &dev)
		var p driver.CUdeviceptr
		e.Do("cuMemAlloc_v2", &p, 16)
		var m driver.CUmodule
		e.Do("cuModuleLoadData", &m, basicImage())
		e.Do("cuCtxPopCurrent_v2", &other)
	})
	c.alone("context/destroy/primary", func(e *Env) {
		e.Must("cuCtxGetCurrent", &ctx)
		e.Do("cuCtxDestroy_v2", ctx)
		e.Do("cuCtxSynchronize")
	})
	c.call("context/destroy/null", "cuCtxDestroy_v2", nil)
	c.alone("context/garbage/destroy", func(e *Env) { e.Do("cuCtxDestroy_v2", garbage) })
	c.alone("context/garbage/push", func(e *Env) { e.Do("cuCtxPushCurrent_v2", garbage) })
	c.alone("context/garbage/set", func(e *Env) { e.Do("cuCtxSetCurrent", garbage) })
	c.alone("context/garbage/version", func(e *Env) { e.Do("cuCtxGetApiVersion", garbage, &u) })
	c.add("context/get", func(e *Env) {
		e.Do("cuCtxGetDevice", &dev)
		e.Do("cuCtxGetDevice", nil)
		e.Do("cuCtxGetFlags", nil)
		e.Do("cuCtxGetApiVersion", nil, &u)
		e.Do("cuCtxGetApiVersion", nil, nil)
		e.Do("cuCtxGetCurrent", nil)
		e.Do("cuCtxGetId", nil, hidden{&n})
		e.Do("cuCtxGetId", nil, nil)
		e.Do("cuCtxGetStreamPriorityRange", &a, &b)
		e.Do("cuCtxGetStreamPriorityRange", nil, &b)
		e.Do("cuCtxGetStreamPriorityRange", &a, nil)
		e.Do("cuCtxGetStreamPriorityRange", nil, nil)
	})
	for l := range 12 {
		c.alone("context/limit/"+itoa(l), func(e *Env) {
			e.Do("cuCtxGetLimit", &n, l)
			for _, v := range []int{0, 1, 1000, 4096, 100000, 1 << 20, 16 << 20, 1 << 40} {
				if l == 2 && v == 1<<40 {
					continue // cut to what memory there is
				}
				e.Do("cuCtxSetLimit", l, v)
				e.Do("cuCtxGetLimit", &n, l)
			}
		})
	}
	c.add("context/limit/odd", func(e *Env) {
		e.Do("cuCtxGetLimit", nil, 0)
		e.Do("cuCtxGetLimit", &n, 99)
		e.Do("cuCtxGetLimit", &n, -1)
		e.Do("cuCtxSetLimit", 99, 0)
	})
	c.add("context/cache-config", func(e *Env) {
		var v driver.CUfunc_cache
		var w driver.CUsharedconfig
		for _, x := range []int{0, 1, 2, 3, 4, -1} {
			e.Do("cuCtxSetCacheConfig", x)
			e.Do("cuCtxGetCacheConfig", &v)
			e.Do("cuCtxSetSharedMemConfig", x)
			e.Do("cuCtxGetSharedMemConfig", &w)
		}
		e.Do("cuCtxGetCacheConfig", nil)
		e.Do("cuCtxGetSharedMemConfig", nil)
		e.Do("cuCtxResetPersistingL2Cache")
	})
	c.alone("context/set-flags", func(e *Env) {
		for _, x := range []int{0, 1, 2, 4, 8, 16, 32, 64, 256} {
			e.Do("cuCtxSetFlags", x)
			e.Do("cuCtxGetFlags", &u)
		}
	})
	c.alone("context/primary/state", func(e *Env) {
		e.Must("cuCtxSetCurrent", nil)
		e.Do("cuDevicePrimaryCtxGetState", 0, &u, &a)
		e.Do("cuDevicePrimaryCtxRelease_v2", 0)
		e.Do("cuDevicePrimaryCtxGetState", 0, &u, &a)
		e.Do("cuDevicePrimaryCtxSetFlags_v2", 0, 4)
		e.Do("cuDevicePrimaryCtxGetState", 0, &u, &a)
		e.Do("cuDevicePrimaryCtxRelease_v2", 0)
		e.Do("cuDevicePrimaryCtxRetain", &ctx, 0)
		e.Do("cuDevicePrimaryCtxRetain", &ctx, 0)
		e.Do("cuDevicePrimaryCtxSetFlags_v2", 0, 1)
		e.Do("cuDevicePrimaryCtxGetState", 0, &u, &a)
	})
	c.alone("context/primary/odd", func(e *Env) {
		e.Do("cuDevicePrimaryCtxRetain", nil, 0)
		e.Do("cuDevicePrimaryCtxRetain", &ctx, 9)
		e.Do("cuDevicePrimaryCtxRelease_v2", 9)
		e.Do("cuDevicePrimaryCtxReset_v2", 9)
		e.Do("cuDevicePrimaryCtxGetState", 9, &u, &a)
		e.Do("cuDevicePrimaryCtxGetState", 0, nil, &a)
		e.Do("cuDevicePrimaryCtxGetState", 0, &u, nil)
		e.Do("cuDevicePrimaryCtxSetFlags_v2", 0, 64)
		e.Do("cuDevicePrimaryCtxSetFlags_v2", 9, 0)
	})
	c.alone("context/primary/reset-in-use", func(e *Env) {
		m := e.load(basic)
		f := e.function(m, "nop")
		d := e.alloc(16)
		e.Do("cuDevicePrimaryCtxReset_v2", 0)
		e.Do("cuCtxSynchronize")
		e.Do("cuDevicePrimaryCtxRetain", &ctx, 0)
		e.Do("cuCtxSetCurrent", ctx)
		e.Do("cuMemsetD8_v2", d, 0, 16)
		_ = f
	})
	c.alone("context/primary/released-while-current", func(e *Env) {
		e.Do("cuDevicePrimaryCtxRelease_v2", 0)
		e.Do("cuCtxGetCurrent", hidden{&ctx})
		e.Do("cuCtxSynchronize")
		var p driver.CUdeviceptr
		e.Do("cuMemAlloc_v2", &p, 16)
	})
}

func deviceCases(c *cases) {
	var (
		n    int32
		dev  driver.CUdevice
		size uint64
		a, b int32
	)
	c.noInit("device/before-init", func(e *Env) {
		e.Do("cuDeviceGet", &dev, 0)
		e.Do("cuDeviceGetCount", &n)
		e.Do("cuDeviceGetAttribute", &n, 1, 0)
		e.Do("cuDriverGetVersion", hidden{&n})
		e.Do("cuDriverGetVersion", nil)
		var s *byte
		e.Do("cuGetErrorName", 1, &s)
		e.Do("cuGetErrorString", 1, &s)
		e.Do("cuInit", 1)
	})
	c.add("device/get", func(e *Env) {
		for _, x := range []int{0, -1, 99} {
			e.Do("cuDeviceGet", &dev, x)
		}
		e.Do("cuDeviceGet", nil, 0)
		e.Do("cuDeviceGetCount", nil)
		e.Do("cuDeviceComputeCapability", &a, &b, 0)
		e.Do("cuDeviceComputeCapability", &a, &b, 9)
		e.Do("cuDeviceComputeCapability", nil, &b, 0)
		e.Do("cuDeviceTotalMem_v2", nil, 0)
		e.Do("cuDeviceTotalMem_v2", &size, 9)
		e.Do("cuInit", 1)
		e.Do("cuInit", 0)
	})
	c.add("device/attribute/odd", func(e *Env) {
		e.Do("cuDeviceGetAttribute", nil, 1, 0)
		e.Do("cuDeviceGetAttribute", &n, 1, 9)
		e.Do("cuDeviceGetAttribute", &n, 1, -1)
		for _, x := range []int{0, 1, 2, 8, 10, 12, 16, 39, 75, 76, 81, 82, 97, 106, 115, 500, -1} {
			e.Do("cuDeviceGetAttribute", &n, x, 0)
		}
	})
	for _, fn := range []string{"cuGetErrorName", "cuGetErrorString"} {
		c.alone("error-text/null/"+fn, func(e *Env) { e.Do(fn, 1, nil) })
	}
	c.add("error-text/all", func(e *Env) {
		var s *byte
		for _, x := range []int{0, 1, 3, 200, 201, 209, 218, 222, 400, 500, 700, 719, 801, 908, 912, 721, 811, 812, 913,
			914, 915, 916, 999, 1000, 12345, -1} {
			e.Do("cuGetErrorName", x, &s)
			e.Do("cuGetErrorString", x, &s)
		}
	})
}
