package softdev

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// TestGraphFacts replays the recorded calls of group graph.
func TestGraphFacts(t *testing.T) {
	var facts recorded
	readFacts(t, "graph.json", &facts)
	d, tab, ctx := open(t, Options{})
	m := load(t, d, ctx, graphPTX)
	nop := fn(t, d, ctx, m, "nop")
	p := alloc(t, tab, ctx, 4096)
	var g driver.CUgraph
	var x, y driver.CUgraphExec
	var n, k, k2 driver.CUgraphNode
	var count uint64
	is := func(id string, r driver.CUresult) { t.Helper(); facts.want(t, "graph/"+id, r) }
	is("create_flags1", tab.GraphCreate(ctx, &g, 1))
	is("create_null", tab.GraphCreate(ctx, nil, 0))
	must(t, tab.GraphCreate(ctx, &g, 0))
	is("inst_empty", tab.GraphInstantiateWithFlags(ctx, &x, g, 0))
	is("launch_empty", tab.GraphLaunch(ctx, x, 0))
	is("inst_flags99", tab.GraphInstantiateWithFlags(ctx, &y, g, 256))
	flags := uint64(9)
	is("exec_flags", tab.GraphExecGetFlags(ctx, x, &flags))
	facts.out(t, "graph/exec_flags", flags)
	is("empty_node", tab.GraphAddEmptyNode(ctx, &n, g, nil, 0))
	is("dep_null", tab.GraphAddEmptyNode(ctx, &k, g, nil, 1))
	garbage := driver.CUgraphNode(0x1234)
	is("dep_garbage", tab.GraphAddEmptyNode(ctx, &k, g, &garbage, 1))
	var kind driver.CUgraphNodeType
	is("type", tab.GraphNodeGetType(ctx, n, &kind))
	facts.out(t, "graph/type", uint32(kind))
	params := func(f driver.CUfunction, block uint32) *driver.CUDA_KERNEL_NODE_PARAMS {
		return &driver.CUDA_KERNEL_NODE_PARAMS{Func: f, GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: block,
			BlockDimY: 1, BlockDimZ: 1}
	}
	is("kernel_node", tab.GraphAddKernelNode_v2(ctx, &k, g, nil, 0, params(nop, 1)))
	is("kernel_node_null", tab.GraphAddKernelNode_v2(ctx, &k2, g, nil, 0, nil))
	is("kernel_node_block0", tab.GraphAddKernelNode_v2(ctx, &k2, g, nil, 0, params(nop, 0)))
	is("kernel_node_nofunc", tab.GraphAddKernelNode_v2(ctx, &k2, g, nil, 0, params(0, 1)))
	is("kernel_node_block2000", tab.GraphAddKernelNode_v2(ctx, &k2, g, nil, 0, params(nop, 2000)))
	var e driver.CUgraphNode
	must(t, tab.GraphAddEmptyNode(ctx, &e, g, nil, 0)) // the recording has this one too
	must(t, tab.GraphAddKernelNode_v2(ctx, &k2, g, nil, 0, params(nop, 1)))
	is("dep_add", tab.GraphAddDependencies_v2(ctx, g, &n, &k2, nil, 1))
	is("dep_again", tab.GraphAddDependencies_v2(ctx, g, &n, &k2, nil, 1))
	is("dep_self", tab.GraphAddDependencies_v2(ctx, g, &n, &n, nil, 1))
	is("dep_cycle", tab.GraphAddDependencies_v2(ctx, g, &k2, &n, nil, 1))
	is("inst_cycle", tab.GraphInstantiateWithFlags(ctx, &y, g, 0))
	ip := driver.CUDA_GRAPH_INSTANTIATE_PARAMS{}
	want(t, "with params", tab.GraphInstantiateWithParams(ctx, &y, g, &ip), bad)
	if ip.Result_out != driver.CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE ||
		ip.HErrNode_out != n && ip.HErrNode_out != k2 {
		t.Errorf("circle: result %d, node %#x", ip.Result_out, ip.HErrNode_out)
	}
	is("dep_remove", tab.GraphRemoveDependencies_v2(ctx, g, &k2, &n, nil, 1))
	is("dep_remove_again", tab.GraphRemoveDependencies_v2(ctx, g, &k2, &n, nil, 1))
	is("nodes", tab.GraphGetNodes(ctx, g, nil, &count))
	facts.out(t, "graph/nodes", count)
	is("roots", tab.GraphGetRootNodes(ctx, g, nil, &count))
	facts.out(t, "graph/roots", count)
	is("nodes_null", tab.GraphGetNodes(ctx, g, nil, nil))
	var fillNode, child driver.CUgraphNode
	is("memset_node", tab.GraphAddMemsetNode(ctx, &fillNode, g, nil, 0,
		&driver.CUDA_MEMSET_NODE_PARAMS{Dst: p, Value: 1, ElementSize: 4, Width: 16, Height: 1}, ctx))
	is("memset_node_es3", tab.GraphAddMemsetNode(ctx, &child, g, nil, 0,
		&driver.CUDA_MEMSET_NODE_PARAMS{Dst: p, Value: 1, ElementSize: 3, Width: 16, Height: 1}, ctx))
	is("child_self", tab.GraphAddChildGraphNode(ctx, &child, g, nil, 0, g))
	var c driver.CUgraph
	is("clone", tab.GraphClone(ctx, &c, g))
	is("inst", tab.GraphInstantiateWithFlags(ctx, &y, g, 0))
	is("kparams_of_empty", tab.GraphKernelNodeGetParams_v2(ctx, n, new(driver.CUDA_KERNEL_NODE_PARAMS)))
	// Not recorded: lists, and the clone's nodes.
	nodes := make([]driver.CUgraphNode, 8)
	count = 8
	must(t, tab.GraphGetNodes(ctx, g, &nodes[0], &count))
	if !slices.Equal(nodes[:count], []driver.CUgraphNode{n, k, e, k2, fillNode}) || nodes[5] != 0 {
		t.Errorf("nodes %#x", nodes)
	}
	var nc driver.CUgraphNode
	must(t, tab.GraphNodeFindInClone(ctx, &nc, k2, c))
	count = 8
	must(t, tab.GraphNodeGetDependencies_v2(ctx, nc, &nodes[0], nil, &count))
	var orig driver.CUgraphNode
	must(t, tab.GraphNodeFindInClone(ctx, &orig, n, c))
	if count != 1 || nodes[0] != orig {
		t.Errorf("the clone's dependences: %d, %#x", count, nodes[0])
	}
	is("destroy_node", tab.GraphDestroyNode(ctx, n))
	want(t, "a node that is gone", tab.GraphNodeGetType(ctx, n, &kind), bad)
	is("destroy_exec", tab.GraphExecDestroy(ctx, x))
	is("destroy", tab.GraphDestroy(ctx, g))
	want(t, "twice", tab.GraphDestroy(ctx, g), bad)
	want(t, "its executable graph lives on", tab.GraphLaunch(ctx, y, 0), driver.CUDA_SUCCESS)
	must(t, tab.CtxSynchronize(ctx))
}

