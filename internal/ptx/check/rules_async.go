package check

import "fmt"

// rulesAsync are the rules of asynchronous copies.
var rulesAsync = ruleSet{
	"cpasync": ruleCpAsync,
}

// hintAgrees: a cache policy and .L2::cache_hint come together.
func hintAgrees(ic *instCheck) bool { return ic.Has("L2::cache_hint") == (ic.Arg("p") != nil) }

// ruleCpAsync: .ca copies 4, 8 or 16 bytes, .cg 16 (PTX ISA 9.7.9.25.3.1).
func ruleCpAsync(ic *instCheck) string {
	n, _ := ic.Imm("n")
	switch {
	case ic.Has("cg") && n != 16:
		return fmt.Sprintf("Argument 2 of instruction 'cp.async': unexpected value '%d', expected to be 16", n)
	case n != 4 && n != 8 && n != 16:
		return fmt.Sprintf("Argument 2 of instruction 'cp.async': unexpected value '%d', expected to be 4, 8 or 16", n)
	}
	if s, ok := ic.Imm("s"); ok && s > n {
		return fmt.Sprintf("Argument 3 of instruction 'cp.async': unexpected value '%d', expected to be at most %d", s, n)
	}
	if !hintAgrees(ic) {
		return "Arguments mismatch for instruction 'cp.async'"
	}
	return ""
}
