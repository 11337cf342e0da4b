package jit

import (
	"math/rand/v2"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
)

// TestRandomPrograms compares generated kernels on machine code with a thread by thread evaluation of their source.
func TestRandomPrograms(t *testing.T) { compareRandom(t, 400, exectest.Generate, 0, false) }

// TestRandomPlain does so for programs that run as whole CTAs.
func TestRandomPlain(t *testing.T) { compareRandom(t, 2000, exectest.GeneratePlain, 0, false) }

// TestRandomStops stops them anywhere, so that they end in code of single splits.
func TestRandomStops(t *testing.T) { compareRandom(t, 2000, exectest.GeneratePlain, 3, false) }

// TestRandomChecked leaves their accesses to a memory checker that allows them all.
func TestRandomChecked(t *testing.T) { compareRandom(t, 400, exectest.Generate, 0, true) }

func compareRandom(t *testing.T, n int, generate func(*rand.Rand) exectest.Program, probe int32, checked bool) {
	eachISA(t, func(t *testing.T, e *engine) { compareRandomOn(t, e, n, generate, probe, checked) })
}

func compareRandomOn(t *testing.T, e *engine, n int, generate func(*rand.Rand) exectest.Program, probe int32, checked bool) {
	if testing.Short() {
		n /= 7
	}
	d := exectest.Open(t)
	e.probe = probe
	d.Engine = e
	if checked {
		d.Mem.Check = func(uint64, uint64, bool) bool { return true }
	}
	run, whole := 0, 0
	var c exec.Counters
	for seed := range uint64(n) {
		p := generate(rand.New(rand.NewPCG(seed, 1)))
		m := d.Load(p.Source)
		ref := exectest.NewReference(m.Module)
		if err := ref.Run(p.Grid, p.Block); exectest.TooLong(err) {
			continue
		} else if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p.Source)
		}
		workers := 1 + int(seed%3)
		if probe != 0 {
			workers = 1
		}
		k, err := m.Kernel("k")
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p.Source)
		}
		oa, out := d.Alloc(int(8 * p.Grid * p.Block))
		ta, total := d.Alloc(4)
		if err := k.Run(exectest.Config{Grid: exectest.Dim(p.Grid), Block: exectest.Dim(p.Block), Workers: workers, Stack: 8192, Counters: &c, Quantum: []int32{0, 1, 2, 7}[seed&3]}, oa, ta); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p.Source)
		}
		if diff := ref.Compare(out, total); diff != "" {
			t.Fatalf("seed %d: %s\n%s", seed, diff, p.Source)
		}
		if c := k.Code.(*code); c.cta.made > 0 && c.cta.off == nil {
			whole++
		}
		d.Free(oa)
		d.Free(ta)
		run++
	}
	t.Logf("%d programs agree, %d as whole CTAs; %d of %d warp instructions fell back", run, whole, c.Fallbacks.Load(), c.WarpInstructions.Load())
}
