package checker

import (
	"cmp"
	"math/bits"
	"slices"
)

// apart says whether no two threads of what the journal has access the same bytes in a way that may race. It says false
// also where it does not know.
func (j *Journal) apart() bool {
	a := &j.scratch
	a.j = j
	a.writes, a.reads, a.regions, a.slab = a.writes[:0], a.reads[:0], a.regions[:0], a.slab[:0]
	clear(a.at)
	// Operations that read memory which no other one writes are of no interest.
	a.hullsByOp()
	written := a.hulls[:0:0]
	for op, h := range a.hulls {
		if h.lo < h.hi && j.ops[op].Does&Writes != 0 {
			written = append(written, h)
		}
	}
	if len(written) == 0 {
		return true
	}
	read := make([]bool, len(j.ops))
	readAny := false
	for op, h := range a.hulls {
		if h.lo < h.hi && j.ops[op].Does&Writes == 0 {
			read[op] = slices.ContainsFunc(written, func(w hull) bool { return h.lo < w.hi && w.lo < h.hi })
			readAny = readAny || read[op]
		}
	}
	for i := range j.runs {
		r := &j.runs[i]
		if o := j.ops[r.op]; o.Does&Writes != 0 && !((readAny || len(written) > 1) && a.twin(r)) {
			a.writes = append(a.writes, r.hull(o))
		}
	}
	slices.SortFunc(a.writes, func(x, y hull) int { return cmp.Compare(x.lo, y.lo) })
	meet := false
	for i := range a.writes {
		h := &a.writes[i]
		if n := len(a.regions) - 1; n >= 0 && h.lo < a.regions[n].hi {
			meet = true
			a.regions[n].hi = max(a.regions[n].hi, h.hi)
		} else {
			a.regions = append(a.regions, region{lo: h.lo, hi: h.hi})
		}
		meet = meet || !h.r.each(j.ops[h.r.op])
	}
	for i := 0; readAny && i < len(j.runs); i++ {
		r := &j.runs[i]
		if !read[r.op] {
			continue
		}
		o := j.ops[r.op]
		if h := r.hull(o); a.region(h.lo, h.hi) >= 0 && (o.Stale || !a.twin(r)) {
			a.reads = append(a.reads, h)
		}
	}
	return !meet && len(a.reads) == 0 || a.words() || a.owners()
}

// hullsByOp finds where each operation has accessed memory, and how much that is at most.
func (a *apart) hullsByOp() (total uint64) {
	a.hulls = append(a.hulls[:0], make([]hull, len(a.j.ops))...)
	for i := range a.j.runs {
		r := &a.j.runs[i]
		h, all := r.hull(a.j.ops[r.op]), &a.hulls[r.op]
		if all.lo == all.hi {
			*all = h
		} else {
			all.lo, all.hi = min(all.lo, h.lo), max(all.hi, h.hi)
		}
	}
	for _, h := range a.hulls {
		total += h.hi - h.lo
	}
	return total
}

// apart is what is known when the accesses of a journal are compared.
type apart struct {
	j             *Journal
	hulls         []hull // by operation
	writes, reads []hull // of writes those at places of their own, of reads those that may meet a write
	at            map[shape]uint64
	regions       []region // that are written, in order
	slab          []uint64 // what regions have bits in
	grain         uint64   // bytes that are looked at as one, as a power of two
}

// large says whether there is too much to keep for another journal.
func (a *apart) large() bool {
	const most = 1 << 13
	return cap(a.writes) > most || cap(a.reads) > most || cap(a.slab) > most || len(a.at) > most ||
		cap(a.regions) > most
}

// region is memory.
type region struct {
	lo, hi uint64
	bits   []uint64 // of plain writes
	atoms  []uint64 // of atomic operations
	owners []owner
}

// twin says whether a write has been seen of which each thread accesses what it accesses of the series. Of writes it
// sees the series too.
func (a *apart) twin(r *series) bool {
	o := a.j.ops[r.op]
	k := r.shape
	k.size = o.Size * o.Count
	first, ok := a.at[k]
	switch {
	case ok && first == r.first:
		return !o.atomic()
	case o.Does&Writes == 0 || ok || o.atomic():
		return false
	}
	if a.at == nil {
		a.at = map[shape]uint64{}
	}
	a.at[k] = r.first
	return false
}

// atomic says whether an operation does not race with others of the kind, which have one size (Launch.Journal).
func (o *Op) atomic() bool { return o.Scope >= ScopeDevice }

// extent is how many lanes of a group, and how many groups, a series has at most.
func (r *series) extent() (lanes, groups int64) {
	n := int64(32 - bits.LeadingZeros32(r.lanes))
	return min(n, 1<<r.group), (n-1)>>r.group + 1
}

// hull is what a series's accesses lie in.
type hull struct {
	lo, hi uint64
	r      *series
}

