package softdev

import (
	"encoding/binary"
	"maps"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/lazy"
)

// library is a CUlibrary: an image that belongs to no context. It is compiled for a compute capability when something
// of it is first needed, and becomes a module in each context that uses it.
type library struct {
	d      *Driver
	handle driver.CUlibrary
	data   []byte
	opts   *jitOptions

	mu      sync.Mutex // held for looking things up, never while something is compiled or loaded
	empty   bool       // a wrapper around nothing
	builds  map[int]*build
	kernels map[string]*kernel
	modules map[*context]*instance
	gone    bool

	sharing  sync.Mutex
	shared   map[string]sharedVariable // the __managed__ variables, when they are needed first
	home     *context                  // owner of their memory; no call knows it
	unshared bool                      // the memory was given back
}

// build is a library's program for a compute capability. Who comes while it is made waits.
type build struct {
	once lazy.Once
	p    *program
	err  *loadError
}

// instance is a library in a context.
type instance struct {
	mu   sync.Mutex // held while the module is made and unmade
	m    *module
	over bool // the library or the context has gone
}

// kernel is a CUkernel: a kernel of a library in whatever context is current.
type kernel struct {
	lib    *library
	name   string
	handle driver.CUkernel

	mu    sync.Mutex
	tunes map[*device]*tuning
}

// tuning is what was set of the kernel on a device.
func (k *kernel) tuning(dev *device) *tuning {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.tunes[dev]
	if t == nil {
		t = newTuning()
		if k.tunes == nil {
			k.tunes = map[*device]*tuning{}
		}
		k.tunes[dev] = t
	}
	return t
}

// build finds the place of the program for a device.
func (l *library) build(dev *device) *build {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.builds[dev.sm()]
	if b == nil {
		b = new(build)
		l.builds[dev.sm()] = b
	}
	return b
}

// program compiles the image for a device when it is first needed.
func (l *library) program(dev *device) (*program, driver.CUresult) {
	b := l.build(dev)
	b.once.Do(func() { b.p, b.err = l.d.compile(l.data, dev, l.opts) })
	if b.err != nil {
		l.d.explain(nil, "%s", b.err.Error())
		return nil, b.err.result
	}
	return b.p, success
}

// module is the library's instance in a context.
func (l *library) module(c *context) (*module, driver.CUresult) {
	i := l.instance(c)
	if i == nil {
		return nil, badHandle
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.over:
		return nil, badHandle
	case i.m != nil:
		return i.m, success
	}
	p, r := l.program(c.dev)
	if r != success {
		return nil, r
	}
	m, r := c.instantiate(p, l, l.opts.symbols)
	if r == destroyed {
		l.take(c)
	}
	i.m = m
	return m, r
}

// instance finds or makes the library's place for a context; there is none when the library has gone.
func (l *library) instance(c *context) *instance {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone {
		return nil
	}
	i := l.modules[c]
	if i == nil {
		i = new(instance)
		l.modules[c] = i
	}
	return i
}

// take takes the place for a context away, and returns it if there was one.
func (l *library) take(c *context) *instance {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.modules[c]
	delete(l.modules, c)
	return i
}

// end closes the instance; the module, nil when there is none, is the caller's to unload.
func (i *instance) end() *module {
	i.mu.Lock()
	defer i.mu.Unlock()
	m := i.m
	i.m, i.over = nil, true
	return m
}

// forget drops the instance in a context that goes.
func (l *library) forget(c *context) {
	if i := l.take(c); i != nil {
		if m := i.end(); m != nil {
			m.unload()
		}
	}
}

// instances are the modules that the library has now.
func (l *library) instances() []*module {
	var list []*module
	for _, i := range l.places() {
		i.mu.Lock()
		if i.m != nil {
			list = append(list, i.m)
		}
		i.mu.Unlock()
	}
	return list
}

func (l *library) places() []*instance {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Values(l.modules))
}

