package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// The helpers below turn a function of one lane into a handler. Rows of 8- and 16-bit registers are 32-bit rows whose
// upper bits are zero: a function that yields a narrow result must cut it.

const full = 0xffffffff

func un32(f func(a uint32) uint32) handler {
	return func(w *exec.Warp, in *inst, m uint32) {
		d, a := w.R32(in.d), w.R32(in.a)
		if m == full {
			for i := range d {
				d[i] = f(a[i])
			}
			return
		}
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i])
		}
	}
}

func bin32(f func(a, b uint32) uint32) handler {
	return func(w *exec.Warp, in *inst, m uint32) {
		d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
		if m == full {
			for i := range d {
				d[i] = f(a[i], b[i])
			}
			return
		}
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i], b[i])
		}
	}
}

func tri32(f func(a, b, c uint32) uint32) handler {
	return func(w *exec.Warp, in *inst, m uint32) {
		d, a, b, c := w.R32(in.d), w.R32(in.a), w.R32(in.b), w.R32(in.c)
		if m == full {
			for i := range d {
				d[i] = f(a[i], b[i], c[i])
			}
			return
		}
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

func un64(f func(a uint64) uint64) handler {
	return func(w *exec.Warp, in *inst, m uint32) {
		d, a := w.R64(in.d), w.R64(in.a)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i])
		}
	}
}

func bin64(f func(a, b uint64) uint64) handler {
	return func(w *exec.Warp, in *inst, m uint32) {
		d, a, b := w.R64(in.d), w.R64(in.a), w.R64(in.b)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i], b[i])
		}
	}
}

func tri64(f func(a, b, c uint64) uint64) handler {
	return func(w *exec.Warp, in *inst, m uint32) {
		d, a, b, c := w.R64(in.d), w.R64(in.a), w.R64(in.b), w.R64(in.c)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

// row reads and writes a register of any class lane by lane, for operations where speed does not matter.
func get(w *exec.Warp, a *ir.Arg, lane int) uint64 {
	switch a.Class {
	case ir.W32:
		return uint64(w.R32(a.Ref)[lane])
	case ir.W64:
		return w.R64(a.Ref)[lane]
	case ir.W128:
		return w.R128(a.Ref)[2*lane]
	}
	return uint64(pred(w, a) >> lane & 1)
}

func get128(w *exec.Warp, a *ir.Arg, lane int) (lo, hi uint64) {
	r := w.R128(a.Ref)
	return r[2*lane], r[2*lane+1]
}

// set writes a lane of a register row; a sink is ignored.
func set(w *exec.Warp, a *ir.Arg, lane int, v uint64) {
	if a.Kind != ir.Row {
		return
	}
	switch a.Class {
	case ir.W32:
		w.R32(a.Ref)[lane] = uint32(v)
	case ir.W64:
		w.R64(a.Ref)[lane] = v
	case ir.W128:
		r := w.R128(a.Ref)
		r[2*lane], r[2*lane+1] = v, 0
	default:
		p := w.Pred(a.Ref)
		*p = *p&^(1<<lane) | uint32(v&1)<<lane
	}
}

func set128(w *exec.Warp, a *ir.Arg, lane int, lo, hi uint64) {
	if a.Kind != ir.Row {
		return
	}
	r := w.R128(a.Ref)
	r[2*lane], r[2*lane+1] = lo, hi
}

// pred returns a predicate operand, negation applied; an absent operand is true everywhere.
func pred(w *exec.Warp, a *ir.Arg) uint32 {
	if a == nil || !a.Reg() {
		return full
	}
	p := *w.Pred(a.Ref)
	if a.Neg {
		p = ^p
	}
	return p
}

// setPred writes the lanes m of a predicate; a sink is ignored.
func setPred(w *exec.Warp, a *ir.Arg, m, v uint32) {
	if a == nil || a.Kind != ir.Row {
		return
	}
	p := w.Pred(a.Ref)
	*p = *p&^m | v&m
}
