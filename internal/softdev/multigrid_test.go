package softdev

import (
	"fmt"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// multiGridPTX synchronises the grids of several devices as cooperative_groups did up to CUDA 12. mine is a word of the
// device, next that of the next device, out has a line of words: how often next was not what it had to be, size and
// rank of the last thread, number of grids and the grid's own.
const multiGridPTX = `.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.extern .func (.param .b32 r) cudaCGGetSize(.param .b64 threads, .param .b64 grids, .param .b64 handle);
.extern .func (.param .b32 r) cudaCGGetRank(.param .b64 thread, .param .b64 grid, .param .b64 handle);
.visible .entry k(.param .u64 mine, .param .u64 next, .param .u64 out, .param .u32 rounds) {
	.reg .b64 %m, %n, %o, %h, %p1, %p2; .reg .b32 %r, %t, %v, %c, %last; .reg .pred %p, %first;
	ld.param.u64 %m, [mine]; ld.param.u64 %n, [next]; ld.param.u64 %o, [out]; ld.param.u32 %r, [rounds];
	{ .param .b32 s; .param .b64 q; st.param.b32 [s], 2;
	call.uni (q), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %h, [q]; }
	setp.eq.u64 %p, %h, 0;
	@%p bra none;
	mov.u32 %t, %tid.x; mov.u32 %v, %ctaid.x; mad.lo.u32 %t, %v, 64, %t;
	setp.eq.u32 %first, %t, 0;
	mov.u32 %c, 0;
again:
	@%first st.relaxed.sys.global.u32 [%m], %r;
	{ .param .b64 a; .param .b32 f; .param .b32 q; st.param.b64 [a], %h; st.param.b32 [f], 0;
	call.uni (q), cudaCGSynchronize, (a, f); }
	ld.relaxed.sys.global.u32 %v, [%n];
	setp.ne.u32 %p, %v, %r;
	@%p add.u32 %c, %c, 1;
	{ .param .b64 a; .param .b32 f; .param .b32 q; st.param.b64 [a], %h; st.param.b32 [f], 0;
	call.uni (q), cudaCGSynchronize, (a, f); }
	sub.u32 %r, %r, 1;
	setp.ne.u32 %p, %r, 0;
	@%p bra again;
	red.global.add.u32 [%o], %c;
	setp.ne.u32 %p, %t, 255;
	@%p ret;
	add.u64 %p1, %o, 4; add.u64 %p2, %o, 12;
	{ .param .b64 a; .param .b64 b; .param .b64 f; .param .b32 q; st.param.b64 [a], %p1; st.param.b64 [b], %p2;
	st.param.b64 [f], %h; call.uni (q), cudaCGGetSize, (a, b, f); }
	add.u64 %p1, %o, 8; add.u64 %p2, %o, 16;
	{ .param .b64 a; .param .b64 b; .param .b64 f; .param .b32 q; st.param.b64 [a], %p1; st.param.b64 [b], %p2;
	st.param.b64 [f], %h; call.uni (q), cudaCGGetRank, (a, b, f); }
	ret;
none:
	red.global.add.u32 [%o], 1000;
	ret;
}
.visible .entry lame(.param .u64 mine, .param .u64 next, .param .u64 out, .param .u32 rounds) {
	.reg .b64 %h, %m; .reg .b32 %v;
	ld.param.u64 %m, [mine]; ld.global.u32 %v, [%m];
	{ .param .b32 s; .param .b64 q; st.param.b32 [s], 2;
	call.uni (q), cudaCGGetIntrinsicHandle, (s); ld.param.b64 %h, [q]; }
	{ .param .b64 a; .param .b32 f; .param .b32 q; st.param.b64 [a], %h; st.param.b32 [f], 0;
	call.uni (q), cudaCGSynchronize, (a, f); }
	ret;
}
`

// TestMultiGridSync: the threads of grids on several devices meet, round after round, and what they wrote before is
// there; what CUDA 12's cooperative_groups documents of multi_grid_group, not recorded.
func TestMultiGridSync(t *testing.T) {
	const devices, rounds = 4, 20
	for _, engine := range []string{"interpreter", "auto"} {
		t.Run(engine, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			defer limited(t)()
			d, tab, _ := open(t, Options{Profiles: []string{fmt.Sprintf("h200*%d", devices)}, EngineName: engine,
				Recover: true})
			var ctx [devices]driver.CUcontext
			var mem [devices]driver.CUdeviceptr
			for i := range ctx {
				must(t, tab.CtxCreate_v2(0, &ctx[i], 0, driver.CUdevice(i)))
				mem[i] = alloc(t, tab, ctx[i], 4096)
			}
			var list [devices]driver.CUDA_LAUNCH_PARAMS
			var args [devices]*[4]unsafe.Pointer
			var pins runtime.Pinner
			defer pins.Unpin()
			n := uint32(rounds)
			prepare := func(name string) {
				for i := range list {
					must(t, tab.CtxSetCurrent(0, ctx[i]))
					next := (i + 1) % devices
					if r := tab.CtxEnablePeerAccess(0, ctx[next], 0); r != success &&
						r != driver.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED {
						t.Fatal(r)
					}
					must(t, tab.MemsetD8_v2(0, mem[i], 0, 4096))
					image := linkAll(t, d, ctx[i], ptxInput("grids", multiGridPTX),
						linkInput{driver.CU_JIT_INPUT_LIBRARY, "lib/libcudadevrt.a", []byte("!<arch>\n")})
					var m driver.CUmodule
					var s driver.CUstream
					must(t, tab.ModuleLoadData(0, &m, unsafe.Pointer(&image[0])))
					must(t, tab.StreamCreate(0, &s, 1))
					out := mem[i] + 1024
					values := &[3]driver.CUdeviceptr{mem[i], mem[next], out}
					args[i] = &[4]unsafe.Pointer{unsafe.Pointer(&values[0]), unsafe.Pointer(&values[1]),
						unsafe.Pointer(&values[2]), unsafe.Pointer(&n)}
					for _, p := range []any{values, &n, args[i]} {
						pins.Pin(p)
					}
					list[i] = driver.CUDA_LAUNCH_PARAMS{Function: fn(t, d, ctx[i], m, name), GridDimX: 4, GridDimY: 1,
						GridDimZ: 1, BlockDimX: 64, BlockDimY: 1, BlockDimZ: 1, HStream: s, KernelParams: &args[i][0]}
				}
			}
			prepare("k")
			must(t, tab.LaunchCooperativeKernelMultiDevice(0, &list[0], devices, 0))
			for i := range list {
				must(t, tab.StreamSynchronize(ctx[i], list[i].HStream))
			}
			for i := range list {
				var got [5]uint32
				must(t, tab.MemcpyDtoH_v2(ctx[i], unsafe.Pointer(&got), mem[i]+1024, 20))
				if want := [5]uint32{0, devices * 256, uint32(i)*256 + 255, devices, uint32(i)}; got != want {
					t.Errorf("device %d: %v, want %v", i, got, want)
				}
			}
			// one device alone has no such group
			must(t, tab.MemsetD8_v2(ctx[0], mem[0], 0, 4096))
			must(t, tab.LaunchCooperativeKernel(ctx[0], list[0].Function, 1, 1, 1, 32, 1, 1, 0, 0,
				list[0].KernelParams))
			var v uint32
			must(t, tab.MemcpyDtoH_v2(ctx[0], unsafe.Pointer(&v), mem[0]+1024, 4))
			if v != 32*1000 {
				t.Errorf("a launch of one device: %d", v)
			}
			// a grid that ends in a fault does not leave the others waiting
			prepare("lame")
			bad := driver.CUdeviceptr(16)
			pins.Pin(&bad)
			args[2][0] = unsafe.Pointer(&bad)
			begin := time.Now()
			must(t, tab.LaunchCooperativeKernelMultiDevice(0, &list[0], devices, 0))
			if r := tab.StreamSynchronize(ctx[2], list[2].HStream); r != driver.CUDA_ERROR_ILLEGAL_ADDRESS {
				t.Error("a grid with a fault:", r)
			}
			for i := range list {
				_ = tab.StreamSynchronize(ctx[i], list[i].HStream)
			}
			t.Logf("the others ended after %v", time.Since(begin))
		})
	}
}
