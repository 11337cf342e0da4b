//go:build linux && cgo

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
)

// Programs of the client cuda-programs, one for each part of the runtime library: gocuda cc compiles them, and they
// pass their own checks, which an H200 passes too (clients/README.md). clients/run cuda-programs runs all of them.
func TestCUDAPrograms(t *testing.T) {
	skip.Command(t, "clang++-19")
	const folder = "../../clients/cuda-programs/"
	data, err := os.ReadFile(folder + "programs.json")
	if err != nil {
		t.Fatal(err)
	}
	var programs []struct {
		Name               string
		Files, Flags, Args []string
	}
	if err := json.Unmarshal(data, &programs); err != nil {
		t.Fatal(err)
	}
	lib, dir := library(t), t.TempDir()
	build := exec.Command("go", "build", "-o", dir+"/", "../gocuda", "../../internal/tools/storechange")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	want := map[string]bool{"vector_add": true, "graph_manual": true, "tex2d_linear": true, "device_assert": true}
	if !testing.Short() {
		for _, name := range []string{"function_pointers", "managed_list", "pool_async", "surf2d_blur",
			"driver_interop", "graph_update", "units_whole", "managed_symbols"} {
			want[name] = true
		}
	}
	env := append(os.Environ(), "GOCUDA_LIB="+lib, "LD_LIBRARY_PATH="+lib)
	run := func(t *testing.T, args ...string) string {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	for _, p := range programs {
		if !want[p.Name] {
			continue
		}
		delete(want, p.Name)
		t.Run(p.Name, func(t *testing.T) {
			bin := filepath.Join(dir, p.Name)
			args := append([]string{filepath.Join(dir, "gocuda"), "cc", "-arch=sm_90", "-std=c++17", "-o", bin},
				p.Flags...)
			for _, f := range p.Files {
				args = append(args, folder+"programs/"+f)
			}
			run(t, args...)
			if out := run(t, append([]string{bin}, p.Args...)...); !strings.HasSuffix(strings.TrimSpace(out),
				"PASSED") {
				t.Errorf("it ends with status 0 and says\n%s", out)
			}
			// One changed store is enough here; the client changes more.
			run(t, append([]string{filepath.Join(dir, "storechange"), "-stores", "1", bin, "--"}, p.Args...)...)
		})
	}
	for name := range want {
		t.Errorf("there is no program %s", name)
	}
}
