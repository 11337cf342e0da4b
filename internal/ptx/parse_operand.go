package ptx

import (
	"math"
	"strconv"
)

// operand reads one operand of an instruction: an address, a vector, a name, a name plus a constant, a name with "-" or
// "!" in front, or a constant expression, in which no name but WARP_SZ stands. The first may be two with "|" between
// them.
func (p *parser) operand(first bool) Operand {
	pos := p.pos()
	switch p.tok.kind {
	case '[':
		return p.addr()
	case '{':
		v := p.vector()
		if first && p.tok.kind == '|' {
			return p.pair(v)
		}
		return v
	case tIdent:
		if p.atWarpSize() {
			break
		}
		x := p.name()
		if first && p.tok.kind == '|' {
			switch x.(type) {
			case *Ident, *Sink:
				return p.pair(x)
			}
		}
		return p.plus(x)
	case '-':
		p.next()
		if p.atName() {
			return &Neg{Pos: pos, X: p.component()}
		}
		return p.binaryAfter(negate(pos, p.unaryDeeper()), precCond)
	case '!':
		p.next()
		if p.atName() {
			return &Not{Pos: pos, X: p.component()}
		}
		return p.binaryAfter(&Expr{Pos: pos, Op: OpLNot, X: p.unaryDeeper()}, precCond)
	}
	return p.expr()
}

// element reads what a vector and the list of a call have: a name or a constant expression.
func (p *parser) element() Operand {
	if p.atName() {
		return p.component()
	}
	return p.expr()
}

// plus reads the constant that may be added to a name.
func (p *parser) plus(x Operand) Operand {
	switch id := x.(type) {
	case *Generic:
	case *Ident:
		if id.Comp != "" {
			return x
		}
	default:
		return x
	}
	if !p.accept('+') {
		return x
	}
	p.enter()
	x = &Expr{Pos: x.Position(), Op: OpAdd, X: x, Y: p.expr()}
	p.leave()
	return x
}

func (p *parser) atWarpSize() bool { return p.tok.kind == tIdent && p.text() == warpSize }

// atName says whether a name stands here that is no constant.
func (p *parser) atName() bool { return p.tok.kind == tIdent && !p.atWarpSize() }

func (p *parser) pair(first Operand) Operand {
	p.next()
	if !p.atName() {
		p.unexpected()
	}
	return &Pair{Pos: first.Position(), First: first, Second: p.symbol()}
}

// Precedences of the operators, loosest first, as in C.
const (
	precCond = iota
	precLOr
	precLAnd
	precOr
	precXor
	precAnd
	precEQ
	precRel
	precShift
	precAdd
	precMul
	precUnary
)

// binaryOp maps a token to its operator and precedence; OpInvalid otherwise.
func binaryOp(k kind) (Op, int) {
	switch k {
	case tLOr:
		return OpLOr, precLOr
	case tLAnd:
		return OpLAnd, precLAnd
	case '|':
		return OpOr, precOr
	case '^':
		return OpXor, precXor
	case '&':
		return OpAnd, precAnd
	case tEQ:
		return OpEQ, precEQ
	case tNE:
		return OpNE, precEQ
	case '<':
		return OpLT, precRel
	case '>':
		return OpGT, precRel
	case tLE:
		return OpLE, precRel
	case tGE:
		return OpGE, precRel
	case tShl:
		return OpShl, precShift
	case tShr:
		return OpShr, precShift
	case '+':
		return OpAdd, precAdd
	case '-':
		return OpSub, precAdd
	case '*':
		return OpMul, precMul
	case '/':
		return OpDiv, precMul
	case '%':
		return OpRem, precMul
	}
	return OpInvalid, 0
}

// expr reads a constant expression.
func (p *parser) expr() Operand { return p.binary(precCond) }

// binary reads operators that bind at least as tightly as prec.
func (p *parser) binary(prec int) Operand {
	return p.binaryAfter(p.unary(), prec)
}

// binaryAfter goes on after a first operand.
func (p *parser) binaryAfter(x Operand, prec int) Operand {
	depth := p.depth
	for {
		if p.tok.kind == tIdent && p.src[p.tok.off] == '%' {
			p.splitRemainder(x)
		}
		op, opPrec := binaryOp(p.tok.kind)
		if op == OpInvalid || opPrec < prec {
			break
		}
		p.next()
		// Not left until the end: the tree grows deeper to the left as well.
		p.enter()
		x = &Expr{Pos: x.Position(), Op: op, X: x, Y: p.binary(opPrec + 1)}
	}
	if prec == precCond && p.tok.kind == '?' {
		p.next()
		p.enter()
		y := p.binary(precCond)
		p.expect(':')
		x = &Expr{Pos: x.Position(), Op: OpCond, X: x, Y: y, Z: p.binary(precCond)}
	}
	p.depth = depth
	return x
}

// splitRemainder makes "7 %3" a remainder: the scanner takes "%3" for a name.
// Only directly after a literal; after more than one operand the operator
// would get the wrong rank.
func (p *parser) splitRemainder(x Operand) {
	if _, ok := x.(*Int); ok && class[p.src[p.tok.off+1]]&cDigit != 0 {
		p.tok.kind, p.tok.end = '%', p.tok.off+1
		p.off = p.tok.end
	}
}

