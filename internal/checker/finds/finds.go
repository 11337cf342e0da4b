// Package finds has what the checks find in programs that are taken for right and that yet is no false alarm: the tests
// that run the checks over them know these, and docs/checker.md lists them.
package finds

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/checker"
)

// Find is a report that is true.
type Find struct {
	Set     string // corpus, client, ...
	Program string // in the set
	Kind    string // as reports name it
	Kernel  string // "" for none
	Why     string // the proof
}

//go:embed finds.txt
var text string

// List are the finds in a set of programs, all for "".
func List(set string) (list []Find) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) == 5 && (set == "" || f[0] == set) {
			list = append(list, Find{f[0], f[1], f[2], strings.TrimPrefix(f[3], "-"), f[4]})
		}
	}
	return list
}

// Index is the number of the find that a report of a program is, -1 for one that is a false alarm.
func Index(list []Find, program string, r *checker.Report) int {
	kernel := ""
	if len(r.Sites) > 0 {
		kernel = r.Sites[0].Kernel
	}
	return slices.IndexFunc(list, func(f Find) bool {
		return f.Program == program && f.Kind == r.Kind && f.Kernel == kernel
	})
}
