package softdev

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/interp"
)

// Results of device-side launches (driver_types.h), and how deep they nest (CUDA C++ Programming Guide, "Nesting
// Depth").
const (
	cudaErrorInvalidValue           = 1
	cudaErrorInvalidConfiguration   = 9
	cudaErrorLaunchMaxDepthExceeded = 65
	cudaErrorInvalidDeviceFunction  = 98
	cudaErrorLaunchOutOfResources   = 701

	maxNesting = 24

	// What launches that wait may take of the process, all together; a kernel that launches without end gets an error
	// and not all memory. One takes its parameters and pendingLaunch.
	pendingBytes  = 512 << 20
	pendingLaunch = 256
)

// parentGrid is what the kernels of one running grid ask of the system when the program was linked with the device
// runtime: besides the context's services, launches (interp.ChildLauncher). They wait in the queue until the grid has
// ended.
type parentGrid struct {
	*deviceHeap
	mod   *module
	depth int
	act   *checker.Action // that it is part of, with the race check
	held  *atomic.Int64   // of pendingBytes, by the grid that the host has launched and all its descendants

	mu    sync.Mutex
	queue []childLaunch
	tails []childLaunch // cudaStreamTailLaunch: after all that the grid and its children launch
}

type childLaunch struct {
	f      *function
	q      launchRequest
	params []byte
	depth  int
}

func (c *childLaunch) size() int64 { return pendingLaunch + int64(len(c.params)) }

// hold counts n bytes for launches that wait; false when there is no room.
func (g *parentGrid) hold(n int64) bool {
	all := &g.mod.ctx.d.pending
	if all.Add(n) > pendingBytes {
		all.Add(-n)
		return false
	}
	g.held.Add(n)
	return true
}

func (g *parentGrid) letGo(n int64) {
	g.held.Add(-n)
	g.mod.ctx.d.pending.Add(-n)
}

var _ interp.ChildLauncher = (*parentGrid)(nil)

// function is the kernel with an address, ready to run; nil when there is none.
func (g *parentGrid) function(address uint64) *function {
	e := g.mod.prog.byAddress[address]
	if e == nil {
		return nil
	}
	f, r := g.mod.function(e)
	if r != success || f.prepare() != nil {
		return nil
	}
	return f
}

// ChildParams implements interp.ChildLauncher.
func (g *parentGrid) ChildParams(address uint64) (bytes uint32, ok bool) {
	f := g.function(address)
	if f == nil {
		return 0, false
	}
	return uint32(f.kernel.ParamSize), true
}

// Child implements interp.ChildLauncher.
func (g *parentGrid) Child(address uint64, grid, block [3]uint32, shared uint32, params []byte, stream uint64) uint32 {
	f := g.function(address)
	if f == nil {
		return cudaErrorInvalidDeviceFunction
	}
	if len(params) < int(f.kernel.ParamSize) {
		return cudaErrorInvalidValue
	}
	c := childLaunch{f: f, q: launchRequest{grid: grid, block: block, shared: shared}, params: params,
		depth: g.depth + 1}
	list := &g.queue
	if stream == interp.StreamTailLaunch {
		list, c.depth = &g.tails, g.depth
	}
	if c.depth >= maxNesting {
		return cudaErrorLaunchMaxDepthExceeded
	}
	switch r := f.validate(&c.q); r {
	case success:
	case invalidValue:
		return cudaErrorInvalidConfiguration
	default:
		return uint32(r) // the two interfaces share these numbers
	}
	if !g.hold(c.size()) {
		return cudaErrorLaunchOutOfResources
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	*list = append(*list, c)
	return 0
}

// run executes a grid of one of the module's kernels, and then what it launched itself: every child with all its
// descendants before the next, tail launches last. Device code cannot wait for children (CUDA 12 and later), so that
// nothing can tell this order from a parallel one but a clock.
func (m *module) run(l *exec.Launch, a *checker.Action) error {
	defer m.ctx.d.checked(l, a)()
	m.ctx.dumping(l)
	if !m.prog.linked.Runtime {
		return exec.Run(l)
	}
	g := &parentGrid{deviceHeap: &m.ctx.heap, mod: m, held: new(atomic.Int64), act: a}
	defer func() { g.letGo(g.held.Load()) }() // what a fault leaves waiting
	l.Sys = g
	if err := exec.Run(l); err != nil {
		return err
	}
	pending := g.pending(nil)
	for len(pending) > 0 {
		c := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		g := &parentGrid{deviceHeap: &m.ctx.heap, mod: m, depth: c.depth, held: g.held, act: a}
		g.letGo(c.size())
		if err := g.launch(&c); err != nil {
			return err
		}
		pending = g.pending(pending)
	}
	return nil
}

// launch runs a child.
func (g *parentGrid) launch(c *childLaunch) error {
	pool := &g.mod.ctx.params
	buf, r := pool.get(g.mod.ctx, uint64(c.f.kernel.ParamSize)+workspaceSize)
	if r != success {
		return &childError{r, c.f.entry.fn.Name}
	}
	defer pool.put(buf)
	copy(buf.bytes[:c.f.kernel.ParamSize], c.params)
	l := c.f.launch(&c.q, buf)
	l.Sys = g
	defer g.mod.ctx.d.checked(&l, g.act)()
	g.mod.ctx.dumping(&l)
	return exec.Run(&l)
}

// pending puts what the grid launched on a stack, first to run on top.
func (g *parentGrid) pending(stack []childLaunch) []childLaunch {
	for _, list := range [][]childLaunch{g.tails, g.queue} {
		slices.Reverse(list)
		stack = append(stack, list...)
	}
	return stack
}

// childError is a launch by a kernel for which the memory was missing when its turn came.
type childError struct {
	result driver.CUresult
	kernel string
}

func (e *childError) Error() string {
	return "kernel " + e.kernel + ", launched by a kernel: " + e.result.String()
}
