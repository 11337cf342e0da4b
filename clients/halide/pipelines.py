"""Halide pipelines scheduled for CUDA, compared with the same pipelines on the CPU.

Each function below builds one pipeline, for the CPU as it is, for CUDA with the schedule under `if cuda`. Results of integers have to be equal. Of floats: the two code
generators may fuse multiplications and additions otherwise and have other approximations of sin, exp and so on, hence the relative difference that each pipeline names.
"""
import array, os, sys, time, warnings
import halide as hl

warnings.simplefilter("ignore")  # that numbers of Python become 32-bit floats
PREFIX = os.environ.get("LINES_PREFIX", "")
x, y, z, c = hl.Var("x"), hl.Var("y"), hl.Var("z"), hl.Var("c")
xo, yo, xi, yi, zi, t, u = (hl.Var(n) for n in ("xo", "yo", "xi", "yi", "zi", "t", "u"))
i8, u8, u16, i16, i32, u32, i64, f16, f32, f64 = (hl.Int(8), hl.UInt(8), hl.UInt(16), hl.Int(16), hl.Int(32), hl.UInt(32), hl.Int(64), hl.Float(16), hl.Float(32), hl.Float(64))
CODES = {"Int8": "b", "UInt8": "B", "UInt16": "H", "Int16": "h", "Int32": "i", "UInt32": "I", "Int64": "q", "UInt64": "Q", "Float32": "f", "Float64": "d"}


def values(buffer):
    kind = str(buffer.type()).replace("hl.", "").replace("(", "").replace(")", "").replace("bool", "UInt8")
    a = array.array(CODES[{"int": "Int", "uint": "UInt", "float": "Float"}.get(kind.rstrip("0123456789"), kind.rstrip("0123456789")) + kind.lstrip("intufloaIUF")])
    a.frombytes(memoryview(buffer).tobytes())
    return a


def noise(type, *sizes, low=0.0, high=1.0, seed=1):
    """A buffer of numbers without a pattern."""
    v = [x, y, z][: len(sizes)]
    word = lambda k: hl.cast(u32, hl.i64(k))
    h = hl.cast(u32, x) * word(2654435761) + word(seed * 97)
    for i, n in enumerate(v[1:]):
        h += hl.cast(u32, n) * word((40503 + 2 * i) * 22468225 % 2**32)
    h = (h ^ (h >> 15)) * word(2246822519)
    h = (h ^ (h >> 13)) * word(3266489917)
    h = h ^ (h >> 16)
    f = hl.Func("noise")
    f[tuple(v)] = hl.cast(f32, h >> 8) * hl.f32((high - low) / (1 << 24)) + hl.f32(low) if type.is_float() else hl.cast(type, h >> 7)
    if type.bits() == 64 and type.is_float():
        g = hl.Func("noise64")
        g[tuple(v)] = hl.cast(f64, f[tuple(v)])
        f = g
    b = f.realize(list(sizes), HOST)
    b.set_host_dirty()  # a target without a device does not tell it
    return b


def edge(buffer):
    return hl.BoundaryConditions.repeat_edge(buffer)


PIPELINES = []


def pipeline(*sizes, near=0.0, names=None):
    """The function under this gives a Func (or a list of what to realize) of these sizes."""

    def add(f):
        PIPELINES.append((f.__name__.replace("_", " "), f, list(sizes), near))
        return f

    return add


@pipeline(250, 130)
def blur(cuda):
    inp, bx, out = edge(noise(u8, 250, 130)), hl.Func("bx"), hl.Func("out")
    at = lambda i, j: hl.cast(u16, inp[i, j])
    bx[x, y] = at(x - 1, y) + 2 * at(x, y) + at(x + 1, y)
    out[x, y] = hl.cast(u8, (bx[x, y - 1] + 2 * bx[x, y] + bx[x, y + 1]) >> 4)
    if cuda:  # the horizontal pass of a tile is in shared memory
        out.gpu_tile(x, y, xi, yi, 32, 8)
        bx.compute_at(out, x).gpu_threads(x, y)
    return out


