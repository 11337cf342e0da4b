package amd64

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Products of f16, bf16 and tf32 matrices of 16 x k by k x 8 (mma.m16n8), by the rule of num.Dot: exact products, cut
// to multiples of 2^(E-25) where E is the largest exponent, added exactly.
//
// The product is a routine that stands once in the code of a function (matrixRoutine); operations copy their fragments
// into matrixWork, call it, and take the result from there. A vector holds all rows of one column (AVX2: eight of the
// sixteen rows), so that elements of A are vectors and elements of B are broadcast from memory:
//
//  1. Fragments of A and C are transposed; every element of A, B and C is taken apart into mantissa, exponent and sign.
//  2. For each column the largest exponent of a product, or of C, is found.
//  3. Mantissas are multiplied (vpmaddwd), shifted right by what the exponent lacks, and added with their signs. A
//     negative term is added as its complement; the ones that are missing then are counted by the bits of A's and B's
//     signs.
//  4. The sum is made a floating-point number, rounding toward zero, and scaled.
//
// Where a NaN or an infinity takes part, the results that it reaches are computed once more with numbers that stand for
// the classes of the operands (special).

// matrixFormat is an element's: its exponent of infinities, its bias and the bits of its mantissa.
type matrixFormat struct {
	top, bias uint32
	man       uint8
}

// Formats of A and B, by number.
const (
	matrixF16 = iota
	matrixBF16
	matrixTF32
	matrixInt // of 8 bits
)

var matrixFormats = [...]matrixFormat{matrixF16: {31, 15, 10}, matrixBF16: {255, 127, 7}, matrixTF32: {255, 127, 10}}

// matrixKind names a routine.
type matrixKind struct {
	format uint8
	k      uint8
	half   bool // C and D are f16

	signedA, signedB, saturate bool // of integers
}

// matrixOf is the routine that an operation needs.
func matrixOf(op *ir.Op) (m matrixKind, ok bool) {
	mods := op.Mods()
	if code := op.Opcode(); op.Ctl != ir.Plain || code != optab.OpMma && code != optab.OpWgmmaMma {
		return m, false
	}
	switch mods.Type(1) {
	case optab.F16:
		m.format = matrixF16
	case optab.Bf16:
		m.format = matrixBF16
	case optab.Tf32:
		m.format = matrixTF32
	case optab.S8, optab.U8:
		m.format, m.signedA, m.signedB, m.saturate = matrixInt, mods.Type(1).Signed(), mods.Type(2).Signed(),
			mods.Satfinite
		m.k = uint8(mods.Shape.K)
		return m, op.Opcode() == optab.OpMma
	default:
		return m, false
	}
	m.k, m.half = uint8(mods.Shape.K), mods.Type(0) == optab.F16
	return m, mods.Shape.M != 8
}

// matrixLabels are where a routine begins, and where it goes on for the same A.
type matrixLabels struct{ begin, sameA asm.Label }

// routines gives the routines that a function needs their labels.
func (g *gen) routines() {
	for i := range g.f.Ops {
		if s, ok := sampleOf(&g.f.Ops[i]); ok && g.v != nil {
			if g.samplers == nil {
				g.samplers, g.sampler = map[int32]int32{}, g.NewLabel()
			}
			g.samplers[int32(i)] = int32(len(g.samplers))
			for j, x := range s.places() {
				g.sampled[j] = g.sampled[j] || x != nil
			}
		}
		if m, ok := matrixOf(&g.f.Ops[i]); ok {
			if g.matrix == nil {
				g.matrix = map[matrixKind]matrixLabels{}
				g.rowGather = g.NewLabel()
			}
			if _, ok := g.matrix[m]; !ok {
				begin := g.NewLabel()
				g.matrix[m] = matrixLabels{begin, begin}
				if !m.quick() {
					g.matrix[m] = matrixLabels{begin, g.NewLabel()}
				}
				g.kinds = append(g.kinds, m)
			}
		}
	}
}

