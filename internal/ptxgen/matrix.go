package ptxgen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// fragment loads n registers of the set %m from the mild part of the input and returns them in braces.
func (g *gen) fragment(from, n int) string {
	g.need(".reg .b32 %m<160>;")
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("%%m%d", from+i))
	}
	for i := 0; i < n; {
		at := fmt.Sprintf("[%%I+%d]", mildOffset+g.IntN(mildRegions)*region)
		k := min(4, n-i)
		if k == 3 {
			k = 2
		}
		if k == 1 {
			g.emit("ld.global.b32 %s,%s;", names[i], at)
		} else {
			g.emit("ld.global.v%d.b32 {%s},%s;", k, strings.Join(names[i:i+k], ","), at)
		}
		i += k
	}
	return "{" + strings.Join(names, ",") + "}"
}

// fragment64 does so for numbers of f64.
func (g *gen) fragment64(from, n int) string {
	g.need(".reg .f64 %md<32>;")
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("%%md%d", from+i))
		g.emit("ld.global.f64 %s,[%%I+%d];", names[i], mildOffset+g.IntN(mildRegions)*region+8*g.IntN(2))
	}
	return "{" + strings.Join(names, ",") + "}"
}

// show stores registers of a fragment, or a checksum of many.
func (g *gen) show(from, n int) {
	if n > 8 {
		g.emit("mov.b32 %%t1,%%m%d;", from)
		for i := 1; i < n; i++ {
			g.emit("mad.lo.u32 %%t1,%%t1,31,%%m%d;", from+i)
		}
		g.emit("st.global.b32 [%s],%%t1;", g.row(1))
		return
	}
	for i := 0; i < n; {
		if n-i >= 4 {
			g.emit("st.global.v4.b32 [%s],{%%m%d,%%m%d,%%m%d,%%m%d};", g.row(4), from+i, from+i+1, from+i+2, from+i+3)
			i += 4
			continue
		}
		g.emit("st.global.b32 [%s],%%m%d;", g.row(1), from+i)
		i++
	}
}

// floats says whether a matrix instruction sums floats, whose order and precision PTX leaves open.
func floats(m *optab.Match) bool {
	return !slices.Contains(m.Types, "s32")
}

// mma writes mma and mma.sp.
func (g *gen) mma(f *optab.Form, words []string, m *optab.Match) bool {
	if !g.uniform || g.fn != nil {
		return false
	}
	f64 := m.Type(0) == "f64"
	build := func(emit bool) string {
		at := 0
		var texts []string
		for i := range f.Operands {
			o := &f.Operands[i]
			switch {
			case o.Kind == optab.KindVec:
				switch {
				case !emit && f64:
					g.need(".reg .f64 %md<32>;")
					texts = append(texts, fragmentNames("%md", at, o.Count))
				case !emit:
					g.need(".reg .b32 %m<160>;")
					texts = append(texts, fragmentNames("%m", at, o.Count))
				case f64:
					texts = append(texts, g.fragment64(at, o.Count))
				default:
					texts = append(texts, g.fragment(at, o.Count))
				}
				at += o.Count
			case o.Name == "e":
				texts = append(texts, "%t7")
			default:
				texts = append(texts, "0")
			}
		}
		if emit && f.Operand("e") != nil {
			g.emit("mov.b32 %%t7,%s;", pick(g, "0x44444444", "0xEEEEEEEE"))
		}
		if f.OpName == "mma.sp" && g.chance(2) {
			sel := texts[len(texts)-1]
			texts[len(texts)-1] = "1"
			if !g.accepts(mnemonic(f, words) + " " + strings.Join(texts, ",") + ";") {
				texts[len(texts)-1] = sel
			}
		}
		return mnemonic(f, words) + " " + strings.Join(texts, ",") + ";"
	}
	if !g.accepts(build(false)) {
		return false
	}
	if floats(m) {
		g.open("order")
	}
	g.emit("%s%s", g.uniformGuard(), build(true))
	n := f.Operands[0].Count
	if f64 {
		for i := range n {
			g.emit("st.global.f64 [%s],%%md%d;", g.row(2), i)
		}
		return true
	}
	g.show(0, n)
	return true
}

