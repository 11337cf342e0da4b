package randc

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Inputs is how many 32-bit words a function reads.
const Inputs = 8

// typ is a C type of a value.
type typ struct {
	name   string
	bits   int
	signed bool
	float  bool
}

var types = []typ{
	{"i8", 8, true, false}, {"u8", 8, false, false}, {"i16", 16, true, false}, {"u16", 16, false, false},
	{"i32", 32, true, false}, {"u32", 32, false, false}, {"i64", 64, true, false}, {"u64", 64, false, false},
	{"f32", 32, true, true}, {"f64", 64, true, true},
}

// Prelude declares what every function uses. It is the same for host and device.
const Prelude = `typedef signed char i8; typedef unsigned char u8; typedef short i16; typedef unsigned short u16;
typedef int i32; typedef unsigned u32; typedef long long i64; typedef unsigned long long u64; typedef float f32; typedef double f64;
#define INLINE static inline
#define NOINLINE static __attribute__((noinline))
INLINE u32 bits_f32(f32 x) { u32 b; if (x != x) return 0x7fc00000u; __builtin_memcpy(&b, &x, 4); return b; }
INLINE u64 bits_f64(f64 x) { u64 b; if (x != x) return 0x7ff8000000000000ull; __builtin_memcpy(&b, &x, 8); return b; }
INLINE f32 f32_of(u32 b) { f32 x; __builtin_memcpy(&x, &b, 4); return x != x ? 1.5f : x; }
INLINE f64 f64_of(u64 b) { f64 x; __builtin_memcpy(&x, &b, 8); return x != x ? 2.5 : x; }
INLINE u64 mix(u64 h, u64 v) { h ^= v; h *= 0x9e3779b97f4a7c15ull; return h ^ h >> 29; }
`

// generator writes one function and its helpers.
type generator struct {
	r     *rand.Rand
	seed  uint64
	b     strings.Builder
	vars  []variable
	funcs []function
	n     int // names given
	loops int
	ind   string
}

type variable struct {
	name  string
	t     typ
	fixed bool // a loop counter
}

type function struct {
	name string
	ret  typ
	args []typ
}

// Function returns the text of "static u64 fnSEED(const u32 *in)" with what it needs.
func Function(seed uint64) string {
	g := &generator{r: rand.New(rand.NewPCG(seed, 0x72616e6463)), seed: seed, ind: "\t"}
	g.table()
	for range g.r.IntN(4) {
		g.helper()
	}
	if g.chance(3) {
		g.recursive()
	}
	g.vars = nil
	fmt.Fprintf(&g.b, "static u64 fn%d(const u32 *in) {\n\tu64 h = %s;\n", seed, g.constant(types[7]))
	for i := range Inputs {
		t := g.typ()
		g.declare(t, g.from(t, i))
	}
	g.aggregate()
	g.statements(3+g.r.IntN(5), 2)
	for _, v := range g.vars {
		fmt.Fprintf(&g.b, "\th = mix(h, %s);\n", g.raw(v))
	}
	g.b.WriteString("\treturn h;\n}\n")
	return g.b.String()
}

func (g *generator) chance(n int) bool { return g.r.IntN(n) == 0 }

func (g *generator) typ() typ { return types[g.r.IntN(len(types))] }

func (g *generator) name(prefix string) string {
	g.n++
	return fmt.Sprintf("%s%d_%d", prefix, g.seed, g.n)
}

func (g *generator) line(format string, a ...any) { fmt.Fprintf(&g.b, g.ind+format+"\n", a...) }

// declare declares a variable with a value and makes it one of those that expressions read.
func (g *generator) declare(t typ, value string) {
	v := variable{name: g.name("v"), t: t}
	volatile := ""
	if g.chance(40) {
		volatile = "volatile "
	}
	g.line("%s%s %s = %s;", volatile, t.name, v.name, value)
	g.vars = append(g.vars, v)
}

