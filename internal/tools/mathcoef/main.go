// Command mathcoef writes the coefficients and constants of package internal/tileir/devmath. It is run in the root of
// the repository:
//
//	go run ./internal/tools/mathcoef [-check]
//
// Each polynomial interpolates a function, given by its Taylor series, at the Chebyshev nodes of an interval, which
// is within a factor of about two of the best polynomial of that degree. All is computed with 1600 bits and rounded
// once.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"math"
	"math/big"
	"os"
)

const (
	goFile = "internal/tileir/devmath/zz_generated_coef.go"
	prec   = 1600 // bits
	terms  = 120  // of a series: 190 bits where it converges worst
)

func main() {
	check := flag.Bool("check", false, "say whether the file is fresh instead of writing it")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "mathcoef:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	text, err := generate()
	if err != nil {
		return err
	}
	if !check {
		return os.WriteFile(goFile, text, 0o644)
	}
	have, err := os.ReadFile(goFile)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, text) {
		return fmt.Errorf("%s is stale; run go run ./internal/tools/mathcoef", goFile)
	}
	return nil
}

func number(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
func add(x, y *big.Float) *big.Float {
	return new(big.Float).SetPrec(prec).Add(x, y)
}
func sub(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Sub(x, y) }
func mul(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Mul(x, y) }
func quo(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(prec).Quo(x, y) }

// A series gives the coefficient of z^k of a Taylor series.
type series func(k int) *big.Float

// factorial is 1/n! with the given sign.
func factorial(sign, n int) *big.Float {
	f := new(big.Int).MulRange(1, int64(n))
	return quo(number(float64(sign)), new(big.Float).SetPrec(prec).SetInt(f))
}

func fraction(a, b int) *big.Float { return quo(number(float64(a)), number(float64(b))) }

// even is 1 for even k and -1 for odd k.
func even(k int) int { return 1 - 2*(k&1) }

// atanh is the inverse hyperbolic tangent of 1/n, atan the inverse tangent.
func atanh(n int) *big.Float { return inverse(n, 1) }
func atan(n int) *big.Float  { return inverse(n, -1) }

func inverse(n, sign int) *big.Float {
	x := fraction(1, n)
	z := mul(mul(x, x), number(float64(sign)))
	sum := number(0)
	for k := 0; k < prec; k++ {
		sum = add(sum, quo(x, number(float64(2*k+1))))
		x = mul(x, z)
	}
	return sum
}

var (
	ln2 = mul(number(2), atanh(3))
	pi  = mul(number(4), sub(mul(number(4), atan(5)), atan(239)))
)

// tanhSeries has the coefficients of tanh x / x in x^2: those of sinh x / x divided by those of cosh x.
func tanhSeries() series {
	t := make([]*big.Float, terms+1)
	for k := range t {
		t[k] = factorial(1, 2*k+1)
		for i := range k {
			t[k] = sub(t[k], mul(t[i], factorial(1, 2*(k-i))))
		}
	}
	return func(k int) *big.Float { return t[k+1] } // (tanh x / x - 1) / x^2
}

// exp2Series has the coefficients of (2^x - 1) / x.
func exp2Series(k int) *big.Float {
	c := factorial(1, k+1)
	for range k + 1 {
		c = mul(c, ln2)
	}
	return c
}

// A poly is a polynomial to be made: its coefficients as float32 when single, else as float64.
type poly struct {
	name, doc string
	f         series
	from, to  float64
	degree    int
	single    bool
}

func polys() []poly {
	const half = math.Ln2/2 + 1e-6
	quarter := math.Pi / 4 * math.Pi / 4 * 1.00001
	const s2 = 0.1716 * 0.1716     // ((√2-1)/(√2+1))^2
	const t2 = 0.414214 * 0.414214 // tan(π/8)^2
	exp := func(k int) *big.Float { return factorial(1, k+2) }
	sin := func(k int) *big.Float { return factorial(-even(k), 2*k+3) }
	cos := func(k int) *big.Float { return factorial(even(k), 2*k+4) }
	atan := func(k int) *big.Float { return fraction(-even(k), 2*k+3) }
	log1p := func(k int) *big.Float { return fraction(-even(k), k+2) }
	log21p := func(k int) *big.Float { return quo(log1p(k), ln2) }
	log := func(d int) series { return func(k int) *big.Float { return fraction(1, 2*k+d) } }
	return []poly{
		{"expLong", "(e^x - 1 - x) / x^2", exp, -half, half, 10, false},
		{"expShort", "the same, for 32 bits", exp, -half, half, 5, false},
		{"expSingle", "the same", exp, -half, half, 4, true},
		{"exp2Single", "(2^x - 1) / x", exp2Series, -0.5, 0.5, 5, true},
		{"logLong", "(2 atanh s - 2s) / s^3 in s^2", func(k int) *big.Float {
			return fraction(2, 2*k+3)
		}, 0, s2, 6, false},
		{"logPow", "(atanh s - s - s^3/3) / s^5 in s^2", log(5), 0, s2, 7, false},
		{"logShort", "(atanh s - s) / s^3 in s^2, for 32 bits", log(3), 0, s2, 4, false},
		{"logSingle", "(log(1+x) - x) / x^2", log1p, -0.3334, 0.3334, 8, true},
		{"log2Single", "(log2(1+x) - x/log(2)) / x^2", log21p, -0.29291, 0.41423, 9, true},
		{"sinLong", "(sin x / x - 1) / x^2 in x^2", sin, 0, quarter, 5, false},
		{"cosLong", "(cos x - 1 + x^2/2) / x^4 in x^2", cos, 0, quarter, 5, false},
		{"sinShort", "sinLong for 32 bits", sin, 0, quarter, 3, false},
		{"cosShort", "cosLong for 32 bits", cos, 0, quarter, 3, false},
		{"sinhLong", "(sinh x / x - 1) / x^2 in x^2", func(k int) *big.Float {
			return factorial(1, 2*k+3)
		}, 0, 1, 6, false},
		{"tanhLong", "(tanh x / x - 1) / x^2 in x^2", tanhSeries(), 0, 0.55 * 0.55, 10, false},
		{"atanLong", "(atan x / x - 1) / x^2 in x^2", atan, 0, t2, 11, false},
		{"atanShort", "the same, for 32 bits", atan, 0, t2, 5, false},
	}
}

// value is the series at x.
func (f series) value(x *big.Float) *big.Float {
	sum, p := number(0), number(1)
	for k := range terms {
		sum = add(sum, mul(f(k), p))
		p = mul(p, x)
	}
	return sum
}

// interpolate returns the coefficients of the polynomial that equals f at the Chebyshev nodes of the interval.
func (p poly) interpolate() []*big.Float {
	n := p.degree + 1
	x, c := make([]*big.Float, n), make([]*big.Float, n)
	for i := range n {
		x[i] = number((p.from+p.to)/2 + (p.to-p.from)/2*math.Cos(math.Pi*(2*float64(i)+1)/float64(2*n)))
		c[i] = p.f.value(x[i])
	}
	for j := 1; j < n; j++ { // Newton's divided differences
		for i := n - 1; i >= j; i-- {
			c[i] = quo(sub(c[i], c[i-1]), sub(x[i], x[i-j]))
		}
	}
	out := []*big.Float{c[n-1]}
	for i := n - 2; i >= 0; i-- { // out*(z-x[i]) + c[i]
		next := []*big.Float{c[i]}
		for k, o := range out {
			next[k] = sub(next[k], mul(o, x[i]))
			next = append(next, o)
		}
		out = next
	}
	return out
}

// parts writes x as a sum of numbers of the given precisions.
func parts(x *big.Float, bits ...uint) []float64 {
	var out []float64
	for _, n := range bits {
		f, _ := new(big.Float).SetPrec(n).Set(x).Float64()
		out = append(out, f)
		x = sub(x, number(f))
	}
	return out
}

func generate() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated by internal/tools/mathcoef; DO NOT EDIT.\n\npackage devmath\n\n")
	fmt.Fprintf(&b, "// The polynomials, coefficients from the constant one on.\nvar (\n")
	for _, p := range polys() {
		fmt.Fprintf(&b, "\t%s = []float64{ // %s on [%.4g, %.4g]\n", p.name, p.doc, p.from, p.to)
		for _, c := range p.interpolate() {
			f, _ := c.Float64()
			if p.single {
				s, _ := c.Float32()
				f = float64(s)
			}
			fmt.Fprintf(&b, "\t\t%x,\n", f)
		}
		fmt.Fprintf(&b, "\t}\n")
	}
	fmt.Fprintf(&b, ")\n\n// The constants as sums of numbers.\nconst (\n")
	third, one := fraction(1, 3), number(1)
	for _, c := range []struct {
		name string
		x    *big.Float
		bits []uint
	}{
		{"ln2", ln2, []uint{40, 53}}, {"ln2Single", ln2, []uint{15, 24}}, {"log2e", quo(one, ln2), []uint{53, 53}},
		{"log2eSingle", quo(one, ln2), []uint{24, 24}}, {"ln2Full", ln2, []uint{53, 53}},
		{"pi2", quo(pi, number(2)), []uint{53, 53, 53}}, {"twoOverPi", quo(number(2), pi), []uint{53}},
		{"third", third, []uint{53, 53}},
	} {
		for i, f := range parts(c.x, c.bits...) {
			fmt.Fprintf(&b, "\t%s%s = %x\n", c.name, []string{"", "Low", "Lowest"}[i], f)
		}
	}
	fmt.Fprintf(&b, ")\n\n// twoOverPiBits are the bits of 2/π behind the point, after 64 zeros, the highest first.\n")
	fmt.Fprintf(&b, "var twoOverPiBits = [...]uint64{\n\t0,\n")
	x := quo(number(2), pi)
	for range 20 {
		x.SetMantExp(x, 64)
		i, _ := x.Uint64()
		fmt.Fprintf(&b, "\t%#016x,\n", i)
		x.Sub(x, new(big.Float).SetUint64(i))
	}
	fmt.Fprintf(&b, "}\n")
	return format.Source(b.Bytes())
}
