// Command 03-kernel loads a kernel and launches it.
package main

import (
	"embed"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/gocuda/cuda"
)

//go:embed saxpy.ptx
var code embed.FS

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	const n = 1000
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
	mod, err := c.LoadFS(code, "saxpy.ptx")
	if err != nil {
		return err
	}
	defer mod.Close()
	saxpy, err := mod.Kernel("saxpy")
	if err != nil {
		return err
	}

	data := make([]float32, n)
	for i := range data {
		data[i] = float32(i)
	}
	x, err := cuda.Upload(c, data)
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := cuda.Upload(c, data)
	if err != nil {
		return err
	}
	defer y.Close()

	// y = 2x + y. Linear makes a grid with a thread for each element. Val passes numbers by value: C's int is int32.
	if err := saxpy.Launch(nil, cuda.Linear(n), cuda.Val(float32(2)), cuda.Ptr(x), cuda.Ptr(y),
		cuda.Val(int32(n))); err != nil {
		return err
	}
	got, err := y.Download() // waits for the kernel
	if err != nil {
		return err
	}
	fmt.Fprintln(w, got[0], got[1], got[n-1])
	return nil
}
