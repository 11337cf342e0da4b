package exec

import (
	"math/bits"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/mem"
)

// wait is what a split waits for.
type wait uint8

const (
	ready       wait = iota
	waitSync         // lanes of a member mask
	waitBarrier      // a CTA barrier
	waitCluster      // the cluster barrier
	waitSleep        // the time wake
)

// Split is a program point with the lanes that stand there.
type Split struct {
	PC      int32 // operation index in Act.Func
	Mask    uint32
	Act     *Activation
	wait    wait
	barrier uint8
	passed  bool   // has used its turn; others go first
	dst     ir.Ref // where a barrier reduction goes
	red     uint8
	budget  int32 // back edges left in this turn
	turns   uint16
	probe   bool   // its turn is over but for one more back edge: see Warp.spins
	state   uint64 // of the registers when probe was set
	stateAt int32  // operation at which it was taken
	wake    time.Duration
}

// Activation is one call of a function by some lanes of a warp: its registers and local variables.
type Activation struct {
	Func   *ir.Func
	Frame  unsafe.Pointer
	frame  []byte
	Caller *Activation
	Return int32 // operation of the caller to go on with
	Call   *ir.CallInfo
	Live   uint32 // lanes that have not returned
	Depth  int32
	Local  uint32      // byte offset of the function's .local variables in each thread's local memory
	Top    uint32      // first free byte of local memory above them
	Dyn    *[32]uint32 // tops of lanes that called alloca; nil when none did
}

// Warp is 32 lanes of a CTA.
type Warp struct {
	CTA   *CTA
	Index int
	Live  uint32 // lanes that have not exited

	// Base are the bases of operand rows by ir.Ref.Sel: the frame of Act, and the constant pool.
	Base [2]unsafe.Pointer
	Act  *Activation // of the current split
	Op   int32       // current operation, kept up to date by the engine before anything that can fault
	Lane int         // lane whose memory access is under way

	// Limit is the operation at which the current split must stop because another one waits there or beyond.
	Limit int32
	Cur   *Split

	// CC is the carry flag of each thread (CC.CF, PTX ISA 9.7.2), bit i for lane i.
	CC uint32

	splits    []*Split
	free      []*Split
	Members   [32]uint32 // member masks of lanes that wait in Gather
	release   uint32     // lanes let go by Gather though their partners stand at another operation
	anywhere  uint32     // lanes that wait in Gather for partners at any operation
	arrive    [16]uint32 // lanes that have arrived at a barrier in bar.arrive without waiting
	gridWait  uint32     // lanes that have arrived at the grid's barrier
	gridPhase uint32     // bit 0 of the phase in which each of them arrived
	clusterAt uint32     // those of them that arrived in the barrier's current phase
	counted   [16]bool   // the warp's arrival at a barrier is already counted

	local      []byte         // local memory of 32 threads, LocalSize bytes each
	scratch    []*mem.Scratch // keeps what memory took of it
	LocalBase  unsafe.Pointer
	LocalSize  uint32
	root       *Activation   // of the kernel's entry
	acts       []*Activation // ended ones, for reuse
	actBytes   uint64        // frames of the activations that are under way
	quantum    int32         // back edges of a turn
	waits      bool          // the last turn ended in waiting for others
	wake       time.Duration // the last turn found all splits waiting, and one of them sleeping until then; else 0
	gave       bool          // the turn is over: the checker wants to see what others do meanwhile
	probing    bool          // an access is made to see whether it faults
	Instr      uint64        // operations executed; engines count them
	Threads    uint64
	Diverged   uint64
	Random     uint64
	fence      uint32         // written by Fence
	Trace      Trace          // told of every access that Ptr resolves; nil for nobody
	AsyncState any            // pending asynchronous copies of the engine's own making
	Undefined  any            // what the engine knows of undefined registers, for Launch.Init; nil when a block begins
	Ext        unsafe.Pointer // an engine's memory; it stays with the Warp when that is used again
	ExtState   ExtState       // how much of what it knows still holds
	sync       *warpSync      // nil unless the launch's synchronisation is checked
	replicas   []unsafe.Pointer
}

// ExtState says how much an engine's own memory of a warp still holds. Engines set ExtReady.
type ExtState uint8

// The states.
const (
	ExtStale ExtState = iota // another launch: the grid, the parameters and the constant pool may have changed
	ExtMoved                 // the same launch, but another CTA: its index has changed
	ExtReady                 // nothing has changed
)

