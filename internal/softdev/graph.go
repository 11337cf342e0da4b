package softdev

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// graphs is what a driver keeps of graphs. One lock guards the structure of all of them, of captures and of executable
// graphs; it is never held while something waits for work or calls the program back.
type graphs struct {
	mu       sync.Mutex
	graphs   handles[graph]
	nodes    handles[graphNode]
	execs    handles[graphExec]
	objects  handles[userObject]
	conds    handles[conditional]
	captures map[*capture]struct{}
	ids      uint64
	registry driver.Registry // Go functions behind Table.HostFunc
	memory   map[*device]*graphAccount
}

func (g *graphs) init(first uint16) {
	g.graphs.init(kindGraph, first)
	g.nodes.init(kindGraphNode, first)
	g.execs.init(kindGraphExec, first)
	g.objects.init(kindUserObject, first)
	g.conds.init(kindConditional, first)
	g.captures = map[*capture]struct{}{}
	g.memory = map[*device]*graphAccount{}
}

// graph is a CUgraph.
type graph struct {
	handle  driver.CUgraph
	id      uint64
	nodes   []*graphNode // in the order of their creation
	edges   []*graphEdge // likewise
	objects map[*userObject]uint64
	conds   []*conditional
	parent  *graphNode // child graphs and bodies of conditional nodes belong to a node
	copied  bool       // made by cuGraphClone
	once    bool       // has memory nodes: not to be cloned, and instantiated once at a time
	inst    int        // executable graphs made of it that live
}

type graphNode struct {
	g      *graph
	handle driver.CUgraphNode
	id     uint64 // order of creation
	work   nodeWork
	origin *graphNode // what cuGraphClone copied
	in     []*graphEdge
	out    []*graphEdge
}

type graphEdge struct {
	from, to *graphNode
	data     driver.CUgraphEdgeData
}

// nodeWork is what a node does. Values are not changed once they are in a node: setting parameters puts another one
// there.
type nodeWork interface {
	kind() driver.CUgraphNodeType
	// clone copies the work for another graph; gs.mu is held.
	clone(gs *graphs) nodeWork
	// run does the work; it is called in the order of the edges, in several goroutines at once.
	run(r *graphRun)
}

// graph resolves a handle. As everywhere in this group a bad handle is an invalid value (recorded for 0; the driver
// dies of others).
func (d *Driver) graph(h driver.CUgraph) (*graph, driver.CUresult) {
	g := d.gs.graphs.get(uintptr(h))
	if g == nil {
		return nil, invalidValue
	}
	return g, d.ready()
}

func (d *Driver) graphNode(h driver.CUgraphNode) (*graphNode, driver.CUresult) {
	n := d.gs.nodes.get(uintptr(h))
	if n == nil {
		return nil, invalidValue
	}
	return n, d.ready()
}

func (gs *graphs) newGraph() *graph {
	gs.ids++
	g := &graph{id: gs.ids, objects: map[*userObject]uint64{}}
	g.handle = driver.CUgraph(gs.graphs.add(g))
	return g
}

// add makes a node; dependences come with link.
func (gs *graphs) add(g *graph, w nodeWork) *graphNode {
	gs.ids++
	n := &graphNode{g: g, id: gs.ids, work: w}
	n.handle = driver.CUgraphNode(gs.nodes.add(n))
	g.nodes = append(g.nodes, n)
	switch w := w.(type) {
	case *childWork:
		w.g.parent = n
		g.once = g.once || w.g.once
	case *conditionalWork:
		gs.holdConditional(w.cond)
		for _, b := range w.bodies {
			b.parent = n
		}
	case *memAllocWork, *memFreeWork:
		g.once = true
	}
	return n
}

func (gs *graphs) link(from, to *graphNode, data driver.CUgraphEdgeData) {
	e := &graphEdge{from, to, data}
	from.out = append(from.out, e)
	to.in = append(to.in, e)
	to.g.edges = append(to.g.edges, e)
}

func dropEdge(list []*graphEdge, e *graphEdge) []*graphEdge {
	return slices.DeleteFunc(list, func(x *graphEdge) bool { return x == e })
}

func (e *graphEdge) unlink() {
	e.from.out = dropEdge(e.from.out, e)
	e.to.in = dropEdge(e.to.in, e)
	e.to.g.edges = dropEdge(e.to.g.edges, e)
}

