// Command 04-streams runs copies and kernels of several streams beside each other, and times them with events.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/gocuda/cuda"
)

//go:embed work.ptx
var code []byte

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// part is what one stream works on.
type part struct {
	stream     *cuda.Stream
	host       cuda.PinnedView[float32]
	in, out    cuda.View[float32]
	start, end *cuda.Event
}

func run(w io.Writer) (err error) {
	const streams, each = 4, 10000
	sys, err := cuda.Open()
	if err != nil {
		return err
	}
	sc := cuda.NewScope()
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
	mod, err := c.Load(code)
	if err != nil {
		return err
	}
	sc.Add(mod)
	square, err := mod.Kernel("square")
	if err != nil {
		return err
	}
	host, err := cuda.AllocPinned[float32](c, streams*each, cuda.PinnedOptions{})
	if err != nil {
		return err
	}
	sc.Add(host)
	for i := range host.Data() {
		host.Data()[i] = float32(i % 100)
	}

	parts := make([]part, streams)
	for i := range parts {
		p := &parts[i]
		if p.stream, err = c.NewStream(cuda.StreamOptions{NonBlocking: true}); err != nil {
			return err
		}
		sc.Add(p.stream)
		// Memory in the order of the stream: it may be used by what is queued after it.
		buf, err := cuda.AllocAsync[float32](p.stream, 2*each)
		if err != nil {
			return err
		}
		sc.Add(buf)
		p.in, p.out = buf.Slice(0, each), buf.Slice(each, 2*each)
		p.host = host.Slice(i*each, (i+1)*each)
	}

	// Everything is queued at once; the streams run beside each other.
	for i := range parts {
		p := &parts[i]
		if p.start, err = p.stream.Record(); err != nil {
			return err
		}
		sc.Add(p.start)
		if err := p.in.CopyFromAsync(p.stream, p.host); err != nil {
			return err
		}
		if err := square.Launch(p.stream, cuda.Linear(each), cuda.Ptr(p.in), cuda.Ptr(p.out),
			cuda.Val(int32(each))); err != nil {
			return err
		}
		if err := p.out.CopyToAsync(p.stream, p.host); err != nil {
			return err
		}
		if p.end, err = p.stream.Record(); err != nil {
			return err
		}
		sc.Add(p.end)
	}

	// A wait can have an end.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var longest time.Duration
	for _, p := range parts {
		if err := p.end.Wait(ctx); err != nil {
			return err
		}
		d, err := p.end.Since(p.start)
		if err != nil {
			return err
		}
		longest = max(longest, d)
	}
	sum := 0.0
	for _, v := range host.Data() {
		sum += float64(v)
	}
	fmt.Fprintf(w, "sum of squares %.0f; the slowest of %d streams took %v\n", sum, streams, longest)
	return nil
}
