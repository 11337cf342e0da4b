"""Graphs: every kind of node, edges, instantiation, updates, conditions."""
import pytest

import kernels
from driver_calls import *
from test_streams import HOST_FN, host_fn

N = drv.CUgraphNodeType
u32 = ctypes.c_uint


def kernel_params(f, grid, block, values, types, shared=0):
    p = drv.CUDA_KERNEL_NODE_PARAMS()
    p.func = f
    g, b = [tuple(x) + (1,) * (3 - len(x)) for x in (grid, block)]
    p.gridDimX, p.gridDimY, p.gridDimZ = g
    p.blockDimX, p.blockDimY, p.blockDimZ = b
    p.sharedMemBytes = shared
    p.kernelParams = parameters(values, types) if values else 0
    p.ctx, p.kern = None, None
    return p


def memset_params(dst, value, width, height=1, size=4, pitch=0):
    p = drv.CUDA_MEMSET_NODE_PARAMS()
    p.dst, p.value, p.elementSize, p.width, p.height, p.pitch = dst, value, size, width, height, pitch
    return p


def copy_params(dst, src, n):
    """Device to device when dst is a CUdeviceptr, else to the host array dst."""
    c = drv.CUDA_MEMCPY3D()
    T = drv.CUmemorytype
    c.srcMemoryType, c.srcDevice, c.srcPitch, c.srcHeight = T.CU_MEMORYTYPE_DEVICE, src, n, 1
    if isinstance(dst, np.ndarray):
        c.dstMemoryType, c.dstHost = T.CU_MEMORYTYPE_HOST, dst.ctypes.data
    else:
        c.dstMemoryType, c.dstDevice = T.CU_MEMORYTYPE_DEVICE, dst
    c.dstPitch, c.dstHeight = n, 1
    c.WidthInBytes, c.Height, c.Depth = n, 1, 1
    return c


def run(graph, times=1, stream=0):
    x = ok(drv.cuGraphInstantiate(graph, 0))
    for _ in range(times):
        ok(drv.cuGraphLaunch(x, stream))
    ok(drv.cuCtxSynchronize())
    ok(drv.cuGraphExecDestroy(x))


def kind(node):
    return ok(drv.cuGraphNodeGetType(node))


@pytest.fixture
def cell(ctx):
    """64 device words, all 0."""
    d = put(np.zeros(64, np.uint32))
    yield d
    ok(drv.cuCtxSynchronize())
    ok(drv.cuMemFree(d))


# -- the kinds of nodes ---------------------------------------------------------------------------

def test_empty_graph(graph):
    assert nodes(graph) == [] and edges(graph) == []
    run(graph)


def test_flags(ctx):
    assert code(drv.cuGraphCreate(1)) == "INVALID_VALUE"


def test_empty_node(graph):
    n = ok(drv.cuGraphAddEmptyNode(graph, None, 0))
    assert kind(n) == N.CU_GRAPH_NODE_TYPE_EMPTY
    run(graph)


def test_kernel_node(graph, basic, cell):
    n = ok(drv.cuGraphAddKernelNode(graph, None, 0, kernel_params(function(basic, "fill"), (1,), (64,), (cell, 3, 40), (None, u32, u32))))
    assert kind(n) == N.CU_GRAPH_NODE_TYPE_KERNEL
    p = ok(drv.cuGraphKernelNodeGetParams(n))
    assert int(p.func) == int(function(basic, "fill")) and p.blockDimX == 64 and p.gridDimX == 1
    run(graph)
    assert get(cell, 64, np.uint32).sum() == 120


def test_kernel_node_params_are_copied(graph, basic, cell):
    value = ctypes.c_uint(3)
    args = [ctypes.c_ulonglong(int(cell)), value, ctypes.c_uint(64)]
    pointers = np.array([ctypes.addressof(a) for a in args], np.uint64)
    p = kernel_params(function(basic, "fill"), (1,), (64,), (), ())
    p.kernelParams = pointers.ctypes.data
    ok(drv.cuGraphAddKernelNode(graph, None, 0, p))
    value.value = 4
    run(graph)
    assert (get(cell, 64, np.uint32) == 3).all()


def test_memset_node(graph, cell):
    c = ok(drv.cuCtxGetCurrent())
    n = ok(drv.cuGraphAddMemsetNode(graph, None, 0, memset_params(cell, 0xAB, 64), c))
    assert kind(n) == N.CU_GRAPH_NODE_TYPE_MEMSET
    got = ok(drv.cuGraphMemsetNodeGetParams(n))
    assert (int(got.dst), got.value, got.elementSize, got.width, got.height) == (int(cell), 0xAB, 4, 64, 1)
    ok(drv.cuGraphMemsetNodeSetParams(n, memset_params(cell, 0xCD, 32)))
    run(graph)
    assert get(cell, 64, np.uint32).tolist() == [0xCD] * 32 + [0] * 32


