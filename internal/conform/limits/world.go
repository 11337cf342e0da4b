package limits

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// Sizes of what the calls are given.
const (
	amount  = 1 << 20 // of memory of each kind
	granule = 2 << 20 // of memory that is mapped
	side    = 64      // of arrays, in texels
	texel   = 4       // amount
)

// world holds valid arguments. They are made when a call first wants them; without a table all handles are 0, which is
// enough to see what numbers a call has.
type world struct {
	t       *driver.Table
	arena   *arena
	path    string // of a file that can be written
	made    map[string]uint64
	variant int  // of the arguments, where a function takes one thing or another
	old     bool // the function wants a context of the API's first version
}

// failure ends the making of an argument.
type failure struct{ text string }

func (w *world) must(what string, r driver.CUresult) {
	if r != driver.CUDA_SUCCESS {
		panic(failure{what + ": " + r.String()})
	}
}

// once makes a thing that is known by a name.
func once[T ~uintptr | ~uint64](w *world, name string, f func(out *T)) T {
	if w.t == nil {
		return 0
	}
	if v, ok := w.made[name]; ok {
		return T(v)
	}
	out := new(T)
	f(out)
	w.made[name] = uint64(*out)
	return *out
}

const text = `.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 variable = 7;
.visible .global .attribute(.managed) .align 4 .u32 managed = 9;
.visible .global .texref texture;
.visible .global .surfref surface;
.visible .entry kernel(.param .u64 p, .param .u32 n) { ret; }
.visible .entry second() { ret; }
`

func (w *world) context() driver.CUcontext {
	return once(w, "context", func(out *driver.CUcontext) {
		if w.old {
			w.must("context", w.t.CtxCreate(0, out, 0, 0))
			return
		}
		w.must("context", w.t.DevicePrimaryCtxRetain(0, out, 0))
	})
}

func (w *world) stream() driver.CUstream {
	return once(w, "stream", func(out *driver.CUstream) {
		w.must("stream", w.t.StreamCreate(0, out, uint32(driver.CU_STREAM_NON_BLOCKING)))
	})
}

// capturing is a stream that captures.
func (w *world) capturing() driver.CUstream {
	return once(w, "capturing", func(out *driver.CUstream) {
		w.must("stream", w.t.StreamCreate(0, out, uint32(driver.CU_STREAM_NON_BLOCKING)))
		w.must("capture", w.t.StreamBeginCapture_v2(0, *out, driver.CU_STREAM_CAPTURE_MODE_RELAXED))
	})
}

func (w *world) event() driver.CUevent {
	return once(w, "event", func(out *driver.CUevent) { w.must("event", w.t.EventCreate(0, out, 0)) })
}

func (w *world) device() driver.CUdeviceptr {
	return once(w, "device", func(out *driver.CUdeviceptr) { w.must("memory", w.t.MemAlloc_v2(0, out, amount)) })
}

func (w *world) managed() driver.CUdeviceptr {
	return once(w, "managed", func(out *driver.CUdeviceptr) {
		w.must("managed memory", w.t.MemAllocManaged(0, out, amount, uint32(driver.CU_MEM_ATTACH_GLOBAL)))
	})
}

func (w *world) pinned() unsafe.Pointer {
	return pointer(once(w, "pinned", func(out *uint64) {
		w.must("pinned memory", w.t.MemHostAlloc(0, (*unsafe.Pointer)(unsafe.Pointer(out)), amount, 0))
	}))
}

// registered is memory of the process that the driver knows.
func (w *world) registered() unsafe.Pointer {
	return pointer(once(w, "registered", func(out *uint64) {
		*out = uint64(uintptr(w.arena.block()))
		w.must("registered memory", w.t.MemHostRegister_v2(0, pointer(*out), block, 0))
	}))
}

func (w *world) pooled() driver.CUdeviceptr {
	return once(w, "pooled", func(out *driver.CUdeviceptr) {
		w.must("memory of a pool", w.t.MemAllocFromPoolAsync(0, out, amount, w.pool(), w.stream()))
	})
}

func (w *world) pool() driver.CUmemoryPool {
	return once(w, "pool", func(out *driver.CUmemoryPool) { w.must("pool", w.t.MemPoolCreate(0, out, w.poolProps())) })
}

func (w *world) poolProps() *driver.CUmemPoolProps {
	p := slot[driver.CUmemPoolProps](w)
	*p = driver.CUmemPoolProps{AllocType: driver.CU_MEM_ALLOCATION_TYPE_PINNED,
		HandleTypes: driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, Location: onDevice}
	return p
}

