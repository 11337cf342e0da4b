package checker

import (
	"math/bits"
	"slices"
)

// A Journal keeps the accesses to global memory of a launch aside whose threads meet at barriers of the block alone, so
// that what comes before what in a block is a matter of how many barriers lie before it, and nothing orders two blocks.
// Most accesses of such kernels are the same for one warp after the other and for one round of a loop after the other
// but for the address, which moves on by as much each time: all those are one series. At the end a few intervals of
// addresses say whether accesses can race at all (apart.go); where they may, the checker is told of all, as it would
// have been at first.
type Journal struct {
	l     *Launch
	ops   []*Op
	warps uint64 // of a block
	grid  [3]uint32
	dims  [3]uint32
	block uint32 // the one under way
	past  uint32 // barriers that it has passed

	open    []series      // of the block
	last    []int32       // the newest of an operation and a warp, plus one
	runs    []series      // of the blocks before
	tail    []int32       // the newest of each operation, plus one
	prev    []int32       // the one before that
	awaited []awaitedWarp // by operation: what would go on from there
	seen    places

	scratch apart

	check int // runs that there may be before the next look at how many there have to be
	full  bool
}

// shape is where a series' accesses are.
type shape struct {
	base                      uint64
	stride, pitch, step, next int64
	far                       int64
	lanes, rounds, warps      uint32
	blocks                    uint32
	size                      uint32 // of an access; 0 where the operation tells it
	group                     uint8  // lanes, as a power of two
}

// newShape is where one warp accesses memory once.
func newShape(base uint64, stride, pitch int64, lanes uint32, group uint8) shape {
	return shape{
		base: base, stride: stride, pitch: pitch, lanes: lanes, rounds: 1, warps: 1, blocks: 1, group: group,
	}
}

// series is accesses by an operation: lane l of warp first+w accesses in round k what lies at
// base + stride*(l mod group) + pitch*(l/group) + step*k + next*w, and the same warps of the b-th block from there on
// what lies far*b behind that. The newest series of an operation has one block, or its warps are those of several.
type series struct {
	shape
	op    uint32
	first uint64 // through the grid
	since uint32 // barriers before round 0
	more  uint32 // barriers from round to round
	due   uint32 // barriers before the round to come; notDue: it is any
	at    uint64 // of lane 0 in that round
}

// awaitedWarp is the warp that would be the next of an operation's newest series of one round.
type awaitedWarp struct {
	warp                uint64
	base                uint64
	stride, pitch, next int64
	lanes, past         uint32
	group               uint8
}

const (
	seriesSize = 128
	notDue     = 1<<32 - 1
)

// Journal begins a journal for a launch, of operations of which each is plain or an atomic one without order; nil when
// the launch has to be followed as it goes.
func (l *Launch) Journal(ops []*Op, grid [3]uint32) *Journal {
	if l.early {
		return nil
	}
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	j := &Journal{}
	if n := len(l.c.journals) - 1; n >= 0 {
		j, l.c.journals = l.c.journals[n], l.c.journals[:n]
	}
	j.l, j.ops, j.grid = l, ops, grid
	l.journal = j
	return j
}

// recycle keeps what a journal has for another one.
func (j *Journal) recycle(c *Checker) {
	const most = 1 << 16
	if cap(j.runs) > most || cap(j.open) > most || len(j.last) > 8*most || j.scratch.large() {
		return
	}
	j.restart()
	j.seen.clear()
	*j = Journal{open: j.open, last: j.last, runs: j.runs[:0], tail: j.tail, prev: j.prev, awaited: j.awaited,
		seen:    j.seen,
		scratch: j.scratch}
	c.mu.Lock()
	c.journals = append(c.journals, j)
	c.mu.Unlock()
}

