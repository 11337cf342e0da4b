package api

import "github.com/gocuda/cuda/internal/driver"

func functionCases(c *cases) {
	var (
		v     int32
		name  *byte
		m     driver.CUmodule
		o, s  uint64
		state driver.CUfunctionLoadingState
	)
	fn := func(what, kernel string, run func(e *Env, f driver.CUfunction)) {
		c.add("function/"+what, func(e *Env) { run(e, e.fn(kernel)) })
	}
	for _, what := range kernels {
		fn("attribute/"+what, what, func(e *Env, f driver.CUfunction) {
			for a := range 17 {
				out := any(&v)
				if a == 4 {
					out = hidden{&v}
				}
				e.Do("cuFuncGetAttribute", out, a, f)
			}
		})
	}
	fn("attribute/odd", "nop", func(e *Env, f driver.CUfunction) {
		e.Do("cuFuncGetAttribute", &v, -1, f)
		e.Do("cuFuncGetAttribute", &v, 99, f)
		e.Do("cuFuncGetAttribute", nil, 0, f)
		e.Do("cuFuncGetAttribute", &v, 0, nil)
		e.Do("cuFuncGetAttribute", nil, 99, nil)
		e.Do("cuFuncGetAttribute", &v, 99, nil)
	})
	c.alone("function/attribute/garbage", func(e *Env) { e.Do("cuFuncGetAttribute", &v, 0, garbage) })
	for a := range 17 {
		fn("set-attribute/"+itoa(a), "dsm", func(e *Env, f driver.CUfunction) {
			for _, x := range []int{0, 1, 2, 3, -1, -2, 50, 100, 101, 1024, 232448, 232449} {
				e.Do("cuFuncSetAttribute", f, a, x)
				out := any(&v)
				if a == 4 {
					out = hidden{&v}
				}
				e.Do("cuFuncGetAttribute", out, a, f)
			}
		})
	}
	for _, a := range []int{16, 17, 99} {
		fn("set-attribute/beyond/"+itoa(a), "dsm", func(e *Env, f driver.CUfunction) {
			e.Do("cuFuncSetAttribute", f, a, 0)
		})
	}
	c.alone("function/set-attribute/-1", func(e *Env) { e.Do("cuFuncSetAttribute", e.fn("dsm"), -1, 0) })
	fn("set-attribute/static-shared", "smem", func(e *Env, f driver.CUfunction) {
		for _, x := range []int{231424, 231425, 0} {
			e.Do("cuFuncSetAttribute", f, 8, x)
			e.Do("cuFuncGetAttribute", &v, 8, f)
		}
	})
	fn("set-attribute/required-cluster", "clus2", func(e *Env, f driver.CUfunction) {
		for a := 10; a < 16; a++ {
			e.Do("cuFuncSetAttribute", f, a, 1)
			e.Do("cuFuncGetAttribute", &v, a, f)
		}
	})
	fn("set-attribute/explicit-cluster", "expl", func(e *Env, f driver.CUfunction) {
		for a := 10; a < 16; a++ {
			e.Do("cuFuncSetAttribute", f, a, 1)
			e.Do("cuFuncGetAttribute", &v, a, f)
		}
	})
	c.call("function/set-attribute/null", "cuFuncSetAttribute", nil, 8, 0)
	fn("set-attribute/cluster-in-effect", "nop", func(e *Env, f driver.CUfunction) {
		e.Do("cuFuncSetAttribute", f, 11, 2)
		e.launch(f, 2, 1, nil)
		e.launch(f, 3, 1, nil)
		e.Do("cuFuncSetAttribute", f, 12, 1)
		e.Do("cuFuncSetAttribute", f, 13, 1)
		e.launch(f, 2, 1, nil)
		e.launch(f, 3, 1, nil)
	})
	fn("set-attribute/must-cluster-in-effect", "nop", func(e *Env, f driver.CUfunction) {
		e.Do("cuFuncSetAttribute", f, 10, 1)
		e.launch(f, 2, 1, nil)
	})
	fn("name", "st2", func(e *Env, f driver.CUfunction) {
		e.Do("cuFuncGetName", &name, f)
		e.Do("cuFuncGetName", nil, f)
		e.Do("cuFuncGetName", &name, nil)
	})
	fn("module", "st2", func(e *Env, f driver.CUfunction) {
		e.Do("cuFuncGetModule", &m, f)
		e.Do("cuFuncGetModule", nil, f)
		e.Do("cuFuncGetModule", &m, nil)
	})
	for _, what := range []string{"st2", "nop", "st1"} {
		fn("param/"+what, what, func(e *Env, f driver.CUfunction) {
			for _, i := range []int{0, 1, 2, 3, 4, -1} {
				e.Do("cuFuncGetParamInfo", f, i, &o, &s)
			}
		})
	}
	fn("param/nulls", "st2", func(e *Env, f driver.CUfunction) {
		e.Do("cuFuncGetParamInfo", f, 0, nil, &s)
		e.Do("cuFuncGetParamInfo", f, 0, &o, nil)
		e.Do("cuFuncGetParamInfo", f, 0, nil, nil)
		e.Do("cuFuncGetParamInfo", nil, 0, &o, &s)
	})
	c.add("function/param/layout", func(e *Env) {
		m := e.load(head + ".visible .entry k(.param .u8 a, .param .u64 b, .param .u16 c, .param .align 16 .b8 d[20], .param .f64 e, .param .align 1 .b8 f[3], .param .u32 g, .param .align 64 .b8 h[8]) { ret; }")
		f := e.function(m, "k")
		for i := range 9 {
			e.Do("cuFuncGetParamInfo", f, i, &o, &s)
		}
	})
	c.add("function/param/align-64-first", func(e *Env) {
		f := e.function(e.load(head+".visible .entry k(.param .align 64 .b8 a[128], .param .u32 b) { ret; }"), "k")
		for i := range 3 {
			e.Do("cuFuncGetParamInfo", f, i, &o, &s)
		}
	})
	fn("loaded", "loc", func(e *Env, f driver.CUfunction) {
		e.Do("cuFuncIsLoaded", &state, f)
		e.Do("cuFuncLoad", f)
		e.Do("cuFuncLoad", f)
		e.Do("cuFuncIsLoaded", &state, f)
		e.Do("cuFuncIsLoaded", nil, f)
		e.Do("cuFuncIsLoaded", &state, nil)
		e.Do("cuFuncLoad", nil)
	})
	for _, x := range []int{-1, 0, 1, 2, 3, 4} {
		fn("cache/"+itoa(x), "nop", func(e *Env, f driver.CUfunction) {
			e.Do("cuFuncSetCacheConfig", f, x)
			e.Do("cuFuncSetSharedMemConfig", f, x)
		})
	}
	c.call("function/cache/null", "cuFuncSetCacheConfig", nil, 1)
	c.call("function/bank/null", "cuFuncSetSharedMemConfig", nil, 1)
	fn("no-context", "st2", func(e *Env, f driver.CUfunction) {
		e.Must("cuCtxSetCurrent", nil)
		e.Do("cuFuncGetAttribute", &v, 0, f)
		e.Do("cuFuncSetAttribute", f, 8, 0)
		e.Do("cuFuncGetName", &name, f)
		e.Do("cuFuncGetModule", &m, f)
		e.Do("cuFuncGetParamInfo", f, 0, &o, &s)
		e.Do("cuFuncIsLoaded", &state, f)
		e.Do("cuFuncLoad", f)
		e.Do("cuFuncSetCacheConfig", f, 1)
		e.Do("cuFuncSetSharedMemConfig", f, 1)
	})
	for _, what := range []string{"set", "name", "module", "param", "loaded", "load", "cache"} {
		c.alone("function/garbage/"+what, func(e *Env) {
			switch what {
			case "set":
				e.Do("cuFuncSetAttribute", garbage, 8, 0)
			case "name":
				e.Do("cuFuncGetName", &name, garbage)
			case "module":
				e.Do("cuFuncGetModule", &m, garbage)
			case "param":
				e.Do("cuFuncGetParamInfo", garbage, 0, &o, &s)
			case "loaded":
				e.Do("cuFuncIsLoaded", &state, garbage)
			case "load":
				e.Do("cuFuncLoad", garbage)
			case "cache":
				e.Do("cuFuncSetCacheConfig", garbage, 1)
			}
		})
	}
	// The calls that CUDA 4.0 deprecated; some of them launch kernels with parameters that nobody set.
	old := func(what, kernel string, run func(e *Env, f driver.CUfunction)) {
		c.alone("function/old/"+what, func(e *Env) { run(e, e.fn(kernel)) })
	}
	old("ok", "st1", func(e *Env, f driver.CUfunction) {
		d := e.alloc(4)
		e.Do("cuFuncSetBlockShape", f, 1, 1, 1)
		e.Do("cuFuncSetSharedSize", f, 16)
		e.Do("cuParamSetSize", f, 8)
		e.Do("cuParamSetv", f, 0, in{"address", &d}, 8)
		e.Do("cuLaunch", f)
		e.word(d)
		e.Must("cuMemsetD8_v2", d, 0, 4)
		e.Do("cuLaunchGrid", f, 2, 1)
		e.word(d)
		e.Must("cuMemsetD8_v2", d, 0, 4)
		e.Do("cuLaunchGridAsync", f, 2, 1, nil)
		e.word(d)
	})
	old("odd", "st1", func(e *Env, f driver.CUfunction) {
		e.Do("cuFuncSetBlockShape", f, 0, 1, 1)
		e.Do("cuFuncSetBlockShape", f, -1, 1, 1)
		e.Do("cuFuncSetBlockShape", f, 1025, 1, 1)
		e.Do("cuFuncSetBlockShape", f, 32, 32, 2)
		e.Do("cuFuncSetSharedSize", f, 49153)
		e.Do("cuFuncSetSharedSize", f, 300000)
		e.Do("cuParamSetSize", f, 4096)
		e.Do("cuParamSetSize", f, 4097)
		e.Do("cuParamSetSize", f, 40000)
		e.Do("cuParamSeti", f, 4092, 0)
		e.Do("cuParamSeti", f, 40000, 0)
		e.Do("cuParamSetf", f, 0, 1.0)
		e.Do("cuParamSetv", f, 0, nil, 4)
		e.Do("cuLaunchGrid", f, 0, 1)
	})
	old("offset-minus-1", "st1", func(e *Env, f driver.CUfunction) { e.Do("cuParamSeti", f, -1, 0) })
	old("no-shape", "nop", func(e *Env, f driver.CUfunction) { e.Do("cuLaunch", f) })
	old("no-params", "st1", func(e *Env, f driver.CUfunction) {
		e.Do("cuFuncSetBlockShape", f, 1, 1, 1)
		e.Do("cuLaunch", f)
	})
	c.call("function/old/null-shape", "cuFuncSetBlockShape", nil, 1, 1, 1)
	c.call("function/old/null-size", "cuParamSetSize", nil, 8)
	c.call("function/old/null-launch", "cuLaunch", nil)
}

