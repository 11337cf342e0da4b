package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// parts says whether lanes can part at the end of a block.
func (g *gen) parts(b int32) bool {
	if b < 0 {
		return false
	}
	op := &g.f.Ops[g.a.Blocks[b].End-1]
	if op.Guard < 0 {
		return false
	}
	switch op.Ctl {
	case ir.Branch:
		return !g.uniformGuard(g.a.Blocks[b].End - 1)
	case ir.Ret, ir.Exit:
		return true
	}
	return false
}

func (g *gen) uniformGuard(i int32) bool {
	return g.v.Webs[g.v.UseWeb(i, uint32(g.f.Ops[i].Guard))].Variation.Kind == plan.Uniform
}

// joins says whether several edges lead to a block's code.
func (g *gen) joins(b int32) bool {
	return g.a.Blocks[b].Join || g.v.Reconverge[b] >= 0 ||
		!g.full && (g.parts(b-1) || b == 0 && (g.rest || g.later != nil))
}

// backEdge counts the budget on the way back to a block; the warp pauses when it is used up. In loops with turns it
// counts the turn's steps, and the turn counts the budget.
func (g *gen) backEdge(b, to int32) {
	if k := g.a.Blocks[to].Loop; g.v.Turns != nil && k >= 0 && g.v.Turns[k] > 0 {
		g.turn(to, g.v.Turns[k])
		return
	}
	g.SubMI32(inContext(abi.OffBudget), 1)
	l := g.outOfLine(func() {
		resume := g.NewLabel()
		g.spillFor(to)
		g.LeaLabel(asm.RAX, resume)
		g.St(g.inFrame(g.lay.Resume), asm.RAX)
		if !g.full {
			g.Ld32(asm.RAX, inContext(abi.OffMask))
			g.St32(g.inFrame(g.lay.Mask), asm.RAX)
		}
		g.MovI32(asm.RAX, uint32(g.a.Blocks[to].Start)|abi.ExitBudget<<abi.ExitShift)
		g.out(g.leave)
		g.resumeAt(resume, g.a.Blocks[to].Start, false)
		g.loadHomes(to)
		g.Jmp(g.ctaLabels[g.version()][to])
	})
	g.J(asm.S, l)
}

// turn counts a step of a loop on the way back to its first block; after n of them the other warps have their turns.
func (g *gen) turn(to, n int32) {
	g.SubMI32(g.inFrame(g.lay.Turn), 1)
	g.J(asm.S, g.outOfLine(func() {
		resume, leave := g.NewLabel(), g.NewLabel()
		g.StI32(g.inFrame(g.lay.Turn), uint32(n-1))
		g.spillFor(to)
		g.LeaLabel(asm.RAX, resume)
		g.St(g.inFrame(g.lay.Resume), asm.RAX)
		if !g.full {
			g.Ld32(asm.RAX, inContext(abi.OffMask))
			g.St32(g.inFrame(g.lay.Mask), asm.RAX)
		}
		g.Dead(^uint32(1<<nanReg), 0xff)
		g.SubMI32(inContext(abi.OffBudget), n)
		g.J(asm.S, leave)
		g.Ld(asm.RBX, g.inFrame(g.lay.Next))
		g.JmpM(g.inFrame(g.lay.Resume))
		g.Bind(leave)
		g.MovI32(asm.RAX, uint32(g.a.Blocks[to].Start)|abi.ExitBudget<<abi.ExitShift)
		g.out(g.leave)
		g.resumeAt(resume, g.a.Blocks[to].Start, false)
		g.loadHomes(to)
		g.Jmp(g.ctaLabels[g.version()][to])
	}))
}

// enterWarp tells the context of the warp whose frame RBX points at.
func (g *gen) enterWarp() {
	g.St(inContext(abi.OffFrame), asm.RBX)
	if g.localMemory {
		g.Ld(asm.RAX, g.inFrame(g.lay.Local))
		g.St(inContext(abi.OffLocal), asm.RAX)
	}
	if g.lay.Tops != 0 {
		g.Lea(asm.RAX, g.inFrame(g.lay.Tops))
		g.St(inContext(abi.OffTops), asm.RAX)
	}
}

