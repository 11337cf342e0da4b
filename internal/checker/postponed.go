package checker

import "slices"

// postponed is a launch that has ended, of which the timeline is told only when something accesses the same memory that
// nothing orders behind it; most programs have no such thing.
type postponed struct {
	l       *Launch
	j       *Journal
	regions []region // where it has accessed memory
}

// mostPostponed and mostPutOff bound how many launches are put off, and how many series they have.
const (
	mostPostponed = 256
	mostPutOff    = 1 << 17
)

// putOff takes a launch into the timeline.
func (t *Timeline) putOff(p *postponed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := p.l.a
	follows := len(t.last) <= mostPostponed
	for q, x := range t.last {
		if !follows {
			break
		}
		follows = q == a.q || t.safe.has(x) || t.knows(a.before, x)
	}
	if !follows {
		if list := p.touches(); len(list) > 0 {
			t.add(list)
		}
		return
	}
	if len(p.regions) == 0 {
		p.j.recycle(t.c)
		return
	}
	t.last[a.q] = a
	// What races with an earlier launch that did the same races with this one.
	t.drop(func(o *postponed) bool { return o.l.p == p.l.p && t.knows(a.before, o.l.a) && o.j.equal(p.j) })
	t.later = append(t.later, p)
	total := 0
	for _, o := range t.later {
		total += len(o.j.runs)
	}
	for len(t.later) > mostPostponed || total > mostPutOff && len(t.later) > 1 {
		first := t.later[0]
		total -= len(first.j.runs)
		t.catchUp(func(o *postponed) bool { return o == first })
	}
}

// drop forgets launches.
func (t *Timeline) drop(which func(p *postponed) bool) {
	t.later = slices.DeleteFunc(t.later, func(p *postponed) bool {
		if !which(p) {
			return false
		}
		p.j.recycle(t.c)
		return true
	})
}

// catchUp takes in the accesses of launches that were put off. Nothing that is there races with them: whatever is not
// ordered behind such a launch and meets it has it taken in before.
func (t *Timeline) catchUp(which func(p *postponed) bool) {
	for i := 0; i < len(t.later); {
		p := t.later[i]
		if !which(p) {
			i++
			continue
		}
		t.later = slices.Delete(t.later, i, i+1)
		if !t.safe.has(p.l.a) {
			t.insert(p.touches())
		}
	}
}

// meets says whether a launch may have accessed a piece of memory.
func (p *postponed) meets(lo, hi uint64) bool {
	return slices.ContainsFunc(p.regions, func(r region) bool { return r.lo < hi && lo < r.hi })
}

// touches are the launch's accesses, which its journal is told of no more.
func (p *postponed) touches() []*touch {
	l := p.l.c.Launch(p.l.p)
	l.grid = p.l.grid
	p.j.tellAll(l)
	list := l.touches()
	l.global.clear()
	l.c.mu.Lock()
	l.c.spare = append(l.c.spare, l.global)
	l.global, l.ended = nil, true
	l.c.mu.Unlock()
	p.j.recycle(l.c)
	return list
}

// hulls are where operations have accessed memory.
func (j *Journal) hulls() []region {
	list := make([]region, 0, len(j.scratch.hulls))
	for _, h := range j.scratch.hulls {
		if h.lo < h.hi {
			list = append(list, region{lo: h.lo, hi: h.hi})
		}
	}
	return list
}

// equal says whether two journals of a kernel have the same.
func (j *Journal) equal(o *Journal) bool { return j.dims == o.dims && slices.Equal(j.runs, o.runs) }
