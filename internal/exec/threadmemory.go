package exec

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/mem"
)

// ThreadMemory bounds what the threads of launches keep on the host: local memory, registers and the parameters of
// calls. Launches share it.
type ThreadMemory struct {
	Limit uint64 // bytes
	used  atomic.Uint64
}

// take counts n bytes; false when there are not so many.
func (m *ThreadMemory) take(n uint64) bool {
	if m.used.Add(n) <= m.Limit {
		return true
	}
	m.used.Add(-n)
	return false
}

// account is what a grid has of a ThreadMemory. It keeps it for the next launches, until the garbage collector takes
// the grid.
type account struct {
	of *ThreadMemory
	n  atomic.Uint64
}

func (a *account) close() { a.of.used.Add(-a.n.Load()) }

// open gives the grid an account for a launch.
func (g *grid) openAccount(m *ThreadMemory) {
	if m == nil || g.account != nil {
		return
	}
	g.account = &account{of: m}
	runtime.AddCleanup(g, (*account).close, g.account)
}

func (a *account) take(n uint64) bool {
	if a == nil {
		return true
	}
	for try := range 4 {
		if a.of.take(n) {
			a.n.Add(n)
			return true
		}
		if n > a.of.Limit {
			break
		}
		runtime.GC() // grids that no launch will use again
		time.Sleep(time.Millisecond << try)
	}
	return false
}

// scratchFrom is the size from which on memory of threads does not come from Go's heap.
const scratchFrom = 1 << 20

// memory is n bytes, zero, for as long as the warp lives. Where the host has none the kernel ends.
func (w *Warp) memory(n uint64) []byte {
	if !w.CTA.Group.grid.account.take(n) {
		w.Throw(FaultMemory, -1, "the host has no room for the threads' local memory and calls")
	}
	if n < scratchFrom {
		buf := make([]uint64, (n+7)/8)
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(buf))), len(buf)*8)
	}
	s, err := mem.NewScratch(n)
	if err != nil {
		w.Throw(FaultMemory, -1, err.Error())
	}
	w.scratch = append(w.scratch, s)
	return s.Bytes()
}

// Need is how many bytes of thread memory the CTAs of a launch take that are resident together whatever happens, not
// counting what called functions need.
func (l *Launch) Need() uint64 {
	n := l.needOfCTA()
	switch {
	case l.Cooperative:
		return n * uint64(l.Grid[0]) * uint64(l.Grid[1]) * uint64(l.Grid[2])
	case l.Cluster[0] != 0:
		return n * uint64(l.Cluster[0]) * uint64(l.Cluster[1]) * uint64(l.Cluster[2])
	}
	return n
}

// warps is how many a CTA has.
func (l *Launch) warps() uint64 {
	return (uint64(l.Block[0])*uint64(l.Block[1])*uint64(l.Block[2]) + warpSize - 1) / warpSize
}

func (l *Launch) needOfCTA() uint64 {
	k := l.Code.Kernel()
	warp := k.Funcs[0].FrameSize
	if k.Funcs[0].Local.Size > 0 {
		warp += warpSize * l.LocalSize()
	}
	return l.warps() * warp
}

const warpSize = 32

// LocalSize is the local memory of a thread: the variables of the kernel, and the stack of the functions that it calls.
func (l *Launch) LocalSize() uint64 {
	k := l.Code.Kernel()
	return (min(max(k.Local+uint64(l.Stack), k.Funcs[0].Local.Size), localWindow) + 15) &^ 15
}

// fits is how many of the launch's groups have room together; 0 for any number.
func (l *Launch) fits() uint64 {
	if l.Threads == nil {
		return 0
	}
	group := l.needOfCTA() * uint64(max(l.Cluster[0], 1)) * uint64(max(l.Cluster[1], 1)) * uint64(max(l.Cluster[2], 1))
	if group < scratchFrom {
		return 0
	}
	return max(l.Threads.Limit/group, 1)
}

// Refused says whether the launch needs more thread memory than there is at all.
func (l *Launch) Refused() bool { return l.Threads != nil && l.Need() > l.Threads.Limit }
