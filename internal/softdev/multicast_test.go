package softdev

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/skip"
)

// What multicast objects are to do is from NVIDIA's documentation (CUDA Driver API, "Multicast Object Management"; PTX
// ISA 9.7.9.14); nothing of it is recorded. These tests are of software devices alone: a multicast object of a real
// driver can put the GPUs of a shared machine out of service.

// multicastTeam is a driver whose devices are a team, each with a context and memory that is bound.
type multicastTeam struct {
	d      *Driver
	tab    *driver.Table
	n      int
	ctx    []driver.CUcontext
	mc     driver.CUmemGenericAllocationHandle
	at     driver.CUdeviceptr   // of the object
	own    []driver.CUdeviceptr // of each device's part
	stores []driver.CUmemGenericAllocationHandle
}

func onDevice(i int) driver.CUmemLocation {
	return driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE, Id: int32(i)}
}

// store makes memory of a device, mapped where all devices of the team reach it.
func (x *multicastTeam) store(t *testing.T, dev int, size uint64, handles driver.CUmemAllocationHandleType) (
	h driver.CUmemGenericAllocationHandle, at driver.CUdeviceptr) {
	t.Helper()
	prop := driver.CUmemAllocationProp{Type: driver.CU_MEM_ALLOCATION_TYPE_PINNED, Location: onDevice(dev),
		RequestedHandleTypes: handles}
	must(t, x.tab.MemCreate(0, &h, size, &prop, 0))
	return h, x.mapped(t, h, size)
}

func (x *multicastTeam) mapped(t *testing.T, h driver.CUmemGenericAllocationHandle, size uint64) (
	at driver.CUdeviceptr) {
	t.Helper()
	must(t, x.tab.MemAddressReserve(0, &at, size, 0, 0, 0))
	must(t, x.tab.MemMap(0, at, size, 0, h, 0))
	access := make([]driver.CUmemAccessDesc, x.n)
	for i := range access {
		access[i] = driver.CUmemAccessDesc{Location: onDevice(i), Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE}
	}
	must(t, x.tab.MemSetAccess(0, at, size, &access[0], uint64(x.n)))
	return at
}

const multicastSize = 2 * mem.Granule

func openTeamOf(t *testing.T, n int, o Options) *multicastTeam {
	t.Helper()
	o.Profiles = []string{fmt.Sprintf("h200*%d", n)}
	d, tab, _ := open(t, o)
	x := &multicastTeam{d: d, tab: tab, n: n, ctx: make([]driver.CUcontext, n)}
	for i := range x.ctx {
		must(t, tab.CtxCreate_v2(0, &x.ctx[i], 0, driver.CUdevice(i)))
	}
	must(t, tab.MulticastCreate(0, &x.mc, &driver.CUmulticastObjectProp{NumDevices: uint32(n), Size: multicastSize}))
	for i := range n {
		must(t, tab.MulticastAddDevice(0, x.mc, driver.CUdevice(i)))
	}
	for i := range n {
		h, at := x.store(t, i, multicastSize, 0)
		must(t, tab.MulticastBindMem(0, x.mc, 0, h, 0, multicastSize, 0))
		x.own, x.stores = append(x.own, at), append(x.stores, h)
	}
	x.at = x.mapped(t, x.mc, multicastSize)
	return x
}

// run runs a kernel on a device: the address of the object and that of results are its parameters.
func (x *multicastTeam) run(t *testing.T, dev int, body string, p, q driver.CUdeviceptr,
	threads uint32) driver.CUresult {
	t.Helper()
	text := `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {
	.reg .b64 %a, %o, %rd<9>; .reg .b32 %t, %r<9>; .reg .b16 %h<9>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .pred %p<3>;
	ld.param.u64 %a, [p]; ld.param.u64 %o, [q]; mov.u32 %t, %tid.x; mul.wide.u32 %rd0, %t, 16;
	add.u64 %a, %a, %rd0; add.u64 %o, %o, %rd0;
` + body + "\nret;\n}\n"
	ctx := x.ctx[dev]
	args := [2]unsafe.Pointer{unsafe.Pointer(&p), unsafe.Pointer(&q)}
	must(t, x.tab.LaunchKernel(ctx, fn(t, x.d, ctx, load(t, x.d, ctx, text), "k"), 1, 1, 1, threads, 1, 1, 0, 0,
		&args[0], nil))
	return x.tab.CtxSynchronize(ctx)
}

