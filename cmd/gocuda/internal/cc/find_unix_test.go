//go:build unix

package cc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The clang in zig has no CUDA headers; those of a package clang-tidy of the same version beside it serve.
func TestFindZig(t *testing.T) {
	site := t.TempDir()
	zig := filepath.Join(site, "ziglang", "zig")
	headers := filepath.Join(site, "clang_tidy", "data", "lib", "clang", "20", "include")
	for _, dir := range []string{filepath.Dir(zig), headers} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	script := "#!/bin/sh\necho \"$@\" >> " + site + "/said\necho " + site + "/lib/clang/20\n"
	if err := os.WriteFile(zig, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	_, err := Find(t.Context(), zig)
	if err == nil || !strings.Contains(err.Error(), "pip install 'clang-tidy==20.*'") {
		t.Errorf("without headers: %v", err)
	}
	if err := os.WriteFile(filepath.Join(headers, "__clang_cuda_builtin_vars.h"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := Find(t.Context(), zig)
	if err != nil || c.Version != 20 || len(c.Args) < 2 || c.Args[0] != "clang" ||
		c.Args[len(c.Args)-2] != "-resource-dir" || !sameFile(t, c.Headers, headers) {
		t.Errorf("%+v, %v", c, err)
	}
	if said, _ := os.ReadFile(site + "/said"); !strings.HasPrefix(string(said), "clang ") {
		t.Errorf("zig was called with %s", said)
	}
}

func sameFile(t *testing.T, a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.Stat(b)
	if err != nil {
		t.Fatal(err)
	}
	return os.SameFile(x, y)
}
