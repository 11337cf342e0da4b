package interp

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
)

// scalar are the types whose rows can be compared by Go's operators as they stand.
type scalar interface {
	int32 | uint32 | int64 | uint64 | float32 | float64
}

const anyOrder = num.Less | num.Equal | num.Greater | num.Unordered

// relation gives the lanes of m for which a stands to b in one of the relations of want.
func relation[T scalar](want num.Order, a, b *[32]T, m uint32) (t uint32) {
	if want&num.Unordered != 0 { // what is left is an ordered relation: see the loops below
		return m &^ relation(anyOrder&^want, a, b, m)
	}
	lo, hi := bits.TrailingZeros32(m), 31-bits.LeadingZeros32(m)
	switch want {
	case num.Equal:
		for i := lo & 31; i <= hi; i++ {
			if a[i] == b[i] {
				t |= 1 << i
			}
		}
	case num.Less:
		for i := lo & 31; i <= hi; i++ {
			if a[i] < b[i] {
				t |= 1 << i
			}
		}
	case num.Less | num.Equal:
		for i := lo & 31; i <= hi; i++ {
			if a[i] <= b[i] {
				t |= 1 << i
			}
		}
	case num.Greater:
		for i := lo & 31; i <= hi; i++ {
			if a[i] > b[i] {
				t |= 1 << i
			}
		}
	case num.Greater | num.Equal:
		for i := lo & 31; i <= hi; i++ {
			if a[i] >= b[i] {
				t |= 1 << i
			}
		}
	case num.Less | num.Greater:
		for i := lo & 31; i <= hi; i++ {
			if a[i] < b[i] || a[i] > b[i] {
				t |= 1 << i
			}
		}
	case num.Less | num.Equal | num.Greater:
		for i := lo & 31; i <= hi; i++ {
			if a[i] <= b[i] || a[i] > b[i] {
				t |= 1 << i
			}
		}
	}
	return t & m
}

func row[T scalar](w *exec.Warp, r ir.Ref) *[32]T {
	return (*[32]T)(unsafe.Add(w.Base[r.Sel&1], r.Off))
}

// compareRows compares the rows of the second and third operand.
func compareRows[T scalar](want num.Order) truth {
	return func(w *exec.Warp, in *inst, m uint32) uint32 {
		return relation(want, row[T](w, in.a), row[T](w, in.b), m)
	}
}

// compareInts is compareRows for integers, which are never unordered: ne is then what is not equal.
func compareInts[T scalar](want num.Order) truth {
	if want == num.Less|num.Greater {
		want |= num.Unordered
	}
	return compareRows[T](want)
}

// compareAs compares the low parts of the rows as f32 values that to makes of them.
func compareAs(want num.Order, to func(uint32) uint32) truth {
	return func(w *exec.Warp, in *inst, m uint32) uint32 {
		var a, b [32]uint32
		x, y := w.R32(in.a), w.R32(in.b)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			a[i], b[i] = to(x[i]), to(y[i])
		}
		return relation(want, (*[32]float32)(unsafe.Pointer(&a)), (*[32]float32)(unsafe.Pointer(&b)), m)
	}
}

// compareExtended compares 16-bit signed rows.
func compareExtended(want num.Order) truth {
	return func(w *exec.Warp, in *inst, m uint32) uint32 {
		var a, b [32]int32
		x, y := w.R32(in.a), w.R32(in.b)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			a[i], b[i] = signExtend16(x[i]), signExtend16(y[i])
		}
		return relation(want, &a, &b, m)
	}
}
