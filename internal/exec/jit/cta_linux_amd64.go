package jit

import (
	"encoding/binary"
	"errors"
	"fmt"

	a64 "github.com/gocuda/cuda/internal/exec/jit/amd64asm"
	"github.com/gocuda/cuda/internal/ir"
)

// Code of whole CTAs. See doc.go for how it works.

// layout says what stands behind the rows in a warp's frame, as offsets from its start.
type layout struct {
	resume  int32 // where the warp goes on
	next    int32 // frame of the next warp
	entry   int32 // where it begins
	mask    int32 // lanes that run when it goes on, for code of some lanes
	live    int32 // lanes that have not exited
	init    int32 // lanes that it begins with
	warp    int32 // its number
	cc      int32 // carry flags
	tid     int32 // bases of %tid: three times two
	tidRows int32 // rows of %tid
	pend    int32 // lanes that wait, by block number
	slots   int32 // scalars
	size    int32
}

func newLayout(f *ir.Func, waits, slots int) *layout {
	l := &layout{}
	at := (int32(f.FrameSize) + 63) &^ 63
	l.resume, l.next, l.entry, l.mask, l.live, l.init, l.warp, l.cc = at, at+8, at+16, at+24, at+28, at+32, at+36, at+40
	l.tid = at + 64
	l.tidRows = at + 128
	l.pend = l.tidRows + 3*128
	l.slots = l.pend + (int32(4*waits)+127)&^63
	l.size = (l.slots+int32(16*slots)+127)&^127 + 64
	return l
}

// resumePoint is a place at which a warp goes on.
type resumePoint struct {
	off    int32 // in the code
	op     int32
	masked bool
	bar    bool // behind a barrier, whose operation is the one before
}

// ctaCode is the code of a kernel for blocks of given dimensions.
type ctaCode struct {
	v       *values
	lay     *layout
	text    []byte
	start   int32 // offset of the way in
	entries [2]int32
	skip    int32 // offset of where ended warps stand
	points  []resumePoint
}

var errCTA = errors.New("jit: the kernel needs the scheduler")

// ctaForms are operations whose templates rely on nothing that CTA code does not provide.
func ctaReady(k *ir.Kernel, a *analysis) error {
	f := k.Funcs[0]
	if len(k.Funcs) != 1 {
		return fmt.Errorf("%w: it calls functions", errCTA)
	}
	barrier := uint8(0)
	for i := range f.Ops {
		op := &f.Ops[i]
		switch op.Ctl {
		case ir.Branch, ir.Jump, ir.Ret, ir.Exit, ir.Trap:
			continue
		case ir.Plain, ir.Special:
		default:
			return fmt.Errorf("%w: PTX line %d", errCTA, op.Line)
		}
		if b := barrierOf(op); b != 0 {
			if barrier != 0 && barrier != b {
				return fmt.Errorf("%w: it has several barriers", errCTA)
			}
			barrier = b
			continue
		}
		if a.native[i] == nil || stacking(op) {
			return fmt.Errorf("%w: PTX line %d has no template", errCTA, op.Line)
		}
		for j := range op.Args {
			if x := &op.Args[j]; x.Kind == ir.Addr && (x.Space == ir.Local || x.Space == ir.FrameParam || x.Space == ir.SharedCluster) {
				return fmt.Errorf("%w: PTX line %d", errCTA, op.Line)
			}
		}
	}
	return nil
}