// writeRoutines writes them.
func (g *gen) writeRoutines() {
	plain := func(f func()) { f() }
	if g.Lowers() {
		plain = g.Plain
	}
	for _, m := range g.kinds {
		t := matrixRoutine{Asm: &g.Asm, m: m, o: asm.Z, wide: true, bytes: 64, groups: 1, cols: 8}
		if m.format != matrixInt {
			t.f = matrixFormats[m.format]
		}
		if g.Lowers() {
			t.o, t.wide, t.bytes, t.groups, t.cols = asm.Y, false, 32, 2, 4
		}
		plain(func() {
			if m.format == matrixInt {
				t.integers(g.matrix[m])
			} else {
				t.write(g.matrix[m])
			}
		})
	}
	if len(g.kinds) > 0 {
		plain(g.writeGather)
	}
	if len(g.samplers) > 0 {
		t := sampling{Asm: &g.Asm, wide: true, o: asm.Z, bytes: 64}
		if g.Lowers() {
			t.wide, t.o, t.bytes = false, asm.Y, 32
		}
		plain(func() { t.write(g.sampler) })
	}
}

// matrixRoutine writes a routine. RSI points at the matrixWork; RAX, RCX, RDX and R8 are used, and what an operation
// may use of the vector registers.
type matrixRoutine struct {
	*asm.Asm
	m      matrixKind
	f      matrixFormat
	o      asm.Opt
	wide   bool  // 512 bits
	bytes  int32 // of a vector
	groups int   // of rows
	cols   int   // columns at a time
}

func work(off int32) asm.Mem { return asm.At(asm.RSI, off) }

func con(i int) asm.Mem { return work(matrixOffsets.con + 4*int32(i)) }

func (t *matrixRoutine) load(z asm.Vec, off int32)    { t.VM(asm.MovU32, t.o, z, 0, work(off)) }
func (t *matrixRoutine) store(off int32, z asm.Vec)   { t.VM(asm.MovU32St, t.o, z, 0, work(off)) }
func (t *matrixRoutine) every(z asm.Vec, m asm.Mem)   { t.VM(asm.BroadcastD, t.o, z, 0, m) }
func (t *matrixRoutine) op(o asm.Op, d, a, b asm.Vec) { t.V(o, t.o, d, a, b) }
func (t *matrixRoutine) shift(kind asm.Shift, d, a asm.Vec, n uint8) {
	t.VShift(asm.ShiftD, t.o, kind, d, a, n)
}
func (t *matrixRoutine) blocks() int32               { return int32(t.m.k) / 4 }
func (t *matrixRoutine) per() int32                  { return int32(2 - t.m.format/2) } // elements of a register
func (t *matrixRoutine) vectors() int32              { return 128 / t.bytes }           // of 32 lanes
func (t *matrixRoutine) rows(off int32, g int) int32 { return off + int32(g)*t.bytes }

func (t *matrixRoutine) partA(part, n int32) int32 {
	return matrixOffsets.partsA + part*int32(unsafe.Sizeof(matrixWork{}.partsA[0])) + 64*n
}

func (t *matrixRoutine) partB(part, blk int32) int32 {
	return matrixOffsets.partsB + part*int32(unsafe.Sizeof(matrixWork{}.partsB[0])) + 128*blk
}

func (t *matrixRoutine) partC(part, col int32) int32 {
	return matrixOffsets.partsC + part*int32(unsafe.Sizeof(matrixWork{}.partsC[0])) + 64*col
}

// enter saves what the routine changes.
func (t *matrixRoutine) enter(l asm.Label) {
	t.Align(64)
	t.Bind(l)
	if t.wide {
		for z := int32(poolStart); z < poolEnd; z++ {
			t.store(matrixOffsets.save+64*(z-poolStart), asm.Vec(z))
		}
	}
}

// leave restores it and returns.
func (t *matrixRoutine) leave() {
	if t.wide {
		for z := int32(poolStart); z < poolEnd; z++ {
			t.load(asm.Vec(z), matrixOffsets.save+64*(z-poolStart))
		}
	}
	t.Ret()
}

// truncates has floating-point instructions round toward zero.
func (t *matrixRoutine) truncates() {
	t.StMXCSR(work(matrixOffsets.mxcsr))
	t.LdMXCSR(con(conMXCSR))
}

