package asm

// Moves, widening and narrowing, gathers and scatters of code for processors without AVX-512. Lanes that are masked off
// access no memory.

func lowerMove(w *lowering, i *inst) {
	if i.rm.kind == fromReg && i.rm.reg == i.reg && i.o.K == 0 && i.halves == 2 {
		return
	}
	for h := range i.halves {
		w.next(i)
		if i.o.K == 0 {
			s := i.b(w, h)
			p := i.target(w, i.reg, h)
			w.a.vex(MovU32, i.length, p, 0, s)
			w.assign(i.reg, h, p)
			continue
		}
		m := w.mask(i.o.K, i.q, h)
		s := i.b(w, h)
		switch p := w.temp(); {
		case !i.o.Zero:
			w.a.vex(vexBlendVB, i.length, p, w.use(i.reg, h), s, m<<4)
			w.assign(i.reg, h, p)
		default:
			w.a.vex(AndD, i.length, p, m, s)
			w.assign(i.reg, h, p)
		}
	}
	i.short(w, i.reg)
}

func lowerStore(w *lowering, i *inst) {
	if i.rm.kind != fromMem || i.op == MovU8St && i.o.K != 0 {
		w.refuse(i.op)
		return
	}
	for h := range i.halves {
		w.next(i)
		p := w.use(i.reg, h)
		s := i.rm.at(int32(32 * h))
		if i.o.K == 0 {
			w.a.vex(MovU32St, i.length, p, 0, s)
			continue
		}
		w.a.vexW(vexMaskMovSt, bit(i.q), i.length, p, w.mask(i.o.K, i.q, h), s)
	}
}

// lowerToScalar moves the first element to a general register or to memory.
func lowerToScalar(w *lowering, i *inst) {
	w.a.vexW(vexMovFromX, i.op.w, 0, w.use(i.reg, 0), 0, i.rm)
}

// spread sets all elements to those of t.
func (i *inst) spread(w *lowering, t uint8) {
	for h := range i.halves {
		w.begin()
		w.lock(t)
		p := t
		switch {
		case i.o.K == 0:
			if h+1 < i.halves {
				p = i.target(w, i.reg, h)
				w.r(vexMovDQALd, p, 0, t)
			}
		case i.o.Zero:
			m := w.mask(i.o.K, i.q, h)
			p = w.temp()
			w.r(AndD, p, m, t)
		default:
			m, old := w.mask(i.o.K, i.q, h), w.use(i.reg, h)
			p = w.temp()
			w.blend(p, old, inReg(t), m)
		}
		if i.length == 0 {
			w.x(vexMovDQALd, p, 0, inReg(p))
		}
		w.assign(i.reg, h, p)
	}
	i.short(w, i.reg)
}

func lowerBroadcastR(w *lowering, i *inst) {
	t := w.temp()
	w.a.vexW(vexMovToX, i.op.w, 0, t, 0, i.rm)
	w.r(broadcastOf(i.q), t, 0, t)
	i.spread(w, t)
}

func lowerBroadcast(w *lowering, i *inst) {
	s := i.rm
	if s.kind == fromReg {
		s = inReg(w.use(s.reg, 0))
	} else if i.o.K != 0 && !w.safe(s) {
		m := i.anyLane(w, i.q)
		t := w.temp()
		w.r(XorD, t, t, t)
		w.gatherOne(t, m, s.mem, i.q)
		i.spread(w, t)
		return
	}
	t := w.temp()
	w.e(broadcastOf(i.q), t, 0, s)
	i.spread(w, t)
}

// lowerBroadcastX repeats 16 bytes of memory.
func lowerBroadcastX(w *lowering, i *inst) {
	if i.o.K != 0 || i.rm.kind == fromReg {
		w.refuse(i.op)
		return
	}
	t := w.temp()
	w.e(BroadcastX, t, 0, i.rm)
	i.spread(w, t)
}

// parts lowers an instruction whose elements are wider than its source's; n is how many bytes of the source make a
// half.
func (i *inst) parts(w *lowering, n int32, f func(d uint8, s source)) {
	if i.length == 0 {
		w.refuse(i.op)
		return
	}
	s := i.rm
	masked := i.o.K != 0 && !w.safe(s)
	switch {
	case s.kind == fromReg:
		s = inReg(w.use(s.reg, 0))
	case i.o.Bcast:
		s = i.b(w, 0)
	case masked && i.q: // source elements of 32 bits
		t := w.temp()
		w.a.vexW(vexMaskMovLd, 0, uint8(i.halves-1), t, w.mask(i.o.K, false, 0), s)
		s = inReg(t)
	case masked:
		w.refuse(i.op)
		return
	}
	var r [2]uint8
	for h := range i.halves {
		r[h] = w.temp()
		x := s
		switch {
		case s.kind != fromReg:
			x = s.at(n * int32(h))
		case h == 0 || i.o.Bcast:
		case n == 16:
			w.extract(r[h], s.reg)
			x = inReg(r[h])
		default:
			w.x(vexShiftQI, 3, r[h], s, 8)
			x = inReg(r[h])
		}
		f(r[h], x)
	}
	for h := range i.halves {
		w.begin()
		w.lock(r[0])
		w.lock(r[1])
		i.finish(w, i.reg, h, r[h])
	}
	i.short(w, i.reg)
}

