package jit

import (
	a64 "github.com/gocuda/cuda/internal/exec/jit/amd64asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Integer additions to memory whose results nobody reads, in CTA code.
//
// Shared memory belongs to the CTA, which one goroutine runs, so it needs no locks. Global additions of some kernels
// (shadows) go to a shadow of one page, each worker's own, which is added to the page every breath of the worker
// (exec.BlockRunner.Publish), which is at most milliseconds, and when the launch ends.
//
// That nobody can tell. Relaxed additions commute, and the memory model orders them with nothing else: no access of the
// kernel's own sees them, since it has none to global memory that may change; no fence, release or barrier of a scope
// beyond the CTA orders them before anything that others could see; and how long a relaxed addition takes to be seen is
// not defined but must be finite, so who polls for it, in another stream, on the host or by copies, makes progress.
// Additions of scope .sys are made at once: programs on the host watch them.

// shadowSize is the bytes of the shadowed page.
const shadowSize = 4096

// shadows says whether nothing can tell when a function's additions to global memory are made, but that it takes time.
func shadows(f *ir.Func, dead func(i int32) bool) bool {
	any := false
	for i := range f.Ops {
		op := &f.Ops[i]
		if op.Ctl != ir.Plain {
			continue
		}
		if op.Opcode() == optab.OpFence && op.Match.One("cta", "cluster") == "" {
			return false
		}
		for j := range op.Args {
			a := &op.Args[j]
			if a.Kind != ir.Addr || a.Space != ir.Global && a.Space != ir.Generic {
				continue
			}
			switch op.Opcode() {
			case optab.OpLd:
				if !op.Match.Has("nc") {
					return false
				}
			case optab.OpPrefetch, optab.OpPrefetchu:
			case optab.OpRed, optab.OpAtom:
				t := op.Match.Type(0)
				if op.Match.One("and", "or", "xor", "exch", "cas", "inc", "dec", "add", "min", "max") != "add" || t != "u32" && t != "s32" || !dead(int32(i)) {
					return false
				}
				if op.Match.One("sys", "acquire", "release", "acq_rel") != "" {
					return false
				}
				any = true
			default:
				return false
			}
		}
	}
	return any
}

// unread says whether nothing reads an operation's results.
func (v *values) unread(i int32) bool {
	for _, d := range v.ops[i].defs {
		if v.webs[d.web].uses > 0 {
			return false
		}
	}
	return true
}

// redAdd writes an addition without result; false when it does not.
func (g *gen) redAdd(ac *access, b *ir.Arg) bool {
	if g.v == nil || ac.es != 4 || !g.v.unread(g.pc) || g.op.Guard >= 0 {
		return false
	}
	if w, ok := g.scalarWeb(ac.base); ok && g.v.webs[w].shape.kind == kindUniform && !g.v.deny[g.pc] {
		return g.redUniform(ac, w, b)
	}
	shadow := ac.global() && g.v.shadow && ac.disp == 0
	if ac.global() && !shadow {
		return false
	}
	// The value, in memory or a register.
	imm, constant := immediate(b)
	same := false
	if w, ok := g.scalarWeb(b); b.Kind == ir.Imm || ok && g.v.webs[w].shape.kind == kindUniform {
		same = true
	}
	var value [2]uint8
	if !same {
		value[0], value[1] = g.reg(b, 0), g.reg(b, 1)
	}
	ps := 2
	if ac.wide() {
		ps = 4
	}
	regs := make([]uint8, ps)
	for p := range regs {
		regs[p] = g.reg(ac.base, p)
	}
	slow := g.slow()
	class := ac.base.Class
	o := func(p int) a64.Opt {
		k := g.mask(class, p)
		if k == 0 {
			return a64.Z
		}
		return a64.Z.Mask(k).Zeroing()
	}
	if !same {
		for h := range 2 {
			g.VM(a64.MovU32St, a64.Z, value[h], 0, inContext(offScratch+int32(64*h)))
		}
	}
	back := g.NewLabel()
	base := a64.RSI
	disp := ac.disp
	if shadow {
		// offsets in the page
		for p := range regs {
			g.VM(a64.SubQ, o(p).Broadcast(), uint8(1+p), regs[p], inContext(offShadowPage))
		}
		g.V(a64.OrQ, a64.Z, 0, 1, 2)
		g.V(a64.OrQ, a64.Z, 5, 3, 4)
		g.V(a64.OrQ, a64.Z, 0, 0, 5)
		g.MovI(a64.RAX, ^uint64(shadowSize-4))
		g.V(a64.BroadcastQR, a64.Z, 5, 0, a64.RAX)
		g.V(a64.TestMQ, a64.Z, 7, 0, 5)
		g.KOrTestB(7, 7)
		g.J(a64.NE, g.outOfLine(func() { g.redDirect(ac, b, regs, same, slow, back) }))
		for p := range regs {
			g.VM(a64.MovQD, a64.Z, uint8(1+p), 0, inContext(offAddrs+int32(32*p)))
		}
		g.Ld(a64.RSI, inContext(offShadow))
	} else {
		// the highest address, and all their bits
		max, or := a64.MaxUD, a64.OrD
		if ac.wide() {
			max, or = a64.MaxUQ, a64.OrQ
		}
		src := regs
		if g.mask(class, 0) != 0 {
			src = []uint8{1, 2, 3, 4}[:ps]
			for p := range regs {
				move := a64.MovA32
				if ac.wide() {
					move = a64.MovA64
				}
				g.V(move, o(p), src[p], 0, regs[p])
			}
		}
		g.V(max, a64.Z, 0, src[0], src[1])
		g.V(or, a64.Z, 5, src[0], src[1])
		for p := 2; p < ps; p++ {
			g.V(max, a64.Z, 0, 0, src[p])
			g.V(or, a64.Z, 5, 5, src[p])
		}
		g.Ld32(a64.RCX, inContext(offSharedTop+4*2))
		if disp != 0 {
			g.AddI(a64.RCX, -disp)
			g.J(a64.S, slow)
		}
		g.MovI32(a64.RAX, 3)
		if ac.wide() {
			g.V(a64.BroadcastQR, a64.Z, 6, 0, a64.RCX)
			g.VI(a64.CmpUQ, a64.Z, 0, 0, 6, 6)
			g.V(a64.BroadcastQR, a64.Z, 6, 0, a64.RAX)
			g.V(a64.TestMQ, a64.Z, 7, 5, 6)
		} else {
			g.V(a64.BroadcastDR, a64.Z, 6, 0, a64.RCX)
			g.VI(a64.CmpUD, a64.Z, 0, 0, 6, 6)
			g.V(a64.BroadcastDR, a64.Z, 6, 0, a64.RAX)
			g.V(a64.TestMD, a64.Z, 7, 5, 6)
		}
		g.KOrTestW(0, 7)
		g.J(a64.NE, slow)
		for p := range regs {
			if ac.wide() {
				g.VM(a64.MovQD, a64.Z, regs[p], 0, inContext(offAddrs+int32(32*p)))
			} else {
				g.VM(a64.MovU32St, a64.Z, regs[p], 0, inContext(offAddrs+int32(64*p)))
			}
		}
		g.Ld(a64.RSI, inContext(offShared))
	}
	if same && !(constant && imm == int64(int32(imm))) {
		g.sload(a64.RDX, b, 0, false)
	}
	add := func(m a64.Mem, lane a64.Mem) {
		switch {
		case !same:
			g.Ld32(a64.RDX, lane)
			g.MR(a64.ArithAdd, false, m, a64.RDX)
		case constant:
			g.MI(a64.ArithAdd, false, m, int32(imm))
		default:
			g.MR(a64.ArithAdd, false, m, a64.RDX)
		}
	}
	if g.full {
		temps := [...]uint8{a64.RAX, a64.RCX, a64.RDI, a64.R8}
		for l := range int32(32) {
			t := temps[l%4]
			g.Ld32(t, inContext(offAddrs+4*l))
			add(a64.Indexed(base, t, 1, disp), inContext(offScratch+4*l))
		}
	} else {
		g.Ld32(a64.RDI, inContext(offMask))
		loop := g.NewLabel()
		g.Bind(loop)
		g.Bsf32(a64.RCX, a64.RDI)
		g.Ld32(a64.RAX, a64.Indexed(a64.R15, a64.RCX, 4, offAddrs))
		add(a64.Indexed(base, a64.RAX, 1, disp), a64.Indexed(a64.R15, a64.RCX, 4, offScratch))
		g.Blsr32(a64.RDI, a64.RDI)
		g.J(a64.NE, loop)
	}
	g.rejoin(back, 1<<poolStart-1)
	return true
}

// redDirect adds to global memory lane by lane, and makes the first lane's page the shadowed one when there is none.
func (g *gen) redDirect(ac *access, b *ir.Arg, regs []uint8, same bool, slow, back a64.Label) {
	g.Ld(a64.RDX, inContext(offTables))
	for h := range 2 {
		g.k6 = 0
		g.vectorCheck(ac, h, slow)
	}
	for p, r := range regs {
		g.VM(a64.MovU64St, a64.Z, r, 0, inContext(offAddrs+int32(64*p)))
	}
	g.accessing(accessLanes)
	g.laneMask(a64.RDI)
	if same {
		if i, ok := immediate(b); ok {
			g.MovI32(a64.RDX, uint32(i))
		} else if b.Kind == ir.Imm {
			g.Ld32(a64.RDX, rowMem(b.Ref))
		} else {
			w := g.v.useWeb(g.pc, b.Ref.Off)
			if i := g.sfind(w, 0); i >= 0 {
				g.Mov32(a64.RDX, scalarRegs[i])
			} else {
				g.Ld32(a64.RDX, g.v.webs[w].at.mem(0))
			}
		}
	}
	loop := g.NewLabel()
	g.Bind(loop)
	g.Bsf32(a64.RCX, a64.RDI)
	g.Ld(a64.RAX, a64.Indexed(a64.R15, a64.RCX, 8, offAddrs))
	if !same {
		g.Ld32(a64.RDX, a64.Indexed(a64.R15, a64.RCX, 4, offScratch))
	}
	g.LockAddM32(a64.At(a64.RAX, ac.disp), a64.RDX)
	g.Blsr32(a64.RDI, a64.RDI)
	g.J(a64.NE, loop)
	// The page of the last lane's word exists.
	g.MI(a64.ArithCmp, true, inContext(offShadowPage), 0)
	g.J(a64.NE, back)
	g.RI(a64.ArithAnd, true, a64.RAX, -shadowSize)
	g.St(inContext(offShadowPage), a64.RAX)
	g.Jmp(back)
}

// redUniform adds for all lanes at once.
func (g *gen) redUniform(ac *access, w int32, b *ir.Arg) bool {
	bw, scalar := g.scalarWeb(b)
	same := b.Kind == ir.Imm || scalar && g.v.webs[bw].shape.kind == kindUniform
	var v [2]uint8
	if !same {
		v[0], v[1] = g.reg(b, 0), g.reg(b, 1)
	}
	bases, n := g.scalarBases(ac, w)
	m := g.element(ac, w, bases, n, 0, 0)
	if same {
		g.sload(a64.RAX, b, 0, false)
		if g.full {
			g.ShiftI(a64.ScalarShl, false, a64.RAX, 5)
		} else {
			g.Ld32(a64.RCX, inContext(offMask))
			g.Popcnt32(a64.RCX, a64.RCX)
			g.ImulR(false, a64.RAX, a64.RCX)
		}
	} else {
		o := func(p int) a64.Opt {
			if k := g.mask(ir.W32, p); k != 0 {
				return a64.Z.Mask(k).Zeroing()
			}
			return a64.Z
		}
		g.V(a64.MovA32, o(0), 0, 0, v[0])
		g.V(a64.MovA32, o(1), 1, 0, v[1])
		g.V(a64.AddD, a64.Z, 0, 0, 1)
		g.VI(a64.ExtractQ4, a64.Z, 0, 0, 1, 1)
		g.V(a64.AddD, a64.Z, 0, 0, 1)
		g.VM(a64.MovU32St, a64.Y, 0, 0, inContext(offScratch))
		g.Ld32(a64.RAX, inContext(offScratch))
		for i := range int32(7) {
			g.AddLd32(a64.RAX, inContext(offScratch+4+4*i))
		}
	}
	if ac.global() {
		g.LockAddM32(m, a64.RAX)
	} else {
		g.AddM32(m, a64.RAX)
	}
	return true
}
