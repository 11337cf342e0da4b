package exec

import "sync/atomic"

// Fence orders the host's memory accesses before it against those after it, for every lane of the warp: CTAs run on
// different processors. Threads of one cluster share a goroutine and need none. A read-modify-write is what Go has that
// no processor reorders with other accesses (a locked instruction on amd64, an acquire-release atomic on arm64).
func (w *Warp) Fence() { atomic.AddUint32(&w.fence, 1) }
