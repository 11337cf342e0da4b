"""Runs FFmpeg's CUDA filters and compares their frames, in two ways:

- with the frames that the same program gave on an H200 (recorded/*.xz; driver 580.159.04): equal to the bit;
- with FFmpeg's filter for the CPU, where that computes the same function: within one level of 255.

yadif and the scalers for more than two taps are other functions on the CPU (other tie-breaking, other filter lengths), so their frames have the recording alone. scale_cuda's bilinear filter always takes
two taps, where the CPU's takes more as it makes frames smaller: at half the size it is the CPU's mean over the area. chromakey_cuda reads its textures between the texels and looks at the chroma samples
around one, the CPU's filter at the pixels around one (and at what it had last beyond the edge): the same within frames of one colour.
"""
import lzma, os, pathlib, subprocess, sys, tempfile

here = pathlib.Path(__file__).resolve().parent
ffmpeg = os.environ.get("FFMPEG", "ffmpeg")
A = "testsrc2=size=176x144:rate=5:duration=1"
B = "mandelbrot=size=96x80:rate=5:maxiter=60,format=yuv420p,trim=duration=1"
UP, DOWN = "hwupload,", ",hwdownload,format={}"
FLAT = "color=0x3050f0:size=176x144:rate=5:duration=3,hue=h=7*n"  # each frame of another colour
INNER = ",crop=168:136:4:4"


def scale(algo, w, h, fmt="yuv420p", more=""):
    return f"[0:v]format={fmt},{UP}scale_cuda={w}:{h}:interp_algo={algo}{more}{DOWN.format(fmt)}[out]"


# name: (sources, filters for CUDA, filters for the CPU or None)
CASES = {
    "scale_cuda nearest down": ([A], scale("nearest", 96, 80), "[0:v]format=yuv420p,scale=96:80:flags=neighbor[out]"),
    "scale_cuda nearest up": ([A], scale("nearest", 352, 288), "[0:v]format=yuv420p,scale=352:288:flags=neighbor[out]"),
    "scale_cuda bilinear half": ([A], scale("bilinear", 88, 72), "[0:v]format=yuv420p,scale=88:72:flags=area[out]"),
    "scale_cuda bilinear up": ([A], scale("bilinear", 352, 288), "[0:v]format=yuv420p,scale=352:288:flags=bilinear+accurate_rnd[out]"),
    "scale_cuda bilinear odd": ([A], scale("bilinear", 250, 114), None),
    "scale_cuda bicubic up": ([A], scale("bicubic", 352, 288), None),
    "scale_cuda bicubic down": ([A], scale("bicubic", 96, 80), None),
    "scale_cuda lanczos up": ([A], scale("lanczos", 352, 288), None),
    "scale_cuda nv12": ([A], scale("bilinear", 88, 72, "nv12"), "[0:v]format=nv12,scale=88:72:flags=area[out]"),
    "scale_cuda p010": ([A], scale("bilinear", 352, 288, "p010le"), None),
    "scale_cuda yuv444p": ([A], scale("bilinear", 352, 288, "yuv444p"), "[0:v]format=yuv444p,scale=352:288:flags=bilinear+accurate_rnd[out]"),
    "scale_cuda yuv444p16": ([A], scale("bicubic", 250, 114, "yuv444p16le"), None),
    "scale_cuda to nv12": ([A], f"[0:v]format=yuv420p,{UP}scale_cuda=176:144:format=nv12{DOWN.format('nv12')}[out]", "[0:v]format=yuv420p,format=nv12[out]"),
    "yadif_cuda frames": ([A], f"[0:v]format=yuv420p,{UP}yadif_cuda=mode=0{DOWN.format('yuv420p')}[out]", None),
    "yadif_cuda fields": ([A], f"[0:v]format=yuv420p,{UP}yadif_cuda=mode=1:parity=1{DOWN.format('yuv420p')}[out]", None),
    "yadif_cuda nv12": ([A], f"[0:v]format=nv12,{UP}yadif_cuda=mode=0:parity=0{DOWN.format('nv12')}[out]", None),
    "yadif_cuda yuv444p": ([A], f"[0:v]format=yuv444p,{UP}yadif_cuda=mode=2{DOWN.format('yuv444p')}[out]", None),
    "overlay_cuda": ([A, B], f"[0:v]format=yuv420p,{UP[:-1]}[a];[1:v]{UP[:-1]}[b];[a][b]overlay_cuda=x=16:y=32{DOWN.format('yuv420p')}[out]",
                     "[0:v]format=yuv420p[a];[a][1:v]overlay=x=16:y=32[out]"),
    "overlay_cuda alpha": ([A, B], f"[0:v]format=yuv420p,{UP[:-1]}[a];[1:v]format=yuva420p,geq=lum='lum(X,Y)':cb='cb(X,Y)':cr='cr(X,Y)':a='2*X',{UP[:-1]}[b];[a][b]overlay_cuda=x=8:y=8"
                           f"{DOWN.format('yuv420p')}[out]", None),
    "chromakey_cuda": ([A], f"[0:v]format=yuv420p,{UP}chromakey_cuda=0x0000ff:0.3:0.1{DOWN.format('yuva420p')}[out]", "[0:v]format=yuva420p,chromakey=0x0000ff:0.3:0.1[out]"),
    "chromakey_cuda nv12": ([A], f"[0:v]format=nv12,{UP}chromakey_cuda=green:0.2:0{DOWN.format('yuva420p')}[out]", None),
    "chromakey_cuda flat": ([FLAT], f"[0:v]format=yuv420p,{UP}chromakey_cuda=0x0000ff:0.1:0.3{DOWN.format('yuva420p')}{INNER}[out]",
                            f"[0:v]format=yuva420p,chromakey=0x0000ff:0.1:0.3{INNER}[out]"),
    "chromakey_cuda flat nv12": ([FLAT], f"[0:v]format=nv12,{UP}chromakey_cuda=0x0000ff:0.1:0.3{DOWN.format('yuva420p')}{INNER}[out]",
                                 f"[0:v]format=yuva420p,chromakey=0x0000ff:0.1:0.3{INNER}[out]"),
    "thumbnail_cuda": ([A], f"[0:v]format=yuv420p,{UP}thumbnail_cuda=4{DOWN.format('yuv420p')}[out]", "[0:v]format=yuv420p,thumbnail=4[out]"),
}


