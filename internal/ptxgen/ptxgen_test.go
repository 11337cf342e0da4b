package ptxgen

import (
	"bytes"
	"testing"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// TestValid: programs are valid, and a seed always gives the same one.
func TestValid(t *testing.T) {
	n := uint64(600)
	if testing.Short() {
		n = 100
	}
	for _, seed := range []uint64{5096, 5503, 1001156} { // finds: a product that the last of many tries left
		if err := valid(Generate(seed).Text); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	mutants := 0
	for seed := range n {
		p, q := Generate(seed), Generate(seed)
		if p.Text != q.Text || !bytes.Equal(Input(seed), Input(seed)) {
			t.Fatalf("seed %d gives two programs", seed)
		}
		if err := valid(p.Text); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if p.Threads() > 256 || p.Threads()%32 != 0 || p.Rows == 0 || len(Input(seed)) != InputSize {
			t.Errorf("seed %d: %d threads, %d rows", seed, p.Threads(), p.Rows)
		}
		if valid(Mutant(seed).Text) != nil {
			mutants++
		}
	}
	if mutants < int(n/3) || mutants > int(n*19/20) {
		t.Errorf("%d of %d mutants are not valid", mutants, n)
	}
}

func valid(text string) error {
	m, err := ptx.Parse([]byte(text))
	if err == nil {
		_, err = check.Check(m, check.Options{SM: 90})
	}
	return err
}
