package amd64

import (
	"slices"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// The approximate functions of f32, with the tables and the arithmetic of package num (approx.go there), sixteen lanes
// at a time.

// curveTable is a table in the engine's constants.
type curveTable struct {
	c0     [128]int64
	c1, c2 [128]int32
}

type approxTables struct {
	bit    [32]uint32
	words  [len(unitWords)]uint32
	units  [len(unitLead)]unitTable
	curves [len(curveNames)]curveTable
}

// The curves by their place in approxTables.
const (
	curveRcp = iota
	curveRsqrt
	curveSqrt
	curveEx2
	curveLg2
	curveSin
	curveTanh
)

// curveShape is how an operand is cut into segment and rest: rest bits, and the column below which partial products of
// its square fall away.
type curveShape struct{ bits, low uint8 }

var curveNames = [...]string{"rcp", "rsqrt", "sqrt", "ex2", "lg2", "sin", "tanh"}

var curveShapes = func() (s [len(curveNames)]curveShape) {
	for i, name := range curveNames {
		c, _ := num.CurveOf(name)
		s[i] = curveShape{uint8(c.Bits), uint8(c.Low)}
	}
	return s
}()

func (t *approxTables) fill() {
	for i := range t.bit {
		t.bit[i] = 1 << i
	}
	for i, name := range curveNames {
		c, _ := num.CurveOf(name)
		copy(t.curves[i].c0[:], c.C0)
		copy(t.curves[i].c1[:], c.C1)
		copy(t.curves[i].c2[:], c.C2)
	}
	t.fillUnit()
}

func approxTemplate(op *ir.Op) emitter {
	d, a := &op.Args[0], &op.Args[1]
	if op.Type(0) != optab.F32 || !rows(ir.W32, d, a) {
		return nil
	}
	var all func(g *gen, x, to asm.Vec, ftz bool)
	var fast *unit
	switch op.Opcode() {
	case optab.OpRcp:
		all, fast = (*gen).rcp, &units[curveRcp]
	case optab.OpSqrt:
		all, fast = (*gen).sqrt, &units[curveSqrt]
	case optab.OpRsqrt:
		all, fast = (*gen).rsqrt, &units[curveRsqrt]
	case optab.OpEx2:
		all, fast = (*gen).ex2, &units[curveEx2]
	case optab.OpLg2:
		all, fast = (*gen).lg2, &units[curveLg2]
	case optab.OpSin:
		all = func(g *gen, x, to asm.Vec, _ bool) { g.sine(x, to, 0) }
	case optab.OpCos:
		all = func(g *gen, x, to asm.Vec, _ bool) { g.sine(x, to, 1) }
	case optab.OpTanh:
		all = func(g *gen, x, to asm.Vec, _ bool) { g.tanh(x, to) }
	default:
		return nil
	}
	ftz := op.Mods().Ftz
	return func(g *gen) {
		if fast != nil {
			g.pin()
			x, to := make([]asm.Vec, g.pieces(d)), make([]asm.Vec, g.pieces(d))
			for p := range x {
				x[p], to[p] = g.rawReg(a, p), g.temp()
			}
			g.ordinary(fast, x, to, nil, func(p int) { all(g, x[p], to[p], ftz) })
			for p := range to {
				g.give(d, p, to[p])
			}
			g.release()
			return
		}
		for p := range g.each(d) {
			g.pin()
			x := g.rawReg(a, p)
			to := g.temp()
			all(g, x, to, ftz)
			z, o := g.dst(d, p)
			g.V(asm.MovA32, o, z, 0, to)
			g.release()
		}
	}
}

// approxDivTemplate is div.approx and div.full.
func approxDivTemplate(op *ir.Op) emitter {
	d, a, b := &op.Args[0], &op.Args[1], &op.Args[2]
	if op.Type(0) != optab.F32 || !rows(ir.W32, d, a, b) || op.Mods().Ftz {
		return nil
	}
	full := op.Mods().Full
	return func(g *gen) {
		n := g.pieces(d)
		g.pin()
		ra, rb, to := make([]asm.Vec, n), make([]asm.Vec, n), make([]asm.Vec, n)
		for p := range n {
			ra[p], rb[p], to[p] = g.rawReg(a, p), g.rawReg(b, p), g.temp()
		}
		divide := units[curveRcp]
		divide.end = func(g *gen, x, r asm.Vec) {
			units[curveRcp].end(g, x, r)
			g.V(asm.MulPS, asm.Z, r, ra[slices.Index(to, r)], r)
		}
		g.ordinary(&divide, rb, to, ra, func(p int) {
			f, x := g.temp(), g.temp()
			g.scaleFactor(rb[p], f, full)
			g.V(asm.MulPS, asm.Z, x, rb[p], f)
			g.rcpUnit(x, to[p])
			g.V(asm.MulPS, asm.Z, x, ra[p], f)
			g.V(asm.MulPS, asm.Z, to[p], x, to[p])
		})
		for p := range n {
			g.lazyNaN(g.give(d, p, to[p]))
		}
		g.release()
	}
}

// temp takes a register of the cache for the operation in hand.
func (g *gen) temp() asm.Vec {
	if n := len(g.spare); n > 0 {
		z := g.spare[n-1]
		g.spare = g.spare[:n-1]
		return z
	}
	z := g.alloc()
	g.c.slots[z] = slot{ref: ir.Ref{Off: uint32(z), Sel: 2}, used: true, stamp: g.c.stamp}
	return z
}

// release gives the registers of temp back.
func (g *gen) release() {
	for z := range g.c.slots {
		if g.c.slots[z].ref.Sel == 2 {
			g.c.slots[z] = slot{}
		}
	}
}

// splat puts a word into all lanes. rax is used.
func (g *gen) splat(z asm.Vec, v uint32) {
	g.MovI32(asm.RAX, v)
	g.VR(asm.BroadcastDR, asm.Z, z, asm.RAX)
}

// cmp compares words as unsigned numbers with a constant into k7: 1 less, 2 not greater, 5 not less, 6 greater, 0
// equal. zmm7 and rax are used.
func (g *gen) cmp(x asm.Vec, v uint32, how asm.Predicate) {
	g.splat(7, v)
	g.VCmp(asm.CmpUD, asm.Z, asm.K7, x, 7, how)
}

// set puts a constant into the lanes of k7. rax is used.
func (g *gen) set(z asm.Vec, v uint32) {
	g.MovI32(asm.RAX, v)
	g.VR(asm.BroadcastDR, asm.Z.Mask(asm.K7), z, asm.RAX)
}

func (g *gen) shift32(kind asm.Shift, d, s asm.Vec, n uint8) {
	g.VShift(asm.ShiftD, asm.Z, kind, d, s, n)
}
func (g *gen) shift64(kind asm.Shift, d, s asm.Vec, n uint8) {
	op := asm.ShiftQ
	if kind == asm.ShiftSra {
		op = asm.ShiftAQ
	}
	g.VShift(op, asm.Z, kind, d, s, n)
}

// curve evaluates a table at zmm0 and puts the f32 next to it toward zero, in units of 2^-40, into to. stage changes
// the 64-bit values in zmm5 first, those of the even lanes and then those of the odd ones; it may use zmm6 and zmm7.
// zmm0 to zmm7, rax, rdx and k7 are used.
func (g *gen) curve(which int, to asm.Vec, stage func(odd bool)) {
	s := curveShapes[which]
	at := func(off uintptr) int32 {
		return offApprox + int32(unsafe.Offsetof(approxTables{}.curves)) +
			int32(which)*int32(unsafe.Sizeof(curveTable{})) + int32(off)
	}
	g.Ld(asm.RDX, inContext(abi.OffTables))
	bit := func(i uint8) asm.Mem { return asm.At(asm.RDX, offApprox+4*int32(i)) }
	g.splat(1, 1<<s.bits-1)
	g.V(asm.AndD, asm.Z, 1, 1, 0)
	g.shift32(asm.ShiftSrl, 0, 0, s.bits)
	// The square's partial products from column low up: those of the upper bits among themselves, and of each lower bit
	// with the bits far enough above it.
	mid := (s.low - 1) / 2
	g.shift32(asm.ShiftSrl, 3, 1, mid+1)
	g.V(asm.MulLD, asm.Z, 2, 3, 3)
	g.V(asm.AddD, asm.Z, 2, 2, 2)
	g.V(asm.AddD, asm.Z, 4, 3, 3)
	g.VTestM(asm.TestMD, asm.Z.Broadcast(), asm.K7, 1, bit(mid))
	g.V(asm.AddD, asm.Z.Mask(asm.K7), 2, 2, 4)
	for i := s.low - s.bits; i < mid; i++ {
		g.VTestM(asm.TestMD, asm.Z.Broadcast(), asm.K7, 1, bit(i))
		g.shift32(asm.ShiftSrl, 4, 1, s.low-1-i)
		g.V(asm.AddD, asm.Z.Mask(asm.K7), 2, 2, 4)
	}
	for i, off := range []uintptr{unsafe.Offsetof(curveTable{}.c1), unsafe.Offsetof(curveTable{}.c2)} {
		z := asm.Vec(3 + i)
		g.V(asm.XorD, asm.Z, z, z, z)
		g.KXnorW(asm.K7, asm.K7, asm.K7)
		g.VX(asm.GatherDD, asm.Z.Mask(asm.K7), z, asm.RDX, 0, 4, at(off))
	}
	for odd := range 2 {
		if odd == 0 {
			g.V(asm.MulDQ, asm.Z, 5, 1, 3)
			g.V(asm.MulDQ, asm.Z, 6, 2, 4)
			g.V(asm.AddQ, asm.Z, 5, 5, 6)
			g.shift64(asm.ShiftSll, 6, 0, 32)
			g.shift64(asm.ShiftSrl, 6, 6, 32)
		} else {
			g.shift64(asm.ShiftSrl, 5, 1, 32)
			g.shift64(asm.ShiftSrl, 6, 3, 32)
			g.V(asm.MulDQ, asm.Z, 5, 5, 6)
			g.shift64(asm.ShiftSrl, 6, 2, 32)
			g.shift64(asm.ShiftSrl, 7, 4, 32)
			g.V(asm.MulDQ, asm.Z, 6, 6, 7)
			g.V(asm.AddQ, asm.Z, 5, 5, 6)
			g.shift64(asm.ShiftSrl, 6, 0, 32)
		}
		g.V(asm.XorD, asm.Z, 7, 7, 7)
		g.KXnorW(asm.K7, asm.K7, asm.K7)
		g.VX(asm.GatherQQ, asm.Z.Mask(asm.K7), 7, asm.RDX, 6, 8, at(unsafe.Offsetof(curveTable{}.c0)))
		g.V(asm.AddQ, asm.Z, 5, 5, 7)
		if stage != nil {
			stage(odd == 1)
		}
		// The f64 is exact; its upper bits are an f32 cut toward zero, but for the exponent's bias.
		g.V(asm.CvtQQ2PD, asm.Z, 5, 0, 5)
		g.shift64(asm.ShiftSrl, 5, 5, 29)
		if odd == 0 {
			g.V(asm.MovA64, asm.Z, to, 0, 5)
			continue
		}
		g.shift64(asm.ShiftSll, 5, 5, 32)
		g.MovI32(asm.RAX, 0xaaaa)
		g.KMovDR(asm.K7, asm.RAX)
		g.V(asm.MovA32, asm.Z.Mask(asm.K7), to, 0, 5)
	}
	g.splat(7, 896<<23&0xffffffff)
	g.V(asm.SubD, asm.Z, to, to, 7)
}

// magnitude puts |x| into d.
func (g *gen) magnitude(d, x asm.Vec) {
	g.splat(d, asm.F32Abs)
	g.V(asm.AndD, asm.Z, d, d, x)
}

// withSign ors the sign of x into z. zmm7 is used.
func (g *gen) withSign(z, x asm.Vec) {
	g.splat(7, asm.F32Sign)
	g.V(asm.AndD, asm.Z, 7, 7, x)
	g.V(asm.OrD, asm.Z, z, z, 7)
}

// subnormals finds the lanes of k7 where |x| in m is subnormal, not zero: |x|-1 below min-1 as unsigned numbers. zmm6
// and zmm7 are used.
func (g *gen) subnormals(m asm.Vec) {
	g.splat(7, 1)
	g.V(asm.SubD, asm.Z, 6, m, 7)
	g.cmp(6, asm.F32MinNormal-1, asm.CmpLT)
}

// scaleFactor puts 2^24 into f where x is subnormal, 2^-2 where it is above 2^126 (when large is set), else 1. zmm5 to
// zmm7 are used.
func (g *gen) scaleFactor(x, f asm.Vec, large bool) {
	g.magnitude(5, x)
	g.splat(f, asm.F32One)
	g.subnormals(5)
	g.set(f, 0x4b800000)
	if large {
		g.splat(7, 0x7e800001)
		g.V(asm.SubD, asm.Z, 6, 5, 7)
		g.cmp(6, asm.F32Inf-0x7e800001, asm.CmpLT)
		g.set(f, 0x3e800000)
	}
}

// rcp is rcp.approx.
func (g *gen) rcp(x, to asm.Vec, ftz bool) {
	if ftz {
		g.rcpUnit(x, to)
		return
	}
	f, y := g.temp(), g.temp()
	g.scaleFactor(x, f, true)
	g.V(asm.MulPS, asm.Z, y, x, f)
	g.rcpUnit(y, to)
	g.V(asm.MulPS, asm.Z, to, to, f)
	g.canonical(to, asm.K0)
}

// rcpUnit is the hardware's reciprocal.
func (g *gen) rcpUnit(x, to asm.Vec) {
	g.splat(0, asm.F32Mantissa)
	g.V(asm.AndD, asm.Z, 0, 0, x)
	g.curve(curveRcp, to, nil)
	m := asm.Vec(0)
	g.magnitude(m, x)
	// v * 2^(-e-40)
	g.splat(1, asm.F32Inf)
	g.V(asm.AndD, asm.Z, 1, 1, x)
	g.V(asm.SubD, asm.Z, to, to, 1)
	g.splat(1, 87<<23)
	g.V(asm.AddD, asm.Z, to, to, 1)
	// powers of two
	g.splat(1, asm.F32Mantissa)
	g.VTest(asm.TestNMD, asm.Z, asm.K7, 1, x)
	g.splat(1, 0x7f000000)
	g.V(asm.SubD, asm.Z.Mask(asm.K7), to, 1, m)
	g.flushSmall(to)
	g.cmp(m, asm.F32Inf, asm.CmpGE)
	g.set(to, 0)
	g.cmp(m, asm.F32MinNormal, asm.CmpLT)
	g.set(to, asm.F32Inf)
	g.withSign(to, x)
	g.cmp(m, asm.F32Inf, asm.CmpGT)
	g.V(asm.MovA32, asm.Z.Mask(asm.K7), to, 0, nanReg)
}

// flushSmall makes zero of what is below the smallest normal number, as signed words. zmm7 is used.
func (g *gen) flushSmall(z asm.Vec) {
	g.splat(7, asm.F32MinNormal)
	g.VCmp(asm.CmpD, asm.Z, asm.K7, z, 7, asm.CmpLT)
	g.set(z, 0)
}

// rootOperand puts the root curves' operand into zmm0: the fraction with the exponent's lowest bit above it.
func (g *gen) rootOperand(x asm.Vec) {
	g.splat(0, asm.F32MinNormal)
	g.V(asm.XorD, asm.Z, 0, 0, x)
	g.splat(1, 0xffffff)
	g.V(asm.AndD, asm.Z, 0, 0, 1)
}

// halfExponent puts e>>1 into zmm1, where e is the exponent of x>0.
func (g *gen) halfExponent(x asm.Vec) {
	g.shift32(asm.ShiftSrl, 1, x, 23)
	g.splat(2, 127)
	g.V(asm.SubD, asm.Z, 1, 1, 2)
	g.shift32(asm.ShiftSra, 1, 1, 1)
}

// root scales x where it is subnormal, evaluates f, and scales back.
func (g *gen) root(x, to asm.Vec, ftz bool, back uint32, f func(x, to asm.Vec)) {
	if ftz {
		f(x, to)
		return
	}
	y, s := g.temp(), g.temp()
	g.magnitude(5, x)
	g.splat(y, asm.F32One)
	g.splat(s, asm.F32One)
	g.subnormals(5)
	g.set(y, 0x4b800000)
	g.set(s, back)
	g.V(asm.MulPS, asm.Z, y, y, x)
	f(y, to)
	g.V(asm.MulPS, asm.Z, to, to, s)
	g.canonical(to, asm.K0)
}

func (g *gen) sqrt(x, to asm.Vec, ftz bool) {
	g.root(x, to, ftz, 0x39800000, func(x, to asm.Vec) {
		g.rootOperand(x)
		g.curve(curveSqrt, to, nil)
		g.halfExponent(x)
		g.rootScale(x, to, 1)
		g.magnitude(0, x)
		g.cmp(0, asm.F32Inf, asm.CmpEQ)
		g.set(to, asm.F32Inf)
		g.cmp(x, asm.F32Sign, asm.CmpGE)
		g.V(asm.MovA32, asm.Z.Mask(asm.K7), to, 0, nanReg)
		g.cmp(0, asm.F32MinNormal, asm.CmpLT)
		g.set(to, 0)
		g.splat(1, asm.F32Sign)
		g.V(asm.AndD, asm.Z.Mask(asm.K7), to, 1, x)
		g.cmp(0, asm.F32Inf, asm.CmpGT)
		g.V(asm.MovA32, asm.Z.Mask(asm.K7), to, 0, nanReg)
	})
}

func (g *gen) rsqrt(x, to asm.Vec, ftz bool) {
	g.root(x, to, ftz, 0x45800000, func(x, to asm.Vec) {
		g.rootOperand(x)
		g.curve(curveRsqrt, to, nil)
		g.halfExponent(x)
		g.V(asm.XorD, asm.Z, 2, 2, 2)
		g.V(asm.SubD, asm.Z, 1, 2, 1)
		g.rootScale(x, to, 1)
		g.magnitude(0, x)
		g.cmp(0, asm.F32Inf, asm.CmpEQ)
		g.set(to, 0)
		g.cmp(x, asm.F32Sign, asm.CmpGE)
		g.V(asm.MovA32, asm.Z.Mask(asm.K7), to, 0, nanReg)
		g.splat(1, asm.F32Sign)
		g.V(asm.AndD, asm.Z, 1, 1, x)
		g.splat(2, asm.F32Inf)
		g.cmp(0, asm.F32MinNormal, asm.CmpLT)
		g.V(asm.OrD, asm.Z.Mask(asm.K7), to, 1, 2)
		g.cmp(0, asm.F32Inf, asm.CmpGT)
		g.V(asm.MovA32, asm.Z.Mask(asm.K7), to, 0, nanReg)
	})
}

// rootScale multiplies to by 2^(e-40), e in register e; even powers of two are exact.
func (g *gen) rootScale(x, to, e asm.Vec) {
	g.splat(2, 40)
	g.V(asm.SubD, asm.Z, 3, e, 2)
	g.shift32(asm.ShiftSll, 3, 3, 23)
	g.V(asm.AddD, asm.Z, to, to, 3)
	g.rootOperand2(x)
	g.VTest(asm.TestNMD, asm.Z, asm.K7, 0, 0)
	g.splat(2, 127)
	g.V(asm.AddD, asm.Z, 2, 2, e)
	g.VShift(asm.ShiftD, asm.Z.Mask(asm.K7), asm.ShiftSll, to, 2, 23)
}

// rootOperand2 is rootOperand with zmm4 as its scratch register.
func (g *gen) rootOperand2(x asm.Vec) {
	g.splat(0, asm.F32MinNormal)
	g.V(asm.XorD, asm.Z, 0, 0, x)
	g.splat(4, 0xffffff)
	g.V(asm.AndD, asm.Z, 0, 0, 4)
}

// fixedPoint puts |x| in units of 2^-n, cut and modulo 2^32, into d. m is |x|. zmm5 to zmm7 are used.
func (g *gen) fixedPoint(d, m asm.Vec, n uint32) {
	g.splat(6, asm.F32Mantissa)
	g.V(asm.AndD, asm.Z, 6, 6, m)
	g.splat(7, asm.F32MinNormal)
	g.V(asm.OrD, asm.Z, 6, 6, 7)
	g.shift32(asm.ShiftSrl, 5, m, 23)
	g.splat(7, 150-n)
	g.V(asm.SubD, asm.Z, 5, 5, 7) // shift to the left
	g.V(asm.SllVD, asm.Z, d, 6, 5)
	g.V(asm.XorD, asm.Z, 7, 7, 7)
	g.V(asm.SubD, asm.Z, 5, 7, 5)
	g.V(asm.SrlVD, asm.Z, 5, 6, 5)
	g.V(asm.OrD, asm.Z, d, d, 5)
}

func (g *gen) ex2(x, to asm.Vec, ftz bool) {
	if ftz {
		g.ex2Unit(x, to)
		return
	}
	// Below -126: the square of half the power.
	y := g.temp()
	g.V(asm.MovA32, asm.Z, y, 0, x)
	low := func() {
		g.splat(7, 0xc2fc0001)
		g.V(asm.SubD, asm.Z, 6, x, 7)
		g.cmp(6, asm.F32Sign|asm.F32Inf-0xc2fc0001, asm.CmpLT)
	}
	low()
	g.splat(6, asm.F32Half)
	g.V(asm.MulPS, asm.Z.Mask(asm.K7), y, x, 6)
	g.ex2Unit(y, to)
	low()
	g.V(asm.MulPS, asm.Z.Mask(asm.K7), to, to, to)
}

func (g *gen) ex2Unit(x, to asm.Vec) {
	k, e := g.temp(), g.temp()
	g.magnitude(1, x)
	g.fixedPoint(k, 1, 23)
	// Negative operands in ones' complement.
	g.shift32(asm.ShiftSra, 2, x, 31)
	g.V(asm.XorD, asm.Z, 0, k, 2)
	g.shift32(asm.ShiftSra, e, 0, 23)
	g.splat(3, asm.F32Mantissa)
	g.V(asm.AndD, asm.Z, 0, 0, 3)
	g.curve(curveEx2, to, nil)
	g.splat(1, 40)
	g.V(asm.SubD, asm.Z, 1, e, 1)
	g.shift32(asm.ShiftSll, 1, 1, 23)
	g.V(asm.AddD, asm.Z, to, to, 1)
	// e > 127
	g.splat(7, 127)
	g.VCmp(asm.CmpD, asm.Z, asm.K7, e, 7, asm.CmpGT)
	g.V(asm.MovA32, asm.Z, 2, 0, to)
	g.set(2, asm.F32Inf)
	// whole negative numbers
	g.splat(3, asm.F32Mantissa)
	g.VTest(asm.TestNMD, asm.Z, asm.K7, k, 3)
	g.splat(3, asm.F32Sign)
	g.VTest(asm.TestMD, asm.Z.Mask(asm.K7), asm.K7, x, 3)
	g.shift32(asm.ShiftSrl, 3, k, 23)
	g.splat(4, 127)
	g.V(asm.SubD, asm.Z, 4, 4, 3)
	g.VShift(asm.ShiftD, asm.Z.Mask(asm.K7), asm.ShiftSll, 2, 4, 23)
	g.V(asm.MovA32, asm.Z, to, 0, 2)
	g.flushSmall(to)
	g.magnitude(0, x)
	g.cmp(0, 0x43800000, asm.CmpGE)
	g.set(to, asm.F32Inf)
	g.splat(3, asm.F32Sign)
	g.VTest(asm.TestMD, asm.Z.Mask(asm.K7), asm.K7, x, 3)
	g.set(to, 0)
	g.cmp(0, asm.F32Inf, asm.CmpGT)
	g.V(asm.MovA32, asm.Z.Mask(asm.K7), to, 0, nanReg)
}

func (g *gen) lg2(x, to asm.Vec, ftz bool) {
	if ftz {
		g.lg2Unit(x, to)
		return
	}
	y := g.temp()
	g.V(asm.MovA32, asm.Z, y, 0, x)
	g.magnitude(5, x)
	g.subnormals(5)
	g.splat(6, 0x4b800000)
	g.V(asm.MulPS, asm.Z.Mask(asm.K7), y, x, 6)
	g.lg2Unit(y, to)
	g.magnitude(5, x)
	g.subnormals(5)
	g.splat(6, 0xc1c00000) // -24
	g.V(asm.AddPS, asm.Z.Mask(asm.K7), to, to, 6)
	g.canonical(to, asm.K0)
}

func (g *gen) lg2Unit(x, to asm.Vec) {
	e := g.temp()
	g.magnitude(0, x)
	g.shift32(asm.ShiftSrl, e, 0, 23)
	g.splat(1, 127)
	g.V(asm.SubD, asm.Z, e, e, 1)
	g.splat(1, asm.F32Mantissa)
	g.V(asm.AndD, asm.Z, 0, 0, 1)
	g.curve(curveLg2, to, func(odd bool) {
		g.shift64(asm.ShiftSra, 5, 5, 4)
		r := e
		if odd {
			g.shift64(asm.ShiftSrl, 6, e, 32)
			r = 6
		}
		g.shift64(asm.ShiftSll, 6, r, 36)
		g.V(asm.AddQ, asm.Z, 5, 5, 6)
		g.shift64(asm.ShiftSra, 6, 5, 63)
		g.V(asm.XorQ, asm.Z, 5, 5, 6)
	})
	g.splat(1, 36<<23)
	g.V(asm.SubD, asm.Z, to, to, 1)
	g.magnitude(0, x)
	g.cmp(0, asm.F32One, asm.CmpLT) // negative below one
	g.splat(1, asm.F32Sign)
	g.V(asm.OrD, asm.Z.Mask(asm.K7), to, to, 1)
	g.cmp(0, asm.F32One, asm.CmpEQ)
	g.set(to, 0)
	g.cmp(0, asm.F32Inf, asm.CmpEQ)
	g.set(to, asm.F32Inf)
	g.cmp(x, asm.F32Sign, asm.CmpGE)
	g.V(asm.MovA32, asm.Z.Mask(asm.K7), to, 0, nanReg)
	g.cmp(0, asm.F32MinNormal, asm.CmpLT)
	g.set(to, asm.F32Sign|asm.F32Inf)
	g.cmp(0, asm.F32Inf, asm.CmpGT)
	g.V(asm.MovA32, asm.Z.Mask(asm.K7), to, 0, nanReg)
}

// sine is sin (quarter 0) and cos (1).
func (g *gen) sine(x, to asm.Vec, quarter uint32) {
	t, k := g.temp(), g.temp()
	g.splat(0, 0x3e22f983) // 1/(2*pi)
	g.V(asm.MulPS, asm.Rounded(asm.RoundZero), t, x, 0)
	g.magnitude(1, t)
	g.fixedPoint(k, 1, 25)
	g.cmp(1, 0x4b800000, asm.CmpGE)
	g.set(k, 0)
	// Odd quarters run backwards.
	g.splat(2, asm.F32Mantissa)
	g.V(asm.AndD, asm.Z, 0, k, 2)
	g.shift32(asm.ShiftSrl, 3, k, 23)
	g.splat(4, quarter)
	g.V(asm.AddD, asm.Z, 3, 3, 4)
	g.splat(4, 1)
	g.VTest(asm.TestMD, asm.Z, asm.K7, 3, 4)
	g.V(asm.SubD, asm.Z.Mask(asm.K7), 0, 2, 0)
	g.curve(curveSin, to, func(bool) {
		g.shift64(asm.ShiftSra, 5, 5, 3)
		g.MovI32(asm.RAX, 1)
		g.VR(asm.BroadcastQR, asm.Z, 6, asm.RAX)
		g.V(asm.MaxSQ, asm.Z, 5, 5, 6)
	})
	g.cmp(to, 0x41800000, asm.CmpLT) // nothing, or less
	g.splat(1, 37<<23)
	g.V(asm.SubD, asm.Z, to, to, 1)
	g.set(to, 0)
	g.shift32(asm.ShiftSrl, 3, k, 23)
	g.splat(4, quarter)
	g.V(asm.AddD, asm.Z, 3, 3, 4)
	g.splat(2, asm.F32Mantissa)
	g.VTest(asm.TestNMD, asm.Z, asm.K7, k, 2)
	g.splat(4, 1)
	g.VTest(asm.TestMD, asm.Z.Mask(asm.K7), asm.K7, 3, 4)
	g.set(to, asm.F32One)
	// the sign
	g.shift32(asm.ShiftSll, 3, 3, 30)
	if quarter == 0 {
		g.V(asm.XorD, asm.Z, 3, 3, t)
	}
	g.withSign(to, 3)
	g.magnitude(1, t)
	g.cmp(1, asm.F32Inf, asm.CmpGE)
	g.V(asm.MovA32, asm.Z.Mask(asm.K7), to, 0, nanReg)
}

// tanh is the operand itself up to 2^-8, and 1 from 8 on.
func (g *gen) tanh(x, to asm.Vec) {
	var shift, first [16]uint32
	segments := num.TanhSegments()
	for e, s := range segments {
		shift[e], first[e] = uint32(s.Shift), s.First
	}
	g.magnitude(0, x)
	g.shift32(asm.ShiftSrl, 1, 0, 23)
	g.splat(2, 127-8)
	g.V(asm.SubD, asm.Z, 1, 1, 2)
	g.splat(2, uint32(len(segments)-1))
	g.V(asm.MinUD, asm.Z, 1, 1, 2) // operands outside too: their results are replaced
	g.VL(asm.MovU32, asm.Z, 2, 0, g.vector(shift))
	g.V(asm.PermD, asm.Z, 2, 1, 2)
	g.VL(asm.MovU32, asm.Z, 3, 0, g.vector(first))
	g.V(asm.PermD, asm.Z, 3, 1, 3)
	g.splat(4, 1<<23-1)
	g.V(asm.AndD, asm.Z, 0, 0, 4)
	g.V(asm.SllVD, asm.Z, 0, 0, 2)
	g.shift32(asm.ShiftSrl, 0, 0, 6)
	g.V(asm.AddD, asm.Z, 0, 0, 3)
	g.curve(curveTanh, to, nil)
	g.splat(1, 40<<23)
	g.V(asm.SubD, asm.Z, to, to, 1)
	g.magnitude(0, x)
	g.cmp(0, 0x41000000, asm.CmpGE)
	g.set(to, asm.F32One)
	g.withSign(to, x)
	g.cmp(0, 0x3b800000, asm.CmpLE)
	g.V(asm.MovA32, asm.Z.Mask(asm.K7), to, 0, x)
	g.cmp(0, asm.F32Inf, asm.CmpGT)
	g.V(asm.MovA32, asm.Z.Mask(asm.K7), to, 0, nanReg)
}
