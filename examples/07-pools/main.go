// Command 07-pools allocates and frees in the order of a stream, from a memory pool.
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
	s, err := c.NewStream(cuda.StreamOptions{NonBlocking: true})
	if err != nil {
		return err
	}
	defer s.Close()

	// A pool of its own, which keeps its memory instead of giving it back to the system.
	pool, err := c.Device().NewPool(cuda.PoolOptions{KeepBytes: cuda.KeepAll})
	if err != nil {
		return err
	}
	defer pool.Close()

	// Nothing here waits: allocation, work and release are all in the stream.
	var last float32
	for round := range 5 {
		tmp, err := cuda.AllocFrom[float32](pool, s, 1<<20)
		if err != nil {
			return err
		}
		if err := tmp.FillAsync(s, float32(round)); err != nil {
			return err
		}
		if round == 4 {
			one := make([]float32, 1)
			if err := s.Synchronize(); err != nil {
				return err
			}
			if err := tmp.Slice(1000, 1001).CopyTo(one); err != nil {
				return err
			}
			last = one[0]
		}
		if err := tmp.CloseAsync(s); err != nil {
			return err
		}
	}
	if err := s.Synchronize(); err != nil {
		return err
	}
	u, err := pool.Usage()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "last value %v; %d bytes in use, %d at most\n", last, u.Used, u.UsedHigh)
	return nil
}
