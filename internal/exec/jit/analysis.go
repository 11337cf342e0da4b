package jit

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gocuda/cuda/internal/ir"
)

// rowSet is a set of rows by number.
type rowSet []uint64

func (s rowSet) has(r int32) bool { return s[r>>6]>>(r&63)&1 != 0 }
func (s rowSet) add(r int32)      { s[r>>6] |= 1 << (r & 63) }
func (s rowSet) remove(r int32)   { s[r>>6] &^= 1 << (r & 63) }

// block is a run of operations that is entered at its first.
type block struct {
	start, end int32
	join       bool // some branch leads here: values are where the loop's homes say, else in the frame
	falls      bool // the next block follows without a branch
	loop       int32
	succ       []int32 // blocks
	in, out    rowSet  // live rows
}

// loop is an innermost loop: blocks first to last, entered at first only.
type loop struct {
	first, last int32
	homes       []home
	written     rowSet
}

// home is a piece of a row that stays in a register throughout a loop.
type home struct {
	reg uint8
	ref ir.Ref // of the piece
	row uint32
	n   uint8 // number of the piece in its row
}

// analysis is what code generation knows of a function before it starts.
type analysis struct {
	f       *ir.Func
	number  []int32 // of rows, by frame offset in words; -1: not a row of the function
	rows    int32
	blocks  []block
	blockOf []int32 // of the blocks' first operations, by operation; -1 elsewhere
	loops   []loop
	native  []emitter    // nil: left to the interpreter
	marks   *[]Mark      // of the code made last, for a listing; nil when none is wanted
	plain   []bool       // by operation: what it reads and writes stands in rows, not in scalars; nil for none
	stop    *atomic.Bool // set when the launch that wants the code ends; may be nil
	large   *NoCodeError // set when the function is too large to be looked at further: neither live rows nor loops are known
}

// What may be done for one function. Finding what is live where, and where lanes can be apart, takes more than linear time and memory in the worst case, which compiled
// code comes nowhere near.
const (
	maxLiveWords = 1 << 25 // of the sets of live rows
	maxLiveWork  = 1 << 30 // words looked at until the sets are complete
	maxEntries   = 1 << 21 // rows live at the begin of blocks, all together
	maxWork      = 1 << 24 // operations and blocks looked at to find shapes and lanes that are apart
	maxWaits     = 1 << 20 // places where lanes can wait that branches jump over, all together
	maxRestarts  = 16      // times that code is begun anew for one operation; from then on for all of its kind
)

// ends says whether an operation ends a block.
func ends(op *ir.Op) bool {
	switch op.Ctl {
	case ir.Branch, ir.Jump, ir.BranchX, ir.Ret, ir.Exit, ir.Call:
		return true
	}
	return false
}

func syncing(op *ir.Op) bool {
	return op.Ctl == ir.Plain && op.Match.Form.Sync
}

// generic says whether an operation accesses memory by generic addresses, which may be those of other spaces than global memory.
func generic(op *ir.Op) bool {
	for i := range op.Args {
		if a := &op.Args[i]; a.Kind == ir.Addr && a.Space == ir.Generic {
			return true
		}
	}
	return false
}

// analyse finds blocks. whole says that the code is that of whole CTAs, which is entered behind barriers only.
func analyse(f *ir.Func, native []emitter, whole bool) *analysis {
	a := &analysis{f: f, number: make([]int32, f.FrameSize/4+1), native: native}
	for i := range a.number {
		a.number[i] = -1
	}
	n := len(f.Ops)
	leader, join := make([]bool, n+1), make([]bool, n+1)
	leader[0], join[0] = true, true
	for i := range f.Ops {
		op := &f.Ops[i]
		switch op.Ctl {
		case ir.Branch, ir.Jump:
			leader[op.Target], join[op.Target] = true, true
		case ir.BranchX:
			for _, t := range op.Targets {
				leader[t], join[t] = true, true
			}
		}
		switch {
		case whole:
			if ends(op) {
				leader[i+1] = true
			}
			if barrierOf(op) != 0 {
				leader[i+1], join[i+1] = true, true
			}
			continue
		case ends(op) || native[i] == nil || syncing(op) || generic(op):
			leader[i+1] = true
		}
		if syncing(op) || op.Ctl == ir.Call {
			leader[i] = true
		}
	}
	a.blockOf = make([]int32, n)
	for i := range n {
		a.blockOf[i] = -1
		if leader[i] {
			if k := len(a.blocks); k > 0 {
				a.blocks[k-1].end = int32(i)
			}
			a.blockOf[i] = int32(len(a.blocks))
			a.blocks = append(a.blocks, block{start: int32(i), join: join[i], loop: -1})
		}
	}
	a.blocks[len(a.blocks)-1].end = int32(n)
	for b := range a.blocks {
		k := &a.blocks[b]
		op := &f.Ops[k.end-1]
		k.falls = true
		switch op.Ctl {
		case ir.Branch:
			k.succ = append(k.succ, a.blockOf[op.Target])
			k.falls = op.Guard >= 0
		case ir.Jump:
			k.succ = append(k.succ, a.blockOf[op.Target])
			k.falls = false
		case ir.BranchX:
			for _, t := range op.Targets {
				k.succ = append(k.succ, a.blockOf[t])
			}
			k.falls = op.Guard >= 0
		case ir.Ret, ir.Exit:
			k.falls = op.Guard >= 0
		}
		if k.falls && b+1 < len(a.blocks) {
			k.succ = append(k.succ, int32(b+1))
		} else {
			k.falls = false
		}
	}
	if a.large = a.liveness(); a.large != nil {
		return a
	}
	a.findLoops()
	if !whole {
		for i := range a.loops {
			a.giveHomes(&a.loops[i], nil)
		}
	}
	return a
}

