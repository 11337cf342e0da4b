//go:build linux && cgo

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/cudatest"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/skip"
)

// TestPackageCuda runs the tests of package cuda and all examples over this library, as they run over NVIDIA's: the way
// through package nvidia is tested without a GPU.
func TestPackageCuda(t *testing.T) {
	skip.Short(t, "compiles programs")
	lib := library(t)
	dir := t.TempDir()
	env := []string{
		env.Driver + "=" + filepath.Join(lib, "libcuda.so.1"), cudatest.DeviceVariable + "=driver",
		env.Device + "=driver",
	}
	for _, p := range []struct {
		name string
		dir  string // that go test would run it in
		make []string
		args []string
	}{
		{"cuda", "../..", []string{"test", "-c", "-o", "OUT", "../.."}, []string{"-test.run=^Test"}},
		{"cudatest", "../../cudatest", []string{"test", "-c", "-o", "OUT", "../../cudatest"}, nil},
		{"examples", "", []string{"run", "../../examples/internal/bundle", "-root", "../..", "-o", "OUT"}, nil},
	} {
		t.Run(p.name, func(t *testing.T) {
			bin := filepath.Join(dir, p.name+".test")
			for i := range p.make {
				if p.make[i] == "OUT" {
					p.make[i] = bin
				}
			}
			build := exec.Command("go", p.make...)
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("go %s: %v\n%s", strings.Join(p.make, " "), err, out)
			}
			out, err := startIn(t, p.dir, "", env, bin, append(p.args, "-test.v")...)
			if err != nil || !strings.Contains(out, "--- PASS: ") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
