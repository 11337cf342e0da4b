package ir

import (
	"math"
	"slices"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// contract does to floating point arithmetic what the driver's compiler does at its default optimisation, as far as
// results show it (recorded on an H200, groups fuse and f64):
//
//   - mul and add or sub without rounding modifiers become one fma when .ftz agrees, mul has no .sat and its product is
//     used nowhere else; for f32, f64, f16, bf16 and their pairs. A rounding modifier on either, .rn too, keeps them
//     apart.
//   - neg.f64 of a neg.f64, and a multiplication by one, become moves, so that a signalling NaN passes.
//   - min and max of one register twice, of f16, f32 or f64 and without modifiers, become moves: a NaN stays the NaN
//     that it is.
//   - f64 operations with two NaNs return that of the operand defined last, which the compiler puts first.
//
// What happens across basic blocks is not known; nothing is done there.
func contract(f *Func, syms *Symbols) {
	if syms != nil && syms.NoContract != nil && syms.NoContract(f.Check) {
		return
	}
	c := &contractor{f: f}
	fuse, ones, nans := c.arithmetic()
	if fuse {
		c.scan()
		for b := 0; b+1 < len(c.starts); b++ {
			c.block(c.starts[b], c.starts[b+1])
		}
	} else if ones {
		for i := range f.Ops {
			if op := &f.Ops[i]; isFloat(op, optab.OpFmul) {
				multiplyByOne(op)
			}
		}
	}
	if nans {
		c.nanOrder()
	}
	c.compact()
}

type contractor struct {
	f       *Func
	starts  []int  // first operations of the basic blocks, and the end
	exposed []bool // rows that some block reads before it writes them
	reads   places // of rows, as they were before anything was changed
	writes  places
	wholes  places       // writes of all lanes
	dead    map[int]bool // operations to remove
	fmas    map[*optab.Match]*fused
	spare   []Arg
}

// places are the operations that do something with a row, in order, for every row: those of row r are
// list[at[r]:at[r+1]].
type places struct {
	at   []int32
	list []int32
}

func (p *places) of(row uint32) []int32 { return p.list[p.at[row]:p.at[row+1]] }

// next is the first operation from position i on, a very large number when there is none.
func (p *places) next(row uint32, i int) int {
	l := p.of(row)
	if k, _ := slices.BinarySearch(l, int32(i)); k < len(l) {
		return int(l[k])
	}
	return math.MaxInt
}

// prev is the last operation before position i, -1 when there is none.
func (p *places) prev(row uint32, i int) int {
	l := p.of(row)
	if k, _ := slices.BinarySearch(l, int32(i)); k > 0 {
		return int(l[k-1])
	}
	return -1
}

// newPlaces is for rows with events, to be counted with count and then, once add has been called, noted with note in
// ascending order.
func newPlaces(rows int) places { return places{at: make([]int32, rows+2)} }

// count makes room for an operation of the row.
func (p *places) count(row uint32) { p.at[row+2]++ }

// add turns the counts into where each row's operations begin; note moves that to where they end, which is where the
// next row's begin.
func (p *places) add() {
	for r := 2; r < len(p.at); r++ {
		p.at[r] += p.at[r-1]
	}
	p.list = make([]int32, p.at[len(p.at)-1])
}

func (p *places) note(row uint32, op int) {
	p.list[p.at[row+1]] = int32(op)
	p.at[row+1]++
}

// isFloat says whether op is one of the floating point operations that this file looks at.
func isFloat(op *Op, codes ...optab.Opcode) bool {
	return op.Ctl == Plain && slices.Contains(codes, op.Opcode())
}

// arithmetic makes moves of min and max, and says what else there is to do: operations that may be fused or negations
// that may cancel, products that may be by one, pairs of NaNs.
func (c *contractor) arithmetic() (fuse, ones, nans bool) {
	var mul, add bool
	for i := range c.f.Ops {
		op := &c.f.Ops[i]
		if isFloat(op, optab.OpFmin, optab.OpFmax) {
			extremeOfOne(op)
			continue
		}
		if !isFloat(op, optab.OpFmul, optab.OpFneg, optab.OpFadd, optab.OpFsub, optab.OpFfma) {
			continue
		}
		double := op.Type(0) == optab.F64
		switch op.Opcode() {
		case optab.OpFmul:
			ones = true
			mul = mul || plainFloat(op, optab.OpFmul) && !op.Mods().Sat
		case optab.OpFadd, optab.OpFsub:
			add = add || plainFloat(op, optab.OpFadd, optab.OpFsub)
		case optab.OpFneg:
			fuse = fuse || double
		}
		nans = nans || double
	}
	return fuse || mul && add, ones, nans
}

// scan finds basic blocks and the rows that live across their borders.
func (c *contractor) scan() {
	ops := c.f.Ops
	leader := leaders(ops)
	n := len(c.f.rows)
	c.exposed = make([]bool, n)
	c.dead = map[int]bool{}
	for _, a := range c.f.RetRegs {
		if a != nil {
			c.exposed[a.Ref.Off] = true
		}
	}
	// What the block has written so far, and under which guard; a read under the same guard, not changed since, sees
	// that write.
	type guard struct {
		block   int32 // number of the block; 0 is none
		row     int32
		neg     bool
		version int32
	}
	written := make([]guard, n)
	versions := make([]int32, n)
	var under guard
	var op *Op
	always := func(g guard) bool { return g.row < 0 }
	c.reads, c.writes, c.wholes = newPlaces(n), newPlaces(n), newPlaces(n)
	read := func(r uint32) {
		c.reads.count(r)
		if g := written[r]; g.block != under.block || !always(g) && g != under {
			c.exposed[r] = true
		}
	}
	write := func(r uint32, whole bool) {
		c.writes.count(r)
		if whole {
			c.wholes.count(r)
		}
		versions[r]++
		if g := written[r]; (g.block != under.block || !always(g)) && !op.accumulates() {
			written[r] = under
		}
	}
	for i := range ops {
		if leader[i] {
			c.starts = append(c.starts, i)
		}
		op = &ops[i]
		under = guard{block: int32(len(c.starts)), row: -1}
		if op.Guard >= 0 {
			under.row, under.neg, under.version = op.Guard, op.Neg, versions[op.Guard]
		}
		op.reads(read)
		op.writes(write)
	}
	c.starts = append(c.starts, len(ops))
	c.reads.add()
	c.writes.add()
	c.wholes.add()
	i := 0
	noteRead := func(r uint32) { c.reads.note(r, i) }
	noteWrite := func(r uint32, whole bool) {
		c.writes.note(r, i)
		if whole {
			c.wholes.note(r, i)
		}
	}
	for i = range ops {
		ops[i].reads(noteRead)
		ops[i].writes(noteWrite)
	}
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
		return op.Args[i].Kind != Addr && op.Args[i].Op != nil && op.Args[i].Op.Dst
	}
	return false
}

