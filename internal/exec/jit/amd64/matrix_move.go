package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// allLanes leaves an operation to the interpreter that some lanes do not execute: the whole warp, or nothing
// (ir.Op.WholeWarp).
func (g *gen) allLanes() {
	switch {
	case g.op.Guard >= 0:
		g.KMovRD(asm.RAX, asm.K5)
		g.CmpI32(asm.RAX, -1)
	case g.full:
		return
	default:
		g.CmpMI32(inContext(abi.OffMask), -1)
	}
	g.J(asm.NE, g.slow())
}

// eachRow writes a loop over the lanes that point at rows of n matrices.
func (l *laneLoop) eachRow(n int, body func()) {
	loop := l.NewLabel()
	l.MovI32(asm.RSI, 0)
	l.Bind(loop)
	body()
	l.AddI32(asm.RSI, 1)
	l.CmpI32(asm.RSI, int32(8*n))
	l.J(asm.B, loop)
}

// matrixAccess is the address operand of ldmatrix and stmatrix.
func matrixAccess(op *ir.Op, a *ir.Arg, regs []*ir.Arg) (laneAccess, bool) {
	x, ok := anyAccess(a, 16)
	if !ok || !x.base || op.Mods().Shape != (optab.Shape{M: 8, N: 8}) ||
		x.space != ir.Shared && x.space != ir.Generic || len(regs) > 4 {
		return x, false
	}
	for _, r := range regs {
		if r.Class != ir.W32 || !r.Reg() {
			return x, false
		}
	}
	return x, true
}

func ldmatrixTemplate(op *ir.Op) emitter {
	d := vectorOf(&op.Args[0])
	x, ok := matrixAccess(op, &op.Args[1], d)
	if !ok || !laneable([]*ir.Arg{x.a.Base}, d) {
		return nil
	}
	trans := op.Mods().Transposed
	return func(g *gen) {
		g.allLanes()
		g.stage(0, x.a.Base)
		l := &laneLoop{g, []*ir.Arg{x.a.Base}, d}
		slow := g.slow()
		if x.global() {
			g.noted = 0
			g.accessing(abi.AccessLane)
		}
		to := laneOut(0)
		if trans {
			to = laneOut(4)
		}
		l.eachRow(len(d), func() {
			l.address(&x, 0)
			l.check(&x, slow)
			l.St(inContext(abi.OffAddr), asm.RSI)
			disp := l.pointer(&x)
			l.Mov32(asm.RDX, asm.RSI)
			l.ShlI32(asm.RDX, 4)
			l.Ld(asm.RAX, asm.At(asm.R8, disp))
			l.Ld(asm.RCX, asm.At(asm.R8, disp+8))
			l.St(asm.Indexed(asm.R15, asm.RDX, 1, to), asm.RAX)
			l.St(asm.Indexed(asm.R15, asm.RDX, 1, to+8), asm.RCX)
		})
		if trans {
			for i := range d {
				g.transpose16(laneOut(0)+int32(128*i), to+int32(128*i))
			}
		}
		g.takeMatrices(d, laneOut(0), 128)
	}
}

// takeMatrices loads registers from memory.
func (g *gen) takeMatrices(d []*ir.Arg, from, step int32) {
	for i, x := range d {
		if x.Kind != ir.Row {
			continue
		}
		for p := range g.each(x) {
			g.pin()
			z, o := g.dst(x, p)
			g.VM(asm.MovU32, o, z, 0, inContext(from+step*int32(i)+int32(64*p)))
		}
	}
}

// transpose16 transposes a matrix of 8 x 8 elements of 16 bits in the context. zmm0 to zmm7 are used.
func (g *gen) transpose16(to, from int32) {
	for half, unpack := range []asm.Op{asm.UnpackLW, asm.UnpackHW} {
		for q := range asm.Vec(4) { // rows 2q and 2q+1 side by side, four columns of them
			g.VM(asm.MovU32, asm.X, q, 0, inContext(from+32*int32(q)))
			g.VM(unpack, asm.X, q, q, inContext(from+32*int32(q)+16))
		}
		for _, o := range []struct {
			op      asm.Op
			d, a, b asm.Vec
		}{
			{asm.UnpackLD, 4, 0, 1}, {asm.UnpackHD, 5, 0, 1}, {asm.UnpackLD, 6, 2, 3}, {asm.UnpackHD, 7, 2, 3},
			{asm.UnpackLQ, 0, 4, 6}, {asm.UnpackHQ, 1, 4, 6}, {asm.UnpackLQ, 2, 5, 7}, {asm.UnpackHQ, 3, 5, 7},
		} {
			g.V(o.op, asm.X, o.d, o.a, o.b)
		}
		for c := range asm.Vec(4) {
			g.VM(asm.MovU32St, asm.X, c, 0, inContext(to+64*int32(half)+16*int32(c)))
		}
	}
}

func stmatrixTemplate(op *ir.Op) emitter {
	b := vectorOf(&op.Args[1])
	x, ok := matrixAccess(op, &op.Args[0], b)
	in := append([]*ir.Arg{x.a.Base}, b...)
	if !ok || !laneable(in, nil) {
		return nil
	}
	trans := op.Mods().Transposed
	return func(g *gen) {
		g.allLanes()
		for i, a := range in {
			g.stage(i, a)
		}
		l := &laneLoop{g, in, nil}
		slow := g.slow()
		from, matrix := laneIn(1), uint8(8) // a register takes 256 bytes there
		if trans {
			for i := range b {
				g.transpose16(laneOut(0)+int32(128*i), laneIn(1+i))
			}
			from, matrix = laneOut(0), 7
		}
		l.eachRow(len(b), func() { // nothing is written when one cannot be
			l.address(&x, 0)
			l.check(&x, slow)
		})
		if x.global() {
			g.noted = 0
			g.accessing(abi.AccessLane)
		}
		l.eachRow(len(b), func() {
			l.address(&x, 0)
			l.St(inContext(abi.OffAddr), asm.RSI)
			disp := l.pointer(&x)
			l.Mov32(asm.RDX, asm.RSI)
			l.ShrI32(asm.RDX, 3)
			l.ShlI32(asm.RDX, matrix)
			l.Mov32(asm.RCX, asm.RSI)
			l.AndI32(asm.RCX, 7)
			l.ShlI32(asm.RCX, 4)
			l.Add(asm.RDX, asm.RCX)
			l.Ld(asm.RAX, asm.Indexed(asm.R15, asm.RDX, 1, from))
			l.Ld(asm.RCX, asm.Indexed(asm.R15, asm.RDX, 1, from+8))
			l.St(asm.At(asm.R8, disp), asm.RAX)
			l.St(asm.At(asm.R8, disp+8), asm.RCX)
		})
	}
}

func movmatrixTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	if !rows(ir.W32, d, a) {
		return nil
	}
	return func(g *gen) {
		g.allLanes()
		g.stage(0, a)
		g.transpose16(laneOut(0), laneIn(0))
		g.takeMatrices([]*ir.Arg{d}, laneOut(0), 128)
	}
}
