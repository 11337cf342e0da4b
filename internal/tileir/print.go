package tileir

import (
	"math"
	"strconv"
)

func floatBits32(v float64) uint32 { return math.Float32bits(float32(v)) }
func floatBits64(v float64) uint64 { return math.Float64bits(v) }

// MaxText is the longest listing, in bytes. A module can be far shorter than its text.
const MaxText = 256 << 20

// Text prints a verified module as NVIDIA's tileirdisasm does. The error is an *Error: of a body that cannot be
// decoded, or TooLarge.
func (m *Module) Text() ([]byte, error) { return m.text(MaxText) }

func (m *Module) text(limit int) ([]byte, error) {
	p := printer{buffer: buffer{max: limit}}
	for i := range m.Globals {
		p.global(&m.Globals[i])
	}
	for _, f := range m.Funcs {
		b, err := f.Body()
		if err != nil {
			return nil, err
		}
		p.function(f, b)
	}
	if len(m.Globals)+len(m.Funcs) == 0 {
		p.string("\n")
	}
	if p.full {
		return nil, &Error{Class: TooLarge, Local: -1,
			Words: "the text has more than " + strconv.Itoa(limit) + " bytes"}
	}
	return p.b, nil
}

// printer writes a listing.
type printer struct {
	buffer
	names names
	depth int
}

func (p *printer) newline() {
	p.string("\n")
	for range p.depth {
		p.string("  ")
	}
}

func (p *printer) global(g *Global) {
	p.string("global ")
	if g.Visibility == Private {
		p.string("private ")
	}
	if g.Constant {
		p.string(" constant")
	}
	p.string(" ")
	p.symbol(g.Name)
	if g.Align != 0 {
		p.string(" alignment = ")
		p.int(int64(g.Align))
	}
	p.string(" ")
	p.constant(g.Value)
	p.string("\n")
}

func (p *printer) function(f *Func, b *Block) {
	p.string("entry ")
	p.symbol(f.Name)
	p.string("(")
	p.names = newNames()
	if !p.names.region(nil, Region{Blocks: []*Block{b}}, namingState{}, p.max) {
		p.full = true
	}
	for i, a := range b.Args {
		if i > 0 {
			p.string(", ")
		}
		p.value(a)
		p.string(": ")
		p.typ(a.Type)
	}
	p.string(")")
	if f.Hints != nil && len(f.Hints.Keys) > 0 {
		p.string(" optimization_hints=")
		p.hints(f.Hints)
	}
	p.string(" ")
	p.block(b, true)
	p.string("\n")
}

// block writes a block in braces, with or without the operation that ends it.
func (p *printer) block(b *Block, last bool) {
	p.string("{")
	p.depth++
	ops := b.Ops
	if !last && len(ops) > 0 {
		ops = ops[:len(ops)-1]
	}
	for _, o := range ops {
		if p.full {
			break
		}
		p.newline()
		p.op(o)
	}
	p.depth--
	p.newline()
	p.string("}")
}

// symbol writes a name with @, quoted where it is no identifier.
func (p *printer) symbol(s string) {
	p.string("@")
	plain := s != ""
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '$' && c != '.' && (c < '0' || c > '9')) {
			plain = false
		}
	}
	if plain {
		p.string(s)
	} else {
		p.quoted(s)
	}
}

// quoted writes a string in quotes, with bytes that cannot be printed in hexadecimal.
func (b *buffer) quoted(s string) {
	const hex = "0123456789ABCDEF"
	b.string(`"`)
	for i := 0; i < len(s) && !b.full; i++ {
		switch c := s[i]; {
		case c == '\\':
			b.string(`\\`)
		case c < ' ' || c > '~' || c == '"':
			b.string(string([]byte{'\\', hex[c>>4], hex[c&15]}))
		default:
			b.string(s[i : i+1])
		}
	}
	b.string(`"`)
}

// constant writes a constant as <type: value> : tile.
func (p *printer) constant(c *Constant) {
	p.string("<")
	p.fullType(c.Type.Elem)
	p.string(": ")
	if n := c.Type.Elements(); !c.Splat && n > maxListed {
		p.hexData(c)
	} else {
		p.elements(c)
	}
	p.string("> : ")
	p.typ(c.Type)
}

