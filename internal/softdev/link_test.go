package softdev

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/corpus"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/skip"
)

const linkHead = ".version 9.0\n.target sm_90\n.address_size 64\n"

const (
	linkCaller = linkHead + `.extern .func (.param .u32 r) f(.param .u32 a);
.visible .entry k(.param .u64 p) { .reg .u32 %r; .reg .u64 %a;
{ .param .u32 x; .param .u32 y; st.param.u32 [y], 7; call.uni (x), f, (y); ld.param.u32 %r, [x]; }
ld.param.u64 %a, [p]; st.global.u32 [%a], %r; ret; }
`
	linkCallee = linkHead + `.visible .func (.param .u32 r) f(.param .u32 a) { .reg .u32 %r; ld.param.u32 %r, [a]; add.u32 %r, %r, 1; st.param.u32 [r], %r; ret; }
`
)

// linkInput is an input of cuLinkAddData.
type linkInput struct {
	kind driver.CUjitInputType
	name string
	data []byte
}

func ptxInput(name, text string) linkInput {
	return linkInput{driver.CU_JIT_INPUT_PTX, name, append([]byte(text), 0)}
}

// linkAll links inputs and returns a copy of the image.
func linkAll(t testing.TB, d *Driver, ctx driver.CUcontext, inputs ...linkInput) []byte {
	t.Helper()
	tab := d.Table()
	var s driver.CUlinkState
	must(t, tab.LinkCreate_v2(ctx, 0, nil, nil, &s))
	for _, in := range inputs {
		if r := tab.LinkAddData_v2(ctx, s, in.kind, unsafe.Pointer(&in.data[0]), uint64(len(in.data)), cstr(in.name), 0,
			nil, nil); r != success {
			t.Fatalf("%s: %v: %s", in.name, r, d.LastDetail(ctx))
		}
	}
	var p unsafe.Pointer
	var n uint64
	if r := tab.LinkComplete(ctx, s, &p, &n); r != success {
		t.Fatalf("%v: %s", r, d.LastDetail(ctx))
	}
	image := bytes.Clone(unsafe.Slice((*byte)(p), n))
	must(t, tab.LinkDestroy(ctx, s))
	return image
}

// kernelWord launches kernel k(u64 p) with one thread and returns the word that it stores.
func kernelWord(t testing.TB, d *Driver, ctx driver.CUcontext, m driver.CUmodule) (v uint32) {
	t.Helper()
	tab := d.Table()
	p := alloc(t, tab, ctx, 4)
	if r := launch1(tab, ctx, fn(t, d, ctx, m, "k"), 0, unsafe.Pointer(&p)); r != success {
		t.Fatalf("%v: %s", r, d.LastDetail(ctx))
	}
	must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&v), p, 4))
	must(t, tab.MemFree_v2(ctx, p))
	return v
}

const linkedFileVariable = "GOCUDA_TEST_LINKED_IMAGE"

// TestLinkedImageFile saves a linked image, loads it with cuModuleLoad and cuLibraryLoadFromFile, and loads it in
// another process.
func TestLinkedImageFile(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	if name := os.Getenv(linkedFileVariable); name != "" {
		var m driver.CUmodule
		must(t, tab.ModuleLoad(ctx, &m, cstr(name)))
		if v := kernelWord(t, d, ctx, m); v != 8 {
			t.Errorf("%d, want 8", v)
		}
		return
	}
	image := linkAll(t, d, ctx, ptxInput("a", linkCaller), ptxInput("b", linkCallee))
	name := filepath.Join(t.TempDir(), "linked.cubin")
	if err := os.WriteFile(name, image, 0o600); err != nil {
		t.Fatal(err)
	}
	var l driver.CUlibrary
	must(t, tab.LibraryLoadFromFile(ctx, &l, cstr(name), nil, nil, 0, nil, nil, 0))
	var m driver.CUmodule
	must(t, tab.LibraryGetModule(ctx, &m, l))
	if v := kernelWord(t, d, ctx, m); v != 8 { // recorded: link/modules/call
		t.Errorf("%d, want 8", v)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestLinkedImageFile$")
	cmd.Env = append(os.Environ(), linkedFileVariable+"="+name)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("in another process: %v\n%s", err, out)
	}
}

