package checker

import "math/bits"

// place is what was released by strong writes to a place in memory.
type place struct {
	b     *origin // of the last writer
	scope Scope
	size  uint32
	told  []message
}

// Access is an operation of one warp on memory: on global memory, or where that is not nil, on a block's shared memory.
// lanes make it at addrs, wrote is the lanes that write where that depends on the data (compare and swap). The accesses
// of a launch are told one after the other.
func (b *Block) Access(op *Op, warp int, lanes, wrote uint32, shared *Block, addrs *[32]uint64) {
	s, places := b.spaceOf(shared)
	w := &b.warps[warp]
	for lanes != 0 {
		group, e := b.event(w, op, warp, lanes)
		lanes &^= group
		x := access{e: e, b: b, w: w, t: b.l}
		if op.Scope == 0 {
			b.runs(s, &x, group, addrs)
			continue
		}
		for k := group; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k)
			for i := range op.Count {
				b.strong(s, places, &x, l, addrs[l]+uint64(i*op.Size), wrote>>l&1 != 0)
			}
		}
	}
}

// AccessRun is Access for a plain operation on global memory of which lane l, if it is one of lanes, accesses
// first+stride*l.
func (b *Block) AccessRun(op *Op, warp int, lanes uint32, first uint64, stride int64) {
	w := &b.warps[warp]
	for lanes != 0 {
		group, e := b.event(w, op, warp, lanes)
		lanes &^= group
		x := access{e: e, b: b, w: w, t: b.l}
		b.l.global.touchRun(&x, group, first, stride, op.Size*op.Count)
	}
}

// spaceOf is what is remembered of global memory, or of a block's shared memory.
func (b *Block) spaceOf(shared *Block) (*shadow, map[uint64]*place) {
	if shared == nil {
		return b.l.global, b.l.sync
	}
	if shared.sync == nil {
		shared.sync = map[uint64]*place{}
	}
	return &shared.shared, shared.sync
}

// event is that of an operation of lanes; those in another epoch than the first are left out of group.
func (b *Block) event(w *warp, op *Op, warp int, lanes uint32) (group uint32, e *event) {
	l := bits.TrailingZeros32(lanes)
	epoch := w.epoch[l]
	group = lanes
	if lanes&^w.same != 0 {
		group = 0
		for k := lanes; k != 0; k &= k - 1 {
			if j := bits.TrailingZeros32(k); w.epoch[j] == epoch {
				group |= 1 << j
			}
		}
	}
	if int(op.ID) >= len(w.last) {
		w.last = append(w.last, make([]*event, int(op.ID)+1-len(w.last))...)
	}
	e = w.last[op.ID]
	early := b.ahead(warp, l)
	if e == nil || e.epoch != epoch || e.b != b.origin || e.op != op || e.early != early {
		e = b.l.newEvent()
		*e = event{b: b.origin, op: op, warp: int32(warp), actor: uint32(32 * warp), epoch: epoch, early: early}
		w.last[op.ID] = e
	}
	return group, e
}

// eventsAtOnce is how many events are made at a time.
const eventsAtOnce = 64

// newEvent makes an event.
func (l *Launch) newEvent() *event {
	if len(l.events) == 0 {
		l.events = make([]event, eventsAtOnce)
	}
	e := &l.events[0]
	l.events = l.events[1:]
	return e
}

// runs makes the accesses of lanes: neighbours whose addresses lie at equal distances are one.
func (b *Block) runs(s *shadow, x *access, lanes uint32, addrs *[32]uint64) {
	size := x.e.op.Size * x.e.op.Count
	for lanes != 0 {
		mine, stride := neighbours(lanes, addrs)
		lanes &^= mine
		first := bits.TrailingZeros32(mine)
		s.touchRun(x, mine, addrs[first]-uint64(stride*int64(first)), stride, size)
	}
}

// neighbours are the first lanes whose addresses lie at equal distances.
func neighbours(lanes uint32, addrs *[32]uint64) (mine uint32, stride int64) {
	first := bits.TrailingZeros32(lanes)
	mine = 1 << first
	rest := lanes &^ mine
	if rest != 0 {
		second := bits.TrailingZeros32(rest)
		stride = int64(addrs[second] - addrs[first])
		if n := int64(second - first); n > 1 {
			if stride%n != 0 {
				rest = 0 // no run
			}
			stride /= n
		}
	}
	for ; rest != 0; rest &= rest - 1 {
		l := bits.TrailingZeros32(rest)
		if addrs[l] != addrs[first]+uint64(stride*int64(l-first)) {
			break
		}
		mine |= 1 << l
	}
	return mine, stride
}

// strong is one element of a strong operation.
func (b *Block) strong(s *shadow, places map[uint64]*place, x *access, lane int, addr uint64, wrote bool) {
	op := x.e.op
	e := x.e
	warp := int(e.warp)
	w := &b.warps[warp]
	if b.l.c.messages.Load() && op.Does&Reads != 0 && (op.Swap || !wrote) {
		b.l.hears(addr)
	}
	if wrote && !op.Release && !b.l.told && len(w.fenced[lane]) == 0 {
		s.touchStrong(x, 1<<lane, addr, op.Size) // there is no message that it could carry on or end
		return
	}
	last := s.cell(addr).w
	if op.Does&Writes != 0 && !wrote {
		read := *e.op // a comparison that failed
		read.Does = Reads
		x.e = &event{b: e.b, op: &read, warp: e.warp, actor: e.actor, epoch: e.epoch, early: e.early}
	}
	s.touchStrong(x, 1<<lane, addr, op.Size)
	x.e = e
	p := places[addr]
	// What is read is what the last strong write left, if nothing else has written since.
	observed := p != nil && last.e != nil && last.e.op.Scope != 0 && p.size == op.Size && op.Does&Reads != 0 &&
		p.scope.includes(p.b, b.origin) && op.Scope.includes(b.origin, p.b)
	if observed {
		left := p.told
		if op.Acquire {
			left = b.hear(warp, lane, op.Scope, p.told)
		}
		w.signal().heard[lane] = tellAll(w.heard[lane], left)
	}
	if !wrote {
		return
	}
	n := place{b: b.origin, scope: op.Scope, size: op.Size, told: w.fenced[lane]}
	if observed { // reads and writes in one carry on what they have read
		n.told = tellAll(p.told, n.told)
	}
	if op.Release {
		n.told = tell(n.told, message{b.origin, op.Scope, b.snapshot(warp, lane)})
		b.advance(warp, 1<<lane)
	}
	if len(n.told) > 0 {
		b.l.told = true
		b.l.tells(addr)
	}
	if p != nil {
		*p = n
		return
	}
	places[addr] = &n
}

// Fence is fence or membar of lanes.
func (b *Block) Fence(warp int, lanes uint32, scope Scope, acquire, release bool) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	w := &b.warps[warp]
	w.signal()
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if acquire {
			w.heard[l] = b.hear(warp, l, scope, w.heard[l])
		}
		if release {
			w.fenced[l] = tell(w.fenced[l], message{b.origin, scope, b.snapshot(warp, l)})
		}
	}
	if release {
		b.advance(warp, lanes)
	}
}

// ProxyFence lets the async proxy see what lanes know.
func (b *Block) ProxyFence(warp int, lanes uint32) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	w := &b.warps[warp]
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		w.view[l].async = join(w.view[l].async, b.snapshot(warp, l).all)
	}
	b.advance(warp, lanes)
}
