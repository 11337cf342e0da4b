package jit

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/skip"
)

// benchKernels is the folder of benchmark kernels, when it lies beside the checkout. testdata/bench_small.json has
// their launches.
const benchKernels = "../../../../shared/bench/kernels/ptx"

type benchSpec struct {
	Bench, PTX, Entry string
	Grid, Block       [3]uint32
	Launches          int
	Args              []struct {
		Buf *int
		I32 *int32
		U32 *uint32
		U64 *uint64
		F32 *float64
		Dir string
	}
}

func mix(i, seed uint32) uint32 {
	x := i*0x9e3779b1 + seed*0x85ebca77
	x ^= x >> 15
	x *= 0x2c1b3c6d
	x ^= x >> 12
	x *= 0x297a2d39
	return x ^ x>>15
}

// benchArgs makes the arguments of a launch; bufs are the buffers.
func benchArgs(d *exectest.Device, s *benchSpec) (args []any, bufs [][]byte, addrs []uint64) {
	for i, a := range s.Args {
		switch {
		case a.Buf != nil:
			addr, data := d.Alloc(*a.Buf)
			if a.Dir != "out" && !(strings.HasPrefix(s.Bench, "hist") && a.Dir == "inout") {
				for j := 0; j+4 <= len(data); j += 4 {
					w := mix(uint32(j/4), uint32(i))
					if !strings.HasPrefix(s.Bench, "hist") && !strings.HasPrefix(s.Bench, "hash") &&
						!strings.HasPrefix(s.Bench, "sha") {
						w = math.Float32bits(float32(w>>8)/(1<<24) + 0.25)
					}
					binary.LittleEndian.PutUint32(data[j:], w)
				}
			}
			args, bufs, addrs = append(args, addr), append(bufs, data), append(addrs, addr)
		case a.I32 != nil:
			args = append(args, uint32(*a.I32))
		case a.U32 != nil:
			args = append(args, *a.U32)
		case a.U64 != nil:
			args = append(args, *a.U64)
		case a.F32 != nil:
			args = append(args, float32(*a.F32))
		}
	}
	return args, bufs, addrs
}

// TestBenchKernels runs the benchmark kernels on both engines: the results must be equal bit for bit. It logs the times
// of one launch on one worker.
func TestBenchKernels(t *testing.T) { eachISA(t, testBenchKernels) }

func testBenchKernels(t *testing.T, e *engine) {
	specs := loadSpecs(t)
	logSum, n := 0.0, 0
	t.Logf("%-14s %12s %12s %8s %10s %9s", "bench", "interpreter", "jit", "ratio", "ns/warpop", "fallback")
	for i := range specs {
		s := &specs[i]
		if strings.HasPrefix(s.Bench, "big") && testing.Short() {
			continue
		}
		src, err := os.ReadFile(filepath.Join(benchKernels, s.PTX))
		if err != nil {
			t.Fatal(err)
		}
		var results [2][][]byte
		var took [2]time.Duration
		var c exec.Counters
		for which, engine := range []exec.Engine{interp.New(), e} {
			d := exectest.Open(t)
			d.Engine = engine
			k, err := d.Load(string(src)).Kernel(s.Entry)
			if err != nil {
				t.Fatal(err)
			}
			args, bufs, _ := benchArgs(d, s)
			cfg := exectest.Config{Grid: s.Grid, Block: s.Block}
			run := func() time.Duration {
				start := time.Now()
				if err := k.Run(cfg, args...); err != nil {
					t.Fatalf("%s on %s: %v", s.Bench, engine.Name(), err)
				}
				return time.Since(start)
			}
			run()
			for _, b := range bufs {
				results[which] = append(results[which], bytes.Clone(b))
			}
			took[which] = run()
			if which == 1 {
				for range 4 {
					took[which] = min(took[which], run())
				}
				cfg.Counters = &c
				run()
			}
		}
		for b := range results[0] {
			if !bytes.Equal(results[0][b], results[1][b]) {
				t.Errorf("%s: buffer %d differs", s.Bench, b)
			}
		}
		ratio := float64(took[0]) / float64(took[1])
		logSum += math.Log(ratio)
		n++
		t.Logf("%-14s %12v %12v %8.1f %10.2f %8.2f%%", s.Bench, took[0].Round(time.Microsecond),
			took[1].Round(100*time.Nanosecond), ratio,
			float64(took[1].Nanoseconds())/float64(c.WarpInstructions.Load()),
			100*float64(c.Fallbacks.Load())/float64(c.WarpInstructions.Load()))
	}
	t.Logf("geometric mean %.1f", math.Exp(logSum/float64(n)))
}

// BenchmarkKernel measures one launch of each benchmark kernel on one worker: go test -bench Kernel/jit/reduce_shared.
func BenchmarkKernel(b *testing.B) {
	specs := loadSpecs(b)
	for _, engine := range []exec.Engine{interp.New(), testEngine(b)} {
		for i := range specs {
			s := &specs[i]
			b.Run(engine.Name()+"/"+s.Bench, func(b *testing.B) {
				src, err := os.ReadFile(filepath.Join(benchKernels, s.PTX))
				if err != nil {
					b.Fatal(err)
				}
				d := exectest.Open(b)
				d.Engine = engine
				k, err := d.Load(string(src)).Kernel(s.Entry)
				if err != nil {
					b.Fatal(err)
				}
				args, _, _ := benchArgs(d, s)
				for b.Loop() {
					if err := k.Run(exectest.Config{Grid: s.Grid, Block: s.Block}, args...); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// loadSpecs reads the benchmarks' launches.
func loadSpecs(t testing.TB) []benchSpec {
	t.Helper()
	if _, err := os.Stat(benchKernels); err != nil {
		skip.Without(t, skip.Recordings, err)
	}
	text, err := os.ReadFile("testdata/bench_small.json")
	if err != nil {
		t.Fatal(err)
	}
	var specs []benchSpec
	if err := json.Unmarshal(text, &specs); err != nil {
		t.Fatal(err)
	}
	return specs
}
