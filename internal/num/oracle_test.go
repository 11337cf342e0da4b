package num

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// An oracle that shares nothing with the package: values are exact big.Floats, rounding is a search among the
// encodings.

const bigPrec = 4400 // holds any sum of an f64 product and an f64 exactly

// shape restates the formats from PTX ISA 5.2.3 and IEEE 754: exponent and fraction bits, bias, largest finite
// magnitude, what follows it.
var shapes = map[Format]struct {
	exp, man, low uint
	bias          int
	max, over     uint64
}{
	F16: {5, 10, 0, 15, 0x7bff, 0x7c00}, BF16: {8, 7, 0, 127, 0x7f7f, 0x7f80},
	F32:  {8, 23, 0, 127, 0x7f7fffff, 0x7f800000},
	TF32: {8, 10, 13, 127, 0x3fbff, 0x3fc00}, F64: {11, 52, 0, 1023, 0x7fefffffffffffff, 0x7ff0000000000000},
	E4M3: {4, 3, 0, 7, 0x7e, 0x7f}, E5M2: {5, 2, 0, 15, 0x7b, 0x7c},
	E2M3: {2, 3, 0, 1, 0x1f, 0x1f}, E3M2: {3, 2, 0, 3, 0x1f, 0x1f}, E2M1: {2, 1, 0, 1, 7, 7},
}

// value is the magnitude of a field encoding, also of the one after the largest as if the format went on.
func value(f Format, mag uint64) *big.Float {
	s := shapes[f]
	e, m := int(mag>>s.man), mag&(1<<s.man-1)
	if e == 0 {
		e = 1
	} else {
		m |= 1 << s.man
	}
	v := new(big.Float).SetPrec(bigPrec).SetUint64(m)
	return v.SetMantExp(v, e-s.bias-int(s.man))
}

// decode is the value of a finite encoding.
func decode(f Format, x uint64) *big.Float {
	s := shapes[f]
	x >>= s.low
	v := value(f, x&(1<<(s.exp+s.man)-1))
	if x>>(s.exp+s.man)&1 != 0 {
		v.Neg(v)
	}
	return v
}

// nearest rounds an exact nonzero x.
func nearest(f Format, x *big.Float, r Round) uint64 {
	s := shapes[f]
	neg := x.Sign() < 0
	a := new(big.Float).SetPrec(bigPrec).Abs(x)
	lo, hi := uint64(0), s.max+1 // value(lo) <= a < value(hi), or a is beyond everything
	// Narrow by the exponent first.
	if e := a.MantExp(nil) - 1 + s.bias; e > 0 && uint64(e)<<s.man <= s.max {
		lo, hi = uint64(e)<<s.man, min(hi, uint64(e+1)<<s.man)
	} else if e <= 0 {
		hi = 1 << s.man
	}
	if a.Cmp(value(f, s.max+1)) >= 0 {
		lo = s.max
	}
	for lo+1 < hi {
		mid := (lo + hi) / 2
		if value(f, mid).Cmp(a) <= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	low, up := value(f, lo), value(f, lo+1)
	mag := lo
	if a.Cmp(low) != 0 {
		half := new(big.Float).SetPrec(bigPrec).Add(low, up)
		half.SetMantExp(half, -1)
		c := a.Cmp(half)
		if a.Cmp(up) >= 0 {
			c = 1
		}
		switch r {
		case RN:
			if c > 0 || c == 0 && lo&1 != 0 {
				mag++
			}
		case RNA:
			if c >= 0 {
				mag++
			}
		case RP:
			if !neg {
				mag++
			}
		case RM:
			if neg {
				mag++
			}
		}
	}
	if mag > s.max {
		mag = s.over
	}
	if neg {
		mag |= 1 << (s.exp + s.man)
	}
	return mag << s.low
}

func finiteIn(f Format, x uint64) bool {
	s := shapes[f]
	return x>>s.low&(1<<(s.exp+s.man)-1) <= s.max
}

// edges are encodings at every boundary of a format, and some between, of both signs.
func edges(f Format, n int, seed uint64) []uint64 {
	s := shapes[f]
	one := uint64(s.bias) << s.man
	mags := []uint64{1, 2, 3, 1<<s.man - 1, 1 << s.man, 1<<s.man + 1, 2 << s.man, one - 1, one, one + 1,
		one + 1<<(s.man-1), one + 2<<s.man,
		s.max, s.max - 1, s.max - 1<<s.man, one / 2, one/2 + 1, one + one/2, one - uint64(s.man+1)<<s.man,
		one + uint64(s.man+1)<<s.man, one + uint64(s.man+2)<<s.man + 1}
	r := rand.New(rand.NewPCG(seed, uint64(f)))
	for len(mags) < n {
		m := r.Uint64N(s.max) + 1
		switch r.IntN(4) {
		case 0: // near one
			m = one + uint64(r.IntN(8)-4)<<s.man + r.Uint64N(1<<s.man)
		case 1: // trailing zeros or ones
			k := uint(r.IntN(int(s.man)))
			m = m >> k << k
			if r.IntN(2) == 0 {
				m |= 1<<k - 1
			}
		}
		if m != 0 && m <= s.max {
			mags = append(mags, m)
		}
	}
	var v []uint64
	for _, m := range mags[:n] {
		v = append(v, m<<s.low, (m|1<<(s.exp+s.man))<<s.low)
	}
	return v
}

var directions = []Round{RN, RZ, RM, RP}

// inexact marks v, a value cut toward zero, as lying a little farther out.
func inexact(v *big.Float) *big.Float {
	t := new(big.Float).SetPrec(bigPrec).SetMantExp(big.NewFloat(1), v.MantExp(nil)-2000)
	if v.Sign() < 0 {
		t.Neg(t)
	}
	return new(big.Float).SetPrec(bigPrec).Add(v, t)
}

func bigMul(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bigPrec).Mul(a, b) }
func bigAdd(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bigPrec).Add(a, b) }

