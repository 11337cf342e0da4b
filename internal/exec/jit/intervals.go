package jit

import (
	"bytes"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/ir"
)

// Of a kernel whose threads meet at barriers of the block alone, accesses to shared memory on the two sides of a
// barrier are ordered, so that races are those among the accesses between two barriers. These notes are kept aside, and
// looked at together: where no word is accessed by two threads, one of which writes, the checker needs not hear of
// them. Intervals with the same notes, as those of a loop and of other blocks, are looked at once. Where there is such
// a word, the checker is told of all, and finds what there is to find. So it is told of everything from the first
// barrier on that threads of the block do not come to: what they did before their end is not ordered by it.

// intervals are the accesses to shared memory of a runner's blocks.
type intervals struct {
	notes  []byte   // since the last barrier
	free   [][]byte // notes without a race, the last found first
	last   [][]byte // those among them that came between two barriers of a block before, by the number of barriers
	past   int      // barriers
	same   int      // bytes of notes so far that are those of last[past], and are not in notes yet; -1: all are
	words  []word
	stamp  uint32
	spoilt bool // the checker hears of everything to the end of the block
	of     *ctaVersion
}

// word is what threads have done to a word of shared memory in an interval.
type word struct {
	stamp  uint32 // of the interval
	thread uint16 // of the block, or severalThreads
	does   uint8
}

const (
	severalThreads = 1 << 15

	doesRead   = 1
	doesWrite  = 2
	doesAtomic = 4

	mostFree     = 32      // intervals that are remembered
	mostInterval = 1 << 20 // bytes of an interval's notes
	mostLast     = 64      // intervals that are remembered by their number
)

// quick finds out which of the operations that are noted intervals may keep aside: none where anything but barriers, or
// an operation that is not noted, can order or access. Else it gives the operations for journals.
func (c *code) quick(list []noted) []*checker.Op {
	size := uint32(0) // of atomic operations
	for i := range list {
		o := &list[i]
		if o.barrier != 0 {
			continue
		}
		t := c.single.Told(0, int32(i))
		if t == nil {
			continue
		}
		_, op, ok := t.Access()
		switch {
		case !ok || o.told == nil:
			return nil
		case op.Scope == 0:
		case op.Does != checker.Reads|checker.Writes || op.Acquire || op.Release || op.Swap || op.Count != 1:
			return nil
		case size != 0 && size != op.Size:
			return nil
		default:
			size = op.Size
		}
	}
	ops := make([]*checker.Op, len(list))
	for i := range list {
		o := &list[i]
		if o.told == nil {
			continue
		}
		space, op, _ := o.told.Access()
		ops[i] = op
		if space == ir.Shared {
			o.bytes = op.Size * op.Count
			switch {
			case op.Scope != 0:
				o.aside = doesAtomic
			case op.Does == checker.Reads:
				o.aside = doesRead
			default:
				o.aside = doesWrite
			}
		} else if space == ir.Generic {
			o.generic = true
		}
	}
	return ops
}

// begin begins a block.
func (v *intervals) begin(of *ctaVersion) {
	if v.of != of {
		v.of, v.free, v.last = of, nil, nil
	}
	v.spoilt = false
	v.enter(0)
}

// enter begins the interval behind so many barriers.
func (v *intervals) enter(past int) {
	v.past, v.notes, v.same = past, v.notes[:0], -1
	if past < len(v.last) && v.last[past] != nil {
		v.same = 0
	}
}

// aside keeps a note for the end of the interval; false when there are too many.
func (v *intervals) aside(note unsafe.Pointer, size uintptr) bool {
	if v.same >= 0 {
		had := v.last[v.past][v.same:]
		if uintptr(len(had)) >= size && sameNote(unsafe.Pointer(&had[0]), note, size) {
			v.same += int(size)
			return true
		}
		v.catchUp()
	}
	if len(v.notes) > mostInterval {
		return false
	}
	v.notes = append(v.notes, unsafe.Slice((*byte)(note), size)...)
	return true
}

// sameNote says whether two notes of the same size, which is a multiple of eight, have the same bytes.
func sameNote(a, b unsafe.Pointer, size uintptr) bool {
	if size == abi.LogHead+8 {
		return *(*[2]uint64)(a) == *(*[2]uint64)(b)
	}
	return unsafe.String((*byte)(a), size) == unsafe.String((*byte)(b), size)
}

// catchUp puts all notes into notes.
func (v *intervals) catchUp() {
	if v.same >= 0 {
		v.notes = append(v.notes[:0], v.last[v.past][:v.same]...)
		v.same = -1
	}
}

// endInterval looks at what was kept aside; the checker hears of it when there may be a race.
func (r *blockRunner) endInterval() {
	v := &r.intervals
	past := v.past
	if v.same < 0 || v.same < len(v.last[past]) {
		v.catchUp()
		r.endOther()
	}
	v.enter(past + 1)
}

