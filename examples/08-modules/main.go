// Command 08-modules reads and sets variables of device code, uses one library in two contexts, and asks how a kernel
// fits the device.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/gocuda/cuda"
)

//go:embed scale.ptx
var code []byte

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

	// A library belongs to no context; its variables exist once in each that uses it.
	lib, err := sys.LoadLibrary(code)
	if err != nil {
		return err
	}
	defer lib.Close()
	d := sys.Devices()[0]
	first, err := d.Primary()
	if err != nil {
		return err
	}
	defer first.Close()
	second, err := d.NewContext(cuda.SchedAuto)
	if err != nil {
		return err
	}
	defer second.Close()
	for i, c := range []*cuda.Context{first, second} {
		if err := use(w, lib.In(c), c, i); err != nil {
			return err
		}
	}
	return nil
}

func use(w io.Writer, lib *cuda.LibraryIn, c *cuda.Context, i int) (err error) {
	factor, err := cuda.GlobalOf[float32](lib, "factor")
	if err != nil {
		return err
	}
	if i == 1 {
		if err := factor.CopyFrom([]float32{10}); err != nil {
			return err
		}
	}
	scale, err := lib.Kernel("scale")
	if err != nil {
		return err
	}
	x, err := cuda.Upload(c, []float32{1, 2, 3})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	for range i + 1 {
		if err := scale.Launch(nil, cuda.Linear(3), cuda.Ptr(x), cuda.Val(int32(3))); err != nil {
			return err
		}
	}
	got, err := x.Download()
	if err != nil {
		return err
	}
	launches, err := cuda.GlobalOf[int32](lib, "launches")
	if err != nil {
		return err
	}
	n, err := launches.Download()
	if err != nil {
		return err
	}
	blocks, err := scale.Occupancy(256, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "context %d: %v after %d launches; %d blocks of 256 threads fit on a multiprocessor\n", i, got, n[0],
		blocks)
	return nil
}
