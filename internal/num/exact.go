package num

import (
	"math/bits"
)

// The exact engine: operations on unpacked numbers whose result carries 64 bits, the lowest of them sticky. It serves
// the directed roundings of f64, and it is the reference that the host-float paths of the other formats are tested
// against.

// addNum is a + b. The sign of an exact zero depends on the direction.
func addNum(a, b number, r Round) number {
	if a.class == nan || b.class == nan || a.class == infinite && b.class == infinite && a.neg != b.neg {
		return number{class: nan}
	}
	switch {
	case a.class == infinite:
		return a
	case b.class == infinite:
		return b
	case a.class == zero && b.class == zero:
		if a.neg != b.neg {
			a.neg = r == RM
		}
		return a
	case a.class == zero:
		return b
	case b.class == zero:
		return a
	}
	return addWide(wide{a.neg, a.exp - 64, a.m, 0}, wide{b.neg, b.exp - 64, b.m, 0}, r)
}

// mulNum is a * b.
func mulNum(a, b number) number {
	w, n := mulWide(a, b)
	if n.class != finite {
		return n
	}
	return w.number()
}

// fmaNum is a*b + c, rounded once by the caller.
func fmaNum(a, b, c number, r Round) number {
	p, n := mulWide(a, b)
	if n.class != finite {
		return addNum(n, c, r)
	}
	switch c.class {
	case zero:
		return p.number()
	case finite:
		return addWide(p, wide{c.neg, c.exp - 64, c.m, 0}, r)
	}
	return c
}

// wide is (hi:lo) * 2^exp, the top bit of hi set.
type wide struct {
	neg    bool
	exp    int32
	hi, lo uint64
}

// mulWide multiplies. The wide result counts only if the number's class is finite.
func mulWide(a, b number) (wide, number) {
	n := number{neg: a.neg != b.neg}
	switch {
	case a.class == nan || b.class == nan,
		a.class == infinite && b.class == zero,
		a.class == zero && b.class == infinite:
		n.class = nan
		return wide{}, n
	case a.class == infinite || b.class == infinite:
		n.class = infinite
		return wide{}, n
	case a.class == zero || b.class == zero:
		return wide{}, n
	}
	n.class = finite
	w := wide{neg: n.neg, exp: a.exp + b.exp}
	w.hi, w.lo = bits.Mul64(a.m, b.m)
	if w.hi>>63 == 0 {
		w.hi = w.hi<<1 | w.lo>>63
		w.lo <<= 1
		w.exp--
	}
	return w, n
}

// number narrows to 64 bits with a sticky lowest bit.
func (w wide) number() number {
	m := w.hi
	if w.lo != 0 {
		m |= 1
	}
	return number{finite, w.neg, w.exp + 64, m}
}

// addWide adds two numbers of at most 106 significant bits each. Their 22 low zero bits are room for a carry and keep
// the sticky bit out of the way: more than one bit cancels only if the exponents differ by at most one, and then
// nothing is lost.
func addWide(x, y wide, r Round) number {
	if x.exp < y.exp || x.exp == y.exp && (x.hi < y.hi || x.hi == y.hi && x.lo < y.lo) {
		x, y = y, x
	}
	x.shiftRight(1)
	y.shiftRight(1 + uint(x.exp-1-y.exp))
	var c uint64
	if x.neg == y.neg {
		x.lo, c = bits.Add64(x.lo, y.lo, 0)
		x.hi, _ = bits.Add64(x.hi, y.hi, c)
	} else {
		x.lo, c = bits.Sub64(x.lo, y.lo, 0)
		x.hi, _ = bits.Sub64(x.hi, y.hi, c)
		if x.hi|x.lo == 0 {
			return number{neg: r == RM}
		}
	}
	if x.hi == 0 {
		x.hi, x.lo = x.lo, 0
		x.exp -= 64
	}
	if s := uint(bits.LeadingZeros64(x.hi)); s > 0 {
		x.hi = x.hi<<s | x.lo>>(64-s)
		x.lo <<= s
		x.exp -= int32(s)
	}
	return x.number()
}

// shiftRight moves the bits down by n, keeping what falls off in the lowest bit.
func (w *wide) shiftRight(n uint) {
	w.exp += int32(n)
	switch {
	case n == 0:
	case n < 64:
		lost := w.lo << (64 - n)
		w.lo = w.lo>>n | w.hi<<(64-n)
		w.hi >>= n
		if lost != 0 {
			w.lo |= 1
		}
	case n < 128:
		lost := w.lo
		if n > 64 {
			lost |= w.hi << (128 - n)
		}
		w.hi, w.lo = 0, w.hi>>(n-64)
		if lost != 0 {
			w.lo |= 1
		}
	default:
		w.hi, w.lo = 0, 1
	}
}

// divNum is a / b.
func divNum(a, b number) number {
	n := number{neg: a.neg != b.neg}
	switch {
	case a.class == nan || b.class == nan, a.class == zero && b.class == zero,
		a.class == infinite && b.class == infinite:
		n.class = nan
		return n
	case a.class == infinite || b.class == zero:
		n.class = infinite
		return n
	case a.class == zero || b.class == infinite:
		return n
	}
	q, rem := bits.Div64(a.m>>1, a.m<<63, b.m)
	n.class, n.exp = finite, a.exp-b.exp-63
	if q>>63 == 0 {
		q <<= 1
		n.exp--
	}
	if rem != 0 {
		q |= 1
	}
	n.m = q
	return n
}

// sqrtNum is the square root of a, bit by bit.
func sqrtNum(a number) number {
	switch {
	case a.class == nan, a.class == zero:
		return a
	case a.neg:
		return number{class: nan}
	case a.class == infinite:
		return a
	}
	// Root of m * 2^64 (or * 2^63, to make the exponent even): 64 bits, the top one set.
	hi, lo, e := a.m, uint64(0), a.exp-64
	if e&1 != 0 {
		hi, lo, e = hi>>1, hi<<63, e+1
	}
	var q, remHi, remLo uint64
	for range 64 {
		remHi = remHi<<2 | remLo>>62
		remLo = remLo<<2 | hi>>62
		hi = hi<<2 | lo>>62
		lo <<= 2
		// Candidate 4q+1, up to 66 bits.
		cHi, cLo := q>>62, q<<2|1
		d, b := bits.Sub64(remLo, cLo, 0)
		dh, b := bits.Sub64(remHi, cHi, b)
		q <<= 1
		if b == 0 {
			remHi, remLo = dh, d
			q |= 1
		}
	}
	n := number{finite, false, e / 2, q}
	if remHi|remLo != 0 {
		n.m |= 1
	}
	if s := bits.LeadingZeros64(n.m); s > 0 {
		n.m <<= s
		n.exp -= int32(s)
	}
	return n
}
