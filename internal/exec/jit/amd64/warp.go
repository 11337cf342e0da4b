package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// together leaves for the interpreter unless all members that live stand here, so that none has to wait. A member mask
// in a register must be the same in all lanes. rax, rcx and rdx are used.
func (g *gen) together(op *ir.Op) {
	m := op.Arg("membermask")
	row := m != nil && m.Kind == ir.Row
	if row {
		g.pin()
		for p := range 2 { // into registers first: what follows must not change the cache
			g.reg(m, p)
		}
	}
	slow := g.slow()
	live := inContext(abi.OffLive)
	if g.v != nil {
		live = asm.At(asm.RBX, g.lay.Live)
	} else {
		g.CmpMI32(inContext(abi.OffReleased), 0)
		g.J(asm.NE, slow)
	}
	if row {
		done := g.NewLabel()
		if !g.full || g.op.Guard >= 0 {
			g.laneMask(asm.RCX)
			g.Test32(asm.RCX, asm.RCX)
			g.J(asm.E, done)
		} else {
			g.MovI32(asm.RCX, 0xffffffff)
		}
		for p := range 2 {
			g.VM(asm.MovU32St, asm.Z, g.reg(m, p), 0, inContext(laneIn(4)+int32(64*p)))
		}
		g.Bsf32(asm.RDX, asm.RCX)
		g.Ld32(asm.RDX, asm.Indexed(asm.R15, asm.RDX, 4, laneIn(4)))
		g.St32(inContext(abi.OffScratch), asm.RDX)
		for p := range 2 {
			g.VCmpM(asm.CmpD, asm.Z.Mask(g.mask(ir.W32, p)).Broadcast(), asm.K7, g.reg(m, p), inContext(abi.OffScratch),
				asm.CmpNE)
			g.KOrTestW(asm.K7, asm.K7)
			g.J(asm.NE, slow)
		}
		g.Bind(done)
	}
	if g.full && g.op.Guard < 0 {
		return
	}
	g.laneMask(asm.RCX)
	if g.op.Guard >= 0 {
		// Lanes that are guarded off would have to be told from those that wait.
		g.CmpLd32(asm.RCX, inContext(abi.OffMask))
		g.J(asm.NE, slow)
	}
	if row || m != nil && uint32(m.Bits) != 0xffffffff { // a lane that its mask does not name may fault
		g.Mov32(asm.RDX, asm.RCX)
		if row {
			g.AndLd32(asm.RDX, inContext(abi.OffScratch))
		} else {
			g.AndI32(asm.RDX, int32(uint32(m.Bits)))
		}
		g.Cmp32(asm.RDX, asm.RCX)
		g.J(asm.NE, slow)
	}
	g.Not32(asm.RCX)
	g.AndLd32(asm.RCX, live)
	switch {
	case row:
		g.AndLd32(asm.RCX, inContext(abi.OffScratch))
	case m != nil:
		g.AndI32(asm.RCX, int32(uint32(m.Bits)))
	}
	g.Test32(asm.RCX, asm.RCX)
	g.J(asm.NE, slow)
}

// known says whether the members can be told.
func known(op *ir.Op) bool {
	m := op.Arg("membermask")
	return m == nil || m.Kind == ir.Imm && !m.Sym || m.Kind == ir.Row && m.Class == ir.W32
}

