package ptxgen

import (
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// extraParams adds parameters of all kinds to the kernel.
func (g *gen) extraParams() {
	for range g.IntN(4) {
		g.kernelParam()
	}
	// a structure by value, which loads from .param read
	g.p.Params = append(g.p.Params, Param{Bytes: g.bytes(32)})
	g.params = append(g.params, ".param .align 16 .b8 pst[32]")
}

func (g *gen) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(g.IntN(256)) & 0xbf
	}
	return b
}

// kernelParam adds one parameter and reads it.
func (g *gen) kernelParam() {
	n := len(g.p.Params)
	name := fmt.Sprintf("pp%d", n)
	typ := pick(g, "b8", "u8", "s8", "b16", "u16", "s16", "f16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64")
	t := optab.FindType(typ)
	size := t.Bits / 8
	decl, off := fmt.Sprintf(".param .%s %s", typ, name), 0
	count := 1
	switch g.IntN(6) {
	case 0: // an array
		count = 1 + g.IntN(5)
		decl += fmt.Sprintf("[%d]", count)
		off = g.IntN(count) * size
	case 2: // a structure
		size, count, typ = 1, 4*(1+g.IntN(10)), "b32"
		a := pick(g, 4, 8, 16)
		decl = fmt.Sprintf(".param .align %d .b8 %s[%d]", a, name, count)
		off = 4 * g.IntN(count/4)
	case 3:
		decl = fmt.Sprintf(".param .align %d .%s %s", max(size, pick(g, 4, 8, 16)), typ, name)
	}
	g.p.Params = append(g.p.Params, Param{Bytes: g.bytes(size * count)})
	g.params = append(g.params, decl)
	lt := strings.Replace(typ, "f16", "b16", 1)
	r := g.result(optab.FindType(lt), false)
	g.emit("ld.param.%s %s,[%s+%d];", lt, r.name, name, off)
	g.settle(r, "")
	g.fold(r)
}

// parameter reads the structure again through its address.
func (g *gen) parameter() {
	r := g.result(optab.FindType("b32"), false)
	off := 4 * g.IntN(8)
	switch g.IntN(3) {
	case 0:
		g.emit("mov.u64 %%a0,pst;\nld.param.b32 %s,[%%a0+%d];", r.name, off)
	case 1:
		g.emit("mov.u64 %%a0,pst;\ncvta.param.u64 %%a0,%%a0;\nld.b32 %s,[%%a0+%d];", r.name, off)
	default:
		g.emit("and.b32 %%t1,%%t,7;\nmul.wide.u32 %%a1,%%t1,4;\nmov.u64 %%a0,pst;\nadd.u64 %%a0,%%a0,%%a1;\nld.param.b32 %s,[%%a0];", r.name)
	}
	g.fold(r)
}

// number is an initialiser's constant.
func (g *gen) number(t *optab.Type) string {
	switch t.Name {
	case "f32":
		return pick(g, "1.5", "0f40490FDB", "-2.25", "1e-3", "0d3FF8000000000000", "3.25e2")
	case "f64":
		return pick(g, "1.5", "0d400921FB54442D18", "-2.25", "1e-3", "0f3FC00000")
	}
	n := g.IntN(100)
	return pick(g, fmt.Sprint(n), fmt.Sprintf("0x%x", n), fmt.Sprintf("%d+%d", n, g.IntN(20)),
		fmt.Sprintf("(%d<<1)", n/2), fmt.Sprintf("0%o", n), fmt.Sprintf("(%d>3?%d:1)", g.IntN(6), n),
		fmt.Sprintf("%d*2", n/2))
}

// moduleVars declares variables of the module: their kinds, linkages and initialisers.
func (g *gen) moduleVars() {
	for range 1 + g.IntN(4) {
		g.moduleVar()
	}
	if g.chance(3) {
		g.p.Shared = uint32(16 * (1 + g.IntN(16)))
		g.module.WriteString(".extern .shared .align 16 .b8 dyn[];\n")
		r := g.source(optab.FindType("b32"), false)
		d := g.result(optab.FindType("b32"), false)
		g.emit("setp.eq.u32 %%pq,%%t,0;\n@%%pq st.shared.b32 [dyn+%d],%s;\nbar.sync 0;\nld.shared.b32 %s,[dyn+%d];\nbar.sync 0;", 4, r.name, d.name, 4)
		g.fold(d)
	}
}