// accumulates says whether the operation reads what it writes.
func (op *Op) accumulates() bool { return op.Form().Acc }

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
	whole := op.Guard < 0 && !op.accumulates() && !op.WholeWarp()
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

func (op *Op) writesRow(row uint32) (some, whole bool) {
	op.writes(func(r uint32, w bool) {
		if r == row {
			some, whole = true, whole || w
		}
	})
	return some, whole
}

// plainFloat says whether the operation is one of them, without rounding modifier.
func plainFloat(op *Op, codes ...optab.Opcode) bool {
	return isFloat(op, codes...) && op.Mods().Round == optab.NoRound && op.Args[0].Kind == Row
}

func (c *contractor) block(from, to int) {
	for i := from; i < to; i++ {
		op := &c.f.Ops[i]
		switch {
		case plainFloat(op, optab.OpFmul) && !op.Mods().Sat && c.fuse(i, to):
		case isFloat(op, optab.OpFmul):
			multiplyByOne(op)
		case isFloat(op, optab.OpFneg) && op.Type(0) == optab.F64:
			c.doubleNegation(i, from)
		}
	}
}

// fuse looks for the only use of a product and makes it an fma.
func (c *contractor) fuse(i, to int) bool {
	mul := &c.f.Ops[i]
	t := mul.Args[0].Ref.Off
	for k := 1; k <= 2; k++ { // t = t * a does not leave t's old value to the fma
		if mul.Args[k].Kind == Row && mul.Args[k].Ref.Off == t {
			return false
		}
	}
	j := c.reads.next(t, i+1)
	if j >= to || c.writes.next(t, i+1) < j || c.clobbered(mul, i, j) {
		return false
	}
	add := &c.f.Ops[j]
	if am, mm := add.Mods(), mul.Mods(); !plainFloat(add, optab.OpFadd, optab.OpFsub) || am.Types != mm.Types ||
		am.Ftz != mm.Ftz {
		return false
	}
	if mul.Guard >= 0 && (mul.Guard != add.Guard || mul.Neg != add.Neg) {
		return false
	}
	if add.Guard >= 0 && uint32(add.Guard) == t {
		return false
	}
	first, second := add.Args[1].Kind == Row && add.Args[1].Ref.Off == t,
		add.Args[2].Kind == Row && add.Args[2].Ref.Off == t
	if first == second || !c.lastUse(t, j, to) {
		return false
	}
	m := c.fma(add.Match)
	if m == nil {
		return false
	}
	d, a, b, e := add.Args[0], mul.Args[1], mul.Args[2], add.Args[2]
	if second {
		e = add.Args[1]
	}
	if isFloat(add, optab.OpFsub) {
		if first {
			e.Neg = !e.Neg
		} else {
			a.Neg = !a.Neg
		}
	}
	if len(c.spare) < 4 {
		c.spare = make([]Arg, 4*64)
	}
	args := c.spare[:4:4]
	c.spare = c.spare[4:]
	args[0], args[1], args[2], args[3] = d, a, b, e
	for i := 1; i < 4; i++ {
		args[i].Position = &m.at[i-1]
	}
	add.Match, add.Args = &m.match, args
	c.dead[i] = true
	return true
}

