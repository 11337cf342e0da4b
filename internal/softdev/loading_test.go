package softdev

import (
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	engine "github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/sm"
	"github.com/gocuda/cuda/internal/ir"
)

const sharedPTX = linkHead + `
.visible .global .align 4 .u32 own = 7;
.visible .const .align 4 .u32 fixed = 3;
.visible .global .attribute(.managed) .align 4 .u32 common = 100;
.visible .global .attribute(.managed) .align 8 .u64 where = common;
.visible .entry count(.param .u64 out) { .reg .u64 %a; .reg .u32 %r, %s;
ld.param.u64 %a, [out];
atom.global.add.u32 %r, [own], 1; st.global.u32 [%a], %r;
atom.global.add.u32 %r, [common], 1; st.global.u32 [%a+4], %r;
ld.const.u32 %s, [fixed]; st.global.u32 [%a+8], %s;
ld.global.u64 %a, [where]; ld.global.u32 %r, [%a]; ret; }
.visible .entry other() { ret; }
`

// TestContextIndependentLoading follows the CUDA Programming Guide's pattern on two devices: a library is loaded with
// no context, and one kernel handle is launched in each device's context.
func TestContextIndependentLoading(t *testing.T) {
	lock(t)
	d, tab := bare(t, Options{Profiles: []string{"h200", "h200"}})
	var l driver.CUlibrary
	var k driver.CUkernel
	must(t, tab.LibraryLoadData(0, &l, unsafe.Pointer(cstr(sharedPTX)), nil, nil, 0, nil, nil, 0))
	must(t, tab.LibraryGetKernel(0, &k, l, cstr("count")))
	var managed driver.CUdeviceptr
	var size uint64
	// no context is needed (recorded: library/load/no-context)
	must(t, tab.LibraryGetManaged(0, &managed, &size, l, cstr("common")))
	common := (*uint32)(d.memory.w.Ptr(uint64(managed)))
	if size != 4 || *common != 100 {
		t.Errorf("%d bytes with value %d", size, *common)
	}
	var ctx [2]driver.CUcontext
	var own [2]driver.CUdeviceptr
	run := func(c driver.CUcontext) (out [3]uint32) {
		t.Helper()
		p := alloc(t, tab, c, 12)
		if r := launch1(tab, c, driver.CUfunction(k), 0, unsafe.Pointer(&p)); r != success {
			t.Fatalf("%v: %s", r, d.LastDetail(c))
		}
		must(t, tab.MemcpyDtoH_v2(c, unsafe.Pointer(&out), p, 12))
		return out
	}
	for i := range ctx {
		must(t, tab.DevicePrimaryCtxRetain(0, &ctx[i], driver.CUdevice(i)))
		must(t, tab.LibraryGetGlobal(ctx[i], &own[i], nil, l, cstr("own")))
		var p driver.CUdeviceptr
		must(t, tab.LibraryGetManaged(ctx[i], &p, nil, l, cstr("common")))
		if p != managed {
			t.Errorf("device %d: the managed variable is at %#x, elsewhere at %#x", i, p, managed)
		}
	}
	if own[0] == own[1] {
		t.Error("a device variable has one address in two contexts")
	}
	for i, want := range [][3]uint32{{7, 100, 3}, {7, 101, 3}, {8, 102, 3}, {8, 103, 3}} {
		if got := run(ctx[i%2]); got != want {
			t.Errorf("launch %d: %v, want %v", i, got, want)
		}
	}
	// Attributes are those of a device.
	const dynamic = driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
	must(t, tab.KernelSetAttribute(0, dynamic, 100000, k, 1))
	for i, want := range []int32{49152, 100000} {
		var v int32
		must(t, tab.KernelGetAttribute(0, &v, dynamic, k, driver.CUdevice(i)))
		if v != want {
			t.Errorf("device %d: %d bytes of dynamic shared memory, want %d", i, v, want)
		}
	}
	// A context takes its instance with it; the next one begins with initial values, and the managed variable lives on.
	must(t, tab.DevicePrimaryCtxRelease_v2(0, 1))
	must(t, tab.DevicePrimaryCtxRetain(0, &ctx[1], 1))
	if got, want := run(ctx[1]), [3]uint32{7, 104, 3}; got != want {
		t.Errorf("after a new context: %v, want %v", got, want)
	}
	var m driver.CUmodule
	var f driver.CUfunction
	must(t, tab.LibraryGetModule(ctx[0], &m, l))
	must(t, tab.KernelGetFunction(ctx[0], &f, k))
	want(t, "unload of its module", tab.ModuleUnload(ctx[0], m), driver.CUDA_ERROR_NOT_PERMITTED)
	// Unloaded with both contexts alive.
	must(t, tab.LibraryUnload(0, l))
	want(t, "kernel", launch1(tab, ctx[0], driver.CUfunction(k), 0), badHandle)
	want(t, "function", launch1(tab, ctx[1], f, 0), badHandle)
	want(t, "module", tab.ModuleGetFunction(ctx[0], &f, m, cstr("count")), badHandle)
	if _, _, ok := d.memory.find(managed); ok {
		t.Error("the managed variable is still there")
	}
	if _, _, ok := d.memory.find(own[0]); ok {
		t.Error("the device variable is still there")
	}
}

