package ptxgen

import (
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// weighted are the first words of instructions, by how often they stand for a statement.
var weighted = []struct {
	weight int
	names  string
}{
	{30, "add sub mul mad mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi szext bmsk dp4a dp2a addc subc madc"},
	{14, "and or xor not cnot lop3 shf shl shr prmt"},
	{16, "add sub mul fma mad div abs neg min max rcp sqrt copysign testp tanh ex2 lg2 sin cos rsqrt"},
	{14, "setp set selp slct"},
	{14, "cvt"},
	{8, "mov"},
	{18, "ld st ldu"},
	{8, "atom red"},
	{6, "vadd vsub vabsdiff vmin vmax vshl vshr vset vmad vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4"},
	{6, "shfl vote match redux activemask elect"},
	{3, "bar barrier membar fence mbarrier"},
	{3, "mma movmatrix ldmatrix stmatrix"},
	{2, "cp isspacep cvta mapa getctarank prefetch createpolicy"},
	{2, "tex tld4 suld sust sured txq suq"},
	{1, "nanosleep pmevent griddepcontrol stacksave"},
}

// statement writes one statement of any kind.
func (g *gen) statement() {
	switch n := g.IntN(40); {
	case n < 3 && g.depth < 3:
		g.branch()
	case n < 5 && g.depth < 3:
		g.loop()
	case n < 6 && g.depth < 3 && g.fn == nil:
		g.table()
	case n < 10 && g.depth < 4:
		g.call()
	case n < 12 && g.depth < 3:
		g.scope()
	case n < 14 && g.fn == nil:
		g.variable()
	case n < 15 && g.fn == nil:
		g.parameter()
	case n < 16 && g.fn == nil:
		g.special()
	case n < 17 && g.fn == nil && g.depth == 0:
		g.contended()
	case n < 18:
		g.pragma()
	default:
		g.instruction()
	}
}

// instruction writes an instruction of the table.
func (g *gen) instruction() {
	total := 0
	for _, w := range weighted {
		total += w.weight
	}
	n := g.IntN(total)
	for _, w := range weighted {
		if n -= w.weight; n >= 0 {
			continue
		}
		for range 40 {
			forms := optab.Get().Lookup(pick(g, strings.Fields(w.names)...))
			if g.form(forms[g.IntN(len(forms))], Feature{Slot: -1}) {
				return
			}
		}
		return
	}
}

func (g *gen) block(n int) {
	g.depth++
	for range n {
		g.statement()
	}
	g.depth--
}

// condition is a predicate that differs between threads.
func (g *gen) condition() string {
	return pick(g, "", "!") + g.source(optab.FindType("pred"), false).name
}

// branch writes an if, of which both sides may have statements.
func (g *gen) branch() {
	uniform := g.uniform
	end, other := g.newLabel(), g.newLabel()
	c := g.condition()
	if uniform && g.chance(3) {
		c = pick(g, "%pf", "!%pt", "%pt")
	} else {
		g.uniform = false
	}
	taken := g.uniform
	if taken && c == "%pt" && g.cluster > 1 { // nothing in it runs
		g.uniform = false
	}
	g.emit("@%s bra %s;", c, other)
	g.block(1 + g.IntN(3))
	if g.chance(2) {
		g.emit("bra %s;\n%s:", end, other)
		g.block(1 + g.IntN(2))
		g.emit("%s:", end)
	} else {
		g.emit("%s:", other)
	}
	g.uniform = uniform
	g.together()
}

// together brings the lanes of a warp together again before what needs them all.
func (g *gen) together() {
	if g.uniform && g.fn == nil {
		g.emit("bar.warp.sync 0xffffffff;")
	}
}

// loop writes a loop of few rounds; threads may leave it at different times.
func (g *gen) loop() {
	if g.loops > 1 {
		g.instruction()
		return
	}
	uniform := g.uniform
	g.loops++
	c := fmt.Sprintf("%%c%d", g.loops+2*g.depth)
	q := fmt.Sprintf("%%pc%d", g.loops+2*g.depth)
	decl := fmt.Sprintf(".reg .u32 %s;\n.reg .pred %s;", c, q)
	if g.fn != nil {
		if !strings.Contains(strings.Join(g.fn.decls, ""), decl) {
			g.fn.decls = append(g.fn.decls, decl)
		}
	} else {
		g.need(decl)
	}
	l := g.newLabel()
	rounds := fmt.Sprint(1 + g.IntN(4))
	g.emit("mov.u32 %s,0;", c)
	if g.chance(3) {
		g.uniform = false
		r := g.source(optab.FindType("b32"), false)
		g.emit("and.b32 %s,%s,3;", c, r.name)
		rounds = "4"
	}
	g.emit("%s:", l)
	g.block(1 + g.IntN(3))
	g.emit("add.u32 %s,%s,1;\nsetp.lt.u32 %s,%s,%s;\n@%s bra %s;", c, c, q, c, rounds, q, l)
	g.loops--
	g.uniform = uniform
	g.together()
}

// table writes brx.idx.
func (g *gen) table() {
	uniform := g.uniform
	g.uniform = false
	n := 2 + g.IntN(4)
	t, end := g.newLabel(), g.newLabel()
	var labels []string
	for range n {
		labels = append(labels, g.newLabel())
	}
	if g.chance(3) && n > 2 {
		labels[n-1] = labels[0]
	}
	r := g.source(optab.FindType("b32"), false)
	g.emit("and.b32 %%t1,%s,0xff;\nrem.u32 %%t1,%%t1,%d;\n%s: .branchtargets %s;\n%sbrx.idx %%t1,%s;", r.name, n, t,
		strings.Join(labels, ","), pick(g, "", "", "@%pt "), t)
	for i, l := range labels {
		if i > 0 && l == labels[0] {
			break
		}
		g.emit("%s:", l)
		g.block(1)
		if g.chance(3) {
			continue // falls through
		}
		g.emit("bra %s;", end)
	}
	g.emit("%s:", end)
	g.uniform = uniform
	g.together()
}

// scope writes a block with registers of its own, which may hide outer ones.
func (g *gen) scope() {
	n := g.label
	g.label++
	typ := pick(g, "b32", "u32", "s32", "f32")
	name := fmt.Sprintf("%%w%d", n)
	if g.chance(3) {
		name = "%t0" // hides one
	}
	r := g.source(optab.FindType("b32"), false)
	g.emit("{\n.reg .%s %s;\n.reg .v2 .b32 %%v%d;\nmov.b32 %s,%s;\nmov.b32 %%v%d.x,%s;\nmov.b32 %%v%d.y,%s;", typ, name,
		n, name, r.name, n, name, n, r.name)
	if typ != "f32" {
		g.emit("add.%s %s,%s,%d;", strings.Replace(typ, "b", "u", 1), name, name, g.IntN(99))
	}
	d := g.regs[0]
	g.block(1)
	g.emit("xor.b32 %s,%%v%d.x,%%v%d.y;\nmov.b32 %%v%d.x,%s;\nxor.b32 %s,%s,%%v%d.x;\n}", d.name, n, n, n, name, d.name,
		d.name, n)
}

// special reads special registers.
func (g *gen) special() {
	list := []string{"%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%laneid", "%ctaid.x", "%ctaid.y",
		"%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z",
		"%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt", "%dynamic_smem_size", "WARP_SZ",
		"%clusterid.x", "%nclusterid.x", "%cluster_ctaid.x", "%cluster_nctaid.x", "%cluster_ctarank",
		"%cluster_nctarank"}
	r := g.result(optab.FindType("u32"), false)
	switch g.IntN(6) {
	case 0:
		g.emit("mov.v4.u32 {%%t1,%%t2,%%t3,%%t4},%s;\nadd.u32 %%t1,%%t1,%%t2;\nadd.u32 %s,%%t1,%%t3;",
			pick(g, "%tid", "%ntid", "%ctaid", "%nctaid"), r.name)
	case 1:
		p := g.result(optab.FindType("pred"), false)
		g.emit("mov.pred %s,%%is_explicit_cluster;", p.name)
		g.fold(p)
		return
	case 2:
		g.emit("mov.u32 %%t1,%s;\nclz.b32 %%t1,%%t1;\nand.b32 %s,%%t1,0;",
			pick(g, "%clock", "%smid", "%nsmid", "%warpid", "%nwarpid", "%globaltimer_lo", "%clock_hi", "%pm0",
				"%envreg3"), r.name)
	case 3:
		g.emit("mov.u16 %%hx0,%s;\ncvt.u32.u16 %s,%%hx0;", pick(g, "%tid.x", "%ctaid.x", "%ntid.y"), r.name)
	default:
		g.emit("%smov.u32 %s,%s;", g.guard(), r.name, pick(g, list...))
	}
	g.fold(r)
}

// contended adds to one word from all threads; the order does not show.
func (g *gen) contended() {
	rows := g.p.Rows
	g.row(1)
	at := Scratch + 4*rows*g.p.Threads()
	r := g.source(optab.FindType("u32"), false)
	op := pick(g, "add.u32", "add.s32", "min.u32", "max.s32", "and.b32", "or.b32", "xor.b32", "inc.u32")
	value := r.name
	if op == "inc.u32" {
		value = "0x7fffffff"
	}
	space, scope := pick(g, "", ".global"), pick(g, "", ".gpu", ".sys", ".relaxed.gpu", ".release.gpu", ".relaxed.sys")
	if scope == ".gpu" || scope == ".sys" {
		scope = ".relaxed" + scope
	}
	if g.chance(2) {
		g.emit("%sred%s%s.%s [%%o+%d],%s;", g.guard(), scope, space, op, at+4*g.IntN(8), value)
		return
	}
	g.emit("%satom%s%s.%s _,[%%o+%d],%s;", g.guard(), scope, space, op, at+4*g.IntN(8), value)
}

// pragma writes a directive that changes no result.
func (g *gen) pragma() {
	g.emit("%s", pick(g, ".pragma \"nounroll\";", "// a comment", "/* and\n another */", ".loc 1 7 3"))
	g.instruction()
}

// jump writes bra, brx, ret and exit.
func (g *gen) jump(f *optab.Form, words []string, m *optab.Match) bool {
	word := mnemonic(f, words)
	uni := m.Has("uni")
	l := g.newLabel()
	switch f.Name {
	case "bra":
		c := g.condition()
		if uni {
			c = pick(g, "%pf", "!%pf")
			if g.fn != nil {
				c = "%pf"
			}
		}
		r := g.result(optab.FindType("u32"), false)
		g.emit("@%s %s %s;\nadd.u32 %s,%s,1;\n%s:", c, word, l, r.name, r.name, l)
		g.fold(r)
		g.together()
	case "brx":
		if g.fn != nil {
			return false
		}
		a, b := g.newLabel(), g.newLabel()
		index := "and.b32 %t1,%t,1;"
		if uni {
			index = "selp.u32 %t1,1,0,%pt;"
		}
		r := g.result(optab.FindType("u32"), false)
		g.emit("%s\n%s: .branchtargets %s,%s;\n%s %%t1,%s;\n%s:\nadd.u32 %s,%s,7;\n%s:", index, l, a, b, word, l, a,
			r.name, r.name, b)
		g.fold(r)
		g.together()
	case "ret", "exit":
		if g.fn != nil {
			if f.Name == "exit" {
				return false
			}
			g.emit("@%%pf %s;", word)
			return true
		}
		if uni || g.cluster > 1 {
			g.emit("@%%pf %s;", word)
			return true
		}
		// at the end: some threads leave early
		g.atExit = append(g.atExit, fmt.Sprintf("@%s %s;\nst.global.b32 [%s],%%b0;", g.condition(), word, g.row(1)))
	}
	return true
}

func init() {
	patterns = map[string]func(*gen, *optab.Form, []string, *optab.Match) bool{
		"ld": (*gen).load, "ldu": (*gen).load, "st": (*gen).store, "atom": (*gen).atomic, "red": (*gen).atomic,
		"cvta": (*gen).address, "isspacep": (*gen).address, "mapa": (*gen).address, "getctarank": (*gen).address,
		"prefetch": (*gen).cache, "prefetchu": (*gen).cache, "applypriority": (*gen).cache, "discard": (*gen).cache,
		"createpolicy": (*gen).cache,
		"bar":          (*gen).barrier, "barrier": (*gen).barrier, "membar": (*gen).fence, "fence": (*gen).fence,
		"mbarrier": (*gen).mbarrier, "elect": (*gen).elect,
		"nanosleep": (*gen).plain, "pmevent": (*gen).plain, "griddepcontrol": (*gen).plain, "setmaxnreg": (*gen).plain,
		"stacksave": (*gen).plain, "stackrestore": (*gen).plain, "alloca": (*gen).plain,
		"cp": (*gen).copies, "tensormap": (*gen).tensorMap,
		"mma": (*gen).mma, "ldmatrix": (*gen).matrixMove, "stmatrix": (*gen).matrixMove, "movmatrix": (*gen).matrixMove,
		"wmma": (*gen).wmma, "wgmma": (*gen).wgmma,
		"tex": (*gen).texture, "tld4": (*gen).texture, "txq": (*gen).query, "suq": (*gen).query,
		"istypep": (*gen).query,
		"suld":    (*gen).surface, "sust": (*gen).surface, "sured": (*gen).surface,
		"bra": (*gen).jump, "brx": (*gen).jump, "ret": (*gen).jump, "exit": (*gen).jump, "call": (*gen).callForm,
	}
}
