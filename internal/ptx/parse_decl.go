package ptx

import ()

// decl reads one module-level declaration or directive.
func (p *parser) decl(m *Module) {
	if p.tok.kind != tDot {
		if p.tok.kind == ';' { // left over by a recovery, or written: harmless
			p.next()
			return
		}
		p.unexpected()
	}
	switch p.word() {
	case "target":
		p.target(m)
	case "address_size":
		pos := p.pos()
		p.next()
		npos := p.pos()
		n := p.uint()
		if n != 32 && n != 64 {
			p.fail(npos, SyntaxError, "Invalid .address_size: 32 or 64 expected")
		}
		m.AddressSize, m.AddressPos = int(n), pos
	case "file":
		m.Decls = append(m.Decls, p.file())
	case "section":
		m.Decls = append(m.Decls, p.section())
	case "pragma":
		m.Decls = append(m.Decls, p.pragma())
	case "loc":
		m.Decls = append(m.Decls, p.loc())
	case "alias":
		m.Decls = append(m.Decls, p.alias())
	default:
		pos := p.pos()
		link := p.linkage()
		if p.isDot("entry") || p.isDot("func") {
			// Keep a function in the tree even if its body has faults.
			f := &Func{Pos: pos, Linkage: link}
			m.Decls = append(m.Decls, f)
			p.function(f)
			return
		}
		p.variables(pos, link, func(v *Var) { m.Decls = append(m.Decls, v) })
	}
}

func linkageOf(word string) Linkage {
	switch word {
	case "extern":
		return LinkExtern
	case "visible":
		return LinkVisible
	case "weak":
		return LinkWeak
	case "common":
		return LinkCommon
	}
	return LinkNone
}

func (p *parser) linkage() Linkage {
	if p.tok.kind != tDot {
		return LinkNone
	}
	l := linkageOf(p.word())
	if l != LinkNone {
		p.next()
	}
	return l
}

func (p *parser) file() *FileDirective {
	f := &FileDirective{Pos: p.pos()}
	p.next()
	f.Index = p.uint()
	f.Name = p.quoted()
	if p.accept(',') {
		f.HasStamp, f.Stamp = true, p.uint()
		if p.accept(',') {
			f.HasSize, f.Size = true, p.uint()
		}
	}
	p.unit.Files = append(p.unit.Files, f)
	return f
}

func (p *parser) pragma() *Pragma {
	g := &Pragma{Pos: p.pos()}
	p.next()
	g.Strings = p.quotedList()
	p.expect(';')
	p.unit.Pragmas = append(p.unit.Pragmas, g)
	return g
}

func (p *parser) quotedList() []string {
	list := []string{p.quoted()}
	for p.accept(',') {
		list = append(list, p.quoted())
	}
	return list
}

func (p *parser) alias() *Alias {
	a := &Alias{Pos: p.pos()}
	p.next()
	a.Name = p.ident()
	p.expect(',')
	a.TargetPos = p.pos()
	a.Target = p.ident()
	p.expect(';')
	return a
}

func (p *parser) locAt() LocAt {
	var l LocAt
	l.File = p.uint()
	l.SrcLine = p.uint()
	l.SrcCol = p.uint()
	return l
}

func (p *parser) loc() *Loc {
	l := p.locs.new()
	l.Pos = p.pos()
	p.next()
	l.LocAt = p.locAt()
	for p.accept(',') {
		if p.tok.kind != tIdent {
			p.unexpected()
		}
		switch p.text() {
		case "function_name":
			p.next()
			p.inSection = true // the label may be a dotted section name
			if p.tok.kind != tIdent && p.tok.kind != tDot {
				p.unexpected()
			}
			at := p.pos()
			l.Function = p.expr()
			p.inSection = false
			if !labelPlusConstant(l.Function) {
				p.fail(at, SyntaxError, "Parsing error near 'function_name': syntax error")
			}
		case "inlined_at":
			p.next()
			at := p.locAt()
			l.Inlined = &at
		default:
			p.unexpected()
		}
	}
	return l
}

// labelPlusConstant says whether an operand is a label, or a label plus a constant, as .loc's function_name wants it.
func labelPlusConstant(x Operand) bool {
	if e, ok := x.(*Expr); ok && (e.Op == OpAdd || e.Op == OpSub) {
		if _, ok := e.Y.(*Int); !ok {
			return false
		}
		x = e.X
	}
	_, ok := x.(*Ident)
	return ok
}

