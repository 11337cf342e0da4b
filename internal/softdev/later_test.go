package softdev

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// The functions that came after CUDA 13.0: what is expected is their documentation's, no driver that has them was at
// hand.

func openLater(t *testing.T) (*Driver, *driver.Table, driver.CUcontext) {
	t.Helper()
	return open(t, Options{DriverVersion: driver.CUDA_VERSION})
}

func TestParamCounts(t *testing.T) {
	d, tab, ctx := openLater(t)
	m := load(t, d, ctx, graphPTX)
	n := ^uint64(0)
	for name, count := range map[string]uint64{"nop": 0, "add": 2} {
		f := fn(t, d, ctx, m, name)
		must(t, tab.FuncGetParamCount(ctx, f, &n))
		if n != count {
			t.Errorf("%s has %d parameters", name, n)
		}
		want(t, "one more", tab.FuncGetParamInfo(ctx, f, n, new(uint64), nil), driver.CUDA_ERROR_INVALID_VALUE)
	}
	want(t, "NULL", tab.FuncGetParamCount(ctx, fn(t, d, ctx, m, "nop"), nil), driver.CUDA_ERROR_INVALID_VALUE)
	want(t, "no function", tab.FuncGetParamCount(ctx, 0, &n), driver.CUDA_ERROR_INVALID_VALUE)
	var lib driver.CUlibrary
	var k driver.CUkernel
	text := append([]byte(graphPTX), 0)
	must(t, tab.LibraryLoadData(ctx, &lib, unsafe.Pointer(&text[0]), nil, nil, 0, nil, nil, 0))
	must(t, tab.LibraryGetKernel(ctx, &k, lib, cstr("add")))
	must(t, tab.KernelGetParamCount(ctx, k, &n))
	if n != 2 {
		t.Errorf("the kernel has %d parameters", n)
	}
	want(t, "NULL", tab.KernelGetParamCount(ctx, k, nil), driver.CUDA_ERROR_INVALID_VALUE)
}

// The numbers are those of cuGraphDebugDotPrint.
func TestGraphNumbers(t *testing.T) {
	_, tab, ctx := openLater(t)
	var g, in driver.CUgraph
	var n, child [1]driver.CUgraphNode
	must(t, tab.GraphCreate(ctx, &in, 0))
	must(t, tab.GraphAddEmptyNode(ctx, &child[0], in, nil, 0))
	must(t, tab.GraphCreate(ctx, &g, 0))
	must(t, tab.GraphAddEmptyNode(ctx, &n[0], g, nil, 0))
	must(t, tab.GraphAddChildGraphNode(ctx, &child[0], g, &n[0], 1, in))
	must(t, tab.GraphChildGraphNodeGetGraph(ctx, child[0], &in))
	count := uint64(1)
	must(t, tab.GraphGetNodes(ctx, in, &child[0], &count))
	path := filepath.Join(t.TempDir(), "g.dot")
	must(t, tab.GraphDebugDotPrint(ctx, g, cstr(path), 0))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tools := map[uint64]bool{}
	for graph, node := range map[driver.CUgraph]driver.CUgraphNode{g: n[0], in: child[0]} {
		var gid, id uint32
		var tool uint64
		var of driver.CUgraph
		must(t, tab.GraphGetId(ctx, graph, &gid))
		must(t, tab.GraphNodeGetLocalId(ctx, node, &id))
		must(t, tab.GraphNodeGetToolsId(ctx, node, &tool))
		must(t, tab.GraphNodeGetContainingGraph(ctx, node, &of))
		if name := fmt.Sprintf("graph_%d_node_%d", gid, id); !strings.Contains(string(text), name) || of != graph {
			t.Errorf("%s is not in the print, or the graph %#x is not %#x:\n%s", name, of, graph, text)
		}
		tools[tool] = true
	}
	var x driver.CUgraphExec
	var a, b uint32
	must(t, tab.GraphInstantiateWithFlags(ctx, &x, g, 0))
	must(t, tab.GraphExecGetId(ctx, x, &a))
	must(t, tab.GraphGetId(ctx, g, &b))
	if a == b || a == 0 || len(tools) != 2 {
		t.Errorf("numbers %d, %d, for tools %v", a, b, tools)
	}
	const bad = driver.CUDA_ERROR_INVALID_VALUE
	want(t, "NULL", tab.GraphGetId(ctx, g, nil), bad)
	want(t, "NULL", tab.GraphExecGetId(ctx, x, nil), bad)
	want(t, "NULL", tab.GraphNodeGetLocalId(ctx, n[0], nil), bad)
	want(t, "NULL", tab.GraphNodeGetToolsId(ctx, n[0], nil), bad)
	want(t, "NULL", tab.GraphNodeGetContainingGraph(ctx, n[0], nil), bad)
	want(t, "no graph", tab.GraphGetId(ctx, 77, &a), bad)
	want(t, "no node", tab.GraphNodeGetLocalId(ctx, 77, &a), bad)
	want(t, "no graph", tab.GraphExecGetId(ctx, 77, &a), bad)
}

