package asm

// Cond is a condition code.
type Cond byte

// The conditions, by their encoding.
const (
	O Cond = iota
	NO
	B
	AE
	E
	NE
	BE
	A
	S
	NS
	P
	NP
	L
	GE
	LE
	G
)

// Hold says that a general register has got a value that Holds is to ask for: it is there until an instruction names
// the register other than in an address, or control can come from elsewhere.
func (a *Asm) Hold(r GPR) { a.held |= 1 << r }

// Holds says whether a register still has what it had at Hold.
func (a *Asm) Holds(r GPR) bool { return a.held>>r&1 != 0 }

// changes ends what two registers hold.
func (a *Asm) changes(r, s GPR) { a.held &^= 1<<(r&15) | 1<<(s&15) }

func (a *Asm) rr(w bool, reg, rm GPR, op ...byte) {
	a.changes(reg, rm)
	a.flags(op)
	if rex := bit(w)<<3 | ext(reg)<<2 | ext(rm); rex != 0 {
		a.Code = append(a.Code, 0x40|rex)
	}
	a.Code = append(a.Code, op...)
	a.Code = append(a.Code, 0xc0|uint8(reg&7)<<3|uint8(rm&7))
}

func (a *Asm) rm(w bool, reg GPR, m Mem, op ...byte) {
	a.changes(reg, reg)
	a.flags(op)
	if rex := bit(w)<<3 | ext(reg)<<2 | ext(m.Index)<<1 | ext(m.Base); rex != 0 {
		a.Code = append(a.Code, 0x40|rex)
	}
	a.Code = append(a.Code, op...)
	a.memory(uint8(reg), m, 1)
}

// flags notes an instruction that sets flags; before one, those of a sequence that changed them must not be used.
func (a *Asm) flags(op []byte) {
	if a.low == nil || !a.low.lost {
		return
	}
	switch o := op[0]; {
	case o == 0x89, o == 0x8b, o == 0x88, o == 0x63, o == 0xc7, o == 0x8d: // moves
	case o == 0x0f && (op[1]&0xf0 == 0x40 || op[1]&0xf6 == 0xb6):
	default:
		a.low.lost = false
	}
}

// condition notes the use of flags.
func (a *Asm) condition() {
	if a.low != nil && a.low.lost {
		a.low.refused = true
	}
}

// group1 is add, or, and, sub, xor, cmp with an immediate.
func (a *Asm) group1(w bool, n, reg GPR, v int32) {
	if v >= -128 && v <= 127 {
		a.rr(w, n, reg, 0x83)
		a.Code = append(a.Code, byte(v))
		return
	}
	a.rr(w, n, reg, 0x81)
	a.imm32(uint32(v))
}

func (a *Asm) group1M(w bool, n GPR, m Mem, v int32) {
	if v >= -128 && v <= 127 {
		a.rm(w, n, m, 0x83)
		a.Code = append(a.Code, byte(v))
		return
	}
	a.rm(w, n, m, 0x81)
	a.imm32(uint32(v))
}

// The names ending in 32 work on 32 bits and clear the upper half, the others on 64. Ld loads, St stores, I takes an
// immediate, M a memory operand.

