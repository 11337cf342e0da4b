package cuda_test

import (
	"context"
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

var stressTime = flag.Duration("stress", 2*time.Second, "how long TestStress runs")

// TestStress: 64 goroutines with four streams each allocate, copy, launch, capture, load, make mistakes, break contexts
// of their own and close things, in two contexts of one system. Every result is checked; at the end nothing is open,
// the device has its memory back, no goroutine is left, and nothing has stopped.
//
//	go test -race -run TestStress -stress 1m .
func TestStress(t *testing.T) {
	const goroutines, streams = 64, 4
	before := runtime.NumGoroutine()
	sys := cudatest.System(t, cuda.WithRecovery(), cuda.WithoutChecks())
	primary, err := sys.Context(0)
	check(t, err)
	free, _, err := primary.MemoryInfo()
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
			w := worker{c: contexts[g%2], k: kernels[g%2], foreign: kernels[1-g%2],
				r: rand.New(rand.NewPCG(1, uint64(g)))}
			for i := range streams {
				s, err := w.c.NewStream(cuda.StreamOptions{NonBlocking: i == 0 || w.r.IntN(2) == 0})
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
	case <-time.After(*stressTime + time.Minute):
		buf := make([]byte, 1<<20)
		t.Fatalf("nothing moves any more:\n%s", buf[:runtime.Stack(buf, true)])
	}
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	t.Logf("%d rounds", rounds.Load())
	check(t, modules[0].Close())
	check(t, modules[1].Close())
	check(t, second.Close())
	if leaks := sys.Leaks(); len(leaks) != 1 { // the primary context
		t.Errorf("open: %v", leaks)
	}
	check(t, primary.Close())
	again, err := sys.Context(0) // a new one: contexts keep some memory for themselves
	check(t, err)
	now, _, err := again.MemoryInfo()
	check(t, err)
	if now < free && sys.Kind() == cuda.Software { // on a GPU others use the device too
		t.Errorf("%d bytes of device memory are missing", free-now)
	}
	check(t, again.Close())
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
	switch w.r.IntN(9) {
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
	case 5: // a graph, launched in another stream after the work of this one
		if part > 0 {
			s, err = w.graph(sc, s, x, value, part)
		}
	case 6: // a module of its own, unloaded when its kernel has run
		m, e := w.c.Load(kernelsPTX)
		if e != nil {
			return e
		}
		sc.Add(m)
		k, e := m.Kernel("fill")
		if e != nil {
			return e
		}
		if part > 0 {
			err = k.Launch(s, cuda.Linear(part), cuda.Ptr(x), cuda.Val(value), cuda.Val(uint32(part)))
		}
	case 7: // a host function, and a wait with an end that does not come
		called := make(chan struct{}, 1)
		if err := s.HostFunc(func() { called <- struct{}{} }); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		if err := s.Wait(ctx); err != nil {
			return err
		}
		if len(called) != 1 {
			return errors.New("the host function was not called")
		}
		part = 0
	case 8: // a context of its own is broken, now and then
		part = 0
		if w.r.IntN(4) == 0 && !cudatest.OnDriver() {
			err = w.broken()
		}
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

// graph captures a launch that fills the first part elements, and launches it. It returns the stream that the launch is
// in, one that is not disturbed by what others do in the default stream.
func (w *worker) graph(sc *cuda.Scope, s *cuda.Stream, x *cuda.Buffer[uint32], value uint32, part int) (*cuda.Stream,
	error) {
	t := w.streams[0]
	g, err := t.Capture(func(t *cuda.Stream) error {
		return w.k.Launch(t, cuda.Linear(part), cuda.Ptr(x), cuda.Val(value), cuda.Val(uint32(part)))
	})
	if err != nil {
		return s, err
	}
	sc.Add(g)
	exec, err := g.Instantiate()
	if err != nil {
		return s, err
	}
	sc.Add(exec)
	if w.r.IntN(2) == 0 {
		if _, err := t.Capture(func(t *cuda.Stream) error { return t.Synchronize() }); err == nil {
			return s, errors.New("a wait was captured")
		}
	}
	event, err := s.Record()
	if err != nil {
		return s, err
	}
	sc.Add(event)
	return t, errors.Join(t.WaitEvent(event), exec.Launch(t))
}

// broken breaks a context by a fault or by a wait that ends, and closes it.
func (w *worker) broken() (err error) {
	c, err := w.c.Device().NewContext(cuda.SchedAuto)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	m, err := c.Load(kernelsPTX)
	if err != nil {
		return err
	}
	x, err := cuda.Upload(c, []uint32{0})
	if err != nil {
		return err
	}
	want, name := cuda.ErrIllegalAddress, "wild"
	var args []cuda.Arg
	if w.r.IntN(2) == 0 {
		want, name, args = cuda.ErrLaunchTimeout, "forever", []cuda.Arg{cuda.Ptr(x)}
	}
	k, err := m.Kernel(name)
	if err != nil {
		return err
	}
	if err := k.Launch(nil, cuda.LinearBlock(64, 32), args...); err != nil {
		return err
	}
	wait := time.Minute
	if name == "forever" {
		wait = time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if err := c.Wait(ctx); !errors.Is(err, want) {
		return fmt.Errorf("kernel %s: %v, want %v", name, err, want)
	}
	for _, r := range []interface{ Close() error }{x, m} {
		if err := r.Close(); err != nil && !errors.Is(err, want) {
			return err
		}
	}
	return nil
}