// multimemForms are operations with what each makes of values that the devices have: old are the words of one thread in
// the memory of each device, arg those that the operation stores. all gives the words of every device afterwards or,
// for a load, the loaded ones.
var multimemForms = []struct {
	name, body string
	loads      bool
	all        func(old [][4]uint32, dev int, arg [4]uint32) [4]uint32
}{
	{"st.b32", "multimem.st.weak.global.b32 [%a], %r1;", false,
		func(old [][4]uint32, dev int, arg [4]uint32) [4]uint32 {
			return [4]uint32{arg[0], old[dev][1], old[dev][2], old[dev][3]}
		}},
	{"st.u64", "multimem.st.release.sys.u64 [%a], %rd1;", false,
		func(old [][4]uint32, dev int, arg [4]uint32) [4]uint32 {
			return [4]uint32{arg[0], arg[1], old[dev][2], old[dev][3]}
		}},
	{"st.v4.f32", "multimem.st.relaxed.gpu.global.v4.f32 [%a], {%f1, %f2, %f3, %f4};", false,
		func(_ [][4]uint32, _ int, arg [4]uint32) [4]uint32 { return arg }},
	{"ld_reduce.add.u32", "multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%a]; st.global.u32 [%o], %r1;", true,
		wordwise(1, func(a, b uint32) uint32 { return a + b })},
	{"ld_reduce.min.s32", "multimem.ld_reduce.weak.global.min.s32 %r1, [%a]; st.global.u32 [%o], %r1;", true,
		wordwise(1, func(a, b uint32) uint32 { return uint32(min(int32(a), int32(b))) })},
	{"ld_reduce.max.u32", "multimem.ld_reduce.acquire.gpu.max.u32 %r1, [%a]; st.global.u32 [%o], %r1;", true,
		wordwise(1, func(a, b uint32) uint32 { return max(a, b) })},
	{"ld_reduce.xor.b64", "multimem.ld_reduce.relaxed.gpu.global.xor.b64 %rd1, [%a]; st.global.u64 [%o], %rd1;", true,
		wordwise(2, func(a, b uint32) uint32 { return a ^ b })},
	{"ld_reduce.and.b32", "multimem.ld_reduce.weak.and.b32 %r1, [%a]; st.global.u32 [%o], %r1;", true,
		wordwise(1, func(a, b uint32) uint32 { return a & b })},
	{"ld_reduce.or.b32", "multimem.ld_reduce.weak.or.b32 %r1, [%a]; st.global.u32 [%o], %r1;", true,
		wordwise(1, func(a, b uint32) uint32 { return a | b })},
	{"ld_reduce.add.v4.f32", `multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%a];
		st.global.v4.f32 [%o], {%f1, %f2, %f3, %f4};`, true, wordwise(4, addFlushed)},
	{"ld_reduce.add.v4.f16x2", `multimem.ld_reduce.weak.global.add.v4.f16x2 {%r1, %r2, %r3, %r4}, [%a];
		st.global.v4.u32 [%o], {%r1, %r2, %r3, %r4};`, true, wordwise(4, func(a, b uint32) uint32 {
		return uint32(num.AddF16(uint16(a), uint16(b), 0)) | uint32(num.AddF16(uint16(a>>16), uint16(b>>16), 0))<<16
	})},
	{"ld_reduce.add.acc::f32.v2.bf16x2", `multimem.ld_reduce.weak.global.add.acc::f32.v2.bf16x2 {%r1, %r2}, [%a];
		st.global.v2.u32 [%o], {%r1, %r2};`, true, func(old [][4]uint32, _ int, _ [4]uint32) (v [4]uint32) {
		for k := range 2 {
			for half := range 2 {
				sum := math.Float32frombits(old[0][k] >> (16 * half) << 16)
				for _, o := range old[1:] {
					sum += math.Float32frombits(o[k] >> (16 * half) << 16)
				}
				v[k] |= uint32(num.F32ToBF16(math.Float32bits(sum))) << (16 * half)
			}
		}
		return v
	}},
	{"ld_reduce.min.v2.bf16x2", `multimem.ld_reduce.weak.global.min.v2.bf16x2 {%r1, %r2}, [%a];
		st.global.v2.u32 [%o], {%r1, %r2};`, true, wordwise(2, func(a, b uint32) uint32 {
		return uint32(num.MinBF16(uint16(a), uint16(b), 0)) | uint32(num.MinBF16(uint16(a>>16), uint16(b>>16), 0))<<16
	})},
	{"ld_reduce.add.f64", "multimem.ld_reduce.relaxed.sys.global.add.f64 %d1, [%a]; st.global.f64 [%o], %d1;", true,
		func(old [][4]uint32, _ int, _ [4]uint32) [4]uint32 {
			sum := 0.0
			for i, o := range old {
				if v := math.Float64frombits(uint64(o[1])<<32 | uint64(o[0])); i == 0 {
					sum = v
				} else {
					sum += v
				}
			}
			b := math.Float64bits(sum)
			return [4]uint32{uint32(b), uint32(b >> 32)}
		}},
	{"red.add.u32", "multimem.red.relaxed.sys.global.add.u32 [%a], %r1;", false,
		func(old [][4]uint32, dev int, arg [4]uint32) [4]uint32 {
			return [4]uint32{old[dev][0] + arg[0], old[dev][1], old[dev][2], old[dev][3]}
		}},
	{"red.max.s64", "multimem.red.release.gpu.max.s64 [%a], %rd1;", false,
		func(old [][4]uint32, dev int, arg [4]uint32) [4]uint32 {
			v := max(int64(uint64(old[dev][1])<<32|uint64(old[dev][0])), int64(uint64(arg[1])<<32|uint64(arg[0])))
			return [4]uint32{uint32(v), uint32(uint64(v) >> 32), old[dev][2], old[dev][3]}
		}},
	{"red.and.b32", "multimem.red.relaxed.cta.global.and.b32 [%a], %r1;", false,
		func(old [][4]uint32, dev int, arg [4]uint32) [4]uint32 {
			return [4]uint32{old[dev][0] & arg[0], old[dev][1], old[dev][2], old[dev][3]}
		}},
	{"red.add.v4.f32", "multimem.red.relaxed.sys.global.add.v4.f32 [%a], {%f1, %f2, %f3, %f4};", false,
		func(old [][4]uint32, dev int, arg [4]uint32) (v [4]uint32) {
			for k := range v {
				v[k] = addFlushed(old[dev][k], arg[k])
			}
			return v
		}},
	{"red.add.v2.f16x2", "multimem.red.relaxed.sys.global.add.v2.f16x2 [%a], {%r1, %r2};", false,
		func(old [][4]uint32, dev int, arg [4]uint32) [4]uint32 {
			v := old[dev]
			for k := range 2 {
				v[k] = uint32(num.AddF16(uint16(v[k]), uint16(arg[k]), 0)) |
					uint32(num.AddF16(uint16(v[k]>>16), uint16(arg[k]>>16), 0))<<16
			}
			return v
		}},
}