// endOther is endInterval for notes that are not those of the interval's last time.
func (r *blockRunner) endOther() {
	v := &r.intervals
	if len(v.notes) == 0 {
		return
	}
	i := slices.IndexFunc(v.free, func(had []byte) bool { return bytes.Equal(had, v.notes) })
	var had []byte
	switch {
	case i >= 0:
		had = v.free[i]
	case r.apart():
		had = bytes.Clone(v.notes)
		if i = len(v.free); i < mostFree {
			v.free = append(v.free, nil)
		} else {
			i--
		}
	default:
		if r.journal != nil {
			r.spill()
		}
		r.tellAside()
		return
	}
	copy(v.free[1:i+1], v.free[:i])
	v.free[0] = had
	if v.past < mostLast {
		v.last = append(v.last, make([][]byte, max(0, v.past+1-len(v.last)))...)
		v.last[v.past] = had
	}
}

// spoil has the checker hear of everything up to the end of the block.
func (r *blockRunner) spoil() {
	if r.journal != nil {
		r.spill()
	}
	r.tellAside()
	r.intervals.spoilt = true
}

// tellAside tells the checker of what was kept aside.
func (r *blockRunner) tellAside() {
	v := &r.intervals
	v.catchUp()
	r.eachAside(func(o *noted, warp int, lanes uint32, at unsafe.Pointer) bool {
		r.tell(o, warp, lanes, at)
		return true
	})
	v.notes = v.notes[:0]
}

// eachAside goes through what was kept aside as long as f says so.
func (r *blockRunner) eachAside(f func(o *noted, warp int, lanes uint32, at unsafe.Pointer) bool) bool {
	notes := r.intervals.notes
	for off := uintptr(0); off < uintptr(len(notes)); {
		p := unsafe.Pointer(&notes[off])
		e := (*abi.LogEntry)(p)
		o := &r.v.notes[e.Op&(1<<24-1)]
		if !f(o, int(e.Op>>24), e.Lanes&o.lanes, unsafe.Add(p, abi.LogHead)) {
			return false
		}
		off += o.size
	}
	return true
}

// apart says whether no word of what was kept aside is accessed by two threads, one of which writes, or by an atomic
// operation and otherwise.
func (r *blockRunner) apart() bool {
	v := &r.intervals
	if n := int(r.sharedBytes+3) / 4; len(v.words) < n {
		v.words, v.stamp = make([]word, n), 0
	}
	if v.stamp++; v.stamp == 0 {
		clear(v.words)
		v.stamp = 1
	}
	return r.eachAside(func(o *noted, warp int, lanes uint32, at unsafe.Pointer) bool {
		var rows [32]uint32
		r.offsets(o, at, &rows)
		for ; lanes != 0; lanes &= lanes - 1 {
			l := bits.TrailingZeros32(lanes)
			thread := uint16(32*warp + l)
			first, last := rows[l&31]/4, (uint64(rows[l&31])+uint64(o.bytes)-1)/4
			if last >= uint64(len(v.words)) {
				return false
			}
			for i := uint64(first); i <= last; i++ {
				w := &v.words[i]
				switch does := w.does | o.aside; {
				case w.stamp != v.stamp:
					*w = word{v.stamp, thread, o.aside}
				case w.thread == thread:
					w.does = does
				case does&doesWrite != 0 || does == doesRead|doesAtomic:
					return false
				default:
					w.thread, w.does = severalThreads, does
				}
			}
		}
		return true
	})
}

// offsets are the lanes' places in shared memory that an operation accesses.
func (r *blockRunner) offsets(o *noted, at unsafe.Pointer, rows *[32]uint32) {
	disp := uint32(o.disp)
	switch s := o.scalar; {
	case o.base == nil:
		for l := range rows {
			rows[l] = disp
		}
	case s != nil:
		for l := range rows {
			base, more := laneOf(at, s, l)
			rows[l] = *(*uint32)(base) + uint32(more) + disp
		}
	case o.base.Class == ir.W32:
		for l, a := range (*[32]uint32)(at) {
			rows[l] = a + disp
		}
	default:
		for l, a := range (*[32]uint64)(at) {
			rows[l] = uint32(a) + disp
		}
	}
}

// mayShare says whether an operation with generic addresses accesses anything but global memory.
func (r *blockRunner) mayShare(o *noted, lanes uint32, at unsafe.Pointer) bool {
	m := r.l.Mem
	for ; lanes != 0; lanes &= lanes - 1 {
		l := bits.TrailingZeros32(lanes)
		addr := uint64(int64(o.disp))
		switch {
		case o.base == nil:
		case o.scalar != nil:
			base, more := laneOf(at, o.scalar, l)
			addr += *(*uint64)(base) + uint64(more)
		case o.base.Class == ir.W64:
			addr += (*[32]uint64)(at)[l&31]
		default:
			addr += uint64((*[32]uint32)(at)[l&31])
		}
		if addr-m.Base < m.Special {
			return true
		}
	}
	return false
}
