package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
)

// ctaVersion writes a kernel's operations for all lanes, or for some.
func (g *gen) ctaVersion(full bool, entry asm.Label, carries bool) {
	defer func() {
		if r := recover(); r != nil {
			panic(plan.Recovered(r)) // or a *defect.Error with this place
		}
	}()
	g.full, g.loop, g.fused = full, -1, -1
	g.c, g.homes, g.homeReg = cache{}, nil, [poolEnd]bool{}
	g.Align(16)
	g.Bind(entry)
	g.enterWarp()
	if !full {
		g.Ld32(asm.RAX, g.inFrame(g.lay.Init))
		g.setMasks()
	}
	if carries {
		g.StI32(g.inFrame(g.lay.CC), 0)
	}
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

// bothVersions writes both at the same time. The code is what it is when they are written one after the other.
func (g *gen) bothVersions(entry [2]asm.Label, carries bool) {
	own := g.Labels()
	some := *g
	some.Asm = g.Fork()
	some.Code = make([]byte, 0, cap(g.Code)/2)
	some.ends = make([][][]uint32, len(g.a.Blocks))
	some.points, some.consts, some.stubs = nil, nil, nil
	// write returns what a version panicked with: an error of unmade, or a *defect.Error.
	write := func(g *gen, full bool, entry asm.Label) (failed any) {
		defer func() { failed = recover() }()
		g.ctaVersion(full, entry, carries)
		return nil
	}
	done := make(chan any, 1)
	go func() { done <- write(&some, false, entry[0]) }()
	failed := write(g, true, entry[1])
	if r := <-done; failed == nil {
		failed = r
	}
	if failed != nil {
		panic(failed)
	}
	g.Align(16)
	known := map[asm.Label]asm.Label{}
	for i := range some.consts {
		known[some.consts[i].label] = g.vector(some.consts[i].words)
	}
	name := g.Adopt(&some.Asm, own, func(l asm.Label) (asm.Label, bool) {
		is, ok := known[l]
		return is, ok
	})
	for _, p := range some.points {
		p.label = name(p.label)
		g.points = append(g.points, p)
	}
}