func shflTemplate(op *ir.Op) emitter {
	d, a, b, c := &op.Args[0], &op.Args[1], &op.Args[2], &op.Args[3]
	if known(op) && op.Sync() && a.Reg() && a.Class == ir.W32 && (b.Kind == ir.Row || c.Kind == ir.Row) &&
		(d.Kind == ir.None || d.Class == ir.W32) {
		return shflAny(op)
	}
	if !known(op) || b.Kind != ir.Imm || c.Kind != ir.Imm || !op.Sync() || !a.Reg() || a.Class != ir.W32 ||
		d.Kind == ir.Row && d.Class != ir.W32 {
		return nil
	}
	mode := op.Mods().Shuffle
	var from [2][16]uint32
	inRange := uint32(0)
	for l := range 32 {
		j, ok := shflSource(mode, l, int(uint32(b.Bits)), int(uint32(c.Bits)))
		from[l/16][l%16] = uint32(j)
		if ok {
			inRange |= 1 << l
		}
	}
	return func(g *gen) {
		g.together(op)
		if d.Kind == ir.Row {
			g.pin()
			r0, r1 := g.rawReg(a, 0), g.rawReg(a, 0)
			if a.Kind == ir.Row {
				r1 = g.rawReg(a, 1)
			}
			lazy := g.lazyPiece(r0) || g.lazyPiece(r1) // NaNs stay as they are
			if lazy && g.v != nil && !g.full {
				g.canon(r0)
				g.canon(r1)
				lazy = false
			}
			if !g.full || g.op.Guard >= 0 { // lanes that are absent give 0
				for p, r := range []asm.Vec{r0, r1} {
					if k := g.mask(ir.W32, p); k != 0 {
						g.V(asm.MovA32, asm.Z.Mask(k).Zeroing(), asm.Vec(2+p), 0, r)
					} else {
						g.V(asm.MovA32, asm.Z, asm.Vec(2+p), 0, r)
					}
				}
				r0, r1 = 2, 3
			}
			if g.v != nil && d.Ref != a.Ref && g.destMask(d, 0) == 0 {
				for p := range 2 {
					z, _ := g.dst(d, p)
					g.permute(z, r0, r1, &from[p])
					g.c.slots[z].lazy = lazy
				}
			} else {
				for p := range 2 {
					g.permute(asm.Vec(p), r0, r1, &from[p])
				}
				if lazy && g.op.Guard >= 0 {
					g.canonical(0, asm.K0)
					g.canonical(1, asm.K0)
					lazy = false
				}
				for p := range 2 {
					z, o := g.dst(d, p)
					g.V(asm.MovA32, o, z, 0, asm.Vec(p))
					if lazy {
						g.lazyNaN(z)
					}
				}
			}
		}
		if d.Second != nil && d.Second.Kind == ir.Row {
			g.MovI32(asm.RAX, inRange)
			g.setPred(d.Second, asm.RAX)
		}
	}
}

// permute makes element i of z what element from[i] of registers a and b together is.
func (g *gen) permute(z, a, b asm.Vec, from *[16]uint32) {
	if g.Lowers() {
		g.Permute(z, a, b, from)
		return
	}
	g.VL(asm.MovU32, asm.Z, z, 0, g.vector(*from))
	g.V(asm.PermI2D, asm.Z, z, a, b)
}

// lazyPiece says whether a register of the cache holds NaNs of any kind.
func (g *gen) lazyPiece(z asm.Vec) bool { return g.c.slots[z].lazy }

// shflSource is the lane that lane l reads, itself when the source is out of range (PTX ISA, shfl.sync).
func shflSource(mode optab.Shuffle, l, b, c int) (j int, ok bool) {
	bval, cval, seg := b&31, c&31, c>>8&31
	maxLane, minLane := l&seg|cval&^seg, l&seg
	switch mode {
	case optab.ShuffleUp:
		j = l - bval
		ok = j >= maxLane
	case optab.ShuffleDown:
		j = l + bval
		ok = j <= maxLane
	case optab.ShuffleBfly:
		j = l ^ bval
		ok = j <= maxLane
	default:
		j = minLane | bval&^seg
		ok = j <= maxLane
	}
	if !ok {
		j = l
	}
	return j & 31, ok
}

func voteTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	mode := op.Mods().Vote
	if !known(op) || !op.Sync() || !a.Reg() || d.Kind != ir.Row {
		return nil
	}
	return func(g *gen) {
		g.together(op)
		g.pred(asm.RAX, a)
		g.laneMask(asm.RCX)
		g.And32(asm.RAX, asm.RCX)
		if mode == optab.VoteBallot {
			for p := range 2 {
				g.pin()
				z, o := g.dst(d, p)
				g.VR(asm.BroadcastDR, o, z, asm.RAX)
			}
			return
		}
		g.MovI32(asm.RDX, 0)
		if mode == optab.VoteUni {
			// none, or all
			some := g.NewLabel()
			g.Test32(asm.RAX, asm.RAX)
			g.J(asm.NE, some)
			g.Mov32(asm.RAX, asm.RCX)
			g.Bind(some)
		}
		if mode == optab.VoteAll || mode == optab.VoteUni {
			g.Cmp32(asm.RAX, asm.RCX)
			g.Setcc(asm.E, asm.RDX)
		} else {
			g.Test32(asm.RAX, asm.RAX)
			g.Setcc(asm.NE, asm.RDX)
		}
		g.Neg32(asm.RDX)
		g.setPred(d, asm.RDX)
	}
}

func barWarpTemplate(op *ir.Op) emitter {
	if !known(op) {
		return nil
	}
	return func(g *gen) { g.together(op) }
}

func activeMaskTemplate(op *ir.Op) emitter {
	d := &op.Args[0]
	if d.Kind != ir.Row || d.Class != ir.W32 {
		return nil
	}
	return func(g *gen) {
		g.laneMask(asm.RAX)
		for p := range 2 {
			g.pin()
			z, o := g.dst(d, p)
			g.VR(asm.BroadcastDR, o, z, asm.RAX)
		}
	}
}

