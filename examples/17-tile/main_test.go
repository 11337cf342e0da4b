package main

import (
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
			if got, want := out.String(), "100 rows, right to 1e-6: true\n"; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
