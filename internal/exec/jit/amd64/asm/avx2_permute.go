package asm

// Permutations.

func lowerPermD(w *lowering, i *inst) {
	if i.halves != 2 || i.o.K != 0 && i.rm.kind == fromMem && !w.safe(i.rm) {
		w.refuse(i.op)
		return
	}
	var r [2]uint8
	for h := range r {
		w.next(i)
		if h == 1 {
			w.lock(r[0])
		}
		x := w.use(i.vvvv, h)
		t, u := w.temp(), w.temp()
		w.e(PermD, t, x, i.b(w, 0))
		w.e(PermD, u, x, i.b(w, 1))
		s := w.temp()
		w.shiftD(ShiftSll, s, x, 28) // bit 3 to the top
		w.r(vexBlendVPS, t, t, u, s<<4)
		r[h] = t
	}
	i.settle(w, r)
}

// settle finishes both halves.
func (i *inst) settle(w *lowering, r [2]uint8) {
	w.next(i)
	w.lock(r[0])
	w.lock(r[1])
	i.finish(w, i.reg, 0, r[0])
	i.finish(w, i.reg, 1, r[1])
}

// lowerPerm2 takes elements of two registers. Elements of 64 bits are two of 32.
func lowerPerm2(w *lowering, i *inst) {
	if i.halves != 2 || i.o.K != 0 && i.rm.kind == fromMem && !w.safe(i.rm) {
		w.refuse(i.op)
		return
	}
	index, first := i.reg, i.vvvv
	if i.op == PermT2D || i.op == PermT2Q {
		index, first = i.vvvv, i.reg
	}
	var r [2]uint8
	for h := range r {
		w.next(i)
		if h == 1 {
			w.lock(r[0])
		}
		x := w.use(index, h)
		if i.q {
			y := w.temp()
			w.r(vexShufD, y, 0, x, 0xa0) // lower halves twice
			w.r(AddD, y, y, y)
			w.e(OrD, y, y, w.constant([8]uint32{0, 1, 0, 1, 0, 1, 0, 1}))
			x = y
		}
		var p [4]uint8
		for j := range p {
			p[j] = w.temp()
			s := i.b(w, j&1)
			if j < 2 {
				s = w.src(first, j&1)
			}
			w.e(PermD, p[j], x, s)
		}
		s := w.temp()
		w.shiftD(ShiftSll, s, x, 28)
		w.r(vexBlendVPS, p[0], p[0], p[1], s<<4)
		w.r(vexBlendVPS, p[2], p[2], p[3], s<<4)
		w.shiftD(ShiftSll, s, x, 27)
		w.r(vexBlendVPS, p[0], p[0], p[2], s<<4)
		r[h] = p[0]
	}
	i.settle(w, r)
}

// Permute is vpermi2d with constant indices: element i of register d becomes element from[i] of the registers a and b
// together. It is for AVX2 only.
func (a *Asm) Permute(d, x, y Vec, from *[16]uint32) {
	w := a.low
	var r [2]uint8
	for h := range r {
		w.begin()
		if h == 1 {
			w.lock(r[0])
		}
		have := uint8(0) // lanes
		for s := range uint32(4) {
			lanes := uint8(0)
			var index [8]uint32
			for i := range index {
				if f := from[8*h+i] & 31; f>>3 == s {
					lanes |= 1 << i
					index[i] = f & 7
				}
			}
			if lanes == 0 {
				continue
			}
			z := uint8(x)
			if s >= 2 {
				z = uint8(y)
			}
			p := w.permuted(w.src(z, int(s&1)), index, lanes, have == 0)
			switch {
			case have == 0:
				r[h] = w.lock(p.reg)
			default:
				w.e(blendD, r[h], r[h], p, lanes)
			}
			have |= lanes
		}
	}
	w.begin()
	w.lock(r[0])
	w.lock(r[1])
	w.assign(uint8(d), 0, r[0])
	w.assign(uint8(d), 1, r[1])
}

// permuted is s with its lanes in another order, as far as they are wanted; own asks for a register that can be
// changed.
func (w *lowering) permuted(s source, index [8]uint32, lanes uint8, own bool) source {
	same, inLane := true, true
	var order [4]int // of every 128 bits
	for i := range order {
		order[i] = -1
	}
	for i, x := range index {
		if lanes>>i&1 == 0 {
			continue
		}
		same = same && int(x) == i
		inLane = inLane && int(x)/4 == i/4 && (order[i%4] < 0 || order[i%4] == int(x%4))
		order[i%4] = int(x % 4)
	}
	if same && !own {
		return s
	}
	t := w.temp()
	switch {
	case same:
		w.e(MovU32, t, 0, s)
	case inLane:
		imm := uint8(0)
		for i, o := range order {
			imm |= uint8(max(o, 0)) << (2 * i)
		}
		w.e(vexShufD, t, 0, s, imm)
	default:
		w.e(MovU32, t, 0, w.constant(index))
		w.e(PermD, t, t, s)
	}
	return inReg(t)
}

// vexBlendVPS takes words by the mask's upper bits.
var vexBlendVPS = Op{1, 3, 0, 0x4a, vector}

func lowerInsert(w *lowering, i *inst) {
	if i.halves != 2 || i.o.Bcast || i.o.K != 0 {
		w.refuse(i.op)
		return
	}
	at := int(i.imm & 1)
	w.begin()
	s := i.b(w, 0)
	p := w.temp()
	w.a.vex(MovU32, 1, p, 0, s)
	if i.reg != i.vvvv {
		o := w.src(i.vvvv, 1-at)
		q := w.temp()
		w.a.vex(MovU32, 1, q, 0, o)
		w.assign(i.reg, 1-at, q)
	}
	w.assign(i.reg, at, p)
}

func lowerExtract(w *lowering, i *inst) {
	if i.halves != 2 || i.o.K != 0 {
		w.refuse(i.op)
		return
	}
	at := int(i.imm & 1)
	w.begin()
	if i.rm.kind == fromMem {
		w.a.vex(MovU32St, 1, w.use(i.reg, at), 0, i.rm)
		return
	}
	if i.rm.reg != i.reg || at != 0 {
		s := w.src(i.reg, at)
		p := w.temp()
		w.a.vex(MovU32, 1, p, 0, s)
		w.assign(i.rm.reg, 0, p)
	}
	w.zero(i.rm.reg, 1)
}
