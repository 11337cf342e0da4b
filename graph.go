package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/gocuda/cuda/cu"
)

// Graph is work described once, to be queued as a whole many times: nodes and what each has to wait for. It comes from [Stream.Capture], or is put together with the
// Add methods; [Graph.Instantiate] makes it runnable. A Graph must be used by one goroutine at a time, as in C.
type Graph struct {
	owned
	c      *Context
	handle cu.CUgraph
	hosts  *hostSet
	body   bool // of a conditional node, which owns it
}

// Node is a node of a graph.
type Node struct {
	g      *Graph
	handle cu.CUgraphNode
}

// Handle is the node in the driver API.
func (n Node) Handle() cu.CUgraphNode { return n.handle }

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
	p.retain()
	h.mu.Lock()
	h.parts = append(h.parts, p)
	h.mu.Unlock()
}

// NewGraph makes an empty graph.
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
	g := &Graph{c: c, handle: h, hosts: newHostSet()}
	g.born(&c.owned, "graph", 0, 2)
	watch(g, &g.owned)
	return g
}

// Capture runs f and collects what it queues in the stream into a graph, instead of running it. Other streams that wait for events recorded in the stream
// are captured with it, and have to be joined again before f returns. Whatever f does, the capture ends with it: an error or a panic
// leaves the stream usable. The default stream cannot be captured.
//
// f runs on the calling goroutine, which is held on its OS thread, since the driver wants a capture to end where it began. Calls that wait, and
// allocations other than [AllocAsync], invalidate the capture.
func (s *Stream) Capture(f func(s *Stream) error) (g *Graph, err error) {
	if err := s.check("cuStreamBeginCapture"); err != nil {
		return nil, err
	}
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

// Close gives the graph up. What was instantiated from it stays.
func (g *Graph) Close() error {
	if g.body {
		return nil
	}
	return g.end(func() error {
		defer g.hosts.drop()
		return g.c.fail("cuGraphDestroy", "", g.c.api.GraphDestroy(g.handle))
	})
}

// Handle is the graph in the driver API.
func (g *Graph) Handle() cu.CUgraph { return g.handle }

// Len is the number of nodes, those of child graphs not counted.
func (g *Graph) Len() (int, error) {
	if err := g.check("cuGraphGetNodes"); err != nil {
		return 0, err
	}
	_, n, err := g.c.api.GraphGetNodes(g.handle, 0)
	return int(n), g.c.fail("cuGraphGetNodes", "", err)
}

// WriteDOT writes the graph as text for Graphviz into a file. The driver writes it, so it cannot be an io.Writer.
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

// AddKernel adds a launch that waits for the nodes deps. Arguments are checked as by [Kernel.Launch], and their values kept.
func (g *Graph) AddKernel(deps []Node, k *Kernel, cfg LaunchConfig, args ...Arg) (Node, error) {
	p, err := k.Prepare(cfg, args...)
	if err != nil {
		return Node{}, err
	}
	return g.AddPrepared(deps, p)
}

// AddPrepared adds a prepared launch with the values that it has now.
func (g *Graph) AddPrepared(deps []Node, p *Prepared) (Node, error) {
	const op = "cuGraphAddKernelNode"
	before, err := g.before(op, deps)
	if err != nil {
		return Node{}, err
	}
	params := p.nodeParams()
	h, err := g.c.api.GraphAddKernelNode(g.handle, before, &params)
	runtime.KeepAlive(p)
	n, err := g.node(op, p.k.name, h, err)
	if err != nil {
		return n, err
	}
	p.f.attributes(&p.cfg)
	for i := range p.f.attrs {
		a := &p.f.attrs[i]
		if err := g.c.api.GraphKernelNodeSetAttribute(h, a.Id, &a.Value); err != nil {
			_ = g.c.api.GraphDestroyNode(h) // the first error counts
			return Node{}, g.c.fail("cuGraphKernelNodeSetAttribute", p.k.name, err)
		}
	}
	return n, nil
}

func (p *Prepared) nodeParams() cu.CUDA_KERNEL_NODE_PARAMS {
	g, b := p.cfg.Grid, p.cfg.Block
	return cu.CUDA_KERNEL_NODE_PARAMS{
		Func: p.k.handle, GridDimX: g.X, GridDimY: max(g.Y, 1), GridDimZ: max(g.Z, 1), BlockDimX: b.X, BlockDimY: max(b.Y, 1), BlockDimZ: max(b.Z, 1),
		SharedMemBytes: uint32(p.cfg.Shared), KernelParams: unsafe.SliceData(p.f.ptrs),
	}
}

// AddCopy adds a copy between two views of the same length.
func AddCopy[T any](g *Graph, deps []Node, dst, src View[T]) (Node, error) {
	if dst.n != src.n {
		return Node{}, invalid(opAddCopy, "", "%d elements copied to %d", src.n, dst.n)
	}
	if err := errors.Join(dst.use(opAddCopy), src.use(opAddCopy)); err != nil {
		return Node{}, err
	}
	return g.addCopy(deps, &cu.CUDA_MEMCPY3D{
		SrcMemoryType: cu.CU_MEMORYTYPE_DEVICE, SrcDevice: src.ptr, DstMemoryType: cu.CU_MEMORYTYPE_DEVICE, DstDevice: dst.ptr,
		WidthInBytes: dst.Bytes(), Height: 1, Depth: 1,
	})
}

// AddCopyFrom adds a copy from pinned memory, which is read when the graph runs.
func AddCopyFrom[T any](g *Graph, deps []Node, dst View[T], src PinnedView[T]) (Node, error) {
	if src.Len() > dst.n {
		return Node{}, invalid(opAddCopy, "", "%d elements copied to %d", src.Len(), dst.n)
	}
	if err := dst.use(opAddCopy); err != nil {
		return Node{}, err
	}
	return g.addCopy(deps, &cu.CUDA_MEMCPY3D{
		SrcMemoryType: cu.CU_MEMORYTYPE_HOST, SrcHost: unsafe.Pointer(unsafe.SliceData(src.data)), DstMemoryType: cu.CU_MEMORYTYPE_DEVICE, DstDevice: dst.ptr,
		WidthInBytes: uint64(len(asBytes(src.data))), Height: 1, Depth: 1,
	})
}

// AddCopyTo adds a copy into pinned memory.
func AddCopyTo[T any](g *Graph, deps []Node, dst PinnedView[T], src View[T]) (Node, error) {
	if dst.Len() > src.n {
		return Node{}, invalid(opAddCopy, "", "%d elements copied from %d", dst.Len(), src.n)
	}
	if err := src.use(opAddCopy); err != nil {
		return Node{}, err
	}
	return g.addCopy(deps, &cu.CUDA_MEMCPY3D{
		SrcMemoryType: cu.CU_MEMORYTYPE_DEVICE, SrcDevice: src.ptr, DstMemoryType: cu.CU_MEMORYTYPE_HOST, DstHost: unsafe.Pointer(unsafe.SliceData(dst.data)),
		WidthInBytes: uint64(len(asBytes(dst.data))), Height: 1, Depth: 1,
	})
}

const opAddCopy = "cuGraphAddMemcpyNode"

func (g *Graph) addCopy(deps []Node, d *cu.CUDA_MEMCPY3D) (Node, error) {
	before, err := g.before(opAddCopy, deps)
	if err != nil {
		return Node{}, err
	}
	h, err := g.c.api.GraphAddMemcpyNode(g.handle, before, d, g.c.handle)
	return g.node(opAddCopy, "", h, err)
}

// AddFill adds setting all elements to a value. Elements have 1, 2 or 4 bytes.
func AddFill[T any](g *Graph, deps []Node, dst View[T], value T) (Node, error) {
	const op = "cuGraphAddMemsetNode"
	pattern := asBytes([]T{value})
	params := cu.CUDA_MEMSET_NODE_PARAMS{Dst: dst.ptr, ElementSize: uint32(len(pattern)), Width: uint64(dst.n), Height: 1}
	switch len(pattern) {
	case 1, 2, 4:
	default:
		return Node{}, invalid(op, "", "elements of %d bytes; 1, 2 and 4 are possible", len(pattern))
	}
	for i, b := range pattern {
		params.Value |= uint32(b) << (8 * i)
	}
	before, err := g.before(op, deps)
	if err != nil {
		return Node{}, err
	}
	if err := dst.use(op); err != nil {
		return Node{}, err
	}
	h, err := g.c.api.GraphAddMemsetNode(g.handle, before, &params, g.c.handle)
	return g.node(op, "", h, err)
}

// AddHost adds a call of a Go function; see [Stream.HostFunc] for what it may do.
func (g *Graph) AddHost(deps []Node, f func()) (Node, error) {
	const op = "cuGraphAddHostNode"
	before, err := g.before(op, deps)
	if err != nil {
		return Node{}, err
	}
	if f == nil {
		return Node{}, invalid(op, "", "the function is nil")
	}
	fn, data, release, err := g.c.api.HostFunc(g.c.guarded(f))
	if err != nil {
		return Node{}, g.c.fail(op, "", err)
	}
	h, err := g.c.api.GraphAddHostNode(g.handle, before, &cu.CUDA_HOST_NODE_PARAMS{Fn: fn, UserData: data})
	if err != nil {
		release()
		return Node{}, g.c.fail(op, "", err)
	}
	g.hosts.add(release)
	return Node{g, h}, nil
}

// AddEmpty adds a node that does nothing: a place where many others meet.
func (g *Graph) AddEmpty(deps []Node) (Node, error) {
	const op = "cuGraphAddEmptyNode"
	before, err := g.before(op, deps)
	if err != nil {
		return Node{}, err
	}
	h, err := g.c.api.GraphAddEmptyNode(g.handle, before)
	return g.node(op, "", h, err)
}

// AddChild adds a copy of a graph as one node.
func (g *Graph) AddChild(deps []Node, child *Graph) (Node, error) {
	const op = "cuGraphAddChildGraphNode"
	before, err := g.before(op, deps)
	if err != nil {
		return Node{}, err
	}
	if err := child.check(op); err != nil {
		return Node{}, err
	}
	h, err := g.c.api.GraphAddChildGraphNode(g.handle, before, child.handle)
	if err == nil {
		g.hosts.include(child.hosts)
	}
	return g.node(op, "", h, err)
}

// AddRecord adds the record of an event.
func (g *Graph) AddRecord(deps []Node, e *Event) (Node, error) {
	const op = "cuGraphAddEventRecordNode"
	before, err := g.before(op, deps)
	if err != nil {
		return Node{}, err
	}
	if e.isClosed() {
		return Node{}, closedError(op, "event")
	}
	h, err := g.c.api.GraphAddEventRecordNode(g.handle, before, e.handle)
	return g.node(op, "", h, err)
}

// AddWait adds waiting for an event.
func (g *Graph) AddWait(deps []Node, e *Event) (Node, error) {
	const op = "cuGraphAddEventWaitNode"
	before, err := g.before(op, deps)
	if err != nil {
		return Node{}, err
	}
	if e.isClosed() {
		return Node{}, closedError(op, "event")
	}
	h, err := g.c.api.GraphAddEventWaitNode(g.handle, before, e.handle)
	return g.node(op, "", h, err)
}

// Depend makes a node wait for others.
func (g *Graph) Depend(n Node, on ...Node) error {
	const op = "cuGraphAddDependencies"
	from, err := g.before(op, on)
	if err != nil {
		return err
	}
	if n.g != g {
		return invalid(op, "", "the node belongs to another graph")
	}
	to := make([]cu.CUgraphNode, len(from))
	for i := range to {
		to[i] = n.handle
	}
	return g.c.fail(op, "", g.c.api.GraphAddDependencies(g.handle, from, to, nil))
}

// Conditional is a number that kernels of a graph set (cudaGraphSetConditional) and its conditional nodes ask (CUDA 12.4).
type Conditional struct {
	g      *Graph
	handle cu.CUgraphConditionalHandle
}

// Handle is the value to pass to the kernel that sets it: cuda.Val(c.Handle()).
func (c Conditional) Handle() uint64 { return uint64(c.handle) }

// NewConditional makes a conditional number, which is start whenever the graph is launched.
func (g *Graph) NewConditional(start uint32) (Conditional, error) {
	const op = "cuGraphConditionalHandleCreate"
	if err := g.check(op); err != nil {
		return Conditional{}, err
	}
	h, err := g.c.api.GraphConditionalHandleCreate(g.handle, g.c.handle, start, uint32(cu.CU_GRAPH_COND_ASSIGN_DEFAULT))
	return Conditional{g, h}, g.c.fail(op, "", err)
}

// AddIf adds a node whose body runs if the number is not zero. The body is empty at first and belongs to the node.
func (g *Graph) AddIf(deps []Node, c Conditional) (Node, *Graph, error) {
	return g.addConditional(deps, c, cu.CU_GRAPH_COND_TYPE_IF)
}

// AddWhile adds a node whose body runs again and again while the number is not zero.
func (g *Graph) AddWhile(deps []Node, c Conditional) (Node, *Graph, error) {
	return g.addConditional(deps, c, cu.CU_GRAPH_COND_TYPE_WHILE)
}

func (g *Graph) addConditional(deps []Node, c Conditional, kind cu.CUgraphConditionalNodeType) (Node, *Graph, error) {
	const op = "cuGraphAddNode"
	before, err := g.before(op, deps)
	if err != nil {
		return Node{}, nil, err
	}
	if c.g != g {
		return Node{}, nil, invalid(op, "", "the conditional belongs to another graph")
	}
	params := cu.CUgraphNodeParams{Type: cu.CU_GRAPH_NODE_TYPE_CONDITIONAL}
	*params.Conditional() = cu.CUDA_CONDITIONAL_NODE_PARAMS{Handle: c.handle, Type: kind, Size: 1, Ctx: g.c.handle}
	h, err := g.c.api.GraphAddNode(g.handle, before, nil, &params)
	n, err := g.node(op, "", h, err)
	if err != nil {
		return n, nil, err
	}
	list := params.Conditional().PhGraph_out
	if list == nil {
		return n, nil, &Error{Op: op, Code: ErrUnknown, Detail: "the driver gave no body"}
	}
	body := &Graph{c: g.c, handle: *list, hosts: g.hosts, body: true}
	body.kind = "graph"
	return n, body, nil
}

// GraphExec is a graph that can be launched.
type GraphExec struct {
	owned
	c      *Context
	handle cu.CUgraphExec
	hosts  *hostSet
}

// Instantiate checks the graph and makes it runnable. Later changes of the graph do not count; see [GraphExec.Update].
func (g *Graph) Instantiate() (*GraphExec, error) {
	const op = "cuGraphInstantiate"
	if err := g.check(op); err != nil {
		return nil, err
	}
	h, err := g.c.api.GraphInstantiate(g.handle, 0)
	if err != nil {
		return nil, g.c.fail(op, "", err)
	}
	x := &GraphExec{c: g.c, handle: h, hosts: g.hosts.retain()}
	x.born(&g.c.owned, "graph exec", 0, 1)
	watch(x, &x.owned)
	return x, nil
}

// Close gives it up. A launch that runs is finished.
func (x *GraphExec) Close() error {
	return x.end(func() error {
		defer x.hosts.drop()
		return x.c.fail("cuGraphExecDestroy", "", x.c.api.GraphExecDestroy(x.handle))
	})
}

// Handle is the executable graph in the driver API.
func (x *GraphExec) Handle() cu.CUgraphExec { return x.handle }

// Launch queues the whole graph in a stream; nil is the default stream. Launches of one GraphExec run one after the other.
func (x *GraphExec) Launch(s *Stream) error {
	const op = "cuGraphLaunch"
	if x.isClosed() {
		return closedError(op, "graph exec")
	}
	s, err := x.c.stream(op, s)
	if err != nil {
		return err
	}
	return x.c.fail(op, "", x.c.api.GraphLaunch(x.handle, s.handle))
}

// Upload does what the first launch would have to do besides running.
func (x *GraphExec) Upload(s *Stream) error {
	const op = "cuGraphUpload"
	if x.isClosed() {
		return closedError(op, "graph exec")
	}
	s, err := x.c.stream(op, s)
	if err != nil {
		return err
	}
	return x.c.fail(op, "", x.c.api.GraphUpload(x.handle, s.handle))
}

// Update takes the values of another graph with the same shape, which is far cheaper than instantiating it. When the shapes differ the error is
// ErrGraphExecUpdateFailure and says how; the GraphExec is as before then.
func (x *GraphExec) Update(g *Graph) error {
	const op = "cuGraphExecUpdate"
	if x.isClosed() {
		return closedError(op, "graph exec")
	}
	if err := g.check(op); err != nil {
		return err
	}
	info, err := x.c.api.GraphExecUpdate(x.handle, g.handle)
	if err != nil {
		err = x.c.fail(op, "", err)
		var e *Error
		if errors.As(err, &e) && e.Detail == "" {
			e.Detail = updateText(info.Result)
		}
		return err
	}
	old := x.hosts
	x.hosts = newHostSet()
	x.hosts.include(old) // launches that are queued may still run the old functions
	x.hosts.include(g.hosts)
	old.drop()
	return nil
}

// updateText is the reason for a failed update, in the words of cuda.h.
func updateText(r cu.CUgraphExecUpdateResult) string {
	switch r {
	case cu.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED:
		return "the topology changed"
	case cu.CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED:
		return "a node has another type"
	case cu.CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED:
		return "the function of a kernel node changed"
	case cu.CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED:
		return "parameters changed in a way that is not possible"
	case cu.CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED:
		return "something about a node cannot be updated"
	case cu.CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE:
		return "the function of a node changed in a way that is not possible"
	case cu.CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED:
		return "the attributes of a node changed in a way that is not possible"
	}
	return fmt.Sprintf("CUgraphExecUpdateResult %d", uint32(r))
}

// SetKernel changes a kernel node, which must be of the graph that was instantiated, for the launches after it.
func (x *GraphExec) SetKernel(n Node, p *Prepared) error {
	const op = "cuGraphExecKernelNodeSetParams"
	if x.isClosed() {
		return closedError(op, "graph exec")
	}
	params := p.nodeParams()
	err := x.c.api.GraphExecKernelNodeSetParams(x.handle, n.handle, &params)
	runtime.KeepAlive(p)
	return x.c.fail(op, p.k.name, err)
}

// SetEnabled switches a kernel, copy or fill node on or off for the launches after it.
func (x *GraphExec) SetEnabled(n Node, on bool) error {
	const op = "cuGraphNodeSetEnabled"
	if x.isClosed() {
		return closedError(op, "graph exec")
	}
	var v uint32
	if on {
		v = 1
	}
	return x.c.fail(op, "", x.c.api.GraphNodeSetEnabled(x.handle, n.handle, v))
}
