package softdev

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/driver"
)

// TestThreadsThatEnd calls the driver on many threads that end one after the other, each with a context in its stack:
// what is kept for them must not grow with their number (found by the soak, as 110 bytes for each).
func TestThreadsThatEnd(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	kept := func() (n int) {
		for i := range d.threads.shards {
			s := &d.threads.shards[i]
			s.mu.RLock()
			n += len(s.m)
			s.mu.RUnlock()
		}
		return n
	}
	const rounds, threads = 120, 32
	for range rounds {
		var wg sync.WaitGroup
		for range threads {
			wg.Add(1)
			go func() { // the thread ends with it
				runtime.LockOSThread()
				defer wg.Done()
				if r := tab.CtxPushCurrent_v2(0, ctx); r != driver.CUDA_SUCCESS {
					t.Error(r)
				}
			}()
		}
		wg.Wait()
		time.Sleep(time.Millisecond) // for the threads to be gone
	}
	if n := kept(); n > threadShards*leastSweep*3 {
		t.Errorf("after %d threads %d are kept", rounds*threads, n)
	}
}
