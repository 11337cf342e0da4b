package tileir

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// Verify decodes all functions and checks the module. The error is an *Error. What it accepts can be printed and
// lowered: operands, results, attributes and regions are those that Info says, and the types agree.
func (m *Module) Verify() error { return m.VerifyUntil(nil) }

// VerifyUntil is Verify that ends with [ErrStopped] soon after stop is set; nil never is.
func (m *Module) VerifyUntil(stop *atomic.Bool) error {
	if stop != nil {
		m.stop = stop
	}
	bodies := make([]*Block, len(m.Funcs))
	for i, f := range m.Funcs {
		b, err := f.Body()
		if err != nil {
			return err
		}
		if !f.Entry {
			return &Error{Class: Version, Offset: f.Offset, Local: -1,
				Words: "uses preview feature 'simt', which is not enabled"}
		}
		bodies[i] = b
	}
	v := verifier{m: m, globals: map[string]*Global{}}
	for i := range m.Globals {
		if err := v.global(&m.Globals[i]); err != nil {
			return err
		}
	}
	for i, f := range m.Funcs {
		if err := v.function(f, bodies[i]); err != nil {
			return err
		}
	}
	symbols := map[string]bool{}
	for i := range m.Globals {
		g := &m.Globals[i]
		if err := define(symbols, g.Name, g.Offset); err != nil {
			return err
		}
		v.globals[g.Name] = g
	}
	for _, f := range m.Funcs {
		if err := define(symbols, f.Name, f.Offset); err != nil {
			return err
		}
	}
	if err := v.users(); err != nil {
		return err
	}
	for _, f := range m.Funcs {
		for i, t := range f.Type.Params {
			if t.Kind != Tile || t.Rank() != 0 {
				return &Error{Class: IllTyped, Offset: f.Offset, Local: -1,
					Words: fmt.Sprintf("unsupported type in bytecode for entry argument #%d: '%s'; expected a rank-0 !cuda_tile.tile type", i, t)}
			}
		}
	}
	return nil
}

// users checks the operations that name a global.
func (v *verifier) users() error {
	for _, o := range v.naming {
		g := v.globals[o.Extra.Name]
		if g == nil {
			return bad(o, "'%s' does not reference a valid global", o.Extra.Name)
		}
		if p, e := o.Results[0].Type.Elem, g.Value.Type.Elem; p.Elem != e {
			return bad(o, "pointee type of result type '%s' does not match type '%s' of the global @%s", p, e, g.Name)
		}
	}
	return nil
}

// define enters a symbol.
func define(symbols map[string]bool, name string, at uint64) error {
	if symbols[name] {
		return &Error{Class: IllTyped, Offset: at, Local: -1, Words: "redefinition of symbol named '" + name + "'"}
	}
	symbols[name] = true
	return nil
}

type verifier struct {
	m       *Module
	f       *Func
	globals map[string]*Global
	naming  []*Op // operations that name a global: checked when all others are
}

// bad makes the error of an operation.
func bad(o *Op, format string, args ...any) error {
	return opError(o.Info().Name, o.Offset, format, args...)
}

func opError(name string, at uint64, format string, args ...any) error {
	return &Error{Class: IllTyped, Offset: at, Local: -1,
		Words: "'cuda_tile." + name + "' op " + fmt.Sprintf(format, args...)}
}

func (v *verifier) global(g *Global) error {
	if g.Value.Type.Rank() != 1 {
		return opError("global", g.Offset, "type must have rank 1")
	}
	return nil
}

func (v *verifier) function(f *Func, b *Block) error {
	v.f = f
	fail := func(format string, args ...any) error { return opError("entry", f.Offset, format, args...) }
	switch {
	case len(b.Ops) == 0:
		return fail("expects a non-empty block")
	case f.Private:
		return fail("entry op must have public symbol visibility")
	case len(f.Type.Results) != 0:
		return fail("entry op must not return values")
	}
	for _, t := range f.Type.Params {
		if t.Kind == Tile && t.Rank() != 0 {
			return fail("entry op must have scalar types (rank 0 !cuda_tile.tile)")
		}
	}
	if err := v.functionScope(f, fail); err != nil {
		return err
	}
	if err := v.block(b); err != nil {
		return err
	}
	return v.scopes(f, b)
}

// functionScope checks the place of a function: it is no call, and in the function's own subprogram.
func (v *verifier) functionScope(f *Func, fail func(string, ...any) error) error {
	r := v.m.known(f.Loc)
	switch {
	case r == nil:
		return nil
	case r.tag == debugCallSite:
		return fail("invalid function debug info location. Function location must not be a CallSiteLoc.")
	case r.tag != debugLoc:
		return nil
	}
	s := v.m.known(r.scope)
	if s.tag != debugSubprogram {
		return fail("invalid function debug info scope. Function location must have cuda_tile.di_subprogram debug info scope.")
	}
	if s.linkage != f.Name {
		return fail("invalid function debug info scope. Function name \"%s\" does not match subprogram scope linkage name \"%s\".", f.Name, s.linkage)
	}
	return nil
}

// scopes checks that the places of operations lie in the subprogram of their function.
func (v *verifier) scopes(f *Func, b *Block) error {
	own := v.subprogramOf(f.Loc)
	var walk func(b *Block) error
	walk = func(b *Block) error {
		for _, o := range b.Ops {
			for _, r := range o.Regions {
				for _, inner := range r.Blocks {
					if err := walk(inner); err != nil {
						return err
					}
				}
			}
			s := v.subprogramOf(o.Loc)
			switch {
			case s == 0:
			case own == 0:
				return bad(o, "invalid operation debug info scope. Operation has debug info scope, but function debug info scope is undefined.")
			case *v.m.known(s) != *v.m.known(own):
				return bad(o, "invalid operation debug info scope. Operation debug info scope does not match function debug info scope.")
			}
		}
		return nil
	}
	return walk(b)
}

