package lower

import (
	"math"

	"github.com/gocuda/cuda/internal/tileir"
)

// view is a tensor view, or a view of its tiles.
type view struct {
	t       *tileir.Type
	base    reg
	shape   []reg // 64 bits
	strides []reg // 64 bits, in elements
}

// makeTensorView notes where a tensor lies.
func (g *fn) makeTensorView(o *tileir.Op) {
	t := o.Results[0].Type
	v := &view{t: t, base: g.scalars[o.Operands[0]]}
	take := func(dims []int64, group []*tileir.Val) (out []reg) {
		for _, d := range dims {
			if d != tileir.Dynamic {
				out = append(out, number(b64, d))
				continue
			}
			out = append(out, g.toLong(group[0]))
			group = group[1:]
		}
		return out
	}
	v.shape, v.strides = take(t.Shape, o.Group(1)), take(t.Strides, o.Group(2))
	g.views[o.Results[0]] = v
}

// toLong gives a scalar integer in 64 bits, with its sign.
func (g *fn) toLong(v *tileir.Val) reg {
	return g.convertInt(v.Type.Elem.Kind, tileir.I64, g.scalars[v], true)
}

// tileView notes a view of tiles of a tensor.
func (g *fn) tileView(o *tileir.Op) {
	of := g.views[o.Operands[0]]
	g.views[o.Results[0]] = &view{t: o.Results[0].Type, base: of.base, shape: of.shape, strides: of.strides}
}

// dimOf is the dimension of the tensor that a dimension of the tile lies along.
func dimOf(t *tileir.Type, d int) int {
	if t.Kind == tileir.GatherScatterView {
		return d
	}
	return int(t.DimMap[d])
}

// stepOf is how far apart tiles are along a dimension of theirs. In a view of chosen rows the other indices count
// elements (CUDA Tile C++ API reference, "Gather Scatter View": the starting position of each chunk).
func stepOf(t *tileir.Type, d int) int64 {
	switch t.Kind {
	case tileir.StridedView:
		return t.Strides[d]
	case tileir.GatherScatterView:
		return 1
	}
	return t.Shape[d]
}

// indices are the operands that say which tile of a view is accessed.
func indices(o *tileir.Op) []*tileir.Val {
	for i, s := range o.Info().Operands {
		if s.Name == "index" {
			return o.Group(i)
		}
	}
	return nil
}

// sparseIndex says which number of a row a gather or scatter needs for an element: that along the sparse dimension.
func (g *fn) sparseIndex(o *tileir.Op, i int, ix index) []index {
	t := o.Operand("view").Type
	if t.Kind != tileir.GatherScatterView {
		return nil
	}
	return []index{dims(t.Shape, ix)[t.SparseDim]}
}

// sparse notes the use of row numbers by a store to a view.
func (g *fn) sparse(o *tileir.Op, r *root, ix index) {
	for _, x := range indices(o) {
		if isTile(x.Type) && !g.splat[x] {
			for _, m := range g.sparseIndex(o, 0, ix) {
				g.use(x, r, m)
			}
		}
	}
}

// start is the first coordinate of the accessed tile along a dimension of it.
func (g *fn) start(o *tileir.Op, d int) reg {
	t := o.Operand("view").Type
	return g.e.mul(64, g.toLong(indices(o)[d]), number(b64, stepOf(t, d)))
}

func sparseDim(t *tileir.Type, d int) bool {
	return t.Kind == tileir.GatherScatterView && int64(d) == t.SparseDim
}

// accessInside is a predicate that holds when an access needs no masks; nil when it never needs any. One with row
// numbers is judged by the other dimensions.
func (g *fn) accessInside(o *tileir.Op) *reg {
	v := g.views[o.Operand("view")]
	var all *reg
	for d, n := range v.t.Shape {
		if sparseDim(v.t, d) || o.InBounds(d) {
			continue
		}
		start, shape := g.start(o, d), v.shape[dimOf(v.t, d)]
		room := g.e.sub(64, shape, number(b64, n))
		if start.imm && room.imm && start.v >= 0 && start.v <= room.v {
			continue
		}
		if start.imm {
			start = g.e.op(b64, "mov.b64", start)
		}
		p := g.e.op(pred, "setp.ge.s64", start, number(b64, 0))
		q := g.e.op(pred, "setp.le.s64", start, room)
		all = g.e.both(all, g.e.both(&p, &q))
	}
	return all
}

