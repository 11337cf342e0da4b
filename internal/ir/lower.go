package ir

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Symbols says where names lead once modules are linked. A nil *Symbols means that every name leads to itself.
type Symbols struct {
	Vars    map[*check.Var]*check.Var   // an extern declaration's definition
	Funcs   map[*check.Func]*check.Func // likewise
	Handles map[*check.Func]uint64      // addresses of functions, the same for all kernels of a module
	Builtin func(name string) bool      // whether the system provides this undefined function

	// NoContract says whether mul and add of a function stay apart (JIT option -fma=false, or optimisation level 0);
	// nil says no.
	NoContract func(f *check.Func) bool

	// NoInline leaves calls of functions calls, for who has to see where their local variables begin.
	NoInline bool

	// Registers gives every register a row of its own, and functions the names of theirs (Func.Registers).
	Registers bool
}

func (s *Symbols) variable(v *check.Var) *check.Var {
	if s != nil && s.Vars[v] != nil {
		return s.Vars[v]
	}
	return v
}

func (s *Symbols) function(f *check.Func) *check.Func {
	if s != nil && s.Funcs[f] != nil {
		return s.Funcs[f]
	}
	return f
}

// Error is a reason why a kernel cannot be lowered.
type Error struct {
	Kernel string
	Line   int32
	Text   string
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("kernel %s, PTX line %d: %s", e.Kernel, e.Line, e.Text)
	}
	return fmt.Sprintf("kernel %s: %s", e.Kernel, e.Text)
}

// Lower turns an entry and what it reaches into a Kernel.
func Lower(entry *check.Func, syms *Symbols) (*Kernel, error) { return LowerUntil(entry, syms, nil) }

// LowerUntil is Lower that ends with [ptx.ErrStopped] soon after stop is set; nil never is.
func LowerUntil(entry *check.Func, syms *Symbols, stop *atomic.Bool) (*Kernel, error) {
	return lowerKernel(entry, syms, func(string, *Func) {}, stop)
}

// LowerVerified is Lower for tests: it looks at every function after each pass, and panics where Verify finds
// something.
func LowerVerified(entry *check.Func, syms *Symbols) (*Kernel, error) {
	var bad error
	k, err := LowerWatched(entry, syms, func(pass string, f *Func) {
		if err := Verify(f); err != nil && bad == nil {
			bad = fmt.Errorf("after the pass %s: %w", pass, err)
		}
	})
	if bad != nil {
		panic(bad)
	}
	return k, err
}

// LowerWatched is Lower with a look at every function after each pass: blocks (basic blocks, in the order in which they
// run), and those of passes.
func LowerWatched(entry *check.Func, syms *Symbols, watch func(pass string, f *Func)) (*Kernel, error) {
	return lowerKernel(entry, syms, watch, nil)
}

func lowerKernel(entry *check.Func, syms *Symbols, watch func(pass string, f *Func), stop *atomic.Bool) (*Kernel,
	error) {
	l := &lowerer{syms: syms, stop: stop, k: &Kernel{Name: entry.Name, Attrs: entry.Attrs,
		Shared: map[*check.Var]uint64{}, Handles: map[uint64]int{}},
		funcs: map[*check.Func]int{}, consts: map[constKey]uint32{}, values: map[constValue]uint32{},
		globals: map[*check.Var]bool{}}
	l.queue(entry)
	if syms != nil && reaches(entry, syms) {
		// Any function whose address is taken may be reached through a pointer.
		taken := make([]*check.Func, 0, len(syms.Handles))
		for f := range syms.Handles {
			taken = append(taken, f)
		}
		sort.Slice(taken, func(i, j int) bool { return syms.Handles[taken[i]] < syms.Handles[taken[j]] })
		for _, f := range taken {
			if f.Defined && !f.Entry {
				l.k.Handles[syms.Handles[f]] = l.queue(f)
			}
		}
	}
	for i := 0; i < len(l.pending); i++ {
		if err := l.lowerFunc(l.pending[i], l.k.Funcs[i]); err != nil {
			return nil, err
		}
	}
	for _, f := range l.k.Funcs {
		watch("blocks", f)
	}
	l.layLocal()
	for _, p := range passes {
		for _, f := range l.k.Funcs {
			if l.stopped() {
				return nil, ptx.ErrStopped
			}
			if err := p.run(l, f); err != nil {
				return nil, err
			}
			watch(p.name, f)
		}
	}
	l.layShared()
	l.fixConsts()
	return l.k, nil
}

