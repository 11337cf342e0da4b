//go:build !gocuda_nodriver && (amd64 || arm64)

package nvidia

import (
	"path/filepath"
	"syscall"

	"github.com/gocuda/cuda/internal/env"
)

// defaultPaths: the display driver installs nvcuda.dll in the system folder. The full path comes first, since a bare
// name would also be looked for in the folder of the program and in the current one.
func defaultPaths(set env.Settings) []string {
	var paths []string
	if root := set.SystemRoot; root != "" {
		paths = append(paths, filepath.Join(root, "System32", "nvcuda.dll"))
	}
	return append(paths, "nvcuda.dll")
}

func openLibrary(path string) (uintptr, error) {
	h, err := syscall.LoadLibrary(path)
	return uintptr(h), err
}

// librarySymbol returns 0 when the library does not have the symbol.
func librarySymbol(handle uintptr, name string) uintptr {
	fn, err := syscall.GetProcAddress(syscall.Handle(handle), name)
	if err != nil {
		return 0
	}
	return fn
}

func closeLibrary(handle uintptr) { _ = syscall.FreeLibrary(syscall.Handle(handle)) }
