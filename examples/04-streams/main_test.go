package main

import (
	"strings"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	const want = "sum of squares 131340000; the slowest of 4 streams took "
	took, ok := strings.CutPrefix(strings.TrimSpace(out.String()), want)
	if d, err := time.ParseDuration(took); !ok || err != nil || d <= 0 || d > time.Minute {
		t.Errorf("%q, want %q and less than a minute", out.String(), want)
	}
}
