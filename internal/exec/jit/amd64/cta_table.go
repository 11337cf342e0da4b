package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
)

// ctaTable writes brx.idx at the end of block b: all lanes wait at their targets, of which the first goes on. One whose
// index has no target is left to the scheduler.
func (g *gen) ctaTable(b int32) {
	op := g.op
	g.flush()
	g.c = cache{}
	back, slow := g.NewLabel(), g.slow()
	loops := false
	for _, t := range op.Targets {
		loops = loops || g.a.BlockOf[t] <= b
	}
	if loops {
		g.SubMI32(inContext(abi.OffBudget), 1)
		g.J(asm.S, g.outOfLine(func() {
			resume := g.NewLabel()
			g.LeaLabel(asm.RAX, resume)
			g.St(g.inFrame(g.lay.Resume), asm.RAX)
			if !g.full {
				g.Ld32(asm.RAX, inContext(abi.OffMask))
				g.St32(g.inFrame(g.lay.Mask), asm.RAX)
			}
			g.MovI32(asm.RAX, uint32(g.pc)|abi.ExitBudget<<abi.ExitShift)
			g.out(g.leave)
			g.resumeAt(resume, g.pc, false)
			g.Jmp(back)
		}))
		g.join(back)
	}
	// esi: the lanes that take the branch
	g.MovI32(asm.RSI, 0xffffffff)
	if !g.full {
		g.Ld32(asm.RSI, inContext(abi.OffMask))
	}
	g.Mov32(asm.RDI, asm.RSI)
	if op.Guard >= 0 {
		g.Ld32(asm.RCX, rowMem(ir.Ref{Off: uint32(op.Guard)}))
		if op.Neg {
			g.Not32(asm.RCX)
		}
		g.And32(asm.RSI, asm.RCX)
	}
	index := op.Args[0].Ref
	for p := range 2 {
		g.VM(asm.MovU32, asm.Z, asm.Vec(p), 0, rowMem(ir.Ref{Off: index.Off + uint32(64*p), Sel: index.Sel}))
	}
	// eax: the lanes whose index stands in a relation to a number
	lanes := func(n uint32, relation asm.Predicate) {
		g.splat(2, n)
		for p := range 2 {
			g.VCmp(asm.CmpUD, asm.Z, asm.K7, asm.Vec(p), 2, relation)
			if p == 0 {
				g.KMovRW(asm.RAX, asm.K7)
				continue
			}
			g.KMovRW(asm.RDX, asm.K7)
			g.ShlI32(asm.RDX, 16)
			g.Or32(asm.RAX, asm.RDX)
		}
		g.And32(asm.RAX, asm.RSI)
	}
	lanes(uint32(len(op.Targets)), asm.CmpGE)
	g.Test32(asm.RAX, asm.RAX)
	g.J(asm.NE, slow)
	for n, t := range op.Targets {
		lanes(uint32(n), asm.CmpEQ)
		g.MR(asm.ArithOr, false, g.pend(g.a.BlockOf[t]), asm.RAX)
	}
	if op.Guard >= 0 {
		g.Xor32(asm.RDI, asm.RSI)
		g.MR(asm.ArithOr, false, g.pend(b+1), asm.RDI)
	}
	g.toWarpEnd(g.dispatch)
}