func fragmentNames(prefix string, from, n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("%s%d", prefix, from+i))
	}
	return "{" + strings.Join(names, ",") + "}"
}

// matrixMove writes ldmatrix, stmatrix, movmatrix with rows in shared memory, 512 bytes for each warp.
func (g *gen) matrixMove(f *optab.Form, words []string, m *optab.Match) bool {
	if !g.uniform || g.fn != nil {
		return false
	}
	word := mnemonic(f, words)
	if f.Name == "movmatrix" {
		d := g.result(optab.FindType("b32"), false)
		g.emit("%s%s %s,%s;", g.uniformGuard(), word, d.name, g.source(optab.FindType("b32"), false).name)
		g.fold(d)
		return true
	}
	g.need(fmt.Sprintf(".shared .align 16 .b8 mt[%d];", 512*(g.threads/32)))
	g.emit("mov.u32 %%t3,mt;\nmad.lo.u32 %%t3,%%t,16,%%t3;\nst.shared.v4.b32 [%%t3],{%%b0,%%s0,%%u1,%%b1};\nbar.warp.sync 0xffffffff;")
	addr := "%t3"
	if m.One("shared", "shared::cta") == "" {
		g.emit("cvt.u64.u32 %%a4,%%t3;\ncvta.shared.u64 %%a4,%%a4;")
		addr = "%a4"
	}
	if f.Name == "ldmatrix" {
		n := f.Operands[0].Count
		g.need(".reg .b32 %m<160>;")
		g.emit("%s %s,[%s];", word, fragmentNames("%m", 0, n), addr)
		g.show(0, n)
		g.emit("bar.warp.sync 0xffffffff;")
		return true
	}
	n := f.Operands[1].Count
	v := g.fragment(0, n)
	g.emit("%s [%s],%s;\nbar.warp.sync 0xffffffff;\nld.shared.v4.b32 {%%t1,%%t2,%%t4,%%t5},[%%t3];\nst.global.v4.b32 [%s],{%%t1,%%t2,%%t4,%%t5};\nbar.warp.sync 0xffffffff;", word, addr, v, g.row(4))
	return true
}

