package tiletest

import (
	"testing"

	"github.com/gocuda/cuda/internal/tileir"
)

// TestBuilder: what is built is well formed.
func TestBuilder(t *testing.T) {
	for name, f := range Hostile {
		m, err := tileir.Parse(f(50))
		if err == nil {
			err = m.Verify()
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
