package jit

import (
	"github.com/gocuda/cuda/internal/exec/jit/amd64asm"
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
		g.KMovRD(amd64asm.RCX, 5)
		g.St32(inContext(offOut), amd64asm.RCX)
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
				g.loadSame(&ac, func(disp int32) amd64asm.Mem { return inContext(offParamCopy + ac.disp + disp) })
				return
			}
			g.Ld(amd64asm.RSI, inContext(offParams))
			g.uniformLoad(&ac, amd64asm.RSI)
		}
	}
	if ac.base.Kind == ir.Imm {
		if op.Guard >= 0 {
			return nil // without lanes there must be no access
		}
		return func(g *gen) {
			g.uniformAddress(&ac)
			if g.v != nil {
				g.loadSame(&ac, func(disp int32) amd64asm.Mem { return amd64asm.At(amd64asm.RSI, ac.disp+disp) })
				return
			}
			g.uniformLoad(&ac, amd64asm.RSI)
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
		g.Ld(amd64asm.RAX, rowMem(ac.base.Ref))
	} else {
		g.Ld32(amd64asm.RAX, rowMem(ac.base.Ref))
	}
	g.scalarCheck(ac, 0, slow)
	if ac.global() {
		g.accessing(accessUniform)
		g.Mov(amd64asm.RSI, amd64asm.RAX)
		return
	}
	g.Ld(amd64asm.RSI, inContext(offShared))
	g.Add(amd64asm.RSI, amd64asm.RAX)
}

// runCheck leaves for slow unless the address in rax is good for the accesses of half h's lanes side by side, of which it is the first one's. rcx and rdi are used. What lies
// behind the last lane in global memory faults by itself.
func (g *gen) runCheck(ac *access, h int, slow amd64asm.Label) {
	if ac.global() {
		g.scalarCheck(ac, 0, slow)
		return
	}
	if g.full && g.op.Guard < 0 {
		g.scalarCheck(ac, 15*int32(ac.es), slow)
		return
	}
	g.laneMask(amd64asm.RDI)
	if h == 0 {
		g.AndI32(amd64asm.RDI, 0xffff)
	} else {
		g.ShrI32(amd64asm.RDI, 16)
	}
	g.Bsr32(amd64asm.RDI, amd64asm.RDI)
	if ac.log > 0 {
		g.ShiftI(amd64asm.ScalarShl, false, amd64asm.RDI, ac.log)
	}
	g.sharedCheck(ac, 0, amd64asm.RDI, slow)
	g.aligned(ac, slow)
}

// scalarCheck leaves for slow unless the address in rax is good for an access, and what lies so many bytes behind it. rcx is used.
func (g *gen) scalarCheck(ac *access, behind int32, slow amd64asm.Label) {
	if ac.global() {
		g.Mov(amd64asm.RCX, amd64asm.RAX)
		g.SubLd(amd64asm.RCX, inContext(offLow))
		g.CmpLd(amd64asm.RCX, inContext(offSpan))
		g.J(amd64asm.A, slow)
	} else {
		g.sharedCheck(ac, behind, amd64asm.None, slow)
	}
	g.aligned(ac, slow)
}

// sharedCheck leaves for slow unless shared memory has the access at the address in rax and what lies behind it: so many bytes, and as many as a register says, if any. rcx is used.
func (g *gen) sharedCheck(ac *access, behind int32, more uint8, slow amd64asm.Label) {
	g.Ld32(amd64asm.RCX, inContext(offSharedTop+4*int32(ac.align)))
	if less := ac.disp + behind; less != 0 {
		g.AddI(amd64asm.RCX, -less) // negative when even offset 0 is too high
		g.J(amd64asm.S, slow)
	}
	if more != amd64asm.None {
		g.RR(amd64asm.ArithSub, true, amd64asm.RCX, more)
		g.J(amd64asm.S, slow)
	}
	if g.v == nil { // the CTA's own memory begins at its rank's window
		g.AddLd(amd64asm.RCX, inContext(offSharedLow))
		g.CmpLd(amd64asm.RAX, inContext(offSharedLow))
		g.J(amd64asm.B, slow)
	}
	g.Cmp(amd64asm.RAX, amd64asm.RCX)
	g.J(amd64asm.A, slow)
}

// aligned leaves for slow unless the address in rax is aligned.
func (g *gen) aligned(ac *access, slow amd64asm.Label) {
	if ac.align > 0 {
		g.TestI32(amd64asm.RAX, 1<<ac.align-1)
		g.J(amd64asm.NE, slow)
	}
}

