package plan

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gocuda/cuda/internal/ir"
)

// rowSet is a set of rows by number.
type rowSet []uint64

// Has says whether a row is in the set.
func (s rowSet) Has(r int32) bool { return s[r>>6]>>(r&63)&1 != 0 }
func (s rowSet) add(r int32)      { s[r>>6] |= 1 << (r & 63) }
func (s rowSet) remove(r int32)   { s[r>>6] &^= 1 << (r & 63) }

// Block is a run of operations that is entered at its first.
type Block struct {
	Start, End int32
	Join       bool // some branch leads here: values are where the loop's homes say, else in the frame
	Falls      bool // the next block follows without a branch
	Loop       int32
	succ       []int32 // blocks
	In, out    rowSet  // live rows
}

// Loop is an innermost loop: blocks first to last, entered at first only.
type Loop struct {
	first, last int32
	Homes       []Home
	Written     rowSet
}

// Home is a piece of a row that stays in a register throughout a loop.
type Home struct {
	Reg uint8  // the number of the home, from 0 on
	Ref ir.Ref // of the piece
	Row uint32
	N   uint8 // number of the piece in its row
}

// Func is what code generation knows of a function before it starts.
type Func struct {
	IR      *ir.Func
	Kernel  *ir.Kernel // of code of whole CTAs: whose entry it is
	number  []int32    // of rows, by frame offset in words; -1: not a row of the function
	rows    int32
	Blocks  []Block
	BlockOf []int32 // of the blocks' first operations, by operation; -1 elsewhere
	Loops   []Loop
	Native  []bool           // operations with machine code; the others are left to the interpreter
	Bounds  []*BoundedAccess // of code under a memory checker, by operation: what it accesses, nil for none
	// of code under a checker that follows accesses, by operation: what is noted of it, nil for nothing
	Told  []*Told
	Meets bool // barriers that a warp comes to are noted
	// of code that follows what nobody has written, by operation; nil for others
	Followed []*Followed
	Kept     any          // what the code generator keeps for the function
	InRows   []bool       // by operation: what it reads and writes stands in rows, not in scalars; nil for none
	Served   []Service    // by operation of code of whole CTAs: what routines in Go do (Serve)
	Serves   int          // how many there are
	Stop     *atomic.Bool // set when the launch that wants the code ends; may be nil
	// set when the function is too large to be looked at further: neither live rows nor loops are known
	TooLarge *NoCodeError
}

// What may be done for one function. Finding what is live where, and where lanes can be apart, takes more than linear
// time and memory in the worst case, which compiled code comes nowhere near.
const (
	maxLiveWords = 1 << 25 // of the sets of live rows
	maxLiveWork  = 1 << 30 // words looked at until the sets are complete
	maxEntries   = 1 << 21 // rows live at the begin of blocks, all together
	maxWork      = 1 << 24 // operations and blocks looked at to find variations and lanes that are apart
	maxWaits     = 1 << 20 // places where lanes can wait that branches jump over, all together
	MaxRestarts  = 16      // times that code is begun anew for one operation; from then on for all of its kind
)

// Told is an access that machine code notes for a checker (abi.LogEntry).
type Told struct {
	Base *ir.Arg // of its addresses; nil where the operation alone tells them
}

// ends says whether an operation ends a block.
func ends(op *ir.Op) bool {
	switch op.Ctl {
	case ir.Branch, ir.Jump, ir.BranchX, ir.Ret, ir.Exit, ir.Call:
		return true
	}
	return false
}

func syncing(op *ir.Op) bool {
	return op.Ctl == ir.Plain && op.Sync()
}

// generic says whether an operation accesses memory by generic addresses, which may be those of other spaces than
// global memory.
func generic(op *ir.Op) bool {
	for i := range op.Args {
		if a := &op.Args[i]; a.Kind == ir.Addr && a.Space == ir.Generic {
			return true
		}
	}
	return false
}

