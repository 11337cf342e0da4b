package asm

// Masks of code for processors without AVX-512.

// setMask says where a mask's value stands from now on.
func (w *registers) setMask(k Mask, at uint8) {
	for h := range 2 {
		w.drop(maskD + 2*int(k) + h)
		w.drop(maskQ + 2*int(k) + h)
	}
	w.masks[k] = maskState{at: at}
}

func (w *lowering) setMaskConst(k Mask, v uint32) {
	w.setMask(k, maskConst)
	w.masks[k].value = v
}

// setMaskVectors makes two registers a mask's value.
func (w *lowering) setMaskVectors(k Mask, q bool, lo, hi uint8) {
	at, first := uint8(maskAsD), maskD
	if q {
		at, first = maskAsQ, maskQ
	}
	w.setMask(k, at)
	for h, p := range [2]uint8{lo, hi} {
		v := first + 2*int(k) + h
		w.phys[p].value, w.phys[p].dirty = int8(v), false
		w.where[v] = int8(p)
	}
}

// mask returns a register with a half of a mask as vector.
func (w *lowering) mask(k Mask, q bool, h int) uint8 {
	first, lanes := maskD, 8
	if q {
		first, lanes = maskQ, 4
	}
	w.tighten(k)
	v := first + 2*int(k) + h
	if p := w.where[v]; p >= 0 {
		return w.lock(uint8(p))
	}
	if m := w.masks[k]; m.at == maskConst {
		all := uint32(1)<<lanes - 1
		if part := m.value >> (lanes * h) & all; part == 0 || part == all {
			p := w.temp()
			op := XorD
			if part != 0 {
				op = vexCmpEqD
			}
			w.r(op, p, p, p)
			w.phys[p].value = int8(v)
			w.where[v] = int8(p)
			return p
		}
	}
	if w.masks[k].at != maskInFile {
		w.storeMask(k, false)
	}
	p := w.temp()
	w.expand(v, p)
	w.phys[p].value = int8(v)
	w.where[v] = int8(p)
	return p
}

// tighten makes a loose mask's elements all ones or zero. It takes no other registers.
func (w *lowering) tighten(k Mask) {
	m := &w.masks[k]
	if !m.loose || m.at != maskAsD && m.at != maskAsQ {
		return
	}
	m.loose = false
	first, eq := maskD, vexCmpEqD
	if m.at == maskAsQ {
		first, eq = maskQ, vexCmpEqQ
	}
	for h := range 2 {
		p := w.lock(uint8(w.where[first+2*int(k)+h]))
		w.e(eq, p, p, w.splatD(0))
		w.not(p)
	}
}

// expand makes half a mask's vector, v by number, from the mask in the file.
func (w *lowering) expand(v int, p uint8) {
	q := v >= maskQ
	k, h := (v-halfRegs)%16/2, v&1
	var bits [8]uint32
	for i := range bits {
		if q {
			bits[i] = 1 << (4*h + i/2)
		} else {
			bits[i] = 1 << (8*h + i)
		}
	}
	b := w.constant(bits)
	w.e(BroadcastD, p, 0, inMem(w.maskMem(Mask(k))))
	w.e(AndD, p, p, b)
	w.e(vexCmpEqD, p, p, b)
}

// storeMask puts a mask into the file. destroy says that its vectors are given up.
func (w *lowering) storeMask(k Mask, destroy bool) {
	if m := w.masks[k]; m.at == maskConst {
		w.a.rm(true, 0, w.maskMem(k), 0xc7)
		w.a.imm32(m.value) // sign-extended: the upper half does not count
	} else {
		w.a.St(w.file(fileRAX), RAX)
		w.packMask(k, RAX, destroy)
		w.a.St(w.maskMem(k), RAX)
		w.a.Ld(RAX, w.file(fileRAX))
	}
	if destroy {
		w.setMask(k, maskInFile)
	}
	w.masks[k].at = maskInFile
}

