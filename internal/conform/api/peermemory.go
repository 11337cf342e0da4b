package api

import "github.com/gocuda/cuda/internal/driver"

// mappedFor is a store of one granule with an address and access for some devices.
func (e *Env) mappedFor(h driver.CUmemGenericAllocationHandle, who ...driver.CUmemLocation) (p driver.CUdeviceptr) {
	e.Must("cuMemAddressReserve", &p, granule, 0, nil, 0)
	e.Must("cuMemMap", p, granule, 0, h, 0)
	for _, l := range who {
		access := driver.CUmemAccessDesc{Location: l, Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE}
		e.Must("cuMemSetAccess", p, granule, in{"access", &access}, 1)
	}
	e.sizes[uint64(p)] = granule
	e.symbol(uint64(p), "CUdeviceptr")
	return p
}

func peerManagedCases(c *cases) {
	var v uint32
	load := peerPTX(peerForms[0].body)
	managed := func(e *Env) (p driver.CUdeviceptr) {
		e.Must("cuMemAllocManaged", &p, 4<<20, 1)
		e.Must("cuMemsetD8_v2", p, 4, 4<<20)
		e.Must("cuCtxSynchronize")
		e.sizes[uint64(p)] = 4 << 20
		e.symbol(uint64(p), "CUdeviceptr")
		return p
	}
	attributes := func(e *Env, m driver.CUdeviceptr) {
		for _, a := range []int{1, 2, 4, 5, 6, 7, 8} {
			e.Do("cuMemRangeGetAttribute", &v, 4, a, m, 4096)
		}
		list := new([4]int32)
		e.Do("cuMemRangeGetAttribute", list, 16, 3, m, 4096)
	}
	c.twoAlone("managed/kernels", func(e *Env, a, b driver.CUcontext) {
		m, q, r := managed(e), e.allocIn(a, 64, 1), e.allocIn(b, 64, 1)
		e.launch(e.fnIn(a, load, "k"), 1, 1, params{m, q})
		e.Do("cuCtxSynchronize")
		f := e.fnIn(b, load, "k")
		e.in(b, func() {
			e.launch(f, 1, 1, params{m, r})
			e.Do("cuCtxSynchronize")
			e.pointer(m, 1, 2, 8, 9)
		})
		e.block(q)
		e.block(r)
		attributes(e, m)
	})
	for advice := 1; advice < 7; advice++ {
		for _, l := range []struct {
			name string
			loc  driver.CUmemLocation
		}{{"second", onSecond}, {"third", driver.CUmemLocation{Type: 1, Id: 2}}} {
			c.twoAlone("advice/"+itoa(advice)+"/"+l.name, func(e *Env, a, b driver.CUcontext) {
				m := managed(e)
				e.Do("cuMemAdvise_v2", m, 4096, advice, named(l.name, l.loc))
				attributes(e, m)
				e.Do("cuMemAdvise", m, 4096, advice, int(l.loc.Id))
				attributes(e, m)
			})
		}
	}
	c.twoAlone("advice/accessed-by-both", func(e *Env, a, b driver.CUcontext) {
		m := managed(e)
		e.Do("cuMemAdvise_v2", m, 4096, 5, named("first", onDevice))
		e.Do("cuMemAdvise_v2", m, 4096, 5, named("second", onSecond))
		attributes(e, m)
		e.Do("cuMemAdvise_v2", m, 4096, 5, named("host", onHost))
		list := new([4]int32)
		for _, size := range []int{4, 8, 12, 16} {
			e.Do("cuMemRangeGetAttribute", list, size, 3, m, 4096)
		}
		e.Do("cuMemAdvise_v2", m, 4096, 6, named("first", onDevice))
		attributes(e, m)
	})
	c.twoAlone("prefetch", func(e *Env, a, b driver.CUcontext) {
		m := managed(e)
		e.Do("cuMemPrefetchAsync_v2", m, 4096, named("second", onSecond), 0, nil)
		attributes(e, m)
		e.Do("cuMemPrefetchAsync", m, 4096, 1, nil)
		e.Do("cuMemPrefetchAsync", m, 4096, 2, nil)
		var s driver.CUstream
		e.in(b, func() { s = e.stream(1) })
		e.Do("cuMemPrefetchAsync", m, 4096, 0, s)
		e.Do("cuStreamSynchronize", s)
		attributes(e, m)
		e.Do("cuCtxSynchronize")
	})
	c.twoAlone("managed/attach", func(e *Env, a, b driver.CUcontext) {
		var p driver.CUdeviceptr
		e.Do("cuMemAllocManaged", hidden{&p}, 4096, 2)
		at := named("managed", p)
		e.pointer(at, 1, 8, 9)
		var s driver.CUstream
		e.in(b, func() { s = e.stream(1) })
		e.Do("cuStreamAttachMemAsync", s, at, 0, 4)
		e.Do("cuStreamSynchronize", s)
		r := e.allocIn(b, 64, 1)
		f := e.fnIn(b, load, "k")
		e.in(b, func() {
			e.Do("cuMemsetD8Async", at, 6, 64, s)
			e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, s, params{named("managed", p).value, r}, nil)
			e.Do("cuStreamSynchronize", s)
			e.block(r)
		})
	})
}