var onDevice = driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE}

func (w *world) allocationProp() *driver.CUmemAllocationProp {
	p := slot[driver.CUmemAllocationProp](w)
	*p = driver.CUmemAllocationProp{Type: driver.CU_MEM_ALLOCATION_TYPE_PINNED,
		RequestedHandleTypes: driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, Location: onDevice}
	return p
}

func (w *world) store() driver.CUmemGenericAllocationHandle {
	return once(w, "store", func(out *driver.CUmemGenericAllocationHandle) {
		w.must("memory without an address", w.t.MemCreate(0, out, granule, w.allocationProp(), 0))
	})
}

func (w *world) reserved() driver.CUdeviceptr {
	return once(w, "reserved", func(out *driver.CUdeviceptr) {
		w.must("addresses", w.t.MemAddressReserve(0, out, granule, 0, 0, 0))
	})
}

func (w *world) mapped() driver.CUdeviceptr {
	return once(w, "mapped", func(out *driver.CUdeviceptr) {
		w.must("addresses", w.t.MemAddressReserve(0, out, granule, 0, 0, 0))
		w.must("mapping", w.t.MemMap(0, *out, granule, 0, w.store(), 0))
		w.must("access", w.t.MemSetAccess(0, *out, granule, w.access(), 1))
	})
}

func (w *world) access() *driver.CUmemAccessDesc {
	p := slot[driver.CUmemAccessDesc](w)
	*p = driver.CUmemAccessDesc{Location: onDevice, Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE}
	return p
}

func (w *world) module() driver.CUmodule {
	return once(w, "module", func(out *driver.CUmodule) {
		w.must("module", w.t.ModuleLoadData(0, out, unsafe.Pointer(w.text(text))))
	})
}

func (w *world) function() driver.CUfunction {
	return once(w, "function", func(out *driver.CUfunction) {
		w.must("function", w.t.ModuleGetFunction(0, out, w.module(), w.text("kernel")))
	})
}

func (w *world) library() driver.CUlibrary {
	return once(w, "library", func(out *driver.CUlibrary) {
		w.must("library", w.t.LibraryLoadData(0, out, unsafe.Pointer(w.text(text)), nil, nil, 0, nil, nil, 0))
	})
}

func (w *world) kernel() driver.CUkernel {
	return once(w, "kernel", func(out *driver.CUkernel) {
		w.must("kernel", w.t.LibraryGetKernel(0, out, w.library(), w.text("kernel")))
	})
}

func (w *world) linker() driver.CUlinkState {
	return once(w, "linker", func(out *driver.CUlinkState) { w.must("linker", w.t.LinkCreate_v2(0, 0, nil, nil, out)) })
}

func (w *world) arrayDesc(flags uint32) *driver.CUDA_ARRAY3D_DESCRIPTOR {
	p := slot[driver.CUDA_ARRAY3D_DESCRIPTOR](w)
	*p = driver.CUDA_ARRAY3D_DESCRIPTOR{Width: side, Height: side, Format: driver.CU_AD_FORMAT_FLOAT, NumChannels: 1,
		Flags: flags}
	return p
}

func (w *world) array() driver.CUarray {
	return once(w, "array", func(out *driver.CUarray) {
		w.must("array", w.t.Array3DCreate_v2(0, out, w.arrayDesc(driver.CUDA_ARRAY3D_SURFACE_LDST)))
	})
}

// line is an array of one row, as cuMemcpyHtoA and the like want it.
func (w *world) line() driver.CUarray {
	return once(w, "line", func(out *driver.CUarray) {
		p := w.arrayDesc(0)
		p.Height = 0
		w.must("array", w.t.Array3DCreate_v2(0, out, p))
	})
}

// later is an array that gets memory by cuMemMapArrayAsync.
func (w *world) later() driver.CUarray {
	return once(w, "later", func(out *driver.CUarray) {
		w.must("array", w.t.Array3DCreate_v2(0, out, w.arrayDesc(driver.CUDA_ARRAY3D_DEFERRED_MAPPING)))
	})
}

func (w *world) mipmaps() driver.CUmipmappedArray {
	return once(w, "mipmaps", func(out *driver.CUmipmappedArray) {
		w.must("mipmapped array", w.t.MipmappedArrayCreate(0, out, w.arrayDesc(0), 3))
	})
}

