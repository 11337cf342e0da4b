package main

import (
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(out.String()) == tooOld {
		skip.Without(t, skip.DeviceFeature, tooOld)
	}
	if got, want := out.String(), "100 rows, right to 1e-6: true\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
