package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// Accesses of whole CTAs under a checker. Under a memory checker an address that is not in its operation's bound
// (abi.Bound) is asked of Go (abi.ExitBound), which sets another bound, or says that the access is good all the same;
// then the code goes on with the registers as they were. Else the operation is left to the interpreter. For a checker
// that follows accesses they are noted (abi.ExitLog, told.go).

// addressed is where the addresses of an operation are: the bases of a scalar in general registers, or in vectors.
type addressed struct {
	base    *ir.Arg
	scalars []asm.GPR
	s       plan.Variation
	vectors []asm.Vec
}

// addresses loads the addresses of an operation; scalar allows bases instead of vectors.
func (g *gen) addresses(base *ir.Arg, scalar func(s plan.Variation) bool) (a addressed) {
	a.base = base
	if w, ok := g.scalarWeb(base); ok && g.v.NotesBases(g.pc, w) && scalar(g.v.Webs[w].Variation) {
		a.s = g.v.Webs[w].Variation
		n := 1
		if a.s.Halves {
			n = 2
		}
		for h := range n {
			a.scalars = append(a.scalars, g.sreg(w, h))
		}
		return a
	}
	for p := range plan.Pieces(base.Class) {
		a.vectors = append(a.vectors, g.reg(base, p))
	}
	return a
}

// checks are what a checker wants of an operation of a CTA: that its addresses lie in a bound, and that they are noted;
// nil for what it does not, and that its bytes of shared memory are followed.
func (g *gen) checks(i int32) (b *plan.BoundedAccess, t *plan.Told, f *plan.Followed) {
	if g.a.Bounds != nil {
		b = g.a.Bounds[i]
	}
	if g.a.Told != nil {
		t = g.a.Told[i]
	}
	if g.a.Followed != nil {
		f = g.a.Followed[i]
	}
	return b, t, f
}

// check begins an operation that a checker wants something of; it takes the place of guard.
func (g *gen) check(b *plan.BoundedAccess, t *plan.Told, f *plan.Followed) {
	var bound, told, followed addressed
	if b != nil {
		bound = g.addresses(b.Addr.Base, func(s plan.Variation) bool {
			// Of some lanes the hull of all may lie outside.
			return g.op.Guard < 0 && (g.full || s.Kind == plan.Uniform)
		})
	}
	if t != nil && t.Base != nil {
		told = g.addresses(t.Base, func(plan.Variation) bool { return true })
	}
	if f != nil {
		followed = g.followedAddresses(f)
	}
	if g.op.Guard >= 0 { // into a register, so that what is in registers stays the same from here on
		g.predRow(asm.RAX, uint32(g.op.Guard))
	}
	if b == nil && t == nil {
		g.guard()
	} else {
		again, past := g.NewLabel(), g.NewLabel()
		g.join(again)
		g.guard()
		if t != nil {
			g.roomForNote(g.missed(again, past, abi.ExitLog))
		}
		if b != nil {
			g.bound(b, &bound, g.missed(again, past, abi.ExitBound))
		}
		g.Join(past, g.liveRegs(), liveMasks|1<<5, g.rows())
	}
	g.k6 = 0
	if f != nil {
		g.follow(f, &followed)
		g.k6 = 0
	}
	if t != nil {
		g.note(&told)
	}
}

// bound leaves for miss unless the addresses of all lanes lie in a bound.
func (g *gen) bound(b *plan.BoundedAccess, a *addressed, miss asm.Label) {
	g.Ld(asm.RCX, inContext(abi.OffBounds))
	low, span := asm.At(asm.RCX, b.Slot*abi.BoundSize), asm.At(asm.RCX, b.Slot*abi.BoundSize+8)
	for _, r := range a.scalars {
		first, last := a.s.Span()
		if len(a.scalars) == 2 { // each half from its own base on
			first, last = min(0, 15*a.s.Stride), max(0, 15*a.s.Stride)
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
	for p, z := range a.vectors {
		g.VM(asm.SubQ, asm.Z.Broadcast(), 1, z, low)
		g.VCmpM(asm.CmpUQ, asm.Z.Mask(g.mask(ir.W64, p)).Broadcast(), asm.K0, 1, span, asm.CmpGT)
		g.KOrTestB(asm.K0, asm.K0)
		g.J(asm.NE, miss)
	}
}

// missed returns the label of a stub that leaves for Go and comes back. The code goes on as Context.Allowed says: at
// again, or at past when Go has looked at every lane's access.
func (g *gen) missed(again, past asm.Label, why uint32) asm.Label {
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
		g.MovI32(asm.RAX, uint32(pc)|why<<abi.ExitShift)
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