// TestLinkOptions: logs are written at every step and their capacity is that of cuLinkCreate.
func TestLinkOptions(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	log := make([]byte, 80)
	ids := []driver.CUjit_option{driver.CU_JIT_ERROR_LOG_BUFFER, driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
		driver.CU_JIT_WALL_TIME}
	values := []uintptr{address(t, &log[0]), uintptr(len(log)), 0}
	var s driver.CUlinkState
	must(t, tab.LinkCreate_v2(ctx, 3, &ids[0], &values[0], &s))
	words := []byte("words\x00")
	add := func() driver.CUresult {
		return tab.LinkAddData_v2(ctx, s, driver.CU_JIT_INPUT_PTX, unsafe.Pointer(&words[0]), uint64(len(words)),
			cstr("x"), 0, nil, nil)
	}
	want(t, "words", add(), driver.CUDA_ERROR_INVALID_IMAGE) // recorded: link/add/words
	const line = "error   : Binary format for key='0', ident='' is not recognized"
	if got := driver.String(&log[0]); got != line || values[1] != uintptr(len(line)) {
		t.Errorf("%q, %d bytes", got, values[1])
	}
	want(t, "words again", add(), driver.CUDA_ERROR_INVALID_IMAGE)
	// cut: the NUL counts
	if got := driver.String(&log[0]); got != (line + "\n" + line)[:len(log)-1] || values[1] != uintptr(len(log)) {
		t.Errorf("%q, %d bytes", got, values[1])
	}
	var p unsafe.Pointer
	must(t, tab.LinkComplete(ctx, s, &p, nil)) // what the compiler refuses does not spoil the link (recorded)
	if values[2] == 0 {
		t.Error("no wall time")
	}
	must(t, tab.LinkDestroy(ctx, s))
	want(t, "destroyed twice", tab.LinkDestroy(ctx, s), badHandle)
	want(t, "completed after its end", tab.LinkComplete(ctx, s, &p, nil), badHandle)
}

// recordedLink is an entry of "link" in a manifest of the recorded corpus: what the driver's linker (release 580, H200)
// made of some inputs.
type recordedLink struct {
	Name   string
	Inputs []struct {
		Type string
		File *string
		Text *string
	}
	Stage, Result, Info, Error string
	Runs                       json.RawMessage
}

var linkKinds = map[string]driver.CUjitInputType{"cubin": driver.CU_JIT_INPUT_CUBIN, "ptx": driver.CU_JIT_INPUT_PTX,
	"fatbin": driver.CU_JIT_INPUT_FATBINARY,
	"object": driver.CU_JIT_INPUT_OBJECT, "library": driver.CU_JIT_INPUT_LIBRARY, "nvvm": driver.CU_JIT_INPUT_NVVM}

// withoutPTX are the recorded links with an input that holds nothing but machine code.
var withoutPTX = map[string]bool{"cubin": true, "mixed": true, "reversed cubin": true, "first unit only, cubin": true,
	"unit twice": true, "cubin given as ptx": true,
	"duplicate function": true}