def say(kind, name, why=""):
    print("\t".join(x for x in (kind, name, " ".join(why.split())[:300]) if x), flush=True)


def frames(sources, graph, cuda):
    env = dict(os.environ)
    cmd = ffmpeg.split() + ["-hide_banner", "-loglevel", "error", "-nostdin", "-y", "-bitexact"]
    if cuda:
        cmd += ["-init_hw_device", "cuda=gpu:0", "-filter_hw_device", "gpu"]
        if env.get("CLIENT_LIBDIR"):
            env["LD_LIBRARY_PATH"] = env["CLIENT_LIBDIR"]
    for s in sources:
        cmd += ["-f", "lavfi", "-i", s]
    with tempfile.TemporaryDirectory() as d:
        out = os.path.join(d, "out.raw")
        p = subprocess.run(cmd + ["-sws_flags", "bitexact+accurate_rnd", "-filter_complex", graph, "-map", "[out]", "-f", "rawvideo", out], env=env, capture_output=True, text=True, errors="replace", timeout=300)
        if p.returncode:
            lines = [l for l in p.stderr.splitlines() if "->" in l] or p.stderr.splitlines() or [f"status {p.returncode}"]
            raise RuntimeError(lines[0])
        return pathlib.Path(out).read_bytes()


def difference(a, b):
    """What to say, and by how much bytes differ at most."""
    if len(a) != len(b):
        return f"{len(a)} bytes, not {len(b)}", 255
    far = [abs(x - y) for x, y in zip(a, b)]
    most = max(far, default=0)
    return ("" if most == 0 else f"{sum(x != 0 for x in far)} of {len(a)} bytes differ, by up to {most}"), most


def main():
    record = os.environ.get("CLIENT_RECORD")  # folder to write the frames to
    have = subprocess.run(ffmpeg.split() + ["-hide_banner", "-filters"], capture_output=True, text=True).stdout
    for name, (sources, graph, cpu) in CASES.items():
        if f" {name.split()[0]} " not in have:
            say("skip", name, "this FFmpeg does not have the filter")
            continue
        try:
            got = frames(sources, graph, True)
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            say("fail", name, str(e))
            continue
        file = name.replace(" ", "-") + ".xz"
        if record:
            (pathlib.Path(record) / file).write_bytes(lzma.compress(got, preset=9))
        known = here / "recorded" / file
        if known.exists():
            d = difference(got, lzma.decompress(known.read_bytes()))
            say("fail" if d[0] else "pass", name + ": as recorded", d[0])
        elif not cpu:
            say("skip", name + ": as recorded", "there is no recording")
        if cpu:
            want = frames(sources, cpu, False)
            d = difference(got, want)
            say("pass" if d[1] <= 1 else "fail", name + ": as on the CPU", "" if d[1] <= 1 else d[0])


if __name__ == "__main__":
    main()
