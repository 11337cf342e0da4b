package checker

import "math/bits"

// A cell remembers the accesses to four bytes that later ones may race with.
type cell struct {
	w, r record
	more *[]record // of either kind, beyond those
}

// record is an access of some lanes by one event. Lanes that share it have accessed the same bytes.
type record struct {
	e     *event
	lanes uint32
	bytes uint8 // of the cell
	start uint8 // of the element, as an address modulo 64
}

// mostRecords bounds what a cell remembers: of more readers, or atomic operations, that nothing orders, some are forgotten.
const mostRecords = 64

const (
	pageBits = 12
	pageSize = 1 << pageBits
)

type page [pageSize / 4]cell

// shadow is the cells of an address space.
type shadow struct {
	pages map[uint64]*page
	last  uint64 // of the page found last, plus one
	page  *page
}

func (s *shadow) cell(addr uint64) *cell {
	n := addr >> pageBits
	if s.last != n+1 {
		p := s.pages[n]
		if p == nil {
			if s.pages == nil {
				s.pages = map[uint64]*page{}
			}
			p = new(page)
			s.pages[n] = p
		}
		s.page, s.last = p, n+1
	}
	return &s.page[addr&(pageSize-1)>>2]
}

// touch checks an access of n bytes at addr by lanes of e, and remembers it.
func (s *shadow) touch(x *access, lanes uint32, addr uint64, n uint32) {
	start := uint8(addr & 63)
	for n > 0 {
		off := uint32(addr & 3)
		k := min(4-off, n)
		s.cell(addr).touch(x, record{e: x.e, lanes: lanes, bytes: uint8(1<<k-1) << off, start: start}, addr)
		addr += uint64(k)
		n -= k
	}
}

// access is one under way.
type access struct {
	e *event
	b *Block
	w *warp // of the issuing thread
	t *Launch
}

// touch checks and remembers one access.
func (c *cell) touch(x *access, r record, addr uint64) {
	writes := r.e.op.Does&Writes != 0
	if writes && r.lanes&(r.lanes-1) != 0 && r.e.op.Scope == 0 && r.e.self() {
		x.race(&r, &r, addr) // lanes of one operation
	}
	if c.w.e != nil && c.w.bytes&r.bytes != 0 && x.conflict(&c.w, &r) {
		x.race(&c.w, &r, addr)
	}
	if writes && c.r.e != nil && c.r.bytes&r.bytes != 0 && x.conflict(&c.r, &r) {
		x.race(&c.r, &r, addr)
	}
	if c.more != nil {
		for i := range *c.more {
			o := &(*c.more)[i]
			if o.bytes&r.bytes != 0 && (writes || o.e.op.Does&Writes != 0) && x.conflict(o, &r) {
				x.race(o, &r, addr)
			}
		}
	}
	at := &c.r
	if writes {
		at = &c.w
		if c.r.e != nil && x.replaces(&r, &c.r) {
			c.r = record{}
		}
		c.prune(x, &r)
	}
	switch {
	case at.e == nil || at.e == r.e && at.bytes == r.bytes && at.start == r.start:
		r.lanes |= at.lanes
		*at = r
	case x.replaces(&r, at):
		*at = r
	default:
		if !writes && c.merge(&r) {
			return
		}
		old := *at
		*at = r
		c.keep(old)
	}
}

// merge adds a read to one of the same event.
func (c *cell) merge(r *record) bool {
	if c.more == nil {
		return false
	}
	for i := range *c.more {
		if o := &(*c.more)[i]; o.e == r.e && o.bytes == r.bytes && o.start == r.start {
			o.lanes |= r.lanes
			return true
		}
	}
	return false
}

// prune forgets what a write replaces.
func (c *cell) prune(x *access, r *record) {
	if c.more == nil {
		return
	}
	kept := (*c.more)[:0]
	for i := range *c.more {
		if o := (*c.more)[i]; !x.replaces(r, &o) {
			kept = append(kept, o)
		}
	}
	if *c.more = kept; len(kept) == 0 {
		c.more = nil
	}
}

func (c *cell) keep(r record) {
	if c.more == nil {
		c.more = new([]record)
	}
	l := *c.more
	for i := range l {
		if o := &l[i]; o.e == r.e && o.bytes == r.bytes && o.start == r.start {
			o.lanes |= r.lanes
			return
		}
	}
	if len(l) < mostRecords {
		*c.more = append(l, r)
		return
	}
	l[int(r.e.epoch)%mostRecords] = r
}

// replaces says whether every later access that races with an earlier one races with this one too: who is ordered behind it is ordered
// behind what came before it. A strong access does not race with other strong ones, so that it stands only for its like.
func (x *access) replaces(r, o *record) bool {
	a, b := o.e.op, r.e.op
	if o.bytes&^r.bytes != 0 || a.Does&Writes != 0 && b.Does&Writes == 0 {
		return false
	}
	if b.Scope != 0 && (a.Scope < b.Scope || a.Size != b.Size || o.start != r.start || a.Barrier != b.Barrier) {
		return false
	}
	return x.ordered(o, r)
}

// conflict says whether an earlier access and this one, which overlap and one of which writes, race.
func (x *access) conflict(o, r *record) bool {
	if o.e == r.e && o.lanes == r.lanes && r.lanes&(r.lanes-1) == 0 && r.e.self() {
		return false
	}
	a, b := o.e.op, r.e.op
	if a.Barrier && b.Barrier {
		return false
	}
	if a.Scope != 0 && b.Scope != 0 && a.Size == b.Size && o.start == r.start && o.e.async == r.e.async &&
		a.Scope.includes(o.e.b, r.e.b) && b.Scope.includes(r.e.b, o.e.b) {
		return false
	}
	if o.e.l == r.e.l && b.Stale && a.Does&Writes != 0 {
		return true
	}
	return !x.ordered(o, r)
}

// ordered says whether an earlier access comes before this one, or is made by the same threads.
func (x *access) ordered(o, r *record) bool {
	if o.e.l != r.e.l {
		return x.t.c.ordered(o.e.l, r.e.l)
	}
	// What cp.async has written NVIDIA's and Triton's kernels read with wgmma without a fence between the proxies.
	proxy := r.e.async && !o.e.async && o.e.op.Does&Writes != 0 && o.e.self()
	same := o.e.b == r.e.b && o.e.warp == r.e.warp && o.e.self() && !proxy
	if same && o.lanes == r.lanes && r.lanes&(r.lanes-1) == 0 {
		return true
	}
	var done *clock
	for m := r.lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		c := x.w.view[l].all
		if proxy {
			c = x.w.view[l].async
		}
		if c == done && c != nil && !same {
			continue
		}
		rest := o.lanes
		if same {
			rest &^= 1 << l
		}
		for ; rest != 0; rest &= rest - 1 {
			if !c.knows(o.e.b.index, o.e.actor+uint32(bits.TrailingZeros32(rest)), o.e.epoch) {
				return false
			}
		}
		done = c
	}
	return true
}
