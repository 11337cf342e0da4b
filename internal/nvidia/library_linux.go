//go:build !gocuda_nodriver && (amd64 || arm64)

package nvidia

import (
	"path/filepath"
	"runtime"

	"github.com/ebitengine/purego"

	"github.com/gocuda/cuda/internal/env"
)

// defaultPaths are the names that the dynamic loader resolves, then the folders where distributions, container
// runtimes, WSL and Jetson put the library without telling the loader.
func defaultPaths(env.Settings) []string {
	paths := []string{"libcuda.so.1", "libcuda.so"}
	triple := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	folders := []string{
		"/usr/lib/" + triple,
		"/usr/lib64",
		"/usr/lib",
		"/usr/lib/" + triple + "/nvidia/current",
		"/usr/lib64/nvidia",
		"/usr/local/nvidia/lib64",
		"/usr/local/nvidia/lib",
		"/run/opengl-driver/lib",
		"/usr/lib/wsl/lib",
	}
	if runtime.GOARCH == "arm64" {
		folders = append(folders, "/usr/lib/"+triple+"/tegra", "/usr/lib/"+triple+"/nvidia")
	}
	for _, f := range folders {
		paths = append(paths, filepath.Join(f, "libcuda.so.1"))
	}
	return paths
}

// openLibrary resolves everything at once, so that a library with a missing dependency fails here and not in a call.
func openLibrary(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// librarySymbol returns 0 when the library does not have the symbol.
func librarySymbol(handle uintptr, name string) uintptr {
	fn, err := purego.Dlsym(handle, name)
	if err != nil {
		return 0
	}
	return fn
}

func closeLibrary(handle uintptr) { _ = purego.Dlclose(handle) }
