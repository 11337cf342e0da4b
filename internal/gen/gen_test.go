package main

import (
	"slices"
	"testing"
)

// The files in the repository are what the generator makes from the JSON.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	if err := run("../..", true); err != nil {
		t.Fatal(err)
	}
}

// Every parameter of every function has words, and every line of the words has a parameter.
func TestWords(t *testing.T) {
	m, err := load("../../api")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range m.Funcs {
		for _, p := range f.Params {
			n++
			if _, err := m.Words.of(f, p); err != nil {
				t.Error(err)
			}
		}
	}
	left := m.Words.unused()
	slices.Sort(left)
	for _, key := range left {
		t.Errorf("no parameter needs the words of %s", key)
	}
	t.Logf("%d parameters of %d functions, %d lines", n, len(m.Funcs), len(m.Words.text))
}

func TestStarred(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"cuMem*", "cuMemAlloc_v2", true}, {"cuMem*", "cuMem", true}, {"cuMem*", "cuArrayCreate", false},
		{"cuMem*Async", "cuMemcpyAsync", true}, {"cuMem*Async", "cuMemcpyAsync_v2", false},
		{"cuGraph*Get*", "cuGraphNodeGetType", true}, {"cuGraph*Get*", "cuGraphNodeSetParams", false},
		{"cuA*B*", "cuAB", true}, {"cuInit", "cuInit", true}, {"cuInit", "cuInit2", false},
	} {
		if got := starred(c.pattern, c.name); got != c.want {
			t.Errorf("%s, %s: %t", c.pattern, c.name, got)
		}
	}
}
