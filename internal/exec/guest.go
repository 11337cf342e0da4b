package exec

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/ir"
)

// Guest is a warp that no scheduler knows: machine code of a BlockRunner has single operations done in Go through it.
// Registers and shared memory are the runner's.
type Guest struct {
	group Group
	cta   CTA
	warp  Warp
	act   Activation
	split Split
	grid  grid // nothing of it is used but what an access asks for
	ctas  [1]*CTA
	warps [1]*Split
}

// Begin makes it a warp of a launch without clusters. consts is the kernel's constant pool, shared the shared memory of
// the CTA that runs, with the reserved part.
func (g *Guest) Begin(l *Launch, consts, shared unsafe.Pointer) {
	k := l.Code.Kernel()
	g.ctas[0], g.warps[0] = &g.cta, &g.split
	g.group = Group{launch: l, grid: &g.grid, CTAs: g.ctas[:], Dims: [3]uint32{1, 1, 1}}
	g.cta.Launch, g.cta.Group, g.cta.Shared = l, &g.group, shared
	g.cta.Threads = l.Block[0] * l.Block[1] * l.Block[2]
	g.cta.SharedSize = l.sharedSize(k)
	g.act.Func, g.act.Top = k.Funcs[0], uint32(k.Funcs[0].Local.Size)
	g.split.Act = &g.act
	g.warp.CTA, g.warp.Act, g.warp.Cur, g.warp.splits = &g.cta, &g.act, &g.split, g.warps[:]
	g.warp.Base[1], g.warp.LocalSize, g.warp.LocalBase = consts, uint32(l.LocalSize()), nil
}

// End forgets the launch.
func (g *Guest) End() { *g = Guest{} }

// Enter makes it the warp of the given number of a CTA. frame has its registers, local its lane 0's local memory or is
// nil where the kernel has none; live are the lanes that have not exited, mask those that execute the operation.
func (g *Guest) Enter(cta [3]uint32, warp int, frame, local unsafe.Pointer, live, mask uint32) *Warp {
	g.cta.Index, g.group.Index = cta, cta
	w := &g.warp
	w.Index, w.Live, w.Base[0], w.Lane = warp, live, frame, -1
	if local != nil {
		w.LocalBase = local
	}
	g.act.Frame, g.act.Live, g.split.Mask = frame, live, mask
	return w
}

// Follow makes a checker's block that of the CTA that runs.
func (g *Guest) Follow(b *checker.Block) { g.cta.check = b }

// Speak makes it a warp that the checker is told of.
func (g *Guest) Speak(cta [3]uint32, warp int) *Warp {
	g.cta.Index, g.group.Index = cta, cta
	g.warp.Index = warp
	return &g.warp
}

// Missed is the lane whose access failed at an address at which there is no memory, -1 for none, and the address that
// the kernel gave.
func (g *Guest) Missed(addr uint64) (lane int, at uint64) {
	return g.warp.Lane, g.warp.missed(addr, false).Addr
}

// sharedSize is the shared memory of a CTA: the kernel's and the launch's, in the granule that the hardware hands out,
// to the byte (recorded), and the reserved part.
func (l *Launch) sharedSize(k *ir.Kernel) uint32 {
	return ir.ReservedShared + (k.SharedSize+l.Shared+127)&^127
}
