package asm

// lowerings is how each vector instruction is written for AVX2. Gathers and scatters are in avx2_memory.go.
var lowerings = map[Op]lowerFunc{
	MovU32: lowerMove, MovU64: lowerMove, MovA32: lowerMove, MovA64: lowerMove,
	MovU32St: lowerStore, MovU64St: lowerStore, MovU8St: lowerStore, Op(MovD): lowerToScalar, Op(MovQ): lowerToScalar,
	AddD: three(AddD), AddQ: three(AddQ), SubD: three(SubD), SubQ: three(SubQ), MulLD: three(MulLD), AddW: words(AddW),
	MinUW: words(MinUW), MaxUW: words(MaxUW), MulHUW: words(MulHUW), MAddWD: three(MAddWD), MulUDQ: three(MulUDQ),
	MulDQ: three(MulDQ), MulLQ: lowerMulLQ,
	AddB: words(AddB), SubW: words(SubW), MaxSB: words(MaxSB), MaxSW: words(MaxSW),
	AndD: three(AndD), AndQ: three(AndD), AndND: three(AndND), OrD: three(OrD), OrQ: three(OrD), XorD: three(XorD),
	XorQ: three(XorD), TernD: lowerTern, TernQ: lowerTern,
	Op(ShiftD): lowerShiftD, Op(ShiftW): lowerShiftW, Op(ShiftQ): lowerShiftQ, Op(ShiftAQ): lowerShiftAQ,
	SllVD: three(SllVD), SllVQ: three(SllVQ), SrlVD: three(SrlVD), SrlVQ: three(SrlVQ), SraVD: three(SraVD),
	SraVQ: lowerSraVQ, RolVD: rotate(SllVD, SrlVD), RorVD: rotate(SrlVD, SllVD),
	MinSD: three(MinSD), MinUD: three(MinUD), MaxSD: three(MaxSD), MaxUD: three(MaxUD), MinSQ: extremumQ(false, false),
	MinUQ: extremumQ(true, false), MaxSQ: extremumQ(false, true), MaxUQ: extremumQ(true, true),
	AbsD: two(AbsD), AbsQ: lowerAbsQ, LzcntD: lowerLzcntD, LzcntQ: lowerLzcntQ, ShufB: three(ShufB), ShufD: lowerShufD,
	UnpackLW: three(UnpackLW), UnpackHW: three(UnpackHW), UnpackLD: three(UnpackLD), UnpackHD: three(UnpackHD),
	UnpackLQ: three(UnpackLQ), UnpackHQ: three(UnpackHQ),
	Op(CmpD): lowerCmp, Op(CmpUD): lowerCmp, Op(CmpQ): lowerCmp, Op(CmpUQ): lowerCmp, Op(CmpPS): lowerCmp,
	Op(CmpPD): lowerCmp, Op(TestMD): lowerCmp, Op(TestMQ): lowerCmp, Op(TestNMD): lowerCmp, Op(TestNMQ): lowerCmp,
	BlendMD: lowerBlend, BlendMQ: lowerBlend,
	AddPS: three(AddPS), AddPD: three(AddPD), MulPS: three(MulPS), MulPD: three(MulPD), SubPS: three(SubPS),
	SubPD: three(SubPD), DivPS: three(DivPS), DivPD: three(DivPD), SqrtPS: two(SqrtPS), SqrtPD: two(SqrtPD),
	FMA231PS: lowerFMA, FMA231PD: lowerFMA, FMA213PS: lowerFMA, FMA213PD: lowerFMA, FMS231PS: lowerFMA,
	FNMA231PS: lowerFMA,
	RangePS:   lowerRange, RangePD: lowerRange, RndScalePS: lowerRound, RndScalePD: lowerRound,
	CvtDQ2PS: two(CvtDQ2PS), CvtUDQ2PS: lowerCvtUDQ2PS, CvtTPS2DQ: two(CvtTPS2DQ), CvtTPS2UDQ: lowerCvtTPS2UDQ,
	CvtPS2DQ: two(CvtPS2DQ),
	CvtPS2PD: widen(CvtPS2PD, 16, true), CvtDQ2PD: widen(CvtDQ2PD, 16, true), CvtUDQ2PD: lowerCvtUDQ2PD,
	CvtPH2PS: widen(CvtPH2PS, 16, false),
	CvtPD2PS: narrow(CvtPD2PS), CvtTPD2DQ: narrow(CvtTPD2DQ), CvtTPD2UDQ: lowerCvtTPD2UDQ, CvtPS2PH: lowerCvtPS2PH,
	CvtQQ2PD: lowerCvtQQ2PD, CvtUQQ2PD: lowerCvtQQ2PD, CvtTPD2QQ: lowerCvtTPD2QQ,
	CvtPD2UQQ: lowerCvtPD2UQQ, CvtQQ2PS: lowerCvtQQ2PS, CvtUQQ2PS: lowerCvtQQ2PS,
	PermD: lowerPermD, PermI2D: lowerPerm2, PermT2D: lowerPerm2, PermI2Q: lowerPerm2, PermT2Q: lowerPerm2,
	InsertQ4: lowerInsert, ExtractQ4: lowerExtract,
	MovZXDQ: widen(MovZXDQ, 16, true), MovSXDQ: widen(MovSXDQ, 16, true), MovZXBD: widen(MovZXBD, 8, false),
	MovSXBD: widen(MovSXBD, 8, false), MovZXWD: widen(MovZXWD, 16, false), MovSXWD: widen(MovSXWD, 16, false),
	MovQD: lowerPack, MovDB: lowerPack, MovDW: lowerPack,
	Op(BroadcastDR): lowerBroadcastR, Op(BroadcastQR): lowerBroadcastR, BroadcastD: lowerBroadcast,
	BroadcastQ: lowerBroadcast, BroadcastX: lowerBroadcastX,
}

