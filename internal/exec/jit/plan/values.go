package plan

import (
	"fmt"
	"math/bits"

	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Values is what is known of a function's values when it runs with blocks of given dimensions.
type Values struct {
	Func           *Func
	dims           [3]uint32
	Warps          int
	MayWrap        []bool // operations that must not rely on addresses and indices that do not wrap around
	Webs           []web
	ranges         []valueRange // by web; nil where nothing asks for them
	Ops            []opWebs
	Info           []Info
	Entry          [][]RowWeb // by block: the webs of the rows live at its begin
	InBlock        []int32    // by operation
	divergent      []bool     // by block: runs while other lanes may wait elsewhere
	Near           []bool     // by block: it lies between a branch that parts lanes and where they meet, not far behind
	Reconverge     []int32    // by block: number among those where lanes can wait, -1
	Reconvergences int
	Held           rowSet // rows live where lanes wait
	heldWeb        []bool
	Dead           []bool  // by operation
	Stream         []bool  // by operation: a store of each thread's own, once, to what the function does not load
	Streams        int     // how many there are
	Shadow         bool    // additions to global memory may be made later
	Turns          []int32 // by loop: iterations after which another warp has its turn, 0 for all; nil: none has turns
	work           int     // operations and blocks looked at
	seen           []int32
}

// spend counts work. Too much of it, or the end of the launch, is a panic with the error of Evaluate.
func (v *Values) spend(n int) {
	if v.work += n; v.work > maxWork {
		panic(&NoCodeError{Why: WhyLarge, Detail: fmt.Sprintf("%d blocks", len(v.Func.Blocks))})
	}
	if s := v.Func.Stop; s != nil && s.Load() {
		panic(ErrStopped)
	}
}

// Evaluate finds the values of a function of whole CTAs of given dimensions. mayWrap are operations whose addresses and
// indices are known to wrap around.
func Evaluate(a *Func, dims [3]uint32, mayWrap []bool) (v *Values, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, Recovered(r)
		}
	}()
	entries := 0
	for b := range a.Blocks {
		for _, x := range a.Blocks[b].In {
			entries += bits.OnesCount64(x)
		}
	}
	if entries > maxEntries {
		return nil, &NoCodeError{Why: WhyLarge, Detail: fmt.Sprintf("%d rows are live at the begin of %d blocks",
			entries, len(a.Blocks))}
	}
	v = &Values{Func: a, dims: dims, MayWrap: mayWrap}
	v.Warps = int(dims[0]*dims[1]*dims[2]+31) / 32
	n := len(a.IR.Ops)
	v.InBlock = make([]int32, n)
	for b := range a.Blocks {
		for i := a.Blocks[b].Start; i < a.Blocks[b].End; i++ {
			v.InBlock[i] = int32(b)
		}
	}
	v.Info = make([]Info, n)
	for i := range a.IR.Ops {
		v.Info[i] = classify(&a.IR.Ops[i])
	}
	v.findWebs()
	v.findDead()
	v.findFixed()
	v.Shadow = shadows(a.IR, v.Unread)
	v.solve()
	v.findRanges()
	v.findStreams()
	v.findTurns()
	return v, v.manyWaits()
}

// manyWaits is an error when branches jump over too many places where lanes can wait: each has code for every one of
// them.
func (v *Values) manyWaits() error {
	blocks := v.Func.Blocks
	count := make([]int, len(blocks)+1)
	for b := range blocks {
		count[b+1] = count[b]
		if v.Reconverge[b] >= 0 {
			count[b+1]++
		}
	}
	n := 0
	for b := range blocks {
		for _, t := range blocks[b].succ {
			n += max(0, count[t]-count[b+1])
		}
	}
	if n > maxWaits {
		return &NoCodeError{Why: WhyLarge, Detail: fmt.Sprintf("branches over %d places where lanes can wait", n)}
	}
	return nil
}

// StreamBytes is how much a launch must store for it to go past the caches.
const StreamBytes = 32 << 20