func peerPoolCases(c *cases) {
	var (
		pool, other driver.CUmemoryPool
		flags       driver.CUmemAccess_flags
		v           uint64
	)
	load := peerPTX(peerForms[0].body)
	props := func(l driver.CUmemLocation) in { return in{"prop", &driver.CUmemPoolProps{AllocType: 1, Location: l}} }
	location := func(l driver.CUmemLocation) in { return in{"device-" + itoa(int(l.Id)), &l} }
	// let sets the access of devices to a pool.
	let := func(e *Env, l driver.CUmemLocation, flags int) {
		d := driver.CUmemAccessDesc{Location: l, Flags: driver.CUmemAccess_flags(flags)}
		e.Do("cuMemPoolSetAccess", pool, in{"device-" + itoa(int(l.Id)) + "=" + itoa(flags), &d}, 1)
	}
	from := func(e *Env, s driver.CUstream) (p driver.CUdeviceptr) {
		e.Do("cuMemAllocFromPoolAsync", hidden{&p}, 4096, pool, s)
		e.Must("cuStreamSynchronize", s)
		e.sizes[uint64(p)] = 4096
		e.symbol(uint64(p), "CUdeviceptr")
		return p
	}
	c.two("pool/default", func(e *Env, a, b driver.CUcontext) {
		e.Do("cuDeviceGetDefaultMemPool", &pool, 0)
		e.Do("cuDeviceGetDefaultMemPool", &pool, 1)
		e.Do("cuDeviceGetMemPool", &other, 1)
		e.Do("cuDeviceGetMemPool", &other, 2)
		e.Do("cuDeviceSetMemPool", 0, pool)
		e.Do("cuMemPoolGetAccess", &flags, pool, location(onDevice))
		e.Do("cuMemPoolGetAccess", &flags, pool, location(onSecond))
		e.enable(a, b)
		e.Do("cuMemPoolGetAccess", &flags, pool, location(onDevice))
	})
	c.two("pool/access", func(e *Env, a, b driver.CUcontext) {
		e.Must("cuMemPoolCreate", &pool, props(onSecond))
		get := func() {
			e.Do("cuMemPoolGetAccess", &flags, pool, location(onDevice))
			e.Do("cuMemPoolGetAccess", &flags, pool, location(onSecond))
		}
		get()
		let(e, onDevice, 3)
		get()
		let(e, onDevice, 1)
		get()
		let(e, onDevice, 0)
		get()
		let(e, onSecond, 0)
		let(e, onSecond, 1)
		let(e, onSecond, 3)
		let(e, driver.CUmemLocation{Type: 1, Id: 2}, 3)
		let(e, onDevice, 2)
		get()
		d := [2]driver.CUmemAccessDesc{{Location: onDevice, Flags: 3}, {Location: onSecond, Flags: 3}}
		e.Do("cuMemPoolSetAccess", pool, in{"both", &d[0]}, 2)
		get()
		d[1].Location.Id = 7
		d[0].Flags = 0
		e.Do("cuMemPoolSetAccess", pool, in{"one wrong", &d[0]}, 2)
		get()
		e.Do("cuMemPoolDestroy", pool)
	})
	for _, t := range []struct {
		name        string
		pool, peers bool
	}{{"none", false, false}, {"pool", true, false}, {"context", false, true}, {"both", true, true}} {
		c.twoAlone("pool/kernel/"+t.name, func(e *Env, a, b driver.CUcontext) {
			e.Must("cuMemPoolCreate", &pool, props(onSecond))
			if t.pool {
				let(e, onDevice, 3)
			}
			if t.peers {
				e.enable(a, b)
			}
			var p driver.CUdeviceptr
			e.in(b, func() {
				p = from(e, 0)
				e.Must("cuMemsetD8_v2", p, 5, 64)
				e.Must("cuCtxSynchronize")
			})
			q := e.allocIn(a, 64, 1)
			e.pointer(p, 1, 2, 9, 13, 16)
			e.Do("cuMemcpyDtoD_v2", q, p, 16)
			e.block(q)
			e.Do("cuMemsetD32_v2", p, 8, 2)
			e.block(p)
			e.launch(e.fnIn(a, load, "k"), 1, 1, params{p, q})
			e.Do("cuCtxSynchronize")
			e.both(a, b)
		})
	}
	c.twoAlone("pool/revoked", func(e *Env, a, b driver.CUcontext) {
		e.Must("cuMemPoolCreate", &pool, props(onSecond))
		let(e, onDevice, 3)
		var p driver.CUdeviceptr
		e.in(b, func() {
			p = from(e, 0)
			e.Must("cuMemsetD8_v2", p, 5, 64)
			e.Must("cuCtxSynchronize")
		})
		q, f := e.allocIn(a, 64, 1), e.fnIn(a, load, "k")
		e.launch(f, 1, 1, params{p, q})
		e.Do("cuCtxSynchronize")
		e.block(q)
		let(e, onDevice, 0)
		e.launch(f, 1, 1, params{p, q})
		e.Do("cuCtxSynchronize")
		e.both(a, b)
	})
	c.twoAlone("pool/other-stream", func(e *Env, a, b driver.CUcontext) {
		// memory of device 1 asked for in a stream of device 0, and given back there and in the other
		e.Must("cuMemPoolCreate", &pool, props(onSecond))
		p := from(e, 0)
		e.pointer(p, 1, 2, 9)
		e.Do("cuMemsetD8Async", p, 7, 64, nil)
		e.Do("cuCtxSynchronize")
		e.in(b, func() { e.block(p) })
		e.Do("cuMemFreeAsync", p, nil)
		p = from(e, 0)
		e.in(b, func() { e.Do("cuMemFreeAsync", p, nil) })
		e.Do("cuCtxSynchronize")
		p = from(e, 0)
		e.Do("cuMemFree_v2", p)
		var s driver.CUstream
		e.in(b, func() { s = e.stream(1) })
		e.Do("cuMemAllocAsync", hidden{&p}, 4096, s) // the pool of the stream's device
		e.Do("cuStreamSynchronize", s)
		e.pointer(named("async", p), 1, 2, 9)
		e.Do("cuMemFreeAsync", named("async", p), s)
		e.Do("cuStreamSynchronize", s)
		for _, x := range []int{1, 2, 3, 4, 5, 6, 7, 8} {
			if x == 5 || x == 6 { // sizes, which are the driver's
				continue
			}
			e.Do("cuMemPoolGetAttribute", pool, x, &v)
		}
		e.Do("cuMemPoolTrimTo", pool, 0)
		e.Do("cuDeviceSetMemPool", 0, pool)
		e.Do("cuDeviceSetMemPool", 1, pool)
		e.Do("cuDeviceGetMemPool", &other, 1)
		e.Note("the same: %v", other == pool)
		e.Do("cuMemPoolDestroy", pool)
		e.Do("cuDeviceGetMemPool", &other, 1)
	})
}

