package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

func nothing(*ir.Op) emitter { return func(*gen) {} }

// accessing notes the operation, and the lanes of a guarded one, for Locate. rcx is used.
func (g *gen) accessing(kind uint32) {
	if g.op.Guard >= 0 {
		g.KMovRD(asm.RCX, asm.K5)
		g.St32(inContext(abi.OffOut), asm.RCX)
	}
	g.StI32(inContext(abi.OffOp), uint32(g.pc)|kind<<24)
}

func loadTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	ac, ok := plan.AccessOf(op, a, d)
	if !ok {
		return nil
	}
	for _, r := range ac.Regs {
		if r.Kind == ir.Imm {
			return nil
		}
	}
	if ac.Space == ir.KernelParam {
		return func(g *gen) {
			if g.v != nil {
				g.loadSame(&ac, func(disp int32) asm.Mem { return inContext(abi.OffParamCopy + ac.Disp + disp) })
				return
			}
			g.Ld(asm.RSI, inContext(abi.OffParams))
			g.uniformLoad(&ac, asm.RSI)
		}
	}
	if ac.Base.Kind == ir.Imm {
		if op.Guard >= 0 {
			return nil // without lanes there must be no access
		}
		return func(g *gen) {
			g.uniformAddress(&ac)
			if g.v != nil {
				g.loadSame(&ac, func(disp int32) asm.Mem { return asm.At(asm.RSI, ac.Disp+disp) })
				return
			}
			g.uniformLoad(&ac, asm.RSI)
		}
	}
	if len(ac.Regs) == 1 {
		return func(g *gen) { g.load1(&ac) }
	}
	return func(g *gen) { g.loadVector(&ac) }
}

// uniformAddress puts the host address of a constant address, without displacement, into rsi.
func (g *gen) uniformAddress(ac *plan.Access) {
	slow := g.slow()
	if ac.Wide() {
		g.Ld(asm.RAX, rowMem(ac.Base.Ref))
	} else {
		g.Ld32(asm.RAX, rowMem(ac.Base.Ref))
	}
	g.scalarCheck(ac, 0, slow)
	if ac.Global() {
		g.accessing(abi.AccessUniform)
		g.Mov(asm.RSI, asm.RAX)
		return
	}
	g.Ld(asm.RSI, inContext(abi.OffShared))
	g.Add(asm.RSI, asm.RAX)
}

// runCheck leaves for slow unless the address in rax is good for the accesses of half h's lanes side by side, of which
// it is the first one's. rcx and rdi are used. What lies behind the last lane in global memory faults by itself.
func (g *gen) runCheck(ac *plan.Access, h int, slow asm.Label) {
	if inside, _ := g.shared(ac); inside || ac.Global() {
		g.scalarCheck(ac, 0, slow)
		return
	}
	if g.full && g.op.Guard < 0 {
		g.scalarCheck(ac, 15*int32(ac.ElemSize), slow)
		return
	}
	g.laneMask(asm.RDI)
	if h == 0 {
		g.AndI32(asm.RDI, 0xffff)
	} else {
		g.ShrI32(asm.RDI, 16)
	}
	g.Bsr32(asm.RDI, asm.RDI)
	if ac.ElemLog > 0 {
		g.ShiftI(asm.ScalarShl, false, asm.RDI, ac.ElemLog)
	}
	g.sharedCheck(ac, 0, asm.RDI, slow)
	g.aligned(ac, slow)
}

// scalarCheck leaves for slow unless the address in rax is good for an access, and what lies so many bytes behind it.
// rcx is used.
func (g *gen) scalarCheck(ac *plan.Access, behind int32, slow asm.Label) {
	if ac.Global() {
		g.Mov(asm.RCX, asm.RAX)
		g.SubLd(asm.RCX, inContext(abi.OffLow))
		g.CmpLd(asm.RCX, inContext(abi.OffSpan))
		g.J(asm.A, slow)
	} else {
		g.sharedCheck(ac, behind, asm.None, slow)
	}
	g.aligned(ac, slow)
}

