package plan

import (
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Slack is how far displacements may lie from a checked address.
const Slack = 1 << 16

// Access is a memory operand with the registers that it moves.
type Access struct {
	Space    ir.Space
	Base     *ir.Arg
	Disp     int32
	ElemSize int // bytes of an element, and their logarithm
	ElemLog  uint8
	Total    int
	Align    uint8 // logarithm of the alignment
	Signed   bool
	Regs     []*ir.Arg
	Phase    int // of a store: exec.StorePhase
}

// AccessValue is the operand that an access moves, when the address is operand i.
func AccessValue(op *ir.Op, i int) int {
	if i == 1 && op.Opcode() != optab.OpAtom {
		return 0
	}
	return i + 1
}

// AccessOf is the access of an operation to an address, of a value in registers; ok is false for accesses that need
// more than a plain one.
func AccessOf(op *ir.Op, addr, value *ir.Arg) (ac Access, ok bool) {
	typ := op.Mods().LastType()
	if addr.Kind != ir.Addr || typ == optab.NoTypeID {
		return ac, false
	}
	ac = Access{Space: addr.Space, Base: addr.Base, ElemSize: int(typ.Bytes()), Signed: typ.Signed()}
	ac.Disp = int32(addr.Disp)
	if addr.Disp <= -Slack || addr.Disp >= Slack {
		return ac, false
	}
	switch ac.ElemSize {
	case 1, 2, 4, 8:
	default:
		return ac, false
	}
	for 1<<ac.ElemLog < ac.ElemSize {
		ac.ElemLog++
	}
	if value.Kind == ir.Vec {
		for i := range value.Elems {
			ac.Regs = append(ac.Regs, &value.Elems[i])
		}
	} else {
		ac.Regs = []*ir.Arg{value}
	}
	ac.Total = ac.ElemSize * len(ac.Regs)
	for 1<<ac.Align < ac.Total {
		ac.Align++
	}
	if 1<<ac.Align != ac.Total || ac.Align > 5 || addr.Disp&int64(ac.Total-1) != 0 {
		return ac, false
	}
	want := ir.W32
	if ac.ElemSize == 8 {
		want = ir.W64
	}
	for _, r := range ac.Regs {
		if r.Kind != ir.None && (!r.Reg() || r.Class != want) {
			return ac, false
		}
	}
	switch ac.Space {
	case ir.Generic, ir.Global, ir.Const:
		return ac, ac.Base != nil && ac.Base.Class == ir.W64
	case ir.Shared:
		return ac, ac.Base != nil && (ac.Base.Class == ir.W64 || ac.Base.Class == ir.W32) && addr.Disp >= 0
	case ir.KernelParam:
		return ac, ac.Base == nil && addr.Disp >= 0 && uint64(addr.Disp)+uint64(ac.Total) <= addr.Hi
	}
	return ac, false
}

// Global says whether it is not one to the CTA's shared memory.
func (ac *Access) Global() bool { return ac.Space != ir.Shared }

// Wide says whether addresses are 64-bit rows.
func (ac *Access) Wide() bool { return ac.Base.Class == ir.W64 }

// AddressPieces are the pieces of the addresses of half h: two 64-bit ones, or one of 32 bits.
func (ac *Access) AddressPieces(h int) []int {
	if ac.Wide() {
		return []int{2 * h, 2*h + 1}
	}
	return []int{h}
}

// Parts is the order in which a store writes the two parts of so many lanes each of what it writes: a part of a phase
// stores before those with lower lanes.
func (ac *Access) Parts(lanes int) [2]int {
	if ac.Phase > lanes {
		return [2]int{1, 0}
	}
	return [2]int{0, 1}
}
