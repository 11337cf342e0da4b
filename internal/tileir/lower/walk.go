package lower

import (
	"github.com/gocuda/cuda/internal/tileir"
)

// walk is a walk while it is written.
type walk struct {
	g      *fn
	r      *root
	level  int  // its scope: reads of the arena do not leave it
	inside bool // all accesses to views are known to be inside
}

// laneVar is the number of the thread in the warp.
func (g *fn) laneVar() *ivar {
	if g.lane == nil {
		g.lane = &ivar{width: 5}
	}
	g.lane.r = g.e.op(b32, "mov.u32", reg{text: "%tid.x"})
	return g.lane
}

// active is a predicate for the lanes that have an element of a tile with so many bits; nil for all.
func (g *fn) active(bits int) *reg {
	if bits >= 5 {
		return nil
	}
	p := g.e.op(pred, "setp.lt.u32", g.laneVar().r, number(b32, 1<<bits))
	return &p
}

// maxUnrolled bounds how many simple instructions for elements stand in the text of a walk with a loop.
const maxUnrolled = 32

// each goes over the elements of a tile in rows of 32: body is called once for each row that stands in the text.
func (w *walk) each(bits, cost int, body func(ix index)) {
	g := w.g
	lane := g.laneVar()
	var ix index
	for i := range min(bits, 5) {
		ix = append(ix, ibit{v: lane, bit: uint8(i)})
	}
	if bits <= 5 {
		body(ix)
		return
	}
	rows := bits - 5
	// Some rows stand one after the other in a turn of the loop.
	unroll := 0
	for unroll < rows && unroll < 2 && (cost+2)<<(unroll+1) <= maxUnrolled {
		unroll++
	}
	if g.straight {
		unroll = rows
	}
	g.e.loop(1<<(rows-unroll), func(i reg) {
		turn := &ivar{r: i, width: rows - unroll}
		for u := range int64(1) << unroll {
			full := append(append(index{}, ix...), constantIndex(u, unroll)...)
			for k := range rows - unroll {
				full = append(full, ibit{v: turn, bit: uint8(k)})
			}
			body(full)
		}
	})
}

// walk writes a walk in a scope of its own; what only computes may stand in front of it.
func (g *fn) walk(r *root, inside bool, body func(w *walk)) {
	g.e.push(false)
	body(&walk{g: g, r: r, level: g.e.level(), inside: inside})
	g.e.pop()
}

// versions writes a walk, or two of which the first is for the case that all accesses to views are inside.
func (g *fn) versions(r *root, body func(w *walk)) {
	var inside *reg
	if r.bits > 5 {
		for _, o := range r.views {
			inside = g.e.both(inside, g.accessInside(o))
		}
	}
	if inside == nil {
		g.walk(r, r.bits > 5, body)
		return
	}
	slow, end := g.e.label(), g.e.label()
	g.e.line("@!%s bra.uni %s", inside.text, slow)
	for _, in := range []bool{true, false} {
		g.e.inner(func() {
			g.walk(r, in, body)
		})
		if in {
			g.e.line("bra.uni %s", end)
			g.e.bind(slow)
		}
	}
	g.e.bind(end)
}

// element gives an element of a value.
func (w *walk) element(v *tileir.Val, ix index) reg {
	g := w.g
	if r, ok := g.scalars[v]; ok {
		return r
	}
	key := memoKey{v, ix.key()}
	for l := g.e.level(); l >= w.level; l-- {
		if r, ok := g.e.scopes[l].values[key]; ok {
			return r
		}
	}
	var r reg
	switch g.mode[v] {
	case stored:
		slot, ok := g.slots[v]
		if !ok {
			panic("lower: a value is read before it is made")
		}
		t := typeOf(v.Type.Elem)
		r = w.read(t, slot, ix)
	case inline, scalar:
		r = w.compute(v.Op, v, ix)
	default:
		panic("lower: a value without a place is used")
	}
	s := g.e.scopes[max(r.level, w.level)]
	if s.values == nil {
		s.values = map[memoKey]reg{}
	}
	s.values[key] = r
	return r
}

// read reads an element from the arena.
func (w *walk) read(t *elem, slot int64, ix index) reg {
	g := w.g
	c := t.class
	if c == pred {
		c = b32
	}
	r := g.e.opAt(w.level, c, "ld.shared."+t.ld, reg{text: g.at(slot, t.bytes, ix), level: g.indexLevel(ix)})
	if t.class == pred {
		return g.e.op(pred, "setp.ne.u32", r, number(b32, 0))
	}
	return r
}

// indexLevel is the scope in which the number of an element is known.
func (g *fn) indexLevel(ix index) int {
	l := 0
	for _, x := range ix {
		if x.v != nil {
			l = max(l, x.v.r.level)
		}
	}
	return l
}

