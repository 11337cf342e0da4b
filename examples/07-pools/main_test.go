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
	if got, want := out.String(), "last value 4; 0 bytes in use, at some time 4 MiB or more: true\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
