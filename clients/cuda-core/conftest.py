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


@pytest.fixture(scope="session")
def has_nvrtc():
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
        return True
    except Exception:  # each release has its own for a library that is not found
        return False


@pytest.fixture
def compiler(has_nvrtc):
    """For tests that compile CUDA C++."""
    if not has_nvrtc:
        pytest.skip("there is no NVRTC")


@pytest.fixture
def compiled(dev, compiler):
    """A function that compiles CUDA C++ to PTX."""

    def compile(source, names=(), **options):
        p = Program(source, "c++", ProgramOptions(std="c++17", arch=f"sm_{dev.arch}", **options))
        try:
            return p.compile("ptx", name_expressions=names)
        except Exception as e:
            if "cannot open source file" in str(e):
                pytest.skip("a header of the toolkit is not there")
            raise

    return compile