// reaches says whether an entry can make an indirect call.
func reaches(entry *check.Func, syms *Symbols) bool {
	seen := map[*check.Func]bool{}
	work := []*check.Func{entry}
	for len(work) > 0 {
		f := syms.function(work[len(work)-1])
		work = work[:len(work)-1]
		if seen[f] {
			continue
		}
		seen[f] = true
		if !f.Calls {
			continue
		}
		for i := range f.Insts {
			in := &f.Insts[i]
			if in.Match.Form.Op != optab.OpCall {
				continue
			}
			direct := false
			for j := range in.Args {
				if in.Args[j].Kind == check.ArgSym && in.Args[j].Func != nil {
					work = append(work, in.Args[j].Func)
					direct = true
				}
			}
			if !direct {
				return true
			}
		}
	}
	return false
}

type constKey struct {
	class  Class
	lo, hi uint64
	v      *check.Var
	f      *check.Func
}

// constValue is the constKey of the many constants that are no more than a value.
type constValue struct {
	class Class
	lo    uint64
}

// stopped says whether the caller wants the lowering to end.
func (l *lowerer) stopped() bool { return l.stop != nil && l.stop.Load() }

type lowerer struct {
	inliner *inliner
	stop    *atomic.Bool // may be nil
	syms    *Symbols
	k       *Kernel
	funcs   map[*check.Func]int
	pending []*check.Func
	consts  map[constKey]uint32
	values  map[constValue]uint32
	globals map[*check.Var]bool
	shared  []*check.Var
}

func (l *lowerer) queue(f *check.Func) int {
	f = l.syms.function(f)
	if i, ok := l.funcs[f]; ok {
		return i
	}
	i := len(l.pending)
	l.funcs[f] = i
	l.pending = append(l.pending, f)
	lf := &Func{Name: f.Name, Check: f, Index: i, Files: f.Files}
	if l.syms != nil {
		lf.Handle = l.syms.Handles[f]
	}
	l.k.Funcs = append(l.k.Funcs, lf)
	l.signature(f, lf)
	return i
}

// signature lays out parameters; a callee's are needed before its body is lowered.
func (l *lowerer) signature(f *check.Func, lf *Func) {
	if f.Entry {
		var params check.Layout
		for _, p := range f.Params {
			l.k.Params = append(l.k.Params, Param{Name: p.Name, Offset: params.Add(p), Size: p.Size,
				Align: max(p.Align, 1)})
		}
		l.k.ParamSize = params.Size
		return
	}
	slot := func(p *check.Var) Slot {
		if p.Space == "reg" { // no storage but the register's
			lf.slots = append(lf.slots, Slot{Off: uint64(len(lf.slots)), Size: uint64(p.Type.Bits+7) / 8})
			return lf.slots[len(lf.slots)-1]
		}
		return lf.newSlot(p.Size)
	}
	for _, p := range scalars(f.Returns) {
		lf.Returns = append(lf.Returns, slot(p))
	}
	for _, p := range scalars(f.Params) {
		lf.Params = append(lf.Params, slot(p))
	}
	lf.RetRegs = make([]*Arg, len(lf.Returns))
	lf.ParamRegs = make([]*Arg, len(lf.Params))
}

