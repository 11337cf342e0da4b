"""Kernels of ours in cuTile Python, launched by ct.launch, and what NumPy makes of the same arguments."""
import cuda.tile as ct
import numpy as np

tests = []
f16, f32, f64, u8, u32 = np.float16, np.float32, np.float64, np.uint8, np.uint32
i8, i16, i32, i64 = np.int8, np.int16, np.int32, np.int64
random = np.random.default_rng(15)


def test(args, want, grid=1, rel=0.0, abs=0.0, text=None, fails=None):
    """A test: its arguments; what the last arrays hold after the launch, by a function of the arguments; how near;
    what is printed; how it fails."""
    def register(kernel):
        blocks = grid if isinstance(grid, tuple) else (grid,)
        tests.append((kernel, args, want, blocks, rel, abs, text, fails))
        return kernel
    return register


def real(*shape, low=-4.0, high=4.0, dtype=f32):
    return lambda: random.uniform(low, high, shape).astype(dtype)


def whole(*shape, low=-1000, high=1000, dtype=i32):
    return lambda: random.integers(low, high, shape).astype(dtype)


def zero(*shape, dtype=f32):
    return lambda: np.zeros(shape, dtype)


N = 128  # of a tile; arrays of 1000 end inside one
pair = [real(1000), real(1000), zero(1000)]
ints = [whole(1000), whole(1000, low=1, high=30), zero(1000, dtype=i32)]
one = [real(1000), zero(1000)]
positive = [real(1000, low=0.01, high=50.0), zero(1000)]


@test([lambda: np.where(np.arange(1000) % 3 == 0, 0, random.uniform(-4, 4, 1000)).astype(f32), zero(1000, dtype=np.bool_)],
      lambda a, c: a != 0, grid=8)
@ct.kernel
def to_bool(a, c):
    i = ct.bid(0)
    ct.store(c, (i,), ct.astype(ct.load(a, (i,), (N,)), ct.bool_))


@test(pair, lambda a, b, c: a + b, grid=8)
@ct.kernel
def add(a, b, c):
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (N,)) + ct.load(b, (i,), (N,)))


@test(pair, lambda a, b, c: a - b, grid=8)
@ct.kernel
def subtract(a, b, c):
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (N,)) - ct.load(b, (i,), (N,)))


@test(pair, lambda a, b, c: a * b, grid=8)
@ct.kernel
def multiply(a, b, c):
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (N,)) * ct.load(b, (i,), (N,)))


@test([real(1000), real(1000, low=1.0, high=9.0), zero(1000)], lambda a, b, c: a / b, grid=8, rel=1e-6)
@ct.kernel
def divide(a, b, c):
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (N,)) / ct.load(b, (i,), (N,)))


@test([real(1000, dtype=f64), 2.5, real(1000, dtype=f64)], lambda x, a, y: f64(2.5) * x + y, grid=8, rel=1e-6, abs=1e-6)
@ct.kernel
def saxpy64(x, a, y):
    i = ct.bid(0)
    ct.store(y, (i,), ct.load(x, (i,), (N,)) * a + ct.load(y, (i,), (N,)))


@test([real(1000, dtype=f16), real(1000, dtype=f16), zero(1000, dtype=f16)], lambda a, b, c: a + b, grid=8)
@ct.kernel
def add_half(a, b, c):
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (N,)) + ct.load(b, (i,), (N,)))


@test(ints, lambda a, b, c: a // b, grid=8)
@ct.kernel
def floor_divide(a, b, c):
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (N,)) // ct.load(b, (i,), (N,), padding_mode=ct.PaddingMode.ZERO))


@test(ints, lambda a, b, c: a % b, grid=8)
@ct.kernel
def modulo(a, b, c):
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (N,)) % ct.load(b, (i,), (N,)))


@test(ints, lambda a, b, c: (a & b) | (a ^ (b << 3)) ^ ~b, grid=8)
@ct.kernel
def bits(a, b, c):
    i = ct.bid(0)
    x, y = ct.load(a, (i,), (N,)), ct.load(b, (i,), (N,))
    ct.store(c, (i,), (x & y) | (x ^ (y << 3)) ^ ~y)


