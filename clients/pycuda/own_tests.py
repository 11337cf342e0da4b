"""A pytest plugin for PyCUDA's own tests."""
import pycuda.driver as drv
import pytest

# The tests of texture references skip themselves on a driver of CUDA 12 and later, because its compiler has no texture references. The compiler here is that of 11.8.
drv.get_driver_version = lambda: 11080

LARGE = {"test_curand_wrappers_8gb": 9, "test_curand_wrappers_16gb": 17, "test_big_array_elementwise": 4.5, "test_big_array_reduction": 4.5, "test_big_array_scan": 4.5}


def pytest_collection_modifyitems(items):
    for i in items:
        if i.originalname in LARGE:  # they ask the device, which is as large as the H200's
            i.add_marker(pytest.mark.skip(reason=f"needs {LARGE[i.originalname]} GB of the host's memory and minutes"))
