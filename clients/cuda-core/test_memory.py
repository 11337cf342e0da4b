"""Buffer and the memory resources, strided views."""
import pickle

import pytest

from cuda.core import DeviceMemoryResource, DeviceMemoryResourceOptions, VirtualMemoryResource, VirtualMemoryResourceOptions
from cuda.bindings import driver
from names import *


def resource(make):
    """A resource, or a skip where the release has no such thing."""
    try:
        return make()
    except Exception as e:
        if "requires CUDA 13" in str(e):
            pytest.skip(str(e))
        raise


# -- buffers --------------------------------------------------------------------------------------

def test_allocate(dev, stream):
    b = dev.allocate(1000, stream=stream)
    assert b.size == 1000 and int(b.handle) and b.device_id == 0
    assert b.is_device_accessible and not b.is_host_accessible
    assert b.memory_resource is dev.memory_resource
    b.close(stream)
    assert int(b.handle or 0) == 0


def test_copy_between(dev, stream):
    a = put(dev, stream, np.arange(100, dtype=np.uint32))
    b = dev.allocate(400, stream=stream)
    assert a.copy_to(b, stream=stream) is b
    assert get(b, stream, np.uint32).tolist() == list(range(100))


def test_copy_to_new(dev, stream):
    a = put(dev, stream, np.arange(100, dtype=np.uint32))
    b = a.copy_to(stream=stream)
    assert b.size == 400 and get(b, stream, np.uint32).tolist() == list(range(100))


def test_copy_of_another_size(dev, stream):
    a, b = dev.allocate(100, stream=stream), dev.allocate(200, stream=stream)
    with pytest.raises(ValueError):
        a.copy_to(b, stream=stream)


