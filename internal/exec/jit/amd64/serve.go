package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
)

// serve writes the way to Go and back.
func (g *gen) serve() {
	if g.a.Served[g.pc] == plan.ServedAll {
		g.guard()
		g.allLanes()
	}
	g.flush()
	resume, done := g.NewLabel(), g.NewLabel()
	s, samples := sampleOf(g.op)
	if samples {
		g.sample(s, done)
	}
	g.LeaLabel(asm.RAX, resume)
	g.St(g.inFrame(g.lay.Resume), asm.RAX)
	if g.full {
		g.StI32(inContext(abi.OffMask), 0xffffffff)
	} else {
		g.Ld32(asm.RAX, inContext(abi.OffMask))
		g.St32(g.inFrame(g.lay.Mask), asm.RAX)
	}
	g.MovI32(asm.RAX, uint32(g.pc)|abi.ExitServe<<abi.ExitShift)
	g.toWarpEnd(g.leave)
	g.resumeAt(resume, g.pc+1, false)
	if samples {
		g.Bind(done)
	}
	g.c, g.noted = cache{}, 0
}
