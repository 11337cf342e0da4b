package devmath

import (
	"fmt"
	"math"
	"strings"
)

// value is an operand: a register or a constant.
type value string

// registerTypes are the types of registers by the letter that their names begin with.
var registerTypes = map[byte]string{'p': ".pred", 'r': ".b32", 'l': ".b64", 'f': ".f32", 'd': ".f64"}

// letters are the register letters of instruction types.
var letters = map[string]byte{
	"pred": 'p', "b32": 'r', "s32": 'r', "u32": 'r', "b64": 'l', "s64": 'l', "u64": 'l', "f32": 'f', "f64": 'd',
}

// builder writes the body of one function. Every result is a new register.
type builder struct {
	text   strings.Builder
	count  [256]int // registers by letter
	labels int
	table  bool // the text refers to bitsTable
}

func (b *builder) register(letter byte) value {
	b.count[letter]++
	return value(fmt.Sprintf("%%%c%d", letter, b.count[letter]-1))
}

// registers declares those in use.
func (b *builder) registers() string {
	var s strings.Builder
	for _, l := range []byte("prlfd") {
		if n := b.count[l]; n > 0 {
			fmt.Fprintf(&s, "\t.reg %s %%%c<%d>;\n", registerTypes[l], l, n)
		}
	}
	return s.String()
}

func (b *builder) line(format string, args ...any) { fmt.Fprintf(&b.text, "\t"+format+"\n", args...) }

// operand writes an argument of an instruction whose sources have the given type.
func operand(typ string, x any) string {
	switch x := x.(type) {
	case value:
		return string(x)
	case float64:
		if typ == "f32" {
			return fmt.Sprintf("0f%08X", math.Float32bits(float32(x)))
		}
		return fmt.Sprintf("0d%016X", math.Float64bits(x))
	case int:
		return fmt.Sprint(x)
	case uint64:
		return fmt.Sprintf("0x%x", x)
	}
	panic(fmt.Sprintf("devmath: an operand of type %T", x))
}

// op writes an instruction and returns its result. The last type of the instruction is that of the sources; the
// result has the first of the types of cvt and of mul.wide, which have two, a predicate for setp, and the same type
// otherwise.
func (b *builder) op(ins string, args ...any) value {
	words := strings.Split(ins, ".")
	source := words[len(words)-1]
	letter := letters[source]
	switch words[0] {
	case "setp":
		letter = 'p'
	case "cvt":
		letter = letters[words[len(words)-2]]
	case "clz":
		letter = 'r'
	}
	d := b.register(letter)
	ops := make([]string, len(args))
	for i, a := range args {
		ops[i] = operand(source, a)
	}
	b.line("%s %s, %s;", ins, d, strings.Join(ops, ", "))
	return d
}

// copy moves a value into a register.
func (b *builder) copy(to value, letter byte, x any) {
	typ := registerTypes[letter]
	b.line("mov%s %s, %s;", typ, to, operand(typ[1:], x))
}

// when executes the instructions of body only in lanes where p holds.
func (b *builder) when(p value, body func()) {
	b.labels++
	label := fmt.Sprintf("$L%d", b.labels)
	b.line("@!%s bra %s;", p, label)
	body()
	fmt.Fprintf(&b.text, "%s:\n", label)
}

// loop executes body again and again in lanes where the predicate that it returns holds.
func (b *builder) loop(body func() value) {
	b.labels++
	label := fmt.Sprintf("$L%d", b.labels)
	fmt.Fprintf(&b.text, "%s:\n", label)
	b.line("@%s bra %s;", body(), label)
}

// Arithmetic in 64 bits, rounded to nearest.

func (b *builder) add(x, y any) value    { return b.op("add.rn.f64", x, y) }
func (b *builder) sub(x, y any) value    { return b.op("sub.rn.f64", x, y) }
func (b *builder) mul(x, y any) value    { return b.op("mul.rn.f64", x, y) }
func (b *builder) div(x, y any) value    { return b.op("div.rn.f64", x, y) }
func (b *builder) fma(x, y, z any) value { return b.op("fma.rn.f64", x, y, z) }
func (b *builder) neg(x value) value     { return b.op("neg.f64", x) }
func (b *builder) abs(x value) value     { return b.op("abs.f64", x) }

