"""Programs over what PyCUDA wraps, with kernels as PTX where its own tests have C. What is expected is what was copied in, or what NumPy computes of it."""
import ctypes, gc, os, shutil, subprocess, sys, tempfile, time
import numpy as np
import pycuda.driver as cuda

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
INDEX = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
PTX = HEAD + """
.visible .global .align 4 .u32 counter = 41;
.visible .const .align 4 .f32 table[4] = {0f3F800000, 0f40000000, 0f40400000, 0f40800000};
.visible .global .texref image;
.visible .global .surfref surface;
.visible .entry scale(.param .u64 x, .param .f32 a, .param .u32 n) {
""" + INDEX + """
ld.param.u64 %rd1, [x]; ld.param.f32 %f1, [a]; ld.param.u32 %r4, [n]; setp.ge.u32 %p, %r1, %r4; @%p ret;
mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; ld.global.f32 %f2, [%rd1]; mul.rn.f32 %f2, %f2, %f1; st.global.f32 [%rd1], %f2; ret; }
.visible .entry tables(.param .u64 out) {
""" + INDEX + """
ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; mov.u64 %rd3, table; add.u64 %rd3, %rd3, %rd2; ld.const.f32 %f1, [%rd3]; ld.global.u32 %r4, [counter];
cvt.rn.f32.u32 %f2, %r4; add.rn.f32 %f1, %f1, %f2; add.u64 %rd1, %rd1, %rd2; st.global.f32 [%rd1], %f1; ret; }
.visible .entry structure(.param .align 8 .b8 s[24]) {
""" + INDEX + """
ld.param.u32 %r4, [s]; ld.param.f32 %f1, [s+4]; ld.param.u64 %rd1, [s+8]; ld.param.u16 %r5, [s+16];
cvt.rn.f32.u32 %f2, %r4; fma.rn.f32 %f1, %f1, %f2, 0f00000000; cvt.rn.f32.u32 %f2, %r5; add.rn.f32 %f1, %f1, %f2; st.global.f32 [%rd1], %f1; ret; }
.extern .shared .align 4 .b8 shared[];
.visible .entry reverse(.param .u64 x) {
""" + INDEX + """
ld.param.u64 %rd1, [x]; mul.wide.u32 %rd2, %r3, 4; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r4, [%rd3]; cvt.u32.u64 %r5, %rd2; mov.u32 %r6, shared; add.u32 %r5, %r6, %r5;
st.shared.u32 [%r5], %r4; bar.sync 0; sub.u32 %r7, %r2, %r3; sub.u32 %r7, %r7, 1; shl.b32 %r7, %r7, 2; add.u32 %r7, %r6, %r7; ld.shared.u32 %r4, [%r7]; st.global.u32 [%rd3], %r4; ret; }
.visible .entry fetch(.param .u64 out, .param .u32 width) {
""" + INDEX + """
ld.param.u64 %rd1, [out]; ld.param.u32 %r4, [width]; rem.u32 %r5, %r1, %r4; div.u32 %r6, %r1, %r4; cvt.rn.f32.u32 %f5, %r5; cvt.rn.f32.u32 %f6, %r6;
tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [image, {%f5, %f6}]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.f32 [%rd1], %f1; ret; }
.visible .entry draw(.param .u32 width) {
""" + INDEX + """
ld.param.u32 %r4, [width]; rem.u32 %r5, %r1, %r4; div.u32 %r6, %r1, %r4; shl.b32 %r5, %r5, 2; sust.b.2d.b32.trap [surface, {%r5, %r6}], %r1; ret; }
.visible .entry slow(.param .u32 n) {
""" + INDEX + """
ld.param.u32 %r4, [n]; mov.u32 %r5, 0;
again: add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, %r4; @%p bra again; ret; }
.visible .entry fault() { .reg .b64 %rd; mov.u64 %rd, 16; st.global.u32 [%rd], 1; ret; }
"""

TESTS = []


def test(f):
    TESTS.append(f)
    return f


def equal(got, want, what=""):
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape and (got == want).all(), f"{what} {got.ravel()[:8]}, want {want.ravel()[:8]}"


