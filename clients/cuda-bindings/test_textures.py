"""Arrays, textures, surfaces, texture references, tensor maps, green contexts."""
import pytest

import kernels
from driver_calls import *

FMT = drv.CUarray_format
R = drv.CUresourcetype
T = drv.CUmemorytype
u32 = ctypes.c_uint


def array2d(w, h, fmt="FLOAT", channels=1, flags=0, depth=0):
    d = drv.CUDA_ARRAY3D_DESCRIPTOR()
    d.Width, d.Height, d.Depth, d.Format, d.NumChannels, d.Flags = w, h, depth, getattr(FMT, "CU_AD_FORMAT_" + fmt), channels, flags
    return ok(drv.cuArray3DCreate(d))


def upload(arr, data):
    h, w = data.shape[:2]
    c = drv.CUDA_MEMCPY2D()
    c.srcMemoryType, c.srcHost, c.srcPitch = T.CU_MEMORYTYPE_HOST, data.ctypes.data, data.strides[0]
    c.dstMemoryType, c.dstArray = T.CU_MEMORYTYPE_ARRAY, arr
    c.WidthInBytes, c.Height = data.strides[0], h
    ok(drv.cuMemcpy2D(c))


def download(arr, shape, dtype):
    out = np.empty(shape, dtype)
    c = drv.CUDA_MEMCPY2D()
    c.srcMemoryType, c.srcArray = T.CU_MEMORYTYPE_ARRAY, arr
    c.dstMemoryType, c.dstHost, c.dstPitch = T.CU_MEMORYTYPE_HOST, out.ctypes.data, out.strides[0]
    c.WidthInBytes, c.Height = out.strides[0], shape[0]
    ok(drv.cuMemcpy2D(c))
    return out


def texture_desc(address="CLAMP", linear=False, flags=0):
    d = drv.CUDA_TEXTURE_DESC()
    d.addressMode = [getattr(drv.CUaddress_mode, "CU_TR_ADDRESS_MODE_" + address)] * 3
    d.filterMode = drv.CUfilter_mode.CU_TR_FILTER_MODE_LINEAR if linear else drv.CUfilter_mode.CU_TR_FILTER_MODE_POINT
    d.mipmapFilterMode = drv.CUfilter_mode.CU_TR_FILTER_MODE_POINT
    d.flags = flags
    return d


def of_array(arr):
    d = drv.CUDA_RESOURCE_DESC()
    d.resType = R.CU_RESOURCE_TYPE_ARRAY
    d.res.array.hArray = arr
    return d


@pytest.fixture
def textures(ctx):
    m = module(kernels.TEXTURE)
    yield m
    ok(drv.cuModuleUnload(m))


def sample(m, name, tex, u, v):
    u, v = np.asarray(u, np.float32), np.asarray(v, np.float32)
    du, dv, out = put(u), put(v), put(np.zeros(len(u), np.float32))
    launch(function(m, name), (1,), (len(u),), (int(tex), du, dv, out), (ctypes.c_ulonglong, None, None, None))
    got = get(out, len(u), np.float32)
    [ok(drv.cuMemFree(p)) for p in (du, dv, out)]
    return got.tolist()


# -- arrays ---------------------------------------------------------------------------------------

def test_array_there_and_back(ctx):
    d = drv.CUDA_ARRAY_DESCRIPTOR()
    d.Width, d.Height, d.Format, d.NumChannels = 33, 5, FMT.CU_AD_FORMAT_UNSIGNED_INT8, 4
    a = ok(drv.cuArrayCreate(d))
    got = ok(drv.cuArrayGetDescriptor(a))
    assert (got.Width, got.Height, got.Format, got.NumChannels) == (33, 5, FMT.CU_AD_FORMAT_UNSIGNED_INT8, 4)
    data = np.random.default_rng(1).integers(0, 255, (5, 132)).astype(np.uint8)
    upload(a, data)
    assert np.array_equal(download(a, (5, 132), np.uint8), data)
    ok(drv.cuArrayDestroy(a))


