package amd64

import (
	"slices"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// emitter writes the code of one operation.
type emitter func(g *gen)

// noCode is the error of the operation under way.
func (g *gen) noCode(why plan.Why) *plan.NoCodeError {
	return &plan.NoCodeError{Why: why, Ops: []int32{g.pc}, Line: g.f.Ops[g.pc].Line}
}

// mark notes that the code of an operation begins here.
func (g *gen) mark(op int32) {
	m := g.marks
	if m == nil {
		return
	}
	at := int32(len(g.Code))
	if n := len(*m); n > 0 && (*m)[n-1].Offset > at {
		*m = (*m)[:0] // the code is made again
	}
	*m = append(*m, abi.Mark{Offset: at, Op: op})
}

// inContext is a word of the context.
func inContext(off int32) asm.Mem { return asm.At(asm.R15, off) }

// gen writes the code of one function.
type gen struct {
	asm.Asm
	f     *ir.Func
	a     *plan.Func
	emit  []emitter
	marks *[]abi.Mark // of the code, for a listing; nil when none is wanted
	full  bool        // all lanes are active

	c       cache
	homes   map[ir.Ref]asm.Vec
	homeReg [poolEnd]bool
	loop    int32

	pc        int32
	op        *ir.Op
	k6        uint8     // shift of the guard in k6, 0 when it holds something else
	tick      uint32    // age of predicates
	left      int32     // operations of the segment not executed yet, this one too
	dies      []uint32  // rows that nothing reads after the operation
	spare     []asm.Vec // registers that temp takes first
	noted     int32     // web whose bases context.addr holds, and 1; 0: unknown
	stubs     []func()
	labels    []asm.Label // of blocks
	entry     []int32     // code offset of entries by operation, -1 for none
	enters    []entryStub
	leave     asm.Label
	consts    []constant                  // vectors that stand behind the code
	matrix    map[matrixKind]matrixLabels // routines
	rowGather asm.Label
	sampler   asm.Label       // routine for textures
	samplers  map[int32]int32 // numbers of the operations that call it
	sampled   [4]bool         // what any of them has: x, y, z, a layer
	kinds     []matrixKind    // in the order in which they stand

	// code of whole CTAs; v is nil for that of single splits
	v           *plan.Values
	lay         *abi.Frame
	count       bool // operations
	probe       bool
	barriers    bool
	waits       bool           // barriers, or loops in which warps take turns
	localMemory bool           // it uses local memory
	carries     bool           // it uses the carry flag
	ctaLabels   [2][]asm.Label // of blocks: for some lanes, for all
	waitEntry   [2][]asm.Label // where lanes that waited go on
	warpDone    asm.Label
	warpNext    asm.Label
	straight    bool // no barriers, no loops
	// of warps in step (cta_step.go): what is known of them, where parts begin, by block, where warps come to the
	// barriers at the end of blocks, and where the CTA has ended
	inStep          *plan.Step
	begins, arrives []asm.Label
	ctaEnd          asm.Label
	// by block, of the code for some lanes: it is not written now, but by generateRest; nil for none
	later []bool
	rest  bool // this is what was left out
	// by block and operation: the rows that nothing reads behind it; the same for both versions
	ends          [][][]uint32
	nt            bool // stores may go past the caches
	dispatch      asm.Label
	dispatchTable asm.Label
	points        []ctaPoint
	checked       map[addressCheck]addressLimit
	before        map[int32]int32 // where loads note the addresses they had
	lines         []asked         // in the block
	late          []lateLoad      // in the block
	fused         int32           // comparison that is left to the branch behind it
	half          int             // the lanes to write code for: the lower 16 (1), the upper ones (2), all (0)
	halved        bool            // the template asked for them
	stretches     plan.Stretches
	whole         int32 // operations of the block before this one are written for all lanes

	refused []int32 // operations with instructions that AVX2 cannot do
}

type constant struct {
	label asm.Label
	words [16]uint32
}

type entryStub struct {
	pc   int32
	c    cache
	body asm.Label
}

// generate compiles a function. entry has the code offset at which operations can be entered.
func generate(set ISA, a *plan.Func, full bool, marks *[]abi.Mark) (code []byte, entry []int32, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = plan.Recovered(r)
		}
	}()
	g := &gen{f: a.IR, a: a, emit: emitters(a), marks: marks, full: full, loop: -1}
	g.target(set)
	g.Code = make([]byte, 0, 1024+128*len(a.IR.Ops)) // see generateCTA
	g.entry = make([]int32, len(a.IR.Ops)+1)
	for i := range g.entry {
		g.entry[i] = -1
	}
	g.labels = make([]asm.Label, len(a.Blocks))
	for i := range g.labels {
		g.labels[i] = g.NewLabel()
	}
	g.leave = g.NewLabel()
	g.routines()
	for b := range a.Blocks {
		g.block(int32(b))
	}
	g.mark(abi.OutOfLine)
	for len(g.stubs) > 0 { // a stub may ask for others
		s := g.stubs
		g.stubs = nil
		for _, f := range s {
			f()
		}
	}
	for i := range g.enters {
		g.enter(&g.enters[i])
	}
	if err := g.refusal(); err != nil {
		return nil, nil, err
	}
	g.writeEnd()
	code, err = g.Finish()
	return code, g.entry, err
}

