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
	if got, want := out.String(), "points: [{1 2} {-1 -1} {-1 -1} {7 8}]\nbox: [8 9 14 15]\npinned: {7 8}\nmanaged: [10 20 30]\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