def test_memcpy_node(graph, ctx, cell):
    src = put(np.arange(64, dtype=np.uint32))
    n = ok(drv.cuGraphAddMemcpyNode(graph, None, 0, copy_params(cell, src, 256), ctx))
    assert kind(n) == N.CU_GRAPH_NODE_TYPE_MEMCPY
    got = ok(drv.cuGraphMemcpyNodeGetParams(n))
    assert int(got.srcDevice) == int(src) and got.WidthInBytes == 256
    ok(drv.cuGraphMemcpyNodeSetParams(n, copy_params(cell, src, 128)))
    run(graph)
    assert get(cell, 64, np.uint32).tolist() == list(range(32)) + [0] * 32
    ok(drv.cuMemFree(src))


def test_host_node(graph):
    got = []
    fn = HOST_FN(lambda p: got.append(p))
    p = drv.CUDA_HOST_NODE_PARAMS()
    p.fn, p.userData = host_fn(fn), 99
    n = ok(drv.cuGraphAddHostNode(graph, None, 0, p))
    assert kind(n) == N.CU_GRAPH_NODE_TYPE_HOST
    run(graph, times=2)
    assert got == [99, 99]


def test_host_node_changed(graph):
    got = []
    fn = HOST_FN(lambda p: got.append(p))
    p = drv.CUDA_HOST_NODE_PARAMS()
    p.fn, p.userData = host_fn(fn), 1
    n = ok(drv.cuGraphAddHostNode(graph, None, 0, p))
    p.userData = 2
    ok(drv.cuGraphHostNodeSetParams(n, p))
    run(graph)
    assert got == [2]


def test_child_graph_node(graph, ctx, cell):
    sub = ok(drv.cuGraphCreate(0))
    ok(drv.cuGraphAddMemsetNode(sub, None, 0, memset_params(cell, 5, 64), ctx))
    n = ok(drv.cuGraphAddChildGraphNode(graph, None, 0, sub))
    ok(drv.cuGraphDestroy(sub))  # the node has a copy
    assert kind(n) == N.CU_GRAPH_NODE_TYPE_GRAPH
    inner = ok(drv.cuGraphChildGraphNodeGetGraph(n))
    assert len(nodes(inner)) == 1
    run(graph)
    assert (get(cell, 64, np.uint32) == 5).all()


def test_event_nodes(graph, ctx, cell):
    e, e2 = (ok(drv.cuEventCreate(0)) for _ in range(2))
    a = ok(drv.cuGraphAddEventRecordNode(graph, None, 0, e))
    b = ok(drv.cuGraphAddEventWaitNode(graph, [a], 1, e))
    ok(drv.cuGraphAddMemsetNode(graph, [b], 1, memset_params(cell, 1, 64), ctx))
    assert (kind(a), kind(b)) == (N.CU_GRAPH_NODE_TYPE_EVENT_RECORD, N.CU_GRAPH_NODE_TYPE_WAIT_EVENT)
    assert int(ok(drv.cuGraphEventRecordNodeGetEvent(a))) == int(e) == int(ok(drv.cuGraphEventWaitNodeGetEvent(b)))
    ok(drv.cuGraphEventRecordNodeSetEvent(a, e2))
    ok(drv.cuGraphEventWaitNodeSetEvent(b, e2))
    run(graph)
    ok(drv.cuEventQuery(e2))
    assert (get(cell, 64, np.uint32) == 1).all()
    [ok(drv.cuEventDestroy(x)) for x in (e, e2)]


def test_memory_nodes(graph, ctx, basic):
    p = drv.CUDA_MEM_ALLOC_NODE_PARAMS()
    p.poolProps.allocType = drv.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    p.poolProps.location.type = drv.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    p.poolProps.location.id = 0
    p.bytesize = 4096
    a = ok(drv.cuGraphAddMemAllocNode(graph, None, 0, p))
    d = p.dptr
    assert int(d) and kind(a) == N.CU_GRAPH_NODE_TYPE_MEM_ALLOC
    k = ok(drv.cuGraphAddKernelNode(graph, [a], 1, kernel_params(function(basic, "fill"), (4,), (256,), (d, 17, 1024), (None, u32, u32))))
    out = np.zeros(1024, np.uint32)
    c = ok(drv.cuGraphAddMemcpyNode(graph, [k], 1, copy_params(out, d, 4096), ctx))
    f = ok(drv.cuGraphAddMemFreeNode(graph, [c], 1, d))
    assert kind(f) == N.CU_GRAPH_NODE_TYPE_MEM_FREE
    assert int(ok(drv.cuGraphMemFreeNodeGetParams(f))) == int(d)
    assert ok(drv.cuGraphMemAllocNodeGetParams(a)).bytesize == 4096
    run(graph, times=2)
    assert (out == 17).all()