// TestRecordedLinks repeats the recorded uses of cuLink and compares the call that fails, its result and the logs; what
// links is loaded, launched with the recorded inputs and compared with the recorded outputs.
func TestRecordedLinks(t *testing.T) {
	root := "../../../shared/corpus"
	if _, err := os.Stat(root); err != nil {
		root = "../../testdata/corpus"
		t.Log("the whole corpus is not beside the repository; links with files that are not kept are left out")
	}
	links, ran := 0, 0
	for _, module := range []string{"rdc_pair", "cdp", "n_gridsync"} {
		dir := filepath.Join(root, "modules", module)
		b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		var list struct{ Link []recordedLink }
		if err := json.Unmarshal(b, &list); err != nil {
			t.Fatal(err)
		}
		m, err := corpus.Open(os.DirFS(root)).Module(module)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Link {
			r := &list.Link[i]
			t.Run(module+"/"+r.Name, func(t *testing.T) {
				inputs := recordedInputs(t, dir, r)
				links++
				compareLink(t, r, inputs)
				if string(r.Runs) != `"ok"` || withoutPTX[r.Name] {
					return
				}
				d, tab, _ := open(t, Options{Stdout: io.Discard, Stderr: io.Discard})
				run := &corpus.Runner{T: tab, DeviceRuntime: true, Detail: d.LastDetail}
				for _, res := range run.Run(m, corpus.LinkBuild+r.Name) {
					switch res.Status {
					case corpus.Passed:
						ran++
					case corpus.NotApplicable:
					default:
						t.Errorf("launch %d of %s: %v: %s", res.Launch, res.Kernel, res.Status, res.Text)
					}
				}
			})
		}
	}
	t.Logf("%d links compared, %d launches of linked programs", links, ran)
	if links < 6 || ran < 7 {
		t.Errorf("only %d links compared, %d launches of linked programs", links, ran)
	}
}

func recordedInputs(t *testing.T, dir string, r *recordedLink) (inputs []linkInput) {
	t.Helper()
	for _, in := range r.Inputs {
		l := linkInput{kind: linkKinds[in.Type], name: "x"}
		switch {
		case in.Text != nil:
			l.data = []byte(*in.Text)
		case *in.File == corpus.DeviceRuntimeFile:
			l.name, l.data = *in.File, []byte("!<arch>\n") // NVIDIA's and not kept; the name makes it known
		default:
			z, err := os.ReadFile(filepath.Join(dir, *in.File+".gz"))
			if errors.Is(err, fs.ErrNotExist) {
				skip.Without(t, skip.Recordings, *in.File)
			}
			if err != nil {
				t.Fatal(err)
			}
			g, err := gzip.NewReader(bytes.NewReader(z))
			if err != nil {
				t.Fatal(err)
			}
			if l.data, err = io.ReadAll(g); err != nil {
				t.Fatal(err)
			}
			l.name = *in.File
		}
		// The recorder gave the file's name, the bare letter of the third unit, or x where the kind was wrong; the
		// record shows which.
		stem, _, _ := strings.Cut(l.name, ".")
		for _, alias := range []string{strings.TrimPrefix(stem, "rdc_"), stem, "x"} {
			if r.Stage == "add "+in.Type+" "+alias || strings.Contains(r.Info+r.Error, " in "+alias+";") ||
				strings.Contains(r.Error, "in '"+alias+"'") {
				l.name = alias
			}
		}
		if in.Type == "ptx" {
			l.data = append(l.data, 0)
		}
		inputs = append(inputs, l)
	}
	return inputs
}

