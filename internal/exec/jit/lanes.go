package jit

import (
	a64 "github.com/gocuda/cuda/internal/exec/jit/amd64asm"
	"github.com/gocuda/cuda/internal/ir"
)

// Operations that are done lane by lane in general registers: those that vectors have no instructions for, and rare ones. Sources stand in arrays of the
// context while the loop runs, and results are taken from there.

// laneLoop is the loop under construction. Its body has RAX, RCX, RDX and R8 to itself, and vector registers 0 to 7; RSI is the lane, RDI the lanes that are left.
type laneLoop struct {
	*gen
	in, out []*ir.Arg
}

func laneIn(i int) int32  { return offLaneIn + int32(256*i) }
func laneOut(i int) int32 { return offLaneOut + int32(256*i) }

func laneMem(off int32, c ir.Class) a64.Mem {
	switch c {
	case ir.W64:
		return a64.Indexed(a64.R15, a64.RSI, 8, off)
	case ir.WPred:
		return inContext(off)
	}
	return a64.Indexed(a64.R15, a64.RSI, 4, off)
}

// ld loads source i; a predicate as 0 or 1. Flags change.
func (l *laneLoop) ld(to uint8, i int) {
	a := l.in[i]
	m := laneMem(laneIn(i), a.Class)
	l.LdR(a.Class == ir.W64, to, m)
	if a.Class == ir.WPred {
		l.Bt32(to, a64.RSI)
		l.RR(a64.ArithSbb, false, to, to)
		l.NegR(false, to)
	}
}

// st stores result i; for a predicate, whether the register is not zero.
func (l *laneLoop) st(i int, from uint8) {
	a := l.out[i]
	m := laneMem(laneOut(i), a.Class)
	if a.Class != ir.WPred {
		l.StR(a.Class == ir.W64, m, from)
		return
	}
	skip := l.NewLabel()
	l.Test32(from, from)
	l.J(a64.E, skip)
	l.BtsM32(m, a64.RSI)
	l.Bind(skip)
}

// stage puts a source where lane loops find it.
func (g *gen) stage(i int, a *ir.Arg) {
	g.pin()
	switch a.Class {
	case ir.WPred:
		g.pred(a64.RAX, a)
		g.St32(inContext(laneIn(i)), a64.RAX)
	default:
		for p := range pieces(a.Class) {
			g.VM(a64.MovU32St, a64.Z, g.reg(a, p), 0, inContext(laneIn(i)+int32(64*p)))
		}
	}
}

// eachLane writes the loop around body. loops may be written several times between stage and collect.
func (g *gen) eachLane(scalar bool, body func()) {
	if scalar {
		g.MovI32(a64.RDI, 1)
	} else {
		g.laneMask(a64.RDI)
	}
	loop, end := g.NewLabel(), g.NewLabel()
	if !scalar && !(g.full && g.op.Guard < 0) {
		g.Test32(a64.RDI, a64.RDI)
		g.J(a64.E, end)
	}
	g.Bind(loop)
	g.Bsf32(a64.RSI, a64.RDI)
	body()
	g.Blsr32(a64.RDI, a64.RDI)
	g.J(a64.NE, loop)
	g.Bind(end)
}

// collect takes the results. Those that are scalars are the first lane's that ran: scalar says that it was lane 0.
func (g *gen) collect(out []*ir.Arg, scalar bool) {
	for i, d := range out {
		if d == nil || d.Kind != ir.Row {
			continue
		}
		if w, ok := g.scalarDef(d); ok {
			g.MovI32(a64.RSI, 0)
			if !scalar {
				g.laneMask(a64.RAX)
				g.Bsf32(a64.RSI, a64.RAX)
			}
			g.LdR(d.Class == ir.W64, a64.RAX, laneMem(laneOut(i), d.Class))
			g.pin()
			g.sset(w, 0, a64.RAX)
			continue
		}
		switch {
		case d.Class == ir.WPred:
			g.Ld32(a64.RAX, inContext(laneOut(i)))
			g.setPred(d, a64.RAX)
		default:
			move := a64.MovU32
			if d.Class == ir.W64 {
				move = a64.MovU64
			}
			for p := range pieces(d.Class) {
				g.pin()
				z, o := g.dst(d, p)
				g.VM(move, o, z, 0, inContext(laneOut(i)+int32(64*p)))
			}
		}
	}
}

// clearPreds empties the predicates among the results.
func (g *gen) clearPreds(out []*ir.Arg) {
	for i, d := range out {
		if d != nil && d.Kind == ir.Row && d.Class == ir.WPred {
			g.StI32(inContext(laneOut(i)), 0)
		}
	}
}

// laneable says whether operands can be staged and collected.
func laneable(in, out []*ir.Arg) bool {
	for _, a := range in {
		if !a.Reg() || a.Class == ir.W128 || a.Kind == ir.Imm && a.Class == ir.WPred {
			return false
		}
	}
	for _, d := range out {
		if d.Kind != ir.Row && d.Kind != ir.None || d.Class == ir.W128 {
			return false
		}
	}
	return len(in) <= 5 && len(out) <= 8
}

// byLanes makes an operation of a body that computes a lane's results from its sources.
func byLanes(in, out []*ir.Arg, body func(l *laneLoop)) emitter {
	if !laneable(in, out) {
		return nil
	}
	return func(g *gen) {
		for i, a := range in {
			g.stage(i, a)
		}
		g.clearPreds(out)
		scalar := g.scalars(out)
		l := &laneLoop{g, in, out}
		g.eachLane(scalar, func() { body(l) })
		g.collect(out, scalar)
	}
}

// scalars says whether all results are scalars.
func (g *gen) scalars(out []*ir.Arg) bool {
	all := len(out) > 0
	for _, d := range out {
		_, s := g.scalarDef(d)
		all = all && s
	}
	return all
}

// cond puts a condition into a register, as 0 or 1.
func (l *laneLoop) cond(c a64.Cond, to uint8) {
	l.Setcc(c, to)
	l.MovZX8(to, to)
}
