package softdev

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/driver"
)

// conditionalValue is read by the graph while kernels write it.
type conditionalValue = atomic.Uint32

// plan is an executable form of a graph: its nodes in an order in which they can run.
type plan struct {
	steps []step
	index map[*graphNode]int
}

type step struct {
	node  *graphNode // that it was made of
	work  nodeWork
	deps  int
	next  []int
	edges []driver.CUgraphEdgeData // of next
	off   bool                     // cuGraphNodeSetEnabled
}

// newPlan makes a plan, which drop gives up; bad is a node on a circle.
func (gs *graphs) newPlan(g *graph) (p *plan, bad *graphNode) {
	order, ok := g.sorted()
	if !ok {
		for _, n := range g.nodes {
			if !slices.Contains(order, n) {
				return nil, n
			}
		}
	}
	p = &plan{index: make(map[*graphNode]int, len(order))}
	for i, n := range order {
		p.index[n] = i
	}
	for _, n := range order {
		w, bad := gs.execWork(n.work)
		if bad != nil {
			gs.drop(p)
			return nil, n
		}
		s := step{node: n, work: w, deps: len(n.in)}
		for _, e := range n.out {
			s.next = append(s.next, p.index[e.to])
			s.edges = append(s.edges, e.data)
		}
		p.steps = append(p.steps, s)
	}
	return p, nil
}

// execWork is the form of a node's work in a plan.
func (gs *graphs) execWork(w nodeWork) (nodeWork, *graphNode) {
	switch w := w.(type) {
	case *childWork:
		p, bad := gs.newPlan(w.g)
		return &childWork{plan: p}, bad
	case *memAllocWork:
		w.mem.steps++
	case *conditionalWork:
		c := &conditionalWork{cond: w.cond, typ: w.typ}
		for _, b := range w.bodies {
			p, bad := gs.newPlan(b)
			if bad != nil {
				for _, p := range c.plans {
					gs.drop(p)
				}
				return nil, bad
			}
			c.plans = append(c.plans, p)
		}
		gs.holdConditional(c.cond)
		return c, nil
	}
	return w.clone(gs), nil
}

// walk calls f for every step, those of child graphs included, in an order in which they can run.
func (p *plan) walk(f func(*step)) {
	for i := range p.steps {
		s := &p.steps[i]
		f(s)
		for _, sub := range subplans(s.work) {
			sub.walk(f)
		}
	}
}

func subplans(w nodeWork) []*plan {
	switch w := w.(type) {
	case *childWork:
		return []*plan{w.plan}
	case *conditionalWork:
		return w.plans
	}
	return nil
}

// find looks for the step of a node, in child graphs too.
func (p *plan) find(n *graphNode) *step {
	if i, ok := p.index[n]; ok {
		return &p.steps[i]
	}
	for i := range p.steps {
		for _, sub := range subplans(p.steps[i].work) {
			if s := sub.find(n); s != nil {
				return s
			}
		}
	}
	return nil
}

// snapshot is the plan as a launch runs it: changes of parameters after the launch do not reach it.
func (p *plan) snapshot() *plan {
	c := &plan{steps: slices.Clone(p.steps)}
	for i := range c.steps {
		switch w := c.steps[i].work.(type) {
		case *childWork:
			c.steps[i].work = &childWork{plan: w.plan.snapshot()}
		case *conditionalWork:
			x := *w
			x.plans = nil
			for _, sub := range w.plans {
				x.plans = append(x.plans, sub.snapshot())
			}
			c.steps[i].work = &x
		}
	}
	return c
}

// graph makes a graph of a plan again: a launch that is captured becomes a child graph.
func (p *plan) graph(gs *graphs) *graph {
	g := gs.newGraph()
	nodes := make([]*graphNode, len(p.steps))
	for i := range p.steps {
		var w nodeWork
		switch x := p.steps[i].work.(type) {
		case *childWork:
			w = &childWork{g: x.plan.graph(gs)}
		case *conditionalWork:
			c := &conditionalWork{cond: x.cond, typ: x.typ}
			for _, sub := range x.plans {
				b := sub.graph(gs)
				c.bodies, c.shown = append(c.bodies, b), append(c.shown, b.handle)
			}
			w = c
		default:
			w = x.clone(gs)
		}
		nodes[i] = gs.add(g, w)
	}
	for i := range p.steps {
		for k, j := range p.steps[i].next {
			gs.link(nodes[i], nodes[j], p.steps[i].edges[k])
		}
	}
	return g
}