// moduleVar declares a variable and reads some of it.
func (g *gen) moduleVar() {
	n := g.label
	g.label++
	name := fmt.Sprintf("mv%d", n)
	typ := pick(g, "b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64")
	t := optab.FindType(typ)
	size := t.Bits / 8
	space := pick(g, "global", "global", "const")
	linkage := pick(g, "", "", ".visible ", ".weak ")
	list := func(n int) string {
		var l []string
		for range n {
			l = append(l, g.number(t))
		}
		return "{" + strings.Join(l, ",") + "}"
	}
	alignment := ""
	if g.chance(3) {
		alignment = fmt.Sprintf(".align %d ", max(size, pick(g, 1, 4, 8, 16, 32)))
	}
	var decl string
	total := size
	addresses := false
	switch g.IntN(9) {
	case 0:
		decl = fmt.Sprintf(".%s %s.%s %s=%s;", space, alignment, typ, name, g.number(t))
	case 1:
		k := 1 + g.IntN(6)
		total = k * size
		decl = fmt.Sprintf(".%s %s.%s %s[%d]=%s;", space, alignment, typ, name, k, list(1+g.IntN(k)))
	case 2:
		k := 1 + g.IntN(6)
		total = k * size
		decl = fmt.Sprintf(".%s %s.%s %s[]=%s;", space, alignment, typ, name, list(k))
	case 3:
		total = 6 * size
		decl = fmt.Sprintf(".%s %s.%s %s[2][3]={%s,%s};", space, alignment, typ, name, list(3), list(3))
	case 4:
		if size*2 > 16 {
			return
		}
		total = 2 * size
		decl = fmt.Sprintf(".%s .v2 .%s %s=%s;", space, typ, name, list(2))
	case 5:
		total, linkage = 4*size, pick(g, "", ".visible ", ".weak ", ".common ")
		if space == "const" {
			linkage = ""
		}
		decl = fmt.Sprintf(".%s %s.%s %s[4];", space, alignment, typ, name)
	case 6: // addresses, read through
		addresses = true
		inits := []string{"generic(gs)", "gs", "gs+8", "generic(gs)+16", "generic(cs)+4", "gs+4*3"}
		decl = fmt.Sprintf(".%s .u64 %s[3]={%s,%s,%s};", space, name, pick(g, inits...), pick(g, inits...),
			pick(g, inits[:5]...))
	case 7: // the bytes of an address
		if g.version < 71 {
			return
		}
		var l []string
		for i := range 8 {
			l = append(l, fmt.Sprintf("0xFF%s(generic(gs))", strings.Repeat("00", i)))
		}
		g.module.WriteString(fmt.Sprintf(".global .align 8 .u8 %s[8]={%s};\n", name,
			strings.ReplaceAll(strings.Join(l, ","), "generic(gs)", "gs")))
		g.emit("ld.global.u64 %%a0,[%s];\nld.global.b32 %%t1,[%%a0+%d];\nst.global.b32 [%s],%%t1;", name, 4*g.IntN(8),
			g.row(1))
		return
	default:
		total = 4
		decl = fmt.Sprintf(".global .attribute(.managed) .align 4 .u32 %s=%d;", name, g.IntN(1000))
		space, t, size = "global", optab.FindType("u32"), 4
		linkage = pick(g, "", ".visible ")
	}
	g.module.WriteString(linkage + decl + "\n")
	if addresses {
		g.emit("ld.%s.u64 %%a0,[%s+%d];", space, name, 8*g.IntN(3))
		// an address may be of the space or generic: for .global both are the same; the generic one of .const is the
		// third kind
		g.emit("ld.b32 %%t1,[%%a0+%d];\nst.global.b32 [%s],%%t1;", 4*g.IntN(4), g.row(1))
		return
	}
	r := g.result(t, false)
	off := g.offset(size, total)
	g.emit("ld.%s.%s %s,[%s+%d];", space, t.Name, r.name, name, off)
	g.settle(r, "")
	g.fold(r)
}

