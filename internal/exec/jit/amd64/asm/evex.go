package asm

// Opt is the vector length and masking of an EVEX instruction.
type Opt struct {
	LL    uint8 // 0: 128 bits, 1: 256, 2: 512
	K     uint8 // write mask register; 0: none
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
func (o Opt) Mask(k uint8) Opt { o.K = k; return o }

// Zeroing returns the option with zeroing instead of merging.
func (o Opt) Zeroing() Opt { o.Zero = true; return o }

// Broadcast returns the option with a broadcast memory operand.
func (o Opt) Broadcast() Opt { o.Bcast = true; return o }

// evex writes prefix and opcode. x and b extend the operand in ModRM.rm; v4 is bit 4 of vvvv or of a vector index.
func (a *Asm) evex(op Op, o Opt, reg, x, b, vvvv uint8) {
	if a.low != nil {
		panic("asm: an EVEX instruction in code for AVX2")
	}
	a.bytes(0x62,
		(^(reg>>3)&1)<<7|(^x&1)<<6|(^b&1)<<5|(^(reg>>4)&1)<<4|op.space,
		op.w<<7|(^vvvv&15)<<3|4|op.prefix,
		bit(o.Zero)<<7|o.LL<<5|bit(o.Bcast)<<4|(^(vvvv>>4)&1)<<3|o.K,
		op.op)
}

// V is an instruction of registers: reg, vvvv, rm. Unused operands are 0.
func (a *Asm) V(op Op, o Opt, reg, vvvv, rm uint8) {
	if a.low != nil {
		a.low.vector(op, o, reg, vvvv, inReg(rm), 0)
		return
	}
	if a.plain {
		a.plainVEX(op, o, reg, vvvv, inReg(rm))
		return
	}
	a.evex(op, o, reg, rm>>4, rm>>3&1, vvvv)
	a.bytes(0xc0 | (reg&7)<<3 | rm&7)
}

// VI is V with an immediate.
func (a *Asm) VI(op Op, o Opt, reg, vvvv, rm, imm uint8) {
	if a.low != nil {
		a.low.vector(op, o, reg, vvvv, inReg(rm), imm)
		return
	}
	a.V(op, o, reg, vvvv, rm)
	a.bytes(imm)
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

// VM is an instruction with a memory operand in the place of rm.
func (a *Asm) VM(op Op, o Opt, reg, vvvv uint8, m Mem) {
	if a.low != nil {
		a.low.vector(op, o, reg, vvvv, inMem(m), 0)
		return
	}
	if a.plain {
		a.plainVEX(op, o, reg, vvvv, inMem(m))
		return
	}
	a.evex(op, o, reg, ext(m.Index), ext(m.Base), vvvv)
	a.memory(reg, m, op.unit(o))
}

// VMI is VM with an immediate.
func (a *Asm) VMI(op Op, o Opt, reg, vvvv uint8, m Mem, imm uint8) {
	if a.low != nil {
		a.low.vector(op, o, reg, vvvv, inMem(m), imm)
		return
	}
	a.VM(op, o, reg, vvvv, m)
	a.bytes(imm)
}

// VX is a gather or scatter: the index is a vector register.
func (a *Asm) VX(op Op, o Opt, reg, base, index, scale uint8, disp int32) {
	if a.low != nil {
		a.low.indexed(op, o, reg, base, index, scale, disp)
		return
	}
	b := byte(0)
	if base != None {
		b = ext(base)
	}
	a.evex(op, o, reg, index>>3&1, b, index>>4<<4)
	a.memory(reg, Mem{base, index & 15, scale, disp}, op.unit(o))
}
