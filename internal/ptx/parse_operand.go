package ptx

import (
	"math"
	"strconv"
)

// operand reads one operand of an instruction.
func (p *parser) operand() Operand {
	switch p.tok.kind {
	case '[':
		return p.addr()
	case '{':
		v := p.vector()
		if p.tok.kind == '|' {
			return p.pair(v)
		}
		return v
	}
	x := p.unary()
	switch p.tok.kind {
	case ',', ';': // the usual end; spares the climb
		return x
	case '|':
		switch x := x.(type) {
		case *Ident:
			if !isWarpSize(x) {
				return p.pair(x)
			}
		case *Sink:
			return p.pair(x)
		}
	}
	return p.binaryAfter(x, precCond)
}

func (p *parser) pair(first Operand) Operand {
	p.next()
	return &Pair{Pos: first.Position(), First: first, Second: p.unary()}
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

// expr reads a constant or address expression.
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

// unary reads a primary operand with the operators before it.
func (p *parser) unary() Operand {
	pos := p.pos()
	switch p.tok.kind {
	case tIdent:
		return p.name()
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
		x := p.unaryDeeper()
		if id, ok := x.(*Ident); ok && !isWarpSize(id) {
			return &Not{Pos: pos, X: id}
		}
		return &Expr{Pos: pos, Op: OpLNot, X: x}
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

// negate applies a minus sign at pos: to a literal it belongs, to a register
// it is an operand modifier, elsewhere it is an operator.
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
	case *Ident:
		if !isWarpSize(x) {
			return &Neg{Pos: pos, X: x}
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

// name reads a name with what may follow it: component, index, and in
// initialisers generic(x).
func (p *parser) name() Operand {
	pos := p.pos()
	text := p.text()
	p.next()
	switch p.tok.kind {
	case tDot:
		if !p.inSection {
			id := p.idents.new()
			id.Pos, id.Name, id.Comp = pos, text, p.word()
			p.next()
			return id
		}
	case '[':
		p.next()
		p.enter()
		x := p.expr()
		p.leave()
		p.expect(']')
		return &Index{Pos: pos, Name: text, X: x}
	case '(':
		if p.inInit && text == "generic" {
			p.next()
			p.enter()
			x := p.expr()
			p.leave()
			p.expect(')')
			return &Generic{Pos: pos, X: x}
		}
	}
	if text == "_" {
		return &Sink{pos}
	}
	id := p.idents.new()
	id.Pos, id.Name = pos, text
	return id
}

func (p *parser) integer() Operand {
	n := p.ints.new()
	n.Pos = p.pos()
	n.Text = p.text()
	n.Value, n.Unsigned = p.intValue()
	p.next()
	if p.inInit && p.tok.kind == '(' {
		p.next()
		p.enter()
		x := p.expr()
		p.leave()
		p.expect(')')
		return &Mask{Pos: n.Pos, Mask: n, X: x}
	}
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
		p.args.push(p.operand())
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
	// The usual forms without the climb: [name] and [name+n].
	x := p.unary()
	if p.tok.kind == ']' {
		a.Base, a.Offset = SplitAddr(x)
	} else {
		a.Base, a.Offset = SplitAddr(p.binaryAfter(x, precCond))
	}
	if p.tok.kind == ',' {
		mark := p.args.mark()
		for p.accept(',') {
			p.args.push(p.operand())
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

// SplitAddr divides an address expression into its symbol or register and the
// constant that is added. Without a symbol on the path of additions the whole
// is the offset.
func SplitAddr(x Operand) (base, offset Operand) {
	switch x := x.(type) {
	case *Ident:
		if !isWarpSize(x) {
			return x, nil
		}
	case *Index:
		return x, nil
	case *Expr:
		if x.Op != OpAdd && x.Op != OpSub {
			break
		}
		if base, off := SplitAddr(x.X); base != nil {
			switch {
			case off != nil:
				return base, &Expr{Pos: off.Position(), Op: x.Op, X: off, Y: x.Y}
			case x.Op == OpSub:
				return base, negate(x.Y.Position(), x.Y)
			}
			return base, x.Y
		}
		if id, ok := x.Y.(*Ident); ok && x.Op == OpAdd && !isWarpSize(id) {
			return id, x.X
		}
	}
	return nil, x
}
