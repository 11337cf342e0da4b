"""Makes and records the cases of wgmma with a sparse A on an H200: record.py SILICON OUT, where SILICON is the full silicon set, whose inputs it takes. Needs cuda.bindings.

With OUT of "-" it only writes the text of the kernels to standard output.
"""
import ctypes, gzip, json, sys

src = json.load(open(sys.argv[1] + "/index.json"))
pool = gzip.open(sys.argv[1] + "/inputs.bin.gz").read()
arrays = {i["name"]: i for i in src["inputs"]}

HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"
# name: k, metadata, input arrays of A and of both in shared memory, selectors
FLOATS = [("f16", "f16", 32, "meta.24", (0, 1)), ("bf16", "bf16", 32, "meta.24", (0, 1)), ("tf32", "tf32", 16, "meta.12", (0, 1)),
          ("e4m3", "e4m3", 64, "meta.24", (0,)), ("e4m3", "e5m2", 64, "meta.24", (0,)), ("e5m2", "e4m3", 64, "meta.24", (0,)), ("e5m2", "e5m2", 64, "meta.24", (0,))]
INTS = [("s8", "s8"), ("s8", "u8"), ("u8", "s8"), ("u8", "u8")]


def kernel(name, n, words, d, areg, sel, tail, da, db, scale=1):
    regs = n // 2 if d != "f16" else n // 4
    t = "f32" if d == "f32" else "b32"
    b = ".visible .entry %s(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 p4)\n{\n" % name
    b += "\t.reg .b32 %%i, %%t<3>, %%a<4>, %%e;\n\t.reg .%s %%c<%d>;\n\t.reg .b64 %%x<5>, %%m;\n" % (t, regs)
    b += "\t.shared .align 1024 .b8 sm[16384]; .reg .b32 %s<4>; .reg .b64 %q<4>; .reg .pred %p<1>; .reg .b32 %v<4>; .reg .b64 %da, %db;\n"
    b += "\tmov.u32 %t0, %ctaid.x;\n\tmov.u32 %t1, %ntid.x;\n\tmov.u32 %t2, %tid.x;\n\tmad.lo.u32 %i, %t0, %t1, %t2;\n\tld.param.u64 %m, [p0];\n"
    b += "\tld.param.u64 %x1, [p1];\n\tmad.wide.u32 %x1, %i, 16, %x1;\n\tld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%x1];\n"
    b += "\tld.param.u64 %%x2, [p2];\n\tmad.wide.u32 %%x2, %%i, %d, %%x2;\n" % (4 * regs)
    b += "".join("\tld.global.%s %%c%d, [%%x2+%d];\n" % (t, i, 4 * i) for i in range(regs))
    b += "\tld.param.u64 %x3, [p3];\n\tmad.wide.u32 %x3, %i, 4, %x3;\n\tld.global.b32 %e, [%x3];\n"
    b += "\tmov.u32 %s0, sm;\n\tmad.wide.u32 %q0, %t0, 16384, %m;\n\tmul.wide.u32 %q1, %t2, 16;\n\tadd.u64 %q0, %q0, %q1;\n\tmad.lo.u32 %s3, %t2, 16, %s0;\n"
    for off in range(0, 16384, 2048):
        b += "\tld.global.v4.b32 {%%v0, %%v1, %%v2, %%v3}, [%%q0+%d];\n\tst.shared.v4.b32 [%%s3+%d], {%%v0, %%v1, %%v2, %%v3};\n" % (off, off)
    b += "\tfence.proxy.async;\n\tbar.sync 0;\n\tcvt.u64.u32 %q2, %s0;\n\tshr.u64 %q2, %q2, 4;\n\tand.b64 %q2, %q2, 0x3fff;\n"
    b += "\tor.b64 %%da, %%q2, %#x;\n\tadd.u64 %%q2, %%q2, 512;\n\tor.b64 %%db, %%q2, %#x;\n\tsetp.ne.b32 %%p0, %d, 0;\n" % (da, db, scale)
    inst = "wgmma.mma_async.sp.sync.aligned.%s {%s}, %s, %%db, %%e, %d, %%p0%s;" % (
        words, ", ".join("%%c%d" % i for i in range(regs)), "{%a0, %a1, %a2, %a3}" if areg else "%da", sel, tail)
    b += "\twgmma.fence.sync.aligned;\n\t" + inst + "\n\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n"
    b += "\tld.param.u64 %%x4, [p4];\n\tmad.wide.u32 %%x4, %%i, %d, %%x4;\n" % (4 * regs)
    b += "".join("\tst.global.%s [%%x4+%d], %%c%d;\n" % (t, 4 * i, i) for i in range(regs))
    return b + "\tret;\n}\n", inst, regs


cases = []


