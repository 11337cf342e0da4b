// Command 18-cc compiles CUDA C++ with gocuda cc and calls its kernels with Go types.
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"github.com/gocuda/cuda"
)

// What kernels.cu becomes is part of the repository: only who changes it needs clang.
//
//go:generate go run ../../cmd/gocuda cc -go kernels.cu

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
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
	k, err := LoadKernels(c)
	if err != nil {
		return err
	}
	defer k.Close()

	const n = 1000
	x, y := make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], y[i] = float32(i), 1
	}
	dx, err := cuda.Upload(c, x)
	if err != nil {
		return err
	}
	defer dx.Close()
	dy, err := cuda.Upload(c, y)
	if err != nil {
		return err
	}
	defer dy.Close()
	total, err := cuda.Upload(c, []float32{0})
	if err != nil {
		return err
	}
	defer total.Close()

	// The compiler checks the arguments: axpy<float> takes float32, axpy<double> does not.
	if err := k.AxpyFloat.Launch(nil, cuda.Linear(n), 2, dx.Ptr(), dy.Ptr(), n); err != nil {
		return err
	}
	if err := k.Sum.Launch(nil, cuda.Linear(n), dy.Ptr(), total.Ptr(), n); err != nil {
		return err
	}
	got, err := total.Download()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "the sum of 2*i+1 for i below %d is %.0f\n", n, got[0])
	return nil
}
