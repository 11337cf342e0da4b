package softdev

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// freedKeep is how many freed allocations the checker remembers.
const freedKeep = 1 << 14

// memcheck remembers allocations. It implements mem.Watcher.
type memcheck struct {
	d *Driver

	mu    sync.Mutex
	count int
	live  map[uint64]*memoryRecord // by Range.ID
	freed []*memoryRecord          // a ring
	next  int                      // place of the next in the ring

	epoch atomic.Uint64 // exec.Memory.CheckEpoch: frees
}

type memoryRecord struct {
	r           mem.Range
	number      int
	made, freed []uintptr     // program counters
	site        *checker.Site // of malloc in a kernel
}

func newMemcheck(d *Driver) *memcheck {
	return &memcheck{d: d, live: map[uint64]*memoryRecord{}}
}

// callers is the stack of the call that is under way.
func callers() []uintptr {
	pcs := make([]uintptr, 32)
	return slices.Clone(pcs[:runtime.Callers(2, pcs)])
}

// Allocated implements mem.Watcher.
func (m *memcheck) Allocated(r mem.Range) {
	x := &memoryRecord{r: r, made: callers()}
	m.mu.Lock()
	defer m.mu.Unlock()
	if a, ok := r.Owner.(*allocation); ok && a.use == useProgram {
		m.count++
		x.number = m.count
	}
	m.live[r.ID] = x
}

