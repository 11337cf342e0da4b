package ir

import (
	"fmt"

	"github.com/gocuda/cuda/internal/ptx/check"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// While a function is lowered its registers and parameter variables have numbers: Ref.Off of a row is its index in
// Func.rows, Slot.Off that of a slot in Func.slots. place gives them their offsets in the frame. Values that are never
// live together share a place, as in a register allocator without spilling, so that the frames of big kernels stay in
// the processor's caches.
//
// Lanes are masked everywhere, so what holds for one thread holds for a warp: a row may be used again once no path
// leads from here to a read of its value. Rows used in one basic block live from their first to their last operation
// there. For the others the blocks in which they are live are found by walking backwards from the reads, around loops
// too; such a row is kept from the first of these operations to the last in layout order. An operation never finds a
// result in a row that it reads.

// rowInfo describes a row before it has a place. Narrow registers share places with registers of their own width only,
// since operations rely on the upper bits being zero.
type rowInfo struct {
	class Class
	width uint8 // declared bits when below 32, else 0
	name  string
}

// kind numbers the widths that have places of their own: 32 bits or more, 8, 16.
func (i *rowInfo) kind() int {
	switch i.width {
	case 8:
		return 1
	case 16:
		return 2
	}
	return 0
}

// pool is a kind of place: rows of one class and width, or slots of one size.
type pool struct {
	free []int32 // places given back, the last one first
	n    int32   // places made
}

func (p *pool) take() int32 {
	if k := len(p.free); k > 0 {
		i := p.free[k-1]
		p.free = p.free[:k-1]
		return i
	}
	p.n++
	return p.n - 1
}

// placer lays out one function's frame.
type placer struct {
	f          *Func
	first      []int32 // first operation in whose neighbourhood the row must be kept, -1 while none is known
	last       []int32
	start      []int32 // first operation of each basic block, and the end
	in         []int32 // block of each operation
	slotFirst  []int32
	slotLast   []int32
	slotShared []bool
}

// stepLimit bounds the blocks visited for rows that live across blocks; rows beyond it are kept for the whole function.
const stepLimit = 1 << 22

// place lays out the frame of f and rewrites all operands. share says whether rows may share places.
func place(f *Func, share bool) error {
	p := &placer{f: f, first: fill(len(f.rows), -1), last: make([]int32, len(f.rows)),
		slotFirst: fill(len(f.slots), -1), slotLast: make([]int32, len(f.slots)),
		slotShared: make([]bool, len(f.slots))}
	end := int32(len(f.Ops)) - 1
	if share {
		p.blocks()
		p.live()
		p.liveSlots()
	} else {
		for i := range p.first {
			p.first[i], p.last[i] = 0, end
		}
	}
	rows, slots := p.assign(share)
	if f.FrameSize > MaxFrame {
		return &Error{Kernel: f.Name, Text: fmt.Sprintf("its registers and parameters take %d bytes in each warp, and the software device has %d", f.FrameSize, uint64(MaxFrame))}
	}
	used := p.rewrite(rows, slots)
	if !share {
		f.Registers = f.registers(rows, used)
	}
	f.rows, f.slots = nil, nil
	return nil
}

// registers are those that operations have; the lowering may have done without others.
func (f *Func) registers(rows []uint32, used []bool) (list []Register) {
	for i := range f.rows {
		if r := &f.rows[i]; r.name != "" && used[i] {
			list = append(list, Register{r.name, r.class, Ref{Off: rows[i]}})
		}
	}
	return list
}

func fill(n int, v int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// leaders marks the first operations of basic blocks.
func leaders(ops []Op) []bool {
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
	return leader
}

func (p *placer) blocks() {
	ops := p.f.Ops
	leader := leaders(ops)
	p.in = make([]int32, len(ops))
	for i := range ops {
		if leader[i] {
			p.start = append(p.start, int32(i))
		}
		p.in[i] = int32(len(p.start)) - 1
	}
	p.start = append(p.start, int32(len(ops)))
}

// preds returns the predecessors of every block: those of b are list[at[b]:at[b+1]].
func (p *placer) preds() (at, list []int32) {
	nb := len(p.start) - 1
	at = make([]int32, nb+1)
	each := func(f func(from, to int32)) {
		for b := range int32(nb) {
			op := &p.f.Ops[p.start[b+1]-1]
			next := true
			switch op.Ctl {
			case Jump:
				f(b, p.in[op.Target])
				next = false
			case Branch:
				f(b, p.in[op.Target])
				next = op.Guard >= 0
			case BranchX:
				for _, t := range op.Targets {
					f(b, p.in[t])
				}
				next = op.Guard >= 0
			case Ret, Exit:
				next = op.Guard >= 0
			}
			if next && int(b)+1 < nb {
				f(b, b+1)
			}
		}
	}
	each(func(_, to int32) { at[to+1]++ })
	for b := range nb {
		at[b+1] += at[b]
	}
	list = make([]int32, at[nb])
	fillAt := make([]int32, nb)
	each(func(from, to int32) {
		list[at[to]+fillAt[to]] = from
		fillAt[to]++
	})
	return at, list
}

// mention is a block in which a row is read before it is written there, or written for all lanes.
type mention struct {
	block, next int32
}

// chains are lists of mentions by row.
type chains struct {
	head []int32
	all  []mention
}

// newChains has room for some mentions.
func newChains(rows, room int) chains {
	return chains{head: fill(rows, -1), all: make([]mention, 0, room)}
}

func (c *chains) add(row uint32, block int32) {
	if h := c.head[row]; h >= 0 && c.all[h].block == block {
		return
	}
	c.all = append(c.all, mention{block, c.head[row]})
	c.head[row] = int32(len(c.all)) - 1
}

// live finds how long each row must be kept.
func (p *placer) live() {
	f := p.f
	n := len(f.rows)
	home := fill(n, -1)                                    // the row's only block, -2 when it has several
	killed := fill(n, -1)                                  // the last block that wrote it whole
	reads, kills := newChains(n, n/8), newChains(n, n+n/8) // most rows are written in one block and read there
	touch := func(r uint32, i int) {
		if p.first[r] < 0 {
			p.first[r], home[r] = int32(i), p.in[i]
		} else if home[r] != p.in[i] {
			home[r] = -2
		}
		p.last[r] = int32(i)
	}
	i := 0
	read := func(r uint32) {
		touch(r, i)
		if killed[r] != p.in[i] {
			reads.add(r, p.in[i])
		}
	}
	write := func(r uint32, whole bool) {
		touch(r, i)
		if whole && killed[r] != p.in[i] {
			killed[r] = p.in[i]
			kills.add(r, p.in[i])
		}
	}
	for _, a := range f.ParamRegs {
		if a != nil {
			touch(a.Ref.Off, 0) // the call writes it
		}
	}
	for i = range f.Ops {
		op := &f.Ops[i]
		op.reads(read)
		if op.Ctl == Ret {
			for _, a := range f.RetRegs {
				if a != nil {
					read(a.Ref.Off)
				}
			}
		}
		op.writes(write)
	}
	if len(p.start) == 2 && len(f.Ops) > 0 { // straight-line code
		for r := range n {
			if reads.head[r] >= 0 {
				p.first[r] = 0
			}
		}
		return
	}
	at, preds := p.preds()
	nb := len(p.start) - 1
	seen, kill := fill(nb, -1), fill(nb, -1)
	var work []int32
	steps := 0
	for r := range int32(n) {
		if reads.head[r] < 0 {
			continue // never read but after a write in the same block
		}
		if steps > stepLimit {
			p.first[r], p.last[r] = 0, int32(len(f.Ops))-1
			continue
		}
		for m := kills.head[r]; m >= 0; m = kills.all[m].next {
			kill[kills.all[m].block] = r
		}
		lo, hi := p.first[r], p.last[r]
		for m := reads.head[r]; m >= 0; m = reads.all[m].next {
			b := reads.all[m].block
			seen[b] = r
			work = append(work, b)
		}
		for len(work) > 0 { // the row is live where block b begins
			b := work[len(work)-1]
			work = work[:len(work)-1]
			steps++
			lo = min(lo, p.start[b])
			for _, q := range preds[at[b]:at[b+1]] {
				hi = max(hi, p.start[q+1]-1)
				if kill[q] != r && seen[q] != r {
					seen[q] = r
					work = append(work, q)
				}
			}
		}
		p.first[r], p.last[r] = lo, hi
	}
}

// liveSlots finds parameter variables that one block writes and then reads, byte by byte: those of calls. All others
// are kept.
func (p *placer) liveSlots() {
	f := p.f
	if len(f.slots) == 0 {
		return
	}
	home := fill(len(f.slots), -1)
	have := make([]uint64, len(f.slots)) // bytes written
	keep := make([]bool, len(f.slots))
	for i := range f.slots {
		keep[i] = f.slots[i].Size > 64 || i < len(f.Params)+len(f.Returns)
	}
	i := 0
	touch := func(s uint32, off, n uint64, write, always bool) {
		if p.slotFirst[s] < 0 {
			p.slotFirst[s], home[s] = int32(i), p.in[i]
		} else if home[s] != p.in[i] {
			keep[s] = true
		}
		p.slotLast[s] = int32(i)
		if keep[s] || off+n > 64 || off > 64 {
			keep[s] = true
			return
		}
		bytes := (^uint64(0) >> (64 - n)) << off
		switch {
		case n == 0:
		case write && always:
			have[s] |= bytes
		case !write && have[s]&bytes != bytes:
			keep[s] = true
		}
	}
	for i = range f.Ops {
		op := &f.Ops[i]
		for j := range op.Args {
			a := &op.Args[j]
			if a.slot() {
				n, known := op.bytes()
				if !known {
					keep[a.Ref.Off] = true
				}
				touch(a.Ref.Off, uint64(a.Disp), n, j == 0, op.Guard < 0)
			}
		}
		if op.Call == nil {
			continue
		}
		for j := range op.Call.Args {
			if c := &op.Call.Args[j]; c.slot() {
				touch(uint32(c.Slot.Off), 0, c.Slot.Size, false, false)
			}
		}
		for j := range op.Call.Rets {
			if c := &op.Call.Rets[j]; c.slot() {
				touch(uint32(c.Slot.Off), 0, c.Slot.Size, true, op.Guard < 0)
			}
		}
	}
	for s := range keep {
		p.slotShared[s] = !keep[s]
	}
}

// slot says whether the operand is in a parameter variable of the frame.
func (a *Arg) slot() bool { return a.Kind == Addr && a.Space == FrameParam && a.Base == nil && a.Sym }

// slot says whether the copy is from or to a parameter variable of the caller.
func (c *Copy) slot() bool { return c.Row == nil && c.Slot.Size != 0 }

// bytes is how many bytes an ld or st moves.
func (op *Op) bytes() (n uint64, known bool) {
	if e := op.Effect(); e != optab.MemLoad && e != optab.MemStore || len(op.Args) < 2 {
		return 0, false
	}
	v := &op.Args[1]
	if op.Effect() == optab.MemLoad {
		v = &op.Args[0]
	}
	n = uint64(op.Mods().LastType().Bytes())
	if v.Kind == Vec {
		n *= uint64(len(v.Elems))
	}
	return n, n > 0
}

// assign gives places and returns the offsets of rows and slots.
func (p *placer) assign(share bool) (rows []uint32, slots []uint64) {
	f := p.f
	rows, slots = make([]uint32, len(f.rows)), make([]uint64, len(f.slots))
	var frame check.Layout
	room := func(n uint64) uint64 { return frame.Place(n, 128) }
	for s := range f.slots {
		if !p.slotShared[s] {
			slots[s] = room(f.slots[s].Stride * 32)
		}
	}
	var pools [4][3]pool // by class, and 32 bits or more, 8, 16
	slotPools := map[uint64]*pool{}
	poolOf := func(r int32) *pool {
		i := &f.rows[r]
		return &pools[i.class][i.kind()]
	}
	// Rows and slots that begin or end at an operation, in lists.
	n := len(f.Ops)
	begin, done := fill(n, -1), fill(n, -1)
	link := func(first, last []int32, off int32, nextBegin, nextEnd []int32) {
		for r := len(first) - 1; r >= 0; r-- {
			if first[r] < 0 {
				continue
			}
			id := int32(r) + off
			nextBegin[id], begin[first[r]] = begin[first[r]], id
			nextEnd[id], done[last[r]] = done[last[r]], id
		}
	}
	total := len(f.rows) + len(f.slots)
	nextBegin, nextEnd := make([]int32, total), make([]int32, total)
	link(p.first, p.last, 0, nextBegin, nextEnd)
	base := int32(len(f.rows))
	for s := range f.slots {
		if !p.slotShared[s] {
			p.slotFirst[s] = -1
		}
	}
	link(p.slotFirst, p.slotLast, base, nextBegin, nextEnd)
	place := make([]int32, total)
	of := func(id int32) *pool {
		if id < base {
			return poolOf(id)
		}
		stride := f.slots[id-base].Stride
		if slotPools[stride] == nil {
			slotPools[stride] = &pool{}
		}
		return slotPools[stride]
	}
	for i := range n {
		for id := begin[i]; id >= 0; id = nextBegin[id] {
			place[id] = of(id).take()
		}
		if !share {
			continue
		}
		for id := done[i]; id >= 0; id = nextEnd[id] {
			q := of(id)
			q.free = append(q.free, place[id])
		}
	}
	var bases [4][3]uint64
	for c := range pools {
		for w := range pools[c] {
			bases[c][w] = room(uint64(pools[c][w].n) * uint64(Class(c).RowSize()))
		}
	}
	for r := range f.rows {
		if p.first[r] >= 0 {
			i := &f.rows[r]
			w := i.kind()
			rows[r] = uint32(bases[i.class][w] + uint64(place[r])*uint64(i.class.RowSize()))
		}
	}
	slotBases := map[uint64]uint64{}
	for s := range f.slots {
		if !p.slotShared[s] || p.slotFirst[s] < 0 {
			continue
		}
		stride := f.slots[s].Stride
		if _, ok := slotBases[stride]; !ok {
			slotBases[stride] = room(uint64(slotPools[stride].n) * stride * 32)
		}
		slots[s] = slotBases[stride] + uint64(place[base+int32(s)])*stride*32
	}
	frame.Pad(128)
	f.FrameSize = frame.Size
	return rows, slots
}

// rewrite replaces numbers by offsets, and says which rows there are operands of.
func (p *placer) rewrite(rows []uint32, slots []uint64) (used []bool) {
	f := p.f
	used = make([]bool, len(f.rows))
	var fix func(a *Arg)
	fix = func(a *Arg) {
		switch a.Kind {
		case Row:
			used[a.Ref.Off] = true
			a.Ref.Off = rows[a.Ref.Off]
		case Vec, List:
			for i := range a.Elems {
				fix(&a.Elems[i])
			}
		case Addr:
			if a.slot() {
				a.Ref.Off = uint32(slots[a.Ref.Off])
			}
			if a.Base != nil {
				fix(a.Base)
			}
			for i := range a.Extra {
				fix(&a.Extra[i])
			}
		}
		if a.Second != nil {
			fix(a.Second)
		}
	}
	copies := func(cs []Copy) {
		for i := range cs {
			if c := &cs[i]; c.Row != nil {
				fix(c.Row)
			} else if c.slot() {
				c.Slot.Off = slots[c.Slot.Off]
			}
		}
	}
	for i := range f.Ops {
		op := &f.Ops[i]
		if op.Guard >= 0 {
			used[op.Guard] = true
			op.Guard = int32(rows[op.Guard])
		}
		for j := range op.Args {
			fix(&op.Args[j])
		}
		if op.Call != nil {
			if op.Call.Pointer != nil {
				fix(op.Call.Pointer)
			}
			copies(op.Call.Args)
			copies(op.Call.Rets)
		}
	}
	for _, regs := range [][]*Arg{f.ParamRegs, f.RetRegs} {
		for _, a := range regs {
			if a != nil {
				fix(a)
			}
		}
	}
	for i := range f.Params {
		f.Params[i].Off = slots[f.Params[i].Off]
	}
	for i := range f.Returns {
		f.Returns[i].Off = slots[f.Returns[i].Off]
	}
	return used
}
