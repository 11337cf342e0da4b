// Package cudatest helps to test CUDA code: it opens a device in a test, checks that everything is closed at the end,
// and compares buffers.
//
// Tests run on the software device. With the environment variable GOCUDA_TEST_DEVICE=driver the same tests run on a
// GPU:
//
//	go test ./...
//	GOCUDA_TEST_DEVICE=driver go test ./...
//
// On the software device every access of kernels to memory is checked; what is found fails the test, with its report.
// GOCUDA_CHECK=race,init,sync (or all) looks for more, [Check] in a single test, [cuda.WithoutChecks] for nothing.
package cudatest

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/skip"
)

// DeviceVariable is the environment variable that chooses where tests run: software (also when unset), driver, or auto.
const DeviceVariable = env.TestDevice

// OnDriver reports whether tests run on the NVIDIA driver.
func OnDriver() bool { return env.Read(nil).TestDevice == "driver" }

// SoftwareOnly skips a test that makes sense on the software device only.
func SoftwareOnly(t testing.TB) {
	t.Helper()
	if OnDriver() {
		skip.Without(t, skip.Software, DeviceVariable+"=driver")
	}
}

// System opens a system for a test, with leak reports, and closes it when the test ends; resources that are open then
// are errors of the test. The options are applied after the choice of [DeviceVariable] and the memory check.
func System(t testing.TB, options ...cuda.Option) *cuda.System {
	t.Helper()
	return system(t, append([]cuda.Option{Check(t, "memory")}, options...))
}

func system(t testing.TB, options []cuda.Option) *cuda.System {
	t.Helper()
	var ended atomic.Bool // a test that has ended cannot fail any more; what it left open is in the error of Close
	all := []cuda.Option{cuda.WithLeakReports(func(l cuda.Leak) {
		if !ended.Load() {
			t.Errorf("lost without Close: %s", l)
		}
	})}
	switch v := env.Read(nil).TestDevice; v {
	case "", "software":
		all = append(all, cuda.WithSoftware())
	case "driver":
		all = append(all, cuda.WithDriver())
	case "auto":
	default:
		t.Fatalf("%s=%q: must be software, driver or auto", DeviceVariable, v)
	}
	sys, err := cuda.Open(append(all, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sys.Close(); err != nil {
			t.Error(err)
		}
		ended.Store(true)
	})
	return sys
}

// Check makes the software device look for defects as [cuda.WithCheck] does, in addition to memory and to what
// GOCUDA_CHECK names. Each defect is an error of the test, with its report; warnings are logged. It is an option for
// [System], [Open] and [OpenBroken].
func Check(t testing.TB, names ...string) cuda.Option {
	return check(t, func(d cuda.Defect) bool { return d.Severity != "warning" }, names)
}

func check(t testing.TB, fails func(cuda.Defect) bool, names []string) cuda.Option {
	return cuda.WithCheckReports(func(d cuda.Defect) {
		if fails(d) {
			t.Errorf("%s", d)
		} else {
			t.Logf("%s", d)
		}
	}, names...)
}

// Open opens a system as [System] does and returns the primary context of its first device. At the end of the test it
// is synchronised and closed: errors of kernels, a broken context and resources that are open are errors of the test.
func Open(t testing.TB, options ...cuda.Option) *cuda.Context {
	t.Helper()
	return context(t, System(t, options...), false)
}

// OpenBroken is [Open] for tests that break the context on purpose: a context that is broken at the end is not an
// error, and reports of the memory check are logged, unless [Check] is among the options.
func OpenBroken(t testing.TB, options ...cuda.Option) *cuda.Context {
	t.Helper()
	logged := check(t, func(d cuda.Defect) bool { return d.Severity != "warning" && d.Check != "memory" },
		[]string{"memory"})
	return context(t, system(t, append([]cuda.Option{logged}, options...)), true)
}

func context(t testing.TB, sys *cuda.System, broken bool) *cuda.Context {
	t.Helper()
	c, err := sys.Context(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Synchronize(); err != nil && !broken {
			t.Error(err)
		}
		var open *cuda.OpenError
		if err := c.Close(); errors.As(err, &open) || err != nil && !broken {
			t.Error(err)
		}
	})
	return c
}

// Load loads an image and closes the module at the end of the test.
func Load(t testing.TB, c *cuda.Context, image []byte, options ...cuda.JITOption) *cuda.Module {
	t.Helper()
	m, err := c.Load(image, options...)
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, m)
	return m
}

// Kernel loads an image and returns a kernel of it.
func Kernel(t testing.TB, c *cuda.Context, image []byte, name string) *cuda.Kernel {
	t.Helper()
	k, err := Load(t, c, image).Kernel(name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Upload allocates a buffer with a copy of the data and closes it at the end of the test.
func Upload[T any](t testing.TB, c *cuda.Context, data []T) *cuda.Buffer[T] {
	t.Helper()
	b, err := cuda.Upload(c, data)
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, b)
	return b
}

// Alloc allocates a buffer of n zero elements and closes it at the end of the test.
func Alloc[T any](t testing.TB, c *cuda.Context, n int) *cuda.Buffer[T] {
	t.Helper()
	return Upload(t, c, make([]T, n))
}

// Stream creates a stream and closes it at the end of the test.
func Stream(t testing.TB, c *cuda.Context, o cuda.StreamOptions) *cuda.Stream {
	t.Helper()
	s, err := c.NewStream(o)
	if err != nil {
		t.Fatal(err)
	}
	closeLater(t, s)
	return s
}

// closeLater closes at the end of the test; errors of a broken context were reported by what broke it.
func closeLater(t testing.TB, c interface{ Close() error }) {
	t.Cleanup(func() {
		var e *cuda.Error
		if err := c.Close(); err != nil && !errors.Is(err, cuda.ErrClosed) && !(errors.As(err, &e) && e.Sticky()) {
			t.Error(err)
		}
	})
}

// Download returns the contents of device memory.
func Download[T any](t testing.TB, v cuda.View[T]) []T {
	t.Helper()
	data, err := v.Download()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// mostShown is how many differences an error tells.
const mostShown = 5

// Equal compares device memory with the expected elements.
func Equal[T comparable](t testing.TB, got cuda.View[T], want []T) {
	t.Helper()
	compare(t, Download(t, got), want, func(a, b T) bool { return a == b })
}

// Near compares floats. Two are near if they differ by at most tolerance times the larger magnitude, or by at most
// tolerance near zero. NaN is near NaN.
func Near[T ~float32 | ~float64](t testing.TB, got cuda.View[T], want []T, tolerance float64) {
	t.Helper()
	compare(t, Download(t, got), want, func(a, b T) bool { return near(float64(a), float64(b), tolerance) })
}

func near(a, b, tolerance float64) bool {
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.IsNaN(a) && math.IsNaN(b)
	}
	return a == b || math.Abs(a-b) <= tolerance*max(1, math.Abs(a), math.Abs(b))
}

func compare[T any](t testing.TB, got, want []T, same func(a, b T) bool) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d elements, want %d", len(got), len(want))
		return
	}
	var text string
	n := 0
	for i := range got {
		if same(got[i], want[i]) {
			continue
		}
		if n++; n <= mostShown {
			text += fmt.Sprintf("\n\t[%d] %v, want %v", i, got[i], want[i])
		}
	}
	if n > mostShown {
		text += "\n\t..."
	}
	if n > 0 {
		t.Errorf("%d of %d elements differ:%s", n, len(got), text)
	}
}
