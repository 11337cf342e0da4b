"""Program, Linker, ObjectCode, Kernel, launches."""
import pytest

import kernels
from names import *


# -- object code ----------------------------------------------------------------------------------

def test_ptx(basic, dev, stream):
    assert basic.code_type == "ptx" and basic.name == "basic" and b".visible .entry fill" in basic.code
    b = put(dev, stream, np.zeros(100, np.uint32))
    launch(stream, LaunchConfig(grid=2, block=64), basic.get_kernel("fill"), b, np.uint32(9), np.uint32(90))
    assert get(b, stream, np.uint32).tolist() == [9] * 90 + [0] * 10


def test_ptx_from_a_file(dev, tmp_path):
    p = tmp_path / "basic.ptx"
    p.write_text(kernels.BASIC)
    c = ObjectCode.from_ptx(str(p))
    assert c.get_kernel("saxpy").num_arguments == 4


def test_symbol_mapping(dev, stream):
    c = ObjectCode.from_ptx(kernels.BASIC.encode(), symbol_mapping={"paint": b"fill"})
    assert c.symbol_mapping == {"paint": b"fill"}
    assert c.get_kernel("paint").num_arguments == 3


def test_missing_kernel(basic):
    with pytest.raises(Exception) as e:
        basic.get_kernel("missing")
    assert "NOT_FOUND" in str(e.value)


def test_bad_ptx(dev):
    with pytest.raises(Exception) as e:
        ObjectCode.from_ptx(b".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { nonsense; }\n").get_kernel("k")
    assert "INVALID_PTX" in str(e.value)


