package softdev

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// broken.json: the PTX texts among the damaged and mismatched images of the recorded corpus, with the answers of driver
// 580.159.04.
type brokenImage struct {
	Name      string
	Text      string
	Base64    string
	Result    string
	Library   string
	Load      string   `json:"cuModuleLoad"`
	ErrorLog  string   `json:"error_log"`
	Functions []string `json:"functions"`
	GetK      string   `json:"get_k"`
}

func TestBrokenPTX(t *testing.T) {
	var images []brokenImage
	readFacts(t, "broken.json", &images)
	d, tab, ctx := open(t, Options{PTX: "9.0"})
	dir := t.TempDir()
	for _, img := range images {
		text := []byte(img.Text)
		if img.Base64 != "" {
			var err error
			if text, err = base64.StdEncoding.DecodeString(img.Base64); err != nil {
				t.Fatal(err)
			}
		}
		buf := append(append([]byte{}, text...), 0)
		var m driver.CUmodule
		log := make([]byte, 4096)
		ids := []driver.CUjit_option{driver.CU_JIT_ERROR_LOG_BUFFER, driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}
		values := []uintptr{address(t, &log[0]), uintptr(len(log))}
		r := tab.ModuleLoadDataEx(ctx, &m, unsafe.Pointer(&buf[0]), 2, &ids[0], &values[0])
		if r.String() != img.Result {
			t.Errorf("%s: %v, want %s (%s)", img.Name, r, img.Result, d.LastDetail(ctx))
			continue
		}
		if got := driver.String(&log[0]); got != img.ErrorLog {
			t.Errorf("%s: log %q, want %q", img.Name, got, img.ErrorLog)
		}
		if r == driver.CUDA_SUCCESS {
			var f driver.CUfunction
			if got := tab.ModuleGetFunction(ctx, &f, m, cstr("k")); img.GetK != "" && got.String() != img.GetK {
				t.Errorf("%s: cuModuleGetFunction %v, want %s", img.Name, got, img.GetK)
			}
			must(t, tab.ModuleUnload(ctx, m))
		}
		var l driver.CUlibrary
		if got := tab.LibraryLoadData(ctx, &l, unsafe.Pointer(&buf[0]), nil, nil, 0, nil, nil,
			0); got.String() != img.Library {
			t.Errorf("%s: cuLibraryLoadData %v, want %s", img.Name, got, img.Library)
		} else if got == driver.CUDA_SUCCESS {
			must(t, tab.LibraryUnload(ctx, l))
		}
		name := filepath.Join(dir, "image")
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := tab.ModuleLoad(ctx, &m, cstr(name)); got.String() != img.Load {
			t.Errorf("%s: cuModuleLoad %v, want %s", img.Name, got, img.Load)
		} else if got == driver.CUDA_SUCCESS {
			must(t, tab.ModuleUnload(ctx, m))
		}
	}
}

const modulePTX = `
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 gvar = 7;
.global .align 4 .u32 hidden;
.visible .const .align 8 .b64 cvar[2] = {3, gvar};
.visible .global .attribute(.managed) .align 4 .u32 mvar = 9;
.visible .func fn() { ret; }
.visible .global .align 8 .u64 table[2] = {fn, generic(gvar)+4};
.visible .global .texref tex0;
.extern .shared .align 4 .b8 dyn[];
.visible .entry nop() { ret; }
.visible .entry st(.param .u64 p, .param .align 64 .b8 big[64], .param .u8 c) { ret; }
.visible .entry smem() { .shared .align 4 .b8 s[1024]; .reg .u32 %r; mov.u32 %r, s; st.shared.u32 [%r], %r; ret; }
.visible .entry max64() .maxntid 64, 1, 1 { ret; }
.visible .entry req32() .reqntid 32, 1, 1 { ret; }
`

