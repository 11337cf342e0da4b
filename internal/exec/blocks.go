package exec

import "unsafe"

// BlockCode is a Code that can also run whole CTAs, without the scheduling of this package.
type BlockCode interface {
	Code
	// Blocks returns a runner for one worker of the launch; nil when its CTAs have to run warp by warp (Code.Run). had
	// is what the worker used for an earlier launch of the same code, or nil: it may be used again.
	Blocks(l *Launch, had BlockRunner) BlockRunner
}

// BlockRunner runs CTAs of a launch one after another. Its user is one goroutine.
type BlockRunner interface {
	// Run runs CTAs from the given index on, in the order of Index, n of them or fewer when they take long. It returns
	// how many have ended, and false when the one behind those stopped before its end: for something that only Code.Run
	// does, because it seems to wait for other CTAs, or because Launch.Stop is set. It calls pause now and then. It
	// panics when the kernel accesses memory that is not there.
	Run(index [3]uint32, n uint64, pause func()) (ended uint64, done bool)
	// Ended is how many CTAs of the last Run have ended.
	Ended() uint64
	// Restore puts a CTA that has not run yet into the state in which Run stopped, and forgets that state.
	Restore(c *CTA)
	// Faulted gives the warp of a CTA that has not run yet that made the access for which Run panicked at addr, with Op
	// and Lane set, and the kernel's address (see FaultLocator).
	Faulted(c *CTA, addr uint64) (*Warp, uint64)
	// Publish makes what was put off of the CTAs' effects visible to others. It is called every few milliseconds, and
	// before Close. It panics as Run does.
	Publish()
	// Close ends the launch.
	Close()
}

// Standing is lanes of a warp and the operation at which they stand.
type Standing struct {
	PC   int32
	Mask uint32
}

// Frame is the register frame of a warp that has not run yet.
func (w *Warp) Frame() unsafe.Pointer { return w.splits[0].Act.Frame }

// Entry is the activation of the kernel's entry by a warp that has not run yet.
func (w *Warp) Entry() *Activation { return w.splits[0].Act }

// Place puts the lanes of a warp that has not run yet where they are said to stand; all others have exited.
func (w *Warp) Place(at []Standing) {
	live := uint32(0)
	for _, x := range at {
		live |= x.Mask
	}
	s := w.splits[0]
	if live == 0 {
		w.Cur = s
		w.Exit(s.Mask, 0)
		return
	}
	w.Live, s.Act.Live = live, live
	s.PC, s.Mask = at[0].PC, at[0].Mask
	for _, x := range at[1:] {
		t := w.newSplit()
		t.PC, t.Mask, t.Act = x.PC, x.Mask, s.Act
	}
}

// open finds out whether the worker runs whole CTAs.
func (wk *worker) open() {
	l := wk.g.l
	if c, ok := l.Code.(BlockCode); ok && l.Cluster[0] == 0 && !l.Cooperative {
		if b := c.Blocks(l, wk.blocks); b != nil {
			wk.blocks, wk.whole = b, true
			if wk.pause == nil {
				wk.pause = wk.breathe
			}
		}
	}
}

// runBlocks runs CTAs of the worker's chunks as long as they end and no group waits. It returns one that did not end;
// more is false when there are no new ones.
func (wk *worker) runBlocks() (gr *Group, more bool) {
	g := wk.g
	for wk.at < wk.end || wk.claim() {
		if gr := wk.runBlock(wk.end - wk.at); gr != nil {
			return gr, true
		}
		if l := g.l; l.Stop != nil && l.Stop.Load() { // blocks without loops never ask
			g.fail(&Fault{Kind: FaultStopped, Kernel: l.Code.Kernel().Name, Block: wk.index})
		}
		if g.failed.Load() || g.waiting.Load() != 0 {
			return nil, true
		}
	}
	return nil, false
}

// runBlock runs the next n CTAs; it returns the group of one that did not end.
func (wk *worker) runBlock(n uint64) *Group {
	index := wk.index
	if g := wk.g; g.l.Order != (Order{}) {
		index, n = g.inOrder(wk.at, index), 1
	}
	wk.inBlock = true
	ended, done := wk.blocks.Run(index, n, wk.pause)
	wk.inBlock = false
	wk.skip(ended)
	if done {
		return nil
	}
	gr := wk.start()
	wk.blocks.Restore(gr.CTAs[0])
	return gr
}

// blockFault gives the CTA under way when a memory access failed to the scheduler.
func (wk *worker) blockFault(addr uint64) *Fault {
	wk.skip(wk.blocks.Ended())
	gr := wk.start()
	w, addr := wk.blocks.Faulted(gr.CTAs[0], addr)
	w.enter(w.splits[0])
	return w.missed(addr, true)
}
