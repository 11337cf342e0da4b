// Command 02-memory shows the kinds of memory and how data moves between them.
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

type point struct{ X, Y float32 }

func run(w io.Writer) (err error) {
	sys, err := cuda.Open()
	if err != nil {
		return err
	}
	sc := cuda.NewScope() // closes in reverse order
	defer func() {
		if e := sc.Close(); err == nil {
			err = e
		}
	}()
	sc.Add(sys)
	c, err := sys.Context(0)
	if err != nil {
		return err
	}
	sc.Add(c)

	// A buffer owns device memory. Its elements have a Go type: anything without Go pointers.
	points, err := cuda.Upload(c, []point{{1, 2}, {3, 4}, {5, 6}, {7, 8}})
	if err != nil {
		return err
	}
	sc.Add(points)

	// Views are parts of it, sliced as Go slices are. They share the memory.
	middle := points.Slice(1, 3)
	if err := middle.Fill(point{-1, -1}); err != nil {
		return err
	}
	got, err := points.Download()
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "points:", got)

	// Rows with a pitch that suits the hardware; boxes of them copy in one call.
	image, err := cuda.AllocMatrix[byte](c, 6, 4)
	if err != nil {
		return err
	}
	sc.Add(image)
	pixels := make([]byte, 24)
	for i := range pixels {
		pixels[i] = byte(i)
	}
	if err := image.CopyFrom(pixels); err != nil {
		return err
	}
	box := make([]byte, 4)
	if err := image.Sub(2, 1, 4, 3).CopyTo(box); err != nil {
		return err
	}
	fmt.Fprintln(w, "box:", box)

	// Pinned memory stays where it is, so copies can run while the program goes on. Ordinary slices are not taken by
	// the Async calls.
	host, err := cuda.AllocPinned[point](c, 4, cuda.PinnedOptions{})
	if err != nil {
		return err
	}
	sc.Add(host)
	s, err := c.NewStream(cuda.StreamOptions{})
	if err != nil {
		return err
	}
	sc.Add(s)
	if err := points.CopyToAsync(s, host.PinnedView); err != nil {
		return err
	}
	if err := s.Synchronize(); err != nil {
		return err
	}
	fmt.Fprintln(w, "pinned:", host.Data()[3])

	// Managed memory is one []T for both sides.
	both, err := cuda.AllocManaged[int32](c, 3)
	if err != nil {
		return err
	}
	sc.Add(both)
	copy(both.Data(), []int32{10, 20, 30})
	onDevice, err := both.Download()
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "managed:", onDevice)
	return nil
}
