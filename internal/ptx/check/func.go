package check

import (
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// funcUses is what a function refers to, for the limit on static shared memory.
type funcUses struct {
	shared []*Var // its own too
	calls  []*Func
	seen   map[any]bool // while the function is checked
}

// function declares or defines an entry or a function.
func (c *checker) function(d *ptx.Func) {
	entry := d.Kind == ptx.KindEntry
	if entry && c.m.Target.PTX < 14 && len(d.Params) > 0 {
		c.errorf(d.Pos, Feature, "%s", needPTX("kernel parameter list", 14))
	}
	var f *Func
	if sym, ok := c.scope.names[d.Name]; ok {
		if sym.f == nil {
			c.errorf(d.NamePos, Semantic, "Inconsistent redefinition of variable '%s'", d.Name)
			c.errorf(d.NamePos, Semantic, "Duplicate definition of function '%s'", d.Name)
			c.fatal(d.NamePos, "Inconsistent redefinition of symbol '%s'", d.Name)
			return
		}
		f = sym.f
		if f.Entry != entry {
			c.errorf(d.NamePos, Semantic, "Inconsistent redefinition of '%s' as entry and function", d.Name)
		}
		if f.Name != d.Name || f.Defined && d.Body != nil || f.Entry != entry {
			c.errorf(d.NamePos, Semantic, "Duplicate definition of function '%s'", d.Name)
			return
		}
		if f.Linkage == ptx.LinkExtern && d.Body != nil {
			c.errorf(d.NamePos, Semantic, "Inconsistent redefinition of variable '%s'", d.Name)
			c.errorf(d.NamePos, Semantic, "Function definition conflicts with '.extern' declaration for function '%s'",
				d.Name)
			return
		}
	}
	if d.Linkage == ptx.LinkExtern && d.Body != nil {
		c.errorf(d.NamePos, Semantic, "Function definition conflicts with '.extern' declaration for function '%s'",
			d.Name)
	}
	first := f == nil
	if first {
		f = &Func{Decl: d, Name: d.Name, Linkage: d.Linkage, Entry: entry, Index: len(c.m.Funcs), Files: c.m.Files}
	}
	outer := c.scope
	c.scope = &scope{parent: outer}
	c.fn, c.global = f, nil
	regs := f.Regs
	f.Regs = nil
	returns := c.signature(d.Returns, f, roleOutput, entry)
	params := c.signature(d.Params, f, roleInput, entry)
	if entry && d.HasReturn {
		c.errorf(d.Pos, Semantic, "Entry function '%s' cannot return a value", d.Name)
	}
	if !first {
		c.prototypes(d, "return", f.Returns, returns)
		c.prototypes(d, "parameter", f.Params, params)
	}
	noReturn := c.directives(d, f, d.Body != nil || first)
	f.NoReturn = f.NoReturn || noReturn
	if d.Body == nil && !first {
		f.Regs = regs
		if f.Linkage == ptx.LinkNone || f.Linkage == ptx.LinkExtern && d.Linkage != ptx.LinkNone {
			f.Linkage = d.Linkage
		}
		c.scope, c.fn = outer, nil
		return
	}
	if !entry && len(returns) > 1 {
		for _, r := range returns {
			if r.Space == "param" {
				c.errorf(r.Decl.Pos, Semantic, "Multiple return parameters require .register state space")
				break
			}
		}
	}
	for _, p := range params {
		p.role = roleInput
	}
	for _, r := range returns {
		r.role = roleOutput
	}
	f.Params, f.Returns = params, returns
	if d.Linkage != ptx.LinkNone {
		f.Linkage = d.Linkage
	}
	if first { // before its body: a function may call itself
		c.scope = outer
		c.declare(d.Name, symbol{f: f})
		c.m.Funcs = append(c.m.Funcs, f)
	}
	if d.Body != nil {
		f.Decl, f.Defined = d, true
		c.scope = &scope{parent: outer}
		for _, list := range [][]*Var{returns, params} {
			for _, v := range list {
				if v.Name == "_" || v.Name == "" {
					continue
				}
				c.paramSpace(v, !entry)
				if !c.declare(v.Name, symbol{v: v}) {
					c.errorf(v.Decl.NamePos, Semantic, "Duplicate definition of variable '%s'", v.Name)
				}
			}
		}
		c.loc = Loc{}
		f.Insts = make([]Inst, 0, countInsts(d.Body))
		c.block(d.Body) // in the scope of its parameters
		for _, e := range c.unknown {
			c.report(e)
		}
		c.unknown = nil
		if entry {
			c.paramLimit(f, d)
		}
		for _, v := range f.Locals {
			if v.Space == "shared" {
				c.uses.shared = append(c.uses.shared, v)
			}
		}
		f.uses, c.uses = c.uses, funcUses{}
		f.uses.seen = nil
	}
	c.scope, c.fn = outer, nil
}

// prototypes compares a list of a second declaration with that of the first.
func (c *checker) prototypes(d *ptx.Func, what string, old, list []*Var) {
	if len(old) != len(list) {
		c.errorf(d.NamePos, Semantic, "Inconsistent prototypes of '%s', number of %ss differ", d.Name, what)
		return
	}
	for i, v := range list {
		if !sameParam(old[i], v) {
			c.errorf(d.NamePos, Semantic, "Inconsistent prototypes of '%s', %s types differ", d.Name, what)
		}
		if old[i].Align != v.Align {
			c.errorf(d.NamePos, Semantic, "Inconsistent prototypes of '%s', %s alignment differ", d.Name, what)
		}
	}
}

func countInsts(b *ptx.Block) int {
	n := 0
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *ptx.Instr:
			n++
		case *ptx.Block:
			n += countInsts(s)
		}
	}
	return n
}

