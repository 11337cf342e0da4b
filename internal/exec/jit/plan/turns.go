package plan

import (
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// A processor's core runs a CTA's warps one after the other. Where they load the same lines in a loop, each would have
// them come from a far cache once more when the loop touches more than the near one holds; so the warps take turns,
// and what one has loaded the others find near.

// turnLoads is how many loads that the warps share a turn has: as many lines as stay in the nearest cache even when
// they lie a page apart, in one set.
const turnLoads = 8

// findTurns finds the loops whose iterations warps take in turns, and how many a turn has. Functions with barriers have
// none: there the barriers divide the work.
func (v *Values) findTurns() {
	f := v.Func.IR
	if v.Warps < 2 || !f.Loops || v.Func.Serves > 0 {
		return
	}
	for i := range f.Ops {
		if BarrierOf(&f.Ops[i]) != 0 {
			return
		}
	}
	var shared []bool
	for n := range v.Func.Loops {
		l := &v.Func.Loops[n]
		start, end := v.Func.Blocks[l.first].Start, v.Func.Blocks[l.last].End
		loads := 0
		for i := start; i < end; i++ {
			op := &f.Ops[i]
			if v.Info[i].Rule != RuleLoad || op.Guard >= 0 || op.Mods().Strong() {
				continue
			}
			ac, ok := AccessOf(op, &op.Args[1], &op.Args[0])
			if !ok || !ac.Global() || ac.Base == nil || ac.Base.Kind != ir.Row {
				continue
			}
			w := v.UseWeb(i, ac.Base.Ref.Off)
			if x := &v.Webs[w]; x.Defs == 1 && (x.def < start || x.def >= end) {
				continue // always the same
			}
			if shared == nil {
				shared = v.sharedByWarps()
			}
			if shared[w] {
				loads++
			}
		}
		if loads > 0 {
			if v.Turns == nil {
				v.Turns = make([]int32, len(v.Func.Loops))
			}
			v.Turns[n] = int32(max(turnLoads/loads, 1))
		}
	}
}

// sharedByWarps finds the values that do not depend on the warp, as far as no branch does.
func (v *Values) sharedByWarps() []bool {
	shared := make([]bool, len(v.Webs))
	for w := range shared {
		shared[w] = v.Webs[w].Defs > 0 && !v.Webs[w].undef
	}
	for again := true; again; {
		again = false
		v.spend(len(v.Ops))
		for i := range v.Ops {
			same := v.Info[i].pure && (v.Func.IR.Ops[i].Ctl != ir.Special || v.tidOfLane(&v.Func.IR.Ops[i]))
			for _, u := range v.Ops[i].Uses {
				same = same && shared[u.Web]
			}
			if same {
				continue
			}
			for _, d := range v.Ops[i].Defs {
				if shared[d.Web] {
					shared[d.Web], again = false, true
				}
			}
		}
	}
	return shared
}

// tidOfLane says whether a special register is the same for the lanes of that number of all warps of a CTA.
func (v *Values) tidOfLane(op *ir.Op) bool {
	if op.SReg != optab.SRegTid {
		return true
	}
	period := uint64(1)
	for a := range min(int(op.Axis)+1, len(v.dims)) {
		period *= uint64(v.dims[a])
	}
	return period != 0 && 32%period == 0
}
