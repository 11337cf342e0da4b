package api

import (
	"os"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// Places of memory.
var (
	onDevice  = driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE}
	onHost    = driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST}
	onNode    = driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST_NUMA}
	onCurrent = driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT}
)

// locations are places with their names in the transcript, some of which there are not.
var locations = []struct {
	name string
	loc  driver.CUmemLocation
}{
	{"device", onDevice}, {"host", onHost}, {"node", onNode}, {"current", onCurrent}, {"none", driver.CUmemLocation{}},
	{"device-9", driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE, Id: 9}},
	{"device--1", driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE, Id: -1}},
	{"node-99", driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST_NUMA, Id: 99}},
	{"host-5", driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST, Id: 5}},
	{"type-9", driver.CUmemLocation{Type: 9}},
}

const granule = 2 << 20

// closeFile closes a descriptor that a call gave.
func closeFile(fd int32) { _ = os.NewFile(uintptr(fd), "").Close() }

// hostPointer is an address as the host's.
func hostPointer(p driver.CUdeviceptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// pointer asks for attributes of an address (a CUdeviceptr, with or without a name), each with the type that it has.
func (e *Env) pointer(p any, attrs ...driver.CUpointer_attribute) {
	for _, a := range attrs {
		var out any
		switch a {
		case driver.CU_POINTER_ATTRIBUTE_CONTEXT:
			out = new(driver.CUcontext)
		case driver.CU_POINTER_ATTRIBUTE_DEVICE_POINTER, driver.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
			driver.CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
			out = hidden{new(uint64)}
		case driver.CU_POINTER_ATTRIBUTE_HOST_POINTER, driver.CU_POINTER_ATTRIBUTE_BUFFER_ID,
			driver.CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
			out = hidden{new(uint64)}
		case driver.CU_POINTER_ATTRIBUTE_RANGE_SIZE, driver.CU_POINTER_ATTRIBUTE_MAPPING_SIZE,
			driver.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
			out = new(uint64)
		case driver.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
			out = new(driver.CUmemoryPool)
		default:
			out = new(uint32)
		}
		e.Do("cuPointerGetAttribute", out, int(a), p)
	}
}

// store is memory without an address.
func (e *Env) store(prop driver.CUmemAllocationProp, size int) driver.CUmemGenericAllocationHandle {
	var h driver.CUmemGenericAllocationHandle
	e.Must("cuMemCreate", &h, size, in{"prop", &prop}, 0)
	return h
}

// mapped is a store with an address and access for the device.
func (e *Env) mapped(h driver.CUmemGenericAllocationHandle, size int) driver.CUdeviceptr {
	var p driver.CUdeviceptr
	access := driver.CUmemAccessDesc{Location: onDevice, Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE}
	e.Must("cuMemAddressReserve", &p, size, 0, nil, 0)
	e.Must("cuMemMap", p, size, 0, h, 0)
	e.Must("cuMemSetAccess", p, size, in{"access", &access}, 1)
	e.sizes[uint64(p)] = uint64(size)
	return p
}

func (e *Env) unmap(p driver.CUdeviceptr, h driver.CUmemGenericAllocationHandle, size int) {
	e.Must("cuMemUnmap", p, size)
	e.Must("cuMemAddressFree", p, size)
	e.Must("cuMemRelease", h)
}

func ipcCases(c *cases) {
	var (
		h  driver.CUipcMemHandle
		v  driver.CUipcEventHandle
		p  driver.CUdeviceptr
		ev driver.CUevent
		u  uint32
	)
	c.noContext("ipc/no-context", func(e *Env) {
		e.Do("cuIpcGetMemHandle", hidden{&h}, garbage)
		e.Do("cuIpcOpenMemHandle_v2", &p, named("zeros", driver.CUipcMemHandle{}), 1)
		e.Do("cuIpcOpenEventHandle", &ev, named("zeros", driver.CUipcEventHandle{}))
		e.Do("cuIpcCloseMemHandle", garbage)
	})
	c.add("ipc/memory/get", func(e *Env) {
		d := e.alloc(4096)
		e.Do("cuPointerGetAttribute", &u, 10, d)
		e.Do("cuIpcGetMemHandle", hidden{&h}, d)
		first := h
		e.Do("cuIpcGetMemHandle", hidden{&h}, d+100)
		e.Note("the same: %v", h == first)
		e.Do("cuIpcGetMemHandle", hidden{&h}, d+4096)
		e.Do("cuIpcGetMemHandle", nil, d)
		e.Do("cuIpcGetMemHandle", hidden{&h}, nil)
		e.Must("cuMemFree_v2", d)
	})
	c.add("ipc/memory/kinds", func(e *Env) {
		var host unsafe.Pointer
		e.Must("cuMemHostAlloc", &host, 4096, 0)
		e.Do("cuIpcGetMemHandle", hidden{&h}, named("pinned", uint64(uintptr(host))))
		e.Must("cuMemFreeHost", host)
		e.Must("cuMemAllocManaged", &p, 4096, 1)
		e.Do("cuIpcGetMemHandle", hidden{&h}, named("managed", p))
		e.Must("cuMemFree_v2", p)
		e.Must("cuMemAllocAsync", &p, 4096, nil)
		e.Do("cuIpcGetMemHandle", hidden{&h}, named("async", p))
		e.Must("cuMemFree_v2", p)
		s := e.store(driver.CUmemAllocationProp{Type: 1, Location: onDevice}, granule)
		p = e.mapped(s, granule)
		e.Do("cuIpcGetMemHandle", hidden{&h}, named("mapped", p))
		e.unmap(p, s, granule)
		m := e.load(basic)
		e.Must("cuModuleGetGlobal_v2", &p, nil, m, "gvar")
		e.Do("cuIpcGetMemHandle", hidden{&h}, named("variable", p))
		e.Do("cuIpcGetMemHandle", hidden{&h}, garbage)
	})
	c.add("ipc/memory/open-own", func(e *Env) {
		d := e.alloc(4096)
		e.Must("cuIpcGetMemHandle", hidden{&h}, d)
		for _, flags := range []int{1, 0, 2, 3} {
			e.Do("cuIpcOpenMemHandle_v2", &p, named("own", h), flags)
		}
		e.Do("cuIpcOpenMemHandle_v2", nil, named("own", h), 1)
		e.Do("cuIpcOpenMemHandle", &p, named("own", h), 1)
		e.Do("cuIpcOpenMemHandle", &p, named("own", h), 0)
		e.Do("cuIpcCloseMemHandle", d)
		e.Do("cuIpcCloseMemHandle", d+8)
		e.Do("cuIpcCloseMemHandle", garbage)
	})
	c.alone("ipc/memory/open-zeros", func(e *Env) {
		e.Do("cuIpcOpenMemHandle_v2", &p, named("zeros", driver.CUipcMemHandle{}), 1)
	})
	c.alone("ipc/memory/open-ones", func(e *Env) {
		var h driver.CUipcMemHandle
		for i := range h.Reserved {
			h.Reserved[i] = 1
		}
		e.Do("cuIpcOpenMemHandle_v2", &p, named("ones", h), 1)
	})
	c.add("ipc/event/get", func(e *Env) {
		for _, flags := range []int{0, 2, 4, 6, 7} {
			if e.Do("cuEventCreate", &ev, flags) != driver.CUDA_SUCCESS {
				continue
			}
			e.Do("cuIpcGetEventHandle", hidden{&v}, ev)
			e.Do("cuEventDestroy_v2", ev)
		}
		e.Do("cuIpcGetEventHandle", nil, ev)
		e.Do("cuIpcGetEventHandle", hidden{&v}, nil)
	})
	c.add("ipc/event/open-own", func(e *Env) {
		x := e.event(6)
		e.Must("cuIpcGetEventHandle", hidden{&v}, x)
		e.Do("cuIpcOpenEventHandle", &ev, named("own", v))
		e.Do("cuIpcOpenEventHandle", nil, named("own", v))
		e.Do("cuEventRecord", x, nil)
		e.Do("cuEventSynchronize", x)
		e.Do("cuEventQuery", x)
		var ms float32
		e.Do("cuEventElapsedTime", &ms, x, x)
	})
	c.alone("ipc/event/open-zeros", func(e *Env) {
		e.Do("cuIpcOpenEventHandle", &ev, named("zeros", driver.CUipcEventHandle{}))
	})
}

func virtualCases(c *cases) {
	var (
		p, q   driver.CUdeviceptr
		h, h2  driver.CUmemGenericAllocationHandle
		n      uint64
		fd     int32
		prop   driver.CUmemAllocationProp
		handle = driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
	)
	// What the call reads has a name that says what is in it.
	props := func(name string, x driver.CUmemAllocationProp) in { return in{name, &x} }
	for _, l := range locations {
		c.add("virtual/create/"+l.name, func(e *Env) {
			x := driver.CUmemAllocationProp{Type: 1, Location: l.loc}
			e.Do("cuMemGetAllocationGranularity", &n, props(l.name, x), 0)
			if e.Do("cuMemCreate", &h, granule, props(l.name, x), 0) == driver.CUDA_SUCCESS {
				e.Do("cuMemGetAllocationPropertiesFromHandle", fields{&prop}, h)
				e.Do("cuMemRelease", h)
			}
		})
	}
	for _, typ := range []int{0, 1, 2, 3, -1} {
		c.add("virtual/create/type/"+itoa(typ), func(e *Env) {
			e.Do("cuMemCreate", &h, granule, props("device",
				driver.CUmemAllocationProp{Type: driver.CUmemAllocationType(typ), Location: onDevice}), 0)
		})
	}
	for _, typ := range []int{0, 1, 2, 3, 4, 8, 9, 16, -1} {
		c.add("virtual/create/handles/"+itoa(typ), func(e *Env) {
			x := driver.CUmemAllocationProp{Type: 1, Location: onDevice,
				RequestedHandleTypes: driver.CUmemAllocationHandleType(typ)}
			e.Do("cuMemCreate", &h, granule, props("device", x), 0)
		})
	}
	for _, x := range []struct {
		name  string
		flags driver.CUmemAllocationProp_allocFlags
	}{{"compressed", driver.CUmemAllocationProp_allocFlags{CompressionType: 1}},
		{"compression-2", driver.CUmemAllocationProp_allocFlags{CompressionType: 2}},
		{"rdma", driver.CUmemAllocationProp_allocFlags{GpuDirectRDMACapable: 1}},
		{"usage-1", driver.CUmemAllocationProp_allocFlags{Usage: 1}},
		{"usage-2", driver.CUmemAllocationProp_allocFlags{Usage: 2}},
		{"usage-4", driver.CUmemAllocationProp_allocFlags{Usage: 4}}} {
		c.add("virtual/create/flags/"+x.name, func(e *Env) {
			if e.Do("cuMemCreate", &h, granule, props(x.name,
				driver.CUmemAllocationProp{Type: 1, Location: onDevice, AllocFlags: x.flags}),
				0) == driver.CUDA_SUCCESS {
				e.Do("cuMemGetAllocationPropertiesFromHandle", fields{&prop}, h)
			}
		})
	}
	c.add("virtual/create/nulls", func(e *Env) {
		x := driver.CUmemAllocationProp{Type: 1, Location: onDevice}
		e.Do("cuMemCreate", nil, granule, props("device", x), 0)
		e.Do("cuMemCreate", &h, granule, nil, 0)
		e.Do("cuMemGetAllocationGranularity", nil, props("device", x), 0)
		e.Do("cuMemGetAllocationGranularity", &n, nil, 0)
		e.Do("cuMemRelease", nil)
		e.Do("cuMemRetainAllocationHandle", &h, nil)
		e.Do("cuMemGetAllocationPropertiesFromHandle", fields{&prop}, nil)
	})
	c.add("virtual/map", func(e *Env) {
		s := e.store(driver.CUmemAllocationProp{Type: 1, Location: onDevice}, 2*granule)
		e.Must("cuMemAddressReserve", &p, 8*granule, 0, nil, 0)
		e.sizes[uint64(p)] = 8 * granule
		e.symbol(uint64(p), "CUdeviceptr")
		access := func(l driver.CUmemLocation, flags int) in {
			return in{"access", &driver.CUmemAccessDesc{Location: l, Flags: driver.CUmemAccess_flags(flags)}}
		}
		var flags uint64
		e.Do("cuMemMap", p, 2*granule, 0, s, 1)
		e.Do("cuMemMap", nil, 2*granule, 0, s, 0)
		e.Do("cuMemMap", p+4096, 2*granule, 0, s, 0)
		e.Do("cuMemMap", p+7*granule, 2*granule, 0, s, 0)
		e.Do("cuMemMap", p, granule, 0, s, 0)
		e.Do("cuMemMap", p, granule, granule, s, 0)
		e.Do("cuMemMap", p, 2*granule, 0, nil, 0)
		e.Do("cuMemMap", p, 0, 0, s, 0)
		e.Do("cuMemSetAccess", p, 2*granule, access(onDevice, 3), 1)
		e.Do("cuMemMap", p, 2*granule, 0, s, 0)
		e.Do("cuMemMap", p+granule, 2*granule, 0, s, 0)
		e.Do("cuMemMap", p+4*granule, 2*granule, 0, s, 0)
		e.Do("cuMemGetAccess", &flags, in{"device", &driver.CUmemLocation{Type: 1}}, p)
		e.Do("cuMemSetAccess", p, granule, access(onDevice, 3), 1)
		e.Do("cuMemSetAccess", p+granule, granule, access(onDevice, 3), 1)
		e.Do("cuMemSetAccess", p, 3*granule, access(onDevice, 3), 1)
		e.Do("cuMemSetAccess", p, 2*granule, access(onDevice, 2), 1)
		e.Do("cuMemSetAccess", p, 2*granule, access(onHost, 3), 1)
		e.Do("cuMemSetAccess", p, 2*granule, access(driver.CUmemLocation{Type: 1, Id: 9}, 3), 1)
		e.Do("cuMemSetAccess", p, 2*granule, nil, 1)
		e.Do("cuMemSetAccess", p, 2*granule, access(onDevice, 3), 0)
		e.Do("cuMemSetAccess", p, 2*granule, access(onDevice, 1), 1)
		e.Do("cuMemGetAccess", &flags, in{"device", &driver.CUmemLocation{Type: 1}}, p)
		e.Do("cuMemGetAccess", &flags, in{"device", &driver.CUmemLocation{Type: 1}}, p+2*granule)
		e.Do("cuMemGetAccess", &flags, in{"host", &driver.CUmemLocation{Type: 2}}, p)
		e.Do("cuMemSetAccess", p, 2*granule, access(onDevice, 3), 1)
		e.Do("cuMemSetAccess", p+4*granule, 2*granule, access(onDevice, 3), 1)
		e.Do("cuMemsetD32_v2", p, 7, granule/2)
		e.Do("cuMemsetD32_v2", p+4*granule, 8, 1)
		e.word(p)
		e.word(p + 2*granule - 4)
		e.Do("cuMemGetAddressRange_v2", &q, &n, p+granule)
		e.Do("cuMemRetainAllocationHandle", &h, named("inside", uintptr(p+granule+5)))
		e.Note("the same: %v", h == s)
		e.Do("cuMemRelease", s)
		e.Do("cuMemRelease", s)
		e.Do("cuMemGetAllocationPropertiesFromHandle", fields{&prop}, s)
		e.word(p)
		e.Do("cuMemAddressFree", p, 8*granule)
		e.Do("cuMemUnmap", p, granule)
		e.Do("cuMemUnmap", p+granule, granule)
		e.Do("cuMemUnmap", p, 3*granule)
		e.Do("cuMemUnmap", p, 8*granule)
		e.Do("cuMemUnmap", nil, granule)
		e.Do("cuMemAddressFree", p, 4*granule)
		e.Do("cuMemAddressFree", p+granule, granule)
		e.Do("cuMemAddressFree", p, 8*granule)
		e.Do("cuMemAddressFree", p, 8*granule)
		e.Do("cuMemAddressFree", nil, granule)
	})
	for _, l := range locations[1:4] {
		c.add("virtual/host/"+l.name, func(e *Env) {
			x := driver.CUmemAllocationProp{Type: 1, Location: l.loc}
			if e.Do("cuMemCreate", &h, granule, props(l.name, x), 0) != driver.CUDA_SUCCESS {
				return
			}
			e.Must("cuMemAddressReserve", &p, granule, 0, nil, 0)
			e.sizes[uint64(p)] = granule
			e.symbol(uint64(p), "CUdeviceptr")
			e.Do("cuMemMap", p, granule, 0, h, 0)
			both := [2]driver.CUmemAccessDesc{{Location: onDevice, Flags: 3}, {Location: l.loc, Flags: 3}}
			e.Do("cuMemSetAccess", p, granule, in{"device", &both[0]}, 1)
			e.Do("cuMemSetAccess", p, granule, in{"device,host", &both[0]}, 2)
			var flags uint64
			for _, x := range locations[:4] {
				e.Do("cuMemGetAccess", &flags, in{x.name, &driver.CUmemLocation{Type: x.loc.Type}}, p)
			}
			e.pointer(p, 1, 2, 4, 8, 9, 10, 13, 14)
			e.Do("cuMemsetD32_v2", p, 7, 4)
			e.word(p)
			e.Do("cuMemHostGetFlags", new(uint32), named("mapped", hostPointer(p)))
			e.Do("cuMemUnmap", p, granule)
			e.Do("cuMemAddressFree", p, granule)
			e.Do("cuMemRelease", h)
		})
	}
	for _, typ := range []driver.CUmemAllocationHandleType{0, handle} {
		c.add("virtual/export/"+itoa(int(typ)), func(e *Env) {
			s := e.store(driver.CUmemAllocationProp{Type: 1, Location: onDevice, RequestedHandleTypes: typ}, granule)
			e.Do("cuMemExportToShareableHandle", hidden{&fd}, s, 0, 0)
			e.Do("cuMemExportToShareableHandle", hidden{&fd}, s, 2, 0)
			e.Do("cuMemExportToShareableHandle", hidden{&fd}, s, 8, 0)
			e.Do("cuMemExportToShareableHandle", hidden{&fd}, s, 1, 1)
			e.Do("cuMemExportToShareableHandle", nil, s, 1, 0)
			e.Do("cuMemExportToShareableHandle", hidden{&fd}, nil, 1, 0)
			if e.Do("cuMemExportToShareableHandle", hidden{&fd}, s, 1, 0) != driver.CUDA_SUCCESS {
				return
			}
			p := e.mapped(s, granule)
			e.Must("cuMemsetD32_v2", p, 77, 4)
			file := named("fd", uintptr(fd))
			e.Do("cuMemImportFromShareableHandle", &h2, file, 0)
			e.Do("cuMemImportFromShareableHandle", &h2, file, 2)
			e.Do("cuMemImportFromShareableHandle", nil, file, 1)
			if e.Do("cuMemImportFromShareableHandle", &h2, file, 1) == driver.CUDA_SUCCESS {
				e.Note("the same: %v", h2 == s)
				e.Do("cuMemGetAllocationPropertiesFromHandle", fields{&prop}, h2)
				q := e.mapped(h2, granule)
				e.word(q)
				e.unmap(q, h2, granule)
			}
			closeFile(fd)
			e.unmap(p, s, granule)
		})
	}
	c.alone("virtual/import/no-file", func(e *Env) { e.Do("cuMemImportFromShareableHandle", &h2, 9999, 1) })
	c.alone("virtual/import/other-file", func(e *Env) {
		f, err := os.Open(os.Args[0])
		if err != nil {
			panic(err)
		}
		defer f.Close()
		e.Do("cuMemImportFromShareableHandle", &h2, named("program", f.Fd()), 1)
	})
	c.add("virtual/pointers", func(e *Env) {
		s := e.store(driver.CUmemAllocationProp{Type: 1, Location: onDevice, RequestedHandleTypes: handle}, granule)
		p := e.mapped(s, granule)
		e.pointer(p+8, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21)
		e.Do("cuMemFree_v2", p)
		e.Do("cuMemFreeAsync", p, nil)
		e.unmap(p, s, granule)
	})
	c.add("virtual/dma-buf", func(e *Env) {
		d := e.alloc(granule)
		e.Do("cuMemGetHandleForAddressRange", hidden{&fd}, d, granule, 1, 0)
		e.Do("cuMemGetHandleForAddressRange", hidden{&fd}, d, 4096, 1, 0)
		e.Do("cuMemGetHandleForAddressRange", hidden{&fd}, d, granule, 2, 0)
		e.Do("cuMemGetHandleForAddressRange", hidden{&fd}, d, 0, 1, 0)
	})
}

func poolCases(c *cases) {
	var (
		pool, other driver.CUmemoryPool
		p           driver.CUdeviceptr
		v           uint64
		fd          int32
		access      driver.CUmemAccess_flags
		data        driver.CUmemPoolPtrExportData
	)
	props := func(name string, x driver.CUmemPoolProps) in { return in{name, &x} }
	for _, typ := range []int{1, 2, 0, 3} {
		for _, l := range locations {
			c.alone("pool/create/"+itoa(typ)+"/"+l.name, func(e *Env) {
				if e.Do("cuMemPoolCreate", &pool, props(l.name,
					driver.CUmemPoolProps{AllocType: driver.CUmemAllocationType(typ),
						Location: l.loc})) != driver.CUDA_SUCCESS {
					return
				}
				for _, a := range locations[:5] {
					e.Do("cuMemPoolGetAccess", &access, pool,
						in{a.name, &driver.CUmemLocation{Type: a.loc.Type, Id: a.loc.Id}})
				}
				if e.Do("cuMemAllocFromPoolAsync", hidden{&p}, 1000, pool, nil) == driver.CUDA_SUCCESS {
					at := named("memory", p)
					e.Do("cuMemsetD32_v2", at, 9, 4)
					var word uint32
					e.Do("cuMemcpyDtoH_v2", &word, at, 4)
					e.pointer(at, 1, 2, 8, 9, 10, 13, 14, 17)
					e.Do("cuMemFreeAsync", at, nil)
				}
				e.Do("cuCtxSynchronize")
				e.Do("cuMemPoolDestroy", pool)
			})
			c.alone("pool/of/"+itoa(typ)+"/"+l.name, func(e *Env) {
				where := in{l.name, &driver.CUmemLocation{Type: l.loc.Type, Id: l.loc.Id}}
				if e.Do("cuMemGetDefaultMemPool", &pool, where, typ) != driver.CUDA_SUCCESS {
					return
				}
				e.Do("cuMemGetMemPool", &other, where, typ)
				e.Do("cuMemSetMemPool", where, typ, pool)
				e.Do("cuMemPoolGetAttribute", pool, 4, &v)
				e.Do("cuMemPoolDestroy", pool)
				if e.Do("cuMemAllocFromPoolAsync", hidden{&p}, 1000, pool, nil) == driver.CUDA_SUCCESS {
					e.Do("cuMemFreeAsync", named("memory", p), nil)
				}
			})
		}
	}
	for _, h := range []int{0, 1, 2, 3, 4, 8, 9, 16} {
		c.add("pool/create/handles/"+itoa(h), func(e *Env) {
			if e.Do("cuMemPoolCreate", &pool, props("device",
				driver.CUmemPoolProps{AllocType: 1, Location: onDevice,
					HandleTypes: driver.CUmemAllocationHandleType(h)})) == driver.CUDA_SUCCESS {
				e.Do("cuMemPoolDestroy", pool)
			}
		})
	}
	for _, h := range []int{1, 2} {
		c.add("pool/create/managed-handles/"+itoa(h), func(e *Env) {
			e.Do("cuMemPoolCreate", &pool, props("managed",
				driver.CUmemPoolProps{AllocType: 2, Location: onDevice,
					HandleTypes: driver.CUmemAllocationHandleType(h)}))
		})
		c.add("pool/create/host-handles/"+itoa(h), func(e *Env) {
			e.Do("cuMemPoolCreate", &pool, props("host",
				driver.CUmemPoolProps{AllocType: 1, Location: onHost,
					HandleTypes: driver.CUmemAllocationHandleType(h)}))
			e.Do("cuMemPoolCreate", &pool, props("node",
				driver.CUmemPoolProps{AllocType: 1, Location: onNode,
					HandleTypes: driver.CUmemAllocationHandleType(h)}))
		})
	}
	for _, u := range []int{1, 2, 4} {
		c.add("pool/create/usage/"+itoa(u), func(e *Env) {
			e.Do("cuMemPoolCreate", &pool, props("device",
				driver.CUmemPoolProps{AllocType: 1, Location: onDevice, Usage: uint16(u)}))
		})
	}
	c.add("pool/attributes", func(e *Env) {
		e.Must("cuMemPoolCreate", &pool, props("device", driver.CUmemPoolProps{AllocType: 1, Location: onDevice}))
		for a := range 12 {
			e.Do("cuMemPoolGetAttribute", pool, a, &v)
		}
		e.Do("cuMemPoolGetAttribute", pool, 4, nil)
		for _, a := range []int{1, 2, 3} {
			for _, x := range []uint32{0, 1, 2} {
				e.Do("cuMemPoolSetAttribute", pool, a, in{itoa(int(x)), &x})
				e.Do("cuMemPoolGetAttribute", pool, a, &v)
			}
		}
		for _, x := range []uint64{0, 1000, 1 << 60} {
			for _, a := range []int{4, 5, 6, 7, 8, 9} {
				e.Do("cuMemPoolSetAttribute", pool, a, in{itoa(int(x)), &x})
			}
		}
		e.Do("cuMemPoolGetAttribute", pool, 4, &v)
		e.Do("cuMemPoolSetAttribute", pool, 4, nil)
		e.Do("cuMemPoolTrimTo", pool, 0)
		e.Do("cuMemPoolTrimTo", pool, 1<<40)
		e.Do("cuMemPoolDestroy", pool)
	})
	c.add("pool/access", func(e *Env) {
		e.Must("cuMemPoolCreate", &pool, props("device", driver.CUmemPoolProps{AllocType: 1, Location: onDevice}))
		set := func(name string, l driver.CUmemLocation, flags, n int) {
			e.Do("cuMemPoolSetAccess", pool, in{name + "=" + itoa(flags),
				&driver.CUmemAccessDesc{Location: l, Flags: driver.CUmemAccess_flags(flags)}}, n)
		}
		for _, l := range locations {
			for _, flags := range []int{3, 0, 1} {
				set(l.name, l.loc, flags, 1)
			}
			e.Do("cuMemPoolGetAccess", &access, pool, in{l.name, &driver.CUmemLocation{Type: l.loc.Type, Id: l.loc.Id}})
		}
		set("device", onDevice, 3, 0)
		e.Do("cuMemPoolSetAccess", pool, nil, 1)
		e.Do("cuMemPoolGetAccess", &access, pool, nil)
		e.Do("cuMemPoolGetAccess", nil, pool, in{"device", &driver.CUmemLocation{Type: 1}})
		e.Do("cuMemPoolDestroy", pool)
	})
	for _, typ := range []driver.CUmemAllocationHandleType{0, 1} {
		c.alone("pool/share/"+itoa(int(typ)), func(e *Env) {
			e.Must("cuMemPoolCreate", &pool, props("device",
				driver.CUmemPoolProps{AllocType: 1, Location: onDevice, HandleTypes: typ}))
			e.Must("cuMemAllocFromPoolAsync", &p, 1000, pool, nil)
			e.Must("cuMemsetD32_v2", p, 55, 250)
			e.Must("cuCtxSynchronize")
			at := named("memory", p)
			e.Do("cuMemPoolExportPointer", hidden{&data}, at)
			e.Do("cuMemPoolExportPointer", nil, at)
			e.Do("cuMemPoolExportPointer", hidden{&data}, named("inside", p+8))
			e.Do("cuMemPoolExportPointer", hidden{&data}, nil)
			e.Do("cuMemPoolExportPointer", hidden{&data}, e.alloc(100))
			e.Do("cuMemPoolExportToShareableHandle", hidden{&fd}, pool, 0, 0)
			e.Do("cuMemPoolExportToShareableHandle", hidden{&fd}, pool, 2, 0)
			e.Do("cuMemPoolExportToShareableHandle", hidden{&fd}, pool, 1, 1)
			e.Do("cuMemPoolExportToShareableHandle", nil, pool, 1, 0)
			if e.Do("cuMemPoolExportToShareableHandle", hidden{&fd}, pool, 1, 0) != driver.CUDA_SUCCESS {
				return
			}
			file := named("fd", uintptr(fd))
			defer closeFile(fd) // calls that fail write 0 into fd
			e.Do("cuMemPoolImportFromShareableHandle", &other, file, 0, 0)
			e.Do("cuMemPoolImportFromShareableHandle", &other, file, 2, 0)
			e.Do("cuMemPoolImportFromShareableHandle", &other, file, 1, 1)
			e.Do("cuMemPoolImportFromShareableHandle", nil, file, 1, 0)
			e.Must("cuMemPoolExportPointer", hidden{&data}, at)
			saved := data
			e.Do("cuMemPoolImportPointer", hidden{&p}, pool, in{"data", &saved})
			if e.Do("cuMemPoolImportFromShareableHandle", &other, file, 1, 0) != driver.CUDA_SUCCESS {
				return
			}
			var q driver.CUdeviceptr
			e.Do("cuMemAllocFromPoolAsync", &q, 1000, other, nil)
			e.Do("cuDeviceSetMemPool", 0, other)
			e.Do("cuMemPoolExportToShareableHandle", hidden{&fd}, other, 1, 0)
			for a := 1; a < 9; a++ {
				e.Do("cuMemPoolGetAttribute", other, a, &v)
			}
			e.Do("cuMemPoolTrimTo", other, 0)
			e.Do("cuMemPoolGetAccess", &access, other, in{"device", &driver.CUmemLocation{Type: 1}})
			e.Do("cuMemPoolImportPointer", nil, other, in{"data", &saved})
			e.Do("cuMemPoolImportPointer", hidden{&q}, other, nil)
			var word uint32
			if e.Do("cuMemPoolImportPointer", hidden{&q}, other, in{"data", &saved}) == driver.CUDA_SUCCESS {
				e.Do("cuMemcpyDtoH_v2", &word, named("imported", q), 4)
				e.Do("cuMemPoolExportPointer", hidden{&data}, named("imported", q))
				e.Do("cuMemFree_v2", named("imported", q))
			}
			e.Do("cuMemPoolDestroy", other)
			e.Do("cuMemFreeAsync", at, nil)
			e.Do("cuMemPoolDestroy", pool)
		})
	}
	c.alone("pool/import/no-file", func(e *Env) { e.Do("cuMemPoolImportFromShareableHandle", &pool, 9999, 1, 0) })
	c.alone("pool/import/zeros", func(e *Env) {
		e.Must("cuMemPoolCreate", &pool, props("device",
			driver.CUmemPoolProps{AllocType: 1, Location: onDevice, HandleTypes: 1}))
		e.Do("cuMemPoolImportPointer", hidden{&p}, pool, in{"zeros", &driver.CUmemPoolPtrExportData{}})
	})
	c.alone("pool/max", func(e *Env) {
		e.Must("cuMemPoolCreate", &pool, props("device",
			driver.CUmemPoolProps{AllocType: 1, Location: onDevice, MaxSize: 64 << 20}))
		e.Do("cuMemAllocFromPoolAsync", hidden{&p}, 65<<20, pool, nil)
		e.Do("cuMemAllocFromPoolAsync", hidden{&p}, 32<<20, pool, nil)
		at := named("memory", p)
		e.Do("cuMemPoolGetAttribute", pool, 7, &v)
		e.Do("cuMemFreeAsync", at, nil)
		e.Do("cuCtxSynchronize")
		e.Do("cuMemPoolGetAttribute", pool, 7, &v)
		e.Do("cuMemPoolGetAttribute", pool, 8, &v)
	})
	c.add("pool/destroyed-in-use", func(e *Env) {
		e.Must("cuMemPoolCreate", &pool, props("device", driver.CUmemPoolProps{AllocType: 1, Location: onDevice}))
		e.Must("cuMemAllocFromPoolAsync", &p, 1000, pool, nil)
		e.Do("cuMemPoolDestroy", pool)
		e.Do("cuMemsetD8_v2", named("memory", p), 1, 1000)
		e.Do("cuMemFree_v2", named("memory", p))
		e.Do("cuMemFree_v2", named("memory", p))
	})
}
