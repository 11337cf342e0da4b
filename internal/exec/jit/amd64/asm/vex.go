package asm

// source is the last operand of a VEX instruction: a register, memory, or a place in the code.
type source struct {
	kind  uint8
	reg   uint8
	mem   Mem
	label Label
	add   int32 // bytes behind the label
}

const (
	fromReg = iota
	fromMem
	fromLabel
)

func inReg(r uint8) source { return source{kind: fromReg, reg: r} }
func inVec(r Vec) source   { return inReg(uint8(r)) }
func inMem(m Mem) source   { return source{kind: fromMem, mem: m} }

// at is the source n bytes on.
func (s source) at(n int32) source {
	s.mem.Disp += n
	s.add += n
	return s
}

// vex writes a VEX instruction of 128 (length 0) or 256 bits. In opcode space 1 W is 0; see vexW. A vector index is
// named in mem.Index.
func (a *Asm) vex(op Op, length, reg, vvvv uint8, s source, imm ...byte) {
	w := op.w
	if op.space == 1 {
		w = 0
	}
	a.vexW(op, w, length, reg, vvvv, s, imm...)
}

func (a *Asm) vexW(op Op, w, length, reg, vvvv uint8, s source, imm ...byte) {
	a.changes(GPR(reg), GPR(s.reg)) // general ones, of some
	var x, b byte
	switch s.kind {
	case fromReg:
		b = ext(s.reg)
	case fromMem:
		x, b = ext(s.mem.Index), ext(s.mem.Base)
	}
	low := (^vvvv&15)<<3 | length<<2 | op.prefix
	if x == 0 && b == 0 && w == 0 && op.space == 1 {
		a.Code = append(a.Code, 0xc5, (^ext(reg)&1)<<7|low, op.op)
	} else {
		a.Code = append(a.Code, 0xc4, (^ext(reg)&1)<<7|(^x&1)<<6|(^b&1)<<5|op.space, w<<7|low, op.op)
	}
	switch s.kind {
	case fromReg:
		a.Code = append(a.Code, 0xc0|(reg&7)<<3|s.reg&7)
	case fromMem:
		a.memory(reg, s.mem, 1)
	default:
		a.Code = append(a.Code, (reg&7)<<3|5)
		a.fixups = append(a.fixups, fixup{len(a.Code), s.label})
		a.imm32(uint32(s.add - int32(len(imm)))) // Finish adds the distance
	}
	a.Code = append(a.Code, imm...)
}

// The VEX instructions beside those whose EVEX form differs in the prefix only.
var (
	vexMovDQALd   = Op{1, 1, 0, 0x6f, vector}
	vexCmpEqD     = Op{1, 1, 0, 0x76, vector}
	vexCmpGtD     = Op{1, 1, 0, 0x66, vector}
	vexCmpEqQ     = Op{1, 2, 0, 0x29, vector}
	vexCmpGtQ     = Op{1, 2, 0, 0x37, vector}
	vexBlendVB    = Op{1, 3, 0, 0x4c, vector}
	vexPackSSDW   = Op{1, 1, 0, 0x6b, vector}
	vexPackSSWB   = Op{1, 1, 0, 0x63, vector}
	vexPackUSDW   = Op{1, 2, 0, 0x2b, vector}
	vexPermQI     = Op{1, 3, 1, 0x00, vector}
	vexExtract128 = Op{1, 3, 0, 0x39, vector} // register field: source
	vexInsert128  = Op{1, 3, 0, 0x38, vector}
	vexMovMskB    = Op{1, 1, 0, 0xd7, vector}
	vexMovMskPS   = Op{0, 1, 0, 0x50, vector}
	vexMovToX     = Op{1, 1, 0, 0x6e, vector} // vmovd, vmovq with W: from a general register
	vexMovFromX   = Op{1, 1, 0, 0x7e, vector} // vmovd, vmovq with W: to a general register (register field: xmm)
	vexMaskMovLd  = Op{1, 2, 0, 0x8c, vector} // vpmaskmovd, vpmaskmovq with W
	vexMaskMovSt  = Op{1, 2, 0, 0x8e, vector}
	vexShufD      = Op{1, 1, 0, 0x70, vector}
	vexShufPS     = Op{0, 1, 0, 0xc6, vector}
	vexShiftDI    = Op{1, 1, 0, 0x72, vector}
	vexShiftQI    = Op{1, 1, 0, 0x73, vector} // register field 3: bytes to the right
	vexTest       = Op{1, 2, 0, 0x17, vector}
	vexRoundPS    = Op{1, 3, 0, 0x08, vector}
	vexRoundPD    = Op{1, 3, 0, 0x09, vector}
	vexSubUSW     = Op{1, 1, 0, 0xd9, vector}
	vexMinSW      = Op{1, 1, 0, 0xea, vector}
	vexCvtTSD2SI  = Op{3, 1, 1, 0x2c, vector}
	vexCvtSI2SS   = Op{2, 1, 1, 0x2a, vector} // from memory, with W
	vexMovSSSt    = Op{2, 1, 0, 0x11, vector}
	vexMXCSR      = Op{0, 1, 0, 0xae, vector} // register field: 2 load, 3 store
	vexGatherD    = Op{1, 2, 0, 0x90, vector} // indices of 32 bits; elements of 64 bits with W
	vexGatherQ    = Op{1, 2, 0, 0x91, vector}
)

// Plain has f write vector instructions of 128 and 256 bits with VEX prefixes, for the ymm registers that they name, in
// code that is lowered otherwise. None may have a mask or a broadcast. Nothing of the lowered code's registers is known
// in it, and none of them is changed but those in ymm registers, which Call has stored.
func (a *Asm) Plain(f func()) {
	low := a.low
	a.low, a.plain = nil, true
	f()
	a.low, a.plain = low, false
}

func (a *Asm) plainVEX(op Op, o Opt, reg, vvvv uint8, s source, imm ...byte) {
	if o.LL > 1 || o.K != 0 || o.Bcast || reg > 15 || vvvv > 15 || s.kind == fromReg && s.reg > 15 {
		panic("asm: an instruction without VEX form")
	}
	if op == BroadcastQ {
		op.w = 0
	}
	a.vex(op, o.LL, reg, vvvv, s, imm...)
}

// MovMskPS collects the sign bits of eight words into a general register.
func (a *Asm) MovMskPS(d GPR, s Vec) { a.vex(vexMovMskPS, 1, uint8(d), 0, inVec(s)) }

// TestAll compares the bits that two vectors of 256 bits have in common with zero.
func (a *Asm) TestAll(x, y Vec) { a.vex(vexTest, 1, uint8(x), 0, inVec(y)) }

// UpperHalf makes the upper half of a vector of the length of o the lower one of d; for 256 bits inside Plain only.
func (a *Asm) UpperHalf(o Opt, d, s Vec) {
	if o.LL == Z.LL {
		a.VI(ExtractQ4, o, s, 0, d, 1)
		return
	}
	a.vex(vexExtract128, 1, uint8(s), 0, inVec(d), 1)
}

// JoinHalves makes a vector of the length of o of the lower halves of two others; for 256 bits inside Plain only.
func (a *Asm) JoinHalves(o Opt, d, lo, hi Vec) {
	if o.LL == Z.LL {
		a.VI(InsertQ4, o, d, lo, hi, 1)
		return
	}
	a.vex(vexInsert128, 1, uint8(d), uint8(lo), inVec(hi), 1)
}
