package main

import (
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "sum of squares 131340000; the slowest of 4 streams took less than a minute: true\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
