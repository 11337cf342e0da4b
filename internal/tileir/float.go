package tileir

import (
	"math/big"
	"strconv"
	"strings"
)

// floatFormat describes a floating-point format.
type floatFormat struct {
	mantissa, exponent int // bits
	bias               int
	unsigned           bool // no sign bit
	noZero             bool // exponent 0 is an ordinary one
	special            specials
}

// least and most are the exponents of the smallest and largest normal number.
func (f *floatFormat) least() int {
	if f.noZero {
		return -f.bias
	}
	return 1 - f.bias
}

func (f *floatFormat) most() int {
	e := 1<<f.exponent - 1 - f.bias
	if f.special == ieeeSpecials || f.special == nanOnly && f.mantissa == 0 {
		e--
	}
	return e
}

// specials says which bit patterns are no numbers.
type specials uint8

const (
	ieeeSpecials specials = iota // the highest exponent: infinity and NaN
	nanOnly                      // all ones but the sign: NaN
	noSpecials
)

var floatFormats = [...]floatFormat{
	F16: {mantissa: 10, exponent: 5, bias: 15}, BF16: {mantissa: 7, exponent: 8, bias: 127},
	F32:  {mantissa: 23, exponent: 8, bias: 127},
	TF32: {mantissa: 10, exponent: 8, bias: 127}, F64: {mantissa: 52, exponent: 11, bias: 1023},
	F8E4M3FN: {mantissa: 3, exponent: 4, bias: 7, special: nanOnly}, F8E5M2: {mantissa: 2, exponent: 5, bias: 15},
	F8E8M0FNU: {exponent: 8, bias: 127, unsigned: true, noZero: true, special: nanOnly},
	F4E2M1FN:  {mantissa: 1, exponent: 2, bias: 1, special: noSpecials},
	F8E5M3FNU: {mantissa: 3, exponent: 5, bias: 15, unsigned: true, special: nanOnly},
}

// number is a decoded floating-point value: sig * 2^exp, unless it is infinite or NaN.
type number struct {
	neg, inf, nan bool
	sig           uint64
	exp           int
}

func decodeFloat(k Kind, bits uint64) number {
	f := &floatFormats[k]
	m := bits & (1<<f.mantissa - 1)
	e := int(bits>>f.mantissa) & (1<<f.exponent - 1)
	n := number{neg: !f.unsigned && bits>>(f.mantissa+f.exponent)&1 != 0}
	top := e == 1<<f.exponent-1
	switch {
	case f.special == ieeeSpecials && top:
		n.inf, n.nan = m == 0, m != 0
	case f.special == nanOnly && top && m == 1<<f.mantissa-1:
		n.nan = true
	case e == 0 && !f.noZero:
		n.sig, n.exp = m, 1-f.bias-f.mantissa
	default:
		n.sig, n.exp = m|1<<f.mantissa, e-f.bias-f.mantissa
	}
	return n
}

// whole gives the value as an integer; ok is false when it is none from 0 to 2^64-1. Negative zero is none.
func (n number) whole() (v uint64, ok bool) {
	switch {
	case n.inf || n.nan || n.neg:
		return 0, false
	case n.sig == 0:
		return 0, true
	}
	for n.exp < 0 && n.sig&1 == 0 {
		n.sig, n.exp = n.sig>>1, n.exp+1
	}
	if n.exp < 0 || n.exp >= 64 || n.sig<<n.exp>>n.exp != n.sig {
		return 0, false
	}
	return n.sig << n.exp, true
}

// float writes a floating-point number as listings do: with six digits after the point where that gives the same number
// back, else with as many as the format may need, and infinities, NaN and what has no point as the bits in hexadecimal.
// hex says that it is the latter.
func (b *buffer) float(k Kind, bits uint64) (hex bool) {
	n := decodeFloat(k, bits)
	if n.inf || n.nan {
		b.bits(bits)
		return true
	}
	s := n.scientific(7)
	if !sameFloat(k, s, bits) {
		// A number that would look like an integer is written as its bits: it could not be read back.
		if s = n.decimal(2 + (floatFormats[k].mantissa+1)*59/196); !strings.Contains(s, ".") {
			b.bits(bits)
			return true
		}
	}
	b.string(s)
	return false
}