def test_memory_of_graphs_by_device(ctx, dev):
    ok(drv.cuDeviceGraphMemTrim(dev))
    G = drv.CUgraphMem_attribute
    assert int(ok(drv.cuDeviceGetGraphMemAttribute(dev, G.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT))) == 0


def test_memory_op_node(graph, ctx, cell):
    op = drv.CUstreamBatchMemOpParams()
    op.writeValue.operation = drv.CUstreamBatchMemOpType.CU_STREAM_MEM_OP_WRITE_VALUE_32
    op.writeValue.address = cell
    op.writeValue.value = drv.cuuint32_t(321)
    p = drv.CUDA_BATCH_MEM_OP_NODE_PARAMS()
    p.ctx, p.count, p.paramArray, p.flags = ctx, 1, [op], 0
    n = ok(drv.cuGraphAddBatchMemOpNode(graph, None, 0, p))
    assert kind(n) == N.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP
    run(graph)
    assert get(cell, 1, np.uint32)[0] == 321


# -- shape ----------------------------------------------------------------------------------------

def test_edges(graph):
    a, b, c = (ok(drv.cuGraphAddEmptyNode(graph, None, 0)) for _ in range(3))
    add_dependencies(graph, [a, b], [b, c])
    assert edges(graph) == [(int(a), int(b)), (int(b), int(c))]
    assert dependencies(c) == [int(b)] and dependents(a) == [int(b)]
    assert [int(x) for x in ok(drv.cuGraphGetRootNodes(graph, 1))[0]] == [int(a)]
    remove_dependencies(graph, [a], [b])
    assert edges(graph) == [(int(b), int(c))]
    assert ok(drv.cuGraphGetRootNodes(graph))[-1] == 2


def test_cycle(graph):
    a, b = (ok(drv.cuGraphAddEmptyNode(graph, None, 0)) for _ in range(2))
    add_dependencies(graph, [a], [b])
    try:
        add_dependencies(graph, [b], [a])
    except AssertionError as e:
        assert "INVALID_VALUE" in str(e)
    else:
        assert code(drv.cuGraphInstantiate(graph, 0)) == "INVALID_VALUE"
        remove_dependencies(graph, [b], [a])


def test_destroy_node(graph):
    a, b = (ok(drv.cuGraphAddEmptyNode(graph, None, 0)) for _ in range(2))
    add_dependencies(graph, [a], [b])
    ok(drv.cuGraphDestroyNode(a))
    assert [int(n) for n in nodes(graph)] == [int(b)] and edges(graph) == []


def test_order_is_kept(graph, ctx, basic, cell):
    f = function(basic, "add_one")
    a = ok(drv.cuGraphAddMemsetNode(graph, None, 0, memset_params(cell, 100, 1), ctx))
    b = ok(drv.cuGraphAddKernelNode(graph, [a], 1, kernel_params(f, (1,), (10,), (cell,), (None,))))
    ok(drv.cuGraphAddMemcpyNode(graph, [b], 1, copy_params(drv.CUdeviceptr(int(cell) + 4), cell, 4), ctx))
    run(graph, times=3)
    assert get(cell, 2, np.uint32).tolist() == [110, 110]


def test_clone(graph, ctx, cell):
    a = ok(drv.cuGraphAddMemsetNode(graph, None, 0, memset_params(cell, 8, 64), ctx))
    c = ok(drv.cuGraphClone(graph))
    b = ok(drv.cuGraphNodeFindInClone(a, c))
    assert int(a) != int(b) and kind(b) == N.CU_GRAPH_NODE_TYPE_MEMSET
    ok(drv.cuGraphMemsetNodeSetParams(b, memset_params(cell, 9, 64)))
    assert ok(drv.cuGraphMemsetNodeGetParams(a)).value == 8
    run(c)
    assert (get(cell, 64, np.uint32) == 9).all()
    ok(drv.cuGraphDestroy(c))


def test_dot(graph, ctx, cell, tmp_path):
    a = ok(drv.cuGraphAddMemsetNode(graph, None, 0, memset_params(cell, 8, 64), ctx))
    ok(drv.cuGraphAddEmptyNode(graph, [a], 1))
    p = tmp_path / "graph.dot"
    ok(drv.cuGraphDebugDotPrint(graph, str(p).encode(), 0))
    text = p.read_text()
    assert text.startswith("digraph") and "->" in text and text.rstrip().endswith("}")


def test_user_object(ctx, graph):
    freed = []
    fn = HOST_FN(lambda p: freed.append(p))
    o = ok(drv.cuUserObjectCreate(55, host_fn(fn), 1, drv.CUuserObject_flags.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC))
    g = ok(drv.cuGraphCreate(0))
    ok(drv.cuGraphRetainUserObject(g, o, 1, drv.CUuserObjectRetain_flags.CU_GRAPH_USER_OBJECT_MOVE))
    ok(drv.cuGraphDestroy(g))
    import time
    for _ in range(200):
        if freed:
            break
        time.sleep(0.01)
    assert freed == [55]


