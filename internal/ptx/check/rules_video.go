package check

import "strings"

// ruleVideo: parts are bytes or half-words, and c stands exactly where a secondary operation or a part of d asks for it.
func ruleVideo(ic *instCheck) string {
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
		if a.Neg || a.Comp != "" && (len(a.Comp) != 2 || a.Comp[0] == 'h' && a.Comp[1] > '1' || a.Comp[1] > '3' || name == "c") {
			return ic.Mismatch()
		}
	}
	return ""
}

// ruleVmad: negation of one of the factors or of the addend, not together with .po (9.7.19.1.4).
func ruleVmad(ic *instCheck) string {
	for _, name := range []string{"a", "b"} {
		if a := ic.Arg(name); a.Comp != "" && (len(a.Comp) != 2 || a.Comp[0] == 'h' && a.Comp[1] > '1' || a.Comp[1] > '3') {
			return ic.Mismatch()
		}
	}
	if ic.Arg("d").Comp != "" || ic.Arg("c").Comp != "" {
		return ic.Mismatch()
	}
	if ic.Has("po") && (ic.Arg("a").Neg || ic.Arg("b").Neg || ic.Arg("c").Neg) {
		return ic.Mismatch()
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
	for _, name := range []string{"d", "a", "b", "c"} {
		a := ic.Arg(name)
		if a.Neg {
			return ic.Mismatch()
		}
		if a.Comp == "" {
			continue
		}
		digits := a.Comp[1:]
		if a.Comp[0] != kind || name == "c" || name != "d" && len(digits) != lanes || len(digits) > lanes {
			return ic.Mismatch()
		}
		for i := range digits {
			if digits[i] > top || name == "d" && (int(digits[i]-'0') >= lanes || i > 0 && digits[i] >= digits[i-1]) {
				return ic.Mismatch()
			}
		}
	}
	return ""
}
