package ir

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Direct calls are replaced by what they call, as the driver's compiler does: then a kernel is one function, its
// parameters stand in registers, and lanes meet again behind the call. Recursive functions, those that move the stack
// pointer and large ones stay functions.
const (
	inlineSize  = 1 << 12 // operations of a function that is put into others
	inlineTotal = 1 << 15 // operations of a function with those put into it
)

// inliner puts functions into those that call them.
type inliner struct {
	k     *Kernel
	state []inlineState // by function
}

type inlineState uint8

const (
	unseen   inlineState = iota
	visiting             // who calls it now is recursive
	inlined
)

// inline puts the functions that f calls into it, after those that they call into them.
func (l *lowerer) inline(f *Func) {
	if l.inliner == nil {
		l.inliner = &inliner{k: l.k, state: make([]inlineState, len(l.k.Funcs))}
	}
	l.inliner.visit(f.Index)
}

func (x *inliner) visit(i int) {
	if x.state[i] != unseen {
		return
	}
	x.state[i] = visiting
	f := x.k.Funcs[i]
	calls := false
	for j := range f.Ops {
		if c := f.Ops[j].Call; c != nil && c.Func >= 0 {
			x.visit(c.Func)
			calls = true
		}
	}
	if calls {
		x.into(f)
		f.promote()
	}
	x.state[i] = inlined
}

// callee is the function that an operation calls, nil when it stays a call. room is how many operations there is room
// for.
func (x *inliner) callee(op *Op, room int) *Func {
	if op.Ctl != Call || op.Call.Func < 0 {
		return nil
	}
	g := x.k.Funcs[op.Call.Func]
	if x.state[op.Call.Func] != inlined || len(g.Ops) > min(inlineSize, room) {
		return nil
	}
	for i := range g.Ops {
		o := &g.Ops[i]
		if o.Opcode() != optab.NoOp && o.Form().Stack || o.Call != nil && o.Call.Builtin == "" {
			return nil
		}
		for j := range o.Args {
			if a := &o.Args[j]; a.Kind == Addr && a.Space == FrameParam && a.Base != nil {
				return nil
			}
		}
	}
	return g
}

// builder writes the operations of a function anew.
type builder struct {
	f   *Func
	ops []Op
	at  []int32 // where what stood at an operation stands now
	own []bool  // operations whose targets are final
}

func newBuilder(f *Func) *builder { return &builder{f: f, at: make([]int32, len(f.Ops)+1)} }

func (b *builder) add(op Op, final bool) { b.ops, b.own = append(b.ops, op), append(b.own, final) }

// end puts the operations in place, and corrects the targets of those that were there before.
func (b *builder) end() {
	b.at[len(b.f.Ops)] = int32(len(b.ops))
	b.f.Loops = false
	for i := range b.ops {
		op := &b.ops[i]
		switch op.Ctl {
		case Branch, Jump:
			if !b.own[i] {
				op.Target = b.at[op.Target]
			}
			b.f.Loops = b.f.Loops || op.Target <= int32(i)
		case BranchX:
			rest := *op.OpRest
			rest.Targets = slices.Clone(rest.Targets)
			for j, t := range rest.Targets {
				if !b.own[i] {
					rest.Targets[j] = b.at[t]
				}
				b.f.Loops = b.f.Loops || rest.Targets[j] <= int32(i)
			}
			op.OpRest = &rest
		}
	}
	b.f.Ops = b.ops
}

// into puts the functions that f calls into it.
func (x *inliner) into(f *Func) {
	b := newBuilder(f)
	own := f.Local // of the function's own variables: those of functions put into it lie behind, over each other
	for i := range f.Ops {
		op := &f.Ops[i]
		b.at[i] = int32(len(b.ops))
		if g := x.callee(op, inlineTotal-len(b.ops)-len(f.Ops)); g == nil || !b.call(op, g, own.Size) {
			b.add(*op, false)
		}
	}
	b.end()
}

// copier renumbers what an operand of a function g says for the function into which it is put.
type copier struct {
	g     *Func
	rows  uint32
	slots []Slot // of g's
	local int64
}

func (c *copier) arg(a Arg) Arg {
	switch {
	case a.Kind == Row:
		a.Ref.Off += c.rows
	case a.Kind == Addr && a.Space == FrameParam && a.Base == nil:
		s := c.slots[a.Ref.Off]
		a.Ref.Off, a.Bits = uint32(s.Off), s.Stride
	case a.Kind == Addr && a.Space == Local && a.Base == nil:
		a.Disp += c.local
	}
	if a.Base != nil {
		base := c.arg(*a.Base)
		a.Base = &base
	}
	if r := a.ArgRest; r != nil && (r.Elems != nil || r.Extra != nil || r.Second != nil) {
		rest := *r
		rest.Elems, rest.Extra = c.args(r.Elems), c.args(r.Extra)
		if r.Second != nil {
			second := c.arg(*r.Second)
			rest.Second = &second
		}
		a.ArgRest = &rest
	}
	return a
}