// signature makes the variables of a parameter or return list.
func (c *checker) signature(list []*ptx.Var, f *Func, role role, entry bool) []*Var {
	if len(list) == 0 {
		return nil
	}
	out := make([]*Var, 0, len(list))
	for i, d := range list {
		space := plainSpace(d.Space)
		if space != "param" && (space != "reg" || entry) {
			if entry {
				c.errorf(d.Pos, Semantic, "Entry parameter '%s' must have .param state space", d.Name)
			} else {
				c.errorf(d.Pos, Semantic, "Function parameter '%s' has illegal state space", d.Name)
			}
			space = "param"
		}
		v := c.makeVar(d, space, true)
		v.Func, v.Index = f, i
		if len(v.Dims) > 0 && v.Dims[0] == 0 {
			switch {
			case role == roleOutput:
				c.errorf(d.NamePos, Semantic, "Output parameter cannot be an incomplete array.")
			case i != len(list)-1:
				c.errorf(d.NamePos, Semantic, "Only the last input parameter can be an incomplete array.")
			case entry:
				c.errorf(d.NamePos, Semantic, "Parameter to entry function cannot be an incomplete array.")
			}
		}
		if space == "reg" && f != nil {
			if v.Vec > 1 {
				v = c.newReg(d, d.Name, v.Type)
			} else {
				c.addReg(v)
			}
		}
		out = append(out, v)
	}
	return out
}

// sameSignature says whether two parameter lists agree in types and sizes.
func sameSignature(a, b []*Var) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameParam(a[i], b[i]) {
			return false
		}
	}
	return true
}

// sameParam compares two parameters as a call does: bytes count, not signedness.
func sameParam(a, b *Var) bool {
	if a.Size != b.Size || (len(a.Dims) > 0) != (len(b.Dims) > 0) {
		return false
	}
	return len(a.Dims) > 0 || a.Vec == b.Vec && classesAgree(a.Type, b.Type)
}