// kernel makes the handle of a kernel.
func (l *library) kernel(name string) (*kernel, driver.CUresult) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.kernels[name]; k != nil {
		return k, success
	}
	if l.gone {
		return nil, badHandle
	}
	k := &kernel{lib: l, name: name}
	if k.handle = driver.CUkernel(l.d.kernels.add(k)); k.handle == 0 {
		return nil, driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	l.kernels[name] = k
	return k, success
}

// function is the kernel in a context.
func (k *kernel) function(c *context) (*function, driver.CUresult) {
	m, r := k.lib.module(c)
	if r != success {
		return nil, r
	}
	e := m.prog.byName[k.name]
	if e == nil {
		return nil, driver.CUDA_ERROR_NOT_FOUND
	}
	f, r := m.function(e)
	if r != success {
		return nil, r
	}
	f.loaded.Store(true)
	return f, success
}

// functions are those of the kernel that contexts of a device have now.
func (k *kernel) functions(dev *device) []*function {
	var list []*function
	for _, m := range k.lib.instances() {
		if m.ctx.dev != dev {
			continue
		}
		if f := m.made(m.prog.byName[k.name]); f != nil {
			list = append(list, f)
		}
	}
	return list
}

// place is the device that context-free questions are asked for: the current context's, else the first.
func (d *Driver) place(cur driver.CUcontext) *device {
	if c, r := d.attach(cur); r == success {
		return c.dev
	}
	return d.devices[0]
}

