package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Memory accesses of CTA code whose addresses are scalars: lanes stand side by side, at one place, or at a constant
// distance.

// ahead is how many bytes before their use lines are asked for: warps that follow each other mostly load what follows.
const ahead = 4096

// addressCheck names an address that was checked, addressLimit what for.
type addressCheck struct {
	web   int32
	half  int8
	space ir.Space
}

type addressLimit struct {
	align uint8
	high  int32
}

func (g *gen) uncheck(w int32) {
	if g.noted == w+1 {
		g.noted = 0
	}
	for h := range int8(2) {
		for _, s := range []ir.Space{ir.Global, ir.Shared} {
			delete(g.checked, addressCheck{w, h, s})
		}
	}
}

// scalarAddress returns the web of an address that is a scalar with which the access can be done.
func (g *gen) scalarAddress(ac *plan.Access) (w int32, ok bool) {
	if g.v == nil || ac.Base == nil || ac.Base.Kind != ir.Row || g.op.Guard >= 0 || g.v.MayWrap[g.pc] {
		return 0, false
	}
	if w, ok = g.scalarWeb(ac.Base); !ok {
		return 0, false
	}
	s := g.v.Webs[w].Variation
	low, high := s.Span()
	switch {
	case s.Stride%(1<<ac.Align) != 0, s.Skew%(1<<ac.Align) != 0:
		return 0, false
	case low < 0 && !ac.Global(), ac.ElemSize < 4 && s.Stride != int64(ac.ElemSize) && s.Kind != plan.Uniform:
		return 0, false
	case high+s.Stride+int64(ac.Disp)+64 >= plan.Slack || low+s.Stride+int64(ac.Disp) <= -plan.Slack:
		return 0, false
	}
	return w, true
}

// checkBase leaves for slow unless the base in r is good for the access. rcx and rdx are used.
func (g *gen) checkBase(ac *plan.Access, w int32, half int, r asm.GPR, slow asm.Label) {
	x := &g.v.Webs[w]
	space := ir.Global
	if !ac.Global() {
		space = ir.Shared
	}
	key := addressCheck{w, int8(half), space}
	have, ok := g.checked[key]
	if g.checked == nil {
		g.checked = map[addressCheck]addressLimit{}
	}
	inside, aligned := g.shared(ac)
	if ac.Global() {
		if !ok {
			g.MovR(true, asm.RCX, r)
			g.SubLd(asm.RCX, inContext(abi.OffLow))
			g.CmpLd(asm.RCX, inContext(abi.OffSpan))
			g.J(asm.A, slow)
		}
	} else if need := g.reach(ac, w); !inside && have.high < need {
		have.high = need
		stride := int32(x.Variation.Stride)
		_, most := x.Variation.Span()
		// up to the highest lane that runs, of a half
		highest := func(half int, first int32) {
			none := g.NewLabel()
			g.Ld32(asm.RDX, inContext(abi.OffMask))
			switch {
			case x.Variation.Linear():
			case half == 0:
				g.AndI32(asm.RDX, 0xffff)
				g.J(asm.E, none)
			default:
				g.ShrI32(asm.RDX, 16)
				g.J(asm.E, none)
			}
			g.Bsr32(asm.RDX, asm.RDX)
			g.ImulI(true, asm.RDX, asm.RDX, stride)
			g.RR(asm.ArithAdd, true, asm.RDX, r)
			g.Ld32(asm.RCX, inContext(abi.OffSharedTop))
			g.RI(asm.ArithSub, true, asm.RCX, need-1+first)
			g.J(asm.S, slow)
			g.RR(asm.ArithCmp, true, asm.RDX, asm.RCX)
			g.J(asm.A, slow)
			g.rejoin(none, 0)
		}
		switch {
		case g.full || most == 0:
			g.Ld32(asm.RCX, inContext(abi.OffSharedTop))
			g.RI(asm.ArithSub, true, asm.RCX, need-1+int32(most))
			g.J(asm.S, slow)
			g.RR(asm.ArithCmp, true, r, asm.RCX)
			g.J(asm.A, slow)
		default:
			highest(half, 0)
			if x.Variation.Skew != 0 {
				highest(1, int32(x.Variation.Lane16()))
			}
		}
	}
	if have.align < ac.Align && !aligned {
		g.TestI32(r, 1<<ac.Align-1)
		g.J(asm.NE, slow)
		have.align = ac.Align
	}
	g.checked[key] = have
}

