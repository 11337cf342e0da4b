package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// resolveLogic is and, or and xor.
func resolveLogic(in *inst, op *ir.Op) error {
	code := op.Opcode()
	what := code.Logic()
	switch op.Type(0) {
	case optab.Pred:
		d, a, b := &op.Args[0], &op.Args[1], &op.Args[2]
		in.fn = func(w *exec.Warp, in *inst, m uint32) {
			setPred(w, d, m, boolean(what, pred(w, a), pred(w, b)))
		}
	case optab.B64:
		in.fn = map[optab.Opcode]handler{optab.OpAnd: and64, optab.OpOr: or64, optab.OpXor: xor64}[code]
	default:
		in.fn = map[optab.Opcode]handler{optab.OpAnd: and32, optab.OpOr: or32, optab.OpXor: xor32}[code]
	}
	return nil
}

// boolean combines masks.
func boolean(what optab.Func, a, b uint32) uint32 {
	switch what {
	case optab.FuncAnd:
		return a & b
	case optab.FuncOr:
		return a | b
	}
	return a ^ b
}

func resolveNot(in *inst, op *ir.Op) error {
	switch op.Type(0) {
	case optab.Pred:
		d, a := &op.Args[0], &op.Args[1]
		in.fn = func(w *exec.Warp, in *inst, m uint32) { setPred(w, d, m, ^pred(w, a)) }
	case optab.B16:
		in.fn = un32(func(a uint32) uint32 { return ^a & 0xffff })
	case optab.B32:
		in.fn = not32
	default:
		in.fn = un64(func(a uint64) uint64 { return ^a })
	}
	return nil
}

// resolveCnot: one for zero, zero for anything else.
func resolveCnot(in *inst, op *ir.Op) error {
	if op.Type(0) == optab.B64 {
		in.fn = un64(func(a uint64) uint64 {
			if a == 0 {
				return 1
			}
			return 0
		})
		return nil
	}
	in.fn = un32(func(a uint32) uint32 {
		if a == 0 {
			return 1
		}
		return 0
	})
	return nil
}

// lut is a truth table of three inputs as a polynomial over bits: word i is all ones when the product of the inputs in
// i (4 for a, 2 for b, 1 for c) takes part in the sum.
type lut [8]uint32

func newLUT(table uint32) (k lut) {
	for i := range k {
		k[i] = -(table >> i & 1)
	}
	for step := 1; step < 8; step *= 2 { // Reed-Muller transform
		for i := range k {
			if i&step != 0 {
				k[i] ^= k[i^step]
			}
		}
	}
	return k
}

func (k *lut) eval(a, b, c uint32) uint32 {
	return k[0] ^ k[1]&c ^ b&(k[2]^k[3]&c) ^ a&(k[4]^k[5]&c^b&(k[6]^k[7]&c))
}

// rows applies the table to whole rows.
func (k *lut) rows(w *exec.Warp, in *inst, m uint32) {
	d, a, b, c := w.R32(in.d), w.R32(in.a), w.R32(in.b), w.R32(in.c)
	if m == full {
		k0, k1, k2, k3, k4, k5, k6, k7 := k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7]
		for i := range d {
			y, z := b[i], c[i]
			d[i] = k0 ^ k1&z ^ y&(k2^k3&z) ^ a[i]&(k4^k5&z^y&(k6^k7&z))
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = k.eval(a[i], b[i], c[i])
	}
}

// resolveLop3: the form with a predicate gives (d != 0) BoolOp q as well (9.7.8.6).
func resolveLop3(in *inst, op *ir.Op) error {
	table := uint32(op.Arg("lut").Bits)
	k := newLUT(table)
	if op.Opcode() == optab.OpLop3 {
		switch table {
		case 0x96:
			in.fn = xor3
		default:
			in.fn = k.rows
		}
		return nil
	}
	d, q, with := &op.Args[0], op.Arg("q"), op.Mods().Func
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		a, b, c := w.R32(in.a), w.R32(in.b), w.R32(in.c)
		some := uint32(0)
		for n := m; n != 0; n &= n - 1 {
			i := bits.TrailingZeros32(n) & 31
			v := k.eval(a[i], b[i], c[i])
			if v != 0 {
				some |= 1 << i
			}
			if d.Kind == ir.Row {
				w.R32(d.Ref)[i] = v
			}
		}
		setPred(w, d.Second, m, boolean(with, some, pred(w, q)))
	}
	return nil
}

