package interp

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// Single executes single operations, for engines that leave some of them to the interpreter.
type Single struct {
	c     *code
	whole *code // runs the kernel
}

// Prepare prepares a kernel. It fails as Compile does.
func Prepare(k *ir.Kernel) (*Single, error) {
	c, err := New().Compile(k)
	if err != nil {
		return nil, err
	}
	return &Single{c.(*code), c.(*code)}, nil
}

// Code runs the whole kernel on the interpreter.
func (s *Single) Code() exec.Code { return s.whole }

// Serves says whether Serve can execute an operation of the kernel: one that lets no other lanes or warps run. alone
// says that it needs all lanes of the warp.
func (s *Single) Serves(f int, pc int32) (serves, alone bool) {
	in := &s.c.funcs[f][pc]
	return in.kind == plain || in.kind == syncing && in.members == nil && !in.anywhere, in.kind == syncing
}

// Serve executes an operation that Serves names for the current split, without counting it.
func (s *Single) Serve(w *exec.Warp, pc int32) {
	in := &s.c.funcs[w.Act.Func.Index][pc]
	w.Op = pc
	m := w.Cur.Mask
	if in.guard >= 0 {
		p := *(*uint32)(unsafe.Add(w.Base[0], in.guard))
		if in.neg {
			p = ^p
		}
		m &= p
	}
	if m != 0 {
		in.fn(w, in, m)
	}
}

// Step executes the operation at pc for the current split as Code.Run does, but only that one; pc is below Warp.Limit.
// With back false the split's PC says where it goes on in the same turn; else the engine returns the event to the
// scheduler.
func (s *Single) Step(w *exec.Warp, pc int32) (ev exec.Event, back bool) {
	sp := w.Cur
	in := &s.c.funcs[w.Act.Func.Index][pc]
	w.Op = pc
	w.Instr++
	m := sp.Mask
	if in.guard >= 0 {
		p := *(*uint32)(unsafe.Add(w.Base[0], in.guard))
		if in.neg {
			p = ^p
		}
		m &= p
	}
	sp.PC = pc + 1
	if in.kind == jump {
		m = sp.Mask
	}
	if m == 0 {
		return 0, false
	}
	switch in.kind {
	case plain:
		in.fn(w, in, m)
	case syncing:
		members := &allLanes
		if in.members != nil {
			members = w.R32(in.members.Ref)
		}
		sp.PC = pc
		if m = w.Gather(m, members, in.anywhere); m == 0 {
			return exec.EventReschedule, true
		}
		in.fn(w, in, m)
		sp.PC = pc + 1
	case scheduling:
		sp.PC = pc
		return in.ctl(w, in, m, pc+1)
	case branch, jump:
		if m != sp.Mask {
			sp.PC = pc
			return w.Diverge(m, in.target, pc+1), true
		}
		sp.PC = in.target
		if in.target <= pc && w.BackEdge() {
			return exec.EventReschedule, true
		}
	case branchx:
		sp.PC = pc
		return s.c.indexed(w, in, m, pc+1), true
	case call:
		sp.PC = pc
		return s.c.call(w, in, m, pc+1), true
	case ret:
		return w.Return(m, pc+1), true
	case exit:
		w.Exit(m, pc+1)
		return exec.EventReschedule, true
	}
	return 0, false
}