func addFlushed(a, b uint32) uint32 { return num.Add32(a, b, num.RN, num.FTZ) }

// wordwise combines the first n words of all devices.
func wordwise(n int, f func(a, b uint32) uint32) func(old [][4]uint32, dev int, arg [4]uint32) [4]uint32 {
	return func(old [][4]uint32, _ int, _ [4]uint32) (v [4]uint32) {
		for k := range n {
			v[k] = old[0][k]
			for _, o := range old[1:] {
				v[k] = f(v[k], o[k])
			}
		}
		return v
	}
}

// TestMultimem: every operation against a computed result, on the interpreter and in kernels of machine code.
func TestMultimem(t *testing.T) {
	for _, engine := range []string{"interpreter", "auto"} {
		t.Run(engine, func(t *testing.T) {
			x := openTeamOf(t, 3, Options{EngineName: engine})
			out := alloc(t, x.tab, x.ctx[1], 4096)
			for _, f := range multimemForms {
				const threads = 40
				old := make([][][4]uint32, threads) // of each thread
				arg := [4]uint32{0x3f800000, 0x40490fdb, 0xc0000000, 0x3c003c00}
				for dev := range x.n {
					buf := make([]uint32, 4*threads)
					for i := range buf {
						if dev == 0 && i%4 == 0 {
							old[i/4] = make([][4]uint32, x.n)
						}
						// floats of both sizes and large integers
						buf[i] = 0x3c00_3c00 + uint32(i*7919+dev*104729)%0x0400_0400
						if i%5 == 0 {
							buf[i] |= 1 << 31
						}
						old[i/4][dev][i%4] = buf[i]
					}
					must(t, x.tab.MemcpyHtoD_v2(x.ctx[dev], x.own[dev], unsafe.Pointer(&buf[0]), 16*threads))
				}
				set := fmt.Sprintf(`mov.b32 %%r1, %#x; mov.b32 %%r2, %#x; mov.b32 %%r3, %#x; mov.b32 %%r4, %#x;
					mov.b32 %%f1, %%r1; mov.b32 %%f2, %%r2; mov.b32 %%f3, %%r3; mov.b32 %%f4, %%r4;
					mov.b64 %%rd1, {%%r1, %%r2};`, arg[0], arg[1], arg[2], arg[3])
				if r := x.run(t, 1, set+f.body, x.at, out, threads); r != success {
					t.Fatalf("%s: %v", f.name, r)
				}
				read := func(c driver.CUcontext, p driver.CUdeviceptr) (v [threads][4]uint32) {
					must(t, x.tab.MemcpyDtoH_v2(c, unsafe.Pointer(&v), p, 16*threads))
					return v
				}
				for dev := range x.n {
					got := read(x.ctx[dev], x.own[dev])
					for i, v := range got {
						want := old[i][dev]
						if !f.loads {
							want = f.all(old[i], dev, arg)
						}
						if v != want {
							t.Fatalf("%s: device %d, thread %d: %#x, want %#x (before: %#x)", f.name, dev, i, v,
								want, old[i])
						}
					}
				}
				if f.loads {
					must(t, x.tab.CtxSynchronize(x.ctx[1]))
					got := read(x.ctx[1], out)
					for i, v := range got {
						want := f.all(old[i], 0, arg)
						for k := range want {
							if want[k] != 0 && v[k] != want[k] {
								t.Fatalf("%s: thread %d: %#x, want %#x of %#x", f.name, i, v, want, old[i])
							}
						}
					}
				}
			}
		})
	}
}

