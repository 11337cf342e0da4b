package api

import "github.com/gocuda/cuda/internal/driver"

// The cases for two devices. a is the primary context of device 0, which is current, and b that of device 1.

var onSecond = driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE, Id: 1}

// pairRun is a case with the two contexts.
type pairRun func(e *Env, a, b driver.CUcontext)

// ready makes a case of a pairRun: it retains the second context, and takes back what cases leave in primary contexts.
func ready(run pairRun) func(e *Env) {
	return func(e *Env) {
		var a, b driver.CUcontext
		e.Must("cuDevicePrimaryCtxRetain", &b, 1)
		e.Must("cuCtxGetCurrent", &a)
		e.symbols[uint64(a)], e.symbols[uint64(b)] = "CUcontext-a", "CUcontext-b"
		defer func() {
			for _, x := range [][2]driver.CUcontext{{a, b}, {b, a}} {
				e.call("cuCtxSetCurrent", true, []any{x[0]})
				e.call("cuCtxDisablePeerAccess", true, []any{x[1]})
			}
			e.call("cuCtxSetCurrent", true, []any{a})
			e.call("cuDevicePrimaryCtxRelease_v2", true, []any{1})
		}()
		run(e, a, b)
	}
}

func (c *cases) two(name string, run pairRun)      { c.add("two/"+name, ready(run)) }
func (c *cases) twoAlone(name string, run pairRun) { c.alone("two/"+name, ready(run)) }

// in runs f with another context current.
func (e *Env) in(c driver.CUcontext, f func()) {
	var old driver.CUcontext
	e.Must("cuCtxGetCurrent", &old)
	e.Must("cuCtxSetCurrent", c)
	f()
	e.Must("cuCtxSetCurrent", old)
}

// allocIn is memory of a context, all bytes of one value.
func (e *Env) allocIn(c driver.CUcontext, n, value int) (p driver.CUdeviceptr) {
	e.in(c, func() {
		p = e.alloc(n)
		e.Must("cuMemsetD8_v2", p, value, n)
		e.Must("cuCtxSynchronize")
	})
	e.symbol(uint64(p), "CUdeviceptr")
	return p
}

// fnIn is a kernel of a module in a context.
func (e *Env) fnIn(c driver.CUcontext, text, name string) (f driver.CUfunction) {
	e.in(c, func() { f = e.function(e.load(text), name) })
	return f
}

// enable lets a context use the memory of another.
func (e *Env) enable(user, owner driver.CUcontext) {
	e.in(user, func() { e.Must("cuCtxEnablePeerAccess", owner, 0) })
}

// both writes what the contexts say of themselves after something that may have ended one.
func (e *Env) both(a, b driver.CUcontext) {
	for _, c := range []driver.CUcontext{a, b} {
		e.Do("cuCtxSetCurrent", c)
		e.Do("cuCtxSynchronize")
		var p driver.CUdeviceptr
		e.Do("cuMemAlloc_v2", hidden{&p}, 16)
	}
}

