package amd64

import (
	"encoding/binary"
	"slices"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Code of whole CTAs. See doc.go for how it works.

// generateCTA writes the code of whole CTAs.
func generateCTA(set ISA, k *ir.Kernel, v *plan.Values, o abi.CTAOptions) (c *abi.CTACode, err error) {
	a := v.Func
	defer func() {
		if r := recover(); r != nil {
			err = plan.Recovered(r)
		}
	}()
	lay, before := placeScalars(v, a.IR)
	g := newCTA(set, k, v, lay, before, o)
	c = &abi.CTACode{Values: v, Frame: lay, Waits: g.waits, InStep: g.inStep != nil}
	if o.Later {
		g.later = g.leftOut()
		c.Kept = before
	}
	start, skip := g.NewLabel(), g.NewLabel()
	entry := [2]asm.Label{g.NewLabel(), g.NewLabel()}
	if g.inStep != nil {
		g.begins[0] = entry[1]
	}
	// The way in.
	g.Bind(start)
	g.Ld(asm.RBX, inContext(abi.OffFrame))
	g.Ld(asm.R12, inContext(abi.OffConsts))
	g.Ld(asm.RAX, inContext(abi.OffTables))
	g.VM(asm.BroadcastD, asm.Z, nanReg, 0, asm.At(asm.RAX, offNaN))
	g.JmpM(g.inFrame(lay.Resume))
	g.ctaVersion(true, entry[1])
	g.ctaVersion(false, entry[0])
	g.writeDispatch()
	// The warp has ended. One that never stood anywhere but at its beginning, with all lanes, needs not be made ready
	// for the next CTA.
	g.Bind(g.warpDone)
	if g.inStep != nil {
		g.endInStep(skip)
	} else {
		g.endWarp(skip)
	}
	// The next CTA of the batch.
	end, go1 := g.NewLabel(), g.NewLabel()
	g.SubMI32(inContext(abi.OffBatch), 1)
	g.J(asm.E, end)
	switch {
	case g.inStep != nil:
		g.Ld(asm.RBX, inContext(abi.OffFirst))
	case v.Warps > 1:
		if !g.waits {
			g.Ld(asm.RBX, inContext(abi.OffFirst))
		}
		g.StI32(inContext(abi.OffLeft), uint32(v.Warps))
	}
	for axis := range int32(3) {
		g.Ld32(asm.RAX, inContext(abi.OffCTAID+4*axis))
		g.AddI32(asm.RAX, 1)
		g.St32(inContext(abi.OffCTAID+4*axis), asm.RAX)
		g.CmpLd32(asm.RAX, inContext(abi.OffGrid+4*axis))
		g.J(asm.NE, go1)
		g.StI32(inContext(abi.OffCTAID+4*axis), 0)
	}
	g.Bind(go1)
	if g.inStep != nil {
		g.Jmp(g.begins[0])
	} else {
		g.JmpM(g.inFrame(lay.Resume))
	}
	g.Bind(end)
	g.MovI32(asm.RAX, abi.ExitDone<<abi.ExitShift)
	g.writeEnd()
	g.Bind(g.dispatchTable)
	at := int32(len(g.Code))
	for _, which := range []int{0, 1} {
		for b := range a.Blocks {
			if v.Reconverge[b] >= 0 {
				g.Code = binary.LittleEndian.AppendUint32(g.Code, uint32(g.Offset(g.waitEntry[which][b])-at))
			}
		}
	}
	if err := g.refusal(); err != nil {
		return nil, err
	}
	if c.Text, err = g.Finish(); err != nil {
		return nil, err
	}
	c.Start, c.Skip = g.Offset(start), g.Offset(skip)
	c.Entries = [2]int32{g.Offset(entry[0]), g.Offset(entry[1])}
	c.Points = g.resumePoints()
	c.Links = g.links()
	return c, nil
}

// endWarp writes what comes when a warp has ended, and leads to the next one. Where warps wait for each other, those
// that have ended stand at skip.
func (g *gen) endWarp(skip asm.Label) {
	if g.waits {
		g.LeaLabel(asm.RAX, skip)
	} else {
		g.Ld(asm.RAX, g.inFrame(g.lay.Entry))
	}
	g.St(g.inFrame(g.lay.Resume), asm.RAX)
	g.Ld32(asm.RAX, g.inFrame(g.lay.Init))
	g.St32(g.inFrame(g.lay.Live), asm.RAX)
	g.Bind(g.warpNext)
	if g.v.Warps == 1 { // nothing else waits for it
		g.Bind(skip)
	} else {
		g.MI(asm.ArithSub, false, inContext(abi.OffLeft), 1)
		done := g.NewLabel()
		g.J(asm.E, done)
		g.Bind(skip)
		g.Ld(asm.RBX, g.inFrame(g.lay.Next))
		g.JmpM(g.inFrame(g.lay.Resume))
		g.Bind(done)
	}
	if g.waits {
		loop := g.NewLabel()
		g.Ld(asm.RBX, inContext(abi.OffFirst))
		g.Bind(loop)
		g.Ld(asm.RAX, g.inFrame(g.lay.Entry))
		g.St(g.inFrame(g.lay.Resume), asm.RAX)
		g.Ld(asm.RBX, g.inFrame(g.lay.Next))
		g.CmpLd(asm.RBX, inContext(abi.OffFirst))
		g.J(asm.NE, loop)
	}
}

// writeEnd writes what stands behind the code of blocks, and constants.
func (g *gen) writeEnd() {
	g.Bind(g.leave)
	if g.v != nil && g.v.Streams > 0 && g.nt {
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
}

func (g *gen) resumePoints() (list []abi.ResumePoint) {
	for _, p := range g.points {
		list = append(list, abi.ResumePoint{Off: g.Offset(p.label), Op: p.op, Masked: p.masked, Bar: p.bar})
	}
	return list
}

// newCTA makes what writes code of whole CTAs.
func newCTA(set ISA, k *ir.Kernel, v *plan.Values, lay *abi.Frame, before map[int32]int32, o abi.CTAOptions) *gen {
	a := v.Func
	for i := range a.Loops {
		a.Loops[i].Homes = nil
		a.GiveHomes(&a.Loops[i], v)
	}
	g := &gen{before: before, f: a.IR, a: a, emit: emitters(a), marks: o.Marks, v: v, lay: lay, count: o.Count,
		probe: o.Probe}
	g.target(set)
	g.nt = set == AVX512
	// of two versions: grown from nothing, code of large kernels would be copied again and again
	g.Code = make([]byte, 0, 1024+160*len(a.IR.Ops))
	g.ends = make([][][]uint32, len(a.Blocks))
	for i := range k.Funcs[0].Ops {
		b := &k.Funcs[0].Ops[i]
		g.barriers = g.barriers || plan.BarrierOf(b) != 0
		g.localMemory = g.localMemory || plan.UsesLocal(b)
		g.carries = g.carries || plan.Carries(b)
	}
	g.waits = g.barriers || v.Turns != nil
	for i := range g.ctaLabels {
		g.ctaLabels[i] = make([]asm.Label, len(a.Blocks))
		for b := range a.Blocks {
			g.ctaLabels[i][b] = g.NewLabel()
		}
	}
	g.leave, g.warpDone, g.warpNext, g.dispatch, g.dispatchTable = g.NewLabel(), g.NewLabel(), g.NewLabel(),
		g.NewLabel(), g.NewLabel()
	g.routines()
	g.straight = !g.barriers && !a.IR.Loops && a.Serves == 0 && a.Bounds == nil && a.Told == nil &&
		a.Followed == nil
	g.ctaEnd = g.NewLabel()
	g.findSteps(o)
	return g
}

// placeScalars gives every scalar its place, and every load that stepAhead serves one for the addresses before; before
// has these by operation.
func placeScalars(v *plan.Values, f *ir.Func) (lay *abi.Frame, before map[int32]int32) {
	lay = abi.NewFrame(f, v.Reconvergences, 0)
	// Values that stand somewhere already.
	for i := range v.Ops {
		op := &f.Ops[i]
		if len(v.Ops[i].Defs) != 1 || op.Guard >= 0 || v.Dead[i] {
			continue
		}
		x := &v.Webs[v.Ops[i].Defs[0].Web]
		if !x.Fixed || !x.Variation.Scalar() || x.Class == ir.WPred {
			continue
		}
		var p plan.Location
		switch v.Info[i].Rule {
		case plan.RuleParam:
			if ac, ok := plan.AccessOf(op, &op.Args[1], &op.Args[0]); ok && ac.ElemSize >= 4 {
				p = plan.Location{Base: plan.InContext, Disp: abi.OffParamCopy + ac.Disp}
			}
		case plan.RuleSpecial:
			p, _ = specialPlace(op, lay)
		case plan.RuleMov, plan.RuleCvta:
			a := &op.Args[1]
			if v.Info[i].Rule == plan.RuleCvta && op.Mods().Space != optab.SpaceGlobal &&
				op.Mods().Space != optab.SpaceConst {
				break
			}
			if a.Kind == ir.Imm {
				p = plan.Location{Base: plan.InConstants, Disp: int32(a.Ref.Off)}
			} else if y := &v.Webs[v.UseWeb(int32(i), a.Ref.Off)]; y.Alias {
				p = y.At
			}
		}
		if p.Base != plan.Nowhere {
			x.At, x.Alias = p, true
		}
	}
	// Slots: local values share them.
	for i := range v.Ops {
		for _, list := range [][]plan.RowWeb{v.Ops[i].Uses, v.Ops[i].Defs} {
			for _, x := range list {
				v.Webs[x.Web].Last = int32(i)
			}
		}
	}
	slots := int32(0)
	var free []int32
	ends := map[int32][]int32{}
	block := int32(-1)
	for i := range v.Ops {
		if b := v.InBlock[i]; b != block {
			block = b
			free = free[:0]
			clear(ends)
		}
		for _, d := range v.Ops[i].Defs {
			x := &v.Webs[d.Web]
			if x.At.Base != plan.Nowhere || !x.Variation.Scalar() || x.Class == ir.WPred {
				continue
			}
			n := slots
			if x.Block >= 0 && len(free) > 0 {
				n = free[len(free)-1]
				free = free[:len(free)-1]
			} else {
				slots++
			}
			x.At = plan.Location{Base: plan.InFrame, Disp: 16 * n} // for now
			if x.Block >= 0 {
				ends[x.Last] = append(ends[x.Last], n)
			}
		}
		free = append(free, ends[int32(i)]...)
	}
	before = map[int32]int32{}
	again := repeats(f)
	for i := range f.Ops {
		if again && v.Info[i].Rule == plan.RuleLoad && f.Ops[i].Mods().Space == optab.SpaceGlobal {
			before[int32(i)] = slots
			slots++
		}
	}
	lay = abi.NewFrame(f, v.Reconvergences, int(slots))
	for w := range v.Webs {
		if x := &v.Webs[w]; x.At.Base != plan.Nowhere && !x.Alias {
			x.At.Disp += lay.Slots
		}
	}
	for i, n := range before {
		before[i] = lay.Slots + 16*n
	}
	return lay, before
}

// repeats says whether a function has loops and barriers.
func repeats(f *ir.Func) bool {
	return f.Loops && slices.ContainsFunc(f.Ops, func(op ir.Op) bool { return plan.BarrierOf(&op) != 0 })
}

func (g *gen) inFrame(off int32) asm.Mem { return asm.At(asm.RBX, off) }

// pend is the mask of lanes that wait at a block.
func (g *gen) pend(b int32) asm.Mem { return g.inFrame(g.lay.Pend + 4*g.v.Reconverge[b]) }

// setMasks makes the lanes in eax those that run.
func (g *gen) setMasks() {
	g.St32(inContext(abi.OffMask), asm.RAX)
	g.KMovDR(asm.K1, asm.RAX)
	g.KShiftRD(asm.K2, asm.K1, 8)
	g.KShiftRD(asm.K3, asm.K1, 16)
	g.KShiftRD(asm.K4, asm.K1, 24)
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
	k := &g.a.Blocks[b]
	g.enterLoop(k.Loop)
	switch {
	case g.joins(b):
		g.Align(16)
		g.atJoin(b)
		g.join(g.ctaLabels[g.version()][b])
		g.checked = nil
		if !g.full && g.v.Reconverge[b] >= 0 {
			g.merge(b)
		}
		if g.isLater(b) {
			g.toRest(b)
			return
		}
	case g.isLater(b):
		return // only the block before leads here
	case b > 0 && !g.a.Blocks[b-1].Falls:
		g.atJoin(b)
		g.join(g.ctaLabels[g.version()][b])
		g.checked = nil
	default:
		g.Pass(g.ctaLabels[g.version()][b])
	}
	g.noted = 0
	g.lines, g.late = g.lines[:0], g.late[:0]
	g.pc, g.whole = k.Start, 0
	n := k.End - k.Start
	if g.count {
		g.AddMI(inContext(abi.OffInstr), n)
	}
	g.left = n
	if g.ends[b] == nil {
		g.ends[b] = g.a.Dying(k)
	}
	dying := g.ends[b]
	for i := k.Start; i < k.End; i++ {
		if end := g.byHalves(i, k.End, dying[i-k.Start:]); end > i {
			i = end - 1
			continue
		}
		g.pc, g.op, g.dies = i, &g.f.Ops[i], dying[i-k.Start]
		g.begin()
		if g.probe && g.fused != i-1 {
			g.MI(asm.ArithSub, false, inContext(abi.OffProbe), 1)
			g.J(asm.S, g.slow())
		}
		switch {
		case g.v.Dead[i]:
		case g.isBranch(i):
			g.ctaBranch(b)
		case g.op.Ctl == ir.BranchX:
			g.ctaTable(b)
		case g.op.Ctl == ir.Ret || g.op.Ctl == ir.Exit:
			g.ctaExit(b)
		case plan.BarrierOf(g.op) != 0:
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
		case !g.a.Native[i]:
			g.serve()
		default:
			if b, t, f := g.checks(i); b != nil || t != nil || f != nil {
				g.check(b, t, f)
			} else {
				g.guard()
			}
			g.emit[i](g)
		}
		if g.fused != i {
			g.settle(i)
		}
		for _, r := range dying[i-k.Start] {
			if !g.keeps(r) {
				g.forget(r)
			}
		}
		g.refuse()
		g.left--
	}
	if k.Falls {
		if op := &g.f.Ops[k.End-1]; plan.BarrierOf(op) != 0 && g.v.Warps > 1 {
			return
		}
		if g.joins(b + 1) {
			g.edge(b, b+1)
		}
	}
}

// threadRow reads a component of %tid that is not a scalar.
func (g *gen) threadRow() bool {
	if g.op.Ctl != ir.Special || g.op.Guard >= 0 || g.op.SReg != optab.SRegTid || g.op.Axis > 2 {
		return false
	}
	axis := int32(g.op.Axis)
	for p := range 2 {
		g.pin()
		z, o := g.dst(&g.op.Args[0], p)
		g.VM(asm.MovU32, o, z, 0, g.inFrame(g.lay.TidRows+128*axis+int32(64*p)))
	}
	return true
}

// settle stores scalars that other blocks read, and forgets those that nothing reads any more.
func (g *gen) settle(i int32) {
	for _, list := range [][]plan.RowWeb{g.v.Ops[i].Defs, g.v.Ops[i].Uses} {
		for _, x := range list {
			w := &g.v.Webs[x.Web]
			if w.Class == ir.WPred || !w.Variation.Scalar() {
				continue
			}
			switch {
			case w.Block < 0:
				if z, ok := g.c.find(scalarRef(x.Web, 0)); ok {
					g.spill(z)
				}
			case w.Last <= i:
				g.sdrop(x.Web)
				g.dropPieces(x.Web)
			}
		}
	}
	for _, d := range g.v.Ops[i].Defs {
		g.uncheck(d.Web)
	}
}

// merge lets the lanes that wait at a block go on with those that come.
func (g *gen) merge(b int32) {
	back := g.NewLabel()
	g.CmpMI32(g.pend(b), 0)
	stub := g.outOfLine(func() {
		g.Ld32(asm.RAX, g.pend(b))
		g.StI32(g.pend(b), 0)
		g.RM(asm.ArithOr, false, asm.RAX, inContext(abi.OffMask))
		g.CmpI32(asm.RAX, -1)
		g.J(asm.E, g.forAll(b))
		g.setMasks()
		g.Jmp(back)
	})
	g.J(asm.NE, stub)
	g.join(back)
}

// liveAt says whether a row's value must be kept on the way to a block.
func (g *gen) liveAt(t int32, row uint32) bool {
	n := g.a.Row(row)
	return t >= 0 && g.a.Blocks[t].In.Has(n) || g.v != nil && !g.full && g.v.Held.Has(n)
}

// spillFor stores everything that lanes need that go to block t (-1: to those where others wait) while this code does
// not.
func (g *gen) spillFor(t int32) {
	saved := g.c
	for z := asm.Vec(poolStart); z < poolEnd; z++ {
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
	k := &g.a.Blocks[b]
	if k.Loop < 0 {
		return
	}
	for _, h := range g.a.Loops[k.Loop].Homes {
		if k.In.Has(g.a.Row(h.Row)) || g.homeKept(h.Row) {
			g.fill(homeRegister(h), h.Ref)
			g.Load(homeRegister(h))
		}
	}
}

// homeKept says whether a home holds values of lanes that wait.
func (g *gen) homeKept(row uint32) bool { return g.v != nil && g.keeps(row) }
