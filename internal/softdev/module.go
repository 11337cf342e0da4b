package softdev

import (
	"errors"
	"io/fs"
	"sync"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// module is a program in a context: its variables have addresses.
type module struct {
	ctx     *context
	prog    *program
	handle  driver.CUmodule
	lib     *library // nil when a call of the program loaded it as a module
	globals driver.CUdeviceptr
	consts  driver.CUdeviceptr
	managed driver.CUdeviceptr
	shared  map[*check.Var]uint64 // managed variables of a library
	extern  map[string]uint64     // CU_JIT_GLOBAL_SYMBOL_...

	mu        sync.Mutex
	functions map[*entry]*function
	gone      bool
}

// instantiate makes a module of a program: memory for the variables, with their initial values.
func (c *context) instantiate(p *program, lib *library, extern map[string]uint64) (*module, driver.CUresult) {
	m := &module{ctx: c, prog: p, lib: lib, extern: extern, functions: map[*entry]*function{}}
	var r driver.CUresult
	alloc := func(b *block, h *mem.Heap, use allocationUse) driver.CUdeviceptr {
		if b.layout.Size == 0 || r != success {
			return 0
		}
		var at driver.CUdeviceptr
		at, r = c.allocate(h, b.layout.Size, max(b.layout.Align, mem.MinAlign), &allocation{use: use, module: m})
		return at
	}
	m.globals = alloc(&p.globals, c.dev.heap, useVariable)
	m.consts = alloc(&p.consts, c.dev.heap, useConstant)
	if lib == nil {
		m.managed = alloc(&p.managed, c.d.memory.managed, useVariable)
	} else if r == success {
		m.shared, r = lib.share(p, m.address)
	}
	if r != success {
		m.freeVariables()
		return nil, r
	}
	own := []*block{&p.globals, &p.consts, &p.managed}
	if lib != nil {
		own = own[:2] // share has written the managed ones
	}
	for _, b := range own {
		for _, v := range b.vars {
			c.d.initialize(p, v, m.address)
		}
	}
	m.handle = driver.CUmodule(c.d.modules.add(m))
	if m.handle == 0 {
		m.freeVariables()
		return nil, driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	if !c.adopt(m) {
		m.unload()
		return nil, destroyed
	}
	if len(p.opaques.vars) > 0 {
		c.tex.changed()
	}
	if c.d.env.EagerLoading {
		for _, e := range p.entries {
			if f, r := m.function(e); r == success {
				_ = f.prepare() // what cannot be compiled shows when it is used
			}
		}
	}
	return m, success
}

// adopt makes a module one of the context's, unless that is being destroyed.
func (c *context) adopt(m *module) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead.Load() { // tearDown sets it before it looks for modules
		return false
	}
	c.modules[m] = struct{}{}
	return true
}

// leave takes a module away.
func (c *context) leave(m *module) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.modules, m)
}

func (m *module) freeVariables() {
	for at, h := range map[driver.CUdeviceptr]*mem.Heap{m.globals: m.ctx.dev.heap, m.consts: m.ctx.dev.heap,
		m.managed: m.ctx.d.memory.managed} {
		if at != 0 {
			_ = h.Free(uint64(at)) // allocated by instantiate
		}
	}
	m.globals, m.consts, m.managed = 0, 0, 0
}

// address is where a variable lies; 0 for one that nothing defines.
func (m *module) address(v *check.Var) uint64 {
	p := m.prog
	v = p.linked.Var(v)
	if off, ok := p.globals.off[v]; ok {
		return uint64(m.globals) + off
	}
	if off, ok := p.consts.off[v]; ok {
		return uint64(m.consts) + off
	}
	if addr, ok := m.shared[v]; ok {
		return addr
	}
	if off, ok := p.managed.off[v]; ok {
		return uint64(m.managed) + off
	}
	if addr, ok := p.opaques.addr[v]; ok {
		return addr
	}
	return m.extern[v.Name]
}

// initialize writes a variable's initial value into memory that has just been allocated. Of large memory no more is
// touched than the text has values for.
func (d *Driver) initialize(p *program, v *check.Var, address func(*check.Var) uint64) {
	at, n := address(v), v.Size
	if r, ok := d.memory.w.Lookup(at); ok && r.Whole {
		n = uint64(len(v.Init))
	}
	if n > 0 {
		p.linked.Write(unsafe.Slice((*byte)(d.memory.w.Ptr(at)), n), v, p.syms, address)
	}
}

