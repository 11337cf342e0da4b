package ir

import (
	"strconv"

	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// NVIDIA's compiler translates a few forms otherwise than the manual says, at every level of optimisation. What is here
// was seen in an H200's results.

// halfOfParam lowers a load of 128 bits from a parameter of a function: the upper half becomes zero. Vectors of 64 bits
// are loaded whole.
func (b *body) halfOfParam(op *Op) error {
	x := expander{body: b, op: op}
	low := x.value("ld", []string{"param", "b64"}, "b64", op.Args[1])
	x.pack("b128", op.Args[0], low, x.imm("b64", 0))
	return x.err
}

// isHalfOfParam says whether an instruction is such a load. One that leaves the parameter, or is not aligned, stays
// whole, to fault.
func (op *Op) isHalfOfParam() bool {
	if op.Opcode() != optab.OpLd || op.Type(0) != optab.B128 || op.Args[0].Kind != Row ||
		op.Args[1].Space != FrameParam {
		return false
	}
	a := &op.Args[1]
	return a.Disp >= 0 && a.Disp%16 == 0 && uint64(a.Disp)+16 <= a.Hi
}

// convertStored makes the operands of st the numbers that are stored, where registers are wider than what is stored and
// the last of them is of another class: floats become unsigned integers, and integers floats. PTX ISA 9.4.1 says that
// registers are cut, which is so within a class.
func (b *body) convertStored(op *Op, value *check.Arg) error {
	last := value
	if n := len(value.Elems); n > 0 {
		last = &value.Elems[n-1]
	}
	if last.Kind != check.ArgReg {
		return nil
	}
	to, float := op.Mods().LastType().Info(), last.Var.Type.Class == optab.Float
	if float == (to.Class == optab.Float) {
		return nil
	}
	x := expander{body: b, op: op}
	list := op.Args[1:2]
	if list[0].Kind == Vec {
		list = list[0].Elems
	}
	for i := range list {
		a := &list[i]
		if a.Kind != Row || int(a.Width) <= to.Bits || a.Width < 32 {
			continue
		}
		words, typ := []string{"rzi", "u" + strconv.Itoa(to.Bits), "f" + strconv.Itoa(int(a.Width))},
			"u"+strconv.Itoa(max(to.Bits, 16))
		if !float {
			words, typ = []string{"rn", to.Name, "u" + strconv.Itoa(int(a.Width))}, to.Name
		}
		row := x.value("cvt", words, typ, *a)
		a.Ref, a.Class, a.Width = row.Ref, row.Class, row.Width
	}
	return x.err
}
