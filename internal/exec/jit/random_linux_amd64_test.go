package jit

import (
	"math/rand/v2"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
)

// TestRandomPrograms compares generated kernels on machine code with a thread by thread evaluation of their source.
func TestRandomPrograms(t *testing.T) {
	n := 400
	if testing.Short() {
		n = 60
	}
	d := exectest.Open(t)
	d.Engine = testEngine(t)
	run := 0
	var c exec.Counters
	for seed := range uint64(n) {
		p := exectest.Generate(rand.New(rand.NewPCG(seed, 1)))
		m := d.Load(p.Source)
		ref := exectest.NewReference(m.Module)
		if err := ref.Run(p.Grid, p.Block); exectest.TooLong(err) {
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
		if err := k.Run(exectest.Config{Grid: exectest.Dim(p.Grid), Block: exectest.Dim(p.Block), Workers: 1 + int(seed%3), Stack: 8192, Counters: &c, Quantum: []int32{0, 1, 2, 7}[seed&3]}, oa, ta); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p.Source)
		}
		if diff := ref.Compare(out, total); diff != "" {
			t.Fatalf("seed %d: %s\n%s", seed, diff, p.Source)
		}
		d.Free(oa)
		d.Free(ta)
		run++
	}
	t.Logf("%d programs agree; %d of %d warp instructions fell back", run, c.Fallbacks.Load(), c.WarpInstructions.Load())
}