def raises(kind, f, *args):
    try:
        f(*args)
    except kind as e:
        return str(e)
    raise AssertionError(f"{f} raises no {kind.__name__}")


def module():
    return cuda.module_from_buffer(PTX.encode())


def ramp(n=1000):
    return np.arange(n, dtype=np.float32)


@test
def device():
    d = cuda.Device(0)
    assert cuda.Device.count() >= 1 and d.name() and d.compute_capability() >= (7, 0)
    attributes = d.get_attributes()
    assert attributes[cuda.device_attribute.WARP_SIZE] == 32 and attributes[cuda.device_attribute.MAX_THREADS_PER_BLOCK] == 1024
    assert d.get_attribute(cuda.device_attribute.MULTIPROCESSOR_COUNT) > 0
    assert d.total_memory() > 1 << 30 and len(d.pci_bus_id()) >= 12
    assert cuda.Device(d.pci_bus_id()) == d
    raises(cuda.LogicError, cuda.Device, 99)
    raises(cuda.LogicError, cuda.Device, "zzzz:00:00.0")


@test
def contexts_in_a_stack():
    outer = cuda.Context.get_current()
    c = cuda.Device(0).make_context(cuda.ctx_flags.SCHED_YIELD)
    assert cuda.Context.get_current() == c and c != outer
    p = cuda.mem_alloc(16)
    cuda.Context.pop()
    assert cuda.Context.get_current() == outer
    c.push()
    p.free()
    cuda.Context.pop()
    c.detach()
    assert outer.get_api_version() > 3000 and cuda.Context.get_device() == cuda.Device(0)


@test
def primary_context():
    c = cuda.Device(0).retain_primary_context()
    c.push()
    a = cuda.to_device(ramp())
    equal(cuda.from_device(a, (1000,), np.float32), ramp())
    c.pop()


@test
def limits_and_preferences():
    c = cuda.Context
    old = c.get_limit(cuda.limit.STACK_SIZE)
    c.set_limit(cuda.limit.STACK_SIZE, 4096)
    assert c.get_limit(cuda.limit.STACK_SIZE) == 4096 and old > 0
    assert c.get_limit(cuda.limit.PRINTF_FIFO_SIZE) >= 1 << 20 and c.get_limit(cuda.limit.MALLOC_HEAP_SIZE) == 8 << 20
    c.set_cache_config(cuda.func_cache.PREFER_SHARED)
    assert c.get_cache_config() in (cuda.func_cache.PREFER_SHARED, cuda.func_cache.PREFER_NONE)
    c.set_shared_config(cuda.shared_config.EIGHT_BYTE_BANK_SIZE)
    assert c.get_shared_config() in (cuda.shared_config.EIGHT_BYTE_BANK_SIZE, cuda.shared_config.FOUR_BYTE_BANK_SIZE)


@test
def memory_copies():
    a = ramp()
    p, q = cuda.mem_alloc(a.nbytes), cuda.mem_alloc_like(a)
    cuda.memcpy_htod(p, a)
    cuda.memcpy_dtod(q, p, a.nbytes)
    b = np.empty_like(a)
    cuda.memcpy_dtoh(b, q)
    equal(b, a)
    base, size = cuda.mem_get_address_range(int(p) + 40)
    assert base == int(p) and size == a.nbytes
    free, total = cuda.mem_get_info()
    assert 0 < free <= total
    equal(np.frombuffer(bytes(cuda.from_device(p, 4000, np.uint8)), np.float32), a)
    p.free()
    raises(cuda.LogicError, p.free)
    raises(cuda.MemoryError, cuda.mem_alloc, 1 << 50)


@test
def asynchronous_copies():
    s, t = cuda.Stream(), cuda.Stream()
    a = cuda.pagelocked_empty(5000, np.float32)
    a[:] = ramp(5000)
    b = cuda.pagelocked_zeros(5000, np.float32)
    p, q = cuda.mem_alloc(a.nbytes), cuda.mem_alloc(a.nbytes)
    e = cuda.Event()
    cuda.memcpy_htod_async(p, a, s)
    cuda.memcpy_dtod_async(q, p, a.nbytes, s)
    e.record(s)
    t.wait_for_event(e)
    cuda.memcpy_dtoh_async(b, q, t)
    t.synchronize()
    equal(b, a)
    assert s.is_done() and t.is_done() and e.query()


