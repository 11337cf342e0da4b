package checker

import (
	"strings"
	"testing"
)

func TestSuppressions(t *testing.T) {
	race := &Report{Kind: Races, Sites: []Site{
		{Kernel: "bfs_level", Place: Place{Source: "/src/gpu/bfs.cu", SourceLine: 31, Line: 90}},
		{Kernel: "bfs_level", Place: Place{Source: "/src/gpu/bfs.cu", SourceLine: 50, Line: 99}},
	}}
	leak := &Report{Kind: Leaked, Memory: &Allocation{Made: Call{API: "cuMemAlloc", Func: "main.run", File: "/src/m.go",
		Line: 5}}}
	for _, c := range []struct {
		text       string
		race, leak bool
	}{
		{"", false, false},
		{"race", true, false},
		{"* # all", true, true},
		{"leak", false, true},
		{"race kernel=bfs_*", true, false},
		{"race kernel=dfs", false, false},
		{"race file=bfs.cu line=30-40", true, false},
		{"race file=*/bfs.cu ptx=99", true, false},
		{"race file=gpu/bfs.cu", false, false}, // the whole path has to fit
		{"race file=bfs.cu line=32-49", false, false},
		{"race line=31 ptx=99", false, false}, // of two places
		{"* func=main.* line=5", false, true},
		{"\n\nrace-equal\nleak kernel=x", false, false},
	} {
		list, err := ReadSuppressions(strings.NewReader(c.text))
		if err != nil {
			t.Fatalf("%q: %v", c.text, err)
		}
		for r, want := range map[*Report]bool{race: c.race, leak: c.leak} {
			log := NewLog(nil, list)
			x := *r
			log.Add(&x)
			if got := len(log.Reports()) == 0; got != want || log.Suppressed() == 1 != want {
				t.Errorf("%q leaves %s out: %v, want %v", c.text, r.Kind, got, want)
			}
		}
	}
	for text, want := range map[string]string{
		"race [": "line 1", "\nrace line=0": "line 2", "race line=5-x": "no range", "race kernel": "no condition",
		"race thread=3": "thread", "[": "[",
	} {
		if _, err := ReadSuppressions(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestParse(t *testing.T) {
	if c, err := Parse(" race ,sync", "", "leak"); err != nil || c != Race|Sync|Leak || c.String() != "race,sync,leak" {
		t.Errorf("%v, %v", c, err)
	}
	if c, err := Parse("all"); err != nil || c != All {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := Parse("races"); err == nil || !strings.Contains(err.Error(), "init") {
		t.Error(err)
	}
	for name, k := range kinds {
		if k.check == 0 || k.title == "" || k.severity == "" || strings.ContainsAny(name, " =#,") {
			t.Errorf("kind %q: %+v", name, k)
		}
	}
}
