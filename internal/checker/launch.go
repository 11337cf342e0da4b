package checker

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Checker follows what the program and its kernels do to memory. Its methods may be called from several goroutines at
// once.
type Checker struct {
	mu    sync.Mutex
	log   *Log
	seen  map[pair]*Report
	spare []*shadow // of launches that have ended
	time  *Timeline

	journals []*Journal // for use again

	messages atomic.Bool // launches have released what others may acquire
	telling  sync.Mutex
	tellers  map[uint64]*Launch // those launches, by address
}

// New makes a checker that reports to a log.
func New(log *Log) *Checker {
	c := &Checker{log: log, seen: map[pair]*Report{}, tellers: map[uint64]*Launch{}}
	c.time = newTimeline(c)
	return c
}

// Time is what orders launches and other operations.
func (c *Checker) Time() *Timeline { return c.time }

// Program tells of the kernel that a launch runs.
type Program interface {
	Name() string
	// Place is where an operation stands, by Op.Site.
	Place(site uint32) Place
}

// Launch is one grid.
type Launch struct {
	grid
	c       *Checker
	p       Program
	epoch   uint64
	global  *shadow
	sync    map[uint64]*place // strong operations by address
	free    []*Block          // that have ended
	events  []event           // made ahead
	journal *Journal          // what has not been told yet; nil when there is none
	ended   bool
	told    bool    // a strong write has left a message somewhere
	early   bool    // it may begin before another operation has ended
	meets   [2]view // of the barrier of a cooperative grid, by phase
}

// Launch begins a grid. End ends it.
func (c *Checker) Launch(p Program) *Launch {
	l := &Launch{c: c, p: p, sync: map[uint64]*place{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.spare) - 1; n >= 0 {
		l.global, c.spare = c.spare[n], c.spare[:n]
	} else {
		l.global = &shadow{}
	}
	return l
}

// origin is what is remembered of a block when it has ended.
type origin struct {
	l       *Launch
	index   uint32
	cluster *Cluster
	at      [3]uint32
	dims    [3]uint32
}

// Block is one block of threads.
type Block struct {
	*origin
	threads  uint32
	shared   shadow
	sync     map[uint64]*place
	warps    []warp
	barriers [16]phase
	objects  map[uint64]*object // mbarriers by offset
	actors   uint32             // groups given to mbarriers
	met      uint32             // barriers that a journal's block has been told of
}

// Cluster is blocks that share memory.
type Cluster struct {
	arrived, done []message
}

// NewCluster makes a cluster for Block.
func NewCluster() *Cluster { return &Cluster{} }

// Block begins a block. index numbers the blocks of the grid; dims are the block's threads in each direction.
func (l *Launch) Block(cluster *Cluster, index uint32, at, dims [3]uint32) *Block {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	b := &Block{}
	if n := len(l.free) - 1; n >= 0 {
		b, l.free = l.free[n], l.free[:n]
	}
	b.origin = &origin{l: l, index: index, cluster: cluster, at: at, dims: dims}
	b.threads, b.met = dims[0]*dims[1]*dims[2], 0
	n := int(b.threads+31) / 32
	if len(b.warps) != n {
		b.warps = make([]warp, n)
	}
	l.epoch++
	for i := range b.warps {
		w := &b.warps[i]
		*w = warp{last: w.last, same: allLanes, signals: noSignals}
		for j := range w.epoch {
			w.epoch[j] = l.epoch
		}
	}
	return b
}

// End says that the threads of a block have ended. The block may become another one of its launch, if that goes on:
// whoever runs blocks may say so only when it begins one of the next launch.
func (b *Block) End() {
	l := b.l
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	b.shared.clear()
	b.sync, b.objects, b.actors, b.barriers = nil, nil, 0, [16]phase{}
	b.origin = nil
	if !l.ended {
		l.free = append(l.free, b)
	}
}

// warp is what the threads of a warp know.
type warp struct {
	view  [32]view
	epoch [32]uint64
	same  uint32   // lanes that know the same, in the same epoch
	last  []*event // the newest event of each operation, by Op.ID
	met   uint32   // lanes whose bar.warp.sync has taken effect before they go on
	*signals
}

// signals are what a warp knows that has made fences, strong accesses or asynchronous operations.
type signals struct {
	fenced [32][]message // what each lane's fences released, for its later writes
	heard  [32][]message // what each lane's strong reads have seen, for its later fences
	copies [32]groups    // cp.async
	bulk   [32]groups
	matrix [32]groups
}

// noSignals are those of a warp that has not; nothing is ever written there.
var noSignals = new(signals)

// signal gives the warp signals of its own.
func (w *warp) signal() *signals {
	if w.signals == noSignals {
		w.signals = new(signals)
	}
	return w.signals
}

// message is work that somebody releases.
type message struct {
	b     *origin
	scope Scope // 0: it is the barrier that completes asynchronous work, for everyone who waits for it
	v     view
}

// tell adds a message to others.
func tell(l []message, m message) []message {
	for i := range l {
		if l[i].b == m.b && l[i].scope == m.scope {
			if v := l[i].v.with(m.v); v != l[i].v {
				out := append([]message(nil), l...)
				out[i].v = v
				return out
			}
			return l
		}
	}
	return append(l[:len(l):len(l)], m)
}

func tellAll(l, more []message) []message {
	for _, m := range more {
		l = tell(l, m)
	}
	return l
}

// part notes that some lanes come to know more than others.
func (w *warp) part(lanes uint32) {
	if w.same&^lanes != 0 {
		w.same &^= lanes
	}
}

// snapshot is what a lane knows with its own work so far.
func (b *Block) snapshot(warp, lane int) view {
	w := &b.warps[warp]
	v := w.view[lane]
	v.all = v.all.plus(b.index, warp, 1<<lane, w.epoch[lane])
	return v
}

// advance begins a new epoch of lanes.
func (b *Block) advance(warp int, lanes uint32) {
	b.l.epoch++
	w := &b.warps[warp]
	w.part(lanes)
	for ; lanes != 0; lanes &= lanes - 1 {
		w.epoch[bits.TrailingZeros32(lanes)] = b.l.epoch
	}
}

// release is what lanes release together: what any of them knows, and their work.
func (b *Block) release(warp int, lanes uint32) (v view) {
	w := &b.warps[warp]
	for m := lanes; m != 0; {
		l := bits.TrailingZeros32(m)
		same := uint32(0)
		for k := m; k != 0; k &= k - 1 {
			if j := bits.TrailingZeros32(k); w.epoch[j] == w.epoch[l] {
				same |= 1 << j
				if w.view[j] != w.view[l] {
					v = v.with(w.view[j])
				}
			}
		}
		v = v.with(w.view[l])
		v.all = v.all.plus(b.index, warp, same, w.epoch[l])
		m &^= same
	}
	return v
}

// acquire lets lanes know more.
func (b *Block) acquire(warp int, lanes uint32, v view) {
	w := &b.warps[warp]
	w.part(lanes)
	var from, to view
	for ; lanes != 0; lanes &= lanes - 1 {
		l := bits.TrailingZeros32(lanes)
		if x := w.view[l]; x != from || to == (view{}) {
			from, to = x, x.with(v)
		}
		w.view[l] = to
	}
}

// hear lets a lane acquire messages. What the scopes do not allow is left.
func (b *Block) hear(warp, lane int, scope Scope, l []message) (left []message) {
	for _, m := range l {
		if m.scope == 0 || scope.includes(b.origin, m.b) && m.scope.includes(m.b, b.origin) {
			b.acquire(warp, 1<<lane, m.v)
		} else {
			left = append(left, m)
		}
	}
	return left
}

// phase is a barrier's open phase.
type phase struct{ v view }

// BarrierArrive is the arrival of lanes at a barrier of the block that they do not wait for.
func (b *Block) BarrierArrive(warp int, lanes uint32, id int) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	p := &b.barriers[id]
	p.v = p.v.with(b.release(warp, lanes))
	b.advance(warp, lanes)
}

