//go:build !gocuda_nodriver && linux && (amd64 || arm64)

package nccl

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/gocuda/cuda/internal/env"
)

// Library is an open NCCL library. It stays loaded until the process ends.
type Library struct {
	path   string
	handle uintptr

	mu  sync.RWMutex
	fns map[string]uintptr
}

// Open finds the library: the given path, GOCUDA_NCCL, the dynamic loader's folders, or the packages of Python. The
// error is a [*LoadError].
func Open(path string) (*Library, error) {
	fail := &LoadError{}
	set := env.Read(nil)
	paths := append([]string{"libnccl.so.2", "libnccl.so"}, pythonPaths(&set)...)
	switch {
	case path != "":
		paths, fail.Forced = []string{path}, fmt.Sprintf("the path %q given to the program", path)
	case set.NCCL != "":
		paths, fail.Forced = []string{set.NCCL}, env.NCCL+"="+set.NCCL
	}
	for _, p := range paths {
		h, err := purego.Dlopen(p, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			if _, e := purego.Dlsym(h, "ncclGetVersion"); e != nil {
				err = errNotNCCL
			}
		}
		if err != nil {
			fail.Tried = append(fail.Tried, Attempt{p, err})
			continue
		}
		return &Library{path: p, handle: h, fns: map[string]uintptr{}}, nil
	}
	return nil, fail
}

// pythonPaths is where "pip install nvidia-nccl-cu13" puts the library: below the virtual environment, the python3 on
// PATH, and what belongs to the user. A shim on PATH (pyenv) leads nowhere, so its versions are looked at too.
func pythonPaths(set *env.Settings) (paths []string) {
	var roots []string
	for _, r := range []string{set.VirtualEnv, set.CondaPrefix} {
		if r != "" {
			roots = append(roots, r)
		}
	}
	for _, dir := range filepath.SplitList(set.Path) {
		python := filepath.Join(dir, "python3")
		if info, err := os.Stat(python); err != nil || info.IsDir() {
			continue
		}
		roots = append(roots, filepath.Dir(dir))
		if real, err := filepath.EvalSymlinks(python); err == nil {
			roots = append(roots, filepath.Dir(filepath.Dir(real)))
		}
		break
	}
	if set.Home != "" {
		roots = append(roots, filepath.Join(set.Home, ".local"), filepath.Join(set.Home, ".pyenv/versions/*"))
	}
	roots = append(roots, "/usr", "/usr/local")
	for _, r := range roots {
		for _, packages := range []string{"lib/python3*/site-packages", "lib/python3*/dist-packages",
			"lib64/python3*/site-packages", "lib/python3/dist-packages"} {
			// the pattern is well formed
			found, _ := filepath.Glob(filepath.Join(r, packages, "nvidia/nccl/lib/libnccl.so.2"))
			for _, f := range found {
				if !slices.Contains(paths, f) {
					paths = append(paths, f)
				}
			}
		}
	}
	return paths
}

// Path is the name under which the library was opened.
func (l *Library) Path() string { return l.path }

func (l *Library) fn(name string) (uintptr, error) {
	l.mu.RLock()
	f := l.fns[name]
	l.mu.RUnlock()
	if f != 0 {
		return f, nil
	}
	f, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return 0, &MissingError{Symbol: name}
	}
	l.mu.Lock()
	l.fns[name] = f
	l.mu.Unlock()
	return f, nil
}

// Call calls a function; its result is one word. Pointers come as uintptr from conversions in the argument list of the
// caller, which keeps and pins what they lead to.
//
//go:uintptrescapes
func (l *Library) Call(name string, args ...uintptr) (uintptr, error) {
	f, err := l.fn(name)
	if err != nil {
		return 0, err
	}
	r, _, _ := purego.SyscallN(f, args...)
	return r, nil
}

// registerWords is the number of integer argument registers of the System V ABI for amd64.
const registerWords = 6

// CallStruct calls a function that has a struct of 128 bytes by value before its argument number at. The System V ABI
// for amd64 puts it on the stack (class MEMORY); the other arguments have registers, so those that are left over are
// filled up. On arm64 the caller passes the address of a copy (AAPCS64, rule B.4).
//
//go:uintptrescapes
func (l *Library) CallStruct(name string, value [128]byte, at int, args ...uintptr) (uintptr, error) {
	f, err := l.fn(name)
	if err != nil {
		return 0, err
	}
	if runtime.GOARCH == "arm64" {
		words := slices.Insert(slices.Clone(args), at, uintptr(unsafe.Pointer(&value)))
		r, _, _ := purego.SyscallN(f, words...)
		runtime.KeepAlive(&value)
		return r, nil
	}
	if len(args) > registerWords {
		panic("nccl: " + name + " has arguments on the stack beside the struct")
	}
	words := make([]uintptr, registerWords, registerWords+len(value)/8)
	copy(words, args)
	copied := *(*[16]uintptr)(unsafe.Pointer(&value))
	r, _, _ := purego.SyscallN(f, append(words, copied[:]...)...)
	return r, nil
}
