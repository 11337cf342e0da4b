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
	const want = `context 0: 1 blocks counted
context 1: 2 blocks counted
together: 30, at one address: true
unloading the module alone is not permitted: true
`
	if got := out.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