# -- instances ------------------------------------------------------------------------------------

def test_instantiate_flags(graph):
    # an H200's driver tells CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH (1) and keeps USE_NODE_PRIORITY (8) for itself
    x = ok(drv.cuGraphInstantiate(graph, 9))
    assert int(ok(drv.cuGraphExecGetFlags(x))) == 1
    assert code(drv.cuGraphInstantiate(graph, 2)) == "INVALID_VALUE"
    ok(drv.cuGraphExecDestroy(x))


def test_instantiate_with_params(graph, stream, ctx, cell):
    ok(drv.cuGraphAddMemsetNode(graph, None, 0, memset_params(cell, 8, 64), ctx))
    p = drv.CUDA_GRAPH_INSTANTIATE_PARAMS()
    p.flags = drv.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD
    p.hUploadStream = stream
    x = ok(drv.cuGraphInstantiateWithParams(graph, p))
    assert p.result_out == drv.CUgraphInstantiateResult.CUDA_GRAPH_INSTANTIATE_SUCCESS
    ok(drv.cuGraphLaunch(x, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert (get(cell, 64, np.uint32) == 8).all()
    ok(drv.cuGraphExecDestroy(x))


def test_instance_outlives_its_graph(ctx, stream, cell):
    g = ok(drv.cuGraphCreate(0))
    ok(drv.cuGraphAddMemsetNode(g, None, 0, memset_params(cell, 8, 64), ctx))
    x = ok(drv.cuGraphInstantiate(g, 0))
    ok(drv.cuGraphDestroy(g))
    ok(drv.cuGraphUpload(x, stream))
    ok(drv.cuGraphLaunch(x, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert (get(cell, 64, np.uint32) == 8).all()
    ok(drv.cuGraphExecDestroy(x))


def test_instance_kernel_changed(graph, basic, cell):
    n = ok(drv.cuGraphAddKernelNode(graph, None, 0, kernel_params(function(basic, "fill"), (1,), (64,), (cell, 1, 64), (None, u32, u32))))
    x = ok(drv.cuGraphInstantiate(graph, 0))
    ok(drv.cuGraphExecKernelNodeSetParams(x, n, kernel_params(function(basic, "fill"), (1,), (64,), (cell, 2, 32), (None, u32, u32))))
    ok(drv.cuGraphLaunch(x, 0))
    ok(drv.cuCtxSynchronize())
    assert get(cell, 64, np.uint32).tolist() == [2] * 32 + [0] * 32
    ok(drv.cuGraphExecDestroy(x))


def test_instance_memset_and_memcpy_changed(graph, ctx, cell):
    a = ok(drv.cuGraphAddMemsetNode(graph, None, 0, memset_params(cell, 1, 16), ctx))
    b = ok(drv.cuGraphAddMemcpyNode(graph, [a], 1, copy_params(drv.CUdeviceptr(int(cell) + 64), cell, 64), ctx))
    x = ok(drv.cuGraphInstantiate(graph, 0))
    ok(drv.cuGraphExecMemsetNodeSetParams(x, a, memset_params(cell, 7, 16), ctx))
    ok(drv.cuGraphExecMemcpyNodeSetParams(x, b, copy_params(drv.CUdeviceptr(int(cell) + 128), cell, 64), ctx))
    ok(drv.cuGraphLaunch(x, 0))
    ok(drv.cuCtxSynchronize())
    assert get(cell, 64, np.uint32).tolist() == [7] * 16 + [0] * 16 + [7] * 16 + [0] * 16
    ok(drv.cuGraphExecDestroy(x))


def test_instance_host_event_and_child_changed(graph, ctx, cell):
    got = []
    fn = HOST_FN(lambda p: got.append(p))
    p = drv.CUDA_HOST_NODE_PARAMS()
    p.fn, p.userData = host_fn(fn), 1
    h = ok(drv.cuGraphAddHostNode(graph, None, 0, p))
    e, e2 = (ok(drv.cuEventCreate(0)) for _ in range(2))
    r = ok(drv.cuGraphAddEventRecordNode(graph, None, 0, e))
    w = ok(drv.cuGraphAddEventWaitNode(graph, None, 0, e))
    subs = [ok(drv.cuGraphCreate(0)) for _ in range(2)]
    for value, s in enumerate(subs, 5):
        ok(drv.cuGraphAddMemsetNode(s, None, 0, memset_params(cell, value, 64), ctx))
    c = ok(drv.cuGraphAddChildGraphNode(graph, None, 0, subs[0]))
    x = ok(drv.cuGraphInstantiate(graph, 0))
    p.userData = 2
    ok(drv.cuGraphExecHostNodeSetParams(x, h, p))
    ok(drv.cuGraphExecEventRecordNodeSetEvent(x, r, e2))
    ok(drv.cuGraphExecEventWaitNodeSetEvent(x, w, e2))
    ok(drv.cuGraphExecChildGraphNodeSetParams(x, c, subs[1]))
    ok(drv.cuGraphLaunch(x, 0))
    ok(drv.cuCtxSynchronize())
    assert got == [2] and (get(cell, 64, np.uint32) == 6).all()
    ok(drv.cuGraphExecDestroy(x))
    [ok(drv.cuEventDestroy(v)) for v in (e, e2)]
    [ok(drv.cuGraphDestroy(s)) for s in subs]


def test_nodes_disabled(graph, ctx, cell):
    a = ok(drv.cuGraphAddMemsetNode(graph, None, 0, memset_params(cell, 1, 32), ctx))
    b = ok(drv.cuGraphAddMemsetNode(graph, [a], 1, memset_params(drv.CUdeviceptr(int(cell) + 128), 2, 32), ctx))
    x = ok(drv.cuGraphInstantiate(graph, 0))
    assert ok(drv.cuGraphNodeGetEnabled(x, a)) == 1
    ok(drv.cuGraphNodeSetEnabled(x, a, 0))
    assert ok(drv.cuGraphNodeGetEnabled(x, a)) == 0
    ok(drv.cuGraphLaunch(x, 0))
    ok(drv.cuCtxSynchronize())
    assert get(cell, 64, np.uint32).tolist() == [0] * 32 + [2] * 32
    ok(drv.cuGraphExecDestroy(x))


def test_whole_graph_update(ctx, cell):
    gs = []
    for value in (1, 2):
        g = ok(drv.cuGraphCreate(0))
        ok(drv.cuGraphAddMemsetNode(g, None, 0, memset_params(cell, value, 64), ctx))
        gs.append(g)
    x = ok(drv.cuGraphInstantiate(gs[0], 0))
    info = ok(drv.cuGraphExecUpdate(x, gs[1]))
    assert info.result == drv.CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_SUCCESS
    ok(drv.cuGraphLaunch(x, 0))
    ok(drv.cuCtxSynchronize())
    assert (get(cell, 64, np.uint32) == 2).all()
    ok(drv.cuGraphExecDestroy(x))
    [ok(drv.cuGraphDestroy(g)) for g in gs]


def test_whole_graph_update_of_another_shape(ctx, graph):
    ok(drv.cuGraphAddEmptyNode(graph, None, 0))
    x = ok(drv.cuGraphInstantiate(graph, 0))
    ok(drv.cuGraphAddEmptyNode(graph, None, 0))
    assert code(drv.cuGraphExecUpdate(x, graph)) == "GRAPH_EXEC_UPDATE_FAILURE"
    ok(drv.cuGraphExecDestroy(x))


def test_kernel_node_attributes(graph, basic):
    A = drv.CUkernelNodeAttrID
    p = kernel_params(function(basic, "empty"), (1,), (1,), (), ())
    a, b = (ok(drv.cuGraphAddKernelNode(graph, None, 0, p)) for _ in range(2))
    v = drv.CUkernelNodeAttrValue()
    v.priority = ok(drv.cuCtxGetStreamPriorityRange())[1]
    ok(drv.cuGraphKernelNodeSetAttribute(a, A.CU_LAUNCH_ATTRIBUTE_PRIORITY, v))
    ok(drv.cuGraphKernelNodeCopyAttributes(b, a))
    assert ok(drv.cuGraphKernelNodeGetAttribute(b, A.CU_LAUNCH_ATTRIBUTE_PRIORITY)).priority == v.priority
    run(graph)


# -- the general way ------------------------------------------------------------------------------

def test_general_kernel_node(graph, basic, cell):
    p = drv.CUgraphNodeParams()
    p.type = N.CU_GRAPH_NODE_TYPE_KERNEL
    p.kernel.func = function(basic, "add_one")
    p.kernel.gridDimX = p.kernel.gridDimY = p.kernel.gridDimZ = p.kernel.blockDimY = p.kernel.blockDimZ = 1
    p.kernel.blockDimX = 20
    p.kernel.kernelParams = parameters((cell,), (None,))
    n = ok(add_node(graph, [], p))
    assert kind(n) == N.CU_GRAPH_NODE_TYPE_KERNEL
    run(graph)
    assert get(cell, 1, np.uint32)[0] == 20
    p.kernel.blockDimX = 30
    ok(drv.cuGraphNodeSetParams(n, p))
    run(graph)
    assert get(cell, 1, np.uint32)[0] == 50
    x = ok(drv.cuGraphInstantiate(graph, 0))
    p.kernel.blockDimX = 1
    ok(drv.cuGraphExecNodeSetParams(x, n, p))
    ok(drv.cuGraphLaunch(x, 0))
    ok(drv.cuCtxSynchronize())
    assert get(cell, 1, np.uint32)[0] == 51
    ok(drv.cuGraphExecDestroy(x))


def test_general_memset_node(graph, ctx, cell):
    p = drv.CUgraphNodeParams()
    p.type = N.CU_GRAPH_NODE_TYPE_MEMSET
    p.memset.dst, p.memset.value, p.memset.elementSize, p.memset.width, p.memset.height, p.memset.ctx = cell, 0x55, 1, 16, 1, ctx
    ok(add_node(graph, [], p))
    run(graph)
    assert get(cell, 20, np.uint8).tolist() == [0x55] * 16 + [0] * 4


def conditional(graph, handle, kind, size=1, deps=()):
    """A conditional node and its graphs."""
    p = drv.CUgraphNodeParams()
    p.type = N.CU_GRAPH_NODE_TYPE_CONDITIONAL
    p.conditional.handle = handle
    p.conditional.type = getattr(drv.CUgraphConditionalNodeType, "CU_GRAPH_COND_TYPE_" + kind)
    p.conditional.size = size
    p.conditional.ctx = ok(drv.cuCtxGetCurrent())
    n = ok(add_node(graph, list(deps), p))
    return n, list(p.conditional.phGraph_out)


@pytest.fixture
def setter(ctx):
    if ok(drv.cuDriverGetVersion()) < 12030:
        pytest.skip("conditional nodes came with 12.3")
    m = module(kernels.CONDITION)
    yield m
    ok(drv.cuModuleUnload(m))


@pytest.mark.parametrize("value", [0, 1])
def test_if(graph, ctx, setter, cell, value):
    h = ok(drv.cuGraphConditionalHandleCreate(graph, ctx, 0, 0))
    k = ok(drv.cuGraphAddKernelNode(graph, None, 0, kernel_params(function(setter, "choose"), (1,), (1,), (int(h), value), (ctypes.c_ulonglong, u32))))
    n, (body,) = conditional(graph, h, "IF", deps=[k])
    assert kind(n) == N.CU_GRAPH_NODE_TYPE_CONDITIONAL
    ok(drv.cuGraphAddMemsetNode(body, None, 0, memset_params(cell, 6, 64), ctx))
    run(graph)
    assert (get(cell, 64, np.uint32) == 6 * value).all()


def test_if_default_value(graph, ctx, setter, cell):
    h = ok(drv.cuGraphConditionalHandleCreate(graph, ctx, 1, drv.CU_GRAPH_COND_ASSIGN_DEFAULT))
    _, (body,) = conditional(graph, h, "IF")
    ok(drv.cuGraphAddMemsetNode(body, None, 0, memset_params(cell, 6, 64), ctx))
    run(graph)
    assert (get(cell, 64, np.uint32) == 6).all()


def test_while(graph, ctx, setter, cell):
    h = ok(drv.cuGraphConditionalHandleCreate(graph, ctx, 1, drv.CU_GRAPH_COND_ASSIGN_DEFAULT))
    _, (body,) = conditional(graph, h, "WHILE")
    ok(drv.cuGraphAddKernelNode(body, None, 0, kernel_params(function(setter, "more"), (1,), (1,), (int(h), cell, 10), (ctypes.c_ulonglong, None, u32))))
    run(graph, times=1)
    assert get(cell, 1, np.uint32)[0] == 10


@pytest.mark.parametrize("value", [0, 1, 2, 7])
def test_switch(graph, ctx, setter, cell, value):
    if not hasattr(drv.CUgraphConditionalNodeType, "CU_GRAPH_COND_TYPE_SWITCH") or ok(drv.cuDriverGetVersion()) < 12080:
        pytest.skip("came with 12.8")
    h = ok(drv.cuGraphConditionalHandleCreate(graph, ctx, value, drv.CU_GRAPH_COND_ASSIGN_DEFAULT))
    _, bodies = conditional(graph, h, "SWITCH", size=3)
    assert len(bodies) == 3
    for i, body in enumerate(bodies):
        ok(drv.cuGraphAddMemsetNode(body, None, 0, memset_params(cell, 10 + i, 64), ctx))
    run(graph)
    assert (get(cell, 64, np.uint32) == (10 + value if value < 3 else 0)).all()


# -- changes of further nodes ---------------------------------------------------------------------

def test_kernel_node_changed(graph, basic, cell):
    n = ok(drv.cuGraphAddKernelNode(graph, None, 0, kernel_params(function(basic, "fill"), (1,), (64,), (cell, 1, 64), (None, u32, u32))))
    ok(drv.cuGraphKernelNodeSetParams(n, kernel_params(function(basic, "add_one"), (1,), (10,), (cell,), (None,))))
    run(graph)
    assert get(cell, 2, np.uint32).tolist() == [10, 0]


def test_host_node_params(graph):
    fn = HOST_FN(lambda p: None)
    p = drv.CUDA_HOST_NODE_PARAMS()
    p.fn, p.userData = host_fn(fn), 5
    n = ok(drv.cuGraphAddHostNode(graph, None, 0, p))
    assert int(ok(drv.cuGraphHostNodeGetParams(n)).fn) != 0


def memory_op(cell, value):
    op = drv.CUstreamBatchMemOpParams()
    op.writeValue.operation = drv.CUstreamBatchMemOpType.CU_STREAM_MEM_OP_WRITE_VALUE_32
    op.writeValue.address = cell
    op.writeValue.value = drv.cuuint32_t(value)
    p = drv.CUDA_BATCH_MEM_OP_NODE_PARAMS()
    p.ctx, p.count, p.paramArray, p.flags = ok(drv.cuCtxGetCurrent()), 1, [op], 0
    return p


def test_memory_op_node_changed(graph, ctx, cell):
    n = ok(drv.cuGraphAddBatchMemOpNode(graph, None, 0, memory_op(cell, 1)))
    assert ok(drv.cuGraphBatchMemOpNodeGetParams(n)).count == 1
    ok(drv.cuGraphBatchMemOpNodeSetParams(n, memory_op(cell, 2)))
    x = ok(drv.cuGraphInstantiate(graph, 0))
    ok(drv.cuGraphLaunch(x, 0))
    ok(drv.cuCtxSynchronize())
    assert get(cell, 1, np.uint32)[0] == 2
    ok(drv.cuGraphExecBatchMemOpNodeSetParams(x, n, memory_op(cell, 3)))
    ok(drv.cuGraphLaunch(x, 0))
    ok(drv.cuCtxSynchronize())
    assert get(cell, 1, np.uint32)[0] == 3
    ok(drv.cuGraphExecDestroy(x))


def test_user_object_counts(ctx):
    freed = []
    fn = HOST_FN(lambda p: freed.append(p))
    o = ok(drv.cuUserObjectCreate(77, host_fn(fn), 1, drv.CUuserObject_flags.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC))
    g = ok(drv.cuGraphCreate(0))
    ok(drv.cuUserObjectRetain(o, 2))
    ok(drv.cuGraphRetainUserObject(g, o, 1, 0))
    ok(drv.cuUserObjectRelease(o, 2))
    ok(drv.cuGraphReleaseUserObject(g, o, 1))
    assert freed == []
    ok(drv.cuUserObjectRelease(o, 1))
    import time
    for _ in range(200):
        if freed:
            break
        time.sleep(0.01)
    assert freed == [77]
    ok(drv.cuGraphDestroy(g))


def test_graph_memory_attributes(ctx, dev):
    G = drv.CUgraphMem_attribute
    ok(drv.cuDeviceSetGraphMemAttribute(dev, G.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, drv.cuuint64_t(0)))
    assert int(ok(drv.cuDeviceGetGraphMemAttribute(dev, G.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH))) == int(ok(drv.cuDeviceGetGraphMemAttribute(dev, G.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT)))


def general(kind):
    p = drv.CUgraphNodeParams()
    p.type = getattr(N, "CU_GRAPH_NODE_TYPE_" + kind)
    return p


def test_general_nodes_of_other_kinds(graph, ctx, cell):
    e = ok(drv.cuEventCreate(0))
    got = []
    fn = HOST_FN(lambda p: got.append(p))
    host_node = general("HOST")
    host_node.host.fn, host_node.host.userData = host_fn(fn), 4
    record, wait = general("EVENT_RECORD"), general("WAIT_EVENT")
    record.eventRecord.event = e
    wait.eventWait.event = e
    sub = ok(drv.cuGraphCreate(0))
    ok(drv.cuGraphAddMemsetNode(sub, None, 0, memset_params(cell, 3, 4), ctx))
    inner = general("GRAPH")
    inner.graph.graph = sub
    copy = general("MEMCPY")
    copy.memcpy.copyCtx = ctx
    copy.memcpy.copyParams = copy_params(drv.CUdeviceptr(int(cell) + 16), cell, 16)
    empty = general("EMPTY")
    made = []
    for p in (host_node, record, wait, inner, copy, empty):
        made.append(ok(add_node(graph, made[-1:], p)))
    assert [kind(n) for n in made] == [getattr(N, "CU_GRAPH_NODE_TYPE_" + k) for k in "HOST EVENT_RECORD WAIT_EVENT GRAPH MEMCPY EMPTY".split()]
    run(graph)
    assert got == [4] and get(cell, 10, np.uint32).tolist() == [3] * 8 + [0, 0]
    ok(drv.cuGraphDestroy(sub))
    ok(drv.cuEventDestroy(e))


def test_general_memory_nodes(graph, ctx):
    a = general("MEM_ALLOC")
    a.alloc.poolProps.allocType = drv.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    a.alloc.poolProps.location.type = drv.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    a.alloc.bytesize = 1000
    n = ok(add_node(graph, [], a))
    d = a.alloc.dptr
    assert int(d)
    out = np.zeros(1000, np.uint8)
    m = ok(drv.cuGraphAddMemsetNode(graph, [n], 1, memset_params(d, 6, 1000, size=1), ctx))
    c = ok(drv.cuGraphAddMemcpyNode(graph, [m], 1, copy_params(out, d, 1000), ctx))
    f = general("MEM_FREE")
    f.free.dptr = d
    ok(add_node(graph, [c], f))
    run(graph)
    assert (out == 6).all()


def test_memory_left_by_a_graph(graph, ctx, stream):
    """Memory that a graph allocates and does not free is the program's."""
    a = general("MEM_ALLOC")
    a.alloc.poolProps.allocType = drv.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    a.alloc.poolProps.location.type = drv.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    a.alloc.bytesize = 4096
    n = ok(add_node(graph, [], a))
    ok(drv.cuGraphAddMemsetNode(graph, [n], 1, memset_params(a.alloc.dptr, 0x11, 1024), ctx))
    x = ok(drv.cuGraphInstantiate(graph, 0))
    ok(drv.cuGraphLaunch(x, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert (get(a.alloc.dptr, 1024, np.uint32) == 0x11).all()
    assert code(drv.cuGraphLaunch(x, stream)) == "INVALID_VALUE"  # not again while it is there
    ok(drv.cuMemFreeAsync(a.alloc.dptr, stream))
    ok(drv.cuGraphLaunch(x, stream))
    ok(drv.cuMemFreeAsync(a.alloc.dptr, stream))
    ok(drv.cuStreamSynchronize(stream))
    ok(drv.cuGraphExecDestroy(x))


def test_memory_freed_by_the_next_launch(graph, ctx, stream):
    a = general("MEM_ALLOC")
    a.alloc.poolProps.allocType = drv.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    a.alloc.poolProps.location.type = drv.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    a.alloc.bytesize = 4096
    ok(add_node(graph, [], a))
    x = ok(drv.cuGraphInstantiate(graph, drv.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH))
    for _ in range(3):
        ok(drv.cuGraphLaunch(x, stream))
    ok(drv.cuMemFreeAsync(a.alloc.dptr, stream))
    ok(drv.cuStreamSynchronize(stream))
    ok(drv.cuGraphExecDestroy(x))


def test_dot_with_everything(graph, ctx, basic, cell, tmp_path):
    a = ok(drv.cuGraphAddKernelNode(graph, None, 0, kernel_params(function(basic, "fill"), (1,), (64,), (cell, 1, 64), (None, u32, u32))))
    ok(drv.cuGraphAddMemsetNode(graph, [a], 1, memset_params(cell, 8, 64), ctx))
    p = tmp_path / "graph.dot"
    ok(drv.cuGraphDebugDotPrint(graph, str(p).encode(), drv.CUgraphDebugDot_flags.CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE))
    text = p.read_text()
    assert "fill" in text and "MEMSET" in text.upper()


def test_many_nodes(graph, ctx, basic, cell):
    """A diamond a hundred wide, ten times."""
    f = function(basic, "add_one")
    last = []
    for _ in range(10):
        row = [ok(drv.cuGraphAddKernelNode(graph, last, len(last), kernel_params(f, (1,), (1,), (cell,), (None,)))) for _ in range(100)]
        last = [ok(drv.cuGraphAddEmptyNode(graph, row, len(row)))]
    assert len(nodes(graph)) == 1010 and len(edges(graph)) == 1000 + 900
    run(graph, times=2)
    assert get(cell, 1, np.uint32)[0] == 2000


def test_nested_conditions(graph, ctx, setter, cell):
    """A loop of 4 with an inner condition that is true."""
    outer = ok(drv.cuGraphConditionalHandleCreate(graph, ctx, 1, drv.CU_GRAPH_COND_ASSIGN_DEFAULT))
    _, (body,) = conditional(graph, outer, "WHILE")
    step = ok(drv.cuGraphAddKernelNode(body, None, 0, kernel_params(function(setter, "more"), (1,), (1,), (int(outer), cell, 4), (ctypes.c_ulonglong, None, u32))))
    inner = ok(drv.cuGraphConditionalHandleCreate(body, ctx, 1, drv.CU_GRAPH_COND_ASSIGN_DEFAULT))
    _, (then,) = conditional(body, inner, "IF", deps=[step])
    ok(drv.cuGraphAddMemsetNode(then, None, 0, memset_params(drv.CUdeviceptr(int(cell) + 8), 9, 1), ctx))
    run(graph)
    assert get(cell, 3, np.uint32).tolist() == [4, 0, 9]
