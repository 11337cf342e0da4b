package plan

import (
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Followed is an access to shared memory of code that follows what nobody has written: a read, or an atomic operation,
// wants all bytes defined, and a write makes them so.
type Followed struct {
	Addr  *ir.Arg
	Size  int32 // bytes of a lane
	Lanes int   // whose addresses the operation uses, from lane 0 on
	Write bool
}

// Follow finds the accesses to shared memory of code of whole CTAs that follows what nobody has written, or says why
// there is no such code. It keeps nothing of registers: every load leaves what is not defined to the interpreter, so
// all of them are defined as long as the code runs, if none is read before it is written. Loads of global memory have
// bounds, and stores are noted.
func (a *Func) Follow() *NoCodeError {
	no := func(op *ir.Op, why string) *NoCodeError {
		return &NoCodeError{Why: WhyUndefined, Detail: why, Line: op.Line}
	}
	ops := a.IR.Ops
	if a.TooLarge != nil {
		return a.TooLarge
	}
	for _, w := range a.Blocks[0].In {
		if w != 0 {
			return no(&ops[0], "a register may be read before it is written")
		}
	}
	a.Followed = make([]*Followed, len(ops))
	for i := range ops {
		op := &ops[i]
		switch {
		case op.Ctl == ir.Call:
			return no(op, "it calls the system")
		case UsesLocal(op):
			return no(op, "it has local memory")
		case op.Ctl != ir.Plain:
			continue
		case !Accesses(op):
			switch op.Effect() {
			case optab.MemNone, optab.MemLoad: // textures count as written
				continue
			}
			if x, ok := SoleAccess(op); ok && x.Addr.Space == ir.KernelParam && !x.Write {
				continue
			}
			return no(op, "an operation accesses memory by itself")
		}
		f, ok := followed(op)
		if x, sole := SoleAccess(op); !ok && sole {
			switch x.Addr.Space {
			case ir.Const:
				continue
			case ir.Global, ir.Generic:
				if b := x.Addr.Base; b != nil && b.Kind == ir.Imm && b.Sym { // a variable of the module
					continue
				}
				if a.Native[i] && (a.Bounds[i] != nil && a.Bounds[i].Reads || a.Told[i] != nil &&
					op.Effect() == optab.MemStore) {
					continue
				}
			}
		}
		if !ok || !a.Native[i] {
			return no(op, "its accesses are not followed")
		}
		a.Followed[i] = f
	}
	return nil
}

// followed is an operation's access to shared memory.
func followed(op *ir.Op) (f *Followed, ok bool) {
	if x, ok := SoleAccess(op); ok && x.Addr.Space == ir.Shared {
		return &Followed{x.Addr, int32(x.Size), 32, op.Effect() == optab.MemStore}, true
	}
	var addr, value *ir.Arg
	switch op.Opcode() {
	case optab.OpLdmatrix:
		addr, value = &op.Args[1], &op.Args[0]
	case optab.OpStmatrix:
		addr, value = &op.Args[0], &op.Args[1]
	default:
		return nil, false
	}
	n := 1
	if value.Kind == ir.Vec {
		n = len(value.Elems)
	}
	return &Followed{addr, 16, 8 * n, op.Opcode() == optab.OpStmatrix}, addr.Space == ir.Shared && n <= 4 &&
		op.Mods().Shape == (optab.Shape{M: 8, N: 8})
}