// api.json: recorded answers to misuse of the module, linker and library calls.
func TestModuleFacts(t *testing.T) {
	var facts map[string]any
	readFacts(t, "api.json", &facts)
	lock(t)
	d, tab := bare(t, Options{})
	check := func(name string, got driver.CUresult) {
		t.Helper()
		if got.String() != facts[name] {
			t.Errorf("%s: %v, want %v", name, got, facts[name])
		}
	}
	var m driver.CUmodule
	good := unsafe.Pointer(cstr(modulePTX))
	check("cuModuleLoadData without a context", tab.ModuleLoadData(0, &m, good))
	var ctx driver.CUcontext
	must(t, tab.DevicePrimaryCtxRetain(0, &ctx, 0))
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	check("cuModuleLoad(no such file)", tab.ModuleLoad(ctx, &m, cstr(filepath.Join(dir, "absent"))))
	check("cuModuleLoad(directory)", tab.ModuleLoad(ctx, &m, cstr(dir)))
	check("cuModuleLoad(empty name)", tab.ModuleLoad(ctx, &m, cstr("")))
	check("cuModuleLoad(empty file)", tab.ModuleLoad(ctx, &m, cstr(empty)))
	check("cuModuleLoadData(NULL image)", tab.ModuleLoadData(ctx, &m, nil))
	check("cuModuleLoadData(NULL handle)", tab.ModuleLoadData(ctx, nil, good))
	check("cuModuleLoad(NULL)", tab.ModuleLoad(ctx, &m, nil))
	check("load good", tab.ModuleLoadData(ctx, &m, good))
	var f driver.CUfunction
	var p driver.CUdeviceptr
	var n uint64
	check("cuModuleGetFunction(absent)", tab.ModuleGetFunction(ctx, &f, m, cstr("absent")))
	check("cuModuleGetFunction(empty)", tab.ModuleGetFunction(ctx, &f, m, cstr("")))
	check("cuModuleGetFunction(device function)", tab.ModuleGetFunction(ctx, &f, m, cstr("fn")))
	check("cuModuleGetFunction(variable)", tab.ModuleGetFunction(ctx, &f, m, cstr("gvar")))
	check("cuModuleGetFunction(NULL name)", tab.ModuleGetFunction(ctx, &f, m, nil))
	check("cuModuleGetGlobal(absent)", tab.ModuleGetGlobal_v2(ctx, &p, &n, m, cstr("absent")))
	check("cuModuleGetGlobal(kernel)", tab.ModuleGetGlobal_v2(ctx, &p, &n, m, cstr("nop")))
	check("cuModuleGetGlobal(size only)", tab.ModuleGetGlobal_v2(ctx, nil, &n, m, cstr("gvar")))
	if n != 4 {
		t.Errorf("size %d", n)
	}
	check("cuModuleGetGlobal(both NULL)", tab.ModuleGetGlobal_v2(ctx, nil, nil, m, cstr("gvar")))
	want(t, "shared variable", tab.ModuleGetGlobal_v2(ctx, &p, &n, m, cstr("dyn")), driver.CUDA_ERROR_NOT_FOUND)
	want(t, "texture", tab.ModuleGetGlobal_v2(ctx, &p, &n, m, cstr("tex0")), bad)
	check("cuModuleUnload(NULL)", tab.ModuleUnload(ctx, 0))
	f = fn(t, d, ctx, m, "nop")
	var v int32
	check("cuFuncGetAttribute(16)", tab.FuncGetAttribute(ctx, &v, 16, f))
	check("cuFuncSetAttribute(NUM_REGS)", tab.FuncSetAttribute(ctx, f, driver.CU_FUNC_ATTRIBUTE_NUM_REGS, 8))
	const dynamic = driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
	launch := func(g, b [3]uint32, shared uint32) driver.CUresult {
		return tab.LaunchKernel(ctx, f, g[0], g[1], g[2], b[0], b[1], b[2], shared, 0, nil, nil)
	}
	one := [3]uint32{1, 1, 1}
	check("launch shared 49153", launch(one, one, 49153))
	check("cuFuncSetAttribute(MAX_DYNAMIC_SHARED 232448)", tab.FuncSetAttribute(ctx, f, dynamic, 232448))
	check("cuFuncSetAttribute(MAX_DYNAMIC_SHARED 232449)", tab.FuncSetAttribute(ctx, f, dynamic, 232449))
	check("cuFuncSetAttribute(MAX_DYNAMIC_SHARED -1)", tab.FuncSetAttribute(ctx, f, dynamic, -1))
	check("launch shared 232449", launch(one, one, 232449))
	want(t, "launch shared 232448", launch(one, one, 232448), driver.CUDA_SUCCESS)
	check("launch grid 0", launch([3]uint32{0, 1, 1}, one, 0))
	check("launch block 0", launch(one, [3]uint32{1, 0, 1}, 0))
	check("launch block 1025", launch(one, [3]uint32{1025, 1, 1}, 0))
	check("launch block z 65", launch(one, [3]uint32{1, 1, 65}, 0))
	check("launch block 32x32x2", launch(one, [3]uint32{32, 32, 2}, 0))
	check("launch grid y 65536", launch([3]uint32{1, 65536, 1}, one, 0))
	want(t, "launch grid x 2^31", launch([3]uint32{1 << 31, 1, 1}, one, 0), bad)
	f = fn(t, d, ctx, m, "st")
	check("launch NULL params", launch(one, one, 0))
	f = fn(t, d, ctx, m, "max64")
	want(t, "block 64 of .maxntid 64", launch(one, [3]uint32{64, 1, 1}, 0), driver.CUDA_SUCCESS)
	want(t, "block 65 of .maxntid 64", launch(one, [3]uint32{65, 1, 1}, 0), bad)
	f = fn(t, d, ctx, m, "req32") // recorded in the corpus: module h86_attrs
	want(t, "block 32 of .reqntid 32", launch(one, [3]uint32{32, 1, 1}, 0), driver.CUDA_SUCCESS)
	want(t, "block 16 of .reqntid 32", launch(one, [3]uint32{16, 1, 1}, 0), bad)
	want(t, "no function", tab.LaunchKernel(ctx, 0, 1, 1, 1, 1, 1, 1, 0, 0, nil, nil), driver.CUDA_ERROR_INVALID_HANDLE)
	must(t, tab.CtxSynchronize(ctx))
	must(t, tab.ModuleUnload(ctx, m))
	want(t, "launch after unload", launch(one, one, 0), driver.CUDA_ERROR_INVALID_HANDLE)
	want(t, "unload twice", tab.ModuleUnload(ctx, m), driver.CUDA_ERROR_INVALID_HANDLE)
}

