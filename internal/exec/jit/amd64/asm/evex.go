package asm

// Opt is the vector length and masking of an EVEX instruction.
type Opt struct {
	LL    uint8 // 0: 128 bits, 1: 256, 2: 512
	K     Mask  // write mask register; K0: none
	Zero  bool  // lanes that are masked off become zero, instead of keeping their value
	Bcast bool  // the memory operand is one element for all lanes; between registers: embedded rounding by LL
}

// The vector lengths without mask.
var (
	X = Opt{}
	Y = Opt{LL: 1}
	Z = Opt{LL: 2}
)

// Mask returns the option with a write mask.
func (o Opt) Mask(k Mask) Opt { o.K = k; return o }

// Zeroing returns the option with zeroing instead of merging.
func (o Opt) Zeroing() Opt { o.Zero = true; return o }

// Broadcast returns the option with a broadcast memory operand.
func (o Opt) Broadcast() Opt { o.Bcast = true; return o }

// Round is a rounding mode, as embedded rounding, MXCSR and the immediates of RndScalePS and CvtPS2PH have it.
type Round uint8

// The rounding modes.
const (
	RoundNearest Round = iota // to even
	RoundDown
	RoundUp
	RoundZero
	RoundCurrent // what MXCSR says; in immediates only
)

// Exactly is the immediate of RndScalePS that rounds to an integer and says nothing of results that are not exact.
func (r Round) Exactly() uint8 { return 8 | uint8(r) }

// Rounded is the option of an instruction of 512-bit registers with a rounding mode of its own.
func Rounded(r Round) Opt { return Opt{LL: uint8(r), Bcast: true} }

// evex writes prefix and opcode. x and b extend the operand in ModRM.rm; v4 is bit 4 of vvvv or of a vector index.
func (a *Asm) evex(op Op, o Opt, reg, x, b, vvvv uint8) {
	if a.low != nil {
		panic("asm: an EVEX instruction in code for AVX2")
	}
	a.Code = append(a.Code, 0x62,
		(^(reg>>3)&1)<<7|(^x&1)<<6|(^b&1)<<5|(^(reg>>4)&1)<<4|op.space,
		op.w<<7|(^vvvv&15)<<3|4|op.prefix,
		bit(o.Zero)<<7|o.LL<<5|bit(o.Bcast)<<4|(^(vvvv>>4)&1)<<3|uint8(o.K),
		op.op)
}

func (op Op) unit(o Opt) int32 {
	switch {
	case o.Bcast:
		return 4 << op.w
	case op.tuple == half:
		return 8 << o.LL
	case op.tuple == quarter:
		return 4 << o.LL
	case op.tuple != vector:
		return int32(op.tuple)
	}
	return 16 << o.LL
}

// vector writes a vector instruction; the fields of the encoding are numbers, of registers of whatever kind. imm is its
// immediate, if it has one.
func (a *Asm) vector(op Op, o Opt, reg, vvvv uint8, s source, imm ...byte) {
	switch {
	case a.low != nil:
		i := byte(0)
		if len(imm) != 0 {
			i = imm[0]
		}
		a.low.vector(op, o, reg, vvvv, s, i)
		return
	case a.plain:
		a.plainVEX(op, o, reg, vvvv, s, imm...)
		return
	}
	switch s.kind {
	case fromReg:
		a.evex(op, o, reg, s.reg>>4, s.reg>>3&1, vvvv)
		a.Code = append(a.Code, 0xc0|(reg&7)<<3|s.reg&7)
	case fromMem:
		a.evex(op, o, reg, ext(s.mem.Index), ext(s.mem.Base), vvvv)
		a.memory(reg, s.mem, op.unit(o))
	case fromLabel:
		a.evex(op, o, reg, 0, 0, vvvv)
		a.Code = append(a.Code, (reg&7)<<3|5)
		a.branch(s.label)
	}
	a.Code = append(a.Code, imm...)
}

