package jit

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// Code of whole CTAs under a checker that follows accesses: notes (abi.LogEntry) of all warps stand in one buffer, in
// the order in which they ran. Go tells the checker of them when the buffer is full, before it does an operation
// itself, and when the CTA ends.

// noted is what Go knows of an operation that machine code of whole CTAs notes.
type noted struct {
	told    *interp.Told // nil: a barrier
	base    *ir.Arg
	again   bool            // to global memory alone, by bases of 64 bits
	scalar  *plan.Variation // of addresses that are bases; nil: addresses stand there
	size    uintptr         // of a note
	stores  uint32          // bytes that a lane writes to global memory, which are defined then
	barrier uint8           // plan.BarrierOf
	lanes   uint32          // whose addresses it uses
	run     bool            // a plain access to global memory by bases
	generic bool            // the address may be one of shared memory; only where aside may be set

	// of those to shared memory that intervals keep aside: what they do, else 0, the displacement, and their size
	aside uint8
	disp  int32
	bytes uint32
}

// notesOf is that of all operations of a version.
func (c *code) notesOf(v *plan.Values) []noted {
	f := v.Func
	if f.Told == nil {
		return nil
	}
	list := make([]noted, len(f.Told))
	for i := range list {
		n := &list[i]
		n.size = abi.LogHead
		op := &f.IR.Ops[i]
		if n.barrier = plan.BarrierOf(op); n.barrier != 0 || f.Told[i] == nil {
			continue
		}
		if a, ok := storeOf(op); ok && c.e.init {
			n.stores, n.lanes, n.disp = a.Size, 1<<32-1, int32(a.Addr.Disp)
		}
		if n.told = c.single.Told(f.IR.Index, int32(i)); n.told != nil {
			n.lanes, n.disp = n.told.Lanes(), int32(n.told.Disp())
		}
		if n.base = f.Told[i].Base; n.base == nil {
			continue
		}
		if w := v.UseWeb(int32(i), n.base.Ref.Off); n.base.Kind == ir.Row && w >= 0 && v.NotesBases(int32(i), w) {
			n.scalar = &v.Webs[w].Variation
			n.size += 8
			if n.scalar.Halves {
				n.size += 8
			}
			if n.told == nil {
				continue
			}
			space, op, ok := n.told.Access()
			n.again = ok && space == ir.Global && n.base.Class == ir.W64
			n.run = n.again && op.Scope == 0
			continue
		}
		n.size += uintptr(64 * plan.Pieces(n.base.Class))
	}
	return list
}

// notesSize is the size of the buffer, noteMost that of the largest note.
const (
	notesSize = 1 << 16
	noteMost  = abi.LogHead + 8*32
)

// following is what a runner has for a checker that follows accesses.
type following struct {
	notes   []byte
	block   *checker.Block   // of the CTA under way
	waits   []uint32         // lanes that have come to the barrier, by warp
	id      uint8            // of the barrier, plus one
	kept    bool             // the last exit was before the operation's note
	journal *checker.Journal // of the launch; nil: the checker hears of accesses at once
	undone  int32
	intervals
}

// beginJournal has a journal for the launch, if its code allows for one.
func (r *blockRunner) beginJournal() {
	r.journal = nil
	if r.v.ops != nil {
		r.journal = r.l.Check.Journal(r.v.ops, r.l.Grid)
	}
}

// follow begins a CTA.
func (r *blockRunner) follow(index [3]uint32) {
	l, g := r.l, r.l.Grid
	n := &r.following
	if n.notes == nil {
		n.notes = make([]byte, notesSize+1) // so that a pointer behind the last note is one into the buffer
	}
	if k := r.v.code.Values.Warps; len(n.waits) != k {
		n.waits = make([]uint32, k)
	}
	clear(n.waits)
	n.id = 0
	r.x.LogAt = uintptr(unsafe.Pointer(unsafe.SliceData(n.notes)))
	r.x.LogEnd = r.x.LogAt + notesSize - noteMost
	if r.c.e.init {
		r.undefineShared()
	}
	if !r.c.e.check {
		return
	}
	n.begin(r.v)
	at := index[0] + g[0]*(index[1]+g[1]*index[2])
	if n.journal != nil {
		n.journal.Begin(at, l.Block)
	} else {
		n.block = l.Check.Block(checker.NewCluster(), at, index, l.Block)
		r.guest.Follow(n.block)
	}
}