func peerCases(c *cases) {
	var (
		n        int32
		own, ctx driver.CUcontext
		u        uint32
	)
	ordinals := [][2]int{{0, 1}, {1, 0}, {0, 0}, {1, 1}, {0, 2}, {2, 0}, {-1, 0}, {0, -1}, {2, 2}}
	c.noContext("two/can-access", func(e *Env) {
		e.Do("cuDeviceGetCount", &n)
		for _, o := range ordinals {
			e.Do("cuDeviceCanAccessPeer", &n, o[0], o[1])
		}
		e.Do("cuDeviceCanAccessPeer", nil, 0, 1)
		e.Do("cuDeviceCanAccessPeer", nil, 0, 9)
	})
	c.noInit("two/before-init", func(e *Env) {
		e.Do("cuDeviceCanAccessPeer", &n, 0, 1)
		e.Do("cuDeviceGetP2PAttribute", &n, 2, 0, 1)
		e.Do("cuCtxEnablePeerAccess", nil, 0)
		e.Do("cuCtxDisablePeerAccess", nil)
	})
	for attr := -1; attr < 9; attr++ {
		c.noContext("two/attribute/"+itoa(attr), func(e *Env) {
			for _, o := range ordinals {
				e.Do("cuDeviceGetP2PAttribute", &n, attr, o[0], o[1])
			}
			e.Do("cuDeviceGetP2PAttribute", nil, attr, 0, 1)
		})
	}
	for _, o := range ordinals {
		c.noContext("two/atomics/"+itoa(o[0])+"/"+itoa(o[1]), func(e *Env) {
			var ops [16]driver.CUatomicOperation
			for i := range ops {
				ops[i] = driver.CUatomicOperation(i)
			}
			list := new([16]uint32)
			e.Do("cuDeviceGetP2PAtomicCapabilities", list, in{"all", &ops[0]}, 13, o[0], o[1])
			e.Do("cuDeviceGetP2PAtomicCapabilities", list, in{"all", &ops[0]}, 0, o[0], o[1])
			e.Do("cuDeviceGetP2PAtomicCapabilities", list, in{"beyond", &ops[13]}, 3, o[0], o[1])
			e.Do("cuDeviceGetP2PAtomicCapabilities", nil, in{"all", &ops[0]}, 1, o[0], o[1])
		})
	}
	c.noContext("two/identity", func(e *Env) {
		type device struct {
			name  [64]byte
			uuid  driver.CUuuid
			total uint64
			bus   [32]byte
		}
		var x [2]device
		for i := range x {
			e.Must("cuDeviceGetName", &x[i].name, 64, i)
			e.Must("cuDeviceGetUuid_v2", &x[i].uuid, i)
			e.Must("cuDeviceTotalMem_v2", &x[i].total, i)
			e.Must("cuDeviceGetPCIBusId", &x[i].bus, 32, i)
		}
		e.Note("same name %v, identifier %v, memory %v, bus %v", x[0].name == x[1].name, x[0].uuid == x[1].uuid,
			x[0].total == x[1].total, x[0].bus == x[1].bus)
		var dev driver.CUdevice
		for i := range x {
			e.Do("cuDeviceGetByPCIBusId", &dev, in{"bus-" + itoa(i), &x[i].bus[0]})
		}
		// numbers of the bus, which are the machine's: domain, bus, device
		for attr := 1; attr < 150; attr++ {
			var v [2]int32
			r := [2]driver.CUresult{}
			for i := range v {
				r[i] = e.T.DeviceGetAttribute(0, &v[i], driver.CUdevice_attribute(attr), driver.CUdevice(i))
			}
			if r[0] != r[1] || v[0] != v[1] {
				e.Note("attribute %d differs", attr)
			}
		}
	})
	c.noContext("two/enable/no-context", func(e *Env) {
		e.Do("cuCtxEnablePeerAccess", nil, 0)
		e.Do("cuCtxDisablePeerAccess", nil)
	})
	c.two("enable/twice", func(e *Env, a, b driver.CUcontext) {
		e.Do("cuCtxDisablePeerAccess", b)
		e.Do("cuCtxEnablePeerAccess", b, 1)
		e.Do("cuCtxEnablePeerAccess", b, 0)
		e.Do("cuCtxEnablePeerAccess", b, 0)
		e.Do("cuCtxEnablePeerAccess", b, 1)
		e.in(b, func() {
			e.Do("cuCtxDisablePeerAccess", a)
			e.Do("cuCtxEnablePeerAccess", a, 0)
			e.Do("cuCtxEnablePeerAccess", a, 0)
			e.Do("cuCtxDisablePeerAccess", a)
		})
		e.Do("cuCtxDisablePeerAccess", b)
		e.Do("cuCtxDisablePeerAccess", b)
	})
	c.two("enable/refused", func(e *Env, a, b driver.CUcontext) {
		e.Do("cuCtxEnablePeerAccess", a, 0)
		e.Do("cuCtxEnablePeerAccess", nil, 0)
		e.Do("cuCtxDisablePeerAccess", a)
		e.Do("cuCtxDisablePeerAccess", nil)
		e.Must("cuCtxCreate_v2", &own, 0, 0)
		e.symbol(uint64(own), "CUcontext")
		e.Do("cuCtxEnablePeerAccess", a, 0)
		e.Do("cuCtxDisablePeerAccess", a)
		e.Must("cuCtxSetCurrent", a)
		e.Do("cuCtxEnablePeerAccess", own, 0)
		e.Must("cuCtxDestroy_v2", own)
	})
	c.twoAlone("enable/garbage", func(e *Env, a, b driver.CUcontext) { e.Do("cuCtxEnablePeerAccess", garbage, 0) })
	c.twoAlone("disable/garbage", func(e *Env, a, b driver.CUcontext) { e.Do("cuCtxDisablePeerAccess", garbage) })
	c.two("enable/second-context", func(e *Env, a, b driver.CUcontext) {
		e.Must("cuCtxCreate_v2", &own, 0, 1)
		e.symbol(uint64(own), "CUcontext")
		e.Must("cuCtxSetCurrent", a)
		e.Do("cuCtxEnablePeerAccess", b, 0)
		e.Do("cuCtxEnablePeerAccess", own, 0)
		e.Do("cuCtxDisablePeerAccess", b)
		e.Do("cuCtxDisablePeerAccess", own)
		e.Do("cuCtxEnablePeerAccess", own, 0)
		e.Must("cuCtxDestroy_v2", own)
		e.Do("cuCtxEnablePeerAccess", b, 0)
	})
	c.twoAlone("disable/destroyed", func(e *Env, a, b driver.CUcontext) {
		e.Must("cuCtxCreate_v2", &own, 0, 1)
		e.symbol(uint64(own), "CUcontext")
		e.Must("cuCtxSetCurrent", a)
		e.Do("cuCtxEnablePeerAccess", own, 0)
		e.Do("cuCtxDestroy_v2", own)
		e.Do("cuCtxDisablePeerAccess", own)
	})
	c.twoAlone("enable/destroyed", func(e *Env, a, b driver.CUcontext) {
		e.Must("cuCtxCreate_v2", &own, 0, 1)
		e.symbol(uint64(own), "CUcontext")
		e.Do("cuCtxDestroy_v2", own)
		e.Must("cuCtxSetCurrent", a)
		e.Do("cuCtxEnablePeerAccess", own, 0)
	})
	c.twoAlone("enable/inactive", func(e *Env, a, b driver.CUcontext) {
		e.Do("cuCtxEnablePeerAccess", b, 0)
		e.Do("cuDevicePrimaryCtxReset_v2", 1)
		e.Do("cuDevicePrimaryCtxGetState", 1, &u, &n)
		e.Do("cuCtxDisablePeerAccess", b)
		e.Do("cuCtxEnablePeerAccess", b, 0)
		e.Do("cuDevicePrimaryCtxRetain", &ctx, 1)
		e.Note("the same: %v", ctx == b)
		e.Do("cuCtxEnablePeerAccess", ctx, 0)
	})
}

