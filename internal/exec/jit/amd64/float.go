package amd64

import (
	"slices"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// plain says whether an operation rounds to nearest and has none of the modifiers that change results.
func plain(op *ir.Op) bool {
	m := op.Mods()
	switch m.Round {
	case optab.RoundRz, optab.RoundRm, optab.RoundRp, optab.RoundRna:
		return false
	}
	return !(m.Ftz || m.Sat || m.Approx || m.Full || m.Relu || m.PropNaN || m.Xorsign || m.Satfinite)
}

// nan64 replaces NaN results of an f64 operation, in register 0 for piece n: the operands' NaNs in order of precedence
// made quiet, else the invalid operation's. Sources are registers.
func (g *gen) nan64(z asm.Vec, order ...asm.Vec) {
	g.VCmp(asm.CmpPD, asm.Z, asm.K7, z, z, asm.FloatUnord)
	g.KOrTestB(asm.K7, asm.K7)
	done := g.NewLabel()
	g.J(asm.E, done)
	g.MovI(asm.RAX, asm.F64NaN)
	g.VR(asm.BroadcastQR, asm.Z.Mask(asm.K7), z, asm.RAX)
	g.MovI(asm.RAX, 0x0008000000000000)
	for i := len(order) - 1; i >= 0; i-- {
		g.VCmp(asm.CmpPD, asm.Z, asm.K7, order[i], order[i], asm.FloatUnord)
		g.VR(asm.BroadcastQR, asm.Z, 7, asm.RAX)
		g.V(asm.OrQ, asm.Z.Mask(asm.K7), z, 7, order[i])
	}
	g.rejoin(done, 0)
}

func arith(ps, pd asm.Op, swap bool) template {
	return func(op *ir.Op) emitter {
		d, a, b := &op.Args[0], &op.Args[1], &op.Args[2]
		if !plain(op) {
			return nil
		}
		switch op.Type(0) {
		case optab.F32:
			if !rows(ir.W32, d, a, b) {
				return nil
			}
			if swap && a.Kind == ir.Imm {
				a, b = b, a
			}
			return func(g *gen) {
				for p := range g.each(d) {
					g.pin()
					ra, rb := g.rawReg(a, p), g.rawSrc(b, p)
					z, o := g.dst(d, p)
					g.op3(ps, o, z, ra, rb)
					g.lazyNaN(z)
				}
			}
		case optab.F64:
			if !rows(ir.W64, d, a, b) || op.First {
				return nil
			}
			return func(g *gen) {
				for p := range g.each(d) {
					g.pin()
					ra, rb := g.reg(a, p), g.reg(b, p)
					g.V(pd, asm.Z, 0, ra, rb)
					g.nan64(0, rb, ra)
					z, o := g.dst(d, p)
					g.V(asm.MovA64, o, z, 0, 0)
				}
			}
		}
		return nil
	}
}

func fmaTemplate(op *ir.Op) emitter {
	d, a, b, c := &op.Args[0], &op.Args[1], &op.Args[2], &op.Args[3]
	if !plain(op) {
		return nil
	}
	switch op.Type(0) {
	case optab.F32:
		if !rows(ir.W32, d, a, b, c) {
			return nil
		}
		if a.Kind == ir.Imm {
			a, b = b, a
		}
		x := asm.FMA231PS
		switch neg := a.Neg != b.Neg; {
		case neg && c.Neg:
			return nil
		case neg:
			x = asm.FNMA231PS
		case c.Neg:
			x = asm.FMS231PS
		}
		return func(g *gen) {
			a, b := a, b
			if l, m := g.lateOf(a), g.lateOf(b); l != nil && !l.twin(g) && (m == nil || m.twin(g)) {
				a, b = b, a // the one that differs from half to half stays in memory
			}
			for p := range g.each(d) {
				g.pin()
				ra, rb, rc := g.rawReg(a, p), g.rawSrc(b, p), g.rawSrc(c, p)
				if !rc.imm && g.inPlace(c, d) {
					z, o := g.dstRaw(d, p)
					g.op3(x, o, z, ra, rb)
					g.lazyNaN(z)
					continue
				}
				if !rc.imm && g.passes(c, p, rc.reg, d) {
					g.op3(x, asm.Z, rc.reg, ra, rb) // before the register of d is given up: it may be a source
					g.lazyNaN(g.give(d, p, rc.reg))
					continue
				}
				masked := g.destMask(d, p) != 0
				aliased := a.Ref == d.Ref || b.Ref == d.Ref
				t := asm.Vec(0)
				var z asm.Vec
				if !masked && !aliased {
					z, _ = g.dst(d, p)
					t = z
				}
				if rc.imm {
					g.VM(asm.BroadcastD, asm.Z, t, 0, rc.mem)
				} else {
					g.V(asm.MovA32, asm.Z, t, 0, rc.reg)
				}
				g.op3(x, asm.Z, t, ra, rb)
				if masked || aliased {
					var o asm.Opt
					z, o = g.dst(d, p)
					g.V(asm.MovA32, o, z, 0, 0)
				}
				g.lazyNaN(z)
			}
		}
	case optab.F64:
		if !rows(ir.W64, d, a, b, c) || op.First || a.Neg || b.Neg || c.Neg {
			return nil
		}
		return func(g *gen) {
			for p := range g.each(d) {
				g.pin()
				ra, rb, rc := g.reg(a, p), g.reg(b, p), g.reg(c, p)
				g.V(asm.MovA64, asm.Z, 0, 0, rc)
				g.V(asm.FMA231PD, asm.Z, 0, ra, rb)
				g.nan64(0, rb, rc, ra)
				z, o := g.dst(d, p)
				g.V(asm.MovA64, o, z, 0, 0)
			}
		}
	}
	return nil
}

// inPlace says whether a source stands in its operation's destination.
func (g *gen) inPlace(a, d *ir.Arg) bool {
	if a.Kind != ir.Row || a.Ref != d.Ref {
		return false
	}
	_, x := g.scalarWeb(a)
	_, y := g.scalarDef(d)
	return !x && !y
}

// passes says whether the register of a source's piece can become the destination's: nothing reads the source behind
// the operation.
func (g *gen) passes(a *ir.Arg, n int, z asm.Vec, d *ir.Arg) bool {
	if a.Kind != ir.Row || g.homeReg[z] || g.c.slots[z].ref != pieceRef(a.Ref, n) ||
		!slices.Contains(g.dies, a.Ref.Off) || g.keeps(a.Ref.Off) {
		return false
	}
	_, scalar := g.scalarDef(d)
	_, home := g.homes[pieceRef(d.Ref, n)]
	return !scalar && !home && g.destMask(d, n) == 0
}

// dstRaw is dst for a destination that is a source too, whose NaNs may be of any kind.
func (g *gen) dstRaw(d *ir.Arg, n int) (asm.Vec, asm.Opt) {
	k := g.destMask(d, n)
	ref := pieceRef(d.Ref, n)
	z := g.load(ref, d.Ref.Off, n, g.op.Guard < 0 && (k == 0 || g.v == nil))
	s := &g.c.slots[z]
	s.dirty, s.lazy, s.all = true, false, k == 0
	return z, asm.Z.Mask(k)
}

func divTemplate(op *ir.Op) emitter {
	if op.Mods().Approx || op.Mods().Full {
		return approxDivTemplate(op)
	}
	d, a, b := &op.Args[0], &op.Args[1], &op.Args[2]
	switch {
	case op.Type(0) == optab.F32:
		return arith(asm.DivPS, asm.DivPD, false)(op)
	case plain(op) && rows(ir.W64, d, a, b):
		return func(g *gen) {
			for p := range g.each(d) {
				g.pin()
				ra, rb := g.reg(a, p), g.reg(b, p)
				g.V(asm.DivPD, asm.Z, 0, ra, rb)
				g.nan64(0, ra, rb)
				z, o := g.dst(d, p)
				g.V(asm.MovA64, o, z, 0, 0)
			}
		}
	}
	return nil
}

func sqrtTemplate(op *ir.Op) emitter {
	if op.Mods().Approx {
		return approxTemplate(op)
	}
	d, a := &op.Args[0], &op.Args[1]
	if !plain(op) {
		return nil
	}
	if op.Type(0) == optab.F32 && rows(ir.W32, d, a) {
		return func(g *gen) {
			for p := range g.each(d) {
				g.pin()
				ra := g.rawSrc(a, p)
				z, o := g.dst(d, p)
				g.op3(asm.SqrtPS, o, z, 0, ra)
				g.lazyNaN(z)
			}
		}
	}
	return nil
}

func rcpTemplate(op *ir.Op) emitter {
	if op.Mods().Approx {
		return approxTemplate(op)
	}
	d, a := &op.Args[0], &op.Args[1]
	if !plain(op) || op.Type(0) != optab.F32 || !rows(ir.W32, d, a) {
		return nil
	}
	return func(g *gen) {
		g.Ld(asm.RAX, inContext(abi.OffTables))
		for p := range g.each(d) {
			g.pin()
			ra := g.rawSrc(a, p)
			z, o := g.dst(d, p)
			g.VM(asm.BroadcastD, asm.Z, 0, 0, asm.At(asm.RAX, offMagic+4*magicOne))
			g.op3(asm.DivPS, o, z, 0, ra)
			g.lazyNaN(z)
		}
	}
}

// extremum is min (0) and max (1) of f32: the operand that is a number; zeros are ordered.
func extremum(which uint8) template {
	return func(op *ir.Op) emitter {
		d, a, b := &op.Args[0], &op.Args[1], &op.Args[2]
		if !plain(op) || op.Type(0) != optab.F32 || !rows(ir.W32, d, a, b) || len(op.Args) != 3 {
			return nil
		}
		return func(g *gen) {
			for p := range g.each(d) {
				g.pin()
				ra, rb := g.rawReg(a, p), g.rawReg(b, p)
				g.VI(asm.RangePS, asm.Z, 0, ra, rb, 4|which)
				g.VCmp(asm.CmpPS, asm.Z, asm.K7, rb, rb, asm.FloatUnord)
				g.V(asm.MovA32, asm.Z.Mask(asm.K7), 0, 0, ra)
				g.VCmp(asm.CmpPS, asm.Z, asm.K7, ra, ra, asm.FloatUnord)
				g.V(asm.MovA32, asm.Z.Mask(asm.K7), 0, 0, rb)
				z, o := g.dst(d, p)
				g.V(asm.MovA32, o, z, 0, 0)
				g.lazyNaN(z)
			}
		}
	}
}

// signTemplate is abs and neg. NaNs become canonical for f32; for f64 all but the sign bit stays as it is, if the
// interpreter says so.
func signTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	if !plain(op) || op.Type(0) != optab.F32 || !rows(ir.W32, d, a) {
		return nil
	}
	x, word := asm.XorD, magicSign
	if op.Opcode() == optab.OpFabs {
		x, word = asm.AndD, magicAbs
	}
	return func(g *gen) {
		g.Ld(asm.RAX, inContext(abi.OffTables))
		for p := range g.each(d) {
			g.pin()
			ra := g.rawReg(a, p)
			z, o := g.dst(d, p)
			g.VM(x, o.Broadcast(), z, ra, asm.At(asm.RAX, offMagic+int32(4*word)))
			g.lazyNaN(z)
		}
	}
}
