package cc

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
)

// managedMark is the name in the error by which the headers show that host code has a __managed__ variable.
const managedMark = "__gocuda_managed_variables"

func usesManaged(text []byte) bool { return bytes.Contains(text, []byte("'"+managedMark+"'")) }

// compileManaged makes the object of a file with __managed__ variables: clang has them for HIP alone, whose host code
// differs from CUDA's in the names of what it calls; gocuda/managed.h has those.
func (d *Driver) compileManaged(ctx context.Context, args []string, fat string, container []byte,
	text *bytes.Buffer) error {
	if err := os.Remove(fat); err != nil && !os.IsNotExist(err) { // the pipe, which clang may not have read
		return err
	}
	if err := os.WriteFile(fat, container, 0o666); err != nil {
		return err
	}
	host := append(d.cudaArgs("hip"), "--cuda-host-only", "-O2", "-Xclang", "-aux-triple", "-Xclang",
		"nvptx64-nvidia-cuda", "-U__HIP__", "-U__HIPCC__", "-D__CUDA__", "-D__GOCUDA_MANAGED__",
		"-isystem", filepath.Join(d.Clang.Headers, "cuda_wrappers"))
	return d.run(ctx, append(append(host, d.Host...), args...), d.Stdout, text)
}

// managedVar is what __managed__ of the headers leaves in clang's PTX: an alignment that no program has.
var managedVar = regexp.MustCompile(`(?m)^((?:\.\w+ )*\.global) \.align 268435456 `)

// managed writes the attribute that __managed__ stands for.
func managed(ptx []byte) []byte {
	return managedVar.ReplaceAll(ptx, []byte("$1 .attribute(.managed) .align 256 "))
}
