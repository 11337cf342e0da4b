package api

import (
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/image/fatbin"
)

// linker starts a link with logs; finish shows them.
func (e *Env) linker(list ...opt) (driver.CUlinkState, *options) {
	o := e.jit(list...)
	var s driver.CUlinkState
	if e.Do("cuLinkCreate_v2", jitCount{o}, jitIDs{o}, named("values", in{"values", o.valuePointer()}),
		&s) != driver.CUDA_SUCCESS {
		panic(stopCase{})
	}
	return s, o
}

func (e *Env) add(s driver.CUlinkState, kind int, name, text string) driver.CUresult {
	b := append([]byte(text), 0)
	return e.Do("cuLinkAddData_v2", s, kind, image{name, b}, named("size", len(b)), name, 0, nil, nil)
}

// complete ends a link, loads what came out and destroys the state.
func (e *Env) complete(s driver.CUlinkState, o *options) (m driver.CUmodule, r driver.CUresult) {
	var p unsafe.Pointer
	var n uint64
	r = e.Do("cuLinkComplete", s, hidden{&p}, hidden{&n})
	if o != nil {
		e.Note("logs:%s", o.results())
	}
	if r == driver.CUDA_SUCCESS {
		b := unsafe.Slice((*byte)(p), n)
		e.Note("an ELF of machine %d: %v", int(b[18])|int(b[19])<<8, n > 64 && string(b[:4]) == "\x7fELF")
		if r := e.Do("cuModuleLoadData", &m, named("linked", p)); r != driver.CUDA_SUCCESS {
			m = 0
		}
	}
	return m, r
}