@pytest.mark.parametrize("value,width", [(0x5A, 1), (np.uint8(0x33).tobytes(), 1), (np.uint16(0xBEEF).tobytes(), 2), (np.uint32(0xDEADBEEF).tobytes(), 4)])
def test_fill(dev, stream, value, width):
    b = dev.allocate(64, stream=stream)
    b.fill(value, stream=stream)
    want = bytes([value]) * 64 if isinstance(value, int) else value * (64 // width)
    assert get(b, stream).tobytes() == want


def test_fill_of_a_bad_width(dev, stream):
    b = dev.allocate(63, stream=stream)
    with pytest.raises(ValueError):
        b.fill(b"\1\2\3\4", stream=stream)


def test_from_handle(dev, stream):
    a = put(dev, stream, np.arange(16, dtype=np.uint32))
    b = Buffer.from_handle(int(a.handle), a.size, owner=a)
    assert b.owner is a and get(b, stream, np.uint32).tolist() == list(range(16))


def test_dlpack(dev, stream):
    b = pinned.allocate(64, stream=stream)
    view(b)[:] = np.arange(64)
    a = np.from_dlpack(b)
    assert a.nbytes == 64 and a.view(np.uint8).ravel().tolist() == list(range(64))


def test_dlpack_device(dev, stream):
    b = dev.allocate(64, stream=stream)
    kind, ident = b.__dlpack_device__()
    assert int(kind) == 2 and ident == 0  # kDLCUDA


def test_closed_by_the_garbage_collector(dev, stream):
    mr = DeviceMemoryResource(0, DeviceMemoryResourceOptions(max_size=64 << 20))
    for _ in range(50):
        mr.allocate(8 << 20, stream=stream)
    stream.sync()
    assert mr.attributes.used_mem_current == 0


# -- resources ------------------------------------------------------------------------------------

def test_device_resource(dev, stream):
    mr = DeviceMemoryResource(0)
    assert mr.device_id == 0 and mr.is_device_accessible and not mr.is_host_accessible and not mr.is_handle_owned
    b = mr.allocate(4096, stream=stream)
    assert b.memory_resource is mr
    b.close(stream)


def test_pool_of_its_own(dev, stream):
    mr = DeviceMemoryResource(0, DeviceMemoryResourceOptions(max_size=32 << 20))
    assert mr.is_handle_owned and not mr.is_ipc_enabled
    b = mr.allocate(1 << 20, stream=stream)
    stream.sync()
    a = mr.attributes
    assert a.used_mem_current >= 1 << 20 and a.used_mem_high >= a.used_mem_current and a.reserved_mem_current >= a.used_mem_current
    assert a.reuse_allow_opportunistic is True
    with pytest.raises(Exception) as e:
        mr.allocate(1 << 30, stream=stream)
    assert "OUT_OF_MEMORY" in str(e.value) or "Failed to allocate" in str(e.value)
    b.close(stream)
    stream.sync()
    mr.close()


def test_resource_of_the_device(dev, stream):
    old = dev.memory_resource
    mr = DeviceMemoryResource(0, DeviceMemoryResourceOptions())
    dev.memory_resource = mr
    try:
        b = dev.allocate(128, stream=stream)
        assert b.memory_resource is mr
        b.close(stream)
    finally:
        dev.memory_resource = old


def test_legacy_pinned_resource(dev, stream, basic):
    b = pinned.allocate(1024, stream=stream)
    assert b.is_host_accessible and b.is_device_accessible
    launch(stream, LaunchConfig(grid=1, block=256), basic.get_kernel("fill"), b, np.uint32(3), np.uint32(200))
    stream.sync()
    assert view(b, np.uint32)[:200].tolist() == [3] * 200
    b.close(stream)


def let_in(mr, dev):
    """A pool on the host is closed to the device until it is let in: kernels of an H200 fault, whatever is_device_accessible says."""
    access = driver.CUmemAccessDesc()
    access.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    access.location.id = dev.device_id
    access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    (err,) = driver.cuMemPoolSetAccess(driver.CUmemoryPool(int(mr.handle)), [access], 1)
    assert err == driver.CUresult.CUDA_SUCCESS


def test_pinned_resource(dev, stream, basic):
    mr = resource(lambda: core.PinnedMemoryResource())
    b = mr.allocate(1024, stream=stream)
    stream.sync()
    assert b.is_host_accessible and b.is_device_accessible
    view(b)[:] = 0
    let_in(mr, dev)
    launch(stream, LaunchConfig(grid=1, block=256), basic.get_kernel("fill"), b, np.uint32(3), np.uint32(256))
    stream.sync()
    assert (view(b, np.uint32) == 3).all()
    b.close(stream)


def test_managed_resource(dev, stream, basic):
    mr = resource(lambda: core.ManagedMemoryResource())
    b = mr.allocate(1024, stream=stream)
    stream.sync()
    assert b.is_host_accessible and b.is_device_accessible
    view(b)[:] = 0
    launch(stream, LaunchConfig(grid=1, block=256), basic.get_kernel("fill"), b, np.uint32(3), np.uint32(256))
    stream.sync()
    assert (view(b, np.uint32) == 3).all()
    b.close(stream)


def test_virtual_resource(dev, stream, basic):
    mr = VirtualMemoryResource(dev, VirtualMemoryResourceOptions(handle_type=None, gpu_direct_rdma=False))
    b = mr.allocate(3 << 20)
    assert b.size >= 3 << 20
    n = b.size // 4
    launch(stream, LaunchConfig(grid=(n + 255) // 256, block=256), basic.get_kernel("fill"), b, np.uint32(3), np.uint32(n))
    assert (get(b, stream, np.uint32) == 3).all()
    b.close(stream)


def test_virtual_resource_grows(dev, stream):
    mr = VirtualMemoryResource(dev, VirtualMemoryResourceOptions(handle_type=None))
    b = mr.allocate(2 << 20)
    b.fill(7, stream=stream)
    stream.sync()
    c = mr.modify_allocation(b, 8 << 20)
    assert c.size >= 8 << 20
    head = Buffer.from_handle(int(c.handle), 2 << 20, owner=c)
    assert (get(head, stream) == 7).all()
    c.fill(9, stream=stream)
    assert (get(c, stream) == 9).all()


def test_virtual_resource_shareable(dev, stream):
    mr = VirtualMemoryResource(dev, VirtualMemoryResourceOptions(handle_type="posix_fd"))
    b = mr.allocate(2 << 20)
    b.fill(1, stream=stream)
    assert (get(b, stream) == 1).all()
    b.close(stream)


def test_graph_resource(dev, stream):
    mr = core.GraphMemoryResource(dev)
    assert mr is core.GraphMemoryResource(0) and mr.device_id == 0
    g = dev.create_graph_builder().begin_building()
    b = mr.allocate(4096, stream=g)
    b.fill(3, stream=g)
    out = pinned.allocate(4096, stream=stream)
    out.copy_from(b, stream=g)
    b.close(g)
    x = g.end_building().complete()
    x.launch(stream)
    stream.sync()
    assert (view(out) == 3).all()
    assert mr.attributes.used_mem_high >= 4096
    x.close()
    mr.trim()
    out.close(stream)


def test_graph_resource_outside_a_graph(dev, stream):
    with pytest.raises(Exception):
        core.GraphMemoryResource(dev).allocate(64, stream=stream)


def test_resource_of_a_program(dev, stream):
    """A subclass of MemoryResource in Python."""
    from cuda.bindings import driver

    class Plain(core.MemoryResource):
        freed = []

        def allocate(self, size, *args, **kw):
            err, p = driver.cuMemAlloc(size)
            assert err == 0
            return Buffer.from_handle(int(p), size, mr=self)

        def deallocate(self, ptr, size, *args, **kw):
            self.freed.append(size)
            assert driver.cuMemFree(int(ptr))[0] == 0

        is_device_accessible, is_host_accessible, device_id = True, False, 0

    mr = Plain()
    b = mr.allocate(512)
    b.fill(4, stream=stream)
    assert (get(b, stream) == 4).all()
    b.close(stream)
    assert Plain.freed == [512]


# -- between processes ----------------------------------------------------------------------------

def test_buffers_between_processes(dev, stream):
    if not dev.properties.handle_type_posix_file_descriptor_supported:
        pytest.skip("not supported by the device")
    mr = DeviceMemoryResource(0, DeviceMemoryResourceOptions(max_size=16 << 20, ipc_enabled=True))
    assert mr.is_ipc_enabled and not mr.is_mapped
    b = mr.allocate(4096, stream=stream)
    b.fill(5, stream=stream)
    stream.sync()
    handle = mr.allocation_handle if NEW else mr.get_allocation_handle()
    fd = int(handle.handle if hasattr(handle, "handle") else handle)
    os.set_inheritable(fd, True)
    d = descriptor(b)
    assert child("""
        import pickle
        mr = core.DeviceMemoryResource.from_allocation_handle(0, int(sys.argv[1]))
        b = Buffer.from_ipc_descriptor(mr, pickle.loads(bytes.fromhex(sys.argv[2])), stream=stream)
        assert mr.is_mapped and b.is_mapped
        assert (get(b, stream) == 5).all()
        b.fill(6, stream=stream)
        stream.sync()
        b.close(stream)
        stream.sync()
        print("seen")
    """, fd, pickle.dumps(d).hex(), pass_fds=[fd]) == "seen"
    assert (get(b, stream) == 6).all()


def test_descriptor_needs_an_ipc_pool(dev, stream):
    b = dev.allocate(64, stream=stream)
    with pytest.raises(Exception):
        descriptor(b)


# -- managed memory, new in 1.x -------------------------------------------------------------------

@pytest.mark.skipif(not NEW, reason="came with 1.0")
def test_managed_advice(dev, stream):
    if not dev.properties.concurrent_managed_access:
        pytest.skip("not supported by the device")
    mr = resource(lambda: core.ManagedMemoryResource())
    b = mr.allocate(1 << 20, stream=stream)
    stream.sync()
    assert b.read_mostly is False
    with pytest.raises(Exception, match="CUDA_ERROR_NOT_SUPPORTED"):  # memory of a pool takes no advice, on an H200 as here
        b.read_mostly = True
    b.prefetch(dev, stream=stream)
    b.fill(3, stream=stream)
    b.prefetch(core.Host(), stream=stream)
    stream.sync()
    assert (view(b) == 3).all()
    b.close(stream)


@pytest.mark.skipif(not NEW, reason="came with 1.2")
def test_copy_batch(dev, stream):
    from cuda.core.utils import copy_batch
    srcs = [put(dev, stream, np.full(100, i, np.uint8)) for i in range(3)]
    dsts = [dev.allocate(100, stream=stream) for _ in range(3)]
    copy_batch(stream, srcs, dsts)
    assert [int(get(d, stream)[50]) for d in dsts] == [0, 1, 2]


# -- strided views --------------------------------------------------------------------------------

def test_view_of_numpy(dev, stream):
    a = np.arange(24, dtype=np.float32).reshape(4, 6)
    v = core.utils.StridedMemoryView.from_any_interface(a, stream_ptr=-1)
    assert v.shape == (4, 6) and v.dtype == np.float32 and v.ptr == a.ctypes.data
    assert not v.is_device_accessible and v.size == 24 and v.exporting_obj is a
    t = core.utils.StridedMemoryView.from_any_interface(a.T, stream_ptr=-1)
    assert t.shape == (6, 4) and t.strides == (1, 6)


def test_view_of_the_cuda_array_interface(dev, stream):
    b = dev.allocate(96, stream=stream)

    class Array:
        __cuda_array_interface__ = {"shape": (4, 6), "typestr": "<f4", "data": (int(b.handle), False), "version": 3, "strides": None, "stream": None}

    v = core.utils.StridedMemoryView.from_cuda_array_interface(Array(), stream_ptr=-1)
    assert v.shape == (4, 6) and v.ptr == int(b.handle) and v.is_device_accessible and v.device_id == 0 and not v.readonly


def test_view_of_a_buffer(dev, stream):
    b = put(dev, stream, np.arange(24, dtype=np.int32))
    v = core.utils.StridedMemoryView.from_buffer(b, (2, 12), dtype=np.dtype(np.int32))
    assert v.shape == (2, 12) and v.ptr == int(b.handle) and v.dtype == np.int32 and v.is_device_accessible


def test_view_by_dlpack(dev, stream):
    b = dev.allocate(64, stream=stream)
    v = core.utils.StridedMemoryView.from_dlpack(b, stream_ptr=int(stream.handle) or -1)
    assert v.ptr == int(b.handle) and v.size * (v.dtype.itemsize if v.dtype is not None else 1) == 64


def test_arguments_viewable(dev, stream, basic):
    @core.utils.args_viewable_as_strided_memory((0,))
    def fill(array, value):
        v = array.view(int(stream.handle))
        launch(stream, LaunchConfig(grid=1, block=v.size), basic.get_kernel("fill"), v.ptr, np.uint32(value), np.uint32(v.size))

    b = put(dev, stream, np.zeros(10, np.uint32))

    class Array:
        __cuda_array_interface__ = {"shape": (10,), "typestr": "<u4", "data": (int(b.handle), False), "version": 3, "strides": None, "stream": None}

    fill(Array(), 8)
    assert get(b, stream, np.uint32).tolist() == [8] * 10


def test_tensor_map(dev, stream):
    if dev.compute_capability < (9, 0):
        pytest.skip("needs compute capability 9.0")
    b = put(dev, stream, np.zeros((32, 64), np.float32))
    v = core.utils.StridedMemoryView.from_buffer(b, (32, 64), dtype=np.dtype(np.float32))
    m = v.as_tensor_map((8, 16))
    assert isinstance(m, core.TensorMapDescriptor) and m.device.device_id == 0
    c = put(dev, stream, np.zeros((32, 64), np.float32))
    m.replace_address(core.utils.StridedMemoryView.from_buffer(c, (32, 64), dtype=np.dtype(np.float32)))
    with pytest.raises(Exception):
        v.as_tensor_map((8, 512))


# -- textures, new in 1.x -------------------------------------------------------------------------

@pytest.mark.skipif(not NEW, reason="came with 1.2")
def test_texture(dev, stream):
    import kernels
    from cuda.core import texture
    from cuda.core.typing import ArrayFormatType
    data = np.arange(12, dtype=np.float32).reshape(3, 4)
    a = dev.create_opaque_array(texture.OpaqueArrayOptions(shape=(4, 3), format=ArrayFormatType.FLOAT32, num_channels=1))
    a.copy_from(data, stream=stream)
    stream.sync()
    t = dev.create_texture_object(resource=texture.ResourceDescriptor.from_opaque_array(a), options=texture.TextureObjectOptions(filter_mode="linear"))
    u, v = np.array([0.5, 1.0, 3.5, 2.0], np.float32), np.array([0.5, 0.5, 2.5, 1.0], np.float32)
    du, dv, out = put(dev, stream, u), put(dev, stream, v), put(dev, stream, np.zeros(4, np.float32))
    launch(stream, LaunchConfig(grid=1, block=4), ObjectCode.from_ptx(kernels.TEXTURE.encode()).get_kernel("fetch2d"), int(t.handle), du, dv, out)
    assert get(out, stream, np.float32).tolist() == [0, 0.5, 11, 3.5]
    t.close()
    back = np.zeros_like(data)
    a.copy_to(back, stream=stream)
    stream.sync()
    assert np.array_equal(back, data)
    a.close()


@pytest.mark.skipif(not NEW, reason="came with 1.2")
def test_surface(dev, stream):
    import kernels
    from cuda.core import texture
    from cuda.core.typing import ArrayFormatType
    a = dev.create_opaque_array(texture.OpaqueArrayOptions(shape=(8, 4), format=ArrayFormatType.INT32, num_channels=1, is_surface_load_store=True))
    a.copy_from(np.full((4, 8), 1000, np.int32), stream=stream)
    s = dev.create_surface_object(resource=texture.ResourceDescriptor.from_opaque_array(a))
    launch(stream, LaunchConfig(grid=1, block=(8, 4)), ObjectCode.from_ptx(kernels.TEXTURE.encode()).get_kernel("surface"), int(s.handle))
    back = np.zeros((4, 8), np.int32)
    a.copy_to(back, stream=stream)
    stream.sync()
    assert np.array_equal(back, 1000 + np.arange(4)[:, None] * 100 + np.arange(8)[None, :])
    s.close()
    a.close()


@pytest.mark.skipif(not NEW, reason="came with 1.2")
def test_mipmapped_texture(dev, stream):
    import kernels
    from cuda.core import texture
    from cuda.core.typing import ArrayFormatType
    m = dev.create_mipmapped_array(texture.MipmappedArrayOptions(shape=(4, 4), format=ArrayFormatType.FLOAT32, num_channels=1, num_levels=2))
    m.get_level(0).copy_from(np.full((4, 4), 1, np.float32), stream=stream)
    m.get_level(1).copy_from(np.array([[10, 20], [30, 40]], np.float32), stream=stream)
    t = dev.create_texture_object(resource=texture.ResourceDescriptor.from_mipmapped_array(m), options=texture.TextureObjectOptions(normalized_coords=True, max_mipmap_level_clamp=1.0))
    u, v = put(dev, stream, np.array([0.25, 0.75, 0.25, 0.75], np.float32)), put(dev, stream, np.array([0.25, 0.25, 0.75, 0.75], np.float32))
    out = put(dev, stream, np.zeros(4, np.float32))
    launch(stream, LaunchConfig(grid=1, block=4), ObjectCode.from_ptx(kernels.TEXTURE.encode()).get_kernel("fetchlevel"), int(t.handle), u, v, out)
    assert get(out, stream, np.float32).tolist() == [10, 20, 30, 40]
    t.close()
    m.close()


@pytest.mark.skipif(not NEW, reason="came with 1.2")
def test_texture_of_linear_memory(dev, stream):
    import kernels
    from cuda.core import texture
    from cuda.core.typing import ArrayFormatType
    b = put(dev, stream, np.arange(100, 164, dtype=np.int32))
    t = dev.create_texture_object(resource=texture.ResourceDescriptor.from_linear(b, format=ArrayFormatType.INT32, num_channels=1))
    out = put(dev, stream, np.zeros(64, np.int32))
    launch(stream, LaunchConfig(grid=1, block=64), ObjectCode.from_ptx(kernels.TEXTURE.encode()).get_kernel("fetch1d"), int(t.handle), out)
    assert get(out, stream, np.int32).tolist() == list(range(100, 164))
    t.close()


@pytest.mark.skipif(not NEW, reason="came with 1.0")
def test_managed_discard_and_prefetch(dev, stream):
    if not dev.properties.concurrent_managed_access:
        pytest.skip("not supported by the device")
    from cuda.core.utils import discard_batch, prefetch_batch
    mr = core.ManagedMemoryResource()
    bs = [mr.allocate(4 << 20, stream=stream) for _ in range(2)]
    stream.sync()
    for b in bs:
        view(b)[:] = 1
    prefetch_batch(stream, bs, dev)
    stream.sync()
    assert all((view(b) == 1).all() for b in bs)
    discard_batch(stream, bs)
    bs[0].discard_prefetch(dev, stream=stream)
    for b in bs:
        b.fill(4, stream=stream)
    stream.sync()
    assert all((view(b) == 4).all() for b in bs)
    [b.close(stream) for b in bs]


@pytest.mark.skipif(not NEW, reason="came with 1.0")
def test_deallocation_stream(dev, stream):
    other = dev.create_stream()
    mr = DeviceMemoryResource(0, DeviceMemoryResourceOptions(max_size=32 << 20))
    b = mr.allocate(4096, stream=stream)
    b.set_deallocation_stream(other)
    del b
    other.sync()
    assert mr.attributes.used_mem_current == 0
    mr.close()
    other.close()


def test_copy_while_another_stream_runs(dev, stream, basic):
    other = dev.create_stream()
    n = 1 << 20
    a, b = dev.allocate(4 * n, stream=stream), put(dev, other, np.arange(n, dtype=np.uint32))
    for i in range(5):
        launch(stream, LaunchConfig(grid=n // 256, block=256), basic.get_kernel("fill"), a, np.uint32(i), np.uint32(n))
        assert np.array_equal(get(b, other, np.uint32), np.arange(n))
    assert (get(a, stream, np.uint32) == 4).all()
    other.close()


def test_pool_threshold(dev, stream):
    """Memory that a pool of cuda-core's keeps: its threshold is the largest, so that nothing is given back."""
    mr = DeviceMemoryResource(0, DeviceMemoryResourceOptions(max_size=64 << 20))
    mr.allocate(1 << 20, stream=stream).close(stream)
    stream.sync()
    a = mr.attributes
    assert a.used_mem_current == 0 and (a.reserved_mem_current > 0) == (a.release_threshold > 0)
    mr.close()


def test_from_buffer_strides(dev, stream):
    b = put(dev, stream, np.arange(24, dtype=np.int32))
    v = core.utils.StridedMemoryView.from_buffer(b, (4, 3), strides=(6, 2), dtype=np.dtype(np.int32))
    assert v.strides == (6, 2) and v.size == 12
    with pytest.raises(Exception):
        core.utils.StridedMemoryView.from_buffer(b, (100, 100), dtype=np.dtype(np.int32))


def test_two_devices():
    """Ours shows as many devices as GOCUDA_PROFILE names; a machine has what it has."""
    out = child("""
        from cuda.bindings import driver
        if driver.cuDeviceGetCount()[1] < 2:
            print("one")
            sys.exit()
        d1 = Device(1)
        d1.set_current()
        s1 = d1.create_stream()
        b1 = d1.allocate(4096, stream=s1)
        b1.fill(9, stream=s1)
        s1.sync()
        assert b1.device_id == 1
        if dev.can_access_peer(1):
            dev.set_current()
            mr = core.DeviceMemoryResource(1)
            mr.peer_accessible_by = [0]
            assert list(mr.peer_accessible_by) == [0] if not NEW else {getattr(x, "device_id", x) for x in mr.peer_accessible_by} == {0}
            b0 = dev.allocate(4096, stream=stream)
            b0.copy_from(b1, stream=stream)
            stream.sync()
            assert (get(b0, stream) == 9).all()
        print("two")
    """, env=dict(os.environ, GOCUDA_PROFILE="h200,h200"))
    if out == "one":
        pytest.skip("there is one device")
    assert out == "two"
