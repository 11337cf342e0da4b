package soak

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/internal/conform/sequence"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/ptxgen"
	"github.com/gocuda/cuda/internal/ptxgen/answer"
	"github.com/gocuda/cuda/internal/skip"
	"github.com/gocuda/cuda/internal/softdev"
)

var (
	soak   = flag.Duration("soak", 5*time.Second, "how long TestSoak runs")
	seed   = flag.Uint64("seed", 1, "where its random programs begin")
	report = flag.Duration("report", time.Minute, "how often it says how far it is")
)

// TestSoak runs generated kernels on all engines, sequences of API calls by several threads, and kernels that fault,
// are stopped or are waited for in streams and graphs, all in one process with a collector that runs nearly always. At
// the end the process may hold no more memory, goroutines or mappings than after a third of the time. CONTRIBUTING.md
// has the command of the long run.
func TestSoak(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	ctx, cancel := context.WithTimeout(context.Background(), *soak)
	defer cancel()
	s := &soaker{ctx: ctx, seeds: *seed}
	var wg sync.WaitGroup
	for _, work := range []func() error{s.programs, s.programs, s.sequences, s.sequences, s.kernels, s.kernels} {
		wg.Go(func() {
			if err := work(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
				cancel()
			}
		})
	}
	ended := make(chan struct{})
	go func() { wg.Wait(); close(ended) }()
	// What is held is looked at while everybody stands still.
	var settled, last usage
	begin, tick := time.Now(), time.NewTicker(min(*report, *soak/9+time.Millisecond))
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-tick.C:
			s.gate.Lock()
			if ctx.Err() != nil { // everything is being closed
				s.gate.Unlock()
				continue
			}
			u := measure()
			s.gate.Unlock()
			t.Logf("%v: %v; %v", time.Since(begin).Round(time.Second), &s.counts, u)
			// a short run on a busy machine may have no look at all before
			if settled.heap == 0 || time.Since(begin) < *soak/3 {
				settled = u
			}
			last = u
		}
	}
	t.Logf("%v; after a third: %v; at the end: %v", &s.counts, settled, last)
	if c := &s.counts; c.programs.Load() == 0 || c.calls.Load() == 0 || c.kernels.Load() == 0 || c.faults.Load() == 0 ||
		c.stopped.Load() == 0 {
		t.Error("not everything has run")
	}
	if settled.heap == 0 {
		t.Fatal("nothing was measured")
	}
	if last.goroutines > settled.goroutines+8 {
		t.Errorf("%d goroutines, %d after a third", last.goroutines, settled.goroutines)
	}
	if last.heap > settled.heap+settled.heap/4+(4<<20) {
		t.Errorf("a heap of %d bytes, %d after a third", last.heap, settled.heap)
	}
	if last.mappings > settled.mappings+settled.mappings/4+32 {
		t.Errorf("%d mappings, %d after a third", last.mappings, settled.mappings)
	}
	// The race detector keeps what it has seen in memory of its own (docs/robustness.md): there the heap and the
	// mappings are judged alone.
	if !skip.Race && last.resident > settled.resident+settled.resident/4+(32<<20) {
		t.Errorf("%d bytes resident, %d after a third", last.resident, settled.resident)
	}
}

// soaker is what the goroutines of a soak share.
type soaker struct {
	ctx    context.Context
	seeds  uint64
	gate   sync.RWMutex // held for writing while nobody may work
	counts counts
}

type counts struct{ programs, sequences, calls, kernels, faults, stopped, graphs atomic.Int64 }

func (c *counts) String() string {
	return fmt.Sprintf("%d generated programs, %d sequences of %d calls, %d kernels, %d faults, %d stopped, %d graphs",
		c.programs.Load(),
		c.sequences.Load(), c.calls.Load(), c.kernels.Load(), c.faults.Load(), c.stopped.Load(), c.graphs.Load())
}

