package jit

import (
	"github.com/gocuda/cuda/internal/exec/jit/amd64asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// warpTemplates exchange values between lanes. Those with a member mask take a constant one.
var warpTemplates = map[optab.Opcode]template{optab.OpShfl: shflTemplate, optab.OpVote: voteTemplate, optab.OpBarWarp: barWarpTemplate, optab.OpWgmmaFence: barWarpTemplate, optab.OpActivemask: activeMaskTemplate,
	optab.OpMatch: matchTemplate, optab.OpRedux: reduxTemplate, optab.OpElect: electTemplate}

// together leaves for the interpreter unless all members that live stand here, so that none has to wait. A member mask in a register must be the same in all lanes.
// rax, rcx and rdx are used.
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
	live := inContext(offLive)
	if g.v != nil {
		live = amd64asm.At(amd64asm.RBX, g.lay.live)
	} else {
		g.CmpMI32(inContext(offReleased), 0)
		g.J(amd64asm.NE, slow)
	}
	if row {
		done := g.NewLabel()
		if !g.full || g.op.Guard >= 0 {
			g.laneMask(amd64asm.RCX)
			g.Test32(amd64asm.RCX, amd64asm.RCX)
			g.J(amd64asm.E, done)
		} else {
			g.MovI32(amd64asm.RCX, 0xffffffff)
		}
		for p := range 2 {
			g.VM(amd64asm.MovU32St, amd64asm.Z, g.reg(m, p), 0, inContext(laneIn(4)+int32(64*p)))
		}
		g.Bsf32(amd64asm.RDX, amd64asm.RCX)
		g.Ld32(amd64asm.RDX, amd64asm.Indexed(amd64asm.R15, amd64asm.RDX, 4, laneIn(4)))
		g.St32(inContext(offScratch), amd64asm.RDX)
		for p := range 2 {
			g.VMI(amd64asm.CmpD, amd64asm.Z.Mask(g.mask(ir.W32, p)).Broadcast(), 7, g.reg(m, p), inContext(offScratch), 4)
			g.KOrTestW(7, 7)
			g.J(amd64asm.NE, slow)
		}
		g.Bind(done)
	}
	if g.full && g.op.Guard < 0 {
		return
	}
	g.laneMask(amd64asm.RCX)
	if g.op.Guard >= 0 {
		// Lanes that are guarded off would have to be told from those that wait.
		g.CmpLd32(amd64asm.RCX, inContext(offMask))
		g.J(amd64asm.NE, slow)
	}
	g.Not32(amd64asm.RCX)
	g.AndLd32(amd64asm.RCX, live)
	switch {
	case row:
		g.AndLd32(amd64asm.RCX, inContext(offScratch))
	case m != nil:
		g.AndI32(amd64asm.RCX, int32(uint32(m.Bits)))
	}
	g.Test32(amd64asm.RCX, amd64asm.RCX)
	g.J(amd64asm.NE, slow)
}

// known says whether the members can be told.
func known(op *ir.Op) bool {
	m := op.Arg("membermask")
	return m == nil || m.Kind == ir.Imm && !m.Sym || m.Kind == ir.Row && m.Class == ir.W32
}

func shflTemplate(op *ir.Op) emitter {
	d, a, b, c := &op.Args[0], &op.Args[1], &op.Args[2], &op.Args[3]
	if known(op) && op.Match.Form.Sync && a.Reg() && a.Class == ir.W32 && (b.Kind == ir.Row || c.Kind == ir.Row) && (d.Kind == ir.None || d.Class == ir.W32) {
		return shflAny(op)
	}
	if !known(op) || b.Kind != ir.Imm || c.Kind != ir.Imm || !op.Match.Form.Sync || !a.Reg() || a.Class != ir.W32 || d.Kind == ir.Row && d.Class != ir.W32 {
		return nil
	}
	mode := op.Match.One("up", "down", "bfly", "idx")
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
			if g.v != nil && d.Ref != a.Ref && g.destMask(d, 0) == 0 {
				for p := range 2 {
					z, _ := g.dst(d, p)
					g.permute(z, r0, r1, &from[p])
					g.c.slots[z].lazy = lazy
				}
			} else {
				for p := range 2 {
					g.permute(uint8(p), r0, r1, &from[p])
				}
				if lazy && g.op.Guard >= 0 {
					g.canonical(0, 0)
					g.canonical(1, 0)
					lazy = false
				}
				for p := range 2 {
					z, o := g.dst(d, p)
					g.V(amd64asm.MovA32, o, z, 0, uint8(p))
					if lazy {
						g.lazyNaN(z)
					}
				}
			}
		}
		if d.Second != nil && d.Second.Kind == ir.Row {
			g.MovI32(amd64asm.RAX, inRange)
			g.setPred(d.Second, amd64asm.RAX)
		}
	}
}