@test
def fills():
    p = cuda.mem_alloc(1024)
    out = np.zeros(1024, np.uint8)
    cuda.memset_d8(p, 0x5A, 1024)
    cuda.memset_d16(int(p) + 16, 0x1234, 8)
    cuda.memset_d32(int(p) + 64, 0xDEADBEEF, 4)
    cuda.memset_d2d8(int(p) + 128, 32, 0x11, 8, 4)
    cuda.memset_d2d16(int(p) + 256, 32, 0x2222, 4, 4)
    cuda.memset_d2d32(int(p) + 384, 32, 0x33333333, 2, 4)
    s = cuda.Stream()
    cuda.memset_d8_async(int(p) + 512, 0x44, 10, s)
    cuda.memset_d32_async(int(p) + 640, 0x55555555, 3, s)
    cuda.memset_d2d8_async(int(p) + 768, 64, 0x66, 16, 2, s)
    s.synchronize()
    cuda.memcpy_dtoh(out, p)
    want = np.full(1024, 0x5A, np.uint8)
    want[16:32].view(np.uint16)[:] = 0x1234
    want[64:80].view(np.uint32)[:] = 0xDEADBEEF
    for base, v, w in ((128, 0x11, 8), (256, 0x22, 8), (384, 0x33, 8)):
        want[base:base + 128].reshape(4, 32)[:, :w] = v
    want[512:522], want[640:652] = 0x44, 0x55
    want[768:896].reshape(2, 64)[:, :16] = 0x66
    equal(out, want)


@test
def pitched_memory():
    a = np.arange(50 * 7, dtype=np.float32).reshape(7, 50)
    p, pitch = cuda.mem_alloc_pitch(200, 7, 4)
    assert pitch >= 200 and pitch % 16 == 0
    c = cuda.Memcpy2D()
    c.set_src_host(a)
    c.set_dst_device(p)
    c.src_pitch, c.dst_pitch, c.width_in_bytes, c.height = 200, pitch, 200, 7
    c(aligned=True)
    b = np.zeros((3, 10), np.float32)
    c = cuda.Memcpy2D()
    c.set_src_device(p)
    c.set_dst_host(b)
    c.src_pitch, c.src_x_in_bytes, c.src_y = pitch, 80, 2
    c.dst_pitch, c.width_in_bytes, c.height = 40, 40, 3
    c(cuda.Stream())
    cuda.Context.synchronize()
    equal(b, a[2:5, 20:30])


@test
def copies_in_three_dimensions():
    a = np.arange(4 * 6 * 8, dtype=np.int32).reshape(4, 6, 8)
    d = cuda.ArrayDescriptor3D()
    d.width, d.height, d.depth, d.format, d.num_channels, d.flags = 8, 6, 4, cuda.array_format.SIGNED_INT32, 1, 0
    array = cuda.Array(d)
    back = array.get_descriptor_3d()
    assert (back.width, back.height, back.depth, back.num_channels) == (8, 6, 4, 1)
    c = cuda.Memcpy3D()
    c.set_src_host(a)
    c.set_dst_array(array)
    c.src_pitch, c.src_height, c.width_in_bytes, c.height, c.depth = 32, 6, 32, 6, 4
    c()
    b = np.zeros((2, 3, 4), np.int32)
    c = cuda.Memcpy3D()
    c.set_src_array(array)
    c.set_dst_host(b)
    c.src_x_in_bytes, c.src_y, c.src_z = 8, 2, 1
    c.dst_pitch, c.dst_height, c.width_in_bytes, c.height, c.depth = 16, 3, 16, 3, 2
    c()
    equal(b, a[1:3, 2:5, 2:6])


@test
def arrays():
    a = np.arange(64, dtype=np.uint8)
    d = cuda.ArrayDescriptor()
    d.width, d.height, d.format, d.num_channels = 16, 0, cuda.array_format.UNSIGNED_INT8, 4
    one, two = cuda.Array(d), cuda.Array(d)
    assert one.get_descriptor().width == 16
    p = cuda.to_device(a)
    cuda.memcpy_dtoa(one, 0, p, 64)
    cuda.memcpy_atoa(two, 16, one, 0, 48)
    cuda.memcpy_atod(p, two, 16, 48)
    equal(cuda.from_device(p, 48, np.uint8), a[:48])
    one.free()


