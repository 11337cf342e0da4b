package devlib_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/internal/devlib"
	"github.com/gocuda/cuda/internal/devlib/kernels"
	"github.com/gocuda/cuda/internal/skip"
)

var (
	long   = flag.Bool("long", false, "100,000 arguments for each function; all 2^32 against the recorded hashes")
	update = flag.Bool("update", false, "write docs/math.md, and with -long testdata/accuracy.txt")
)

// device runs kernels of the library on the software device.
type device struct {
	mod *cuda.Module
	ctx *cuda.Context
}

// openDevice compiles a kernel for each function given and loads them.
func openDevice(t testing.TB, list []devlib.Function) *device {
	t.Helper()
	var b strings.Builder
	b.WriteString(kernels.Prelude)
	for _, f := range list {
		kernels.Declare(&b, f)
		kernels.Kernel(&b, f, f.Name)
	}
	ptx := compile(t, b.String())
	sys, err := cuda.Open(cuda.WithSoftware())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sys.Close() })
	ctx, err := sys.Context(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ctx.Close() })
	mod, err := ctx.Load([]byte(ptx))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mod.Close() })
	return &device{mod, ctx}
}

// run applies a function to tuples.
func (d *device) run(t testing.TB, f devlib.Function, in []uint64, n int) []uint64 {
	t.Helper()
	k, err := d.mod.Kernel("k_" + f.Name)
	if err != nil {
		t.Fatal(err)
	}
	if len(in) == 0 {
		in = make([]uint64, 1)
	}
	src, err := cuda.Upload(d.ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	dst, err := cuda.Alloc[uint64](d.ctx, n*len(kernels.Outs(f)))
	if err != nil {
		t.Fatal(err)
	}
	defer dst.Close()
	err = k.Launch(nil, cuda.LinearBlock(min(n, 1<<14), 256), cuda.Ptr(dst), cuda.Ptr(src), cuda.Val(uint64(n)))
	if err != nil {
		t.Fatal(err)
	}
	out, err := dst.Download()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// reference returns the program that compares results with libquadmath.
var reference = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "devlib")
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "reference")
	out, err := exec.Command("gcc", "-O2", "-o", name, "testdata/reference.c", "-lquadmath", "-lm").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return name, nil
})

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if name, err := reference(); err == nil {
		os.RemoveAll(filepath.Dir(name))
	}
	os.Exit(code)
}

// ranges are where the functions of one argument, without the final f, are interesting; others have any. A pair is an
// interval, drawn from evenly or, if both ends are positive and far apart, by the logarithm.
var ranges = map[string][][2]float64{
	"acos": {{-1, 1}, {0.49, 0.51}}, "acosh": {{1, 3}, {1, 1e300}}, "asin": {{-1, 1}, {1e-300, 1}},
	"asinh": {{-3, 3}, {1e-300, 1e300}}, "atan": {{-2, 2}, {1e-300, 1e300}}, "atanh": {{-1, 1}, {1e-300, 1}},
	"cbrt": {{1, 8}, {1e-320, 1e308}}, "rcbrt": {{1, 8}, {1e-320, 1e308}}, "rsqrt": {{1, 4}, {1e-320, 1e308}},
	"sqrt": {{1, 4}, {1e-320, 1e308}}, "exp": {{-1, 1}, {-750, 710}}, "exp2": {{-1, 1}, {-1080, 1024}},
	"exp10": {{-1, 1}, {-325, 309}}, "expm1": {{-2, 2}, {-50, 710}, {1e-300, 1}},
	"log": {{0.5, 2}, {0.99, 1.01}, {1e-320, 1e308}}, "log2": {{0.5, 2}, {0.99, 1.01}, {1e-320, 1e308}},
	"log10": {{0.5, 2}, {0.99, 1.01}, {1e-320, 1e308}}, "log1p": {{-1, 2}, {-0.01, 0.01}, {1e-300, 1e300}},
	"sin": {{-10, 10}, {-3e5, 3e5}, {1e-300, 1e308}}, "cos": {{-10, 10}, {-3e5, 3e5}, {1e-300, 1e308}},
	"tan": {{-10, 10}, {-3e5, 3e5}, {1e-300, 1e308}}, "sinpi": {{-10, 10}, {1e-300, 1e15}},
	"cospi": {{-10, 10}, {1e-300, 1e15}}, "sinh": {{-5, 5}, {1e-300, 711}}, "cosh": {{-5, 5}, {1e-300, 711}},
	"tanh": {{-2, 2}, {1e-300, 30}}, "erf": {{-7, 7}, {1e-300, 7}}, "erfc": {{-7, 27}, {-1, 2}},
	"erfcx": {{-26, 30}, {1e-10, 1e300}}, "erfinv": {{-1, 1}, {1e-300, 1}}, "erfcinv": {{0, 2}, {1e-307, 1}},
	"normcdf": {{-38, 8}, {-2, 2}}, "normcdfinv": {{0, 1}, {1e-307, 1}},
	"lgamma": {{0, 10}, {0.9, 1.1}, {1.9, 2.1}, {-2.26, 0}, {1e-300, 1e300}, {-100, -23.001}},
	"tgamma": {{-10, 10}, {1e-300, 1}, {10, 172}, {-180, -10}},
	"j0":     {{0, 8}, {8, 1000}}, "j1": {{0, 8}, {1e-300, 1}, {8, 1000}}, "y0": {{0, 8}, {1e-300, 8}, {8, 1000}},
	"y1": {{0, 8}, {1e-300, 8}, {8, 1000}}, "cyl_bessel_i0": {{0, 10}, {0, 713}}, "cyl_bessel_i1": {{0, 10}, {0, 713}},
}

