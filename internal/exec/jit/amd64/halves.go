package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Straight-line code by halves of a warp, for AVX2: its sixteen registers hold four values of 32 lanes, or eight of 16.
// A stretch (plan.Stretch) that has more than four values, and three operations for every two, is written for the lower
// lanes from first to last, and then for the upper ones. In a shorter one the values of the lower lanes only go to
// memory and come back, and where a loop carries them it waits for that: mandelbrot, with seven operations of seven
// values, took twice as long.

// halfValues is the number of values above which a stretch is written by halves: those of all lanes that registers
// hold.
const halfValues = 4

// lanewise are operations whose first templates write each piece that they are asked for (gen.each) by itself.
var lanewise = [...]bool{
	optab.OpIadd: true, optab.OpIsub: true, optab.OpImul: true, optab.OpImad: true, optab.OpIneg: true,
	optab.OpIabs: true, optab.OpImin: true, optab.OpImax: true, optab.OpAnd: true, optab.OpOr: true,
	optab.OpXor: true, optab.OpNot: true, optab.OpLop3: true, optab.OpShl: true, optab.OpShr: true,
	optab.OpShf: true, optab.OpPrmt: true, optab.OpSelp: true, optab.OpMov: true, optab.OpFadd: true,
	optab.OpFsub: true, optab.OpFmul: true, optab.OpFfma: true, optab.OpFabs: true, optab.OpFneg: true,
	optab.OpFmin: true, optab.OpFmax: true,
}

// lanewise says whether an operation can be written by halves of a warp.
func (g *gen) lanewise(i int32) bool {
	op := &g.f.Ops[i]
	if g.v.Dead[i] {
		return true
	}
	code := int(op.Opcode())
	if op.Ctl != ir.Plain || op.Guard >= 0 || !g.a.Native[i] || code >= len(lanewise) || !lanewise[code] ||
		len(op.Args) == 0 || !plain(op) {
		return false
	}
	for j := range op.Args {
		a := &op.Args[j]
		if a.Kind != ir.Row && (j == 0 || a.Kind != ir.Imm) ||
			a.Class != ir.W32 && a.Class != ir.W64 && (j == 0 || a.Class != ir.WPred) {
			return false
		}
	}
	if templates[code][0](op) == nil {
		return false // another one's
	}
	w := g.v.DefWeb(i, op.Args[0].Ref.Off)
	return w < 0 || !g.v.Webs[w].Variation.Scalar()
}

// byHalves writes a stretch that begins at an operation, and returns its end; nothing is written when that is the
// operation itself. dying are the rows that nothing reads behind each operation.
func (g *gen) byHalves(from, to int32, dying [][]uint32) int32 {
	if !g.Lowers() || g.probe || from < g.whole || !g.lanewise(from) {
		return from
	}
	s := g.stretches.At(g.f.Ops, from, to, g.lanewise)
	if s.Rows <= halfValues || 2*int(s.End-s.Start) < 3*s.Rows {
		g.whole = s.End
		return from
	}
	left := g.left
	for g.half = 1; g.half <= 2; g.half++ {
		g.left = left
		for i := s.Start; i < s.End; i++ {
			g.pc, g.op, g.dies = i, &g.f.Ops[i], dying[i-s.Start]
			g.begin()
			if !g.v.Dead[i] {
				g.halved = false
				g.emit[i](g)
				if !g.halved {
					panic("amd64: " + g.op.Form().Name + " is not written by halves of a warp")
				}
			}
			g.endHalf(&s)
			g.refuse()
			g.left--
		}
	}
	g.half = 0
	return s.End
}

// endHalf gives up what an operation was the last to read, in the lanes that it was written for: those of the lower
// half may have the row's next value already. Scalars and predicates serve all lanes.
func (g *gen) endHalf(s *plan.Stretch) {
	if g.half == 2 {
		g.settle(g.pc)
	}
	for _, r := range g.dies {
		if g.keeps(r) {
			continue
		}
		c, ok := s.Class(r)
		if !ok { // a predicate
			if g.half == 2 {
				g.forget(r)
			}
			continue
		}
		n := plan.Pieces(c) / 2
		for z := poolStart; z < poolEnd; z++ {
			if x := &g.c.slots[z]; x.used && x.ref.Sel == 0 && x.row == r && int(x.n)/n == g.half-1 {
				x.used, x.dirty, x.lazy = false, false, false
			}
		}
	}
}
