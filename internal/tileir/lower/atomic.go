package lower

import (
	"github.com/gocuda/cuda/internal/tileir"
)

// atomicName is the operation and the type of an atomic instruction; "" when there is none.
func atomicName(mode tileir.RMW, k tileir.Kind) string {
	w := "32"
	if k.Bits() == 64 {
		w = "64"
	}
	if b := k.Bits(); b != 32 && b != 64 {
		switch {
		case mode == tileir.RMWAddF && k == tileir.F16:
			return "add.noftz.f16"
		case mode == tileir.RMWAddF && k == tileir.BF16:
			return "add.noftz.bf16"
		}
		return ""
	}
	switch mode {
	case tileir.RMWAnd:
		return "and.b" + w
	case tileir.RMWOr:
		return "or.b" + w
	case tileir.RMWXor:
		return "xor.b" + w
	case tileir.RMWAdd:
		return "add.u" + w
	case tileir.RMWAddF:
		return "add.f" + w
	case tileir.RMWMax:
		return "max.s" + w
	case tileir.RMWMin:
		return "min.s" + w
	case tileir.RMWUMax:
		return "max.u" + w
	case tileir.RMWUMin:
		return "min.u" + w
	case tileir.RMWExchange:
		return "exch.b" + w
	}
	return ""
}

// register gives an operand that may be a number as a register.
func (g *fn) register(r reg) reg {
	if !r.imm {
		return r
	}
	return g.e.op(r.class, "mov"+classType[r.class], r)
}

// atomic makes the atomic operations of a tile, each for itself, and keeps what stood there where that is wanted.
func (g *fn) atomic(o *tileir.Op) {
	e := g.e
	v := o.Results[0]
	t := typeOf(v.Type.Elem)
	cas := o.Code == tileir.AtomicCAS
	name := atomicName(o.RMW, t.kind)
	if cas {
		name = map[class]string{b16: "cas.b16", b32: "cas.b32", b64: "cas.b64"}[t.class]
		if t.bytes < 2 {
			name = ""
		}
	}
	if name == "" {
		g.fail(o, "there is no such atomic operation on %s", elemName(t.kind))
	}
	name = "atom" + g.ordered(o) + g.space() + "." + name
	value, compare := o.Operand("arg"), (*tileir.Val)(nil)
	if cas {
		value, compare = o.Operand("val"), o.Operand("cmp")
	}
	wanted := g.splat[v] || g.mode[v] == stored
	if g.splat[v] {
		g.scalars[v] = e.fresh(t.class)
	} else if wanted {
		g.slot(v)
	}
	g.before(o)
	g.rows(g.root(o, 0, v.Type), func(w *walk, ix index) {
		ptr := o.Operand("pointers")
		p := w.element(ptr, w.whole(ptr, ix))
		x := g.register(w.element(value, w.whole(value, ix)))
		old := e.fresh(t.class)
		// A lane without the operation has the value that it compares with, or any.
		first := x
		args := x.text
		if cas {
			first = g.register(w.element(compare, w.whole(compare, ix)))
			args = first.text + ", " + x.text
		}
		at := ""
		if guard := w.guard(o, ix, w.only()); guard != nil {
			at = "@" + guard.text + " "
			e.move(old, first)
		}
		e.line("%s%s %s, %s, %s", at, name, old.text, g.address(p, 0), args)
		if t.kind == tileir.I16 {
			old = g.narrow(t.kind, old)
		}
		switch {
		case g.splat[v]:
			e.move(g.scalars[v], g.uniform(old))
		case wanted:
			g.store(t, "st.shared", g.at(g.slots[v], t.bytes, ix), old, w.only())
		}
	})
	if wanted && !g.splat[v] {
		g.sync()
	}
	g.behind(o)
}

// reduceView makes atomic operations on the elements of a view whose old values nobody wants.
func (g *fn) reduceView(o *tileir.Op) {
	v := o.Operand("value")
	t := typeOf(v.Type.Elem)
	name := atomicName(o.RMW, t.kind)
	if name == "" || o.RMW == tileir.RMWExchange {
		g.fail(o, "there is no such atomic operation on %s", elemName(t.kind))
	}
	name = "red" + g.ordered(o) + g.space() + "." + name
	g.before(o)
	g.rows(g.root(o, 0, v.Type), func(w *walk, ix index) {
		addr, inside := w.place(o, ix)
		x := g.register(w.element(v, w.whole(v, ix)))
		at := ""
		if guard := g.e.both(inside, w.only()); guard != nil {
			at = "@" + guard.text + " "
		}
		g.e.line("%s%s %s, %s", at, name, addr, x.text)
	})
	g.behind(o)
}
