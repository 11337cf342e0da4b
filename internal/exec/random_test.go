package exec_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec/exectest"
)

// TestRandomPrograms compares generated kernels on the engine with a thread by thread evaluation of their source.
func TestRandomPrograms(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 60
	}
	d := exectest.Open(t)
	long, run := 0, 0
	for seed := range uint64(n) {
		p := exectest.Generate(rand.New(rand.NewPCG(seed, 1)))
		m := d.Load(p.Source)
		ref := exectest.NewReference(m.Module)
		if err := ref.Run(p.Grid, p.Block); exectest.TooLong(err) {
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
		workers := 1 + int(seed%3)
		start := time.Now()
		if err := k.Run(exectest.Config{Grid: exectest.Dim(p.Grid), Block: exectest.Dim(p.Block), Workers: workers, Stack: 8192, Quantum: []int32{0, 1, 2, 7}[seed&3]}, oa, ta); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p.Source)
		}
		if diff := ref.Compare(out, total); diff != "" {
			t.Errorf("seed %d, %d workers, %v: %s\n%s", seed, workers, time.Since(start), diff, p.Source)
			return
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