// three is an instruction of three operands that AVX2 has.
func three(v Op) lowerFunc {
	return func(w *lowering, i *inst) {
		clear := v == XorD && i.rm.kind == fromReg && i.rm.reg == i.vvvv && i.o.K == 0
		for h := range i.halves {
			w.next(i)
			if clear {
				w.zero(i.reg, h)
				continue
			}
			a := w.use(i.vvvv, h)
			b := i.b(w, h)
			p := i.target(w, i.reg, h)
			w.a.vex(v, i.length, p, a, b)
			i.finish(w, i.reg, h, p)
		}
		i.short(w, i.reg)
	}
}

// words is three for elements of 8 or 16 bits, of which there are no masks.
func words(v Op) lowerFunc {
	f := three(v)
	return func(w *lowering, i *inst) {
		if i.o.K != 0 {
			w.refuse(i.op)
			return
		}
		f(w, i)
	}
}

// two is an instruction of two operands that AVX2 has.
func two(v Op) lowerFunc {
	return func(w *lowering, i *inst) {
		for h := range i.halves {
			w.next(i)
			b := i.b(w, h)
			p := i.target(w, i.reg, h)
			w.a.vex(v, i.length, p, 0, b)
			i.finish(w, i.reg, h, p)
		}
		i.short(w, i.reg)
	}
}

func lowerShufD(w *lowering, i *inst) {
	for h := range i.halves {
		w.next(i)
		b := i.b(w, h)
		p := i.target(w, i.reg, h)
		w.a.vex(ShufD, i.length, p, 0, b, i.imm)
		i.finish(w, i.reg, h, p)
	}
	i.short(w, i.reg)
}

// each runs f for each half; f leaves the result in a new register.
func (i *inst) each(w *lowering, f func(h int) uint8) {
	if i.length == 0 && i.rm.kind != fromReg {
		w.refuse(i.op)
		return
	}
	for h := range i.halves {
		w.next(i)
		p := f(h)
		if i.length == 0 {
			w.x(vexMovDQALd, p, 0, inReg(p)) // clears what is above
		}
		i.finish(w, i.reg, h, p)
	}
	i.short(w, i.reg)
}

