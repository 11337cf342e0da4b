package jit

import (
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
)

// TestRecordedLanes holds machine code to what an H200 answered where lanes of a warp meet at one address, or are
// absent.
func TestRecordedLanes(t *testing.T) {
	eachISA(t, func(t *testing.T, e *engine) { exectest.ReplayLanes(t, "../exectest", e) })
}
