package checker

import "math/bits"

// place is what was released by strong writes to a place in memory.
type place struct {
	b     *Block // of the last writer
	scope Scope
	size  uint32
	told  []message
}

// Access is an operation of one warp on memory: on global memory, or where that is not nil, on a block's shared memory. lanes make it at
// addrs, wrote is the lanes that write where that depends on the data (compare and swap).
func (b *Block) Access(op *Op, warp int, lanes, wrote uint32, shared *Block, addrs *[32]uint64) {
	c := b.l.c
	c.mu.Lock()
	defer c.mu.Unlock()
	w := &b.warps[warp]
	s, places := &c.global, c.sync
	if shared != nil {
		if shared.sync == nil {
			shared.sync = map[uint64]*place{}
		}
		s, places = &shared.shared, shared.sync
	}
	for m := lanes; m != 0; {
		l := bits.TrailingZeros32(m)
		group := uint32(0)
		epoch := w.epoch[l]
		for k := m; k != 0; k &= k - 1 {
			if j := bits.TrailingZeros32(k); w.epoch[j] == epoch {
				group |= 1 << j
			}
		}
		m &^= group
		e := w.last[op]
		if e == nil || e.epoch != epoch {
			e = &event{l: b.l, b: b, op: op, warp: warp, actor: uint32(32 * warp), epoch: epoch}
			w.last[op] = e
		}
		x := access{e: e, b: b, w: w, t: b.l}
		if op.Scope == 0 {
			b.touchAll(s, &x, group, addrs)
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

// touchAll makes the accesses of lanes; neighbours at one address are one access.
func (b *Block) touchAll(s *shadow, x *access, lanes uint32, addrs *[32]uint64) {
	op := x.e.op
	for lanes != 0 {
		l := bits.TrailingZeros32(lanes)
		addr := addrs[l]
		same := uint32(0)
		for k := lanes; k != 0; k &= k - 1 {
			j := bits.TrailingZeros32(k)
			if addrs[j] != addr {
				break
			}
			same |= 1 << j
		}
		lanes &^= same
		for i := range op.Count {
			s.touch(x, same, addr+uint64(i*op.Size), op.Size)
		}
	}
}

// strong is one element of a strong operation.
func (b *Block) strong(s *shadow, places map[uint64]*place, x *access, lane int, addr uint64, wrote bool) {
	op := x.e.op
	last := s.cell(addr).w
	e := x.e
	if op.Does&Writes != 0 && !wrote {
		read := *e.op // a comparison that failed
		read.Does = Reads
		x.e = &event{l: e.l, b: e.b, op: &read, warp: e.warp, actor: e.actor, epoch: e.epoch}
	}
	s.touch(x, 1<<lane, addr, op.Size)
	x.e = e
	p := places[addr]
	// What is read is what the last strong write left, if nothing else has written since.
	observed := p != nil && last.e != nil && last.e.op.Scope != 0 && p.size == op.Size && op.Does&Reads != 0 && p.scope.includes(p.b, b) &&
		op.Scope.includes(b, p.b)
	warp := e.warp
	w := &b.warps[warp]
	if observed {
		left := p.told
		if op.Acquire {
			left = b.hear(warp, lane, op.Scope, p.told)
		}
		w.heard[lane] = tellAll(w.heard[lane], left)
	}
	if !wrote {
		return
	}
	n := place{b: b, scope: op.Scope, size: op.Size, told: w.fenced[lane]}
	if observed { // reads and writes in one carry on what they have read
		n.told = tellAll(p.told, n.told)
	}
	if op.Release {
		n.told = tell(n.told, message{b, op.Scope, b.snapshot(warp, lane)})
		b.advance(warp, 1<<lane)
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
	for m := lanes; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if acquire {
			w.heard[l] = b.hear(warp, l, scope, w.heard[l])
		}
		if release {
			w.fenced[l] = tell(w.fenced[l], message{b, scope, b.snapshot(warp, l)})
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