func lowerFMA(w *lowering, i *inst) {
	for h := range i.halves {
		w.next(i)
		d, a := w.use(i.reg, h), w.use(i.vvvv, h)
		b := i.b(w, h)
		p := d
		if i.o.K != 0 {
			p = w.temp()
			w.r(vexMovDQALd, p, 0, d)
		}
		w.a.vexW(i.op, i.op.w, i.length, p, a, b)
		i.finish(w, i.reg, h, p)
	}
	i.short(w, i.reg)
}

func lowerMulLQ(w *lowering, i *inst) {
	i.each(w, func(h int) uint8 {
		a, b := w.use(i.vvvv, h), i.breg(w, h)
		t, u := w.temp(), w.temp()
		w.r(vexShufD, t, 0, b, 0xb1) // halves of b exchanged
		w.r(MulLD, t, a, t)          // low*high, high*low
		w.shiftQ(ShiftSrl, u, t, 32)
		w.r(AddD, t, t, u)
		w.shiftQ(ShiftSll, t, t, 32)
		w.r(MulUDQ, u, a, b)
		w.r(AddQ, t, t, u)
		return t
	})
}

// lowerTern is any function of three bits: bit 4*d + 2*a + b of the immediate.
func lowerTern(w *lowering, i *inst) {
	// Operands in the order that makes it shortest: f0(y, z) ^ x & (f0 ^ f1)(y, z).
	best, cost := [3]int{}, 1<<30
	var f0, f1 uint8
	for _, order := range [][3]int{{0, 1, 2}, {1, 0, 2}, {2, 0, 1}} {
		var f [2]uint8
		for n := range 8 {
			bits := [3]int{n >> 2, n >> 1 & 1, n & 1} // of x, y, z
			at := 0
			for j, o := range order {
				at |= bits[j] << (2 - o)
			}
			f[bits[0]] |= i.imm >> at & 1 << (n & 3)
		}
		if c := ternCost(f[0], f[1]); c < cost {
			best, cost, f0, f1 = order, c, f[0], f[1]
		}
	}
	i.each(w, func(h int) uint8 {
		p := [3]uint8{}
		get := func(n int) uint8 {
			switch n {
			case 0:
				return w.use(i.reg, h)
			case 1:
				return w.use(i.vvvv, h)
			}
			return i.breg(w, h)
		}
		for j, o := range best {
			p[j] = get(o)
		}
		x, y, z := p[0], p[1], p[2]
		t := w.temp()
		switch {
		case f0 == 0 && f1 == 0:
			w.r(XorD, t, t, t)
		case f0 == 15 && f1 == 15:
			w.r(vexCmpEqD, t, t, t)
		case f0 == f1:
			w.pair(t, y, z, f0)
		case f1 == 15: // x | f0
			w.pair(t, y, z, f0)
			w.r(OrD, t, t, x)
		case f1 == 0: // ~x & f0
			w.pair(t, y, z, f0)
			w.r(AndND, t, x, t)
		case f0 == 0:
			w.pair(t, y, z, f1)
			w.r(AndD, t, t, x)
		case f0^f1 == 15:
			w.pair(t, y, z, f0)
			w.r(XorD, t, t, x)
		default:
			u := w.temp()
			w.pair(t, y, z, f0^f1)
			w.r(AndD, t, t, x)
			w.pair(u, y, z, f0)
			w.r(XorD, t, t, u)
		}
		return t
	})
}

func ternCost(f0, f1 uint8) int {
	one := func(f uint8) int {
		switch f {
		case 9, 7, 1, 13, 11:
			return 2
		}
		return 1
	}
	switch {
	case f0 == f1:
		return one(f0)
	case f0 == 0:
		return one(f1) + 1
	case f1 == 15, f1 == 0, f0^f1 == 15:
		return one(f0) + 1
	}
	return one(f0) + one(f0^f1) + 2
}

