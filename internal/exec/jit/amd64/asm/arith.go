package asm

// Arith is an operation of two operands, by its number in the encoding's first group.
type Arith uint8

// The arithmetic operations.
const (
	ArithAdd Arith = 0
	ArithOr  Arith = 1
	ArithAnd Arith = 4
	ArithSub Arith = 5
	ArithXor Arith = 6
	ArithCmp Arith = 7
)

// RR is d = d op s, of 64 bits when w is set, else 32.
func (a *Asm) RR(k Arith, w bool, d, s GPR) { a.rr(w, s, d, byte(k)<<3|1) }

// RM is RR with a source in memory.
func (a *Asm) RM(k Arith, w bool, d GPR, m Mem) { a.rm(w, d, m, byte(k)<<3|3) }

// RI is RR with a constant, which is sign-extended.
func (a *Asm) RI(k Arith, w bool, d GPR, v int32) { a.group1(w, GPR(k), d, v) }

// MI is an operation on memory with a constant.
func (a *Asm) MI(k Arith, w bool, m Mem, v int32) { a.group1M(w, GPR(k), m, v) }

// MR is an operation on memory with a register.
func (a *Asm) MR(k Arith, w bool, m Mem, s GPR) { a.rm(w, s, m, byte(k)<<3|1) }

// MovR and LdR move between registers and from memory; 32-bit moves clear the upper half. StR moves to memory.
func (a *Asm) MovR(w bool, d, s GPR)    { a.rr(w, s, d, 0x89) }
func (a *Asm) LdR(w bool, d GPR, m Mem) { a.rm(w, d, m, 0x8b) }
func (a *Asm) StR(w bool, m Mem, s GPR) { a.rm(w, s, m, 0x89) }

// MovSXD sign-extends 32 bits.
func (a *Asm) MovSXD(d, s GPR) { a.rr(true, d, s, 0x63) }

// ImulR is d = d * s; ImulM takes s from memory, ImulI a constant.
func (a *Asm) ImulR(w bool, d, s GPR)          { a.rr(w, d, s, 0x0f, 0xaf) }
func (a *Asm) ImulM(w bool, d GPR, m Mem)      { a.rm(w, d, m, 0x0f, 0xaf) }
func (a *Asm) ImulI(w bool, d, s GPR, v int32) { a.rr(w, d, s, 0x69); a.imm32(uint32(v)) }

// NotR and NegR are complements.
func (a *Asm) NotR(w bool, d GPR) { a.rr(w, 2, d, 0xf7) }
func (a *Asm) NegR(w bool, d GPR) { a.rr(w, 3, d, 0xf7) }

// ScalarShift is a shift of a general register, by its number in the encoding.
type ScalarShift uint8

// The shifts of ShiftI and ShiftCL.
const (
	ScalarShl ScalarShift = 4
	ScalarShr ScalarShift = 5
	ScalarSar ScalarShift = 7
)

// ShiftI shifts by a constant, ShiftCL by CL.
func (a *Asm) ShiftI(kind ScalarShift, w bool, d GPR, n uint8) {
	a.rr(w, GPR(kind), d, 0xc1)
	a.Code = append(a.Code, n)
}
func (a *Asm) ShiftCL(kind ScalarShift, w bool, d GPR) { a.rr(w, GPR(kind), d, 0xd3) }

// CmovR moves by a condition.
func (a *Asm) CmovR(c Cond, w bool, d, s GPR) {
	a.condition()
	a.rr(w, d, s, 0x0f, 0x40|byte(c))
}

// Bsr32 finds the highest set bit.
func (a *Asm) Bsr32(d, s GPR) { a.rr(false, d, s, 0x0f, 0xbd) }

// MovZX8 zero-extends the low byte of RAX, RCX, RDX or RBX.
func (a *Asm) MovZX8(d, s GPR) { a.rr(false, d, s, 0x0f, 0xb6) }

// JmpM branches to the address in memory, JmpR to the one in a register.
func (a *Asm) JmpM(m Mem) {
	a.empty()
	a.rm(false, 4, m, 0xff)
	a.end()
}
func (a *Asm) JmpR(r GPR) {
	a.empty()
	a.rr(false, 4, r, 0xff)
	a.end()
}

// Call calls the routine at a label, which returns with Ret. Where instructions are lowered, all values stand in the
// file.
func (a *Asm) Call(l Label) {
	a.held = 0
	a.empty()
	a.Code = append(a.Code, 0xe8)
	a.branch(l)
}