@test(ints, lambda a, b, c: (a << b) + (a >> (b & 7)), grid=8)
@ct.kernel
def shifts(a, b, c):
    i = ct.bid(0)
    x, y = ct.load(a, (i,), (N,)), ct.load(b, (i,), (N,))
    ct.store(c, (i,), (x << y) + (x >> (y & 7)))


@test([whole(1000, low=-2**40, high=2**40, dtype=i64), whole(1000, low=-99, high=99, dtype=i64), zero(1000, dtype=i64)],
      lambda a, b, c: a * b - a, grid=8)
@ct.kernel
def long_integers(a, b, c):
    i = ct.bid(0)
    x = ct.load(a, (i,), (N,))
    ct.store(c, (i,), x * ct.load(b, (i,), (N,)) - x)


@test([whole(1000, low=0, high=256, dtype=u8), zero(1000, dtype=u8)], lambda a, b: (a + u8(200)) ^ (a >> 2), grid=8)
@ct.kernel
def bytes_wrap(a, b):
    i = ct.bid(0)
    x = ct.load(a, (i,), (N,))
    ct.store(b, (i,), (x + ct.full((N,), 200, ct.uint8)) ^ (x >> 2))


@test(pair, lambda a, b, c: np.maximum(a, b) - np.minimum(a, b), grid=8)
@ct.kernel
def extremes(a, b, c):
    i = ct.bid(0)
    x, y = ct.load(a, (i,), (N,)), ct.load(b, (i,), (N,))
    ct.store(c, (i,), ct.maximum(x, y) - ct.minimum(x, y))


@test(pair, lambda a, b, c: np.where(a > b, a, -b), grid=8)
@ct.kernel
def where(a, b, c):
    i = ct.bid(0)
    x, y = ct.load(a, (i,), (N,)), ct.load(b, (i,), (N,))
    ct.store(c, (i,), ct.where(x > y, x, -y))


@test(ints, lambda a, b, c: (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * (a >= b), grid=8)
@ct.kernel
def comparisons(a, b, c):
    i = ct.bid(0)
    x, y = ct.load(a, (i,), (N,)), ct.load(b, (i,), (N,))
    r = ct.where(x < y, 1, 0) + ct.where(x <= y, 2, 0) + ct.where(x == y, 4, 0)
    ct.store(c, (i,), r + ct.where(x != y, 8, 0) + ct.where(x >= y, 16, 0))


@test(one, lambda a, b: np.abs(a) - np.floor(a) + np.ceil(a), grid=8, abs=1e-6)
@ct.kernel
def rounding(a, b):
    i = ct.bid(0)
    x = ct.load(a, (i,), (N,))
    ct.store(b, (i,), ct.abs(x) - ct.floor(x) + ct.ceil(x))


@test(one, lambda a, b: np.exp(a), grid=8, rel=3e-7)
@ct.kernel
def exp(a, b):
    i = ct.bid(0)
    ct.store(b, (i,), ct.exp(ct.load(a, (i,), (N,))))


@test(one, lambda a, b: np.exp2(a), grid=8, rel=3e-7)
@ct.kernel
def exp2(a, b):
    i = ct.bid(0)
    ct.store(b, (i,), ct.exp2(ct.load(a, (i,), (N,))))


@test(positive, lambda a, b: np.log(a), grid=8, rel=3e-7, abs=1e-7)
@ct.kernel
def log(a, b):
    i = ct.bid(0)
    ct.store(b, (i,), ct.log(ct.load(a, (i,), (N,))))


@test(positive, lambda a, b: np.log2(a), grid=8, rel=3e-7, abs=1e-7)
@ct.kernel
def log2(a, b):
    i = ct.bid(0)
    ct.store(b, (i,), ct.log2(ct.load(a, (i,), (N,))))


@test(positive, lambda a, b: np.sqrt(a) + 1 / np.sqrt(a), grid=8, rel=5e-7)
@ct.kernel
def roots(a, b):
    i = ct.bid(0)
    x = ct.load(a, (i,), (N,))
    ct.store(b, (i,), ct.sqrt(x) + ct.rsqrt(x))


@test(one, lambda a, b: np.sin(a) * np.cos(a), grid=8, rel=5e-7, abs=1e-7)
@ct.kernel
def sin_cos(a, b):
    i = ct.bid(0)
    x = ct.load(a, (i,), (N,))
    ct.store(b, (i,), ct.sin(x) * ct.cos(x))


@test(one, lambda a, b: np.tan(a), grid=8, rel=5e-7)
@ct.kernel
def tan(a, b):
    i = ct.bid(0)
    ct.store(b, (i,), ct.tan(ct.load(a, (i,), (N,))))


@test(one, lambda a, b: np.sinh(a) * np.cosh(a), grid=8, rel=1e-6)
@ct.kernel
def sinh_cosh(a, b):
    i = ct.bid(0)
    x = ct.load(a, (i,), (N,))
    ct.store(b, (i,), ct.sinh(x) * ct.cosh(x))


@test(one, lambda a, b: np.tanh(a), grid=8, rel=5e-7)
@ct.kernel
def tanh(a, b):
    i = ct.bid(0)
    ct.store(b, (i,), ct.tanh(ct.load(a, (i,), (N,))))


@test([real(1000, dtype=f64), zero(1000, dtype=f64)],
      lambda a, b: np.exp(a) * np.sin(a) + np.tanh(a), grid=8, rel=1e-14, abs=1e-14)
@ct.kernel
def functions64(a, b):
    i = ct.bid(0)
    x = ct.load(a, (i,), (N,))
    ct.store(b, (i,), ct.exp(x) * ct.sin(x) + ct.tanh(x))


@test([real(1000, low=0.1, high=9.0), real(1000), zero(1000)], lambda a, b, c: a ** b, grid=8, rel=1e-6)
@ct.kernel
def power(a, b, c):
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (N,)) ** ct.load(b, (i,), (N,)))