// Freed implements mem.Watcher.
func (m *memcheck) Freed(r mem.Range) {
	m.epoch.Add(1)
	pcs := callers()
	if a, ok := r.Owner.(*allocation); ok && a.freedBy != nil {
		pcs = a.freedBy // the call that queued it
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.live[r.ID]
	if x == nil {
		return
	}
	delete(m.live, r.ID)
	x.freed = pcs
	if len(m.freed) < freedKeep {
		m.freed = append(m.freed, x)
		return
	}
	m.freed[m.next] = x
	m.next = (m.next + 1) % freedKeep
}

// allows is exec.Memory.Check.
func (m *memcheck) allows(addr, size uint64, write bool) bool {
	base, n := m.around(addr, write)
	return n > 0 && size <= n-(addr-base)
}

// around is exec.Memory.CheckRange: the allocation or module variable that an address lies in.
func (m *memcheck) around(addr uint64, write bool) (base, size uint64) {
	r, ok := m.d.memory.w.Lookup(addr)
	if !ok || r.Access == mem.NoAccess || write && r.Access == mem.ReadOnly {
		return 0, 0
	}
	a, ok := r.Owner.(*allocation)
	if !ok || a.module == nil {
		return r.Base, r.Size
	}
	v, off := a.module.variableAt(&r, addr)
	if v == nil || off >= v.Size {
		return 0, 0
	}
	return addr - off, v.Size
}

// variableAt is the variable of a module's block that an address lies in or behind, and the offset in it; nil before
// the first.
func (m *module) variableAt(r *mem.Range, addr uint64) (v *check.Var, off uint64) {
	b := &m.prog.globals
	switch r.Base {
	case uint64(m.consts):
		b = &m.prog.consts
	case uint64(m.managed):
		b = &m.prog.managed
	}
	at := addr - r.Base
	i, ok := slices.BinarySearchFunc(b.vars, at, func(v *check.Var, at uint64) int {
		switch o := b.off[v]; {
		case o < at:
			return -1
		case o > at:
			return 1
		}
		return 0
	})
	if !ok {
		i--
	}
	if i < 0 {
		return nil, 0
	}
	return b.vars[i], at - b.off[b.vars[i]]
}

// broken makes the report of a fault, and its short form for the error's text.
func (m *memcheck) broken(f *exec.Fault) (detail string) {
	if !m.d.checks.Has(checker.Memory) {
		return ""
	}
	if f.Kind == exec.FaultStack {
		m.d.defects.Add(&checker.Report{
			Kind: checker.StackOverflow, Space: "local", Sites: []checker.Site{faultSite(f)},
			Where: "calls need more local memory than a thread has",
			Cure:  "less recursion, or a larger CU_LIMIT_STACK_SIZE",
		})
		return ""
	}
	if !f.HasAddr || f.Kind != exec.FaultAddress && f.Kind != exec.FaultMisaligned && f.Kind != exec.FaultInstruction {
		return ""
	}
	e := &checker.Report{Kind: checker.OutOfBounds, Space: f.Space, Address: f.Addr,
		Sites: []checker.Site{faultSite(f)}}
	switch f.Space {
	case "shared", "shared::cluster":
		m.shared(e, f)
	case "local":
		e.Where = fmt.Sprintf("the address is past the end of the thread's local variables (%d bytes in the kernel)",
			f.Program.Local)
	default:
		m.global(e)
	}
	if f.Kind == exec.FaultMisaligned {
		e.Kind = checker.Misaligned
		e.Where = fmt.Sprintf("the address is no multiple of %d; %s", f.Size, e.Where)
	}
	m.d.defects.Add(e)
	detail = e.Where
	if e.Memory != nil {
		detail += ", allocated by " + e.Memory.Made.String()
		if e.Memory.Freed != (checker.Call{}) {
			detail += ", freed by " + e.Memory.Freed.String()
		}
	}
	return detail
}

// faultSite is the operation that faulted.
func faultSite(f *exec.Fault) checker.Site {
	s := checker.Site{
		Kernel: f.Kernel, Place: checker.Place{Line: f.Line, Source: f.File, SourceLine: f.Loc.Line}, Access: "read",
		Size:  f.Size,
		Block: f.Block, Thread: f.Thread, More: f.More, LastThread: f.LastThread, LastAddress: f.LastAddr,
	}
	if f.Write {
		s.Access = "write"
	}
	if f.Func != f.Kernel {
		s.Func = f.Func
	}
	return s
}

// shared places an address of shared memory.
func (m *memcheck) shared(e *checker.Report, f *exec.Fault) {
	k := f.Program
	off := f.Addr & (mem.SharedRankSize - 1)
	end := uint64(ir.ReservedShared + k.SharedSize)
	e.Where = fmt.Sprintf("the address is %d bytes past the end of the %d bytes of static shared memory", off-min(off, end),
		k.SharedSize)
	if f.Kind == exec.FaultInstruction {
		e.Where = "the address is in the shared memory of a block that is not in the cluster"
		return
	}
	var last *check.Var
	for v, at := range k.Shared {
		if last == nil || at > k.Shared[last] {
			last = v
		}
	}
	switch {
	case k.UsesDynamicShared:
		e.Where += " and past the end of the dynamic shared memory of the launch"
	case last != nil:
		e.Where += fmt.Sprintf(", the last of which is %s (%d bytes)", last.Name, last.Size)
	}
}

// global places an address of global memory, or of generic ones.
func (m *memcheck) global(e *checker.Report) {
	m.mu.Lock()
	defer m.mu.Unlock()
	addr := e.Address
	within := func(x *memoryRecord) bool { return addr >= x.r.Base && addr < x.r.End() }
	for _, x := range m.live {
		if !within(x) {
			continue
		}
		e.Memory = x.open(m.d.apiNames)
		behind := addr + uint64(e.Sites[0].Size) - x.r.End()
		switch a, _ := x.r.Owner.(*allocation); {
		case addr+uint64(e.Sites[0].Size) > x.r.End():
			e.Where = fmt.Sprintf("the last %d bytes are past the end of %s", behind, e.Memory)
		case x.r.Access != mem.ReadWrite:
			e.Kind = checker.NoAccess
			e.Where = fmt.Sprintf("the mapping does not allow it: %s", e.Memory)
		case a != nil && a.module != nil:
			v, off := a.module.variableAt(&x.r, addr)
			if v == nil {
				e.Where = fmt.Sprintf("the address is before the first variable of %s", e.Memory)
				break
			}
			e.Where = fmt.Sprintf("the address is %d bytes past the end of variable %s (%d bytes)", off-min(off, v.Size), v.Name,
				v.Size)
			if off < v.Size {
				e.Where = fmt.Sprintf("the access begins at byte %d of variable %s, which has %d", off, v.Name, v.Size)
			}
		default:
			e.Where = fmt.Sprintf("byte %d of %s", addr-x.r.Base, e.Memory)
		}
		return
	}
	for i := range m.freed {
		x := m.freed[(m.next+len(m.freed)-1-i)%len(m.freed)] // the newest first
		if within(x) && !x.internal() {
			e.Kind = checker.UseAfterFree
			e.Memory = x.open(m.d.apiNames)
			e.Where = fmt.Sprintf("the address is byte %d of what was %s", addr-x.r.Base, e.Memory)
			return
		}
	}
	const null = 1 << 16
	if addr < null {
		e.Kind = checker.Null
		e.Where = "the address is NULL"
		if addr > 0 {
			e.Where = fmt.Sprintf("the address is %d bytes after NULL", addr)
		}
		return
	}
	var near *memoryRecord
	best := ^uint64(0)
	for _, x := range m.live {
		d := x.r.Base - addr
		if addr >= x.r.End() {
			d = addr - x.r.End()
		}
		if !x.internal() && (near == nil || d < best || d == best && x.r.Base < near.r.Base) {
			near, best = x, d
		}
	}
	switch {
	case near == nil:
		e.Where = "no memory is allocated"
	case addr < near.r.Base:
		e.Memory = near.open(m.d.apiNames)
		e.Where = fmt.Sprintf("the address is %d bytes before %s", best, e.Memory)
	case best == 0:
		e.Memory = near.open(m.d.apiNames)
		e.Where = fmt.Sprintf("the address is immediately after %s", e.Memory)
	default:
		e.Memory = near.open(m.d.apiNames)
		e.Where = fmt.Sprintf("the address is %d bytes past the end of %s", best, e.Memory)
	}
	if best > mem.MaxWindow {
		e.Where = "the address is neither device memory nor registered host memory"
		e.Memory = nil
	}
}

// lastFreed explains an address that is passed to a call after it was freed; "" for another.
func (m *memcheck) lastFreed(addr uint64) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.freed {
		x := m.freed[(m.next+len(m.freed)-1-i)%len(m.freed)]
		if x.r.Base == addr && !x.internal() {
			r := x.open(m.d.apiNames)
			return fmt.Sprintf("%s was freed by %s", r, &r.Freed)
		}
	}
	return ""
}

