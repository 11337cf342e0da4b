package nvrtc_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cudatest"
	"github.com/gocuda/cuda/internal/skip"
	"github.com/gocuda/cuda/nvrtc"
)

func TestAbsent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libnvrtc.so")
	_, err := nvrtc.Open(path)
	var e *nvrtc.LoadError
	if !errors.As(err, &e) {
		t.Fatalf("%v, want a *LoadError", err)
	}
	if e.Reason == "" && (len(e.Tried) != 1 || e.Tried[0].Path != path) {
		t.Errorf("%+v", e)
	}
	t.Setenv(nvrtc.PathVariable, path)
	if _, err := nvrtc.Open(""); !errors.As(err, &e) ||
		e.Reason == "" && !strings.Contains(e.Forced, nvrtc.PathVariable) {
		t.Errorf("%v", err)
	}
}

func compiler(t *testing.T) *nvrtc.Compiler {
	t.Helper()
	c, err := nvrtc.Open("")
	if err != nil {
		skip.Without(t, skip.NVRTC, "set "+nvrtc.PathVariable+": ", err)
	}
	return c
}

const source = `
#include "scale.h"
extern "C" __global__ void scale(float *x, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) x[i] *= FACTOR;
}
template <typename T> __global__ void add(T *x, T v, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) x[i] += v;
}
`

// TestCompile compiles CUDA C++ and runs it on the device of the tests.
func TestCompile(t *testing.T) {
	rtc := compiler(t)
	major, minor, err := rtc.Version()
	if err != nil {
		t.Fatal(err)
	}
	archs, err := rtc.Architectures()
	if err != nil || len(archs) == 0 {
		t.Fatalf("architectures %v %v", archs, err)
	}
	t.Logf("%s: NVRTC %d.%d, %v", rtc.Path(), major, minor, archs)
	p, err := rtc.Compile(source, nvrtc.Options{Arch: "compute_90",
		Headers: map[string]string{"scale.h": "#define FACTOR 3\n"}, Names: []string{"add<double>"}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.Names["add<double>"], "add") || len(p.CUBIN) != 0 {
		t.Errorf("names %v, %d bytes of machine code", p.Names, len(p.CUBIN))
	}
	c := cudatest.Open(t)
	m := cudatest.Load(t, c, p.PTX)
	scale, err := m.Kernel("scale")
	if err != nil {
		t.Fatal(err)
	}
	add, err := m.Kernel(p.Names["add<double>"])
	if err != nil {
		t.Fatal(err)
	}
	x := cudatest.Upload(t, c, []float32{1, 2, 3})
	y := cudatest.Upload(t, c, []float64{1, 2, 3})
	if err := scale.Launch(nil, cuda.Linear(3), cuda.Ptr(x), cuda.Val(int32(3))); err != nil {
		t.Fatal(err)
	}
	if err := add.Launch(nil, cuda.Linear(3), cuda.Ptr(y), cuda.Val(0.5), cuda.Val(int32(2))); err != nil {
		t.Fatal(err)
	}
	cudatest.Equal(t, x.View, []float32{3, 6, 9})
	cudatest.Equal(t, y.View, []float64{1.5, 2.5, 3})
}

func TestCompileError(t *testing.T) {
	rtc := compiler(t)
	_, err := rtc.Compile("__global__ void k() { undeclared(); }", nvrtc.Options{Name: "bad.cu"})
	var e *nvrtc.CompileError
	if !errors.As(err, &e) || !strings.Contains(e.Log, "bad.cu(1)") || !strings.Contains(e.Log, "undeclared") {
		t.Errorf("%v, want a CompileError with the line", err)
	}
	_, err = rtc.Compile("", nvrtc.Options{Arch: "compute_1"})
	if !errors.As(err, &e) {
		t.Errorf("unknown architecture: %v", err)
	}
}
