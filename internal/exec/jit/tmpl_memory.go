package jit

import (
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

var memoryTemplates = map[optab.Opcode]template{optab.OpLd: loadTemplate, optab.OpLdu: loadTemplate, optab.OpSt: storeTemplate,
	optab.OpPrefetch: nothing, optab.OpPrefetchu: nothing, optab.OpApplypriority: nothing, optab.OpRed: atomTemplate, optab.OpAtom: atomTemplate}

func nothing(*ir.Op) emitter { return func(*gen) {} }

// access is a memory operand with the registers that it moves.
type access struct {
	space  ir.Space
	base   *ir.Arg
	disp   int32
	es     int // bytes of an element, and their logarithm
	log    uint8
	total  int
	align  uint8 // logarithm of the alignment
	signed bool
	regs   []*ir.Arg
	phase  int // of a store: exec.StorePhase
}

// accessValue is the operand that an access moves, when the address is operand i.
func accessValue(op *ir.Op, i int) int {
	if i == 1 && op.Opcode() != optab.OpAtom {
		return 0
	}
	return i + 1
}

func accessOf(op *ir.Op, addr, value *ir.Arg) (ac access, ok bool) {
	if addr.Kind != ir.Addr || len(op.Match.Types) == 0 {
		return ac, false
	}
	t, known := optab.TypeOf(op.Match.Types[len(op.Match.Types)-1])
	if !known {
		return ac, false
	}
	ac = access{space: addr.Space, base: addr.Base, es: t.Bits / 8, signed: t.Class == optab.Signed}
	ac.disp = int32(addr.Disp)
	if addr.Disp <= -slack || addr.Disp >= slack {
		return ac, false
	}
	switch ac.es {
	case 1, 2, 4, 8:
	default:
		return ac, false
	}
	for 1<<ac.log < ac.es {
		ac.log++
	}
	if value.Kind == ir.Vec {
		for i := range value.Elems {
			ac.regs = append(ac.regs, &value.Elems[i])
		}
	} else {
		ac.regs = []*ir.Arg{value}
	}
	ac.total = ac.es * len(ac.regs)
	for 1<<ac.align < ac.total {
		ac.align++
	}
	if 1<<ac.align != ac.total || ac.align > 5 || addr.Disp&int64(ac.total-1) != 0 {
		return ac, false
	}
	want := ir.W32
	if ac.es == 8 {
		want = ir.W64
	}
	for _, r := range ac.regs {
		if r.Kind != ir.None && (!r.Reg() || r.Class != want) {
			return ac, false
		}
	}
	switch ac.space {
	case ir.Generic, ir.Global, ir.Const:
		return ac, ac.base != nil && ac.base.Class == ir.W64
	case ir.Shared:
		return ac, ac.base != nil && (ac.base.Class == ir.W64 || ac.base.Class == ir.W32) && addr.Disp >= 0
	case ir.KernelParam:
		return ac, ac.base == nil && addr.Disp >= 0 && uint64(addr.Disp)+uint64(ac.total) <= addr.Hi
	}
	return ac, false
}

func (ac *access) global() bool { return ac.space != ir.Shared }

// wide says whether addresses are 64-bit rows.
func (ac *access) wide() bool { return ac.base.Class == ir.W64 }

// accessing notes the operation, and the lanes of a guarded one, for Locate. rcx is used.
func (g *gen) accessing(kind uint32) {
	if g.op.Guard >= 0 {
		g.KMovRD(asm.RCX, 5)
		g.St32(inContext(offOut), asm.RCX)
	}
	g.StI32(inContext(offOp), uint32(g.pc)|kind<<24)
}

func loadTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	ac, ok := accessOf(op, a, d)
	if !ok {
		return nil
	}
	for _, r := range ac.regs {
		if r.Kind == ir.Imm {
			return nil
		}
	}
	if ac.space == ir.KernelParam {
		return func(g *gen) {
			if g.v != nil {
				g.loadSame(&ac, func(disp int32) asm.Mem { return inContext(offParamCopy + ac.disp + disp) })
				return
			}
			g.Ld(asm.RSI, inContext(offParams))
			g.uniformLoad(&ac, asm.RSI)
		}
	}
	if ac.base.Kind == ir.Imm {
		if op.Guard >= 0 {
			return nil // without lanes there must be no access
		}
		return func(g *gen) {
			g.uniformAddress(&ac)
			if g.v != nil {
				g.loadSame(&ac, func(disp int32) asm.Mem { return asm.At(asm.RSI, ac.disp+disp) })
				return
			}
			g.uniformLoad(&ac, asm.RSI)
		}
	}
	if len(ac.regs) == 1 {
		return func(g *gen) { g.load1(&ac) }
	}
	return func(g *gen) { g.loadVector(&ac) }
}

