package lower_test

import (
	"encoding/binary"
	"flag"
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/tileir/lower"
	"github.com/gocuda/cuda/internal/tileir/tiletest"
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
	es := devices(t)
	failed := 0
	for seed := *firstSeed; seed < *firstSeed+uint64(n) && failed < 8; seed++ {
		p := tiletest.Random(seed, *size)
		m := verified(t, p.Code)
		l, err := lower.Module(m, lower.Options{})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		if *show {
			t.Logf("seed %d\n%s", seed, l.PTX)
		}
		cm, err := checked(l.PTX)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
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
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		for name, d := range es {
			from, data := d.Alloc(len(p.In))
			copy(data, p.In)
			to, got := d.Alloc(p.OutBytes)
			k, err := d.LoadChecked(cm).Kernel("k")
			if err == nil {
				err = k.Run(exectest.Config{Grid: p.Grid, Block: exectest.Dim(lower.Threads), Workers: 2, Sys: &system{d: d}, Stack: 4096}, from, to)
			}
			bad := 0
			if err != nil {
				t.Errorf("seed %d: %s: %v", seed, name, err)
				bad++
			}
			for i, o := range p.Outs {
				if at, a, b := differ(&o, got, want); at >= 0 && bad < 3 {
					t.Errorf("seed %d: %s: tile %d of %d, %v: element %d of %d is %#x, not %#x", seed, name, i, len(p.Outs), o.Kind, at, o.N, a, b)
					bad++
				}
			}
			failed += min(bad, 1)
			d.Free(from)
			d.Free(to)
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
		v, isFloat := value(typ, a)
		w, _ := value(typ, b)
		if !isFloat || v == v || w == w {
			return i, a, b
		}
	}
	return -1, 0, 0
}