// graphMaker adds nodes in a chain.
type graphMaker struct {
	t    *testing.T
	tab  *driver.Table
	ctx  driver.CUcontext
	g    driver.CUgraph
	last []driver.CUgraphNode
}

func newGraphMaker(t *testing.T, tab *driver.Table, ctx driver.CUcontext) *graphMaker {
	b := &graphMaker{t: t, tab: tab, ctx: ctx}
	must(t, tab.GraphCreate(ctx, &b.g, 0))
	return b
}

func (b *graphMaker) kernel(f driver.CUfunction, params ...unsafe.Pointer) driver.CUgraphNode {
	b.t.Helper()
	p := driver.CUgraphNodeParams{Type: driver.CU_GRAPH_NODE_TYPE_KERNEL}
	*p.Kernel() = driver.CUDA_KERNEL_NODE_PARAMS_v3{Func: f, GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1,
		BlockDimY: 1, BlockDimZ: 1, KernelParams: unsafe.SliceData(params)}
	return b.node(&p)
}

func (b *graphMaker) node(p *driver.CUgraphNodeParams) (n driver.CUgraphNode) {
	b.t.Helper()
	must(b.t, b.tab.GraphAddNode_v2(b.ctx, &n, b.g, unsafe.SliceData(b.last), nil, uint64(len(b.last)), p))
	b.last = []driver.CUgraphNode{n}
	return n
}

func (b *graphMaker) instantiate(flags uint64) (x driver.CUgraphExec) {
	b.t.Helper()
	must(b.t, b.tab.GraphInstantiateWithFlags(b.ctx, &x, b.g, flags))
	return x
}

func (b *graphMaker) run(x driver.CUgraphExec) {
	b.t.Helper()
	must(b.t, b.tab.GraphLaunch(b.ctx, x, 0))
	must(b.t, b.tab.CtxSynchronize(b.ctx))
}