func occupancyCases(c *cases) {
	var (
		n, g, b int32
		size    uint64
	)
	const active = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
	for _, block := range []int{-1, 0, 1, 31, 32, 33, 64, 128, 256, 512, 768, 1024, 1025} {
		c.add("occupancy/nop/"+itoa(block), func(e *Env) {
			f := e.fn("nop")
			for _, shared := range []int{0, 1, 1024, 20000, 49152, 49153, 100000, 232448, 300000} {
				e.Do(active, &n, f, block, shared)
			}
		})
	}
	for _, k := range []string{"smem", "max64", "req32", "clus2", "loc", "dsm"} {
		c.add("occupancy/kernel/"+k, func(e *Env) {
			f := e.fn(k)
			for _, block := range []int{1, 32, 64, 65, 128, 256, 1024} {
				e.Do(active, &n, f, block, 0)
				e.Do(active, &n, f, block, 10000)
			}
		})
	}
	c.add("occupancy/flags", func(e *Env) {
		f := e.fn("nop")
		for _, x := range []int{0, 1, 2, -1} {
			e.Do("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", &n, f, 128, 0, x)
		}
	})
	c.add("occupancy/nulls", func(e *Env) {
		f := e.fn("nop")
		e.Do(active, nil, f, 128, 0)
		e.Do(active, &n, nil, 128, 0)
		e.Do(active, nil, nil, 128, 0)
	})
	c.alone("occupancy/garbage", func(e *Env) { e.Do(active, &n, garbage, 128, 0) })
	c.add("occupancy/no-context", func(e *Env) {
		f := e.fn("nop")
		e.Must("cuCtxSetCurrent", nil)
		e.Do(active, &n, f, 128, 0)
		e.Do("cuOccupancyMaxPotentialBlockSize", &g, &b, f, driver.CUoccupancyB2DSize{}, 0, 0)
		e.Do("cuOccupancyAvailableDynamicSMemPerBlock", &size, f, 1, 128)
	})
	c.add("occupancy/optin-in-effect", func(e *Env) {
		f := e.fn("dsm")
		e.Do(active, &n, f, 128, 100000)
		e.Do("cuFuncSetAttribute", f, 8, 100000)
		e.Do(active, &n, f, 128, 100000)
		e.Do(active, &n, f, 128, 100001)
		e.Do("cuFuncSetAttribute", f, 9, 0)
		e.Do(active, &n, f, 128, 0)
		e.Do(active, &n, f, 128, 20000)
		e.Do("cuFuncSetAttribute", f, 9, 100)
		e.Do(active, &n, f, 128, 20000)
	})
	for _, k := range []string{"nop", "smem", "max64", "req32", "dsm", "loc"} {
		c.add("occupancy/potential/"+k, func(e *Env) {
			f := e.fn(k)
			for _, a := range [][2]int{{0, 0}, {10000, 0}, {0, 100}, {0, 32}, {0, 1}, {0, 5000}, {49152, 0}, {49153, 0},
				{300000, 0}, {0, -1}} {
				e.Do("cuOccupancyMaxPotentialBlockSize", &g, &b, f, driver.CUoccupancyB2DSize{}, a[0], a[1])
			}
		})
	}
	c.add("occupancy/potential/callback", func(e *Env) {
		f := e.fn("dsm")
		for _, per := range []uint64{1, 32, 64, 300} {
			fn := driver.CUoccupancyB2DSize{Go: func(block int32) uint64 { return uint64(block) * per }}
			e.Do("cuOccupancyMaxPotentialBlockSize", &g, &b, f, named("block*"+itoa(int(per)), fn), 0, 0)
		}
	})
	c.add("occupancy/potential/flags", func(e *Env) {
		f := e.fn("nop")
		for _, x := range []int{0, 1, 2} {
			e.Do("cuOccupancyMaxPotentialBlockSizeWithFlags", &g, &b, f, driver.CUoccupancyB2DSize{}, 0, 0, x)
		}
	})
	c.add("occupancy/potential/nulls", func(e *Env) {
		f := e.fn("nop")
		e.Do("cuOccupancyMaxPotentialBlockSize", nil, &b, f, driver.CUoccupancyB2DSize{}, 0, 0)
		e.Do("cuOccupancyMaxPotentialBlockSize", &g, nil, f, driver.CUoccupancyB2DSize{}, 0, 0)
		e.Do("cuOccupancyMaxPotentialBlockSize", &g, &b, nil, driver.CUoccupancyB2DSize{}, 0, 0)
	})
	for _, k := range []string{"nop", "smem", "dsm", "max64"} {
		c.add("occupancy/dynamic/"+k, func(e *Env) {
			f := e.fn(k)
			for _, a := range [][2]int{{1, 128}, {2, 128}, {4, 128}, {8, 256}, {16, 128}, {32, 32}, {33, 32}, {0, 32},
				{1, 0}, {1, 1024}, {1, 1025}, {2, 1024}, {3, 1024}, {-1, 32}} {
				e.Do("cuOccupancyAvailableDynamicSMemPerBlock", &size, f, a[0], a[1])
			}
		})
	}
	c.add("occupancy/dynamic/optin", func(e *Env) {
		f := e.fn("dsm")
		e.Do("cuFuncSetAttribute", f, 8, 100000)
		for _, a := range [][2]int{{1, 128}, {2, 128}, {3, 128}} {
			e.Do("cuOccupancyAvailableDynamicSMemPerBlock", &size, f, a[0], a[1])
		}
	})
	c.add("occupancy/dynamic/nulls", func(e *Env) {
		e.Do("cuOccupancyAvailableDynamicSMemPerBlock", &size, nil, 1, 128)
		e.Do("cuOccupancyAvailableDynamicSMemPerBlock", nil, e.fn("nop"), 1, 128)
	})
	c.add("occupancy/clusters", func(e *Env) {
		f := e.fn("nop")
		for _, a := range [][3]int{{1, 128, 0}, {2, 128, 0}, {8, 128, 0}, {16, 128, 0}, {8, 1024, 0}, {4, 256, 49152},
			{8, 1024, 100000}, {0, 128, 0}, {3, 128, 0}} {
			cfg := config(a[0]*132, a[1], a[2], cluster(a[0], 1, 1))
			e.Do("cuOccupancyMaxActiveClusters", &n, f,
				in{"cluster " + itoa(a[0]) + " block " + itoa(a[1]) + " shared " + itoa(a[2]), cfg})
		}
		e.Do("cuOccupancyMaxActiveClusters", &n, f, nil)
		e.Do("cuOccupancyMaxActiveClusters", nil, f, in{"config", config(1, 1, 0)})
		e.Do("cuOccupancyMaxActiveClusters", &n, nil, in{"config", config(1, 1, 0)})
		e.Do("cuOccupancyMaxActiveClusters", &n, f, in{"no cluster", config(1, 1, 0)})
	})
	c.add("occupancy/cluster-size", func(e *Env) {
		f := e.fn("nop")
		for _, a := range [][2]int{{128, 0}, {1024, 0}, {1024, 48000}, {1024, 200000}} {
			e.Do("cuOccupancyMaxPotentialClusterSize", &n, f,
				in{"block " + itoa(a[0]) + " shared " + itoa(a[1]), config(1320, a[0], a[1])})
		}
		e.Do("cuFuncSetAttribute", f, 14, 1)
		e.Do("cuOccupancyMaxPotentialClusterSize", &n, f, in{"block 128", config(1320, 128, 0)})
		e.Do("cuOccupancyMaxPotentialClusterSize", &n, f, nil)
		e.Do("cuOccupancyMaxPotentialClusterSize", nil, f, in{"config", config(1, 1, 0)})
		e.Do("cuOccupancyMaxPotentialClusterSize", &n, nil, in{"config", config(1, 1, 0)})
	})
}