// row is the number of the row at a frame offset.
func (a *analysis) row(r uint32) int32 { return a.number[r/4] }

// meet gives a row its number.
func (a *analysis) meet(r uint32) {
	if n := &a.number[r/4]; *n < 0 {
		*n = a.rows
		a.rows++
	}
}

// reads and writes are those of the operation with what a return reads.
func (a *analysis) reads(op *ir.Op, f func(r int32)) {
	op.Reads(func(r uint32) { f(a.row(r)) })
	if op.Ctl == ir.Ret {
		for _, x := range a.f.RetRegs {
			if x != nil {
				f(a.row(x.Ref.Off))
			}
		}
	}
}

func (a *analysis) liveness() *NoCodeError {
	ops := a.f.Ops
	for i := range ops {
		ops[i].Reads(a.meet)
		ops[i].Writes(func(r uint32, _ bool) { a.meet(r) })
	}
	for _, x := range a.f.RetRegs {
		if x != nil {
			a.meet(x.Ref.Off)
		}
	}
	words := int(a.rows)/64 + 1
	nb := len(a.blocks)
	if uint64(nb)*4*uint64(words) > maxLiveWords {
		return &NoCodeError{Why: WhyLarge, Detail: fmt.Sprintf("%d blocks and %d rows", nb, a.rows)}
	}
	buf := make(rowSet, nb*4*words)
	take := func() rowSet { s := buf[:words:words]; buf = buf[words:]; return s }
	gen, kill := make([]rowSet, nb), make([]rowSet, nb)
	for b := range a.blocks {
		k := &a.blocks[b]
		k.in, k.out, gen[b], kill[b] = take(), take(), take(), take()
		for i := k.end - 1; i >= k.start; i-- {
			ops[i].Writes(func(r uint32, whole bool) {
				if whole {
					n := a.row(r)
					kill[b].add(n)
					gen[b].remove(n)
				}
			})
			a.reads(&ops[i], func(r int32) { gen[b].add(r) })
		}
		copy(k.in, gen[b])
	}
	work := 0
	for again := true; again; {
		again = false
		for b := nb - 1; b >= 0; b-- {
			k := &a.blocks[b]
			if work += (len(k.succ) + 1) * words; work > maxLiveWork {
				return &NoCodeError{Why: WhyLarge, Detail: fmt.Sprintf("live rows of %d blocks", nb)}
			}
			for _, s := range k.succ {
				for w, x := range a.blocks[s].in {
					k.out[w] |= x
				}
			}
			for w := range k.in {
				if x := gen[b][w] | k.out[w]&^kill[b][w]; x != k.in[w] {
					k.in[w] = x
					again = true
				}
			}
		}
	}
	return nil
}

// dying returns, for each operation of a block, the rows that nothing reads after it though the operation reads or writes them.
func (a *analysis) dying(k *block) [][]uint32 {
	live := append(rowSet(nil), k.out...)
	out := make([][]uint32, k.end-k.start)
	var spare []uint32
	for i := k.end - 1; i >= k.start; i-- {
		op := &a.f.Ops[i]
		if len(spare) < 3 {
			spare = make([]uint32, 3*min(256, i-k.start+1))
		}
		out[i-k.start], spare = spare[:0:3], spare[3:] // few operations end more rows
		note := func(r uint32) {
			if !live.has(a.row(r)) {
				out[i-k.start] = append(out[i-k.start], r)
			}
		}
		op.Writes(func(r uint32, _ bool) { note(r) })
		op.Reads(note)
		op.Writes(func(r uint32, whole bool) {
			if whole {
				live.remove(a.row(r))
			}
		})
		a.reads(op, func(r int32) { live.add(r) })
	}
	return out
}