// discard takes a graph's handles away and gives up what its nodes hold; the finishers are to be called without the
// lock.
func (gs *graphs) discard(g *graph) (finish []func()) {
	gs.graphs.remove(uintptr(g.handle))
	for _, n := range g.nodes {
		finish = append(finish, gs.discardNode(n)...)
	}
	for _, c := range g.conds {
		if c.orphan = true; c.holders == 0 {
			gs.conds.remove(c.handle)
		}
	}
	for o, n := range g.objects {
		finish = append(finish, gs.releaseObject(o, n)...)
	}
	g.nodes, g.edges, g.conds, g.objects = nil, nil, nil, nil
	return finish
}

func (gs *graphs) discardNode(n *graphNode) (finish []func()) {
	gs.nodes.remove(uintptr(n.handle))
	switch w := n.work.(type) {
	case *childWork:
		finish = gs.discard(w.g)
	case *conditionalWork:
		if n.g != nil {
			gs.dropConditional(w.cond)
		} else {
			w.cond.used = false // the node was never added
		}
		for _, b := range w.bodies {
			finish = append(finish, gs.discard(b)...)
		}
	case *memAllocWork:
		gs.dropMemory(w.mem)
	}
	return finish
}

// copyGraph clones a graph with everything in it. pairs, when not nil, receives the copy of each node of the top level.
func (gs *graphs) copyGraph(g *graph, pairs map[*graphNode]*graphNode) *graph {
	c := gs.newGraph()
	if pairs == nil {
		pairs = map[*graphNode]*graphNode{}
	}
	for _, n := range g.nodes {
		m := gs.add(c, n.work.clone(gs))
		m.origin = n
		pairs[n] = m
	}
	for _, e := range g.edges {
		gs.link(pairs[e.from], pairs[e.to], e.data)
	}
	for o, n := range g.objects {
		o.refs += n
		c.objects[o] = n
	}
	return c
}

// sorted is the order in which a graph's nodes can run: by edges, else by creation; ok is false when the edges go in a
// circle.
func (g *graph) sorted() (order []*graphNode, ok bool) {
	left := make(map[*graphNode]int, len(g.nodes))
	for _, n := range g.nodes {
		left[n] = len(n.in)
	}
	var ready []*graphNode
	for _, n := range g.nodes {
		if len(n.in) == 0 {
			ready = append(ready, n)
		}
	}
	for len(ready) > 0 {
		n := ready[0]
		ready = ready[1:]
		order = append(order, n)
		for _, e := range n.out {
			if left[e.to]--; left[e.to] == 0 {
				ready = append(ready, e.to)
			}
		}
	}
	return order, len(order) == len(g.nodes)
}

func (d *Driver) graphCreate(_ driver.CUcontext, out *driver.CUgraph, flags uint32) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil || flags != 0 {
		return invalidValue
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	g := d.gs.newGraph()
	if g.handle == 0 {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	*out = g.handle
	return success
}

func (d *Driver) graphDestroy(_ driver.CUcontext, h driver.CUgraph) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	g, r := d.graph(h)
	if r != success {
		return r
	}
	return d.gs.change(func() ([]func(), driver.CUresult) {
		if g.parent != nil { // it belongs to its node (cuGraphChildGraphNodeGetGraph)
			return nil, invalidValue
		}
		for c := range d.gs.captures {
			if c.g == g {
				c.invalidate()
			}
		}
		return d.gs.discard(g), success
	})
}

// change runs f with the graphs' lock, and then, without it, the destructors that it returns.
func (gs *graphs) change(f func() (finish []func(), r driver.CUresult)) driver.CUresult {
	finish, r := gs.locked(f)
	runAll(finish)
	return r
}

func (gs *graphs) locked(f func() ([]func(), driver.CUresult)) ([]func(), driver.CUresult) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	return f()
}

func runAll(list []func()) {
	for _, f := range list {
		f()
	}
}

// graphClone refuses graphs with memory nodes, as cuGraphAddMemAllocNode documents, and with conditional nodes
// (recorded).
func (d *Driver) graphClone(_ driver.CUcontext, out *driver.CUgraph, h driver.CUgraph) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	g, r := d.graph(h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	if g.once {
		d.explain(nil, "a graph with memory allocation or free nodes cannot be cloned")
		return notSupported
	}
	if g.hasConditional() {
		d.explain(nil, "a graph with conditional nodes cannot be cloned")
		return notSupported
	}
	c := d.gs.copyGraph(g, nil)
	c.copied = true
	*out = c.handle
	return success
}

