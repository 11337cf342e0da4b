package ptx

import (
	"io"
	"strconv"
)

// Fprint writes m as PTX. Comments and the grouping of several names in one
// declaration are lost; otherwise reading the output again gives a tree equal
// to m but for positions.
func Fprint(w io.Writer, m *Module) error {
	p := printer{w: w}
	p.module(m)
	p.flush(0)
	return p.err
}

// String returns the instruction as PTX text.
func (in *Instr) String() string {
	var p printer
	p.instr(in)
	return string(p.buf)
}

// OperandString returns x as PTX text.
func OperandString(x Operand) string {
	var p printer
	p.operand(x)
	return string(p.buf)
}

type printer struct {
	w     io.Writer
	buf   []byte
	err   error
	level int
}

// flush writes the buffer out once it holds more than n bytes.
func (p *printer) flush(n int) {
	if len(p.buf) <= n {
		return
	}
	if p.err == nil {
		_, p.err = p.w.Write(p.buf)
	}
	p.buf = p.buf[:0]
}

func (p *printer) s(list ...string) {
	for _, s := range list {
		p.buf = append(p.buf, s...)
	}
}

func (p *printer) u(v uint64) { p.buf = strconv.AppendUint(p.buf, v, 10) }

func (p *printer) line() {
	p.buf = append(p.buf, '\n')
	for range p.level {
		p.buf = append(p.buf, '\t')
	}
}

func (p *printer) module(m *Module) {
	if m.HasVersion {
		p.s(".version ")
		p.u(uint64(m.Version.Major))
		p.s(".")
		p.u(uint64(m.Version.Minor))
		p.s("\n")
	}
	for i, t := range m.Target {
		if i == 0 {
			p.s(".target ")
		} else {
			p.s(", ")
		}
		p.s(t.Text)
	}
	p.s("\n")
	if m.AddressSize != 0 {
		p.s(".address_size ")
		p.u(uint64(m.AddressSize))
		p.s("\n")
	}
	for _, d := range m.Decls {
		switch d := d.(type) {
		case *Var:
			p.variable(d)
			p.s(";")
		case *Func:
			p.s("\n")
			p.function(d)
		case *Alias:
			p.s(".alias ", d.Name, ", ", d.Target, ";")
		case *FileDirective:
			p.file(d)
		case *Section:
			p.section(d)
		case *Pragma:
			p.pragma(d.Strings)
		case *Loc:
			p.loc(d)
		}
		p.s("\n")
		if p.w != nil {
			p.flush(1 << 16)
		}
	}
}

// quote writes a string with C escapes in ASCII.
func (p *printer) quote(s string) {
	p.buf = append(p.buf, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			p.buf = append(p.buf, '\\', c)
		case c == '\n':
			p.s(`\n`)
		case c == '\t':
			p.s(`\t`)
		case c < 0x20 || c >= 0x7f:
			p.buf = append(p.buf, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			p.buf = append(p.buf, c)
		}
	}
	p.buf = append(p.buf, '"')
}

func (p *printer) pragma(list []string) {
	p.s(".pragma ")
	for i, s := range list {
		if i > 0 {
			p.s(", ")
		}
		p.quote(s)
	}
	p.s(";")
}

func (p *printer) file(f *FileDirective) {
	p.s(".file ")
	p.u(f.Index)
	p.s(" ")
	p.quote(f.Name)
	if f.HasStamp {
		p.s(", ")
		p.u(f.Stamp)
	}
	if f.HasSize {
		p.s(", ")
		p.u(f.Size)
	}
}

func (p *printer) locAt(l *LocAt) {
	p.u(l.File)
	p.s(" ")
	p.u(l.SrcLine)
	p.s(" ")
	p.u(l.SrcCol)
}

func (p *printer) loc(l *Loc) {
	p.s(".loc ")
	p.locAt(&l.LocAt)
	if l.Function != nil {
		p.s(", function_name ")
		p.operand(l.Function)
	}
	if l.Inlined != nil {
		p.s(", inlined_at ")
		p.locAt(l.Inlined)
	}
}

func (p *printer) section(s *Section) {
	p.s(".section ", s.Name, " {")
	for i := range s.Items {
		p.line()
		it := &s.Items[i]
		if it.Label != "" {
			p.s(it.Label, ":")
			continue
		}
		p.s(".b")
		p.u(uint64(it.Width))
		p.s(" ")
		p.operands(it.Values)
	}
	p.line()
	p.s("}")
}

func (p *printer) attributes(list []Attribute) {
	if len(list) == 0 {
		return
	}
	p.s(" .attribute(")
	for i, a := range list {
		if i > 0 {
			p.s(", ")
		}
		p.s(".", a.Name)
		if len(a.Args) > 0 {
			p.s("(")
			p.values(a.Args)
			p.s(")")
		}
	}
	p.s(")")
}

