"""Programs of the kind that toolkits have as samples, in CUDA C++ compiled by NVRTC; their results are those of NumPy."""
import glob, site

import pytest

from names import *

rng = lambda seed: np.random.default_rng(seed)


@pytest.fixture
def headers():
    """Where the toolkit's headers are, of the runtime's package or of an installed toolkit."""
    roots = [os.path.join(p, "nvidia") for p in dict.fromkeys(site.getsitepackages() + sys.path)] + ["/usr/local/cuda"]
    found = {}  # folders in their order
    for file in ("cuda_fp16.h", "crt/host_defines.h", "nv/target"):
        for pattern in (f"{r}/{inside}include/{more}{file}" for r in roots for inside in ("*/", "") for more in ("", "cccl/")):
            found.update((f.removesuffix("/" + file), None) for f in glob.glob(pattern))
    found = list(found)
    if not found:
        pytest.skip("there are no headers of the toolkit")
    return found


def run(stream, k, grid, block, *args, shared=0):
    launch(stream, LaunchConfig(grid=grid, block=block, shmem_size=shared), k, *args)


def test_tiled_matrix_product(dev, stream, compiled):
    k = compiled(r"""
        extern "C" __global__ void mm(const float *a, const float *b, float *c, int n)
        {
            __shared__ float x[16][16], y[16][17];
            int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
            float s = 0;
            for (int t = 0; t < n; t += 16) {
                x[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
                y[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
                __syncthreads();
                #pragma unroll
                for (int k = 0; k < 16; k++) s += x[threadIdx.y][k] * y[k][threadIdx.x];
                __syncthreads();
            }
            c[row * n + col] = s;
        }
    """).get_kernel("mm")
    n = 64
    a, b = (rng(i).integers(-8, 8, (n, n)).astype(np.float32) for i in (1, 2))
    da, db, dc = put(dev, stream, a), put(dev, stream, b), put(dev, stream, np.zeros((n, n), np.float32))
    run(stream, k, (4, 4), (16, 16), da, db, dc, np.int32(n))
    assert np.array_equal(get(dc, stream, np.float32).reshape(n, n), a @ b)


def test_transpose(dev, stream, compiled):
    k = compiled(r"""
        extern "C" __global__ void transpose(const int *in, int *out, int w, int h)
        {
            __shared__ int tile[32][33];
            int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
            for (int j = 0; j < 32; j += 8) if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
            __syncthreads();
            x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
            for (int j = 0; j < 32; j += 8) if (x < h && y + j < w) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
        }
    """).get_kernel("transpose")
    a = rng(3).integers(0, 1 << 30, (70, 100)).astype(np.int32)
    d, out = put(dev, stream, a), put(dev, stream, np.zeros_like(a))
    run(stream, k, (4, 3), (32, 8), d, out, np.int32(100), np.int32(70))
    assert np.array_equal(get(out, stream, np.int32).reshape(100, 70), a.T)


def test_scan_by_shuffles(dev, stream, compiled):
    c = compiled(r"""
        extern "C" __global__ void scan(unsigned *p, unsigned *sums, int n)
        {
            __shared__ unsigned warps[32];
            int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, w = threadIdx.x >> 5;
            unsigned v = i < n ? p[i] : 0;
            for (int d = 1; d < 32; d *= 2) { unsigned u = __shfl_up_sync(~0u, v, d); if (lane >= d) v += u; }
            if (lane == 31) warps[w] = v;
            __syncthreads();
            if (w == 0) {
                unsigned s = lane < blockDim.x / 32 ? warps[lane] : 0;
                for (int d = 1; d < 32; d *= 2) { unsigned u = __shfl_up_sync(~0u, s, d); if (lane >= d) s += u; }
                warps[lane] = s;
            }
            __syncthreads();
            if (w) v += warps[w - 1];
            if (i < n) p[i] = v;
            if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = v;
        }
        extern "C" __global__ void add(unsigned *p, const unsigned *sums, int n)
        {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (blockIdx.x && i < n) p[i] += sums[blockIdx.x - 1];
        }
    """)
    n = 200_000
    a = rng(4).integers(0, 1000, n).astype(np.uint32)
    blocks = (n + 255) // 256
    d, sums, top = put(dev, stream, a), put(dev, stream, np.zeros(1024, np.uint32)), put(dev, stream, np.zeros(1, np.uint32))
    run(stream, c.get_kernel("scan"), blocks, 256, d, sums, np.int32(n))
    run(stream, c.get_kernel("scan"), 1, 1024, sums, top, np.int32(blocks))
    run(stream, c.get_kernel("add"), blocks, 256, d, sums, np.int32(n))
    assert np.array_equal(get(d, stream, np.uint32), np.cumsum(a, dtype=np.uint32))


