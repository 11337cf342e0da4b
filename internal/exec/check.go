package exec

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/ir"
)

// What Launch.Check is told by the scheduler: who has come to a barrier, and who goes on. Engines tell it of the rest.

// Check is the checker's view of the CTA, nil without one.
func (c *CTA) Check() *checker.Block { return c.check }

// Follow has a CTA that has not run yet go on as a block that the checker knows.
func (c *CTA) Follow(b *checker.Block) {
	if c.check != nil {
		c.check.End()
	}
	c.check = b
}

// Init is what the CTA knows of memory that nobody has written, nil without that check.
func (c *CTA) Init() *checker.InitBlock { return c.init }

// beginInit is for a block that begins.
func (c *CTA) beginInit() {
	l := c.Launch.Init
	if l == nil {
		c.init = nil
		return
	}
	if c.init.Of(l) {
		c.init.Next(c.Index)
	} else {
		c.init = l.Block(c.Index, c.Launch.Block)
	}
	for _, w := range c.Warps {
		w.Undefined = nil
	}
}

// checkBarrier tells of the end of a barrier's phase, before the splits that wait there go on.
func (c *CTA) checkBarrier(id int) {
	waited := make([]uint32, len(c.Warps))
	for i, w := range c.Warps {
		if !w.counted[id] {
			continue
		}
		for _, s := range w.splits {
			if s.wait == waitBarrier && int(s.barrier) == id {
				waited[i] |= s.Mask
			}
		}
	}
	c.check.BarrierDone(id, waited)
}

// Partners are the lanes that wait at a bar.warp.sync of their own with the same member mask and have been let go with
// those that go on now.
func (w *Warp) Partners(mask, lanes uint32) (partners uint32) {
	for l := range w.Members {
		if m := uint32(1) << l; mask&w.release&^lanes&m != 0 && w.Members[l] == mask {
			partners |= m
		}
	}
	return partners
}

// Order is the order in which blocks and warps get their turns where several may; results of kernels without races do
// not depend on it.
type Order struct {
	Reverse bool
	Seed    uint64 // not 0: an order by chance
}

// place is which of n comes at a turn.
func (o Order) place(turn, n uint64) uint64 {
	switch {
	case o.Seed != 0 && n > 1:
		step := o.Seed%n | 1
		for gcd(step, n) != 1 {
			step += 2
		}
		return (turn%n*(step%n) + o.Seed>>32%n) % n
	case o.Reverse:
		return n - 1 - turn
	}
	return turn
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// inOrder is the index of the group that takes the turn of the group at a place.
func (g *grid) inOrder(at uint64, index [3]uint32) [3]uint32 {
	if g.l.Order == (Order{}) {
		return index
	}
	at = g.l.Order.place(at, g.total)
	x, y := uint64(g.groups[0]), uint64(g.groups[1])
	return [3]uint32{uint32(at % x), uint32(at / x % y), uint32(at / x / y)}
}

// Places are the operations of a kernel as numbers, function after function. It implements checker.Program.
type Places struct {
	k     *ir.Kernel
	first []uint32 // of each function
}

// NewPlaces numbers the operations of a kernel.
func NewPlaces(k *ir.Kernel) *Places {
	p := &Places{k: k}
	n := uint32(0)
	for _, f := range k.Funcs {
		p.first = append(p.first, n)
		n += uint32(len(f.Ops))
	}
	return p
}

// Site is the number of an operation.
func (p *Places) Site(f int, pc int) uint32 { return p.first[f] + uint32(pc) }

// Name implements checker.Program.
func (p *Places) Name() string { return p.k.Name }

// Place implements checker.Program.
func (p *Places) Place(site uint32) (at checker.Place) {
	i := len(p.first) - 1
	for p.first[i] > site {
		i--
	}
	f := p.k.Funcs[i]
	return lineOf(f, &f.Ops[site-p.first[i]])
}

// lineOf is where an operation of f stands.
func lineOf(f *ir.Func, op *ir.Op) checker.Place {
	of := op.Text(f)
	return checker.Place{Func: of.Name, Line: op.Line, Source: of.Files[int(op.Loc.File)], SourceLine: op.Loc.Line}
}

// Trace is told of an access before it is made: p is where the address lies in the host's memory.
type Trace func(space ir.Space, lane int, addr uint64, p unsafe.Pointer, size uint32, write bool)

func (w *Warp) traced(space ir.Space, lane int, addr uint64, size, align uint32, write bool) unsafe.Pointer {
	f := w.Trace
	w.Trace = nil // a fault of Ptr leaves it so
	p := w.Ptr(space, lane, addr, size, align, write)
	f(space, lane, addr, p, size, write)
	w.Trace = f
	return p
}

// Shared resolves an address for a checker: the CTA whose shared memory it names and the offset there, or no CTA and an
// address of global memory. ok is false for other spaces, and for addresses that fault.
func (w *Warp) Shared(space ir.Space, addr uint64) (c *CTA, at uint64, ok bool) {
	switch space {
	case ir.Global:
		return nil, addr, true
	case ir.Generic:
		m := w.CTA.Launch.Mem
		if off := addr - m.Base; off < m.Special {
			if off -= m.SharedOff; off < sharedWindow {
				return w.Shared(ir.SharedCluster, off)
			}
			return nil, 0, false
		}
		return nil, addr, true
	case ir.Shared, ir.SharedCluster:
		if rank := addr >> 24; rank < uint64(len(w.CTA.Group.CTAs)) {
			return w.CTA.Group.CTAs[rank], addr & (sharedWindow/16 - 1), true
		}
	}
	return nil, 0, false
}
