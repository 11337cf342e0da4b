package bench

import (
	"runtime"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/link"
	gocudaptx "github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// BenchmarkLoadPhases takes the kernel of 50 thousand PTX lines through what happens between cuModuleLoadData and the
// engine's own compiler, and reports for each phase the least time in ms, and what it allocates in MB and in thousands
// of objects.
func BenchmarkLoadPhases(b *testing.B) {
	text, err := ptx("big50k")
	if err != nil {
		b.Fatal(err)
	}
	type phase struct {
		name    string
		least   time.Duration
		bytes   uint64
		objects uint64
	}
	var phases []phase
	for b.Loop() {
		runtime.GC()
		n := 0
		step := func(name string, f func() error) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			if err := f(); err != nil {
				b.Fatal(name, err)
			}
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if n == len(phases) {
				phases = append(phases, phase{name: name, least: took})
			}
			p := &phases[n]
			p.least = min(p.least, took)
			p.bytes, p.objects = after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs
			n++
		}
		var tree *gocudaptx.Module
		var m *check.Module
		var p *link.Linked
		var k *ir.Kernel
		step("parse", func() (err error) { tree, err = gocudaptx.Parse(text); return err })
		step("check", func() (err error) { m, err = check.Check(tree, check.Options{SM: 90}); return err })
		step("link", func() (err error) { p, err = link.Single(m, nil, link.Options{SM: 90}); return err })
		step("lower", func() (err error) { k, err = ir.Lower(m.Funcs[0], nil); return err })
		step("prepare", func() (err error) { _, err = interp.Prepare(k); return err })
		runtime.KeepAlive(p)
	}
	for _, p := range phases {
		b.ReportMetric(float64(p.least)/1e6, p.name+"-ms")
		b.ReportMetric(float64(p.bytes)/1e6, p.name+"-MB")
		b.ReportMetric(float64(p.objects)/1e3, p.name+"-kobj")
	}
}