// TestModuleLoading: CUDA_MODULE_LOADING (CUDA C++ Programming Guide, "Lazy Loading"). The lazy answers are recorded
// (module/enumerate, module/loading-mode).
func TestModuleLoading(t *testing.T) {
	for _, c := range []struct {
		value string
		mode  driver.CUmoduleLoadingMode
		state driver.CUfunctionLoadingState
	}{
		{"", driver.CU_MODULE_LAZY_LOADING, driver.CU_FUNCTION_LOADING_STATE_UNLOADED},
		{"LAZY", driver.CU_MODULE_LAZY_LOADING, driver.CU_FUNCTION_LOADING_STATE_UNLOADED},
		{"EAGER", driver.CU_MODULE_EAGER_LOADING, driver.CU_FUNCTION_LOADING_STATE_LOADED},
	} {
		t.Run(c.value, func(t *testing.T) {
			t.Setenv("CUDA_MODULE_LOADING", c.value)
			d, tab, ctx := open(t, Options{Profiles: []string{"h200", "h200"}})
			var mode driver.CUmoduleLoadingMode
			must(t, tab.ModuleGetLoadingMode(ctx, &mode))
			if mode != c.mode {
				t.Errorf("mode %d", mode)
			}
			state := func(f driver.CUfunction) (s driver.CUfunctionLoadingState) {
				t.Helper()
				must(t, tab.FuncIsLoaded(ctx, &s, f))
				return s
			}
			m := load(t, d, ctx, sharedPTX)
			var fs [2]driver.CUfunction
			must(t, tab.ModuleEnumerateFunctions(ctx, &fs[0], 2, m))
			if state(fs[0]) != c.state || state(fs[1]) != c.state {
				t.Errorf("enumerated functions: %d %d, want %d", state(fs[0]), state(fs[1]), c.state)
			}
			must(t, tab.FuncLoad(ctx, fs[1]))
			if state(fs[1]) != driver.CU_FUNCTION_LOADING_STATE_LOADED {
				t.Error("cuFuncLoad did not load")
			}
			// Libraries come into contexts at once or when they are used.
			var l driver.CUlibrary
			must(t, tab.LibraryLoadData(ctx, &l, unsafe.Pointer(cstr(sharedPTX)), nil, nil, 0, nil, nil, 0))
			var other driver.CUcontext
			must(t, tab.DevicePrimaryCtxRetain(0, &other, 1))
			n := len(d.libraries.get(uintptr(l)).instances())
			if (n == 2) != (c.mode == driver.CU_MODULE_EAGER_LOADING) || n != 0 && n != 2 {
				t.Errorf("the library is in %d contexts", n)
			}
			// A broken library fails at the first use either way (the corpus's README).
			must(t, tab.LibraryLoadData(ctx, &l, unsafe.Pointer(cstr(linkHead+"foo")), nil, nil, 0, nil, nil, 0))
			want(t, "first use", tab.LibraryGetModule(ctx, &m, l), driver.CUDA_ERROR_INVALID_PTX)
		})
	}
}

// TestPTXSwitches: CUDA_DISABLE_PTX_JIT refuses text (CUDA C++ Programming Guide, "CUDA Environment Variables"), and
// not what was linked before.
func TestPTXSwitches(t *testing.T) {
	d, _, ctx := open(t, Options{})
	image := linkAll(t, d, ctx, ptxInput("a", linkCaller), ptxInput("b", linkCallee))
	t.Setenv("CUDA_DISABLE_PTX_JIT", "1")
	d, tab, ctx := open(t, Options{})
	var m driver.CUmodule
	want(t, "text", tab.ModuleLoadData(ctx, &m, unsafe.Pointer(cstr(linkHead))),
		driver.CUDA_ERROR_JIT_COMPILATION_DISABLED)
	must(t, tab.ModuleLoadData(ctx, &m, unsafe.Pointer(&image[0])))
	if v := kernelWord(t, d, ctx, m); v != 8 {
		t.Errorf("%d, want 8", v)
	}
}