// shared says what is known of an access to shared memory: that it lies in the kernel's variables, that it is aligned.
func (g *gen) shared(ac *plan.Access) (inside, aligned bool) {
	if g.v == nil {
		return false, false
	}
	return g.v.SharedAccess(g.pc, ac)
}

// sharedCheck leaves for slow unless shared memory has the access at the address in rax and what lies behind it: so
// many bytes, and as many as a register says, if any. rcx is used.
func (g *gen) sharedCheck(ac *plan.Access, behind int32, more asm.GPR, slow asm.Label) {
	if inside, _ := g.shared(ac); inside {
		return
	}
	g.Ld32(asm.RCX, inContext(abi.OffSharedTop+4*int32(ac.Align)))
	if less := ac.Disp + behind; less != 0 {
		g.AddI(asm.RCX, -less) // negative when even offset 0 is too high
		g.J(asm.S, slow)
	}
	if more != asm.None {
		g.RR(asm.ArithSub, true, asm.RCX, more)
		g.J(asm.S, slow)
	}
	if g.v == nil { // the CTA's own memory begins at its rank's window
		g.AddLd(asm.RCX, inContext(abi.OffSharedLow))
		g.CmpLd(asm.RAX, inContext(abi.OffSharedLow))
		g.J(asm.B, slow)
	}
	g.Cmp(asm.RAX, asm.RCX)
	g.J(asm.A, slow)
}

// aligned leaves for slow unless the address in rax is aligned.
func (g *gen) aligned(ac *plan.Access, slow asm.Label) {
	if _, aligned := g.shared(ac); ac.Align > 0 && !aligned {
		g.TestI32(asm.RAX, 1<<ac.Align-1)
		g.J(asm.NE, slow)
	}
}

// uniformLoad loads every element for all lanes from [base+disp].
func (g *gen) uniformLoad(ac *plan.Access, base asm.GPR) {
	for i, r := range ac.Regs {
		if r.Kind != ir.Row {
			continue
		}
		m := asm.At(base, ac.Disp+int32(i*ac.ElemSize))
		g.pin()
		from := asm.Vec(0)
		switch {
		case ac.ElemSize == 8:
			g.VM(asm.BroadcastQ, asm.Z, 0, 0, m)
		case ac.ElemSize == 4:
			g.VM(asm.BroadcastD, asm.Z, 0, 0, m)
		default:
			g.scalarElement(ac, r, m)
			g.VR(asm.BroadcastDR, asm.Z, 0, asm.RAX)
		}
		for p := range plan.Pieces(r.Class) {
			z, o := g.dst(r, p)
			move := asm.MovA32
			if r.Class == ir.W64 {
				move = asm.MovA64
			}
			g.V(move, o, z, 0, from)
		}
	}
}

// scalarElement loads a narrow element into eax as its register wants it.
func (g *gen) scalarElement(ac *plan.Access, r *ir.Arg, m asm.Mem) {
	switch {
	case ac.ElemSize == 1 && ac.Signed:
		g.LdS8(asm.RAX, m)
	case ac.ElemSize == 1:
		g.Ld8(asm.RAX, m)
	case ac.Signed:
		g.LdS16(asm.RAX, m)
	default:
		g.Ld16(asm.RAX, m)
	}
	if ac.Signed && r.Width != 0 && r.Width < 32 {
		g.AndI32(asm.RAX, 1<<r.Width-1)
	}
}

// addressMask is the mask register of an address piece.
func (g *gen) addressMask(ac *plan.Access, piece int) asm.Mask { return g.mask(ac.Base.Class, piece) }

// differences puts address minus that of the half's first lane into zmm1 (and zmm2), the first lane's address into rax.
func (g *gen) differences(ac *plan.Access, h int) {
	ps := ac.AddressPieces(h)
	r := g.reg(ac.Base, ps[0])
	if ac.Wide() {
		g.VR(asm.MovQ, asm.X, r, asm.RAX)
		g.V(asm.BroadcastQ, asm.Z, 0, 0, r)
		g.V(asm.SubQ, asm.Z, 1, r, 0)
		g.V(asm.SubQ, asm.Z, 2, g.reg(ac.Base, ps[1]), 0)
		return
	}
	g.VR(asm.MovD, asm.X, r, asm.RAX)
	g.V(asm.BroadcastD, asm.Z, 0, 0, r)
	g.V(asm.SubD, asm.Z, 1, r, 0)
}

