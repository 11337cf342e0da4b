package plan

import (
	"math"

	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Step is what is known of a function whose warps all pass the same barriers in the same order, so that between two of
// them each warp has its turn once, in the order of their numbers. What lies between is a part: it begins at the
// function's beginning or behind a barrier, and ends at one or with the function.
type Step struct {
	// by block that ends with a barrier: the only part that leads there, as the block with which it begins; -1 when
	// there are several. End is the same of the function's end.
	From []int32
	End  int32
	Idle []Idle // by block
}

// Idle is a branch behind which a warp has nothing left to do in its part, and neither has any warp after it: as
// `if (tid < s)` leaves them in a tree of sums. The zero value is none.
type Idle struct {
	Found bool
	Taken bool // those that take the branch are idle, else those that do not
	// the block with the barrier at which they wait; -1 at the function's end
	Barrier int32
	// what the warps that are left out would have computed and is read behind the barrier: values that are the same
	// for all threads, and predicates that are the same for the idle ones
	Copies []int32 // webs
	Preds  []IdlePred
}

// IdlePred is a predicate's row and what it holds in idle threads.
type IdlePred struct {
	Row uint32
	Is  bool
}

// maxStepBlocks and maxStepOps bound the functions that are looked at.
const (
	maxStepBlocks = 512
	maxStepOps    = 1 << 13
)

// stepper finds a Step.
type stepper struct {
	*Values
	post  []int32
	same  []bool  // by web: all threads of the block have it, where warps are in step
	apart []bool  // by block: warps may pass it or not
	high  []int64 // by web that rises with the thread's number: its greatest value; -1 for others
}

// Steps finds out whether warps are in step; nil when they may not be.
func (v *Values) Steps() *Step {
	blocks := v.Func.Blocks
	if v.Warps < 2 || v.Turns != nil || len(blocks) > maxStepBlocks || len(v.Ops) > maxStepOps ||
		v.dims[0]*v.dims[1]*v.dims[2]%32 != 0 {
		return nil
	}
	s := &stepper{Values: v, post: v.postDominators(), same: make([]bool, len(v.Webs)),
		apart: make([]bool, len(blocks))}
	s.findSame()
	for b := range blocks {
		if s.barrier(int32(b)) && s.apart[b] {
			return nil
		}
	}
	s.findRising()
	st := &Step{From: make([]int32, len(blocks)), Idle: make([]Idle, len(blocks))}
	s.findParts(st)
	for b := range blocks {
		st.Idle[b] = s.idle(int32(b))
	}
	return st
}

// barrier says whether a block ends with one.
func (s *stepper) barrier(b int32) bool {
	return BarrierOf(&s.Func.IR.Ops[s.Func.Blocks[b].End-1]) != 0
}

// begins says whether a part begins with a block.
func (s *stepper) begins(b int32) bool { return b == 0 || s.barrier(b-1) }

// findSame finds the values that all threads share, and the blocks that a warp may pass while another does not.
func (s *stepper) findSame() {
	for w := range s.same {
		x := &s.Webs[w]
		s.same[w] = x.Defs > 0 && !x.undef && !x.narrow && x.Class != ir.W128
	}
	parted := make([]bool, len(s.apart))
	for again := true; again; {
		again = false
		s.spend(len(s.Ops))
		for i := range s.Ops {
			op := &s.Func.IR.Ops[i]
			same := s.Info[i].pure && op.Guard < 0
			if op.Ctl == ir.Special {
				switch op.SReg {
				case optab.SRegNtid, optab.SRegCtaid, optab.SRegNctaid:
				default:
					same = false
				}
			}
			for _, u := range s.Ops[i].Uses {
				same = same && s.same[u.Web]
			}
			for _, d := range s.Ops[i].Defs {
				if s.same[d.Web] && !(same && (!s.apart[s.InBlock[i]] || s.Webs[d.Web].Defs == 1)) {
					s.same[d.Web], again = false, true
				}
			}
		}
		for b := range s.apart {
			i := s.Func.Blocks[b].End - 1
			op := &s.Func.IR.Ops[i]
			guarded := op.Guard >= 0 && !s.same[s.UseWeb(i, uint32(op.Guard))]
			switch op.Ctl {
			case ir.Branch, ir.Ret, ir.Exit:
			case ir.BranchX:
				guarded = true
			default:
				continue
			}
			if !parted[b] && guarded {
				parted[b], again = true, true
				s.part(int32(b))
			}
		}
	}
}

// part marks the blocks from the end of b to where all its ways meet.
func (s *stepper) part(b int32) {
	seen := make([]bool, len(s.apart))
	work := append([]int32(nil), s.Func.Blocks[b].succ...)
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if x == s.post[b] || seen[x] {
			continue
		}
		s.spend(1)
		seen[x], s.apart[x] = true, true
		work = append(work, s.Func.Blocks[x].succ...)
	}
}