// section reads ".section name { data }".
func (p *parser) section() *Section {
	s := &Section{Pos: p.pos()}
	p.next()
	switch p.tok.kind {
	case tDot, tIdent:
		s.Name = p.text()
	default:
		p.unexpected()
	}
	p.next()
	p.expect('{')
	p.inSection = true
	for p.tok.kind != '}' {
		item := SectionItem{Pos: p.pos()}
		switch p.tok.kind {
		case tIdent:
			item.Label = p.ident()
			p.expect(':')
		case tDot:
			switch p.word() {
			case "b8":
				item.Width = 8
			case "b16":
				item.Width = 16
			case "b32":
				item.Width = 32
			case "b64":
				item.Width = 64
			default:
				p.unexpected()
			}
			p.next()
			mark := p.args.mark()
			p.args.push(p.expr())
			for p.accept(',') {
				p.args.push(p.expr())
			}
			item.Values = p.args.take(mark)
		default:
			p.unexpected()
		}
		s.Items = append(s.Items, item)
	}
	p.inSection = false
	p.next()
	p.unit.Sections = append(p.unit.Sections, s)
	return s
}

func (p *parser) attributes() []Attribute {
	p.next()
	p.expect('(')
	var list []Attribute
	for {
		a := Attribute{Pos: p.pos()}
		if p.tok.kind != tDot {
			p.unexpected()
		}
		a.Name = p.word()
		p.next()
		if p.accept('(') {
			a.Args = p.constants()
			p.expect(')')
		}
		list = append(list, a)
		if !p.accept(',') {
			break
		}
	}
	p.expect(')')
	return list
}

// constants reads a list of integer constants.
func (p *parser) constants() []uint64 {
	list := []uint64{p.constant(p.expr()).Bits}
	for p.accept(',') {
		list = append(list, p.constant(p.expr()).Bits)
	}
	return list
}

func isSpace(word string) bool {
	switch word {
	case "reg", "sreg", "global", "const", "shared", "local", "param", "tex",
		"shared::cta", "shared::cluster", "param::entry", "param::func":
		return true
	}
	return false
}

func isType(word string) bool {
	switch word {
	case "b8", "b16", "b32", "b64", "b128",
		"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64",
		"f16", "f16x2", "f32", "f32x2", "f64", "bf16", "bf16x2", "tf32", "pred",
		"u16x2", "s16x2", "e4m3", "e5m2", "e4m3x2", "e5m2x2",
		"texref", "samplerref", "surfref":
		return true
	}
	return false
}

// varHead reads everything of a variable declaration up to its name: state
// space, alignment, vector size, type, in any order after the space as the
// driver's compiler allows it.
func (p *parser) varHead(v *Var) {
	v.Bank = -1
	if p.tok.kind != tDot || !isSpace(p.word()) {
		p.unexpected()
	}
	v.Space = p.word()
	p.next()
	if v.Space == "const" && p.accept('[') {
		n := p.uint()
		if n > 10 { // PTX ISA: banks 0 to 10
			p.fail(v.Pos, SyntaxError, "Constant bank out of range")
		}
		v.Bank = int(n)
		p.expect(']')
	}
	for p.tok.kind == tDot {
		switch w := p.word(); w {
		case "align":
			p.next()
			v.Alignment = Alignment{p.uint(), true}
		case "attribute":
			v.Attrs = append(v.Attrs, p.attributes()...)
		case "v2", "v4": // no .v8 (an H200's driver, ptxas 13.0)
			if v.Vec != 0 {
				p.unexpected()
			}
			v.Vec = int(w[1] - '0')
			p.next()
		case "ptr":
			if v.Ptr != nil || v.Type == "" {
				p.unexpected()
			}
			v.Ptr = &Ptr{Pos: p.pos()}
			p.next()
			if p.tok.kind == tDot {
				switch s := p.word(); s {
				case "global", "const", "local", "shared":
					v.Ptr.Space = s
					p.next()
				}
			}
			if p.isDot("align") {
				p.next()
				v.Ptr.Alignment = Alignment{p.uint(), true}
			}
		default:
			if v.Type != "" || !isType(w) {
				p.unexpected()
			}
			v.Type = w
			p.next()
		}
	}
	if v.Type == "" {
		p.unexpected()
	}
}

// varName reads a name with its count or array sizes. A parameter has no count, and one size at most (recorded).
func (p *parser) varName(v *Var, parameter bool) {
	v.NamePos = p.pos()
	v.Name = p.ident()
	if !parameter && p.accept('<') {
		v.HasNum = true
		c := p.constant(p.binary(precAdd))
		if c.Kind == ConstS64 && int64(c.Bits) < 0 {
			p.fail(v.NamePos, BadConstant, "Negative count of a parameterised name")
		}
		v.Count = c.Bits
		p.expect('>')
	}
	for p.tok.kind == '[' && !(parameter && len(v.Dims) > 0) {
		p.next()
		if len(v.Dims) == 0 && p.accept(']') { // only the first may be left out
			v.Dims = append(v.Dims, 0)
			continue
		}
		n := uint64(WarpSize)
		if p.atWarpSize() {
			p.next()
		} else {
			n = p.uint()
		}
		v.Dims = append(v.Dims, n)
		p.expect(']')
	}
}