// Parameters of nodes, of executable nodes, and cuGraphExecUpdate (CUDA Driver API, Graph Management).
func TestGraphParams(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	m := load(t, d, ctx, graphPTX)
	add, mul := fn(t, d, ctx, m, "add"), fn(t, d, ctx, m, "mul")
	p := alloc(t, tab, ctx, 64)
	b := newGraphMaker(t, tab, ctx)
	fp := driver.CUgraphNodeParams{Type: driver.CU_GRAPH_NODE_TYPE_MEMSET}
	*fp.Memset() = driver.CUDA_MEMSET_NODE_PARAMS_v2{Dst: p, Value: 5, ElementSize: 4, Width: 4, Height: 1, Ctx: ctx}
	fillNode := b.node(&fp)
	v := uint32(10)
	kernel := b.kernel(add, unsafe.Pointer(&p), unsafe.Pointer(&v))
	v = 99 // the node has its own copy
	host := make([]uint32, 4)
	cp := driver.CUgraphNodeParams{Type: driver.CU_GRAPH_NODE_TYPE_MEMCPY}
	cp.Memcpy().CopyCtx = ctx
	cp.Memcpy().CopyParams = driver.CUDA_MEMCPY3D{SrcMemoryType: driver.CU_MEMORYTYPE_DEVICE, SrcDevice: p,
		DstMemoryType: driver.CU_MEMORYTYPE_HOST, DstHost: address(t, &host[0]), WidthInBytes: 8, Height: 1, Depth: 1}
	copyNode := b.node(&cp)
	var called atomic.Int32
	fnAddr, data, release := tab.HostFunc(func() { called.Add(1) })
	defer release()
	hp := driver.CUgraphNodeParams{Type: driver.CU_GRAPH_NODE_TYPE_HOST}
	*hp.Host() = driver.CUDA_HOST_NODE_PARAMS_v2{Fn: fnAddr, UserData: data}
	hostNode := b.node(&hp)
	x := b.instantiate(0)
	b.run(x)
	if host[0] != 15 || host[1] != 5 || called.Load() != 1 {
		t.Errorf("%v, %d calls", host, called.Load())
	}
	// What was given can be read back.
	var kq driver.CUDA_KERNEL_NODE_PARAMS
	must(t, tab.GraphKernelNodeGetParams_v2(ctx, kernel, &kq))
	values := unsafe.Slice(kq.KernelParams, 2)
	if kq.Func != add || kq.Ctx != ctx || *(*driver.CUdeviceptr)(values[0]) != p || *(*uint32)(values[1]) != 10 {
		t.Errorf("kernel parameters %+v", kq)
	}
	var fq driver.CUDA_MEMSET_NODE_PARAMS
	must(t, tab.GraphMemsetNodeGetParams(ctx, fillNode, &fq))
	var cq driver.CUDA_MEMCPY3D
	must(t, tab.GraphMemcpyNodeGetParams(ctx, copyNode, &cq))
	var hq driver.CUDA_HOST_NODE_PARAMS
	must(t, tab.GraphHostNodeGetParams(ctx, hostNode, &hq))
	if fq.Dst != p || fq.Value != 5 || cq != cp.Memcpy().CopyParams || hq.Fn != fnAddr || hq.UserData != data {
		t.Errorf("parameters: %+v %+v %+v", fq, cq, hq)
	}
	// An executable node gets others without the graph, a node without the executable graph.
	v = 20
	kq.KernelParams = args(unsafe.Pointer(&p), unsafe.Pointer(&v))
	must(t, tab.GraphExecKernelNodeSetParams_v2(ctx, x, kernel, &kq))
	fq.Value = 6
	must(t, tab.GraphMemsetNodeSetParams(ctx, fillNode, &fq))
	b.run(x)
	if host[0] != 25 || host[1] != 5 {
		t.Errorf("after exec set params: %v", host)
	}
	want(t, "other kind", tab.GraphExecKernelNodeSetParams_v2(ctx, x, fillNode, &kq), bad)
	want(t, "node of nowhere", tab.GraphExecKernelNodeSetParams_v2(ctx, x, 0x1230, &kq), bad)
	// An update takes everything over: 6 + 10.
	info := driver.CUgraphExecUpdateResultInfo{Result: 99}
	must(t, tab.GraphExecUpdate_v2(ctx, x, b.g, &info))
	if info.Result != driver.CU_GRAPH_EXEC_UPDATE_SUCCESS {
		t.Errorf("update: %+v", info)
	}
	b.run(x)
	if host[0] != 16 || host[1] != 6 {
		t.Errorf("after update: %v", host)
	}
	// Disabled nodes are left out.
	on := uint32(7)
	must(t, tab.GraphNodeSetEnabled(ctx, x, kernel, 0))
	must(t, tab.GraphNodeGetEnabled(ctx, x, kernel, &on))
	b.run(x)
	if on != 0 || host[0] != 6 {
		t.Errorf("disabled: %d, %v", on, host)
	}
	must(t, tab.GraphNodeSetEnabled(ctx, x, kernel, 1))
	want(t, "host nodes are always on", tab.GraphNodeSetEnabled(ctx, x, hostNode, 0), bad)
	// Updates that cannot be.
	var extra driver.CUgraph
	must(t, tab.GraphClone(ctx, &extra, b.g))
	var en driver.CUgraphNode
	must(t, tab.GraphAddEmptyNode(ctx, &en, extra, nil, 0))
	want(t, "one more node", tab.GraphExecUpdate_v2(ctx, x, extra, &info), driver.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
	if info.Result != driver.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED {
		t.Errorf("one more node: %+v", info)
	}
	other := newGraphMaker(t, tab, ctx)
	var swapped [4]driver.CUgraphNode
	for i := range swapped {
		p := driver.CUgraphNodeParams{Type: driver.CU_GRAPH_NODE_TYPE_EMPTY}
		swapped[i] = other.node(&p)
	}
	var node driver.CUgraphNode
	var why driver.CUgraphExecUpdateResult
	want(t, "other kinds", tab.GraphExecUpdate(ctx, x, other.g, &node, &why),
		driver.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
	if why != driver.CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED || node != swapped[0] {
		t.Errorf("other kinds: %d, node %#x", why, node)
	}
	// Another function in the same context is possible.
	kq.Func = mul
	must(t, tab.GraphKernelNodeSetParams_v2(ctx, kernel, &kq))
	must(t, tab.GraphExecUpdate_v2(ctx, x, b.g, &info))
	b.run(x)
	if host[0] != 120 {
		t.Errorf("other function: %v", host)
	}
	// Attributes.
	var attr driver.CUkernelNodeAttrValue
	*attr.Priority() = -2
	must(t, tab.GraphKernelNodeSetAttribute(ctx, kernel, driver.CU_LAUNCH_ATTRIBUTE_PRIORITY, &attr))
	k2 := b.kernel(mul, unsafe.Pointer(&p), unsafe.Pointer(&v))
	must(t, tab.GraphKernelNodeCopyAttributes(ctx, k2, kernel))
	attr = driver.CUkernelNodeAttrValue{}
	must(t, tab.GraphKernelNodeGetAttribute(ctx, k2, driver.CU_LAUNCH_ATTRIBUTE_PRIORITY, &attr))
	if *attr.Priority() != -2 {
		t.Errorf("copied priority %d", *attr.Priority())
	}
	want(t, "attribute of a copy node", tab.GraphKernelNodeGetAttribute(ctx, copyNode,
		driver.CU_LAUNCH_ATTRIBUTE_PRIORITY, &attr), bad)
	// The picture.
	file := filepath.Join(t.TempDir(), "g.dot")
	must(t, tab.GraphDebugDotPrint(ctx, b.g, cstr(file), uint32(driver.CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE)))
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text), "digraph") || !strings.Contains(string(text), "MEMSET") ||
		strings.Count(string(text), "->") != 4 {
		t.Errorf("%v\n%s", err, text)
	}
}

