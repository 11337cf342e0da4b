package amd64

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// rows says whether operands are rows or constants of one class; the first is a destination.
func rows(c ir.Class, args ...*ir.Arg) bool {
	for i, a := range args {
		if a.Class != c || a.Kind != ir.Row && (i == 0 || a.Kind != ir.Imm) {
			return false
		}
	}
	return true
}

// elementwise writes d = op(a, b) for both classes; swap allows a constant first operand to change places.
func elementwise(op *ir.Op, typ optab.TypeID, d32, d64 asm.Op, swap bool) emitter {
	c, ok := plan.ClassOf(typ)
	if !ok || len(op.Args) < 3 || !rows(c, &op.Args[0], &op.Args[1], &op.Args[2]) {
		return nil
	}
	d, a, b := &op.Args[0], &op.Args[1], &op.Args[2]
	if swap && a.Kind == ir.Imm {
		a, b = b, a
	}
	x := d32
	if c == ir.W64 {
		x = d64
	}
	return func(g *gen) {
		for p := range g.each(d) {
			g.pin()
			ra, rb := g.reg(a, p), g.src(b, p)
			z, o := g.dst(d, p)
			g.op3(x, o, z, ra, rb)
		}
	}
}

func addTemplate(op *ir.Op) emitter {
	if op.Mods().Sat {
		return nil
	}
	return elementwise(op, op.Type(0), asm.AddD, asm.AddQ, true)
}

func subTemplate(op *ir.Op) emitter {
	if op.Mods().Sat {
		return nil
	}
	return elementwise(op, op.Type(0), asm.SubD, asm.SubQ, false)
}

func logicTemplate(d, q asm.Op) template {
	return func(op *ir.Op) emitter {
		if op.Type(0) == optab.Pred {
			return predicateLogic(op)
		}
		return elementwise(op, op.Type(0), d, q, true)
	}
}

// powerOf returns the exponent when a constant is a power of two.
func powerOf(a *ir.Arg) (n uint8, ok bool) {
	if a.Kind != ir.Imm || a.Sym || a.Bits == 0 || a.Bits&(a.Bits-1) != 0 {
		return 0, false
	}
	for v := a.Bits; v > 1; v >>= 1 {
		n++
	}
	return n, true
}

func mulTemplate(op *ir.Op) emitter {
	typ := op.Type(0)
	c, whole := plan.ClassOf(typ)
	switch part := op.Mods().Part; {
	case !whole:
	case part == optab.PartLo:
		if n, ok := powerOf(&op.Args[2]); ok {
			return shiftBy(op, typ, asm.ShiftSll, n)
		}
		return elementwise(op, typ, asm.MulLD, asm.MulLQ, true)
	case part == optab.PartWide && c == ir.W32:
		return wide(op, typ == optab.S32, nil)
	case part == optab.PartHi && c == ir.W32:
		return high(op, typ == optab.S32, nil)
	}
	return nil
}

func madTemplate(op *ir.Op) emitter {
	typ := op.Type(0)
	cl, whole := plan.ClassOf(typ)
	if op.Mods().Sat || !whole {
		return nil
	}
	d, a, b, c := &op.Args[0], &op.Args[1], &op.Args[2], &op.Args[3]
	switch part := op.Mods().Part; {
	case part == optab.PartLo:
		if !rows(cl, d, a, b, c) {
			return nil
		}
		mul, add := asm.MulLD, asm.AddD
		if cl == ir.W64 {
			mul, add = asm.MulLQ, asm.AddQ
		}
		if a.Kind == ir.Imm {
			a, b = b, a
		}
		return func(g *gen) {
			for p := range g.each(d) {
				g.pin()
				ra, rb, rc := g.reg(a, p), g.src(b, p), g.src(c, p)
				g.op3(mul, asm.Z, 0, ra, rb)
				z, o := g.dst(d, p)
				g.op3(add, o, z, 0, rc)
			}
		}
	case part == optab.PartWide && cl == ir.W32:
		if c.Class != ir.W64 || !c.Reg() {
			return nil
		}
		return wide(op, typ == optab.S32, c)
	case part == optab.PartHi && cl == ir.W32:
		if c.Class != ir.W32 || !c.Reg() {
			return nil
		}
		return high(op, typ == optab.S32, c)
	}
	return nil
}