// variables reads a declaration of one or several names with its semicolon.
func (p *parser) variables(pos Pos, link Linkage, add func(*Var)) {
	head := Var{Pos: pos, Linkage: link}
	p.varHead(&head)
	for {
		v := p.vars.new()
		*v = head
		p.varName(v, false)
		if p.accept('=') {
			v.Init = p.initialiser()
		}
		add(v)
		if !p.accept(',') {
			break
		}
		head.Pos = p.pos()
	}
	p.expect(';')
}

// initialiser reads a scalar or braced initialiser.
func (p *parser) initialiser() Operand {
	if p.tok.kind != '{' {
		return p.initial(true)
	}
	l := &InitList{Pos: p.pos()}
	p.enter()
	p.next()
	mark := p.args.mark()
	for p.tok.kind != '}' {
		p.goOn()
		x := p.initialiser()
		if id, ok := x.(*Ident); ok && p.tok.kind == '=' && id.Comp == "" {
			p.next()
			x = &InitField{Pos: id.Pos, Name: id.Name, X: p.initial(false)}
		}
		p.args.push(x)
		if !p.accept(',') {
			break
		}
	}
	p.expect('}')
	p.leave()
	l.Elems = p.args.take(mark)
	return l
}

// initial reads one value of an initialiser: a constant expression, or a name or generic(name), to which a constant may
// be added. A mask may stand in front of all of them.
func (p *parser) initial(mask bool) Operand {
	pos := p.pos()
	switch {
	case p.tok.kind == tInt:
		n := p.integer()
		if mask && p.accept('(') {
			x := p.initial(false)
			p.expect(')')
			return &Mask{Pos: pos, Mask: n, X: x}
		}
		return p.binaryAfter(n, precCond)
	case !p.atName():
		return p.expr()
	}
	x := p.symbol()
	if id, ok := x.(*Ident); ok && id.Name == "generic" && p.accept('(') {
		x = &Generic{Pos: pos, X: p.symbol()}
		p.expect(')')
	}
	return p.plus(x)
}

// params reads a parenthesised parameter list.
func (p *parser) params() []*Var {
	p.expect('(')
	var list []*Var
	for p.tok.kind != ')' {
		p.goOn()
		v := p.vars.new()
		*v = Var{Pos: p.pos()}
		p.varHead(v)
		p.varName(v, true)
		list = append(list, v)
		if !p.accept(',') {
			break
		}
		if p.tok.kind == ')' {
			p.unexpected()
		}
	}
	p.expect(')')
	return list
}

// function reads from .entry or .func to the end of the body.
func (p *parser) function(f *Func) {
	if p.isDot("entry") {
		f.Kind = KindEntry
	}
	p.next()
	if p.isDot("attribute") {
		f.Attrs = p.attributes()
	}
	if f.Kind == KindFunc && p.tok.kind == '(' {
		f.HasReturn = true
		f.Returns = p.params()
		if p.isDot("attribute") {
			f.Attrs = append(f.Attrs, p.attributes()...)
		}
	}
	f.NamePos = p.pos()
	f.Name = p.ident()
	if p.tok.kind == '(' {
		f.HasParams = true
		f.Params = p.params()
	}
	f.Directives = p.funcDirectives(f)
	if p.accept(';') {
		return
	}
	if p.tok.kind != '{' {
		p.unexpected()
	}
	f.Body = &Block{Pos: p.pos()}
	p.block(f.Body)
}

// funcDirectives reads the directives between a head and its body. f is nil
// for a prototype.
func (p *parser) funcDirectives(f *Func) []FuncDirective {
	var list []FuncDirective
	for p.tok.kind == tDot {
		d := FuncDirective{Pos: p.pos(), Name: p.word()}
		switch d.Name {
		case "maxntid", "reqntid", "reqnctapercluster":
			p.next()
			d.Values = p.constants()
			if len(d.Values) > 3 {
				p.fail(d.Pos, SyntaxError, "More than three dimensions in ."+d.Name)
			}
		case "minnctapersm", "maxnctapersm", "maxnreg", "maxclusterrank",
			"abi_preserve", "abi_preserve_control":
			p.next()
			d.Values = []uint64{p.constant(p.expr()).Bits}
		case "explicitcluster", "blocksareclusters", "noreturn":
			p.next()
		case "pragma":
			p.next()
			d.Strings = p.quotedList()
			p.expect(';')
		case "attribute":
			if f == nil {
				p.unexpected()
			}
			f.Attrs = append(f.Attrs, p.attributes()...)
			continue
		default:
			p.unexpected()
		}
		list = append(list, d)
	}
	return list
}

// declares reports whether a statement that begins with word declares a
// variable.
func declares(word string) bool {
	return isSpace(word) || linkageOf(word) != LinkNone
}
