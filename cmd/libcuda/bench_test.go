//go:build linux && cgo

package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/softdev"
)

// goCalls are the calls of testdata/c/calls.c, made from Go on a device in this process.
func goCalls(tb testing.TB) map[string]float64 {
	tb.Helper()
	d, err := softdev.New(softdev.Options{Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		tb.Fatal(err)
	}
	defer d.Close()
	t := d.Table()
	ok := func(r driver.CUresult) {
		tb.Helper()
		if r != driver.CUDA_SUCCESS {
			tb.Fatal(r)
		}
	}
	var (
		ctx, c driver.CUcontext
		dev    driver.CUdevice
		s      driver.CUstream
		m      driver.CUmodule
		poke   driver.CUfunction
		p      driver.CUdeviceptr
		flags  uint32
		n      int32
	)
	ok(t.Init(0, 0))
	ok(t.CtxCreate_v2(0, &ctx, 0, 0))
	text, name := []byte(clientPTX), []byte("poke\x00")
	ok(t.ModuleLoadData(ctx, &m, unsafe.Pointer(&text[0])))
	ok(t.ModuleGetFunction(ctx, &poke, m, &name[0]))
	ok(t.StreamCreate(ctx, &s, 0))
	ok(t.MemAlloc_v2(ctx, &p, 64))
	v, one := new(uint32), new(uint32)
	*one = 1
	args := []unsafe.Pointer{unsafe.Pointer(&p), unsafe.Pointer(one)}
	out := map[string]float64{}
	measure := func(name string, count int, body, after func()) {
		best := time.Duration(1 << 62)
		for range 10 {
			t0 := time.Now()
			for range count {
				body()
			}
			after()
			best = min(best, time.Since(t0))
		}
		out[name] = float64(best.Nanoseconds()) / float64(count)
	}
	nothing, wait := func() {}, func() { t.StreamSynchronize(ctx, s) }
	measure("cuDriverGetVersion", 100000, func() { t.DriverGetVersion(ctx, &n) }, nothing)
	measure("cuCtxGetCurrent", 100000, func() { t.CtxGetCurrent(ctx, &c) }, nothing)
	measure("cuCtxGetDevice", 100000, func() { t.CtxGetDevice(ctx, &dev) }, nothing)
	measure("cuStreamGetFlags", 100000, func() { t.StreamGetFlags(ctx, s, &flags) }, nothing)
	measure("cuStreamQuery", 100000, func() { t.StreamQuery(ctx, s) }, nothing)
	measure("cuMemcpyHtoD", 20000, func() { t.MemcpyHtoD_v2(ctx, p, unsafe.Pointer(v), 4) }, nothing)
	store := func() { t.LaunchKernel(ctx, poke, 1, 1, 1, 1, 1, 1, 0, s, &args[0], nil) }
	measure("launch_store", 2000, store, wait)
	measure("launch_store_and_wait", 2000, func() { store(); wait() }, nothing)
	return out
}

// BenchmarkCalls compares what calls cost from C through this library with what they cost from Go through the table.
// The rounds of both alternate, and the least of each counts.
//
//	go test ./cmd/libcuda -run XXX -bench Calls -benchtime 1x -v
func BenchmarkCalls(b *testing.B) {
	bin := program(b, "calls", "-O2")
	var order []string
	c, g := map[string]float64{}, map[string]float64{}
	least := func(m map[string]float64, name string, v float64) {
		if old, ok := m[name]; !ok || v < old {
			m[name] = v
		}
	}
	for range max(5, b.N) {
		for line := range strings.Lines(run(b, "", nil, bin)) {
			var name string
			var v float64
			if _, err := fmt.Sscan(line, &name, &v); err != nil {
				b.Fatalf("%q: %v", line, err)
			}
			if _, ok := c[name]; !ok {
				order = append(order, name)
			}
			least(c, name, v)
		}
		for name, v := range goCalls(b) {
			least(g, name, v)
		}
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "call\tfrom C, ns\tfrom Go, ns\tdifference, ns\t")
	for _, name := range order {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t\n", name, c[name], g[name], c[name]-g[name])
		b.ReportMetric(c[name]-g[name], name+"-ns-more")
	}
	_ = w.Flush()
	b.Log("\n" + text.String())
}