// pair is a function of two bits: bit 2*y + z of f.
func (w *lowering) pair(t, y, z, f uint8) {
	switch f {
	case 0:
		w.r(XorD, t, t, t)
	case 15:
		w.r(vexCmpEqD, t, t, t)
	case 12:
		w.r(vexMovDQALd, t, 0, y)
	case 10:
		w.r(vexMovDQALd, t, 0, z)
	case 3:
		w.e(XorD, t, y, w.splatD(0xffffffff))
	case 5:
		w.e(XorD, t, z, w.splatD(0xffffffff))
	case 8, 7:
		w.r(AndD, t, y, z)
	case 14, 1:
		w.r(OrD, t, y, z)
	case 6, 9:
		w.r(XorD, t, y, z)
	case 4, 11: // y & ~z
		w.r(AndND, t, z, y)
	case 2, 13: // ~y & z
		w.r(AndND, t, y, z)
	}
	switch f {
	case 7, 1, 9, 11, 13:
		w.not(t)
	}
}

// Shifts by an immediate name their kind in the register field and their destination in vvvv.
func lowerShiftW(w *lowering, i *inst) {
	for h := range i.halves {
		w.next(i)
		s := i.breg(w, h)
		p := i.target(w, i.vvvv, h)
		w.a.vex(Op(ShiftW), i.length, i.reg, p, inReg(s), i.imm)
		i.finish(w, i.vvvv, h, p)
	}
	i.short(w, i.vvvv)
}

func lowerShiftD(w *lowering, i *inst) {
	kind, n := Shift(i.reg), i.imm
	for h := range i.halves {
		w.next(i)
		s := i.breg(w, h)
		var p uint8
		switch kind {
		case ShiftRol, ShiftRor:
			n &= 31
			if kind == ShiftRor {
				n = (32 - n) & 31
			}
			p = w.temp()
			if n%8 == 0 {
				w.e(ShufB, p, s, w.rotation(n/8))
			} else {
				t := w.temp()
				w.shiftD(ShiftSll, p, s, n)
				w.shiftD(ShiftSrl, t, s, 32-n)
				w.r(OrD, p, p, t)
			}
			if i.length == 0 {
				w.x(vexMovDQALd, p, 0, inReg(p))
			}
			if kind == ShiftRor {
				n = (32 - n) & 31
			}
		case ShiftSrl, ShiftSra, ShiftSll:
			p = i.target(w, i.vvvv, h)
			w.a.vex(vexShiftDI, i.length, i.reg, p, inReg(s), n)
		default:
			w.refuse(i.op)
			return
		}
		i.finish(w, i.vvvv, h, p)
	}
	i.short(w, i.vvvv)
}

// rotation has vpshufb rotate words to the left by a number of bytes.
func (w *lowering) rotation(bytes uint8) source {
	var c [8]uint32
	for i := range uint32(8) {
		for j := range uint32(4) {
			c[i] |= (4*(i&3) + (j-uint32(bytes))&3) << (8 * j)
		}
	}
	return w.constant(c)
}

func lowerShiftQ(w *lowering, i *inst) {
	if kind := Shift(i.reg); kind != ShiftSrl && kind != ShiftSll {
		w.refuse(i.op)
		return
	}
	for h := range i.halves {
		w.next(i)
		s := i.breg(w, h)
		p := i.target(w, i.vvvv, h)
		w.a.vex(vexShiftQI, i.length, i.reg, p, inReg(s), i.imm)
		i.finish(w, i.vvvv, h, p)
	}
	i.short(w, i.vvvv)
}

// sign puts all ones where the 64-bit words of s are negative into a new register.
func (w *lowering) sign(s uint8) uint8 {
	t := w.temp()
	w.r(XorD, t, t, t)
	w.r(vexCmpGtQ, t, t, s)
	return t
}

func lowerShiftAQ(w *lowering, i *inst) {
	if Shift(i.reg) != ShiftSra {
		w.refuse(i.op)
		return
	}
	for h := range i.halves {
		w.next(i)
		s := i.breg(w, h)
		t := w.sign(s)
		p := w.temp()
		switch n := i.imm; {
		case n >= 63:
			w.r(vexMovDQALd, p, 0, t)
		case n == 32:
			w.r(vexShufD, p, 0, s, 0xf5) // upper halves twice
			w.shiftD(ShiftSra, t, p, 31)
			w.r(blendD, p, p, t, 0xaa)
		default:
			w.r(XorD, p, s, t)
			w.shiftQ(ShiftSrl, p, p, n)
			w.r(XorD, p, p, t)
		}
		if i.length == 0 {
			w.x(vexMovDQALd, p, 0, inReg(p))
		}
		i.finish(w, i.vvvv, h, p)
	}
	i.short(w, i.vvvv)
}

