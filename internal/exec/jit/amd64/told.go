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