// directives reads an entry's performance directives.
func (c *checker) directives(d *ptx.Func, f *Func, keep bool) (noReturn bool) {
	a := Attrs{}
	has := func(name string) bool { return d.Directive(name) != nil }
	for i := range d.Directives {
		x := &d.Directives[i]
		switch x.Name {
		case "pragma", "abi_preserve", "abi_preserve_control":
			continue
		case "noreturn":
			c.need(x.Pos, ".noreturn", 64, 30)
			if f.Entry || len(d.Returns) > 0 {
				c.errorf(x.Pos, Semantic, "Invalid directive '.noreturn' for function '%s'", f.Name)
			}
			noReturn = true
			continue
		}
		if !f.Entry {
			c.errorf(x.Pos, Semantic, "'.%s' directive allowed only on entry functions", x.Name)
			continue
		}
		three := func() (t [3]uint32) {
			t = [3]uint32{1, 1, 1}
			if len(x.Values) == 0 || len(x.Values) > 3 {
				c.errorf(x.Pos, Semantic, "'.%s' directive takes one to three values", x.Name)
			}
			for j, v := range x.Values {
				if j < 3 {
					t[j] = uint32(min(v, 1<<32-1))
					if v == 0 && x.Name != "reqnctapercluster" { // that one is accepted
						c.errorf(x.Pos, Semantic, "Positive non-zero value expected for %s", x.Name)
					}
				}
			}
			return t
		}
		one := func() uint32 {
			if len(x.Values) != 1 {
				c.errorf(x.Pos, Semantic, "'.%s' directive takes one value", x.Name)
				return 0
			}
			return uint32(min(x.Values[0], 1<<32-1))
		}
		switch x.Name {
		case "maxntid":
			a.MaxNTid = three()
		case "reqntid":
			c.need(x.Pos, ".reqntid", 21, 10)
			a.ReqNTid = three()
			if has("maxntid") {
				c.errorf(x.Pos, Semantic, "Conflicting directives: .maxntid and .reqntid cannot both be specified")
			}
		case "minnctapersm":
			c.need(x.Pos, ".minnctapersm", 20, 10)
			a.MinNCtaPerSM = one()
		case "maxnctapersm":
			one()
		case "maxnreg":
			a.MaxNReg = one()
		case "maxclusterrank":
			c.need(x.Pos, ".maxclusterrank", 78, 90)
			a.MaxClusterRank = one()
		case "reqnctapercluster":
			c.need(x.Pos, ".reqnctapercluster", 78, 90)
			a.ReqNCtaPerCluster = three()
		case "explicitcluster":
			c.need(x.Pos, ".explicitcluster", 78, 90)
			a.ExplicitCluster = true
		case "blocksareclusters":
			c.need(x.Pos, ".blocksareclusters", 90, 90)
			a.BlocksAreClusters = true
			if !has("reqntid") || !has("reqnctapercluster") {
				c.errorf(x.Pos, Semantic, "'.blocksareclusters' directive requires '.reqntid' and '.reqnctapercluster' directives")
			}
		default:
			c.errorf(x.Pos, Semantic, "Unknown directive '.%s'", x.Name)
		}
	}
	if keep {
		f.Attrs = a
	}
	return noReturn
}

// block checks the statements of a scope that is already open, and closes it.
func (c *checker) block(b *ptx.Block) {
	c.labels(b)
	for _, s := range b.Stmts {
		if c.stop || c.stopped() {
			break
		}
		switch s := s.(type) {
		case *ptx.Instr:
			c.instr(s)
		case *ptx.Label:
			if sym := c.scope.names[s.Name]; sym.l != nil {
				sym.l.Inst = len(c.fn.Insts)
			}
		case *ptx.Var:
			c.localVar(s)
		case *ptx.Block:
			c.open()
			c.block(s)
		case *ptx.Loc:
			c.setLoc(s)
		case *ptx.BranchTargets:
			c.branchTargets(s)
		case *ptx.CallTargets:
			c.callTargets(s)
		case *ptx.CallPrototype:
			c.prototype(s)
		}
	}
	c.close()
}