// target makes the code that of an instruction set.
func (g *gen) target(set ISA) {
	if set == AVX2 {
		g.LowerToAVX2(asm.R15, abi.OffRegisters)
	}
}

// Mask registers that hold something across operations.
const liveMasks = 1<<1 | 1<<2 | 1<<3 | 1<<4

// liveRegs are the vector registers that hold something across operations.
func (g *gen) liveRegs() uint32 {
	live := uint32(1) << nanReg
	for z := poolStart; z < poolEnd; z++ {
		if g.c.slots[z].used {
			live |= 1 << z
		}
	}
	return live
}

// dirtyRegs are those that have to be stored before the interpreter goes on.
func (g *gen) dirtyRegs() uint32 {
	dirty := uint32(1) << nanReg
	for z := poolStart; z < poolEnd; z++ {
		if s := &g.c.slots[z]; s.used && s.dirty {
			dirty |= 1 << z
		}
	}
	return dirty
}

// rows says where the values of registers belong.
func (g *gen) rows() *asm.Rows {
	if !g.Lowers() {
		return nil
	}
	var r asm.Rows
	for z := poolStart; z < poolEnd; z++ {
		if s := &g.c.slots[z]; s.used && s.ref.Sel == 0 {
			r[z] = int32(s.ref.Off) + 1
		}
	}
	return &r
}

// begin begins an operation: nothing is in scratch registers.
func (g *gen) begin() {
	if s := g.a.Stop; s != nil && s.Load() {
		panic(plan.ErrStopped)
	}
	if n := len(g.Code); cap(g.Code)-n < 1<<12 { // append alone would copy more often
		g.Code = slices.Grow(g.Code, n)
	}
	g.mark(g.pc)
	g.k6 = 0
	g.pin()
	g.Dead(^g.liveRegs(), 0xff&^liveMasks)
}

// join binds a label between operations.
func (g *gen) join(l asm.Label) {
	g.Clean(^g.dirtyRegs())
	g.Join(l, g.liveRegs(), liveMasks, g.rows())
}

// rejoin binds a label inside an operation, at which scratch registers dead and k0 and k7 hold nothing that is needed.
func (g *gen) rejoin(l asm.Label, dead uint32) {
	live := g.liveRegs() | (1<<poolStart - 1)
	g.Join(l, live&^dead, liveMasks|1<<5|1<<6, g.rows())
}

// out branches to where nothing is in vector registers.
func (g *gen) out(l asm.Label) {
	g.Dead(0xffffffff, 0xff)
	g.Jmp(l)
}

// refuse notes that the operation's template wrote what the instruction set does not have.
func (g *gen) refuse() {
	if g.Refused() {
		g.refused = append(g.refused, g.pc)
	}
}

// refusal names the operations whose templates cannot be used with the instruction set.
func (g *gen) refusal() error {
	if g.Refused() { // not one operation's
		return &plan.NoCodeError{Why: plan.WhyInstruction}
	}
	if len(g.refused) > 0 {
		return &plan.NoCodeError{Why: plan.WhyInstruction, Ops: g.refused, Line: g.f.Ops[g.refused[0]].Line}
	}
	return nil
}

