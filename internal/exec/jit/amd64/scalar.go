package amd64

import (
	"iter"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Scalars are the bases of values that are uniform or affine (plan.Variation). Each has eight bytes in memory, or twice
// eight when halves have bases of their own; general registers cache them. Values that live in one block only are
// stored when their register is needed, others at once.

// placeMem is where a scalar stands.
func placeMem(p plan.Location, half int) asm.Mem {
	base := [...]asm.GPR{plan.InFrame: asm.RBX, plan.InContext: asm.R15, plan.InConstants: asm.R12}[p.Base]
	return asm.At(base, p.Disp+int32(8*half))
}

var scalarRegs = [...]asm.GPR{asm.R11, asm.R13, asm.R14}

// scalarSlot says what a general register holds.
type scalarSlot struct {
	web   int32
	half  uint8
	used  bool
	dirty bool
	stamp uint32
}

func (g *gen) isWide(w int32) bool { return g.v.Webs[w].Class == ir.W64 }

// local says whether a web lives in one block only.
func (g *gen) local(w int32) bool { return g.v.Webs[w].Block >= 0 }

func (g *gen) sfind(w int32, half int) int {
	for i := range g.c.regs {
		if s := &g.c.regs[i]; s.used && s.web == w && int(s.half) == half {
			return i
		}
	}
	return -1
}

func (g *gen) salloc() int {
	best := -1
	for i := range g.c.regs {
		s := &g.c.regs[i]
		if !s.used {
			return i
		}
		if s.stamp != g.c.stamp && (best < 0 || s.stamp < g.c.regs[best].stamp) {
			best = i
		}
	}
	if best < 0 {
		panic(g.noCode(plan.WhyRegisters))
	}
	g.sspill(best)
	g.c.regs[best].used = false
	return best
}

func (g *gen) sspill(i int) {
	s := &g.c.regs[i]
	if s.used && s.dirty {
		g.StR(g.isWide(s.web), placeMem(g.v.Webs[s.web].At, int(s.half)), scalarRegs[i])
		s.dirty = false
	}
}

// sdrop forgets the registers of a web.
func (g *gen) sdrop(w int32) {
	for i := range g.c.regs {
		if s := &g.c.regs[i]; s.used && s.web == w {
			s.used, s.dirty = false, false
		}
	}
}

// inMemory makes sure that a scalar's bases are where they belong.
func (g *gen) inMemory(w int32) {
	for i := range g.c.regs {
		if g.c.regs[i].web == w {
			g.sspill(i)
		}
	}
	if z, ok := g.c.find(scalarRef(w, 0)); ok {
		g.spill(z)
	}
}

// scalarRef is how the cache names the pieces of a scalar's vector.
func scalarRef(w int32, n int) ir.Ref { return ir.Ref{Off: uint32(w)<<8 + uint32(64*n), Sel: 3} }

// sreg returns a register with a base, which must not be changed.
func (g *gen) sreg(w int32, half int) asm.GPR {
	i := g.sfind(w, half)
	if i < 0 {
		if z, ok := g.c.find(scalarRef(w, 0)); ok {
			g.spill(z)
		}
		i = g.salloc()
		g.LdR(g.isWide(w), scalarRegs[i], placeMem(g.v.Webs[w].At, half))
		g.c.regs[i] = scalarSlot{web: w, half: uint8(half), used: true}
	}
	g.c.regs[i].stamp = g.c.stamp
	return scalarRegs[i]
}

// sset makes a base from a scratch register.
func (g *gen) sset(w int32, half int, from asm.GPR) {
	i := g.sfind(w, half)
	if i < 0 {
		i = g.salloc()
	}
	g.MovR(g.isWide(w), scalarRegs[i], from)
	g.c.regs[i] = scalarSlot{web: w, half: uint8(half), used: true, dirty: true, stamp: g.c.stamp}
	if !g.local(w) {
		g.sspill(i)
	}
	g.dropPieces(w)
	g.uncheck(w)
}

// dropPieces forgets the vectors made of a scalar.
func (g *gen) dropPieces(w int32) {
	for z := poolStart; z < poolEnd; z++ {
		if s := &g.c.slots[z]; s.used && s.ref.Sel == 3 && s.row == uint32(w) {
			s.used, s.dirty, s.lazy = false, false, false
		}
	}
}

// scalarWeb is the web of a source when it is a scalar.
func (g *gen) scalarWeb(a *ir.Arg) (int32, bool) {
	if g.v == nil || a.Kind != ir.Row {
		return 0, false
	}
	w := g.v.UseWeb(g.pc, a.Ref.Off)
	return w, w >= 0 && a.Class != ir.WPred && g.v.Webs[w].Variation.Scalar()
}

// scalarDef is the web of a destination when it is a scalar.
func (g *gen) scalarDef(d *ir.Arg) (int32, bool) {
	if g.v == nil || d.Kind != ir.Row {
		return 0, false
	}
	w := g.v.DefWeb(g.pc, d.Ref.Off)
	return w, w >= 0 && d.Class != ir.WPred && g.v.Webs[w].Variation.Scalar()
}

// pieces is the number of pieces to compute of a destination.
func (g *gen) pieces(d *ir.Arg) int {
	if _, ok := g.scalarDef(d); ok {
		return 1
	}
	return plan.Pieces(d.Class)
}

// each are the pieces to compute of a destination, by number: all, or those of one half of the lanes.
func (g *gen) each(d *ir.Arg) iter.Seq[int] {
	from, to := 0, g.pieces(d)
	if g.half > 0 {
		g.halved = true
		n := to / 2
		from, to = n*(g.half-1), n*g.half
	}
	return func(yield func(int) bool) {
		for p := from; p < to && yield(p); p++ {
		}
	}
}

// materialize returns a register with piece n of a scalar's vector.
func (g *gen) materialize(w int32, n int) asm.Vec {
	x := &g.v.Webs[w]
	if x.Variation.Kind == plan.Uniform {
		n = 0
	}
	ref := scalarRef(w, n)
	if z, ok := g.c.find(ref); ok {
		g.c.slots[z].stamp = g.c.stamp
		g.canon(z)
		return z
	}
	z := g.alloc()
	g.spread(z, w, n)
	g.c.slots[z] = slot{ref: ref, row: uint32(w), n: uint8(n), used: true, stamp: g.c.stamp, all: true}
	return z
}

// spread loads a register with piece n of a scalar's vector.
func (g *gen) spread(z asm.Vec, w int32, n int) {
	x := &g.v.Webs[w]
	perPiece := 16
	if x.Class == ir.W64 {
		perPiece = 8
	}
	lane := n * perPiece
	half := 0
	if x.Variation.Halves {
		half, lane = lane/16, lane%16
	}
	bcast, bcastReg, add := asm.BroadcastD, asm.BroadcastDR, asm.AddD
	if x.Class == ir.W64 {
		bcast, bcastReg, add = asm.BroadcastQ, asm.BroadcastQR, asm.AddQ
	}
	if i := g.sfind(w, half); i >= 0 && g.c.regs[i].dirty {
		g.VR(bcastReg, asm.Z, z, scalarRegs[i])
	} else {
		g.VM(bcast, asm.Z, z, 0, placeMem(x.At, half))
	}
	if x.Variation.Stride != 0 || lane >= 16 && x.Variation.Skew != 0 {
		first := int64(lane) * x.Variation.Stride
		if lane >= 16 {
			first += x.Variation.Skew
		}
		g.VL(add, asm.Z, z, z, g.strides(x.Variation.Stride, first, x.Class == ir.W64))
	}
}

// strides is a vector of numbers a stride apart.
func (g *gen) strides(stride, first int64, wide bool) asm.Label {
	var words [16]uint32
	for i := range 16 {
		if wide {
			if i < 8 {
				x := uint64(first + stride*int64(i))
				words[2*i], words[2*i+1] = uint32(x), uint32(x>>32)
			}
			continue
		}
		words[i] = uint32(int32(first + stride*int64(i)))
	}
	return g.vector(words)
}

// sload puts a base of a source into a scratch register. Flags stay as they are.
func (g *gen) sload(to asm.GPR, a *ir.Arg, half int, wide bool) {
	if a.Kind == ir.Imm {
		if a.Sym {
			g.LdR(wide, to, rowMem(a.Ref))
		} else if wide {
			g.MovI(to, a.Bits)
		} else {
			g.MovI32(to, uint32(a.Bits))
		}
		return
	}
	w := g.v.UseWeb(g.pc, a.Ref.Off)
	x := &g.v.Webs[w]
	at := half
	if !x.Variation.Halves {
		at = 0
	}
	if i := g.sfind(w, at); i >= 0 {
		g.c.regs[i].stamp = g.c.stamp
		if to != scalarRegs[i] {
			g.MovR(wide, to, scalarRegs[i])
		}
	} else {
		if z, ok := g.c.find(scalarRef(w, 0)); ok {
			g.spill(z)
		}
		g.LdR(wide, to, placeMem(x.At, at))
	}
	if half == 1 && !x.Variation.Halves && x.Variation.Lane16() != 0 {
		by := asm.At(to, int32(x.Variation.Lane16()))
		if wide {
			g.Lea(to, by)
		} else {
			g.Lea32(to, by)
		}
	}
}

// sarith is to = to op a.
func (g *gen) sarith(k asm.Arith, to asm.GPR, a *ir.Arg, half int, wide bool) {
	if c, ok := plan.Immediate(a); ok && c == int64(int32(c)) {
		g.RI(k, wide, to, int32(c))
		return
	}
	if w, ok := g.scalarWeb(a); ok {
		x := &g.v.Webs[w]
		if half == 0 || x.Variation.Halves || x.Variation.Lane16() == 0 {
			at := half
			if !x.Variation.Halves {
				at = 0
			}
			if i := g.sfind(w, at); i >= 0 {
				g.c.regs[i].stamp = g.c.stamp
				g.RR(k, wide, to, scalarRegs[i])
				return
			}
			if z, ok := g.c.find(scalarRef(w, 0)); ok {
				g.spill(z)
			}
			g.RM(k, wide, to, placeMem(x.At, at))
			return
		}
	}
	g.sload(asm.RCX, a, half, wide)
	g.RR(k, wide, to, asm.RCX)
}

// smul is rax = a * b.
func (g *gen) smul(a, b *ir.Arg, half int, wide bool) {
	if a.Kind == ir.Imm {
		a, b = b, a
	}
	g.sload(asm.RAX, a, half, wide)
	if c, ok := plan.Immediate(b); ok && c == int64(int32(c)) {
		if n, ok := powerOf(b); ok && c > 0 {
			if n > 0 {
				g.ShiftI(asm.ScalarShl, wide, asm.RAX, n)
			}
			return
		}
		g.ImulI(wide, asm.RAX, asm.RAX, int32(c))
		return
	}
	g.sload(asm.RCX, b, half, wide)
	g.ImulR(wide, asm.RAX, asm.RCX)
}

// swiden puts a 32-bit source, extended to 64 bits, into a scratch register; an affine one must not wrap around in any
// lane.
func (g *gen) swiden(to asm.GPR, a *ir.Arg, half int, signed bool, slow func() asm.Label) {
	if c, ok := plan.Immediate(a); ok {
		if !signed {
			c = int64(uint32(c))
		}
		g.MovI(to, uint64(c))
		return
	}
	g.sload(to, a, half, false)
	if w, ok := g.scalarWeb(a); ok {
		if x := &g.v.Webs[w]; !x.Variation.Lane() {
			low, high := x.Variation.Span()
			leave := asm.B
			if signed {
				leave = asm.O
			}
			if high > 0 {
				g.MovR(false, asm.RDX, to)
				g.RI(asm.ArithAdd, false, asm.RDX, int32(high))
				g.J(leave, slow())
			}
			if low < 0 {
				g.MovR(false, asm.RDX, to)
				g.RI(asm.ArithSub, false, asm.RDX, int32(-low))
				g.J(leave, slow())
			}
		}
	}
	if signed {
		g.MovSXD(to, to)
	}
}

// scalarOp writes an operation whose result is a scalar; false when its template does.
func (g *gen) scalarOp(i int32) bool {
	op := g.op
	in := &g.v.Info[i]
	if in.Rule == plan.RuleNone || in.Rule == plan.RulePiece || len(g.v.Ops[i].Defs) != 1 {
		return false
	}
	if in.Rule == plan.RuleSetp {
		return g.scalarSetp()
	}
	if in.Rule == plan.RuleLoad || in.Rule == plan.RuleSetpFloat || in.Rule == plan.RuleLogic || len(op.Args) == 0 {
		return false
	}
	w, ok := g.scalarDef(&op.Args[0])
	if !ok {
		return false
	}
	x := &g.v.Webs[w]
	if x.Alias {
		return true // it stands somewhere already
	}
	wide := x.Class == ir.W64
	bases := 1
	if x.Variation.Halves {
		bases = 2
	}
	var out asm.Label
	made := false
	slow := func() asm.Label {
		if !made {
			out, made = g.slow(), true
		}
		return out
	}
	if (in.Rule == plan.RuleMulWide || in.Rule == plan.RuleMadWide || in.Rule == plan.RuleCvt) && bases == 2 {
		slow() // before a register changes
	}
	// All bases are computed before the first is set: the destination may be a source.
	results := [2]asm.GPR{asm.RAX, asm.RDI}
	own := -1
	if bases == 1 {
		own = g.ownRegister(w, in.Rule)
	}
	for h := range bases {
		r := asm.RAX
		if own >= 0 {
			r = scalarRegs[own]
		}
		switch in.Rule {
		case plan.RuleMov:
			g.sload(r, &op.Args[1], h, wide)
		case plan.RuleCvta:
			g.sload(r, &op.Args[1], h, true)
			if sp := op.Mods().Space; sp == optab.SpaceShared || sp == optab.SpaceCluster {
				k := asm.ArithAdd
				if op.Opcode() == optab.OpCvtaTo {
					k = asm.ArithSub
				}
				g.RM(k, true, r, inContext(abi.OffSharedGen))
			}
		case plan.RuleAdd, plan.RuleSub, plan.RuleAnd, plan.RuleOr, plan.RuleXor:
			k := map[plan.Rule]asm.Arith{plan.RuleAdd: asm.ArithAdd, plan.RuleSub: asm.ArithSub,
				plan.RuleAnd: asm.ArithAnd, plan.RuleOr: asm.ArithOr, plan.RuleXor: asm.ArithXor}[in.Rule]
			g.sload(r, &op.Args[1], h, wide)
			g.sarith(k, r, &op.Args[2], h, wide)
		case plan.RuleNeg, plan.RuleNot:
			g.sload(r, &op.Args[1], h, wide)
			if in.Rule == plan.RuleNeg {
				g.NegR(wide, r)
			} else {
				g.NotR(wide, r)
			}
		case plan.RuleMul:
			g.smul(&op.Args[1], &op.Args[2], h, wide)
		case plan.RuleMad:
			g.smul(&op.Args[1], &op.Args[2], h, wide)
			g.sarith(asm.ArithAdd, r, &op.Args[3], h, wide)
		case plan.RuleMulWide, plan.RuleMadWide:
			a, b := &op.Args[1], &op.Args[2]
			if a.Kind == ir.Imm {
				a, b = b, a
			}
			g.swiden(r, a, h, in.Signed, slow)
			if n, ok := powerOf(b); ok && n < 31 {
				g.ShiftI(asm.ScalarShl, true, r, n)
			} else {
				g.swiden(asm.RCX, b, h, in.Signed, slow)
				g.ImulR(true, r, asm.RCX)
			}
			if in.Rule == plan.RuleMadWide {
				g.sarith(asm.ArithAdd, r, &op.Args[3], h, true)
			}
		case plan.RuleShl, plan.RuleShr:
			kind := asm.ScalarShift(asm.ScalarShl)
			if in.Rule == plan.RuleShr {
				if kind = asm.ScalarShr; in.Signed {
					kind = asm.ScalarSar
				}
			}
			bits := uint32(32)
			if wide {
				bits = 64
			}
			if c, ok := plan.Immediate(&op.Args[2]); ok {
				g.sload(r, &op.Args[1], h, wide)
				switch n := uint32(c); {
				case n < bits:
					if n > 0 {
						g.ShiftI(kind, wide, r, uint8(n))
					}
				case kind == asm.ScalarSar:
					g.ShiftI(kind, wide, r, uint8(bits-1))
				default:
					g.MovI32(r, 0)
				}
				break
			}
			g.sload(asm.RCX, &op.Args[2], h, false)
			g.sload(r, &op.Args[1], h, wide)
			if kind == asm.ScalarSar {
				g.MovI32(asm.RDX, bits-1)
				g.RR(asm.ArithCmp, false, asm.RCX, asm.RDX)
				g.CmovR(asm.A, false, asm.RCX, asm.RDX)
				g.ShiftCL(kind, wide, r)
			} else {
				g.ShiftCL(kind, wide, r)
				g.MovI32(asm.RDX, 0)
				g.RI(asm.ArithCmp, false, asm.RCX, int32(bits))
				g.CmovR(asm.AE, wide, r, asm.RDX)
			}
		case plan.RuleMin, plan.RuleMax:
			g.sload(r, &op.Args[1], h, wide)
			g.sload(asm.RCX, &op.Args[2], h, wide)
			g.RR(asm.ArithCmp, wide, r, asm.RCX)
			c := map[[2]bool]asm.Cond{{false, false}: asm.A, {false, true}: asm.G, {true, false}: asm.B,
				{true, true}: asm.L}[[2]bool{in.Rule == plan.RuleMax, in.Signed}]
			g.CmovR(c, wide, r, asm.RCX)
		case plan.RuleSelp:
			g.predTest(op.Args[3].Ref.Off, op.Args[3].Neg)
			g.sload(r, &op.Args[2], h, wide)
			g.sload(asm.RCX, &op.Args[1], h, wide)
			g.CmovR(asm.NE, wide, r, asm.RCX)
		case plan.RuleCvt:
			switch {
			case in.Bits > in.SourceBits:
				g.swiden(r, &op.Args[1], h, in.Signed, slow)
			default:
				g.sload(r, &op.Args[1], h, wide)
			}
		case plan.RuleParam:
			ac, _ := plan.AccessOf(op, &op.Args[1], &op.Args[0])
			if ac.ElemSize < 4 {
				g.scalarElement(&ac, &op.Args[0], inContext(abi.OffParamCopy+ac.Disp))
			} else {
				g.LdR(wide, r, inContext(abi.OffParamCopy+ac.Disp))
			}
		case plan.RuleSpecial:
			p, ok := specialPlace(op, g.lay)
			if !ok {
				g.MovI32(r, 0) // %laneid of lane 0
			} else {
				g.LdR(false, r, placeMem(p, h))
			}
		default:
			return false
		}
		if h == 0 && bases == 2 {
			g.MovR(true, asm.RDI, r)
			results[0], results[1] = asm.RDI, asm.RAX
		}
	}
	g.pin()
	if own >= 0 {
		g.sown(w, own)
		return true
	}
	for h := range bases {
		g.sset(w, h, results[h])
	}
	return true
}

// ownRegister is the number of a register in which the operation under way can compute a scalar with one base, -1 when
// it must compute in rax: rules that need a certain register, and those that read a source when the result is begun. It
// is that of the first source when that ends here and nothing can leave in the middle of the operation.
func (g *gen) ownRegister(w int32, rule plan.Rule) int {
	leaves := false
	switch rule {
	case plan.RuleMov, plan.RuleCvta, plan.RuleAdd, plan.RuleSub, plan.RuleAnd, plan.RuleOr, plan.RuleXor, plan.RuleNeg,
		plan.RuleNot:
	case plan.RuleShl, plan.RuleShr:
		if _, ok := plan.Immediate(&g.op.Args[2]); !ok {
			return -1
		}
	case plan.RuleMulWide, plan.RuleCvt:
		leaves = true
	default:
		return -1
	}
	for _, u := range g.v.Ops[g.pc].Uses {
		if u.Web == w {
			return -1
		}
		for i := range g.c.regs { // sources stay where they are
			if s := &g.c.regs[i]; s.used && s.web == u.Web {
				s.stamp = g.c.stamp
			}
		}
	}
	if n, ok := g.scalarWeb(&g.op.Args[1]); ok && !leaves && g.local(n) && g.v.Webs[n].Last <= g.pc {
		again := false
		for i := range g.op.Args[2:] {
			other, ok := g.scalarWeb(&g.op.Args[2+i])
			again = again || ok && other == n
		}
		if i := g.sfind(n, 0); i >= 0 && !again {
			return i
		}
	}
	if i := g.sfind(w, 0); i >= 0 {
		g.c.regs[i].used = false // what it held is computed anew
		return i
	}
	for i := range g.c.regs {
		if s := &g.c.regs[i]; !s.used || s.stamp != g.c.stamp {
			return g.salloc()
		}
	}
	return -1
}

// sown says that a scalar's only base has been computed in one of the registers.
func (g *gen) sown(w int32, i int) {
	g.sdrop(w)
	g.c.regs[i] = scalarSlot{web: w, used: true, dirty: true, stamp: g.c.stamp}
	if !g.local(w) {
		g.sspill(i)
	}
	g.dropPieces(w)
	g.uncheck(w)
}

// predTest sets the flags, NE when a uniform predicate is true.
func (g *gen) predTest(row uint32, neg bool) {
	g.predRow(asm.RAX, row)
	if neg {
		g.Not32(asm.RAX)
	}
	if g.full {
		g.Test32(asm.RAX, asm.RAX)
	} else {
		g.AndLd32(asm.RAX, inContext(abi.OffMask))
	}
}

// specialPlace is where a special register stands.
func specialPlace(op *ir.Op, lay *abi.Frame) (plan.Location, bool) {
	axis := op.Axis
	if axis > 2 {
		axis = 0
	}
	at := func(off int32) (plan.Location, bool) {
		return plan.Location{Base: plan.InContext, Disp: off + int32(4*axis)}, true
	}
	switch op.SReg {
	case optab.SRegNtid:
		return at(abi.OffBlock)
	case optab.SRegCtaid:
		return at(abi.OffCTAID)
	case optab.SRegNctaid:
		return at(abi.OffGrid)
	case optab.SRegTid:
		return plan.Location{Base: plan.InFrame, Disp: lay.Tid + int32(16*axis)}, true
	}
	return plan.Location{}, false
}