// uniformAddress puts the host address of a constant address, without displacement, into rsi.
func (g *gen) uniformAddress(ac *access) {
	slow := g.slow()
	if ac.wide() {
		g.Ld(asm.RAX, rowMem(ac.base.Ref))
	} else {
		g.Ld32(asm.RAX, rowMem(ac.base.Ref))
	}
	g.scalarCheck(ac, 0, slow)
	if ac.global() {
		g.accessing(accessUniform)
		g.Mov(asm.RSI, asm.RAX)
		return
	}
	g.Ld(asm.RSI, inContext(offShared))
	g.Add(asm.RSI, asm.RAX)
}

// runCheck leaves for slow unless the address in rax is good for the accesses of half h's lanes side by side, of which it is the first one's. rcx and rdi are used. What lies
// behind the last lane in global memory faults by itself.
func (g *gen) runCheck(ac *access, h int, slow asm.Label) {
	if ac.global() {
		g.scalarCheck(ac, 0, slow)
		return
	}
	if g.full && g.op.Guard < 0 {
		g.scalarCheck(ac, 15*int32(ac.es), slow)
		return
	}
	g.laneMask(asm.RDI)
	if h == 0 {
		g.AndI32(asm.RDI, 0xffff)
	} else {
		g.ShrI32(asm.RDI, 16)
	}
	g.Bsr32(asm.RDI, asm.RDI)
	if ac.log > 0 {
		g.ShiftI(asm.ScalarShl, false, asm.RDI, ac.log)
	}
	g.sharedCheck(ac, 0, asm.RDI, slow)
	g.aligned(ac, slow)
}

// scalarCheck leaves for slow unless the address in rax is good for an access, and what lies so many bytes behind it. rcx is used.
func (g *gen) scalarCheck(ac *access, behind int32, slow asm.Label) {
	if ac.global() {
		g.Mov(asm.RCX, asm.RAX)
		g.SubLd(asm.RCX, inContext(offLow))
		g.CmpLd(asm.RCX, inContext(offSpan))
		g.J(asm.A, slow)
	} else {
		g.sharedCheck(ac, behind, asm.None, slow)
	}
	g.aligned(ac, slow)
}

// sharedCheck leaves for slow unless shared memory has the access at the address in rax and what lies behind it: so many bytes, and as many as a register says, if any. rcx is used.
func (g *gen) sharedCheck(ac *access, behind int32, more uint8, slow asm.Label) {
	g.Ld32(asm.RCX, inContext(offSharedTop+4*int32(ac.align)))
	if less := ac.disp + behind; less != 0 {
		g.AddI(asm.RCX, -less) // negative when even offset 0 is too high
		g.J(asm.S, slow)
	}
	if more != asm.None {
		g.RR(asm.ArithSub, true, asm.RCX, more)
		g.J(asm.S, slow)
	}
	if g.v == nil { // the CTA's own memory begins at its rank's window
		g.AddLd(asm.RCX, inContext(offSharedLow))
		g.CmpLd(asm.RAX, inContext(offSharedLow))
		g.J(asm.B, slow)
	}
	g.Cmp(asm.RAX, asm.RCX)
	g.J(asm.A, slow)
}

