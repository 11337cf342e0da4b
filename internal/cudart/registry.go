package cudart

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// registry has what the program registers before main: images, and the kernels and variables in them by the addresses
// that stand for them on the host.
type registry struct {
	functions atomic.Pointer[map[uintptr]*function] // by host address; nil when something has been added since
	byKernel  atomic.Pointer[map[driver.CUkernel]uintptr]

	mu      sync.Mutex
	modules []*Module
	all     map[uintptr]*function
	vars    map[uintptr]*variable
	kernels map[uintptr]bool // handles of kernels, which stand for themselves
}

// Module is an image that the program has registered.
type Module struct {
	mu      sync.Mutex
	image   unsafe.Pointer
	loaded  atomic.Bool
	failed  Error
	library driver.CUlibrary
	managed []*variable
	hosts   []uintptr // addresses of its functions and variables
}

type function struct {
	kernel atomic.Uintptr // a CUkernel once it has been needed
	bound  atomic.Pointer[bound]
	module *Module
	name   []byte // with a final NUL
}

// bound is a kernel in a context, which launches faster than one that the driver has to look up there.
type bound struct {
	ctx    driver.CUcontext
	resets uint32 // shared.resets: a context may come back under its handle
	fn     driver.CUfunction
}

type variable struct {
	module  *Module
	name    []byte
	size    uint64
	managed *uintptr // where the host keeps the address
}

// RegisterFatBinary adds an image: what cuLibraryLoadData takes.
func (r *Runtime) RegisterFatBinary(image unsafe.Pointer) *Module {
	m := &Module{image: image}
	g := &r.registry
	g.mu.Lock()
	g.modules = append(g.modules, m)
	g.mu.Unlock()
	return m
}

// RegisterFunction adds a kernel.
func (r *Runtime) RegisterFunction(m *Module, host uintptr, name string) {
	g := &r.registry
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = map[uintptr]*function{}
	}
	g.all[host] = &function{module: m, name: append([]byte(name), 0)}
	m.hosts = append(m.hosts, host)
	g.functions.Store(nil)
}

// RegisterVar adds a variable of so many bytes. Where it is managed, the host reads its address at managed.
func (r *Runtime) RegisterVar(m *Module, host uintptr, name string, size uint64, managed *uintptr) {
	g := &r.registry
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.vars == nil {
		g.vars = map[uintptr]*variable{}
	}
	v := &variable{module: m, name: append([]byte(name), 0), size: size, managed: managed}
	g.vars[host] = v
	m.hosts = append(m.hosts, host)
	if managed != nil {
		m.managed = append(m.managed, v)
	}
}

// UnregisterFatBinary takes an image away, with its kernels and variables.
func (r *Runtime) UnregisterFatBinary(t *Thread, m *Module) Error {
	g := &r.registry
	g.mu.Lock()
	for _, h := range m.hosts {
		if f := g.all[h]; f != nil && f.module == m {
			delete(g.all, h)
		}
		if v := g.vars[h]; v != nil && v.module == m {
			delete(g.vars, h)
		}
	}
	for i, x := range g.modules {
		if x == m {
			g.modules = append(g.modules[:i:i], g.modules[i+1:]...)
			break
		}
	}
	g.functions.Store(nil)
	g.mu.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.loaded.Load() || m.failed != Success {
		return Success
	}
	m.loaded.Store(false)
	return r.done(t, r.table.LibraryUnload(r.current(t.Current), m.library))
}

// InitModule is __cudaInitModule: it loads an image, so that its managed variables have addresses. What clang compiles
// calls it with each variable that it registers.
func (r *Runtime) InitModule(t *Thread, m *Module) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if _, e := r.load(cur, m); e != Success {
		return t.fail(e)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r.place(cur, m) // what was registered after the module had been loaded
	if m.failed != Success {
		return t.fail(m.failed)
	}
	return Success
}

