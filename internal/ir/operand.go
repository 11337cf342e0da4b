package ir

import (
	"fmt"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// newArg lowers an operand that stands by itself.
func (b *body) newArg(a *check.Arg) (*Arg, error) {
	out := &b.newArgs(1)[0]
	return out, b.arg(a, out)
}

// rest is the operand's own ArgRest, to be written.
func (b *body) rest(a *Arg) *ArgRest {
	if a.ArgRest == &noRest {
		if len(b.rests) == 0 {
			b.rests = make([]ArgRest, min(32, 1+len(b.f.Insts)/8))
		}
		a.ArgRest, b.rests = &b.rests[0], b.rests[1:]
	}
	return a.ArgRest
}

// typed is the position of an operand that no form describes.
func (b *body) typed(typ string) *optab.Position {
	p := b.types[typ]
	if p == nil {
		if b.types == nil {
			b.types = map[string]*optab.Position{}
		}
		p = &optab.Position{Type: typ}
		b.types[typ] = p
	}
	return p
}

// made appends an operation of the lowering's own that sets a new row of the operand's type, and gives the row.
func (b *body) made(op Op, typ string) Arg {
	c := width(typ)
	row := Arg{Kind: Row, Class: c, Ref: b.newRow(c, 32), Position: b.typed(typ), ArgRest: &noRest}
	op.Guard, op.Line, op.Loc, op.Args = -1, b.line, b.loc, b.newArgs(1)
	op.Args[0] = row
	b.ops = append(b.ops, op)
	return row
}

// width is the row class of an operand position by its type.
func width(typ string) Class {
	t, ok := optab.TypeOf(typ)
	if !ok {
		return W32
	}
	return ClassOf(t.Bits)
}

// arg lowers an operand into out, which is zero.
func (b *body) arg(a *check.Arg, out *Arg) error {
	out.Neg, out.Position, out.ArgRest = a.Neg, a.Position, &noRest
	switch a.Kind {
	case check.ArgNone:
	case check.ArgReg:
		out.Kind, out.Ref, out.Class, out.Width = Row, b.reg(a.Var), ClassOf(a.Var.Type.Bits), uint8(a.Var.Type.Bits)
		if a.Off != 0 {
			return b.sum(a, a.Var.Type.Bits, out)
		}
	case check.ArgImm:
		out.Kind, out.Class, out.Bits = Imm, width(a.Type), a.Imm
		if a.Hi != 0 {
			b.rest(out).Hi = a.Hi
		}
		out.Ref = b.konst(out.Class, a.Imm, a.Hi, nil, nil)
	case check.ArgSReg:
		row := b.made(newSpecial(a.Name), a.Type)
		out.Kind, out.Ref, out.Class = Row, row.Ref, row.Class
		if a.Off != 0 {
			return b.sum(a, optab.FindType(a.Type).Bits, out)
		}
	case check.ArgSym:
		if err := b.symbol(a, out); err != nil {
			return err
		}
	case check.ArgAddr:
		return b.address(a, out)
	case check.ArgVec, check.ArgList:
		out.Kind = Vec
		if a.Kind == check.ArgList {
			out.Kind = List
		}
		if len(a.Elems) > 0 {
			es, err := b.args(a.Elems)
			if err != nil {
				return err
			}
			b.rest(out).Elems = es
		}
	case check.ArgLabel, check.ArgTable:
		out.Kind = Label
	}
	if a.Comp != "" {
		b.rest(out).Comp = a.Comp
	}
	if a.Second != nil {
		s, err := b.newArg(a.Second)
		if err != nil {
			return err
		}
		b.rest(out).Second = s
	}
	return nil
}

// sum appends an addition for a register plus a constant, and makes the operand its result.
func (b *body) sum(a *check.Arg, bits int, out *Arg) error {
	bits = max(bits, 16) // there is no addition of 8 bits; whoever takes the result takes its lower byte
	typ := fmt.Sprintf("u%d", bits)
	at := b.typed(typ)
	class := ClassOf(bits)
	n := uint64(a.Off) << (64 - bits) >> (64 - bits)
	row := Arg{Kind: Row, Class: class, Ref: b.newRow(class, bits), Width: uint8(bits), Position: at, ArgRest: &noRest}
	from, add := *out, Arg{Kind: Imm, Class: class, Bits: n, Ref: b.konst(class, n, 0, nil, nil), Position: at,
		ArgRest: &noRest}
	from.Position = at
	if err := b.insert("add", []string{typ}, row, from, add); err != nil {
		return err
	}
	out.Ref, out.Class, out.Width = row.Ref, row.Class, row.Width
	return nil
}

// symbol is the address of a variable or function as a value.
func (b *body) symbol(a *check.Arg, out *Arg) error {
	*out = Arg{Kind: Imm, Position: a.Position, Class: width(a.Type), Sym: true, ArgRest: &noRest}
	if a.Func != nil {
		f := b.syms.function(a.Func)
		b.rest(out).Func = f
		out.Ref = b.konst(out.Class, uint64(a.Off), 0, nil, f)
		return nil
	}
	v := b.syms.variable(a.Var)
	b.rest(out).Var = v
	switch v.Space {
	case "local", "param":
		if b.isParam(v) {
			// The address of a kernel parameter is its offset in the parameter space.
			off := uint64(int64(b.k.Params[v.Index].Offset) + a.Off)
			out.Bits, out.Space = off, KernelParam
			out.Ref = b.konst(out.Class, off, 0, nil, nil)
			return nil
		}
		local, ok := b.local[v]
		if !ok {
			return b.fail("variable %s is in %s memory outside any function, which the software device does not support", v.Name, v.Space)
		}
		out.Kind, out.Ref = Row, b.made(Op{Ctl: FrameAddr, OpRest: &OpRest{Disp: int64(local) + a.Off}}, a.Type).Ref
		return nil
	}
	if v.Linkage == ptx.LinkExtern && v.Space != "shared" {
		return b.fail("variable %s is declared .extern and not defined", v.Name)
	}
	out.Ref = b.konst(out.Class, uint64(a.Off), 0, v, nil)
	return nil
}

// isParam says whether a variable is a parameter of the entry being lowered.
func (b *body) isParam(v *check.Var) bool {
	return b.f.Entry && v.Index < len(b.f.Params) && b.f.Params[v.Index] == v
}

// spaces are the state spaces by their names in PTX.
var spaces = [...]Space{
	optab.NoSpace: Generic, optab.SpaceGlobal: Global, optab.SpaceConst: Const, optab.SpaceShared: Shared,
	optab.SpaceCluster: SharedCluster,
	optab.SpaceLocal:   Local, optab.SpaceParam: KernelParam, optab.SpaceParamFunc: FrameParam,
}

// address lowers [base + off]. The state space is the one that the form fixes for the operand, the first among the
// modifiers, or that of the variable named.
func (b *body) address(a *check.Arg, out *Arg) error {
	*out = Arg{Kind: Addr, Position: a.Position, Disp: a.Off, ArgRest: &noRest}
	if a.Op != nil && a.Op.Space != "" {
		out.Space = spaces[optab.SpaceOf(a.Op.Space)]
	} else {
		out.Space = spaces[b.match.Mods.Space]
	}
	var err error
	if base := a.Base; base != nil {
		switch base.Kind {
		case check.ArgImm:
			out.Base = &b.newArgs(1)[0]
			*out.Base = Arg{Kind: Imm, Class: W64, Bits: base.Imm, Ref: b.konst(W64, base.Imm, 0, nil, nil),
				Position: optab.NoPosition(), ArgRest: &noRest}
		case check.ArgReg:
			out.Base, err = b.newArg(base)
			if out.Space == KernelParam && !b.f.Entry && b.match.Has("param") {
				// A register can only hold what mov gives for a parameter of a function, an address on the stack; LLVM
				// keeps writing ld.param.
				out.Space = Local
			}
		case check.ArgSym:
			err = b.symbolAddress(out, base)
		}
		if err != nil {
			return err
		}
	}
	if len(a.Extra) > 0 {
		b.rest(out).Extra, err = b.args(a.Extra)
	}
	return err
}

func (b *body) symbolAddress(out *Arg, base *check.Arg) error {
	out.Disp += base.Off
	out.Sym = true
	s := *base
	s.Off, s.Position = 0, b.typed("b64")
	if base.Var != nil {
		v := b.syms.variable(base.Var)
		b.rest(out).Var = v
		switch v.Space {
		case "local":
			local, ok := b.local[v]
			if !ok {
				return b.fail("variable %s is in local memory outside any function, which the software device does not support", v.Name)
			}
			out.Disp += int64(local)
			out.Space = Local
			return nil
		case "param":
			if b.isParam(v) {
				out.Space = KernelParam
				out.Disp += int64(b.k.Params[v.Index].Offset)
				b.rest(out).Hi = uint64(b.k.ParamSize)
				return nil
			}
			slot, ok := b.slots[v]
			if !ok {
				return b.fail("parameter %s has no storage", v.Name)
			}
			out.Space, out.Ref, out.Bits, b.rest(out).Hi = FrameParam, Ref{Off: uint32(slot.Off)}, slot.Stride,
				slot.Size
			return nil
		}
		if out.Space == Generic { // a name without a space in the instruction stands for its own space
			out.Space = spaces[optab.SpaceOf(v.Space)]
		}
	}
	out.Base = &b.newArgs(1)[0]
	return b.symbol(&s, out.Base)
}