func bigQuo(a, b *big.Float) *big.Float {
	q := new(big.Float).SetPrec(200).SetMode(big.ToZero).Quo(a, b)
	if bigMul(q, b).Cmp(a) != 0 {
		return inexact(q)
	}
	return new(big.Float).SetPrec(bigPrec).Set(q)
}

func bigSqrt(a *big.Float) *big.Float {
	// floor(sqrt(m * 2^2k)) with m an integer.
	m, e := new(big.Float).SetPrec(bigPrec), 0
	e = a.MantExp(m)
	m.SetMantExp(m, 400)
	e -= 400
	if e&1 != 0 {
		m.SetMantExp(m, 1)
		e--
	}
	n, _ := m.Int(nil)
	s := new(big.Int).Sqrt(n)
	v := new(big.Float).SetPrec(bigPrec).SetInt(s)
	v.SetMantExp(v, e/2)
	if new(big.Int).Mul(s, s).Cmp(n) != 0 {
		return inexact(v)
	}
	return v
}

// arithmetic is one format's operations by pattern, to be held against the oracle.
type arithmetic struct {
	f              Format
	add, mul, div  func(a, b uint64, r Round) uint64
	fma            func(a, b, c uint64, r Round) uint64
	sqrt           func(a uint64, r Round) uint64
	rounds         []Round
	pairs, triples int // edge values for crosses of two and three
}

func engine(f Format) arithmetic {
	u := f.unpack
	return arithmetic{f,
		func(a, b uint64, r Round) uint64 { return f.pack(addNum(u(a), u(b), r), r) },
		func(a, b uint64, r Round) uint64 { return f.pack(mulNum(u(a), u(b)), r) },
		func(a, b uint64, r Round) uint64 { return f.pack(divNum(u(a), u(b)), r) },
		func(a, b, c uint64, r Round) uint64 { return f.pack(fmaNum(u(a), u(b), u(c), r), r) },
		func(a uint64, r Round) uint64 { return f.pack(sqrtNum(u(a)), r) }, directions, 30, 10}
}

