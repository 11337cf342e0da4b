//go:build linux && cgo

package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/gocuda/cuda/internal/bench"
	"github.com/gocuda/cuda/internal/skip"
)

// suiteVariable names a folder that keeps the C programs of the kernel bench, which take a minute to compile;
// engineVariable is the engine of both libraries.
const (
	suiteVariable  = "GOCUDA_BENCH"
	engineVariable = "GOCUDA_ENGINE"
)

// BenchmarkSuite runs the kernel bench from C through this library and from Go through package cu, in turn, and prints
// the ratio of the best times. A case whose times are further apart than 5 % is measured again, up to 40 times, since
// other work on the machine is slow by chance and fast never.
//
//	GOCUDA_BENCH=folder GOCUDA_ENGINE=jit go test ./cmd/libcuda -run XXX -bench Suite -benchtime 1x -v
func BenchmarkSuite(b *testing.B) {
	dir := os.Getenv(suiteVariable)
	if dir == "" {
		dir = b.TempDir()
	}
	lib := filepath.Join(library(b), "libcuda.so.1")
	hosts, err := bench.BuildHosts(dir, []string{bench.CDoor}, true, nil)
	if err != nil {
		b.Fatal(err)
	}
	if why := hosts.Missing[bench.CDoor]; why != "" {
		skip.Without(b, skip.Tool, why)
	}
	b.Setenv("CUDA_LIB", lib)
	const near = 1.05
	timing := bench.Timing{Budget: 200 * time.Millisecond, MinReps: 3, MaxReps: 4096}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "bench\tfrom C, us\tfrom Go, us\tratio\t")
	for _, name := range bench.Names() {
		b.Run(name, func(b *testing.B) {
			one, err := bench.New(name, bench.Small)
			if err != nil {
				b.Fatal(err)
			}
			c, g := math.Inf(1), math.Inf(1)
			for round := 0; round < 3 || round < 40 && (c > near*g || g > near*c); round++ {
				s := hosts.Run(bench.CDoor, name, bench.Small, timing, time.Minute)
				if !s.OK {
					b.Fatalf("%s from C: %s", name, s.Note)
				}
				c = min(c, s.Min)
				if s, err = goSuite(one, timing); err != nil {
					b.Fatalf("%s from Go: %v", name, err)
				}
				g = min(g, s.Min)
			}
			fmt.Fprintf(w, "%s\t%.3f\t%.3f\t%.3f\t\n", name, c*1e6, g*1e6, c/g)
			b.ReportMetric(c/g, "C/Go")
		})
	}
	_ = w.Flush()
	b.Log("\n" + text.String())
}

// goSuite measures a case on a device of its own, as the C program has: one that ran other cases has its memory in
// large pages by then.
func goSuite(c *bench.Case, t bench.Timing) (bench.Sample, error) {
	engine, err := bench.OpenEngine(cmp.Or(os.Getenv(engineVariable), "interpreter"))
	if err != nil {
		return bench.Sample{}, err
	}
	s, err := engine.Run(c, bench.Small, t)
	return s, errors.Join(err, engine.Close())
}
