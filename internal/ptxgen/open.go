package ptxgen

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Cause is why a GPU may give another row than the software device does.
type Cause struct {
	Name   string
	Open   bool   // PTX leaves the result open; else NVIDIA's compiler does otherwise than PTX says
	Reason string // with the section of the PTX ISA manual
	is     func(in *check.Inst) bool
}

// carry is the cause of what reads the condition code before anything has set it; the others are in instructions alone.
const carry = 0

// causes are all that is known. Nothing is listed for the mere fact that it differs: each reason is one of the manual,
// or of what an H200 was seen to do with the instruction in the form that is.
var causes = []Cause{
	{"carry", true, "9.7.2: CC.CF is written by instructions with .cc and not preserved across calls; its first value is nobody's", func(*check.Inst) bool {
		return false
	}},
	{"constant", true, "9.7.3: approximations; of a constant the compiler stores the correctly rounded result, not the processor's", func(in *check.Inst) bool {
		return in.Match.Has("approx") && !slices.ContainsFunc(in.Args, func(a check.Arg) bool {
			return source(&a) && a.Kind != check.ArgImm
		})
	}},
	{"nan", true, "9.7.3 abs, neg: a NaN gives an unspecified NaN; with the operand folded into its user it keeps its payload", func(in *check.Inst) bool {
		return (name(in) == "abs" || name(in) == "neg") && in.Match.Type(0) == "f32"
	}},
	{"active", true, "9.7.13 activemask: threads need not have met again after a branch, and which run together is open", func(in *check.Inst) bool {
		return name(in) == "activemask"
	}},
	{"elect", false, "9.7.13 elect.sync: each part of a warp that a branch has parted elects a thread of its own",
		func(in *check.Inst) bool {
			return name(in) == "elect"
		}},
	{"set", false, "9.3: ptxas guards the comparison of a set with a float for a result, or with one wider than the operands, not the conversion after it: the old value is converted",
		func(in *check.Inst) bool {
			if name(in) != "set" || in.Guard == nil {
				return false
			}
			d, s := optab.FindType(in.Match.Type(0)), optab.FindType(in.Match.Type(1))
			return d.Class == optab.Float || d.Class <= optab.Signed && d.Bits > s.Bits
		}},
	{"testp", false, "9.3: ptxas guards a part of testp only: the predicate changes where the guard is false",
		func(in *check.Inst) bool {
			return name(in) == "testp" && in.Guard != nil
		}},
}

func name(in *check.Inst) string { return in.Match.Form.Name }

func source(a *check.Arg) bool { return a.Op != nil && !a.Op.Dst && a.Kind != check.ArgNone }

// Causes says for each row of a program's output what may make it another on a GPU: bits, one for each of [CauseList].
func (p *Program) Causes() ([]uint32, error) {
	m, err := ptx.Parse([]byte(p.Text))
	if err != nil {
		return nil, err
	}
	mod, err := check.Check(m, check.Options{SM: 90})
	if err != nil {
		return nil, err
	}
	f := flow{p: p, rows: make([]uint32, p.Rows), known: make([]bool, p.Rows), inside: map[*check.Func]uint32{}}
	for _, fn := range mod.Funcs {
		f.inside[fn] = own(fn)
		f.all |= f.inside[fn]
	}
	for _, fn := range mod.Funcs {
		if fn.Entry {
			f.run(fn)
		}
	}
	for i := range f.rows {
		if !f.known[i] {
			f.rows[i] |= f.rest
		}
	}
	return f.rows, nil
}

// CauseList is what the bits of [Program.Causes] stand for. Nobody may write to it.
func CauseList() []Cause { return causes }

// own are the causes of a function's instructions.
func own(fn *check.Func) (mask uint32) {
	set := false
	for i := range fn.Insts {
		in := &fn.Insts[i]
		mask |= caused(in)
		if reads(in) && !set {
			mask |= 1 << carry
		}
		set = set && name(in) != "call" || in.Match.Has("cc")
	}
	return mask
}

func caused(in *check.Inst) (mask uint32) {
	for i := range causes {
		if causes[i].is(in) {
			mask |= 1 << i
		}
	}
	return mask
}

// reads says whether an instruction reads the carry flag.
func reads(in *check.Inst) bool {
	switch name(in) {
	case "addc", "subc", "madc":
		return true
	}
	return false
}

