package lower

import (
	"github.com/gocuda/cuda/internal/tileir"
)

// heapDeclaration declares the functions of the device's heap.
const heapDeclaration = `.extern .func (.param .b64 result) malloc(.param .b64 size);
.extern .func free(.param .b64 pointer);
`

// prepareHeap makes a register for each piece of memory that comes from the heap: nothing yet.
func (g *fn) prepareHeap(b *tileir.Block) {
	for _, o := range b.Ops {
		if o.Code == tileir.Alloca && o.Flags&tileir.GlobalScope != 0 {
			g.heap = append(g.heap, g.e.mutable(number(b64, 0)))
			g.heapOf[o] = g.heap[len(g.heap)-1]
		}
		for _, r := range o.Regions {
			for _, inner := range r.Blocks {
				g.prepareHeap(inner)
			}
		}
	}
}

// alloca gives memory to the tile block: a part of the arena, or of the device's heap where other blocks may use it,
// which is given back when the block ends.
func (g *fn) alloca(o *tileir.Op) {
	e := g.e
	v := o.Results[0]
	each := v.Type.Elem.Elem.Bytes()
	if o.Extra.Count > g.w.o.MaxShared || o.Extra.Align > g.w.o.MaxShared || o.Extra.Count*each > g.w.o.MaxShared {
		g.fail(o, "%d elements aligned to %d bytes take more than %d bytes", o.Extra.Count, o.Extra.Align,
			g.w.o.MaxShared)
	}
	size, align := o.Extra.Count*each, max(o.Extra.Align, each)
	mask := number(b64, -int64(align))
	if o.Flags&tileir.GlobalScope == 0 {
		extra := uint64(0)
		if align > arenaAlign {
			extra = align
		}
		at := g.room(int64(size+extra), 1, 1<<62)
		p := e.add(64, e.op(b64, "cvta.shared.u64", e.op(b64, "mov.b64", reg{text: arenaName})), number(b64, at))
		if extra > 0 {
			p = e.op(b64, "and.b64", e.add(64, p, number(b64, int64(align-1))), mask)
		}
		g.setScalar(v, p)
		return
	}
	g.w.heap = true
	have := g.heapOf[o]
	done := e.label()
	p := e.fresh(pred)
	e.line("setp.ne.u64 %s, %s, 0", p.text, have.text)
	e.line("@%s bra.uni %s", p.text, done)
	e.inner(func() {
		g.firstLane(func() {
			e.raw("{\n")
			e.line(".param .b64 size")
			e.line(".param .b64 result")
			e.line("st.param.b64 [size], %d", size+align)
			e.line("call (result), malloc, (size)")
			e.line("ld.param.b64 %s, [result]", have.text)
			e.raw("}\n")
		})
		e.move(have, g.uniform(have))
		full := e.fresh(pred)
		e.line("setp.eq.u64 %s, %s, 0", full.text, have.text)
		e.line("@%s trap", full.text)
	})
	e.bind(done)
	r := e.fresh(b64)
	e.line("add.s64 %s, %s, %d", r.text, have.text, align-1)
	e.line("and.b64 %s, %s, %d", r.text, r.text, -int64(align))
	g.setScalar(v, r)
}

// firstLane has lane 0 alone do something.
func (g *fn) firstLane(f func()) {
	e := g.e
	p := e.op(pred, "setp.ne.u32", g.laneVar().r, number(b32, 0))
	end := e.label()
	e.line("@%s bra %s", p.text, end)
	e.inner(f)
	e.bind(end)
	g.sync()
}

// exit ends the tile block.
func (g *fn) exit() {
	for _, h := range g.heap {
		g.firstLane(func() {
			g.e.raw("{\n")
			g.e.line(".param .b64 pointer")
			g.e.line("st.param.b64 [pointer], %s", h.text)
			g.e.line("call free, (pointer)")
			g.e.raw("}\n")
		})
	}
	g.e.line("ret")
}
