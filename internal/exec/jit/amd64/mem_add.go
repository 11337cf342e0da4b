package amd64

import (
	"slices"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
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

// redAdd writes an addition without result; false when it does not.
func (g *gen) redAdd(ac *plan.Access, b *ir.Arg) bool {
	if g.v == nil || ac.ElemSize != 4 || !g.v.Unread(g.pc) || g.op.Guard >= 0 {
		return false
	}
	if w, ok := g.scalarWeb(ac.Base); ok && g.v.Webs[w].Variation.Kind == plan.Uniform && !g.v.MayWrap[g.pc] {
		return g.redUniform(ac, w, b)
	}
	shadow := ac.Global() && g.v.Shadow && ac.Disp == 0
	if ac.Global() && !shadow {
		return false
	}
	// The value, in memory or a register.
	imm, constant := plan.Immediate(b)
	same := false
	if w, ok := g.scalarWeb(b); b.Kind == ir.Imm || ok && g.v.Webs[w].Variation.Kind == plan.Uniform {
		same = true
	}
	var value [2]asm.Vec
	if !same {
		value[0], value[1] = g.reg(b, 0), g.reg(b, 1)
	}
	ps := 2
	if ac.Wide() {
		ps = 4
	}
	regs := make([]asm.Vec, ps)
	for p := range regs {
		regs[p] = g.reg(ac.Base, p)
	}
	slow := g.slow()
	class := ac.Base.Class
	o := func(p int) asm.Opt {
		k := g.mask(class, p)
		if k == 0 {
			return asm.Z
		}
		return asm.Z.Mask(k).Zeroing()
	}
	if !same {
		for h := range 2 {
			g.VM(asm.MovU32St, asm.Z, value[h], 0, inContext(abi.OffScratch+int32(64*h)))
		}
	}
	back := g.NewLabel()
	base := asm.RSI
	disp := ac.Disp
	if shadow {
		// offsets in the page
		for p := range regs {
			g.VM(asm.SubQ, o(p).Broadcast(), asm.Vec(1+p), regs[p], inContext(abi.OffShadowPage))
		}
		g.V(asm.OrQ, asm.Z, 0, 1, 2)
		g.V(asm.OrQ, asm.Z, 5, 3, 4)
		g.V(asm.OrQ, asm.Z, 0, 0, 5)
		g.MovI(asm.RAX, ^uint64(abi.ShadowSize-4))
		g.VR(asm.BroadcastQR, asm.Z, 5, asm.RAX)
		g.VTest(asm.TestMQ, asm.Z, asm.K7, 0, 5)
		g.KOrTestB(asm.K7, asm.K7)
		g.J(asm.NE, g.outOfLine(func() { g.redDirect(ac, b, regs, same, slow, back) }))
		for p := range regs {
			g.VM(asm.MovQD, asm.Z, asm.Vec(1+p), 0, inContext(abi.OffAddrs+int32(32*p)))
		}
		g.Ld(asm.RSI, inContext(abi.OffShadow))
	} else {
		if inside, aligned := g.shared(ac); !inside || !aligned {
			g.highestCheck(ac, regs, slow)
		}
		for p := range regs {
			if ac.Wide() {
				g.VM(asm.MovQD, asm.Z, regs[p], 0, inContext(abi.OffAddrs+int32(32*p)))
			} else {
				g.VM(asm.MovU32St, asm.Z, regs[p], 0, inContext(abi.OffAddrs+int32(64*p)))
			}
		}
		g.Ld(asm.RSI, inContext(abi.OffShared))
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
		temps := [...]asm.GPR{asm.RAX, asm.RCX, asm.RDI, asm.R8}
		for l := range int32(32) {
			t := temps[l%4]
			g.Ld32(t, inContext(abi.OffAddrs+4*l))
			add(asm.Indexed(base, t, 1, disp), inContext(abi.OffScratch+4*l))
		}
	} else {
		g.Ld32(asm.RDI, inContext(abi.OffMask))
		loop := g.NewLabel()
		g.Bind(loop)
		g.Bsf32(asm.RCX, asm.RDI)
		g.Ld32(asm.RAX, asm.Indexed(asm.R15, asm.RCX, 4, abi.OffAddrs))
		add(asm.Indexed(base, asm.RAX, 1, disp), asm.Indexed(asm.R15, asm.RCX, 4, abi.OffScratch))
		g.Blsr32(asm.RDI, asm.RDI)
		g.J(asm.NE, loop)
	}
	g.rejoin(back, 1<<poolStart-1)
	return true
}

// highestCheck leaves for slow unless the highest address is in shared memory and all are aligned. Registers 0 to 6,
// k0, k7, rax and rcx are used.
func (g *gen) highestCheck(ac *plan.Access, regs []asm.Vec, slow asm.Label) {
	// the highest address, and all their bits
	max, or := asm.MaxUD, asm.OrD
	if ac.Wide() {
		max, or = asm.MaxUQ, asm.OrQ
	}
	src := slices.Clone(regs)
	for p, r := range regs {
		if k := g.mask(ac.Base.Class, p); k != 0 { // lanes that do not run count as zero
			move := asm.MovA32
			if ac.Wide() {
				move = asm.MovA64
			}
			src[p] = asm.Vec(1 + p)
			g.V(move, asm.Z.Mask(k).Zeroing(), src[p], 0, r)
		}
	}
	g.V(max, asm.Z, 0, src[0], src[1])
	g.V(or, asm.Z, 5, src[0], src[1])
	for p := 2; p < len(regs); p++ {
		g.V(max, asm.Z, 0, 0, src[p])
		g.V(or, asm.Z, 5, 5, src[p])
	}
	g.Ld32(asm.RCX, inContext(abi.OffSharedTop+4*2))
	if ac.Disp != 0 {
		g.AddI(asm.RCX, -ac.Disp)
		g.J(asm.S, slow)
	}
	g.MovI32(asm.RAX, 3)
	if ac.Wide() {
		g.VR(asm.BroadcastQR, asm.Z, 6, asm.RCX)
		g.VCmp(asm.CmpUQ, asm.Z, asm.K0, 0, 6, asm.CmpGT)
		g.VR(asm.BroadcastQR, asm.Z, 6, asm.RAX)
		g.VTest(asm.TestMQ, asm.Z, asm.K7, 5, 6)
	} else {
		g.VR(asm.BroadcastDR, asm.Z, 6, asm.RCX)
		g.VCmp(asm.CmpUD, asm.Z, asm.K0, 0, 6, asm.CmpGT)
		g.VR(asm.BroadcastDR, asm.Z, 6, asm.RAX)
		g.VTest(asm.TestMD, asm.Z, asm.K7, 5, 6)
	}
	g.KOrTestW(asm.K0, asm.K7)
	g.J(asm.NE, slow)
}

// redDirect adds to global memory lane by lane, and makes the first lane's page the shadowed one when there is none.
func (g *gen) redDirect(ac *plan.Access, b *ir.Arg, regs []asm.Vec, same bool, slow, back asm.Label) {
	g.Ld(asm.RDX, inContext(abi.OffTables))
	for h := range 2 {
		g.k6 = 0
		g.vectorCheck(ac, h, slow)
	}
	for p, r := range regs {
		g.VM(asm.MovU64St, asm.Z, r, 0, inContext(abi.OffAddrs+int32(64*p)))
	}
	g.accessing(abi.AccessLanes)
	g.laneMask(asm.RDI)
	if same {
		if i, ok := plan.Immediate(b); ok {
			g.MovI32(asm.RDX, uint32(i))
		} else if b.Kind == ir.Imm {
			g.Ld32(asm.RDX, rowMem(b.Ref))
		} else {
			w := g.v.UseWeb(g.pc, b.Ref.Off)
			if i := g.sfind(w, 0); i >= 0 {
				g.Mov32(asm.RDX, scalarRegs[i])
			} else {
				g.Ld32(asm.RDX, placeMem(g.v.Webs[w].At, 0))
			}
		}
	}
	loop := g.NewLabel()
	g.Bind(loop)
	g.Bsf32(asm.RCX, asm.RDI)
	g.Ld(asm.RAX, asm.Indexed(asm.R15, asm.RCX, 8, abi.OffAddrs))
	if !same {
		g.Ld32(asm.RDX, asm.Indexed(asm.R15, asm.RCX, 4, abi.OffScratch))
	}
	g.LockAddM32(asm.At(asm.RAX, ac.Disp), asm.RDX)
	g.Blsr32(asm.RDI, asm.RDI)
	g.J(asm.NE, loop)
	// The page of the last lane's word exists.
	g.MI(asm.ArithCmp, true, inContext(abi.OffShadowPage), 0)
	g.J(asm.NE, back)
	g.RI(asm.ArithAnd, true, asm.RAX, -abi.ShadowSize)
	g.St(inContext(abi.OffShadowPage), asm.RAX)
	g.Jmp(back)
}

// redUniform adds for all lanes at once.
func (g *gen) redUniform(ac *plan.Access, w int32, b *ir.Arg) bool {
	bw, scalar := g.scalarWeb(b)
	same := b.Kind == ir.Imm || scalar && g.v.Webs[bw].Variation.Kind == plan.Uniform
	var v [2]asm.Vec
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
			g.Ld32(asm.RCX, inContext(abi.OffMask))
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
		g.VM(asm.MovU32St, asm.Y, 0, 0, inContext(abi.OffScratch))
		g.Ld32(asm.RAX, inContext(abi.OffScratch))
		for i := range int32(7) {
			g.AddLd32(asm.RAX, inContext(abi.OffScratch+4+4*i))
		}
	}
	if ac.Global() {
		g.LockAddM32(m, asm.RAX)
	} else {
		g.AddM32(m, asm.RAX)
	}
	return true
}