@test(pair, lambda a, b, c: np.arctan2(a, b), grid=8, rel=5e-7)
@ct.kernel
def atan2(a, b, c):
    i = ct.bid(0)
    ct.store(c, (i,), ct.atan2(ct.load(a, (i,), (N,)), ct.load(b, (i,), (N,))))


@test([lambda: np.where(np.arange(256) % 3 == 0, np.nan, 1.0).astype(f32), zero(256, dtype=i32)],
      lambda a, b: np.isnan(a))
@ct.kernel
def isnan(a, b):
    ct.store(b, (0,), ct.where(ct.isnan(ct.load(a, (0,), (256,))), 1, 0))


@test([real(1000), zero(1000, dtype=f16)], lambda a, b: a.astype(f16), grid=8)
@ct.kernel
def to_half(a, b):
    i = ct.bid(0)
    ct.store(b, (i,), ct.astype(ct.load(a, (i,), (N,)), ct.float16))


@test([real(1000, low=-100.0, high=100.0), zero(1000, dtype=i32)], lambda a, b: a.astype(i32), grid=8)
@ct.kernel
def to_integer(a, b):
    i = ct.bid(0)
    ct.store(b, (i,), ct.load(a, (i,), (N,)).astype(ct.int32))


@test([whole(1000, dtype=i16), zero(1000, dtype=f64)], lambda a, b: a.astype(f64), grid=8)
@ct.kernel
def to_double(a, b):
    i = ct.bid(0)
    ct.store(b, (i,), ct.astype(ct.load(a, (i,), (N,)), ct.float64))


@test([real(1000), zero(1000, dtype=f32)],
      lambda a, b: ((a.view(u32) + 0x7fff + (a.view(u32) >> 16 & 1)) & 0xffff0000).view(f32), grid=8)
@ct.kernel
def through_bfloat16(a, b):
    i = ct.bid(0)
    ct.store(b, (i,), ct.astype(ct.astype(ct.load(a, (i,), (N,)), ct.bfloat16), ct.float32))


@test([real(1000), zero(1000, dtype=i32)], lambda a, b: a.view(i32), grid=8)
@ct.kernel
def bitcast(a, b):
    i = ct.bid(0)
    ct.store(b, (i,), ct.bitcast(ct.load(a, (i,), (N,)), ct.int32))


@test([whole(64), zero(256, dtype=u8)], lambda a, b: a.view(u8))
@ct.kernel
def to_bytes(a, b):
    ct.store(b, (0,), ct.pack_to_bytes(ct.load(a, (0,), (64,))))


