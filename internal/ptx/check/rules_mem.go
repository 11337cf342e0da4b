package check

import "github.com/gocuda/cuda/internal/ptx/optab"

// rulesMem are the rules of loads, stores and atomics.
var rulesMem = ruleSet{
	"ld": func(ic *instCheck) string { return vectorAccess(ic) },
	"st": func(ic *instCheck) string { return vectorAccess(ic) },
}

// vectorAccess refuses vectors of more than 128 bits, which need sm_100, and cache hints without their policy.
func vectorAccess(ic *instCheck) string {
	n := 1
	switch {
	case ic.Has("v2"):
		n = 2
	case ic.Has("v4"):
		n = 4
	case ic.Has("v8"):
		n = 8
	}
	t, _ := optab.TypeOf(ic.Match.Types[len(ic.Match.Types)-1])
	wide := n*t.Bits == 256 && t.Bits >= 32
	if e := ic.One("L2::evict_last", "L2::evict_first", "L2::evict_normal"); e != "" && !wide {
		return "Instruction '" + ic.AST.Name + "' requires '.v8.b32/.v4.b64' type with '." + e + "' modifier."
	}
	if n*t.Bits > 128 || n == 8 {
		if wide && ic.Target.SM < 100 {
			return "Feature '256 bit wide load/store' requires .target sm_100 or higher"
		}
		if !wide {
			return "Vector type too large, exceeds 128 bit limit"
		}
	}
	if ic.Has("L2::cache_hint") != (ic.Arg("p") != nil) {
		return "Arguments mismatch for instruction '" + ic.AST.Name + "'"
	}
	return ""
}
