package softdev

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/corpus"
	"github.com/gocuda/cuda/internal/driver"
)

// loadTime is a module's time from PTX text to kernels that can be launched, all of them, beside the recorded time of
// the driver's compiler (load_ms.json, from the corpus's manifests: median of five calls of cuModuleLoadDataEx on the
// H200's machine under eager loading, without a cache, in milliseconds).
type loadTime struct {
	name         string
	bytes        int
	here, driver time.Duration
}

func (l *loadTime) ratio() float64 { return float64(l.here) / float64(l.driver) }

// BenchmarkLoad loads every recorded PTX text, makes all its kernels ready, launches the first one that was recorded
// and unloads the module. It reports the median and the greatest of the ratios to the driver's recorded times; each is
// the least of several rounds. The launch counts until the call returns: it is given no memory to work on, and what
// becomes of it does not matter.
func BenchmarkLoad(b *testing.B) {
	times := recordedLoads(b)
	d, err := New(Options{Recover: true, Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	tab := d.Table()
	if r := tab.Init(0, 0); r != success {
		b.Fatal(r)
	}
	for b.Loop() {
		for i := range times {
			t := &times[i]
			var ctx driver.CUcontext
			if r := tab.CtxCreate_v2(0, &ctx, 0, 0); r != success {
				b.Fatal(r)
			}
			start := time.Now()
			m := readyModule(b, d, ctx, t.text)
			r := t.launch(d, ctx, m)
			if here := time.Since(start); t.here == 0 || here < t.here {
				t.here = here
			}
			if r != success {
				b.Fatalf("%s: %v: %s", t.name, r, d.LastDetail(ctx))
			}
			d.contexts.get(uintptr(ctx)).stop.Store(true)
			if r := tab.CtxDestroy_v2(0, ctx); r != success {
				b.Fatal(r)
			}
		}
	}
	slices.SortFunc(times, func(x, y timedText) int {
		if x.ratio() < y.ratio() {
			return -1
		}
		return 1
	})
	var here, recorded time.Duration
	for i := range times {
		here, recorded = here+times[i].here, recorded+times[i].driver
	}
	b.ReportMetric(times[len(times)/2].ratio(), "median-ratio")
	b.ReportMetric(times[len(times)-1].ratio(), "max-ratio")
	b.ReportMetric(float64(here)/float64(recorded), "sum-ratio")
	b.Logf("%d texts: %v, the driver %v", len(times), here, recorded)
	for i := len(times) - 1; i >= max(len(times)-5, 0); i-- {
		t := &times[i]
		b.Logf("%.3f %s: %v for %d bytes, the driver %v", t.ratio(), t.name, t.here, t.bytes, t.driver)
	}
}

type timedText struct {
	loadTime
	text  []byte // with NUL
	first *corpus.Launch
}

// launch queues the first recorded launch with one cluster or block and zeros for parameters.
func (t *timedText) launch(d *Driver, ctx driver.CUcontext, m driver.CUmodule) driver.CUresult {
	tab := d.Table()
	var f driver.CUfunction
	if r := tab.ModuleGetFunction(ctx, &f, m, cstr(t.first.Kernel)); r != success {
		return r
	}
	config := driver.CUlaunchConfig{GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: t.first.Block[0],
		BlockDimY: t.first.Block[1], BlockDimZ: t.first.Block[2]}
	a := driver.CUlaunchAttribute{Id: driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION}
	c := a.Value.ClusterDim()
	c.X, c.Y, c.Z = 1, 1, 1
	if dims, ok := d.functions.get(uintptr(f)).entry.requiredCluster(); ok {
		c.X, c.Y, c.Z = dims[0], dims[1], dims[2]
		config.GridDimX, config.GridDimY, config.GridDimZ = dims[0], dims[1], dims[2]
	}
	config.Attrs, config.NumAttrs = &a, 1
	zeros := make([]uint64, 32764/8+1) // the most that parameters take
	params := make([]unsafe.Pointer, 256)
	for i := range params {
		params[i] = unsafe.Pointer(&zeros[0])
	}
	return tab.LaunchKernelEx(ctx, &config, f, &params[0], nil)
}

func recordedLoads(b *testing.B) []timedText {
	dir := corpusFolder(b)
	set := corpus.Open(os.DirFS(dir))
	names, err := set.Names()
	if err != nil {
		b.Fatal(err)
	}
	var recorded map[string]float64
	readFacts(b, "load_ms.json", &recorded)
	var times []timedText
	for _, name := range names {
		m, err := set.Module(name)
		if err != nil {
			b.Fatal(err)
		}
		build := m.PTXBuild()
		ms := recorded[name+" "+build]
		if ms == 0 {
			continue
		}
		text := unzipped(b, filepath.Join(dir, "modules", name, m.Files[build]))
		if text == nil {
			continue
		}
		times = append(times, timedText{loadTime{name: name + " " + build, bytes: len(text),
			driver: time.Duration(ms * float64(time.Millisecond))}, append(text, 0), &m.Launches[0]})
	}
	if len(times) < 50 {
		b.Fatalf("only %d texts with a recorded time", len(times))
	}
	return times
}

func readyModule(b *testing.B, d *Driver, ctx driver.CUcontext, text []byte) driver.CUmodule {
	tab := d.Table()
	var m driver.CUmodule
	if r := tab.ModuleLoadData(ctx, &m, unsafe.Pointer(&text[0])); r != success {
		b.Fatalf("%v: %s", r, d.LastDetail(ctx))
	}
	var n uint32
	if r := tab.ModuleGetFunctionCount(ctx, &n, m); r != success {
		b.Fatal(r)
	}
	fs := make([]driver.CUfunction, n+1)
	if r := tab.ModuleEnumerateFunctions(ctx, &fs[0], n, m); r != success {
		b.Fatal(r)
	}
	for _, f := range fs[:n] {
		if r := tab.FuncLoad(ctx, f); r != success {
			b.Fatalf("%v: %s", r, d.LastDetail(ctx))
		}
	}
	return m
}
