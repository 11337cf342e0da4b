package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
)

// The most frequent operations have loops of their own, so that the compiler sees the operation instead of a call. A
// shift by 32 or more gives what PTX wants without help: Go's shifts clamp too.

func not32(w *exec.Warp, in *inst, m uint32) {
	d, a := w.R32(in.d), w.R32(in.a)
	if m == full {
		for i := range d {
			d[i] = ^a[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = ^a[i]
	}
}

func neg32(w *exec.Warp, in *inst, m uint32) {
	d, a := w.R32(in.d), w.R32(in.a)
	if m == full {
		for i := range d {
			d[i] = -a[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = -a[i]
	}
}

func add32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = a[i] + b[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] + b[i]
	}
}

func sub32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = a[i] - b[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] - b[i]
	}
}

func mul32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = a[i] * b[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] * b[i]
	}
}

func and32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = a[i] & b[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] & b[i]
	}
}

func or32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = a[i] | b[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] | b[i]
	}
}

func xor32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = a[i] ^ b[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] ^ b[i]
	}
}

func shl32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = a[i] << b[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] << b[i]
	}
}

func shrU32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = a[i] >> b[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] >> b[i]
	}
}

func shrS32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = uint32(int32(a[i]) >> b[i])
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = uint32(int32(a[i]) >> b[i])
	}
}

func minU32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = min(a[i], b[i])
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = min(a[i], b[i])
	}
}

func maxU32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = max(a[i], b[i])
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = max(a[i], b[i])
	}
}

func minS32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = uint32(min(int32(a[i]), int32(b[i])))
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = uint32(min(int32(a[i]), int32(b[i])))
	}
}

func maxS32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = uint32(max(int32(a[i]), int32(b[i])))
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = uint32(max(int32(a[i]), int32(b[i])))
	}
}

func mad32(w *exec.Warp, in *inst, m uint32) {
	d, a, b, c := w.R32(in.d), w.R32(in.a), w.R32(in.b), w.R32(in.c)
	if m == full {
		for i := range d {
			d[i] = a[i]*b[i] + c[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i]*b[i] + c[i]
	}
}

func add64(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R64(in.d), w.R64(in.a), w.R64(in.b)
	if m == full {
		for i := range d {
			d[i] = a[i] + b[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] + b[i]
	}
}

func sub64(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R64(in.d), w.R64(in.a), w.R64(in.b)
	if m == full {
		for i := range d {
			d[i] = a[i] - b[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] - b[i]
	}
}

func mul64(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R64(in.d), w.R64(in.a), w.R64(in.b)
	if m == full {
		for i := range d {
			d[i] = a[i] * b[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] * b[i]
	}
}

func and64(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R64(in.d), w.R64(in.a), w.R64(in.b)
	if m == full {
		for i := range d {
			d[i] = a[i] & b[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] & b[i]
	}
}

func or64(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R64(in.d), w.R64(in.a), w.R64(in.b)
	if m == full {
		for i := range d {
			d[i] = a[i] | b[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] | b[i]
	}
}

func xor64(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R64(in.d), w.R64(in.a), w.R64(in.b)
	if m == full {
		for i := range d {
			d[i] = a[i] ^ b[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] ^ b[i]
	}
}

func mad64(w *exec.Warp, in *inst, m uint32) {
	d, a, b, c := w.R64(in.d), w.R64(in.a), w.R64(in.b), w.R64(in.c)
	if m == full {
		for i := range d {
			d[i] = a[i]*b[i] + c[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i]*b[i] + c[i]
	}
}

func mulWideU32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R64(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = uint64(a[i]) * uint64(b[i])
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = uint64(a[i]) * uint64(b[i])
	}
}

func mulWideS32(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R64(in.d), w.R32(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = uint64(int64(int32(a[i])) * int64(int32(b[i])))
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = uint64(int64(int32(a[i])) * int64(int32(b[i])))
	}
}

func madWideU32(w *exec.Warp, in *inst, m uint32) {
	d, a, b, c := w.R64(in.d), w.R32(in.a), w.R32(in.b), w.R64(in.c)
	if m == full {
		for i := range d {
			d[i] = uint64(a[i])*uint64(b[i]) + c[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = uint64(a[i])*uint64(b[i]) + c[i]
	}
}

func madWideS32(w *exec.Warp, in *inst, m uint32) {
	d, a, b, c := w.R64(in.d), w.R32(in.a), w.R32(in.b), w.R64(in.c)
	if m == full {
		for i := range d {
			d[i] = uint64(int64(int32(a[i]))*int64(int32(b[i]))) + c[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = uint64(int64(int32(a[i]))*int64(int32(b[i]))) + c[i]
	}
}

func shl64(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R64(in.d), w.R64(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = a[i] << b[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] << b[i]
	}
}

func shrU64(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R64(in.d), w.R64(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = a[i] >> b[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] >> b[i]
	}
}

func shrS64(w *exec.Warp, in *inst, m uint32) {
	d, a, b := w.R64(in.d), w.R64(in.a), w.R32(in.b)
	if m == full {
		for i := range d {
			d[i] = uint64(int64(a[i]) >> b[i])
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = uint64(int64(a[i]) >> b[i])
	}
}

func xor3(w *exec.Warp, in *inst, m uint32) {
	d, a, b, c := w.R32(in.d), w.R32(in.a), w.R32(in.b), w.R32(in.c)
	if m == full {
		for i := range d {
			d[i] = a[i] ^ b[i] ^ c[i]
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = a[i] ^ b[i] ^ c[i]
	}
}

func shfL(w *exec.Warp, in *inst, m uint32) {
	d, a, b, c := w.R32(in.d), w.R32(in.a), w.R32(in.b), w.R32(in.c)
	if m == full {
		for i := range d {
			d[i] = uint32((uint64(b[i])<<32 | uint64(a[i])) << (c[i] & 31) >> 32)
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = uint32((uint64(b[i])<<32 | uint64(a[i])) << (c[i] & 31) >> 32)
	}
}

func shfR(w *exec.Warp, in *inst, m uint32) {
	d, a, b, c := w.R32(in.d), w.R32(in.a), w.R32(in.b), w.R32(in.c)
	if m == full {
		for i := range d {
			d[i] = uint32((uint64(b[i])<<32 | uint64(a[i])) >> (c[i] & 31))
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = uint32((uint64(b[i])<<32 | uint64(a[i])) >> (c[i] & 31))
	}
}