// load is the library of an image, loaded when it is first needed.
func (r *Runtime) load(cur driver.CUcontext, m *Module) (driver.CUlibrary, Error) {
	if m.loaded.Load() {
		return m.library, m.failed
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.loaded.Load() {
		return m.library, m.failed
	}
	result := r.table.LibraryLoadData(cur, &m.library, m.image, nil, nil, 0, nil, nil, 0)
	m.failed = Error(result)
	r.place(cur, m)
	m.loaded.Store(true)
	return m.library, m.failed
}

// place tells the host where the managed variables of a loaded module are. m.mu is held.
func (r *Runtime) place(cur driver.CUcontext, m *Module) {
	g := &r.registry
	g.mu.Lock()
	waiting := m.managed
	m.managed = nil
	g.mu.Unlock()
	for _, v := range waiting {
		if m.failed != Success {
			return
		}
		var p driver.CUdeviceptr
		var n uint64
		switch result := r.table.LibraryGetManaged(cur, &p, &n, m.library, &v.name[0]); result {
		case driver.CUDA_SUCCESS:
			*v.managed = uintptr(p)
			// clang's programs hand over the variable itself as the symbol.
			g.mu.Lock()
			g.vars[uintptr(p)] = v
			m.hosts = append(m.hosts, uintptr(p))
			g.mu.Unlock()
		case driver.CUDA_ERROR_NOT_FOUND: // clang leaves out what device code does not use
		default:
			m.failed = Error(result)
		}
	}
}

// kernel is the kernel that an address on the host stands for.
func (r *Runtime) kernel(cur driver.CUcontext, host uintptr) (driver.CUkernel, Error) {
	g := &r.registry
	list := g.functions.Load()
	if list == nil {
		list = g.publish()
	}
	f := (*list)[host]
	if f == nil {
		k, e := g.handle(host)
		if e != Success && host != 0 && !r.v12 {
			e = ErrorInvalidResourceHandle // CUDA 13 takes it for a kernel's handle (recorded)
		}
		return k, e
	}
	if k := f.kernel.Load(); k != 0 {
		return driver.CUkernel(k), Success
	}
	library, e := r.load(cur, f.module)
	if e != Success {
		return 0, e
	}
	var k driver.CUkernel
	switch result := r.table.LibraryGetKernel(cur, &k, library, &f.name[0]); result {
	case driver.CUDA_SUCCESS:
	case driver.CUDA_ERROR_NOT_FOUND:
		return 0, ErrorInvalidDeviceFunction
	default:
		return 0, Error(result)
	}
	f.kernel.Store(uintptr(k))
	g.mu.Lock()
	byKernel := map[driver.CUkernel]uintptr{k: host}
	if old := g.byKernel.Load(); old != nil {
		for a, b := range *old {
			byKernel[a] = b
		}
	}
	g.byKernel.Store(&byKernel)
	g.mu.Unlock()
	return k, Success
}

// launchable is what a launch of a kernel names: a function of the context where that is known, else the kernel.
func (r *Runtime) launchable(cur driver.CUcontext, host uintptr) (driver.CUfunction, Error) {
	list := r.registry.functions.Load()
	if r.native || list == nil || (*list)[host] == nil {
		k, e := r.kernel(cur, host)
		return driver.CUfunction(k), e
	}
	f, resets := (*list)[host], r.resets.Load()
	if b := f.bound.Load(); b != nil && b.ctx == cur && b.resets == resets {
		return b.fn, Success
	}
	k, e := r.kernel(cur, host)
	if e != Success {
		return 0, e
	}
	b := &bound{ctx: cur, resets: resets}
	if r.table.KernelGetFunction(cur, &b.fn, k) != driver.CUDA_SUCCESS {
		return driver.CUfunction(k), Success
	}
	f.bound.Store(b)
	return b.fn, Success
}

// publish makes the list that calls look into, which is never changed.
func (g *registry) publish() *map[uintptr]*function {
	g.mu.Lock()
	defer g.mu.Unlock()
	if list := g.functions.Load(); list != nil {
		return list
	}
	list := make(map[uintptr]*function, len(g.all))
	for h, f := range g.all {
		list[h] = f
	}
	g.functions.Store(&list)
	return &list
}

// handle is a kernel that is given by its handle, as cudaLaunchKernel takes it, too.
func (g *registry) handle(host uintptr) (driver.CUkernel, Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.kernels[host] {
		return driver.CUkernel(host), Success
	}
	return 0, ErrorInvalidDeviceFunction
}

// keep notes a kernel that the program has the handle of.
func (g *registry) keep(k driver.CUkernel) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.kernels == nil {
		g.kernels = map[uintptr]bool{}
	}
	g.kernels[uintptr(k)] = true
}

