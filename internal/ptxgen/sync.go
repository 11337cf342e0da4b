package ptxgen

import (
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// barrier writes bar and barrier, of warps, blocks and clusters. All threads come.
func (g *gen) barrier(f *optab.Form, words []string, m *optab.Match) bool {
	if !g.uniform || g.fn != nil {
		return false
	}
	word := mnemonic(f, words)
	switch f.OpName {
	case "bar.warp":
		g.emit("%s%s 0xffffffff;", g.uniformGuard(), word)
		return true
	case "barrier.cluster.arrive", "barrier.cluster.wait":
		arrive, wait := "barrier.cluster.arrive", "barrier.cluster.wait"
		if f.OpName == "barrier.cluster.arrive" {
			arrive = word
		} else {
			wait = word
		}
		if strings.HasSuffix(word, ".aligned") {
			arrive, wait = strings.TrimSuffix(arrive, ".aligned")+".aligned",
				strings.TrimSuffix(wait, ".aligned")+".aligned"
		}
		g.emit("%s;", arrive)
		if g.chance(2) {
			r := g.result(optab.FindType("u32"), false)
			g.emit("add.u32 %s,%s,1;", r.name, r.name)
		}
		g.emit("%s;", wait)
		return true
	}
	id := fmt.Sprint(1 + g.IntN(15))
	if g.chance(4) {
		g.emit("mov.u32 %%t3,%s;", id)
		id = "%t3"
	}
	count := fmt.Sprint(g.threads)
	if g.chance(4) {
		g.emit("mov.u32 %%t4,%d;", g.threads)
		count = "%t4"
	}
	switch f.OpName {
	case "barrier.sync":
		line := word + " " + id
		if g.chance(2) {
			line += "," + count
		}
		g.exchange(func() { g.emit("%s;", line) })
	case "barrier.arrive":
		if g.threads < 64 {
			// one warp: it arrives and then waits, which takes twice as many
			g.emit("%s %s,%d;\nbar.sync %s,%d;\nbar.sync 0;", word, id, 2*g.threads, id, 2*g.threads)
			return true
		}
		// the first warp hands over, the others wait
		l, e := g.newLabel(), g.newLabel()
		g.emit("setp.lt.u32 %%pq,%%t,32;\n@!%%pq bra %s;\n%s %s,%d;\nbra %s;\n%s:\nbar.sync %s,%d;\n%s:\nbar.sync 0;",
			l, word, id, g.threads, e, l, id, g.threads, e)
	case "barrier.red":
		p := pick(g, "", "!") + g.source(optab.FindType("pred"), false).name
		d := g.result(optab.FindType("pred"), false)
		if m.Has("popc") {
			d = g.result(optab.FindType("u32"), false)
		}
		line := fmt.Sprintf("%s %s,%s", word, d.name, id)
		if f.Operand("b") != nil {
			line += "," + count
		}
		line += "," + p + ";"
		if !g.accepts(line) {
			return false
		}
		g.emit("%s", line)
		g.fold(d)
	}
	return true
}

// exchange passes a word through shared memory from one thread to the next, with the barrier in between.
func (g *gen) exchange(barrier func()) {
	g.need(fmt.Sprintf(".shared .align 4 .b32 ex[%d];", g.threads))
	r := g.source(optab.FindType("b32"), false)
	g.emit("mov.u32 %%t1,ex;\nmad.lo.u32 %%t2,%%t,4,%%t1;\nst.shared.b32 [%%t2],%s;", r.name)
	barrier()
	d := g.result(optab.FindType("b32"), false)
	g.emit("add.u32 %%t2,%%t,%d;\nrem.u32 %%t2,%%t2,%d;\nmov.u32 %%t1,ex;\nmad.lo.u32 %%t2,%%t2,4,%%t1;\nld.shared.b32 %s,[%%t2];\nbar.sync 0;", 1+g.IntN(int(g.threads)), g.threads, d.name)
	g.fold(d)
}

// fence writes membar and fence.
func (g *gen) fence(f *optab.Form, words []string, m *optab.Match) bool {
	if f.OpName == "fence.tensormap" {
		if g.fn != nil {
			return false
		}
		p := g.tensor(1, false, -1)
		line := fmt.Sprintf("%s [%%a0],128;", mnemonic(f, words))
		if !g.accepts(line) {
			return false
		}
		g.emit("mov.u64 %%a0,%s;\ncvta.param.u64 %%a0,%%a0;\n%s", p, line)
		return true
	}
	line := mnemonic(f, words) + ";"
	if !g.accepts(line) {
		return false
	}
	g.emit("%s%s", g.guard(), line)
	return true
}

// ownBarrier declares an mbarrier object for each thread and initialises it; %t5 is its address.
func (g *gen) ownBarrier(count int) {
	g.need(fmt.Sprintf(".shared .align 8 .b64 mb[%d];", g.threads))
	g.emit("mov.u32 %%t5,mb;\nmad.lo.u32 %%t5,%%t,8,%%t5;\nmbarrier.init.shared.b64 [%%t5],%d;", count)
}

// mbarrier writes a whole phase of an mbarrier object around the form.
func (g *gen) mbarrier(f *optab.Form, words []string, m *optab.Match) bool {
	if g.fn != nil {
		return false
	}
	word := mnemonic(f, words)
	addr, before := "%t5", ""
	if m.One("shared", "shared::cta", "shared::cluster") == "" { // generic
		addr, before = "%a4", "cvt.u64.u32 %a4,%t5;\ncvta.shared.u64 %a4,%a4;"
	}
	state := "%a3"
	pending := 4
	tx := 0
	var line string
	waits := f.OpName == "mbarrier.test_wait" || f.OpName == "mbarrier.try_wait"
	switch f.OpName {
	case "mbarrier.init":
		line = fmt.Sprintf("%s [%s],4;", word, addr)
	case "mbarrier.inval":
		line = fmt.Sprintf("%s [%s];", word, addr)
	case "mbarrier.pending_count":
		line = fmt.Sprintf("%s %%t1,%%a3;", word)
	case "mbarrier.expect_tx":
		line = fmt.Sprintf("%s [%s],64;", word, addr)
		tx = 64
	case "mbarrier.complete_tx":
		line = fmt.Sprintf("%s [%s],64;", word, addr)
	case "mbarrier.arrive", "mbarrier.arrive_drop":
		n := 1
		if m.Has("shared::cluster") {
			state = "_"
		} else if f.Operands[0].Sink && g.chance(4) {
			state = "_"
		}
		line = fmt.Sprintf("%s %s,[%s]", word, state, addr)
		switch {
		case m.Has("expect_tx"):
			line += ",32"
			tx = 32
		case m.Has("noComplete"):
			n = 1 + g.IntN(3)
			line += fmt.Sprintf(",%d", n)
		case g.chance(2) && g.version >= 78:
			n = 1 + g.IntN(3)
			line += fmt.Sprintf(",%d", n)
		}
		line += ";"
		pending -= n
	case "mbarrier.test_wait", "mbarrier.try_wait":
		what := "%a3"
		if m.Has("parity") {
			what = "0"
		}
		line = fmt.Sprintf("%s %%pq,[%s],%s", word, addr, what)
		if f.Operand("c") != nil && g.chance(2) {
			line += ",1000"
		}
		line += ";"
	}
	if !g.accepts(line) {
		return false
	}
	if f.OpName == "mbarrier.init" {
		g.need(fmt.Sprintf(".shared .align 8 .b64 mb[%d];", g.threads))
		g.emit("mov.u32 %%t5,mb;\nmad.lo.u32 %%t5,%%t,8,%%t5;")
	} else {
		g.ownBarrier(4)
	}
	if before != "" {
		g.emit("%s", before)
	}
	show := func(state string) {
		if state != "_" {
			g.emit("mbarrier.pending_count.b64 %%t1,%s;\nst.global.b32 [%s],%%t1;", state, g.row(1))
		}
	}
	switch {
	case f.OpName == "mbarrier.init":
		g.emit("%s", line)
	case f.OpName == "mbarrier.complete_tx":
		g.emit("mbarrier.expect_tx.relaxed.cta.shared.b64 [%%t5],64;\n%s", line)
	case f.OpName == "mbarrier.inval":
		g.emit("%s", line)
		return true
	case f.OpName == "mbarrier.pending_count":
		g.emit("mbarrier.arrive.shared.b64 %%a3,[%%t5];\n%s\nst.global.b32 [%s],%%t1;", line, g.row(1))
		pending--
	case !waits:
		g.emit("%s", line)
		if strings.HasPrefix(f.OpName, "mbarrier.arrive") {
			show(state)
		}
	}
	if tx > 0 {
		g.emit("mbarrier.complete_tx.relaxed.cta.shared.b64 [%%t5],%d;", tx)
	}
	for pending > 0 {
		g.emit("mbarrier.arrive.shared.b64 %%a3,[%%t5];")
		show("%a3")
		pending--
	}
	if waits {
		g.emit("%s", line)
	} else {
		g.emit("mbarrier.test_wait.shared.b64 %%pq,[%%t5],%%a3;")
	}
	g.emit("selp.b32 %%t1,1,2,%%pq;\nst.global.b32 [%s],%%t1;\nmbarrier.inval.shared.b64 [%%t5];", g.row(1))
	return true
}

// elect writes elect.sync.
func (g *gen) elect(f *optab.Form, words []string, m *optab.Match) bool {
	if !g.uniform || g.fn != nil {
		return false
	}
	p := g.result(optab.FindType("pred"), false)
	d := "_"
	var r *reg
	if g.chance(2) {
		r = g.result(optab.FindType("u32"), false)
		d = r.name
	}
	g.emit("%s %s|%s,0xffffffff;", mnemonic(f, words), d, p.name)
	if r != nil {
		g.fold(r)
	}
	g.fold(p)
	return true
}

// plain writes instructions without a result.
func (g *gen) plain(f *optab.Form, words []string, m *optab.Match) bool {
	word := mnemonic(f, words)
	switch f.Name {
	case "nanosleep":
		g.emit("%s%s %s;", g.guard(), word, pick(g, "10", "100", "0"))
	case "pmevent":
		g.emit("%s%s %d;", g.guard(), word, g.IntN(16))
	case "griddepcontrol":
		if g.fn != nil {
			return false
		}
		g.emit("%s;", word)
	case "setmaxnreg":
		if g.fn != nil || !g.uniform {
			return false
		}
		line := fmt.Sprintf("%s %d;", word, pick(g, 24, 104, 256))
		if !g.accepts(line) {
			return false
		}
		l := g.newLabel() // it counts on how many registers ptxas gave: never reached
		g.emit("@%%pt bra %s;\n%s\n%s:", l, line, l)
	case "stacksave", "stackrestore", "alloca":
		return g.stack(f, words, m)
	}
	return true
}

// stack takes memory from the stack, uses it and gives it back.
func (g *gen) stack(f *optab.Form, words []string, m *optab.Match) bool {
	if g.loops > 0 {
		return false
	}
	typ := m.Type(0)
	line := mnemonic(f, words)
	if typ == "u32" { // half of an address: not reached
		operands := map[string]string{"stacksave": "%t1", "stackrestore": "%t1", "alloca": "%t1,%t2"}[f.Name]
		return g.fn == nil && g.halfAddress(line+" "+operands+";")
	}
	save, restore, alloca := "stacksave.u64 %a1", "stackrestore.u64 %a1", "alloca.u64 %a2,%a3"
	switch f.Name {
	case "stacksave":
		save = line + " %a1"
	case "stackrestore":
		restore = line + " %a1"
	default:
		alloca = line + " %a2,%a3"
	}
	if g.chance(2) {
		alloca += pick(g, ",8", ",16", ",64")
	}
	r := g.source(optab.FindType("b32"), false)
	g.emit("%s;\nmov.u64 %%a3,%d;\n%s;\nst.local.b32 [%%a2+4],%s;\nld.local.b32 %%t1,[%%a2+4];\n%s;", save,
		16+16*g.IntN(4), alloca, r.name, restore)
	if g.fn != nil {
		g.emit("mad.lo.u32 %%acc,%%acc,31,%%t1;")
	} else {
		g.emit("st.global.b32 [%s],%%t1;", g.row(1))
	}
	return true
}
