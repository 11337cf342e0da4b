package lower

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/tileir"
)

// globals writes the variables of the module.
func (w *module) globals(b *strings.Builder) {}

// constantElement reads an element of a constant from memory.
func (g *fn) constantElement(c *tileir.Constant, t *elem, ix index) reg {
	name := g.w.constants[c]
	if name == "" {
		name = fmt.Sprintf("tile_constant%d", len(g.w.constants))
		g.w.constants[c] = name
		n := c.Type.Elements()
		bytes := make([]byte, 0, n*t.bytes)
		var e [8]byte
		for i := range n {
			bits := c.Bits(i)
			if t.kind == tileir.TF32 {
				bits <<= 13
			}
			binary.LittleEndian.PutUint64(e[:], bits)
			bytes = append(bytes, e[:t.bytes]...)
		}
		writeBytes(&g.w.data, "", name, 16, bytes)
	}
	base := g.e.op(b64, "mov.b64", reg{text: name})
	r, rest := g.e.linear(append(make(index, log2(t.bytes)), ix...))
	if !r.zero() {
		base = g.e.add(64, base, g.e.wide(r))
	}
	return g.load(t, "ld.global", address(base, rest), nil)
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

const printDeclaration = ""

// place notes where an operation stands in the source.
func (g *fn) place(o *tileir.Op) {}