// findRising finds the values that never fall from a thread to the next, and are small.
func (s *stepper) findRising() {
	s.high = make([]int64, len(s.Webs))
	for w := range s.high {
		s.high[w] = -1
	}
	for i := range s.Ops {
		op := &s.Func.IR.Ops[i]
		if len(s.Ops[i].Defs) != 1 || op.Guard >= 0 {
			continue
		}
		w := s.Ops[i].Defs[0].Web
		if x := &s.Webs[w]; x.Defs != 1 || x.undef || x.narrow || x.Class != ir.W32 {
			continue
		}
		if n := s.rise(int32(i)); n >= 0 && n <= math.MaxInt32 {
			s.high[w] = n
		}
	}
}

// rise is the greatest value of the result of operation i, which never falls from a thread to the next; -1 when it may.
func (s *stepper) rise(i int32) int64 {
	op := &s.Func.IR.Ops[i]
	if s.Info[i].Rule == RuleSpecial {
		if op.SReg != optab.SRegTid || op.Axis > 2 {
			return -1
		}
		for _, n := range s.dims[op.Axis+1:] {
			if n != 1 {
				return -1
			}
		}
		return int64(s.dims[op.Axis]) - 1
	}
	if len(op.Args) < 2 {
		return -1
	}
	a := s.rising(i, &op.Args[1])
	if s.Info[i].Rule == RuleMov || a < 0 {
		return a
	}
	if len(op.Args) < 3 {
		return -1
	}
	c, ok := Immediate(&op.Args[2])
	if !ok || c < 0 {
		return -1
	}
	switch s.Info[i].Rule {
	case RuleShr:
		return a >> min(c, 31)
	case RuleShl:
		if c < 31 {
			return a << c
		}
	case RuleMul:
		return a * c
	case RuleAdd:
		return a + c
	}
	return -1
}

// rising is the greatest value of a source that never falls from a thread to the next; -1 for others.
func (s *stepper) rising(i int32, a *ir.Arg) int64 {
	if a.Kind != ir.Row || a.Class != ir.W32 || a.Neg {
		return -1
	}
	w := s.UseWeb(i, a.Ref.Off)
	if w < 0 {
		return -1
	}
	return s.high[w]
}

// late is what a predicate is in every thread behind the last one in which it is something else.
func (s *stepper) late(w int32) (is, ok bool) {
	x := &s.Webs[w]
	if x.Class != ir.WPred || x.Defs != 1 || x.undef {
		return false, false
	}
	i := x.def
	op := &s.Func.IR.Ops[i]
	if s.Info[i].Rule != RuleSetp || op.Guard >= 0 || op.Arg("c") != nil || s.apart[s.InBlock[i]] {
		return false, false
	}
	a, b := op.Arg("a"), op.Arg("b")
	if s.rising(i, a) < 0 {
		return false, false
	}
	switch b.Kind {
	case ir.Imm:
		if _, ok := Immediate(b); !ok {
			return false, false
		}
	case ir.Row:
		if y := s.UseWeb(i, b.Ref.Off); y < 0 || !s.same[y] {
			return false, false
		}
	default:
		return false, false
	}
	switch op.Mods().Cmp {
	case optab.CmpLt, optab.CmpLe, optab.CmpLo, optab.CmpLs:
		return false, true
	case optab.CmpGt, optab.CmpGe, optab.CmpHi, optab.CmpHs:
		return true, true
	case optab.CmpEq, optab.CmpNe: // of the first threads
		if c, ok := Immediate(b); ok && c == 0 {
			return op.Mods().Cmp == optab.CmpNe, true
		}
	}
	return false, false
}

// findParts finds which part leads to each barrier, and to the end.
func (s *stepper) findParts(st *Step) {
	const none = -2
	for b := range st.From {
		st.From[b] = none
	}
	st.End = none
	note := func(at *int32, from int32) {
		if *at == none {
			*at = from
		} else if *at != from {
			*at = -1
		}
	}
	seen := make([]int32, len(st.From))
	for from := range st.From {
		if !s.begins(int32(from)) {
			continue
		}
		work := []int32{int32(from)}
		for len(work) > 0 {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			if seen[b] == int32(from)+1 {
				continue
			}
			s.spend(1)
			seen[b] = int32(from) + 1
			if s.barrier(b) {
				note(&st.From[b], int32(from))
				continue
			}
			if c := s.Func.IR.Ops[s.Func.Blocks[b].End-1].Ctl; c == ir.Ret || c == ir.Exit {
				note(&st.End, int32(from))
			}
			work = append(work, s.Func.Blocks[b].succ...)
		}
	}
	for b := range st.From {
		st.From[b] = max(st.From[b], -1)
	}
	st.End = max(st.End, -1)
}