func TestArithmetic(t *testing.T) {
	w := func(f func(a, b uint32, r Round, o Opt) uint32) func(a, b uint64, r Round) uint64 {
		return func(a, b uint64, r Round) uint64 { return uint64(f(uint32(a), uint32(b), r, 0)) }
	}
	h := func(f func(a, b uint16) uint16) func(a, b uint64, r Round) uint64 {
		return func(a, b uint64, r Round) uint64 { return uint64(f(uint16(a), uint16(b))) }
	}
	for name, ar := range map[string]arithmetic{
		"f32": {F32, w(Add32), w(Mul32), w(Div32),
			func(a, b, c uint64, r Round) uint64 {
				return uint64(Fma32(uint32(a), uint32(b), uint32(c), r, 0))
			},
			func(a uint64, r Round) uint64 { return uint64(Sqrt32(uint32(a), r, 0)) }, directions, 60, 13},
		"f64": {F64, Add64, Mul64, Div64, Fma64, Sqrt64, directions, 24, 8},
		"f16": {F16, h(func(a, b uint16) uint16 {
			return AddF16(a, b, 0)
		}), h(func(a, b uint16) uint16 { return MulF16(a, b, 0) }), nil,
			func(a, b, c uint64, r Round) uint64 { return uint64(FmaF16(uint16(a), uint16(b), uint16(c), 0)) }, nil,
			[]Round{RN}, 90, 22},
		"bf16": {BF16, h(AddBF16), h(MulBF16), nil,
			func(a, b, c uint64, r Round) uint64 {
				return uint64(FmaBF16(uint16(a), uint16(b), uint16(c), r, 0))
			}, nil, []Round{RN}, 90, 22},
		"engine f32": engine(F32), "engine f64": engine(F64), "engine f16": engine(F16),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checked := 0
			check := func(op string, got uint64, x *big.Float, r Round, in ...uint64) {
				if x.Sign() == 0 {
					return // signs of zeros are held against silicon
				}
				checked++
				if want := nearest(ar.f, x, r); got != want {
					t.Errorf("%s.%v %x: got %#x, want %#x", op, r, in, got, want)
				}
			}
			e := edges(ar.f, ar.pairs, 1)
			val := map[uint64]*big.Float{}
			at := func(x uint64) *big.Float {
				if val[x] == nil {
					val[x] = decode(ar.f, x)
				}
				return val[x]
			}
			for _, a := range e {
				for _, b := range e {
					sum, prod := bigAdd(at(a), at(b)), bigMul(at(a), at(b))
					for _, r := range ar.rounds {
						check("add", ar.add(a, b, r), sum, r, a, b)
						check("mul", ar.mul(a, b, r), prod, r, a, b)
					}
					if ar.div != nil {
						q := bigQuo(at(a), at(b))
						for _, r := range ar.rounds {
							check("div", ar.div(a, b, r), q, r, a, b)
						}
					}
				}
				if ar.sqrt != nil && at(a).Sign() > 0 {
					s := bigSqrt(at(a))
					for _, r := range ar.rounds {
						check("sqrt", ar.sqrt(a, r), s, r, a)
					}
				}
			}
			e = edges(ar.f, ar.triples, 2)
			for _, a := range e {
				for _, b := range e {
					p := bigMul(at(a), at(b))
					cs := e
					// Addends that nearly cancel the product.
					if n := nearest(ar.f, p, RN); finiteIn(ar.f, n) && p.Sign() != 0 {
						flip := n ^ 1<<(ar.f.Bits()-1)
						cs = append(append([]uint64{}, e...), flip, flip^1)
					}
					for _, c := range cs {
						x := bigAdd(p, decode(ar.f, c))
						for _, r := range ar.rounds {
							check("fma", ar.fma(a, b, c, r), x, r, a, b, c)
						}
					}
				}
			}
			t.Logf("%d results", checked)
		})
	}
}

