// Command 16-life plays Conway's Game of Life: two boards with a pitch, and a graph of two generations that is launched
// again and again.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/gocuda/cuda"
)

//go:embed life.ptx
var code []byte

func main() {
	if err := run(os.Stdout, 40); err != nil {
		log.Fatal(err)
	}
}

// glider moves by one cell to the right and down in four generations.
var glider = []string{
	".#.",
	"..#",
	"###",
}

func run(w io.Writer, generations int) (err error) {
	const width, height = 16, 8
	sc := cuda.NewScope()
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
	life, err := mod.Kernel("life")
	if err != nil {
		return err
	}

	var boards [2]*cuda.Matrix[byte]
	for i := range boards {
		if boards[i], err = cuda.AllocMatrix[byte](c, width, height); err != nil {
			return err
		}
		sc.Add(boards[i])
	}
	cells := make([]byte, width*height)
	for y, row := range glider {
		for x, cell := range row {
			if cell == '#' {
				cells[y*width+x] = 1
			}
		}
	}
	if err := boards[0].CopyFrom(cells); err != nil {
		return err
	}

	// Two generations as a graph: there and back again.
	s, err := c.NewStream(cuda.StreamOptions{NonBlocking: true})
	if err != nil {
		return err
	}
	sc.Add(s)
	cfg := cuda.Grid2D(width, height, 16, 4)
	step := func(s *cuda.Stream, from, to *cuda.Matrix[byte]) error {
		return life.Launch(s, cfg, cuda.Ptr(from), cuda.Ptr(to), cuda.Val(from.Pitch()), cuda.Val(int32(width)),
			cuda.Val(int32(height)))
	}
	g, err := s.Capture(func(s *cuda.Stream) error {
		return errors.Join(step(s, boards[0], boards[1]), step(s, boards[1], boards[0]))
	})
	if err != nil {
		return err
	}
	sc.Add(g)
	two, err := g.Instantiate()
	if err != nil {
		return err
	}
	sc.Add(two)
	for range generations / 2 {
		if err := two.Launch(s); err != nil {
			return err
		}
	}
	if err := s.Synchronize(); err != nil {
		return err
	}
	if err := boards[0].CopyTo(cells); err != nil {
		return err
	}
	for y := range height {
		fmt.Fprintln(w, strings.NewReplacer("\x00", ".", "\x01", "#").Replace(string(cells[y*width:(y+1)*width])))
	}
	return nil
}