// flow follows causes from instructions through registers and memory to rows. It errs towards too many.
type flow struct {
	p      *Program
	rows   []uint32
	known  []bool // rows that a plain store writes
	rest   uint32 // causes of all other stores
	inside map[*check.Func]uint32
	all    uint32 // of all functions
}

// state is what is known at a place of the kernel.
type state struct {
	regs   []uint32
	memory map[any]uint32 // of variables, and of state spaces for what registers point to
	cc     uint32
}

func (s *state) join(t *state) (changed bool) {
	or := func(a *uint32, b uint32) {
		changed = changed || *a|b != *a
		*a |= b
	}
	for i := range s.regs {
		or(&s.regs[i], t.regs[i])
	}
	for k, v := range t.memory {
		n := s.memory[k]
		or(&n, v)
		s.memory[k] = n
	}
	or(&s.cc, t.cc)
	return changed
}

func (s *state) copy() *state {
	c := &state{slices.Clone(s.regs), map[any]uint32{}, s.cc}
	for k, v := range s.memory {
		c.memory[k] = v
	}
	return c
}

// run repeats the kernel until nothing changes.
func (f *flow) run(fn *check.Func) {
	empty := func() *state { return &state{make([]uint32, len(fn.Regs)), map[any]uint32{}, 0} }
	at := map[int]*state{} // at labels
	for _, l := range fn.Labels {
		at[l.Inst] = empty()
	}
	region := make([]uint32, len(fn.Insts)+1) // of branches whose condition has a cause, up to where they go
	for changed := true; changed; {
		changed = false
		s := empty()
		s.cc = 1 << carry
		for i := range fn.Insts {
			if l := at[i]; l != nil {
				changed = l.join(s) || changed
				s = l.copy()
			}
			in := &fn.Insts[i]
			n := name(in)
			if n == "bra" || n == "brx" {
				mask := f.condition(s, in)
				first, last := i, i
				for _, l := range targets(in) {
					if t := at[l.Inst]; t != nil {
						changed = t.join(s) || changed
					}
					first, last = min(first, l.Inst), max(last, l.Inst)
				}
				// the other branch of a condition
				for last > 0 && last <= len(fn.Insts) && name(&fn.Insts[last-1]) == "bra" &&
					fn.Insts[last-1].Guard == nil {
					end := last
					for _, l := range targets(&fn.Insts[last-1]) {
						end = max(end, l.Inst)
					}
					if end == last {
						break
					}
					last = end
				}
				for k := first; mask != 0 && k < last; k++ {
					changed = changed || region[k]|mask != region[k]
					region[k] |= mask
				}
			}
			f.step(s, in, region[i])
		}
	}
}

func targets(in *check.Inst) (list []*check.Label) {
	for i := range in.Args {
		if l := in.Args[i].Label; l != nil {
			list = append(list, l)
		}
		if t := in.Args[i].Table; t != nil {
			list = append(list, t.Labels...)
		}
	}
	return list
}

// condition are the causes of a branch's condition or index.
func (f *flow) condition(s *state, in *check.Inst) (mask uint32) {
	if in.Guard != nil {
		mask = s.regs[in.Guard.Index]
	}
	for i := range in.Args {
		mask |= f.value(s, &in.Args[i])
	}
	return mask
}

// value are the causes of an operand that is read, for one in memory also of its place.
func (f *flow) value(s *state, a *check.Arg) (mask uint32) {
	switch a.Kind {
	case check.ArgReg:
		mask = f.register(s, a.Var)
	case check.ArgSym:
		if a.Var != nil {
			mask = s.memory[a.Var.Declared]
		}
	case check.ArgAddr:
		mask = f.value(s, a.Base)
		for i := range a.Extra {
			mask |= f.value(s, &a.Extra[i])
		}
	}
	for i := range a.Elems {
		mask |= f.value(s, &a.Elems[i])
	}
	if a.Second != nil {
		mask |= f.value(s, a.Second)
	}
	return mask
}

func (f *flow) register(s *state, v *check.Var) (mask uint32) {
	if v.Space != "reg" {
		return s.memory[v.Declared]
	}
	for _, e := range v.Elems {
		mask |= s.regs[e.Index]
	}
	if len(v.Elems) == 0 {
		mask = s.regs[v.Index]
	}
	return mask
}

