package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/silicon"
)

const from = "../../../testdata/silicon"

func open(t *testing.T, dir string) *silicon.Set {
	t.Helper()
	s, err := silicon.Open(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSubset writes a subset and compares every byte that its cases read or expect with the set it came from.
func TestSubset(t *testing.T) {
	to := t.TempDir()
	if err := run([]string{"-group", "int,mma,sreg", "-drop", "^int:add", "-blocks", "mma=1", from, to}); err != nil {
		t.Fatal(err)
	}
	whole, part := open(t, from), open(t, to)
	byID := map[string]*silicon.Case{}
	for i := range whole.Cases {
		byID[whole.Cases[i].ID] = &whole.Cases[i]
	}
	seen := map[string]int{}
	for i := range part.Cases {
		c := &part.Cases[i]
		w := byID[c.ID]
		seen[c.Group]++
		if w == nil || strings.HasPrefix(c.ID, "add") && c.Group == "int" {
			t.Errorf("%s should not be there", c.ID)
			continue
		}
		if c.Group == "mma" {
			if c.Grid[0] != 1 || c.N*2 != w.N {
				t.Errorf("%s: grid %v, n %d of %d", c.ID, c.Grid, c.N, w.N)
			}
		} else if c.N != w.N || c.Grid != w.Grid || c.Kind != w.Kind || c.PTX != w.PTX {
			t.Errorf("%s: %+v, was %+v", c.ID, c, w)
		}
		for j := range c.Outputs {
			got, want := part.Expected(&c.Outputs[j]), whole.Expected(&w.Outputs[j])
			if !bytes.HasPrefix(want, got) || c.Group != "mma" && len(got) != len(want) {
				t.Errorf("%s: output %d is not what it was", c.ID, j)
			}
		}
		for j, o := range c.Operands {
			if got := part.Input(o.Array); !bytes.HasPrefix(whole.Input(w.Operands[j].Array), got) ||
				len(got) < c.N*max(o.PerThread, 1) {
				t.Errorf("%s: input %s is not what it was", c.ID, o.Array)
			}
		}
		m, err := part.Module(c.Group)
		if err != nil {
			t.Fatal(err)
		}
		old, err := whole.Module(c.Group)
		if err != nil {
			t.Fatal(err)
		}
		if m.Kernels[c.Kernel] == "" || m.Kernels[c.Kernel] != old.Kernels[c.Kernel] {
			t.Errorf("%s: the kernel is not what it was", c.ID)
		}
	}
	if seen["mma"] != 102 || seen["sreg"] != 63 || seen["int"] == 0 || seen["int"] >= 128 || len(seen) != 3 {
		t.Errorf("%v", seen)
	}
	again := t.TempDir()
	if err := run([]string{"-group", "int,mma,sreg", "-drop", "^int:add", "-blocks", "mma=1", from,
		again}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(to, "*"))
	if err != nil || len(files) != 6 {
		t.Errorf("%v, %v", files, err)
	}
	for _, f := range files {
		a, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(again, filepath.Base(f)))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs when it is written again: %v", filepath.Base(f), err)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{from}, "two folders"},
		{[]string{"-blocks", "mma", from, "x"}, "GROUP=N"},
		{[]string{"-blocks", "mma=0", from, "x"}, "GROUP=N"},
		{[]string{"-drop", "(", from, "x"}, "missing closing"},
		{[]string{"-group", "cluster", "-blocks", "cluster=1", from, filepath.Join(t.TempDir(), "x")}, "clusters"},
		{[]string{t.TempDir(), "x"}, "index.json"},
	} {
		if err := run(c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.args, err, c.want)
		}
	}
}