@pipeline(250, 130)
def blur_in_two_kernels(cuda):
    inp, bx, out = edge(noise(u8, 250, 130)), hl.Func("bx"), hl.Func("out")
    at = lambda i, j: hl.cast(u16, inp[i, j])
    bx[x, y] = (at(x - 2, y) + at(x, y) + at(x + 2, y)) / 3
    out[x, y] = hl.cast(u8, (bx[x, y - 2] + bx[x, y] + bx[x, y + 2]) / 3)
    if cuda:
        bx.compute_root().gpu_tile(x, y, xi, yi, 16, 16)
        out.gpu_tile(x, y, xi, yi, 64, 4)
    return out


@pipeline(256)
def histogram(cuda):
    inp, out, r = noise(u8, 300, 200), hl.Func("out"), hl.RDom([(0, 300), (0, 200)])
    out[x] = hl.cast(u32, 0)
    out[hl.cast(i32, inp[r.x, r.y])] += hl.cast(u32, 1)
    if cuda:
        out.gpu_tile(x, xi, 64)
        out.update().atomic().gpu_tile(r.x, r.y, hl.RVar("rxi"), hl.RVar("ryi"), 32, 8)
    return out


@pipeline(256)
def histogram_by_rows(cuda):
    inp, out, part, r = noise(u8, 128, 96), hl.Func("out"), hl.Func("part"), hl.RDom([(0, 128)])
    ry = hl.RDom([(0, 96)])
    part[x, y] = hl.cast(u16, 0)
    part[hl.cast(i32, inp[r.x, y]), y] += hl.cast(u16, 1)
    out[x] = hl.cast(u32, 0)
    out[x] += hl.cast(u32, part[x, ry.x])
    if cuda:
        part.compute_root().gpu_tile(x, y, xi, yi, 32, 4)
        part.update().gpu_tile(y, yi, 32)
        out.gpu_tile(x, xi, 64)
        out.update().gpu_tile(x, xi, 64)
    return out


@pipeline(96, 80, near=1e-5)
def matrix_multiply(cuda):
    a, b, p, out = noise(f32, 112, 80, seed=2), noise(f32, 96, 112, seed=3), hl.Func("p"), hl.Func("out")
    r = hl.RDom([(0, 112)])
    p[x, y] = 0.0
    p[x, y] += a[r.x, y] * b[x, r.x]
    out[x, y] = p[x, y]
    if cuda:  # 2 by 2 sums of a thread in registers
        out.tile(x, y, xo, yo, xi, yi, 32, 16).tile(xi, yi, t, u, xi, yi, 2, 2)
        out.gpu_blocks(xo, yo).gpu_threads(t, u).unroll(xi).unroll(yi)
        p.compute_at(out, t).unroll(x).unroll(y)
        p.update().reorder(x, y, r.x).unroll(x).unroll(y)
    return out


@pipeline(64, 64, near=1e-5)
def matrix_multiply_of_tiles_in_shared_memory(cuda):
    a, b, p, out = noise(f32, 64, 64, seed=4), noise(f32, 64, 64, seed=5), hl.Func("p"), hl.Func("out")
    fa, fb = hl.Func("fa"), hl.Func("fb")
    fa[x, y], fb[x, y] = a[x, y], b[x, y]
    r = hl.RDom([(0, 64)])
    p[x, y] = 0.0
    p[x, y] += fa[r.x, y] * fb[x, r.x]
    out[x, y] = p[x, y]
    if cuda:
        ro, ri = hl.RVar("ro"), hl.RVar("ri")
        out.bound(x, 0, 64).bound(y, 0, 64).gpu_tile(x, y, xi, yi, 16, 16)
        p.compute_at(out, x).gpu_threads(x, y)
        p.update().split(r.x, ro, ri, 16).reorder(ri, x, y, ro).gpu_threads(x, y).unroll(ri)
        for f in (fa, fb):
            f.compute_at(p, ro).gpu_threads(x, y)
    return out


@pipeline(177, 123, near=1e-4)
def resize_bilinear(cuda):  # what is behind the point of a coordinate near 90 has 17 bits
    inp, out = edge(noise(f32, 90, 70)), hl.Func("out")
    sx, sy = (hl.cast(f32, x) + 0.5) * (90.0 / 177) - 0.5, (hl.cast(f32, y) + 0.5) * (70.0 / 123) - 0.5
    ix, iy = hl.cast(i32, hl.floor(sx)), hl.cast(i32, hl.floor(sy))
    out[x, y] = hl.lerp(hl.lerp(inp[ix, iy], inp[ix + 1, iy], sx - ix), hl.lerp(inp[ix, iy + 1], inp[ix + 1, iy + 1], sx - ix), sy - iy)
    if cuda:
        out.gpu_tile(x, y, xi, yi, 32, 4)
    return out