func (p *printer) values(list []uint64) {
	for i, v := range list {
		if i > 0 {
			p.s(", ")
		}
		p.u(v)
	}
}

// variable writes a declaration without its end.
func (p *printer) variable(v *Var) {
	if v.Linkage != LinkNone {
		p.s(v.Linkage.String(), " ")
	}
	p.s(".", v.Space)
	if v.Bank >= 0 {
		p.s("[")
		p.u(uint64(v.Bank))
		p.s("]")
	}
	p.attributes(v.Attrs)
	if v.HasAlign {
		p.s(" .align ")
		p.u(v.Align)
	}
	if v.Vec != 0 {
		p.s(" .v")
		p.u(uint64(v.Vec))
	}
	p.s(" .", v.Type)
	if v.Ptr != nil {
		p.s(" .ptr")
		if v.Ptr.Space != "" {
			p.s(" .", v.Ptr.Space)
		}
		if v.Ptr.HasAlign {
			p.s(" .align ")
			p.u(v.Ptr.Align)
		}
	}
	p.s(" ", v.Name)
	if v.HasNum {
		p.s("<")
		p.u(v.Count)
		p.s(">")
	}
	for _, d := range v.Dims {
		p.s("[")
		if d > 0 {
			p.u(d)
		}
		p.s("]")
	}
	if v.Init != nil {
		p.s(" = ")
		p.operand(v.Init)
	}
}

func (p *printer) params(list []*Var) {
	p.s("(")
	for i, v := range list {
		if i > 0 {
			p.s(", ")
		}
		p.variable(v)
	}
	p.s(")")
}

func (p *printer) funcDirectives(list []FuncDirective) {
	for i := range list {
		d := &list[i]
		p.line()
		if d.Name == "pragma" {
			p.pragma(d.Strings)
			continue
		}
		p.s(".", d.Name)
		if len(d.Values) > 0 {
			p.s(" ")
			p.values(d.Values)
		}
	}
}

func (p *printer) function(f *Func) {
	if f.Linkage != LinkNone {
		p.s(f.Linkage.String(), " ")
	}
	if f.Kind == KindEntry {
		p.s(".entry")
	} else {
		p.s(".func")
	}
	p.attributes(f.Attrs)
	if f.HasReturn {
		p.s(" ")
		p.params(f.Returns)
	}
	p.s(" ", f.Name)
	if f.HasParams {
		p.params(f.Params)
	}
	p.funcDirectives(f.Directives)
	if f.Body == nil {
		p.s(";")
		return
	}
	p.line()
	p.block(f.Body)
}

func (p *printer) block(b *Block) {
	p.s("{")
	p.level++
	for _, s := range b.Stmts {
		p.line()
		p.stmt(s)
		if p.w != nil {
			p.flush(1 << 16)
		}
	}
	p.level--
	p.line()
	p.s("}")
}

func (p *printer) stmt(s Stmt) {
	switch s := s.(type) {
	case *Label:
		p.s(s.Name, ":")
	case *Instr:
		p.instr(s)
	case *Block:
		p.block(s)
	case *Var:
		p.variable(s)
		p.s(";")
	case *Loc:
		p.loc(s)
	case *Pragma:
		p.pragma(s.Strings)
	case *FileDirective:
		p.file(s)
	case *Section:
		p.section(s)
	case *BranchTargets:
		p.targets(s.Name, ".branchtargets", s.Labels)
	case *CallTargets:
		p.targets(s.Name, ".calltargets", s.Funcs)
	case *CallPrototype:
		p.label(s.Name)
		p.s(".callprototype ")
		if s.HasReturn {
			p.params(s.Returns)
			p.s(" ")
		}
		p.s("_")
		if s.HasParams {
			p.s(" ")
			p.params(s.Params)
		}
		p.funcDirectives(s.Directives)
		p.s(";")
	}
}

func (p *printer) label(name string) {
	if name != "" {
		p.s(name, ": ")
	}
}

func (p *printer) targets(name, directive string, list []*Ident) {
	p.label(name)
	p.s(directive, " ")
	for i, id := range list {
		if i > 0 {
			p.s(", ")
		}
		p.s(id.Name)
	}
	p.s(";")
}

func (p *printer) instr(in *Instr) {
	if g := in.Guard; g != nil {
		p.s("@")
		if g.Neg {
			p.s("!")
		}
		p.s(g.Reg.Name, " ")
	}
	p.s(in.Opcode())
	if len(in.Args) > 0 {
		p.s(" ")
		p.operands(in.Args)
	}
	p.s(";")
}

