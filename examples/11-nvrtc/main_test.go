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
	if strings.HasPrefix(out.String(), "no compiler library") {
		skip.Without(t, skip.NVRTC, strings.TrimSpace(out.String()))
	}
	if got, want := out.String(), "cubes: [1 8 27]\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
