package main

import (
	"strings"
	"testing"
)

// TestRun: after 40 generations a glider is 10 cells to the right and 10 down, which is 2 down on a torus of 8 rows.
func TestRun(t *testing.T) {
	const want = `
................
................
...........#....
............#...
..........###...
................
................
................
`
	var out strings.Builder
	if err := run(&out, 40); err != nil {
		t.Fatal(err)
	}
	if got := "\n" + out.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