// V is an instruction of registers: reg, vvvv, rm. Unused operands are 0. VM has its last operand in memory, VL at a
// label; the I says an immediate.
func (a *Asm) V(op Op, o Opt, reg, vvvv, rm Vec) { a.vector(op, o, uint8(reg), uint8(vvvv), inVec(rm)) }
func (a *Asm) VI(op Op, o Opt, reg, vvvv, rm Vec, imm uint8) {
	a.vector(op, o, uint8(reg), uint8(vvvv), inVec(rm), imm)
}
func (a *Asm) VM(op Op, o Opt, reg, vvvv Vec, m Mem) {
	a.vector(op, o, uint8(reg), uint8(vvvv), inMem(m))
}
func (a *Asm) VMI(op Op, o Opt, reg, vvvv Vec, m Mem, imm uint8) {
	a.vector(op, o, uint8(reg), uint8(vvvv), inMem(m), imm)
}
func (a *Asm) VL(op Op, o Opt, reg, vvvv Vec, l Label) {
	a.vector(op, o, uint8(reg), uint8(vvvv), source{kind: fromLabel, label: l})
}

// VR is an instruction of a vector register and a general one.
func (a *Asm) VR(op GeneralOp, o Opt, v Vec, r GPR) {
	a.changes(r, r)
	a.vector(Op(op), o, uint8(v), 0, inReg(uint8(r)))
}

// VRM is VR with a word in memory instead.
func (a *Asm) VRM(op GeneralOp, o Opt, v Vec, m Mem) { a.vector(Op(op), o, uint8(v), 0, inMem(m)) }

// VShift shifts the elements of s by n.
func (a *Asm) VShift(op ShiftOp, o Opt, kind Shift, d, s Vec, n uint8) {
	a.vector(Op(op), o, uint8(kind), uint8(d), inVec(s), n)
}

// VShiftM is VShift of elements in memory.
func (a *Asm) VShiftM(op ShiftOp, o Opt, kind Shift, d Vec, m Mem, n uint8) {
	a.vector(Op(op), o, uint8(kind), uint8(d), inMem(m), n)
}

// VCmp sets a mask to where x stands in a relation to y.
func (a *Asm) VCmp(op CompareOp, o Opt, d Mask, x, y Vec, p Predicate) {
	a.vector(Op(op), o, uint8(d), uint8(x), inVec(y), uint8(p))
}

// VCmpM is VCmp with a memory operand.
func (a *Asm) VCmpM(op CompareOp, o Opt, d Mask, x Vec, m Mem, p Predicate) {
	a.vector(Op(op), o, uint8(d), uint8(x), inMem(m), uint8(p))
}

// VTest sets a mask to where x and y have a set bit in common, or none. VTestM has its last operand in memory, VTestL
// at a label.
func (a *Asm) VTest(op TestOp, o Opt, d Mask, x, y Vec) {
	a.vector(Op(op), o, uint8(d), uint8(x), inVec(y))
}
func (a *Asm) VTestM(op TestOp, o Opt, d Mask, x Vec, m Mem) {
	a.vector(Op(op), o, uint8(d), uint8(x), inMem(m))
}
func (a *Asm) VTestL(op TestOp, o Opt, d Mask, x Vec, l Label) {
	a.vector(Op(op), o, uint8(d), uint8(x), source{kind: fromLabel, label: l})
}

// VX is a gather or scatter: the index is a vector register.
func (a *Asm) VX(op Op, o Opt, reg Vec, base GPR, index Vec, scale uint8, disp int32) {
	if a.low != nil {
		a.low.indexed(op, o, uint8(reg), base, uint8(index), scale, disp)
		return
	}
	a.evex(op, o, uint8(reg), uint8(index)>>3&1, ext(base), uint8(index)>>4<<4)
	a.memory(uint8(reg), Mem{base, GPR(index & 15), scale, disp}, op.unit(o))
}
