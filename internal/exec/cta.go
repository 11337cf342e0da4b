package exec

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/ir"
)

// CTA is a running block of threads.
type CTA struct {
	Launch  *Launch
	Group   *Group
	Index   [3]uint32 // %ctaid
	Rank    uint32    // %cluster_ctarank
	Warps   []*Warp
	live    int // warps that have threads left
	Threads uint32

	Shared     unsafe.Pointer // shared memory: static and dynamic, above the reserved part
	SharedSize uint32         // bytes, the reserved part included
	shared     []uint64

	barriers [16]barrier
	progress bool  // something happened that may let a waiting warp go on
	current  *Warp // the warp under way, for faults
	Serial   uint64
}

// threadIndex turns a linear thread number into %tid.
func (c *CTA) threadIndex(i int) [3]uint32 {
	b := c.Launch.Block
	n := uint32(i)
	return [3]uint32{n % b[0], n / b[0] % b[1], n / b[0] / b[1]}
}

// arena keeps the memory of ended CTAs for the next ones of the same launch; each worker has one.
type arena struct {
	ctas  []*CTA
	warps []*Warp
}

func (g *Group) newCTA(ar *arena, index [3]uint32, rank uint32) *CTA {
	l := g.launch
	k := l.Code.Kernel()
	var c *CTA
	if n := len(ar.ctas); n > 0 {
		c = ar.ctas[n-1]
		ar.ctas = ar.ctas[:n-1]
		shared, warps := c.shared, c.Warps[:0]
		*c = CTA{shared: shared, Warps: warps}
	} else {
		c = &CTA{}
	}
	c.Launch, c.Group, c.Index, c.Rank = l, g, index, rank
	c.Threads = l.Block[0] * l.Block[1] * l.Block[2]
	c.SharedSize = ir.ReservedShared + (k.SharedSize+l.Shared+127)&^127 // the granule that the hardware hands out, to the byte (recorded)
	words := int(c.SharedSize+1024+7) / 8
	if len(c.shared) < words {
		c.shared = make([]uint64, words+128)
	}
	p := unsafe.Pointer(unsafe.SliceData(c.shared))
	c.Shared = unsafe.Add(p, -uintptr(p)&1023) // 1 KiB alignment, for swizzled tiles
	nw := int(c.Threads+31) / 32
	for i := 0; i < nw; i++ {
		mask := uint32(0xffffffff)
		if r := c.Threads - uint32(i)*32; r < 32 {
			mask = 1<<r - 1
		}
		c.Warps = append(c.Warps, c.newWarp(ar, i, mask))
	}
	c.live = nw
	return c
}

func (c *CTA) newWarp(ar *arena, i int, mask uint32) *Warp {
	l := c.Launch
	k := l.Code.Kernel()
	var w *Warp
	if n := len(ar.warps); n > 0 {
		w = ar.warps[n-1]
		ar.warps = ar.warps[:n-1]
		*w = Warp{splits: w.splits[:0], free: w.free, acts: w.acts, local: w.local, Ext: w.Ext}
	} else {
		w = &Warp{}
	}
	w.CTA, w.Index, w.Live = c, i, mask
	w.Base[1] = c.Group.consts[c.Rank]
	w.LocalSize = k.Local + l.Stack
	if w.quantum = l.Quantum; w.quantum <= 0 {
		w.quantum = backEdges
	}
	a := w.newActivation(k.Funcs[0])
	a.Live, a.Depth, a.Return, a.Local, a.Top = mask, 0, 0, 0, k.Funcs[0].LocalSize
	s := w.newSplit()
	s.Mask, s.Act = mask, a
	return w
}

// localMemory makes the warp's local memory at its first use.
func (w *Warp) localMemory() {
	w.LocalSize = (w.LocalSize + 15) &^ 15
	n := int(w.LocalSize) * 32
	if len(w.local) < n {
		buf := make([]uint64, n/8+8)
		w.local = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(buf))), len(buf)*8)
	}
	p := unsafe.Pointer(unsafe.SliceData(w.local))
	w.LocalBase = unsafe.Add(p, -uintptr(p)&15)
}

