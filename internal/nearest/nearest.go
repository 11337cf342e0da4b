// Package nearest finds which of a list of names somebody may have meant who wrote another.
package nearest

import (
	"slices"
	"strings"
)

// Sort sorts names so that those which are most like one come first: those that hold it whole, as the mangled name of a
// C++ function does, then by the number of characters that have to be added, removed, changed or exchanged with their
// neighbour; equals by the alphabet.
func Sort(name string, names []string) {
	type ranked struct {
		name     string
		distance int
	}
	all := make([]ranked, len(names))
	for i, n := range names {
		all[i] = ranked{n, distance(name, n)}
		if name != "" && strings.Contains(n, name) {
			all[i].distance = -1
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.name, b.name)
	})
	for i := range all {
		names[i] = all[i].name
	}
}

// Meant is the name that is so like another that it was probably meant, "" when there is none: it holds the other
// whole, or every third character at most is wrong.
func Meant(name string, names []string) string {
	if name == "" || len(names) == 0 {
		return ""
	}
	names = slices.Clone(names)
	Sort(name, names)
	best := names[0]
	if strings.Contains(best, name) || distance(name, best) <= (max(len(name), 3))/3 {
		return best
	}
	return ""
}

// longest bounds what is compared: the time of a comparison grows with the square.
const longest = 256

// distance is the number of characters to add, remove, change or exchange with their neighbour (optimal string
// alignment).
func distance(a, b string) int {
	extra := 0
	if len(a) > longest || len(b) > longest {
		extra = max(len(a), len(b)) - longest
		a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	}
	var before, row, next [longest + 1]int
	for j := range len(b) + 1 {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			d := row[j]
			if a[i] != b[j] {
				d++
			}
			d = min(d, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			next[j+1] = d
		}
		before, row = row, next
	}
	return row[len(b)] + extra
}
