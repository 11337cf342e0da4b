// Package trace counts what kernels do, operation by operation: an engine that runs them on the interpreter and keeps,
// for every operation, how often warps and threads executed it, how often it divided a warp, and what memory traffic it
// made. The other engines know nothing of it, so counting costs nothing where it is not wanted.
package trace

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/ir"
)

// Engine is an exec.Engine that counts.
type Engine struct {
	mu      sync.Mutex
	kernels []*Kernel
}

// Kernel is a kernel with its counts.
type Kernel struct {
	*ir.Kernel
	single *interp.Single
	counts [][]count // by function and operation
	access [][]access
}

// count is kept for each operation; warps of several workers add to it.
type count struct {
	warps, threads, waits, diverged atomic.Uint64
	traffic                         [spaces]traffic
}

type traffic struct{ requests, bytes, units, ideal atomic.Uint64 }

// Count is what an operation did.
type Count struct {
	Warps uint64 `json:"warps"` // executions by a warp, those with no active lane included
	// executions by a thread: lanes that were active and not predicated off; of branches all that were active
	Threads  uint64 `json:"threads"`
	Diverged uint64 `json:"diverged"` // executions that divided the lanes of a warp
	Memory

	waits uint64 // of Warps, those that only waited for other lanes
}

// Memory is traffic by state space.
type Memory struct {
	Global Traffic `json:"global,omitzero"`   // generic addresses of global memory among them
	Shared Traffic `json:"shared,omitzero"`   // of the own block and of others of the cluster
	Local  Traffic `json:"local,omitzero"`    // variables of a thread, and registers that the compiler spilled
	Const  Traffic `json:"constant,omitzero"` // without parameters of the kernel
}

// Traffic is what accesses to a state space amount to.
type Traffic struct {
	Requests uint64 `json:"requests"` // executions by a warp with at least one active lane
	Bytes    uint64 `json:"bytes"`    // that threads read and wrote
	// Units are what the memory system serves one after the other: 32-byte sectors of global and local memory, passes
	// over the 32 banks of shared memory, different addresses of constant memory; added up over requests.
	Units uint64 `json:"units"`
	// Ideal is how many units the same bytes of the same lanes need at best, and never more than Units.
	Ideal uint64 `json:"ideal"`
}

// add adds another's.
func (t *Traffic) add(o Traffic) {
	t.Requests += o.Requests
	t.Bytes += o.Bytes
	t.Units += o.Units
	t.Ideal += o.Ideal
}

// Excess is how many units more than at best were needed.
func (t Traffic) Excess() uint64 { return t.Units - min(t.Ideal, t.Units) }

// Factor is how many times the ideal was needed; 0 without traffic.
func (t Traffic) Factor() float64 { return ratio(t.Units, t.Ideal) }

// PerRequest is the units of a request on average; 0 without traffic.
func (t Traffic) PerRequest() float64 { return ratio(t.Units, t.Requests) }

// ratio is a/b, 0 where b is 0.
func ratio(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// IdealPerRequest is the ideal of a request on average; 0 without traffic.
func (t Traffic) IdealPerRequest() float64 { return ratio(t.Ideal, t.Requests) }

// space gives the traffic of a space.
func (m *Memory) space(s space) *Traffic {
	return [spaces]*Traffic{&m.Global, &m.Shared, &m.Local, &m.Const}[s]
}

// add adds another's.
func (m *Memory) add(o *Memory) {
	for s := range spaces {
		m.space(s).add(*o.space(s))
	}
}

// New returns an engine that has counted nothing.
func New() *Engine { return &Engine{} }

// Name implements exec.Engine.
func (*Engine) Name() string { return "interpreter, counting" }

// Compile implements exec.Engine.
func (e *Engine) Compile(k *ir.Kernel) (exec.Code, error) {
	s, err := interp.Prepare(k)
	if err != nil {
		return nil, err
	}
	c := &Kernel{Kernel: k, single: s, counts: make([][]count, len(k.Funcs)), access: make([][]access, len(k.Funcs))}
	for i, f := range k.Funcs {
		c.counts[i] = make([]count, len(f.Ops))
		c.access[i] = make([]access, len(f.Ops))
		for j := range f.Ops {
			c.access[i][j] = accessOf(&f.Ops[j])
		}
	}
	e.mu.Lock()
	e.kernels = append(e.kernels, c)
	e.mu.Unlock()
	return code{c}, nil
}

// Kernels lists the kernels that were compiled, in that order.
func (e *Engine) Kernels() []*Kernel {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]*Kernel(nil), e.kernels...)
}

// Count returns what operation op of function f did.
func (k *Kernel) Count(f, op int) Count {
	x := &k.counts[f][op]
	c := Count{Warps: x.warps.Load(), Threads: x.threads.Load(), Diverged: x.diverged.Load(), waits: x.waits.Load()}
	for s := range spaces {
		t := &x.traffic[s]
		*c.space(s) = Traffic{t.requests.Load(), t.bytes.Load(), t.units.Load(), t.ideal.Load()}
	}
	return c
}

// code runs a kernel.
type code struct{ k *Kernel }

// Kernel implements exec.Code.
func (c code) Kernel() *ir.Kernel { return c.k.Kernel }

// Run implements exec.Code.
func (c code) Run(w *exec.Warp) exec.Event {
	s := w.Cur
	f := w.Act.Func
	counts := c.k.counts[f.Index]
	pc := s.PC
	for {
		if pc >= w.Limit {
			s.PC = pc
			return exec.EventReschedule
		}
		m := s.Mask
		if op := &f.Ops[pc]; op.Guard >= 0 {
			p := *(*uint32)(unsafe.Add(w.Base[0], op.Guard))
			if op.Neg {
				p = ^p
			}
			m &= p
		}
		x := &counts[pc]
		var asked [2]request
		n := 0
		a := &c.k.access[f.Index][pc]
		if a.kind != noAccess && m != 0 {
			n = a.requests(w, m, &asked)
		}
		diverged, op, mask := w.Diverged, &f.Ops[pc], s.Mask
		ev, back := c.k.single.Step(w, pc)
		x.warps.Add(1)
		if op.Sync() {
			// Lanes that wait for others come here again.
			if m &= s.Mask; back {
				m = 0
				x.waits.Add(1)
			}
		}
		w.Threads += uint64(bits.OnesCount32(m))
		if op.Ctl == ir.Branch {
			m = mask // the guard chooses the way: lanes that do not jump take part
		}
		x.threads.Add(uint64(bits.OnesCount32(m)))
		if m != 0 {
			for i := range asked[:n] {
				a.record(w, &asked[i], m, x)
			}
		}
		if w.Diverged != diverged {
			x.diverged.Add(1)
		}
		if back {
			return ev
		}
		pc = s.PC
	}
}
