package cuda

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/internal/nearest"
)

// Module is code and variables loaded into a context.
type Module struct {
	owned
	c      *Context
	handle cu.CUmodule
	name   string
	log    string
	sigs   *signatures

	mu      sync.Mutex
	kernels map[string]*Kernel
}

// Load loads an image: PTX text, a cubin, a fat binary with any of them, or Tile IR. The software device needs PTX or
// Tile IR in the image. If the compiler rejects the image the error is an [*Error] with the compiler's log;
// [Module.Log] has warnings.
func (c *Context) Load(image []byte, options ...JITOption) (*Module, error) {
	return c.load("", image, options)
}

// LoadContext is [Context.Load] with a context.Context that can end it. The error then wraps the cause of the
// context.Context (errors.Is with context.Canceled or context.DeadlineExceeded) and ErrNotReady; nothing is loaded, and
// the CUDA context remains usable. The software device stops compiling. On a GPU nothing can stop the driver's
// compiler: only the wait ends, and the module is unloaded once it has been loaded. The image must not change before
// that.
func (c *Context) LoadContext(ctx context.Context, image []byte, options ...JITOption) (*Module, error) {
	if ctx.Done() == nil {
		return c.load("", image, options)
	}
	return c.loadUntil(ctx, image, options)
}

// LoadFS is [Context.Load] of a file, for example of an embed.FS.
func (c *Context) LoadFS(fsys fs.FS, name string, options ...JITOption) (*Module, error) {
	image, err := readImage("cuModuleLoadDataEx", fsys, name)
	if err != nil {
		return nil, err
	}
	return c.load(name, image, options)
}

const loadOp = "cuModuleLoadDataEx"

func (c *Context) load(name string, image []byte, options []JITOption) (*Module, error) {
	if err := c.loadable(name, image, options); err != nil {
		return nil, err
	}
	j := newJIT(options)
	defer j.Close()
	h, err := c.api.ModuleLoadDataEx(image, j.IDs(), j.Values())
	return c.newModule(name, image, j, h, err)
}

func (c *Context) loadUntil(ctx context.Context, image []byte, options []JITOption) (*Module, error) {
	if err := c.loadable("", image, options); err != nil {
		return nil, err
	}
	ended := func() error {
		cause := context.Cause(ctx)
		return &Error{Op: loadOp, Code: ErrNotReady, Detail: "the load was ended: " + cause.Error(), cause: cause}
	}
	if ctx.Err() != nil {
		return nil, ended()
	}
	j := newJIT(options)
	stop, forget, stops := c.dev.sys.dev.Stoppable(&j.Values()[0])
	var h cu.CUmodule
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer forget()
		h, err = c.api.ModuleLoadDataEx(image, j.IDs(), j.Values())
	}()
	select {
	case <-done:
		defer j.Close()
		return c.newModule("", image, j, h, err)
	case <-ctx.Done():
	}
	discard := func() {
		<-done
		j.Close()
		if err == nil {
			_ = c.api.ModuleUnload(h) // nobody has it
		}
	}
	if stop(); stops {
		discard()
	} else {
		go discard()
	}
	return nil, ended()
}

func (c *Context) loadable(name string, image []byte, options []JITOption) error {
	switch {
	case c.isClosed():
		return closedError(loadOp, "context")
	case len(image) == 0:
		return invalid(loadOp, name, "the image is empty")
	}
	return checkOptions(loadOp, name, options)
}

// newModule is what the driver has loaded.
func (c *Context) newModule(name string, image []byte, j *cu.JITOptions, h cu.CUmodule, err error) (*Module, error) {
	if err != nil {
		return nil, errorWithLog(c.fail(loadOp, name, err), logOf(j))
	}
	m := &Module{c: c, handle: h, name: name, log: logOf(j), sigs: newSignatures(image, c.dev)[c.dev]}
	m.born(&c.owned, "module", 0, c.giveBack("cuModuleUnload", name, func(api cu.API) error {
		return api.ModuleUnload(h)
	}))
	watch(m, &m.owned)
	return m, nil
}

// Close unloads the module. Its kernels must not be used afterwards.
func (m *Module) Close() error { return m.end() }

// Handle returns the driver's handle of the module.
func (m *Module) Handle() cu.CUmodule { return m.handle }

// Context returns the context that the module is loaded in.
func (m *Module) Context() *Context { return m.c }

// Log returns the compiler's messages: warnings, and with [VerboseLog] the resource use of each kernel.
func (m *Module) Log() string { return m.log }

