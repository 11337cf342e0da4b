"""What the tests share: results checked, the few functions whose Python signatures differ between releases 12.9 and 13.0, and calls in processes of their own."""
import ctypes, os, pathlib, subprocess, sys, textwrap

import numpy as np
from cuda import bindings
from cuda.bindings import driver as drv

RELEASE = tuple(int(x) for x in bindings.__version__.split(".")[:2])
NEW = RELEASE[0] >= 13
here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent


def ok(result):
    """The values of a call that must succeed: none, one or a tuple."""
    assert result[0] == drv.CUresult.CUDA_SUCCESS, result[0].name
    rest = result[1:]
    return None if not rest else rest[0] if len(rest) == 1 else rest


def code(result):
    return result[0].name.removeprefix("CUDA_ERROR_")


def attribute(dev, name):
    return ok(drv.cuDeviceGetAttribute(getattr(drv.CUdevice_attribute, "CU_DEVICE_ATTRIBUTE_" + name), dev))


def needs(pytest, dev, name):
    """Skips where the device lacks a feature."""
    if not attribute(dev, name):
        pytest.skip(f"the device says {name} 0")


# -- the signatures that changed ------------------------------------------------------------------

def ctx_create(flags, dev):
    return ok(drv.cuCtxCreate(None, flags, dev)) if NEW else ok(drv.cuCtxCreate(flags, dev))


def location(kind, ident=0):
    loc = drv.CUmemLocation()
    loc.type = getattr(drv.CUmemLocationType, "CU_MEM_LOCATION_TYPE_" + kind)
    loc.id = ident
    return loc


def prefetch(ptr, size, loc, stream):
    f = drv.cuMemPrefetchAsync if NEW else drv.cuMemPrefetchAsync_v2
    return f(ptr, size, loc, 0, stream)


def advise(ptr, size, advice, loc):
    f = drv.cuMemAdvise if NEW else drv.cuMemAdvise_v2
    return f(ptr, size, getattr(drv.CUmem_advise, "CU_MEM_ADVISE_" + advice), loc)


def add_dependencies(graph, a, b):
    if NEW:
        return ok(drv.cuGraphAddDependencies(graph, a, b, None, len(a)))
    return ok(drv.cuGraphAddDependencies(graph, a, b, len(a)))


def remove_dependencies(graph, a, b):
    if NEW:
        return ok(drv.cuGraphRemoveDependencies(graph, a, b, None, len(a)))
    return ok(drv.cuGraphRemoveDependencies(graph, a, b, len(a)))


def edges(graph):
    n = ok(drv.cuGraphGetEdges(graph))[-1]
    if not n:
        return []
    got = ok(drv.cuGraphGetEdges(graph, n))
    return [(int(a), int(b)) for a, b in zip(got[0], got[1])]


def nodes(graph):
    n = ok(drv.cuGraphGetNodes(graph))[-1]
    return ok(drv.cuGraphGetNodes(graph, n))[0] if n else []


def dependencies(node):
    n = ok(drv.cuGraphNodeGetDependencies(node))[-1]
    return [int(x) for x in ok(drv.cuGraphNodeGetDependencies(node, n))[0]] if n else []


def dependents(node):
    n = ok(drv.cuGraphNodeGetDependentNodes(node))[-1]
    return [int(x) for x in ok(drv.cuGraphNodeGetDependentNodes(node, n))[0]] if n else []


def add_node(graph, deps, params):
    if NEW:
        return drv.cuGraphAddNode(graph, deps, None, len(deps), params)
    return drv.cuGraphAddNode(graph, deps, len(deps), params)


def capture_info(stream):
    """(status, id, graph, dependencies)"""
    f = drv.cuStreamGetCaptureInfo
    r = ok(f(stream))
    return r[0], int(r[1]), r[2], r[3]


# -- memory ---------------------------------------------------------------------------------------

def alloc(size):
    return ok(drv.cuMemAlloc(size))


def put(array):
    """Device memory with an array's contents."""
    array = np.ascontiguousarray(array)
    p = alloc(array.nbytes)
    ok(drv.cuMemcpyHtoD(p, array.ctypes.data, array.nbytes))
    return p


def get(p, count, dtype):
    out = np.empty(count, dtype)
    ok(drv.cuMemcpyDtoH(out.ctypes.data, p, out.nbytes))
    return out


def host(ptr, count, dtype):
    """Host memory at an address, as an array."""
    dtype = np.dtype(dtype)
    return np.frombuffer((ctypes.c_char * (count * dtype.itemsize)).from_address(int(ptr)), dtype)


def raw(x, size=64):
    """The bytes of a handle for other processes, whose field has another name in 13.5."""
    return ctypes.string_at(x.getPtr(), size)


def from_raw(x, data):
    ctypes.memmove(x.getPtr(), data, len(data))
    return x


# -- kernels --------------------------------------------------------------------------------------

def module(text):
    return ok(drv.cuModuleLoadData(text.encode()))


def function(mod, name):
    return ok(drv.cuModuleGetFunction(mod, name.encode()))


def launch(f, grid, block, values, types, stream=0, shared=0):
    g, b = [tuple(x) + (1,) * (3 - len(x)) for x in (grid, block)]
    return ok(drv.cuLaunchKernel(f, *g, *b, shared, stream, parameters(values, types), 0))


def parameters(values, types):
    """Kernel parameters as the bindings want them; with type None, a number is an address."""
    return tuple(drv.CUdeviceptr(v) if t is None and isinstance(v, int) else v for v, t in zip(values, types)), tuple(types)


def config(grid, block, stream=0, shared=0, attributes=()):
    c = drv.CUlaunchConfig()
    g, b = [tuple(x) + (1,) * (3 - len(x)) for x in (grid, block)]
    c.gridDimX, c.gridDimY, c.gridDimZ = g
    c.blockDimX, c.blockDimY, c.blockDimZ = b
    c.sharedMemBytes = shared
    c.hStream = drv.CUstream(int(stream))
    if attributes:
        c.attrs = list(attributes)
        c.numAttrs = len(attributes)
    return c


def launch_attribute(name, **values):
    a = drv.CUlaunchAttribute()
    a.id = getattr(drv.CUlaunchAttributeID, "CU_LAUNCH_ATTRIBUTE_" + name)
    for key, v in values.items():
        target, *path = [a.value] + key.split("__")
        while len(path) > 1:
            target = getattr(target, path.pop(0))
        setattr(target, path[0], v)
    return a


# -- processes ------------------------------------------------------------------------------------

def child(source, *args, timeout=120, **popen):
    """Runs Python source in a process of its own, with everything here imported and device 0's primary context current; what it prints, stripped."""
    head = """
        import sys
        sys.path.insert(0, %r)
        from driver_calls import *
        import kernels
        ok(drv.cuInit(0))
        dev = ok(drv.cuDeviceGet(0))
        ctx = ok(drv.cuDevicePrimaryCtxRetain(dev))
        ok(drv.cuCtxSetCurrent(ctx))
    """ % str(here)
    p = subprocess.run([sys.executable, "-c", textwrap.dedent(head) + textwrap.dedent(source), *map(str, args)], capture_output=True, text=True, timeout=timeout, **popen)
    assert p.returncode == 0, (p.stderr.strip().splitlines() or [f"status {p.returncode}"])[-1]
    return p.stdout.strip()