// raw is the expression of a variable's bits.
func (g *generator) raw(v variable) string {
	if v.t.float {
		return fmt.Sprintf("bits_%s(%s)", v.t.name, v.name)
	}
	return "(u64)" + v.name
}

// from makes a value of input word i.
func (g *generator) from(t typ, i int) string {
	switch {
	case t.name == "f32" && g.chance(2):
		return fmt.Sprintf("f32_of(in[%d])", i)
	case t.name == "f64" && g.chance(2):
		return fmt.Sprintf("f64_of((u64)in[%d] << 32 | in[%d])", i, (i+1)%Inputs)
	case t.float:
		return fmt.Sprintf("(%s)(i32)in[%d]", t.name, i)
	case t.bits == 64 && g.chance(2):
		return fmt.Sprintf("(%s)((u64)in[%d] << 32 | in[%d])", t.name, i, (i+3)%Inputs)
	}
	return fmt.Sprintf("(%s)in[%d]", t.name, i)
}

// constants that are at the edges of something.
var edges = []uint64{0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 63, 64, 100, 127, 128, 255, 256, 1000, 32767, 32768, 65535,
	65536,
	0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff}

var floats = []string{"0.0", "-0.0", "1.0", "-1.0", "0.5", "1.5", "3.0", "0.1", "1e10", "-7.25", "16777216.0",
	"16777217.0",
	"1e-40", "3e38", "1e-300", "4.9e-324", "1.0000001", "123456.789"}

func (g *generator) constant(t typ) string {
	if t.float {
		return "(" + t.name + ")" + floats[g.r.IntN(len(floats))]
	}
	v := edges[g.r.IntN(len(edges))]
	if g.chance(3) {
		v = g.r.Uint64() >> g.r.IntN(60)
	}
	return fmt.Sprintf("(%s)%dull", t.name, v)
}

// convert makes an expression of one type a value of another.
func convert(e string, from, to typ) string {
	switch {
	case from == to:
		return e
	case from.float && !to.float:
		// In range for every integer type, 0 for what is not a number.
		limit := map[int]string{8: "100.0", 16: "30000.0", 32: "2000000000.0", 64: "9000000000000000000.0"}[to.bits]
		low := "-" + limit
		if !to.signed {
			low = "0.0"
		}
		return fmt.Sprintf("({ %s x_ = %s; x_ > %s && x_ < %s ? (%[5]s)x_ : (%[5]s)0; })", from.name, e, low, limit,
			to.name)
	}
	return fmt.Sprintf("((%s)(%s))", to.name, e)
}

// value returns an expression of type t without operators.
func (g *generator) value(t typ) string {
	if len(g.vars) == 0 || g.chance(5) {
		return g.constant(t)
	}
	v := g.vars[g.r.IntN(len(g.vars))]
	if !v.t.float || t.float {
		return convert(v.name, v.t, t)
	}
	return fmt.Sprintf("((%s)bits_%s(%s))", t.name, v.t.name, v.name)
}

// expr returns an expression of type t.
func (g *generator) expr(t typ, depth int) string {
	if depth <= 0 {
		return g.value(t)
	}
	sub := func(u typ) string { return g.expr(u, depth-1-g.r.IntN(2)) }
	switch n := g.r.IntN(20); {
	case n == 0:
		return fmt.Sprintf("(%s ? %s : %s)", g.condition(depth-1), sub(t), sub(t))
	case n == 1 && len(g.funcs) > 0:
		return g.call(t, depth)
	case n == 2:
		if u := g.typ(); !u.float || t.float {
			return convert(sub(u), u, t)
		}
		u := types[8+g.r.IntN(2)]
		return convert(sub(u), u, t)
	case n == 3 && !t.float:
		return fmt.Sprintf("((%s)%s)", t.name, g.condition(depth-1))
	}
	if t.float {
		return g.floatExpr(t, sub)
	}
	return g.intExpr(t, sub)
}

