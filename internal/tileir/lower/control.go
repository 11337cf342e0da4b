package lower

import (
	"slices"

	"github.com/gocuda/cuda/internal/tileir"
)

// loop is a loop while its body is written.
type loop struct {
	op        *tileir.Op
	next, end string
}

// setScalar notes the register of a value of equal elements; what is written from here on can use it.
func (g *fn) setScalar(v *tileir.Val, r reg) {
	r.level = min(r.level, g.e.level())
	g.scalars[v] = r
}

// block writes the operations of a block.
func (g *fn) block(b *tileir.Block) {
	for _, o := range b.Ops {
		g.op(o)
	}
}

// op writes an operation.
func (g *fn) op(o *tileir.Op) {
	g.w.check()
	g.now = g.begin[o]
	g.arena.free(g.now)
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(tooLarge); !ok {
				panic(r)
			}
			g.fail(o, "the tiles that are live here take more than %d bytes of shared memory", g.w.o.MaxShared)
		}
	}()
	g.mark(o)
	switch o.Code {
	case tileir.MakeTensorView:
		g.makeTensorView(o)
	case tileir.MakePartitionView, tileir.MakeStridedView, tileir.MakeGatherScatterView:
		g.tileView(o)
	case tileir.GetIndexSpaceShape:
		g.indexSpace(o)
	case tileir.GetTensorShape:
		g.tensorShape(o)
	case tileir.GetTileBlockID, tileir.GetNumTileBlocks:
		name := "%ctaid."
		if o.Code == tileir.GetNumTileBlocks {
			name = "%nctaid."
		}
		for i, r := range o.Results {
			g.setScalar(r, g.e.op(b32, "mov.u32", reg{text: name + string("xyz"[i])}))
		}
	case tileir.StorePtr:
		g.storePtr(o)
	case tileir.StoreView:
		g.storeView(o)
	case tileir.Reduce:
		g.reduce(o)
	case tileir.Scan:
		g.scan(o)
	case tileir.MmaF, tileir.MmaI:
		g.mma(o)
	case tileir.AtomicCAS, tileir.AtomicRMW:
		g.atomic(o)
	case tileir.AtomicRedView:
		g.reduceView(o)
	case tileir.Alloca:
		g.alloca(o)
	case tileir.GetGlobal:
		g.setScalar(o.Results[0], g.e.op(b64, "mov.b64", reg{text: o.Extra.Name}))
	case tileir.Print:
		g.print(o)
	case tileir.Assert:
		g.assert(o)
	case tileir.GDCWait:
		g.e.line("griddepcontrol.wait")
	case tileir.GDCLaunchDependents:
		g.e.line("griddepcontrol.launch_dependents")
	case tileir.MemoryFenceAlias:
		g.e.line("fence.proxy.alias")
	case tileir.For:
		g.forLoop(o)
	case tileir.Loop:
		g.loop(o)
	case tileir.If:
		g.ifElse(o)
	case tileir.Continue:
		g.continueLoop(o)
	case tileir.Break:
		l := g.loops[len(g.loops)-1]
		g.assign(o, o.Operands, l.op.Results, true)
		g.e.line("bra.uni %s", l.end)
	case tileir.Yield:
		g.assign(o, o.Operands, o.Parent.Parent.Results, true)
	case tileir.Return:
		g.exit()
	case tileir.MakeToken, tileir.JoinTokens:
	default:
		g.make(o)
	}
}

// make writes the result of an operation where it is stored or the same for all elements.
func (g *fn) make(o *tileir.Op) {
	if !g.movable(o) || len(o.Results) == 0 || !isTile(o.Results[0].Type) {
		g.fail(o, "this operation is not lowered")
	}
	v := o.Results[0]
	switch {
	case g.mode[v] == inline || g.mode[v] == unused && !g.splat[v]:
		return
	case g.splat[v]:
		g.single(o, v)
	default:
		g.before(o)
		g.fill(g.root(o, 0, v.Type), typeOf(v.Type.Elem), g.slot(v), func(w *walk, ix index) reg {
			return w.compute(o, v, ix)
		})
		g.behind(o)
	}
}

// fill writes a walk that stores elements in the arena.
func (g *fn) fill(r *root, t *elem, slot int64, element func(w *walk, ix index) reg) {
	g.rows(r, func(w *walk, ix index) {
		x := element(w, ix)
		g.store(t, "st.shared", g.at(slot, t.bytes, ix), x, w.only())
	})
	g.sync()
}

