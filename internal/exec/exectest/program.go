package exectest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Program is a generated kernel named k with the parameters (.u64 out, .u64 total). Thread number g of the grid stores
// 32-bit words to out[2*g] and out[2*g+1]; threads that exit early leave them as they are. *total is a sum over
// threads.
//
// The kernel has no races and every thread's result is defined by the PTX ISA: whatever order threads run in, words and
// sum are the same. It diverges by data, loops with trip counts and exits of its own for each thread, meets at barriers
// in one or in both branches of a condition, exchanges words through shared memory, votes and reduces among exactly the
// lanes that are there, and calls functions: directly, through pointers, recursively.
type Program struct {
	Source string
	Block  uint32
	Grid   uint32
}

const (
	dataRegs = 6
	funcs    = 3
)

type generator struct {
	*rand.Rand
	b      strings.Builder
	label  int
	preds  int
	masks  int
	trips  int
	depth  int
	block  uint32
	inFunc bool
	level  int // of the function in hand: it may call those with higher numbers
	cost   int // how often the statement in hand runs, at most
	words  int // statements left
	plain  bool
}

// GeneratePlain makes a program without calls, branch tables and operations among lanes, in which many values are the
// same for all threads or rise with the thread's number: what engines treat in ways of their own.
func GeneratePlain(r *rand.Rand) Program {
	g := &generator{Rand: r, cost: 1, plain: true}
	sizes := []uint32{1, 16, 31, 32, 48, 64, 80, 96, 100, 128}
	g.block = sizes[r.IntN(len(sizes))]
	text := ".version 8.6\n.target sm_90\n.address_size 64\n" + g.kernel()
	return Program{Source: text, Block: g.block, Grid: uint32(1 + r.IntN(3))}
}

// Generate makes a program from a source of random numbers.
func Generate(r *rand.Rand) Program {
	g := &generator{Rand: r, cost: 1}
	sizes := []uint32{1, 7, 31, 32, 33, 48, 64, 96, 100}
	g.block = sizes[r.IntN(len(sizes))]
	p := Program{Block: g.block, Grid: uint32(1 + r.IntN(3))}
	var text strings.Builder
	text.WriteString(".version 8.6\n.target sm_90\n.address_size 64\n")
	for i := range funcs {
		fmt.Fprintf(&text, ".func (.param .b32 r) f%d(.param .b32 a, .param .b32 b);\n.func (.reg .u32 %%r) h%d(.reg .u32 %%a, .reg .b16 %%s, .reg .pred %%q);\n", i, i)
	}
	for i := range funcs {
		text.WriteString(g.function(i))
		text.WriteString(g.registerFunction(i))
	}
	text.WriteString(g.kernel())
	p.Source = text.String()
	return p
}

func (g *generator) emit(format string, args ...any) {
	fmt.Fprintf(&g.b, "\t"+format+"\n", args...)
}

func (g *generator) mark(label string) { fmt.Fprintf(&g.b, "%s:\n", label) }

func (g *generator) newLabel() string {
	g.label++
	return fmt.Sprintf("L%d", g.label)
}

func (g *generator) pred() string {
	g.preds++
	return fmt.Sprintf("%%p%d", g.preds)
}

func (g *generator) mask() string {
	g.masks++
	return fmt.Sprintf("%%m%d", g.masks)
}

func (g *generator) trip() string {
	g.trips++
	return fmt.Sprintf("%%c%d", g.trips)
}

func (g *generator) reg() string { return fmt.Sprintf("%%v%d", g.IntN(dataRegs)) }

func (g *generator) src() string {
	if g.IntN(4) == 0 {
		return fmt.Sprint(g.IntN(1000))
	}
	return g.reg()
}

func (g *generator) decls() string {
	return fmt.Sprintf("\t.reg .b32 %%v<%d>, %%t, %%w, %%n, %%lane, %%sm, %%x<8>, %%m<%d>, %%c<%d>, %%y<%d>; .reg .pred %%p<%d>; .reg .b64 %%q<8>; .reg .b16 %%h<4>;\n", dataRegs, g.masks+1, g.trips+1, g.trips+1, g.preds+1)
}

// condition sets a new predicate by data.
func (g *generator) condition() string {
	p := g.pred()
	g.emit("and.b32 %%x0, %s, %d;", g.reg(), 1<<g.IntN(4)*2-1)
	g.emit("setp.%s.u32 %s, %%x0, %d;", []string{"lt", "ge", "eq", "ne", "gt", "le"}[g.IntN(6)], p, g.IntN(8))
	return p
}