// BarrierDone ends a phase of a barrier of the block: the lanes that have waited, by warp, go on.
func (b *Block) BarrierDone(id int, waited []uint32) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	p := &b.barriers[id]
	v := p.v
	p.v = view{}
	n := uint32(0)
	for _, m := range waited {
		n += uint32(bits.OnesCount32(m))
	}
	whole := n == b.threads
	var last view
	for i, m := range waited {
		if m == 0 {
			continue
		}
		if !whole {
			v = v.with(b.release(i, m))
			continue
		}
		for k := m; k != 0; k &= k - 1 {
			if x := b.warps[i].view[bits.TrailingZeros32(k)]; x != last {
				v, last = v.with(x), x
			}
		}
	}
	if whole {
		v.all = v.all.wholeBlock(b.index, b.l.epoch)
	}
	b.l.epoch++
	for i, m := range waited {
		w := &b.warps[i]
		if m != 0 {
			w.same = m
		}
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			w.view[l], w.epoch[l] = v, b.l.epoch
		}
	}
}

// WarpSync is bar.warp.sync by lanes; partners wait at one of their own for the same lanes.
func (b *Block) WarpSync(warp int, lanes, partners uint32) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	w := &b.warps[warp]
	had := lanes & w.met
	w.met &^= had
	if lanes &^= had; lanes == 0 {
		return
	}
	partners &^= lanes
	v := b.release(warp, lanes|partners)
	b.advance(warp, lanes|partners)
	for m := lanes | partners; m != 0; m &= m - 1 {
		w.view[bits.TrailingZeros32(m)] = v
	}
	w.same = lanes | partners
	w.met |= partners
}

// ClusterArrive is barrier.cluster.arrive.
func (b *Block) ClusterArrive(warp int, lanes uint32, release bool) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	for m := lanes; m != 0; m &= m - 1 {
		b.cluster.arrived = tellAll(b.cluster.arrived, b.warps[warp].fenced[bits.TrailingZeros32(m)])
	}
	if release {
		b.cluster.arrived = tell(b.cluster.arrived, message{b.origin, ScopeCluster, b.release(warp, lanes)})
		b.advance(warp, lanes)
	}
}

// ClusterDone ends the phase of the cluster's barrier.
func (c *Cluster) ClusterDone() { c.done, c.arrived = c.arrived, nil }

// ClusterLeave lets lanes go on from the cluster's barrier, the phase of which has ended.
func (b *Block) ClusterLeave(warp int, lanes uint32) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	for _, m := range b.cluster.done {
		b.acquire(warp, lanes, m.v)
	}
}

// GridArrive and GridLeave are the barrier of a cooperative grid.
func (b *Block) GridArrive(warp int, lanes, phase uint32) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	v := &b.l.meets[phase&1] // what is left there of an earlier phase everyone knows
	*v = v.with(b.release(warp, lanes))
	b.advance(warp, lanes)
}

// GridLeave lets lanes go on.
func (b *Block) GridLeave(warp int, lanes, phase uint32) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	b.acquire(warp, lanes, b.l.meets[phase&1])
}
