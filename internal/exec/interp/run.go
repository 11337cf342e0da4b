package interp

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

type code struct {
	k     *ir.Kernel
	funcs [][]inst

	places *exec.Places     // of a checked kernel
	rows   []*undefinedRows // by function, for Launch.Init
	simple [][]inst         // for Launch.Init: the operations without it
}

// Places numbers the operations of a checked kernel.
func (c *code) Places() *exec.Places { return c.places }

// Kernel implements exec.Code.
func (c *code) Kernel() *ir.Kernel { return c.k }

var allLanes = func() (m [32]uint32) {
	for i := range m {
		m[i] = 0xffffffff
	}
	return m
}()

// Run implements exec.Code.
func (c *code) Run(w *exec.Warp) exec.Event {
	s := w.Cur
	insts := c.funcs[w.Act.Func.Index]
	pc := s.PC
	for {
		if pc >= w.Limit {
			s.PC = pc
			return exec.EventReschedule
		}
		in := &insts[pc]
		w.Op = pc
		w.Instr++
		m := s.Mask
		if in.guard >= 0 {
			p := *(*uint32)(unsafe.Add(w.Base[0], in.guard))
			if in.neg {
				p = ^p
			}
			m &= p
		}
		switch in.kind {
		case plain:
			if m != 0 {
				in.fn(w, in, m)
			}
			pc++
		case syncing:
			if m == 0 {
				pc++
				continue
			}
			if !in.uniform || !w.Together(in.mask, m) {
				members := &allLanes
				if in.members != nil {
					members = w.R32(in.members.Ref)
				}
				s.PC = pc
				if m = w.Gather(m, members, in.anywhere); m == 0 {
					return exec.EventReschedule
				}
			}
			in.fn(w, in, m)
			pc++
		case scheduling:
			if m == 0 {
				pc++
				continue
			}
			s.PC = pc
			if ev, back := in.ctl(w, in, m, pc+1); back {
				return ev
			}
			pc = s.PC
		case branch:
			if m == 0 {
				pc++
				continue
			}
			if m != s.Mask {
				s.PC = pc
				return w.Diverge(m, in.target, pc+1)
			}
			fallthrough
		case jump:
			if in.target <= pc && w.BackEdge() {
				s.PC = in.target
				return exec.EventReschedule
			}
			pc = in.target
		case branchx:
			if m == 0 {
				pc++
				continue
			}
			s.PC = pc
			return c.indexed(w, in, m, pc+1)
		case call:
			if m == 0 {
				pc++
				continue
			}
			s.PC = pc
			return c.call(w, in, m, pc+1)
		case ret:
			if m == 0 {
				pc++
				continue
			}
			return w.Return(m, pc+1)
		case exit:
			if m == 0 {
				pc++
				continue
			}
			w.Exit(m, pc+1)
			return exec.EventReschedule
		}
	}
}

// indexed is brx.idx: lanes go where their index says, group by group.
func (c *code) indexed(w *exec.Warp, in *inst, m uint32, next int32) exec.Event {
	idx := w.R32(in.op.Args[0].Ref)
	i := idx[first(m)]
	if int(i) >= len(in.op.Targets) {
		w.Throw(exec.FaultInstruction, first(m), "brx.idx index out of range")
	}
	same := uint32(0)
	for k := m; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k)
		if idx[l] == i {
			same |= 1 << l
		}
	}
	// The others execute the instruction again as a split of their own, unless they are guarded off.
	rest := next
	if m&^same != 0 {
		rest = next - 1
	}
	return w.Diverge(same, in.op.Targets[i], rest)
}

// call enters a function; an indirect call with different addresses is made group by group.
func (c *code) call(w *exec.Warp, in *inst, m uint32, next int32) exec.Event {
	info := in.op.Call
	if info.Pointer == nil {
		return w.Call(c.k.Funcs[info.Func], info, m, next)
	}
	p := w.R64(info.Pointer.Ref)
	target := p[first(m)]
	same := uint32(0)
	for k := m; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k)
		if p[l] == target {
			same |= 1 << l
		}
	}
	f, ok := c.k.Handles[target]
	if !ok {
		w.Throw(exec.FaultPC, first(m), "indirect call to an address that is no function")
	}
	if same != m {
		return w.CallSome(c.k.Funcs[f], info, same, m, next)
	}
	return w.Call(c.k.Funcs[f], info, same, next)
}

func first(m uint32) int { return bits.TrailingZeros32(m) }
