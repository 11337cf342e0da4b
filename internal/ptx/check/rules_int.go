package check

import (
	"fmt"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

var rulesInt = ruleSet{
	"bitfield":   ruleBitfield,
	"intsat":     ruleIntSat,
	"intrelu":    ruleIntRelu,
	"signedonly": ruleSignedOnly,
	"carry":      ruleCarry,
	"lut":        ruleLUT,
	"compare":    ruleCompare,
	"slct":       ruleSlct,
	"video":      ruleVideo,
	"vmad":       ruleVmad,
	"simdvideo":  ruleSimdVideo,
}

// ruleIntSat: saturation of integers exists for s32 alone.
func ruleIntSat(ic *instCheck) string {
	if t := ic.Match.Type(0); ic.Has("sat") && t != "s32" {
		return fmt.Sprintf("Modifier '.sat' does not apply to '.%s' type", t)
	}
	return ""
}

// ruleIntRelu: .relu is for s32 and s16x2.
func ruleIntRelu(ic *instCheck) string {
	if t := ic.Match.Type(0); ic.Has("relu") && t != "s32" && t != "s16x2" {
		return fmt.Sprintf("Illegal modifier '.relu' for instruction '%s' with type '.%s'", ic.Name(), t)
	}
	return ""
}

func ruleSignedOnly(ic *instCheck) string {
	if ic.Type(0).Class != optab.Signed {
		return fmt.Sprintf("Instruction '%s' applies only to signed numeric types", ic.Name())
	}
	return ""
}

// ruleCarry: 32 bits since the beginning, 64 bits since PTX 4.3; never 16.
func ruleCarry(ic *instCheck) string {
	t := ic.Type(0)
	switch {
	case ic.Has("sat") && t.Name != "s32":
		return fmt.Sprintf("Modifier '.sat' does not apply to '.%s' type", t.Name)
	case ic.Has("sat"):
		return ic.Combined("cc", "sat")
	case t.Bits == 16:
		if ic.Has("cc") {
			return fmt.Sprintf("Modifier '.cc' applies only to %s integer types", ic.Name())
		}
		return ic.Types()
	case t.Bits == 64:
		return ic.NeedPTX(ic.Name()+" with 64-bit types", 43)
	}
	return ""
}

// ruleLUT: the table of three inputs has eight entries.
func ruleLUT(ic *instCheck) string {
	if n, _ := ic.Imm("lut"); n > 255 {
		return fmt.Sprintf("Argument 4 of instruction 'lop3': unexpected value '%d', expected to be in the range 0..255", n)
	}
	return ""
}

// ruleCompare: which comparison goes with which type (PTX ISA 9.3.1), .ftz, and the second predicate.
func ruleCompare(ic *instCheck) string {
	t := ic.Type(len(ic.Match.Types) - 1)
	mismatch := "Mismatch between instruction type and comparison qualifier"
	if d := ic.Match.Type(0); ic.Has("ftz") && (t.Name != "f32" && t.Name != "f16" && t.Name != "f16x2" ||
		d == "bf16") {
		return ic.Illegal("ftz")
	}
	switch t.Class {
	case optab.Bits:
		if ic.One("eq", "ne") == "" {
			return mismatch
		}
	case optab.Unsigned:
		if ic.One("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs") == "" {
			return mismatch
		}
	case optab.Signed:
		if ic.One("eq", "ne", "lt", "le", "gt", "ge") == "" {
			return mismatch
		}
	default:
		if ic.One("lo", "ls", "hi", "hs") != "" {
			return mismatch
		}
	}
	if d := ic.Arg("d"); d.Second != nil && (t.Name == "f16" || t.Name == "bf16") {
		return fmt.Sprintf("Predicate output not allowed for instruction '%s'", ic.Name())
	}
	return ""
}

// ruleSlct: .ftz is about an f32 selector.
func ruleSlct(ic *instCheck) string {
	if ic.Has("ftz") && ic.Match.Type(1) != "f32" {
		return ic.Illegal("ftz")
	}
	return ""
}

// missInt words what no form fits, where the driver's order differs: it names a modifier that the instruction never has
// before it looks at types (silicon/rejected.json.gz).
var missInt = map[string]missRule{
	"add": missIntOf("add"), "sub": missIntOf("sub"), "mul": missIntOf("mul"), "mad": missIntOf("mad"),
	"mad24": missIntOf("mad24"),
	"neg":   missIntOf("neg"), "abs": missIntOf("abs"), "min": missIntOf("min"), "max": missIntOf("max"),
	"lop3": func(_ *checker, words []string) string {
		if len(words) > 0 && words[0] != "and" && words[0] != "or" && !optab.IsType(words[0]) {
			return fmt.Sprintf("Illegal operation '.%s' for instruction 'lop3'", words[0])
		}
		return ""
	},
}

func missIntOf(name string) missRule {
	return func(_ *checker, words []string) string {
		has, types := newWordSet(words)
		if len(types) != 1 {
			return ""
		}
		t, _ := optab.TypeOf(types[0])
		if t.Name == "u8x4" || t.Name == "s8x4" {
			return fmt.Sprintf("Unknown modifier '.%s'", t.Name)
		}
		packed := t.Name == "u16x2" || t.Name == "s16x2"
		if t.Class != optab.Unsigned && t.Class != optab.Signed && !packed {
			return ""
		}
		long := longName(name, words)
		switch {
		case has["relu"] && name != "min" && name != "max":
			return fmt.Sprintf("Illegal modifier '.relu' for instruction '%s'", long)
		case has["sat"] && has["lo"] && (name == "mad" || name == "mad24"):
			return fmt.Sprintf("Illegal modifier '.sat' for instruction '%s'", long)
		case has["wide"] && t.Bits == 64, packed && name != "add" && name != "min" && name != "max":
			return fmt.Sprintf("Unexpected instruction types specified for '%s'", long)
		}
		return ""
	}
}

// ruleBitfield: the position and length of a bit field are bytes (words of ptxas 13.0).
func ruleBitfield(ic *instCheck) string {
	text := ""
	for _, name := range []string{"b", "c", "e"} {
		a := ic.Arg(name)
		if a == nil || a.Kind != ArgImm || a.Type != "u32" || a.Imm <= 255 {
			continue
		}
		if text != "" {
			ic.Errorf("%s", text)
		}
		text = fmt.Sprintf("Argument %d of instruction '%s': value '%d' out of range, expected to be in range [0..255]",
			ic.index(name), ic.Name(), int32(a.Imm))
	}
	return text
}