@test
def host_memory():
    flags = cuda.host_alloc_flags
    a = cuda.pagelocked_empty(1000, np.float32, mem_flags=flags.DEVICEMAP | flags.PORTABLE)
    a[:] = ramp()
    p = a.base.get_device_pointer()
    module().get_function("scale")(np.intp(p), np.float32(3), np.uint32(1000), block=(256, 1, 1), grid=(4, 1))
    cuda.Context.synchronize()
    equal(a, ramp() * 3)
    assert a.base.get_flags() & flags.DEVICEMAP


@test
def managed_memory():
    a = cuda.managed_empty(1000, np.float32, mem_flags=cuda.mem_attach_flags.GLOBAL)
    a[:] = ramp()
    module().get_function("scale")(a, np.float32(2), np.uint32(1000), block=(250, 1, 1), grid=(4, 1))
    cuda.Context.synchronize()
    equal(a, ramp() * 2)
    s = cuda.Stream()
    a.base.attach(cuda.mem_attach_flags.SINGLE, s)
    s.synchronize()


@test
def kernels_from_ptx():
    f = module().get_function("scale")
    a = ramp()
    f(cuda.InOut(a), np.float32(2), np.uint32(999), block=(128, 1, 1), grid=(8, 1))
    want = ramp() * 2
    want[999] = 999
    equal(a, want)
    raises(cuda.LogicError, module().get_function, "no")


@test
def prepared_calls():
    f = module().get_function("scale")
    f.prepare("PfI")
    p = cuda.to_device(ramp())
    f.prepared_call((8, 1), (128, 1, 1), p, 2.0, 1000)
    f.prepared_async_call((8, 1), (128, 1, 1), cuda.Stream(), p, 2.0, 1000)
    cuda.Context.synchronize()
    seconds = f.prepared_timed_call((8, 1), (128, 1, 1), p, 2.0, 1000)
    assert seconds() >= 0
    equal(cuda.from_device(p, 1000, np.float32), ramp() * 8)


@test
def calls_with_time():
    a = ramp()
    assert module().get_function("scale")(cuda.InOut(a), np.float32(2), np.uint32(1000), block=(128, 1, 1), grid=(8, 1), time_kernel=True) >= 0


@test
def variables_of_modules():
    m = module()
    p, size = m.get_global("counter")
    assert size == 4
    equal(cuda.from_device(p, 1, np.uint32), [41])
    cuda.memcpy_htod(p, np.array([100], np.uint32))
    q, size = m.get_global("table")
    assert size == 16
    out = np.zeros(4, np.float32)
    m.get_function("tables")(cuda.Out(out), block=(4, 1, 1))
    equal(out, [101, 102, 103, 104])
    raises(cuda.LogicError, m.get_global, "none")


@test
def structures_as_arguments():
    out = cuda.mem_alloc(4)
    s = np.zeros(1, np.dtype({"names": ["n", "x", "p", "h"], "formats": [np.uint32, np.float32, np.uint64, np.uint16], "offsets": [0, 4, 8, 16], "itemsize": 24}))
    s["n"], s["x"], s["p"], s["h"] = 6, 1.5, int(out), 33
    module().get_function("structure")(s[0], block=(1, 1, 1))
    equal(cuda.from_device(out, 1, np.float32), [42])


@test
def shared_memory_of_a_launch():
    a = np.arange(512, dtype=np.uint32)
    module().get_function("reverse")(cuda.InOut(a), block=(512, 1, 1), shared=2048)
    equal(a, np.arange(512)[::-1])
    f = module().get_function("reverse")
    f.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536)
    a = np.arange(1024, dtype=np.uint32)
    f(cuda.InOut(a), block=(1024, 1, 1), shared=65536)
    equal(a, np.arange(1024)[::-1])
    raises(cuda.LogicError, lambda: module().get_function("reverse")(cuda.InOut(a), block=(1024, 1, 1), shared=65536))