// Kernel returns the kernel with the given name, which for C++ is the mangled name. The same name gives the same
// *Kernel.
func (m *Module) Kernel(name string) (*Kernel, error) {
	const op = "cuModuleGetFunction"
	if m.isClosed() {
		return nil, closedError(op, "module")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.kernels[name]; k != nil {
		return k, nil
	}
	h, err := m.c.api.ModuleGetFunction(m.handle, name)
	if err != nil {
		return nil, noKernel(m.c.fail(op, name, err), name, m.Kernels)
	}
	k, err := newKernel(m.c, &m.owned, h, name, m.sigs)
	if err != nil {
		return nil, err
	}
	if m.kernels == nil {
		m.kernels = map[string]*Kernel{}
	}
	m.kernels[name] = k
	return k, nil
}

// mostNames is how many kernels an error names.
const mostNames = 8

// noKernel adds to the error for a kernel that was not found which there are, those first that may be meant: C++
// mangles names.
func noKernel(err error, name string, list func() ([]string, error)) error {
	var e *Error
	if !errors.As(err, &e) || e.Code != ErrNotFound {
		return err
	}
	names, listErr := list()
	if listErr != nil {
		return err
	}
	nearest.Sort(name, names)
	switch {
	case len(names) == 0:
		e.Detail = "there are no kernels"
	case len(names) > mostNames:
		e.Detail = fmt.Sprintf("there are %s and %d more", strings.Join(names[:mostNames], ", "), len(names)-mostNames)
	default:
		e.Detail = "there are " + strings.Join(names, ", ")
	}
	if meant := nearest.Meant(name, names); meant != "" {
		e.Detail = fmt.Sprintf("did you mean `%s`? %s", meant, e.Detail)
	}
	return err
}

// Kernels returns the names of the kernels in the module (CUDA 12.4).
func (m *Module) Kernels() ([]string, error) {
	if m.isClosed() {
		return nil, closedError("cuModuleGetFunctionCount", "module")
	}
	n, err := m.c.api.ModuleGetFunctionCount(m.handle)
	if err != nil {
		return nil, m.c.fail("cuModuleGetFunctionCount", "", err)
	}
	if n == 0 {
		return nil, nil
	}
	list, err := m.c.api.ModuleEnumerateFunctions(n, m.handle)
	if err != nil {
		return nil, m.c.fail("cuModuleEnumerateFunctions", "", err)
	}
	names := make([]string, len(list))
	for i, f := range list {
		if names[i], err = m.c.api.FuncGetName(f); err != nil {
			return nil, m.c.fail("cuFuncGetName", "", err)
		}
	}
	return names, nil
}

// Global returns a variable of the module as bytes. [GlobalOf] gives it a type.
func (m *Module) Global(name string) (View[byte], error) {
	const op = "cuModuleGetGlobal"
	if m.isClosed() {
		return View[byte]{}, closedError(op, "module")
	}
	p, n, err := m.c.api.ModuleGetGlobal(m.handle, name)
	if err != nil {
		return View[byte]{}, m.c.fail(op, name, err)
	}
	return View[byte]{c: m.c, owner: &m.owned, ptr: p, n: int(n)}, nil
}

// Globals gives access to variables of device code by name: a [*Module] or a [*LibraryIn].
type Globals interface {
	Global(name string) (View[byte], error)
}

// GlobalOf returns a variable of device code as an array of T. Its size must be a multiple of T's.
func GlobalOf[T any](from Globals, name string) (View[T], error) {
	b, err := from.Global(name)
	if err != nil {
		return View[T]{}, err
	}
	v, err := Cast[T](b)
	if err != nil {
		var e T
		return View[T]{}, invalid("cuModuleGetGlobal", name, "the variable has %d bytes, which is no array of %T", b.n,
			e)
	}
	return v, nil
}

// Library is an image that belongs to no context; it is loaded into each context that uses it (CUDA 12.0). Use it for
// code that runs in several contexts, and [Context.Load] otherwise.
type Library struct {
	owned
	sys    *System
	handle cu.CUlibrary
	name   string
	jit    *cu.JITOptions
	sigs   map[*Device]*signatures
}

// LoadLibrary loads an image as [Context.Load] does. Errors in the image may be reported by its first use only.
func (s *System) LoadLibrary(image []byte, options ...JITOption) (*Library, error) {
	return s.loadLibrary("", image, options)
}

// LoadLibraryFS is [System.LoadLibrary] of a file.
func (s *System) LoadLibraryFS(fsys fs.FS, name string, options ...JITOption) (*Library, error) {
	image, err := readImage("cuLibraryLoadData", fsys, name)
	if err != nil {
		return nil, err
	}
	return s.loadLibrary(name, image, options)
}

func (s *System) loadLibrary(name string, image []byte, options []JITOption) (*Library, error) {
	const op = "cuLibraryLoadData"
	if s.isClosed() {
		return nil, closedError(op, "system")
	}
	if len(image) == 0 {
		return nil, invalid(op, name, "the image is empty")
	}
	if err := checkOptions(op, name, options); err != nil {
		return nil, err
	}
	j := newJIT(options)
	h, err := s.api.LibraryLoadData(image, j.IDs(), j.Values(), nil, nil)
	if err != nil {
		defer j.Close()
		return nil, errorWithLog(s.wrap(op, name, 0, err), logOf(j))
	}
	l := &Library{sys: s, handle: h, name: name, jit: j, sigs: newSignatures(image, s.devices...)}
	l.born(&s.owned, "library", 0, s.giveBack("cuLibraryUnload", name, func(api cu.API) error {
		defer j.Close()
		return api.LibraryUnload(h)
	}))
	watch(l, &l.owned)
	return l, nil
}

// Close unloads the library from every context.
func (l *Library) Close() error { return l.end() }

// Handle returns the driver's handle of the library. It is valid as long as the Library is reachable and not closed.
func (l *Library) Handle() cu.CUlibrary { return l.handle }

// Log returns the compiler's messages so far.
func (l *Library) Log() string { return logOf(l.jit) }

// Kernels returns the names of the kernels in the library (CUDA 12.4).
func (l *Library) Kernels() ([]string, error) {
	const op = "cuLibraryEnumerateKernels"
	if l.isClosed() {
		return nil, closedError(op, "library")
	}
	api := l.sys.api
	n, err := api.LibraryGetKernelCount(l.handle)
	if err != nil {
		return nil, l.sys.wrap("cuLibraryGetKernelCount", l.name, 0, err)
	}
	if n == 0 {
		return nil, nil
	}
	list, err := api.LibraryEnumerateKernels(n, l.handle)
	if err != nil {
		return nil, l.sys.wrap(op, l.name, 0, err)
	}
	names := make([]string, len(list))
	for i, k := range list {
		if names[i], err = api.KernelGetName(k); err != nil {
			return nil, l.sys.wrap("cuKernelGetName", l.name, 0, err)
		}
	}
	return names, nil
}

// In returns the library in a context.
func (l *Library) In(c *Context) *LibraryIn {
	return &LibraryIn{l: l, c: c}
}

// LibraryIn is a library in a context. It need not be closed.
type LibraryIn struct {
	l *Library
	c *Context
}

func (l *LibraryIn) check(op string) error {
	if l.l.isClosed() {
		return closedError(op, "library")
	}
	if l.c.isClosed() {
		return closedError(op, "context")
	}
	return nil
}

// Kernel returns the kernel with the given name.
func (l *LibraryIn) Kernel(name string) (*Kernel, error) {
	if err := l.check("cuLibraryGetKernel"); err != nil {
		return nil, err
	}
	h, err := l.c.api.LibraryGetKernel(l.l.handle, name)
	if err != nil {
		return nil, noKernel(errorWithLog(l.c.fail("cuLibraryGetKernel", name, err), l.l.Log()), name, l.l.Kernels)
	}
	f, err := l.c.api.KernelGetFunction(h)
	if err != nil {
		return nil, errorWithLog(l.c.fail("cuKernelGetFunction", name, err), l.l.Log())
	}
	return newKernel(l.c, &l.l.owned, f, name, l.l.sigs[l.c.dev])
}

// Global returns a variable as bytes; see [GlobalOf].
func (l *LibraryIn) Global(name string) (View[byte], error) {
	if err := l.check("cuLibraryGetGlobal"); err != nil {
		return View[byte]{}, err
	}
	p, n, err := l.c.api.LibraryGetGlobal(l.l.handle, name)
	if err != nil {
		return View[byte]{}, l.c.fail("cuLibraryGetGlobal", name, err)
	}
	return View[byte]{c: l.c, owner: &l.l.owned, ptr: p, n: int(n)}, nil
}

// Managed returns a managed variable as bytes.
func (l *LibraryIn) Managed(name string) (View[byte], error) {
	if err := l.check("cuLibraryGetManaged"); err != nil {
		return View[byte]{}, err
	}
	p, n, err := l.c.api.LibraryGetManaged(l.l.handle, name)
	if err != nil {
		return View[byte]{}, l.c.fail("cuLibraryGetManaged", name, err)
	}
	return View[byte]{c: l.c, owner: &l.l.owned, ptr: p, n: int(n)}, nil
}
