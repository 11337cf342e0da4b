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
	"github.com/gocuda/cuda/internal/ptx/optab"
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
	warps, threads, diverged, bytes, units atomic.Uint64
}

// Count is what an operation did.
type Count struct {
	Warps    uint64 `json:"warps"`             // executions by a warp, those with no active lane included
	Threads  uint64 `json:"threads"`           // executions by a thread
	Diverged uint64 `json:"diverged"`          // executions that divided the lanes of a warp
	Bytes    uint64 `json:"bytes,omitempty"`   // that threads read and wrote in memory
	Sectors  uint64 `json:"sectors,omitempty"` // global memory: different 32-byte sectors, added up over executions
	// shared memory: passes that the hardware's 32 banks need, 1 for each execution without conflict
	Cycles uint64 `json:"cycles,omitempty"`
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
	c := Count{Warps: x.warps.Load(), Threads: x.threads.Load(), Diverged: x.diverged.Load(), Bytes: x.bytes.Load()}
	switch k.access[f][op].space {
	case ir.Shared, ir.SharedCluster:
		c.Cycles = x.units.Load()
	default:
		c.Sectors = x.units.Load()
	}
	return c
}

// access says which memory an operation touches.
type access struct {
	addr  *ir.Arg
	size  uint32 // bytes of a lane; 0: none
	space ir.Space
}

// accessOf finds the memory operand of loads, stores and atomic operations.
func accessOf(op *ir.Op) access {
	a, ok := op.Access()
	// constants and registers on the hardware
	if !ok || op.Effect() == optab.MemCopy || a.Addr.Space == ir.KernelParam || a.Addr.Space == ir.FrameParam {
		return access{}
	}
	return access{a.Addr, a.Size, a.Addr.Space}
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
		x.warps.Add(1)
		x.threads.Add(uint64(bits.OnesCount32(m)))
		w.Threads += uint64(bits.OnesCount32(m))
		if a := &c.k.access[f.Index][pc]; a.size != 0 && m != 0 {
			x.bytes.Add(uint64(a.size) * uint64(bits.OnesCount32(m)))
			x.units.Add(a.units(w, m))
		}
		diverged := w.Diverged
		ev, back := c.k.single.Step(w, pc)
		if w.Diverged != diverged {
			x.diverged.Add(1)
		}
		if back {
			return ev
		}
		pc = s.PC
	}
}

// units counts the 32-byte sectors that the lanes of m touch in global memory, or the passes over the 32 banks of
// shared memory.
func (a *access) units(w *exec.Warp, m uint32) uint64 {
	var addrs [32]uint64
	n := 0
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		v := uint64(a.addr.Disp)
		if b := a.addr.Base; b != nil {
			if b.Class == ir.W64 {
				v += w.R64(b.Ref)[l]
			} else {
				v += uint64(w.R32(b.Ref)[l])
			}
		}
		addrs[n] = v
		n++
	}
	switch a.space {
	case ir.Global, ir.Generic, ir.Const:
		var seen [128]uint64
		k := 0
		for _, v := range addrs[:n] {
			for s := v / 32; s <= (v+uint64(a.size)-1)/32; s++ {
				known := false
				for _, x := range seen[:k] {
					known = known || x == s
				}
				if !known && k < len(seen) {
					seen[k] = s
					k++
				}
			}
		}
		return uint64(k)
	case ir.Shared, ir.SharedCluster:
		// Lanes that want the same word share it; different words of one bank take one pass each.
		var words [32][]uint64
		most := 0
		for _, v := range addrs[:n] {
			for o := uint32(0); o < max(a.size, 4); o += 4 {
				word := (v + uint64(o)) / 4
				bank := word % 32
				known := false
				for _, x := range words[bank] {
					known = known || x == word
				}
				if !known {
					words[bank] = append(words[bank], word)
					most = max(most, len(words[bank]))
				}
			}
		}
		return uint64(most)
	}
	return 0
}
