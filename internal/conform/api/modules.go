package api

import (
	"os"
	"path/filepath"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/image/fatbin"
)

// garbage is a number that no object has as its handle.
const garbage = 0x1234

func moduleCases(c *cases) {
	var (
		m driver.CUmodule
		f driver.CUfunction
		p driver.CUdeviceptr
		n uint64
	)
	img := basicImage()
	c.noInit("module/load/before-init", func(e *Env) {
		e.Do("cuModuleLoadData", &m, img)
		e.Do("cuModuleLoadDataEx", &m, img, 0, nil, nil)
		e.Do("cuModuleLoadFatBinary", &m, img)
		e.Do("cuModuleLoad", &m, "/nonexistent")
	})
	c.noContext("module/load/no-context", func(e *Env) {
		e.Do("cuModuleLoadData", &m, img)
		e.Do("cuModuleLoadData", &m, nil)
		e.Do("cuModuleLoadDataEx", &m, img, 0, nil, nil)
		e.Do("cuModuleLoadFatBinary", &m, img)
		e.Do("cuModuleLoad", &m, "/nonexistent")
		e.Do("cuModuleLoad", &m, nil)
	})
	c.call("module/load/null-image", "cuModuleLoadData", &m, nil)
	c.call("module/load/null-out", "cuModuleLoadData", nil, img)
	c.call("module/loadex/null-image", "cuModuleLoadDataEx", &m, nil, 0, nil, nil)
	c.call("module/loadex/null-out", "cuModuleLoadDataEx", nil, img, 0, nil, nil)
	c.call("module/fatbinary/null-image", "cuModuleLoadFatBinary", &m, nil)
	c.call("module/fatbinary/null-out", "cuModuleLoadFatBinary", nil, img)
	c.call("module/fatbinary/ptx", "cuModuleLoadFatBinary", &m, img)
	for _, k := range strange() {
		c.add("module/image/"+k.name, func(e *Env) {
			e.Do("cuModuleLoadData", &m, k)
			o := e.jit(opt{driver.CU_JIT_ERROR_LOG_BUFFER, make(buffer, 4096)},
				opt{driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 4096},
				opt{driver.CU_JIT_INFO_LOG_BUFFER, make(buffer, 4096)},
				opt{driver.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 4096})
			if e.Do("cuModuleLoadDataEx", &m, k, jitCount{o}, jitIDs{o}, jitValues{o}) == driver.CUDA_SUCCESS {
				var count uint32
				e.Do("cuModuleGetFunctionCount", &count, m)
			}
			e.Do("cuModuleLoadFatBinary", &m, k)
		})
	}
	for _, k := range bad {
		c.add("module/load/kernel-that-faults/"+k.name, func(e *Env) {
			e.Do("cuModuleLoadData", &m, ptx("PTX", k.text))
		})
	}
	for _, k := range []struct {
		name string
		data func() []byte
	}{
		{"stored", func() []byte {
			return fat(basic, 90, fatbin.Stored)
		}}, {"lz4", func() []byte { return fat(basic, 90, fatbin.LZ4) }},
		{"zstd", func() []byte {
			return fat(basic, 90, fatbin.Zstd)
		}}, {"arch-100", func() []byte { return fat(basic, 100, fatbin.Stored) }},
		{"arch-80", func() []byte {
			return fat(basic, 80, fatbin.Stored)
		}}, {"bad-ptx", func() []byte { return fat("no module", 90, fatbin.Stored) }},
		{"two", func() []byte {
			return append(fat(basic, 90, fatbin.Stored), fat(head, 90, fatbin.Stored)...)
		}},
	} {
		c.add("module/container/"+k.name, func(e *Env) {
			b := append(k.data(), make([]byte, 64)...)
			var count uint32
			for _, fn := range []string{"cuModuleLoadData", "cuModuleLoadFatBinary"} {
				if e.Do(fn, &m, image{"fatbin", b}) == driver.CUDA_SUCCESS {
					e.Do("cuModuleGetFunctionCount", &count, m)
				}
				if e.Do(fn, &m, e.wrap("wrapper", 0x466243B1, 1, b)) == driver.CUDA_SUCCESS {
					e.Do("cuModuleGetFunctionCount", &count, m)
				}
			}
		})
	}
	c.add("module/container/wrapper-version-2", func(e *Env) {
		e.Do("cuModuleLoadData", &m, e.wrap("wrapper", 0x466243B1, 2, append(fat(basic, 90, 0), make([]byte, 64)...)))
	})
	c.add("module/container/wrapper-version-0", func(e *Env) {
		e.Do("cuModuleLoadData", &m, e.wrap("wrapper", 0x466243B1, 0, append(fat(basic, 90, 0), make([]byte, 64)...)))
	})
	c.add("module/container/wrapper-of-ptx", func(e *Env) {
		e.Do("cuModuleLoadData", &m, e.wrap("wrapper", 0x466243B1, 1, append([]byte(basic), 0)))
	})

	file := func(name, what string, content []byte) {
		c.add("module/file/"+name, func(e *Env) {
			path := filepath.Join(e.dir, "image")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				panic(err)
			}
			e.Do("cuModuleLoad", &m, named(what, path))
		})
	}
	file("ptx", "file of PTX", []byte(basic))
	file("ptx-nul", "file of PTX with a NUL", append([]byte(basic), 0))
	file("empty", "empty file", nil)
	file("words", "file of words", []byte("hello"))
	file("fatbin", "file of a container", fat(basic, 90, fatbin.Stored))
	file("bad-ptx", "file of bad PTX", []byte(head+"foo\n"))
	file("elf", "file of an ELF header", elf(190, 2))
	c.call("module/file/missing", "cuModuleLoad", &m, "/nonexistent/file")
	c.call("module/file/null", "cuModuleLoad", &m, nil)
	c.call("module/file/null-out", "cuModuleLoad", nil, "/nonexistent/file")
	c.call("module/file/empty-name", "cuModuleLoad", &m, "")
	c.add("module/file/directory", func(e *Env) { e.Do("cuModuleLoad", &m, named("directory", e.dir)) })

	c.add("module/function/ok", func(e *Env) {
		m := e.load(basic)
		for _, name := range kernels {
			e.Do("cuModuleGetFunction", &f, m, name)
		}
		e.Do("cuModuleGetFunction", &f, m, "st1")
	})
	for _, name := range []string{"nope", "", "fn", "gvar", "cvar", "dyn", "NOP", "nop ", "tex0", "sm"} {
		c.add("module/function/name="+name, func(e *Env) { e.Do("cuModuleGetFunction", &f, e.load(basic), name) })
	}
	c.add("module/function/null-name", func(e *Env) { e.Do("cuModuleGetFunction", &f, e.load(basic), nil) })
	c.add("module/function/null-out", func(e *Env) { e.Do("cuModuleGetFunction", nil, e.load(basic), "nop") })
	c.call("module/function/null-module", "cuModuleGetFunction", &f, nil, "nop")
	c.call("module/function/null-all", "cuModuleGetFunction", nil, nil, nil)
	c.alone("module/function/garbage", func(e *Env) { e.Do("cuModuleGetFunction", &f, garbage, "nop") })
	c.add("module/function/other-context", func(e *Env) {
		m := e.load(basic)
		var other driver.CUcontext
		e.Must("cuCtxCreate_v2", &other, 0, 0)
		e.Do("cuModuleGetFunction", &f, m, "nop")
		e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, nil, nil, nil)
		e.Do("cuModuleGetGlobal_v2", &p, &n, m, "gvar")
		e.Do("cuModuleUnload", m)
		e.Must("cuCtxDestroy_v2", other)
	})
	c.add("module/function/no-context", func(e *Env) {
		m := e.load(basic)
		e.Must("cuCtxSetCurrent", nil)
		e.Do("cuModuleGetFunction", &f, m, "nop")
		e.Do("cuModuleGetGlobal_v2", &p, &n, m, "gvar")
		var count uint32
		e.Do("cuModuleGetFunctionCount", &count, m)
		e.Do("cuModuleUnload", m)
	})

	for _, name := range []string{"gvar", "hidden", "cvar", "mvar", "nope", "", "nop", "fn", "tex0", "dyn", "sm"} {
		c.add("module/global/name="+name, func(e *Env) {
			m := e.load(basic)
			if e.Do("cuModuleGetGlobal_v2", &p, &n, m, name) == driver.CUDA_SUCCESS {
				e.word(p)
				e.Do("cuModuleGetGlobal_v2", &p, &n, m, name)
			}
		})
		c.add("module/global-v1/name="+name, func(e *Env) {
			var q driver.CUdeviceptr_v1
			var n uint32
			e.Do("cuModuleGetGlobal", hidden{&q}, &n, e.load(basic), name)
		})
	}
	c.add("module/global/no-address", func(e *Env) { e.Do("cuModuleGetGlobal_v2", nil, &n, e.load(basic), "gvar") })
	c.add("module/global/no-size", func(e *Env) { e.Do("cuModuleGetGlobal_v2", &p, nil, e.load(basic), "gvar") })
	c.add("module/global/nothing", func(e *Env) { e.Do("cuModuleGetGlobal_v2", nil, nil, e.load(basic), "gvar") })
	c.add("module/global/nothing-unknown", func(e *Env) {
		e.Do("cuModuleGetGlobal_v2", nil, nil, e.load(basic), "nope")
	})
	c.add("module/global/null-name", func(e *Env) { e.Do("cuModuleGetGlobal_v2", &p, &n, e.load(basic), nil) })
	c.call("module/global/null-module", "cuModuleGetGlobal_v2", &p, &n, nil, "gvar")
	c.alone("module/global/garbage", func(e *Env) { e.Do("cuModuleGetGlobal_v2", &p, &n, garbage, "gvar") })
	c.add("module/global/write-and-kernel", func(e *Env) {
		m := e.load(basic)
		e.Do("cuModuleGetGlobal_v2", &p, &n, m, "gvar")
		e.launch(e.function(m, "addg"), 1, 1, params{uint32(10)})
		e.word(p)
		e.Do("cuMemsetD32_v2", p, 100, 1)
		e.launch(e.function(m, "addg"), 1, 1, params{uint32(1)})
		e.word(p)
	})
	c.add("module/global/of-each-load-its-own", func(e *Env) {
		a, b := e.load(basic), e.load(basic)
		e.Do("cuModuleGetGlobal_v2", &p, &n, a, "gvar")
		e.launch(e.function(a, "addg"), 1, 1, params{uint32(10)})
		e.word(p)
		e.Do("cuModuleGetGlobal_v2", &p, &n, b, "gvar")
		e.word(p)
	})
	c.add("module/global/free", func(e *Env) {
		e.Do("cuModuleGetGlobal_v2", &p, &n, e.load(basic), "gvar")
		e.Do("cuMemFree_v2", p)
	})
	c.add("module/global/range", func(e *Env) {
		m := e.load(basic)
		var base driver.CUdeviceptr
		for _, name := range []string{"gvar", "cvar", "mvar"} {
			e.Do("cuModuleGetGlobal_v2", &p, &n, m, name)
			e.Do("cuMemGetAddressRange_v2", hidden{&base}, hidden{&n}, p)
		}
	})

	c.add("module/count/ok", func(e *Env) {
		var count uint32
		e.Do("cuModuleGetFunctionCount", &count, e.load(basic))
		e.Do("cuModuleGetFunctionCount", &count, e.load(head))
	})
	c.add("module/count/null-out", func(e *Env) { e.Do("cuModuleGetFunctionCount", nil, e.load(basic)) })
	var count uint32
	c.call("module/count/null-module", "cuModuleGetFunctionCount", &count, nil)
	c.alone("module/count/garbage", func(e *Env) { e.Do("cuModuleGetFunctionCount", &count, garbage) })
	for _, k := range []int{0, 1, 2, 12, 13, 32} {
		c.add("module/enumerate/"+itoa(k), func(e *Env) {
			m := e.load(basic)
			list := new([32]driver.CUfunction)
			e.Do("cuModuleEnumerateFunctions", named("array", in{"array", arrayFirst(list)}), k, m)
			for i, f := range list {
				if f == 0 {
					break
				}
				var name *byte
				var state driver.CUfunctionLoadingState
				if i < 3 || i > 10 {
					e.Do("cuFuncGetName", &name, f)
					e.Do("cuFuncIsLoaded", &state, f)
				}
			}
		})
	}
	c.add("module/enumerate/null-out", func(e *Env) { e.Do("cuModuleEnumerateFunctions", nil, 1, e.load(basic)) })
	c.add("module/enumerate/null-out-0", func(e *Env) { e.Do("cuModuleEnumerateFunctions", nil, 0, e.load(basic)) })
	c.add("module/enumerate/null-module", func(e *Env) {
		e.Do("cuModuleEnumerateFunctions", in{"array", new(driver.CUfunction)}, 1, nil)
	})
	c.add("module/enumerate/same-as-get", func(e *Env) {
		m := e.load(basic)
		var g driver.CUfunction
		e.Do("cuModuleEnumerateFunctions", &g, 1, m)
		e.Do("cuModuleGetFunction", &f, m, "nop")
		e.Do("cuModuleEnumerateFunctions", &g, 1, m)
	})
	c.add("module/enumerate/lazy-attributes", func(e *Env) {
		m := e.load(basic)
		for a := range 16 {
			var v int32
			e.Do("cuModuleEnumerateFunctions", &f, 1, m)
			out := any(&v)
			if a == 4 {
				out = hidden{&v}
			}
			e.Do("cuFuncGetAttribute", out, a, f)
		}
		e.Do("cuFuncLoad", f)
		var v int32
		e.Do("cuFuncGetAttribute", &v, 0, f)
	})
	c.add("module/enumerate/launch-lazy", func(e *Env) {
		m := e.load(basic)
		var state driver.CUfunctionLoadingState
		e.Do("cuModuleEnumerateFunctions", &f, 1, m)
		e.Do("cuFuncIsLoaded", &state, f)
		e.launch(f, 1, 1, nil)
		e.Do("cuFuncIsLoaded", &state, f)
	})
	c.add("module/loading-mode", func(e *Env) {
		var mode driver.CUmoduleLoadingMode
		e.Do("cuModuleGetLoadingMode", &mode)
	})
	c.noContext("module/loading-mode/no-context", func(e *Env) {
		var mode driver.CUmoduleLoadingMode
		e.Do("cuModuleGetLoadingMode", &mode)
	})
	c.alone("module/loading-mode/null", func(e *Env) { e.Do("cuModuleGetLoadingMode", nil) })

	c.add("module/unload/ok", func(e *Env) { e.Do("cuModuleUnload", e.load(basic)) })
	c.call("module/unload/null", "cuModuleUnload", nil)
	c.alone("module/unload/garbage", func(e *Env) { e.Do("cuModuleUnload", garbage) })
	c.alone("module/unload/twice", func(e *Env) {
		m := e.load(basic)
		e.Do("cuModuleUnload", m)
		e.Do("cuModuleUnload", m)
	})
	unloaded := func(name string, use func(e *Env, m driver.CUmodule, f driver.CUfunction, p driver.CUdeviceptr)) {
		c.alone("module/after-unload/"+name, func(e *Env) {
			m := e.load(basic)
			f := e.function(m, "st1")
			e.Must("cuModuleGetGlobal_v2", &p, &n, m, "gvar")
			e.Do("cuModuleUnload", m)
			use(e, m, f, p)
		})
	}
	unloaded("launch", func(e *Env, m driver.CUmodule, f driver.CUfunction, p driver.CUdeviceptr) {
		e.launch(f, 1, 1, params{p})
	})
	unloaded("attribute", func(e *Env, m driver.CUmodule, f driver.CUfunction, p driver.CUdeviceptr) {
		var v int32
		e.Do("cuFuncGetAttribute", &v, 0, f)
	})
	unloaded("set-attribute", func(e *Env, m driver.CUmodule, f driver.CUfunction, p driver.CUdeviceptr) {
		e.Do("cuFuncSetAttribute", f, 8, 0)
	})
	unloaded("name", func(e *Env, m driver.CUmodule, f driver.CUfunction, p driver.CUdeviceptr) {
		var s *byte
		e.Do("cuFuncGetName", &s, f)
	})
	unloaded("module-of", func(e *Env, m driver.CUmodule, f driver.CUfunction, p driver.CUdeviceptr) {
		var q driver.CUmodule
		e.Do("cuFuncGetModule", &q, f)
	})
	unloaded("get-function", func(e *Env, m driver.CUmodule, f driver.CUfunction, p driver.CUdeviceptr) {
		e.Do("cuModuleGetFunction", &f, m, "nop")
	})
	unloaded("get-global", func(e *Env, m driver.CUmodule, f driver.CUfunction, p driver.CUdeviceptr) {
		var q driver.CUdeviceptr
		e.Do("cuModuleGetGlobal_v2", &q, &n, m, "gvar")
	})
	unloaded("count", func(e *Env, m driver.CUmodule, f driver.CUfunction, p driver.CUdeviceptr) {
		e.Do("cuModuleGetFunctionCount", &count, m)
	})
	unloaded("copy", func(e *Env, m driver.CUmodule, f driver.CUfunction, p driver.CUdeviceptr) {
		var v uint32
		e.Do("cuMemcpyDtoH_v2", &v, p, 4)
	})
	unloaded("occupancy", func(e *Env, m driver.CUmodule, f driver.CUfunction, p driver.CUdeviceptr) {
		var v int32
		e.Do("cuOccupancyMaxActiveBlocksPerMultiprocessor", &v, f, 128, 0)
	})
	c.alone("module/unload/while-running", func(e *Env) {
		m := e.load(basic)
		d := e.alloc(4)
		e.launch(e.function(m, "spin"), 1, 1, params{d})
		e.Do("cuModuleUnload", m)
		e.word(d)
	})
	c.alone("module/unload/after-context", func(e *Env) {
		var ctx driver.CUcontext
		e.Must("cuCtxCreate_v2", &ctx, 0, 0)
		m := e.load(basic)
		e.Do("cuCtxDestroy_v2", ctx)
		e.Do("cuModuleUnload", m)
	})
	c.alone("module/function/after-context", func(e *Env) {
		var ctx driver.CUcontext
		e.Must("cuCtxCreate_v2", &ctx, 0, 0)
		m := e.load(basic)
		e.Do("cuCtxDestroy_v2", ctx)
		e.Do("cuModuleGetFunction", &f, m, "nop")
	})
	var tex driver.CUtexref
	var surf driver.CUsurfref
	for _, name := range []string{"tex0", "nope", "gvar", "nop", ""} {
		c.add("module/texref/name="+name, func(e *Env) { e.Do("cuModuleGetTexRef", &tex, e.load(basic), name) })
		c.add("module/surfref/name="+name, func(e *Env) { e.Do("cuModuleGetSurfRef", &surf, e.load(basic), name) })
	}
	c.add("module/texref/nulls", func(e *Env) {
		m := e.load(basic)
		e.Do("cuModuleGetTexRef", nil, m, "tex0")
		e.Do("cuModuleGetTexRef", &tex, nil, "tex0")
		e.Do("cuModuleGetTexRef", &tex, m, nil)
		e.Do("cuModuleGetSurfRef", nil, m, "tex0")
		e.Do("cuModuleGetSurfRef", &surf, nil, "tex0")
		e.Do("cuModuleGetSurfRef", &surf, m, nil)
	})
	c.add("module/load/many", func(e *Env) {
		for range 3 {
			e.Do("cuModuleLoadData", &m, img)
		}
		e.Do("cuModuleUnload", m)
	})
}
