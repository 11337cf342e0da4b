package softdev

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec"
)

// The labelled kernels (cases and the truth about them) beside the repository, and those that are kept in it.
const (
	fullCases = "../../../shared/checker"
	keptCases = "testdata/checker"
)

// labelled is one kernel with its host script, as the manifest's README says.
type labelled struct {
	limit time.Duration // for a kernel without an end, 0 for the usual one

	ID, Class, Verdict string
	PTX                string
	Src                *string
	LineOf             string `json:"line_of"`
	Steps              []labelledStep
	Expect             []expectation
	MayHang            bool `json:"may_hang"`
}

type expectation struct {
	Tool, Kind, Tier string
	Pairs, Also      [][2]int
	Lines            []int
	PTXLines         map[string][]int `json:"ptx_lines"`
}

type labelledStep struct {
	Op, Name, Kind, Kernel, Dst, Src, How, Stream string
	Bytes, Offset, Prefix, Width, Height, Pitch   uint64
	DstOffset                                     uint64 `json:"dst_offset"`
	SrcOffset                                     uint64 `json:"src_offset"`
	Init                                          any
	Value, Shared, Which                          uint64
	MaxShared                                     int32 `json:"max_shared"`
	Grid, Block, Cluster                          []uint32
	Cooperative, PDL, Nonblocking                 bool
	KeepName                                      bool `json:"keep_name"`
	Ptrs                                          []string
	Args                                          []map[string]any
	Nodes                                         []struct {
		Name string
		Deps []string
		Do   labelledStep
	}
	Do *labelledStep
}

// labelledRun runs a script.
type labelledRun struct {
	d       *Driver
	tab     *driver.Table
	ctx     driver.CUcontext
	mod     driver.CUmodule
	bufs    map[string]*labelledBuffer
	streams map[string]driver.CUstream
	events  map[string]driver.CUevent
	keep    []any
	read    []byte
}

type labelledBuffer struct {
	kind string
	n    uint64
	ptr  driver.CUdeviceptr
}

type callError struct{ driver.CUresult }

func (r *labelledRun) call(code driver.CUresult) {
	if code != driver.CUDA_SUCCESS {
		panic(callError{code})
	}
}

func (r *labelledRun) stream(s string) driver.CUstream {
	switch s {
	case "":
		return 0
	case "legacy":
		return 1
	case "thread":
		return 2
	}
	return r.streams[s]
}

func (r *labelledRun) pattern(init any, n uint64) []byte {
	b := make([]byte, (n+3)&^3)
	word := func(f func(i int) uint32) []byte {
		for i := range len(b) / 4 {
			binary.LittleEndian.PutUint32(b[4*i:], f(i))
		}
		return b[:n]
	}
	if l, ok := init.([]any); ok {
		return word(func(i int) uint32 {
			if i < len(l) {
				return uint32(int64(l[i].(float64)))
			}
			return 0
		})
	}
	switch init {
	case "iota32":
		return word(func(i int) uint32 { return uint32(i) })
	case "mod16":
		return word(func(i int) uint32 { return uint32(i % 16) })
	case "ones32":
		return word(func(int) uint32 { return 1 })
	case "iotaf32":
		return word(func(i int) uint32 { return math.Float32bits(float32(i) / 2) })
	case "ff":
		return word(func(int) uint32 { return math.MaxUint32 })
	case "zero":
		return b[:n]
	case "bytes":
		for i := range b {
			b[i] = byte(i*7 + 3)
		}
		return b[:n]
	}
	panic(fmt.Sprintf("pattern %v", init))
}

func (r *labelledRun) write(name string, data []byte, off uint64) {
	b := r.bufs[name]
	if len(data) == 0 {
		return
	}
	switch b.kind {
	case "pageable", "host", "managed":
		copy(hostBytes(b.ptr+driver.CUdeviceptr(off), len(data)), data)
	default:
		r.call(r.tab.MemcpyHtoD_v2(r.ctx, b.ptr+driver.CUdeviceptr(off), unsafe.Pointer(&data[0]), uint64(len(data))))
	}
}