// uniformLoad loads every element for all lanes from [base+disp].
func (g *gen) uniformLoad(ac *access, base uint8) {
	for i, r := range ac.regs {
		if r.Kind != ir.Row {
			continue
		}
		m := amd64asm.At(base, ac.disp+int32(i*ac.es))
		g.pin()
		from := uint8(0)
		switch {
		case ac.es == 8:
			g.VM(amd64asm.BroadcastQ, amd64asm.Z, 0, 0, m)
		case ac.es == 4:
			g.VM(amd64asm.BroadcastD, amd64asm.Z, 0, 0, m)
		default:
			g.scalarElement(ac, r, m)
			g.V(amd64asm.BroadcastDR, amd64asm.Z, 0, 0, amd64asm.RAX)
		}
		for p := range pieces(r.Class) {
			z, o := g.dst(r, p)
			move := amd64asm.MovA32
			if r.Class == ir.W64 {
				move = amd64asm.MovA64
			}
			g.V(move, o, z, 0, from)
		}
	}
}

// scalarElement loads a narrow element into eax as its register wants it.
func (g *gen) scalarElement(ac *access, r *ir.Arg, m amd64asm.Mem) {
	switch {
	case ac.es == 1 && ac.signed:
		g.LdS8(amd64asm.RAX, m)
	case ac.es == 1:
		g.Ld8(amd64asm.RAX, m)
	case ac.signed:
		g.LdS16(amd64asm.RAX, m)
	default:
		g.Ld16(amd64asm.RAX, m)
	}
	if ac.signed && r.Width != 0 && r.Width < 32 {
		g.AndI32(amd64asm.RAX, 1<<r.Width-1)
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
		g.V(amd64asm.MovQ, amd64asm.X, r, 0, amd64asm.RAX)
		g.V(amd64asm.BroadcastQ, amd64asm.Z, 0, 0, r)
		g.V(amd64asm.SubQ, amd64asm.Z, 1, r, 0)
		g.V(amd64asm.SubQ, amd64asm.Z, 2, g.reg(ac.base, ps[1]), 0)
		return
	}
	g.V(amd64asm.MovD, amd64asm.X, r, 0, amd64asm.RAX)
	g.V(amd64asm.BroadcastD, amd64asm.Z, 0, 0, r)
	g.V(amd64asm.SubD, amd64asm.Z, 1, r, 0)
}

// unlessContiguous branches when the differences are not those of elements side by side. rdx holds the tables.
func (g *gen) unlessContiguous(ac *access, h int, to amd64asm.Label) {
	ps := ac.addressPieces(h)
	if ac.wide() {
		g.VMI(amd64asm.CmpQ, amd64asm.Z.Mask(g.addressMask(ac, ps[0])), 0, 1, amd64asm.At(amd64asm.RDX, offStepsQ+128*int32(ac.log)), 4)
		g.VMI(amd64asm.CmpQ, amd64asm.Z.Mask(g.addressMask(ac, ps[1])), 7, 2, amd64asm.At(amd64asm.RDX, offStepsQ+128*int32(ac.log)+64), 4)
		g.KOrTestB(0, 7)
	} else {
		g.VMI(amd64asm.CmpD, amd64asm.Z.Mask(g.addressMask(ac, ps[0])), 0, 1, amd64asm.At(amd64asm.RDX, offStepsD+128*int32(ac.log)), 4)
		g.KOrTestW(0, 0)
	}
	g.J(amd64asm.NE, to)
}

// unlessUniform branches when the differences are not all zero.
func (g *gen) unlessUniform(ac *access, h int, to amd64asm.Label) {
	ps := ac.addressPieces(h)
	if ac.wide() {
		g.V(amd64asm.TestMQ, amd64asm.Z.Mask(g.addressMask(ac, ps[0])), 0, 1, 1)
		g.V(amd64asm.TestMQ, amd64asm.Z.Mask(g.addressMask(ac, ps[1])), 7, 2, 2)
		g.KOrTestB(0, 7)
	} else {
		g.V(amd64asm.TestMD, amd64asm.Z.Mask(g.addressMask(ac, ps[0])), 0, 1, 1)
		g.KOrTestW(0, 0)
	}
	g.J(amd64asm.NE, to)
}

