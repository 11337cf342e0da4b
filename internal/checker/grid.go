package checker

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
)

// grid is a launch as an operation of the program.
type grid struct {
	a       *Action
	threads [3]uint32
	blocks  [3]uint32
}

// In places the launch in the timeline: an action of its own or, of a kernel that another kernel launched, that
// one's. End ends it.
func (l *Launch) In(a *Action, blocks, threads [3]uint32) {
	l.grid = grid{a, threads, blocks}
	if a != nil && len(a.early) > 0 {
		l.early = true
	}
}

// awaited is the block number under which clocks know the work that an early launch has waited for.
const awaited = ^uint32(0)

// Awaits is griddepcontrol.wait: what the launch may have overlapped with has ended.
func (b *Block) Awaits(warp int, lanes uint32) {
	if !b.l.early {
		return
	}
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	var c *clock
	b.acquire(warp, lanes, view{all: c.plus(awaited, 0, 1, 1)})
	b.advance(warp, lanes)
}

// ahead says whether lanes may be ahead of what their launch overlaps with. Barriers pass on that a thread has
// waited.
func (b *Block) ahead(warp int, lane int) bool {
	return b.l.early && !b.warps[warp].view[lane].all.knows(awaited, 0, 1)
}

// End compares what the launch has accessed with other operations.
func (l *Launch) End() {
	j := l.journal
	l.journal = nil
	if j != nil && !j.apart() {
		j.tellAll(l)
		j.recycle(l.c)
		j = nil
	}
	var list []*touch
	if l.a != nil && j == nil {
		list = l.touches()
	}
	l.global.clear()
	l.c.mu.Lock()
	l.c.spare = append(l.c.spare, l.global)
	l.global, l.sync, l.free, l.events, l.ended = nil, nil, nil, nil, true
	l.c.mu.Unlock()
	switch {
	case j != nil && l.a == nil:
		j.recycle(l.c)
	case j != nil:
		l.a.q.t.putOff(&postponed{l, j, j.hulls()})
	case len(list) > 0:
		t := l.a.q.t
		t.mu.Lock()
		defer t.mu.Unlock()
		t.add(list)
	}
}

// touchKey tells apart what is one access to the timeline.
type touchKey struct {
	op    *Op
	early bool
}

// touches makes pieces of memory of the lines of a launch: neighbours by one operation, with threads in step, are
// one.
func (l *Launch) touches() []*touch {
	t := touchMaker{l: l, lists: map[touchKey][]*touch{}}
	for _, n := range slices.Sorted(maps.Keys(l.global.pages)) {
		p := l.global.pages[n]
		for i := range p {
			t.line(&p[i], n<<pageBits|uint64(i)<<lineBits)
		}
	}
	keys := slices.SortedFunc(maps.Keys(t.lists), func(a, b touchKey) int {
		return cmp.Or(cmp.Compare(a.op.Site, b.op.Site), cmp.Compare(a.op.Does, b.op.Does))
	})
	var list []*touch
	for _, k := range keys {
		list = append(list, t.lists[k]...)
	}
	return list
}

// touchMaker makes touches of lines in the order of their addresses.
type touchMaker struct {
	l      *Launch
	found  []touch      // in the line
	open   []*openTouch // the first ones
	others map[touchKey]*openTouch
	lists  map[touchKey][]*touch
}

// openTouch is the newest piece by an operation.
type openTouch struct {
	k touchKey
	x *touch
}

// line takes what a line remembers.
func (t *touchMaker) line(ln *line, addr uint64) {
	t.found = t.found[:0]
	if ln.cells == nil {
		t.span(&ln.w, addr)
		t.span(&ln.r, addr)
		if m := ln.more; m != nil {
			for i := range m.w {
				t.span(&m.w[i], addr)
			}
			for i := range m.r {
				t.span(&m.r[i], addr)
			}
		}
	} else {
		for i := range ln.cells {
			c, at := &ln.cells[i], addr+uint64(4*i)
			t.record(&c.w, at)
			t.record(&c.r, at)
			if c.more != nil {
				for j := range c.more.w {
					t.record(&c.more.w[j], at)
				}
				for j := range c.more.s {
					t.record(&c.more.s[j], at)
				}
				for j := range c.more.r {
					t.record(&c.more.r[j], at)
				}
			}
		}
	}
	for i := 1; i < len(t.found); i++ {
		if t.found[i].lo < t.found[i-1].lo {
			slices.SortStableFunc(t.found, func(a, b touch) int { return cmp.Compare(a.lo, b.lo) })
			break
		}
	}
	for i := range t.found {
		t.put(&t.found[i])
	}
}

