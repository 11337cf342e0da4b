package sequence

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestThreads runs the same sequences in several threads at once over the same handles: they create, use and destroy
// each other's. What a call answers is not the matter; the process lives, nothing hangs, and nothing is left over.
func TestThreads(t *testing.T) {
	const threads = 6
	known := facts(t)
	rounds := uint64(30)
	if testing.Short() {
		rounds = 12
	}
	var settled usage
	for round := range rounds {
		steps := Generate(1000+round, Options{Length: 40, Threads: 1, Facts: known, Undefined: true})
		d := software(t)
		m := NewMachine(d.Table())
		var wg sync.WaitGroup
		var mu sync.Mutex
		last := make([]string, threads+1)
		for n := 1; n <= threads; n++ {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for _, s := range steps {
					c := s.Call
					if strings.HasPrefix(c.Fn, "cuStreamWaitValue") {
						continue // another thread may have changed what it waits for
					}
					c.Thread = n
					mu.Lock()
					last[n] = c.String()
					mu.Unlock()
					if a := m.Do(c); strings.HasPrefix(a, "WRONG") {
						t.Errorf("%v: %s", c, a)
					}
				}
			}()
		}
		done := make(chan struct{})
		go func() { wg.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(60 * time.Second):
			mu.Lock()
			defer mu.Unlock()
			t.Fatalf("round %d hangs; the threads are in\n%s\n%s", round, strings.Join(last, "\n"), text(steps))
		}
		m.Close()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if round == rounds/3 {
			settled = measure()
		}
	}
	end := measure()
	t.Logf("after a third: %v; at the end: %v", settled, end)
	if end.goroutines > settled.goroutines+8 {
		t.Errorf("%d goroutines, %d after a third", end.goroutines, settled.goroutines)
	}
	if end.heap > settled.heap+(16<<20) {
		t.Errorf("a heap of %d bytes, %d after a third", end.heap, settled.heap)
	}
	if end.mappings > settled.mappings+settled.mappings/4+32 {
		t.Errorf("%d mappings, %d after a third", end.mappings, settled.mappings)
	}
}

// usage is what the process holds.
type usage struct {
	goroutines, mappings int
	heap                 uint64
}

func (u usage) String() string {
	return fmt.Sprintf("%d goroutines, %d mappings, %d KiB of heap", u.goroutines, u.mappings, u.heap>>10)
}

func measure() usage {
	var s runtime.MemStats
	var u usage
	for range 20 { // what ends ends a little later
		runtime.GC()
		runtime.ReadMemStats(&s)
		u = usage{goroutines: runtime.NumGoroutine(), heap: s.HeapAlloc}
		time.Sleep(5 * time.Millisecond)
	}
	if b, err := os.ReadFile("/proc/self/maps"); err == nil {
		u.mappings = strings.Count(string(b), "\n")
	}
	return u
}
