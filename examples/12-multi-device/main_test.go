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
	if got, want := out.String(), "total 4999950000\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
