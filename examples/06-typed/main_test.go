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
	if got, want := out.String(), "position {2 0 -2.5}, velocity {1 0 -2}\nposition {0 0 7.5}, velocity {0 0 -2}\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