// reach is how far behind its base accesses of the rest of the block go that use an address.
func (g *gen) reach(ac *plan.Access, w int32) int32 {
	high := ac.Disp + int32(ac.Total)
	end := g.a.Blocks[g.v.InBlock[g.pc]].End
	for i := g.pc + 1; i < end; i++ {
		op := &g.f.Ops[i]
		if op.Ctl != ir.Plain {
			continue
		}
		for j := range op.Args {
			a := &op.Args[j]
			if a.Kind != ir.Addr || a.Space != ir.Shared || a.Base == nil || a.Base.Kind != ir.Row ||
				g.v.UseWeb(i, a.Base.Ref.Off) != w || op.Guard >= 0 {
				continue
			}
			if other, ok := plan.AccessOf(op, a, &op.Args[plan.AccessValue(op, j)]); ok {
				high = max(high, other.Disp+int32(other.Total))
			}
		}
		for _, d := range g.v.Ops[i].Defs {
			if d.Web == w {
				return high
			}
		}
	}
	return high
}

// scalarBases checks a scalar address and returns its bases' registers; rsi holds shared memory's start.
func (g *gen) scalarBases(ac *plan.Access, w int32) (bases [2]asm.GPR, n int) {
	x := &g.v.Webs[w]
	n = 1
	if x.Variation.Halves {
		n = 2
	}
	for h := range n {
		bases[h] = g.sreg(w, h)
	}
	slow := g.slow()
	for h := range n {
		g.checkBase(ac, w, h, bases[h], slow)
	}
	if ac.Global() {
		if g.noted != w+1 {
			for h := range n {
				g.St(inContext(abi.OffAddr+int32(8*h)), bases[h])
			}
			g.noted = w + 1
		}
		g.StI32(inContext(abi.OffOp), uint32(g.pc)|abi.AccessAffine<<24)
	} else {
		g.holdShared()
	}
	return bases, n
}

// holdShared puts shared memory's start into rsi.
func (g *gen) holdShared() {
	if !g.Holds(asm.RSI) {
		g.Ld(asm.RSI, inContext(abi.OffShared))
		g.Hold(asm.RSI)
	}
}

// element is the address of lane 0's element of a half, disp bytes on.
func (g *gen) element(ac *plan.Access, w int32, bases [2]asm.GPR, n, half int, disp int32) asm.Mem {
	r := bases[0]
	disp += ac.Disp
	if half == 1 {
		if n == 2 {
			r = bases[1]
		} else {
			disp += int32(g.v.Webs[w].Variation.Lane16())
		}
	}
	if ac.Global() {
		return asm.At(r, disp)
	}
	return asm.Indexed(asm.RSI, r, 1, disp)
}

// runMask is the option for memory accesses of a piece: lanes that do not run must not fault.
func (g *gen) runMask(c ir.Class, p int) asm.Opt { return asm.Z.Mask(g.mask(c, p)) }

// asked names a row of lines that were asked for.
type asked struct{ web, disp int32 }

// asks says whether the lines ahead of a load have to be asked for: those of a load near it, in the same block, serve
// both.
func (g *gen) asks(w, disp int32) bool {
	for _, a := range g.lines {
		if a.web == w && max(a.disp, disp)-min(a.disp, disp) < 128 {
			return false
		}
	}
	g.lines = append(g.lines, asked{w, disp})
	return true
}

// stepAhead asks for the lines that a load in a loop with barriers needs the next time, when its address grows as it
// did since the last time: tiles of matrices lie pages apart, which processors do not foresee.
func (g *gen) stepAhead(ac *plan.Access, w int32, bases []asm.GPR, at int32) {
	for h, r := range bases {
		note := g.inFrame(at + int32(8*h))
		g.Lea(asm.RAX, asm.Indexed(r, r, 1, 0))
		g.SubLd(asm.RAX, note)
		g.St(note, r)
		g.Prefetch(asm.At(asm.RAX, ac.Disp))
		if len(bases) == 1 && g.v.Webs[w].Variation.Lane16() >= 64 {
			g.Prefetch(asm.At(asm.RAX, ac.Disp+int32(g.v.Webs[w].Variation.Lane16())))
		}
	}
}

