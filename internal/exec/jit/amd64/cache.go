package amd64

import (
	"slices"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// The vector registers of the cache.
const (
	poolStart = 8
	poolEnd   = 31 // zmm31 is the canonical NaN
)

// slot says what a vector register holds.
type slot struct {
	ref   ir.Ref // of the piece
	row   uint32
	n     uint8 // number of the piece in its row
	wide  bool  // constants: 64-bit elements
	used  bool
	dirty bool
	lazy  bool // f32 results whose NaNs are not canonical yet
	all   bool // written for all lanes, active or not
	stamp uint32
}

// predSlot says what a general register holds: a predicate's mask.
type predSlot struct {
	row   uint32
	used  bool
	dirty bool
	stamp uint32
}

var predRegs = [...]asm.GPR{asm.R9, asm.R10, asm.R11, asm.R14}

// cache is which values are in registers.
type cache struct {
	slots [poolEnd]slot
	preds [len(predRegs)]predSlot
	regs  [len(scalarRegs)]scalarSlot
	stamp uint32
}

func (c *cache) find(ref ir.Ref) (asm.Vec, bool) {
	for z := poolStart; z < poolEnd; z++ {
		if s := &c.slots[z]; s.used && s.ref == ref {
			return asm.Vec(z), true
		}
	}
	return 0, false
}

// pin ends the protection of the registers used so far.
func (g *gen) pin() { g.c.stamp++ }

func pieceRef(r ir.Ref, n int) ir.Ref { return ir.Ref{Off: r.Off + uint32(64*n), Sel: r.Sel} }

func rowMem(r ir.Ref) asm.Mem {
	if r.Sel == 1 {
		return asm.At(asm.R12, int32(r.Off))
	}
	return asm.At(asm.RBX, int32(r.Off))
}

// place finds the register for a piece: its home, if it has one.
func (g *gen) place(ref ir.Ref) asm.Vec {
	if z, ok := g.homes[ref]; ok {
		return z
	}
	return g.alloc()
}

// alloc finds a register, giving up the value that was not used for longest.
func (g *gen) alloc() asm.Vec {
	best := -1
	for z := poolStart; z < poolEnd; z++ {
		s := &g.c.slots[z]
		if g.homeReg[z] {
			continue
		}
		if !s.used {
			g.Dead(1<<z, 0)
			return asm.Vec(z)
		}
		if s.stamp != g.c.stamp && (best < 0 || s.stamp < g.c.slots[best].stamp) {
			best = z
		}
	}
	if best < 0 {
		panic(g.noCode(plan.WhyRegisters))
	}
	g.spill(asm.Vec(best))
	g.c.slots[best].used = false
	g.Dead(1<<best, 0)
	return asm.Vec(best)
}

// spill stores a register to its row when it is dirty.
func (g *gen) spill(z asm.Vec) {
	s := &g.c.slots[z]
	if !s.dirty {
		return
	}
	g.canon(z)
	s.dirty = false
	if s.ref.Sel == 3 {
		g.VM(asm.MovU32St, asm.X, z, 0, placeMem(g.v.Webs[s.row].At, 0))
		return
	}
	if s.ref.Sel == 0 {
		g.Keep(z, int32(s.ref.Off))
		return
	}
	g.VM(asm.MovU32St, asm.Z, z, 0, rowMem(s.ref))
}

// fill loads a register with a piece. On AVX2 an operation that uses it loads it.
func (g *gen) fill(z asm.Vec, ref ir.Ref) {
	if ref.Sel == 0 && g.Lowers() {
		g.Place(z, int32(ref.Off))
		return
	}
	g.VM(asm.MovU32, asm.Z, z, 0, rowMem(ref))
}

// renew prepares a register for a piece that is written whole.
func (g *gen) renew(z asm.Vec, ref ir.Ref) {
	if ref.Sel == 0 {
		g.Place(z, int32(ref.Off))
	}
}

// canon makes the NaNs of a piece canonical when that is due.
func (g *gen) canon(z asm.Vec) {
	if s := &g.c.slots[z]; s.lazy {
		k := g.base32(int(s.n))
		if s.all {
			k = 0
		}
		g.canonical(z, k)
		s.lazy = false
	}
}

// canonical replaces NaNs in z by the canonical one, in the lanes of mask register k (0: all).
func (g *gen) canonical(z asm.Vec, k asm.Mask) {
	g.VCmp(asm.CmpPS, asm.Z.Mask(k), asm.K7, z, z, asm.FloatUnord)
	g.V(asm.MovA32, asm.Z.Mask(asm.K7), z, 0, nanReg)
}

const nanReg = 31

// load returns a register with a piece; raw says that NaNs need not be canonical.
func (g *gen) load(ref ir.Ref, row uint32, n int, raw bool) asm.Vec {
	z, ok := g.c.find(ref)
	if !ok {
		z = g.place(ref)
		g.fill(z, ref)
		g.c.slots[z] = slot{ref: ref, row: row, n: uint8(n), used: true, all: g.full}
	}
	g.c.slots[z].stamp = g.c.stamp
	if !raw {
		g.canon(z)
	}
	return z
}

// operand is a source: a register, or a constant in memory for all lanes.
type operand struct {
	reg asm.Vec
	mem asm.Mem
	imm bool
	// of late loads: mem has a word for each lane
	whole bool
}

// constant returns a register with a constant in all lanes.
func (g *gen) constant(a *ir.Arg) asm.Vec {
	z, ok := g.c.find(a.Ref)
	if !ok {
		z = g.alloc()
		op := asm.BroadcastD
		if a.Class == ir.W64 {
			op = asm.BroadcastQ
		}
		g.VM(op, asm.Z, z, 0, rowMem(a.Ref))
		g.c.slots[z] = slot{ref: a.Ref, used: true, wide: a.Class == ir.W64}
	}
	g.c.slots[z].stamp = g.c.stamp
	return z
}

// reg returns a register with piece n of a source.
func (g *gen) reg(a *ir.Arg, n int) asm.Vec {
	if a.Kind == ir.Imm {
		return g.constant(a)
	}
	if w, ok := g.scalarWeb(a); ok {
		return g.materialize(w, n)
	}
	return g.load(pieceRef(a.Ref, n), a.Ref.Off, n, false)
}

// rawReg is reg for operations that treat all NaNs alike.
func (g *gen) rawReg(a *ir.Arg, n int) asm.Vec {
	if l := g.lateOf(a); l != nil {
		return g.lateReg(l, n)
	}
	if a.Kind == ir.Imm {
		return g.constant(a)
	}
	if w, ok := g.scalarWeb(a); ok {
		return g.materialize(w, n)
	}
	return g.load(pieceRef(a.Ref, n), a.Ref.Off, n, true)
}

// src is reg, but a constant stays in memory.
func (g *gen) src(a *ir.Arg, n int) operand {
	if a.Kind == ir.Imm {
		if z, ok := g.c.find(a.Ref); ok {
			g.c.slots[z].stamp = g.c.stamp
			return operand{reg: z}
		}
		return operand{mem: rowMem(a.Ref), imm: true}
	}
	if w, ok := g.scalarWeb(a); ok && g.v.Webs[w].Variation.Kind == plan.Uniform {
		if _, ok := g.c.find(scalarRef(w, 0)); !ok {
			g.inMemory(w)
			return operand{mem: placeMem(g.v.Webs[w].At, 0), imm: true}
		}
	}
	return operand{reg: g.reg(a, n)}
}

func (g *gen) rawSrc(a *ir.Arg, n int) operand {
	if l := g.lateOf(a); l != nil {
		return g.lateSource(l, n)
	}
	if _, ok := g.scalarWeb(a); ok || a.Kind == ir.Imm {
		return g.src(a, n)
	}
	return operand{reg: g.rawReg(a, n)}
}

// op3 writes op reg, vvvv, b.
func (g *gen) op3(op asm.Op, o asm.Opt, reg, vvvv asm.Vec, b operand) {
	if b.whole {
		g.VM(op, o, reg, vvvv, b.mem)
		return
	}
	if b.imm {
		g.VM(op, o.Broadcast(), reg, vvvv, b.mem)
		return
	}
	g.V(op, o, reg, vvvv, b.reg)
}

func (g *gen) op3i(op asm.Op, o asm.Opt, reg, vvvv asm.Vec, b operand, imm uint8) {
	if b.imm {
		g.VMI(op, o.Broadcast(), reg, vvvv, b.mem, imm)
		return
	}
	g.VI(op, o, reg, vvvv, b.reg, imm)
}

// comparePiece sets a mask to where a stands in a relation to b.
func (g *gen) comparePiece(op asm.CompareOp, o asm.Opt, d asm.Mask, a asm.Vec, b operand, p asm.Predicate) {
	if b.imm {
		g.VCmpM(op, o.Broadcast(), d, a, b.mem, p)
		return
	}
	g.VCmp(op, o, d, a, b.reg, p)
}

// dst returns the register for a piece of a destination and the masking with which it must be written.
func (g *gen) dst(d *ir.Arg, n int) (asm.Vec, asm.Opt) {
	if w, ok := g.scalarDef(d); ok {
		if n != 0 {
			panic(g.noCode(plan.WhyScalar)) // the template does not know of scalars
		}
		ref := scalarRef(w, 0)
		z, ok := g.c.find(ref)
		g.dropPieces(w)
		g.sdrop(w)
		if !ok {
			z = g.alloc()
		}
		g.c.slots[z] = slot{ref: ref, row: uint32(w), used: true, dirty: true, all: true, stamp: g.c.stamp}
		return z, asm.Z
	}
	k := g.destMask(d, n)
	ref := pieceRef(d.Ref, n)
	z, ok := g.c.find(ref)
	switch {
	case k != 0:
		z = g.load(ref, d.Ref.Off, n, false)
	case !ok:
		z = g.place(ref)
		g.renew(z, ref)
	}
	g.c.slots[z] = slot{ref: ref, row: d.Ref.Off, n: uint8(n), used: true, dirty: true, stamp: g.c.stamp, all: k == 0}
	return z, asm.Z.Mask(k)
}

// destMask is the mask register with which a piece of a destination is written, 0 for all lanes: those of lanes that do
// not run matter only where such lanes wait with the row's value.
func (g *gen) destMask(d *ir.Arg, n int) asm.Mask {
	if g.v != nil && g.op.Guard < 0 && !g.keeps(d.Ref.Off) {
		return 0
	}
	return g.mask(d.Class, n)
}

// keeps says whether lanes that do not run now may wait with a value in the row.
func (g *gen) keeps(row uint32) bool {
	return !g.full && (g.v == nil || g.v.Held.Has(g.a.Row(row)))
}

// lazyNaN says that the piece just written holds f32 results with NaNs of any kind.
func (g *gen) lazyNaN(z asm.Vec) {
	s := &g.c.slots[z]
	switch {
	case g.op.Guard >= 0 || g.v != nil && !s.all:
		g.canonical(z, g.mask(ir.W32, int(s.n)))
	default:
		s.lazy = true
	}
}

// mask returns the mask register for a piece, 0 when all lanes are written.
func (g *gen) mask(c ir.Class, n int) asm.Mask {
	shift := uint8(16 * n)
	if c == ir.W64 {
		shift = uint8(8 * n)
	}
	if g.op.Guard < 0 {
		if g.full {
			return 0
		}
		return asm.K1 + asm.Mask(shift/8)
	}
	if shift == 0 {
		return 5
	}
	if g.k6 != shift {
		g.KShiftRD(asm.K6, asm.K5, shift)
		g.k6 = shift
	}
	return 6
}

// base32 is the register of the split's own mask for a piece of a 32-bit row.
func (g *gen) base32(n int) asm.Mask {
	if g.full {
		return 0
	}
	return asm.Mask(1 + 2*n)
}

// forget drops a row from the cache; its frame row has been, or will be, written otherwise.
func (g *gen) forget(row uint32) {
	for z := poolStart; z < poolEnd; z++ {
		if s := &g.c.slots[z]; s.used && s.ref.Sel == 0 && s.row == row {
			s.used, s.dirty, s.lazy = false, false, false
		}
	}
	for i := range g.c.preds {
		if p := &g.c.preds[i]; p.used && p.row == row {
			p.used, p.dirty = false, false
		}
	}
}

// flushRow stores what the cache holds of a row.
func (g *gen) flushRow(row uint32) {
	if g.v != nil {
		if w := g.v.UseWeb(g.pc, row); w >= 0 && g.v.Webs[w].Variation.Scalar() {
			panic(g.noCode(plan.WhyScalar)) // it does not stand in its row
		}
	}
	for z := poolStart; z < poolEnd; z++ {
		if s := &g.c.slots[z]; s.used && s.ref.Sel == 0 && s.row == row {
			g.spill(asm.Vec(z))
		}
	}
}

// Predicates.

// predReg finds a general register for a predicate.
func (g *gen) predReg() int {
	best := -1
	n := len(g.c.preds)
	if g.v != nil {
		n = 2 // the others hold scalars
	}
	for i := range n {
		p := &g.c.preds[i]
		if !p.used {
			return i
		}
		if best < 0 || p.stamp < g.c.preds[best].stamp {
			best = i
		}
	}
	p := &g.c.preds[best]
	if p.dirty {
		g.St32(rowMem(ir.Ref{Off: p.row}), predRegs[best])
	}
	p.used, p.dirty = false, false
	return best
}

// predDest finds a general register for a predicate that is written, when all sources have been read: that of one which
// ends here needs not be stored.
func (g *gen) predDest() int {
	for i := range g.c.preds {
		if p := &g.c.preds[i]; p.used && slices.Contains(g.dies, p.row) && !g.keeps(p.row) {
			p.used, p.dirty = false, false
			return i
		}
	}
	return g.predReg()
}

// pred loads a predicate operand, negation applied, into a scratch register.
func (g *gen) pred(to asm.GPR, a *ir.Arg) {
	if a.Kind == ir.Imm {
		g.Ld32(to, rowMem(a.Ref))
	} else {
		g.predRow(to, a.Ref.Off)
	}
	if a.Neg {
		g.Not32(to)
	}
}

func (g *gen) predRow(to asm.GPR, row uint32) {
	for i := range g.c.preds {
		if p := &g.c.preds[i]; p.used && p.row == row {
			g.tick++
			p.stamp = g.tick
			g.Mov32(to, predRegs[i])
			return
		}
	}
	i := g.predReg()
	g.Ld32(predRegs[i], rowMem(ir.Ref{Off: row}))
	g.tick++
	g.c.preds[i] = predSlot{row: row, used: true, stamp: g.tick}
	g.Mov32(to, predRegs[i])
}

// setPred writes the operation's lanes of a predicate from a scratch register, which it changes. rcx is used.
func (g *gen) setPred(a *ir.Arg, from asm.GPR) {
	if a == nil || a.Kind != ir.Row {
		return
	}
	row := a.Ref.Off
	at := -1
	for i := range g.c.preds {
		if p := &g.c.preds[i]; p.used && p.row == row {
			at = i
		}
	}
	if g.op.Guard >= 0 || g.keeps(row) {
		// old ^ (old ^ new) & mask
		if at < 0 {
			at = g.predReg()
			g.Ld32(predRegs[at], rowMem(a.Ref))
		}
		g.Xor32(from, predRegs[at])
		g.laneMask(asm.RCX)
		g.And32(from, asm.RCX)
		g.Xor32(predRegs[at], from)
	} else {
		if at < 0 {
			at = g.predDest()
		}
		g.Mov32(predRegs[at], from)
	}
	g.tick++
	g.c.preds[at] = predSlot{row: row, used: true, dirty: true, stamp: g.tick}
}

// laneMask loads the lanes that execute the operation into a general register.
func (g *gen) laneMask(to asm.GPR) {
	switch {
	case g.op.Guard >= 0:
		g.KMovRD(to, asm.K5)
	case g.full:
		g.MovI32(to, 0xffffffff)
	default:
		g.Ld32(to, inContext(abi.OffMask))
	}
}
