package interp_test

import (
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// TestApproxEvery compares kernels' results with an H200's by their hashes.
func TestApproxEvery(t *testing.T) { exectest.CompareApprox(t, interp.New()) }
