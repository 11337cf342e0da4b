"""Contexts: primary and created, the stack, limits and settings."""
import threading

import pytest

from driver_calls import *

F = drv.CUctx_flags
L = drv.CUlimit


@pytest.fixture
def own(ctx, dev):
    """A context of its own, current."""
    c = ctx_create(0, dev)
    yield c
    ok(drv.cuCtxDestroy(c))
    ok(drv.cuCtxSetCurrent(ctx))


def test_no_context_is_current_in_a_new_thread(ctx):
    got = []
    t = threading.Thread(target=lambda: got.append(int(ok(drv.cuCtxGetCurrent()))) or got.append(code(drv.cuMemAlloc(4))))
    t.start()
    t.join()
    assert got == [0, "INVALID_CONTEXT"]


def test_primary_is_one_per_device(ctx, dev):
    assert int(ok(drv.cuDevicePrimaryCtxRetain(dev))) == int(ctx)
    ok(drv.cuDevicePrimaryCtxRelease(dev))


def test_primary_state(ctx, dev):
    flags, active = ok(drv.cuDevicePrimaryCtxGetState(dev))
    assert active == 1


def test_primary_flags(dev):
    # only while it is inactive do flags change; a process of its own has it inactive first
    out = child("""
        ok(drv.cuCtxSetCurrent(None))
        ok(drv.cuDevicePrimaryCtxRelease(dev))
        assert ok(drv.cuDevicePrimaryCtxGetState(dev))[1] == 0
        ok(drv.cuDevicePrimaryCtxSetFlags(dev, drv.CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC))
        c = ok(drv.cuDevicePrimaryCtxRetain(dev))
        ok(drv.cuCtxSetCurrent(c))
        print(ok(drv.cuCtxGetFlags()) & drv.CUctx_flags.CU_CTX_SCHED_MASK == drv.CUctx_flags.CU_CTX_SCHED_BLOCKING_SYNC, ok(drv.cuDevicePrimaryCtxGetState(dev))[1])
    """)
    assert out == "True 1"


def test_primary_release_too_often():
    assert child("""
        ok(drv.cuDevicePrimaryCtxRelease(dev))
        print(code(drv.cuDevicePrimaryCtxRelease(dev)))
    """) == "INVALID_CONTEXT"


def test_primary_reset():
    assert child("""
        p = alloc(1024)
        ok(drv.cuDevicePrimaryCtxReset(dev))
        print(ok(drv.cuDevicePrimaryCtxGetState(dev))[1])
    """) == "0"


def test_create_makes_current(own):
    assert int(ok(drv.cuCtxGetCurrent())) == int(own)


def test_device_of_the_current_context(own, dev):
    assert int(ok(drv.cuCtxGetDevice())) == int(dev)


def test_push_and_pop(own, ctx):
    ok(drv.cuCtxPushCurrent(ctx))
    assert int(ok(drv.cuCtxGetCurrent())) == int(ctx)
    assert int(ok(drv.cuCtxPopCurrent())) == int(ctx)
    assert int(ok(drv.cuCtxGetCurrent())) == int(own)


def test_pop_of_an_empty_stack(ctx):
    got = []
    t = threading.Thread(target=lambda: got.append(code(drv.cuCtxPopCurrent())))
    t.start()
    t.join()
    assert got == ["INVALID_CONTEXT"]


def test_set_current_null_pops(ctx):
    ok(drv.cuCtxPushCurrent(ctx))
    ok(drv.cuCtxSetCurrent(None))
    assert int(ok(drv.cuCtxGetCurrent())) == int(ctx)


def test_ids_differ(own, ctx):
    a, b = ok(drv.cuCtxGetId(own)), ok(drv.cuCtxGetId(ctx))
    assert a != b
    assert ok(drv.cuCtxGetId(own)) == a


def test_api_version(own):
    assert ok(drv.cuCtxGetApiVersion(own)) in (3020, 4000, *range(12000, 14000))


def test_flags(ctx, dev):
    c = ctx_create(F.CU_CTX_SCHED_YIELD, dev)
    try:
        assert ok(drv.cuCtxGetFlags()) & F.CU_CTX_SCHED_MASK == F.CU_CTX_SCHED_YIELD
    finally:
        ok(drv.cuCtxDestroy(c))


def test_flags_that_do_not_exist(ctx, dev):
    r = drv.cuCtxCreate(None, 0x8000, dev) if NEW else drv.cuCtxCreate(0x8000, dev)
    assert code(r) == "INVALID_VALUE"


