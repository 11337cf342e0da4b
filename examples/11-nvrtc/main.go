// Command 11-nvrtc compiles CUDA C++ while it runs and launches the result. It needs NVIDIA's compiler library, but no
// GPU.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/nvrtc"
)

const source = `
template <typename T, int N>
__global__ void power(T *x, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	T v = 1;
	for (int k = 0; k < N; k++) v *= x[i];
	x[i] = v;
}
`

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	rtc, err := nvrtc.Open("")
	var absent *nvrtc.LoadError
	if errors.As(err, &absent) {
		fmt.Fprintln(w, "no compiler library here; GOCUDA_NVRTC gives its path")
		return nil
	}
	if err != nil {
		return err
	}
	const cube = "power<double, 3>"
	p, err := rtc.Compile(source, nvrtc.Options{Name: "power.cu", Arch: "compute_80", Names: []string{cube}})
	if err != nil {
		return err // with the compiler's messages
	}

	sys, err := cuda.Open()
	if err != nil {
		return err
	}
	defer sys.Close()
	c, err := sys.Context(0)
	if err != nil {
		return err
	}
	defer c.Close()
	mod, err := c.Load(p.PTX)
	if err != nil {
		return err
	}
	defer mod.Close()
	k, err := mod.Kernel(p.Names[cube])
	if err != nil {
		return err
	}
	x, err := cuda.Upload(c, []float64{1, 2, 3})
	if err != nil {
		return err
	}
	defer x.Close()
	if err := k.Launch(nil, cuda.Linear(3), cuda.Ptr(x), cuda.Val(int32(3))); err != nil {
		return err
	}
	got, err := x.Download()
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "cubes:", got)
	return nil
}
