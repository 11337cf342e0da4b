package devmath

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit"
)

var long = flag.Bool("long", false, "compare more than a million inputs of each function, not some thousands")

// TestFunctions compares each function with a reference: in 32 bits the functions of package math in 64, in 64 bits
// those of math/big in reference_test.go. Infinities, NaN and the sign of 0 must be as in package math, which follows
// C99; the engines must agree.
func TestFunctions(t *testing.T) {
	for _, f := range functions {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			testFunction(t, f)
		})
	}
}

// engines are those of this machine, the interpreter last.
func engines() (names []string, list []exec.Engine) {
	for _, name := range []string{"avx512", "avx2"} {
		if e, err := jit.New(name); err == nil {
			names, list = append(names, name), append(list, e)
		}
	}
	return append(names, "interpreter"), append(list, interp.New())
}

func testFunction(t *testing.T, f function) {
	op := strings.TrimPrefix(f.name[:strings.LastIndex(f.name, "_")], "tile$")
	n := 3000
	switch {
	case *long:
		n = 1 << 20
	case testing.Short():
		n = 500
	}
	xs, ys := inputs(f, op, n)
	got := apply(t, f, xs, ys)
	worst, at := 0.0, 0
	var mu sync.Mutex
	var wg sync.WaitGroup
	procs := runtime.GOMAXPROCS(0)
	fails := 0
	for p := range procs {
		wg.Go(func() {
			for i := p; i < len(xs); i += procs {
				e, why := judge(f, op, xs[i], ys[i], got[i])
				mu.Lock()
				if why != "" && fails < 20 {
					fails++
					t.Errorf("%s(%v, %v) = %v: %s", f.name, xs[i], ys[i], got[i], why)
				}
				if e > worst {
					worst, at = e, i
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d inputs, at most %.3f ulp, at (%v, %v): %v", len(xs), worst, xs[at], ys[at], got[at])
	if worst > float64(f.bound) {
		t.Errorf("error of %.3f ulp, more than %d", worst, f.bound)
	}
}

// exact are the functions of package math.
var exact = map[string]func(x, y float64) float64{
	"exp": one(math.Exp), "exp2": one(math.Exp2), "log": one(math.Log), "log2": one(math.Log2),
	"sin": one(math.Sin), "cos": one(math.Cos), "tan": one(math.Tan), "atan2": math.Atan2,
	"sinh": one(math.Sinh), "cosh": one(math.Cosh), "tanh": one(math.Tanh),
	"pow": math.Pow, "powi": math.Pow, "fmod": math.Mod,
	"rsqrt": one(func(x float64) float64 { return 1 / math.Sqrt(x) }),
}

func one(f func(x float64) float64) func(x, y float64) float64 {
	return func(x, _ float64) float64 { return f(x) }
}

func finite(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }

// judge returns the error of a result in units in the last place, or what is wrong with it.
func judge(f function, op string, x, y, got float64) (ulp float64, why string) {
	want := exact[op](x, y)
	single := f.result == 'f'
	if single && f.bound == 0 {
		want = float64(float32(want)) // does not round
	}
	same := got == want && math.Signbit(got) == math.Signbit(want) || math.IsNaN(got) && math.IsNaN(want)
	if f.bound == 0 || want == 0 && x == 0 || math.IsNaN(want) || !finite(x) || !finite(y) {
		if op == "atan2" && f.bound > 0 && !same && math.Abs(got-want) < 1e-6*math.Abs(want) {
			return 0, "" // a multiple of π/4, rounded
		}
		if !same {
			return 0, fmt.Sprintf("not %v", want)
		}
		return 0, ""
	}
	digits, least := 53, -1074
	if single {
		digits, least = 24, -149
	}
	var difference, size float64
	if ref := reference[op](x, y); ref != nil && (!single || op == "sin" || op == "cos" || op == "tan") {
		exponent := ref.MantExp(nil)
		most := 1024
		if single {
			most = 128
		}
		if exponent > most { // infinite: as good as the next number
			exponent = most
			ref = shifted(num(float64(ref.Sign())), most)
		}
		if math.IsNaN(got) {
			return 0, "NaN"
		}
		g := num(0)
		if math.IsInf(got, 0) {
			g = shifted(num(math.Copysign(1, got)), most)
		} else {
			g.SetFloat64(got)
		}
		unit := max(exponent-digits, least)
		d := minus(g, ref)
		difference, _ = shifted(d, -unit).Float64()
		want, _ = ref.Float64()
		size = 1
	} else {
		if single {
			if math.Abs(want) >= 0x1p128 {
				want = math.Copysign(0x1p128, want)
			}
			if math.IsInf(got, 0) {
				got = math.Copysign(0x1p128, got)
			}
		}
		if same {
			return 0, ""
		}
		if math.IsNaN(got) || math.IsInf(want, 0) || math.IsInf(got, 0) {
			return 0, fmt.Sprintf("not %v", want)
		}
		_, exponent := math.Frexp(want)
		difference, size = got-want, math.Ldexp(1, max(exponent-digits, least))
	}
	if (want == 0) != (got == 0) && want == 0 || math.Signbit(got) != math.Signbit(want) {
		return math.Abs(difference / size), fmt.Sprintf("not %v", want)
	}
	return math.Abs(difference / size), ""
}

// edges are numbers at which something happens.
func edges(single bool) []float64 {
	list := []float64{0, 1, 2, 3, 4, 0.5, 0.25, 0.75, 1.5, 10, 100, 1000, 1e10, 1e20, 1e30, math.Pi, math.Pi / 2,
		math.Pi / 4, math.E, math.Ln2, math.Ln2 / 2, math.Sqrt2, math.Sqrt2 / 2, 0.55, 2.0 / 3, 4.0 / 3, 0x1p-14,
		0x1p-27,
		0x1p20, 0x1p31, 0x1p52, 0x1p53, 88.72284, 89, 103.97, 104, 127, 128, 149, 150, 151, 709.782712893384, 709.79,
		710.4758600739439, 710.48, 745.1332191019411, 745.14, 1023, 1024, 1074, 1075, 1076, 0x1p-126, 0x1p-149,
		0x1.fffffep127, math.Inf(1), math.NaN()}
	if !single {
		list = append(list, 0x1p-1022, 0x1p-1074, math.MaxFloat64, 0x1p1000, 1e300, 6381956970095103*0x1p797)
	}
	var all []float64
	for _, x := range list {
		for range 1 + b2i(finite(x)) {
			for _, d := range []float64{0, math.Inf(1), math.Inf(-1)} {
				v := math.Nextafter(x, d)
				if single {
					v = float64(math.Nextafter32(float32(x), float32(d)))
				}
				if finite(v) || d == 0 && !finite(x) {
					all = append(all, v, -v)
				}
			}
		}
		all = append(all, x, -x)
	}
	if single {
		for i := range all {
			all[i] = float64(float32(all[i]))
		}
	}
	slices.SortFunc(all, func(x, y float64) int {
		return int(min(max(int64(math.Float64bits(x)>>1)-int64(math.Float64bits(y)>>1), -1), 1))
	})
	return slices.CompactFunc(all, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// inputs are the edges, of two arguments all pairs of some, and n random ones: of all magnitudes and of those where
// the result is neither 0 nor infinite.
func inputs(f function, op string, n int) (xs, ys []float64) {
	single := f.types[0] == 'f'
	two := len(f.types) == 2
	e, step := edges(single), 4 // of two arguments
	if testing.Short() {
		step = 16
	}
	for i, x := range e {
		if !two {
			xs, ys = append(xs, x), append(ys, 0)
			continue
		}
		for j, y := range e {
			if i%step == 0 || j%step == 0 || i < 4 || j < 4 {
				xs, ys = append(xs, x), append(ys, y)
			}
		}
	}
	rnd := rand.New(rand.NewPCG(15, uint64(len(f.name))))
	any := func() float64 {
		if single {
			return float64(math.Float32frombits(rnd.Uint32()))
		}
		return math.Float64frombits(rnd.Uint64())
	}
	uniform := func(a, b float64) float64 { return a + (b-a)*rnd.Float64() }
	limit := 745.0
	if single {
		limit = 104
	}
	for range n {
		x, y := any(), 0.0
		if two {
			y = any()
		}
		switch k := rnd.IntN(4); op {
		case "exp", "sinh", "cosh":
			if k > 0 {
				x = uniform(-limit, limit) * []float64{0, 1, 0.05, 0.001}[k]
			}
		case "exp2":
			if k > 0 {
				x = uniform(-limit*1.443, limit*1.443) * []float64{0, 1, 0.05, 0.001}[k]
			}
		case "tanh":
			if k > 0 {
				x = uniform(-1, 1) * []float64{0, 20, 2, 0.05}[k]
			}
		case "log", "log2", "rsqrt":
			x = math.Abs(x)
			if k > 1 {
				x = uniform(0.4, 2.2)
			} else if k > 0 {
				x = uniform(0.99, 1.01)
			}
		case "sin", "cos", "tan":
			if k > 1 {
				x = uniform(-1, 1) * []float64{0, 0, 3, 1000}[k]
			} else if k > 0 {
				x = math.Round(uniform(0, 1e6))*math.Pi/2 + uniform(-1, 1)*1e-6
			}
		case "pow":
			if k > 0 {
				x = math.Exp(uniform(-1, 1) * []float64{0, 0.01, 3, limit}[k])
				y = uniform(-limit, limit) / math.Log(x) * uniform(0, 1)
				if rnd.IntN(8) == 0 {
					x, y = -x, math.Round(y)
				}
			}
		case "powi":
			y = math.Round(uniform(-40, 40))
			if k > 1 {
				x = math.Exp(uniform(-3, 3))
			} else if k > 0 {
				x, y = 1+uniform(-1, 1)*1e-6, math.Round(uniform(-1e9, 1e9))
			}
		case "atan2", "fmod":
			if k > 0 {
				x = y * math.Exp(uniform(-1, 1)*[]float64{0, 0.5, 10, 100}[k])
			}
		}
		if single {
			x, y = float64(float32(x)), float64(float32(y))
		}
		xs, ys = append(xs, x), append(ys, y)
	}
	if op == "powi" {
		for i, y := range ys {
			if math.IsNaN(y) {
				y = 7
			}
			ys[i] = math.Trunc(max(min(y, math.MaxInt32), math.MinInt32))
		}
	}
	return xs, ys
}

// module returns a module with the function and a kernel k(out, x, y) that applies it to each element.
func module(f function) string {
	var s strings.Builder
	s.WriteString(".version 8.0\n.target sm_90\n.address_size 64\n")
	done := map[string]bool{}
	var put func(name string)
	put = func(name string) {
		if done[name] {
			return
		}
		done[name] = true
		text, deps, _ := Source(name)
		for _, d := range deps {
			put(d)
		}
		s.WriteString(text)
	}
	put(f.name)
	s.WriteString(`.visible .entry k(.param .u64 out, .param .u64 x, .param .u64 y)
{
	.reg .b32 %r<5>, %i;
	.reg .b64 %l<8>;
	.reg .f32 %f<3>;
	.reg .f64 %d<3>;
	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %ntid.x;
	mov.u32 %r2, %tid.x;
	mad.lo.s32 %r0, %r0, %r1, %r2;
`)
	size := func(t byte) int {
		if t == 'd' {
			return 8
		}
		return 4
	}
	const element = "\tld.param.u64 %%l1, [%s];\n\tmul.wide.u32 %%l2, %%r0, %d;\n\tadd.s64 %%l1, %%l1, %%l2;\n"
	var args []string
	for i, t := range []byte(f.types) {
		reg := fmt.Sprintf("%%%c%d", t, i+1)
		if t == 'r' {
			reg = "%i"
		}
		fmt.Fprintf(&s, element, "xy"[i:i+1], size(t))
		fmt.Fprintf(&s, "\tld.global%s %s, [%%l1];\n", registerTypes[t], reg)
		args = append(args, reg)
	}
	fmt.Fprintf(&s, "\tcall (%%%c0), %s, (%s);\n", f.result, f.name, strings.Join(args, ", "))
	fmt.Fprintf(&s, element, "out", size(f.result))
	fmt.Fprintf(&s, "\tst.global%s [%%l1], %%%c0;\n\tret;\n}\n", registerTypes[f.result], f.result)
	return s.String()
}

// apply runs the function on all inputs in machine code, and on a part of them in the interpreter; they must agree
// bit for bit, but NaN equals NaN.
func apply(t *testing.T, f function, xs, ys []float64) []float64 {
	n := (len(xs) + 127) &^ 127
	d := exectest.Open(t)
	pack := func(t byte, v []float64) uint64 {
		size := 8
		if t != 'd' {
			size = 4
		}
		a, data := d.Alloc(n * size)
		for i, x := range v {
			switch t {
			case 'd':
				binary.LittleEndian.PutUint64(data[8*i:], math.Float64bits(x))
			case 'f':
				binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32(x)))
			case 'r':
				binary.LittleEndian.PutUint32(data[4*i:], uint32(int32(x)))
			}
		}
		return a
	}
	x, y := pack(f.types[0], xs), uint64(0)
	if len(f.types) > 1 {
		y = pack(f.types[1], ys)
	}
	out, data := d.Alloc(n * 8)
	var first []float64
	names, list := engines()
	for i, name := range names {
		d.Engine = list[i]
		k, err := d.Load(module(f)).Kernel("k")
		if err != nil {
			t.Fatal(err)
		}
		m := n
		if first != nil && name == "interpreter" {
			m = min(m, 1<<15)
		}
		clear(data)
		c := exectest.Config{Grid: exectest.Dim(uint32(m / 128)), Block: exectest.Dim(128), Workers: 2}
		if err := k.Run(c, out, x, y); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		res := make([]float64, min(m, len(xs)))
		for i := range res {
			if f.result == 'd' {
				res[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
			} else {
				res[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
			}
		}
		if first == nil {
			first = res
			continue
		}
		for i := range res {
			if math.Float64bits(res[i]) != math.Float64bits(first[i]) && !(math.IsNaN(res[i]) && math.IsNaN(first[i])) {
				t.Errorf("%s(%v): %s gives %v, %s %v", f.name, xs[i], name, res[i], names[0], first[i])
				break
			}
		}
	}
	return first
}
