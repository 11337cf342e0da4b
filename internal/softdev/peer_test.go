package softdev

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/skip"
)

// Accesses of kernels to memory that may be another device's, each in a kernel of its own: p is what is accessed, q a
// buffer of the kernel's own device.
var peerAccesses = []struct{ name, body string }{
	{"ld.global", "ld.global.u32 %r0, [%rd0]; st.global.u32 [%rd1], %r0;"},
	{"ld.generic", "ld.u32 %r0, [%rd0]; st.global.u32 [%rd1], %r0;"},
	{"ld.v4", "ld.global.v4.u32 {%r0,%r1,%r2,%r3}, [%rd0]; st.global.u32 [%rd1], %r0;"},
	{"st.global", "st.global.u32 [%rd0], 7;"},
	{"st.generic.v2", "st.v2.u64 [%rd0], {%rd1,%rd1};"},
	{"lanes", "mov.u32 %r0, %tid.x; mul.wide.u32 %rd2, %r0, 4; add.u64 %rd2, %rd2, %rd0; ld.global.u32 %r1, [%rd2]; add.u32 %r1, %r1, 1; st.global.u32 [%rd2], %r1;"},
	{"scattered", "mov.u32 %r0, %tid.x; mul.lo.u32 %r0, %r0, 7; and.b32 %r0, %r0, 31; mul.wide.u32 %rd2, %r0, 4; add.u64 %rd2, %rd2, %rd0; ld.global.u32 %r1, [%rd2]; st.global.u32 [%rd2], %r1;"},
	{"atom.add", "atom.global.add.u32 %r0, [%rd0], 1; st.global.u32 [%rd1], %r0;"},
	{"atom.cas.b64", "atom.cas.b64 %rd2, [%rd0], 0, 1;"},
	{"red.add", "red.global.add.u32 [%rd0], 1;"},
	{"red.add.sys", "red.relaxed.sys.global.add.u32 [%rd0], 1;"},
	{"cp.async", "mov.u32 %r0, buf; cp.async.ca.shared.global [%r0], [%rd0], 16; cp.async.wait_all;"},
	{"cp.async.bulk in", `mov.u32 %r0, buf; mov.u32 %r1, bar; mov.u32 %r3, %tid.x; setp.ne.u32 %p, %r3, 0; @%p ret;
		mbarrier.init.shared.b64 [%r1], 1; mbarrier.arrive.expect_tx.shared.b64 %rd2, [%r1], 64;
		cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0], 64, [%r1];`},
	{"cp.async.bulk out", `mov.u32 %r0, buf; mov.u32 %r3, %tid.x; setp.ne.u32 %p, %r3, 0; @%p ret;
		cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r0], 64; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;`},
	{"prefetched", "prefetch.global.L2 [%rd0]; ld.global.nc.u32 %r0, [%rd0]; st.global.u32 [%rd1], %r0;"},
}

func peerPTX() string {
	text := ".version 8.0\n.target sm_90\n.address_size 64\n"
	for i, a := range peerAccesses {
		text += fmt.Sprintf(`.visible .entry k%d(.param .u64 p, .param .u64 q) {
	.shared .align 128 .b8 buf[128]; .shared .align 8 .b64 bar; .reg .b64 %%rd<4>; .reg .b32 %%r<8>; .reg .pred %%p;
	ld.param.u64 %%rd0, [p]; ld.param.u64 %%rd1, [q]; %s ret; }
`, i, a.body)
	}
	return text
}

// peers is a driver with three devices, a context and a buffer on each.
type peers struct {
	d   *Driver
	tab *driver.Table
	ctx [3]driver.CUcontext
	mod [3]driver.CUmodule
	own [3]driver.CUdeviceptr
}

func openPeers(t *testing.T, engine string) *peers {
	x := &peers{}
	x.d, x.tab, _ = open(t, Options{Profiles: []string{"", "", ""}, EngineName: engine, Recover: true})
	for i := range x.ctx {
		must(t, x.tab.CtxCreate_v2(0, &x.ctx[i], 0, driver.CUdevice(i)))
		x.mod[i] = load(t, x.d, x.ctx[i], peerPTX())
		x.own[i] = alloc(t, x.tab, x.ctx[i], 4096)
	}
	return x
}

