package checker

import "math/bits"

// A line is 128 bytes of memory. Most accesses of a warp touch a line in a regular way: lanes side by side, or all at
// one place. A line remembers such accesses as spans, one for a warp's access to the whole line, and is split into
// cells of four bytes when spans cannot answer: where accesses race, where they are strong, and where many patterns
// meet.
type line struct {
	w, r  span // the newest write and read
	more  *spans
	cells *cells // nil unless it is split
}

const (
	lineBits = 7
	lineSize = 1 << lineBits
)

type cells [lineSize / 4]cell

// span is an access of some lanes by one event: lane l accesses size bytes from byte at+stride*l of the line on.
type span struct {
	e          *event
	lanes      uint32
	at, stride int32
	size       int32
}

// spans are those beyond the newest.
type spans struct {
	w, r []span
	wait uint8 // reads until the next look for spans that are of no more use
}

// mostSpans bounds the spans that a line remembers beyond the newest: of more readers that nothing orders some are
// forgotten, and of more writers the line is split.
const mostSpans = 14

// bytes is a set of a line's bytes.
type bytes [2]uint64

func (b bytes) meets(c bytes) bool { return b[0]&c[0]|b[1]&c[1] != 0 }
func (b bytes) holds(c bytes) bool { return c[0]&^b[0]|c[1]&^b[1] == 0 }

// run is the bytes from one to another.
func run(from, to int32) (b bytes) {
	low := func(n int32) uint64 { // the first n of 64
		switch {
		case n <= 0:
			return 0
		case n >= 64:
			return ^uint64(0)
		}
		return 1<<n - 1
	}
	return bytes{low(to) &^ low(from), low(to-64) &^ low(from-64)}
}

// dense is the range of bytes that a span covers when it leaves no holes.
func (p *span) dense() (from, to int32, ok bool) {
	if p.stride == 0 {
		return p.at, p.at + p.size, true
	}
	first, last := int32(bits.TrailingZeros32(p.lanes)), int32(31-bits.LeadingZeros32(p.lanes))
	from, to = p.at+p.stride*first, p.at+p.stride*last+p.size
	rest := p.lanes >> first
	return from, to, p.stride == p.size && rest&(rest+1) == 0
}

// covers are the bytes of a span.
func (p *span) covers() (b bytes) {
	from, to, ok := p.dense()
	if ok {
		return run(from, to)
	}
	for m := p.lanes; m != 0; m &= m - 1 {
		at := p.at + p.stride*int32(bits.TrailingZeros32(m))
		c := run(at, at+p.size)
		b[0] |= c[0]
		b[1] |= c[1]
	}
	return b
}

// same says whether lanes of two spans are at the same places.
func (p *span) same(q *span) bool { return p.at == q.at && p.stride == q.stride && p.size == q.size }

// shares says whether different lanes of a warp access the same byte, of which a span is each one's part.
func (p *span) shares(q *span) bool {
	one := p.lanes&(p.lanes-1) == 0
	switch {
	case one && p.lanes == q.lanes:
		return false
	case p.same(q) && p.stride >= p.size:
		return false
	case !p.covers().meets(q.covers()):
		return false
	case p.stride < p.size || q.stride < q.size:
		return true // several lanes at a byte, most likely: cells tell
	}
	for m := p.lanes; m != 0; m &= m - 1 {
		l := int32(bits.TrailingZeros32(m))
		at := p.at + p.stride*l
		c := run(at, at+p.size)
		other := *q
		other.lanes &^= 1 << l
		if other.lanes != 0 && c.meets(other.covers()) {
			return true
		}
	}
	return false
}

// relation says how an earlier access stands to one under way on the same line: whether all its lanes come before all
// lanes of the other, and whether they may race.
func (x *access) relation(o, p *span) (ordered, races bool) {
	a, b := o.e, p.e
	writes := a.op.Does&Writes != 0
	if !(b.op.Stale && writes) && x.after(a, o.lanes, p.lanes) {
		return true, false
	}
	warp := a.b == b.b && a.warp == b.warp && a.self() && b.self()
	one := o.lanes&(o.lanes-1) == 0
	// Each lane's accesses are in its program's order.
	program := warp && (one && o.lanes == p.lanes || o.same(p) && p.stride >= p.size && o.lanes&^p.lanes == 0)
	switch {
	case !writes && b.op.Does&Writes == 0:
		return program, false
	case warp && !b.op.Stale:
		return program, !program && o.shares(p)
	}
	return false, o.covers().meets(p.covers())
}

// after says whether all of some lanes' work of an event is known to all of lanes of the access.
func (x *access) after(o *event, done, lanes uint32) bool {
	proxy := x.e.async && !o.async && o.op.Does&Writes != 0 && o.self()
	if !proxy && lanes&^x.w.same == 0 { // they know the same
		lanes &= -lanes
	}
	for ; lanes != 0; lanes &= lanes - 1 {
		v := &x.w.view[bits.TrailingZeros32(lanes)]
		c := v.all
		if proxy {
			c = v.async
		}
		if !c.knowsAll(o.b.index, o.actor, done, o.epoch) {
			return false
		}
	}
	return true
}

// touch checks and remembers an access by a span of the line that begins at addr.
func (ln *line) touch(x *access, p *span, addr uint64) {
	if ln.cells != nil {
		ln.split(x, p, addr)
		return
	}
	writes := p.e.op.Does&Writes != 0
	if writes && p.stride < p.size && p.lanes&(p.lanes-1) != 0 { // lanes of one operation
		ln.split(x, p, addr)
		return
	}
	if !writes {
		if ln.w.e != nil {
			if _, races := x.relation(&ln.w, p); races {
				ln.split(x, p, addr)
				return
			}
		}
		if ln.more != nil {
			for i := range ln.more.w {
				if _, races := x.relation(&ln.more.w[i], p); races {
					ln.split(x, p, addr)
					return
				}
			}
		}
		ln.read(x, p, addr)
		return
	}
	ln.write(x, p, addr)
}