// variable declares a variable of the kernel and uses it.
func (g *gen) variable() {
	n := g.label
	g.label++
	r, d := g.source(optab.FindType("u32"), false), g.result(optab.FindType("u32"), false)
	switch g.IntN(5) {
	case 0:
		g.emit("{\n.local .align 8 .b8 lv%d[32];\nst.local.b32 [lv%d+8],%s;\nmov.u32 %%t1,8;\ncvt.u64.u32 %%a1,%%t1;\nmov.u64 %%a0,lv%d;\nadd.u64 %%a0,%%a0,%%a1;\nld.local.b32 %s,[%%a0];\n}", n, n, r.name, n, d.name)
	case 1:
		g.emit("{\n.local .v4 .b32 lv%d;\nst.local.v4.b32 [lv%d],{%s,%%u0,%%s0,%%b1};\nld.local.b32 %s,[lv%d+%d];\n}",
			n, n, r.name, d.name, n, 4*g.IntN(4))
	case 2:
		g.emit("{\n.local .u32 lv%d[4][2];\nst.local.u32 [lv%d+%d],%s;\nld.local.u32 %s,[lv%d+%d];\n}", n, n, 12,
			r.name, d.name, n, 12)
	case 3: // a static variable of the function
		g.emit("{\n.global .align 4 .u32 sv%d[2]={%d,%d};\nld.global.u32 %s,[sv%d+%d];\n}", n, g.IntN(99), g.IntN(99),
			d.name, n, 4*g.IntN(2))
	default:
		if !g.uniform {
			g.instruction()
			return
		}
		g.need(fmt.Sprintf(".shared .b64 s%d;", n))
		g.emit("setp.eq.u32 %%pq,%%t,%d;\n@%%pq st.shared.b32 [s%d+4],%s;\nbar.sync 0;\nld.shared.b32 %s,[s%d+4];\nbar.sync 0;", g.IntN(32), n, r.name, d.name, n)
	}
	g.fold(d)
}

// function is a .func of the module.
type function struct {
	name  string
	head  string // declaration without body
	text  string
	vars  string // tables that need it declared
	decls []string
	rets  []*optab.Type
	args  []argument
	after bool // defined behind the kernel
	deep  bool // calls itself
	alias string
	table string // the table of pointers with it and another function of the same signature
}

// argument is a parameter or result: a register, a .param scalar, a vector or an array of bytes.
type argument struct {
	typ   *optab.Type
	param bool
	bytes int // of an array
	vec   int // elements of a vector
}

// decl is the argument's declaration.
func (a argument) decl(name string) string {
	space := "reg"
	if a.param {
		space = "param"
	}
	switch { // no vector lies in .param
	case a.bytes > 0:
		return fmt.Sprintf(".param .align 8 .b8 %s[%d]", name, a.bytes)
	case a.vec > 0:
		return fmt.Sprintf(".%s .v%d .%s %s", space, a.vec, a.typ.Name, name)
	}
	return fmt.Sprintf(".%s .%s %s", space, a.typ.Name, name)
}

func (g *gen) argument() argument {
	switch g.IntN(8) {
	case 0:
		return argument{typ: optab.FindType("b32"), param: true, bytes: 8 * (1 + g.IntN(4))}
	case 1:
		return argument{typ: optab.FindType(pick(g, "b32", "u32", "f32", "s32")), vec: pick(g, 2, 4)}
	case 2, 3, 4:
		return argument{typ: optab.FindType(pick(g, "b32", "u32", "s32", "f32", "b64", "u64", "f64", "s64")),
			param: true}
	}
	return argument{typ: optab.FindType(pick(g, "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"))}
}

func signature(list []argument, prefix string) string {
	var l []string
	for i, a := range list {
		name := "_"
		if prefix != "" {
			name = fmt.Sprintf("%s%d", prefix, i)
		}
		l = append(l, a.decl(name))
	}
	return strings.Join(l, ",")
}

