// Command 14-matmul multiplies matrices with tiles in shared memory, measures it, and compares with the host.
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

//go:embed matmul.ptx
var code []byte

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) (err error) {
	const n, tile = 100, 16
	sc := cuda.NewScope() // closes what is added, in reverse order
	defer func() { err = errors.Join(err, sc.Close()) }()
	sys, err := cuda.Open()
	if err != nil {
		return err
	}
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
	matmul, err := mod.Kernel("matmul")
	if err != nil {
		return err
	}

	// Whole numbers, so that sums are exact in any order.
	left, right := make([]float32, n*n), make([]float32, n*n)
	for i := range left {
		left[i], right[i] = float32(i%7), float32(i%5)
	}
	a, err := cuda.Upload(c, left)
	if err != nil {
		return err
	}
	b, err := cuda.Upload(c, right)
	if err != nil {
		return err
	}
	product, err := cuda.Alloc[float32](c, n*n)
	if err != nil {
		return err
	}
	sc.Add(a, b, product)

	// A grid that covers n x n threads in blocks of tile x tile; the kernel's extern __shared__ array is
	// LaunchConfig.Shared.
	cfg := cuda.Grid2D(n, n, tile, tile)
	cfg.Shared = 2 * tile * tile * 4
	multiply, err := cuda.Bind4[cuda.Pointer[float32], cuda.Pointer[float32], cuda.Pointer[float32], int32](matmul)
	if err != nil {
		return err
	}
	s, err := c.NewStream(cuda.StreamOptions{})
	if err != nil {
		return err
	}
	sc.Add(s)
	start, err := s.Record()
	if err != nil {
		return err
	}
	sc.Add(start)
	if err := multiply.Launch(s, cfg, a.Ptr(), b.Ptr(), product.Ptr(), n); err != nil {
		return err
	}
	end, err := s.Record()
	if err != nil {
		return err
	}
	sc.Add(end)
	if err := end.Synchronize(); err != nil {
		return err
	}
	took, err := end.Since(start)
	if err != nil {
		return err
	}

	got, err := product.Download()
	if err != nil {
		return err
	}
	wrong := 0
	for row := range n {
		for col := range n {
			want := float32(0)
			for k := range n {
				want += left[row*n+k] * right[k*n+col]
			}
			if got[row*n+col] != want {
				wrong++
			}
		}
	}
	blocks, err := matmul.Occupancy(tile*tile, cfg.Shared)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d of %d elements are wrong; %v; %d blocks fit on a multiprocessor\n", wrong, n*n, took, blocks)
	return nil
}