@test
def attributes_of_functions():
    f = module().get_function("reverse")
    a = cuda.function_attribute
    assert f.get_attribute(a.MAX_THREADS_PER_BLOCK) == 1024 and f.num_regs > 0 and f.shared_size_bytes == 0 and f.local_size_bytes == 0
    assert f.get_attribute(a.PTX_VERSION) == 70
    f.set_cache_config(cuda.func_cache.PREFER_L1)


@test
def texture_references():
    m = module()
    t = m.get_texref("image")
    a = np.random.RandomState(1).rand(6, 9).astype(np.float32)
    array = cuda.matrix_to_array(a, "C")
    t.set_array(array)
    assert t.get_array().handle == array.handle
    t.set_address_mode(0, cuda.address_mode.CLAMP)
    t.set_address_mode(1, cuda.address_mode.CLAMP)
    t.set_filter_mode(cuda.filter_mode.POINT)
    assert t.get_address_mode(0) == cuda.address_mode.CLAMP and t.get_filter_mode() == cuda.filter_mode.POINT and t.get_format() == (cuda.array_format.FLOAT, 1)
    out = np.zeros((6, 9), np.float32)
    m.get_function("fetch")(cuda.Out(out), np.uint32(9), block=(54, 1, 1), texrefs=[t])
    equal(out, a)
    p, pitch = cuda.mem_alloc_pitch(36, 6, 4)
    c = cuda.Memcpy2D()
    c.set_src_host(a + 1)
    c.set_dst_device(p)
    c.src_pitch, c.dst_pitch, c.width_in_bytes, c.height = 36, pitch, 36, 6
    c(aligned=True)
    d = cuda.ArrayDescriptor()
    d.width, d.height, d.format, d.num_channels = 9, 6, cuda.array_format.FLOAT, 1
    t.set_address_2d(p, d, pitch)
    m.get_function("fetch")(cuda.Out(out), np.uint32(9), block=(54, 1, 1), texrefs=[t])
    equal(out, a + 1)


@test
def surface_references():
    m = module()
    s = m.get_surfref("surface")
    d = cuda.ArrayDescriptor3D()
    d.width, d.height, d.depth, d.format, d.num_channels, d.flags = 8, 4, 0, cuda.array_format.UNSIGNED_INT32, 1, cuda.array3d_flags.SURFACE_LDST
    array = cuda.Array(d)
    s.set_array(array)
    m.get_function("draw")(np.uint32(8), block=(32, 1, 1))
    out = np.zeros((4, 8), np.uint32)
    c = cuda.Memcpy2D()
    c.set_src_array(array)
    c.set_dst_host(out)
    c.dst_pitch, c.width_in_bytes, c.height = 32, 32, 4
    c(aligned=True)
    equal(out.ravel(), np.arange(32))


@test
def events_and_time():
    f = module().get_function("slow")
    a, b = cuda.Event(), cuda.Event()
    s = cuda.Stream()
    a.record(s)
    f(np.uint32(300000), block=(1, 1, 1), stream=s)
    b.record(s)
    b.synchronize()
    assert b.time_since(a) > 0 and abs(b.time_since(a) - a.time_till(b)) < 1e-3 and a.query() and b.query()
    c = cuda.Event(cuda.event_flags.DISABLE_TIMING)
    c.record()
    c.synchronize()
    raises(cuda.LogicError, c.time_since, a)


@test
def streams_overlap_and_order():
    f = module().get_function("scale")
    streams = [cuda.Stream(cuda.event_flags.DEFAULT) for _ in range(4)]
    parts = [cuda.to_device(ramp()) for _ in streams]
    for _ in range(10):
        for s, p in zip(streams, parts):
            f(p, np.float32(2), np.uint32(1000), block=(256, 1, 1), grid=(4, 1), stream=s)
    for s, p in zip(streams, parts):
        s.synchronize()
        equal(cuda.from_device(p, 1000, np.float32), ramp() * 1024)