// single writes a value whose elements are all the same.
func (g *fn) single(o *tileir.Op, v *tileir.Val) {
	var x reg
	if pure(o.Code) && !g.reads(o) {
		w := &walk{g: g, r: g.root(o, 0, v.Type), level: g.e.level()}
		g.setScalar(v, w.compute(o, v, nil))
		return
	}
	g.walk(g.root(o, 0, v.Type), false, func(w *walk) { x = w.compute(o, v, nil) })
	g.setScalar(v, x)
	if !pure(o.Code) {
		// What another block writes at the same time must not part the lanes.
		x = g.uniform(g.scalars[v])
		g.setScalar(v, x)
	}
}

// reads reports whether an operation uses elements of tiles.
func (g *fn) reads(o *tileir.Op) bool {
	return slices.ContainsFunc(o.Operands, func(x *tileir.Val) bool { return isTile(x.Type) && !g.splat[x] })
}

// assign gives values to carried values or results, all at once. fresh says that nothing reads the old ones.
func (g *fn) assign(o *tileir.Op, from, to []*tileir.Val, fresh bool) {
	e := g.e
	// Tiles first: their walks read scalars.
	type copied struct {
		from, to int64
		v        *tileir.Val
	}
	var later []copied
	var last map[*tileir.Val]int
	if !fresh {
		last = g.lastReads(o, from)
	}
	for i, v := range from {
		g.w.check()
		if !isTile(v.Type) || g.splat[to[i]] || g.mode[to[i]] == unused {
			continue
		}
		slot := g.slots[to[i]]
		if g.forwards[v] == to[i] && g.forwards[v] != nil {
			continue
		}
		if at, ok := g.slots[v]; ok && at == slot {
			continue
		}
		r := g.root(o, i, v.Type)
		t := typeOf(v.Type.Elem)
		if !fresh && g.clash(o, i, v, to[i], last) {
			at := g.room(v.Type.Elements(), t.bytes, g.now)
			later = append(later, copied{at, slot, v})
			slot = at
		}
		g.fill(r, t, slot, func(w *walk, ix index) reg { return w.element(v, w.whole(v, ix)) })
	}
	for _, c := range later {
		t := typeOf(c.v.Type.Elem)
		r := &root{op: o, bits: log2(c.v.Type.Elements()), cost: 1}
		g.fill(r, t, c.to, func(w *walk, ix index) reg { return w.read(t, c.from, ix) })
	}
	var regs []reg
	var targets []*tileir.Val
	for i, v := range from {
		if isTile(v.Type) && g.splat[to[i]] {
			r := g.scalars[v]
			if len(from) > 1 && !r.imm && !fresh {
				c := e.fresh(r.class)
				e.move(c, r)
				r = c
			}
			regs = append(regs, r)
			targets = append(targets, to[i])
		}
	}
	for i, t := range targets {
		e.move(g.scalars[t], regs[i])
	}
}

// lastReads says for each tile in which of the walks that make new values of an operation's operands it is read last.
func (g *fn) lastReads(o *tileir.Op, from []*tileir.Val) map[*tileir.Val]int {
	last := map[*tileir.Val]int{}
	for i, v := range from {
		if isTile(v.Type) {
			for x := range g.root(o, i, v.Type).reads {
				last[x] = i
			}
		}
	}
	return last
}

// clash reports whether the tile that a new value goes to may not be written before all new ones are made; last is what
// lastReads says.
func (g *fn) clash(o *tileir.Op, i int, v, to *tileir.Val, last map[*tileir.Val]int) bool {
	same, ok := g.root(o, i, v.Type).reads[to]
	return ok && !same || last[to] > i
}

// declare gives results or carried values their registers and places.
func (g *fn) declare(vs []*tileir.Val) {
	for _, v := range vs {
		switch {
		case !isTile(v.Type):
		case g.splat[v]:
			g.scalars[v] = g.e.fresh(typeOf(v.Type.Elem).class)
		case g.mode[v] == stored:
			g.slot(v)
		}
	}
}

// deepen notes that values are written in a loop whose scope has been entered.
func (g *fn) deepen(vs []*tileir.Val) {
	for _, v := range vs {
		if r, ok := g.scalars[v]; ok {
			r.level = g.e.level()
			g.scalars[v] = r
		}
	}
}