func (t *matrixRoutine) write(l matrixLabels) {
	same := t.NewLabel()
	begin := l.begin
	if t.m.quick() {
		begin = t.NewLabel()
		t.writeQuick(l.begin, begin)
	}
	t.enter(begin)
	t.truncates()
	t.takeApartA()
	t.Bind(same)
	t.takeApart()
	for g := range t.groups {
		for col := 0; col < 8; col += t.cols {
			t.exponents(g, col)
			t.sums(g, col)
			t.results(g, col)
		}
	}
	t.specials()
	t.assemble()
	t.LdMXCSR(work(matrixOffsets.mxcsr))
	t.leave()
	if t.m.quick() { // it keeps A by itself
		return
	}
	t.enter(l.sameA)
	t.truncates()
	t.Jmp(same)
}

// transpose exchanges rows and columns of the 4 x 4 words in each 128 bits of registers 0 to 3. Registers 4 to 7 are
// used.
func (t *matrixRoutine) transpose() {
	t.op(asm.UnpackLD, 4, 0, 1)
	t.op(asm.UnpackHD, 5, 0, 1)
	t.op(asm.UnpackLD, 6, 2, 3)
	t.op(asm.UnpackHD, 7, 2, 3)
	t.op(asm.UnpackLQ, 0, 4, 6)
	t.op(asm.UnpackHQ, 1, 4, 6)
	t.op(asm.UnpackLQ, 2, 5, 7)
	t.op(asm.UnpackHQ, 3, 5, 7)
}

// fragment loads and transposes the four vectors of two registers (AVX2: of one) that hold 16 (8) rows.
func (t *matrixRoutine) fragment(off int32, g int) {
	for i := range int32(4) {
		t.load(asm.Vec(i), off+128*int32(g)+t.bytes*i)
	}
	t.transpose()
}

// Registers of takeApart.
const (
	regOne  = 8
	regMask = 9
	regMax  = 10 // of exponents
	regSign = 11
	regTmp  = 12
)

// constants loads what the elements of A and B are taken apart with.
func (t *matrixRoutine) constants() {
	man := conMan10
	if t.f.man == 7 {
		man = conMan7
	}
	t.every(regOne, con(conOne))
	t.every(regMask, con(man))
}

// takeApartA fills the parts of A.
func (t *matrixRoutine) takeApartA() {
	t.constants()
	t.op(asm.XorD, regMax, regMax, regMax)
	per := t.per()
	for g := range t.groups {
		t.op(asm.XorD, regSign, regSign, regSign)
		for h := range t.blocks() / per {
			t.fragment(matrixOffsets.a+256*h, g)
			for i := range int32(4) {
				t.store(t.rows(matrixOffsets.rawA+64*(4*h+i), g), asm.Vec(i))
			}
			for i := range int32(4) {
				for j := range per {
					n := 4*(h*per+j) + i
					t.element(asm.Vec(i), j, 14-t.f.man)
					for part := range int32(3) {
						t.store(t.rows(t.partA(part, n), g), asm.Vec(4+part))
					}
					t.shift(asm.ShiftSrl, 7, 6, 31)
					t.shift(asm.ShiftSll, 7, 7, uint8(n))
					t.op(asm.OrD, regSign, regSign, 7)
				}
			}
		}
		t.store(t.rows(matrixOffsets.signA, g), regSign)
	}
	t.store(matrixOffsets.maxA, regMax)
}