// permute makes element i of z what element from[i] of registers a and b together is.
func (g *gen) permute(z, a, b uint8, from *[16]uint32) {
	if g.Lowers() {
		g.Permute(z, a, b, from)
		return
	}
	g.VL(amd64asm.MovU32, amd64asm.Z, z, 0, g.vector(*from))
	g.V(amd64asm.PermI2D, amd64asm.Z, z, a, b)
}

// lazyPiece says whether a register of the cache holds NaNs of any kind.
func (g *gen) lazyPiece(z uint8) bool { return g.c.slots[z].lazy }

// shflSource is the lane that lane l reads, itself when the source is out of range (PTX ISA, shfl.sync).
func shflSource(mode string, l, b, c int) (j int, ok bool) {
	bval, cval, seg := b&31, c&31, c>>8&31
	maxLane, minLane := l&seg|cval&^seg, l&seg
	switch mode {
	case "up":
		j = l - bval
		ok = j >= maxLane
	case "down":
		j = l + bval
		ok = j <= maxLane
	case "bfly":
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
	mode := op.Match.One("all", "any", "uni", "ballot")
	if !known(op) || !op.Match.Form.Sync || !a.Reg() || d.Kind != ir.Row {
		return nil
	}
	return func(g *gen) {
		g.together(op)
		g.pred(amd64asm.RAX, a)
		g.laneMask(amd64asm.RCX)
		g.And32(amd64asm.RAX, amd64asm.RCX)
		if mode == "ballot" {
			for p := range 2 {
				g.pin()
				z, o := g.dst(d, p)
				g.V(amd64asm.BroadcastDR, o, z, 0, amd64asm.RAX)
			}
			return
		}
		g.MovI32(amd64asm.RDX, 0)
		if mode == "uni" {
			// none, or all
			some := g.NewLabel()
			g.Test32(amd64asm.RAX, amd64asm.RAX)
			g.J(amd64asm.NE, some)
			g.Mov32(amd64asm.RAX, amd64asm.RCX)
			g.Bind(some)
		}
		if mode == "all" || mode == "uni" {
			g.Cmp32(amd64asm.RAX, amd64asm.RCX)
			g.Setcc(amd64asm.E, amd64asm.RDX)
		} else {
			g.Test32(amd64asm.RAX, amd64asm.RAX)
			g.Setcc(amd64asm.NE, amd64asm.RDX)
		}
		g.Neg32(amd64asm.RDX)
		g.setPred(d, amd64asm.RDX)
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
		g.laneMask(amd64asm.RAX)
		for p := range 2 {
			g.pin()
			z, o := g.dst(d, p)
			g.V(amd64asm.BroadcastDR, o, z, 0, amd64asm.RAX)
		}
	}
}

// shflAny is shfl with lanes that are not known before.
func shflAny(op *ir.Op) emitter {
	d, a, b, c := &op.Args[0], &op.Args[1], &op.Args[2], &op.Args[3]
	mode := op.Match.One("up", "down", "bfly", "idx")
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
			l.ld(amd64asm.RDX, 1)
			l.AndI32(amd64asm.RDX, 31)
			l.ld(amd64asm.RAX, 2)
			l.MovR(false, amd64asm.RCX, amd64asm.RAX)
			l.ShiftI(amd64asm.ScalarShr, false, amd64asm.RCX, 8)
			l.AndI32(amd64asm.RCX, 31) // seg
			l.AndI32(amd64asm.RAX, 31)
			l.MovR(false, amd64asm.R8, amd64asm.RCX)
			l.NotR(false, amd64asm.R8)
			l.RR(amd64asm.ArithAnd, false, amd64asm.RAX, amd64asm.R8) // cval &^ seg
			if mode == "idx" {
				l.RR(amd64asm.ArithAnd, false, amd64asm.RDX, amd64asm.R8) // bval &^ seg
			}
			l.RR(amd64asm.ArithAnd, false, amd64asm.RCX, amd64asm.RSI) // minLane
			l.RR(amd64asm.ArithOr, false, amd64asm.RAX, amd64asm.RCX)  // maxLane
			beyond := amd64asm.G
			switch mode {
			case "up":
				l.NegR(false, amd64asm.RDX)
				l.RR(amd64asm.ArithAdd, false, amd64asm.RDX, amd64asm.RSI)
				beyond = amd64asm.L
			case "down":
				l.RR(amd64asm.ArithAdd, false, amd64asm.RDX, amd64asm.RSI)
			case "bfly":
				l.RR(amd64asm.ArithXor, false, amd64asm.RDX, amd64asm.RSI)
			default:
				l.RR(amd64asm.ArithOr, false, amd64asm.RDX, amd64asm.RCX)
			}
			l.MovI32(amd64asm.RCX, 0)
			l.RR(amd64asm.ArithCmp, false, amd64asm.RDX, amd64asm.RAX)
			l.CmovR(beyond, false, amd64asm.RDX, amd64asm.RSI)
			if len(out) == 2 {
				l.cond(beyond^1, amd64asm.RAX)
				l.st(1, amd64asm.RAX)
			}
			l.AndI32(amd64asm.RDX, 31)
			l.Ld32(amd64asm.RAX, amd64asm.Indexed(amd64asm.R15, amd64asm.RDX, 4, laneIn(0)))
			if d.Kind == ir.Row {
				l.st(0, amd64asm.RAX)
			}
		})
		g.collect(out, false)
	}
}

