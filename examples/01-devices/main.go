// Command 01-devices tells which devices there are and what they can do.
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"github.com/gocuda/cuda"
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	// The NVIDIA driver if it is usable, else the software device; GOCUDA_DEVICE=driver or software forces one.
	sys, err := cuda.Open()
	if err != nil {
		return err
	}
	defer sys.Close()
	major, minor, err := sys.Version()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s, CUDA %d.%d\n", sys, major, minor)
	if why := sys.Why(); why != nil {
		fmt.Fprintf(w, "no GPU is used: %v\n", why)
	}
	for _, d := range sys.Devices() {
		in, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\ndevice %d: %s\n", d.Ordinal(), in.Name)
		fmt.Fprintf(w, "  compute capability  %d.%d\n", in.Major, in.Minor)
		fmt.Fprintf(w, "  memory              %.1f GiB\n", float64(in.TotalMemory)/(1<<30))
		fmt.Fprintf(w, "  multiprocessors     %d\n", in.Multiprocessors)
		fmt.Fprintf(w, "  threads in a block  %d at most, grids to %s\n", in.MaxThreadsPerBlock, in.MaxGrid)
		fmt.Fprintf(w, "  shared memory       %d KiB a block, %d KiB when asked for\n", in.SharedPerBlock>>10,
			in.SharedPerBlockOptIn>>10)
		fmt.Fprintf(w, "  clusters %v, cooperative launches %v, managed memory %v\n", in.ClusterLaunch,
			in.CooperativeLaunch, in.ManagedMemory)
	}
	return nil
}