func compareLink(t *testing.T, r *recordedLink, inputs []linkInput) {
	t.Helper()
	d, tab, ctx := open(t, Options{})
	info, log := make([]byte, 4096), make([]byte, 4096)
	ids := []driver.CUjit_option{driver.CU_JIT_INFO_LOG_BUFFER, driver.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
		driver.CU_JIT_ERROR_LOG_BUFFER, driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}
	values := []uintptr{address(t, &info[0]), uintptr(len(info)), address(t, &log[0]), uintptr(len(log))}
	var s driver.CUlinkState
	must(t, tab.LinkCreate_v2(ctx, 4, &ids[0], &values[0], &s))
	stage, result := "", driver.CUDA_SUCCESS
	for i, in := range inputs {
		if result = tab.LinkAddData_v2(ctx, s, in.kind, unsafe.Pointer(&in.data[0]), uint64(len(in.data)),
			cstr(in.name), 0, nil, nil); result != success {
			stage = "add " + r.Inputs[i].Type + " " + in.name
			break
		}
	}
	var p unsafe.Pointer
	var n uint64
	if stage == "" {
		stage = "complete"
		result = tab.LinkComplete(ctx, s, &p, &n)
	}
	if withoutPTX[r.Name] {
		if result != driver.CUDA_ERROR_NO_BINARY_FOR_GPU || !strings.Contains(driver.String(&log[0]), "machine code") {
			t.Errorf("%v at %s, log %q; machine code alone must be refused with an explanation", result, stage,
				driver.String(&log[0]))
		}
		return
	}
	want := r.Result
	if r.Name == "duplicate function, ptx" {
		// recorded as unknown, after a fatal message: afterFatal in internal/link's test
		want = "CUDA_ERROR_INVALID_SOURCE"
	}
	if stage != r.Stage || result.String() != want {
		t.Errorf("%v at %s, the driver gave %s at %s (%s)", result, stage, want, r.Stage, d.LastDetail(ctx))
	}
	if got := driver.String(&info[0]); got != r.Info {
		t.Errorf("info log %q, the driver's is %q", got, r.Info)
	}
	if got := driver.String(&log[0]); got != r.Error {
		t.Errorf("error log %q, the driver's is %q", got, r.Error)
	}
	if result == success {
		var m driver.CUmodule
		must(t, tab.ModuleLoadData(ctx, &m, p))
	}
	must(t, tab.LinkDestroy(ctx, s))
}

