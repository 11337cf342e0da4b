// Command 15-pipeline counts the bytes of a stream of data of any length: while one piece is counted on the device the
// next is read into pinned memory and copied.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/gocuda/cuda"
)

//go:embed count.ptx
var code []byte

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Stdout, strings.NewReader(strings.Repeat("the quick brown fox jumps over the lazy dog ",
		10000))); err != nil {
		log.Fatal(err)
	}
}

// lane is one piece of the data on its way: memory on both sides and a stream.
type lane struct {
	stream *cuda.Stream
	host   *cuda.Pinned[byte]
	device *cuda.Buffer[byte]
}

func run(ctx context.Context, w io.Writer, data io.Reader) (err error) {
	const lanes, piece = 3, 64 << 10
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
	k, err := mod.Kernel("histogram")
	if err != nil {
		return err
	}
	counts, err := cuda.Upload(c, make([]uint64, 256))
	if err != nil {
		return err
	}
	sc.Add(counts)

	ring := make([]lane, lanes)
	for i := range ring {
		l := &ring[i]
		if l.stream, err = c.NewStream(cuda.StreamOptions{NonBlocking: true}); err != nil {
			return err
		}
		sc.Add(l.stream)
		if l.host, err = cuda.AllocPinned[byte](c, piece, cuda.PinnedOptions{}); err != nil {
			return err
		}
		sc.Add(l.host)
		if l.device, err = cuda.Alloc[byte](c, piece); err != nil {
			return err
		}
		sc.Add(l.device)
	}

	pieces := 0
	for i := 0; ; i = (i + 1) % lanes {
		l := &ring[i]
		// the piece before in this lane; pinned memory must not change until the stream has passed it
		if err := l.stream.Wait(ctx); err != nil {
			return err
		}
		n, err := io.ReadFull(data, l.host.Data())
		if n > 0 {
			pieces++
			if err := l.device.CopyFromAsync(l.stream, l.host.Slice(0, n)); err != nil {
				return err
			}
			cfg := cuda.LaunchConfig{Grid: cuda.Dim(8), Block: cuda.Dim(256)}
			if err := k.Launch(l.stream, cfg, cuda.Ptr(l.device), cuda.Val(int32(n)), cuda.Ptr(counts)); err != nil {
				return err
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if err := c.Wait(ctx); err != nil { // all streams
		return err
	}
	got, err := counts.Download()
	if err != nil {
		return err
	}
	all := uint64(0)
	for _, v := range got {
		all += v
	}
	fmt.Fprintf(w, "%d bytes in %d pieces: %d spaces, %d of e, %d of z\n", all, pieces, got[' '], got['e'], got['z'])
	return nil
}
