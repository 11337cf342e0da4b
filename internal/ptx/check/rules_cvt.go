package check

import (
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

var rulesCvt = ruleSet{}

// missCvt words the faults of cvt. What is legal stands in the opcode table; texts and order are those of the driver's
// compiler (silicon/rejected.json.gz, which has every combination of modifiers for the plain types and most for the
// packed ones).
var missCvt = map[string]missRule{"cvt": func(c *checker, words []string) string {
	has, types := newWordSet(words)
	switch {
	case has["pack"]:
		return cvtPackFault(has, types)
	case len(types) != 2:
		return cvtTypes
	}
	d, _ := optab.TypeOf(types[0])
	s, _ := optab.TypeOf(types[1])
	if d.Class == optab.Bits || s.Class == optab.Bits {
		return cvtTypes
	}
	if d.Class == optab.Packed || s.Class == optab.Packed || has.one("relu", "satfinite", "rna", "rs") != "" {
		return cvtPackedFault(c.m.Target, has, d, s)
	}
	return cvtFault(has, d, s)
}}

const (
	cvtIllegalRounding = "Illegal rounding modifier for instruction 'cvt'"
	cvtNeedsRounding   = "Rounding modifier required for instruction 'cvt'"
	cvtTypes           = "Unexpected instruction types specified for 'cvt'"
	cvtIllegalSat      = "Illegal modifier '.sat' for instruction 'cvt'"
)

func isInteger(t optab.Type) bool { return t.Class == optab.Unsigned || t.Class == optab.Signed }

// cvtFault is for the plain types.
func cvtFault(has wordSet, d, s optab.Type) string {
	bf16 := d.Name == "bf16" || s.Name == "bf16"
	f32 := d.Name == "f32" || s.Name == "f32"
	integers := isInteger(d) && isInteger(s)
	rounding := has.one("rn", "rz", "rm", "rp")
	integral := has.one("rni", "rzi", "rmi", "rpi")
	switch {
	case has["sat"] && bf16:
		return cvtIllegalSat
	case has["ftz"] && (integers || bf16 && !f32):
		return "Illegal modifier '.ftz' for instruction 'cvt'"
	case has["ftz"] && !f32:
		return "Modifier '.ftz' does not apply to this type of convert operation"
	case has["sat"] && integers && holds(d, s):
		return cvtIllegalSat
	case integers:
		if rounding+integral != "" {
			return cvtIllegalRounding
		}
	case isInteger(d): // to an integer
		switch {
		case rounding != "":
			return cvtIllegalRounding
		case integral == "":
			return cvtNeedsRounding
		}
	case isInteger(s), d.Bits < s.Bits: // from an integer, or to a narrower format
		switch {
		case integral != "":
			return cvtIllegalRounding
		case rounding == "":
			return cvtNeedsRounding
		}
	case d.Name == s.Name:
		if rounding != "" {
			return cvtIllegalRounding
		}
	case integral != "", rounding != "" && !bf16:
		return cvtIllegalRounding
	}
	return ""
}

// holds says whether every value of integer type s is one of d.
func holds(d, s optab.Type) bool {
	if d.Class == s.Class {
		return d.Bits >= s.Bits
	}
	return d.Class == optab.Signed && d.Bits > s.Bits
}

// cvtPackedFault is for packed types, and for f16, bf16 and tf32 with the modifiers that only they have.
func cvtPackedFault(target Target, has wordSet, d, s optab.Type) string {
	rounding := has.one("rn", "rz", "rm", "rp", "rna", "rs", "rni", "rzi", "rmi", "rpi")
	near := rounding == "rn" || rounding == "rz"
	narrow := d.Bits == 16*d.Lanes && d.Name != "tf32" // f16, bf16 and their pairs
	small := func(t optab.Type) bool {
		return strings.HasPrefix(t.Name, "e") || strings.HasPrefix(t.Name, "ue")
	}
	satfinite := func() string {
		return fmt.Sprintf("Modifier '.satfinite' cannot be combined with modifier '%s'",
			strings.TrimSuffix("."+rounding, ".."))
	}
	if has["satfinite"] && has["sat"] {
		return "Modifier '.satfinite' cannot be combined with modifier '.sat'"
	}
	if has["relu"] && has["sat"] {
		return "Modifier '.relu' cannot be combined with modifier '.sat'"
	}
	if has["satfinite"] && narrow && s.Name == "f32" && !near && d.Name != "" {
		switch {
		case rounding == "" && d.Name != "f16x2":
			return "Modifier '.satfinite' cannot be combined with modifier ''"
		case rounding == "rm", rounding == "rp", rounding == "rna", rounding == "rs" && d.Name == "f16":
			return satfinite()
		}
	}
	if has["satfinite"] && narrow && small(s) {
		return cvtTypes
	}
	if rounding == "rs" {
		return fmt.Sprintf("Illegal modifier '.rs' for instruction 'cvt' with type '.%s.%s'", d.Name, s.Name)
	}
	if text := cvtLacks(target, d, s); text != "" {
		return text
	}
	switch {
	case small(d) && s.Name != "f32" && s.Name != "f16x2" && d.Name != "ue8m0x2",
		d.Name == "e2m1x2" && s.Name == "f16x2":
		return cvtTypes
	case has["sat"] && !(d.Name == "f16" && s.Name == "f32"):
		return cvtIllegalSat
	case small(d) && !has["satfinite"] && d.Name != "ue8m0x2":
		return fmt.Sprintf("'.satfinite' modifier required for instruction 'cvt' with destination type '.%s'", d.Name)
	case rounding == "":
		return cvtNeedsRounding
	case d.Name == "tf32" && rounding == "rna" && has["relu"]:
		return "Modifier '.relu' cannot be combined with modifier '.rna'"
	case has["ftz"]:
		return "Modifier '.ftz' does not apply to this type of convert operation"
	case small(d) || small(s) || !near:
		return cvtIllegalRounding
	}
	return cvtTypes
}

// cvtLacks is the text for formats that the target does not have.
func cvtLacks(target Target, d, s optab.Type) string {
	for _, t := range []optab.Type{d, s} {
		name := ""
		switch t.Name {
		case "e2m3x2", "e3m2x2":
			name = "cvt with .e2m3x2/.e3m2x2"
		case "e2m1x2", "ue8m0x2":
			name = "cvt with ." + t.Name
		default:
			continue
		}
		if target.SM < 100 || target.Suffix == "" {
			return fmt.Sprintf("Instruction '%s' not supported on .target '%s'", name, target)
		}
	}
	return ""
}

func cvtPackFault(has wordSet, types []string) string {
	if len(types) == 2 && types[1] == "s32" && (types[0] == "u16" || types[0] == "s16") && !has["sat"] {
		return ".sat modifier required for instruction 'cvt.pack'"
	}
	return "Unexpected instruction types specified for 'cvt.pack'"
}