func (d *Driver) graphNodeFindInClone(_ driver.CUcontext, out *driver.CUgraphNode, h driver.CUgraphNode,
	clone driver.CUgraph) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	n, r := d.graphNode(h)
	if r != success {
		return r
	}
	g, r := d.graph(clone)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = 0 // whatever comes of it (recorded)
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	if m := g.findCopy(n); m != nil {
		*out = m.handle
		return success
	}
	return invalidValue
}

// findCopy looks for the copy of a node, in child graphs too.
func (g *graph) findCopy(n *graphNode) *graphNode {
	for _, m := range g.nodes {
		if m.origin == n {
			return m
		}
		for _, sub := range subgraphs(m.work) {
			if k := sub.findCopy(n); k != nil {
				return k
			}
		}
	}
	return nil
}

// hasConditional says whether there is a conditional node in the graph or its child graphs.
func (g *graph) hasConditional() bool {
	for _, n := range g.nodes {
		if n.work.kind() == driver.CU_GRAPH_NODE_TYPE_CONDITIONAL ||
			slices.ContainsFunc(subgraphs(n.work), (*graph).hasConditional) {
			return true
		}
	}
	return false
}

func subgraphs(w nodeWork) []*graph {
	switch w := w.(type) {
	case *childWork:
		return []*graph{w.g}
	case *conditionalWork:
		return w.bodies
	}
	return nil
}

func (d *Driver) graphDestroyNode(_ driver.CUcontext, h driver.CUgraphNode) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	n, r := d.graphNode(h)
	if r != success {
		return r
	}
	why := ""
	r = d.gs.change(func() ([]func(), driver.CUresult) {
		// no nodes are taken away while the capture goes on (cuStreamGetCaptureInfo)
		if d.gs.capturing(n.g) || d.gs.capturingIn(n) {
			why = "a stream captures into the graph"
			return nil, driver.CUDA_ERROR_ILLEGAL_STATE
		}
		if n.g.once { // whatever the node is (recorded)
			why = "nodes of a graph with memory nodes cannot be destroyed"
			return nil, notSupported
		}
		for _, e := range append(slices.Clone(n.in), n.out...) {
			e.unlink()
		}
		n.g.nodes = slices.DeleteFunc(n.g.nodes, func(x *graphNode) bool { return x == n })
		return d.gs.discardNode(n), success
	})
	if why != "" {
		d.explain(nil, "%s", why)
	}
	return r
}

func (d *Driver) graphNodeGetType(_ driver.CUcontext, h driver.CUgraphNode,
	out *driver.CUgraphNodeType) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	n, r := d.graphNode(h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = d.gs.kindOf(n)
	return success
}

// list gives a caller up to *n elements, zeroes what is left of its array, and sets *n to the number given; with a NULL
// array *n is how many there are (cuGraphGetNodes). Room for none is refused (recorded).
func list[T any](dst *T, n *uint64, all []T) driver.CUresult {
	if n == nil {
		return invalidValue
	}
	room := *n
	switch {
	case dst == nil:
		*n = uint64(len(all))
		return success
	case room == 0 || !fillList(dst, room, all):
		return invalidValue
	}
	*n = min(room, uint64(len(all)))
	return success
}

// fillList says whether there can be so much room.
func fillList[T any](dst *T, room uint64, all []T) bool {
	if dst == nil {
		return true
	}
	s, ok := slice(dst, room)
	if ok {
		clear(s[copy(s, all):])
	}
	return ok
}

func (d *Driver) graphGetNodes(_ driver.CUcontext, h driver.CUgraph, nodes *driver.CUgraphNode,
	n *uint64) driver.CUresult {
	return d.listNodes(h, nodes, n, func(*graphNode) bool { return true })
}

func (d *Driver) graphGetRootNodes(_ driver.CUcontext, h driver.CUgraph, nodes *driver.CUgraphNode,
	n *uint64) driver.CUresult {
	return d.listNodes(h, nodes, n, func(x *graphNode) bool { return len(x.in) == 0 })
}