def test_histogram(dev, stream, compiled):
    k = compiled(r"""
        extern "C" __global__ void histogram(const unsigned char *p, int n, unsigned *out)
        {
            __shared__ unsigned h[256];
            for (int i = threadIdx.x; i < 256; i += blockDim.x) h[i] = 0;
            __syncthreads();
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&h[p[i]], 1u);
            __syncthreads();
            for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&out[i], h[i]);
        }
    """).get_kernel("histogram")
    a = (rng(5).normal(128, 30, 300_000).clip(0, 255)).astype(np.uint8)
    d, out = put(dev, stream, a), put(dev, stream, np.zeros(256, np.uint32))
    run(stream, k, 12, 192, d, np.int32(len(a)), out)
    assert np.array_equal(get(out, stream, np.uint32), np.bincount(a, minlength=256))


def test_bitonic_sort(dev, stream, compiled):
    k = compiled(r"""
        extern "C" __global__ void step(float *p, int j, int k)
        {
            unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i ^ j;
            if (x > i) {
                float a = p[i], b = p[x];
                if ((a > b) == !(i & k)) { p[i] = b; p[x] = a; }
            }
        }
    """).get_kernel("step")
    n = 1 << 12
    a = rng(6).normal(size=n).astype(np.float32)
    d = put(dev, stream, a)
    k2 = 2
    while k2 <= n:
        j = k2 // 2
        while j:
            run(stream, k, n // 256, 256, d, np.int32(j), np.int32(k2))
            j //= 2
        k2 *= 2
    assert np.array_equal(get(d, stream, np.float32), np.sort(a))


def test_stencil(dev, stream, compiled):
    """A wave equation of second order in time, 50 steps, in integers so that it is exact."""
    k = compiled(r"""
        extern "C" __global__ void wave(const int *now, int *past, int w, int h)
        {
            int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
            if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
            int c = y * w + x;
            past[c] = 2 * now[c] - past[c] + (now[c - 1] + now[c + 1] + now[c - w] + now[c + w] - 4 * now[c]) / 8;
        }
    """).get_kernel("wave")
    w, h = 50, 40
    now, past = np.zeros((h, w), np.int32), np.zeros((h, w), np.int32)
    now[20, 25] = past[20, 25] = 1 << 20
    d = [put(dev, stream, now), put(dev, stream, past)]
    for i in range(50):
        run(stream, k, (4, 5), (16, 8), d[i % 2], d[(i + 1) % 2], np.int32(w), np.int32(h))
        lap = now[1:-1, :-2] + now[1:-1, 2:] + now[:-2, 1:-1] + now[2:, 1:-1] - 4 * now[1:-1, 1:-1]
        step = np.sign(lap) * (np.abs(lap) // 8)  # C truncates
        past[1:-1, 1:-1] = 2 * now[1:-1, 1:-1] - past[1:-1, 1:-1] + step
        now, past = past, now
    assert np.array_equal(get(d[0], stream, np.int32).reshape(h, w), now)


def test_system_wide_atomics(dev, stream, compiled):
    k = compiled(r"""
        extern "C" __global__ void atomics(int *a)
        {
            int t = blockDim.x * blockIdx.x + threadIdx.x;
            for (int i = 0; i < 10; i++) {
                atomicAdd_system(&a[0], 10); atomicExch_system(&a[1], t); atomicMax_system(&a[2], t); atomicMin_system(&a[3], -t);
                atomicInc_system((unsigned *)&a[4], 17); atomicDec_system((unsigned *)&a[5], 137); atomicCAS_system(&a[6], t - 1, t);
                atomicAnd_system(&a[7], 2 * t + 7); atomicOr_system(&a[8], 1 << (t & 31)); atomicXor_system(&a[9], t);
            }
        }
    """).get_kernel("atomics")
    b = pinned.allocate(64, stream=stream)
    v = view(b, np.int32)
    v[:] = 0
    v[7] = v[9] = 0xFF
    threads = 32 * 64
    run(stream, k, 64, 32, b)
    stream.sync()
    assert v[0] == threads * 100 and 0 <= v[1] < threads and v[2] == threads - 1 and v[3] == -(threads - 1)
    assert v[4] == threads * 10 % 18 and 0 <= v[6] < threads and v[8] == -1
    assert v[7] == 0xFF & np.bitwise_and.reduce([2 * t + 7 for t in range(threads)]) and v[9] == 0xFF
    b.close(stream)


def test_device_heap(dev, stream, compiled):
    k = compiled(r"""
        extern "C" __global__ void lists(int *out)
        {
            struct node { int v; node *next; } *head = 0;
            for (int i = 0; i < 10; i++) { node *n = (node *)malloc(sizeof(node)); n->v = threadIdx.x * i; n->next = head; head = n; }
            int s = 0;
            while (head) { s = s * 3 + head->v; node *n = head->next; free(head); head = n; }
            out[threadIdx.x] = s;
        }
    """).get_kernel("lists")
    d = put(dev, stream, np.zeros(64, np.int32))
    run(stream, k, 1, 64, d)
    want = []
    for t in range(64):
        s = 0
        for i in reversed(range(10)):
            s = s * 3 + t * i
        want.append(s)
    assert get(d, stream, np.int32).tolist() == want


def test_virtual_functions_and_recursion(dev, stream, compiled):
    k = compiled(r"""
        struct Shape { __device__ virtual int area(int n) const = 0; };
        struct Square : Shape { __device__ int area(int n) const override { return n * n; } };
        struct Line : Shape { __device__ int area(int n) const override { return n; } };
        __device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
        extern "C" __global__ void k(int *out)
        {
            Square s; Line l;
            const Shape *p = threadIdx.x % 2 ? (const Shape *)&s : &l;
            out[threadIdx.x] = p->area(threadIdx.x) + 1000 * fib(threadIdx.x % 12);
        }
    """).get_kernel("k")
    d = put(dev, stream, np.zeros(48, np.int32))
    run(stream, k, 1, 48, d)
    fib = [0, 1]
    while len(fib) < 12:
        fib.append(fib[-1] + fib[-2])
    assert get(d, stream, np.int32).tolist() == [(t * t if t % 2 else t) + 1000 * fib[t % 12] for t in range(48)]


def test_clock(dev, stream, compiled):
    k = compiled(r"""
        extern "C" __global__ void k(long long *out)
        {
            long long a = clock64(), t = 0;
            for (int i = 0; i < 1000; i++) t += i * (a & 7);
            long long b = clock64();
            out[threadIdx.x] = b - a + (t < 0);
        }
    """).get_kernel("k")
    d = put(dev, stream, np.zeros(32, np.int64))
    run(stream, k, 1, 32, d)
    assert (get(d, stream, np.int64) > 0).all()


def test_votes_and_matches(dev, stream, compiled):
    k = compiled(r"""
        extern "C" __global__ void k(const int *v, unsigned *out)
        {
            int t = threadIdx.x;
            out[4 * t] = __ballot_sync(~0u, v[t] > 3);
            out[4 * t + 1] = __match_any_sync(~0u, v[t]);
            out[4 * t + 2] = __all_sync(~0u, v[t] >= 0) + 2 * __any_sync(~0u, v[t] == 7);
            out[4 * t + 3] = __popc(v[t]) + __clz(v[t] + 1) + __brev(v[t]) % 97;
        }
    """).get_kernel("k")
    v = rng(7).integers(0, 8, 32).astype(np.int32)
    d, out = put(dev, stream, v), put(dev, stream, np.zeros(128, np.uint32))
    run(stream, k, 1, 32, d, out)
    got = get(out, stream, np.uint32).reshape(32, 4)
    ballot = sum(1 << i for i in range(32) if v[i] > 3)
    brev = lambda x: int(f"{x:032b}"[::-1], 2)
    for t in range(32):
        x = int(v[t])
        assert got[t].tolist() == [ballot, sum(1 << i for i in range(32) if v[i] == x), 1 + 2 * (7 in v), bin(x).count("1") + (32 - (x + 1).bit_length()) + brev(x) % 97]


def test_mathematics(dev, stream, compiled):
    k = compiled(r"""
        extern "C" __global__ void k(const double *x, double *o, int n)
        {
            int i = threadIdx.x + blockIdx.x * blockDim.x;
            if (i >= n) return;
            double v = x[i];
            o[i] = sin(v); o[n + i] = exp(v / 10); o[2 * n + i] = log(v + 1); o[3 * n + i] = atan2(v, 3.0); o[4 * n + i] = cbrt(v); o[5 * n + i] = erf(v / 50); o[6 * n + i] = pow(v, 1.7); o[7 * n + i] = fmod(v, 0.7);
        }
    """).get_kernel("k")
    import math
    x = np.linspace(0.01, 100, 500)
    d, out = put(dev, stream, x), put(dev, stream, np.zeros(8 * 500))
    run(stream, k, 4, 128, d, out, np.int32(500))
    got = get(out, stream, np.float64).reshape(8, 500)
    want = [np.sin(x), np.exp(x / 10), np.log(x + 1), np.arctan2(x, 3), np.cbrt(x), np.array([math.erf(v / 50) for v in x]), x**1.7, np.fmod(x, 0.7)]
    for g, w in zip(got, want):
        assert np.allclose(g, w, rtol=1e-14, atol=1e-15)


def test_printf(compiler):
    out = child(r"""
        source = r'extern "C" __global__ void k(float f) { printf("%5.2f|%-6s|%08x|%lld|%c|%e|%%\n", f, "ab", 0xbeef, -(1ll << 40), 65 + threadIdx.x, 12345.678); }'
        k = Program(source, "c++", ProgramOptions(arch=f"sm_{dev.arch}")).compile("ptx").get_kernel("k")
        launch(stream, LaunchConfig(grid=1, block=2), k, np.float32(3.14159))
        stream.sync()
    """)
    assert out.splitlines() == [f"{pi}|ab    |0000beef|-1099511627776|{c}|1.234568e+04|%" for pi, c in (("3.14", "A"), (" 3.14", "B"))]  # child strips


def test_assertion(compiler):
    out = child(r"""
        source = r'#undef NDEBUG' + '\n' + r'''extern "C" __device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);
            extern "C" __global__ void k(int x) { if (x != 1) __assertfail("x == 1", "sample.cu", 7, "k", 1); }'''
        k = Program(source, "c++", ProgramOptions(arch=f"sm_{dev.arch}")).compile("ptx").get_kernel("k")
        launch(stream, LaunchConfig(grid=1, block=1), k, np.int32(1))
        stream.sync()
        launch(stream, LaunchConfig(grid=1, block=1), k, np.int32(2))
        try:
            stream.sync()
        except Exception as e:
            print(str(e).split(":")[0], flush=True)
        os._exit(0)
    """)
    assert out.splitlines()[-1] == "CUDA_ERROR_ASSERT"


def test_constant_memory(dev, stream, compiled):
    from cuda.bindings import driver
    c = compiled(r"""
        extern "C" { __constant__ float weights[8]; __device__ int total = 5; }
        extern "C" __global__ void k(float *o) { o[threadIdx.x] = weights[threadIdx.x] * total; atomicAdd(&total, 1); }
    """)
    k = c.get_kernel("k")
    err, lib = driver.cuKernelGetLibrary(driver.CUkernel(int(k.handle)))
    assert err == 0
    err, p, size = driver.cuLibraryGetGlobal(lib, b"weights")
    assert err == 0 and size == 32
    w = Buffer.from_handle(int(p), 32)
    src = put(dev, stream, np.arange(8, dtype=np.float32))
    w.copy_from(src, stream=stream)
    d = put(dev, stream, np.zeros(8, np.float32))
    run(stream, k, 1, 8, d)
    assert get(d, stream, np.float32).tolist() == [5.0 * i for i in range(8)]
    err, p, size = driver.cuLibraryGetGlobal(lib, b"total")
    assert get(Buffer.from_handle(int(p), 4), stream, np.int32).tolist() == [13]


def test_half_precision(dev, stream, compiled, headers):
    k = compiled(r"""
        #include <cuda_fp16.h>
        extern "C" __global__ void k(const __half *a, const __half *b, __half *o, int n)
        {
            int i = threadIdx.x + blockIdx.x * blockDim.x;
            if (i < n) o[i] = __hfma(a[i], b[i], __float2half(0.5f));
        }
    """, include_path=headers).get_kernel("k")
    a, b = (rng(i).normal(size=300).astype(np.float16) for i in (8, 9))
    da, db, out = put(dev, stream, a), put(dev, stream, b), put(dev, stream, np.zeros(300, np.float16))
    run(stream, k, 3, 128, da, db, out, np.int32(300))
    assert np.array_equal(get(out, stream, np.float16), (a.astype(np.float64) * b.astype(np.float64) + 0.5).astype(np.float16))


def test_matrix_units(dev, stream, compiled, headers):
    k = compiled(r"""
        #include <mma.h>
        using namespace nvcuda;
        extern "C" __global__ void k(const __half *a, const __half *b, float *c)
        {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> y;
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
            wmma::fill_fragment(z, 1.0f);
            wmma::load_matrix_sync(x, a, 16);
            wmma::load_matrix_sync(y, b, 16);
            wmma::mma_sync(z, x, y, z);
            wmma::store_matrix_sync(c, z, 16, wmma::mem_row_major);
        }
    """, include_path=headers).get_kernel("k")
    a, b = (rng(i).integers(-4, 5, (16, 16)).astype(np.float16) for i in (10, 11))
    da, db, dc = put(dev, stream, a), put(dev, stream, b), put(dev, stream, np.zeros((16, 16), np.float32))
    run(stream, k, 1, 32, da, db, dc)
    assert np.array_equal(get(dc, stream, np.float32).reshape(16, 16), a.astype(np.float32) @ b.astype(np.float32).T + 1)


def test_grid_group(dev, stream, compiled, headers):
    """Cooperative groups: a sum over the whole grid in one kernel, twice."""
    c = compiled(r"""
        #include <cooperative_groups.h>
        namespace cg = cooperative_groups;
        extern "C" __global__ void k(const int *p, int n, int *part, int *out)
        {
            cg::grid_group g = cg::this_grid();
            cg::thread_block_tile<32> w = cg::tiled_partition<32>(cg::this_thread_block());
            for (int round = 0; round < 2; round++) {
                int s = 0;
                for (int i = g.thread_rank(); i < n; i += g.size()) s += p[i];
                for (int d = 16; d; d /= 2) s += w.shfl_down(s, d);
                if (g.thread_rank() == 0) *part = 0;
                g.sync();
                if (w.thread_rank() == 0) atomicAdd(part, s);
                g.sync();
                if (g.thread_rank() == 0) out[round] = *part + round;
                g.sync();
            }
        }
    """, include_path=headers)
    a = rng(12).integers(-50, 50, 10000).astype(np.int32)
    d, part, out = put(dev, stream, a), put(dev, stream, np.zeros(1, np.int32)), put(dev, stream, np.zeros(2, np.int32))
    launch(stream, cooperative(grid=6, block=64), c.get_kernel("k"), d, np.int32(len(a)), part, out)
    assert get(out, stream, np.int32).tolist() == [int(a.sum()), int(a.sum()) + 1]


def test_asynchronous_copies(dev, stream, compiled, headers):
    if dev.compute_capability < (8, 0):
        pytest.skip("needs compute capability 8.0")
    k = compiled(r"""
        #include <cuda_pipeline.h>
        extern "C" __global__ void k(const int4 *in, int *out)
        {
            __shared__ int4 stage[2][64];
            int t = threadIdx.x, s = 0;
            __pipeline_memcpy_async(&stage[0][t], &in[t], 16);
            __pipeline_commit();
            for (int i = 0; i < 8; i++) {
                if (i < 7) __pipeline_memcpy_async(&stage[(i + 1) % 2][t], &in[(i + 1) * 64 + t], 16);
                __pipeline_commit();
                __pipeline_wait_prior(1);
                __syncthreads();
                int4 v = stage[i % 2][63 - t];
                s = 3 * s + v.x + v.y + v.z + v.w;
                __syncthreads();
            }
            out[t] = s;
        }
    """, include_path=headers).get_kernel("k")
    a = rng(13).integers(0, 100, (8, 64, 4)).astype(np.int32)
    d, out = put(dev, stream, a), put(dev, stream, np.zeros(64, np.int32))
    run(stream, k, 1, 64, d, out)
    s = np.zeros(64, np.int64)
    for i in range(8):
        s = 3 * s + a[i].sum(1)[::-1]
    assert np.array_equal(get(out, stream, np.int32), s.astype(np.int32))


def test_conjugate_gradient(dev, stream, compiled):
    """The Laplacian in one dimension, by four small kernels and a loop of the host."""
    c = compiled(r"""
        extern "C" __global__ void apply(const double *p, double *q, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) q[i] = 2.5 * p[i] - (i ? p[i - 1] : 0) - (i < n - 1 ? p[i + 1] : 0); }
        extern "C" __global__ void dot(const double *a, const double *b, double *out, int n)
        {
            __shared__ double s[256];
            double v = 0;
            for (int i = threadIdx.x; i < n; i += 256) v += a[i] * b[i];
            s[threadIdx.x] = v;
            for (int d = 128; d; d /= 2) { __syncthreads(); if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; }
            if (!threadIdx.x) *out = s[0];
        }
        extern "C" __global__ void axpy(double a, const double *x, double *y, double b, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + b * y[i]; }
    """)
    apply, dot, axpy = (c.get_kernel(n) for n in ("apply", "dot", "axpy"))
    n = 500
    rhs = rng(14).normal(size=n)
    x, r, p, q, s = put(dev, stream, np.zeros(n)), put(dev, stream, rhs), put(dev, stream, rhs), put(dev, stream, np.zeros(n)), put(dev, stream, np.zeros(1))
    N = np.int32(n)

    def product(a, b):
        run(stream, dot, 1, 256, a, b, s, N)
        return get(s, stream, np.float64)[0]

    rr = product(r, r)
    for _ in range(100):
        run(stream, apply, 4, 128, p, q, N)
        alpha = rr / product(p, q)
        run(stream, axpy, 4, 128, np.float64(alpha), p, x, np.float64(1), N)
        run(stream, axpy, 4, 128, np.float64(-alpha), q, r, np.float64(1), N)
        new = product(r, r)
        if new < 1e-24:
            break
        run(stream, axpy, 4, 128, np.float64(1), r, p, np.float64(new / rr), N)
        rr = new
    m = 2.5 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    assert np.allclose(get(x, stream, np.float64), np.linalg.solve(m, rhs), atol=1e-9)