def add(d, a, b, k, n, meta, areg, sel, scaled=(1, 1), trans=None, swizzle=0, scale=1, sat=""):
    words = "m64n%dk%d.%s.%s.%s%s" % (n, k, d, a, b, sat)
    da, db, kinds = 0x1000080000, 0x2000080000, ["areg" if areg else "adesc"]
    tail = ", %d, %d" % scaled if a[0] in "fbte" else ""
    if sel:
        kinds.append("selector%d" % sel)
    if scaled != (1, 1):
        kinds.append("scale%d,%d" % scaled)
    if trans is not None:
        tail += ", %d, %d" % trans if not areg else ", %d" % trans[1]
        if trans != (0, 0):
            kinds.append("trans%d%d" % trans)
            if trans[0]:
                da = 0x800400000
            if trans[1]:
                db = 0x800100000
    if swizzle:
        kinds.append("swizzle%d" % swizzle)
        da = db = {128: 0x4000004000010000, 64: 0x8000002000010000, 32: 0xC000001000010000}[swizzle]
    if not scale:
        kinds.append("scale-d 0")
    i = "wgmma.mma_async.sp.sync.aligned." + words + "/" + ",".join(kinds)
    name = "k%d" % len(cases)
    text, inst, regs = kernel(name, n, words, d, areg, sel, tail, da, db, scale)
    wide = {"u8": "s8"}.get(a, a)
    c = "mma.%s.c.%d" % (d, regs)
    cases.append(dict(id=i, group="wgmma_sp", kernel=name, ptx=inst, kind="exact" if d == "s32" else "approx", n=512, grid=[4, 1, 1], block=[128, 1, 1], sm="sm_90a",
                      operands=[dict(array="wg." + wide, pointer=True), dict(array="mma.%s.a.4" % wide, type="b32", per_thread=4),
                                dict(array=c, type="f32" if d == "f32" else "b32", per_thread=regs), dict(array=meta, type="b32")],
                      text=text, size=512 * 4 * regs, per=regs, d=d))


for a, b, k, meta, sels in FLOATS:
    wide = a in ("f16", "bf16")
    for d in ("f32", "f16"):
        if d == "f16" and a in ("bf16", "tf32"):
            continue
        for areg in (False, True):
            for sel in sels:
                add(d, a, b, k, 16 if d == "f16" else 8, meta, areg, sel, trans=(0, 0) if wide else None)
    add("f32", a, b, k, 64, meta, False, sels[-1], trans=(0, 0) if wide else None)
    add("f32", a, b, k, 24, meta, False, 0, trans=(0, 0) if wide else None, scaled=(1, -1))
    add("f32", a, b, k, 16, meta, True, 0, trans=(0, 0) if wide else None, scaled=(-1, 1), scale=0)
    for s in (32, 64, 128):
        add("f32", a, b, k, 16, meta, False, 0, trans=(0, 0) if wide else None, swizzle=s)
    if wide:
        for trans in ((0, 1), (1, 0), (1, 1)):
            add("f32", a, b, k, 16, meta, False, 1, trans=trans)
        add("f32", a, b, k, 16, meta, True, 1, trans=(0, 1))
for a, b in INTS:
    for sat in ("", ".satfinite"):
        for areg in (False, True):
            add("s32", a, b, 64, 16 if areg else 8, "meta.24", areg, 0, sat=sat)
add("s32", "s8", "u8", 64, 32, "meta.24", False, 0)

if sys.argv[2] == "-":
    print(HEAD + "\n".join(c["text"] for c in cases))
    sys.exit()

from cuda.bindings import driver as D


def ck(r):
    if r[0] != 0:
        raise RuntimeError(str(r[0]))
    return r[1] if len(r) == 2 else r[1:]


ck(D.cuInit(0))
ctx = ck(D.cuDevicePrimaryCtxRetain(ck(D.cuDeviceGet(0))))
ck(D.cuCtxSetCurrent(ctx))
buffers, kept, inputs, data, out, body = {}, [], [], bytearray(), bytearray(), []
for c in cases:
    log = bytearray(4000)
    e, m = D.cuModuleLoadDataEx((HEAD + c["text"]).encode() + b"\0", 2, [D.CUjit_option.CU_JIT_ERROR_LOG_BUFFER, D.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES], [log, len(log)])
    if e != 0:
        print("refused:", c["id"], log.split(b"\0")[0].decode())
        continue
    f = ck(D.cuModuleGetFunction(m, c["kernel"].encode()))
    args = []
    for o in c["operands"]:
        if o["array"] not in buffers:
            if o["array"] not in arrays and o["array"].endswith(".16"):
                raise KeyError(o["array"])
            a = arrays[o["array"]]
            p = ck(D.cuMemAlloc(a["size"] + 65536))
            ck(D.cuMemsetD8(p, 0, a["size"] + 65536))
            b = pool[a["offset"]:a["offset"] + a["size"]]
            ck(D.cuMemcpyHtoD(p, b, len(b)))
            buffers[o["array"]] = p
            inputs.append(dict(a, offset=len(data)))
            data += b + b"\0" * (-len(b) % 8)
        args.append(int(buffers[o["array"]]))
    r = ck(D.cuMemAlloc(c["size"]))
    args.append(int(r))
    values = [ctypes.c_uint64(a) for a in args]
    params = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
    ck(D.cuLaunchKernel(f, 4, 1, 1, 128, 1, 1, 0, 0, ctypes.addressof(params), 0))
    got = bytearray(c["size"])
    ck(D.cuMemcpyDtoH(got, r, len(got)))
    c["outputs"] = [dict(type="f32" if c["d"] == "f32" else "b32", offset=len(out), size=len(got), per_thread=c["per"])]
    out += got
    body.append(c.pop("text"))
    for k in ("size", "per", "d"):
        del c[k]
    kept.append(c)
index = {k: src[k] for k in ("format", "machine", "sm", "driver", "cuda", "ptx_version", "seed")}
index.update(inputs=inputs, groups=[dict(name="wgmma_sp", file="wgmma_sp.ptx", target="sm_90a", cases=len(kept))], cases=kept)
json.dump(index, open(sys.argv[2] + "/index.json", "w"), indent=1)
open(sys.argv[2] + "/wgmma_sp.ptx", "w").write(HEAD + "\n".join(body))
for name, b in (("inputs", data), ("outputs", out)):
    with gzip.GzipFile(sys.argv[2] + "/" + name + ".bin.gz", "wb", 9, mtime=0) as f:
        f.write(bytes(b))
print(len(kept), "of", len(cases), "cases")
