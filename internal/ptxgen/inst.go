package ptxgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// checkCache remembers what package check said about lines.
type checkCache map[string]bool

// accepts asks package check whether lines are valid inside the kernel.
func (g *gen) accepts(line string) bool {
	if ok, found := g.checks[line]; found {
		return ok
	}
	decls := g.decls
	if g.fn != nil {
		decls = g.fn.decls
	}
	src := g.header() + ".global .align 16 .b8 gs[64];\n.const .align 16 .b8 cs[64];\n.entry k(" +
		strings.Join(g.params, ",") + "){\n" + strings.Join(decls, "\n") + "\n" + line + "\nret;}\n"
	ok := false
	if m, err := ptx.Parse([]byte(src)); err == nil {
		_, err = check.Check(m, check.Options{SM: 90})
		ok = err == nil
	}
	if g.checks == nil {
		g.checks = checkCache{}
	}
	g.checks[line] = ok
	return ok
}

// form writes a statement around a form; false when the words that came up do not fit.
func (g *gen) form(f *optab.Form, fixed Feature) bool {
	if Excluded(f) != "" {
		return false
	}
	words := g.words(f, fixed)
	m := g.match(f, words)
	if m == nil {
		return false
	}
	ok := false
	if p := patterns[f.Name]; p != nil {
		ok = p(g, f, words, m)
	} else {
		ok = g.generic(f, words, m)
	}
	if ok {
		g.used(f, words)
	}
	return ok
}

// guard is a condition in front of an instruction, mostly none.
func (g *gen) guard() string {
	if !g.chance(4) {
		return ""
	}
	return "@" + pick(g, "", "!") + g.source(optab.FindType("pred"), false).name + " "
}

// uniformGuard is a condition that is the same for all threads; its instruction runs.
func (g *gen) uniformGuard() string { return pick(g, "", "", "", "@%pt ", "@!%pf ") }

// operand is the text of an operand, and the registers that it writes.
func (g *gen) operand(m *optab.Match, o *optab.Operand) (text string, writes []*reg, ok bool) {
	t := optab.FindType(m.Resolve(o.Type))
	switch o.Kind {
	case optab.KindPred:
		t = optab.FindType("pred")
		fallthrough
	case optab.KindType:
		if o.Dst {
			if o.Sink && g.chance(6) {
				return "_", nil, true
			}
			r := g.result(t, o.Wider)
			if r == nil {
				return "", nil, false
			}
			return r.name, []*reg{r}, true
		}
		if t.Class == optab.Predicate {
			return pick(g, "", "", "!") + g.source(t, false).name, nil, true
		}
		if !o.RegOnly && g.chance(6) && !slices.Contains(m.Types, "tf32") { // ptxas takes no decimal constant there
			if s := g.immediate(t); s != "" {
				return s, nil, true
			}
		}
		r := g.source(t, o.Wider)
		if r == nil {
			return "", nil, false
		}
		return r.name, nil, true
	case optab.KindVec:
		n := o.Count
		if n == 0 {
			n = 1
			for i, w := range []string{"v2", "v4", "v8"} {
				if m.Has(w) {
					n = 2 << i
				}
			}
		}
		if n < 0 {
			return "", nil, false
		}
		if o.Sink && g.chance(6) {
			return "_", nil, true
		}
		return g.vector(t, n, o)
	case optab.KindImm:
		if o.Name == "lut" {
			return fmt.Sprint(g.IntN(256)), nil, true
		}
		return fmt.Sprint(g.IntN(2)), nil, true
	}
	return "", nil, false
}

// vector is an operand of n elements, without braces when it is one that needs none.
func (g *gen) vector(t *optab.Type, n int, o *optab.Operand) (text string, writes []*reg, ok bool) {
	var names []string
	if o.Dst {
		list := g.results(t, n, o.Wider)
		if list == nil {
			return "", nil, false
		}
		for i, r := range list {
			if n > 1 && i > 0 && g.chance(12) && o.Kind == optab.KindVec && o.Count > 0 {
				names = append(names, "_")
				continue
			}
			names = append(names, r.name)
			writes = append(writes, r)
		}
	} else {
		first := g.source(t, o.Wider)
		if first == nil {
			return "", nil, false
		}
		list := alike(g.candidates(t, o.Wider), first)
		for range n {
			names = append(names, list[g.IntN(len(list))].name)
		}
	}
	if n == 1 && o.Count == 0 {
		return names[0], writes, true
	}
	return "{" + strings.Join(names, ",") + "}", writes, true
}

// multiplies and adds are what a compiler may contract when neither names a rounding.
func contracts(f *optab.Form, m *optab.Match) (mul, add bool) {
	switch f.OpName {
	case "fmul":
		return m.One("rn", "rz", "rm", "rp") == "", false
	case "fadd", "fsub":
		return false, m.One("rn", "rz", "rm", "rp") == ""
	}
	return false, false
}

