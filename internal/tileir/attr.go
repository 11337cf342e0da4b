package tileir

import (
	"slices"
	"strings"
)

// ValueKind says what an Attr holds. The numbers are the tags of the bytecode.
type ValueKind uint8

// The kinds of attribute value.
const (
	IntegerValue      ValueKind = iota + 1 // Type, Bits
	FloatValue                             // Type, Bits
	BoolValue                              // Bits
	TypeValue                              // Type
	StringValue                            // Text
	ArrayValue                             // List
	DenseValue                             // Type, List of strings
	DivByValue                             // Bits is the divisor, Low "every", High "along"
	SameElementsValue                      // Ints
	DictionaryValue                        // Keys, List
	HintsValue                             // Keys, List: a dictionary by architecture
	BoundedValue                           // Low, High
	ReductionValue                         // Bits; no operation has one in this form
)

// Attr is an attribute that says itself what it is: a hint, a predicate of assume, an identity of a reduction.
type Attr struct {
	Kind            ValueKind
	Type            *Type
	Bits            uint64
	Text            string
	Keys            []string // sorted
	List            []*Attr
	Ints            []int64
	Low, High       int64
	HasLow, HasHigh bool
}

// Get gives the value of a key of a dictionary, nil when it has none.
func (a *Attr) Get(key string) *Attr {
	if i, ok := slices.BinarySearch(a.Keys, key); ok {
		return a.List[i]
	}
	return nil
}

// decoder reads attributes and operations.
type decoder struct {
	m     *Module
	c     *cursor
	f     *Func  // whose body it is
	vals  []*Val // by their numbers
	depth int
}

// enter counts a level of nesting; leave it with d.depth--.
func (d *decoder) enter() error {
	if d.depth++; d.depth > MaxNesting {
		return d.c.bare(TooLarge, "attributes and regions nest more than %d deep", MaxNesting)
	}
	return nil
}

// string reads the index of a string; ok is false when the index cannot be read.
func (d *decoder) string() (s string, ok bool, err error) {
	i, ok := d.c.varint()
	if !ok {
		return "", false, nil
	}
	s, err = d.m.strings.get(i, d.c)
	return s, true, err
}

