// Command launchbench measures what a launch costs through package cuda and package cu, with kernels that do nothing.
// Programs in C and in Python (cuda.core) with the same loop lie in the folder peers; run.sh runs all three in one go
// and compares.
//
// Each line of output has, with tabs between them: program, way to launch, kernel (empty: no parameters; four: two
// pointers, a float and an int), and three times in nanoseconds for each launch: the shortest and the middle one of 200
// batches of 200 launches, the waiting between batches not counted; and 50,000 launches with the waiting for their end.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"github.com/gocuda/cuda"
)

//go:embed launch.ptx
var ptx []byte

const batch, batches, sustained = 200, 200, 50000

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "launchbench:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	sc := cuda.NewScope()
	defer func() { err = errors.Join(err, sc.Close()) }()
	sys, err := cuda.Open()
	if err != nil {
		return err
	}
	sc.Add(sys)
	fmt.Fprintln(os.Stderr, sys)
	c, err := sys.Context(0)
	if err != nil {
		return err
	}
	sc.Add(c)
	mod, err := c.Load(ptx)
	if err != nil {
		return err
	}
	sc.Add(mod)
	empty, err := mod.Kernel("empty")
	if err != nil {
		return err
	}
	four, err := mod.Kernel("four")
	if err != nil {
		return err
	}
	s, err := c.NewStream(cuda.StreamOptions{NonBlocking: true})
	if err != nil {
		return err
	}
	x, err := cuda.Alloc[float32](c, 1024)
	if err != nil {
		return err
	}
	y, err := cuda.Alloc[float32](c, 1024)
	if err != nil {
		return err
	}
	sc.Add(s, x, y)

	cfg := cuda.LaunchConfig{Grid: cuda.Dim(1), Block: cuda.Dim(1)}
	one, err := empty.Prepare(cfg)
	if err != nil {
		return err
	}
	all, err := four.Prepare(cfg, cuda.Ptr(x), cuda.Ptr(y), cuda.Val(float32(2)), cuda.Val(int32(1024)))
	if err != nil {
		return err
	}
	typed, err := cuda.Bind4[cuda.Pointer[float32], cuda.Pointer[float32], float32, int32](four)
	if err != nil {
		return err
	}
	api := c.API()
	type values struct {
		x, y cuda.Pointer[float32]
		a    float32
		n    int32
	}
	v := &values{x.Ptr(), y.Ptr(), 2, 1024}
	args := []unsafe.Pointer{unsafe.Pointer(&v.x), unsafe.Pointer(&v.y), unsafe.Pointer(&v.a), unsafe.Pointer(&v.n)}
	for _, m := range []struct {
		way, kernel string
		launch      func() error
	}{
		{"cuda.Kernel.Launch", "empty", func() error { return empty.Launch(s, cfg) }},
		{"cuda.Prepared.Launch", "empty", func() error { return one.Launch(s) }},
		{"cu.LaunchKernel", "empty", func() error {
			return api.LaunchKernel(empty.Handle(), 1, 1, 1, 1, 1, 1, 0, s.Handle(), nil, nil)
		}},
		{"cuda.Kernel.Launch", "four", func() error {
			return four.Launch(s, cfg, cuda.Ptr(x), cuda.Ptr(y), cuda.Val(float32(2)), cuda.Val(int32(1024)))
		}},
		{"cuda.Kernel4.Launch", "four", func() error { return typed.Launch(s, cfg, x.Ptr(), y.Ptr(), 2, 1024) }},
		{"cuda.Prepared.Launch", "four", func() error { return all.Launch(s) }},
		{"cu.LaunchKernel", "four", func() error {
			return api.LaunchKernel(four.Handle(), 1, 1, 1, 1, 1, 1, 0, s.Handle(), args, nil)
		}},
	} {
		if err := measure(m.way, m.kernel, s, m.launch); err != nil {
			return err
		}
	}
	runtime.KeepAlive(v)
	return nil
}

func measure(way, kernel string, s *cuda.Stream, launch func() error) error {
	times := make([]float64, batches)
	for i := range times {
		if err := s.Synchronize(); err != nil {
			return err
		}
		begin := time.Now()
		for range batch {
			if err := launch(); err != nil {
				return err
			}
		}
		times[i] = float64(time.Since(begin)) / batch
	}
	if err := s.Synchronize(); err != nil {
		return err
	}
	begin := time.Now()
	for range sustained {
		if err := launch(); err != nil {
			return err
		}
	}
	if err := s.Synchronize(); err != nil {
		return err
	}
	whole := float64(time.Since(begin)) / sustained
	slices.Sort(times)
	fmt.Printf("Go\t%s\t%s\t%.0f\t%.0f\t%.0f\n", way, kernel, times[0], times[batches/2], whole)
	return nil
}
