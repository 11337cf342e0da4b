package softdev

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/driver"
)

// Work that is held for the one who waits gets done without one, whatever the program does instead.
func TestHeldWork(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	s := newTestStream(t, tab, ctx, uint32(driver.CU_STREAM_NON_BLOCKING))
	o := d.streams.get(uintptr(s))
	var ran atomic.Int64
	count := hostFn(func() { ran.Add(1) })
	submitted := int64(0)
	submit := func() {
		submitted++
		must(t, tab.LaunchHostFunc(ctx, s, count, 0))
	}
	holds := func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.holding.soon >= soonMost
	}
	learn := func() {
		t.Helper()
		for end := time.Now().Add(time.Minute); !holds(); {
			submit()
			must(t, tab.StreamSynchronize(ctx, s))
			if time.Now().After(end) {
				t.Fatal("work that is waited for at once is not held after a minute")
			}
		}
	}
	done := func(what string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ran.Load() != submitted; runtime.Gosched() {
			if time.Now().After(end) {
				t.Fatalf("%s: %d of %d operations done after a minute", what, ran.Load(), submitted)
			}
		}
	}

	learn()
	submit()
	done("nobody asks")

	learn()
	for range heldMost + 1 {
		submit()
	}
	done("more than are held")

	learn()
	submit()
	for tab.StreamQuery(ctx, s) == notReady {
		runtime.Gosched()
	}
	done("cuStreamQuery")

	e := newTestEvent(t, tab, ctx)
	learn()
	submit()
	must(t, tab.EventRecord(ctx, e, s))
	for tab.EventQuery(ctx, e) == notReady {
		runtime.Gosched()
	}
	done("cuEventQuery")

	other := newTestStream(t, tab, ctx, uint32(driver.CU_STREAM_NON_BLOCKING))
	learn()
	submit()
	must(t, tab.EventRecord(ctx, e, s))
	must(t, tab.StreamWaitEvent(ctx, other, e, 0))
	must(t, tab.StreamSynchronize(ctx, other))
	done("another stream waits")

	learn()
	submit()
	must(t, tab.CtxSynchronize(ctx))
	done("cuCtxSynchronize")

	learn()
	submit()
	must(t, tab.StreamDestroy_v2(ctx, s))
	done("cuStreamDestroy")
}

// The sweeper ends when no stream has had work for a while.
func TestSweeperEnds(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	s := newTestStream(t, tab, ctx, 0)
	o := d.streams.get(uintptr(s))
	running := func() bool {
		d.sweeper.mu.Lock()
		defer d.sweeper.mu.Unlock()
		return d.sweeper.running
	}
	nothing := hostFn(func() {})
	for round := range 2 {
		for end := time.Now().Add(time.Minute); !running(); {
			must(t, tab.LaunchHostFunc(ctx, s, nothing, 0))
			must(t, tab.StreamSynchronize(ctx, s))
			if time.Now().After(end) {
				t.Fatal("no work is held after a minute")
			}
		}
		for end := time.Now().Add(time.Minute); running(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("round %d: it goes on after a minute without work", round)
			}
		}
		o.mu.Lock()
		if o.listed {
			t.Errorf("round %d: the stream believes that sweeps come by", round)
		}
		o.mu.Unlock()
	}
}
