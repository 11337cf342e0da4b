package tileir

import (
	"encoding/binary"
	"fmt"
)

// cursor reads one part of a file. Every read is checked against the part's end.
type cursor struct {
	data []byte
	at   int
	base uint64 // offset of data[0] in the file
}

func (c *cursor) left() uint64 { return uint64(len(c.data) - c.at) }

// fail makes an error of the current place.
func (c *cursor) fail(format string, args ...any) *Error {
	return &Error{Class: Malformed, Offset: c.base + uint64(c.at), Local: int64(c.at),
		Words: fmt.Sprintf(format, args...)}
}

// bare makes an error of the current place for which NVIDIA's reader prints no offset.
func (c *cursor) bare(class Class, format string, args ...any) *Error {
	e := c.fail(format, args...)
	e.Class, e.Local = class, -1
	return e
}

func (c *cursor) byte() (byte, bool) {
	if c.at >= len(c.data) {
		return 0, false
	}
	b := c.data[c.at]
	c.at++
	return b, true
}

// varint reads an unsigned number: seven bits a byte, low ones first, at most ten bytes; bits beyond 64 are dropped, as
// NVIDIA's reader does.
func (c *cursor) varint() (uint64, bool) {
	var v uint64
	for shift := 0; shift < 70; shift += 7 {
		b, ok := c.byte()
		if !ok {
			return 0, false
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, true
		}
	}
	return 0, false
}

// signed reads a number in zigzag form.
func (c *cursor) signed() (int64, bool) {
	v, ok := c.varint()
	return int64(v>>1) ^ -int64(v&1), ok
}

// bytes takes the next n bytes.
func (c *cursor) bytes(n uint64) ([]byte, bool) {
	if n > c.left() {
		return nil, false
	}
	b := c.data[c.at : c.at+int(n) : c.at+int(n)]
	c.at += int(n)
	return b, true
}

// pad skips to a multiple of align, which must be a power of two. It fails at the end of the part, even if there is
// nothing to skip: NVIDIA's reader does.
func (c *cursor) pad(align uint64) bool {
	if align < 2 {
		return true
	}
	if c.left() == 0 {
		return false
	}
	_, ok := c.bytes(-uint64(c.at) & (align - 1))
	return ok
}

// count reads a number of things of which each takes at least size bytes of this part; ok is false when the number
// cannot be read, fits when there is room for them.
func (c *cursor) count(size uint64) (n uint64, fits, ok bool) {
	n, ok = c.varint()
	return n, ok && n <= c.left()/size, ok
}

// sub is a cursor over a piece of this part that starts at data[at].
func (c *cursor) sub(at, n int) cursor {
	return cursor{data: c.data[at : at+n : at+n], base: c.base + uint64(at)}
}

// ints reads a counted array of little-endian numbers of 1, 4 or 8 bytes each.
func (c *cursor) ints(size uint64) ([]int64, bool) {
	n, fits, ok := c.count(size)
	if !fits {
		if ok { // NVIDIA's reader takes what there is before it complains
			c.at += int(c.left() / size * size)
		}
		return nil, false
	}
	out := make([]int64, n)
	for i := range out {
		b, _ := c.bytes(size)
		switch size {
		case 1:
			out[i] = int64(int8(b[0]))
		case 4:
			out[i] = int64(int32(binary.LittleEndian.Uint32(b)))
		default:
			out[i] = int64(binary.LittleEndian.Uint64(b))
		}
	}
	return out, true
}
