"""Initialisation, devices, versions, errors' names, entry points."""
import ctypes, uuid

import pytest

from driver_calls import *

A = drv.CUdevice_attribute


def test_init_again(dev):
    assert code(drv.cuInit(0)) == "CUDA_SUCCESS"


def test_init_flags_must_be_zero():
    assert code(drv.cuInit(1)) == "INVALID_VALUE"


def test_before_init():
    out = subprocess.run([sys.executable, "-c", "from cuda.bindings import driver as d; print(d.cuDeviceGetCount()[0].name, d.cuCtxGetCurrent()[0].name, d.cuMemAlloc(4)[0].name)"],
                         capture_output=True, text=True).stdout.split()
    assert out == ["CUDA_ERROR_NOT_INITIALIZED"] * 3


def test_driver_version():
    v = ok(drv.cuDriverGetVersion())
    assert v >= 12000 and v % 10 == 0 and v % 1000 < 500


def test_device_count(dev):
    assert ok(drv.cuDeviceGetCount()) >= 1


@pytest.mark.parametrize("ordinal", [-1, 4096])
def test_device_ordinal_out_of_range(dev, ordinal):
    assert code(drv.cuDeviceGet(ordinal)) == "INVALID_DEVICE"


def test_device_name(dev):
    name = ok(drv.cuDeviceGetName(128, dev)).split(b"\0")[0]
    assert 3 < len(name) < 127 and name.decode().isprintable()


def test_device_name_is_cut(dev):
    name = ok(drv.cuDeviceGetName(128, dev)).split(b"\0")[0]
    short = ok(drv.cuDeviceGetName(6, dev)).split(b"\0")[0]
    assert short == name[:5]


def test_device_uuid(dev):
    u = ok(drv.cuDeviceGetUuid(dev)).bytes
    assert len(u) == 16 and any(u)
    assert ok(drv.cuDeviceGetUuid(dev)).bytes == u


def test_device_total_memory(dev):
    assert ok(drv.cuDeviceTotalMem(dev)) > 1 << 28


def test_compute_capability(dev):
    major, minor = attribute(dev, "COMPUTE_CAPABILITY_MAJOR"), attribute(dev, "COMPUTE_CAPABILITY_MINOR")
    assert ok(drv.cuDeviceComputeCapability(dev)) == (major, minor)
    assert major >= 5


@pytest.mark.parametrize("name,low,high", [
    ("MAX_THREADS_PER_BLOCK", 1024, 1024), ("MAX_BLOCK_DIM_X", 1024, 1024), ("MAX_BLOCK_DIM_Y", 1024, 1024), ("MAX_BLOCK_DIM_Z", 64, 64),
    ("MAX_GRID_DIM_X", 2**31 - 1, 2**31 - 1), ("MAX_GRID_DIM_Y", 65535, 65535), ("MAX_GRID_DIM_Z", 65535, 65535), ("WARP_SIZE", 32, 32),
    ("MAX_SHARED_MEMORY_PER_BLOCK", 49152, 49152), ("TOTAL_CONSTANT_MEMORY", 65536, 65536), ("MULTIPROCESSOR_COUNT", 1, 1024), ("CLOCK_RATE", 1, 10**8), ("TEXTURE_ALIGNMENT", 512, 512),
    ("MAX_REGISTERS_PER_BLOCK", 32768, 65536), ("UNIFIED_ADDRESSING", 1, 1), ("CONCURRENT_KERNELS", 1, 1), ("MAX_THREADS_PER_MULTIPROCESSOR", 1024, 2048), ("MEMORY_POOLS_SUPPORTED", 1, 1),
    ("VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED", 1, 1), ("COOPERATIVE_LAUNCH", 1, 1), ("MANAGED_MEMORY", 1, 1), ("ASYNC_ENGINE_COUNT", 1, 16), ("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", 49152, 1 << 18),
    ("MAXIMUM_TEXTURE2D_WIDTH", 65536, 131072), ("STREAM_PRIORITIES_SUPPORTED", 1, 1), ("CAN_MAP_HOST_MEMORY", 1, 1)])
def test_device_attribute(dev, name, low, high):
    assert low <= attribute(dev, name) <= high


def test_device_properties_agree(dev):
    p = ok(drv.cuDeviceGetProperties(dev))
    assert p.maxThreadsPerBlock == attribute(dev, "MAX_THREADS_PER_BLOCK")
    assert list(p.maxThreadsDim) == [1024, 1024, 64] and p.SIMDWidth == 32
    assert p.sharedMemPerBlock == attribute(dev, "MAX_SHARED_MEMORY_PER_BLOCK") and p.regsPerBlock == attribute(dev, "MAX_REGISTERS_PER_BLOCK")


def test_device_pci_bus_id(dev):
    text = ok(drv.cuDeviceGetPCIBusId(32, dev)).split(b"\0")[0]
    domain, bus, rest = text.decode().split(":")
    assert int(bus, 16) == attribute(dev, "PCI_BUS_ID") and int(rest.split(".")[0], 16) == attribute(dev, "PCI_DEVICE_ID") and int(domain, 16) == attribute(dev, "PCI_DOMAIN_ID")
    assert int(ok(drv.cuDeviceGetByPCIBusId(text))) == int(dev)


