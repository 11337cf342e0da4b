package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// Code for some lanes that is written when lanes first come to it. Most of what a large kernel has for some lanes never
// runs: lanes part for a few operations, and all go on together. So only the blocks between such branches and the
// places where lanes meet again are written at once (plan.Values.Near). In place of others stands a way out to Go, by a
// link (abi.CTACode.Links); Go has the code for some lanes of all blocks written, by generateRest, and points the links
// at it. Where both kinds of code meet all values stand in the frame.

// generateRest writes the code for some lanes of a kernel from which c leaves parts out.
func generateRest(set ISA, k *ir.Kernel, c *abi.CTACode, o abi.CTAOptions) (r *abi.CTARest, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = plan.Recovered(p)
		}
	}()
	g := newCTA(set, k, c.Values, c.Frame, c.Kept.(map[int32]int32), o)
	later := g.leftOut()
	g.rest, g.full, g.loop, g.fused = true, false, -1, -1
	g.ctaBlocks()
	entries := make([]asm.Label, len(later))
	for b := range later {
		if !later[b] || !g.joins(int32(b)) {
			continue
		}
		entries[b] = g.NewLabel()
		g.Bind(entries[b])
		if !g.waits { // as at the warp's beginning
			g.Ld(asm.RAX, g.inFrame(g.lay.Entry))
			g.St(g.inFrame(g.lay.Resume), asm.RAX)
		}
		g.Ld32(asm.RAX, g.inFrame(g.lay.Mask))
		g.setMasks()
		g.loadHomes(int32(b))
		g.Jmp(g.ctaLabels[0][b])
	}
	for n, l := range []asm.Label{abi.LinkWarpDone: g.warpDone, abi.LinkWarpNext: g.warpNext,
		abi.LinkDispatch: g.dispatch} {
		g.Bind(l)
		g.toLink(int32(n))
	}
	g.writeEnd()
	if err := g.refusal(); err != nil {
		return nil, err
	}
	r = &abi.CTARest{Entries: make([]int32, len(later))}
	if r.Text, err = g.Finish(); err != nil {
		return nil, err
	}
	for b := range later {
		if later[b] && g.joins(int32(b)) {
			r.Entries[b] = g.Offset(entries[b])
		}
	}
	r.Points = g.resumePoints()
	return r, nil
}

// leftOut says by block whether its code for some lanes is left out: that of blocks that are not near, and of those
// that only such lead to.
func (g *gen) leftOut() []bool {
	full := g.full
	g.full = false
	later := make([]bool, len(g.a.Blocks))
	for b := range later {
		if b > 0 && !g.joins(int32(b)) {
			later[b] = later[b-1]
		} else {
			later[b] = !g.v.Near[b]
		}
	}
	g.full = full
	return later
}

// isLater says whether the code of a block is left out now.
func (g *gen) isLater(b int32) bool { return g.later != nil && !g.full && g.later[b] }

// toLink leaves by a link. rcx is used.
func (g *gen) toLink(n int32) {
	g.Dead(^uint32(1<<nanReg), 0xff)
	g.Ld(asm.RCX, inContext(abi.OffLinks))
	g.JmpM(asm.At(asm.RCX, 8*n))
}

// toRest goes to the code of a block that is left out.
func (g *gen) toRest(b int32) {
	g.pc = g.a.Blocks[b].Start
	g.flush()
	g.c = cache{}
	again := g.NewLabel()
	g.LeaLabel(asm.RAX, again)
	g.St(g.inFrame(g.lay.Resume), asm.RAX)
	g.Ld32(asm.RAX, inContext(abi.OffMask))
	g.St32(g.inFrame(g.lay.Mask), asm.RAX)
	g.Bind(again)
	g.points = append(g.points, ctaPoint{again, g.pc, true, false})
	g.MovI32(asm.RAX, uint32(g.pc)|abi.ExitRest<<abi.ExitShift)
	g.toLink(abi.LinkOf(b, false))
}

// forAll is where lanes go on that are all at a block, of those that ran apart.
func (g *gen) forAll(b int32) asm.Label {
	if !g.rest {
		return g.ctaLabels[1][b]
	}
	return g.outOfLine(func() {
		g.spillFor(b)
		g.toLink(abi.LinkOf(b, true))
	})
}

// links are the offsets of what links lead to; nil when nothing is left out.
func (g *gen) links() []int32 {
	if g.later == nil {
		return nil
	}
	list := make([]int32, abi.LinkOf(int32(len(g.later)), false))
	list[abi.LinkWarpDone], list[abi.LinkWarpNext], list[abi.LinkDispatch] = g.Offset(g.warpDone),
		g.Offset(g.warpNext), g.Offset(g.dispatch)
	for b := range g.later {
		if g.later[b] {
			list[abi.LinkOf(int32(b), false)] = g.Offset(g.leave)
		}
		if g.v.Reconverge[b] >= 0 {
			list[abi.LinkOf(int32(b), true)] = g.Offset(g.waitEntry[1][b])
		}
	}
	return list
}
