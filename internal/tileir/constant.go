package tileir

import "encoding/binary"

// Constant is a tile of numbers.
type Constant struct {
	Type *Type
	// Splat: all elements are the one in Data.
	Splat bool
	// Data are the elements, row-major, little-endian, each a whole number of bytes; those of i1 are bits, low ones
	// first.
	Data []byte
}

// elementBytes is the size of an element of a constant in bytes.
func elementBytes(k Kind) uint64 { return uint64(k.Bits()+7) / 8 }

// Bits gives the i-th element.
func (c *Constant) Bits(i int64) uint64 {
	if c.Splat {
		i = 0
	}
	k := c.Type.Elem.Kind
	if k == I1 {
		return uint64(c.Data[i/8]>>(i%8)) & 1
	}
	n := int64(elementBytes(k))
	var b [8]byte
	copy(b[:], c.Data[i*n:i*n+n])
	return binary.LittleEndian.Uint64(b[:])
}

// constant gives constant i as a value of a type. The caller has checked the index.
func (m *Module) constant(t *Type, i uint64) (*Constant, error) {
	c := m.constants[i]
	if t == nil {
		return nil, c.fail("provided type is null")
	}
	if t.Kind != Tile || !t.Elem.Number() {
		words := "<<NULL TYPE>>"
		if t.Kind == Tile {
			words = t.String()
		}
		return nil, c.fail("expect Cuda Tile integer or float type but got: '%s'", words)
	}
	size, ok := c.varint()
	if !ok {
		return nil, c.fail("failed to read the size of the data buffer")
	}
	data, ok := c.bytes(size)
	if !ok {
		return nil, c.fail("failed to read the raw byte data")
	}
	out := &Constant{Type: t, Data: data}
	n := uint64(t.Elements())
	if k := t.Elem.Kind; k == I1 {
		switch {
		case size == (n+7)/8:
			out.Splat = n == 1
		case size == 1:
			out.Splat = true
		default:
			return nil, c.fail("i1 dense attribute payload size %d is not a recognized encoding for %d elements", size,
				n)
		}
	} else {
		switch w := elementBytes(k); size {
		case w:
			out.Splat = true
		case w * n:
		default:
			return nil, c.fail("failed to validate buffer size and format")
		}
	}
	out.Splat = out.Splat || out.same(int64(n))
	return out, nil
}

// same reports whether all n elements have the same bits.
func (c *Constant) same(n int64) bool {
	if c.Type.Elem.Kind == I1 {
		for i := int64(1); i < n; i++ {
			if c.Bits(i) != c.Bits(0) {
				return false
			}
		}
		return true
	}
	w := int(elementBytes(c.Type.Elem.Kind))
	for i := w; i < len(c.Data); i++ {
		if c.Data[i] != c.Data[i-w] {
			return false
		}
	}
	return true
}