func TestJITOptions(t *testing.T) {
	var facts map[string]any
	readFacts(t, "api.json", &facts)
	_, tab, ctx := open(t, Options{})
	// The recorded module was made for a processor below the targets tried.
	text := cstr(strings.Replace(modulePTX, "sm_80", "sm_70", 1))
	try := func(options ...uintptr) (r driver.CUresult, info string) {
		t.Helper()
		log := make([]byte, 4096)
		ids := []driver.CUjit_option{driver.CU_JIT_INFO_LOG_BUFFER, driver.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES}
		values := []uintptr{address(t, &log[0]), uintptr(len(log))}
		for i := 0; i < len(options); i += 2 {
			ids, values = append(ids, driver.CUjit_option(options[i])), append(values, options[i+1])
		}
		var m driver.CUmodule
		r = tab.ModuleLoadDataEx(ctx, &m, unsafe.Pointer(text), uint32(len(ids)), &ids[0], &values[0])
		if r == driver.CUDA_SUCCESS {
			must(t, tab.ModuleUnload(ctx, m))
		}
		return r, driver.String(&log[0])
	}
	for name, option := range map[string][2]uintptr{
		"MAX_REGISTERS 16": {0, 16}, "MAX_REGISTERS 0": {0, 0}, "MAX_REGISTERS 1000": {0, 1000},
		"OPTIMIZATION_LEVEL 9": {7, 9},
		"TARGET 90":            {9, 90}, "TARGET 80": {9, 80}, "TARGET 100": {9, 100}, "TARGET 75": {9, 75},
		"TARGET_FROM_CUCONTEXT":  {8, 0},
		"FALLBACK prefer binary": {10, 1}, "FALLBACK 7": {10, 7}, "GENERATE_DEBUG_INFO": {11, 1},
		"GENERATE_LINE_INFO": {13, 1}, "CACHE_MODE 2": {14, 2},
		"THREADS_PER_BLOCK 128": {1, 128}, "LTO": {20, 1}, "POSITION_INDEPENDENT": {30, 1},
		"unknown option 99": {99, 0}, "unknown option -1": {0xffffffff, 0}, "FAST_COMPILE": {16, 1},
	} {
		r, info := try(option[0], option[1])
		var w, log string
		switch f := facts["JIT "+name].(type) {
		case string:
			w = f
		case map[string]any:
			w, _ = f["result"].(string)
			log, _ = f["info"].(string)
		}
		if r.String() != w || info != log {
			t.Errorf("%s: %v %q, want %s %q", name, r, info, w, log)
		}
	}
	// From the second recording: what of the pairs is refused.
	for what, c := range map[string]struct {
		options []uintptr
		want    driver.CUresult
	}{
		"CACHE_MODE 9": {[]uintptr{14, 9}, bad}, "TARGET 12": {[]uintptr{9, 12}, bad},
		"GLOBAL_SYMBOL_NAMES NULL": {[]uintptr{17, 0}, bad},
		"option 35":                {[]uintptr{35, 0}, bad}, "log NULL": {[]uintptr{5, 0, 6, 100}, bad},
		"level twice":      {[]uintptr{7, 4, 7, 0}, driver.CUDA_SUCCESS},
		"log without size": {[]uintptr{5, address(t, new([64]byte))}, bad},
	} {
		r, _ := try(c.options...)
		want(t, what, r, c.want)
	}
	_, info := try(12, 1)
	for _, line := range []string{"ptxas info    : 28 bytes gmem", "Compiling entry function 'smem' for 'sm_90a'",
		", 1024 bytes smem", "Compile time = "} {
		if !strings.Contains(info, line) {
			t.Errorf("the verbose log has no %q: %s", line, info)
		}
	}
	// The error log is cut to its buffer, NUL included, and its size says what was written.
	for size, text := range map[int]string{0: "", 1: "", 2: "p", 10: "ptxas app",
		40: "ptxas application ptx input, line 4; er"} {
		log := make([]byte, 64)
		ids := []driver.CUjit_option{driver.CU_JIT_ERROR_LOG_BUFFER, driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}
		values := []uintptr{address(t, &log[0]), uintptr(size)}
		var m driver.CUmodule
		r := tab.ModuleLoadDataEx(ctx, &m, unsafe.Pointer(cstr(".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { foo; bar 1; }")), 2, &ids[0], &values[0])
		want(t, "bad text", r, driver.CUDA_ERROR_INVALID_PTX)
		written := uintptr(0)
		if text != "" {
			written = uintptr(len(text) + 1)
		}
		if got := driver.String(&log[0]); got != text || values[1] != written {
			t.Errorf("log of %d bytes: %q, %d written; want %q", size, got, values[1], text)
		}
	}
	var m driver.CUmodule
	id, value := driver.CU_JIT_WALL_TIME, uintptr(0)
	must(t, tab.ModuleLoadDataEx(ctx, &m, unsafe.Pointer(text), 1, &id, &value))
	if value == 0 {
		t.Error("no wall time")
	}
	want(t, "NULL options", tab.ModuleLoadDataEx(ctx, &m, unsafe.Pointer(text), 1, nil, &value), bad)
	want(t, "NULL values", tab.ModuleLoadDataEx(ctx, &m, unsafe.Pointer(text), 1, &id, nil), bad)
}