// widen writes quarter q of a 32-bit source as 64-bit elements into z.
func (g *gen) widen(z asm.Vec, a *ir.Arg, q int, signed bool) {
	op := asm.MovZXDQ
	if signed {
		op = asm.MovSXDQ
	}
	if a.Kind == ir.Imm {
		g.V(op, asm.Z, z, 0, g.constant(a))
		return
	}
	h := g.reg(a, q/2)
	if q&1 == 0 {
		g.V(op, asm.Z, z, 0, h)
		return
	}
	g.VI(asm.ExtractQ4, asm.Z, h, 0, z, 1)
	g.V(op, asm.Z, z, 0, z)
}

// wide is mul.wide and mad.wide.
func wide(op *ir.Op, signed bool, c *ir.Arg) emitter {
	d, a, b := &op.Args[0], &op.Args[1], &op.Args[2]
	if d.Kind != ir.Row || d.Class != ir.W64 || !a.Reg() || !b.Reg() || a.Class != ir.W32 || b.Class != ir.W32 {
		return nil
	}
	if a.Kind == ir.Imm {
		a, b = b, a
	}
	shift, power := powerOf(b)
	power = power && shift < 31
	mul := asm.MulUDQ
	if signed {
		mul = asm.MulDQ
	}
	return func(g *gen) {
		for q := range g.each(d) {
			g.pin()
			g.widen(0, a, q, signed)
			var rc operand
			if c != nil {
				rc = g.src(c, q)
			}
			z, o := g.dst(d, q)
			t := z
			if c != nil {
				t = 0
			}
			ot := o
			if c != nil {
				ot = asm.Z
			}
			if power {
				g.VShift(asm.ShiftQ, ot, asm.ShiftSll, t, 0, shift)
			} else {
				g.widen(1, b, q, signed)
				g.V(mul, ot, t, 0, 1)
			}
			if c != nil {
				g.op3(asm.AddQ, o, z, 0, rc)
			}
		}
	}
}

// high is mul.hi and mad.hi of 32 bits.
func high(op *ir.Op, signed bool, c *ir.Arg) emitter {
	d, a, b := &op.Args[0], &op.Args[1], &op.Args[2]
	if !rows(ir.W32, d, a, b) {
		return nil
	}
	mul := asm.MulUDQ
	if signed {
		mul = asm.MulDQ
	}
	return func(g *gen) {
		for p := range g.each(d) {
			g.pin()
			ra, rb := g.reg(a, p), g.reg(b, p)
			g.MovI32(asm.RAX, 0xaaaa)
			g.KMovDR(asm.K7, asm.RAX)
			g.V(mul, asm.Z, 0, ra, rb)
			g.VShift(asm.ShiftQ, asm.Z, asm.ShiftSrl, 1, ra, 32)
			g.VShift(asm.ShiftQ, asm.Z, asm.ShiftSrl, 2, rb, 32)
			g.V(mul, asm.Z, 1, 1, 2)
			g.VShift(asm.ShiftQ, asm.Z, asm.ShiftSrl, 0, 0, 32)
			g.V(asm.MovA32, asm.Z.Mask(asm.K7), 0, 0, 1)
			var rc operand
			if c != nil {
				rc = g.src(c, p)
			}
			z, o := g.dst(d, p)
			if c != nil {
				g.op3(asm.AddD, o, z, 0, rc)
			} else {
				g.V(asm.MovA32, o, z, 0, 0)
			}
		}
	}
}

// shiftBy shifts by a number that is known.
func shiftBy(op *ir.Op, typ optab.TypeID, kind asm.Shift, n uint8) emitter {
	c, ok := plan.ClassOf(typ)
	d, a := &op.Args[0], &op.Args[1]
	if !ok || !rows(c, d, a) {
		return nil
	}
	x := asm.ShiftD
	if c == ir.W64 {
		if x = asm.ShiftQ; kind == asm.ShiftSra {
			x = asm.ShiftAQ
		}
	}
	return func(g *gen) {
		for p := range g.each(d) {
			g.pin()
			ra := g.reg(a, p)
			z, o := g.dst(d, p)
			g.VShift(x, o, kind, z, ra, n)
		}
	}
}