// idle finds out whether a block's branch leaves a warp and all behind it without work.
func (s *stepper) idle(b int32) (x Idle) {
	k := &s.Func.Blocks[b]
	i := k.End - 1
	op := &s.Func.IR.Ops[i]
	if op.Ctl != ir.Branch || op.Guard < 0 || s.apart[b] || k.Loop >= 0 && len(s.Func.Loops[k.Loop].Homes) > 0 ||
		int(b)+1 == len(s.Func.Blocks) {
		return Idle{}
	}
	guard := s.UseWeb(i, uint32(op.Guard))
	is, ok := s.late(guard)
	if !ok {
		return Idle{}
	}
	x.Found, x.Taken = true, is != op.Neg
	t := b + 1
	if x.Taken {
		t = s.Func.BlockOf[op.Target]
	}
	if x.Barrier, ok = s.nothing(t, b); !ok {
		return Idle{}
	}
	before, ok := s.before(b)
	if !ok {
		return Idle{}
	}
	if x.Barrier < 0 {
		return x
	}
	read := map[int32]uint32{}
	for _, e := range s.Entry[x.Barrier+1] {
		read[e.Web] = e.Row
	}
	for _, c := range before {
		for i := s.Func.Blocks[c].Start; i < s.Func.Blocks[c].End; i++ {
			for _, d := range s.Ops[i].Defs {
				row, ok := read[d.Web]
				if !ok {
					continue
				}
				delete(read, d.Web)
				y := &s.Webs[d.Web]
				if y.Class == ir.WPred {
					is, ok := s.late(d.Web)
					if d.Web != guard || !ok {
						return Idle{}
					}
					x.Preds = append(x.Preds, IdlePred{row, is})
				} else if s.same[d.Web] && y.Variation.Kind == Uniform && (y.Alias || y.At.Base == InFrame) {
					if !y.Alias {
						x.Copies = append(x.Copies, d.Web)
					}
				} else {
					return Idle{}
				}
			}
		}
	}
	return x
}

// nothing says whether block t does nothing but wait at a barrier, whose block it gives, or end: -1. All that lies
// behind block b, so that loops count their steps.
func (s *stepper) nothing(t, b int32) (barrier int32, ok bool) {
	for t > b {
		k := &s.Func.Blocks[t]
		op := &s.Func.IR.Ops[k.Start]
		switch {
		case k.End != k.Start+1:
			return 0, false
		case s.barrier(t):
			return t, int(t)+1 < len(s.Func.Blocks)
		case (op.Ctl == ir.Ret || op.Ctl == ir.Exit) && op.Guard < 0:
			return -1, true
		case op.Ctl == ir.Jump || op.Ctl == ir.Branch && op.Guard < 0:
			t, b = s.Func.BlockOf[op.Target], t
		default:
			return 0, false
		}
	}
	return 0, false
}

// before are the blocks between the beginning of a part and the end of block b, which only compute, and which all warps
// pass.
func (s *stepper) before(b int32) (list []int32, ok bool) {
	seen := map[int32]bool{}
	work := []int32{b}
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[x] {
			continue
		}
		seen[x] = true
		s.spend(1)
		k := &s.Func.Blocks[x]
		if s.apart[x] {
			return nil, false
		}
		for i := k.Start; i < k.End; i++ {
			op := &s.Func.IR.Ops[i]
			branch := i == k.End-1 && (op.Ctl == ir.Branch || op.Ctl == ir.Jump)
			if !branch && !s.Info[i].pure {
				return nil, false
			}
		}
		list = append(list, x)
		if s.begins(x) {
			if x == 0 && len(s.pred(0)) > 0 {
				return nil, false
			}
			if x == 0 || len(s.pred(x)) == 1 {
				continue
			}
		}
		for _, p := range s.pred(x) {
			if !s.barrier(p) {
				work = append(work, p)
			}
		}
	}
	return list, true
}

// pred are the blocks that lead to one.
func (s *stepper) pred(x int32) (list []int32) {
	for b := range s.Func.Blocks {
		for _, t := range s.Func.Blocks[b].succ {
			if t == x {
				list = append(list, int32(b))
			}
		}
	}
	return list
}
