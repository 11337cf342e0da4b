package api

import (
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// reachCases ask which memory calls reach: copies with pools of the host, host pointers to nothing, memory that is gone
// when work on it runs; and what is told of managed memory.
func reachCases(c *cases) {
	var (
		p    driver.CUdeviceptr
		host unsafe.Pointer
	)
	// kinds of memory, each with what makes 4096 bytes of it.
	kinds := []struct {
		name string
		take func(e *Env) driver.CUdeviceptr
	}{
		{"device", func(e *Env) driver.CUdeviceptr { return e.alloc(4096) }},
		{"managed", func(e *Env) driver.CUdeviceptr {
			e.Must("cuMemAllocManaged", &p, 4096, 1)
			return p
		}},
		{"pinned", func(e *Env) driver.CUdeviceptr {
			e.Must("cuMemHostAlloc", &host, 4096, 0)
			return driver.CUdeviceptr(uintptr(host))
		}},
		{"registered", func(e *Env) driver.CUdeviceptr {
			b := make([]byte, 8192)
			e.Must("cuMemHostRegister_v2", raw{"registered", b}, 8192, 0)
			return driver.CUdeviceptr(e.address(b))
		}},
		{"pageable", func(e *Env) driver.CUdeviceptr { return driver.CUdeviceptr(e.address(make([]byte, 4096))) }},
		{"pool", func(e *Env) driver.CUdeviceptr {
			e.Must("cuMemAllocAsync", &p, 4096, nil)
			return p
		}},
		{"managed-pool", func(e *Env) driver.CUdeviceptr { return e.pooled(2, onDevice, false) }},
		{"host-pool", func(e *Env) driver.CUdeviceptr { return e.pooled(1, onHost, false) }},
		{"open-host-pool", func(e *Env) driver.CUdeviceptr { return e.pooled(1, onHost, true) }},
		{"other-context", func(e *Env) driver.CUdeviceptr {
			var own, other driver.CUcontext
			e.Must("cuCtxGetCurrent", &own)
			e.Must("cuCtxCreate_v2", &other, 0, 0)
			d := e.alloc(4096)
			e.Must("cuCtxSetCurrent", own)
			return d
		}},
		{"mapped", func(e *Env) driver.CUdeviceptr {
			return e.mapped(e.store(driver.CUmemAllocationProp{Type: driver.CU_MEM_ALLOCATION_TYPE_PINNED,
				Location: onDevice}, granule), granule)
		}},
	}
	for _, k := range kinds {
		c.alone("reach/host-pool/"+k.name, func(e *Env) {
			h, at := named("closed", e.pooled(1, onHost, false)), named("other", k.take(e))
			for _, ends := range [][2]label{{h, at}, {at, h}} {
				dst, src := ends[0], ends[1]
				e.Do("cuMemcpy", dst, src, 64)
				e.Do("cuMemcpyAsync", dst, src, 64, nil)
				e.Do("cuStreamSynchronize", nil)
				e.Do("cuMemcpyDtoD_v2", dst, src, 64)
				e.Do("cuMemcpyDtoDAsync_v2", dst, src, 64, nil)
				e.Do("cuStreamSynchronize", nil)
				e.Do("cuMemcpyHtoD_v2", dst, named(src.text, hostPointer(src.value.(driver.CUdeviceptr))), 64)
				e.Do("cuMemcpyHtoDAsync_v2", dst, named(src.text, hostPointer(src.value.(driver.CUdeviceptr))), 64, nil)
				e.Do("cuStreamSynchronize", nil)
				e.Do("cuMemcpyDtoH_v2", named(dst.text, hostPointer(dst.value.(driver.CUdeviceptr))), src, 64)
				e.Do("cuMemcpyDtoHAsync_v2", named(dst.text, hostPointer(dst.value.(driver.CUdeviceptr))), src, 64, nil)
				e.Do("cuStreamSynchronize", nil)
				for _, kind := range []driver.CUmemorytype{driver.CU_MEMORYTYPE_UNIFIED, driver.CU_MEMORYTYPE_DEVICE} {
					box := &driver.CUDA_MEMCPY2D{SrcMemoryType: kind, DstMemoryType: kind,
						SrcDevice: src.value.(driver.CUdeviceptr), DstDevice: dst.value.(driver.CUdeviceptr),
						WidthInBytes: 64, Height: 1}
					e.Do("cuMemcpy2D_v2", in{"rows of type " + itoa(int(kind)), box})
				}
				e.Do("cuStreamSynchronize", nil)
			}
			e.Do("cuMemsetD8_v2", at, 1, 64)
			e.Do("cuCtxSynchronize")
		})
		c.alone("reach/kernel/"+k.name, func(e *Env) {
			e.launch(e.fn("st1"), 1, 1, named("{memory}", params{k.take(e)}))
			e.Do("cuCtxSynchronize")
		})
		c.alone("reach/sync-memops/"+k.name, func(e *Env) {
			at := named("memory", k.take(e))
			for _, v := range []uint32{1, 0} {
				var got uint32
				e.Do("cuPointerGetAttribute", &got, 6, at)
				e.Do("cuPointerSetAttribute", in{itoa(int(v)), &v}, 6, at)
				e.Do("cuPointerGetAttribute", &got, 6, at)
			}
		})
		// host pointers of which the driver knows nothing, and where nothing is
		c.alone("reach/from-nowhere/"+k.name, func(e *Env) {
			e.nowhere(named("memory", k.take(e)), 64)
		})
	}
	for _, n := range []int{1, 4096, 64 << 10, 64<<10 + 1, 1 << 20, 16 << 20} {
		for _, fn := range []string{"cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemcpyHtoDAsync_v2",
			"cuMemcpyDtoHAsync_v2", "cuMemcpy"} {
			c.alone("reach/from-nowhere/"+fn+"/"+itoa(n), func(e *Env) {
				d, at := e.alloc(n), named("nowhere", nowhere)
				switch fn {
				case "cuMemcpyHtoD_v2":
					e.Do(fn, d, at, n)
				case "cuMemcpyDtoH_v2":
					e.Do(fn, at, d, n)
				case "cuMemcpyHtoDAsync_v2":
					e.Do(fn, d, at, n, nil)
				case "cuMemcpyDtoHAsync_v2":
					e.Do(fn, at, d, n, nil)
				default:
					e.Do(fn, d, named("nowhere", driver.CUdeviceptr(uintptr(nowhere))), n)
				}
				e.Do("cuCtxSynchronize")
			})
		}
	}
	where := map[string]driver.CUmemLocation{"host": onHost, "device": onDevice}
	for _, order := range [][]string{{"host", "device"}, {"device", "host"}, {"host"}, {"device"}} {
		name := order[0]
		if len(order) > 1 {
			name += "-" + order[1]
		}
		c.add("reach/accessed-by/"+name, func(e *Env) {
			e.Must("cuMemAllocManaged", &p, 4096, 1)
			at := named("memory", p)
			for _, place := range order {
				e.Do("cuMemAdvise_v2", at, 4096, 5, named(place, where[place]))
				e.Do("cuMemRangeGetAttribute", &[3]int32{}, 12, 3, at, 4096)
			}
			e.Do("cuMemRangeGetAttribute", &[1]int32{}, 4, 3, at, 4096)
			e.Do("cuMemAdvise_v2", at, 4096, 6, named("host", onHost))
			e.Do("cuMemRangeGetAttribute", &[3]int32{}, 12, 3, at, 4096)
		})
	}
	checkpoint := func(e *Env) {
		for _, pid := range []int{-1, 1<<31 - 1} { // no process has such a number
			e.Do("cuCheckpointProcessGetState", pid, new(driver.CUprocessState))
			e.Do("cuCheckpointProcessGetRestoreThreadId", pid, new(int32))
			e.Do("cuCheckpointProcessLock", pid, in{"args", &driver.CUcheckpointLockArgs{TimeoutMs: 1}})
			e.Do("cuCheckpointProcessCheckpoint", pid, nil)
			e.Do("cuCheckpointProcessRestore", pid, nil)
			e.Do("cuCheckpointProcessUnlock", pid, nil)
		}
		e.Do("cuCheckpointProcessGetState", named("this process", os.Getpid()), new(driver.CUprocessState))
		e.Do("cuCheckpointProcessGetRestoreThreadId", named("this process", os.Getpid()), hidden{new(int32)})
	}
	*c = append(*c, Case{Name: "reach/checkpoint/before-init", Start: NoInit, Alone: true, run: checkpoint},
		Case{Name: "reach/checkpoint/no-context", Start: NoContext, Alone: true, run: checkpoint})
	c.alone("reach/checkpoint/context", checkpoint)
	for _, u := range []struct {
		name        string
		value, flag int
		typ, size   int
	}{{"same", 1, 1, 0, 1}, {"value", 0, 1, 0, 1}, {"flag", 0, 0, 0, 1}, {"else", 1, 1, 0, 2}, {"while", 0, 1, 1, 1}} {
		c.alone("reach/conditional-update/"+u.name, func(e *Env) {
			d := e.alloc(64)
			g := e.conditionalGraph(d, 1, 1, 0, 1, 10)
			var x driver.CUgraphExec
			e.Do("cuGraphInstantiateWithFlags", &x, g, 0)
			other := e.conditionalGraph(d, u.value, u.flag, u.typ, u.size, 20)
			var info driver.CUgraphExecUpdateResultInfo
			for range 2 {
				e.Must("cuMemsetD32_v2", d, 0, 16)
				e.Do("cuGraphLaunch", x, nil)
				e.Do("cuCtxSynchronize")
				e.word(d)
				e.Do("cuGraphExecUpdate_v2", x, other, fields{&info})
			}
			e.Do("cuGraphExecUpdate_v2", x, g, fields{&info})
			e.Must("cuMemsetD32_v2", d, 0, 16)
			e.Do("cuGraphLaunch", x, nil)
			e.Do("cuCtxSynchronize")
			e.word(d)
		})
	}
	for _, f := range []struct {
		name string
		free func(e *Env, own, other driver.CUcontext, p driver.CUdeviceptr)
	}{
		{"other-context", func(e *Env, _, other driver.CUcontext, p driver.CUdeviceptr) {
			e.Must("cuCtxSetCurrent", other)
			e.Do("cuMemFree_v2", named("memory", p))
		}},
		{"destroy", func(e *Env, _, other driver.CUcontext, _ driver.CUdeviceptr) {
			e.Do("cuCtxDestroy_v2", named("owner", other))
		}},
	} {
		for _, w := range []string{"set", "copy", "write"} {
			c.alone("reach/freed/"+f.name+"/"+w, func(e *Env) {
				var own, other driver.CUcontext
				e.Must("cuCtxGetCurrent", &own)
				s := e.stream(1)
				d := e.alloc(8 << 20)
				e.Must("cuMemHostAlloc", &host, 4096, 1)
				flag := (*uint32)(host)
				atomic.StoreUint32(flag, 0)
				e.Must("cuCtxCreate_v2", &other, 0, 0)
				e.Must("cuMemAlloc_v2", &p, 8<<20)
				e.Must("cuCtxSetCurrent", own)
				at := named("memory", p)
				e.Must("cuStreamWaitValue32_v2", s, driver.CUdeviceptr(uintptr(host)), 1, 1)
				// what frees may wait for the stream
				late := time.AfterFunc(500*time.Millisecond, func() { atomic.StoreUint32(flag, 1) })
				// a case that ends early, in a context that is broken, leaves no memory to write to
				defer late.Stop()
				switch w {
				case "set":
					e.Do("cuMemsetD8Async", at, 1, 8<<20, s)
				case "copy":
					e.Do("cuMemcpyAsync", d, at, 8<<20, s)
				default:
					e.Do("cuStreamWriteValue32_v2", s, at, 7, 0)
				}
				f.free(e, own, other, p)
				e.Must("cuCtxSetCurrent", own)
				e.Do("cuStreamSynchronize", s)
				e.Do("cuCtxSynchronize")
			})
		}
	}
}

// nowhere is below what any system lets a process map.
var nowhere = hostPointer(0x8000)

// nowhere copies between memory and a host pointer to nothing.
func (e *Env) nowhere(at label, n int) {
	d := at.value.(driver.CUdeviceptr)
	box := &driver.CUDA_MEMCPY2D{SrcMemoryType: driver.CU_MEMORYTYPE_UNIFIED,
		DstMemoryType: driver.CU_MEMORYTYPE_UNIFIED, SrcDevice: d, DstDevice: driver.CUdeviceptr(uintptr(nowhere)),
		WidthInBytes: uint64(n), Height: 1}
	e.Do("cuMemcpy2DAsync_v2", in{"rows to nowhere", box}, nil)
	e.Do("cuCtxSynchronize")
}

// pooled is memory from a pool of its own, which a device may use if open.
func (e *Env) pooled(typ int, where driver.CUmemLocation, open bool) driver.CUdeviceptr {
	var pool driver.CUmemoryPool
	var p driver.CUdeviceptr
	e.Must("cuMemPoolCreate", &pool, in{"pool", &driver.CUmemPoolProps{AllocType: driver.CUmemAllocationType(typ),
		Location: where}})
	if open {
		e.Must("cuMemPoolSetAccess", pool, in{"access",
			&driver.CUmemAccessDesc{Location: onDevice, Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE}}, 1)
	}
	e.Must("cuMemAllocFromPoolAsync", &p, 4096, pool, nil)
	return p
}

// conditionalGraph is a graph with one conditional node, in whose bodies words are set to n and n+1.
func (e *Env) conditionalGraph(d driver.CUdeviceptr, value, flag, typ, size, n int) driver.CUgraph {
	g, ctx := e.graph(), e.current()
	var h driver.CUgraphConditionalHandle
	var node driver.CUgraphNode
	e.Must("cuGraphConditionalHandleCreate", &h, g, ctx, value, flag)
	x := &driver.CUgraphNodeParams{Type: driver.CU_GRAPH_NODE_TYPE_CONDITIONAL}
	*x.Conditional() = driver.CUDA_CONDITIONAL_NODE_PARAMS{Handle: h, Type: driver.CUgraphConditionalNodeType(typ),
		Size: uint32(size), Ctx: ctx}
	e.Must("cuGraphAddNode_v2", &node, g, nil, nil, 0, in{"conditional", x})
	for i, body := range unsafe.Slice(x.Conditional().PhGraph_out, size) {
		set := &driver.CUDA_MEMSET_NODE_PARAMS{Dst: d, Value: uint32(n + i), ElementSize: 4, Width: 1, Height: 1}
		e.Must("cuGraphAddMemsetNode", &node, named("body", body), nil, 0, in{"memset", set}, ctx)
	}
	return g
}