// newFunction writes a function of a few statements. Its result is a checksum of what it computed.
func (g *gen) newFunction(like *function) *function {
	f := &function{name: fmt.Sprintf("f%d", len(g.funcs)), after: g.chance(3)}
	if like != nil {
		f.args, f.rets = like.args, like.rets
	} else {
		for range 1 + g.IntN(4) {
			f.args = append(f.args, g.argument())
		}
		f.deep = g.chance(5)
		if f.deep {
			f.args[0] = argument{typ: optab.FindType("u32")}
		}
	}
	ret := ".reg .b32 %ret"
	f.head = fmt.Sprintf("%s.func (%s) %s(%s)", pick(g, "", "", ".visible ", ".weak "), ret, f.name,
		signature(f.args, "%x_"))
	g.funcs = append(g.funcs, f)

	outerBody, outerRegs, outerFn, outerUniform, outerDepth, outerLoops := g.body, g.regs, g.fn, g.uniform, g.depth,
		g.loops
	g.body, g.regs, g.fn, g.uniform, g.depth, g.loops = nil, nil, f, false, 2, 1
	f.decls = append(f.decls, ".reg .b32 %acc,%t<8>;\n.reg .b64 %a<8>;\n.reg .pred %pf,%pt,%pq,%pn;\n.reg .b16 %hx<4>;")
	for _, s := range regSets {
		if s.typ == "b128" {
			continue
		}
		n := min(s.n, 2)
		f.decls = append(f.decls, fmt.Sprintf(".reg .%s %s<%d>;", s.typ, s.prefix, n))
		for i := range n {
			g.regs = append(g.regs, reg{fmt.Sprintf("%s%d", s.prefix, i), optab.FindType(s.typ)})
		}
	}
	g.emit("mov.b32 %%acc,%d;", g.IntN(1000))
	for i, a := range f.args {
		g.receive(i, a)
	}
	g.emit("mov.b32 %%b0,%%acc;\nadd.u32 %%b1,%%acc,77;\nxor.b32 %%u0,%%acc,0x1234;\nadd.u32 %%u1,%%u0,%%b1;\nmul.lo.s32 %%s0,%%u0,-3;\nshr.s32 %%s1,%%acc,7;\ncvt.rn.f32.s32 %%f0,%%s0;\ncvt.rn.f32.u32 %%f1,%%u0;\nmov.b32 %%x0,0x3c00bc00;\nmov.b64 %%lb0,{%%b0,%%b1};\nmov.b64 %%lb1,{%%u0,%%s0};\ncvt.u64.u32 %%lu0,%%u0;\ncvt.s64.s32 %%ls0,%%s0;\ncvt.rn.f64.s32 %%d0,%%s1;\ncvt.f64.f32 %%d1,%%f1;\nmov.b32 {%%hb0,%%hb1},%%acc;\ncvt.u16.u32 %%hu0,%%u0;\ncvt.s16.s32 %%hs0,%%s0;\nmov.b32 {%%hf0,%%hx0},%%x0;\ncvt.u8.u32 %%cb0,%%b0;\ncvt.u8.u32 %%cb1,%%u1;\ncvt.u8.u32 %%cu0,%%b1;\nsetp.lt.s32 %%p0,%%s0,%%s1;\nsetp.ne.u32 %%p1,%%u0,%%u1;\nsetp.ne.b32 %%pt,1,2;\nnot.pred %%pf,%%pt;")
	for range 1 + g.IntN(4) {
		g.statement()
	}
	for i := range g.regs {
		if g.chance(3) {
			g.mix(&g.regs[i])
		}
	}
	if f.deep {
		l := g.newLabel()
		g.emit("setp.eq.u32 %%pq,%%x_0,0;\n@%%pq bra %s;\nsub.u32 %%t1,%%x_0,1;\nmin.u32 %%t1,%%t1,3;", l)
		g.callLine(f, f.name, "", []string{"%t1"}, "%t2", "")
		g.emit("mad.lo.u32 %%acc,%%acc,31,%%t2;\n%s:", l)
	}
	g.emit("mov.b32 %%ret,%%acc;\n%s;", pick(g, "ret", "ret", "ret.uni"))
	f.text = f.head + "\n{\n" + strings.Join(f.decls, "\n") + "\n" + string(g.body) + "}\n"
	g.body, g.regs, g.fn, g.uniform, g.depth, g.loops = outerBody, outerRegs, outerFn, outerUniform, outerDepth,
		outerLoops
	return f
}

// receive folds a parameter into the checksum of the function.
func (g *gen) receive(i int, a argument) {
	name := fmt.Sprintf("%%x_%d", i)
	switch {
	case a.bytes > 0:
		for k := 0; k < a.bytes; k += 4 {
			g.emit("ld.param.b32 %%t1,[%s+%d];\nmad.lo.u32 %%acc,%%acc,31,%%t1;", name, k)
		}
	case a.vec > 0:
		for k := range a.vec {
			g.mix(&reg{name + "." + string("xyzw"[k]), a.typ})
		}
	case a.param:
		switch a.typ.Bits {
		case 64:
			g.emit("ld.param.b64 %%a7,[%s];", name)
			g.mix(&reg{"%a7", optab.FindType("b64")})
		default:
			g.emit("ld.param.b32 %%t1,[%s];\nmad.lo.u32 %%acc,%%acc,31,%%t1;", name)
		}
	default:
		g.mix(&reg{name, a.typ})
	}
}