// R32 returns a 32-bit row.
func (w *Warp) R32(r ir.Ref) *[32]uint32 { return (*[32]uint32)(unsafe.Add(w.Base[r.Sel&1], r.Off)) }

// R64 returns a 64-bit row.
func (w *Warp) R64(r ir.Ref) *[32]uint64 { return (*[32]uint64)(unsafe.Add(w.Base[r.Sel&1], r.Off)) }

// R128 returns a 128-bit row: lane i has its low half at 2*i.
func (w *Warp) R128(r ir.Ref) *[64]uint64 { return (*[64]uint64)(unsafe.Add(w.Base[r.Sel&1], r.Off)) }

// Pred returns a predicate row.
func (w *Warp) Pred(r ir.Ref) *uint32 { return (*uint32)(unsafe.Add(w.Base[r.Sel&1], r.Off)) }

// Thread returns the linear index in the CTA of a lane's thread.
func (w *Warp) Thread(lane int) int { return w.Index*32 + lane }

func (w *Warp) newSplit() *Split {
	var s *Split
	if n := len(w.free); n > 0 {
		s = w.free[n-1]
		w.free = w.free[:n-1]
		*s = Split{}
	} else {
		s = new(Split)
	}
	s.budget = w.quantum
	w.splits = append(w.splits, s)
	return s
}

func (w *Warp) drop(s *Split) {
	for i, x := range w.splits {
		if x == s {
			n := len(w.splits) - 1
			w.splits[i] = w.splits[n]
			w.splits = w.splits[:n]
			w.free = append(w.free, s)
			return
		}
	}
}

// Turn is how many of the given back edges a turn may have of a kernel of so many operations: fewer in large ones, so
// that a turn ends within milliseconds.
func Turn(edges int32, k *ir.Kernel) int32 {
	ops := 0
	for _, f := range k.Funcs {
		ops += len(f.Ops)
	}
	return max(min(edges, int32(turnOps/max(ops, 1))), 1)
}

// turnOps bounds the operations of a turn.
const turnOps = 1 << 17

// backEdges is how many backward branches a split may take in one turn of its warp, small enough that a spin lock
// inside a warp moves on soon.
const backEdges = 1024

// Diverge divides the current split: the lanes of taken go to target, the others to next. Either may be empty.
func (w *Warp) Diverge(taken uint32, target, next int32) Event {
	s := w.Cur
	rest := s.Mask &^ taken
	if rest == 0 {
		w.Jump(target)
	} else if taken == 0 {
		s.PC = next
	} else {
		w.Diverged++
		t := w.newSplit()
		t.PC, t.Mask, t.Act, t.budget, t.turns = target, taken, s.Act, s.budget, s.turns
		s.PC, s.Mask = next, rest
		if target <= w.Op {
			t.budget--
		}
	}
	return EventReschedule
}

// Jump moves the whole current split.
func (w *Warp) Jump(target int32) {
	if target <= w.Op {
		w.Cur.budget--
	}
	w.Cur.PC = target
}

// BackEdge accounts for a backward branch; it says whether the split's turn is over.
func (w *Warp) BackEdge() bool {
	w.Cur.budget--
	return w.Cur.budget < 0
}

// Exit ends lanes of the current split; the rest goes on at next.
func (w *Warp) Exit(lanes uint32, next int32) {
	s := w.Cur
	lanes &= s.Mask
	if w.sync != nil {
		w.exits(s.Act.Func, next-1, lanes)
	}
	w.Live &^= lanes
	s.Mask &^= lanes
	s.PC = next
	if s.Mask == 0 {
		w.drop(s)
		w.Cur = nil
	}
	for a := s.Act; a != nil; {
		up := a.Caller
		if a.Live &^= lanes; a.Live == 0 {
			w.freeActivation(a)
		}
		a = up
	}
	w.wakeSync()
	if w.Live == 0 {
		w.CTA.warpDone(w)
	} else {
		for id := range w.arrive { // those that stay may be complete now
			if w.arrive[id] != 0 {
				w.tryArrive(id)
			}
		}
	}
	w.exitCluster(lanes)
	if w.CTA.Launch.Cooperative {
		w.CTA.Group.grid.exitBarrier(bits.OnesCount32(lanes))
	}
}

// wakeSync lets splits that wait for lanes look again.
func (w *Warp) wakeSync() {
	for _, s := range w.splits {
		if s.wait == waitSync {
			s.wait = ready
		}
	}
}

