package jit

import (
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

var matrixTemplates = map[optab.Opcode]template{optab.OpMma: mmaTemplate}

// vectorOf gives the registers of an operand: one written without braces is alone.
func vectorOf(a *ir.Arg) []*ir.Arg {
	if a.Kind != ir.Vec {
		return []*ir.Arg{a}
	}
	list := make([]*ir.Arg, len(a.Elems))
	for i := range a.Elems {
		list[i] = &a.Elems[i]
	}
	return list
}

// mmaTemplate calls the routine for products of floating-point numbers (matrix.go).
func mmaTemplate(op *ir.Op) emitter {
	m, ok := matrixOf(op)
	if !ok || len(op.Args) != 4 {
		return nil
	}
	d, a, b, c := vectorOf(&op.Args[0]), vectorOf(&op.Args[1]), vectorOf(&op.Args[2]), vectorOf(&op.Args[3])
	for i, list := range [][]*ir.Arg{d, a, b, c} {
		for _, x := range list {
			if x.Class != ir.W32 || x.Kind != ir.Row && (i == 0 || x.Kind != ir.Imm) {
				return nil
			}
		}
	}
	if len(a)*8 != int(m.k)*4/int(2-m.format/2) || len(b)*2 != len(a) || len(c) != len(d) || len(c) != 4 && !(m.half && len(c) == 2) {
		return nil
	}
	// place is where register i of C or D stands: beside the one with the other rows of the same columns.
	place := func(i int) int32 {
		if m.half {
			return int32(i)
		}
		return int32(i&1<<1 | i>>1)
	}
	return func(g *gen) {
		g.allLanes()
		g.Ld(asm.RSI, inContext(offMatrix))
		put := func(x *ir.Arg, off int32) {
			for p := range 2 {
				g.pin()
				g.VM(asm.MovU32St, asm.Z, g.reg(x, p), 0, work(off+int32(64*p)))
			}
		}
		for i, x := range a {
			put(x, matrixOffsets.a+int32(128*i))
		}
		for i, x := range b {
			put(x, matrixOffsets.b+int32(128*i))
		}
		for i, x := range c {
			put(x, matrixOffsets.c+128*place(i))
		}
		g.Call(g.matrix[m])
		for i, x := range d {
			for p := range g.each(x) {
				g.pin()
				z, o := g.dst(x, p)
				g.VM(asm.MovU32, o, z, 0, work(matrixOffsets.c+128*place(i)+int32(64*p)))
			}
		}
	}
}