// shift is shl and shr by any 32-bit number: vector shifts clamp as PTX does.
func shift(op *ir.Op, typ optab.TypeID, kind asm.Shift, d32, d64 asm.Op) emitter {
	c, ok := plan.ClassOf(typ)
	d, a, b := &op.Args[0], &op.Args[1], &op.Args[2]
	if !ok || !rows(c, d, a) || !b.Reg() || b.Class != ir.W32 {
		return nil
	}
	if b.Kind == ir.Imm && !b.Sym {
		return shiftBy(op, typ, kind, uint8(min(uint32(b.Bits), 255)))
	}
	return func(g *gen) {
		for p := range g.each(d) {
			g.pin()
			ra := g.reg(a, p)
			if c == ir.W32 {
				rb := g.src(b, p)
				z, o := g.dst(d, p)
				g.op3(d32, o, z, ra, rb)
				continue
			}
			g.widen(0, b, p, false)
			z, o := g.dst(d, p)
			g.V(d64, o, z, ra, 0)
		}
	}
}

func shlTemplate(op *ir.Op) emitter {
	return shift(op, op.Type(0), asm.ShiftSll, asm.SllVD, asm.SllVQ)
}

func shrTemplate(op *ir.Op) emitter {
	switch typ := op.Type(0); typ {
	case optab.S32, optab.S64:
		return shift(op, typ, asm.ShiftSra, asm.SraVD, asm.SraVQ)
	default:
		return shift(op, typ, asm.ShiftSrl, asm.SrlVD, asm.SrlVQ)
	}
}

// shfTemplate is the funnel shift, modulo 32 or clamped, of {b,a}.
func shfTemplate(op *ir.Op) emitter {
	d, a, b, c := &op.Args[0], &op.Args[1], &op.Args[2], &op.Args[3]
	if !rows(ir.W32, d, a, b, c) {
		return nil
	}
	left, clamp := op.Mods().Direction == optab.DirectionLeft, op.Mods().Bound == optab.BoundClamp
	if c.Kind == ir.Imm && !c.Sym {
		n := uint32(c.Bits) & 31
		if clamp {
			n = min(uint32(c.Bits), 32)
		}
		return func(g *gen) {
			for p := range g.each(d) {
				g.pin()
				ra, rb := g.reg(a, p), g.reg(b, p)
				z, o := g.dst(d, p)
				switch {
				case left && n == 0, !left && n == 32:
					g.V(asm.MovA32, o, z, 0, rb)
				case left && n == 32, !left && n == 0:
					g.V(asm.MovA32, o, z, 0, ra)
				case ra == rb:
					kind := asm.ShiftRor
					if left {
						kind = asm.ShiftRol
					}
					g.VShift(asm.ShiftD, o, kind, z, ra, uint8(n))
				case left: // b << n | a >> 32-n
					g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 0, rb, uint8(n))
					g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, 1, ra, uint8(32-n))
					g.V(asm.OrD, o, z, 0, 1)
				default: // a >> n | b << 32-n
					g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, 0, ra, uint8(n))
					g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 1, rb, uint8(32-n))
					g.V(asm.OrD, o, z, 0, 1)
				}
			}
		}
	}
	return func(g *gen) {
		g.Ld(asm.RAX, inContext(abi.OffTables))
		magic := func(i int) asm.Mem { return asm.At(asm.RAX, offMagic+int32(4*i)) }
		for p := range g.each(d) {
			g.pin()
			ra, rb, rc := g.reg(a, p), g.reg(b, p), g.reg(c, p)
			if clamp {
				g.VM(asm.MinUD, asm.Z.Broadcast(), 0, rc, magic(magic32))
			} else {
				g.VM(asm.AndD, asm.Z.Broadcast(), 0, rc, magic(magic31))
			}
			g.VM(asm.BroadcastD, asm.Z, 1, 0, magic(magic32))
			g.V(asm.SubD, asm.Z, 1, 1, 0) // 32-n: a shift by 32 gives zero
			if left {
				g.V(asm.SllVD, asm.Z, 0, rb, 0)
				g.V(asm.SrlVD, asm.Z, 1, ra, 1)
			} else {
				g.V(asm.SrlVD, asm.Z, 0, ra, 0)
				g.V(asm.SllVD, asm.Z, 1, rb, 1)
			}
			z, o := g.dst(d, p)
			g.V(asm.OrD, o, z, 0, 1)
		}
	}
}

