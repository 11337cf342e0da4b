package asm

// vexRR writes a VEX instruction of registers. length is L, prefix pp, space mmmmm.
func (a *Asm) vexRR(length, prefix, space, w, op byte, reg, vvvv, rm uint8) {
	a.changes(GPR(reg), GPR(rm))
	a.changes(GPR(vvvv), GPR(vvvv))
	a.Code = append(a.Code, 0xc4, (^ext(reg)&1)<<7|1<<6|(^ext(rm)&1)<<5|space, w<<7|(^vvvv&15)<<3|length<<2|prefix, op,
		0xc0|(reg&7)<<3|rm&7)
}

// mask writes an instruction of mask registers.
func (a *Asm) mask(length, prefix, space, w, op byte, reg, vvvv, rm uint8) {
	if a.low != nil {
		panic("asm: a mask instruction in code for AVX2")
	}
	a.vexRR(length, prefix, space, w, op, reg, vvvv, rm)
}

func (a *Asm) vexM(length, prefix, space, w, op byte, reg uint8, m Mem) {
	a.Code = append(a.Code, 0xc4, (^ext(reg)&1)<<7|(^ext(m.Index)&1)<<6|(^ext(m.Base)&1)<<5|space,
		w<<7|15<<3|length<<2|prefix, op)
	a.memory(reg, m, 1)
}

// VZeroUpper clears the upper parts of the vector registers 0 to 15; nothing needs vector registers behind it.
func (a *Asm) VZeroUpper() {
	a.Code = append(a.Code, 0xc5, 0xf8, 0x77)
	if a.low != nil {
		a.low.reset()
	}
}

// The mask instructions; the last letter is the width: B 8, W 16, D 32 bits.

// KMovDR moves to a mask from a general register, KMovDM from memory.
func (a *Asm) KMovDR(k Mask, r GPR) {
	if w := a.low; w != nil {
		w.setMask(k, maskInFile)
		a.St32(w.maskMem(k), r)
		return
	}
	a.mask(0, 3, 1, 0, 0x92, uint8(k), 0, uint8(r))
}

func (a *Asm) KMovDM(k Mask, m Mem) {
	if w := a.low; w != nil {
		w.begin()
		t := w.temp()
		w.x(vexMovToX, t, 0, inMem(m))
		w.keepMask(k, t)
		return
	}
	a.vexM(0, 1, 1, 1, 0x90, uint8(k), m)
}

// KMovRD, KMovRW and KMovRB move to a general register.
func (a *Asm) KMovRD(r GPR, k Mask) { a.kMovR(3, 32, r, k) }
func (a *Asm) KMovRW(r GPR, k Mask) { a.kMovR(0, 16, r, k) }
func (a *Asm) KMovRB(r GPR, k Mask) { a.kMovR(1, 8, r, k) }

func (a *Asm) kMovR(prefix byte, n int, r GPR, k Mask) {
	if a.low != nil {
		a.low.maskToReg(k, r, n)
		return
	}
	a.mask(0, prefix, 1, 0, 0x93, uint8(r), 0, uint8(k))
}

// KMovPair puts two masks of 16 bits into a general register, hi above lo. tmp and the flags are lost.
func (a *Asm) KMovPair(to, tmp GPR, lo, hi Mask) {
	if a.low != nil {
		a.low.maskPair(to, tmp, lo, hi)
		return
	}
	a.KMovRD(to, lo)
	a.KMovRD(tmp, hi)
	a.ShlI32(tmp, 16)
	a.Or32(to, tmp)
}

// KMovQ copies all of a mask; 32 bits of one are ever used.
func (a *Asm) KMovQ(d, s Mask) {
	if a.low != nil {
		a.low.maskCopy(d, s)
		return
	}
	a.mask(0, 0, 1, 1, 0x90, uint8(d), 0, uint8(s))
}

func (a *Asm) kLogic(prefix, w, op byte, n int, d, x, y Mask) {
	if a.low == nil {
		a.mask(1, prefix, 1, w, op, uint8(d), uint8(x), uint8(y))
		return
	}
	v := map[byte]Op{0x41: AndD, 0x42: AndND, 0x45: OrD, 0x46: XorD, 0x47: XorD}[op]
	a.low.maskLogic(v, op == 0x46, n, d, x, y)
}

func (a *Asm) KAndD(d, x, y Mask)  { a.kLogic(1, 1, 0x41, 32, d, x, y) }
func (a *Asm) KAndW(d, x, y Mask)  { a.kLogic(0, 0, 0x41, 16, d, x, y) }
func (a *Asm) KAndNW(d, x, y Mask) { a.kLogic(0, 0, 0x42, 16, d, x, y) } // ~x & y
func (a *Asm) KOrD(d, x, y Mask)   { a.kLogic(1, 1, 0x45, 32, d, x, y) }
func (a *Asm) KOrW(d, x, y Mask)   { a.kLogic(0, 0, 0x45, 16, d, x, y) }
func (a *Asm) KOrB(d, x, y Mask)   { a.kLogic(1, 0, 0x45, 8, d, x, y) }
func (a *Asm) KXnorW(d, x, y Mask) { a.kLogic(0, 0, 0x46, 16, d, x, y) }
func (a *Asm) KXorW(d, x, y Mask)  { a.kLogic(0, 0, 0x47, 16, d, x, y) }

// KNotW is the complement.
func (a *Asm) KNotW(d, s Mask) {
	if w := a.low; w != nil {
		t := w.loadMask(s, 32)
		w.x(XorD, t, t, w.splatD(0xffffffff))
		w.x(AndD, t, t, w.splatD(0xffff))
		w.keepMask(d, t)
		return
	}
	a.mask(0, 0, 1, 0, 0x44, uint8(d), 0, uint8(s))
}

// KUnpackBW and KUnpackWD put x in the upper half, y in the lower.
func (a *Asm) KUnpackBW(d, x, y Mask) {
	if a.low != nil {
		a.low.unpack(8, d, x, y)
		return
	}
	a.mask(1, 1, 1, 0, 0x4b, uint8(d), uint8(x), uint8(y))
}

func (a *Asm) KUnpackWD(d, x, y Mask) {
	if a.low != nil {
		a.low.unpack(16, d, x, y)
		return
	}
	a.mask(1, 0, 1, 0, 0x4b, uint8(d), uint8(x), uint8(y))
}

// KShiftRD shifts right by a constant.
func (a *Asm) KShiftRD(d, s Mask, n uint8) {
	if a.low != nil {
		a.low.maskShiftR(d, s, n)
		return
	}
	a.mask(0, 1, 3, 0, 0x31, uint8(d), 0, uint8(s))
	a.Code = append(a.Code, n)
}

// KOrTestW and KOrTestB set ZF when both are zero. CF, all ones, is that of AVX-512 only.
func (a *Asm) KOrTestW(x, y Mask) {
	if a.low != nil {
		a.low.maskTest(16, x, y)
		return
	}
	a.mask(0, 0, 1, 0, 0x98, uint8(x), 0, uint8(y))
}

func (a *Asm) KOrTestB(x, y Mask) {
	if a.low != nil {
		a.low.maskTest(8, x, y)
		return
	}
	a.mask(0, 1, 1, 0, 0x98, uint8(x), 0, uint8(y))
}