// TestRoundTo holds the rounding step of every format against the search, around every boundary.
func TestRoundTo(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for f := range numFormats {
		s, ok := shapes[f]
		if !ok {
			continue
		}
		for i := range 6000 {
			// A point at or near a value or a midpoint.
			mag := rng.Uint64N(s.max + 1)
			if i%3 == 0 {
				mag = []uint64{0, 1, 1<<s.man - 1, 1 << s.man, s.max - 1, s.max}[rng.IntN(6)]
			}
			n := f.unpack(mag << s.low)
			exp := int(n.exp)
			m := n.m
			if n.class == zero {
				m, exp = 1<<63, 1-s.bias-int(s.man)-64-rng.IntN(3)
			}
			m += []uint64{0, 1, 1 << (62 - s.man), 1<<(62-s.man) + 1, 1<<(62-s.man) - 1,
				rng.Uint64() >> (s.man + 1)}[rng.IntN(6)]
			if m == 0 {
				continue
			}
			neg := rng.IntN(2) == 0
			x := new(big.Float).SetPrec(bigPrec).SetUint64(m)
			x.SetMantExp(x, exp)
			if neg {
				x.Neg(x)
			}
			for _, r := range []Round{RN, RZ, RM, RP, RNA} {
				want := nearest(f, x, r)
				// Infinity gives way to the largest value where the direction points inward.
				if got := RoundTo(f, neg, exp, m, r); got != want {
					t.Fatalf("%v.%v neg %v %#x * 2^%d: got %#x, want %#x", f, r, neg, m, exp, got, want)
				}
			}
		}
	}
}

// TestMini converts every f16 and bf16 value to every format of eight bits and less, and back.
func TestMini(t *testing.T) {
	for _, f := range []Format{E4M3, E5M2, E2M3, E3M2, E2M1} {
		s := shapes[f]
		for _, src := range []Format{F16, BF16} {
			for x := range uint64(1 << 16) {
				var want uint64
				switch {
				case src.IsNaN(x):
					want = map[Format]uint64{E4M3: 0x7f, E5M2: 0x7f, E2M3: 0x1f, E3M2: 0x1f, E2M1: 7}[f]
				case !finiteIn(src, x):
					want = s.max | x>>15<<(s.exp+s.man)
				case x&0x7fff == 0:
					want = x >> 15 << (s.exp + s.man)
				default:
					want = nearest(f, decode(src, x), RN)
					if want&(1<<(s.exp+s.man)-1) > s.max {
						want = s.max | x>>15<<(s.exp+s.man)
					}
				}
				if got := uint64(ToMini(f, src, x, 0)); got != want {
					t.Fatalf("%v from %v %#x: got %#x, want %#x", f, src, x, got, want)
				}
				if x>>15 != 0 && !src.IsNaN(x) {
					want = 0
				}
				if got := uint64(ToMini(f, src, x, Relu)); got != want {
					t.Fatalf("relu %v from %v %#x: got %#x, want %#x", f, src, x, got, want)
				}
			}
		}
		for x := range uint64(1) << (1 + s.exp + s.man) {
			got := uint64(MiniToF16(f, uint8(x), 0))
			if !finiteIn(f, x) {
				if f == E5M2 && x&0x7f == 0x7c {
					if got != 0x7c00|x>>7<<15 {
						t.Errorf("%v %#x: got %#x", f, x, got)
					}
				} else if got != nan16 {
					t.Errorf("%v %#x: got %#x", f, x, got)
				}
				continue
			}
			if v := decode(F16, got); v.Cmp(decode(f, x)) != 0 || got>>15 != x>>(s.exp+s.man) {
				t.Errorf("%v %#x: got %#x", f, x, got)
			}
		}
	}
}