func (d *Driver) listNodes(h driver.CUgraph, nodes *driver.CUgraphNode, n *uint64,
	pick func(*graphNode) bool) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	g, r := d.graph(h)
	if r != success {
		return r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	var all []driver.CUgraphNode
	for _, x := range g.nodes {
		if pick(x) {
			all = append(all, x.handle)
		}
	}
	return list(nodes, n, all)
}

// listEdges serves the queries about edges. Without room for the annotations those that have some cannot be told:
// CUDA_ERROR_LOSSY_QUERY (cuGraphGetEdges). Then the lists hold what comes before the first such edge and that edge's
// end, or its beginning where no ends were asked for (recorded).
func listEdges(edges []*graphEdge, from, to *driver.CUgraphNode, data *driver.CUgraphEdgeData,
	n *uint64) driver.CUresult {
	if n == nil {
		return invalidValue
	}
	if from == nil && to == nil && data == nil {
		*n = uint64(len(edges))
		return success
	}
	var f, t []driver.CUgraphNode
	var x []driver.CUgraphEdgeData
	r, room := success, *n
	for i, e := range edges {
		if data == nil && uint64(i) < room && e.data != (driver.CUgraphEdgeData{}) {
			r = driver.CUDA_ERROR_LOSSY_QUERY
			t = append(t, e.to.handle)
			if to == nil {
				f = append(f, e.from.handle)
			}
			break
		}
		f, t, x = append(f, e.from.handle), append(t, e.to.handle), append(x, e.data)
	}
	notes := room
	if from == nil || to == nil { // what is asked of one node leaves the rest alone (recorded)
		notes = min(room, uint64(len(x)))
	}
	if !fillList(from, room, f) || !fillList(to, room, t) || !fillList(data, notes, x) {
		return invalidValue
	}
	if r == success {
		*n = min(room, uint64(len(edges)))
	}
	return r
}

func (d *Driver) graphGetEdges(_ driver.CUcontext, h driver.CUgraph, from, to *driver.CUgraphNode,
	data *driver.CUgraphEdgeData, n *uint64) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	g, r := d.graph(h)
	if r != success {
		return r
	}
	if (from == nil) != (to == nil) {
		return invalidValue
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	return listEdges(g.edges, from, to, data, n)
}

func (d *Driver) graphNodeGetDependencies(_ driver.CUcontext, h driver.CUgraphNode, nodes *driver.CUgraphNode,
	data *driver.CUgraphEdgeData, n *uint64) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	x, r := d.graphNode(h)
	if r != success {
		return r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	return listEdges(x.in, nodes, nil, data, n)
}

func (d *Driver) graphNodeGetDependentNodes(_ driver.CUcontext, h driver.CUgraphNode, nodes *driver.CUgraphNode,
	data *driver.CUgraphEdgeData, n *uint64) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	x, r := d.graphNode(h)
	if r != success {
		return r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	return listEdges(x.out, nil, nodes, data, n)
}

// validEdge checks an annotation: programmatic edges come out of kernels and lead to kernels (CUgraphEdgeData).
func validEdge(from, to nodeWork, x driver.CUgraphEdgeData) bool {
	if x.Reserved != [5]uint8{} || x.To_port != 0 {
		return false
	}
	if x.Type == uint8(driver.CU_GRAPH_DEPENDENCY_TYPE_DEFAULT) &&
		x.From_port == driver.CU_GRAPH_KERNEL_NODE_PORT_DEFAULT {
		return true
	}
	return driver.CUgraphDependencyType(x.Type) == driver.CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC &&
		from.kind() == driver.CU_GRAPH_NODE_TYPE_KERNEL && to.kind() == driver.CU_GRAPH_NODE_TYPE_KERNEL &&
		x.From_port >= driver.CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC &&
		x.From_port <= driver.CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER
}

