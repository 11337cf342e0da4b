package limits

import (
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// Functions are the symbols that are called: all but those of the per-thread default stream, which are the same
// functions.
func Functions() (list []driver.Symbol) {
	for s := range driver.Symbols() {
		if driver.PerThreadVariant(s.Name) == "" {
			list = append(list, s)
		}
	}
	return list
}

// call is a function with one number set to a limit; in the plain call, number -1, all are as usual.
type call struct {
	variant int // of the arguments
	number  int
	value   int
	text    string // "parameter=2^31"
}

// variants are the functions that take one thing or another, with how many there are; the others have one.
var variants = map[string]int{
	"cuMemcpy2D_v2": 3, "cuMemcpy2DUnaligned_v2": 3, "cuMemcpy2DAsync_v2": 3, "cuMemcpy3D_v2": 3,
	"cuMemcpy3DAsync_v2": 3, "cuMemcpy3DBatchAsync_v2": 2, "cuGraphAddMemcpyNode": 3,
	"cuGraphAddNode_v2": 6, "cuTexObjectCreate": 4,
}

// calls are those of a function, the plain ones first.
func (w *world) calls(s *driver.Symbol, ft reflect.Type) (list []call) {
	for w.variant = range max(variants[s.Name], 1) {
		text := ""
		if w.variant > 0 {
			text = fmt.Sprintf("(variant %d) ", w.variant)
		}
		list = append(list, call{w.variant, -1, 0, text})
		for i, n := range w.arguments(s, ft).numbers {
			if w.excluded(s.Name, n.name) != "" {
				continue
			}
			for j, v := range limits(n.v.Type(), 0, 0) {
				list = append(list, call{w.variant, i, j, text + n.name + "=" + v.text})
			}
		}
	}
	return list
}

// Exclusion is a number that is not tried, or a function that is not called.
type Exclusion struct{ Function, Number, Reason string }

// Exclusions are all of them.
var Exclusions = []Exclusion{
	{"cuStreamWaitValue32", "value", "a value and no size: the stream waits until the memory has it"},
	{"cuStreamWaitValue32_v2", "value", "a value and no size: the stream waits until the memory has it"},
	{"cuStreamWaitValue64", "value", "a value and no size: the stream waits until the memory has it"},
	{"cuStreamWaitValue64_v2", "value", "a value and no size: the stream waits until the memory has it"},
}

func (w *world) excluded(fn, number string) string {
	i := slices.IndexFunc(Exclusions, func(e Exclusion) bool { return e.Function == fn && e.Number == number })
	if i < 0 {
		return ""
	}
	return Exclusions[i].Reason
}

// What may become of a call besides its result.
const (
	panicked = "PANIC"
	faulted  = "FAULT" // it went beyond the memory that it was given
	grew     = "GREW"  // the device took memory of the host for itself
	crashed  = "CRASH"
	hung     = "HANG"
	unmade   = "UNMADE" // the arguments could not be made
)

// growth is how much memory a call may take besides what it gives the program, in bytes.
const growth = 24 << 20

func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// make makes a call and says what became of it.
func (w *world) make(s *driver.Symbol, c call) (outcome string) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			outcome = unmade + " " + p.text
		default:
			if addr, ok := mem.Faulted(p); ok && w.arena.holds(addr) {
				outcome = faulted
				return
			}
			outcome = fmt.Sprintf("%s %v\n%s", panicked, p, debug.Stack())
		}
	}()
	w.old, w.variant = old(s), c.variant
	w.begin()
	f := reflect.ValueOf(w.t.ByName(s.Name))
	if !f.IsValid() {
		return unmade + " no such function"
	}
	a := w.arguments(s, f.Type())
	if c.number >= 0 {
		n := a.numbers[c.number]
		n.set(limits(n.v.Type(), uint64(w.device()), uint64(uintptr(w.arena.base)))[c.value].bits)
	}
	before := allocated()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := driver.CUresult(f.Call(a.values)[0].Uint())
	runtime.KeepAlive(a)
	if took := allocated() - before; took > growth {
		return fmt.Sprintf("%s by %d MiB", grew, took>>20)
	}
	if r == driver.CUDA_SUCCESS {
		w.free(s.Name, a)
		if late := w.end(s.Name); late != driver.CUDA_SUCCESS {
			return fmt.Sprintf("%v, then %v", r, late)
		}
	}
	return r.String()
}

// free gives memory back that a call has given, which may be much.
func (w *world) free(fn string, a *arguments) {
	if !strings.HasPrefix(fn, "cuMemAlloc") && fn != "cuMemHostAlloc" {
		return
	}
	p := *(*uint64)(a.values[1].UnsafePointer())
	if w.t.MemFree_v2(0, driver.CUdeviceptr(p)) != driver.CUDA_SUCCESS {
		w.t.MemFreeHost(0, pointer(p))
	}
}

// old says whether a function has sizes and addresses of 32 bits: the first version of one that has got a second when
// they became 64.
func old(s *driver.Symbol) bool {
	next, ok := driver.Lookup(s.Base + "_v2")
	return ok && s.Version == 1 && next.Since == 3020 && !strings.HasPrefix(s.Name, "cuCtx") &&
		!strings.HasPrefix(s.Name, "cuDevice") && !strings.HasPrefix(s.Name, "cuGL")
}

// begin makes the context current.
func (w *world) begin() {
	if w.made == nil {
		w.made = map[string]uint64{}
		w.arena.reset()
	}
	w.must("current context", w.t.CtxSetCurrent(0, w.context()))
}

// end lets the work of a call that succeeded finish, and forgets the handles, which may mean something else now.
func (w *world) end(fn string) driver.CUresult {
	if strings.Contains(fn, "BeginCapture") || strings.Contains(fn, "BeginRecapture") {
		var g driver.CUgraph
		w.t.StreamEndCapture(0, w.stream(), &g)
	}
	if s := w.made["capturing"]; s != 0 {
		var g driver.CUgraph
		w.t.StreamEndCapture(0, driver.CUstream(s), &g)
	}
	mode := driver.CU_STREAM_CAPTURE_MODE_GLOBAL
	w.t.ThreadExchangeStreamCaptureMode(0, &mode)
	if p := w.made["registered"]; p != 0 {
		w.t.MemHostUnregister(0, pointer(p))
	}
	if w.old {
		w.t.CtxDestroy_v2(0, w.context()) // it has the device for itself
	}
	w.made = nil
	w.begin()
	return w.t.CtxSynchronize(0)
}
