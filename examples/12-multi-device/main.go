// Command 12-multi-device adds numbers up on all devices at once. On the software device it makes two.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"sync"

	"github.com/gocuda/cuda"
)

//go:embed sum.ptx
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
	if sys.Kind() == cuda.Software && len(sys.Devices()) < 2 {
		if err := sys.Close(); err != nil {
			return err
		}
		if sys, err = cuda.Open(cuda.WithSoftware("h200", "h200")); err != nil {
			return err
		}
	}
	defer sys.Close()
	numbers := make([]int32, 100000)
	for i := range numbers {
		numbers[i] = int32(i)
	}

	// One goroutine for each device. No thread has to be held: every call knows its context.
	devices := sys.Devices()
	sums, errs := make([]uint64, len(devices)), make([]error, len(devices))
	var wg sync.WaitGroup
	for i, d := range devices {
		wg.Add(1)
		go func() {
			defer wg.Done()
			from, to := i*len(numbers)/len(devices), (i+1)*len(numbers)/len(devices)
			sums[i], errs[i] = sum(d, numbers[from:to])
		}()
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	total := uint64(0)
	for _, s := range sums {
		total += s
	}
	fmt.Fprintln(w, "total", total)
	return nil
}

func sum(d *cuda.Device, numbers []int32) (total uint64, err error) {
	sc := cuda.NewScope()
	defer func() { err = errors.Join(err, sc.Close()) }()
	c, err := d.Primary()
	if err != nil {
		return 0, err
	}
	sc.Add(c)
	mod, err := c.Load(code)
	if err != nil {
		return 0, err
	}
	sc.Add(mod)
	k, err := mod.Kernel("sum")
	if err != nil {
		return 0, err
	}
	x, err := cuda.Upload(c, numbers)
	if err != nil {
		return 0, err
	}
	sc.Add(x)
	result, err := cuda.Upload(c, []uint64{0})
	if err != nil {
		return 0, err
	}
	sc.Add(result)
	cfg := cuda.LaunchConfig{Grid: cuda.Dim(16), Block: cuda.Dim(256)}
	if err := k.Launch(nil, cfg, cuda.Ptr(x), cuda.Val(int32(len(numbers))), cuda.Ptr(result)); err != nil {
		return 0, err
	}
	got, err := result.Download()
	if err != nil {
		return 0, err
	}
	return got[0], nil
}
