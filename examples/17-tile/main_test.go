package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/skip"
)

// The software device loads tile kernels always; NVIDIA's driver, where there is one, from CUDA 13.1 on.
func TestRun(t *testing.T) {
	for _, device := range []string{"software", "auto"} {
		t.Run(device, func(t *testing.T) {
			t.Setenv(env.Device, device)
			var out strings.Builder
			if err := run(&out); err != nil {
				t.Fatal(err)
			}
			if device == "auto" && strings.TrimSpace(out.String()) == tooOld {
				skip.Without(t, skip.NewerDriver, tooOld)
			}
			worst := 1.0
			if _, err := fmt.Sscanf(out.String(), "100 rows; the largest relative error is %g\n", &worst); err != nil ||
				worst > 1e-6 {
				t.Errorf("%q, %v: want at most 1e-6", out.String(), err)
			}
		})
	}
}