// vector returns a label at which 16 words stand.
func (g *gen) vector(words [16]uint32) asm.Label {
	for i := range g.consts {
		if g.consts[i].words == words {
			return g.consts[i].label
		}
	}
	l := g.NewLabel()
	g.consts = append(g.consts, constant{l, words})
	return l
}

// block writes a block and the way to the next.
func (g *gen) block(b int32) {
	k := &g.a.Blocks[b]
	g.enterLoop(k.Loop)
	if k.Join {
		g.Align(16)
		g.atJoin(b)
		g.join(g.labels[b])
	} else if b > 0 && !g.a.Blocks[b-1].Falls {
		g.c = cache{}
		g.preloadHomes(k)
	}
	g.enterable(k.Start)
	g.pc = k.Start
	g.CmpMI32(inContext(abi.OffLimit), k.Start)
	g.J(asm.LE, g.exit(abi.ExitLimit, 0))
	n := k.End - k.Start
	if g.steps(k.End - 1) {
		n-- // the step counts it
	}
	if n > 0 {
		g.AddMI(inContext(abi.OffInstr), n)
	}
	g.left = n
	dying := g.a.Dying(k)
	for i := k.Start; i < k.End; i++ {
		g.pc, g.op, g.dies = i, &g.f.Ops[i], dying[i-k.Start]
		g.begin()
		switch {
		case g.isBranch(i):
			g.branch(b)
		case g.steps(i):
			g.step()
		case g.emit[i] == nil:
			g.guardedStep()
		default:
			g.guard()
			g.emit[i](g)
		}
		for _, r := range dying[i-k.Start] {
			g.forget(r)
		}
		g.refuse()
		g.left--
	}
	if k.Falls {
		next := &g.a.Blocks[b+1]
		if g.steps(k.End - 1) {
			// Behind an operation of the interpreter nothing is in registers; the next block begins with an entry.
			g.c = cache{}
			if next.Join {
				return
			}
			g.preloadHomesOf(next)
			return
		}
		if next.Join {
			g.edge(b, b+1)
		}
	}
}

// steps says whether an operation is always left to the interpreter.
func (g *gen) steps(i int32) bool {
	return g.emit[i] == nil && !g.isBranch(i) && g.f.Ops[i].Guard < 0
}

func (g *gen) isBranch(i int32) bool {
	c := g.f.Ops[i].Ctl
	return c == ir.Branch || c == ir.Jump
}

// homeRegister is the register of a home: they are given out from the highest on.
func homeRegister(h plan.Home) asm.Vec { return poolEnd - 1 - asm.Vec(h.Reg) }

// enterLoop makes a loop's homes known; -1 for none.
func (g *gen) enterLoop(l int32) {
	if l == g.loop {
		return
	}
	g.loop = l
	g.homes = nil
	g.homeReg = [poolEnd]bool{}
	if l < 0 {
		return
	}
	g.homes = map[ir.Ref]asm.Vec{}
	for _, h := range g.a.Loops[l].Homes {
		g.homes[h.Ref] = homeRegister(h)
		g.homeReg[homeRegister(h)] = true
	}
}

// atJoin sets the cache to what every edge to a block provides.
func (g *gen) atJoin(b int32) {
	g.c = cache{}
	g.preloadHomes(&g.a.Blocks[b])
}

func (g *gen) preloadHomesOf(k *plan.Block) {
	g.enterLoop(k.Loop)
	g.preloadHomes(k)
}

// preloadHomes notes that the homes of a block's live rows are loaded.
func (g *gen) preloadHomes(k *plan.Block) {
	if k.Loop < 0 {
		return
	}
	l := &g.a.Loops[k.Loop]
	for _, h := range l.Homes {
		if n := g.a.Row(h.Row); k.In.Has(n) || g.homeKept(h.Row) {
			g.c.slots[homeRegister(h)] = slot{ref: h.Ref, row: h.Row, n: h.N, used: true, dirty: l.Written.Has(n),
				all: !g.keeps(h.Row)}
		}
	}
}

