package api

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// crowded is a kernel with more values alive at once than 24 or 32 registers hold.
func crowded(directives string) string {
	const n = 80
	var b strings.Builder
	fmt.Fprintf(&b, "%s.visible .entry k(.param .u64 p) %s { .reg .u64 %%p; .reg .u32 %%v<%d>; ld.param.u64 %%p, [p];\n", head, directives, n)
	for i := range n {
		fmt.Fprintf(&b, "ld.volatile.global.u32 %%v%d, [%%p+%d];\n", i, 4*i)
	}
	for i := range n {
		fmt.Fprintf(&b, "st.volatile.global.u32 [%%p+%d], %%v%d;\n", 4*i, n-1-i)
	}
	return b.String() + "ret; }\n"
}

// bounds says what the options of a link left in a kernel's attributes.
func (e *Env) bounds(m driver.CUmodule) {
	f := e.function(m, "k")
	var regs int32
	e.Must("cuFuncGetAttribute", hidden{&regs}, driver.CU_FUNC_ATTRIBUTE_NUM_REGS, f)
	e.Note("registers: at most 24 %v, at most 32 %v, at most 40 %v", regs <= 24, regs <= 32, regs <= 40)
	var n int32
	e.Do("cuFuncGetAttribute", &n, driver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f)
}

// linkOptionCases: how options of the link, of its input and of the load of its image combine.
func linkOptionCases(c *cases) {
	for _, k := range []struct {
		name          string
		directives    string
		all, in, load []opt
	}{
		{"none", "", nil, nil, nil},
		{"create-24", "", []opt{{driver.CU_JIT_MAX_REGISTERS, 24}}, nil, nil},
		{"create-1", "", []opt{{driver.CU_JIT_MAX_REGISTERS, 1}}, nil, nil},
		{"create-1000", "", []opt{{driver.CU_JIT_MAX_REGISTERS, 1000}}, nil, nil},
		{"add-32", "", nil, []opt{{driver.CU_JIT_MAX_REGISTERS, 32}}, nil},
		{"create-24-add-32", "", []opt{{driver.CU_JIT_MAX_REGISTERS, 24}}, []opt{{driver.CU_JIT_MAX_REGISTERS, 32}},
			nil},
		{"create-32-add-24", "", []opt{{driver.CU_JIT_MAX_REGISTERS, 32}}, []opt{{driver.CU_JIT_MAX_REGISTERS, 24}},
			nil},
		{"load-24", "", nil, nil, []opt{{driver.CU_JIT_MAX_REGISTERS, 24}}},
		{"create-32-load-24", "", []opt{{driver.CU_JIT_MAX_REGISTERS, 32}}, nil,
			[]opt{{driver.CU_JIT_MAX_REGISTERS, 24}}},
		{"load-0", "", nil, nil, []opt{{driver.CU_JIT_MAX_REGISTERS, 0}}},
		{"load-level--1", "", nil, nil, []opt{{driver.CU_JIT_OPTIMIZATION_LEVEL, -1}}},
		{"maxnreg-40-create-24", ".maxnreg 40", []opt{{driver.CU_JIT_MAX_REGISTERS, 24}}, nil, nil},
		{"maxnreg-40-override-24", ".maxnreg 40", []opt{{driver.CU_JIT_MAX_REGISTERS, 24},
			{driver.CU_JIT_OVERRIDE_DIRECTIVE_VALUES, 1}}, nil, nil},
		{"threads-128", "", []opt{{driver.CU_JIT_MAX_THREADS_PER_BLOCK, 128}}, nil, nil},
		{"threads-128-of-input", "", nil, []opt{{driver.CU_JIT_MAX_THREADS_PER_BLOCK, 128}}, nil},
		{"threads-128-of-load", "", nil, nil, []opt{{driver.CU_JIT_MAX_THREADS_PER_BLOCK, 128}}},
		{"maxntid-512-threads-128", ".maxntid 512", []opt{{driver.CU_JIT_MAX_THREADS_PER_BLOCK, 128}}, nil, nil},
		{"maxntid-512-override-128", ".maxntid 512",
			[]opt{{driver.CU_JIT_MAX_THREADS_PER_BLOCK, 128}, {driver.CU_JIT_OVERRIDE_DIRECTIVE_VALUES, 1}}, nil, nil},
		{"threads-128-blocks-16", "", []opt{{driver.CU_JIT_MAX_THREADS_PER_BLOCK, 128},
			{driver.CU_JIT_MIN_CTA_PER_SM, 16}}, nil, nil},
		{"maxntid-1024-minnctapersm-2", ".maxntid 1024 .minnctapersm 2", nil, nil, nil},
		{"maxntid-128-blocks-16", ".maxntid 128", []opt{{driver.CU_JIT_MIN_CTA_PER_SM, 16}}, nil, nil},
		{"minnctapersm-alone", ".minnctapersm 2", nil, nil, nil},
		{"threads-per-block-1024", "", []opt{{driver.CU_JIT_THREADS_PER_BLOCK, 1000}}, nil, nil},
	} {
		c.add("link/attributes/"+k.name, func(e *Env) {
			s, o := e.linker(append(k.all, logs(1000)...)...)
			b := append([]byte(crowded(k.directives)), 0)
			in := e.jit(k.in...)
			e.Do("cuLinkAddData_v2", s, 1, image{"a.ptx", b}, named("size", len(b)), "a.ptx", jitCount{in}, jitIDs{in},
				jitValues{in})
			var p unsafe.Pointer
			var n uint64
			r := e.Do("cuLinkComplete", s, hidden{&p}, hidden{&n})
			e.Note("logs:%s", o.results())
			if r != driver.CUDA_SUCCESS {
				return
			}
			var m driver.CUmodule
			at := e.jit(k.load...)
			if e.Do("cuModuleLoadDataEx", &m, named("linked", p), jitCount{at}, jitIDs{at},
				jitValues{at}) == driver.CUDA_SUCCESS {
				e.bounds(m)
			}
			e.Do("cuLinkDestroy", s)
		})
	}
	for _, k := range []struct {
		name       string
		list       []opt
		directives string
	}{
		{"none", nil, ""}, {"24", []opt{{driver.CU_JIT_MAX_REGISTERS, 24}}, ""},
		{"threads-128-blocks-16", []opt{{driver.CU_JIT_MAX_THREADS_PER_BLOCK, 128}, {driver.CU_JIT_MIN_CTA_PER_SM, 16}},
			""},
		{"maxntid-128-blocks-16", []opt{{driver.CU_JIT_MIN_CTA_PER_SM, 16}}, ".maxntid 128"},
		{"blocks-16-alone", []opt{{driver.CU_JIT_MIN_CTA_PER_SM, 16}}, ""},
		{"maxntid-1024-minnctapersm-2", nil, ".maxntid 1024 .minnctapersm 2"},
		{"maxntid-128-minnctapersm-4-blocks-16", []opt{{driver.CU_JIT_MIN_CTA_PER_SM, 16}},
			".maxntid 128 .minnctapersm 4"},
	} {
		c.add("jit/attributes/"+k.name, func(e *Env) {
			if m, r := e.loadWith(crowded(k.directives), k.list...); r == driver.CUDA_SUCCESS {
				e.bounds(m)
			}
		})
	}
}
