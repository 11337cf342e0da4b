package softdev

import (
	"slices"
	"sync"

	"github.com/gocuda/cuda/internal/driver"
)

// thread is what the driver keeps for an OS thread: its stack of contexts. A Go program that relies on it (cur 0 in
// every call) has to lock its goroutine to the thread, as with the C library.
//
// Nothing tells when a thread ends. Its entry stays until there are many (threadShard.sweep, where the operating system
// can be asked); a later thread with the same number starts with its stack.
type thread struct {
	mu          sync.Mutex
	stack       []driver.CUcontext // the current one last
	captureMode driver.CUstreamCaptureMode
	callback    int    // depth of host functions that the driver is running on this thread
	detail      detail // of calls that had no context
}

func (t *thread) current() driver.CUcontext {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.stack) == 0 {
		return 0
	}
	return t.stack[len(t.stack)-1]
}

// set replaces the current context; 0 pops it (cuCtxSetCurrent).
func (t *thread) set(ctx driver.CUcontext) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch n := len(t.stack); {
	case ctx == 0 && n > 0:
		t.stack = t.stack[:n-1]
	case ctx == 0:
	case n == 0:
		t.stack = append(t.stack, ctx)
	default:
		t.stack[n-1] = ctx
	}
}

func (t *thread) push(ctx driver.CUcontext) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stack = append(t.stack, ctx)
}

// pop removes and returns the current context; 0 when there is none.
func (t *thread) pop() driver.CUcontext {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.stack)
	if n == 0 {
		return 0
	}
	ctx := t.stack[n-1]
	t.stack = t.stack[:n-1]
	return ctx
}

const threadShards = 32

// threads finds the state of the calling thread by the number that the operating system gives it (see threadID for what
// that costs).
type threads struct {
	shards [threadShards]threadShard
}

type threadShard struct {
	mu   sync.RWMutex
	m    map[uint64]*thread
	next int      // entries at which those of ended threads are looked for
	_    [24]byte // shards on separate cache lines
}

// leastSweep is how many entries a shard has before it looks for those of threads that have ended.
const leastSweep = 16

// sweep drops the entries of threads that have ended. It is called with the lock held, again when there are twice as
// many as it leaves.
func (s *threadShard) sweep() {
	if len(s.m) < max(s.next, leastSweep) {
		return
	}
	for id := range s.m {
		if threadEnded(id) {
			delete(s.m, id)
		}
	}
	s.next = 2 * len(s.m)
}

func (ts *threads) self() *thread {
	id := threadID()
	s := &ts.shards[id%threadShards]
	s.mu.RLock()
	t := s.m[id]
	s.mu.RUnlock()
	if t != nil {
		return t
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t = s.m[id]; t == nil {
		if s.m == nil {
			s.m = make(map[uint64]*thread)
		}
		s.sweep()
		t = new(thread)
		s.m[id] = t
	}
	return t
}

// have says whether a context is in the stack of any thread.
func (ts *threads) have(ctx driver.CUcontext) bool {
	for i := range ts.shards {
		if ts.shards[i].have(ctx) {
			return true
		}
	}
	return false
}

func (s *threadShard) have(ctx driver.CUcontext) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, t := range s.m {
		t.mu.Lock()
		found := slices.Contains(t.stack, ctx)
		t.mu.Unlock()
		if found {
			return true
		}
	}
	return false
}

// StartThread forgets what is known of the calling OS thread: the stack of contexts that an earlier thread left which
// had the same number. The C library calls it when a thread comes in for the first time.
func (d *Driver) StartThread() {
	id := threadID()
	s := &d.threads.shards[id%threadShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.m[id]; t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.callback > 0 { // the thread is the driver's own, and comes in from a host function
			t.stack, t.captureMode = nil, 0
			return
		}
	}
	delete(s.m, id)
}

// ThreadID is the number of the calling OS thread, for what belongs to a thread as the current context does: the groups
// of package nccl. It is 0 on systems that cannot tell.
func ThreadID() uint64 { return threadID() }