// set gives the registers of a result their causes; a result that may not be written keeps what it had.
func (f *flow) set(s *state, a *check.Arg, mask uint32, sure bool) {
	one := func(v *check.Var) {
		if !sure {
			mask |= s.regs[v.Index]
		}
		s.regs[v.Index] = mask
	}
	switch {
	case a.Kind == check.ArgReg && a.Var.Space != "reg", a.Kind == check.ArgSym && a.Var != nil:
		s.memory[a.Var.Declared] |= mask
	case a.Kind == check.ArgReg && len(a.Var.Elems) > 0:
		for _, e := range a.Var.Elems {
			one(e)
		}
	case a.Kind == check.ArgReg:
		one(a.Var)
	}
	for i := range a.Elems {
		f.set(s, &a.Elems[i], mask, sure)
	}
	if a.Second != nil {
		f.set(s, a.Second, mask, sure)
	}
}

// step follows one instruction.
func (f *flow) step(s *state, in *check.Inst, region uint32) {
	n := name(in)
	mask := region | caused(in)
	sure := region == 0
	if g := in.Guard; g != nil && g.Name != "%pt" && g.Name != "%pf" {
		mask |= s.regs[g.Index]
		sure = false
	}
	var to *check.Arg // memory that is written
	var from []*check.Arg
	for i := range in.Args {
		a := &in.Args[i]
		switch {
		case a.Op != nil && a.Op.Dst && a.Kind != check.ArgAddr:
			if n == "call" {
				from = append(from, a)
			}
		default:
			mask |= f.value(s, a)
			if a.Kind == check.ArgAddr {
				from = append(from, a)
				if to == nil {
					to = a
				}
			}
		}
	}
	if reads(in) {
		mask |= s.cc
	}
	space, _, _ := strings.Cut(in.Match.One("global", "shared", "shared::cta", "shared::cluster", "local", "param",
		"const", "param::func", "param::entry"), "::")
	if n == "call" {
		mask |= f.called(in)
		s.cc = 1 << carry
	}
	for _, a := range from { // what is read from memory, or may be
		if a.Kind == check.ArgAddr {
			mask |= s.memory[place(a, space)] | s.memory[""]
			if space == "" && a.Base.Kind != check.ArgSym {
				for _, m := range s.memory {
					mask |= m
				}
			}
		}
	}
	for i := range in.Args {
		if a := &in.Args[i]; a.Op != nil && a.Op.Dst && a.Kind != check.ArgAddr {
			f.set(s, a, mask, sure)
		}
	}
	if in.Match.Has("cc") {
		if !sure {
			mask |= s.cc
		}
		s.cc = mask
	}
	if to == nil || n == "ld" || n == "ldu" {
		return
	}
	if to.Base.Kind == check.ArgReg && slices.Contains([]string{"%o1", "%o2", "%o4"}, to.Base.Var.Name) &&
		to.Off >= Scratch {
		row := int(to.Off-Scratch) / (4 * f.p.Threads())
		size := 0
		for i := range in.Args {
			if a := &in.Args[i]; a != to && source(a) {
				t := optab.FindType(in.Match.Types[len(in.Match.Types)-1])
				size += max(1, len(a.Elems)) * max(32, t.Bits) / 32
			}
		}
		for k := row; k < min(row+size, len(f.rows)); k++ {
			f.rows[k] |= mask
			f.known[k] = true
		}
		return
	}
	if mask != 0 {
		s.memory[place(to, space)] |= mask
		f.rest |= mask
	}
}

// place is the key of memory: the variable, or the state space that a register points into.
func place(a *check.Arg, space string) any {
	if a.Base.Kind == check.ArgSym && a.Base.Var != nil {
		return a.Base.Var.Declared
	}
	return space
}

// called are the causes inside a function that is called, or of all where the call says only where it goes.
func (f *flow) called(in *check.Inst) uint32 {
	for i := range in.Args {
		if fn := in.Args[i].Func; fn != nil && len(f.inside) > 0 {
			if fn.Calls || len(fn.Insts) == 0 { // an alias has none
				return f.all
			}
			return f.inside[fn]
		}
	}
	return f.all
}

// Named are the names of causes.
func Named(mask uint32) (list []string) {
	for ; mask != 0; mask &= mask - 1 {
		list = append(list, causes[bits.TrailingZeros32(mask)].Name)
	}
	return list
}