func (g *generator) floatExpr(t typ, sub func(typ) string) string {
	suffix := ""
	if t.bits == 32 {
		suffix = "f"
	}
	switch g.r.IntN(9) {
	case 0, 1:
		return fmt.Sprintf("(%s + %s)", sub(t), sub(t))
	case 2:
		return fmt.Sprintf("(%s - %s)", sub(t), sub(t))
	case 3, 4:
		return fmt.Sprintf("(%s * %s)", sub(t), sub(t))
	case 5:
		return fmt.Sprintf("(%s / %s)", sub(t), sub(t))
	case 6:
		return fmt.Sprintf("__builtin_fma%s(%s, %s, %s)", suffix, sub(t), sub(t), sub(t))
	case 7:
		return fmt.Sprintf("__builtin_sqrt%[1]s(__builtin_fabs%[1]s(%[2]s))", suffix, sub(t))
	}
	return fmt.Sprintf("(-%s)", sub(t))
}

func (g *generator) intExpr(t typ, sub func(typ) string) string {
	// Arithmetic in the unsigned type of at least 32 bits, which neither overflows nor promotes to int.
	u := types[5]
	if t.bits == 64 {
		u = types[7]
	}
	a, b := convert(sub(t), t, u), convert(sub(t), t, u)
	s := types[4]
	if u.bits == 64 {
		s = types[6]
	}
	signed := t.signed && g.chance(2)
	var e string
	switch g.r.IntN(16) {
	case 0, 1:
		e = fmt.Sprintf("%s + %s", a, b)
	case 2:
		e = fmt.Sprintf("%s - %s", a, b)
	case 3, 4:
		e = fmt.Sprintf("%s * %s", a, b)
	case 5, 6:
		op := []string{"/", "%"}[g.r.IntN(2)]
		if signed {
			return fmt.Sprintf("((%[1]s)((%[2]s)%[3]s %[4]s ((%[2]s)((%[5]s & 0x7fff) + 1))))", t.name, s.name, a, op,
				b)
		}
		e = fmt.Sprintf("%s %s (%s | 1)", a, op, b)
	case 7:
		e = fmt.Sprintf("%s << (%s & %d)", a, b, u.bits-1)
	case 8:
		if signed { // arithmetic on every compiler there is
			return fmt.Sprintf("((%s)((%s)%s >> (%s & %d)))", t.name, s.name, a, b, u.bits-1)
		}
		e = fmt.Sprintf("%s >> (%s & %d)", a, b, u.bits-1)
	case 9:
		e = fmt.Sprintf("%s %s %s", a, []string{"&", "|", "^"}[g.r.IntN(3)], b)
	case 10:
		e = "~" + a
	case 11:
		n := 1 + g.r.IntN(u.bits-1)
		e = fmt.Sprintf("({ %s x_ = %s; x_ << %d | x_ >> %d; })", u.name, a, n, u.bits-n)
	case 12:
		if u.bits == 64 {
			e = fmt.Sprintf([]string{"__builtin_popcountll(%s)", "__builtin_clzll(%s | 1)",
				"__builtin_ctzll(%s | 1ull << 63)",
				"__builtin_bitreverse64(%s)", "__builtin_bswap64(%s)"}[g.r.IntN(5)], a)
		} else {
			e = fmt.Sprintf([]string{"__builtin_popcount(%s)", "__builtin_clz(%s | 1)", "__builtin_ctz(%s | 1u << 31)",
				"__builtin_bitreverse32(%s)", "__builtin_bswap32(%s)"}[g.r.IntN(5)], a)
		}
	case 13:
		if u.bits == 64 {
			e = fmt.Sprintf("(u64)((unsigned __int128)%s * %s >> 64)", a, b)
		} else {
			e = fmt.Sprintf("(u32)((u64)%s * %s >> 32)", a, b)
		}
	case 14:
		e = fmt.Sprintf("({ %[1]s x_ = %[2]s; %[1]s y_ = %[3]s; x_ %[4]s y_ ? x_ : y_; })", u.name, a, b,
			[]string{"<", ">"}[g.r.IntN(2)])
	default:
		e = fmt.Sprintf("table%d[(%s) & 15] ^ %s", g.seed, a, b)
	}
	return fmt.Sprintf("((%s)(%s))", t.name, e)
}