func peerVirtualCases(c *cases) {
	var (
		h     driver.CUmemGenericAllocationHandle
		flags uint64
		n     uint64
		prop  driver.CUmemAllocationProp
	)
	load := peerPTX(peerForms[0].body)
	of := func(l driver.CUmemLocation) driver.CUmemAllocationProp {
		return driver.CUmemAllocationProp{Type: 1, Location: l}
	}
	let := func(e *Env, p driver.CUdeviceptr, l driver.CUmemLocation, flags int) driver.CUresult {
		d := driver.CUmemAccessDesc{Location: l, Flags: driver.CUmemAccess_flags(flags)}
		return e.Do("cuMemSetAccess", p, granule, in{"device-" + itoa(int(l.Id)) + "=" + itoa(flags), &d}, 1)
	}
	c.two("virtual/access", func(e *Env, a, b driver.CUcontext) {
		x := of(onSecond)
		e.Do("cuMemGetAllocationGranularity", &n, in{"second", &x}, 0)
		e.Do("cuMemGetAllocationGranularity", &n, in{"second", &x}, 1)
		e.Do("cuMemCreate", &h, granule, in{"second", &x}, 0)
		e.Do("cuMemGetAllocationPropertiesFromHandle", fields{&prop}, h)
		p := e.mappedFor(h)
		get := func() {
			for i := range 3 {
				e.Do("cuMemGetAccess", &flags, in{"device-" + itoa(i), &driver.CUmemLocation{Type: 1, Id: int32(i)}}, p)
			}
		}
		get()
		e.pointer(p, 1, 2, 9, 13)
		e.Do("cuMemsetD32_v2", p, 7, 4)
		let(e, p, onDevice, 3)
		get()
		e.Do("cuMemsetD32_v2", p, 7, 4)
		e.block(p)
		e.in(b, func() { e.Do("cuMemsetD32_v2", p, 8, 4); e.block(p) })
		let(e, p, onSecond, 3)
		get()
		e.in(b, func() { e.Do("cuMemsetD32_v2", p, 9, 4) })
		let(e, p, onDevice, 1)
		get()
		e.Do("cuMemsetD32_v2", p, 10, 4)
		e.block(p)
		let(e, p, onDevice, 0)
		get()
		e.Do("cuMemsetD32_v2", p, 11, 4)
		e.block(p)
		let(e, p, driver.CUmemLocation{Type: 1, Id: 2}, 3)
		e.Do("cuMemUnmap", p, granule)
		e.Do("cuMemAddressFree", p, granule)
		e.Do("cuMemRelease", h)
	})
	for _, t := range []struct {
		name          string
		first, second int
	}{{"none", 0, 3}, {"only-first", 3, 0}, {"read", 1, 3}, {"both", 3, 3}} {
		c.twoAlone("virtual/kernel/"+t.name, func(e *Env, a, b driver.CUcontext) {
			h = e.store(of(onSecond), granule)
			p := e.mappedFor(h, onSecond)
			e.in(b, func() {
				e.Must("cuMemsetD8_v2", p, 5, 64)
				e.Must("cuCtxSynchronize")
			})
			let(e, p, onSecond, t.second)
			let(e, p, onDevice, t.first)
			q, r := e.allocIn(a, 64, 1), e.allocIn(b, 64, 1)
			e.enable(a, b) // does not matter to mappings
			e.Do("cuMemcpyDtoD_v2", q, p, 16)
			e.block(q)
			e.launch(e.fnIn(a, load, "k"), 1, 1, params{p, q})
			e.Do("cuCtxSynchronize")
			f := e.fnIn(b, load, "k")
			e.in(b, func() {
				e.launch(f, 1, 1, params{p, r})
				e.Do("cuCtxSynchronize")
			})
			e.both(a, b)
		})
	}
	c.two("virtual/striped", func(e *Env, a, b driver.CUcontext) {
		var p driver.CUdeviceptr
		e.Must("cuMemAddressReserve", &p, 2*granule, 0, nil, 0)
		e.sizes[uint64(p)] = 2 * granule
		e.symbol(uint64(p), "CUdeviceptr")
		x, y := e.store(of(onDevice), granule), e.store(of(onSecond), granule)
		e.Do("cuMemMap", p, granule, 0, x, 0)
		e.Do("cuMemMap", p+granule, granule, 0, y, 0)
		both := [2]driver.CUmemAccessDesc{{Location: onDevice, Flags: 3}, {Location: onSecond, Flags: 3}}
		e.Do("cuMemSetAccess", p, 2*granule, in{"both", &both[0]}, 2)
		e.Do("cuMemsetD32_v2", p+granule-16, 6, 8)
		e.block(p + granule - 16)
		e.in(b, func() { e.block(p + granule - 16) })
		e.pointer(p, 2, 9)
		e.pointer(p+granule, 2, 9)
		e.Do("cuMemUnmap", p, 2*granule)
		e.Do("cuMemRelease", x)
		e.Do("cuMemRelease", y)
		e.Do("cuMemAddressFree", p, 2*granule)
	})
	c.two("virtual/two-addresses", func(e *Env, a, b driver.CUcontext) {
		h = e.store(of(onSecond), granule)
		p, q := e.mappedFor(h, onSecond), e.mappedFor(h, onDevice)
		at, also := named("address of b", p), named("address of a", q) // which may lie side by side
		e.Do("cuMemsetD32_v2", also, 12, 4)
		e.Do("cuCtxSynchronize")
		var word uint32
		e.in(b, func() { e.Do("cuMemcpyDtoH_v2", &word, at, 4) })
		e.Do("cuMemGetAccess", &flags, in{"first", &driver.CUmemLocation{Type: 1}}, at)
		e.Do("cuMemGetAccess", &flags, in{"first", &driver.CUmemLocation{Type: 1}}, also)
		e.Must("cuMemUnmap", p, granule)
		e.Must("cuMemUnmap", q, granule)
		e.Must("cuMemRelease", h)
	})
}