func (x *memoryRecord) internal() bool {
	a, ok := x.r.Owner.(*allocation)
	return !ok || a.use == useInternal
}

func (x *memoryRecord) open(names map[string]string) *checker.Allocation {
	r := &checker.Allocation{Address: x.r.Base, Size: x.r.Size, Kind: x.r.Kind.String(), Number: x.number,
		Made: callSite(x.made, names), Freed: callSite(x.freed, names)}
	if a, ok := x.r.Owner.(*allocation); ok {
		switch a.use {
		case useVariable:
			r.Kind = "module variables"
		case useConstant:
			r.Kind = "constant module variables"
		case useHeap:
			r.Kind = "memory of malloc in a kernel"
			r.Made = checker.Call{API: "malloc"} // not by the call of the driver that happened to run the kernel
			if x.freed != nil {
				r.Freed = checker.Call{API: "free"}
			}
		}
	}
	return r
}

// root is the path of the module that this package belongs to.
const root = "github.com/gocuda/cuda"

// methodNames are the C functions by the methods of Driver in the table that do their work.
func methodNames(t *driver.Table) map[string]string {
	names := map[string]string{}
	for s := range driver.Symbols() {
		f := reflect.ValueOf(t.Func(s.Field))
		if !f.IsValid() {
			continue
		}
		method := methodName(runtime.FuncForPC(f.Pointer()).Name())
		if _, ok := names[method]; !ok && method != "" {
			names[method] = s.Base
		}
	}
	return names
}

// methodName is the name of a method of Driver, "" for another function.
func methodName(function string) string {
	name, ok := strings.CutPrefix(function, root+"/internal/softdev.(*Driver).")
	if name = strings.TrimSuffix(name, "-fm"); !ok || strings.Contains(name, ".") {
		return ""
	}
	return name
}

// callSite finds the function of the driver, by the names of its methods, and the Go function that called into the API.
func callSite(pcs []uintptr, names map[string]string) (s checker.Call) {
	if len(pcs) == 0 {
		return s
	}
	for frames := runtime.CallersFrames(pcs); ; {
		f, more := frames.Next()
		if name, ok := names[methodName(f.Function)]; ok {
			s.API = name
		}
		if ours(&f) {
			if !more {
				return s
			}
			continue
		}
		if !strings.HasPrefix(f.Function, "runtime.") && !strings.HasPrefix(f.Function, "_cgo") {
			s.Func, s.File, s.Line = f.Function[strings.LastIndexByte(f.Function, '/')+1:], f.File, f.Line
		}
		return s
	}
}

// ours says whether a frame belongs to the API's own packages; tests of them call it as programs do.
func ours(f *runtime.Frame) bool {
	if strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	pkg := f.Function
	slash := strings.LastIndexByte(pkg, '/')
	if dot := strings.IndexByte(pkg[slash+1:], '.'); dot >= 0 {
		pkg = pkg[:slash+1+dot]
	}
	return pkg == root || pkg == root+"/cu" || pkg == root+"/cudatest" || strings.HasPrefix(pkg, root+"/internal/") ||
		strings.HasPrefix(pkg, root+"/cmd/libcuda") ||
		pkg == "main" && strings.HasPrefix(f.File, root+"/cmd/libcuda/") // the library, built with -trimpath
}
