# Cases of our own: kernels by cuda-tile 1.7.0 (Apache-2.0), expectations by NumPy.
import cuda.tile as ct, numpy as np, io, json, gzip, sys, struct
from cuda.tile.compilation import export_kernel, KernelSignature, ArrayConstraint, CallingConvention, ScalarConstraint

C = ct.Constant[int]
f32, f16, i32, i64, f64 = ct.float32, ct.float16, ct.int32, ct.int64, ct.float64
NP = {f32: np.float32, f16: np.float16, i32: np.int32, i64: np.int64, f64: np.float64}
NAME = {f32: "f32", f16: "f16", i32: "i32", i64: "i64", f64: "f64"}
rng = np.random.default_rng(7)
mods = b""
data = b""
M = []
cases = []


def arr(dt, nd, alias=[]):
    return ArrayConstraint(
        dt,
        nd,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=alias,
        may_alias_internally=False,
        stride_constant=[None] * (nd - 1) + [1],
    )


def put(b):
    global data
    o = len(data)
    data += b
    return [o, len(b)]


DT = {np.dtype(v): k for k, v in NP.items()}


def case(name, k, arrays, outs, grid, consts=(), scalars=(), cmp="bits", alias=False):
    """arrays: inputs and outputs in order; outs: index -> expected"""
    global mods
    ps = (
        [arr(DT[a.dtype], a.ndim, ["x"] if alias else []) for a in arrays]
        + [ScalarConstraint(DT[np.asarray(s).dtype]) for s in scalars]
        + list(consts)
    )
    f = io.BytesIO()
    export_kernel(
        k,
        [KernelSignature(ps, CallingConvention.cutile_python_v1(), symbol="k")],
        f,
        gpu_code="sm_90",
        output_format="tileir_bytecode",
        bytecode_version="13.4",
    )
    b = f.getvalue()
    M.append({"Name": name, "Family": "own", "Code": [len(mods), len(b)]})
    mods += b
    bufs = []
    args = []
    for i, a in enumerate(arrays):
        x = {"Type": NAME[DT[a.dtype]], "Size": a.nbytes, "Init": {"Data": put(np.ascontiguousarray(a).tobytes())}}
        if i in outs:
            w = np.ascontiguousarray(outs[i])
            assert w.dtype == a.dtype and w.shape == a.shape, (name, w.dtype, w.shape)
            x["Result"] = put(w.tobytes())
            x["Compare"] = cmp
        bufs.append(x)
        args.append({"Buffer": i})
        for d in a.shape:
            args.append({"Type": "i32", "Value": struct.pack("<i", d).hex()})
        for s in a.strides:
            args.append({"Type": "i32", "Value": struct.pack("<i", s // a.itemsize).hex()})
    for s in scalars:
        args.append({"Type": "x", "Value": np.asarray(s).tobytes().hex()})
    cases.append(
        {
            "Name": name,
            "Module": name,
            "Entry": "k",
            "Grid": list(grid) + [1] * (3 - len(grid)),
            "Args": args,
            "Buffers": bufs,
            "Expect": {"Launch": "CUDA_SUCCESS", "Sync": "CUDA_SUCCESS", "Stdout": ""},
        }
    )


def I(*s):
    return rng.integers(-50, 50, s, dtype=np.int32)


def F(*s):
    return rng.integers(-8, 8, s).astype(np.float32)


Z = lambda *s, dt=np.int32: np.zeros(s, dt)


@ct.kernel
def swap(a, b, o, n, T: C):
    x = ct.load(a, index=(0,), shape=(T,))
    y = ct.load(b, index=(0,), shape=(T,))
    for i in range(n):
        x, y = y, x + y
    ct.store(o, index=(0,), tile=x)
    ct.store(o, index=(1,), tile=y)


for T in (8, 64, 512):
    for n in (0, 1, 5):
        a, b = I(T), I(T)
        x, y = a.copy(), b.copy()
        for _ in range(n):
            x, y = y, x + y
        case(f"swap.{T}.{n}", swap, [a, b, Z(2 * T)], {2: np.concatenate([x, y])}, (1,), (T,), (np.int32(n),))


@ct.kernel
def turn(a, o, n, T: C):
    x = ct.load(a, index=(0, 0), shape=(T, T))
    for i in range(n):
        x = ct.transpose(x) * 2 + x
    ct.store(o, index=(0, 0), tile=x)


for T in (4, 16, 32):
    a = I(T, T)
    x = a.copy()
    for _ in range(3):
        x = x.T * 2 + x
    case(f"turn.{T}", turn, [a, Z(T, T)], {1: x}, (1,), (T,), (np.int32(3),))


@ct.kernel
def rotate(a, o, n, T: C):
    x = ct.load(a, index=(0,), shape=(T,))
    y = x + 1
    z = x * 3
    for i in range(n):
        x, y, z = y, z, x + ct.where(y > z, y, z)
        if i == 2:
            z = z + x
    ct.store(o, index=(0,), tile=x)
    ct.store(o, index=(1,), tile=y)
    ct.store(o, index=(2,), tile=z)


for T in (16, 256):
    a = I(T)
    x, y, z = a.copy(), a + 1, a * 3
    for i in range(4):
        x, y, z = y, z, x + np.where(y > z, y, z)
        if i == 2:
            z = z + x
    case(f"rotate.{T}", rotate, [a, Z(3 * T)], {1: np.concatenate([x, y, z])}, (1,), (T,), (np.int32(4),))


@ct.kernel
def whileloop(a, o, n, T: C):
    x = ct.load(a, index=(0,), shape=(T,))
    i = 0
    while True:
        if i >= n:
            break
        i = i + 1
        if i % 3 == 0:
            x = x - 1
            continue
        x = x * 2
    ct.store(o, index=(0,), tile=x)


for T in (8, 128):
    a = I(T)
    x = a.copy()
    for i in range(1, 8):
        x = x - 1 if i % 3 == 0 else x * 2
    case(f"while.{T}", whileloop, [a, Z(T)], {1: x}, (1,), (T,), (np.int32(7),))


@ct.kernel
def iftile(a, o, n, T: C):
    x = ct.load(a, index=(ct.bid(0),), shape=(T,))
    if ct.bid(0) % 2 == n:
        y = x * x
        z = x + 7
    else:
        y = x - 100
        z = ct.full((T,), ct.bid(0), dtype=ct.int32)
    ct.store(o, index=(ct.bid(0),), tile=y - z)


a = I(4 * 64)
w = np.concatenate([(x * x - (x + 7)) if b % 2 == 1 else (x - 100 - b) for b, x in enumerate(a.reshape(4, 64))])
case("if.64", iftile, [a, Z(256)], {1: w}, (4,), (64,), (np.int32(1),))


@ct.kernel
def nested(a, o, n, T: C):
    s = ct.zeros((T,), dtype=ct.int32)
    for i in range(n):
        x = ct.load(a, index=(i,), shape=(T,))
        p = x
        for j in range(i):
            p = p + x * j
            s = s + p
        s = s - p
    ct.store(o, index=(0,), tile=s)


for T in (32, 1024):
    a = I(5 * T)
    s = np.zeros(T, np.int32)
    for i in range(5):
        x = a[i * T : (i + 1) * T]
        p = x
        for j in range(i):
            p = p + x * j
            s = s + p
        s = s - p
    case(f"nested.{T}", nested, [a, Z(T)], {1: s}, (1,), (T,), (np.int32(5),))


@ct.kernel
def mm(a, b, o, M_: C, N_: C, K_: C):
    acc = ct.zeros((M_, N_), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(M_, K_))):
        x = ct.load(a, index=(ct.bid(0), k), shape=(M_, K_), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(k, ct.bid(1)), shape=(K_, N_), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(o, index=(ct.bid(0), ct.bid(1)), tile=acc)


for (m, n, k), (M_, N_, K_), dt in (
    ((100, 70, 50), (64, 32, 16), np.float32),
    ((33, 65, 40), (32, 8, 64), np.float32),
    ((20, 300, 33), (8, 128, 32), np.float16),
    ((7, 9, 5), (2, 4, 8), np.float16),
    ((128, 128, 128), (128, 128, 32), np.float16),
    ((64, 256, 64), (16, 256, 16), np.float32),
):
    a, b = F(m, k).astype(dt), F(k, n).astype(dt)
    case(
        f"mm.{m}x{n}x{k}.{M_}x{N_}x{K_}.{np.dtype(dt).name}",
        mm,
        [a, b, Z(m, n, dt=np.float32)],
        {2: (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)},
        (-(-m // M_), -(-n // N_)),
        (M_, N_, K_),
    )


@ct.kernel
def bmm(a, b, o, B_: C, T: C):
    x = ct.load(a, index=(0, 0, 0), shape=(B_, T, T))
    y = ct.load(b, index=(0, 0, 0), shape=(B_, T, T))
    z = ct.mma(ct.permute(x, (0, 2, 1)), y, ct.full((B_, T, T), 1.0, dtype=ct.float32))
    ct.store(o, index=(0, 0, 0), tile=z * 2)


for B_, T in ((4, 16), (2, 64), (8, 4)):
    a, b = F(B_, T, T), F(B_, T, T)
    case(
        f"bmm.{B_}x{T}",
        bmm,
        [a, b, Z(B_, T, T, dt=np.float32)],
        {2: (2 * (a.transpose(0, 2, 1).astype(np.float64) @ b + 1)).astype(np.float32)},
        (1,),
        (B_, T),
    )


@ct.kernel
def red(a, o, p, q, A: C, B: C, D: C, AX: C):
    x = ct.load(a, index=(0, 0, 0), shape=(A, B, D))
    s = ct.sum(x * x + 1, axis=AX, keepdims=True)
    m = ct.max(x, axis=AX, keepdims=True)
    g = ct.argmax(x, axis=AX, keepdims=True)
    ct.store(o, index=(0, 0, 0), tile=s)
    ct.store(p, index=(0, 0, 0), tile=m - ct.min(x - s, axis=AX, keepdims=True))
    ct.store(q, index=(0, 0, 0), tile=g)


for sh in ((4, 8, 64), (64, 2, 16), (1, 1, 1024), (16, 64, 1), (2, 2, 2), (1, 256, 8)):
    for ax in range(3):
        a = I(*sh)
        s = (a * a + 1).sum(ax, keepdims=True, dtype=np.int32)
        m = a.max(ax, keepdims=True) - (a - s).min(ax, keepdims=True)
        g = a.argmax(ax, keepdims=True).astype(np.int32)
        case(
            f"reduce.{sh[0]}x{sh[1]}x{sh[2]}.{ax}",
            red,
            [a, np.zeros_like(s), np.zeros_like(m), np.zeros_like(g)],
            {1: s, 2: m, 3: g},
            (1,),
            (*sh, ax),
        )


@ct.kernel
def scn(a, o, p, A: C, B: C, D: C, AX: C):
    x = ct.load(a, index=(0, 0, 0), shape=(A, B, D))
    ct.store(o, index=(0, 0, 0), tile=ct.cumsum(x + 1, axis=AX))
    ct.store(p, index=(0, 0, 0), tile=ct.cumsum(x, axis=AX, reverse=True) * 2)


for sh in ((4, 8, 64), (64, 2, 16), (1, 1, 1024), (16, 64, 1), (2, 2, 2), (1, 256, 8)):
    for ax in range(3):
        a = I(*sh)
        s = np.cumsum(a + 1, axis=ax, dtype=np.int32)
        r = 2 * np.flip(np.cumsum(np.flip(a, ax), axis=ax, dtype=np.int32), ax)
        case(
            f"scan.{sh[0]}x{sh[1]}x{sh[2]}.{ax}",
            scn,
            [a, Z(*sh), Z(*sh)],
            {1: s, 2: r.astype(np.int32)},
            (1,),
            (*sh, ax),
        )


@ct.kernel
def moves(a, b, o, p, q, T: C):
    x = ct.load(a, index=(0, 0), shape=(T, T))
    y = ct.load(b, index=(0, 0), shape=(T, T))
    ct.store(o, index=(0, 0), tile=ct.cat((ct.transpose(x), y), 1))
    z = ct.cat((x, y), 0)
    u = ct.reshape(z, (4, T // 2, T))
    ct.store(p, index=(0, 0, 0), tile=ct.permute(u, (2, 0, 1)))
    ct.store(q, index=(0, 0), tile=ct.extract(z, (1, 1), (T, T // 2)) + ct.extract(y, (0, 1), (T, T // 2)))


for T in (4, 32, 64):
    a, b = I(T, T), I(T, T)
    z = np.concatenate([a, b], 0)
    case(
        f"moves.{T}",
        moves,
        [a, b, Z(T, 2 * T), Z(T, 4, T // 2), Z(T, T // 2)],
        {
            2: np.concatenate([a.T, b], 1),
            3: z.reshape(4, T // 2, T).transpose(2, 0, 1).copy(),
            4: z[T:, T // 2 :] + b[:, T // 2 :],
        },
        (1,),
        (T,),
    )


@ct.kernel
def shift(a, T: C):
    # What is loaded must be loaded before any of it is written.
    x = ct.gather(a, (ct.arange(T, dtype=ct.int32) + 1,))
    ct.scatter(a, (ct.arange(T, dtype=ct.int32),), x * 2)
    y = ct.load(a, index=(0,), shape=(T,))
    ct.store(a, index=(0,), tile=y + ct.cumsum(y))


for T in (32, 256, 2048):
    a = I(T + 1)
    w = a.copy()
    w[:T] = a[1:] * 2
    w[:T] = w[:T] + np.cumsum(w[:T], dtype=np.int32)
    case(f"shift.{T}", shift, [a], {0: w}, (1,), (T,))


@ct.kernel
def back(a, T: C):
    x = ct.gather(a, (ct.arange(T, dtype=ct.int32),))
    ct.scatter(a, (ct.arange(T, dtype=ct.int32) + 1,), x + 1)


for T in (16, 512):
    a = I(T + 1)
    w = a.copy()
    w[1:] = a[:T] + 1
    case(f"back.{T}", back, [a], {0: w}, (1,), (T,))


@ct.kernel
def ragged(x, y, n: C):
    t = ct.load(x, index=(ct.bid(0), ct.bid(1)), shape=(16, n), padding_mode=ct.PaddingMode.NEG_INF)
    m = ct.max(t, axis=1, keepdims=True)
    u = ct.where(t == m, 1.0, t - m)
    ct.store(y, index=(ct.bid(0), ct.bid(1)), tile=u)


for n in (32, 128):
    a = F(37, n + n // 2 + 1)
    w = np.zeros_like(a)
    for j in range(0, a.shape[1], n):
        t = a[:, j : j + n]
        m = t.max(1, keepdims=True)
        w[:, j : j + n] = np.where(t == m, np.float32(1), t - m)
    case(f"ragged.{n}", ragged, [a, np.zeros_like(a)], {1: w}, (3, 2), (n,))


@ct.kernel
def rows(a, idx, o, p, n: C, m: C):
    i = ct.load(idx, index=(0,), shape=(n,))
    x = ct.gather(a, (i[:, None], ct.arange(m, dtype=ct.int32)[None, :]))
    ct.store(o, index=(0, 0), tile=x)
    ct.scatter(p, (i[:, None], ct.arange(m, dtype=ct.int32)[None, :]), x + 1)


for n, m in ((8, 8), (16, 64), (32, 32)):
    a = I(40, m - 1)
    idx = rng.permutation(48)[:n].astype(np.int32)
    x = np.zeros((n, m), np.int32)
    p = Z(40, m - 1)
    for r, i in enumerate(idx):
        if i < 40:
            x[r, : m - 1] = a[i]
            p[i] = a[i] + 1
    case(f"rows.{n}x{m}", rows, [a, idx, Z(n, m), Z(40, m - 1)], {2: x, 3: p}, (1,), (n, m))


@ct.kernel
def hist(a, h, o, T: C):
    x = ct.load(a, index=(ct.bid(0),), shape=(T,))
    ct.atomic_add(h, (x,), 1)
    old = ct.atomic_max(o, (ct.full((T,), 0, dtype=ct.int32),), x)


for T in (32, 512):
    a = rng.integers(0, 16, 4 * T).astype(np.int32)
    case(
        f"hist.{T}",
        hist,
        [a, Z(16), Z(1)],
        {1: np.bincount(a, minlength=16).astype(np.int32), 2: np.array([a.max()], np.int32)},
        (4,),
        (T,),
    )


@ct.kernel
def attn(q, k, v, o, scale: float, BM: C, BN: C, D: C):
    i = ct.bid(0)
    qt = ct.load(q, index=(i, 0), shape=(BM, D))
    m = ct.full((BM, 1), -1e30, dtype=ct.float32)
    l = ct.zeros((BM, 1), dtype=ct.float32)
    acc = ct.zeros((BM, D), dtype=ct.float32)
    for j in range(ct.num_tiles(k, axis=0, shape=(BN, D))):
        s = (
            ct.mma(qt, ct.transpose(ct.load(k, index=(j, 0), shape=(BN, D))), ct.zeros((BM, BN), dtype=ct.float32))
            * scale
        )
        mn = ct.maximum(m, ct.max(s, axis=1, keepdims=True))
        p = ct.exp(s - mn)
        al = ct.exp(m - mn)
        l = l * al + ct.sum(p, axis=1, keepdims=True)
        acc = ct.mma(ct.astype(p, v.dtype), ct.load(v, index=(j, 0), shape=(BN, D)), acc * al)
        m = mn
    ct.store(o, index=(i, 0), tile=acc / l)


for (BM, BN, D), S in (((32, 32, 16), 64), ((128, 128, 32), 128)):
    q, k, v = [rng.standard_normal((S, D)).astype(np.float32) for _ in range(3)]
    s = (q.astype(np.float64) @ k.T) * 0.3
    e = np.exp(s - s.max(1, keepdims=True))
    w = ((e / e.sum(1, keepdims=True)) @ v).astype(np.float32)
    case(
        f"attention.{BM}x{BN}x{D}",
        attn,
        [q, k, v, np.zeros_like(q)],
        {3: w},
        (S // BM,),
        (BM, BN, D),
        (np.float32(0.3),),
        cmp={"rel": 1e-4, "abs": 1e-4},
    )
@ct.kernel
def vecadd(a, b, o, T: C):
    x = ct.load(a, index=(ct.bid(0),), shape=(T,))
    y = ct.load(b, index=(ct.bid(0),), shape=(T,))
    ct.store(o, index=(ct.bid(0),), tile=x + y)


for T in (256, 1024, 4096):
    a, b = F(5001), F(5001)
    case(f"vecadd.{T}", vecadd, [a, b, np.zeros_like(a)], {2: a + b}, (-(-5001 // T),), (T,))
a, b = F(70, 90), F(90, 130)
w = (a.astype(np.float64) @ b).astype(np.float32)
case("matmul.64x64x32", mm, [a, b, np.zeros_like(w)], {2: w}, (2, 3), (64, 64, 32))


@ct.kernel
def rows(a, b, c, d, o: C):
    r = ct.load(b, index=(0,), shape=(16,))
    x = ct.load_advanced_indexing(a, (r, ct.Slice(o, 16)))
    ct.store(c, index=(0, 0), tile=x)
    ct.store_advanced_indexing(d, (r, ct.Slice(o, 16)), x * 2)


# Rows by number, beginning at a column: the plain index of such a view counts elements.
for o in (0, 8, 24):
    a = F(64, 32)
    b = rng.permutation(64)[:16].astype(np.int32)
    part = np.zeros((16, 16), np.float32)
    part[:, : 32 - o] = a[b, o : o + 16]
    spread = np.zeros_like(a)
    spread[b, o : o + 16] = a[b, o : o + 16] * 2
    kept = np.zeros((16, 16), np.float32)
    if o <= 16:
        case(f"rows.{o}", rows, [a, b, kept, np.zeros_like(a)], {2: part, 3: spread}, (1,), (o,))
    else:  # what lies outside is undefined in the loaded tile
        case(f"rows.{o}", rows, [a, b, kept, np.zeros_like(a)], {3: spread}, (1,), (o,))
import os

out = sys.argv[1]
os.makedirs(out, exist_ok=True)
for n, b in (
    ("index.json", json.dumps({"Modules": M, "Cases": cases}).encode()),
    ("modules.bin", mods),
    ("data.bin", data),
):
    with open(f"{out}/{n}.gz", "wb") as f:
        with gzip.GzipFile(fileobj=f, mode="wb", compresslevel=9, mtime=0, filename="") as z:
            z.write(b)
print(len(cases), len(mods), len(data))
