package ir

import (
	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// stackParams gives a place in local memory to each parameter of the function whose address is a value somewhere: such
// a parameter is copied onto the stack, and its address is one in the local state space (PTX ISA 9.7.9.1, mov). Loads
// and calls that name the parameter itself go on to use what the caller passed.
func (b *body) stackParams() {
	if b.f.Entry || len(b.f.Params) == 0 {
		return
	}
	taken := func(a *check.Arg) {
		v := a.Var
		if a.Kind != check.ArgSym || v == nil || v.Space != "param" {
			return
		}
		v = b.syms.variable(v)
		if _, ok := b.slots[v]; !ok || b.stacked(v) {
			return
		}
		b.local[v] = min(b.lf.Local.Add(v), maxLocal)
		b.stack = append(b.stack, v)
	}
	for i := range b.f.Insts {
		in := &b.f.Insts[i]
		if in.Match.Form.Op == optab.OpCall {
			continue
		}
		for j := range in.Args {
			taken(&in.Args[j])
			for k := range in.Args[j].Elems {
				taken(&in.Args[j].Elems[k])
			}
		}
	}
}

func (b *body) stacked(v *check.Var) bool {
	_, ok := b.local[v]
	return ok
}

// copyStackParams writes the loads and stores that fill the places, at the function's begin.
func (b *body) copyStackParams() error {
	for _, v := range b.stack {
		slot, local := b.slots[v], b.local[v]
		for off := uint64(0); off < slot.Size; {
			n, typ := uint64(1), "b8"
			for _, t := range []struct {
				n   uint64
				typ string
			}{{8, "b64"}, {4, "b32"}, {2, "b16"}} {
				if off+t.n <= slot.Size && (local+off)%t.n == 0 && off%t.n == 0 {
					n, typ = t.n, t.typ
					break
				}
			}
			class := ClassOf(int(8 * n))
			at := b.typed(typ)
			value := Arg{Kind: Row, Class: class, Ref: b.newRow(class, int(8*n)), Position: at, Width: uint8(8 * n),
				ArgRest: &noRest}
			from := Arg{Kind: Addr, Position: at, Space: FrameParam, Disp: int64(off), Ref: Ref{Off: uint32(slot.Off)},
				Bits: slot.Stride, Sym: true, ArgRest: &ArgRest{Hi: slot.Size, Var: v}}
			to := Arg{Kind: Addr, Position: at, Space: Local, Disp: int64(local + off), Sym: true,
				ArgRest: &ArgRest{Var: v}}
			if err := b.insert("ld", []string{"param", typ}, value, from); err != nil {
				return err
			}
			if err := b.insert("st", []string{"local", typ}, to, value); err != nil {
				return err
			}
			off += n
		}
	}
	return nil
}

// insert appends an operation that the text does not have. Its operands stand in the form's first positions.
func (b *body) insert(name string, words []string, args ...Arg) error {
	for _, f := range optab.Get().Lookup(name) {
		if m, miss := f.Fit(words); miss.Kind == optab.MissNone {
			for i := range args {
				args[i].Position = &optab.Position{Op: &f.Operands[i], Type: args[i].Type}
			}
			b.ops = append(b.ops, Op{Match: &m, Guard: -1, Args: args, Line: b.line, Loc: b.loc, OpRest: &noOpRest})
			return nil
		}
	}
	return b.fail("no form of %s has the modifiers %v", name, words)
}
