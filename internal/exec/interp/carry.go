package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Extended precision (9.7.2). The carry flag is Warp.CC, one bit for each lane. After a subtraction it is set when
// there was no borrow, and subc borrows when it is clear (recorded: chains that mix the two).

// chain says how an operation uses the flag.
type chain struct {
	in, out  bool
	subtract bool
}

func chainOf(op *ir.Op) chain {
	c := chain{out: op.Mods().Cc}
	switch op.Opcode() {
	case optab.OpAddc, optab.OpMadc:
		c.in = true
	case optab.OpSubc:
		c.in, c.subtract = true, true
	case optab.OpSubcc:
		c.subtract = true
	}
	return c
}

// masks turns the use of the flag into masks over lanes: the flag that comes in is CC&keep|first, and out are the lanes
// that write it.
func (c chain) masks() (keep, first, out uint32, flip uint64) {
	if c.in {
		keep = full
	} else if c.subtract { // x - y is x + ^y + 1
		first = full
	}
	if c.out {
		out = full
	}
	if c.subtract {
		flip = ^flip
	}
	return keep, first, out, flip
}

// handle32 and handle64 make handlers that add two terms of each lane; terms gives them, nil for the operands a and b.
func (c chain) handle32(terms func(w *exec.Warp, in *inst, i int) (x, y uint32)) handler {
	keep, first, write, flip := c.masks()
	return func(w *exec.Warp, in *inst, m uint32) {
		cc, carries := w.CC&keep|first, uint32(0)
		d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			x, y := a[i], b[i]
			if terms != nil {
				x, y = terms(w, in, i)
			}
			s := uint64(x) + uint64(y^uint32(flip)) + uint64(cc>>i&1)
			d[i] = uint32(s)
			carries |= uint32(s>>32) << i
		}
		m &= write
		w.CC = w.CC&^m | carries&m
	}
}

func (c chain) handle64(terms func(w *exec.Warp, in *inst, i int) (x, y uint64)) handler {
	keep, first, write, flip := c.masks()
	return func(w *exec.Warp, in *inst, m uint32) {
		cc, carries := w.CC&keep|first, uint32(0)
		d, a, b := w.R64(in.d), w.R64(in.a), w.R64(in.b)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			x, y := a[i], b[i]
			if terms != nil {
				x, y = terms(w, in, i)
			}
			s, out := bits.Add64(x, y^flip, uint64(cc>>i&1))
			d[i] = s
			carries |= uint32(out) << i
		}
		m &= write
		w.CC = w.CC&^m | carries&m
	}
}

// resolveCarry is add.cc, addc, sub.cc and subc.
func resolveCarry(in *inst, op *ir.Op) error {
	if n, _ := op.Type(0).IntegerBits(); n == 64 {
		in.fn = chainOf(op).handle64(nil)
	} else {
		in.fn = chainOf(op).handle32(nil)
	}
	return nil
}

// resolveCarryMad is mad.cc and madc: the flag is that of the addition.
func resolveCarryMad(in *inst, op *ir.Op) error {
	n, signed := op.Type(0).IntegerBits()
	hi := op.Mods().Part == optab.PartHi
	switch {
	case n == 64 && hi:
		in.fn = chainOf(op).handle64(func(w *exec.Warp, in *inst, i int) (x, y uint64) {
			return high64(w.R64(in.a)[i], w.R64(in.b)[i], signed), w.R64(in.c)[i]
		})
	case n == 64:
		in.fn = chainOf(op).handle64(func(w *exec.Warp, in *inst, i int) (x, y uint64) {
			return w.R64(in.a)[i] * w.R64(in.b)[i], w.R64(in.c)[i]
		})
	case hi && signed:
		in.fn = chainOf(op).handle32(func(w *exec.Warp, in *inst, i int) (x, y uint32) {
			return mulHiS32(w.R32(in.a)[i], w.R32(in.b)[i]), w.R32(in.c)[i]
		})
	case hi:
		in.fn = chainOf(op).handle32(func(w *exec.Warp, in *inst, i int) (x, y uint32) {
			return mulHiU32(w.R32(in.a)[i], w.R32(in.b)[i]), w.R32(in.c)[i]
		})
	default:
		in.fn = chainOf(op).handle32(func(w *exec.Warp, in *inst, i int) (x, y uint32) {
			return w.R32(in.a)[i] * w.R32(in.b)[i], w.R32(in.c)[i]
		})
	}
	return nil
}
