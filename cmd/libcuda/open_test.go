//go:build linux && cgo

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/skip"
)

// How the library is found, opened and closed, what it is without its core, and which devices it shows.
func TestOpening(t *testing.T) {
	lib := library(t)
	bin := program(t, "plugin")
	elsewhere := t.TempDir()
	link := filepath.Join(elsewhere, "libcuda.so.1")
	if err := os.Symlink(filepath.Join(lib, "libcuda.so.1"), link); err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(t.TempDir(), "libcuda.so.1")
	b, err := os.ReadFile(filepath.Join(lib, "libcuda.so.1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(alone, b, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		name string
		env  []string
		want string // result and number of devices, each time
		says string
	}{
		{"by name", "libcuda.so.1", nil, "0 1", ""},
		{"by the other name", "libcuda.so", nil, "0 1", ""},
		{"by path", filepath.Join(lib, "libcuda.so"), []string{"LD_LIBRARY_PATH="}, "0 1", ""},
		{"through a link", link, []string{"LD_LIBRARY_PATH="}, "0 1", ""},
		{"core in the path", alone, nil, "0 1", ""},
		{"no core", alone, []string{"LD_LIBRARY_PATH="}, "303 0", "libgocuda.so"},
		{"two devices", "libcuda.so.1", []string{"GOCUDA_PROFILE=h200, a100"}, "0 2", ""},
		{"one of them visible", "libcuda.so.1", []string{"GOCUDA_PROFILE=h200,a100", "CUDA_VISIBLE_DEVICES=1"}, "0 1",
			""},
		{"none visible", "libcuda.so.1", []string{"CUDA_VISIBLE_DEVICES="}, "100 0", ""},
		{"no such engine", "libcuda.so.1", []string{"GOCUDA_ENGINE=steam"}, "100 0", "GOCUDA_ENGINE"},
		{"no such profile", "libcuda.so.1", []string{"GOCUDA_PROFILE=abacus"}, "100 0", "abacus"},
	} {
		out, err := start1(t, "", c.env, bin, c.name)
		if err != nil {
			t.Errorf("%s: %v\n%s", c.what, err, out)
			continue
		}
		n := 0
		for line := range strings.Lines(out) {
			if line == c.want+"\n" {
				n++
			} else if c.says == "" {
				t.Errorf("%s: %q, want %q", c.what, line, c.want)
			}
		}
		if n != 8 || !strings.Contains(out, c.says) {
			t.Errorf("%s: %d answers %q: %s", c.what, n, c.want, out)
		}
	}
}

// What a program sets in its environment before it first uses the device counts (os.environ of a Python script, say).
func TestEnvironment(t *testing.T) {
	bin := program(t, "environ")
	for _, c := range []struct {
		what string
		env  []string // that it is started with
		args []string
		want string
	}{
		{"nothing", []string{"GOCUDA_PROFILE=h200,a100"}, nil, "0 2\n"},
		{"set", nil, []string{"GOCUDA_PROFILE=h200,a100,l4"}, "0 3 h200,a100,l4\n"},
		{"another value", []string{"GOCUDA_PROFILE=h200", "CUDA_VISIBLE_DEVICES=0"},
			[]string{"GOCUDA_PROFILE=h200,l4", "CUDA_VISIBLE_DEVICES=1,0"}, "0 2 h200,l4 1,0\n"},
		{"removed", []string{"CUDA_VISIBLE_DEVICES="}, []string{"CUDA_VISIBLE_DEVICES"}, "0 1 -\n"},
		{"none visible", nil, []string{"CUDA_VISIBLE_DEVICES="}, "100 0 \n"},
	} {
		out, err := start1(t, "", c.env, bin, c.args...)
		if err != nil || out != c.want {
			t.Errorf("%s: %q, %v; want %q", c.what, out, err, c.want)
		}
	}
}

// The header is C++ too.
func TestHeader(t *testing.T) {
	skip.Command(t, "g++")
	cmd := exec.Command("g++", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-Ifront", "-x", "c++", "-")
	cmd.Stdin = strings.NewReader("#include \"zz_generated_cuda.h\"\nint main() { return cuInit(0); }\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestTrace(t *testing.T) {
	out := run(t, "", []string{"GOCUDA_TRACE=errors"}, program(t, "errors"))
	for _, want := range []string{"cuCtxSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS: illegal address: write of 4 bytes at 0x700000000000", "cuGLInit: CUDA_ERROR_OPERATING_SYSTEM"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in: %s", want, out)
		}
	}
}

// Every symbol survives a call with zeros, in every state of the driver, and a form with per-thread default stream
// answers as the plain one. What the plain ones answer is checked by TestConformance (cases zeros/).
func TestZeros(t *testing.T) {
	var names []string
	for s := range driver.Symbols() {
		if !s.Exported {
			continue
		}
		names = append(names, s.Name)
		if s.HasPTDS {
			names = append(names, s.Name+"_ptds")
		}
		if s.HasPTSZ {
			names = append(names, s.Name+"_ptsz")
		}
	}
	undocumented := driver.Undocumented()
	names = append(names, undocumented...)
	out := run(t, strings.Join(names, "\n"), nil, program(t, "zeros"))
	answers := map[string]string{}
	for line := range strings.Lines(out) {
		if name, results, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			answers[name] = results
		}
	}
	for _, name := range names {
		got, ok := answers[name]
		v := driver.PerThreadVariant(name)
		switch {
		case !ok:
			t.Errorf("%s: no answer", name)
		case v != "" && strings.Contains(name, "Capture"):
			// the legacy stream cannot be captured, the per-thread one can
		case v != "" && got != answers[strings.TrimSuffix(name, v)]:
			t.Errorf("%s: %s, without %s %s", name, got, v, answers[strings.TrimSuffix(name, v)])
		case slices.Contains(undocumented, name) && got != "801 801 801":
			t.Errorf("%s: %s, want CUDA_ERROR_NOT_SUPPORTED", name, got)
		}
	}
	t.Logf("%d symbols", len(names))
}
