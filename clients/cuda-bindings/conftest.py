import pytest
from cuda.bindings import driver as drv

import kernels
from driver_calls import function, module, ok


@pytest.fixture(scope="session")
def dev():
    ok(drv.cuInit(0))
    return ok(drv.cuDeviceGet(0))


@pytest.fixture
def ctx(dev):
    """The primary context of device 0, current."""
    c = ok(drv.cuDevicePrimaryCtxRetain(dev))
    ok(drv.cuCtxSetCurrent(c))
    yield c
    ok(drv.cuCtxSetCurrent(c))
    ok(drv.cuCtxSynchronize())
    ok(drv.cuDevicePrimaryCtxRelease(dev))


@pytest.fixture
def stream(ctx):
    s = ok(drv.cuStreamCreate(drv.CUstream_flags.CU_STREAM_NON_BLOCKING))
    yield s
    if ok(drv.cuStreamIsCapturing(s)) != drv.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE:  # a test failed
        drv.cuStreamEndCapture(s)
    ok(drv.cuStreamSynchronize(s))
    ok(drv.cuStreamDestroy(s))


@pytest.fixture
def basic(ctx):
    """The module of kernels.BASIC."""
    m = module(kernels.BASIC)
    yield m
    ok(drv.cuModuleUnload(m))


@pytest.fixture
def graph(ctx):
    g = ok(drv.cuGraphCreate(0))
    yield g
    ok(drv.cuGraphDestroy(g))
