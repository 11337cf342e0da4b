package check

import (
	"strconv"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// symbol is what a name stands for; one field is set.
type symbol struct {
	v *Var
	f *Func
	l *Label
	t *Table
}

// regSet is a parameterised register declaration, ".reg .b32 %r<1000>". Its members come to be when they are used.
type regSet struct {
	prefix string
	count  uint64
	decl   *ptx.Var
	typ    *optab.Type
	all    *Declared        // what its members share
	pages  []*[setPage]*Var // of small sets
	far    map[uint64]*Var  // of sets with more than setPaged members
}

const (
	setPage  = 64
	setPaged = 1 << 20
)

// scope is a block of names. Module scope has no parent.
type scope struct {
	parent   *scope
	names    map[string]symbol
	sets     []*regSet
	byPrefix map[string]*regSet // of sets, when they are many
	numbered map[string]uint64  // of names that end in a number: the prefix and its lowest number
}

// manySets is how many register sets a scope searches one by one.
const manySets = 12

// set returns the set whose member prefix+n is.
func (s *scope) set(prefix string, n uint64) *regSet {
	if s.byPrefix != nil {
		if set := s.byPrefix[prefix]; set != nil && n < set.count {
			return set
		}
		return nil
	}
	for _, set := range s.sets {
		if n < set.count && set.prefix == prefix {
			return set
		}
	}
	return nil
}

// splitNumber splits r12 into r and 12, and r012 too: an H200's driver takes %r01 for a member of %r<9>.
func splitNumber(name string) (prefix string, n uint64, ok bool) {
	i := len(name)
	for i > 0 && name[i-1]-'0' <= 9 {
		i--
	}
	if i == len(name) || len(name)-i > 18 {
		return "", 0, false
	}
	for _, c := range []byte(name[i:]) {
		n = n*10 + uint64(c-'0')
	}
	return name[:i], n, true
}

// find returns the symbol of a name in this scope or an outer one.
func (c *checker) find(name string) (symbol, bool) {
	prefix, n, num := splitNumber(name)
	for s := c.scope; s != nil; s = s.parent {
		if num {
			if set := s.set(prefix, n); set != nil {
				return symbol{v: c.member(set, name, n)}, true
			}
		}
		if len(s.names) == 0 {
			continue
		}
		if sym, ok := s.names[name]; ok {
			if s.parent == nil && sym.v != nil && sym.v.Space == "reg" {
				return symbol{v: c.moduleReg(sym.v)}, true
			}
			return sym, true
		}
	}
	return symbol{}, false
}

// member returns the nth register of a set, made at first use.
func (c *checker) member(set *regSet, name string, n uint64) *Var {
	if set.count > setPaged {
		v := set.far[n]
		if v == nil {
			if set.far == nil {
				set.far = map[uint64]*Var{}
			}
			v = c.newMember(set, name)
			set.far[n] = v
		}
		return v
	}
	if set.pages == nil {
		set.pages = make([]*[setPage]*Var, (set.count+setPage-1)/setPage)
	}
	p := set.pages[n/setPage]
	if p == nil {
		p = new([setPage]*Var)
		set.pages[n/setPage] = p
	}
	v := p[n%setPage]
	if v == nil {
		v = c.newMember(set, name)
		p[n%setPage] = v
	}
	return v
}

// newReg makes a register of the function in hand, with its elements when it is a vector.
func (c *checker) newReg(decl *ptx.Var, name string, t *optab.Type) *Var {
	v := c.newVar()
	*v = Var{Name: name, Declared: c.declareReg(decl, t)}
	if decl.Vec > 1 {
		elems := *v.Declared
		v.Vec = decl.Vec
		v.Size *= uint64(decl.Vec)
		v.Align = v.Size
		v.Index = -1
		for i := 0; i < max(decl.Vec, 4); i++ { // the driver takes .z of a .v2 register too
			e := c.newVar()
			*e = Var{Name: name + "." + component[i:i+1], Declared: &elems}
			c.addReg(e)
			v.Elems = append(v.Elems, e)
		}
		v.Elems = v.Elems[:decl.Vec]
		return v
	}
	c.addReg(v)
	return v
}

// declareReg describes scalar registers of the function in hand.
func (c *checker) declareReg(decl *ptx.Var, t *optab.Type) *Declared {
	return &Declared{Decl: decl, Space: "reg", Type: t, Func: c.fn, Size: uint64(t.Bytes()), Align: uint64(t.Bytes())}
}

// newMember makes the register called name of a set.
func (c *checker) newMember(set *regSet, name string) *Var {
	if set.decl.Vec > 1 {
		return c.newReg(set.decl, name, set.typ)
	}
	if set.all == nil || set.all.Func != c.fn {
		set.all = c.declareReg(set.decl, set.typ)
	}
	v := c.newVar()
	*v = Var{Name: name, Declared: set.all}
	c.addReg(v)
	return v
}

const component = "xyzw----"

// moduleReg gives the function in hand a register for one that is declared at module scope. The ABI has none that
// functions share: each function sees its own.
func (c *checker) moduleReg(v *Var) *Var {
	if c.fn == nil {
		return v
	}
	if r := c.global[v]; r != nil {
		return r
	}
	if c.global == nil {
		c.global = map[*Var]*Var{}
	}
	r := c.newReg(v.Decl, v.Name, v.Type)
	c.global[v] = r
	return r
}

func (c *checker) addReg(v *Var) {
	if c.fn != nil {
		v.Index = len(c.fn.Regs)
		c.fn.Regs = append(c.fn.Regs, v)
	}
}

// newVar takes a Var from a slab: a module has many.
func (c *checker) newVar() *Var {
	if len(c.vars) == 0 {
		c.vars = make([]Var, 128) // of 32 bytes
	}
	v := &c.vars[0]
	c.vars = c.vars[1:]
	return v
}

// declare puts a name into the scope in hand; false when it is already there.
func (c *checker) declare(name string, sym symbol) bool {
	s := c.scope
	if _, dup := s.names[name]; dup {
		return false
	}
	if prefix, n, ok := splitNumber(name); ok {
		if s.set(prefix, n) != nil {
			return false
		}
		if s.parent != nil { // registers are not at module scope
			if low, seen := s.numbered[prefix]; !seen || n < low {
				if s.numbered == nil {
					s.numbered = map[string]uint64{}
				}
				s.numbered[prefix] = n
			}
		}
	}
	if s.names == nil {
		s.names = map[string]symbol{}
	}
	s.names[name] = sym
	return true
}

// declareSet puts a parameterised register name into the scope in hand. When one of its members is already there, the
// second result is false and the first the name that ptxas complains about.
func (c *checker) declareSet(set *regSet) (string, bool) {
	s := c.scope
	if set.count == 0 {
		return "", true
	}
	if s.set(set.prefix, 0) != nil {
		return set.prefix + "<", false
	}
	if low, ok := s.numbered[set.prefix]; ok && low < set.count {
		return set.prefix + strconv.FormatUint(low, 10), false
	}
	s.sets = append(s.sets, set)
	switch {
	case s.byPrefix != nil:
		s.byPrefix[set.prefix] = set
	case len(s.sets) > manySets:
		s.byPrefix = map[string]*regSet{}
		for _, x := range s.sets {
			s.byPrefix[x.prefix] = x
		}
	}
	return "", true
}

func (c *checker) open()  { c.scope = &scope{parent: c.scope} }
func (c *checker) close() { c.scope = c.scope.parent }