// unlessContiguous branches when the differences are not those of elements side by side. rdx holds the tables.
func (g *gen) unlessContiguous(ac *plan.Access, h int, to asm.Label) {
	ps := ac.AddressPieces(h)
	if ac.Wide() {
		g.VCmpM(asm.CmpQ, asm.Z.Mask(g.addressMask(ac, ps[0])), asm.K0, 1,
			asm.At(asm.RDX, offStepsQ+128*int32(ac.ElemLog)), asm.CmpNE)
		g.VCmpM(asm.CmpQ, asm.Z.Mask(g.addressMask(ac, ps[1])), asm.K7, 2,
			asm.At(asm.RDX, offStepsQ+128*int32(ac.ElemLog)+64), asm.CmpNE)
		g.KOrTestB(asm.K0, asm.K7)
	} else {
		g.VCmpM(asm.CmpD, asm.Z.Mask(g.addressMask(ac, ps[0])), asm.K0, 1,
			asm.At(asm.RDX, offStepsD+128*int32(ac.ElemLog)), asm.CmpNE)
		g.KOrTestW(asm.K0, asm.K0)
	}
	g.J(asm.NE, to)
}

// unlessUniform branches when the differences are not all zero.
func (g *gen) unlessUniform(ac *plan.Access, h int, to asm.Label) {
	ps := ac.AddressPieces(h)
	if ac.Wide() {
		g.VTest(asm.TestMQ, asm.Z.Mask(g.addressMask(ac, ps[0])), asm.K0, 1, 1)
		g.VTest(asm.TestMQ, asm.Z.Mask(g.addressMask(ac, ps[1])), asm.K7, 2, 2)
		g.KOrTestB(asm.K0, asm.K7)
	} else {
		g.VTest(asm.TestMD, asm.Z.Mask(g.addressMask(ac, ps[0])), asm.K0, 1, 1)
		g.KOrTestW(asm.K0, asm.K0)
	}
	g.J(asm.NE, to)
}

// vectorCheck leaves for slow unless every lane's address in half h is good. Registers 1 and 2, k0, k7, rcx are used,
// rdx holds the tables.
func (g *gen) vectorCheck(ac *plan.Access, h int, slow asm.Label) {
	inside, aligned := g.shared(ac)
	aligned = aligned || ac.Align == 0
	if inside && aligned {
		return
	}
	for _, p := range ac.AddressPieces(h) {
		r := g.cached(ac.Base, p)
		k := g.addressMask(ac, p)
		switch {
		case ac.Global():
			g.VM(asm.SubQ, asm.Z.Broadcast(), 1, r, inContext(abi.OffLow))
			g.VCmpM(asm.CmpUQ, asm.Z.Mask(k).Broadcast(), asm.K0, 1, inContext(abi.OffSpan), asm.CmpGT)
		case !inside:
			g.Ld32(asm.RCX, inContext(abi.OffSharedTop+4*int32(ac.Align)))
			if ac.Disp != 0 {
				g.AddI(asm.RCX, -ac.Disp)
				g.J(asm.S, slow)
			}
			off := r
			if g.v == nil {
				sub := asm.SubD
				if ac.Wide() {
					sub = asm.SubQ
				}
				off = 2
				g.VM(sub, asm.Z.Broadcast(), off, r, inContext(abi.OffSharedLow))
			}
			if ac.Wide() {
				g.VR(asm.BroadcastQR, asm.Z, 1, asm.RCX)
				g.VCmp(asm.CmpUQ, asm.Z.Mask(k), asm.K0, off, 1, asm.CmpGT)
			} else {
				g.VR(asm.BroadcastDR, asm.Z, 1, asm.RCX)
				g.VCmp(asm.CmpUD, asm.Z.Mask(k), asm.K0, off, 1, asm.CmpGT)
			}
		}
		if !aligned {
			to := asm.K7
			if inside {
				to = asm.K0
			}
			g.MovI32(asm.RCX, 1<<ac.Align-1)
			if ac.Wide() {
				g.VR(asm.BroadcastQR, asm.Z, 1, asm.RCX)
				g.VTest(asm.TestMQ, asm.Z.Mask(k), to, r, 1)
			} else {
				g.VR(asm.BroadcastDR, asm.Z, 1, asm.RCX)
				g.VTest(asm.TestMD, asm.Z.Mask(k), to, r, 1)
			}
			if !inside {
				g.KOrW(asm.K0, asm.K0, asm.K7)
			}
		}
		if ac.Wide() {
			g.KOrTestB(asm.K0, asm.K0)
		} else {
			g.KOrTestW(asm.K0, asm.K0)
		}
		g.J(asm.NE, slow)
	}
}