// scalars is a list of parameters or results with the components of registers of vector type in their places.
func scalars(list []*check.Var) []*check.Var {
	if !slices.ContainsFunc(list, func(v *check.Var) bool { return len(v.Elems) > 0 }) {
		return list
	}
	var out []*check.Var
	for _, v := range list {
		if len(v.Elems) > 0 {
			out = append(out, v.Elems...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

// konst returns the pool row of a constant.
func (l *lowerer) konst(c Class, lo, hi uint64, v *check.Var, f *check.Func) Ref {
	value, plain := constValue{c, lo}, hi == 0 && v == nil && f == nil
	key := constKey{c, lo, hi, v, f}
	if plain {
		if off, ok := l.values[value]; ok {
			return Ref{off, 1}
		}
	} else if off, ok := l.consts[key]; ok {
		return Ref{off, 1}
	}
	off := l.k.ConstSize
	if off < maxConsts { // or blocks will find that there are too many
		l.k.ConstSize += max(c.RowSize(), 128)
	}
	if plain {
		l.values[value] = off
	} else {
		l.consts[key] = off
	}
	l.k.Consts = append(l.k.Consts, ConstRow{Off: off, Class: c, Lo: lo, Hi: hi, Var: v, Func: f})
	switch {
	case v == nil:
	case v.Space == "shared":
		l.share(v)
	case !l.globals[v]:
		l.globals[v] = true
		l.k.Globals = append(l.k.Globals, v)
	}
	return Ref{off, 1}
}

// share gives a variable its place in shared memory.
func (l *lowerer) share(v *check.Var) {
	if !l.globals[v] {
		l.globals[v] = true
		l.shared = append(l.shared, v)
	}
}

// layShared places the shared variables that the kernel uses: static ones in order of declaration, unsized ones
// (dynamic shared memory) all at the end, where they overlap.
func (l *lowerer) layShared() {
	check.SortShared(l.shared)
	var all, unsized check.Layout
	for _, v := range l.shared {
		if v.Size == 0 {
			l.k.UsesDynamicShared = true
			unsized.Pad(v.Align)
			continue
		}
		l.k.Shared[v] = uint64(uint32(ReservedShared + all.Add(v)))
	}
	all.Pad(unsized.Align)
	// the driver's compiler counts in 32 bits, and the launch adds what is reserved (recorded)
	l.k.SharedSize = uint32(all.Size)
	if l.k.SharedSize > maxShared {
		if l.k.SharedSize+ReservedShared >= ReservedShared {
			l.k.TooBig = Shared
		}
		l.k.SharedSize = 0
	}
	for _, v := range l.shared {
		if v.Size == 0 {
			l.k.Shared[v] = ReservedShared + all.Size
		}
	}
}

// layLocal sums up the local memory of a thread.
func (l *lowerer) layLocal() {
	l.k.Local = l.k.Funcs[0].Local.Size
	if d, ok := l.depth(0, map[int]uint64{}); ok {
		l.k.Stack = d - l.k.Local
	}
	if l.k.Local+l.k.Stack > check.MaxThreadLocal {
		l.k.TooBig = Local
	}
}

// depth is the local memory of a function and of those that it calls, at their deepest; false when it can call itself,
// or a function through a pointer.
func (l *lowerer) depth(i int, known map[int]uint64) (uint64, bool) {
	const pending = ^uint64(0)
	if d, ok := known[i]; ok {
		return d, d != pending
	}
	known[i] = pending
	f, deepest := l.k.Funcs[i], uint64(0)
	for j := range f.Ops {
		c := f.Ops[j].Call
		switch {
		case c == nil || c.Builtin != "":
			continue
		case c.Func < 0:
			return 0, false
		}
		d, ok := l.depth(c.Func, known)
		if !ok {
			return 0, false
		}
		d += max(l.k.Funcs[c.Func].Local.Align, localAlign) - localAlign // its begin is aligned too
		deepest = min(max(deepest, d), check.Huge)
	}
	known[i] = f.Local.Size + deepest
	return known[i], true
}

// tooMuch is the error of a kernel that needs more than the software device has. The checker's limits are lower where
// the driver's compiler has some.
func (l *lowerer) tooMuch(what string, n, most uint64) error {
	return &Error{Kernel: l.k.Name, Text: fmt.Sprintf("it needs %d bytes for %s, and the software device has %d", n,
		what, most)}
}

// fixConsts puts shared and function addresses, now known, into the pool.
func (l *lowerer) fixConsts() {
	for i := range l.k.Consts {
		c := &l.k.Consts[i]
		if c.Var != nil && c.Var.Space == "shared" {
			c.Lo += l.k.Shared[c.Var]
		}
		if c.Func != nil && l.syms != nil {
			c.Lo += l.syms.Handles[c.Func]
		}
	}
}

// body is the state of lowering one function.
type body struct {
	*lowerer
	f     *check.Func
	lf    *Func
	rows  []Ref // by register index; Sel is 1 once placed
	local map[*check.Var]uint64
	slots map[*check.Var]Slot
	stack []*check.Var // parameters that are copied to local memory
	ops   []Op
	spare []Arg // unused operands
	rests []ArgRest
	types map[string]*optab.Position
	line  int32
	loc   check.Loc
	match *optab.Match // of the instruction in hand
	lanes wmmaLanes
}

func (b *body) fail(format string, args ...any) error {
	return &Error{b.k.Name, b.line, fmt.Sprintf(format, args...)}
}

// newRow numbers a row; place finds its offset later.
func (b *body) newRow(c Class, width int) Ref {
	return b.lf.newRow(c, width)
}

func (lf *Func) newRow(c Class, width int) Ref {
	i := rowInfo{class: c}
	if width < 32 {
		i.width = uint8(width)
	}
	lf.rows = append(lf.rows, i)
	return Ref{Off: uint32(len(lf.rows)) - 1}
}

// newSlot numbers a parameter variable.
func (lf *Func) newSlot(size uint64) Slot {
	s := Slot{Off: uint64(len(lf.slots)), Stride: (size + 15) &^ 15, Size: size}
	lf.slots = append(lf.slots, s)
	return s
}

func (b *body) reg(v *check.Var) Ref {
	if v.Index >= len(b.rows) {
		b.rows = append(b.rows, make([]Ref, v.Index+1-len(b.rows))...)
	}
	if r := b.rows[v.Index]; r.Sel != 0 {
		return Ref{Off: r.Off}
	}
	r := b.newRow(ClassOf(v.Type.Bits), v.Type.Bits)
	b.lf.rows[r.Off].name = v.Name
	b.rows[v.Index] = Ref{r.Off, 1}
	return r
}

func (l *lowerer) lowerFunc(f *check.Func, lf *Func) error {
	b := &body{lowerer: l, f: f, lf: lf, local: map[*check.Var]uint64{}, slots: map[*check.Var]Slot{}}
	b.rows = make([]Ref, len(f.Regs))
	if !f.Defined {
		return b.fail("function %s is declared but not defined", f.Name)
	}
	if !f.Entry {
		bind := func(vars []*check.Var, slots []Slot, regs []*Arg) {
			for i, p := range vars {
				if p.Space == "reg" {
					regs[i] = &Arg{Kind: Row, Class: ClassOf(p.Type.Bits), Ref: b.reg(p),
						Position: b.typed(p.Type.Name), Width: uint8(p.Type.Bits), ArgRest: &noRest}
				}
				b.slots[p] = slots[i]
			}
		}
		bind(scalars(f.Params), lf.Params, lf.ParamRegs)
		bind(scalars(f.Returns), lf.Returns, lf.RetRegs)
	}
	for _, v := range f.Locals {
		switch v.Space {
		case "local":
			b.local[v] = min(lf.Local.Add(v), maxLocal)
		case "param":
			size := v.Size
			if size > maxLocal && !mentioned(f, v) {
				size = 0
			}
			b.slots[v] = lf.newSlot(size)
		case "shared": // used or not (ptxas -v)
			l.share(v)
		}
	}
	b.stackParams()
	// the driver's compiler counts in 32 bits, and less than nothing is nothing (recorded)
	if lf.Local.Size > math.MaxInt32 {
		lf.Local.Size = uint64(max(int32(lf.Local.Size), 0))
	}
	lf.Local.Pad(localAlign)
	if f.Entry && l.k.ParamSize > maxParams {
		return l.tooMuch("its parameters", l.k.ParamSize, maxParams)
	}
	for _, s := range lf.slots {
		if s.Size > maxLocal {
			return l.tooMuch("a parameter of function "+f.Name, s.Size, maxLocal)
		}
	}
	if err := b.blocks(); err != nil {
		return err
	}
	if l.k.ConstSize >= maxConsts {
		return l.tooMuch("constants", uint64(l.k.ConstSize), maxConsts)
	}
	return nil
}

// mentioned says whether an instruction of a function has a variable as operand.
func mentioned(f *check.Func, v *check.Var) bool {
	var in func(list []check.Arg) bool
	in = func(list []check.Arg) bool {
		return slices.ContainsFunc(list, func(a check.Arg) bool {
			return a.Var == v || a.Base != nil && a.Base.Var == v || a.Second != nil && a.Second.Var == v || in(a.Elems)
		})
	}
	return slices.ContainsFunc(f.Insts, func(i check.Inst) bool { return in(i.Args) })
}

// stride is how many instructions of a block are lowered between two looks at the flag that ends the work.
const stride = 1024

// blocks finds basic blocks, orders them and writes their operations.
func (b *body) blocks() error {
	n := len(b.f.Insts)
	b.ops = make([]Op, 0, n+n/16+8)
	leader := make([]bool, n+1)
	leader[0], leader[n] = true, true
	for _, lb := range b.f.Labels {
		leader[lb.Inst] = true
	}
	for i := range b.f.Insts {
		if ends(&b.f.Insts[i]) {
			leader[i+1] = true
		}
	}
	blockOf := make([]int32, n+1)
	var starts []int
	for i := 0; i <= n; i++ {
		if leader[i] {
			starts = append(starts, i)
		}
		blockOf[i] = int32(len(starts) - 1)
	}
	nb := len(starts) // the last one is the implicit end
	succ := make([][]int32, nb)
	links := make([]int32, 0, 2*nb) // room for the successors: two for a block, more only after brx
	for k := 0; k < nb-1; k++ {
		last := &b.f.Insts[starts[k+1]-1]
		ss := links[len(links):]
		if fallsThrough(last) {
			ss = append(ss, int32(k+1))
		}
		if ends(last) {
			eachTarget(last, func(t *check.Label) { ss = append(ss, blockOf[t.Inst]) })
		}
		slices.Sort(ss)
		if n := len(links) + len(ss); n <= cap(links) {
			links = links[:n] // they stand there
		}
		succ[k] = ss[:len(ss):len(ss)]
	}
	layout := order(succ, 0)
	begin := make([]int32, nb)
	type patch struct {
		op, index int // index -1: Target
		block     int32
	}
	var patches []patch
	if n > 0 {
		b.line, b.loc = b.f.Insts[0].AST.Line, b.f.Insts[0].Loc
	}
	if err := b.copyStackParams(); err != nil {
		return err
	}
	if err := b.wmmaLanes(); err != nil {
		return err
	}
	for pos, k := range layout {
		if b.stopped() {
			return ptx.ErrStopped
		}
		begin[k] = int32(len(b.ops))
		if int(k) == nb-1 {
			b.ops = append(b.ops, b.final())
			continue
		}
		for i := starts[k]; i < starts[k+1]; i++ {
			in := &b.f.Insts[i]
			b.line, b.loc = in.AST.Line, in.Loc
			if err := b.inst(in); err != nil {
				return err
			}
			if i%stride == 0 && b.stopped() {
				return ptx.ErrStopped
			}
			op := &b.ops[len(b.ops)-1]
			switch op.Ctl {
			case Branch:
				eachTarget(in, func(t *check.Label) {
					patches = append(patches, patch{len(b.ops) - 1, -1, blockOf[t.Inst]})
				})
			case BranchX:
				n := 0
				eachTarget(in, func(t *check.Label) {
					patches = append(patches, patch{len(b.ops) - 1, n, blockOf[t.Inst]})
					n++
				})
				op.OpRest = &OpRest{Targets: make([]int32, n)}
			}
		}
		if fallsThrough(&b.f.Insts[starts[k+1]-1]) && (pos+1 == len(layout) || layout[pos+1] != k+1) {
			b.ops = append(b.ops, Op{Ctl: Jump, Guard: -1, Line: b.line, Loc: b.loc, OpRest: &noOpRest})
			patches = append(patches, patch{len(b.ops) - 1, -1, k + 1})
		}
	}
	for _, p := range patches {
		t := begin[p.block]
		if p.index < 0 {
			b.ops[p.op].Target = t
		} else {
			b.ops[p.op].Targets[p.index] = t
		}
		if int(t) <= p.op {
			b.lf.Loops = true
		}
	}
	b.lf.Ops = b.ops
	return nil
}

// final is what running past the last instruction does.
func (b *body) final() Op {
	c := Ret
	if b.f.Entry {
		c = Exit
	}
	return Op{Ctl: c, Guard: -1, Line: b.line, Loc: b.loc, OpRest: &noOpRest}
}

// ends says whether an instruction ends its basic block. trap does not: a guarded-off or resumed thread goes on after
// it.
func ends(in *check.Inst) bool {
	switch in.Match.Form.Op {
	case optab.OpBra, optab.OpBrx, optab.OpRet, optab.OpExit:
		return true
	}
	return false
}

func fallsThrough(in *check.Inst) bool { return !ends(in) || in.Guard != nil }

// eachTarget calls f for where a branch may lead.
func eachTarget(in *check.Inst, f func(*check.Label)) {
	for i := range in.Args {
		switch in.Args[i].Kind {
		case check.ArgLabel:
			f(in.Args[i].Label)
			return
		case check.ArgTable:
			if list := in.Args[i].Table.Labels; list != nil {
				for _, l := range list {
					f(l)
				}
				return
			}
		}
	}
}

// inst appends the operations of one instruction; the instruction's own is the last.
func (b *body) inst(in *check.Inst) error {
	op := Op{Match: in.Match, Guard: -1, Neg: in.Neg, Line: b.line, Loc: b.loc, OpRest: &noOpRest}
	// NVIDIA's compiler loses the guard of testp: lanes whose guard is false get the result too
	if in.Guard != nil && in.Match.Form.Op != optab.OpTestp {
		op.Guard = int32(b.reg(in.Guard).Off)
	}
	b.match = in.Match
	switch in.Match.Form.Op {
	case optab.OpCall:
		op.Ctl = Call
		if err := b.call(in, &op); err != nil {
			return err
		}
		b.ops = append(b.ops, op)
		return nil
	case optab.OpBra:
		op.Ctl = Branch
		b.ops = append(b.ops, op)
		return nil
	case optab.OpBrx:
		op.Ctl = BranchX
	case optab.OpRet:
		op.Ctl = Ret
		if b.f.Entry {
			op.Ctl = Exit
		}
	case optab.OpExit:
		op.Ctl = Exit
	case optab.OpTrap:
		op.Ctl = Trap
	}
	as, err := b.args(in.Args)
	if err != nil {
		return err
	}
	op.Args = as
	switch {
	case op.isHalfOfParam():
		return b.halfOfParam(&op)
	case op.Opcode() == optab.OpSt:
		if err := b.convertStored(&op, &in.Args[1]); err != nil {
			return err
		}
	}
	if f := expansions[op.Opcode()]; f != nil {
		return f(b, &op)
	}
	b.ops = append(b.ops, op)
	return nil
}

func (b *body) args(as []check.Arg) ([]Arg, error) {
	if len(as) == 0 {
		return nil, nil
	}
	out := b.newArgs(len(as))
	for i := range as {
		if err := b.arg(&as[i], &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// newArgs takes operands out of a larger piece: one for each operation would be too many for big kernels.
func (b *body) newArgs(n int) []Arg {
	if len(b.spare) < n {
		b.spare = make([]Arg, max(n, min(256, 4*len(b.f.Insts))))
	}
	out := b.spare[:n:n]
	b.spare = b.spare[n:]
	return out
}