func notTemplate(op *ir.Op) emitter {
	if op.Type(0) == optab.Pred {
		d, a := &op.Args[0], &op.Args[1]
		return func(g *gen) {
			g.pred(asm.RAX, a)
			g.Not32(asm.RAX)
			g.setPred(d, asm.RAX)
		}
	}
	c, ok := plan.ClassOf(op.Type(0))
	d, a := &op.Args[0], &op.Args[1]
	if !ok || !rows(c, d, a) {
		return nil
	}
	x := asm.TernD
	if c == ir.W64 {
		x = asm.TernQ
	}
	return func(g *gen) {
		for p := range g.each(d) {
			g.pin()
			ra := g.reg(a, p)
			g.V(asm.MovA32, asm.Z, 0, 0, ra)
			g.VI(x, asm.Z, 0, 0, 0, 0x55)
			z, o := g.dst(d, p)
			move := asm.MovA32
			if c == ir.W64 {
				move = asm.MovA64
			}
			g.V(move, o, z, 0, 0)
		}
	}
}

func lop3Template(op *ir.Op) emitter {
	d, a, b, c := &op.Args[0], &op.Args[1], &op.Args[2], &op.Args[3]
	if !rows(ir.W32, d, a, b, c) {
		return nil
	}
	lut := uint8(op.Arg("lut").Bits)
	return func(g *gen) {
		for p := range g.each(d) {
			g.pin()
			ra, rb, rc := g.reg(a, p), g.reg(b, p), g.src(c, p)
			g.V(asm.MovA32, asm.Z, 0, 0, ra)
			g.op3i(asm.TernD, asm.Z, 0, rb, rc, lut)
			z, o := g.dst(d, p)
			g.V(asm.MovA32, o, z, 0, 0)
		}
	}
}

func negTemplate(op *ir.Op) emitter {
	c, ok := plan.ClassOf(op.Type(0))
	d, a := &op.Args[0], &op.Args[1]
	if !ok || !rows(c, d, a) {
		return nil
	}
	x := asm.SubD
	if c == ir.W64 {
		x = asm.SubQ
	}
	return func(g *gen) {
		g.V(asm.XorD, asm.Z, 0, 0, 0)
		for p := range g.each(d) {
			g.pin()
			ra := g.src(a, p)
			z, o := g.dst(d, p)
			g.op3(x, o, z, 0, ra)
		}
	}
}

func absTemplate(op *ir.Op) emitter {
	return unary(op, op.Type(0), asm.AbsD, asm.AbsQ)
}

// unary writes d = op(a).
func unary(op *ir.Op, typ optab.TypeID, d32, d64 asm.Op) emitter {
	c, ok := plan.ClassOf(typ)
	d, a := &op.Args[0], &op.Args[1]
	if !ok || !rows(c, d, a) {
		return nil
	}
	x := d32
	if c == ir.W64 {
		x = d64
	}
	return func(g *gen) {
		for p := range g.each(d) {
			g.pin()
			ra := g.src(a, p)
			z, o := g.dst(d, p)
			g.op3(x, o, z, 0, ra)
		}
	}
}

func clzTemplate(op *ir.Op) emitter {
	if op.Type(0) != optab.B32 {
		return nil
	}
	return unary(op, optab.B32, asm.LzcntD, asm.LzcntQ)
}

// popcTemplate is popc of 32 bits: the bits of each four are looked up, and the bytes added.
func popcTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	if op.Type(0) != optab.B32 || !rows(ir.W32, d, a) {
		return nil
	}
	var counts, fours [16]uint32
	for i := range 64 {
		counts[i/4] |= uint32(bits.OnesCount8(uint8(i%16))) << (i % 4 * 8)
	}
	for i := range fours {
		fours[i] = 0x0f0f0f0f
	}
	return func(g *gen) {
		for p := range g.each(d) {
			g.pin()
			ra := g.reg(a, p)
			g.VL(asm.MovU32, asm.Z, 2, 0, g.vector(fours))
			g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, 1, ra, 4)
			g.V(asm.AndD, asm.Z, 0, ra, 2)
			g.V(asm.AndD, asm.Z, 1, 1, 2)
			g.VL(asm.MovU32, asm.Z, 2, 0, g.vector(counts))
			g.V(asm.ShufB, asm.Z, 0, 2, 0)
			g.V(asm.ShufB, asm.Z, 1, 2, 1)
			g.V(asm.AddB, asm.Z, 0, 0, 1)
			g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, 1, 0, 16)
			g.V(asm.AddB, asm.Z, 0, 0, 1)
			g.VShift(asm.ShiftD, asm.Z, asm.ShiftSrl, 1, 0, 8)
			g.V(asm.AddB, asm.Z, 0, 0, 1)
			z, o := g.dst(d, p)
			g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 0, 0, 24)
			g.VShift(asm.ShiftD, o, asm.ShiftSrl, z, 0, 24)
		}
	}
}

