package lower

import (
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/tileir"
)

// What a print says goes to the software device's function of this name, so that the text of a tile is written at once.
// Its arguments: the format, words that describe the operands, and where the arena begins. The words: the number of
// operands; for each, its kind (printInt, printLong, printFloat), where its elements lie in the arena in 64 bits each,
// its rank and its shape.
const printName = "gocuda_tile_print"

const (
	printInt = iota
	printLong
	printFloat
)

// printDeclaration declares the functions that print.
const printDeclaration = `.extern .func ` + printName + `(.param .b64 format, .param .b64 shapes, .param .b64 elements);
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 values);
`

// literal gives the name of a string in memory.
func (w *module) literal(s string) string {
	if n, ok := w.strings[s]; ok {
		return n
	}
	n := fmt.Sprintf("tile$string%d", len(w.strings))
	w.strings[s] = n
	writeBytes(&w.data, "", n, 1, append([]byte(s), 0))
	return n
}

// print writes the elements of tiles by a format.
func (g *fn) print(o *tileir.Op) {
	g.w.prints = true
	args := o.Group(0)
	words := []uint32{uint32(len(args))}
	for i, v := range args {
		t := typeOf(v.Type.Elem)
		at := g.room(v.Type.Elements(), 8, g.now)
		kind := uint32(printInt)
		switch {
		case t.kind == tileir.Pointer || t.kind == tileir.I64:
			kind = printLong
		case t.kind.Float():
			kind = printFloat
		}
		words = append(words, kind, uint32(at), uint32(v.Type.Rank()))
		for _, d := range v.Type.Shape {
			words = append(words, uint32(d))
		}
		g.fill(g.root(o, i, v.Type), kindOf(tileir.I64), at, func(w *walk, ix index) reg {
			return g.printed(o, t, w.element(v, w.whole(v, ix)))
		})
	}
	name := fmt.Sprintf("tile$print%d", g.w.descriptions)
	g.w.descriptions++
	fmt.Fprintf(&g.w.data, ".global .align 4 .b32 %s[%d] = {%s};\n", name, len(words),
		strings.Join(strings.Fields(strings.Trim(fmt.Sprint(words), "[]")), ", "))
	e := g.e
	arena := "0"
	if len(args) > 0 {
		arena = e.op(b64, "cvta.shared.u64", e.op(b64, "mov.b64", reg{text: arenaName})).text
	}
	g.firstLane(func() {
		format, shapes := e.fresh(b64), e.fresh(b64)
		e.line("mov.b64 %s, %s", format.text, g.w.literal(o.Extra.Name))
		e.line("mov.b64 %s, %s", shapes.text, name)
		e.raw("{\n")
		e.line(".param .b64 format")
		e.line(".param .b64 shapes")
		e.line(".param .b64 elements")
		e.line("st.param.b64 [format], %s", format.text)
		e.line("st.param.b64 [shapes], %s", shapes.text)
		e.line("st.param.b64 [elements], %s", arena)
		e.line("call %s, (format, shapes, elements)", printName)
		e.raw("}\n")
	})
}

// printed gives an element in 64 bits: an integer with its sign, a float as f64.
func (g *fn) printed(o *tileir.Op, t *elem, r reg) reg {
	switch {
	case t.kind == tileir.Pointer:
		return r
	case t.kind.Integer():
		return g.convertInt(t.kind, tileir.I64, r, t.kind != tileir.I1)
	case t.kind == tileir.F64:
		return r
	}
	return g.e.op(b64, "cvt.f64.f32", g.unpacked(o, t.kind, r))
}

// assert ends the kernel if an element is false. What is printed then was recorded on an H200.
func (g *fn) assert(o *tileir.Op) {
	g.w.prints = true
	e := g.e
	v := o.Operands[0]
	shape := v.Type.Shape
	where := "(unknown):0"
	if l, ok := g.w.m.Location(o.Loc); ok {
		where = fmt.Sprintf("%s:%d", l.File, l.Line)
	}
	format := strings.ReplaceAll(where, "%", "%%") + ": tile block: [%d, %d, %d], position: [" +
		strings.TrimSuffix(strings.Repeat("%d, ", len(shape)), ", ") + "]: " +
		strings.ReplaceAll(o.Extra.Name, "%", "%%") + "\n"
	n := 4 * (3 + len(shape))
	g.depot = max(g.depot, n)
	g.rows(g.root(o, 0, v.Type), func(w *walk, ix index) {
		good := w.element(v, w.whole(v, ix))
		ok := e.label()
		e.line("@%s bra %s", good.text, ok)
		if p := w.only(); p != nil {
			e.line("@!%s bra %s", p.text, ok)
		}
		e.inner(func() {
			var values []reg
			for _, axis := range "xyz" {
				values = append(values, e.op(b32, "mov.u32", reg{text: "%ctaid." + string(axis)}))
			}
			for _, d := range dims(shape, ix) {
				values = append(values, e.value(d))
			}
			for i, x := range values {
				e.line("st.local.b32 [%s+%d], %s", depotName, 4*i, g.register(x).text)
			}
			f, a := e.fresh(b64), e.fresh(b64)
			e.line("mov.b64 %s, %s", f.text, g.w.literal(format))
			e.line("mov.b64 %s, %s", a.text, depotName)
			e.line("cvta.local.u64 %s, %s", a.text, a.text)
			e.raw("{\n")
			e.line(".param .b64 format")
			e.line(".param .b64 values")
			e.line(".param .b32 result")
			e.line("st.param.b64 [format], %s", f.text)
			e.line("st.param.b64 [values], %s", a.text)
			e.line("call (result), vprintf, (format, values)")
			e.raw("}\n")
			e.line("trap")
		})
		e.bind(ok)
	})
	g.sync()
}
