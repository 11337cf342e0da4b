package checker

import (
	"fmt"
	"slices"
	"strings"
)

// Checks are what is looked for while a program runs.
type Checks uint8

// The checks.
const (
	Memory Checks = 1 << iota // accesses outside of what is allocated, and wrong frees
	Race                      // accesses that nothing orders
	Init                      // use of memory that nobody wrote
	Sync                      // barriers, member masks, mbarriers, deadlocks
	Leak                      // memory that is left at the end
)

// All are all checks.
const All = Memory | Race | Init | Sync | Leak

var checkNames = []string{"memory", "race", "init", "sync", "leak"}

// CheckNames are the names of the checks, as Parse reads them.
func CheckNames() []string { return slices.Clone(checkNames) }

// Parse reads a list of checks with commas between them: names, or all.
func Parse(list ...string) (c Checks, err error) {
	for _, part := range list {
		for name := range strings.SplitSeq(part, ",") {
			switch name = strings.TrimSpace(name); name {
			case "":
			case "all":
				c |= All
			default:
				i := slices.Index(checkNames, name)
				if i < 0 {
					return 0, fmt.Errorf("there is no check %q: there are %s, and all", name,
						strings.Join(checkNames, ", "))
				}
				c |= 1 << i
			}
		}
	}
	return c, nil
}

// Has says whether any of the others is among the checks.
func (c Checks) Has(other Checks) bool { return c&other != 0 }

// String is the names with commas between them.
func (c Checks) String() string {
	var names []string
	for i, n := range checkNames {
		if c&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, ",")
}