func (d *Driver) libraryLoad(out *driver.CUlibrary, data []byte, jit *jitOptions, options *driver.CUlibraryOption,
	values *uintptr, n uint32) driver.CUresult {
	if n > 0 {
		if options == nil { // the values of the options that there are need not be read (recorded)
			return invalidValue
		}
		for _, id := range unsafe.Slice(options, n) {
			if id > driver.CU_LIBRARY_BINARY_IS_PRESERVED {
				return invalidValue
			}
		}
	}
	l := &library{d: d, data: data, opts: jit, builds: map[int]*build{}, kernels: map[string]*kernel{},
		modules: map[*context]*instance{}}
	if l.handle = driver.CUlibrary(d.libraries.add(l)); l.handle == 0 {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	*out = l.handle
	return success
}

// keep copies the options, since the arrays behind them are the caller's; logs of a later compilation have nowhere to
// go.
func (o *jitOptions) keep() *jitOptions {
	k := &jitOptions{start: o.start, wallTime: -1, target: o.target, oldTarget: o.oldTarget, symbols: o.symbols,
		maxThreads: o.maxThreads, refusal: o.refusal, level0: o.level0, apart: o.apart,
		maxRegs: o.maxRegs, limitRegs: o.limitRegs, minBlocks: o.minBlocks, override: o.override}
	k.info.sizeSlot, k.err.sizeSlot = -1, -1
	return k
}

func (d *Driver) libraryLoadData(cur driver.CUcontext, out *driver.CUlibrary, code unsafe.Pointer,
	jitIDs *driver.CUjit_option, jitValues *uintptr, numJIT uint32, ids *driver.CUlibraryOption, values *uintptr,
	n uint32) driver.CUresult {
	if out == nil || code == nil {
		return invalidValue
	}
	if r := d.ready(); r != success {
		return r
	}
	jit, r := d.parseJIT(numJIT, jitIDs, jitValues)
	if r != success {
		return r
	}
	defer runtime.KeepAlive(code) // it is read by its address
	img, err := image.Fetch(d.memory.hostBytes, uint64(uintptr(code)))
	if err != nil {
		// The driver takes nearly anything here and finds fault at the first use; only an ELF whose tables contradict
		// themselves is refused at once (recorded).
		e := imageError(err)
		if e.result == driver.CUDA_ERROR_INVALID_IMAGE && img.Kind == image.Cubin {
			d.explain(nil, "%s", e.Error())
			return e.result
		}
		l := driver.CUlibrary(0)
		if r := d.libraryLoad(&l, nil, jit.keep(), ids, values, n); r != success {
			return r
		}
		d.libraries.get(uintptr(l)).refuse(e)
		d.libraries.get(uintptr(l)).empty = d.wrapsNothing(code)
		*out = l
		jit.finish()
		return success
	}
	if img.Kind == image.Cubin {
		if _, err := image.Resolve(img.Data, d.place(cur).imageDevice()); err != nil &&
			imageError(err).result == driver.CUDA_ERROR_INVALID_IMAGE {
			d.explain(nil, "%s", err.Error())
			return driver.CUDA_ERROR_INVALID_IMAGE // recorded, of tables too that only contradict each other
		}
	}
	return d.libraryLoadWith(cur, out, img.Data, jit, ids, values, n)
}

// libraryLoadWith makes the library; when somebody wants logs it is compiled now, or the logs would have nothing to
// say. A failure does not show before the first use (both recorded).
func (d *Driver) libraryLoadWith(cur driver.CUcontext, out *driver.CUlibrary, data []byte, jit *jitOptions,
	ids *driver.CUlibraryOption, values *uintptr, n uint32) driver.CUresult {
	var h driver.CUlibrary
	if r := d.libraryLoad(&h, data, jit.keep(), ids, values, n); r != success {
		return r
	}
	*out = h
	l := d.libraries.get(uintptr(h))
	if l == nil {
		return badHandle // a handle that nobody knows yet was destroyed
	}
	if jit.info.given || jit.err.given {
		dev := d.place(cur)
		b := l.build(dev)
		b.once.Do(func() {
			b.p, b.err = d.compile(data, dev, jit)
			if b.err != nil && b.err.log != "" {
				jit.err.line("%s", b.err.log)
			}
		})
	}
	if d.env.EagerLoading {
		d.loadEagerly(l)
	}
	jit.finish()
	return success
}

// wrapsNothing says whether the image is the struct around a container, with no container.
func (d *Driver) wrapsNothing(code unsafe.Pointer) bool {
	b, ok := d.memory.hostBytes(uint64(uintptr(code)), 16)
	runtime.KeepAlive(code)
	return ok && binary.LittleEndian.Uint32(b) == fatbin.WrapperMagic && binary.LittleEndian.Uint64(b[8:]) == 0
}

// refuse makes every use of the library answer an error.
func (l *library) refuse(e *loadError) {
	for _, dev := range l.d.devices {
		b := l.build(dev)
		b.once.Do(func() { b.err = e })
	}
}

func (d *Driver) libraryLoadFromFile(cur driver.CUcontext, out *driver.CUlibrary, name *byte,
	jitIDs *driver.CUjit_option, jitValues *uintptr, numJIT uint32, ids *driver.CUlibraryOption, values *uintptr,
	n uint32) driver.CUresult {
	if out == nil || name == nil || *name == 0 {
		return invalidValue
	}
	if r := d.ready(); r != success {
		return r
	}
	jit, r := d.parseJIT(numJIT, jitIDs, jitValues)
	if r != success {
		return r
	}
	data, r := d.readImage(nil, driver.String(name))
	if r != success {
		return r
	}
	if len(data) == 0 {
		return driver.CUDA_ERROR_INVALID_IMAGE // recorded; other files are taken and fail when they are used
	}
	return d.libraryLoadWith(cur, out, data, jit, ids, values, n)
}

func (d *Driver) library(h driver.CUlibrary) (*library, driver.CUresult) {
	if r := d.ready(); r != success {
		return nil, r
	}
	l := d.libraries.get(uintptr(h))
	if l == nil {
		return nil, badHandle
	}
	return l, success
}

func (d *Driver) libraryUnload(_ driver.CUcontext, h driver.CUlibrary) driver.CUresult {
	if d.libraries.get(uintptr(h)) == nil {
		return badHandle
	}
	if r := d.ready(); r != success {
		return r
	}
	l := d.libraries.remove(uintptr(h))
	if l == nil {
		return badHandle
	}
	d.unloadLibrary(l)
	return success
}

func (d *Driver) unloadLibrary(l *library) {
	l.mu.Lock()
	modules, kernels := l.modules, l.kernels
	l.modules, l.kernels, l.gone = nil, nil, true
	l.mu.Unlock()
	for _, k := range kernels {
		d.kernels.remove(uintptr(k.handle))
	}
	for c, i := range modules {
		if m := i.end(); m != nil {
			c.synchronize()
			m.unload()
		}
	}
	l.unshare()
}

func (d *Driver) libraryGetKernel(cur driver.CUcontext, out *driver.CUkernel, h driver.CUlibrary,
	name *byte) driver.CUresult {
	if out == nil || name == nil {
		return invalidValue
	}
	l, r := d.library(h)
	if r != success {
		return r
	}
	if l.empty {
		return driver.CUDA_ERROR_NOT_FOUND
	}
	p, r := l.program(d.place(cur))
	if r != success {
		return r
	}
	text := driver.String(name)
	if p.byName[text] == nil {
		return driver.CUDA_ERROR_NOT_FOUND
	}
	k, r := l.kernel(text)
	if r == success {
		*out = k.handle
	}
	return r
}

func (d *Driver) libraryGetKernelCount(cur driver.CUcontext, out *uint32, h driver.CUlibrary) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	l, r := d.library(h)
	if r != success {
		return r
	}
	*out = 0
	if p, r := l.program(d.place(cur)); r == success { // an image that cannot be used counts as empty (recorded)
		*out = uint32(len(p.entries))
	}
	return success
}