// run launches access k on a device and gives what comes of it. After a fault the device has another context.
func (x *peers) run(t *testing.T, dev, k int, p driver.CUdeviceptr) driver.CUresult {
	t.Helper()
	ctx := x.ctx[dev]
	args := [2]unsafe.Pointer{unsafe.Pointer(&p), unsafe.Pointer(&x.own[dev])}
	must(t, x.tab.LaunchKernel(ctx, fn(t, x.d, ctx, x.mod[dev], fmt.Sprint("k", k)), 1, 1, 1, 32, 1, 1, 0, 0, &args[0],
		nil))
	return x.tab.CtxSynchronize(ctx)
}

// A kernel reaches memory of another device only with cuCtxEnablePeerAccess, which is unidirectional ("Note that there
// are both device-wide and system-wide limitations"; "access is granted ... in a single direction", CUDA Driver API),
// and faults otherwise as at an address without memory.
func TestPeerAccess(t *testing.T) {
	for _, engine := range []string{"interpreter", "auto"} {
		for _, pair := range [][2]int{{0, 1}, {1, 0}, {0, 2}, {2, 0}, {1, 2}, {2, 1}} {
			from, to := pair[0], pair[1]
			for k, a := range peerAccesses {
				t.Run(fmt.Sprintf("%s/%d to %d/%s", engine, from, to, a.name), func(t *testing.T) {
					if k%5 != (from+2*to)%5 && testing.Short() {
						skip.Without(t, skip.Time, "a part of the combinations")
					}
					x := openPeers(t, engine)
					must(t, x.tab.CtxEnablePeerAccess(x.ctx[to], x.ctx[from], 0)) // the other way
					must(t, x.tab.CtxEnablePeerAccess(x.ctx[from], x.ctx[to], 0))
					want(t, "with access", x.run(t, from, k, x.own[to]), driver.CUDA_SUCCESS)
					must(t, x.tab.CtxDisablePeerAccess(x.ctx[from], x.ctx[to]))
					want(t, "its own memory", x.run(t, from, k, x.own[from]), driver.CUDA_SUCCESS)
					want(t, "without access", x.run(t, from, k, x.own[to]), driver.CUDA_ERROR_ILLEGAL_ADDRESS)
					must(t, x.tab.CtxSynchronize(x.ctx[to])) // which is not its fault
				})
			}
		}
	}
}

