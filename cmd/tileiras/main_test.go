package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/tileset"
)

func call(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(args, &out, &errs)
	return status, out.String(), errs.String()
}

// TestThrough hands a recorded module through with the options that cuTile Python 1.7 gives, and refuses what cannot
// be read.
func TestThrough(t *testing.T) {
	set, err := tileset.Open(os.DirFS("../../internal/tileir/lower/testdata"),
		os.DirFS("../../internal/tileir/testdata"))
	if err != nil {
		t.Fatal(err)
	}
	code, err := set.Code(set.Modules[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.bytecode"), filepath.Join(dir, "out.cubin")
	put := func(b []byte) {
		if err := os.WriteFile(in, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(out)
	}
	put(code)
	args := []string{in, "-o", out, "--gpu-name", "sm_90", "-O3", "--lineinfo", "--remark-format=yaml", "--remarks=all",
		"--remarks-output-file=" + filepath.Join(dir, "remarks.yaml")}
	if status, _, stderr := call(args...); status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, code) {
		t.Errorf("the output is not the input: %v", err)
	}
	newer := slices.Clone(code)
	newer[9] = 6 // 13.6
	for _, c := range []struct {
		name   string
		code   []byte
		args   []string
		status int
		words  string
	}{
		{"a newer version", newer, args, 3, "13.6"},
		{"a cut module", code[:len(code)/2], args, 3, "error: "},
		{"no bytecode", []byte("text"), args, 3, "error: "},
		{"no file", code, []string{filepath.Join(dir, "absent"), "-o", out}, 1, "absent"},
		{"no output", code, []string{in}, 1, "usage"},
		{"two inputs", code, []string{in, in, "-o", out}, 1, "two input files"},
		{"an unknown option", code, append([]string{"--fast"}, args...), 1, "--fast"},
		{"a preview feature", code, append([]string{"--preview=simt"}, args...), 1, "simt"},
		{"an option without its value", code, []string{in, "-o"}, 1, "needs a value"},
	} {
		put(c.code)
		status, _, stderr := call(c.args...)
		if status != c.status || !strings.Contains(stderr, c.words) {
			t.Errorf("%s: status %d: %s", c.name, status, stderr)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: there is an output", c.name)
		}
	}
}

// TestVersions: producers ask for both (cuTile Python takes the first for its cache; the second is as tileiras 13.5
// prints it).
func TestVersions(t *testing.T) {
	status, out, _ := call("--version")
	if status != 0 || !strings.Contains(out, "tileiras") || !strings.Contains(out, "13.5") {
		t.Errorf("--version: %d, %q", status, out)
	}
	if status, out, _ := call("--list-versions"); status != 0 || out != "13.1\n13.2\n13.3\n13.4\n13.5\n" {
		t.Errorf("--list-versions: %d, %q", status, out)
	}
}
