package exec

import (
	"sync"
	"sync/atomic"
	"time"
)

// Pool keeps what launches of a kernel leave for the next ones: grids with their workers, CTAs, warps and register
// frames, so that a launch allocates nothing. It belongs to whoever owns the prepared kernel, and all launches that
// name it in Launch.Pool are of that kernel. The zero value is ready. What it holds is given to the garbage collector
// when the kernel is not launched for a while.
type Pool struct {
	grids sync.Pool    // of *grid
	pace  atomic.Int64 // nanoseconds of one worker for a group of the last launch; 0: unknown
}

// grid returns one that no launch uses; p may be nil.
func (p *Pool) grid() *grid {
	if p != nil {
		if g, _ := p.grids.Get().(*grid); g != nil {
			return g
		}
	}
	return &grid{epoch: time.Now()}
}

// keep takes the grid of a launch that went well.
func (p *Pool) keep(g *grid) {
	if p == nil {
		return
	}
	g.l = nil
	p.grids.Put(g)
}

// soloTime is how long a launch may take before it is worth waking other threads for it.
const soloTime = 10 * time.Microsecond

// short says whether a launch of so many groups is likely to end before another thread would be awake.
func (p *Pool) short(groups uint64) bool {
	if p == nil {
		return false
	}
	pace := p.pace.Load()
	return pace != 0 && groups < uint64(soloTime)/uint64(pace)
}

// timed notes what a launch took.
func (p *Pool) timed(took time.Duration, groups uint64, workers int) {
	if p != nil {
		p.pace.Store(max(1, int64(took)*int64(workers)/int64(groups)))
	}
}