// takeApart fills the parts of B and C, and notes whether an infinity or a NaN is among them or in A.
func (t *matrixRoutine) takeApart() {
	t.constants()
	t.load(regMax, matrixOffsets.maxA)
	per := t.per()
	for v := range t.vectors() {
		t.op(asm.XorD, regSign, regSign, regSign)
		for r := range t.blocks() / per {
			t.load(0, matrixOffsets.b+128*r+t.bytes*v)
			for j := range per {
				blk := r*per + j
				t.element(0, j, 11-t.f.man)
				for part := range int32(3) {
					t.store(t.partB(part, blk)+t.bytes*v, asm.Vec(4+part))
				}
				t.shift(asm.ShiftSrl, 7, 6, 31)
				t.shift(asm.ShiftSll, 7, 7, uint8(4*blk))
				t.op(asm.OrD, regSign, regSign, 7)
			}
		}
		// Bit 4*blk of a lane is that of its own k: those of the four lanes of a column come together.
		t.bitsOfLanes()
		t.store(matrixOffsets.signB+t.bytes*v, regSign)
	}
	t.every(regTmp, con(conLimits+int(t.m.format)))
	t.op(asm.SubD, regTmp, regTmp, regMax)
	t.op(asm.XorD, regMax, regMax, regMax)
	if t.m.half {
		t.every(regMask, con(conMan10))
	} else {
		t.every(regMask, con(conMan23))
	}
	bias := conBiasC + int(t.m.format)
	if t.m.half {
		bias += 4
	}
	t.every(regSign, con(bias))
	for g := range t.groups {
		for c := range int32(2) {
			switch {
			case !t.m.half:
				t.fragment(matrixOffsets.c+256*c, g)
			case c == 0:
				t.fragment(matrixOffsets.c, g)
			}
			for q := range int32(4) {
				t.summand(asm.Vec(q), 2*q+c, g)
			}
		}
	}
	limit := conLimits + 4
	if t.m.half {
		limit++
	}
	t.every(4, con(limit))
	t.op(asm.SubD, 4, 4, regMax)
	t.op(asm.OrD, 4, 4, regTmp)
	if t.wide {
		t.op(asm.XorD, 5, 5, 5)
		t.VCmp(asm.CmpD, asm.Z, asm.K7, 4, 5, asm.CmpLT)
		t.KMovRW(asm.RAX, asm.K7)
	} else {
		t.MovMskPS(asm.RAX, 4)
	}
	t.St32(work(matrixOffsets.special), asm.RAX)
}

// bitsOfLanes gives the four lanes of a column the sign bits of all: lane t's stand t to the left.
func (t *matrixRoutine) bitsOfLanes() {
	// Lane t's bits move by t: a multiplication by 1, 2, 4, 8 is two additions under what the lane's number says, done
	// by shuffles of copies.
	t.VI(asm.ShufD, t.o, 4, 0, regSign, 0x00)
	for i := uint8(1); i < 4; i++ {
		t.VI(asm.ShufD, t.o, 5, 0, regSign, i*0x55)
		t.shift(asm.ShiftSll, 5, 5, i)
		t.op(asm.OrD, 4, 4, 5)
	}
	t.op(asm.OrD, regSign, 4, 4)
}

// element takes apart element j of each word of a register into registers 4 to 6: the mantissa times 2^scale, the
// biased exponent (of zero one that is far too small), the sign in all bits. Register 7 is used.
func (t *matrixRoutine) element(x asm.Vec, j int32, scale uint8) {
	y := x
	down := uint8(17)
	switch {
	case t.m.format == matrixTF32:
		down = 14
	case j == 0:
		t.shift(asm.ShiftSll, 7, x, 16)
		y = 7
	}
	t.shift(asm.ShiftSra, 6, y, 31)
	t.shift(asm.ShiftSll, 7, y, 1)
	t.shift(asm.ShiftSrl, 7, 7, down)
	t.number(t.f.man, scale)
}

// number takes apart the magnitude in register 7 with a mantissa of so many bits.
func (t *matrixRoutine) number(man, scale uint8) {
	t.shift(asm.ShiftSrl, 5, 7, man)
	t.op(asm.MaxSD, regMax, regMax, 5)
	t.op(asm.AndD, 4, 7, regMask)
	t.op(asm.MinSD, 7, 5, regOne)
	t.shift(asm.ShiftSll, 7, 7, man)
	t.op(asm.OrD, 4, 4, 7)
	t.op(asm.MaxSD, 5, 5, regOne)
	t.op(asm.SubD, 7, 4, regOne)
	t.shift(asm.ShiftSra, 7, 7, 31)
	t.shift(asm.ShiftSll, 7, 7, 12)
	t.op(asm.AddD, 5, 5, 7)
	t.shift(asm.ShiftSll, 4, 4, scale)
}