// generateCTA writes the code of whole CTAs.
func generateCTA(k *ir.Kernel, a *analysis, v *values, count, probe bool, set isa) (c *ctaCode, err error) {
	var g *gen
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(error)
			if !ok || !errors.Is(e, errPressure) {
				panic(r)
			}
			err = fmt.Errorf("%w (operation %d, PTX line %d)", e, g.pc, g.op.Line)
		}
	}()
	for i := range a.loops {
		a.loops[i].homes = nil
		a.giveHomes(&a.loops[i], v)
	}
	lay := v.placeScalars(a.f)
	g = &gen{f: a.f, a: a, v: v, lay: lay, loop: -1, count: count, probe: probe, fused: -1}
	g.target(set)
	g.nt = set == avx512
	carries := false
	for i := range k.Funcs[0].Ops {
		b := &k.Funcs[0].Ops[i]
		g.barriers = g.barriers || barrierOf(b) != 0
		carries = carries || carrying(b)
	}
	c = &ctaCode{v: v, lay: lay}
	for i := range g.ctaLabels {
		g.ctaLabels[i] = make([]a64.Label, len(a.blocks))
		for b := range a.blocks {
			g.ctaLabels[i][b] = g.NewLabel()
		}
	}
	g.leave, g.warpDone, g.warpNext, g.dispatch, g.dispatchTable = g.NewLabel(), g.NewLabel(), g.NewLabel(), g.NewLabel(), g.NewLabel()
	g.straight = !g.barriers && !a.f.Loops
	start, skip := g.NewLabel(), g.NewLabel()
	entry := [2]a64.Label{g.NewLabel(), g.NewLabel()}
	// The way in.
	g.Bind(start)
	g.Ld(a64.RBX, inContext(offFrame))
	g.Ld(a64.R12, inContext(offConsts))
	g.Ld(a64.RAX, inContext(offTables))
	g.VM(a64.BroadcastD, a64.Z, nanReg, 0, a64.At(a64.RAX, offNaN))
	g.JmpM(g.inFrame(lay.resume))
	versions := []bool{true, false}
	for _, full := range versions {
		g.full, g.loop = full, -1
		g.c = cache{}
		which := 0
		if full {
			which = 1
		}
		g.Align(16)
		g.Bind(entry[which])
		g.St(inContext(offFrame), a64.RBX)
		if !full {
			g.Ld32(a64.RAX, g.inFrame(lay.init))
			g.setMasks()
		}
		if carries {
			g.StI32(g.inFrame(lay.cc), 0)
		}
		for b := range a.blocks {
			g.ctaBlock(int32(b))
		}
		g.mark(OutOfLine)
		for len(g.stubs) > 0 {
			s := g.stubs
			g.stubs = nil
			for _, f := range s {
				f()
			}
		}
	}
	g.writeDispatch()
	// The warp has ended. One that never stood anywhere but at its beginning, with all lanes, needs not be made ready for the next CTA.
	g.Bind(g.warpDone)
	if g.barriers {
		g.LeaLabel(a64.RAX, skip)
	} else {
		g.Ld(a64.RAX, g.inFrame(lay.entry))
	}
	g.St(g.inFrame(lay.resume), a64.RAX)
	g.Ld32(a64.RAX, g.inFrame(lay.init))
	g.St32(g.inFrame(lay.live), a64.RAX)
	g.Bind(g.warpNext)
	g.MI(a64.ArithSub, false, inContext(offLeft), 1)
	done := g.NewLabel()
	g.J(a64.E, done)
	g.Bind(skip)
	g.Ld(a64.RBX, g.inFrame(lay.next))
	g.JmpM(g.inFrame(lay.resume))
	g.Bind(done)
	if g.barriers {
		loop := g.NewLabel()
		g.Ld(a64.RBX, inContext(offFirst))
		g.Bind(loop)
		g.Ld(a64.RAX, g.inFrame(lay.entry))
		g.St(g.inFrame(lay.resume), a64.RAX)
		g.Ld(a64.RBX, g.inFrame(lay.next))
		g.CmpLd(a64.RBX, inContext(offFirst))
		g.J(a64.NE, loop)
	}
	// The next CTA of the batch.
	end, go1 := g.NewLabel(), g.NewLabel()
	g.SubMI32(inContext(offBatch), 1)
	g.J(a64.E, end)
	if !g.barriers {
		g.Ld(a64.RBX, inContext(offFirst))
	}
	g.StI32(inContext(offLeft), uint32(v.warps))
	for axis := range int32(3) {
		g.Ld32(a64.RAX, inContext(offCTAID+4*axis))
		g.AddI32(a64.RAX, 1)
		g.St32(inContext(offCTAID+4*axis), a64.RAX)
		g.CmpLd32(a64.RAX, inContext(offGrid+4*axis))
		g.J(a64.NE, go1)
		g.StI32(inContext(offCTAID+4*axis), 0)
	}
	g.Bind(go1)
	g.JmpM(g.inFrame(lay.resume))
	g.Bind(end)
	g.MovI32(a64.RAX, exitDone<<exitShift)
	g.Bind(g.leave)
	if v.streams && g.nt {
		g.SFence()
	}
	g.VZeroUpper()
	g.Ret()
	for len(g.Code)%64 != 0 {
		g.Code = append(g.Code, 0xcc)
	}
	for i := range g.consts {
		g.Bind(g.consts[i].label)
		for _, w := range g.consts[i].words {
			g.Code = binary.LittleEndian.AppendUint32(g.Code, w)
		}
	}
	g.Bind(g.dispatchTable)
	at := int32(len(g.Code))
	for _, which := range []int{0, 1} {
		for b := range a.blocks {
			if v.pending[b] >= 0 {
				g.Code = binary.LittleEndian.AppendUint32(g.Code, uint32(g.Offset(g.waitEntry[which][b])-at))
			}
		}
	}
	if err := g.refusal(); err != nil {
		return nil, err
	}
	if c.text, err = g.Finish(); err != nil {
		return nil, err
	}
	c.start, c.skip = g.Offset(start), g.Offset(skip)
	c.entries = [2]int32{g.Offset(entry[0]), g.Offset(entry[1])}
	for _, p := range g.points {
		c.points = append(c.points, resumePoint{g.Offset(p.label), p.op, p.masked, p.bar})
	}
	return c, nil
}