func (g *generator) reset() {
	g.b.Reset()
	g.preds, g.masks, g.trips, g.depth, g.cost = 0, 0, 0, 0, 1
}

func (g *generator) function(i int) string {
	g.reset()
	g.inFunc, g.level = true, i
	g.words = 10
	g.emit("ld.param.b32 %%v0, [a];\n\tld.param.b32 %%v1, [b];")
	for j := 2; j < dataRegs; j++ {
		g.emit("add.u32 %%v%d, %%v%d, %d;", j, j-2, g.IntN(100))
	}
	g.emit(".local .align 8 .b8 stack[32];")
	g.emit("and.b32 %%x1, %%v0, 7;\n\tmov.u64 %%q1, stack;\n\tmad.wide.u32 %%q1, %%x1, 4, %%q1;\n\tst.local.u32 [%%q1], %%v1;")
	if g.IntN(2) == 0 { // recursion on the bits of the first argument
		p := g.pred()
		stop := g.newLabel()
		g.emit("setp.gt.u32 %s, %%v0, 100;\n\t@%s shr.u32 %%v0, %%v0, 9;", p, p)
		p = g.pred()
		g.emit("and.b32 %%x2, %%v0, 3;\n\tsetp.eq.u32 %s, %%x2, 0;\n\t@%s bra %s;", p, p, stop)
		g.emit("sub.u32 %%x2, %%x2, 1;")
		g.call(fmt.Sprintf("f%d", i), "%x2", g.reg(), g.reg())
		g.mark(stop)
	}
	g.block_(nil)
	if g.IntN(2) == 0 {
		p := g.condition()
		g.emit("@%s st.param.b32 [r], %s;\n\t@%s ret;", p, g.reg(), p)
		g.block_(nil)
	}
	g.emit("ld.local.u32 %%x3, [%%q1];\n\txor.b32 %%v0, %%v0, %%x3;")
	g.emit("st.param.b32 [r], %s;\n\tret;", g.reg())
	return fmt.Sprintf(".func (.param .b32 r) f%d(.param .b32 a, .param .b32 b)\n{\n", i) + g.decls() + g.b.String() +
		"}\n"
}

// registerFunction has registers as parameters.
func (g *generator) registerFunction(i int) string {
	g.reset()
	g.inFunc, g.level = true, funcs // calls nothing
	g.words = 6
	g.emit("mov.u32 %%v0, %%a;\n\tcvt.u32.u16 %%v1, %%s;\n\tselp.u32 %%v2, 17, 4, %%q;\n\tmov.u32 %%v3, %%v0;\n\tadd.u32 %%v4, %%v1, %%v2;\n\tsub.u32 %%v5, %%v1, %%v0;")
	g.block_(nil)
	g.emit("mov.u32 %%r, %s;", g.reg())
	if g.IntN(2) == 0 {
		p := g.condition()
		g.emit("@%s ret;", p)
		g.emit("add.u32 %%r, %%r, 3;")
	}
	g.emit("ret;")
	d := strings.Replace(g.decls(), "%q<8>", "%qq<8>", 1)
	return fmt.Sprintf(".func (.reg .u32 %%r) h%d(.reg .u32 %%a, .reg .b16 %%s, .reg .pred %%q)\n{\n", i) + d +
		g.b.String() + "}\n"
}

func (g *generator) call(f, a, b, to string) {
	g.emit("{ .param .b32 pa; .param .b32 pb; .param .b32 pr;")
	g.emit("st.param.b32 [pa], %s; st.param.b32 [pb], %s;", a, b)
	guard := ""
	if g.IntN(3) == 0 {
		guard = "@" + []string{"", "!"}[g.IntN(2)] + g.condition() + " "
		g.emit("st.param.b32 [pr], %s;", b)
	}
	if f == "" {
		p := g.condition()
		g.emit("mov.u64 %%q3, f%d; mov.u64 %%q4, f%d; selp.b64 %%q3, %%q3, %%q4, %s;", g.level+g.IntN(funcs-g.level),
			g.level+g.IntN(funcs-g.level), p)
		l := g.newLabel()
		g.emit("%s: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);", l)
		g.emit("%scall (pr), %%q3, (pa, pb), %s;", guard, l)
	} else {
		g.emit("%scall (pr), %s, (pa, pb);", guard, f)
	}
	g.emit("ld.param.b32 %s, [pr]; }", to)
}

