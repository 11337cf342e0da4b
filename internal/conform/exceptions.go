package conform

import (
	"sort"
	"strings"
)

// Exceptions are recorded launches that the software device does not reproduce, with the reason: a module, or a module,
// a colon and a launch. They are counted as what they are, failed or not implemented, but do not fail a run; one that
// passes does, so that the list stays true. TestExceptions bounds the list to 5 % of the recorded launches.
func Exceptions() map[string]string {
	return map[string]string{}
}

// exception finds the entry for a launch, by the name that Options.Only takes.
func exception(list map[string]string, launch string) (key string, ok bool) {
	module, _, _ := strings.Cut(launch, ":")
	for _, k := range []string{launch, module} {
		if _, ok := list[k]; ok {
			return k, true
		}
	}
	return "", false
}

// sortedKeys lists the names of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
