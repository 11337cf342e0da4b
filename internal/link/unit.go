package link

import (
	"sync/atomic"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Unit is one PTX module of a program.
type Unit struct {
	Name   string // of the input, as messages give it
	Member string // file of the static library, "" outside
	Text   []byte // PTX without NUL
	Module *check.Module
	// Compile is how the text was compiled.
	Compile Compile

	code  []*check.Func // defined entries and functions in the order of their code sections
	uses  map[*check.Func]*uses
	names []name // symbols with linkage, in the order in which the linker sees them: functions, then variables
}

// uses is what a function refers to, in the order of its instructions.
type uses struct {
	funcs    []*check.Func
	vars     []*check.Var
	taken    []*check.Func // functions whose address it takes
	indirect bool          // it calls through pointers
}

// name is one mention of a symbol in a unit; one of fn and v is set.
type name struct {
	name    string
	fn      *check.Func
	v       *check.Var
	alias   *check.Func // what fn or the name alone stands for (.alias)
	linkage ptx.Linkage
	used    bool // the unit refers to it
}

// defined says whether the unit defines the symbol.
func (n *name) defined() bool {
	if n.v != nil {
		return n.linkage != ptx.LinkExtern
	}
	return n.alias != nil || n.fn.Defined
}

// strong is a definition that no other may stand beside.
func (n *name) strong() bool {
	return n.defined() && n.linkage != ptx.LinkWeak && n.linkage != ptx.LinkCommon
}

// parse reads and checks PTX as a unit of a program (opts.relocatable) or alone.
func parse(text []byte, input, member string, opts check.Options) (*Unit, *Error) {
	tree, err := ptx.ParseUntil(text, opts.Stop)
	if err != nil {
		return nil, textError(check.Syntax(tree, err, opts))
	}
	m, err := check.Check(tree, opts)
	if err != nil {
		return nil, textError(err)
	}
	u := &Unit{Name: input, Member: member, Text: text, Module: m}
	return u, u.analyse(opts.Stop)
}

// analyse finds what refers to what and orders the symbols. A function that is declared as the module's own and not
// defined is an error, called or not (recorded).
func (u *Unit) analyse(stop *atomic.Bool) *Error {
	m := u.Module
	for _, f := range m.Funcs {
		if !f.Defined && f.Linkage != ptx.LinkExtern && f.Linkage != ptx.LinkWeak && m.Aliases[f.Name] == nil {
			return unresolved("function", f.Name)
		}
	}
	u.uses = map[*check.Func]*uses{}
	for _, f := range m.Funcs {
		if stop != nil && stop.Load() {
			return textError(ptx.ErrStopped)
		}
		if f.Defined {
			u.uses[f] = functionUses(f)
		}
	}
	u.order()
	u.symbols()
	return nil
}

func functionUses(f *check.Func) *uses {
	s := &uses{}
	seenF, seenV, seenT := map[*check.Func]bool{}, map[*check.Var]bool{}, map[*check.Func]bool{}
	var walk func(a *check.Arg, callee bool)
	list := func(as []check.Arg) {
		for i := range as {
			walk(&as[i], false)
		}
	}
	function := func(g *check.Func, callee bool) {
		if !seenF[g] {
			seenF[g] = true
			s.funcs = append(s.funcs, g)
		}
		if !callee && !seenT[g] {
			seenT[g] = true
			s.taken = append(s.taken, g)
		}
	}
	walk = func(a *check.Arg, callee bool) {
		if (a.Kind == check.ArgReg || a.Kind == check.ArgImm) && a.Second == nil {
			return // what most are
		}
		if a.Func != nil {
			function(a.Func, callee)
		}
		if v := a.Var; v != nil && v.Func == nil && v.Space != "reg" && !seenV[v] {
			seenV[v] = true
			s.vars = append(s.vars, v)
		}
		if a.Base != nil {
			walk(a.Base, false)
		}
		if a.Second != nil {
			walk(a.Second, false)
		}
		list(a.Elems)
		list(a.Extra)
	}
	for i := range f.Insts {
		in := &f.Insts[i]
		call, direct := in.Match.Form.Op == optab.OpCall, false
		for j := range in.Args {
			a := &in.Args[j]
			callee := call && a.Kind == check.ArgSym && a.Func != nil
			direct = direct || callee
			walk(a, callee)
		}
		s.indirect = s.indirect || call && !direct
	}
	for _, t := range f.Tables {
		for _, g := range t.Funcs {
			function(g, false)
		}
	}
	for _, v := range f.Locals {
		initialiserUses(v, func(g *check.Func) { function(g, false) }, func(w *check.Var) {
			if w.Func == nil && !seenV[w] {
				seenV[w] = true
				s.vars = append(s.vars, w)
			}
		})
	}
	return s
}

func initialiserUses(v *check.Var, function func(*check.Func), variable func(*check.Var)) {
	for i := range v.Relocs {
		r := &v.Relocs[i]
		if r.Func != nil {
			function(r.Func)
		}
		if r.Var != nil {
			variable(r.Var)
		}
	}
}

// order puts functions as the driver's compiler orders code sections: from the last of the file to the first, each
// after what it calls or takes the address of (recorded: the section tables of the corpus's linked and relocatable
// cubins). The driver enumerates kernels in the reverse order.
func (u *Unit) order() {
	type state uint8
	const (
		open state = iota + 1
		closed
	)
	seen := map[*check.Func]state{}
	type frame struct {
		f    *check.Func
		next int
	}
	visit := func(root *check.Func) {
		stack := []frame{{f: root}}
		seen[root] = open
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if us := u.uses[top.f].funcs; top.next < len(us) {
				g := us[top.next]
				top.next++
				if t := u.Module.Aliases[g.Name]; t != nil && !g.Defined {
					g = t
				}
				if g.Defined && seen[g] == 0 {
					seen[g] = open
					stack = append(stack, frame{f: g})
				}
				continue
			}
			seen[top.f] = closed
			u.code = append(u.code, top.f)
			stack = stack[:len(stack)-1]
		}
	}
	for i := len(u.Module.Funcs) - 1; i >= 0; i-- {
		if f := u.Module.Funcs[i]; f.Defined && seen[f] == 0 {
			visit(f)
		}
	}
}