// edge brings values where block to expects them. The cache is left as it is.
func (g *gen) edge(from, to int32) {
	t := &g.a.Blocks[to]
	saved := g.c
	same := t.Loop >= 0 && t.Loop == g.a.Blocks[from].Loop
	for z := asm.Vec(poolStart); z < poolEnd; z++ {
		s := &g.c.slots[z]
		if !s.used || s.ref.Sel != 0 || !s.dirty || !g.liveAt(to, s.row) {
			continue
		}
		if same && g.homeReg[z] {
			g.canon(z)
			continue
		}
		g.spill(z)
	}
	for i := range g.c.preds {
		if p := &g.c.preds[i]; p.used && p.dirty && g.liveAt(to, p.row) {
			g.St32(rowMem(ir.Ref{Off: p.row}), predRegs[i])
		}
	}
	if t.Loop >= 0 {
		for _, h := range g.a.Loops[t.Loop].Homes {
			if !t.In.Has(g.a.Row(h.Row)) && !g.homeKept(h.Row) {
				continue
			}
			if z, ok := saved.find(h.Ref); ok && z == homeRegister(h) {
				continue
			}
			g.fill(homeRegister(h), h.Ref)
			g.Load(homeRegister(h))
		}
	}
	g.c = saved
}

// enterable makes the current position one at which Go can enter.
func (g *gen) enterable(pc int32) {
	l := g.NewLabel()
	g.join(l)
	g.enters = append(g.enters, entryStub{pc, g.c, l})
}

// enter writes the way in.
func (g *gen) enter(e *entryStub) {
	g.Bind(g.NewLabel())
	g.entry[e.pc] = int32(len(g.Code))
	g.Ld(asm.RBX, inContext(abi.OffFrame))
	g.Ld(asm.R12, inContext(abi.OffConsts))
	if !g.full {
		g.KMovDM(asm.K1, inContext(abi.OffMask))
		g.KShiftRD(asm.K2, asm.K1, 8)
		g.KShiftRD(asm.K3, asm.K1, 16)
		g.KShiftRD(asm.K4, asm.K1, 24)
	}
	g.Ld(asm.RAX, inContext(abi.OffTables))
	g.VM(asm.BroadcastD, asm.Z, nanReg, 0, asm.At(asm.RAX, offNaN))
	for z := poolStart; z < poolEnd; z++ {
		s := &e.c.slots[z]
		switch {
		case !s.used:
		case s.ref.Sel == 0:
			g.fill(asm.Vec(z), s.ref)
		case s.wide:
			g.VM(asm.BroadcastQ, asm.Z, asm.Vec(z), 0, rowMem(s.ref))
		default:
			g.VM(asm.BroadcastD, asm.Z, asm.Vec(z), 0, rowMem(s.ref))
		}
	}
	for i := range e.c.preds {
		if p := &e.c.preds[i]; p.used {
			g.Ld32(predRegs[i], rowMem(ir.Ref{Off: p.row}))
		}
	}
	g.Jmp(e.body)
}

// exit returns the label of a stub that stores what is in registers now and leaves at the current operation. uncounted
// is how many operations the segment counted that are not executed.
func (g *gen) exit(why uint32, uncounted int32) asm.Label {
	if g.half > 0 {
		panic("amd64: a way out of an operation that is written by halves of a warp")
	}
	l := g.NewLabel()
	c, pc, homes, full, late := g.c, g.pc, g.homeReg, g.full, g.pendingLate()
	g.stubs = append(g.stubs, func() {
		saved, savedHomes, savedFull := g.c, g.homeReg, g.full
		g.c, g.homeReg, g.full = c, homes, full
		g.Join(l, g.dirtyRegs(), liveMasks, g.rows())
		g.makeLate(late)
		g.flush()
		if g.v != nil {
			if full {
				g.StI32(inContext(abi.OffMask), 0xffffffff)
			}
			if !g.count {
				uncounted = 0
			}
		}
		if uncounted > 0 {
			g.AddMI(inContext(abi.OffInstr), -uncounted)
		}
		g.MovI32(asm.RAX, uint32(pc)|why<<abi.ExitShift)
		g.out(g.leave)
		g.c, g.homeReg, g.full = saved, savedHomes, savedFull
	})
	return l
}