// resumeAt writes the beginning of a place at which warps go on.
func (g *gen) resumeAt(l asm.Label, op int32, bar bool) {
	g.Bind(l)
	g.points = append(g.points, ctaPoint{l, op, !g.full, bar})
	g.enterWarp()
	if !g.full {
		g.Ld32(asm.RAX, g.inFrame(g.lay.Mask))
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

// branchTo writes the way of a branch's lanes from the end of block b to another one.
func (g *gen) branchTo(b, to int32) {
	if !g.toIdle(b, to) {
		g.goTo(b, to)
	}
}

// passWaiting stays behind when lanes wait at a block between b and to, which go first.
func (g *gen) passWaiting(b, to int32) {
	list := g.v.Between(b, to)
	if len(list) == 0 {
		return
	}
	park := func() {
		g.Ld32(asm.RAX, inContext(abi.OffMask))
		g.MR(asm.ArithOr, false, g.pend(to), asm.RAX)
	}
	if len(list) <= 4 {
		for _, c := range list {
			g.CmpMI32(g.pend(c), 0)
			g.J(asm.NE, g.outOfLine(func() {
				park()
				g.Ld32(asm.RAX, g.pend(c))
				g.StI32(g.pend(c), 0)
				g.setMasks()
				g.edge(b, c)
				g.Jmp(g.ctaLabels[0][c])
			}))
		}
		return
	}
	first, n := g.lay.Pend+4*g.v.Reconverge[list[0]], len(list)
	for i := 0; i < n; i += 16 {
		o := asm.Z
		if n-i < 16 {
			g.MovI32(asm.RAX, 1<<(n-i)-1)
			g.KMovDR(asm.K7, asm.RAX)
			o = o.Mask(asm.K7).Zeroing()
		}
		g.VM(asm.MovU32, o, 1, 0, g.inFrame(first+int32(4*i)))
		if i > 0 {
			g.V(asm.OrD, asm.Z, 0, 0, 1)
		} else {
			g.V(asm.MovA32, asm.Z, 0, 0, 1)
		}
	}
	g.VTest(asm.TestMD, asm.Z, asm.K7, 0, 0)
	g.KOrTestW(asm.K7, asm.K7)
	g.J(asm.NE, g.outOfLine(func() {
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
	for i := 0; i < g.v.Reconvergences; i += 16 {
		o := asm.Z
		if n := g.v.Reconvergences - i; n < 16 {
			g.MovI32(asm.RAX, 1<<n-1)
			g.KMovDR(asm.K7, asm.RAX)
			o = o.Mask(asm.K7)
		}
		g.VM(asm.MovU32, asm.Z, 0, 0, g.inFrame(g.lay.Pend+int32(4*i)))
		g.VTest(asm.TestMD, o, asm.K7, 0, 0)
		g.KMovRW(asm.RCX, asm.K7)
		g.MovI32(asm.RDX, uint32(i))
		g.Test32(asm.RCX, asm.RCX)
		g.J(asm.NE, found)
	}
	g.Jmp(g.warpDone)
	if g.v.Reconvergences == 0 {
		g.Bind(found)
		return
	}
	g.Bind(found)
	g.Bsf32(asm.RCX, asm.RCX)
	g.Add(asm.RCX, asm.RDX)
	at := asm.Indexed(asm.RBX, asm.RCX, 4, g.lay.Pend)
	g.Ld32(asm.RAX, at)
	g.StI32(at, 0)
	g.LeaLabel(asm.RDX, g.dispatchTable)
	g.CmpI32(asm.RAX, -1)
	some := g.NewLabel()
	g.J(asm.NE, some)
	g.AddI(asm.RCX, int32(g.v.Reconvergences))
	g.LdS32(asm.RAX, asm.Indexed(asm.RDX, asm.RCX, 4, 0))
	g.Add(asm.RAX, asm.RDX)
	g.JmpR(asm.RAX)
	g.Bind(some)
	g.setMasks()
	g.LdS32(asm.RAX, asm.Indexed(asm.RDX, asm.RCX, 4, 0))
	g.Add(asm.RAX, asm.RDX)
	g.JmpR(asm.RAX)
	for which := range 2 {
		g.full = which == 1
		g.waitEntry[which] = make([]asm.Label, len(g.a.Blocks))
		for b := range g.a.Blocks {
			if g.v.Reconverge[b] < 0 {
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
	if g.v.Info[i].Rule != plan.RuleSetp || i+2 != g.a.Blocks[b].End || g.op.Guard >= 0 || g.op.Arg("c") != nil {
		return false
	}
	br := &g.f.Ops[i+1]
	if br.Ctl != ir.Branch || br.Guard < 0 || uint32(br.Guard) != g.op.Args[0].Ref.Off {
		return false
	}
	w := g.v.DefWeb(i, g.op.Args[0].Ref.Off)
	if x := &g.v.Webs[w]; x.Uses != 1 || x.Defs != 1 {
		return false
	} else if x.Variation.Kind != plan.Uniform {
		if g.affineCompare(i) {
			g.fused = i
			return true
		}
		return false
	}
	if g.v.VariationOf(i, g.op.Arg("a")).Kind != plan.Uniform ||
		g.v.VariationOf(i, g.op.Arg("b")).Kind != plan.Uniform {
		return false
	}
	g.fused = i
	return true
}

// ctaBranch writes the end of block b.
func (g *gen) ctaBranch(b int32) {
	op := g.op
	to := g.a.BlockOf[op.Target]
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
		g.branchTo(b, to)
		g.join(fall)
		g.toIdle(b, b+1)
		return
	}
	if g.uniformGuard(g.pc) {
		g.predTest(uint32(op.Guard), op.Neg)
		g.J(asm.E, fall)
		g.branchTo(b, to)
		g.join(fall)
		g.toIdle(b, b+1)
		return
	}
	g.predRow(asm.RAX, uint32(op.Guard))
	if op.Neg {
		g.Not32(asm.RAX)
	}
	part := g.outOfLine(func() { g.part(b, to) })
	if g.full {
		g.Test32(asm.RAX, asm.RAX)
		g.J(asm.E, fall)
		g.CmpI32(asm.RAX, -1)
	} else {
		g.AndLd32(asm.RAX, inContext(abi.OffMask))
		g.J(asm.E, fall)
		g.CmpLd32(asm.RAX, inContext(abi.OffMask))
	}
	g.J(asm.NE, part)
	g.branchTo(b, to)
	g.join(fall)
	g.toIdle(b, b+1)
}

// part divides the lanes: those in eax take the branch from b. The lower block goes first.
func (g *gen) part(b, to int32) {
	g.MovI32(asm.RCX, 0xffffffff)
	if !g.full {
		g.Ld32(asm.RCX, inContext(abi.OffMask))
	}
	g.Xor32(asm.RCX, asm.RAX) // those that go on
	now, wait := b+1, to
	if to <= b {
		now, wait = to, b+1
		g.Mov32(asm.RDX, asm.RAX)
		g.Mov32(asm.RAX, asm.RCX)
		g.Mov32(asm.RCX, asm.RDX)
	}
	g.MR(asm.ArithOr, false, g.pend(wait), asm.RAX)
	g.Mov32(asm.RAX, asm.RCX)
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
func (g *gen) toWarpEnd(l asm.Label) {
	g.Dead(^uint32(1<<nanReg), 0xff)
	g.Jmp(l)
}

// ctaExit ends lanes.
func (g *gen) ctaExit(b int32) {
	op := g.op
	if op.Guard < 0 {
		switch {
		case g.straight && (g.full || b == 0): // no lane has left the others before
			g.toWarpEnd(g.warpNext)
			return
		case g.full:
			g.toWarpEnd(g.warpDone)
			return
		}
		g.spillFor(-1)
		g.Ld32(asm.RAX, inContext(abi.OffMask))
		g.Not32(asm.RAX)
		g.MR(asm.ArithAnd, false, g.inFrame(g.lay.Live), asm.RAX)
		g.toWarpEnd(g.dispatch)
		return
	}
	g.predRow(asm.RAX, uint32(op.Guard))
	if op.Neg {
		g.Not32(asm.RAX)
	}
	stay := g.NewLabel()
	if g.full {
		g.Test32(asm.RAX, asm.RAX)
	} else {
		g.AndLd32(asm.RAX, inContext(abi.OffMask))
	}
	g.J(asm.E, stay)
	g.J(asm.NE, g.outOfLine(func() {
		full := g.full
		g.MovI32(asm.RCX, 0xffffffff)
		if !full {
			g.Ld32(asm.RCX, inContext(abi.OffMask))
		}
		g.Xor32(asm.RCX, asm.RAX)
		g.Not32(asm.RAX)
		g.MR(asm.ArithAnd, false, g.inFrame(g.lay.Live), asm.RAX)
		g.Mov32(asm.RAX, asm.RCX)
		g.full = false
		some := g.NewLabel()
		g.Test32(asm.RAX, asm.RAX)
		g.J(asm.NE, some)
		if full {
			g.toWarpEnd(g.warpDone)
		} else {
			g.spillFor(-1)
			g.toWarpEnd(g.dispatch)
		}
		g.Bind(some)
		g.setMasks()
		if b+1 < int32(len(g.a.Blocks)) {
			g.edge(b, b+1)
			g.Jmp(g.ctaLabels[0][b+1])
		}
		g.full = full
	}))
	g.join(stay)
}

// ctaBarrier lets the other warps run until all have come.
func (g *gen) ctaBarrier(b int32) {
	if g.a.Meets {
		g.noteBarrier()
	}
	if g.inStep != nil {
		g.barrierInStep(b)
		return
	}
	if !g.full {
		slow := g.slow()
		g.Ld32(asm.RAX, inContext(abi.OffMask))
		g.RM(asm.ArithCmp, false, asm.RAX, g.inFrame(g.lay.Live))
		g.J(asm.NE, slow)
	}
	if g.v.Warps == 1 {
		return
	}
	g.spillFor(b + 1)
	if !g.full {
		g.St32(g.inFrame(g.lay.Mask), asm.RAX)
	}
	resume := g.NewLabel()
	g.LeaLabel(asm.RAX, resume)
	g.St(g.inFrame(g.lay.Resume), asm.RAX)
	g.Ld(asm.RBX, g.inFrame(g.lay.Next))
	g.Dead(^uint32(1<<nanReg), 0xff)
	g.JmpM(g.inFrame(g.lay.Resume))
	g.Align(16)
	g.resumeAt(resume, g.a.Blocks[b+1].Start, true)
	g.c = cache{}
}