def test_set_flags(own):
    ok(drv.cuCtxSetFlags(F.CU_CTX_SCHED_BLOCKING_SYNC))
    assert ok(drv.cuCtxGetFlags()) & F.CU_CTX_SCHED_MASK == F.CU_CTX_SCHED_BLOCKING_SYNC


@pytest.mark.parametrize("limit,value", [("STACK_SIZE", 4096), ("PRINTF_FIFO_SIZE", 1 << 20), ("MALLOC_HEAP_SIZE", 16 << 20), ("MAX_L2_FETCH_GRANULARITY", 64)])
def test_limit(own, limit, value):
    which = getattr(L, "CU_LIMIT_" + limit)
    assert ok(drv.cuCtxGetLimit(which)) > 0
    ok(drv.cuCtxSetLimit(which, value))
    assert ok(drv.cuCtxGetLimit(which)) >= value


def test_limit_persisting_l2(own, dev):
    most = attribute(dev, "MAX_PERSISTING_L2_CACHE_SIZE")
    if not most:
        pytest.skip("no persisting L2")
    ok(drv.cuCtxSetLimit(L.CU_LIMIT_PERSISTING_L2_CACHE_SIZE, most // 2))
    assert 0 < ok(drv.cuCtxGetLimit(L.CU_LIMIT_PERSISTING_L2_CACHE_SIZE)) <= most
    ok(drv.cuCtxResetPersistingL2Cache())


def test_cache_config(own):
    C = drv.CUfunc_cache
    assert ok(drv.cuCtxGetCacheConfig()) in list(C)
    ok(drv.cuCtxSetCacheConfig(C.CU_FUNC_CACHE_PREFER_L1))
    assert ok(drv.cuCtxGetCacheConfig()) in (C.CU_FUNC_CACHE_PREFER_L1, C.CU_FUNC_CACHE_PREFER_NONE)  # NONE where the sizes are fixed


def test_shared_memory_config(own):
    C = drv.CUsharedconfig
    assert ok(drv.cuCtxGetSharedMemConfig()) in (C.CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE, C.CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)


def test_stream_priority_range(own):
    least, greatest = ok(drv.cuCtxGetStreamPriorityRange())
    assert least == 0 and greatest < 0


def test_synchronize(own):
    ok(drv.cuCtxSynchronize())


@pytest.mark.skipif(not NEW, reason="cuCtxSynchronize_v2 came with 13.0")
def test_synchronize_another(own, ctx):
    ok(drv.cuCtxSynchronize_v2(ctx))
    assert int(ok(drv.cuCtxGetDevice_v2(ctx))) == 0


def test_record_and_wait_event(own):
    e = ok(drv.cuEventCreate(0))
    r = drv.cuCtxRecordEvent(own, e)
    if code(r) == "NOT_SUPPORTED":
        pytest.skip("cuCtxRecordEvent is not supported here")
    ok(r)
    ok(drv.cuCtxWaitEvent(own, e))
    ok(drv.cuCtxSynchronize())
    ok(drv.cuEventQuery(e))
    ok(drv.cuEventDestroy(e))


def test_destroyed_context_cannot_be_used(ctx, dev):
    c = ctx_create(0, dev)
    ok(drv.cuCtxDestroy(c))
    assert int(ok(drv.cuCtxGetCurrent())) == int(ctx)
    # Nothing more with it: an H200's driver lets a destroyed context be current and then dies of a call.
    ok(drv.cuCtxSetCurrent(ctx))


def test_memory_goes_with_its_context(ctx, dev):
    c = ctx_create(0, dev)
    p = alloc(4096)
    ok(drv.cuCtxDestroy(c))
    assert code(drv.cuMemFree(p)) == "INVALID_VALUE"


def test_peer_access_to_itself(own, ctx):
    assert code(drv.cuCtxEnablePeerAccess(own, 0)) in ("INVALID_DEVICE", "PEER_ACCESS_UNSUPPORTED", "INVALID_CONTEXT", "INVALID_VALUE")


def test_exec_affinity(own):
    r = drv.cuCtxGetExecAffinity(drv.CUexecAffinityType.CU_EXEC_AFFINITY_TYPE_SM_COUNT)
    assert code(r) in ("CUDA_SUCCESS", "UNSUPPORTED_EXEC_AFFINITY")


def test_attach_and_detach(own):
    r = drv.cuCtxAttach(0)
    if code(r) == "CUDA_SUCCESS":
        ok(drv.cuCtxDetach(own))


def test_coredump_attributes():
    # set in a process of its own: they may be set once
    assert child("""
        S = drv.CUcoredumpSettings
        print(ok(drv.cuCoredumpGetAttribute(S.CU_COREDUMP_ENABLE_ON_EXCEPTION)), ok(drv.cuCoredumpGetAttributeGlobal(S.CU_COREDUMP_TRIGGER_HOST)))
    """, env=dict(os.environ)) == "False True"


def entry(name, version):
    p = ok(drv.cuGetProcAddress(name, version, 0))[0]
    assert p, name
    return p


def test_error_logs(ctx):
    # these releases of the bindings ask for version 12.8, where the functions are not yet; so by their addresses
    if ok(drv.cuDriverGetVersion()) < 12090:
        pytest.skip("came with 12.9")
    current = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_uint), ctypes.c_uint)(entry(b"cuLogsCurrent", 12090))
    dump = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_uint), ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t), ctypes.c_uint)(entry(b"cuLogsDumpToMemory", 12090))
    at = ctypes.c_uint()
    assert current(ctypes.byref(at), 0) == 0
    assert current(ctypes.byref(at), 1) == 0  # flags are not looked at (recorded on an H200)
    buffer, size = ctypes.create_string_buffer(26000), ctypes.c_size_t(26000)
    assert dump(None, buffer, ctypes.byref(size), 0) == 0
    assert size.value <= 26000


