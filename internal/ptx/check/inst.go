package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// opcode is an instruction's first word with all its modifiers, looked up once for each distinct text in a module.
type opcode struct {
	cands  []candidate
	faults []string // when no form fits
}

// candidate is a form that the modifiers fit.
type candidate struct {
	match  optab.Match
	specs  []spec
	need   int    // operands that must be present
	fault  string // what the module's version or target lacks
	rule   rule
	video  bool // operands may select bytes or half-words
	sregOK bool // sources may be special registers
	symOK  bool // sources may be addresses of symbols
	narrow bool // works on 32-bit addresses of all memory
}

// spec is an operand position under a match: its type is known.
type spec struct {
	op    *optab.Operand
	kind  optab.OperandKind
	typ   *optab.Type // never nil
	at    *optab.Position
	n     int // elements of a vector, -1 any
	space string
	pair  *spec
	video bool
	sreg  bool // may be a special register
	sym   bool // may be the address of a symbol
	load  bool // of ld
	store bool // of st

	lower  bool // of a floating literal of 64 bits the lower half is taken as it is (set.bf16.f32 on an H200)
	exact  bool // widths are the type's even where the operand may be wider
	braces bool // one element may stand in braces: Triton writes ld.global.b32 {%r1}, [%rd1]
}

// opcodeOf finds the forms for an instruction.
func (c *checker) opcodeOf(in *ptx.Instr) *opcode {
	o := c.ops[in.Operation]
	if o == nil {
		o = c.compile(in)
		c.ops[in.Operation] = o
	}
	return o
}

func (c *checker) compile(in *ptx.Instr) *opcode {
	o := &opcode{}
	forms := c.tab.Lookup(in.Name)
	if len(forms) == 0 {
		o.faults = []string{fmt.Sprintf("Not a name of any known instruction: '%s'", in.Name)}
		return o
	}
	if o.faults = misplaced(in.Name, in.Mods); o.faults != nil {
		return o
	}
	var best optab.Miss
	for _, f := range forms {
		m, miss := f.Fit(in.Mods)
		if miss.Kind == optab.MissNone {
			o.cands = append(o.cands, c.candidate(m))
		} else if best.Form == nil || nearer(&miss, &best) {
			best = miss
		}
	}
	if len(o.cands) == 0 {
		if text := c.missRule(in.Name, in.Mods); text != "" {
			o.faults = []string{text}
		} else {
			o.faults = missTexts(longNameOf(in), in.Mods, &best)
		}
	}
	return o
}

// nearer says whether a is closer to what was meant: fitting types count most.
func nearer(a, b *optab.Miss) bool {
	if a.Types != b.Types {
		return b.Types
	}
	return a.Score > b.Score
}

// spaceOf returns the state space that a modifier word names.
func spaceOf(word string) string {
	switch plainSpace(word) {
	case "global", "shared", "local", "param", "const":
		return plainSpace(word)
	}
	return ""
}

func (c *checker) candidate(m optab.Match) candidate {
	cd := candidate{match: m, specs: make([]spec, len(m.Form.Operands)), video: m.Form.Group == "video"}
	f := m.Form
	switch f.Name {
	case "mov":
		cd.sregOK, cd.symOK = true, true
	case "cvt":
		cd.sregOK = true
	case "cvta":
		cd.symOK, cd.narrow = true, m.Type(0) == "u32"
	case "mapa", "getctarank":
		cd.symOK = true
	}
	vec := 1
	space := ""
	for _, w := range m.Words {
		switch w {
		case "v2":
			vec = 2
		case "v4":
			vec = 4
		case "v8":
			vec = 8
		default:
			if space == "" {
				space = spaceOf(w)
			}
		}
	}
	for i := range f.Operands {
		op := &f.Operands[i]
		cd.specs[i] = c.makeSpec(&m, op, vec, space)
		s := &cd.specs[i]
		s.video, s.sreg, s.sym = cd.video, cd.sregOK && !op.Dst, cd.symOK
		s.load, s.store = f.Name == "ld", f.Name == "st"
		s.lower = f.Op == optab.OpSet && m.Type(0) == "bf16" && s.typ.Name == "f32"
		s.exact = f.Name == "cvt" && slices.ContainsFunc(m.Types, func(t string) bool {
			return strings.HasPrefix(t, "bf16")
		})
		if !op.Optional {
			cd.need++
		}
	}
	cd.fault = c.targetFault(&m)
	if f.Rule != "" {
		cd.rule = findRule(f.Rule)
		if cd.rule == nil && cd.fault == "" {
			cd.fault = fmt.Sprintf("Instruction '%s' has no rule '%s'", f.Name, f.Rule)
		}
	}
	return cd
}