func hostBytes(p driver.CUdeviceptr, n int) []byte {
	return unsafe.Slice((*byte)(foreign(uint64(p))), n)
}

func (r *labelledRun) at(name string, off uint64) driver.CUdeviceptr {
	return r.bufs[name].ptr + driver.CUdeviceptr(off)
}

func (r *labelledRun) function(name string) (f driver.CUfunction) {
	r.call(r.tab.ModuleGetFunction(r.ctx, &f, r.mod, cstr(name)))
	return f
}

func (r *labelledRun) args(list []map[string]any) *unsafe.Pointer {
	ptrs := make([]unsafe.Pointer, len(list)+1)
	for i, a := range list {
		v := new(uint64)
		for k, x := range a {
			switch k {
			case "buf":
				off, _ := a["offset"].(float64)
				*v = uint64(r.at(x.(string), uint64(off)))
			case "hostbuf":
				m := make([]byte, int(x.(float64)))
				r.keep = append(r.keep, m)
				*v = uint64(uintptr(unsafe.Pointer(&m[0])))
			case "global":
				var p driver.CUdeviceptr
				var n uint64
				r.call(r.tab.ModuleGetGlobal_v2(r.ctx, &p, &n, r.mod, cstr(x.(string))))
				*v = uint64(p)
			case "i32":
				*v = uint64(uint32(int64(x.(float64))))
			case "u64":
				*v = uint64(x.(float64))
			case "f32":
				*v = uint64(math.Float32bits(float32(x.(float64))))
			}
		}
		ptrs[i] = unsafe.Pointer(v)
	}
	return &ptrs[0]
}

func (r *labelledRun) launch(s *labelledStep) {
	f := r.function(s.Kernel)
	args := r.args(s.Args)
	if s.Shared > 48<<10 {
		r.call(r.tab.FuncSetAttribute(r.ctx, f, 8, int32(s.Shared)))
	}
	if s.MaxShared != 0 {
		r.call(r.tab.FuncSetAttribute(r.ctx, f, 8, s.MaxShared))
	}
	var attrs []driver.CUlaunchAttribute
	add := func(id driver.CUlaunchAttributeID, words ...uint32) {
		a := driver.CUlaunchAttribute{Id: id}
		copy((*[4]uint32)(unsafe.Pointer(&a.Value))[:], words)
		attrs = append(attrs, a)
	}
	if s.Cluster != nil {
		add(driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, s.Cluster...)
	}
	if s.Cooperative {
		add(driver.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1)
	}
	if s.PDL {
		add(driver.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 1)
	}
	g, b := s.Grid, s.Block
	c := driver.CUlaunchConfig{
		GridDimX: g[0], GridDimY: g[1], GridDimZ: g[2], BlockDimX: b[0], BlockDimY: b[1], BlockDimZ: b[2],
		SharedMemBytes: uint32(s.Shared), HStream: r.stream(s.Stream), NumAttrs: uint32(len(attrs)),
	}
	if len(attrs) > 0 {
		c.Attrs = &attrs[0]
	}
	r.call(r.tab.LaunchKernelEx(r.ctx, &c, f, args, nil))
}