// cached is the register of an address piece that is known to be in one.
func (g *gen) cached(a *ir.Arg, n int) asm.Vec {
	ref := pieceRef(a.Ref, n)
	if w, ok := g.scalarWeb(a); ok {
		if ref = scalarRef(w, n); g.v.Webs[w].Variation.Kind == plan.Uniform {
			ref = scalarRef(w, 0)
		}
	}
	z, ok := g.c.find(ref)
	if !ok {
		panic("jit: an address is not in its register")
	}
	return z
}

// noteLanes stores the addresses of half h for Locate.
func (g *gen) noteLanes(ac *plan.Access, h int) {
	if !ac.Global() {
		return
	}
	for i, p := range ac.AddressPieces(h) {
		g.VM(asm.MovU64St, asm.Z, g.cached(ac.Base, p), 0, inContext(abi.OffAddrs+int32(128*h+64*i)))
	}
	g.accessing(abi.AccessLanes)
}

// gatherMask copies a mask register, which gathers and scatters clear, to k7.
func (g *gen) gatherMask(k asm.Mask) {
	if k == 0 {
		g.KXnorW(asm.K7, asm.K7, asm.K7)
	} else {
		g.KMovQ(asm.K7, k)
	}
}

// gather loads the elements of half h (quarter q of 8-byte ones) at disp into z. Registers z and t are used; narrow
// elements take zmm5 and zmm6.
func (g *gen) gather(ac *plan.Access, h int, q int, z, t asm.Vec, disp int32) {
	base := asm.None
	if !ac.Global() {
		base = asm.RSI
	}
	if ac.ElemSize == 8 {
		p := 2*h + q
		g.V(asm.XorD, asm.Z, z, z, z)
		if ac.Wide() {
			g.gatherMask(g.mask(ir.W64, p))
			g.VX(asm.GatherQQ, asm.Z.Mask(asm.K7), z, base, g.cached(ac.Base, p), 1, disp)
			return
		}
		index := g.cached(ac.Base, h)
		if q == 1 {
			g.VI(asm.ExtractQ4, asm.Z, index, 0, t, 1)
			index = t
		}
		g.gatherMask(g.mask(ir.W64, p))
		g.VX(asm.GatherDQ, asm.Z.Mask(asm.K7), z, base, index, 1, disp)
		return
	}
	g.V(asm.XorD, asm.Z, z, z, z)
	if !ac.Wide() {
		g.gatherMask(g.mask(ir.W32, h))
		g.VX(asm.GatherDD, asm.Z.Mask(asm.K7), z, base, g.cached(ac.Base, h), 1, disp)
		return
	}
	g.V(asm.XorD, asm.Z, t, t, t)
	g.gatherMask(g.mask(ir.W64, 2*h))
	g.VX(asm.GatherQD, asm.Z.Mask(asm.K7), z, base, g.cached(ac.Base, 2*h), 1, disp)
	g.gatherMask(g.mask(ir.W64, 2*h+1))
	g.VX(asm.GatherQD, asm.Z.Mask(asm.K7), t, base, g.cached(ac.Base, 2*h+1), 1, disp)
	g.VI(asm.InsertQ4, asm.Z, z, z, t, 1)
}