func minTemplate(op *ir.Op) emitter {
	if op.Mods().Relu {
		return nil
	}
	larger := op.Opcode() == optab.OpImax
	switch typ := op.Type(0); {
	case !typ.Signed() && larger:
		return elementwise(op, typ, asm.MaxUD, asm.MaxUQ, true)
	case !typ.Signed():
		return elementwise(op, typ, asm.MinUD, asm.MinUQ, true)
	case larger:
		return elementwise(op, typ, asm.MaxSD, asm.MaxSQ, true)
	default:
		return elementwise(op, typ, asm.MinSD, asm.MinSQ, true)
	}
}

// bfeTemplate is bfe of 32 bits by constants within the word.
func bfeTemplate(op *ir.Op) emitter {
	d, a, b, c := &op.Args[0], &op.Args[1], &op.Args[2], &op.Args[3]
	typ := op.Type(0)
	if cl, ok := plan.ClassOf(typ); !ok || cl != ir.W32 || !rows(ir.W32, d, a) || b.Kind != ir.Imm ||
		c.Kind != ir.Imm || b.Sym || c.Sym {
		return nil
	}
	pos, n := uint32(b.Bits)&0xff, uint32(c.Bits)&0xff
	if n == 0 || pos+n > 32 {
		return nil
	}
	right := asm.Shift(asm.ShiftSrl)
	if typ == optab.S32 {
		right = asm.ShiftSra
	}
	return func(g *gen) {
		for p := range g.each(d) {
			g.pin()
			ra := g.reg(a, p)
			g.VShift(asm.ShiftD, asm.Z, asm.ShiftSll, 0, ra, uint8(32-pos-n))
			z, o := g.dst(d, p)
			g.VShift(asm.ShiftD, o, right, z, 0, uint8(32-n))
		}
	}
}

// prmtTemplate is prmt with a constant selector that spreads no signs.
func prmtTemplate(op *ir.Op) emitter {
	d, a, b, c := &op.Args[0], &op.Args[1], &op.Args[2], &op.Args[3]
	if op.Mods().Permute != optab.NoPermute || c.Kind != ir.Imm || c.Sym || c.Bits&0x8888 != 0 ||
		!rows(ir.W32, d, a, b) {
		return nil
	}
	// vpshufb of each source with its own selector: bytes that come from the other become zero.
	var fromA, fromB [16]uint32
	useA, useB := false, false
	for i := range 16 {
		for j := range 4 {
			s := uint32(c.Bits) >> (4 * j) & 7
			x, y := s+uint32(i%4)*4, uint32(0x80)
			if s >= 4 {
				x, y = 0x80, s-4+uint32(i%4)*4
				useB = true
			} else {
				useA = true
			}
			fromA[i] |= x << (8 * j)
			fromB[i] |= y << (8 * j)
		}
	}
	return func(g *gen) {
		for p := range g.each(d) {
			g.pin()
			if useA {
				g.LeaLabel(asm.RAX, g.vector(fromA))
				g.VM(asm.ShufB, asm.Z, 0, g.reg(a, p), asm.At(asm.RAX, 0))
			}
			if useB {
				g.LeaLabel(asm.RAX, g.vector(fromB))
				g.VM(asm.ShufB, asm.Z, 1, g.reg(b, p), asm.At(asm.RAX, 0))
			}
			z, o := g.dst(d, p)
			switch {
			case useA && useB:
				g.V(asm.OrD, o, z, 0, 1)
			case useA:
				g.V(asm.MovA32, o, z, 0, 0)
			default:
				g.V(asm.MovA32, o, z, 0, 1)
			}
		}
	}
}
