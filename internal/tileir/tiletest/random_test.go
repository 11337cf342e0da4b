package tiletest

import (
	"testing"

	"github.com/gocuda/cuda/internal/tileir"
)

// TestRandom: random programs are well formed, can be computed, and have all operations that the generator knows.
func TestRandom(t *testing.T) {
	for seed := range uint64(60) {
		p := Random(seed, 30)
		m, err := tileir.Parse(p.Code)
		if err == nil {
			err = m.Verify()
		}
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		out := make([]byte, p.OutBytes)
		const in, to = 1 << 32, 2 << 32
		err = Evaluate(m, p.Grid, []uint64{in, to}, func(a uint64, n int) []byte {
			switch {
			case a >= to && a+uint64(n) <= to+uint64(len(out)):
				return out[a-to:][:n]
			case a >= in && a+uint64(n) <= in+uint64(len(p.In)):
				return p.In[a-in:][:n]
			}
			return nil
		})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
