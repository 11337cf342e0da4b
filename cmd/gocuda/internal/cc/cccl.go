package cc

import (
	"os"
	"path/filepath"
)

// CCCL gives the include folders of CCCL (thrust, cub and libcu++, https://github.com/NVIDIA/cccl) below dir: that of a
// package, which has all in one, or of its repository, which has three. nil when it is neither.
func CCCL(dir string) []string {
	has := func(parts ...string) bool {
		_, err := os.Stat(filepath.Join(append([]string{dir}, parts...)...))
		return err == nil
	}
	switch {
	case has("cub", "cub.cuh"):
		return []string{dir}
	case has("cccl", "cub", "cub.cuh"):
		return []string{filepath.Join(dir, "cccl")}
	case has("include", "cccl", "cub", "cub.cuh"):
		return []string{filepath.Join(dir, "include", "cccl")}
	case has("cub", "cub", "cub.cuh"):
		return []string{filepath.Join(dir, "libcudacxx", "include"), filepath.Join(dir, "cub"),
			filepath.Join(dir, "thrust")}
	}
	return nil
}