func (c *checker) makeSpec(m *optab.Match, op *optab.Operand, vec int, space string) spec {
	s := spec{op: op, kind: op.Kind, typ: optab.NoType(), n: op.Count, space: space}
	if op.Space != "" {
		s.space = plainSpace(op.Space)
	}
	if op.Type != "" {
		s.typ = optab.FindType(m.Resolve(op.Type))
	}
	switch op.Kind {
	case optab.KindPred:
		s.typ = optab.FindType("pred")
	case optab.KindVec:
		if op.Count == 0 {
			s.n = vec
		}
		if s.n == 1 {
			s.kind, s.braces = optab.KindType, true
		}
	}
	if s.kind == optab.KindType && s.typ.Class == optab.Predicate {
		s.kind = optab.KindPred
	}
	if op.Pair != nil {
		p := c.makeSpec(m, op.Pair, vec, space)
		s.pair = &p
	}
	s.at = c.position(op, s.typ.Name)
	return s
}

// targetFault is the text when the module's version or target does not have the form.
func (c *checker) targetFault(m *optab.Match) string {
	f, t := m.Form, c.m.Target
	feature := f.Feature
	if feature == "" {
		feature = f.Name
		for _, w := range m.Types {
			feature += "." + w
		}
	}
	switch {
	case strings.HasPrefix(f.Feature, "Modifier ") && t.SM < f.SM: // the whole subject
		return fmt.Sprintf("%s requires .target sm_%d or higher", f.Feature, f.SM)
	case len(f.Only) > 0 && !t.Is(f.Only...), f.Arch && (t.Suffix == "" || t.SM < f.SM):
		what := f.What
		if what == "" && f.Feature != "" {
			return fmt.Sprintf("Feature '%s' not supported on .target '%s'", f.Feature, t)
		}
		if what == "" {
			what = f.Name
			for i, w := range m.Words {
				if w != "" && !f.Slots[i].Type {
					what += "." + w
					break
				}
			}
		}
		return fmt.Sprintf("Instruction '%s' not supported on .target '%s'", what, t)
	case t.PTX < f.PTX:
		return needPTX(feature, f.PTX)
	case t.SM < f.SM:
		return needSM(feature, f.SM)
	case f.MaxPTX != 0 && t.PTX > f.MaxPTX:
		return fmt.Sprintf("Instruction '%s' is not supported starting from PTX ISA version %d.%d", f.Name,
			(f.MaxPTX+1)/10, (f.MaxPTX+1)%10)
	}
	return ""
}

// takesOperands says whether the name is an instruction's and no form of it stands alone.
func (c *checker) takesOperands(name string) bool {
	forms := c.tab.Lookup(name)
	for _, f := range forms {
		if len(f.Operands) == 0 {
			return false
		}
	}
	return len(forms) > 0
}

// instr checks one instruction and appends it to the function.
func (c *checker) instr(in *ptx.Instr) {
	inst := Inst{AST: in, Loc: c.loc}
	good := c.guard(in, &inst)
	o := c.opcodeOf(in)
	if len(o.cands) == 0 {
		if len(in.Args)+len(in.Mods) == 0 && c.takesOperands(in.Name) {
			// the missing modifier does not count (recorded of bar)
			c.errorf(in.NamePos, Semantic, "Arguments mismatch for instruction '%s'", in.Name)
			return
		}
		for _, text := range o.faults {
			c.errorf(in.NamePos, Semantic, "%s", text)
		}
		return
	}
	var first problem  // of the operands
	var refused Errors // by the rule or the target, of the first form that the operands fit
	for i := range o.cands {
		cd := &o.cands[i]
		mark, narrow, reported := c.args, c.narrow, len(c.errs)
		args, p := c.operands(cd, in)
		if p.code != pOK {
			c.args, c.narrow = mark, narrow
			if i == 0 || p.code.weight() > first.code.weight() {
				first = p
			}
			continue
		}
		inst.Match, inst.Args = &cd.match, args
		if cd.fault != "" {
			c.errorf(in.NamePos, Feature, "%s", cd.fault)
		} else if cd.rule != nil {
			ic := &c.ic
			*ic = instCheck{Target: c.m.Target, Func: c.fn, AST: in, Match: &cd.match, Args: args, c: c, cand: cd,
				src: c.src}
			if text := cd.rule(ic); text != "" {
				c.errorf(in.NamePos, Semantic, "%s", text)
			}
			inst.Args = ic.Args
		}
		if len(c.errs) > reported {
			if refused == nil {
				refused = append(refused, c.errs[reported:]...)
			}
			if i+1 < len(o.cands) && !c.stop { // another form may take it
				c.errs, c.args, c.narrow = c.errs[:reported], mark, narrow
				continue
			}
			c.errs = c.errs[:reported]
			break
		}
		c.narrow = c.narrow || cd.narrow
		if good {
			c.fn.Insts = append(c.fn.Insts, inst)
			c.fn.Calls = c.fn.Calls || in.Name == "call"
		}
		return
	}
	if refused != nil {
		c.errs = append(c.errs, refused...)
		return
	}
	c.problem(first, in)
}

