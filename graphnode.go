package cuda

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/gocuda/cuda/cu"
)

// Node is a node of a graph.
type Node struct {
	g      *Graph
	handle cu.CUgraphNode
}

// Handle returns the driver's handle of the node.
func (n Node) Handle() cu.CUgraphNode { return n.handle }

// Type returns the type of the node, for example cu.CU_GRAPH_NODE_TYPE_KERNEL.
func (n Node) Type() (cu.CUgraphNodeType, error) {
	const op = "cuGraphNodeGetType"
	if err := n.check(op); err != nil {
		return 0, err
	}
	t, err := n.g.c.api.GraphNodeGetType(n.handle)
	return t, n.g.c.fail(op, "", err)
}

// Dependencies returns the nodes that the node depends on.
func (n Node) Dependencies() ([]Node, error) {
	const op = "cuGraphNodeGetDependencies"
	if err := n.check(op); err != nil {
		return nil, err
	}
	_, _, count, err := n.g.c.api.GraphNodeGetDependencies(n.handle, 0)
	if err != nil || count == 0 {
		return nil, n.g.c.fail(op, "", err)
	}
	handles, _, _, err := n.g.c.api.GraphNodeGetDependencies(n.handle, count)
	if err != nil {
		return nil, n.g.c.fail(op, "", err)
	}
	return n.g.own(handles), nil
}

func (n Node) check(op string) error {
	if n.g == nil {
		return &Error{Op: op, Code: ErrInvalidHandle, Detail: "the zero Node"}
	}
	return n.g.check(op)
}

// AddKernel adds a kernel launch that depends on the nodes deps. Arguments are checked as by [Kernel.Launch], and their
// values are copied.
func (g *Graph) AddKernel(deps []Node, k *Kernel, cfg LaunchConfig, args ...Arg) (Node, error) {
	if err := g.check("cuGraphAddKernelNode"); err != nil {
		return Node{}, err
	}
	p, err := k.Prepare(cfg, args...)
	if err != nil {
		return Node{}, err
	}
	return g.AddPrepared(deps, p)
}

// AddPrepared adds a prepared launch with its current argument values.
func (g *Graph) AddPrepared(deps []Node, p *Prepared) (Node, error) {
	const op = "cuGraphAddKernelNode"
	before, err := g.before(op, deps)
	if err == nil {
		err = p.k.check(op)
	}
	if err == nil {
		err = p.k.shape(op, &p.cfg)
	}
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
		Func: p.k.handle, GridDimX: g.X, GridDimY: max(g.Y, 1), GridDimZ: max(g.Z, 1), BlockDimX: b.X,
		BlockDimY: max(b.Y, 1), BlockDimZ: max(b.Z, 1),
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
		SrcMemoryType: cu.CU_MEMORYTYPE_DEVICE, SrcDevice: src.ptr, DstMemoryType: cu.CU_MEMORYTYPE_DEVICE,
		DstDevice:    dst.ptr,
		WidthInBytes: dst.Bytes(), Height: 1, Depth: 1,
	})
}

// AddCopyFrom adds a copy from pinned memory, which is read when the graph runs.
func AddCopyFrom[T any](g *Graph, deps []Node, dst View[T], src PinnedView[T]) (Node, error) {
	if src.Len() > dst.n {
		return Node{}, invalid(opAddCopy, "", "%d elements copied to %d", src.Len(), dst.n)
	}
	if err := errors.Join(dst.use(opAddCopy), src.use(opAddCopy)); err != nil {
		return Node{}, err
	}
	return g.addCopy(deps, &cu.CUDA_MEMCPY3D{
		SrcMemoryType: cu.CU_MEMORYTYPE_HOST, SrcHost: unsafe.Pointer(unsafe.SliceData(src.data)),
		DstMemoryType: cu.CU_MEMORYTYPE_DEVICE, DstDevice: dst.ptr,
		WidthInBytes: uint64(len(asBytes(src.data))), Height: 1, Depth: 1,
	})
}

// AddCopyTo adds a copy into pinned memory.
func AddCopyTo[T any](g *Graph, deps []Node, dst PinnedView[T], src View[T]) (Node, error) {
	if dst.Len() > src.n {
		return Node{}, invalid(opAddCopy, "", "%d elements copied from %d", dst.Len(), src.n)
	}
	if err := errors.Join(dst.use(opAddCopy), src.use(opAddCopy)); err != nil {
		return Node{}, err
	}
	return g.addCopy(deps, &cu.CUDA_MEMCPY3D{
		SrcMemoryType: cu.CU_MEMORYTYPE_DEVICE, SrcDevice: src.ptr, DstMemoryType: cu.CU_MEMORYTYPE_HOST,
		DstHost:      unsafe.Pointer(unsafe.SliceData(dst.data)),
		WidthInBytes: uint64(len(asBytes(dst.data))), Height: 1, Depth: 1,
	})
}