// TestUE8M0 follows the text of cvt: powers of two, .rz and .rp, 0xff for NaN.
func TestUE8M0(t *testing.T) {
	for e := range 255 {
		x := uint64(UE8M0ToBF16(uint8(e)))
		want := new(big.Float).SetMantExp(big.NewFloat(1), e-127)
		if decode(BF16, x).Cmp(want) != 0 {
			t.Errorf("2^%d: bf16 %#x", e-127, x)
		}
		for _, r := range []Round{RZ, RP} {
			if got := ToUE8M0(BF16, x|sign16, r, 0); got != uint8(e) {
				t.Errorf("back from %#x .%v: %#x", x, r, got)
			}
			up := uint8(e)
			if r == RP {
				up++
			}
			if got := ToUE8M0(F32, x<<16+1, r, 0); got != up {
				t.Errorf("above %#x .%v: %#x, want %#x", x, r, got, up)
			}
		}
	}
	for _, c := range []struct {
		x    uint32
		r    Round
		o    Opt
		want uint8
	}{
		{0x7fc00000, RZ, SatFinite, 0xff}, {inf32, RZ, 0, 0xff}, {inf32, RZ, SatFinite, 0xfe}, {0, RP, 0, 0},
		{1, RP, 0, 0}, {1, RZ, 0, 0}, {0x400001, RP, 0, 1}, {0x7f7fffff, RP, 0, 0xff},
		{0x7f7fffff, RP, SatFinite, 0xfe}, {0x7f7fffff, RZ, 0, 0xfe},
	} {
		if got := ToUE8M0(F32, uint64(c.x), c.r, c.o); got != c.want {
			t.Errorf("%#x .%v %d: %#x, want %#x", c.x, c.r, c.o, got, c.want)
		}
	}
}

// TestStochastic: with all random bits set everything inexact by more than the last random bit moves away from zero,
// with none it is truncation, and over all random values the mean is the operand (cvt, .rs).
func TestStochastic(t *testing.T) {
	for _, x := range []uint32{0x3f801234, 0xbf9abcde, 0x40490fdb, 0x38800fff, 0x477fefff} {
		want := CvtFloat(F16, F32, uint64(x), RZ, 0)
		if got := CvtRS(F16, x, 0, 0); uint64(got) != want {
			t.Errorf("%#x: no random bits %#x, truncation %#x", x, got, want)
		}
		ups := uint32(0)
		for rnd := range uint32(1 << 13) {
			if uint64(CvtRS(F16, x, uint16(rnd), 0)) != want {
				ups++
			}
		}
		if ups != x&0x1fff {
			t.Errorf("%#x: %d of 8192 away from zero, want %d", x, ups, x&0x1fff)
		}
	}
	if got := QuadToMini(E2M1, [4]uint32{0x3f800000, 0x40000000, 0x40c00000, 0xc0c00000}, 0xffffffff,
		0); got != 0x247f {
		t.Errorf("exact e2m1 quad %#x", got)
	}
	if got := QuadToMini(E4M3, [4]uint32{0x3f800000, 0xbf800000, 0x7fc00000, 0x7f800000}, 0, Relu); got != 0x38007f7e {
		t.Errorf("e4m3 quad %#x", got)
	}
}

