package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

func movTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	switch {
	case d.Class == ir.WPred && d.Kind == ir.Row && a.Reg():
		return func(g *gen) {
			g.pred(asm.RAX, a)
			g.setPred(d, asm.RAX)
		}
	case d.Kind == ir.Vec && a.Kind == ir.Row:
		return unpackTemplate(op)
	case a.Kind == ir.Vec && d.Kind == ir.Row:
		return packTemplate(op)
	case d.Class == ir.W32 && rows(ir.W32, d, a) && plan.Wide32(op.Type(0)), d.Class == ir.W64 && rows(ir.W64, d, a):
		return copyRow(d, a)
	}
	return nil
}

func copyRow(d, a *ir.Arg) emitter {
	move, bcast := asm.MovA32, asm.BroadcastD
	if d.Class == ir.W64 {
		move, bcast = asm.MovA64, asm.BroadcastQ
	}
	return func(g *gen) {
		for p := range g.each(d) {
			g.pin()
			ra := g.src(a, p)
			z, o := g.dst(d, p)
			if ra.imm {
				g.VM(bcast, o, z, 0, ra.mem)
			} else {
				g.V(move, o, z, 0, ra.reg)
			}
		}
	}
}

// cvtaTemplate: global and const addresses are generic ones; shared ones lie in their window.
func cvtaTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	if !rows(ir.W64, d, a) {
		return nil
	}
	to := op.Opcode() == optab.OpCvtaTo
	switch op.Mods().Space {
	case optab.SpaceGlobal, optab.SpaceConst:
		return copyRow(d, a)
	case optab.SpaceShared, optab.SpaceCluster:
		x := asm.AddQ
		if to {
			x = asm.SubQ
		}
		return func(g *gen) {
			for p := range 4 {
				g.pin()
				ra := g.reg(a, p)
				z, o := g.dst(d, p)
				g.VM(x, o.Broadcast(), z, ra, inContext(abi.OffSharedGen))
			}
		}
	}
	return nil
}

// packTemplate is mov.b64 d, {lo, hi}.
func packTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	if d.Kind != ir.Row || d.Class != ir.W64 || a.Kind != ir.Vec || len(a.Elems) != 2 || op.Type(0) != optab.B64 {
		return nil
	}
	lo, hi := &a.Elems[0], &a.Elems[1]
	if !lo.Reg() || !hi.Reg() || lo.Class != ir.W32 || hi.Class != ir.W32 {
		return nil
	}
	return func(g *gen) {
		for q := range 4 {
			g.pin()
			g.widen(0, lo, q, false)
			g.widen(1, hi, q, false)
			g.VShift(asm.ShiftQ, asm.Z, asm.ShiftSll, 1, 1, 32)
			z, o := g.dst(d, q)
			g.V(asm.OrQ, o, z, 0, 1)
		}
	}
}

// unpackTemplate is mov.b64 {lo, hi}, a.
func unpackTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	if a.Kind != ir.Row || a.Class != ir.W64 || d.Kind != ir.Vec || len(d.Elems) != 2 || op.Type(0) != optab.B64 {
		return nil
	}
	for i := range d.Elems {
		if e := &d.Elems[i]; e.Kind != ir.None && (e.Kind != ir.Row || e.Class != ir.W32) {
			return nil
		}
	}
	return func(g *gen) {
		for i := range d.Elems {
			e := &d.Elems[i]
			if e.Kind == ir.None {
				continue
			}
			for p := range 2 {
				g.pin()
				g.narrow(0, a, p, uint8(32*i))
				z, o := g.dst(e, p)
				g.V(asm.MovA32, o, z, 0, 0)
			}
		}
	}
}

// narrow puts bits shift and up of the 64-bit elements of half p into z; z+1 is used too.
func (g *gen) narrow(z asm.Vec, a *ir.Arg, p int, shift uint8) {
	for i := range 2 {
		r := g.reg(a, 2*p+i)
		t := z + asm.Vec(i)
		if shift != 0 {
			g.VShift(asm.ShiftQ, asm.Z, asm.ShiftSrl, t, r, shift)
			r = t
		}
		g.V(asm.MovQD, asm.Z, r, 0, t)
	}
	g.VI(asm.InsertQ4, asm.Z, z, z, z+1, 1)
}

