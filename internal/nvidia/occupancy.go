//go:build !gocuda_nodriver && (linux || windows) && (amd64 || arm64)

package nvidia

import (
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/gocuda/cuda/internal/driver"
)

// maxOccupancySlots bounds the C functions made for CUoccupancyB2DSize, which can never be given back. A call that
// finds all in use waits; a callback that calls the same function again uses one more, to this depth.
const maxOccupancySlots = 64

// occupancySlot is a C function with a place for the Go function that it calls now. The callback comes on the thread of
// the call and inside of it, so only the call that holds the slot touches it.
type occupancySlot struct {
	fn    uintptr // C address
	run   func(blockSize int32) uint64
	panic any // of run
}

// slots of the process, as C functions are; see callbacks.
var slots struct {
	mu      sync.Mutex
	made    int
	free    []*occupancySlot
	waiters []chan *occupancySlot
}

func takeSlot() *occupancySlot {
	slots.mu.Lock()
	if n := len(slots.free); n > 0 {
		s := slots.free[n-1]
		slots.free = slots.free[:n-1]
		slots.mu.Unlock()
		return s
	}
	if slots.made < maxOccupancySlots {
		slots.made++
		slots.mu.Unlock()
		s := new(occupancySlot)
		s.fn = purego.NewCallback(s.call)
		return s
	}
	c := make(chan *occupancySlot, 1)
	slots.waiters = append(slots.waiters, c)
	slots.mu.Unlock()
	return <-c
}

func (s *occupancySlot) giveBack() {
	s.run, s.panic = nil, nil
	slots.mu.Lock()
	defer slots.mu.Unlock()
	if len(slots.waiters) > 0 {
		slots.waiters[0] <- s
		slots.waiters = slots.waiters[1:]
		return
	}
	slots.free = append(slots.free, s)
}

// call is what C calls. The argument is an int in a register, whose upper half is undefined.
func (s *occupancySlot) call(blockSize uintptr) (size uintptr) {
	defer func() {
		if v := recover(); v != nil {
			s.panic, size = v, 0
		}
	}()
	if s.panic != nil {
		return 0 // C goes on asking; the first panic counts
	}
	return uintptr(s.run(int32(uint32(blockSize))))
}

// withSlot calls C with a C function for run, and lets a panic of run go on when C has returned.
func withSlot(run func(int32) uint64, call func(fn uintptr) driver.CUresult) driver.CUresult {
	s := takeSlot()
	s.run = run
	r := call(s.fn)
	v := s.panic
	s.giveBack()
	if v != nil {
		panic(v)
	}
	return r
}

func (d *Driver) occupancyMaxPotentialBlockSize(sym int) func(driver.CUcontext, *int32, *int32, driver.CUfunction,
	driver.CUoccupancyB2DSize, uint64, int32) driver.CUresult {
	return func(cur driver.CUcontext, minGridSize, blockSize *int32, f driver.CUfunction,
		size driver.CUoccupancyB2DSize, dynamicSMemSize uint64, blockSizeLimit int32) driver.CUresult {
		call := func(fn uintptr) driver.CUresult {
			return d.call6(sym, cur, uintptr(unsafe.Pointer(minGridSize)), uintptr(unsafe.Pointer(blockSize)),
				uintptr(f), fn, uintptr(dynamicSMemSize), uintptr(blockSizeLimit))
		}
		if size.Go == nil {
			return call(size.C)
		}
		return withSlot(size.Go, call)
	}
}

func (d *Driver) occupancyMaxPotentialBlockSizeWithFlags(sym int) func(driver.CUcontext, *int32, *int32,
	driver.CUfunction, driver.CUoccupancyB2DSize, uint64, int32, uint32) driver.CUresult {
	return func(cur driver.CUcontext, minGridSize, blockSize *int32, f driver.CUfunction,
		size driver.CUoccupancyB2DSize, dynamicSMemSize uint64, blockSizeLimit int32, flags uint32) driver.CUresult {
		call := func(fn uintptr) driver.CUresult {
			return d.call7(sym, cur, uintptr(unsafe.Pointer(minGridSize)), uintptr(unsafe.Pointer(blockSize)),
				uintptr(f), fn, uintptr(dynamicSMemSize), uintptr(blockSizeLimit), uintptr(flags))
		}
		if size.Go == nil {
			return call(size.C)
		}
		return withSlot(size.Go, call)
	}
}
