//go:build linux && cgo

package main

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/sm"
	"github.com/gocuda/cuda/internal/skip"
)

// runtimeVersions are the versions of the runtime library, by CUDART_VERSION.
var runtimeVersions = map[int]string{12090: "libcudart.so.12", 13000: "libcudart.so.13"}

// Each runtime library exports what NVIDIA's of the version does, and nothing else, with its symbol version.
func TestRuntimeSymbols(t *testing.T) {
	for version, name := range runtimeVersions {
		var data struct {
			Exported []string `json:"exported_symbols"`
		}
		b, err := os.ReadFile(fmt.Sprintf("../../api/cudart-%d.%d.json", version/1000, version%1000/10))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &data); err != nil {
			t.Fatal(err)
		}
		f, err := elf.Open(filepath.Join(library(t), name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if names, err := f.DynString(elf.DT_SONAME); err != nil || !slices.Equal(names, []string{name}) {
			t.Errorf("SONAME %q, %v", names, err)
		}
		symbols, err := f.DynamicSymbols()
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, s := range symbols {
			if s.Section == elf.SHN_UNDEF || elf.ST_TYPE(s.Info) != elf.STT_FUNC {
				continue
			}
			have = append(have, s.Name)
			if s.Version != name {
				t.Errorf("%s has version %q", s.Name, s.Version)
			}
		}
		slices.Sort(have)
		slices.Sort(data.Exported)
		if !slices.Equal(have, data.Exported) {
			t.Errorf("%s: %d symbols, want %d", name, len(have), len(data.Exported))
		}
	}
}

// fatBinary is the image that a compiler leaves in a program for PTX of version 8.5 and sm_90.
func fatBinary(t testing.TB, ptx []byte) []byte {
	t.Helper()
	var w fatbin.Writer
	if err := w.Add(fatbin.Source{Kind: fatbin.PTX, Arch: sm.Arch{Number: 90}, Major: 8, Minor: 5,
		Data: ptx}); err != nil {
		t.Fatal(err)
	}
	return w.Bytes()
}

// cudaProgram compiles a CUDA C++ program with clang alone and links it with a runtime library.
func cudaProgram(t testing.TB, name string, version int, flags ...string) string {
	t.Helper()
	clang := skip.Command(t, "clang++-19")
	lib, dir := library(t), t.TempDir()
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(clang, args...).CombinedOutput(); err != nil {
			t.Fatalf("clang++: %v\n%s", err, out)
		}
	}
	bin, source := filepath.Join(dir, name), "testdata/cu/"+name+".cu"
	common := append([]string{"-x", "cuda", "-nocudainc", "-nocudalib", "-Xclang", "-target-sdk-version=12.5",
		"-isystem", "../../include", fmt.Sprintf("-DCUDART_VERSION=%d", version), "-O1",
		"-Wno-unused-command-line-argument", source}, flags...)
	run(append(common, "--cuda-device-only", "--cuda-gpu-arch=sm_90", "--cuda-feature=+ptx85", "-S", "-o",
		bin+".ptx")...)
	ptx, err := os.ReadFile(bin + ".ptx")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin+".fatbin", fatBinary(t, ptx), 0o600); err != nil {
		t.Fatal(err)
	}
	run(append(common, "--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", bin+".fatbin", "-c", "-o",
		bin+".o")...)
	run(bin+".o", "-o", bin, "-L"+lib, "-l:"+runtimeVersions[version], "-lcuda", "-lpthread")
	return bin
}

// A program with kernels in it, compiled by clang against the headers in include/, runs on the runtime library of
// either version, on both engines.
func TestRuntimePrograms(t *testing.T) {
	for version := range runtimeVersions {
		bin := cudaProgram(t, "runtime", version)
		for _, engine := range engines {
			for _, fault := range []string{"GOCUDA_TEST_FAULT=1", "GOCUDA_TEST_NONE=1"} {
				out := run(t, "", []string{"GOCUDA_ENGINE=" + engine, "GOCUDA_DEVICE=software", fault}, bin)
				if !strings.HasSuffix(out, "runtime: passed\n") || strings.Contains(out, "goroutine") {
					t.Errorf("%d, %s, %s: %s", version, engine, fault, out)
				}
			}
		}
	}
}

// driverLibrary is a driver library that the runtime does not know as ours: the software device's with another
// identifier, in a folder of its own, so that the process has two cores as it has two drivers with NVIDIA's.
func driverLibrary(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	core, err := os.ReadFile(filepath.Join(library(t), "libgocuda.so"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "libgocuda.so"), core, 0o700); err != nil { // a link would be the same
		t.Fatal(err)
	}
	path := filepath.Join(dir, "libcuda.so.1")
	args := []string{"-std=gnu11", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-DGOCUDA_DOOR_ID={1}",
		"-Wl,-soname,libcuda.so.1", "-Wl,-z,nodelete", "-o", path, "front/core.c", "front/front.c",
		"front/zz_generated_front.c", "-ldl", "-lpthread"}
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return path
}

// With GOCUDA_DEVICE=driver, and with auto where there is such a library, the runtime calls a driver library, which
// keeps the current context.
func TestRuntimeOverDriver(t *testing.T) {
	bin, driver := cudaProgram(t, "runtime", 13000), driverLibrary(t)
	for _, device := range []string{"driver", "auto"} {
		for _, fault := range []string{"GOCUDA_TEST_FAULT=1", "GOCUDA_TEST_NONE=1"} {
			out := run(t, "", []string{"GOCUDA_DEVICE=" + device, "GOCUDA_LIBCUDA=" + driver, fault,
				"LD_PRELOAD=" + driver}, bin)
			if !strings.HasSuffix(out, "runtime: passed\n") || strings.Contains(out, "goroutine") {
				t.Errorf("%s, %s: %s", device, fault, out)
			}
		}
	}
}

// GOCUDA_DEVICE=driver asks for a driver library of NVIDIA's, and says so where there is none.
func TestRuntimeNoDriver(t *testing.T) {
	bin := cudaProgram(t, "runtime", 13000)
	out, err := start1(t, "", []string{"GOCUDA_DEVICE=driver", "GOCUDA_LIBCUDA=/nonexistent"}, bin)
	if err == nil || !strings.Contains(out, "there is no driver library") {
		t.Errorf("%v: %s", err, out)
	}
}