// gatherNarrow loads 1- and 2-byte elements of half h: the aligned words around them, which never reach beyond a page.
func (g *gen) gatherNarrow(ac *plan.Access, h int, z asm.Vec) {
	base := asm.None
	if !ac.Global() {
		base = asm.RSI
	}
	g.MovI32(asm.RCX, uint32(ac.Disp))
	if !ac.Wide() {
		g.VR(asm.BroadcastDR, asm.Z, 1, asm.RCX)
		g.V(asm.AddD, asm.Z, 1, 1, g.cached(ac.Base, h))
		g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 2, 1, 30)
		g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, 2, 2, 27) // bit number in the word
		g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, 1, 1, 2)
		g.V(asm.XorD, asm.Z, z, z, z)
		g.gatherMask(g.mask(ir.W32, h))
		g.VX(asm.GatherDD, asm.Z.Mask(asm.K7), z, base, 1, 4, 0)
	} else {
		g.MovI(asm.RCX, uint64(int64(ac.Disp)))
		for i := range 2 {
			p, t := 2*h+i, asm.Vec(5+i)
			g.VR(asm.BroadcastQR, asm.Z, 1, asm.RCX)
			g.V(asm.AddQ, asm.Z, 1, 1, g.cached(ac.Base, p))
			g.VShift(asm.ShiftQ, asm.Z, asm.ShiftSll, t, 1, 62)
			g.VShift(asm.ShiftQ, asm.Z, asm.ShiftSrl, t, t, 59)
			g.V(asm.MovQD, asm.Z, t, 0, t)
			g.VShift(asm.ShiftQ, asm.Z, asm.ShiftSrl, 1, 1, 2)
			g.VShift(asm.ShiftQ, asm.Z, asm.ShiftSll, 1, 1, 2)
			to := z
			if i == 1 {
				to = 2
			}
			g.V(asm.XorD, asm.Z, to, to, to)
			g.gatherMask(g.mask(ir.W64, p))
			g.VX(asm.GatherQD, asm.Z.Mask(asm.K7), to, base, 1, 1, 0)
		}
		g.VI(asm.InsertQ4, asm.Z, z, z, 2, 1)
		g.VI(asm.InsertQ4, asm.Z, 2, 5, 6, 1)
	}
	g.V(asm.SrlVD, asm.Z, z, z, 2)
	shift := uint8(32 - 8*ac.ElemSize)
	g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, z, z, shift)
	kind := asm.Shift(asm.ShiftSrl)
	if ac.Signed {
		kind = asm.ShiftSra
	}
	g.VShift(asm.ShiftD, asm.Z, kind, z, z, shift)
}

// halfPointer makes rsi+disp the address of a half's first lane, from the address in rax, and notes the access.
func (g *gen) halfPointer(ac *plan.Access, h int, kind uint32) {
	if ac.Global() {
		g.noted = 0
		g.St(inContext(abi.OffAddr+int32(8*h)), asm.RAX)
		g.accessing(kind)
		g.Mov(asm.RSI, asm.RAX)
		return
	}
	g.Ld(asm.RSI, inContext(abi.OffShared))
	g.Add(asm.RSI, asm.RAX)
}

// skipEmpty branches when no lane of half h takes part. rax is used.
func (g *gen) skipEmpty(h int, to asm.Label) {
	if g.full && g.op.Guard < 0 {
		return
	}
	g.laneMask(asm.RAX)
	if h == 0 {
		g.TestI32(asm.RAX, 0xffff)
	} else {
		g.ShrI32(asm.RAX, 16)
	}
	g.J(asm.E, to)
}