// findLoops finds innermost loops and gives their rows homes.
func (a *analysis) findLoops() {
	last := map[int32]int32{} // by header
	for b := range a.blocks {
		for _, s := range a.blocks[b].succ {
			if s <= int32(b) {
				last[s] = max(last[s], int32(b))
			}
		}
	}
	var open []int32 // last blocks of loops that began before and have not ended, the first to end last
	for h := range a.blocks {
		e, ok := last[int32(h)]
		if !ok {
			continue
		}
		for len(open) > 0 && open[len(open)-1] < int32(h) {
			open = open[:len(open)-1]
		}
		inner := len(open) == 0 || open[len(open)-1] >= e
		for b := int32(h) + 1; b <= e && inner; b++ {
			_, other := last[b]
			inner = !other
		}
		at, _ := slices.BinarySearchFunc(open, e, func(x, e int32) int { return int(e - x) })
		open = slices.Insert(open, at, e)
		if !inner {
			continue
		}
		l := loop{first: int32(h), last: e}
		for b := l.first; b <= l.last; b++ {
			a.blocks[b].loop = int32(len(a.loops))
		}
		a.loops = append(a.loops, l)
	}
}

// homeRegs is how many registers homes may take.
const homeRegs = 15

// giveHomes chooses the rows of a loop that stay in registers; v is nil for code of single splits.
func (a *analysis) giveHomes(l *loop, v *values) {
	type candidate struct {
		ref   ir.Ref
		class ir.Class
		uses  int
	}
	uses := map[uint32]*candidate{}
	var order []uint32
	l.written = make(rowSet, len(a.blocks[0].in))
	at := int32(0)
	vector := func(row uint32) bool {
		if v == nil {
			return true
		}
		w := v.useWeb(at, row)
		if w < 0 {
			w = v.defWeb(at, row)
		}
		return !v.webs[w].shape.scalar()
	}
	var visit func(x *ir.Arg)
	visit = func(x *ir.Arg) {
		switch x.Kind {
		case ir.Row:
			if (x.Class == ir.W32 || x.Class == ir.W64) && vector(x.Ref.Off) {
				c := uses[x.Ref.Off]
				if c == nil {
					c = &candidate{ref: x.Ref, class: x.Class}
					uses[x.Ref.Off] = c
					order = append(order, x.Ref.Off)
				}
				c.uses++
			}
		case ir.Vec:
			for i := range x.Elems {
				visit(&x.Elems[i])
			}
		case ir.Addr:
			if x.Base != nil {
				visit(x.Base)
			}
		}
	}
	stepped := false
	for b := l.first; b <= l.last; b++ {
		k := &a.blocks[b]
		for i := k.start; i < k.end; i++ {
			op := &a.f.Ops[i]
			op.Writes(func(r uint32, _ bool) { l.written.add(a.row(r)) })
			at = i
			if v != nil {
				stepped = stepped || barrierOf(op) != 0 && v.warps > 1
				if v.dead[i] {
					continue
				}
			} else if a.native[i] == nil && op.Guard < 0 && op.Ctl != ir.Exit && op.Ctl != ir.Branch && op.Ctl != ir.Jump {
				stepped = true // registers are lost there anyway
			}
			for j := range op.Args {
				visit(&op.Args[j])
			}
		}
	}
	if stepped {
		return
	}
	in := a.blocks[l.first].in
	reg := uint8(poolEnd - 1)
	left := homeRegs
	for {
		var best *candidate
		for _, r := range order {
			c := uses[r]
			if c == nil || !in.has(a.row(r)) {
				continue
			}
			if best == nil || c.uses*pieces(best.class) > best.uses*pieces(c.class) {
				best = c
			}
		}
		if best == nil {
			return
		}
		delete(uses, best.ref.Off)
		n := pieces(best.class)
		if n > left {
			continue
		}
		left -= n
		for p := range n {
			l.homes = append(l.homes, home{reg: reg, ref: ir.Ref{Off: best.ref.Off + uint32(64*p)}, row: best.ref.Off, n: uint8(p)})
			reg--
		}
	}
}

// pieces is the number of 64-byte pieces of a row.
func pieces(c ir.Class) int { return int(c.RowSize()+63) / 64 }
