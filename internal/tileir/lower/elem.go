package lower

import (
	"fmt"

	"github.com/gocuda/cuda/internal/tileir"
)

// elem is what is known of the type of an element.
type elem struct {
	kind  tileir.Kind
	class class
	bytes int64 // in memory and in the arena; numbers of four bits have a byte of their own there
	ld    string
	st    string
}

// elems are the types by kind.
var elems = [...]elem{
	tileir.I1:        {class: pred, bytes: 1, ld: "u8", st: "u8"},
	tileir.I4:        {class: b32, bytes: 1, ld: "s8", st: "u8"},
	tileir.I8:        {class: b32, bytes: 1, ld: "s8", st: "u8"},
	tileir.I16:       {class: b32, bytes: 2, ld: "s16", st: "u16"},
	tileir.I32:       {class: b32, bytes: 4, ld: "b32", st: "b32"},
	tileir.I64:       {class: b64, bytes: 8, ld: "b64", st: "b64"},
	tileir.F16:       {class: b16, bytes: 2, ld: "b16", st: "b16"},
	tileir.BF16:      {class: b16, bytes: 2, ld: "b16", st: "b16"},
	tileir.F32:       {class: b32, bytes: 4, ld: "f32", st: "f32"},
	tileir.TF32:      {class: b32, bytes: 4, ld: "b32", st: "b32"},
	tileir.F64:       {class: b64, bytes: 8, ld: "f64", st: "f64"},
	tileir.F8E4M3FN:  {class: b32, bytes: 1, ld: "u8", st: "u8"},
	tileir.F8E5M2:    {class: b32, bytes: 1, ld: "u8", st: "u8"},
	tileir.F8E8M0FNU: {class: b32, bytes: 1, ld: "u8", st: "u8"},
	tileir.F4E2M1FN:  {class: b32, bytes: 1, ld: "u8", st: "u8"},
	tileir.F8E5M3FNU: {class: b32, bytes: 1, ld: "u8", st: "u8"},
	tileir.Pointer:   {class: b64, bytes: 8, ld: "b64", st: "b64"},
}

// typeOf gives what is known of a number or pointer.
func typeOf(t *tileir.Type) *elem { return kindOf(t.Kind) }

func kindOf(k tileir.Kind) *elem {
	e := &elems[k]
	e2 := *e
	e2.kind = k
	return &e2
}

// load reads an element: op is the instruction without its type. With a guard, lanes in which it is false keep pad.
func (g *fn) load(t *elem, op, addr string, guard *reg, pad ...reg) reg {
	c := t.class
	if c == pred {
		c = b32
	}
	r := g.e.fresh(c)
	at := ""
	if guard != nil {
		p := number(c, 0)
		if len(pad) > 0 {
			p = pad[0]
			if t.class == pred {
				p = g.extended(t.kind, p, false)
			}
		}
		g.e.line("mov%s %s, %s", classType[c], r.text, p.text)
		at = "@" + guard.text + " "
	}
	g.e.line("%s%s.%s %s, %s", at, op, t.ld, r.text, addr)
	if t.class == pred {
		return g.e.op(pred, "setp.ne.u32", r, number(b32, 0))
	}
	return r
}

// stored gives an element in the form in which it is written to memory.
func (g *fn) stored(t *elem, v reg) reg {
	if t.class == pred {
		return g.extended(tileir.I1, v, false)
	}
	return v
}

// store writes an element.
func (g *fn) store(t *elem, op, addr string, v reg, guard *reg) {
	v = g.stored(t, v)
	if v.imm && t.class == b16 {
		v = g.e.op(b16, "mov.b16", v)
	}
	at := ""
	if guard != nil {
		at = "@" + guard.text + " "
	}
	g.e.line("%s%s.%s %s, %s", at, op, t.st, addr, v.text)
}

// address writes an address operand.
func (g *fn) address(base reg, disp int64) string {
	base = g.register(base)
	if disp == 0 {
		return "[" + base.text + "]"
	}
	return fmt.Sprintf("[%s+%d]", base.text, disp)
}

// literal gives the bits of an element as a register or number.
func (g *fn) literal(t *elem, bits uint64) reg {
	switch t.class {
	case pred:
		return g.e.op(pred, "setp.ne.b32", number(b32, int64(bits&1)), number(b32, 0))
	case b16:
		return g.e.op(b16, "mov.b16", number(b16, int64(bits&0xffff)))
	case b64:
		if t.kind == tileir.F64 {
			return g.e.op(b64, "mov.b64", number(b64, int64(bits)))
		}
		return number(b64, int64(bits))
	}
	switch {
	case t.kind == tileir.I4:
		bits = uint64(int64(bits<<60) >> 60)
	case t.kind == tileir.I8:
		bits = uint64(int8(bits))
	case t.kind == tileir.I16:
		bits = uint64(int16(bits))
	case t.kind == tileir.F32, t.kind == tileir.TF32:
		if t.kind == tileir.TF32 {
			// The bytes of a constant hold the 19 bits; a register has them in the upper bits of a float.
			bits <<= 13
		}
		return g.e.op(b32, "mov.b32", number(b32, int64(uint32(bits))))
	case t.kind.Float():
		return number(b32, int64(bits))
	}
	return number(b32, int64(int32(bits)))
}