// findStreams finds stores that may go past the caches when there are many of them: side by side, outside loops, and
// not of what was loaded before. Functions that order their accesses in any way have none, since only the end of the
// launch orders such stores.
func (v *Values) findStreams() {
	f := v.Func.IR
	v.Stream = make([]bool, len(f.Ops))
	if f.Loops {
		return
	}
	loaded := map[int32]bool{}
	for i := range f.Ops {
		op := &f.Ops[i]
		if op.Ctl != ir.Plain {
			continue
		}
		for j := range op.Args {
			a := &op.Args[j]
			if a.Kind != ir.Addr || a.Space != ir.Global && a.Space != ir.Generic {
				continue
			}
			switch e := op.Effect(); {
			case e != optab.MemLoad && e != optab.MemStore || op.Mods().Strong():
				return
			case e == optab.MemLoad && a.Base != nil && a.Base.Kind == ir.Row:
				loaded[v.UseWeb(int32(i), a.Base.Ref.Off)] = true
			}
		}
		if op.Opcode() == optab.OpFence || BarrierOf(op) != 0 {
			return // behind barriers blocks store tiles, whose lines lie far apart
		}
	}
	for i := range f.Ops {
		op := &f.Ops[i]
		if op.Ctl != ir.Plain || op.Effect() != optab.MemStore || op.Guard >= 0 {
			continue
		}
		ac, ok := AccessOf(op, &op.Args[0], &op.Args[1])
		if !ok || !ac.Global() || ac.Base == nil || ac.Base.Kind != ir.Row || len(ac.Regs) != 1 || ac.ElemSize < 4 {
			continue
		}
		w := v.UseWeb(int32(i), ac.Base.Ref.Off)
		if s := v.Webs[w].Variation; s.Kind == Affine && s.Linear() && s.Stride == int64(ac.ElemSize) && !loaded[w] {
			v.Stream[i] = true
			v.Streams++
		}
	}
}

// solve finds variations, and where lanes can part, together: each depends on the other.
func (v *Values) solve() {
	for w := range v.Webs {
		x := &v.Webs[w]
		if x.undef || x.narrow || x.Class == ir.W128 || x.Defs == 0 {
			x.Variation = divergent
		}
	}
	for i := range v.Ops {
		inRows := v.Func.InRows != nil && v.Func.InRows[i]
		if inRows || v.Func.IR.Ops[i].Ctl == ir.BranchX {
			for _, list := range [][]RowWeb{v.Ops[i].Uses, v.Ops[i].Defs} {
				for _, x := range list {
					v.Webs[x.Web].Variation = divergent
				}
			}
		}
	}
	v.divergent = make([]bool, len(v.Func.Blocks))
	v.Near = make([]bool, len(v.Func.Blocks))
	v.Reconverge = make([]int32, len(v.Func.Blocks))
	for b := range v.Reconverge {
		v.Reconverge[b] = -1
	}
	v.Held = make(rowSet, len(v.Func.Blocks[0].In))
	parted := make([]bool, len(v.Func.Blocks))
	post := v.postDominators()
	for {
		for again := true; again; {
			again = false
			v.spend(len(v.Ops))
			for i := range v.Ops {
				if len(v.Ops[i].Defs) == 0 || v.Dead[i] {
					continue
				}
				done := true
				for _, d := range v.Ops[i].Defs {
					done = done && v.Webs[d.Web].Variation.Kind == Divergent
				}
				if done {
					continue
				}
				s := v.result(int32(i))
				for _, d := range v.Ops[i].Defs {
					x := &v.Webs[d.Web]
					t := join(x.Variation, s)
					if t.Scalar() && (v.divergent[v.InBlock[i]] && v.heldWeb[d.Web] && !x.Fixed ||
						x.Class == ir.WPred && t.Kind == Affine) {
						t = divergent
					}
					if t != x.Variation {
						x.Variation = t
						again = true
					}
				}
			}
		}
		grew := false
		v.spend(len(v.Func.Blocks))
		for b := range v.Func.Blocks {
			k := &v.Func.Blocks[b]
			i := k.End - 1
			op := &v.Func.IR.Ops[i]
			if parted[b] || op.Ctl != ir.BranchX && (op.Ctl != ir.Branch || op.Guard < 0) {
				continue
			}
			if op.Ctl == ir.Branch && v.Webs[v.UseWeb(i, uint32(op.Guard))].Variation.Kind == Uniform {
				continue
			}
			parted[b] = true
			grew = true
			v.diverge(int32(b), post)
		}
		if !grew {
			break
		}
		v.findReconvergence(parted)
	}
	for w := range v.Webs {
		if x := &v.Webs[w]; x.Variation.Kind == unknown {
			x.Variation = divergent
		}
	}
}

// nearOps is how many operations lie at most before the place where lanes meet again when that is near.
const nearOps = 64

// diverge marks the blocks that run while lanes of branch b may be elsewhere: those before the place where all meet
// again.
func (v *Values) diverge(b int32, post []int32) {
	end := post[b]
	for end >= 0 && end <= b {
		end = post[end]
	}
	work := append([]int32(nil), v.Func.Blocks[b].succ...)
	if v.seen == nil {
		v.seen = make([]int32, len(v.Func.Blocks))
	}
	stamp := 2*b + 1 // in seen: of the blocks that this search has come to
	var found []int32
	n := int32(0) // operations of those found
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if x == end || v.seen[x] == stamp {
			continue
		}
		if end >= 0 && x > end { // the layout is not that of a reducible graph
			end = -1
			work = append(work[:0], v.Func.Blocks[b].succ...)
			stamp++
			continue
		}
		v.spend(1)
		v.seen[x] = stamp
		v.divergent[x] = true
		if n += v.Func.Blocks[x].End - v.Func.Blocks[x].Start; n <= nearOps {
			found = append(found, x)
		}
		work = append(work, v.Func.Blocks[x].succ...)
	}
	if end >= 0 && n <= nearOps {
		for _, x := range found {
			v.Near[x] = true
		}
	}
}

