package sequence

import (
	"strings"
	"testing"
)

// FuzzSequences: whatever the seed, every call is one that the interpreter can make, and the software device's process
// lives. Handles that are gone are used too.
func FuzzSequences(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed*7919, seed%2 == 0)
	}
	known := facts(f)
	f.Fuzz(func(t *testing.T, seed uint64, undefined bool) {
		steps := Generate(seed, Options{Length: 16, Threads: 3, Facts: known, Undefined: undefined})
		run(t, steps, func(i int, answer string) {
			if strings.HasPrefix(answer, "WRONG") {
				t.Errorf("%v: %s", steps[i].Call, answer)
			}
		})
	})
}