@pipeline(60, 45, near=1e-4)
def resize_lanczos(cuda):
    inp, kernel, weight, across, out = edge(noise(f32, 160, 120)), hl.Func("kernel"), hl.Func("weight"), hl.Func("across"), hl.Func("out")
    r = hl.RDom([(0, 18)])
    k = hl.Var("k")

    def lanczos(v):
        a = 3.141592653589793 * v
        return hl.select(hl.abs(v) < 1e-4, 1.0, hl.abs(v) < 3, 3 * hl.sin(a) * hl.sin(a / 3) / (a * a), 0.0)

    scale = 160.0 / 60
    src = (hl.cast(f32, x) + 0.5) * scale
    begin = hl.cast(i32, hl.ceil(src - 9.0))
    kernel[x, k] = lanczos((hl.cast(f32, begin + k) + 0.5 - src) / scale)
    weight[x, k] = kernel[x, k] / hl.sum(kernel[x, r.x])
    begin_at = lambda v: hl.cast(i32, hl.ceil((hl.cast(f32, v) + 0.5) * scale - 9.0))
    across[x, y] = hl.sum(weight[x, r.x] * inp[begin_at(x) + r.x, y])
    out[x, y] = hl.sum(weight[y, r.x] * across[x, begin_at(y) + r.x])
    if cuda:
        kernel.compute_root().gpu_tile(x, xi, 16)
        weight.compute_root().gpu_tile(x, xi, 16)
        across.compute_root().gpu_tile(x, y, xi, yi, 16, 8)
        out.gpu_tile(x, y, xi, yi, 16, 8)
    return out


@pipeline(120, 90, 3, near=1e-4)
def unsharp(cuda):
    inp, gray, by, bx, sharp, ratio, out = edge(noise(f32, 120, 90, 3, low=0.1)), *(hl.Func(n) for n in ("gray", "by", "bx", "sharp", "ratio", "out"))
    k = [0.1, 0.25, 0.3, 0.25, 0.1]
    gray[x, y] = 0.299 * inp[x, y, 0] + 0.587 * inp[x, y, 1] + 0.114 * inp[x, y, 2]
    by[x, y] = sum((w * gray[x, y + i - 2] for i, w in enumerate(k)), 0.0)
    bx[x, y] = sum((w * by[x + i - 2, y] for i, w in enumerate(k)), 0.0)
    sharp[x, y] = 2 * gray[x, y] - bx[x, y]
    ratio[x, y] = sharp[x, y] / gray[x, y]
    out[x, y, c] = ratio[x, y] * inp[x, y, c]
    if cuda:
        out.gpu_tile(x, y, xi, yi, 32, 8)
        ratio.compute_at(out, xi)
        by.compute_at(out, x).gpu_threads(x, y)
        gray.compute_at(out, x).gpu_threads(x, y)
    return out


@pipeline(40, near=1e-5)
def sums_of_rows_by_parts(cuda):
    inp, total, out = noise(f32, 1024, 40), hl.Func("total"), hl.Func("out")
    r = hl.RDom([(0, 1024)])
    total[y] = 0.0
    total[y] += inp[r.x, y]
    out[y] = total[y]
    if cuda:  # 64 threads add a part each, in shared memory
        ro, ri = hl.RVar("ro"), hl.RVar("ri")
        part = total.update().split(r.x, ro, ri, 64).rfactor(ri, u)
        out.gpu_tile(y, yi, 1)
        total.compute_at(out, y)
        part.compute_at(out, y).gpu_threads(u)
        part.update().gpu_threads(u)
    return out


@pipeline(50)
def place_of_the_largest(cuda):
    inp, best, out = noise(i32, 700, 50), hl.Func("best"), hl.Func("out")
    r = hl.RDom([(0, 700)])
    best[y] = hl.argmax(inp[r.x, y])
    out[y] = best[y][0]
    if cuda:
        best.compute_root().gpu_tile(y, yi, 32)
        out.gpu_tile(y, yi, 32)
    return out


