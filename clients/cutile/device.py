"""Arrays in device memory, for cuTile Python: the driver API through ctypes, and __cuda_array_interface__."""
import ctypes

import numpy as np

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *args):
    r = getattr(cuda, name)(*args)
    if r:
        s = ctypes.c_char_p()
        cuda.cuGetErrorName(r, ctypes.byref(s))
        raise RuntimeError(f"{name}: {s.value.decode() if s.value else r}")


call("cuInit", 0)
device, context = ctypes.c_int(), ctypes.c_void_p()
call("cuDeviceGet", ctypes.byref(device), 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
call("cuCtxSetCurrent", context)


class Array:
    """A copy of a NumPy array on the device."""

    def __init__(self, a):
        self.host = np.ascontiguousarray(a)
        self.pointer = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(self.pointer), ctypes.c_size_t(max(self.host.nbytes, 1)))
        call("cuMemcpyHtoD_v2", self.pointer, self.at(self.host), ctypes.c_size_t(self.host.nbytes))
        self.__cuda_array_interface__ = {
            "shape": self.host.shape, "typestr": self.host.dtype.str, "data": (self.pointer.value, False), "version": 3,
            "strides": None,
        }

    @staticmethod
    def at(a):
        return a.ctypes.data_as(ctypes.c_void_p)

    def get(self):
        out = np.empty_like(self.host)
        call("cuMemcpyDtoH_v2", self.at(out), self.pointer, ctypes.c_size_t(out.nbytes))
        return out

    def __del__(self):
        cuda.cuMemFree_v2(self.pointer)


def synchronize():
    call("cuCtxSynchronize")