func (w *world) texref() driver.CUtexref {
	return once(w, "texref", func(out *driver.CUtexref) {
		w.must("texture reference", w.t.ModuleGetTexRef(0, out, w.module(), w.text("texture")))
		// cuParamSetTexRef wants one that is bound (recorded: internal/conform/sequence).
		w.must("what it is bound to", w.t.TexRefSetArray(0, *out, w.array(), driver.CU_TRSA_OVERRIDE_FORMAT))
	})
}

func (w *world) surfref() driver.CUsurfref {
	return once(w, "surfref", func(out *driver.CUsurfref) {
		w.must("surface reference", w.t.ModuleGetSurfRef(0, out, w.module(), w.text("surface")))
	})
}

func (w *world) userObject() driver.CUuserObject {
	return once(w, "user object", func(out *driver.CUuserObject) {
		w.must("user object", w.t.UserObjectCreate(0, out, 0, driver.CUhostFn{Go: func(uintptr) {}}, 4,
			uint32(driver.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)))
	})
}

func (w *world) resource() *driver.CUdevResource {
	p := slot[driver.CUdevResource](w)
	if w.t != nil {
		w.must("resource", w.t.DeviceGetDevResource(0, 0, p, driver.CU_DEV_RESOURCE_TYPE_SM))
	}
	return p
}

func (w *world) resourceDesc() driver.CUdevResourceDesc {
	return once(w, "resource descriptor", func(out *driver.CUdevResourceDesc) {
		w.must("descriptor", w.t.DevResourceGenerateDesc(0, out, w.resource(), 1))
	})
}

func (w *world) green() driver.CUgreenCtx {
	return once(w, "green context", func(out *driver.CUgreenCtx) {
		w.must("green context", w.t.GreenCtxCreate(0, out, w.resourceDesc(), 0,
			uint32(driver.CU_GREEN_CTX_DEFAULT_STREAM)))
	})
}

// graph has a node of each kind that a program can make, in a row. Its nodes are known by the names of their kinds.
func (w *world) graph() driver.CUgraph {
	return once(w, "graph", func(out *driver.CUgraph) {
		w.must("graph", w.t.GraphCreate(0, out, 0))
		var last *driver.CUgraphNode
		add := func(kind string, f func(n, deps *driver.CUgraphNode, count uint64) driver.CUresult) {
			n, count := slot[driver.CUgraphNode](w), uint64(0)
			if last != nil {
				count = 1
			}
			w.must("node "+kind, f(n, last, count))
			w.made["node "+kind] = uint64(*n)
			last = n
		}
		g, t := *out, w.t
		add("Empty", func(n, deps *driver.CUgraphNode, count uint64) driver.CUresult {
			return t.GraphAddEmptyNode(0, n, g, deps, count)
		})
		add("Kernel", func(n, deps *driver.CUgraphNode, count uint64) driver.CUresult {
			return t.GraphAddKernelNode_v2(0, n, g, deps, count, w.kernelNode())
		})
		add("Host", func(n, deps *driver.CUgraphNode, count uint64) driver.CUresult {
			return t.GraphAddHostNode(0, n, g, deps, count, w.hostNode())
		})
		add("Memcpy", func(n, deps *driver.CUgraphNode, count uint64) driver.CUresult {
			return t.GraphAddMemcpyNode(0, n, g, deps, count, w.copy3D(), w.context())
		})
		add("Memset", func(n, deps *driver.CUgraphNode, count uint64) driver.CUresult {
			return t.GraphAddMemsetNode(0, n, g, deps, count, w.fill(), w.context())
		})
		add("EventRecord", func(n, deps *driver.CUgraphNode, count uint64) driver.CUresult {
			return t.GraphAddEventRecordNode(0, n, g, deps, count, w.event())
		})
		add("EventWait", func(n, deps *driver.CUgraphNode, count uint64) driver.CUresult {
			return t.GraphAddEventWaitNode(0, n, g, deps, count, w.event())
		})
		add("ChildGraph", func(n, deps *driver.CUgraphNode, count uint64) driver.CUresult {
			return t.GraphAddChildGraphNode(0, n, g, deps, count, w.child())
		})
		add("BatchMemOp", func(n, deps *driver.CUgraphNode, count uint64) driver.CUresult {
			return t.GraphAddBatchMemOpNode(0, n, g, deps, count, w.batchNode())
		})
	})
}