// each calls f until the time is over, and lets it be looked at between two calls.
func (s *soaker) each(f func(r *rand.Rand, n uint64) error) error {
	n := atomic.AddUint64(&s.seeds, 1<<32)
	r := rand.New(rand.NewPCG(n, 1))
	for s.ctx.Err() == nil {
		n++
		s.gate.RLock()
		err := f(r, n&(1<<32-1))
		s.gate.RUnlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// programs compares what the interpreter and machine code make of generated programs.
func (s *soaker) programs() error {
	var runners []*answer.Runner
	for _, name := range []string{"interpreter", "auto"} {
		d, err := softdev.New(softdev.Options{EngineName: name, Stdout: io.Discard, Stderr: io.Discard, Recover: true,
			Memory: 1 << 30})
		if err != nil {
			return err
		}
		defer d.Close()
		r := &answer.Runner{T: d.Table(), Detail: d.LastDetail}
		if c := r.T.Init(0, 0); c != driver.CUDA_SUCCESS {
			return fmt.Errorf("cuInit: %v", c)
		}
		if c := r.T.CtxCreate_v2(0, &r.Ctx, 0, 0); c != driver.CUDA_SUCCESS {
			return fmt.Errorf("cuCtxCreate: %v", c)
		}
		runners = append(runners, r)
	}
	return s.each(func(_ *rand.Rand, n uint64) error {
		p := ptxgen.Generate(n)
		a, b := runners[0].Run(p), runners[1].Run(p)
		if a.Load != driver.CUDA_SUCCESS || a.Run != driver.CUDA_SUCCESS || a.Load != b.Load || a.Run != b.Run ||
			!bytes.Equal(a.Out, b.Out) {
			return fmt.Errorf("generated program %d: interpreter %v %v, machine code %v %v, output equal: %t", n,
				a.Load, a.Run, b.Load, b.Run, bytes.Equal(a.Out, b.Out))
		}
		s.counts.programs.Add(1)
		return nil
	})
}

// sequences makes sequences of API calls, ended handles among them, in two threads over the same handles.
func (s *soaker) sequences() error {
	return s.each(func(_ *rand.Rand, n uint64) error {
		steps := sequence.Generate(n, sequence.Options{Length: 40, Threads: 1, Undefined: true})
		d, err := softdev.New(softdev.Options{Stdout: io.Discard, Stderr: io.Discard})
		if err != nil {
			return err
		}
		m := sequence.NewMachine(d.Table())
		var wrong atomic.Pointer[string]
		var wg sync.WaitGroup
		for thread := 1; thread <= 2; thread++ {
			wg.Go(func() {
				for _, step := range steps {
					c := step.Call
					if strings.HasPrefix(c.Fn, "cuStreamWaitValue") {
						continue // another thread may have changed what it waits for
					}
					c.Thread = thread
					if a := m.Do(c); strings.HasPrefix(a, "WRONG") {
						text := fmt.Sprintf("sequence %d: %v: %s", n, c, a)
						wrong.Store(&text)
					}
					s.counts.calls.Add(1)
				}
			})
		}
		wg.Wait()
		m.Close()
		s.counts.sequences.Add(1)
		if w := wrong.Load(); w != nil {
			return errors.New(*w)
		}
		return d.Close()
	})
}

// The kernels of kernels: sums, an access outside, one that never ends, one that is told to trap.
const kernelsPTX = `.version 8.0
.target sm_80
.address_size 64
.visible .entry sums(.param .u64 out, .param .u32 rounds)
{
	.reg .pred p; .reg .b32 r<5>; .reg .b64 q<3>;
	ld.param.u64 q0, [out]; ld.param.u32 r0, [rounds];
	mov.u32 r1, %%ctaid.x; mov.u32 r2, %%ntid.x; mov.u32 r3, %%tid.x; mad.lo.u32 r1, r1, r2, r3;
	mov.u32 r4, %d;
L:	mad.lo.u32 r4, r4, 1664525, r1; sub.u32 r0, r0, 1; setp.ne.u32 p, r0, 0; @p bra L;
	mul.wide.u32 q1, r1, 4; add.u64 q0, q0, q1; st.global.u32 [q0], r4; ret;
}
.visible .entry outside(.param .u64 p) { .reg .b64 q; ld.param.u64 q, [p]; st.global.u64 [q+1125899906842624], q; ret; }
.visible .entry forever() { .reg .b32 r; mov.u32 r, 0; L: add.u32 r, r, 1; bra L; }
.visible .entry stop() { trap; }
`

// kernels runs kernels whose results are known through package cuda: in streams, graphs, with faults and stopped.
func (s *soaker) kernels() error {
	sys, err := cuda.Open(cuda.WithSoftware(), cuda.WithRecovery(), cuda.WithOutput(io.Discard))
	if err != nil {
		return err
	}
	err = s.each(func(r *rand.Rand, n uint64) error { return s.context(sys, r, n) })
	return errors.Join(err, sys.Close())
}

// context does everything in a context of its own.
func (s *soaker) context(sys *cuda.System, r *rand.Rand, n uint64) (err error) {
	c, err := sys.Devices()[0].NewContext(0)
	if err != nil {
		return err
	}
	var open []io.Closer
	defer func() {
		for i := len(open) - 1; i >= 0; i-- {
			open[i].Close() // what a broken context answers is its fault
		}
		err = errors.Join(err, c.Close())
	}()
	start := uint32(n)
	if r.IntN(3) == 0 {
		start = 3 // known from before
	}
	m, err := c.Load([]byte(fmt.Sprintf(kernelsPTX, start)))
	if err != nil {
		return err
	}
	open = append(open, m)
	st, err := c.NewStream(cuda.StreamOptions{})
	if err != nil {
		return err
	}
	open = append(open, st)
	grid, block, rounds := 1+r.IntN(40), 1+r.IntN(256), 1+r.IntN(60)
	out, err := cuda.Alloc[uint32](c, grid*block)
	if err != nil {
		return err
	}
	open = append(open, out)
	kernel := func(name string) *cuda.Kernel {
		k, e := m.Kernel(name)
		err = errors.Join(err, e)
		return k
	}
	sums, outside, forever, stop := kernel("sums"), kernel("outside"), kernel("forever"), kernel("stop")
	if err != nil {
		return err
	}
	shape := cuda.LaunchConfig{Grid: cuda.Dim(grid), Block: cuda.Dim(block)}
	for range 1 + r.IntN(4) {
		if err := sums.Launch(st, shape, cuda.Ptr(out), cuda.Val(uint32(rounds))); err != nil {
			return err
		}
		if err := st.Wait(context.Background()); err != nil {
			return err
		}
		got, err := out.Download()
		if err != nil {
			return err
		}
		for i, g := range got {
			want := start
			for range rounds {
				want = want*1664525 + uint32(i)
			}
			if g != want {
				return fmt.Errorf("kernel of %d blocks of %d, %d rounds: thread %d has %#x, not %#x", grid, block,
					rounds, i, g, want)
			}
		}
		s.counts.kernels.Add(1)
	}
	if r.IntN(3) == 0 {
		g, err := st.Capture(func(st *cuda.Stream) error {
			for range 5 {
				if err := sums.Launch(st, shape, cuda.Ptr(out), cuda.Val(uint32(rounds))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		open = append(open, g)
		x, err := g.Instantiate()
		if err != nil {
			return err
		}
		open = append(open, x)
		if err := x.Launch(st); err != nil {
			return err
		}
		if err := st.Wait(context.Background()); err != nil {
			return err
		}
		s.counts.graphs.Add(1)
	}
	switch r.IntN(5) {
	case 0:
		return s.fails(c, cu.CUDA_ERROR_ILLEGAL_ADDRESS, outside.Launch(st, shape, cuda.Ptr(out)))
	case 1:
		return s.fails(c, cu.CUDA_ERROR_LAUNCH_FAILED, stop.Launch(st, shape))
	case 2:
		if err := forever.Launch(st, shape); err != nil {
			return err
		}
		short, cancel := context.WithTimeout(context.Background(), time.Duration(r.IntN(3000))*time.Microsecond)
		defer cancel()
		if err := c.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("a kernel that never ends: %v", err)
		}
		s.counts.stopped.Add(1)
	}
	return nil
}

// fails waits for a kernel that must end with a code.
func (s *soaker) fails(c *cuda.Context, want cu.CUresult, err error) error {
	if err == nil {
		err = c.Wait(context.Background())
	}
	if !errors.Is(err, want) {
		return fmt.Errorf("a kernel that fails: %v, not %v", err, want)
	}
	s.counts.faults.Add(1)
	return nil
}

// usage is what the process holds.
type usage struct {
	goroutines, mappings int
	heap, resident       uint64
}

func (u usage) String() string {
	return fmt.Sprintf("%d goroutines, %d mappings, %d KiB of heap, %d KiB resident", u.goroutines, u.mappings,
		u.heap>>10, u.resident>>10)
}

func measure() usage {
	var m runtime.MemStats
	var u usage
	for range 5 { // what ends ends a little later
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
	}
	debug.FreeOSMemory()
	runtime.ReadMemStats(&m)
	u = usage{goroutines: runtime.NumGoroutine(), heap: m.HeapAlloc}
	if b, err := os.ReadFile("/proc/self/maps"); err == nil {
		u.mappings = bytes.Count(b, []byte("\n"))
	}
	if b, err := os.ReadFile("/proc/self/statm"); err == nil {
		var size, pages uint64
		if _, err := fmt.Sscan(string(b), &size, &pages); err == nil {
			u.resident = pages * uint64(os.Getpagesize())
		}
	}
	return u
}