// unary reads a constant with the operators before it; in debug data it may be a label.
func (p *parser) unary() Operand {
	pos := p.pos()
	switch p.tok.kind {
	case tIdent:
		if p.inSection {
			return p.symbol()
		}
		if !p.atWarpSize() {
			p.unexpected()
		}
		p.next()
		return &Ident{Pos: pos, Name: warpSize}
	case tInt:
		return p.integer()
	case tFloat:
		return p.float()
	case '-':
		p.next()
		return negate(pos, p.unaryDeeper())
	case '+':
		p.next()
		return &Expr{Pos: pos, Op: OpPlus, X: p.unaryDeeper()}
	case '~':
		p.next()
		return &Expr{Pos: pos, Op: OpNot, X: p.unaryDeeper()}
	case '!':
		p.next()
		return &Expr{Pos: pos, Op: OpLNot, X: p.unaryDeeper()}
	case '(':
		return p.paren(pos)
	case tDot:
		if c := p.src[p.tok.off+1]; class[c]&cDigit != 0 {
			// ".5": a word after a dot to the scanner.
			p.off = p.tok.off
			p.number(&p.tok)
			f := p.float()
			// Printed first among the operands, ".5" would be a modifier.
			f.Text = "0" + f.Text
			return f
		}
		if p.inSection {
			id := p.idents.new()
			id.Pos, id.Name = pos, p.text()
			p.next()
			return id
		}
	}
	p.unexpected()
	return nil
}

func (p *parser) unaryDeeper() Operand {
	p.enter()
	x := p.unary()
	p.leave()
	return x
}

// negate applies a minus sign at pos: to a literal it belongs, elsewhere it is an operator.
func negate(pos Pos, x Operand) Operand {
	switch x := x.(type) {
	case *Int:
		if !x.Neg {
			x.Neg, x.Value, x.Pos = true, -x.Value, pos
			return x
		}
	case *Float:
		if !x.Neg {
			x.Neg, x.Pos = true, pos
			x.Bits ^= 1 << (x.Width - 1)
			return x
		}
	}
	return &Expr{Pos: pos, Op: OpMinus, X: x}
}

// paren reads "(x)" or a cast.
func (p *parser) paren(pos Pos) Operand {
	p.next()
	if p.tok.kind == tDot {
		op := OpInvalid
		switch p.word() {
		case "s64":
			op = OpS64
		case "u64":
			op = OpU64
		}
		if op != OpInvalid {
			p.next()
			p.expect(')')
			return &Expr{Pos: pos, Op: op, X: p.unaryDeeper()}
		}
	}
	p.enter()
	x := p.expr()
	p.leave()
	p.expect(')')
	return x
}

// name reads a name with a component or an index.
func (p *parser) name() Operand {
	x := p.component()
	id, ok := x.(*Ident)
	if !ok || id.Comp != "" || p.tok.kind != '[' {
		return x
	}
	p.next()
	p.enter()
	i := p.element()
	p.leave()
	p.expect(']')
	return &Index{Pos: id.Pos, Name: id.Name, X: i}
}

// component reads a name that may have a component.
func (p *parser) component() Operand {
	x := p.symbol()
	if id, ok := x.(*Ident); ok && p.tok.kind == tDot {
		id.Comp = p.word()
		p.next()
	}
	return x
}

// symbol reads a name alone.
func (p *parser) symbol() Operand {
	pos := p.pos()
	text := p.ident()
	if text == "_" {
		return &Sink{pos}
	}
	id := p.idents.new()
	id.Pos, id.Name = pos, text
	return id
}

func (p *parser) integer() *Int {
	n := p.ints.new()
	n.Pos = p.pos()
	n.Text = p.text()
	n.Value, n.Unsigned = p.intValue()
	p.next()
	return n
}

func (p *parser) float() *Float {
	f := &Float{Pos: p.pos(), Text: p.text()}
	f.Width = 64
	if len(f.Text) > 1 && f.Text[0] == '0' {
		switch f.Text[1] {
		case 'f', 'F':
			f.Width, f.Exact = 32, true
		case 'd', 'D':
			f.Exact = true
		}
	}
	if f.Exact {
		bits, err := strconv.ParseUint(f.Text[2:], 16, f.Width)
		if err != nil {
			p.unexpected()
		}
		f.Bits = bits
	} else {
		// A range error still gives infinity or zero, as in C.
		v, _ := strconv.ParseFloat(f.Text, 64)
		f.Bits = math.Float64bits(v)
	}
	p.next()
	return f
}

func (p *parser) vector() Operand {
	v := p.vectors.new()
	v.Pos = p.pos()
	p.next()
	p.enter()
	mark := p.args.mark()
	for {
		p.args.push(p.element())
		if !p.accept(',') {
			break
		}
	}
	p.leave()
	p.expect('}')
	v.Elems = p.args.take(mark)
	return v
}

// addr reads "[base+offset, extra...]" and what may follow.
func (p *parser) addr() Operand {
	a := p.addrs.new()
	a.Pos = p.pos()
	p.enter()
	p.next()
	if p.atName() {
		a.Base = p.symbol()
		if p.accept('+') {
			a.Offset = p.expr()
		}
	} else {
		a.Offset = p.expr()
	}
	if p.tok.kind == ',' {
		mark := p.args.mark()
		for p.accept(',') {
			if p.tok.kind == '{' {
				p.args.push(p.vector())
			} else {
				p.args.push(p.element())
			}
		}
		a.Extra = p.args.take(mark)
	}
	p.leave()
	p.expect(']')
	if p.isDot("unified") {
		a.Suffix = "unified"
		p.next()
	}
	return a
}
