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
	// ((x+1)*2 three times; twice 5 and 7)
	if got, want := out.String(), "captured: [22 30 38 46]\nput together: [10 10 14 14]\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