// libraryEnumerateKernels gives the kernels in reverse file order (recorded).
func (d *Driver) libraryEnumerateKernels(cur driver.CUcontext, out *driver.CUkernel, n uint32,
	h driver.CUlibrary) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	l, r := d.library(h)
	if r != success {
		return r
	}
	p, r := l.program(d.place(cur))
	if r != success {
		return r
	}
	places := unsafe.Slice(out, n)
	for i := range min(len(places), len(p.entries)) {
		k, r := l.kernel(p.entries[len(p.entries)-1-i].fn.Name)
		if r != success {
			return r
		}
		places[i] = k.handle
	}
	return success
}

func (d *Driver) libraryGetModule(cur driver.CUcontext, out *driver.CUmodule, h driver.CUlibrary) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	l, r := d.library(h)
	if r != success {
		return r
	}
	if l.empty {
		*out = 0 // recorded
		return success
	}
	m, r := l.module(c)
	if r == success {
		*out = m.handle
	}
	return r
}

func (d *Driver) libraryGetGlobal(cur driver.CUcontext, out *driver.CUdeviceptr, size *uint64, h driver.CUlibrary,
	name *byte) driver.CUresult {
	return d.libraryVariable(cur, out, size, h, name, false)
}

func (d *Driver) libraryGetManaged(cur driver.CUcontext, out *driver.CUdeviceptr, size *uint64, h driver.CUlibrary,
	name *byte) driver.CUresult {
	return d.libraryVariable(cur, out, size, h, name, true)
}

// libraryGetUnifiedFunction finds nothing: host code with functions for both sides registers them with the library, and
// there is none here. On an H200 every name gives this result too.
func (d *Driver) libraryGetUnifiedFunction(_ driver.CUcontext, out *uintptr, h driver.CUlibrary,
	name *byte) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil || name == nil {
		return invalidValue
	}
	if _, r := d.library(h); r != success {
		return r
	}
	return invalidValue
}

func (d *Driver) libraryVariable(cur driver.CUcontext, out *driver.CUdeviceptr, size *uint64, h driver.CUlibrary,
	name *byte, managed bool) driver.CUresult {
	if name == nil || *name == 0 || out == nil && size == nil {
		return invalidValue
	}
	l, r := d.library(h)
	if r != success {
		return r // before the context (recorded)
	}
	c, r := d.enter(cur)
	bare := managed && r == invalidCtx // managed variables are there without a current context (recorded)
	if r != success && !bare {
		return r
	}
	if bare {
		p, r := l.program(d.devices[0])
		if r != success {
			return r
		}
		if p.contextFree() {
			return l.managedVariable(p, out, size, driver.String(name))
		}
		if c, r = d.devices[0].primaryContext(); r != success { // their initial values name variables of a context
			return r
		}
	}
	m, r := l.module(c)
	if r != success {
		return r
	}
	v, r := m.variable(name)
	if managed && (v == nil || !v.Managed) {
		return driver.CUDA_ERROR_NOT_FOUND
	}
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

func (d *Driver) kernel(h driver.CUkernel) (*kernel, driver.CUresult) {
	if r := d.ready(); r != success {
		return nil, r
	}
	k := d.kernels.get(uintptr(h))
	if k == nil {
		return nil, badHandle
	}
	return k, success
}

func (d *Driver) kernelGetFunction(cur driver.CUcontext, out *driver.CUfunction, h driver.CUkernel) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	k, r := d.kernel(h)
	if r != success {
		return r // before the context (recorded)
	}
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	f, r := k.function(c)
	if r == success {
		*out = f.handle
	}
	return r
}