func TestModuleContents(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	m := load(t, d, ctx, modulePTX)
	global := func(name string) (p driver.CUdeviceptr, n uint64) {
		t.Helper()
		must(t, tab.ModuleGetGlobal_v2(ctx, &p, &n, m, cstr(name)))
		return p, n
	}
	words := func(name string) []uint64 {
		t.Helper()
		p, n := global(name)
		b := make([]uint64, (n+7)/8)
		must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&b[0]), p, n))
		return b
	}
	gvar, _ := global("gvar")
	if w := words("gvar"); w[0] != 7 {
		t.Errorf("gvar %d", w[0])
	}
	if w := words("hidden"); w[0] != 0 {
		t.Errorf("hidden %d", w[0])
	}
	if w := words("cvar"); w[0] != 3 || w[1] != uint64(gvar) {
		t.Errorf("cvar %#x, gvar is at %#x", w, gvar)
	}
	if w := words("table"); w[0] == 0 || w[1] != uint64(gvar)+4 {
		t.Errorf("table %#x, gvar is at %#x", w, gvar)
	}
	mvar, _ := global("mvar")
	var managed uint32
	must(t, tab.PointerGetAttribute(ctx, unsafe.Pointer(&managed), driver.CU_POINTER_ATTRIBUTE_IS_MANAGED, mvar))
	if w := words("mvar"); w[0] != 9 || managed != 1 {
		t.Errorf("mvar %d, managed %d", w[0], managed)
	}
	want(t, "free a variable", tab.MemFree_v2(ctx, gvar), bad)

	var count uint32
	must(t, tab.ModuleGetFunctionCount(ctx, &count, m))
	functions := make([]driver.CUfunction, 8)
	must(t, tab.ModuleEnumerateFunctions(ctx, &functions[0], 8, m))
	want(t, "enumerate none", tab.ModuleEnumerateFunctions(ctx, &functions[7], 0, m), driver.CUDA_SUCCESS)
	var names []string
	for _, f := range functions[:count] {
		var s *byte
		must(t, tab.FuncGetName(ctx, &s, f))
		names = append(names, driver.String(s))
	}
	if got := strings.Join(names, " "); got != "nop st smem max64 req32" {
		t.Errorf("functions %s, want file order", got)
	}
	// An enumerated function is not loaded; three attributes need that (recorded in the corpus).
	f := functions[2]
	var state driver.CUfunctionLoadingState
	var v int32
	must(t, tab.FuncIsLoaded(ctx, &state, f))
	if state != driver.CU_FUNCTION_LOADING_STATE_UNLOADED {
		t.Error("an enumerated function is loaded")
	}
	for attr := range driver.CUfunction_attribute(16) { // CU_FUNC_ATTRIBUTE_MAX of 13.0
		expect := driver.CUDA_SUCCESS
		if attr == 0 || attr == 2 || attr == 8 {
			expect = driver.CUDA_ERROR_FUNCTION_NOT_LOADED
		}
		want(t, fmt.Sprint("unloaded, attribute ", attr), tab.FuncGetAttribute(ctx, &v, attr, f), expect)
	}
	must(t, tab.FuncLoad(ctx, f))
	for attr, w := range map[driver.CUfunction_attribute]int32{0: 1024, 1: 1024, 2: 16, 3: 0, 5: 80, 6: 90, 7: 0,
		8: 48128, 9: -1, 10: 0, 11: 0, 14: 0, 15: 0} {
		must(t, tab.FuncGetAttribute(ctx, &v, attr, f))
		if v != w {
			t.Errorf("attribute %d is %d, want %d", attr, v, w)
		}
	}
	for name, w := range map[string]int32{"max64": 64, "req32": 1024} {
		must(t, tab.FuncGetAttribute(ctx, &v, 0, fn(t, d, ctx, m, name)))
		if v != w {
			t.Errorf("%s: %d threads, want %d", name, v, w)
		}
	}
	// Offsets are aligned against the parameters' place in the constant bank.
	for i, w := range [][2]uint64{{0, 8}, {48, 64}, {112, 1}} {
		var off, size uint64
		must(t, tab.FuncGetParamInfo(ctx, functions[1], uint64(i), &off, &size))
		if off != w[0] || size != w[1] {
			t.Errorf("parameter %d at %d with %d bytes, want %v", i, off, size, w)
		}
	}
	want(t, "parameter 3", tab.FuncGetParamInfo(ctx, functions[1], 3, new(uint64), nil), bad)
	var mod driver.CUmodule
	must(t, tab.FuncGetModule(ctx, &mod, f))
	if mod != m {
		t.Error("another module")
	}
	// 1024 threads of 2048, 233472 bytes of shared memory with 1024 reserved for each block: as recorded in the corpus.
	for threads, w := range map[int32]int32{32: 32, 128: 16, 1024: 2} {
		must(t, tab.OccupancyMaxActiveBlocksPerMultiprocessor(ctx, &v, functions[0], threads, 0))
		if v != w {
			t.Errorf("%d resident blocks of %d threads, want %d", v, threads, w)
		}
	}
	must(t, tab.OccupancyMaxActiveBlocksPerMultiprocessor(ctx, &v, functions[0], 32, 48<<10))
	if v != 4 {
		t.Errorf("%d resident blocks with 48 KiB of shared memory, want 4", v)
	}
}