// arguments returns n tuples: those of the recordings, and for functions of one argument as many from each range.
func arguments(f devlib.Function, n int) []uint64 {
	slots := kernels.Slots(f)
	var in []uint64
	for i := range n {
		for s := range len(slots) {
			in = append(in, kernels.Tuple(slots[s], 1, uint64(i), s))
		}
	}
	if len(slots) != 1 {
		return in
	}
	name := strings.TrimSuffix(f.Name, "f")
	if f.Name == "erf" {
		name = f.Name
	}
	for k, r := range ranges[name] {
		for i := range n {
			u := float64(kernels.Mix(uint64(i)<<8|uint64(k))>>11) * 0x1p-53
			x := r[0] + (r[1]-r[0])*u
			if r[0] > 0 && r[1] > 100*r[0] {
				x = math.Exp(math.Log(r[0]) + (math.Log(r[1])-math.Log(r[0]))*u)
			}
			if slots == "f" {
				in = append(in, uint64(math.Float32bits(float32(x))))
			} else {
				in = append(in, math.Float64bits(x))
			}
		}
	}
	return in
}

func number(t byte, v uint64) float64 {
	switch t {
	case 'f':
		return float64(math.Float32frombits(uint32(v)))
	case 'd':
		return math.Float64frombits(v)
	}
	return float64(int32(v))
}

// TestAccuracy compares results on the software device with libquadmath: none is farther from the correctly rounded
// one than the bound that the CUDA C++ Programming Guide documents.
func TestAccuracy(t *testing.T) {
	program, err := reference()
	if err != nil {
		skip.Without(t, skip.Tool, "gcc with libquadmath: "+err.Error())
	}
	var list []devlib.Function
	for _, f := range devlib.Functions() {
		outs := kernels.Outs(f)
		if strings.Trim(outs, "fd") == "" && len(outs) == 1 && !strings.HasPrefix(f.Name, "fast_") {
			list = append(list, f)
		}
	}
	d := openDevice(t, list)
	n := 4000
	if *long {
		n = 50000 // and as many from each range
	}
	var lines strings.Builder
	for _, f := range list {
		slots, single := kernels.Slots(f), f.Result == 'f'
		name := f.Name
		if single && name != "erf" {
			name = strings.TrimSuffix(name, "f")
		}
		if f.Bound < 0 && !strings.HasPrefix(name, "jn") && !strings.HasPrefix(name, "yn") || slots == "-" {
			continue
		}
		if exec.Command(program, name, "1", "0").Run() != nil {
			continue // not of this kind
		}
		t.Run(f.Name, func(t *testing.T) {
			n := n
			if len(slots) > 1 {
				n *= 2
			}
			in := arguments(f, n)
			out := d.run(t, f, in, len(in)/len(slots))
			var b bytes.Buffer
			for i, got := range out {
				x := number(slots[0], in[i*len(slots)])
				inside := strings.HasPrefix(f.Name, "lgamma") && x < -2.2637 && x > map[bool]float64{true: -10.001,
					false: -23.0001}[single]
				far := strings.HasPrefix(f.Name, "y") || strings.HasPrefix(f.Name, "j")
				if inside || far && math.Abs(number(slots[len(slots)-1], in[(i+1)*len(slots)-1])) >= 8 {
					continue
				}
				for s := range len(slots) {
					binary.Write(&b, binary.LittleEndian, number(slots[s], in[i*len(slots)+s]))
				}
				binary.Write(&b, binary.LittleEndian, number(f.Result, got))
			}
			c := exec.Command(program, name, strconv.Itoa(len(slots)), map[bool]string{true: "1", false: "0"}[single])
			records := append([]byte(nil), b.Bytes()...)
			c.Stdin = &b
			answer, err := c.Output()
			if err != nil {
				t.Fatal(err)
			}
			var worst, exact, absolute float64
			var at, count int
			if _, err := fmt.Sscan(string(answer), &worst, &exact, &at, &count, &absolute); err != nil {
				t.Fatal(err, string(answer))
			}
			where := ""
			if at >= 0 {
				w := len(slots) + 1
				for s := range w {
					v := math.Float64frombits(binary.LittleEndian.Uint64(records[(at*w+s)*8:]))
					where += fmt.Sprintf(" %x (%.17g)", v, v)
				}
			}
			t.Logf("%d: %g units in the last place (%.3f before rounding), documented %d, at%s", count, worst, exact,
				f.Bound, where)
			fmt.Fprintf(&lines, "%s %d %g %.3f\n", f.Name, count, worst, exact)
			if f.Bound >= 0 && !(worst <= float64(f.Bound)) {
				t.Errorf("above the documented bound")
			}
		})
	}
	if *update && *long {
		const head = "# What TestAccuracy -long found against libquadmath: function, arguments, units in the last place from\n" +
			"# the correctly rounded result, error before rounding.\n"
		if err := os.WriteFile("testdata/accuracy.txt", []byte(head+lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
