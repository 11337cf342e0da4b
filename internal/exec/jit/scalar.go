package jit

import (
	"strings"

	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
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

func (p place) mem(half int) asm.Mem { return asm.At(p.base, p.disp+int32(8*half)) }

var scalarRegs = [...]uint8{asm.R11, asm.R13, asm.R14}

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
	bcast, bcastReg, add := asm.BroadcastD, asm.BroadcastDR, asm.AddD
	if x.class == ir.W64 {
		bcast, bcastReg, add = asm.BroadcastQ, asm.BroadcastQR, asm.AddQ
	}
	if i := g.sfind(w, half); i >= 0 && g.c.regs[i].dirty {
		g.V(bcastReg, asm.Z, z, 0, scalarRegs[i])
	} else {
		g.VM(bcast, asm.Z, z, 0, x.at.mem(half))
	}
	if x.shape.stride != 0 {
		g.VL(add, asm.Z, z, z, g.strides(x.shape.stride, lane, x.class == ir.W64))
	}
	g.c.slots[z] = slot{ref: ref, row: uint32(w), n: uint8(n), used: true, stamp: g.c.stamp, all: true}
	return z
}

// strides is a vector of strides from a lane on.
func (g *gen) strides(stride int64, lane int, wide bool) asm.Label {
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
		by := asm.At(to, int32(16*x.shape.stride))
		if wide {
			g.Lea(to, by)
		} else {
			g.Lea32(to, by)
		}
	}
}

// sarith is to = to op a.
func (g *gen) sarith(k asm.Arith, to uint8, a *ir.Arg, half int, wide bool) {
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
	g.sload(asm.RCX, a, half, wide)
	g.RR(k, wide, to, asm.RCX)
}