// matchTemplate is match.any and match.all.
func matchTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	out := []*ir.Arg{d}
	all := op.Match.Has("all")
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
		g.eachLane(false, func() {
			// r8 gathers the lanes with the same value, rdx are those left
			l.MovI32(amd64asm.R8, 0)
			g.laneMask(amd64asm.RDX)
			loop, next := g.NewLabel(), g.NewLabel()
			l.ld(amd64asm.RAX, 0)
			l.Bind(loop)
			l.Bsf32(amd64asm.RCX, amd64asm.RDX)
			m := amd64asm.Indexed(amd64asm.R15, amd64asm.RCX, 4, laneIn(0))
			if wide {
				m = amd64asm.Indexed(amd64asm.R15, amd64asm.RCX, 8, laneIn(0))
			}
			l.RM(amd64asm.ArithCmp, wide, amd64asm.RAX, m)
			l.J(amd64asm.NE, next)
			l.Bts32(amd64asm.R8, amd64asm.RCX)
			l.Bind(next)
			l.Blsr32(amd64asm.RDX, amd64asm.RDX)
			l.J(amd64asm.NE, loop)
			if all {
				g.laneMask(amd64asm.RDX)
				l.MovI32(amd64asm.RCX, 0)
				l.MovI32(amd64asm.RAX, 1)
				l.RR(amd64asm.ArithCmp, false, amd64asm.R8, amd64asm.RDX)
				l.CmovR(amd64asm.NE, false, amd64asm.R8, amd64asm.RCX)
				l.CmovR(amd64asm.NE, false, amd64asm.RAX, amd64asm.RCX)
				if len(out) == 2 {
					l.st(1, amd64asm.RAX)
				}
			}
			if d.Kind == ir.Row {
				l.st(0, amd64asm.R8)
			}
		})
		g.collect(out, false)
	}
}

// reduxTemplate is redux.sync of integers.
func reduxTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	typ := op.Match.Type(0)
	what := op.Match.One("add", "min", "max", "and", "or", "xor")
	if !known(op) || d.Kind != ir.Row || !alike(32, d) || !a.Reg() || a.Class != ir.W32 || typ[0] == 'f' || what == "" {
		return nil
	}
	cc := amd64asm.B
	if typ == "s32" {
		cc = amd64asm.L
	}
	if what == "max" {
		cc = amd64asm.A
		if typ == "s32" {
			cc = amd64asm.G
		}
	}
	return func(g *gen) {
		g.together(op)
		g.stage(0, a)
		l := &laneLoop{g, []*ir.Arg{a}, nil}
		g.laneMask(amd64asm.RDX)
		done := g.NewLabel()
		g.Test32(amd64asm.RDX, amd64asm.RDX)
		g.J(amd64asm.E, done)
		g.Bsf32(amd64asm.RDX, amd64asm.RDX)
		g.Ld32(amd64asm.R8, amd64asm.Indexed(amd64asm.R15, amd64asm.RDX, 4, laneIn(0)))
		if what == "add" || what == "xor" {
			g.MovI32(amd64asm.R8, 0)
		}
		g.Bind(done)
		g.eachLane(false, func() {
			l.ld(amd64asm.RAX, 0)
			switch what {
			case "add":
				l.RR(amd64asm.ArithAdd, false, amd64asm.R8, amd64asm.RAX)
			case "and":
				l.RR(amd64asm.ArithAnd, false, amd64asm.R8, amd64asm.RAX)
			case "or":
				l.RR(amd64asm.ArithOr, false, amd64asm.R8, amd64asm.RAX)
			case "xor":
				l.RR(amd64asm.ArithXor, false, amd64asm.R8, amd64asm.RAX)
			default:
				l.RR(amd64asm.ArithCmp, false, amd64asm.RAX, amd64asm.R8)
				l.CmovR(cc, false, amd64asm.R8, amd64asm.RAX)
			}
		})
		for p := range g.each(d) {
			g.pin()
			z, o := g.dst(d, p)
			g.V(amd64asm.BroadcastDR, o, z, 0, amd64asm.R8)
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
		g.laneMask(amd64asm.RDX)
		g.MovI32(amd64asm.RAX, 0)
		g.Bsf32(amd64asm.RDX, amd64asm.RDX)
		g.Bts32(amd64asm.RAX, amd64asm.RDX)
		if d.Second != nil {
			g.setPred(d.Second, amd64asm.RAX)
		}
		if d.Kind == ir.Row {
			for p := range g.each(d) {
				g.pin()
				z, o := g.dst(d, p)
				g.V(amd64asm.BroadcastDR, o, z, 0, amd64asm.RDX)
			}
		}
	}
}
