package check

import (
	"fmt"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

var rulesControl = ruleSet{
	"brx":        ruleBrx,
	"call":       ruleCall,
	"setmaxnreg": ruleSetMaxNReg,
	"pmevent":    rulePMEvent,
	"movvec": func(ic *instCheck) string {
		if ic.Has("v4") && ic.Type(0).Bits > 32 {
			return "Vector type too large, exceeds 128 bit limit"
		}
		return ""
	},
	"movvar": ruleMovVar,
	"unpack": ruleUnpack,
}

// ruleUnpack: elements that are all sinks have no type.
func ruleUnpack(ic *instCheck) string {
	for _, e := range ic.Elems(ic.Arg("d")) {
		if e.Kind != ArgNone {
			return ""
		}
	}
	ic.Errorf("Unable to infer type of vector elements (assuming .b8)")
	return ic.Mismatch()
}

// ruleBrx: the list must be of branch targets.
func ruleBrx(ic *instCheck) string {
	if t := ic.Arg("t"); t.Table.Labels == nil {
		return ic.Mismatch()
	}
	return ""
}

// ruleSetMaxNReg: 24 to 256 in steps of 8 (PTX ISA 9.7.20.5).
func ruleSetMaxNReg(ic *instCheck) string {
	n, _ := ic.Imm("a")
	if n < 24 || n > 256 || n%8 != 0 {
		return fmt.Sprintf("Argument 0 of instruction 'setmaxnreg': unexpected value '%d', expected to be a multiple of 8 in the range 24..256", n)
	}
	return ""
}

// rulePMEvent: events are numbered 0 to 15.
func rulePMEvent(ic *instCheck) string {
	if n, _ := ic.Imm("a"); n > 15 {
		return fmt.Sprintf("Argument 0 of instruction 'pmevent': unexpected value '%d', expected to be in the range 0..15", n)
	}
	return ""
}

// ruleMovVar: the address of a function or entry, and that of a parameter, have versions of their own.
func ruleMovVar(ic *instCheck) string {
	a := ic.Arg("a")
	if a.Kind != ArgSym {
		return ""
	}
	switch {
	case a.Func != nil && a.Func.Entry:
		return ic.NeedPTX("Taking the address of an entry function", 31)
	case a.Var != nil && a.Var.Space == "param" && a.Var.Func != nil && a.Var.Func.Entry:
		return ic.NeedPTX("Taking the address of a kernel parameter", 22)
	}
	return ""
}

// ruleCall checks a call's arguments against the callee's signature and resolves them with its types.
func ruleCall(ic *instCheck) string {
	var returns, params []*Var
	f, t := ic.Arg("f"), ic.Arg("p")
	switch {
	case f.Func != nil:
		returns, params = f.Func.Returns, f.Func.Params
		if t != nil {
			return ic.Mismatch()
		}
	case t == nil:
		return "Indirect call without call prototype or call target list"
	case t.Table.Proto != nil:
		returns, params = t.Table.Proto.Returns, t.Table.Proto.Params
	case len(t.Table.Funcs) > 0:
		returns, params = t.Table.Funcs[0].Returns, t.Table.Funcs[0].Params
	default:
		return ic.Mismatch()
	}
	if text := ic.callList("d", returns, true); text != "" {
		return text
	}
	return ic.callList("a", params, false)
}

// callList checks one parenthesised list of a call.
func (ic *instCheck) callList(name string, formal []*Var, results bool) string {
	var elems []ptx.Operand
	if l, ok := ic.Source(name).(*ptx.List); ok {
		elems = l.Elems
	}
	n := len(formal)
	variadic := !results && n > 0 && len(formal[n-1].Dims) > 0 && formal[n-1].Dims[0] < 0
	if len(elems) != n && !(variadic && len(elems) == n-1) {
		return "Call has wrong number of parameters"
	}
	if len(elems) == 0 {
		return ""
	}
	arg := ic.Arg(name)
	resolved := ic.c.takeArgs(len(elems))
	ic.c.rest(arg).Elems = resolved
	for i, e := range elems {
		if text := ic.callArg(e, formal[i], results, variadic && i == n-1, &resolved[i]); text != "" {
			return text
		}
	}
	return ""
}

// callArg checks one argument: a .param variable of the same size, or a register or constant of the parameter's type.
func (ic *instCheck) callArg(e ptx.Operand, formal *Var, result, rest bool, out *Arg) string {
	c := ic.c
	mismatch := fmt.Sprintf("Type of argument does not match formal parameter '%s'", formal.Name)
	if id, ok := e.(*ptx.Ident); ok {
		if sym, found := c.find(id.Name); found && sym.v != nil && sym.v.Space == "param" {
			v := sym.v
			*out = newArg(c.position(nil, v.Type.Name), id.Pos)
			out.Kind, out.Var = ArgSym, v
			if formal.Space != "param" {
				return mismatch
			}
			if rest {
				return ""
			}
			align := ""
			if v.Align != formal.Align {
				align = fmt.Sprintf("Alignment of argument does not match formal parameter '%s'", formal.Name)
			}
			if v.Size != formal.Size || len(v.Dims) == 0 && len(formal.Dims) == 0 && !classesAgree(v.Type, formal.Type) {
				if align != "" {
					ic.Errorf("%s", mismatch)
					return align
				}
				return mismatch
			}
			return align
		}
	}
	if _, ok := e.(*ptx.Sink); ok && result {
		*out = newArg(optab.NoPosition(), e.Position())
		return ""
	}
	if len(formal.Dims) > 0 {
		return mismatch
	}
	op := callOperand(result)
	s := spec{op: op, kind: optab.KindType, typ: formal.Type, at: c.position(op, formal.Type.Name)}
	if formal.Type.Class == optab.Pred {
		s.kind = optab.KindPred
	}
	if formal.Vec > 1 {
		s.kind, s.n = optab.KindVec, formal.Vec
	}
	if p := c.operand(&s, e, out); p.code != pOK {
		if p.code == pMismatch {
			return mismatch
		}
		return c.problemText(p, ic.AST)
	}
	return ""
}

var (
	callResult   = optab.Operand{Name: "d", Dst: true, Sink: true}
	callArgument = optab.Operand{Name: "a"}
)

func callOperand(result bool) *optab.Operand {
	if result {
		return &callResult
	}
	return &callArgument
}
