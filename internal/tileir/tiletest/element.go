package tiletest

import (
	"math/big"
	"math/bits"

	"github.com/gocuda/cuda/internal/tileir"
)

// element computes an operation on single elements.
func (e *evaluator) element(o *tileir.Op, a []uint64) uint64 {
	to := o.Results[0].Type.Elem.Kind
	from := to
	if len(o.Operands) > 0 {
		from = o.Operands[0].Type.Elem.Kind
	}
	truth := func(b bool) uint64 {
		if b {
			return 1
		}
		return 0
	}
	switch o.Code {
	case tileir.CmpI:
		c := 0
		if o.Sign == tileir.Signed {
			c = cmp(signExtend(from, a[0]), signExtend(from, a[1]))
		} else {
			c = cmp(a[0], a[1])
		}
		return truth(holds(o.Compare, c))
	case tileir.CmpF:
		x, y := formats[from].decode(a[0]), formats[from].decode(a[1])
		if x.nan || y.nan {
			return truth(o.Ordering == tileir.Unordered)
		}
		return truth(holds(o.Compare, x.compare(y)))
	case tileir.ExtI, tileir.TruncI:
		if o.Code == tileir.ExtI && o.Sign == tileir.Signed {
			return mask(to, uint64(signExtend(from, a[0])))
		}
		return mask(to, a[0])
	case tileir.IToF:
		v := magnitude()
		if o.Sign == tileir.Signed {
			v.SetInt64(signExtend(from, a[0]))
		} else {
			v.SetUint64(a[0])
		}
		return formats[to].encode(fromSigned(v), o.Rounding, false)
	case tileir.FToF:
		r := formats[from].decode(a[0])
		if f := formats[to]; r.inf && f.exp+f.frac < 8 {
			return f.most() | a[0]>>(formats[from].exp+formats[from].frac)<<7 // numbers of eight bits saturate
		} else if f.exp+f.frac < 8 && !r.nan {
			if v := f.encode(r, o.Rounding, false); v&^f.sign() == f.inf() && !f.finite {
				return v - 1
			}
		}
		return formats[to].encode(r, o.Rounding, false)
	case tileir.FToI:
		if to == tileir.I1 && o.Flags&tileir.Saturating == 0 {
			return truth(!formats[from].decode(a[0]).zero())
		}
		return e.toInt(o, formats[from].decode(a[0]), to)
	}
	if f, ok := formats[to]; ok {
		return e.float(o, f, a)
	}
	return e.integer(o, to, a)
}

// toInt cuts off, and saturates.
func (e *evaluator) toInt(o *tileir.Op, r real, to tileir.Kind) uint64 {
	if r.nan {
		return 0
	}
	n := to.Bits()
	low, high := new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(n)), big.NewInt(1))
	if o.Sign == tileir.Signed {
		high.Rsh(high, 1)
		low.Not(high)
	}
	var v *big.Int
	if r.inf {
		v = high
		if r.neg {
			v = low
		}
	} else {
		v, _ = r.signed().Int(nil)
	}
	if v.Cmp(low) < 0 {
		v = low
	}
	if v.Cmp(high) > 0 {
		v = high
	}
	if v.Sign() < 0 {
		return mask(to, uint64(v.Int64()))
	}
	return mask(to, v.Uint64())
}

