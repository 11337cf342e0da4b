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
	if got, want := out.String(), "0 3 2997\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