// smul is rax = a * b.
func (g *gen) smul(a, b *ir.Arg, half int, wide bool) {
	if a.Kind == ir.Imm {
		a, b = b, a
	}
	g.sload(asm.RAX, a, half, wide)
	if c, ok := immediate(b); ok && c == int64(int32(c)) {
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

// swiden puts a 32-bit source, extended to 64 bits, into a scratch register; an affine one must not wrap around in any lane.
func (g *gen) swiden(to uint8, a *ir.Arg, half int, signed bool, slow func() asm.Label) {
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
			g.MovR(false, asm.RDX, to)
			if span > 0 {
				g.RI(asm.ArithAdd, false, asm.RDX, int32(span))
			} else {
				g.RI(asm.ArithSub, false, asm.RDX, int32(-span))
			}
			if signed {
				g.J(asm.O, slow())
			} else {
				g.J(asm.B, slow())
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
	var out asm.Label
	made := false
	slow := func() asm.Label {
		if !made {
			out, made = g.slow(), true
		}
		return out
	}
	if (in.code == opMulWide || in.code == opMadWide || in.code == opCvt) && bases == 2 {
		slow() // before a register changes
	}
	// All bases are computed before the first is set: the destination may be a source.
	results := [2]uint8{asm.RAX, asm.RDI}
	for h := range bases {
		r := asm.RAX
		switch in.code {
		case opMov:
			g.sload(r, &op.Args[1], h, wide)
		case opCvta:
			g.sload(r, &op.Args[1], h, true)
			if op.Match.One("shared", "shared::cta", "shared::cluster") != "" {
				k := asm.ArithAdd
				if op.Opcode() == optab.OpCvtaTo || op.Match.Has("to") {
					k = asm.ArithSub
				}
				g.RM(k, true, r, inContext(offSharedGen))
			}
		case opAdd, opSub, opAnd, opOr, opXor:
			k := map[opcode]asm.Arith{opAdd: asm.ArithAdd, opSub: asm.ArithSub, opAnd: asm.ArithAnd, opOr: asm.ArithOr, opXor: asm.ArithXor}[in.code]
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
			g.sarith(asm.ArithAdd, r, &op.Args[3], h, wide)
		case opMulWide, opMadWide:
			a, b := &op.Args[1], &op.Args[2]
			if a.Kind == ir.Imm {
				a, b = b, a
			}
			g.swiden(r, a, h, in.signed, slow)
			if n, ok := powerOf(b); ok && n < 31 {
				g.ShiftI(asm.ScalarShl, true, r, n)
			} else {
				g.swiden(asm.RCX, b, h, in.signed, slow)
				g.ImulR(true, r, asm.RCX)
			}
			if in.code == opMadWide {
				g.sarith(asm.ArithAdd, r, &op.Args[3], h, true)
			}
		case opShl, opShr:
			kind := uint8(asm.ScalarShl)
			if in.code == opShr {
				if kind = asm.ScalarShr; in.signed {
					kind = asm.ScalarSar
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
		case opMin, opMax:
			g.sload(r, &op.Args[1], h, wide)
			g.sload(asm.RCX, &op.Args[2], h, wide)
			g.RR(asm.ArithCmp, wide, r, asm.RCX)
			c := map[[2]bool]asm.Cond{{false, false}: asm.A, {false, true}: asm.G, {true, false}: asm.B, {true, true}: asm.L}[[2]bool{in.code == opMax, in.signed}]
			g.CmovR(c, wide, r, asm.RCX)
		case opSelp:
			g.predTest(op.Args[3].Ref.Off, op.Args[3].Neg)
			g.sload(r, &op.Args[2], h, wide)
			g.sload(asm.RCX, &op.Args[1], h, wide)
			g.CmovR(asm.NE, wide, r, asm.RCX)
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
			g.MovR(true, asm.RDI, r)
			results[0], results[1] = asm.RDI, asm.RAX
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
	g.predRow(asm.RAX, row)
	if neg {
		g.Not32(asm.RAX)
	}
	if g.full {
		g.Test32(asm.RAX, asm.RAX)
	} else {
		g.AndLd32(asm.RAX, inContext(offMask))
	}
}

// Conditions of integer relations, signed and unsigned.
var signedConds = map[string]asm.Cond{"eq": asm.E, "ne": asm.NE, "lt": asm.L, "le": asm.LE, "gt": asm.G, "ge": asm.GE, "lo": asm.B, "ls": asm.BE, "hi": asm.A, "hs": asm.AE}
var unsignedConds = map[string]asm.Cond{"eq": asm.E, "ne": asm.NE, "lt": asm.B, "le": asm.BE, "gt": asm.A, "ge": asm.AE, "lo": asm.B, "ls": asm.BE, "hi": asm.A, "hs": asm.AE}

// compareCond is the condition of a setp of integers, and its name.
func compareCond(op *ir.Op) (c asm.Cond, name string, ok bool) {
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
func (g *gen) scalarCompare() asm.Cond {
	op := g.op
	a, b := op.Arg("a"), op.Arg("b")
	wide := g.v.info[g.pc].wide
	c, _, _ := compareCond(op)
	if w, ok := g.scalarWeb(a); ok {
		if i := g.sfind(w, 0); i >= 0 {
			g.sarith(asm.ArithCmp, scalarRegs[i], b, 0, wide)
			return c
		}
	}
	g.sload(asm.RAX, a, 0, wide)
	g.sarith(asm.ArithCmp, asm.RAX, b, 0, wide)
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
			g.pred(asm.RDX, c)
			g.combine(combine, asm.RAX, asm.RDX)
		}
		g.setPred(&op.Args[0], asm.RAX)
	}
	if sa.kind == kindUniform && sb.kind == kindUniform {
		cond = g.scalarCompare()
		g.Setcc(cond, asm.RAX)
		g.MovZX8(asm.RAX, asm.RAX)
		g.Neg32(asm.RAX)
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
		g.sload(asm.RAX, a, 0, false)
		g.sload(asm.RDX, b, 0, false)
		g.RR(asm.ArithSub, false, asm.RDX, asm.RAX)
		g.CmpI32(asm.RDX, int32(31*sa.stride))
		g.J(asm.BE, vector.out)
		g.MovI32(asm.RAX, map[string]uint32{"eq": 0, "ne": 0xffffffff}[name])
		g.Bind(vector.back)
		finish()
		return true
	}
	signed := strings.HasPrefix(op.Match.Type(0), "s")
	g.sload(asm.RAX, a, 0, false)
	g.sload(asm.RDX, b, 0, false)
	g.lastLane(sa, signed, vector.out)
	g.RR(asm.ArithCmp, false, asm.RAX, asm.RDX)
	g.Setcc(cond, asm.RAX)
	g.RR(asm.ArithCmp, false, asm.RDI, asm.RDX)
	g.Setcc(cond, asm.RCX)
	g.MovZX8(asm.RAX, asm.RAX)
	g.MovZX8(asm.RCX, asm.RCX)
	g.RR(asm.ArithCmp, false, asm.RAX, asm.RCX)
	g.J(asm.NE, vector.out)
	g.Neg32(asm.RAX)
	g.rejoin(vector.back, 0)
	finish()
	return true
}

// lastLane puts the last lane's value of an affine one, whose base is in rax, into rdi; it leaves for wrap when lanes between wrap around.
func (g *gen) lastLane(s shape, signed bool, wrap asm.Label) {
	if s.lanes() {
		g.Lea32(asm.RDI, asm.At(asm.RAX, 31))
		return
	}
	g.MovR(false, asm.RDI, asm.RAX)
	g.RI(asm.ArithAdd, false, asm.RDI, int32(31*s.stride))
	if signed {
		g.J(asm.O, wrap)
	} else {
		g.J(asm.B, wrap)
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
func (g *gen) branchAffine(b, to int32, br *ir.Op, fall, part asm.Label) {
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
	g.sload(asm.RAX, a, 0, false)
	if c, ok := immediate(bArg); !ok || c != int64(int32(c)) {
		g.sload(asm.RDX, bArg, 0, false)
	}
	cmp := func(r uint8) {
		if c, ok := immediate(bArg); ok {
			g.CmpI32(r, int32(c))
		} else {
			g.RR(asm.ArithCmp, false, r, asm.RDX)
		}
	}
	g.lastLane(sa, signed, vector.out)
	not := g.NewLabel()
	cmp(asm.RAX)
	g.J(cond^1, not)
	cmp(asm.RDI)
	g.J(cond^1, vector.out)
	taken := g.NewLabel()
	g.rejoin(taken, 0)
	g.settle(g.pc)
	i := g.pc
	g.pc, g.op = i+1, br
	g.goTo(b, to)
	g.rejoin(not, 0)
	cmp(asm.RDI)
	g.J(cond^1, fall)
	g.Jmp(vector.out)
	// lane by lane
	g.rejoin(vector.back, 0)
	if br.Neg {
		g.Not32(asm.RAX)
	}
	if g.full {
		g.Test32(asm.RAX, asm.RAX)
		g.J(asm.E, fall)
		g.CmpI32(asm.RAX, -1)
	} else {
		g.AndLd32(asm.RAX, inContext(offMask))
		g.J(asm.E, fall)
		g.CmpLd32(asm.RAX, inContext(offMask))
	}
	g.J(asm.E, taken)
	g.Jmp(part)
	g.join(fall)
}

type detour struct{ out, back asm.Label }

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
	cmp := asm.CmpUD
	if strings.HasPrefix(op.Match.Type(0), "s") {
		cmp = asm.CmpD
	}
	d.out = g.outOfLine(func() {
		var m asm.Mem
		if bScalar {
			m = g.v.webs[bw].at.mem(0)
		} else {
			m = rowMem(b.Ref)
		}
		g.VM(asm.BroadcastD, asm.Z, 0, 0, x.at.mem(0))
		for p := range 2 {
			g.VL(asm.AddD, asm.Z, 1, 0, g.strides(x.shape.stride, 16*p, false))
			g.VMI(cmp, asm.Z.Broadcast(), 7, 1, m, imm)
			if p == 0 {
				g.KMovRW(asm.RAX, 7)
			} else {
				g.KMovRW(asm.RDX, 7)
				g.ShlI32(asm.RDX, 16)
				g.Or32(asm.RAX, asm.RDX)
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
	at := func(off int32) (place, bool) { return place{base: asm.R15, disp: off + int32(4*axis), set: true}, true }
	switch name {
	case "%ntid":
		return at(offBlock)
	case "%ctaid":
		return at(offCTAID)
	case "%nctaid":
		return at(offGrid)
	case "%tid":
		return place{base: asm.RBX, disp: g.lay.tid + int32(16*axis), set: true}, true
	}
	return place{}, false
}