// load1 loads one element a lane. Results gather in scratch registers, 3 and 4, or 3, 4, 5 and 6, until nothing can
// fail any more.
func (g *gen) load1(ac *plan.Access) {
	if g.affineLoad(ac) {
		return
	}
	d := ac.Regs[0]
	for h := range 2 { // into registers first: what follows must not change the cache
		for _, p := range ac.AddressPieces(h) {
			g.reg(ac.Base, p)
		}
	}
	slow := g.slow()
	g.Ld(asm.RDX, inContext(abi.OffTables))
	for h := range 2 {
		done := g.NewLabel()
		to := asm.Vec(3 + h)
		if ac.ElemSize == 8 {
			to = asm.Vec(3 + 2*h)
		}
		g.k6 = 0
		g.skipEmpty(h, done)
		g.differences(ac, h)
		scattered := g.outOfLine(func() {
			g.scattered(ac, h, to, slow, done)
		})
		g.unlessContiguous(ac, h, scattered)
		g.runCheck(ac, h, slow)
		g.halfPointer(ac, h, abi.AccessHalf0+uint32(h))
		m := asm.At(asm.RSI, ac.Disp)
		z := func(k asm.Mask) asm.Opt {
			o := asm.Z.Mask(k)
			if k != 0 {
				o = o.Zeroing()
			}
			return o
		}
		switch ac.ElemSize {
		case 8:
			g.VM(asm.MovU64, z(g.mask(ir.W64, 2*h)), to, 0, m)
			m.Disp += 64
			g.VM(asm.MovU64, z(g.mask(ir.W64, 2*h+1)), to+1, 0, m)
		case 4:
			g.VM(asm.MovU32, z(g.mask(ir.W32, h)), to, 0, m)
		case 2:
			x := asm.MovZXWD
			if ac.Signed {
				x = asm.MovSXWD
			}
			g.VM(x, z(g.mask(ir.W32, h)), to, 0, m)
		case 1:
			x := asm.MovZXBD
			if ac.Signed {
				x = asm.MovSXBD
			}
			g.VM(x, z(g.mask(ir.W32, h)), to, 0, m)
		}
		g.rejoin(done, 1<<0|1<<1|1<<2)
		g.k6 = 0
	}
	if d.Kind != ir.Row {
		return
	}
	move := asm.MovA32
	if ac.ElemSize == 8 {
		move = asm.MovA64
	}
	for p := range plan.Pieces(d.Class) {
		g.pin()
		from := asm.Vec(3 + p)
		if d.Width != 0 && d.Width < 32 && ac.Signed {
			g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, from, from, 32-d.Width)
			g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, from, from, 32-d.Width)
		}
		z, o := g.dst(d, p)
		g.V(move, o, z, 0, from)
	}
}

// scattered is the part of load1 for addresses of half h that do not lie side by side. Differences are in registers 1
// and 2.
func (g *gen) scattered(ac *plan.Access, h int, to asm.Vec, slow, done asm.Label) {
	gather := g.NewLabel()
	g.unlessUniform(ac, h, gather)
	g.scalarCheck(ac, 0, slow)
	g.halfPointer(ac, h, abi.AccessUniform)
	m := asm.At(asm.RSI, ac.Disp)
	switch ac.ElemSize {
	case 8:
		g.VM(asm.BroadcastQ, asm.Z, to, 0, m)
		g.V(asm.MovA64, asm.Z, to+1, 0, to)
	case 4:
		g.VM(asm.BroadcastD, asm.Z, to, 0, m)
	default:
		g.scalarElement(ac, ac.Regs[0], m)
		g.VR(asm.BroadcastDR, asm.Z, to, asm.RAX)
	}
	g.Jmp(done)
	g.rejoin(gather, 0)
	g.k6 = 0
	g.vectorCheck(ac, h, slow)
	g.noteLanes(ac, h)
	if !ac.Global() {
		g.Ld(asm.RSI, inContext(abi.OffShared))
	}
	switch ac.ElemSize {
	case 8:
		g.gather(ac, h, 0, to, 0, ac.Disp)
		g.gather(ac, h, 1, to+1, 0, ac.Disp)
	case 4:
		g.gather(ac, h, 0, to, 0, ac.Disp)
	default:
		g.gatherNarrow(ac, h, to)
	}
	g.Jmp(done)
}

