package nccl

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/internal/skip"
)

var bandwidthFlag = flag.Bool("bandwidth", false, "measure all-reduces of 256 MiB (TestBandwidth)")

func init() { programs["bandwidth"] = bandwidth }

// The measured loop: rounds of loops of all-reduces in place in one stream, and a wait at the end of each round.
const (
	bandwidthBytes  = 256 << 20
	bandwidthRounds = 7
	bandwidthLoops  = 50
)

func bandwidth(ctx context.Context, c *Comm) (_ []byte, err error) {
	sc := cuda.NewScope()
	defer func() { err = errors.Join(err, sc.Close()) }()
	size := bandwidthBytes
	if !onDriver() {
		size = 1 << 20
	}
	x, err := cuda.Alloc[float32](c.Context(), size/4)
	if err != nil {
		return nil, err
	}
	sc.Add(x)
	if err := x.Zero(); err != nil {
		return nil, err
	}
	s, err := c.Context().NewStream(cuda.StreamOptions{NonBlocking: true})
	if err != nil {
		return nil, err
	}
	sc.Add(s)
	loop := func(n int) (time.Duration, error) {
		start := time.Now()
		for range n {
			if err := AllReduce(c, s, x.View, x.View, Sum); err != nil {
				return 0, err
			}
		}
		err := c.Wait(ctx, s)
		return time.Since(start), err
	}
	if _, err := loop(10); err != nil {
		return nil, err
	}
	var rates []float64
	for range bandwidthRounds {
		d, err := loop(bandwidthLoops)
		if err != nil {
			return nil, err
		}
		rates = append(rates, float64(size)*bandwidthLoops/d.Seconds()/1e9)
	}
	slices.Sort(rates)
	return json.Marshal(map[string]any{"bytes": size, "ranks": c.Size(), "GBps": rates,
		"median": rates[len(rates)/2]})
}

// TestBandwidth prints the rate of all-reduces, in bytes of the buffer a second, as the loop of PyTorch beside which it
// runs does.
func TestBandwidth(t *testing.T) {
	if !*bandwidthFlag {
		skip.Without(t, skip.Argument, "-bandwidth")
	}
	need(t, 2)
	n := min(8, most(t))
	if !onDriver() {
		n = 2
	}
	t.Logf("processes %s", processes(t, n, "bandwidth", "file:"+t.TempDir()+"/id")[0])
	t.Logf("process %s", inProcess(t, n, bandwidth)[0])
}