func cmp[T int64 | uint64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func holds(p tileir.Predicate, c int) bool {
	switch p {
	case tileir.Equal:
		return c == 0
	case tileir.NotEqual:
		return c != 0
	case tileir.Less:
		return c < 0
	case tileir.LessOrEqual:
		return c <= 0
	case tileir.Greater:
		return c > 0
	}
	return c >= 0
}

func (e *evaluator) float(o *tileir.Op, f format, a []uint64) uint64 {
	ftz := o.Flags&tileir.FlushToZero != 0
	x := make([]real, len(a))
	for i := range a {
		if ftz {
			a[i] = f.flush(a[i])
		}
		x[i] = f.decode(a[i])
	}
	done := func(r real, sticky bool) uint64 {
		v := f.encode(r, o.Rounding, sticky)
		if ftz {
			v = f.flush(v)
		}
		return v
	}
	switch o.Code {
	case tileir.AddF:
		return done(add(x[0], x[1], o.Rounding), false)
	case tileir.SubF:
		return done(add(x[0], negate(x[1]), o.Rounding), false)
	case tileir.MulF:
		return done(mul(x[0], x[1]), false)
	case tileir.Fma:
		return done(add(mul(x[0], x[1]), x[2], o.Rounding), false)
	case tileir.DivF:
		return done(div(x[0], x[1]))
	case tileir.Sqrt:
		return done(sqrt(x[0]))
	case tileir.AbsF:
		return a[0] &^ f.sign()
	case tileir.NegF:
		return a[0] ^ f.sign()
	case tileir.Ceil, tileir.Floor:
		if x[0].nan || x[0].inf || x[0].zero() {
			return done(x[0], false)
		}
		v := x[0].signed()
		n, acc := v.Int(nil)
		switch {
		case o.Code == tileir.Ceil && acc == big.Below:
			n.Add(n, big.NewInt(1))
		case o.Code == tileir.Floor && acc == big.Above:
			n.Sub(n, big.NewInt(1))
		}
		r := fromSigned(magnitude().SetInt(n))
		r.neg = x[0].neg
		return f.encode(r, tileir.NearestEven, false)
	case tileir.MaxF, tileir.MinF:
		switch {
		case x[0].nan && x[1].nan, (x[0].nan || x[1].nan) && o.Flags&tileir.PropagateNaN != 0:
			return f.nan()
		case x[0].nan:
			return a[1]
		case x[1].nan:
			return a[0]
		}
		c := x[0].compare(x[1])
		if c == 0 { // zeros: +0 is the larger one
			c = cmp(a[1]&f.sign(), a[0]&f.sign())
		}
		if c >= 0 == (o.Code == tileir.MaxF) {
			return a[0]
		}
		return a[1]
	}
	e.fail(o, "not evaluated")
	return 0
}

func (e *evaluator) integer(o *tileir.Op, k tileir.Kind, a []uint64) uint64 {
	signed := o.Sign == tileir.Signed
	s := make([]int64, len(a))
	for i := range a {
		s[i] = signExtend(k, a[i])
	}
	pick := func(first bool) uint64 {
		if first {
			return a[0]
		}
		return a[1]
	}
	var v uint64
	switch o.Code {
	case tileir.AddI:
		v = a[0] + a[1]
	case tileir.SubI:
		v = a[0] - a[1]
	case tileir.MulI:
		v = a[0] * a[1]
	case tileir.MulHiI:
		high, low := bits.Mul64(a[0], a[1])
		if v = high; k.Bits() < 64 {
			v = low >> k.Bits()
		}
	case tileir.AndI:
		v = a[0] & a[1]
	case tileir.OrI:
		v = a[0] | a[1]
	case tileir.XOrI:
		v = a[0] ^ a[1]
	case tileir.NegI:
		v = -a[0]
	case tileir.AbsI:
		if v = a[0]; s[0] < 0 {
			v = -a[0]
		}
	case tileir.MaxI:
		return pick(signed && s[0] >= s[1] || !signed && a[0] >= a[1])
	case tileir.MinI:
		return pick(signed && s[0] <= s[1] || !signed && a[0] <= a[1])
	case tileir.ShLI:
		v = a[0] << a[1]
	case tileir.ShRI:
		if v = a[0] >> a[1]; signed {
			v = uint64(s[0] >> a[1])
		}
	case tileir.DivI, tileir.RemI:
		v = e.divide(o, a, s, signed)
	default:
		e.fail(o, "not evaluated")
	}
	return mask(k, v)
}

func (e *evaluator) divide(o *tileir.Op, a []uint64, s []int64, signed bool) uint64 {
	if a[1] == 0 {
		e.fail(o, "division by zero")
	}
	if !signed {
		q, r := a[0]/a[1], a[0]%a[1]
		switch {
		case o.Code == tileir.RemI:
			return r
		case o.Rounding == tileir.PositiveInf && r != 0:
			q++
		}
		return q
	}
	if s[1] == -1 {
		e.fail(o, "division by -1")
	}
	q, r := s[0]/s[1], s[0]%s[1]
	switch {
	case o.Code == tileir.RemI:
		return uint64(r)
	case o.Rounding == tileir.PositiveInf && r != 0 && r < 0 == (s[1] < 0):
		q++
	case o.Rounding == tileir.NegativeInf && r != 0 && r < 0 != (s[1] < 0):
		q--
	}
	return uint64(q)
}