func (a *Asm) Mov(d, s GPR)           { a.rr(true, s, d, 0x89) }
func (a *Asm) Mov32(d, s GPR)         { a.rr(false, s, d, 0x89) }
func (a *Asm) Ld(d GPR, m Mem)        { a.rm(true, d, m, 0x8b) }
func (a *Asm) Ld32(d GPR, m Mem)      { a.rm(false, d, m, 0x8b) }
func (a *Asm) Ld8(d GPR, m Mem)       { a.rm(false, d, m, 0x0f, 0xb6) } // zero-extended
func (a *Asm) Ld16(d GPR, m Mem)      { a.rm(false, d, m, 0x0f, 0xb7) } // zero-extended
func (a *Asm) LdS8(d GPR, m Mem)      { a.rm(true, d, m, 0x0f, 0xbe) }  // sign-extended
func (a *Asm) LdS16(d GPR, m Mem)     { a.rm(true, d, m, 0x0f, 0xbf) }  // sign-extended
func (a *Asm) LdS32(d GPR, m Mem)     { a.rm(true, d, m, 0x63) }        // sign-extended
func (a *Asm) St(m Mem, s GPR)        { a.rm(true, s, m, 0x89) }
func (a *Asm) St32(m Mem, s GPR)      { a.rm(false, s, m, 0x89) }
func (a *Asm) StI32(m Mem, v uint32)  { a.rm(false, 0, m, 0xc7); a.imm32(v) }
func (a *Asm) Lea(d GPR, m Mem)       { a.rm(true, d, m, 0x8d) }
func (a *Asm) Lea32(d GPR, m Mem)     { a.rm(false, d, m, 0x8d) }
func (a *Asm) Add(d, s GPR)           { a.rr(true, s, d, 0x01) }
func (a *Asm) Add32(d, s GPR)         { a.rr(false, s, d, 0x01) }
func (a *Asm) AddLd(d GPR, m Mem)     { a.rm(true, d, m, 0x03) }
func (a *Asm) AddLd32(d GPR, m Mem)   { a.rm(false, d, m, 0x03) }
func (a *Asm) AddI(d GPR, v int32)    { a.group1(true, 0, d, v) }
func (a *Asm) AddI32(d GPR, v int32)  { a.group1(false, 0, d, v) }
func (a *Asm) AddMI(m Mem, v int32)   { a.group1M(true, 0, m, v) }
func (a *Asm) AddM32(m Mem, s GPR)    { a.rm(false, s, m, 0x01) }
func (a *Asm) Sub(d, s GPR)           { a.rr(true, s, d, 0x29) }
func (a *Asm) Sub32(d, s GPR)         { a.rr(false, s, d, 0x29) }
func (a *Asm) SubLd(d GPR, m Mem)     { a.rm(true, d, m, 0x2b) }
func (a *Asm) SubMI32(m Mem, v int32) { a.group1M(false, 5, m, v) }
func (a *Asm) And(d, s GPR)           { a.rr(true, s, d, 0x21) }
func (a *Asm) And32(d, s GPR)         { a.rr(false, s, d, 0x21) }
func (a *Asm) AndLd32(d GPR, m Mem)   { a.rm(false, d, m, 0x23) }
func (a *Asm) AndI32(d GPR, v int32)  { a.group1(false, 4, d, v) }
func (a *Asm) Or32(d, s GPR)          { a.rr(false, s, d, 0x09) }
func (a *Asm) OrI32(d GPR, v int32)   { a.group1(false, 1, d, v) }
func (a *Asm) Xor32(d, s GPR)         { a.rr(false, s, d, 0x31) }
func (a *Asm) Not32(d GPR)            { a.rr(false, 2, d, 0xf7) }
func (a *Asm) Neg32(d GPR)            { a.rr(false, 3, d, 0xf7) }
func (a *Asm) Cmp(d, s GPR)           { a.rr(true, s, d, 0x39) }
func (a *Asm) Cmp32(d, s GPR)         { a.rr(false, s, d, 0x39) }
func (a *Asm) CmpLd(d GPR, m Mem)     { a.rm(true, d, m, 0x3b) }
func (a *Asm) CmpLd32(d GPR, m Mem)   { a.rm(false, d, m, 0x3b) }
func (a *Asm) CmpI(d GPR, v int32)    { a.group1(true, 7, d, v) }
func (a *Asm) CmpI32(d GPR, v int32)  { a.group1(false, 7, d, v) }
func (a *Asm) CmpMI32(m Mem, v int32) { a.group1M(false, 7, m, v) }
func (a *Asm) Test(d, s GPR)          { a.rr(true, s, d, 0x85) }
func (a *Asm) Test32(d, s GPR)        { a.rr(false, s, d, 0x85) }
func (a *Asm) Imul(d, s GPR)          { a.rr(true, d, s, 0x0f, 0xaf) }
func (a *Asm) Imul32(d, s GPR)        { a.rr(false, d, s, 0x0f, 0xaf) }
func (a *Asm) Bsf32(d, s GPR)         { a.rr(false, d, s, 0x0f, 0xbc) }
func (a *Asm) TestI32(d GPR, v uint32) {
	a.rr(false, 0, d, 0xf7)
	a.imm32(v)
}

// MovI32 loads a 32-bit constant.
func (a *Asm) MovI32(d GPR, v uint32) {
	if ext(d) != 0 {
		a.Code = append(a.Code, 0x41)
	}
	a.changes(d, d)
	a.Code = append(a.Code, 0xb8|uint8(d&7))
	a.imm32(v)
}