// affineLoad loads from a scalar address; false when it does not.
func (g *gen) affineLoad(ac *plan.Access) bool {
	w, ok := g.scalarAddress(ac)
	if !ok {
		return false
	}
	s := g.v.Webs[w].Variation
	if s.Kind == plan.Uniform {
		return g.uniformAccess(ac, w)
	}
	contiguous := s.Stride == int64(ac.ElemSize) && len(ac.Regs) == 1
	if ac.ElemSize < 4 && (!contiguous || ac.Signed && ac.Regs[0].Width != 0 && ac.Regs[0].Width < 32) {
		return false
	}
	bases, n := g.scalarBases(ac, w)
	if contiguous && ac.Global() && !g.v.Func.IR.Loops && s.Linear() && g.asks(w, ac.Disp) {
		for l := int32(0); l < int32(32*ac.ElemSize); l += 64 {
			g.Prefetch(asm.At(bases[0], ac.Disp+l+ahead))
		}
	}
	if at, ok := g.before[g.pc]; ok && contiguous && ac.Global() {
		g.stepAhead(ac, w, bases[:n], at)
	}
	if g.leaves(ac, w) {
		return true
	}
	for i, d := range ac.Regs {
		if d.Kind != ir.Row {
			continue
		}
		off := int32(i * ac.ElemSize)
		k := plan.Pieces(d.Class)
		for p := range k {
			m := g.element(ac, w, bases, n, p*2/k, off)
			if k == 4 && p&1 == 1 {
				m.Disp += int32(8 * s.Stride)
			}
			switch {
			case contiguous || s.Stride == 0:
				o := g.runMask(d.Class, p)
				z, od := g.dst(d, p)
				if p >= k/2 && n == 1 && s.Lane16() == 0 && o.K == 0 && od.K == 0 && len(ac.Regs) == 1 {
					if same, ok := g.c.find(pieceRef(d.Ref, p-k/2)); ok { // lanes 16 to 31 load what lanes 0 to 15 do
						g.V(asm.MovA32, asm.Z, z, 0, same)
						continue
					}
				}
				if od.K == 0 && o.K != 0 {
					o = o.Zeroing()
				}
				x := asm.MovU32
				switch {
				case s.Stride == 0 && ac.ElemSize == 8:
					x = asm.BroadcastQ
				case s.Stride == 0:
					x = asm.BroadcastD
				case ac.ElemSize == 8:
					x = asm.MovU64
				case ac.ElemSize == 2 && ac.Signed:
					x = asm.MovSXWD
				case ac.ElemSize == 2:
					x = asm.MovZXWD
				case ac.ElemSize == 1 && ac.Signed:
					x = asm.MovSXBD
				case ac.ElemSize == 1:
					x = asm.MovZXBD
				}
				g.VM(x, o, z, 0, m)
			default:
				if !ac.Global() {
					g.Lea(asm.RAX, m)
					m = asm.At(asm.RAX, 0)
				}
				g.V(asm.XorD, asm.Z, 2, 2, 2)
				g.VL(asm.MovU32, asm.Z, 1, 0, g.strides(s.Stride, 0, false))
				g.gatherMask(g.mask(d.Class, p))
				x, move := asm.GatherDD, asm.MovA32
				if ac.ElemSize == 8 {
					x, move = asm.GatherDQ, asm.MovA64
				}
				g.VX(x, asm.Z.Mask(asm.K7), 2, m.Base, 1, 1, m.Disp)
				z, o := g.dst(d, p)
				g.V(move, o, z, 0, 2)
			}
		}
	}
	return true
}

// uniformAccess loads from one address for all lanes.
func (g *gen) uniformAccess(ac *plan.Access, w int32) bool {
	for _, d := range ac.Regs {
		if len(ac.Regs) > 1 && d.Kind == ir.Row && g.v.DefWeb(g.pc, d.Ref.Off) == w {
			return false
		}
	}
	bases, n := g.scalarBases(ac, w)
	if len(ac.Regs) > 1 {
		// The results may take the register of the base.
		g.Lea(asm.RSI, g.element(ac, w, bases, n, 0, 0))
		g.loadSame(ac, func(disp int32) asm.Mem { return asm.At(asm.RSI, disp) })
		return true
	}
	g.loadSame(ac, func(disp int32) asm.Mem { return g.element(ac, w, bases, n, 0, disp) })
	return true
}

// loadSame loads elements that are the same for all lanes.
func (g *gen) loadSame(ac *plan.Access, at func(disp int32) asm.Mem) {
	float := g.op.Mods().LastType().Info().Class == optab.Float
	for i, d := range ac.Regs {
		if d.Kind != ir.Row {
			continue
		}
		m := at(int32(i * ac.ElemSize))
		wide := d.Class == ir.W64
		if ac.ElemSize < 4 {
			g.scalarElement(ac, d, m)
		}
		if def, ok := g.scalarDef(d); ok && (!float || ac.ElemSize < 4) {
			if len(ac.Regs) > 1 {
				g.pin()
			}
			if ac.ElemSize >= 4 {
				g.LdR(wide, asm.RAX, m)
			}
			g.sset(def, 0, asm.RAX)
			continue
		}
		for p := range g.each(d) {
			z, o := g.dst(d, p)
			switch {
			case ac.ElemSize == 8:
				g.VM(asm.BroadcastQ, o, z, 0, m)
			case ac.ElemSize == 4:
				g.VM(asm.BroadcastD, o, z, 0, m)
			default:
				g.VR(asm.BroadcastDR, o, z, asm.RAX)
			}
		}
	}
}

