package asm

// Floats.

// lowerRange is min and max of floats with zeros in order: their bits are compared as numbers.
func lowerRange(w *lowering, i *inst) {
	if i.imm&^1 != 4 {
		w.refuse(i.op)
		return
	}
	i.each(w, func(h int) uint8 {
		a, b := w.use(i.vvvv, h), i.breg(w, h)
		x, y, t := w.temp(), w.temp(), w.temp()
		cmp, quiet := CmpPS, w.splatD(1<<22)
		if i.q {
			cmp, quiet = CmpPD, w.splatQ(1<<51)
		}
		for _, p := range [][2]uint8{{x, a}, {y, b}} {
			if i.q {
				w.r(XorD, t, t, t)
				w.r(vexCmpGtQ, t, t, p[1])
				w.shiftQ(ShiftSrl, t, t, 1)
			} else {
				w.shiftD(ShiftSra, t, p[1], 31)
				w.shiftD(ShiftSrl, t, t, 1)
			}
			w.r(XorD, p[0], t, p[1])
		}
		gt := vexCmpGtD
		if i.q {
			gt = vexCmpGtQ
		}
		w.r(gt, x, x, y) // a > b
		if i.imm&1 == 0 {
			w.blend(x, a, inReg(b), x)
		} else {
			w.blend(x, b, inReg(a), x)
		}
		// A number beside a quiet NaN; two NaNs give the first, and one that signals goes before.
		w.compareFloat(cmp, t, b, inReg(b), FloatUnord)
		w.blend(x, x, inReg(a), t)
		w.compareFloat(cmp, y, a, inReg(a), FloatUnord)
		w.r(AndND, y, t, y) // a only
		w.blend(x, x, inReg(b), y)
		eq := vexCmpEqD
		if i.q {
			eq = vexCmpEqQ
		}
		for _, s := range []uint8{b, a} {
			u := w.temp()
			w.r(XorD, u, u, u)
			w.e(AndD, y, s, quiet)
			w.r(eq, y, y, u)
			w.compareFloat(cmp, t, s, inReg(s), FloatUnord)
			w.r(AndD, t, t, y) // signals
			w.e(OrD, u, s, quiet)
			w.blend(x, x, inReg(u), t)
			w.free(u)
		}
		return x
	})
}

func lowerRound(w *lowering, i *inst) {
	if i.imm>>4 != 0 {
		w.refuse(i.op)
		return
	}
	v := vexRoundPS
	if i.q {
		v = vexRoundPD
	}
	for h := range i.halves {
		w.next(i)
		b := i.b(w, h)
		p := i.target(w, i.reg, h)
		w.a.vexW(v, 0, i.length, p, 0, b, i.imm)
		i.finish(w, i.reg, h, p)
	}
	i.short(w, i.reg)
}

func lowerCvtUDQ2PS(w *lowering, i *inst) {
	i.each(w, func(h int) uint8 {
		s := i.breg(w, h)
		hi, lo := w.temp(), w.temp()
		w.shiftD(ShiftSrl, hi, s, 16)
		w.e(AndD, lo, s, w.splatD(0xffff))
		w.r(CvtDQ2PS, hi, 0, hi)
		w.r(CvtDQ2PS, lo, 0, lo)
		w.e(MulPS, hi, hi, w.splatD(0x47800000)) // 65536, exact
		w.r(AddPS, hi, hi, lo)
		return hi
	})
}

func lowerCvtTPS2UDQ(w *lowering, i *inst) {
	i.each(w, func(h int) uint8 {
		s := i.breg(w, h)
		t, u := w.temp(), w.temp()
		big := w.splatD(0x4f000000) // 2^31
		w.compareFloat(CmpPS, t, s, big, FloatGE)
		w.e(AndD, u, t, big)
		w.r(SubPS, u, s, u)
		w.r(CvtTPS2DQ, u, 0, u)
		w.shiftD(ShiftSll, t, t, 31)
		w.r(XorD, u, u, t)
		w.compareFloat(CmpPS, t, s, w.splatD(0xbf800000), FloatLEU) // not above -1
		w.r(OrD, u, u, t)
		w.compareFloat(CmpPS, t, s, w.splatD(0x4f800000), FloatGEU) // not below 2^32
		w.r(OrD, u, u, t)
		return u
	})
}