@test([whole(256, low=0, high=256, dtype=u8), zero(64, dtype=i32)], lambda a, b: a.view(i32))
@ct.kernel
def from_bytes(a, b):
    ct.store(b, (0,), ct.unpack_from_bytes(ct.load(a, (0,), (256,)), ct.int32))


@test([zero(256, dtype=i32)], lambda a: np.arange(256) * 3 + 5)
@ct.kernel
def arange(a):
    ct.store(a, (0,), ct.arange(256, dtype=ct.int32, start=5, step=3))


@test([zero(64), zero(64), zero(64, dtype=i32)], lambda a, b, c: (np.zeros(64), np.ones(64), np.full(64, 7)))
@ct.kernel
def fills(a, b, c):
    ct.store(a, (0,), ct.zeros((64,), ct.float32))
    ct.store(b, (0,), ct.ones((64,), ct.float32))
    ct.store(c, (0,), ct.full((64,), 7, ct.int32))


@test([real(60, 100), zero(100, 60)], lambda a, b: a.T, grid=(4, 7))
@ct.kernel
def transpose(a, b):
    i, j = ct.bid(0), ct.bid(1)
    ct.store(b, (j, i), ct.transpose(ct.load(a, (i, j), (16, 16))))


@test([real(60, 100), zero(100, 60)], lambda a, b: a.T, grid=(4, 7))
@ct.kernel
def load_order(a, b):
    i, j = ct.bid(0), ct.bid(1)
    ct.store(b, (j, i), ct.load(a, (j, i), (16, 16), order=(1, 0)))


@test([real(4, 8, 16), zero(16, 4, 8)], lambda a, b: np.transpose(a, (2, 0, 1)))
@ct.kernel
def permute(a, b):
    ct.store(b, (0, 0, 0), ct.permute(ct.load(a, (0, 0, 0), (4, 8, 16)), (2, 0, 1)))


@test([real(16, 32), zero(8, 64)], lambda a, b: a.reshape(8, 64))
@ct.kernel
def reshape(a, b):
    ct.store(b, (0, 0), ct.reshape(ct.load(a, (0, 0), (16, 32)), (8, 64)))


@test([real(16), real(32), zero(16, 32)], lambda a, b, c: a[:, None] * b[None, :])
@ct.kernel
def broadcast(a, b, c):
    x = ct.expand_dims(ct.load(a, (0,), (16,)), 1)
    y = ct.broadcast_to(ct.load(b, (0,), (32,)), (16, 32))
    ct.store(c, (0, 0), x * y)


@test([real(16, 16), real(16, 16), zero(16, 32), zero(32, 16)],
      lambda a, b, c, d: (np.concatenate([a, b], 1), np.concatenate([a, b], 0)))
@ct.kernel
def cat(a, b, c, d):
    x, y = ct.load(a, (0, 0), (16, 16)), ct.load(b, (0, 0), (16, 16))
    ct.store(c, (0, 0), ct.cat((x, y), 1))
    ct.store(d, (0, 0), ct.cat((x, y), 0))


@test([real(16, 16), zero(4, 8)], lambda a, b: a[8:12, 8:16])
@ct.kernel
def extract(a, b):
    ct.store(b, (0, 0), ct.extract(ct.load(a, (0, 0), (16, 16)), (2, 1), (4, 8)))


def inserted(a, b, c):
    c = a.copy()
    c[12:16, 0:8] = b
    return c


@test([real(16, 16), real(4, 8), zero(16, 16)], inserted)
@ct.kernel
def insert(a, b, c):
    ct.store(c, (0, 0), ct.insert(ct.load(a, (0, 0), (16, 16)), (3, 0), ct.load(b, (0, 0), (4, 8))))


@test([real(64, 32), zero(64), zero(32)], lambda a, b, c: (a.sum(1), a.sum(0)), rel=1e-5, abs=1e-5)
@ct.kernel
def sums(a, b, c):
    x = ct.load(a, (0, 0), (64, 32))
    ct.store(b, (0,), ct.sum(x, 1))
    ct.store(c, (0,), ct.sum(x, 0))


