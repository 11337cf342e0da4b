package checker

import (
	"cmp"
	"maps"
	"slices"
)

// accesses remembers which memory operations have accessed that later ones may race with: for each page segments,
// in order, with the same accesses to all bytes.
type accesses struct {
	pages map[uint64][]segment
	count int // segments
	swept int // segments that the last sweep has left
}

const (
	spanBits = 16
	spanSize = 1 << spanBits
)

type segment struct {
	lo, hi uint32 // in the page
	had    []*touch
}

// touch is a piece of memory that an operation accesses in one way.
type touch struct {
	a      *Action
	op     *Op
	lo, hi uint64
	l      *Launch // of a kernel
	early  bool    // by a kernel that may still run beside the one before it (Action.Early)

	// The threads, numbered through the grid: first at lo, and another one by step every per bytes.
	first uint64
	step  int64
	per   uint64
}

// thread is the number of a thread that accesses an address.
func (x *touch) thread(addr uint64) uint64 {
	if x.per == 0 {
		return x.first
	}
	return x.first + uint64(int64((addr-x.lo)/x.per)*x.step)
}

func (m *accesses) clear() { *m = accesses{} }

// mostTouches bounds what is remembered of a segment.
const mostTouches = 256

// Touch compares an access of an operation with others, and remembers it.
func (a *Action) Touch(op *Op, lo, n uint64) {
	if n == 0 {
		return
	}
	t := a.q.t
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add([]*touch{{a: a, op: op, lo: lo, hi: lo + n}})
}

// Host is an access of the program itself, by an address.
func (t *Timeline) Host(about About, op *Op, lo, n uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.host
	q.n++
	q.ended = q.n
	a := &Action{q: q, n: q.n, before: t.known, number: t.number, ended: true, about: about}
	t.add([]*touch{{a: a, op: op, lo: lo, hi: lo + n}})
	t.hostKnows(Moment{mark{q, q.n}})
}

// Fresh says that memory is new: accesses to what was there before are no more than that.
func (t *Timeline) Fresh(lo, n uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp(func(p *postponed) bool { return p.meets(lo, lo+n) })
	t.each(lo, lo+n, func(key uint64, from, to uint32) {
		segs := t.memory.pages[key]
		if segs == nil {
			return
		}
		out := make([]segment, 0, len(segs))
		for _, s := range segs {
			if s.lo < from {
				out = append(out, segment{s.lo, min(s.hi, from), s.had})
			}
			if s.hi > to {
				out = append(out, segment{max(s.lo, to), s.hi, s.had})
			}
		}
		t.keep(key, len(segs), out)
	})
}

// each goes through the pages of a piece of memory. Of much more than is remembered it goes through those that are.
func (t *Timeline) each(lo, hi uint64, f func(key uint64, from, to uint32)) {
	part := func(key uint64) {
		base := key << spanBits
		f(key, uint32(max(lo, base)-base), uint32(min(hi-base, spanSize)))
	}
	first, last := lo>>spanBits, (hi-1)>>spanBits
	if last-first > uint64(len(t.memory.pages)) {
		for _, key := range slices.Sorted(maps.Keys(t.memory.pages)) {
			if key >= first && key <= last {
				part(key)
			}
		}
		return
	}
	for key := first; key <= last; key++ {
		part(key)
	}
}

func (t *Timeline) keep(key uint64, had int, segs []segment) {
	m := &t.memory
	m.count += len(segs) - had
	if len(segs) == 0 {
		delete(m.pages, key)
		return
	}
	if m.pages == nil {
		m.pages = map[uint64][]segment{}
	}
	m.pages[key] = segs
}

// add compares and remembers accesses of one operation. Those by one op do not overlap and are in order.
func (t *Timeline) add(list []*touch) {
	if len(list) == 0 {
		return
	}
	a := list[0].a
	if a.op(list) {
		a.talks = true
	}
	t.last[a.q] = a
	t.catchUp(func(p *postponed) bool {
		return !t.knows(a.before, p.l.a) && slices.ContainsFunc(list,
			func(x *touch) bool { return p.meets(x.lo, x.hi) })
	})
	t.insert(list)
}

// insert compares and remembers accesses of one operation.
func (t *Timeline) insert(list []*touch) {
	slices.SortStableFunc(list, func(x, y *touch) int { return cmp.Compare(x.lo>>spanBits, y.lo>>spanBits) })
	for len(list) > 0 {
		// Accesses that lie in one page are taken in together, by op; others reach over pages.
		n := 1
		key := list[0].lo >> spanBits
		if (list[0].hi-1)>>spanBits == key {
			for n < len(list) && list[n].lo>>spanBits == key && (list[n].hi-1)>>spanBits == key {
				n++
			}
			t.page(key, list[:n])
		} else {
			x := list[0]
			for k := key; k <= (x.hi-1)>>spanBits; k++ {
				t.page(k, list[:1])
			}
		}
		list = list[n:]
	}
	if t.memory.count > 2*t.memory.swept+1<<12 {
		t.sweep()
	}
}

// op says whether a kernel's accesses are also meant for the host.
func (a *Action) op(list []*touch) bool {
	return slices.ContainsFunc(list, func(x *touch) bool { return x.l != nil && x.op.Scope == ScopeSystem })
}