func (c *CTA) recycle(ar *arena) {
	for _, w := range c.Warps {
		w.free = append(w.free, w.splits...)
		if ctr := c.Launch.Counters; ctr != nil {
			ctr.WarpInstructions.Add(w.Instr)
			ctr.ThreadInstructions.Add(w.Threads)
			ctr.Divergences.Add(w.Diverged)
		}
		ar.warps = append(ar.warps, w)
	}
	ar.ctas = append(ar.ctas, c)
}

// warpDone notes that a warp has no threads left.
func (c *CTA) warpDone(w *Warp) {
	c.live--
	c.progress = true
	w.Act = nil // ended, and kept for reuse
	for i := range c.barriers {
		if c.barriers[i].waiting > 0 {
			c.tryBarrier(i)
		}
	}
}

// run gives every warp of the CTA its turn. It returns whether any could run, and whether what ran only waits for others: spins, polls or sleeps.
func (c *CTA) run() (ran, waits bool) {
	waits = true
	c.progress = false
	for _, w := range c.Warps {
		if w.Live == 0 {
			continue
		}
		c.current = w
		if w.step(turnsPerWarp) {
			ran = true
			waits = waits && w.waits
		}
		if w.Live != 0 {
			w.idleArrivals()
		}
	}
	return ran || c.progress, waits && !c.progress
}

// turnsPerWarp is how many scheduling points a warp passes before the next warp runs.
const turnsPerWarp = 64

// barrier is one of a CTA's sixteen barriers (PTX ISA "barrier").
type barrier struct {
	count   uint32 // threads that complete it; 0: all of the CTA
	arrived uint32 // threads counted, in whole warps
	warps   int    // warps counted
	waiting int    // splits that wait
	popc    uint32
	and, or bool
	red     bool
}

// The reductions of barrier.red.
const (
	RedNone = iota
	RedPopc
	RedAnd
	RedOr
)

// BarrierOp says what a barrier instruction does when it arrives.
type BarrierOp struct {
	Wait bool   // .sync and .red; .arrive goes on
	Red  uint8  // RedNone, RedPopc, RedAnd, RedOr
	Pred uint32 // the lanes' predicates, for a reduction
	Dst  ir.Ref // row (32-bit, or predicate) that receives a reduction's result
}

// Barrier is barrier{.cta}.sync, .arrive and .red for lanes of the current split. ids are the lanes' barriers, counts the numbers of
// threads that the instruction names, nil for all threads of the CTA. next is the operation to go on with.
func (w *Warp) Barrier(lanes uint32, ids, counts *[32]uint32, op BarrierOp, next int32) Event {
	s := w.Cur
	if rest := s.Mask &^ lanes; rest != 0 {
		t := w.newSplit()
		t.PC, t.Mask, t.Act = next, rest, s.Act
		s.Mask = lanes
	}
	for {
		first := bits.TrailingZeros32(lanes)
		id, count := ids[first], uint32(0)
		if counts != nil {
			count = counts[first]
		}
		same := uint32(0)
		for m := lanes; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			if ids[l] == id && (counts == nil || counts[l] == count) {
				same |= 1 << l
			}
		}
		if id > 15 {
			w.Throw(FaultInstruction, first, "barrier number out of range")
		}
		if count%32 != 0 || counts != nil && count == 0 && !op.Wait {
			w.Throw(FaultInstruction, first, "barrier thread count is no multiple of the warp size")
		}
		// The split's other lanes arrive at barriers of their own.
		var other *Split
		if lanes &^= same; lanes != 0 {
			other = w.newSplit()
			other.PC, other.Mask, other.Act = s.PC, lanes, s.Act
			s.Mask = same
		}
		w.arriveBarrier(s, int(id), count, op, next)
		if other == nil {
			return EventReschedule
		}
		s = other
	}
}

