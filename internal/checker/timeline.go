package checker

import (
	"fmt"
	"slices"
	"sync"
)

// Timeline follows what orders the operations that a program gives to a device: streams, events, synchronisation,
// edges of graphs. It says which come before which by that alone, whenever they happened to run, and compares the
// memory that those access that nothing orders. Its methods may be called from several goroutines at once.
//
// The threads of the host count as one, in the order of their calls: what orders them among each other is not
// seen.
type Timeline struct {
	c *Checker

	mu     sync.Mutex
	ids    uint64 // of queues
	host   *Queue
	known  Moment // what has ended for certain by the host's knowledge
	values map[uint64]Moment
	lates  bool // there are queues with late marks

	// Operations are compared until everything that is not ordered behind them has been compared with them.
	number uint64    // of the newest operation
	open   []*Action // those from the oldest on that has not ended, in order
	learnt []lesson  // what the host knew when
	safe   Moment    // what needs no comparison any more
	last   map[*Queue]*Action
	memory accesses
	later  []*postponed // launches whose accesses are not there yet
}

// lesson is what the host knew when number was the newest operation.
type lesson struct {
	number uint64
	known  Moment
}

// Moment is a set of operations: those of each queue up to a number. Moments are never changed once made.
type Moment []mark

type mark struct {
	q *Queue
	n uint64
}

// Queue is a list of operations of which each comes after those before it: a stream, the host, a path through a
// graph.
type Queue struct {
	t     *Timeline
	id    uint64
	name  string
	n     uint64 // operations so far
	ended uint64 // the newest that has ended
	now   Moment // what the next operation comes after
	late  []lateMark
}

// lateMark is what operations of a queue from n on come after, as was seen when it was carried out.
type lateMark struct {
	n uint64
	m Moment
}

// Action is an operation: a launch, a copy, a fill, an access of the host.
type Action struct {
	q      *Queue
	n      uint64
	before Moment  // what it comes after
	graph  *Action // the launch of a graph that it is a node of
	number uint64
	ended  bool
	about  About
	call   *Call            // what about.Call has said
	early  []*Action        // those before it that it may begin in the middle of
	heard  map[*Action]bool // kernels whose releases it has acquired
	talks  bool             // with the host or other devices, by strong accesses at scope .sys
}

// About is what reports say of an operation.
type About struct {
	What string      // "copy", "fill"; empty for kernels
	Call func() Call // where the program asked for it; may be nil
}

func newTimeline(c *Checker) *Timeline {
	t := &Timeline{c: c, values: map[uint64]Moment{}, last: map[*Queue]*Action{}}
	t.host = t.newQueue("the host")
	return t
}

// Queue makes a queue.
func (t *Timeline) Queue(name string) *Queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.newQueue(name)
}

func (t *Timeline) newQueue(name string) *Queue {
	t.ids++
	return &Queue{t: t, id: t.ids, name: name}
}

// find is where the mark of a queue is, or would be.
func (m Moment) find(q *Queue) (int, bool) {
	return slices.BinarySearchFunc(m, q.id, func(x mark, id uint64) int {
		switch {
		case x.q.id < id:
			return -1
		case x.q.id > id:
			return 1
		}
		return 0
	})
}

// has says whether an operation is in the set by its marks.
func (m Moment) has(a *Action) bool {
	for ; a != nil; a = a.graph {
		if i, ok := m.find(a.q); ok && m[i].n >= a.n {
			return true
		}
	}
	return false
}

// with is the set and what a queue has up to n.
func (m Moment) with(q *Queue, n uint64) Moment {
	i, ok := m.find(q)
	if ok && m[i].n >= n {
		return m
	}
	m = slices.Clone(m)
	if ok {
		m[i].n = n
		return m
	}
	return slices.Insert(m, i, mark{q, n})
}

// And is the union of two sets.
func (m Moment) And(o Moment) Moment {
	switch {
	case len(o) == 0 || len(m) == len(o) && len(m) > 0 && &m[0] == &o[0]:
		return m
	case len(m) == 0:
		return o
	}
	out := make(Moment, 0, len(m)+len(o))
	i, j := 0, 0
	for i < len(m) && j < len(o) {
		switch {
		case m[i].q.id < o[j].q.id:
			out = append(out, m[i])
			i++
		case m[i].q.id > o[j].q.id:
			out = append(out, o[j])
			j++
		default:
			out = append(out, mark{m[i].q, max(m[i].n, o[j].n)})
			i++
			j++
		}
	}
	return append(append(out, m[i:]...), o[j:]...)
}

// without leaves out what a set has, which nobody asks for any more.
func (m Moment) without(o Moment) Moment {
	const few = 8
	if len(m) < few {
		return m
	}
	return slices.DeleteFunc(slices.Clone(m), func(x mark) bool {
		i, ok := o.find(x.q)
		return ok && o[i].n >= x.n
	})
}

// knows says whether an operation is in a set, also by what was learnt late.
func (t *Timeline) knows(m Moment, a *Action) bool {
	if m.has(a) {
		return true
	}
	return t.lates && t.late(m, a, map[*Queue]uint64{})
}

func (t *Timeline) late(m Moment, a *Action, seen map[*Queue]uint64) bool {
	for _, x := range m {
		if seen[x.q] >= x.n {
			continue
		}
		seen[x.q] = x.n
		for _, l := range x.q.late {
			if l.n <= x.n && (l.m.has(a) || t.late(l.m, a, seen)) {
				return true
			}
		}
	}
	return false
}

// Now is everything in the queue so far, and what that comes after.
func (q *Queue) Now() Moment {
	q.t.mu.Lock()
	defer q.t.mu.Unlock()
	return q.now
}