// TestIntegers holds conversions with integers against big integers.
func TestIntegers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 20000 {
		v := rng.Uint64() >> rng.IntN(64)
		if k := rng.IntN(60); rng.IntN(2) == 0 {
			v = v >> k << k
		}
		if v == 0 {
			continue
		}
		for _, f := range []Format{F16, BF16, F32, F64} {
			for _, r := range directions {
				x := new(big.Float).SetPrec(bigPrec).SetUint64(v)
				if got, want := FromUint(f, v, r, 0), nearest(f, x, r); got != want {
					t.Fatalf("%v.%v from %d: %#x, want %#x", f, r, v, got, want)
				}
				x = new(big.Float).SetPrec(bigPrec).SetInt64(int64(v))
				if got, want := FromInt(f, int64(v), r, 0), nearest(f, x, r); got != want {
					t.Fatalf("%v.%v from %d: %#x, want %#x", f, r, int64(v), got, want)
				}
			}
		}
	}
	// Floats to integers: rounding by the definition of each direction, then clamping.
	whole := func(x *big.Float, r Round) *big.Int {
		fl, acc := new(big.Float).Copy(x).Int(nil) // toward zero
		if acc == big.Exact {
			return fl
		}
		down := fl
		if x.Sign() < 0 {
			down = new(big.Int).Sub(fl, big.NewInt(1))
		}
		up := new(big.Int).Add(down, big.NewInt(1))
		switch r {
		case RZ:
			return fl
		case RM:
			return down
		case RP:
			return up
		}
		d := new(big.Float).SetPrec(bigPrec).Sub(x, new(big.Float).SetPrec(bigPrec).SetInt(down))
		switch c := d.Cmp(big.NewFloat(0.5)); {
		case c < 0 || c == 0 && down.Bit(0) == 0:
			return down
		}
		return up
	}
	for _, f := range []Format{F16, BF16, F32, F64} {
		s := shapes[f]
		for i := range 4000 {
			mag := rng.Uint64N(s.max + 1)
			if i%2 == 0 { // magnitudes about the integers
				mag = min(s.max, uint64(s.bias-3+rng.IntN(72))<<s.man|
					rng.Uint64N(1<<s.man)>>rng.IntN(int(s.man))<<rng.IntN(int(s.man))&(1<<s.man-1))
			}
			x := mag | uint64(rng.IntN(2))<<(s.exp+s.man)
			v := decode(f, x)
			for _, r := range directions {
				n := whole(v, r)
				for _, width := range []uint{8, 16, 32, 64} {
					for _, signed := range []bool{false, true} {
						lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), width)
						if signed {
							hi.Rsh(hi, 1)
							lo.Neg(hi)
						}
						hi.Sub(hi, big.NewInt(1))
						c := new(big.Int).Set(n)
						if c.Cmp(lo) < 0 {
							c = lo
						} else if c.Cmp(hi) > 0 {
							c = hi
						}
						want := c.Uint64()
						if c.Sign() < 0 {
							want = uint64(c.Int64())
						}
						if got := ToInt(f, x, r, 0, width, signed); got != want {
							t.Fatalf("%v %#x to %d bits signed %v .%vi: %#x, want %#x", f, x, width, signed, r, got,
								want)
						}
					}
				}
				got := RoundInt(f, x, r, 0)
				if g := decode(f, got); g.Cmp(new(big.Float).SetPrec(bigPrec).SetInt(n)) != 0 ||
					got>>(s.exp+s.man) != x>>(s.exp+s.man) {
					t.Fatalf("%v %#x .%vi: %#x", f, x, r, got)
				}
			}
		}
	}
}

// TestCvtFloat converts edges between all pairs of wide formats.
func TestCvtFloat(t *testing.T) {
	for _, src := range []Format{F16, BF16, F32, F64} {
		e := edges(src, 400, 9)
		for _, dst := range []Format{F16, BF16, TF32, F32, F64} {
			if dst == TF32 && src != F32 || dst == src {
				continue
			}
			for _, x := range e {
				v := decode(src, x)
				for _, r := range directions {
					if dst == TF32 && r > RZ {
						continue
					}
					want := nearest(dst, v, r)
					if got := CvtFloat(dst, src, x, r, 0); got != want {
						t.Fatalf("cvt.%v.%v.%v %#x: %#x, want %#x", r, dst, src, x, got, want)
					}
				}
				if dst == TF32 {
					if got, want := CvtFloat(dst, src, x, RNA, 0), nearest(dst, v, RNA); got != want {
						t.Fatalf("cvt.rna.tf32.f32 %#x: %#x, want %#x", x, got, want)
					}
				}
			}
		}
	}
}

