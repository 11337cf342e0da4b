package exectest

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec"
)

// ComparePrograms runs n generated programs on an engine, with several workers and with turns of several lengths, and
// compares what they store with a thread by thread evaluation of their source.
func ComparePrograms(t *testing.T, engine exec.Engine, n int) {
	t.Helper()
	d := Open(t)
	d.Engine = engine
	long, run := 0, 0
	for seed := range uint64(n) {
		p := Generate(rand.New(rand.NewPCG(seed, 1)))
		m := d.Load(p.Source)
		ref := NewReference(m.Module)
		if err := ref.Run(p.Grid, p.Block); TooLong(err) {
			long++
			continue
		} else if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p.Source)
		}
		k, err := m.Kernel("k")
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p.Source)
		}
		oa, out := d.Alloc(int(8 * p.Grid * p.Block))
		ta, total := d.Alloc(4)
		c := Config{Grid: Dim(p.Grid), Block: Dim(p.Block), Workers: 1 + int(seed%3), Stack: 8192,
			Quantum: []int32{0, 1, 2, 7}[seed&3]}
		var stop atomic.Bool
		c.Stop = &stop
		timer := time.AfterFunc(20*time.Second, func() { stop.Store(true) })
		err = k.Run(c, oa, ta)
		timer.Stop()
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p.Source)
		}
		if diff := ref.Compare(out, total); diff != "" {
			t.Fatalf("seed %d, %d workers, quantum %d: %s\n%s", seed, c.Workers, c.Quantum, diff, p.Source)
		}
		d.Free(oa)
		d.Free(ta)
		run++
	}
	if long > n/10 {
		t.Errorf("%d of %d programs took too long", long, n)
	}
	t.Logf("%d programs agree, %d were too long", run, long)
}