func (r *labelledRun) step(s *labelledStep) {
	t, c := r.tab, r.ctx
	switch s.Op {
	case "alloc":
		b := &labelledBuffer{kind: s.Kind, n: s.Bytes}
		switch s.Kind {
		case "device":
			r.call(t.MemAlloc_v2(c, &b.ptr, s.Bytes))
		case "managed":
			r.call(t.MemAllocManaged(c, &b.ptr, s.Bytes, 1))
		case "host":
			var p unsafe.Pointer
			r.call(t.MemHostAlloc(c, &p, s.Bytes, 2))
			b.ptr = driver.CUdeviceptr(uintptr(p))
		case "pageable":
			m := make([]byte, s.Bytes)
			r.keep = append(r.keep, m)
			b.ptr = driver.CUdeviceptr(uintptr(unsafe.Pointer(&m[0])))
		case "async":
			r.call(t.MemAllocAsync(c, &b.ptr, s.Bytes, r.stream(s.Stream)))
		case "pitched":
			var pitch uint64
			r.call(t.MemAllocPitch_v2(c, &b.ptr, &pitch, s.Width, s.Height, 4))
		}
		r.bufs[s.Name] = b
		if s.Init != nil && s.Init != "none" {
			n := s.Bytes
			if s.Prefix != 0 {
				n = s.Prefix
			}
			r.write(s.Name, r.pattern(s.Init, n), 0)
		}
	case "write":
		r.write(s.Name, r.pattern(s.Init, s.Bytes), s.Offset)
	case "write_ptrs":
		var data []byte
		for _, n := range s.Ptrs {
			p := uint64(0)
			if n != "" {
				p = uint64(r.at(n, 0))
			}
			data = binary.LittleEndian.AppendUint64(data, p)
		}
		r.write(s.Name, data, 0)
	case "memset":
		if s.Stream != "" {
			r.call(t.MemsetD8Async(c, r.at(s.Name, s.Offset), uint8(s.Value), s.Bytes, r.stream(s.Stream)))
		} else {
			r.call(t.MemsetD8_v2(c, r.at(s.Name, s.Offset), uint8(s.Value), s.Bytes))
		}
	case "memset2d":
		r.call(t.MemsetD2D8_v2(c, r.at(s.Name, 0), s.Pitch, uint8(s.Value), s.Width, s.Height))
	case "copy":
		d, src := r.at(s.Dst, s.DstOffset), r.at(s.Src, s.SrcOffset)
		dh, sh := foreign(uint64(d)), foreign(uint64(src))
		st := r.stream(s.Stream)
		switch {
		case s.How == "dtoh" && s.Stream != "":
			r.call(t.MemcpyDtoHAsync_v2(c, dh, src, s.Bytes, st))
		case s.How == "dtoh":
			r.call(t.MemcpyDtoH_v2(c, dh, src, s.Bytes))
		case s.How == "htod" && s.Stream != "":
			r.call(t.MemcpyHtoDAsync_v2(c, d, sh, s.Bytes, st))
		case s.How == "htod":
			r.call(t.MemcpyHtoD_v2(c, d, sh, s.Bytes))
		case s.Stream != "":
			r.call(t.MemcpyDtoDAsync_v2(c, d, src, s.Bytes, st))
		default:
			r.call(t.MemcpyDtoD_v2(c, d, src, s.Bytes))
		}
	case "launch":
		r.launch(s)
	case "sync":
		r.call(t.CtxSynchronize(c))
	case "stream":
		var h driver.CUstream
		flags := uint32(0)
		if s.Nonblocking {
			flags = 1
		}
		r.call(t.StreamCreate(c, &h, flags))
		r.streams[s.Name] = h
	case "stream_sync":
		r.call(t.StreamSynchronize(c, r.stream(s.Name)))
	case "stream_destroy":
		r.call(t.StreamDestroy_v2(c, r.streams[s.Name]))
		delete(r.streams, s.Name)
	case "event":
		var h driver.CUevent
		r.call(t.EventCreate(c, &h, 2))
		r.events[s.Name] = h
	case "event_destroy":
		r.call(t.EventDestroy_v2(c, r.events[s.Name]))
	case "record":
		r.call(t.EventRecord(c, r.events[s.Name], r.stream(s.Stream)))
	case "wait":
		r.call(t.StreamWaitEvent(c, r.stream(s.Stream), r.events[s.Name], 0))
	case "event_sync":
		r.call(t.EventSynchronize(c, r.events[s.Name]))
	case "free":
		b := r.bufs[s.Name]
		if b == nil {
			return
		}
		switch b.kind {
		case "host":
			r.call(t.MemFreeHost(c, foreign(uint64(b.ptr))))
		case "pageable":
		case "async":
			r.call(t.MemFreeAsync(c, b.ptr, r.stream(s.Stream)))
		default:
			r.call(t.MemFree_v2(c, b.ptr))
		}
		if !s.KeepName {
			delete(r.bufs, s.Name)
		}
	case "free_at":
		r.call(t.MemFree_v2(c, r.at(s.Name, s.Offset)))
	case "read":
		b := r.bufs[s.Name]
		if b == nil || b.kind == "pageable" {
			return
		}
		n := b.n
		if s.Bytes != 0 {
			n = s.Bytes
		}
		m := make([]byte, max(n, 1))
		r.call(t.MemcpyDtoH_v2(c, unsafe.Pointer(&m[0]), b.ptr+driver.CUdeviceptr(s.Offset), n))
		r.read = append(r.read, m...)
	case "host_read":
		_ = *(*uint32)(foreign(uint64(r.at(s.Name, s.Offset))))
	case "host_write":
		*(*uint32)(foreign(uint64(r.at(s.Name, s.Offset)))) = uint32(s.Value)
	case "limit":
		r.call(t.CtxSetLimit(c, driver.CUlimit(s.Which), s.Value))
	case "graph":
		r.graph(s)
	case "ctx_destroy":
		r.mod = 0
		r.call(t.CtxDestroy_v2(c, c))
		r.ctx = 0
	case "expect_error":
		func() {
			defer func() {
				if _, ok := recover().(callError); !ok {
					return
				}
			}()
			r.step(s.Do)
		}()
	default:
		panic("step " + s.Op)
	}
}