// TestNoContraction: (1+2^-12)*(1+2^-12)-(1+2^-11) is 2^-24 in one rounding and 0 in two. mul and add of PTX without
// .rn may be put together (PTX ISA, mul.f32).
func TestNoContraction(t *testing.T) {
	const text = linkHead + `.visible .entry k(.param .u64 p) { .reg .f32 %a, %b; .reg .u64 %p; .reg .u32 %t;
mov.u32 %t, %tid.x; cvt.rn.f32.u32 %b, %t; add.rn.f32 %a, %b, 0f3F800800; mul.f32 %b, %a, %a; add.f32 %b, %b, 0fBF801000; ld.param.u64 %p, [p]; st.global.f32 [%p], %b; ret; }
`
	for _, c := range []struct {
		name   string
		option driver.CUjit_option
		value  uintptr
		want   uint32
	}{
		{"as it comes", driver.CU_JIT_OPTIMIZATION_LEVEL, 4, 0x33800000},
		{"level 0", driver.CU_JIT_OPTIMIZATION_LEVEL, 0, 0},
		{"without fma", driver.CU_JIT_FMA, 0, 0}, {"with fma", driver.CU_JIT_FMA, 1, 0x33800000},
	} {
		d, tab, ctx := open(t, Options{})
		var m driver.CUmodule
		must(t, tab.ModuleLoadDataEx(ctx, &m, unsafe.Pointer(cstr(text)), 1, &c.option, &c.value))
		if v := kernelWord(t, d, ctx, m); v != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, v, c.want)
		}
		// The same of a link: the image keeps it.
		var s driver.CUlinkState
		var p unsafe.Pointer
		in := ptxInput("k", text)
		must(t, tab.LinkCreate_v2(ctx, 1, &c.option, &c.value, &s))
		must(t, tab.LinkAddData_v2(ctx, s, in.kind, unsafe.Pointer(&in.data[0]), uint64(len(in.data)), nil, 0, nil,
			nil))
		must(t, tab.LinkComplete(ctx, s, &p, nil))
		must(t, tab.ModuleLoadData(ctx, &m, p))
		must(t, tab.LinkDestroy(ctx, s))
		if v := kernelWord(t, d, ctx, m); v != c.want {
			t.Errorf("%s, linked: %#x, want %#x", c.name, v, c.want)
		}
	}
}

// slowCompiler is an engine that stops where a kernel named slow is compiled, until it is opened.
type slowCompiler struct {
	engine.Engine
	arrived, opened chan struct{}
}

func (g *slowCompiler) Compile(k *ir.Kernel) (engine.Code, error) {
	if k.Name == "slow" {
		g.arrived <- struct{}{}
		<-g.opened
	}
	return g.Engine.Compile(k)
}

// TestNoLockWhileCompiling: while a kernel is compiled, everything else goes on: other kernels of its module and
// library too.
func TestNoLockWhileCompiling(t *testing.T) {
	const text = linkHead + ".visible .entry slow() { ret; }\n.visible .entry quick() { ret; }\n.visible .global .u32 v = 5;\n"
	g := &slowCompiler{interp.New(), make(chan struct{}, 2), make(chan struct{})}
	d, tab, ctx := open(t, Options{Engine: g})
	m := load(t, d, ctx, text)
	var l driver.CUlibrary
	var slow driver.CUkernel
	must(t, tab.LibraryLoadData(ctx, &l, unsafe.Pointer(cstr(text+
		"// another text: modules of one text are compiled once\n")), nil, nil, 0, nil, nil, 0))
	must(t, tab.LibraryGetKernel(ctx, &slow, l, cstr("slow")))
	f := fn(t, d, ctx, m, "slow")
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		if r := tab.FuncLoad(ctx, f); r != success {
			t.Error(r)
		}
	}()
	go func() {
		defer wg.Done()
		if r := launch1(tab, ctx, driver.CUfunction(slow), 0); r != success {
			t.Error(r)
		}
	}()
	<-g.arrived
	<-g.arrived
	done := make(chan struct{})
	go func() {
		defer close(done)
		must(t, launch1(tab, ctx, fn(t, d, ctx, m, "quick"), 0))
		var k driver.CUkernel
		var n uint32
		var p driver.CUdeviceptr
		var lm driver.CUmodule
		must(t, tab.LibraryGetKernel(ctx, &k, l, cstr("quick")))
		must(t, launch1(tab, ctx, driver.CUfunction(k), 0))
		must(t, tab.LibraryGetKernelCount(ctx, &n, l))
		must(t, tab.LibraryGetModule(ctx, &lm, l))
		must(t, tab.LibraryGetGlobal(ctx, &p, nil, l, cstr("v")))
		must(t, tab.ModuleGetGlobal_v2(ctx, &p, nil, m, cstr("v")))
		other := load(t, d, ctx, sharedPTX)
		must(t, tab.ModuleUnload(ctx, other))
		linkAll(t, d, ctx, ptxInput("a", linkCaller), ptxInput("b", linkCallee))
		must(t, tab.CtxSynchronize(ctx))
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("a call waits for a kernel that it does not need")
	}
	close(g.opened)
	wg.Wait()
}

