package jit

import (
	"fmt"
	"math/bits"

	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// values is what is known of a function's values when it runs with blocks of given dimensions.
type values struct {
	a        *analysis
	dims     [3]uint32
	warps    int
	deny     []bool // operations that must not rely on addresses and indices that do not wrap around
	webs     []web
	ops      []opWebs
	info     []opInfo
	entry    [][]rowWeb // by block: the webs of the rows live at its begin
	inBlock  []int32    // by operation
	apart    []bool     // by block: runs while other lanes may wait elsewhere
	pending  []int32    // by block: number among those where lanes can wait, -1
	waits    int
	pendRows rowSet // rows live where lanes wait
	pendWeb  []bool
	dead     []bool // by operation
	stream   []bool // by operation: a store of each thread's own, once, to what the function does not load
	streams  bool   // there are such
	shadow   bool   // additions to global memory may be made later (tmpl_reduce)
	work     int    // operations and blocks looked at
	seen     []int32
}

// spend counts work. Too much of it, or the end of the launch, is a panic with the error of evaluate.
func (v *values) spend(n int) {
	if v.work += n; v.work > maxWork {
		panic(&NoCodeError{Why: WhyLarge, Detail: fmt.Sprintf("%d blocks", len(v.a.blocks))})
	}
	if s := v.a.stop; s != nil && s.Load() {
		panic(errStopped)
	}
}

func evaluate(a *analysis, dims [3]uint32, deny []bool) (v *values, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, unmade(r)
		}
	}()
	entries := 0
	for b := range a.blocks {
		for _, x := range a.blocks[b].in {
			entries += bits.OnesCount64(x)
		}
	}
	if entries > maxEntries {
		return nil, &NoCodeError{Why: WhyLarge, Detail: fmt.Sprintf("%d rows are live at the begin of %d blocks", entries, len(a.blocks))}
	}
	v = &values{a: a, dims: dims, deny: deny}
	v.warps = int(dims[0]*dims[1]*dims[2]+31) / 32
	n := len(a.f.Ops)
	v.inBlock = make([]int32, n)
	for b := range a.blocks {
		for i := a.blocks[b].start; i < a.blocks[b].end; i++ {
			v.inBlock[i] = int32(b)
		}
	}
	v.info = make([]opInfo, n)
	for i := range a.f.Ops {
		v.info[i] = classify(&a.f.Ops[i])
	}
	v.findWebs()
	v.findDead()
	v.findFixed()
	v.shadow = shadows(a.f, v.unread)
	v.solve()
	v.findStreams()
	return v, v.manyWaits()
}