// Analyse finds blocks. whole says that the code is that of whole CTAs, which is entered behind barriers only.
func Analyse(f *ir.Func, native []bool, whole bool) *Func {
	a := &Func{IR: f, number: make([]int32, f.FrameSize/4+1), Native: native, Served: make([]Service, len(f.Ops))}
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
			if BarrierOf(op) != 0 {
				leader[i+1], join[i+1] = true, true
			}
			continue
		case ends(op) || !native[i] || syncing(op) || generic(op):
			leader[i+1] = true
		}
		if syncing(op) || op.Ctl == ir.Call {
			leader[i] = true
		}
	}
	a.BlockOf = make([]int32, n)
	for i := range n {
		a.BlockOf[i] = -1
		if leader[i] {
			if k := len(a.Blocks); k > 0 {
				a.Blocks[k-1].End = int32(i)
			}
			a.BlockOf[i] = int32(len(a.Blocks))
			a.Blocks = append(a.Blocks, Block{Start: int32(i), Join: join[i], Loop: -1})
		}
	}
	a.Blocks[len(a.Blocks)-1].End = int32(n)
	for b := range a.Blocks {
		k := &a.Blocks[b]
		op := &f.Ops[k.End-1]
		k.Falls = true
		switch op.Ctl {
		case ir.Branch:
			k.succ = append(k.succ, a.BlockOf[op.Target])
			k.Falls = op.Guard >= 0
		case ir.Jump:
			k.succ = append(k.succ, a.BlockOf[op.Target])
			k.Falls = false
		case ir.BranchX:
			for _, t := range op.Targets {
				k.succ = append(k.succ, a.BlockOf[t])
			}
			k.Falls = op.Guard >= 0
		case ir.Ret, ir.Exit:
			k.Falls = op.Guard >= 0
		}
		if k.Falls && b+1 < len(a.Blocks) {
			k.succ = append(k.succ, int32(b+1))
		} else {
			k.Falls = false
		}
	}
	if a.TooLarge = a.liveness(); a.TooLarge != nil {
		return a
	}
	a.findLoops()
	if !whole {
		for i := range a.Loops {
			a.GiveHomes(&a.Loops[i], nil)
		}
	}
	return a
}

// Row is the number of the row at a frame offset.
func (a *Func) Row(r uint32) int32 { return a.number[r/4] }

// addRow gives a row its number.
func (a *Func) addRow(r uint32) {
	if n := &a.number[r/4]; *n < 0 {
		*n = a.rows
		a.rows++
	}
}

// reads and writes are those of the operation with what a return reads.
func (a *Func) reads(op *ir.Op, f func(r int32)) {
	op.Reads(func(r uint32) { f(a.Row(r)) })
	if op.Ctl == ir.Ret {
		for _, x := range a.IR.RetRegs {
			if x != nil {
				f(a.Row(x.Ref.Off))
			}
		}
	}
}

func (a *Func) liveness() *NoCodeError {
	ops := a.IR.Ops
	for i := range ops {
		ops[i].Reads(a.addRow)
		ops[i].Writes(func(r uint32, _ bool) { a.addRow(r) })
	}
	for _, x := range a.IR.RetRegs {
		if x != nil {
			a.addRow(x.Ref.Off)
		}
	}
	words := int(a.rows)/64 + 1
	nb := len(a.Blocks)
	if uint64(nb)*4*uint64(words) > maxLiveWords {
		return &NoCodeError{Why: WhyLarge, Detail: fmt.Sprintf("%d blocks and %d rows", nb, a.rows)}
	}
	buf := make(rowSet, nb*4*words)
	take := func() rowSet { s := buf[:words:words]; buf = buf[words:]; return s }
	gen, kill := make([]rowSet, nb), make([]rowSet, nb)
	for b := range a.Blocks {
		k := &a.Blocks[b]
		k.In, k.out, gen[b], kill[b] = take(), take(), take(), take()
		for i := k.End - 1; i >= k.Start; i-- {
			ops[i].Writes(func(r uint32, whole bool) {
				if whole {
					n := a.Row(r)
					kill[b].add(n)
					gen[b].remove(n)
				}
			})
			a.reads(&ops[i], func(r int32) { gen[b].add(r) })
		}
		copy(k.In, gen[b])
	}
	work := 0
	for again := true; again; {
		again = false
		for b := nb - 1; b >= 0; b-- {
			k := &a.Blocks[b]
			if work += (len(k.succ) + 1) * words; work > maxLiveWork {
				return &NoCodeError{Why: WhyLarge, Detail: fmt.Sprintf("live rows of %d blocks", nb)}
			}
			for _, s := range k.succ {
				for w, x := range a.Blocks[s].In {
					k.out[w] |= x
				}
			}
			for w := range k.In {
				if x := gen[b][w] | k.out[w]&^kill[b][w]; x != k.In[w] {
					k.In[w] = x
					again = true
				}
			}
		}
	}
	return nil
}