// peerForms are accesses of a kernel to memory that may be another device's: p is what is accessed, q memory of the
// kernel's own device.
var peerForms = []struct{ name, body string }{
	{"load", "ld.global.u32 %r1,[%rd1]; st.global.u32 [%rd2],%r1;"},
	{"generic", "ld.u32 %r1,[%rd1]; st.global.u32 [%rd2],%r1;"},
	{"nc", "ld.global.nc.u32 %r1,[%rd1]; st.global.u32 [%rd2],%r1;"},
	{"volatile", "ld.volatile.global.u32 %r1,[%rd1]; st.global.u32 [%rd2],%r1;"},
	{"store", "st.global.u32 [%rd1],7;"},
	{"vector", "ld.global.v4.u32 {%r1,%r2,%r3,%r4},[%rd1]; st.global.v2.u32 [%rd2],{%r1,%r4}; st.global.v4.u32 [%rd1+16],{%r4,%r3,%r2,%r1};"},
	{"atom", "atom.global.add.u32 %r1,[%rd1],3; st.global.u32 [%rd2],%r1;"},
	{"atom-sys", "atom.sys.global.cas.b32 %r1,[%rd1],0x05050505,9; st.global.u32 [%rd2],%r1;"},
	{"red", "red.global.add.u32 [%rd1],3;"},
	{"atom-64", "atom.sys.global.exch.b64 %rd3,[%rd1],77; st.global.u64 [%rd2],%rd3;"},
	{"atom-f32", "mov.f32 %f1,0f3f800000; atom.sys.global.add.f32 %f2,[%rd1],%f1; st.global.f32 [%rd2],%f2;"},
	{"acquire", "ld.acquire.sys.global.u32 %r1,[%rd1]; st.release.sys.global.u32 [%rd1+4],%r1; fence.sc.sys; st.global.u32 [%rd2],%r1;"},
	{"prefetch", "prefetch.global.L2 [%rd1];"},
}

func peerPTX(body string) string {
	return head + ".visible .entry k(.param .u64 p, .param .u64 q) {\n" +
		".reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<5>; ld.param.u64 %rd1,[p]; ld.param.u64 %rd2,[q];\n" + body +
		"\nret;\n}\n"
}