func (g *fn) forLoop(o *tileir.Op) {
	e := g.e
	body := o.Regions[0].Blocks[0]
	iv, args := body.Args[0], body.Args[1:]
	lower, upper, step := g.scalars[o.Operands[0]], g.scalars[o.Operands[1]], g.scalars[o.Operands[2]]
	kind := iv.Type.Elem.Kind
	g.declare(args)
	g.assign(o, o.Operands, append([]*tileir.Val{nil, nil, nil}, args...), true)
	i := e.mutable(lower)
	bits := "32"
	if kind == tileir.I64 {
		bits = "64"
	}
	sign := "s"
	if o.Flags&tileir.UnsignedCmp != 0 {
		sign = "u"
	}
	l := &loop{op: o, next: e.label(), end: e.label()}
	head := e.label()
	test := func(cond, to string) {
		p := e.fresh(pred)
		e.line("setp.%s.%s%s %s, %s, %s", cond, sign, bits, p.text, i.text, upper.text)
		e.line("@%s bra.uni %s", p.text, to)
	}
	// What the body moves out stands behind the test, so nothing behind the loop may use it.
	e.push(true)
	test("ge", l.end)
	e.push(false)
	i.level = e.level()
	g.scalars[iv] = i
	g.deepen(args)
	g.loops = append(g.loops, l)
	g.block(body)
	g.loops = g.loops[:len(g.loops)-1]
	e.bind(l.next)
	// The counter may wrap around behind the last turn: what is left decides.
	left := e.fresh(i.class)
	e.line("sub.s%s %s, %s, %s", bits, left.text, upper.text, i.text)
	if n := kind.Bits(); n < 32 {
		e.line("and.b32 %s, %s, %d", left.text, left.text, 1<<n-1)
	}
	p := e.fresh(pred)
	e.line("setp.gt.u%s %s, %s, %s", bits, p.text, left.text, step.text)
	sum := e.fresh(i.class)
	e.line("add.s%s %s, %s, %s", bits, sum.text, i.text, step.text)
	if kind == tileir.I8 || kind == tileir.I16 {
		e.line("cvt.s32.s%d %s, %s", kind.Bits(), sum.text, sum.text)
	}
	e.move(i, sum)
	e.line("@%s bra.uni %s", p.text, head)
	e.closeLoop(head)
	e.pop()
	e.bind(l.end)
	for k, r := range o.Results {
		if !isTile(r.Type) {
			continue
		}
		if g.splat[r] {
			g.setScalar(r, g.scalars[args[k]])
		} else {
			g.slots[r] = g.slots[args[k]]
		}
	}
}

func (g *fn) loop(o *tileir.Op) {
	e := g.e
	body := o.Regions[0].Blocks[0]
	g.declare(body.Args)
	g.declare(o.Results)
	g.assign(o, o.Operands, body.Args, true)
	l := &loop{op: o, next: e.label(), end: e.label()}
	e.push(false)
	g.deepen(body.Args)
	g.loops = append(g.loops, l)
	g.block(body)
	g.loops = g.loops[:len(g.loops)-1]
	if last := body.Ops[len(body.Ops)-1]; last.Code == tileir.Continue {
		e.line("bra.uni %s", l.next)
	}
	e.closeLoop(l.next)
	e.bind(l.end)
}

func (g *fn) continueLoop(o *tileir.Op) {
	l := g.loops[len(g.loops)-1]
	args := l.op.Regions[0].Blocks[0].Args
	if l.op.Code == tileir.For {
		args = args[1:]
	}
	g.assign(o, o.Operands, args, false)
	body := l.op.Regions[0].Blocks[0]
	if o.Parent == body {
		return // the loop's end follows
	}
	g.e.line("bra.uni %s", l.next)
}

func (g *fn) ifElse(o *tileir.Op) {
	e := g.e
	g.declare(o.Results)
	other, end := e.label(), e.label()
	p := g.scalars[o.Operands[0]]
	e.line("@!%s bra.uni %s", p.text, other)
	branch := func(r tileir.Region) {
		for _, b := range r.Blocks {
			e.inner(func() { g.block(b) })
		}
	}
	branch(o.Regions[0])
	if then := o.Regions[0].Blocks[0]; then.Ops[len(then.Ops)-1].Code == tileir.Yield {
		e.line("bra.uni %s", end)
	}
	e.bind(other)
	branch(o.Regions[1])
	e.bind(end)
}