// context is the set of threads that run a statement, where the program knows it: mask names the register with the
// lanes of the warp, exited ones included; all says that it is all of the block's threads.
type context struct {
	mask string
	all  bool
}

func (g *generator) block_(c *context) {
	for n := 1 + g.IntN(4); n > 0 && g.words > 0; n-- {
		g.statement(c)
	}
}

func (g *generator) statement(c *context) {
	g.words--
	k := g.IntN(100)
	if g.plain && (k >= 68 && k < 90 || k == 98) {
		k = []int{0, 50, 60, 95}[k%4]
	}
	switch {
	case k < 40 || g.depth > 3 || g.cost > 300:
		g.assign()
	case k < 55:
		g.conditional(c)
	case k < 68:
		g.loop(c)
	case k < 74:
		g.branchTable(c)
	case k < 82:
		g.calls()
	case k < 90 && c != nil:
		g.warpwide(c)
	case k < 97 && c != nil && c.all:
		g.exchange()
	case k < 99 && !g.inFunc && c != nil && c.all && g.depth == 0:
		p := g.condition()
		g.emit("setp.eq.and.u32 %s, %%lane, %d, %s;\n\t@%s exit;", p, g.IntN(32), p, p)
	default:
		g.assign()
	}
}

func (g *generator) assign() {
	guard := ""
	if g.IntN(4) == 0 {
		guard = "@" + []string{"", "!"}[g.IntN(2)] + g.condition() + " "
	}
	switch op := []string{"add.u32", "sub.u32", "mul.lo.u32", "xor.b32", "and.b32", "or.b32", "min.u32", "max.u32",
		"shl.b32", "shr.u32", "selp.u32", "mad.lo.u32", "narrow"}[g.IntN(13)]; op {
	case "narrow":
		if g.plain {
			g.emit("%scvt.u64.u32 %%q6, %s;\n\tmad.wide.u32 %%q6, %s, %d, %%q6;", guard, g.reg(), g.reg(), 1+g.IntN(9))
			g.emit("%scvt.u32.u64 %s, %%q6;", guard, g.reg())
			break
		}
		g.emit("cvt.u16.u32 %%h1, %s;\n\tadd.u16 %%h1, %%h1, %d;", g.reg(), g.IntN(60000))
		g.emit("%scvt.u32.u16 %s, %%h1;", guard, g.reg())
	case "shl.b32", "shr.u32":
		g.emit("%s%s %s, %s, %d;", guard, op, g.reg(), g.reg(), g.IntN(12))
	case "selp.u32":
		p := g.condition()
		g.emit("%sselp.u32 %s, %s, %s, %s;", guard, g.reg(), g.src(), g.src(), p)
	case "mad.lo.u32":
		g.emit("%s%s %s, %s, %s, %s;", guard, op, g.reg(), g.reg(), g.src(), g.src())
	default:
		g.emit("%s%s %s, %s, %s;", guard, op, g.reg(), g.reg(), g.src())
	}
}

// divide returns the contexts of the two sides of a condition, where c is known. Barriers stay out of both but for
// those that conditional makes.
func (g *generator) divide(c *context, p string) (yes, no *context) {
	if c == nil || g.plain {
		return nil, nil
	}
	y, n := g.mask(), g.mask()
	g.emit("vote.sync.ballot.b32 %s, %s, %s;\n\tnot.b32 %s, %s;\n\tand.b32 %s, %s, %s;", y, p, c.mask, n, y, n, n,
		c.mask)
	return &context{mask: y}, &context{mask: n}
}

func (g *generator) conditional(c *context) {
	p := g.condition()
	yes, no := g.divide(c, p)
	other, end := g.newLabel(), g.newLabel()
	meet := c != nil && c.all && !g.plain && g.IntN(3) == 0
	g.depth++
	g.emit("@!%s bra %s;", p, other)
	g.block_(yes)
	if meet {
		g.emit("barrier.sync 1;")
	}
	if g.IntN(3) > 0 || meet {
		g.emit("bra %s;", end)
		g.mark(other)
		g.block_(no)
		if meet {
			g.emit("barrier.sync 1;")
		}
	} else {
		g.mark(other)
	}
	g.depth--
	g.mark(end)
}