def test_array_1d_copies(ctx, stream):
    d = drv.CUDA_ARRAY_DESCRIPTOR()
    d.Width, d.Height, d.Format, d.NumChannels = 64, 0, FMT.CU_AD_FORMAT_UNSIGNED_INT32, 1
    a, b = (ok(drv.cuArrayCreate(d)) for _ in range(2))
    data = np.arange(64, dtype=np.uint32)
    out = np.zeros(64, np.uint32)
    ok(drv.cuMemcpyHtoA(a, 0, data.ctypes.data, 256))
    ok(drv.cuMemcpyAtoA(b, 128, a, 0, 128))
    p = alloc(256)
    ok(drv.cuMemcpyAtoD(p, b, 128, 128))
    assert get(p, 32, np.uint32).tolist() == list(range(32))
    ok(drv.cuMemcpyDtoA(b, 0, p, 64))
    ok(drv.cuMemcpyAtoH(out.ctypes.data, b, 0, 64))
    assert out[:16].tolist() == list(range(16))
    ok(drv.cuMemcpyHtoAAsync(b, 0, data.ctypes.data, 256, stream))
    ok(drv.cuMemcpyAtoHAsync(out.ctypes.data, b, 0, 256, stream))
    ok(drv.cuStreamSynchronize(stream))
    assert np.array_equal(out, data)
    ok(drv.cuMemFree(p))
    [ok(drv.cuArrayDestroy(x)) for x in (a, b)]


def test_array_3d(ctx):
    a = array2d(8, 4, "SIGNED_INT16", 2, 0, 3)
    got = ok(drv.cuArray3DGetDescriptor(a))
    assert (got.Width, got.Height, got.Depth, got.NumChannels, got.Flags) == (8, 4, 3, 2, 0)
    data = np.arange(8 * 4 * 3 * 2, dtype=np.int16)
    out = np.zeros_like(data)
    for to in (True, False):
        c = drv.CUDA_MEMCPY3D()
        side = "src" if to else "dst"
        setattr(c, side + "MemoryType", T.CU_MEMORYTYPE_HOST)
        setattr(c, side + "Host", (data if to else out).ctypes.data)
        setattr(c, side + "Pitch", 32)
        setattr(c, side + "Height", 4)
        other = "dst" if to else "src"
        setattr(c, other + "MemoryType", T.CU_MEMORYTYPE_ARRAY)
        setattr(c, other + "Array", a)
        c.WidthInBytes, c.Height, c.Depth = 32, 4, 3
        ok(drv.cuMemcpy3D(c))
    assert np.array_equal(out, data)
    ok(drv.cuArrayDestroy(a))


def test_array_channels(ctx):
    d = drv.CUDA_ARRAY_DESCRIPTOR()
    d.Width, d.Height, d.Format, d.NumChannels = 8, 8, FMT.CU_AD_FORMAT_FLOAT, 3
    assert code(drv.cuArrayCreate(d)) == "INVALID_VALUE"


def test_mipmapped_array(ctx):
    d = drv.CUDA_ARRAY3D_DESCRIPTOR()
    d.Width, d.Height, d.Format, d.NumChannels = 16, 8, FMT.CU_AD_FORMAT_FLOAT, 1
    m = ok(drv.cuMipmappedArrayCreate(d, 3))
    sizes = []
    for level in range(3):
        g = ok(drv.cuArrayGetDescriptor(ok(drv.cuMipmappedArrayGetLevel(m, level))))
        sizes.append((g.Width, g.Height))
    assert sizes == [(16, 8), (8, 4), (4, 2)]
    assert code(drv.cuMipmappedArrayGetLevel(m, 3)) == "INVALID_VALUE"
    ok(drv.cuMipmappedArrayDestroy(m))


def test_array_memory_requirements(ctx, dev):
    needs(pytest, dev, "DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED")
    a = array2d(64, 64, flags=drv.CUDA_ARRAY3D_DEFERRED_MAPPING)
    r = ok(drv.cuArrayGetMemoryRequirements(a, dev))
    assert r.size >= 64 * 64 * 4 and r.alignment > 0
    ok(drv.cuArrayDestroy(a))


# -- textures -------------------------------------------------------------------------------------

def test_texture_points(textures):
    data = np.arange(12, dtype=np.float32).reshape(3, 4)
    a = array2d(4, 3)
    upload(a, data)
    t = ok(drv.cuTexObjectCreate(of_array(a), texture_desc(), None))
    assert sample(textures, "fetch2d", t, [0.5, 3.5, 1.2, 9, -3], [0.5, 2.5, 1.9, 0.5, 1.5]) == [0, 11, 5, 3, 4]
    ok(drv.cuTexObjectDestroy(t))
    ok(drv.cuArrayDestroy(a))