// subprogramOf gives the subprogram that a place lies in; of an inlined one, that of the outermost call.
func (v *verifier) subprogramOf(l Loc) Loc {
	for range MaxNesting {
		r := v.m.known(l)
		switch {
		case r == nil || r.tag == debugUnknown:
			return 0
		case r.tag == debugLoc:
			return v.m.subprogram(r.scope)
		}
		l = r.caller
	}
	return 0
}

// block checks the operations of a block and those in them.
func (v *verifier) block(b *Block) error {
	for i, o := range b.Ops {
		if v.m.stop != nil && v.m.stop.Load() {
			return ErrStopped
		}
		if err := v.op(o, i == len(b.Ops)-1); err != nil {
			return err
		}
	}
	if last := b.Ops[len(b.Ops)-1]; !last.Info().Terminator {
		return &Error{Class: IllTyped, Offset: last.Offset, Local: -1,
			Words: "block with no terminator, has 'cuda_tile." + last.Info().Name + "'"}
	}
	return nil
}

// op checks an operation: number of operands and results, attributes, types, regions, rules, then what is its own.
func (v *verifier) op(o *Op, last bool) error {
	info := o.Info()
	if err := counts(o, info); err != nil {
		return err
	}
	if err := v.placed(o, info, last); err != nil {
		return err
	}
	if info.Regions == 0 {
		if err := v.own(o, info); err != nil {
			return err
		}
		return nil
	}
	if err := v.own(o, info); err != nil {
		return err
	}
	for i := range o.Regions {
		for _, b := range o.Regions[i].Blocks {
			if err := v.block(b); err != nil {
				return err
			}
		}
	}
	return v.inRegions(o)
}

// own checks an operation without what is in its regions.
func (v *verifier) own(o *Op, info *Info) error {
	if (o.Code == Reduce || o.Code == Scan) && o.Extra.Dim < 0 {
		return bad(o, "attribute 'dim' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative")
	}
	if err := slotTypes(o, info.Operands, "operand", o.Group, o.Operands); err != nil {
		return err
	}
	results := func(i int) []*Val {
		if info.Results[i].Arity == Variadic {
			return o.Results
		}
		return o.Results[i : i+1]
	}
	if err := slotTypes(o, info.Results, "result", results, o.Results); err != nil {
		return err
	}
	for i := range info.Rules {
		if err := v.rule(o, &info.Rules[i]); err != nil {
			return err
		}
	}
	for i := range o.Regions {
		n := len(o.Regions[i].Blocks)
		if n > 1 || n == 0 && (o.Code != If || i == 0) {
			return bad(o, "region #%d%s failed to verify constraint: region with %s1 blocks", i, regionName(o, i),
				atMost(o, i))
		}
	}
	return v.special(o)
}

func regionName(o *Op, i int) string {
	names := map[Opcode][]string{If: {"thenRegion", "elseRegion"}, For: {"region"}, Loop: {"region"}, Reduce: {"body"},
		Scan: {"body"}}
	return " ('" + names[o.Code][i] + "')"
}

func atMost(o *Op, i int) string {
	if o.Code == If && i == 1 {
		return "at most "
	}
	return ""
}

// counts checks the numbers of operands and results.
func counts(o *Op, info *Info) error {
	results, least := 0, 0
	open := slices.ContainsFunc(info.Results, variadic)
	for _, s := range info.Results {
		if s.Arity == Single {
			results++
		}
	}
	switch {
	case !open && len(o.Results) != results && results == 0:
		return bad(o, "requires zero results")
	case !open && len(o.Results) != results && results == 1:
		return bad(o, "requires one result")
	case !open && len(o.Results) != results:
		return bad(o, "expected %d results", results)
	}
	for _, s := range info.Operands {
		if s.Arity == Single {
			least++
		}
	}
	if len(o.Operands) < least {
		return bad(o, "expected %d or more operands, but found %d", least, len(o.Operands))
	}
	if info.openOperands() && !slices.ContainsFunc(info.Operands, variadic) && len(o.Operands) > least+1 {
		return bad(o, "operand group starting at #%d requires 0 or 1 element, but found %d", least,
			len(o.Operands)-least)
	}
	return nil
}

// parents are the operations that an operation may stand in, where that is limited; 0 stands for the entry.
var parents = map[Opcode][]Opcode{
	Break: {If, Loop}, Continue: {For, If, Loop}, Yield: {If, Reduce, Scan},
	Return: {entryParent, previewFunc, If, Loop},
}

// entryParent stands for the body of an entry among parents; its number is that of the entry operation, which has no
// row. previewFunc stands for a function that is no entry; there are none.
const (
	entryParent Opcode = 0x16
	previewFunc Opcode = 0xff
)

// placed checks where an operation stands.
func (v *verifier) placed(o *Op, info *Info, last bool) error {
	if info.Terminator && !last {
		return bad(o, "must be the last operation in the parent block")
	}
	allowed, limited := parents[o.Code]
	if !limited {
		return nil
	}
	parent := entryParent
	if o.Parent.Parent != nil {
		parent = o.Parent.Parent.Code
	}
	if slices.Contains(allowed, parent) {
		return nil
	}
	var names []string
	for _, p := range allowed {
		name := "entry"
		switch p {
		case entryParent:
		case previewFunc:
			name = "preview$func"
		default:
			name = p.String()
		}
		names = append(names, "cuda_tile."+name)
	}
	return bad(o, "expects parent op to be one of '%s'", strings.Join(names, ", "))
}