// place gives the address of an element of a view, and the predicate that it is inside; nil when it is known to be.
func (w *walk) place(o *tileir.Op, ix index) (addr string, inside *reg) {
	g, e := w.g, w.g.e
	v := g.views[o.Operand("view")]
	t := v.t
	bytes := int64(typeOf(t.View.Elem).bytes)
	base := v.base
	disp := int64(0)
	var parts []reg
	for d, m := range dims(t.Shape, ix) {
		dim := dimOf(t, d)
		stride := e.mul(64, v.strides[dim], number(b64, bytes))
		if sparseDim(t, d) {
			row := indices(o)[d]
			k := row.Type.Elem.Kind
			at := g.convertInt(k, tileir.I64, w.element(row, w.whole(row, m)), true)
			parts = append(parts, e.mul(64, at, stride))
			if !o.InBounds(d) {
				p := e.op(pred, "setp.lt.u64", at, v.shape[dim])
				inside = e.both(inside, &p)
			}
			continue
		}
		start := g.start(o, d)
		base = e.add(64, base, e.mul(64, start, stride))
		ps, rest := e.pieces(m)
		for _, p := range ps {
			parts = append(parts, w.scaled(p, stride))
		}
		if rest != 0 {
			if stride.imm && rest*stride.v < math.MaxInt16 && rest*stride.v > math.MinInt16 {
				disp += rest * stride.v
			} else {
				parts = append(parts, e.mul(64, number(b64, rest), stride))
			}
		}
		if !w.inside && !o.InBounds(d) {
			if p := w.within(start, m, v.shape[dim], t.Shape[d]); p != nil {
				inside = e.both(inside, p)
			}
		}
	}
	sortByLevel(parts)
	for _, p := range parts {
		base = e.add(64, base, p)
	}
	return g.address(base, disp), inside
}

// scaled multiplies a part of an index by a stride.
func (w *walk) scaled(p, stride reg) reg {
	e := w.g.e
	if p.imm {
		return e.mul(64, number(b64, p.v), stride)
	}
	if stride.imm && stride.v == int64(int32(stride.v)) {
		return e.op(b64, "mul.wide.s32", p, number(b32, stride.v))
	}
	return e.mul(64, e.wide(p), stride)
}

// within is a predicate that a coordinate is inside a dimension.
func (w *walk) within(start reg, m index, shape reg, n int64) *reg {
	e := w.g.e
	if start.imm && shape.imm && start.v >= 0 && start.v+n <= shape.v {
		return nil
	}
	at := e.add(64, start, e.wide(e.value(m)))
	if at.imm {
		at = e.op(b64, "mov.b64", at)
	}
	p := e.op(pred, "setp.lt.u64", at, shape)
	return &p
}

// loadView loads an element of a view.
func (w *walk) loadView(o *tileir.Op, ix index) reg {
	g := w.g
	v := g.views[o.Operand("view")]
	t := typeOf(v.t.View.Elem)
	g.noFourBits(o, t)
	addr, inside := w.place(o, ix)
	pad := g.literal(t, paddingBits(t.kind, v.t.Padding))
	return g.load(t, "ld"+g.ordered(o)+g.space(), addr, inside, pad)
}

// storeView stores a tile to a view.
func (g *fn) storeView(o *tileir.Op) {
	v := g.views[o.Operand("view")]
	t := typeOf(v.t.View.Elem)
	g.noFourBits(o, t)
	x := o.Operand("tile")
	g.before(o)
	g.rows(g.root(o, 0, x.Type), func(w *walk, ix index) {
		addr, inside := w.place(o, ix)
		r := w.element(x, w.whole(x, ix))
		g.store(t, "st"+g.ordered(o)+g.space(), addr, r, g.e.both(inside, w.only()))
	})
}

// indexSpace gives how many tiles a view has along each dimension.
func (g *fn) indexSpace(o *tileir.Op) {
	v := g.views[o.Operands[0]]
	e := g.e
	for d, r := range o.Results {
		n := v.shape[dimOf(v.t, d)]
		if !sparseDim(v.t, d) {
			step := stepOf(v.t, d)
			n = e.add(64, n, number(b64, step-1))
			if n.imm {
				n = number(b64, n.v/step)
			} else if step > 1 {
				n = e.op(b64, "div.s64", n, number(b64, step))
			}
		}
		g.setScalar(r, g.convertInt(tileir.I64, r.Type.Elem.Kind, n, true))
	}
}

// tensorShape gives the dimensions of a tensor.
func (g *fn) tensorShape(o *tileir.Op) {
	v := g.views[o.Operands[0]]
	for d, r := range o.Results {
		g.setScalar(r, g.convertInt(tileir.I64, r.Type.Elem.Kind, v.shape[d], true))
	}
}
