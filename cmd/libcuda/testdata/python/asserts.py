# A kernel whose thread 5 fails an assert, the call that meets the error first, and then one call after the other: a line with the result of each.
#   asserts.py FIRST own|primary
import ctypes as C
import sys
import time


def text(name, s):
    return ".global .align 1 .b8 %s[%d]={%s};\n" % (name, len(s) + 1, ",".join(str(ord(c)) for c in s + "\0"))


PTX = (".version 8.0\n.target sm_80\n.address_size 64\n"
       ".extern .func __assertfail(.param .b64 a,.param .b64 b,.param .b32 c,.param .b64 d,.param .b64 e);\n"
       + text("message", "x > 0") + text("file", "some/file.cu") + text("function", "void k(int *)") + """
.visible .entry k(.param .u64 p,.param .u32 which) {
	.reg .b32 %t,%w;
	.reg .b64 %p,%m,%f,%g;
	.reg .pred %q;
	ld.param.u64 %p,[p];
	ld.param.u32 %w,[which];
	mov.u32 %t,%tid.x;
	setp.eq.u32 %q,%w,0;
	@%q bra OK;
	setp.ne.u32 %q,%t,5;
	@%q bra OK;
	mov.u64 %m,message;
	cvta.global.u64 %m,%m;
	mov.u64 %f,file;
	cvta.global.u64 %f,%f;
	mov.u64 %g,function;
	cvta.global.u64 %g,%g;
	{
		.param .b64 a;
		.param .b64 b;
		.param .b32 c;
		.param .b64 d;
		.param .b64 e;
		st.param.b64 [a],%m;
		st.param.b64 [b],%f;
		st.param.b32 [c],77;
		st.param.b64 [d],%g;
		st.param.b64 [e],1;
		call.uni __assertfail,(a,b,c,d,e);
	}
OK:
	st.global.u32 [%p],%w;
	ret;
}
""").encode()

cu = C.CDLL("libcuda.so.1")
first, primary = sys.argv[1], sys.argv[2] == "primary"
PAUSE = 0.3  # for the kernel to end
ref, size = C.byref, C.c_size_t


lines = []  # written at once, and not between the texts of the device


def say(name, code):
    lines.append("%s %d" % (name, code))


def call(name, *args):
    say(name, getattr(cu, name)(*args))


dev, n, version = C.c_int(), C.c_int(), C.c_uint()
ctx, module, function, stream, other, event, earlier, handle = (C.c_void_p() for _ in range(8))
memory, more = C.c_uint64(), C.c_uint64()
host = C.create_string_buffer(64)


def new_context():
    if primary:
        call("cuDevicePrimaryCtxRetain", ref(ctx), dev)
        call("cuCtxSetCurrent", ctx)
    else:
        call("cuCtxCreate_v2", ref(ctx), 0, dev)


def launch(which, where):
    p, w = C.c_uint64(memory.value), C.c_uint(which)
    call("cuLaunchKernel", function, 2, 1, 1, 40, 1, 1, 0, where, (C.c_void_p * 2)(C.addressof(p), C.addressof(w)), None)


def query():
    end = time.time() + 5
    while True:
        code = cu.cuStreamQuery(stream)
        if code != 600 or time.time() > end:
            break
    say("cuStreamQuery until it is ready", code)


call("cuInit", 0)
call("cuDeviceGet", ref(dev), 0)
new_context()
call("cuModuleLoadData", ref(module), PTX)
call("cuModuleGetFunction", ref(function), module, b"k")
call("cuMemAlloc_v2", ref(memory), size(4096))
call("cuStreamCreate", ref(stream), 0)
call("cuStreamCreate", ref(other), 1)
call("cuEventCreate", ref(event), 0)
call("cuEventCreate", ref(earlier), 0)
launch(0, stream)
call("cuStreamSynchronize", stream)
call("cuEventRecord", earlier, stream)
call("cuEventSynchronize", earlier)
launch(1, stream)
call("cuEventRecord", event, stream)
if first in ("other", "launch", "alloc", "free", "none"):
    time.sleep(PAUSE)
{
    "ctx": lambda: call("cuCtxSynchronize"),
    "stream": lambda: call("cuStreamSynchronize", stream),
    "query": query,
    "other": lambda: call("cuStreamSynchronize", other),
    "event": lambda: call("cuEventSynchronize", event),
    "copy": lambda: call("cuMemcpyDtoH_v2", host, memory, size(4)),
    "launch": lambda: launch(0, stream),
    "alloc": lambda: call("cuMemAlloc_v2", ref(more), size(16)),
    "free": lambda: call("cuMemFree_v2", memory),
    "none": lambda: None,
    "destroy": lambda: None,
}[first]()
say("-- after", 0)
if first != "destroy":
    call("cuCtxSynchronize")
    call("cuStreamSynchronize", stream)
    call("cuStreamQuery", stream)
    call("cuStreamQuery", other)
    call("cuEventQuery", event)
    call("cuEventQuery", earlier)
    call("cuEventSynchronize", event)
    launch(0, stream)
    launch(0, None)
    call("cuMemcpyDtoH_v2", host, memory, size(4))
    call("cuMemcpyHtoDAsync_v2", memory, host, size(4), stream)
    call("cuMemsetD8_v2", memory, 1, size(4))
    call("cuMemAlloc_v2", ref(more), size(16))
    call("cuMemGetInfo_v2", ref(size()), ref(size()))
    call("cuMemFree_v2", memory)
    call("cuStreamCreate", ref(handle), 0)
    call("cuEventCreate", ref(handle), 0)
    call("cuModuleLoadData", ref(handle), PTX)
    call("cuModuleGetFunction", ref(handle), module, b"k")
    call("cuCtxGetDevice", ref(n))
    call("cuCtxGetCurrent", ref(handle))
    call("cuCtxGetApiVersion", ctx, ref(version))
    call("cuCtxGetLimit", ref(size()), 0)
    call("cuCtxSetLimit", 0, size(2048))
    call("cuFuncGetAttribute", ref(n), 0, function)
    call("cuEventElapsedTime", ref(C.c_float()), earlier, event)
    call("cuMemHostAlloc", ref(handle), size(64), 0)
    call("cuCtxGetSharedMemConfig", ref(n))
    call("cuModuleUnload", module)
    call("cuEventDestroy_v2", event)
    call("cuStreamDestroy_v2", stream)
    call("cuDeviceGetAttribute", ref(n), 1, dev)
    call("cuDriverGetVersion", ref(n))
if primary:
    active = C.c_int()
    call("cuDevicePrimaryCtxGetState", dev, ref(version), ref(active))
    say("-- active", active.value)
    call("cuDevicePrimaryCtxReset_v2", dev)
    call("cuCtxSynchronize")
    call("cuDevicePrimaryCtxRelease_v2", dev)
else:
    call("cuCtxDestroy_v2", ctx)
    call("cuCtxSynchronize")
new_context()
say("-- a new context", 0)
call("cuModuleLoadData", ref(module), PTX)
call("cuModuleGetFunction", ref(function), module, b"k")  # of a module that is gone
call("cuMemAlloc_v2", ref(memory), size(4096))
launch(0, None)
call("cuCtxSynchronize")
print("\n".join(lines))
