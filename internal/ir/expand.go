package ir

import (
	"slices"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// expander appends the operations of one instruction. After an error it does nothing more.
type expander struct {
	*body
	op  *Op // the instruction
	err error
}

func (x *expander) do(name string, words []string, args ...Arg) {
	if x.err == nil {
		x.err = x.insert(name, words, args...)
	}
}

// guarded is do under the instruction's guard.
func (x *expander) guarded(name string, words []string, args ...Arg) {
	x.do(name, words, args...)
	if x.err == nil {
		last := &x.ops[len(x.ops)-1]
		last.Guard, last.Neg = x.op.Guard, x.op.Neg
	}
}

// row is a new register of the given type.
func (x *expander) row(typ string) Arg {
	n := optab.FindType(typ).Bits
	c := ClassOf(n)
	return Arg{Kind: Row, Class: c, Ref: x.newRow(c, n), Width: uint8(n), Position: x.typed(typ), ArgRest: &noRest}
}

// imm is a constant of the given type.
func (x *expander) imm(typ string, n uint64) Arg {
	c := ClassOf(optab.FindType(typ).Bits)
	return Arg{Kind: Imm, Class: c, Bits: n, Ref: x.konst(c, n, 0, nil, nil), Position: x.typed(typ), ArgRest: &noRest}
}

// as is an operand of another type.
func (x *expander) as(a Arg, typ string) Arg {
	a.Position = x.typed(typ)
	return a
}

// value is a new register that an instruction of the given type sets.
func (x *expander) value(name string, words []string, typ string, args ...Arg) Arg {
	r := x.row(typ)
	x.do(name, words, append([]Arg{r}, args...)...)
	return r
}

// vector has operands of its own: the rows of each operation are numbered anew later.
func (x *expander) vector(elems []Arg) Arg {
	return Arg{Kind: Vec, Position: x.typed("b32"), ArgRest: &ArgRest{Elems: slices.Clone(elems)}}
}

// fresh are new registers.
func (x *expander) fresh(typ string, n int) (list []Arg) {
	for range n {
		list = append(list, x.row(typ))
	}
	return list
}

// pack makes a register of its parts, under the instruction's guard.
func (x *expander) pack(typ string, to Arg, parts ...Arg) {
	if x.err != nil {
		return
	}
	for _, f := range optab.Get().Lookup("mov") {
		if m, miss := f.Fit([]string{typ}); f.Op == optab.OpMovPack && miss.Kind == optab.MissNone &&
			f.Operands[1].Count == len(parts) {
			from := x.vector(parts)
			to.Position, from.Position = &optab.Position{Op: &f.Operands[0], Type: typ},
				&optab.Position{Op: &f.Operands[1], Type: typ}
			x.ops = append(x.ops, Op{Match: &m, Guard: x.op.Guard, Neg: x.op.Neg, Args: []Arg{to, from}, Line: x.line,
				Loc: x.loc, OpRest: &noOpRest})
			return
		}
	}
	x.err = x.fail("no mov makes %s of %d parts", typ, len(parts))
}