// Gather is called by an operation with a member mask before it acts: members holds each lane's mask, lanes those that
// execute it. Lanes go on when all that their mask names have come with that same mask; lanes whose masks differ do not
// wait for each other even where they stand at the same operation, since one may be there for an earlier round than the
// other. anywhere is set for bar.warp.sync, which lets partners stand at other such operations (in the other branch of
// an if, say).
//
// A mask that does not name its own lane is an illegal instruction where the warp has diverged; where all its lanes
// that live stand together it does not matter (warp/ in exectest/testdata/lanes.json.gz).
//
// It returns the lanes that may go on now; the others stay behind at this operation in a split of their own. When
// it returns 0 the current split waits, or has gone on without the lanes that do, and the engine must return
// EventReschedule.
func (w *Warp) Gather(lanes uint32, members *[32]uint32, anywhere bool) uint32 {
	if lanes != w.Live || w.sync != nil {
		for m := lanes; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			if members[l]>>l&1 != 0 {
				continue
			}
			if w.sync != nil {
				w.checkSelf(l, members[l])
			}
			if lanes != w.Live {
				w.Throw(FaultInstruction, l, "the member mask does not name the thread")
			}
		}
	}
	go1 := w.release & lanes
	for rest := lanes; rest != 0; {
		mask := members[bits.TrailingZeros32(rest)]
		group := uint32(0)
		for m := rest; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); members[l] == mask {
				group |= 1 << l
			}
		}
		rest &^= group
		missing := mask & w.Live &^ group
		if missing != 0 && anywhere {
			missing = w.summon(mask, missing)
		}
		if missing == 0 {
			if w.sync != nil {
				w.checkMembers(group, mask)
			}
			go1 |= group
			continue
		}
		for m := group; m != 0; m &= m - 1 {
			w.Members[bits.TrailingZeros32(m)] = mask
		}
		w.anywhere &^= group
		if anywhere {
			w.anywhere |= group
		}
	}
	w.release &^= go1
	s := w.Cur
	if go1 == lanes {
		return go1
	}
	if go1 == 0 && lanes == s.Mask {
		s.wait = waitSync
		return 0
	}
	// Lanes of the split that do not execute the operation (guarded off) go on with those that may.
	t := w.newSplit()
	t.PC, t.Act, t.Mask, t.wait = s.PC, s.Act, lanes&^go1, waitSync
	s.Mask &^= t.Mask
	if go1 == 0 {
		s.PC++
		return 0
	}
	w.Limit = min(w.Limit, s.PC+1)
	return go1
}

// Together says that lanes, which all have the same member mask, need no Gather: everyone that it names is there.
func (w *Warp) Together(mask, lanes uint32) bool {
	return w.sync == nil && mask&w.Live&^lanes == 0 && w.release&lanes == 0 && (lanes&^mask == 0 || lanes == w.Live)
}

// summon looks for missing lanes that wait with the same mask at other operations that let them. When they all do it
// lets them go and returns 0, else those that have not come.
func (w *Warp) summon(mask, missing uint32) uint32 {
	there := uint32(0)
	for _, s := range w.splits {
		if s.wait != waitSync {
			continue
		}
		for m := s.Mask & missing & w.anywhere; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); w.Members[l] == mask {
				there |= 1 << l
			}
		}
	}
	if missing&^there == 0 {
		w.letGo(there)
	}
	return missing &^ there
}

// letGo makes lanes that wait in Gather go on when they look again.
func (w *Warp) letGo(lanes uint32) {
	w.release |= lanes
	for _, s := range w.splits {
		if s.wait == waitSync && s.Mask&lanes != 0 {
			s.wait = ready
		}
	}
}

// pick chooses the split to run next and merges splits that stand at the same point; nil when all wait.
func (w *Warp) pick() *Split {
	w.wake = w.rouse()
	if len(w.splits) > 1 {
		w.merge()
	}
	for pass := 0; pass < 3; pass++ {
		var best *Split
		for _, s := range w.splits {
			if s.wait != ready || (pass == 0 && s.passed) {
				continue
			}
			if best == nil || s.Act.Depth > best.Act.Depth || (s.Act.Depth == best.Act.Depth && s.PC < best.PC) {
				best = s
			}
		}
		if best != nil {
			return best
		}
		if pass == 0 {
			for _, s := range w.splits {
				s.passed = false
			}
		}
		if pass == 1 && !w.releaseSync() {
			return nil
		}
	}
	return nil
}