// aligned leaves for slow unless the address in rax is aligned.
func (g *gen) aligned(ac *access, slow asm.Label) {
	if ac.align > 0 {
		g.TestI32(asm.RAX, 1<<ac.align-1)
		g.J(asm.NE, slow)
	}
}

// uniformLoad loads every element for all lanes from [base+disp].
func (g *gen) uniformLoad(ac *access, base uint8) {
	for i, r := range ac.regs {
		if r.Kind != ir.Row {
			continue
		}
		m := asm.At(base, ac.disp+int32(i*ac.es))
		g.pin()
		from := uint8(0)
		switch {
		case ac.es == 8:
			g.VM(asm.BroadcastQ, asm.Z, 0, 0, m)
		case ac.es == 4:
			g.VM(asm.BroadcastD, asm.Z, 0, 0, m)
		default:
			g.scalarElement(ac, r, m)
			g.V(asm.BroadcastDR, asm.Z, 0, 0, asm.RAX)
		}
		for p := range pieces(r.Class) {
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
func (g *gen) scalarElement(ac *access, r *ir.Arg, m asm.Mem) {
	switch {
	case ac.es == 1 && ac.signed:
		g.LdS8(asm.RAX, m)
	case ac.es == 1:
		g.Ld8(asm.RAX, m)
	case ac.signed:
		g.LdS16(asm.RAX, m)
	default:
		g.Ld16(asm.RAX, m)
	}
	if ac.signed && r.Width != 0 && r.Width < 32 {
		g.AndI32(asm.RAX, 1<<r.Width-1)
	}
}

// Address pieces of half h: two 64-bit ones, or one of 32 bits.
func (ac *access) addressPieces(h int) []int {
	if ac.wide() {
		return []int{2 * h, 2*h + 1}
	}
	return []int{h}
}

// addressMask is the mask register of an address piece.
func (g *gen) addressMask(ac *access, piece int) uint8 { return g.mask(ac.base.Class, piece) }

// differences puts address minus that of the half's first lane into zmm1 (and zmm2), the first lane's address into rax.
func (g *gen) differences(ac *access, h int) {
	ps := ac.addressPieces(h)
	r := g.reg(ac.base, ps[0])
	if ac.wide() {
		g.V(asm.MovQ, asm.X, r, 0, asm.RAX)
		g.V(asm.BroadcastQ, asm.Z, 0, 0, r)
		g.V(asm.SubQ, asm.Z, 1, r, 0)
		g.V(asm.SubQ, asm.Z, 2, g.reg(ac.base, ps[1]), 0)
		return
	}
	g.V(asm.MovD, asm.X, r, 0, asm.RAX)
	g.V(asm.BroadcastD, asm.Z, 0, 0, r)
	g.V(asm.SubD, asm.Z, 1, r, 0)
}

// unlessContiguous branches when the differences are not those of elements side by side. rdx holds the tables.
func (g *gen) unlessContiguous(ac *access, h int, to asm.Label) {
	ps := ac.addressPieces(h)
	if ac.wide() {
		g.VMI(asm.CmpQ, asm.Z.Mask(g.addressMask(ac, ps[0])), 0, 1, asm.At(asm.RDX, offStepsQ+128*int32(ac.log)), 4)
		g.VMI(asm.CmpQ, asm.Z.Mask(g.addressMask(ac, ps[1])), 7, 2, asm.At(asm.RDX, offStepsQ+128*int32(ac.log)+64), 4)
		g.KOrTestB(0, 7)
	} else {
		g.VMI(asm.CmpD, asm.Z.Mask(g.addressMask(ac, ps[0])), 0, 1, asm.At(asm.RDX, offStepsD+128*int32(ac.log)), 4)
		g.KOrTestW(0, 0)
	}
	g.J(asm.NE, to)
}

// unlessUniform branches when the differences are not all zero.
func (g *gen) unlessUniform(ac *access, h int, to asm.Label) {
	ps := ac.addressPieces(h)
	if ac.wide() {
		g.V(asm.TestMQ, asm.Z.Mask(g.addressMask(ac, ps[0])), 0, 1, 1)
		g.V(asm.TestMQ, asm.Z.Mask(g.addressMask(ac, ps[1])), 7, 2, 2)
		g.KOrTestB(0, 7)
	} else {
		g.V(asm.TestMD, asm.Z.Mask(g.addressMask(ac, ps[0])), 0, 1, 1)
		g.KOrTestW(0, 0)
	}
	g.J(asm.NE, to)
}

// vectorCheck leaves for slow unless every lane's address in half h is good. Registers 1 and 2, k0, k7, rcx are used, rdx holds the tables.
func (g *gen) vectorCheck(ac *access, h int, slow asm.Label) {
	for _, p := range ac.addressPieces(h) {
		r := g.cached(ac.base, p)
		k := g.addressMask(ac, p)
		switch {
		case ac.global():
			g.VM(asm.SubQ, asm.Z.Broadcast(), 1, r, inContext(offLow))
			g.VMI(asm.CmpUQ, asm.Z.Mask(k).Broadcast(), 0, 1, inContext(offSpan), 6)
		default:
			g.Ld32(asm.RCX, inContext(offSharedTop+4*int32(ac.align)))
			if ac.disp != 0 {
				g.AddI(asm.RCX, -ac.disp)
				g.J(asm.S, slow)
			}
			off := r
			if g.v == nil {
				sub := asm.SubD
				if ac.wide() {
					sub = asm.SubQ
				}
				off = 2
				g.VM(sub, asm.Z.Broadcast(), off, r, inContext(offSharedLow))
			}
			if ac.wide() {
				g.V(asm.BroadcastQR, asm.Z, 1, 0, asm.RCX)
				g.VI(asm.CmpUQ, asm.Z.Mask(k), 0, off, 1, 6)
			} else {
				g.V(asm.BroadcastDR, asm.Z, 1, 0, asm.RCX)
				g.VI(asm.CmpUD, asm.Z.Mask(k), 0, off, 1, 6)
			}
		}
		if ac.align > 0 {
			g.MovI32(asm.RCX, 1<<ac.align-1)
			if ac.wide() {
				g.V(asm.BroadcastQR, asm.Z, 1, 0, asm.RCX)
				g.V(asm.TestMQ, asm.Z.Mask(k), 7, r, 1)
			} else {
				g.V(asm.BroadcastDR, asm.Z, 1, 0, asm.RCX)
				g.V(asm.TestMD, asm.Z.Mask(k), 7, r, 1)
			}
			g.KOrW(0, 0, 7)
		}
		if ac.wide() {
			g.KOrTestB(0, 0)
		} else {
			g.KOrTestW(0, 0)
		}
		g.J(asm.NE, slow)
	}
}

// cached is the register of an address piece that is known to be in one.
func (g *gen) cached(a *ir.Arg, n int) uint8 {
	ref := pieceRef(a.Ref, n)
	if w, ok := g.scalarWeb(a); ok {
		if ref = scalarRef(w, n); g.v.webs[w].shape.kind == kindUniform {
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
func (g *gen) noteLanes(ac *access, h int) {
	if !ac.global() {
		return
	}
	for i, p := range ac.addressPieces(h) {
		g.VM(asm.MovU64St, asm.Z, g.cached(ac.base, p), 0, inContext(offAddrs+int32(128*h+64*i)))
	}
	g.accessing(accessLanes)
}

// gatherMask copies a mask register, which gathers and scatters clear, to k7.
func (g *gen) gatherMask(k uint8) {
	if k == 0 {
		g.KXnorW(7, 7, 7)
	} else {
		g.KMovQ(7, k)
	}
}

// gather loads the elements of half h (quarter q of 8-byte ones) at disp into z. Registers z and t are used; narrow elements take zmm5 and zmm6.
func (g *gen) gather(ac *access, h int, q int, z, t uint8, disp int32) {
	base := uint8(asm.None)
	if !ac.global() {
		base = asm.RSI
	}
	if ac.es == 8 {
		p := 2*h + q
		g.V(asm.XorD, asm.Z, z, z, z)
		if ac.wide() {
			g.gatherMask(g.mask(ir.W64, p))
			g.VX(asm.GatherQQ, asm.Z.Mask(7), z, base, g.cached(ac.base, p), 1, disp)
			return
		}
		index := g.cached(ac.base, h)
		if q == 1 {
			g.VI(asm.ExtractQ4, asm.Z, index, 0, t, 1)
			index = t
		}
		g.gatherMask(g.mask(ir.W64, p))
		g.VX(asm.GatherDQ, asm.Z.Mask(7), z, base, index, 1, disp)
		return
	}
	g.V(asm.XorD, asm.Z, z, z, z)
	if !ac.wide() {
		g.gatherMask(g.mask(ir.W32, h))
		g.VX(asm.GatherDD, asm.Z.Mask(7), z, base, g.cached(ac.base, h), 1, disp)
		return
	}
	g.V(asm.XorD, asm.Z, t, t, t)
	g.gatherMask(g.mask(ir.W64, 2*h))
	g.VX(asm.GatherQD, asm.Z.Mask(7), z, base, g.cached(ac.base, 2*h), 1, disp)
	g.gatherMask(g.mask(ir.W64, 2*h+1))
	g.VX(asm.GatherQD, asm.Z.Mask(7), t, base, g.cached(ac.base, 2*h+1), 1, disp)
	g.VI(asm.InsertQ4, asm.Z, z, z, t, 1)
}

// gatherNarrow loads 1- and 2-byte elements of half h: the aligned words around them, which never reach beyond a page.
func (g *gen) gatherNarrow(ac *access, h int, z uint8) {
	base := uint8(asm.None)
	if !ac.global() {
		base = asm.RSI
	}
	g.MovI32(asm.RCX, uint32(ac.disp))
	if !ac.wide() {
		g.V(asm.BroadcastDR, asm.Z, 1, 0, asm.RCX)
		g.V(asm.AddD, asm.Z, 1, 1, g.cached(ac.base, h))
		g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, 2, 1, 30)
		g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, 2, 2, 27) // bit number in the word
		g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, 1, 1, 2)
		g.V(asm.XorD, asm.Z, z, z, z)
		g.gatherMask(g.mask(ir.W32, h))
		g.VX(asm.GatherDD, asm.Z.Mask(7), z, base, 1, 4, 0)
	} else {
		g.MovI(asm.RCX, uint64(int64(ac.disp)))
		for i := range 2 {
			p, t := 2*h+i, uint8(5+i)
			g.V(asm.BroadcastQR, asm.Z, 1, 0, asm.RCX)
			g.V(asm.AddQ, asm.Z, 1, 1, g.cached(ac.base, p))
			g.VI(asm.ShiftQ, asm.Z, asm.ShiftSll, t, 1, 62)
			g.VI(asm.ShiftQ, asm.Z, asm.ShiftSrl, t, t, 59)
			g.V(asm.MovQD, asm.Z, t, 0, t)
			g.VI(asm.ShiftQ, asm.Z, asm.ShiftSrl, 1, 1, 2)
			g.VI(asm.ShiftQ, asm.Z, asm.ShiftSll, 1, 1, 2)
			to := z
			if i == 1 {
				to = 2
			}
			g.V(asm.XorD, asm.Z, to, to, to)
			g.gatherMask(g.mask(ir.W64, p))
			g.VX(asm.GatherQD, asm.Z.Mask(7), to, base, 1, 1, 0)
		}
		g.VI(asm.InsertQ4, asm.Z, z, z, 2, 1)
		g.VI(asm.InsertQ4, asm.Z, 2, 5, 6, 1)
	}
	g.V(asm.SrlVD, asm.Z, z, z, 2)
	shift := uint8(32 - 8*ac.es)
	g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, z, z, shift)
	kind := uint8(asm.ShiftSrl)
	if ac.signed {
		kind = asm.ShiftSra
	}
	g.VI(asm.ShiftD, asm.Z, kind, z, z, shift)
}

// halfPointer makes rsi+disp the address of a half's first lane, from the address in rax, and notes the access.
func (g *gen) halfPointer(ac *access, h int, kind uint32) {
	if ac.global() {
		g.noted = 0
		g.St(inContext(offAddr+int32(8*h)), asm.RAX)
		g.accessing(kind)
		g.Mov(asm.RSI, asm.RAX)
		return
	}
	g.Ld(asm.RSI, inContext(offShared))
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

// load1 loads one element a lane. Results gather in scratch registers, 3 and 4, or 3, 4, 5 and 6, until nothing can fail any more.
func (g *gen) load1(ac *access) {
	if g.affineLoad(ac) {
		return
	}
	d := ac.regs[0]
	for h := range 2 { // into registers first: what follows must not change the cache
		for _, p := range ac.addressPieces(h) {
			g.reg(ac.base, p)
		}
	}
	slow := g.slow()
	g.Ld(asm.RDX, inContext(offTables))
	for h := range 2 {
		done := g.NewLabel()
		to := uint8(3 + h)
		if ac.es == 8 {
			to = uint8(3 + 2*h)
		}
		g.k6 = 0
		g.skipEmpty(h, done)
		g.differences(ac, h)
		scattered := g.outOfLine(func() {
			g.scattered(ac, h, to, slow, done)
		})
		g.unlessContiguous(ac, h, scattered)
		g.runCheck(ac, h, slow)
		g.halfPointer(ac, h, accessHalf0+uint32(h))
		m := asm.At(asm.RSI, ac.disp)
		z := func(k uint8) asm.Opt {
			o := asm.Z.Mask(k)
			if k != 0 {
				o = o.Zeroing()
			}
			return o
		}
		switch ac.es {
		case 8:
			g.VM(asm.MovU64, z(g.mask(ir.W64, 2*h)), to, 0, m)
			m.Disp += 64
			g.VM(asm.MovU64, z(g.mask(ir.W64, 2*h+1)), to+1, 0, m)
		case 4:
			g.VM(asm.MovU32, z(g.mask(ir.W32, h)), to, 0, m)
		case 2:
			x := asm.MovZXWD
			if ac.signed {
				x = asm.MovSXWD
			}
			g.VM(x, z(g.mask(ir.W32, h)), to, 0, m)
		case 1:
			x := asm.MovZXBD
			if ac.signed {
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
	if ac.es == 8 {
		move = asm.MovA64
	}
	for p := range pieces(d.Class) {
		g.pin()
		from := uint8(3 + p)
		if d.Width != 0 && d.Width < 32 && ac.signed {
			g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, from, from, 32-d.Width)
			g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, from, from, 32-d.Width)
		}
		z, o := g.dst(d, p)
		g.V(move, o, z, 0, from)
	}
}

// scattered is the part of load1 for addresses of half h that do not lie side by side. Differences are in registers 1 and 2.
func (g *gen) scattered(ac *access, h int, to uint8, slow, done asm.Label) {
	gather := g.NewLabel()
	g.unlessUniform(ac, h, gather)
	g.scalarCheck(ac, 0, slow)
	g.halfPointer(ac, h, accessUniform)
	m := asm.At(asm.RSI, ac.disp)
	switch ac.es {
	case 8:
		g.VM(asm.BroadcastQ, asm.Z, to, 0, m)
		g.V(asm.MovA64, asm.Z, to+1, 0, to)
	case 4:
		g.VM(asm.BroadcastD, asm.Z, to, 0, m)
	default:
		g.scalarElement(ac, ac.regs[0], m)
		g.V(asm.BroadcastDR, asm.Z, to, 0, asm.RAX)
	}
	g.Jmp(done)
	g.rejoin(gather, 0)
	g.k6 = 0
	g.vectorCheck(ac, h, slow)
	g.noteLanes(ac, h)
	if !ac.global() {
		g.Ld(asm.RSI, inContext(offShared))
	}
	switch ac.es {
	case 8:
		g.gather(ac, h, 0, to, 0, ac.disp)
		g.gather(ac, h, 1, to+1, 0, ac.disp)
	case 4:
		g.gather(ac, h, 0, to, 0, ac.disp)
	default:
		g.gatherNarrow(ac, h, to)
	}
	g.Jmp(done)
}

// loadVector loads several elements a lane by gathers.
func (g *gen) loadVector(ac *access) {
	if g.affineLoad(ac) {
		return
	}
	if ac.es < 4 {
		g.loadVectorNarrow(ac)
		return
	}
	for h := range 2 {
		for _, p := range ac.addressPieces(h) {
			g.reg(ac.base, p)
		}
	}
	slow := g.slow()
	alias := false
	for _, r := range ac.regs {
		alias = alias || r.Kind == ir.Row && r.Ref == ac.base.Ref
	}
	g.Ld(asm.RDX, inContext(offTables))
	for h := range 2 {
		g.k6 = 0
		g.vectorCheck(ac, h, slow)
		g.noteLanes(ac, h)
	}
	if !ac.global() {
		g.Ld(asm.RSI, inContext(offShared))
	}
	// The register that holds the address is written last.
	order := make([]int, 0, len(ac.regs))
	for i, r := range ac.regs {
		if !(alias && r.Ref == ac.base.Ref) {
			order = append(order, i)
		}
	}
	for i, r := range ac.regs {
		if alias && r.Kind == ir.Row && r.Ref == ac.base.Ref {
			order = append(order, i)
		}
	}
	for _, i := range order {
		r := ac.regs[i]
		if r.Kind != ir.Row {
			continue
		}
		disp := ac.disp + int32(i*ac.es)
		g.pin()
		for h := range 2 { // addresses stay in registers
			for _, p := range ac.addressPieces(h) {
				g.reg(ac.base, p)
			}
		}
		if ac.es == 8 {
			for p := range 4 {
				g.gather(ac, p/2, p&1, uint8(1+p), 0, disp)
			}
			for p := range 4 {
				z, o := g.dst(r, p)
				g.V(asm.MovA64, o, z, 0, uint8(1+p))
			}
			continue
		}
		for h := range 2 {
			g.gather(ac, h, 0, uint8(1+h), 0, disp)
		}
		for h := range 2 {
			z, o := g.dst(r, h)
			g.V(asm.MovA32, o, z, 0, uint8(1+h))
		}
	}
}

// loadVectorNarrow loads several 1- or 2-byte elements a lane.
func (g *gen) loadVectorNarrow(ac *access) {
	for h := range 2 {
		for _, p := range ac.addressPieces(h) {
			g.reg(ac.base, p)
		}
	}
	slow := g.slow()
	g.Ld(asm.RDX, inContext(offTables))
	for h := range 2 {
		g.k6 = 0
		g.vectorCheck(ac, h, slow)
		g.noteLanes(ac, h)
	}
	if !ac.global() {
		g.Ld(asm.RSI, inContext(offShared))
	}
	for i, r := range ac.regs {
		if r.Kind != ir.Row {
			continue
		}
		g.pin()
		for h := range 2 {
			for _, p := range ac.addressPieces(h) {
				g.reg(ac.base, p)
			}
		}
		one := *ac
		one.disp += int32(i * ac.es)
		for h := range 2 {
			to := uint8(3 + h)
			g.k6 = 0
			g.gatherNarrow(&one, h, to)
			if r.Width != 0 && r.Width < 32 && ac.signed {
				g.VI(asm.ShiftD, asm.Z, asm.ShiftSll, to, to, 32-r.Width)
				g.VI(asm.ShiftD, asm.Z, asm.ShiftSrl, to, to, 32-r.Width)
			}
		}
		for h := range 2 {
			z, o := g.dst(r, h)
			g.V(asm.MovA32, o, z, 0, uint8(3+h))
		}
	}
}