// Dying returns, for each operation of a block, the rows that nothing reads after it though the operation reads or
// writes them.
func (a *Func) Dying(k *Block) [][]uint32 {
	live := append(rowSet(nil), k.out...)
	out := make([][]uint32, k.End-k.Start)
	var spare []uint32
	for i := k.End - 1; i >= k.Start; i-- {
		op := &a.IR.Ops[i]
		if len(spare) < 3 {
			spare = make([]uint32, 3*min(256, i-k.Start+1))
		}
		out[i-k.Start], spare = spare[:0:3], spare[3:] // few operations end more rows
		note := func(r uint32) {
			if !live.Has(a.Row(r)) {
				out[i-k.Start] = append(out[i-k.Start], r)
			}
		}
		op.Writes(func(r uint32, _ bool) { note(r) })
		op.Reads(note)
		op.Writes(func(r uint32, whole bool) {
			if whole {
				live.remove(a.Row(r))
			}
		})
		a.reads(op, func(r int32) { live.add(r) })
	}
	return out
}

// findLoops finds innermost loops and gives their rows homes.
func (a *Func) findLoops() {
	last := map[int32]int32{} // by header
	for b := range a.Blocks {
		for _, s := range a.Blocks[b].succ {
			if s <= int32(b) {
				last[s] = max(last[s], int32(b))
			}
		}
	}
	var open []int32 // last blocks of loops that began before and have not ended, the first to end last
	for h := range a.Blocks {
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
		l := Loop{first: int32(h), last: e}
		for b := l.first; b <= l.last; b++ {
			a.Blocks[b].Loop = int32(len(a.Loops))
		}
		a.Loops = append(a.Loops, l)
	}
}

// homeRegs is how many registers homes may take.
const homeRegs = 15

// GiveHomes chooses the rows of a loop that stay in registers; v is nil for code of single splits.
func (a *Func) GiveHomes(l *Loop, v *Values) {
	type candidate struct {
		ref   ir.Ref
		class ir.Class
		uses  int
	}
	uses := map[uint32]*candidate{}
	var order []uint32
	l.Written = make(rowSet, len(a.Blocks[0].In))
	at := int32(0)
	vector := func(row uint32) bool {
		if v == nil {
			return true
		}
		w := v.UseWeb(at, row)
		if w < 0 {
			w = v.DefWeb(at, row)
		}
		return !v.Webs[w].Variation.Scalar()
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
		k := &a.Blocks[b]
		for i := k.Start; i < k.End; i++ {
			op := &a.IR.Ops[i]
			op.Writes(func(r uint32, _ bool) { l.Written.add(a.Row(r)) })
			at = i
			if v != nil {
				stepped = stepped || BarrierOf(op) != 0 && v.Warps > 1
				if v.Dead[i] {
					continue
				}
			} else if !a.Native[i] && op.Guard < 0 && op.Ctl != ir.Exit && op.Ctl != ir.Branch && op.Ctl != ir.Jump {
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
	in := a.Blocks[l.first].In
	reg := uint8(0)
	left := homeRegs
	for {
		var best *candidate
		for _, r := range order {
			c := uses[r]
			if c == nil || !in.Has(a.Row(r)) {
				continue
			}
			if best == nil || c.uses*Pieces(best.class) > best.uses*Pieces(c.class) {
				best = c
			}
		}
		if best == nil {
			return
		}
		delete(uses, best.ref.Off)
		n := Pieces(best.class)
		if n > left {
			continue
		}
		left -= n
		for p := range n {
			l.Homes = append(l.Homes, Home{Reg: reg, Ref: ir.Ref{Off: best.ref.Off + uint32(64*p)}, Row: best.ref.Off,
				N: uint8(p)})
			reg++
		}
	}
}

// Pieces is the number of 64-byte pieces of a row.
func Pieces(c ir.Class) int { return int(c.RowSize()+63) / 64 }