@test([whole(64, 32), zero(64, dtype=i32), zero(1, dtype=i32)], lambda a, b, c: (a.max(1), a.min()))
@ct.kernel
def max_min(a, b, c):
    x = ct.load(a, (0, 0), (64, 32))
    ct.store(b, (0,), ct.max(x, 1))
    ct.store(c, (0,), ct.reshape(ct.min(x), (1,)))


@test([real(8, 16, low=0.5, high=1.5), zero(8)], lambda a, b: a.prod(1), rel=1e-5)
@ct.kernel
def prod(a, b):
    ct.store(b, (0,), ct.prod(ct.load(a, (0, 0), (8, 16)), 1))


@test([real(32, 64), zero(32, dtype=i32), zero(32, dtype=i32)], lambda a, b, c: (a.argmax(1), a.argmin(1)))
@ct.kernel
def arg_extremes(a, b, c):
    x = ct.load(a, (0, 0), (32, 64))
    ct.store(b, (0,), ct.argmax(x, 1))
    ct.store(c, (0,), ct.argmin(x, 1))


@test([whole(16, 64), zero(16, dtype=i32)], lambda a, b: np.bitwise_xor.reduce(a, 1))
@ct.kernel
def custom_reduce(a, b):
    ct.store(b, (0,), ct.reduce(ct.load(a, (0, 0), (16, 64)), 1, lambda x, y: x ^ y, 0))


@test([whole(16, 64), zero(16, 64, dtype=i32)], lambda a, b: a.cumsum(1))
@ct.kernel
def cumsum(a, b):
    ct.store(b, (0, 0), ct.cumsum(ct.load(a, (0, 0), (16, 64)), 1))


@test([whole(64, 16), zero(64, 16, dtype=i32)], lambda a, b: a[::-1].cumsum(0)[::-1])
@ct.kernel
def cumsum_reverse(a, b):
    ct.store(b, (0, 0), ct.cumsum(ct.load(a, (0, 0), (64, 16)), 0, reverse=True))


@test([real(8, 16, low=0.8, high=1.2), zero(8, 16)], lambda a, b: a.cumprod(1), rel=1e-5)
@ct.kernel
def cumprod(a, b):
    ct.store(b, (0, 0), ct.cumprod(ct.load(a, (0, 0), (8, 16)), 1))


@test([whole(128), zero(128, dtype=i32)], lambda a, b: np.maximum.accumulate(a))
@ct.kernel
def custom_scan(a, b):
    ct.store(b, (0,), ct.scan(ct.load(a, (0,), (128,)), 0, lambda x, y: ct.maximum(x, y), -2**31))


@test([real(60, 50), real(50, 70), zero(60, 70)], lambda a, b, c: a @ b, grid=(4, 5), rel=1e-4, abs=1e-4)
@ct.kernel
def matmul(a, b, c):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((16, 16), ct.float32)
    for k in range(ct.num_tiles(a, 1, (16, 16))):
        x = ct.load(a, (i, k), (16, 16), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, j), (16, 16), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, (i, j), acc)


@test([real(64, 32, dtype=f16), real(32, 64, dtype=f16), zero(64, 64)],
      lambda a, b, c: a.astype(f32) @ b.astype(f32), rel=1e-3, abs=1e-3)
@ct.kernel
def mma_half(a, b, c):
    x, y = ct.load(a, (0, 0), (64, 32)), ct.load(b, (0, 0), (32, 64))
    ct.store(c, (0, 0), ct.mma(x, y, ct.zeros((64, 64), ct.float32)))


@test([whole(32, 64, low=-128, high=128, dtype=i8), whole(64, 32, low=-128, high=128, dtype=i8),
       zero(32, 32, dtype=i32)],
      lambda a, b, c: a.astype(i32) @ b.astype(i32))
@ct.kernel
def mma_integer(a, b, c):
    x, y = ct.load(a, (0, 0), (32, 64)), ct.load(b, (0, 0), (64, 32))
    ct.store(c, (0, 0), ct.mma(x, y, ct.zeros((32, 32), ct.int32)))


@test([real(4, 16, 32, dtype=f64), real(4, 32, 16, dtype=f64), zero(4, 16, 16, dtype=f64)],
      lambda a, b, c: a @ b, rel=1e-12, abs=1e-12)
