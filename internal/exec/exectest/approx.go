package exectest

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/num/numtest"
)

// CompareApprox compares what kernels compute of the approximate functions on an engine with an H200's results.
func CompareApprox(t *testing.T, engine exec.Engine) {
	d := Open(t)
	d.Engine = engine
	out, word := d.Alloc(8)
	numtest.Compare(t, func(t *testing.T, name string) func(numtest.Inputs) uint64 {
		k, err := d.Load(numtest.Kernel(name)).Kernel("sweep")
		if err != nil {
			t.Fatal(err)
		}
		return func(in numtest.Inputs) uint64 {
			clear(word)
			c := Config{Grid: Dim(uint32(in.Count / numtest.CTA)), Block: Dim(256), Workers: runtime.GOMAXPROCS(0)}
			if err := k.Run(c, out, in.First, in.Step); err != nil {
				t.Fatal(err)
			}
			return binary.LittleEndian.Uint64(word)
		}
	})
}
