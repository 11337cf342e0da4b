package ptxgen

import (
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// elements is the number of elements that a vector modifier asks for.
func elements(m *optab.Match) int {
	for i, w := range []string{"v2", "v4", "v8"} {
		if m.Has(w) {
			return 2 << i
		}
	}
	return 1
}

// accessSize is the bytes of an access.
func accessSize(m *optab.Match) int {
	return max(1, elements(m)*optab.FindType(m.Types[len(m.Types)-1]).Bits/8)
}

// space is the state space that a match names, "" for generic addresses.
func space(m *optab.Match) string {
	s := m.One("const", "global", "local", "param", "param::entry", "param::func", "shared", "shared::cta",
		"shared::cluster")
	return s
}

// policy makes a cache policy.
func (g *gen) policy() string {
	g.emit("createpolicy.fractional.%s.b64 %%a5,%s;",
		pick(g, "L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"),
		pick(g, "1.0", "0.5", "0.25"))
	return "%a5"
}

// offset is a multiple of the access size inside n bytes.
func (g *gen) offset(size, n int) int { return g.IntN(max(1, n/size)) * size }

// readable is an address whose bytes are defined and stay: [base+offset] for an access of size bytes in a space; before
// makes the base.
func (g *gen) readable(space string, size int) (addr string, before []string) {
	switch space {
	case "global":
		switch g.IntN(3) {
		case 0:
			return fmt.Sprintf("gs+%d", g.offset(size, 64)), nil
		case 1:
			return fmt.Sprintf("%%a0+%d", g.offset(size, 64)), []string{"mov.u64 %a0,gs;"}
		}
		return fmt.Sprintf("%%I+%d", g.IntN(rawRegions)*region+g.offset(size, 16)), nil
	case "const":
		// the check refuses it: an element of an array has no brackets. The recorded texts depend on the attempt
		if g.chance(2) && size < 16 {
			return fmt.Sprintf("cs[%d]", g.offset(size, 64)), nil
		}
		return fmt.Sprintf("%%a0+%d", g.offset(size, 64)), []string{"mov.u64 %a0,cs;"}
	case "local":
		if g.fn != nil {
			return "", nil
		}
		if g.chance(2) {
			return fmt.Sprintf("lo+%d", g.offset(size, 64)), nil
		}
		return fmt.Sprintf("%%a0+%d", g.offset(size, 64)), []string{"mov.u64 %a0,lo;"}
	case "param", "param::entry":
		if g.fn != nil {
			return "", nil
		}
		return fmt.Sprintf("pst+%d", g.offset(size, 32)), nil
	case "shared", "shared::cta", "shared::cluster":
		if g.fn != nil {
			return "", nil
		}
		return fmt.Sprintf("%%S+%d", g.offset(size, 32)), nil
	case "":
		from := pick(g, "global", "const", "local", "shared")
		if g.fn != nil {
			from = pick(g, "global", "const")
		}
		off := g.offset(size, 32)
		switch from {
		case "global":
			if g.fn != nil {
				return fmt.Sprintf("gs+%d", off), nil
			}
			return fmt.Sprintf("%%I+%d", g.IntN(rawRegions)*region+off%16), nil
		case "shared":
			return fmt.Sprintf("%%a0+%d", off), []string{"cvt.u64.u32 %a0,%S;", "cvta.shared.u64 %a0,%a0;"}
		}
		return fmt.Sprintf("%%a0+%d", off), []string{fmt.Sprintf("mov.u64 %%a0,%s;",
			map[string]string{"const": "cs", "local": "lo"}[from]), fmt.Sprintf("cvta.%s.u64 %%a0,%%a0;", from)}
	}
	return "", nil
}

func (g *gen) lines(list []string) {
	for _, s := range list {
		g.emit("%s", s)
	}
}

// load writes ld, ldu.
func (g *gen) load(f *optab.Form, words []string, m *optab.Match) bool {
	sp := space(m)
	if sp == "param::func" {
		return g.paramFunc(f, words, m, true)
	}
	if f.Name == "ldu" || m.Has("mmio") || m.Has("nc") {
		sp = "global"
	}
	size := accessSize(m)
	addr, before := g.readable(sp, size)
	if addr == "" {
		return false
	}
	d, writes, ok := g.operand(m, &f.Operands[0])
	if !ok || size > 16 {
		return false
	}
	if f.Operands[0].Kind == optab.KindVec && elements(m) > 1 && d[0] != '{' && d != "_" {
		return false
	}
	line := fmt.Sprintf("%s %s,[%s]", mnemonic(f, words), d, addr)
	hint := m.Has("L2::cache_hint")
	if hint {
		line += ",%a5"
	}
	line += ";"
	if !g.accepts(line) {
		return false
	}
	if hint {
		g.policy()
	}
	g.lines(before)
	guard := g.guard()
	g.emit("%s%s", guard, line)
	for _, r := range writes {
		g.settle(r, guard)
		g.fold(r)
	}
	return true
}

// writable is an address of this thread alone for an access of size bytes, and an instruction that reads it back where
// it is not part of the output.
func (g *gen) writable(space string, size int) (addr string, before []string, read string) {
	switch space {
	case "global":
		if g.fn != nil {
			return "", nil, ""
		}
		return g.row(max(1, size/4)), nil, ""
	case "":
		if g.fn == nil && g.chance(2) {
			return g.row(max(1, size/4)), nil, ""
		}
		if g.fn != nil {
			return "", nil, ""
		}
		if g.chance(2) {
			return fmt.Sprintf("%%a0+%d", g.offset(size, 32)),
				[]string{"cvt.u64.u32 %a0,%S;", "cvta.shared.u64 %a0,%a0;"}, ""
		}
		return fmt.Sprintf("%%a0+%d", g.offset(size, 64)), []string{"mov.u64 %a0,lo;", "cvta.local.u64 %a0,%a0;"}, ""
	case "local":
		if g.fn != nil {
			return "", nil, ""
		}
		return fmt.Sprintf("lo+%d", g.offset(size, 64)), nil, "local"
	case "shared", "shared::cta", "shared::cluster":
		if g.fn != nil {
			return "", nil, ""
		}
		return fmt.Sprintf("%%S+%d", g.offset(size, 32)), nil, space
	}
	return "", nil, ""
}

// store writes st.
func (g *gen) store(f *optab.Form, words []string, m *optab.Match) bool {
	if m.Has("async") {
		return g.storeAsync(f, words, m)
	}
	sp := space(m)
	if sp == "param" || sp == "param::func" {
		return g.paramFunc(f, words, m, false)
	}
	if m.Has("mmio") {
		sp = "global"
	}
	size := accessSize(m)
	rows := g.p.Rows
	addr, before, read := g.writable(sp, size)
	v, _, ok := g.operand(m, &f.Operands[1])
	if addr == "" || !ok || elements(m) > 1 && v[0] != '{' {
		g.p.Rows = rows
		return false
	}
	line := fmt.Sprintf("%s [%s],%s", mnemonic(f, words), addr, v)
	hint := m.Has("L2::cache_hint")
	if hint {
		line += ",%a5"
	}
	line += ";"
	if !g.accepts(line) {
		g.p.Rows = rows
		return false
	}
	if hint {
		g.policy()
	}
	g.lines(before)
	g.emit("%s%s", g.guard(), line)
	if read != "" {
		g.readBack(read, addr, size)
	} else if strings.HasPrefix(addr, "%a0") {
		g.readBack("", addr, size)
	}
	return true
}

// readBack folds bytes of memory into the output.
func (g *gen) readBack(space, addr string, size int) {
	if space != "" {
		space = "." + space
	}
	switch {
	case size >= 16:
		g.emit("ld%s.v4.b32 {%%t1,%%t2,%%t3,%%t4},[%s];\nst.global.v4.b32 [%s],{%%t1,%%t2,%%t3,%%t4};", space, addr,
			g.row(4))
	case size == 8:
		g.emit("ld%s.b64 %%a7,[%s];\nst.global.b64 [%s],%%a7;", space, addr, g.row(2))
	case size == 4:
		g.emit("ld%s.b32 %%t1,[%s];\nst.global.b32 [%s],%%t1;", space, addr, g.row(1))
	case size == 2:
		g.emit("ld%s.b16 %%hx0,[%s];\nst.global.b16 [%s],%%hx0;", space, addr, g.row(1))
	default:
		g.emit("ld%s.u8 %%t1,[%s];\nst.global.b32 [%s],%%t1;", space, addr, g.row(1))
	}
}

// atomic writes atom and red: each thread has its own place.
func (g *gen) atomic(f *optab.Form, words []string, m *optab.Match) bool {
	if m.Has("async") {
		return g.storeAsync(f, words, m)
	}
	sp := m.One("global", "shared", "shared::cta", "shared::cluster")
	vec := f.OpName == "atom.vec"
	if vec && sp == "" {
		sp = "global"
	}
	size := accessSize(m)
	t := optab.FindType(m.Types[len(m.Types)-1])
	rows := g.p.Rows
	addr, before, read := g.writable(sp, size)
	if addr == "" || strings.HasPrefix(addr, "%a0") && strings.Contains(strings.Join(before, ""), "local") {
		g.p.Rows = rows
		return false
	}
	var texts []string
	var writes []*reg
	for i := range f.Operands {
		o := &f.Operands[i]
		switch {
		case o.Kind == optab.KindMem:
			texts = append(texts, "["+addr+"]")
			continue
		case o.Name == "p":
			if m.Has("L2::cache_hint") {
				texts = append(texts, "%a5")
			}
			continue
		}
		s, w, ok := g.operand(m, o)
		// ptxas 13.0 crashes on some of the latter
		if !ok || vec && s[0] != '{' && s != "_" || s == "_" && m.Has("noftz") {
			g.p.Rows = rows
			return false
		}
		texts = append(texts, s)
		writes = append(writes, w...)
	}
	line := mnemonic(f, words) + " " + strings.Join(texts, ",") + ";"
	if !g.accepts(line) {
		g.p.Rows = rows
		return false
	}
	if m.Has("L2::cache_hint") {
		g.policy()
	}
	g.lines(before)
	in := sp
	if in != "" {
		in = "." + in
	}
	switch size {
	case 16:
		g.emit("ld.global.v4.b32 {%%t1,%%t2,%%t3,%%t4},[%%I+%d];\nst%s.v4.b32 [%s],{%%t1,%%t2,%%t3,%%t4};",
			g.initial(t), in, addr)
	case 8:
		g.emit("ld.global.b64 %%a7,[%%I+%d];\nst%s.b64 [%s],%%a7;", g.initial(t), in, addr)
	case 4:
		g.emit("ld.global.b32 %%t1,[%%I+%d];\nst%s.b32 [%s],%%t1;", g.initial(t), in, addr)
	default:
		g.emit("ld.global.b16 %%hx0,[%%I+%d];\nst%s.b16 [%s],%%hx0;", g.initial(t), in, addr)
	}
	guard := g.guard()
	g.emit("%s%s", guard, line)
	for _, r := range writes {
		g.settle(r, guard)
		g.fold(r)
	}
	if read != "" || strings.HasPrefix(addr, "%a0") {
		g.readBack(read, addr, size)
	}
	return true
}

// initial is where in the input an initial value for a type lies.
func (g *gen) initial(t *optab.Type) int {
	if t.Name == "f64" {
		return numOffset + g.IntN(numRegions)*region
	}
	if t.Class >= optab.Float {
		return mildOffset + g.IntN(mildRegions)*region
	}
	return g.IntN(rawRegions) * region
}

// address writes cvta, isspacep, mapa, getctarank: what they say of an address, never the address.
func (g *gen) address(f *optab.Form, words []string, m *optab.Match) bool {
	if g.fn != nil {
		return false
	}
	if f.Name == "cvta" && m.Type(0) == "u32" {
		return g.halfAddress(mnemonic(f, words) + " %t1,%t1;")
	}
	variable := map[string]string{"const": "cs", "global": "gs", "local": "lo", "shared": "sm", "shared::cta": "sm",
		"shared::cluster": "sm", "param": "po", "param::entry": "po"}
	sp := space(m)
	word := mnemonic(f, words)
	switch f.Name {
	case "isspacep":
		from := pick(g, "const", "global", "local", "shared", sp)
		line := fmt.Sprintf("%s %%p0,%%a0;", word)
		if !g.accepts(line) || !g.accepts(fmt.Sprintf("cvta.%s.u64 %%a0,%%a0;", from)) {
			return false
		}
		g.emit("mov.u64 %%a0,%s;\ncvta.%s.u64 %%a0,%%a0;\n%s", variable[from], from, line)
		g.fold(g.named("%p0"))
	case "cvta":
		line := fmt.Sprintf("%s %%a1,%%a0;", word)
		if !g.accepts(line) {
			return false
		}
		g.emit("mov.u64 %%a0,%s;", variable[sp])
		if m.Has("to") {
			g.emit("cvta.%s.u64 %%a0,%%a0;\n%s\nmov.u64 %%a0,%s;\nsub.u64 %%a1,%%a1,%%a0;\nst.global.b64 [%s],%%a1;",
				sp, line, variable[sp], g.row(2))
		} else {
			g.emit("%s", line)
			if sp == "param" || sp == "param::entry" {
				g.emit("ld.u64 %%a1,[%%a1];\nsub.u64 %%a1,%%a1,%%o;\nst.global.b64 [%s],%%a1;", g.row(2))
			} else if variable[sp] == "sm" {
				g.emit("mul.wide.u32 %%a2,%%t,32;\nadd.u64 %%a1,%%a1,%%a2;\nld.b32 %%t1,[%%a1+4];\nst.global.b32 [%s],%%t1;", g.row(1))
			} else {
				g.emit("ld.b32 %%t1,[%%a1+4];\nst.global.b32 [%s],%%t1;", g.row(1))
			}
		}
	case "mapa":
		wide := m.Type(0) == "u64"
		if !wide && !m.Has("shared::cluster") {
			return g.halfAddress(word + " %t1,%t1,%t2;")
		}
		d, a := "%t1", "%S"
		if wide {
			d, a = "%a1", "%a0"
		}
		line := fmt.Sprintf("%s %s,%s,%%t2;", word, d, a)
		if !g.accepts(line) || g.cluster > 1 && !g.uniform {
			return false
		}
		g.emit("mov.u32 %%t2,%%cluster_ctarank;")
		if wide {
			g.emit("cvt.u64.u32 %%a0,%%S;")
			if !m.Has("shared::cluster") {
				g.emit("cvta.shared.u64 %%a0,%%a0;")
			}
		}
		ld := "ld.shared::cluster"
		if wide && !m.Has("shared::cluster") {
			ld = "ld"
		}
		g.emit("%s\n%s.b32 %%t1,[%s+4];\nst.global.b32 [%s],%%t1;", line, ld, d, g.row(1))
	case "getctarank":
		d := g.result(optab.FindType("u32"), false)
		wide := m.Type(0) == "u64"
		if !wide && !m.Has("shared::cluster") {
			return g.halfAddress(word + " %t1,%t1;")
		}
		a := "%S"
		if wide {
			a = "%a0"
		}
		line := fmt.Sprintf("%s %s,%s;", word, d.name, a)
		if !g.accepts(line) {
			return false
		}
		if wide {
			g.emit("cvt.u64.u32 %%a0,%%S;")
			if !m.Has("shared::cluster") {
				g.emit("cvta.shared.u64 %%a0,%%a0;")
			}
		}
		g.emit("%s", line)
		g.fold(d)
	}
	return true
}

// halfAddress writes an instruction on half of a generic address where no thread comes.
func (g *gen) halfAddress(line string) bool {
	if !g.accepts(line) {
		return false
	}
	l := g.newLabel()
	g.emit("mov.u32 %%t1,0;\nmov.u32 %%t2,0;\n@%%pt bra %s;\n%s\n%s:", l, line, l)
	return true
}

// named finds a register.
func (g *gen) named(name string) *reg {
	for i := range g.regs {
		if g.regs[i].name == name {
			return &g.regs[i]
		}
	}
	return nil
}

// cache writes prefetch, prefetchu, applypriority, discard, createpolicy.
func (g *gen) cache(f *optab.Form, words []string, m *optab.Match) bool {
	if g.fn != nil {
		return false
	}
	word := mnemonic(f, words)
	switch f.Name {
	case "prefetch":
		addr := "%I+64"
		switch {
		case m.Has("tensormap"):
			p := g.tensor(1+g.IntN(5), false, -1)
			if m.Has("param") {
				addr = p
			} else if m.Has("const") { // the host cannot put one there
				return g.halfAddress(word + " [cs];")
			} else {
				g.emit("mov.u64 %%a0,%s;\ncvta.param.u64 %%a0,%%a0;", p)
				addr = "%a0"
			}
		case m.Has("local"):
			addr = "lo"
		}
		line := fmt.Sprintf("%s [%s];", word, addr)
		if !g.accepts(line) {
			return false
		}
		g.emit("%s%s", g.guard(), line)
	case "prefetchu":
		g.emit("%s [%%I];", word)
	case "applypriority":
		g.emit("%s%s [%%i+%d],128;", g.guard(), word, 128*g.IntN(8))
	case "discard":
		g.emit("@%%pf %s [%%o],128;", word)
	case "createpolicy":
		operands := ",[%i],128,4096"
		if m.Has("fractional") {
			operands = pick(g, "", ",1.0", ",0.5", ",0f3E800000")
		} else if m.Has("cvt") {
			operands = "," + "%a6"
		}
		line := fmt.Sprintf("%s %%a5%s;", word, operands)
		if !g.accepts(line) {
			return false
		}
		if m.Has("cvt") { // an access property of the runtime: persisting
			g.emit("mov.u64 %%a6,0;")
			line = "@%pf " + line
		}
		g.emit("%s", line)
		if m.Has("cvt") {
			return true
		}
		r := g.result(optab.FindType("b32"), false)
		g.emit("ld.global.L2::cache_hint.b32 %s,[%%I],%%a5;", r.name)
		g.fold(r)
	}
	return true
}
