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
	if got, want := out.String(), "context 0: [2 4 6] after 1 launches; several blocks fit on a multiprocessor: true\ncontext 1: [100 200 300] after 2 launches; several blocks fit on a multiprocessor: true\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