// labels declares the labels of a block before its statements: a branch may go forward.
func (c *checker) labels(b *ptx.Block) {
	n := 0
	for _, s := range b.Stmts {
		if _, ok := s.(*ptx.Label); ok {
			n++
		}
	}
	if n == 0 {
		return
	}
	if c.scope.names == nil {
		c.scope.names = make(map[string]symbol, n)
	}
	list := make([]Label, n)
	for _, s := range b.Stmts {
		l, ok := s.(*ptx.Label)
		if !ok {
			continue
		}
		x := &list[0]
		list = list[1:]
		*x = Label{Name: l.Name, Pos: l.Pos}
		if !c.declare(l.Name, symbol{l: x}) {
			c.errorf(l.Pos, Semantic, "Duplicate definition of label '%s'", l.Name)
			continue
		}
		c.fn.Labels = append(c.fn.Labels, x)
	}
}

// localVar declares a variable or registers inside a body.
func (c *checker) localVar(d *ptx.Var) {
	space := plainSpace(d.Space)
	if d.Linkage != ptx.LinkNone {
		c.errorf(d.Pos, Semantic, "Linking directive '%s' not allowed inside a function", d.Linkage)
	}
	if space == "reg" {
		c.regs(d)
		return
	}
	switch space {
	case "local", "shared", "param", "global", "const":
	default:
		c.errorf(d.Pos, Semantic, "State space '.%s' not allowed for variable '%s'", d.Space, d.Name)
		return
	}
	if d.HasNum {
		c.errorf(d.NamePos, Semantic, "Parameterized variable name '%s' allowed only for registers", d.Name)
		return
	}
	v := c.makeVar(d, space, false)
	c.paramSpace(v, true)
	c.complete(v)
	v.Func, v.Index = c.fn, len(c.fn.Locals)
	if !c.declare(d.Name, symbol{v: v}) {
		c.errorf(d.NamePos, Semantic, "Duplicate definition of variable '%s'", d.Name)
		return
	}
	c.fn.Locals = append(c.fn.Locals, v)
	c.initialise(v)
}

// regs declares a register or a parameterised set of them.
func (c *checker) regs(d *ptx.Var) {
	t, ok := varType(d, "reg")
	c.alignment(d.Pos, d.Alignment, leads(d))
	if d.Type == "pred" && d.Vec > 1 {
		c.errorf(d.Pos, Semantic, predVector)
		return
	}
	if !ok {
		c.errorf(d.Pos, Semantic, "Illegal type '.%s' for register '%s'", d.Type, d.Name)
		b32 := *t
		b32.Name, b32.Bits = "b32", 32
		t = &b32
	}
	if t.Bits == 128 {
		c.need(d.Pos, ".b128", 83, 70)
	}
	if d.Vec > 1 && t.Bits*d.Vec > 128 && leads(d) {
		c.errorf(d.Pos, Semantic, "Vector type too large, exceeds 128 bit limit")
	}
	if len(d.Dims) > 0 {
		c.errorf(d.NamePos, Semantic, "Variable '%s' cannot be allocated into a register", d.Name)
	}
	if d.Init != nil {
		c.errorf(d.NamePos, Semantic, "Initial value not allowed for variable '%s'", d.Name)
	}
	if d.HasNum {
		set := &regSet{prefix: d.Name, count: uint64(c.word(d.NamePos, d.Count)), decl: d, typ: t}
		if name, ok := c.declareSet(set); !ok {
			c.errorf(d.NamePos, Semantic, "Duplicate definition of variable '%s'", name)
		}
		return
	}
	if d.Name == "_" {
		return
	}
	v := c.newReg(d, d.Name, t)
	if !c.declare(d.Name, symbol{v: v}) {
		c.errorf(d.NamePos, Semantic, "Duplicate definition of variable '%s'", d.Name)
	}
}