// summand takes apart a column of C.
func (t *matrixRoutine) summand(x asm.Vec, col int32, g int) {
	y, man, scale := x, uint8(23), uint8(2)
	switch {
	case !t.m.half:
		t.shift(asm.ShiftSll, 7, y, 1)
		t.shift(asm.ShiftSrl, 7, 7, 1)
	case col&1 == 0:
		t.shift(asm.ShiftSll, 7, x, 16)
		y = 7
	}
	t.store(t.rows(matrixOffsets.rawC+64*col, g), y)
	if t.m.half {
		man, scale = 10, 15
		t.shift(asm.ShiftSra, 6, y, 31)
		t.shift(asm.ShiftSll, 7, y, 1)
		t.shift(asm.ShiftSrl, 7, 7, 17)
	} else {
		t.shift(asm.ShiftSra, 6, x, 31)
	}
	t.number(man, scale)
	t.op(asm.AddD, 5, 5, regSign)
	for part := range int32(3) {
		t.store(t.rows(t.partC(part, col), g), asm.Vec(4+part))
	}
}

// Registers of exponents and sums: those of the columns, and of an element of A.
func (t *matrixRoutine) top(i int) asm.Vec { return asm.Vec(i) }
func (t *matrixRoutine) sum(i int) asm.Vec { return asm.Vec(t.cols + i) }

const (
	regManA  = 0 // from the end of the sums on
	regExpA  = 1
	regSignA = 2
	regX     = 3
	regY     = 4
	regZ     = 5
)

// reg is one of the registers behind the sums.
func (t *matrixRoutine) reg(i int) asm.Vec { return asm.Vec(2*t.cols + i) }

// each writes a loop over the blocks of four k with RCX and RDX at the parts of A and B; RAX counts.
func (t *matrixRoutine) each(blocks int32, body func(i int32)) {
	loop := t.NewLabel()
	t.MovI32(asm.RAX, uint32(blocks))
	t.Bind(loop)
	for i := range int32(4) {
		body(i)
	}
	t.AddI(asm.RCX, 256)
	t.AddI(asm.RDX, 128)
	t.countDown(asm.RAX)
	t.J(asm.NE, loop)
}

// countDown takes one from a register.
func (t *matrixRoutine) countDown(r asm.GPR) { t.RI(asm.ArithSub, false, r, 1) }

// begin points RCX and RDX at A and B.
func (t *matrixRoutine) begin(g int) {
	t.Lea(asm.RCX, work(t.rows(matrixOffsets.partsA, g)))
	t.Lea(asm.RDX, work(matrixOffsets.partsB))
}

func (t *matrixRoutine) inA(part, i int32) asm.Mem {
	return asm.At(asm.RCX, t.partA(part, i)-matrixOffsets.partsA)
}

func (t *matrixRoutine) inB(part int32, col int, i int32) asm.Mem {
	return asm.At(asm.RDX, t.partB(part, 0)-matrixOffsets.partsB+16*int32(col)+4*i)
}

// combine is d = op(a, a word of memory in all lanes).
func (t *matrixRoutine) combine(o asm.Op, d, a, tmp asm.Vec, m asm.Mem) {
	if t.wide {
		t.VM(o, t.o.Broadcast(), d, a, m)
		return
	}
	t.every(tmp, m)
	t.op(o, d, a, tmp)
}

// exponents finds the largest exponent of each column.
func (t *matrixRoutine) exponents(g, col int) {
	x := t.reg(regX)
	t.every(x, con(conLowest))
	for i := range t.cols {
		t.VM(asm.MaxSD, t.o, t.top(i), x, work(t.rows(t.partC(partExp, int32(col+i)), g)))
	}
	t.begin(g)
	t.each(t.blocks(), func(i int32) {
		t.VM(asm.MovU32, t.o, t.reg(regExpA), 0, t.inA(partExp, i))
		for c := range t.cols {
			t.combine(asm.AddD, x, t.reg(regExpA), x, t.inB(partExp, col+c, i))
			t.op(asm.MaxSD, t.top(c), t.top(c), x)
		}
	})
}

