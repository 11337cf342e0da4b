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
	if got, want := out.String(), "the sum of 2*i+1 for i below 1000 is 1000000\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
