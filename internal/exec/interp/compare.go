package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
)

// compareOps are comparisons and selections: PTX ISA 9.7.6 and 9.7.7.
var compareOps = map[string]resolver{
	"setp": resolveSetp, "set": resolveSet, "selp": resolveSelp, "slct": resolveSlct,
}

// orders are the relations that satisfy a comparison. Integers are never unordered, so that ne includes it without harm only for them:
// the ordered ne of floating point does not hold for a NaN.
var orders = map[string]num.Order{
	"eq": num.Equal, "ne": num.Less | num.Greater, "lt": num.Less, "le": num.Less | num.Equal, "gt": num.Greater, "ge": num.Greater | num.Equal,
	"lo": num.Less, "ls": num.Less | num.Equal, "hi": num.Greater, "hs": num.Greater | num.Equal,
	"equ": num.Equal | num.Unordered, "neu": num.Less | num.Greater | num.Unordered, "ltu": num.Less | num.Unordered, "leu": num.Less | num.Equal | num.Unordered,
	"gtu": num.Greater | num.Unordered, "geu": num.Greater | num.Equal | num.Unordered,
	"num": num.Less | num.Equal | num.Greater, "nan": num.Unordered,
}

func orderOf(op *ir.Op) num.Order {
	for i := range op.Match.Form.Slots {
		if o, ok := orders[op.Match.Words[i]]; ok {
			return o
		}
	}
	return 0
}

// truth gives the lanes of m where a comparison holds.
type truth func(w *exec.Warp, in *inst, m uint32) uint32

func order[T int32 | int64 | uint32 | uint64](a, b T) num.Order {
	switch {
	case a < b:
		return num.Less
	case a == b:
		return num.Equal
	}
	return num.Greater
}

func truth32(want num.Order, f func(a, b uint32) num.Order) truth {
	return func(w *exec.Warp, in *inst, m uint32) (t uint32) {
		a, b := w.R32(in.a), w.R32(in.b)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			if f(a[i], b[i])&want != 0 {
				t |= 1 << i
			}
		}
		return t
	}
}

func truth64(want num.Order, f func(a, b uint64) num.Order) truth {
	return func(w *exec.Warp, in *inst, m uint32) (t uint32) {
		a, b := w.R64(in.a), w.R64(in.b)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			if f(a[i], b[i])&want != 0 {
				t |= 1 << i
			}
		}
		return t
	}
}

// comparison prepares the comparison of an operation's sources of a type; high is the upper half of a packed type, nil for others.
func comparison(op *ir.Op, typ string) (low, high truth) {
	want, ftz := orderOf(op), op.Match.Has("ftz")
	switch typ {
	case "s16":
		return truth32(want, func(a, b uint32) num.Order { return order(signExtend16(a), signExtend16(b)) }), nil
	case "b16", "u16", "b32", "u32":
		return truthU32(want), nil
	case "s32":
		return truthS32(want), nil
	case "b64", "u64":
		return truth64(want, order[uint64]), nil
	case "s64":
		return truth64(want, func(a, b uint64) num.Order { return order(int64(a), int64(b)) }), nil
	case "f32":
		return truth32(want, func(a, b uint32) num.Order { return num.Cmp32(a, b, ftz) }), nil
	case "f64":
		return truth64(want, num.Cmp64), nil
	case "f16", "f16x2":
		low = truth32(want, func(a, b uint32) num.Order { return num.CmpF16(uint16(a), uint16(b), ftz) })
		if typ == "f16x2" {
			high = truth32(want, func(a, b uint32) num.Order { return num.CmpF16(uint16(a>>16), uint16(b>>16), ftz) })
		}
	case "bf16", "bf16x2":
		low = truth32(want, func(a, b uint32) num.Order { return num.CmpBF16(uint16(a), uint16(b)) })
		if typ == "bf16x2" {
			high = truth32(want, func(a, b uint32) num.Order { return num.CmpBF16(uint16(a>>16), uint16(b>>16)) })
		}
	}
	return low, high
}

// withBool combines a comparison with the predicate operand c, when the operation has one. inverse compares with the negated result.
func withBool(op *ir.Op, t truth, inverse bool) truth {
	name, c := op.Match.One("and", "or", "xor"), op.Arg("c")
	switch {
	case name == "" && inverse:
		return func(w *exec.Warp, in *inst, m uint32) uint32 { return ^t(w, in, m) }
	case name == "":
		return t
	}
	return func(w *exec.Warp, in *inst, m uint32) uint32 {
		v := t(w, in, m)
		if inverse {
			v = ^v
		}
		return boolean(name, v, pred(w, c))
	}
}

