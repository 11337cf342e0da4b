package jit

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/gocuda/cuda/internal/defect"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/lazy"
)

type engine struct {
	listing bool // keeps what a Listing has to show
	check   bool // kernels tell exec.Launch.Check of their accesses
	init    bool // and exec.Launch.Init of what they do with memory that nobody has written
	back    backend
	layout  abi.Layout
	mapped  codeBytes
	probe   int32         // tests: CTAs stop after so many operations
	stream  uint64        // bytes that a launch must store to go past the caches
	later   int           // operations of a kernel of which a part of the code is left for later
	made    atomic.Uint64 // see Statistics
	noCode  [plan.Reasons]atomic.Uint64

	refuseMemory error // tests: there is no memory for code
}

func hasAVX512() bool {
	x := &cpu.X86
	return x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL && x.HasAVX512CD && x.HasBMI1
}

func hasAVX2() bool {
	x := &cpu.X86
	return x.HasAVX2 && x.HasFMA && features()>>29&1 != 0 && x.HasBMI1 && x.HasPOPCNT
}

// chooseISA returns the instruction set of that name, by default the best that the processor has; else an
// *UnavailableError.
func chooseISA(name string) (amd64.ISA, error) {
	const no512, no2 = "the processor has no AVX-512 (F, BW, DQ, VL, CD)",
		"the processor has no AVX2 (with FMA, F16C, BMI1)"
	if err := hostError(); err != nil {
		return 0, err
	}
	switch name {
	case "":
		switch {
		case hasAVX512():
			return amd64.AVX512, nil
		case hasAVX2():
			return amd64.AVX2, nil
		}
		return 0, &UnavailableError{no2}
	case "avx512":
		if !hasAVX512() {
			return 0, &UnavailableError{no512}
		}
		return amd64.AVX512, nil
	case "avx2":
		if !hasAVX2() {
			return 0, &UnavailableError{no2}
		}
		return amd64.AVX2, nil
	}
	return 0, &UnavailableError{fmt.Sprintf("the instruction set is %q, not avx512 or avx2", name)}
}

// New returns the engine, or an *UnavailableError with the reason why it cannot work here. The instruction set is
// avx512, avx2, or "" for the best that the processor has.
func New(name string) (exec.Engine, error) {
	isa, err := chooseISA(name)
	if err != nil {
		return nil, err
	}
	return newEngine(amd64.New(isa))
}

func newEngine(back backend) (*engine, error) {
	e := &engine{back: back, layout: back.Layout(), stream: plan.StreamBytes, later: laterOps}
	if err := e.selfTest(); err != nil {
		return nil, &UnavailableError{err.Error()}
	}
	return e, nil
}

// Name implements exec.Engine.
func (*engine) Name() string { return "jit" }

// InstructionSet says what the machine code is made of: AVX-512 or AVX2.
func (e *engine) InstructionSet() string { return e.back.Name() }

// Compile implements exec.Engine. Machine code is made when a function first runs.
func (e *engine) Compile(k *ir.Kernel) (exec.Code, error) {
	s, err := interp.PrepareWatched(k, e.check, e.init)
	if err != nil {
		return nil, err
	}
	c := &code{e: e, k: k, single: s, interp: s.Code(), funcs: make([]function, len(k.Funcs)),
		checked: make([]function, len(k.Funcs))}
	for i := range c.funcs {
		c.funcs[i].prepare(k.Funcs[i], false)
	}
	if e.init {
		c.cta.checked = c.loads()
	}
	for _, f := range k.Funcs {
		for i := range f.Ops {
			if e.layout.Multiplies(&f.Ops[i]) {
				c.matrix = e.layout.NewMatrix
			}
		}
	}
	for i := range k.Funcs[0].Ops {
		if e.layout.Samples(&k.Funcs[0].Ops[i]) {
			if c.samplers == nil {
				c.samplers = map[int32]int32{}
			}
			c.samplers[int32(i)] = int32(len(c.samplers))
		}
	}
	c.cta.regions = new([]*region)
	c.checkedCT.regions = c.cta.regions
	type held struct {
		fs, cs  []function
		regions *[]*region
	}
	runtime.AddCleanup(c, func(h held) {
		defer func() { _ = recover() }() // memory that stays is better than the process's end
		for i := range h.fs {
			h.fs[i].free()
			h.cs[i].free()
		}
		for _, r := range *h.regions {
			r.free()
		}
	}, held{c.funcs, c.checked, c.cta.regions})
	return c, nil
}

