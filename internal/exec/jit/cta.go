package jit

import (
	"encoding/binary"

	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
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

// ctaForms are operations whose templates rely on nothing that CTA code does not provide.
func ctaReady(k *ir.Kernel, a *analysis) *NoCodeError {
	f := k.Funcs[0]
	if a.large != nil {
		return a.large
	}
	if len(k.Funcs) != 1 {
		return &NoCodeError{Why: WhyScheduler, Detail: "it calls functions"}
	}
	barrier := uint8(0)
	for i := range f.Ops {
		op := &f.Ops[i]
		switch op.Ctl {
		case ir.Branch, ir.Jump, ir.Ret, ir.Exit, ir.Trap:
			continue
		case ir.Plain, ir.Special:
		default:
			return &NoCodeError{Why: WhyScheduler, Line: op.Line}
		}
		if b := barrierOf(op); b != 0 {
			if barrier != 0 && barrier != b {
				return &NoCodeError{Why: WhyScheduler, Detail: "it has several barriers"}
			}
			barrier = b
			continue
		}
		if a.native[i] == nil || stacking(op) {
			return &NoCodeError{Why: WhyScheduler, Detail: "an operation has no template", Line: op.Line}
		}
		for j := range op.Args {
			if x := &op.Args[j]; x.Kind == ir.Addr && (x.Space == ir.Local || x.Space == ir.FrameParam || x.Space == ir.SharedCluster) {
				return &NoCodeError{Why: WhyScheduler, Line: op.Line}
			}
		}
	}
	return nil
}

// ctaOptions are what code of whole CTAs depends on besides the kernel.
type ctaOptions struct {
	count bool // operations
	probe bool // for tests: operations stop
	isa   isa
	apart bool // its versions are written at the same time; the code is the same
}

// generateCTA writes the code of whole CTAs.
func generateCTA(k *ir.Kernel, a *analysis, v *values, o ctaOptions) (c *ctaCode, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = unmade(r)
		}
	}()
	for i := range a.loops {
		a.loops[i].homes = nil
		a.giveHomes(&a.loops[i], v)
	}
	lay := v.placeScalars(a.f)
	g := &gen{f: a.f, a: a, v: v, lay: lay, count: o.count, probe: o.probe}
	g.target(o.isa)
	g.nt = o.isa == avx512
	g.Code = make([]byte, 0, 1024+160*len(a.f.Ops)) // of two versions: grown from nothing, code of large kernels would be copied again and again
	g.ends = make([][][]uint32, len(a.blocks))
	carries := false
	for i := range k.Funcs[0].Ops {
		b := &k.Funcs[0].Ops[i]
		g.barriers = g.barriers || barrierOf(b) != 0
		carries = carries || carrying(b)
	}
	c = &ctaCode{v: v, lay: lay}
	for i := range g.ctaLabels {
		g.ctaLabels[i] = make([]asm.Label, len(a.blocks))
		for b := range a.blocks {
			g.ctaLabels[i][b] = g.NewLabel()
		}
	}
	g.leave, g.warpDone, g.warpNext, g.dispatch, g.dispatchTable = g.NewLabel(), g.NewLabel(), g.NewLabel(), g.NewLabel(), g.NewLabel()
	g.routines()
	g.straight = !g.barriers && !a.f.Loops
	start, skip := g.NewLabel(), g.NewLabel()
	entry := [2]asm.Label{g.NewLabel(), g.NewLabel()}
	// The way in.
	g.Bind(start)
	g.Ld(asm.RBX, inContext(offFrame))
	g.Ld(asm.R12, inContext(offConsts))
	g.Ld(asm.RAX, inContext(offTables))
	g.VM(asm.BroadcastD, asm.Z, nanReg, 0, asm.At(asm.RAX, offNaN))
	g.JmpM(g.inFrame(lay.resume))
	if o.apart {
		g.bothVersions(entry, carries)
	} else {
		g.ctaVersion(true, entry[1], carries)
		g.ctaVersion(false, entry[0], carries)
	}
	g.writeDispatch()
	// The warp has ended. One that never stood anywhere but at its beginning, with all lanes, needs not be made ready for the next CTA.
	g.Bind(g.warpDone)
	if g.barriers {
		g.LeaLabel(asm.RAX, skip)
	} else {
		g.Ld(asm.RAX, g.inFrame(lay.entry))
	}
	g.St(g.inFrame(lay.resume), asm.RAX)
	g.Ld32(asm.RAX, g.inFrame(lay.init))
	g.St32(g.inFrame(lay.live), asm.RAX)
	g.Bind(g.warpNext)
	g.MI(asm.ArithSub, false, inContext(offLeft), 1)
	done := g.NewLabel()
	g.J(asm.E, done)
	g.Bind(skip)
	g.Ld(asm.RBX, g.inFrame(lay.next))
	g.JmpM(g.inFrame(lay.resume))
	g.Bind(done)
	if g.barriers {
		loop := g.NewLabel()
		g.Ld(asm.RBX, inContext(offFirst))
		g.Bind(loop)
		g.Ld(asm.RAX, g.inFrame(lay.entry))
		g.St(g.inFrame(lay.resume), asm.RAX)
		g.Ld(asm.RBX, g.inFrame(lay.next))
		g.CmpLd(asm.RBX, inContext(offFirst))
		g.J(asm.NE, loop)
	}
	// The next CTA of the batch.
	end, go1 := g.NewLabel(), g.NewLabel()
	g.SubMI32(inContext(offBatch), 1)
	g.J(asm.E, end)
	if !g.barriers {
		g.Ld(asm.RBX, inContext(offFirst))
	}
	g.StI32(inContext(offLeft), uint32(v.warps))
	for axis := range int32(3) {
		g.Ld32(asm.RAX, inContext(offCTAID+4*axis))
		g.AddI32(asm.RAX, 1)
		g.St32(inContext(offCTAID+4*axis), asm.RAX)
		g.CmpLd32(asm.RAX, inContext(offGrid+4*axis))
		g.J(asm.NE, go1)
		g.StI32(inContext(offCTAID+4*axis), 0)
	}
	g.Bind(go1)
	g.JmpM(g.inFrame(lay.resume))
	g.Bind(end)
	g.MovI32(asm.RAX, exitDone<<exitShift)
	g.Bind(g.leave)
	if v.streams && g.nt {
		g.SFence()
	}
	g.VZeroUpper()
	g.Ret()
	g.writeRoutines()
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
				p = place{asm.R15, offParamCopy + ac.disp, true}
			}
		case opSpecial:
			p, _ = g.specialPlace(op)
		case opMov, opCvta:
			a := &op.Args[1]
			if v.info[i].code == opCvta && op.Match.One("global", "const") == "" {
				break
			}
			if a.Kind == ir.Imm {
				p = place{asm.R12, int32(a.Ref.Off), true}
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
			x.at = place{asm.RBX, 16 * n, true} // for now
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

func (g *gen) inFrame(off int32) asm.Mem { return asm.At(asm.RBX, off) }

// pend is the mask of lanes that wait at a block.
func (g *gen) pend(b int32) asm.Mem { return g.inFrame(g.lay.pend + 4*g.v.pending[b]) }

// setMasks makes the lanes in eax those that run.
func (g *gen) setMasks() {
	g.St32(inContext(offMask), asm.RAX)
	g.KMovDR(1, asm.RAX)
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

type ctaPoint struct {
	label  asm.Label
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
	if g.ends[b] == nil {
		g.ends[b] = g.a.dying(k)
	}
	dying := g.ends[b]
	for i := k.start; i < k.end; i++ {
		g.pc, g.op, g.dies = i, &g.f.Ops[i], dying[i-k.start]
		g.begin()
		if g.probe && g.fused != i-1 {
			g.MI(asm.ArithSub, false, inContext(offProbe), 1)
			g.J(asm.S, g.slow())
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
		g.VM(asm.MovU32, o, z, 0, g.inFrame(g.lay.tidRows+128*axis+int32(64*p)))
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
		g.Ld32(asm.RAX, g.pend(b))
		g.StI32(g.pend(b), 0)
		g.RM(asm.ArithOr, false, asm.RAX, inContext(offMask))
		g.CmpI32(asm.RAX, -1)
		g.J(asm.E, g.ctaLabels[1][b])
		g.setMasks()
		g.Jmp(back)
	})
	g.J(asm.NE, stub)
	g.join(back)
}

// liveAt says whether a row's value must be kept on the way to a block.
func (g *gen) liveAt(t int32, row uint32) bool {
	n := g.a.row(row)
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
		if k.in.has(g.a.row(h.row)) || g.homeKept(h.row) {
			g.VM(asm.MovU32, asm.Z, h.reg, 0, rowMem(h.ref))
		}
	}
}

// homeKept says whether a home holds values of lanes that wait.
func (g *gen) homeKept(row uint32) bool { return g.v != nil && g.keeps(row) }