// AddCopyMatrix adds a copy between two boxes of the same size; see [CopyMatrix].
func AddCopyMatrix[T any](g *Graph, deps []Node, dst, src MatrixView[T]) (Node, error) {
	d, err := boxes(opAddCopy, dst, src)
	if err != nil {
		return Node{}, err
	}
	return g.addCopy(deps, &d)
}

// AddCopyMatrixFrom adds a copy from pinned memory with exactly the elements of the box, row after row, which is read
// when the graph runs.
func AddCopyMatrixFrom[T any](g *Graph, deps []Node, dst MatrixView[T], src PinnedView[T]) (Node, error) {
	return addCopyBox(g, deps, dst, src, true)
}

// AddCopyMatrixTo adds a copy into pinned memory with room for exactly the elements of the box, row after row.
func AddCopyMatrixTo[T any](g *Graph, deps []Node, dst PinnedView[T], src MatrixView[T]) (Node, error) {
	return addCopyBox(g, deps, src, dst, false)
}

func addCopyBox[T any](g *Graph, deps []Node, m MatrixView[T], host PinnedView[T], in bool) (Node, error) {
	if host.Len() != m.len() {
		return Node{}, invalid(opAddCopy, "", "%d elements of pinned memory for a box of %d x %d x %d", host.Len(), m.w,
			m.h, m.d)
	}
	if err := errors.Join(m.use(opAddCopy), host.use(opAddCopy)); err != nil {
		return Node{}, err
	}
	d := m.box(host.data, in)
	return g.addCopy(deps, &d)
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

// AddFill adds an operation that sets all elements to a value. Elements have 1, 2 or 4 bytes.
func AddFill[T any](g *Graph, deps []Node, dst View[T], value T) (Node, error) {
	const op = "cuGraphAddMemsetNode"
	pattern := asBytes([]T{value})
	params := cu.CUDA_MEMSET_NODE_PARAMS{Dst: dst.ptr, ElementSize: uint32(len(pattern)), Width: uint64(dst.n),
		Height: 1}
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

// AddAlloc adds an allocation of n elements. Nodes that depend on it may use the memory, which has the same address in
// every launch, until [AddFree]. A graph that does not free its allocations must be instantiated with [AutoFree], or
// the memory freed with cuMemFree, before it can be launched again.
func AddAlloc[T any](g *Graph, deps []Node, n int) (Node, View[T], error) {
	const op = "cuGraphAddMemAllocNode"
	if n < 1 {
		return Node{}, View[T]{}, invalid(op, "", "%d elements", n)
	}
	size, err := elementSize[T](op)
	if err != nil {
		return Node{}, View[T]{}, err
	}
	bytes, err := byteCount(op, n, size)
	if err != nil {
		return Node{}, View[T]{}, err
	}
	before, err := g.before(op, deps)
	if err != nil {
		return Node{}, View[T]{}, err
	}
	params := cu.CUDA_MEM_ALLOC_NODE_PARAMS{
		PoolProps: cu.CUmemPoolProps{AllocType: cu.CU_MEM_ALLOCATION_TYPE_PINNED,
			Location: cu.CUmemLocation{Type: cu.CU_MEM_LOCATION_TYPE_DEVICE, Id: int32(g.c.dev.handle)}},
		Bytesize: bytes,
	}
	h, err := g.c.api.GraphAddMemAllocNode(g.handle, before, &params)
	node, err := g.node(op, "", h, err)
	if err != nil {
		return node, View[T]{}, err
	}
	return node, View[T]{c: g.c, owner: &g.owned, ptr: params.Dptr, n: n}, nil
}

// AddFree adds an operation that frees memory of [AddAlloc], or memory of [AllocAsync] that nothing else closes.
func AddFree[T any](g *Graph, deps []Node, v View[T]) (Node, error) {
	const op = "cuGraphAddMemFreeNode"
	if err := v.use(op); err != nil {
		return Node{}, err
	}
	before, err := g.before(op, deps)
	if err != nil {
		return Node{}, err
	}
	h, err := g.c.api.GraphAddMemFreeNode(g.handle, before, v.ptr)
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

// AddEmpty adds a node that does nothing, as a joining point for many others.
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

// AddRecord adds a node that records an event.
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

// AddWait adds a node that waits for an event.
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

// Depend makes a node depend on others.
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

// Conditional is a value that kernels of a graph set (cudaGraphSetConditional) and its conditional nodes test (CUDA
// 12.4).
type Conditional struct {
	g      *Graph
	handle cu.CUgraphConditionalHandle
}

// Handle returns the value to pass to the kernel that sets it: cuda.Val(c.Handle()).
func (c Conditional) Handle() uint64 { return uint64(c.handle) }

// NewConditional creates a conditional value, which is set to start at each launch of the graph.
func (g *Graph) NewConditional(start uint32) (Conditional, error) {
	const op = "cuGraphConditionalHandleCreate"
	if err := g.check(op); err != nil {
		return Conditional{}, err
	}
	h, err := g.c.api.GraphConditionalHandleCreate(g.handle, g.c.handle, start, uint32(cu.CU_GRAPH_COND_ASSIGN_DEFAULT))
	return Conditional{g, h}, g.c.fail(op, "", err)
}

// AddIf adds a node that runs its body if the value is not zero. The body belongs to the node and is empty at first.
func (g *Graph) AddIf(deps []Node, c Conditional) (Node, *Graph, error) {
	return g.addBody(deps, c, cu.CU_GRAPH_COND_TYPE_IF)
}

// AddIfElse adds a node that runs the body yes if the value is not zero, and the body no if it is zero (CUDA 12.8).
func (g *Graph) AddIfElse(deps []Node, c Conditional) (n Node, yes, no *Graph, err error) {
	n, bodies, err := g.addConditional(deps, c, cu.CU_GRAPH_COND_TYPE_IF, 2)
	if err != nil {
		return n, nil, nil, err
	}
	return n, bodies[0], bodies[1], nil
}

// AddWhile adds a node that repeats its body while the value is not zero.
func (g *Graph) AddWhile(deps []Node, c Conditional) (Node, *Graph, error) {
	return g.addBody(deps, c, cu.CU_GRAPH_COND_TYPE_WHILE)
}

// AddSwitch adds a node that runs the body whose index is the value, or none if there is no such body (CUDA 12.8).
func (g *Graph) AddSwitch(deps []Node, c Conditional, bodies int) (Node, []*Graph, error) {
	if err := g.check("cuGraphAddNode"); err != nil {
		return Node{}, nil, err
	}
	if bodies < 1 || bodies > maxBodies {
		return Node{}, nil, invalid("cuGraphAddNode", "", "a switch with %d bodies", bodies)
	}
	return g.addConditional(deps, c, cu.CU_GRAPH_COND_TYPE_SWITCH, bodies)
}

// maxBodies bounds the bodies of a switch to what no program has.
const maxBodies = 1 << 16

func (g *Graph) addBody(deps []Node, c Conditional, kind cu.CUgraphConditionalNodeType) (Node, *Graph, error) {
	n, bodies, err := g.addConditional(deps, c, kind, 1)
	if err != nil {
		return n, nil, err
	}
	return n, bodies[0], nil
}

func (g *Graph) addConditional(deps []Node, c Conditional, kind cu.CUgraphConditionalNodeType, count int) (Node,
	[]*Graph, error) {
	const op = "cuGraphAddNode"
	before, err := g.before(op, deps)
	if err != nil {
		return Node{}, nil, err
	}
	if c.g != g {
		return Node{}, nil, invalid(op, "", "the conditional belongs to another graph")
	}
	params := cu.CUgraphNodeParams{Type: cu.CU_GRAPH_NODE_TYPE_CONDITIONAL}
	*params.Conditional() = cu.CUDA_CONDITIONAL_NODE_PARAMS{Handle: c.handle, Type: kind, Size: uint32(count),
		Ctx: g.c.handle}
	h, err := g.c.api.GraphAddNode(g.handle, before, nil, &params)
	n, err := g.node(op, "", h, err)
	if err != nil {
		return n, nil, err
	}
	list := params.Conditional().PhGraph_out
	if list == nil {
		return n, nil, &Error{Op: op, Code: ErrUnknown, Detail: "the driver gave no body"}
	}
	bodies := make([]*Graph, count)
	for i, h := range unsafe.Slice(list, count) {
		bodies[i] = &Graph{owned: g.owned, c: g.c, handle: h, hosts: g.hosts, body: true}
	}
	return n, bodies, nil
}