// placeScalars gives every scalar its place.
func (v *values) placeScalars(f *ir.Func) *layout {
	lay := newLayout(f, v.waits, 0)
	// Values that stand somewhere already.
	g := &gen{f: f, a: v.a, v: v, lay: lay}
	for i := range v.ops {
		op := &f.Ops[i]
		if len(v.ops[i].defs) != 1 || op.Guard >= 0 || v.dead[i] {
			continue
		}
		x := &v.webs[v.ops[i].defs[0].web]
		if !x.fixed || !x.shape.scalar() || x.class == ir.WPred {
			continue
		}
		var p place
		switch v.info[i].code {
		case opParam:
			if ac, ok := accessOf(op, &op.Args[1], &op.Args[0]); ok && ac.es >= 4 {
				p = place{a64.R15, offParamCopy + ac.disp, true}
			}
		case opSpecial:
			p, _ = g.specialPlace(op)
		case opMov, opCvta:
			a := &op.Args[1]
			if v.info[i].code == opCvta && op.Match.One("global", "const") == "" {
				break
			}
			if a.Kind == ir.Imm {
				p = place{a64.R12, int32(a.Ref.Off), true}
			} else if y := &v.webs[v.useWeb(int32(i), a.Ref.Off)]; y.alias {
				p = y.at
			}
		}
		if p.set {
			x.at, x.alias = p, true
		}
	}
	// Slots: local values share them.
	for i := range v.ops {
		for _, list := range [][]rowWeb{v.ops[i].uses, v.ops[i].defs} {
			for _, x := range list {
				v.webs[x.web].last = int32(i)
			}
		}
	}
	slots := int32(0)
	var free []int32
	ends := map[int32][]int32{}
	block := int32(-1)
	for i := range v.ops {
		if b := v.inBlock[i]; b != block {
			block = b
			free = free[:0]
			clear(ends)
		}
		for _, d := range v.ops[i].defs {
			x := &v.webs[d.web]
			if x.at.set || !x.shape.scalar() || x.class == ir.WPred {
				continue
			}
			n := slots
			if x.block >= 0 && len(free) > 0 {
				n = free[len(free)-1]
				free = free[:len(free)-1]
			} else {
				slots++
			}
			x.at = place{a64.RBX, 16 * n, true} // for now
			if x.block >= 0 {
				ends[x.last] = append(ends[x.last], n)
			}
		}
		free = append(free, ends[int32(i)]...)
	}
	lay = newLayout(f, v.waits, int(slots))
	for w := range v.webs {
		if x := &v.webs[w]; x.at.set && !x.alias {
			x.at.disp += lay.slots
		}
	}
	return lay
}