func (w *Warp) merge() {
	for i := 0; i < len(w.splits); i++ {
		a := w.splits[i]
		if a.wait != ready && a.wait != waitSync {
			continue
		}
		for j := i + 1; j < len(w.splits); j++ {
			b := w.splits[j]
			if b.PC == a.PC && b.Act == a.Act && (b.wait == ready || b.wait == waitSync) {
				a.Mask |= b.Mask // two that wait look again together: they may be each other's partners
				a.wait = ready
				a.passed = a.passed && b.passed
				a.budget = max(a.budget, b.budget)
				w.drop(b)
				i = -1 // start over: a's change may allow another merge
				break
			}
		}
		if i < 0 {
			continue
		}
	}
}

// releaseSync lets lanes go that can only wait for each other, each at an operation of its own. A program where that
// happens has no defined result, but hardware goes on too. Lanes whose partners wait for something else stay.
func (w *Warp) releaseSync() bool {
	stuck := uint32(0)
	for _, s := range w.splits {
		if s.wait == waitSync {
			stuck |= s.Mask
		}
	}
	for last := uint32(0); stuck != last; {
		last = stuck
		for m := stuck; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); w.Members[l]&w.Live&^stuck != 0 {
				stuck &^= 1 << l
			}
		}
	}
	if stuck == 0 {
		return false
	}
	if w.sync != nil {
		w.checkStuck(stuck)
	}
	w.letGo(stuck)
	return true
}

// enter makes a split current and computes how far it may run.
func (w *Warp) enter(s *Split) {
	w.Cur = s
	if w.Act != s.Act {
		w.Act = s.Act
		w.Base[0] = s.Act.Frame
	}
	limit := int32(1<<31 - 1)
	if len(w.splits) > 1 {
		for _, o := range w.splits {
			if o != s && o.Act == s.Act && o.PC > s.PC && o.PC < limit && (o.wait == ready || o.wait == waitSync) {
				limit = o.PC
			}
		}
	}
	w.Limit = limit
}

// step runs the warp until it cannot go on or has had its turn. It returns whether anything ran.
func (w *Warp) step(turns int) (ran bool) {
	l := w.CTA.Launch
	began := w.Instr
	w.gave = false
	for ; turns > 0 && w.Live != 0; turns-- {
		s := w.pick()
		if s == nil {
			w.waits = !ran
			return ran
		}
		ran = true
		w.enter(s)
		if l.Stop != nil && l.Stop.Load() { // before the code is run, which may have to be made
			w.Op = s.PC
			w.Throw(FaultStopped, -1, "")
		}
		ev := l.Code.Run(w)
		if ev == EventStop {
			w.Throw(FaultStopped, -1, "")
		}
		switch s = w.Cur; {
		case ev == EventYield:
			w.waits = w.Instr-began < pollLength
			return true
		case s != nil && s.budget < 0:
			if !s.probe {
				s.probe, s.budget = true, 0
				s.state, s.stateAt = s.Act.hash(), w.Op
				continue
			}
			s.probe = false
			s.turns++
			if w.waits = w.Op == s.stateAt && s.Act.hash() == s.state; w.waits {
				s.budget = min(w.quantum, spinEdges)
			} else {
				s.budget = w.quantum
			}
			s.passed = len(w.splits) > 1 && (w.waits || l.Quantum > 0 || s.turns%manyTurns == 0)
			return true
		}
		if w.CTA.released || w.gave {
			break
		}
	}
	w.waits = false
	return ran
}

// spinEdges is the budget of a split that was found to spin. A turn of fewer than pollLength operations that ends in
// giving way only looked whether it may go on.
const (
	spinEdges  = 16
	pollLength = 64
)

// manyTurns is after how many turns a split that does not spin lets the others of its warp go first all the same: its
// loop may count while it waits for them. Before that it keeps them waiting, so that lanes with different trip counts
// meet at the loop's exit.
const manyTurns = 16

// hash is a number that changes when the activation's registers do. A split that comes to the same back edge twice in a
// row with the same registers waits for what others write to memory: more turns for it alone are of no use.
func (a *Activation) hash() uint64 {
	h := uint64(0)
	for _, x := range unsafe.Slice((*uint64)(a.Frame), a.Func.FrameSize/8) {
		h = (h ^ x) * 0x9e3779b97f4a7c15
		h ^= h >> 32
	}
	return h
}

// GiveWay makes the current split let the others of its warp go first; the engine returns EventYield after it.
func (w *Warp) GiveWay() { w.Cur.passed = len(w.splits) > 1 }