func (r *labelledRun) graph(s *labelledStep) {
	t, c := r.tab, r.ctx
	var g driver.CUgraph
	r.call(t.GraphCreate(c, &g, 0))
	nodes := map[string]driver.CUgraphNode{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		deps := make([]driver.CUgraphNode, len(n.Deps)+1)
		for j, d := range n.Deps {
			deps[j] = nodes[d]
		}
		var h driver.CUgraphNode
		if do := &n.Do; do.Op == "launch" {
			p := driver.CUDA_KERNEL_NODE_PARAMS{
				Func: r.function(do.Kernel), GridDimX: do.Grid[0], GridDimY: do.Grid[1], GridDimZ: do.Grid[2],
				BlockDimX: do.Block[0],
				BlockDimY: do.Block[1], BlockDimZ: do.Block[2], SharedMemBytes: uint32(do.Shared),
				KernelParams: r.args(do.Args),
			}
			r.call(t.GraphAddKernelNode_v2(c, &h, g, &deps[0], uint64(len(n.Deps)), &p))
		} else {
			p := driver.CUDA_MEMSET_NODE_PARAMS{Dst: r.at(do.Name, 0), Value: uint32(do.Value), ElementSize: 1,
				Width: do.Bytes, Height: 1}
			r.call(t.GraphAddMemsetNode(c, &h, g, &deps[0], uint64(len(n.Deps)), &p, c))
		}
		nodes[n.Name] = h
	}
	var e driver.CUgraphExec
	r.call(t.GraphInstantiateWithFlags(c, &e, g, 0))
	r.call(t.GraphLaunch(c, e, r.stream(s.Stream)))
	r.call(t.CtxSynchronize(c))
	r.call(t.GraphExecDestroy(c, e))
	r.call(t.GraphDestroy(c, g))
}

// found is a report as the scorer counts it.
type found struct {
	tool, kind string
	equal      bool // a race of writes of equal values
	lines      []int
	text       string
}

// The scorer's names of checks and kinds.
var (
	scorerTools = map[string]string{
		"memory": "memcheck", "leak": "memcheck", "race": "racecheck", "init": "initcheck", "sync": "synccheck",
	}
	scorerKinds = map[string]string{
		checker.OutOfBounds: "oob", checker.UseAfterFree: "uaf", checker.NoAccess: "oob", checker.EqualRace: "race",
		checker.InvalidFree: "invalid_free", checker.DoubleFree: "double_free", checker.CallBounds: "api_oob",
		checker.StackOverflow: "stack_overflow", checker.GoneBlock: "exited_block", checker.Uninitialised: "uninit",
	}
)