// shflAny is shfl with lanes that are not known before.
func shflAny(op *ir.Op) emitter {
	d, a, b, c := &op.Args[0], &op.Args[1], &op.Args[2], &op.Args[3]
	mode := op.Mods().Shuffle
	in := []*ir.Arg{a, b, c}
	out := []*ir.Arg{d}
	if d.Second != nil {
		out = append(out, d.Second)
	}
	if !laneable(in, out) || !alike(32, b, c) {
		return nil
	}
	return func(g *gen) {
		g.together(op)
		for i, x := range in {
			g.stage(i, x)
		}
		g.clearPreds(out)
		l := &laneLoop{g, in, out}
		g.eachLane(false, func() {
			// rax source, rcx segment mask or limit, rdx source's number
			l.ld(asm.RDX, 1)
			l.AndI32(asm.RDX, 31)
			l.ld(asm.RAX, 2)
			l.MovR(false, asm.RCX, asm.RAX)
			l.ShiftI(asm.ScalarShr, false, asm.RCX, 8)
			l.AndI32(asm.RCX, 31) // seg
			l.AndI32(asm.RAX, 31)
			l.MovR(false, asm.R8, asm.RCX)
			l.NotR(false, asm.R8)
			l.RR(asm.ArithAnd, false, asm.RAX, asm.R8) // cval &^ seg
			if mode == optab.ShuffleIdx {
				l.RR(asm.ArithAnd, false, asm.RDX, asm.R8) // bval &^ seg
			}
			l.RR(asm.ArithAnd, false, asm.RCX, asm.RSI) // minLane
			l.RR(asm.ArithOr, false, asm.RAX, asm.RCX)  // maxLane
			beyond := asm.G
			switch mode {
			case optab.ShuffleUp:
				l.NegR(false, asm.RDX)
				l.RR(asm.ArithAdd, false, asm.RDX, asm.RSI)
				beyond = asm.L
			case optab.ShuffleDown:
				l.RR(asm.ArithAdd, false, asm.RDX, asm.RSI)
			case optab.ShuffleBfly:
				l.RR(asm.ArithXor, false, asm.RDX, asm.RSI)
			default:
				l.RR(asm.ArithOr, false, asm.RDX, asm.RCX)
			}
			l.MovI32(asm.RCX, 0)
			l.RR(asm.ArithCmp, false, asm.RDX, asm.RAX)
			l.CmovR(beyond, false, asm.RDX, asm.RSI)
			if len(out) == 2 {
				l.cond(beyond^1, asm.RAX)
				l.st(1, asm.RAX)
			}
			l.AndI32(asm.RDX, 31)
			l.Ld32(asm.RAX, asm.Indexed(asm.R15, asm.RDX, 4, laneIn(0)))
			if !g.full || g.op.Guard >= 0 { // lanes that are absent give 0
				g.laneMask(asm.R8)
				l.Bt32(asm.R8, asm.RDX)
				l.CmovR(asm.AE, false, asm.RAX, asm.RCX)
			}
			if d.Kind == ir.Row {
				l.st(0, asm.RAX)
			}
		})
		g.collect(out, false)
	}
}

// matchTemplate is match.any and match.all.
func matchTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	out := []*ir.Arg{d}
	all := op.Mods().Vote == optab.VoteAll
	if all && d.Second != nil {
		out = append(out, d.Second)
	}
	in := []*ir.Arg{a}
	if !known(op) || !laneable(in, out) || d.Kind == ir.Row && d.Class != ir.W32 {
		return nil
	}
	wide := a.Class == ir.W64
	return func(g *gen) {
		g.together(op)
		g.stage(0, a)
		g.clearPreds(out)
		l := &laneLoop{g, in, out}
		if !all && !wide && d.Kind == ir.Row {
			g.matchWords(l, a)
			g.collect(out, false)
			return
		}
		g.eachLane(false, func() {
			// r8 gathers the lanes with the same value, rdx are those left
			l.MovI32(asm.R8, 0)
			g.laneMask(asm.RDX)
			loop, next := g.NewLabel(), g.NewLabel()
			l.ld(asm.RAX, 0)
			l.Bind(loop)
			l.Bsf32(asm.RCX, asm.RDX)
			m := asm.Indexed(asm.R15, asm.RCX, 4, laneIn(0))
			if wide {
				m = asm.Indexed(asm.R15, asm.RCX, 8, laneIn(0))
			}
			l.RM(asm.ArithCmp, wide, asm.RAX, m)
			l.J(asm.NE, next)
			l.Bts32(asm.R8, asm.RCX)
			l.Bind(next)
			l.Blsr32(asm.RDX, asm.RDX)
			l.J(asm.NE, loop)
			if all {
				g.laneMask(asm.RDX)
				l.MovI32(asm.RCX, 0)
				l.MovI32(asm.RAX, 1)
				l.RR(asm.ArithCmp, false, asm.R8, asm.RDX)
				l.CmovR(asm.NE, false, asm.R8, asm.RCX)
				l.CmovR(asm.NE, false, asm.RAX, asm.RCX)
				if len(out) == 2 {
					l.st(1, asm.RAX)
				}
			}
			if d.Kind == ir.Row {
				l.st(0, asm.R8)
			}
		})
		g.collect(out, false)
	}
}

