package ir

import "github.com/gocuda/cuda/internal/ptx/check"

// call lowers a call's operands: (returns), callee, (arguments), prototype, each part optional but the callee.
func (b *body) call(in *check.Inst, op *Op) error {
	c := &CallInfo{Func: -1}
	op.OpRest = &OpRest{Call: c}
	var rets, args []check.Arg
	var returns, params []*check.Var // what they are given as
	var err error
	seen := false
	for i := range in.Args {
		a := &in.Args[i]
		switch a.Kind {
		case check.ArgList:
			if seen {
				args = a.Elems
			} else {
				rets = a.Elems
			}
		case check.ArgSym:
			seen = true
			f := b.syms.function(a.Func)
			returns, params = f.Returns, f.Params
			if f.Defined {
				c.Func = b.queue(f)
			} else if b.syms != nil && b.syms.Builtin != nil && b.syms.Builtin(f.Name) {
				c.Builtin = f.Name
			} else {
				return b.fail("function %s is called but not defined", f.Name)
			}
		case check.ArgReg:
			seen = true
			if c.Pointer, err = b.newArg(a); err != nil {
				return err
			}
		case check.ArgTable:
			switch t := a.Table; {
			case t.Proto != nil:
				returns, params = t.Proto.Returns, t.Proto.Params
			case len(t.Funcs) > 0:
				returns, params = t.Funcs[0].Returns, t.Funcs[0].Params
			}
		}
	}
	if c.Args, err = b.copies(args, params); err != nil {
		return err
	}
	c.Rets, err = b.copies(rets, returns)
	return err
}

// copies lowers the arguments or results of a call. Those of vector type are copied by components, which have numbers
// of their own where the callee has registers, and lie one behind another where it has a parameter variable.
func (b *body) copies(as []check.Arg, formal []*check.Var) ([]Copy, error) {
	out := make([]Copy, 0, len(as))
	to := 0
	for i := range as {
		a, n := &as[i], 1
		if i < len(formal) && formal[i].Space == "reg" && formal[i].Vec > 1 {
			n = formal[i].Vec
		}
		list := as[i : i+1]
		if a.Kind == check.ArgVec {
			list = a.Elems
		}
		for k := range list {
			c, err := b.copyOf(&list[k])
			if err != nil {
				return nil, err
			}
			c.To = to
			switch {
			case n > 1:
				c.To += k
			case i < len(formal):
				c.At = uint64(k) * uint64(formal[i].Type.Bytes())
			}
			out = append(out, c)
		}
		to += n
	}
	return out, nil
}

// copyOf lowers one of them; the sink copies nothing.
func (b *body) copyOf(a *check.Arg) (c Copy, err error) {
	switch {
	case a.Kind == check.ArgNone:
	case a.Kind == check.ArgSym && a.Var != nil && a.Var.Space == "param":
		var ok bool
		switch c.Slot, ok = b.slots[a.Var]; {
		case !ok:
			err = b.fail("parameter %s has no storage", a.Var.Name)
		case c.Slot.Size == 0: // as good as the sink
			c.Slot = Slot{}
		}
	default:
		c.Row, err = b.newArg(a)
	}
	return c, err
}