// function is the module's instance of a kernel, made when it is first asked for.
func (m *module) function(e *entry) (*function, driver.CUresult) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone {
		return nil, badHandle
	}
	if f := m.functions[e]; f != nil {
		return f, success
	}
	f := &function{mod: m, entry: e}
	if m.lib != nil {
		k, r := m.lib.kernel(e.fn.Name)
		if r != success {
			return nil, r
		}
		f.tune = newTuning()
		f.tune.copy(k.tuning(m.ctx.dev))
	} else {
		f.tune = newTuning()
	}
	f.handle = driver.CUfunction(m.ctx.d.functions.add(f))
	if f.handle == 0 {
		return nil, driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	m.functions[e] = f
	return f, success
}

// unload gives the module's memory and handles back; work that uses them has ended.
func (m *module) unload() {
	m.mu.Lock()
	if m.gone {
		m.mu.Unlock()
		return
	}
	m.gone = true
	functions := m.functions
	m.functions = nil
	m.mu.Unlock()
	d := m.ctx.d
	d.modules.remove(uintptr(m.handle))
	for _, f := range functions {
		d.functions.remove(uintptr(f.handle))
	}
	m.freeVariables()
	m.ctx.leave(m)
}

// made is the module's instance of a kernel, nil when nobody has asked for it.
func (m *module) made(e *entry) *function {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.functions[e]
}

// load is the common end of the module loads.
func (c *context) load(data []byte, o *jitOptions) (*module, driver.CUresult) {
	c.output.flush()
	p, e := c.d.compile(data, c.dev, o)
	if e != nil {
		if e.log != "" {
			o.err.line("%s", e.log)
		}
		o.finish()
		c.d.explain(c, "%s", e.Error())
		return nil, e.result
	}
	m, r := c.instantiate(p, nil, o.symbols)
	o.finish()
	return m, r
}

func (d *Driver) moduleLoadDataEx(cur driver.CUcontext, out *driver.CUmodule, img unsafe.Pointer, n uint32,
	options *driver.CUjit_option, values *uintptr) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil || img == nil {
		return invalidValue
	}
	o, r := d.parseJIT(n, options, values)
	if r != success {
		return r
	}
	o.stop = d.stoppable.find(values)
	data, e := d.fetch(img)
	if e != nil {
		if e.log != "" {
			o.err.line("%s", e.log)
		}
		o.finish()
		d.explain(c, "%s", e.Error())
		return e.result
	}
	m, r := c.load(data, o)
	if r == success {
		*out = m.handle
	}
	return r
}

func (d *Driver) moduleLoadData(cur driver.CUcontext, out *driver.CUmodule, img unsafe.Pointer) driver.CUresult {
	return d.moduleLoadDataEx(cur, out, img, 0, nil, nil)
}

// moduleLoadFatBinary accepts a container or the wrapper around one, as cuModuleLoadData does.
func (d *Driver) moduleLoadFatBinary(cur driver.CUcontext, out *driver.CUmodule, img unsafe.Pointer) driver.CUresult {
	return d.moduleLoadDataEx(cur, out, img, 0, nil, nil)
}

func (d *Driver) moduleLoad(cur driver.CUcontext, out *driver.CUmodule, name *byte) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil || name == nil || *name == 0 {
		return invalidValue
	}
	data, r := d.readImage(c, driver.String(name))
	if r != success {
		return r
	}
	o, _ := d.parseJIT(0, nil, nil)
	m, r := c.load(data, o)
	if r == success {
		*out = m.handle
	}
	return r
}

// readImage reads a file for cuModuleLoad and cuLibraryLoadFromFile.
func (d *Driver) readImage(c *context, name string) ([]byte, driver.CUresult) {
	data, err := image.ReadFile(name)
	if err == nil {
		return data, success
	}
	d.explain(c, "%s", err.Error())
	var f *image.FileError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, driver.CUDA_ERROR_FILE_NOT_FOUND
	case !errors.As(err, &f):
		return nil, driver.CUDA_ERROR_OPERATING_SYSTEM
	case f.Mode == 0, f.Mode.IsDir():
		// Recorded of directories: the driver asks for the size, believes it, and has no memory for that.
		return nil, driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	return nil, driver.CUDA_ERROR_INVALID_IMAGE // as of an empty file: pipes and devices have no size
}

