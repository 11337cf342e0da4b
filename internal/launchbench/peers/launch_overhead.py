"""Launches kernels that do nothing through cuda.core, the loop that the C and the Go program have too.

    python3 launch_overhead.py launch.ptx

Output: see launchbench.go.
"""

import ctypes
import sys
import time

try:
    from cuda.core import Device, LaunchConfig, ObjectCode, StreamOptions, launch
except ImportError:
    try:
        from cuda.core.experimental import Device, LaunchConfig, ObjectCode, StreamOptions, launch
    except ImportError as e:
        print("cuda.core is not there:", e, file=sys.stderr)
        sys.exit(3)

BATCH, BATCHES, SUSTAINED = 200, 200, 50000


def measure(name, kernel, stream, args):
    config = LaunchConfig(grid=1, block=1)
    now = time.perf_counter_ns
    times = []
    for _ in range(BATCHES):
        stream.sync()
        begin = now()
        for _ in range(BATCH):
            launch(stream, config, kernel, *args)
        times.append((now() - begin) / BATCH)
    stream.sync()
    begin = now()
    for _ in range(SUSTAINED):
        launch(stream, config, kernel, *args)
    stream.sync()
    sustained = (now() - begin) / SUSTAINED
    times.sort()
    print(f"cuda.core\tlaunch\t{name}\t{times[0]:.0f}\t{times[BATCHES // 2]:.0f}\t{sustained:.0f}")


def main():
    with open(sys.argv[1], "rb") as f:
        ptx = f.read()
    device = Device(0)
    device.set_current()
    stream = device.create_stream(options=StreamOptions(nonblocking=True))
    module = ObjectCode.from_ptx(ptx)
    empty, four = module.get_kernel("empty"), module.get_kernel("four")
    x, y = device.allocate(4096, stream=stream), device.allocate(4096, stream=stream)
    stream.sync()
    measure("empty", empty, stream, ())
    measure("four", four, stream, (x, y, ctypes.c_float(2), ctypes.c_int(1024)))


main()