const addressPTX = `
.version 8.0
.target sm_80
.address_size 64
.visible .entry two(.param .u64 p, .param .align 64 .b8 big[64], .param .u8 c)
{
	.reg .b64 %rd<3>; .reg .b32 %r<3>;
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r1, [big+60];
	ld.param.u8 %r2, [c];
	add.u32 %r1, %r1, %r2;
	st.global.u32 [%rd1], %r1;
	ret;
}
.visible .entry cluster2(.param .u64 p) .reqnctapercluster 2, 1, 1 { ret; }
.visible .entry expl(.param .u64 p) .explicitcluster { ret; }
.visible .entry plain() { ret; }
`

func TestLaunchParameters(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	m := load(t, d, ctx, strings.Replace(addressPTX, "sm_80", "sm_90", 1))
	f := fn(t, d, ctx, m, "two")
	p := alloc(t, tab, ctx, 4)
	read := func() (v uint32) {
		t.Helper()
		must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&v), p, 4))
		return v
	}
	var big [64]byte
	big[60], big[61] = 0x10, 0x20
	c := uint8(3)
	params := []unsafe.Pointer{unsafe.Pointer(&p), unsafe.Pointer(&big), unsafe.Pointer(&c)}
	must(t, launch1(tab, ctx, f, 0, params...))
	if v := read(); v != 0x2013 {
		t.Errorf("%#x through kernelParams", v)
	}
	// The buffer of extra has the layout of cuFuncGetParamInfo.
	buf := make([]byte, 113)
	*(*driver.CUdeviceptr)(unsafe.Pointer(&buf[0])) = p
	copy(buf[48:], big[:])
	buf[48+61], buf[112] = 0x40, 5
	size := uint64(len(buf))
	extra := func(e ...uintptr) driver.CUresult {
		return tab.LaunchKernel(ctx, f, 1, 1, 1, 1, 1, 1, 0, 0, nil, &e[0])
	}
	at, n := address(t, &buf[0]), address(t, &size)
	must(t, extra(1, at, 2, n, 0))
	if v := read(); v != 0x4015 {
		t.Errorf("%#x through extra", v)
	}
	want(t, "extra without size", extra(1, at, 0), bad)
	want(t, "extra without buffer", extra(2, n, 0), bad)
	want(t, "extra with an unknown key", extra(7, at, 0), bad)
	size = 50
	// recorded: internal/conform/api, launch/extra/three-short
	want(t, "extra too short", extra(1, at, 2, n, 0), driver.CUDA_SUCCESS)
	size = 114
	want(t, "extra too long", extra(1, at, 2, n, 0), driver.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
	x := []uintptr{1, at, 2, n, 0}
	want(t, "both", tab.LaunchKernel(ctx, f, 1, 1, 1, 1, 1, 1, 0, 0, &params[0], &x[0]), bad)

	one := []unsafe.Pointer{unsafe.Pointer(&p)}
	grid := func(name string, x uint32, attrs ...driver.CUlaunchAttribute) driver.CUresult {
		config := driver.CUlaunchConfig{GridDimX: x, GridDimY: 1, GridDimZ: 1, BlockDimX: 1, BlockDimY: 1, BlockDimZ: 1,
			Attrs: unsafe.SliceData(attrs), NumAttrs: uint32(len(attrs))}
		return tab.LaunchKernelEx(ctx, &config, fn(t, d, ctx, m, name), &one[0], nil)
	}
	clusters := func(x, y, z uint32) driver.CUlaunchAttribute {
		a := driver.CUlaunchAttribute{Id: driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION}
		dim := a.Value.ClusterDim()
		dim.X, dim.Y, dim.Z = x, y, z
		return a
	}
	const size912 = driver.CUDA_ERROR_INVALID_CLUSTER_SIZE // recorded in the corpus: module bounds
	want(t, "required cluster", grid("cluster2", 2), driver.CUDA_SUCCESS)
	want(t, "grid no multiple of the required cluster", grid("cluster2", 3), size912)
	want(t, "another cluster than required", grid("cluster2", 4, clusters(4, 1, 1)), size912)
	want(t, "explicit cluster without one", grid("expl", 2), size912)
	want(t, "explicit cluster", grid("expl", 4, clusters(4, 1, 1)), driver.CUDA_SUCCESS)
	want(t, "cluster of 8", grid("plain", 8, clusters(8, 1, 1)), driver.CUDA_SUCCESS)
	want(t, "cluster of 16 is not portable", grid("plain", 16, clusters(16, 1, 1)), size912)
	plain := fn(t, d, ctx, m, "plain")
	must(t, tab.FuncSetAttribute(ctx, plain, driver.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1))
	want(t, "cluster of 16 allowed", grid("plain", 16, clusters(16, 1, 1)), driver.CUDA_SUCCESS)
	want(t, "unknown attribute", grid("plain", 1, driver.CUlaunchAttribute{Id: 99}), bad)
	want(t, "NULL config", tab.LaunchKernelEx(ctx, nil, plain, nil, nil), bad)
	// A cooperative grid must fit on the device: 132 multiprocessors with 32 blocks.
	want(t, "cooperative grid that fits", tab.LaunchCooperativeKernel(ctx, plain, 132, 1, 1, 32, 1, 1, 0, 0, nil),
		driver.CUDA_SUCCESS)
	want(t, "cooperative grid too large", tab.LaunchCooperativeKernel(ctx, plain, 132*32+1, 1, 1, 1, 1, 1, 0, 0, nil),
		driver.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
	must(t, tab.CtxSynchronize(ctx))
	// The deprecated calls.
	must(t, tab.FuncSetBlockShape(ctx, f, 1, 1, 1))
	must(t, tab.ParamSetSize(ctx, f, 113))
	must(t, tab.ParamSetv(ctx, f, 0, unsafe.Pointer(&p), 8))
	must(t, tab.ParamSeti(ctx, f, 48+60, 0x77))
	must(t, tab.ParamSetv(ctx, f, 112, unsafe.Pointer(&c), 1))
	must(t, tab.LaunchGrid(ctx, f, 1, 1))
	if v := read(); v != 0x7a {
		t.Errorf("%#x through cuParamSet", v)
	}
}

func TestLibrary(t *testing.T) {
	lock(t)
	d, tab := bare(t, Options{})
	text := unsafe.Pointer(cstr(modulePTX))
	var l driver.CUlibrary
	must(t, tab.LibraryLoadData(0, &l, text, nil, nil, 0, nil, nil, 0)) // no context anywhere
	option, value := driver.CUlibraryOption(99), uintptr(0)
	want(t, "bad option", tab.LibraryLoadData(0, new(driver.CUlibrary), text, nil, nil, 0, &option, &value, 1), bad)
	var k driver.CUkernel
	var n uint32
	var s *byte
	var v int32
	var f driver.CUfunction
	var p driver.CUdeviceptr
	var size uint64
	must(t, tab.LibraryGetKernel(0, &k, l, cstr("smem")))
	want(t, "absent", tab.LibraryGetKernel(0, &k, l, cstr("absent")), driver.CUDA_ERROR_NOT_FOUND)
	must(t, tab.LibraryGetKernelCount(0, &n, l))
	if n != 5 {
		t.Errorf("%d kernels", n)
	}
	kernels := make([]driver.CUkernel, n)
	must(t, tab.LibraryEnumerateKernels(0, &kernels[0], n, l))
	var names []string
	for _, k := range kernels {
		must(t, tab.KernelGetName(0, &s, k))
		names = append(names, driver.String(s))
	}
	if got := strings.Join(names, " "); got != "req32 max64 smem st nop" {
		t.Errorf("kernels %s, want reverse file order", got)
	}
	want(t, "function without context", tab.KernelGetFunction(0, &f, k), driver.CUDA_ERROR_INVALID_CONTEXT)
	want(t, "variable without context", tab.LibraryGetGlobal(0, &p, &size, l, cstr("gvar")),
		driver.CUDA_ERROR_INVALID_CONTEXT)
	want(t, "parameters without context", tab.KernelGetParamInfo(0, k, 0, &size, nil),
		driver.CUDA_ERROR_INVALID_CONTEXT)
	want(t, "attribute without context", tab.KernelGetAttribute(0, &v, 1, k, 0), driver.CUDA_SUCCESS)
	if v != 1024 {
		t.Errorf("%d bytes of shared memory", v)
	}
	const dynamic = driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
	must(t, tab.KernelSetAttribute(0, dynamic, 100000, k, 0))
	want(t, "attribute that cannot be set", tab.KernelSetAttribute(0, 0, 1, k, 0), bad)
	want(t, "device 9", tab.KernelGetAttribute(0, &v, 0, k, 9), driver.CUDA_ERROR_INVALID_DEVICE)

	var a, b driver.CUcontext
	must(t, tab.CtxCreate_v4(0, &a, nil, 0, 0))
	must(t, tab.CtxCreate_v4(0, &b, nil, 0, 0))
	var pa, pb driver.CUdeviceptr
	must(t, tab.LibraryGetGlobal(a, &pa, &size, l, cstr("gvar")))
	must(t, tab.LibraryGetGlobal(b, &pb, nil, l, cstr("gvar")))
	if pa == pb || size != 4 {
		t.Errorf("variables at %#x and %#x, %d bytes", pa, pb, size)
	}
	must(t, tab.KernelGetFunction(a, &f, k))
	must(t, tab.FuncGetAttribute(a, &v, dynamic, f))
	if v != 100000 {
		t.Errorf("the function does not know what was set for the kernel: %d", v)
	}
	want(t, "cuFuncGetAttribute of a kernel", tab.FuncGetAttribute(a, &v, 0, driver.CUfunction(k)),
		driver.CUDA_ERROR_INVALID_HANDLE)
	want(t, "launch of a kernel", launch1(tab, a, driver.CUfunction(k), 0), driver.CUDA_SUCCESS)
	must(t, tab.CtxSynchronize(a))
	var m driver.CUmodule
	must(t, tab.LibraryGetModule(a, &m, l))
	want(t, "unload of its module", tab.ModuleUnload(a, m), driver.CUDA_ERROR_NOT_PERMITTED)
	want(t, "managed", tab.LibraryGetManaged(a, &p, &size, l, cstr("mvar")), driver.CUDA_SUCCESS)
	want(t, "not managed", tab.LibraryGetManaged(a, &p, &size, l, cstr("gvar")), driver.CUDA_ERROR_NOT_FOUND)
	must(t, tab.CtxDestroy_v2(0, b))
	must(t, tab.LibraryUnload(0, l))
	want(t, "unload twice", tab.LibraryUnload(0, l), driver.CUDA_ERROR_INVALID_HANDLE)
	want(t, "function after unload", tab.KernelGetFunction(a, &f, k), driver.CUDA_ERROR_INVALID_HANDLE)
	want(t, "launch after unload", launch1(tab, a, driver.CUfunction(k), 0), driver.CUDA_ERROR_INVALID_HANDLE)
	// Errors come at the first use.
	must(t, tab.LibraryLoadData(0, &l, unsafe.Pointer(cstr(".version 9.9\n")), nil, nil, 0, nil, nil, 0))
	want(t, "first use", tab.LibraryGetKernel(a, &k, l, cstr("k")), driver.CUDA_ERROR_INVALID_PTX)
	_ = d
}

func BenchmarkLaunch(b *testing.B) {
	d, tab, ctx := open(b, Options{})
	f := fn(b, d, ctx, load(b, d, ctx, faultPTX), "nop")
	s := newTestStream(b, tab, ctx, 0)
	b.Run("sync", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if r := tab.LaunchKernel(ctx, f, 1, 1, 1, 1, 1, 1, 0, s, nil, nil); r != 0 {
				b.Fatal(r)
			}
			if r := tab.StreamSynchronize(ctx, s); r != 0 {
				b.Fatal(r)
			}
		}
	})
	b.Run("async", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if r := tab.LaunchKernel(ctx, f, 1, 1, 1, 1, 1, 1, 0, s, nil, nil); r != 0 {
				b.Fatal(r)
			}
		}
		tab.StreamSynchronize(ctx, s)
	})
}

func BenchmarkCopy(b *testing.B) {
	_, tab, ctx := open(b, Options{})
	p := alloc(b, tab, ctx, 1<<20)
	host := make([]byte, 1<<20)
	for _, n := range []uint64{4, 4096, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(n))
			for b.Loop() {
				if r := tab.MemcpyHtoD_v2(ctx, p, unsafe.Pointer(&host[0]), n); r != 0 {
					b.Fatal(r)
				}
			}
		})
	}
}