@ct.kernel
def batched_matmul(a, b, c):
    x, y = ct.load(a, (0, 0, 0), (4, 16, 32)), ct.load(b, (0, 0, 0), (4, 32, 16))
    ct.store(c, (0, 0, 0), ct.matmul(x, y))


@test([real(1000), whole(256, low=0, high=1000), zero(256)], lambda a, b, c: a[b])
@ct.kernel
def gather(a, b, c):
    ct.store(c, (0,), ct.gather(a, ct.load(b, (0,), (256,))))


@test([real(100), whole(256, low=-50, high=150), zero(256)],
      lambda a, b, c: np.where((b >= 0) & (b < 100), a[b.clip(0, 99)], 9))
@ct.kernel
def gather_outside(a, b, c):
    ct.store(c, (0,), ct.gather(a, ct.load(b, (0,), (256,)), padding_value=9.0))


@test([real(16, 16), zero(16, 16)], lambda a, b: a[::-1, ::-1])
@ct.kernel
def gather_2d(a, b):
    i = ct.expand_dims(15 - ct.arange(16, dtype=ct.int32), 1)
    j = ct.expand_dims(15 - ct.arange(16, dtype=ct.int32), 0)
    ct.store(b, (0, 0), ct.gather(a, (i, j)))


def scattered(a, b, c):
    c = c.copy()
    c[b] = a
    return c


@test([real(256), lambda: random.permutation(256).astype(i32), zero(256)], scattered)
@ct.kernel
def scatter(a, b, c):
    ct.scatter(c, ct.load(b, (0,), (256,)), ct.load(a, (0,), (256,)))


@test([real(256), zero(256)], lambda a, b: np.where(np.arange(256) % 2 == 1, a, 0))
@ct.kernel
def scatter_mask(a, b):
    i = ct.arange(256, dtype=ct.int32)
    ct.scatter(b, i, ct.load(a, (0,), (256,)), mask=i % 2 == 1)


@test([whole(1024, low=0, high=16), zero(16, dtype=i32)], lambda a, b: np.bincount(a, minlength=16), grid=8)
@ct.kernel
def histogram(a, b):
    ct.atomic_add(b, ct.load(a, (ct.bid(0),), (N,)), 1)


@test([whole(1024), lambda: np.array([-5000, 5000], i32)], lambda a, b: [a.max(), a.min()], grid=8)
@ct.kernel
def atomic_extremes(a, b):
    x = ct.load(a, (ct.bid(0),), (N,))
    ct.atomic_max(b, 0, ct.max(x))
    ct.atomic_min(b, 1, ct.min(x))


@test([lambda: np.array([-1, 0, 0], i32)], lambda a: [0b1010, 255, 15], grid=8)
@ct.kernel
def atomic_bits(a):
    ct.atomic_and(a, 0, 0b1010)
    ct.atomic_or(a, 1, 1 << ct.bid(0))
    ct.atomic_or(a, 2, 15)


@test([lambda: np.array([3, 3], i32), zero(2, dtype=i32)], lambda a, b: ([9, 3], [3, 3]))
@ct.kernel
def compare_and_swap(a, b):
    i = ct.arange(2, dtype=ct.int32)
    old = ct.atomic_cas(a, i, 3 + i, 9)
    ct.store(b, (0,), old)


@test([real(1024), zero(1)], lambda a, b: [a.sum(dtype=f64)], grid=8, rel=1e-4, abs=1e-3)
@ct.kernel
def atomic_sum(a, b):
    ct.atomic_add(b, 0, ct.sum(ct.load(a, (ct.bid(0),), (N,))))


@test([zero(4, 3, 2, dtype=i32)], lambda a: np.arange(24).reshape(4, 3, 2) + 1000 * 24, grid=(4, 3, 2))
@ct.kernel
def grid(a):
    x, y, z = ct.bid(0), ct.bid(1), ct.bid(2)
    n = ct.num_blocks(0) * ct.num_blocks(1) * ct.num_blocks(2)
    v = (x * ct.num_blocks(1) + y) * ct.num_blocks(2) + z + 1000 * n
    ct.store(a, (x, y, z), ct.full((1, 1, 1), v, ct.int32))


