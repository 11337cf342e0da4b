package amd64

import (
	"slices"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/num"
)

// The interpolating unit of the approximate functions in words of 32 bits, for operands that are neither zero,
// subnormal, infinite nor NaN, and whose results are not either: ordinary ones. The functions of approx.go, which know
// all operands, stand out of line behind it.
//
// The sum C0 + C1*n + C2*q has up to 41 bits, but only those from bit 8 on are wanted (lg2: four more), modulo 2^32
// once the leading one is off: with n = 256*a + b they are those of C1*a and of (C1*b + C2*q + the constant's low byte)
// >> 8, added to C0 >> 8. C1 has 19 bits and C2 13, so they share a word, and a table of 128 rows is eight vectors,
// from which permutations take the rows.
//
// The square q has words of 16 bits: both halves of a warp's row are squared at once. Of n's leading 16 bits h, let U
// be the upper seven: then q is 2*U*U + U*h/2^7 without the fractions of U times each single bit of h's lower part, and
// vpmulhuw of U<<9 and such a bit cuts them off.

// unitTable is a table as the unit reads it.
type unitTable struct {
	c0  [128]uint32 // bits 8 to 39, without the leading one
	c12 [128]uint32 // C1<<13 and the amount of C2
}

// unitShape is what the tables have in common.
type unitShape struct {
	bits     uint8  // of n
	wide     bool   // 128 rows, not 64
	negative bool   // C2 is
	low      uint32 // C0's low byte
}

// unitLead is the leading one of the curves that the unit evaluates; for the logarithm there is none.
var unitLead = [...]int64{curveRcp: 1 << 39, curveRsqrt: 1 << 39, curveSqrt: 1 << 40, curveEx2: 1 << 40, curveLg2: 0}

var unitShapes = func() (s [len(unitLead)]unitShape) {
	for i := range s {
		c, _ := num.CurveOf(curveNames[i])
		s[i] = unitShape{uint8(c.Bits), len(c.C0) == 128, c.C2[0] < 0, uint32(c.C0[0] & 0xff)}
	}
	return s
}()

// unitWords are constants that the unit reads from memory, in any order.
var unitWords = [...]uint32{
	0x00800000, 0x7f000000, 0x01000000, 0xfc000002, 0xfe00fe00, 0x01800180, 0x1fff, 0xff, 1 << 5, 1 << 6, 0x7f, 0x3f,
	1<<17 | 1<<1, 1<<18 | 1<<2, 1<<19 | 1<<3, 1<<20 | 1<<4, 1<<21 | 1<<5, 1<<22 | 1<<6,
	0xff800000, 0x7f800000, 253 << 23 & 0xffffffff, 190 << 23, 63 << 23, 127 << 23, 0x80000000, 1,
	23 << 23, 0x007fffff, 2 * 0x42fc0000, 127, 2, 24 << 23, 31 << 23, 39 << 23, 1 << 24, 0x7ffffff8,
	0xce, 0x58, 0x88, 0x16,
}

func (t *approxTables) fillUnit() {
	t.words = unitWords
	for i := range t.units {
		c, _ := num.CurveOf(curveNames[i])
		u := &t.units[i]
		for row := range c.C0 {
			to := row
			if i == curveRsqrt || i == curveSqrt {
				to ^= 64 // the exponent's lowest bit as it stands, which is one of even exponents
			}
			u.c0[to] = uint32((c.C0[row] - unitLead[i]) >> 8)
			c2 := c.C2[row]
			u.c12[to] = uint32(c.C1[row])<<13 | uint32(max(c2, -c2))
		}
	}
}

// word is where a constant of unitWords stands; rdx points at the tables.
func word(v uint32) asm.Mem {
	for i, w := range unitWords {
		if w == v {
			return asm.At(asm.RDX, offApprox+int32(unsafe.Offsetof(approxTables{}.words))+4*int32(i))
		}
	}
	panic("amd64: no such constant")
}

