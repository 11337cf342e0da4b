// Command 19-all-reduce adds up vectors of several devices, so that each has the sum: with NCCL on GPUs, with the same
// calls on software devices. Where there is one software device alone it makes four.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/nccl"
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// open opens the devices. GOCUDA_PROFILE=h200*8 makes eight software devices.
func open() (*cuda.System, error) {
	sys, err := cuda.Open()
	if err != nil || sys.Kind() != cuda.Software || len(sys.Devices()) > 1 {
		return sys, err
	}
	if err := sys.Close(); err != nil {
		return nil, err
	}
	return cuda.Open(cuda.WithSoftware("h200*4"))
}

func run(w io.Writer) (err error) {
	sys, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sys.CloseAll()) }()
	n := len(sys.Devices())
	contexts, streams := make([]*cuda.Context, n), make([]*cuda.Stream, n)
	vectors := make([]*cuda.Buffer[float32], n)
	const count = 1 << 20
	for i := range n {
		if contexts[i], err = sys.Context(i); err != nil {
			return err
		}
		if streams[i], err = contexts[i].NewStream(cuda.StreamOptions{NonBlocking: true}); err != nil {
			return err
		}
		x := make([]float32, count)
		for k := range x {
			x[k] = float32(i + k%1000)
		}
		if vectors[i], err = cuda.Upload(contexts[i], x); err != nil {
			return err
		}
	}

	// One rank for each device. A rank that waits for another one gives up after a minute.
	ctx := context.Background()
	comms, err := nccl.InitAll(ctx, contexts, nccl.Config{Timeout: time.Minute})
	if err != nil {
		return err
	}
	defer func() {
		for _, c := range comms {
			err = errors.Join(err, c.Close())
		}
	}()
	begin := time.Now()
	// One goroutine gives all ranks their work: a group, since no rank's operation ends without the others'.
	err = nccl.Group(func() error {
		for i, c := range comms {
			if err := nccl.AllReduce(c, streams[i], vectors[i].View, vectors[i].View, nccl.Sum); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, c := range comms {
		if err := c.Wait(ctx, streams[i]); err != nil {
			return err
		}
	}
	took := time.Since(begin)
	fmt.Fprintf(w, "%d devices, %d numbers each\n", n, count)
	for i, v := range vectors {
		x, err := v.Download()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "device %d has the sums %.0f, %.0f, %.0f, ... %.0f\n", i, x[0], x[1], x[2], x[count-1])
	}
	log.Printf("the sum took %v", took.Round(time.Microsecond))
	return nil
}
