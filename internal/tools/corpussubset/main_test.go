package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/corpus"
)

const from = "../../../testdata/corpus"

// TestSubset writes a subset and compares launches and images with the set they came from.
func TestSubset(t *testing.T) {
	to := t.TempDir()
	if err := run([]string{from, to, "saxpy=default.fatbin,mode_size.fatbin", "h60_basic"}); err != nil {
		t.Fatal(err)
	}
	whole, part := corpus.Open(os.DirFS(from)), corpus.Open(os.DirFS(to))
	names, err := part.Names()
	if err != nil || len(names) != 2 {
		t.Fatalf("%v, %v", names, err)
	}
	for name, builds := range map[string][]string{"saxpy": {"ptx90", "default.fatbin", "mode_size.fatbin"},
		"h60_basic": {"ptx"}} {
		w, err := whole.Module(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := part.Module(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Files) != len(builds) {
			t.Errorf("%s: builds %v", name, m.Files)
		}
		for _, b := range builds {
			got, err := m.Image(b)
			if err != nil {
				t.Fatal(err)
			}
			want, err := w.Image(b)
			if err != nil || string(got) != string(want) {
				t.Errorf("%s, build %s is not what it was: %v", name, b, err)
			}
		}
		if !reflect.DeepEqual(m.Launches, w.Launches) {
			t.Errorf("%s: the launches are not what they were", name)
		}
	}
	b, err := os.ReadFile(filepath.Join(to, "modules", "saxpy", "manifest.json"))
	if err != nil || !json.Valid(b) || strings.Count(string(b), "\n{\"kernel\"") != 4 {
		t.Errorf("the manifest has not one line a launch: %v\n%s", err, b)
	}
	arrays, err := filepath.Glob(filepath.Join(to, "modules", "saxpy", "data", "*"))
	if err != nil || len(arrays) == 0 {
		t.Errorf("arrays %v, %v", arrays, err)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{from, "x"}, "at least one module"},
		{[]string{from, "x", "saxpie"}, "saxpie"},
		{[]string{from, "x", "saxpy=cubin52"}, "no build cubin52"},
	} {
		if err := run(c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.args, err, c.want)
		}
	}
}