// nestedPTX launches kernels from a kernel (CUDA C++ Programming Guide, "Device-side Launch from PTX" and "The Tail
// Launch Stream"). note appends its argument to a list in global memory, which starts with its length.
const nestedPTX = linkHead + `
.extern .func (.param .b64 r) cudaGetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 p, .param .b64 s);
.visible .entry note(.param .u64 list, .param .u32 what) { .reg .u64 %l, %o; .reg .u32 %w, %n;
ld.param.u64 %l, [list]; ld.param.u32 %w, [what]; atom.global.add.u32 %n, [%l], 1;
mul.wide.u32 %o, %n, 4; add.u64 %o, %o, %l; st.global.u32 [%o+4], %w; ret; }
.func (.param .u32 code) start(.param .u64 kernel, .param .u64 list, .param .u32 what, .param .u32 blocks, .param .u64 stream) {
.reg .u64 %k, %l, %s, %p; .reg .u32 %w, %b, %c;
ld.param.u64 %k, [kernel]; ld.param.u64 %l, [list]; ld.param.u32 %w, [what]; ld.param.u32 %b, [blocks]; ld.param.u64 %s, [stream];
{ .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r;
st.param.b64 [f], %k; st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1; st.param.b32 [b], %b; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 0;
call.uni (r), cudaGetParameterBufferV2, (f, g, b, s); ld.param.b64 %p, [r]; }
st.u64 [%p], %l; st.u32 [%p+8], %w;
{ .param .b64 p; .param .b64 s; .param .b32 r; st.param.b64 [p], %p; st.param.b64 [s], %s; call.uni (r), cudaLaunchDeviceV2, (p, s); ld.param.b32 %c, [r]; }
st.param.u32 [code], %c; ret; }
.visible .entry middle(.param .u64 list, .param .u32 what) { .reg .u64 %l, %k; .reg .u32 %w;
ld.param.u64 %l, [list]; ld.param.u32 %w, [what]; mov.u64 %k, note;
{ .param .u64 a; .param .u64 b; .param .u32 c; .param .u32 d; .param .u64 e; .param .u32 r;
st.param.u64 [a], %k; st.param.u64 [b], %l; st.param.u32 [c], %w; st.param.u32 [d], 1; st.param.u64 [e], 3; call (r), start, (a, b, c, d, e); }
add.u32 %w, %w, 1;
{ .param .u64 a; .param .u64 b; .param .u32 c; .param .u32 d; .param .u64 e; .param .u32 r;
st.param.u64 [a], %k; st.param.u64 [b], %l; st.param.u32 [c], %w; st.param.u32 [d], 1; st.param.u64 [e], 0; call (r), start, (a, b, c, d, e); } ret; }
.visible .entry k(.param .u64 list) { .reg .u64 %l, %n, %m; .reg .u32 %c;
ld.param.u64 %l, [list]; mov.u64 %n, note; mov.u64 %m, middle;
{ .param .u64 a; .param .u64 b; .param .u32 c; .param .u32 d; .param .u64 e; .param .u32 r;
st.param.u64 [a], %n; st.param.u64 [b], %l; st.param.u32 [c], 100; st.param.u32 [d], 1; st.param.u64 [e], 3; call (r), start, (a, b, c, d, e); }
{ .param .u64 a; .param .u64 b; .param .u32 c; .param .u32 d; .param .u64 e; .param .u32 r;
st.param.u64 [a], %m; st.param.u64 [b], %l; st.param.u32 [c], 10; st.param.u32 [d], 1; st.param.u64 [e], 0; call (r), start, (a, b, c, d, e); }
{ .param .u64 a; .param .u64 b; .param .u32 c; .param .u32 d; .param .u64 e; .param .u32 r;
st.param.u64 [a], %n; st.param.u64 [b], %l; st.param.u32 [c], 1; st.param.u32 [d], 1; st.param.u64 [e], 0; call (r), start, (a, b, c, d, e); }
{ .param .u64 a; .param .u64 b; .param .u32 c; .param .u32 d; .param .u64 e; .param .u32 r;
st.param.u64 [a], %n; st.param.u64 [b], %l; st.param.u32 [c], 2; st.param.u32 [d], 2048; st.param.u64 [e], 0; call (r), start, (a, b, c, d, e); ld.param.u32 %c, [r]; }
st.global.u32 [%l+60], %c; ret; }
.visible .entry deep(.param .u64 list, .param .u32 level) { .reg .u64 %l, %k; .reg .u32 %c, %w;
ld.param.u64 %l, [list]; ld.param.u32 %w, [level]; add.u32 %w, %w, 1; mov.u64 %k, deep; st.global.u32 [%l], %w;
{ .param .u64 a; .param .u64 b; .param .u32 c; .param .u32 d; .param .u64 e; .param .u32 r;
st.param.u64 [a], %k; st.param.u64 [b], %l; st.param.u32 [c], %w; st.param.u32 [d], 1; st.param.u64 [e], 0; call (r), start, (a, b, c, d, e); ld.param.u32 %c, [r]; }
st.global.u32 [%l+4], %c; ret; }
`