@test
def pools_of_device_memory():
    import pycuda.tools

    pool = pycuda.tools.DeviceMemoryPool()
    a = [pool.allocate(1000 * i + 1) for i in range(20)]
    assert pool.active_blocks == 20 and len({int(x) for x in a}) == 20
    cuda.memcpy_htod(a[5], ramp(100))
    equal(cuda.from_device(a[5], 100, np.float32), ramp(100))
    for x in a:
        x.free()
    assert pool.active_blocks == 0 and pool.held_blocks == 20
    pool.free_held()
    assert pool.held_blocks == 0
    pool.stop_holding()
    host = pycuda.tools.PageLockedMemoryPool()
    b = host.allocate((10, 10), np.float32)
    b[:] = 3
    del b
    gc.collect()
    assert host.held_blocks == 1
    host.stop_holding()


@test
def linker():
    link = cuda.Linker(lambda ok, info, error: None, [(cuda.jit_option.MAX_REGISTERS, 32)])
    link.add_data(HEAD.encode() + b".extern .func (.param .b32 r) twice(.param .b32 x);\n.visible .entry k(.param .u64 p) { .reg .b64 %rd; .reg .b32 %r<3>; ld.param.u64 %rd, [p]; ld.global.u32 %r1, [%rd];\n"
                  b"{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), twice, (a); ld.param.b32 %r2, [b]; } st.global.u32 [%rd], %r2; ret; }\n", cuda.jit_input_type.PTX, "a.ptx")
    link.add_data(HEAD.encode() + b".visible .func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, %r; st.param.b32 [r], %r; ret; }\n", cuda.jit_input_type.PTX, "b.ptx")
    m = link.link_module()
    a = np.array([21], np.uint32)
    m.get_function("k")(cuda.InOut(a), block=(1, 1, 1))
    equal(a, [42])


@test
def modules_from_files_with_options():
    with tempfile.NamedTemporaryFile(suffix=".ptx") as f:
        f.write(PTX.encode())
        f.flush()
        m = cuda.module_from_file(f.name)
    a = ramp()
    m.get_function("scale")(cuda.InOut(a), np.float32(2), np.uint32(1000), block=(250, 1, 1), grid=(4, 1))
    equal(a, ramp() * 2)
    said = []
    cuda.module_from_buffer(PTX.encode(), [(cuda.jit_option.OPTIMIZATION_LEVEL, 1)], lambda ok, info, error: said.append((ok, info, error)))
    assert said and said[0][0]
    raises(cuda.Error, cuda.module_from_buffer, b"this is no PTX")
    raises(cuda.Error, cuda.module_from_file, "/nonexistent/file.ptx")


@test
def profiler():
    cuda.start_profiler()
    cuda.stop_profiler()


@test
def errors_have_the_drivers_words():
    said = raises(cuda.LogicError, cuda.memcpy_htod, 0x700000000000, ramp())
    assert "invalid argument" in said, said
    f = module().get_function("scale")
    raises(cuda.LogicError, lambda: f(np.uint64(0), np.float32(0), np.uint32(0), block=(2048, 1, 1)))
    raises(cuda.LogicError, cuda.Context.set_limit, cuda.limit.STACK_SIZE, 1 << 40)


@test
def a_fault_is_the_answer_from_then_on():
    child = subprocess.run([sys.executable, __file__, "--fault"], capture_output=True, text=True, timeout=120)
    assert child.returncode == 0, child.stderr.strip().splitlines()[-1]


def fault():
    cuda.init()
    c = cuda.Device(0).make_context()
    module().get_function("fault")(block=(1, 1, 1))
    for f in (cuda.Context.synchronize, lambda: cuda.mem_alloc(16), cuda.Device(0).make_context):  # recorded on an H200: no other context is made either
        said = raises(cuda.LogicError, f)
        assert "illegal memory access" in said, said
    os._exit(0)


@test
def memory_of_another_process():
    p = cuda.to_device(ramp())
    try:
        handle = cuda.mem_get_ipc_handle(p)
    except cuda.LogicError as e:
        raise AssertionError(f"cuIpcGetMemHandle: {e}")
    e = cuda.Event(cuda.event_flags.INTERPROCESS | cuda.event_flags.DISABLE_TIMING)
    e.record()
    event = e.ipc_handle()
    cuda.Context.synchronize()
    other = subprocess.run([sys.executable, __file__, "--other", bytes(handle).hex(), bytes(event).hex()], capture_output=True, text=True, timeout=120)
    assert other.returncode == 0, other.stderr
    equal(cuda.from_device(p, 1000, np.float32), ramp() * 5)