// A node that is made of the parameters of another is as that one.
func TestGraphNodeGetParams(t *testing.T) {
	d, tab, ctx := openLater(t)
	add := fn(t, d, ctx, load(t, d, ctx, graphPTX), "add")
	p, v := alloc(t, tab, ctx, 64), uint32(3)
	var g driver.CUgraph
	var x driver.CUgraphExec
	must(t, tab.GraphCreate(ctx, &g, 0))
	var fill, first, second driver.CUgraphNode
	must(t, tab.GraphAddMemsetNode(ctx, &fill, g, nil, 0, &driver.CUDA_MEMSET_NODE_PARAMS{Dst: p, ElementSize: 4,
		Width: 1, Height: 1, Value: 5}, ctx))
	must(t, tab.GraphAddKernelNode_v2(ctx, &first, g, &fill, 1, &driver.CUDA_KERNEL_NODE_PARAMS{Func: add, GridDimX: 1,
		GridDimY: 1, GridDimZ: 1, BlockDimX: 1, BlockDimY: 1, BlockDimZ: 1,
		KernelParams: args(unsafe.Pointer(&p), unsafe.Pointer(&v))}))
	var q driver.CUgraphNodeParams
	must(t, tab.GraphNodeGetParams(ctx, first, &q))
	if q.Type != driver.CU_GRAPH_NODE_TYPE_KERNEL || q.Kernel().Func != add || q.Kernel().Ctx != ctx {
		t.Errorf("%+v", *q.Kernel())
	}
	must(t, tab.GraphAddNode_v3(ctx, &second, g, &first, nil, 1, &q))
	must(t, tab.GraphInstantiateWithFlags(ctx, &x, g, 0))
	must(t, tab.GraphLaunch(ctx, x, 0))
	if got := read32(t, tab, ctx, p); got != 5+3+3 {
		t.Errorf("%d", got)
	}
	must(t, tab.GraphNodeGetParams(ctx, fill, &q))
	if m := q.Memset(); q.Type != driver.CU_GRAPH_NODE_TYPE_MEMSET || m.Dst != p || m.Value != 5 || m.Ctx != ctx {
		t.Errorf("%+v", *m)
	}
	q.Memset().Value = 9
	must(t, tab.GraphNodeSetParams_v2(ctx, fill, &q))
	must(t, tab.GraphInstantiateWithFlags(ctx, &x, g, 0))
	must(t, tab.GraphLaunch(ctx, x, 0))
	if got := read32(t, tab, ctx, p); got != 9+3+3 {
		t.Errorf("%d", got)
	}
	// the later forms refuse a function of another context than the one that is named
	var other driver.CUcontext
	must(t, tab.CtxCreate_v2(0, &other, 0, 0))
	must(t, tab.GraphNodeGetParams(ctx, first, &q))
	q.Kernel().Ctx = other
	want(t, "set", tab.GraphNodeSetParams_v2(ctx, first, &q), driver.CUDA_ERROR_INVALID_CONTEXT)
	want(t, "add", tab.GraphAddNode_v3(ctx, &second, g, nil, nil, 0, &q), driver.CUDA_ERROR_INVALID_CONTEXT)
	want(t, "NULL", tab.GraphNodeGetParams(ctx, first, nil), driver.CUDA_ERROR_INVALID_VALUE)
	want(t, "no node", tab.GraphNodeGetParams(ctx, 77, &q), driver.CUDA_ERROR_INVALID_VALUE)
	for name, make := range map[string]func(*driver.CUgraphNode) driver.CUresult{
		"event": func(n *driver.CUgraphNode) driver.CUresult {
			return tab.GraphAddEventRecordNode(ctx, n, g, nil, 0, newTestEvent(t, tab, ctx))
		},
		"host": func(n *driver.CUgraphNode) driver.CUresult {
			fn, data, _ := d.hostFunc(func() {})
			return tab.GraphAddHostNode(ctx, n, g, nil, 0, &driver.CUDA_HOST_NODE_PARAMS{Fn: fn, UserData: data})
		},
		"copy": func(n *driver.CUgraphNode) driver.CUresult {
			return tab.GraphAddMemcpyNode(ctx, n, g, nil, 0, &driver.CUDA_MEMCPY3D{
				SrcMemoryType: driver.CU_MEMORYTYPE_DEVICE, SrcDevice: p, DstMemoryType: driver.CU_MEMORYTYPE_DEVICE,
				DstDevice: p + 16, WidthInBytes: 4, Height: 1, Depth: 1}, ctx)
		},
		"memory": func(n *driver.CUgraphNode) driver.CUresult {
			q := &driver.CUDA_MEM_ALLOC_NODE_PARAMS{Bytesize: 64, PoolProps: driver.CUmemPoolProps{
				AllocType: driver.CU_MEM_ALLOCATION_TYPE_PINNED,
				Location:  driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE}}}
			return tab.GraphAddMemAllocNode(ctx, n, g, nil, 0, q)
		},
	} {
		var n driver.CUgraphNode
		var kind driver.CUgraphNodeType
		must(t, make(&n))
		must(t, tab.GraphNodeGetType(ctx, n, &kind))
		must(t, tab.GraphNodeGetParams(ctx, n, &q))
		if q.Type != kind {
			t.Errorf("%s: kind %d, want %d", name, q.Type, kind)
		}
	}
}