func lowerCvtUDQ2PD(w *lowering, i *inst) {
	i.q = true
	i.parts(w, 16, func(d uint8, s source) {
		w.e(MovZXDQ, d, 0, s)
		w.e(OrD, d, d, w.splatQ(0x4330000000000000))
		w.e(SubPD, d, d, w.splatQ(0x4330000000000000)) // 2^52
	})
}

func lowerCvtTPD2UDQ(w *lowering, i *inst) {
	i.joined(w, func(d uint8, s source) {
		t := w.temp()
		w.a.vex(MovU32, 1, d, 0, s)
		w.compareFloat(CmpPD, t, d, w.splatQ(0xbff0000000000000), FloatLEU)
		u := w.temp()
		w.compareFloat(CmpPD, u, d, w.splatQ(0x41f0000000000000), FloatGEU)
		w.r(OrD, t, t, u)
		w.r(vexRoundPD, d, 0, d, 11)
		w.e(AddPD, d, d, w.splatQ(0x4330000000000000))
		w.r(OrD, d, d, t)
	})
}

// joined lowers a conversion of 64- to 32-bit elements; f leaves the 32 bits in the lower halves.
func (i *inst) joined(w *lowering, f func(d uint8, s source)) {
	if i.halves != 2 {
		w.refuse(i.op)
		return
	}
	i.q = false
	var r [2]uint8
	for h := range r {
		w.next(i)
		if h == 1 {
			w.lock(r[0])
		}
		i.q = true
		s := i.b(w, h)
		i.q = false
		r[h] = w.temp()
		f(r[h], s)
	}
	w.r(vexShufPS, r[0], r[0], r[1], 0x88)
	w.r(vexPermQI, r[0], 0, r[0], 0xd8)
	i.finish(w, i.reg, 0, r[0])
	w.zero(i.reg, 1)
}

// narrow is a conversion of 64- to 32-bit elements that AVX2 has.
func narrow(v Op) lowerFunc {
	return func(w *lowering, i *inst) {
		if i.halves != 2 {
			w.refuse(i.op)
			return
		}
		var r [2]uint8
		for h := range r {
			w.next(i)
			if h == 1 {
				w.lock(r[0])
			}
			s := i.b(w, h)
			r[h] = w.temp()
			w.e(v, r[h], 0, s)
		}
		i.q = false
		w.r(vexInsert128, r[0], r[0], r[1], 1)
		i.finish(w, i.reg, 0, r[0])
		w.zero(i.reg, 1)
	}
}

func lowerCvtPS2PH(w *lowering, i *inst) {
	if i.halves != 2 || i.o.K != 0 {
		w.refuse(i.op)
		return
	}
	if i.rm.kind == fromMem {
		for h := range 2 {
			w.begin()
			w.e(i.op, w.use(i.reg, h), 0, i.rm.at(int32(16*h)), i.imm)
		}
		return
	}
	var r [2]uint8
	for h := range r {
		w.begin()
		if h == 1 {
			w.lock(r[0])
		}
		s := w.use(i.reg, h)
		r[h] = w.temp()
		w.r(i.op, s, 0, r[h], i.imm)
	}
	w.r(vexInsert128, r[0], r[0], r[1], 1)
	w.assign(i.rm.reg, 0, r[0])
	w.zero(i.rm.reg, 1)
}

// lowerCvtQQ2PD adds the halves as floats: their sum is the one rounding.
func lowerCvtQQ2PD(w *lowering, i *inst) {
	upper, bias := uint64(0x4530000080000000), uint64(0x4530000080100000) // 2^84 and the sign; 2^84 + 2^63 + 2^52
	if i.op == CvtUQQ2PD {
		upper, bias = 0x4530000000000000, 0x4530000000100000
	}
	i.each(w, func(h int) uint8 {
		s := i.breg(w, h)
		hi, lo := w.temp(), w.temp()
		w.shiftQ(ShiftSrl, hi, s, 32)
		w.e(XorD, hi, hi, w.splatQ(upper))
		w.e(SubPD, hi, hi, w.splatQ(bias))
		w.e(blendD, lo, s, w.splatQ(0x4330000000000000), 0xaa)
		w.r(AddPD, hi, hi, lo)
		// Zero is positive, however the sum rounds.
		w.r(XorD, lo, lo, lo)
		w.r(vexCmpEqQ, lo, lo, s)
		w.r(AndND, hi, lo, hi)
		return hi
	})
}

