package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/num"
)

// truthU32 and truthS32 are the comparisons of loops: a loop for each relation.
func truthU32(want num.Order) truth {
	switch want {
	case num.Equal:
		return func(w *exec.Warp, in *inst, m uint32) (t uint32) {
			a, b := w.R32(in.a), w.R32(in.b)
			if m == full {
				for i := range a {
					t >>= 1
					if a[i] == b[i] {
						t |= 1 << 31
					}
				}
				return t
			}
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				if a[i] == b[i] {
					t |= 1 << i
				}
			}
			return t
		}
	case num.Less | num.Greater:
		return func(w *exec.Warp, in *inst, m uint32) (t uint32) {
			a, b := w.R32(in.a), w.R32(in.b)
			if m == full {
				for i := range a {
					t >>= 1
					if a[i] != b[i] {
						t |= 1 << 31
					}
				}
				return t
			}
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				if a[i] != b[i] {
					t |= 1 << i
				}
			}
			return t
		}
	case num.Less:
		return func(w *exec.Warp, in *inst, m uint32) (t uint32) {
			a, b := w.R32(in.a), w.R32(in.b)
			if m == full {
				for i := range a {
					t >>= 1
					if a[i] < b[i] {
						t |= 1 << 31
					}
				}
				return t
			}
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				if a[i] < b[i] {
					t |= 1 << i
				}
			}
			return t
		}
	case num.Less | num.Equal:
		return func(w *exec.Warp, in *inst, m uint32) (t uint32) {
			a, b := w.R32(in.a), w.R32(in.b)
			if m == full {
				for i := range a {
					t >>= 1
					if a[i] <= b[i] {
						t |= 1 << 31
					}
				}
				return t
			}
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				if a[i] <= b[i] {
					t |= 1 << i
				}
			}
			return t
		}
	case num.Greater:
		return func(w *exec.Warp, in *inst, m uint32) (t uint32) {
			a, b := w.R32(in.a), w.R32(in.b)
			if m == full {
				for i := range a {
					t >>= 1
					if a[i] > b[i] {
						t |= 1 << 31
					}
				}
				return t
			}
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				if a[i] > b[i] {
					t |= 1 << i
				}
			}
			return t
		}
	}
	return func(w *exec.Warp, in *inst, m uint32) (t uint32) {
		a, b := w.R32(in.a), w.R32(in.b)
		if m == full {
			for i := range a {
				t >>= 1
				if a[i] >= b[i] {
					t |= 1 << 31
				}
			}
			return t
		}
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			if a[i] >= b[i] {
				t |= 1 << i
			}
		}
		return t
	}
}

func truthS32(want num.Order) truth {
	switch want {
	case num.Equal:
		return func(w *exec.Warp, in *inst, m uint32) (t uint32) {
			a, b := w.R32(in.a), w.R32(in.b)
			if m == full {
				for i := range a {
					t >>= 1
					if int32(a[i]) == int32(b[i]) {
						t |= 1 << 31
					}
				}
				return t
			}
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				if int32(a[i]) == int32(b[i]) {
					t |= 1 << i
				}
			}
			return t
		}
	case num.Less | num.Greater:
		return func(w *exec.Warp, in *inst, m uint32) (t uint32) {
			a, b := w.R32(in.a), w.R32(in.b)
			if m == full {
				for i := range a {
					t >>= 1
					if int32(a[i]) != int32(b[i]) {
						t |= 1 << 31
					}
				}
				return t
			}
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				if int32(a[i]) != int32(b[i]) {
					t |= 1 << i
				}
			}
			return t
		}
	case num.Less:
		return func(w *exec.Warp, in *inst, m uint32) (t uint32) {
			a, b := w.R32(in.a), w.R32(in.b)
			if m == full {
				for i := range a {
					t >>= 1
					if int32(a[i]) < int32(b[i]) {
						t |= 1 << 31
					}
				}
				return t
			}
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				if int32(a[i]) < int32(b[i]) {
					t |= 1 << i
				}
			}
			return t
		}
	case num.Less | num.Equal:
		return func(w *exec.Warp, in *inst, m uint32) (t uint32) {
			a, b := w.R32(in.a), w.R32(in.b)
			if m == full {
				for i := range a {
					t >>= 1
					if int32(a[i]) <= int32(b[i]) {
						t |= 1 << 31
					}
				}
				return t
			}
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				if int32(a[i]) <= int32(b[i]) {
					t |= 1 << i
				}
			}
			return t
		}
	case num.Greater:
		return func(w *exec.Warp, in *inst, m uint32) (t uint32) {
			a, b := w.R32(in.a), w.R32(in.b)
			if m == full {
				for i := range a {
					t >>= 1
					if int32(a[i]) > int32(b[i]) {
						t |= 1 << 31
					}
				}
				return t
			}
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				if int32(a[i]) > int32(b[i]) {
					t |= 1 << i
				}
			}
			return t
		}
	}
	return func(w *exec.Warp, in *inst, m uint32) (t uint32) {
		a, b := w.R32(in.a), w.R32(in.b)
		if m == full {
			for i := range a {
				t >>= 1
				if int32(a[i]) >= int32(b[i]) {
					t |= 1 << 31
				}
			}
			return t
		}
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			if int32(a[i]) >= int32(b[i]) {
				t |= 1 << i
			}
		}
		return t
	}
}
