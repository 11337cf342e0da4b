//go:build !gocuda_nodriver && (linux || windows) && (amd64 || arm64)

package nvrtc

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/gocuda/cuda/internal/env"
)

// Library is an open compiler library. Its methods may be called from several goroutines; NVRTC compiles them one after
// the other.
type Library struct {
	path    string
	handle  uintptr
	headers []string

	mu  sync.Mutex
	fns map[string]uintptr

	compiling sync.Mutex // held while NVRTC may have signals of the process
}

// Open opens the library at a path. An empty path stands for the environment variable GOCUDA_NVRTC, or else for the
// places where CUDA and pip install the library: the active Python environment (VIRTUAL_ENV, CONDA_PREFIX), the names
// known to the system's loader, CUDA toolkits, and the packages of the python3 on PATH. Libraries that it depends on
// are opened too. The error is a [*LoadError]. A library stays loaded until the process ends.
func Open(path string) (*Library, error) {
	fail := &LoadError{}
	set := env.Read(nil)
	var paths []string
	switch v := set.NVRTC; {
	case path != "":
		paths, fail.Forced = []string{path}, fmt.Sprintf("the path %q given to the program", path)
	case v != "":
		paths, fail.Forced = []string{v}, env.NVRTC+"="+v
	default:
		active, other := places(set)
		paths = slices.Concat(wheels(active), defaultPaths(set), wheels(other))
	}
	for _, p := range paths {
		var h uintptr
		var err error
		keepSignals(func() { h, err = openLibrary(p) })
		if err == nil && symbol(h, "nvrtcCreateProgram") == 0 {
			err = errNotNVRTC
		}
		if err != nil {
			fail.Tried = append(fail.Tried, Attempt{p, err})
			continue
		}
		for _, b := range builtins(p) {
			// Where one cannot be opened NVRTC says so when it compiles.
			keepSignals(func() { _, _ = openLibrary(b) })
		}
		return &Library{path: p, handle: h, fns: map[string]uintptr{}, headers: headers(p)}, nil
	}
	return nil, fail
}

// Headers are the folders with CUDA's headers that belong to the library.
func (l *Library) Headers() []string { return l.headers }

// Path is the name under which the library was opened.
func (l *Library) Path() string { return l.path }

func (l *Library) fn(name string) (uintptr, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.fns[name]; f != 0 {
		return f, nil
	}
	f := symbol(l.handle, name)
	if f == 0 {
		return 0, &MissingError{name}
	}
	l.fns[name] = f
	return f, nil
}

// call calls a function. Pointers come as uintptr from conversions in the argument list of the caller, which keeps and
// pins what they lead to.
//
//go:uintptrescapes
func (l *Library) call(name string, args ...uintptr) error {
	f, err := l.fn(name)
	if err != nil {
		return err
	}
	r, _, _ := purego.SyscallN(f, args...)
	if res := Result(int32(r)); res != Success {
		return res
	}
	return nil
}

// Version is the version of the compiler.
func (l *Library) Version() (major, minor int, err error) {
	v := new([2]int32)
	err = l.call("nvrtcVersion", uintptr(unsafe.Pointer(&v[0])), uintptr(unsafe.Pointer(&v[1])))
	return int(v[0]), int(v[1]), err
}

// Architectures are the architectures that it compiles for, for example 90.
func (l *Library) Architectures() ([]int, error) {
	n := new(int32)
	if err := l.call("nvrtcGetNumSupportedArchs", uintptr(unsafe.Pointer(n))); err != nil {
		return nil, err
	}
	if *n <= 0 || *n > 1000 {
		return nil, nil
	}
	list := make([]int32, *n)
	if err := l.call("nvrtcGetSupportedArchs", uintptr(unsafe.Pointer(&list[0]))); err != nil {
		return nil, err
	}
	archs := make([]int, len(list))
	for i, a := range list {
		archs[i] = int(a)
	}
	return archs, nil
}

// Program is the result of a compilation.
type Program struct {
	l      *Library
	handle *uintptr
}