func (g *generator) condition(depth int) string {
	switch g.r.IntN(6) {
	case 0:
		return fmt.Sprintf("(%s && %s)", g.condition(0), g.condition(0))
	case 1:
		return fmt.Sprintf("(%s || %s)", g.condition(0), g.condition(0))
	case 2:
		return fmt.Sprintf("!%s", g.condition(0))
	}
	t := g.typ()
	op := []string{"<", "<=", ">", ">=", "==", "!="}[g.r.IntN(6)]
	return fmt.Sprintf("(%s %s %s)", g.expr(t, depth), op, g.expr(t, depth))
}

func (g *generator) call(t typ, depth int) string {
	f := g.funcs[g.r.IntN(len(g.funcs))]
	var args []string
	for _, a := range f.args {
		args = append(args, g.expr(a, depth-2))
	}
	e := fmt.Sprintf("%s(%s)", f.name, strings.Join(args, ", "))
	if f.ret.float && !t.float {
		return fmt.Sprintf("((%s)bits_%s(%s))", t.name, f.ret.name, e)
	}
	return convert(e, f.ret, t)
}

// table writes a constant array.
func (g *generator) table() {
	var list []string
	for range 16 {
		list = append(list, g.constant(types[7]))
	}
	fmt.Fprintf(&g.b, "static const u64 table%d[16] = {%s};\n", g.seed, strings.Join(list, ", "))
}

// helper writes a function of a few arguments, now and then with a struct by value inside.
func (g *generator) helper() {
	f := function{name: g.name("g"), ret: g.typ()}
	g.vars = nil
	var params []string
	for range 1 + g.r.IntN(5) {
		v := variable{name: g.name("a"), t: g.typ()}
		f.args = append(f.args, v.t)
		g.vars = append(g.vars, v)
		params = append(params, v.t.name+" "+v.name)
	}
	how := []string{"INLINE", "NOINLINE"}[g.r.IntN(2)]
	fmt.Fprintf(&g.b, "%s %s %s(%s) {\n", how, f.ret.name, f.name, strings.Join(params, ", "))
	g.statements(1+g.r.IntN(4), 2)
	g.line("return %s;\n}", g.expr(f.ret, 3))
	g.funcs = append(g.funcs, f)
}

// recursive writes a function that calls itself a few times.
func (g *generator) recursive() {
	f := function{name: g.name("r"), ret: types[7], args: []typ{types[7]}}
	n := 2 + g.r.IntN(6)
	g.vars = []variable{{name: "x", t: types[7]}}
	fmt.Fprintf(&g.b, "NOINLINE u64 %[1]s_at(u64 x, u32 n) {\n\tif (n == 0) return %[2]s;\n\tu64 y = %[1]s_at(%[3]s, n - 1);\n\treturn mix(x, y);\n}\n",
		f.name, g.expr(types[7], 2), g.expr(types[7], 2))
	fmt.Fprintf(&g.b, "INLINE u64 %[1]s(u64 x) { return %[1]s_at(x, %[2]d); }\n", f.name, n)
	g.funcs = append(g.funcs, f)
}

