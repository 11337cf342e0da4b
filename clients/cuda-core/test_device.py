"""Device, its properties, Stream, Event, Context, system."""
import threading

import pytest

import kernels
from names import *


def test_devices():
    all_devices = Device.get_all_devices()
    assert len(all_devices) >= 1 and [d.device_id for d in all_devices] == list(range(len(all_devices)))


def test_one_object_per_device(dev):
    assert Device(0) is Device(0) and Device(0).device_id == 0


def test_a_device_that_is_not_there():
    with pytest.raises((ValueError, RuntimeError, Exception)):
        Device(4096)


def test_current_device(dev):
    assert Device().device_id == 0


def test_name_and_uuid(dev):
    assert len(dev.name) > 2
    assert len(dev.uuid) == 36 and dev.uuid.count("-") == 4


def test_pci_bus_id(dev):
    domain, bus, rest = dev.pci_bus_id.split(":")
    assert int(bus, 16) == dev.properties.pci_bus_id and int(domain, 16) == dev.properties.pci_domain_id


def test_pci_properties(dev):
    assert dev.properties.pci_bus_id >= 0 and dev.properties.pci_device_id >= 0 and dev.properties.pci_domain_id >= 0


def test_compute_capability(dev):
    cc = dev.compute_capability
    assert (cc.major, cc.minor) == (dev.properties.compute_capability_major, dev.properties.compute_capability_minor)
    assert dev.arch == f"{cc.major}{cc.minor}"


def test_every_property(dev):
    names = [n for n in dir(dev.properties) if not n.startswith("_")]
    assert len(names) > 90
    bad = {}
    for n in names:
        try:
            v = getattr(dev.properties, n)
            if not isinstance(v, (int, bool)):
                bad[n] = v
        except AttributeError:
            pass  # newer than these bindings
        except Exception as e:
            bad[n] = e
    assert not bad


@pytest.mark.parametrize("name,low,high", [("max_threads_per_block", 1024, 1024), ("warp_size", 32, 32), ("max_grid_dim_x", 2**31 - 1, 2**31 - 1), ("max_shared_memory_per_block", 49152, 49152),
                                           ("multiprocessor_count", 1, 1000), ("total_constant_memory", 65536, 65536), ("memory_pools_supported", 1, 1), ("unified_addressing", 1, 1), ("cooperative_launch", 1, 1)])
def test_property(dev, name, low, high):
    assert low <= getattr(dev.properties, name) <= high


def test_peer_with_itself(dev):
    try:
        assert dev.can_access_peer(dev) in (True, False)  # 1.2 says so itself; the driver that it is none
    except core._utils.cuda_utils.CUDAError:
        pass


def test_sync(dev):
    dev.sync()


def test_set_current_gives_a_context(dev):
    assert dev.context is not None
    assert int(dev.context.handle if NEW else dev.context._handle)


def test_set_current_in_a_thread():
    got = []

    def work():
        d = Device(0)
        d.set_current()
        s = d.create_stream()
        b = d.allocate(256, stream=s)
        s.sync()
        got.append(b.size)
        b.close(s)

    t = threading.Thread(target=work)
    t.start()
    t.join()
    assert got == [256]


def test_not_initialised_before_set_current():
    assert child("""
        import cuda.core
        got = []
        import threading
        def work():
            try:
                cuda.core.Device(0).create_stream()
            except Exception as e:
                got.append(type(e).__name__)
        t = threading.Thread(target=work)
        t.start()
        t.join()
        print(*got)
    """) == "CUDAError"


# -- system ---------------------------------------------------------------------------------------

def test_system_devices():
    assert core.system.get_num_devices() == len(Device.get_all_devices())


def test_system_driver_version():
    try:
        v = core.system.get_user_mode_driver_version() if NEW else core.system.get_driver_version()
    except RuntimeError as e:
        if "nvml" not in str(e):
            raise
        pytest.skip("cuda-core asks NVML where the bindings have it (13.1), and there is none")
    assert v[0] >= 12 and len(v) >= 2


# -- streams --------------------------------------------------------------------------------------

def test_stream_options(dev):
    s = dev.create_stream(options=StreamOptions(nonblocking=True, priority=-1))
    assert s.is_nonblocking is True and s.priority == -1
    s.close()
    t = dev.create_stream(options=StreamOptions(nonblocking=False))
    assert t.is_nonblocking is False and t.priority == 0
    t.close()