// packMask puts a mask that stands in vectors into a general register. When they are given up it takes no other
// registers.
func (w *lowering) packMask(k Mask, to GPR, destroy bool) {
	w.tighten(k)
	q := w.masks[k].at == maskAsQ
	first := maskD
	if q {
		first = maskQ
	}
	lo, hi := uint8(w.where[first+2*int(k)]), uint8(w.where[first+2*int(k)+1])
	w.lock(lo)
	w.lock(hi)
	t, u := lo, hi
	if !destroy {
		t, u = w.temp(), w.temp()
	}
	if q {
		w.r(vexShufPS, t, lo, hi, 0x88)
		w.r(vexPermQI, t, 0, t, 0xd8)
		w.r(vexMovMskPS, uint8(to), 0, t)
		return
	}
	w.r(vexPackSSDW, t, lo, hi)
	w.r(vexPermQI, t, 0, t, 0xd8)
	w.extract(u, t)
	w.a.vex(vexPackSSWB, 0, t, t, inReg(u))
	w.a.vex(vexMovMskB, 0, uint8(to), 0, inReg(t))
}

// maskToReg puts the low n bits of a mask into a general register; flags stay.
func (w *lowering) maskToReg(k Mask, to GPR, n int) {
	switch m := w.masks[k]; m.at {
	case maskConst:
		w.a.MovI32(to, m.value&uint32(1<<n-1))
		return
	case maskAsD:
		w.begin()
		w.packMask(k, to, false)
		if n == 8 {
			w.movzx8(to)
		}
		return
	case maskAsQ:
		w.begin()
		w.packMask(k, to, false)
		return
	}
	switch n {
	case 8:
		w.a.Ld8(to, w.maskMem(k))
	case 16:
		w.a.Ld16(to, w.maskMem(k))
	default:
		w.a.Ld32(to, w.maskMem(k))
	}
}

// movzx8 zero-extends the low byte of any register.
func (w *lowering) movzx8(r GPR) {
	w.a.Code = append(w.a.Code, 0x40|ext(r)<<2|ext(r), 0x0f, 0xb6, 0xc0|uint8(r&7)<<3|uint8(r&7))
}

// needMask makes sure that a mask is in the file.
func (w *lowering) needMask(k Mask) Mem {
	if w.masks[k].at != maskInFile {
		w.begin()
		w.storeMask(k, false)
	}
	return w.maskMem(k)
}

// xmm instructions between masks in the file.
func (w *lowering) x(op Op, d, a uint8, b source, imm ...byte) { w.a.vex(op, 0, d, a, b, imm...) }

// loadMask puts the low n bits of a mask into an xmm register.
func (w *lowering) loadMask(k Mask, n int) uint8 {
	m := w.needMask(k)
	w.begin()
	t := w.temp()
	w.x(vexMovToX, t, 0, inMem(m))
	if n < 32 {
		w.x(AndD, t, t, w.splatD(1<<n-1))
	}
	return t
}

// keepMask stores a mask from an xmm register.
func (w *lowering) keepMask(k Mask, t uint8) {
	w.x(vexMovFromX, t, 0, inMem(w.maskMem(k)))
	w.setMask(k, maskInFile)
}

// Logic of masks, as vpand, vpandn, vpor and vpxor have it; xnor is the complement of xor.
func (w *lowering) maskLogic(op Op, complement bool, n int, d, x, y Mask) {
	if complement && x == y { // the usual way to set all
		w.setMaskConst(d, uint32(1<<n-1))
		return
	}
	for _, form := range []uint8{maskAsD, maskAsQ} {
		if w.masks[x].at != form || w.masks[y].at != form || complement || n == 8 && form == maskAsD {
			continue
		}
		w.begin()
		q := form == maskAsQ
		loose := (w.masks[x].loose || w.masks[y].loose) && op == OrD
		if !loose {
			w.tighten(x)
			w.tighten(y)
		}
		var p [2]uint8
		for h := range p {
			a, b := w.asIs(x, q, h), w.asIs(y, q, h)
			p[h] = w.temp()
			w.r(op, p[h], a, b)
		}
		w.setMaskVectors(d, q, p[0], p[1])
		w.masks[d].loose = loose
		return
	}
	m := w.needMask(y)
	t := w.loadMask(x, 32)
	u := w.temp()
	w.x(vexMovToX, u, 0, inMem(m))
	w.x(op, t, t, inReg(u))
	if complement {
		w.x(XorD, t, t, w.splatD(0xffffffff))
	}
	if n < 32 {
		w.x(AndD, t, t, w.splatD(1<<n-1))
	}
	w.keepMask(d, t)
}

