package checker

import "math/bits"

// A cell remembers the accesses to four bytes that later ones may race with.
type cell struct {
	w, r record
	more *others
}

// record is an access of some lanes by one event. Lanes that share it have accessed the same bytes.
type record struct {
	e     *event
	lanes uint32
	bytes uint8 // of the cell
	start uint8 // of the element, as an address modulo 64
}

// mostRecords bounds what a cell remembers: of more readers, or atomic operations, that nothing orders, some are
// forgotten.
const mostRecords = 64

// access is one under way.
type access struct {
	s *shadow // of the memory that it is to
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
	if !c.w.like(&r) {
		x.against(&c.w, &r, addr)
	}
	if m := c.more; m != nil {
		for i := range m.w {
			x.against(&m.w[i], &r, addr)
		}
		if len(m.s) > 0 && !m.s[0].like(&r) {
			for i := range m.s {
				x.against(&m.s[i], &r, addr)
			}
		}
	}
	if !writes {
		c.remember(x, &c.r, &r, false)
		return
	}
	x.against(&c.r, &r, addr)
	if c.more != nil {
		for i := range c.more.r {
			x.against(&c.more.r[i], &r, addr)
		}
	}
	if c.r.e != nil && x.replaces(&r, &c.r) {
		c.r = record{}
	}
	if m := c.more; m != nil && (r.e.op.Scope == 0 || m.due()) {
		if m.w, m.s, m.r = x.prune(m.w, &r), x.prune(m.s, &r), x.prune(m.r, &r); len(m.w)+len(m.s)+len(m.r) == 0 {
			c.more = nil
		}
	}
	c.remember(x, &c.w, &r, true)
}

// against reports an earlier access that races with the one under way.
func (x *access) against(o, r *record, addr uint64) {
	if o.e != nil && o.bytes&r.bytes != 0 && x.conflict(o, r) {
		x.race(o, r, addr)
	}
}

// remember makes r the newest read or write.
func (c *cell) remember(x *access, at, r *record, writes bool) {
	switch {
	case at.e == nil:
	case at.e == r.e && at.bytes == r.bytes && at.start == r.start:
		at.lanes |= r.lanes
		return
	case x.replaces(r, at):
	default:
		c.push(at, writes)
	}
	*at = *r
}

// push puts a record aside, to make room for a newer one.
func (c *cell) push(at *record, writes bool) {
	if c.more == nil {
		c.more = new(others)
	}
	if writes {
		c.more.keepWrite(at)
	} else {
		keep(&c.more.r, at)
	}
}

// like says whether two writes are strong ones that race with the same others but for order, and not with each other.
func (r *record) like(o *record) bool {
	if r.e == nil {
		return false
	}
	a, b := r.e.op, o.e.op
	return a.Scope != 0 && a.Scope == b.Scope && a.Size == b.Size && r.start == o.start && r.bytes == o.bytes &&
		r.e.async == o.e.async && a.Barrier == b.Barrier && b.Does&Writes != 0 && !b.Stale &&
		(a.Scope >= ScopeDevice || r.e.b == o.e.b)
}

// put adds a record of a line that is split.
func (c *cell) put(r record, writes bool) {
	at := &c.r
	if writes {
		at = &c.w
	}
	if at.e == nil {
		*at = r
		return
	}
	if at.e == r.e && at.bytes == r.bytes && at.start == r.start {
		at.lanes |= r.lanes
		return
	}
	c.push(at, writes)
	*at = r
}

// others are records beyond the newest.
type others struct {
	w, r []record
	s    []record // strong writes that are like each other
	wait uint8    // strong accesses until the next look for records that are of no more use
}

// due says whether to look through the records, which takes longer than an access: once in as many accesses as there
// are.
func (m *others) due() bool {
	if m.wait > 0 {
		m.wait--
		return false
	}
	m.wait = uint8(min(len(m.w)+len(m.s)+len(m.r), 255))
	return true
}

// keepWrite remembers a write that is no more the newest.
func (m *others) keepWrite(at *record) {
	if at.e.op.Scope != 0 && (len(m.s) == 0 || m.s[0].like(at)) {
		keep(&m.s, at)
	} else {
		keep(&m.w, at)
	}
}

// prune forgets what a write replaces.
func (x *access) prune(l []record, r *record) []record {
	kept := l[:0]
	for i := range l {
		if !x.replaces(r, &l[i]) {
			kept = append(kept, l[i])
		}
	}
	return kept
}

// recent is how many of the newest records may be the same event's: warps in a loop take turns.
const recent = 8

func keep(list *[]record, r *record) {
	l := *list
	for i := max(0, len(l)-recent); i < len(l); i++ {
		if o := &l[i]; o.e == r.e && o.bytes == r.bytes && o.start == r.start {
			o.lanes |= r.lanes
			return
		}
	}
	if len(l) < mostRecords {
		*list = append(l, *r)
		return
	}
	l[int(r.e.epoch)%mostRecords] = *r
}

// replaces says whether every later access that races with an earlier one races with this one too: who is ordered
// behind it is ordered behind what came before it. A strong access does not race with other strong ones, so that it
// stands only for its like.
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
	if o.e.b.l == r.e.b.l && b.Stale && a.Does&Writes != 0 {
		return true
	}
	return !x.ordered(o, r)
}

// ordered says whether an earlier access comes before this one, or is made by the same threads.
func (x *access) ordered(o, r *record) bool {
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
		if rest != 0 && !c.knowsAll(o.e.b.index, o.e.actor, rest, o.e.epoch) {
			return false
		}
		done = c
	}
	return true
}