// aggregate declares a struct, an array and a table of function pointers, and uses them.
func (g *generator) aggregate() {
	if g.chance(2) {
		s := g.name("s")
		fields := []typ{g.typ(), g.typ(), g.typ()}
		g.line("struct %[1]s { %[2]s a; %[3]s b[3]; %[4]s c; } %[1]s_v[2] = {0};", s, fields[0].name, fields[1].name,
			fields[2].name)
		g.line("%s_v[0].a = %s;", s, g.expr(fields[0], 2))
		g.line("%s_v[0].b[%s %% 3] = %s;", s, g.value(types[5]), g.expr(fields[1], 2))
		g.line("%s_v[0].c = %s;", s, g.expr(fields[2], 2))
		g.line("%[1]s_v[%[2]s & 1] = %[1]s_v[0];", s, g.value(types[5]))
		g.declare(fields[0], s+"_v[1].a")
		g.declare(fields[1], fmt.Sprintf("%s_v[%s & 1].b[%s %% 3]", s, g.value(types[5]), g.value(types[5])))
		g.declare(fields[2], s+"_v[1].c")
	}
	if g.chance(2) {
		t, a, i := g.typ(), g.name("m"), g.name("i")
		n := 4 << g.r.IntN(4)
		g.line("%s %s[%d];", t.name, a, n)
		g.vars = append(g.vars, variable{name: i, t: types[5], fixed: true})
		g.line("for (u32 %[1]s = 0; %[1]s < %[2]d; %[1]s++) %[3]s[%[1]s] = %[4]s;", i, n, a, g.expr(t, 2))
		g.vars = g.vars[:len(g.vars)-1]
		g.line("%s[%s & %d] = %s;", a, g.value(types[5]), n-1, g.expr(t, 2))
		for range 2 {
			g.declare(t, fmt.Sprintf("%s[%s & %d]", a, g.value(types[5]), n-1))
		}
	}
	if g.chance(3) {
		for i := range g.funcs {
			f := g.funcs[i]
			p := g.name("p")
			var args []string
			for _, a := range f.args {
				args = append(args, a.name)
			}
			g.line("%s (*%s)(%s) = %s ? %s : %s;", f.ret.name, p, strings.Join(args, ", "), g.condition(1), f.name,
				f.name)
			var values []string
			for _, a := range f.args {
				values = append(values, g.expr(a, 1))
			}
			g.declare(f.ret, fmt.Sprintf("%s(%s)", p, strings.Join(values, ", ")))
		}
	}
}

// statements writes a few statements.
func (g *generator) statements(n, nest int) {
	for range n {
		g.statement(nest)
	}
}

func (g *generator) block(nest int) {
	kept := len(g.vars)
	g.ind += "\t"
	g.statements(1+g.r.IntN(3), nest-1)
	g.ind = g.ind[1:]
	g.vars = g.vars[:kept]
}

func (g *generator) assign() {
	for range 8 {
		v := g.vars[g.r.IntN(len(g.vars))]
		if v.fixed {
			continue
		}
		g.line("%s = %s;", v.name, g.expr(v.t, 3))
		return
	}
	t := g.typ()
	g.declare(t, g.expr(t, 3))
}

func (g *generator) statement(nest int) {
	n := g.r.IntN(12)
	if nest <= 0 && n > 5 || g.loops > 1 && n == 9 {
		n = 0
	}
	switch {
	case n < 3 && len(g.vars) > 0:
		g.assign()
	case n < 6:
		t := g.typ()
		g.declare(t, g.expr(t, 3))
	case n < 8:
		g.line("if (%s) {", g.condition(2))
		g.block(nest)
		if g.chance(2) {
			g.line("} else {")
			g.block(nest)
		}
		g.line("}")
	case n < 10:
		i := g.name("i")
		g.line("for (u32 %[1]s = 0; %[1]s < %[2]s %% %[3]d; %[1]s++) {", i, g.value(types[5]), 1+g.r.IntN(12))
		g.vars = append(g.vars, variable{name: i, t: types[5], fixed: true})
		g.loops++
		if g.chance(3) {
			g.line("\tif (%s) %s;", g.condition(1), []string{"break", "continue"}[g.r.IntN(2)])
		}
		g.block(nest)
		g.loops--
		g.vars = g.vars[:len(g.vars)-1]
		g.line("}")
	default:
		cases := 2 + g.r.IntN(8)
		g.line("switch (%s %% %d) {", g.value(types[5]), cases+1)
		for c := range cases {
			g.line("case %d: {", c)
			g.block(nest)
			if g.chance(4) {
				g.line("}")
			} else {
				g.line("} break;")
			}
		}
		g.line("}")
	}
}