// tellNotes tells the checker of the notes so far. undone, if not -1, is an operation that has been noted and was not
// done.
func (r *blockRunner) tellNotes(undone int32) {
	n := &r.following
	start := unsafe.Pointer(unsafe.SliceData(n.notes))
	end := r.x.LogAt
	r.x.LogAt = uintptr(start)
	warps := len(n.waits)
	if r.c.e.init {
		r.tellStores(start, end, undone)
	}
	if !r.c.e.check {
		return
	}
	for p := start; uintptr(p) < end; {
		e := (*abi.LogEntry)(p)
		op, warp := int32(e.Op&(1<<24-1)), int(e.Op>>24)
		o := &r.v.notes[op]
		at := unsafe.Add(p, abi.LogHead)
		p = unsafe.Add(p, o.size)
		if uintptr(p) >= end && op == undone {
			return
		}
		if n.waits[warp] != 0 { // it goes on
			r.barrierDone()
		}
		if j := n.journal; j != nil && o.again {
			if lanes := e.Lanes & o.lanes; lanes != 0 {
				base, pitch := o.bases(at, lanes)
				if !j.Again(int(op)*warps+warp, lanes, base, o.scalar.Stride, pitch) {
					j.Add(int(op), warp, lanes, base, o.scalar.Stride, pitch, 4)
				}
			}
			continue
		}
		switch {
		case o.barrier != 0:
			n.waits[warp], n.id = e.Lanes, o.barrier
		case e.Lanes&o.lanes == 0:
		case o.aside != 0 && !n.spoilt:
			if !n.aside(unsafe.Pointer(e), o.size) {
				r.spoil()
				r.tell(o, warp, e.Lanes&o.lanes, at)
			}
		default:
			if o.generic && !n.spoilt && r.mayShare(o, e.Lanes&o.lanes, at) {
				r.spoil()
			}
			if n.journal != nil {
				r.put(o, int(op), warp, e.Lanes&o.lanes, at)
			} else {
				r.tell(o, warp, e.Lanes&o.lanes, at)
			}
		}
	}
	if n.journal != nil && n.journal.Full() {
		r.spill()
	}
}

// tellStores makes defined what the notes of stores so far say.
func (r *blockRunner) tellStores(start unsafe.Pointer, end uintptr, undone int32) {
	if uintptr(start) >= end {
		return
	}
	r.defining.global = r.l.Init.LockGlobal()
	defer r.l.Init.UnlockGlobal()
	for p := start; uintptr(p) < end; {
		e := (*abi.LogEntry)(p)
		op := int32(e.Op & (1<<24 - 1))
		o := &r.v.notes[op]
		at := unsafe.Add(p, abi.LogHead)
		p = unsafe.Add(p, o.size)
		if uintptr(p) >= end && op == undone {
			return
		}
		if lanes := e.Lanes & o.lanes; o.stores != 0 && lanes != 0 {
			r.defines(o, lanes, at)
		}
	}
}

// put has the launch's journal keep an access to global memory.
func (r *blockRunner) put(o *noted, op, warp int, lanes uint32, at unsafe.Pointer) {
	var rows [32]uint64
	r.addresses(o, at, &rows)
	r.journal.AddEach(op, warp, lanes, &rows)
}

// bases are the address of lane 0, and how much more that of lane 16 is, as far as lanes ask for them.
func (o *noted) bases(at unsafe.Pointer, lanes uint32) (base uint64, pitch int64) {
	const half = 0xffff
	s := o.scalar
	base, pitch = *(*uint64)(at)+uint64(int64(o.disp)), 16*s.Stride
	switch {
	case !s.Halves:
		pitch += s.Skew
	case lanes&^half == 0:
	case lanes&half == 0:
		base = *(*uint64)(unsafe.Add(at, 8)) + uint64(int64(o.disp)-pitch)
	default:
		pitch = int64(*(*uint64)(unsafe.Add(at, 8)) - *(*uint64)(at))
	}
	return base, pitch
}

