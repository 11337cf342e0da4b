package check

import (
	"fmt"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// address checks "[base+offset]", or an array element written as name[i].
func (c *checker) address(s *spec, a ptx.Operand, out *Arg) problem {
	out.Kind = ArgAddr
	base := c.takeArgs(1)
	out.Base = &base[0]
	switch a := a.(type) {
	case *ptx.Index:
		v, p := c.evalAt(a)
		if p.code != pOK {
			return p
		}
		base[0] = newArg(optab.NoPosition(), a.Pos)
		base[0].Kind, base[0].Var = ArgSym, v.sym.v
		out.Off = int64(v.c.Bits)
		c.useVar(v.sym.v)
		return c.space(s, v.sym.v, a.Pos)
	case *ptx.Addr:
		if a.Suffix != "" {
			c.rest(out).Suffix = a.Suffix
		}
		if a.Offset != nil {
			v, p := c.evalAt(a.Offset)
			if p.code != pOK {
				return p
			}
			if !v.isInt() {
				return problem{code: pText, pos: a.Pos, name: integerExpected}
			}
			out.Off = int64(v.c.Bits)
		}
		if p := c.base(s, a.Base, out, &base[0]); p.code != pOK {
			return p
		}
		if len(a.Extra) > 0 {
			extra := c.takeArgs(len(a.Extra))
			c.rest(out).Extra = extra
			for i, e := range a.Extra {
				if p := c.loose(nil, e, &extra[i]); p.code != pOK {
					return p
				}
			}
		}
		return problem{}
	}
	return problem{code: pMismatch, pos: out.Pos}
}

// base resolves what stands first in brackets.
func (c *checker) base(s *spec, b ptx.Operand, out, base *Arg) problem {
	*base = newArg(optab.NoPosition(), out.Pos)
	switch b := b.(type) {
	case nil: // an absolute address
		if s != nil && s.kind == optab.KindMem && s.space != "local" {
			return problem{code: pText, pos: out.Pos, name: "Immediate addresses allowed only for .local state space"}
		}
		base.Kind, base.Imm, out.Off = ArgImm, uint64(out.Off), 0
		return problem{}
	case *ptx.Ident:
		base.Pos = b.Pos
		sym, ok := c.find(b.Name)
		if !ok {
			return problem{code: pUnknownAddr, pos: b.Pos, name: b.Name}
		}
		v := sym.v
		switch {
		case v == nil && sym.f != nil:
			base.Kind, c.rest(base).Func = ArgSym, sym.f
			return problem{}
		case v == nil:
			return problem{code: pMismatch, pos: b.Pos}
		case v.Space != "reg":
			if b.Comp != "" {
				return problem{code: pMismatch, pos: b.Pos}
			}
			base.Kind, base.Var = ArgSym, v
			c.useVar(v)
			return c.space(s, v, b.Pos)
		}
		if p := c.register(nil, b, v, base); p.code != pOK {
			return p
		}
		t := base.Var.Type
		if t.Class == optab.Float || t.Class == optab.Packed {
			return problem{code: pText, pos: b.Pos,
				name: fmt.Sprintf("Illegal to use symbol '%s' of type .%s as address operand. Use integer or bit only.",
					b.Name, t.Name)}
		}
		if t.Class > optab.Signed || t.Bits < 16 || t.Bits > 64 { // a 16-bit register is accepted
			return problem{code: pMismatch, pos: b.Pos}
		}
		if t.Bits == 32 && s != nil && s.kind == optab.KindMem && (s.space == "global" || s.space == "") {
			c.narrow = true
		}
		return problem{}
	}
	return problem{code: pMismatch, pos: out.Pos}
}

// space checks a variable against the state space of the instruction.
func (c *checker) space(s *spec, v *Var, pos ptx.Pos) problem {
	if s == nil || s.kind != optab.KindMem {
		return problem{}
	}
	if s.space != v.Space && (s.space != "" || v.Space == "param") {
		return problem{code: pSpace, pos: pos}
	}
	if v.Space == "param" {
		switch {
		case s.store && v.role == roleInput:
			return problem{code: pText, pos: pos, name: "Illegal to write to function input parameter '" + v.Name + "'"}
		case s.load && v.role == roleOutput:
			return problem{code: pText, pos: pos, name: "Illegal to read function return parameter '" + v.Name + "'"}
		}
	}
	return problem{}
}