// graphExec is a CUgraphExec.
type graphExec struct {
	d       *Driver
	handle  driver.CUgraphExec
	id      uint64
	ctx     *context
	source  *graph
	flags   uint64
	plan    *plan
	last    point // end of the newest launch: launches of one executable graph run one after the other
	when    checker.Moment
	objects map[*userObject]uint64
	flights int  // launches that have not ended
	dead    bool // destroyed
}

const instantiateFlags = driver.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
	driver.CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
	driver.CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | driver.CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY

// instantiate is the common part of the calls that make an executable graph.
func (d *Driver) instantiate(cur driver.CUcontext, out *driver.CUgraphExec, h driver.CUgraph,
	flags uint64) (bad *graphNode, why driver.CUgraphInstantiateResult, r driver.CUresult) {
	why = driver.CUDA_GRAPH_INSTANTIATE_ERROR
	if flags&^uint64(instantiateFlags) != 0 { // before the context, and the handle after it (recorded)
		return nil, why, invalidValue
	}
	c, r := d.enter(cur)
	if r != success {
		return nil, why, r
	}
	g := d.gs.graphs.get(uintptr(h))
	if g == nil || out == nil {
		return nil, why, invalidValue
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	if flags&uint64(driver.CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0 {
		// the one excludes the other (cuda.h)
		if flags&uint64(driver.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0 {
			return nil, why, invalidValue
		}
		if bad := g.hostOnly(); bad != nil {
			return bad, driver.CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, invalidValue
		}
		d.explain(c, "graphs that are launched from the device are not supported")
		return nil, why, notSupported
	}
	for _, k := range g.conds {
		if !k.used {
			return nil, driver.CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, invalidValue
		}
	}
	if g.once && g.inst > 0 {
		d.explain(c, "a graph with memory nodes has one executable graph at a time")
		return nil, why, notSupported
	}
	p, bad := d.gs.newPlan(g)
	if bad != nil {
		return bad, driver.CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, invalidValue
	}
	d.gs.ids++
	x := &graphExec{d: d, ctx: c, id: d.gs.ids, source: g, flags: flags, plan: p, objects: map[*userObject]uint64{}}
	if x.handle = driver.CUgraphExec(d.gs.execs.add(x)); x.handle == 0 {
		return nil, why, driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	x.hold(g)
	g.inst++
	*out = x.handle
	return nil, driver.CUDA_GRAPH_INSTANTIATE_SUCCESS, success
}

// hostOnly is a node of a kind that keeps a graph from being launched from the device (CUDA Programming Guide, "Device
// Graph Requirements").
func (g *graph) hostOnly() *graphNode {
	for _, n := range g.nodes {
		switch w := n.work.(type) {
		case *kernelWork, *copyWork, *fillWork:
		case *childWork:
			if w.g.hostOnly() != nil {
				return n
			}
		default:
			return n
		}
	}
	return nil
}

// hold takes references to the user objects of a graph and its child graphs.
func (x *graphExec) hold(g *graph) {
	for o, n := range g.objects {
		o.refs += n
		x.objects[o] += n
	}
	for _, n := range g.nodes {
		for _, sub := range subgraphs(n.work) {
			x.hold(sub)
		}
	}
}

func (d *Driver) graphInstantiateWithFlags(cur driver.CUcontext, out *driver.CUgraphExec, h driver.CUgraph,
	flags uint64) driver.CUresult {
	if flags&uint64(driver.CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0 {
		return invalidValue // there is no stream to upload in (recorded)
	}
	_, _, r := d.instantiate(cur, out, h, flags)
	return r
}

// graphInstantiate has a log buffer, in which the driver has long left nothing but an empty text, and names no node
// either (recorded for a circle).
func (d *Driver) graphInstantiate(cur driver.CUcontext, out *driver.CUgraphExec, h driver.CUgraph,
	node *driver.CUgraphNode, log *byte, size uint64) driver.CUresult {
	_, _, r := d.instantiate(cur, out, h, 0)
	if node != nil {
		*node = 0
	}
	if log != nil && size > 0 {
		*log = 0
	}
	return r
}

func (d *Driver) graphInstantiateWithParams(cur driver.CUcontext, out *driver.CUgraphExec, h driver.CUgraph,
	p *driver.CUDA_GRAPH_INSTANTIATE_PARAMS) driver.CUresult {
	if p == nil {
		return invalidValue
	}
	flags := p.Flags
	bad, why, r := d.instantiate(cur, out, h, flags)
	p.HErrNode_out, p.Result_out = 0, why
	if bad != nil {
		p.HErrNode_out = bad.handle
	}
	if r == success && flags&uint64(driver.CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0 {
		return d.graphUpload(cur, *out, p.HUploadStream)
	}
	return r
}

func (d *Driver) graphExec(h driver.CUgraphExec) (*graphExec, driver.CUresult) {
	x := d.gs.execs.get(uintptr(h))
	if x == nil {
		return nil, invalidValue
	}
	return x, d.ready()
}

func (d *Driver) graphExecDestroy(_ driver.CUcontext, h driver.CUgraphExec) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	x, r := d.graphExec(h)
	if r != success {
		return r
	}
	if d.gs.execs.remove(uintptr(h)) == nil {
		return invalidValue
	}
	return d.gs.change(func() ([]func(), driver.CUresult) {
		x.dead = true
		x.source.inst--
		return x.finish(), success
	})
}

// finish gives up what an executable graph holds once it is destroyed and its last launch has ended.
func (x *graphExec) finish() (finish []func()) {
	if !x.dead || x.flights > 0 {
		return nil
	}
	x.d.gs.drop(x.plan)
	for o, n := range x.objects {
		finish = append(finish, x.d.gs.releaseObject(o, n)...)
	}
	x.objects = nil
	return finish
}

func (d *Driver) graphExecGetFlags(_ driver.CUcontext, h driver.CUgraphExec, out *uint64) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	x, r := d.graphExec(h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	// these are not told (recorded)
	*out = x.flags &^ uint64(driver.CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD|
		driver.CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)
	return success
}

// graphUpload has nothing to do: the plan is in place.
func (d *Driver) graphUpload(cur driver.CUcontext, h driver.CUgraphExec, stream driver.CUstream) driver.CUresult {
	s, r := d.streamOf(cur, stream)
	if r != success {
		return r
	}
	_, r = d.graphExec(h)
	if r != success {
		return r
	}
	if s.capturing() {
		return s.spoil(driver.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
	}
	return success
}

// graphRun is a launch of an executable graph on its way through a stream.
type graphRun struct {
	x       *graphExec
	p       *plan
	s       *stream
	skipped bool
	waits   map[nodeWork]point
	records map[nodeWork]*record

	// With the race check. For each node there is a copy of the whole.
	graph      *checker.Action             // the launch
	act        *checker.Action             // the node
	start, end checker.Moment              // of the plan that runs, or of the node
	moments    map[nodeWork]checker.Moment // of waits
}

func (d *Driver) graphLaunch(cur driver.CUcontext, h driver.CUgraphExec, stream driver.CUstream) driver.CUresult {
	s, r := d.streamOf(cur, stream)
	if r != success {
		return r
	}
	x, r := d.graphExec(h)
	if r != success {
		return s.spoil(r)
	}
	if r := s.admit(); r != success {
		return r
	}
	if s.capturing() {
		return s.capture(func(gs *graphs) (nodeWork, driver.CUresult) {
			return &childWork{g: x.plan.graph(gs)}, success
		})
	}
	if s.q != nil {
		defer func() { s.settle(s.tail().n) }()
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	d.pass(d.gs.mu.Unlock, d.gs.mu.Lock) // so that put does not wait with the lock
	if x.dead {
		return invalidValue
	}
	if r := x.account(); r != success {
		return r
	}
	run := &graphRun{x: x, p: x.plan.snapshot(), s: s}
	run.events()
	o := op{kind: opTask, task: run}
	s.follow(x.when)
	if x.last.s != s && !x.last.reached() {
		o.depend(x.last)
	}
	s.put(&o)
	defer s.mu.Unlock()
	x.flights++
	x.last = point{s, s.queued}
	run.queued(&o)
	s.start()
	return success
}

// events settles what the event nodes mean: waits are for what was recorded before the launch, and from the launch on
// the recorded events are the launch's.
func (r *graphRun) events() {
	var records []*eventRecordWork
	r.p.walk(func(s *step) {
		switch w := s.work.(type) {
		case *eventWaitWork:
			if r.waits == nil {
				r.waits = map[nodeWork]point{}
			}
			r.waits[w] = w.e.captured()
			if r.moments == nil {
				r.moments = map[nodeWork]checker.Moment{}
			}
			r.moments[w] = w.e.moment()
		case *eventRecordWork:
			if !s.off {
				records = append(records, w)
			}
		}
	})
	for _, w := range records {
		if r.records == nil {
			r.records = map[nodeWork]*record{}
		}
		// The point is in a stream of its own, which has one operation: the node.
		m := newStream(r.s.ctx, streamOrdinary, uint32(driver.CU_STREAM_NON_BLOCKING), 0)
		m.queued = 1
		rec := &record{point: point{m, 1}}
		r.records[w] = rec
		w.e.moved(rec)
	}
}

// reached records an event of the launch.
func (r *graphRun) reached(w nodeWork) {
	rec := r.records[w]
	if rec == nil {
		return
	}
	m := rec.point.s
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done.Load() == 0 {
		rec.at.Store(r.s.ctx.d.now())
		m.done.Store(1)
		m.changed.Broadcast()
	}
}

// skip says whether work in a context is not done any more, since something has faulted.
func (r *graphRun) skip(c *context) bool { return r.skipped || c.fault() != success }

func (r *graphRun) execute(_ *stream, skip bool) {
	defer r.ended()
	r.skipped = skip
	r.act = r.graph
	if !skip {
		r.p.walk(func(s *step) {
			if w, ok := s.work.(*conditionalWork); ok && w.cond.assign {
				w.cond.value.Store(w.cond.dflt)
			}
		})
		r.runPlan(r.p)
	}
}

// ended gives up what the launch holds.
func (r *graphRun) ended() {
	for w := range r.records { // also those that were not come by
		r.reached(w)
	}
	if finish := r.land(); len(finish) > 0 {
		r.s.ctx.goFor(nil, func() { runAll(finish) }) // a destructor must not hold up the stream
	}
}

// land takes the launch out of its graph's account.
func (r *graphRun) land() (finish []func()) {
	gs := &r.x.d.gs
	gs.mu.Lock()
	defer gs.mu.Unlock()
	r.x.flights--
	return r.x.finish()
}

// node runs a step. After a panic the context is broken, and later steps only give up what they hold.
func (r *graphRun) node(s *step) {
	defer r.s.ctx.guard()
	if !s.off {
		s.work.run(r)
	}
}

// runPlan runs all steps, those without an order between them side by side.
func (r *graphRun) runPlan(p *plan) {
	t := r.times(p)
	left := make([]atomic.Int32, len(p.steps))
	for i := range p.steps {
		left[i].Store(int32(p.steps[i].deps))
	}
	var wg sync.WaitGroup
	defer func() {
		wg.Wait()
		if t != nil {
			r.start = t.all()
			r.end = r.start
		}
	}()
	var from func(i int)
	aside := func(i int) { r.s.ctx.goFor(&wg, func() { from(i) }) }
	from = func(i int) {
		for i >= 0 {
			s := &p.steps[i]
			if t == nil {
				r.node(s)
			} else {
				n := t.begin(r, p, i)
				n.node(s)
				t.end(n, i)
			}
			i = -1
			for _, j := range s.next {
				if left[j].Add(-1) > 0 {
					continue
				}
				if i < 0 {
					i = j
					continue
				}
				aside(j)
			}
		}
	}
	first := -1
	for i := range p.steps {
		if p.steps[i].deps > 0 {
			continue
		}
		if first < 0 {
			first = i
			continue
		}
		aside(i)
	}
	from(first)
}

// step finds the step that a node has in an executable graph.
func (d *Driver) step(h driver.CUgraphExec, nh driver.CUgraphNode) (*graphExec, *step, driver.CUresult) {
	x, r := d.graphExec(h)
	if r != success {
		return nil, nil, r
	}
	n, r := d.graphNode(nh)
	if r != success {
		return nil, nil, r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	s := x.plan.find(n)
	if s == nil {
		return nil, nil, invalidValue
	}
	return x, s, success
}

// canBeOff are the kinds of nodes that cuGraphNodeSetEnabled works on (its documentation).
func canBeOff(w nodeWork) bool {
	switch w.(type) {
	case *kernelWork, *fillWork, *copyWork:
		return true
	}
	return false
}

func (d *Driver) graphNodeSetEnabled(_ driver.CUcontext, h driver.CUgraphExec, nh driver.CUgraphNode,
	on uint32) driver.CUresult {
	_, s, r := d.step(h, nh)
	if r != success {
		return r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	if !canBeOff(s.work) {
		return invalidValue
	}
	s.off = on == 0
	return success
}

func (d *Driver) graphNodeGetEnabled(_ driver.CUcontext, h driver.CUgraphExec, nh driver.CUgraphNode,
	out *uint32) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	_, s, r := d.step(h, nh)
	if r != success {
		return r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	if !canBeOff(s.work) {
		return invalidValue
	}
	*out = 1
	if s.off {
		*out = 0
	}
	return success
}