// callLine writes a call in a scope of its own. first are the texts of leading arguments; others are chosen. callee may
// be a register, with a prototype or list of targets.
func (g *gen) callLine(f *function, callee, table string, first []string, result, guard string) {
	n := g.label
	g.label++
	g.emit("{")
	var names []string
	for i, a := range f.args {
		if i < len(first) {
			names = append(names, first[i])
			continue
		}
		name := fmt.Sprintf("ca%d_%d", n, i)
		switch {
		case a.bytes > 0:
			g.emit("%s;", a.decl(name))
			for k := 0; k < a.bytes; k += 8 {
				g.emit("st.param.b64 [%s+%d],%s;", name, k, g.source(optab.FindType("b64"), false).name)
			}
		case a.vec > 0:
			var l []string
			for range a.vec {
				l = append(l, g.source(optab.FindType("b32"), false).name)
			}
			g.emit("%s;", a.decl(name))
			for k, s := range l {
				g.emit("mov.b32 %s.%c,%s;", name, "xyzw"[k], s)
			}
		case a.param:
			g.emit("%s;\nst.param.b%d [%s],%s;", a.decl(name), a.typ.Bits, name,
				g.source(optab.FindType(fmt.Sprintf("b%d", a.typ.Bits)), false).name)
		default:
			t := a.typ
			name = g.source(t, false).name
			if t.Class != optab.Predicate && g.chance(6) {
				if s := g.immediate(t); s != "" && s[0] != '(' {
					name = s
				}
			}
		}
		names = append(names, name)
	}
	if table != "" {
		table = "," + table
	}
	g.emit("%scall%s (%s),%s,(%s)%s;\n}", guard, g.uniWord(guard), result, callee, strings.Join(names, ","), table)
}

// uniWord is .uni where all threads come.
func (g *gen) uniWord(guard string) string {
	if g.uniform && guard == "" && g.chance(3) {
		return ".uni"
	}
	return ""
}

// call calls a function: an old one or a new one, by name or through a pointer.
func (g *gen) call() { g.callSome(false) }

// callForm writes the form call.
func (g *gen) callForm(f *optab.Form, words []string, m *optab.Match) bool {
	if m.Has("uni") && !g.uniform {
		return false
	}
	g.callSome(m.Has("uni"))
	return true
}

func (g *gen) callSome(uni bool) {
	var f *function
	if g.fn == nil {
		if len(g.funcs) > 0 && g.chance(2) {
			f = pick(g, g.funcs...)
		} else if len(g.funcs) < 5 {
			f = g.newFunction(nil)
		} else {
			f = pick(g, g.funcs...)
		}
	} else { // functions call what was there before them, so that nothing calls itself by chance
		var list []*function
		for _, c := range g.funcs {
			if c == g.fn {
				break
			}
			list = append(list, c)
		}
		if len(list) == 0 {
			g.instruction()
			return
		}
		f = pick(g, list...)
	}
	if f.text == "" {
		g.instruction()
		return
	}
	if f.after && g.fn != nil && !g.fn.after {
		f.after = true
	}
	result := "%t2"
	var first []string
	if f.deep {
		first = []string{fmt.Sprint(g.IntN(4))}
	}
	guard := ""
	g.emit("mov.u32 %%t2,%d;", g.IntN(9))
	if g.chance(4) && !uni {
		guard = g.guard()
	}
	switch how := g.IntN(6); {
	case how == 0 && !uni:
		g.indirect(f, first, guard)
	case how == 1 && !uni && g.fn == nil:
		g.throughTable(f, first, guard)
	case how == 2 && g.fn == nil && !f.after && !f.deep && g.version >= 63:
		g.throughAlias(f, first, guard)
	default:
		if uni {
			g.emitUni(f, first)
		} else {
			g.callLine(f, f.name, "", first, result, guard)
		}
	}
	r := g.result(optab.FindType("b32"), false)
	g.emit("mov.b32 %s,%%t2;", r.name)
	g.fold(r)
	g.together()
}

// emitUni calls with .uni.
func (g *gen) emitUni(f *function, first []string) {
	before := len(g.body)
	g.callLine(f, f.name, "", first, "%t2", "")
	line := strings.Replace(string(g.body[before:]), "call (", "call.uni (", 1)
	g.body = append(g.body[:before], line...)
}

// prototype declares the prototype or the targets of an indirect call.
func (g *gen) prototype(f *function, targets string) (name, text string) {
	name = g.newLabel()
	if g.chance(2) {
		return name, fmt.Sprintf("%s: .calltargets %s;", name, targets)
	}
	return name, fmt.Sprintf("%s: .callprototype (.reg .b32 _) _ (%s);", name, signature(f.args, ""))
}

