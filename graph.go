package cuda

import (
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/gocuda/cuda/cu"
)

// Graph is work described once and launched as a whole many times: nodes and their dependencies. [Stream.Capture]
// records one, the Add methods build one, [Graph.Instantiate] makes it executable. A Graph must be used by one
// goroutine at a time, as in C.
type Graph struct {
	owned
	c      *Context
	handle cu.CUgraph
	hosts  *hostSet
	body   bool // of a conditional node, which owns it; its record is that of the graph
}

// hostSet holds the Go functions of host nodes for as long as a graph or something made from it can run them.
type hostSet struct {
	mu      sync.Mutex
	refs    int
	release []func()
	parts   []*hostSet
}

func newHostSet() *hostSet { return &hostSet{refs: 1} }

func (h *hostSet) retain() *hostSet {
	h.mu.Lock()
	h.refs++
	h.mu.Unlock()
	return h
}

func (h *hostSet) drop() {
	h.mu.Lock()
	h.refs--
	done := h.refs == 0
	h.mu.Unlock()
	if !done {
		return
	}
	for _, f := range h.release {
		f()
	}
	for _, p := range h.parts {
		p.drop()
	}
}

func (h *hostSet) add(release func()) {
	h.mu.Lock()
	h.release = append(h.release, release)
	h.mu.Unlock()
}

// include keeps another set as long as this one.
func (h *hostSet) include(p *hostSet) {
	p.mu.Lock()
	empty := len(p.release)+len(p.parts) == 0
	p.mu.Unlock()
	if p == h || empty {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(h.parts, p) {
		h.parts = append(h.parts, p.retain())
	}
}

// NewGraph creates an empty graph.
func (c *Context) NewGraph() (*Graph, error) {
	const op = "cuGraphCreate"
	if c.isClosed() {
		return nil, closedError(op, "context")
	}
	h, err := c.api.GraphCreate(0)
	if err != nil {
		return nil, c.fail(op, "", err)
	}
	return c.newGraph(h), nil
}

func (c *Context) newGraph(h cu.CUgraph) *Graph {
	hosts := newHostSet()
	g := &Graph{c: c, handle: h, hosts: hosts}
	g.born(&c.owned, "graph", 0, c.giveBack("cuGraphDestroy", "", func(api cu.API) error {
		defer hosts.drop()
		return api.GraphDestroy(h)
	}))
	watch(g, &g.owned)
	return g
}

// Capture runs f and records the work that it queues in the stream as a graph, instead of executing it. Other streams
// that wait for events recorded in the stream are captured too, and must be joined again before f returns. The capture
// always ends with f: after an error or a panic the stream is usable. The default stream cannot be captured. While a
// blocking stream is captured nobody may use the default stream of the context (the driver answers
// [ErrStreamCaptureImplicit] and invalidates the capture), so capture streams that are NonBlocking.
//
// f runs on the calling goroutine, which is locked to its OS thread, since the driver requires a capture to end on the
// thread that began it. Calls that wait, and allocations other than [AllocAsync], invalidate the capture: it then ends
// with [ErrStreamCaptureInvalidated]. Captured streams that were not joined give [ErrStreamCaptureUnjoined]. What
// [AllocAsync] allocates in f belongs to the graph, which allocates it at each launch; f must free it with
// [Buffer.CloseAsync].
func (s *Stream) Capture(f func(s *Stream) error) (g *Graph, err error) {
	if err := s.check("cuStreamBeginCapture"); err != nil {
		return nil, err
	}
	if !s.capturing.CompareAndSwap(false, true) {
		return nil, &Error{Op: "cuStreamBeginCapture", Code: ErrIllegalState,
			Detail: "the stream is being captured already"}
	}
	defer s.capturing.Store(false)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := s.api.StreamBeginCapture(s.handle, cu.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL); err != nil {
		return nil, s.c.fail("cuStreamBeginCapture", "", err)
	}
	returned := false
	defer func() {
		h, e := s.api.StreamEndCapture(s.handle)
		switch {
		case returned && err == nil && e == nil:
			g = s.c.newGraph(h)
			return
		case e == nil && h != 0:
			_ = s.api.GraphDestroy(h) // what f did is not wanted any more
		case returned && e != nil:
			err = errors.Join(err, s.c.fail("cuStreamEndCapture", "", e))
		}
	}()
	err = f(s)
	returned = true
	return nil, err
}

// Close destroys the graph. Executable graphs made from it stay valid.
func (g *Graph) Close() error {
	if g.body {
		return nil
	}
	return g.end()
}

// Handle returns the driver's handle of the graph.
func (g *Graph) Handle() cu.CUgraph { return g.handle }

// Len returns the number of nodes, without those of child graphs.
func (g *Graph) Len() (int, error) {
	if err := g.check("cuGraphGetNodes"); err != nil {
		return 0, err
	}
	_, n, err := g.c.api.GraphGetNodes(g.handle, 0)
	return int(n), g.c.fail("cuGraphGetNodes", "", err)
}

// Nodes returns the nodes in no particular order, without those of child graphs. After [Stream.Capture] this is how to
// find a node for [GraphExec.SetKernel].
func (g *Graph) Nodes() ([]Node, error) {
	const op = "cuGraphGetNodes"
	if err := g.check(op); err != nil {
		return nil, err
	}
	_, n, err := g.c.api.GraphGetNodes(g.handle, 0)
	if err != nil || n == 0 {
		return nil, g.c.fail(op, "", err)
	}
	handles, _, err := g.c.api.GraphGetNodes(g.handle, n)
	if err != nil {
		return nil, g.c.fail(op, "", err)
	}
	return g.own(handles), nil
}

// own makes nodes of this graph.
func (g *Graph) own(handles []cu.CUgraphNode) []Node {
	nodes := make([]Node, len(handles))
	for i, h := range handles {
		nodes[i] = Node{g, h}
	}
	return nodes
}

// WriteDOT writes the graph to a file as text for Graphviz. The driver writes the file, so this cannot take an
// io.Writer.
func (g *Graph) WriteDOT(path string) error {
	if err := g.check("cuGraphDebugDotPrint"); err != nil {
		return err
	}
	return g.c.fail("cuGraphDebugDotPrint", path, g.c.api.GraphDebugDotPrint(g.handle, path, 0))
}

func (g *Graph) check(op string) error {
	if g.isClosed() {
		return closedError(op, "graph")
	}
	return nil
}

// before resolves dependences.
func (g *Graph) before(op string, deps []Node) ([]cu.CUgraphNode, error) {
	if err := g.check(op); err != nil {
		return nil, err
	}
	handles := make([]cu.CUgraphNode, len(deps))
	for i, d := range deps {
		if d.g != g {
			return nil, invalid(op, "", "dependence %d is a node of another graph", i)
		}
		handles[i] = d.handle
	}
	return handles, nil
}

func (g *Graph) node(op, symbol string, h cu.CUgraphNode, err error) (Node, error) {
	if err != nil {
		return Node{}, g.c.fail(op, symbol, err)
	}
	return Node{g, h}, nil
}
