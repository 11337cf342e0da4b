package exec

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// What is found wrong with the synchronisation of a launch that has Launch.Defects. Verdicts do not depend on the order
// of turns: lanes that a barrier or a member mask waits for either come, or wait elsewhere for ever, or exit, and then
// their way to the exit is looked at.

// warpSync is what the check remembers of a warp.
type warpSync struct {
	// lanes that have exited after work: those that return at once, as behind "if (i >= n)", do not count
	left uint32
	owed uint32     // lanes that have arrived at the cluster's barrier and not waited
	at   [32]*ir.Op // the operation with a member mask that each lane executed last
	mask [32]uint32
}

// mbarriers are the objects of a CTA that have been initialised and not invalidated, by offset.
type mbarriers map[uint64]bool

// site is an operation of lanes.
func (w *Warp) site(f *ir.Func, pc int32, lanes uint32, access string) checker.Site {
	s := checker.Site{Kernel: w.CTA.Launch.Code.Kernel().Name, Access: access, Block: w.CTA.Index,
		More: max(bits.OnesCount32(lanes)-1, 0)}
	if pc >= 0 && int(pc) < len(f.Ops) {
		s.Place = lineOf(f, &f.Ops[pc])
	}
	if s.Func == s.Kernel {
		s.Func = ""
	}
	if lanes != 0 {
		s.Thread = w.ThreadIndex(bits.TrailingZeros32(lanes))
	}
	if s.More > 0 {
		s.LastThread = w.ThreadIndex(31 - bits.LeadingZeros32(lanes))
	}
	return s
}

// misuse reports a defect of lanes at an operation of the current function.
func (w *Warp) misuse(kind string, pc int32, lanes uint32, access, where, cure string) {
	w.CTA.Launch.Defects(&checker.Report{
		Kind: kind, Space: "barrier", Sites: []checker.Site{w.site(w.Act.Func, pc, lanes, access)}, Where: where,
		Cure: cure,
	})
}

// exits notes how lanes exit at an operation of f.
func (w *Warp) exits(f *ir.Func, pc int32, lanes uint32) {
	if pc >= 0 && w.CTA.Group.grid.works(f, pc) {
		w.sync.left |= lanes
	}
}

// exitPlace is an operation that ends threads.
type exitPlace struct {
	f  *ir.Func
	pc int32
}

// works says whether the basic block of an exit does anything to memory, or calls.
func (g *grid) works(f *ir.Func, pc int32) bool {
	key := exitPlace{f, pc}
	if v, ok := g.ends.Load(key); ok {
		return v.(bool)
	}
	targets := map[int32]bool{}
	for i := range f.Ops {
		switch op := &f.Ops[i]; op.Ctl {
		case ir.Branch, ir.Jump:
			targets[op.Target] = true
		case ir.BranchX:
			for _, t := range op.Targets {
				targets[t] = true
			}
		}
	}
	found := false
	for i := pc; !found && i > 0 && !targets[i]; {
		i--
		op := &f.Ops[i]
		switch e := op.Effect(); {
		case op.Ctl == ir.Branch || op.Ctl == ir.Jump || op.Ctl == ir.BranchX:
			i = 0
		case op.Ctl != ir.Plain, e != optab.MemNone && e != optab.MemLoad:
			found = true
		}
	}
	g.ends.Store(key, found)
	return found
}

// aligned says whether all lanes of a warp have to execute a barrier together.
func aligned(op *ir.Op) bool {
	return op.Match != nil && (op.Form().Name == "bar" || slices.Contains(op.Match.Words, "aligned"))
}

const (
	divergedCure = "every thread of the warp has to reach the same barrier: move it out of the condition"
	maskCure     = "every thread that the mask names, and that has not exited, has to execute the same operation with the same mask"
)

// checkCounted looks at the lanes of a warp that is counted at a barrier. forced: others of its lanes wait elsewhere.
func (w *Warp) checkCounted(id int, forced bool) {
	var first *Split
	for _, s := range w.splits {
		if s.wait != waitBarrier || int(s.barrier) != id || s.PC < 1 {
			continue
		}
		f := s.Act.Func
		if !aligned(&f.Ops[s.PC-1]) {
			continue
		}
		access := fmt.Sprintf("waits at barrier %d", id)
		where := ""
		switch {
		case forced:
			where = "other threads of the warp wait elsewhere"
		case first != nil && (first.PC != s.PC || first.Act.Func != f):
			where = "other threads of the warp wait at another barrier instruction"
		case w.sync.left != 0:
			where = fmt.Sprintf("threads of the warp have exited without it (lanes %08x)", w.sync.left)
		}
		if where != "" {
			sites := []checker.Site{w.site(f, s.PC-1, s.Mask, access)}
			if first != nil {
				sites = append(sites, w.site(first.Act.Func, first.PC-1, first.Mask, access))
			}
			w.CTA.Launch.Defects(&checker.Report{Kind: checker.Divergent, Space: "barrier", Sites: sites, Where: where,
				Cure: divergedCure})
		}
		if first == nil {
			first = s
		}
	}
}

