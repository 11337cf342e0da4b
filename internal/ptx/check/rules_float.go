package check

import (
	"fmt"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

var rulesFloat = ruleSet{}

// missFloat words the faults of floating point instructions; the texts and the order in which modifiers are looked at
// are those of the driver's compiler (silicon/rejected.json.gz).
var missFloat = map[string]missRule{
	"add": missFloatOf("add"), "sub": missFloatOf("sub"), "mul": missFloatOf("mul"), "fma": missFloatOf("fma"),
	"mad": missFloatOf("mad"),
	"div": missFloatOf("div"), "rcp": missFloatOf("rcp"), "sqrt": missFloatOf("sqrt"), "rsqrt": missFloatOf("rsqrt"),
	"sin": missFloatOf("sin"),
	"cos": missFloatOf("cos"), "lg2": missFloatOf("lg2"), "ex2": missFloatOf("ex2"), "tanh": missFloatOf("tanh"),
	"min": missFloatOf("min"),
	"max": missFloatOf("max"), "abs": missFloatOf("abs"), "neg": missFloatOf("neg"),
}

func missFloatOf(name string) missRule {
	return func(c *checker, words []string) string { return c.floatFault(name, words) }
}

// wordSet holds the modifiers of one instruction.
type wordSet map[string]bool

func (s wordSet) one(words ...string) string {
	for _, w := range words {
		if s[w] {
			return w
		}
	}
	return ""
}

func newWordSet(words []string) (set wordSet, types []string) {
	set = wordSet{}
	for _, w := range words {
		if optab.IsType(w) {
			types = append(types, w)
		} else {
			set[w] = true
		}
	}
	return set, types
}

// floatWords are the modifiers in the order in which they are faulted.
var floatWords = []string{"relu", "approx", "rn", "rz", "rm", "rp", "sat", "ftz", "NaN", "xorsign", "abs"}

func (c *checker) floatFault(name string, words []string) string {
	has, types := newWordSet(words)
	if len(types) == 0 {
		return ""
	}
	t, _ := optab.TypeOf(types[0])
	if t.Class != optab.Float && t.Class != optab.Packed || t.Name == "tf32" {
		return ""
	}
	if name == "fma" && len(types) == 2 && c.m.Target.SM < 100 { // the missing rounding comes second
		return needSM("fma.f32."+types[1], 100)
	}
	legal := wordSet{}
	for _, f := range c.tab.Lookup(name) {
		if !takesType(f, t.Name) {
			continue
		}
		for i := range f.Slots {
			for _, w := range f.Slots[i].Words {
				legal[w] = true
			}
		}
	}
	approxOnly := legal["approx"] && !legal["rn"]
	switch {
	case len(legal) == 0 && name == "div" && has["full"], t.Name == "f64" && name == "div" && has["full"]:
		return "Unexpected instruction types specified for 'div.full'"
	case len(legal) == 0:
		return fmt.Sprintf("Unexpected instruction types specified for '%s'", name)
	case has["relu"] && has["sat"] && legal["relu"]:
		return "Modifier '.relu' cannot be combined with modifier '.sat'"
	case has["ftz"] && has["oob"] && legal["oob"]:
		return "Modifier '.ftz' cannot be combined with modifier '.oob'"
	case approxOnly && !has["approx"]:
		return fmt.Sprintf(".approx modifier required for instruction '%s'", name)
	case name == "tanh" && has["ftz"] && !has["sat"]:
		return "Illegal modifier '.ftz' for instruction 'tanh'"
	}
	for _, w := range floatWords {
		switch {
		case !has[w] || legal[w]:
		case rounding(w):
			return fmt.Sprintf("Illegal rounding modifier for instruction '%s'", name)
		default:
			return fmt.Sprintf("Illegal modifier '.%s' for instruction '%s'", w, name)
		}
	}
	rounds := has.one("rn", "rz", "rm", "rp") != ""
	switch {
	case name == "rcp" && t.Name == "f64" && has["approx"] && !has["ftz"]:
		return "'.ftz' modifier required for instruction 'rcp.approx.f64'"
	case name == "ex2" && !has["ftz"] && (t.Name == "bf16" || t.Name == "bf16x2"):
		return fmt.Sprintf(".ftz modifier required for instruction 'ex2.%s'", t.Name)
	case legal["approx"] && legal["rn"] && rounds == (has.one("approx", "full") != ""):
		return fmt.Sprintf("Rounding modifier or '.approx' modifier required for instruction '%s'", name)
	case !rounds && legal["rn"] && (name == "fma" || name == "mad" || name == "div" || name == "sqrt"):
		return fmt.Sprintf("Rounding modifier required for instruction '%s'", name)
	}
	return ""
}

// takesType says whether the form's first type may be typ.
func takesType(f *optab.Form, typ string) bool {
	for i := range f.Slots {
		s := &f.Slots[i]
		for _, w := range s.Words {
			if w == typ {
				return true
			}
		}
		for _, w := range s.Words {
			if optab.IsType(w) {
				return false
			}
		}
	}
	return false
}
