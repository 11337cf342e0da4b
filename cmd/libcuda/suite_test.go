//go:build linux && cgo

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/softdev"
)

// suiteVariable names the folder of the kernel bench, with its hosts built (build/cuda, build/native); sizeVariable the size: full, small or tiny.
const (
	suiteVariable = "GOCUDA_BENCH"
	sizeVariable  = "GOCUDA_BENCH_SIZE"
)

// bench is an entry of what build/native --list prints.
type bench struct {
	Name     string                       `json:"bench"`
	PTX      string                       `json:"ptx"`
	Entry    string                       `json:"entry"`
	Grid     [3]uint32                    `json:"grid"`
	Block    [3]uint32                    `json:"block"`
	Launches int                          `json:"launches"`
	Args     []map[string]json.RawMessage `json:"args"`
}

// argument is a launch argument: a buffer of so many bytes, or a word.
func (b *bench) argument(i int) (bytes uint64, word uint64, err error) {
	for kind, raw := range b.Args[i] {
		var v float64
		switch kind {
		case "dir":
			continue
		case "buf":
			err = json.Unmarshal(raw, &bytes)
		case "f32":
			err = json.Unmarshal(raw, &v)
			word = uint64(math.Float32bits(float32(v)))
		default:
			// integers are numbers, or strings where they do not fit a float
			text := strings.Trim(string(raw), `"`)
			if n, e := strconv.ParseInt(text, 0, 64); e == nil {
				word = uint64(n)
			} else {
				word, err = strconv.ParseUint(text, 0, 64)
			}
		}
	}
	return bytes, word, err
}

// suiteRange is how the bench fills an input: floats from low to high by a seed, or words by a seed alone.
type suiteRange struct {
	seed      uint32
	low, high float32
}

// suiteRanges are the inputs of each bench in order, as host/cases.c of the bench has them.
var suiteRanges = map[string][]suiteRange{
	"vecadd": {{1, -1, 1}, {2, 0.5, 2}}, "saxpy": {{3, -1, 1}, {4, -1, 1}}, "nbody": {{5, 0.01, 1}}, "sgemm_naive": {{6, -1, 1}, {7, -1, 1}}, "sgemm_tiled": {{6, -1, 1}, {7, -1, 1}},
	"reduce_shared": {{8, 0, 1}}, "reduce_shfl": {{8, 0, 1}}, "hist_shared": {{}, {9, 0, 0}}, "hist_global": {{}, {9, 0, 0}}, "transpose": {{10, -1, 1}}, "stencil5": {{11, -1, 1}},
	"blackscholes": {{12, 5, 30}, {13, 1, 100}, {14, 0.25, 10}}, "big5k": {{15, 0, 0}}, "big50k": {{15, 0, 0}},
}

// suiteData fills an input with the data that the C host has.
func suiteData(name string, input int, to []uint32) {
	list := suiteRanges[name]
	if input >= len(list) || list[input].seed == 0 {
		return
	}
	r := list[input]
	for i := range to {
		x := uint32(i)*0x9E3779B1 + r.seed
		x ^= x >> 16
		x *= 0x85ebca6b
		x ^= x >> 13
		x *= 0xc2b2ae35
		x ^= x >> 16
		if r.low != r.high {
			f := float32(float32(r.high-r.low) * float32(float32(x>>8)*(1.0/(1<<24))))
			x = math.Float32bits(r.low + f)
		}
		to[i] = x
	}
}