func (w *world) child() driver.CUgraph {
	return once(w, "child", func(out *driver.CUgraph) {
		w.must("graph", w.t.GraphCreate(0, out, 0))
		w.must("node", w.t.GraphAddEmptyNode(0, slot[driver.CUgraphNode](w), *out, nil, 0))
	})
}

// semaphoreGraph has nodes that signal and wait.
func (w *world) semaphoreGraph() driver.CUgraph {
	return once(w, "semaphore graph", func(out *driver.CUgraph) {
		w.must("graph", w.t.GraphCreate(0, out, 0))
		a, b := slot[driver.CUgraphNode](w), slot[driver.CUgraphNode](w)
		w.must("node that signals", w.t.GraphAddExternalSemaphoresSignalNode(0, a, *out, nil, 0, w.signalNode()))
		w.must("node that waits", w.t.GraphAddExternalSemaphoresWaitNode(0, b, *out, a, 1, w.waitNode()))
		w.made["node SemaphoresSignal"], w.made["node SemaphoresWait"] = uint64(*a), uint64(*b)
	})
}

// memoryGraph has nodes that allocate and free.
func (w *world) memoryGraph() driver.CUgraph {
	return once(w, "memory graph", func(out *driver.CUgraph) {
		w.must("graph", w.t.GraphCreate(0, out, 0))
		a, f, p := slot[driver.CUgraphNode](w), slot[driver.CUgraphNode](w), w.allocNode()
		w.must("node that allocates", w.t.GraphAddMemAllocNode(0, a, *out, nil, 0, p))
		w.must("node that frees", w.t.GraphAddMemFreeNode(0, f, *out, a, 1, p.Dptr))
		w.made["node MemAlloc"], w.made["node MemFree"] = uint64(*a), uint64(*f)
	})
}

// node is the node that a function works on, which its name says.
func (w *world) node(fn string) driver.CUgraphNode {
	if w.t == nil {
		return 0
	}
	w.graph()
	for _, kind := range []string{"Empty", "Host", "Kernel", "Memcpy", "Memset", "EventRecord", "EventWait",
		"ChildGraph", "BatchMemOp", "MemAlloc", "MemFree", "SemaphoresSignal", "SemaphoresWait"} {
		if strings.Contains(fn, kind+"Node") {
			switch kind {
			case "MemAlloc", "MemFree":
				w.memoryGraph()
			case "SemaphoresSignal", "SemaphoresWait":
				w.semaphoreGraph()
			}
			return driver.CUgraphNode(w.made["node "+kind])
		}
	}
	return driver.CUgraphNode(w.made["node Kernel"])
}

func (w *world) exec() driver.CUgraphExec {
	return w.execOf("exec", w.graph)
}

func (w *world) execOf(name string, g func() driver.CUgraph) driver.CUgraphExec {
	return once(w, name, func(out *driver.CUgraphExec) {
		w.must("executable graph", w.t.GraphInstantiateWithFlags(0, out, g(), 0))
	})
}

func (w *world) conditional() driver.CUgraphConditionalHandle {
	return once(w, "conditional", func(out *driver.CUgraphConditionalHandle) {
		w.must("conditional handle", w.t.GraphConditionalHandleCreate(0, out, w.graph(), w.context(), 0, 0))
	})
}

func (w *world) texture() driver.CUtexObject {
	return once(w, "texture", func(out *driver.CUtexObject) {
		w.must("texture object", w.t.TexObjectCreate(0, out, w.arrayResource(), slot[driver.CUDA_TEXTURE_DESC](w), nil))
	})
}

func (w *world) surface() driver.CUsurfObject {
	return once(w, "surface", func(out *driver.CUsurfObject) {
		w.must("surface object", w.t.SurfObjectCreate(0, out, w.arrayResource()))
	})
}

// text is a C string.
func (w *world) text(s string) *byte {
	b := unsafe.Slice((*byte)(w.arena.block()), block)
	copy(b, s)
	b[len(s)] = 0
	return &b[0]
}

// slot is memory for a value, with zeros behind it and then none.
func slot[T any](w *world) *T { return (*T)(w.arena.block()) }

func pointer(v uint64) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&v)) }