// table declares a labelled list or prototype.
func (c *checker) table(pos ptx.Pos, t *Table) {
	if !c.declare(t.Name, symbol{t: t}) {
		c.errorf(pos, Semantic, "Duplicate definition of label '%s'", t.Name)
		return
	}
	if c.fn != nil {
		c.fn.Tables = append(c.fn.Tables, t)
	}
}

func (c *checker) branchTargets(d *ptx.BranchTargets) {
	c.need(d.Pos, ".branchtargets", 21, 20)
	t := &Table{Name: d.Name, Pos: d.Pos}
	for _, id := range d.Labels {
		sym, ok := c.find(id.Name)
		if !ok || sym.l == nil {
			c.errorf(id.Pos, Semantic, "Unknown symbol '%s'", id.Name)
			continue
		}
		t.Labels = append(t.Labels, sym.l)
	}
	c.table(d.Pos, t)
}

func (c *checker) callTargets(d *ptx.CallTargets) {
	c.need(d.Pos, ".calltargets", 21, 20)
	t := &Table{Name: d.Name, Pos: d.Pos}
	for _, id := range d.Funcs {
		sym, ok := c.find(id.Name)
		if !ok || sym.f == nil {
			c.errorf(id.Pos, Semantic, "Unknown symbol '%s'", id.Name)
			continue
		}
		if len(t.Funcs) > 0 && (!sameSignature(t.Funcs[0].Params, sym.f.Params) ||
			!sameSignature(t.Funcs[0].Returns, sym.f.Returns)) {
			c.errorf(id.Pos, Semantic, "Function '%s' does not agree with the other call targets", id.Name)
		}
		t.Funcs = append(t.Funcs, sym.f)
		c.useFunc(sym.f)
	}
	c.table(d.Pos, t)
}

func (c *checker) prototype(d *ptx.CallPrototype) {
	c.need(d.Pos, ".callprototype", 21, 20)
	p := &Proto{Returns: c.signature(d.Returns, nil, roleOutput, false),
		Params: c.signature(d.Params, nil, roleInput, false)}
	for i := range d.Directives {
		if d.Directives[i].Name == "noreturn" {
			p.NoReturn = true
		}
	}
	c.table(d.Pos, &Table{Name: d.Name, Pos: d.Pos, Proto: p})
}

// use says whether something is used for the first time in the function in hand.
func (c *checker) use(x any) bool {
	if c.uses.seen[x] {
		return false
	}
	if c.uses.seen == nil {
		c.uses.seen = map[any]bool{}
	}
	c.uses.seen[x] = true
	return true
}

func (c *checker) useFunc(f *Func) {
	if c.use(f) {
		c.uses.calls = append(c.uses.calls, f)
	}
}

func (c *checker) useVar(v *Var) {
	if v.Space == "shared" && v.Func == nil && c.use(v) {
		c.uses.shared = append(c.uses.shared, v)
	}
}

// maxParamAlign is the alignment of a .param variable at most, those of kernels excepted.
const maxParamAlign = 128

// paramSpace refuses what a parameter of a definition and a .param variable of a body cannot be: a vector, a scalar of
// a packed type, an array of registers (words of ptxas 13.0), aligned to more than the ABI gives (recorded).
func (c *checker) paramSpace(v *Var, aligned bool) {
	d := v.Decl
	switch {
	case v.Space == "reg" && len(d.Dims) > 0:
		c.errorf(d.NamePos, Semantic, "Variable '%s' cannot be allocated into a register", d.Name)
	case v.Space != "param" || plainSpace(d.Space) != "param":
	case len(d.Dims) == 0 && (d.Vec > 1 || optab.FindType(d.Type).Class == optab.Packed):
		c.errorf(d.NamePos, Semantic, "Variable '%s' cannot be allocated in .param state space", d.Name)
	case aligned && v.Align > maxParamAlign:
		c.errorf(d.NamePos, Semantic, "Parameter '%s' has illegal alignment (must be aligned to 1, 2, 4, 8, 16, 32, 64, or 128 bytes)", d.Name)
	}
}