// hostOf is the address that stands for a kernel on the host, or its handle.
func (g *registry) hostOf(k driver.CUkernel) uintptr {
	if list := g.byKernel.Load(); list != nil {
		if h, ok := (*list)[k]; ok {
			return h
		}
	}
	return uintptr(k)
}

// hostOfFunction is the address that stands for a kernel's function on the host, or its handle: the node of a captured
// launch has the function.
func (r *Runtime) hostOfFunction(cur driver.CUcontext, f driver.CUfunction) uintptr {
	if list := r.registry.byKernel.Load(); list != nil {
		for k, host := range *list {
			var of driver.CUfunction
			if driver.CUfunction(k) == f ||
				r.table.KernelGetFunction(cur, &of, k) == driver.CUDA_SUCCESS && of == f {
				return host
			}
		}
	}
	return uintptr(f)
}

// symbol is the address and the size of a variable in the current context.
func (r *Runtime) symbol(cur driver.CUcontext, host uintptr) (driver.CUdeviceptr, uint64, Error) {
	g := &r.registry
	g.mu.Lock()
	v := g.vars[host]
	g.mu.Unlock()
	if v == nil {
		return 0, 0, ErrorInvalidSymbol
	}
	library, e := r.load(cur, v.module)
	if e != Success {
		return 0, 0, e
	}
	var p driver.CUdeviceptr
	var n uint64
	get := r.table.LibraryGetGlobal
	if v.managed != nil {
		get = r.table.LibraryGetManaged
	}
	switch result := get(cur, &p, &n, library, &v.name[0]); result {
	case driver.CUDA_SUCCESS:
		return p, n, Success
	case driver.CUDA_ERROR_NOT_FOUND:
		return 0, 0, ErrorInvalidSymbol
	default:
		return 0, 0, Error(result)
	}
}

// GetSymbolAddress is cudaGetSymbolAddress.
func (r *Runtime) GetSymbolAddress(t *Thread, out *uintptr, symbol uintptr) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidValue)
	}
	p, _, e := r.symbol(cur, symbol)
	if e != Success {
		return t.fail(e)
	}
	*out = uintptr(p)
	return Success
}

// GetSymbolSize is cudaGetSymbolSize.
func (r *Runtime) GetSymbolSize(t *Thread, size *uint64, symbol uintptr) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if size == nil {
		return t.fail(ErrorInvalidValue)
	}
	_, n, e := r.symbol(cur, symbol)
	if e != Success {
		return t.fail(e)
	}
	*size = n
	return Success
}

// bySymbol is kernel for calls that take no handles.
func (r *Runtime) bySymbol(cur driver.CUcontext, host uintptr) (driver.CUkernel, Error) {
	k, e := r.kernel(cur, host)
	if e == ErrorInvalidResourceHandle {
		e = ErrorInvalidDeviceFunction
	}
	return k, e
}

// GetFuncBySymbol is cudaGetFuncBySymbol.
func (r *Runtime) GetFuncBySymbol(t *Thread, out *driver.CUfunction, symbol uintptr) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidValue)
	}
	k, e := r.bySymbol(cur, symbol)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.KernelGetFunction(cur, out, k))
}

// GetKernel is cudaGetKernel.
func (r *Runtime) GetKernel(t *Thread, out *driver.CUkernel, symbol uintptr) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidValue)
	}
	k, e := r.bySymbol(cur, symbol)
	if e != Success {
		return t.fail(e)
	}
	*out = k
	r.registry.keep(k)
	return Success
}

// LibraryGetKernel is cudaLibraryGetKernel.
func (r *Runtime) LibraryGetKernel(t *Thread, out *driver.CUkernel, library driver.CUlibrary, name *byte) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	result := r.table.LibraryGetKernel(cur, out, library, name)
	if result == driver.CUDA_SUCCESS {
		r.registry.keep(*out)
	}
	return r.done(t, result)
}

// LibraryEnumerateKernels is cudaLibraryEnumerateKernels.
func (r *Runtime) LibraryEnumerateKernels(t *Thread, out *driver.CUkernel, n uint32, library driver.CUlibrary) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	result := r.table.LibraryEnumerateKernels(cur, out, n, library)
	if result == driver.CUDA_SUCCESS {
		for _, k := range unsafe.Slice(out, n) {
			if k != 0 {
				r.registry.keep(k)
			}
		}
	}
	return r.done(t, result)
}
