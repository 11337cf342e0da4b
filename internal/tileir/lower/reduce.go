package lower

import (
	"github.com/gocuda/cuda/internal/tileir"
)

// fold is a reduction or scan: which bits of an element's number count along its dimension, and who works on them. Bits
// from 5 on are rows, which a lane works on one after the other; of the others every lane has one value.
type fold struct {
	o         *tileir.Op
	r         *root
	low, high int // the dimension's bits
	lanes     int // bits of the number that say which lane, at most 5
}

func (g *fn) foldOf(o *tileir.Op) *fold {
	t := o.Operands[0].Type
	f := &fold{o: o, r: g.root(o, 0, t)}
	for _, n := range t.Shape[o.Extra.Dim+1:] {
		f.low += log2(n)
	}
	f.high = f.low + log2(t.Shape[o.Extra.Dim])
	f.lanes = min(f.r.bits, 5)
	return f
}

// along reports whether a bit counts along the dimension.
func (f *fold) along(bit int) bool { return bit >= f.low && bit < f.high }

// rowBits is how many bits of rows there are along the dimension, and how many others.
func (f *fold) rowBits() (inner, outer int) {
	for i := f.lanes; i < f.r.bits; i++ {
		if f.along(i) {
			inner++
		} else {
			outer++
		}
	}
	return inner, outer
}

// index is the number of an element by its lane and rows.
func (f *fold) index(lane, inner, outer index) index {
	ix := append(index{}, lane...)
	for i := f.lanes; i < f.r.bits; i++ {
		if f.along(i) {
			ix, inner = append(ix, inner[0]), inner[1:]
		} else {
			ix, outer = append(ix, outer[0]), outer[1:]
		}
	}
	return ix
}

// laneBits are the bits of the lane that elements' numbers have.
func (g *fn) laneBits(n int) index {
	v := g.laneVar()
	ix := make(index, n)
	for i := range ix {
		ix[i] = ibit{v: v, bit: uint8(i)}
	}
	return ix
}

// loopBits writes a loop over n bits, from the first turn or a later one.
func (g *fn) loopBits(n int, first int64, body func(ix index)) {
	turn := func(i reg) {
		v := &ivar{r: i, width: n}
		ix := make(index, n)
		for k := range ix {
			ix[k] = ibit{v: v, bit: uint8(k)}
		}
		body(ix)
	}
	switch {
	case first >= 1<<n:
	case first == 1<<n-1:
		body(constantIndex(first, n))
	default:
		g.e.loopFrom(first, 1<<n, turn)
	}
}

// elements gives an element of every operand.
func (w *walk) elements(o *tileir.Op, ix index) []reg {
	out := make([]reg, len(o.Operands))
	for i, x := range o.Operands {
		out[i] = w.element(x, w.whole(x, ix))
		if out[i].imm {
			out[i] = w.g.e.op(out[i].class, "mov"+classType[out[i].class], out[i])
		}
	}
	return out
}

// shuffled takes values from other lanes.
func (g *fn) shuffled(vs []reg, how string, from reg, clamp int64) []reg {
	out := make([]reg, len(vs))
	for i, v := range vs {
		out[i] = g.shuffle(v, how, from, clamp)
	}
	return out
}

// reduce combines the elements along a dimension: first those of the rows of each lane, in ascending order, then those
// of lanes, neighbours first.
func (g *fn) reduce(o *tileir.Op) {
	e := g.e
	f := g.foldOf(o)
	inner, outer := f.rowBits()
	for _, v := range o.Results {
		if g.splat[v] {
			g.scalars[v] = e.fresh(typeOf(v.Type.Elem).class)
		} else if g.mode[v] == stored {
			g.slot(v)
		}
	}
	g.versions(f.r, func(w *walk) {
		lane := g.laneBits(f.lanes)
		var write *reg
		mask := int64(31) &^ (1<<f.lanes - 1)
		for i := range f.lanes {
			if f.along(i) {
				mask |= 1 << i
			}
		}
		if mask != 0 {
			p := e.op(pred, "setp.eq.u32", e.op(b32, "and.b32", g.laneVar().r, number(b32, mask)), number(b32, 0))
			write = &p
		}
		g.loopBits(outer, 0, func(out index) {
			acc := w.elements(o, f.index(lane, constantIndex(0, inner), out))
			if inner > 0 {
				for i := range acc {
					acc[i] = e.mutable(acc[i])
				}
				g.loopBits(inner, 1, func(in index) {
					now := make([]reg, len(acc))
					for i, a := range acc {
						now[i] = a
						now[i].level = e.level()
					}
					for i, x := range g.combine(o, w.elements(o, f.index(lane, in, out)), now) {
						e.move(acc[i], x)
					}
				})
			}
			for i := range f.lanes {
				if f.along(i) {
					acc = g.combine(o, acc, g.shuffled(acc, "bfly", number(b32, 1<<i), 31))
				}
			}
			for i, v := range o.Results {
				t := typeOf(v.Type.Elem)
				switch {
				case g.splat[v]:
					e.move(g.scalars[v], g.uniform(acc[i]))
				case g.mode[v] == stored:
					var to index
					for k, b := range f.index(lane, constantIndex(0, inner), out) {
						if !f.along(k) {
							to = append(to, b)
						}
					}
					g.store(t, "st.shared", g.at(g.slots[v], t.bytes, to), acc[i], write)
				}
			}
		})
	})
	g.sync()
}

