package jit

import (
	"strings"

	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
)

// Memory accesses of CTA code whose addresses are scalars: lanes stand side by side, at one place, or at a constant distance.

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
func (g *gen) scalarAddress(ac *access) (w int32, ok bool) {
	if g.v == nil || ac.base == nil || ac.base.Kind != ir.Row || g.op.Guard >= 0 || g.v.deny[g.pc] {
		return 0, false
	}
	if w, ok = g.scalarWeb(ac.base); !ok {
		return 0, false
	}
	s := g.v.webs[w].shape
	switch {
	case s.stride%(1<<ac.align) != 0:
		return 0, false
	case s.stride < 0 && !ac.global(), ac.es < 4 && s.stride != int64(ac.es) && s.kind != kindUniform:
		return 0, false
	case 32*s.stride+int64(ac.disp)+64 >= slack || 32*s.stride+int64(ac.disp) <= -slack:
		return 0, false
	}
	return w, true
}

// checkBase leaves for slow unless the base in r is good for the access. rcx and rdx are used.
func (g *gen) checkBase(ac *access, w int32, half int, r uint8, slow asm.Label) {
	x := &g.v.webs[w]
	space := ir.Global
	if !ac.global() {
		space = ir.Shared
	}
	key := addressCheck{w, int8(half), space}
	have, ok := g.checked[key]
	if g.checked == nil {
		g.checked = map[addressCheck]addressLimit{}
	}
	if ac.global() {
		if !ok {
			g.MovR(true, asm.RCX, r)
			g.SubLd(asm.RCX, inContext(offLow))
			g.CmpLd(asm.RCX, inContext(offSpan))
			g.J(asm.A, slow)
		}
	} else if need := g.reach(ac, w); !ok || have.high < need {
		have.high = need
		lanes := int32(31)
		if x.shape.halves {
			lanes = 15
		}
		stride := int32(x.shape.stride)
		if g.full || stride == 0 {
			g.Ld32(asm.RCX, inContext(offSharedTop))
			g.RI(asm.ArithSub, true, asm.RCX, need-1+lanes*stride)
			g.J(asm.S, slow)
			g.RR(asm.ArithCmp, true, r, asm.RCX)
			g.J(asm.A, slow)
		} else {
			// up to the highest lane that runs
			none := g.NewLabel()
			g.Ld32(asm.RDX, inContext(offMask))
			if x.shape.halves {
				if half == 0 {
					g.AndI32(asm.RDX, 0xffff)
				} else {
					g.ShrI32(asm.RDX, 16)
				}
				g.J(asm.E, none)
			}
			g.Bsr32(asm.RDX, asm.RDX)
			g.ImulI(true, asm.RDX, asm.RDX, stride)
			g.RR(asm.ArithAdd, true, asm.RDX, r)
			g.Ld32(asm.RCX, inContext(offSharedTop))
			g.RI(asm.ArithSub, true, asm.RCX, need-1)
			g.J(asm.S, slow)
			g.RR(asm.ArithCmp, true, asm.RDX, asm.RCX)
			g.J(asm.A, slow)
			g.rejoin(none, 0)
		}
	}
	if have.align < ac.align {
		g.TestI32(r, 1<<ac.align-1)
		g.J(asm.NE, slow)
		have.align = ac.align
	}
	g.checked[key] = have
}

// reach is how far behind its base accesses of the rest of the block go that use an address.
func (g *gen) reach(ac *access, w int32) int32 {
	high := ac.disp + int32(ac.total)
	end := g.a.blocks[g.v.inBlock[g.pc]].end
	for i := g.pc + 1; i < end; i++ {
		op := &g.f.Ops[i]
		if op.Ctl != ir.Plain {
			continue
		}
		for j := range op.Args {
			a := &op.Args[j]
			if a.Kind != ir.Addr || a.Space != ir.Shared || a.Base == nil || a.Base.Kind != ir.Row || g.v.useWeb(i, a.Base.Ref.Off) != w || op.Guard >= 0 {
				continue
			}
			if other, ok := accessOf(op, a, &op.Args[accessValue(op, j)]); ok {
				high = max(high, other.disp+int32(other.total))
			}
		}
		for _, d := range g.v.ops[i].defs {
			if d.web == w {
				return high
			}
		}
	}
	return high
}

// scalarBases checks a scalar address and returns its bases' registers; rsi holds shared memory's start.
func (g *gen) scalarBases(ac *access, w int32) (bases [2]uint8, n int) {
	x := &g.v.webs[w]
	n = 1
	if x.shape.halves {
		n = 2
	}
	for h := range n {
		bases[h] = g.sreg(w, h)
	}
	slow := g.slow()
	for h := range n {
		g.checkBase(ac, w, h, bases[h], slow)
	}
	if ac.global() {
		if g.noted != w+1 {
			for h := range n {
				g.St(inContext(offAddr+int32(8*h)), bases[h])
			}
			g.noted = w + 1
		}
		g.StI32(inContext(offOp), uint32(g.pc)|accessAffine<<24)
	} else {
		g.Ld(asm.RSI, inContext(offShared))
	}
	return bases, n
}