// generic writes an instruction that computes registers from registers.
func (g *gen) generic(f *optab.Form, words []string, m *optab.Match) bool {
	aligned := m.Has("aligned") || f.Sync
	if aligned && (!g.uniform || g.fn != nil) {
		return false
	}
	if mul, add := contracts(f, m); mul && !g.mulOK || add && !g.addOK {
		if !g.chance(200) {
			return false
		}
		g.open("fusion")
		g.mulOK, g.addOK = true, true
	}
	if m.Has("approx") || m.Has("full") {
		g.open("approx")
	}
	var texts []string
	var writes []*reg
	var before []string
	for i := range f.Operands {
		o := &f.Operands[i]
		if o.Optional && g.chance(2) {
			continue
		}
		var text string
		var w []*reg
		ok := true
		switch {
		case o.Name == "membermask":
			text = pick(g, "0xffffffff", "-1", "4294967295")
		case f.Name == "fns" && o.Name == "b":
			g.emit("and.b32 %%t1,%s,31;", g.source(optab.FindType("u32"), false).name)
			text = "%t1"
		case (f.OpName == "idiv" || f.Name == "rem") && o.Name == "b":
			text, before = g.divisor(optab.FindType(m.Type(0)))
		default:
			text, w, ok = g.operand(m, o)
		}
		if !ok {
			return false
		}
		if strings.Contains(f.Rule, "video") || f.Rule == "vmad" {
			text = g.selector(f, o, text)
		}
		writes = append(writes, w...)
		if o.Pair != nil && (!o.Pair.Optional || g.chance(2)) {
			second, w2, ok := g.operand(m, o.Pair)
			if !ok || second == text {
				return false
			}
			text += "|" + second
			writes = append(writes, w2...)
		}
		texts = append(texts, text)
	}
	line := mnemonic(f, words)
	if len(texts) > 0 {
		line += " " + strings.Join(texts, ",")
	}
	line += ";"
	if !g.accepts(line) {
		return false
	}
	for _, b := range before {
		g.emit("%s", b)
	}
	guard := g.guard()
	if aligned || m.Has("cc") {
		guard = g.uniformGuard()
	}
	if f.Name == "activemask" && !g.uniform {
		return false
	}
	g.emit("%s%s", guard, line)
	for _, r := range writes {
		g.settle(r, guard)
	}
	for _, r := range writes {
		if len(writes) == 1 || g.chance(2) {
			g.fold(r)
		}
	}
	if m.Has("cc") || strings.HasPrefix(f.Name, "addc") { // the flag is a result too
		r := g.result(optab.FindType("u32"), false)
		g.emit("addc.u32 %s,0,0;", r.name)
		g.fold(r)
	}
	return true
}

// divisor makes a divisor that is neither 0 nor -1.
func (g *gen) divisor(t *optab.Type) (string, []string) {
	r := g.source(t, false)
	if t.Bits == 16 {
		return "%hx0", []string{fmt.Sprintf("and.b16 %%hx0,%s,0x7fff;", r.name), "or.b16 %hx0,%hx0,1;"}
	}
	reg, mask := "%t1", "0x7fffffff"
	if t.Bits == 64 {
		reg, mask = "%a7", "0x7fffffffffffffff"
	}
	return reg, []string{fmt.Sprintf("and.b%d %s,%s,%s;", t.Bits, reg, r.name, mask),
		fmt.Sprintf("or.b%d %s,%s,1;", t.Bits, reg, reg)}
}

// selector adds a part of a register to a video operand.
func (g *gen) selector(f *optab.Form, o *optab.Operand, text string) string {
	if text == "" || text[0] != '%' || strings.Contains(text, ".") || o.Name == "c" {
		if f.Rule == "vmad" && text[0] == '%' && g.chance(6) {
			return "-" + text
		}
		return text
	}
	switch {
	case f.Rule == "simdvideo":
		kind, lanes, top := "h", 2, 4
		if strings.HasSuffix(f.Name, "4") {
			kind, lanes, top = "b", 4, 8
		}
		if !g.chance(3) {
			return text
		}
		s := "." + kind
		if o.Dst {
			for l := lanes - 1; l >= 0; l-- {
				if g.chance(2) || l == 0 && len(s) == 2 {
					s += fmt.Sprint(l)
				}
			}
			return text + s
		}
		for range lanes {
			s += fmt.Sprint(g.IntN(top))
		}
		return text + s
	case o.Dst && f.Rule == "vmad":
		return text
	case g.chance(3):
		return text + pick(g, ".b0", ".b1", ".b2", ".b3", ".h0", ".h1")
	case f.Rule == "vmad" && g.chance(6):
		return "-" + text
	}
	return text
}

// patterns are the instructions that need something around them, by their first word.
var patterns map[string]func(g *gen, f *optab.Form, words []string, m *optab.Match) bool
