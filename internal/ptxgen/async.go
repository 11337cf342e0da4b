package ptxgen

import (
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// copies writes the family cp: asynchronous copies of all kinds.
func (g *gen) copies(f *optab.Form, words []string, m *optab.Match) bool {
	if g.fn != nil {
		return false
	}
	switch {
	case strings.HasPrefix(f.OpName, "tma."):
		return g.tensorCopy(f, words, m)
	case f.OpName == "cp.async.wait_group", f.OpName == "cp.async.commit_group":
		line := mnemonic(f, words)
		if f.OpName == "cp.async.wait_group" && len(f.Operands) > 0 {
			line += " 0"
		}
		g.emit("%s;", line)
		return true
	case f.OpName == "cp.async":
		return g.copySmall(f, words, m)
	case f.OpName == "cp.async.mbarrier.arrive":
		return g.copyArrive(f, words, m)
	}
	return g.bulk(f, words, m)
}

// copySmall writes cp.async into the thread's own slot.
func (g *gen) copySmall(f *optab.Form, words []string, m *optab.Match) bool {
	n := pick(g, 4, 8, 16)
	if m.Has("cg") {
		n = 16
	}
	hint := m.Has("L2::cache_hint")
	line := fmt.Sprintf("%s [%%S+%d],[%%I+%d],%d", mnemonic(f, words), g.offset(n, 32), g.IntN(rawRegions)*region, n)
	for i := range f.Operands {
		switch o := &f.Operands[i]; o.Name {
		case "s":
			if !o.Optional || g.chance(2) {
				line += fmt.Sprintf(",%d", g.IntN(n+1))
			}
		case "i":
			line += "," + g.source(optab.FindType("pred"), false).name
		case "p":
			line += ",%a5"
		}
	}
	line += ";"
	if !g.accepts(line) {
		return false
	}
	if hint {
		g.policy()
	}
	g.emit("%s%s", g.guard(), line)
	g.emit("%s", pick(g, "cp.async.wait_all;", "cp.async.commit_group;\ncp.async.wait_group 0;"))
	g.emit("ld.shared.v4.b32 {%%t1,%%t2,%%t3,%%t4},[%%S+%d];\nst.global.v4.b32 [%s],{%%t1,%%t2,%%t3,%%t4};",
		g.offset(16, 32), g.row(4))
	return true
}

// copyArrive lets a thread's copies arrive at its mbarrier.
func (g *gen) copyArrive(f *optab.Form, words []string, m *optab.Match) bool {
	line := mnemonic(f, words) + " [%t5];"
	if m.One("shared", "shared::cta") == "" {
		line = mnemonic(f, words) + " [%a4];"
	}
	if !g.accepts(line) {
		return false
	}
	g.ownBarrier(2)
	if strings.Contains(line, "%a4") {
		g.emit("cvt.u64.u32 %%a4,%%t5;\ncvta.shared.u64 %%a4,%%a4;")
	}
	g.emit("cp.async.ca.shared.global [%%S],[%%I+%d],16;\n%s", g.IntN(rawRegions)*region, line)
	n := 2 // a copy's arrival is counted beforehand, unless it is made up for
	if m.Has("noinc") {
		n = 1
	}
	for range n {
		g.emit("mbarrier.arrive.shared.b64 %%a3,[%%t5];")
	}
	g.await("%t5")
	g.emit("ld.shared.v4.b32 {%%t1,%%t2,%%t3,%%t4},[%%S];\nst.global.v4.b32 [%s],{%%t1,%%t2,%%t3,%%t4};\nmbarrier.inval.shared.b64 [%%t5];", g.row(4))
	return true
}

// await waits for the first phase of an mbarrier object. The threads of a block come together after it where they were
// together.
func (g *gen) await(addr string) {
	l := g.newLabel()
	wait := pick(g, "test_wait.parity", "try_wait.parity")
	g.emit("%s:\nmbarrier.%s.shared.b64 %%pq,[%s],0;\n@!%%pq bra %s;", l, wait, addr, l)
	if g.uniform {
		g.emit("bar.sync 0;")
	}
}

// blockBarrier initialises an mbarrier object of the block for one arrival, which thread 0 makes and expects bytes
// with; %t6 is its address.
func (g *gen) blockBarrier() string {
	g.need(".shared .align 8 .b64 mx[4];")
	g.emit("setp.eq.u32 %%pn,%%t,0;\nmov.u32 %%t6,mx;\n@%%pn mbarrier.init.shared.b64 [%%t6],1;\nfence.proxy.async;\nbar.sync 0;")
	return "%t6"
}

// clusterSync keeps the blocks of a cluster together.
func (g *gen) clusterSync() {
	if g.cluster > 1 {
		g.emit("barrier.cluster.arrive;\nbarrier.cluster.wait;")
	}
}

// bulk writes bulk copies, reductions and prefetches, made by thread 0 for the block.
func (g *gen) bulk(f *optab.Form, words []string, m *optab.Match) bool {
	if !g.uniform || m.Has("shared::cluster") && m.Has("shared::cta") && !g.clustered {
		return false
	}
	word := mnemonic(f, words)
	n := 4 * int(g.threads)
	hint := ""
	if m.Has("L2::cache_hint") {
		hint = ",%a5"
	}
	var line string
	rows := g.p.Rows
	global := ""
	switch {
	case f.OpName == "cp.async.bulk.prefetch":
		line = fmt.Sprintf("%s [%%i+%d],%d%s;", word, 16*g.IntN(64), 16*(1+g.IntN(8)), hint)
	case m.Has("bulk_group"): // to global memory: the rows of the block
		global = fmt.Sprintf("%%o+%d", Scratch+4*rows*g.p.Threads())
		if g.p.Grid != [3]uint32{1, 1, 1} {
			global = "%a2"
		}
		line = fmt.Sprintf("%s [%s],[bk],%d%s;", word, global, n, hint)
	case m.Has("shared::cta") && m.Has("shared::cluster"): // from shared to shared
		line = fmt.Sprintf("%s [bl],[bk],%d,[mx];", word, n)
	case m.Has("multicast::cluster"):
		line = fmt.Sprintf("%s [bk],[%%i+%d],%d,[mx],1%s;", word, 16*g.IntN(64), n, hint)
		if g.cluster > 1 {
			line = strings.Replace(line, ",1;", ",%hx0;", 1)
			line = strings.Replace(line, ",1,", ",%hx0,", 1)
		}
	default:
		line = fmt.Sprintf("%s [bk],[%%i+%d],%d,[mx]%s;", word, 16*g.IntN(64), n, hint)
	}
	g.need(fmt.Sprintf(".shared .align 128 .b8 bk[%d];", n))
	g.need(fmt.Sprintf(".shared .align 128 .b8 bl[%d];", n))
	g.need(".shared .align 8 .b64 mx[4];")
	if !g.accepts(line) {
		return false
	}
	if hint != "" {
		g.policy()
	}
	if f.OpName == "cp.async.bulk.prefetch" {
		g.emit("%s", line)
		return true
	}
	// what is in the buffers before
	typ := optab.FindType("b32")
	if len(m.Types) > 0 {
		typ = optab.FindType(m.Types[len(m.Types)-1])
	}
	g.emit("mov.u32 %%t2,bk;\nmad.lo.u32 %%t2,%%t,4,%%t2;\nmov.u32 %%t3,bl;\nmad.lo.u32 %%t3,%%t,4,%%t3;")
	from := g.initial(typ)
	if typ.Bits == 64 && typ.Class == optab.Float { // numbers of eight bytes, half by each thread
		from = numOffset
	}
	g.emit("mul.wide.u32 %%a0,%%t,4;\nadd.u64 %%a0,%%a0,%%i;\nld.global.b32 %%t4,[%%a0+%d];\nst.shared.b32 [%%t2],%%t4;\nld.global.b32 %%t4,[%%a0+%d];\nst.shared.b32 [%%t3],%%t4;", from, from+1024)
	if global != "" {
		at := g.row(1)
		g.emit("mad.wide.u32 %%a1,%%g,4,%%o;\nst.global.b32 [%s],%%t4;\nmad.wide.u32 %%a2,%%g,4,%%o;\nadd.u64 %%a2,%%a2,%d;\nfence.proxy.async;\nbar.sync 0;\nsetp.eq.u32 %%pn,%%t,0;", at, Scratch+4*rows*g.p.Threads())
		l := g.newLabel()
		g.emit("@!%%pn bra %s;\n%s\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n%s:\nbar.sync 0;", l,
			line, l)
		return true
	}
	g.blockBarrier()
	g.clusterSync()
	l := g.newLabel()
	if g.cluster > 1 && m.Has("multicast::cluster") {
		g.emit("mov.u32 %%t1,%%cluster_ctarank;\nmov.u32 %%t4,1;\nshl.b32 %%t4,%%t4,%%t1;\ncvt.u16.u32 %%hx0,%%t4;")
	}
	g.emit("@!%%pn bra %s;\nmbarrier.arrive.expect_tx.shared.b64 _,[mx],%d;\n%s\n%s:", l, n, line, l)
	g.await("%t6")
	g.clusterSync()
	g.emit("ld.shared.b32 %%t1,[%%t2];\nst.global.b32 [%s],%%t1;\nld.shared.b32 %%t1,[%%t3];\nst.global.b32 [%s],%%t1;\nbar.sync 0;\n@%%pn mbarrier.inval.shared.b64 [mx];", g.row(1), g.row(1))
	return true
}

// storeAsync writes st.async and red.async to the thread's own slot, with its own mbarrier.
func (g *gen) storeAsync(f *optab.Form, words []string, m *optab.Match) bool {
	if g.fn != nil || !g.uniform || !g.clustered {
		return false
	}
	t := optab.FindType(m.Type(0))
	n := elements(m) * t.Bits / 8
	v, _, ok := g.operand(m, f.Operand("b"))
	if !ok || elements(m) > 1 && v[0] != '{' {
		return false
	}
	line := fmt.Sprintf("%s [%%t3],%s,[%%t4];", mnemonic(f, words), v)
	if !g.accepts(line) {
		return false
	}
	g.ownBarrier(1)
	g.emit("mov.u32 %%t1,%%cluster_ctarank;\nadd.u32 %%t3,%%S,16;\nmapa.shared::cluster.u32 %%t3,%%t3,%%t1;\nmapa.shared::cluster.u32 %%t4,%%t5,%%t1;")
	g.emit("st.shared.v2.b64 [%%S+16],{%%lb0,%%lb0};\nfence.mbarrier_init.release.cluster;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nmbarrier.arrive.expect_tx.shared.b64 _,[%%t5],%d;\n%s", n, line)
	l := g.newLabel()
	g.emit("%s:\nmbarrier.test_wait.parity.acquire.cluster.shared.b64 %%pq,[%%t5],0;\n@!%%pq bra %s;\nbar.sync 0;", l,
		l)
	g.emit("ld.shared.v4.b32 {%%t1,%%t2,%%t3,%%t4},[%%S+16];\nst.global.v4.b32 [%s],{%%t1,%%t2,%%t3,%%t4};\nmbarrier.inval.shared.b64 [%%t5];", g.row(4))
	g.clusterSync()
	return true
}

// tensor adds a tensor map to the parameters and returns its name.
func (g *gen) tensor(rank int, im2col bool, output int) string {
	for i := range g.p.Params {
		if t := g.p.Params[i].Map; t != nil && *t == (Tensor{rank, im2col, output}) {
			return fmt.Sprintf("tm%d", i)
		}
	}
	n := len(g.p.Params)
	g.p.Params = append(g.p.Params, Param{Kind: ParamTensor, Map: &Tensor{rank, im2col, output}})
	g.params = append(g.params, fmt.Sprintf(".param .align 64 .b8 tm%d[128]", n))
	return fmt.Sprintf("tm%d", n)
}

// Dims are the sizes of a tensor map's dimensions in elements of 4 bytes, and Box of what one copy moves.
func (t *Tensor) Dims() (dims, box []uint32) {
	all := []struct{ d, b uint32 }{{16, 8}, {6, 2}, {4, 2}, {3, 2}, {2, 1}}[:t.Rank]
	for _, x := range all {
		dims, box = append(dims, x.d), append(box, x.b)
	}
	if t.Rank == 1 {
		box[0] = 32
		dims[0] = 128
	}
	return dims, box
}

// BoxBytes is the size of what one copy moves.
func (t *Tensor) BoxBytes() int {
	if t.Im2col {
		return Im2colChannels * Im2colPixels * 4
	}
	_, box := t.Dims()
	n := 4
	for _, b := range box {
		n *= int(b)
	}
	return n
}

// Bytes is the size of the whole tensor.
func (t *Tensor) Bytes() int {
	dims, _ := t.Dims()
	n := 4
	for _, d := range dims {
		n *= int(d)
	}
	return n
}

// The box of a map in im2col mode.
const (
	Im2colChannels = 8
	Im2colPixels   = 4
)

// tensorCopy writes bulk tensor copies.
func (g *gen) tensorCopy(f *optab.Form, words []string, m *optab.Match) bool {
	if !g.uniform || g.loops > 0 {
		return false
	}
	rank := int(m.One("1d", "2d", "3d", "4d", "5d")[0] - '0')
	im2col := m.One("im2col", "im2col_no_offs") != ""
	if im2col && rank < 3 {
		return false
	}
	word := mnemonic(f, words)
	hint := ""
	if m.Has("L2::cache_hint") {
		hint = ",%a5"
	}
	var coords []string
	for i := range rank {
		c := fmt.Sprint(0)
		if i == 1 && !im2col && f.OpName == "tma.load" {
			c = fmt.Sprint(g.IntN(7) - 1)
		}
		coords = append(coords, c)
	}
	if g.chance(3) {
		coords[0] = "%t7"
	}
	at := strings.Join(coords, ",")
	offsets := ""
	if f.Operand("i") != nil {
		var list []string
		for range rank - 2 {
			list = append(list, fmt.Sprint(g.IntN(2)))
		}
		offsets = ",{" + strings.Join(list, ",") + "}"
	}
	output := -1
	rows := 0
	store := f.OpName == "tma.store" || f.OpName == "tma.reduce"
	if store {
		output = Scratch + 4*g.p.Rows*g.p.Threads()
	}
	t := Tensor{rank, im2col, output}
	if store {
		rows = (t.Bytes() + 4*g.p.Threads() - 1) / (4 * g.p.Threads())
	}
	before, params := len(g.p.Params), len(g.params)
	name := g.tensor(rank, im2col, output)
	undo := func() bool {
		g.p.Params, g.params = g.p.Params[:before], g.params[:params]
		return false
	}
	g.need(".shared .align 128 .b8 tb[2048];")
	g.need(".shared .align 8 .b64 mx[4];")
	var line string
	switch f.OpName {
	case "tma.load":
		line = fmt.Sprintf("%s [tb],[%%a4,{%s}],[mx]%s", word, at, offsets)
		if m.Has("multicast::cluster") {
			line += ",%hx0"
		}
		line += hint + ";"
	case "tma.prefetch":
		line = fmt.Sprintf("%s [%%a4,{%s}]%s%s;", word, at, offsets, hint)
	default:
		line = fmt.Sprintf("%s [%%a4,{%s}],[tb]%s;", word, at, hint)
	}
	if !g.accepts(line) {
		return undo()
	}
	if hint != "" {
		g.policy()
	}
	g.emit("mov.u32 %%t7,0;\nmov.u64 %%a4,%s;\ncvta.param.u64 %%a4,%%a4;", name)
	switch {
	case f.OpName == "tma.prefetch":
		g.emit("%s", line)
		return true
	case store:
		g.p.Rows += rows
		l, e := g.newLabel(), g.newLabel()
		// 512 words in shared memory, by 32 threads; the first block alone stores
		g.emit("mov.u32 %%t2,tb;\nmad.lo.u32 %%t2,%%t,64,%%t2;\nsetp.lt.u32 %%pn,%%t,32;\n@!%%pn bra %s;", e)
		for i := range 4 {
			g.emit("ld.global.v4.b32 {%%t3,%%t4,%%t5,%%t6},[%%I+%d];\nst.shared.v4.b32 [%%t2+%d],{%%t3,%%t4,%%t5,%%t6};", i*region, 16*i)
		}
		g.emit("%s:\nfence.proxy.async;\nbar.sync 0;\nsetp.eq.u32 %%pn,%%g,0;\n@!%%pn bra %s;\n%s\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n%s:\nbar.sync 0;", e, l, line, l)
		return true
	}
	// The whole buffer is defined before; a load covers some of it.
	g.emit("mov.u32 %%t2,tb;\nmad.lo.u32 %%t2,%%t,16,%%t2;\nmov.u32 %%t3,0;\nst.shared.v4.b32 [%%t2],{%%t3,%%t3,%%t3,%%t3};")
	g.blockBarrier()
	g.clusterSync()
	if m.Has("multicast::cluster") {
		g.emit("mov.u32 %%t1,%%cluster_ctarank;\nmov.u32 %%t4,1;\nshl.b32 %%t4,%%t4,%%t1;\ncvt.u16.u32 %%hx0,%%t4;")
	}
	l := g.newLabel()
	g.emit("@!%%pn bra %s;\nmbarrier.arrive.expect_tx.shared.b64 _,[mx],%d;\n%s\n%s:", l, t.BoxBytes(), line, l)
	g.await("%t6")
	g.clusterSync()
	g.emit("ld.shared.v4.b32 {%%t3,%%t4,%%t5,%%t7},[%%t2];\nst.global.v4.b32 [%s],{%%t3,%%t4,%%t5,%%t7};\nbar.sync 0;\n@%%pn mbarrier.inval.shared.b64 [mx];", g.row(4))
	return true
}

// tensorMap writes tensormap.replace and tensormap.cp_fenceproxy on a copy of a map.
func (g *gen) tensorMap(f *optab.Form, words []string, m *optab.Match) bool {
	if g.fn != nil || !g.uniform {
		return false
	}
	g.need(".shared .align 128 .b8 tq[128];")
	word := mnemonic(f, words)
	if f.OpName == "tensormap.cp_fenceproxy" {
		line := word + " [%o],[tq],128;"
		if !g.accepts(line) {
			return false
		}
		p := g.tensor(1+g.IntN(5), false, -1)
		l := g.newLabel()
		g.copyMap(p)
		g.emit("setp.lt.u32 %%pn,%%g,32;\n@!%%pn bra %s;\n%s\n%s:\nbar.sync 0;", l, line, l)
		return true
	}
	addr := "tq"
	if m.Has("global") {
		addr = "%a2"
	} else if !m.Has("shared::cta") {
		addr = "%a1"
	}
	value := "%t1"
	switch {
	case m.Has("global_address"), m.Has("global_stride"):
		value = "%a6"
	case f.Operand("b").Kind == optab.KindImm:
		value = fmt.Sprint(g.IntN(3))
	}
	if f.Operand("o") != nil {
		value = fmt.Sprintf("%d,%s", g.IntN(3), value)
	}
	line := fmt.Sprintf("%s [%s],%s;", word, addr, value)
	if !g.accepts(line) {
		return false
	}
	p := g.tensor(1+g.IntN(5), false, -1)
	g.copyMap(p)
	l := g.newLabel()
	g.emit("mov.u32 %%t1,2;\nmov.u64 %%a6,4096;\nmov.u64 %%a1,tq;\ncvta.shared.u64 %%a1,%%a1;\nadd.u64 %%a2,%%o,128;\nsetp.eq.u32 %%pn,%%g,0;\n@!%%pn bra %s;\n%s\n%s:\nbar.sync 0;", l, line, l)
	return true
}

// copyMap puts a tensor map into shared memory and, by the first block, into the scratch part of the output buffer.
func (g *gen) copyMap(p string) {
	g.emit("mov.u64 %%a1,%s;\ncvta.param.u64 %%a1,%%a1;\nand.b32 %%t2,%%t,31;\nmul.wide.u32 %%a2,%%t2,4;\nadd.u64 %%a1,%%a1,%%a2;\nld.b32 %%t3,[%%a1];\nmov.u32 %%t4,tq;\nmad.lo.u32 %%t4,%%t2,4,%%t4;\nsetp.lt.u32 %%pn,%%t,32;\n@%%pn st.shared.b32 [%%t4],%%t3;\nadd.u64 %%a2,%%a2,%%o;\nsetp.lt.u32 %%pn,%%g,32;\n@%%pn st.global.b32 [%%a2+128],%%t3;\nbar.sync 0;", p)
}
