package softdev

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec/jit"
	"github.com/gocuda/cuda/internal/skip"
)

// busy keeps all processors of an engine at work with long kernels until stop is called.
func busy(t testing.TB, engine string) (stop func()) {
	t.Helper()
	if engine == "jit" {
		var none *jit.UnavailableError
		if _, err := jit.New(""); errors.As(err, &none) {
			skip.Without(t, skip.MachineCode, err)
		}
	}
	d, tab, primary := open(t, Options{EngineName: engine, Recover: true})
	var ctx driver.CUcontext
	if r := d.create(primary, &ctx, 0, 0, apiVersion2); r != success {
		t.Fatal(r)
	}
	f := fn(t, d, ctx, load(t, d, ctx, fmt.Sprintf(soakPTX, 1)), "forever")
	must(t, tab.LaunchKernel(ctx, f, 64, 1, 1, 256, 1, 1, 0, 0, nil, nil))
	var wg sync.WaitGroup
	wg.Add(1)
	go func() { defer wg.Done(); tab.CtxSynchronize(ctx) }()
	return func() {
		d.Interrupt(ctx)
		wg.Wait()
		tab.CtxDestroy_v2(primary, ctx)
	}
}

// lateness sleeps a millisecond again and again and sorts by how much more it was.
func lateness(n int) []time.Duration {
	late := make([]time.Duration, 0, n)
	for range n {
		start := time.Now()
		time.Sleep(time.Millisecond)
		late = append(late, time.Since(start)-time.Millisecond)
	}
	slices.Sort(late)
	return late
}

// While kernels that never end run on all processors other goroutines get their turn: sleeps end, and so does a garbage
// collection, which stops the world. An engine that does not give way would keep both from ending for ever; how late a
// sleep is, which depends on what else the machine does, BenchmarkSleepLateness measures: by less than 10 ms in 99 of
// 100 cases on an idle machine.
func TestSleepLateness(t *testing.T) {
	for _, engine := range []string{"interpreter", "jit"} {
		t.Run(engine, func(t *testing.T) {
			stop := busy(t, engine)
			defer stop()
			done := make(chan []time.Duration)
			go func() {
				late := lateness(100)
				runtime.GC()
				done <- late
			}()
			select {
			case late := <-done:
				t.Logf("p50 %v, p99 %v", late[len(late)/2], late[len(late)*99/100])
			case <-time.After(2 * time.Minute):
				t.Error("100 sleeps of a millisecond and a garbage collection have not ended in two minutes")
			}
		})
	}
}

func BenchmarkSleepLateness(b *testing.B) {
	for _, engine := range []string{"none", "interpreter", "jit"} {
		b.Run(engine, func(b *testing.B) {
			if engine != "none" {
				defer busy(b, engine)()
			}
			var late []time.Duration
			var pauses []time.Duration // of the world in garbage collections, with the time that it takes to stop
			for b.Loop() {
				late = append(late, lateness(500)...)
				for range 10 {
					runtime.GC()
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					pauses = append(pauses, time.Duration(m.PauseNs[(m.NumGC+255)%256]))
				}
			}
			slices.Sort(late)
			slices.Sort(pauses)
			report := func(d time.Duration, name string) { b.ReportMetric(float64(d.Microseconds())/1e3, name) }
			report(late[len(late)/2], "p50-late-ms")
			report(late[len(late)*99/100], "p99-late-ms")
			report(late[len(late)-1], "max-late-ms")
			report(pauses[len(pauses)/2], "p50-pause-ms")
			report(pauses[len(pauses)-1], "max-pause-ms")
		})
	}
}