// Branches of a graph run side by side: one waits for what the other writes. Launches of one executable graph run one
// after the other.
func TestGraphOrder(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	p := alloc(t, tab, ctx, 64)
	must(t, tab.MemsetD32_v2(ctx, p, 0, 16))
	b := newGraphMaker(t, tab, ctx)
	batch := func(kind driver.CUstreamBatchMemOpType, at driver.CUdeviceptr, v uint32) {
		var op driver.CUstreamBatchMemOpParams
		if kind == driver.CU_STREAM_MEM_OP_WAIT_VALUE_32 {
			w := op.WaitValue()
			w.Operation, w.Address, w.Flags = kind, at, uint32(driver.CU_STREAM_WAIT_VALUE_EQ)
			*w.Value() = v
		} else {
			w := op.WriteValue()
			w.Operation, w.Address = kind, at
			*w.Value() = v
		}
		var n driver.CUgraphNode
		np := &driver.CUDA_BATCH_MEM_OP_NODE_PARAMS{Ctx: ctx, Count: 1, ParamArray: &op}
		must(t, tab.GraphAddBatchMemOpNode(ctx, &n, b.g, unsafe.SliceData(b.last), uint64(len(b.last)), np))
		b.last = []driver.CUgraphNode{n}
		var got driver.CUDA_BATCH_MEM_OP_NODE_PARAMS
		must(t, tab.GraphBatchMemOpNodeGetParams(ctx, n, &got))
		if got.Count != 1 || *got.ParamArray != op {
			t.Errorf("batch parameters %+v", got)
		}
	}
	const wait, write = driver.CU_STREAM_MEM_OP_WAIT_VALUE_32, driver.CU_STREAM_MEM_OP_WRITE_VALUE_32
	batch(wait, p, 1)
	batch(write, p+4, 2)
	b.last = nil
	batch(write, p, 1)
	batch(wait, p+4, 2)
	b.run(b.instantiate(0))

	// Two launches in two streams: the second waits for the first, which a gate holds up.
	g := newGate()
	b = newGraphMaker(t, tab, ctx)
	var active, most atomic.Int32
	f, data, release := tab.HostFunc(func() {
		most.Store(max(most.Load(), active.Add(1)))
		time.Sleep(time.Millisecond)
		active.Add(-1)
	})
	defer release()
	hp := driver.CUgraphNodeParams{Type: driver.CU_GRAPH_NODE_TYPE_HOST}
	*hp.Host() = driver.CUDA_HOST_NODE_PARAMS_v2{Fn: f, UserData: data}
	b.node(&hp)
	x := b.instantiate(0)
	s, u := newTestStream(t, tab, ctx, 1), newTestStream(t, tab, ctx, 1)
	g.hold(t, tab, ctx, s)
	must(t, tab.GraphLaunch(ctx, x, s))
	must(t, tab.GraphLaunch(ctx, x, u))
	want(t, "the second", tab.StreamQuery(ctx, u), notReady)
	close(g.open)
	must(t, tab.CtxSynchronize(ctx))
	if most.Load() != 1 {
		t.Errorf("%d launches at once", most.Load())
	}
}

// Event nodes (cuGraphAddEventRecordNode, cuGraphAddEventWaitNode): a record counts from the launch on, a wait is for
// what was recorded before.
func TestGraphEvents(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	s, u := newTestStream(t, tab, ctx, 1), newTestStream(t, tab, ctx, 1)
	before, after := newTestEvent(t, tab, ctx), newTestEvent(t, tab, ctx)
	b := newGraphMaker(t, tab, ctx)
	var w, r driver.CUgraphNode
	must(t, tab.GraphAddEventWaitNode(ctx, &w, b.g, nil, 0, before))
	must(t, tab.GraphAddEventRecordNode(ctx, &r, b.g, &w, 1, after))
	var got driver.CUevent
	must(t, tab.GraphEventRecordNodeGetEvent(ctx, r, &got))
	want(t, "not a record", tab.GraphEventRecordNodeGetEvent(ctx, w, &got), bad)
	if got != after {
		t.Errorf("event %#x", got)
	}
	x := b.instantiate(0)
	g := newGate()
	g.hold(t, tab, ctx, u)
	must(t, tab.EventRecord(ctx, before, u))
	must(t, tab.GraphLaunch(ctx, x, s))
	time.Sleep(2 * time.Millisecond)
	want(t, "the graph waits", tab.StreamQuery(ctx, s), notReady)
	want(t, "the event too", tab.EventQuery(ctx, after), notReady)
	close(g.open)
	must(t, tab.EventSynchronize(ctx, after))
	must(t, tab.StreamSynchronize(ctx, s))
	var ms float32
	must(t, tab.EventElapsedTime(ctx, &ms, before, after))
	if ms < 0 {
		t.Errorf("%v ms", ms)
	}
	// External records and waits of a capture are such nodes.
	must(t, tab.StreamBeginCapture_v2(ctx, s, 2))
	must(t, tab.StreamWaitEvent(ctx, s, before, uint32(driver.CU_EVENT_WAIT_EXTERNAL)))
	must(t, tab.EventRecordWithFlags(ctx, after, s, uint32(driver.CU_EVENT_RECORD_EXTERNAL)))
	var cg driver.CUgraph
	must(t, tab.StreamEndCapture(ctx, s, &cg))
	nodes, n := make([]driver.CUgraphNode, 2), uint64(2)
	must(t, tab.GraphGetNodes(ctx, cg, &nodes[0], &n))
	var kinds [2]driver.CUgraphNodeType
	must(t, tab.GraphNodeGetType(ctx, nodes[0], &kinds[0]))
	must(t, tab.GraphNodeGetType(ctx, nodes[1], &kinds[1]))
	if kinds != [2]driver.CUgraphNodeType{driver.CU_GRAPH_NODE_TYPE_WAIT_EVENT,
		driver.CU_GRAPH_NODE_TYPE_EVENT_RECORD} {
		t.Errorf("kinds %v", kinds)
	}
}