// widen is parts for what AVX2 has. q says that the result's elements have 64 bits.
func widen(v Op, n int32, q bool) lowerFunc {
	return func(w *lowering, i *inst) {
		i.q = q
		if !q && v != CvtPH2PS && i.halves == 2 && i.rm.kind == fromMem && i.o.K != 0 && !w.safe(i.rm) {
			i.loadNarrow(w, n)
			return
		}
		i.parts(w, n, func(d uint8, s source) { w.e(v, d, 0, s) })
	}
}

// loop runs f for each set bit of the mask in general register bits, with the bit's number in lane. Flags are lost.
func (w *lowering) loop(bits, lane GPR, f func()) {
	a := w.a
	again, end := a.NewLabel(), a.NewLabel()
	a.Test32(bits, bits)
	a.j(E, end)
	a.Pass(again)
	a.Bsf32(lane, bits)
	f()
	a.Blsr32(bits, bits)
	a.j(NE, again)
	a.Pass(end)
}

// elements returns the address of element lane, of n bytes, at m; m's own registers when it has an index are added into
// t first.
func (w *lowering) elements(m Mem, t, lane GPR, n uint8) Mem {
	if m.Index != None || m.Base == None {
		w.a.Lea(t, m)
		m = At(t, 0)
	}
	return Indexed(m.Base, lane, n, m.Disp)
}

// loadNarrow loads elements of 8 or 16 bits of the lanes of a mask; n is how many bytes make a half.
func (i *inst) loadNarrow(w *lowering, n int32) {
	a := w.a
	if i.o.Zero {
		t := w.temp()
		w.r(XorD, t, t, t)
		for h := range 2 {
			w.store(w.home(2*int(i.reg)+h), t)
		}
	} else {
		w.clean(i.reg, 0)
		w.clean(i.reg, 1)
	}
	w.drop(2 * int(i.reg))
	w.drop(2*int(i.reg) + 1)
	g := w.save(4, i.rm.mem.Base, i.rm.mem.Index)
	value, bits, lane, base := g[0], g[1], g[2], g[3]
	w.maskToReg(i.o.K, bits, 16)
	w.begin()
	lo, hi := w.temp(), w.temp()
	some, end := a.NewLabel(), a.NewLabel()
	a.CmpI32(bits, 0xffff)
	a.j(NE, some)
	w.e(i.op, lo, 0, i.rm)
	w.e(i.op, hi, 0, i.rm.at(n))
	w.store(w.home(2*int(i.reg)), lo)
	w.store(w.home(2*int(i.reg)+1), hi)
	a.jmp(end)
	a.Pass(some)
	from := w.elements(i.rm.mem, base, lane, uint8(n/8))
	to := w.home(2 * int(i.reg))
	to.Index, to.Scale = lane, 4
	w.loop(bits, lane, func() {
		switch i.op {
		case MovZXBD:
			a.Ld8(value, from)
		case MovSXBD:
			a.LdS8(value, from)
		case MovZXWD:
			a.Ld16(value, from)
		default:
			a.LdS16(value, from)
		}
		a.St32(to, value)
	})
	a.Pass(end)
	w.restore(g)
	w.lost = true
}

// lowerPack cuts elements off.
func lowerPack(w *lowering, i *inst) {
	if i.halves != 2 || i.op != MovQD && i.o.K != 0 && i.rm.kind != fromMem {
		w.refuse(i.op)
		return
	}
	a := w.a
	i.q = false
	pack := func() uint8 {
		lo, hi := w.use(i.reg, 0), w.use(i.reg, 1)
		t := w.temp()
		if i.op == MovQD {
			w.r(vexShufPS, t, lo, hi, 0x88)
			w.r(vexPermQI, t, 0, t, 0xd8)
			return t
		}
		u := w.temp()
		cut := w.splatD(0xffff)
		if i.op == MovDB {
			cut = w.splatD(0xff)
		}
		w.e(AndD, t, lo, cut)
		w.e(AndD, u, hi, cut)
		w.r(vexPackUSDW, t, t, u)
		w.r(vexPermQI, t, 0, t, 0xd8)
		if i.op == MovDB {
			w.extract(u, t)
			w.x(vexPackUSWB, t, t, inReg(u))
		}
		return t
	}
	length := uint8(1)
	if i.op == MovDB {
		length = 0
	}
	switch {
	case i.rm.kind == fromReg:
		z := i.rm.reg
		t := pack()
		i.finish(w, z, 0, t)
		w.zero(z, 1)
	case i.o.K == 0:
		a.vex(MovU32St, length, pack(), 0, i.rm)
	case i.op == MovQD:
		t := pack()
		a.vexW(vexMaskMovSt, 0, 1, t, w.mask(i.o.K, false, 0), i.rm)
	default:
		w.clean(i.reg, 0)
		w.clean(i.reg, 1)
		g := w.save(4, i.rm.mem.Base, i.rm.mem.Index)
		value, bits, lane, base := g[0], g[1], g[2], g[3]
		w.maskToReg(i.o.K, bits, 16)
		w.begin()
		t := pack()
		some, end := a.NewLabel(), a.NewLabel()
		a.CmpI32(bits, 0xffff)
		a.j(NE, some)
		a.vex(MovU32St, length, t, 0, i.rm)
		a.jmp(end)
		a.Pass(some)
		to := w.elements(i.rm.mem, base, lane, length+1)
		from := w.home(2 * int(i.reg))
		from.Index, from.Scale = lane, 4
		w.loop(bits, lane, func() {
			a.Ld32(value, from)
			if length == 0 {
				a.St8(to, value)
			} else {
				a.St16(to, value)
			}
		})
		a.Pass(end)
		w.restore(g)
		w.lost = true
	}
}