@pipeline(130, 70)
def transpose(cuda):
    inp, f, out = noise(u16, 70, 130), hl.Func("f"), hl.Func("out")
    f[x, y] = inp[x, y] + 1
    out[x, y] = f[y, x]
    if cuda:
        out.gpu_tile(x, y, xi, yi, 32, 8)
        f.compute_at(out, x).gpu_threads(x, y)
    return out


@pipeline(64, 48, near=1e-4)
def bilateral_grid(cuda):
    inp, hist, bz, bx, by, lerped, out = edge(noise(f32, 64, 48)), *(hl.Func(n) for n in ("hist", "bz", "bx", "by", "lerped", "out"))
    s, levels = 8, 10
    r = hl.RDom([(0, s), (0, s)])
    val = inp[x * s + r.x - s // 2, y * s + r.y - s // 2]
    hist[x, y, z, c] = 0.0
    hist[x, y, hl.cast(i32, hl.clamp(val, 0.0, 1.0) * levels + 0.5), c] += hl.select(c == 0, val, 1.0)
    g = lambda f, a: f(-2) + 4 * f(-1) + 6 * f(0) + 4 * f(1) + f(2)
    hz = lambda zz: hist[x, y, hl.clamp(zz, 0, levels + 1), c]
    bz[x, y, z, c] = g(lambda i: hz(z + i), 0)
    bx[x, y, z, c] = g(lambda i: bz[x + i, y, z, c], 0)
    by[x, y, z, c] = g(lambda i: bx[x, y + i, z, c], 0)
    zv = hl.clamp(inp[x, y], 0.0, 1.0) * levels
    zq = hl.cast(i32, zv)
    zf = zv - zq
    xf, yf, xq, yq = hl.cast(f32, x % s) / s, hl.cast(f32, y % s) / s, x / s, y / s
    at = lambda i, j, k: by[xq + i, yq + j, zq + k, c]
    plane = lambda k: hl.lerp(hl.lerp(at(0, 0, k), at(1, 0, k), xf), hl.lerp(at(0, 1, k), at(1, 1, k), xf), yf)
    lerped[x, y, c] = hl.lerp(plane(0), plane(1), zf)
    out[x, y] = lerped[x, y, 0] / lerped[x, y, 1]
    if cuda:
        hist.bound(z, 0, levels + 2).bound(c, 0, 2)
        hist.compute_root().gpu_tile(x, y, xi, yi, 8, 8)
        hist.update().reorder(c, r.x, r.y, x, y).gpu_tile(x, y, xi, yi, 8, 8)
        for f in (bz, bx, by):
            f.compute_root().bound(c, 0, 2).gpu_tile(x, y, z, xi, yi, zi, 8, 4, 2)
        out.gpu_tile(x, y, xi, yi, 16, 8)
    return out


@pipeline(16, 20, 18, near=1e-5)
def convolution_layer(cuda):
    n = hl.Var("n")
    inp, weights, bias = noise(f32, 8, 22, 20, low=-1), noise(f32, 16, 8, 9, low=-1, seed=6), noise(f32, 16, low=-1, seed=7)
    conv, out = hl.Func("conv"), hl.Func("out")
    r = hl.RDom([(0, 8), (0, 3), (0, 3)])
    conv[c, x, y] = bias[c]
    conv[c, x, y] += weights[c, r.x, r.y * 3 + r.z] * inp[r.x, x + r.y, y + r.z]
    out[c, x, y] = hl.max(0.0, conv[c, x, y])
    if cuda:
        out.gpu_tile(c, x, y, t, xi, yi, 16, 4, 2)
        conv.compute_at(out, t)
    return out


@pipeline(100, 80)
def median_of_nine(cuda):
    inp, out = edge(noise(u8, 100, 80)), hl.Func("out")
    v = [inp[x + i, y + j] for j in (-1, 0, 1) for i in (-1, 0, 1)]
    for a, b in ((1, 2), (4, 5), (7, 8), (0, 1), (3, 4), (6, 7), (1, 2), (4, 5), (7, 8), (0, 3), (5, 8), (4, 7), (3, 6), (1, 4), (2, 5), (4, 7), (4, 2), (6, 4), (4, 2)):
        v[a], v[b] = hl.min(v[a], v[b]), hl.max(v[a], v[b])
    out[x, y] = v[4]
    if cuda:
        out.gpu_tile(x, y, xi, yi, 16, 16)
    return out


@pipeline(64, 64)
def game_of_life(cuda):
    g0 = noise(u8, 64, 64)
    f = hl.Func("g0")
    f[x, y] = hl.cast(u8, g0[x, y] > 150)
    for i in range(8):
        n, wrap = hl.Func(f"g{i + 1}"), lambda v: v & 63
        near = [f[wrap(x + a), wrap(y + b)] for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
        count = near[0]
        for v in near[1:]:
            count = count + v
        n[x, y] = hl.select((count == 3) | ((count == 2) & (f[x, y] == 1)), hl.cast(u8, 1), hl.cast(u8, 0))
        if cuda:
            f.compute_root().gpu_tile(x, y, xi, yi, 16, 8)
        else:
            f.compute_root()
        f = n
    if cuda:
        f.gpu_tile(x, y, xi, yi, 16, 8)
    return f


@pipeline(100, 64, near=1e-4)
def recursive_filter(cuda):
    inp, out = edge(noise(f32, 100, 64)), hl.Func("out")
    down, up = hl.RDom([(1, 63)]), hl.RDom([(0, 63)])
    out[x, y] = inp[x, y]
    out[x, down.x] = 0.3 * out[x, down.x] + 0.7 * out[x, down.x - 1]
    out[x, 62 - up.x] = 0.3 * out[x, 62 - up.x] + 0.7 * out[x, 63 - up.x]
    if cuda:
        out.gpu_tile(x, y, xi, yi, 32, 4)
        out.update(0).gpu_tile(x, xi, 32)
        out.update(1).gpu_tile(x, xi, 32)
    return out


@pipeline(90, 60)
def integral_image(cuda):
    inp, out = edge(noise(u8, 90, 60)), hl.Func("out")
    rx, ry = hl.RDom([(1, 89)]), hl.RDom([(1, 59)])
    out[x, y] = hl.cast(u32, inp[x, y])
    out[rx.x, y] += out[rx.x - 1, y]
    out[x, ry.x] += out[x, ry.x - 1]
    if cuda:
        out.gpu_tile(x, y, xi, yi, 16, 16)
        out.update(0).gpu_tile(y, yi, 32)
        out.update(1).gpu_tile(x, xi, 32)
    return out


@pipeline(48, 40)
def mandelbrot(cuda):
    m, out, r = hl.Func("m"), hl.Func("out"), hl.RDom([(0, 40)])
    re, im = (hl.cast(f32, x) - 32) / 16, (hl.cast(f32, y) - 20) / 16
    k = hl.Var("k")
    m[x, y, k] = (0.0, 0.0)
    a, b = m[x, y, r.x][0], m[x, y, r.x][1]
    far = hl.strict_float(a * a + b * b) >= 4.0  # how often depends on rounding; without fused operations both are the same
    m[x, y, r.x + 1] = (hl.select(far, a, hl.strict_float(a * a - b * b + re)), hl.select(far, b, hl.strict_float(2.0 * a * b + im)))
    s = hl.RDom([(0, 41)])
    out[x, y] = hl.sum(hl.select(m[x, y, s.x][0] * m[x, y, s.x][0] + m[x, y, s.x][1] * m[x, y, s.x][1] < 4.0, 1, 0))
    if cuda:
        m.compute_root().gpu_tile(x, y, xi, yi, 16, 8)
        m.update().gpu_tile(x, y, xi, yi, 16, 8)
        out.gpu_tile(x, y, xi, yi, 16, 8)
    else:
        m.compute_root()
    return out


@pipeline(128, 60)
def shuffles_between_lanes(cuda):
    inp, f, out = noise(i32, 130, 60), hl.Func("f"), hl.Func("out")
    f[x, y] = inp[x, y] * 3
    out[x, y] = f[x, y] + f[x + 1, y] - f[x + 2, y]
    if cuda:  # what neighbours have comes from their registers
        out.bound(x, 0, 128).tile(x, y, xo, yo, xi, yi, 32, 4, hl.TailStrategy.RoundUp).gpu_blocks(xo, yo).gpu_threads(yi).gpu_lanes(xi)
        f.compute_at(out, yi).split(x, xo, xi, 32, hl.TailStrategy.GuardWithIf).gpu_lanes(xi)
    return out


@pipeline(100, 70)
def two_results(cuda):
    inp, f = noise(u16, 100, 70), hl.Func("f")
    f[x, y] = (hl.cast(u32, inp[x, y]) * 3, hl.cast(i64, inp[x, y]) * -5000000000)
    if cuda:
        f.gpu_tile(x, y, xi, yi, 32, 8)
    return f


@pipeline(200)
def integers_of_every_width(cuda):
    a, b, out = noise(i32, 200), noise(i32, 200, seed=9), hl.Func("out")
    p, q = a[x], b[x]
    v = hl.cast(i64, 0)
    for ty in (i8, u8, i16, u16, i32, u32, i64, hl.UInt(64)):
        m, n = hl.cast(ty, p), hl.cast(ty, q)
        k = hl.cast(ty, q & 7)
        d = hl.select(n == 0, hl.cast(ty, 1), n)
        for e in (m + n, m * n, m / d, m % d, hl.min(m, n), hl.max(m, n), m << k, m >> k, m & n, m ^ n, hl.cast(ty, hl.absd(m, n)), hl.cast(ty, hl.popcount(m)), hl.cast(ty, hl.count_leading_zeros(m))):
            v = v * 31 + hl.cast(i64, e)
    out[x] = v
    if cuda:
        out.gpu_tile(x, xi, 64)
    return out


@pipeline(200, near=2e-5)
def functions_of_floats(cuda):
    a, out = noise(f32, 200, low=0.05, high=2.0), hl.Func("out")
    v = a[x]
    k = hl.Var("k")
    all = [hl.sin(v), hl.cos(v), hl.exp(v), hl.log(v + 2.0), hl.pow(v, 1.7), hl.atan2(v, 0.7), hl.sqrt(v), hl.floor(v * 9), hl.ceil(v * 9), hl.round(v * 9), hl.trunc(v * 9), hl.tanh(v), hl.asin(v / 4), hl.acos(v / 4),
           hl.sinh(v), hl.cosh(v), hl.fast_exp(v), hl.fast_log(v + 2.0), hl.atan(v), hl.tan(v / 2), hl.abs(v - 1.0) + 1.0, hl.fract(v) + 1.0]
    out[x, k] = hl.mux(k, all)
    if cuda:
        out.gpu_tile(x, k, xi, yi, 32, 4)
    return hl.Pipeline(out), [200, len(all)]


@pipeline(200, near=1e-3)
def fast_inverses(cuda):  # the CPU has 12 bits of them
    a, out = noise(f32, 200, low=0.05, high=2.0), hl.Func("out")
    out[x] = hl.fast_inverse(a[x]) + hl.fast_inverse_sqrt(a[x])
    if cuda:
        out.gpu_tile(x, xi, 32)
    return out


@pipeline(150, near=1e-12)
def doubles(cuda):
    a, out = noise(f64, 150, low=0.1, high=3.0), hl.Func("out")
    v = a[x]
    out[x] = hl.sqrt(v) + v / 3 + hl.exp(v) * hl.sin(v) - hl.log(v + 1) + hl.cast(f64, hl.cast(i64, v * 1e6))
    if cuda:
        out.gpu_tile(x, xi, 64)
    return out


@pipeline(160, near=1e-6)
def half_precision(cuda):
    a, f, out = noise(f32, 160, low=-2, high=2), hl.Func("f"), hl.Func("out")
    f[x] = hl.cast(f16, a[x])
    out[x] = hl.cast(f32, f[x]) * 2
    if cuda:
        f.compute_root().gpu_tile(x, xi, 32)
        out.gpu_tile(x, xi, 32)
    else:
        f.compute_root()
    return out


@pipeline(30, 26, 14)
def tiles_of_three_dimensions(cuda):
    inp, out = edge(noise(i16, 30, 26, 14)), hl.Func("out")
    out[x, y, z] = inp[x - 1, y, z] + inp[x + 1, y, z] + inp[x, y - 1, z] + inp[x, y + 1, z] + inp[x, y, z - 1] + inp[x, y, z + 1] - 6 * inp[x, y, z]
    if cuda:
        out.gpu_tile(x, y, z, xi, yi, zi, 8, 4, 4)
    return out


@pipeline(90, 70)
def edges_of_every_kind(cuda):
    b = noise(u8, 50, 40)
    bc, out = hl.BoundaryConditions, hl.Func("out")
    range_ = [(0, 50), (0, 40)]
    fs = [bc.constant_exterior(b, 7), bc.repeat_image(b), bc.mirror_image(b), bc.mirror_interior(b), bc.repeat_edge(b)]
    v = hl.cast(u32, 0)
    for f in fs:
        v = v * 3 + hl.cast(u32, f[x - 20, y - 15])
    out[x, y] = v
    if cuda:
        out.gpu_tile(x, y, xi, yi, 32, 8)
    return out


@pipeline(100, 60)
def stages_on_the_host_between_kernels(cuda):
    inp, a, b, d, out = noise(u8, 100, 60), *(hl.Func(n) for n in ("a", "b", "d", "out"))
    a[x, y] = hl.cast(u16, inp[x, y]) * 3
    b[x, y] = a[x, y] + 5
    d[x, y] = b[x, y] ^ a[x, y]
    out[x, y] = d[99 - x, y]
    for f in (a, b, d):
        f.compute_root()
    if cuda:  # a and d on the device, b and the result on the host
        a.gpu_tile(x, y, xi, yi, 16, 8)
        d.gpu_tile(x, y, xi, yi, 16, 8)
    return out


@pipeline(100, 80)
def sobel_of_vectors(cuda):
    inp, out = edge(noise(u8, 100, 80)), hl.Func("out")
    p = lambda i, j: hl.cast(i16, inp[x + i, y + j])
    gx = p(1, -1) + 2 * p(1, 0) + p(1, 1) - p(-1, -1) - 2 * p(-1, 0) - p(-1, 1)
    gy = p(-1, 1) + 2 * p(0, 1) + p(1, 1) - p(-1, -1) - 2 * p(0, -1) - p(1, -1)
    out[x, y] = hl.cast(u8, hl.clamp(hl.abs(gx) + hl.abs(gy), 0, 255))
    if cuda:  # four pixels of a thread, stored as one word
        out.split(x, x, t, 4).vectorize(t).gpu_tile(x, y, xi, yi, 8, 8)
    return out


@pipeline(128, 16)
def dot_products_of_bytes(cuda):
    a, b, out = noise(u8, 64, 128), noise(u8, 64, 16, seed=3), hl.Func("out")
    r = hl.RDom([(0, 64)])
    p = hl.Func("p")
    p[x, y] = hl.cast(u32, 0)
    p[x, y] += hl.cast(u32, a[r.x, x]) * hl.cast(u32, b[r.x, y])
    out[x, y] = p[x, y]
    if cuda:
        ro, ri = hl.RVar("ro"), hl.RVar("ri")
        out.gpu_tile(x, y, xi, yi, 32, 4)
        p.compute_at(out, xi)
        p.update().split(r.x, ro, ri, 4).atomic().vectorize(ri)
    return out


@pipeline(64, 60, near=1e-4)
def pyramid(cuda):
    inp = edge(noise(f32, 64, 60))
    down, levels = [inp], 4
    for i in range(1, levels):
        dx, d = hl.Func(f"dx{i}"), hl.Func(f"d{i}")
        p = down[-1]
        dx[x, y] = (p[2 * x - 1, y] + 3 * (p[2 * x, y] + p[2 * x + 1, y]) + p[2 * x + 2, y]) / 8
        d[x, y] = (dx[x, 2 * y - 1] + 3 * (dx[x, 2 * y] + dx[x, 2 * y + 1]) + dx[x, 2 * y + 2]) / 8
        d.compute_root()
        if cuda:
            d.gpu_tile(x, y, xi, yi, 8, 8)
        down.append(d)
    up = down[-1]
    for i in reversed(range(levels - 1)):
        n = hl.Func(f"u{i}")
        n[x, y] = 0.5 * down[i][x, y] + 0.5 * (up[x / 2, y / 2] + up[(x + 1) / 2, (y + 1) / 2]) / 2
        if i:
            n.compute_root()
        if cuda:
            n.gpu_tile(x, y, xi, yi, 8, 8)
        up = n
    return up


@pipeline(300)
def atomic_extremes(cuda):
    inp, out, r = noise(i32, 5000), hl.Func("out"), hl.RDom([(0, 5000)])
    at = hl.cast(i32, hl.cast(u32, inp[r.x]) % 300)
    out[x] = -2147483647
    out[at] = hl.max(out[at], inp[r.x])
    if cuda:
        out.gpu_tile(x, xi, 32)
        out.update().atomic().gpu_tile(r.x, hl.RVar("ri"), 64)
    return out


@pipeline(40, 30)
def one_thread(cuda):
    inp, out = noise(u8, 40, 30), hl.Func("out")
    total = hl.Func("total")
    r = hl.RDom([(0, 40), (0, 30)])
    total[()] = hl.cast(u32, 0)
    total[()] += hl.cast(u32, inp[r.x, r.y])
    out[x, y] = total[()] + hl.cast(u32, inp[x, y])
    total.compute_root()
    if cuda:
        total.gpu_single_thread()
        total.update().gpu_single_thread()
        out.gpu_tile(x, y, xi, yi, 16, 4)
    return out


def say(kind, name, why=""):
    print("\t".join(v for v in (kind, PREFIX + name, " ".join(why.split())[:300]) if v), flush=True)


def difference(got, want, near):
    if len(got) != len(want):
        return f"{len(got)} numbers, not {len(want)}"
    bad = [i for i, (a, b) in enumerate(zip(got, want)) if not (a == b or (near and abs(a - b) <= near * max(abs(b), 0.1)))]
    return f"{len(bad)} of {len(want)} differ, the first at {bad[0]}: {got[bad[0]]}, want {want[bad[0]]}" if bad else ""


def realize(build, sizes, cuda, target):
    made = build(cuda)
    if isinstance(made, tuple):
        made, sizes = made
    r = made.realize(sizes, target)
    buffers = list(r) if isinstance(r, (list, tuple)) else [r]
    on_device = any(b.has_device_allocation() for b in buffers)
    for b in buffers:
        b.copy_to_host()
    return [values(b) for b in buffers], on_device


HOST = hl.get_host_target()


def cuda_target(capability):
    t = HOST.with_feature(hl.TargetFeature.CUDA)
    if capability == 80 and not hasattr(hl.TargetFeature, "CUDACapability80"):
        capability = 61
    return t.with_feature(getattr(hl.TargetFeature, f"CUDACapability{capability}")) if capability else t


def run(name, build, sizes, near, target, host=False):
    try:
        want, _ = realize(build, sizes, False, HOST)
        began = time.monotonic()
        got, on_device = realize(build, sizes, True, target)
        took = time.monotonic() - began
    except Exception as e:
        say("fail", name, f"{type(e).__name__}: {e}")
        return
    why = "; ".join(d for d in (difference(g, w, near) for g, w in zip(got, want)) if d)
    if not why and not on_device and not host:
        why = "the result was not made on the device"
    if os.environ.get("CLIENT_VERBOSE"):
        print(f"{name}: {took:.2f} s", file=sys.stderr)
    say("fail" if why else "pass", name, why)


def main():
    only = sys.argv[1:]
    if only == ["--start"]:  # one pipeline; an exception ends the process
        _, build, sizes, _ = PIPELINES[0]
        _, on_device = realize(build, sizes, True, cuda_target(80))
        sys.exit(None if on_device else "the result was not made on the device")
    for name, build, sizes, near in PIPELINES:
        if not only or name in only:
            run(name, build, sizes, near, cuda_target(80), host=build is stages_on_the_host_between_kernels)
    if only:
        return
    for capability in (0, 35, 50, 61, 70, 75, 86):  # what Halide emits differs: ldg, shuffles, atomics, dot products of bytes
        for build, sizes in ((blur, [250, 130]), (histogram, [256]), (dot_products_of_bytes, [128, 16])):
            if build is dot_products_of_bytes and capability < 61:
                continue  # Halide emits dp4a for these, too, which no assembler takes
            if not capability or hasattr(hl.TargetFeature, f"CUDACapability{capability}"):
                run(f"{build.__name__.replace('_', ' ')} for capability {capability or 'least'}", build, sizes, 0.0, cuda_target(capability))


main()
