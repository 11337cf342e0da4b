import pytest
from cuda.core import Device, ObjectCode, Program, ProgramOptions

import kernels


@pytest.fixture
def dev():
    d = Device(0)
    d.set_current()
    return d


@pytest.fixture
def stream(dev):
    s = dev.create_stream()
    yield s
    s.sync()
    s.close()


@pytest.fixture
def basic(dev):
    return ObjectCode.from_ptx(kernels.BASIC.encode(), name="basic")


@pytest.fixture
def compiled(dev):
    """A function that compiles CUDA C++ to PTX."""

    def compile(source, names=(), **options):
        try:
            p = Program(source, "c++", ProgramOptions(std="c++17", arch=f"sm_{dev.arch}", **options))
        except Exception as e:
            if "nvrtc" in str(e).lower() and ("not found" in str(e).lower() or "load" in str(e).lower()):
                pytest.skip("there is no NVRTC")
            raise
        return p.compile("ptx", name_expressions=names)

    return compile