// wmma writes a whole product around a form of wmma: loads, the product, the store. Where the elements of a fragment
// lie is left open by PTX.
func (g *gen) wmma(f *optab.Form, words []string, m *optab.Match) bool {
	if !g.uniform || g.fn != nil || g.loops > 0 {
		return false
	}
	var product *optab.Form
	var pw []string
	var pm *optab.Match
	// a product that the form is part of
	for range 400 {
		product = wmmaForms[g.IntN(len(wmmaForms))]
		if f.OpName == "wmma.mma" {
			product, pw = f, words
		} else {
			pw = g.words(product, Feature{})
		}
		if pm = g.match(product, pw); pm == nil || !g.accepts(g.wmmaLine(product, pw)) {
			if f.OpName == "wmma.mma" {
				return false
			}
			pm = nil // it may have been the last try
			continue
		}
		if f.OpName == "wmma.mma" || g.wmmaUses(pm, m) {
			break
		}
		pm = nil
	}
	if pm == nil {
		return false
	}
	p := wmmaParts(pm)
	if floats(pm) {
		g.open("order")
	}
	at := map[string]int{"d": 0, "a": 8, "b": 16, "c": 24}
	set := func(typ string) string {
		if typ == "f64" {
			g.need(".reg .f64 %md<32>;")
			return "%md"
		}
		g.need(".reg .b32 %m<160>;")
		return "%m"
	}
	g.emit("add.u64 %%a1,%%i,%d;", mildOffset)
	if g.chance(2) {
		g.emit("shr.u32 %%t1,%%t,5;\nmad.wide.u32 %%a1,%%t1,256,%%a1;")
	}
	for _, part := range []string{"a", "b", "c"} {
		lf, lw := g.wmmaPart("wmma.load", part, p, f, words)
		if lf == nil {
			return false
		}
		typ := p.types[part]
		sp := g.wmmaSpace(lf, lw)
		base := "%a1"
		switch sp {
		case "shared", "shared::cta", "shared::cluster":
			g.need(".shared .align 128 .b8 wm[4096];")
			// the first 4096 mild bytes, by all threads
			l := g.newLabel()
			g.emit("bar.sync 0;\nmov.u32 %%t1,%%t;\n%s:\nmul.wide.u32 %%a3,%%t1,4;\nadd.u64 %%a3,%%a3,%%i;\nld.global.b32 %%t2,[%%a3+%d];\nmov.u32 %%t3,wm;\nmad.lo.u32 %%t3,%%t1,4,%%t3;\nst.shared.b32 [%%t3],%%t2;\nadd.u32 %%t1,%%t1,%d;\nsetp.lt.u32 %%pn,%%t1,1024;\n@%%pn bra %s;\nbar.sync 0;", l, mildOffset, g.threads, l)
			base = "wm"
		}
		n := lf.Operands[0].Count
		stride := p.stride(part)
		line := fmt.Sprintf("%s %s,[%s]", mnemonic(lf, lw), fragmentNames(set(typ), at[part], n), base)
		if stride > 0 {
			line += fmt.Sprintf(",%d", stride)
		}
		g.emit("%s;", line)
		if lf != f {
			g.used(lf, lw)
		}
	}
	g.emit("%s%s", g.uniformGuard(), g.wmmaLine(product, pw))
	if product != f {
		g.used(product, pw)
	}
	sf, sw := g.wmmaPart("wmma.store", "d", p, f, words)
	if sf == nil {
		return false
	}
	// each warp has words of its own in rows of the output
	elems := p.m * p.n
	size := optab.FindType(p.types["d"]).Bits / 8
	rows := (elems*size + 127) / 128
	g.emit("shr.u32 %%t1,%%g,5;\nmad.wide.u32 %%a2,%%t1,%d,%%o;", rows*128)
	first := Scratch + 4*g.p.Rows*g.p.Threads()
	g.p.Rows += rows
	n := sf.Operands[1].Count
	sp := g.wmmaSpace(sf, sw)
	base, off := "%a2", first
	shared := strings.HasPrefix(sp, "shared")
	if shared {
		g.need(".shared .align 128 .b8 wd[4096];")
		g.emit("shr.u32 %%t1,%%t,5;\nmov.u32 %%t2,wd;\nmad.lo.u32 %%t2,%%t1,%d,%%t2;", rows*128)
		base, off = "%t2", 0
	}
	line := fmt.Sprintf("%s [%s+%d],%s", mnemonic(sf, sw), base, off, fragmentNames(set(p.types["d"]), 0, n))
	if s := p.stride("d"); s > 0 {
		line += fmt.Sprintf(",%d", s)
	}
	g.emit("%s;", line)
	if shared { // back to the output, a word a lane at a time
		l := g.newLabel()
		g.emit("bar.warp.sync 0xffffffff;\nand.b32 %%t3,%%t,31;\nmad.lo.u32 %%t2,%%t3,4,%%t2;\nmad.wide.u32 %%a2,%%t3,4,%%a2;\nmov.u32 %%t4,0;\n%s:\nld.shared.b32 %%t5,[%%t2];\nst.global.b32 [%%a2+%d],%%t5;\nadd.u32 %%t2,%%t2,128;\nadd.u64 %%a2,%%a2,128;\nadd.u32 %%t4,%%t4,1;\nsetp.lt.u32 %%pn,%%t4,%d;\n@%%pn bra %s;\nbar.sync 0;", l, first, elems*size/128, l)
	}
	if sf != f {
		g.used(sf, sw)
	}
	return true
}

