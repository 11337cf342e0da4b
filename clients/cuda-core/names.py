"""What the tests share: host views of memory, and the names that changed between releases 0.7 and 1.2."""
import ctypes, os, pathlib, subprocess, sys, textwrap

import cuda.core as core
import numpy as np
from cuda.core import Buffer, Device, EventOptions, LaunchConfig, LegacyPinnedMemoryResource, Linker, LinkerOptions, ObjectCode, Program, ProgramOptions, StreamOptions, launch
from cuda.core import graph as graphs

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
RELEASE = tuple(int(x) for x in core.__version__.split(".")[:2])
NEW = RELEASE[0] >= 1
Graph = graphs.GraphDefinition if NEW else graphs.GraphDef


def renamed(old, new):
    """A method that has another name in 1.2."""
    return lambda obj, *args, **kw: getattr(obj, new if NEW else old)(*args, **kw)


node_alloc = renamed("alloc", "allocate")
node_free = renamed("free", "deallocate")
node_record = renamed("record_event", "record")
node_wait = renamed("wait_event", "wait")
node_if = renamed("if_cond", "if_then")
builder_if = renamed("if_cond", "if_then")
builder_condition = renamed("create_conditional_handle", "create_condition")
builder_child = renamed("add_child", "embed")


def condition_value(c):
    """The handle that a kernel gets."""
    return int(getattr(c, "handle", c)) if NEW or hasattr(c, "handle") else int(c)


def event_options(timing=False, blocking=False, ipc=False):
    if NEW:
        return EventOptions(timing_enabled=timing, blocking_sync=blocking, ipc_enabled=ipc)
    return EventOptions(enable_timing=timing, busy_waited_sync=blocking, ipc_enabled=ipc)


def cooperative(**kw):
    return LaunchConfig(**{"is_cooperative" if NEW else "cooperative_launch": True}, **kw)


def descriptor(x):
    """The IPC descriptor of an event or buffer."""
    return x.ipc_descriptor if NEW else x.get_ipc_descriptor()


def view(buf, dtype=np.uint8):
    """Memory that the host can touch, as an array."""
    n = buf.size // np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_char * (n * np.dtype(dtype).itemsize)).from_address(int(buf.handle)), dtype)


pinned = LegacyPinnedMemoryResource()


def put(dev, stream, array):
    """Device memory with an array's contents."""
    array = np.ascontiguousarray(array)
    h = pinned.allocate(array.nbytes, stream=stream)
    view(h, array.dtype)[:] = array.ravel()
    d = dev.allocate(array.nbytes, stream=stream)
    d.copy_from(h, stream=stream)
    stream.sync()
    h.close(stream)
    return d


def get(buf, stream, dtype=np.uint8):
    h = pinned.allocate(buf.size, stream=stream)
    buf.copy_to(h, stream=stream)
    stream.sync()
    out = view(h, dtype).copy()
    h.close(stream)
    return out


def child(source, *args, timeout=120, **popen):
    """Runs Python source in a process of its own, with everything here imported and device 0 current; what it prints, stripped."""
    head = f"import sys\nsys.path.insert(0, {str(here)!r})\nfrom names import *\nimport kernels\ndev = Device(0)\ndev.set_current()\nstream = dev.create_stream()\n"
    p = subprocess.run([sys.executable, "-c", head + textwrap.dedent(source), *map(str, args)], capture_output=True, text=True, timeout=timeout, **popen)
    assert p.returncode == 0, (p.stderr.strip().splitlines() or [f"status {p.returncode}"])[-1]
    return p.stdout.strip()
