package check

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxPTX is the newest PTX ISA version that is understood, times ten: that of the recorded driver (CUDA 13.0).
const MaxPTX = 90

// NewestPTX is the newest PTX ISA version that a released compiler writes: that of CUDA 13.5. A module of a version
// between the two is one of MaxPTX if everything in it is known.
const NewestPTX = 95

// target is a value that .target accepts, with the first PTX version (times ten) that has it.
type target struct {
	sm   int
	ptx  int
	a, f int // first PTX version of the architecture-specific and family-specific variants, 0 for none
}

// targets are the architectures of PTX ISA 9.0, ".target" and "Release Notes".
var targets = []target{
	{10, 10, 0, 0}, {11, 10, 0, 0}, {12, 12, 0, 0}, {13, 12, 0, 0},
	{20, 20, 0, 0}, {21, 20, 0, 0}, {30, 30, 0, 0}, {32, 40, 0, 0}, {35, 31, 0, 0}, {37, 41, 0, 0},
	{50, 40, 0, 0}, {52, 41, 0, 0}, {53, 42, 0, 0}, {60, 50, 0, 0}, {61, 50, 0, 0}, {62, 50, 0, 0},
	{70, 60, 0, 0}, {72, 61, 0, 0}, {75, 63, 0, 0}, {80, 70, 0, 0}, {86, 71, 0, 0}, {87, 74, 0, 0}, {88, 90, 0, 0},
	{89, 78, 0, 0},
	{90, 78, 80, 0}, {100, 86, 86, 88}, {101, 86, 86, 88}, {103, 88, 88, 88}, {110, 90, 90, 90}, {120, 87, 87, 88},
	{121, 88, 88, 88},
}

func findTarget(sm int) *target {
	for i := range targets {
		if targets[i].sm == sm {
			return &targets[i]
		}
	}
	return nil
}

// parseTarget splits sm_90a into 90 and "a".
func parseTarget(word string) (sm int, suffix string, ok bool) {
	s, ok := strings.CutPrefix(word, "sm_")
	if !ok || s == "" {
		return 0, "", false
	}
	if c := s[len(s)-1]; c == 'a' || c == 'f' {
		suffix, s = s[len(s)-1:], s[:len(s)-1]
	}
	sm, err := strconv.Atoi(s)
	return sm, suffix, err == nil && sm > 0
}

// String returns the target as .target spells it.
func (t Target) String() string { return fmt.Sprintf("sm_%d%s", t.SM, t.Suffix) }

// family tells whether two architectures belong to one family: those that share the ten and, from sm_100 on, are named
// by the manual as one ("family-specific architectures": 100 and 103 and 101, 120 and 121).
func family(a, b int) bool { return a/10 == b/10 }

// Is reports whether the target is one that a list such as sm_90a or sm_100f names.
func (t Target) Is(names ...string) bool {
	for _, n := range names {
		sm, suffix, ok := parseTarget(n)
		if !ok {
			continue
		}
		switch suffix {
		case "a":
			if t.SM == sm && t.Suffix == "a" {
				return true
			}
		case "f":
			if t.SM >= sm && family(t.SM, sm) && t.Suffix != "" {
				return true
			}
		default:
			if t.SM == sm {
				return true
			}
		}
	}
	return false
}