// with is d = a op a constant of unitWords.
func (g *gen) with(op asm.Op, d, a asm.Vec, v uint32) {
	g.VM(op, asm.Z.Broadcast(), d, a, word(v))
}

// unit is an approximate function for ordinary operands.
type unit struct {
	curve int
	// odd sets k to the running lanes with operands that are not ordinary; o masks the comparison.
	odd func(g *gen, x asm.Vec, k asm.Mask, o asm.Opt)
	// begin gives what the curve is taken at: row and n, with any bits above; it may be x, or it is put into to.
	begin func(g *gen, x, to asm.Vec) asm.Vec
	// end makes the result of the sum's parts: zmm1 + (zmm3 >> 8 with its sign). zmm0 to zmm6 but zmm1 and zmm3 are
	// free, and k7.
	end func(g *gen, x, to asm.Vec)
}

var units = [...]unit{
	curveRcp: {curveRcp, func(g *gen, x asm.Vec, k asm.Mask, o asm.Opt) { // 2^-126 to 2^126
		g.shift32(asm.ShiftSll, 0, x, 1)
		g.with(asm.SubD, 0, 0, 0x01000000)
		g.VCmpM(asm.CmpUD, o.Broadcast(), k, 0, word(0xfc000002), asm.CmpGE)
	}, same, func(g *gen, x, to asm.Vec) {
		g.unitSum(8)
		g.with(asm.AndD, 2, x, 0xff800000) // the sign goes its way: 2^31 is as good as -2^31
		g.V(asm.SubD, asm.Z, 1, 1, 2)
		g.with(asm.AddD, to, 1, 253<<23&0xffffffff)
	}},
	curveRsqrt: {curveRsqrt, positive, same, func(g *gen, x, to asm.Vec) {
		g.unitSum(8)
		g.shift32(asm.ShiftSll, 2, x, 8)
		g.VCmpM(asm.CmpUD, asm.Z.Broadcast(), asm.K7, 2, word(0x80000000), asm.CmpEQ) // powers of four
		g.VM(asm.AddD, asm.Z.Broadcast().Mask(asm.K7), 1, 1, word(1))
		g.halfField(x)
		g.V(asm.SubD, asm.Z, 1, 1, 2)
		g.with(asm.AddD, to, 1, 190<<23)
	}},
	curveSqrt: {curveSqrt, positive, same, func(g *gen, x, to asm.Vec) {
		g.unitSum(9)
		g.halfField(x)
		g.V(asm.AddD, asm.Z, 1, 1, 2)
		g.with(asm.AddD, to, 1, 63<<23)
	}},
	curveEx2: {curveEx2, func(g *gen, x asm.Vec, k asm.Mask, o asm.Opt) { // below 126
		g.shift32(asm.ShiftSll, 0, x, 1)
		g.VCmpM(asm.CmpUD, o.Broadcast(), k, 0, word(2*0x42fc0000), asm.CmpGE)
	}, func(g *gen, x, to asm.Vec) asm.Vec {
		// In units of 2^-23, cut; one less where it is negative and not whole.
		g.with(asm.AddD, 0, x, 23<<23)
		g.shift32(asm.ShiftSll, 1, x, 1)
		g.VCmpM(asm.CmpUD, asm.Z.Broadcast(), asm.K7, 1, word(0x01000000), asm.CmpGE)
		g.V(asm.CvtTPS2DQ, asm.Z.Mask(asm.K7).Zeroing(), to, 0, 0) // none of subnormals
		g.VTestM(asm.TestMD, asm.Z.Broadcast(), asm.K7, to, word(0x007fffff))
		g.shift32(asm.ShiftSra, 1, x, 31)
		g.V(asm.AddD, asm.Z.Mask(asm.K7), to, to, 1)
		return to
	}, func(g *gen, x, to asm.Vec) {
		g.unitSum(9)
		g.with(asm.AndD, 2, to, 0xff800000)
		g.V(asm.AddD, asm.Z, 1, 1, 2)
		g.with(asm.AddD, to, 1, 127<<23)
	}},
	curveLg2: {curveLg2, positive, same, (*gen).unitLog},
}

