package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRunTile runs, checks and traces a kernel in Tile IR, whose rows of ones have a softmax of 1/256.
func TestRunTile(t *testing.T) {
	root(t)
	image := "examples/17-tile/softmax.tileirbc"
	shape := []string{"i32:4", "i32:256", "i32:256", "i32:1"}
	line := slices.Concat([]string{image, "softmax", "--grid", "4", "f32[1024]=1"}, shape, []string{"f32[1024]"}, shape)
	run := append([]string{"run", "--device", "software"}, line...)
	out := works(t, run...)
	contains(t, "run", out, "kernel  softmax, grid 4, block 1", "changed argument 5, f32[1024]: 0.00390625 0.00390625")
	contains(t, "run --memcheck", works(t, append(run, "--memcheck")...), "0 errors")
	code, _, stderr := gocuda(append(run, "--block", "32")...)
	if code != 1 {
		t.Errorf("a block of 32: exit code %d", code)
	}
	contains(t, "a block of 32", stderr, "CUDA_ERROR_INVALID_VALUE", "[1 1 1] [128 1 1]")
	html := filepath.Join(t.TempDir(), "x.html")
	out = works(t, append([]string{"trace", "--top", "1000", "--html", html}, line...)...)
	contains(t, "trace", out, "softmax.py:")
	b, err := os.ReadFile(html)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "the page", string(b), "def softmax(") // the file beside the image
}