// element is the address of lane 0's element of a half, disp bytes on.
func (g *gen) element(ac *access, w int32, bases [2]uint8, n, half int, disp int32) asm.Mem {
	r := bases[0]
	disp += ac.disp
	if half == 1 {
		if n == 2 {
			r = bases[1]
		} else {
			disp += int32(16 * g.v.webs[w].shape.stride)
		}
	}
	if ac.global() {
		return asm.At(r, disp)
	}
	return asm.Indexed(asm.RSI, r, 1, disp)
}

// runMask is the option for memory accesses of a piece: lanes that do not run must not fault.
func (g *gen) runMask(c ir.Class, p int) asm.Opt { return asm.Z.Mask(g.mask(c, p)) }

// affineLoad loads from a scalar address; false when it does not.
func (g *gen) affineLoad(ac *access) bool {
	w, ok := g.scalarAddress(ac)
	if !ok {
		return false
	}
	s := g.v.webs[w].shape
	if s.kind == kindUniform {
		return g.uniformAccess(ac, w)
	}
	contiguous := s.stride == int64(ac.es) && len(ac.regs) == 1
	if ac.es < 4 && (!contiguous || ac.signed && ac.regs[0].Width != 0 && ac.regs[0].Width < 32) {
		return false
	}
	fresh := g.noted != w+1
	bases, n := g.scalarBases(ac, w)
	if contiguous && ac.global() && fresh && !g.v.a.f.Loops && n == 1 {
		for l := int32(0); l < int32(32*ac.es); l += 64 {
			g.Prefetch(asm.At(bases[0], ac.disp+l+ahead))
		}
	}
	for i, d := range ac.regs {
		if d.Kind != ir.Row {
			continue
		}
		off := int32(i * ac.es)
		k := pieces(d.Class)
		for p := range k {
			m := g.element(ac, w, bases, n, p*2/k, off)
			if k == 4 && p&1 == 1 {
				m.Disp += int32(8 * s.stride)
			}
			switch {
			case contiguous || s.stride == 0:
				o := g.runMask(d.Class, p)
				z, od := g.dst(d, p)
				if od.K == 0 && o.K != 0 {
					o = o.Zeroing()
				}
				x := asm.MovU32
				switch {
				case s.stride == 0 && ac.es == 8:
					x = asm.BroadcastQ
				case s.stride == 0:
					x = asm.BroadcastD
				case ac.es == 8:
					x = asm.MovU64
				case ac.es == 2 && ac.signed:
					x = asm.MovSXWD
				case ac.es == 2:
					x = asm.MovZXWD
				case ac.es == 1 && ac.signed:
					x = asm.MovSXBD
				case ac.es == 1:
					x = asm.MovZXBD
				}
				g.VM(x, o, z, 0, m)
			default:
				if !ac.global() {
					g.Lea(asm.RAX, m)
					m = asm.At(asm.RAX, 0)
				}
				g.V(asm.XorD, asm.Z, 2, 2, 2)
				g.VL(asm.MovU32, asm.Z, 1, 0, g.strides(s.stride, 0, false))
				g.gatherMask(g.mask(d.Class, p))
				x, move := asm.GatherDD, asm.MovA32
				if ac.es == 8 {
					x, move = asm.GatherDQ, asm.MovA64
				}
				g.VX(x, asm.Z.Mask(7), 2, m.Base, 1, 1, m.Disp)
				z, o := g.dst(d, p)
				g.V(move, o, z, 0, 2)
			}
		}
	}
	return true
}

// uniformAccess loads from one address for all lanes.
func (g *gen) uniformAccess(ac *access, w int32) bool {
	for _, d := range ac.regs {
		if len(ac.regs) > 1 && d.Kind == ir.Row && g.v.defWeb(g.pc, d.Ref.Off) == w {
			return false
		}
	}
	bases, n := g.scalarBases(ac, w)
	if len(ac.regs) > 1 {
		// The results may take the register of the base.
		g.Lea(asm.RSI, g.element(ac, w, bases, n, 0, 0))
		g.loadSame(ac, func(disp int32) asm.Mem { return asm.At(asm.RSI, disp) })
		return true
	}
	g.loadSame(ac, func(disp int32) asm.Mem { return g.element(ac, w, bases, n, 0, disp) })
	return true
}