func (p *printer) operands(list []Operand) {
	for i, x := range list {
		if i > 0 {
			p.s(", ")
		}
		p.operand(x)
	}
}

func (p *printer) operand(x Operand) {
	switch x := x.(type) {
	case *Ident:
		p.s(x.Name)
		if x.Comp != "" {
			p.s(".", x.Comp)
		}
	case *Int:
		if x.Neg {
			p.s("-")
		}
		p.s(x.Text)
	case *Float:
		if x.Neg {
			p.s("-")
		}
		p.s(x.Text)
	case *Expr:
		p.expr(x)
	case *Addr:
		p.addr(x)
	case *Index:
		p.s(x.Name, "[")
		p.operand(x.X)
		p.s("]")
	case *Vector:
		p.s("{")
		p.operands(x.Elems)
		p.s("}")
	case *Pair:
		p.operand(x.First)
		p.s("|")
		p.term(x.Second, precUnary)
	case *Not:
		p.s("!")
		p.operand(x.X)
	case *Neg:
		p.s("-")
		p.operand(x.X)
	case *Sink:
		p.s("_")
	case *List:
		p.s("(")
		p.operands(x.Elems)
		p.s(")")
	case *InitList:
		p.s("{")
		p.operands(x.Elems)
		p.s("}")
	case *InitField:
		p.s(x.Name, " = ")
		p.operand(x.X)
	case *Generic:
		p.s("generic(")
		p.operand(x.X)
		p.s(")")
	case *Mask:
		p.operand(x.Mask)
		p.s("(")
		p.operand(x.X)
		p.s(")")
	}
}

func (p *printer) addr(a *Addr) {
	p.s("[")
	if a.Base != nil {
		p.operand(a.Base)
		if a.Offset != nil {
			p.s("+")
			p.term(a.Offset, precAdd+1)
		}
	} else if a.Offset != nil {
		p.operand(a.Offset)
	}
	for _, x := range a.Extra {
		p.s(", ")
		p.operand(x)
	}
	p.s("]")
	if a.Suffix != "" {
		p.s(".", a.Suffix)
	}
}

var opPrec = [...]int{
	OpPlus: precUnary, OpMinus: precUnary, OpLNot: precUnary, OpNot: precUnary, OpS64: precUnary, OpU64: precUnary,
	OpMul: precMul, OpDiv: precMul, OpRem: precMul, OpAdd: precAdd, OpSub: precAdd, OpShl: precShift, OpShr: precShift,
	OpLT: precRel, OpGT: precRel, OpLE: precRel, OpGE: precRel, OpEQ: precEQ, OpNE: precEQ,
	OpAnd: precAnd, OpXor: precXor, OpOr: precOr, OpLAnd: precLAnd, OpLOr: precLOr, OpCond: precCond,
}

// term writes x, in parentheses if it binds more loosely than prec.
func (p *printer) term(x Operand, prec int) {
	if e, ok := x.(*Expr); ok && (opPrec[e.Op] < prec || looksLikePair(e)) {
		p.s("(")
		p.bareExpr(e)
		p.s(")")
		return
	}
	p.operand(x)
}

// looksLikePair reports whether e would be read as "first|second".
func looksLikePair(e *Expr) bool {
	if e.Op != OpOr {
		return false
	}
	switch x := e.X.(type) {
	case *Ident:
		return !isWarpSize(x)
	case *Sink:
		return true
	}
	return false
}

func (p *printer) expr(e *Expr) {
	if looksLikePair(e) {
		p.s("(")
		p.bareExpr(e)
		p.s(")")
		return
	}
	p.bareExpr(e)
}

func (p *printer) bareExpr(e *Expr) {
	prec := opPrec[e.Op]
	switch {
	case e.Op == OpCond:
		p.term(e.X, precCond+1)
		p.s(" ? ")
		p.term(e.Y, precCond)
		p.s(" : ")
		p.term(e.Z, precCond)
	case e.Y == nil:
		p.s(e.Op.String())
		p.unaryOperand(e)
	default:
		p.term(e.X, prec)
		p.s(" ", e.Op.String(), " ")
		p.term(e.Y, prec+1)
	}
}

// unaryOperand writes the operand of a unary operator. A sign is set in
// parentheses, for "--" is an operator to some readers.
func (p *printer) unaryOperand(e *Expr) {
	signed := false
	switch x := e.X.(type) {
	case *Int:
		signed = x.Neg
	case *Float:
		signed = x.Neg
	case *Neg:
		signed = true
	case *Expr:
		signed = x.Op == OpMinus || x.Op == OpPlus
	}
	if signed {
		p.s("(")
		p.operand(e.X)
		p.s(")")
		return
	}
	p.term(e.X, precUnary)
}
