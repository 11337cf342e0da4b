package jit

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gocuda/cuda/internal/corpus"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// compiled is how long the stages of a kernel took.
type compiled struct {
	name       string
	ops, bytes int
	// lowering, what the interpreter needs, machine code of both versions for single warps
	lower, prepare, warps time.Duration
	blocks                time.Duration // machine code for whole CTAs
	whole                 bool          // there is such
}

// threadTime is the processor time of the calling thread: others on the machine do not count.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// machine is the time for machine code.
func (c *compiled) machine() time.Duration { return c.warps + c.blocks }

// compileCorpus compiles every kernel of the recorded modules' PTX; front is the time of the parser and the checker for
// all.
func compileCorpus(tb testing.TB, e *engine) (list []compiled, front time.Duration) {
	dir := "../../../../shared/corpus"
	if _, err := os.Stat(filepath.Join(dir, "modules")); err != nil {
		dir = "../../../testdata/corpus"
	}
	set := corpus.Open(os.DirFS(dir))
	names, err := set.Names()
	if err != nil {
		tb.Fatal(err)
	}
	for _, name := range names {
		m, err := set.Module(name)
		if err != nil {
			tb.Fatal(err)
		}
		build := m.PTXBuild()
		if build == "" || m.Files[build] == "" {
			continue // it has to be linked first
		}
		text, err := m.Image(build)
		if err != nil {
			tb.Fatal(err)
		}
		start := threadTime()
		tree, err := ptx.Parse(text)
		if err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		cm, err := check.Check(tree, check.Options{SM: 90})
		front += threadTime() - start
		if err != nil {
			continue // for a later target
		}
		syms := &ir.Symbols{Handles: map[*check.Func]uint64{}, Builtin: interp.Builtin}
		for i, g := range cm.Funcs {
			syms.Handles[g] = uint64(i+1) << 8
		}
		for _, f := range cm.Funcs {
			if !f.Entry || !f.Defined {
				continue
			}
			c := compiled{name: name + "/" + f.Name}
			start := threadTime()
			k, err := ir.Lower(f, syms)
			c.lower = threadTime() - start
			if err != nil {
				continue // it needs what other modules define
			}
			start = threadTime()
			x, err := e.Compile(k)
			c.prepare = threadTime() - start
			if err != nil {
				continue
			}
			y := x.(*code)
			start = threadTime()
			for i := range y.funcs {
				c.ops += len(y.funcs[i].f.Ops)
				for which := range 2 {
					if v := y.compile(&y.funcs[i], which, nil); v.region != nil {
						c.bytes += len(v.region.mem)
					}
				}
			}
			c.warps = threadTime() - start
			start = threadTime()
			if v := y.ctaVersion(&y.cta, ctaKey{dims: [3]uint32{256, 1, 1}}, nil); v != nil {
				c.whole = true
				c.bytes += len(v.region.mem)
			}
			c.blocks = threadTime() - start
			list = append(list, c)
		}
	}
	return list, front
}

// BenchmarkCompile compiles all kernels of the corpus and reports, in processor time, the median, the 99th percentile
// and the longest time for the machine code of one, all three versions together, and the share of the machine code in
// the time from text to code.
func BenchmarkCompile(b *testing.B) {
	e := testEngine(b)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var best []compiled
	front := time.Duration(1 << 62)
	for b.Loop() {
		list, f := compileCorpus(b, e)
		front = min(front, f)
		if best == nil {
			best = list
			continue
		}
		for i := range list {
			x, y := &best[i], &list[i]
			x.lower, x.prepare, x.warps, x.blocks = min(x.lower, y.lower), min(x.prepare, y.prepare),
				min(x.warps, y.warps), min(x.blocks, y.blocks)
		}
	}
	var lower, prepare, machine time.Duration
	ops, bytes, whole := 0, 0, 0
	for i := range best {
		c := &best[i]
		lower, prepare, machine, ops, bytes = lower+c.lower, prepare+c.prepare, machine+c.machine(), ops+c.ops,
			bytes+c.bytes
		if c.whole {
			whole++
		}
	}
	slices.SortFunc(best, func(x, y compiled) int { return cmp.Compare(x.machine(), y.machine()) })
	us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	n := len(best)
	b.ReportMetric(us(best[n/2].machine()), "p50-us")
	b.ReportMetric(us(best[n*99/100].machine()), "p99-us")
	b.ReportMetric(us(best[n-1].machine()), "max-us")
	b.ReportMetric(float64(machine.Nanoseconds())/float64(ops), "ns/operation")
	b.ReportMetric(float64(machine)/float64(front+lower+prepare+machine), "share")
	b.Logf("%d kernels, %d of them also as whole CTAs, %d operations, %d bytes of machine code; parser and checker %v, lowering %v, interpreter's form %v, machine code %v", n, whole, ops, bytes, front, lower, prepare, machine)
	for i := n - 1; i >= max(0, n-6); i-- {
		c := &best[i]
		b.Logf("%s: %d operations, lowering %v, interpreter's form %v, machine code %v for warps, %v for CTAs", c.name,
			c.ops, c.lower, c.prepare, c.warps, c.blocks)
	}
}
