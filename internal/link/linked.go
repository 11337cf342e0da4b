package link

import (
	"encoding/binary"

	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// Linked is a program: modules whose names lead to each other. It is read-only once made.
type Linked struct {
	Units []*Unit
	// Vars and Funcs lead from a declaration, and from a definition that lost to another, to what stands for it. What
	// is not in them stands for itself.
	Vars  map[*check.Var]*check.Var
	Funcs map[*check.Func]*check.Func
	// Kernels are the entries in the order of cuModuleEnumerateFunctions; cuLibraryEnumerateKernels gives the reverse
	// (recorded).
	Kernels []*check.Func
	// Variables are all that need memory for the life of the module: the definitions in the global and const spaces
	// (textures, samplers and surfaces among them), those local to functions too. Their order is that of the units and
	// of the declarations.
	Variables []*check.Var
	// Taken are the functions and entries whose address the program takes, in order; only these need addresses.
	Taken []*check.Func
	// Runtime says that the program was linked with the device runtime library.
	Runtime bool

	opts     Options
	kernels  map[string]*check.Func
	vars     map[string]*check.Var
	taken    map[*check.Func]bool
	compiled map[*check.Func]Compile // of the functions for which it is not the compiler's own choice
}

// Module parses, checks and links one module alone, as the module loads do. Errors are *Error.
func Module(text []byte, o Options) (*Linked, error) {
	u, err := parse(text, "", "", check.Options{SM: o.SM, MaxShared: o.MaxShared, Newest: o.Newest,
		Stop: o.Stop})
	if err == nil {
		var p *Linked
		if p, err = single(u, o); err == nil {
			return p, nil
		}
	}
	return nil, (&Linker{opts: o}).fail(err)
}

// Single links a checked module alone; text is what it was parsed from and may be nil when no image of it is wanted. An
// extern function that is used and that the device does not provide is an error, as is an extern variable without a
// size; another extern variable is not (recorded). Errors are *Error.
func Single(m *check.Module, text []byte, o Options) (*Linked, error) {
	u := &Unit{Text: text, Module: m}
	err := u.analyse(o.Stop)
	if err == nil {
		var p *Linked
		if p, err = single(u, o); err == nil {
			return p, nil
		}
	}
	return nil, (&Linker{opts: o}).fail(err)
}

func single(u *Unit, o Options) (*Linked, *Error) {
	l := New(o)
	l.table.merge(u)
	for _, s := range l.table.list {
		if s.def != nil {
			continue
		}
		switch n := s.first; {
		case n.fn != nil && s.open(&o, false):
			return nil, unresolved("function", s.name)
		case n.v != nil && n.v.Size == 0 && n.v.Space != "shared":
			return nil, unresolved("variable", s.name)
		}
	}
	u.Compile = o.Compile
	l.units = []*Unit{u}
	return l.resolve(), nil
}

// resolve makes the program of the units.
func (l *Linker) resolve() *Linked {
	p := &Linked{Units: l.units, Runtime: l.runtime, opts: l.opts, Vars: map[*check.Var]*check.Var{},
		Funcs:   map[*check.Func]*check.Func{},
		kernels: map[string]*check.Func{}, vars: map[string]*check.Var{}, taken: map[*check.Func]bool{},
		compiled: map[*check.Func]Compile{}}
	for _, u := range l.units { // aliases without linkage
		for _, f := range u.Module.Funcs {
			if a := u.alias(f); a != nil {
				p.Funcs[f] = a
			}
		}
	}
	for _, s := range l.table.list {
		if s.def == nil {
			continue
		}
		if v := s.def.v; v != nil {
			for _, m := range s.mentions {
				if m.v != v {
					p.Vars[m.v] = v
				}
			}
			continue
		}
		f := s.def.fn
		if s.def.alias != nil {
			f = s.def.alias
		}
		if s.def.linkage == ptx.LinkWeak && l.runtime && l.opts.Runtime != nil && l.opts.Runtime(s.name) {
			// Headers give weak stand-ins for some functions of the device runtime; the library's own win.
			f = &check.Func{Decl: f.Decl, Name: s.name, Linkage: ptx.LinkExtern, Params: f.Params, Returns: f.Returns}
		}
		for _, m := range s.mentions {
			if m.fn != f {
				p.Funcs[m.fn] = f
			}
		}
	}
	for f, g := range p.Funcs { // an alias may stand for a weak function that lost
		for range len(p.Funcs) {
			h := p.Funcs[g]
			if h == nil || h == g {
				break
			}
			g = h
		}
		p.Funcs[f] = g
	}
	p.collect()
	return p
}

// collect lists kernels, variables and functions with addresses.
func (p *Linked) collect() {
	var code []*check.Func
	local := map[string]*check.Var{}
	take := func(f *check.Func) {
		if f = p.Func(f); !p.taken[f] {
			p.taken[f] = true
			p.Taken = append(p.Taken, f)
		}
	}
	place := func(v *check.Var) {
		switch v.Space {
		case "global", "const", "tex":
		default:
			return
		}
		if v.Linkage == ptx.LinkExtern || p.Vars[v] != nil {
			return
		}
		p.Variables = append(p.Variables, v)
		initialiserUses(v, take, func(*check.Var) {})
		if v.Func != nil {
			return
		}
		if v.Linkage != ptx.LinkNone {
			p.vars[v.Name] = v
		} else if local[v.Name] == nil {
			local[v.Name] = v
		}
	}
	for _, u := range p.Units {
		for _, v := range u.Module.Vars {
			place(v)
		}
		for _, f := range u.Module.Funcs {
			if u.Compile != (Compile{}) {
				p.compiled[f] = u.Compile
			}
			if !f.Defined || p.Funcs[f] != nil {
				continue
			}
			for _, v := range f.Locals {
				place(v)
			}
			for _, g := range u.uses[f].taken {
				take(g)
			}
		}
		for _, f := range u.code {
			if f.Entry && p.Funcs[f] == nil {
				code = append(code, f)
			}
		}
	}
	for name, v := range local {
		if p.vars[name] == nil {
			p.vars[name] = v
		}
	}
	for i := len(code) - 1; i >= 0; i-- {
		p.Kernels = append(p.Kernels, code[i])
		if p.kernels[code[i].Name] == nil {
			p.kernels[code[i].Name] = code[i]
		}
	}
}

// Kernel returns the entry of that name, nil when there is none.
func (p *Linked) Kernel(name string) *check.Func { return p.kernels[name] }

// Variable returns the module-scope variable of that name: one with linkage before one that is local to a module; nil
// when there is none.
func (p *Linked) Variable(name string) *check.Var { return p.vars[name] }

// Func returns what stands for a function.
func (p *Linked) Func(f *check.Func) *check.Func {
	if g := p.Funcs[f]; g != nil {
		return g
	}
	return f
}

// Var returns what stands for a variable.
func (p *Linked) Var(v *check.Var) *check.Var {
	if w := p.Vars[v]; w != nil {
		return w
	}
	return v
}

// Builtin says whether the device provides an undefined function to this program.
func (p *Linked) Builtin(name string) bool { return p.opts.builtin(name, p.Runtime) }

// Symbols makes what the lowering reads. The functions of Taken get addresses from first on, step apart.
func (p *Linked) Symbols(first, step uint64) *ir.Symbols {
	s := &ir.Symbols{Vars: p.Vars, Funcs: p.Funcs, Handles: make(map[*check.Func]uint64, len(p.Taken)),
		Builtin: p.Builtin, NoContract: func(f *check.Func) bool {
			return p.compiled[f].NoContract
		}}
	for i, f := range p.Taken {
		s.Handles[f] = first + uint64(i)*step
	}
	return s
}

// Write puts a variable's initial value into its memory: b has v.Size bytes, or as many as v.Init where the rest is
// zero. address gives the device address of a variable and s the addresses of functions.
func (p *Linked) Write(b []byte, v *check.Var, s *ir.Symbols, address func(*check.Var) uint64) {
	clear(b[copy(b, v.Init):])
	for i := range v.Relocs {
		r := &v.Relocs[i]
		x := uint64(r.Addend)
		switch {
		case r.Func != nil:
			x += s.Handles[p.Func(r.Func)]
		case r.Var != nil:
			x += address(p.Var(r.Var))
		}
		if r.Mask != 0 {
			x = (x & r.Mask) >> r.Shift
		}
		if r.Size < 0 || r.Size > 8 || r.Offset > uint64(len(b)) || uint64(r.Size) > uint64(len(b))-r.Offset {
			continue // the checker makes no such relocation
		}
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], x)
		copy(b[r.Offset:r.Offset+uint64(r.Size)], word[:])
	}
}
