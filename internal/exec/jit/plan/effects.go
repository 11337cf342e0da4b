package plan

import (
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Accesses says whether an operation touches memory that a checker wants to know of.
func Accesses(op *ir.Op) bool {
	for i := range op.Args {
		if a := &op.Args[i]; a.Kind == ir.Addr && a.Space != ir.KernelParam && a.Space != ir.FrameParam {
			return true
		}
	}
	return false
}

// BarrierOf is one more than the number of the barrier at which an operation has all threads of the CTA wait, 0 where
// it does not, or under a guard.
func BarrierOf(op *ir.Op) uint8 {
	if op.Ctl != ir.Plain || op.Guard >= 0 || op.Opcode() != optab.OpBarrierSync || op.Arg("b") != nil {
		return 0
	}
	if a := op.Arg("a"); a != nil && a.Kind == ir.Imm && !a.Sym && a.Bits < 16 {
		return uint8(a.Bits) + 1
	}
	return 0
}

// UsesStack says whether an operation changes or reads the stack pointers of local memory.
func UsesStack(op *ir.Op) bool {
	return op.Ctl == ir.Plain && op.Form().Stack
}

// UsesLocal says whether an operation needs local memory.
func UsesLocal(op *ir.Op) bool {
	if op.Ctl == ir.FrameAddr || UsesStack(op) {
		return true
	}
	for i := range op.Args {
		if a := &op.Args[i]; a.Kind == ir.Addr && a.Space == ir.Local {
			return true
		}
	}
	return false
}

// MayWait says whether a function has loops that may wait for other threads.
func MayWait(f *ir.Func) bool {
	if !f.Loops {
		return false
	}
	for i := range f.Ops {
		op := &f.Ops[i]
		if op.Ctl != ir.Plain {
			continue
		}
		switch op.Effect() {
		case optab.MemLoad:
			if op.Mods().Strong() {
				return true
			}
		case optab.MemAtomic:
			if op.Arg("d") != nil {
				return true
			}
		}
	}
	return false
}

// Carries says whether an operation reads or writes the carry flags.
func Carries(op *ir.Op) bool {
	return op.Ctl == ir.Plain && op.Form().Carry
}

// BoundedAccess is an operation's access to global memory that has a bound.
type BoundedAccess struct {
	ir.Access
	Slot  int32 // of its bound, in those of the function
	Reads bool  // what is there
}

// SoleAccess is an operation's access to memory when it does nothing else.
func SoleAccess(op *ir.Op) (a ir.Access, ok bool) {
	if op.Ctl != ir.Plain {
		return a, false
	}
	switch op.Effect() {
	case optab.MemLoad, optab.MemStore, optab.MemAtomic:
		return op.Access()
	}
	return a, false
}
