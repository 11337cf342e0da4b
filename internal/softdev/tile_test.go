package softdev

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/sm"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/setfile"
	"github.com/gocuda/cuda/internal/tileir"
	"github.com/gocuda/cuda/internal/tileir/tiletest"
	"github.com/gocuda/cuda/internal/tileset"
)

// readTiles reads recorded Tile IR: modules, and what their kernels wrote on an H200 (a part of ../shared/tileir).
func readTiles(t testing.TB) *tileset.Set {
	t.Helper()
	set, err := tileset.Open(os.DirFS("../tileir/lower/testdata"), os.DirFS("../tileir/testdata"))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// tileCode gives the bytecode of a module.
func tileCode(t testing.TB, s *tileset.Set, name string) []byte {
	t.Helper()
	b, err := s.Code(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tileBox puts bytecode into a container beside other entries.
func tileBox(t testing.TB, code []byte, how fatbin.Compression, beside ...fatbin.Source) []byte {
	t.Helper()
	arch, _ := sm.Parse("sm_90")
	var w fatbin.Writer
	tile := fatbin.Source{Kind: fatbin.TileIR, Arch: arch, Major: 13, Minor: uint16(code[9]), Data: code,
		Compression: how}
	for _, s := range append(beside, tile) {
		if err := w.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	return w.Bytes()
}

// tileLoad is where a module is loaded.
type tileLoad struct {
	t   testing.TB
	tab *driver.Table
	ctx driver.CUcontext
	m   driver.CUmodule
}

// tileLoads are the ways in which Tile IR comes to the device.
var tileLoads = []struct {
	name string
	load func(l *tileLoad, code []byte) driver.CUresult
}{
	{"cuModuleLoadData", (*tileLoad).data},
	{"cuModuleLoadDataEx", func(l *tileLoad, code []byte) driver.CUresult { // with more behind it
		p := unsafe.Pointer(&slices.Concat(code, []byte("more"))[0])
		return l.tab.ModuleLoadDataEx(l.ctx, &l.m, p, 0, nil, nil)
	}},
	{"cuModuleLoad", (*tileLoad).file},
	{"cuLibraryLoadData", func(l *tileLoad, code []byte) driver.CUresult {
		var h driver.CUlibrary
		r := l.tab.LibraryLoadData(l.ctx, &h, unsafe.Pointer(&code[0]), nil, nil, 0, nil, nil, 0)
		if r == success {
			r = l.tab.LibraryGetModule(l.ctx, &l.m, h)
		}
		return r
	}},
	{"cuLibraryLoadFromFile", func(l *tileLoad, code []byte) driver.CUresult {
		var h driver.CUlibrary
		r := l.tab.LibraryLoadFromFile(l.ctx, &h, cstr(tileFile(l.t, code)), nil, nil, 0, nil, nil, 0)
		if r == success {
			r = l.tab.LibraryGetModule(l.ctx, &l.m, h)
		}
		return r
	}},
	{"container", func(l *tileLoad, code []byte) driver.CUresult { return l.data(tileBox(l.t, code, fatbin.Stored)) }},
	{"container, LZ4", func(l *tileLoad, code []byte) driver.CUresult {
		return l.data(tileBox(l.t, code, fatbin.LZ4))
	}},
	{"container, zstd", func(l *tileLoad, code []byte) driver.CUresult {
		return l.file(tileBox(l.t, code, fatbin.Zstd))
	}},
}

func (l *tileLoad) data(b []byte) driver.CUresult {
	return l.tab.ModuleLoadData(l.ctx, &l.m, unsafe.Pointer(&b[0]))
}

func (l *tileLoad) file(b []byte) driver.CUresult {
	return l.tab.ModuleLoad(l.ctx, &l.m, cstr(tileFile(l.t, b)))
}

func tileFile(t testing.TB, b []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestTileRecorded loads recorded modules in every way and runs their kernels: parameters, globals, output, results
// as on the H200.
func TestTileRecorded(t *testing.T) {
	set := readTiles(t)
	var stdout bytes.Buffer
	d, tab, ctx := open(t, Options{Stdout: &stdout})
	done := map[tileir.Opcode]bool{}
	for i := range set.Cases {
		c := &set.Cases[i]
		if testing.Short() && i%5 != 0 && c.Expect.Stdout == "" && len(c.Expect.Globals) == 0 {
			continue
		}
		d, tab, ctx := d, tab, ctx
		if c.Expect.Sync != "CUDA_SUCCESS" {
			d, tab, ctx = open(t, Options{Stdout: &stdout, Stderr: io.Discard}) // the context will be lost
		}
		way := &tileLoads[i%len(tileLoads)]
		l := &tileLoad{t: t, tab: tab, ctx: ctx}
		run := tileset.Runner{T: tab, Ctx: ctx, Detail: d.LastDetail,
			Printed: func() string { defer stdout.Reset(); return stdout.String() },
			Load: func(code []byte) (driver.CUmodule, driver.CUresult) {
				r := way.load(l, code)
				return l.m, r
			}}
		if res := run.Run(set, c); res.Status != tileset.Passed || res.Broken != (c.Expect.Sync != "CUDA_SUCCESS") {
			t.Errorf("%s: %s: %s", c.Name, way.name, res.Text)
			continue
		}
		tileOperations(t, tileCode(t, set, c.Module), done)
	}
	if testing.Short() {
		return
	}
	// Operations all of whose recorded cases have much data are loaded, and run in package lower's test.
	// docs/tileir.md says that all are done.
	for _, x := range set.Modules {
		code, has := tileCode(t, set, x.Name), map[tileir.Opcode]bool{}
		tileOperations(t, code, has)
		fresh, refused := false, false
		for c := range has {
			fresh = fresh || !done[c]
			refused = refused || c.Info().NotSM90 != ""
		}
		if !fresh {
			continue
		}
		var m driver.CUmodule
		switch r := tab.ModuleLoadData(ctx, &m, unsafe.Pointer(&code[0])); {
		case refused:
			want(t, x.Name, r, notSupported)
		default:
			want(t, x.Name, r, success)
			maps.Copy(done, has)
		}
	}
	for c := range tileir.Opcode(0x80) {
		if o := c.Info(); o != nil && o.NotSM90 == "" && !done[c] {
			t.Errorf("no module with %s ran", o.Name)
		}
	}
}

// tileOperations notes which operations a module has.
func tileOperations(t testing.TB, code []byte, done map[tileir.Opcode]bool) {
	t.Helper()
	m, err := tileir.Parse(code)
	if err != nil {
		t.Fatal(err)
	}
	var visit func(b *tileir.Block)
	visit = func(b *tileir.Block) {
		for _, o := range b.Ops {
			done[o.Code] = true
			for _, r := range o.Regions {
				for _, b := range r.Blocks {
					visit(b)
				}
			}
		}
	}
	for _, f := range m.Funcs {
		b, err := f.Body()
		if err != nil {
			t.Fatal(err)
		}
		visit(b)
	}
}

// TestTileRules compares what the driver says of a tile kernel, and which launches it takes, with what an H200 said
// (../shared/tileir, index.json, api).
func TestTileRules(t *testing.T) {
	set := readTiles(t)
	i := slices.IndexFunc(set.Cases, func(c tileset.Case) bool { return strings.HasPrefix(c.Name, "arith.addf.") })
	c := &set.Cases[i]
	code := tileCode(t, set, c.Module)
	d, tab, ctx := open(t, Options{})
	var m driver.CUmodule
	must(t, tab.ModuleLoadData(ctx, &m, unsafe.Pointer(&code[0])))
	f := fn(t, d, ctx, m, c.Entry)
	for attr, v := range map[driver.CUfunction_attribute]int32{
		driver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: 1024, driver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: 0,
		driver.CU_FUNC_ATTRIBUTE_NUM_REGS: 11, driver.CU_FUNC_ATTRIBUTE_PTX_VERSION: 90,
		driver.CU_FUNC_ATTRIBUTE_BINARY_VERSION: 90, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: 49152,
	} {
		var got int32
		must(t, tab.FuncGetAttribute(ctx, &got, attr, f))
		if got != v {
			t.Errorf("%v is %d, recorded %d", attr, got, v)
		}
	}
	for threads, n := range map[int32]int32{128: 12, 1: 32} {
		var got int32
		must(t, tab.OccupancyMaxActiveBlocksPerMultiprocessor(ctx, &got, f, threads, 0))
		if got != n {
			t.Errorf("%d blocks of %d threads, recorded %d", got, threads, n)
		}
	}
	var grid, block int32
	must(t, tab.OccupancyMaxPotentialBlockSize(ctx, &grid, &block, f, driver.CUoccupancyB2DSize{}, 0, 0))
	if grid != 264 || block != 768 {
		t.Errorf("%d blocks of %d threads, recorded 264 of 768", grid, block)
	}
	var p driver.CUdeviceptr
	must(t, tab.MemAlloc_v2(ctx, &p, 1<<16))
	list := [3]unsafe.Pointer{unsafe.Pointer(&p), unsafe.Pointer(&p), unsafe.Pointer(&p)}
	launch := func(b [3]uint32, shared uint32) driver.CUresult {
		return tab.LaunchKernel(ctx, f, 1, 1, 1, b[0], b[1], b[2], shared, 0, &list[0], nil)
	}
	for b, r := range map[[3]uint32]driver.CUresult{
		{1, 1, 1}: success, {128, 1, 1}: success, {64, 1, 1}: invalidValue, {32, 1, 1}: invalidValue,
		{256, 1, 1}: invalidValue, {2, 1, 1}: invalidValue, {1, 2, 1}: invalidValue, {1, 1, 2}: invalidValue,
		{128, 2, 1}: invalidValue, {0, 1, 1}: invalidValue,
	} {
		want(t, "launch", launch(b, 0), r)
	}
	for n, r := range map[uint32]driver.CUresult{
		16: success, 1024: success, 49152: success, 50176: invalidValue, 233472: invalidValue,
	} {
		want(t, "launch with dynamic shared memory", launch([3]uint32{1, 1, 1}, n), r)
	}
	must(t, tab.LaunchCooperativeKernel(ctx, f, 1, 1, 1, 1, 1, 1, 0, 0, &list[0]))
	must(t, tab.LaunchCooperativeKernel(ctx, f, 1, 1, 1, 128, 1, 1, 0, 0, &list[0]))
	must(t, tab.FuncSetAttribute(ctx, f, driver.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50))
	must(t, tab.FuncSetCacheConfig(ctx, f, driver.CU_FUNC_CACHE_PREFER_L1))
	must(t, tab.FuncSetAttribute(ctx, f, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024))
	want(t, "more than was set", launch([3]uint32{1, 1, 1}, 1025), invalidValue)
	must(t, tab.CtxSynchronize(ctx))
	// As a node of a graph, with either block; with another when the graph is instantiated or the node made.
	for b, r := range map[[3]uint32]driver.CUresult{{1, 1, 1}: success, {128, 1, 1}: success,
		{64, 1, 1}: invalidValue} {
		var g driver.CUgraph
		var n driver.CUgraphNode
		var x driver.CUgraphExec
		must(t, tab.GraphCreate(ctx, &g, 0))
		q := driver.CUDA_KERNEL_NODE_PARAMS{Func: f, GridDimX: 2, GridDimY: 1, GridDimZ: 1, KernelParams: &list[0]}
		q.BlockDimX, q.BlockDimY, q.BlockDimZ = b[0], b[1], b[2]
		got := tab.GraphAddKernelNode_v2(ctx, &n, g, nil, 0, &q)
		if got == success {
			got = tab.GraphInstantiateWithFlags(ctx, &x, g, 0)
		}
		if got == success {
			must(t, tab.GraphLaunch(ctx, x, 0))
			must(t, tab.CtxSynchronize(ctx))
			must(t, tab.GraphExecDestroy(ctx, x))
		}
		want(t, "graph", got, r)
		must(t, tab.GraphDestroy(ctx, g))
	}
}

// TestTileChoice: machine code wins over PTX and PTX over Tile IR (measured on a driver that knows all three, package
// fatbin); what the device cannot run is passed over.
func TestTileChoice(t *testing.T) {
	set := readTiles(t)
	c := &set.Cases[0]
	code := tileCode(t, set, c.Module)
	arch, _ := sm.Parse("sm_90")
	d, tab, ctx := open(t, Options{})
	text := fatbin.Source{Kind: fatbin.PTX, Arch: arch, Major: 8, Data: []byte(modulePTX + "\x00")}
	for _, x := range []struct {
		box    []byte
		kernel string
	}{{tileBox(t, code, fatbin.Zstd), c.Entry}, {tileBox(t, code, fatbin.Zstd, text), "nop"}} {
		var m driver.CUmodule
		must(t, tab.ModuleLoadData(ctx, &m, unsafe.Pointer(&x.box[0])))
		fn(t, d, ctx, m, x.kernel)
	}
}

// TestTileErrors loads damaged and ill-typed modules: no load succeeds that NVIDIA's reader refuses, and the log has
// its words.
func TestTileErrors(t *testing.T) {
	var set struct {
		Modules []struct {
			Reader, Error string
			Code          [2]int
		}
	}
	recorded := os.DirFS("../tileir/testdata")
	index, err := setfile.Read("bad.json", recorded)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(index, &set); err != nil {
		t.Fatal(err)
	}
	all, err := setfile.Read("bad.bin", recorded)
	if err != nil {
		t.Fatal(err)
	}
	d, tab, ctx := open(t, Options{})
	results := map[driver.CUresult]int{}
	same := 0
	for i, b := range set.Modules {
		if testing.Short() && i%5 != 0 {
			continue
		}
		code := slices.Concat(all[b.Code[0]:][:b.Code[1]], make([]byte, 4096))
		log := make([]byte, 4096)
		ids := []driver.CUjit_option{driver.CU_JIT_ERROR_LOG_BUFFER, driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}
		values := []uintptr{address(t, &log[0]), uintptr(len(log))}
		var m driver.CUmodule
		r := tab.ModuleLoadDataEx(ctx, &m, unsafe.Pointer(&code[0]), 2, &ids[0], &values[0])
		results[r]++
		// Behind a pointer there is always something: the module ends where its end marker is.
		open := strings.Contains(b.Error, "end section is not the last section") ||
			strings.Contains(b.Error, "unexpected end of data while reading section header")
		if b.Reader == "refused" && r == success && !open {
			t.Errorf("module %d is loaded; NVIDIA's reader: %s", i, b.Error)
		}
		if b.Reader == "refused" && strings.Contains(driver.String(&log[0]), strings.TrimPrefix(b.Error, "error: ")) {
			same++
		}
		switch r {
		case success, notSupported, driver.CUDA_ERROR_INVALID_IMAGE, driver.CUDA_ERROR_INVALID_SOURCE,
			driver.CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
		default:
			t.Errorf("module %d: %v: %s", i, r, d.LastDetail(ctx))
		}
	}
	t.Logf("%v; %d logs have the reader's words", results, same)
	if same == 0 {
		t.Error("no log has the words of NVIDIA's reader")
	}
}

// TestTileCache: a module that is loaded already is not compiled again.
func TestTileCache(t *testing.T) {
	set := readTiles(t)
	code := tileCode(t, set, set.Cases[0].Module)
	d, tab, ctx := open(t, Options{})
	var m [2]driver.CUmodule
	for i := range m {
		must(t, tab.ModuleLoadData(ctx, &m[i], unsafe.Pointer(&code[0])))
	}
	if a, b := d.modules.get(uintptr(m[0])), d.modules.get(uintptr(m[1])); a.prog != b.prog {
		t.Error("the module was compiled twice")
	}
}

// TestTileStop: a load that nobody waits for any more ends within a second, inside the lowering too.
func TestTileStop(t *testing.T) {
	code := tiletest.Hostile["stores of one tile"](30000)
	for _, after := range []time.Duration{0, 20 * time.Millisecond, 300 * time.Millisecond, 800 * time.Millisecond} {
		var o jitOptions
		o.stop = new(atomic.Bool)
		time.AfterFunc(after, func() { o.stop.Store(true) })
		start := time.Now()
		_, _, err := tileProgram(code, &o)
		if took := time.Since(start) - after; took > time.Second {
			t.Errorf("stopped after %v, it takes %v more", after, took)
		}
		if err != nil && !errors.Is(err.err, ptx.ErrStopped) {
			t.Errorf("stopped after %v: %v", after, err.err)
		}
		t.Logf("%v: %v", after, err)
	}
}

// TestTileGraphUpdate: the kernel of a node of an instantiated graph takes what a launch takes, on every way of
// changing it; launches with clusters run too, and many at once.
func TestTileGraphUpdate(t *testing.T) {
	code := tileCounter()
	d, tab, ctx := open(t, Options{})
	var m driver.CUmodule
	must(t, tab.ModuleLoadData(ctx, &m, unsafe.Pointer(&code[0])))
	f := fn(t, d, ctx, m, "k")
	var p [2]driver.CUdeviceptr
	for i := range p {
		must(t, tab.MemAlloc_v2(ctx, &p[i], 4))
		must(t, tab.MemsetD32_v2(ctx, p[i], 0, 1))
	}
	params := func(to *driver.CUdeviceptr, grid, block uint32) *driver.CUDA_KERNEL_NODE_PARAMS {
		return &driver.CUDA_KERNEL_NODE_PARAMS{Func: f, GridDimX: grid, GridDimY: 1, GridDimZ: 1,
			BlockDimX: block, BlockDimY: 1, BlockDimZ: 1, KernelParams: args(unsafe.Pointer(to))}
	}
	make1 := func(q *driver.CUDA_KERNEL_NODE_PARAMS) (g driver.CUgraph, n driver.CUgraphNode) {
		must(t, tab.GraphCreate(ctx, &g, 0))
		must(t, tab.GraphAddKernelNode_v2(ctx, &n, g, nil, 0, q))
		return g, n
	}
	g, n := make1(params(&p[0], 3, 1))
	var x driver.CUgraphExec
	must(t, tab.GraphInstantiateWithFlags(ctx, &x, g, 0))
	run := func(a, b uint32) {
		t.Helper()
		must(t, tab.GraphLaunch(ctx, x, 0))
		must(t, tab.CtxSynchronize(ctx))
		if u, v := read32(t, tab, ctx, p[0]), read32(t, tab, ctx, p[1]); u != a || v != b {
			t.Errorf("%d and %d blocks, want %d and %d", u, v, a, b)
		}
	}
	run(3, 0)
	must(t, tab.GraphExecKernelNodeSetParams_v2(ctx, x, n, params(&p[1], 5, 128)))
	run(3, 5)
	for _, block := range []uint32{0, 2, 32, 64, 256} {
		r := tab.GraphExecKernelNodeSetParams_v2(ctx, x, n, params(&p[1], 5, block))
		want(t, "block of another size", r, invalidValue)
	}
	run(3, 10)
	other, _ := make1(params(&p[0], 7, 1))
	var info driver.CUgraphExecUpdateResultInfo
	must(t, tab.GraphExecUpdate_v2(ctx, x, other, &info))
	run(10, 10)
	a := driver.CUlaunchAttribute{Id: driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION}
	copy(unsafe.Slice((*uint32)(unsafe.Pointer(&a.Value)), 3), []uint32{2, 1, 1})
	c := driver.CUlaunchConfig{GridDimX: 8, GridDimY: 1, GridDimZ: 1, BlockDimX: 1, BlockDimY: 1, BlockDimZ: 1}
	c.Attrs, c.NumAttrs = &a, 1
	must(t, tab.LaunchKernelEx(ctx, &c, f, args(unsafe.Pointer(&p[0])), nil))
	must(t, tab.CtxSynchronize(ctx))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				var m driver.CUmodule
				var f driver.CUfunction
				must(t, tab.ModuleLoadData(ctx, &m, unsafe.Pointer(&code[0])))
				must(t, tab.ModuleGetFunction(ctx, &f, m, cstr("k")))
				must(t, tab.LaunchKernel(ctx, f, 2, 1, 1, 128, 1, 1, 0, 0, args(unsafe.Pointer(&p[1])), nil))
				must(t, tab.ModuleUnload(ctx, m))
			}
		})
	}
	wg.Wait()
	must(t, tab.CtxSynchronize(ctx))
	if u, v := read32(t, tab, ctx, p[0]), read32(t, tab, ctx, p[1]); u != 18 || v != 10+8*20*2 {
		t.Errorf("%d and %d blocks, want 18 and %d", u, v, 10+8*20*2)
	}
}

// tileCounter is a kernel each of whose blocks adds one to a number in memory.
func tileCounter() []byte {
	b := tiletest.NewBuilder(func(b *tiletest.Builder) []tiletest.Type {
		return []tiletest.Type{b.Tile(b.Pointer(tileir.I32))}
	})
	i32 := b.Tile(b.Scalar(tileir.I32))
	value := &tileir.Extra{Count: b.Constant([]byte{1, 0, 0, 0})}
	one := b.Op(tileir.Op{Code: tileir.ConstantOp, Extra: value}, []tiletest.Type{i32}, nil)[0]
	b.Op(tileir.Op{Code: tileir.AtomicRMW, MemoryOrder: tileir.Relaxed, Scope: tileir.DeviceScope, RMW: tileir.RMWAdd},
		[]tiletest.Type{i32, b.Token()}, [][]tiletest.Value{{0}, {one}})
	b.Op(tileir.Op{Code: tileir.Return}, nil, [][]tiletest.Value{nil})
	return b.Bytes()
}

// TestTileBoxes loads containers with bytes of their headers, and of the compressed entry, changed: a result, not more.
func TestTileBoxes(t *testing.T) {
	code := tileCounter()
	_, tab, ctx := open(t, Options{})
	loaded := 0
	for _, how := range []fatbin.Compression{fatbin.Stored, fatbin.LZ4, fatbin.Zstd} {
		box := tileBox(t, code, how)
		for i := range box {
			for j, v := range []byte{0, 1, 0x7f, 0xff, box[i] + 1, box[i] ^ 0x80} {
				// A length of the container beyond 16 MiB leads far into the memory of this test.
				if testing.Short() && (i+j)%11 != 0 || i == 11 {
					continue
				}
				b := slices.Concat(box, make([]byte, 64))
				b[i] = v
				var m driver.CUmodule
				if tab.ModuleLoadData(ctx, &m, unsafe.Pointer(&b[0])) == success {
					loaded++
					must(t, tab.ModuleUnload(ctx, m))
				}
			}
		}
	}
	t.Logf("%d are modules", loaded)
	if loaded == 0 {
		t.Error("no container is loaded")
	}
}