@test([whole(64, low=0, high=40), zero(64, dtype=i32)],
      lambda a, b: [sum(i for i in range(n) if i % 3) for n in a], grid=64)
@ct.kernel
def loops(a, b):
    i = ct.bid(0)
    n = ct.load(a, (i,), ())
    s = 0
    for k in range(n):
        if k % 3 != 0:
            s += k
    ct.store(b, (i,), s)


def collatz(n):
    s = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        s += 1
    return s


@test([whole(64, low=1, high=1000), zero(64, dtype=i32)], lambda a, b: [collatz(int(n)) for n in a], grid=64)
@ct.kernel
def while_loop(a, b):
    i = ct.bid(0)
    n = ct.load(a, (i,), ())
    s = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        s += 1
    ct.store(b, (i,), s)


@test([real(1000), 700, 2, zero(1000)], lambda a, n, k, b: np.where(np.arange(1000) < 700, a * 4, a), grid=8)
@ct.kernel
def scalars(a, n, K: ct.Constant[int], b):
    i = ct.bid(0)
    x = ct.load(a, (i,), (N,))
    at = ct.arange(N, dtype=ct.int32) + i * N
    y = x
    for _ in ct.static_iter(range(K)):
        y = y * 2
    ct.store(b, (i,), ct.where(at < n, y, x))


