package check

import "strconv"

// rulesTensor are the rules of matrix instructions.
var rulesTensor = ruleSet{
	// Sparse forms: the selector picks the lanes of a quad that hold the metadata; how many there are depends on the
	// shape.
	"mmasp": func(ic *instCheck) string {
		f := ic.Arg("f")
		if f == nil || f.Kind != ArgImm {
			return "Arguments mismatch for instruction 'mma'"
		}
		n := uint64(spSelectors(ic.Match.Words, ic.Match.Types))
		if f.Imm >= n {
			return "Argument 5 of instruction 'mma.sp': unexpected value '" + strconv.FormatUint(f.Imm, 10) +
				"', expected to be in range [0.." + strconv.FormatUint(n-1, 10) + "]"
		}
		return ""
	},
	"mma": func(ic *instCheck) string { return "" },
	"wmmasat": func(ic *instCheck) string {
		if ic.Has("satfinite") && ic.Target.PTX >= 65 {
			return "Instruction ''wmma.mma' with floating point type' with '.satfinite' is not supported starting from PTX ISA version 6.5"
		}
		return ""
	},
	"matmove": func(ic *instCheck) string { return "" },
	"wmmaint": func(ic *instCheck) string {
		if t := ic.Match.Types; t[1] != t[2] {
			return "Unexpected instruction types specified for 'wmma.mma'"
		}
		return ""
	},
	"wgmma": func(ic *instCheck) string {
		if t := ic.Match.Types; len(t) == 3 && t[0] == "s32" && t[1] != t[2] {
			feature := "WGMMA with mixed integer types"
			if ic.Has("sp") {
				feature = "Sparse " + feature
			}
			if text := ic.NeedPTX(feature, 84); text != "" {
				return text
			}
		}
		for _, name := range []string{"sa", "sb"} {
			if a := ic.Arg(name); a != nil && a.Kind == ArgImm && a.Imm&0xffffffff != 1 &&
				a.Imm&0xffffffff != 0xffffffff {
				return "Scale of instruction 'wgmma.mma_async' must be 1 or -1"
			}
		}
		for _, name := range []string{"ta", "tb"} {
			if a := ic.Arg(name); a != nil && a.Kind == ArgImm && a.Imm&0xffffffff > 1 {
				return "Transpose operand of instruction 'wgmma.mma_async' must be 0 or 1"
			}
		}
		return ""
	},
}

// spSelectors is the number of sparsity selectors of an mma.sp shape (PTX ISA 9.7.14.6.1).
func spSelectors(words, types []string) int {
	shape := ""
	for _, w := range words {
		if len(w) > 2 && w[0] == 'm' && w[1] >= '0' && w[1] <= '9' {
			shape = w
		}
	}
	elem := ""
	if len(types) > 1 {
		elem = types[1]
	}
	switch elem {
	case "f16", "bf16":
		if shape == "m16n8k16" {
			return 4
		}
		return 2
	case "tf32":
		if shape == "m16n8k8" {
			return 4
		}
		return 2
	case "u8", "s8":
		if shape == "m16n8k32" {
			return 2
		}
	case "u4", "s4":
		if shape == "m16n8k64" {
			return 2
		}
	}
	return 1
}