func (g *gen) inFrame(off int32) a64.Mem { return a64.At(a64.RBX, off) }

// pend is the mask of lanes that wait at a block.
func (g *gen) pend(b int32) a64.Mem { return g.inFrame(g.lay.pend + 4*g.v.pending[b]) }

// setMasks makes the lanes in eax those that run.
func (g *gen) setMasks() {
	g.St32(inContext(offMask), a64.RAX)
	g.KMovDR(1, a64.RAX)
	g.KShiftRD(2, 1, 8)
	g.KShiftRD(3, 1, 16)
	g.KShiftRD(4, 1, 24)
}

func (g *gen) version() int {
	if g.full {
		return 1
	}
	return 0
}

// parts says whether lanes can part at the end of a block.
func (g *gen) parts(b int32) bool {
	if b < 0 {
		return false
	}
	op := &g.f.Ops[g.a.blocks[b].end-1]
	if op.Guard < 0 {
		return false
	}
	switch op.Ctl {
	case ir.Branch:
		return !g.uniformGuard(g.a.blocks[b].end - 1)
	case ir.Ret, ir.Exit:
		return true
	}
	return false
}

func (g *gen) uniformGuard(i int32) bool {
	return g.v.webs[g.v.useWeb(i, uint32(g.f.Ops[i].Guard))].shape.kind == kindUniform
}

// joins says whether several edges lead to a block's code.
func (g *gen) joins(b int32) bool {
	return g.a.blocks[b].join || g.v.pending[b] >= 0 || !g.full && g.parts(b-1)
}

type ctaPoint struct {
	label  a64.Label
	op     int32
	masked bool
	bar    bool
}

// ctaBlock writes a block.
func (g *gen) ctaBlock(b int32) {
	k := &g.a.blocks[b]
	g.enterLoop(k.loop)
	switch {
	case g.joins(b):
		g.Align(16)
		g.atJoin(b)
		g.join(g.ctaLabels[g.version()][b])
		g.checked = nil
		if !g.full && g.v.pending[b] >= 0 {
			g.merge(b)
		}
	case b > 0 && !g.a.blocks[b-1].falls:
		g.atJoin(b)
		g.join(g.ctaLabels[g.version()][b])
		g.checked = nil
	default:
		g.Pass(g.ctaLabels[g.version()][b])
	}
	g.noted = 0
	g.pc = k.start
	n := k.end - k.start
	if g.count {
		g.AddMI(inContext(offInstr), n)
	}
	g.left = n
	dying := g.a.dying(k)
	for i := k.start; i < k.end; i++ {
		g.pc, g.op, g.dies = i, &g.f.Ops[i], dying[i-k.start]
		g.begin()
		if g.probe && g.fused != i-1 {
			g.MI(a64.ArithSub, false, inContext(offProbe), 1)
			g.J(a64.S, g.slow())
		}
		switch {
		case g.v.dead[i]:
		case g.isBranch(i):
			g.ctaBranch(b)
		case g.op.Ctl == ir.Ret || g.op.Ctl == ir.Exit:
			g.ctaExit(b)
		case barrierOf(g.op) != 0:
			g.ctaBarrier(b)
		case g.op.Ctl == ir.Trap:
			if g.op.Guard >= 0 {
				g.guardedStep()
			} else {
				g.Jmp(g.slow())
			}
		case g.fuses(b, i):
		case g.scalarOp(i):
		case g.threadRow():
		default:
			g.guard()
			g.a.native[i](g)
		}
		if g.fused != i {
			g.settle(i)
		}
		for _, r := range dying[i-k.start] {
			if !g.keeps(r) {
				g.forget(r)
			}
		}
		g.refuse()
		g.left--
	}
	if k.falls {
		if op := &g.f.Ops[k.end-1]; barrierOf(op) != 0 && g.v.warps > 1 {
			return
		}
		if g.joins(b + 1) {
			g.edge(b, b+1)
		}
	}
}