// flush stores everything that is dirty.
func (g *gen) flush() {
	for z := asm.Vec(poolStart); z < poolEnd; z++ {
		if s := &g.c.slots[z]; s.used && s.dirty {
			g.spill(z)
		}
	}
	for i := range g.c.regs {
		g.sspill(i)
	}
	for i := range g.c.preds {
		if p := &g.c.preds[i]; p.used && p.dirty {
			g.St32(rowMem(ir.Ref{Off: p.row}), predRegs[i])
			p.dirty = false
		}
	}
}

// slow is the exit by which an operation is left to the interpreter after all.
func (g *gen) slow() asm.Label { return g.exit(abi.ExitStep, g.left) }

// step leaves the operation to the interpreter.
func (g *gen) step() {
	g.flush()
	g.MovI32(asm.RAX, uint32(g.pc)|abi.ExitStep<<abi.ExitShift)
	g.out(g.leave)
}

// guardedStep leaves the operation to the interpreter when any lane executes it.
func (g *gen) guardedStep() {
	g.predRow(asm.RAX, uint32(g.op.Guard))
	if g.op.Neg {
		g.Not32(asm.RAX)
	}
	if g.full {
		g.Test32(asm.RAX, asm.RAX)
	} else {
		g.AndLd32(asm.RAX, inContext(abi.OffMask))
	}
	g.J(asm.NE, g.slow())
}

// guard puts the lanes that execute the operation into k5.
func (g *gen) guard() {
	if g.op.Guard < 0 {
		return
	}
	g.predRow(asm.RAX, uint32(g.op.Guard))
	if g.op.Neg {
		g.Not32(asm.RAX)
	}
	if !g.full {
		g.AndLd32(asm.RAX, inContext(abi.OffMask))
	}
	g.KMovDR(asm.K5, asm.RAX)
}

// branch writes the end of block b.
func (g *gen) branch(b int32) {
	op := g.op
	to := g.a.BlockOf[op.Target]
	fall := g.NewLabel()
	if op.Ctl == ir.Branch && op.Guard >= 0 {
		g.predRow(asm.RAX, uint32(op.Guard))
		if op.Neg {
			g.Not32(asm.RAX)
		}
		diverge := g.diverge()
		if g.full {
			g.Test32(asm.RAX, asm.RAX)
			g.J(asm.E, fall)
			g.CmpI32(asm.RAX, -1)
		} else {
			g.AndLd32(asm.RAX, inContext(abi.OffMask))
			g.J(asm.E, fall)
			g.CmpLd32(asm.RAX, inContext(abi.OffMask))
		}
		g.J(asm.NE, diverge)
	}
	if op.Target <= g.pc {
		g.SubMI32(inContext(abi.OffBudget), 1)
		g.J(asm.S, g.exit(abi.ExitBudget, 0))
	}
	g.edge(b, to)
	g.Jmp(g.labels[to])
	if op.Ctl == ir.Branch && op.Guard >= 0 {
		g.join(fall)
	}
}

// diverge is the exit with the lanes that take a branch in eax.
func (g *gen) diverge() asm.Label {
	l := g.NewLabel()
	to := g.exit(abi.ExitDiverge, 0)
	live := g.liveRegs()
	g.stubs = append(g.stubs, func() {
		g.Join(l, live, liveMasks, nil)
		g.St32(inContext(abi.OffOut), asm.RAX)
		g.Jmp(to)
	})
	return l
}

// outOfLine writes code behind the function's own. The cache is as it is now while f runs; f must leave it so.
func (g *gen) outOfLine(f func()) asm.Label {
	l := g.NewLabel()
	c, pc, op, homes, hr, left, full := g.c, g.pc, g.op, g.homes, g.homeReg, g.left, g.full
	g.stubs = append(g.stubs, func() {
		g.c, g.pc, g.op, g.homes, g.homeReg, g.left, g.full = c, pc, op, homes, hr, left, full
		g.k6 = 0
		g.Join(l, g.liveRegs()|(1<<poolStart-1), 0xff, g.rows())
		f()
		g.refuse()
	})
	return l
}
