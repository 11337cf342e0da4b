//go:build !gocuda_nodriver && (amd64 || arm64)

package nvrtc

import (
	"path/filepath"
	"runtime"

	"github.com/ebitengine/purego"

	"github.com/gocuda/cuda/internal/env"
)

// defaultPaths are the names that the dynamic loader resolves, newest first, then the toolkit's own folders.
func defaultPaths(env.Settings) []string {
	versions := []string{"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"}
	arch := map[string]string{"amd64": "x86_64", "arm64": "sbsa"}[runtime.GOARCH]
	paths := append([]string(nil), versions...)
	for _, folder := range []string{"/usr/local/cuda/lib64", "/usr/local/cuda/targets/" + arch + "-linux/lib",
		"/opt/cuda/lib64"} {
		for _, v := range versions {
			paths = append(paths, filepath.Join(folder, v))
		}
	}
	return paths
}

func openLibrary(path string) (uintptr, error) {
	return purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func symbol(handle uintptr, name string) uintptr {
	f, err := purego.Dlsym(handle, name)
	if err != nil {
		return 0
	}
	return f
}
