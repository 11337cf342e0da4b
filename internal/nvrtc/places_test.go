package nvrtc

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/skip"
)

// write makes files with nothing in them.
func write(t *testing.T, root string, names ...string) {
	t.Helper()
	for _, n := range names {
		p := filepath.Join(root, filepath.FromSlash(n))
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The layouts are those of the packages nvidia-cuda-nvrtc 13.0 (nvidia/cu13) and nvidia-cuda-nvrtc-cu12
// (nvidia/cuda_nvrtc), as pip installs them on Linux.
func TestPythonPackages(t *testing.T) {
	if runtime.GOOS == "windows" {
		skip.Without(t, skip.Linux, runtime.GOOS)
	}
	root := filepath.Join(t.TempDir(), "an [odd] name")
	const site = "lib/python3.11/site-packages/nvidia/"
	write(t, root, site+"cu13/lib/libnvrtc.so.13", site+"cu13/lib/libnvrtc-builtins.so.13.0",
		site+"cu13/lib/libnvrtc-builtins.alt.so.13.0", site+"cu13/include/cuda_runtime.h",
		site+"cu13/include/cccl/cuda/std/array",
		site+"cuda_nvrtc/lib/libnvrtc.so.12", site+"cuda_nvrtc/lib/libnvrtc-builtins.so.12.9",
		site+"cuda_nvrtc/include/nvrtc.h", site+"cuda_runtime/include/cuda_runtime.h",
		site+"cuda_cccl/include/cuda/std/array")
	at := func(names ...string) []string {
		for i := range names {
			names[i] = filepath.Join(root, filepath.FromSlash(site+names[i]))
		}
		return names
	}
	for _, set := range []env.Settings{{VirtualEnv: root}, {CondaPrefix: root}, {VirtualEnv: root, CondaPrefix: root}} {
		active, _ := places(set)
		libraries := wheels(active)
		if want := at("cu13/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.12"); !slices.Equal(libraries, want) {
			t.Fatalf("%q, want %q", libraries, want)
		}
		if got, want := builtins(libraries[0]), at("cu13/lib/libnvrtc-builtins.so.13.0"); !slices.Equal(got, want) {
			t.Errorf("builtins %q, want %q", got, want)
		}
		if got, want := headers(libraries[0]), at("cu13/include", "cu13/include/cccl", "cuda_runtime/include",
			"cuda_cccl/include"); !slices.Equal(got, want) {
			t.Errorf("headers %q, want %q", got, want)
		}
		if got, want := headers(libraries[1]), at("cuda_runtime/include", "cuda_cccl/include"); !slices.Equal(got,
			want) {
			t.Errorf("headers %q, want %q", got, want)
		}
	}
	// The python3 on PATH, by a link as in a virtual environment.
	bin := t.TempDir()
	write(t, root, "bin/python3.11")
	if err := os.Chmod(filepath.Join(root, "bin", "python3.11"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "bin", "python3.11"), filepath.Join(bin, "python3")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	t.Setenv("HOME", t.TempDir())
	if active, other := places(env.Settings{}); len(active) != 0 || len(wheels(other)) != 2 {
		t.Errorf("%q, %q", active, other)
	}
	if got := headers("libnvrtc.so.13"); got != nil { // by name alone: nobody knows where it is
		t.Errorf("%q", got)
	}
}

// The error names what cannot be used though it is there, the variable, and how to get a library; the details all.
func TestLoadErrorText(t *testing.T) {
	e := &LoadError{Tried: []Attempt{{"/a/libnvrtc.so", errors.New("/a/libnvrtc.so: invalid ELF header")},
		{"libnvrtc.so", errors.New("libnvrtc.so: cannot open shared object file: No such file or directory")}}}
	s := e.Error()
	if d := e.Details(); strings.Count(d, "\n") != 1 ||
		strings.Count(d, "/a/libnvrtc.so: invalid ELF header") != 1 || !strings.Contains(d, "No such file") {
		t.Error(d)
	}
	if strings.Count(s, "/a/libnvrtc.so") != 1 || strings.Contains(s, "No such file") ||
		!strings.Contains(s, env.NVRTC) || !strings.Contains(s, "pip install") {
		t.Error(s)
	}
	e.Forced = env.NVRTC + "=/a/libnvrtc.so"
	if s := e.Error(); !strings.Contains(s, e.Forced) || strings.Contains(s, "pip install") {
		t.Error(s)
	}
}
