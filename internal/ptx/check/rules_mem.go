package check

import (
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// rulesMem are the rules of loads, stores and atomics.
var rulesMem = ruleSet{
	"ld":         ruleAccess,
	"st":         ruleAccess,
	"atomhint":   hintSpace,
	"entryspace": entrySpace,
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
	switch {
	case wide:
		const feature = "256 bit wide load/store"
		ic.c.need(ic.AST.Pos, feature, 88, 100)
		if space := accessSpace(ic); space != "" && space != "global" {
			ic.Errorf("global state space expected for feature '%s'", feature)
		}
	case n*t.Bits > 128 || n == 8:
		return "Vector type too large, exceeds 128 bit limit"
	}
	if ic.Has("L2::cache_hint") != (ic.Arg("p") != nil) {
		return "Arguments mismatch for instruction '" + ic.AST.Name + "'"
	}
	return ""
}

// ruleAccess: which modifiers go together and with which state spaces. The words and their order are those of ptxas
// 13.0 (testdata/ptxas.txt).
func ruleAccess(ic *instCheck) string {
	if text := vectorAccess(ic); text != "" {
		return text
	}
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	space := accessSpace(ic)
	cached := space == "" || space == "global"
	if !cached && ic.One("L2::64B", "L2::128B", "L2::256B") != "" {
		fault("State space incorrect for feature 'cache prefetching'")
	}
	volatile, order, scope := ic.Has("volatile"), ic.One("relaxed", "acquire", "release"),
		ic.One("cta", "cluster", "gpu", "sys")
	if e := ic.One("L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
		"L1::no_allocate"); e != "" {
		e = strings.TrimPrefix(e, "L1::")
		if !cached {
			fault("Modifier '.%s' cannot be applied to '.%s' space for instruction '%s'", e, space, ic.Name())
		}
		if op := ic.One("ca", "cg", "cs", "lu", "cv", "wb", "wt", "volatile"); op != "" {
			fault("%s", ic.Combined(e, op))
		}
	}
	if ordered := ic.One("volatile", "relaxed", "acquire", "release"); ordered != "" && !cached &&
		!strings.HasPrefix(space, "shared") {
		fault("Modifier '.%s' cannot be applied to '.%s' space", ordered, space)
	}
	switch {
	case volatile && scope != "":
		fault("%s", ic.Combined("volatile", scope))
	case order != "" && scope == "":
		fault("Modifier '.%s' requires scope with '%s' instruction", order, ic.Name())
	}
	if ic.Has("L2::cache_hint") && volatile {
		fault("%s", ic.Combined("L2::cache_hint", "volatile"))
	}
	if text := hintSpace(ic); text != "" {
		fault("%s", text)
	}
	if len(faults) > 0 {
		for _, f := range faults[1:] {
			ic.Errorf("%s", faults[0])
			faults[0] = f
		}
		return faults[0]
	}
	if ic.Type(0).Bits == 128 && scope == "sys" {
		return ic.NeedPTX(".b128 with .sys", 84)
	}
	return entrySpace(ic)
}

// entrySpace: .param::entry and .param::func came later than what uses them.
func entrySpace(ic *instCheck) string {
	if s := ic.One("param::entry", "param::func"); s != "" {
		return ic.NeedPTX(strings.TrimPrefix(s, "param"), 83)
	}
	return ""
}

// accessSpace is the state space as the instruction writes it, "" for generic addresses.
func accessSpace(ic *instCheck) string {
	return ic.One("const", "global", "local", "param", "param::entry", "param::func", "shared", "shared::cta",
		"shared::cluster")
}

// hintSpace: cache policies are for global memory.
func hintSpace(ic *instCheck) string {
	if space := accessSpace(ic); ic.Has("L2::cache_hint") && space != "" && space != "global" {
		return fmt.Sprintf("Modifier '.L2::cache_hint' cannot be applied to '.%s' space for instruction '%s'", space,
			ic.Name())
	}
	if ic.Type(0).Bits == 128 && ic.Has("sys") {
		return ic.NeedPTX(".b128 with .sys", 84)
	}
	return ""
}
