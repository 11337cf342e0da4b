package lower

import (
	"github.com/gocuda/cuda/internal/tileir"
)

var scopeNames = map[tileir.Scope]string{tileir.TileBlockScope: ".cta", tileir.DeviceScope: ".gpu",
	tileir.SystemScope: ".sys"}

// space is the state space that pointers lead to.
func (g *fn) space() string {
	if g.generic {
		return ""
	}
	return ".global"
}

// ordered is the part of an instruction's name that says its memory order.
func (g *fn) ordered(o *tileir.Op) string {
	switch o.MemoryOrder {
	case tileir.Relaxed:
		return ".relaxed" + scopeNames[o.Scope]
	case tileir.Acquire:
		return ".acquire" + scopeNames[o.Scope]
	case tileir.Release:
		return ".release" + scopeNames[o.Scope]
	case tileir.AcquireRelease:
		return ".acq_rel" + scopeNames[o.Scope]
	}
	return ""
}

// before has the accesses of all lanes made before one that releases them.
func (g *fn) before(o *tileir.Op) {
	if o.MemoryOrder == tileir.Release || o.MemoryOrder == tileir.AcquireRelease {
		g.sync()
	}
}

// behind has no lane go on before one that acquires.
func (g *fn) behind(o *tileir.Op) {
	if o.MemoryOrder == tileir.Acquire || o.MemoryOrder == tileir.AcquireRelease {
		g.sync()
	}
}

// noFourBits refuses elements that have no address of their own.
func (g *fn) noFourBits(o *tileir.Op, t *elem) {
	if t.kind != tileir.Pointer && t.kind.Bits() == 4 {
		g.fail(o, "elements of four bits cannot be loaded or stored here")
	}
}

// guard is an element of an optional mask, together with another guard.
func (w *walk) guard(o *tileir.Op, ix index, also *reg) *reg {
	m := o.Operand("mask")
	if m == nil {
		return also
	}
	p := w.element(m, w.whole(m, ix))
	return w.g.e.both(also, &p)
}

// whole is an index for a value, none for one whose elements are all the same.
func (w *walk) whole(v *tileir.Val, ix index) index {
	if w.g.splat[v] {
		return nil
	}
	return ix
}

// only is active for memory operations: the lanes that have an element.
func (w *walk) only() *reg { return w.g.active(w.r.bits) }

// loadPtr loads an element through its pointer.
func (w *walk) loadPtr(o *tileir.Op, ix index) reg {
	g := w.g
	t := typeOf(o.Results[0].Type.Elem)
	g.noFourBits(o, t)
	src := o.Operand("source")
	p := w.element(src, w.whole(src, ix))
	guard := w.guard(o, ix, nil)
	var pad []reg
	if v := o.Operand("paddingValue"); v != nil {
		pad = append(pad, w.element(v, w.whole(v, ix)))
	}
	return g.load(t, "ld"+g.ordered(o)+g.space(), g.address(p, 0), guard, pad...)
}

// storePtr stores elements through pointers.
func (g *fn) storePtr(o *tileir.Op) {
	t := typeOf(o.Operand("value").Type.Elem)
	g.noFourBits(o, t)
	g.before(o)
	g.rows(g.root(o, 0, o.Operand("value").Type), func(w *walk, ix index) {
		dst, v := o.Operand("destination"), o.Operand("value")
		p := w.element(dst, w.whole(dst, ix))
		x := w.element(v, w.whole(v, ix))
		g.store(t, "st"+g.ordered(o)+g.space(), g.address(p, 0), x, w.guard(o, ix, w.only()))
	})
}

// rows writes a walk over all elements of a tile.
func (g *fn) rows(r *root, body func(w *walk, ix index)) {
	g.versions(r, func(w *walk) {
		w.each(r.bits, r.cost, func(ix index) { body(w, ix) })
	})
}

// uniform makes the same value of lane 0 that of all lanes.
func (g *fn) uniform(r reg) reg { return g.shuffle(r, "idx", number(b32, 0), 31) }

// shuffle takes a value from another lane.
func (g *fn) shuffle(r reg, how string, from reg, clamp int64) reg {
	e := g.e
	move := func(x reg) reg {
		y := e.fresh(b32)
		e.line("shfl.sync.%s.b32 %s, %s, %s, %d, 0xffffffff", how, y.text, x.text, from.text, clamp)
		return y
	}
	switch r.class {
	case pred:
		return e.op(pred, "setp.ne.u32", move(g.extended(tileir.I1, r, false)), number(b32, 0))
	case b16:
		return e.op(b16, "cvt.u16.u32", move(e.op(b32, "cvt.u32.u16", r)))
	case b64:
		low, high := e.op(b32, "cvt.u32.u64", r), e.op(b32, "cvt.u32.u64", e.op(b64, "shr.u64", r, number(b32, 32)))
		low, high = move(low), move(high)
		return e.op(b64, "or.b64", e.op(b64, "cvt.u64.u32", low),
			e.op(b64, "shl.b64", e.op(b64, "cvt.u64.u32", high), number(b32, 32)))
	}
	if r.imm {
		return r
	}
	return move(r)
}
