package lower

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/tileir"
)

// elementsOf gives the bytes that a constant has in memory.
func elementsOf(c *tileir.Constant) []byte {
	t := typeOf(c.Type.Elem)
	n := c.Type.Elements()
	out := make([]byte, 0, n*t.bytes)
	var e [8]byte
	for i := range n {
		bits := c.Bits(i)
		if t.kind == tileir.TF32 {
			bits <<= 13
		}
		binary.LittleEndian.PutUint64(e[:], bits)
		out = append(out, e[:t.bytes]...)
	}
	return out
}

// globalOp is the opcode of a global, which no body has.
const globalOp tileir.Opcode = 0x31

// maxAlign is the largest alignment of a global in bytes.
const maxAlign = 1 << 12

// globals writes the variables of the module.
func (w *module) globals(b *strings.Builder) error {
	for i := range w.m.Globals {
		v := &w.m.Globals[i]
		t := typeOf(v.Value.Type.Elem)
		if !plainName(v.Name) || t.kind.Bits() == 4 || v.Align&(v.Align-1) != 0 || v.Align > maxAlign {
			return &Error{Func: v.Name, Op: globalOp, Offset: v.Offset,
				Words: "a global of this name, type or alignment is not lowered"}
		}
		visible := ".visible "
		if v.Visibility == tileir.Private {
			visible = ""
		}
		writeBytes(b, visible, v.Name, max(v.Align, uint64(t.bytes)), elementsOf(v.Value))
	}
	return nil
}

// plainName reports whether PTX takes a name.
func plainName(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// maxData bounds the text of constants, each of whose bytes takes up to four.
const maxData = 1 << 28

// plainText leaves out of a name what a string of PTX may not have.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\\':
			return '/'
		case r < ' ' || r > '~' || r == '"':
			return '_'
		}
		return r
	}, s)
}

// constantElement reads an element of a constant from memory.
func (g *fn) constantElement(o *tileir.Op, c *tileir.Constant, t *elem, ix index) reg {
	name := g.w.constants[c]
	if name == "" {
		name = fmt.Sprintf("tile$constant%d", len(g.w.constants))
		g.w.constants[c] = name
		if n := c.Type.Elements() * t.bytes; int64(g.w.data.Len())+4*n > maxData {
			g.fail(o, "constants take more than %d bytes of text", int64(maxData))
		}
		writeBytes(&g.w.data, "", name, 16, elementsOf(c))
	}
	base := g.e.op(b64, "mov.b64", reg{text: name})
	r, rest := g.e.linear(append(make(index, log2(t.bytes)), ix...))
	if !r.zero() {
		base = g.e.add(64, base, g.e.wide(r))
	}
	return g.load(t, "ld.global", g.address(base, rest), nil)
}

// writeBytes writes a variable in global memory.
func writeBytes(b *strings.Builder, visible, name string, align uint64, data []byte) {
	fmt.Fprintf(b, "%s.global .align %d .b8 %s[%d] = {", visible, align, name, len(data))
	for i, x := range data {
		if i > 0 {
			b.WriteByte(',')
		}
		if i%32 == 0 {
			b.WriteString("\n\t")
		}
		fmt.Fprintf(b, "%d", x)
	}
	b.WriteString("\n};\n")
}

// mark notes where an operation stands in the source.
func (g *fn) mark(o *tileir.Op) {
	l, ok := g.w.m.Location(o.Loc)
	if !ok || o.Loc == g.line || l.File == "" {
		return
	}
	g.line = o.Loc
	n := g.w.files[l.File]
	if n == 0 {
		n = len(g.w.files) + 1
		g.w.files[l.File] = n
		g.w.fileNames = append(g.w.fileNames, l.File)
	}
	g.e.raw(fmt.Sprintf("\t.loc %d %d %d\n", n, uint32(l.Line), uint32(l.Column)))
}
