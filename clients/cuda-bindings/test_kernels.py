"""Modules, libraries, functions, the linker, launches, occupancy."""
import tempfile

import pytest

import kernels
from driver_calls import *

J = drv.CUjit_option
F = drv.CUfunction_attribute
I = drv.CUjitInputType
u32, u64, f32 = ctypes.c_uint, ctypes.c_ulonglong, ctypes.c_float


# -- modules --------------------------------------------------------------------------------------

def test_load_and_unload(ctx):
    m = module(kernels.BASIC)
    assert int(function(m, "fill"))
    ok(drv.cuModuleUnload(m))


def test_load_file(ctx, tmp_path):
    p = tmp_path / "basic.ptx"
    p.write_text(kernels.BASIC)
    m = ok(drv.cuModuleLoad(str(p).encode()))
    function(m, "saxpy")
    ok(drv.cuModuleUnload(m))


def test_load_file_that_is_not_there(ctx):
    assert code(drv.cuModuleLoad(b"/no/such/file.ptx")) == "FILE_NOT_FOUND"


def test_load_bad_text(ctx):
    assert code(drv.cuModuleLoadData(b".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { nonsense.u32 %r1; }\n")) == "INVALID_PTX"


def test_load_too_new_a_version(ctx):
    assert code(drv.cuModuleLoadData(b".version 99.0\n.target sm_52\n.address_size 64\n")) == "UNSUPPORTED_PTX_VERSION"


def test_load_something_else(ctx):
    assert code(drv.cuModuleLoadData(b"this is no image at all, whatever one looks for in it")) in ("INVALID_IMAGE", "INVALID_PTX", "INVALID_SOURCE")


def test_load_options(ctx):
    info, errors = b"\0" * 4096, b"\0" * 4096  # the driver writes into them
    opts = [J.CU_JIT_INFO_LOG_BUFFER, J.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, J.CU_JIT_ERROR_LOG_BUFFER, J.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, J.CU_JIT_OPTIMIZATION_LEVEL, J.CU_JIT_LOG_VERBOSE]
    bad = b".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { nonsense.u32 %r1; }\n"
    r = drv.cuModuleLoadDataEx(bad, len(opts), opts, [info, 4096, errors, 4096, 3, True])
    assert code(r) == "INVALID_PTX"
    assert b"line 4" in errors and b"nonsense" in errors
    m = ok(drv.cuModuleLoadDataEx(kernels.BASIC.encode(), len(opts), opts, [info, 4096, errors, 4096, 3, True]))
    ok(drv.cuModuleUnload(m))


def test_function_that_is_not_there(basic):
    assert code(drv.cuModuleGetFunction(basic, b"missing")) == "NOT_FOUND"


def test_functions_of_a_module(basic):
    n = ok(drv.cuModuleGetFunctionCount(basic))
    assert n == 8
    names = {ok(drv.cuFuncGetName(f)).decode() for f in ok(drv.cuModuleEnumerateFunctions(n, basic))}
    assert names == {"fill", "saxpy", "add_one", "reverse", "count", "place", "types", "empty"}


def test_function_knows_its_module(basic):
    f = function(basic, "fill")
    assert int(ok(drv.cuFuncGetModule(f))) == int(basic)
    assert ok(drv.cuFuncGetName(f)) == b"fill"


def test_parameters_of_a_function(basic):
    f = function(basic, "types")
    got = [ok(drv.cuFuncGetParamInfo(f, i)) for i in range(6)]
    assert got == [(0, 8), (8, 1), (10, 2), (12, 4), (16, 8), (24, 16)]
    assert code(drv.cuFuncGetParamInfo(f, 6)) == "INVALID_VALUE"


def test_loading(basic):
    f = function(basic, "fill")
    ok(drv.cuFuncLoad(f))
    assert ok(drv.cuFuncIsLoaded(f)) == drv.CUfunctionLoadingState.CU_FUNCTION_LOADING_STATE_LOADED
    assert ok(drv.cuModuleGetLoadingMode()) in list(drv.CUmoduleLoadingMode)


def test_globals(basic):
    p, size = ok(drv.cuModuleGetGlobal(basic, b"counter"))
    assert size == 4 and get(p, 1, np.uint32)[0] == 7
    p, size = ok(drv.cuModuleGetGlobal(basic, b"table"))
    assert size == 64 and not get(p, 64, np.uint8).any()
    p, size = ok(drv.cuModuleGetGlobal(basic, b"scale"))
    assert size == 4 and get(p, 1, np.float32)[0] == 1.5
    assert code(drv.cuModuleGetGlobal(basic, b"nothing")) == "NOT_FOUND"


