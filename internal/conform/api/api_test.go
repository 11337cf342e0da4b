package api

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/softdev"
)

// software runs a case on a software device of its own.
func software(t *testing.T, c Case) []string {
	t.Helper()
	d, err := softdev.New(softdev.Options{Stdout: io.Discard, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	c.Execute(d.Table(), t.TempDir(), &b)
	if err := d.Close(); err != nil {
		t.Errorf("%s: %v", c.Name, err)
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// recorded reads the driver's transcript.
func recorded(t *testing.T) *Transcript {
	t.Helper()
	f, err := os.Open("testdata/h200.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := ReadTranscript(f)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestTranscript: the software device gives the driver's line for every call of every case.
func TestTranscript(t *testing.T) {
	truth := recorded(t)
	used := make([]bool, len(Differences))
	reason := func(name string) bool {
		for i, d := range Differences {
			if d.Case == name || strings.HasPrefix(name, d.Case) && (strings.HasSuffix(d.Case, "/") || strings.HasSuffix(d.Case, "cuLink")) {
				used[i] = true
				return true
			}
		}
		return false
	}
	cases := Cases()
	lines, equal, different := 0, 0, 0
	seen := map[string]bool{}
	for _, c := range cases {
		seen[c.Name] = true
		want, ok := truth.Cases[c.Name]
		if !ok {
			t.Errorf("%s is not recorded", c.Name)
			continue
		}
		lines += len(want)
		w, g := compare(c.Name, want, software(t, c))
		switch {
		case w == "" && g == "":
			equal++
		case reason(c.Name):
			different++
		default:
			t.Errorf("\ndriver   %s\nsoftware %s", w, g)
		}
	}
	for name := range truth.Cases {
		if !seen[name] {
			t.Errorf("%s is recorded and no case", name)
		}
	}
	for i, d := range Differences {
		if !used[i] {
			t.Errorf("%s is listed as different and is equal", d.Case)
		}
	}
	t.Logf("%d cases with %d lines: %d equal, %d known to differ", len(cases), lines, equal, different)
}

// TestUndefined: what the table of undefined calls names is there.
func TestUndefined(t *testing.T) {
	truth := recorded(t)
	for name := range undefined {
		if truth.Cases[name] == nil {
			t.Errorf("%s is not recorded", name)
		}
	}
}

func TestMerge(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"x: f() -> A\n", "x: f() -> A\n", "x: f() -> A\n"},
		{"x: f() -> A\nx: g(1) -> B\nx: h() -> C\n", "x: f() -> A\nx: g(1) -> CRASH\n", "x: f() -> A\nx: g(1) -> VARIES\n"},
	} {
		if got := Merge(c.a, c.b); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
