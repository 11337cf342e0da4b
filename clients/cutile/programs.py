"""Runs the kernels of kernels.py, those that must fail in processes of their own, and prints a line for each
(clients/README.md).
"""
import os
import re
import subprocess
import sys
import tempfile
import traceback

import cuda.tile as ct
import numpy as np

from kernels import tests


def run(test, keep):
    from device import Array, synchronize
    kernel, makers, want, grid, rel, tolerance, text, fails = test
    values = [m() if callable(m) else m for m in makers]
    args = [Array(v) if isinstance(v, np.ndarray) else v for v in values]
    keep.extend(args)
    with tempfile.TemporaryFile() as f:  # what the device prints goes to the process's standard output
        sys.stdout.flush()
        saved = os.dup(1)
        os.dup2(f.fileno(), 1)
        try:
            ct.launch(0, grid + (1,) * (3 - len(grid)), kernel, tuple(args))
            synchronize()
        finally:
            os.dup2(saved, 1)
            os.close(saved)
        f.seek(0)
        said = f.read().decode()
    if text is not None and said != text(*values):
        raise AssertionError(f"printed {said!r}, not {text(*values)!r}")
    wanted = want(*values)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    arrays = [a for a in args if isinstance(a, Array)][-len(wanted):]
    for i, (a, w) in enumerate(zip(arrays, wanted)):
        got, w = a.get(), np.asarray(w)
        if rel or tolerance:
            got, w = got.astype(np.float64), w.astype(np.float64)
            np.testing.assert_allclose(got, w, rel, tolerance, err_msg=f"result {i}")
        else:
            np.testing.assert_array_equal(got, w.astype(got.dtype), err_msg=f"result {i}")


def why(error):
    lines = [l.strip() for l in str(error).splitlines() if l.strip()]
    return f"{type(error).__name__}: {' | '.join(lines[:4])}"[:300]


def name(test):
    return test[0]._annotated_function.pyfunc.__name__


def main():
    keep = []  # a context that is lost frees nothing
    chosen = [t for t in tests if not sys.argv[1:] or name(t) in sys.argv[1:]]
    for test in chosen:
        if test[7] and len(chosen) > 1:
            p = subprocess.run([sys.executable, __file__, name(test)], capture_output=True, text=True)
            print(p.stdout if p.returncode == 0 else f"fail\t{name(test)}\tstatus {p.returncode}\n", end="", flush=True)
            continue
        try:
            run(test, keep)
        except Exception as e:
            if test[7] and re.search(test[7], str(e)):
                print(f"pass\t{name(test)}", flush=True)
            else:
                traceback.print_exc()
                print(f"fail\t{name(test)}\t{why(e)}", flush=True)
            continue
        print(f"fail\t{name(test)}\tno {test[7]}" if test[7] else f"pass\t{name(test)}", flush=True)


main()