func (c *copier) args(list []Arg) []Arg {
	if list == nil {
		return nil
	}
	out := make([]Arg, len(list))
	for i := range list {
		out[i] = c.arg(list[i])
	}
	return out
}

func (c *copier) copies(list []Copy) []Copy {
	out := slices.Clone(list)
	for i := range out {
		if x := &out[i]; x.Row != nil {
			row := c.arg(*x.Row)
			x.Row = &row
		} else if x.Slot.Size != 0 {
			x.Slot = c.slots[x.Slot.Off]
		}
	}
	return out
}

func (c *copier) op(op *Op, shared *OpRest) Op {
	out := *op
	if out.Guard >= 0 {
		out.Guard += int32(c.rows)
	}
	out.Args = c.args(op.Args)
	if op.OpRest == &noOpRest {
		out.OpRest = shared
		return out
	}
	rest := *op.OpRest
	if rest.In == nil {
		rest.In = c.g
	}
	if out.Ctl == FrameAddr {
		rest.Disp += c.local
	}
	if call := rest.Call; call != nil {
		info := *call
		info.Args, info.Rets = c.copies(call.Args), c.copies(call.Rets)
		info.Slots = slices.Clone(call.Slots)
		rest.Call = &info
	}
	out.OpRest = &rest
	return out
}

// call puts g in the place of a call; false when an argument or result does not fit.
func (b *builder) call(op *Op, g *Func, local uint64) bool {
	f := b.f
	layout := f.Local
	layout.Size = local
	c := &copier{g: g, rows: uint32(len(f.rows)), slots: make([]Slot, len(g.slots)),
		local: int64(layout.Place(g.Local.Size, g.Local.Align))}
	before, behind, ok := c.parameters(op.Call)
	if !ok {
		return false
	}
	f.rows = append(f.rows, g.rows...)
	for i, s := range g.slots {
		if c.slots[i].Stride == 0 {
			c.slots[i] = f.newSlot(s.Size)
		}
	}
	f.Local.Align = max(f.Local.Align, layout.Align)
	f.Local.Size = max(f.Local.Size, layout.Size)
	made := func(p move) {
		o := p.op(c)
		o.Line, o.Loc, o.OpRest = op.Line, op.Loc, &OpRest{In: op.In}
		b.add(o, true)
	}
	over := -1
	if op.Guard >= 0 {
		over = len(b.ops)
		b.add(Op{Ctl: Branch, Match: form("bra"), Guard: op.Guard, Neg: !op.Neg, Line: op.Line, Loc: op.Loc,
			OpRest: &OpRest{In: op.In}}, true)
	}
	for _, p := range before {
		made(p)
	}
	start, shared := int32(len(b.ops)), &OpRest{In: g}
	var returns []int
	for i := range g.Ops {
		o := c.op(&g.Ops[i], shared)
		switch o.Ctl {
		case Branch, Jump:
			o.Target += start
		case BranchX: // its OpRest is a copy
			o.Targets = slices.Clone(o.Targets)
			for j := range o.Targets {
				o.Targets[j] += start
			}
		case Ret:
			o.Ctl, o.Args = Jump, nil
			if o.Guard >= 0 {
				o.Ctl, o.Match = Branch, form("bra")
			} else {
				o.Match = nil
			}
			returns = append(returns, len(b.ops))
		}
		b.add(o, true)
	}
	for _, i := range returns {
		b.ops[i].Target = int32(len(b.ops))
	}
	for _, p := range behind {
		made(p)
	}
	if over >= 0 {
		b.ops[over].Target = int32(len(b.ops))
	}
	return true
}

// move is a copy of an argument or a result between the caller's registers and variables, and the callee's.
type move struct {
	to, from     *Arg // registers; nil for a variable
	inTo, inFrom bool // the register is the callee's
	slot         Slot // the variable
	own          bool // which is the callee's
	at           uint64
}