// special reads a special register that a launch fixes.
func special(op *ir.Op) emitter {
	d := &op.Args[0]
	if e := specialWord(op); e != nil {
		return e
	}
	if op.SReg == optab.SRegIsExplicitCluster && d.Kind == ir.Row && d.Class == ir.WPred {
		return explicitCluster(d)
	}
	if d.Kind != ir.Row || d.Class != ir.W32 {
		return nil
	}
	axis := int(op.Axis)
	if axis > 2 {
		return nil
	}
	uniform := func(off int32) emitter {
		return func(g *gen) {
			for p := range 2 {
				g.pin()
				z, o := g.dst(d, p)
				g.VM(asm.BroadcastD, o, z, 0, inContext(off))
			}
		}
	}
	switch op.SReg {
	case optab.SRegNtid:
		return uniform(abi.OffBlock + int32(4*axis))
	case optab.SRegCtaid:
		return uniform(abi.OffCTAID + int32(4*axis))
	case optab.SRegNctaid:
		return uniform(abi.OffGrid + int32(4*axis))
	case optab.SRegLaneid:
		return func(g *gen) {
			for p := range 2 {
				g.pin()
				z, o := g.dst(d, p)
				g.Ld(asm.RAX, inContext(abi.OffTables))
				g.VM(asm.MovU32, o, z, 0, asm.At(asm.RAX, offStepsD+int32(64*p)))
			}
		}
	case optab.SRegTid:
		return func(g *gen) { g.threadIndex(d, axis) }
	}
	return nil
}

// threadIndex computes %tid from the thread's number n: n mod x, n/x mod y, n/x/y. Numbers are below 1024, so (n+0.5)/x
// in f32 is never rounded across an integer.
func (g *gen) threadIndex(d *ir.Arg, axis int) {
	g.Ld(asm.RAX, inContext(abi.OffTables))
	g.Ld32(asm.RCX, inContext(abi.OffWarp))
	g.ShlI32(asm.RCX, 5)
	g.VM(asm.BroadcastD, asm.Z, 5, 0, asm.At(asm.RAX, offMagic+4*magicHalf))
	for p := range 2 {
		g.pin()
		g.VR(asm.BroadcastDR, asm.Z, 0, asm.RCX)
		g.VM(asm.AddD, asm.Z, 0, 0, asm.At(asm.RAX, offStepsD+int32(64*p)))
		g.quotient(1, 0, abi.OffBlock)
		switch axis {
		case 0:
			g.VM(asm.MulLD, asm.Z.Broadcast(), 1, 1, inContext(abi.OffBlock))
			g.V(asm.SubD, asm.Z, 0, 0, 1)
		case 1:
			g.quotient(2, 1, abi.OffBlock+4)
			g.VM(asm.MulLD, asm.Z.Broadcast(), 2, 2, inContext(abi.OffBlock+4))
			g.V(asm.SubD, asm.Z, 0, 1, 2)
		default:
			g.quotient(0, 1, abi.OffBlock+4)
		}
		z, o := g.dst(d, p)
		g.V(asm.MovA32, o, z, 0, 0)
	}
}

// quotient puts n over a word of the context into z; zmm5 is 0.5, zmm6 and zmm7 are used.
func (g *gen) quotient(z, n asm.Vec, by int32) {
	g.V(asm.CvtDQ2PS, asm.Z, 6, 0, n)
	g.V(asm.AddPS, asm.Z, 6, 6, 5)
	g.VM(asm.CvtDQ2PS, asm.Z.Broadcast(), 7, 0, inContext(by))
	g.V(asm.DivPS, asm.Z, 6, 6, 7)
	g.V(asm.CvtTPS2DQ, asm.Z, z, 0, 6)
}