// loadSame loads elements that are the same for all lanes.
func (g *gen) loadSame(ac *access, at func(disp int32) asm.Mem) {
	float := strings.HasPrefix(g.op.Match.Types[len(g.op.Match.Types)-1], "f")
	for i, d := range ac.regs {
		if d.Kind != ir.Row {
			continue
		}
		m := at(int32(i * ac.es))
		wide := d.Class == ir.W64
		if ac.es < 4 {
			g.scalarElement(ac, d, m)
		}
		if def, ok := g.scalarDef(d); ok && (!float || ac.es < 4) {
			if len(ac.regs) > 1 {
				g.pin()
			}
			if ac.es >= 4 {
				g.LdR(wide, asm.RAX, m)
			}
			g.sset(def, 0, asm.RAX)
			continue
		}
		for p := range g.each(d) {
			z, o := g.dst(d, p)
			switch {
			case ac.es == 8:
				g.VM(asm.BroadcastQ, o, z, 0, m)
			case ac.es == 4:
				g.VM(asm.BroadcastD, o, z, 0, m)
			default:
				g.V(asm.BroadcastDR, o, z, 0, asm.RAX)
			}
		}
	}
}

// affineStore stores to a scalar address; false when it does not.
func (g *gen) affineStore(ac *access) bool {
	w, ok := g.scalarAddress(ac)
	if !ok {
		return false
	}
	s := g.v.webs[w].shape
	if s.kind == kindUniform {
		return g.uniformStore(ac, w)
	}
	contiguous := s.stride == int64(ac.es) && len(ac.regs) == 1
	if ac.es < 4 && !contiguous || s.stride == 0 || s.stride < 0 || s.stride < int64(ac.total) {
		return false
	}
	bases, n := g.scalarBases(ac, w)
	if g.v.stream[g.pc] && g.full && contiguous && g.nt {
		g.streamStore(ac, bases[0])
		return true
	}
	for i, v := range ac.regs {
		off := int32(i * ac.es)
		k := pieces(v.Class)
		for p := range k {
			if n == 2 && ac.phase == 32 {
				p = k - 1 - p // the halves may store to the same places
			}
			m := g.element(ac, w, bases, n, p*2/k, off)
			if k == 4 && p&1 == 1 {
				m.Disp += int32(8 * s.stride)
			}
			z := g.reg(v, p)
			o := g.runMask(v.Class, p)
			if contiguous {
				x := map[int]asm.Op{1: asm.MovDB, 2: asm.MovDW, 4: asm.MovU32St, 8: asm.MovU64St}[ac.es]
				g.VM(x, o, z, 0, m)
				continue
			}
			if !ac.global() {
				g.Lea(asm.RAX, m)
				m = asm.At(asm.RAX, 0)
			}
			g.VL(asm.MovU32, asm.Z, 1, 0, g.strides(s.stride, 0, false))
			g.gatherMask(g.mask(v.Class, p))
			x := asm.ScatterDD
			if ac.es == 8 {
				x = asm.ScatterDQ
			}
			g.VX(x, asm.Z.Mask(7), z, m.Base, 1, 1, m.Disp)
		}
	}
	return true
}

// streamStore stores side by side, past the caches when the launch is large and the lines are whole.
func (g *gen) streamStore(ac *access, base uint8) {
	v := ac.regs[0]
	z := make([]uint8, pieces(v.Class))
	for p := range z {
		z[p] = g.reg(v, p)
	}
	store := func(x asm.Op) {
		for p, r := range z {
			g.VM(x, asm.Z, r, 0, asm.At(base, ac.disp+int32(64*p)))
		}
	}
	done, near := g.NewLabel(), g.NewLabel()
	g.CmpMI32(inContext(offStream), 0)
	g.J(asm.NE, g.outOfLine(func() {
		g.Lea(asm.RAX, asm.At(base, ac.disp))
		g.TestI32(asm.RAX, 63)
		g.J(asm.NE, near)
		store(asm.MovNT)
		g.Jmp(done)
	}))
	g.Bind(near)
	store(asm.MovU32St)
	g.Bind(done)
}

// uniformStore stores values that are the same for all lanes to one address.
func (g *gen) uniformStore(ac *access, w int32) bool {
	for _, v := range ac.regs {
		if _, ok := g.scalarWeb(v); v.Kind != ir.Imm && (!ok || g.v.shapeOf(g.pc, v).kind != kindUniform) {
			return false
		}
	}
	bases, n := g.scalarBases(ac, w)
	for i, v := range ac.regs {
		m := g.element(ac, w, bases, n, 0, int32(i*ac.es))
		g.sload(asm.RAX, v, 0, v.Class == ir.W64)
		switch ac.es {
		case 1:
			g.St8(m, asm.RAX)
		case 2:
			g.St16(m, asm.RAX)
		default:
			g.StR(ac.es == 8, m, asm.RAX)
		}
	}
	return true
}