var wmmaForms = func() []*optab.Form {
	var list []*optab.Form
	for _, f := range optab.Get().Lookup("wmma") {
		if f.OpName == "wmma.mma" && Excluded(f) == "" {
			list = append(list, f)
		}
	}
	return list
}()

// wmmaLine is the product's text: d from register 0 on, a from 8, b from 16, c from 24.
func (g *gen) wmmaLine(f *optab.Form, words []string) string {
	var texts []string
	for i, from := range []int{0, 8, 16, 24} {
		o := &f.Operands[i]
		prefix := "%m"
		if o.Type == "f64" {
			prefix = "%md"
		}
		texts = append(texts, fragmentNames(prefix, from, o.Count))
	}
	g.need(".reg .b32 %m<160>;")
	g.need(".reg .f64 %md<32>;")
	return mnemonic(f, words) + " " + strings.Join(texts, ",") + ";"
}

// product is what a wmma product says of its parts.
type product struct {
	shape   string
	m, n, k int
	layout  map[string]string
	types   map[string]string
}

func wmmaParts(m *optab.Match) *product {
	p := &product{layout: map[string]string{}, types: map[string]string{}}
	var layouts []string
	for _, w := range m.Words {
		switch {
		case w == "row" || w == "col":
			layouts = append(layouts, w)
		case strings.HasPrefix(w, "m") && strings.Contains(w, "n") && strings.Contains(w, "k"):
			p.shape = w
			fmt.Sscanf(w, "m%dn%dk%d", &p.m, &p.n, &p.k)
		}
	}
	if len(layouts) == 2 {
		p.layout["a"], p.layout["b"] = layouts[0], layouts[1]
	}
	switch t := m.Types; len(t) {
	case 2:
		p.types["d"], p.types["a"], p.types["b"], p.types["c"] = t[0], "f16", "f16", t[1]
	case 4:
		p.types["d"], p.types["a"], p.types["b"], p.types["c"] = t[0], t[1], t[2], t[3]
	}
	return p
}

// stride is that of a part's matrix in memory, in elements; 0 leaves it out.
func (p *product) stride(part string) int {
	rows, cols := p.m, p.n
	switch part {
	case "a":
		rows, cols = p.m, p.k
	case "b":
		rows, cols = p.k, p.n
	}
	if p.layout[part] == "col" {
		return rows
	}
	return cols
}

// wmmaUses says whether a load or store is part of a product.
func (g *gen) wmmaUses(pm, m *optab.Match) bool {
	p := wmmaParts(pm)
	part := m.One("a", "b", "c", "d")
	if m.One(p.shape) == "" || m.Type(len(m.Types)-1) != p.types[part] {
		return false
	}
	return part == "c" || part == "d" || m.One("row", "col") == p.layout[part]
}

// wmmaPart finds a load or store for a part of a product: the given form when it is that.
func (g *gen) wmmaPart(op, part string, p *product, f *optab.Form, words []string) (*optab.Form, []string) {
	fits := func(m *optab.Match) bool {
		if m == nil || m.One(part) == "" || m.One(p.shape) == "" || m.Types[len(m.Types)-1] != p.types[part] {
			return false
		}
		l := m.One("row", "col")
		if part == "c" || part == "d" {
			p.layout[part] = l
			return true
		}
		return l == p.layout[part]
	}
	if f.OpName == op {
		if m := g.match(f, words); fits(m) {
			return f, words
		}
	}
	var list []*optab.Form
	for _, c := range optab.Get().Lookup("wmma") {
		if c.OpName == op {
			list = append(list, c)
		}
	}
	for range 3000 {
		c := list[g.IntN(len(list))]
		w := g.words(c, Feature{})
		if fits(g.match(c, w)) {
			return c, w
		}
	}
	return nil, nil
}

