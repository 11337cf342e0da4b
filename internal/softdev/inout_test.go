//go:build !race

package softdev

import (
	"runtime"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/driver"
)

// The size may change while the call runs, by another thread of the program: that is the program's mistake, but the
// call must not believe two values at once.
func TestLogSizeIsReadOnce(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	d.explain(nil, "a text")
	buf := make([]byte, 64)
	size, before := uint64(len(buf)), make(chan struct{})
	done := make(chan driver.CUresult)
	d.log.mu.Lock() // the call waits for it
	go func() {
		close(before)
		done <- tab.LogsDumpToMemory(ctx, nil, &buf[0], &size, 0)
	}()
	<-before
	for began := time.Now(); time.Since(began) < 20*time.Millisecond; {
		runtime.Gosched()
	}
	size = 0
	d.log.mu.Unlock()
	if r := <-done; r == driver.CUDA_SUCCESS && size == 0 {
		t.Error("success, and no text")
	}
}
