package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
)

// ctaVersion writes a kernel's operations for all lanes, or for some.
func (g *gen) ctaVersion(full bool, entry asm.Label) {
	g.full, g.loop, g.fused = full, -1, -1
	g.c, g.homes, g.homeReg = cache{}, nil, [poolEnd]bool{}
	g.Align(16)
	g.Bind(entry)
	g.enterWarp()
	if !full {
		g.Ld32(asm.RAX, g.inFrame(g.lay.Init))
		g.setMasks()
	}
	if g.lay.Tops != 0 {
		g.VM(asm.BroadcastD, asm.Z, 0, 0, inContext(abi.OffActTop))
		g.VM(asm.MovU32St, asm.Z, 0, 0, g.inFrame(g.lay.Tops))
		g.VM(asm.MovU32St, asm.Z, 0, 0, g.inFrame(g.lay.Tops+64))
	}
	if g.carries {
		g.StI32(g.inFrame(g.lay.CC), 0)
	}
	g.ctaBlocks()
}

// ctaBlocks writes the blocks of a version.
func (g *gen) ctaBlocks() {
	for b := range g.a.Blocks {
		g.ctaBlock(int32(b))
	}
	g.mark(abi.OutOfLine)
	for len(g.stubs) > 0 {
		s := g.stubs
		g.stubs = nil
		for _, f := range s {
			f()
		}
	}
}
