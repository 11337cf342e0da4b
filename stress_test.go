package cuda_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cudatest"
)

var stressTime = flag.Duration("stress", time.Second, "how long TestStress runs")

// TestStress: many goroutines with several streams each allocate, copy, launch, make mistakes and close things, in two contexts of one system. Every result is checked;
// at the end nothing is open, no goroutine is left, and nothing has stopped.
//
//	go test -race -run TestStress -stress 1m .
func TestStress(t *testing.T) {
	const goroutines, streams = 64, 4
	before := runtime.NumGoroutine()
	sys := cudatest.System(t)
	primary, err := sys.Context(0)
	check(t, err)
	second, err := sys.Devices()[0].NewContext(0)
	check(t, err)
	contexts := []*cuda.Context{primary, second}
	var kernels []*cuda.Kernel
	var modules []*cuda.Module
	for _, c := range contexts {
		m, err := c.Load(kernelsPTX)
		check(t, err)
		k, err := m.Kernel("fill")
		check(t, err)
		modules, kernels = append(modules, m), append(kernels, k)
	}
	var rounds atomic.Int64
	deadline := time.Now().Add(*stressTime)
	errs := make(chan error, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w := worker{c: contexts[g%2], k: kernels[g%2], foreign: kernels[1-g%2], r: rand.New(rand.NewPCG(1, uint64(g)))}
			for range streams {
				s, err := w.c.NewStream(cuda.StreamOptions{NonBlocking: w.r.IntN(2) == 0})
				if err != nil {
					errs <- err
					return
				}
				w.streams = append(w.streams, s)
			}
			for time.Now().Before(deadline) {
				if err := w.round(); err != nil {
					errs <- fmt.Errorf("goroutine %d: %w", g, err)
					return
				}
				rounds.Add(1)
			}
			for _, s := range w.streams {
				if err := s.Close(); err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(*stressTime + 2*time.Minute):
		buf := make([]byte, 1<<20)
		t.Fatalf("nothing moves any more:\n%s", buf[:runtime.Stack(buf, true)])
	}
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	t.Logf("%d rounds", rounds.Load())
	for i, c := range contexts {
		check(t, modules[i].Close())
		check(t, c.Close())
	}
	for range 100 {
		if runtime.NumGoroutine() <= before+1 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// worker is one goroutine of the stress test.
type worker struct {
	c       *cuda.Context
	k       *cuda.Kernel
	foreign *cuda.Kernel // of the other context
	streams []*cuda.Stream
	r       *rand.Rand
}

func (w *worker) stream() *cuda.Stream { return w.streams[w.r.IntN(len(w.streams))] }

// round does one of several things with fresh memory, and checks the result.
func (w *worker) round() (err error) {
	sc := cuda.NewScope()
	defer func() { err = errors.Join(err, sc.Close()) }()
	n := 1 + w.r.IntN(600)
	value := w.r.Uint32()
	s := w.stream()
	var x *cuda.Buffer[uint32]
	if w.r.IntN(2) == 0 {
		x, err = cuda.Alloc[uint32](w.c, n)
	} else {
		x, err = cuda.AllocAsync[uint32](s, n)
	}
	if err != nil {
		return err
	}
	sc.Add(x)
	if err := x.ZeroAsync(s); err != nil {
		return err
	}
	part := w.r.IntN(n + 1)
	switch w.r.IntN(5) {
	case 0: // launch
		if part > 0 {
			err = w.k.Launch(s, cuda.Linear(part), cuda.Ptr(x), cuda.Val(value), cuda.Val(uint32(part)))
		}
	case 1: // launch of a stream's worth of kernels, then an event to another stream
		if part > 0 {
			p, e := w.k.Prepare(cuda.Linear(part), cuda.Ptr(x), cuda.Val(uint32(0)), cuda.Val(uint32(part)))
			if e != nil {
				return e
			}
			for i := range 3 {
				if err := p.Set(1, cuda.Val(value+uint32(i)-2)); err != nil {
					return err
				}
				if err := p.Launch(s); err != nil {
					return err
				}
			}
			event, e := s.Record()
			if e != nil {
				return e
			}
			sc.Add(event)
			s = w.stream()
			err = s.WaitEvent(event)
		}
	case 2:
		err = x.Slice(0, part).FillAsync(s, value)
	case 3: // pinned memory
		p, e := cuda.AllocPinned[uint32](w.c, part, cuda.PinnedOptions{})
		if e != nil {
			return e
		}
		sc.Add(p)
		for i := range p.Data() {
			p.Data()[i] = value
		}
		if err := x.CopyFromAsync(s, p.PinnedView); err != nil {
			return err
		}
		err = s.Synchronize()
	case 4: // mistakes leave no trace
		for _, bad := range []error{
			w.k.Launch(s, cuda.Linear(1), cuda.Ptr(x), cuda.Val(value)),
			w.k.Launch(s, cuda.Linear(1), cuda.Ptr(x), cuda.Val(1.5), cuda.Val(uint32(1))),
			w.foreign.Launch(s, cuda.Linear(1), cuda.Ptr(x), cuda.Val(value), cuda.Val(uint32(1))),
			x.CopyFrom(make([]uint32, n+1)),
		} {
			if bad == nil {
				return errors.New("a mistake that nobody found")
			}
		}
		part = 0
	}
	if err != nil {
		return err
	}
	if err := s.Synchronize(); err != nil {
		return err
	}
	got, err := x.Download()
	if err != nil {
		return err
	}
	for i, v := range got {
		want := uint32(0)
		if i < part {
			want = value
		}
		if v != want {
			return fmt.Errorf("element %d of %d: %d, want %d", i, n, v, want)
		}
	}
	if w.r.IntN(4) == 0 {
		return x.CloseAsync(s)
	}
	return nil
}
