//go:build !gocuda_nodriver && (amd64 || arm64)

package nvrtc

import (
	"path/filepath"
	"syscall"

	"github.com/gocuda/cuda/internal/env"
)

// defaultPaths: the toolkit installs the library in its bin folder, which CUDA_PATH leads to.
func defaultPaths(set env.Settings) []string {
	dlls := []string{"nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"}
	var paths []string
	if root := set.CUDAPath; root != "" {
		for _, d := range dlls {
			paths = append(paths, filepath.Join(root, "bin", d), filepath.Join(root, "bin", "x64", d))
		}
	}
	return append(paths, dlls...)
}

func openLibrary(path string) (uintptr, error) {
	h, err := syscall.LoadLibrary(path)
	return uintptr(h), err
}

func symbol(handle uintptr, name string) uintptr {
	f, err := syscall.GetProcAddress(syscall.Handle(handle), name)
	if err != nil {
		return 0
	}
	return f
}