def test_threads_have_their_own_current_context(own, ctx):
    got = {}

    def work(name, c):
        ok(drv.cuCtxSetCurrent(c))
        barrier.wait(20)
        got[name] = int(ok(drv.cuCtxGetCurrent()))

    barrier = threading.Barrier(2)
    ts = [threading.Thread(target=work, args=a) for a in (("own", own), ("primary", ctx))]
    [t.start() for t in ts]
    [t.join() for t in ts]
    assert got == {"own": int(own), "primary": int(ctx)}


def test_shared_memory_config_set(own):
    ok(drv.cuCtxSetSharedMemConfig(drv.CUsharedconfig.CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE))
    assert ok(drv.cuCtxGetSharedMemConfig()) == drv.CUsharedconfig.CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE


def test_coredump_attributes_set(tmp_path):
    out = child("""
        S = drv.CUcoredumpSettings
        ok(drv.cuCoredumpSetAttribute(S.CU_COREDUMP_FILE, (sys.argv[1] + "/core_%h_%p").encode()))
        print(ok(drv.cuCoredumpGetAttribute(S.CU_COREDUMP_FILE)).split(b"\\0")[0].decode())
        ok(drv.cuCoredumpSetAttribute(S.CU_COREDUMP_TRIGGER_HOST, False))
        print(ok(drv.cuCoredumpGetAttribute(S.CU_COREDUMP_TRIGGER_HOST)))
    """, tmp_path).split()
    assert out == [f"{tmp_path}/core_%h_%p", "False"]


def test_export_table_of_nobody(ctx):
    u = drv.CUuuid()
    assert code(drv.cuGetExportTable(u)) in ("INVALID_VALUE", "NOT_FOUND")


def test_async_notification(ctx, dev):
    if not hasattr(drv, "cuDeviceRegisterAsyncNotification"):
        pytest.skip("came with 12.4")
    fn = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(lambda info, data, handle: None)
    r = drv.cuDeviceRegisterAsyncNotification(dev, drv.CUasyncCallback(ctypes.cast(fn, ctypes.c_void_p).value), 0)
    if code(r) == "NOT_SUPPORTED":
        pytest.skip("not supported by the system")
    ok(drv.cuDeviceUnregisterAsyncNotification(dev, ok(r)))


def test_error_log_callback(ctx):
    if ok(drv.cuDriverGetVersion()) < 12090:
        pytest.skip("came with 12.9")
    assert child("""
        from test_context import entry
        seen = []
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t)
        fn = kind(lambda data, level, text, size: seen.append(text))
        handle = ctypes.c_void_p()
        f = ctypes.CFUNCTYPE(ctypes.c_int, kind, ctypes.c_void_p, ctypes.c_void_p)(entry(b"cuLogsRegisterCallback", 12090))
        assert f(fn, None, ctypes.addressof(handle)) == 0 and handle.value
        drv.cuMemFree(12345)
        g = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(entry(b"cuLogsUnregisterCallback", 12090))
        assert g(handle) == 0
        assert all(isinstance(t, bytes) for t in seen)
        print("done")
    """) == "done"
