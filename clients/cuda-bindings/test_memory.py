"""Memory of every kind, copies and fills."""
import mmap

import pytest

from driver_calls import *

H = drv.CUmemorytype.CU_MEMORYTYPE_HOST
D = drv.CUmemorytype.CU_MEMORYTYPE_DEVICE
U = drv.CUmemorytype.CU_MEMORYTYPE_UNIFIED
P = drv.CUpointer_attribute


def pattern(n, dtype=np.uint8):
    return np.random.default_rng(n).integers(0, 250, n).astype(dtype)


# -- allocation -----------------------------------------------------------------------------------

def test_alloc_and_free(ctx):
    p = alloc(1000)
    assert int(p) % 256 == 0
    ok(drv.cuMemFree(p))


def test_alloc_nothing(ctx):
    assert code(drv.cuMemAlloc(0)) == "INVALID_VALUE"


def test_alloc_too_much(ctx, dev):
    assert code(drv.cuMemAlloc(ok(drv.cuDeviceTotalMem(dev)) * 2)) == "OUT_OF_MEMORY"


def test_free_twice(ctx):
    p = alloc(16)
    ok(drv.cuMemFree(p))
    assert code(drv.cuMemFree(p)) == "INVALID_VALUE"


def test_free_null_is_nothing(ctx):
    ok(drv.cuMemFree(0))


def test_free_inside(ctx):
    p = alloc(4096)
    assert code(drv.cuMemFree(int(p) + 256)) == "INVALID_VALUE"
    ok(drv.cuMemFree(p))


def test_memory_info(ctx, dev):
    free, total = ok(drv.cuMemGetInfo())
    assert 0 < free <= total and total <= ok(drv.cuDeviceTotalMem(dev))
    p = alloc(256 << 20)
    assert ok(drv.cuMemGetInfo())[0] <= free - (200 << 20)
    ok(drv.cuMemFree(p))


def test_address_range(ctx):
    p = alloc(5000)
    base, size = ok(drv.cuMemGetAddressRange(int(p) + 4999))
    assert int(base) == int(p) and size == 5000
    ok(drv.cuMemFree(p))


def test_address_range_of_nothing(ctx):
    assert code(drv.cuMemGetAddressRange(0x10)) in ("NOT_FOUND", "INVALID_VALUE")


@pytest.mark.parametrize("element", [4, 8, 16])
def test_alloc_pitch(ctx, element):
    p, pitch = ok(drv.cuMemAllocPitch(1000, 10, element))
    assert pitch >= 1000 and pitch % 32 == 0
    assert ok(drv.cuMemGetAddressRange(p))[1] >= pitch * 9 + 1000
    ok(drv.cuMemFree(p))


def test_alloc_pitch_element_size(ctx):
    assert code(drv.cuMemAllocPitch(1000, 10, 3)) == "INVALID_VALUE"


def test_host_memory(ctx):
    p = ok(drv.cuMemAllocHost(4096))
    a = host(p, 4096, np.uint8)
    a[:] = pattern(4096)
    d = alloc(4096)
    ok(drv.cuMemcpyHtoD(d, p, 4096))
    assert np.array_equal(get(d, 4096, np.uint8), pattern(4096))
    ok(drv.cuMemFreeHost(p))
    ok(drv.cuMemFree(d))


def test_host_memory_on_the_device(ctx, basic):
    p = ok(drv.cuMemHostAlloc(4096, drv.CU_MEMHOSTALLOC_DEVICEMAP))
    d = ok(drv.cuMemHostGetDevicePointer(p, 0))
    launch(function(basic, "fill"), (8,), (128,), (d, 77, 1000), (None, ctypes.c_uint, ctypes.c_uint))
    ok(drv.cuCtxSynchronize())
    assert (host(p, 1000, np.uint32) == 77).all() and host(p, 1024, np.uint32)[1000:].sum() == 0
    ok(drv.cuMemFreeHost(p))


def test_host_flags(ctx):
    flags = drv.CU_MEMHOSTALLOC_PORTABLE | drv.CU_MEMHOSTALLOC_DEVICEMAP | drv.CU_MEMHOSTALLOC_WRITECOMBINED
    p = ok(drv.cuMemHostAlloc(64, flags))
    assert ok(drv.cuMemHostGetFlags(p)) == flags
    ok(drv.cuMemFreeHost(p))