// blendD is vpblendd.
var blendD = Op{1, 3, 0, 0x02, vector}

func lowerSraVQ(w *lowering, i *inst) {
	i.each(w, func(h int) uint8 {
		a := w.use(i.vvvv, h)
		b := i.b(w, h)
		t := w.sign(a)
		p := w.temp()
		w.r(XorD, p, a, t)
		w.e(SrlVQ, p, p, b)
		w.r(XorD, p, p, t)
		return p
	})
}

func rotate(to, back Op) lowerFunc {
	return func(w *lowering, i *inst) {
		i.each(w, func(h int) uint8 {
			a, b := w.use(i.vvvv, h), i.breg(w, h)
			n, p, t := w.temp(), w.temp(), w.temp()
			w.e(AndD, n, b, w.splatD(31))
			w.r(to, p, a, n)
			w.e(MovU32, t, 0, w.splatD(32))
			w.r(SubD, n, t, n)
			w.r(back, n, a, n) // nothing where the number is 32
			w.r(OrD, p, p, n)
			return p
		})
	}
}

func extremumQ(unsigned, max bool) lowerFunc {
	return func(w *lowering, i *inst) {
		i.each(w, func(h int) uint8 {
			a, b := w.use(i.vvvv, h), i.breg(w, h)
			t := w.temp()
			w.greaterQ(t, a, b, unsigned)
			if max {
				w.blend(t, b, inReg(a), t)
			} else {
				w.blend(t, a, inReg(b), t)
			}
			return t
		})
	}
}

// greaterQ is t = a > b of 64-bit words.
func (w *lowering) greaterQ(t, a, b uint8, unsigned bool) {
	if unsigned {
		u := w.temp()
		s := w.splatQ(1 << 63)
		w.e(XorD, u, a, s)
		w.e(XorD, t, b, s)
		w.r(vexCmpGtQ, t, u, t)
		return
	}
	w.r(vexCmpGtQ, t, a, b)
}

func lowerAbsQ(w *lowering, i *inst) {
	i.each(w, func(h int) uint8 {
		s := i.breg(w, h)
		t := w.sign(s)
		p := w.temp()
		w.r(XorD, p, s, t)
		w.r(SubQ, p, p, t)
		return p
	})
}

// lzcnt counts the leading zeros of 32-bit words: the exponent of a float that rounding cannot raise. p must not be s.
func (w *lowering) lzcnt(p, s uint8) {
	t := w.temp()
	w.shiftD(ShiftSrl, t, s, 1)
	w.r(AndND, p, t, s)
	w.e(CvtDQ2PS, p, 0, inReg(p))
	w.shiftD(ShiftSrl, p, p, 23)
	w.e(vexMovDQALd, t, 0, w.splatD(158))
	w.r(vexSubUSW, p, t, p)
	w.e(vexMinSW, p, p, w.splatD(32))
}

func lowerLzcntD(w *lowering, i *inst) {
	i.each(w, func(h int) uint8 {
		s, p := i.breg(w, h), w.temp()
		w.lzcnt(p, s)
		return p
	})
}

func lowerLzcntQ(w *lowering, i *inst) {
	i.each(w, func(h int) uint8 {
		s, p := i.breg(w, h), w.temp()
		w.lzcnt(p, s)
		// the upper half's, and the lower's where that is 32
		t := w.temp()
		w.e(vexCmpEqD, t, p, w.splatD(32))
		w.shiftQ(ShiftSrl, t, t, 32)
		w.r(AndD, t, t, p)
		w.shiftQ(ShiftSrl, p, p, 32)
		w.r(AddQ, p, p, t)
		return p
	})
}

// Comparisons.

