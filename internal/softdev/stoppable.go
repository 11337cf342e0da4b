package softdev

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// stoppable are the flags of module loads that their callers may want to end, by the address of the load's option
// values.
type stoppable struct {
	mu    sync.Mutex
	flags map[uintptr]*atomic.Bool
}

// find is the flag of a load; nil when nobody will stop it.
func (s *stoppable) find(values *uintptr) *atomic.Bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flags[keyOf(values)]
}

// Stoppable announces a cuModuleLoadDataEx with the option values at an address, which no other load has meanwhile.
// After stop the load ends soon, with CUDA_ERROR_NOT_READY and nothing loaded. forget has to follow the load.
func (d *Driver) Stoppable(values *uintptr) (stop, forget func()) {
	s, key, flag := &d.stoppable, keyOf(values), new(atomic.Bool)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flags == nil {
		s.flags = map[uintptr]*atomic.Bool{}
	}
	s.flags[key] = flag
	return func() { flag.Store(true) }, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.flags, key)
	}
}

func keyOf(values *uintptr) uintptr { return uintptr(unsafe.Pointer(values)) }