// sums adds the terms of each column. Two halves of 16 products are added apart: all of them may be 33 bits.
func (t *matrixRoutine) sums(g, col int) {
	x, y := t.reg(regX), t.reg(regY)
	for c := range t.cols {
		n := int32(col + c)
		t.VM(asm.SubD, t.o, x, t.top(c), work(t.rows(t.partC(partExp, n), g)))
		t.load(t.sum(c), t.rows(t.partC(partMan, n), g))
		t.op(asm.SrlVD, t.sum(c), t.sum(c), x)
		t.load(y, t.rows(t.partC(partSign, n), g))
		t.op(asm.XorD, t.sum(c), t.sum(c), y)
		t.op(asm.SubD, t.sum(c), t.sum(c), y)
	}
	t.begin(g)
	blocks := t.blocks()
	again, done := t.NewLabel(), t.NewLabel()
	if blocks == 4 {
		blocks = 2
		t.MovI32(asm.R8, 2)
		t.Bind(again)
	}
	t.each(blocks, func(i int32) {
		t.VM(asm.MovU32, t.o, t.reg(regManA), 0, t.inA(partMan, i))
		t.VM(asm.MovU32, t.o, t.reg(regExpA), 0, t.inA(partExp, i))
		t.VM(asm.MovU32, t.o, t.reg(regSignA), 0, t.inA(partSign, i))
		for c := range t.cols {
			t.op(asm.SubD, x, t.top(c), t.reg(regExpA))
			t.combine(asm.SubD, x, x, y, t.inB(partExp, col+c, i))
			t.every(y, t.inB(partMan, col+c, i))
			t.op(asm.MAddWD, y, t.reg(regManA), y)
			t.op(asm.SrlVD, y, y, x)
			if t.wide {
				t.VMI(asm.TernD, t.o.Broadcast(), y, t.reg(regSignA), t.inB(partSign, col+c, i), 0x96)
			} else {
				t.every(x, t.inB(partSign, col+c, i))
				t.op(asm.XorD, x, x, t.reg(regSignA))
				t.op(asm.XorD, y, y, x)
			}
			t.op(asm.AddD, t.sum(c), t.sum(c), y)
		}
	})
	if t.blocks() == 4 {
		t.countDown(asm.R8)
		t.J(asm.E, done)
		for c := range t.cols {
			t.store(t.rows(matrixOffsets.half+64*int32(col+c), g), t.sum(c))
			t.op(asm.XorD, t.sum(c), t.sum(c), t.sum(c))
		}
		t.Jmp(again)
		t.Bind(done)
	}
}