// arriveBarrier lets one split arrive at a barrier.
func (w *Warp) arriveBarrier(s *Split, id int, count uint32, op BarrierOp, next int32) {
	b := &w.CTA.barriers[id]
	if b.arrived == 0 && b.warps == 0 && b.waiting == 0 && !b.red {
		b.count, b.popc, b.and, b.or = count, 0, true, false
	}
	if op.Red != RedNone {
		b.red = true
		b.popc += uint32(bits.OnesCount32(op.Pred & s.Mask))
		b.and = b.and && op.Pred&s.Mask == s.Mask
		b.or = b.or || op.Pred&s.Mask != 0
	}
	s.PC = next
	if op.Wait {
		s.wait, s.barrier, s.red, s.dst = waitBarrier, uint8(id), op.Red, op.Dst
		b.waiting++
	} else {
		w.arrive[id] |= s.Mask
	}
	w.tryArrive(id)
}

// tryArrive counts the warp at a barrier when all its live lanes have come there.
func (w *Warp) tryArrive(id int) {
	if w.counted[id] {
		return
	}
	at := w.arrive[id]
	for _, s := range w.splits {
		if s.wait == waitBarrier && int(s.barrier) == id {
			at |= s.Mask
		}
	}
	if w.Live&^at != 0 {
		return
	}
	w.countAt(id)
}

func (w *Warp) countAt(id int) {
	b := &w.CTA.barriers[id]
	w.counted[id] = true
	b.arrived += 32
	b.warps++
	waits := false
	for _, s := range w.splits {
		if s.wait == waitBarrier && int(s.barrier) == id {
			waits = true
		}
	}
	if !waits { // an arrive alone: the warp may arrive again for the next phase
		w.counted[id] = false
		w.arrive[id] = 0
	}
	w.CTA.tryBarrier(id)
}

// idleArrivals counts a warp that can run nothing more at the barriers that some of its lanes have come to, though other lanes
// wait at other barriers (in two branches) or for these. Going by the manual such a warp waits for ever.
func (w *Warp) idleArrivals() {
	at := uint16(0)
	for _, s := range w.splits {
		switch s.wait {
		case ready, waitCluster: // they will come yet
			return
		case waitBarrier:
			at |= 1 << s.barrier
		}
	}
	for id := range w.arrive {
		if (at>>id&1 != 0 || w.arrive[id] != 0) && !w.counted[id] {
			w.CTA.progress = true
			w.countAt(id)
			return
		}
	}
}

// tryBarrier completes a barrier when enough threads have arrived.
func (c *CTA) tryBarrier(id int) {
	b := &c.barriers[id]
	if b.warps == 0 || b.count == 0 && b.warps < c.live || b.count != 0 && b.arrived < b.count {
		return
	}
	res := *b
	*b = barrier{}
	for _, w := range c.Warps {
		let := w.counted[id]
		w.counted[id] = false
		for _, s := range w.splits {
			if s.wait != waitBarrier || int(s.barrier) != id {
				continue
			}
			if !let { // the rest of its warp has not come: it is early for the next phase
				b.waiting++
				continue
			}
			s.wait = ready
			s.reduced(&res)
		}
		if let {
			w.arrive[id] = 0
		}
	}
	if b.waiting > 0 {
		b.count, b.and = res.count, true
	}
	c.progress = true
}

// reduced gives a split the result of the reduction that it waited for.
func (s *Split) reduced(res *barrier) {
	at := unsafe.Add(s.Act.Frame, s.dst.Off)
	switch s.red {
	case RedPopc:
		row := (*[32]uint32)(at)
		for m := s.Mask; m != 0; m &= m - 1 {
			row[bits.TrailingZeros32(m)] = res.popc
		}
	case RedAnd, RedOr:
		p := (*uint32)(at)
		if s.red == RedAnd && res.and || s.red == RedOr && res.or {
			*p |= s.Mask
		} else {
			*p &^= s.Mask
		}
	}
}

// ThreadIndex is %tid of a lane's thread.
func (w *Warp) ThreadIndex(lane int) [3]uint32 { return w.CTA.threadIndex(w.Index*32 + lane) }
