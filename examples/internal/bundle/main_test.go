package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
)

// TestBundle builds the test program and runs it on the software device: every example is in it and passes.
func TestBundle(t *testing.T) {
	skip.Short(t, "compiles a program")
	skip.Command(t, "go")
	root := filepath.Join("..", "..", "..")
	out := filepath.Join(t.TempDir(), "examples.test.exe")
	if err := run(root, out); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(out, "-test.v")
	c.Env = append(os.Environ(), "GOCUDA_DEVICE=software")
	c.Dir = t.TempDir()
	msg, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	dirs, err := filepath.Glob(filepath.Join(root, "examples", "[0-9][0-9]-*"))
	if err != nil || len(dirs) < 12 {
		t.Fatalf("%d examples, %v", len(dirs), err)
	}
	for _, d := range dirs {
		name := filepath.Base(d)
		if !strings.Contains(string(msg), "--- PASS: TestExamples/"+name+"/") &&
			!strings.Contains(string(msg), "--- SKIP: TestExamples/"+name+"/") {
			t.Errorf("%s has not run:\n%s", name, msg)
		}
	}
}