// threadRow reads a component of %tid that is not a scalar.
func (g *gen) threadRow() bool {
	if g.op.Ctl != ir.Special || g.op.Guard >= 0 || len(g.op.Name) != 6 || g.op.Name[:5] != "%tid." {
		return false
	}
	axis := int32(g.op.Name[5] - 'x')
	for p := range 2 {
		g.pin()
		z, o := g.dst(&g.op.Args[0], p)
		g.VM(a64.MovU32, o, z, 0, g.inFrame(g.lay.tidRows+128*axis+int32(64*p)))
	}
	return true
}

// settle stores scalars that other blocks read, and forgets those that nothing reads any more.
func (g *gen) settle(i int32) {
	for _, list := range [][]rowWeb{g.v.ops[i].defs, g.v.ops[i].uses} {
		for _, x := range list {
			w := &g.v.webs[x.web]
			if w.class == ir.WPred || !w.shape.scalar() {
				continue
			}
			switch {
			case w.block < 0:
				if z, ok := g.c.find(scalarRef(x.web, 0)); ok {
					g.spill(z)
				}
			case w.last <= i:
				g.sdrop(x.web)
				g.dropPieces(x.web)
			}
		}
	}
	for _, d := range g.v.ops[i].defs {
		g.uncheck(d.web)
	}
}

// merge lets the lanes that wait at a block go on with those that come.
func (g *gen) merge(b int32) {
	back := g.NewLabel()
	g.CmpMI32(g.pend(b), 0)
	stub := g.outOfLine(func() {
		g.Ld32(a64.RAX, g.pend(b))
		g.StI32(g.pend(b), 0)
		g.RM(a64.ArithOr, false, a64.RAX, inContext(offMask))
		g.CmpI32(a64.RAX, -1)
		g.J(a64.E, g.ctaLabels[1][b])
		g.setMasks()
		g.Jmp(back)
	})
	g.J(a64.NE, stub)
	g.join(back)
}

// liveAt says whether a row's value must be kept on the way to a block.
func (g *gen) liveAt(t int32, row uint32) bool {
	n := g.a.number[row]
	return t >= 0 && g.a.blocks[t].in.has(n) || g.v != nil && !g.full && g.v.pendRows.has(n)
}

// spillFor stores everything that lanes need that go to block t (-1: to those where others wait) while this code does not.
func (g *gen) spillFor(t int32) {
	saved := g.c
	for z := uint8(poolStart); z < poolEnd; z++ {
		if s := &g.c.slots[z]; s.used && s.ref.Sel == 0 && s.dirty && g.liveAt(t, s.row) {
			g.spill(z)
		}
	}
	for i := range g.c.preds {
		if p := &g.c.preds[i]; p.used && p.dirty && g.liveAt(t, p.row) {
			g.St32(rowMem(ir.Ref{Off: p.row}), predRegs[i])
		}
	}
	g.c = saved
}

// loadHomes loads what a block expects in registers.
func (g *gen) loadHomes(b int32) {
	k := &g.a.blocks[b]
	if k.loop < 0 {
		return
	}
	for _, h := range g.a.loops[k.loop].homes {
		if k.in.has(g.a.number[h.row]) || g.homeKept(h.row) {
			g.VM(a64.MovU32, a64.Z, h.reg, 0, rowMem(h.ref))
		}
	}
}

// homeKept says whether a home holds values of lanes that wait.
func (g *gen) homeKept(row uint32) bool { return g.v != nil && g.keeps(row) }

// backEdge counts the budget on the way back to a block; the warp pauses when it is used up.
func (g *gen) backEdge(b, to int32) {
	g.SubMI32(inContext(offBudget), 1)
	l := g.outOfLine(func() {
		resume := g.NewLabel()
		g.spillFor(to)
		g.LeaLabel(a64.RAX, resume)
		g.St(g.inFrame(g.lay.resume), a64.RAX)
		if !g.full {
			g.Ld32(a64.RAX, inContext(offMask))
			g.St32(g.inFrame(g.lay.mask), a64.RAX)
		}
		g.MovI32(a64.RAX, uint32(g.a.blocks[to].start)|exitBudget<<exitShift)
		g.out(g.leave)
		g.resumeAt(resume, g.a.blocks[to].start, false)
		g.loadHomes(to)
		g.Jmp(g.ctaLabels[g.version()][to])
	})
	g.J(a64.S, l)
}