// maxListed is the largest number of elements that are written one by one.
const maxListed = 100

// hexData writes the bytes of a constant.
func (p *printer) hexData(c *Constant) {
	const hex = "0123456789ABCDEF"
	p.string(`"0x`)
	for _, v := range c.Data {
		if p.full {
			return
		}
		p.string(string([]byte{hex[v>>4], hex[v&15]}))
	}
	p.string(`"`)
}

func (p *printer) elements(c *Constant) {
	if c.Splat {
		p.element(c.Type.Elem.Kind, c.Bits(0))
		return
	}
	shape := c.Type.Shape
	n := c.Type.Elements()
	for i := range n {
		if i > 0 {
			p.string(", ")
		}
		// A bracket opens for each dimension that starts here.
		for size, d := n, 0; d < len(shape); d++ {
			if i%size == 0 {
				p.string("[")
			}
			size /= shape[d]
		}
		p.element(c.Type.Elem.Kind, c.Bits(i))
		for size, d := n, 0; d < len(shape); d++ {
			if (i+1)%size == 0 {
				p.string("]")
			}
			size /= shape[d]
		}
	}
}

func (b *buffer) element(k Kind, bits uint64) (hex bool) {
	switch {
	case k == I1 && bits&1 != 0:
		b.string("true")
	case k == I1:
		b.string("false")
	case k.Integer():
		b.int(signExtend(bits, k.Bits()))
	default:
		return b.float(k, bits)
	}
	return false
}

// attr writes an attribute, with its type unless that is left out or the default of its kind.
func (b *buffer) attr(a *Attr, bare bool) {
	if b.full {
		return
	}
	switch a.Kind {
	case IntegerValue:
		b.element(a.Type.Kind, a.Bits)
		if !bare && a.Type.Kind != I64 && a.Type.Kind != I1 {
			b.string(" : ")
			b.fullType(a.Type)
		}
	case FloatValue:
		hex := b.float(a.Type.Kind, a.Bits)
		if !bare && (a.Type.Kind != F64 || hex) {
			b.string(" : ")
			b.fullType(a.Type)
		}
	case BoolValue:
		b.element(I1, a.Bits)
	case TypeValue:
		b.fullType(a.Type)
	case StringValue:
		b.quoted(a.Text)
	case ArrayValue:
		b.string("[")
		b.attrs(a.List)
		b.string("]")
	case DictionaryValue:
		b.string("{")
		for i, k := range a.Keys {
			if i > 0 {
				b.string(", ")
			}
			b.string(k)
			b.string(" = ")
			b.attr(a.List[i], bare)
		}
		b.string("}")
	case HintsValue:
		b.hints(a)
	default:
		b.string("#cuda_tile.")
		b.predicate(a)
	}
}

func (b *buffer) attrs(list []*Attr) {
	for i, a := range list {
		if b.full {
			return
		}
		if i > 0 {
			b.string(", ")
		}
		b.attr(a, false)
	}
}

// hints writes a dictionary of hints.
func (b *buffer) hints(a *Attr) {
	b.string("<")
	for i, arch := range a.Keys {
		if i > 0 {
			b.string(", ")
		}
		b.string(arch)
		b.string(" = ")
		b.attr(a.List[i], true)
	}
	b.string(">")
}

// predicate writes what assume is told.
func (b *buffer) predicate(a *Attr) {
	switch a.Kind {
	case DivByValue:
		b.string("div_by<" + strconv.FormatUint(a.Bits, 10))
		if a.HasLow && a.HasHigh {
			b.string(", every ")
			b.int(a.Low)
			b.string(" along ")
			b.int(a.High)
		}
		b.string(">")
	case SameElementsValue:
		b.string("same_elements<[")
		b.dims(a.Ints, ", ")
		b.string("]>")
	case BoundedValue:
		bound := func(has bool, v int64) {
			if has {
				b.int(v)
			} else {
				b.string("?")
			}
		}
		b.string("bounded<")
		bound(a.HasLow, a.Low)
		b.string(", ")
		bound(a.HasHigh, a.High)
		b.string(">")
	}
}