// vectorCheck leaves for slow unless every lane's address in half h is good. Registers 1 and 2, k0, k7, rcx are used, rdx holds the tables.
func (g *gen) vectorCheck(ac *access, h int, slow amd64asm.Label) {
	for _, p := range ac.addressPieces(h) {
		r := g.cached(ac.base, p)
		k := g.addressMask(ac, p)
		switch {
		case ac.global():
			g.VM(amd64asm.SubQ, amd64asm.Z.Broadcast(), 1, r, inContext(offLow))
			g.VMI(amd64asm.CmpUQ, amd64asm.Z.Mask(k).Broadcast(), 0, 1, inContext(offSpan), 6)
		default:
			g.Ld32(amd64asm.RCX, inContext(offSharedTop+4*int32(ac.align)))
			if ac.disp != 0 {
				g.AddI(amd64asm.RCX, -ac.disp)
				g.J(amd64asm.S, slow)
			}
			off := r
			if g.v == nil {
				sub := amd64asm.SubD
				if ac.wide() {
					sub = amd64asm.SubQ
				}
				off = 2
				g.VM(sub, amd64asm.Z.Broadcast(), off, r, inContext(offSharedLow))
			}
			if ac.wide() {
				g.V(amd64asm.BroadcastQR, amd64asm.Z, 1, 0, amd64asm.RCX)
				g.VI(amd64asm.CmpUQ, amd64asm.Z.Mask(k), 0, off, 1, 6)
			} else {
				g.V(amd64asm.BroadcastDR, amd64asm.Z, 1, 0, amd64asm.RCX)
				g.VI(amd64asm.CmpUD, amd64asm.Z.Mask(k), 0, off, 1, 6)
			}
		}
		if ac.align > 0 {
			g.MovI32(amd64asm.RCX, 1<<ac.align-1)
			if ac.wide() {
				g.V(amd64asm.BroadcastQR, amd64asm.Z, 1, 0, amd64asm.RCX)
				g.V(amd64asm.TestMQ, amd64asm.Z.Mask(k), 7, r, 1)
			} else {
				g.V(amd64asm.BroadcastDR, amd64asm.Z, 1, 0, amd64asm.RCX)
				g.V(amd64asm.TestMD, amd64asm.Z.Mask(k), 7, r, 1)
			}
			g.KOrW(0, 0, 7)
		}
		if ac.wide() {
			g.KOrTestB(0, 0)
		} else {
			g.KOrTestW(0, 0)
		}
		g.J(amd64asm.NE, slow)
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
		g.VM(amd64asm.MovU64St, amd64asm.Z, g.cached(ac.base, p), 0, inContext(offAddrs+int32(128*h+64*i)))
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
	base := uint8(amd64asm.None)
	if !ac.global() {
		base = amd64asm.RSI
	}
	if ac.es == 8 {
		p := 2*h + q
		g.V(amd64asm.XorD, amd64asm.Z, z, z, z)
		if ac.wide() {
			g.gatherMask(g.mask(ir.W64, p))
			g.VX(amd64asm.GatherQQ, amd64asm.Z.Mask(7), z, base, g.cached(ac.base, p), 1, disp)
			return
		}
		index := g.cached(ac.base, h)
		if q == 1 {
			g.VI(amd64asm.ExtractQ4, amd64asm.Z, index, 0, t, 1)
			index = t
		}
		g.gatherMask(g.mask(ir.W64, p))
		g.VX(amd64asm.GatherDQ, amd64asm.Z.Mask(7), z, base, index, 1, disp)
		return
	}
	g.V(amd64asm.XorD, amd64asm.Z, z, z, z)
	if !ac.wide() {
		g.gatherMask(g.mask(ir.W32, h))
		g.VX(amd64asm.GatherDD, amd64asm.Z.Mask(7), z, base, g.cached(ac.base, h), 1, disp)
		return
	}
	g.V(amd64asm.XorD, amd64asm.Z, t, t, t)
	g.gatherMask(g.mask(ir.W64, 2*h))
	g.VX(amd64asm.GatherQD, amd64asm.Z.Mask(7), z, base, g.cached(ac.base, 2*h), 1, disp)
	g.gatherMask(g.mask(ir.W64, 2*h+1))
	g.VX(amd64asm.GatherQD, amd64asm.Z.Mask(7), t, base, g.cached(ac.base, 2*h+1), 1, disp)
	g.VI(amd64asm.InsertQ4, amd64asm.Z, z, z, t, 1)
}

// gatherNarrow loads 1- and 2-byte elements of half h: the aligned words around them, which never reach beyond a page.
func (g *gen) gatherNarrow(ac *access, h int, z uint8) {
	base := uint8(amd64asm.None)
	if !ac.global() {
		base = amd64asm.RSI
	}
	g.MovI32(amd64asm.RCX, uint32(ac.disp))
	if !ac.wide() {
		g.V(amd64asm.BroadcastDR, amd64asm.Z, 1, 0, amd64asm.RCX)
		g.V(amd64asm.AddD, amd64asm.Z, 1, 1, g.cached(ac.base, h))
		g.VI(amd64asm.ShiftD, amd64asm.Z, amd64asm.ShiftSll, 2, 1, 30)
		g.VI(amd64asm.ShiftD, amd64asm.Z, amd64asm.ShiftSrl, 2, 2, 27) // bit number in the word
		g.VI(amd64asm.ShiftD, amd64asm.Z, amd64asm.ShiftSrl, 1, 1, 2)
		g.V(amd64asm.XorD, amd64asm.Z, z, z, z)
		g.gatherMask(g.mask(ir.W32, h))
		g.VX(amd64asm.GatherDD, amd64asm.Z.Mask(7), z, base, 1, 4, 0)
	} else {
		g.MovI(amd64asm.RCX, uint64(int64(ac.disp)))
		for i := range 2 {
			p, t := 2*h+i, uint8(5+i)
			g.V(amd64asm.BroadcastQR, amd64asm.Z, 1, 0, amd64asm.RCX)
			g.V(amd64asm.AddQ, amd64asm.Z, 1, 1, g.cached(ac.base, p))
			g.VI(amd64asm.ShiftQ, amd64asm.Z, amd64asm.ShiftSll, t, 1, 62)
			g.VI(amd64asm.ShiftQ, amd64asm.Z, amd64asm.ShiftSrl, t, t, 59)
			g.V(amd64asm.MovQD, amd64asm.Z, t, 0, t)
			g.VI(amd64asm.ShiftQ, amd64asm.Z, amd64asm.ShiftSrl, 1, 1, 2)
			g.VI(amd64asm.ShiftQ, amd64asm.Z, amd64asm.ShiftSll, 1, 1, 2)
			to := z
			if i == 1 {
				to = 2
			}
			g.V(amd64asm.XorD, amd64asm.Z, to, to, to)
			g.gatherMask(g.mask(ir.W64, p))
			g.VX(amd64asm.GatherQD, amd64asm.Z.Mask(7), to, base, 1, 1, 0)
		}
		g.VI(amd64asm.InsertQ4, amd64asm.Z, z, z, 2, 1)
		g.VI(amd64asm.InsertQ4, amd64asm.Z, 2, 5, 6, 1)
	}
	g.V(amd64asm.SrlVD, amd64asm.Z, z, z, 2)
	shift := uint8(32 - 8*ac.es)
	g.VI(amd64asm.ShiftD, amd64asm.Z, amd64asm.ShiftSll, z, z, shift)
	kind := uint8(amd64asm.ShiftSrl)
	if ac.signed {
		kind = amd64asm.ShiftSra
	}
	g.VI(amd64asm.ShiftD, amd64asm.Z, kind, z, z, shift)
}

// halfPointer makes rsi+disp the address of a half's first lane, from the address in rax, and notes the access.
func (g *gen) halfPointer(ac *access, h int, kind uint32) {
	if ac.global() {
		g.noted = 0
		g.St(inContext(offAddr+int32(8*h)), amd64asm.RAX)
		g.accessing(kind)
		g.Mov(amd64asm.RSI, amd64asm.RAX)
		return
	}
	g.Ld(amd64asm.RSI, inContext(offShared))
	g.Add(amd64asm.RSI, amd64asm.RAX)
}

// skipEmpty branches when no lane of half h takes part. rax is used.
func (g *gen) skipEmpty(h int, to amd64asm.Label) {
	if g.full && g.op.Guard < 0 {
		return
	}
	g.laneMask(amd64asm.RAX)
	if h == 0 {
		g.TestI32(amd64asm.RAX, 0xffff)
	} else {
		g.ShrI32(amd64asm.RAX, 16)
	}
	g.J(amd64asm.E, to)
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
	g.Ld(amd64asm.RDX, inContext(offTables))
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
		m := amd64asm.At(amd64asm.RSI, ac.disp)
		z := func(k uint8) amd64asm.Opt {
			o := amd64asm.Z.Mask(k)
			if k != 0 {
				o = o.Zeroing()
			}
			return o
		}
		switch ac.es {
		case 8:
			g.VM(amd64asm.MovU64, z(g.mask(ir.W64, 2*h)), to, 0, m)
			m.Disp += 64
			g.VM(amd64asm.MovU64, z(g.mask(ir.W64, 2*h+1)), to+1, 0, m)
		case 4:
			g.VM(amd64asm.MovU32, z(g.mask(ir.W32, h)), to, 0, m)
		case 2:
			x := amd64asm.MovZXWD
			if ac.signed {
				x = amd64asm.MovSXWD
			}
			g.VM(x, z(g.mask(ir.W32, h)), to, 0, m)
		case 1:
			x := amd64asm.MovZXBD
			if ac.signed {
				x = amd64asm.MovSXBD
			}
			g.VM(x, z(g.mask(ir.W32, h)), to, 0, m)
		}
		g.rejoin(done, 1<<0|1<<1|1<<2)
		g.k6 = 0
	}
	if d.Kind != ir.Row {
		return
	}
	move := amd64asm.MovA32
	if ac.es == 8 {
		move = amd64asm.MovA64
	}
	for p := range pieces(d.Class) {
		g.pin()
		from := uint8(3 + p)
		if d.Width != 0 && d.Width < 32 && ac.signed {
			g.VI(amd64asm.ShiftD, amd64asm.Z, amd64asm.ShiftSll, from, from, 32-d.Width)
			g.VI(amd64asm.ShiftD, amd64asm.Z, amd64asm.ShiftSrl, from, from, 32-d.Width)
		}
		z, o := g.dst(d, p)
		g.V(move, o, z, 0, from)
	}
}