func same(_ *gen, x, _ asm.Vec) asm.Vec { return x }

// positive finds what is not a positive normal number.
func positive(g *gen, x asm.Vec, k asm.Mask, o asm.Opt) {
	g.with(asm.SubD, 0, x, 0x00800000)
	g.VCmpM(asm.CmpUD, o.Broadcast(), k, 0, word(0x7f000000), asm.CmpGE)
}

// unitSum puts the sum from bit 8+n on into zmm1.
func (g *gen) unitSum(n uint8) {
	g.shift32(asm.ShiftSra, 3, 3, 8)
	g.V(asm.AddD, asm.Z, 1, 1, 3)
	g.shift32(asm.ShiftSrl, 1, 1, n)
}

// halfField puts (e+128)/2 for the exponent e of x into zmm2, at the place of exponents.
func (g *gen) halfField(x asm.Vec) {
	g.with(asm.AddD, 2, x, 0x00800000)
	g.shift32(asm.ShiftSrl, 2, 2, 1)
	g.with(asm.AndD, 2, 2, 0x7f800000)
}

// unitLog makes the logarithm: the exponent and the sum, which is kept to 2^-36 and cut to 24 bits. A negative one is
// complemented before.
func (g *gen) unitLog(x, to asm.Vec) {
	// zmm0 is the exponent, zmm2 all ones where it is negative.
	g.shift32(asm.ShiftSrl, 0, x, 23)
	g.with(asm.SubD, 0, 0, 127)
	g.shift32(asm.ShiftSra, 2, 0, 31)
	g.shift32(asm.ShiftSra, 4, 3, 8)
	g.V(asm.AddD, asm.Z, 4, 4, 1) // the sum from bit 8 on
	// From one on in absolute value: in units of 2^-24.
	g.shift32(asm.ShiftSrl, 5, 4, 8)
	g.shift32(asm.ShiftSll, 6, 0, 24)
	g.V(asm.AddD, asm.Z, 5, 5, 6)
	g.V(asm.XorD, asm.Z, 5, 5, 2)
	g.VM(asm.BroadcastD, asm.Z, 6, 0, word(24<<23))
	// Below: in units of 2^-31, or of 2^-39 when that is less than 24 bits.
	g.V(asm.XorD, asm.Z, 4, 4, 2)
	g.V(asm.SubD, asm.Z, 0, 0, 2) // 0 for both
	g.VTest(asm.TestNMD, asm.Z, asm.K7, 0, 0)
	g.VShift(asm.ShiftD, asm.Z.Mask(asm.K7), asm.ShiftSrl, 5, 4, 1)
	g.VM(asm.BroadcastD, asm.Z.Mask(asm.K7), 6, 0, word(31<<23))
	g.VCmpM(asm.CmpUD, asm.Z.Mask(asm.K7).Broadcast(), asm.K7, 4, word(1<<24), asm.CmpLT)
	g.shift32(asm.ShiftSll, 1, 1, 8)
	g.V(asm.AddD, asm.Z, 1, 1, 3)
	g.V(asm.XorD, asm.Z, 1, 1, 2)
	g.shift32(asm.ShiftSrl, 1, 1, 1)
	g.VM(asm.AndD, asm.Z.Mask(asm.K7).Broadcast(), 5, 1, word(0x7ffffff8))
	g.VM(asm.BroadcastD, asm.Z.Mask(asm.K7), 6, 0, word(39<<23))
	// Cut: without the bit behind the 24 nothing is rounded up.
	g.shift32(asm.ShiftSrl, 0, 5, 24)
	g.V(asm.AndND, asm.Z, 5, 0, 5)
	g.V(asm.CvtDQ2PS, asm.Z, 5, 0, 5)
	g.V(asm.SubD, asm.Z, 5, 5, 6)
	g.shift32(asm.ShiftSll, 2, 2, 31)
	g.V(asm.OrD, asm.Z, 5, 5, 2)
	g.VCmpM(asm.CmpUD, asm.Z.Broadcast(), asm.K7, x, word(127<<23), asm.CmpNE)
	g.V(asm.MovA32, asm.Z.Mask(asm.K7).Zeroing(), to, 0, 5)
}

