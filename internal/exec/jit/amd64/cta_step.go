package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
)

// Code whose warps are in step (plan.Step): where a warp has its turn next is known, so that from a barrier to the next
// one the code is a loop over the frames of the warps, and nothing is looked up. Warps that have nothing to do in a
// part are left out of its loop (plan.Idle). A part begins with all values in the frames, and with all lanes: the code
// for some lanes comes to the barriers of that for all.

// findSteps finds out whether warps are in step. Counters and checkers want to see every warp at every operation.
func (g *gen) findSteps(o abi.CTAOptions) {
	if o.Count || o.Later || g.a.Told != nil || g.a.Bounds != nil || g.a.Followed != nil || g.a.Meets {
		return
	}
	if g.inStep = g.v.Steps(); g.inStep == nil {
		return
	}
	g.begins = make([]asm.Label, len(g.a.Blocks))
	g.arrives = make([]asm.Label, len(g.a.Blocks))
	for b := range g.begins {
		g.begins[b], g.arrives[b] = g.NewLabel(), g.NewLabel()
	}
}

// nextInStep goes to the next warp's turn in the part that begins with a block, -1 where several may; the last warp
// goes to end instead.
func (g *gen) nextInStep(from int32, end asm.Label) {
	g.CmpLd(asm.RBX, inContext(abi.OffLast))
	g.J(asm.E, end)
	g.AddI(asm.RBX, g.lay.Size)
	if from >= 0 {
		g.Jmp(g.begins[from])
	} else {
		g.JmpM(inContext(abi.OffPart))
	}
}

// endInStep writes what comes when a warp has ended.
func (g *gen) endInStep(skip asm.Label) {
	if g.barriers {
		g.LeaLabel(asm.RAX, skip)
		g.St(g.inFrame(g.lay.Resume), asm.RAX)
	}
	g.Ld32(asm.RAX, g.inFrame(g.lay.Init))
	g.St32(g.inFrame(g.lay.Live), asm.RAX)
	g.Bind(g.warpNext)
	g.nextInStep(g.inStep.End, g.ctaEnd)
	g.Bind(skip)
	g.Bind(g.ctaEnd)
	if g.barriers {
		g.LeaLabel(asm.RAX, g.begins[0])
		g.St(inContext(abi.OffPart), asm.RAX)
	}
}

// barrierInStep writes the barrier at the end of block b: the next warp has its turn, or the next part begins.
func (g *gen) barrierInStep(b int32) {
	if !g.full {
		slow := g.slow()
		g.CmpMI32(inContext(abi.OffMask), -1)
		g.J(asm.NE, slow)
		g.spillFor(b + 1)
		g.toWarpEnd(g.arrives[b])
		g.c = cache{}
		return
	}
	g.spillFor(b + 1)
	g.Dead(^uint32(1<<nanReg), 0xff)
	g.Bind(g.arrives[b])
	g.LeaLabel(asm.RAX, g.begins[b+1])
	g.St(g.inFrame(g.lay.Resume), asm.RAX)
	last := g.NewLabel()
	g.nextInStep(g.inStep.From[b], last)
	g.Bind(last)
	g.St(inContext(abi.OffPart), asm.RAX)
	g.Ld(asm.RBX, inContext(abi.OffFirst))
	g.Align(16)
	g.resumeAt(g.begins[b+1], g.a.Blocks[b+1].Start, true)
	g.c = cache{}
}

// idle says whether warps that go from the end of a block to another one are idle, and all behind them.
func (g *gen) idle(b, to int32) bool {
	if g.inStep == nil || !g.full {
		return false
	}
	x := &g.inStep.Idle[b]
	return x.Found && (to == b+1) != x.Taken
}

// leaveIdle ends the part for a warp that is idle behind block b and for all warps after it.
func (g *gen) leaveIdle(b int32) {
	x := &g.inStep.Idle[b]
	if x.Barrier < 0 {
		g.toWarpEnd(g.ctaEnd)
		return
	}
	g.spillFor(x.Barrier + 1)
	g.Dead(^uint32(1<<nanReg), 0xff)
	if len(x.Copies)+len(x.Preds) > 0 {
		loop, done := g.NewLabel(), g.NewLabel()
		g.MovR(true, asm.RCX, asm.RBX)
		g.Bind(loop)
		g.CmpLd(asm.RCX, inContext(abi.OffLast))
		g.J(asm.E, done)
		g.AddI(asm.RCX, g.lay.Size)
		for _, w := range x.Copies {
			y := &g.v.Webs[w]
			if y.Class == ir.W64 {
				g.Ld(asm.RAX, placeMem(y.At, 0))
				g.St(asm.At(asm.RCX, y.At.Disp), asm.RAX)
			} else {
				g.Ld32(asm.RAX, placeMem(y.At, 0))
				g.St32(asm.At(asm.RCX, y.At.Disp), asm.RAX)
			}
		}
		for _, p := range x.Preds {
			all := uint32(0)
			if p.Is {
				all = 0xffffffff
			}
			g.StI32(asm.At(asm.RCX, int32(p.Row)), all)
		}
		g.Jmp(loop)
		g.Bind(done)
	}
	g.LeaLabel(asm.RAX, g.begins[x.Barrier+1])
	g.St(inContext(abi.OffPart), asm.RAX)
	g.Ld(asm.RBX, inContext(abi.OffFirst))
	g.Jmp(g.begins[x.Barrier+1])
}

// toIdle goes to leaveIdle where that is what comes behind the end of block b on the way to another one.
func (g *gen) toIdle(b, to int32) bool {
	if !g.idle(b, to) {
		return false
	}
	g.Jmp(g.outOfLine(func() { g.leaveIdle(b) }))
	return true
}