// goSuite runs a bench from Go and returns the seconds of its fastest launch within the budget, as the C host does.
func goSuite(b *bench, dir string, budget time.Duration) (float64, error) {
	d, err := softdev.New(softdev.Options{Stdout: io.Discard})
	if err != nil {
		return 0, err
	}
	defer d.Close()
	t := d.Table()
	var failed error
	ok := func(what string, r driver.CUresult) {
		if r != driver.CUDA_SUCCESS && failed == nil {
			failed = fmt.Errorf("%s: %v", what, r)
		}
	}
	var (
		ctx driver.CUcontext
		m   driver.CUmodule
		f   driver.CUfunction
	)
	text, err := os.ReadFile(filepath.Join(dir, "kernels/ptx", b.PTX))
	if err != nil {
		return 0, err
	}
	text = append(text, 0)
	name := []byte(b.Entry + "\x00")
	ok("cuInit", t.Init(0, 0))
	ok("cuCtxCreate", t.CtxCreate_v2(0, &ctx, 0, 0))
	ok("cuModuleLoadData", t.ModuleLoadData(ctx, &m, unsafe.Pointer(&text[0])))
	ok("cuModuleGetFunction", t.ModuleGetFunction(ctx, &f, m, &name[0]))
	words := make([]uint64, len(b.Args))
	params := make([]unsafe.Pointer, len(b.Args)+1)
	input := 0
	for i := range b.Args {
		params[i] = unsafe.Pointer(&words[i])
		n, word, err := b.argument(i)
		if err != nil {
			return 0, err
		}
		words[i] = word
		if n == 0 {
			continue
		}
		var p driver.CUdeviceptr
		ok("cuMemAlloc", t.MemAlloc_v2(ctx, &p, n))
		words[i] = uint64(p)
		host := make([]uint32, (n+3)/4)
		if in := string(b.Args[i]["dir"]) != `"out"`; in {
			suiteData(b.Name, input, host)
			input++
		}
		ok("cuMemcpyHtoD", t.MemcpyHtoD_v2(ctx, p, unsafe.Pointer(&host[0]), n))
	}
	sample := func() time.Duration {
		t0 := time.Now()
		for range b.Launches {
			ok("cuLaunchKernel", t.LaunchKernel(ctx, f, b.Grid[0], b.Grid[1], b.Grid[2], b.Block[0], b.Block[1], b.Block[2], 0, 0, &params[0], nil))
		}
		ok("cuCtxSynchronize", t.CtxSynchronize(ctx))
		return time.Since(t0)
	}
	sample()
	best := sample()
	for began := time.Now(); time.Since(began) < budget && failed == nil; {
		best = min(best, sample())
	}
	return best.Seconds() / float64(b.Launches), failed
}

// BenchmarkSuite runs the kernel bench from C through this library and from Go through the table, in turn, and prints the ratio of the best times.
//
//	GOCUDA_BENCH=folder GOCUDA_ENGINE=jit go test ./cmd/libcuda -run XXX -bench Suite -benchtime 1x -v
func BenchmarkSuite(b *testing.B) {
	dir := os.Getenv(suiteVariable)
	if dir == "" {
		b.Skip("NOT MEASURED: " + suiteVariable + " names no folder of the kernel bench")
	}
	size := os.Getenv(sizeVariable)
	if size == "" {
		size = "small"
	}
	lib := filepath.Join(library(b), "libcuda.so.1")
	list, err := exec.Command(filepath.Join(dir, "build/native"), "--list", "--size", size).Output()
	if err != nil {
		b.Fatal(err)
	}
	var all []bench
	if err := json.Unmarshal(list, &all); err != nil {
		b.Fatal(err)
	}
	const budget = 300 * time.Millisecond
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "bench\tfrom C, us\tfrom Go, us\tratio\t")
	for i := range all {
		one := &all[i]
		c, g := math.Inf(1), math.Inf(1)
		for range max(3, b.N) {
			cmd := exec.Command(filepath.Join(dir, "build/cuda"), "--size", size, "--only", one.Name, "--budget", fmt.Sprint(budget.Seconds()), "--maxreps", "4096")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "CUDA_LIB="+lib)
			out, err := cmd.Output()
			if err != nil {
				b.Fatalf("%s: %v", one.Name, err)
			}
			var line struct {
				OK  bool    `json:"ok"`
				Min float64 `json:"seconds_min"`
			}
			if err := json.Unmarshal([]byte(strings.TrimSpace(string(out))), &line); err != nil || !line.OK {
				b.Fatalf("%s: %v: %s", one.Name, err, out)
			}
			c = min(c, line.Min)
			v, err := goSuite(one, dir, budget)
			if err != nil {
				b.Fatalf("%s: %v", one.Name, err)
			}
			g = min(g, v)
		}
		fmt.Fprintf(w, "%s\t%.3f\t%.3f\t%.3f\t\n", one.Name, c*1e6, g*1e6, c/g)
	}
	_ = w.Flush()
}