func TestRecapture(t *testing.T) {
	lock(t)
	d, tab, ctx := openLater(t)
	m := load(t, d, ctx, graphPTX)
	add, mul := fn(t, d, ctx, m, "add"), fn(t, d, ctx, m, "mul")
	s, p := newTestStream(t, tab, ctx, 1), alloc(t, tab, ctx, 64)
	record := func(start uint8, f driver.CUfunction, v uint32, more bool) {
		t.Helper()
		must(t, tab.MemsetD8Async(ctx, p, start, 4, s))
		must(t, launch1(tab, ctx, f, s, unsafe.Pointer(&p), unsafe.Pointer(&v)))
		if more {
			must(t, tab.MemcpyDtoDAsync_v2(ctx, p+16, p, 4, s))
		}
	}
	var g, again driver.CUgraph
	must(t, tab.StreamBeginCapture_v2(ctx, s, 0))
	record(0, add, 3, true)
	must(t, tab.StreamEndCapture(ctx, s, &g))
	var nodes [3]driver.CUgraphNode
	n := uint64(3)
	must(t, tab.GraphGetNodes(ctx, g, &nodes[0], &n))
	run := func(want uint32) {
		t.Helper()
		var x driver.CUgraphExec
		must(t, tab.GraphInstantiateWithFlags(ctx, &x, g, 0))
		must(t, tab.GraphLaunch(ctx, x, s))
		must(t, tab.StreamSynchronize(ctx, s))
		if got := read32(t, tab, ctx, p+16); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	run(3)
	// The nodes get what is recorded, and stay themselves.
	must(t, tab.StreamBeginRecaptureToGraph(ctx, s, 0, g, driver.CUgraphRecaptureCallback{}, 0))
	record(1, add, 7, true)
	must(t, tab.StreamEndCapture(ctx, s, &again))
	var after [3]driver.CUgraphNode
	must(t, tab.GraphGetNodes(ctx, g, &after[0], &n))
	if again != g || after != nodes {
		t.Errorf("graph %#x is %#x, nodes %v are %v", g, again, nodes, after)
	}
	run(0x01010101 + 7)
	// The program is told of what has changed: the kernel, not the fill, not the copy.
	var told []driver.CUgraphNode
	tell := func(answer driver.CUresult) driver.CUgraphRecaptureCallback {
		told = nil
		return driver.CUgraphRecaptureCallback{Go: func(data uintptr, n driver.CUgraphNode,
			old, recorded *driver.CUgraphNodeParams, status driver.CUgraphRecaptureStatus) driver.CUresult {
			if data != 5 || old.Type != driver.CU_GRAPH_NODE_TYPE_KERNEL || old.Kernel().Func != add ||
				recorded.Kernel().Func != mul || status != driver.CU_GRAPH_RECAPTURE_ELIGIBLE_FOR_UPDATE {
				t.Errorf("data %d, %+v, %+v, status %d", data, *old.Kernel(), *recorded.Kernel(), status)
			}
			told = append(told, n)
			var kind driver.CUgraphNodeType
			if tab.GraphNodeGetType(ctx, n, &kind) != driver.CUDA_SUCCESS { // it may look at the graph
				t.Error("the graph cannot be looked at")
			}
			return answer
		}}
	}
	must(t, tab.StreamBeginRecaptureToGraph(ctx, s, 0, g, tell(driver.CUDA_SUCCESS), 5))
	record(1, mul, 2, true)
	must(t, tab.StreamEndCapture(ctx, s, nil))
	if len(told) != 1 || told[0] != nodes[1] {
		t.Errorf("told of %v, nodes %v", told, nodes)
	}
	run(0x02020202)
	const failure = driver.CUDA_ERROR_GRAPH_RECAPTURE_FAILURE
	end := func(what string, r driver.CUresult) {
		t.Helper()
		want(t, what, tab.StreamEndCapture(ctx, s, &again), r)
	}
	begin := func(f driver.CUgraphRecaptureCallback) {
		t.Helper()
		must(t, tab.StreamBeginRecaptureToGraph(ctx, s, 0, g, f, 5))
	}
	begin(driver.CUgraphRecaptureCallback{})
	record(1, mul, 2, false)
	end("less", failure)
	v := uint32(1)
	begin(driver.CUgraphRecaptureCallback{})
	want(t, "another kind", launch1(tab, ctx, mul, s, unsafe.Pointer(&p), unsafe.Pointer(&v)), failure)
	end("another kind", driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
	begin(driver.CUgraphRecaptureCallback{})
	record(1, mul, 2, true)
	want(t, "more", tab.MemsetD8Async(ctx, p, 1, 4, s), failure)
	end("more", driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
	begin(driver.CUgraphRecaptureCallback{})
	record(1, add, 2, true)
	end("restored", driver.CUDA_SUCCESS)
	begin(tell(driver.CUDA_ERROR_UNKNOWN))
	must(t, tab.MemsetD8Async(ctx, p, 1, 4, s))
	want(t, "refused", launch1(tab, ctx, mul, s, unsafe.Pointer(&p), unsafe.Pointer(&v)), failure)
	end("refused", driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
	begin(driver.CUgraphRecaptureCallback{Go: func(uintptr, driver.CUgraphNode, *driver.CUgraphNodeParams,
		*driver.CUgraphNodeParams, driver.CUgraphRecaptureStatus) driver.CUresult {
		panic("in the program's function")
	}})
	must(t, tab.MemsetD8Async(ctx, p, 1, 4, s))
	want(t, "panic", launch1(tab, ctx, mul, s, unsafe.Pointer(&p), unsafe.Pointer(&v)), failure)
	end("panic", driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
	want(t, "no graph", tab.StreamBeginRecaptureToGraph(ctx, s, 0, 77, driver.CUgraphRecaptureCallback{}, 0),
		driver.CUDA_ERROR_INVALID_VALUE)
	want(t, "legacy stream", tab.StreamBeginRecaptureToGraph(ctx, 0, 0, g, driver.CUgraphRecaptureCallback{}, 0),
		driver.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
	want(t, "C function", tab.StreamBeginRecaptureToGraph(ctx, s, 0, g, driver.CUgraphRecaptureCallback{C: 4096}, 0),
		driver.CUDA_ERROR_NOT_SUPPORTED)
}

func TestLaunchHostFuncModes(t *testing.T) {
	_, tab, ctx := openLater(t)
	s, calls := newTestStream(t, tab, ctx, 1), 0
	for _, mode := range []driver.CUhostTaskSyncMode{driver.CU_HOST_TASK_BLOCKING, driver.CU_HOST_TASK_SPINWAIT} {
		must(t, tab.LaunchHostFunc_v2(ctx, s, hostFn(func() { calls++ }), 0, uint32(mode)))
	}
	must(t, tab.StreamSynchronize(ctx, s))
	if calls != 2 {
		t.Errorf("%d calls", calls)
	}
	want(t, "mode", tab.LaunchHostFunc_v2(ctx, s, hostFn(func() {}), 0, 2), driver.CUDA_ERROR_INVALID_VALUE)
	want(t, "NULL", tab.LaunchHostFunc_v2(ctx, s, driver.CUhostFn{}, 0, 0), driver.CUDA_ERROR_INVALID_VALUE)
}

func TestMemcpyWithAttributes(t *testing.T) {
	_, tab, ctx := openLater(t)
	p := alloc(t, tab, ctx, 64)
	must(t, tab.MemsetD8_v2(ctx, p, 7, 16))
	attr := driver.CUmemcpyAttributes{SrcAccessOrder: driver.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}
	copy1 := func(s driver.CUstream, n uint64, a *driver.CUmemcpyAttributes) driver.CUresult {
		return tab.MemcpyWithAttributesAsync(ctx, p+16, p, n, a, s)
	}
	for _, s := range []driver.CUstream{0, newTestStream(t, tab, ctx, 1)} {
		must(t, tab.MemsetD8_v2(ctx, p+16, 0, 16))
		must(t, copy1(s, 4, &attr))
		must(t, tab.CtxSynchronize(ctx))
		if got := read32(t, tab, ctx, p+16); got != 0x07070707 {
			t.Errorf("%#x", got)
		}
	}
	const bad = driver.CUDA_ERROR_INVALID_VALUE
	want(t, "no attributes", copy1(0, 4, nil), bad)
	want(t, "no order", copy1(0, 4, &driver.CUmemcpyAttributes{}), bad)
	want(t, "past the end", copy1(0, 1<<40, &attr), bad)
	op := driver.CUDA_MEMCPY3D_BATCH_OP{SrcAccessOrder: driver.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
		Extent: driver.CUextent3D{Width: 4, Height: 2, Depth: 1}}
	op.Src.Type, op.Dst.Type = driver.CU_MEMCPY_OPERAND_TYPE_POINTER, driver.CU_MEMCPY_OPERAND_TYPE_POINTER
	*op.Src.Op.Ptr() = driver.CUmemcpy3DOperand_op_ptr{Ptr: p, RowLength: 4}
	*op.Dst.Op.Ptr() = driver.CUmemcpy3DOperand_op_ptr{Ptr: p + 32, RowLength: 8}
	must(t, tab.Memcpy3DWithAttributesAsync(ctx, &op, 0, 0))
	must(t, tab.CtxSynchronize(ctx))
	if a, b := read32(t, tab, ctx, p+32), read32(t, tab, ctx, p+40); a != 0x07070707 || b != a {
		t.Errorf("%#x %#x", a, b)
	}
	want(t, "flags", tab.Memcpy3DWithAttributesAsync(ctx, &op, 1, 0), bad)
	want(t, "NULL", tab.Memcpy3DWithAttributesAsync(ctx, nil, 0, 0), bad)
}

func TestStreamResource(t *testing.T) {
	_, tab, ctx := openLater(t)
	var of, whole driver.CUdevResource
	must(t, tab.DeviceGetDevResource(ctx, 0, &whole, driver.CU_DEV_RESOURCE_TYPE_SM))
	s := newTestStream(t, tab, ctx, 1)
	must(t, tab.StreamGetDevResource(ctx, s, &of, driver.CU_DEV_RESOURCE_TYPE_SM))
	if smOf(&of).SmCount != smOf(&whole).SmCount {
		t.Errorf("%d multiprocessors of %d", smOf(&of).SmCount, smOf(&whole).SmCount)
	}
	// groups, the last of which gets what is left together
	params := [3]driver.CU_DEV_SM_RESOURCE_GROUP_PARAMS{{SmCount: 16, CoscheduledSmCount: 8}, {SmCount: 6,
		Flags: uint32(driver.CU_DEV_SM_RESOURCE_GROUP_BACKFILL)}, {CoscheduledSmCount: 2}}
	var groups [3]driver.CUdevResource
	var rest driver.CUdevResource
	dry := params
	must(t, tab.DevSmResourceSplit(ctx, nil, 3, &whole, nil, 0, &dry[0]))
	must(t, tab.DevSmResourceSplit(ctx, &groups[0], 3, &whole, &rest, 0, &params[0]))
	sum := smOf(&rest).SmCount
	for i := range groups {
		sum += smOf(&groups[i]).SmCount
		if smOf(&groups[i]).SmCount != params[i].SmCount || dry[i] != params[i] || params[i].SmCount == 0 {
			t.Errorf("group %d: %+v, %+v, %+v", i, *smOf(&groups[i]), params[i], dry[i])
		}
	}
	if smOf(&groups[0]).SmCount != 16 || smOf(&groups[1]).SmCount != 6 || sum != smOf(&whole).SmCount {
		t.Errorf("%d multiprocessors of %d", sum, smOf(&whole).SmCount)
	}
	// work in a green context of a group: the stream has the group's
	var desc driver.CUdevResourceDesc
	var green driver.CUgreenCtx
	must(t, tab.DevResourceGenerateDesc(ctx, &desc, &groups[0], 1))
	must(t, tab.GreenCtxCreate(ctx, &green, desc, 0, uint32(driver.CU_GREEN_CTX_DEFAULT_STREAM)))
	must(t, tab.GreenCtxStreamCreate(ctx, &s, green, uint32(driver.CU_STREAM_NON_BLOCKING), 0))
	must(t, tab.StreamGetDevResource(ctx, s, &of, driver.CU_DEV_RESOURCE_TYPE_SM))
	if smOf(&of).SmCount != 16 {
		t.Errorf("%d multiprocessors", smOf(&of).SmCount)
	}
	must(t, tab.StreamDestroy_v2(ctx, s))
	must(t, tab.GreenCtxDestroy(ctx, green))
	const config = driver.CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
	for what, c := range map[string]struct {
		p    driver.CU_DEV_SM_RESOURCE_GROUP_PARAMS
		want driver.CUresult
	}{
		"too many":         {driver.CU_DEV_SM_RESOURCE_GROUP_PARAMS{SmCount: 1 << 31}, config},
		"not a multiple":   {driver.CU_DEV_SM_RESOURCE_GROUP_PARAMS{SmCount: 12, CoscheduledSmCount: 8}, config},
		"odd":              {driver.CU_DEV_SM_RESOURCE_GROUP_PARAMS{SmCount: 9, CoscheduledSmCount: 3}, config},
		"too many at once": {driver.CU_DEV_SM_RESOURCE_GROUP_PARAMS{CoscheduledSmCount: 1 << 30}, config},
		"flags": {driver.CU_DEV_SM_RESOURCE_GROUP_PARAMS{SmCount: 8, Flags: 8},
			driver.CUDA_ERROR_INVALID_VALUE},
		"reserved": {driver.CU_DEV_SM_RESOURCE_GROUP_PARAMS{SmCount: 8, Reserved: [11]uint32{1}},
			driver.CUDA_ERROR_INVALID_VALUE},
		"domain": {driver.CU_DEV_SM_RESOURCE_GROUP_PARAMS{SmCount: 8, LocalityDomainId: 3,
			Flags: uint32(driver.CU_DEV_SM_RESOURCE_GROUP_LOCALITY_DOMAIN_ID)}, driver.CUDA_ERROR_INVALID_VALUE},
	} {
		want(t, what, tab.DevSmResourceSplit(ctx, nil, 1, &whole, nil, 0, &c.p), c.want)
	}
	want(t, "none", tab.DevSmResourceSplit(ctx, nil, 0, &whole, nil, 0, &params[0]), driver.CUDA_ERROR_INVALID_VALUE)
	want(t, "NULL", tab.StreamGetDevResource(ctx, 0, nil, driver.CU_DEV_RESOURCE_TYPE_SM),
		driver.CUDA_ERROR_INVALID_VALUE)
	want(t, "type", tab.StreamGetDevResource(ctx, 0, &of, driver.CU_DEV_RESOURCE_TYPE_WORKQUEUE),
		driver.CUDA_ERROR_INVALID_RESOURCE_TYPE)
	want(t, "no stream", tab.StreamGetDevResource(ctx, 77, &of, driver.CU_DEV_RESOURCE_TYPE_SM),
		driver.CUDA_ERROR_INVALID_HANDLE)
}

func TestLocationInfo(t *testing.T) {
	_, tab, ctx := openLater(t)
	host := driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST}
	device := driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE}
	const unit = mem.Granule
	var p driver.CUdeviceptr
	must(t, tab.MemAllocManaged(ctx, &p, 8*unit, uint32(driver.CU_MEM_ATTACH_GLOBAL)))
	must(t, tab.MemPrefetchAsync_v2(ctx, p+unit, 2*unit, device, 0, 0)) // 1 and 2 of 8
	must(t, tab.MemPrefetchAsync_v2(ctx, p+4*unit, unit, device, 0, 0)) // 4
	must(t, tab.CtxSynchronize(ctx))
	var out [8]driver.CUmemLocation
	for _, c := range []struct {
		n, part, every uint64
		want           []driver.CUmemLocation
	}{
		{8 * unit, unit, 0, []driver.CUmemLocation{host, device, device, host, device, host, host, host}},
		{8 * unit, 3 * unit, unit, []driver.CUmemLocation{device, host, host}},
		{5 * unit, 2 * unit, 2 * unit, []driver.CUmemLocation{host, device, device}}, // every second place is looked at
		{8 * unit, 8 * unit, 1, []driver.CUmemLocation{host}},
	} {
		out = [8]driver.CUmemLocation{}
		must(t, tab.MemGetLocationInfo(ctx, p, c.n, c.part, c.every, &out[0]))
		for i := range out {
			if i < len(c.want) && out[i] != c.want[i] || i >= len(c.want) && out[i] != (driver.CUmemLocation{}) {
				t.Errorf("%+v: %d is %+v", c, i, out[i])
			}
		}
	}
	q := alloc(t, tab, ctx, 1<<20)
	must(t, tab.MemGetLocationInfo(ctx, q, 1<<20, 1<<19, 0, &out[0]))
	if out[0] != device || out[1] != device {
		t.Errorf("device memory is at %+v", out[:2])
	}
	const bad = driver.CUDA_ERROR_INVALID_VALUE
	for what, r := range map[string]driver.CUresult{
		"NULL":      tab.MemGetLocationInfo(ctx, p, unit, unit, 0, nil),
		"no bytes":  tab.MemGetLocationInfo(ctx, p, 0, 1, 0, &out[0]),
		"no part":   tab.MemGetLocationInfo(ctx, p, unit, 0, 0, &out[0]),
		"part":      tab.MemGetLocationInfo(ctx, p, unit, 2*unit, 0, &out[0]),
		"sampling":  tab.MemGetLocationInfo(ctx, p, unit, unit, unit+1, &out[0]),
		"beyond":    tab.MemGetLocationInfo(ctx, p, 9*unit, unit, 0, &out[0]),
		"no memory": tab.MemGetLocationInfo(ctx, 77, 1, 1, 0, &out[0]),
	} {
		want(t, what, r, bad)
	}
}

func TestCoredumpCallbacks(t *testing.T) {
	d, tab, ctx := openLater(t)
	fn := driver.CUcoredumpStatusCallback{Go: func(uintptr, int32, driver.CUdevice) {}}
	const bad = driver.CUDA_ERROR_INVALID_VALUE
	var a, b driver.CUcoredumpCallbackHandle
	must(t, tab.CoredumpRegisterStartCallback(ctx, fn, 1, &a))
	must(t, tab.CoredumpRegisterCompleteCallback(ctx, fn, 1, &b))
	want(t, "NULL", tab.CoredumpRegisterStartCallback(ctx, driver.CUcoredumpStatusCallback{}, 1, &a), bad)
	want(t, "NULL", tab.CoredumpRegisterCompleteCallback(ctx, fn, 1, nil), bad)
	want(t, "of the other kind", tab.CoredumpDeregisterStartCallback(ctx, b), bad)
	must(t, tab.CoredumpDeregisterStartCallback(ctx, a))
	want(t, "again", tab.CoredumpDeregisterStartCallback(ctx, a), bad)
	must(t, tab.CoredumpDeregisterCompleteCallback(ctx, b))
	// A fault: the beginning is told before there is a file, the end when it is there.
	dir := t.TempDir()
	name, on, size := append([]byte(filepath.Join(dir, "core")), 0), byte(1), uint64(1)
	length := uint64(len(name))
	must(t, tab.CoredumpSetAttribute(ctx, driver.CU_COREDUMP_FILE, unsafe.Pointer(&name[0]), &length))
	must(t, tab.CoredumpSetAttribute(ctx, driver.CU_COREDUMP_ENABLE_ON_EXCEPTION, unsafe.Pointer(&on), &size))
	var told []string
	tell := func(what string) driver.CUcoredumpStatusCallback {
		return driver.CUcoredumpStatusCallback{Go: func(data uintptr, pid int32, dev driver.CUdevice) {
			files, err := os.ReadDir(dir)
			told = append(told, fmt.Sprint(what, data, int(pid) == os.Getpid(), dev, len(files) > 0, err))
		}}
	}
	must(t, tab.CoredumpRegisterStartCallback(ctx, tell("start"), 3, &a))
	must(t, tab.CoredumpRegisterCompleteCallback(ctx, tell("end"), 4, &b))
	breakKernel(t, d, ctx)
	if got := strings.Join(told, ";"); got != "start3 true 0 false <nil>;end4 true 0 true <nil>" {
		t.Errorf("told %q", got)
	}
}