// ordinary computes a function of pieces with the unit; all computes it for any operands and reads keep besides. zmm0
// to zmm7, k0, k7, rax and rdx are used.
func (g *gen) ordinary(u *unit, x, to, keep []asm.Vec, all func(p int)) {
	g.Ld(asm.RDX, inContext(abi.OffTables))
	for p, k := range []asm.Mask{asm.K7, asm.K0}[:len(x)] {
		u.odd(g, x[p], k, g.runMask(ir.W32, p))
	}
	last := asm.K7
	if len(x) == 2 {
		last = asm.K0
	}
	g.KOrTestW(asm.K7, last)
	back := g.NewLabel()
	g.J(asm.NE, g.outOfLine(func() {
		g.spares(slices.Concat(x, to, keep))
		for i, z := range g.spare {
			g.VM(asm.MovU32St, asm.Z, z, 0, inContext(abi.OffLaneOut+int32(64*i)))
		}
		free := g.spare
		for p := range x {
			g.spare = free
			all(p)
		}
		for i, z := range free {
			g.VM(asm.MovU32, asm.Z, z, 0, inContext(abi.OffLaneOut+int32(64*i)))
		}
		g.spare = nil
		g.Jmp(back)
	}))
	at := make([]asm.Vec, len(x))
	for p := range x {
		at[p] = u.begin(g, x[p], to[p])
	}
	const scratch, masks = 0x7f, 1<<0 | 1<<7
	g.unitSquare(u.curve, at)
	g.Dead(scratch, masks)
	for p := range x {
		g.unitRow(u.curve, p, at[p])
		u.end(g, x[p], to[p])
		g.Dead(scratch, masks)
	}
	g.rejoin(back, 0xff)
}

// spares chooses registers for temp that are not among those named.
func (g *gen) spares(not []asm.Vec) {
	g.spare = nil
	for z := asm.Vec(poolStart); len(g.spare) < 3; z++ {
		if !slices.Contains(not, z) {
			g.spare = append(g.spare, z)
		}
	}
}

// unitSquare puts the squares of what follows the rows in at into zmm7, as words of 16 bits: a second piece's in the
// upper halves.
func (g *gen) unitSquare(curve int, at []asm.Vec) {
	below := unitShapes[curve].bits - 16
	g.shift32(asm.ShiftSll, 0, at[0], 16-below)
	g.shift32(asm.ShiftSrl, 0, 0, 16)
	if len(at) > 1 {
		g.shift32(asm.ShiftSrl, 1, at[1], below)
		g.shift32(asm.ShiftSll, 1, 1, 16)
		g.V(asm.OrD, asm.Z, 0, 0, 1)
	}
	g.with(asm.AndD, 1, 0, 0xfe00fe00)
	g.VShift(asm.ShiftW, asm.Z, asm.ShiftSrl, 2, 1, 1)
	g.with(asm.AndD, 3, 0, 0x01800180)
	g.V(asm.AddW, asm.Z, 2, 2, 3)
	g.V(asm.MulHUW, asm.Z, 7, 1, 2)
	for i := range 6 {
		z := asm.Vec(2 + i&1)
		g.with(asm.AndD, z, 0, 1<<17<<i|1<<1<<i)
		g.V(asm.MulHUW, asm.Z, z, z, 1)
		g.V(asm.AddW, asm.Z, 7, 7, z)
	}
}

