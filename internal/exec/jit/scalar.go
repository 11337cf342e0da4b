package jit

import (
	"strings"

	a64 "github.com/gocuda/cuda/internal/exec/jit/amd64asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Scalars are the bases of values that are uniform or affine (shape.go). Each has eight bytes in memory, or twice eight when halves have bases of their own; general
// registers cache them. Values that live in one block only are stored when their register is needed, others at once.

// place is where a scalar stands: its first base at disp from a register, the second one 8 bytes on.
type place struct {
	base uint8
	disp int32
	set  bool
}

func (p place) mem(half int) a64.Mem { return a64.At(p.base, p.disp+int32(8*half)) }

var scalarRegs = [...]uint8{a64.R11, a64.R13, a64.R14}

// scalarSlot says what a general register holds.
type scalarSlot struct {
	web   int32
	half  uint8
	used  bool
	dirty bool
	stamp uint32
}

func (g *gen) isWide(w int32) bool { return g.v.webs[w].class == ir.W64 }

// local says whether a web lives in one block only.
func (g *gen) local(w int32) bool { return g.v.webs[w].block >= 0 }

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
		panic(g.noCode(WhyRegisters))
	}
	g.sspill(best)
	g.c.regs[best].used = false
	return best
}

func (g *gen) sspill(i int) {
	s := &g.c.regs[i]
	if s.used && s.dirty {
		g.StR(g.isWide(s.web), g.v.webs[s.web].at.mem(int(s.half)), scalarRegs[i])
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
func (g *gen) sreg(w int32, half int) uint8 {
	i := g.sfind(w, half)
	if i < 0 {
		if z, ok := g.c.find(scalarRef(w, 0)); ok {
			g.spill(z)
		}
		i = g.salloc()
		g.LdR(g.isWide(w), scalarRegs[i], g.v.webs[w].at.mem(half))
		g.c.regs[i] = scalarSlot{web: w, half: uint8(half), used: true}
	}
	g.c.regs[i].stamp = g.c.stamp
	return scalarRegs[i]
}

// sset makes a base from a scratch register.
func (g *gen) sset(w int32, half int, from uint8) {
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
	w := g.v.useWeb(g.pc, a.Ref.Off)
	return w, w >= 0 && a.Class != ir.WPred && g.v.webs[w].shape.scalar()
}

// scalarDef is the web of a destination when it is a scalar.
func (g *gen) scalarDef(d *ir.Arg) (int32, bool) {
	if g.v == nil || d.Kind != ir.Row {
		return 0, false
	}
	w := g.v.defWeb(g.pc, d.Ref.Off)
	return w, w >= 0 && d.Class != ir.WPred && g.v.webs[w].shape.scalar()
}

// each is the number of pieces to compute of a destination.
func (g *gen) each(d *ir.Arg) int {
	if _, ok := g.scalarDef(d); ok {
		return 1
	}
	return pieces(d.Class)
}

// materialize returns a register with piece n of a scalar's vector.
func (g *gen) materialize(w int32, n int) uint8 {
	x := &g.v.webs[w]
	if x.shape.kind == kindUniform {
		n = 0
	}
	ref := scalarRef(w, n)
	if z, ok := g.c.find(ref); ok {
		g.c.slots[z].stamp = g.c.stamp
		g.canon(z)
		return z
	}
	z := g.alloc()
	perPiece := 16
	if x.class == ir.W64 {
		perPiece = 8
	}
	lane := n * perPiece
	half := 0
	if x.shape.halves {
		half, lane = lane/16, lane%16
	}
	bcast, bcastReg, add := a64.BroadcastD, a64.BroadcastDR, a64.AddD
	if x.class == ir.W64 {
		bcast, bcastReg, add = a64.BroadcastQ, a64.BroadcastQR, a64.AddQ
	}
	if i := g.sfind(w, half); i >= 0 && g.c.regs[i].dirty {
		g.V(bcastReg, a64.Z, z, 0, scalarRegs[i])
	} else {
		g.VM(bcast, a64.Z, z, 0, x.at.mem(half))
	}
	if x.shape.stride != 0 {
		g.VL(add, a64.Z, z, z, g.strides(x.shape.stride, lane, x.class == ir.W64))
	}
	g.c.slots[z] = slot{ref: ref, row: uint32(w), n: uint8(n), used: true, stamp: g.c.stamp, all: true}
	return z
}

// strides is a vector of strides from a lane on.
func (g *gen) strides(stride int64, lane int, wide bool) a64.Label {
	var words [16]uint32
	for i := range 16 {
		if wide {
			if i < 8 {
				x := uint64(stride * int64(lane+i))
				words[2*i], words[2*i+1] = uint32(x), uint32(x>>32)
			}
			continue
		}
		words[i] = uint32(int32(stride * int64(lane+i)))
	}
	return g.vector(words)
}

// sload puts a base of a source into a scratch register. Flags stay as they are.
func (g *gen) sload(to uint8, a *ir.Arg, half int, wide bool) {
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
	w := g.v.useWeb(g.pc, a.Ref.Off)
	x := &g.v.webs[w]
	at := half
	if !x.shape.halves {
		at = 0
	}
	if i := g.sfind(w, at); i >= 0 {
		g.c.regs[i].stamp = g.c.stamp
		g.MovR(wide, to, scalarRegs[i])
	} else {
		if z, ok := g.c.find(scalarRef(w, 0)); ok {
			g.spill(z)
		}
		g.LdR(wide, to, x.at.mem(at))
	}
	if half == 1 && !x.shape.halves && x.shape.stride != 0 {
		by := a64.At(to, int32(16*x.shape.stride))
		if wide {
			g.Lea(to, by)
		} else {
			g.Lea32(to, by)
		}
	}
}

// sarith is to = to op a.
func (g *gen) sarith(k a64.Arith, to uint8, a *ir.Arg, half int, wide bool) {
	if c, ok := immediate(a); ok && c == int64(int32(c)) {
		g.RI(k, wide, to, int32(c))
		return
	}
	if w, ok := g.scalarWeb(a); ok {
		x := &g.v.webs[w]
		if half == 0 || x.shape.halves || x.shape.stride == 0 {
			at := half
			if !x.shape.halves {
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
			g.RM(k, wide, to, x.at.mem(at))
			return
		}
	}
	g.sload(a64.RCX, a, half, wide)
	g.RR(k, wide, to, a64.RCX)
}

// smul is rax = a * b.
func (g *gen) smul(a, b *ir.Arg, half int, wide bool) {
	if a.Kind == ir.Imm {
		a, b = b, a
	}
	g.sload(a64.RAX, a, half, wide)
	if c, ok := immediate(b); ok && c == int64(int32(c)) {
		if n, ok := powerOf(b); ok && c > 0 {
			if n > 0 {
				g.ShiftI(a64.ScalarShl, wide, a64.RAX, n)
			}
			return
		}
		g.ImulI(wide, a64.RAX, a64.RAX, int32(c))
		return
	}
	g.sload(a64.RCX, b, half, wide)
	g.ImulR(wide, a64.RAX, a64.RCX)
}

// swiden puts a 32-bit source, extended to 64 bits, into a scratch register; an affine one must not wrap around in any lane.
func (g *gen) swiden(to uint8, a *ir.Arg, half int, signed bool, slow func() a64.Label) {
	if c, ok := immediate(a); ok {
		if !signed {
			c = int64(uint32(c))
		}
		g.MovI(to, uint64(c))
		return
	}
	g.sload(to, a, half, false)
	if w, ok := g.scalarWeb(a); ok {
		if x := &g.v.webs[w]; x.shape.stride != 0 && !x.shape.lanes() {
			span := 31 * x.shape.stride
			if x.shape.halves {
				span = 15 * x.shape.stride
			}
			g.MovR(false, a64.RDX, to)
			if span > 0 {
				g.RI(a64.ArithAdd, false, a64.RDX, int32(span))
			} else {
				g.RI(a64.ArithSub, false, a64.RDX, int32(-span))
			}
			if signed {
				g.J(a64.O, slow())
			} else {
				g.J(a64.B, slow())
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
	in := &g.v.info[i]
	if in.code == opOther || in.code == opPiece || len(g.v.ops[i].defs) != 1 {
		return false
	}
	if in.code == opSetp {
		return g.scalarSetp()
	}
	if in.code == opLoad || in.code == opSetpFloat || in.code == opLogic || len(op.Args) == 0 {
		return false
	}
	w, ok := g.scalarDef(&op.Args[0])
	if !ok {
		return false
	}
	x := &g.v.webs[w]
	if x.alias {
		return true // it stands somewhere already
	}
	wide := x.class == ir.W64
	bases := 1
	if x.shape.halves {
		bases = 2
	}
	var out a64.Label
	made := false
	slow := func() a64.Label {
		if !made {
			out, made = g.slow(), true
		}
		return out
	}
	if (in.code == opMulWide || in.code == opMadWide || in.code == opCvt) && bases == 2 {
		slow() // before a register changes
	}
	// All bases are computed before the first is set: the destination may be a source.
	results := [2]uint8{a64.RAX, a64.RDI}
	for h := range bases {
		r := a64.RAX
		switch in.code {
		case opMov:
			g.sload(r, &op.Args[1], h, wide)
		case opCvta:
			g.sload(r, &op.Args[1], h, true)
			if op.Match.One("shared", "shared::cta", "shared::cluster") != "" {
				k := a64.ArithAdd
				if op.Opcode() == optab.OpCvtaTo || op.Match.Has("to") {
					k = a64.ArithSub
				}
				g.RM(k, true, r, inContext(offSharedGen))
			}
		case opAdd, opSub, opAnd, opOr, opXor:
			k := map[opcode]a64.Arith{opAdd: a64.ArithAdd, opSub: a64.ArithSub, opAnd: a64.ArithAnd, opOr: a64.ArithOr, opXor: a64.ArithXor}[in.code]
			g.sload(r, &op.Args[1], h, wide)
			g.sarith(k, r, &op.Args[2], h, wide)
		case opNeg, opNot:
			g.sload(r, &op.Args[1], h, wide)
			if in.code == opNeg {
				g.NegR(wide, r)
			} else {
				g.NotR(wide, r)
			}
		case opMul:
			g.smul(&op.Args[1], &op.Args[2], h, wide)
		case opMad:
			g.smul(&op.Args[1], &op.Args[2], h, wide)
			g.sarith(a64.ArithAdd, r, &op.Args[3], h, wide)
		case opMulWide, opMadWide:
			a, b := &op.Args[1], &op.Args[2]
			if a.Kind == ir.Imm {
				a, b = b, a
			}
			g.swiden(r, a, h, in.signed, slow)
			if n, ok := powerOf(b); ok && n < 31 {
				g.ShiftI(a64.ScalarShl, true, r, n)
			} else {
				g.swiden(a64.RCX, b, h, in.signed, slow)
				g.ImulR(true, r, a64.RCX)
			}
			if in.code == opMadWide {
				g.sarith(a64.ArithAdd, r, &op.Args[3], h, true)
			}
		case opShl, opShr:
			kind := uint8(a64.ScalarShl)
			if in.code == opShr {
				if kind = a64.ScalarShr; in.signed {
					kind = a64.ScalarSar
				}
			}
			bits := uint32(32)
			if wide {
				bits = 64
			}
			if c, ok := immediate(&op.Args[2]); ok {
				g.sload(r, &op.Args[1], h, wide)
				switch n := uint32(c); {
				case n < bits:
					if n > 0 {
						g.ShiftI(kind, wide, r, uint8(n))
					}
				case kind == a64.ScalarSar:
					g.ShiftI(kind, wide, r, uint8(bits-1))
				default:
					g.MovI32(r, 0)
				}
				break
			}
			g.sload(a64.RCX, &op.Args[2], h, false)
			g.sload(r, &op.Args[1], h, wide)
			if kind == a64.ScalarSar {
				g.MovI32(a64.RDX, bits-1)
				g.RR(a64.ArithCmp, false, a64.RCX, a64.RDX)
				g.CmovR(a64.A, false, a64.RCX, a64.RDX)
				g.ShiftCL(kind, wide, r)
			} else {
				g.ShiftCL(kind, wide, r)
				g.MovI32(a64.RDX, 0)
				g.RI(a64.ArithCmp, false, a64.RCX, int32(bits))
				g.CmovR(a64.AE, wide, r, a64.RDX)
			}
		case opMin, opMax:
			g.sload(r, &op.Args[1], h, wide)
			g.sload(a64.RCX, &op.Args[2], h, wide)
			g.RR(a64.ArithCmp, wide, r, a64.RCX)
			c := map[[2]bool]a64.Cond{{false, false}: a64.A, {false, true}: a64.G, {true, false}: a64.B, {true, true}: a64.L}[[2]bool{in.code == opMax, in.signed}]
			g.CmovR(c, wide, r, a64.RCX)
		case opSelp:
			g.predTest(op.Args[3].Ref.Off, op.Args[3].Neg)
			g.sload(r, &op.Args[2], h, wide)
			g.sload(a64.RCX, &op.Args[1], h, wide)
			g.CmovR(a64.NE, wide, r, a64.RCX)
		case opCvt:
			switch {
			case in.dbits > in.sbits:
				g.swiden(r, &op.Args[1], h, in.signed, slow)
			default:
				g.sload(r, &op.Args[1], h, wide)
			}
		case opParam:
			ac, _ := accessOf(op, &op.Args[1], &op.Args[0])
			if ac.es < 4 {
				g.scalarElement(&ac, &op.Args[0], inContext(offParamCopy+ac.disp))
			} else {
				g.LdR(wide, r, inContext(offParamCopy+ac.disp))
			}
		case opSpecial:
			p, ok := g.specialPlace(op)
			if !ok {
				g.MovI32(r, 0) // %laneid of lane 0
			} else {
				g.LdR(false, r, p.mem(h))
			}
		default:
			return false
		}
		if h == 0 && bases == 2 {
			g.MovR(true, a64.RDI, r)
			results[0], results[1] = a64.RDI, a64.RAX
		}
	}
	g.pin()
	for h := range bases {
		g.sset(w, h, results[h])
	}
	return true
}

// predTest sets the flags, NE when a uniform predicate is true.
func (g *gen) predTest(row uint32, neg bool) {
	g.predRow(a64.RAX, row)
	if neg {
		g.Not32(a64.RAX)
	}
	if g.full {
		g.Test32(a64.RAX, a64.RAX)
	} else {
		g.AndLd32(a64.RAX, inContext(offMask))
	}
}

// Conditions of integer relations, signed and unsigned.
var signedConds = map[string]a64.Cond{"eq": a64.E, "ne": a64.NE, "lt": a64.L, "le": a64.LE, "gt": a64.G, "ge": a64.GE, "lo": a64.B, "ls": a64.BE, "hi": a64.A, "hs": a64.AE}
var unsignedConds = map[string]a64.Cond{"eq": a64.E, "ne": a64.NE, "lt": a64.B, "le": a64.BE, "gt": a64.A, "ge": a64.AE, "lo": a64.B, "ls": a64.BE, "hi": a64.A, "hs": a64.AE}

// compareCond is the condition of a setp of integers, and its name.
func compareCond(op *ir.Op) (c a64.Cond, name string, ok bool) {
	of := unsignedConds
	if strings.HasPrefix(op.Match.Type(0), "s") {
		of = signedConds
	}
	for i := range op.Match.Form.Slots {
		if c, ok := of[op.Match.Words[i]]; ok {
			return c, op.Match.Words[i], true
		}
	}
	return 0, "", false
}

// scalarCompare compares the uniform operands of a setp.
func (g *gen) scalarCompare() a64.Cond {
	op := g.op
	a, b := op.Arg("a"), op.Arg("b")
	wide := g.v.info[g.pc].wide
	c, _, _ := compareCond(op)
	if w, ok := g.scalarWeb(a); ok {
		if i := g.sfind(w, 0); i >= 0 {
			g.sarith(a64.ArithCmp, scalarRegs[i], b, 0, wide)
			return c
		}
	}
	g.sload(a64.RAX, a, 0, wide)
	g.sarith(a64.ArithCmp, a64.RAX, b, 0, wide)
	return c
}

// scalarSetp writes a setp of integers that are uniform, or of an affine and a uniform one.
func (g *gen) scalarSetp() bool {
	op := g.op
	if op.Guard >= 0 {
		return false
	}
	a, b, c := op.Arg("a"), op.Arg("b"), op.Arg("c")
	sa, sb := g.v.shapeOf(g.pc, a), g.v.shapeOf(g.pc, b)
	if !sa.scalar() || !sb.scalar() {
		return false
	}
	wide := g.v.info[g.pc].wide
	cond, name, _ := compareCond(op)
	combine := op.Match.One("and", "or", "xor")
	finish := func() {
		if c != nil && combine != "" {
			g.pred(a64.RDX, c)
			g.combine(combine, a64.RAX, a64.RDX)
		}
		g.setPred(&op.Args[0], a64.RAX)
	}
	if sa.kind == kindUniform && sb.kind == kindUniform {
		cond = g.scalarCompare()
		g.Setcc(cond, a64.RAX)
		g.MovZX8(a64.RAX, a64.RAX)
		g.Neg32(a64.RAX)
		finish()
		return true
	}
	// All lanes agree when the first and the last do, as long as nothing wraps around between them.
	if sa.kind != kindAffine || sb.kind != kindUniform || sa.halves || sa.stride <= 0 || wide {
		return false
	}
	w, _ := g.scalarWeb(a)
	vector := g.outOfLineMask(w, op)
	if name == "eq" || name == "ne" {
		// No lane is equal when the difference to the first is more than that of the last.
		g.sload(a64.RAX, a, 0, false)
		g.sload(a64.RDX, b, 0, false)
		g.RR(a64.ArithSub, false, a64.RDX, a64.RAX)
		g.CmpI32(a64.RDX, int32(31*sa.stride))
		g.J(a64.BE, vector.out)
		g.MovI32(a64.RAX, map[string]uint32{"eq": 0, "ne": 0xffffffff}[name])
		g.Bind(vector.back)
		finish()
		return true
	}
	signed := strings.HasPrefix(op.Match.Type(0), "s")
	g.sload(a64.RAX, a, 0, false)
	g.sload(a64.RDX, b, 0, false)
	g.lastLane(sa, signed, vector.out)
	g.RR(a64.ArithCmp, false, a64.RAX, a64.RDX)
	g.Setcc(cond, a64.RAX)
	g.RR(a64.ArithCmp, false, a64.RDI, a64.RDX)
	g.Setcc(cond, a64.RCX)
	g.MovZX8(a64.RAX, a64.RAX)
	g.MovZX8(a64.RCX, a64.RCX)
	g.RR(a64.ArithCmp, false, a64.RAX, a64.RCX)
	g.J(a64.NE, vector.out)
	g.Neg32(a64.RAX)
	g.rejoin(vector.back, 0)
	finish()
	return true
}

// lastLane puts the last lane's value of an affine one, whose base is in rax, into rdi; it leaves for wrap when lanes between wrap around.
func (g *gen) lastLane(s shape, signed bool, wrap a64.Label) {
	if s.lanes() {
		g.Lea32(a64.RDI, a64.At(a64.RAX, 31))
		return
	}
	g.MovR(false, a64.RDI, a64.RAX)
	g.RI(a64.ArithAdd, false, a64.RDI, int32(31*s.stride))
	if signed {
		g.J(a64.O, wrap)
	} else {
		g.J(a64.B, wrap)
	}
}

// affineCompare says whether a setp compares a value that rises with the lanes with a uniform one.
func (g *gen) affineCompare(i int32) bool {
	op := &g.f.Ops[i]
	a, b := op.Arg("a"), op.Arg("b")
	sa, sb := g.v.shapeOf(i, a), g.v.shapeOf(i, b)
	_, name, _ := compareCond(op)
	return sa.kind == kindAffine && sb.kind == kindUniform && !sa.halves && sa.stride > 0 && name != "eq" && name != "ne" && !g.v.info[i].wide
}

// branchAffine is a comparison of affine and uniform values with the branch behind it, at b's end: when the first and the last lane agree all do.
func (g *gen) branchAffine(b, to int32, br *ir.Op, fall, part a64.Label) {
	op := g.op
	cond, _, _ := compareCond(op)
	if br.Neg {
		cond ^= 1
	}
	a, bArg := op.Arg("a"), op.Arg("b")
	w, _ := g.scalarWeb(a)
	vector := g.outOfLineMask(w, op)
	signed := strings.HasPrefix(op.Match.Type(0), "s")
	sa := g.v.webs[w].shape
	g.sload(a64.RAX, a, 0, false)
	if c, ok := immediate(bArg); !ok || c != int64(int32(c)) {
		g.sload(a64.RDX, bArg, 0, false)
	}
	cmp := func(r uint8) {
		if c, ok := immediate(bArg); ok {
			g.CmpI32(r, int32(c))
		} else {
			g.RR(a64.ArithCmp, false, r, a64.RDX)
		}
	}
	g.lastLane(sa, signed, vector.out)
	not := g.NewLabel()
	cmp(a64.RAX)
	g.J(cond^1, not)
	cmp(a64.RDI)
	g.J(cond^1, vector.out)
	taken := g.NewLabel()
	g.rejoin(taken, 0)
	g.settle(g.pc)
	i := g.pc
	g.pc, g.op = i+1, br
	g.goTo(b, to)
	g.rejoin(not, 0)
	cmp(a64.RDI)
	g.J(cond^1, fall)
	g.Jmp(vector.out)
	// lane by lane
	g.rejoin(vector.back, 0)
	if br.Neg {
		g.Not32(a64.RAX)
	}
	if g.full {
		g.Test32(a64.RAX, a64.RAX)
		g.J(a64.E, fall)
		g.CmpI32(a64.RAX, -1)
	} else {
		g.AndLd32(a64.RAX, inContext(offMask))
		g.J(a64.E, fall)
		g.CmpLd32(a64.RAX, inContext(offMask))
	}
	g.J(a64.E, taken)
	g.Jmp(part)
	g.join(fall)
}

type detour struct{ out, back a64.Label }

// outOfLineMask compares lane by lane, with scratch registers only, and comes back with the lanes in eax.
func (g *gen) outOfLineMask(w int32, op *ir.Op) detour {
	d := detour{back: g.NewLabel()}
	x := g.v.webs[w]
	// The operands must be found in memory there.
	b := op.Arg("b")
	g.inMemory(w)
	if u, ok := g.scalarWeb(b); ok {
		g.inMemory(u)
	}
	bw, bScalar := g.scalarWeb(b)
	imm, _ := relation(op, intPredicates)
	cmp := a64.CmpUD
	if strings.HasPrefix(op.Match.Type(0), "s") {
		cmp = a64.CmpD
	}
	d.out = g.outOfLine(func() {
		var m a64.Mem
		if bScalar {
			m = g.v.webs[bw].at.mem(0)
		} else {
			m = rowMem(b.Ref)
		}
		g.VM(a64.BroadcastD, a64.Z, 0, 0, x.at.mem(0))
		for p := range 2 {
			g.VL(a64.AddD, a64.Z, 1, 0, g.strides(x.shape.stride, 16*p, false))
			g.VMI(cmp, a64.Z.Broadcast(), 7, 1, m, imm)
			if p == 0 {
				g.KMovRW(a64.RAX, 7)
			} else {
				g.KMovRW(a64.RDX, 7)
				g.ShlI32(a64.RDX, 16)
				g.Or32(a64.RAX, a64.RDX)
			}
		}
		g.Jmp(d.back)
	})
	return d
}

// specialPlace is where a special register stands.
func (g *gen) specialPlace(op *ir.Op) (place, bool) {
	name, comp, _ := strings.Cut(op.Name, ".")
	axis := max(strings.Index("xyz", comp), 0)
	if comp == "" {
		axis = 0
	}
	at := func(off int32) (place, bool) { return place{base: a64.R15, disp: off + int32(4*axis), set: true}, true }
	switch name {
	case "%ntid":
		return at(offBlock)
	case "%ctaid":
		return at(offCTAID)
	case "%nctaid":
		return at(offGrid)
	case "%tid":
		return place{base: a64.RBX, disp: g.lay.tid + int32(16*axis), set: true}, true
	}
	return place{}, false
}