// loop runs 1 to 4 times, or until a thread leaves it; or skips its rest and goes on with the next round.
func (g *generator) loop(c *context) {
	n := g.trip()
	p := g.pred()
	head, next, end := g.newLabel(), g.newLabel(), g.newLabel()
	uniform := c != nil && c.all && g.IntN(2) == 0
	if uniform {
		g.emit("mov.u32 %s, %d;", n, 1+g.IntN(3))
	} else {
		g.emit("and.b32 %s, %s, 3;", n, g.reg())
	}
	inner := c
	if g.plain && !uniform {
		inner = nil
	} else if c != nil && !uniform {
		m := g.mask()
		g.emit("mov.u32 %s, %s;", m, c.mask)
		inner = &context{mask: m}
	}
	g.depth++
	old := g.cost
	g.cost *= 4
	carried := g.IntN(2) == 0 // a value that only later rounds read
	start := g.pred()
	if carried {
		g.emit("setp.eq.u32 %s, %s, 5;", start, n)
	}
	g.mark(head)
	if carried {
		r := g.reg()
		g.emit("@%s add.u32 %s, %s, %%y%s;", start, r, r, n[2:])
		g.emit("setp.ge.u32 %s, %s, 0;", start, n)
	}
	g.block_(inner)
	if c == nil && g.IntN(2) == 0 {
		g.emit("@%s bra %s;", g.condition(), []string{end, next}[g.IntN(2)])
		g.block_(nil)
	}
	g.mark(next)
	if carried {
		g.emit("xor.b32 %%y%s, %s, %d;", n[2:], g.reg(), g.IntN(1000))
	}
	g.emit("setp.ne.u32 %s, %s, 0;\n\tsub.u32 %s, %s, 1;", p, n, n, n)
	if c != nil && !uniform && !g.plain {
		g.emit("vote.sync.ballot.b32 %s, %s, %s;", inner.mask, p, inner.mask)
	}
	g.emit("@%s bra %s;", p, head)
	g.mark(end)
	g.cost = old
	g.depth--
}

func (g *generator) branchTable(c *context) {
	if c != nil && c.all { // threads come back together, but not known to be of one mind in between
		c = nil
	}
	n := 2 + g.IntN(3)
	var labels []string
	for range n {
		labels = append(labels, g.newLabel())
	}
	end, table := g.newLabel(), g.newLabel()
	g.emit("%s: .branchtargets %s;", table, strings.Join(labels, ", "))
	guard := ""
	if g.IntN(3) == 0 {
		guard = "@" + g.condition() + " "
	}
	g.emit("and.b32 %%x4, %s, 1023;\n\trem.u32 %%x4, %%x4, %d;\n\t%sbrx.idx %%x4, %s;", g.reg(), n, guard, table)
	if guard != "" {
		g.assign()
	}
	g.depth++
	for _, l := range labels {
		g.mark(l)
		g.block_(nil)
		if g.IntN(4) > 0 {
			g.emit("bra %s;", end)
		}
	}
	g.depth--
	g.mark(end)
}

func (g *generator) calls() {
	if g.level >= funcs || g.depth > 2 && g.inFunc || g.cost > 20 {
		g.assign()
		return
	}
	if g.IntN(3) == 0 {
		p, guard := g.condition(), ""
		if g.IntN(3) == 0 {
			guard = "@" + g.condition() + " "
		}
		g.emit("cvt.u16.u32 %%h0, %s;\n\t%scall (%s), h%d, (%s, %%h0, %s);", g.reg(), guard, g.reg(), g.IntN(funcs),
			g.reg(), p)
		return
	}
	old := g.level
	if g.inFunc {
		g.level++
		if g.level >= funcs {
			g.level = old
			g.assign()
			return
		}
	}
	f := fmt.Sprintf("f%d", g.level+g.IntN(funcs-g.level))
	if g.IntN(3) == 0 {
		f = ""
	}
	g.call(f, g.reg(), g.reg(), g.reg())
	g.level = old
}

// warpwide uses an operation among the lanes of the context.
func (g *generator) warpwide(c *context) {
	switch g.IntN(4) {
	case 0:
		g.emit("redux.sync.%s.u32 %s, %s, %s;", []string{"add", "min", "max"}[g.IntN(3)], g.reg(), g.reg(), c.mask)
	case 1:
		p := g.condition()
		g.emit("vote.sync.ballot.b32 %s, %s, %s;", g.reg(), p, c.mask)
	case 2:
		g.emit("bar.warp.sync %s;", c.mask)
	default:
		g.emit("match.any.sync.b32 %%x5, %%x0, %s;\n\txor.b32 %s, %s, %%x5;", c.mask, g.reg(), g.reg())
	}
}

