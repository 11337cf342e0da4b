package num

import "math/bits"

// The tensor cores' sum of products.
//
// A model found by fitting recorded H200 results; it reproduces every element of the mma.sync m16n8 cases with f16,
// bf16, tf32, e4m3 and e5m2 operands (dot_test.go) and the wmma and wgmma cases tried when it was found:
//
//   - The terms are the accumulator C and all k products of one step, each exact.
//   - A term's exponent is C's exponent, or the sum of the two operands' exponents, not normalised (so a product is
//     below 4 * 2^e). A subnormal operand has the smallest normal exponent. E is the largest exponent over the terms
//     that are not zero.
//   - Every term is truncated toward zero to a multiple of 2^(E-25), then all are added exactly.
//   - The sum is truncated to f32 (2^128 and above becomes infinity), or rounded to nearest even straight to f16. A
//     zero sum is +0, and so is an f32 result that truncation leaves nothing of (recorded: wgmma with tf32).
//   - A NaN, infinity times zero and infinities of both signs give the canonical NaN.
//
// Variants: wmma m16n16k8 with tf32 is two steps of four products. wgmma with 8-bit floats truncates terms at 2^(E-13)
// and its f32 result to 13 fraction bits. mma.sync with 8-bit floats is emulated on Hopper, see FP8Sync. mma.sync
// m8n8k4 with f16 was not fitted.

// Operand is a matrix element taken apart once, for use in many sums: man * 2^(exp-10).
type Operand struct {
	man   int32
	exp   int16
	class class
	neg   bool
}

// DecodeOperand takes apart an element of F16, BF16, TF32, E4M3 or E5M2. TF32 ignores the low 13 bits of x.
func DecodeOperand(f Format, x uint32) Operand {
	l := &layouts[f]
	x >>= l.low
	mag := uint64(x) & (1<<(l.bits-1) - 1)
	p := Operand{neg: x>>(l.bits-1)&1 != 0}
	switch {
	case mag == 0:
		return p
	case mag > l.max:
		p.class = infinite
		if mag > l.inf || f == E4M3 {
			p.class = nan
		}
		return p
	}
	p.class = finite
	be := int16(mag >> l.man)
	p.man = int32(mag & (1<<l.man - 1))
	if be == 0 {
		be = 1
	} else {
		p.man |= 1 << l.man
	}
	p.exp = be - l.bias
	p.man <<= 10 - l.man
	if p.neg {
		p.man = -p.man
	}
	return p
}

// Negated is the operand with its sign changed (wgmma's imm-scale of -1).
func (p Operand) Negated() Operand {
	p.man = -p.man
	p.neg = !p.neg
	return p
}

// Dot says how one step of accumulation rounds.
type Dot struct {
	Out  Format // F32 or F16: format of C and of the result
	Trim int    // terms are cut to multiples of 2^(E-Trim)
	Frac int    // fraction bits that an F32 result keeps
	Step int    // products added at once; 0 means all
}

// The configurations known.
var (
	DotF32      = Dot{Out: F32, Trim: 25, Frac: 23}          // f16, bf16, tf32 operands
	DotF16      = Dot{Out: F16, Trim: 25}                    // f16 operands, f16 accumulator
	DotWmmaTF32 = Dot{Out: F32, Trim: 25, Frac: 23, Step: 4} // wmma m16n16k8 tf32
	DotFP8F32   = Dot{Out: F32, Trim: 13, Frac: 13}          // wgmma with e4m3, e5m2
	DotFP8F16   = Dot{Out: F16, Trim: 13}                    // the same, f16 accumulator
)

// DotMax is the largest number of products of one step.
const DotMax = 64

// Acc is C plus the sum of a[i]*b[i], in the format d.Out. The slices have equal length; a step has at most DotMax
// products.
func (d *Dot) Acc(c uint32, a, b []Operand) uint32 {
	step := len(a)
	if d.Step > 0 {
		step = d.Step
	}
	step = min(max(step, 1), DotMax)
	for {
		n := min(step, len(a))
		c = d.acc(c, a[:n], b[:n])
		if a, b = a[n:], b[n:]; len(a) == 0 {
			return c
		}
	}
}