func (p *move) op(c *copier) Op {
	side := func(a *Arg, callee bool) Arg {
		if callee {
			return c.arg(*a)
		}
		return *a
	}
	name, words := "mov", []string{""}
	var args []Arg
	reg := p.to
	if reg == nil {
		reg = p.from
	}
	typ := bitsOf(reg)
	memory := func() Arg {
		s := p.slot
		if p.own {
			s = c.slots[s.Off]
		}
		return Arg{Kind: Addr, Space: FrameParam, Disp: int64(p.at), Ref: Ref{Off: uint32(s.Off)}, Bits: s.Stride,
			Sym: true, ArgRest: &ArgRest{Hi: s.Size}}
	}
	switch {
	case p.to != nil && p.from != nil:
		words[0] = typ
		args = []Arg{side(p.to, p.inTo), side(p.from, p.inFrom)}
	case p.to != nil:
		name, words = "ld", []string{"param", typ}
		args = []Arg{side(p.to, p.inTo), memory()}
	default:
		name, words = "st", []string{"param", typ}
		args = []Arg{memory(), side(p.from, p.inFrom)}
	}
	m := form(name, words...)
	for i := range args {
		args[i].Position = &optab.Position{Op: &m.Form.Operands[i], Type: typ}
	}
	return Op{Match: m, Guard: -1, Args: args}
}

// bitsOf is the type of a register's bits.
func bitsOf(a *Arg) string {
	switch {
	case a.Class == WPred:
		return "pred"
	case a.Width == 8 || a.Width == 16:
		return "b16"
	case a.Class == W32:
		return "b32"
	case a.Class == W64:
		return "b64"
	}
	return "b128"
}

// bytesOf is how many bytes of a parameter a register takes.
func bytesOf(a *Arg) uint64 {
	if a.Width == 8 || a.Width == 16 {
		return uint64(a.Width) / 8
	}
	return uint64(a.Class.RowSize()) / 32
}

// parameters says how arguments and results are copied, and which variables of the callee are the caller's own. ok is
// false where widths differ or something else is odd.
func (c *copier) parameters(info *CallInfo) (before, behind []move, ok bool) {
	g := c.g
	used := map[uint64]bool{} // variables of the caller that are one of the callee
	one := func(x *Copy, slots []Slot, regs []*Arg, in bool) bool {
		if x.Row == nil && x.Slot.Size == 0 {
			return true // the sink
		}
		if x.To >= len(slots) {
			return false
		}
		slot, reg := slots[x.To], regs[x.To]
		p := move{at: x.At}
		switch {
		case x.Row != nil && (x.Row.Neg || x.Row.Sym && x.Row.Kind != Imm):
			return false
		case x.Row != nil && reg != nil:
			// A register of 8 or 16 bits is zero above them, which a wider one or a constant need not be.
			if (x.Row.Class == WPred) != (reg.Class == WPred) || bytesOf(x.Row) != bytesOf(reg) || x.At != 0 {
				return false
			}
			if p.to, p.from, p.inTo = reg, x.Row, true; !in {
				p.to, p.from, p.inTo, p.inFrom = x.Row, reg, false, true
			}
		case x.Row != nil: // the callee has a variable
			n := bytesOf(x.Row)
			if x.Row.Class == WPred || n < 2 || x.At+n > slot.Size || x.At%n != 0 || !in && n != slot.Size ||
				x.Row.Kind == Imm && n != slot.Size {
				return false
			}
			p.slot = slot
			if p.from = x.Row; !in {
				p.to, p.from = x.Row, nil
			}
			p.own = true
		case reg != nil: // the caller has one
			n := bytesOf(reg)
			if reg.Class == WPred || n < 2 || n != x.Slot.Size || x.At != 0 {
				return false
			}
			p.slot = x.Slot
			if p.to, p.inTo = reg, true; !in {
				p.to, p.inTo, p.from, p.inFrom = nil, false, reg, true
			}
		default: // both: they become one
			if slot.Size != x.Slot.Size || x.At != 0 || used[x.Slot.Off] || c.slots[slot.Off].Stride != 0 ||
				in && c.stores(slot) {
				return false
			}
			used[x.Slot.Off] = true
			c.slots[slot.Off] = x.Slot
			return true
		}
		if in {
			before = append(before, p)
		} else {
			behind = append(behind, p)
		}
		return true
	}
	for i := range info.Args {
		if !one(&info.Args[i], g.Params, g.ParamRegs, true) {
			return nil, nil, false
		}
	}
	for i := range info.Rets {
		if !one(&info.Rets[i], g.Returns, g.RetRegs, false) {
			return nil, nil, false
		}
	}
	return before, behind, true
}

// stores says whether the function writes to a variable of its parameters.
func (c *copier) stores(s Slot) bool {
	return slices.ContainsFunc(c.g.Ops, func(op Op) bool {
		return len(op.Args) > 0 && op.Args[0].slot() && uint64(op.Args[0].Ref.Off) == s.Off
	})
}

