package interp

import (
	"math"
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// narrowing makes a handler of a function from 64 to 32 bits.
func narrowing(f func(a uint64) uint32) handler {
	return func(w *exec.Warp, in *inst, m uint32) {
		d, a := w.R32(in.d), w.R64(in.a)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = f(a[i])
		}
	}
}

func resolvePopc(in *inst, op *ir.Op) error {
	in.fn = un32(func(a uint32) uint32 { return uint32(bits.OnesCount32(a)) })
	if op.Type(0) == optab.B64 {
		in.fn = narrowing(func(a uint64) uint32 { return uint32(bits.OnesCount64(a)) })
	}
	return nil
}

func resolveClz(in *inst, op *ir.Op) error {
	in.fn = un32(func(a uint32) uint32 { return uint32(bits.LeadingZeros32(a)) })
	if op.Type(0) == optab.B64 {
		in.fn = narrowing(func(a uint64) uint32 { return uint32(bits.LeadingZeros64(a)) })
	}
	return nil
}

// resolveBfind finds the most significant bit that is not the sign; all ones when there is none. .shiftamt gives the
// shift that brings it to the top (9.7.1.16).
func resolveBfind(in *inst, op *ir.Op) error {
	n, signed := op.Type(0).IntegerBits()
	shift := op.Mods().ShiftAmount
	find := func(a uint64) uint32 {
		if a == 0 {
			return full
		}
		p := uint32(63 - bits.LeadingZeros64(a))
		if shift {
			return uint32(n) - 1 - p
		}
		return p
	}
	if n == 64 {
		in.fn = narrowing(func(a uint64) uint32 {
			if signed && int64(a) < 0 {
				a = ^a
			}
			return find(a)
		})
		return nil
	}
	in.fn = un32(func(a uint32) uint32 {
		if signed && int32(a) < 0 {
			a = ^a
		}
		return find(uint64(a))
	})
	return nil
}

// resolveFns finds the nth set bit from a base, upwards for positive and downwards for negative offsets (9.7.1.17). The
// offset that has no magnitude gives 0 (recorded).
func resolveFns(in *inst, _ *ir.Op) error {
	in.fn = tri32(func(mask, base, offset uint32) uint32 {
		n, step := int32(offset), int32(1)
		if n == math.MinInt32 {
			return 0
		}
		if n < 0 {
			n, step = -n, -1
		}
		if n == 0 {
			if base < 32 && mask>>base&1 != 0 {
				return base
			}
			return full
		}
		for pos := int32(base); pos >= 0 && pos < 32; pos += step {
			if mask>>uint32(pos)&1 != 0 {
				if n--; n == 0 {
					return uint32(pos)
				}
			}
		}
		return full
	})
	return nil
}

func resolveBrev(in *inst, op *ir.Op) error {
	in.fn = un32(bits.Reverse32)
	if op.Type(0) == optab.B64 {
		in.fn = un64(bits.Reverse64)
	}
	return nil
}

// bfe extracts a field. A signed field that reaches beyond the top is filled with the sign, an empty one with zero
// (9.7.1.19). Position and length are the low 8 bits of their operands for 32-bit fields only: with 64 bits all of the
// operands count, whatever the manual says (recorded).
func bfe(a uint64, pos, length uint32, signed bool) uint64 {
	if length == 0 {
		return 0
	}
	if !signed {
		v := a >> pos
		if length < 64 {
			v &= 1<<length - 1
		}
		return v
	}
	// a is sign-extended, so that bits beyond the top are copies of the sign already.
	v := int64(a) >> min(pos, 63)
	if length < 64 {
		v = v << (64 - length) >> (64 - length)
	}
	return uint64(v)
}

func resolveBfe(in *inst, op *ir.Op) error {
	n, signed := op.Type(0).IntegerBits()
	if n == 32 {
		if signed {
			in.fn = tri32(func(a, b, c uint32) uint32 {
				return uint32(bfe(uint64(int64(int32(a))), b&0xff, c&0xff, true))
			})
		} else {
			in.fn = tri32(func(a, b, c uint32) uint32 { return uint32(bfe(uint64(a), b&0xff, c&0xff, false)) })
		}
		return nil
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		d, a, b, c := w.R64(in.d), w.R64(in.a), w.R32(in.b), w.R32(in.c)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = bfe(a[i], b[i], c[i], signed)
		}
	}
	return nil
}

// bfi inserts the low bits of a into b (9.7.1.20). Position and length are cut for 32-bit fields only, as in bfe.
func bfi(a, b uint64, pos, length uint32) uint64 {
	mask := ^uint64(0)
	if length < 64 {
		mask = 1<<length - 1
	}
	return b&^(mask<<pos) | a&mask<<pos
}

func resolveBfi(in *inst, op *ir.Op) error {
	e := &op.Args[4]
	if op.Type(0) == optab.B32 {
		in.fn = func(w *exec.Warp, in *inst, m uint32) {
			d, a, b, c, e := w.R32(in.d), w.R32(in.a), w.R32(in.b), w.R32(in.c), w.R32(e.Ref)
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				d[i] = uint32(bfi(uint64(a[i]), uint64(b[i]), c[i]&0xff, e[i]&0xff))
			}
		}
		return nil
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		d, a, b, c, e := w.R64(in.d), w.R64(in.a), w.R64(in.b), w.R32(in.c), w.R32(e.Ref)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = bfi(a[i], b[i], c[i], e[i])
		}
	}
	return nil
}

// resolveSzext extends from the given number of low bits (9.7.1.21); .clamp limits the number to 32, .wrap takes it
// modulo 32.
func resolveSzext(in *inst, op *ir.Op) error {
	signed, clamp := op.Type(0) == optab.S32, op.Mods().Bound == optab.BoundClamp
	in.fn = bin32(func(a, b uint32) uint32 {
		n := b & 31
		if clamp {
			n = min(b, 32)
		}
		if signed && n != 0 {
			return uint32(int32(a<<(32-n)) >> (32 - n))
		}
		return uint32(uint64(a) & (1<<n - 1))
	})
	return nil
}

// resolveBmsk makes a mask of b bits from position a (9.7.1.22); .clamp limits both to 32, .wrap takes them modulo 32.
func resolveBmsk(in *inst, op *ir.Op) error {
	clamp := op.Mods().Bound == optab.BoundClamp
	in.fn = bin32(func(a, b uint32) uint32 {
		if clamp {
			a, b = min(a, 32), min(b, 32)
		} else {
			a, b = a&31, b&31
		}
		return uint32((1<<b - 1) << uint64(a))
	})
	return nil
}
