package lower_test

import (
	"encoding/binary"
	"math"
	"os"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/jit"
	"github.com/gocuda/cuda/internal/skip"
	"github.com/gocuda/cuda/internal/tileir/lower"
)

// contest measures a tile kernel against one of the kernels of package bench for the same work.
type contest struct {
	d            *exectest.Device
	tile, other  *exectest.Kernel
	grid, block  [3]uint32 // of the other one
	tiles        [3]uint32
	args, theirs []any
}

func newContest(b *testing.B, module, other string) *contest {
	e, err := jit.New("")
	if err != nil {
		skip.Without(b, skip.MachineCode, err)
	}
	c := &contest{d: exectest.Open(b)}
	c.d.Engine = e
	p, err := compile(code(b, readSet(b, own), module))
	if err != nil {
		b.Fatal(err)
	}
	cm, err := checked(p.PTX)
	if err != nil {
		b.Fatal(err)
	}
	if c.tile, err = c.d.LoadChecked(cm).Kernel("k"); err != nil {
		b.Fatal(err)
	}
	text, err := os.ReadFile("../../bench/kernels/ptx/" + other + ".ptx")
	if err != nil {
		b.Fatal(err)
	}
	if c.other, err = c.d.Load(string(text)).Kernel(other); err != nil {
		b.Fatal(err)
	}
	return c
}

// buffer makes floats.
func (c *contest) buffer(n int) uint64 {
	a, data := c.d.Alloc(4 * n)
	for i := range n {
		binary.LittleEndian.PutUint32(data[4*i:], math.Float32bits(float32(i%13)-6))
	}
	return a
}

// run alternates between the two and reports the ratio of the shortest times: above 1 the tile kernel is faster.
func (c *contest) run(b *testing.B) {
	best := [2]time.Duration{math.MaxInt64, math.MaxInt64}
	for range b.N {
		for i, k := range []*exectest.Kernel{c.tile, c.other} {
			cfg := exectest.Config{Grid: c.tiles, Block: exectest.Dim(lower.Threads), Workers: 2}
			args := c.args
			if i == 1 {
				cfg.Grid, cfg.Block, args = c.grid, c.block, c.theirs
			}
			start := time.Now()
			if err := k.Run(cfg, args...); err != nil {
				b.Fatal(err)
			}
			best[i] = min(best[i], time.Since(start))
		}
	}
	b.ReportMetric(float64(best[1])/float64(best[0]), "speed")
	b.ReportMetric(float64(best[0].Microseconds()), "us")
}

// BenchmarkVectorAdd adds vectors of 2^24 floats by tiles, against bench vecadd.
func BenchmarkVectorAdd(b *testing.B) {
	for name, tile := range map[string]int{"vecadd.256": 256, "vecadd.1024": 1024, "vecadd.4096": 4096} {
		b.Run(name, func(b *testing.B) {
			const n = 1 << 24
			c := newContest(b, name, "vecadd")
			x, y, z := c.buffer(n), c.buffer(n), c.buffer(n)
			one, size := uint32(1), uint32(n)
			c.tiles, c.grid, c.block = exectest.Dim(uint32(n/tile)), exectest.Dim(n/256), exectest.Dim(256)
			c.args, c.theirs = []any{x, size, one, y, size, one, z, size, one}, []any{z, x, y, size}
			c.run(b)
		})
	}
}

// BenchmarkMatmul multiplies matrices of floats by tiles of 64x64x32, against bench sgemm_tiled.
func BenchmarkMatmul(b *testing.B) {
	const n = 1024
	c := newContest(b, "matmul.64x64x32", "sgemm_tiled")
	x, y, z := c.buffer(n*n), c.buffer(n*n), c.buffer(n*n)
	one, size := uint32(1), uint32(n)
	c.tiles, c.grid, c.block = [3]uint32{n / 64, n / 64, 1}, [3]uint32{n / 16, n / 16, 1}, [3]uint32{16, 16, 1}
	c.args, c.theirs = []any{x, size, size, size, one, y, size, size, size, one, z, size, size, size, one},
		[]any{z, x, y, size}
	c.run(b)
}
