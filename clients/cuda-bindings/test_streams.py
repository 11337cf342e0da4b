"""Streams, events, callbacks, memory operations in streams."""
import threading, time

import pytest

from driver_calls import *

S = drv.CUstream_flags
E = drv.CUevent_flags
HOST_FN = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
STREAM_FN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


def address(fn):
    return ctypes.cast(fn, ctypes.c_void_p).value


def host_fn(fn):
    return drv.CUhostFn(address(fn))


# -- streams --------------------------------------------------------------------------------------

@pytest.mark.parametrize("flags", [S.CU_STREAM_DEFAULT, S.CU_STREAM_NON_BLOCKING])
def test_create(ctx, flags):
    s = ok(drv.cuStreamCreate(flags))
    assert ok(drv.cuStreamGetFlags(s)) == flags
    assert int(ok(drv.cuStreamGetCtx(s))) == int(ctx)
    ok(drv.cuStreamQuery(s))
    ok(drv.cuStreamDestroy(s))


def test_create_flags(ctx):
    assert code(drv.cuStreamCreate(0x80)) == "INVALID_VALUE"


def test_priority(ctx):
    least, greatest = ok(drv.cuCtxGetStreamPriorityRange())
    for want in range(greatest, least + 1):
        s = ok(drv.cuStreamCreateWithPriority(S.CU_STREAM_NON_BLOCKING, want))
        assert ok(drv.cuStreamGetPriority(s)) == want
        ok(drv.cuStreamDestroy(s))


def test_priority_is_clamped(ctx):
    least, greatest = ok(drv.cuCtxGetStreamPriorityRange())
    s = ok(drv.cuStreamCreateWithPriority(0, -1000))
    assert ok(drv.cuStreamGetPriority(s)) == greatest
    ok(drv.cuStreamDestroy(s))


def test_ids(ctx):
    a, b = (ok(drv.cuStreamCreate(1)) for _ in range(2))
    assert ok(drv.cuStreamGetId(a)) != ok(drv.cuStreamGetId(b))
    [ok(drv.cuStreamDestroy(s)) for s in (a, b)]


@pytest.mark.skipif(not hasattr(drv, "cuStreamGetDevice"), reason="cuStreamGetDevice came with 12.8")
def test_device(ctx, dev, stream):
    assert int(ok(drv.cuStreamGetDevice(stream))) == int(dev)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_default_streams(ctx, basic, which):
    d = put(np.zeros(4, np.uint32))
    s = drv.CUstream(which)  # NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD
    launch(function(basic, "add_one"), (2,), (64,), (d,), (None,), s)
    ok(drv.cuStreamSynchronize(s))
    assert get(d, 1, np.uint32)[0] == 128
    ok(drv.cuMemFree(d))


def test_destroyed(ctx):
    s = ok(drv.cuStreamCreate(0))
    ok(drv.cuStreamDestroy(s))


def test_attributes(ctx, stream):
    A = drv.CUstreamAttrID
    v = drv.CUstreamAttrValue()
    v.syncPolicy = drv.CUsynchronizationPolicy.CU_SYNC_POLICY_YIELD
    ok(drv.cuStreamSetAttribute(stream, A.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, v))
    assert ok(drv.cuStreamGetAttribute(stream, A.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)).syncPolicy == drv.CUsynchronizationPolicy.CU_SYNC_POLICY_YIELD
    t = ok(drv.cuStreamCreate(1))
    ok(drv.cuStreamCopyAttributes(t, stream))
    assert ok(drv.cuStreamGetAttribute(t, A.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)).syncPolicy == drv.CUsynchronizationPolicy.CU_SYNC_POLICY_YIELD
    ok(drv.cuStreamDestroy(t))


# -- events ---------------------------------------------------------------------------------------

def test_event_without_record_is_complete(ctx):
    e = ok(drv.cuEventCreate(0))
    ok(drv.cuEventQuery(e))
    ok(drv.cuEventSynchronize(e))
    ok(drv.cuEventDestroy(e))


def test_event_flags(ctx):
    assert code(drv.cuEventCreate(0x80)) == "INVALID_VALUE"
    assert code(drv.cuEventCreate(E.CU_EVENT_INTERPROCESS)) == "INVALID_VALUE"  # needs CU_EVENT_DISABLE_TIMING