// results makes numbers of the sums.
func (t *matrixRoutine) results(g, col int) {
	x, y, z, u, v, w := t.reg(regX), t.reg(regY), t.reg(regZ), t.reg(regManA), t.reg(regExpA), t.reg(regSignA)
	for c := range t.cols {
		n := int32(col + c)
		s, top := t.sum(c), t.top(c)
		// How many terms are negative: ones in A's and B's signs that differ.
		t.load(x, t.rows(matrixOffsets.signA, g))
		t.combine(asm.XorD, x, x, y, work(matrixOffsets.signB+16*n))
		t.every(z, con(conNibble))
		t.op(asm.AndD, y, x, z)
		t.shift(asm.ShiftSrl, x, x, 4)
		t.op(asm.AndD, x, x, z)
		t.load(z, matrixOffsets.lut)
		t.op(asm.ShufB, x, z, x)
		t.op(asm.ShufB, y, z, y)
		t.op(asm.AddD, x, x, y)
		t.shift(asm.ShiftSrl, y, x, 8)
		t.op(asm.AddD, x, x, y)
		t.combine(asm.AndD, x, x, y, con(conByte))
		t.op(asm.AddD, s, s, x)
		// The sign goes to w, the magnitude to s.
		if t.blocks() == 4 {
			t.load(x, t.rows(matrixOffsets.half+64*n, g))
			t.shift(asm.ShiftSra, y, s, 1)
			t.shift(asm.ShiftSra, z, x, 1)
			t.op(asm.AddD, y, y, z)
			t.op(asm.AndD, z, s, x)
			t.combine(asm.AndD, z, z, w, con(conOne))
			t.op(asm.AddD, y, y, z)
			t.op(asm.AddD, s, s, x)
			t.shift(asm.ShiftSra, w, y, 31)
		} else {
			t.shift(asm.ShiftSra, w, s, 31)
		}
		t.op(asm.XorD, s, s, w)
		t.op(asm.SubD, s, s, w)
		// x = s as a number, toward zero: its upper half times 65536, and its lower half.
		t.shift(asm.ShiftSrl, y, s, 16)
		t.combine(asm.AndD, x, s, x, con(conHalf))
		t.op(asm.CvtDQ2PS, y, 0, y)
		t.op(asm.CvtDQ2PS, x, 0, x)
		t.every(z, con(con65536))
		if t.m.half { // what is cut off shows in the last bit, so that the one rounding below is right
			t.op(asm.OrD, s, x, x)
		}
		t.op(asm.FMA231PS, x, y, z)
		if t.m.half {
			t.op(asm.OrD, u, x, x)
			t.op(asm.FMS231PS, u, y, z)
			t.op(asm.AddPS, u, u, s)
			t.op(asm.XorD, y, y, y)
			t.op(asm.SubD, u, y, u)
			t.shift(asm.ShiftSrl, u, u, 31)
			t.op(asm.OrD, x, x, u)
		}
		// u is the exponent of the unit; two factors, each a normal number, make the power of two.
		t.combine(asm.AddD, u, top, y, con(conUnit+int(t.m.format)))
		t.combine(asm.MaxSD, u, u, y, con(conLeast))
		t.shift(asm.ShiftSra, y, u, 1)
		t.op(asm.SubD, z, u, y)
		t.every(v, con(con127))
		t.op(asm.AddD, y, y, v)
		t.op(asm.AddD, z, z, v)
		t.shift(asm.ShiftSll, y, y, 23)
		t.shift(asm.ShiftSll, z, z, 23)
		t.op(asm.MulPS, y, x, y)
		t.op(asm.MulPS, y, y, z)
		if t.m.half {
			t.VI(asm.CvtPS2PH, t.o, y, 0, x, 0) // register field: source
			t.V(asm.MovZXWD, t.o, y, 0, x)
			t.shift(asm.ShiftSrl, w, w, 31)
			t.shift(asm.ShiftSll, w, w, 15)
		} else {
			// An overflow has become the largest number: the next one is infinity.
			t.shift(asm.ShiftSrl, x, x, 23)
			t.op(asm.AddD, x, x, u)
			t.every(z, con(con254))
			t.op(asm.SubD, z, z, x)
			t.shift(asm.ShiftSra, z, z, 31)
			t.op(asm.SubD, y, y, z)
			// What truncation leaves nothing of is +0.
			t.op(asm.XorD, z, z, z)
			t.op(asm.SubD, z, z, y)
			t.op(asm.AndD, w, w, z)
			t.shift(asm.ShiftSrl, w, w, 31)
			t.shift(asm.ShiftSll, w, w, 31)
		}
		t.op(asm.OrD, y, y, w)
		t.store(t.rows(matrixOffsets.out+64*n, g), y)
	}
}

// assemble makes fragments of the columns.
func (t *matrixRoutine) assemble() {
	for g := range t.groups {
		for c := range int32(2) {
			for q := range int32(4) {
				t.load(asm.Vec(q), t.rows(matrixOffsets.out+64*(2*q+c), g))
				if t.m.half {
					t.load(4, t.rows(matrixOffsets.out+64*(2*q+1), g))
					t.shift(asm.ShiftSll, 4, 4, 16)
					t.op(asm.OrD, asm.Vec(q), asm.Vec(q), 4)
				}
			}
			t.transpose()
			for i := range int32(4) {
				t.store(matrixOffsets.d+256*c+128*int32(g)+t.bytes*i, asm.Vec(i))
			}
			if t.m.half {
				break
			}
		}
	}
}