// TestFastPaths holds the host-float paths against the engine on hard random operands.
func TestFastPaths(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	gen := func() uint32 {
		switch rng.IntN(5) {
		case 0:
			return rng.Uint32()
		case 1: // subnormal and tiny
			return rng.Uint32()&0x807fffff | uint32(rng.IntN(4))<<23
		case 2: // few bits
			return rng.Uint32() & 0xfff00000
		case 3: // integers
			return b32(float32(int32(rng.Uint32()) >> rng.IntN(31)))
		}
		return b32(float32(rng.NormFloat64()))
	}
	u := func(x uint32) number { return F32.unpack(uint64(x)) }
	for range 400000 {
		a, b, c := gen(), gen(), gen()
		if rng.IntN(3) == 0 { // cancellation
			c = MulRN32(a, b) ^ sign32
		}
		for _, r := range directions {
			if got, want := Fma32(a, b, c, r, 0), uint32(F32.pack(fmaNum(u(a), u(b), u(c), r), r)); got != want {
				t.Fatalf("fma.%v %x %x %x: %#x, want %#x", r, a, b, c, got, want)
			}
			if got, want := Add32(a, b, r, 0), uint32(F32.pack(addNum(u(a), u(b), r), r)); got != want {
				t.Fatalf("add.%v %x %x: %#x, want %#x", r, a, b, got, want)
			}
			if got, want := Mul32(a, b, r, 0), uint32(F32.pack(mulNum(u(a), u(b)), r)); got != want {
				t.Fatalf("mul.%v %x %x: %#x, want %#x", r, a, b, got, want)
			}
			if got, want := Div32(a, b, r, 0), uint32(F32.pack(divNum(u(a), u(b)), r)); got != want {
				t.Fatalf("div.%v %x %x: %#x, want %#x", r, a, b, got, want)
			}
			if got, want := Sqrt32(a, r, 0), uint32(F32.pack(sqrtNum(u(a)), r)); got != want {
				t.Fatalf("sqrt.%v %x: %#x, want %#x", r, a, got, want)
			}
		}
		// Halves.
		h := [3]uint16{uint16(a), uint16(b), uint16(c >> 16)}
		v := func(f Format, i int) number { return f.unpack(uint64(h[i])) }
		if got, want := FmaF16(h[0], h[1], h[2], 0),
			uint16(F16.pack(fmaNum(v(F16, 0), v(F16, 1), v(F16, 2), RN), RN)); got != want {
			t.Fatalf("fma.f16 %x: %#x, want %#x", h, got, want)
		}
		if got, want := FmaBF16(h[0], h[1], h[2], RN, 0),
			uint16(BF16.pack(fmaNum(v(BF16, 0), v(BF16, 1), v(BF16, 2), RN), RN)); got != want {
			t.Fatalf("fma.bf16 %x: %#x, want %#x", h, got, want)
		}
		// f64, its third operand often cancelling.
		x, y, z := rng.Uint64(), rng.Uint64(), rng.Uint64()
		if rng.IntN(2) == 0 {
			x, y = b64(rng.NormFloat64()), b64(rng.NormFloat64())
			z = b64(-float64(f64(x) * f64(y)))
		}
		if isNaN64(x) || isNaN64(y) || isNaN64(z) {
			continue
		}
		if got, want := Fma64(x, y, z, RN), pack64(fmaNum(F64.unpack(x), F64.unpack(y), F64.unpack(z), RN),
			RN); got != want {
			t.Fatalf("fma.f64 %x %x %x: %#x, want %#x", x, y, z, got, want)
		}
	}
	// Every pair of an f16 significand against the engine, by addition and product.
	for a := uint32(0x3c00); a < 0x4000; a += 3 {
		for b := uint32(0x3c00); b < 0x4000; b += 7 {
			for _, s := range []uint32{0, sign16, 0x2c00} {
				p, q := uint16(a), uint16(b^s)
				m := uint16(F16.pack(mulNum(F16.unpack(uint64(p)), F16.unpack(uint64(q))), RN))
				n := uint16(F16.pack(addNum(F16.unpack(uint64(p)), F16.unpack(uint64(q)), RN), RN))
				if MulF16(p, q, 0) != m || AddF16(p, q, 0) != n {
					t.Fatalf("f16 %#x %#x", p, q)
				}
			}
		}
	}
	// Every 16-bit pattern widens and narrows to itself.
	for x := range uint32(1 << 16) {
		h := uint16(x)
		if h&mag16 <= infF16 && F32ToF16(F16ToF32(h)) != h || h&mag16 <= infB16 && F32ToBF16(BF16ToF32(h)) != h {
			t.Fatalf("%#x does not survive f32", h)
		}
		if h&mag16 < infF16 && float64(f32(F16ToF32(h))) != mustFloat(decode(F16, uint64(h))) {
			t.Fatalf("f16 %#x widens to %#x", h, F16ToF32(h))
		}
	}
}

func mustFloat(x *big.Float) float64 { v, _ := x.Float64(); return v }