// Memory nodes (cuGraphAddMemAllocNode): one address for all launches, the rules about what is left allocated, and the
// account.
func TestGraphMemory(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	m := load(t, d, ctx, graphPTX)
	add := fn(t, d, ctx, m, "add")
	attr := func(a driver.CUgraphMem_attribute) (v uint64) {
		t.Helper()
		must(t, tab.DeviceGetGraphMemAttribute(ctx, 0, a, unsafe.Pointer(&v)))
		return v
	}
	b := newGraphMaker(t, tab, ctx)
	ap := driver.CUgraphNodeParams{Type: driver.CU_GRAPH_NODE_TYPE_MEM_ALLOC}
	ap.Alloc().PoolProps = driver.CUmemPoolProps{AllocType: driver.CU_MEM_ALLOCATION_TYPE_PINNED,
		Location: driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE}}
	ap.Alloc().Bytesize = 4096
	allocNode := b.node(&ap)
	p := ap.Alloc().Dptr
	if p == 0 {
		t.Fatal("no address")
	}
	var got driver.CUDA_MEM_ALLOC_NODE_PARAMS
	must(t, tab.GraphMemAllocNodeGetParams(ctx, allocNode, &got))
	if got.Dptr != p || got.Bytesize != 4096 {
		t.Errorf("parameters %+v", got)
	}
	fp := driver.CUgraphNodeParams{Type: driver.CU_GRAPH_NODE_TYPE_MEMSET}
	*fp.Memset() = driver.CUDA_MEMSET_NODE_PARAMS_v2{Dst: p, Value: 1, ElementSize: 4, Width: 1024, Height: 1, Ctx: ctx}
	b.node(&fp)
	v := uint32(41)
	b.kernel(add, unsafe.Pointer(&p), unsafe.Pointer(&v))
	// Only graphs know the address before a launch (internal/conform/api: graph/node/alloc).
	want(t, "a fill before a launch", tab.MemsetD8_v2(ctx, p, 0, 16), bad)
	want(t, "a copy of rows before a launch", tab.Memcpy2D_v2(ctx,
		&driver.CUDA_MEMCPY2D{SrcMemoryType: driver.CU_MEMORYTYPE_DEVICE, SrcDevice: p,
			DstMemoryType: driver.CU_MEMORYTYPE_DEVICE, DstDevice: p + 64, WidthInBytes: 16, Height: 1}), bad)
	var c driver.CUgraph
	want(t, "clone", tab.GraphClone(ctx, &c, b.g), driver.CUDA_ERROR_NOT_SUPPORTED)
	want(t, "destroy the node", tab.GraphDestroyNode(ctx, allocNode), driver.CUDA_ERROR_NOT_SUPPORTED)
	x := b.instantiate(0)
	var y driver.CUgraphExec
	want(t, "second executable graph", tab.GraphInstantiateWithFlags(ctx, &y, b.g, 0), driver.CUDA_ERROR_NOT_SUPPORTED)
	b.run(x)
	const chunk = 32 << 20 // what memory is counted in (internal/conform/api: graph/node/alloc/not-freed)
	if got := read32(t, tab, ctx, p); got != 42 || attr(driver.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) != chunk {
		t.Errorf("%d, used %d", got, attr(driver.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT))
	}
	want(t, "again while allocated", tab.GraphLaunch(ctx, x, 0), bad)
	must(t, tab.MemFree_v2(ctx, p))
	want(t, "free twice", tab.MemFree_v2(ctx, p), bad)
	b.run(x)
	must(t, tab.MemFreeAsync(ctx, p, 0))
	// A free node in another graph does as well.
	var fg driver.CUgraph
	var fnode driver.CUgraphNode
	must(t, tab.GraphCreate(ctx, &fg, 0))
	must(t, tab.GraphAddMemFreeNode(ctx, &fnode, fg, nil, 0, p))
	want(t, "free of other memory", tab.GraphAddMemFreeNode(ctx, new(driver.CUgraphNode), fg, nil, 0,
		alloc(t, tab, ctx, 16)), bad)
	must(t, tab.GraphInstantiateWithFlags(ctx, &y, fg, 0))
	want(t, "free of what is not allocated", tab.GraphLaunch(ctx, y, 0), bad)
	b.run(x)
	must(t, tab.GraphLaunch(ctx, y, 0))
	// freed, and the executable graph still has it
	if used, high := attr(driver.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT),
		attr(driver.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH); used != chunk || high != chunk {
		t.Errorf("used %d high %d", used, high)
	}
	must(t, tab.GraphExecDestroy(ctx, x))
	want(t, "flags that exclude each other", tab.GraphInstantiateWithFlags(ctx, new(driver.CUgraphExec), b.g,
		uint64(driver.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH|
			driver.CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)), bad)
	// With CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH a launch frees what the one before left.
	x = b.instantiate(uint64(driver.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH))
	b.run(x)
	b.run(x)
	must(t, tab.MemFree_v2(ctx, p))
	must(t, tab.GraphExecDestroy(ctx, x))
	must(t, tab.GraphExecDestroy(ctx, y))
	must(t, tab.GraphDestroy(ctx, b.g))
	must(t, tab.GraphDestroy(ctx, fg))
	if u, r := attr(driver.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT),
		attr(driver.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT); u != 0 || r != chunk {
		t.Errorf("%d bytes used, %d reserved", u, r)
	}
	must(t, tab.DeviceGraphMemTrim(ctx, 0))
	if r := attr(driver.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT); r != 0 {
		t.Errorf("%d bytes still reserved", r)
	}
	want(t, "use after all is gone", tab.MemsetD8_v2(ctx, p, 0, 16), bad)
	zero := uint64(0)
	must(t, tab.DeviceSetGraphMemAttribute(ctx, 0, driver.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, unsafe.Pointer(&zero)))
	if h := attr(driver.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH); h != 0 {
		t.Errorf("high mark %d after reset", h)
	}
}

