package texture

import "unsafe"

// Bounds says what a surface access outside the image does (PTX ISA 9.7.11, ".clamp").
type Bounds uint8

// The kinds of treatment: an error, the nearest place inside, or loads of zero and stores that are dropped.
const (
	Trap Bounds = iota
	ToEdge
	Zero
)

// Place is a place in a surface.
type Place struct {
	X, Y, Z int32  // X in bytes, or in texels for formatted accesses
	Layer   uint32 //
	Texels  bool   // X counts texels
}

// Address finds n bytes at a place. outside says that there is no such place: with Trap that is an error, with Zero the
// access does nothing; p is nil then. Low bits of a byte address that is not a multiple of n are masked off, as the
// manual allows.
func (s *Surface) Address(at Place, n uint32, b Bounds) (p unsafe.Pointer, outside bool) {
	l := &s.Levels[0]
	size := int64(s.Format.Size())
	x, y, z := int64(at.X), int64(at.Y), int64(at.Z)
	width := int64(l.Width) * size
	if at.Texels {
		x *= size
		n = uint32(size)
	} else {
		x &^= int64(n) - 1
	}
	if s.Dims < 2 {
		y = 0
	}
	depth := int64(1)
	switch {
	case s.Layered || s.Cube:
		z, depth = int64(at.Layer), int64(l.Depth)
	case s.Dims == 3:
		depth = int64(l.Depth)
	default:
		z = 0
	}
	if x < 0 || y < 0 || z < 0 || x+int64(n) > width || y >= int64(l.Height) || z >= depth {
		if b != ToEdge {
			return nil, true
		}
		x = min(max(x, 0), max(width-int64(n), 0))
		if !at.Texels {
			x &^= int64(n) - 1
		}
		y = min(max(y, 0), int64(l.Height)-1)
		z = min(max(z, 0), depth-1)
		if x+int64(n) > width { // a texel row shorter than the access
			return nil, true
		}
	}
	return unsafe.Add(l.Data, z*int64(l.Slice)+y*int64(l.Row)+x), false
}

// Store writes a formatted texel at an address that Address gave (sust.p).
func (s *Surface) Store(p unsafe.Pointer, v [4]uint32) { s.Format.store(p, v) }
