package api

import (
	"os"
	"path/filepath"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/image/fatbin"
)

func libraryCases(c *cases) {
	var (
		l     driver.CUlibrary
		k     driver.CUkernel
		m     driver.CUmodule
		p     driver.CUdeviceptr
		n     uint64
		count uint32
	)
	img := basicImage()
	load := func(e *Env, img any) driver.CUresult {
		return e.Do("cuLibraryLoadData", &l, img, nil, nil, 0, nil, nil, 0)
	}
	c.noInit("library/load/before-init", func(e *Env) { load(e, img) })
	c.noContext("library/load/no-context", func(e *Env) {
		load(e, img)
		e.Do("cuLibraryGetKernel", &k, l, "st2")
		e.Do("cuLibraryGetKernel", &k, l, "nope")
		e.Do("cuLibraryGetKernelCount", &count, l)
		e.Do("cuLibraryGetModule", &m, l)
		e.Do("cuLibraryGetGlobal", &p, &n, l, "gvar")
		e.Do("cuLibraryGetManaged", &p, &n, l, "mvar")
		e.Do("cuLibraryUnload", l)
	})
	c.add("library/load/ok", func(e *Env) { load(e, img) })
	c.add("library/load/null-image", func(e *Env) { load(e, nil) })
	c.call("library/load/null-out", "cuLibraryLoadData", nil, img, nil, nil, 0, nil, nil, 0)
	for _, i := range strange() {
		c.add("library/image/"+i.name, func(e *Env) {
			if load(e, i) != driver.CUDA_SUCCESS {
				return
			}
			e.Do("cuLibraryGetKernelCount", &count, l)
			e.Do("cuLibraryGetModule", &m, l)
			e.Do("cuLibraryGetKernel", &k, l, "k")
			e.Do("cuLibraryUnload", l)
		})
	}
	for _, v := range []int{1, 2, 9} { // 0 takes a table that only host compilers make
		c.add("library/option/"+itoa(v), func(e *Env) {
			id := driver.CUlibraryOption(v)
			word := uintptr(1)
			e.Do("cuLibraryLoadData", &l, img, nil, nil, 0, in{"{" + itoa(v) + "}", &id}, in{"{1}", &word}, 1)
		})
	}
	c.alone("library/option/null-ids", func(e *Env) {
		word := uintptr(1)
		e.Do("cuLibraryLoadData", &l, img, nil, nil, 0, nil, in{"{1}", &word}, 1)
	})
	c.alone("library/option/null-values", func(e *Env) {
		id := driver.CU_LIBRARY_BINARY_IS_PRESERVED
		e.Do("cuLibraryLoadData", &l, img, nil, nil, 0, in{"{1}", &id}, nil, 1)
	})
	c.alone("library/option/null-both", func(e *Env) { e.Do("cuLibraryLoadData", &l, img, nil, nil, 0, nil, nil, 1) })
	jit := func(name string, text string, list func() []opt) {
		c.add("library/jit/"+name, func(e *Env) {
			o := e.jit(list()...)
			if e.Do("cuLibraryLoadData", &l, ptx("PTX", text), jitIDs{o}, jitValues{o}, jitCount{o}, nil, nil,
				0) == driver.CUDA_SUCCESS {
				e.Do("cuLibraryGetModule", &m, l)
				e.Note("logs:%s", o.results())
			}
		})
	}
	jit("log-good", basic, func() []opt { return logs(1000) })
	jit("log-bad", head+"foo\n", func() []opt { return logs(1000) })
	jit("log-warning", reader, func() []opt { return logs(1000) })
	for _, o := range []opt{{99, 0}, {driver.CU_JIT_MAX_REGISTERS, 0}, {driver.CU_JIT_MAX_REGISTERS, 32},
		{driver.CU_JIT_TARGET, 12}, {driver.CU_JIT_TARGET, 80}, {driver.CU_JIT_TARGET, 90},
		{driver.CU_JIT_CACHE_MODE, 9}, {driver.CU_JIT_OPTIMIZATION_LEVEL, 9}, {driver.CU_JIT_WALL_TIME, 0},
		{driver.CU_JIT_LTO, 1}, {driver.CU_JIT_TARGET_FROM_CUCONTEXT, 0}, {driver.CU_JIT_GLOBAL_SYMBOL_NAMES, 0},
		{driver.CU_JIT_INFO_LOG_BUFFER, 0}, {driver.CU_JIT_LOG_VERBOSE, 1}, {driver.CU_JIT_FAST_COMPILE, 1}} {
		jit(optionName(o.id)+"/"+itoa(o.value.(int)), basic, func() []opt { return []opt{o} })
	}
	file := func(name string, content []byte) {
		c.add("library/file/"+name, func(e *Env) {
			path := filepath.Join(e.dir, "image")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				panic(err)
			}
			if e.Do("cuLibraryLoadFromFile", &l, named("file", path), nil, nil, 0, nil, nil, 0) == driver.CUDA_SUCCESS {
				e.Do("cuLibraryGetKernelCount", &count, l)
			}
		})
	}
	file("ptx", []byte(basic))
	file("empty", nil)
	file("words", []byte("hello"))
	file("fatbin", fat(basic, 90, fatbin.Stored))
	file("bad-ptx", []byte(head+"foo\n"))
	c.call("library/file/missing", "cuLibraryLoadFromFile", &l, "/nonexistent/file", nil, nil, 0, nil, nil, 0)
	c.call("library/file/null", "cuLibraryLoadFromFile", &l, nil, nil, nil, 0, nil, nil, 0)
	c.call("library/file/null-out", "cuLibraryLoadFromFile", nil, "/nonexistent/file", nil, nil, 0, nil, nil, 0)
	c.call("library/file/empty-name", "cuLibraryLoadFromFile", &l, "", nil, nil, 0, nil, nil, 0)
	c.add("library/file/directory", func(e *Env) {
		e.Do("cuLibraryLoadFromFile", &l, named("directory", e.dir), nil, nil, 0, nil, nil, 0)
	})
	c.add("library/container", func(e *Env) {
		b := append(fat(basic, 90, fatbin.LZ4), make([]byte, 64)...)
		load(e, image{"fatbin", b})
		e.Do("cuLibraryGetKernelCount", &count, l)
		load(e, e.wrap("wrapper", 0x466243B1, 1, b))
		e.Do("cuLibraryGetKernelCount", &count, l)
	})
	c.add("library/container-arch-100", func(e *Env) {
		load(e, image{"fatbin", append(fat(basic, 100, fatbin.LZ4), make([]byte, 64)...)})
		e.Do("cuLibraryGetKernelCount", &count, l)
	})

	for _, name := range append([]string{"nope", "", "fn", "gvar", "NOP"}, kernels[:4]...) {
		c.add("library/kernel/name="+name, func(e *Env) {
			l := e.library(basic)
			e.Do("cuLibraryGetKernel", &k, l, name)
			e.Do("cuLibraryGetKernel", &k, l, name)
		})
	}
	c.add("library/kernel/nulls", func(e *Env) {
		l := e.library(basic)
		e.Do("cuLibraryGetKernel", nil, l, "nop")
		e.Do("cuLibraryGetKernel", &k, l, nil)
		e.Do("cuLibraryGetKernel", &k, nil, "nop")
	})
	c.alone("library/kernel/garbage", func(e *Env) { e.Do("cuLibraryGetKernel", &k, garbage, "nop") })
	c.add("library/count/nulls", func(e *Env) {
		e.Do("cuLibraryGetKernelCount", nil, e.library(basic))
		e.Do("cuLibraryGetKernelCount", &count, nil)
	})
	c.alone("library/count/garbage", func(e *Env) { e.Do("cuLibraryGetKernelCount", &count, garbage) })
	c.add("library/count/ok", func(e *Env) {
		e.Do("cuLibraryGetKernelCount", &count, e.library(basic))
		e.Do("cuLibraryGetKernelCount", &count, e.library(head))
	})
	for _, v := range []int{0, 1, 3, 12, 13, 32} {
		c.add("library/enumerate/"+itoa(v), func(e *Env) {
			l := e.library(basic)
			list := new([32]driver.CUkernel)
			e.Do("cuLibraryEnumerateKernels", named("array", in{"array", arrayFirst(list)}), v, l)
			for _, k := range list {
				if k == 0 {
					break
				}
				var name *byte
				e.Do("cuKernelGetName", &name, k)
			}
		})
	}
	c.add("library/enumerate/nulls", func(e *Env) {
		l := e.library(basic)
		e.Do("cuLibraryEnumerateKernels", nil, 1, l)
		e.Do("cuLibraryEnumerateKernels", nil, 0, l)
		e.Do("cuLibraryEnumerateKernels", in{"array", new(driver.CUkernel)}, 1, nil)
	})
	c.add("library/enumerate/same-as-get", func(e *Env) {
		l := e.library(head + ".visible .entry only() { ret; }")
		e.Do("cuLibraryEnumerateKernels", &k, 1, l)
		e.Do("cuLibraryGetKernel", &k, l, "only")
	})
	c.add("library/module/ok", func(e *Env) {
		l := e.library(basic)
		e.Do("cuLibraryGetModule", &m, l)
		e.Do("cuLibraryGetModule", &m, l)
		var f driver.CUfunction
		e.Do("cuModuleGetFunction", &f, m, "nop")
		e.Do("cuModuleGetFunctionCount", &count, m)
		e.Do("cuModuleUnload", m)
		e.launch(f, 1, 1, nil)
	})
	c.add("library/module/nulls", func(e *Env) {
		e.Do("cuLibraryGetModule", nil, e.library(basic))
		e.Do("cuLibraryGetModule", &m, nil)
	})
	c.add("library/module/of-each-context", func(e *Env) {
		l := e.library(basic)
		e.Do("cuLibraryGetModule", &m, l)
		e.Do("cuLibraryGetGlobal", &p, &n, l, "gvar")
		var other driver.CUcontext
		e.Must("cuCtxCreate_v2", &other, 0, 0)
		e.Do("cuLibraryGetModule", &m, l)
		e.Do("cuLibraryGetGlobal", &p, &n, l, "gvar")
		e.Must("cuCtxDestroy_v2", other)
	})
	for _, name := range []string{"gvar", "hidden", "cvar", "mvar", "nope", "", "nop", "fn", "tex0", "dyn"} {
		c.add("library/global/name="+name, func(e *Env) {
			l := e.library(basic)
			if e.Do("cuLibraryGetGlobal", &p, &n, l, name) == driver.CUDA_SUCCESS {
				e.word(p)
			}
		})
		c.add("library/managed/name="+name, func(e *Env) {
			l := e.library(basic)
			if e.Do("cuLibraryGetManaged", &p, &n, l, name) == driver.CUDA_SUCCESS {
				e.word(p)
			}
		})
	}
	for _, fn := range []string{"cuLibraryGetGlobal", "cuLibraryGetManaged"} {
		name := map[string]string{"cuLibraryGetGlobal": "gvar", "cuLibraryGetManaged": "mvar"}[fn]
		c.add("library/"+fn+"/nulls", func(e *Env) {
			l := e.library(basic)
			e.Do(fn, nil, &n, l, name)
			e.Do(fn, &p, nil, l, name)
			e.Do(fn, nil, nil, l, name)
			e.Do(fn, &p, &n, l, nil)
			e.Do(fn, &p, &n, nil, name)
		})
	}
	c.add("library/managed/is-global", func(e *Env) {
		l := e.library(basic)
		e.Do("cuLibraryGetManaged", &p, &n, l, "mvar")
		e.Do("cuLibraryGetGlobal", &p, &n, l, "mvar")
	})
	var fp uintptr
	c.add("library/unified", func(e *Env) {
		l := e.library(basic)
		for _, name := range []string{"nop", "fn", "nope"} {
			e.Do("cuLibraryGetUnifiedFunction", hidden{&fp}, l, name)
		}
		e.Do("cuLibraryGetUnifiedFunction", nil, l, "fn")
		e.Do("cuLibraryGetUnifiedFunction", hidden{&fp}, nil, "fn")
		e.Do("cuLibraryGetUnifiedFunction", hidden{&fp}, l, nil)
	})
	c.add("library/unload/ok", func(e *Env) { e.Do("cuLibraryUnload", e.library(basic)) })
	c.call("library/unload/null", "cuLibraryUnload", nil)
	c.alone("library/unload/garbage", func(e *Env) { e.Do("cuLibraryUnload", garbage) })
	c.alone("library/unload/twice", func(e *Env) {
		l := e.library(basic)
		e.Do("cuLibraryUnload", l)
		e.Do("cuLibraryUnload", l)
	})
	after := func(name string, use func(e *Env, l driver.CUlibrary, k driver.CUkernel, f driver.CUfunction)) {
		c.alone("library/after-unload/"+name, func(e *Env) {
			l := e.library(basic)
			k := e.kernelOf(l, "st1")
			var f driver.CUfunction
			e.Must("cuKernelGetFunction", &f, k)
			e.Do("cuLibraryUnload", l)
			use(e, l, k, f)
		})
	}
	after("kernel", func(e *Env, l driver.CUlibrary, k driver.CUkernel, f driver.CUfunction) {
		e.Do("cuLibraryGetKernel", &k, l, "nop")
	})
	after("count", func(e *Env, l driver.CUlibrary, k driver.CUkernel, f driver.CUfunction) {
		e.Do("cuLibraryGetKernelCount", &count, l)
	})
	after("module", func(e *Env, l driver.CUlibrary, k driver.CUkernel, f driver.CUfunction) {
		e.Do("cuLibraryGetModule", &m, l)
	})
	after("function", func(e *Env, l driver.CUlibrary, k driver.CUkernel, f driver.CUfunction) {
		e.Do("cuKernelGetFunction", &f, k)
	})
	after("launch-function", func(e *Env, l driver.CUlibrary, k driver.CUkernel, f driver.CUfunction) {
		e.launch(f, 1, 1, params{uint64(0)})
	})
	after("launch-kernel", func(e *Env, l driver.CUlibrary, k driver.CUkernel, f driver.CUfunction) {
		e.launch(k, 1, 1, params{uint64(0)})
	})
	c.add("library/unload/while-running", func(e *Env) {
		l := e.library(basic)
		d := e.alloc(4)
		e.launch(e.kernelOf(l, "spin"), 1, 1, params{d})
		e.Do("cuLibraryUnload", l)
		e.word(d)
	})
	c.alone("library/context-destroyed", func(e *Env) {
		var ctx driver.CUcontext
		e.Must("cuCtxCreate_v2", &ctx, 0, 0)
		l := e.library(basic)
		e.Do("cuLibraryGetModule", &m, l)
		e.Do("cuCtxDestroy_v2", ctx)
		e.Do("cuLibraryGetModule", &m, l)
		e.Do("cuLibraryUnload", l)
	})
}

