package lower_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/tileir"
	"github.com/gocuda/cuda/internal/tileir/lower"
	"github.com/gocuda/cuda/internal/tileir/tiletest"
	"github.com/gocuda/cuda/internal/tileset"
)

var (
	programs  = flag.Int("programs", 150, "run so many random programs")
	firstSeed = flag.Uint64("seed", 1, "the seed of the first random program")
	size      = flag.Int("size", 30, "operations of a random program, or so")
)

// TestRandom runs random programs in every engine: each gives what the evaluator of package tiletest computes.
func TestRandom(t *testing.T) {
	n := *programs
	if testing.Short() {
		n /= 4
	}
	for seed := *firstSeed; seed < *firstSeed+uint64(n) && !t.Failed(); seed++ {
		same(t, fmt.Sprint("seed ", seed), tiletest.Random(seed, *size))
	}
}

// same runs a program in every engine and compares what it writes with what the evaluator computes.
func same(t *testing.T, name string, p *tiletest.Program) {
	t.Helper()
	m := verified(t, p.Code)
	l, err := lower.Module(m, lower.Options{})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if *show {
		t.Logf("%s\n%s", name, l.PTX)
	}
	cm, err := checked(l.PTX)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	want := make([]byte, p.OutBytes)
	const in, out = 1 << 32, 2 << 32
	err = tiletest.Evaluate(m, p.Grid, []uint64{in, out}, func(a uint64, n int) []byte {
		switch {
		case a >= out && a+uint64(n) <= out+uint64(len(want)):
			return want[a-out:][:n]
		case a >= in && a+uint64(n) <= in+uint64(len(p.In)):
			return p.In[a-in:][:n]
		}
		return nil
	})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for engine, d := range devices(t) {
		from, data := d.Alloc(len(p.In))
		copy(data, p.In)
		to, got := d.Alloc(p.OutBytes)
		k, err := d.LoadChecked(cm).Kernel("k")
		if err == nil {
			err = k.Run(exectest.Config{Grid: p.Grid, Block: exectest.Dim(lower.Threads), Workers: 2,
				Sys: &system{d: d}, Stack: 4096}, from, to)
		}
		if err != nil {
			t.Errorf("%s: %s: %v", name, engine, err)
		}
		for i, o := range p.Outs {
			if at, a, b := differ(&o, got, want); at >= 0 {
				kind, _ := o.Type()
				t.Errorf("%s: %s: tile %d of %d, of %s: element %d of %d is %#x, not %#x", name, engine, i, len(p.Outs),
					kind, at, o.N, a, b)
				break
			}
		}
	}
}

// differ finds the first element that is not the same in both; NaNs are.
func differ(o *tiletest.Out, got, want []byte) (at int, a, b uint64) {
	typ, n := o.Type()
	for i := range o.N {
		var x, y [8]byte
		copy(x[:], got[o.At+i*n:][:n])
		copy(y[:], want[o.At+i*n:][:n])
		if x == y {
			continue
		}
		a, b = binary.LittleEndian.Uint64(x[:]), binary.LittleEndian.Uint64(y[:])
		v, isFloat := tileset.Value(typ, a)
		w, _ := tileset.Value(typ, b)
		if !isFloat || v == v || w == w {
			return i, a, b
		}
	}
	return -1, 0, 0
}

// TestConversions rounds floats of every kind to every other in all ways that the verifier takes and the lowering
// knows.
func TestConversions(t *testing.T) {
	kinds := []tileir.Kind{tileir.F16, tileir.BF16, tileir.F32, tileir.F64, tileir.TF32, tileir.F8E4M3FN, tileir.F8E5M2}
	n := 0
	for _, from := range kinds[:4] {
		for _, to := range kinds {
			for round := tileir.NearestEven; round <= tileir.NearestAway; round++ {
				p := tiletest.Converted(from, to, round)
				if m, err := tileir.Parse(p.Code); err != nil || m.Verify() != nil {
					continue
				}
				same(t, fmt.Sprintf("%s to %s, %v", (&tileir.Type{Kind: from}).String(),
					(&tileir.Type{Kind: to}).String(), round), p)
				n++
			}
		}
	}
	t.Logf("%d conversions", n)
	if n < 40 {
		t.Errorf("%d conversions", n)
	}
}

// TestTruth: floats become bools by whether they are zero.
func TestTruth(t *testing.T) {
	for _, from := range []tileir.Kind{tileir.F16, tileir.BF16, tileir.F32, tileir.F64} {
		same(t, (&tileir.Type{Kind: from}).String(), tiletest.Truth(from))
	}
}
