package softdev

import (
	"fmt"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// What the race check is told of the order between operations: by what the program asked for, when it asked.
// Streams that are idle already are waited for like others, so that the verdict does not depend on how long work
// took.
//
// What a call waits for is taken from the CUDA Driver API, "API synchronization behavior": a copy between device
// and pageable or pinned memory has ended when the call without Async returns, one within the device has not;
// neither has a fill, but of managed and pinned memory. Of a copy from pageable memory the manual says only that
// the source has been read; programs rely on more, and here it has ended.

// contextTimes are moments of a context that belong to no stream any more, or to none yet; context.order guards them.
type contextTimes struct {
	ahead   checker.Moment // what streams that are made later come after (cuCtxWaitEvent)
	gone    checker.Moment // work of destroyed streams
	goneOld checker.Moment // and of those in step with the legacy stream
}

// time is the timeline, nil without the race check.
func (d *Driver) time() *checker.Timeline {
	if d.check == nil {
		return nil
	}
	return d.check.Time()
}

// queue makes the stream's queue in the timeline.
func (s *stream) queue() {
	t := s.ctx.d.time()
	if t == nil {
		return
	}
	name := "the default stream"
	switch s.kind {
	case streamPerThread:
		name = "the per-thread default stream"
	case streamOrdinary:
		name = fmt.Sprintf("stream %d", s.id)
		if !s.order {
			name += " (non-blocking)"
		}
	}
	s.q = t.Queue(name)
}

// mark gives an operation its place in the timeline. It needs s.mu, and context.order where the stream is in step
// with the legacy stream.
func (s *stream) mark(o *op) {
	s.ctx.d.look(nil)
	o.act = s.q.Enqueue(s.ctx.d.about(o), s.behind()...)
	l, kernel := o.task.(*launch)
	if kernel && l.early && s.prev != nil {
		o.act.Early(s.prev)
	}
	s.prev = nil
	if kernel {
		s.prev = o.act
	}
}

// behind is what other streams have that a new operation comes after.
func (s *stream) behind() (after []checker.Moment) {
	c := s.ctx
	switch {
	case !s.order:
	case s.kind == streamLegacy:
		after = append(after, c.times.goneOld)
		for _, b := range c.streams {
			if b != s && b.order && b.q != nil {
				after = append(after, b.q.Now())
			}
		}
	default:
		after = append(after, c.legacy.q.Now())
	}
	return after
}

// note is an operation that has nothing to do in the stream. It returns nil without the race check.
func (s *stream) note(what string) *checker.Action {
	if s.q == nil {
		return nil
	}
	if s.order {
		s.ctx.order.Lock()
		defer s.ctx.order.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prev = nil
	return s.q.Enqueue(s.ctx.d.byCall(what), s.behind()...)
}

// follow lets what comes to the stream from now on come after a moment.
func (s *stream) follow(m checker.Moment) {
	if s.q != nil {
		s.q.Follow(m)
	}
}

// moment is everything given to the context so far; inStep leaves out streams that are not in step with the legacy
// stream.
func (c *context) moment(inStep bool) (m checker.Moment) {
	if c.d.check == nil {
		return nil
	}
	c.order.Lock()
	defer c.order.Unlock()
	m = c.times.goneOld
	if !inStep {
		m = m.And(c.times.gone)
	}
	for _, s := range c.streams {
		if s.q != nil && (s.order || !inStep) {
			m = m.And(s.q.Now())
		}
	}
	return m
}

// moment is everything given to the stream so far, and to those that it waits for.
func (s *stream) moment() checker.Moment {
	switch {
	case s.q == nil:
		return nil
	case s.kind == streamLegacy:
		return s.ctx.moment(true)
	}
	return s.q.Now()
}

// departed keeps the moment of a stream that leaves the context. It needs c.order.
func (c *context) departed(s *stream) {
	switch {
	case s.q == nil:
	case s.order:
		c.times.goneOld = c.times.goneOld.And(s.q.Now())
	default:
		c.times.gone = c.times.gone.And(s.q.Now())
	}
}

// moment is what the event has captured by its last record.
func (e *event) moment() checker.Moment {
	if e.ctx.d.check == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.rec == nil {
		return nil
	}
	return e.rec.when
}

// learn says that the host has waited for a moment.
func (d *Driver) learn(m checker.Moment) {
	if d.check != nil {
		d.look(func() { d.check.Time().HostKnows(m) })
	}
}

// byCall describes an operation by the call that is under way.
func (d *Driver) byCall(what string) checker.About {
	pcs := callers()
	return checker.About{What: what, Call: func() checker.Call { return callSite(pcs, d.apiNames) }}
}

func (d *Driver) about(o *op) checker.About {
	switch o.kind {
	case opCopy:
		return d.byCall("copy")
	case opFill:
		return d.byCall("fill")
	case opTask:
		switch o.task.(type) {
		case *launch:
			return checker.About{}
		case *boxCopy:
			return d.byCall("copy")
		case *boxFill:
			return d.byCall("fill")
		case memOps:
			return d.byCall("memory operation")
		case *poolFree:
			return d.byCall("free")
		}
	}
	return checker.About{What: "piece of work"}
}

// Accesses of operations that are no kernels.
var (
	readsMemory   = &checker.Op{Does: checker.Reads, Space: "global"}
	writesMemory  = &checker.Op{Does: checker.Writes, Space: "global"}
	strongAccess4 = [2]*checker.Op{
		{Does: checker.Reads, Scope: checker.ScopeSystem, Size: 4, Space: "global"},
		{Does: checker.Writes, Scope: checker.ScopeSystem, Size: 4, Space: "global"},
	}
	strongAccess8 = [2]*checker.Op{
		{Does: checker.Reads, Scope: checker.ScopeSystem, Size: 8, Space: "global"},
		{Does: checker.Writes, Scope: checker.ScopeSystem, Size: 8, Space: "global"},
	}
)

// touches tells of what an operation is about to access.
func (s *stream) touches(o *op) {
	d, a := s.ctx.d, o.act
	switch o.kind {
	case opCopy:
		d.touch(a, readsMemory, o.src, o.n, 0, 1)
		d.touch(a, writesMemory, o.dst, o.n, 0, 1)
	case opFill:
		d.touch(a, writesMemory, o.dst, o.n*uint64(o.width), 0, 1)
	case opTask:
		switch t := o.task.(type) {
		case *boxCopy:
			d.touchBox(a, t)
		case *boxFill:
			d.touch(a, writesMemory, t.dst, t.n*uint64(t.width), t.pitch, t.rows)
		case memOps:
			t.touch(a)
		case *poolFree:
			a.Touch(writesMemory, t.r.Base, t.r.Size)
		}
	}
}

// touch tells of rows of memory. What the driver does not know the program may have freed and used anew by now.
func (d *Driver) touch(a *checker.Action, op *checker.Op, p unsafe.Pointer, n, pitch, rows uint64) {
	addr := uint64(uintptr(p))
	if a == nil || d.memory.kind(p) == hostPageable {
		return
	}
	if pitch == n {
		n, rows = n*rows, 1
	}
	for range rows {
		a.Touch(op, addr, n)
		addr += pitch
	}
}

func (d *Driver) touchBox(a *checker.Action, b *boxCopy) {
	for z := range b.depth {
		d.touch(a, readsMemory, unsafe.Add(b.src, z*b.srcSlice), b.width, b.srcPitch, b.height)
		d.touch(a, writesMemory, unsafe.Add(b.dst, z*b.dstSlice), b.width, b.dstPitch, b.height)
	}
}

// touch tells of memory operations, which are as strong as anything (cuStreamWriteValue32: after a fence of the
// system).
func (m memOps) touch(a *checker.Action) {
	for i := range m {
		o := &m[i]
		ops, addr := &strongAccess4, uint64(uintptr(o.p))
		switch o.kind {
		case driver.CU_STREAM_MEM_OP_WAIT_VALUE_32:
			a.Touch(ops[0], addr, 4)
		case driver.CU_STREAM_MEM_OP_WRITE_VALUE_32:
			a.Touch(ops[1], addr, 4)
			a.Wrote(addr)
		case driver.CU_STREAM_MEM_OP_WAIT_VALUE_64:
			a.Touch(strongAccess8[0], addr, 8)
		case driver.CU_STREAM_MEM_OP_WRITE_VALUE_64:
			a.Touch(strongAccess8[1], addr, 8)
			a.Wrote(addr)
		}
	}
}

// saw tells of the waits among memory operations, which have ended.
func (m memOps) saw(a *checker.Action) {
	for i := range m {
		switch o := &m[i]; o.kind {
		case driver.CU_STREAM_MEM_OP_WAIT_VALUE_32, driver.CU_STREAM_MEM_OP_WAIT_VALUE_64:
			a.Saw(uint64(uintptr(o.p)))
		}
	}
}

type memoryKind uint8

const (
	hostPageable memoryKind = iota
	hostPinned
	deviceMemory // and managed memory
)

// kind says what memory is to the calls that copy.
func (m *memory) kind(p unsafe.Pointer) memoryKind {
	r, ok := m.w.Lookup(uint64(uintptr(p)))
	switch {
	case !ok:
		return hostPageable
	case r.Kind == mem.Pinned || r.Kind == mem.Registered:
		return hostPinned
	}
	return deviceMemory
}

// copied tells of a copy after which the call has returned, whether the host has waited for it.
func (s *stream) copied(dst, src unsafe.Pointer, async bool) {
	if s.q == nil {
		return
	}
	m := s.ctx.d.memory
	to, from := m.kind(dst), m.kind(src)
	waits := to != deviceMemory || from != deviceMemory
	if async {
		waits = to == hostPageable || from == hostPageable && to != deviceMemory
	}
	if waits {
		s.ctx.d.learn(s.q.Now())
	}
}

// filled tells of a fill by a call that is not asynchronous.
func (s *stream) filled(dst unsafe.Pointer) {
	if s.q == nil {
		return
	}
	if r, ok := s.ctx.d.memory.w.Lookup(uint64(uintptr(dst))); ok && r.Kind != mem.Device {
		s.ctx.d.learn(s.q.Now())
	}
}

// fresh tells of memory that was given to the program.
func (d *Driver) fresh(p driver.CUdeviceptr, n uint64) {
	if t := d.time(); t != nil && n > 0 {
		t.Fresh(uint64(p), n)
	}
}

// nodeTimes are the places of a plan's nodes in the timeline while it runs.
type nodeTimes struct {
	start checker.Moment
	preds [][]int
	acts  []*checker.Action
	ends  []checker.Moment
}

// times prepares for a plan, nil without the race check.
func (r *graphRun) times(p *plan) *nodeTimes {
	if r.act == nil {
		return nil
	}
	t := &nodeTimes{start: r.start, preds: make([][]int, len(p.steps)), acts: make([]*checker.Action, len(p.steps)),
		ends: make([]checker.Moment, len(p.steps))}
	for i := range p.steps {
		for _, j := range p.steps[i].next {
			t.preds[j] = append(t.preds[j], i)
		}
	}
	return t
}

// begin is the launch of the graph as node i of a plan sees it.
func (t *nodeTimes) begin(r *graphRun, p *plan, i int) *graphRun {
	after := []checker.Moment{t.start}
	var q *checker.Queue
	var early []*checker.Action
	s := &p.steps[i]
	for _, j := range t.preds[i] {
		after = append(after, t.ends[j])
		o := &p.steps[j]
		if q == nil && o.next[0] == i {
			q = t.acts[j].Queue()
		}
		for k, n := range o.next {
			if n == i && o.edges[k].Type == uint8(driver.CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) {
				early = append(early, t.acts[j])
			}
		}
	}
	c := *r
	if w, ok := s.work.(*eventWaitWork); ok {
		after = append(after, r.moments[w])
	}
	c.act = r.x.d.time().Node(q, r.graph, r.x.d.aboutNode(s.work), after...)
	for _, o := range early {
		c.act.Early(o)
	}
	c.start = c.act.Moment()
	c.end = c.start
	t.acts[i] = c.act
	return &c
}

// end takes what the node has done into account.
func (t *nodeTimes) end(r *graphRun, i int) {
	t.ends[i] = r.end
	r.act.End()
}

// all is the moment when the plan has ended.
func (t *nodeTimes) all() checker.Moment {
	m := t.start
	for _, e := range t.ends {
		m = m.And(e)
	}
	return m
}

func (d *Driver) aboutNode(w nodeWork) checker.About {
	switch w.(type) {
	case *copyWork:
		return checker.About{What: "copy"}
	case *fillWork:
		return checker.About{What: "fill"}
	case *batchWork:
		return checker.About{What: "memory operation"}
	}
	return checker.About{What: "piece of work"}
}

// queued places the launch of a graph in the timeline once it is in its stream.
func (r *graphRun) queued(o *op) {
	if r.s.q == nil {
		return
	}
	r.graph = o.act
	m := o.act.Moment()
	r.x.when = m
	for w, rec := range r.records {
		e := w.(*eventRecordWork).e
		e.mu.Lock()
		rec.when = m // of the whole launch
		e.mu.Unlock()
	}
}

// told says that the host function under way can tell the host of what is before it.
func (s *stream) told() {
	if s.acting != nil {
		s.ctx.d.learn(s.acting.Before())
	}
}

// followAll lets all that comes to the context from now on come after a moment.
func (c *context) followAll(m checker.Moment) {
	if len(m) == 0 {
		return
	}
	c.order.Lock()
	defer c.order.Unlock()
	c.times.ahead = c.times.ahead.And(m)
	for _, s := range c.streams {
		s.follow(m)
	}
}
