package amd64asm

// vexRR writes a VEX instruction of registers. length is L, prefix pp, space mmmmm.
func (a *Asm) vexRR(length, prefix, space, w, op byte, reg, vvvv, rm uint8) {
	a.bytes(0xc4, (^ext(reg)&1)<<7|1<<6|(^ext(rm)&1)<<5|space, w<<7|(^vvvv&15)<<3|length<<2|prefix, op, 0xc0|(reg&7)<<3|rm&7)
}

func (a *Asm) vexM(length, prefix, space, w, op byte, reg uint8, m Mem) {
	a.bytes(0xc4, (^ext(reg)&1)<<7|(^ext(m.Index)&1)<<6|(^ext(m.Base)&1)<<5|space, w<<7|15<<3|length<<2|prefix, op)
	a.memory(reg, m, 1)
}

// VZeroUpper clears the upper parts of the vector registers 0 to 15.
func (a *Asm) VZeroUpper() { a.bytes(0xc5, 0xf8, 0x77) }

// The mask instructions; the last letter is the width: B 8, W 16, D 32 bits.

func (a *Asm) KMovDR(k, r uint8)       { a.vexRR(0, 3, 1, 0, 0x92, k, 0, r) } // mask from general register
func (a *Asm) KMovRD(r, k uint8)       { a.vexRR(0, 3, 1, 0, 0x93, r, 0, k) } // general register from mask
func (a *Asm) KMovRW(r, k uint8)       { a.vexRR(0, 0, 1, 0, 0x93, r, 0, k) }
func (a *Asm) KMovRB(r, k uint8)       { a.vexRR(0, 1, 1, 0, 0x93, r, 0, k) }
func (a *Asm) KMovQ(d, s uint8)        { a.vexRR(0, 0, 1, 1, 0x90, d, 0, s) }
func (a *Asm) KMovDM(k uint8, m Mem)   { a.vexM(0, 1, 1, 1, 0x90, k, m) }
func (a *Asm) KAndD(d, x, y uint8)     { a.vexRR(1, 1, 1, 1, 0x41, d, x, y) }
func (a *Asm) KAndW(d, x, y uint8)     { a.vexRR(1, 0, 1, 0, 0x41, d, x, y) }
func (a *Asm) KAndNW(d, x, y uint8)    { a.vexRR(1, 0, 1, 0, 0x42, d, x, y) } // ~x & y
func (a *Asm) KOrD(d, x, y uint8)      { a.vexRR(1, 1, 1, 1, 0x45, d, x, y) }
func (a *Asm) KOrW(d, x, y uint8)      { a.vexRR(1, 0, 1, 0, 0x45, d, x, y) }
func (a *Asm) KOrB(d, x, y uint8)      { a.vexRR(1, 1, 1, 0, 0x45, d, x, y) }
func (a *Asm) KXnorW(d, x, y uint8)    { a.vexRR(1, 0, 1, 0, 0x46, d, x, y) }
func (a *Asm) KXorW(d, x, y uint8)     { a.vexRR(1, 0, 1, 0, 0x47, d, x, y) }
func (a *Asm) KNotW(d, s uint8)        { a.vexRR(0, 0, 1, 0, 0x44, d, 0, s) }
func (a *Asm) KUnpackBW(d, x, y uint8) { a.vexRR(1, 1, 1, 0, 0x4b, d, x, y) } // x in the upper half
func (a *Asm) KUnpackWD(d, x, y uint8) { a.vexRR(1, 0, 1, 0, 0x4b, d, x, y) }
func (a *Asm) KShiftRD(d, s, n uint8)  { a.vexRR(0, 1, 3, 0, 0x31, d, 0, s); a.bytes(n) }
func (a *Asm) KOrTestW(x, y uint8)     { a.vexRR(0, 0, 1, 0, 0x98, x, 0, y) }
func (a *Asm) KOrTestB(x, y uint8)     { a.vexRR(0, 1, 1, 0, 0x98, x, 0, y) }