// resumeAt writes the beginning of a place at which warps go on.
func (g *gen) resumeAt(l a64.Label, op int32, bar bool) {
	g.Bind(l)
	g.points = append(g.points, ctaPoint{l, op, !g.full, bar})
	g.St(inContext(offFrame), a64.RBX)
	if !g.full {
		g.Ld32(a64.RAX, g.inFrame(g.lay.mask))
		g.setMasks()
	}
}

// goTo writes the way from the end of block b to another one.
func (g *gen) goTo(b, to int32) {
	if to <= b {
		g.backEdge(b, to)
	} else if !g.full {
		g.passWaiting(b, to)
	}
	g.edge(b, to)
	g.Jmp(g.ctaLabels[g.version()][to])
}

// passWaiting stays behind when lanes wait at a block between b and to, which go first.
func (g *gen) passWaiting(b, to int32) {
	list := g.v.between(b, to)
	if len(list) == 0 {
		return
	}
	park := func() {
		g.Ld32(a64.RAX, inContext(offMask))
		g.MR(a64.ArithOr, false, g.pend(to), a64.RAX)
	}
	if len(list) <= 4 {
		for _, c := range list {
			g.CmpMI32(g.pend(c), 0)
			g.J(a64.NE, g.outOfLine(func() {
				park()
				g.Ld32(a64.RAX, g.pend(c))
				g.StI32(g.pend(c), 0)
				g.setMasks()
				g.edge(b, c)
				g.Jmp(g.ctaLabels[0][c])
			}))
		}
		return
	}
	first, n := g.lay.pend+4*g.v.pending[list[0]], len(list)
	for i := 0; i < n; i += 16 {
		o := a64.Z
		if n-i < 16 {
			g.MovI32(a64.RAX, 1<<(n-i)-1)
			g.KMovDR(7, a64.RAX)
			o = o.Mask(7).Zeroing()
		}
		g.VM(a64.MovU32, o, 1, 0, g.inFrame(first+int32(4*i)))
		if i > 0 {
			g.V(a64.OrD, a64.Z, 0, 0, 1)
		} else {
			g.V(a64.MovA32, a64.Z, 0, 0, 1)
		}
	}
	g.V(a64.TestMD, a64.Z, 7, 0, 0)
	g.KOrTestW(7, 7)
	g.J(a64.NE, g.outOfLine(func() {
		park()
		g.spillFor(to)
		g.toWarpEnd(g.dispatch)
	}))
}

// writeDispatch lets the lanes go on that wait at the first block.
func (g *gen) writeDispatch() {
	g.full = false
	g.Bind(g.dispatch)
	found := g.NewLabel()
	for i := 0; i < g.v.waits; i += 16 {
		o := a64.Z
		if n := g.v.waits - i; n < 16 {
			g.MovI32(a64.RAX, 1<<n-1)
			g.KMovDR(7, a64.RAX)
			o = o.Mask(7)
		}
		g.VM(a64.MovU32, a64.Z, 0, 0, g.inFrame(g.lay.pend+int32(4*i)))
		g.V(a64.TestMD, o, 7, 0, 0)
		g.KMovRW(a64.RCX, 7)
		g.MovI32(a64.RDX, uint32(i))
		g.Test32(a64.RCX, a64.RCX)
		g.J(a64.NE, found)
	}
	g.Jmp(g.warpDone)
	if g.v.waits == 0 {
		g.Bind(found)
		return
	}
	g.Bind(found)
	g.Bsf32(a64.RCX, a64.RCX)
	g.Add(a64.RCX, a64.RDX)
	at := a64.Indexed(a64.RBX, a64.RCX, 4, g.lay.pend)
	g.Ld32(a64.RAX, at)
	g.StI32(at, 0)
	g.LeaLabel(a64.RDX, g.dispatchTable)
	g.CmpI32(a64.RAX, -1)
	some := g.NewLabel()
	g.J(a64.NE, some)
	g.AddI(a64.RCX, int32(g.v.waits))
	g.LdS32(a64.RAX, a64.Indexed(a64.RDX, a64.RCX, 4, 0))
	g.Add(a64.RAX, a64.RDX)
	g.JmpR(a64.RAX)
	g.Bind(some)
	g.setMasks()
	g.LdS32(a64.RAX, a64.Indexed(a64.RDX, a64.RCX, 4, 0))
	g.Add(a64.RAX, a64.RDX)
	g.JmpR(a64.RAX)
	for which := range 2 {
		g.full = which == 1
		g.waitEntry[which] = make([]a64.Label, len(g.a.blocks))
		for b := range g.a.blocks {
			if g.v.pending[b] < 0 {
				continue
			}
			l := g.NewLabel()
			g.waitEntry[which][b] = l
			g.Bind(l)
			g.loadHomes(int32(b))
			g.Jmp(g.ctaLabels[which][b])
		}
	}
}