// Begin begins a block.
func (j *Journal) Begin(index uint32, dims [3]uint32) {
	j.block, j.past, j.dims = index, 0, dims
	j.warps = (uint64(dims[0])*uint64(dims[1])*uint64(dims[2]) + 31) / 32
	if len(j.open) == 0 {
		j.open = append(j.open, series{})
	}
	if n := len(j.ops) * int(j.warps); len(j.last) < n {
		j.last = make([]int32, n)
	}
	if len(j.tail) < len(j.ops) {
		j.tail, j.prev, j.awaited = make([]int32, len(j.ops)), make([]int32, len(j.ops)),
			make([]awaitedWarp, len(j.ops))
	}
}

// Barrier says that all threads of the block have met.
func (j *Journal) Barrier() { j.past++ }

// mostOpen bounds the runs of a block.
const mostOpen = 1 << 14

// Full says that there is no room for more: Spill has to follow.
func (j *Journal) Full() bool { return j.full || len(j.open) >= mostOpen }

// Add takes an access of a warp: lane l is at base + stride*(l mod 2^group) + pitch*(l/2^group).
func (j *Journal) Add(op, warp int, lanes uint32, base uint64, stride, pitch int64, group uint8) {
	through := uint64(j.block)*j.warps + uint64(warp)
	x := &j.awaited[op]
	if x.warp == through && x.lanes == lanes && x.past == j.past && x.stride == stride && x.pitch == pitch &&
		x.group == group && (x.base == base || warp == 0) {
		if x.base != base { // another row of blocks
			next := x.next
			j.keep(&series{
				shape: newShape(base, stride, pitch, lanes, group), op: uint32(op), first: through, since: j.past,
			})
			j.await(op, next)
			return
		}
		r := &j.runs[j.tail[op]-1]
		r.warps++
		r.next = x.next
		x.warp++
		x.base += uint64(x.next)
		return
	}
	at := op*int(j.warps) + warp
	if r := &j.open[j.last[at]]; r.due == notDue && r.lanes == lanes && r.stride == stride && r.pitch == pitch &&
		r.group == group {
		r.step, r.more = int64(base-r.base), j.past-r.since
		r.rounds, r.at, r.due = 2, base+uint64(r.step), j.past+r.more
		return
	}
	if j.Again(at, lanes, base, stride, pitch) {
		return
	}
	j.last[at] = int32(len(j.open))
	j.open = append(j.open, series{
		shape: newShape(base, stride, pitch, lanes, group),
		op:    uint32(op), first: through, since: j.past, due: notDue,
	})
}

// Again takes an access as Add does if it is the next round of the operation's and the warp's newest series, of the
// same groups; at is the operation's number times the block's warps, plus the warp's.
func (j *Journal) Again(at int, lanes uint32, base uint64, stride, pitch int64) bool {
	r := &j.open[j.last[at]]
	if r.at != base || r.lanes != lanes || r.due != j.past || r.pitch != pitch || r.stride != stride {
		return false
	}
	r.rounds++
	r.at += uint64(r.step)
	r.due += r.more
	return true
}

// AddEach takes an access of lanes that are anywhere.
func (j *Journal) AddEach(op, warp int, lanes uint32, addrs *[32]uint64) {
	if lanes == allLanes {
		if stride, pitch, group, ok := regular(addrs); ok {
			j.Add(op, warp, lanes, addrs[0], stride, pitch, group)
			return
		}
	}
	if o := j.ops[op]; o.Size >= 4 && lanes&(lanes-1) != 0 {
		if lanes = j.seen.news(op, j.block, uint32(warp), j.past, lanes, addrs); lanes == 0 {
			return
		}
	}
	for lanes != 0 {
		mine, stride := neighbours(lanes, addrs)
		lanes &^= mine
		first := bits.TrailingZeros32(mine)
		if mine&(mine-1) == 0 {
			stride = 0
		}
		j.Add(op, warp, mine, addrs[first&31]-uint64(stride*int64(first)), stride, 32*stride, 5)
	}
}