// code is a kernel with its machine code.
type code struct {
	e      *engine
	k      *ir.Kernel
	single *interp.Single
	interp exec.Code
	funcs  []function
	// for a memory checker: accesses to memory are left to Go, but for those whose bounds are known; ready once there
	// is one
	checked   []function
	ready     lazy.Once
	ctaMu     sync.Mutex
	cta       ctaState
	checkedCT ctaState              // for a memory checker
	matrix    func() unsafe.Pointer // makes the memory that its products of matrices need; nil for none

	samplers map[int32]int32 // numbers of the kernel's operations that need an abi.Sampler
}

// function is a function's machine code: for all lanes, and for some.
type function struct {
	f        *ir.Func
	checked  bool
	loads    bool // checked: without a memory checker, for loads of memory that nobody may have written
	mu       sync.Mutex
	analysis *plan.Func
	marks    *[]Mark // of the code made last
	// by operation: one more than the number of a barrier that all threads of the CTA wait at, unguarded; else 0
	barriers []uint8
	local    bool                  // it uses local memory
	stack    bool                  // and its stack
	bounded  []*plan.BoundedAccess // checked: by operation, nil for those without a bound
	bounds   int32                 // their number
	falls    []*plan.NoCodeError   // why it, or some of its operations, are left to the interpreter
	versions [2]atomic.Pointer[version]
}

// prepare notes what a run of the function needs to know of it.
func (f *function) prepare(of *ir.Func, checked bool) {
	f.f, f.checked = of, checked
	f.barriers = make([]uint8, len(of.Ops))
	for i := range of.Ops {
		op := &of.Ops[i]
		f.barriers[i] = plan.BarrierOf(op)
		f.stack = f.stack || plan.UsesStack(op)
		f.local = f.local || f.stack || plan.UsesLocal(op)
	}
	if checked {
		f.bounds = 0
		f.bounded = make([]*plan.BoundedAccess, len(of.Ops))
		for i := range of.Ops {
			f.giveBound(i)
		}
	}
}

// version is machine code with its entries by operation.
type version struct {
	region *region // nil: the function is left to the interpreter
	base   uintptr
	entry  []int32 // -1: none
}

func (f *function) free() {
	for i := range f.versions {
		if v := f.versions[i].Load(); v != nil && v.region != nil {
			v.region.free()
		}
	}
}

// Kernel implements exec.Code.
func (c *code) Kernel() *ir.Kernel { return c.k }

// generate compiles a function. Operations that cannot be done are left to the interpreter.
func (c *code) generate(f *function, full bool) (text []byte, entry []int32, err error) {
	if f.analysis.TooLarge != nil {
		return nil, nil, f.analysis.TooLarge
	}
	for try := 0; ; try++ {
		text, entry, err = c.e.back.CompileWarp(f.analysis, full, f.marks)
		var no *plan.NoCodeError
		if !errors.As(err, &no) {
			return text, entry, err
		}
		native, left := slices.Clone(f.analysis.Native), false
		for _, i := range no.Ops {
			left = left || native[i]
			native[i] = false
			for j := range native { // whatever is alike would be the next
				if try >= plan.MaxRestarts && f.f.Ops[j].Opcode() == f.f.Ops[i].Opcode() {
					native[j] = false
				}
			}
		}
		if !left {
			return text, entry, err
		}
		c.note(&f.falls, no)
		stop := f.analysis.Stop
		told := f.analysis.Told
		f.analysis = plan.Analyse(f.f, native, false)
		f.analysis.Bounds, f.analysis.Told, f.analysis.Stop = f.bounded, told, stop
	}
}

// note keeps and counts why something is left to the interpreter.
func (c *code) note(falls *[]*plan.NoCodeError, no *plan.NoCodeError) {
	*falls = append(*falls, no)
	c.e.noCode[no.Why].Add(1)
}

// Statistics returns what the engine has made and left since it was made.
func (e *engine) Statistics() (s Statistics) {
	s.Code = e.made.Load()
	for i := range s.NoCode {
		s.NoCode[i] = e.noCode[i].Load()
	}
	return s
}

