package exec

import (
	"fmt"
	"math/bits"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/ir"
)

// CTA is a running block of threads.
type CTA struct {
	Launch  *Launch
	Group   *Group
	Index   [3]uint32 // %ctaid
	Rank    uint32    // %cluster_ctarank
	Warps   []*Warp
	all     []*Warp // those of earlier launches too; Warps is its beginning
	serial  uint64  // of the launch that it has the shape of
	live    int     // warps that have threads left
	Threads uint32

	Shared     unsafe.Pointer // shared memory: static and dynamic, above the reserved part
	SharedSize uint32         // bytes, the reserved part included
	shared     []uint64

	barriers [16]barrier
	barred   bool // threads have come to a barrier
	progress bool // something happened that may let a waiting warp go on
	released bool // a barrier was completed in this warp's turn
	wake     time.Duration
	current  *Warp // the warp under way, for faults
	check    *checker.Block
	objects  mbarriers // of a launch whose synchronisation is checked
	remote   remote
	init     *checker.InitBlock
}

// threadIndex turns a linear thread number into %tid.
func (c *CTA) threadIndex(i int) [3]uint32 {
	b := c.Launch.Block
	n := uint32(i)
	return [3]uint32{n % b[0], n / b[0] % b[1], n / b[0] / b[1]}
}

// begin makes the group ready to run as the one with the given index. serial tells launches apart.
func (gr *Group) begin(serial uint64, index [3]uint32) {
	g := gr.grid
	l := g.l
	gr.Index = index
	gr.live, gr.arrived, gr.phases, gr.handshake = 0, 0, 0, false
	if l.Check != nil {
		gr.check = checker.NewCluster()
	}
	n := int(g.dims[0] * g.dims[1] * g.dims[2])
	if n == 1 && len(gr.CTAs) == 1 && gr.CTAs[0].serial == serial {
		c := gr.CTAs[0]
		c.Index = index
		c.begin()
		gr.live = int(c.Threads)
		return
	}
	gr.launch, gr.Dims, gr.cluster, gr.consts = l, g.dims, l.Cluster[0] != 0, g.consts
	for len(gr.all) < n {
		gr.all = append(gr.all, &CTA{})
	}
	gr.CTAs = gr.all[:n]
	rank := uint32(0)
	for z := uint32(0); z < g.dims[2]; z++ {
		for y := uint32(0); y < g.dims[1]; y++ {
			for x := uint32(0); x < g.dims[0]; x++ {
				c := gr.CTAs[rank]
				if c.serial != serial {
					c.Group, c.Rank = gr, rank
					c.fit(l, serial)
				}
				c.Index = [3]uint32{index[0]*g.dims[0] + x, index[1]*g.dims[1] + y, index[2]*g.dims[2] + z}
				c.begin()
				gr.live += int(c.Threads)
				rank++
			}
		}
	}
}

// fit gives the CTA the shape of a launch.
func (c *CTA) fit(l *Launch, serial uint64) {
	k := l.Code.Kernel()
	c.Launch, c.serial = l, serial
	c.Threads = l.Block[0] * l.Block[1] * l.Block[2]
	c.SharedSize = l.sharedSize(k)
	words := int(c.SharedSize+1024+7) / 8
	if len(c.shared) < words {
		c.shared = make([]uint64, words+128)
	}
	p := unsafe.Pointer(unsafe.SliceData(c.shared))
	c.Shared = unsafe.Add(p, -uintptr(p)&1023) // 1 KiB alignment, for swizzled tiles
	n := int(c.Threads+31) / 32
	for len(c.all) < n {
		c.all = append(c.all, &Warp{CTA: c, Index: len(c.all)})
	}
	c.Warps = c.all[:n]
	quantum := l.Quantum
	if quantum <= 0 {
		quantum = Turn(backEdges, k)
	}
	for _, w := range c.Warps {
		w.Base[1] = c.Group.consts[c.Rank]
		w.LocalSize = uint32(l.LocalSize())
		w.quantum = quantum
		w.ExtState = ExtStale
	}
}

// begin makes every thread stand at the kernel's beginning.
func (c *CTA) begin() {
	if c.barred {
		c.barred = false
		c.barriers = [16]barrier{}
		for _, w := range c.Warps {
			w.arrive, w.counted = [16]uint32{}, [16]bool{}
		}
	}
	c.progress, c.released = false, false
	c.live = len(c.Warps)
	if c.check != nil {
		c.check.End()
		c.check = nil
	}
	if l := c.Launch; l.Check != nil {
		at, g := c.Index, l.Grid
		c.check = l.Check.Block(c.Group.check, at[0]+g[0]*(at[1]+g[1]*at[2]), at, l.Block)
	}
	c.objects, c.remote = nil, remote{}
	c.beginInit()
	f := c.Launch.Code.Kernel().Funcs[0]
	for _, w := range c.Warps {
		if w.sync = nil; c.Launch.Synchronization {
			w.sync = new(warpSync)
		}
		w.begin(f, 0xffffffff)
	}
	if r := c.Threads % 32; r != 0 {
		w := c.Warps[len(c.Warps)-1]
		w.Live = 1<<r - 1
		w.splits[0].Mask, w.splits[0].Act.Live = w.Live, w.Live
	}
}

