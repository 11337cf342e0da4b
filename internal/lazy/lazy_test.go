package lazy_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gocuda/cuda/internal/lazy"
)

// All that come wait for the first that succeeds; those that panic leave it to the next.
func TestOnce(t *testing.T) {
	var (
		once            lazy.Once
		wg              sync.WaitGroup
		tries, panicked atomic.Int32
		ready           bool
	)
	for range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() {
				if recover() != nil {
					panicked.Add(1)
				}
			}()
			once.Do(func() {
				if tries.Add(1) <= 3 {
					panic("not yet")
				}
				ready = true
			})
			if !ready {
				t.Error("Do has returned before it was done")
			}
		}()
	}
	wg.Wait()
	if tries.Load() != 4 || panicked.Load() != 3 {
		t.Errorf("%d tries, %d panics, want 4 and 3", tries.Load(), panicked.Load())
	}
}

func TestFunc(t *testing.T) {
	n := 0
	f := lazy.Func(func() int { n++; return 41 + n })
	for range 2 {
		if got := f(); got != 42 {
			t.Error(got)
		}
	}
	if n := testing.AllocsPerRun(100, func() { f() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