// cString is a C string.
func cString(s string) *byte {
	b := append([]byte(s), 0)
	return &b[0]
}

func cStrings(list []string) []*byte {
	c := make([]*byte, len(list), len(list)+1)
	for i, s := range list {
		c[i] = cString(s)
	}
	return c[:len(list)+1] // never empty, so that it has an address
}

// Create makes a program from text, with headers that it can include by their names.
func (l *Library) Create(source, name string, headers, includes []string) (*Program, error) {
	p := &Program{l: l, handle: new(uintptr)}
	src, nm, h, inc := cString(source), cString(name), cStrings(headers), cStrings(includes)
	err := l.call("nvrtcCreateProgram", uintptr(unsafe.Pointer(p.handle)), uintptr(unsafe.Pointer(src)),
		uintptr(unsafe.Pointer(nm)), uintptr(len(headers)),
		uintptr(unsafe.Pointer(&h[0])), uintptr(unsafe.Pointer(&inc[0])))
	runtime.KeepAlive(h)
	runtime.KeepAlive(inc)
	return p, err
}

// Destroy gives the program up.
func (p *Program) Destroy() error {
	return p.l.call("nvrtcDestroyProgram", uintptr(unsafe.Pointer(p.handle)))
}

// AddName asks for the mangled name of an expression, before Compile.
func (p *Program) AddName(expression string) error {
	return p.l.call("nvrtcAddNameExpression", *p.handle, uintptr(unsafe.Pointer(cString(expression))))
}

// Compile compiles.
func (p *Program) Compile(options []string) error {
	o := cStrings(options)
	p.l.compiling.Lock()
	defer p.l.compiling.Unlock()
	var err error
	keepSignals(func() {
		err = p.l.call("nvrtcCompileProgram", *p.handle, uintptr(len(options)), uintptr(unsafe.Pointer(&o[0])))
	})
	runtime.KeepAlive(o)
	return err
}

// mostOutput bounds a result of the compiler in bytes.
const mostOutput = 1 << 30

func (p *Program) output(size, get string) ([]byte, error) {
	n := new(uint64)
	if err := p.l.call(size, *p.handle, uintptr(unsafe.Pointer(n))); err != nil || *n == 0 {
		return nil, err
	}
	if *n > mostOutput {
		return nil, fmt.Errorf("nvrtc: %s: %d bytes", size, *n)
	}
	b := make([]byte, *n)
	return b, p.l.call(get, *p.handle, uintptr(unsafe.Pointer(&b[0])))
}

// PTX is the result, with a NUL at its end.
func (p *Program) PTX() ([]byte, error) { return p.output("nvrtcGetPTXSize", "nvrtcGetPTX") }

// CUBIN is the result when an actual architecture (sm_90) was asked for; else empty.
func (p *Program) CUBIN() ([]byte, error) { return p.output("nvrtcGetCUBINSize", "nvrtcGetCUBIN") }

// The functions for Tile IR, since NVRTC 13.1.
const tileIRSize, getTileIR = "nvrtcGetTileIRSize", "nvrtcGetTileIR"

// HasTileIR is a [*MissingError] when the library is older than Tile IR.
func (l *Library) HasTileIR() error {
	_, err := l.fn(getTileIR)
	return err
}

// TileIR is the bytecode of the program's tile kernels; empty without any.
func (p *Program) TileIR() ([]byte, error) { return p.output(tileIRSize, getTileIR) }

// Log is what the compiler wrote, with a NUL at its end.
func (p *Program) Log() ([]byte, error) {
	return p.output("nvrtcGetProgramLogSize", "nvrtcGetProgramLog")
}

// LoweredName is the mangled name of an expression given to AddName.
func (p *Program) LoweredName(expression string) (string, error) {
	out := new(*byte)
	if err := p.l.call("nvrtcGetLoweredName", *p.handle, uintptr(unsafe.Pointer(cString(expression))),
		uintptr(unsafe.Pointer(out))); err != nil || *out == nil {
		return "", err
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(*out), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(*out, n)), nil
}