// maskCopy copies 64 bits, of which 32 are ever used.
func (w *lowering) maskCopy(d, s Mask) {
	switch m := w.masks[s]; {
	case d == s:
	case m.at == maskConst:
		w.setMaskConst(d, m.value)
	case m.at != maskInFile:
		w.begin()
		q := m.at == maskAsQ
		var p [2]uint8
		for h := range p {
			a := w.mask(s, q, h)
			p[h] = w.temp()
			w.r(vexMovDQALd, p[h], 0, a)
		}
		w.setMaskVectors(d, q, p[0], p[1])
	default:
		// Vectors of it that are in registers are copied too.
		t := w.loadMask(s, 32)
		w.keepMask(d, t)
		for h := range 2 {
			for _, first := range []int{maskD, maskQ} {
				if p := w.where[first+2*int(s)+h]; p >= 0 {
					w.begin()
					w.lock(uint8(p))
					t := w.temp()
					w.r(vexMovDQALd, t, 0, uint8(p))
					v := first + 2*int(d) + h
					w.phys[t].value = int8(v)
					w.where[v] = int8(t)
				}
			}
		}
	}
}

func (w *lowering) maskShiftR(d, s Mask, n uint8) {
	t := w.loadMask(s, 32)
	w.x(vexShiftDI, uint8(ShiftSrl), t, inReg(t), n)
	w.keepMask(d, t)
}

// unpack puts the low n bits of x above those of y.
func (w *lowering) unpack(n uint8, d, x, y Mask) {
	m := w.needMask(y)
	t := w.loadMask(x, int(n))
	w.x(vexShiftDI, uint8(ShiftSll), t, inReg(t), n)
	u := w.temp()
	w.x(vexMovToX, u, 0, inMem(m))
	w.x(AndD, u, u, w.splatD(1<<n-1))
	w.x(OrD, t, t, inReg(u))
	w.keepMask(d, t)
}

// asIs is half of a mask that stands in vectors, which may be loose.
func (w *lowering) asIs(k Mask, q bool, h int) uint8 {
	first := maskD
	if q {
		first = maskQ
	}
	return w.lock(uint8(w.where[first+2*int(k)+h]))
}

// maskTest sets ZF when the low n bits of two masks are all zero. CF says nothing.
func (w *lowering) maskTest(n int, x, y Mask) {
	w.begin()
	var t uint8
	have := false
	add := func(p uint8) {
		if !have {
			t, have = w.temp(), true
			w.r(vexMovDQALd, t, 0, p)
			return
		}
		w.r(OrD, t, t, p)
	}
	ks := []Mask{x, y}
	if x == y {
		ks = ks[:1]
	}
	for _, k := range ks {
		switch at := w.masks[k].at; {
		case at == maskAsD && n == 8:
			add(w.asIs(k, false, 0))
		case at == maskAsD || at == maskAsQ:
			add(w.asIs(k, at == maskAsQ, 0))
			add(w.asIs(k, at == maskAsQ, 1))
		default:
			if at == maskConst {
				w.storeMask(k, false)
			}
			p := w.temp()
			w.x(vexMovToX, p, 0, inMem(w.maskMem(k)))
			w.x(AndD, p, p, w.splatD(1<<n-1))
			add(p)
		}
	}
	w.r(vexTest, t, 0, t)
	w.lost = false
}

// maskPair puts two masks into a general register.
func (w *lowering) maskPair(to, tmp GPR, lo, hi Mask) {
	if w.masks[lo].at != maskAsD || w.masks[hi].at != maskAsD || lo == hi {
		w.maskToReg(lo, to, 32)
		w.maskToReg(hi, tmp, 32)
		w.a.ShlI32(tmp, 16)
		w.a.Or32(to, tmp)
		return
	}
	w.begin()
	w.tighten(lo)
	w.tighten(hi)
	t, u := w.temp(), w.temp()
	w.r(vexPackSSDW, t, w.asIs(lo, false, 0), w.asIs(lo, false, 1))
	w.r(vexPackSSDW, u, w.asIs(hi, false, 0), w.asIs(hi, false, 1))
	// In units of four lanes: 0 2 4 6 | 1 3 5 7
	w.r(vexPackSSWB, t, t, u)
	w.e(MovU32, u, 0, w.constant([8]uint32{0, 4, 1, 5, 2, 6, 3, 7}))
	w.r(PermD, t, u, t)
	w.r(vexMovMskB, uint8(to), 0, t)
}
