package check

import (
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/ptx"
)

// ruleVideo: parts are bytes or half-words, and c stands exactly where a secondary operation or a part of d asks for
// it.
func ruleVideo(ic *instCheck) string {
	if text := vectorElements(ic); text != "" {
		return text
	}
	second := ic.One("add", "min", "max")
	d, c := ic.Arg("d"), ic.Arg("c")
	switch {
	case second != "" && d.Comp != "", (c != nil) != (second != "" || d.Comp != ""):
		return ic.Mismatch()
	}
	for _, name := range []string{"d", "a", "b", "c"} {
		a := ic.Arg(name)
		if a == nil {
			continue
		}
		if a.Neg || a.Comp != "" && (len(a.Comp) != 2 || a.Comp[0] == 'h' && a.Comp[1] > '1' || a.Comp[1] > '3' ||
			name == "c") {
			return ic.Mismatch()
		}
	}
	return ""
}

// vectorElements refuses elements of vector registers, which the expansion of a scalar video instruction cannot take
// (words of ptxas 13.0).
func vectorElements(ic *instCheck) string {
	for i, src := range ic.src {
		if n, ok := src.(*ptx.Neg); ok {
			src = n.X
		}
		if id, ok := src.(*ptx.Ident); ok && id.Comp != "" && ic.Args[i].Kind == ArgReg && ic.Args[i].Comp == "" {
			return "Arguments mismatch for instruction 'mov'"
		}
	}
	return ""
}

// ruleVmad: negation of one of the factors or of the addend, not together with .po (9.7.19.1.4).
func ruleVmad(ic *instCheck) string {
	if text := vectorElements(ic); text != "" {
		return text
	}
	for _, name := range []string{"a", "b"} {
		if a := ic.Arg(name); a.Comp != "" && (len(a.Comp) != 2 || a.Comp[0] == 'h' && a.Comp[1] > '1' ||
			a.Comp[1] > '3') {
			return ic.Mismatch()
		}
	}
	if ic.Arg("d").Comp != "" || ic.Arg("c").Comp != "" {
		return ic.Mismatch()
	}
	if ic.Has("po") && (ic.Arg("a").Neg || ic.Arg("b").Neg || ic.Arg("c").Neg) {
		return "Conflicting use of '.po' modifier with operand negation"
	}
	if ic.Arg("a").Neg != ic.Arg("b").Neg && ic.Arg("c").Neg {
		return "Operand negation limited to either (source A xor source B) or source C"
	}
	return ""
}

// ruleSimdVideo: selectors name one element for each lane, masks of d a set of lanes in descending order.
func ruleSimdVideo(ic *instCheck) string {
	if ic.Has("sat") && ic.Has("add") {
		return "Illegal combination of .sat and .add modifiers"
	}
	kind, lanes, top := byte('h'), 2, byte('3')
	if strings.HasSuffix(ic.Name(), "4") {
		kind, lanes, top = 'b', 4, '7'
	}
	wrong := func(i int) string { return fmt.Sprintf("Incorrect video selector for operand %d", i) }
	for i, name := range []string{"d", "a", "b", "c"} {
		a := ic.Arg(name)
		if a.Neg {
			return ic.Mismatch()
		}
		// a constant or an element of a vector
		if id, ok := ic.Source(name).(*ptx.Ident); !ok || id.Comp != "" && a.Comp == "" {
			return wrong(i)
		}
		if a.Comp == "" {
			continue
		}
		digits := a.Comp[1:]
		if a.Comp[0] != kind || name == "c" || name != "d" && len(digits) != lanes || len(digits) > lanes {
			return wrong(i)
		}
		for k := range digits {
			if digits[k] > top || name == "d" && (int(digits[k]-'0') >= lanes || k > 0 && digits[k] >= digits[k-1]) {
				return wrong(i)
			}
		}
	}
	return ""
}