// loadVector loads several elements a lane by gathers.
func (g *gen) loadVector(ac *plan.Access) {
	if g.affineLoad(ac) {
		return
	}
	if ac.ElemSize < 4 {
		g.loadVectorNarrow(ac)
		return
	}
	for h := range 2 {
		for _, p := range ac.AddressPieces(h) {
			g.reg(ac.Base, p)
		}
	}
	slow := g.slow()
	alias := false
	for _, r := range ac.Regs {
		alias = alias || r.Kind == ir.Row && r.Ref == ac.Base.Ref
	}
	g.Ld(asm.RDX, inContext(abi.OffTables))
	for h := range 2 {
		g.k6 = 0
		g.vectorCheck(ac, h, slow)
		g.noteLanes(ac, h)
	}
	if !ac.Global() {
		g.Ld(asm.RSI, inContext(abi.OffShared))
	}
	// The register that holds the address is written last.
	order := make([]int, 0, len(ac.Regs))
	for i, r := range ac.Regs {
		if !(alias && r.Ref == ac.Base.Ref) {
			order = append(order, i)
		}
	}
	for i, r := range ac.Regs {
		if alias && r.Kind == ir.Row && r.Ref == ac.Base.Ref {
			order = append(order, i)
		}
	}
	for _, i := range order {
		r := ac.Regs[i]
		if r.Kind != ir.Row {
			continue
		}
		disp := ac.Disp + int32(i*ac.ElemSize)
		g.pin()
		for h := range 2 { // addresses stay in registers
			for _, p := range ac.AddressPieces(h) {
				g.reg(ac.Base, p)
			}
		}
		if ac.ElemSize == 8 {
			for p := range 4 {
				g.gather(ac, p/2, p&1, asm.Vec(1+p), 0, disp)
			}
			for p := range 4 {
				z, o := g.dst(r, p)
				g.V(asm.MovA64, o, z, 0, asm.Vec(1+p))
			}
			continue
		}
		for h := range 2 {
			g.gather(ac, h, 0, asm.Vec(1+h), 0, disp)
		}
		for h := range 2 {
			z, o := g.dst(r, h)
			g.V(asm.MovA32, o, z, 0, asm.Vec(1+h))
		}
	}
}

// loadVectorNarrow loads several 1- or 2-byte elements a lane.
func (g *gen) loadVectorNarrow(ac *plan.Access) {
	for h := range 2 {
		for _, p := range ac.AddressPieces(h) {
			g.reg(ac.Base, p)
		}
	}
	slow := g.slow()
	g.Ld(asm.RDX, inContext(abi.OffTables))
	for h := range 2 {
		g.k6 = 0
		g.vectorCheck(ac, h, slow)
		g.noteLanes(ac, h)
	}
	if !ac.Global() {
		g.Ld(asm.RSI, inContext(abi.OffShared))
	}
	for i, r := range ac.Regs {
		if r.Kind != ir.Row {
			continue
		}
		g.pin()
		for h := range 2 {
			for _, p := range ac.AddressPieces(h) {
				g.reg(ac.Base, p)
			}
		}
		one := *ac
		one.Disp += int32(i * ac.ElemSize)
		for h := range 2 {
			to := asm.Vec(3 + h)
			g.k6 = 0
			g.gatherNarrow(&one, h, to)
			if r.Width != 0 && r.Width < 32 && ac.Signed {
				g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, to, to, 32-r.Width)
				g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, to, to, 32-r.Width)
			}
		}
		for h := range 2 {
			z, o := g.dst(r, h)
			g.V(asm.MovA32, o, z, 0, asm.Vec(3+h))
		}
	}
}

// within leaves the operation to the interpreter unless the addresses of all lanes lie in its bound. zmm1, k0 and rcx
// are used.
func (g *gen) within(b *plan.BoundedAccess) {
	const quarters = 4
	for p := range quarters {
		g.reg(b.Addr.Base, p)
	}
	slow := g.slow()
	g.Ld(asm.RCX, inContext(abi.OffBounds))
	at := b.Slot * abi.BoundSize
	for p := range quarters {
		g.VM(asm.SubQ, asm.Z.Broadcast(), 1, g.cached(b.Addr.Base, p), asm.At(asm.RCX, at))
		g.VCmpM(asm.CmpUQ, asm.Z.Mask(g.mask(ir.W64, p)).Broadcast(), asm.K0, 1, asm.At(asm.RCX, at+8), asm.CmpGT)
		g.KOrTestB(asm.K0, asm.K0)
		g.J(asm.NE, slow)
	}
}