// TestMultimemFaults: what the manual calls undefined ends the kernel.
func TestMultimemFaults(t *testing.T) {
	const load = "multimem.ld_reduce.weak.global.add.u32 %r1, [%a]; st.global.u32 [%o], %r1;"
	for _, engine := range []string{"interpreter", "auto"} {
		x := openTeamOf(t, 2, Options{EngineName: engine, Recover: true})
		out := alloc(t, x.tab, x.ctx[0], 4096)
		fails := func(name, body string, p driver.CUdeviceptr, want driver.CUresult) {
			t.Helper()
			if r := x.run(t, 0, body, p, out, 1); r != want {
				t.Errorf("%s, %s: %v, want %v", engine, name, r, want)
			}
			must(t, x.tab.CtxDestroy_v2(0, x.ctx[0]))
			must(t, x.tab.CtxCreate_v2(0, &x.ctx[0], 0, 0))
			out = alloc(t, x.tab, x.ctx[0], 4096)
		}
		fails("a whole object", load, x.at+multicastSize-4, success)
		fails("behind the object", load, x.at+multicastSize, driver.CUDA_ERROR_ILLEGAL_ADDRESS)
		fails("ordinary memory", load, x.own[0], driver.CUDA_ERROR_ILLEGAL_ADDRESS)
		fails("misaligned", load, x.at+2, driver.CUDA_ERROR_MISALIGNED_ADDRESS)
		fails("an ordinary load of the object", "ld.global.u32 %r1, [%a]; st.global.u32 [%o], %r1;", x.at,
			driver.CUDA_ERROR_ILLEGAL_ADDRESS)
		fails("an ordinary store to it", "st.global.u32 [%a], 1;", x.at, driver.CUDA_ERROR_ILLEGAL_ADDRESS)
		must(t, x.tab.MulticastUnbind(0, x.mc, 1, 0, multicastSize))
		fails("a device without memory", load, x.at, driver.CUDA_ERROR_ILLEGAL_ADDRESS)
		must(t, x.tab.MulticastBindMem(0, x.mc, 0, x.stores[1], mem.Granule, mem.Granule, 0))
		fails("the half that is bound", load, x.at, success)
		fails("the half that is not", load, x.at+mem.Granule, driver.CUDA_ERROR_ILLEGAL_ADDRESS)
		read := driver.CUmemAccessDesc{Location: onDevice(0), Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READ}
		must(t, x.tab.MemSetAccess(0, x.at, multicastSize, &read, 1))
		fails("a load with the right to read", load, x.at, success)
		fails("a store with the right to read", "multimem.st.weak.b32 [%a], %r1;", x.at,
			driver.CUDA_ERROR_ILLEGAL_ADDRESS)
		// copies and fills do not reach the object
		if r := x.tab.MemsetD8_v2(x.ctx[0], x.at, 1, 16); r == success {
			t.Error("a fill of a multicast object")
		}
		var word uint32
		if r := x.tab.MemcpyDtoH_v2(x.ctx[0], unsafe.Pointer(&word), x.at, 4); r == success {
			t.Error("a copy of a multicast object")
		}
	}
}

