package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// resolveLogic is and, or and xor.
func resolveLogic(in *inst, op *ir.Op) error {
	name := op.Match.Form.Op
	switch op.Match.Type(0) {
	case "pred":
		d, a, b := &op.Args[0], &op.Args[1], &op.Args[2]
		in.fn = func(w *exec.Warp, in *inst, m uint32) { setPred(w, d, m, boolean(name, pred(w, a), pred(w, b))) }
	case "b64":
		in.fn = map[string]handler{"and": and64, "or": or64, "xor": xor64}[name]
	default:
		in.fn = map[string]handler{"and": and32, "or": or32, "xor": xor32}[name]
	}
	return nil
}

// boolean combines masks by the name of an operation.
func boolean(op string, a, b uint32) uint32 {
	switch op {
	case "and":
		return a & b
	case "or":
		return a | b
	}
	return a ^ b
}

func resolveNot(in *inst, op *ir.Op) error {
	switch op.Match.Type(0) {
	case "pred":
		d, a := &op.Args[0], &op.Args[1]
		in.fn = func(w *exec.Warp, in *inst, m uint32) { setPred(w, d, m, ^pred(w, a)) }
	case "b16":
		in.fn = un32(func(a uint32) uint32 { return ^a & 0xffff })
	case "b32":
		in.fn = not32
	default:
		in.fn = un64(func(a uint64) uint64 { return ^a })
	}
	return nil
}

// resolveCnot: one for zero, zero for anything else.
func resolveCnot(in *inst, op *ir.Op) error {
	if op.Match.Type(0) == "b64" {
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

// lop3 evaluates a truth table whose index is 4a+2b+c, bit by bit.
func lop3(lut uint32) func(a, b, c uint32) uint32 {
	switch lut {
	case 0x80:
		return func(a, b, c uint32) uint32 { return a & b & c }
	case 0xfe:
		return func(a, b, c uint32) uint32 { return a | b | c }
	case 0x96:
		return func(a, b, c uint32) uint32 { return a ^ b ^ c }
	case 0xca:
		return func(a, b, c uint32) uint32 { return a&b | ^a&c }
	case 0xe8:
		return func(a, b, c uint32) uint32 { return a&b | a&c | b&c }
	}
	var k [8]uint32 // all ones where the table has a one
	for i := range k {
		k[i] = -(lut >> i & 1)
	}
	return func(a, b, c uint32) uint32 {
		// Shannon expansion by c, then b, then a.
		x0 := k[0] ^ (k[0]^k[1])&c
		x1 := k[2] ^ (k[2]^k[3])&c
		x2 := k[4] ^ (k[4]^k[5])&c
		x3 := k[6] ^ (k[6]^k[7])&c
		y0 := x0 ^ (x0^x1)&b
		y1 := x2 ^ (x2^x3)&b
		return y0 ^ (y0^y1)&a
	}
}

// resolveLop3: the form with a predicate gives (d != 0) BoolOp q as well (9.7.8.6).
func resolveLop3(in *inst, op *ir.Op) error {
	f := lop3(uint32(op.Arg("lut").Bits))
	if op.Match.Form.Op == "lop3" {
		in.fn = tri32(f)
		return nil
	}
	d, q, name := &op.Args[0], op.Arg("q"), op.Match.One("and", "or")
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		a, b, c := w.R32(in.a), w.R32(in.b), w.R32(in.c)
		some := uint32(0)
		for k := m; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			v := f(a[i], b[i], c[i])
			if v != 0 {
				some |= 1 << i
			}
			if d.Kind == ir.Row {
				w.R32(d.Ref)[i] = v
			}
		}
		setPred(w, d.Second, m, boolean(name, some, pred(w, q)))
	}
	return nil
}

func resolveShl(in *inst, op *ir.Op) error {
	switch op.Match.Type(0) {
	case "b16":
		in.fn = bin32(func(a, b uint32) uint32 { return a << b & 0xffff })
	case "b32":
		in.fn = shl32
	default:
		in.fn = shl64
	}
	return nil
}

func resolveShr(in *inst, op *ir.Op) error {
	switch op.Match.Type(0) {
	case "s16":
		in.fn = bin32(func(a, b uint32) uint32 { return uint32(signExtend16(a)>>b) & 0xffff })
	case "s32":
		in.fn = shrS32
	case "s64":
		in.fn = shrS64
	case "b64", "u64":
		in.fn = shrU64
	default:
		in.fn = shrU32
	}
	return nil
}

// resolveShf is the funnel shift: .l takes the upper half of {b,a} << c, .r the lower half of {b,a} >> c.
func resolveShf(in *inst, op *ir.Op) error {
	left, clamp := op.Match.Has("l"), op.Match.Has("clamp")
	in.fn = tri32(func(a, b, c uint32) uint32 {
		n := c & 31
		if clamp {
			n = min(c, 32)
		}
		v := uint64(b)<<32 | uint64(a)
		if left {
			return uint32(v << n >> 32)
		}
		return uint32(v >> n)
	})
	return nil
}

func resolvePrmt(in *inst, op *ir.Op) error {
	switch mode := op.Match.One("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"); mode {
	case "":
		in.fn = tri32(prmt)
	default:
		var sel [4]uint32 // plain selectors for the four values of c
		for c := range uint32(4) {
			for i := range uint32(4) {
				var s uint32
				switch mode {
				case "f4e":
					s = c + i
				case "b4e":
					s = (c - i) & 7
				case "rc8":
					s = c
				case "ecl":
					s = max(c, i)
				case "ecr":
					s = min(c, i)
				case "rc16":
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
