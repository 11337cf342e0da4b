//go:build linux && cgo

package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
)

// TestAsserts: every call after a device assert gives what an H200's driver gave (testdata/python/asserts.txt), and
// standard error has its text. Two results are not the API's to say: whether the kernel has stopped when an event is
// recorded behind it, and what becomes of a module's handle when the module is gone (the driver gave
// CUDA_ERROR_INVALID_HANDLE and CUDA_ERROR_CONTEXT_IS_DESTROYED).
func TestAsserts(t *testing.T) {
	library(t)
	skip.Command(t, "python3")
	b, err := os.ReadFile("testdata/python/asserts.txt")
	if err != nil {
		t.Fatal(err)
	}
	type answers struct{ calls, texts []string }
	recorded := map[string]*answers{}
	var names []string
	for _, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		at := strings.IndexAny(line, ":|")
		if line[0] == '#' {
			continue
		}
		name, rest := line[:at], line[at+2:]
		if recorded[name] == nil {
			recorded[name] = new(answers)
			names = append(names, name)
		}
		if line[at] == '|' {
			recorded[name].texts = append(recorded[name].texts, rest)
		} else {
			recorded[name].calls = append(recorded[name].calls, rest)
		}
	}
	if len(names) != 15 {
		t.Errorf("%d cases", len(names))
	}
	every := 1
	if testing.Short() {
		every = 4
	}
	for i, name := range names {
		for j, engine := range engines {
			if (i+j)%every != 0 {
				continue
			}
			t.Run(name+"/"+engine, func(t *testing.T) {
				want := recorded[name]
				out := run(t, "", []string{"GOCUDA_ENGINE=" + engine}, "python3",
					append([]string{"testdata/python/asserts.py"}, strings.Fields(name)...)...)
				var got answers
				for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
					if strings.Contains(line, "Assertion") {
						got.texts = append(got.texts, line)
					} else {
						got.calls = append(got.calls, line)
					}
				}
				if len(got.texts) == 0 {
					t.Error("no text of the assert")
				}
				for _, line := range got.texts {
					if !slices.Contains(want.texts, line) {
						t.Errorf("%q, want one of %q", line, want.texts)
					}
				}
				if len(got.calls) != len(want.calls) {
					t.Fatalf("%d calls, want %d: %s", len(got.calls), len(want.calls), out)
				}
				gone := slices.Index(want.calls, "-- a new context 0")
				after := slices.Index(want.calls, "-- after 0")
				for i, w := range want.calls {
					switch g := got.calls[i]; {
					case g == w:
					case i < after && g == "cuEventRecord 710":
					case i > gone && g == "cuModuleGetFunction 400" && w == "cuModuleGetFunction 709":
					default:
						t.Errorf("call %d: %s, want %s", i, g, w)
					}
				}
			})
		}
	}
}