// Conditional nodes, steered by kernels (CUDA Programming Guide, "Conditional Graph Nodes").
func TestGraphConditional(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	m := load(t, d, ctx, graphPTX)
	add, below, set := fn(t, d, ctx, m, "add"), fn(t, d, ctx, m, "below"), fn(t, d, ctx, m, "set")
	p := alloc(t, tab, ctx, 64)
	conditional := func(b *graphMaker, typ driver.CUgraphConditionalNodeType, size uint32,
		h driver.CUgraphConditionalHandle) []*graphMaker {
		np := driver.CUgraphNodeParams{Type: driver.CU_GRAPH_NODE_TYPE_CONDITIONAL}
		*np.Conditional() = driver.CUDA_CONDITIONAL_NODE_PARAMS{Handle: h, Type: typ, Size: size, Ctx: ctx}
		b.node(&np)
		var bodies []*graphMaker
		for _, g := range unsafe.Slice(np.Conditional().PhGraph_out, size) {
			bodies = append(bodies, &graphMaker{t: t, tab: tab, ctx: ctx, g: g})
		}
		return bodies
	}
	handle := func(b *graphMaker, dflt, flags uint32) (h driver.CUgraphConditionalHandle) {
		t.Helper()
		must(t, tab.GraphConditionalHandleCreate(ctx, &h, b.g, ctx, dflt, flags))
		return h
	}
	// while (*p < 10) *p += 3: 0 3 6 9 12
	b := newGraphMaker(t, tab, ctx)
	h := handle(b, 1, 1)
	limit, step := uint32(10), uint32(3)
	body := conditional(b, driver.CU_GRAPH_COND_TYPE_WHILE, 1, h)[0]
	body.kernel(add, unsafe.Pointer(&p), unsafe.Pointer(&step))
	body.kernel(below, unsafe.Pointer(&p), unsafe.Pointer(&limit), unsafe.Pointer(&h))
	x := b.instantiate(0)
	for range 2 { // the handle begins with its default each time
		must(t, tab.MemsetD32_v2(ctx, p, 0, 1))
		b.run(x)
		if v := read32(t, tab, ctx, p); v != 12 {
			t.Errorf("while: %d", v)
		}
	}
	// if and else, and a switch that may take no branch
	for _, c := range []struct {
		typ    driver.CUgraphConditionalNodeType
		size   uint32
		value  uint32
		expect uint32
	}{
		{driver.CU_GRAPH_COND_TYPE_IF, 1, 1, 1}, {driver.CU_GRAPH_COND_TYPE_IF, 1, 0, 0},
		{driver.CU_GRAPH_COND_TYPE_IF, 2, 0, 2}, {driver.CU_GRAPH_COND_TYPE_IF, 2, 7, 1},
		{driver.CU_GRAPH_COND_TYPE_SWITCH, 3, 0, 1}, {driver.CU_GRAPH_COND_TYPE_SWITCH, 3, 2, 3},
		{driver.CU_GRAPH_COND_TYPE_SWITCH, 3, 3, 0},
	} {
		b := newGraphMaker(t, tab, ctx)
		h := handle(b, 0, 0)
		b.kernel(set, unsafe.Pointer(&h), unsafe.Pointer(&c.value))
		for i, body := range conditional(b, c.typ, c.size, h) {
			v := uint32(i + 1)
			body.kernel(add, unsafe.Pointer(&p), unsafe.Pointer(&v))
		}
		must(t, tab.MemsetD32_v2(ctx, p, 0, 1))
		b.run(b.instantiate(0))
		if v := read32(t, tab, ctx, p); v != c.expect {
			t.Errorf("%+v: %d", c, v)
		}
	}
	// An executable graph lives without the graph that it was made of (cuGraphInstantiate): its kernels still set the
	// value.
	b = newGraphMaker(t, tab, ctx)
	h = handle(b, 1, 1)
	body = conditional(b, driver.CU_GRAPH_COND_TYPE_WHILE, 1, h)[0]
	body.kernel(add, unsafe.Pointer(&p), unsafe.Pointer(&step))
	body.kernel(below, unsafe.Pointer(&p), unsafe.Pointer(&limit), unsafe.Pointer(&h))
	var clone driver.CUgraph
	// internal/conform/api: graph/node/conditional/if
	want(t, "clone", tab.GraphClone(ctx, &clone, b.g), driver.CUDA_ERROR_NOT_SUPPORTED)
	x = b.instantiate(0)
	must(t, tab.GraphDestroy(ctx, b.g))
	must(t, tab.MemsetD32_v2(ctx, p, 0, 1))
	b.run(x)
	if v := read32(t, tab, ctx, p); v != 12 {
		t.Errorf("without the graph: %d", v)
	}
	must(t, tab.GraphExecDestroy(ctx, x))
	if d.gs.conds.get(uintptr(h)) != nil {
		t.Error("the handle is there after all graphs with it")
	}
	// An update brings the other graph's handle, with its flags and default value (cuGraphExecUpdate, "Conditional
	// Nodes"); what kernels set is that handle's value.
	limit2 := uint32(20)
	loop := func(limit *uint32, dflt, flags uint32) *graphMaker {
		b := newGraphMaker(t, tab, ctx)
		h := handle(b, dflt, flags)
		body := conditional(b, driver.CU_GRAPH_COND_TYPE_WHILE, 1, h)[0]
		body.kernel(add, unsafe.Pointer(&p), unsafe.Pointer(&step))
		body.kernel(below, unsafe.Pointer(&p), unsafe.Pointer(limit), unsafe.Pointer(&h))
		return b
	}
	first := loop(&limit, 1, 1)
	x = first.instantiate(0)
	for _, u := range []struct {
		with   *graphMaker
		expect uint32
	}{{loop(&limit2, 1, 1), 21}, {loop(&limit2, 0, 1), 0}, {first, 12}, {loop(&limit2, 1, 0), 0}} {
		must(t, tab.GraphExecUpdate_v2(ctx, x, u.with.g, new(driver.CUgraphExecUpdateResultInfo)))
		if u.with != first {
			must(t, tab.GraphDestroy(ctx, u.with.g)) // the executable graph has what it needs
		}
		must(t, tab.MemsetD32_v2(ctx, p, 0, 1))
		b.run(x)
		if v := read32(t, tab, ctx, p); v != u.expect {
			t.Errorf("after an update: %d, want %d", v, u.expect)
		}
	}
	must(t, tab.GraphExecDestroy(ctx, x))
	must(t, tab.GraphDestroy(ctx, first.g))
	b = newGraphMaker(t, tab, ctx)
	other := handle(b, 1, 1)
	conditional(b, driver.CU_GRAPH_COND_TYPE_IF, 2, other)
	x = loop(&limit, 1, 1).instantiate(0)
	var info driver.CUgraphExecUpdateResultInfo
	want(t, "another kind of condition", tab.GraphExecUpdate_v2(ctx, x, b.g, &info),
		driver.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
	if info.Result != driver.CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED { // recorded: reach/conditional-update
		t.Errorf("result %d", info.Result)
	}
	must(t, tab.GraphExecDestroy(ctx, x))
	b = newGraphMaker(t, tab, ctx)
	handle(b, 0, 0)
	ip := driver.CUDA_GRAPH_INSTANTIATE_PARAMS{}
	want(t, "unused handle", tab.GraphInstantiateWithParams(ctx, &x, b.g, &ip), bad)
	if ip.Result_out != driver.CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED {
		t.Errorf("result %d", ip.Result_out)
	}
}

// Child graphs are copies; their nodes can be changed in the executable graph. Edges may carry data.
func TestChildGraph(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	m := load(t, d, ctx, graphPTX)
	add := fn(t, d, ctx, m, "add")
	p := alloc(t, tab, ctx, 64)
	inner := newGraphMaker(t, tab, ctx)
	v := uint32(1)
	inner.kernel(add, unsafe.Pointer(&p), unsafe.Pointer(&v))
	outer := newGraphMaker(t, tab, ctx)
	var child driver.CUgraphNode
	must(t, tab.GraphAddChildGraphNode(ctx, &child, outer.g, nil, 0, inner.g))
	v = 100
	inner.kernel(add, unsafe.Pointer(&p), unsafe.Pointer(&v)) // too late for the copy
	var cg driver.CUgraph
	must(t, tab.GraphChildGraphNodeGetGraph(ctx, child, &cg))
	want(t, "destroy the node's graph", tab.GraphDestroy(ctx, cg), bad)
	var n driver.CUgraphNode
	count := uint64(1)
	must(t, tab.GraphGetNodes(ctx, cg, &n, &count))
	x := outer.instantiate(0)
	must(t, tab.MemsetD32_v2(ctx, p, 0, 1))
	outer.run(x)
	var kq driver.CUDA_KERNEL_NODE_PARAMS
	must(t, tab.GraphKernelNodeGetParams_v2(ctx, n, &kq))
	v = 10
	kq.KernelParams = args(unsafe.Pointer(&p), unsafe.Pointer(&v))
	must(t, tab.GraphExecKernelNodeSetParams_v2(ctx, x, n, &kq))
	outer.run(x)
	if got := read32(t, tab, ctx, p); got != 11 {
		t.Errorf("child graph: %d, want 1 + 10", got)
	}
	// internal/conform/api: graph/child
	want(t, "child of another shape", tab.GraphExecChildGraphNodeSetParams(ctx, x, child, inner.g),
		driver.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
	// Programmatic edges between kernels.
	b := newGraphMaker(t, tab, ctx)
	k1 := b.kernel(add, unsafe.Pointer(&p), unsafe.Pointer(&v))
	b.last = nil
	k2 := b.kernel(add, unsafe.Pointer(&p), unsafe.Pointer(&v))
	edge := driver.CUgraphEdgeData{From_port: driver.CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
		Type: uint8(driver.CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)}
	must(t, tab.GraphAddDependencies_v2(ctx, b.g, &k1, &k2, &edge, 1))
	var from, to driver.CUgraphNode
	want(t, "without room for the data", tab.GraphGetEdges(ctx, b.g, &from, &to, &count), driver.CUDA_ERROR_LOSSY_QUERY)
	var data driver.CUgraphEdgeData
	must(t, tab.GraphGetEdges_v2(ctx, b.g, &from, &to, &data, &count))
	if from != k1 || to != k2 || data != edge {
		t.Errorf("edge %#x -> %#x %+v", from, to, data)
	}
	var empty driver.CUgraphNode
	must(t, tab.GraphAddEmptyNode(ctx, &empty, b.g, nil, 0))
	want(t, "to no kernel", tab.GraphAddDependencies_v2(ctx, b.g, &k1, &empty, &edge, 1), bad)
	other := edge
	other.From_port = driver.CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER
	want(t, "remove with other data", tab.GraphRemoveDependencies_v2(ctx, b.g, &k1, &k2, &other, 1), bad)
	must(t, tab.GraphRemoveDependencies_v2(ctx, b.g, &k1, &k2, nil, 1)) // internal/conform/api: graph/edges
}

// User objects live as long as the program or a graph holds them (cuUserObjectCreate).
func TestUserObjects(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	var gone atomic.Int64
	var o driver.CUuserObject
	destroy := driver.CUhostFn{Go: func(data uintptr) { gone.Add(int64(data)) }}
	want(t, "flags", tab.UserObjectCreate(ctx, &o, 1, destroy, 1, 0), bad)
	must(t, tab.UserObjectCreate(ctx, &o, 42, destroy, 2, uint32(driver.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)))
	b := newGraphMaker(t, tab, ctx)
	must(t, tab.GraphRetainUserObject(ctx, b.g, o, 1, uint32(driver.CU_GRAPH_USER_OBJECT_MOVE)))
	must(t, tab.UserObjectRelease(ctx, o, 1)) // the program has none left
	want(t, "release more than the graph has", tab.GraphReleaseUserObject(ctx, b.g, o, 2), bad)
	x := b.instantiate(0)
	must(t, tab.GraphDestroy(ctx, b.g))
	b.run(x)
	if gone.Load() != 0 {
		t.Error("destroyed while an executable graph holds it")
	}
	must(t, tab.GraphExecDestroy(ctx, x))
	if gone.Load() != 42 {
		t.Errorf("destructor: %d", gone.Load())
	}
	want(t, "a dead object", tab.UserObjectRetain(ctx, o, 1), bad)
}

// A destructor is called once, also where a program gives up more references than it has, so that graphs list some that
// are no longer there; and graphs count more references than 32 bits hold.
func TestUserObjectEndsOnce(t *testing.T) {
	const most = 1<<31 - 1
	_, tab, ctx := open(t, Options{})
	gone := 0
	destroy := driver.CUhostFn{Go: func(uintptr) { gone++ }}
	flags := uint32(driver.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
	move := uint32(driver.CU_GRAPH_USER_OBJECT_MOVE)
	var o driver.CUuserObject
	must(t, tab.UserObjectCreate(ctx, &o, 1, destroy, 1, flags))
	b := newGraphMaker(t, tab, ctx)
	must(t, tab.GraphRetainUserObject(ctx, b.g, o, 1, move))
	must(t, tab.UserObjectRelease(ctx, o, 1))
	x := b.instantiate(0)
	must(t, tab.GraphExecDestroy(ctx, x))
	must(t, tab.GraphDestroy(ctx, b.g))
	if gone != 1 {
		t.Errorf("%d calls of the destructor", gone)
	}

	b = newGraphMaker(t, tab, ctx)
	gone = 0
	must(t, tab.UserObjectCreate(ctx, &o, 1, destroy, 1, flags))
	for range 4 {
		must(t, tab.GraphRetainUserObject(ctx, b.g, o, most, 0))
	}
	for range 3 {
		must(t, tab.GraphReleaseUserObject(ctx, b.g, o, most))
	}
	must(t, tab.UserObjectRelease(ctx, o, 1))
	if gone != 0 {
		t.Error("destroyed while a graph holds it")
	}
	must(t, tab.GraphDestroy(ctx, b.g))
	if gone != 1 {
		t.Errorf("%d calls of the destructor", gone)
	}
}
