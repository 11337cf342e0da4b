package bench

import (
	"errors"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/exec/jit"
	"github.com/gocuda/cuda/internal/skip"
)

// BenchmarkBigLoad loads a kernel of 50 thousand PTX lines and launches it once.
func BenchmarkBigLoad(b *testing.B) {
	for _, engine := range []string{"interpreter", "jit"} {
		b.Run(engine, func(b *testing.B) {
			e, err := OpenEngine(engine)
			var none *jit.UnavailableError
			if errors.As(err, &none) {
				skip.Without(b, skip.MachineCode, err)
			}
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			c, err := New("big50k", Tiny)
			if err != nil {
				b.Fatal(err)
			}
			var build, first time.Duration
			for b.Loop() {
				s, err := e.Run(c, Tiny, Timing{MinReps: 1, MaxReps: 1})
				if err != nil {
					b.Fatal(err)
				}
				build += time.Duration(s.Build * 1e9)
				first += time.Duration(s.First * 1e9)
			}
			b.ReportMetric(build.Seconds()*1e3/float64(b.N), "build-ms")
			b.ReportMetric(first.Seconds()*1e3/float64(b.N), "first-ms")
		})
	}
}
