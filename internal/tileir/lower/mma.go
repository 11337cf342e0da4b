package lower

import (
	"github.com/gocuda/cuda/internal/tileir"
)

// A matrix product is a loop over k of fused multiply-adds: each lane has some elements of the result in registers.
// What is added in ascending order of k, to the element of acc, is rounded after every step, to f32 or f64. An f16
// result is rounded from f32 at the end. Sums of integers saturate after every 32 values of k where an H200's units for
// matrices do the work (recorded: us.64x64x32, su.128x16x64), and wrap around otherwise (su.1x16x16).

// Blocks of the result that a lane holds: 2^mmaRows rows of 2^mmaCols parts of 32 columns.
const (
	mmaRows = 2
	mmaCols = 1
	// 2^mmaSteps values of k stand in a turn of the loop.
	mmaSteps = 2
	// 2^mmaExact products of integers are added without saturation.
	mmaExact = 5
)

// operand is a matrix as the loop over k reads it.
type operand struct {
	t     *elem
	slot  int64
	equal *reg // all elements are this
}

// mma multiplies matrices.
func (g *fn) mma(o *tileir.Op) {
	e := g.e
	v := o.Results[0]
	acc := o.Operands[2]
	kind := acc.Type.Elem.Kind
	work := kindOf(tileir.F32)
	step := "fma.rn.f32"
	switch kind {
	case tileir.F64:
		work, step = kindOf(tileir.F64), "fma.rn.f64"
	case tileir.I32:
		work, step = kindOf(tileir.I32), "mad.lo.s32"
	}
	a, b := g.mmaOperand(o, 0, work), g.mmaOperand(o, 1, work)
	t := typeOf(v.Type.Elem)
	if !g.splat[v] {
		if g.mode[v] != stored {
			return
		}
		g.slot(v)
	} else {
		g.scalars[v] = e.fresh(t.class)
	}
	r := g.root(o, 2, acc.Type)
	shape := v.Type.Shape
	rank := len(shape)
	nBits := log2(shape[rank-1])
	kBits := log2(o.Operands[0].Type.Shape[rank-1])
	// The smallest piece that the units take is 16x8x32.
	saturating := kind == tileir.I32 && shape[rank-2] >= 16 && nBits >= 3 && kBits >= mmaExact
	g.walk(r, false, func(w *walk) {
		lane := g.laneBits(min(r.bits, 5))
		rows := r.bits - len(lane)
		// The bits of rows: columns first, then rows of the matrix.
		cols := max(0, min(nBits-5, rows))
		colsHere := min(cols, mmaCols)
		rowsHere := min(rows-cols, mmaRows)
		g.loopBits(rows-colsHere-rowsHere, 0, func(turn index) {
			var at []index
			var sums []reg
			for u := range int64(1) << (colsHere + rowsHere) {
				here := constantIndex(u, colsHere+rowsHere)
				ix := append(index{}, lane...)
				ix = append(ix, here[:colsHere]...)
				ix = append(ix, turn[:cols-colsHere]...)
				ix = append(ix, here[colsHere:]...)
				ix = append(ix, turn[cols-colsHere:]...)
				at = append(at, ix)
				x := w.element(acc, w.whole(acc, ix))
				if x.imm {
					x = e.op(x.class, "mov"+classType[x.class], x)
				}
				sums = append(sums, e.mutable(g.up(kind, x)))
			}
			parts := sums
			inner := kBits
			if saturating {
				inner = min(kBits, mmaExact)
			}
			g.loopBits(kBits-inner, 0, func(chunk index) {
				if saturating {
					parts = nil
					for range sums {
						parts = append(parts, e.mutable(number(b32, 0)))
					}
				}
				steps := min(inner, mmaSteps)
				g.loopBits(inner-steps, 0, func(high index) {
					for u := range int64(1) << steps {
						k := append(append(constantIndex(u, steps), high...), chunk...)
						for i, ix := range at {
							left, right := dims(shape, ix), dims(shape, ix)
							left[rank-1], right[rank-2] = k, k
							x, y := a.element(w, joined(left)), b.element(w, joined(right))
							e.line("%s %s, %s, %s, %s", step, parts[i].text, x.text, y.text, parts[i].text)
						}
					}
				})
				if saturating {
					for i := range sums {
						part := parts[i]
						part.level = e.level()
						sum := sums[i]
						sum.level = e.level()
						e.move(sums[i], g.saturated(sum, part))
					}
				}
			})
			for i, ix := range at {
				sum := sums[i]
				sum.level = e.level()
				x := g.down(kind, sum, tileir.NearestEven)
				if g.splat[v] {
					e.move(g.scalars[v], x)
					continue
				}
				g.store(t, "st.shared", g.at(g.slots[v], t.bytes, ix), x, w.only())
			}
		})
	})
	g.sync()
}

// saturated adds integers of 32 bits; add.sat.s32 has no machine code here. Where both have another sign than their
// sum, it is the number farthest from zero of their sign.
func (g *fn) saturated(a, b reg) reg {
	e := g.e
	sum := e.op(b32, "add.s32", a, b)
	lost := e.op(b32, "and.b32", e.op(b32, "xor.b32", a, sum), e.op(b32, "xor.b32", b, sum))
	end := e.op(b32, "xor.b32", e.op(b32, "shr.s32", a, number(b32, 31)), number(b32, 0x7fffffff))
	return g.choose(e.op(pred, "setp.lt.s32", lost, number(b32, 0)), end, sum)
}

// element reads an element of an operand.
func (m *operand) element(w *walk, ix index) reg {
	if m.equal != nil {
		return *m.equal
	}
	return w.read(m.t, m.slot, ix)
}

// mmaOperand has an operand stand in the arena in the type that is computed with.
func (g *fn) mmaOperand(o *tileir.Op, i int, t *elem) *operand {
	v := o.Operands[i]
	k := v.Type.Elem.Kind
	sign := o.Sign
	if i == 1 {
		sign = o.SignRHS
	}
	convert := func(x reg) reg {
		if k == tileir.I8 {
			return g.extended(k, x, sign == tileir.Signed)
		}
		return g.unpacked(o, k, x)
	}
	if g.splat[v] {
		x := convert(g.scalars[v])
		if x.imm {
			x = g.e.op(x.class, "mov"+classType[x.class], x)
		}
		return &operand{t: t, equal: &x}
	}
	if at, ok := g.slots[v]; ok && g.mode[v] == stored && (k == tileir.F32 || k == tileir.TF32 || k == tileir.F64) {
		return &operand{t: t, slot: at}
	}
	slot := g.room(v.Type.Elements(), t.bytes, g.now)
	g.fill(g.root(o, i, v.Type), t, slot, func(w *walk, ix index) reg { return convert(w.element(v, ix)) })
	return &operand{t: t, slot: slot}
}