def test_host_unknown_flags(ctx):
    assert code(drv.cuMemHostAlloc(64, 0x100)) == "INVALID_VALUE"


def test_free_host_of_something_else(ctx):
    a = np.zeros(64, np.uint8)
    assert code(drv.cuMemFreeHost(a.ctypes.data)) == "INVALID_VALUE"


def test_host_register(ctx, basic):
    m = mmap.mmap(-1, 8192)
    at = ctypes.addressof(ctypes.c_char.from_buffer(m))
    ok(drv.cuMemHostRegister(at, 8192, drv.CU_MEMHOSTREGISTER_DEVICEMAP))
    d = ok(drv.cuMemHostGetDevicePointer(at, 0))
    launch(function(basic, "fill"), (8,), (256,), (d, 5, 2048), (None, ctypes.c_uint, ctypes.c_uint))
    ok(drv.cuCtxSynchronize())
    assert (np.frombuffer(m, np.uint32) == 5).all()
    assert code(drv.cuMemHostRegister(at, 8192, 0)) == "HOST_MEMORY_ALREADY_REGISTERED"
    ok(drv.cuMemHostUnregister(at))
    assert code(drv.cuMemHostUnregister(at)) == "HOST_MEMORY_NOT_REGISTERED"


def test_managed(ctx, basic):
    p = ok(drv.cuMemAllocManaged(4096, drv.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL))
    a = host(p, 1024, np.uint32)
    a[:] = 1
    launch(function(basic, "fill"), (4,), (128,), (p, 9, 500), (None, ctypes.c_uint, ctypes.c_uint))
    ok(drv.cuCtxSynchronize())
    assert (a[:500] == 9).all() and (a[500:] == 1).all()
    ok(drv.cuMemFree(p))


def test_managed_flags(ctx):
    assert code(drv.cuMemAllocManaged(64, 0)) == "INVALID_VALUE"


def test_managed_attach_to_a_stream(ctx, stream):
    p = ok(drv.cuMemAllocManaged(4096, drv.CUmemAttach_flags.CU_MEM_ATTACH_HOST))
    ok(drv.cuStreamAttachMemAsync(stream, p, 0, drv.CUmemAttach_flags.CU_MEM_ATTACH_SINGLE))
    ok(drv.cuStreamSynchronize(stream))
    host(p, 1, np.uint32)[0] = 3
    ok(drv.cuMemFree(p))


def test_managed_prefetch_and_advise(ctx, dev, stream):
    needs(pytest, dev, "CONCURRENT_MANAGED_ACCESS")
    R = drv.CUmem_range_attribute
    p = ok(drv.cuMemAllocManaged(1 << 20, drv.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL))
    ok(advise(p, 1 << 20, "SET_READ_MOSTLY", location("DEVICE", 0)))
    ok(advise(p, 1 << 20, "SET_PREFERRED_LOCATION", location("DEVICE", 0)))
    ok(advise(p, 1 << 20, "SET_ACCESSED_BY", location("HOST")))
    assert ok(drv.cuMemRangeGetAttribute(4, R.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 1 << 20)) == 1
    assert int(ok(drv.cuMemRangeGetAttribute(4, R.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 1 << 20))) == 0
    ok(prefetch(p, 1 << 20, location("DEVICE", 0), stream))
    ok(drv.cuStreamSynchronize(stream))
    assert int(ok(drv.cuMemRangeGetAttribute(4, R.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, 1 << 20))) == 0
    ok(advise(p, 1 << 20, "UNSET_READ_MOSTLY", location("DEVICE", 0)))
    got = ok(drv.cuMemRangeGetAttributes([4, 4], [R.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, R.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION], 2, p, 1 << 20))
    assert [int(x) for x in got] == [0, 0]
    ok(prefetch(p, 1 << 20, location("HOST"), stream))
    ok(drv.cuStreamSynchronize(stream))
    assert int(ok(drv.cuMemRangeGetAttribute(4, R.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, 1 << 20))) == -1  # CU_DEVICE_CPU
    ok(drv.cuMemFree(p))


def test_prefetch_of_ordinary_memory(ctx, stream):
    p = alloc(4096)
    assert code(prefetch(p, 4096, location("DEVICE", 0), stream)) == "INVALID_VALUE"
    ok(drv.cuMemFree(p))


# -- pointers -------------------------------------------------------------------------------------