// TestMulticastCalls: conditions of the calls, by their descriptions; which code is for which is our choice.
func TestMulticastCalls(t *testing.T) {
	x := openTeamOf(t, 2, Options{})
	x.d.endLimit = 20 * time.Millisecond
	tab := x.tab
	const bad = driver.CUDA_ERROR_INVALID_VALUE
	check := func(what string, r, want driver.CUresult) {
		t.Helper()
		if r != want {
			t.Errorf("%s: %v, want %v", what, r, want)
		}
	}
	var n int32
	must(t, tab.DeviceGetAttribute(0, &n, driver.CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0))
	if n != 1 {
		t.Error("multicast is not supported")
	}
	var h driver.CUmemGenericAllocationHandle
	var size uint64
	ok := driver.CUmulticastObjectProp{NumDevices: 2, Size: mem.Granule}
	must(t, tab.MulticastGetGranularity(0, &size, &ok, driver.CU_MULTICAST_GRANULARITY_RECOMMENDED))
	check("granularity, option", tab.MulticastGetGranularity(0, &size, &ok, 2), bad)
	check("granularity, NULL", tab.MulticastGetGranularity(0, nil, &ok, 0), bad)
	for what, p := range map[string]*driver.CUmulticastObjectProp{
		"NULL": nil, "no devices": {Size: mem.Granule}, "no size": {NumDevices: 2},
		"many devices": {NumDevices: 65, Size: mem.Granule}, "size": {NumDevices: 2, Size: mem.Granule + 4096},
		"flags":   {NumDevices: 2, Size: mem.Granule, Flags: 1},
		"handles": {NumDevices: 2, Size: mem.Granule, HandleTypes: uint64(driver.CU_MEM_HANDLE_TYPE_WIN32)},
	} {
		check("create: "+what, tab.MulticastCreate(0, &h, p), bad)
	}
	must(t, tab.MulticastCreate(0, &h, &ok))
	check("bind before all devices are there", tab.MulticastBindMem(0, h, 0, x.stores[0], 0, mem.Granule, 0),
		driver.CUDA_ERROR_ILLEGAL_STATE)
	must(t, tab.MulticastAddDevice(0, h, 1))
	check("add twice", tab.MulticastAddDevice(0, h, 1), driver.CUDA_ERROR_INVALID_DEVICE)
	check("add no device", tab.MulticastAddDevice(0, h, 2), driver.CUDA_ERROR_INVALID_DEVICE)
	check("add to memory", tab.MulticastAddDevice(0, x.stores[0], 0), bad)
	var at driver.CUdeviceptr
	must(t, tab.MemAddressReserve(0, &at, mem.Granule, 0, 0, 0))
	check("map before all devices are there", tab.MemMap(0, at, mem.Granule, 0, h, 0), driver.CUDA_ERROR_ILLEGAL_STATE)
	x.d.endLimit = time.Minute
	bound := make(chan driver.CUresult) // waits until the other device comes
	go func() { bound <- tab.MulticastBindMem(0, h, 0, x.stores[0], 0, mem.Granule, 0) }()
	time.Sleep(5 * time.Millisecond)
	must(t, tab.MulticastAddDevice(0, h, 0))
	must(t, <-bound)
	check("add to a full team", tab.MulticastAddDevice(0, h, 0), bad)
	bind := func(offset uint64, s driver.CUmemGenericAllocationHandle, from, size, flags uint64) driver.CUresult {
		return tab.MulticastBindMem(0, h, offset, s, from, size, flags)
	}
	for what, r := range map[string]driver.CUresult{
		"bound": bind(0, x.stores[0], mem.Granule, mem.Granule, 0), "flags": bind(0, x.stores[1], 0, mem.Granule, 1),
		"offset": bind(512, x.stores[1], 0, mem.Granule, 0), "size": bind(0, x.stores[1], 0, 512, 0),
		"beyond the object": bind(0, x.stores[1], 0, 2*mem.Granule, 0),
		"beyond the store":  bind(0, x.stores[1], 2*mem.Granule, mem.Granule, 0),
		"far":               bind(^uint64(0)&^(mem.Granule-1), x.stores[1], 0, mem.Granule, 0),
		"far in the store":  bind(0, x.stores[1], ^uint64(0)&^(mem.Granule-1), mem.Granule, 0),
		"nothing":           bind(0, x.stores[1], 0, 0, 0), "an object": bind(0, x.mc, 0, mem.Granule, 0),
		"no handle": bind(0, 77, 0, mem.Granule, 0),
	} {
		check("bind: "+what, r, bad)
	}
	// by address
	check("bind addr: pool or plain memory", tab.MulticastBindAddr(0, h, 0, alloc(t, tab, x.ctx[1], mem.Granule),
		mem.Granule, 0), bad)
	must(t, tab.MulticastBindAddr(0, h, 0, x.own[1]+mem.Granule, mem.Granule, 0))
	check("unbind another size", tab.MulticastUnbind(0, h, 1, 0, 2*mem.Granule), bad)
	must(t, tab.MulticastUnbind(0, h, 1, 0, mem.Granule))
	check("unbind again", tab.MulticastUnbind(0, h, 1, 0, mem.Granule), bad)
	check("properties", tab.MemGetAllocationPropertiesFromHandle(0, new(driver.CUmemAllocationProp), h), bad)
	check("export of what cannot be", tab.MemExportToShareableHandle(0, unsafe.Pointer(&n), h,
		driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), bad)
	// the object lives as long as it is mapped
	must(t, tab.MemMap(0, at, mem.Granule, 0, h, 0))
	must(t, tab.MemRelease(0, h))
	check("released", tab.MulticastAddDevice(0, h, 0), bad)
	must(t, tab.MemUnmap(0, at, mem.Granule))
	must(t, tab.MemAddressFree(0, at, mem.Granule))
	check("gone", tab.MemRelease(0, h), bad)
}