// begin makes the warp's lanes stand at the beginning of the kernel's function f.
func (w *Warp) begin(f *ir.Func, mask uint32) {
	w.Live = mask
	w.CC, w.release, w.anywhere, w.gridWait, w.gridPhase, w.clusterAt = 0, 0, 0, 0, 0, 0
	w.Instr, w.Threads, w.Diverged, w.Random = 0, 0, 0, 0
	w.waits = false
	w.Act, w.Cur = nil, nil
	w.LocalBase = nil
	if w.AsyncState != nil {
		w.AsyncState = nil
	}
	if w.ExtState == ExtReady {
		w.ExtState = ExtMoved
	}
	a := w.root
	if a == nil {
		a = w.newActivation(f)
		a.Top = uint32(f.Local.Size)
		w.root = a
	} else {
		a.Dyn = nil
		w.actBytes = uint64(len(a.frame))
	}
	a.Live = mask
	s := w.newSplit()
	s.Mask, s.Act = mask, a
}

// localMemory makes the warp's local memory at its first use.
func (w *Warp) localMemory() {
	n := uint64(w.LocalSize) * warpSize
	if uint64(len(w.local)) < n+64 {
		w.local = w.memory(n + 64)
	}
	p := unsafe.Pointer(unsafe.SliceData(w.local))
	w.LocalBase = unsafe.Add(p, -uintptr(p)&15)
}

// LocalMemory is the local memory of the warp's lane 0, and how many bytes each lane has.
func (w *Warp) LocalMemory() (unsafe.Pointer, uint32) {
	if w.LocalBase == nil {
		w.localMemory()
	}
	return w.LocalBase, w.LocalSize
}

// Tops returns the stack pointers of the lanes in the running function: each the first free byte of the thread's local
// memory.
func (w *Warp) Tops() *[32]uint32 {
	if w.Act.Dyn == nil {
		t := new([32]uint32)
		for i := range t {
			t[i] = w.Act.Top
		}
		w.Act.Dyn = t
	}
	return w.Act.Dyn
}

// warpDone notes that a warp has no threads left.
func (c *CTA) warpDone(w *Warp) {
	c.live--
	c.progress = true
	w.Act = nil // ended, and kept for reuse
	if c.live == 0 && c.remote.site != nil && !c.Group.handshake {
		c.checkRemote()
	}
	if !c.barred {
		return
	}
	for i := range c.barriers {
		if c.barriers[i].waiting > 0 {
			c.tryBarrier(i)
		}
	}
}

// run gives every warp of the CTA its turn. It returns whether any could run, and whether what ran only waits for
// others: spins, polls or sleeps. When none can and some sleep, c.wake is when the first of them goes on.
func (c *CTA) run(wk *worker) (ran, waits bool) {
	waits = true
	c.progress, c.released, c.wake = false, false, 0
	for i := range c.Warps {
		w := c.Warps[c.Launch.Order.place(uint64(i), uint64(len(c.Warps)))]
		if w.Live == 0 {
			continue
		}
		c.current = w
		began := w.Instr
		if w.step(turnsPerWarp) {
			ran = true
			waits = waits && w.waits
		} else if w.wake != 0 && (c.wake == 0 || w.wake < c.wake) {
			c.wake = w.wake
		}
		if w.Live != 0 {
			w.idleArrivals()
		}
		if wk.spent += w.Instr - began; wk.spent > breathEvery {
			wk.breathe()
		}
		// from warp 0 on: the warp that came last is not the first to go on, as it is not in machine code
		if c.released {
			break
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

// Barrier is barrier{.cta}.sync, .arrive and .red for lanes of the current split. ids are the lanes' barriers, counts
// the numbers of threads that the instruction names, nil for all threads of the CTA. next is the operation to go on
// with.
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
			if w.sync != nil {
				w.misuse(checker.InvalidArgument, next-1, same, fmt.Sprintf("comes to barrier %d", id),
					"a block has barriers 0 to 15", "")
			}
			w.Throw(FaultInstruction, first, "barrier number out of range")
		}
		if count%32 != 0 || counts != nil && count == 0 && !op.Wait {
			if w.sync != nil {
				w.misuse(checker.InvalidArgument, next-1, same,
					fmt.Sprintf("comes to barrier %d with a count of %d", id, count),
					"the count of threads is no multiple of the warp size, or an arrival has none", "")
			}
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
	w.CTA.barred = true
	b := &w.CTA.barriers[id]
	if b.arrived == 0 && b.warps == 0 && b.waiting == 0 && !b.red {
		b.count, b.popc, b.and, b.or = count, 0, true, false
	}
	if w.sync != nil {
		w.checkArrival(s, next-1, id, count)
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
		if c := w.CTA.check; c != nil {
			c.BarrierArrive(w.Index, s.Mask, id)
			w.gave = true
		}
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
	if w.sync != nil {
		w.checkCounted(id, false)
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

// idleArrivals counts a warp that can run nothing more at the barriers that some of its lanes have come to, though
// other lanes wait at other barriers (in two branches) or for these. Going by the manual such a warp waits for ever.
func (w *Warp) idleArrivals() {
	at := uint16(0)
	for _, s := range w.splits {
		switch s.wait {
		case ready, waitCluster, waitSleep: // they will come yet
			return
		case waitBarrier:
			at |= 1 << s.barrier
		}
	}
	for id := range w.arrive {
		if (at>>id&1 != 0 || w.arrive[id] != 0) && !w.counted[id] {
			w.CTA.progress = true
			if w.sync != nil {
				w.checkCounted(id, true)
			}
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
	c.released = len(c.Warps) > 1
	if c.check != nil {
		c.checkBarrier(id)
	}
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