func resolveSetp(in *inst, op *ir.Op) error {
	low, high := comparison(op, op.Match.Type(0))
	if low == nil {
		return unsupported(op)
	}
	d := &op.Args[0]
	if d.Second == nil {
		if op.Match.One("and", "or", "xor") == "" && d.Kind == ir.Row {
			in.fn = func(w *exec.Warp, in *inst, m uint32) {
				p := w.Pred(d.Ref)
				*p = *p&^m | low(w, in, m)
			}
			return nil
		}
		p := withBool(op, low, false)
		in.fn = func(w *exec.Warp, in *inst, m uint32) { setPred(w, d, m, p(w, in, m)) }
		return nil
	}
	p, q := withBool(op, low, false), withBool(op, low, true)
	if high != nil { // the second predicate is that of the upper half
		q = withBool(op, high, false)
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		v, u := p(w, in, m), q(w, in, m)
		setPred(w, d, m, v)
		setPred(w, d.Second, m, u)
	}
	return nil
}

// resolveSet: true is all ones for an integer destination and one for a floating point one.
func resolveSet(in *inst, op *ir.Op) error {
	dt := op.Match.Type(0)
	low, high := comparison(op, op.Match.Type(1))
	if low == nil {
		return unsupported(op)
	}
	low = withBool(op, low, false)
	if high == nil {
		yes := map[string]uint32{"u16": 0xffff, "s16": 0xffff, "u32": full, "s32": full, "f32": 0x3f800000, "f16": 0x3c00, "bf16": 0x3f80}[dt]
		in.fn = func(w *exec.Warp, in *inst, m uint32) {
			t, d := low(w, in, m), w.R32(in.d)
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				d[i] = yes & -(t >> i & 1)
			}
		}
		return nil
	}
	high = withBool(op, high, false)
	yes := map[string]uint32{"u32": 0xffff, "s32": 0xffff, "f16x2": 0x3c00, "bf16x2": 0x3f80}[dt]
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		t, u, d := low(w, in, m), high(w, in, m), w.R32(in.d)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			d[i] = yes&-(t>>i&1) | yes&-(u>>i&1)<<16
		}
	}
	return nil
}

func resolveSelp(in *inst, op *ir.Op) error {
	c := &op.Args[3]
	if op.Args[0].Class == ir.W64 {
		in.fn = func(w *exec.Warp, in *inst, m uint32) {
			d, a, b, p := w.R64(in.d), w.R64(in.a), w.R64(in.b), pred(w, c)
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				if p>>i&1 != 0 {
					d[i] = a[i]
				} else {
					d[i] = b[i]
				}
			}
		}
		return nil
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		d, a, b, p := w.R32(in.d), w.R32(in.a), w.R32(in.b), pred(w, c)
		if m == full {
			for i := range d {
				k := -(p >> i & 1)
				d[i] = b[i] ^ (a[i]^b[i])&k
			}
			return
		}
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			k := -(p >> i & 1)
			d[i] = b[i] ^ (a[i]^b[i])&k
		}
	}
	return nil
}

// resolveSlct takes a where the selector is not negative: -0 counts as not negative, a NaN as negative (9.7.6.4).
func resolveSlct(in *inst, op *ir.Op) error {
	first := func(c uint32) bool { return int32(c) >= 0 }
	if op.Match.Type(1) == "f32" {
		ftz := op.Match.Has("ftz")
		first = func(c uint32) bool { return num.Cmp32(c, 0, ftz)&(num.Greater|num.Equal) != 0 }
	}
	if op.Args[0].Class == ir.W64 {
		in.fn = func(w *exec.Warp, in *inst, m uint32) {
			d, a, b, c := w.R64(in.d), w.R64(in.a), w.R64(in.b), w.R32(in.c)
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				if first(c[i]) {
					d[i] = a[i]
				} else {
					d[i] = b[i]
				}
			}
		}
		return nil
	}
	in.fn = tri32(func(a, b, c uint32) uint32 {
		if first(c) {
			return a
		}
		return b
	})
	return nil
}