// TestNestedLaunches: the order of children, tail launches, a launch that cannot be, and the greatest depth. Results
// are cudaError (driver_types.h).
func TestNestedLaunches(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	image := linkAll(t, d, ctx, ptxInput("nested", nestedPTX),
		linkInput{driver.CU_JIT_INPUT_LIBRARY, "lib/libcudadevrt.a", []byte("!<arch>\n")})
	var m driver.CUmodule
	must(t, tab.ModuleLoadData(ctx, &m, unsafe.Pointer(&image[0])))
	list := alloc(t, tab, ctx, 64)
	got := make([]uint32, 16)
	read := func() {
		t.Helper()
		if r := tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&got[0]), list, 64); r != success {
			t.Fatalf("%v: %s", r, d.LastDetail(ctx))
		}
		must(t, tab.MemsetD8_v2(ctx, list, 0, 64))
	}
	must(t, tab.MemsetD8_v2(ctx, list, 0, 64))
	check := func(how string) {
		t.Helper()
		read()
		// middle's own child and its tail launch come before the next child; the tail launch of k comes last; 9 is
		// cudaErrorInvalidConfiguration.
		if want := []uint32{4, 11, 10, 1, 100}; got[15] != 9 || !equalWords(got[:5], want) {
			t.Errorf("%s: %v, want %v and 9 at the end", how, got, want)
		}
	}
	must(t, launch1(tab, ctx, fn(t, d, ctx, m, "k"), 0, unsafe.Pointer(&list)))
	check("launched")
	// The same from a graph.
	var s driver.CUstream
	must(t, tab.StreamCreate(ctx, &s, uint32(driver.CU_STREAM_NON_BLOCKING)))
	must(t, tab.StreamBeginCapture_v2(ctx, s, driver.CU_STREAM_CAPTURE_MODE_RELAXED))
	must(t, launch1(tab, ctx, fn(t, d, ctx, m, "k"), s, unsafe.Pointer(&list)))
	var g driver.CUgraph
	var x driver.CUgraphExec
	must(t, tab.StreamEndCapture(ctx, s, &g))
	must(t, tab.GraphInstantiateWithFlags(ctx, &x, g, 0))
	must(t, tab.GraphLaunch(ctx, x, s))
	must(t, tab.StreamSynchronize(ctx, s))
	check("in a graph")

	level := uint32(0)
	must(t, launch1(tab, ctx, fn(t, d, ctx, m, "deep"), 0, unsafe.Pointer(&list), unsafe.Pointer(&level)))
	read()
	if got[0] != maxNesting || got[1] != cudaErrorLaunchMaxDepthExceeded {
		t.Errorf("%d levels, then %d", got[0], got[1])
	}
	// As a module of its own the text has functions that nobody defines (recorded of module cdp:
	// CUDA_ERROR_INVALID_PTX).
	want(t, "without the library", tab.ModuleLoadData(ctx, &m, unsafe.Pointer(cstr(nestedPTX))),
		driver.CUDA_ERROR_INVALID_PTX)
}

// TestWithoutDeviceRuntime: the texts that were recorded linked with the device runtime library do not load alone
// (recorded: CUDA_ERROR_INVALID_PTX).
func TestWithoutDeviceRuntime(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	for _, c := range []struct{ file, function string }{
		{"cdp/cdp.compute_90.ptx", "__cudaCDP2GetParameterBufferV2"},
		{"n_gridsync/n_gridsync.compute_90.ptx", "cudaCGGetIntrinsicHandle"},
	} {
		text := unzipped(t, filepath.Join(keptCorpus, "modules", c.file))
		if text == nil {
			t.Fatal(c.file, " is not there")
		}
		var m driver.CUmodule
		want(t, c.file, tab.ModuleLoadData(ctx, &m, unsafe.Pointer(&append(text, 0)[0])), driver.CUDA_ERROR_INVALID_PTX)
		if got := d.LastDetail(ctx); got != "ptxas fatal   : Unresolved extern function '"+c.function+"'" {
			t.Errorf("%s: %q", c.file, got)
		}
	}
}

func equalWords(a, b []uint32) bool {
	for i := range b {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestLinkConcurrently links, loads and runs in many goroutines at once, half of them on OS threads of their own with a
// current context.
func TestLinkConcurrently(t *testing.T) {
	d, tab, primary := open(t, Options{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			ctx := primary
			if i%2 == 0 {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				must(t, tab.CtxSetCurrent(0, primary))
				defer tab.CtxSetCurrent(0, 0)
				ctx = 0
			}
			image := linkAll(t, d, ctx, ptxInput("a", linkCaller), ptxInput("b", linkCallee))
			var m driver.CUmodule
			if r := tab.ModuleLoadData(ctx, &m, unsafe.Pointer(&image[0])); r != success {
				t.Error(r)
				return
			}
			if v := kernelWord(t, d, ctx, m); v != 8 {
				t.Errorf("%d, want 8", v)
			}
			if r := tab.ModuleUnload(ctx, m); r != success {
				t.Error(r)
			}
		}()
	}
	wg.Wait()
}
