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
	if got, want := out.String(), "0 of 10000 elements are wrong; in less than a minute: true; several blocks fit on a multiprocessor: true\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