// pairs reads the parallel arrays of the calls that change edges.
func (d *Driver) pairs(g *graph, from, to *driver.CUgraphNode, data *driver.CUgraphEdgeData, n uint64) ([]graphEdge,
	driver.CUresult) {
	if n == 0 {
		return nil, success
	}
	if from == nil || to == nil {
		return nil, invalidValue
	}
	if n > uint64(len(g.nodes))*uint64(len(g.nodes)) { // more than there can be
		return nil, invalidValue
	}
	var edges []graphEdge
	fs, ts := unsafe.Slice(from, n), unsafe.Slice(to, n)
	for i := range fs {
		a, b := d.gs.nodes.get(uintptr(fs[i])), d.gs.nodes.get(uintptr(ts[i]))
		if a == nil || b == nil || a.g != g || b.g != g {
			return nil, invalidValue
		}
		e := graphEdge{from: a, to: b}
		if data != nil {
			e.data = unsafe.Slice(data, n)[i]
		}
		edges = append(edges, e)
	}
	return edges, success
}

func (n *graphNode) edgeTo(to *graphNode) *graphEdge {
	for _, e := range n.out {
		if e.to == to {
			return e
		}
	}
	return nil
}

// graphAddDependencies refuses an edge twice and one to itself, and accepts a circle, which instantiation refuses
// (recorded).
func (d *Driver) graphAddDependencies(_ driver.CUcontext, h driver.CUgraph, from, to *driver.CUgraphNode,
	data *driver.CUgraphEdgeData, n uint64) driver.CUresult {
	g, r := d.graph(h)
	if r != success {
		return r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	edges, r := d.pairs(g, from, to, data, n)
	if r != success {
		return r
	}
	for i, e := range edges {
		if e.from == e.to || e.from.edgeTo(e.to) != nil || !validEdge(e.from.work, e.to.work, e.data) {
			return invalidValue
		}
		for _, o := range edges[:i] {
			if o.from == e.from && o.to == e.to {
				return invalidValue
			}
		}
	}
	for _, e := range edges {
		d.gs.link(e.from, e.to, e.data)
	}
	return success
}

func (d *Driver) graphRemoveDependencies(_ driver.CUcontext, h driver.CUgraph, from, to *driver.CUgraphNode,
	data *driver.CUgraphEdgeData, n uint64) driver.CUresult {
	g, r := d.graph(h)
	if r != success {
		return r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	if g.once && n > 0 { // whatever the nodes are (recorded)
		d.explain(nil, "edges of a graph with memory nodes cannot be removed")
		return notSupported
	}
	edges, r := d.pairs(g, from, to, data, n)
	if r != success {
		return r
	}
	var found []*graphEdge
	for _, e := range edges {
		x := e.from.edgeTo(e.to)
		// without annotations any edge between the two is meant (recorded)
		if x == nil || slices.Contains(found, x) || data != nil && x.data != e.data {
			return invalidValue
		}
		found = append(found, x)
	}
	for _, e := range found {
		e.unlink()
	}
	return success
}

// insert is the common end of the calls that add a node: it checks the dependences, then adds.
func (d *Driver) insert(out *driver.CUgraphNode, g *graph, deps *driver.CUgraphNode, data *driver.CUgraphEdgeData,
	n uint64, w nodeWork) driver.CUresult {
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	if d.gs.graphs.get(uintptr(g.handle)) != g {
		return invalidValue // destroyed meanwhile
	}
	edges, r := d.dependences(g, deps, data, n, w)
	if r != success {
		return r
	}
	node := d.gs.add(g, w)
	if node.handle == 0 {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	for _, e := range edges {
		d.gs.link(e.from, node, e.data)
	}
	*out = node.handle
	return success
}

// dependences reads the array of nodes that a new node comes after. w may be nil when the node's kind is not known yet.
func (d *Driver) dependences(g *graph, deps *driver.CUgraphNode, data *driver.CUgraphEdgeData, n uint64,
	w nodeWork) ([]graphEdge, driver.CUresult) {
	if n == 0 {
		return nil, success
	}
	if deps == nil || n > uint64(len(g.nodes)) {
		return nil, invalidValue
	}
	edges := make([]graphEdge, 0, n)
	for i, h := range unsafe.Slice(deps, n) {
		from := d.gs.nodes.get(uintptr(h))
		if from == nil || from.g != g || slices.ContainsFunc(edges, func(e graphEdge) bool { return e.from == from }) {
			return nil, invalidValue
		}
		e := graphEdge{from: from}
		if data != nil {
			e.data = unsafe.Slice(data, n)[i]
			if w != nil && !validEdge(from.work, w, e.data) {
				return nil, invalidValue
			}
		}
		edges = append(edges, e)
	}
	return edges, success
}