// guard resolves the guard predicate.
func (c *checker) guard(in *ptx.Instr, inst *Inst) bool {
	g := in.Guard
	if g == nil {
		return true
	}
	sym, ok := c.find(g.Reg.Name)
	if !ok || sym.v == nil || sym.v.Space != "reg" || sym.v.Type.Class != optab.Predicate || g.Reg.Comp != "" {
		c.errorf(g.Reg.Pos, Semantic, "Predicate expression expected")
		if !ok {
			c.later(g.Reg.Pos, Semantic, "Unknown symbol '%s'", g.Reg.Name)
		}
		return false
	}
	inst.Guard, inst.Neg = sym.v, g.Neg
	return true
}

// operands fits an instruction's operands to a candidate's positions.
func (c *checker) operands(cd *candidate, in *ptx.Instr) ([]Arg, problem) {
	src := in.Args
	if len(src) < cd.need || len(src) > len(cd.specs) {
		return nil, problem{code: pCount, pos: in.Pos}
	}
	args := c.takeArgs(len(src))
	c.src = c.src[:0]
	skips := len(cd.specs) - len(src)
	i := 0
	for j := range cd.specs {
		s := &cd.specs[j]
		if s.op.Optional && skips > 0 && (i == len(src) || !plausible(s, src[i])) {
			skips--
			continue
		}
		if i == len(src) {
			return nil, problem{code: pCount, pos: in.Pos}
		}
		if p := c.operand(s, src[i], &args[i]); p.code != pOK {
			p.arg = i
			return nil, p
		}
		c.src = append(c.src, src[i])
		i++
	}
	if i < len(src) {
		return nil, problem{code: pCount, pos: in.Pos}
	}
	return args, problem{}
}

// plausible says whether the shape of an operand can stand at an optional position.
func plausible(s *spec, a ptx.Operand) bool {
	_, addr := a.(*ptx.Addr)
	_, list := a.(*ptx.List)
	_, vec := a.(*ptx.Vector)
	switch s.kind {
	case optab.KindMem, optab.KindTex, optab.KindSurf:
		return addr
	case optab.KindList:
		return list
	case optab.KindVec:
		return vec || s.n < 0 && !addr && !list
	case optab.KindAny:
		return true
	}
	return !addr && !list && !vec
}

// takeArgs takes n operands from a slab. They may hold old contents until they are written.
func (c *checker) takeArgs(n int) []Arg {
	if n == 0 {
		return nil
	}
	if len(c.args) < n {
		c.slab = min(max(32, 2*c.slab), 1024) // small modules need few
		c.args = make([]Arg, max(c.slab, n))
	}
	a := c.args[:n:n]
	c.args = c.args[n:]
	return a
}

// position gives the shared description of an operand position.
func (c *checker) position(op *optab.Operand, typ string) *optab.Position {
	key := optab.Position{Op: op, Type: typ}
	if key == (optab.Position{}) {
		return optab.NoPosition()
	}
	p := c.at[key]
	if p == nil {
		if c.at == nil {
			c.at = map[optab.Position]*optab.Position{}
		}
		p = &key
		c.at[key] = p
	}
	return p
}

// rest is the operand's own [ArgRest], to be written.
func (c *checker) rest(a *Arg) *ArgRest {
	if a.ArgRest == &noArgRest {
		if len(c.rests) == 0 {
			c.rests = make([]ArgRest, max(8, c.slab/32))
		}
		a.ArgRest, c.rests = &c.rests[0], c.rests[1:]
	}
	return a.ArgRest
}
