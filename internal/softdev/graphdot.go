package softdev

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gocuda/cuda/internal/driver"
)

var nodeNames = map[driver.CUgraphNodeType]string{
	driver.CU_GRAPH_NODE_TYPE_KERNEL: "KERNEL", driver.CU_GRAPH_NODE_TYPE_MEMCPY: "MEMCPY",
	driver.CU_GRAPH_NODE_TYPE_MEMSET: "MEMSET",
	driver.CU_GRAPH_NODE_TYPE_HOST:   "HOST", driver.CU_GRAPH_NODE_TYPE_GRAPH: "GRAPH",
	driver.CU_GRAPH_NODE_TYPE_EMPTY:      "EMPTY",
	driver.CU_GRAPH_NODE_TYPE_WAIT_EVENT: "EVENT_WAIT", driver.CU_GRAPH_NODE_TYPE_EVENT_RECORD: "EVENT_RECORD",
	driver.CU_GRAPH_NODE_TYPE_MEM_ALLOC: "MEM_ALLOC", driver.CU_GRAPH_NODE_TYPE_MEM_FREE: "MEM_FREE",
	driver.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: "BATCH_MEM_OP", driver.CU_GRAPH_NODE_TYPE_CONDITIONAL: "CONDITIONAL",
}

// graphDebugDotPrint writes the graph in the language of Graphviz. The names are the driver's kinds; the layout of
// labels is our own.
func (d *Driver) graphDebugDotPrint(_ driver.CUcontext, h driver.CUgraph, path *byte, flags uint32) driver.CUresult {
	g, r := d.graph(h)
	if r != success {
		return r
	}
	const all = 1<<16 - 1 // CUgraphDebugDot_flags
	if path == nil || flags&^uint32(all) != 0 {
		return invalidValue
	}
	f, err := os.Create(driver.String(path))
	if err != nil {
		d.explain(nil, "%s", err.Error())
		return driver.CUDA_ERROR_OPERATING_SYSTEM
	}
	w := bufio.NewWriter(f)
	d.gs.dot(w, g, driver.CUgraphDebugDot_flags(flags))
	err = w.Flush()
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		d.explain(nil, "%s", err.Error())
		return driver.CUDA_ERROR_OPERATING_SYSTEM
	}
	return success
}

func (gs *graphs) dot(w io.Writer, g *graph, flags driver.CUgraphDebugDot_flags) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	fmt.Fprintf(w, "digraph dot {\n")
	g.dot(w, flags)
	fmt.Fprintf(w, "}\n")
}

func (n *graphNode) dotName() string { return fmt.Sprintf("graph_%d_node_%d", n.g.id, n.id) }

func (g *graph) dot(w io.Writer, flags driver.CUgraphDebugDot_flags) {
	fmt.Fprintf(w, "subgraph cluster_%d {\nlabel=\"graph_%d\" graph[style=\"dashed\"];\n", g.id, g.id)
	for _, n := range g.nodes {
		label := append([]string{fmt.Sprint(n.id), nodeNames[n.work.kind()]}, n.details(flags)...)
		fmt.Fprintf(w, "%q[shape=\"box\" label=\"%s\"];\n", n.dotName(), strings.Join(label, "\\n"))
	}
	for _, e := range g.edges {
		style := ""
		if e.data.Type == uint8(driver.CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) {
			style = " [style=\"dashed\"]"
		}
		fmt.Fprintf(w, "%q -> %q%s;\n", e.from.dotName(), e.to.dotName(), style)
	}
	fmt.Fprintf(w, "}\n")
	for _, n := range g.nodes {
		for _, sub := range subgraphs(n.work) {
			sub.dot(w, flags)
			if len(sub.nodes) > 0 {
				fmt.Fprintf(w, "%q -> %q [style=\"dotted\" lhead=\"cluster_%d\"];\n", n.dotName(),
					sub.nodes[0].dotName(), sub.id)
			}
		}
	}
}

// details are the lines of a node's label that the flags ask for.
func (n *graphNode) details(flags driver.CUgraphDebugDot_flags) (lines []string) {
	on := func(f driver.CUgraphDebugDot_flags) bool {
		return flags&(f|driver.CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE) != 0
	}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if on(driver.CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES) {
		add("node %#x", uintptr(n.handle))
	}
	switch w := n.work.(type) {
	case *kernelWork:
		add("%s", w.f.entry.fn.Name)
		if on(driver.CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS) {
			add("grid %v block %v shared %d", w.q.grid, w.q.block, w.q.shared)
		}
		if on(driver.CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES) {
			add("cooperative %t cluster %v", w.q.cooperative, w.q.cluster)
		}
	case *copyWork:
		if on(driver.CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS) {
			add("%d x %d x %d bytes", w.p.WidthInBytes, w.p.Height, w.p.Depth)
		}
	case *fillWork:
		if on(driver.CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS) {
			add("%#x = %#x, %d x %d of %d bytes", uint64(w.p.Dst), w.p.Value, w.p.Width, w.p.Height, w.p.ElementSize)
		}
	case *hostWork:
		if on(driver.CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS) {
			add("fn %#x data %#x", w.p.Fn, w.p.UserData)
		}
	case *eventRecordWork:
		if on(driver.CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS) {
			add("event %#x", uintptr(w.e.handle))
		}
	case *eventWaitWork:
		if on(driver.CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS) {
			add("event %#x", uintptr(w.e.handle))
		}
	case *memAllocWork:
		if on(driver.CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS) {
			add("%d bytes at %#x", w.mem.size, uint64(w.mem.ptr))
		}
	case *memFreeWork:
		if on(driver.CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS) {
			add("%#x", uint64(w.ptr))
		}
	case *batchWork:
		if on(driver.CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS) {
			add("%d operations", len(w.p))
		}
	case *conditionalWork:
		if on(driver.CU_GRAPH_DEBUG_DOT_FLAGS_CONDITIONAL_NODE_PARAMS) {
			add("type %d handle %#x, %d bodies", w.typ, w.cond.handle, len(w.bodies))
		}
	}
	return lines
}
