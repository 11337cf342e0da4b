package jit

import (
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
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
	o := func(p int) asm.Opt {
		k := g.mask(class, p)
		if k == 0 {
			return asm.Z
		}
		return asm.Z.Mask(k).Zeroing()
	}
	if !same {
		for h := range 2 {
			g.VM(asm.MovU32St, asm.Z, value[h], 0, inContext(offScratch+int32(64*h)))
		}
	}
	back := g.NewLabel()
	base := asm.RSI
	disp := ac.disp
	if shadow {
		// offsets in the page
		for p := range regs {
			g.VM(asm.SubQ, o(p).Broadcast(), uint8(1+p), regs[p], inContext(offShadowPage))
		}
		g.V(asm.OrQ, asm.Z, 0, 1, 2)
		g.V(asm.OrQ, asm.Z, 5, 3, 4)
		g.V(asm.OrQ, asm.Z, 0, 0, 5)
		g.MovI(asm.RAX, ^uint64(shadowSize-4))
		g.V(asm.BroadcastQR, asm.Z, 5, 0, asm.RAX)
		g.V(asm.TestMQ, asm.Z, 7, 0, 5)
		g.KOrTestB(7, 7)
		g.J(asm.NE, g.outOfLine(func() { g.redDirect(ac, b, regs, same, slow, back) }))
		for p := range regs {
			g.VM(asm.MovQD, asm.Z, uint8(1+p), 0, inContext(offAddrs+int32(32*p)))
		}
		g.Ld(asm.RSI, inContext(offShadow))
	} else {
		// the highest address, and all their bits
		max, or := asm.MaxUD, asm.OrD
		if ac.wide() {
			max, or = asm.MaxUQ, asm.OrQ
		}
		src := regs
		if g.mask(class, 0) != 0 {
			src = []uint8{1, 2, 3, 4}[:ps]
			for p := range regs {
				move := asm.MovA32
				if ac.wide() {
					move = asm.MovA64
				}
				g.V(move, o(p), src[p], 0, regs[p])
			}
		}
		g.V(max, asm.Z, 0, src[0], src[1])
		g.V(or, asm.Z, 5, src[0], src[1])
		for p := 2; p < ps; p++ {
			g.V(max, asm.Z, 0, 0, src[p])
			g.V(or, asm.Z, 5, 5, src[p])
		}
		g.Ld32(asm.RCX, inContext(offSharedTop+4*2))
		if disp != 0 {
			g.AddI(asm.RCX, -disp)
			g.J(asm.S, slow)
		}
		g.MovI32(asm.RAX, 3)
		if ac.wide() {
			g.V(asm.BroadcastQR, asm.Z, 6, 0, asm.RCX)
			g.VI(asm.CmpUQ, asm.Z, 0, 0, 6, 6)
			g.V(asm.BroadcastQR, asm.Z, 6, 0, asm.RAX)
			g.V(asm.TestMQ, asm.Z, 7, 5, 6)
		} else {
			g.V(asm.BroadcastDR, asm.Z, 6, 0, asm.RCX)
			g.VI(asm.CmpUD, asm.Z, 0, 0, 6, 6)
			g.V(asm.BroadcastDR, asm.Z, 6, 0, asm.RAX)
			g.V(asm.TestMD, asm.Z, 7, 5, 6)
		}
		g.KOrTestW(0, 7)
		g.J(asm.NE, slow)
		for p := range regs {
			if ac.wide() {
				g.VM(asm.MovQD, asm.Z, regs[p], 0, inContext(offAddrs+int32(32*p)))
			} else {
				g.VM(asm.MovU32St, asm.Z, regs[p], 0, inContext(offAddrs+int32(64*p)))
			}
		}
		g.Ld(asm.RSI, inContext(offShared))
	}
	if same && !(constant && imm == int64(int32(imm))) {
		g.sload(asm.RDX, b, 0, false)
	}
	add := func(m asm.Mem, lane asm.Mem) {
		switch {
		case !same:
			g.Ld32(asm.RDX, lane)
			g.MR(asm.ArithAdd, false, m, asm.RDX)
		case constant:
			g.MI(asm.ArithAdd, false, m, int32(imm))
		default:
			g.MR(asm.ArithAdd, false, m, asm.RDX)
		}
	}
	if g.full {
		temps := [...]uint8{asm.RAX, asm.RCX, asm.RDI, asm.R8}
		for l := range int32(32) {
			t := temps[l%4]
			g.Ld32(t, inContext(offAddrs+4*l))
			add(asm.Indexed(base, t, 1, disp), inContext(offScratch+4*l))
		}
	} else {
		g.Ld32(asm.RDI, inContext(offMask))
		loop := g.NewLabel()
		g.Bind(loop)
		g.Bsf32(asm.RCX, asm.RDI)
		g.Ld32(asm.RAX, asm.Indexed(asm.R15, asm.RCX, 4, offAddrs))
		add(asm.Indexed(base, asm.RAX, 1, disp), asm.Indexed(asm.R15, asm.RCX, 4, offScratch))
		g.Blsr32(asm.RDI, asm.RDI)
		g.J(asm.NE, loop)
	}
	g.rejoin(back, 1<<poolStart-1)
	return true
}