// manyWaits is an error when branches jump over too many places where lanes can wait: each has code for every one of them.
func (v *values) manyWaits() error {
	blocks := v.a.blocks
	count := make([]int, len(blocks)+1)
	for b := range blocks {
		count[b+1] = count[b]
		if v.pending[b] >= 0 {
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

// streamBytes is how much a launch must store for it to go past the caches.
const streamBytes = 32 << 20

// findStreams finds stores that may go past the caches when there are many of them: side by side, outside loops, and not of what was loaded before. Functions that order
// their accesses in any way have none, since only the end of the launch orders such stores.
func (v *values) findStreams() {
	f := v.a.f
	v.stream = make([]bool, len(f.Ops))
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
			switch form := op.Opcode(); {
			case form != optab.OpLd && form != optab.OpSt || op.Match.One("volatile", "relaxed", "acquire", "release", "mmio") != "":
				return
			case form == optab.OpLd && a.Base != nil && a.Base.Kind == ir.Row:
				loaded[v.useWeb(int32(i), a.Base.Ref.Off)] = true
			}
		}
		if op.Opcode() == optab.OpFence || barrierOf(op) != 0 {
			return // behind barriers blocks store tiles, whose lines lie far apart
		}
	}
	for i := range f.Ops {
		op := &f.Ops[i]
		if op.Ctl != ir.Plain || op.Opcode() != optab.OpSt || op.Guard >= 0 {
			continue
		}
		ac, ok := accessOf(op, &op.Args[0], &op.Args[1])
		if !ok || !ac.global() || ac.base == nil || ac.base.Kind != ir.Row || len(ac.regs) != 1 || ac.es < 4 {
			continue
		}
		w := v.useWeb(int32(i), ac.base.Ref.Off)
		if s := v.webs[w].shape; s.kind == kindAffine && !s.halves && s.stride == int64(ac.es) && !loaded[w] {
			v.stream[i], v.streams = true, true
		}
	}
}

// solve finds shapes, and where lanes can part, together: each depends on the other.
func (v *values) solve() {
	for w := range v.webs {
		x := &v.webs[w]
		if x.undef || x.narrow || x.class == ir.W128 || x.defs == 0 {
			x.shape = general
		}
	}
	for i, plain := range v.a.plain {
		if plain {
			for _, list := range [][]rowWeb{v.ops[i].uses, v.ops[i].defs} {
				for _, x := range list {
					v.webs[x.web].shape = general
				}
			}
		}
	}
	v.apart = make([]bool, len(v.a.blocks))
	v.pending = make([]int32, len(v.a.blocks))
	for b := range v.pending {
		v.pending[b] = -1
	}
	v.pendRows = make(rowSet, len(v.a.blocks[0].in))
	parted := make([]bool, len(v.a.blocks))
	post := v.postDominators()
	for {
		for again := true; again; {
			again = false
			v.spend(len(v.ops))
			for i := range v.ops {
				if len(v.ops[i].defs) == 0 || v.dead[i] {
					continue
				}
				done := true
				for _, d := range v.ops[i].defs {
					done = done && v.webs[d.web].shape.kind == kindVector
				}
				if done {
					continue
				}
				s := v.result(int32(i))
				for _, d := range v.ops[i].defs {
					x := &v.webs[d.web]
					t := meet(x.shape, s)
					if t.scalar() && (v.apart[v.inBlock[i]] && v.pendWeb[d.web] && !x.fixed || x.class == ir.WPred && t.kind == kindAffine) {
						t = general
					}
					if t != x.shape {
						x.shape = t
						again = true
					}
				}
			}
		}
		grew := false
		v.spend(len(v.a.blocks))
		for b := range v.a.blocks {
			k := &v.a.blocks[b]
			i := k.end - 1
			op := &v.a.f.Ops[i]
			if parted[b] || op.Ctl != ir.Branch || op.Guard < 0 {
				continue
			}
			if v.webs[v.useWeb(i, uint32(op.Guard))].shape.kind == kindUniform {
				continue
			}
			parted[b] = true
			grew = true
			v.part(int32(b), post)
		}
		if !grew {
			break
		}
		v.findPending(parted)
	}
	for w := range v.webs {
		if x := &v.webs[w]; x.shape.kind == kindNone {
			x.shape = general
		}
	}
}

// part marks the blocks that run while lanes of branch b may be elsewhere: those before the place where all meet again.
func (v *values) part(b int32, post []int32) {
	end := post[b]
	for end >= 0 && end <= b {
		end = post[end]
	}
	work := append([]int32(nil), v.a.blocks[b].succ...)
	if v.seen == nil {
		v.seen = make([]int32, len(v.a.blocks))
	}
	stamp := 2*b + 1 // in seen: of the blocks that this search has come to
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if x == end || v.seen[x] == stamp {
			continue
		}
		if end >= 0 && x > end { // the layout is not that of a reducible graph
			end = -1
			work = append(work[:0], v.a.blocks[b].succ...)
			stamp++
			continue
		}
		v.spend(1)
		v.seen[x] = stamp
		v.apart[x] = true
		work = append(work, v.a.blocks[x].succ...)
	}
}

// findPending finds the blocks at which lanes can wait for others.
func (v *values) findPending(parted []bool) {
	blocks := v.a.blocks
	at := make([]bool, len(blocks))
	for b := range blocks {
		if parted[b] {
			t := v.a.blockOf[v.a.f.Ops[blocks[b].end-1].Target]
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
	v.waits = 0
	for b := range blocks {
		if !at[b] {
			continue
		}
		v.pending[b] = int32(v.waits)
		v.waits++
		for w, x := range blocks[b].in {
			v.pendRows[w] |= x
		}
		for _, x := range v.entry[b] {
			v.pendWeb[x.web] = true
		}
	}
}

// between says how many blocks after b and before t lanes can wait at; list has the first of them.
func (v *values) between(b, t int32) (list []int32) {
	for x := b + 1; x < t; x++ {
		if v.pending[x] >= 0 {
			list = append(list, x)
		}
	}
	return list
}

// postDominators gives for each block the next one that all its paths to the end pass, -1 when that is the end itself or none.
func (v *values) postDominators() []int32 {
	blocks := v.a.blocks
	n := int32(len(blocks))
	exit := n
	succ := func(b int32) []int32 { return blocks[b].succ }
	pred := make([][]int32, n+1)
	for b := range n {
		for _, s := range succ(b) {
			pred[s] = append(pred[s], b)
		}
		op := &v.a.f.Ops[blocks[b].end-1]
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
			op := &v.a.f.Ops[blocks[b].end-1]
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