// Follow lets what comes to the queue from now on come after a moment.
func (q *Queue) Follow(m Moment) {
	q.t.mu.Lock()
	defer q.t.mu.Unlock()
	q.now = q.now.And(m)
}

// Enqueue takes an operation into the queue. It comes after what is there, after what the host knows, and after
// the moments. End ends it.
func (q *Queue) Enqueue(about About, after ...Moment) *Action {
	q.t.mu.Lock()
	defer q.t.mu.Unlock()
	return q.enqueue(about, nil, after)
}

func (q *Queue) enqueue(about About, graph *Action, after []Moment) *Action {
	t := q.t
	m := q.now
	if graph == nil {
		m = m.And(t.known)
	}
	for _, x := range after {
		m = m.And(x)
	}
	m = m.without(t.safe)
	q.n++
	t.number++
	a := &Action{q: q, n: q.n, before: m, graph: graph, number: t.number, about: about}
	q.now = m.with(q, q.n)
	t.open = append(t.open, a)
	return a
}

// Early says that the newest operation of the queue, a kernel, may begin before the operation ahead of it, another
// one, has ended.
func (a *Action) Early(pred *Action) {
	a.q.t.mu.Lock()
	defer a.q.t.mu.Unlock()
	if pred != nil {
		a.early = append(a.early, pred)
	}
}

// Node takes a node of a graph into the timeline, with an action for the launch of the graph, behind other nodes
// of the same launch and what they come after. q is where one of them is, or nil.
func (t *Timeline) Node(q *Queue, graph *Action, about About, after ...Moment) *Action {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q == nil {
		q = t.newQueue("a node of a graph")
	}
	return q.enqueue(about, graph, append(after, graph.before))
}

// Queue is where the operation is.
func (a *Action) Queue() *Queue { return a.q }

// Before is what the operation comes after.
func (a *Action) Before() Moment { return a.before }

// Moment is the operation and what it comes after.
func (a *Action) Moment() Moment { return a.before.with(a.q, a.n) }

// End says that an operation has ended.
func (a *Action) End() {
	t := a.q.t
	t.mu.Lock()
	defer t.mu.Unlock()
	a.ended = true
	a.q.ended = max(a.q.ended, a.n)
	t.settle()
}

// HostKnows says that the host has waited for a moment.
func (t *Timeline) HostKnows(m Moment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.hostKnows(m)
}

func (t *Timeline) hostKnows(m Moment) {
	t.known = t.known.And(m)
	l := lesson{t.number, t.known}
	if n := len(t.learnt); n > 0 && t.learnt[n-1].number == t.number {
		t.learnt[n-1] = l
	} else {
		t.learnt = append(t.learnt, l)
	}
	t.settle()
}

// settle forgets what no later operation can race with: what the host knew when the oldest operation that has not
// ended was given.
func (t *Timeline) settle() {
	n := 0
	for n < len(t.open) && t.open[n].ended {
		n++
	}
	t.open = slices.Delete(t.open, 0, n)
	n = 0
	for n < len(t.learnt) && (len(t.open) == 0 || t.learnt[n].number < t.open[0].number) {
		n++
	}
	if n == 0 {
		return
	}
	t.safe = t.safe.And(t.learnt[n-1].known) // of which known no longer has what was safe before
	t.learnt = slices.Delete(t.learnt, 0, n)
	t.known = t.known.without(t.safe)
	t.drop(func(p *postponed) bool { return t.safe.has(p.l.a) })
	if len(t.open) > 0 {
		return
	}
	for q, a := range t.last {
		if t.safe.has(a) {
			delete(t.last, q)
		}
	}
	if len(t.last) == 0 {
		t.memory.clear() // and there is nothing later
	}
}

// ordered says whether one of two operations comes before the other.
func (t *Timeline) ordered(a, b *Action) bool { return t.knows(b.before, a) || t.knows(a.before, b) }

// Wrote says that an operation releases what it comes after by a value at an address.
func (a *Action) Wrote(addr uint64) {
	t := a.q.t
	t.mu.Lock()
	defer t.mu.Unlock()
	t.values[addr] = t.values[addr].And(a.Moment())
}

// Saw says that an operation has waited for a value at an address. Who wrote it is not known where no stream did:
// a kernel, or the host, so that it counts as ordered behind all that has ended.
func (a *Action) Saw(addr uint64) {
	t := a.q.t
	t.mu.Lock()
	defer t.mu.Unlock()
	m, ok := t.values[addr]
	if !ok {
		m = t.known
		for q := range t.last {
			m = m.with(q, q.ended)
		}
	}
	t.lates = true
	for ; a != nil; a = a.graph {
		a.q.late = append(a.q.late, lateMark{a.n, m})
	}
}

// String names a queue.
func (q *Queue) String() string { return q.name }

// missingOrder says what would have ordered two operations.
func (t *Timeline) missingOrder(a, b *touch) string {
	switch {
	case slices.Contains(b.a.early, a.a) || slices.Contains(a.a.early, b.a):
		return "the second kernel may begin before the first has ended (programmatic dependent launch): " +
			"no griddepcontrol.wait (cudaGridDependencySynchronize) before the access"
	case a.a.graph != nil && a.a.graph == b.a.graph:
		return "no path of edges between the two nodes of the graph"
	}
	p, q := a.a.place(), b.a.place()
	if q == t.host {
		p, q = q, p
	}
	if p == t.host {
		const how = "cuStreamSynchronize, cuEventSynchronize or cuCtxSynchronize"
		return fmt.Sprintf("the host does not wait for %s before: no %s", q, how)
	}
	return fmt.Sprintf("no event or synchronisation between %s and %s", p, q)
}

// place is the stream that an operation is in.
func (a *Action) place() *Queue {
	for a.graph != nil {
		a = a.graph
	}
	return a.q
}