// page takes accesses into one page.
func (t *Timeline) page(key uint64, list []*touch) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].op == list[0].op && list[n].lo >= list[n-1].hi {
			n++
		}
		segs := t.memory.pages[key]
		t.keep(key, len(segs), t.merge(segs, key<<spanBits, list[:n]))
		list = list[n:]
	}
}

// merge takes accesses that do not overlap, in order, into the segments of a page.
func (t *Timeline) merge(segs []segment, base uint64, list []*touch) []segment {
	out := make([]segment, 0, len(segs)+len(list))
	put := func(lo, hi uint32, had []*touch) {
		if lo >= hi || len(had) == 0 {
			return
		}
		if n := len(out); n > 0 {
			if o := &out[n-1]; o.hi == lo && len(o.had) == len(had) && &o.had[0] == &had[0] {
				o.hi = hi
				return
			}
		}
		out = append(out, segment{lo, hi, had})
	}
	var from, to []*touch // what the accesses before became by the one under way
	i := 0
	for _, x := range list {
		lo, hi := uint32(max(x.lo, base)-base), uint32(min(x.hi-base, spanSize))
		from, to = nil, nil
		alone := []*touch{x}
		for lo < hi {
			for i < len(segs) && segs[i].hi <= lo {
				put(segs[i].lo, segs[i].hi, segs[i].had)
				i++
			}
			if i == len(segs) || segs[i].lo >= hi {
				put(lo, hi, alone)
				break
			}
			s := &segs[i]
			if s.lo > lo {
				put(lo, s.lo, alone)
				lo = s.lo
			}
			if s.lo < lo {
				put(s.lo, lo, s.had)
			}
			end := min(s.hi, hi)
			if len(from) == 0 || &from[0] != &s.had[0] || len(from) != len(s.had) {
				from, to = s.had, t.meet(s.had, x, base+uint64(lo))
			}
			put(lo, end, to)
			lo = end
			if s.hi == end {
				i++
			} else {
				*s = segment{end, s.hi, s.had} // the page's old segments are not needed any more
			}
		}
	}
	for ; i < len(segs); i++ {
		put(segs[i].lo, segs[i].hi, segs[i].had)
	}
	return out
}

// meet compares an access with those that there are at an address, and says which are there then.
func (t *Timeline) meet(had []*touch, x *touch, addr uint64) []*touch {
	out := make([]*touch, 0, len(had)+1)
	for _, o := range had {
		if t.safe.has(o.a) {
			continue
		}
		if t.races(o, x) {
			t.report(o, x, addr)
		}
		if !t.replaces(x, o) {
			out = append(out, o)
		}
	}
	if len(out) >= mostTouches {
		out = out[1:]
	}
	return append(out, x)
}

// races says whether accesses to one address race.
func (t *Timeline) races(o, x *touch) bool {
	a, b := o.op, x.op
	if o.a == x.a || (a.Does|b.Does)&Writes == 0 {
		return false
	}
	if a.Scope >= ScopeDevice && b.Scope >= ScopeDevice && a.Size == b.Size {
		return false
	}
	if (o.a.q == t.host && x.a.talks || x.a.q == t.host && o.a.talks) || o.a.heard[x.a] || x.a.heard[o.a] {
		return false
	}
	if x.early && slices.Contains(x.a.early, o.a) || o.early && slices.Contains(o.a.early, x.a) {
		return true
	}
	return !t.ordered(o.a, x.a)
}

// replaces says whether what races with an earlier access races with this one as well.
func (t *Timeline) replaces(x, o *touch) bool {
	a, b := o.op, x.op
	if o.a == x.a || x.early || a.Does&Writes != 0 && b.Does&Writes == 0 || !t.knows(x.a.before, o.a) {
		return false
	}
	return b.Scope == 0 || a.Scope != 0 && a.Scope <= b.Scope && a.Size == b.Size
}

// sweep forgets the accesses of operations that need no comparison any more.
func (t *Timeline) sweep() {
	for key, segs := range t.memory.pages {
		out := segs[:0]
		for _, s := range segs {
			if slices.ContainsFunc(s.had, func(x *touch) bool { return !t.safe.has(x.a) }) {
				out = append(out, s)
			}
		}
		t.keep(key, len(segs), out)
	}
	t.memory.swept = t.memory.count
}

// Exposed are the pieces of memory, of the given alignment, that operations access which the host has not waited for.
func (t *Timeline) Exposed(align uint64, f func(lo, hi uint64, writes bool)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.catchUp(func(p *postponed) bool { return !t.known.has(p.l.a) })
	for _, key := range slices.Sorted(maps.Keys(t.memory.pages)) {
		base := key << spanBits
		for _, s := range t.memory.pages[key] {
			open, writes := false, false
			for _, x := range s.had {
				if x.a.q != t.host && !t.known.has(x.a) && !t.safe.has(x.a) {
					open, writes = true, writes || x.op.Does&Writes != 0
				}
			}
			if open {
				f((base+uint64(s.lo))&^(align-1), (base+uint64(s.hi)+align-1)&^(align-1), writes)
			}
		}
	}
}
