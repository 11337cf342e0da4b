package interp_test

import (
	"testing"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// TestRecordedLanes holds the interpreter to what an H200 answered where lanes of a warp meet at one address, or are
// absent.
func TestRecordedLanes(t *testing.T) { exectest.ReplayLanes(t, "../exectest", interp.New()) }