// handle is a valid handle of a type, for a parameter of a function.
func (w *world) handle(t reflect.Type, fn, param string) (uint64, bool) {
	switch t {
	case reflect.TypeFor[driver.CUcontext]():
		return uint64(w.context()), true
	case reflect.TypeFor[driver.CUstream]():
		if strings.Contains(fn, "UpdateCapture") {
			return uint64(w.capturing()), true
		}
		return uint64(w.stream()), true
	case reflect.TypeFor[driver.CUevent]():
		return uint64(w.event()), true
	case reflect.TypeFor[driver.CUmodule]():
		return uint64(w.module()), true
	case reflect.TypeFor[driver.CUfunction]():
		return uint64(w.function()), true
	case reflect.TypeFor[driver.CUlibrary]():
		return uint64(w.library()), true
	case reflect.TypeFor[driver.CUkernel]():
		return uint64(w.kernel()), true
	case reflect.TypeFor[driver.CUlinkState]():
		return uint64(w.linker()), true
	case reflect.TypeFor[driver.CUarray]():
		switch {
		case strings.Contains(fn, "MemoryRequirements"):
			return uint64(w.later()), true
		case strings.HasPrefix(fn, "cuMemcpy"):
			return uint64(w.line()), true
		}
		return uint64(w.array()), true
	case reflect.TypeFor[driver.CUmipmappedArray]():
		return uint64(w.mipmaps()), true
	case reflect.TypeFor[driver.CUtexref]():
		return uint64(w.texref()), true
	case reflect.TypeFor[driver.CUsurfref]():
		return uint64(w.surfref()), true
	case reflect.TypeFor[driver.CUtexObject]():
		return uint64(w.texture()), true
	case reflect.TypeFor[driver.CUsurfObject]():
		return uint64(w.surface()), true
	case reflect.TypeFor[driver.CUmemoryPool]():
		return uint64(w.pool()), true
	case reflect.TypeFor[driver.CUmemGenericAllocationHandle]():
		return uint64(w.store()), true
	case reflect.TypeFor[driver.CUgraph]():
		if param == "childGraph" {
			return uint64(w.child()), true
		}
		return uint64(w.graph()), true
	case reflect.TypeFor[driver.CUgraphNode]():
		switch param {
		case "dependencies", "from":
			return uint64(w.node("EmptyNode")), true
		case "to":
			if strings.Contains(fn, "Add") {
				return uint64(w.node("MemcpyNode")), true
			}
			return uint64(w.node("KernelNode")), true
		}
		return uint64(w.node(fn)), true
	case reflect.TypeFor[driver.CUexternalMemory]():
		return uint64(w.externalMemory()), true
	case reflect.TypeFor[driver.CUexternalSemaphore]():
		return uint64(w.externalSemaphore()), true
	case reflect.TypeFor[driver.CUgraphExec]():
		if strings.Contains(fn, "ExternalSemaphores") {
			return uint64(w.execOf("semaphore exec", w.semaphoreGraph)), true
		}
		return uint64(w.exec()), true
	case reflect.TypeFor[driver.CUgraphConditionalHandle]():
		return uint64(w.conditional()), true
	case reflect.TypeFor[driver.CUuserObject]():
		o := w.userObject()
		if fn == "cuGraphReleaseUserObject" && w.t != nil {
			w.must("user object of the graph", w.t.GraphRetainUserObject(0, w.graph(), o, 1, 0))
		}
		return uint64(o), true
	case reflect.TypeFor[driver.CUgreenCtx]():
		return uint64(w.green()), true
	case reflect.TypeFor[driver.CUdevResourceDesc]():
		return uint64(w.resourceDesc()), true
	case reflect.TypeFor[driver.CUdeviceptr]():
		return uint64(w.memory(fn, param)), true
	}
	return 0, false
}

// memory is memory of the kind that a function is for.
func (w *world) memory(fn, param string) driver.CUdeviceptr {
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(fn, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("AddressReserve"):
		return 0
	case has("MemAddressFree", "cuMemMap"):
		return w.reserved()
	case has("MemUnmap", "MemSetAccess", "MemGetAccess"):
		return w.mapped()
	case has("MemAdvise", "Prefetch", "Discard", "MemRangeGet", "StreamAttachMem"):
		return w.managed()
	case has("MemFreeAsync", "ExportPointer"):
		return w.pooled()
	case has("GraphAddMemFree"):
		if w.t == nil {
			return 0
		}
		p := w.allocNode()
		w.must("node that allocates", w.t.GraphAddMemAllocNode(0, slot[driver.CUgraphNode](w), w.graph(), nil, 0, p))
		return p.Dptr
	case has("Memcpy") && strings.Contains(strings.ToLower(param), "dst"):
		return w.device() + amount/2
	}
	return w.device()
}

func (f failure) Error() string { return fmt.Sprintf("preparation: %s", f.text) }