// Memory that is for all devices is reached by all, and what is granted by those that it is granted to.
func TestGrantedAccess(t *testing.T) {
	here := func(dev int) driver.CUmemLocation {
		return driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE, Id: int32(dev)}
	}
	for _, m := range []struct {
		name string
		all  bool
		make func(t *testing.T, x *peers, owner, user int) driver.CUdeviceptr // owner's memory, granted to user
	}{
		{"pinned", true, func(t *testing.T, x *peers, owner, _ int) driver.CUdeviceptr {
			var h unsafe.Pointer
			must(t, x.tab.MemHostAlloc(x.ctx[owner], &h, 4096, 1))
			return driver.CUdeviceptr(uintptr(h))
		}},
		{"managed", true, func(t *testing.T, x *peers, owner, _ int) (p driver.CUdeviceptr) {
			must(t, x.tab.MemAllocManaged(x.ctx[owner], &p, 4096, 1))
			return p
		}},
		{"registered", true, func(t *testing.T, x *peers, owner, _ int) driver.CUdeviceptr {
			b := make([]uint64, 1024)
			at := address(t, &b[0])
			must(t, x.tab.MemHostRegister_v2(x.ctx[owner], unsafe.Pointer(&b[0]), 8192, 1))
			t.Cleanup(func() { x.tab.MemHostUnregister(x.ctx[owner], unsafe.Pointer(&b[0])) })
			return driver.CUdeviceptr(at+127) &^ 127
		}},
		{"pool", false, func(t *testing.T, x *peers, owner, user int) (p driver.CUdeviceptr) {
			var pool driver.CUmemoryPool
			must(t, x.tab.MemPoolCreate(x.ctx[owner], &pool,
				&driver.CUmemPoolProps{AllocType: driver.CU_MEM_ALLOCATION_TYPE_PINNED, Location: here(owner)}))
			must(t, x.tab.MemPoolSetAccess(x.ctx[owner], pool,
				&driver.CUmemAccessDesc{Location: here(user), Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE}, 1))
			must(t, x.tab.MemAllocFromPoolAsync(x.ctx[owner], &p, 4096, pool, 0))
			return p
		}},
		{"mapped", false, func(t *testing.T, x *peers, owner, user int) (p driver.CUdeviceptr) {
			var h driver.CUmemGenericAllocationHandle
			const size = 2 << 20
			must(t, x.tab.MemCreate(x.ctx[owner], &h, size,
				&driver.CUmemAllocationProp{Type: driver.CU_MEM_ALLOCATION_TYPE_PINNED, Location: here(owner)}, 0))
			must(t, x.tab.MemAddressReserve(x.ctx[owner], &p, size, 0, 0, 0))
			must(t, x.tab.MemMap(x.ctx[owner], p, size, 0, h, 0))
			access := [2]driver.CUmemAccessDesc{{Location: here(owner),
				Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
				{Location: here(user), Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE}}
			must(t, x.tab.MemSetAccess(x.ctx[owner], p, size, &access[0], 2))
			return p
		}},
		// the owner has no right to its own memory
		{"mapped for another", false, func(t *testing.T, x *peers, owner, user int) (p driver.CUdeviceptr) {
			var h driver.CUmemGenericAllocationHandle
			const size = 2 << 20
			must(t, x.tab.MemCreate(x.ctx[owner], &h, size,
				&driver.CUmemAllocationProp{Type: driver.CU_MEM_ALLOCATION_TYPE_PINNED, Location: here(owner)}, 0))
			must(t, x.tab.MemAddressReserve(x.ctx[owner], &p, size, 0, 0, 0))
			must(t, x.tab.MemMap(x.ctx[owner], p, size, 0, h, 0))
			must(t, x.tab.MemSetAccess(x.ctx[owner], p, size,
				&driver.CUmemAccessDesc{Location: here(user), Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE}, 1))
			return p
		}},
	} {
		for _, engine := range []string{"interpreter", "auto"} {
			for owner := range 3 {
				t.Run(fmt.Sprintf("%s/%s/of %d", m.name, engine, owner), func(t *testing.T) {
					x := openPeers(t, engine)
					user, other := (owner+1)%3, (owner+2)%3
					p := m.make(t, x, owner, user)
					devices := []int{user}
					if m.name != "mapped for another" {
						devices = append(devices, owner)
					}
					if m.all {
						devices = append(devices, other)
					}
					for _, dev := range devices {
						for k, a := range peerAccesses {
							want(t, fmt.Sprintf("device %d: %s", dev, a.name), x.run(t, dev, k, p), driver.CUDA_SUCCESS)
						}
					}
					if !m.all {
						want(t, "a device without the right", x.run(t, other, 0, p), driver.CUDA_ERROR_ILLEGAL_ADDRESS)
					}
					if m.name == "mapped for another" {
						want(t, "the owner without the right", x.run(t, owner, 3, p), driver.CUDA_ERROR_ILLEGAL_ADDRESS)
					}
				})
			}
		}
	}
}

// With one device nothing is asked: its kernels reach the whole window.
func TestOneDeviceReachesAll(t *testing.T) {
	d, _, ctx := open(t, Options{})
	s := d.contexts.get(uintptr(ctx)).space.Load()
	if s != &d.memory.space || s.Low != s.Special || s.Low+s.Span != s.Size {
		t.Errorf("%+v", *s)
	}
}
