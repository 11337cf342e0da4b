// Command 21-halo lets heat spread over a plate whose rows are divided among several devices. In each step every
// device computes its outermost rows first and fetches those of its neighbours, by copies from device to device, while
// the rows between are computed in another stream. Where there is one software device alone it makes four.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/gocuda/cuda"
)

//go:generate go run ../../cmd/gocuda cc -go heat.cu

const (
	width, height = 256, 240 // of the plate; the rows are divided among the devices
	steps         = 200
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
	contexts := make([]*cuda.Context, len(sys.Devices()))
	for i := range contexts {
		if contexts[i], err = sys.Context(i); err != nil {
			return err
		}
	}
	first := make([]float32, width*height) // cold, with a hot spot
	for y := 100; y < 140; y++ {
		for x := 60; x < 80; x++ {
			first[y*width+x] = 100
		}
	}
	several, err := spread(contexts, first)
	if err != nil {
		return err
	}
	alone, err := spread(contexts[:1], first)
	if err != nil {
		return err
	}
	var heat float64
	hottest, differ := 0, 0
	for i, v := range several {
		heat += float64(v)
		if v > several[hottest] {
			hottest = i
		}
		if v != alone[i] {
			differ++
		}
	}
	fmt.Fprintf(w, "%d x %d points on %d devices, %d steps\n", width, height, len(contexts), steps)
	fmt.Fprintf(w, "heat %.1f; the hottest point is (%d, %d) with %.2f\n", heat, hottest%width, hottest/width,
		several[hottest])
	fmt.Fprintf(w, "%d points differ from what one device computes\n", differ)
	return nil
}

// strip is the part of a device: its rows, with one of the neighbour above and one of that below. in and out change
// places after each step.
type strip struct {
	c           *cuda.Context
	k           *HeatKernels
	rows        int
	in, out     *cuda.Buffer[float32]
	edge, inner *cuda.Stream
	// what the last step has done: the outermost rows, the rows between, and the copies from the neighbours
	edges, inside, fetched *cuda.Event
}

// newStrip gives a device its rows of the plate.
func newStrip(sc *cuda.Scope, c *cuda.Context, plate []float32) (*strip, error) {
	p := &strip{c: c, rows: len(plate) / width}
	padded := make([]float32, len(plate)+2*width)
	copy(padded[width:], plate)
	var err error
	keep := func(x io.Closer, e error) {
		if e == nil {
			sc.Add(x)
		}
		err = errors.Join(err, e)
	}
	var e error
	p.k, e = LoadHeat(c)
	keep(p.k, e)
	p.in, e = cuda.Upload(c, padded)
	keep(p.in, e)
	p.out, e = cuda.Upload(c, make([]float32, len(padded)))
	keep(p.out, e)
	for _, s := range []**cuda.Stream{&p.edge, &p.inner} {
		*s, e = c.NewStream(cuda.StreamOptions{NonBlocking: true})
		keep(*s, e)
	}
	for _, ev := range []**cuda.Event{&p.edges, &p.inside, &p.fetched} {
		*ev, e = c.NewEvent(cuda.EventOptions{})
		keep(*ev, e)
	}
	return p, err
}

// row is one of a buffer's rows: 0 and rows+1 are the neighbours'.
func row(b *cuda.Buffer[float32], y int) cuda.View[float32] { return b.Slice(y*width, (y+1)*width) }

// compute queues rows of a step.
func (p *strip) compute(s *cuda.Stream, first, rows int) error {
	if rows <= 0 {
		return nil
	}
	return p.k.Heat.Launch(s, cuda.Grid2D(width, rows, 32, 8), p.in.Ptr(), p.out.Ptr(), width, int32(first),
		int32(rows))
}

// spread computes all steps on devices.
func spread(contexts []*cuda.Context, plate []float32) (result []float32, err error) {
	sc := cuda.NewScope()
	defer func() { err = errors.Join(err, sc.Close()) }()
	n := len(contexts)
	strips := make([]*strip, n)
	for i, c := range contexts {
		from, to := i*height/n, (i+1)*height/n
		if strips[i], err = newStrip(sc, c, plate[from*width:to*width]); err != nil {
			return nil, err
		}
	}
	// What the first step needs of the neighbours comes before it.
	if err := exchange(strips, func(p *strip) *cuda.Buffer[float32] { return p.in }); err != nil {
		return nil, err
	}
	for range steps {
		for i, p := range strips {
			// The outermost rows need the rows inside, and those that were fetched in their own stream; and they go
			// where the neighbours have fetched rows of the step before the last. The rows inside need the outermost.
			err = errors.Join(err, p.edge.WaitEvent(p.inside), p.inner.WaitEvent(p.edges))
			for _, o := range neighbours(strips, i) {
				err = errors.Join(err, p.edge.WaitEvent(o.fetched))
			}
			err = errors.Join(err,
				p.compute(p.inner, 2, p.rows-2), p.inside.Record(p.inner),
				p.compute(p.edge, 1, 1), p.compute(p.edge, p.rows, min(1, p.rows-1)), p.edges.Record(p.edge))
		}
		if err != nil {
			return nil, err
		}
		if err := exchange(strips, func(p *strip) *cuda.Buffer[float32] { return p.out }); err != nil {
			return nil, err
		}
		for _, p := range strips {
			p.in, p.out = p.out, p.in
		}
	}
	for _, p := range strips {
		if err := errors.Join(p.edge.Synchronize(), p.inner.Synchronize()); err != nil {
			return nil, err
		}
		x, err := p.in.Download()
		if err != nil {
			return nil, err
		}
		result = append(result, x[width:len(x)-width]...)
	}
	return result, nil
}

// neighbours are the strips above and below.
func neighbours(strips []*strip, i int) []*strip {
	list := append([]*strip(nil), strips[max(0, i-1):i]...)
	return append(list, strips[i+1:min(len(strips), i+2)]...)
}

// exchange queues the copies of the neighbours' outermost rows, once these are there.
func exchange(strips []*strip, of func(*strip) *cuda.Buffer[float32]) (err error) {
	for i, p := range strips {
		for _, o := range neighbours(strips, i) {
			err = errors.Join(err, p.edge.WaitEvent(o.edges))
		}
		if i > 0 {
			up := strips[i-1]
			err = errors.Join(err, cuda.CopyAsync(p.edge, row(of(p), 0), row(of(up), up.rows)))
		}
		if i+1 < len(strips) {
			err = errors.Join(err, cuda.CopyAsync(p.edge, row(of(p), p.rows+1), row(of(strips[i+1]), 1)))
		}
		err = errors.Join(err, p.fetched.Record(p.edge))
	}
	return err
}
