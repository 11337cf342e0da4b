package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Loads from shared memory whose only use is an addition, a multiplication or both, soon behind them, are left to it:
// its instruction takes the operand from memory. The address has been checked by then, so nothing can fault there, and
// no operation between writes to memory. Where the code leaves between load and use, the way out loads.

// lateLoad is a load that is left to the operation that uses its result.
type lateLoad struct {
	def, user int32 // operations
	to        *ir.Arg
	ac        plan.Access
	web       int32 // of the address
}

// lateReach is how many operations may lie between a load and its use.
const lateReach = 8

// twin says whether both halves of the warp load the same.
func (l *lateLoad) twin(g *gen) bool {
	s := g.v.Webs[l.web].Variation
	return !s.Halves && s.Lane16() == 0
}

// takesMemory says whether an operation's template takes its first two sources from memory.
func takesMemory(op *ir.Op) bool {
	if op.Ctl != ir.Plain || op.Guard >= 0 || op.Type(0) != optab.F32 || !plain(op) {
		return false
	}
	switch op.Opcode() {
	case optab.OpFfma, optab.OpFadd, optab.OpFmul, optab.OpFsub:
	default:
		return false
	}
	for i := range op.Args {
		if a := &op.Args[i]; !a.Reg() || a.Neg {
			return false
		}
	}
	return rows(ir.W32, &op.Args[0])
}

// leaves leaves the load under way to its use; false when it cannot.
func (g *gen) leaves(ac *plan.Access, w int32) bool {
	if !g.full || g.v == nil || ac.Global() || ac.ElemSize != 4 || len(ac.Regs) != 1 || g.op.Mods().Strong() {
		return false
	}
	d, s := ac.Regs[0], g.v.Webs[w].Variation
	if d.Kind != ir.Row || s.Stride != 0 && s.Stride != 4 {
		return false
	}
	if _, scalar := g.scalarDef(d); scalar {
		return false
	}
	n := g.v.DefWeb(g.pc, d.Ref.Off)
	if x := &g.v.Webs[n]; x.Uses != 1 || x.Defs != 1 || x.Block < 0 {
		return false
	}
	end := min(g.a.Blocks[g.v.InBlock[g.pc]].End, g.pc+1+lateReach)
	for i := g.pc + 1; i < end; i++ {
		op := &g.f.Ops[i]
		takes := takesMemory(op)
		for _, u := range g.v.Ops[i].Uses {
			if u.Web != n {
				continue
			}
			if !takes {
				return false
			}
			a, b := &op.Args[1], &op.Args[2]
			row := d.Ref.Off
			if (a.Kind == ir.Row && a.Ref.Off == row) == (b.Kind == ir.Row && b.Ref.Off == row) {
				return false
			}
			if x := &g.v.Webs[w]; x.Block >= 0 && x.Last < i {
				return false // the address is forgotten before
			}
			g.late = append(g.late, lateLoad{g.pc, i, d, *ac, w})
			g.forget(row)
			return true
		}
		for _, x := range g.v.Ops[i].Defs {
			if x.Web == w {
				return false
			}
		}
		if !takes && (op.Ctl != ir.Plain || op.Opcode() != optab.OpLd || g.v.Info[i].Rule != plan.RuleLoad ||
			op.Mods().Space != optab.SpaceShared || op.Mods().Strong()) {
			return false
		}
	}
	return false
}

// lateOf is the load that was left to the operation under way, of a source; nil for none.
func (g *gen) lateOf(a *ir.Arg) *lateLoad {
	if a.Kind == ir.Row {
		for i := range g.late {
			if l := &g.late[i]; l.user == g.pc && l.to.Ref == a.Ref {
				return l
			}
		}
	}
	return nil
}

// lateMem is where a piece of a late load stands: one word for all its lanes when each is true.
func (g *gen) lateMem(l *lateLoad, n int) (m asm.Mem, each bool) {
	s := g.v.Webs[l.web].Variation
	var bases [2]asm.GPR
	bases[0] = g.sreg(l.web, 0)
	count := 1
	if s.Halves {
		bases[1], count = g.sreg(l.web, 1), 2
	}
	g.holdShared()
	return g.element(&l.ac, l.web, bases, count, n, 0), s.Stride == 0
}

// lateSource is a piece of a late load as a source: in memory, or in a register that both halves share.
func (g *gen) lateSource(l *lateLoad, n int) operand {
	if l.twin(g) {
		return operand{reg: g.lateReg(l, n)}
	}
	m, each := g.lateMem(l, n)
	return operand{mem: m, imm: each, whole: !each}
}

// lateReg returns a register with a piece of a late load.
func (g *gen) lateReg(l *lateLoad, n int) asm.Vec {
	if l.twin(g) {
		n = 0
	}
	ref := pieceRef(l.to.Ref, n)
	z, ok := g.c.find(ref)
	if !ok {
		m, each := g.lateMem(l, n)
		z = g.alloc()
		loadLate(g, z, m, each)
	}
	g.c.slots[z] = slot{ref: ref, row: l.to.Ref.Off, n: uint8(n), used: true, all: true, stamp: g.c.stamp}
	return z
}

func loadLate(g *gen, z asm.Vec, m asm.Mem, each bool) {
	x := asm.MovU32
	if each {
		x = asm.BroadcastD
	}
	g.VM(x, asm.Z, z, 0, m)
}

// pendingLate are the loads that the operation under way has before it, with their uses to come.
func (g *gen) pendingLate() (list []lateLoad) {
	for i := range g.late {
		if l := &g.late[i]; l.def < g.pc && g.pc <= l.user {
			list = append(list, *l)
		}
	}
	return list
}

// makeLate does late loads on a way out.
func (g *gen) makeLate(list []lateLoad) {
	for i := range list {
		l := &list[i]
		for n := range 2 {
			g.pin()
			m, each := g.lateMem(l, n)
			loadLate(g, 0, m, each)
			g.VM(asm.MovU32St, asm.Z, 0, 0, rowMem(pieceRef(l.to.Ref, n)))
		}
	}
}