def test_event_time(ctx, stream):
    a, b = (ok(drv.cuEventCreate(0)) for _ in range(2))
    ok(drv.cuEventRecord(a, stream))
    fn = HOST_FN(lambda _: time.sleep(0.05))
    ok(drv.cuLaunchHostFunc(stream, host_fn(fn), 0))
    ok(drv.cuEventRecord(b, stream))
    ok(drv.cuEventSynchronize(b))
    ms = ok(drv.cuEventElapsedTime(a, b))
    assert 45 < ms < 5000
    assert ok(drv.cuEventElapsedTime(b, a)) == pytest.approx(-ms)
    [ok(drv.cuEventDestroy(e)) for e in (a, b)]


def test_event_time_without_timing(ctx, stream):
    a, b = ok(drv.cuEventCreate(E.CU_EVENT_DISABLE_TIMING)), ok(drv.cuEventCreate(0))
    [ok(drv.cuEventRecord(e, stream)) for e in (a, b)]
    ok(drv.cuStreamSynchronize(stream))
    assert code(drv.cuEventElapsedTime(a, b)) == "INVALID_HANDLE"
    [ok(drv.cuEventDestroy(e)) for e in (a, b)]


def test_event_time_before_record(ctx, stream):
    a, b = (ok(drv.cuEventCreate(0)) for _ in range(2))
    ok(drv.cuEventRecord(a, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert code(drv.cuEventElapsedTime(a, b)) == "INVALID_HANDLE"
    [ok(drv.cuEventDestroy(e)) for e in (a, b)]


class Gate:
    """A host function that holds a stream until it is let go."""

    def __init__(self, stream):
        self.open, self.reached = threading.Event(), threading.Event()
        self.fn = HOST_FN(lambda _: (self.reached.set(), self.open.wait(30)) and None)
        ok(drv.cuLaunchHostFunc(stream, host_fn(self.fn), 0))


def test_not_ready(ctx, stream):
    e = ok(drv.cuEventCreate(0))
    g = Gate(stream)
    ok(drv.cuEventRecord(e, stream))
    try:
        assert g.reached.wait(30)
        assert code(drv.cuStreamQuery(stream)) == "NOT_READY"
        assert code(drv.cuEventQuery(e)) == "NOT_READY"
    finally:
        g.open.set()
    ok(drv.cuEventSynchronize(e))
    ok(drv.cuEventDestroy(e))


def test_wait_event_orders_streams(ctx, stream):
    s2 = ok(drv.cuStreamCreate(1))
    e = ok(drv.cuEventCreate(E.CU_EVENT_DISABLE_TIMING))
    d = put(np.zeros(64, np.uint32))
    g = Gate(stream)
    ok(drv.cuMemsetD32Async(d, 5, 64, stream))
    ok(drv.cuEventRecord(e, stream))
    ok(drv.cuStreamWaitEvent(s2, e, 0))
    p = ok(drv.cuMemAllocHost(256))
    ok(drv.cuMemcpyDtoHAsync(p, d, 256, s2))
    try:
        assert code(drv.cuStreamQuery(s2)) == "NOT_READY"
    finally:
        g.open.set()
    ok(drv.cuStreamSynchronize(s2))
    assert (host(p, 64, np.uint32) == 5).all()
    ok(drv.cuMemFreeHost(p))
    ok(drv.cuEventDestroy(e))
    ok(drv.cuStreamDestroy(s2))


def test_record_with_flags(ctx, stream):
    e = ok(drv.cuEventCreate(0))
    ok(drv.cuEventRecordWithFlags(e, stream, 0))
    ok(drv.cuEventSynchronize(e))
    ok(drv.cuEventDestroy(e))


# -- functions of the host ------------------------------------------------------------------------

def test_host_function(ctx, stream):
    got = []
    fn = HOST_FN(lambda p: got.append(p))
    for i in (7, 8, 9):
        ok(drv.cuLaunchHostFunc(stream, host_fn(fn), i))
    ok(drv.cuStreamSynchronize(stream))
    assert got == [7, 8, 9]


def test_host_function_without_function(ctx, stream):
    # the bindings put a function of their own in front, so NULL has to go around them
    f = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(ok(drv.cuGetProcAddress(b"cuLaunchHostFunc", 10000, 0))[0])
    assert f(int(stream), None, None) == drv.CUresult.CUDA_ERROR_INVALID_VALUE


def test_callback(ctx, stream):
    got = []
    fn = STREAM_FN(lambda s, status, data: got.append((s, status, data)))
    ok(drv.cuStreamAddCallback(stream, drv.CUstreamCallback(address(fn)), 11, 0))
    ok(drv.cuStreamSynchronize(stream))
    assert got == [(int(stream), 0, 11)]


def test_no_calls_in_host_functions(ctx, stream):
    got = []
    fn = HOST_FN(lambda p: got.append(code(drv.cuMemAlloc(16))))
    ok(drv.cuLaunchHostFunc(stream, host_fn(fn), 0))
    ok(drv.cuStreamSynchronize(stream))
    assert got == ["NOT_PERMITTED"]


# -- memory operations ----------------------------------------------------------------------------

W = drv.CUstreamWriteValue_flags.CU_STREAM_WRITE_VALUE_DEFAULT
GEQ, EQ, AND, NOR = (getattr(drv.CUstreamWaitValue_flags, "CU_STREAM_WAIT_VALUE_" + x) for x in ("GEQ", "EQ", "AND", "NOR"))


def test_write_value(ctx, stream):
    d = put(np.zeros(4, np.uint32))
    ok(drv.cuStreamWriteValue32(stream, d, 123, W))
    ok(drv.cuStreamWriteValue64(stream, int(d) + 8, 1 << 40, W))
    ok(drv.cuStreamSynchronize(stream))
    assert get(d, 4, np.uint32).tolist() == [123, 0, 0, 256]
    ok(drv.cuMemFree(d))


@pytest.mark.parametrize("flag,first,wait,write", [(GEQ, 0, 5, 6), (EQ, 0, 5, 5), (AND, 3, 4, 6), (NOR, 0xF, 0xFFFFFFF0, 0xE)])
def test_wait_value(ctx, stream, flag, first, wait, write):
    if flag == NOR:
        needs(pytest, ok(drv.cuCtxGetDevice()), "CAN_USE_STREAM_WAIT_VALUE_NOR")
    s2 = ok(drv.cuStreamCreate(1))
    d = put(np.array([first, 0], np.uint32))
    ok(drv.cuStreamWaitValue32(stream, d, wait, flag))
    ok(drv.cuMemsetD32Async(int(d) + 4, 77, 1, stream))
    time.sleep(0.01)
    assert code(drv.cuStreamQuery(stream)) == "NOT_READY"
    ok(drv.cuStreamWriteValue32(s2, d, write, W))
    ok(drv.cuStreamSynchronize(stream))
    assert get(d, 2, np.uint32).tolist() == [write, 77]
    ok(drv.cuStreamDestroy(s2))
    ok(drv.cuMemFree(d))


def test_wait_value_64(ctx, stream):
    d = put(np.zeros(1, np.uint64))
    s2 = ok(drv.cuStreamCreate(1))
    ok(drv.cuStreamWaitValue64(stream, d, 1 << 33, GEQ))
    ok(drv.cuStreamWriteValue64(s2, d, 1 << 34, W))
    ok(drv.cuStreamSynchronize(stream))
    ok(drv.cuStreamDestroy(s2))
    ok(drv.cuMemFree(d))


def test_write_value_misaligned(ctx, stream):
    d = alloc(64)
    assert code(drv.cuStreamWriteValue32(stream, int(d) + 2, 1, W)) == "INVALID_VALUE"
    ok(drv.cuMemFree(d))


def test_batch(ctx, stream):
    T = drv.CUstreamBatchMemOpType
    d = put(np.zeros(4, np.uint32))
    ops = []
    for i, v in enumerate((10, 20)):
        p = drv.CUstreamBatchMemOpParams()
        p.writeValue.operation = T.CU_STREAM_MEM_OP_WRITE_VALUE_32
        p.writeValue.address = int(d) + 4 * i
        p.writeValue.value = drv.cuuint32_t(v)
        ops.append(p)
    p = drv.CUstreamBatchMemOpParams()
    p.waitValue.operation = T.CU_STREAM_MEM_OP_WAIT_VALUE_32
    p.waitValue.address = d
    p.waitValue.value = drv.cuuint32_t(10)
    p.waitValue.flags = EQ
    ops.append(p)
    ok(drv.cuStreamBatchMemOp(stream, len(ops), ops, 0))
    ok(drv.cuStreamSynchronize(stream))
    assert get(d, 4, np.uint32).tolist() == [10, 20, 0, 0]
    ok(drv.cuMemFree(d))


# -- capture --------------------------------------------------------------------------------------

M = drv.CUstreamCaptureMode


def test_capture(ctx, stream, basic):
    d = put(np.zeros(1, np.uint32))
    assert ok(drv.cuStreamIsCapturing(stream)) == drv.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE
    ok(drv.cuStreamBeginCapture(stream, M.CU_STREAM_CAPTURE_MODE_GLOBAL))
    assert ok(drv.cuStreamIsCapturing(stream)) == drv.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
    ok(drv.cuMemsetD32Async(d, 100, 1, stream))
    launch(function(basic, "add_one"), (1,), (32,), (d,), (None,), stream)
    status, ident, g, deps = capture_info(stream)
    assert status == drv.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE and ident > 0 and len(deps) == 1
    g = ok(drv.cuStreamEndCapture(stream))
    assert [ok(drv.cuGraphNodeGetType(n)) for n in nodes(g)] == [drv.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET, drv.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL]
    assert get(d, 1, np.uint32)[0] == 0  # nothing ran
    x = ok(drv.cuGraphInstantiate(g, 0))
    for _ in range(3):
        ok(drv.cuGraphLaunch(x, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert get(d, 1, np.uint32)[0] == 132
    ok(drv.cuGraphExecDestroy(x))
    ok(drv.cuGraphDestroy(g))
    ok(drv.cuMemFree(d))


def test_capture_fork_and_join(ctx, stream, basic):
    s2 = ok(drv.cuStreamCreate(1))
    d = put(np.zeros(2, np.uint32))
    e1, e2 = (ok(drv.cuEventCreate(E.CU_EVENT_DISABLE_TIMING)) for _ in range(2))
    f = function(basic, "add_one")
    ok(drv.cuStreamBeginCapture(stream, M.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
    ok(drv.cuEventRecord(e1, stream))
    ok(drv.cuStreamWaitEvent(s2, e1, 0))
    launch(f, (1,), (32,), (d,), (None,), stream)
    launch(f, (1,), (64,), (int(d) + 4,), (None,), s2)
    ok(drv.cuEventRecord(e2, s2))
    ok(drv.cuStreamWaitEvent(stream, e2, 0))
    launch(f, (1,), (1,), (d,), (None,), stream)
    g = ok(drv.cuStreamEndCapture(stream))
    assert len(nodes(g)) == 3 and len(edges(g)) == 2
    x = ok(drv.cuGraphInstantiate(g, 0))
    ok(drv.cuGraphLaunch(x, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert get(d, 2, np.uint32).tolist() == [33, 64]
    [ok(drv.cuEventDestroy(e)) for e in (e1, e2)]
    ok(drv.cuGraphExecDestroy(x))
    ok(drv.cuGraphDestroy(g))
    ok(drv.cuStreamDestroy(s2))
    ok(drv.cuMemFree(d))


def test_capture_unjoined(ctx, stream, basic):
    s2 = ok(drv.cuStreamCreate(1))
    d = alloc(4)
    e = ok(drv.cuEventCreate(E.CU_EVENT_DISABLE_TIMING))
    ok(drv.cuStreamBeginCapture(stream, M.CU_STREAM_CAPTURE_MODE_RELAXED))
    ok(drv.cuEventRecord(e, stream))
    ok(drv.cuStreamWaitEvent(s2, e, 0))
    ok(drv.cuMemsetD32Async(d, 1, 1, s2))
    assert code(drv.cuStreamEndCapture(stream)) == "STREAM_CAPTURE_UNJOINED"
    ok(drv.cuEventDestroy(e))
    ok(drv.cuStreamDestroy(s2))
    ok(drv.cuMemFree(d))


def test_capture_forbids_synchronising(ctx, stream):
    ok(drv.cuStreamBeginCapture(stream, M.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
    assert code(drv.cuStreamSynchronize(stream)) == "STREAM_CAPTURE_UNSUPPORTED"
    assert ok(drv.cuStreamIsCapturing(stream)) == drv.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_INVALIDATED
    assert code(drv.cuStreamEndCapture(stream)) == "STREAM_CAPTURE_INVALIDATED"


def test_capture_global_forbids_unsafe_calls(ctx, stream):
    ok(drv.cuStreamBeginCapture(stream, M.CU_STREAM_CAPTURE_MODE_GLOBAL))
    assert code(drv.cuMemAlloc(16)) == "STREAM_CAPTURE_UNSUPPORTED"
    assert code(drv.cuStreamEndCapture(stream)) == "STREAM_CAPTURE_INVALIDATED"


def test_capture_mode_exchanged(ctx, stream):
    old = ok(drv.cuThreadExchangeStreamCaptureMode(M.CU_STREAM_CAPTURE_MODE_RELAXED))
    assert old == M.CU_STREAM_CAPTURE_MODE_GLOBAL
    ok(drv.cuStreamBeginCapture(stream, M.CU_STREAM_CAPTURE_MODE_GLOBAL))
    ok(drv.cuMemFree(alloc(16)))
    ok(drv.cuThreadExchangeStreamCaptureMode(old))
    ok(drv.cuGraphDestroy(ok(drv.cuStreamEndCapture(stream))))


def test_capture_of_the_legacy_stream(ctx):
    assert code(drv.cuStreamBeginCapture(0, M.CU_STREAM_CAPTURE_MODE_GLOBAL)) == "STREAM_CAPTURE_UNSUPPORTED"


def test_capture_ended_without_beginning(ctx, stream):
    assert code(drv.cuStreamEndCapture(stream)) == "ILLEGAL_STATE"


def test_capture_to_a_graph(ctx, stream, graph):
    d = put(np.zeros(2, np.uint32))
    first = ok(drv.cuGraphAddEmptyNode(graph, None, 0))
    ok(drv.cuStreamBeginCaptureToGraph(stream, graph, [first], [drv.CUgraphEdgeData()], 1, M.CU_STREAM_CAPTURE_MODE_RELAXED))
    ok(drv.cuMemsetD32Async(d, 9, 2, stream))
    assert int(ok(drv.cuStreamEndCapture(stream))) == int(graph)
    assert len(nodes(graph)) == 2 and len(edges(graph)) == 1
    x = ok(drv.cuGraphInstantiate(graph, 0))
    ok(drv.cuGraphLaunch(x, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert get(d, 2, np.uint32).tolist() == [9, 9]
    ok(drv.cuGraphExecDestroy(x))
    ok(drv.cuMemFree(d))


def test_capture_dependencies_changed(ctx, stream, graph):
    d = alloc(16)
    ok(drv.cuStreamBeginCapture(stream, M.CU_STREAM_CAPTURE_MODE_RELAXED))
    ok(drv.cuMemsetD32Async(d, 1, 1, stream))
    g = capture_info(stream)[2]
    n = ok(drv.cuGraphAddEmptyNode(g, None, 0))
    flag = drv.CUstreamUpdateCaptureDependencies_flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES
    if NEW:
        ok(drv.cuStreamUpdateCaptureDependencies(stream, [n], None, 1, flag))
    else:
        ok(drv.cuStreamUpdateCaptureDependencies(stream, [n], 1, flag))
    ok(drv.cuMemsetD32Async(int(d) + 4, 2, 1, stream))
    g = ok(drv.cuStreamEndCapture(stream))
    assert [a for a, _ in edges(g)] == [int(n)]
    ok(drv.cuGraphDestroy(g))
    ok(drv.cuMemFree(d))


def test_event_recorded_in_a_capture_cannot_be_waited_for(ctx, stream):
    e = ok(drv.cuEventCreate(0))
    ok(drv.cuStreamBeginCapture(stream, M.CU_STREAM_CAPTURE_MODE_RELAXED))
    ok(drv.cuEventRecord(e, stream))
    assert code(drv.cuEventSynchronize(e)) in ("CAPTURED_EVENT", "STREAM_CAPTURE_UNSUPPORTED")
    drv.cuStreamEndCapture(stream)
    ok(drv.cuEventDestroy(e))
