package cuda

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/gocuda/cuda/cu"
)

// GraphExec is an executable graph.
type GraphExec struct {
	owned
	c      *Context
	handle cu.CUgraphExec
	hosts  *hostSet
}

// GraphFlag is a flag of [Graph.Instantiate].
type GraphFlag = cu.CUgraphInstantiate_flags

// The flags of [Graph.Instantiate].
const (
	// AutoFree frees memory that a launch has allocated and not freed when the graph is launched again.
	AutoFree GraphFlag = cu.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
	// NodePriority runs each node with the priority of the stream or launch that it comes from, instead of that of the
	// stream which the graph is launched in.
	NodePriority GraphFlag = cu.CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
)

// Instantiate checks the graph and makes it executable. Later changes of the graph have no effect on the result; see
// [GraphExec.Update].
func (g *Graph) Instantiate(flags ...GraphFlag) (*GraphExec, error) {
	const op = "cuGraphInstantiate"
	if err := g.check(op); err != nil {
		return nil, err
	}
	var all GraphFlag
	for _, f := range flags {
		all |= f
	}
	h, err := g.c.api.GraphInstantiate(g.handle, uint64(all))
	if err != nil {
		return nil, g.c.fail(op, "", err)
	}
	hosts := newHostSet()
	hosts.include(g.hosts)
	x := &GraphExec{c: g.c, handle: h, hosts: hosts}
	x.born(&g.c.owned, "graph exec", 0, g.c.giveBack("cuGraphExecDestroy", "", func(api cu.API) error {
		defer hosts.drop()
		return api.GraphExecDestroy(h)
	}))
	watch(x, &x.owned)
	return x, nil
}

// Close destroys the executable graph. A launch in progress is completed.
func (x *GraphExec) Close() error { return x.end() }

// Handle returns the driver's handle of the executable graph.
func (x *GraphExec) Handle() cu.CUgraphExec { return x.handle }

// Launch queues the whole graph in a stream; nil is the default stream. Launches of one GraphExec run one after
// another.
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

// Upload prepares the first launch without executing the graph.
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

// Update takes the parameters of another graph with the same topology, which is far cheaper than instantiating it. If
// the topologies differ the error is ErrGraphExecUpdateFailure with the difference, and the GraphExec is unchanged.
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
	x.hosts.include(g.hosts) // beside the old functions, which launches that are queued may still run
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

// SetKernel changes a kernel node for later launches. The node must belong to the graph that was instantiated.
func (x *GraphExec) SetKernel(n Node, p *Prepared) error {
	const op = "cuGraphExecKernelNodeSetParams"
	if x.isClosed() {
		return closedError(op, "graph exec")
	}
	if err := errors.Join(n.check(op), p.k.check(op)); err != nil {
		return err
	}
	params := p.nodeParams()
	err := x.c.api.GraphExecKernelNodeSetParams(x.handle, n.handle, &params)
	runtime.KeepAlive(p)
	return x.c.fail(op, p.k.name, err)
}

// SetEnabled enables or disables a kernel, copy or fill node for later launches.
func (x *GraphExec) SetEnabled(n Node, on bool) error {
	const op = "cuGraphNodeSetEnabled"
	if x.isClosed() {
		return closedError(op, "graph exec")
	}
	if err := n.check(op); err != nil {
		return err
	}
	var v uint32
	if on {
		v = 1
	}
	return x.c.fail(op, "", x.c.api.GraphNodeSetEnabled(x.handle, n.handle, v))
}
