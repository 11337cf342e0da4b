package ptx

import (
	"slices"
	"strings"
)

// block reads "{ statements }". Faults inside are collected and reading goes
// on at the next statement.
func (p *parser) block(b *Block) {
	p.enter()
	p.expect('{')
	if p.depth == 1 {
		b.Stmts = make([]Stmt, 0, p.room())
	}
	for {
		if p.try(func() { p.statements(b) }) {
			break
		}
		if p.full() {
			panic(bailout{})
		}
		p.resync(true)
		if p.tok.kind == tEOF {
			panic(bailout{}) // the fault that led here is reported
		}
	}
	b.EndPos = p.pos()
	p.expect('}')
	p.leave()
}

// room guesses the number of statements of the function body that begins here,
// which ends at the first line with a brace in front as compilers write it.
// No part of the text is looked at twice.
func (p *parser) room() int {
	from := int(p.tok.off)
	if from < p.bodyEnd {
		return 0
	}
	p.bodyEnd = from
	for p.bodyEnd < len(p.src) {
		i := strings.IndexByte(p.src[p.bodyEnd:], '}')
		if i < 0 {
			p.bodyEnd = len(p.src)
			break
		}
		if p.bodyEnd += i + 1; i > 0 && p.src[p.bodyEnd-2] == '\n' {
			break
		}
	}
	body := p.src[from:p.bodyEnd]
	return min(strings.Count(body, ";")+strings.Count(body, ":"), 1<<16)
}

func (p *parser) statements(b *Block) {
	for {
		p.goOn()
		switch p.tok.kind {
		case tIdent:
			p.labelOrInstr(b)
		case '@':
			p.guarded(b)
		case '}':
			return
		case '{':
			inner := &Block{Pos: p.pos()}
			b.Stmts = append(b.Stmts, inner)
			p.block(inner)
		case tDot:
			p.directive(b)
		case ';':
			p.next()
		default:
			p.unexpected()
		}
	}
}

func (p *parser) directive(b *Block) {
	switch w := p.word(); w {
	case "loc":
		b.Stmts = append(b.Stmts, p.loc())
	case "pragma":
		b.Stmts = append(b.Stmts, p.pragma())
	case "file":
		b.Stmts = append(b.Stmts, p.file())
	case "section":
		b.Stmts = append(b.Stmts, p.section())
	case "branchtargets", "calltargets", "callprototype":
		p.targets(b, p.pos(), "")
	default:
		if !declares(w) {
			p.unexpected()
		}
		pos := p.pos()
		p.variables(pos, p.linkage(), func(v *Var) { b.Stmts = append(b.Stmts, v) })
	}
}

func (p *parser) labelOrInstr(b *Block) {
	pos := p.pos()
	from := p.tok
	name := p.text()
	p.next()
	if p.tok.kind != ':' {
		b.Stmts = append(b.Stmts, p.instr(nil, pos, from))
		return
	}
	p.next()
	if p.tok.kind == tDot {
		switch p.word() {
		case "branchtargets", "calltargets", "callprototype":
			p.targets(b, pos, name)
			return
		}
	}
	l := p.labels.new()
	l.Pos, l.Name = pos, name
	b.Stmts = append(b.Stmts, l)
}

// targets reads a target list or prototype; pos is that of its label.
func (p *parser) targets(b *Block, pos Pos, name string) {
	var s Stmt
	switch p.word() {
	case "branchtargets":
		p.next()
		s = &BranchTargets{pos, name, p.identList()}
	case "calltargets":
		p.next()
		s = &CallTargets{pos, name, p.identList()}
	default:
		p.next()
		c := &CallPrototype{Pos: pos, Name: name}
		if p.tok.kind == '(' {
			c.HasReturn = true
			c.Returns = p.params()
		}
		p.ident() // "_" by the manual
		if p.tok.kind == '(' {
			c.HasParams = true
			c.Params = p.params()
		}
		c.Directives = p.funcDirectives(nil)
		s = c
	}
	p.expect(';')
	b.Stmts = append(b.Stmts, s)
}

func (p *parser) identList() []*Ident {
	list := []*Ident{p.identNode()}
	for p.accept(',') {
		list = append(list, p.identNode())
	}
	return list
}

func (p *parser) guarded(b *Block) {
	g := p.guards.new()
	g.Pos = p.pos()
	p.next()
	g.Neg = p.accept('!')
	g.Reg.Pos = p.pos()
	g.Reg.Name = p.ident()
	name := p.tok
	p.ident()
	b.Stmts = append(b.Stmts, p.instr(g, g.Pos, name))
}

// operation reads the modifiers after a name.
func (p *parser) operation(name token) *Operation {
	end, joined := name.end, true
	p.words = p.words[:0]
	for p.tok.kind == tDot {
		joined = joined && p.tok.off == end
		p.words = append(p.words, p.word())
		end = p.tok.end
		p.next()
	}
	text := p.src[name.off:end]
	if !joined { // there are blanks or comments in it
		text = p.src[name.off:name.end]
		for _, w := range p.words {
			text += "." + w
		}
	}
	o := p.operations[text]
	if o == nil {
		o = &Operation{Name: p.src[name.off:name.end], Mods: slices.Clone(p.words), text: text}
		p.operations[text] = o
	}
	return o
}

// instr reads an instruction after its name.
func (p *parser) instr(g *Guard, pos Pos, name token) *Instr {
	in := p.instrs.new()
	in.Pos, in.NamePos, in.Guard, in.Operation = pos, Pos{name.line, name.col}, g, p.operation(name)
	if p.tok.kind != ';' {
		isCall := in.Name == "call"
		amark := p.args.mark()
		for first := true; ; first = false {
			if isCall && p.tok.kind == '(' {
				p.args.push(p.list())
			} else {
				p.args.push(p.operand(first))
			}
			if !p.accept(',') {
				break
			}
		}
		in.Args = p.args.take(amark)
	}
	in.EndPos = p.pos()
	p.expect(';')
	return in
}

// list reads the parenthesised list of a call.
func (p *parser) list() *List {
	l := &List{Pos: p.pos()}
	p.next()
	mark := p.args.mark()
	if p.tok.kind != ')' {
		for {
			p.args.push(p.element())
			if !p.accept(',') {
				break
			}
		}
	}
	p.expect(')')
	l.Elems = p.args.take(mark)
	return l
}