// TestNoMulticast: devices that no other is joined to, and those before compute capability 9.0.
func TestNoMulticast(t *testing.T) {
	for _, profiles := range []string{"h200", "l4*2", "a100*2", "h200,l4", "h200,generic"} {
		d, tab, _ := open(t, Options{Profiles: strings.Split(profiles, ",")})
		for i := range d.devices {
			var n int32
			must(t, tab.DeviceGetAttribute(0, &n, driver.CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, driver.CUdevice(i)))
			if n != 0 {
				t.Errorf("%s: device %d has multicast", profiles, i)
			}
		}
		var h driver.CUmemGenericAllocationHandle
		if r := tab.MulticastCreate(0, &h, &driver.CUmulticastObjectProp{NumDevices: 1, Size: mem.Granule}); r !=
			notSupported { // recorded
			t.Errorf("%s: %v", profiles, r)
		}
	}
}

// TestFabric: handles of a fabric between devices of one process, and of multicast objects.
func TestFabric(t *testing.T) {
	x := openTeamOf(t, 2, Options{})
	tab := x.tab
	const fabric = driver.CU_MEM_HANDLE_TYPE_FABRIC
	h, at := x.store(t, 1, mem.Granule, fabric)
	var data driver.CUmemFabricHandle
	must(t, tab.MemExportToShareableHandle(0, unsafe.Pointer(&data), h, fabric, 0))
	var other driver.CUmemGenericAllocationHandle
	must(t, tab.MemImportFromShareableHandle(0, &other, uintptr(unsafe.Pointer(&data)), fabric))
	same := x.mapped(t, other, mem.Granule)
	must(t, tab.MemsetD32_v2(x.ctx[1], at, 0x12345678, 4))
	must(t, tab.CtxSynchronize(x.ctx[1]))
	var word [4]uint32
	must(t, tab.MemcpyDtoH_v2(x.ctx[0], unsafe.Pointer(&word), same, 16))
	if word != [4]uint32{0x12345678, 0x12345678, 0x12345678, 0x12345678} {
		t.Errorf("%x", word)
	}
	var prop driver.CUmemAllocationProp
	must(t, tab.MemGetAllocationPropertiesFromHandle(0, &prop, other))
	if prop.Location != onDevice(1) {
		t.Errorf("imported memory of device 1 is at %v", prop.Location)
	}
	for i := range data.Data { // whatever the bytes are
		for _, flip := range []byte{1, 0x80, 0xff} {
			damaged := data
			damaged.Data[i] ^= flip
			var h driver.CUmemGenericAllocationHandle
			if r := tab.MemImportFromShareableHandle(0, &h, uintptr(unsafe.Pointer(&damaged)), fabric); r == success {
				must(t, tab.MemRelease(0, h)) // bytes that mean nothing
			}
		}
	}
	var garbage driver.CUmemFabricHandle
	binary.LittleEndian.PutUint32(garbage.Data[:], fabricMulticast)
	if r := tab.MemImportFromShareableHandle(0, &other, uintptr(unsafe.Pointer(&garbage)), fabric); r != invalidValue {
		t.Error("a handle of zeros:", r)
	}
}