func lowerCvtTPD2QQ(w *lowering, i *inst) {
	if i.halves != 2 || i.o.Bcast {
		w.refuse(i.op)
		return
	}
	m := i.rm
	switch {
	case m.kind == fromReg:
		w.clean(m.reg, 0)
		w.clean(m.reg, 1)
		m = inMem(w.home(2 * int(m.reg)))
	case m.kind == fromLabel || i.o.K != 0 && !w.safe(m):
		w.refuse(i.op)
		return
	}
	r := w.save(1, m.mem.Base, m.mem.Index)
	for n := range int32(8) {
		w.a.vexW(vexCvtTSD2SI, 1, 0, uint8(r[0]), 0, m.at(8*n))
		w.a.St(w.file(fileScratch+8*n), r[0])
	}
	w.restore(r)
	i.each(w, func(h int) uint8 {
		t := w.temp()
		w.load(t, w.file(fileScratch+int32(32*h)))
		return t
	})
}

// lowerCvtPD2UQQ rounds first; what is left converts one by one.
func lowerCvtPD2UQQ(w *lowering, i *inst) {
	i.each(w, func(h int) uint8 {
		b := i.b(w, h)
		t, big, u := w.temp(), w.temp(), w.temp()
		w.e(vexRoundPD, t, 0, b, 12) // as MXCSR says
		limit := w.splatQ(0x43e0000000000000)
		w.compareFloat(CmpPD, big, t, limit, FloatGE)
		w.e(AndD, u, big, limit)
		w.r(SubPD, u, t, u)
		w.store(w.file(fileScratch), u)
		g := w.save(1)
		for n := range int32(4) {
			m := w.file(fileScratch + 8*n)
			w.a.vexW(vexCvtTSD2SI, 1, 0, uint8(g[0]), 0, inMem(m))
			w.a.St(m, g[0])
		}
		w.restore(g)
		w.load(u, w.file(fileScratch))
		w.shiftQ(ShiftSll, big, big, 63)
		w.r(XorD, u, u, big)
		w.compareFloat(CmpPD, big, t, w.splatQ(0), FloatLTU) // not zero or more
		w.r(OrD, u, u, big)
		w.compareFloat(CmpPD, big, t, w.splatQ(0x43f0000000000000), FloatGEU) // not below 2^64
		w.r(OrD, u, u, big)
		return u
	})
}

// lowerCvtQQ2PS converts one by one. What is too large for a signed number loses its last bit, which must not be lost
// to rounding, and is doubled.
func lowerCvtQQ2PS(w *lowering, i *inst) {
	if i.halves != 2 {
		w.refuse(i.op)
		return
	}
	var s [2]uint8
	for h := range s {
		w.next(i)
		if h == 1 {
			w.lock(s[0])
		}
		x := i.breg(w, h)
		t, u := w.temp(), w.temp()
		s[h] = w.sign(x)
		if i.op == CvtUQQ2PS {
			w.shiftQ(ShiftSrl, t, x, 1)
			w.e(AndD, u, x, w.splatQ(1))
			w.r(OrD, t, t, u)
			w.blend(t, x, inReg(t), s[h])
			x = t
		}
		w.store(w.file(fileScratch+int32(32*h)), x)
	}
	t := w.temp()
	w.r(XorD, t, t, t)
	for n := range int32(8) {
		w.a.vexW(vexCvtSI2SS, 1, 0, t, t, inMem(w.file(fileScratch+8*n)))
		w.a.vex(vexMovSSSt, 0, t, 0, inMem(w.file(fileScratch+4*n)))
	}
	w.load(t, w.file(fileScratch))
	if i.op == CvtUQQ2PS {
		u := w.temp()
		w.r(vexShufPS, s[0], s[0], s[1], 0x88)
		w.r(vexPermQI, s[0], 0, s[0], 0xd8)
		w.r(AddPS, u, t, t)
		w.blend(t, t, inReg(u), s[0])
	}
	i.q = false
	i.finish(w, i.reg, 0, t)
	w.zero(i.reg, 1)
}