def test_stream_priority_out_of_range(dev):
    with pytest.raises(ValueError):
        dev.create_stream(options=StreamOptions(priority=5))


def test_stream_device_and_context(dev, stream):
    assert stream.device.device_id == dev.device_id
    assert stream.context == dev.context


def test_stream_from_handle(dev, stream):
    s = core.Stream.from_handle(int(stream.handle))
    assert int(s.handle) == int(stream.handle)
    s.sync()


def test_stream_protocol(dev, stream):
    assert stream.__cuda_stream__() == (0, int(stream.handle))

    class Foreign:
        def __cuda_stream__(self):
            return 0, int(stream.handle)

    s = dev.create_stream(Foreign())
    assert int(s.handle) == int(stream.handle)


def test_default_stream(dev):
    s = dev.default_stream
    s.sync()
    assert int(s.handle) in (0, 1, 2)
    core.LEGACY_DEFAULT_STREAM.sync()
    core.PER_THREAD_DEFAULT_STREAM.sync()


def test_stream_equality(dev, stream):
    other = dev.create_stream()
    assert stream == core.Stream.from_handle(int(stream.handle)) and stream != other
    assert len({stream, core.Stream.from_handle(int(stream.handle)), other}) == 2
    other.close()


# -- events ---------------------------------------------------------------------------------------

def test_event(dev, stream):
    e = stream.record()
    e.sync()
    assert e.is_done
    assert e.device.device_id == 0
    assert e.context is None or e.context == dev.context
    e.close()


def test_event_time(dev, stream, basic):
    o = event_options(timing=True)
    a = stream.record(options=o)
    launch(stream, LaunchConfig(grid=1, block=1), basic.get_kernel("empty"))
    b = stream.record(options=o)
    b.sync()
    assert 0 <= b - a < 10000


def test_event_time_without_timing(dev, stream):
    a, b = stream.record(), stream.record()
    stream.sync()
    with pytest.raises(RuntimeError):
        b - a


def test_event_recorded_again(dev, stream):
    e = dev.create_event(event_options(timing=True))
    assert stream.record(e) is e
    assert stream.record(e) is e
    e.sync()


def test_event_flags(dev):
    e = dev.create_event(event_options(timing=True, blocking=True))
    if NEW:
        assert e.is_timing_enabled and e.is_blocking_sync
    else:
        assert not e.is_timing_disabled and e.is_sync_busy_waited
    assert not e.is_ipc_enabled


def test_wait(dev, stream):
    other = dev.create_stream()
    b = put(dev, stream, np.zeros(64, np.uint32))
    b.fill(1, stream=stream)
    other.wait(stream.record())
    b.fill(2, stream=other)
    stream.wait(other)
    out = get(b, stream, np.uint8)
    assert (out == 2).all()
    other.close()


def test_events_between_processes(dev, stream):
    if not dev.properties.ipc_event_supported:
        pytest.skip("not supported by the device")
    import pickle
    e = stream.record(options=event_options(ipc=True))
    stream.sync()
    d = descriptor(e)
    assert e.is_ipc_enabled
    assert child("""
        import pickle
        e = core.Event.from_ipc_descriptor(pickle.loads(bytes.fromhex(sys.argv[1])))
        stream.wait(e)
        stream.sync()
        print(e.is_done, e.is_ipc_enabled)
    """, pickle.dumps(d).hex()) == "True True"


# -- contexts and resources, new in 1.x -------------------------------------------------------------

@pytest.mark.skipif(not NEW, reason="came with 1.0")
def test_device_resources(dev):
    assert dev.resources.sm.sm_count == dev.properties.multiprocessor_count
    assert dev.resources.sm.min_partition_size >= 1


@pytest.mark.skipif(not NEW, reason="came with 1.0")
def test_green_context(dev):
    groups, rest = dev.resources.sm.split(core.SMResourceOptions(count=8))
    assert groups[0].sm_count >= 8
    ctx = dev.create_context(core.ContextOptions(resources=[groups[0]]))
    assert ctx.is_green
    s = ctx.create_stream()
    s.sync()
    assert ctx.resources.sm.sm_count == groups[0].sm_count
    s.close()
    ctx.close()
    assert ctx.is_closed