// checkArrival looks at an arrival at a barrier of a phase that others may have begun.
func (w *Warp) checkArrival(s *Split, pc int32, id int, count uint32) {
	if b := &w.CTA.barriers[id]; b.count != count {
		w.misuse(checker.InvalidArgument, pc, s.Mask, fmt.Sprintf("comes to barrier %d with %s", id, threads(count)),
			fmt.Sprintf("others came to it with %s", threads(b.count)),
			"all threads have to name the same number of threads")
	}
}

func threads(count uint32) string {
	if count == 0 {
		return "all threads"
	}
	return fmt.Sprintf("%d threads", count)
}

// checkMembers looks at lanes that execute an operation with one member mask, all that it names and that live being
// there.
func (w *Warp) checkMembers(lanes, mask uint32) {
	f, pc := w.Act.Func, w.Op
	op := &f.Ops[pc]
	if m := mask & w.sync.left &^ lanes; m != 0 {
		l := bits.TrailingZeros32(m)
		access := fmt.Sprintf("member mask %08x", mask)
		if w.sync.at[l] == op && w.sync.mask[l] != mask {
			w.misuse(checker.InvalidMask, pc, lanes, access,
				fmt.Sprintf("lane %d executed it with mask %08x", l, w.sync.mask[l]), maskCure)
		} else {
			w.misuse(checker.Divergent, pc, lanes, access, fmt.Sprintf("lane %d, which it names, has not come", l),
				maskCure)
		}
	}
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		w.sync.at[l], w.sync.mask[l] = op, mask
	}
}

// checkSelf looks at a lane whose mask does not name it.
func (w *Warp) checkSelf(lane int, mask uint32) {
	w.misuse(checker.InvalidMask, w.Op, 1<<lane, fmt.Sprintf("member mask %08x", mask),
		"the mask does not name the thread that executes the operation",
		maskCure)
}

// checkStuck looks at lanes that can only wait for each other, each at an operation of its own.
func (w *Warp) checkStuck(lanes uint32) {
	r := &checker.Report{Kind: checker.Divergent, Space: "barrier", Cure: maskCure,
		Where: "the threads that the mask names wait at other operations"}
	mask := w.Members[bits.TrailingZeros32(lanes)]
	for _, s := range w.splits {
		if m := s.Mask & lanes; m != 0 {
			mine := w.Members[bits.TrailingZeros32(m)]
			if mine != mask {
				r.Kind, r.Where = checker.InvalidMask, "threads that the mask names wait with another mask"
			}
			r.Sites = append(r.Sites, w.site(s.Act.Func, s.PC, m, fmt.Sprintf("member mask %08x", mine)))
		}
	}
	w.CTA.Launch.Defects(r)
}

// checkCluster looks at lanes that arrive at the cluster's barrier, or wait there.
func (w *Warp) checkCluster(lanes uint32, waits bool) {
	s := w.sync
	wrong := lanes & s.owed
	what, where, cure := "arrives at the cluster's barrier", "it has arrived before and not waited since",
		"a barrier.cluster.wait between"
	kind := checker.ArriveTwice
	if waits {
		wrong = lanes &^ s.owed
		what, where, cure = "waits at the cluster's barrier", "it has not arrived", "a barrier.cluster.arrive before it"
		kind = checker.InvalidArgument
		s.owed &^= lanes
	} else {
		s.owed |= lanes
	}
	if wrong != 0 {
		w.misuse(kind, w.Op, wrong, what, where, cure)
	}
}

// Watched says whether the launch's synchronisation is checked.
func (w *Warp) Watched() bool { return w.sync != nil }

// MbarrierMade notes that an object in the shared memory of c is initialised for so many arrivals, or with none
// invalidated.
func (w *Warp) MbarrierMade(c *CTA, at uint64, lane int, count uint32, made bool) {
	switch {
	case !made && !c.objects[at]:
		w.misuse(checker.MbarrierInvalid, w.Op, 1<<lane, "invalidates an mbarrier", "there is no initialised object",
			"")
	case made && c.objects[at]:
		w.misuse(checker.MbarrierInvalid, w.Op, 1<<lane, "initialises an mbarrier",
			"the object is in use: it is initialised and not invalidated",
			"mbarrier.inval before memory gets another object")
	case made && (count == 0 || count > 1<<20-1):
		w.misuse(checker.MbarrierInvalid, w.Op, 1<<lane, "initialises an mbarrier",
			fmt.Sprintf("%d arrivals: 1 to 1048575 are possible", count), "")
	}
	if c.objects == nil {
		c.objects = mbarriers{}
	}
	c.objects[at] = made
}

