package softdev

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// wideKernel is an entry with so many values alive at once that it wants as many registers as the estimate gives.
func wideKernel(name, directives string) string {
	const n = 80
	var b strings.Builder
	fmt.Fprintf(&b, ".visible .entry %s(.param .u64 p) %s { .reg .u64 %%p; .reg .u32 %%v<%d>; ld.param.u64 %%p, [p];\n",
		name, directives, n)
	for i := range n {
		fmt.Fprintf(&b, "ld.volatile.global.u32 %%v%d, [%%p+%d];\n", i, 4*i)
	}
	for i := range n {
		fmt.Fprintf(&b, "st.volatile.global.u32 [%%p+%d], %%v%d;\n", 4*i, n-1-i)
	}
	b.WriteString("ret; }\n")
	return b.String()
}

type jitPair struct {
	id driver.CUjit_option
	v  uintptr
}

func jitArrays(list []jitPair) (n uint32, ids *driver.CUjit_option, values *uintptr) {
	if len(list) == 0 {
		return 0, nil, nil
	}
	i, v := make([]driver.CUjit_option, len(list)), make([]uintptr, len(list))
	for k, p := range list {
		i[k], v[k] = p.id, p.v
	}
	return uint32(len(list)), &i[0], &v[0]
}

const linkedOptionsVariable = "GOCUDA_TEST_LINKED_OPTIONS"

// TestLinkCompileOptions: options of cuLinkCreate, and of cuLinkAddData before them, bind the kernels of the image,
// wherever it is loaded (CUDA driver API, cuLinkCreate and cuLinkAddData; numba-cuda's test_set_registers pass on an
// H200 this way). Those of the load do not: a finished image is not compiled again.
func TestLinkCompileOptions(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	const contracted = linkHead + `.visible .entry fused(.param .u64 p) { .reg .f32 %a, %b; .reg .u64 %p; .reg .u32 %t;
mov.u32 %t, %tid.x; cvt.rn.f32.u32 %b, %t; add.rn.f32 %a, %b, 0f3F800800; mul.f32 %b, %a, %a; add.f32 %b, %b, 0fBF801000; ld.param.u64 %p, [p]; st.global.f32 [%p], %b; ret; }
`
	regs, threads := driver.CU_FUNC_ATTRIBUTE_NUM_REGS, driver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
	attr := func(m driver.CUmodule, name string, a driver.CUfunction_attribute) (v int32) {
		t.Helper()
		must(t, tab.FuncGetAttribute(ctx, &v, a, fn(t, d, ctx, m, name)))
		return v
	}
	if name := os.Getenv(linkedOptionsVariable); name != "" {
		var m driver.CUmodule
		must(t, tab.ModuleLoad(ctx, &m, cstr(name)))
		if a, b := attr(m, "wide", regs), attr(m, "bound", regs); a > 32 || b > 24 {
			t.Errorf("%d and %d registers, want 32 and 24 at most", a, b)
		}
		return
	}
	wide, bound := linkHead+wideKernel("wide", ""), linkHead+wideKernel("bound", ".maxntid 512")
	type input struct {
		text    string
		options []jitPair
	}
	build := func(options []jitPair, inputs ...input) []byte {
		t.Helper()
		var s driver.CUlinkState
		n, ids, values := jitArrays(options)
		must(t, tab.LinkCreate_v2(ctx, n, ids, values, &s))
		for _, in := range inputs {
			n, ids, values := jitArrays(in.options)
			b := append([]byte(in.text), 0)
			must(t, tab.LinkAddData_v2(ctx, s, driver.CU_JIT_INPUT_PTX, unsafe.Pointer(&b[0]), uint64(len(b)), nil, n,
				ids, values))
		}
		var p unsafe.Pointer
		var size uint64
		must(t, tab.LinkComplete(ctx, s, &p, &size))
		img := append([]byte(nil), unsafe.Slice((*byte)(p), size)...)
		must(t, tab.LinkDestroy(ctx, s))
		return img
	}
	loadImage := func(img []byte, options ...jitPair) (m driver.CUmodule) {
		t.Helper()
		n, ids, values := jitArrays(options)
		must(t, tab.ModuleLoadDataEx(ctx, &m, unsafe.Pointer(&img[0]), n, ids, values))
		return m
	}
	free := loadImage(build(nil, input{wide, nil}, input{bound, nil}))
	if n := attr(free, "wide", regs); n <= 38 {
		t.Fatalf("%d registers without a limit: the kernel is too small for this test", n)
	}
	img := build([]jitPair{{driver.CU_JIT_MAX_REGISTERS, 32}}, input{wide, nil},
		input{bound, []jitPair{{driver.CU_JIT_MAX_REGISTERS, 24}}})
	for _, load := range [][]jitPair{nil, {{driver.CU_JIT_MAX_REGISTERS, 255}}, {{driver.CU_JIT_MAX_REGISTERS, 24}}} {
		m := loadImage(img, load...)
		if a, b := attr(m, "wide", regs), attr(m, "bound", regs); a != 32 || b != 24 {
			t.Errorf("loaded with %v: %d and %d registers, want 32 and 24", load, a, b)
		}
	}
	name := filepath.Join(t.TempDir(), "linked.cubin")
	if err := os.WriteFile(name, img, 0o600); err != nil {
		t.Fatal(err)
	}
	if exe, err := os.Executable(); err == nil {
		cmd := exec.Command(exe, "-test.run=^TestLinkCompileOptions$")
		cmd.Env = append(os.Environ(), linkedOptionsVariable+"="+name)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("in another process: %v\n%s", err, out)
		}
	}

	m := loadImage(build([]jitPair{{driver.CU_JIT_MAX_THREADS_PER_BLOCK, 128}, {driver.CU_JIT_MIN_CTA_PER_SM, 16}},
		input{wide, nil}, input{bound, nil}))
	if n := attr(m, "wide", threads); n != 128 {
		t.Errorf("%d threads, want 128", n)
	}
	if n := attr(m, "wide", regs); n > 65536/(128*16) {
		t.Errorf("%d registers: 16 blocks of 128 threads do not fit on a multiprocessor", n)
	}
	if n := attr(m, "bound", threads); n != 512 { // the directive's
		t.Errorf("%d threads, want 512", n)
	}
	m = loadImage(build([]jitPair{{driver.CU_JIT_MAX_THREADS_PER_BLOCK, 128},
		{driver.CU_JIT_OVERRIDE_DIRECTIVE_VALUES, 1}}, input{bound, nil}))
	if n := attr(m, "bound", threads); n != 128 {
		t.Errorf("%d threads, want 128 instead of the directive's", n)
	}

	word := func(m driver.CUmodule) (v uint32) {
		t.Helper()
		p := alloc(t, tab, ctx, 4)
		must(t, launch1(tab, ctx, fn(t, d, ctx, m, "fused"), 0, unsafe.Pointer(&p)))
		must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&v), p, 4))
		return v
	}
	apart := jitPair{driver.CU_JIT_OPTIMIZATION_LEVEL, 0}
	for _, c := range []struct {
		name        string
		all, in, at []jitPair
		want        uint32 // as in TestNoContraction
	}{
		{"level 0 of the input", nil, []jitPair{apart}, nil, 0},
		{"level 4 of the input before level 0 of the link", []jitPair{apart},
			[]jitPair{{driver.CU_JIT_OPTIMIZATION_LEVEL, 4}}, nil, 0x33800000},
		{"level 0 of the load", nil, nil, []jitPair{apart}, 0x33800000},
	} {
		if v := word(loadImage(build(c.all, input{contracted, c.in}), c.at...)); v != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, v, c.want)
		}
	}
}