def test_pointer_attributes_of_device_memory(ctx, dev):
    p = alloc(1000)
    q = int(p) + 100
    get1 = lambda a: ok(drv.cuPointerGetAttribute(getattr(P, "CU_POINTER_ATTRIBUTE_" + a), q))
    assert int(get1("CONTEXT")) == int(ctx)
    assert get1("MEMORY_TYPE") == D
    assert int(get1("DEVICE_POINTER")) == q
    assert int(get1("RANGE_START_ADDR")) == int(p) and get1("RANGE_SIZE") == 1000
    assert get1("IS_MANAGED") == 0 and get1("DEVICE_ORDINAL") == int(dev) and get1("MAPPED") == 1
    ok(drv.cuMemFree(p))


def test_pointer_attributes_of_host_memory(ctx):
    p = ok(drv.cuMemHostAlloc(64, drv.CU_MEMHOSTALLOC_DEVICEMAP))
    assert ok(drv.cuPointerGetAttribute(P.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p)) == H
    assert int(ok(drv.cuPointerGetAttribute(P.CU_POINTER_ATTRIBUTE_HOST_POINTER, p))) == int(p)
    assert int(ok(drv.cuPointerGetAttribute(P.CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p))) == int(ok(drv.cuMemHostGetDevicePointer(p, 0)))
    ok(drv.cuMemFreeHost(p))


def test_pointer_attributes_of_managed_memory(ctx):
    p = ok(drv.cuMemAllocManaged(64, drv.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL))
    assert ok(drv.cuPointerGetAttribute(P.CU_POINTER_ATTRIBUTE_IS_MANAGED, p)) == 1
    assert int(ok(drv.cuPointerGetAttribute(P.CU_POINTER_ATTRIBUTE_HOST_POINTER, p))) == int(p)
    ok(drv.cuMemFree(p))


def test_pointer_attribute_of_a_strange_pointer(ctx):
    a = np.zeros(4)
    assert code(drv.cuPointerGetAttribute(P.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a.ctypes.data)) == "INVALID_VALUE"


def test_pointer_attributes_several(ctx):
    p = alloc(64)
    got = ok(drv.cuPointerGetAttributes(3, [P.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, P.CU_POINTER_ATTRIBUTE_IS_MANAGED, P.CU_POINTER_ATTRIBUTE_RANGE_SIZE], p))
    assert [int(x) for x in got] == [int(D), 0, 64]
    ok(drv.cuMemFree(p))


def test_pointer_attributes_of_a_strange_pointer_are_zero(ctx):
    a = np.zeros(4)
    got = ok(drv.cuPointerGetAttributes(2, [P.CU_POINTER_ATTRIBUTE_CONTEXT, P.CU_POINTER_ATTRIBUTE_RANGE_SIZE], a.ctypes.data))
    assert [int(x) for x in got] == [0, 0]


def test_buffer_ids_are_unique(ctx):
    p = alloc(64)
    i = ok(drv.cuPointerGetAttribute(P.CU_POINTER_ATTRIBUTE_BUFFER_ID, p))
    ok(drv.cuMemFree(p))
    q = alloc(64)
    assert ok(drv.cuPointerGetAttribute(P.CU_POINTER_ATTRIBUTE_BUFFER_ID, q)) != i
    ok(drv.cuMemFree(q))


def test_sync_memops_attribute(ctx):
    p = alloc(64)
    ok(drv.cuPointerSetAttribute(True, P.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p))
    assert ok(drv.cuPointerGetAttribute(P.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p)) == 1
    ok(drv.cuMemFree(p))


# -- copies ---------------------------------------------------------------------------------------

def test_copy_there_and_back(ctx):
    a = pattern(10001)
    d = put(a)
    assert np.array_equal(get(d, 10001, np.uint8), a)
    ok(drv.cuMemFree(d))


def test_copy_on_the_device(ctx):
    a = pattern(5000)
    d, e = put(a), alloc(5000)
    ok(drv.cuMemcpyDtoD(int(e) + 1, d, 4999))
    assert np.array_equal(get(int(e) + 1, 4999, np.uint8), a[:4999])
    [ok(drv.cuMemFree(x)) for x in (d, e)]


def test_copy_unified(ctx):
    a, b = pattern(512), np.zeros(512, np.uint8)
    d = alloc(512)
    ok(drv.cuMemcpy(d, a.ctypes.data, 512))
    ok(drv.cuMemcpy(b.ctypes.data, d, 512))
    assert np.array_equal(a, b)
    ok(drv.cuMemFree(d))