// regular finds the groups of a whole warp's lanes that lie at one distance from each other, with one distance from
// lane to lane.
func regular(addrs *[32]uint64) (stride, pitch int64, group uint8, ok bool) {
	stride = int64(addrs[1] - addrs[0])
	n := 2
	for n < 32 && addrs[n]-addrs[n-1] == uint64(stride) {
		n++
	}
	if n&(n-1) != 0 {
		return 0, 0, 0, false
	}
	group = uint8(bits.TrailingZeros32(uint32(n)))
	if n == 32 {
		return stride, 32 * stride, group, true
	}
	pitch = int64(addrs[n] - addrs[0])
	for l := n; l < 32; l++ {
		if addrs[l]-addrs[l-n] != uint64(pitch) {
			return 0, 0, 0, false
		}
	}
	return stride, pitch, group, true
}

// EndBlock ends the block: what it has done goes on from what those before have where it can.
func (j *Journal) EndBlock() {
	begin := uint64(j.block) * j.warps
	for i := 1; i < len(j.open); i++ {
		r := &j.open[i]
		j.last[uint64(r.op)*j.warps+r.first-begin] = 0
		r.at, r.due = 0, 0
		j.keep(r)
	}
	j.open = j.open[:1]
	const some = 1 << 11
	if j.check = max(j.check, some); len(j.runs) > j.check {
		j.scratch.j = j
		if j.scratch.hullsByOp() < seriesSize*uint64(len(j.runs)) {
			j.compact()
			j.full = uint64(len(j.runs)) > some+j.covered()/seriesSize // no more memory than was accessed, and some
		}
		j.check = 2 * len(j.runs)
	}
}

func (j *Journal) keep(r *series) {
	t := &j.tail[r.op]
	if *t != 0 {
		o := &j.runs[*t-1]
		if o.follows(r) {
			j.await(int(r.op), o.next)
			return
		}
		j.awaited[r.op].lanes = 0
		if p := j.prev[r.op]; p != 0 && j.runs[p-1].repeats(o, j.warps) {
			*o = *r
			return
		}
		j.prev[r.op] = *t
	}
	j.runs = append(j.runs, *r)
	*t = int32(len(j.runs))
}

// await says what warp goes on from an operation's newest series, of which each lies next behind the one before.
func (j *Journal) await(op int, next int64) {
	r := &j.runs[j.tail[op]-1]
	if r.rounds > 1 {
		return
	}
	j.awaited[op] = awaitedWarp{
		warp: r.first + uint64(r.warps), base: r.base + uint64(int64(r.warps)*next), stride: r.stride, pitch: r.pitch,
		next: next, lanes: r.lanes, past: r.since, group: r.group,
	}
}

// restart has every series that comes stand for itself.
func (j *Journal) restart() {
	clear(j.tail)
	clear(j.prev)
	clear(j.awaited)
}

// alike says whether the warps of two series do the same, wherever they do it.
func (r *series) alike(o *series) bool {
	return r.lanes == o.lanes && r.stride == o.stride && r.pitch == o.pitch && r.group == o.group &&
		r.rounds == o.rounds && r.step == o.step && r.since == o.since && r.more == o.more
}

// repeats makes a series of the next block a part of the series, if it is the same there; blocks have so many warps.
func (r *series) repeats(o *series, warps uint64) bool {
	if o.first != r.first+uint64(r.blocks)*warps || o.warps != r.warps || r.first%warps+uint64(r.warps) > warps ||
		r.next != o.next || !r.alike(o) {
		return false
	}
	switch {
	case r.blocks == 1:
		r.far = int64(o.base - r.base)
	case o.base != r.base+uint64(int64(r.blocks)*r.far):
		return false
	}
	r.blocks++
	return true
}

// follows makes a series of the next warp a part of the series, if it is one.
func (r *series) follows(o *series) bool {
	if o.first != r.first+uint64(r.warps) || !r.alike(o) {
		return false
	}
	switch {
	case r.warps == 1:
		r.next = int64(o.base - r.base)
	case o.base != r.base+uint64(int64(r.warps)*r.next):
		return false
	}
	r.warps++
	return true
}

