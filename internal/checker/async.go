package checker

// groups are a thread's asynchronous operations, by the groups in which it waits for them.
type groups struct {
	open uint64   // epoch of the newest that is in no group yet
	made []uint64 // of the newest in each group that was not waited for
	all  uint64   // of the newest
}

// Work is a kind of asynchronous operation.
type Work uint8

// The kinds.
const (
	WorkCopy   Work = iota // cp.async
	WorkBulk               // bulk copies
	WorkMatrix             // wgmma
)

func (w *warp) groups(k Work, lane int) *groups {
	w.signal()
	switch k {
	case WorkCopy:
		return &w.copies[lane]
	case WorkBulk:
		return &w.bulk[lane]
	}
	return &w.matrix[lane]
}

// Range is memory that an asynchronous operation accesses.
type Range struct {
	Shared *Block // nil: global
	Addr   uint64
	Size   uint32
}

// Async is an asynchronous operation of a lane that it waits for in groups: it reads src and writes dst.
func (b *Block) Async(op *Op, warp, lane int, k Work, dst, src []Range) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	w := &b.warps[warp]
	b.l.epoch++
	g := w.groups(k, lane)
	g.open, g.all = b.l.epoch, b.l.epoch
	read, write := uint32(actorCopy), uint32(actorCopy)
	switch k {
	case WorkBulk:
		read, write = actorSource, actorBulk
	case WorkMatrix:
		read, write = actorMatrix, actorMatrix
	}
	b.work(op, warp, lane, read, b.l.epoch, k != WorkCopy, src, false)
	b.work(op, warp, lane, write, b.l.epoch, k != WorkCopy, dst, true)
}

// work is the accesses of an actor of a lane.
func (b *Block) work(op *Op, warp, lane int, actor uint32, epoch uint64, async bool, at []Range, writes bool) {
	if len(at) == 0 {
		return
	}
	o := *op
	o.Does = Reads
	if writes {
		o.Does = Writes
		if op.Does == Reads|Writes { // a reduction
			o.Does = op.Does
		}
	} else {
		o.Scope = 0
	}
	if actor < actorBarrier {
		actor += uint32(32 * warp)
	}
	e := &event{b: b.origin, op: &o, warp: int32(warp), actor: actor, epoch: epoch, async: async}
	x := access{e: e, b: b, w: &b.warps[warp], t: b.l}
	for _, r := range at {
		o.Space = "global"
		s := b.l.global
		if r.Shared != nil {
			s, o.Space = &r.Shared.shared, "shared"
		}
		n := r.Size
		if o.Scope != 0 { // a reduction, element by element
			n = o.Size
		}
		for off := uint32(0); off < r.Size; off += n {
			if o.Scope != 0 {
				s.touchStrong(&x, 1<<lane, r.Addr+uint64(off), min(n, r.Size-off))
			} else {
				s.touch(&x, 1<<lane, r.Addr+uint64(off), min(n, r.Size-off))
			}
		}
	}
}

// Commit makes a group of a lane's operations.
func (b *Block) Commit(warp, lane int, k Work) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	g := b.warps[warp].groups(k, lane)
	g.made = append(g.made, g.open)
	g.open = 0
}

// Wait is a wait by lanes until one of them has at most left groups under way. With source only the reading of their
// sources is awaited; all says that operations in no group are awaited too.
func (b *Block) Wait(warp, lane int, lanes uint32, k Work, left int, source, all bool) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	w := &b.warps[warp]
	g := w.groups(k, lane)
	done := uint64(0)
	if n := len(g.made) - left; n > 0 {
		for _, e := range g.made[:n] {
			done = max(done, e)
		}
		if !source {
			g.made = append([]uint64(nil), g.made[n:]...)
		}
	}
	if all {
		done = g.all
	}
	if done == 0 {
		return
	}
	actors := []uint32{actorCopy}
	switch {
	case k == WorkMatrix:
		actors[0] = actorMatrix
	case k == WorkBulk && source:
		actors[0] = actorSource
	case k == WorkBulk:
		actors = []uint32{actorSource, actorBulk}
	}
	for _, a := range actors {
		var c *clock
		b.acquire(warp, lanes, view{all: c.plus(b.index, int(a)/32+warp, 1<<lane, done)})
	}
}

// object is an mbarrier.
type object struct {
	arrived, done []message // of the open phase, and of the one before
	groups        map[*Block]uint32
}

func (b *Block) object(offset uint64) *object {
	o := b.objects[offset]
	if o == nil {
		o = &object{groups: map[*Block]uint32{}}
		if b.objects == nil {
			b.objects = map[uint64]*object{}
		}
		b.objects[offset] = o
	}
	return o
}

// ObjectInit begins an mbarrier of a block anew.
func (b *Block) ObjectInit(offset uint64) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	delete(b.objects, offset)
}

// ObjectArrive is an arrival of a lane at the mbarrier of block at.
func (b *Block) ObjectArrive(warp, lane int, at *Block, offset uint64, scope Scope, release bool) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	o := at.object(offset)
	told := b.warps[warp].fenced[lane]
	if release {
		told = []message{{b.origin, scope, b.snapshot(warp, lane)}}
		b.advance(warp, 1<<lane)
	}
	o.arrived = tellAll(o.arrived, told)
}

// ObjectCopies makes the mbarrier stand for the cp.async of a lane so far.
func (b *Block) ObjectCopies(warp, lane int, at *Block, offset uint64) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	if e := b.warps[warp].copies[lane].all; e != 0 {
		var c *clock
		o := at.object(offset)
		o.arrived = tell(o.arrived, message{b.origin, 0, view{all: c.plus(b.index, actorCopy/32+warp, 1<<lane, e)}})
	}
}

// ObjectWork is an asynchronous operation of a lane that completes on the mbarrier of block at.
func (b *Block) ObjectWork(op *Op, warp, lane int, at *Block, offset uint64, dst, src []Range) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	o := at.object(offset)
	group, ok := o.groups[b]
	if !ok {
		group = actorBarrier/32 + b.actors
		b.actors++
		o.groups[b] = group
	}
	b.l.epoch++
	b.work(op, warp, lane, 32*group, b.l.epoch, true, src, false)
	b.work(op, warp, lane, 32*group, b.l.epoch, true, dst, true)
	var c *clock
	o.arrived = tell(o.arrived, message{b.origin, 0, view{all: c.plus(b.index, int(group), 1<<lane, b.l.epoch)}})
}

// ObjectFlip ends the open phase of an mbarrier.
func (b *Block) ObjectFlip(offset uint64) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	o := b.object(offset)
	o.done, o.arrived = o.arrived, nil
}

// ObjectWait is a wait of a lane that has succeeded.
func (b *Block) ObjectWait(warp, lane int, at *Block, offset uint64, scope Scope, acquire bool) {
	b.l.c.mu.Lock()
	defer b.l.c.mu.Unlock()
	o := at.object(offset)
	left := o.done
	if acquire {
		left = b.hear(warp, lane, scope, o.done)
	}
	w := &b.warps[warp]
	w.signal().heard[lane] = tellAll(w.heard[lane], left)
}