// piece is an access by a lane of an event.
func (t *touchMaker) piece(e *event, lane int, lo, hi uint64) touch {
	d := &t.l.grid.threads
	threads := uint64(d[0]) * uint64(d[1]) * uint64(d[2])
	first := uint64(e.b.index)*threads + uint64(32*int(e.warp)+lane)
	return touch{a: t.l.a, op: e.op, lo: lo, hi: hi, l: t.l, early: e.early, first: first}
}

func (t *touchMaker) record(r *record, addr uint64) {
	for m := r.bytes; r.e != nil && m != 0; {
		off := bits.TrailingZeros8(m)
		n := bits.TrailingZeros8(^(m >> off))
		m &^= (1<<n - 1) << off
		t.found = append(t.found, t.piece(r.e, bits.TrailingZeros32(r.lanes), addr+uint64(off), addr+uint64(off+n)))
	}
}

func (t *touchMaker) span(p *span, addr uint64) {
	if p.e == nil {
		return
	}
	first := bits.TrailingZeros32(p.lanes)
	from, to, dense := p.dense()
	if dense {
		x := t.piece(p.e, first, addr+uint64(from), addr+uint64(to))
		if p.stride != 0 {
			x.per, x.step = uint64(p.size), 1
		}
		t.found = append(t.found, x)
		return
	}
	for m := p.lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		lo := addr + uint64(int64(p.at)+int64(p.stride)*int64(l))
		t.found = append(t.found, t.piece(p.e, l, lo, lo+uint64(p.size)))
	}
}

// put adds an access, of which those by the same operation so far begin at most as far on.
func (t *touchMaker) put(p *touch) {
	k := touchKey{p.op, p.early}
	o := t.opened(k)
	x := o.x
	if x != nil {
		if p.hi <= x.hi {
			return // further threads at the same place
		}
		if p.lo < x.hi {
			p.first, p.lo = p.thread(x.hi), x.hi
		}
		switch {
		case p.lo > x.hi:
		case x.per == 0 && p.per == 0 && p.first == x.first:
			x.hi = p.hi
			return
		case x.per == 0 && p.per == 0: // the second thread
			x.per, x.step = x.hi-x.lo, int64(p.first-x.first)
			x.hi = p.hi
			return
		case (p.per == 0 && p.hi-p.lo <= x.per || p.per == x.per && p.step == x.step) && x.thread(p.lo) == p.first:
			x.hi = p.hi
			return
		}
	}
	c := *p
	o.x = &c
	t.lists[k] = append(t.lists[k], o.x)
}

// opened is the newest piece by an operation.
func (t *touchMaker) opened(k touchKey) *openTouch {
	const few = 16
	for i := range min(few, len(t.open)) {
		if t.open[i].k == k {
			return t.open[i]
		}
	}
	if o := t.others[k]; o != nil {
		return o
	}
	o := &openTouch{k: k}
	if len(t.open) < few {
		t.open = append(t.open, o)
		return o
	}
	if t.others == nil {
		t.others = map[touchKey]*openTouch{}
	}
	t.others[k] = o
	return o
}

// at is the block and the thread with a number through the grid.
func (g *grid) at(n uint64) (block, thread [3]uint32) {
	d := &g.threads
	threads := uint64(d[0]) * uint64(d[1]) * uint64(d[2])
	if threads == 0 {
		return block, thread
	}
	i, b := uint32(n%threads), uint32(n/threads)
	thread = [3]uint32{i % d[0], i / d[0] % d[1], i / d[0] / d[1]}
	if w, h := g.blocks[0], g.blocks[1]; w != 0 && h != 0 {
		block = [3]uint32{b % w, b / w % h, b / w / h}
	}
	return block, thread
}

// tells says that the launch releases something by a strong write to an address, for other launches too.
func (l *Launch) tells(addr uint64) {
	const most = 1 << 16
	l.c.messages.Store(true)
	l.c.telling.Lock()
	defer l.c.telling.Unlock()
	if len(l.c.tellers) > most {
		clear(l.c.tellers)
	}
	l.c.tellers[addr] = l
}

// hears says that a kernel reads an address, and acquires what another launch has released there. That launch then
// counts as ordered: which part of its work came before is not told apart.
func (l *Launch) hears(addr uint64) {
	l.c.telling.Lock()
	o := l.c.tellers[addr]
	l.c.telling.Unlock()
	if o == nil || l.a == nil || o.a == nil || o.a == l.a {
		return
	}
	t := l.a.q.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.a.heard == nil {
		l.a.heard = map[*Action]bool{}
	}
	l.a.heard[o.a] = true
}