func (g *gen) wmmaSpace(f *optab.Form, words []string) string {
	for _, w := range words {
		if w == "global" || strings.HasPrefix(w, "shared") {
			return w
		}
	}
	return ""
}

// wgmma writes products of a warpgroup, whose matrices lie in shared memory.
func (g *gen) wgmma(f *optab.Form, words []string, m *optab.Match) bool {
	if !g.uniform || g.fn != nil || g.threads != 128 || g.loops > 0 || g.target != "sm_90a" {
		return false
	}
	word := mnemonic(f, words)
	if f.OpName == "wgmma.fence" {
		line := word
		if len(f.Operands) > 0 {
			line += " 0"
		}
		g.emit("%s;", line)
		return true
	}
	g.need(".reg .b32 %m<160>;")
	n := f.Operands[0].Count
	var texts []string
	for i := range f.Operands {
		o := &f.Operands[i]
		switch {
		case o.Dst:
			texts = append(texts, fragmentNames("%m", 0, n))
		case o.Name == "a" && o.Kind == optab.KindVec:
			texts = append(texts, fragmentNames("%m", 132, 4))
		case o.Name == "a":
			texts = append(texts, "%a1")
		case o.Name == "b":
			texts = append(texts, "%a2")
		case o.Name == "e":
			texts = append(texts, "%t7")
		case o.Name == "f":
			texts = append(texts, "0")
		case o.Name == "p":
			texts = append(texts, pick(g, "%pt", "%pt", "!%pf", "%pf", "1"))
		case o.Name == "sa", o.Name == "sb":
			texts = append(texts, pick(g, "1", "-1"))
		default: // transposed: other strides, still inside the memory
			texts = append(texts, pick(g, "0", "0", "1"))
		}
	}
	g.need(".shared .align 1024 .b8 wg[24576];")
	line := word + " " + strings.Join(texts, ",") + ";"
	if !g.accepts(line) {
		return false
	}
	if floats(m) {
		g.open("order")
	}
	l := g.newLabel()
	g.emit("bar.sync 0;\nmov.u32 %%t1,%%t;\n%s:\nmul.wide.u32 %%a3,%%t1,16;\nadd.u64 %%a3,%%a3,%%i;\nld.global.v4.b32 {%%t2,%%t3,%%t4,%%t5},[%%a3+%d];\nmov.u32 %%t6,wg;\nmad.lo.u32 %%t6,%%t1,16,%%t6;\nst.shared.v4.b32 [%%t6],{%%t2,%%t3,%%t4,%%t5};\nadd.u32 %%t1,%%t1,128;\nsetp.lt.u32 %%pn,%%t1,1536;\n@%%pn bra %s;\nfence.proxy.async;\nbar.sync 0;", l, mildOffset, l)
	g.emit("mov.u32 %%t1,wg;\nshr.u32 %%t1,%%t1,4;\nand.b32 %%t1,%%t1,0x3fff;\ncvt.u64.u32 %%a1,%%t1;\nor.b64 %%a2,%%a1,0x%x;\nor.b64 %%a1,%%a1,0x%x;", uint64(g.descriptor(f)), uint64(g.descriptor(f)))
	if strings.Contains(line, "%t7") {
		g.emit("mov.b32 %%t7,%s;", pick(g, "0x44444444", "0xEEEEEEEE"))
	}
	g.fragment(0, n)
	if f.Operands[1].Kind == optab.KindVec {
		g.fragment(132, 4)
	}
	g.emit("wgmma.fence.sync.aligned;\n%s\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;", line)
	g.show(0, n)
	return true
}

// descriptor is the strides of a matrix descriptor without swizzling: 128 bytes between the core matrices of a row, and
// behind them the next row.
func (g *gen) descriptor(f *optab.Form) int {
	lead, stride := 128, pick(g, 256, 512)
	return lead>>4<<16 | stride>>4<<32
}