// matchWords is match.any of words that are staged: each lane's is compared with all at once.
func (g *gen) matchWords(l *laneLoop, a *ir.Arg) {
	g.pin()
	lower, upper := g.reg(a, 0), g.reg(a, 1)
	some := !g.full || g.op.Guard >= 0
	if some {
		g.laneMask(asm.RDX)
	}
	g.eachLane(false, func() {
		m := laneMem(laneIn(0), ir.W32)
		l.VCmpM(asm.CmpD, asm.Z.Broadcast(), asm.K0, lower, m, asm.CmpEQ)
		l.VCmpM(asm.CmpD, asm.Z.Broadcast(), asm.K7, upper, m, asm.CmpEQ)
		l.KMovPair(asm.RAX, asm.RCX, asm.K0, asm.K7)
		if some {
			l.And32(asm.RAX, asm.RDX)
		}
		l.st(0, asm.RAX)
	})
}

// reduxTemplate is redux.sync of integers.
func reduxTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	typ := op.Type(0)
	what := op.Mods().Func
	if !known(op) || d.Kind != ir.Row || !alike(32, d) || !a.Reg() || a.Class != ir.W32 || typ == optab.F32 ||
		what == optab.NoFunc {
		return nil
	}
	cc := asm.B
	if typ == optab.S32 {
		cc = asm.L
	}
	if what == optab.FuncMax {
		cc = asm.A
		if typ == optab.S32 {
			cc = asm.G
		}
	}
	return func(g *gen) {
		g.together(op)
		g.stage(0, a)
		l := &laneLoop{g, []*ir.Arg{a}, nil}
		g.laneMask(asm.RDX)
		done := g.NewLabel()
		g.Test32(asm.RDX, asm.RDX)
		g.J(asm.E, done)
		g.Bsf32(asm.RDX, asm.RDX)
		g.Ld32(asm.R8, asm.Indexed(asm.R15, asm.RDX, 4, laneIn(0)))
		if what == optab.FuncAdd || what == optab.FuncXor {
			g.MovI32(asm.R8, 0)
		}
		g.Bind(done)
		g.eachLane(false, func() {
			l.ld(asm.RAX, 0)
			switch what {
			case optab.FuncAdd:
				l.RR(asm.ArithAdd, false, asm.R8, asm.RAX)
			case optab.FuncAnd:
				l.RR(asm.ArithAnd, false, asm.R8, asm.RAX)
			case optab.FuncOr:
				l.RR(asm.ArithOr, false, asm.R8, asm.RAX)
			case optab.FuncXor:
				l.RR(asm.ArithXor, false, asm.R8, asm.RAX)
			default:
				l.RR(asm.ArithCmp, false, asm.RAX, asm.R8)
				l.CmovR(cc, false, asm.R8, asm.RAX)
			}
		})
		for p := range g.each(d) {
			g.pin()
			z, o := g.dst(d, p)
			g.VR(asm.BroadcastDR, o, z, asm.R8)
		}
	}
}

// electTemplate is elect.sync: the leader is the lowest lane.
func electTemplate(op *ir.Op) emitter {
	d := &op.Args[0]
	if !known(op) || d.Kind == ir.Row && d.Class != ir.W32 || d.Kind != ir.Row && d.Kind != ir.None {
		return nil
	}
	return func(g *gen) {
		g.together(op)
		g.laneMask(asm.RDX)
		g.MovI32(asm.RAX, 0)
		g.Bsf32(asm.RDX, asm.RDX)
		g.Bts32(asm.RAX, asm.RDX)
		if d.Second != nil {
			g.setPred(d.Second, asm.RAX)
		}
		if d.Kind == ir.Row {
			for p := range g.each(d) {
				g.pin()
				z, o := g.dst(d, p)
				g.VR(asm.BroadcastDR, o, z, asm.RDX)
			}
		}
	}
}
