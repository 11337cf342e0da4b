package ir

import (
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// contract does to floating point arithmetic what the driver's compiler does at its default optimisation, as far as results show
// it (recorded on an H200, groups fuse and f64):
//
//   - mul and add or sub without rounding modifiers become one fma when .ftz agrees, mul has no .sat and its product is used nowhere
//     else; for f32, f64, f16, bf16 and their pairs. A rounding modifier on either, .rn too, keeps them apart.
//   - neg.f64 of a neg.f64, and a multiplication by one, become moves, so that a signalling NaN passes.
//   - f64 operations with two NaNs return that of the operand defined last, which the compiler puts first.
//
// What happens across basic blocks is not known; nothing is done there.
func contract(f *Func, syms *Symbols) {
	if syms != nil && syms.NoContract {
		return
	}
	c := &contractor{f: f}
	if !c.arithmetic() {
		return
	}
	c.scan()
	for b := 0; b+1 < len(c.starts); b++ {
		c.block(c.starts[b], c.starts[b+1])
	}
	c.nanOrder()
	c.compact()
}

type contractor struct {
	f       *Func
	starts  []int           // first operations of the basic blocks, and the end
	exposed map[uint32]bool // rows that some block reads before it writes them
	uses    map[uint32]int  // how often a row is read
	dead    map[int]bool    // operations to remove
}

// isFloat says whether op is one of the floating point operations that this file looks at.
func isFloat(op *Op, names ...string) bool {
	if op.Match == nil || op.Ctl != Plain {
		return false
	}
	for _, n := range names {
		if op.Match.Form.Op == n {
			return true
		}
	}
	return false
}

func (c *contractor) arithmetic() bool {
	for i := range c.f.Ops {
		if isFloat(&c.f.Ops[i], "fmul", "fneg", "fadd", "fsub", "ffma") {
			return true
		}
	}
	return false
}

// scan finds basic blocks and the rows that live across their borders.
func (c *contractor) scan() {
	ops := c.f.Ops
	leader := make([]bool, len(ops)+1)
	leader[0] = true
	for i := range ops {
		op := &ops[i]
		switch op.Ctl {
		case Branch, Jump:
			leader[op.Target], leader[i+1] = true, true
		case BranchX:
			for _, t := range op.Targets {
				leader[t] = true
			}
			leader[i+1] = true
		case Ret, Exit:
			leader[i+1] = true
		}
	}
	c.exposed = map[uint32]bool{}
	c.uses = map[uint32]int{}
	c.dead = map[int]bool{}
	for _, a := range c.f.RetRegs {
		if a != nil {
			c.exposed[a.Ref.Off] = true
		}
	}
	// What the block has written so far, and under which guard; a read under the same guard sees that write.
	type guard struct {
		row int32
		neg bool
	}
	always := guard{row: -1}
	written := map[uint32]guard{}
	guards := map[uint32]bool{}
	for i := range ops {
		if ops[i].Guard >= 0 {
			guards[uint32(ops[i].Guard)] = true
		}
	}
	for i := range ops {
		if leader[i] {
			c.starts = append(c.starts, i)
			clear(written)
		}
		op := &ops[i]
		under := guard{op.Guard, op.Neg && op.Guard >= 0}
		op.reads(func(r uint32) {
			c.uses[r]++
			if g, ok := written[r]; !ok || g != always && g != under {
				c.exposed[r] = true
			}
		})
		op.writes(func(r uint32, _ bool) {
			if guards[r] {
				for x, g := range written { // a guard that changes no longer says who wrote
					if g.row == int32(r) {
						delete(written, x)
					}
				}
			}
			if g, ok := written[r]; (!ok || g != always) && !op.accumulates() {
				written[r] = under
			}
		})
	}
	c.starts = append(c.starts, len(ops))
}

// rows calls f for every register row in an operand.
func (a *Arg) rows(f func(row uint32)) {
	switch a.Kind {
	case Row:
		f(a.Ref.Off)
	case Vec, List:
		for i := range a.Elems {
			a.Elems[i].rows(f)
		}
	case Addr:
		if a.Base != nil {
			a.Base.rows(f)
		}
		for i := range a.Extra {
			a.Extra[i].rows(f)
		}
	}
	if a.Second != nil {
		a.Second.rows(f)
	}
}

// written says whether the operation writes its ith operand: those whose names begin with d.
func (op *Op) written(i int) bool {
	switch op.Ctl {
	case Special, FrameAddr:
		return i == 0
	case Plain:
		return op.Args[i].Kind != Addr && len(op.Args[i].Name) > 0 && op.Args[i].Name[0] == 'd'
	}
	return false
}

// accumulates says whether the operation reads what it writes.
func (op *Op) accumulates() bool {
	if op.Match == nil {
		return false
	}
	switch op.Match.Form.Name {
	case "wgmma", "tcgen05":
		return true
	}
	return false
}

// reads calls f for every row that the operation may read.
func (op *Op) reads(f func(row uint32)) {
	if op.Guard >= 0 {
		f(uint32(op.Guard))
	}
	for i := range op.Args {
		if !op.written(i) || op.accumulates() {
			op.Args[i].rows(f)
		}
	}
	if op.Call != nil {
		if op.Call.Pointer != nil {
			op.Call.Pointer.rows(f)
		}
		for i := range op.Call.Args {
			if r := op.Call.Args[i].Row; r != nil {
				r.rows(f)
			}
		}
	}
}

// writes calls f for every row that the operation may write; whole when it writes all active lanes whatever the data.
func (op *Op) writes(f func(row uint32, whole bool)) {
	whole := op.Guard < 0 && !op.accumulates()
	for i := range op.Args {
		if op.written(i) {
			op.Args[i].rows(func(r uint32) { f(r, whole) })
		}
	}
	if op.Call != nil {
		for i := range op.Call.Rets {
			if r := op.Call.Rets[i].Row; r != nil {
				r.rows(func(row uint32) { f(row, whole) })
			}
		}
	}
}

func (op *Op) readsRow(row uint32) (yes bool) {
	op.reads(func(r uint32) { yes = yes || r == row })
	return yes
}

func (op *Op) writesRow(row uint32) (some, whole bool) {
	op.writes(func(r uint32, w bool) {
		if r == row {
			some, whole = true, whole || w
		}
	})
	return some, whole
}

// plainFloat says whether the operation is one of the names, without rounding modifier.
func plainFloat(op *Op, names ...string) bool {
	return isFloat(op, names...) && op.Match.One("rn", "rz", "rm", "rp") == "" && op.Args[0].Kind == Row
}

func (c *contractor) block(from, to int) {
	for i := from; i < to; i++ {
		op := &c.f.Ops[i]
		switch {
		case plainFloat(op, "fmul") && !op.Match.Has("sat") && c.fuse(i, to):
		case isFloat(op, "fmul"):
			multiplyByOne(op)
		case isFloat(op, "fneg") && op.Match.Type(0) == "f64":
			c.doubleNegation(i, from)
		}
	}
}

// fuse looks for the only use of a product and makes it an fma.
func (c *contractor) fuse(i, to int) bool {
	mul := &c.f.Ops[i]
	t := mul.Args[0].Ref.Off
	if c.uses[t] == 0 {
		return false
	}
	for k := 1; k <= 2; k++ { // t = t * a does not leave t's old value to the fma
		if mul.Args[k].Kind == Row && mul.Args[k].Ref.Off == t {
			return false
		}
	}
	j := i + 1
	for ; j < to; j++ {
		op := &c.f.Ops[j]
		if op.readsRow(t) {
			break
		}
		if some, _ := op.writesRow(t); some || c.clobbers(op, mul) {
			return false
		}
	}
	if j == to {
		return false
	}
	add := &c.f.Ops[j]
	if !plainFloat(add, "fadd", "fsub") || add.Match.Type(0) != mul.Match.Type(0) || len(add.Match.Types) != 1 || add.Match.Has("ftz") != mul.Match.Has("ftz") {
		return false
	}
	if mul.Guard >= 0 && (mul.Guard != add.Guard || mul.Neg != add.Neg) {
		return false
	}
	if add.Guard >= 0 && uint32(add.Guard) == t {
		return false
	}
	first, second := add.Args[1].Kind == Row && add.Args[1].Ref.Off == t, add.Args[2].Kind == Row && add.Args[2].Ref.Off == t
	if first == second || !c.lastUse(t, j, to) {
		return false
	}
	words := []string{"rn"}
	for _, w := range []string{"ftz", "sat"} {
		if add.Match.Has(w) {
			words = append(words, w)
		}
	}
	m := form("fma", append(words, mul.Match.Type(0))...)
	if m == nil {
		return false
	}
	d, a, b, e := add.Args[0], mul.Args[1], mul.Args[2], add.Args[2]
	if second {
		e = add.Args[1]
	}
	if isFloat(add, "fsub") {
		if first {
			e.Neg = !e.Neg
		} else {
			a.Neg = !a.Neg
		}
	}
	a.Name, b.Name, e.Name = "a", "b", "c"
	add.Match, add.Args = m, []Arg{d, a, b, e}
	c.dead[i] = true
	return true
}

// clobbers says whether op changes an operand or the guard of mul.
func (c *contractor) clobbers(op, mul *Op) (yes bool) {
	op.writes(func(r uint32, _ bool) {
		for k := 1; k <= 2; k++ {
			yes = yes || mul.Args[k].Kind == Row && mul.Args[k].Ref.Off == r
		}
		yes = yes || mul.Guard >= 0 && uint32(mul.Guard) == r
	})
	return yes
}

// lastUse says whether nothing reads row t after operation j.
func (c *contractor) lastUse(t uint32, j, to int) bool {
	if _, whole := c.f.Ops[j].writesRow(t); whole || c.uses[t] == 1 {
		return true
	}
	for k := j + 1; k < to; k++ {
		op := &c.f.Ops[k]
		if op.readsRow(t) {
			return false
		}
		if _, whole := op.writesRow(t); whole {
			return true
		}
	}
	return !c.exposed[t]
}

// form fits words to the instruction's forms.
func form(name string, words ...string) *optab.Match {
	for _, f := range optab.Get().Lookup(name) {
		if m, miss := f.Fit(words); miss.Kind == optab.MissNone {
			return &m
		}
	}
	return nil
}

// multiplyByOne turns a multiplication by one into a move.
func multiplyByOne(op *Op) {
	if op.Match.Has("ftz") || op.Match.Has("sat") || len(op.Match.Types) != 1 {
		return
	}
	var one uint64
	switch op.Match.Type(0) {
	case "f32":
		one = 0x3f800000
	case "f64":
		one = 0x3ff0000000000000
	default:
		return
	}
	for k := 1; k <= 2; k++ {
		if a := &op.Args[k]; a.Kind == Imm && a.Bits == one && !a.Sym {
			op.move(op.Args[3-k])
			return
		}
	}
}

// move makes the operation a mov of a.
func (op *Op) move(a Arg) {
	m := form("mov", op.Match.Type(0))
	if m == nil {
		return
	}
	a.Name = "a"
	op.Match, op.Args = m, []Arg{op.Args[0], a}
}

// doubleNegation turns the negation of a negation into a move.
func (c *contractor) doubleNegation(i, from int) {
	op := &c.f.Ops[i]
	if op.Args[1].Kind != Row {
		return
	}
	t := op.Args[1].Ref.Off
	for j := i - 1; j >= from; j-- {
		def := &c.f.Ops[j]
		some, whole := def.writesRow(t)
		if !some {
			continue
		}
		if !whole || !isFloat(def, "fneg") || def.Args[1].Kind != Row {
			return
		}
		src := def.Args[1]
		for k := j; k < i; k++ {
			if some, _ := c.f.Ops[k].writesRow(src.Ref.Off); some {
				return
			}
		}
		op.move(src)
		return
	}
}

// nanOrder marks f64 operations whose first operand is defined after the second.
func (c *contractor) nanOrder() {
	last := map[uint32]int{}
	for i := range c.f.Ops {
		op := &c.f.Ops[i]
		if isFloat(op, "fadd", "fsub", "fmul", "ffma") && op.Match.Type(0) == "f64" && op.Args[1].Kind == Row && op.Args[2].Kind == Row {
			op.First = last[op.Args[1].Ref.Off] > last[op.Args[2].Ref.Off]
		}
		if !c.dead[i] {
			op.writes(func(r uint32, _ bool) { last[r] = i + 1 })
		}
	}
}

// compact removes dead operations.
func (c *contractor) compact() {
	if len(c.dead) == 0 {
		return
	}
	ops := c.f.Ops
	index := make([]int32, len(ops)+1)
	out := ops[:0]
	for i := range ops {
		index[i] = int32(len(out))
		if !c.dead[i] {
			out = append(out, ops[i])
		}
	}
	index[len(ops)] = int32(len(out))
	for i := range out {
		op := &out[i]
		switch op.Ctl {
		case Branch, Jump:
			op.Target = index[op.Target]
		case BranchX:
			for j := range op.Targets {
				op.Targets[j] = index[op.Targets[j]]
			}
		}
	}
	c.f.Ops = out
}