// LdMXCSR and StMXCSR load and store the register that says how floating-point results round.
func (a *Asm) LdMXCSR(m Mem) { a.rm(false, 2, m, 0x0f, 0xae) }
func (a *Asm) StMXCSR(m Mem) { a.rm(false, 3, m, 0x0f, 0xae) }

// Popcnt32 counts set bits.
func (a *Asm) Popcnt32(d, s GPR) { a.Code = append(a.Code, 0xf3); a.rr(false, d, s, 0x0f, 0xb8) }

// The remaining operations of the first group: with the carry flag.
const (
	ArithAdc Arith = 2
	ArithSbb Arith = 3
)

// MulR, ImulWideR, DivR and IdivR work on RDX:RAX, unsigned and signed.
func (a *Asm) MulR(w bool, s GPR)      { a.rr(w, 4, s, 0xf7) }
func (a *Asm) ImulWideR(w bool, s GPR) { a.rr(w, 5, s, 0xf7) }
func (a *Asm) DivR(w bool, s GPR)      { a.rr(w, 6, s, 0xf7) }
func (a *Asm) IdivR(w bool, s GPR)     { a.rr(w, 7, s, 0xf7) }

// SignRAX fills RDX with the sign of RAX (cdq, cqo).
func (a *Asm) SignRAX(w bool) {
	if w {
		a.Code = append(a.Code, 0x48)
	}
	a.Code = append(a.Code, 0x99)
}

// BsrR and BsfR find the highest and the lowest set bit.
func (a *Asm) BsrR(w bool, d, s GPR) { a.rr(w, d, s, 0x0f, 0xbd) }
func (a *Asm) BsfR(w bool, d, s GPR) { a.rr(w, d, s, 0x0f, 0xbc) }

// Popcnt64 counts set bits.
func (a *Asm) Popcnt64(d, s GPR) { a.Code = append(a.Code, 0xf3); a.rr(true, d, s, 0x0f, 0xb8) }

// BswapR reverses bytes.
func (a *Asm) BswapR(w bool, d GPR) {
	if rex := bit(w)<<3 | ext(d); rex != 0 {
		a.Code = append(a.Code, 0x40|rex)
	}
	a.changes(d, d)
	a.Code = append(a.Code, 0x0f, 0xc8|uint8(d&7))
}

// Bt32 copies bit n (a register) of s to the carry flag; BtsM32 sets bit n of memory.
func (a *Asm) Bt32(s, n GPR)       { a.rr(false, n, s, 0x0f, 0xa3) }
func (a *Asm) Bts32(s, n GPR)      { a.rr(false, n, s, 0x0f, 0xab) }
func (a *Asm) BtsM32(m Mem, n GPR) { a.rm(false, n, m, 0x0f, 0xab) }

// MovZX16 and the others extend the low 16 or 8 bits (8 of RAX, RCX, RDX or RBX).
func (a *Asm) MovZX16(d, s GPR) { a.rr(false, d, s, 0x0f, 0xb7) }
func (a *Asm) MovSX16(d, s GPR) { a.rr(false, d, s, 0x0f, 0xbf) }
func (a *Asm) MovSX8(d, s GPR)  { a.rr(false, d, s, 0x0f, 0xbe) }

// TestR is test of two registers.
func (a *Asm) TestR(w bool, d, s GPR) { a.rr(w, s, d, 0x85) }

// LockCmpxchg is lock cmpxchg with RAX; XchgM exchanges.
func (a *Asm) LockCmpxchg(w bool, m Mem, s GPR) {
	a.Code = append(a.Code, 0xf0)
	a.rm(w, s, m, 0x0f, 0xb1)
}
func (a *Asm) XchgM(w bool, m Mem, s GPR) { a.rm(w, s, m, 0x87) }

// LockCmpxchg16 is lock cmpxchg16b: of RDX:RAX, and RCX:RBX to be stored.
func (a *Asm) LockCmpxchg16(m Mem) { a.Code = append(a.Code, 0xf0); a.rm(true, 1, m, 0x0f, 0xc7) }

// Prefetch asks for a line, for the second level of caches: there more can be under way at a time than loads can wait
// for.
func (a *Asm) Prefetch(m Mem) { a.rm(false, 2, m, 0x0f, 0x18) }

// SFence orders stores, MovNT among them.
func (a *Asm) SFence() { a.Code = append(a.Code, 0x0f, 0xae, 0xf8) }

// MFence orders all memory accesses.
func (a *Asm) MFence() { a.Code = append(a.Code, 0x0f, 0xae, 0xf0) }
