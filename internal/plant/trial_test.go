package plant_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/conform/api"
	"github.com/gocuda/cuda/internal/corpus"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/plant"
	"github.com/gocuda/cuda/internal/ptxgen"
	"github.com/gocuda/cuda/internal/ptxgen/answer"
	"github.com/gocuda/cuda/internal/silicon"
	"github.com/gocuda/cuda/internal/softdev"
)

// workload is what runs while a statement panics.
type workload struct {
	name   string
	engine string
	ready  func() func(t *driver.Table) // gets it ready, with nothing planted, and returns it
}

// testdata is the repository's folder of recorded data.
const testdata = "../../testdata"

// engines are those that kernels are run with.
var engines = []string{"auto", "jit-avx2", "interpreter"}

// workloads are the recorded API cases, recorded modules and images, some cases of each group of instructions, and
// generated programs.
func workloads() (list []workload, err error) {
	for _, c := range api.One.Cases() {
		list = append(list, workload{"api/" + c.Name, "", func() func(*driver.Table) {
			return func(t *driver.Table) {
				dir, err := os.MkdirTemp("", "case")
				if err != nil {
					panic(err)
				}
				defer os.RemoveAll(dir)
				c.Execute(t, dir, io.Discard)
			}
		}})
	}
	for _, add := range []func([]workload) ([]workload, error){modules, instructions, images, generated} {
		if list, err = add(list); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// modules are those of the corpus, in all builds that are kept, with their first launches.
func modules(list []workload) ([]workload, error) {
	set := corpus.Open(os.DirFS(filepath.Join(testdata, "corpus")))
	names, err := set.Names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		m, err := set.Module(name)
		if err != nil {
			return nil, err
		}
		for _, build := range m.Builds() {
			for _, e := range engines {
				list = append(list, workload{"corpus/" + name + "/" + build + "/" + e, e, func() func(*driver.Table) {
					return func(t *driver.Table) { (&corpus.Runner{T: t, DeviceRuntime: true}).Run(m, build, 0, 1) }
				}})
			}
		}
	}
	return list, nil
}

// instructions are some recorded cases of each group.
func instructions(list []workload) ([]workload, error) {
	set, err := silicon.Open(os.DirFS(filepath.Join(testdata, "silicon")))
	if err != nil {
		return nil, err
	}
	const each = 6
	for i := range set.Groups {
		var of []*silicon.Case
		for j := range set.Cases {
			if set.Cases[j].Group == set.Groups[i].Name {
				of = append(of, &set.Cases[j])
			}
		}
		for j := range min(each, len(of)) {
			c := of[j*len(of)/min(each, len(of))]
			for _, e := range engines {
				list = append(list, workload{"silicon/" + c.ID + "/" + e, e, func() func(*driver.Table) {
					return inContext(func(t *driver.Table, ctx driver.CUcontext) {
						(&silicon.Runner{T: t, Ctx: ctx}).Run(set, c)
					})
				}})
			}
		}
	}
	return list, nil
}

// images are containers of every kind, whole and damaged: loaded, and given to the linker as what they may be.
func images(list []workload) ([]workload, error) {
	files, err := filepath.Glob("../image/testdata/corpus/*/*/*.gz")
	if err != nil {
		return nil, err
	}
	more, err := filepath.Glob("../image/testdata/corpus/host/*.gz")
	if err != nil {
		return nil, err
	}
	kinds := []driver.CUjitInputType{driver.CU_JIT_INPUT_CUBIN, driver.CU_JIT_INPUT_FATBINARY,
		driver.CU_JIT_INPUT_OBJECT, driver.CU_JIT_INPUT_LIBRARY}
	for _, name := range append(files, more...) {
		list = append(list, workload{"image/" + filepath.Base(name), "", func() func(*driver.Table) {
			b := unzipped(name)
			return inContext(func(t *driver.Table, ctx driver.CUcontext) {
				var m driver.CUmodule
				t.ModuleLoadData(ctx, &m, unsafe.Pointer(&b[0]))
				for _, kind := range kinds {
					var s driver.CUlinkState
					var p unsafe.Pointer
					if t.LinkCreate_v2(ctx, 0, nil, nil, &s) != driver.CUDA_SUCCESS {
						return
					}
					t.LinkAddData_v2(ctx, s, kind, unsafe.Pointer(&b[0]), uint64(len(b)), cstr("input"), 0, nil, nil)
					t.LinkComplete(ctx, s, &p, nil)
					t.LinkDestroy(ctx, s)
				}
			})
		}})
	}
	return list, nil
}

func unzipped(name string) []byte {
	f, err := os.Open(name)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		panic(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return append(b, 0)
}

// generated are programs of package ptxgen, among them some that the checker refuses.
func generated(list []workload) ([]workload, error) {
	const programs, mutants = 120, 60
	for seed := range uint64(programs + mutants) {
		for _, e := range engines {
			name, make := "generated/", ptxgen.Generate
			if seed >= programs {
				name, make = "mutant/", ptxgen.Mutant
			}
			list = append(list, workload{fmt.Sprintf("%s%d/%s", name, seed, e), e, func() func(*driver.Table) {
				p := make(seed)
				return inContext(func(t *driver.Table, ctx driver.CUcontext) {
					(&answer.Runner{T: t, Ctx: ctx}).Run(p)
				})
			}})
		}
	}
	return list, nil
}

// inContext gives work a context of its own.
func inContext(f func(t *driver.Table, ctx driver.CUcontext)) func(t *driver.Table) {
	return func(t *driver.Table) {
		var ctx driver.CUcontext
		if t.CtxCreate_v2(0, &ctx, 0, 0) == driver.CUDA_SUCCESS {
			f(t, ctx)
			t.CtxDestroy_v2(0, ctx)
		}
	}
}

// buffer takes what the device tells, from any goroutine.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// trial is a workload with a statement that panics.
type trial struct {
	place, after int
	at           string // where the report has to say that it was
	failures     []string
}

const notReached = "the statement was not reached"

func (r *trial) fail(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// try runs a workload while the place panics, in a process in which another context works, and looks afterwards whether
// everything else is well.
func try(w workload, place, after int, at string) *trial {
	r := &trial{place: place, after: after, at: at}
	run := w.ready()
	runtime.LockOSThread() // whose stack of contexts is used
	defer runtime.UnlockOSThread()
	goroutines := runtime.NumGoroutine()
	var told buffer
	d, err := softdev.New(softdev.Options{Profiles: []string{"h200", "h200"}, Stdout: io.Discard, Stderr: &told,
		EngineName: w.engine, Recover: true})
	if err != nil {
		r.fail("%v", err)
		return r
	}
	t := d.Table()
	var c checkup
	if !beforeInit[strings.TrimPrefix(w.name, "api/")] {
		c.open(r, d)
	}
	plant.Arm(place, after)
	run(t)
	fired := plant.Disarm()
	if c.d == nil {
		c.open(r, d)
	}
	// The workload's work has ended when its contexts are gone; a stream may still meet the place meanwhile.
	c.work(r, "beside what is broken")
	text := told.String()
	switch {
	case !fired:
		r.failures = []string{notReached}
	case !strings.Contains(text, "planted at "+at):
		// as an internal error, or as a callback's where the statement is what calls that
		r.fail("nobody tells of the panic at %s: %q", at, text)
	}
	c.reset(r)
	c.work(r, "after a reset")
	if err := d.Close(); err != nil {
		r.fail("close: %v", err)
	}
	for i := 0; runtime.NumGoroutine() > goroutines; i++ {
		if i == 400 {
			var s [1 << 16]byte
			r.fail("%d goroutines are left over\n%s", runtime.NumGoroutine()-goroutines, s[:runtime.Stack(s[:], true)])
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return r
}

// beforeInit are the API cases that begin before cuInit.
var beforeInit = func() map[string]bool {
	m := map[string]bool{}
	for _, c := range api.One.Cases() {
		m[c.Name] = c.Start == api.NoInit
	}
	return m
}()

// checkup is a context that has to work whatever happens in others.
type checkup struct {
	d   *softdev.Driver
	t   *driver.Table
	ctx driver.CUcontext
	f   driver.CUfunction
	n   int
}

const checkupPTX = `
.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 k)
{
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	.shared .align 4 .b32 s[64];
	ld.param.u64 %rd1, [p];
	ld.param.u32 %r1, [k];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	ld.global.u32 %r6, [%rd3];
	shl.b32 %r3, %r2, 2;
	mov.u32 %r4, s;
	add.u32 %r4, %r4, %r3;
	st.shared.u32 [%r4], %r6;
	bar.sync 0;
	ld.shared.u32 %r7, [%r4];
	add.s32 %r7, %r7, %r1;
	st.global.u32 [%rd3], %r7;
	ret;
}
`

func (c *checkup) open(r *trial, d *softdev.Driver) {
	c.d, c.t = d, d.Table()
	c.must(r, "cuInit", c.t.Init(0, 0))
	var was driver.CUcontext
	c.must(r, "cuCtxCreate", c.t.CtxCreate_v2(0, &c.ctx, 0, 0))
	c.must(r, "cuCtxPopCurrent", c.t.CtxPopCurrent_v2(0, &was))
	c.load(r)
}

func (c *checkup) must(r *trial, what string, code driver.CUresult) bool {
	if code != driver.CUDA_SUCCESS {
		r.fail("%s: %v: %s", what, code, c.d.LastDetail(c.ctx))
	}
	return code == driver.CUDA_SUCCESS
}

func cstr(s string) *byte { return unsafe.StringData(s + "\x00") }

// load loads a text that no module had before.
func (c *checkup) load(r *trial) {
	c.n++
	var m driver.CUmodule
	if c.must(r, "cuModuleLoadData", c.t.ModuleLoadData(c.ctx, &m,
		unsafe.Pointer(cstr(fmt.Sprintf("%s// %d\n", checkupPTX, c.n))))) {
		c.must(r, "cuModuleGetFunction", c.t.ModuleGetFunction(c.ctx, &c.f, m, cstr("add")))
	}
}

// work uses what all contexts share.
func (c *checkup) work(r *trial, when string) {
	before := len(r.failures)
	t, ctx := c.t, c.ctx
	mode := driver.CU_STREAM_CAPTURE_MODE_RELAXED // a capture that the panic has kept from ending forbids nothing here
	c.must(r, "cuThreadExchangeStreamCaptureMode", t.ThreadExchangeStreamCaptureMode(0, &mode))
	var p, q, va, managed driver.CUdeviceptr
	var s driver.CUstream
	var e driver.CUevent
	c.launch(r)
	c.load(r)
	c.launch(r)
	if c.must(r, "cuStreamCreate", t.StreamCreate(ctx, &s, 0)) &&
		c.must(r, "cuEventCreate", t.EventCreate(ctx, &e, 0)) {
		c.must(r, "cuMemAllocAsync", t.MemAllocAsync(ctx, &p, 1<<20, s))
		c.must(r, "cuMemsetD8Async", t.MemsetD8Async(ctx, p, 1, 1<<20, s))
		c.must(r, "cuEventRecord", t.EventRecord(ctx, e, s))
		c.must(r, "cuMemFreeAsync", t.MemFreeAsync(ctx, p, s))
		c.must(r, "cuEventSynchronize", t.EventSynchronize(ctx, e))
		c.must(r, "cuStreamSynchronize", t.StreamSynchronize(ctx, s))
		c.graph(r, s)
		c.must(r, "cuEventDestroy", t.EventDestroy_v2(ctx, e))
		c.must(r, "cuStreamDestroy", t.StreamDestroy_v2(ctx, s))
	}
	if c.must(r, "cuMemAllocManaged", t.MemAllocManaged(ctx, &managed, 4096, uint32(driver.CU_MEM_ATTACH_GLOBAL))) {
		c.must(r, "cuMemFree", t.MemFree_v2(ctx, managed))
	}
	if c.must(r, "cuMemAlloc", t.MemAlloc_v2(ctx, &q, 32<<20)) {
		c.must(r, "cuMemsetD32", t.MemsetD32_v2(ctx, q, 7, 1024))
		c.must(r, "cuMemFree", t.MemFree_v2(ctx, q))
	}
	var host unsafe.Pointer
	if c.must(r, "cuMemHostAlloc", t.MemHostAlloc(ctx, &host, 4096, 0)) {
		c.must(r, "cuMemFreeHost", t.MemFreeHost(ctx, host))
	}
	const granule = 2 << 20
	if c.must(r, "cuMemAddressReserve", t.MemAddressReserve(ctx, &va, granule, 0, 0, 0)) {
		var h driver.CUmemGenericAllocationHandle
		prop := driver.CUmemAllocationProp{Type: driver.CU_MEM_ALLOCATION_TYPE_PINNED,
			Location: driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE}}
		if c.must(r, "cuMemCreate", t.MemCreate(ctx, &h, granule, &prop, 0)) {
			c.must(r, "cuMemMap", t.MemMap(ctx, va, granule, 0, h, 0))
			c.must(r, "cuMemUnmap", t.MemUnmap(ctx, va, granule))
			c.must(r, "cuMemRelease", t.MemRelease(ctx, h))
		}
		c.must(r, "cuMemAddressFree", t.MemAddressFree(ctx, va, granule))
	}
	var l driver.CUlibrary
	if c.must(r, "cuLibraryLoadData", t.LibraryLoadData(ctx, &l, unsafe.Pointer(cstr(checkupPTX)), nil, nil, 0, nil,
		nil, 0)) {
		c.must(r, "cuLibraryUnload", t.LibraryUnload(ctx, l))
	}
	var other, was driver.CUcontext
	if c.must(r, "cuCtxCreate", t.CtxCreate_v2(0, &other, 0, 1)) {
		c.must(r, "cuCtxSynchronize", t.CtxSynchronize(other))
		c.must(r, "cuCtxDestroy", t.CtxDestroy_v2(0, other))
		_ = t.CtxPopCurrent_v2(0, &was) // a call that panicked may have left it
	}
	c.must(r, "cuCtxSynchronize", t.CtxSynchronize(ctx))
	for i := range r.failures[before:] {
		r.failures[before+i] = when + ": " + r.failures[before+i]
	}
}

func (c *checkup) launch(r *trial) {
	t, ctx := c.t, c.ctx
	var p driver.CUdeviceptr
	if !c.must(r, "cuMemAlloc", t.MemAlloc_v2(ctx, &p, 256)) {
		return
	}
	v := make([]uint32, 64)
	for i := range v {
		v[i] = uint32(i)
	}
	k := uint32(1000)
	params := []unsafe.Pointer{unsafe.Pointer(&p), unsafe.Pointer(&k)}
	c.must(r, "cuMemcpyHtoD", t.MemcpyHtoD_v2(ctx, p, unsafe.Pointer(&v[0]), 256))
	c.must(r, "cuLaunchKernel", t.LaunchKernel(ctx, c.f, 1, 1, 1, 64, 1, 1, 0, 0, &params[0], nil))
	c.must(r, "cuMemcpyDtoH", t.MemcpyDtoH_v2(ctx, unsafe.Pointer(&v[0]), p, 256))
	if i := slices.IndexFunc(v, func(x uint32) bool { return x < 1000 }); i >= 0 || v[63] != 1063 {
		r.fail("the kernel gives %v", v)
	}
	c.must(r, "cuMemFree", t.MemFree_v2(ctx, p))
}

// graph launches a graph with two nodes.
func (c *checkup) graph(r *trial, s driver.CUstream) {
	t, ctx := c.t, c.ctx
	var g driver.CUgraph
	var x driver.CUgraphExec
	var a, b driver.CUgraphNode
	if !c.must(r, "cuGraphCreate", t.GraphCreate(ctx, &g, 0)) {
		return
	}
	c.must(r, "cuGraphAddEmptyNode", t.GraphAddEmptyNode(ctx, &a, g, nil, 0))
	c.must(r, "cuGraphAddEmptyNode", t.GraphAddEmptyNode(ctx, &b, g, &a, 1))
	if c.must(r, "cuGraphInstantiate", t.GraphInstantiateWithFlags(ctx, &x, g, 0)) {
		c.must(r, "cuGraphLaunch", t.GraphLaunch(ctx, x, s))
		c.must(r, "cuStreamSynchronize", t.StreamSynchronize(ctx, s))
		c.must(r, "cuGraphExecDestroy", t.GraphExecDestroy(ctx, x))
	}
	c.must(r, "cuGraphDestroy", t.GraphDestroy(ctx, g))
}

// reset gives up what the workload has left.
func (c *checkup) reset(r *trial) {
	for i := range 64 { // the stack of contexts
		var was driver.CUcontext
		if c.t.CtxPopCurrent_v2(0, &was) != driver.CUDA_SUCCESS {
			break
		}
		if was != c.ctx && i < 63 {
			c.t.CtxDestroy_v2(0, was) // a primary context refuses
		}
	}
	for dev := range driver.CUdevice(2) {
		c.must(r, "cuDevicePrimaryCtxReset", c.t.DevicePrimaryCtxReset_v2(0, dev))
	}
}
