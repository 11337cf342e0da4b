package link

import (
	"fmt"

	"github.com/gocuda/cuda/internal/image/fault"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// symbol is a name with linkage in all units that mention it.
type symbol struct {
	name     string
	first    *mention // the first
	def      *mention // what defines it so far
	used     *Unit    // the first unit that refers to it
	mentions []*mention
}

type mention struct {
	*name
	unit *Unit
}

// table is the symbols of a link by the order of their first mention.
type table struct {
	list   []*symbol
	byName map[string]*symbol
}

// add merges units, all or none.
func (t *table) add(units []*Unit) *Error {
	n := len(t.list)
	for i, u := range units {
		if err := t.conflicts(u); err != nil {
			if i > 0 { // take back what this input brought
				t.drop(n, units[:i])
			}
			return err
		}
		t.merge(u)
	}
	return nil
}

// drop removes the mentions of units and the symbols beyond the first n, which only they mention.
func (t *table) drop(n int, units []*Unit) {
	gone := map[*Unit]bool{}
	for _, u := range units {
		gone[u] = true
	}
	for _, s := range t.list[n:] {
		delete(t.byName, s.name)
	}
	t.list = t.list[:n]
	for _, s := range t.list {
		all := s.mentions
		s.def, s.used, s.mentions = nil, nil, nil
		for _, m := range all {
			if !gone[m.unit] {
				s.take(m)
			}
		}
	}
}

// conflicts checks a unit against what is there.
func (t *table) conflicts(u *Unit) *Error {
	var log []string
	class := Mismatch
	broken := false
	for i := range u.names {
		n := &u.names[i]
		s := t.byName[n.name]
		if s == nil {
			continue
		}
		// the linker goes on and then trips over it (recorded)
		if s.def != nil && s.def.v != nil && n.fn != nil && n.defined() {
			log = append(log, fmt.Sprintf("error   : Memory space doesn't match for '%s' in '%s', first specified in '%s'", n.name, u.Name, s.first.unit.Name),
				fmt.Sprintf("error   : Multiple definition of '%s' in '%s', first defined in '%s'", n.name, u.Name,
					s.def.unit.Name))
			broken = true
			continue
		}
		if what := s.disagree(n); what != "" {
			// The unit that defines a function is the one that is right about its prototype (recorded).
			how, where := "specified", s.first.unit
			switch {
			case what != disagreePrototype:
			case s.def != nil:
				how, where = "defined", s.def.unit
			case n.defined():
				how, where = "defined", u
			}
			log = append(log, fmt.Sprintf("error   : %s doesn't match for '%s' in '%s', first %s in '%s'", what, n.name,
				u.Name, how, where.Name))
			continue
		}
		if s.def == nil || !s.def.strong() || !n.strong() {
			continue
		}
		// For a variable the linker names the unit that mentioned it first, for a function the one that defines it
		// (recorded).
		where := s.def.unit
		if n.v != nil {
			where, class = s.first.unit, DuplicateVariable
		} else if class == Mismatch {
			class = Duplicate
		}
		log = append(log, fmt.Sprintf("error   : Multiple definition of '%s' in '%s', first defined in '%s'", n.name,
			u.Name, where.Name))
	}
	if log == nil {
		return nil
	}
	if broken {
		e := lines(Mismatch, append(log, "fatal   : Internal error: no callgraph node"))
		e.result = fault.Unknown
		return e
	}
	return lines(class, log)
}

const disagreePrototype = "Prototype"

// disagree says in what a new mention contradicts the symbol, "" when in nothing.
func (s *symbol) disagree(n *name) string {
	old := s.first.name
	if s.def != nil {
		old = s.def.name
	}
	if (old.fn != nil) != (n.fn != nil) {
		return "Type"
	}
	if n.fn != nil {
		if old.fn.Entry != n.fn.Entry {
			return "Type"
		}
		if !samePrototype(old.fn, n.fn) {
			return disagreePrototype
		}
		return ""
	}
	a, b := old.v, n.v
	switch {
	case a.Space != b.Space:
		return "Memory space"
	case old.linkage == ptx.LinkCommon && n.linkage == ptx.LinkCommon:
		return "" // the larger one wins
	case a.Size != b.Size && a.Size != 0 && b.Size != 0:
		return "Size"
	}
	return ""
}

// samePrototype compares what a call passes: the number and sizes of parameters and results, not their types, which
// different compilers write differently.
func samePrototype(f, g *check.Func) bool {
	same := func(a, b []*check.Var) bool {
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if a[i].Size != b[i].Size && a[i].Size != 0 && b[i].Size != 0 {
				return false
			}
		}
		return true
	}
	return same(f.Params, g.Params) && same(f.Returns, g.Returns)
}

func (t *table) merge(u *Unit) {
	for i := range u.names {
		n := &u.names[i]
		s := t.byName[n.name]
		if s == nil {
			s = &symbol{name: n.name}
			t.byName[n.name] = s
			t.list = append(t.list, s)
		}
		s.take(&mention{n, u})
	}
}

// take adds a mention. A strong definition wins over all others, a common one over weak ones, a larger common one over
// a smaller, else the first.
func (s *symbol) take(m *mention) {
	if s.mentions == nil {
		s.first = m
	}
	s.mentions = append(s.mentions, m)
	if m.used && s.used == nil {
		s.used = m.unit
	}
	if !m.defined() {
		return
	}
	if s.def == nil || rank(m) > rank(s.def) {
		s.def = m
	} else if rank(m) == rankCommon && rank(s.def) == rankCommon && m.v.Size > s.def.v.Size {
		s.def = m
	}
}

const (
	rankWeak = iota + 1
	rankCommon
	rankStrong
)

func rank(m *mention) int {
	switch m.linkage {
	case ptx.LinkWeak:
		return rankWeak
	case ptx.LinkCommon:
		return rankCommon
	}
	return rankStrong
}

// open says whether the symbol is used and nothing defines it.
func (s *symbol) open(o *Options, runtime bool) bool {
	if s.used == nil || s.def != nil {
		return false
	}
	if v := s.first.v; v != nil {
		return v.Space != "shared" || v.Size != 0 // an unsized one is the launch's dynamic shared memory
	}
	return s.first.linkage != ptx.LinkWeak && !o.builtin(s.name, runtime)
}

// undefined reports names that are used and not defined.
func (t *table) undefined(o *Options, runtime bool) *Error {
	var log, missing []string
	for _, s := range t.list {
		if !s.open(o, runtime) {
			continue
		}
		if s.first.fn != nil && runtime && runtimeName(s.name) {
			missing = append(missing, s.name)
		}
		log = append(log, fmt.Sprintf("error   : Undefined reference to '%s' in '%s'", s.name, s.used.Name))
	}
	switch {
	case log == nil:
		return nil
	case len(missing) == len(log):
		e := lines(Unsupported, log)
		e.Detail = fmt.Sprintf("the device runtime's function %s is not provided by the software device", missing[0])
		return e
	}
	return lines(Undefined, log)
}