// symbols lists the names with linkage as the symbol table of the driver's compiler has them: the first code section,
// functions in initialisers, then each further section with the undefined functions that it refers to; and the
// variables in the order of their declarations.
func (u *Unit) symbols() {
	m := u.Module
	usedF, usedV := map[*check.Func]bool{}, map[*check.Var]bool{}
	for _, s := range u.uses {
		for _, g := range s.funcs {
			usedF[g] = true
		}
		for _, v := range s.vars {
			usedV[v] = true
		}
	}
	var early []*check.Func // functions whose address stands in a variable
	for _, v := range m.Vars {
		initialiserUses(v, func(g *check.Func) {
			usedF[g] = true
			early = append(early, g)
		}, func(w *check.Var) { usedV[w] = true })
	}
	seen := map[*check.Func]bool{}
	function := func(f *check.Func) {
		if seen[f] || f.Linkage == ptx.LinkNone {
			return
		}
		seen[f] = true
		u.names = append(u.names, name{name: f.Name, fn: f, alias: u.alias(f), linkage: f.Linkage, used: usedF[f]})
	}
	for i, f := range u.code {
		function(f)
		if i == 0 {
			for _, g := range early {
				function(g)
			}
		}
		for _, g := range u.uses[f].funcs {
			if !g.Defined {
				function(g)
			}
		}
	}
	for _, g := range early {
		function(g)
	}
	for _, f := range m.Funcs { // aliases and declarations that nothing refers to
		function(f)
	}
	for _, v := range m.Vars {
		if v.Linkage != ptx.LinkNone {
			u.names = append(u.names, name{name: v.Name, v: v, linkage: v.Linkage, used: usedV[v]})
		}
	}
}

// alias returns what an undefined function of the unit stands for in it, nil when it is no alias.
func (u *Unit) alias(f *check.Func) *check.Func {
	if f.Defined {
		return nil
	}
	return u.Module.Aliases[f.Name]
}

// kernels says whether the unit defines an entry.
func (u *Unit) kernels() bool {
	for _, f := range u.code {
		if f.Entry {
			return true
		}
	}
	return false
}
