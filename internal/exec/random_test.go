package exec_test

import (
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

func TestRandomPrograms(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 60
	}
	exectest.ComparePrograms(t, interp.New(), n)
}
