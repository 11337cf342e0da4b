package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// compareOps are comparisons and selections: PTX ISA 9.7.6 and 9.7.7.
var compareOps = map[optab.Opcode]resolver{
	optab.OpSetp: resolveSetp, optab.OpSet: resolveSet, optab.OpSelp: resolveSelp, optab.OpSlct: resolveSlct,
}

// orders are the relations that satisfy a comparison (9.3.1). The ordered ones, ne among them, do not hold for a NaN.
var orders = [...]num.Order{
	optab.CmpEq: num.Equal, optab.CmpNe: num.Less | num.Greater,
	optab.CmpLt: num.Less, optab.CmpLe: num.Less | num.Equal,
	optab.CmpGt: num.Greater, optab.CmpGe: num.Greater | num.Equal,
	optab.CmpLo: num.Less, optab.CmpLs: num.Less | num.Equal,
	optab.CmpHi: num.Greater, optab.CmpHs: num.Greater | num.Equal,
	optab.CmpEqu: num.Equal | num.Unordered, optab.CmpNeu: num.Less | num.Greater | num.Unordered,
	optab.CmpLtu: num.Less | num.Unordered, optab.CmpLeu: num.Less | num.Equal | num.Unordered,
	optab.CmpGtu: num.Greater | num.Unordered, optab.CmpGeu: num.Greater | num.Equal | num.Unordered,
	optab.CmpNum: num.Less | num.Equal | num.Greater, optab.CmpNan: num.Unordered,
}

// truth gives the lanes of m where a comparison holds.
type truth func(w *exec.Warp, in *inst, m uint32) uint32

// comparison prepares the comparison of an operation's sources of a type; high is the upper half of a packed type, nil
// for others.
func comparison(op *ir.Op, typ optab.TypeID) (low, high truth) {
	want, ftz := orders[op.Mods().Cmp], op.Mods().Ftz
	half := func(x uint32) uint32 { return num.F16ToF32(uint16(x)) }
	if ftz {
		half = func(x uint32) uint32 { return num.F16ToF32(num.Flush16(uint16(x))) }
	}
	bhalf := func(x uint32) uint32 { return num.BF16ToF32(uint16(x)) }
	switch typ {
	case optab.S16:
		return compareExtended(want), nil
	case optab.B16, optab.U16, optab.B32, optab.U32:
		return compareInts[uint32](want), nil
	case optab.S32:
		return compareInts[int32](want), nil
	case optab.B64, optab.U64:
		return compareInts[uint64](want), nil
	case optab.S64:
		return compareInts[int64](want), nil
	case optab.F32:
		if ftz {
			return compareAs(want, num.Flush32), nil
		}
		return compareRows[float32](want), nil
	case optab.F64:
		return compareRows[float64](want), nil
	case optab.F16:
		return compareAs(want, half), nil
	case optab.F16x2:
		return compareAs(want, half), compareAs(want, func(x uint32) uint32 { return half(x >> 16) })
	case optab.Bf16:
		return compareAs(want, bhalf), nil
	case optab.Bf16x2:
		return compareAs(want, bhalf), compareAs(want, func(x uint32) uint32 { return bhalf(x >> 16) })
	}
	return nil, nil
}

// withBool combines a comparison with the predicate operand c, when the operation has one. inverse compares with the
// negated result.
func withBool(op *ir.Op, t truth, inverse bool) truth {
	with, c := op.Mods().Func, op.Arg("c")
	switch {
	case with == optab.NoFunc && inverse:
		return func(w *exec.Warp, in *inst, m uint32) uint32 { return ^t(w, in, m) }
	case with == optab.NoFunc:
		return t
	}
	return func(w *exec.Warp, in *inst, m uint32) uint32 {
		v := t(w, in, m)
		if inverse {
			v = ^v
		}
		return boolean(with, v, pred(w, c))
	}
}

func resolveSetp(in *inst, op *ir.Op) error {
	low, high := comparison(op, op.Type(0))
	if low == nil {
		return unsupported(op)
	}
	d := &op.Args[0]
	if d.Second == nil {
		if op.Mods().Func == optab.NoFunc && d.Kind == ir.Row {
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
	dt := op.Type(0)
	low, high := comparison(op, op.Type(1))
	if low == nil {
		return unsupported(op)
	}
	low = withBool(op, low, false)
	if high == nil {
		yes := map[optab.TypeID]uint32{optab.U16: 0xffff, optab.S16: 0xffff, optab.U32: full, optab.S32: full,
			optab.F32: 0x3f800000, optab.F16: 0x3c00, optab.Bf16: 0x3f80}[dt]
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
	yes := map[optab.TypeID]uint32{optab.U32: 0xffff, optab.S32: 0xffff, optab.F16x2: 0x3c00, optab.Bf16x2: 0x3f80}[dt]
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
	if op.Type(1) == optab.F32 {
		ftz := op.Mods().Ftz
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