def test_copy_past_the_end(ctx):
    d = alloc(512)
    a = np.zeros(4096, np.uint8)
    assert code(drv.cuMemcpyHtoD(d, a.ctypes.data, 4096)) == "INVALID_VALUE"
    ok(drv.cuMemFree(d))


def test_copy_nothing(ctx):
    ok(drv.cuMemcpyHtoD(0, 0, 0))


@pytest.mark.parametrize("pinned", [False, True])
def test_copy_async(ctx, stream, pinned):
    a = pattern(100000)
    if pinned:
        p, q = (ok(drv.cuMemAllocHost(100000)) for _ in range(2))
        src, dst = host(p, 100000, np.uint8), host(q, 100000, np.uint8)
        src[:] = a
    else:
        src, dst = a.copy(), np.zeros_like(a)
    d, e = alloc(100000), alloc(100000)
    ok(drv.cuMemcpyHtoDAsync(d, src.ctypes.data, 100000, stream))
    ok(drv.cuMemcpyDtoDAsync(e, d, 100000, stream))
    ok(drv.cuMemcpyDtoHAsync(dst.ctypes.data, e, 100000, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert np.array_equal(dst, a)
    [ok(drv.cuMemFree(x)) for x in (d, e)]
    if pinned:
        [ok(drv.cuMemFreeHost(x)) for x in (p, q)]


def test_copy_peer_to_the_same_context(ctx, stream):
    a = pattern(1000)
    d, e = put(a), alloc(1000)
    ok(drv.cuMemcpyPeer(e, ctx, d, ctx, 500))
    ok(drv.cuMemcpyPeerAsync(int(e) + 500, ctx, int(d) + 500, ctx, 500, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert np.array_equal(get(e, 1000, np.uint8), a)
    [ok(drv.cuMemFree(x)) for x in (d, e)]


def copy2d(**fields):
    c = drv.CUDA_MEMCPY2D()
    for k, v in fields.items():
        setattr(c, k, v)
    return c


@pytest.mark.parametrize("how", ["sync", "unaligned", "async"])
def test_copy_2d(ctx, stream, how):
    w, h = 100, 7
    a = pattern(w * h).reshape(h, w)
    d, pitch = ok(drv.cuMemAllocPitch(w, h, 4))
    ok(drv.cuMemsetD8(d, 255, pitch * h))
    up = copy2d(srcMemoryType=H, srcHost=a.ctypes.data, srcPitch=w, dstMemoryType=D, dstDevice=d, dstPitch=pitch, WidthInBytes=60, Height=4, srcXInBytes=8, srcY=2, dstXInBytes=4, dstY=1)
    b = np.zeros((h, w), np.uint8)
    down = copy2d(srcMemoryType=D, srcDevice=d, srcPitch=pitch, dstMemoryType=H, dstHost=b.ctypes.data, dstPitch=w, WidthInBytes=w, Height=h)
    for c in (up, down):
        if how == "async":
            ok(drv.cuMemcpy2DAsync(c, stream))
        else:
            ok({"sync": drv.cuMemcpy2D, "unaligned": drv.cuMemcpy2DUnaligned}[how](c))
    ok(drv.cuStreamSynchronize(stream))
    want = np.full((h, w), 255, np.uint8)
    want[1:5, 4:64] = a[2:6, 8:68]
    assert np.array_equal(b, want)
    ok(drv.cuMemFree(d))


def test_copy_2d_pitch_below_width(ctx):
    d = alloc(4096)
    a = np.zeros(4096, np.uint8)
    c = copy2d(srcMemoryType=H, srcHost=a.ctypes.data, srcPitch=10, dstMemoryType=D, dstDevice=d, dstPitch=64, WidthInBytes=32, Height=4)
    assert code(drv.cuMemcpy2D(c)) == "INVALID_VALUE"
    ok(drv.cuMemFree(d))


@pytest.mark.parametrize("how", ["sync", "async"])
def test_copy_3d(ctx, stream, how):
    w, h, z = 32, 5, 4
    a = pattern(w * h * z).reshape(z, h, w)
    d = put(a)
    b = np.zeros((3, 2, 16), np.uint8)
    c = drv.CUDA_MEMCPY3D()
    c.srcMemoryType, c.srcDevice, c.srcPitch, c.srcHeight = D, d, w, h
    c.dstMemoryType, c.dstHost, c.dstPitch, c.dstHeight = H, b.ctypes.data, 16, 2
    c.srcXInBytes, c.srcY, c.srcZ = 8, 3, 1
    c.WidthInBytes, c.Height, c.Depth = 16, 2, 3
    ok(drv.cuMemcpy3D(c) if how == "sync" else drv.cuMemcpy3DAsync(c, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert np.array_equal(b, a[1:4, 3:5, 8:24])
    ok(drv.cuMemFree(d))


def test_copy_3d_peer(ctx):
    a = pattern(256)
    d, e = put(a), alloc(256)
    c = drv.CUDA_MEMCPY3D_PEER()
    c.srcMemoryType, c.srcDevice, c.srcPitch, c.srcHeight, c.srcContext = D, d, 16, 4, ctx
    c.dstMemoryType, c.dstDevice, c.dstPitch, c.dstHeight, c.dstContext = D, e, 16, 4, ctx
    c.WidthInBytes, c.Height, c.Depth = 16, 4, 4
    ok(drv.cuMemcpy3DPeer(c))
    ok(drv.cuCtxSynchronize())
    assert np.array_equal(get(e, 256, np.uint8), a)
    [ok(drv.cuMemFree(x)) for x in (d, e)]


def test_copy_batch(ctx, stream):
    if ok(drv.cuDriverGetVersion()) < 12080:
        pytest.skip("came with 12.8")
    a, b = pattern(300), pattern(200)
    s1, s2, d1, d2 = put(a), put(b), alloc(300), alloc(200)
    attr = drv.CUmemcpyAttributes()
    attr.srcAccessOrder = drv.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
    ok(drv.cuMemcpyBatchAsync([d1, d2], [s1, s2], [300, 200], 2, [attr], [0], 1, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert np.array_equal(get(d1, 300, np.uint8), a) and np.array_equal(get(d2, 200, np.uint8), b)
    [ok(drv.cuMemFree(x)) for x in (s1, s2, d1, d2)]


# -- fills ----------------------------------------------------------------------------------------

@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("bits,value", [(8, 0xA5), (16, 0xBEEF), (32, 0xDEADBEEF)])
def test_memset(ctx, stream, how, bits, value):
    dtype = np.dtype(f"u{bits // 8}")
    d = put(np.zeros(1000, dtype))
    at = int(d) + 3 * dtype.itemsize
    if how == "sync":
        ok(getattr(drv, f"cuMemsetD{bits}")(at, value, 900))
    else:
        ok(getattr(drv, f"cuMemsetD{bits}Async")(at, value, 900, stream))
    ok(drv.cuCtxSynchronize())
    got = get(d, 1000, dtype)
    assert (got[3:903] == value).all() and got.astype(np.uint64).sum() == value * 900
    ok(drv.cuMemFree(d))


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("bits,value", [(8, 0x5A), (16, 0xFACE), (32, 0xCAFEBABE)])
def test_memset_2d(ctx, stream, how, bits, value):
    dtype = np.dtype(f"u{bits // 8}")
    d = put(np.zeros((6, 64), dtype))
    pitch = 64 * dtype.itemsize
    if how == "sync":
        ok(getattr(drv, f"cuMemsetD2D{bits}")(d, pitch, value, 33, 5))
    else:
        ok(getattr(drv, f"cuMemsetD2D{bits}Async")(d, pitch, value, 33, 5, stream))
    ok(drv.cuCtxSynchronize())
    want = np.zeros((6, 64), dtype)
    want[:5, :33] = value
    assert np.array_equal(get(d, 384, dtype).reshape(6, 64), want)
    ok(drv.cuMemFree(d))


def test_memset_misaligned(ctx):
    d = alloc(64)
    assert code(drv.cuMemsetD32(int(d) + 2, 1, 4)) == "INVALID_VALUE"
    ok(drv.cuMemFree(d))


def test_memset_past_the_end(ctx):
    d = alloc(64)
    assert code(drv.cuMemsetD8(d, 1, 100000)) == "INVALID_VALUE"
    ok(drv.cuMemFree(d))


def test_copy_async_unified(ctx, stream):
    a = pattern(1000)
    d = put(a)
    e = alloc(1000)
    ok(drv.cuMemcpyAsync(e, d, 1000, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert np.array_equal(get(e, 1000, np.uint8), a)
    [ok(drv.cuMemFree(x)) for x in (d, e)]


def test_copy_3d_peer_async(ctx, stream):
    a = pattern(256)
    d, e = put(a), alloc(256)
    c = drv.CUDA_MEMCPY3D_PEER()
    c.srcMemoryType, c.srcDevice, c.srcPitch, c.srcHeight, c.srcContext = D, d, 16, 4, ctx
    c.dstMemoryType, c.dstDevice, c.dstPitch, c.dstHeight, c.dstContext = D, e, 16, 4, ctx
    c.WidthInBytes, c.Height, c.Depth = 16, 4, 4
    ok(drv.cuMemcpy3DPeerAsync(c, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert np.array_equal(get(e, 256, np.uint8), a)
    [ok(drv.cuMemFree(x)) for x in (d, e)]


def test_copy_batch_with_a_bad_size(ctx, stream):
    if ok(drv.cuDriverGetVersion()) < 12080:
        pytest.skip("came with 12.8")
    s, d = alloc(64), alloc(64)
    attr = drv.CUmemcpyAttributes()
    attr.srcAccessOrder = drv.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
    assert code(drv.cuMemcpyBatchAsync([d], [s], [0], 1, [attr], [0], 1, stream)) == "INVALID_VALUE"
    [ok(drv.cuMemFree(x)) for x in (s, d)]


@pytest.mark.skipif(not NEW, reason="the batches of managed memory came with 13.0")
@pytest.mark.parametrize("what", ["prefetch", "discard", "discard and prefetch"])
def test_managed_batch(ctx, dev, stream, what):
    needs(pytest, dev, "CONCURRENT_MANAGED_ACCESS")
    size = 4 << 20
    p = ok(drv.cuMemAllocManaged(size, drv.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL))
    host(p, size, np.uint8)[:] = 7
    where = [location("DEVICE", 0)]
    if what == "prefetch":
        ok(drv.cuMemPrefetchBatchAsync([p], [size], 1, where, [0], 1, 0, stream))
    elif what == "discard":
        ok(drv.cuMemDiscardBatchAsync([p], [size], 1, 0, stream))
    else:
        ok(drv.cuMemDiscardAndPrefetchBatchAsync([p], [size], 1, where, [0], 1, 0, stream))
    ok(drv.cuStreamSynchronize(stream))
    if what == "prefetch":
        assert (host(p, size, np.uint8) == 7).all()
    host(p, size, np.uint8)[:] = 8  # discarded contents are undefined until they are written
    ok(drv.cuStreamSynchronize(stream))
    assert (host(p, size, np.uint8) == 8).all()
    ok(drv.cuMemFree(p))


def test_host_register_read_only_flag(ctx, dev):
    m = mmap.mmap(-1, 4096)
    at = ctypes.addressof(ctypes.c_char.from_buffer(m))
    r = drv.cuMemHostRegister(at, 4096, drv.CU_MEMHOSTREGISTER_READ_ONLY)
    if attribute(dev, "READ_ONLY_HOST_REGISTER_SUPPORTED"):
        ok(r)
        ok(drv.cuMemHostUnregister(at))
    else:
        assert code(r) == "NOT_SUPPORTED"


def test_host_register_nothing(ctx):
    assert code(drv.cuMemHostRegister(0, 4096, 0)) == "INVALID_VALUE"


def test_memory_survives_many_sizes(ctx):
    rng = np.random.default_rng(5)
    live = []
    for i in range(300):
        n = int(rng.integers(1, 1 << 20))
        p = alloc(n)
        ok(drv.cuMemsetD8(p, i % 251, n))
        live.append((p, n, i % 251))
        if len(live) > 20:
            q, m, v = live.pop(int(rng.integers(len(live))))
            last = get(int(q) + m - 1, 1, np.uint8)[0]
            assert last == v and get(q, 1, np.uint8)[0] == v
            ok(drv.cuMemFree(q))
    for q, m, v in live:
        assert get(int(q) + m - 1, 1, np.uint8)[0] == v
        ok(drv.cuMemFree(q))


def test_dma_buf(ctx, dev):
    p = alloc(2 << 20)
    r = drv.cuMemGetHandleForAddressRange(p, 2 << 20, drv.CUmemRangeHandleType.CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0)
    if attribute(dev, "DMA_BUF_SUPPORTED"):
        if code(r) == "CUDA_SUCCESS":
            os.close(int(r[1]))
    else:
        assert code(r) == "NOT_SUPPORTED"
    ok(drv.cuMemFree(p))