// exchange hands words around the block through shared memory.
func (g *generator) exchange() {
	g.emit("st.shared.u32 [%%sm], %s;\n\tbar.sync 0;", g.reg())
	if g.plain {
		p := g.pred()
		k := 1 + g.IntN(int(g.block))
		g.emit("add.u32 %%x6, %%t, %d;\n\tsetp.ge.u32 %s, %%x6, %%n;\n\t@%s sub.u32 %%x6, %%x6, %%n;\n\tmov.u32 %%x7, words;\n\tmad.lo.u32 %%x7, %%x6, 4, %%x7;", k, p, p)
		switch g.IntN(3) {
		case 0:
			g.emit("ld.shared.u32 %s, [%%x7];", g.reg())
		case 1: // of one's own, by other ways
			g.emit("mul.wide.u32 %%q6, %%t, 4;\n\tmov.u64 %%q7, words;\n\tadd.u64 %%q7, %%q7, %%q6;\n\tld.shared.u32 %s, [%%q7];\n\tld.shared.u32 %%x5, [%%x7];\n\txor.b32 %s, %s, %%x5;", g.reg(), g.reg(), g.reg())
		default: // the same for all
			g.emit("mov.u32 %%x7, words;\n\tld.shared.u32 %%x5, [%%x7+%d];\n\tadd.u32 %s, %s, %%x5;",
				4*g.IntN(int(g.block)), g.reg(), g.reg())
		}
		g.emit("bar.sync 0;")
		return
	}
	g.emit("add.u32 %%x6, %%t, %d;\n\trem.u32 %%x6, %%x6, %%n;\n\tmov.u32 %%x7, words;\n\tmad.lo.u32 %%x7, %%x6, 4, %%x7;\n\tld.shared.u32 %s, [%%x7];", 1+g.IntN(50), g.reg())
	if g.IntN(2) == 0 {
		p := g.condition()
		g.emit("bar.red.popc.u32 %s, 0, %s;", g.reg(), p)
	} else {
		g.emit("bar.sync 0;")
	}
}

func (g *generator) kernel() string {
	g.reset()
	g.inFunc, g.level = false, 0
	g.words = 30
	full := g.mask()
	g.emit("ld.param.u64 %%q0, [out];\n\tld.param.u64 %%q5, [total];")
	g.emit("mov.u32 %%t, %%tid.x;\n\tmov.u32 %%n, %%ntid.x;\n\tmov.u32 %%w, %%ctaid.x;\n\tmov.u32 %%lane, %%laneid;\n\tmad.lo.u32 %%x1, %%w, %%n, %%t;\n\tmad.wide.u32 %%q0, %%x1, 8, %%q0;")
	g.emit("mov.u32 %%sm, words;\n\tmad.lo.u32 %%sm, %%t, 4, %%sm;\n\tmov.u32 %s, 0xffffffff;", full)
	g.emit("mov.u32 %%x0, 1;\n\tst.shared.u32 [%%sm], 7;\n\tbar.sync 0;")
	for i := range dataRegs {
		from := "%x1"
		if g.plain {
			from = []string{"%x1", "%w", "%t", "%n", "%t", "%sm"}[g.IntN(6)]
		}
		g.emit("mul.lo.u32 %%v%d, %s, %d;\n\tadd.u32 %%v%d, %%v%d, %d;", i, from, 2*g.IntN(5000)+1, i, i, g.IntN(1000))
	}
	c := &context{mask: full, all: true}
	for g.words > 0 {
		g.statement(c)
	}
	g.emit("mov.u32 %%x1, %%v0;")
	for i := 1; i < dataRegs; i++ {
		g.emit("mad.lo.u32 %%x1, %%x1, 31, %%v%d;", i)
	}
	g.emit("st.global.u32 [%%q0], %%x1;\n\tst.global.u32 [%%q0+4], %%v0;\n\tred.global.add.u32 [%%q5], %%x1;\n\tret;")
	return fmt.Sprintf(".visible .entry k(.param .u64 out, .param .u64 total)\n{\n\t.shared .align 4 .b32 words[%d];\n",
		g.block) + g.decls() + g.b.String() + "}\n"
}