// TestLibrariesConcurrently loads, uses and unloads libraries while contexts come and go; a use may find its library
// gone, and nothing else.
func TestLibrariesConcurrently(t *testing.T) {
	d, tab, ctx := open(t, Options{Profiles: []string{"h200", "h200"}})
	var second driver.CUcontext
	must(t, tab.DevicePrimaryCtxRetain(0, &second, 1))
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 8 {
				var l driver.CUlibrary
				var k driver.CUkernel
				if r := tab.LibraryLoadData(ctx, &l, unsafe.Pointer(cstr(sharedPTX)), nil, nil, 0, nil, nil,
					0); r != success {
					t.Error(r)
					return
				}
				if r := tab.LibraryGetKernel(ctx, &k, l, cstr("other")); r != success {
					t.Error(r)
					return
				}
				var users sync.WaitGroup
				for u := range 4 {
					users.Add(1)
					go func() {
						defer users.Done()
						c := []driver.CUcontext{ctx, second}[u%2]
						own := u >= 2 && g == 0
						if own {
							if r := tab.CtxCreate_v4(c, &c, nil, 0, driver.CUdevice(u%2)); r != success {
								t.Error(r)
								return
							}
						}
						for range 4 {
							var v int32
							for _, r := range []driver.CUresult{
								launch1(tab, c, driver.CUfunction(k), 0),
								tab.KernelSetAttribute(c, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000,
									k, driver.CUdevice(u%2)),
								tab.KernelGetAttribute(c, &v, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, k,
									driver.CUdevice(u%2)),
							} {
								if r != success && r != badHandle {
									t.Errorf("%v: %s", r, d.LastDetail(c))
								}
							}
						}
						if own {
							if r := tab.CtxDestroy_v2(0, c); r != success {
								t.Error(r)
							}
						}
					}()
				}
				if g%2 == 0 {
					users.Wait()
				}
				if r := tab.LibraryUnload(ctx, l); r != success {
					t.Error(r)
				}
				users.Wait()
			}
		}()
	}
	wg.Wait()
	must(t, tab.CtxSynchronize(ctx))
	must(t, tab.CtxSynchronize(second))
}

// TestDirectives: options of the compiler stand in for directives that the text does not have, and with
// CU_JIT_OVERRIDE_DIRECTIVE_VALUES for those that it has (cuda.h at CUjit_option).
func TestDirectives(t *testing.T) {
	const text = linkHead + ".visible .entry own() .maxntid 256 { ret; }\n.visible .entry none() { ret; }\n"
	d, tab, ctx := open(t, Options{})
	for _, c := range []struct {
		override, most uintptr
		own, none      int32
	}{{0, 128, 256, 128}, {1, 128, 128, 128}, {1, 512, 512, 512}, {0, 512, 256, 512}} {
		ids := []driver.CUjit_option{driver.CU_JIT_MAX_THREADS_PER_BLOCK, driver.CU_JIT_OVERRIDE_DIRECTIVE_VALUES}
		values := []uintptr{c.most, c.override}
		var m driver.CUmodule
		must(t, tab.ModuleLoadDataEx(ctx, &m, unsafe.Pointer(cstr(text)), 2, &ids[0], &values[0]))
		for name, want := range map[string]int32{"own": c.own, "none": c.none} {
			var v int32
			must(t, tab.FuncGetAttribute(ctx, &v, driver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
				fn(t, d, ctx, m, name)))
			if v != want {
				t.Errorf("override %d, %d threads: kernel %s can have %d, want %d", c.override, c.most, name, v, want)
			}
		}
	}
}

// TestForcePTX: with CUDA_FORCE_PTX_JIT machine code in a container is left aside, damaged or not (CUDA C++ Programming
// Guide, "CUDA Environment Variables"); without it damage of what the driver would run fails the load (recorded:
// broken.json, fatbin_*).
func TestForcePTX(t *testing.T) {
	for _, c := range []struct {
		force string
		want  driver.CUresult
	}{{"0", driver.CUDA_ERROR_UNKNOWN}, {"1", success}} {
		t.Setenv("CUDA_FORCE_PTX_JIT", c.force)
		_, tab, ctx := open(t, Options{})
		var w fatbin.Writer
		for _, e := range []fatbin.Source{
			{Kind: fatbin.ELF, Arch: sm.Arch{Number: 90}, Major: 1, Data: []byte("no ELF at all")},
			{Kind: fatbin.PTX, Arch: sm.Arch{Number: 90}, Major: 9, Data: []byte(sharedPTX)},
		} {
			if err := w.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		b := w.Bytes()
		var m driver.CUmodule
		want(t, "CUDA_FORCE_PTX_JIT="+c.force, tab.ModuleLoadData(ctx, &m, unsafe.Pointer(&b[0])), c.want)
	}
}
