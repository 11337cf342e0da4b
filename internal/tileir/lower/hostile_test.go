package lower_test

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/tileir"
	"github.com/gocuda/cuda/internal/tileir/lower"
	"github.com/gocuda/cuda/internal/tileir/tiletest"
)

// What lowering may take for an operation, and in all; the time is far more than an idle machine needs.
const (
	memoryPerOp = 64 << 10
	memoryBase  = 16 << 20
	timePerOp   = 5 * time.Millisecond
)

func verified(t testing.TB, code []byte) *tileir.Module {
	t.Helper()
	m, err := tileir.Parse(code)
	if err == nil {
		err = m.Verify()
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestHostile: time and memory grow with the size of a module, whatever it does.
func TestHostile(t *testing.T) {
	n := 8000
	if testing.Short() {
		n = 2000
	}
	for name, f := range tiletest.Hostile {
		m := verified(t, f(n))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		_, err := lower.Module(m, lower.Options{})
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		used := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %v, %d KiB, %v", name, took, used>>10, err)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if used > uint64(n)*memoryPerOp+memoryBase || took > time.Duration(n)*timePerOp {
			t.Errorf("%s: %d operations take %d bytes and %v", name, n, used, took)
		}
	}
}

// TestStop: lowering ends within a second when nobody waits for it.
func TestStop(t *testing.T) {
	for name, f := range tiletest.Hostile {
		m := verified(t, f(40000))
		var stop atomic.Bool
		var at time.Time
		timer := time.AfterFunc(20*time.Millisecond, func() {
			at = time.Now()
			stop.Store(true)
		})
		_, err := lower.Module(m, lower.Options{Stop: &stop})
		end := time.Now()
		if timer.Stop() {
			t.Logf("%s: done before", name)
			continue
		}
		for !stop.Load() {
			time.Sleep(time.Millisecond)
		}
		if d := end.Sub(at); d > time.Second {
			t.Errorf("%s: stopped after %v", name, d)
		}
		var refused *lower.Error
		if err != nil && !errors.Is(err, tileir.ErrStopped) && !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %v after, %v", name, end.Sub(at), err)
	}
}

// TestStopVerify: so does the check.
func TestStopVerify(t *testing.T) {
	m, err := tileir.Parse(tiletest.Hostile["stores of one tile"](1000))
	if err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	stop.Store(true)
	if err := m.VerifyUntil(&stop); !errors.Is(err, tileir.ErrStopped) {
		t.Error(err)
	}
}

// TestNames: the names of functions do not meet those that the lowering makes, nor words of PTX.
func TestNames(t *testing.T) {
	names := []string{"param0", "tile_arena", "tile_constant0", "L1", "add", "tile_exp_f32", "ret", "reg", "n", "entry"}
	for _, name := range names {
		p, err := compile(tiletest.Named(name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := checked(p.PTX); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