// TestCompare holds ordering and extremes by their definition on floats of the host.
func TestCompare(t *testing.T) {
	v := []uint32{0, sign32, 1, sign32 | 1, one32, 0xbf800000, inf32, sign32 | inf32, 0x7fc00001, 0xff800001,
		0x007fffff, min32}
	for _, a := range v {
		for _, b := range v {
			x, y := float64(f32(a)), float64(f32(b))
			want := Unordered
			switch {
			case x < y:
				want = Less
			case x > y:
				want = Greater
			case x == y:
				want = Equal
			}
			if got := Cmp32(a, b, false); got != want {
				t.Errorf("Cmp32(%#x, %#x) = %d", a, b, got)
			}
			if got := Cmp64(b64(x), b64(y)); got != want {
				t.Errorf("Cmp64 of %#x, %#x = %d", a, b, got)
			}
			// math.Min and Max order zeros; they propagate NaNs, which the plain forms ignore.
			lo, hi := math.Min(x, y), math.Max(x, y)
			if x != x {
				lo, hi = y, y
			} else if y != y {
				lo, hi = x, x
			}
			if x == x || y == y {
				if got := Min32(a, b, 0); got != b32(float32(lo)) {
					t.Errorf("Min32(%#x, %#x) = %#x", a, b, got)
				}
				if got := Max32(a, b, 0); got != b32(float32(hi)) {
					t.Errorf("Max32(%#x, %#x) = %#x", a, b, got)
				}
			}
			if (x != x || y != y) && (Min32(a, b, PropNaN) != nan32 || Max32(a, b, PropNaN) != nan32) {
				t.Errorf("%#x, %#x: .NaN lost", a, b)
			}
			for _, c := range v {
				if Min3(a, b, c, 0) != Min32(a, Min32(b, c, 0), 0) ||
					Max3(a, b, c, PropNaN) != Max32(a, Max32(b, c, PropNaN), PropNaN) {
					t.Errorf("three operands %#x %#x %#x", a, b, c)
				}
			}
		}
	}
	if Cmp32(1, 0, true) != Equal || CmpF16(1, sign16, true) != Equal || CmpF16(0x7e00, 0, false) != Unordered ||
		CmpBF16(0x3f80, 0x3f81) != Less {
		t.Error("comparisons of flushed, half or NaN operands")
	}
}

func BenchmarkArithmetic(b *testing.B) {
	x, y, z := uint32(0x3f812345), uint32(0xbf7edcba), uint32(0x3e234567)
	var sink uint64
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"AddRN32", func() { sink += uint64(AddRN32(x, y)) }},
		{"FmaRN32", func() { sink += uint64(FmaRN32(x, y, z)) }},
		{"Add32.rz", func() { sink += uint64(Add32(x, y, RZ, 0)) }},
		{"Fma32.rz", func() { sink += uint64(Fma32(x, y, z, RZ, 0)) }},
		{"Fma32.rn.ftz", func() { sink += uint64(Fma32(x, y, z, RN, FTZ)) }},
		{"Div32.rn", func() { sink += uint64(Div32(x, y, RN, 0)) }},
		{"Fma64.rn", func() { sink += Fma64(0x3ff0123456789abc, 0x3fe123456789abcd, 0x3fd23456789abcde, RN) }},
		{"Fma64.rz", func() { sink += Fma64(0x3ff0123456789abc, 0x3fe123456789abcd, 0x3fd23456789abcde, RZ) }},
		{"AddF16", func() { sink += uint64(AddF16(uint16(x), uint16(y), 0)) }},
		{"FmaF16", func() { sink += uint64(FmaF16(uint16(x), uint16(y), uint16(z), 0)) }},
		{"FmaBF16", func() { sink += uint64(FmaBF16(uint16(x), uint16(y), uint16(z), RN, 0)) }},
		{"ToInt.s32.f32", func() { sink += ToInt(F32, 0x42f6e979, RZ, 0, 32, true) }},
		{"FromInt.f32", func() { sink += FromInt(F32, -123456789, RN, 0) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.f()
				x += 3
			}
		})
	}
	_ = sink
}