// grow makes a span of the same event stand for the access too.
func (p *span) grow(q *span) bool {
	switch {
	case p.e != q.e:
		return false
	case p.same(q):
		p.lanes |= q.lanes
		return true
	case p.stride == 0 && q.stride == 0 && p.lanes == q.lanes && q.at <= p.at+p.size && p.at <= q.at+q.size:
		end := max(p.at+p.size, q.at+q.size)
		p.at = min(p.at, q.at)
		p.size = end - p.at
		return true
	}
	return false
}

// read remembers a read that races with nothing.
func (ln *line) read(x *access, p *span, addr uint64) {
	switch {
	case ln.r.e == nil:
		ln.r = *p
		return
	case ln.r.grow(p):
		return
	}
	if ordered, _ := x.relation(&ln.r, p); ordered && p.covers().holds(ln.r.covers()) {
		ln.r = *p
		return
	}
	if ln.more == nil {
		ln.more = &spans{}
	}
	l := ln.more.r
	for i := len(l) - 1; i >= 0; i-- {
		if l[i].grow(p) {
			return
		}
	}
	if len(l) == mostSpans && ln.more.wait > 0 {
		ln.more.wait--
	} else if len(l) == mostSpans {
		ln.more.wait = mostSpans
		all := p.covers()
		kept := l[:0]
		for i := range l {
			if ordered, _ := x.relation(&l[i], p); !ordered || !all.holds(l[i].covers()) {
				kept = append(kept, l[i])
			}
		}
		l = kept
	}
	switch {
	case len(l) < mostSpans:
		ln.more.r = push(l, &ln.r)
	case bits.OnesCount64(p.covers()[0])+bits.OnesCount64(p.covers()[1]) < lineSize/2:
		ln.split(x, p, addr)
		return
	default:
		l[int(p.e.epoch)%mostSpans] = ln.r
		ln.more.r = l
	}
	ln.r = *p
}

// push appends, with room for one more at first: most lines have few.
func push(l []span, p *span) []span {
	if len(l) == cap(l) {
		n := make([]span, len(l), min(max(1, 2*len(l)), mostSpans))
		copy(n, l)
		l = n
	}
	return append(l, *p)
}

// write checks and remembers a write.
func (ln *line) write(x *access, p *span, addr uint64) {
	all := p.covers()
	replaces := func(o *span) (gone, races bool) {
		if o.e == nil {
			return true, false
		}
		ordered, races := x.relation(o, p)
		return ordered && all.holds(o.covers()), races
	}
	oldW, races := replaces(&ln.w)
	if races {
		ln.split(x, p, addr)
		return
	}
	oldR, races := replaces(&ln.r)
	if races {
		ln.split(x, p, addr)
		return
	}
	if m := ln.more; m != nil {
		for _, list := range []*[]span{&m.w, &m.r} {
			kept := (*list)[:0]
			for i := range *list {
				gone, races := replaces(&(*list)[i])
				if races {
					ln.more = m.whole(list, kept, i)
					ln.split(x, p, addr)
					return
				}
				if !gone {
					kept = append(kept, (*list)[i])
				}
			}
			*list = kept
		}
		if len(m.w)+len(m.r) == 0 {
			ln.more = nil
		}
	}
	if oldR {
		ln.r = span{}
		if m := ln.more; m != nil && len(m.r) > 0 {
			ln.r = m.r[len(m.r)-1]
			m.r = m.r[:len(m.r)-1]
		}
	}
	if !oldW && !ln.w.grow(p) {
		if ln.more == nil {
			ln.more = &spans{}
		}
		l := ln.more.w
		for i := range l {
			if l[i].grow(p) {
				return
			}
		}
		if len(l) == mostSpans {
			ln.split(x, p, addr)
			return
		}
		ln.more.w = push(l, &ln.w)
		ln.w = *p
		return
	}
	if oldW {
		ln.w = *p
	}
}

// whole is a list as it is in the middle of being thinned: what was kept, and what was not looked at from i on.
func (m *spans) whole(list *[]span, kept []span, i int) *spans {
	*list = append(kept, (*list)[i:]...)
	return m
}

// split makes the access to cells, which it makes of the spans if there are none.
func (ln *line) split(x *access, p *span, addr uint64) {
	if ln.cells == nil {
		ln.cells = x.s.newCells()
		put := func(o *span, writes bool) {
			if o.e != nil {
				o.each(func(i int32, r record) { ln.cells[i].put(r, writes) })
			}
		}
		if m := ln.more; m != nil {
			for i := range m.w {
				put(&m.w[i], true)
			}
			for i := range m.r {
				put(&m.r[i], false)
			}
		}
		put(&ln.w, true)
		put(&ln.r, false)
		ln.w, ln.r, ln.more = span{}, span{}, nil
	}
	p.each(func(i int32, r record) { ln.cells[i].touch(x, r, addr+uint64(4*i)) })
}

// each gives the span's accesses by cell. Lanes at one place are one access.
func (p *span) each(f func(cell int32, r record)) {
	for m := p.lanes; m != 0; {
		l := m & -m
		at := p.at + p.stride*int32(bits.TrailingZeros32(m))
		if p.stride == 0 {
			l = m
		}
		m &^= l
		start := uint8(at & 63)
		for n := p.size; n > 0; {
			off := at & 3
			k := min(4-off, n)
			f(at>>2, record{e: p.e, lanes: l, bytes: uint8(1<<k-1) << off, start: start})
			at += k
			n -= k
		}
	}
}