// indirect calls through a register.
func (g *gen) indirect(f *function, first []string, guard string) {
	p, text := g.prototype(f, f.name)
	g.emit("mov.u64 %%a3,%s;\n%s", f.name, text)
	g.callLine(f, "%a3", p, first, "%t2", guard)
}

// throughTable calls one of two functions of a table of pointers, each thread as its number says.
func (g *gen) throughTable(f *function, first []string, guard string) {
	if f.table == "" {
		other := g.newFunction(f)
		f.table = "ft" + f.name
		f.vars = fmt.Sprintf(".%s .u64 %s[2]={%s,%s};\n", pick(g, "global", "const"), f.table, f.name, other.name)
		f.alias = other.name
	}
	p, text := g.prototype(f, f.name+","+f.alias)
	space := "global"
	if strings.Contains(f.vars, ".const") {
		space = "const"
	}
	g.emit("and.b32 %%t1,%s,1;\nmul.wide.u32 %%a2,%%t1,8;\nmov.u64 %%a3,%s;\nadd.u64 %%a3,%%a3,%%a2;\nld.%s.u64 %%a3,[%%a3];\n%s", pick(g, "%t", "%b0", "%u1"), f.table, space, text)
	g.callLine(f, "%a3", p, first, "%t2", guard)
}

// throughAlias calls a function by another name.
func (g *gen) throughAlias(f *function, first []string, guard string) {
	name := f.name + "al"
	if !g.onDemand[name] {
		g.onDemand[name] = true
		f.head = strings.TrimPrefix(strings.TrimPrefix(f.head, ".visible "), ".weak ")
		i := strings.Index(f.text, ".func")
		f.text = ".visible " + f.text[i:]
		f.text += ".visible .func " + strings.Replace(f.head[len(".func "):], f.name+"(", name+"(", 1) + ";\n.alias " +
			name + "," + f.name + ";\n"
	}
	g.callLine(f, name, "", first, "%t2", guard)
}

// paramFunc writes a load or store of .param in a call: the bytes go through a function that hands them back.
func (g *gen) paramFunc(f *optab.Form, words []string, m *optab.Match, load bool) bool {
	const decl = ".func (.param .align 16 .b8 y[32]) echo(.param .align 16 .b8 x[32])\n{\n.reg .b64 %a<4>;\nld.param.v2.b64 {%a0,%a1},[x];\nst.param.v2.b64 [y],{%a0,%a1};\nld.param.v2.b64 {%a0,%a1},[x+16];\nst.param.v2.b64 [y+16],{%a0,%a1};\nret;\n}\n"
	size := accessSize(m)
	off := g.offset(size, 32)
	o := &f.Operands[1]
	if load {
		o = &f.Operands[0]
	}
	v, writes, ok := g.operand(m, o)
	if !ok || elements(m) > 1 && v[0] != '{' {
		return false
	}
	hint := ""
	if m.Has("L2::cache_hint") {
		hint = ",%a5"
	}
	line := fmt.Sprintf("%s [cx+%d],%s%s;", mnemonic(f, words), off, v, hint)
	if load {
		line = fmt.Sprintf("%s %s,[cy+%d]%s;", mnemonic(f, words), v, off, hint)
	}
	const open = "{\n.param .align 16 .b8 cx[32];\n.param .align 16 .b8 cy[32];\n"
	if !g.accepts(open + line + "\n}") {
		return false
	}
	if hint != "" {
		g.policy()
	}
	if !g.onDemand["echo"] {
		g.onDemand["echo"] = true
		g.module.WriteString(decl)
	}
	g.emit("%sst.param.v2.b64 [cx],{%%lb0,%%lb0};\nst.param.v2.b64 [cx+16],{%%ls0,%%lb0};", open)
	if !load {
		g.emit("%s", line)
	}
	g.emit("call (cy),echo,(cx);")
	if load {
		g.emit("%s\n}", line)
		for _, r := range writes {
			g.settle(r, "")
			g.fold(r)
		}
		return true
	}
	if g.fn != nil {
		g.emit("ld.param.b32 %%t1,[cy+%d];\n}\nmad.lo.u32 %%acc,%%acc,31,%%t1;", off&^3)
		return true
	}
	g.emit("ld.param.v4.b32 {%%t1,%%t2,%%t3,%%t4},[cy+%d];\n}\nst.global.v4.b32 [%s],{%%t1,%%t2,%%t3,%%t4};", off&^15,
		g.row(4))
	return true
}