// MbarrierUsed looks at an operation on an object: arrivals is by how many it lowers the count of pending ones.
func (w *Warp) MbarrierUsed(c *CTA, at uint64, lane int, pending, arrivals uint32) {
	switch {
	case !c.objects[at]:
		w.misuse(checker.MbarrierInvalid, w.Op, 1<<lane, "uses an mbarrier", "the object is not initialised",
			"mbarrier.init by one thread, followed by a barrier")
	case arrivals > pending:
		w.misuse(checker.MbarrierInvalid, w.Op, 1<<lane, "arrives at an mbarrier",
			fmt.Sprintf("%d arrivals, and %d are pending in the phase", arrivals, pending),
			"mbarrier.init with the number of arrivals of a phase")
	}
}

// mostWaiting bounds the places that a report of a deadlock names.
const mostWaiting = 64

// checkDeadlock reports where every thread of the group waits.
func (gr *Group) checkDeadlock() {
	r := &checker.Report{Kind: checker.Deadlock, Space: "barrier"}
	for _, c := range gr.CTAs {
		for _, w := range c.Warps {
			for _, s := range w.splits {
				if w.Live == 0 || len(r.Sites) == mostWaiting {
					continue
				}
				pc, what := s.PC-1, "waits"
				switch s.wait {
				case waitBarrier:
					b := &c.barriers[s.barrier]
					want := b.count
					if want == 0 {
						want = c.Threads
					}
					what = fmt.Sprintf("waits at barrier %d, to which %d of %d threads have come,", s.barrier,
						b.arrived, want)
				case waitCluster:
					what = fmt.Sprintf("waits at the cluster's barrier, to which %d of %d threads have come,",
						gr.arrived, gr.live)
				case waitSync:
					pc = s.PC
					what = fmt.Sprintf("waits for the lanes of its member mask, %08x,",
						w.Members[bits.TrailingZeros32(s.Mask)])
				}
				r.Sites = append(r.Sites, w.site(s.Act.Func, pc, s.Mask, what))
			}
		}
	}
	r.Where = "no thread of the block can go on"
	if len(gr.CTAs) > 1 {
		r.Where = "no thread of the cluster can go on"
	}
	if len(r.Sites) > 0 {
		gr.launch.Defects(r)
	}
}

// CallSite is the operation of a lane that calls a function of the system.
func (w *Warp) CallSite(lane int) checker.Site { return w.site(w.Act.Func, w.Op, 1<<lane, "") }

// remote is the newest access to a CTA's shared memory by another that no barrier of the cluster has followed.
type remote struct {
	site  *checker.Site
	addr  uint32
	phase uint64 // of the cluster's barrier
}

// Handshake notes that CTAs of the cluster may know how far others are without its barrier.
func (w *Warp) Handshake() { w.CTA.Group.handshake = true }

// touchRemote notes an access to the shared memory of another CTA, which must not have ended.
func (w *Warp) touchRemote(c *CTA, lane int, off, size uint32, write bool) {
	g := c.Group
	switch op := w.operation(); {
	case w.probing || g.handshake && c.live > 0:
		return
	case op == nil || op.Effect() != optab.MemLoad && op.Effect() != optab.MemStore || op.Mods().Strong():
		g.handshake = true
	}
	if c.live > 0 && (g.handshake || c.remote.site != nil && c.remote.phase == g.phases) {
		return
	}
	access := "read"
	if write {
		access = "write"
	}
	s := w.site(w.Act.Func, w.Op, 1<<lane, access)
	s.Size = size
	c.remote = remote{&s, off, g.phases}
	if c.live == 0 {
		c.checkRemote()
	}
}

// checkRemote is for a CTA that has ended: an access that no barrier of the cluster has followed might as well have
// come later.
func (c *CTA) checkRemote() {
	if r := &c.remote; r.phase == c.Group.phases {
		c.Launch.Defects(&checker.Report{
			Kind: checker.GoneBlock, Space: "shared", Address: uint64(r.addr), Sites: []checker.Site{*r.site},
			Where: fmt.Sprintf("block (%d,%d,%d) may have ended, and its shared memory with it", c.Index[0], c.Index[1],
				c.Index[2]),
			Cure: "barrier.cluster after the access, in all blocks",
		})
		r.site = nil
	}
}