// scattered is the part of load1 for addresses of half h that do not lie side by side. Differences are in registers 1 and 2.
func (g *gen) scattered(ac *access, h int, to uint8, slow, done amd64asm.Label) {
	gather := g.NewLabel()
	g.unlessUniform(ac, h, gather)
	g.scalarCheck(ac, 0, slow)
	g.halfPointer(ac, h, accessUniform)
	m := amd64asm.At(amd64asm.RSI, ac.disp)
	switch ac.es {
	case 8:
		g.VM(amd64asm.BroadcastQ, amd64asm.Z, to, 0, m)
		g.V(amd64asm.MovA64, amd64asm.Z, to+1, 0, to)
	case 4:
		g.VM(amd64asm.BroadcastD, amd64asm.Z, to, 0, m)
	default:
		g.scalarElement(ac, ac.regs[0], m)
		g.V(amd64asm.BroadcastDR, amd64asm.Z, to, 0, amd64asm.RAX)
	}
	g.Jmp(done)
	g.rejoin(gather, 0)
	g.k6 = 0
	g.vectorCheck(ac, h, slow)
	g.noteLanes(ac, h)
	if !ac.global() {
		g.Ld(amd64asm.RSI, inContext(offShared))
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
	g.Ld(amd64asm.RDX, inContext(offTables))
	for h := range 2 {
		g.k6 = 0
		g.vectorCheck(ac, h, slow)
		g.noteLanes(ac, h)
	}
	if !ac.global() {
		g.Ld(amd64asm.RSI, inContext(offShared))
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
				g.V(amd64asm.MovA64, o, z, 0, uint8(1+p))
			}
			continue
		}
		for h := range 2 {
			g.gather(ac, h, 0, uint8(1+h), 0, disp)
		}
		for h := range 2 {
			z, o := g.dst(r, h)
			g.V(amd64asm.MovA32, o, z, 0, uint8(1+h))
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
	g.Ld(amd64asm.RDX, inContext(offTables))
	for h := range 2 {
		g.k6 = 0
		g.vectorCheck(ac, h, slow)
		g.noteLanes(ac, h)
	}
	if !ac.global() {
		g.Ld(amd64asm.RSI, inContext(offShared))
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
				g.VI(amd64asm.ShiftD, amd64asm.Z, amd64asm.ShiftSll, to, to, 32-r.Width)
				g.VI(amd64asm.ShiftD, amd64asm.Z, amd64asm.ShiftSrl, to, to, 32-r.Width)
			}
		}
		for h := range 2 {
			z, o := g.dst(r, h)
			g.V(amd64asm.MovA32, o, z, 0, uint8(3+h))
		}
	}
}