func resolveShl(in *inst, op *ir.Op) error {
	switch op.Type(0) {
	case optab.B16:
		in.fn = bin32(func(a, b uint32) uint32 { return a << b & 0xffff })
	case optab.B32:
		in.fn = shl32
	default:
		in.fn = shl64
	}
	return nil
}

func resolveShr(in *inst, op *ir.Op) error {
	switch op.Type(0) {
	case optab.S16:
		in.fn = bin32(func(a, b uint32) uint32 { return uint32(signExtend16(a)>>b) & 0xffff })
	case optab.S32:
		in.fn = shrS32
	case optab.S64:
		in.fn = shrS64
	case optab.B64, optab.U64:
		in.fn = shrU64
	default:
		in.fn = shrU32
	}
	return nil
}

// resolveShf is the funnel shift: .l takes the upper half of {b,a} << c, .r the lower half of {b,a} >> c.
func resolveShf(in *inst, op *ir.Op) error {
	left, clamp := op.Mods().Direction == optab.DirectionLeft, op.Mods().Bound == optab.BoundClamp
	if !clamp {
		in.fn = shfR
		if left {
			in.fn = shfL
		}
		return nil
	}
	in.fn = tri32(func(a, b, c uint32) uint32 {
		n := min(c, 32)
		v := uint64(b)<<32 | uint64(a)
		if left {
			return uint32(v << n >> 32)
		}
		return uint32(v >> n)
	})
	return nil
}

func resolvePrmt(in *inst, op *ir.Op) error {
	switch mode := op.Mods().Permute; mode {
	case optab.NoPermute:
		in.fn = tri32(prmt)
		if c := &op.Args[3]; c.Kind == ir.Imm && c.Bits&0x8888 == 0 && !c.Sym {
			in.fn = fixedBytes(uint32(c.Bits))
		}
	default:
		var sel [4]uint32 // plain selectors for the four values of c
		for c := range uint32(4) {
			for i := range uint32(4) {
				var s uint32
				switch mode {
				case optab.PermuteF4e:
					s = c + i
				case optab.PermuteB4e:
					s = (c - i) & 7
				case optab.PermuteRc8:
					s = c
				case optab.PermuteEcl:
					s = max(c, i)
				case optab.PermuteEcr:
					s = min(c, i)
				case optab.PermuteRc16:
					s = c&1*2 + i&1
				}
				sel[c] |= s << (4 * i)
			}
		}
		in.fn = tri32(func(a, b, c uint32) uint32 { return prmt(a, b, sel[c&3]) })
	}
	return nil
}

// prmt picks bytes of {b,a}; bit 3 of a selector spreads the byte's sign (9.7.9.8).
func prmt(a, b, c uint32) uint32 {
	v := uint64(b)<<32 | uint64(a)
	d := uint32(0)
	for i := 0; i < 32; i += 8 {
		x := uint32(v>>(c&7*8)) & 0xff
		if c&8 != 0 {
			x = uint32(int32(int8(x))>>7) & 0xff
		}
		d |= x << i
		c >>= 4
	}
	return d
}

// fixedBytes is prmt with a constant selector that spreads no signs, the usual one.
func fixedBytes(c uint32) handler {
	s0, s1, s2, s3 := c&7*8, c>>4&7*8, c>>8&7*8, c>>12&7*8
	return func(w *exec.Warp, in *inst, m uint32) {
		d, a, b := w.R32(in.d), w.R32(in.a), w.R32(in.b)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			v := uint64(b[i])<<32 | uint64(a[i])
			d[i] = uint32(v>>(s0&63))&0xff | uint32(v>>(s1&63))&0xff<<8 | uint32(v>>(s2&63))&0xff<<16 |
				uint32(v>>(s3&63))<<24
		}
	}
}
