package check

import (
	"fmt"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// classesAgree is the rule for operands of equal width (PTX ISA 9.5, "Type Checking Rules"): untyped bits agree with
// all, integers of both signs with each other.
func classesAgree(reg, typ *optab.Type) bool {
	if reg.Bits != typ.Bits || (reg.Class == optab.Predicate) != (typ.Class == optab.Predicate) {
		return false
	}
	isInt := func(c optab.Class) bool { return c == optab.Unsigned || c == optab.Signed }
	switch typ.Class {
	case optab.Bits, optab.Predicate:
		return true
	case optab.Unsigned, optab.Signed:
		return reg.Class != optab.Float && (reg.Class != optab.Packed || isInt(laneClass(reg)))
	case optab.Float:
		return reg.Class == optab.Bits || reg.Class == optab.Float && reg.Name == typ.Name
	case optab.Packed:
		return reg.Class == optab.Bits || reg.Class == optab.Packed && (reg.Name == typ.Name || isInt(laneClass(typ)))
	}
	return false
}

// laneClass is the class of the lanes of packed integers, Packed for other formats.
func laneClass(t *optab.Type) optab.Class {
	switch t.Name {
	case "u16x2", "u8x4", "u8x2":
		return optab.Unsigned
	case "s16x2", "s8x4":
		return optab.Signed
	}
	return optab.Packed
}

// fits says whether a register of type reg may stand at a position of type s.typ.
func (s *spec) fits(reg *optab.Type) bool {
	if s.op != nil && (s.op.Type == "T" || s.op.Type == "U" && s.op.Wider) && reg.Class == optab.Packed &&
		(s.typ.Class == optab.Unsigned || s.typ.Class == optab.Signed) &&
		(reg.Bits == s.typ.Bits || s.op.Wider && reg.Bits > s.typ.Bits) {
		// ptxas 13.0 takes a packed register where the instruction's own type is an integer (testdata/ptxas.txt)
		return true
	}
	if s.op != nil && s.op.Wider && !s.exact && reg.Bits > s.typ.Bits && s.typ.Class != optab.Predicate &&
		reg.Class != optab.Predicate {
		switch s.typ.Class { // PTX ISA 9.4.1, relaxed type checking
		case optab.Bits:
			return true
		case optab.Unsigned, optab.Signed:
			return reg.Class == optab.Bits || reg.Class == optab.Unsigned || reg.Class == optab.Signed
		}
		return reg.Class == optab.Bits
	}
	return classesAgree(reg, s.typ)
}

func (s *spec) dst() bool { return s.op != nil && s.op.Dst }

// operand resolves one operand and checks it against its position.
func (c *checker) operand(s *spec, a ptx.Operand, out *Arg) problem {
	*out = newArg(s.at, a.Position())
	if _, ok := a.(*ptx.Sink); ok {
		switch {
		case s.op != nil && s.op.Sink:
			return problem{}
		case s.dst():
			return problem{code: pDiscard, pos: out.Pos}
		}
		return problem{code: pMismatch, pos: out.Pos}
	}
	if p, ok := a.(*ptx.Pair); ok {
		if s.kind == optab.KindAny {
			return c.loose(s, a, out)
		}
		if s.pair == nil {
			return problem{code: pMismatch, pos: out.Pos}
		}
		first := *s
		first.pair = nil
		if pr := c.operand(&first, p.First, out); pr.code != pOK {
			return pr
		}
		second := c.takeArgs(1)
		if pr := c.operand(s.pair, p.Second, &second[0]); pr.code != pOK {
			return pr
		}
		c.rest(out).Second = &second[0]
		return problem{}
	}
	if s.pair != nil && !s.pair.op.Optional {
		return problem{code: pMismatch, pos: out.Pos}
	}
	switch s.kind {
	case optab.KindType:
		return c.typed(s, a, out)
	case optab.KindPred:
		return c.pred(s, a, out)
	case optab.KindMem:
		return c.address(s, a, out)
	case optab.KindVec:
		return c.vector(s, a, out)
	case optab.KindImm:
		v, p := c.evalAt(a)
		if p.code != pOK {
			return p
		}
		if v.isSym() {
			return problem{code: pMismatch, pos: out.Pos}
		}
		return c.immediate(s, &v, out)
	case optab.KindLabel:
		id, ok := a.(*ptx.Ident)
		if !ok || id.Comp != "" {
			return problem{code: pLabel, pos: out.Pos}
		}
		sym, ok := c.find(id.Name)
		if !ok {
			return problem{code: pUnknownLabel, pos: out.Pos, name: id.Name}
		}
		if sym.l == nil {
			return problem{code: pLabel, pos: out.Pos}
		}
		out.Kind, c.rest(out).Label = ArgLabel, sym.l
		return problem{}
	case optab.KindFunc:
		id, ok := a.(*ptx.Ident)
		if !ok || id.Comp != "" {
			return problem{code: pTarget, pos: out.Pos}
		}
		sym, ok := c.find(id.Name)
		switch {
		case !ok:
			return problem{code: pUnknownFunc, pos: out.Pos, name: id.Name}
		case sym.f != nil && sym.f.Entry:
			return problem{code: pTarget, pos: out.Pos}
		case sym.f != nil:
			out.Kind, c.rest(out).Func = ArgSym, sym.f
			c.useFunc(sym.f)
		case sym.v != nil && sym.v.Space == "reg" && (sym.v.Type.Bits == 64 || sym.v.Type.Bits == 32) &&
			sym.v.Type.Class <= optab.Signed:
			out.Kind, out.Var = ArgReg, sym.v
		default:
			return problem{code: pTarget, pos: out.Pos, name: "variable"}
		}
		return problem{}
	case optab.KindProto:
		id, ok := a.(*ptx.Ident)
		if !ok {
			return problem{code: pMismatch, pos: out.Pos}
		}
		sym, ok := c.find(id.Name)
		if !ok {
			return problem{code: pUnknown, pos: out.Pos, name: id.Name}
		}
		if sym.t == nil {
			return problem{code: pMismatch, pos: out.Pos}
		}
		out.Kind, c.rest(out).Table = ArgTable, sym.t
		return problem{}
	case optab.KindList:
		if _, ok := a.(*ptx.List); !ok {
			return problem{code: pMismatch, pos: out.Pos}
		}
		out.Kind = ArgList // its elements' types are the business of the rule
		return problem{}
	case optab.KindTex, optab.KindSurf:
		if _, ok := a.(*ptx.Addr); !ok {
			return problem{code: pMismatch, pos: out.Pos}
		}
	}
	return c.loose(s, a, out)
}

// register resolves a component or selector of a register.
func (c *checker) register(s *spec, id *ptx.Ident, v *Var, out *Arg) problem {
	out.Kind, out.Var = ArgReg, v
	if id.Comp == "" {
		if v.Vec > 1 {
			return problem{code: pMismatch, pos: id.Pos}
		}
		return problem{}
	}
	if v.Vec > 1 {
		i := componentIndex(id.Comp)
		if i < 0 {
			return problem{code: pText, pos: id.Pos, name: "Unknown vector selector: '" + id.Comp + "'"}
		}
		out.Var = v.Elems[:4][i] // beyond the vector too: the driver takes .z of a .v2
		return problem{}
	}
	if s == nil || !s.video || !selector(id.Comp) {
		return problem{code: pMismatch, pos: id.Pos}
	}
	c.rest(out).Comp = id.Comp
	return problem{}
}

func componentIndex(comp string) int {
	switch comp {
	case "x", "r":
		return 0
	case "y", "g":
		return 1
	case "z", "b":
		return 2
	case "w", "a":
		return 3
	}
	return -1
}

// selector says whether a component selects bytes or half-words of a video operand.
func selector(comp string) bool {
	if len(comp) < 2 || len(comp) > 5 {
		return false
	}
	top := byte('7')
	switch comp[0] {
	case 'b':
	case 'h':
		top = '3'
	default:
		return false
	}
	for i := 1; i < len(comp); i++ {
		if comp[i] < '0' || comp[i] > top {
			return false
		}
	}
	return true
}

// typed checks an operand of a fundamental type.
func (c *checker) typed(s *spec, a ptx.Operand, out *Arg) problem {
	switch a := a.(type) {
	case *ptx.Ident:
		sym, ok := c.find(a.Name)
		if !ok {
			if a.Name == "WARP_SZ" && a.Comp == "" && !s.dst() {
				break
			}
			return c.special(s, a, out)
		}
		if v := sym.v; v != nil && v.Space == "reg" {
			if p := c.register(s, a, v, out); p.code != pOK {
				return p
			}
			if !s.fits(out.Var.Type) {
				return problem{code: pMismatch, pos: a.Pos}
			}
			return problem{}
		}
	case *ptx.Neg:
		if id, ok := a.X.(*ptx.Ident); ok && !s.dst() {
			switch p := c.typed(s, id, out); {
			case p.code != pOK || out.Kind != ArgReg && out.Kind != ArgSReg:
			case s.video && out.Kind == ArgReg:
				out.Neg = true
				return p
			default:
				return problem{code: pText, pos: out.Pos, name: noNegation}
			}
		}
		return problem{code: pMismatch, pos: out.Pos}
	case *ptx.Int:
		if s.dst() {
			return problem{code: pText, pos: a.Pos, name: resultRegister}
		}
		if s.op != nil && s.op.RegOnly {
			return problem{code: pMismatch, pos: a.Pos}
		}
		v := value{c: ptx.Const{Kind: ptx.ConstS64, Bits: a.Value}}
		return c.immediate(s, &v, out)
	case *ptx.Vector:
		if s.braces && len(a.Elems) == 1 {
			return c.operand(s, a.Elems[0], out)
		}
		return problem{code: pMismatch, pos: out.Pos}
	case *ptx.Expr:
		if id, ok := ptx.Summand(a); ok {
			return c.sum(s, a, id, out)
		}
	case *ptx.Float, *ptx.Index:
	default:
		return problem{code: pMismatch, pos: out.Pos}
	}
	if s.dst() || s.op != nil && s.op.RegOnly {
		return problem{code: pMismatch, pos: out.Pos}
	}
	v, p := c.evalAt(a)
	if p.code != pOK {
		return p
	}
	return c.immediate(s, &v, out)
}

// sum checks a name plus a constant, which the driver takes for an operand of any instruction: the grammar of the
// manual has such sums in addresses alone (PTX ISA 6.4.1). It is the sum in the register's type. A special register or
// a symbol may stand in it even where it may not stand alone.
func (c *checker) sum(s *spec, e *ptx.Expr, id *ptx.Ident, out *Arg) problem {
	switch {
	case s.dst():
		return problem{code: pText, pos: out.Pos, name: resultRegister}
	case s.video: // what the driver's compiler expands them to is no text that it takes (recorded)
		return problem{code: pMismatch, pos: out.Pos}
	}
	named := *s
	named.sreg, named.sym = true, true
	sym, found := c.find(id.Name)
	switch {
	case !found:
		if p := c.special(&named, id, out); p.code != pOK {
			return p
		}
	case sym.v == nil || sym.v.Space != "reg":
		v, p := c.evalAt(e)
		if p.code != pOK {
			return p
		}
		return c.immediate(&named, &v, out)
	default:
		if p := c.register(s, id, sym.v, out); p.code != pOK {
			return p
		}
		// Nobody knows what the sum of a floating-point register is: most ways to write one end the driver's process
		// (recorded).
		if t := out.Var.Type; !s.fits(t) || t.Class > optab.Signed || t.Bits < 8 || t.Bits > 64 {
			return problem{code: pMismatch, pos: out.Pos}
		}
	}
	v, p := c.evalAt(e.Y)
	if p.code == pOK && !v.isInt() {
		return problem{code: pText, pos: out.Pos, name: integerExpected}
	}
	out.Off = int64(v.c.Bits)
	return p
}

// evalAt evaluates an operand and turns a fault into a problem.
func (c *checker) evalAt(a ptx.Operand) (value, problem) {
	v, fault, unknown := c.eval(a)
	switch {
	case fault == "":
		return v, problem{}
	case unknown != "":
		return v, problem{code: pUnknown, pos: a.Position(), name: unknown}
	case fault == notConstant:
		return v, problem{code: pMismatch, pos: a.Position()}
	}
	return v, problem{code: pText, pos: a.Position(), name: fault}
}

// Texts with the instruction's name.
const (
	resultRegister = "Result register required for instruction '%s'" // a constant or a sum where the result goes
	noNegation     = "Operand negation not allowed for instruction '%s'"
)

// immediate fills out with a constant or an address.
func (c *checker) immediate(s *spec, v *value, out *Arg) problem {
	if v.isSym() {
		if s.typ.Class > optab.Signed || s.typ.Bits < 32 || v.generic || v.masked {
			return problem{code: pMismatch, pos: out.Pos}
		}
		if !s.sym {
			return problem{code: pReg, pos: out.Pos}
		}
		if x := v.sym.v; x != nil {
			if x.Space == "param" && x.Func != nil && x.role == roleNone {
				return problem{code: pText, pos: out.Pos, name: "Illegal to take address of parameter '" + x.Name + "'"}
			}
			if s.typ.Bits == 32 && x.Space == "global" {
				c.narrow = true
			}
		} else if s.typ.Bits == 32 {
			c.narrow = true
		}
		c.symbolic(out, v)
		return problem{}
	}
	if laneClass(s.typ) != optab.Packed && s.typ.Class == optab.Packed {
		return problem{code: pMismatch, pos: out.Pos}
	}
	b, ok := v.bitsAs(s.typ, false)
	if !ok {
		return problem{code: pMismatch, pos: out.Pos}
	}
	if s.lower && v.c.Kind == ptx.ConstF64 {
		b = uint64(uint32(v.c.Bits))
	}
	out.Kind, out.Imm = ArgImm, b
	if s.typ.Bits == 128 && v.c.Kind == ptx.ConstS64 && int64(v.c.Bits) < 0 {
		c.rest(out).Hi = ^uint64(0)
	}
	return problem{}
}

// symbolic makes out the address of a symbol plus a constant.
func (c *checker) symbolic(out *Arg, v *value) {
	out.Kind, out.Off = ArgSym, int64(v.c.Bits)
	if out.Var = v.sym.v; out.Var != nil {
		c.useVar(out.Var)
	} else {
		c.rest(out).Func = v.sym.f
		c.useFunc(v.sym.f)
	}
}

// special resolves a special register.
func (c *checker) special(s *spec, id *ptx.Ident, out *Arg) problem {
	r, ok := findSReg(id.Name)
	if !ok {
		return problem{code: pUnknown, pos: id.Pos, name: id.Name}
	}
	switch {
	case s.dst():
		return problem{code: pText, pos: id.Pos, name: "Read-only special register cannot be destination argument"}
	case !s.sreg:
		return problem{code: pSReg, pos: id.Pos}
	case id.Comp != "" && componentIndex(id.Comp) < 0:
		return problem{code: pText, pos: id.Pos, name: "Unknown vector selector: '" + id.Comp + "'"}
	case id.Comp == "" && r.vec:
		return problem{code: pVector, pos: id.Pos}
	case id.Comp != "" && !r.vec:
		return problem{code: pMismatch, pos: id.Pos}
	case s.typ.Class == optab.Float:
		return problem{code: pSReg, pos: id.Pos}
	}
	if !r.reads(optab.FindType(r.typ), s.typ) {
		return problem{code: pMismatch, pos: id.Pos}
	}
	if c.m.Target.PTX < r.ptx {
		return problem{code: pFeature, pos: id.Pos, name: needPTX(r.name, r.ptx)}
	}
	if c.m.Target.SM < r.sm {
		return problem{code: pFeature, pos: id.Pos, name: needSM(r.name, r.sm)}
	}
	name := id.Name
	if id.Comp != "" {
		name += "." + component[componentIndex(id.Comp):componentIndex(id.Comp)+1]
	}
	out.Kind, c.rest(out).Name = ArgSReg, name
	return problem{}
}

// pred checks a predicate operand.
func (c *checker) pred(s *spec, a ptx.Operand, out *Arg) problem {
	neg := false
	if n, ok := a.(*ptx.Not); ok {
		if s.dst() {
			return problem{code: pMismatch, pos: out.Pos}
		}
		a, neg = n.X, true
	}
	switch a := a.(type) {
	case *ptx.Ident:
		sym, ok := c.find(a.Name)
		if !ok {
			p := c.special(s, a, out)
			if p.code == pOK && neg {
				return problem{code: pMismatch, pos: a.Pos}
			}
			return p
		}
		if sym.v == nil || sym.v.Space != "reg" || sym.v.Type.Class != optab.Predicate || a.Comp != "" {
			return problem{code: pMismatch, pos: a.Pos}
		}
		out.Kind, out.Var, out.Neg = ArgReg, sym.v, neg
		return problem{}
	case *ptx.Int, *ptx.Expr:
		if s.dst() || s.op != nil && s.op.RegOnly {
			return problem{code: pMismatch, pos: out.Pos}
		}
		v, p := c.evalAt(a)
		if p.code != pOK {
			return p
		}
		if !v.isInt() {
			return problem{code: pMismatch, pos: out.Pos}
		}
		if neg {
			v.c = ptx.Const{Bits: b2u(v.c.Bits == 0)}
		}
		return c.immediate(s, &v, out)
	}
	return problem{code: pMismatch, pos: out.Pos}
}

// vector checks "{a, b}", a vector register, or for v? a single element.
func (c *checker) vector(s *spec, a ptx.Operand, out *Arg) problem {
	elem := *s
	elem.kind, elem.n = optab.KindType, 0
	if s.typ.Class == optab.Predicate {
		elem.kind = optab.KindPred
	}
	switch a := a.(type) {
	case *ptx.Vector:
		if s.n > 0 && len(a.Elems) != s.n {
			return problem{code: pVector, pos: a.Pos}
		}
		if p := c.alike(a); p.code != pOK {
			return p
		}
		if s.load || s.store {
			elem.typ = c.vectorType(a, s.typ)
		}
		out.Kind = ArgVec
		elems := c.takeArgs(len(a.Elems))
		c.rest(out).Elems = elems
		for i, e := range a.Elems {
			o := &elems[i]
			if _, sink := e.(*ptx.Sink); sink && s.dst() { // "_" stands for an element that is not wanted
				*o = newArg(s.at, e.Position())
				continue
			}
			if p := c.operand(&elem, e, o); p.code != pOK {
				return p
			}
		}
		return problem{}
	case *ptx.Ident:
		sym, ok := c.find(a.Name)
		if !ok {
			return c.specialVector(s, a, out)
		}
		if v := sym.v; v != nil && v.Space == "reg" && v.Vec > 1 && a.Comp == "" && (s.n < 0 || s.n == v.Vec) {
			if !elem.fits(v.Type) {
				return problem{code: pMismatch, pos: a.Pos}
			}
			c.components(out, v, s.at, a.Pos)
			return problem{}
		}
	}
	if s.n < 0 {
		return c.operand(&elem, a, out)
	}
	if s.dst() {
		return problem{code: pVector, pos: out.Pos, name: "result"}
	}
	return problem{code: pVector, pos: out.Pos}
}

// The faults of elements that do not go together.
const (
	mixedVector = "Vector with elements of different types are not allowed in %s instruction"
	widthVector = "Incompatible elements of vector expression"
)

// alike refuses vectors of registers of several widths or classes. Untyped bits agree with all, integers of both signs
// with each other (ptxas 13.0).
func (c *checker) alike(a *ptx.Vector) problem {
	var first, typed *optab.Type
	for _, e := range a.Elems {
		id, ok := e.(*ptx.Ident)
		if !ok {
			continue
		}
		sym, ok := c.find(id.Name)
		if !ok || sym.v == nil || sym.v.Space != "reg" || sym.v.Vec > 1 && id.Comp == "" {
			continue
		}
		t := sym.v.Type
		if first == nil {
			first = t
		}
		if t.Bits != first.Bits {
			return problem{code: pText, pos: a.Pos, name: widthVector}
		}
		if t.Class == optab.Bits {
			continue
		}
		if typed == nil {
			typed = t
		}
		if integers := t.Class <= optab.Signed && typed.Class <= optab.Signed &&
			t.Class != optab.Bits; t.Name != typed.Name && !integers {
			return problem{code: pText, pos: a.Pos, name: mixedVector}
		}
	}
	return problem{}
}

// vectorType is what the registers of a vector that is loaded or stored are checked against: ptxas 13.0 takes one with
// an untyped element, and one of integers or packed values, for every type of their width (testdata/ptxas.txt).
func (c *checker) vectorType(a *ptx.Vector, typ *optab.Type) *optab.Type {
	integers := true
	for _, e := range a.Elems {
		id, ok := e.(*ptx.Ident)
		if !ok {
			continue
		}
		sym, ok := c.find(id.Name)
		if !ok || sym.v == nil || sym.v.Space != "reg" {
			return typ
		}
		if sym.v.Type.Class == optab.Bits {
			return bitsType(typ)
		}
		integers = integers && (sym.v.Type.Class <= optab.Signed ||
			sym.v.Type.Class == optab.Packed && typ.Class <= optab.Signed)
	}
	if integers {
		return bitsType(typ)
	}
	return typ
}

// bitsType is the untyped type of a type's width.
func bitsType(t *optab.Type) *optab.Type { return optab.FindType(fmt.Sprintf("b%d", t.Bits)) }

// components makes out the vector of a vector register's components.
func (c *checker) components(out *Arg, v *Var, at *optab.Position, pos ptx.Pos) {
	elems := c.takeArgs(len(v.Elems))
	out.Kind, c.rest(out).Elems = ArgVec, elems
	for i, e := range v.Elems {
		elems[i] = newArg(at, pos)
		elems[i].Kind, elems[i].Var = ArgReg, e
	}
}

// specialVector resolves a special register with components as a vector: mov.v4.u32 {...}, %tid.
func (c *checker) specialVector(s *spec, id *ptx.Ident, out *Arg) problem {
	r, ok := findSReg(id.Name)
	switch {
	case !ok:
		return problem{code: pUnknown, pos: id.Pos, name: id.Name}
	case s.dst(), !s.sreg, !r.vec, id.Comp != "", s.n > 4:
		return c.special(s, id, out)
	}
	elems := c.takeArgs(max(s.n, 1))
	out.Kind, c.rest(out).Elems = ArgVec, elems
	for i := range elems {
		comp := *id
		comp.Comp = component[i : i+1]
		elems[i] = newArg(s.at, id.Pos)
		if p := c.special(s, &comp, &elems[i]); p.code != pOK {
			return p
		}
	}
	return problem{}
}

// loose resolves an operand whose types the form does not know: coordinates of textures, operands of kind any.
func (c *checker) loose(s *spec, a ptx.Operand, out *Arg) problem {
	var op *optab.Operand
	if s != nil {
		op = s.op
	}
	*out = newArg(c.position(op, ""), a.Position())
	list := func(from []ptx.Operand) problem {
		elems := c.takeArgs(len(from))
		c.rest(out).Elems = elems
		for i, e := range from {
			if p := c.loose(s, e, &elems[i]); p.code != pOK {
				return p
			}
		}
		return problem{}
	}
	switch a := a.(type) {
	case *ptx.Sink:
		return problem{}
	case *ptx.Vector:
		out.Kind = ArgVec
		return list(a.Elems)
	case *ptx.List:
		out.Kind = ArgList
		return list(a.Elems)
	case *ptx.Pair:
		if p := c.loose(s, a.First, out); p.code != pOK {
			return p
		}
		second := c.takeArgs(1)
		c.rest(out).Second = &second[0]
		return c.loose(s, a.Second, &second[0])
	case *ptx.Not:
		if p := c.loose(s, a.X, out); p.code != pOK {
			return p
		}
		if out.Kind != ArgReg || out.Var.Type.Class != optab.Predicate {
			return problem{code: pMismatch, pos: out.Pos}
		}
		out.Neg = true
		return problem{}
	case *ptx.Neg:
		if id, ok := a.X.(*ptx.Ident); ok {
			if p := c.loose(s, id, out); p.code != pOK {
				return p
			}
			if out.Kind == ArgReg {
				out.Neg = true
				return problem{}
			}
		}
	case *ptx.Addr:
		var m spec
		if s != nil {
			m = *s
		}
		return c.address(&m, a, out)
	case *ptx.Ident:
		sym, ok := c.find(a.Name)
		switch {
		case !ok:
			if a.Name == "WARP_SZ" && a.Comp == "" {
				break
			}
			if _, isS := findSReg(a.Name); isS {
				return problem{code: pSReg, pos: a.Pos}
			}
			return problem{code: pUnknown, pos: a.Pos, name: a.Name}
		case sym.l != nil:
			out.Kind, c.rest(out).Label = ArgLabel, sym.l
			return problem{}
		case sym.t != nil:
			out.Kind, c.rest(out).Table = ArgTable, sym.t
			return problem{}
		case sym.v != nil && sym.v.Space == "reg":
			v := sym.v
			if v.Vec > 1 && a.Comp == "" {
				c.components(out, v, out.Position, a.Pos)
				return problem{}
			}
			return c.register(s, a, v, out)
		}
	}
	v, p := c.evalAt(a)
	if p.code != pOK {
		return p
	}
	switch {
	case v.isSym():
		c.symbolic(out, &v)
	case v.c.IsFloat():
		out.Kind, out.Imm, out.Position = ArgImm, uint64(v.c.F32()), c.position(op, "f32")
	default:
		out.Kind, out.Imm, out.Position = ArgImm, v.c.Bits, c.position(op, "s64")
	}
	return problem{}
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