// compact leaves out series of blocks where two other blocks have accessed the same in the same way: what races with
// any further one races with one of theirs, since nothing orders blocks.
func (j *Journal) compact() {
	const twice = 1 << 63
	type access struct {
		shape
		op uint32
	}
	had := map[access]uint64{}
	j.runs = slices.DeleteFunc(j.runs, func(r series) bool {
		k := access{r.shape, r.op}
		first, ok := had[k]
		switch {
		case !ok:
			had[k] = r.first
		case first&twice != 0:
			return true
		case max(first, r.first)-min(first, r.first) >= j.warps:
			had[k] = first | twice
		}
		return false
	})
	j.restart()
}

// covered is how many bytes the series access at most, those of different ones twice.
func (j *Journal) covered() (n uint64) {
	for i := range j.runs {
		n += j.runs[i].bytes(j.ops[j.runs[i].op])
	}
	return n
}

// bytes is how many a series accesses at most.
func (r *series) bytes(o *Op) uint64 {
	return uint64(bits.OnesCount32(r.lanes)) * uint64(r.moves()) * uint64(r.warps) * uint64(r.blocks) *
		uint64(o.Size*o.Count)
}

// moves is in how many rounds the series is at another place.
func (r *series) moves() uint32 {
	if r.step == 0 {
		return 1
	}
	return r.rounds
}

// places are the words that operations access in an irregular way, with who does.
type places struct {
	pages map[placesKey]*placesPage
	base  uint32 // numbers of blocks begin behind it: what has one up to there is of an earlier launch
	most  uint32 // of the launch's
	near  [16]struct {
		k placesKey
		p *placesPage
	}
}

type placesKey struct {
	page uint64
	op   int
}

type placesPage [pageSize / 4]comers

// comers are those that have come to a word first.
type comers struct {
	block  uint32 // the first one, by its number (places.base)
	thread uint16 // of it, the first between two barriers
	past   uint16 // barriers, and whether there are more threads between the two, or another block
}

const (
	moreThreads = 1 << 15
	moreBlocks  = 1 << 14
	mostPast    = 1<<14 - 1
)

// come says whether an access is news: one by the first block, but between two barriers by no more than two threads, or
// by the second one. Whatever races with another one races with one of these, since nothing orders blocks, or threads
// between barriers. base is places.base.
func (c *comers) come(base, block uint32, thread, past uint16) bool {
	switch {
	case c.block <= base:
		*c = comers{block, thread, past}
	case c.past&moreBlocks != 0:
		return false
	case c.block != block:
		c.past |= moreBlocks
	case c.past&mostPast != past:
		c.thread, c.past = thread, past
	case c.thread == thread || c.past&moreThreads != 0:
		return false
	default:
		c.past |= moreThreads
	}
	return true
}

// news are the lanes whose accesses have to be kept.
func (s *places) news(op int, block, warp, past, lanes uint32, addrs *[32]uint64) uint32 {
	if past > mostPast || block >= 1<<32-1-s.base {
		return lanes
	}
	block += s.base + 1
	s.most = max(s.most, block)
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		a := addrs[l]
		if a&3 != 0 {
			continue
		}
		k := placesKey{a >> pageBits, op}
		n := &s.near[(uint(k.page)+uint(op))%uint(len(s.near))]
		if n.p == nil || n.k != k {
			n.k, n.p = k, s.page(k)
		}
		if !n.p[a%pageSize>>2].come(s.base, block, uint16(32*warp)+uint16(l), uint16(past)) {
			lanes &^= 1 << l
		}
	}
	return lanes
}

func (s *places) page(k placesKey) *placesPage {
	p := s.pages[k]
	if p == nil {
		if s.pages == nil {
			s.pages = map[placesKey]*placesPage{}
		}
		p = new(placesPage)
		s.pages[k] = p
	}
	return p
}

// clear forgets all; pages are kept, unless there are many, or the numbers of blocks come to their end.
func (s *places) clear() {
	const many, high = 1 << 11, 1 << 31
	if len(s.pages) > many || s.most > high {
		*s = places{}
		return
	}
	s.base = max(s.base, s.most)
}