// findReconvergence finds the blocks at which lanes can wait for others.
func (v *Values) findReconvergence(parted []bool) {
	blocks := v.Func.Blocks
	at := make([]bool, len(blocks))
	for b := range blocks {
		if op := &v.Func.IR.Ops[blocks[b].End-1]; parted[b] && op.Ctl == ir.BranchX {
			for _, t := range blocks[b].succ {
				at[t] = true
			}
		} else if parted[b] {
			t := v.Func.BlockOf[op.Target]
			if t > int32(b) {
				at[t] = true
			} else {
				at[b+1] = true
			}
		}
	}
	// A branch over one of them may have to leave its lanes at its target.
	count := make([]int32, len(blocks)+1)
	for again := true; again; {
		again = false
		v.spend(len(blocks))
		for b := range blocks {
			count[b+1] = count[b]
			if at[b] {
				count[b+1]++
			}
		}
		for b := range blocks {
			for _, t := range blocks[b].succ {
				if t > int32(b) && !at[t] && count[t] > count[b+1] {
					at[t] = true
					again = true
				}
			}
		}
	}
	v.Reconvergences = 0
	for b := range blocks {
		if !at[b] {
			continue
		}
		v.Reconverge[b] = int32(v.Reconvergences)
		v.Reconvergences++
		for w, x := range blocks[b].In {
			v.Held[w] |= x
		}
		for _, x := range v.Entry[b] {
			v.heldWeb[x.Web] = true
		}
	}
}

// Between says how many blocks after b and before t lanes can wait at; list has the first of them.
func (v *Values) Between(b, t int32) (list []int32) {
	for x := b + 1; x < t; x++ {
		if v.Reconverge[x] >= 0 {
			list = append(list, x)
		}
	}
	return list
}

// postDominators gives for each block the next one that all its paths to the end pass, -1 when that is the end itself
// or none.
func (v *Values) postDominators() []int32 {
	blocks := v.Func.Blocks
	n := int32(len(blocks))
	exit := n
	succ := func(b int32) []int32 { return blocks[b].succ }
	pred := make([][]int32, n+1)
	for b := range n {
		for _, s := range succ(b) {
			pred[s] = append(pred[s], b)
		}
		op := &v.Func.IR.Ops[blocks[b].End-1]
		if len(succ(b)) == 0 || op.Ctl == ir.Ret || op.Ctl == ir.Exit {
			pred[exit] = append(pred[exit], b)
		}
	}
	// order: postorder of the reversed graph from the exit
	num := make([]int32, n+1)
	for i := range num {
		num[i] = -1
	}
	var order []int32
	type frame struct {
		b int32
		i int
	}
	state := make([]bool, n+1)
	stack := []frame{{exit, 0}}
	state[exit] = true
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		if f.i < len(pred[f.b]) {
			p := pred[f.b][f.i]
			f.i++
			if !state[p] {
				state[p] = true
				stack = append(stack, frame{p, 0})
			}
			continue
		}
		num[f.b] = int32(len(order))
		order = append(order, f.b)
		stack = stack[:len(stack)-1]
	}
	dom := make([]int32, n+1)
	for i := range dom {
		dom[i] = -1
	}
	dom[exit] = exit
	for again := true; again; {
		again = false
		v.spend(len(order))
		for j := len(order) - 2; j >= 0; j-- {
			b := order[j]
			next := int32(-1)
			join := func(s int32) {
				if num[s] < 0 || dom[s] < 0 {
					return
				}
				if next < 0 {
					next = s
					return
				}
				x, y, steps := next, s, 0
				for ; x != y; steps++ {
					if num[x] < num[y] {
						x = dom[x]
					} else {
						y = dom[y]
					}
				}
				v.spend(steps)
				next = x
			}
			for _, s := range succ(b) {
				join(s)
			}
			op := &v.Func.IR.Ops[blocks[b].End-1]
			if len(succ(b)) == 0 || op.Ctl == ir.Ret || op.Ctl == ir.Exit {
				join(exit)
			}
			if next != dom[b] {
				dom[b] = next
				again = true
			}
		}
	}
	out := dom[:n]
	for b := range out {
		if out[b] == exit {
			out[b] = -1
		}
	}
	return out
}