func (d *Driver) kernelGetLibrary(_ driver.CUcontext, out *driver.CUlibrary, h driver.CUkernel) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	k, r := d.kernel(h)
	if r != success {
		return r
	}
	*out = k.lib.handle
	return success
}

func (d *Driver) kernelGetName(_ driver.CUcontext, out **byte, h driver.CUkernel) driver.CUresult {
	if out == nil || h == 0 {
		return invalidValue
	}
	k, r := d.kernel(h)
	if r != success {
		return r
	}
	*out = d.cString(k.name)
	return success
}

func (d *Driver) kernelGetParamInfo(cur driver.CUcontext, h driver.CUkernel, i uint64, offset,
	size *uint64) driver.CUresult {
	if offset == nil || h == 0 {
		return invalidValue
	}
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	k, r := d.kernel(h)
	if r != success {
		return r
	}
	f, r := k.function(c)
	if r != success {
		return r
	}
	return f.entry.paramInfo(i, offset, size)
}

// kernelOn is a kernel on a device; no context is needed.
func (d *Driver) kernelOn(h driver.CUkernel, ordinal driver.CUdevice) (*kernel, *entry, *device, driver.CUresult) {
	k := d.kernels.get(uintptr(h))
	if k == nil {
		return nil, nil, nil, badHandle
	}
	if r := d.ready(); r != success {
		return nil, nil, nil, r
	}
	dev, r := d.deviceOf(ordinal)
	if r != success {
		return nil, nil, nil, r
	}
	p, r := k.lib.program(dev)
	if r != success {
		return nil, nil, nil, r
	}
	e := p.byName[k.name]
	if e == nil {
		return nil, nil, nil, driver.CUDA_ERROR_NOT_FOUND
	}
	return k, e, dev, success
}

func (d *Driver) kernelGetAttribute(_ driver.CUcontext, out *int32, attr driver.CUfunction_attribute, h driver.CUkernel,
	ordinal driver.CUdevice) driver.CUresult {
	k, e, dev, r := d.kernelOn(h, ordinal)
	if r != success {
		return r
	}
	if out == nil || attr >= d.funcAttributeMax() {
		return invalidValue
	}
	v, r, err := e.attribute(dev, k.tuning(dev), attr)
	if err != nil {
		d.explain(nil, "%s", err.Error())
	}
	if r == success {
		*out = v
	}
	return r
}

func (d *Driver) kernelSetAttribute(_ driver.CUcontext, attr driver.CUfunction_attribute, v int32, h driver.CUkernel,
	ordinal driver.CUdevice) driver.CUresult {
	k, e, dev, r := d.kernelOn(h, ordinal)
	if r != success {
		return r
	}
	r, err := e.setAttribute(dev, k.tuning(dev), attr, v)
	if err != nil {
		d.explain(nil, "%s", err.Error())
	}
	if r == success {
		for _, f := range k.functions(dev) {
			_, _ = e.setAttribute(dev, f.tune, attr, v) // went well a moment ago
		}
	}
	return r
}

func (d *Driver) kernelSetCacheConfig(_ driver.CUcontext, h driver.CUkernel, v driver.CUfunc_cache,
	ordinal driver.CUdevice) driver.CUresult {
	if _, _, _, r := d.kernelOn(h, ordinal); r != success {
		return r
	}
	if !validCacheConfig(v) {
		return invalidValue
	}
	return success
}