// run runs the script on a device of its own.
func (k *labelled) run(t testing.TB, dir, engine string, o exec.Order) (list []found, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "cases", k.PTX))
	if err != nil {
		return nil, err
	}
	line := func(ptx, source int32) int {
		if k.LineOf == "ptx" {
			return int(ptx)
		}
		return int(source)
	}
	engine, checks := checksOf(engine)
	x := k.try(string(text), engine, o, []string{checks})
	for _, r := range x.list {
		f := found{tool: scorerTools[r.Check], kind: cmp.Or(scorerKinds[r.Kind], r.Kind),
			equal: r.Kind == checker.EqualRace, text: r.String()}
		for i := range r.Sites {
			f.lines = append(f.lines, line(r.Sites[i].Line, r.Sites[i].SourceLine))
		}
		list = append(list, f)
	}
	return list, x.err
}

// outcome is what became of a script.
type outcome struct {
	list []*checker.Report
	read []byte // by the host
	err  error
}

// try runs the script with a text for its kernels on a device of its own.
func (k *labelled) try(text, engine string, o exec.Order, checks []string) (x outcome) {
	d, err := New(Options{
		Check: checks, Order: o, Recover: true, Stdout: io.Discard, Stderr: io.Discard, EngineName: engine,
		Reports: func(r *checker.Report) { x.list = append(x.list, r) },
	})
	if err != nil {
		return outcome{err: err}
	}
	defer d.Close()
	r := &labelledRun{d: d, tab: d.Table(), bufs: map[string]*labelledBuffer{}, streams: map[string]driver.CUstream{},
		events: map[string]driver.CUevent{}}
	defer func() {
		x.read = r.read
		switch e := recover().(type) {
		case nil:
		case callError:
			x.err = fmt.Errorf("%v", e.CUresult)
		default:
			panic(e)
		}
	}()
	stop := time.AfterFunc(cmp.Or(k.limit, 20*time.Second), func() { d.contexts.all()[0].halt() })
	defer stop.Stop()
	r.call(r.tab.Init(0, 0))
	r.call(r.tab.CtxCreate_v2(0, &r.ctx, 0, 0))
	r.call(r.tab.ModuleLoadData(r.ctx, &r.mod, unsafe.Pointer(cstr(text))))
	for i := range k.Steps {
		r.step(&k.Steps[i])
	}
	if r.mod != 0 {
		r.call(r.tab.ModuleUnload(r.ctx, r.mod))
	}
	return x
}

// fits is the scorer's judgement: 3 found, 2 the tool and the kind but other lines, 1 the tool. Races of equal values
// have to be told apart, too.
func (v *expectation) fits(f *found) int {
	if f.tool != v.Tool {
		return 0
	}
	same := map[string][]string{"uaf": {"oob"}, "null": {"oob"}, "invalid_free": {"double_free"},
		"double_free": {"invalid_free"}}
	if f.kind != v.Kind && v.Tool != "synccheck" && !slices.Contains(same[v.Kind], f.kind) {
		return 1
	}
	has := func(l int) bool { return slices.Contains(f.lines, l) }
	ok := len(v.Pairs) == 0 && len(v.Lines) == 0
	for _, p := range append(v.Pairs[:len(v.Pairs):len(v.Pairs)], v.Also...) {
		ok = ok || has(p[0]) && has(p[1])
	}
	for _, l := range v.Lines {
		ok = ok || has(l)
	}
	if ok && f.equal == (v.Tier == "benign") {
		return 3
	}
	return 2
}

