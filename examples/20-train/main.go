// Command 20-train trains a small network on several devices at once. Each device has a part of the samples and all
// weights; in every step the devices add up their gradients with an all-reduce, and go the same step. The same code
// works on GPUs and on software devices, in one process and in many:
//
//	go run ./examples/20-train    # all devices, in this process; four software devices where there is one
//	GOCUDA_DEVICE=software GOCUDA_PROFILE=h200*8 go run ./examples/20-train
//	torchrun --no-python --nproc-per-node 8 ./20-train -launched    # a process for each; so with srun and mpirun
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"time"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/nccl"
)

//go:generate go run ../../cmd/gocuda cc -go kernels.cu

const (
	hidden  = 24           // as in kernels.cu
	weights = 4*hidden + 1 // and one more number behind the gradient: the sum of the squared errors
	samples = 4096         // of all devices together; a part of them for each
	steps   = 300
	rate    = 0.4
)

func main() {
	launched := flag.Bool("launched", false, "be one rank of many processes, which torchrun, Slurm or Open MPI started")
	flag.Parse()
	f := run
	if *launched {
		f = runRank
	}
	if err := f(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// config bounds how long a rank waits for another one.
var config = nccl.Config{Timeout: time.Minute}

// run trains on all devices, each of which has a goroutine.
func run(w io.Writer) (err error) {
	sys, err := cuda.Open()
	if err != nil {
		return err
	}
	if sys.Kind() == cuda.Software && len(sys.Devices()) == 1 {
		if err := sys.Close(); err != nil {
			return err
		}
		if sys, err = cuda.Open(cuda.WithSoftware("h200*4")); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, sys.CloseAll()) }()
	contexts := make([]*cuda.Context, len(sys.Devices()))
	for i := range contexts {
		if contexts[i], err = sys.Context(i); err != nil {
			return err
		}
	}
	ctx := context.Background()
	comms, err := nccl.InitAll(ctx, contexts, config)
	if err != nil {
		return err
	}
	results := make(chan error)
	for _, c := range comms {
		go func() { results <- errors.Join(train(ctx, w, c), c.Close()) }()
	}
	for range comms {
		err = errors.Join(err, <-results)
	}
	return err
}

// runRank trains on one device, with other processes.
func runRank(w io.Writer) (err error) {
	world, err := nccl.Environment()
	if err != nil {
		return err
	}
	sys, err := cuda.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sys.CloseAll()) }()
	c, err := sys.Context(world.LocalRank % len(sys.Devices()))
	if err != nil {
		return err
	}
	ctx := context.Background()
	comm, err := nccl.Join(ctx, world.Rendezvous, world.Rank, world.Size, c, config)
	if err != nil {
		return err
	}
	return errors.Join(train(ctx, w, comm), comm.Close())
}

// part makes the samples of a rank: points of a square, and the product of their coordinates.
func part(rank, ranks int) (x, y []float32) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range samples {
		a, b := 2*r.Float32()-1, 2*r.Float32()-1
		if i%ranks == rank {
			x, y = append(x, a, b), append(y, a*b)
		}
	}
	return x, y
}

// train is one rank. Rank 0 writes how it goes.
func train(ctx context.Context, w io.Writer, comm *nccl.Comm) (err error) {
	c := comm.Context()
	sc := cuda.NewScope()
	defer func() { err = errors.Join(err, sc.Close()) }()
	k, err := LoadKernels(c)
	if err != nil {
		return err
	}
	sc.Add(k)
	s, err := c.NewStream(cuda.StreamOptions{NonBlocking: true})
	if err != nil {
		return err
	}
	sc.Add(s)
	px, py := part(comm.Rank(), comm.Size())
	first := make([]float32, weights)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range first[:4*hidden] {
		first[i] = r.Float32() - 0.5
	}
	n := len(py)
	var x, y, weight, h, d, gradient *cuda.Buffer[float32]
	for _, b := range []struct {
		to   **cuda.Buffer[float32]
		data []float32
	}{{&x, px}, {&y, py}, {&weight, first}, {&h, make([]float32, n*hidden)}, {&d, make([]float32, n)},
		{&gradient, make([]float32, weights+1)}} {
		if *b.to, err = cuda.Upload(c, b.data); err != nil {
			return err
		}
		sc.Add(*b.to)
	}
	for i := range steps + 1 {
		if err := errors.Join(
			k.Forward.Launch(s, cuda.Linear(n), x.Ptr(), y.Ptr(), weight.Ptr(), h.Ptr(), d.Ptr(), int32(n)),
			k.Gradient.Launch(s, cuda.Linear(weights+1), x.Ptr(), weight.Ptr(), h.Ptr(), d.Ptr(), gradient.Ptr(),
				int32(n)),
			nccl.AllReduce(comm, s, gradient.View, gradient.View, nccl.Sum)); err != nil {
			return err
		}
		if i%50 == 0 {
			if err := comm.Wait(ctx, s); err != nil {
				return err
			}
			g, err := gradient.Download()
			if err != nil {
				return err
			}
			if comm.Rank() == 0 {
				fmt.Fprintf(w, "step %3d: loss %.6f\n", i, g[weights]/samples)
			}
		}
		err := k.Step.Launch(s, cuda.Linear(weights), weight.Ptr(), gradient.Ptr(), float32(rate)/samples)
		if err != nil {
			return err
		}
	}
	if err := comm.Wait(ctx, s); err != nil {
		return err
	}
	last, err := weight.Download()
	if err != nil {
		return err
	}
	if comm.Rank() == 0 {
		sum := fnv.New64a()
		fmt.Fprint(sum, last)
		fmt.Fprintf(w, "%d ranks; checksum of the weights %016x\n", comm.Size(), sum.Sum64())
	}
	return nil
}