func (r *series) hull(o *Op) hull {
	h := hull{r.base, r.base + uint64(o.Size*o.Count), r}
	put := func(stride, n int64) {
		if d := stride * (n - 1); d < 0 {
			h.lo += uint64(d)
		} else {
			h.hi += uint64(d)
		}
	}
	if r.lanes == allLanes {
		put(r.stride, 1<<r.group)
		put(r.pitch, 32>>r.group)
	} else { // there may be no memory where the others would be
		first := bits.TrailingZeros32(r.lanes)
		lo, hi := r.lane(first), r.lane(first)
		for m := r.lanes & (r.lanes - 1); m != 0; m &= m - 1 {
			at := r.lane(bits.TrailingZeros32(m))
			lo, hi = min(lo, at), max(hi, at)
		}
		h.lo += uint64(lo)
		h.hi += uint64(hi)
	}
	put(r.step, int64(r.rounds))
	put(r.next, int64(r.warps))
	put(r.far, int64(r.blocks))
	return h
}

// lane is how far a lane is from lane 0.
func (r *series) lane(l int) int64 {
	return r.stride*int64(l&(1<<r.group-1)) + r.pitch*int64(l>>r.group)
}

// each says whether no two accesses of the series are to the same bytes, or only those of one thread by all its rounds.
func (r *series) each(o *Op) bool {
	type axis struct{ stride, n int64 }
	lanes, groups := r.extent()
	if r.lanes&(r.lanes-1) == 0 {
		lanes, groups = 1, 1
	}
	list := [5]axis{{r.stride, lanes}, {r.pitch, groups}, {r.step, int64(r.moves())}, {r.next, int64(r.warps)},
		{r.far, int64(r.blocks)}}
	for i := range list {
		list[i].stride = max(list[i].stride, -list[i].stride)
	}
	slices.SortFunc(list[:], func(x, y axis) int { return cmp.Compare(x.stride, y.stride) })
	size := int64(o.Size * o.Count)
	for _, x := range list {
		if x.n <= 1 {
			continue
		}
		if x.stride < size {
			return false
		}
		size += x.stride * (x.n - 1)
	}
	return true
}

// region is the first one that is met, -1 for none.
func (a *apart) region(lo, hi uint64) int {
	i, _ := slices.BinarySearchFunc(a.regions, lo, func(r region, lo uint64) int {
		if r.hi <= lo {
			return -1
		}
		return 1
	})
	if i < len(a.regions) && a.regions[i].lo < hi {
		return i
	}
	return -1
}

// mostApart bounds the memory that is looked at word by word.
const mostApart = 1 << 30

// words looks whether two writes, or a read and a write, are to the same word.
func (a *apart) words() bool {
	sizes, total := uint64(4), uint64(0)
	for _, list := range [][]hull{a.writes, a.reads} {
		for i := range list {
			h := &list[i]
			o := a.j.ops[h.r.op]
			sizes |= h.r.base | uint64(o.Size*o.Count) | uint64(h.r.stride|h.r.pitch|h.r.step|h.r.next|h.r.far)
		}
	}
	a.grain = min(uint64(bits.TrailingZeros64(sizes)), 2)
	for i := range a.regions {
		g := &a.regions[i]
		total += g.hi - g.lo
		if total > mostApart {
			return false
		}
		n := int((g.hi-g.lo)>>a.grain/64 + 2)
		g.bits, g.atoms = a.wordsOf(n), a.wordsOf(n)
	}
	for i := range a.writes {
		h := &a.writes[i]
		g := &a.regions[a.region(h.lo, h.hi)]
		o := a.j.ops[h.r.op]
		if !h.r.dense(o, func(addr, n uint64) bool {
			i, n := (addr-g.lo)>>a.grain, (n-1)>>a.grain+1
			if o.atomic() {
				set(g.atoms, i, n)
				return free(g.bits, i, n)
			}
			return set(g.bits, i, n) && free(g.atoms, i, n)
		}) {
			return false
		}
	}
	for i := range a.reads {
		h := &a.reads[i]
		if !h.r.dense(a.j.ops[h.r.op], func(addr, n uint64) bool {
			k := a.region(addr, addr+n)
			if k < 0 {
				return true
			}
			g := &a.regions[k]
			from, to := max(addr, g.lo), min(addr+n, g.hi)
			i, n1 := (from-g.lo)>>a.grain, (to-from-1)>>a.grain+1
			alone := to == addr+n || k+1 == len(a.regions) || a.regions[k+1].lo >= addr+n
			return alone && free(g.bits, i, n1) && free(g.atoms, i, n1)
		}) {
			return false
		}
	}
	return true
}

