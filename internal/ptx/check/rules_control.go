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
	variadic := !results && n > 0 && len(formal[n-1].Dims) > 0 && formal[n-1].Dims[0] == 0
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
		ic.callArg(e, formal[i], results, &resolved[i])
	}
	return ""
}

// callArg checks one argument: a variable of the formal parameter's size and alignment, of a type that agrees with its
// where neither is a vector; or a constant.
func (ic *instCheck) callArg(e ptx.Operand, formal *Var, result bool, out *Arg) {
	c := ic.c
	fault := func(format, name string) { ic.Errorf(format+" '%s'", name) }
	mismatch := func() { fault("Type of argument does not match formal parameter", formal.Name) }
	misaligned := func() { fault("Alignment of argument does not match formal parameter", formal.Name) }
	*out = newArg(optab.NoPosition(), e.Position())
	op := callOperand(result)
	s := spec{op: op, kind: optab.KindType, typ: formal.Type, n: formal.Vec}
	if id, ok := e.(*ptx.Ident); ok && id.Comp != "" { // none in the grammar of calls (recorded)
		c.fatal(id.Pos, "Parsing error near '.%s': syntax error", id.Comp)
		return
	} else if ok {
		sym, found := c.find(id.Name)
		if v := sym.v; found && v != nil && (v.Space == "param" || v.Space == "reg") {
			array := len(formal.Dims) > 0
			if array && formal.Dims[0] == 0 && v.Space == "param" {
				*out = newArg(c.position(nil, v.Type.Name), id.Pos)
				out.Kind, out.Var = ArgSym, v
				return
			}
			if v.Space != formal.Space && (array || len(v.Dims) > 0) {
				fault("Inconsistent state space for parameter", v.Name)
			}
			vector := v.Vec > 1 || formal.Vec > 1
			same := v.Size == formal.Size && array == (len(v.Dims) > 0) &&
				(array || vector || classesAgree(v.Type, formal.Type))
			if !same {
				mismatch()
			}
			aligned := alignOf(v) == alignOf(formal)
			if !aligned {
				misaligned()
			}
			if !same || !aligned {
				return
			}
			if v.Space == "param" {
				*out = newArg(c.position(nil, v.Type.Name), id.Pos)
				out.Kind, out.Var = ArgSym, v
				return
			}
			if v.Vec == formal.Vec {
				s.typ = v.Type
			}
		}
	}
	if _, ok := e.(*ptx.Sink); ok && result {
		return
	}
	if len(formal.Dims) > 0 {
		mismatch()
		return
	}
	switch {
	case s.typ.Class == optab.Predicate:
		s.kind = optab.KindPred
	case formal.Vec > 1:
		s.kind = optab.KindVec
	}
	s.at = c.position(op, s.typ.Name)
	switch p := c.operand(&s, e, out); p.code {
	case pOK:
	case pMismatch:
		mismatch()
	case pUnknown:
		fault("Illegal argument for formal parameter", formal.Name)
		mismatch()
		misaligned()
		c.later(out.Pos, Semantic, "Unknown symbol '%s'", p.name)
	default:
		ic.Errorf("%s", c.problemText(p, ic.AST))
	}
}

// alignOf is the alignment of a variable; to a call a predicate is a word.
func alignOf(v *Var) uint64 {
	if v.Type.Class == optab.Predicate {
		return 4
	}
	return v.Align
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