func lowerCmp(w *lowering, i *inst) {
	var r [2]uint8
	loose := i.looks()
	for h := range 2 {
		w.next(i)
		if h == 1 {
			w.lock(r[0])
		}
		if h >= i.halves {
			r[h] = w.temp()
			w.r(XorD, r[h], r[h], r[h])
			break
		}
		a := w.use(i.vvvv, h)
		b := i.b(w, h)
		r[h] = w.temp()
		if loose {
			op := AndD
			if i.op == Op(CmpD) || i.op == Op(CmpUD) || i.op == Op(CmpQ) || i.op == Op(CmpUQ) {
				op = XorD
			}
			w.a.vex(op, i.length, r[h], a, b)
		} else {
			w.compare(i, r[h], a, b)
		}
		if i.o.K != 0 {
			w.r(AndD, r[h], r[h], w.mask(i.o.K, i.q, h))
		}
		if i.length == 0 {
			w.x(vexMovDQALd, r[h], 0, inReg(r[h]))
		}
	}
	w.setMaskVectors(Mask(i.reg), i.q, r[0], r[1])
	w.masks[i.reg].loose = loose
}

// looks says whether a comparison asks whether elements differ from zero or from each other: the bits in which they do
// are a loose mask.
func (i *inst) looks() bool {
	switch i.op {
	case Op(TestMD), Op(TestMQ):
		return true
	case Op(CmpD), Op(CmpUD), Op(CmpQ), Op(CmpUQ):
		return Predicate(i.imm&7) == CmpNE
	}
	return false
}

// compare puts ones into t where the comparison holds.
func (w *lowering) compare(i *inst, t, a uint8, b source) {
	inB := func() uint8 {
		if b.kind == fromReg {
			return b.reg
		}
		u := w.temp()
		w.a.vex(MovU32, i.length, u, 0, b)
		b = inReg(u)
		return u
	}
	eq := vexCmpEqD
	if i.q {
		eq = vexCmpEqQ
	}
	switch i.op {
	case Op(CmpPS), Op(CmpPD):
		w.a.vex(i.op, i.length, t, a, b, i.imm)
		return
	case Op(TestMD), Op(TestMQ), Op(TestNMD), Op(TestNMQ):
		z := w.temp()
		w.r(XorD, z, z, z)
		w.a.vex(AndD, i.length, t, a, b)
		w.r(eq, t, t, z)
		if i.op == Op(TestMD) || i.op == Op(TestMQ) {
			w.not(t)
		}
		return
	}
	how := i.imm & 7
	switch how & 3 {
	case 3: // never, always
		if how == 3 {
			w.r(XorD, t, t, t)
		} else {
			w.r(vexCmpEqD, t, t, t)
		}
		return
	case 0:
		w.a.vex(eq, i.length, t, a, b)
		if how == 4 {
			w.not(t)
		}
		return
	}
	// 1 less, 2 not greater; 5 and 6 their complements
	greater := how == 2 || how == 6
	complement := how == 5 || how == 2
	switch i.op {
	case Op(CmpD):
		if greater {
			w.a.vex(vexCmpGtD, i.length, t, a, b)
		} else {
			w.r(vexCmpGtD, t, inB(), a)
		}
	case Op(CmpUD):
		// a >= b where the greater one is a
		op := MaxUD
		if greater {
			op = MinUD
		}
		w.a.vex(op, i.length, t, a, b)
		w.r(vexCmpEqD, t, t, a)
		complement = !complement
	case Op(CmpQ), Op(CmpUQ):
		x, y := a, inB()
		if !greater {
			x, y = y, x
		}
		w.greaterQ(t, x, y, i.op == Op(CmpUQ))
	}
	if complement {
		w.not(t)
	}
}

func lowerBlend(w *lowering, i *inst) {
	k := i.o.K
	for h := range i.halves {
		w.next(i)
		a := w.use(i.vvvv, h)
		b := i.b(w, h)
		p := w.temp()
		switch {
		case k == 0:
			w.a.vex(MovU32, i.length, p, 0, b)
		case i.o.Zero:
			w.a.vex(AndD, i.length, p, w.mask(k, i.q, h), b)
		default:
			w.a.vex(vexBlendVB, i.length, p, a, b, w.mask(k, i.q, h)<<4)
		}
		w.assign(i.reg, h, p)
	}
	i.short(w, i.reg)
}