def test_texture_linear(textures):
    data = np.array([[0, 8], [16, 32]], np.float32)
    a = array2d(2, 2)
    upload(a, data)
    t = ok(drv.cuTexObjectCreate(of_array(a), texture_desc(linear=True), None))
    assert sample(textures, "fetch2d", t, [1, 0.5, 1, 0.75], [0.5, 1, 1, 0.5]) == [4, 8, 14, 2]
    ok(drv.cuTexObjectDestroy(t))
    ok(drv.cuArrayDestroy(a))


@pytest.mark.parametrize("mode,want", [("WRAP", [1, 4, 2]), ("MIRROR", [4, 1, 3]), ("CLAMP", [4, 1, 4]), ("BORDER", [0, 0, 0])])
def test_texture_address_modes(textures, mode, want):
    a = array2d(4, 1)
    upload(a, np.array([[1, 2, 3, 4]], np.float32))
    t = ok(drv.cuTexObjectCreate(of_array(a), texture_desc(mode, flags=drv.CU_TRSF_NORMALIZED_COORDINATES), None))
    # the first texel past either end, and the second past the right one
    got = sample(textures, "fetch2d", t, [1.125, -0.125, 1.375], [0.5, 0.5, 0.5])
    assert got == want
    ok(drv.cuTexObjectDestroy(t))
    ok(drv.cuArrayDestroy(a))


def test_texture_normalized_read(textures):
    a = array2d(4, 1, "UNSIGNED_INT8")
    upload(a, np.array([[0, 51, 102, 255]], np.uint8))
    t = ok(drv.cuTexObjectCreate(of_array(a), texture_desc(), None))
    assert sample(textures, "fetch2d", t, [0.5, 1.5, 2.5, 3.5], [0.5] * 4) == [float(np.float32(x)) for x in (0, 0.2, 0.4, 1)]
    ok(drv.cuTexObjectDestroy(t))
    ok(drv.cuArrayDestroy(a))


def test_texture_of_linear_memory(textures):
    d = put(np.arange(100, 164, dtype=np.int32))
    r = drv.CUDA_RESOURCE_DESC()
    r.resType = R.CU_RESOURCE_TYPE_LINEAR
    r.res.linear.devPtr, r.res.linear.format, r.res.linear.numChannels, r.res.linear.sizeInBytes = d, FMT.CU_AD_FORMAT_SIGNED_INT32, 1, 256
    t = ok(drv.cuTexObjectCreate(r, texture_desc(flags=drv.CU_TRSF_READ_AS_INTEGER), None))
    out = put(np.zeros(64, np.int32))
    launch(function(textures, "fetch1d"), (1,), (64,), (int(t), out), (ctypes.c_ulonglong, None))
    assert get(out, 64, np.int32).tolist() == list(range(100, 164))
    ok(drv.cuTexObjectDestroy(t))
    [ok(drv.cuMemFree(p)) for p in (d, out)]