// vexPackUSWB is vpackuswb.
var vexPackUSWB = Op{1, 1, 0, 0x67, vector}

// indexed lowers gathers and scatters.
func (w *lowering) indexed(op Op, o Opt, reg uint8, base GPR, index, scale uint8, disp int32) {
	w.begin()
	if o.LL != 2 || o.K == 0 {
		w.refuse(op)
		return
	}
	m := func(x uint8) source { return inMem(Mem{Base: base, Index: GPR(x), Scale: scale, Disp: disp}) }
	half := func(z uint8, h int) uint8 { // 128 bits of the first half of a register
		s := w.use(z, 0)
		if h == 0 {
			return s
		}
		t := w.temp()
		w.extract(t, s)
		return t
	}
	k := o.K
	switch op {
	case GatherDD, GatherQQ, GatherDQ:
		v, q := vexGatherD, op.w == 1
		if op == GatherQQ {
			v = vexGatherQ
		}
		var r [2]uint8
		for h := range r {
			w.begin()
			if h == 1 {
				w.lock(r[0])
			}
			var x uint8
			if op == GatherDQ {
				x = half(index, h)
			} else {
				x = w.use(index, h)
			}
			t := w.temp()
			w.r(vexMovDQALd, t, 0, w.mask(k, q, h))
			old := w.src(reg, h)
			r[h] = w.temp()
			w.e(MovU32, r[h], 0, old)
			w.a.vexW(v, bit(q), 1, r[h], t, m(x))
		}
		w.assign(reg, 0, r[0])
		w.assign(reg, 1, r[1])
	case GatherQD:
		var r [2]uint8
		for h := range r {
			w.begin()
			if h == 1 {
				w.lock(r[0])
			}
			x := w.use(index, h)
			t := w.temp()
			mask := w.mask(k, false, 0)
			if h == 0 {
				w.r(vexMovDQALd, t, 0, mask)
			} else {
				w.extract(t, mask)
			}
			old := half(reg, h)
			r[h] = w.temp()
			w.x(vexMovDQALd, r[h], 0, inReg(old))
			w.a.vexW(vexGatherQ, 0, 1, r[h], t, m(x))
		}
		w.r(vexInsert128, r[0], r[0], r[1], 1)
		w.assign(reg, 0, r[0])
		w.zero(reg, 1)
	case ScatterDD, ScatterQQ, ScatterDQ, ScatterQD:
		w.scatter(op, k, reg, base, index, scale, disp)
	default:
		w.refuse(op)
		return
	}
	w.setMaskConst(k, 0)
}

// scatter stores lane by lane, the lowest first.
func (w *lowering) scatter(op Op, k Mask, reg uint8, base GPR, index, scale uint8, disp int32) {
	a := w.a
	for h := range 2 {
		w.clean(reg, h)
		w.clean(index, h)
	}
	g := w.save(4, base)
	bits, lane, at, value := g[0], g[1], g[2], g[3]
	lanes := 8
	if op == ScatterDD {
		lanes = 16
	}
	w.maskToReg(k, bits, lanes)
	wide := op == ScatterQQ || op == ScatterQD // indices
	from, x := w.home(2*int(reg)), w.home(2*int(index))
	from.Index, from.Scale = lane, 4<<op.w
	x.Index, x.Scale = lane, 4
	if wide {
		x.Scale = 8
	}
	w.loop(bits, lane, func() {
		if wide {
			a.Ld(at, x)
		} else {
			a.LdS32(at, x)
		}
		a.LdR(op.w == 1, value, from)
		to := Mem{Base: base, Index: at, Scale: scale, Disp: disp}
		if base == None && scale == 1 {
			to = At(at, disp)
		}
		a.StR(op.w == 1, to, value)
	})
	w.restore(g)
	w.lost = true
}