// piece is a part of a parameter variable that is always accessed as a whole.
type piece struct{ at, size uint64 }

// promote makes registers of parameter variables of which the operations access the same pieces throughout.
func (f *Func) promote() {
	pieces := make([]map[piece]*Arg, len(f.slots))
	stays := make([]bool, len(f.slots))
	for i := range f.slots {
		stays[i] = i < len(f.Params)+len(f.Returns) // the caller's, too
		pieces[i] = map[piece]*Arg{}
	}
	keep := func(list []Copy) {
		for i := range list {
			if list[i].slot() {
				stays[list[i].Slot.Off] = true
			}
		}
	}
	for i := range f.Ops {
		op := &f.Ops[i]
		if op.Call != nil {
			keep(op.Call.Args)
			keep(op.Call.Rets)
		}
		for j := range op.Args {
			a := &op.Args[j]
			if a.Kind != Addr || a.Space != FrameParam {
				continue
			}
			regs, size, ok := op.moved(j)
			// What is not aligned or lies outside is to fault.
			total := size * uint64(len(regs))
			if !ok || a.Disp < 0 || uint64(a.Disp)+total > f.slots[a.Ref.Off].Size || uint64(a.Disp)%total != 0 {
				stays[a.Ref.Off] = true
				continue
			}
			for k := range regs {
				pieces[a.Ref.Off][piece{uint64(a.Disp) + uint64(k)*size, size}] = nil
			}
		}
	}
	for i, p := range pieces {
		list := slices.SortedFunc(maps.Keys(p), func(x, y piece) int { return cmp.Compare(x.at, y.at) })
		for k := 1; k < len(list); k++ {
			stays[i] = stays[i] || list[k].at < list[k-1].at+list[k-1].size
		}
	}
	b := newBuilder(f)
	for i := range f.Ops {
		op := &f.Ops[i]
		b.at[i] = int32(len(b.ops))
		j := slices.IndexFunc(op.Args, func(a Arg) bool { return a.Kind == Addr && a.Space == FrameParam })
		if j < 0 || stays[op.Args[j].Ref.Off] {
			b.add(*op, false)
			continue
		}
		a := &op.Args[j]
		regs, size, _ := op.moved(j)
		for k := range regs {
			at := piece{uint64(a.Disp) + uint64(k)*size, size}
			row := pieces[a.Ref.Off][at]
			if row == nil {
				row = f.newRegister(int(8 * size))
				pieces[a.Ref.Off][at] = row
			}
			if regs[k].Kind == None {
				continue
			}
			to, from := *row, regs[k]
			if j == 1 {
				to, from = from, to
			}
			typ := bitsOf(row)
			m := form("mov", typ)
			to.Position, from.Position = &optab.Position{Op: &m.Form.Operands[0], Type: typ},
				&optab.Position{Op: &m.Form.Operands[1], Type: typ}
			b.add(Op{Match: m, Guard: op.Guard, Neg: op.Neg, Args: []Arg{to, from}, Line: op.Line, Loc: op.Loc,
				OpRest: op.OpRest}, true)
		}
	}
	b.end()
}

// newRegister is a new register of so many bits.
func (f *Func) newRegister(n int) *Arg {
	c := ClassOf(n)
	return &Arg{Kind: Row, Class: c, Ref: f.newRow(c, n), Width: uint8(n), ArgRest: &noRest}
}

// moved are the registers that a load or store moves from or to its operand with number at, and the bytes of each; ok
// says that they are as wide as what is moved.
func (op *Op) moved(at int) (regs []Arg, size uint64, ok bool) {
	load := op.Effect() == optab.MemLoad && at == 1 && op.Opcode() == optab.OpLd
	if !load && (op.Effect() != optab.MemStore || at != 0 || op.Opcode() != optab.OpSt) || len(op.Args) != 2 {
		return nil, 0, false
	}
	v := &op.Args[1-at]
	regs = v.Elements()
	size = uint64(op.Mods().LastType().Bytes())
	for i := range regs {
		r := &regs[i]
		switch {
		case r.Kind == None && load:
		case size < 2 || r.Class == WPred || r.Neg || !r.Reg():
			return nil, 0, false
		case r.Kind == Row && (bytesOf(r) != size || size == 2 && r.Width != 16):
			return nil, 0, false
		case r.Kind == Imm && (r.Class != ClassOf(int(8*size)) || size < 4):
			return nil, 0, false
		}
	}
	return regs, size, size <= 16
}