def test_global_changed_by_a_kernel(basic):
    out = put(np.zeros(1, np.uint32))
    f = function(basic, "count")
    for _ in range(3):
        launch(f, (1,), (1,), (out,), (None,))
    ok(drv.cuCtxSynchronize())
    assert get(out, 1, np.uint32)[0] == 9
    assert get(ok(drv.cuModuleGetGlobal(basic, b"counter"))[0], 1, np.uint32)[0] == 10
    ok(drv.cuMemFree(out))


def test_globals_are_of_their_module(ctx, basic):
    other = module(kernels.BASIC)
    a, b = (ok(drv.cuModuleGetGlobal(m, b"counter"))[0] for m in (basic, other))
    assert int(a) != int(b)
    ok(drv.cuModuleUnload(other))


def test_managed_global(ctx):
    m = module(kernels.MANAGED)
    p, size = ok(drv.cuModuleGetGlobal(m, b"shared_with_host"))
    a = host(p, 1, np.uint32)
    assert size == 4 and a[0] == 11
    launch(function(m, "bump"), (1,), (1,), (), ())
    ok(drv.cuCtxSynchronize())
    assert a[0] == 12
    ok(drv.cuModuleUnload(m))


def test_fatbin(ctx):
    path = root / "testdata" / "saxpy"
    if not path.exists():
        pytest.skip("testdata is not there")
    m = ok(drv.cuModuleLoadFatBinary((path / "saxpy.fatbin").read_bytes()))
    f = ok(drv.cuModuleEnumerateFunctions(1, m))[0]
    x, y, want = (np.load(path / f"{n}.npy") for n in ("x", "y", "want"))
    assert b"saxpy" in ok(drv.cuFuncGetName(f))
    dx, dy = put(x), put(y)
    sizes = []
    while (r := drv.cuFuncGetParamInfo(f, len(sizes)))[0] == drv.CUresult.CUDA_SUCCESS:
        sizes.append(r[2])
    n = len(x)
    assert sorted(sizes) == [4, 4, 8, 8]
    # saxpy(n, a, x, y) or (a, x, y, n): tell by the layout
    args = ((n, 2.5, dx, dy), (ctypes.c_int, f32, None, None)) if sizes == [4, 4, 8, 8] else ((2.5, dx, dy, n), (f32, None, None, ctypes.c_int))
    launch(f, ((n + 255) // 256,), (256,), *args)
    assert np.array_equal(get(dy, n, np.float32), want)
    [ok(drv.cuMemFree(p)) for p in (dx, dy)]
    ok(drv.cuModuleUnload(m))


# -- libraries ------------------------------------------------------------------------------------

@pytest.fixture
def library(ctx):
    lib = ok(drv.cuLibraryLoadData(kernels.BASIC.encode(), [], [], 0, [], [], 0))
    yield lib
    ok(drv.cuLibraryUnload(lib))


def test_library_kernel(library, dev):
    k = ok(drv.cuLibraryGetKernel(library, b"fill"))
    assert ok(drv.cuKernelGetName(k)) == b"fill"
    assert int(ok(drv.cuKernelGetLibrary(k))) == int(library)
    d = put(np.zeros(100, np.uint32))
    ok(drv.cuLaunchKernel(drv.CUfunction(int(k)), 1, 1, 1, 100, 1, 1, 0, 0, ((d, 6, 100), (None, u32, u32)), 0))  # a CUkernel is as good as a CUfunction
    assert (get(d, 100, np.uint32) == 6).all()
    f = ok(drv.cuKernelGetFunction(k))
    launch(f, (1,), (100,), (d, 8, 50), (None, u32, u32))
    assert get(d, 100, np.uint32).sum() == 8 * 50 + 6 * 50
    ok(drv.cuMemFree(d))


def test_library_kernels(library):
    n = ok(drv.cuLibraryGetKernelCount(library))
    assert n == 8
    assert {ok(drv.cuKernelGetName(k)) for k in ok(drv.cuLibraryEnumerateKernels(n, library))} == {b"fill", b"saxpy", b"add_one", b"reverse", b"count", b"place", b"types", b"empty"}


def test_library_missing(library):
    assert code(drv.cuLibraryGetKernel(library, b"missing")) == "NOT_FOUND"
    assert code(drv.cuLibraryGetGlobal(library, b"missing")) == "NOT_FOUND"


def test_library_global(library):
    p, size = ok(drv.cuLibraryGetGlobal(library, b"counter"))
    assert size == 4 and get(p, 1, np.uint32)[0] == 7


def test_library_module(library):
    m = ok(drv.cuLibraryGetModule(library))
    function(m, "saxpy")


def test_library_managed(ctx):
    lib = ok(drv.cuLibraryLoadData(kernels.MANAGED.encode(), [], [], 0, [], [], 0))
    p, size = ok(drv.cuLibraryGetManaged(lib, b"shared_with_host"))
    assert size == 4 and host(p, 1, np.uint32)[0] == 11
    ok(drv.cuLibraryUnload(lib))


def test_library_from_file(ctx, tmp_path):
    p = tmp_path / "basic.ptx"
    p.write_text(kernels.BASIC)
    lib = ok(drv.cuLibraryLoadFromFile(str(p).encode(), [], [], 0, [], [], 0))
    ok(drv.cuLibraryGetKernel(lib, b"fill"))
    ok(drv.cuLibraryUnload(lib))


def test_kernel_attributes(library, dev):
    k = ok(drv.cuLibraryGetKernel(library, b"reverse"))
    assert ok(drv.cuKernelGetAttribute(F.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k, dev)) == 1024
    ok(drv.cuKernelSetAttribute(F.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, k, dev))
    assert ok(drv.cuKernelGetAttribute(F.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, k, dev)) == 1024
    assert ok(drv.cuKernelGetParamInfo(k, 0)) == (0, 8)
    ok(drv.cuKernelSetCacheConfig(k, drv.CUfunc_cache.CU_FUNC_CACHE_PREFER_SHARED, dev))


# -- functions ------------------------------------------------------------------------------------

@pytest.mark.parametrize("name,low,high", [("MAX_THREADS_PER_BLOCK", 1024, 1024), ("SHARED_SIZE_BYTES", 0, 0), ("CONST_SIZE_BYTES", 0, 4), ("LOCAL_SIZE_BYTES", 0, 0), ("NUM_REGS", 4, 64), ("PTX_VERSION", 52, 52),
                                           ("BINARY_VERSION", 50, 200), ("CACHE_MODE_CA", 0, 1)])
def test_function_attribute(basic, name, low, high):
    assert low <= ok(drv.cuFuncGetAttribute(getattr(F, "CU_FUNC_ATTRIBUTE_" + name), function(basic, "fill"))) <= high


def test_function_attribute_set(basic, dev):
    f = function(basic, "reverse")
    most = attribute(dev, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
    ok(drv.cuFuncSetAttribute(f, F.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most))
    assert code(drv.cuFuncSetAttribute(f, F.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most + 1)) == "INVALID_VALUE"
    ok(drv.cuFuncSetAttribute(f, F.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50))
    assert ok(drv.cuFuncGetAttribute(F.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, f)) == 50
    assert code(drv.cuFuncSetAttribute(f, F.CU_FUNC_ATTRIBUTE_NUM_REGS, 3)) == "INVALID_VALUE"
    ok(drv.cuFuncSetCacheConfig(f, drv.CUfunc_cache.CU_FUNC_CACHE_PREFER_L1))


# -- launches -------------------------------------------------------------------------------------

def test_saxpy(basic):
    n = 10000
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    dx, dy = put(x), put(y)
    launch(function(basic, "saxpy"), ((n + 127) // 128,), (128,), (2.0, dx, dy, n), (f32, None, None, u32))
    assert np.array_equal(get(dy, n, np.float32), 2 * x + 1)
    [ok(drv.cuMemFree(p)) for p in (dx, dy)]


def test_three_dimensions(basic):
    d = put(np.zeros(12 * 24, np.uint32))
    launch(function(basic, "place"), (3, 2, 2), (4, 3, 2), (d,), (None,))
    want = [(cz << 24) | (cy << 16) | (cx << 8) | (tz << 6) | (ty << 3) | tx for cz in range(2) for cy in range(2) for cx in range(3) for tz in range(2) for ty in range(3) for tx in range(4)]
    assert get(d, 288, np.uint32).tolist() == want
    ok(drv.cuMemFree(d))


def test_dynamic_shared_memory(basic):
    d = put(np.arange(256, dtype=np.uint32))
    launch(function(basic, "reverse"), (1,), (256,), (d,), (None,), shared=1024)
    assert get(d, 256, np.uint32).tolist() == list(range(255, -1, -1))
    ok(drv.cuMemFree(d))


def test_too_much_shared_memory(basic):
    d = alloc(64)
    r = drv.cuLaunchKernel(function(basic, "reverse"), 1, 1, 1, 4, 1, 1, 48 * 1024 + 1, 0, ((d,), (None,)), 0)
    assert code(r) == "INVALID_VALUE"
    ok(drv.cuMemFree(d))


def test_parameter_types(basic):
    out = put(np.zeros(6, np.uint64))

    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_ulonglong), ("b", ctypes.c_ulonglong)]

    args = [ctypes.c_ulonglong(int(out)), ctypes.c_ubyte(200), ctypes.c_short(-5), ctypes.c_uint(0xFFFFFFFF), ctypes.c_double(0.5), Pair(111, 1 << 50)]
    pointers = np.array([ctypes.addressof(a) for a in args], np.uint64)
    ok(drv.cuLaunchKernel(function(basic, "types"), 1, 1, 1, 1, 1, 1, 0, 0, pointers.ctypes.data, 0))
    got = get(out, 6, np.uint64)
    assert got[:3].tolist() == [200, 2**64 - 5, 0xFFFFFFFF] and got[3:4].view(np.float64)[0] == 0.5 and got[4:].tolist() == [111, 1 << 50]
    ok(drv.cuMemFree(out))


def test_parameters_in_a_buffer(basic):
    d = put(np.zeros(64, np.uint32))
    buffer = np.zeros(16, np.uint8)
    buffer[:8].view(np.uint64)[0] = int(d)
    buffer[8:].view(np.uint32)[:] = [21, 64]
    size = ctypes.c_size_t(16)
    extra = np.array([1, buffer.ctypes.data, 2, ctypes.addressof(size), 0], np.uint64)  # CU_LAUNCH_PARAM_BUFFER_POINTER, _SIZE, _END
    ok(drv.cuLaunchKernel(function(basic, "fill"), 1, 1, 1, 64, 1, 1, 0, 0, 0, extra.ctypes.data))
    assert (get(d, 64, np.uint32) == 21).all()
    ok(drv.cuMemFree(d))


@pytest.mark.parametrize("grid,block", [((0, 1, 1), (1, 1, 1)), ((1, 1, 1), (0, 1, 1)), ((1, 1, 1), (1025, 1, 1)), ((1, 1, 1), (1, 1, 65)), ((1, 65536, 1), (1, 1, 1)), ((1, 1, 1), (64, 32, 1))])
def test_bad_shapes(basic, grid, block):
    assert code(drv.cuLaunchKernel(function(basic, "empty"), *grid, *block, 0, 0, 0, 0)) == "INVALID_VALUE"


def test_launch_of_null(ctx):
    assert code(drv.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0)) in ("INVALID_HANDLE", "INVALID_VALUE", "INVALID_RESOURCE_HANDLE")


def test_launch_ex(basic, stream):
    d = put(np.zeros(300, np.uint32))
    ok(drv.cuLaunchKernelEx(config((3,), (100,), stream), function(basic, "fill"), ((d, 4, 300), (None, u32, u32)), 0))
    ok(drv.cuStreamSynchronize(stream))
    assert (get(d, 300, np.uint32) == 4).all()
    ok(drv.cuMemFree(d))


def test_launch_ex_with_priority_and_event(basic, stream):
    e = ok(drv.cuEventCreate(drv.CUevent_flags.CU_EVENT_DISABLE_TIMING))
    least, greatest = ok(drv.cuCtxGetStreamPriorityRange())
    attrs = [launch_attribute("PRIORITY", priority=greatest)]
    ok(drv.cuLaunchKernelEx(config((1,), (32,), stream, attributes=attrs), function(basic, "empty"), 0, 0))
    ok(drv.cuStreamSynchronize(stream))
    ok(drv.cuEventDestroy(e))


def test_cooperative(ctx, dev):
    m = module(kernels.TOGETHER)
    f = function(m, "together")
    n = min(16, attribute(dev, "MULTIPROCESSOR_COUNT"))
    d = put(np.zeros(n + 1, np.uint32))
    ok(drv.cuLaunchCooperativeKernel(f, n, 1, 1, 1, 1, 1, 0, 0, ((d,), (None,))))
    assert get(d, n + 1, np.uint32).tolist() == [n] * (n + 1)
    ok(drv.cuMemFree(d))
    ok(drv.cuModuleUnload(m))


def test_cooperative_by_attribute(ctx, dev, stream):
    m = module(kernels.TOGETHER)
    n = min(16, attribute(dev, "MULTIPROCESSOR_COUNT"))
    d = put(np.zeros(n + 1, np.uint32))
    ok(drv.cuLaunchKernelEx(config((n,), (1,), stream, attributes=[launch_attribute("COOPERATIVE", cooperative=1)]), function(m, "together"), ((d,), (None,)), 0))
    ok(drv.cuStreamSynchronize(stream))
    assert get(d, n + 1, np.uint32).tolist() == [n] * (n + 1)
    ok(drv.cuMemFree(d))
    ok(drv.cuModuleUnload(m))


def test_cooperative_too_large(ctx, basic):
    r = drv.cuLaunchCooperativeKernel(function(basic, "empty"), 1 << 20, 1, 1, 1024, 1, 1, 0, 0, 0)
    assert code(r) == "COOPERATIVE_LAUNCH_TOO_LARGE"


@pytest.fixture
def cluster(ctx, dev):
    if attribute(dev, "COMPUTE_CAPABILITY_MAJOR") < 9:
        pytest.skip("clusters need compute capability 9.0")
    m = module(kernels.CLUSTER)
    yield m
    ok(drv.cuModuleUnload(m))


def test_cluster(cluster, stream):
    d = put(np.zeros(8, np.uint32))
    a = launch_attribute("CLUSTER_DIMENSION", clusterDim__x=4, clusterDim__y=1, clusterDim__z=1)
    ok(drv.cuLaunchKernelEx(config((8,), (32,), stream, attributes=[a]), function(cluster, "ranks"), ((d,), (None,)), 0))
    ok(drv.cuStreamSynchronize(stream))
    assert get(d, 8, np.uint32).tolist() == [r << 8 | 4 for r in (0, 1, 2, 3)] * 2
    ok(drv.cuMemFree(d))


def test_cluster_in_the_kernel(cluster):
    d = put(np.zeros(4, np.uint32))
    f = function(cluster, "fixed")
    assert ok(drv.cuFuncGetAttribute(F.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, f)) == 2
    launch(f, (4,), (1,), (d,), (None,))
    assert get(d, 4, np.uint32).tolist() == [r << 8 | 2 for r in (0, 1)] * 2
    ok(drv.cuMemFree(d))


def test_cluster_that_does_not_divide_the_grid(cluster):
    a = launch_attribute("CLUSTER_DIMENSION", clusterDim__x=4, clusterDim__y=1, clusterDim__z=1)
    assert code(drv.cuLaunchKernelEx(config((6,), (32,), attributes=[a]), function(cluster, "ranks"), ((drv.CUdeviceptr(0),), (None,)), 0)) in ("INVALID_CLUSTER_SIZE", "INVALID_VALUE")


def test_programmatic_serialization(basic, dev, stream):
    if attribute(dev, "COMPUTE_CAPABILITY_MAJOR") < 9:
        pytest.skip("needs compute capability 9.0")
    d = put(np.zeros(1, np.uint32))
    a = launch_attribute("PROGRAMMATIC_STREAM_SERIALIZATION", programmaticStreamSerializationAllowed=1)
    for _ in range(2):
        ok(drv.cuLaunchKernelEx(config((2,), (32,), stream, attributes=[a]), function(basic, "add_one"), ((d,), (None,)), 0))
    ok(drv.cuStreamSynchronize(stream))
    assert get(d, 1, np.uint32)[0] == 128
    ok(drv.cuMemFree(d))


# -- faults, each in a process of its own: they end the context --------------------------------------

@pytest.mark.parametrize("kernel,result", [("trap_now", "LAUNCH_FAILED"), ("wild", "ILLEGAL_ADDRESS")])
def test_fault(dev, kernel, result):
    out = child(f"""
        f = function(module(kernels.TRAP), {kernel!r})
        launch(f, (1,), (1,), (), ())
        print(code(drv.cuCtxSynchronize()), code(drv.cuMemAlloc(16)), code(drv.cuStreamQuery(0)))
    """).split()
    assert out[0] in (result, {"trap_now": "ILLEGAL_INSTRUCTION"}.get(kernel))
    assert out[1] == out[0] and out[2] == out[0]  # the context is lost


# -- the linker -----------------------------------------------------------------------------------

def test_linker(ctx):
    log = b"\0" * 4096
    state = ok(drv.cuLinkCreate(2, [J.CU_JIT_ERROR_LOG_BUFFER, J.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES], [log, 4096]))
    for name, text in ((b"caller.ptx", kernels.CALLER), (b"callee.ptx", kernels.CALLEE)):
        data = text.encode() + b"\0"
        ok(drv.cuLinkAddData(state, I.CU_JIT_INPUT_PTX, data, len(data), name, 0, [], []))
    image, size = ok(drv.cuLinkComplete(state))
    assert size > 0
    m = ok(drv.cuModuleLoadData(image))
    d = put(np.array([21], np.uint32))
    launch(function(m, "call"), (1,), (1,), (d,), (None,))
    assert get(d, 1, np.uint32)[0] == 42
    ok(drv.cuMemFree(d))
    ok(drv.cuModuleUnload(m))
    ok(drv.cuLinkDestroy(state))


def test_linker_files(ctx, tmp_path):
    for name, text in (("caller.ptx", kernels.CALLER), ("callee.ptx", kernels.CALLEE)):
        (tmp_path / name).write_text(text)
    state = ok(drv.cuLinkCreate(0, [], []))
    for name in ("caller.ptx", "callee.ptx"):
        ok(drv.cuLinkAddFile(state, I.CU_JIT_INPUT_PTX, str(tmp_path / name).encode(), 0, [], []))
    image, size = ok(drv.cuLinkComplete(state))
    ok(drv.cuModuleUnload(ok(drv.cuModuleLoadData(image))))
    ok(drv.cuLinkDestroy(state))


def test_linker_undefined(ctx):
    state = ok(drv.cuLinkCreate(0, [], []))
    data = kernels.CALLER.encode() + b"\0"
    r = drv.cuLinkAddData(state, I.CU_JIT_INPUT_PTX, data, len(data), b"caller.ptx", 0, [], [])
    if r[0] == drv.CUresult.CUDA_SUCCESS:
        assert code(drv.cuLinkComplete(state)) != "CUDA_SUCCESS"
    ok(drv.cuLinkDestroy(state))


def test_linker_bad_text(ctx):
    state = ok(drv.cuLinkCreate(0, [], []))
    assert code(drv.cuLinkAddData(state, I.CU_JIT_INPUT_PTX, b"rubbish\0", 8, b"x", 0, [], [])) in ("INVALID_PTX", "INVALID_IMAGE")
    ok(drv.cuLinkDestroy(state))


# -- occupancy ------------------------------------------------------------------------------------

def test_occupancy(basic, dev):
    f = function(basic, "fill")
    threads = attribute(dev, "MAX_THREADS_PER_MULTIPROCESSOR")
    n = ok(drv.cuOccupancyMaxActiveBlocksPerMultiprocessor(f, 1024, 0))
    assert n == threads // 1024
    assert ok(drv.cuOccupancyMaxActiveBlocksPerMultiprocessor(f, 32, 0)) == attribute(dev, "MAX_BLOCKS_PER_MULTIPROCESSOR")
    assert ok(drv.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(f, 256, 40000, drv.CUoccupancy_flags.CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)) >= 1
    assert code(drv.cuOccupancyMaxActiveBlocksPerMultiprocessor(f, 0, 0)) == "INVALID_VALUE"


def test_occupancy_block_size(basic, dev):
    f = function(basic, "fill")
    grid, block = ok(drv.cuOccupancyMaxPotentialBlockSize(f, None, 0, 0))
    assert block % 32 == 0 and 32 <= block <= 1024
    assert grid == ok(drv.cuOccupancyMaxActiveBlocksPerMultiprocessor(f, block, 0)) * attribute(dev, "MULTIPROCESSOR_COUNT")
    assert ok(drv.cuOccupancyMaxPotentialBlockSizeWithFlags(f, None, 0, 128, 0))[1] <= 128


def test_occupancy_block_size_with_a_function(basic):
    B2D = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)
    seen = []
    fn = B2D(lambda block: seen.append(block) or block * 64)
    grid, block = ok(drv.cuOccupancyMaxPotentialBlockSize(function(basic, "reverse"), drv.CUoccupancyB2DSize(ctypes.cast(fn, ctypes.c_void_p).value), 0, 0))
    assert seen and block in seen and block * 64 <= 49152


def test_occupancy_shared_memory(basic, dev):
    n = ok(drv.cuOccupancyAvailableDynamicSMemPerBlock(function(basic, "reverse"), 2, 128))
    assert 0 < n <= attribute(dev, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")


def test_occupancy_clusters(cluster, dev):
    f = function(cluster, "ranks")
    c = config((64,), (128,))
    assert ok(drv.cuOccupancyMaxPotentialClusterSize(f, c)) >= 8
    c = config((64,), (128,), attributes=[launch_attribute("CLUSTER_DIMENSION", clusterDim__x=2, clusterDim__y=1, clusterDim__z=1)])
    assert ok(drv.cuOccupancyMaxActiveClusters(f, c)) >= attribute(dev, "MULTIPROCESSOR_COUNT") // 2


# -- NVRTC ----------------------------------------------------------------------------------------

def compiled(source, *options):
    """PTX that NVRTC makes of CUDA C++."""
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    try:
        nvrtc.nvrtcVersion()
    except (RuntimeError, Exception) as e:
        pytest.skip(f"NVRTC cannot be loaded: {str(e)[:80]}")

    def good(r):
        assert r[0] == nvrtc.nvrtcResult.NVRTC_SUCCESS, r[0]
        return r[1] if len(r) == 2 else r[1:]

    p = good(nvrtc.nvrtcCreateProgram(source.encode(), b"test.cu", 0, [], []))
    r = nvrtc.nvrtcCompileProgram(p, len(options), [o.encode() for o in options])
    if r[0] != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        log = b" " * good(nvrtc.nvrtcGetProgramLogSize(p))
        nvrtc.nvrtcGetProgramLog(p, log)
        raise AssertionError(log.decode())
    out = b" " * good(nvrtc.nvrtcGetPTXSize(p))
    good(nvrtc.nvrtcGetPTX(p, out) + (None,))
    return out


def arch(dev):
    return f"--gpu-architecture=compute_{attribute(dev, 'COMPUTE_CAPABILITY_MAJOR')}{attribute(dev, 'COMPUTE_CAPABILITY_MINOR')}"


def test_nvrtc_templates(ctx, dev):
    ptx = compiled(r"""
        template <typename T> __device__ T reduce(T v) { for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o); return v; }
        extern "C" __global__ void sum(const float *in, float *out, int n)
        {
            __shared__ float part[32];
            float v = 0;
            for (int i = threadIdx.x; i < n; i += blockDim.x) v += in[i];
            v = reduce(v);
            if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
            __syncthreads();
            if (threadIdx.x < 32) { v = reduce(threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.f); if (!threadIdx.x) *out = v; }
        }
    """, arch(dev))
    m = ok(drv.cuModuleLoadData(ptx))
    a = np.arange(1000, dtype=np.float32)
    d, out = put(a), put(np.zeros(1, np.float32))
    launch(function(m, "sum"), (1,), (256,), (d, out, 1000), (None, None, ctypes.c_int))
    assert get(out, 1, np.float32)[0] == a.sum()
    [ok(drv.cuMemFree(p)) for p in (d, out)]
    ok(drv.cuModuleUnload(m))


def test_nvrtc_printf(dev):
    compiled("__global__ void k() {}", arch(dev))
    out = child("""
        from test_kernels import *
        ptx = compiled(r'extern "C" __global__ void hello(int x) { printf("thread %d says %d %s\\n", threadIdx.x, x, "here"); }', arch(dev))
        launch(function(ok(drv.cuModuleLoadData(ptx)), "hello"), (1,), (3,), (42,), (ctypes.c_int,))
        ok(drv.cuCtxSynchronize())
    """)
    assert sorted(out.splitlines()) == [f"thread {i} says 42 here" for i in range(3)]


def test_nvrtc_device_memory_and_math(ctx, dev):
    ptx = compiled(r"""
        __constant__ double coefficient[4] = {1, 0.5, 0.25, 0.125};
        struct Point { double x, y; };
        extern "C" __global__ void poly(Point *p, int n)
        {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            double s = 0, t = 1;
            for (int k = 0; k < 4; k++) { s += coefficient[k] * t; t *= p[i].x; }
            p[i].y = sqrt(s);
        }
    """, arch(dev))
    m = ok(drv.cuModuleLoadData(ptx))
    p = np.zeros((500, 2))
    p[:, 0] = np.linspace(0, 4, 500)
    d = put(p)
    launch(function(m, "poly"), (4,), (128,), (d, 500), (None, ctypes.c_int))
    got = get(d, 1000, np.float64).reshape(500, 2)
    x = p[:, 0]
    assert np.allclose(got[:, 1], np.sqrt(1 + x / 2 + x * x / 4 + x**3 / 8), rtol=1e-14)
    ok(drv.cuMemFree(d))
    ok(drv.cuModuleUnload(m))


# -- the old way to launch ------------------------------------------------------------------------

def test_old_launch(basic):
    f = function(basic, "fill")
    d = put(np.zeros(100, np.uint32))
    ok(drv.cuFuncSetBlockShape(f, 50, 1, 1))
    ok(drv.cuFuncSetSharedSize(f, 0))
    ok(drv.cuParamSetv(f, 0, int(d).to_bytes(8, "little"), 8))
    ok(drv.cuParamSeti(f, 8, 4))
    ok(drv.cuParamSeti(f, 12, 90))
    ok(drv.cuParamSetSize(f, 16))
    ok(drv.cuLaunchGrid(f, 2, 1))
    ok(drv.cuCtxSynchronize())
    assert get(d, 100, np.uint32).tolist() == [4] * 90 + [0] * 10
    ok(drv.cuMemFree(d))


def test_old_launch_in_a_stream(basic, stream):
    f = function(basic, "add_one")
    d = put(np.zeros(1, np.uint32))
    ok(drv.cuFuncSetBlockShape(f, 7, 1, 1))
    ok(drv.cuParamSetv(f, 0, int(d).to_bytes(8, "little"), 8))
    ok(drv.cuParamSetSize(f, 8))
    ok(drv.cuLaunchGridAsync(f, 3, 2, stream))
    ok(drv.cuStreamSynchronize(stream))
    ok(drv.cuLaunch(f))
    ok(drv.cuCtxSynchronize())
    assert get(d, 1, np.uint32)[0] == 49
    ok(drv.cuMemFree(d))


# -- more of libraries ----------------------------------------------------------------------------

def test_library_in_two_contexts(ctx, dev, library):
    k = ok(drv.cuLibraryGetKernel(library, b"count"))
    out = put(np.zeros(2, np.uint32))
    launch(ok(drv.cuKernelGetFunction(k)), (1,), (1,), (out,), (None,))
    ok(drv.cuCtxSynchronize())
    c = ctx_create(0, dev)
    launch(ok(drv.cuKernelGetFunction(k)), (1,), (1,), (int(out) + 4,), (None,))
    ok(drv.cuCtxSynchronize())
    ok(drv.cuCtxDestroy(c))
    ok(drv.cuCtxSetCurrent(ctx))
    assert get(out, 2, np.uint32).tolist() == [7, 7]  # each context has the variable for itself
    ok(drv.cuMemFree(out))


def test_library_unified_function_missing(library):
    assert code(drv.cuLibraryGetUnifiedFunction(library, b"missing")) in ("NOT_FOUND", "NOT_SUPPORTED", "INVALID_VALUE")  # INVALID_VALUE on an H200


def test_library_with_options(ctx):
    log = b"\0" * 1024
    lib = ok(drv.cuLibraryLoadData(kernels.BASIC.encode(), [J.CU_JIT_INFO_LOG_BUFFER, J.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES], [log, 1024], 2, [drv.CUlibraryOption.CU_LIBRARY_BINARY_IS_PRESERVED], [True], 1))
    ok(drv.cuLibraryGetKernel(lib, b"fill"))
    ok(drv.cuLibraryUnload(lib))


def test_library_bad_text(ctx):
    r = drv.cuLibraryLoadData(b".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { nonsense; }\n", [], [], 0, [], [], 0)
    if code(r) == "CUDA_SUCCESS":  # lazily
        lib = ok(r)
        r = drv.cuLibraryGetKernel(lib, b"k")
        if code(r) == "CUDA_SUCCESS":
            r = drv.cuKernelGetFunction(ok(r))
        assert code(r) == "INVALID_PTX"
    else:
        assert code(r) == "INVALID_PTX"


# -- everything at once ---------------------------------------------------------------------------

def test_streams_in_threads(ctx, basic):
    """Eight threads, each with a stream of its own, launching and copying at once."""
    import threading
    f = function(basic, "saxpy")
    n, bad = 5000, []

    def work(i):
        try:
            ok(drv.cuCtxSetCurrent(ctx))
            s = ok(drv.cuStreamCreate(1))
            x = np.full(n, i, np.float32)
            dx, dy = alloc(4 * n), alloc(4 * n)
            out = np.zeros(n, np.float32)
            ok(drv.cuMemcpyHtoDAsync(dx, x.ctypes.data, 4 * n, s))
            ok(drv.cuMemsetD32Async(dy, 0, n, s))
            for _ in range(20):
                launch(f, ((n + 255) // 256,), (256,), (1.0, dx, dy, n), (f32, None, None, u32), s)
            ok(drv.cuMemcpyDtoHAsync(out.ctypes.data, dy, 4 * n, s))
            ok(drv.cuStreamSynchronize(s))
            assert (out == 20 * i).all()
            [ok(drv.cuMemFree(p)) for p in (dx, dy)]
            ok(drv.cuStreamDestroy(s))
        except BaseException as e:
            bad.append(e)

    ts = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [t.start() for t in ts]
    [t.join() for t in ts]
    assert not bad


def test_corpus_kernels(ctx):
    """PTX of real compilers loads, and says what it has."""
    import gzip
    folder = root / "testdata" / "corpus" / "modules"
    if not folder.exists():
        pytest.skip("testdata is not there")
    cc = attribute(ok(drv.cuDeviceGet(0)), "COMPUTE_CAPABILITY_MAJOR")
    if cc < 9:
        pytest.skip("the texts are for compute capability 9.0")
    loaded = 0
    for name in ("blackscholes", "matmul", "fft", "nbody", "sort_bitonic", "scan", "histogram", "stencil", "codec", "dynprog"):
        for p in (folder / name).glob("*.compute_90.ptx.gz"):
            m = ok(drv.cuModuleLoadData(gzip.decompress(p.read_bytes())))
            n = ok(drv.cuModuleGetFunctionCount(m))
            for f in ok(drv.cuModuleEnumerateFunctions(n, m)):
                ok(drv.cuFuncLoad(f))
                assert ok(drv.cuFuncGetName(f)) and 1 <= ok(drv.cuFuncGetAttribute(F.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f)) <= 1024
            ok(drv.cuModuleUnload(m))
            loaded += n
    assert loaded >= 10