def test_texture_of_pitched_memory(textures, dev):
    pitch = max(64, attribute(dev, "TEXTURE_PITCH_ALIGNMENT"))
    rows = np.zeros((4, pitch // 4), np.float32)
    rows[:, :8] = np.arange(32).reshape(4, 8)
    d = put(rows)
    r = drv.CUDA_RESOURCE_DESC()
    r.resType = R.CU_RESOURCE_TYPE_PITCH2D
    p = r.res.pitch2D
    p.devPtr, p.format, p.numChannels, p.width, p.height, p.pitchInBytes = d, FMT.CU_AD_FORMAT_FLOAT, 1, 8, 4, pitch
    t = ok(drv.cuTexObjectCreate(r, texture_desc(), None))
    assert sample(textures, "fetch2d", t, [0.5, 7.5, 3.5], [0.5, 3.5, 2.5]) == [0, 31, 19]
    got = ok(drv.cuTexObjectGetResourceDesc(t))
    assert got.resType == R.CU_RESOURCE_TYPE_PITCH2D and got.res.pitch2D.width == 8
    ok(drv.cuTexObjectDestroy(t))
    ok(drv.cuMemFree(d))


def test_texture_of_a_mipmapped_array(textures):
    d = drv.CUDA_ARRAY3D_DESCRIPTOR()
    d.Width, d.Height, d.Format, d.NumChannels = 4, 4, FMT.CU_AD_FORMAT_FLOAT, 1
    m = ok(drv.cuMipmappedArrayCreate(d, 2))
    upload(ok(drv.cuMipmappedArrayGetLevel(m, 0)), np.full((4, 4), 1, np.float32))
    upload(ok(drv.cuMipmappedArrayGetLevel(m, 1)), np.array([[10, 20], [30, 40]], np.float32))
    r = drv.CUDA_RESOURCE_DESC()
    r.resType = R.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
    r.res.mipmap.hMipmappedArray = m
    desc = texture_desc(flags=drv.CU_TRSF_NORMALIZED_COORDINATES)
    desc.maxMipmapLevelClamp = 1.0
    t = ok(drv.cuTexObjectCreate(r, desc, None))
    assert sample(textures, "fetchlevel", t, [0.25, 0.75, 0.25, 0.75], [0.25, 0.25, 0.75, 0.75]) == [10, 20, 30, 40]
    ok(drv.cuTexObjectDestroy(t))
    ok(drv.cuMipmappedArrayDestroy(m))


def test_texture_descriptions(ctx):
    a = array2d(4, 4)
    t = ok(drv.cuTexObjectCreate(of_array(a), texture_desc("WRAP", True, drv.CU_TRSF_NORMALIZED_COORDINATES), None))
    assert int(ok(drv.cuTexObjectGetResourceDesc(t)).res.array.hArray) == int(a)
    d = ok(drv.cuTexObjectGetTextureDesc(t))
    assert d.filterMode == drv.CUfilter_mode.CU_TR_FILTER_MODE_LINEAR and d.flags == drv.CU_TRSF_NORMALIZED_COORDINATES
    v = ok(drv.cuTexObjectGetResourceViewDesc(t))  # it has none
    assert (int(v.format), v.width, v.height, v.depth, v.lastMipmapLevel, v.lastLayer) == (0, 0, 0, 0, 0, 0)
    ok(drv.cuTexObjectDestroy(t))
    ok(drv.cuArrayDestroy(a))


def test_texture_misaligned(ctx, dev):
    d = alloc(4096)
    r = drv.CUDA_RESOURCE_DESC()
    r.resType = R.CU_RESOURCE_TYPE_LINEAR
    r.res.linear.devPtr, r.res.linear.format, r.res.linear.numChannels, r.res.linear.sizeInBytes = int(d) + 4, FMT.CU_AD_FORMAT_FLOAT, 1, 256
    assert code(drv.cuTexObjectCreate(r, texture_desc(), None)) == "INVALID_VALUE"
    ok(drv.cuMemFree(d))


def test_surface(textures):
    a = array2d(8, 4, "SIGNED_INT32", flags=drv.CUDA_ARRAY3D_SURFACE_LDST)
    upload(a, np.full((4, 8), 1000, np.int32))
    s = ok(drv.cuSurfObjectCreate(of_array(a)))
    launch(function(textures, "surface"), (1,), (8, 4), (int(s),), (ctypes.c_ulonglong,))
    want = 1000 + np.arange(4)[:, None] * 100 + np.arange(8)[None, :]
    assert np.array_equal(download(a, (4, 8), np.int32), want)
    assert int(ok(drv.cuSurfObjectGetResourceDesc(s)).res.array.hArray) == int(a)
    ok(drv.cuSurfObjectDestroy(s))
    ok(drv.cuArrayDestroy(a))


def test_surface_of_linear_memory(ctx):
    d = alloc(4096)
    r = drv.CUDA_RESOURCE_DESC()
    r.resType = R.CU_RESOURCE_TYPE_LINEAR
    r.res.linear.devPtr, r.res.linear.format, r.res.linear.numChannels, r.res.linear.sizeInBytes = d, FMT.CU_AD_FORMAT_FLOAT, 1, 4096
    assert code(drv.cuSurfObjectCreate(r)) == "INVALID_VALUE"
    ok(drv.cuMemFree(d))


def test_texture_reference(ctx):
    m = module(kernels.TEXREF)
    ref = ok(drv.cuModuleGetTexRef(m, b"image"))
    a = array2d(4, 2)
    upload(a, np.arange(8, dtype=np.float32).reshape(2, 4))
    ok(drv.cuTexRefSetArray(ref, a, drv.CU_TRSA_OVERRIDE_FORMAT))
    ok(drv.cuTexRefSetFilterMode(ref, drv.CUfilter_mode.CU_TR_FILTER_MODE_POINT))
    ok(drv.cuTexRefSetAddressMode(ref, 0, drv.CUaddress_mode.CU_TR_ADDRESS_MODE_CLAMP))
    assert int(ok(drv.cuTexRefGetArray(ref))) == int(a)
    out = put(np.zeros(4, np.float32))
    launch(function(m, "fetch"), (1,), (4,), (out,), (None,))
    assert get(out, 4, np.float32).tolist() == [4, 5, 6, 7]
    assert code(drv.cuModuleGetTexRef(m, b"missing")) == "NOT_FOUND"
    ok(drv.cuMemFree(out))
    ok(drv.cuModuleUnload(m))
    ok(drv.cuArrayDestroy(a))


def test_texture_reference_settings(ctx):
    m = module(kernels.TEXREF)
    ref = ok(drv.cuModuleGetTexRef(m, b"image"))
    ok(drv.cuTexRefSetFormat(ref, FMT.CU_AD_FORMAT_UNSIGNED_INT8, 4))
    assert ok(drv.cuTexRefGetFormat(ref)) == (FMT.CU_AD_FORMAT_UNSIGNED_INT8, 4)
    ok(drv.cuTexRefSetFilterMode(ref, drv.CUfilter_mode.CU_TR_FILTER_MODE_LINEAR))
    assert ok(drv.cuTexRefGetFilterMode(ref)) == drv.CUfilter_mode.CU_TR_FILTER_MODE_LINEAR
    ok(drv.cuTexRefSetFlags(ref, drv.CU_TRSF_READ_AS_INTEGER))
    assert ok(drv.cuTexRefGetFlags(ref)) == drv.CU_TRSF_READ_AS_INTEGER
    ok(drv.cuTexRefSetAddressMode(ref, 1, drv.CUaddress_mode.CU_TR_ADDRESS_MODE_BORDER))
    assert ok(drv.cuTexRefGetAddressMode(ref, 1)) == drv.CUaddress_mode.CU_TR_ADDRESS_MODE_BORDER
    ok(drv.cuTexRefSetMaxAnisotropy(ref, 4))
    assert ok(drv.cuTexRefGetMaxAnisotropy(ref)) == 4
    d = alloc(4096)
    assert ok(drv.cuTexRefSetAddress(ref, d, 4096)) == 0
    assert int(ok(drv.cuTexRefGetAddress(ref))) == int(d)
    ok(drv.cuModuleUnload(m))
    ok(drv.cuMemFree(d))


def test_surface_reference(ctx):
    m = module(kernels.TEXREF)
    ref = ok(drv.cuModuleGetSurfRef(m, b"canvas"))
    a = array2d(8, 4, "SIGNED_INT32", flags=drv.CUDA_ARRAY3D_SURFACE_LDST)
    ok(drv.cuSurfRefSetArray(ref, a, 0))
    assert int(ok(drv.cuSurfRefGetArray(ref))) == int(a)
    ok(drv.cuModuleUnload(m))
    ok(drv.cuArrayDestroy(a))


# -- tensor maps ----------------------------------------------------------------------------------

def tensor_map(p, shift=0, **change):
    """The result code and the 16 words, which lie at a multiple of 64 bytes and shift. By the address of the function, since the bindings leave the place to Python."""
    X = drv
    a = dict(type=X.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank=2, address=p, dims=[64, 32], strides=[256], box=[16, 8], steps=[1, 1],
             interleave=X.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle=X.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_NONE)
    a.update(change)
    i, ptr = ctypes.c_int, ctypes.c_void_p
    f = ctypes.CFUNCTYPE(i, ptr, i, u32, ptr, ptr, ptr, ptr, ptr, i, i, i, i)(ok(drv.cuGetProcAddress(b"cuTensorMapEncodeTiled", 12000, 0))[0])
    lists = [np.array(a[k], t) for k, t in (("dims", np.uint64), ("strides", np.uint64), ("box", np.uint32), ("steps", np.uint32))]
    room = np.zeros(32, np.uint64)
    at = (-room.ctypes.data % 64 + shift) // 8
    out = room[at:at + 16]
    r = f(out.ctypes.data, int(a["type"]), a["rank"], a["address"], *(x.ctypes.data for x in lists), int(a["interleave"]), int(a["swizzle"]), 0, 0)
    return drv.CUresult(r), out.copy()


@pytest.fixture
def tensors(ctx, dev):
    if attribute(dev, "COMPUTE_CAPABILITY_MAJOR") < 9:
        pytest.skip("needs compute capability 9.0")
    d = alloc(64 * 32 * 4)
    yield int(d)
    ok(drv.cuMemFree(d))


def test_tensor_map(tensors):
    m = ok(tensor_map(tensors))
    assert m.any()
    assert np.array_equal(ok(tensor_map(tensors)), m)
    assert not np.array_equal(ok(tensor_map(tensors + 16)), m)


def test_tensor_map_anywhere(tensors):
    # the type is declared with an alignment of 64, which cuda-core's objects in Python do not have; it works there
    assert np.array_equal(ok(tensor_map(tensors, shift=16)), ok(tensor_map(tensors)))


@pytest.mark.parametrize("change", [dict(strides=[250]), dict(box=[512, 1]), dict(dims=[0, 32]), dict(steps=[1, 0]), dict(address=8), dict(box=[3, 8]), dict(rank=0), dict(rank=6)])
def test_tensor_map_refused(tensors, change):
    assert code(tensor_map(tensors, **change)) == "INVALID_VALUE"


# -- green contexts -------------------------------------------------------------------------------

SM = drv.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM


def green(dev, count):
    all_sms = ok(drv.cuDeviceGetDevResource(dev, SM))
    groups, n, rest = ok(drv.cuDevSmResourceSplitByCount(1, all_sms, 0, count))
    desc = ok(drv.cuDevResourceGenerateDesc([groups[0]], 1))
    return ok(drv.cuGreenCtxCreate(desc, dev, drv.CUgreenCtxCreate_flags.CU_GREEN_CTX_DEFAULT_STREAM)), groups[0], rest


def test_green_resources(ctx, dev):
    r = ok(drv.cuDeviceGetDevResource(dev, SM))
    assert r.sm.smCount == attribute(dev, "MULTIPROCESSOR_COUNT")
    assert ok(drv.cuCtxGetDevResource(ctx, SM)).sm.smCount == r.sm.smCount


def test_green_split(ctx, dev):
    r = ok(drv.cuDeviceGetDevResource(dev, SM))
    groups, n, rest = ok(drv.cuDevSmResourceSplitByCount(2, r, 0, 8))
    assert n == 2 and all(g.sm.smCount >= 8 for g in groups[:2])
    assert sum(g.sm.smCount for g in groups[:2]) + rest.sm.smCount <= r.sm.smCount


def test_green_context(ctx, dev, basic):
    g, part, _ = green(dev, 8)
    c = ok(drv.cuCtxFromGreenCtx(g))
    assert int(c) != int(ctx)
    assert ok(drv.cuCtxGetDevResource(c, SM)).sm.smCount == part.sm.smCount
    assert ok(drv.cuGreenCtxGetDevResource(g, SM)).sm.smCount == part.sm.smCount
    s = ok(drv.cuGreenCtxStreamCreate(g, drv.CUstream_flags.CU_STREAM_NON_BLOCKING, 0))
    assert int(ok(drv.cuStreamGetGreenCtx(s))) == int(g)
    assert int(ok(drv.cuStreamGetGreenCtx(ok(drv.cuStreamCreate(1))))) == 0
    d = put(np.zeros(16, np.uint32))
    lib = ok(drv.cuLibraryLoadData(kernels.BASIC.encode(), [], [], 0, [], [], 0))
    ok(drv.cuCtxPushCurrent(c))
    f = ok(drv.cuKernelGetFunction(ok(drv.cuLibraryGetKernel(lib, b"add_one"))))
    launch(f, (1,), (50,), (d,), (None,), s)
    ok(drv.cuStreamSynchronize(s))
    ok(drv.cuCtxPopCurrent())
    assert get(d, 1, np.uint32)[0] == 50
    ok(drv.cuCtxPushCurrent(c))
    e = ok(drv.cuEventCreate(drv.CUevent_flags.CU_EVENT_DISABLE_TIMING))
    ok(drv.cuCtxPopCurrent())
    ok(drv.cuGreenCtxRecordEvent(g, e))
    ok(drv.cuGreenCtxWaitEvent(g, e))
    ok(drv.cuEventSynchronize(e))
    ok(drv.cuEventDestroy(e))
    ok(drv.cuStreamDestroy(s))
    ok(drv.cuLibraryUnload(lib))
    ok(drv.cuGreenCtxDestroy(g))
    ok(drv.cuMemFree(d))


def test_green_context_flags(ctx, dev):
    r = ok(drv.cuDeviceGetDevResource(dev, SM))
    desc = ok(drv.cuDevResourceGenerateDesc([r], 1))
    assert code(drv.cuGreenCtxCreate(desc, dev, 0)) == "INVALID_VALUE"  # CU_GREEN_CTX_DEFAULT_STREAM is required


def test_green_ids(ctx, dev):
    if not hasattr(drv, "cuGreenCtxGetId"):
        pytest.skip("came with 12.9")
    a, _, _ = green(dev, 8)
    b, _, _ = green(dev, 8)
    assert ok(drv.cuGreenCtxGetId(a)) != ok(drv.cuGreenCtxGetId(b))
    [ok(drv.cuGreenCtxDestroy(g)) for g in (a, b)]


def test_green_context_of_a_stream(ctx, dev, stream):
    c, g = ok(drv.cuStreamGetCtx_v2(stream))
    assert int(c) == int(ctx) and int(g) == 0


def test_green_split_too_large(ctx, dev):
    r = ok(drv.cuDeviceGetDevResource(dev, SM))
    assert code(drv.cuDevSmResourceSplitByCount(1, r, 0, r.sm.smCount + 1)) == "INVALID_RESOURCE_CONFIGURATION"


# -- planes and sparse arrays ---------------------------------------------------------------------

def test_array_plane(ctx):
    """NV12: a plane of luma and one of chroma."""
    d = drv.CUDA_ARRAY3D_DESCRIPTOR()
    d.Width, d.Height, d.Format, d.NumChannels, d.Flags = 64, 32, FMT.CU_AD_FORMAT_NV12, 3, 0
    r = drv.cuArray3DCreate(d)
    if code(r) in ("INVALID_VALUE", "NOT_SUPPORTED"):
        pytest.skip("arrays of NV12 cannot be made")
    a = ok(r)
    sizes = [ok(drv.cuArrayGetDescriptor(ok(drv.cuArrayGetPlane(a, i)))) for i in range(2)]
    assert [(s.Width, s.Height, s.NumChannels) for s in sizes] == [(64, 32, 1), (32, 16, 2)]
    assert code(drv.cuArrayGetPlane(a, 2)) == "INVALID_VALUE"
    ok(drv.cuArrayDestroy(a))


def test_sparse_properties_of_an_ordinary_array(ctx):
    a = array2d(64, 64)
    assert code(drv.cuArrayGetSparseProperties(a)) == "INVALID_VALUE"
    ok(drv.cuArrayDestroy(a))


def test_memory_requirements_of_an_ordinary_array(ctx, dev):
    a = array2d(64, 64)
    assert code(drv.cuArrayGetMemoryRequirements(a, dev)) == "INVALID_VALUE"
    ok(drv.cuArrayDestroy(a))


def test_layered_array(ctx):
    a = array2d(8, 4, "FLOAT", 1, drv.CUDA_ARRAY3D_LAYERED, 3)
    got = ok(drv.cuArray3DGetDescriptor(a))
    assert (got.Depth, got.Flags) == (3, drv.CUDA_ARRAY3D_LAYERED)
    ok(drv.cuArrayDestroy(a))


def test_cubemap_array(ctx):
    a = array2d(8, 8, "FLOAT", 1, drv.CUDA_ARRAY3D_CUBEMAP, 6)
    ok(drv.cuArrayDestroy(a))
    d = drv.CUDA_ARRAY3D_DESCRIPTOR()
    d.Width, d.Height, d.Depth, d.Format, d.NumChannels, d.Flags = 8, 4, 6, FMT.CU_AD_FORMAT_FLOAT, 1, drv.CUDA_ARRAY3D_CUBEMAP
    assert code(drv.cuArray3DCreate(d)) == "INVALID_VALUE"  # not square


@pytest.mark.parametrize("fmt,channels,dtype", [("UNSIGNED_INT8", 1, np.uint8), ("SIGNED_INT8", 4, np.int8), ("UNSIGNED_INT16", 2, np.uint16), ("HALF", 4, np.float16), ("FLOAT", 2, np.float32), ("SIGNED_INT32", 4, np.int32)])
def test_array_formats(ctx, fmt, channels, dtype):
    a = array2d(20, 6, fmt, channels)
    data = np.random.default_rng(9).integers(0, 100, (6, 20 * channels)).astype(dtype)
    upload(a, data)
    assert np.array_equal(download(a, data.shape, dtype), data)
    ok(drv.cuArrayDestroy(a))