func peerKernelCases(c *cases) {
	for _, f := range peerForms {
		c.two("kernel/"+f.name+"/with", func(e *Env, a, b driver.CUcontext) {
			q, p := e.allocIn(a, 64, 1), e.allocIn(b, 64, 5)
			e.enable(a, b)
			e.launch(e.fnIn(a, peerPTX(f.body), "k"), 1, 1, params{p, q})
			e.Do("cuCtxSynchronize")
			e.block(p)
			e.block(q)
		})
		c.twoAlone("kernel/"+f.name+"/without", func(e *Env, a, b driver.CUcontext) {
			q, p := e.allocIn(a, 64, 1), e.allocIn(b, 64, 5)
			e.enable(b, a) // the other way
			e.launch(e.fnIn(a, peerPTX(f.body), "k"), 1, 1, params{p, q})
			e.Do("cuCtxSynchronize")
			e.both(a, b)
		})
	}
	load := peerPTX(peerForms[0].body)
	c.twoAlone("kernel/disabled", func(e *Env, a, b driver.CUcontext) {
		q, p := e.allocIn(a, 64, 1), e.allocIn(b, 64, 5)
		e.enable(a, b)
		f := e.fnIn(a, load, "k")
		e.launch(f, 1, 1, params{p, q})
		e.Do("cuCtxSynchronize")
		e.Do("cuCtxDisablePeerAccess", b)
		e.launch(f, 1, 1, params{p, q})
		e.Do("cuCtxSynchronize")
		e.both(a, b)
	})
	c.two("kernel/enabled-before", func(e *Env, a, b driver.CUcontext) {
		e.enable(a, b)
		q, p := e.allocIn(a, 64, 1), e.allocIn(b, 64, 5)
		e.launch(e.fnIn(a, load, "k"), 1, 1, params{p, q})
		e.Do("cuCtxSynchronize")
		e.block(q)
	})
	c.twoAlone("kernel/another-context", func(e *Env, a, b driver.CUcontext) {
		// access is a's: does another context of its device have it?
		var own driver.CUcontext
		e.enable(a, b)
		p := e.allocIn(b, 64, 5)
		e.Must("cuCtxCreate_v2", &own, 0, 0)
		e.symbol(uint64(own), "CUcontext")
		q := e.allocIn(own, 64, 1)
		e.launch(e.fnIn(own, load, "k"), 1, 1, params{p, q})
		e.Do("cuCtxSynchronize")
		e.both(a, b)
	})
	c.twoAlone("kernel/another-owner", func(e *Env, a, b driver.CUcontext) {
		// access is to b's memory: is that of another context of its device reached?
		var own driver.CUcontext
		e.enable(a, b)
		e.Must("cuCtxCreate_v2", &own, 0, 1)
		e.symbol(uint64(own), "CUcontext")
		p, q := e.allocIn(own, 64, 5), e.allocIn(a, 64, 1)
		e.Must("cuCtxSetCurrent", a)
		e.launch(e.fnIn(a, load, "k"), 1, 1, params{p, q})
		e.Do("cuCtxSynchronize")
		e.both(a, b)
	})
	c.twoAlone("kernel/freed", func(e *Env, a, b driver.CUcontext) {
		q, p := e.allocIn(a, 64, 1), e.allocIn(b, 8<<20, 5)
		e.enable(a, b)
		e.Do("cuMemFree_v2", p)
		e.launch(e.fnIn(a, load, "k"), 1, 1, params{p, q})
		e.Do("cuCtxSynchronize")
		e.both(a, b)
	})
	c.twoAlone("kernel/fault-there", func(e *Env, a, b driver.CUcontext) {
		// a fault of b's kernel while a reaches its memory
		q, p := e.allocIn(a, 64, 1), e.allocIn(b, 64, 5)
		e.enable(a, b)
		f := e.fnIn(b, load, "k")
		e.Do("cuCtxSetCurrent", b)
		e.launch(f, 1, 1, params{q, p})
		e.Do("cuCtxSynchronize")
		e.Do("cuCtxSetCurrent", a)
		e.launch(e.fnIn(a, load, "k"), 1, 1, params{p, q})
		e.both(a, b)
	})
}

// block writes what the first 32 bytes of memory hold.
func (e *Env) block(p driver.CUdeviceptr) {
	v := new([8]uint32)
	e.Do("cuMemcpyDtoH_v2", v, p, 32)
}