// fuses leaves a comparison to the branch behind it.
func (g *gen) fuses(b, i int32) bool {
	if g.v.info[i].code != opSetp || i+2 != g.a.blocks[b].end || g.op.Guard >= 0 || g.op.Arg("c") != nil {
		return false
	}
	br := &g.f.Ops[i+1]
	if br.Ctl != ir.Branch || br.Guard < 0 || uint32(br.Guard) != g.op.Args[0].Ref.Off {
		return false
	}
	w := g.v.defWeb(i, g.op.Args[0].Ref.Off)
	if x := &g.v.webs[w]; x.uses != 1 || x.defs != 1 {
		return false
	} else if x.shape.kind != kindUniform {
		if g.affineCompare(i) {
			g.fused = i
			return true
		}
		return false
	}
	if g.v.shapeOf(i, g.op.Arg("a")).kind != kindUniform || g.v.shapeOf(i, g.op.Arg("b")).kind != kindUniform {
		return false
	}
	g.fused = i
	return true
}

// ctaBranch writes the end of block b.
func (g *gen) ctaBranch(b int32) {
	op := g.op
	to := g.a.blockOf[op.Target]
	if op.Ctl == ir.Jump || op.Guard < 0 {
		g.goTo(b, to)
		return
	}
	fall := g.NewLabel()
	if g.fused == g.pc-1 {
		i := g.pc
		g.pc, g.op = i-1, &g.f.Ops[i-1]
		if g.affineCompare(i - 1) {
			g.pc, g.op = i, op
			part := g.outOfLine(func() { g.part(b, to) })
			g.pc, g.op = i-1, &g.f.Ops[i-1]
			g.branchAffine(b, to, op, fall, part)
			g.pc, g.op = i, op
			return
		}
		c := g.scalarCompare()
		g.settle(i - 1)
		g.pc, g.op = i, op
		if !op.Neg {
			c ^= 1
		}
		g.J(c, fall)
		g.goTo(b, to)
		g.join(fall)
		return
	}
	if g.uniformGuard(g.pc) {
		g.predTest(uint32(op.Guard), op.Neg)
		g.J(a64.E, fall)
		g.goTo(b, to)
		g.join(fall)
		return
	}
	g.predRow(a64.RAX, uint32(op.Guard))
	if op.Neg {
		g.Not32(a64.RAX)
	}
	part := g.outOfLine(func() { g.part(b, to) })
	if g.full {
		g.Test32(a64.RAX, a64.RAX)
		g.J(a64.E, fall)
		g.CmpI32(a64.RAX, -1)
	} else {
		g.AndLd32(a64.RAX, inContext(offMask))
		g.J(a64.E, fall)
		g.CmpLd32(a64.RAX, inContext(offMask))
	}
	g.J(a64.NE, part)
	g.goTo(b, to)
	g.join(fall)
}