// sel is x where p holds, y elsewhere.
func (b *builder) sel(p value, x, y any) value { return b.op("selp.f64", x, y, p) }

// is compares in 64 bits; comparisons ending in u hold for a NaN.
func (b *builder) is(cmp string, x, y any) value { return b.op("setp."+cmp+".f64", x, y) }

func (b *builder) and(p, q value) value { return b.op("and.pred", p, q) }
func (b *builder) or(p, q value) value  { return b.op("or.pred", p, q) }
func (b *builder) not(p value) value    { return b.op("not.pred", p) }
func (b *builder) xor(p, q value) value { return b.op("xor.pred", p, q) }

func (b *builder) widen(x value) value  { return b.op("cvt.f64.f32", x) }
func (b *builder) narrow(x value) value { return b.op("cvt.rn.f32.f64", x) }

// words takes a 64-bit number apart, join puts it together.
func (b *builder) words(x value) (lo, hi value) {
	lo, hi = b.register('r'), b.register('r')
	b.line("mov.b64 {%s, %s}, %s;", lo, hi, x)
	return lo, hi
}

func (b *builder) join(lo, hi any) value {
	d := b.register('d')
	b.line("mov.b64 %s, {%s, %s};", d, operand("b32", lo), operand("b32", hi))
	return d
}

// bits is the pattern of a number of 64 bits.
func (b *builder) bits(x value) value {
	l := b.register('l')
	b.line("mov.b64 %s, %s;", l, x)
	return l
}

// negative says whether the sign bit is set.
func (b *builder) negative(x value) value {
	_, hi := b.words(x)
	return b.op("setp.lt.s32", hi, 0)
}

// poly evaluates a polynomial.
func (b *builder) poly(c []float64, x value) value {
	y := b.fma(x, c[len(c)-1], c[len(c)-2])
	for i := len(c) - 3; i >= 0; i-- {
		y = b.fma(y, x, c[i])
	}
	return y
}

// A pair is a sum of two numbers, the second at most about half a unit in the last place of the first.
type pair struct{ hi, lo value }

// fast is x + y as a pair, when |x| >= |y| or x is 0.
func (b *builder) fast(x, y value) pair {
	s := b.add(x, y)
	return pair{s, b.sub(y, b.sub(s, x))}
}

// two is x - y as a pair.
func (b *builder) two(x, y value) pair {
	s := b.sub(x, y)
	v := b.sub(s, x)
	return pair{s, b.sub(b.sub(x, b.sub(s, v)), b.add(y, v))}
}

// product is x * y as a pair.
func (b *builder) product(x, y any) pair {
	p := b.mul(x, y)
	return pair{p, b.fma(x, y, b.neg(p))}
}

// ratio is n / d as a pair.
func (b *builder) ratio(n, d pair) pair {
	r := b.div(1.0, d.hi)
	q := b.mul(n.hi, r)
	rest := b.add(b.fma(b.neg(q), d.hi, n.hi), b.fma(b.neg(q), d.lo, n.lo))
	return pair{q, b.mul(rest, r)}
}

func (b *builder) sum(p pair) value { return b.add(p.hi, p.lo) }

// nearest is x rounded to an integer of less than 32 bits, as a number and as an integer.
func (b *builder) nearest(x value, factor float64) (n, k value) {
	const magic = 0x1.8p52 // the last place of the sum is 1
	t := b.fma(x, factor, magic)
	k, _ = b.words(t)
	return b.sub(t, magic), k
}

// power is 2^k for k in [-1022, 1023].
func (b *builder) power(k value) value {
	return b.join(0, b.op("shl.b32", b.op("add.s32", k, 1023), 20))
}

// scale is x * 2^k for any k of a few thousand, rounded once.
func (b *builder) scale(x, k value) value {
	half := b.op("shr.s32", k, 1)
	return b.mul(b.mul(x, b.power(half)), b.power(b.op("sub.s32", k, half)))
}
