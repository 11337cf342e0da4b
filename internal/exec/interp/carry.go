package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// Extended precision (9.7.2). The carry flag is Warp.CC, one bit for each lane. After a subtraction it is set when there
// was no borrow, and subc borrows when it is clear (recorded: chains that mix the two).

// chain says how an operation uses the flag.
type chain struct {
	in, out  bool
	subtract bool
}

func chainOf(op *ir.Op) chain {
	name := op.Match.Form.Name
	return chain{in: name == "addc" || name == "subc" || name == "madc", out: op.Match.Has("cc"), subtract: name == "sub" || name == "subc"}
}

// handle makes the handler for operands of n bits; value gives a lane's two terms.
func (c chain) handle(n uint, terms func(w *exec.Warp, in *inst, i int) (x, y uint64)) handler {
	mask, flip, first := uint64(1)<<n-1, uint64(0), uint64(0)
	if c.subtract { // x - y is x + ^y + 1
		flip, first = ^flip, 1
	}
	return func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			x, y := terms(w, in, i)
			cf := first
			if c.in {
				cf = uint64(w.CC >> i & 1)
			}
			v, out := bits.Add64(x, (y^flip)&mask, cf)
			if n == 64 {
				w.R64(in.d)[i] = v
			} else {
				w.R32(in.d)[i] = uint32(v)
				out = v >> 32 & 1
			}
			if c.out {
				w.CC = w.CC&^(1<<i) | uint32(out)<<i
			}
		}
	}
}

// resolveCarry is add.cc, addc, sub.cc and subc.
func resolveCarry(in *inst, op *ir.Op) error {
	n, _ := widthOf(op.Match.Type(0))
	if n == 64 {
		in.fn = chainOf(op).handle(64, func(w *exec.Warp, in *inst, i int) (x, y uint64) { return w.R64(in.a)[i], w.R64(in.b)[i] })
	} else {
		in.fn = chainOf(op).handle(32, func(w *exec.Warp, in *inst, i int) (x, y uint64) {
			return uint64(w.R32(in.a)[i]), uint64(w.R32(in.b)[i])
		})
	}
	return nil
}

// resolveCarryMad is mad.cc and madc: the flag is that of the addition.
func resolveCarryMad(in *inst, op *ir.Op) error {
	n, signed := widthOf(op.Match.Type(0))
	hi := op.Match.Has("hi")
	switch {
	case n == 64:
		in.fn = chainOf(op).handle(64, func(w *exec.Warp, in *inst, i int) (x, y uint64) {
			a, b := w.R64(in.a)[i], w.R64(in.b)[i]
			if hi {
				return high64(a, b, signed), w.R64(in.c)[i]
			}
			return a * b, w.R64(in.c)[i]
		})
	default:
		in.fn = chainOf(op).handle(32, func(w *exec.Warp, in *inst, i int) (x, y uint64) {
			a, b, p := w.R32(in.a)[i], w.R32(in.b)[i], uint32(0)
			switch {
			case !hi:
				p = a * b
			case signed:
				p = mulHiS32(a, b)
			default:
				p = mulHiU32(a, b)
			}
			return uint64(p), uint64(w.R32(in.c)[i])
		})
	}
	return nil
}
