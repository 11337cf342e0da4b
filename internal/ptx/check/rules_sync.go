package check

import "fmt"

// rulesSync are the rules of warp-wide operations, barriers, fences and mbarrier objects.
var rulesSync = ruleSet{
	"unsynced":       ruleUnsynced,
	"redux":          ruleRedux,
	"bar":            ruleBar,
	"fenceproxy":     ruleFenceProxy,
	"fencetensormap": ruleFenceTensormap,
	"mbarrier":       ruleMbarrier,
	"alloca":         ruleAlloca,
}

// ruleUnsynced: shfl and vote lost their forms without a member mask (PTX ISA 9.7.9.5, "Target ISA Notes").
func ruleUnsynced(ic *instCheck) string {
	if ic.Target.SM >= 70 && ic.Target.PTX >= 64 {
		return fmt.Sprintf("Instruction '%s' without '.sync' is not supported on .target sm_70 and higher from PTX ISA version 6.4", ic.Name())
	}
	return ""
}

// wrongType is the text for a type that the instruction takes, but not with this operation.
func wrongType(name, op, typ string) string {
	return fmt.Sprintf("Incorrect type '.%s' for operation '.%s' in instruction '%s'", typ, op, name)
}

// ruleRedux: integers are added and compared, bits are combined.
func ruleRedux(ic *instCheck) string {
	op, typ := ic.One("add", "min", "max", "and", "or", "xor"), ic.Match.Type(0)
	good := false
	switch op {
	case "add":
		good = typ == "u32" || typ == "s32"
	case "min", "max":
		good = typ != "b32"
	default:
		good = typ == "b32"
	}
	if !good {
		return wrongType("redux", op, typ)
	}
	return ""
}

// ruleBar: a CTA has sixteen barriers; threads come in warps.
func ruleBar(ic *instCheck) string {
	if n, ok := ic.Imm("a"); ok && n > 15 {
		return fmt.Sprintf("Barrier number '%d' out of range, expected to be in range [0..15]", uint64(int64(int32(n))))
	}
	if n, ok := ic.Imm("b"); ok && n%32 != 0 {
		return "Number of threads participating in barrier must be in multiple of warp size"
	}
	return ""
}

// ruleFenceProxy: only the asynchronous proxy has parts by state space.
func ruleFenceProxy(ic *instCheck) string {
	if s := ic.One("global", "shared::cta", "shared::cluster"); s != "" && ic.Has("alias") {
		return ic.Combined(s, "alias")
	}
	if ic.Has("async") {
		if f := ic.NeedPTX("fence.proxy.async", 80); f != "" {
			return f
		}
		return ic.NeedSM("fence.proxy.async", 90)
	}
	return ""
}

// ruleFenceTensormap: the only size is that of a tensor map.
func ruleFenceTensormap(ic *instCheck) string {
	if n, _ := ic.Imm("b"); n != 128 {
		return fmt.Sprintf("Argument 1 of instruction 'fence': unexpected value '%d', expected to be 128", n)
	}
	return ""
}

// ruleMbarrier: a remote arrival returns no state; scopes other than the CTA, relaxed order and remote counts came with
// sm_90.
func ruleMbarrier(ic *instCheck) string {
	if ic.Has("shared::cluster") && ic.Arg("d") != nil && ic.Arg("d").Kind != ArgNone {
		return ic.Mismatch()
	}
	name := "mbarrier." + ic.One("expect_tx", "complete_tx", "arrive", "arrive_drop", "test_wait", "try_wait")
	for _, w := range ic.Match.Words[1:] {
		if w == "expect_tx" || w == "parity" {
			name += "." + w
		}
	}
	order, scope := ic.One("acquire", "release", "relaxed"), ic.One("cta", "cluster")
	if order != "" && order != "relaxed" && ic.Target.PTX < 80 {
		return fmt.Sprintf("Modifier '.%s' on '%s' requires PTX ISA .version 8.0 or later", order, name)
	}
	if order == "relaxed" && ic.Target.PTX < 86 && ic.Match.Words[0] != "expect_tx" &&
		ic.Match.Words[0] != "complete_tx" {
		return fmt.Sprintf("Modifier '.relaxed' on '%s' requires PTX ISA .version 8.6 or later", name)
	}
	switch {
	case order != "" && scope == "":
		return fmt.Sprintf("Modifier '.%s' requires scope with '%s' instruction", order, name)
	case order == "" && scope != "":
		return fmt.Sprintf("Modifier '.%s' requires order with '%s' instruction", scope, name)
	case scope != "":
		if f := ic.NeedPTX("scopes on mbarrier operations", 80); f != "" {
			return f
		}
	}
	if s := ic.One("cluster"); s != "" {
		if f := ic.NeedPTX("mbarrier with .cluster scope", 80); f != "" {
			return f
		}
		if f := ic.NeedSM("mbarrier with .cluster scope", 90); f != "" {
			return f
		}
	}
	if ic.Has("relaxed") && !ic.Has("expect_tx") && !ic.Has("complete_tx") {
		if f := ic.NeedPTX("mbarrier with .relaxed", 80); f != "" {
			return f
		}
		return ic.NeedSM("mbarrier with .relaxed", 90)
	}
	if !ic.Has("noComplete") && ic.One("arrive", "arrive_drop") != "" && ic.Arg("b") != nil && !ic.Has("expect_tx") {
		if f := ic.NeedPTX("mbarrier.arrive with count and without .noComplete", 78); f != "" {
			return f
		}
		return ic.NeedSM("mbarrier.arrive with count and without .noComplete", 90)
	}
	return ""
}

// ruleAlloca: alignments are powers of two up to 2^23 (PTX ISA 9.7.14.3).
func ruleAlloca(ic *instCheck) string {
	if n, ok := ic.Imm("n"); ok && (n == 0 || n&(n-1) != 0 || n > 1<<23) {
		return fmt.Sprintf("Argument 2 of instruction 'alloca': unexpected value '%d', expected to be a power of two up to 8388608", n)
	}
	return ""
}