def test_device_bad_pci_bus_id(dev):
    assert code(drv.cuDeviceGetByPCIBusId(b"nonsense")) == "INVALID_VALUE"


def test_texture_1d_linear_width(dev):
    w = [ok(drv.cuDeviceGetTexture1DLinearMaxWidth(drv.CUarray_format.CU_AD_FORMAT_FLOAT, n, dev)) for n in (1, 2, 4)]
    assert w[0] >= w[1] >= w[2] > 1 << 20


def test_exec_affinity_support(dev):
    assert ok(drv.cuDeviceGetExecAffinitySupport(drv.CUexecAffinityType.CU_EXEC_AFFINITY_TYPE_SM_COUNT, dev)) in (0, 1)


def test_peer_with_itself(dev):
    assert ok(drv.cuDeviceCanAccessPeer(dev, dev)) == 0
    assert code(drv.cuDeviceGetP2PAttribute(drv.CUdevice_P2PAttribute.CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, dev, dev)) == "INVALID_DEVICE"


@pytest.mark.parametrize("name", ["CUDA_SUCCESS", "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_NOT_INITIALIZED", "CUDA_ERROR_INVALID_CONTEXT", "CUDA_ERROR_NOT_READY",
                                  "CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "CUDA_ERROR_INVALID_PTX", "CUDA_ERROR_NOT_SUPPORTED", "CUDA_ERROR_UNKNOWN"])
def test_error_name(name):
    assert ok(drv.cuGetErrorName(getattr(drv.CUresult, name))).decode() == name


@pytest.mark.parametrize("name,text", [("CUDA_SUCCESS", "no error"), ("CUDA_ERROR_INVALID_VALUE", "invalid argument"), ("CUDA_ERROR_OUT_OF_MEMORY", "out of memory"),
                                       ("CUDA_ERROR_NOT_INITIALIZED", "initialization error"), ("CUDA_ERROR_INVALID_CONTEXT", "invalid device context"), ("CUDA_ERROR_NOT_FOUND", "named symbol not found")])
def test_error_string(name, text):
    assert ok(drv.cuGetErrorString(getattr(drv.CUresult, name))).decode() == text


def test_every_error_has_a_name_and_a_text():
    for e in drv.CUresult:
        got = drv.cuGetErrorName(e)
        if got[0] == drv.CUresult.CUDA_ERROR_INVALID_VALUE:  # newer than the driver
            continue
        assert ok(got).decode() == e.name
        assert len(ok(drv.cuGetErrorString(e))) > 2


def test_proc_address(dev):
    p, status = ok(drv.cuGetProcAddress(b"cuDeviceGetCount", 12000, 0))
    assert p and status == drv.CUdriverProcAddressQueryResult.CU_GET_PROC_ADDRESS_SUCCESS
    n = ctypes.c_int(-1)
    assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int))(p)(ctypes.byref(n)) == 0
    assert n.value == ok(drv.cuDeviceGetCount())


def test_proc_address_by_version(dev):
    old = ok(drv.cuGetProcAddress(b"cuMemAlloc", 2000, 0))[0]
    new = ok(drv.cuGetProcAddress(b"cuMemAlloc", 3020, 0))[0]
    assert old and new and old != new  # cuMemAlloc and cuMemAlloc_v2


def test_proc_address_too_new_for_the_version(dev):
    r = drv.cuGetProcAddress(b"cuGraphLaunch", 9000, 0)  # came with 10.0
    assert code(r) == "NOT_FOUND" or (not r[1] and r[2] == drv.CUdriverProcAddressQueryResult.CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT)


def test_proc_address_unknown(dev):
    r = drv.cuGetProcAddress(b"cuNoSuchFunction", 12000, 0)
    assert code(r) == "NOT_FOUND" or (not r[1] and r[2] == drv.CUdriverProcAddressQueryResult.CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)


def test_proc_address_per_thread_stream(dev):
    F = drv.CUdriverProcAddress_flags
    legacy = ok(drv.cuGetProcAddress(b"cuStreamSynchronize", 12000, F.CU_GET_PROC_ADDRESS_LEGACY_STREAM))[0]
    thread = ok(drv.cuGetProcAddress(b"cuStreamSynchronize", 12000, F.CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))[0]
    assert legacy and thread and legacy != thread


def test_default_and_current_pool(dev):
    d, c = ok(drv.cuDeviceGetDefaultMemPool(dev)), ok(drv.cuDeviceGetMemPool(dev))
    assert int(d) == int(c) != 0


@pytest.mark.skipif(not NEW, reason="cuDeviceGetHostAtomicCapabilities came with 13.0")
def test_host_atomic_capabilities(dev):
    ops = [drv.CUatomicOperation.CU_ATOMIC_OPERATION_INTEGER_ADD, drv.CUatomicOperation.CU_ATOMIC_OPERATION_CAS]
    caps = ok(drv.cuDeviceGetHostAtomicCapabilities(ops, 2, dev))
    assert len(caps) == 2


def test_profiler_control(ctx):
    ok(drv.cuProfilerStart())
    ok(drv.cuProfilerStop())