// compile makes the machine code of a function; nil when stop was set meanwhile.
func (c *code) compile(f *function, which int, stop *atomic.Bool) *version {
	f.mu.Lock()
	defer f.mu.Unlock()
	if v := f.versions[which].Load(); v != nil {
		return v
	}
	if f.analysis == nil {
		native := make([]bool, len(f.f.Ops))
		for i := range f.f.Ops {
			if f.checked && plan.Accesses(&f.f.Ops[i]) {
				native[i] = f.allowed(i) && c.e.back.Supports(&f.f.Ops[i])
				continue
			}
			native[i] = c.e.back.Supports(&f.f.Ops[i])
		}
		told := c.tells(f.f, native)
		f.analysis = plan.Analyse(f.f, native, false)
		f.analysis.Bounds, f.analysis.Told, f.marks = f.bounded, told, c.e.marks()
	}
	v := &version{}
	f.analysis.Stop = stop
	text, entry, err := c.generate(f, which == 1)
	f.analysis.Stop = nil
	if err == plan.ErrStopped {
		return nil
	}
	if err == nil {
		if v.region, err = c.e.mapCode(text); err == nil {
			v.base, v.entry = v.region.base(), entry
			c.e.made.Add(1)
		}
	}
	if err != nil {
		var no *plan.NoCodeError
		if !errors.As(err, &no) {
			panic(defect.Of(err))
		}
		c.note(&f.falls, no)
		v.entry = make([]int32, len(f.f.Ops)+1)
		for i := range v.entry {
			v.entry[i] = -1
		}
	}
	f.versions[which].Store(v)
	return v
}

// Warm implements exec.Warmer.
func (c *code) Warm(w *exec.Warp) { contextOf(w, c.e.layout.Tables, c.matrix) }

// Run implements exec.Code.
func (c *code) Run(w *exec.Warp) exec.Event {
	l := w.CTA.Launch
	if c.e.init && l.Counters != nil {
		l.Counters.Fallbacks.Add(1)
	}
	if c.e.init || uint64(len(l.Params)) < c.k.ParamSize {
		return c.interp.Run(w) // it follows what is not defined
	}
	s := w.Cur
	funcs := c.funcs
	if l.Mem.Check != nil {
		c.prepareChecked()
		funcs = c.checked
	}
	f := &funcs[w.Act.Func.Index]
	x := contextOf(w, c.e.layout.Tables, c.matrix)
	x.Frame = w.Base[0]
	fallbacks := uint64(0)
	pc := s.PC
	ev := exec.EventReschedule
loop:
	for {
		if pc >= w.Limit {
			s.PC = pc
			break
		}
		which := 0
		if s.Mask == 0xffffffff {
			which = 1
		}
		v := f.versions[which].Load()
		if v == nil {
			if v = c.compile(f, which, l.Stop); v == nil {
				s.PC, ev = pc, exec.EventStop
				break
			}
		}
		if off := v.entry[pc]; off >= 0 {
			x.Mask, x.Limit, x.Budget, x.Live, x.Released = s.Mask, w.Limit, s.Budget(), w.Live, w.Released()
			if f.local {
				x.Local, x.LocalSize = w.LocalMemory()
				x.LocalOff = w.Act.Local
				if f.stack {
					x.Tops, x.ActTop = unsafe.Pointer(w.Tops()), w.Act.Top
				}
			}
			x.CC = w.CC
			if f.checked {
				x.useBounds(l.Mem, nil, c, f)
			}
			if c.e.check {
				x.openLog()
			}
			r := enter(v.base+uintptr(off), unsafe.Pointer(x))
			if c.e.check {
				undone := int32(-1)
				if r>>abi.ExitShift == abi.ExitStep {
					undone = int32(r & (1<<abi.ExitShift - 1))
				}
				c.drain(w, x, f.f.Index, undone)
			}
			w.CC = x.CC
			x.Op = 0
			w.Instr += x.Instr
			x.Instr = 0
			s.SetBudget(x.Budget)
			pc = int32(r & (1<<abi.ExitShift - 1))
			switch r >> abi.ExitShift {
			case abi.ExitLimit:
				s.PC = pc
				break loop
			case abi.ExitBudget:
				w.Op = pc
				s.PC = f.f.Ops[pc].Target
				break loop
			case abi.ExitDiverge:
				w.Op, s.PC = pc, pc
				ev = w.Diverge(x.Out, f.f.Ops[pc].Target, pc+1)
				break loop
			}
		}
		fallbacks++
		if id := f.barriers[pc]; id != 0 {
			w.Op = pc
			w.Instr++
			ev = w.BarrierAll(int(id-1), pc+1)
			break
		}
		if f.checked {
			if b := f.bounded[pc]; b != nil {
				x.learn(w, f, b, &f.f.Ops[pc])
			}
		}
		e, back := c.single.Step(w, pc)
		if back {
			ev = e
			break
		}
		pc = s.PC
	}
	if fallbacks != 0 && l.Counters != nil {
		l.Counters.Fallbacks.Add(fallbacks)
	}
	runtime.KeepAlive(c)
	return ev
}