def test_fatbin(dev, stream):
    path = root / "testdata" / "saxpy"
    if not path.exists():
        pytest.skip("testdata is not there")
    c = ObjectCode.from_fatbin((path / "saxpy.fatbin").read_bytes())
    import re
    name = re.search(r"\.entry\s+([\w$]+)", (path / "saxpy.ptx").read_text())[1]
    k = c.get_kernel(name)
    sizes = [a.size for a in k.arguments_info]
    x, y, want = (np.load(path / f"{n}.npy") for n in ("x", "y", "want"))
    dx, dy = put(dev, stream, x), put(dev, stream, y)
    n, a = np.int32(len(x)), np.float32(2.5)
    args = (n, a, dx, dy) if sizes == [4, 4, 8, 8] else (a, dx, dy, n)
    launch(stream, LaunchConfig(grid=(len(x) + 255) // 256, block=256), k, *args)
    assert np.array_equal(get(dy, stream, np.float32), want)


def test_object_code_pickled(basic):
    import pickle
    c = pickle.loads(pickle.dumps(basic))
    assert c.code == basic.code and c.get_kernel("empty").num_arguments == 0


# -- programs -------------------------------------------------------------------------------------

def test_program_from_ptx(dev, stream):
    p = Program(kernels.BASIC, "ptx", ProgramOptions(arch=f"sm_{dev.arch}"))
    assert str(p.backend).lower().split(".")[-1] in ("driver", "nvjitlink")
    c = p.compile("cubin")
    assert c.code_type == "cubin"
    b = put(dev, stream, np.arange(32, dtype=np.uint32))
    launch(stream, LaunchConfig(grid=1, block=32, shmem_size=128), c.get_kernel("reverse"), b)
    assert get(b, stream, np.uint32).tolist() == list(range(31, -1, -1))
    p.close()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_template(dev, stream, compiled, dtype):
    name = f"saxpy<{'float' if dtype == np.float32 else 'double'}>"
    c = compiled(kernels.SAXPY, (name,))
    k = c.get_kernel(name)
    n = 1000
    x, y = np.random.default_rng(1).random(n).astype(dtype), np.random.default_rng(2).random(n).astype(dtype)
    dx, dy, out = put(dev, stream, x), put(dev, stream, y), put(dev, stream, np.zeros(n, dtype))
    launch(stream, LaunchConfig(grid=(n + 63) // 64, block=64), k, dtype(10), dx, dy, out, n)
    assert np.allclose(get(out, stream, dtype), 10 * x + y, rtol=1e-6)


def test_macro(dev, stream, compiled):
    k = compiled(kernels.CPP, define_macro=("FACTOR", "3")).get_kernel("square")
    b = put(dev, stream, np.arange(50, dtype=np.int32))
    launch(stream, LaunchConfig(grid=2, block=16), k, b, np.int32(50))
    assert np.array_equal(get(b, stream, np.int32), 3 * np.arange(50) ** 2)


def test_reduction(dev, stream, compiled):
    k = compiled(kernels.CPP).get_kernel("total")
    n = 100000
    a = np.random.default_rng(3).integers(0, 1000, n).astype(np.int32)
    d, out = put(dev, stream, a), put(dev, stream, np.zeros(1, np.uint64))
    launch(stream, LaunchConfig(grid=20, block=128, shmem_size=1024), k, d, np.int32(n), out)
    assert get(out, stream, np.uint64)[0] == a.sum()


def test_compile_log(compiled):
    with pytest.raises(Exception) as e:
        compiled('extern "C" __global__ void k() { undefined_thing(); }')
    assert "undefined_thing" in str(e.value)


def test_compile_writes_a_log(dev, compiler):
    import io
    log = io.StringIO()
    p = Program('extern "C" __global__ void k() { int unused; }', "c++", ProgramOptions(arch=f"sm_{dev.arch}"))
    assert str(p.backend).lower().split(".")[-1] == "nvrtc"
    p.compile("ptx", logs=log)
    assert "unused" in log.getvalue()
    p.close()


def test_unknown_code_type():
    with pytest.raises(Exception):
        Program("x", "fortran")


def test_options_become_arguments(dev):
    o = ProgramOptions(arch=f"sm_{dev.arch}", std="c++14", debug=True, max_register_count=32, use_fast_math=True)
    text = b" ".join(o.as_bytes("nvrtc")).decode()
    assert "-std=c++14" in text and "fast_math" in text.replace("-", "_") and "32" in text


# -- the linker -----------------------------------------------------------------------------------

def test_linker(dev, stream):
    parts = [ObjectCode.from_ptx(t.encode()) for t in (kernels.CALLER, kernels.CALLEE)]
    linker = Linker(*parts, options=LinkerOptions(arch=f"sm_{dev.arch}"))
    c = linker.link("cubin")
    assert c.code_type == "cubin" and isinstance(linker.get_error_log(), str) and isinstance(linker.get_info_log(), str)
    b = put(dev, stream, np.array([21], np.uint32))
    launch(stream, LaunchConfig(grid=1, block=1), c.get_kernel("call"), b)
    assert get(b, stream, np.uint32)[0] == 42
    linker.close()


def test_linker_of_compiled_code(dev, stream, compiled):
    a = compiled('extern __device__ int add(int, int); extern "C" __global__ void k(int *p) { *p = add(*p, 5); }', relocatable_device_code=True)
    b = compiled("__device__ int add(int a, int b) { return a + b; }", relocatable_device_code=True)
    c = Linker(a, b, options=LinkerOptions(arch=f"sm_{dev.arch}")).link("cubin")
    d = put(dev, stream, np.array([4], np.int32))
    launch(stream, LaunchConfig(grid=1, block=1), c.get_kernel("k"), d)
    assert get(d, stream, np.int32)[0] == 9


def test_linker_undefined(dev):
    with pytest.raises(Exception):
        Linker(ObjectCode.from_ptx(kernels.CALLER.encode()), options=LinkerOptions(arch=f"sm_{dev.arch}")).link("cubin")


# -- kernels --------------------------------------------------------------------------------------

def test_kernel_attributes(basic):
    a = basic.get_kernel("fill").attributes
    assert a.max_threads_per_block == 1024 if not callable(a.max_threads_per_block) else a.max_threads_per_block() == 1024
    value = lambda n: getattr(a, n)() if callable(getattr(a, n)) else getattr(a, n)
    assert value("shared_size_bytes") == 0 and value("local_size_bytes") == 0 and value("num_regs") > 0 and value("ptx_version") == 52
    assert value("binary_version") >= 50 and value("required_cluster_width") == 0 and value("cluster_size_must_be_set") in (0, False)


def test_kernel_arguments(basic):
    k = basic.get_kernel("types")
    assert k.num_arguments == 6
    assert [(a.offset, a.size) for a in k.arguments_info] == [(0, 8), (8, 1), (10, 2), (12, 4), (16, 8), (24, 16)]


def test_kernel_from_handle(basic, dev, stream):
    k = core.Kernel.from_handle(int(basic.get_kernel("fill").handle), basic)
    b = put(dev, stream, np.zeros(4, np.uint32))
    launch(stream, LaunchConfig(grid=1, block=4), k, b, np.uint32(1), np.uint32(4))
    assert get(b, stream, np.uint32).sum() == 4


def test_occupancy(basic, dev):
    o = basic.get_kernel("fill").occupancy
    p = dev.properties
    assert o.max_active_blocks_per_multiprocessor(1024, 0) == p.max_threads_per_multiprocessor // 1024
    best = o.max_potential_block_size(0, 1024)
    assert best[1] % 32 == 0 and best[0] >= p.multiprocessor_count
    assert 0 < o.available_dynamic_shared_memory_per_block(1, 64) <= p.max_shared_memory_per_block_optin


def test_occupancy_clusters(dev, stream):
    if dev.compute_capability < (9, 0):
        pytest.skip("clusters need compute capability 9.0")
    o = ObjectCode.from_ptx(kernels.CLUSTER.encode()).get_kernel("ranks").occupancy
    assert o.max_potential_cluster_size(LaunchConfig(grid=64, block=128), stream=stream) >= 8
    assert o.max_active_clusters(LaunchConfig(grid=32, cluster=2, block=128), stream=stream) >= dev.properties.multiprocessor_count // 2


# -- launches -------------------------------------------------------------------------------------

def test_launch_config():
    c = LaunchConfig(grid=(2, 3), block=4, shmem_size=16)
    assert c.grid == (2, 3, 1) and c.block == (4, 1, 1) and c.shmem_size == 16
    with pytest.raises(Exception):
        LaunchConfig(grid=(1, 2, 3, 4), block=1)


def test_three_dimensions(basic, dev, stream):
    b = put(dev, stream, np.zeros(288, np.uint32))
    launch(stream, LaunchConfig(grid=(3, 2, 2), block=(4, 3, 2)), basic.get_kernel("place"), b)
    want = [(cz << 24) | (cy << 16) | (cx << 8) | (tz << 6) | (ty << 3) | tx for cz in range(2) for cy in range(2) for cx in range(3) for tz in range(2) for ty in range(3) for tx in range(4)]
    assert get(b, stream, np.uint32).tolist() == want


def test_argument_types(dev, stream, compiled):
    k = compiled('extern "C" __global__ void k(double *o, unsigned char a, short b, unsigned c, long long d, float e, double f) { o[0] = a; o[1] = b; o[2] = c; o[3] = d; o[4] = e; o[5] = f; }').get_kernel("k")
    for types in ((np.uint8, np.int16, np.uint32, np.int64, np.float32, np.float64), (ctypes.c_ubyte, ctypes.c_short, ctypes.c_uint, ctypes.c_longlong, ctypes.c_float, ctypes.c_double)):
        out = put(dev, stream, np.zeros(6))
        values = 200, -5, 0xFFFFFFFF, -(1 << 45), 0.25, 1e100
        launch(stream, LaunchConfig(grid=1, block=1), k, out, *(t(v) for t, v in zip(types, values)))
        assert get(out, stream, np.float64).tolist() == [float(v) for v in values]


def test_integers_and_bools(dev, stream, compiled):
    k = compiled('extern "C" __global__ void k(long long *out, long long i, bool b, double d, void *p) { out[0] = i; out[1] = b; out[2] = (long long)d; out[3] = p == out; }').get_kernel("k")
    out = put(dev, stream, np.zeros(4, np.int64))
    launch(stream, LaunchConfig(grid=1, block=1), k, out, -(1 << 40), True, 12.75, int(out.handle))
    assert get(out, stream, np.int64).tolist() == [-(1 << 40), 1, 12, 1]


def test_foreign_stream(basic, dev, stream):
    class Foreign:
        def __cuda_stream__(self):
            return 0, int(stream.handle)

    b = put(dev, stream, np.zeros(4, np.uint32))
    launch(Foreign(), LaunchConfig(grid=1, block=4), basic.get_kernel("fill"), b, np.uint32(1), np.uint32(4))
    assert get(b, stream, np.uint32).sum() == 4


def test_cooperative(dev, stream):
    k = ObjectCode.from_ptx(kernels.TOGETHER.encode()).get_kernel("together")
    n = min(8, dev.properties.multiprocessor_count)
    b = put(dev, stream, np.zeros(n + 1, np.uint32))
    launch(stream, cooperative(grid=n, block=1), k, b)
    assert get(b, stream, np.uint32).tolist() == [n] * (n + 1)


def test_cooperative_too_large(basic, dev, stream):
    with pytest.raises(Exception):
        launch(stream, cooperative(grid=1 << 20, block=1024), basic.get_kernel("empty"))


def test_cluster(dev, stream):
    if dev.compute_capability < (9, 0):
        pytest.skip("clusters need compute capability 9.0")
    k = ObjectCode.from_ptx(kernels.CLUSTER.encode()).get_kernel("ranks")
    b = put(dev, stream, np.zeros(8, np.uint32))
    launch(stream, LaunchConfig(grid=2, cluster=4, block=32), k, b)  # the grid counts clusters
    assert get(b, stream, np.uint32).tolist() == [r << 8 | 4 for r in (0, 1, 2, 3)] * 2


@pytest.mark.skipif(not NEW, reason="came with 1.2")
def test_programmatic_serialization(dev, stream, basic):
    if dev.compute_capability < (9, 0):
        pytest.skip("needs compute capability 9.0")
    b = put(dev, stream, np.zeros(1, np.uint32))
    for _ in range(2):
        launch(stream, LaunchConfig(grid=2, block=32, programmatic_stream_serialization=True), basic.get_kernel("add_one"), b)
    assert get(b, stream, np.uint32)[0] == 128


def test_fault_is_told():
    out = child("""
        k = ObjectCode.from_ptx(kernels.TRAP.encode()).get_kernel("wild")
        launch(stream, LaunchConfig(grid=1, block=1), k)
        try:
            stream.sync()
        except Exception as e:
            print(str(e).split(":")[0])
        import os
        sys.stdout.flush()
        os._exit(0)
    """)
    assert out == "CUDA_ERROR_ILLEGAL_ADDRESS"


# -- caches of programs, new in 1.x -----------------------------------------------------------------

@pytest.mark.skipif(not NEW, reason="came with 1.0")
def test_program_cache(dev, stream, compiler):
    from cuda.core.utils import InMemoryProgramCache
    cache = InMemoryProgramCache()
    source = 'extern "C" __global__ void k(int *p) { *p = 77; }'
    o = ProgramOptions(arch=f"sm_{dev.arch}")
    codes = [Program(source, "c++", o).compile("ptx", cache=cache).code for _ in range(2)]
    assert codes[0] == codes[1]
    b = put(dev, stream, np.zeros(1, np.int32))
    launch(stream, LaunchConfig(grid=1, block=1), ObjectCode.from_ptx(codes[1]).get_kernel("k"), b)
    assert get(b, stream, np.int32)[0] == 77


@pytest.mark.skipif(not NEW, reason="came with 1.0")
def test_program_cache_in_files(dev, tmp_path, compiler):
    from cuda.core.utils import FileStreamProgramCache, make_program_cache_key
    source, o = 'extern "C" __global__ void k(int *p) { *p = 78; }', ProgramOptions(arch=f"sm_{dev.arch}")
    with FileStreamProgramCache(tmp_path) as cache:
        first = Program(source, "c++", o).compile("ptx", cache=cache).code
        assert any(p.is_file() for p in tmp_path.rglob("*"))
        assert Program(source, "c++", o).compile("ptx", cache=cache).code == first
    assert make_program_cache_key(code=source, code_type="c++", options=o, target_type="ptx") != make_program_cache_key(code=source + " ", code_type="c++", options=o, target_type="ptx")


NVVM = """
target triple = "nvptx64-unknown-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define void @times(float* %p, float %f) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = sext i32 %t to i64
  %q = getelementptr inbounds float, float* %p, i64 %i
  %v = load float, float* %q, align 4
  %w = fmul float %v, %f
  store float %w, float* %q, align 4
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (float*, float)* @times, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
"""


def test_program_from_nvvm(dev, stream):
    try:
        p = Program(NVVM, "nvvm", ProgramOptions(arch=f"sm_{dev.arch}"))
    except Exception as e:
        if "nvvm" in str(e).lower() and ("not found" in str(e).lower() or "not available" in str(e).lower() or "load" in str(e).lower()):
            pytest.skip("there is no libNVVM")
        raise
    c = p.compile("ptx")
    b = put(dev, stream, np.arange(32, dtype=np.float32))
    launch(stream, LaunchConfig(grid=1, block=32), c.get_kernel("times"), b, np.float32(1.5))
    assert np.array_equal(get(b, stream, np.float32), np.arange(32, dtype=np.float32) * np.float32(1.5))
    p.close()


def test_half_precision_argument(dev, stream, compiled):
    k = compiled("""
        struct __align__(2) half_bits { unsigned short x; };
        extern "C" __global__ void k(unsigned short *o, half_bits h) { *o = h.x; }
    """).get_kernel("k")
    b = put(dev, stream, np.zeros(1, np.uint16))
    launch(stream, LaunchConfig(grid=1, block=1), k, b, np.float16(1.5))
    assert get(b, stream, np.uint16)[0] == np.float16(1.5).view(np.uint16)


def test_kernels_of_one_program_in_many_streams(dev, basic):
    streams = [dev.create_stream() for _ in range(8)]
    b = put(dev, streams[0], np.zeros(8, np.uint32))
    k = basic.get_kernel("add_one")
    for i, s in enumerate(streams):
        for _ in range(10):
            launch(s, LaunchConfig(grid=4, block=32), k, int(b.handle) + 4 * i)
    for s in streams:
        s.sync()
    assert get(b, streams[0], np.uint32).tolist() == [1280] * 8
    [s.close() for s in streams]


def test_mandelbrot(dev, stream, compiled):
    k = compiled("""
        extern "C" __global__ void mandel(int *out, int w, int h, int most)
        {
            int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
            if (x >= w || y >= h) return;
            double cx = -2 + 3.0 * x / w, cy = -1 + 2.0 * y / h, a = 0, b = 0;
            int n = 0;
            for (; n < most && a * a + b * b <= 4; n++) { double t = a * a - b * b + cx; b = 2 * a * b + cy; a = t; }
            out[y * w + x] = n;
        }
    """, fma=False).get_kernel("mandel")
    w, h, most = 60, 40, 50
    d = put(dev, stream, np.zeros(w * h, np.int32))
    launch(stream, LaunchConfig(grid=(4, 5), block=(16, 8)), k, d, np.int32(w), np.int32(h), np.int32(most))
    y, x = np.mgrid[0:h, 0:w]
    cx, cy = -2 + 3.0 * x / w, -1 + 2.0 * y / h
    a, b, n = np.zeros((h, w)), np.zeros((h, w)), np.zeros((h, w), np.int32)
    for _ in range(most):
        on = a * a + b * b <= 4
        n[on] += 1
        t = a * a - b * b + cx
        b = np.where(on, 2 * a * b + cy, b)
        a = np.where(on, t, a)
    assert np.array_equal(get(d, stream, np.int32).reshape(h, w), n)