// unitRow puts the parts of piece p's sum into zmm1 and zmm3: see unit.end.
func (g *gen) unitRow(curve, p int, at asm.Vec) {
	s := &unitShapes[curve]
	table := offApprox + int32(unsafe.Offsetof(approxTables{}.units)) + int32(curve)*int32(unsafe.Sizeof(unitTable{}))
	c12 := table + int32(unsafe.Offsetof(unitTable{}.c12))
	g.shift32(asm.ShiftSrl, 0, at, s.bits)
	if g.Lowers() {
		rows := uint32(0x3f)
		if s.wide {
			rows = 0x7f
		}
		g.with(asm.AndD, 0, 0, rows)
		for _, r := range [...]struct {
			z  asm.Vec
			at int32
		}{{1, c12}, {4, table}} {
			z := r.z
			g.V(asm.XorD, asm.Z, z, z, z)
			g.KXnorW(asm.K7, asm.K7, asm.K7)
			g.VX(asm.GatherDD, asm.Z.Mask(asm.K7), z, asm.RDX, 0, 4, r.at)
		}
	} else {
		g.VTestM(asm.TestMD, asm.Z.Broadcast(), asm.K7, 0, word(1<<5))
		pair := func(z asm.Vec, t int32) {
			g.VM(asm.MovU32, asm.Z, z, 0, asm.At(asm.RDX, t))
			g.VM(asm.PermT2D, asm.Z, z, 0, asm.At(asm.RDX, t+64))
		}
		four := func(z asm.Vec, t int32) {
			pair(z, t)
			pair(6, t+128)
			g.V(asm.MovA32, asm.Z.Mask(asm.K7), z, 0, 6)
		}
		four(1, c12)
		four(4, table)
		if s.wide {
			four(2, c12+256)
			four(5, table+256)
			g.VTestM(asm.TestMD, asm.Z.Broadcast(), asm.K7, 0, word(1<<6))
			g.V(asm.MovA32, asm.Z.Mask(asm.K7), 1, 0, 2)
			g.V(asm.MovA32, asm.Z.Mask(asm.K7), 4, 0, 5)
		}
	}
	if p == 1 {
		g.shift32(asm.ShiftSrl, 7, 7, 16)
	}
	g.with(asm.AndD, 2, 1, 0x1fff)
	g.V(asm.MAddWD, asm.Z, 2, 7, 2)
	g.shift32(asm.ShiftSra, 1, 1, 13)
	g.with(asm.AndD, 3, at, 0xff)
	g.V(asm.MulLD, asm.Z, 3, 3, 1)
	g.shift32(asm.ShiftSll, 5, at, 32-s.bits)
	g.shift32(asm.ShiftSrl, 5, 5, 40-s.bits)
	g.V(asm.MulLD, asm.Z, 1, 5, 1)
	g.Dead(1<<0|1<<5|1<<6, 1<<7)
	add := asm.AddD
	if s.negative {
		add = asm.SubD
	}
	g.V(add, asm.Z, 3, 3, 2)
	g.with(asm.AddD, 3, 3, s.low)
	g.V(asm.AddD, asm.Z, 1, 1, 4)
}

// give makes a register that temp took a piece of a destination, or moves it to where that has to be, and returns its
// register.
func (g *gen) give(d *ir.Arg, n int, from asm.Vec) asm.Vec {
	ref := pieceRef(d.Ref, n)
	_, scalar := g.scalarDef(d)
	_, home := g.homes[ref]
	if scalar || home || g.destMask(d, n) != 0 {
		z, o := g.dst(d, n)
		g.V(asm.MovA32, o, z, 0, from)
		return z
	}
	if z, ok := g.c.find(ref); ok {
		g.c.slots[z] = slot{}
		g.Dead(1<<z, 0)
	}
	g.Belong(from, int32(ref.Off))
	g.c.slots[from] = slot{ref: ref, row: d.Ref.Off, n: uint8(n), used: true, dirty: true, stamp: g.c.stamp, all: true}
	return from
}
