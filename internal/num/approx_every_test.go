package num

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gocuda/cuda/internal/num/numtest"
)

// TestApproxEvery compares results with an H200's by their hashes: some of each function, or all of every function with
// -all.
func TestApproxEvery(t *testing.T) {
	numtest.Compare(t, func(t *testing.T, name string) func(numtest.Inputs) uint64 {
		f := approxWord(name)
		if f == nil {
			t.Fatal("no function")
		}
		return func(in numtest.Inputs) uint64 {
			var sum atomic.Uint64
			var next atomic.Int64
			var wg sync.WaitGroup
			for range runtime.GOMAXPROCS(0) {
				wg.Go(func() {
					const part = 1 << 14
					operand := make([]uint64, 1)
					for {
						i := int(next.Add(part)) - part
						if i >= in.Count {
							return
						}
						s := uint64(0)
						for k := i; k < min(i+part, in.Count); k++ {
							x := in.First + uint32(k)*in.Step
							s += numtest.Mix(x, f(x, operand))
						}
						sum.Add(s)
					}
				})
			}
			wg.Wait()
			return sum.Load()
		}
	})
}

// approxWord is a function of numtest on a word of input, or nil. The operand is memory for the call.
func approxWord(name string) func(x uint32, operand []uint64) uint32 {
	name, packed := strings.CutSuffix(name, "x2")
	f := approxCall(name)
	switch {
	case f == nil:
		return nil
	case packed:
		half := make([]uint32, 1<<16)
		for i := range half {
			half[i] = uint32(f([]uint64{uint64(i)}))
		}
		return func(x uint32, _ []uint64) uint32 { return half[x>>16]<<16 | half[x&0xffff] }
	case strings.HasSuffix(name, "f64"):
		return func(x uint32, operand []uint64) uint32 {
			operand[0] = uint64(x)<<32 | uint64(x*numtest.Low)
			y := f(operand)
			return uint32(y>>32) ^ uint32(y)
		}
	}
	return func(x uint32, operand []uint64) uint32 {
		operand[0] = uint64(x)
		return uint32(f(operand))
	}
}
