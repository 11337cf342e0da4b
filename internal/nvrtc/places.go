package nvrtc

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/gocuda/cuda/internal/env"
)

// places are the folders of Python packages: those of the environment that is active, which the user has chosen, and
// those of the python3 on PATH and of the user, which happen to be there. No Python is started.
func places(set env.Settings) (active, other []string) {
	for _, root := range []string{set.VirtualEnv, set.CondaPrefix} {
		if root != "" {
			active = append(active, packages(root)...)
		}
	}
	for _, name := range []string{"python3", "python"} {
		p, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		for _, p := range []string{p, resolved(p)} {
			bin := filepath.Dir(p)
			if filepath.Base(bin) == "shims" { // pyenv's: a script that chooses one of its versions
				versions, _ := filepath.Glob(filepath.Join(filepath.Dir(bin), "versions", "*"))
				for _, v := range versions {
					other = append(other, packages(v)...)
				}
				continue
			}
			root := filepath.Dir(bin)
			if runtime.GOOS == "windows" {
				root = bin
			}
			other = append(other, packages(root)...)
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		other = append(other, packages(filepath.Join(home, ".local"))...)
	}
	return unique(active), unique(other)
}

func resolved(p string) string {
	if r, err := filepath.EvalSymlinks(p); err == nil {
		return r
	}
	return p
}

// packages are the folders of packages below the prefix of a Python. Debian's has a name of its own.
func packages(prefix string) []string {
	var all []string
	for _, pattern := range []string{"lib/python3*/site-packages", "lib64/python3*/site-packages",
		"lib/python3*/dist-packages", "local/lib/python3*/dist-packages", "lib/python3/dist-packages",
		"Lib/site-packages"} {
		found, _ := filepath.Glob(filepath.Join(escape(prefix), filepath.FromSlash(pattern)))
		slices.Reverse(found) // newer Pythons first
		all = append(all, found...)
	}
	return all
}

// wheels are the compiler libraries in NVIDIA's packages (nvidia-cuda-nvrtc; nvidia-cuda-nvrtc-cu12 and the like), the
// newest first.
func wheels(folders []string) []string {
	var all []string
	for _, f := range folders {
		for _, pattern := range wheelPatterns {
			found, _ := filepath.Glob(filepath.Join(escape(f), "nvidia", filepath.FromSlash(pattern)))
			slices.Sort(found)
			slices.Reverse(found)
			all = append(all, found...)
		}
	}
	return unique(all)
}

// escape makes a path match itself in a pattern.
func escape(p string) string {
	if runtime.GOOS == "windows" {
		return p // where patterns have no escapes; such names are not found
	}
	var out []byte
	for i := range len(p) {
		switch p[i] {
		case '*', '?', '[', '\\':
			out = append(out, '\\')
		}
		out = append(out, p[i])
	}
	return string(out)
}

// unique leaves out what comes again.
func unique(list []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(s string) bool {
		was := seen[s]
		seen[s] = true
		return was
	})
}

// headers are the folders with CUDA's headers that belong to a library: in NVIDIA's Python packages beside it, or in
// the toolkit that it is part of. Only folders that are there are named.
func headers(library string) []string {
	if !filepath.IsAbs(library) {
		return nil
	}
	var candidates []string
	for _, lib := range []string{filepath.Dir(library), filepath.Dir(resolved(library))} {
		root := filepath.Dir(lib) // of the package, or of the toolkit
		if filepath.Base(lib) == "x86_64" || filepath.Base(lib) == "x64" {
			root = filepath.Dir(root) // Windows: bin/x86_64
		}
		packages := filepath.Dir(root) // nvidia, where the library is a package's
		candidates = append(candidates, filepath.Join(root, "include"), filepath.Join(root, "include", "cccl"))
		if filepath.Base(packages) == "nvidia" {
			candidates = append(candidates, filepath.Join(packages, "cuda_runtime", "include"),
				filepath.Join(packages, "cuda_cccl", "include"))
		}
	}
	return slices.DeleteFunc(unique(candidates), func(dir string) bool {
		// a folder without them would only hide what is missing
		_, runtimeErr := os.Stat(filepath.Join(dir, "cuda_runtime.h"))
		_, cccl := os.Stat(filepath.Join(dir, "cuda", "std"))
		return runtimeErr != nil && cccl != nil
	})
}

// builtins are the companions of a library, which it opens by name alone while it compiles. Opened before by their
// paths they are found.
func builtins(library string) []string {
	if !filepath.IsAbs(library) {
		return nil
	}
	var all []string
	for _, dir := range unique([]string{filepath.Dir(library), filepath.Dir(resolved(library))}) {
		found, _ := filepath.Glob(filepath.Join(escape(dir), builtinsPattern))
		all = append(all, found...)
	}
	return unique(all)
}