// MovI loads a 64-bit constant.
func (a *Asm) MovI(d GPR, v uint64) {
	if v>>32 == 0 {
		a.MovI32(d, uint32(v))
		return
	}
	a.changes(d, d)
	a.Code = append(a.Code, 0x48|ext(d), 0xb8|uint8(d&7))
	a.imm32(uint32(v))
	a.imm32(uint32(v >> 32))
}

// ShlI32, ShrI32, SarI32 and ShrI shift by a constant.
func (a *Asm) ShlI32(d GPR, n uint8) { a.rr(false, 4, d, 0xc1); a.Code = append(a.Code, n) }
func (a *Asm) ShrI32(d GPR, n uint8) { a.rr(false, 5, d, 0xc1); a.Code = append(a.Code, n) }
func (a *Asm) ShrI(d GPR, n uint8)   { a.rr(true, 5, d, 0xc1); a.Code = append(a.Code, n) }

// Btr32 clears a bit.
func (a *Asm) Btr32(d, n GPR) { a.rr(false, n, d, 0x0f, 0xb3) }

// Blsr32 clears the lowest set bit (BMI1).
func (a *Asm) Blsr32(d, s GPR) { a.vexRR(0, 0, 2, 0, 0xf3, 1, uint8(d), uint8(s)) }

// XaddM32 is lock xadd: s and the memory word become their sum and the word's old value.
func (a *Asm) XaddM32(m Mem, s GPR) { a.Code = append(a.Code, 0xf0); a.rm(false, s, m, 0x0f, 0xc1) }

// XaddM is XaddM32 for 64 bits.
func (a *Asm) XaddM(m Mem, s GPR) { a.Code = append(a.Code, 0xf0); a.rm(true, s, m, 0x0f, 0xc1) }

// LockAddM32 and LockAddM add atomically.
func (a *Asm) LockAddM32(m Mem, s GPR) { a.Code = append(a.Code, 0xf0); a.rm(false, s, m, 0x01) }
func (a *Asm) LockAddM(m Mem, s GPR)   { a.Code = append(a.Code, 0xf0); a.rm(true, s, m, 0x01) }

// CmpxchgM32 is lock cmpxchg with EAX.
func (a *Asm) CmpxchgM32(m Mem, s GPR) { a.Code = append(a.Code, 0xf0); a.rm(false, s, m, 0x0f, 0xb1) }

// Setcc sets the low byte of RAX, RCX, RDX or RBX by a condition.
func (a *Asm) Setcc(c Cond, d GPR) {
	a.condition()
	a.Code = append(a.Code, 0x0f, 0x90|byte(c), 0xc0|uint8(d&7))
}

// Cmov32 moves by a condition.
func (a *Asm) Cmov32(c Cond, d, s GPR) { a.CmovR(c, false, d, s) }

func (a *Asm) Ret() {
	a.Code = append(a.Code, 0xc3)
	a.end()
}

// Jmp branches to a label.
func (a *Asm) Jmp(l Label) {
	if w := a.low; w != nil {
		if a.labels[l] >= 0 {
			w.settle(l)
		} else {
			l = w.branchTo(l)
		}
	}
	a.jmp(l)
	a.end()
}

func (a *Asm) jmp(l Label) {
	a.Code = append(a.Code, 0xe9)
	a.branch(l)
}

// J branches by a condition.
func (a *Asm) J(c Cond, l Label) {
	a.condition()
	if a.low != nil {
		l = a.low.branchTo(l)
	}
	a.j(c, l)
}

func (a *Asm) j(c Cond, l Label) {
	a.Code = append(a.Code, 0x0f, 0x80|byte(c))
	a.branch(l)
}

func (a *Asm) branch(l Label) {
	a.fixups = append(a.fixups, fixup{len(a.Code), l})
	a.imm32(0)
}

// LeaLabel loads the address of a label.
func (a *Asm) LeaLabel(d GPR, l Label) {
	a.changes(d, d)
	a.Code = append(a.Code, 0x48|ext(d)<<2, 0x8d, uint8(d&7)<<3|5)
	a.branch(l)
}

// AddM is AddM32 for 64 bits.
func (a *Asm) AddM(m Mem, s GPR) { a.rm(true, s, m, 0x01) }

// St16 stores the low 16 bits.
func (a *Asm) St16(m Mem, s GPR) { a.Code = append(a.Code, 0x66); a.rm(false, s, m, 0x89) }

// St8 stores the low byte of RAX, RCX, RDX, RBX or R8 to R15.
func (a *Asm) St8(m Mem, s GPR) { a.rm(false, s, m, 0x88) }
