package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// Operations that are done lane by lane in general registers: those that vectors have no instructions for, and rare
// ones. Sources stand in arrays of the context while the loop runs, and results are taken from there.

// laneLoop is the loop under construction. Its body has RAX, RCX, RDX and R8 to itself, and vector registers 0 to 7;
// RSI is the lane, RDI the lanes that are left.
type laneLoop struct {
	*gen
	in, out []*ir.Arg
}

func laneIn(i int) int32  { return abi.OffLaneIn + int32(256*i) }
func laneOut(i int) int32 { return abi.OffLaneOut + int32(256*i) }

func laneMem(off int32, c ir.Class) asm.Mem {
	switch c {
	case ir.W64:
		return asm.Indexed(asm.R15, asm.RSI, 8, off)
	case ir.WPred:
		return inContext(off)
	}
	return asm.Indexed(asm.R15, asm.RSI, 4, off)
}

// ld loads source i; a predicate as 0 or 1. Flags change.
func (l *laneLoop) ld(to asm.GPR, i int) {
	a := l.in[i]
	m := laneMem(laneIn(i), a.Class)
	l.LdR(a.Class == ir.W64, to, m)
	if a.Class == ir.WPred {
		l.Bt32(to, asm.RSI)
		l.RR(asm.ArithSbb, false, to, to)
		l.NegR(false, to)
	}
}

// st stores result i; for a predicate, whether the register is not zero.
func (l *laneLoop) st(i int, from asm.GPR) {
	a := l.out[i]
	m := laneMem(laneOut(i), a.Class)
	if a.Class != ir.WPred {
		l.StR(a.Class == ir.W64, m, from)
		return
	}
	skip := l.NewLabel()
	l.Test32(from, from)
	l.J(asm.E, skip)
	l.BtsM32(m, asm.RSI)
	l.Bind(skip)
}

// stage puts a source where lane loops find it.
func (g *gen) stage(i int, a *ir.Arg) {
	g.pin()
	switch a.Class {
	case ir.WPred:
		g.pred(asm.RAX, a)
		g.St32(inContext(laneIn(i)), asm.RAX)
	default:
		for p := range plan.Pieces(a.Class) {
			g.VM(asm.MovU32St, asm.Z, g.reg(a, p), 0, inContext(laneIn(i)+int32(64*p)))
		}
	}
}

// eachLane writes the loop around body. loops may be written several times between stage and collect.
func (g *gen) eachLane(scalar bool, body func()) {
	if scalar {
		g.MovI32(asm.RDI, 1)
	} else {
		g.laneMask(asm.RDI)
	}
	loop, end := g.NewLabel(), g.NewLabel()
	if !scalar && !(g.full && g.op.Guard < 0) {
		g.Test32(asm.RDI, asm.RDI)
		g.J(asm.E, end)
	}
	g.Bind(loop)
	g.Bsf32(asm.RSI, asm.RDI)
	body()
	g.Blsr32(asm.RDI, asm.RDI)
	g.J(asm.NE, loop)
	g.Bind(end)
}

// eachPhase writes the loop around body for each phase of so many lanes, highest lane first; phases of one lane are a
// loop from the lowest lane on.
func (g *gen) eachPhase(lanes int, body func()) {
	if lanes == 1 {
		g.eachLane(false, body)
		return
	}
	for first := 0; first < 32; first += lanes {
		g.laneMask(asm.RDI)
		g.AndI32(asm.RDI, int32(uint32((uint64(1)<<lanes-1)<<first)))
		loop, end := g.NewLabel(), g.NewLabel()
		g.J(asm.E, end)
		g.Bind(loop)
		g.takeLane(asm.RSI, true)
		body()
		g.Test32(asm.RDI, asm.RDI)
		g.J(asm.NE, loop)
		g.Bind(end)
	}
}

// collect takes the results. Those that are scalars are the first lane's that ran: scalar says that it was lane 0.
func (g *gen) collect(out []*ir.Arg, scalar bool) {
	for i, d := range out {
		if d == nil || d.Kind != ir.Row {
			continue
		}
		if w, ok := g.scalarDef(d); ok {
			g.MovI32(asm.RSI, 0)
			if !scalar {
				g.laneMask(asm.RAX)
				g.Bsf32(asm.RSI, asm.RAX)
			}
			g.LdR(d.Class == ir.W64, asm.RAX, laneMem(laneOut(i), d.Class))
			g.pin()
			g.sset(w, 0, asm.RAX)
			continue
		}
		switch {
		case d.Class == ir.WPred:
			g.Ld32(asm.RAX, inContext(laneOut(i)))
			g.setPred(d, asm.RAX)
		default:
			move := asm.MovU32
			if d.Class == ir.W64 {
				move = asm.MovU64
			}
			for p := range plan.Pieces(d.Class) {
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
func (l *laneLoop) cond(c asm.Cond, to asm.GPR) {
	l.Setcc(c, to)
	l.MovZX8(to, to)
}
