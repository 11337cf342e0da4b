package softdev

import (
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// manyPTX launches a kernel with 32,000 bytes of parameters again and again, and tells how often that was refused, and
// with what.
const manyPTX = `
.version 8.1
.target sm_90
.address_size 64
.extern .func (.param .b64 r) cudaGetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 p, .param .b64 s);
.visible .entry wide(.param .align 8 .b8 p[32000]) { ret; }
.visible .entry k(.param .u64 list, .param .u32 times, .param .u64 stream) {
.reg .u64 %l, %k, %p, %s; .reg .u32 %n, %c; .reg .pred %q;
ld.param.u64 %l, [list]; ld.param.u32 %n, [times]; ld.param.u64 %s, [stream]; mov.u64 %k, wide;
again:
{ .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r;
st.param.b64 [f], %k; st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1; st.param.b32 [b], 1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 0;
call.uni (r), cudaGetParameterBufferV2, (f, g, b, s); ld.param.b64 %p, [r]; }
{ .param .b64 p; .param .b64 s; .param .b32 r; st.param.b64 [p], %p; st.param.b64 [s], %s; call.uni (r), cudaLaunchDeviceV2, (p, s); ld.param.b32 %c, [r]; }
setp.eq.u32 %q, %c, 0; @%q bra fine;
st.global.u32 [%l+4], %c; atom.global.add.u32 %c, [%l], 1;
fine: sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra again;
ret; }
`

// TestPendingLaunches: launches that wait for their grid take memory of the process, which a kernel cannot have without
// end. "When the buffer is full, an attempt to allocate a launch slot during a device side kernel launch will fail and
// return cudaErrorLaunchOutOfResources" (CUDA C++ Programming Guide, "Memory Footprint"). What has run is free again.
func TestPendingLaunches(t *testing.T) {
	const times = 20_000
	d, tab, ctx := open(t, Options{})
	image := linkAll(t, d, ctx, ptxInput("many", manyPTX),
		linkInput{driver.CU_JIT_INPUT_LIBRARY, "lib/libcudadevrt.a", []byte("!<arch>\n")})
	var m driver.CUmodule
	must(t, tab.ModuleLoadData(ctx, &m, unsafe.Pointer(&image[0])))
	list := alloc(t, tab, ctx, 8)
	for _, stream := range []uint64{0, 3} {
		n := uint32(times)
		var got [2]uint32
		must(t, tab.MemsetD8_v2(ctx, list, 0, 8))
		must(t, launch1(tab, ctx, fn(t, d, ctx, m, "k"), 0, unsafe.Pointer(&list), unsafe.Pointer(&n),
			unsafe.Pointer(&stream)))
		must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&got[0]), list, 8))
		const fit = pendingBytes / (32_000 + pendingLaunch)
		if got != [2]uint32{times - fit, cudaErrorLaunchOutOfResources} {
			t.Errorf("stream %d: of %d launches %d are refused, with %d; want %d, with %d", stream, times, got[0],
				got[1], times-fit, cudaErrorLaunchOutOfResources)
		}
	}
}