// TestMinBlocksBoundsRegisters: with .maxntid and .minnctapersm the kernel's registers allow that many blocks on a
// multiprocessor (PTX ISA, .minnctapersm).
func TestMinBlocksBoundsRegisters(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	m := load(t, d, ctx, linkHead+wideKernel("wide", ".maxntid 1024 .minnctapersm 2"))
	var n int32
	must(t, tab.OccupancyMaxActiveBlocksPerMultiprocessor(ctx, &n, fn(t, d, ctx, m, "wide"), 1024, 0))
	if n < 2 {
		t.Errorf("%d blocks fit, want 2", n)
	}
}

// TestIgnoredMinBlocksWarns: .minnctapersm without a number of threads has a line in the info log of a link (recorded:
// link/attributes/minnctapersm-alone) and, as the same compiler reads them, of modules, also when the device has
// compiled the text before.
func TestIgnoredMinBlocksWarns(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	const recorded = "ptxas application ptx input, line 165; warning : .minnctapersm is ignored when neither .maxntid nor .reqntid is specified."
	for _, c := range []struct{ directives, want string }{
		{".minnctapersm 2", recorded}, {".maxntid 1024 .minnctapersm 2", ""}, {".minnctapersm 2 .reqntid 64", ""},
		{".maxnreg 40", ""},
	} {
		text := linkHead + wideKernel("k", c.directives)
		for _, how := range []string{"link", "module", "module again"} {
			log := make([]byte, 1000)
			size := uint64(len(log))
			n, ids, values := jitArrays([]jitPair{{driver.CU_JIT_INFO_LOG_BUFFER, address(t, &log[0])},
				{driver.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, uintptr(size)}})
			if how == "link" {
				var s driver.CUlinkState
				var p unsafe.Pointer
				must(t, tab.LinkCreate_v2(ctx, n, ids, values, &s))
				must(t, tab.LinkAddData_v2(ctx, s, driver.CU_JIT_INPUT_PTX, unsafe.Pointer(cstr(text)),
					uint64(len(text)+1), cstr("a.ptx"), 0, nil, nil))
				must(t, tab.LinkComplete(ctx, s, &p, &size))
				must(t, tab.LinkDestroy(ctx, s))
			} else {
				var m driver.CUmodule
				must(t, tab.ModuleLoadDataEx(ctx, &m, unsafe.Pointer(cstr(text)), n, ids, values))
				must(t, tab.ModuleUnload(ctx, m))
			}
			if got := driver.String(&log[0]); got != c.want {
				t.Errorf("%s, %s: %q, want %q", c.directives, how, got, c.want)
			}
		}
	}
}