// bits writes a number in hexadecimal.
func (b *buffer) bits(v uint64) { b.string("0x" + strings.ToUpper(strconv.FormatUint(v, 16))) }

// sameFloat reports whether a text with seven digits stands for the number with these bits. Formats of up to 20 bits of
// precision never need more digits.
func sameFloat(k Kind, s string, bits uint64) bool {
	switch k {
	case F32:
		v, err := strconv.ParseFloat(s, 32)
		return err == nil && uint64(floatBits32(v)) == bits
	case F64:
		v, err := strconv.ParseFloat(s, 64)
		return err == nil && floatBits64(v) == bits
	}
	return true
}

// digits gives the value as decimal digits without trailing zeros, most significant first, and the power of ten of the
// last one; at most precision digits, rounded half up. LLVM, whose text this has to match, first drops digits that it
// can do without, which makes a difference to the rounding of a few numbers.
func (n number) digits(precision int) (string, int) {
	sig := new(big.Int).SetUint64(n.sig)
	exp := 0
	switch {
	case n.exp > 0:
		sig.Lsh(sig, uint(n.exp))
	case n.exp < 0:
		tz := int(sig.TrailingZeroBits())
		e := n.exp + tz
		if e > 0 {
			tz -= e
			e = 0
		}
		sig.Rsh(sig, uint(tz))
		sig.Mul(sig, new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(-e)), nil))
		exp = e
	}
	if drop := (sig.BitLen() - (precision*196+58)/59) * 59 / 196; sig.BitLen() > (precision*196+58)/59 && drop > 0 {
		exp += drop
		sig.Quo(sig, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(drop)), nil))
	}
	s := sig.String()
	trim := func() {
		for len(s) > 1 && s[len(s)-1] == '0' {
			s, exp = s[:len(s)-1], exp+1
		}
	}
	trim()
	if len(s) > precision {
		exp += len(s) - precision
		up := s[precision] >= '5'
		s = s[:precision]
		if up {
			v, _ := new(big.Int).SetString(s, 10)
			s = v.Add(v, big.NewInt(1)).String()
		}
		trim()
	}
	return s, exp
}

// scientific writes the value with a fixed number of digits: 1.250000e-01.
func (n number) scientific(digits int) string {
	s, exp := "0", 0
	if n.sig != 0 {
		s, exp = n.digits(digits - 1)
		exp += len(s) - 1
	}
	return n.sign() + s[:1] + "." + s[1:] + strings.Repeat("0", digits-len(s)) + exponent("e", exp, 2)
}

// decimal writes the value with up to precision digits, without an exponent when it has few zeros.
func (n number) decimal(precision int) string {
	s, exp := n.digits(precision)
	point := len(s) + exp // digits before the point
	switch {
	case exp >= 0 && (exp > 3 || len(s)+exp > precision), exp < 0 && point < 1 && 1-point > 3:
		frac := s[1:]
		if frac == "" {
			frac = "0"
		}
		return n.sign() + s[:1] + "." + frac + exponent("E", point-1, 1)
	case exp >= 0:
		return n.sign() + s + strings.Repeat("0", exp)
	case point > 0:
		return n.sign() + s[:point] + "." + s[point:]
	}
	return n.sign() + "0." + strings.Repeat("0", -point) + s
}

func (n number) sign() string {
	if n.neg {
		return "-"
	}
	return ""
}

func exponent(e string, v, digits int) string {
	sign := "+"
	if v < 0 {
		sign, v = "-", -v
	}
	s := strconv.Itoa(v)
	return e + sign + strings.Repeat("0", max(0, digits-len(s))) + s
}
