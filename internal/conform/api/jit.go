package api

import (
	"strconv"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

func itoa(n int) string { return strconv.Itoa(n) }

// arrayFirst is the address of an array as a pointer to its first element.
func arrayFirst[T any](p *[32]T) *T { return (*T)(unsafe.Pointer(p)) }

// logs are the four options for both logs.
func logs(size int) []opt {
	return []opt{
		{driver.CU_JIT_INFO_LOG_BUFFER, make(buffer, size)}, {driver.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, size},
		{driver.CU_JIT_ERROR_LOG_BUFFER, make(buffer, size)}, {driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, size},
	}
}

// loadWith loads text with options.
func (e *Env) loadWith(text string, list ...opt) (driver.CUmodule, driver.CUresult) {
	var m driver.CUmodule
	o := e.jit(list...)
	r := e.Do("cuModuleLoadDataEx", &m, ptx("PTX", text), jitCount{o}, jitIDs{o}, jitValues{o})
	return m, r
}

// reader is a module whose variables the host names (CU_JIT_GLOBAL_SYMBOL_NAMES).
const reader = head + `.extern .global .u32 ext;
.visible .entry k(.param .u64 p) { .reg .b64 %rd<3>; .reg .b32 %r<2>; ld.param.u64 %rd1,[p]; ld.global.u32 %r1,[ext]; st.global.u32 [%rd1],%r1; ret; }
`

func jitCases(c *cases) {
	// Every option by every value of a list, on a good module, with logs beside it.
	values := map[driver.CUjit_option][]int{
		driver.CU_JIT_MAX_REGISTERS:         {0, 1, 16, 24, 32, 255, 256, 1000, -1},
		driver.CU_JIT_THREADS_PER_BLOCK:     {0, 1, 128, 1024, 4096, -1},
		driver.CU_JIT_OPTIMIZATION_LEVEL:    {0, 1, 2, 3, 4, 5, 99, -1},
		driver.CU_JIT_TARGET_FROM_CUCONTEXT: {0, 1},
		driver.CU_JIT_TARGET: {0, 12, 20, 30, 32, 37, 49, 50, 70, 75, 80, 86, 89, 90, 91, 100,
			120, 999, -1, 0x10000 + 90},
		driver.CU_JIT_FALLBACK_STRATEGY:                {0, 1, 2, 9},
		driver.CU_JIT_GENERATE_DEBUG_INFO:              {0, 1, 2},
		driver.CU_JIT_LOG_VERBOSE:                      {0, 1, 2},
		driver.CU_JIT_GENERATE_LINE_INFO:               {0, 1, 2},
		driver.CU_JIT_CACHE_MODE:                       {0, 1, 2, 3, 9, -1},
		driver.CU_JIT_NEW_SM3X_OPT:                     {0, 1},
		driver.CU_JIT_FAST_COMPILE:                     {0, 1},
		driver.CU_JIT_GLOBAL_SYMBOL_NAMES:              {0},
		driver.CU_JIT_GLOBAL_SYMBOL_ADDRESSES:          {0},
		driver.CU_JIT_GLOBAL_SYMBOL_COUNT:              {0, 1},
		driver.CU_JIT_LTO:                              {0, 1},
		driver.CU_JIT_FTZ:                              {0, 1, 2},
		driver.CU_JIT_PREC_DIV:                         {0, 1, 2},
		driver.CU_JIT_PREC_SQRT:                        {0, 1, 2},
		driver.CU_JIT_FMA:                              {0, 1, 2},
		driver.CU_JIT_REFERENCED_KERNEL_NAMES:          {0},
		driver.CU_JIT_REFERENCED_KERNEL_COUNT:          {0, 1},
		driver.CU_JIT_REFERENCED_VARIABLE_NAMES:        {0},
		driver.CU_JIT_REFERENCED_VARIABLE_COUNT:        {0, 1},
		driver.CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES: {0, 1},
		driver.CU_JIT_POSITION_INDEPENDENT_CODE:        {0, 1, 2},
		driver.CU_JIT_MIN_CTA_PER_SM:                   {0, 1, 2, 16, 31, 32, 33, 63, 64, 65, 99, -1},
		driver.CU_JIT_MAX_THREADS_PER_BLOCK:            {0, 1, 256, 1024, 1025, 2048, 2049, 4096, -1},
		driver.CU_JIT_OVERRIDE_DIRECTIVE_VALUES:        {0, 1},
		driver.CU_JIT_SPLIT_COMPILE:                    {0, 1, 4},
		numOptions:                                     {0},
		36:                                             {0},
		99:                                             {0},
		0xffffffff:                                     {0},
	}
	for id := range driver.CUjit_option(100) {
		if id == 98 {
			id = 0xffffffff
		}
		for _, v := range values[id] {
			c.add("jit/"+optionName(id)+"/"+itoa(v), func(e *Env) {
				e.loadWith(basic, opt{id, v})
				e.loadWith(basic, append(logs(4096), opt{id, v})...)
			})
		}
	}
	c.add("jit/wall-time", func(e *Env) {
		e.loadWith(basic, opt{driver.CU_JIT_WALL_TIME, 0})
		e.loadWith(head+"foo", opt{driver.CU_JIT_WALL_TIME, 0})
	})
	twoErrors := head + ".visible .entry k() { foo; nonsense; }\n"
	for _, n := range []int{0, 1, 2, 3, 10, 40, 100, 103, 104, 105, 106, 1000} {
		c.add("jit/error-log/"+itoa(n), func(e *Env) {
			b := make(buffer, 1024)
			e.loadWith(twoErrors, opt{driver.CU_JIT_ERROR_LOG_BUFFER, b},
				opt{driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, n})
			e.Note("written beyond the size: %v", written(b) > n)
		})
		c.add("jit/info-log/"+itoa(n), func(e *Env) {
			b := make(buffer, 1024)
			e.loadWith(reader, opt{driver.CU_JIT_INFO_LOG_BUFFER, b}, opt{driver.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, n})
			e.Note("written beyond the size: %v", written(b) > n)
		})
	}
	c.add("jit/log/size-first", func(e *Env) {
		e.loadWith(twoErrors, opt{driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 500},
			opt{driver.CU_JIT_ERROR_LOG_BUFFER, make(buffer, 512)})
	})
	c.add("jit/log/no-size", func(e *Env) {
		e.loadWith(twoErrors, opt{driver.CU_JIT_ERROR_LOG_BUFFER, make(buffer, 64)})
	})
	c.add("jit/log/no-size-good", func(e *Env) {
		e.loadWith(basic, opt{driver.CU_JIT_INFO_LOG_BUFFER, make(buffer, 64)})
	})
	c.add("jit/log/only-size", func(e *Env) {
		e.loadWith(twoErrors, opt{driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 64})
	})
	c.add("jit/log/null", func(e *Env) {
		e.loadWith(twoErrors, opt{driver.CU_JIT_ERROR_LOG_BUFFER, 0},
			opt{driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 64})
		e.loadWith(twoErrors, opt{driver.CU_JIT_ERROR_LOG_BUFFER, 0}, opt{driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 0})
	})
	c.add("jit/log/twice", func(e *Env) {
		e.loadWith(twoErrors, append(logs(300), logs(600)...)...)
	})
	c.add("jit/log/verbose-errors", func(e *Env) {
		e.loadWith(twoErrors, append(logs(2000), opt{driver.CU_JIT_LOG_VERBOSE, 1})...)
	})
	c.add("jit/log/verbose-small", func(e *Env) {
		e.loadWith(head+".visible .entry k() { ret; }", append(logs(2000), opt{driver.CU_JIT_LOG_VERBOSE, 1})...)
	})
	c.add("jit/log/verbose-empty", func(e *Env) {
		e.loadWith(head, append(logs(2000), opt{driver.CU_JIT_LOG_VERBOSE, 1})...)
	})
	c.add("jit/log/verbose-variables", func(e *Env) {
		e.loadWith(head+".visible .global .u32 a[10];\n.visible .const .u32 b[3];\n.visible .entry k() { ret; }",
			append(logs(2000), opt{driver.CU_JIT_LOG_VERBOSE, 1})...)
	})
	c.add("jit/log/verbose-function", func(e *Env) {
		e.loadWith(head+".visible .func f() { ret; }\n.visible .entry k() { call f; ret; }",
			append(logs(2000), opt{driver.CU_JIT_LOG_VERBOSE, 1})...)
	})
	c.add("jit/count/zero-with-arrays", func(e *Env) {
		o := e.jit(opt{driver.CU_JIT_MAX_REGISTERS, 0})
		var m driver.CUmodule
		e.Do("cuModuleLoadDataEx", &m, basicImage(), 0, jitIDs{o}, jitValues{o})
	})
	c.add("jit/count/null-ids", func(e *Env) {
		o := e.jit(opt{driver.CU_JIT_OPTIMIZATION_LEVEL, 4})
		var m driver.CUmodule
		e.Do("cuModuleLoadDataEx", &m, basicImage(), 1, nil, jitValues{o})
	})
	c.add("jit/count/null-values", func(e *Env) {
		o := e.jit(opt{driver.CU_JIT_OPTIMIZATION_LEVEL, 4})
		var m driver.CUmodule
		e.Do("cuModuleLoadDataEx", &m, basicImage(), 1, jitIDs{o}, nil)
	})
	c.add("jit/twice/same", func(e *Env) {
		e.loadWith(basic, opt{driver.CU_JIT_OPTIMIZATION_LEVEL, 4}, opt{driver.CU_JIT_OPTIMIZATION_LEVEL, 0})
	})
	c.add("jit/twice/max-registers", func(e *Env) {
		e.loadWith(basic, opt{driver.CU_JIT_MAX_REGISTERS, 32}, opt{driver.CU_JIT_MAX_REGISTERS, 0})
	})
	c.add("jit/conflict/target-and-context", func(e *Env) {
		e.loadWith(basic, opt{driver.CU_JIT_TARGET, 80}, opt{driver.CU_JIT_TARGET_FROM_CUCONTEXT, 0})
		e.loadWith(basic, opt{driver.CU_JIT_TARGET_FROM_CUCONTEXT, 0}, opt{driver.CU_JIT_TARGET, 80})
	})
	c.add("jit/conflict/registers-and-ctas", func(e *Env) {
		e.loadWith(basic, opt{driver.CU_JIT_MAX_REGISTERS, 32}, opt{driver.CU_JIT_MIN_CTA_PER_SM, 2},
			opt{driver.CU_JIT_MAX_THREADS_PER_BLOCK, 256})
	})
	c.add("jit/bad-option-and-bad-module", func(e *Env) { e.loadWith(twoErrors, append(logs(300), opt{99, 0})...) })
	c.add("jit/bad-option-and-null-image", func(e *Env) {
		o := e.jit(opt{99, 0})
		var m driver.CUmodule
		e.Do("cuModuleLoadDataEx", &m, nil, jitCount{o}, jitIDs{o}, jitValues{o})
	})
	c.add("jit/target/older-module", func(e *Env) {
		old := ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }"
		for _, t := range []int{70, 75, 80, 90, 100} {
			e.loadWith(old, append(logs(500), opt{driver.CU_JIT_TARGET, t})...)
		}
	})

	symbols := func(name string, run func(e *Env, p driver.CUdeviceptr) []opt) {
		c.add("jit/symbols/"+name, func(e *Env) {
			p := e.alloc(64)
			e.Must("cuMemsetD32_v2", p, 77, 4)
			m, r := e.loadWith(reader, append(run(e, p), logs(1000)...)...)
			if r != driver.CUDA_SUCCESS {
				return
			}
			d := e.alloc(4)
			e.launch(e.function(m, "k"), 1, 1, params{d})
			e.word(d)
			var q driver.CUdeviceptr
			var n uint64
			e.Do("cuModuleGetGlobal_v2", &q, &n, m, "ext")
		})
	}
	names := func(list ...string) opt { return opt{driver.CU_JIT_GLOBAL_SYMBOL_NAMES, list} }
	addresses := func(list ...uint64) opt { return opt{driver.CU_JIT_GLOBAL_SYMBOL_ADDRESSES, list} }
	number := func(n int) opt { return opt{driver.CU_JIT_GLOBAL_SYMBOL_COUNT, n} }
	symbols("none", func(e *Env, p driver.CUdeviceptr) []opt { return nil })
	symbols("one", func(e *Env, p driver.CUdeviceptr) []opt {
		return []opt{names("ext"), addresses(uint64(p)), number(1)}
	})
	symbols("two", func(e *Env, p driver.CUdeviceptr) []opt {
		return []opt{names("other", "ext"), addresses(uint64(p)+32, uint64(p)+4), number(2)}
	})
	symbols("unknown", func(e *Env, p driver.CUdeviceptr) []opt {
		return []opt{names("other"), addresses(uint64(p)), number(1)}
	})
	symbols("count-0", func(e *Env, p driver.CUdeviceptr) []opt {
		return []opt{names("ext"), addresses(uint64(p)), number(0)}
	})
	symbols("no-count", func(e *Env, p driver.CUdeviceptr) []opt { return []opt{names("ext"), addresses(uint64(p))} })
	symbols("no-addresses", func(e *Env, p driver.CUdeviceptr) []opt { return []opt{names("ext"), number(1)} })
	symbols("no-names", func(e *Env, p driver.CUdeviceptr) []opt { return []opt{addresses(uint64(p)), number(1)} })
	c.add("jit/referenced", func(e *Env) {
		m, r := e.loadWith(basic, append(logs(2000), opt{driver.CU_JIT_REFERENCED_KERNEL_NAMES, []string{"st1"}},
			opt{driver.CU_JIT_REFERENCED_KERNEL_COUNT, 1},
			opt{driver.CU_JIT_REFERENCED_VARIABLE_NAMES, []string{"gvar"}},
			opt{driver.CU_JIT_REFERENCED_VARIABLE_COUNT, 1}, opt{driver.CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES, 1})...)
		if r == driver.CUDA_SUCCESS {
			var n uint32
			e.Do("cuModuleGetFunctionCount", &n, m)
		}
	})
	c.add("jit/all-of-code-generation", func(e *Env) {
		m, r := e.loadWith(basic, opt{driver.CU_JIT_FTZ, 1}, opt{driver.CU_JIT_PREC_DIV, 0},
			opt{driver.CU_JIT_PREC_SQRT, 0}, opt{driver.CU_JIT_FMA, 1},
			opt{driver.CU_JIT_OPTIMIZATION_LEVEL, 3}, opt{driver.CU_JIT_CACHE_MODE, 2},
			opt{driver.CU_JIT_GENERATE_LINE_INFO, 1})
		if r == driver.CUDA_SUCCESS {
			d := e.alloc(4)
			e.launch(e.function(m, "st1"), 1, 1, params{d})
			e.word(d)
		}
	})
	c.add("jit/max-threads-in-effect", func(e *Env) {
		for _, n := range []int{1, 33, 64, 256, 1024, 1025, 2048} {
			m, r := e.loadWith(basic, opt{driver.CU_JIT_MAX_THREADS_PER_BLOCK, n})
			if r == driver.CUDA_SUCCESS {
				f := e.function(m, "nop")
				var v int32
				e.Do("cuFuncGetAttribute", &v, 0, f)
				e.launch(f, 1, 512, nil)
			}
		}
	})
	c.add("jit/threads-per-block-in-effect", func(e *Env) {
		m, r := e.loadWith(basic, opt{driver.CU_JIT_THREADS_PER_BLOCK, 64})
		if r == driver.CUDA_SUCCESS {
			f := e.function(m, "nop")
			var v int32
			e.Do("cuFuncGetAttribute", &v, 0, f)
			e.launch(f, 1, 512, nil)
		}
	})
}

// written is how much of a poisoned buffer was written.
func written(b buffer) int {
	n := len(b)
	for n > 0 && b[n-1] == poison {
		n--
	}
	return n
}
