package softdev

import "unsafe"

// addressSpace is more memory than a process can have, in bytes.
const addressSpace = 1 << 47

// slice is n values of the program's memory from p on; ok is false where no process has so many.
func slice[T any](p *T, n uint64) (list []T, ok bool) {
	if n > addressSpace/uint64(unsafe.Sizeof(*p)) {
		return nil, false
	}
	return unsafe.Slice(p, n), true
}

// copyBytes copies n bytes; the ranges may overlap.
func copyBytes(dst, src unsafe.Pointer, n uint64) {
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
}

// fill writes n elements of 1, 2 or 4 bytes; dst is aligned to the element.
func fill(dst unsafe.Pointer, width uint8, value uint32, n uint64) {
	switch {
	case n == 0:
	case width == 1 || value == 0:
		b := unsafe.Slice((*byte)(dst), n*uint64(width))
		if value == 0 {
			clear(b)
			return
		}
		double(b, copy(b, []byte{byte(value)}))
	case width == 2:
		*(*uint16)(dst) = uint16(value)
		double(unsafe.Slice((*byte)(dst), n*2), 2)
	default:
		*(*uint32)(dst) = value
		double(unsafe.Slice((*byte)(dst), n*4), 4)
	}
}

// double repeats the first n bytes over the whole slice.
func double(b []byte, n int) {
	// A block that stays in the first-level cache is copied faster than ever longer ones.
	const block = 16 << 10
	for n < len(b) {
		n += copy(b[n:], b[:min(n, block)])
	}
}
