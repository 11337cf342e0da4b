"""Stream-ordered memory, pools, virtual memory, memory between processes."""
import pytest

from driver_calls import *

A = drv.CUmemPool_attribute
T = drv.CUmemAllocationHandleType


def pool_props(handle=T.CU_MEM_HANDLE_TYPE_NONE, most=0):
    p = drv.CUmemPoolProps()
    p.allocType = drv.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    p.handleTypes = handle
    p.location = location("DEVICE", 0)
    p.maxSize = most
    return p


@pytest.fixture
def pool(ctx):
    p = ok(drv.cuMemPoolCreate(pool_props()))
    yield p
    ok(drv.cuMemPoolDestroy(p))


def test_alloc_async(ctx, stream, basic):
    p = ok(drv.cuMemAllocAsync(4000, stream))
    launch(function(basic, "fill"), (8,), (128,), (p, 3, 1000), (None, ctypes.c_uint, ctypes.c_uint), stream)
    out = np.zeros(1000, np.uint32)
    ok(drv.cuMemcpyDtoHAsync(out.ctypes.data, p, 4000, stream))
    ok(drv.cuMemFreeAsync(p, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert (out == 3).all()


def test_alloc_async_nothing(ctx, stream):
    assert code(drv.cuMemAllocAsync(0, stream)) in ("CUDA_SUCCESS", "INVALID_VALUE")


def test_free_async_by_cuMemFree(ctx, stream):
    p = ok(drv.cuMemAllocAsync(4000, stream))
    ok(drv.cuStreamSynchronize(stream))
    ok(drv.cuMemFree(p))


def test_free_async_of_cuMemAlloc(ctx, stream):
    p = alloc(4000)
    ok(drv.cuMemFreeAsync(p, stream))
    ok(drv.cuStreamSynchronize(stream))


def test_free_async_twice(ctx, stream):
    p = ok(drv.cuMemAllocAsync(4000, stream))
    ok(drv.cuMemFreeAsync(p, stream))
    assert code(drv.cuMemFreeAsync(p, stream)) == "INVALID_VALUE"


def test_pool_alloc(pool, stream):
    p = ok(drv.cuMemAllocFromPoolAsync(1 << 20, pool, stream))
    assert ok(drv.cuPointerGetAttribute(drv.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p)) is not None
    ok(drv.cuMemsetD8Async(p, 1, 1 << 20, stream))
    ok(drv.cuMemFreeAsync(p, stream))
    ok(drv.cuStreamSynchronize(stream))


def test_pool_used_and_reserved(pool, stream):
    assert int(ok(drv.cuMemPoolGetAttribute(pool, A.CU_MEMPOOL_ATTR_USED_MEM_CURRENT))) == 0
    p = ok(drv.cuMemAllocFromPoolAsync(1 << 20, pool, stream))
    ok(drv.cuStreamSynchronize(stream))
    used, reserved = (int(ok(drv.cuMemPoolGetAttribute(pool, a))) for a in (A.CU_MEMPOOL_ATTR_USED_MEM_CURRENT, A.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT))
    assert used == 1 << 20 <= reserved
    ok(drv.cuMemFreeAsync(p, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert int(ok(drv.cuMemPoolGetAttribute(pool, A.CU_MEMPOOL_ATTR_USED_MEM_CURRENT))) == 0
    assert int(ok(drv.cuMemPoolGetAttribute(pool, A.CU_MEMPOOL_ATTR_USED_MEM_HIGH))) == 1 << 20
    ok(drv.cuMemPoolSetAttribute(pool, A.CU_MEMPOOL_ATTR_USED_MEM_HIGH, drv.cuuint64_t(0)))
    assert int(ok(drv.cuMemPoolGetAttribute(pool, A.CU_MEMPOOL_ATTR_USED_MEM_HIGH))) == 0


def test_pool_release_threshold(pool, stream):
    assert int(ok(drv.cuMemPoolGetAttribute(pool, A.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD))) == 0
    ok(drv.cuMemPoolSetAttribute(pool, A.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, drv.cuuint64_t(64 << 20)))
    assert int(ok(drv.cuMemPoolGetAttribute(pool, A.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD))) == 64 << 20
    p = ok(drv.cuMemAllocFromPoolAsync(1 << 20, pool, stream))
    ok(drv.cuMemFreeAsync(p, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert int(ok(drv.cuMemPoolGetAttribute(pool, A.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT))) > 0  # kept
    ok(drv.cuMemPoolTrimTo(pool, 0))
    assert int(ok(drv.cuMemPoolGetAttribute(pool, A.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT))) == 0


@pytest.mark.parametrize("name", ["REUSE_FOLLOW_EVENT_DEPENDENCIES", "REUSE_ALLOW_OPPORTUNISTIC", "REUSE_ALLOW_INTERNAL_DEPENDENCIES"])
def test_pool_reuse_attributes(pool, name):
    a = getattr(A, "CU_MEMPOOL_ATTR_" + name)
    assert ok(drv.cuMemPoolGetAttribute(pool, a)) == 1
    ok(drv.cuMemPoolSetAttribute(pool, a, 0))
    assert ok(drv.cuMemPoolGetAttribute(pool, a)) == 0


def test_pool_access(pool):
    F = drv.CUmemAccess_flags
    assert ok(drv.cuMemPoolGetAccess(pool, location("DEVICE", 0))) == F.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    d = drv.CUmemAccessDesc()
    d.location, d.flags = location("DEVICE", 0), F.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    ok(drv.cuMemPoolSetAccess(pool, [d], 1))


def test_pool_cannot_lose_its_own_device(pool):
    d = drv.CUmemAccessDesc()
    d.location, d.flags = location("DEVICE", 0), drv.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE
    assert code(drv.cuMemPoolSetAccess(pool, [d], 1)) == "INVALID_DEVICE"
    d.flags = drv.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READ
    assert code(drv.cuMemPoolSetAccess(pool, [d], 1)) == "NOT_SUPPORTED"


def test_pool_of_the_device(pool, dev):
    old = ok(drv.cuDeviceGetMemPool(dev))
    ok(drv.cuDeviceSetMemPool(dev, pool))
    assert int(ok(drv.cuDeviceGetMemPool(dev))) == int(pool)
    ok(drv.cuDeviceSetMemPool(dev, old))
    assert int(ok(drv.cuDeviceGetDefaultMemPool(dev))) == int(old)


def test_pool_with_a_most(ctx, stream):
    p = ok(drv.cuMemPoolCreate(pool_props(most=4 << 20)))
    ok(drv.cuMemFreeAsync(ok(drv.cuMemAllocFromPoolAsync(1 << 20, p, stream)), stream))
    assert code(drv.cuMemAllocFromPoolAsync(1 << 30, p, stream)) == "OUT_OF_MEMORY"
    ok(drv.cuStreamSynchronize(stream))
    ok(drv.cuMemPoolDestroy(p))


def test_default_pool_cannot_be_destroyed(ctx, dev):
    assert code(drv.cuMemPoolDestroy(ok(drv.cuDeviceGetDefaultMemPool(dev)))) == "INVALID_VALUE"


def test_memory_of_a_pool_between_streams(ctx, stream):
    s2 = ok(drv.cuStreamCreate(1))
    e = ok(drv.cuEventCreate(2))
    p = ok(drv.cuMemAllocAsync(4096, stream))
    ok(drv.cuMemsetD8Async(p, 7, 4096, stream))
    ok(drv.cuEventRecord(e, stream))
    ok(drv.cuStreamWaitEvent(s2, e, 0))
    out = np.zeros(4096, np.uint8)
    ok(drv.cuMemcpyDtoHAsync(out.ctypes.data, p, 4096, s2))
    ok(drv.cuMemFreeAsync(p, s2))
    ok(drv.cuStreamSynchronize(s2))
    assert (out == 7).all()
    ok(drv.cuEventDestroy(e))
    ok(drv.cuStreamDestroy(s2))


@pytest.mark.skipif(not NEW, reason="cuMemGetDefaultMemPool came with 13.0")
def test_default_pool_by_location(ctx, dev):
    t = drv.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    assert int(ok(drv.cuMemGetDefaultMemPool(location("DEVICE", 0), t))) == int(ok(drv.cuDeviceGetDefaultMemPool(dev)))
    assert int(ok(drv.cuMemGetMemPool(location("DEVICE", 0), t))) == int(ok(drv.cuDeviceGetMemPool(dev)))


@pytest.mark.skipif(not NEW, reason="cuMemSetMemPool came with 13.0")
def test_pool_set_by_location(pool, dev):
    t = drv.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    old = ok(drv.cuMemGetMemPool(location("DEVICE", 0), t))
    ok(drv.cuMemSetMemPool(location("DEVICE", 0), t, pool))
    assert int(ok(drv.cuDeviceGetMemPool(dev))) == int(pool)
    ok(drv.cuMemSetMemPool(location("DEVICE", 0), t, old))


@pytest.mark.skipif(not NEW, reason="pools of managed memory came with 13.0")
def test_pool_of_managed_memory(ctx, dev, stream):
    needs(pytest, dev, "CONCURRENT_MANAGED_ACCESS")
    p = drv.CUmemPoolProps()
    p.allocType = drv.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED
    p.location = location("DEVICE", 0)
    pool = ok(drv.cuMemPoolCreate(p))
    d = ok(drv.cuMemAllocFromPoolAsync(4096, pool, stream))
    ok(drv.cuMemsetD8Async(d, 9, 4096, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert (host(d, 4096, np.uint8) == 9).all()
    ok(drv.cuMemFreeAsync(d, stream))
    ok(drv.cuStreamSynchronize(stream))
    ok(drv.cuMemPoolDestroy(pool))


def test_pool_of_host_memory(ctx, dev, stream, basic):
    if not hasattr(drv.CUdevice_attribute, "CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED"):
        pytest.skip("came with 12.8")
    needs(pytest, dev, "HOST_NUMA_MEMORY_POOLS_SUPPORTED")
    p = drv.CUmemPoolProps()
    p.allocType = drv.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    p.location = location("HOST_NUMA", 0)
    pool = ok(drv.cuMemPoolCreate(p))
    a = drv.CUmemAccessDesc()
    a.location, a.flags = location("DEVICE", 0), drv.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    ok(drv.cuMemPoolSetAccess(pool, [a], 1))
    d = ok(drv.cuMemAllocFromPoolAsync(4096, pool, stream))
    launch(function(basic, "fill"), (4,), (256,), (d, 5, 1024), (None, ctypes.c_uint, ctypes.c_uint), stream)
    ok(drv.cuStreamSynchronize(stream))
    assert (host(d, 1024, np.uint32) == 5).all()
    ok(drv.cuMemFreeAsync(d, stream))
    ok(drv.cuStreamSynchronize(stream))
    ok(drv.cuMemPoolDestroy(pool))


# -- virtual memory -------------------------------------------------------------------------------

def vmm_props(handle=T.CU_MEM_HANDLE_TYPE_NONE):
    p = drv.CUmemAllocationProp()
    p.type = drv.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    p.location = location("DEVICE", 0)
    p.requestedHandleTypes = handle
    return p


def granularity(which="MINIMUM"):
    return ok(drv.cuMemGetAllocationGranularity(vmm_props(), getattr(drv.CUmemAllocationGranularity_flags, "CU_MEM_ALLOC_GRANULARITY_" + which)))


def access(flags="READWRITE"):
    d = drv.CUmemAccessDesc()
    d.location, d.flags = location("DEVICE", 0), getattr(drv.CUmemAccess_flags, "CU_MEM_ACCESS_FLAGS_PROT_" + flags)
    return d


def test_vmm_granularity(ctx):
    low, good = granularity(), granularity("RECOMMENDED")
    assert low and low & (low - 1) == 0 and good % low == 0


def test_vmm_map_and_use(ctx, basic):
    g = granularity()
    va = ok(drv.cuMemAddressReserve(2 * g, 0, 0, 0))
    h = [ok(drv.cuMemCreate(g, vmm_props(), 0)) for _ in range(2)]
    for i in range(2):
        ok(drv.cuMemMap(int(va) + i * g, g, 0, h[i], 0))
    ok(drv.cuMemSetAccess(va, 2 * g, [access()], 1))
    n = 2 * g // 4
    launch(function(basic, "fill"), ((n + 255) // 256,), (256,), (va, 13, n), (None, ctypes.c_uint, ctypes.c_uint))
    got = get(va, n, np.uint32)
    assert (got == 13).all()
    assert ok(drv.cuMemGetAccess(location("DEVICE", 0), va)) == drv.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    ok(drv.cuMemUnmap(va, 2 * g))
    [ok(drv.cuMemRelease(x)) for x in h]
    ok(drv.cuMemAddressFree(va, 2 * g))


def test_vmm_one_memory_at_two_addresses(ctx):
    g = granularity()
    va = ok(drv.cuMemAddressReserve(2 * g, 0, 0, 0))
    h = ok(drv.cuMemCreate(g, vmm_props(), 0))
    ok(drv.cuMemMap(va, g, 0, h, 0))
    ok(drv.cuMemMap(int(va) + g, g, 0, h, 0))
    ok(drv.cuMemRelease(h))  # the mappings keep it
    ok(drv.cuMemSetAccess(va, 2 * g, [access()], 1))
    ok(drv.cuMemsetD8(va, 200, 1000))
    assert (get(int(va) + g, 1000, np.uint8) == 200).all()
    ok(drv.cuMemUnmap(va, 2 * g))
    ok(drv.cuMemAddressFree(va, 2 * g))


def test_vmm_without_access(ctx):
    g = granularity()
    va = ok(drv.cuMemAddressReserve(g, 0, 0, 0))
    h = ok(drv.cuMemCreate(g, vmm_props(), 0))
    ok(drv.cuMemMap(va, g, 0, h, 0))
    assert code(drv.cuMemsetD8(va, 1, 16)) != "CUDA_SUCCESS"
    ok(drv.cuMemUnmap(va, g))
    ok(drv.cuMemRelease(h))
    ok(drv.cuMemAddressFree(va, g))


def test_vmm_size_must_be_whole_granules(ctx):
    assert code(drv.cuMemCreate(granularity() + 1, vmm_props(), 0)) == "INVALID_VALUE"
    assert code(drv.cuMemAddressReserve(100, 0, 0, 0)) == "INVALID_VALUE"


def test_vmm_map_over_a_mapping(ctx):
    g = granularity()
    va = ok(drv.cuMemAddressReserve(g, 0, 0, 0))
    h = ok(drv.cuMemCreate(g, vmm_props(), 0))
    ok(drv.cuMemMap(va, g, 0, h, 0))
    assert code(drv.cuMemMap(va, g, 0, h, 0)) == "INVALID_VALUE"
    ok(drv.cuMemUnmap(va, g))
    ok(drv.cuMemRelease(h))
    ok(drv.cuMemAddressFree(va, g))


def test_vmm_properties_and_retain(ctx):
    g = granularity()
    va = ok(drv.cuMemAddressReserve(g, 0, 0, 0))
    h = ok(drv.cuMemCreate(g, vmm_props(), 0))
    ok(drv.cuMemMap(va, g, 0, h, 0))
    again = ok(drv.cuMemRetainAllocationHandle(int(va)))
    assert int(again) == int(h)
    p = ok(drv.cuMemGetAllocationPropertiesFromHandle(h))
    assert p.type == drv.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED and p.location.id == 0
    ok(drv.cuMemUnmap(va, g))
    ok(drv.cuMemRelease(h))
    ok(drv.cuMemRelease(again))
    ok(drv.cuMemAddressFree(va, g))


def test_vmm_free_of_a_mapped_range(ctx):
    g = granularity()
    va = ok(drv.cuMemAddressReserve(g, 0, 0, 0))
    h = ok(drv.cuMemCreate(g, vmm_props(), 0))
    ok(drv.cuMemMap(va, g, 0, h, 0))
    assert code(drv.cuMemAddressFree(va, g)) == "INVALID_VALUE"
    ok(drv.cuMemUnmap(va, g))
    ok(drv.cuMemRelease(h))
    ok(drv.cuMemAddressFree(va, g))


def test_vmm_by_file_descriptor_in_this_process(ctx, dev):
    needs(pytest, dev, "HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED")
    fd_type = T.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    g = granularity()
    h = ok(drv.cuMemCreate(g, vmm_props(fd_type), 0))
    fd = int(ok(drv.cuMemExportToShareableHandle(h, fd_type, 0)))
    h2 = ok(drv.cuMemImportFromShareableHandle(fd, fd_type))
    os.close(fd)
    va = ok(drv.cuMemAddressReserve(2 * g, 0, 0, 0))
    ok(drv.cuMemMap(va, g, 0, h, 0))
    ok(drv.cuMemMap(int(va) + g, g, 0, h2, 0))
    ok(drv.cuMemSetAccess(va, 2 * g, [access()], 1))
    ok(drv.cuMemsetD32(va, 0x12345678, 100))
    assert (get(int(va) + g, 100, np.uint32) == 0x12345678).all()
    ok(drv.cuMemUnmap(va, 2 * g))
    [ok(drv.cuMemRelease(x)) for x in (h, h2)]
    ok(drv.cuMemAddressFree(va, 2 * g))


# -- between processes ----------------------------------------------------------------------------

def test_ipc_memory(ctx):
    p = put(np.arange(1000, dtype=np.uint32))
    h = ok(drv.cuIpcGetMemHandle(p))
    out = child("""
        h = from_raw(drv.CUipcMemHandle(), bytes.fromhex(sys.argv[1]))
        p = ok(drv.cuIpcOpenMemHandle(h, drv.CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
        assert (get(p, 1000, np.uint32) == np.arange(1000)).all()
        ok(drv.cuMemsetD32(p, 42, 10))
        ok(drv.cuCtxSynchronize())
        ok(drv.cuIpcCloseMemHandle(p))
        print("seen")
    """, raw(h).hex())
    assert out == "seen"
    got = get(p, 1000, np.uint32)
    assert (got[:10] == 42).all() and (got[10:] == np.arange(10, 1000)).all()
    ok(drv.cuMemFree(p))


def test_ipc_memory_in_the_process_itself(ctx):
    p = alloc(4096)
    h = ok(drv.cuIpcGetMemHandle(p))
    assert code(drv.cuIpcOpenMemHandle(h, 1)) in ("INVALID_CONTEXT", "INVALID_VALUE")  # CUDA_ERROR_INVALID_CONTEXT by the driver's practice
    ok(drv.cuMemFree(p))


def test_ipc_event(ctx, dev):
    needs(pytest, dev, "IPC_EVENT_SUPPORTED")
    e = ok(drv.cuEventCreate(drv.CUevent_flags.CU_EVENT_INTERPROCESS | drv.CUevent_flags.CU_EVENT_DISABLE_TIMING))
    ok(drv.cuEventRecord(e, 0))
    ok(drv.cuCtxSynchronize())
    h = ok(drv.cuIpcGetEventHandle(e))
    assert child("""
        h = from_raw(drv.CUipcEventHandle(), bytes.fromhex(sys.argv[1]))
        e = ok(drv.cuIpcOpenEventHandle(h))
        ok(drv.cuEventSynchronize(e))
        s = ok(drv.cuStreamCreate(1))
        ok(drv.cuStreamWaitEvent(s, e, 0))
        ok(drv.cuStreamSynchronize(s))
        ok(drv.cuEventDestroy(e))
        print("done")
    """, raw(h).hex()) == "done"
    ok(drv.cuEventDestroy(e))


def test_ipc_event_needs_its_flag(ctx):
    e = ok(drv.cuEventCreate(drv.CUevent_flags.CU_EVENT_DISABLE_TIMING))
    assert code(drv.cuIpcGetEventHandle(e)) in ("INVALID_HANDLE", "INVALID_VALUE", "INVALID_RESOURCE_HANDLE")
    ok(drv.cuEventDestroy(e))


def test_vmm_between_processes(ctx, dev):
    needs(pytest, dev, "HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED")
    fd_type = T.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    g = granularity()
    h = ok(drv.cuMemCreate(g, vmm_props(fd_type), 0))
    va = ok(drv.cuMemAddressReserve(g, 0, 0, 0))
    ok(drv.cuMemMap(va, g, 0, h, 0))
    ok(drv.cuMemSetAccess(va, g, [access()], 1))
    ok(drv.cuMemsetD32(va, 99, 1000))
    ok(drv.cuCtxSynchronize())
    fd = int(ok(drv.cuMemExportToShareableHandle(h, fd_type, 0)))
    assert child("""
        g = int(sys.argv[2])
        h = ok(drv.cuMemImportFromShareableHandle(int(sys.argv[1]), drv.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
        va = ok(drv.cuMemAddressReserve(g, 0, 0, 0))
        ok(drv.cuMemMap(va, g, 0, h, 0))
        d = drv.CUmemAccessDesc()
        d.location, d.flags = location("DEVICE", 0), drv.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        ok(drv.cuMemSetAccess(va, g, [d], 1))
        assert (get(va, 1000, np.uint32) == 99).all()
        ok(drv.cuMemsetD32(va, 100, 1))
        ok(drv.cuCtxSynchronize())
        print("seen")
    """, fd, g, pass_fds=[fd]) == "seen"
    os.close(fd)
    assert get(va, 2, np.uint32).tolist() == [100, 99]
    ok(drv.cuMemUnmap(va, g))
    ok(drv.cuMemRelease(h))
    ok(drv.cuMemAddressFree(va, g))


def test_pool_between_processes(ctx, dev, stream):
    needs(pytest, dev, "HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED")
    fd_type = T.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    pool = ok(drv.cuMemPoolCreate(pool_props(fd_type)))
    p = ok(drv.cuMemAllocFromPoolAsync(1 << 20, pool, stream))
    ok(drv.cuMemsetD32Async(p, 7, 1000, stream))
    ok(drv.cuStreamSynchronize(stream))
    fd = int(ok(drv.cuMemPoolExportToShareableHandle(pool, fd_type, 0)))
    data = ok(drv.cuMemPoolExportPointer(p))
    assert child("""
        fd_type = drv.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        pool = ok(drv.cuMemPoolImportFromShareableHandle(int(sys.argv[1]), fd_type, 0))
        d = drv.CUmemAccessDesc()
        d.location, d.flags = location("DEVICE", 0), drv.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        ok(drv.cuMemPoolSetAccess(pool, [d], 1))
        data = from_raw(drv.CUmemPoolPtrExportData(), bytes.fromhex(sys.argv[2]))
        p = ok(drv.cuMemPoolImportPointer(pool, data))
        assert (get(p, 1000, np.uint32) == 7).all()
        ok(drv.cuMemsetD32(p, 8, 1))
        ok(drv.cuCtxSynchronize())
        ok(drv.cuMemFree(p))
        print("seen")
    """, fd, raw(data).hex(), pass_fds=[fd]) == "seen"
    os.close(fd)
    assert get(p, 2, np.uint32).tolist() == [8, 7]
    ok(drv.cuMemFreeAsync(p, stream))
    ok(drv.cuStreamSynchronize(stream))
    ok(drv.cuMemPoolDestroy(pool))


def test_multicast_without_support(ctx, dev):
    if attribute(dev, "MULTICAST_SUPPORTED"):
        pytest.skip("the device has multicast")
    p = drv.CUmulticastObjectProp()
    p.numDevices, p.size = 1, 2 << 20
    assert code(drv.cuMulticastCreate(p)) in ("NOT_SUPPORTED", "INVALID_DEVICE", "INVALID_VALUE", "NOT_PERMITTED")