// compute writes what makes an element of a result.
func (w *walk) compute(o *tileir.Op, v *tileir.Val, ix index) reg {
	g := w.g
	switch o.Code {
	case tileir.ConstantOp:
		c := o.Extra.Constant
		t := typeOf(c.Type.Elem)
		if c.Splat {
			return g.literal(t, c.Bits(0))
		}
		return g.constantElement(o, c, t, ix)
	case tileir.Iota:
		r := g.e.value(ix)
		if v.Type.Elem.Kind == tileir.I64 {
			if r.imm {
				return number(b64, r.v)
			}
			return g.e.op(b64, "cvt.u64.u32", r)
		}
		return g.narrow(v.Type.Elem.Kind, r)
	case tileir.Cat:
		return w.cat(o, ix)
	case tileir.Insert:
		return w.insert(o, ix)
	case tileir.Pack, tileir.Unpack:
		return w.pack(o, ix)
	case tileir.LoadPtr:
		return w.loadPtr(o, ix)
	case tileir.LoadView:
		return w.loadView(o, ix)
	}
	var args []reg
	for i, x := range o.Operands {
		if o.Code == tileir.Extract && i > 0 {
			break
		}
		args = append(args, w.element(x, w.operandIndex(o, i, ix)))
	}
	return g.apply(o, args)
}

// operandIndex is operandIndex for operations that use one element of each operand.
func (w *walk) operandIndex(o *tileir.Op, i int, ix index) index {
	if w.g.splat[o.Operands[i]] {
		return nil
	}
	return w.g.operandIndex(o, i, ix)[0]
}

// cat takes an element of one tile or the other.
func (w *walk) cat(o *tileir.Op, ix index) reg {
	parts := dims(o.Results[0].Type.Shape, ix)
	d := parts[o.Extra.Dim]
	top := d[len(d)-1]
	if top.v == nil {
		i := 0
		if top.one {
			i = 1
		}
		return w.element(o.Operands[i], w.operandIndex(o, i, ix))
	}
	a := w.element(o.Operands[0], w.operandIndex(o, 0, ix))
	b := w.element(o.Operands[1], w.operandIndex(o, 1, ix))
	bit := w.g.e.value(index{top})
	p := w.g.e.op(pred, "setp.ne.u32", bit, number(b32, 0))
	return w.g.choose(p, b, a)
}

// insert takes an element of the source where the indices lead to it.
func (w *walk) insert(o *tileir.Op, ix index) reg {
	g := w.g
	parts := dims(o.Results[0].Type.Shape, ix)
	var p *reg
	for d, n := range o.Operands[0].Type.Shape {
		high := parts[d][log2(n):]
		if len(high) == 0 {
			continue
		}
		at := g.scalars[o.Operands[2+d]]
		q := g.e.op(pred, "setp.eq.u32", g.e.value(high), at)
		p = g.e.both(p, &q)
	}
	a := w.element(o.Operands[0], w.operandIndex(o, 0, ix))
	if p == nil {
		return a
	}
	return g.choose(*p, a, w.element(o.Operands[1], ix))
}

// pack gives parts of elements, or elements that are made up of parts, the lowest first.
func (w *walk) pack(o *tileir.Op, ix index) reg {
	g := w.g
	from, to := typeOf(o.Operands[0].Type.Elem), typeOf(o.Results[0].Type.Elem)
	fromBits, toBits := from.kind.Bits(), to.kind.Bits()
	ixs := g.operandIndex(o, 0, ix)
	if g.splat[o.Operands[0]] {
		for i := range ixs {
			ixs[i] = nil
		}
	}
	if fromBits >= toBits {
		r := g.bitsOf(from, w.element(o.Operands[0], ixs[0]))
		shift := g.e.value(append(make(index, log2(int64(toBits))), ix[:log2(int64(fromBits/toBits))]...))
		if r.class == b64 {
			r = g.e.op(b64, "shr.u64", r, shift)
		} else {
			r = g.e.op(b32, "shr.u32", r, shift)
		}
		return g.fromBits(to, r)
	}
	var r reg
	for k, m := range ixs {
		x := g.bitsOf(from, w.element(o.Operands[0], m))
		if toBits == 64 {
			x = g.e.op(b64, "cvt.u64.u32", x)
			x = g.e.op(b64, "shl.b64", x, number(b32, int64(k*fromBits)))
		} else {
			x = g.e.op(b32, "shl.b32", x, number(b32, int64(k*fromBits)))
		}
		switch {
		case k == 0:
			r = x
		case toBits == 64:
			r = g.e.op(b64, "or.b64", r, x)
		default:
			r = g.e.op(b32, "or.b32", r, x)
		}
	}
	return g.fromBits(to, r)
}
