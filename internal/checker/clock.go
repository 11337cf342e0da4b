package checker

import (
	"math/bits"
	"slices"
)

// Actors of a block: its threads, and what works for each of them at the same time.
const (
	actorCopy    = 1024 * (iota + 1) // cp.async of a thread
	actorSource                      // reading of bulk copies that a thread waits for in groups
	actorBulk                        // writing of them
	actorMatrix                      // wgmma
	actorBarrier                     // bulk copies that complete on an mbarrier, one actor a barrier
)

// clock says what is known of each actor's work. Clocks are never changed once made; nil knows nothing.
type clock struct {
	base   uint64       // of all threads of the grid
	blocks []blockEntry // by block
}

type blockEntry struct {
	block uint32
	c     *blockClock
}

// blockClock is what is known of one block.
type blockClock struct {
	base  uint64       // of all its threads, not of other actors
	warps []*warpClock // by actor/32; nil where only base is known
}

type warpClock struct {
	base  uint64
	lanes *[32]uint64 // nil: none is above base
}

// group looks for what is known of the actors that an actor is one of 32 of: known says that the epoch is, of all of
// them; otherwise w, if there is one, has what is known of each.
func (c *clock) group(block, actor uint32, epoch uint64) (w *warpClock, known bool) {
	if c == nil {
		return nil, false
	}
	thread := actor < actorCopy
	if thread && c.base >= epoch {
		return nil, true
	}
	b := c.block(block)
	if b == nil {
		return nil, false
	}
	if thread && b.base >= epoch {
		return nil, true
	}
	g := int(actor >> 5)
	if g >= len(b.warps) || b.warps[g] == nil {
		return nil, false
	}
	w = b.warps[g]
	return w, w.base >= epoch
}

// knows says whether an actor's work of an epoch is known.
func (c *clock) knows(block uint32, actor uint32, epoch uint64) bool {
	w, known := c.group(block, actor, epoch)
	return known || w != nil && w.lanes != nil && w.lanes[actor&31] >= epoch
}

// knowsAll says whether the work of lanes of a group of actors, of which actor is lane 0, is known.
func (c *clock) knowsAll(block, actor, lanes uint32, epoch uint64) bool {
	w, known := c.group(block, actor, epoch)
	if known {
		return true
	}
	if w == nil || w.lanes == nil {
		return false
	}
	for ; lanes != 0; lanes &= lanes - 1 {
		if w.lanes[bits.TrailingZeros32(lanes)] < epoch {
			return false
		}
	}
	return true
}

func (c *clock) block(block uint32) *blockClock {
	if len(c.blocks) == 1 { // most often a block knows of itself alone
		if c.blocks[0].block == block {
			return c.blocks[0].c
		}
		return nil
	}
	if i, ok := c.find(block); ok {
		return c.blocks[i].c
	}
	return nil
}

func (c *clock) find(block uint32) (int, bool) {
	return slices.BinarySearchFunc(c.blocks, block, func(e blockEntry, b uint32) int {
		switch {
		case e.block < b:
			return -1
		case e.block > b:
			return 1
		}
		return 0
	})
}

// join knows what either knows. It returns one of them where that has everything.
func join(a, b *clock) *clock {
	switch {
	case a == b || b == nil:
		return a
	case a == nil:
		return b
	}
	out := clock{base: max(a.base, b.base)}
	isA, isB := a.base == out.base, b.base == out.base
	i, j := 0, 0
	for i < len(a.blocks) || j < len(b.blocks) {
		var e blockEntry
		switch {
		case j == len(b.blocks) || i < len(a.blocks) && a.blocks[i].block < b.blocks[j].block:
			e = a.blocks[i]
			isB = false
			i++
		case i == len(a.blocks) || b.blocks[j].block < a.blocks[i].block:
			e = b.blocks[j]
			isA = false
			j++
		default:
			x, y := a.blocks[i].c, b.blocks[j].c
			e = blockEntry{a.blocks[i].block, joinBlocks(x, y)}
			isA, isB = isA && e.c == x, isB && e.c == y
			i++
			j++
		}
		out.blocks = append(out.blocks, e)
	}
	switch {
	case isA:
		return a
	case isB:
		return b
	}
	return &out
}

func joinBlocks(a, b *blockClock) *blockClock {
	if a == b {
		return a
	}
	n := max(len(a.warps), len(b.warps))
	out := blockClock{base: max(a.base, b.base), warps: make([]*warpClock, n)}
	isA, isB := a.base == out.base && len(a.warps) == n, b.base == out.base && len(b.warps) == n
	at := func(l []*warpClock, i int) *warpClock {
		if i < len(l) {
			return l[i]
		}
		return nil
	}
	for i := range out.warps {
		x, y := at(a.warps, i), at(b.warps, i)
		w := joinWarps(x, y)
		out.warps[i] = w
		isA, isB = isA && w == x, isB && w == y
	}
	switch {
	case isA:
		return a
	case isB:
		return b
	}
	return &out
}

func joinWarps(a, b *warpClock) *warpClock {
	switch {
	case a == b || b == nil:
		return a
	case a == nil:
		return b
	case b.lanes == nil && b.base <= a.base:
		return a
	case a.lanes == nil && a.base <= b.base:
		return b
	}
	out := &warpClock{base: max(a.base, b.base), lanes: new([32]uint64)}
	isA, isB := true, true
	for l := range out.lanes {
		x, y := a.of(l), b.of(l)
		out.lanes[l] = max(x, y)
		isA, isB = isA && x >= y, isB && y >= x
	}
	switch {
	case isA:
		return a
	case isB:
		return b
	}
	return out
}

func (w *warpClock) of(lane int) uint64 {
	if w.lanes == nil {
		return w.base
	}
	return max(w.base, w.lanes[lane])
}

// plus knows more of up to 32 actors of a block: those of group that lanes names, up to epoch.
func (c *clock) plus(block uint32, group int, lanes uint32, epoch uint64) *clock {
	w := &warpClock{}
	if lanes == allLanes {
		w.base = epoch
	} else {
		w.lanes = new([32]uint64)
		for l := range w.lanes {
			if lanes>>l&1 != 0 {
				w.lanes[l] = epoch
			}
		}
	}
	b := &blockClock{warps: make([]*warpClock, group+1)}
	b.warps[group] = w
	return join(c, &clock{blocks: []blockEntry{{block, b}}})
}

const allLanes = 0xffffffff

// wholeBlock knows all threads of a block up to epoch, and what c knows.
func (c *clock) wholeBlock(block uint32, epoch uint64) *clock {
	b := &blockClock{base: epoch}
	if c != nil {
		if old := c.block(block); old != nil && len(old.warps) > actorCopy/32 {
			b.warps = make([]*warpClock, len(old.warps)) // of the threads base says it all
			copy(b.warps[actorCopy/32:], old.warps[actorCopy/32:])
		}
	}
	out := &clock{blocks: []blockEntry{{block, b}}}
	if c == nil {
		return out
	}
	out.base = c.base
	if i, ok := c.find(block); ok {
		out.blocks = slices.Clone(c.blocks)
		out.blocks[i].c = b
		return out
	}
	return join(c, out)
}

// view is what a thread knows: of all work, and of that which the async proxy may see.
type view struct{ all, async *clock }

func (v view) with(x view) view { return view{join(v.all, x.all), join(v.async, x.async)} }