// dense gives pieces of memory that the series accesses, until f says no.
func (r *series) dense(o *Op, f func(addr, n uint64) bool) bool {
	size := uint64(o.Size * o.Count)
	for n := range int64(r.blocks) * int64(r.warps) {
		from := r.base + uint64(r.far*(n/int64(r.warps))+r.next*(n%int64(r.warps)))
		for k := range int64(r.moves()) {
			base := from + uint64(r.step*k)
			for m := r.lanes; m != 0; {
				l := bits.TrailingZeros32(m)
				n := 1
				if r.stride == int64(size) { // neighbours in a group
					n = min(bits.TrailingZeros32(^(m >> l)), 1<<r.group-l&(1<<r.group-1))
				}
				m &^= uint32(1<<n-1) << l
				if !f(base+uint64(r.lane(l)), uint64(n)*size) {
					return false
				}
			}
		}
	}
	return true
}

// wordsOf is memory for so many bits.
func (a *apart) wordsOf(n int) []uint64 {
	at := len(a.slab)
	if cap(a.slab)-at < n {
		a.slab, at = make([]uint64, 0, max(n, 1<<10)), 0
	}
	a.slab = a.slab[:at+n]
	w := a.slab[at : at+n : at+n]
	clear(w)
	return w
}

// set sets n bits from the i-th on; false when one was set.
func set(words []uint64, i, n uint64) bool {
	was := uint64(0)
	for n > 0 {
		k := min(64-i%64, n)
		m := (^uint64(0) >> (64 - k)) << (i % 64)
		was |= words[i/64] & m
		words[i/64] |= m
		i += k
		n -= k
	}
	return was == 0
}

// free says whether none of n bits is set.
func free(words []uint64, i, n uint64) bool {
	for n > 0 {
		k := min(64-i%64, n)
		if m := (^uint64(0) >> (64 - k)) << (i % 64); words[i/64]&m != 0 {
			return false
		}
		i += k
		n -= k
	}
	return true
}

// owner is who has accessed a word.
type owner struct {
	block  uint32
	past   uint32 // barriers
	thread uint16
	does   uint8
	many   uint8
}

const (
	ownerReads = 1 << iota
	ownerWrites
	ownerAtomics
)

const (
	manyThreads = 1 << iota
	manyPhases
	manyBlocks
)

// mostOwned bounds the memory of which it is noted who has accessed which word.
const mostOwned = 1 << 26

// owners looks at who accesses which word.
func (a *apart) owners() bool {
	for i := range a.reads {
		if a.j.ops[a.reads[i].r.op].Stale {
			return false // it races with its own thread's writes
		}
	}
	total := uint64(0)
	for i := range a.regions {
		g := &a.regions[i]
		if total += g.hi - g.lo; total > mostOwned {
			return false
		}
		g.owners = make([]owner, (g.hi-g.lo)>>a.grain+2)
	}
	for i := range a.j.runs {
		r := &a.j.runs[i]
		o := a.j.ops[r.op]
		h := r.hull(o)
		if a.region(h.lo, h.hi) >= 0 && !a.own(r, o) {
			return false
		}
	}
	return true
}

// own notes the accesses of a series; false when one may race.
func (a *apart) own(r *series, o *Op) bool {
	does, size := uint8(ownerReads), uint64(o.Size*o.Count)
	switch {
	case o.atomic():
		does = ownerAtomics
	case o.Does&Writes != 0:
		does = ownerWrites
	}
	for n := range uint64(r.blocks) * uint64(r.warps) {
		i, w := n/uint64(r.warps), n%uint64(r.warps)
		at := r.first + i*a.j.warps + w
		x := owner{block: uint32(at / a.j.warps), does: does}
		first := uint16(at % a.j.warps * 32)
		for k := range r.rounds {
			x.past = r.since + k*r.more
			base := r.base + uint64(r.far*int64(i)+r.next*int64(w)+r.step*int64(k))
			for m := r.lanes; m != 0; m &= m - 1 {
				l := bits.TrailingZeros32(m)
				x.thread = first + uint16(l)
				addr := base + uint64(r.lane(l))
				for i := a.region(addr, addr+size); i >= 0 && i < len(a.regions) && a.regions[i].lo < addr+size; i++ {
					g := &a.regions[i]
					from, to := max(addr, g.lo), min(addr+size, g.hi)
					for n := (from - g.lo) >> a.grain; n <= (to-g.lo-1)>>a.grain; n++ {
						if !g.owners[n].with(&x) {
							return false
						}
					}
				}
			}
		}
	}
	return true
}

// with adds an access; false when it may race with one before.
func (o *owner) with(x *owner) bool {
	does := o.does | x.does
	alike := does == ownerReads || does == ownerAtomics
	switch {
	case o.does == 0:
		*o = *x
		return true
	case o.many&manyBlocks != 0:
	case o.block != x.block:
		o.many |= manyBlocks
	case o.many&manyThreads == 0 && o.thread == x.thread:
		if o.past != x.past {
			o.many |= manyPhases
		}
		alike = true
	case o.many&manyPhases != 0:
		o.many |= manyThreads
	default:
		o.many |= manyThreads
		if o.past != x.past {
			o.many |= manyPhases
			alike = true // a barrier lies between this and all before
		}
	}
	o.does = does
	return alike
}