func labelledCases(t testing.TB) (cases []*labelled, dir string) {
	dir = fullCases
	if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err != nil {
		t.Log("the full set of labelled kernels is not beside the repository; using what is kept")
		dir = keptCases
	}
	data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Cases []*labelled }
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Cases, dir
}

// orders are those in which the kernels are run: the verdicts are the same in each.
var orders = []struct {
	name  string
	order exec.Order
}{{"ascending", exec.Order{}}, {"descending", exec.Order{Reverse: true}},
	{"random", exec.Order{Seed: 0x9e3779b97f4a7c15}}}

// checkedEngines are those whose verdicts are the same: the interpreter, and machine code for what the processor has.
func checkedEngines() (names []string) {
	for _, name := range []string{"interpreter", "jit-avx512", "jit-avx2"} {
		if d, err := New(Options{EngineName: name}); err == nil {
			names = append(names, name)
			_ = d.Close()
		}
	}
	return names
}

// checkedRuns are those engines, with init too, for which there is other machine code.
func checkedRuns() (names []string) {
	for _, name := range checkedEngines() {
		if names = append(names, name); name != "interpreter" {
			names = append(names, name+"+init")
		}
	}
	return names
}

// checksOf are the engine of a run and the checks that there are for it: the interpreter has them all.
func checksOf(run string) (engine, checks string) {
	engine, init := strings.CutSuffix(run, "+init")
	switch {
	case engine == "interpreter":
		return engine, "all"
	case init:
		return engine, "memory,race,init,leak"
	}
	return engine, "memory,race,leak"
}

// judged says whether a defect is of a kind that the checker looks for. Of the others the clean twins are run. What
// only the interpreter sees is left out for machine code.
func (v *expectation) judged(class, engine string) bool {
	switch v.Tool {
	case "racecheck":
		return strings.HasPrefix(class, "race.") || strings.HasPrefix(class, "host.")
	case "memcheck":
		return engine == "interpreter" || v.Kind != "exited_block"
	case "synccheck":
		return engine == "interpreter"
	case "initcheck":
		return engine == "interpreter" || strings.HasSuffix(engine, "+init")
	}
	return false
}

// TestLabelledKernels runs kernels of which is known whether they are right, and how those that are not are wrong.
func TestLabelledKernels(t *testing.T) {
	cases, dir := labelledCases(t)
	for _, engine := range checkedRuns() {
		t.Run(engine, func(t *testing.T) { labelledVerdicts(t, cases, dir, engine) })
	}
}

func labelledVerdicts(t *testing.T, cases []*labelled, dir, engine string) {
	for i, o := range orders {
		if i > 0 && testing.Short() {
			break
		}
		t.Run(o.name, func(t *testing.T) {
			planted, hits, clean := 0, 0, 0
			for _, k := range cases {
				class, _, _ := strings.Cut(k.ID, "/")
				wanted := slices.DeleteFunc(slices.Clone(k.Expect), func(v expectation) bool {
					return !v.judged(class, engine)
				})
				if k.Verdict != "clean" && (k.Verdict != "defect" || len(wanted) == 0) {
					continue
				}
				list, err := k.run(t, dir, engine, o.order)
				if k.Verdict == "clean" {
					clean++
					if err != nil {
						t.Errorf("%s: %v", k.ID, err)
					}
					for j := range list {
						t.Errorf("%s is right, and yet: lines %v\n%s", k.ID, list[j].lines, list[j].text)
					}
					continue
				}
				for j := range wanted {
					planted++
					best := 0
					for l := range list {
						best = max(best, wanted[j].fits(&list[l]))
					}
					if best == 3 {
						hits++
						continue
					}
					t.Errorf("%s: %s of lines %v %v is not found (run: %v), but %v", k.ID, wanted[j].Kind,
						wanted[j].Pairs, wanted[j].Lines, err, list)
				}
			}
			t.Logf("%d of %d defects found; %d right kernels", hits, planted, clean)
			if planted < 30 || clean < 30 {
				t.Errorf("only %d defects and %d right kernels were there", planted, clean)
			}
		})
	}
}