// scan combines the elements along a dimension up to each one: those of a row by lanes, in steps of 1, 2, 4 ... lanes,
// and the last one's with the next row.
func (g *fn) scan(o *tileir.Op) {
	e := g.e
	f := g.foldOf(o)
	inner, outer := f.rowBits()
	reverse := o.Flags&tileir.Reverse != 0
	for _, v := range o.Results {
		if g.splat[v] {
			g.scalars[v] = e.fresh(typeOf(v.Type.Elem).class)
		} else if g.mode[v] == stored {
			g.slot(v)
		}
	}
	g.versions(f.r, func(w *walk) {
		lane := g.laneBits(f.lanes)
		along := int64(0) // the bits of the lane along the dimension
		for i := range f.lanes {
			if f.along(i) {
				along |= 1 << i
			}
		}
		self := g.laneVar().r
		place := e.op(b32, "and.b32", self, number(b32, along))
		// row combines a row, given the sum of those before.
		row := func(in, out index, carry []reg) []reg {
			ix := f.index(lane, in, out)
			x := w.elements(o, ix)
			for i := range f.lanes {
				if !f.along(i) {
					continue
				}
				var have reg
				var other []reg
				if reverse {
					other = g.shuffled(x, "down", number(b32, 1<<i), 31)
					have = e.op(pred, "setp.le.u32", place, number(b32, along-1<<i))
				} else {
					other = g.shuffled(x, "up", number(b32, 1<<i), 0)
					have = e.op(pred, "setp.ge.u32", place, number(b32, 1<<i))
				}
				for k, y := range g.combine(o, x, other) {
					x[k] = g.choose(have, y, x[k])
				}
			}
			if carry != nil {
				x = g.combine(o, x, carry)
			}
			for i, v := range o.Results {
				t := typeOf(v.Type.Elem)
				switch {
				case g.splat[v]:
					e.move(g.scalars[v], x[i])
				case g.mode[v] == stored:
					g.store(t, "st.shared", g.at(g.slots[v], t.bytes, ix), x[i], w.only())
				}
			}
			return x
		}
		// last takes the sum of a row from the lane that has it.
		last := func(x []reg) []reg {
			if along == 0 {
				return x
			}
			from := e.op(b32, "or.b32", self, number(b32, along))
			if reverse {
				from = e.op(b32, "and.b32", self, number(b32, 31&^along))
			}
			return g.shuffled(x, "idx", from, 31)
		}
		g.loopBits(outer, 0, func(out index) {
			first := constantIndex(0, inner)
			if reverse {
				first = constantIndex(1<<inner-1, inner)
			}
			x := row(first, out, nil)
			if inner == 0 {
				return
			}
			carry := last(x)
			for i := range carry {
				carry[i] = e.mutable(carry[i])
			}
			g.loopBits(inner, 1, func(in index) {
				now := make([]reg, len(carry))
				for i, a := range carry {
					now[i] = a
					now[i].level = e.level()
				}
				if reverse {
					in = g.mirrored(in)
				}
				for i, y := range last(row(in, out, now)) {
					e.move(carry[i], y)
				}
			})
		})
	})
	g.sync()
}

// mirrored counts from the other end.
func (g *fn) mirrored(ix index) index {
	out := make(index, len(ix))
	if ix[0].v == nil {
		for i, b := range ix {
			out[i].one = !b.one
		}
		return out
	}
	n := len(ix)
	v := &ivar{r: g.e.op(b32, "xor.b32", ix[0].v.r, number(b32, 1<<n-1)), width: n}
	for i := range out {
		out[i] = ibit{v: v, bit: uint8(i)}
	}
	return out
}

// combine writes the body of a reduction or scan for an element and the value so far of each operand.
func (g *fn) combine(o *tileir.Op, x, acc []reg) []reg {
	b := o.Regions[0].Blocks[0]
	vals := map[*tileir.Val]reg{}
	for i := range x {
		vals[b.Args[2*i]], vals[b.Args[2*i+1]] = x[i], acc[i]
	}
	return g.evaluate(b, vals)
}

// evaluate writes a block on single elements that differ between lanes, and gives what it yields.
func (g *fn) evaluate(b *tileir.Block, vals map[*tileir.Val]reg) []reg {
	for _, o := range b.Ops {
		g.w.check()
		get := func(vs []*tileir.Val) []reg {
			out := make([]reg, len(vs))
			for i, v := range vs {
				r, ok := vals[v]
				if !ok {
					r, ok = g.scalars[v]
				}
				if !ok {
					g.fail(o, "a tile from outside is used in the body of a reduction or scan")
				}
				out[i] = r
			}
			return out
		}
		switch {
		case o.Code == tileir.Yield:
			return get(o.Operands)
		case o.Code == tileir.If:
			// Nothing in it has an effect: both sides are computed.
			c := get(o.Operands)[0]
			var sides [2][]reg
			for i, r := range o.Regions {
				if len(r.Blocks) > 0 {
					sides[i] = g.evaluate(r.Blocks[0], vals)
				}
			}
			for i, r := range o.Results {
				vals[r] = g.choose(c, sides[0][i], sides[1][i])
			}
		case len(o.Results) != 1 || !isTile(o.Results[0].Type) || o.Results[0].Type.Elements() != 1 || !pure(o.Code):
			g.fail(o, "this operation is not lowered in the body of a reduction or scan")
		case o.Code == tileir.ConstantOp:
			c := o.Extra.Constant
			vals[o.Results[0]] = g.literal(typeOf(c.Type.Elem), c.Bits(0))
		case o.Code == tileir.Iota:
			vals[o.Results[0]] = g.literal(typeOf(o.Results[0].Type.Elem), 0)
		case o.Code == tileir.Cat || o.Code == tileir.Insert || o.Code == tileir.Pack || o.Code == tileir.Unpack:
			g.fail(o, "this operation is not lowered in the body of a reduction or scan")
		default:
			vals[o.Results[0]] = g.apply(o, get(o.Operands))
		}
	}
	return nil
}