func kernelCases(c *cases) {
	var (
		f    driver.CUfunction
		l    driver.CUlibrary
		v    int32
		name *byte
		o, s uint64
	)
	kern := func(what, kernel string, run func(e *Env, k driver.CUkernel)) {
		c.add("kernel/"+what, func(e *Env) { run(e, e.kernelOf(e.library(basic), kernel)) })
	}
	kern("function/ok", "st1", func(e *Env, k driver.CUkernel) {
		e.Do("cuKernelGetFunction", &f, k)
		e.Do("cuKernelGetFunction", &f, k)
		var n *byte
		e.Do("cuFuncGetName", &n, f)
		var m driver.CUmodule
		e.Do("cuFuncGetModule", &m, f)
		d := e.alloc(4)
		e.launch(f, 1, 1, params{d})
		e.word(d)
	})
	kern("function/nulls", "st1", func(e *Env, k driver.CUkernel) {
		e.Do("cuKernelGetFunction", nil, k)
		e.Do("cuKernelGetFunction", &f, nil)
	})
	kern("function/no-context", "st1", func(e *Env, k driver.CUkernel) {
		e.Must("cuCtxSetCurrent", nil)
		e.Do("cuKernelGetFunction", &f, k)
	})
	kern("library", "st1", func(e *Env, k driver.CUkernel) {
		e.Do("cuKernelGetLibrary", &l, k)
		e.Do("cuKernelGetLibrary", &l, k)
		e.Do("cuKernelGetLibrary", nil, k)
		e.Do("cuKernelGetLibrary", &l, nil)
	})
	kern("name", "st2", func(e *Env, k driver.CUkernel) {
		e.Do("cuKernelGetName", &name, k)
		e.Do("cuKernelGetName", nil, k)
		e.Do("cuKernelGetName", &name, nil)
	})
	for _, what := range []string{"st2", "nop"} {
		kern("param/"+what, what, func(e *Env, k driver.CUkernel) {
			for _, i := range []int{0, 1, 2, 3, -1} {
				e.Do("cuKernelGetParamInfo", k, i, &o, &s)
			}
		})
	}
	kern("param/nulls", "st2", func(e *Env, k driver.CUkernel) {
		e.Do("cuKernelGetParamInfo", k, 0, nil, &s)
		e.Do("cuKernelGetParamInfo", k, 0, &o, nil)
		e.Do("cuKernelGetParamInfo", k, 0, nil, nil)
		e.Do("cuKernelGetParamInfo", nil, 0, &o, &s)
	})
	kern("param/no-context", "st2", func(e *Env, k driver.CUkernel) {
		e.Must("cuCtxSetCurrent", nil)
		e.Do("cuKernelGetParamInfo", k, 0, &o, &s)
	})
	for _, what := range []string{"nop", "smem", "max64", "clus2", "expl", "loc"} {
		kern("attribute/"+what, what, func(e *Env, k driver.CUkernel) {
			for a := range 17 {
				out := any(&v)
				if a == 4 {
					out = hidden{&v}
				}
				e.Do("cuKernelGetAttribute", out, a, k, 0)
			}
		})
	}
	kern("attribute/odd", "nop", func(e *Env, k driver.CUkernel) {
		e.Do("cuKernelGetAttribute", &v, 99, k, 0)
		e.Do("cuKernelGetAttribute", &v, 0, k, 9)
		e.Do("cuKernelGetAttribute", &v, 0, k, -1)
		e.Do("cuKernelGetAttribute", nil, 0, k, 0)
		e.Do("cuKernelGetAttribute", &v, 0, nil, 0)
		e.Do("cuKernelGetAttribute", nil, 0, nil, 9)
	})
	c.noContext("kernel/attribute/no-context", func(e *Env) {
		k := e.kernelOf(e.library(basic), "smem")
		e.Do("cuKernelGetAttribute", &v, 1, k, 0)
		e.Do("cuKernelSetAttribute", 8, 1000, k, 0)
		e.Do("cuKernelGetAttribute", &v, 8, k, 0)
		e.Do("cuKernelSetCacheConfig", k, 1, 0)
		e.Do("cuKernelGetName", &name, k)
		e.Do("cuKernelGetLibrary", &l, k)
	})
	for a := range 17 {
		kern("set-attribute/"+itoa(a), "dsm", func(e *Env, k driver.CUkernel) {
			for _, x := range []int{0, 1, 2, -1, 100, 101, 232448, 232449} {
				e.Do("cuKernelSetAttribute", a, x, k, 0)
				out := any(&v)
				if a == 4 {
					out = hidden{&v}
				}
				e.Do("cuKernelGetAttribute", out, a, k, 0)
			}
		})
	}
	kern("set-attribute/odd", "dsm", func(e *Env, k driver.CUkernel) {
		e.Do("cuKernelSetAttribute", 99, 0, k, 0)
		e.Do("cuKernelSetAttribute", 8, 0, k, 9)
		e.Do("cuKernelSetAttribute", 8, 0, nil, 0)
	})
	kern("set-attribute/seen-by-function", "dsm", func(e *Env, k driver.CUkernel) {
		e.Do("cuKernelGetFunction", &f, k)
		e.Do("cuKernelSetAttribute", 8, 100000, k, 0)
		e.Do("cuFuncGetAttribute", &v, 8, f)
		e.Do("cuFuncSetAttribute", f, 8, 90000)
		e.Do("cuKernelGetAttribute", &v, 8, k, 0)
		e.Do("cuFuncGetAttribute", &v, 8, f)
	})
	kern("set-attribute/before-function", "dsm", func(e *Env, k driver.CUkernel) {
		e.Do("cuKernelSetAttribute", 8, 100000, k, 0)
		e.Do("cuKernelGetFunction", &f, k)
		e.Do("cuFuncGetAttribute", &v, 8, f)
		d := e.alloc(4)
		e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 100000, nil, params{d}, nil)
		e.Do("cuLaunchKernel", k, 1, 1, 1, 1, 1, 1, 100000, nil, params{d}, nil)
		e.Do("cuLaunchKernel", k, 1, 1, 1, 1, 1, 1, 100001, nil, params{d}, nil)
	})
	kern("cache", "nop", func(e *Env, k driver.CUkernel) {
		for _, x := range []int{0, 1, 2, 3, 4, -1} {
			e.Do("cuKernelSetCacheConfig", k, x, 0)
		}
		e.Do("cuKernelSetCacheConfig", k, 1, 9)
		e.Do("cuKernelSetCacheConfig", nil, 1, 0)
		e.Do("cuKernelSetCacheConfig", nil, 9, 9)
	})
	kern("as-function", "st2", func(e *Env, k driver.CUkernel) {
		e.Do("cuFuncGetAttribute", &v, 0, k)
		e.Do("cuFuncSetAttribute", k, 8, 0)
		e.Do("cuFuncGetName", &name, k)
		e.Do("cuFuncGetParamInfo", k, 0, &o, &s)
		var state driver.CUfunctionLoadingState
		e.Do("cuFuncIsLoaded", &state, k)
		e.Do("cuFuncLoad", k)
		e.Do("cuFuncSetCacheConfig", k, 1)
		e.Do("cuOccupancyMaxActiveBlocksPerMultiprocessor", &v, k, 128, 0)
		var m driver.CUmodule
		e.Do("cuFuncGetModule", &m, k)
	})
	kern("launch", "st1", func(e *Env, k driver.CUkernel) {
		d := e.alloc(4)
		e.launch(k, 1, 1, params{d})
		e.word(d)
		cfg := config(1, 1, 0)
		e.Must("cuMemsetD8_v2", d, 0, 4)
		e.Do("cuLaunchKernelEx", in{"config", cfg}, k, params{d}, nil)
		e.word(d)
		e.Must("cuMemsetD8_v2", d, 0, 4)
		e.Do("cuLaunchCooperativeKernel", k, 1, 1, 1, 1, 1, 1, 0, nil, params{d})
		e.word(d)
	})
	kern("launch/errors", "st1", func(e *Env, k driver.CUkernel) {
		e.launch(k, 0, 1, params{uint64(0)})
		e.launch(k, 1, 1025, params{uint64(0)})
		e.launch(k, 1, 1, nil)
		e.Do("cuLaunchKernel", k, 1, 1, 1, 1, 1, 1, 49153, nil, params{uint64(0)}, nil)
	})
	kern("launch/no-context", "nop", func(e *Env, k driver.CUkernel) {
		e.Must("cuCtxSetCurrent", nil)
		e.launch(k, 1, 1, nil)
	})
	kern("launch/in-two-contexts", "addg", func(e *Env, k driver.CUkernel) {
		var p driver.CUdeviceptr
		var n uint64
		e.Do("cuKernelGetLibrary", &l, k)
		e.launch(k, 1, 1, params{uint32(1)})
		var other driver.CUcontext
		e.Must("cuCtxCreate_v2", &other, 0, 0)
		e.launch(k, 1, 1, params{uint32(2)})
		e.Do("cuLibraryGetGlobal", &p, &n, l, "gvar")
		e.word(p)
		e.Must("cuCtxDestroy_v2", other)
		e.Do("cuLibraryGetGlobal", &p, &n, l, "gvar")
		e.word(p)
	})
	kern("launch/stream-of-other-context", "nop", func(e *Env, k driver.CUkernel) {
		st := e.stream(0)
		var other driver.CUcontext
		e.Must("cuCtxCreate_v2", &other, 0, 0)
		e.Do("cuLaunchKernel", k, 1, 1, 1, 1, 1, 1, 0, st, nil, nil)
		e.Must("cuCtxDestroy_v2", other)
	})
	for _, fn := range []string{"function", "name", "library", "attribute"} {
		c.alone("kernel/garbage/"+fn, func(e *Env) {
			switch fn {
			case "function":
				e.Do("cuKernelGetFunction", &f, garbage)
			case "name":
				e.Do("cuKernelGetName", &name, garbage)
			case "library":
				e.Do("cuKernelGetLibrary", &l, garbage)
			case "attribute":
				e.Do("cuKernelGetAttribute", &v, 0, garbage, 0)
			}
		})
	}
}
