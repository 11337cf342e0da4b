package tileir

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/setfile"
	"github.com/gocuda/cuda/internal/skip"
)

// The recordings are modules with the text that NVIDIA's tileirdisasm 13.5.37 prints of them, and damaged or ill-typed
// modules with its verdict. Those in testdata are copied from the set beside the repository (../shared/tileir), without
// what this package has no use for.
const (
	kept    = "testdata"
	fullSet = "../../../shared/tileir"
)

var keep = flag.Bool("keep", false, "write testdata from ../shared/tileir")

// recordings is what the files of a set hold.
type recordings struct {
	Modules []struct {
		Name, Version string
		Code, Text    [2]int
	}
	Bad   []badModule
	Cases []struct {
		Module, Entry string
		Expect        struct{ Parameters [][2]uint64 }
	}
	modules, bad, texts []byte
}

// badModule is a module with the verdict of NVIDIA's reader, and its text where it is accepted.
type badModule struct {
	Kind, From, Reader, Error string
	Code, Text                [2]int
}

func read(t testing.TB, dir, name string) []byte {
	t.Helper()
	b, err := setfile.Read(name, os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func load(t testing.TB, dir string) *recordings {
	t.Helper()
	var r recordings
	var bad struct{ Modules json.RawMessage }
	for _, f := range []struct {
		name string
		to   any
	}{{"index.json", &r}, {"bad.json", &bad}} {
		if err := json.Unmarshal(read(t, dir, f.name), f.to); err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
	}
	if err := json.Unmarshal(bad.Modules, &r.Bad); err != nil {
		t.Fatal(err)
	}
	r.modules, r.bad, r.texts = read(t, dir, "modules.bin"), read(t, dir, "bad.bin"), read(t, dir, "texts.bin")
	if len(r.Modules) < 900 || len(r.Bad) < 700 {
		t.Fatalf("%d modules and %d damaged ones in %s", len(r.Modules), len(r.Bad), dir)
	}
	return &r
}

func cut(b []byte, at [2]int) []byte { return b[at[0] : at[0]+at[1]] }

// check parses, verifies and prints a module.
func check(b []byte) (text []byte, err error) {
	m, err := Parse(b)
	if err != nil {
		return nil, err
	}
	if err := m.Verify(); err != nil {
		return nil, err
	}
	return m.Text()
}

// TestText compares the text of every recorded module with NVIDIA's.
func TestText(t *testing.T) {
	r := load(t, kept)
	for _, m := range r.Modules {
		got, err := check(cut(r.modules, m.Code))
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		if want := cut(r.texts, m.Text); !bytes.Equal(got, want) {
			t.Errorf("%s: %s", m.Name, difference(got, want))
		}
	}
}

// difference shows the first line in which two texts differ.
func difference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range w {
		if i >= len(g) || g[i] != w[i] {
			g = append(g, "")
			return fmt.Sprintf("line %d\n got %s\nwant %s", i+1, g[min(i, len(g)-1)], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// TestDamaged compares the verdict on every damaged module, the message where it is refused and the text where it is
// accepted, with NVIDIA's. What differs is listed in testdata/differences.txt, with the reason; the list is exact.
func TestDamaged(t *testing.T) {
	r := load(t, kept)
	judge(t, "differences.txt", r.Bad, r.bad, r.texts)
}

// TestRules does the same for modules that break one rule or another, or are close to it.
func TestRules(t *testing.T) {
	var list struct{ Modules []badModule }
	if err := json.Unmarshal(read(t, kept, "rules.json"), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Modules) < 900 {
		t.Fatalf("%d modules", len(list.Modules))
	}
	judge(t, "ruledifferences.txt", list.Modules, read(t, kept, "rules.bin"), read(t, kept, "rulestexts.bin"))
}

func judge(t *testing.T, file string, modules []badModule, code, texts []byte) {
	want := differences(t, file)
	verdicts := 0
	for i, m := range modules {
		what := ""
		text, err := check(cut(code, m.Code))
		var e *Error
		switch {
		case err != nil && !errors.As(err, &e):
			t.Errorf("%d: %T is no *Error", i, err)
		case (err == nil) != (m.Reader == "accepted"):
			what = "verdict"
			verdicts++
		case err != nil && firstLine("error: "+e.Reference()) != m.Error: // one line was recorded
			what = "words"
		case err == nil && !bytes.Equal(text, cut(texts, m.Text)):
			what = "text"
		}
		if want[i] != what {
			t.Errorf("%d (%s of %s): differs in %q, testdata/%s says %q\n got %v\nwant %s %s", i, m.Kind, m.From, what,
				file, want[i], err, m.Reader, m.Error)
		}
		if e != nil && e.Offset > uint64(m.Code[1]) {
			t.Errorf("%d: offset %#x in %d bytes", i, e.Offset, m.Code[1])
		}
	}
	if same := float64(len(modules)-verdicts) / float64(len(modules)); same < 0.995 {
		t.Errorf("%d of %d verdicts differ", verdicts, len(modules))
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// differences reads the list: index, what differs, reason.
func differences(t *testing.T, file string) map[int]string {
	t.Helper()
	out := map[int]string{}
	for line := range strings.Lines(string(read(t, kept, file))) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(f) != 3 || f[2] == "" {
			t.Fatalf("%s: %q", file, line)
		}
		i, err := strconv.Atoi(f[0])
		if err != nil {
			t.Fatal(err)
		}
		out[i] = f[1]
	}
	return out
}

// TestLayout compares where parameters lie with what cuFuncGetParamInfo said of the same kernels on an H200.
func TestLayout(t *testing.T) {
	r := load(t, kept)
	code := map[string][2]int{}
	for _, m := range r.Modules {
		code[m.Name] = m.Code
	}
	if len(r.Cases) < 900 {
		t.Fatalf("%d cases", len(r.Cases))
	}
	for _, c := range r.Cases {
		m, err := Parse(cut(r.modules, code[c.Module]))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(m.Funcs, func(f *Func) bool { return f.Name == c.Entry })
		if i < 0 {
			t.Errorf("%s has no entry %s", c.Module, c.Entry)
			continue
		}
		var got [][2]uint64
		for _, p := range m.Funcs[i].Layout() {
			got = append(got, [2]uint64{p.Offset, p.Size})
		}
		if !slices.Equal(got, c.Expect.Parameters) {
			t.Errorf("%s %s: parameters at %v, want %v", c.Module, c.Entry, got, c.Expect.Parameters)
		}
	}
}

// TestKept compares testdata with the set that it was copied from.
func TestKept(t *testing.T) {
	if _, err := os.Stat(fullSet); err != nil {
		skip.Without(t, skip.Recordings, fullSet)
	}
	for name, b := range selection(t) {
		path := filepath.Join(kept, name+".gz")
		if *keep {
			var z bytes.Buffer
			w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression)
			w.Write(b)
			w.Close()
			if err := os.WriteFile(path, z.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(read(t, kept, name), b) {
			t.Errorf("%s is not what %s has: run go test ./internal/tileir -run TestKept -keep", path, fullSet)
		}
	}
}

// selection is what testdata keeps of the full set: all modules and texts, of the lists what the tests read.
func selection(t *testing.T) map[string][]byte {
	r := load(t, fullSet)
	out := map[string][]byte{}
	for _, name := range []string{"modules.bin", "bad.bin", "texts.bin"} {
		out[name] = read(t, fullSet, name)
	}
	for name, list := range map[string]map[string]any{"index.json": {"Modules": r.Modules, "Cases": r.Cases},
		"bad.json": {"Modules": r.Bad}} {
		b, err := json.MarshalIndent(list, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		out[name] = b
	}
	return out
}
