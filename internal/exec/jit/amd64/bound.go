package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// Accesses of whole CTAs under a memory checker. An address that is not in its operation's bound (abi.Bound) is asked
// of Go (abi.ExitBound), which sets another bound, or says that the access is good all the same; then the code goes on
// with the registers as they were. Else the operation is left to the interpreter.

// boundOf is the bound of an operation of a CTA, nil for none.
func (g *gen) boundOf(i int32) *plan.BoundedAccess {
	if g.a.Bounds == nil {
		return nil
	}
	return g.a.Bounds[i]
}

// bound begins an operation whose addresses must lie in a bound; it takes the place of guard.
func (g *gen) bound(b *plan.BoundedAccess) {
	base := b.Addr.Base
	var scalars []asm.GPR
	w, ok := g.scalarWeb(base)
	ok = ok && g.op.Guard < 0 && !g.v.MayWrap[g.pc]
	var s plan.Variation
	if ok {
		s = g.v.Webs[w].Variation
		// Of some lanes the hull of all may lie outside.
		ok = g.full || s.Kind == plan.Uniform
	}
	if ok {
		n := 1
		if s.Halves {
			n = 2
		}
		for h := range n {
			scalars = append(scalars, g.sreg(w, h))
		}
	} else {
		for p := range plan.Pieces(ir.W64) {
			g.reg(base, p)
		}
	}
	if g.op.Guard >= 0 { // into a register, so that what is in registers stays the same from here on
		g.predRow(asm.RAX, uint32(g.op.Guard))
	}
	again, past := g.NewLabel(), g.NewLabel()
	g.join(again)
	g.guard()
	miss := g.missed(again, past)
	g.Ld(asm.RCX, inContext(abi.OffBounds))
	low, span := asm.At(asm.RCX, b.Slot*abi.BoundSize), asm.At(asm.RCX, b.Slot*abi.BoundSize+8)
	for _, r := range scalars {
		first, last := s.Span()
		if len(scalars) == 2 { // each half from its own base on
			first, last = min(0, 15*s.Stride), max(0, 15*s.Stride)
		}
		for i, d := range []int64{first, last} {
			if i == 1 && last == first {
				break
			}
			g.Lea(asm.RAX, asm.At(r, int32(d)))
			g.SubLd(asm.RAX, low)
			g.CmpLd(asm.RAX, span)
			g.J(asm.A, miss)
		}
	}
	if scalars == nil {
		for p := range plan.Pieces(ir.W64) {
			g.VM(asm.SubQ, asm.Z.Broadcast(), 1, g.cached(base, p), low)
			g.VCmpM(asm.CmpUQ, asm.Z.Mask(g.mask(ir.W64, p)).Broadcast(), asm.K0, 1, span, asm.CmpGT)
			g.KOrTestB(asm.K0, asm.K0)
			g.J(asm.NE, miss)
		}
	}
	g.Join(past, g.liveRegs(), liveMasks|1<<5, g.rows())
	g.k6 = 0
}

// missed returns the label of a stub that asks Go. The code goes on as Context.Allowed says: at again, or at past when
// Go has looked at every lane's access.
func (g *gen) missed(again, past asm.Label) asm.Label {
	l := g.NewLabel()
	c, pc, op, homes, hr, left, full := g.c, g.pc, g.op, g.homes, g.homeReg, g.left, g.full
	g.stubs = append(g.stubs, func() {
		g.c, g.pc, g.op, g.homes, g.homeReg, g.left, g.full = c, pc, op, homes, hr, left, full
		g.k6 = 0
		g.Join(l, g.dirtyRegs(), liveMasks|1<<5, g.rows())
		if op.Guard >= 0 {
			g.KMovRD(asm.RCX, asm.K5)
			g.St32(inContext(abi.OffOut), asm.RCX)
		}
		g.flush()
		resume, good := g.NewLabel(), g.NewLabel()
		g.LeaLabel(asm.RAX, resume)
		g.St(g.inFrame(g.lay.Resume), asm.RAX)
		if full {
			g.StI32(inContext(abi.OffMask), 0xffffffff)
		} else {
			g.Ld32(asm.RAX, inContext(abi.OffMask))
			g.St32(g.inFrame(g.lay.Mask), asm.RAX)
		}
		g.MovI32(asm.RAX, uint32(pc)|abi.ExitBound<<abi.ExitShift)
		g.toWarpEnd(g.leave)
		g.resumeAt(resume, pc, false)
		g.reload()
		g.CmpMI32(inContext(abi.OffAllowed), abi.AllowedLanes)
		g.J(asm.A, g.slow())
		g.J(asm.E, good)
		g.Jmp(again)
		g.Join(good, g.liveRegs(), liveMasks, g.rows())
		g.guard()
		g.Jmp(past)
	})
	return l
}

// reload loads every register that the cache has, all of which stand in memory.
func (g *gen) reload() {
	for z := asm.Vec(poolStart); z < poolEnd; z++ {
		s := &g.c.slots[z]
		switch {
		case !s.used:
		case s.ref.Sel == 0:
			g.fill(z, s.ref)
		case s.ref.Sel == 3:
			g.spread(z, int32(s.row), int(s.n))
		case s.wide:
			g.VM(asm.BroadcastQ, asm.Z, z, 0, rowMem(s.ref))
		default:
			g.VM(asm.BroadcastD, asm.Z, z, 0, rowMem(s.ref))
		}
	}
	for i := range g.c.regs {
		if s := &g.c.regs[i]; s.used {
			g.LdR(g.isWide(s.web), scalarRegs[i], placeMem(g.v.Webs[s.web].At, int(s.half)))
		}
	}
	for i := range g.c.preds {
		if p := &g.c.preds[i]; p.used {
			g.Ld32(predRegs[i], rowMem(ir.Ref{Off: p.row}))
		}
	}
}