// tagged reads an attribute with its tag.
func (d *decoder) tagged() (*Attr, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer func() { d.depth-- }()
	c := d.c
	tag, ok := c.varint()
	if !ok {
		return nil, c.fail("failed to read AttributeTag for self-contained attribute.")
	}
	a := &Attr{Kind: ValueKind(tag)}
	if tag > uint64(ReductionValue) {
		a.Kind = 0
	}
	var err error
	switch a.Kind {
	case IntegerValue, FloatValue:
		err = d.number(a)
	case BoolValue:
		b, ok := c.byte()
		if !ok {
			return nil, c.fail("failed to read byte for inline bool (i1)")
		}
		if b != 0 {
			a.Bits = 1
		}
	case TypeValue:
		if a.Type, err = d.m.types.read(c); err == nil && a.Type == nil {
			err = c.fail("failed to get referenced type for TypeAttr")
		}
	case StringValue:
		if a.Text, ok, err = d.string(); err == nil && !ok {
			err = c.fail("failed to read StringAttr.")
		}
	case ArrayValue:
		a.List, err = d.array()
	case DenseValue:
		err = d.dense(a)
	case DivByValue:
		if a.Bits, ok = c.varint(); !ok {
			return nil, c.fail("failed to read divisor for DivByAttr")
		}
		err = d.bounds(a, "DivByAttr", "value for 'every' in DivByAttr", "value for 'along' in DivByAttr")
	case SameElementsValue:
		if a.Ints, ok = c.ints(8); !ok {
			return nil, c.fail("failed to read values data")
		}
	case DictionaryValue:
		err = d.dictionary(a)
	case HintsValue:
		err = d.hints(a)
	case BoundedValue:
		err = d.bounds(a, "BoundedAttr", "lower bound for BoundedAttr", "upper bound for BoundedAttr")
	case ReductionValue:
		if d.m.Minor < 5 {
			return nil, c.bare(Malformed, "attribute 'MultimemReductionKindAttr' requires bytecode version 13.5+, targeting 13.%d", d.m.Minor)
		}
		var v uint8
		v, err = enumeration(c, len(reductionNames))
		a.Bits = uint64(v)
	default:
		return nil, c.fail("unsupported AttributeTag %d for self-contained attribute", tag)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

func (d *decoder) number(a *Attr) (err error) {
	c := d.c
	if a.Type, err = d.m.types.read(c); err != nil {
		return err
	}
	if a.Kind == IntegerValue {
		if a.Type == nil || !a.Type.Kind.Integer() {
			return c.fail("failed to read valid IntegerType for IntegerAttr")
		}
		if a.Type.Kind == I1 {
			b, ok := c.byte()
			if !ok {
				return c.fail("failed to read byte for inline bool (i1)")
			}
			if b != 0 {
				a.Bits = 1
			}
			return nil
		}
		v, ok := c.varint()
		if !ok {
			return c.fail("failed to read VarInt for inline integer (width=%d)", a.Type.Kind.Bits())
		}
		a.Bits = v
		return d.fits(a)
	}
	if a.Type == nil || !a.Type.Kind.Float() {
		return c.fail("failed to read valid FloatType for FloatAttr")
	}
	if a.Type.Kind.Bits() <= 8 {
		b, ok := c.byte()
		if !ok {
			return c.fail("failed to read byte for APInt (<= 8 bits).")
		}
		a.Bits = uint64(b)
		return d.fits(a)
	}
	v, ok := c.signed()
	if !ok {
		return c.fail("failed to read signed varint for APInt (<= 64 bits).")
	}
	a.Bits = uint64(v)
	return d.fits(a)
}

// fits checks that a number has no bits beyond its width.
func (d *decoder) fits(a *Attr) error {
	w := a.Type.Kind.Bits()
	if w < 64 && a.Bits>>w != 0 {
		dot := ""
		if w <= 8 && a.Kind == FloatValue {
			dot = "."
		}
		return d.c.fail("value %d does not fit in %d bits%s", a.Bits, w, dot)
	}
	return nil
}

// bounds reads two optional numbers with a byte in front that says which are there.
func (d *decoder) bounds(a *Attr, class, low, high string) error {
	flags, ok := d.c.byte()
	if !ok {
		return d.c.fail("failed to read flags byte for %s", class)
	}
	a.HasLow, a.HasHigh = flags&1 != 0, flags&2 != 0
	if a.HasLow {
		if a.Low, ok = d.c.signed(); !ok {
			return d.c.fail("failed to read %s", low)
		}
	}
	if a.HasHigh {
		if a.High, ok = d.c.signed(); !ok {
			return d.c.fail("failed to read %s", high)
		}
	}
	if flags&^3 != 0 {
		return d.c.fail("unused bits set in optional parameter flags")
	}
	return nil
}

func (d *decoder) array() ([]*Attr, error) {
	n, ok := d.c.varint()
	if !ok {
		return nil, d.c.fail("failed to read size for ArrayAttr.")
	}
	var out []*Attr
	for range n {
		a, err := d.tagged()
		if err != nil {
			return nil, err
		}
		if a.Kind != IntegerValue && a.Kind != FloatValue && a.Kind != BoolValue && a.Kind != StringValue &&
			a.Kind != DenseValue {
			return nil, d.c.fail("ArrayAttr contains non-TypedAttr elements or is null")
		}
		out = append(out, a)
	}
	return out, nil
}

func (d *decoder) dense(a *Attr) (err error) {
	c := d.c
	if a.Type, err = d.m.types.read(c); err != nil {
		return err
	}
	if a.Type == nil || a.Type.Kind != Tile {
		return c.fail("failed to read valid MLIR Type for self-contained DenseElementsAttr")
	}
	n, ok := c.varint()
	if !ok {
		return c.fail("failed to read number of string attrs in DenseElementsAttr")
	}
	for range n {
		s, ok, err := d.string()
		if err != nil {
			return err
		}
		if !ok {
			return c.fail("failed to read string in DenseElementsAttr")
		}
		a.List = append(a.List, &Attr{Kind: StringValue, Text: s})
	}
	return nil
}

func (d *decoder) dictionary(a *Attr) error {
	c := d.c
	n, ok := c.varint()
	if !ok {
		return c.fail("failed to read size for DictionaryAttr")
	}
	type entry struct {
		key   string
		value *Attr
	}
	var list []entry
	for i := range n {
		key, ok, err := d.string()
		switch {
		case err != nil:
			return err
		case !ok:
			return c.fail("failed to read key for DictionaryAttr element %d", i)
		case key == "":
			return c.fail("invalid empty attribute name for DictionaryAttr element %d", i)
		}
		v, err := d.tagged()
		if err != nil {
			return err
		}
		list = append(list, entry{key, v})
	}
	slices.SortStableFunc(list, func(x, y entry) int { return strings.Compare(x.key, y.key) })
	for i, e := range list {
		if i > 0 && list[i-1].key == e.key {
			return c.fail("failed to parse DictionaryAttr, duplicate key found: \"%s\"", e.key)
		}
		a.Keys, a.List = append(a.Keys, e.key), append(a.List, e.value)
	}
	return nil
}

// hints reads a dictionary of hints and checks it.
func (d *decoder) hints(a *Attr) error {
	a.Kind = HintsValue
	if err := d.dictionary(a); err != nil {
		return err
	}
	if words := checkHints(a); words != "" {
		return d.c.illTyped("%s", words)
	}
	return nil
}