// part divides the lanes: those in eax take the branch from b. The lower block goes first.
func (g *gen) part(b, to int32) {
	g.MovI32(a64.RCX, 0xffffffff)
	if !g.full {
		g.Ld32(a64.RCX, inContext(offMask))
	}
	g.Xor32(a64.RCX, a64.RAX) // those that go on
	now, wait := b+1, to
	if to <= b {
		now, wait = to, b+1
		g.Mov32(a64.RDX, a64.RAX)
		g.Mov32(a64.RAX, a64.RCX)
		g.Mov32(a64.RCX, a64.RDX)
	}
	g.MR(a64.ArithOr, false, g.pend(wait), a64.RAX)
	g.Mov32(a64.RAX, a64.RCX)
	full := g.full
	g.full = false
	g.setMasks()
	if now <= b {
		g.backEdge(b, now)
	}
	g.edge(b, now)
	g.Jmp(g.ctaLabels[0][now])
	g.full = full
}

// toWarpEnd branches to where only the canonical NaN is in vector registers.
func (g *gen) toWarpEnd(l a64.Label) {
	g.Dead(^uint32(1<<nanReg), 0xff)
	g.Jmp(l)
}

// ctaExit ends lanes.
func (g *gen) ctaExit(b int32) {
	op := g.op
	if op.Guard < 0 {
		if g.full {
			if g.straight {
				g.toWarpEnd(g.warpNext)
			} else {
				g.toWarpEnd(g.warpDone)
			}
			return
		}
		g.spillFor(-1)
		g.Ld32(a64.RAX, inContext(offMask))
		g.Not32(a64.RAX)
		g.MR(a64.ArithAnd, false, g.inFrame(g.lay.live), a64.RAX)
		g.toWarpEnd(g.dispatch)
		return
	}
	g.predRow(a64.RAX, uint32(op.Guard))
	if op.Neg {
		g.Not32(a64.RAX)
	}
	stay := g.NewLabel()
	if g.full {
		g.Test32(a64.RAX, a64.RAX)
	} else {
		g.AndLd32(a64.RAX, inContext(offMask))
	}
	g.J(a64.E, stay)
	g.J(a64.NE, g.outOfLine(func() {
		full := g.full
		g.MovI32(a64.RCX, 0xffffffff)
		if !full {
			g.Ld32(a64.RCX, inContext(offMask))
		}
		g.Xor32(a64.RCX, a64.RAX)
		g.Not32(a64.RAX)
		g.MR(a64.ArithAnd, false, g.inFrame(g.lay.live), a64.RAX)
		g.Mov32(a64.RAX, a64.RCX)
		g.full = false
		some := g.NewLabel()
		g.Test32(a64.RAX, a64.RAX)
		g.J(a64.NE, some)
		if full {
			g.toWarpEnd(g.warpDone)
		} else {
			g.spillFor(-1)
			g.toWarpEnd(g.dispatch)
		}
		g.Bind(some)
		g.setMasks()
		if b+1 < int32(len(g.a.blocks)) {
			g.edge(b, b+1)
			g.Jmp(g.ctaLabels[0][b+1])
		}
		g.full = full
	}))
	g.join(stay)
}

// ctaBarrier lets the other warps run until all have come.
func (g *gen) ctaBarrier(b int32) {
	if !g.full {
		slow := g.slow()
		g.Ld32(a64.RAX, inContext(offMask))
		g.RM(a64.ArithCmp, false, a64.RAX, g.inFrame(g.lay.live))
		g.J(a64.NE, slow)
	}
	if g.v.warps == 1 {
		return
	}
	g.spillFor(b + 1)
	if !g.full {
		g.St32(g.inFrame(g.lay.mask), a64.RAX)
	}
	resume := g.NewLabel()
	g.LeaLabel(a64.RAX, resume)
	g.St(g.inFrame(g.lay.resume), a64.RAX)
	g.Ld(a64.RBX, g.inFrame(g.lay.next))
	g.Dead(^uint32(1<<nanReg), 0xff)
	g.JmpM(g.inFrame(g.lay.resume))
	g.Align(16)
	g.resumeAt(resume, g.a.blocks[b+1].start, true)
	g.c = cache{}
}
