// Command 09-graphs describes work once and runs it many times.
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

//go:embed steps.ptx
var code []byte

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) (err error) {
	const n = 4
	sys, err := cuda.Open()
	if err != nil {
		return err
	}
	sc := cuda.NewScope()
	defer func() { err = errors.Join(err, sc.Close()) }()
	sc.Add(sys)
	c, err := sys.Context(0)
	if err != nil {
		return err
	}
	sc.Add(c)
	mod, err := c.Load(code)
	if err != nil {
		return err
	}
	sc.Add(mod)
	add, err := mod.Kernel("add")
	if err != nil {
		return err
	}
	double, err := mod.Kernel("dbl")
	if err != nil {
		return err
	}
	x, err := cuda.Upload(c, []int32{1, 2, 3, 4})
	if err != nil {
		return err
	}
	sc.Add(x)
	s, err := c.NewStream(cuda.StreamOptions{NonBlocking: true})
	if err != nil {
		return err
	}
	sc.Add(s)

	// Captured: what the function queues becomes the graph. If it fails, the stream is as before.
	g, err := s.Capture(func(s *cuda.Stream) error {
		if err := add.Launch(s, cuda.Linear(n), cuda.Ptr(x), cuda.Val(int32(1)), cuda.Val(int32(n))); err != nil {
			return err
		}
		return double.Launch(s, cuda.Linear(n), cuda.Ptr(x), cuda.Val(int32(n)))
	})
	if err != nil {
		return err
	}
	sc.Add(g)
	captured, err := g.Instantiate()
	if err != nil {
		return err
	}
	sc.Add(captured)
	for range 3 {
		if err := captured.Launch(s); err != nil {
			return err
		}
	}
	if err := s.Synchronize(); err != nil {
		return err
	}
	got, err := x.Download()
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "captured:", got)

	// Put together: two fills, then a kernel that waits for both.
	h, err := c.NewGraph()
	if err != nil {
		return err
	}
	sc.Add(h)
	left, err := cuda.AddFill(h, nil, x.Slice(0, 2), 5)
	if err != nil {
		return err
	}
	right, err := cuda.AddFill(h, nil, x.Slice(2, 4), 7)
	if err != nil {
		return err
	}
	if _, err := h.AddKernel([]cuda.Node{left, right}, double, cuda.Linear(n), cuda.Ptr(x),
		cuda.Val(int32(n))); err != nil {
		return err
	}
	built, err := h.Instantiate()
	if err != nil {
		return err
	}
	sc.Add(built)
	if err := built.Launch(s); err != nil {
		return err
	}
	if err := s.Synchronize(); err != nil {
		return err
	}
	if got, err = x.Download(); err != nil {
		return err
	}
	fmt.Fprintln(w, "put together:", got)
	return nil
}