// fused is an fma: its form, and the positions of a, b and c.
type fused struct {
	match optab.Match
	at    [3]optab.Position
}

// fma is the fma that takes the place of an add or sub, nil when there is none.
func (c *contractor) fma(add *optab.Match) *fused {
	if m, ok := c.fmas[add]; ok {
		return m
	}
	words := []string{"rn"}
	if add.Mods.Ftz {
		words = append(words, "ftz")
	}
	if add.Mods.Sat {
		words = append(words, "sat")
	}
	var f *fused
	if m := form("fma", append(words, add.Type(0))...); m != nil {
		f = &fused{match: *m}
		for i, name := range []string{"a", "b", "c"} {
			op := m.Form.Operand(name)
			f.at[i] = optab.Position{Op: op, Type: m.Resolve(op.Type)}
		}
	}
	if c.fmas == nil {
		c.fmas = map[*optab.Match]*fused{}
	}
	c.fmas[add] = f
	return f
}

// clobbered says whether an operand or the guard of mul, operation i, changes before operation j.
func (c *contractor) clobbered(mul *Op, i, j int) bool {
	for k := 1; k <= 2; k++ {
		if mul.Args[k].Kind == Row && c.writes.next(mul.Args[k].Ref.Off, i+1) < j {
			return true
		}
	}
	return mul.Guard >= 0 && c.writes.next(uint32(mul.Guard), i+1) < j
}

// lastUse says whether nothing reads row t after operation j.
func (c *contractor) lastUse(t uint32, j, to int) bool {
	if _, whole := c.f.Ops[j].writesRow(t); whole || len(c.reads.of(t)) == 1 {
		return true
	}
	read, write := c.reads.next(t, j+1), c.wholes.next(t, j+1)
	switch {
	case read < to && read <= write:
		return false
	case write < to:
		return true
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
	if m := op.Mods(); m.Ftz || m.Sat || m.NumTypes != 1 {
		return
	}
	var one uint64
	switch op.Type(0) {
	case optab.F32:
		one = 0x3f800000
	case optab.F64:
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

// extremeOfOne turns min and max of a register and itself into a move.
func extremeOfOne(op *Op) {
	a, b, m := &op.Args[1], &op.Args[2], op.Mods()
	if a.Kind != Row || b.Kind != Row || a.Ref != b.Ref || m.Ftz || m.PropNaN || m.Xorsign {
		return
	}
	switch op.Type(0) {
	case optab.F16, optab.F32, optab.F64:
		op.move(*a)
	}
}

// move makes the operation a mov of a.
func (op *Op) move(a Arg) {
	typ := op.Type(0)
	if typ == optab.F16 {
		typ = optab.B16 // mov has no .f16
	}
	m := form("mov", typ.String())
	if m == nil {
		return
	}
	a.Position = &optab.Position{Op: m.Form.Operand("a"), Type: a.Type}
	op.Match, op.Args = m, []Arg{op.Args[0], a}
}

// doubleNegation turns the negation of a negation into a move.
func (c *contractor) doubleNegation(i, from int) {
	op := &c.f.Ops[i]
	if op.Args[1].Kind != Row {
		return
	}
	t := op.Args[1].Ref.Off
	j := c.writes.prev(t, i)
	if j < from {
		return
	}
	def := &c.f.Ops[j]
	if _, whole := def.writesRow(t); !whole || !isFloat(def, optab.OpFneg) || def.Args[1].Kind != Row {
		return
	}
	if src := def.Args[1]; c.writes.next(src.Ref.Off, j) >= i {
		op.move(src)
	}
}

// nanOrder marks f64 operations whose first operand is defined after the second.
func (c *contractor) nanOrder() {
	last := make([]int, len(c.f.rows))
	for i := range c.f.Ops {
		op := &c.f.Ops[i]
		if isFloat(op, optab.OpFadd, optab.OpFsub, optab.OpFmul, optab.OpFfma) && op.Type(0) == optab.F64 &&
			op.Args[1].Kind == Row && op.Args[2].Kind == Row {
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