func linkCases(c *cases) {
	var s driver.CUlinkState
	var out unsafe.Pointer
	var n uint64
	small := head + ".visible .entry k() { ret; }"
	c.noInit("link/create/before-init", func(e *Env) { e.Do("cuLinkCreate_v2", 0, nil, nil, &s) })
	c.noContext("link/create/no-context", func(e *Env) { e.Do("cuLinkCreate_v2", 0, nil, nil, &s) })
	c.call("link/create/ok", "cuLinkCreate_v2", 0, nil, nil, &s)
	c.call("link/create-v1/ok", "cuLinkCreate", 0, nil, nil, &s)
	c.call("link/create/null-out", "cuLinkCreate_v2", 0, nil, nil, nil)
	c.call("link/create/null-options", "cuLinkCreate_v2", 1, nil, nil, &s)
	for _, k := range []opt{{99, 0}, {numOptions, 0}, {driver.CU_JIT_MAX_REGISTERS, 0},
		{driver.CU_JIT_MAX_REGISTERS, 32}, {driver.CU_JIT_TARGET, 90}, {driver.CU_JIT_TARGET, 80},
		{driver.CU_JIT_TARGET, 12},
		{driver.CU_JIT_TARGET, 100}, {driver.CU_JIT_TARGET_FROM_CUCONTEXT, 0}, {driver.CU_JIT_OPTIMIZATION_LEVEL, 9},
		{driver.CU_JIT_CACHE_MODE, 9}, {driver.CU_JIT_LTO, 1}, {driver.CU_JIT_GENERATE_DEBUG_INFO, 1},
		{driver.CU_JIT_INFO_LOG_BUFFER, 0}, {driver.CU_JIT_WALL_TIME, 0}, {driver.CU_JIT_GLOBAL_SYMBOL_NAMES, 0},
		{driver.CU_JIT_FALLBACK_STRATEGY, 1}, {driver.CU_JIT_POSITION_INDEPENDENT_CODE, 1},
		{driver.CU_JIT_LOG_VERBOSE, 1}} {
		c.add("link/create/"+optionName(k.id)+"/"+itoa(k.value.(int)), func(e *Env) {
			s, o := e.linker(k)
			e.add(s, 1, "a.ptx", small)
			e.complete(s, o)
			e.Do("cuLinkDestroy", s)
		})
	}
	linkOptionCases(c)
	c.add("link/empty", func(e *Env) {
		s, o := e.linker()
		e.complete(s, o)
		e.Do("cuLinkDestroy", s)
	})
	c.add("link/destroy-at-once", func(e *Env) {
		s, _ := e.linker()
		e.Do("cuLinkDestroy", s)
	})
	for kind := -1; kind < 8; kind++ {
		c.add("link/ptx-as-type/"+itoa(kind), func(e *Env) {
			s, o := e.linker(logs(1000)...)
			e.add(s, kind, "a.ptx", small)
			e.complete(s, o)
			e.Do("cuLinkDestroy", s)
		})
	}
	data := append([]byte(small), 0)
	state := func(name string, run func(e *Env, s driver.CUlinkState)) {
		c.add("link/add/"+name, func(e *Env) {
			s, o := e.linker(logs(1000)...)
			run(e, s)
			e.complete(s, o)
			e.Do("cuLinkDestroy", s)
		})
	}
	state("null-name", func(e *Env, s driver.CUlinkState) {
		e.Do("cuLinkAddData_v2", s, 1, image{"PTX", data}, named("size", len(data)), nil, 0, nil, nil)
	})
	state("null-data", func(e *Env, s driver.CUlinkState) {
		e.Do("cuLinkAddData_v2", s, 1, nil, named("size", len(data)), "x", 0, nil, nil)
	})
	state("size-0", func(e *Env, s driver.CUlinkState) {
		e.Do("cuLinkAddData_v2", s, 1, image{"PTX", data}, 0, "x", 0, nil, nil)
	})
	state("no-nul", func(e *Env, s driver.CUlinkState) {
		e.Do("cuLinkAddData_v2", s, 1, image{"PTX", data}, named("size-1", len(data)-1), "x", 0, nil, nil)
	})
	state("cut", func(e *Env, s driver.CUlinkState) {
		e.Do("cuLinkAddData_v2", s, 1, image{"PTX", data}, named("size-4", len(data)-4), "x", 0, nil, nil)
	})
	state("words", func(e *Env, s driver.CUlinkState) { e.add(s, 1, "x", "garbage") })
	state("bad-ptx", func(e *Env, s driver.CUlinkState) { e.add(s, 1, "x", head+".visible .entry k() { foo; }") })
	state("bad-then-good", func(e *Env, s driver.CUlinkState) {
		e.add(s, 1, "x", head+".visible .entry k() { foo; }")
		e.add(s, 1, "y", small)
	})
	state("version-99", func(e *Env, s driver.CUlinkState) {
		e.add(s, 1, "x", ".version 99.0\n.target sm_90\n.address_size 64\n")
	})
	state("sm_100", func(e *Env, s driver.CUlinkState) {
		e.add(s, 1, "x", ".version 9.0\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }")
	})
	state("sm_70", func(e *Env, s driver.CUlinkState) {
		e.add(s, 1, "x", ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }")
	})
	state("options-null", func(e *Env, s driver.CUlinkState) {
		e.Do("cuLinkAddData_v2", s, 1, image{"PTX", data}, named("size", len(data)), "x", 1, nil, nil)
	})
	for _, k := range []opt{{driver.CU_JIT_MAX_REGISTERS, 32}, {driver.CU_JIT_OPTIMIZATION_LEVEL, 0}, {99, 0},
		{driver.CU_JIT_TARGET, 90}, {driver.CU_JIT_LOG_VERBOSE, 1}, {driver.CU_JIT_GENERATE_LINE_INFO, 1},
		{driver.CU_JIT_CACHE_MODE, 1}, {driver.CU_JIT_WALL_TIME, 0}, {driver.CU_JIT_LTO, 0}} {
		state("option/"+optionName(k.id), func(e *Env, s driver.CUlinkState) {
			o := e.jit(k)
			e.Do("cuLinkAddData_v2", s, 1, image{"PTX", data}, named("size", len(data)), "x", jitCount{o}, jitIDs{o},
				jitValues{o})
		})
	}
	state("fatbin", func(e *Env, s driver.CUlinkState) {
		b := fat(small, 90, fatbin.Stored)
		e.Do("cuLinkAddData_v2", s, 2, image{"fatbin", b}, named("size", len(b)), "x", 0, nil, nil)
	})
	state("fatbin-arch-100", func(e *Env, s driver.CUlinkState) {
		b := fat(small, 100, fatbin.Stored)
		e.Do("cuLinkAddData_v2", s, 2, image{"fatbin", b}, named("size", len(b)), "x", 0, nil, nil)
	})
	state("v1", func(e *Env, s driver.CUlinkState) {
		e.Do("cuLinkAddData", s, 1, image{"PTX", data}, named("size", len(data)), "x", 0, nil, nil)
	})
	file := func(name string, kind int, content []byte) {
		state("file/"+name, func(e *Env, s driver.CUlinkState) {
			path := filepath.Join(e.dir, "image")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				panic(err)
			}
			e.Do("cuLinkAddFile_v2", s, kind, named("file", path), 0, nil, nil)
		})
	}
	file("ptx", 1, []byte(small))
	file("empty", 1, nil)
	file("words", 1, []byte("words"))
	file("fatbin", 2, fat(small, 90, fatbin.Stored))
	file("ptx-as-library", 4, []byte(small))
	file("archive-of-nothing", 4, []byte("!<arch>\n"))
	state("file/missing", func(e *Env, s driver.CUlinkState) {
		e.Do("cuLinkAddFile_v2", s, 1, "/nonexistent/file", 0, nil, nil)
	})
	state("file/null", func(e *Env, s driver.CUlinkState) { e.Do("cuLinkAddFile_v2", s, 1, nil, 0, nil, nil) })
	state("file/empty-name", func(e *Env, s driver.CUlinkState) { e.Do("cuLinkAddFile_v2", s, 1, "", 0, nil, nil) })
	state("file/bad-type", func(e *Env, s driver.CUlinkState) {
		e.Do("cuLinkAddFile_v2", s, 9, "/nonexistent/file", 0, nil, nil)
	})
	c.call("link/add/null-state", "cuLinkAddData_v2", nil, 1, image{"PTX", data}, named("size", len(data)), "x", 0, nil,
		nil)
	c.call("link/addfile/null-state", "cuLinkAddFile_v2", nil, 1, "/nonexistent/file", 0, nil, nil)
	c.call("link/complete/null-state", "cuLinkComplete", nil, hidden{&out}, &n)
	c.call("link/destroy/null", "cuLinkDestroy", nil)
	c.alone("link/add/garbage-state", func(e *Env) {
		e.Do("cuLinkAddData_v2", garbage, 1, image{"PTX", data}, named("size", len(data)), "x", 0, nil, nil)
	})
	c.alone("link/complete/garbage-state", func(e *Env) { e.Do("cuLinkComplete", garbage, hidden{&out}, &n) })
	c.alone("link/destroy/garbage", func(e *Env) { e.Do("cuLinkDestroy", garbage) })
	c.alone("link/destroy/twice", func(e *Env) {
		s, _ := e.linker()
		e.Do("cuLinkDestroy", s)
		e.Do("cuLinkDestroy", s)
	})
	c.alone("link/add/after-destroy", func(e *Env) {
		s, _ := e.linker()
		e.Do("cuLinkDestroy", s)
		e.add(s, 1, "x", small)
	})
	c.add("link/complete/null-image", func(e *Env) {
		s, _ := e.linker()
		e.add(s, 1, "x", small)
		e.Do("cuLinkComplete", s, nil, hidden{&n})
		e.Do("cuLinkComplete", s, hidden{&out}, hidden{&n})
		e.Do("cuLinkDestroy", s)
	})
	c.add("link/complete/null-size", func(e *Env) {
		s, _ := e.linker()
		e.add(s, 1, "x", small)
		e.Do("cuLinkComplete", s, hidden{&out}, nil)
		e.Do("cuLinkDestroy", s)
	})
	c.add("link/complete/twice", func(e *Env) {
		s, _ := e.linker()
		e.add(s, 1, "x", small)
		e.Do("cuLinkComplete", s, hidden{&out}, hidden{&n})
		e.Do("cuLinkComplete", s, hidden{&out}, hidden{&n})
		e.add(s, 1, "y", small)
		e.Do("cuLinkDestroy", s)
	})
	c.add("link/no-context", func(e *Env) {
		s, _ := e.linker()
		e.Must("cuCtxSetCurrent", nil)
		e.add(s, 1, "x", small)
		e.Do("cuLinkComplete", s, hidden{&out}, hidden{&n})
		e.Do("cuLinkDestroy", s)
	})

	f := head + ".visible .func (.param .u32 r) f(.param .u32 a) { .reg .u32 %r; ld.param.u32 %r,[a]; add.u32 %r,%r,1; st.param.u32 [r],%r; ret; }\n"
	k := head + ".extern .func (.param .u32 r) f(.param .u32 a);\n.visible .entry k(.param .u64 p) { .reg .u32 %r; .reg .u64 %a; { .param .u32 x; .param .u32 y; st.param.u32 [y],7; call.uni (x),f,(y); ld.param.u32 %r,[x]; } ld.param.u64 %a,[p]; st.global.u32 [%a],%r; ret; }\n"
	wide := strings.NewReplacer(".param .u32 a", ".param .u64 a", ".param .u32 y", ".param .u64 y", "st.param.u32 [y]",
		"st.param.u64 [y]").Replace(k)
	weak := strings.Replace(f, ".visible", ".weak", 1)
	weak2 := strings.Replace(weak, "add.u32 %r,%r,1", "add.u32 %r,%r,2", 1)
	reads := head + ".extern .global .u32 v;\n.visible .entry k(.param .u64 p) { .reg .u64 %a; .reg .u32 %r; ld.global.u32 %r,[v]; ld.param.u64 %a,[p]; st.global.u32 [%a],%r; ret; }\n"
	two := func(name string, run bool, texts ...string) {
		c.add("link/modules/"+name, func(e *Env) {
			s, o := e.linker(logs(2000)...)
			for i, text := range texts {
				e.add(s, 1, "in"+itoa(i)+".ptx", text)
			}
			m, r := e.complete(s, o)
			if r == driver.CUDA_SUCCESS && m != 0 {
				var count uint32
				e.Do("cuModuleGetFunctionCount", &count, m)
				if run {
					d := e.alloc(8)
					e.launch(e.function(m, "k"), 1, 1, params{d})
					e.word(d)
				}
			}
			e.Do("cuLinkDestroy", s)
		})
	}
	two("one-kernel", true, kernel("ld.param.u64 %rd1,[p]; mov.u32 %r1,9; st.global.u32 [%rd1],%r1;"))
	two("call", true, k, f)
	two("call-reversed", true, f, k)
	two("unresolved", true, k, head)
	two("unresolved-alone", true, k)
	two("duplicate-function", true, k, f, f)
	two("argument-differs", true, wide, f)
	two("result-differs", true, head+".extern .func f(.param .u32 a);\n.visible .entry k(.param .u64 p) { { .param .u32 y; st.param.u32 [y],7; call.uni f,(y); } ret; }\n", f)
	two("weak-weak", true, k, weak, weak2)
	two("weak-strong", true, k, weak2, f)
	two("strong-weak", true, k, f, weak2)
	two("variable", true, reads, head+".visible .global .u32 v = 42;\n")
	two("variable-unresolved", true, reads, head)
	two("variable-size-differs", true, reads, head+".visible .global .u64 v;\n")
	two("variable-space-differs", true, reads, head+".visible .const .u32 v = 3;\n")
	two("variable-duplicate", true, reads, head+".visible .global .u32 v = 1;\n", head+".visible .global .u32 v = 2;\n")
	two("variable-weak", true, reads, head+".weak .global .u32 v = 1;\n", head+".visible .global .u32 v = 2;\n")
	two("common-common", false, head+".common .global .u32 v;\n", head+".common .global .u64 v;\n")
	two("common-strong", true, reads, head+".common .global .u32 v;\n", head+".visible .global .u32 v = 5;\n")
	two("duplicate-entry", false, small, small)
	two("static-functions", false, head+".func h() { ret; }\n.visible .entry a() { call h; ret; }",
		head+".func h() { ret; }\n.visible .entry b() { call h; ret; }")
	two("static-variables", false, head+".global .u32 h = 1;\n.visible .entry a() { .reg .u32 %r; ld.global.u32 %r,[h]; st.global.u32 [h],%r; ret; }", head+".global .u32 h = 2;\n.visible .entry b() { .reg .u32 %r; ld.global.u32 %r,[h]; st.global.u32 [h],%r; ret; }")
	two("static-not-visible", true, k, strings.Replace(f, ".visible", "", 1))
	two("function-and-variable", false, head+".visible .global .u32 f;\n", f)
	two("versions-differ", true, k, strings.Replace(f, ".version 9.0\n.target sm_90", ".version 7.0\n.target sm_70", 1))
	two("same-names", true, k, f, head)
	two("three", true, k, head+".extern .func (.param .u32 r) g(.param .u32 a);\n.visible .func (.param .u32 r) f(.param .u32 a) { .reg .u32 %r; ld.param.u32 %r,[a]; { .param .u32 x; .param .u32 y; st.param.u32 [y],%r; call.uni (x),g,(y); ld.param.u32 %r,[x]; } st.param.u32 [r],%r; ret; }\n", strings.Replace(f, " f(", " g(", 1))
	c.add("link/library-of-linked", func(e *Env) {
		s, _ := e.linker()
		e.add(s, 1, "a", k)
		e.add(s, 1, "b", f)
		if e.Do("cuLinkComplete", s, hidden{&out}, hidden{&n}) != driver.CUDA_SUCCESS {
			return
		}
		var l driver.CUlibrary
		e.Do("cuLibraryLoadData", &l, named("linked", out), nil, nil, 0, nil, nil, 0)
		var count uint32
		e.Do("cuLibraryGetKernelCount", &count, l)
		e.Do("cuLinkDestroy", s)
		e.Do("cuLibraryGetKernelCount", &count, l)
	})
	c.add("link/linked-again", func(e *Env) {
		s, _ := e.linker()
		e.add(s, 1, "a", k)
		e.add(s, 1, "b", f)
		if e.Do("cuLinkComplete", s, hidden{&out}, hidden{&n}) != driver.CUDA_SUCCESS {
			return
		}
		t, _ := e.linker()
		e.Do("cuLinkAddData_v2", t, 0, named("linked", out), named("size", n), "x", 0, nil, nil)
		e.complete(t, nil)
	})
}