// affineStore stores to a scalar address; false when it does not.
func (g *gen) affineStore(ac *plan.Access) bool {
	w, ok := g.scalarAddress(ac)
	if !ok {
		return false
	}
	s := g.v.Webs[w].Variation
	if s.Kind == plan.Uniform {
		return g.uniformStore(ac, w)
	}
	contiguous := s.Stride == int64(ac.ElemSize) && len(ac.Regs) == 1
	if ac.ElemSize < 4 && !contiguous || s.Stride == 0 || s.Stride < 0 || s.Stride < int64(ac.Total) {
		return false
	}
	bases, n := g.scalarBases(ac, w)
	if g.v.Stream[g.pc] && g.full && contiguous && g.nt {
		g.streamStore(ac, bases[0])
		return true
	}
	for i, v := range ac.Regs {
		off := int32(i * ac.ElemSize)
		k := plan.Pieces(v.Class)
		for p := range k {
			if !s.Linear() && ac.Phase == 32 {
				p = k - 1 - p // the halves may store to the same places
			}
			m := g.element(ac, w, bases, n, p*2/k, off)
			if k == 4 && p&1 == 1 {
				m.Disp += int32(8 * s.Stride)
			}
			z := g.reg(v, p)
			o := g.runMask(v.Class, p)
			if contiguous {
				x := map[int]asm.Op{1: asm.MovDB, 2: asm.MovDW, 4: asm.MovU32St, 8: asm.MovU64St}[ac.ElemSize]
				g.VM(x, o, z, 0, m)
				continue
			}
			if !ac.Global() {
				g.Lea(asm.RAX, m)
				m = asm.At(asm.RAX, 0)
			}
			g.VL(asm.MovU32, asm.Z, 1, 0, g.strides(s.Stride, 0, false))
			g.gatherMask(g.mask(v.Class, p))
			x := asm.ScatterDD
			if ac.ElemSize == 8 {
				x = asm.ScatterDQ
			}
			g.VX(x, asm.Z.Mask(asm.K7), z, m.Base, 1, 1, m.Disp)
		}
	}
	return true
}

// streamStore stores side by side, past the caches when the launch is large and the lines are whole.
func (g *gen) streamStore(ac *plan.Access, base asm.GPR) {
	v := ac.Regs[0]
	z := make([]asm.Vec, plan.Pieces(v.Class))
	for p := range z {
		z[p] = g.reg(v, p)
	}
	store := func(x asm.Op) {
		for p, r := range z {
			g.VM(x, asm.Z, r, 0, asm.At(base, ac.Disp+int32(64*p)))
		}
	}
	done, near := g.NewLabel(), g.NewLabel()
	g.CmpMI32(inContext(abi.OffStream), 0)
	g.J(asm.NE, g.outOfLine(func() {
		g.Lea(asm.RAX, asm.At(base, ac.Disp))
		g.TestI32(asm.RAX, 63)
		g.J(asm.NE, near)
		store(asm.MovNT)
		g.Jmp(done)
	}))
	g.Bind(near)
	store(asm.MovU32St)
	g.Bind(done)
}

// firstLane puts the value of the lowest lane that runs, whose store to an address that all lanes have stays, into eax.
// rcx is used.
func (g *gen) firstLane(v *ir.Arg) {
	if g.full {
		g.VR(asm.MovD, asm.X, g.reg(v, 0), asm.RAX)
		return
	}
	for p := range 2 {
		g.VM(asm.MovU32St, asm.Z, g.reg(v, p), 0, inContext(abi.OffScratch+int32(64*p)))
	}
	g.Ld32(asm.RCX, inContext(abi.OffMask))
	g.Bsf32(asm.RCX, asm.RCX)
	g.Ld32(asm.RAX, asm.Indexed(asm.R15, asm.RCX, 4, abi.OffScratch))
}

// uniformStore stores values to one address.
func (g *gen) uniformStore(ac *plan.Access, w int32) bool {
	for _, v := range ac.Regs {
		if _, ok := g.scalarWeb(v); v.Kind != ir.Imm && (!ok || g.v.VariationOf(g.pc, v).Kind != plan.Uniform) {
			if len(ac.Regs) != 1 || ac.ElemSize != 4 || ac.Phase != 32 {
				return false
			}
			bases, n := g.scalarBases(ac, w)
			g.firstLane(v)
			g.St32(g.element(ac, w, bases, n, 0, 0), asm.RAX)
			return true
		}
	}
	bases, n := g.scalarBases(ac, w)
	for i, v := range ac.Regs {
		m := g.element(ac, w, bases, n, 0, int32(i*ac.ElemSize))
		g.sload(asm.RAX, v, 0, v.Class == ir.W64)
		switch ac.ElemSize {
		case 1:
			g.St8(m, asm.RAX)
		case 2:
			g.St16(m, asm.RAX)
		default:
			g.StR(ac.ElemSize == 8, m, asm.RAX)
		}
	}
	return true
}
