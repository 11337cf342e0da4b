package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// tell notes an access for a checker (abi.LogEntry). Where there is no room left the operation is left to Go, which
// reads the notes.
func (g *gen) tell(t *plan.Told) {
	size := int32(abi.LogHead)
	pieces, store := 0, asm.MovU32St
	if t.Base != nil {
		pieces = plan.Pieces(t.Base.Class)
		size += int32(64 * pieces)
		if t.Base.Class == ir.W64 {
			store = asm.MovU64St
		}
	}
	regs := make([]asm.Vec, pieces)
	for p := range regs { // into registers first: what follows must not change the cache
		regs[p] = g.reg(t.Base, p)
	}
	full := g.slow()
	g.Ld(asm.RDX, inContext(abi.OffLogAt))
	g.CmpLd(asm.RDX, inContext(abi.OffLogEnd))
	g.J(asm.A, full)
	g.laneMask(asm.RAX)
	g.StI32(asm.At(asm.RDX, 0), uint32(g.pc))
	g.St32(asm.At(asm.RDX, 4), asm.RAX)
	for p, z := range regs {
		g.VM(store, asm.Z, z, 0, asm.At(asm.RDX, abi.LogHead+int32(64*p)))
	}
	g.RI(asm.ArithAdd, true, asm.RDX, size)
	g.St(inContext(abi.OffLogAt), asm.RDX)
}

// roomForNote leaves for full unless a note has room. rdx holds where it goes.
func (g *gen) roomForNote(full asm.Label) {
	g.Ld(asm.RDX, inContext(abi.OffLogAt))
	g.CmpLd(asm.RDX, inContext(abi.OffLogEnd))
	g.J(asm.A, full)
}

// note notes an access of a CTA (abi.Note): the warp with the operation, the lanes, and the bases or addresses.
func (g *gen) note(a *addressed) {
	g.Ld(asm.RDX, inContext(abi.OffLogAt))
	g.noteHead()
	size := int32(abi.LogHead)
	switch {
	case a.base == nil:
	case a.scalars != nil:
		for _, r := range a.scalars {
			g.St(asm.At(asm.RDX, size), r)
			size += 8
		}
	default:
		store := asm.MovU32St
		if a.base.Class == ir.W64 {
			store = asm.MovU64St
		}
		for _, z := range a.vectors {
			g.VM(store, asm.Z, z, 0, asm.At(asm.RDX, size))
			size += 64
		}
	}
	g.RI(asm.ArithAdd, true, asm.RDX, size)
	g.St(inContext(abi.OffLogAt), asm.RDX)
}

// noteHead begins a note at rdx. rax is used.
func (g *gen) noteHead() {
	g.Ld32(asm.RAX, g.inFrame(g.lay.Tag))
	g.AddI32(asm.RAX, g.pc)
	g.St32(asm.At(asm.RDX, 0), asm.RAX)
	if g.full && g.op.Guard < 0 {
		g.StI32(asm.At(asm.RDX, 4), 0xffffffff)
		return
	}
	g.laneMask(asm.RAX)
	g.St32(asm.At(asm.RDX, 4), asm.RAX)
}

// noteBarrier notes that the warp comes to a barrier.
func (g *gen) noteBarrier() {
	again, past := g.NewLabel(), g.NewLabel()
	g.join(again)
	g.roomForNote(g.missed(again, past, abi.ExitLog))
	g.Join(past, g.liveRegs(), liveMasks, g.rows())
	g.Ld(asm.RDX, inContext(abi.OffLogAt))
	g.noteHead()
	g.RI(asm.ArithAdd, true, asm.RDX, abi.LogHead)
	g.St(inContext(abi.OffLogAt), asm.RDX)
}