// module resolves a handle; a module knows its context.
func (d *Driver) module(h driver.CUmodule) (*module, driver.CUresult) {
	if r := d.ready(); r != success {
		return nil, r
	}
	m := d.modules.get(uintptr(h))
	if m == nil {
		return nil, badHandle
	}
	return m, m.ctx.fault()
}

func (d *Driver) moduleUnload(_ driver.CUcontext, h driver.CUmodule) driver.CUresult {
	m, r := d.module(h)
	if r != success {
		return r
	}
	if m.lib != nil {
		return driver.CUDA_ERROR_NOT_PERMITTED // the library owns it
	}
	if r := m.ctx.synchronize(); r != success {
		return r
	}
	m.unload()
	return success
}

func (d *Driver) moduleGetFunction(_ driver.CUcontext, out *driver.CUfunction, h driver.CUmodule,
	name *byte) driver.CUresult {
	m, r := d.module(h)
	if r != success {
		return r
	}
	if out == nil || name == nil || *name == 0 {
		return invalidValue
	}
	*out = 0
	e := m.prog.byName[driver.String(name)]
	if e == nil {
		return driver.CUDA_ERROR_NOT_FOUND
	}
	f, r := m.function(e)
	if r != success {
		return r
	}
	f.loaded.Store(true)
	*out = f.handle
	return success
}

// variable finds a variable for the GetGlobal calls.
func (m *module) variable(name *byte) (*check.Var, driver.CUresult) {
	text := driver.String(name)
	switch v := m.prog.linked.Variable(text); {
	case v == nil && m.prog.byName[text] == nil:
		return nil, driver.CUDA_ERROR_NOT_FOUND
	case v == nil || opaque(v):
		return nil, invalidValue // recorded: the name of a kernel or texture
	default:
		return v, success
	}
}

func (d *Driver) moduleGetGlobal(_ driver.CUcontext, out *driver.CUdeviceptr, size *uint64, h driver.CUmodule,
	name *byte) driver.CUresult {
	if out != nil {
		*out = 0
	}
	if size != nil {
		*size = 0
	}
	m, r := d.module(h)
	if r != success {
		return r
	}
	if name == nil || *name == 0 || out == nil && size == nil {
		return invalidValue
	}
	v, r := m.variable(name)
	if r != success {
		return r
	}
	if out != nil {
		*out = driver.CUdeviceptr(m.address(v))
	}
	if size != nil {
		*size = v.Size
	}
	return success
}

// moduleGetGlobalV1 is the call of 32-bit addresses, which contexts of the API's second version refuse (recorded).
func (d *Driver) moduleGetGlobalV1(_ driver.CUcontext, out *driver.CUdeviceptr_v1, size *uint32, h driver.CUmodule,
	_ *byte) driver.CUresult {
	if out != nil {
		*out = 0
	}
	if size != nil {
		*size = 0
	}
	if _, r := d.module(h); r != success {
		return r
	}
	return invalidCtx
}

func (d *Driver) moduleGetFunctionCount(_ driver.CUcontext, out *uint32, h driver.CUmodule) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	m, r := d.module(h)
	if r != success {
		return r
	}
	*out = uint32(len(m.prog.entries))
	return success
}

// moduleEnumerateFunctions gives functions in the order of their code; unlike those of cuModuleGetFunction they are not
// loaded yet.
func (d *Driver) moduleEnumerateFunctions(_ driver.CUcontext, out *driver.CUfunction, n uint32,
	h driver.CUmodule) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	m, r := d.module(h)
	if r != success {
		return r
	}
	places := unsafe.Slice(out, n)
	for i := range min(len(places), len(m.prog.entries)) {
		f, r := m.function(m.prog.entries[i])
		if r != success {
			return r
		}
		places[i] = f.handle
	}
	return success
}

func (d *Driver) moduleGetLoadingMode(_ driver.CUcontext, out *driver.CUmoduleLoadingMode) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = driver.CU_MODULE_LAZY_LOADING
	if d.env.EagerLoading {
		*out = driver.CU_MODULE_EAGER_LOADING
	}
	return success
}