// TestTeamBytes: what other processes write into the pages of an object may be anything.
func TestTeamBytes(t *testing.T) {
	if !ipcHost {
		skip.Without(t, skip.Stores)
	}
	d, tab, _ := open(t, Options{Profiles: []string{"h200*2"}})
	d.endLimit = time.Millisecond
	r := rand.New(rand.NewPCG(5, 6))
	words := []uint64{0, 1, 2, 3, 64, 65, mem.Granule, 2 * mem.Granule, 1 << 40, 1 << 63, ^uint64(0), teamMost,
		teamMost + 1}
	for range 200 {
		var mc, h driver.CUmemGenericAllocationHandle
		must(t, tab.MulticastCreate(0, &mc, &driver.CUmulticastObjectProp{NumDevices: 2, Size: multicastSize,
			HandleTypes: uint64(shareableTypes)}))
		must(t, tab.MulticastAddDevice(0, mc, 0))
		must(t, tab.MulticastAddDevice(0, mc, 1))
		prop := driver.CUmemAllocationProp{Type: driver.CU_MEM_ALLOCATION_TYPE_PINNED, Location: onDevice(0),
			RequestedHandleTypes: shareableTypes}
		must(t, tab.MemCreate(0, &h, multicastSize, &prop, 0))
		must(t, tab.MulticastBindMem(0, mc, 0, h, 0, mem.Granule, 0))
		m := d.memHandles.get(uintptr(mc)).multi
		for range 1 + r.IntN(8) {
			w := words[r.IntN(len(words))]
			if r.IntN(3) == 0 {
				w = r.Uint64()
			}
			if i := r.IntN(teamFirst + 5*entryWords); i != teamLock {
				m.team.put(i, w)
			}
		}
		_ = m.resolve(r.Uint64(), 4, nil)
		_ = m.resolve(0, 4, nil)
		_ = tab.MulticastBindMem(0, mc, mem.Granule, h, 0, mem.Granule, 0)
		_ = tab.MulticastUnbind(0, mc, 0, 0, mem.Granule)
		_ = tab.MulticastAddDevice(0, mc, 1)
		var at driver.CUdeviceptr
		must(t, tab.MemAddressReserve(0, &at, multicastSize, 0, 0, 0))
		if tab.MemMap(0, at, multicastSize, 0, mc, 0) == success {
			must(t, tab.MemUnmap(0, at, multicastSize))
		}
		must(t, tab.MemAddressFree(0, at, multicastSize))
		must(t, tab.MemRelease(0, mc))
		must(t, tab.MemRelease(0, h))
	}
}