def gelu(x):
    return 0.5 * x * (1 + ct.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


@test(one, lambda a, b: 0.5 * a * (1 + np.tanh(0.7978845608 * (a + 0.044715 * a ** 3))), grid=8, rel=1e-5, abs=1e-6)
@ct.kernel
def helper_function(a, b):
    i = ct.bid(0)
    ct.store(b, (i,), gelu(ct.load(a, (i,), (N,))))


def softmaxed(a, b):
    e = np.exp(a - a.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@test([real(16, 256), zero(16, 256)], softmaxed, grid=16, rel=1e-5)
@ct.kernel
def softmax(a, b):
    i = ct.bid(0)
    x = ct.load(a, (i, 0), (1, 256))
    e = ct.exp(x - ct.max(x, 1, keepdims=True))
    ct.store(b, (i, 0), e / ct.sum(e, 1, keepdims=True))


@test([real(16, 256), real(256), real(256), zero(16, 256)],
      lambda a, w, c, b: (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 1e-5) * w + c,
      grid=16, rel=1e-4, abs=1e-5)
@ct.kernel
def layer_norm(a, w, c, b):
    i = ct.bid(0)
    x = ct.load(a, (i, 0), (1, 256))
    d = x - ct.sum(x, 1, keepdims=True) / 256
    r = ct.rsqrt(ct.sum(d * d, 1, keepdims=True) / 256 + 1e-5)
    ct.store(b, (i, 0), d * r * ct.load(w, (0,), (256,)) + ct.load(c, (0,), (256,)))


def attended(q, k, v, o):
    s = q @ k.T / np.sqrt(f32(32))
    e = np.exp(s - s.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True) @ v


@test([real(64, 32), real(128, 32), real(128, 32), zero(64, 32)], attended, grid=4, rel=1e-3, abs=1e-4)
@ct.kernel
def attention(q, k, v, o):
    i = ct.bid(0)
    x = ct.load(q, (i, 0), (16, 32))
    top = ct.full((16, 1), -1e30, ct.float32)
    total = ct.zeros((16, 1), ct.float32)
    acc = ct.zeros((16, 32), ct.float32)
    for j in range(ct.num_tiles(k, 0, (32, 32))):
        y = ct.transpose(ct.load(k, (j, 0), (32, 32)))
        s = ct.mma(x, y, ct.zeros((16, 32), ct.float32)) * 0.17677669529663687
        high = ct.maximum(top, ct.max(s, 1, keepdims=True))
        p = ct.exp(s - high)
        scale = ct.exp(top - high)
        total = total * scale + ct.sum(p, 1, keepdims=True)
        acc = ct.mma(p, ct.load(v, (j, 0), (32, 32)), acc * scale)
        top = high
    ct.store(o, (i, 0), acc / total)


@test([real(1000), zero(1000)],
      lambda a, b: np.convolve(np.pad(a, 1), [0.25, 0.5, 0.25], "valid").astype(f32), grid=8, rel=1e-5, abs=1e-6)
@ct.kernel
def stencil(a, b):
    i = ct.arange(N, dtype=ct.int32) + ct.bid(0) * N
    ct.scatter(b, i, 0.25 * ct.gather(a, i - 1) + 0.5 * ct.gather(a, i) + 0.25 * ct.gather(a, i + 1))


@test([whole(4, low=1, high=100)], lambda a: a, text=lambda a: f"values {a[0]} {a[1]}\n")
@ct.kernel
def prints(a):
    ct.printf("values %d %d\n", ct.load(a, (0,), ()), ct.load(a, (1,), ()))


@test([lambda: np.array([1, 2], i32)], lambda a: [2, 2])
@ct.kernel
def assertion_holds(a):
    ct.assert_(ct.load(a, (0,), ()) == 1, "one")
    ct.store(a, (0,), 2)


@test([lambda: np.array([1, 2], i32)], None, fails="CUDA_ERROR_LAUNCH_FAILED")
@ct.kernel
def assertion_fails(a):
    ct.assert_(ct.load(a, (0,), ()) == 2, "two")


@test([whole(64, 64), zero(64, 64, dtype=i32)], lambda a, b: np.where(np.arange(64)[:, None] >= np.arange(64), a, 0))
@ct.kernel
def triangle(a, b):
    i = ct.expand_dims(ct.arange(64, dtype=ct.int32), 1)
    j = ct.expand_dims(ct.arange(64, dtype=ct.int32), 0)
    ct.store(b, (0, 0), ct.where(i >= j, ct.load(a, (0, 0), (64, 64)), 0))


@test([real(1000), 300, 700, zero(400)], lambda a, n, m, b: a[300:700] * 2, grid=4)
@ct.kernel
def array_slice(a, n, m, b):
    i = ct.bid(0)
    ct.store(b, (i,), ct.load(a.slice(0, n, m), (i,), (N,)) * 2)


@test([real(64, 48), zero(64, 48)], lambda a, b: a + 1, grid=(4, 3))
@ct.kernel
def tiled_view(a, b):
    i, j = ct.bid(0), ct.bid(1)
    ct.store(b, (i, j), a.tiled_view((16, 16)).load((i, j)) + 1)


@test([real(100), zero(4, 32)], lambda a, b: np.stack([a[16 * i:16 * i + 32] for i in range(4)]), grid=4)
@ct.kernel
def overlapping_view(a, b):
    i = ct.bid(0)
    v = a.tiled_view((32,), traversal_steps=(16,))
    ct.store(b, (i, 0), ct.reshape(v.load((i,)), (1, 32)))


@test([real(64, 32), whole(16, low=0, high=64), zero(16, 16)], lambda a, b, c: a[b, 8:24])
@ct.kernel
def rows_by_index(a, b, c):
    ct.store(c, (0, 0), ct.load_advanced_indexing(a, (ct.load(b, (0,), (16,)), ct.Slice(8, 16))))


@test([real(256), zero(256)], lambda a, b: a[::-1])
@ct.kernel
def raw_memory(a, b):
    i = ct.arange(256, dtype=ct.int32)
    b.get_raw_memory().store_offset(i, a.get_raw_memory().load_offset(255 - i))


@test([whole(1000), whole(1000, low=1, high=99), zero(1000, dtype=i32), zero(1000, dtype=i32)],
      lambda a, b, c, d: (a // b, a % b), grid=8)
@ct.kernel
def quotient_and_rest(a, b, c, d):
    i = ct.bid(0)
    q, r = divmod(ct.load(a, (i,), (N,)), ct.load(b, (i,), (N,)))
    ct.store(c, (i,), q)
    ct.store(d, (i,), r)


@test([real(1000), zero(1000, dtype=f16)], lambda a, b: np.clip(a, -1, 1).astype(f16).astype(f32) * 2, grid=8, rel=1e-3)
@ct.kernel
def method_chain(a, b):
    i = ct.bid(0)
    x = ct.minimum(ct.maximum(ct.load(a, (i,), (N,)), -1.0), 1.0)
    ct.store(b, (i,), (x.astype(ct.float16) * 2).astype(ct.float16))