func (d *Dot) acc(c uint32, a, b []Operand) uint32 {
	const none = -1 << 20
	top, special := int32(none), false
	var man [DotMax]int32
	var exp [DotMax]int32
	b = b[:len(a)]
	for i := range a {
		p, q := &a[i], &b[i]
		special = special || p.class|q.class >= infinite
		m := p.man * q.man
		man[i&(DotMax-1)] = m
		e := int32(p.exp) + int32(q.exp)
		exp[i&(DotMax-1)] = e
		if m != 0 && e > top {
			top = e
		}
	}
	// C with 23 fraction bits.
	l := &layouts[d.Out]
	mag := uint64(c) & (1<<(l.bits-1) - 1)
	if special || mag > l.max {
		return d.special(c, a, b)
	}
	var cMan int64
	var cExp int32
	if mag != 0 {
		be := int32(mag >> l.man)
		cMan = int64(mag & (1<<l.man - 1))
		if be == 0 {
			be = 1
		} else {
			cMan |= 1 << l.man
		}
		cExp = be - int32(l.bias)
		top = max(top, cExp)
		cMan <<= 23 - l.man
		if c>>(l.bits-1)&1 != 0 {
			cMan = -cMan
		}
	}
	if top == none {
		return 0
	}
	// Everything in units of 2^(top-Trim). A product has 20 fraction bits.
	sum := trim(cMan, cExp-23-top+int32(d.Trim))
	for i := range a {
		if m := man[i&(DotMax-1)]; m != 0 {
			sum += trim(int64(m), exp[i&(DotMax-1)]-20-top+int32(d.Trim))
		}
	}
	if sum == 0 {
		return 0
	}
	neg := sum < 0
	if neg {
		sum = -sum
	}
	if d.Out == F16 {
		return uint32(RoundTo(F16, neg, int(top)-d.Trim, uint64(sum), RN))
	}
	unit := int(top) - d.Trim
	if unit+bits.Len64(uint64(sum)) > 128 {
		return uint32(RoundTo(F32, neg, 128, 1, RN)) // truncation does not hold back an overflow
	}
	r := uint32(RoundTo(F32, neg, unit, uint64(sum), RZ)) &^ (1<<(23-d.Frac) - 1)
	if r&^sign32 == 0 {
		return 0 // what truncation leaves nothing of
	}
	return r
}

// trim is v * 2^s, truncated toward zero.
func trim(v int64, s int32) int64 {
	if s >= 0 {
		return v << s
	}
	if s = -s; s > 62 {
		return 0
	}
	return (v + v>>63&(1<<s-1)) >> s
}

// special is the sum when an infinity or a NaN takes part.
func (d *Dot) special(c uint32, a, b []Operand) uint32 {
	n := d.Out.unpack(uint64(c))
	pos, neg, bad := n.class == infinite && !n.neg, n.class == infinite && n.neg, n.class == nan
	for i := range a {
		p, q := a[i], b[i]
		switch {
		case p.class == nan || q.class == nan,
			p.class == infinite && q.class == zero, p.class == zero && q.class == infinite:
			bad = true
		case p.class == infinite || q.class == infinite:
			if p.neg != q.neg {
				neg = true
			} else {
				pos = true
			}
		}
	}
	l := &layouts[d.Out]
	switch {
	case bad || pos && neg:
		return uint32(l.nan)
	case neg:
		return uint32(l.inf | 1<<(l.bits-1))
	}
	return uint32(l.inf)
}

// asHalf is the operand that an element has as float16. Subnormal numbers of e4m3 are normal there.
func (p Operand) asHalf() Operand {
	for p.class == finite && p.exp > -14 && p.man > -1<<10 && p.man < 1<<10 {
		p.man <<= 1
		p.exp--
	}
	return p
}

// FP8Sync is mma.sync with e4m3 and e5m2 operands as Hopper emulates it, with elements as halves: the products with
// k mod 4 < 2 are summed from zero, the others are added to that, both in f32, and C comes last with an ordinary
// addition rounded to nearest. That elements are halves follows from the order of the sum, which is that of the
// conversion of two at a time; no recorded case has a subnormal one in the largest product. out is F32 or F16.
func FP8Sync(out Format, c uint32, a, b []Operand) uint32 {
	var x, y [DotMax]Operand
	d := Dot{Out: out, Trim: 25, Frac: 23}
	var t uint32
	for half := range 2 {
		n := 0
		for i := range a {
			if i>>1&1 == half {
				x[n&(DotMax-1)], y[n&(DotMax-1)] = a[i].asHalf(), b[i].asHalf()
				n++
			}
		}
		t = d.Acc(t, x[:n], y[:n])
	}
	if out == F16 {
		return uint32(AddF16(uint16(t), uint16(c), 0))
	}
	return AddRN32(t, c)
}

// Dot64 is the f64 matrix product's element: fused multiply-adds in ascending k.
func Dot64(c uint64, a, b []uint64, r Round) uint64 {
	for i := range a {
		c = Fma64(a[i], b[i], c, r)
	}
	return c
}

// DotInt is the integer matrix product's element. The sum wraps, or clamps to 32 bits once at the end with satfinite.
func DotInt(c int32, a, b []int32, satfinite bool) int32 {
	s := int64(c)
	for i := range a {
		s += int64(a[i]) * int64(b[i])
	}
	if satfinite {
		s = max(-1<<31, min(s, 1<<31-1))
	}
	return int32(s)
}