// TestTopology: devices of one profile with NVLink answer as two H100 did (internal/conform/api, TestTwo); between all
// others there is no way but through the host, as documented.
func TestTopology(t *testing.T) {
	d, tab, _ := open(t, Options{Profiles: []string{"h200*2", "l4*2", "generic"}})
	if len(d.devices) != 5 {
		t.Fatalf("%d devices", len(d.devices))
	}
	ctx := make([]driver.CUcontext, len(d.devices))
	for i := range ctx {
		must(t, tab.CtxCreate_v2(0, &ctx[i], 0, driver.CUdevice(i)))
	}
	for i := range ctx {
		for j := range ctx {
			if i == j {
				continue
			}
			want, enable := int32(0), driver.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
			if i < 2 && j < 2 {
				want, enable = 1, success
			}
			var can int32
			must(t, tab.DeviceCanAccessPeer(0, &can, driver.CUdevice(i), driver.CUdevice(j)))
			if r := tab.CtxEnablePeerAccess(ctx[i], ctx[j], 0); can != want || r != enable {
				t.Errorf("%d to %d: can access %d, enabling %v; want %d, %v", i, j, can, r, want, enable)
			}
			for attr, most := range map[driver.CUdevice_P2PAttribute]int32{
				driver.CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:            0,
				driver.CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:            1,
				driver.CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:     1,
				driver.CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED: 1,
			} {
				var v int32
				must(t, tab.DeviceGetP2PAttribute(0, &v, attr, driver.CUdevice(i), driver.CUdevice(j)))
				if v != min(want, most) {
					t.Errorf("%d to %d: attribute %d is %d", i, j, attr, v)
				}
			}
			// copies work everywhere
			a, b := alloc(t, tab, ctx[i], 64), alloc(t, tab, ctx[j], 64)
			must(t, tab.MemsetD32_v2(ctx[i], a, uint32(10*i+j), 16))
			must(t, tab.CtxSynchronize(ctx[i]))
			must(t, tab.MemcpyPeer(ctx[i], b, ctx[j], a, ctx[i], 64))
			var got uint32
			must(t, tab.MemcpyDtoH_v2(ctx[j], unsafe.Pointer(&got), b, 4))
			if got != uint32(10*i+j) {
				t.Errorf("a copy from %d to %d: %d", i, j, got)
			}
		}
	}
	// mapped memory of one device cannot be opened to one that is not joined to it
	x := &multicastTeam{d: d, tab: tab, n: 1, ctx: ctx}
	_, at := x.store(t, 0, mem.Granule, 0)
	for dev, want := range map[int]driver.CUresult{1: success, 2: driver.CUDA_ERROR_INVALID_DEVICE,
		4: driver.CUDA_ERROR_INVALID_DEVICE} {
		access := driver.CUmemAccessDesc{Location: onDevice(dev), Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE}
		if r := tab.MemSetAccess(0, at, mem.Granule, &access, 1); r != want {
			t.Errorf("access of device %d: %v, want %v", dev, r, want)
		}
	}
}