def other(handle, event):
    """The other process of memory_of_another_process."""
    cuda.init()
    c = cuda.Device(0).make_context()
    m = cuda.IPCMemoryHandle(bytearray.fromhex(handle))
    e = cuda.Event.from_ipc_handle(bytearray.fromhex(event))
    e.synchronize()
    module().get_function("scale")(np.uintp(int(m)), np.float32(5), np.uint32(1000), block=(250, 1, 1), grid=(4, 1))
    cuda.Context.synchronize()
    m.close()
    c.pop()


@test
def peers():
    if cuda.Device.count() < 2:
        raise Skip("there is one device")
    here = cuda.Context.get_current()
    a = cuda.to_device(ramp())
    there = cuda.Device(1).make_context()
    b = cuda.mem_alloc(4000)
    if cuda.Device(1).can_access_peer(cuda.Device(0)):
        there.enable_peer_access(here)
        raises(cuda.LogicError, there.enable_peer_access, here)
        there.disable_peer_access(here)
    cuda.memcpy_peer(b, a, 4000, there, here)
    equal(cuda.from_device(b, 1000, np.float32), ramp())
    cuda.Context.pop()


@test
def numbers_at_random():
    import pycuda._driver

    if not hasattr(pycuda._driver, "get_curand_version"):
        raise Skip("PyCUDA is built without cuRAND")
    compiler()
    import pycuda.curandom

    g = pycuda.curandom.XORWOWRandomNumberGenerator(seed_getter=lambda n: __import__("pycuda.gpuarray").gpuarray.zeros(n, np.int32) + 7)
    x = g.gen_uniform(20000, np.float32).get()
    assert 0.49 < x.mean() < 0.51 and 0 < x.min() < x.max() <= 1 and len(set(x)) > 15000
    n = g.gen_normal(20000, np.float32).get()
    assert abs(n.mean()) < 0.03 and 0.97 < n.std() < 1.03


@test
def scans_and_reductions():
    compiler()
    from pycuda import gpuarray

    x = gpuarray.arange(1000, dtype=np.float32)
    y = gpuarray.to_gpu(ramp()[::-1].copy())
    equal((x + y).get(), np.full(1000, 999, np.float32))
    assert abs(gpuarray.dot(x, y).get() - np.dot(ramp().astype(np.float64), ramp()[::-1])) < 1e-6 * 166167000
    from pycuda.scan import InclusiveScanKernel

    z = gpuarray.to_gpu(np.arange(3000, dtype=np.int32))
    InclusiveScanKernel(np.int32, "a+b")(z)
    equal(z.get(), np.cumsum(np.arange(3000, dtype=np.int32)))
    from pycuda.reduction import ReductionKernel

    k = ReductionKernel(np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*x[i]", arguments="float *x")
    assert abs(k(x).get() - sum(i * i for i in range(1000))) < 1e-6 * 332833500  # in another order


class Skip(Exception):
    pass


def compiler():
    if not shutil.which("nvcc"):
        raise Skip("there is no nvcc")


def say(kind, name, why=""):
    print("\t".join(x for x in (kind, name, " ".join(why.split())[:300]) if x), flush=True)


def main():
    cuda.init()
    for f in TESTS:
        if sys.argv[1:] and f.__name__ not in sys.argv[1:]:
            continue
        name = "programs.py::" + f.__name__
        c = cuda.Device(0).make_context()
        kind, why = "pass", ""
        try:
            f()
        except Skip as e:
            kind, why = "skip", str(e)
        except Exception as e:
            kind, why = "fail", f"{type(e).__name__}: {e}"
            if os.environ.get("CLIENT_VERBOSE"):
                import traceback

                traceback.print_exc()
            del e
        say(kind, name, why)
        gc.collect()
        while cuda.Context.get_current() is not None:
            cuda.Context.pop()
        c.detach()


if sys.argv[1:2] == ["--fault"]:
    fault()
elif sys.argv[1:2] == ["--other"]:
    other(*sys.argv[2:])
else:
    main()