// redDirect adds to global memory lane by lane, and makes the first lane's page the shadowed one when there is none.
func (g *gen) redDirect(ac *access, b *ir.Arg, regs []uint8, same bool, slow, back asm.Label) {
	g.Ld(asm.RDX, inContext(offTables))
	for h := range 2 {
		g.k6 = 0
		g.vectorCheck(ac, h, slow)
	}
	for p, r := range regs {
		g.VM(asm.MovU64St, asm.Z, r, 0, inContext(offAddrs+int32(64*p)))
	}
	g.accessing(accessLanes)
	g.laneMask(asm.RDI)
	if same {
		if i, ok := immediate(b); ok {
			g.MovI32(asm.RDX, uint32(i))
		} else if b.Kind == ir.Imm {
			g.Ld32(asm.RDX, rowMem(b.Ref))
		} else {
			w := g.v.useWeb(g.pc, b.Ref.Off)
			if i := g.sfind(w, 0); i >= 0 {
				g.Mov32(asm.RDX, scalarRegs[i])
			} else {
				g.Ld32(asm.RDX, g.v.webs[w].at.mem(0))
			}
		}
	}
	loop := g.NewLabel()
	g.Bind(loop)
	g.Bsf32(asm.RCX, asm.RDI)
	g.Ld(asm.RAX, asm.Indexed(asm.R15, asm.RCX, 8, offAddrs))
	if !same {
		g.Ld32(asm.RDX, asm.Indexed(asm.R15, asm.RCX, 4, offScratch))
	}
	g.LockAddM32(asm.At(asm.RAX, ac.disp), asm.RDX)
	g.Blsr32(asm.RDI, asm.RDI)
	g.J(asm.NE, loop)
	// The page of the last lane's word exists.
	g.MI(asm.ArithCmp, true, inContext(offShadowPage), 0)
	g.J(asm.NE, back)
	g.RI(asm.ArithAnd, true, asm.RAX, -shadowSize)
	g.St(inContext(offShadowPage), asm.RAX)
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
		g.sload(asm.RAX, b, 0, false)
		if g.full {
			g.ShiftI(asm.ScalarShl, false, asm.RAX, 5)
		} else {
			g.Ld32(asm.RCX, inContext(offMask))
			g.Popcnt32(asm.RCX, asm.RCX)
			g.ImulR(false, asm.RAX, asm.RCX)
		}
	} else {
		o := func(p int) asm.Opt {
			if k := g.mask(ir.W32, p); k != 0 {
				return asm.Z.Mask(k).Zeroing()
			}
			return asm.Z
		}
		g.V(asm.MovA32, o(0), 0, 0, v[0])
		g.V(asm.MovA32, o(1), 1, 0, v[1])
		g.V(asm.AddD, asm.Z, 0, 0, 1)
		g.VI(asm.ExtractQ4, asm.Z, 0, 0, 1, 1)
		g.V(asm.AddD, asm.Z, 0, 0, 1)
		g.VM(asm.MovU32St, asm.Y, 0, 0, inContext(offScratch))
		g.Ld32(asm.RAX, inContext(offScratch))
		for i := range int32(7) {
			g.AddLd32(asm.RAX, inContext(offScratch+4+4*i))
		}
	}
	if ac.global() {
		g.LockAddM32(m, asm.RAX)
	} else {
		g.AddM32(m, asm.RAX)
	}
	return true
}