// addresses are those of an operation's lanes.
func (r *blockRunner) addresses(o *noted, at unsafe.Pointer, rows *[32]uint64) {
	disp := uint64(int64(o.disp))
	switch s := o.scalar; {
	case o.base == nil:
		for l := range rows {
			rows[l] = disp
		}
	case s != nil && o.base.Class == ir.W64:
		for l := range rows {
			base, more := laneOf(at, s, l)
			rows[l] = *(*uint64)(base) + uint64(more) + disp
		}
	case s != nil:
		for l := range rows {
			base, more := laneOf(at, s, l)
			rows[l] = uint64(*(*uint32)(base) + uint32(more) + uint32(disp))
		}
	case o.base.Class == ir.W32:
		for l, a := range (*[32]uint32)(at) {
			rows[l] = uint64(a + uint32(disp))
		}
	default:
		for l, a := range (*[32]uint64)(at) {
			rows[l] = a + disp
		}
	}
}

// spill has the checker told of what the journal has, and of everything from here on.
func (r *blockRunner) spill() {
	n := &r.following
	n.block = n.journal.Spill()
	n.journal = nil
	r.guest.Follow(n.block)
}

// tellBefore tells of what comes before an operation that Go executes.
func (r *blockRunner) tellBefore() {
	r.tellNotes(-1)
	if !r.c.e.check {
		return
	}
	if r.waits[r.warp()] != 0 {
		r.barrierDone()
	}
}

// warp is the number of the warp that machine code runs for, or ran for last.
func (r *blockRunner) warp() int {
	return int(uintptr(r.x.Frame)-uintptr(r.first)) / int(r.size)
}

// barrierDone tells of the end of a phase of the barrier.
func (r *blockRunner) barrierDone() {
	n := &r.following
	threads := 0
	for _, m := range n.waits {
		threads += bits.OnesCount32(m)
	}
	if b := r.l.Block; !n.spoilt && threads != int(b[0]*b[1]*b[2]) {
		r.spoil() // what threads that have exited did is not ordered by the barrier
	}
	r.endInterval()
	if n.journal != nil {
		n.journal.Barrier()
	} else {
		n.block.BarrierDone(int(n.id-1), n.waits)
	}
	clear(n.waits)
}

// tell tells of an access. at has its addresses or bases.
func (r *blockRunner) tell(o *noted, warp int, lanes uint32, at unsafe.Pointer) {
	w := r.guest.Speak(r.x.CTAID, warp)
	s := o.scalar
	switch {
	case s == nil:
		o.told.Tell(w, lanes, at)
		return
	case o.run: // a half after the other where they have bases of their own
		const half = 0xffff
		base := *(*uint64)(at)
		switch {
		case s.Linear():
			o.told.TellRun(w, lanes, base, s.Stride)
			return
		case lanes&half != 0:
			o.told.TellRun(w, lanes&half, base, s.Stride)
		}
		if lanes &^= half; lanes != 0 {
			b, more := laneOf(at, s, 16)
			o.told.TellRun(w, lanes, *(*uint64)(b)+uint64(more-16*s.Stride), s.Stride)
		}
		return
	}
	if o.base.Class == ir.W64 {
		var rows [32]uint64
		for l := range rows {
			base, more := laneOf(at, s, l)
			rows[l] = *(*uint64)(base) + uint64(more)
		}
		o.told.Tell(w, lanes, unsafe.Pointer(&rows))
		return
	}
	var rows [32]uint32
	for l := range rows {
		base, more := laneOf(at, s, l)
		rows[l] = *(*uint32)(base) + uint32(more)
	}
	o.told.Tell(w, lanes, unsafe.Pointer(&rows))
}

// unfollow gives a CTA that stopped, or failed, to the scheduler, with what the checker knows of it.
func (r *blockRunner) unfollow(c *exec.CTA, undone int32) {
	n := &r.following
	r.tellNotes(undone)
	if r.c.e.init {
		r.handDefined(c)
	}
	if !r.c.e.check {
		return
	}
	if n.waits[r.warp()] != 0 {
		r.barrierDone()
	}
	if n.journal != nil {
		r.spill()
	}
	r.tellAside()
	c.Follow(n.block)
	n.block = nil
}

// unfollowed ends a CTA.
func (r *blockRunner) unfollowed() {
	n := &r.following
	r.tellNotes(-1)
	if !r.c.e.check {
		return
	}
	r.endInterval()
	if n.journal != nil {
		n.journal.EndBlock()
		return
	}
	n.block.End()
	n.block = nil
}
