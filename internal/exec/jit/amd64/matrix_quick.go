package amd64

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
)

// The quick way of a product whose numbers need nothing special: the same results as those of matrixRoutine.write,
// which takes over for the others (slow).
//
// Lanes are those of D's fragment, so that C and D stay as they are in registers: four lanes, a quad, have one row
// and four columns. An element of A comes four times, in every lane of its quad; elements of B of four columns come
// once for every quad. Both are prepared that way once, A only when it is another than last time (matrixSlot).
//
//   1. Exponents of products are bytes (f16) or 16-bit words, four or two k in a lane: additions and maxima find
//      E, the largest.
//   2. A product of f32 is exact, and so is that times 2^(25-E); vcvttps2dq cuts it to a whole number toward zero,
//      which is the rule's cut. Whole numbers are added.
//   3. The sum is made a number, toward zero, and scaled back.
//
// Left to the slow way: infinities and NaNs; subnormal numbers of bf16 and tf32, which the processor may be slow
// with; exponents E outside of -100 to 120, beyond which a factor is no normal number; C below what a zero's
// exponent may hide; sums that C may bring beyond 32 bits.

// matrixSlot is the prepared A. R8 points at it, so that displacements stay short.
type matrixSlot struct {
	raw     [4][32]uint32
	num     [16][16][4]uint32 // by k, row; as f32
	exp     [8][16][4]uint32  // by group of k, row
	kind    uint32            // what it was prepared for, 0: nothing
	special uint32            // not 0: not for the quick way
	_       [14]uint32
}

var slotOffsets = struct{ raw, num, exp, kind, special int32 }{
	int32(unsafe.Offsetof(matrixSlot{}.raw)), int32(unsafe.Offsetof(matrixSlot{}.num)),
	int32(unsafe.Offsetof(matrixSlot{}.exp)),
	int32(unsafe.Offsetof(matrixSlot{}.kind)), int32(unsafe.Offsetof(matrixSlot{}.special)),
}

// matrixQuick is what else the quick way needs in matrixWork.
type matrixQuick struct {
	slot  matrixSlot
	num   [16][2][4]uint32 // B as f32; for the order see quickB
	exp   [8][2][4]uint32
	tmp   [4][16]uint32
	index [2][16]uint32 // vpermi2d: the even columns of B, the odd ones
	con   [quickCount]uint32
}

// Constants of matrixQuick.con. What depends on the format stands three times.
const (
	quickMag     = 0 // magnitudes
	quickOne     = quickMag + 3
	quickTop     = quickOne + 3  // makes exponents of infinities and NaNs negative
	quickLow     = quickTop + 3  // magnitudes that are subnormal, less one
	quickSign    = quickLow + 3  // sign bits of elements
	quickNum     = quickSign + 3 // what of an element becomes a number
	quickNone    = quickNum + 3  // the exponents of k that are not there
	quickPart    = quickNone + 3 // what stays of the exponents of the other k
	quickBias    = quickPart + 3 // makes a sum of exponents one of f32
	quickLeastC  = quickBias + 3 // a magnitude of C, less one: none below but zero
	quickScale   = quickLeastC + 3
	quickMost    = quickScale + 1 // unsigned
	quickLeastE  = quickMost + 1
	quickPower   = quickLeastE + 1
	quickBack    = quickPower + 1
	quickMostE   = quickBack + 1
	quickMostSum = quickMostE + 1
	quickZeros   = quickMostSum + 1 // exponents of products below are those of zeros
	quickTiny    = quickZeros + 1
	quickMinus   = quickTiny + 1
	quickSign32  = quickMinus + 1
	quickCount   = quickSign32 + 1
)

func (w *matrixQuick) fill() {
	for f, c := range map[int][3]uint32{
		quickMag:    {0x7fff7fff, 0x7fff7fff, 0x7fffe000},
		quickOne:    {0x00010001, 0x00010001, 1},
		quickTop:    {0x00010001 * (0x8000 - 31), 0x00010001 * (0x8000 - 255), 1<<31 - 255},
		quickLow:    {0, 0x007f007f, 0x7fffff},
		quickSign:   {0x80008000, 0x80008000, 1 << 31},
		quickNum:    {0x8fffe000, 0xffff0000, 0xffffe000},
		quickNone:   {0xc100c100, 0, 0xe0000000},
		quickPart:   {0x00ff00ff, 0, 0xffff},
		quickBias:   {127 - 2*15, 1<<32 - 127, 1<<32 - 127},
		quickLeastC: {65<<23 - 1, 27<<23 - 1, 27<<23 - 1},
	} {
		copy(w.con[f:], c[:])
	}
	w.con[quickScale] = (127 + 112) << 23
	w.con[quickMost] = 1<<31 - 1
	w.con[quickLeastE], w.con[quickMostE] = 127-100, 127+120
	w.con[quickPower], w.con[quickBack] = 127+127+25, 254<<23
	w.con[quickMostSum] = 1<<31 - 1<<26 - 1
	w.con[quickZeros], w.con[quickTiny] = 0x1000, 0x1000+127-100
	w.con[quickMinus], w.con[quickSign32] = 1<<32-1, 1<<31
	for p := range uint32(2) {
		for i := range uint32(16) {
			w.index[p][i] = i/4 + 4*p + 8*(i%4)
		}
	}
}

// quick says whether a kind has the quick way.
func (m matrixKind) quick() bool { return m.format != matrixInt && !m.half }

func inQuick(off uintptr) int32 { return matrixOffsets.quick + int32(off) }

func quickCon(i int) asm.Mem {
	return work(inQuick(unsafe.Offsetof(matrixQuick{}.con)) + 4*int32(i))
}

func (t *matrixRoutine) ofFormat(i int) asm.Mem { return quickCon(i + int(t.m.format)) }

// Registers of the quick way. Elements are taken apart with
const (
	quickRegMag  = 8
	quickRegOne  = 9
	quickRegMax  = 10 // exponents
	quickRegMin  = 11 // magnitudes less one
	quickRegNum  = 12
	quickRegMul  = 13
	quickRegPart = 14
	quickRegKeep = 15
)

// Those of sums: 0 to 3 sums, 4 to 7 factors.
const (
	quickRegB    = 8
	quickRegX    = 9
	quickRegY    = 10
	quickLeast   = 11 // C less one, unsigned
	quickLargest = 12 // E
	quickSum     = 13 // of magnitudes of sums
	quickNothing = 14 // exponents of products
)

// quickSaved are the registers from poolStart on that are in use elsewhere.
const quickSaved = quickRegKeep + 1 - poolStart

func (t *matrixRoutine) quickRestore() {
	if t.wide {
		for z := int32(poolStart); z < poolStart+quickSaved; z++ {
			t.load(asm.Vec(z), matrixOffsets.save+64*(z-poolStart))
		}
	} else {
		t.LdMXCSR(work(matrixOffsets.mxcsr))
	}
}

// pairs of k in A's registers, and how many vectors there are in 16 rows.
func (t *matrixRoutine) chunksOfK() int32 { return t.blocks() / t.per() }
func (t *matrixRoutine) rowVectors() int32 {
	return 256 / t.bytes
}

// slot is memory of the matrixSlot at R8.
func (t *matrixRoutine) slot(z asm.Vec, off int32, store bool) {
	if store {
		t.VM(asm.MovU32St, t.o, z, 0, asm.At(asm.R8, off))
		return
	}
	t.VM(asm.MovU32, t.o, z, 0, asm.At(asm.R8, off))
}

// anyBit compares a vector with zero.
func (t *matrixRoutine) anyBit(z asm.Vec) {
	if t.wide {
		t.VTest(asm.TestMD, t.o, asm.K7, z, z)
		t.KOrTestW(asm.K7, asm.K7)
		return
	}
	t.TestAll(z, z)
}

// writeQuick writes the quick way, which begins at a label and goes on at another where it cannot serve. R8 points
// at the slot.
func (t *matrixRoutine) writeQuick(begin, slow asm.Label) {
	t.Align(64)
	t.Bind(begin)
	if t.wide {
		for z := int32(poolStart); z < poolStart+quickSaved; z++ {
			t.store(matrixOffsets.save+64*(z-poolStart), asm.Vec(z))
		}
	} else {
		t.truncates()
	}
	other, same, leave := t.NewLabel(), t.NewLabel(), t.NewLabel()
	kind := 1 + uint32(t.m.format)<<8 + uint32(t.m.k)<<16
	t.CmpMI32(asm.At(asm.R8, slotOffsets.kind), int32(kind))
	t.J(asm.NE, other)
	for i := range t.chunksOfK() * t.rowVectors() {
		t.load(0, matrixOffsets.a+t.bytes*i)
		x := asm.Vec(min(i, 1))
		t.VM(asm.XorD, t.o, x, 0, asm.At(asm.R8, slotOffsets.raw+t.bytes*i))
		if i == 0 {
			t.op(asm.OrD, 2, 0, 0)
		} else {
			t.op(asm.OrD, 2, 2, 1)
		}
	}
	t.anyBit(2)
	t.J(asm.NE, other)
	t.Bind(same)
	t.quickConstants()
	t.quickB()
	t.J(asm.NE, leave)
	t.CmpMI32(asm.At(asm.R8, slotOffsets.special), 0)
	t.J(asm.NE, leave)
	t.every(quickLeast, quickCon(quickMost))
	t.op(asm.OrD, quickNothing, quickLeast, quickLeast)
	t.op(asm.XorD, quickLargest, quickLargest, quickLargest)
	t.op(asm.XorD, quickSum, quickSum, quickSum)
	for p := range int32(2) {
		for r := range t.rowVectors() / 4 {
			t.quickExponents(p, r)
			t.quickSums(p, r)
		}
	}
	// What a limit is subtracted from, or what is subtracted from a limit, is negative where the quick way does not
	// serve.
	t.combine(asm.SubD, quickLeast, quickLeast, 0, t.ofFormat(quickLeastC))
	t.every(0, quickCon(quickMostE))
	t.op(asm.SubD, 0, 0, quickLargest)
	t.op(asm.OrD, quickLeast, quickLeast, 0)
	if t.blocks() == 4 {
		t.every(0, quickCon(quickMostSum))
		t.op(asm.SubD, 0, 0, quickSum)
		t.op(asm.OrD, quickLeast, quickLeast, 0)
	}
	if t.m.format != matrixF16 {
		t.combine(asm.SubD, quickNothing, quickNothing, 0, quickCon(quickTiny))
		t.op(asm.OrD, quickLeast, quickLeast, quickNothing)
	}
	t.combine(asm.AndD, 0, quickLeast, 0, quickCon(quickSign32))
	t.anyBit(0)
	t.J(asm.NE, leave)
	t.quickRestore()
	t.Ret()

	t.Bind(leave)
	t.quickRestore()
	t.Jmp(slow)

	t.Bind(other)
	t.quickConstants()
	t.quickA()
	t.StI32(asm.At(asm.R8, slotOffsets.kind), kind)
	t.Jmp(same)
}

// quickConstants loads what elements are taken apart with.
func (t *matrixRoutine) quickConstants() {
	t.every(quickRegMag, t.ofFormat(quickMag))
	t.every(quickRegOne, t.ofFormat(quickOne))
	t.op(asm.XorD, quickRegMax, quickRegMax, quickRegMax)
	t.every(quickRegMin, quickCon(quickMost))
	if t.m.format == matrixBF16 {
		t.every(quickRegMin, t.ofFormat(quickMag))
	}
	t.every(quickRegNum, t.ofFormat(quickNum))
	t.every(quickRegMul, quickCon(quickScale))
	t.every(quickRegPart, t.ofFormat(quickPart))
}

// quickExponent makes exponents of the elements in a register, in register 4; 5 is used. That of zero is far below
// all others.
func (t *matrixRoutine) quickExponent(x asm.Vec) {
	switch t.m.format {
	case matrixF16:
		t.op(asm.AndD, 4, x, quickRegMag)
		t.op(asm.MinUW, 5, 4, quickRegOne)
		t.op(asm.SubW, 5, 5, quickRegOne)
		t.VShift(asm.ShiftW, t.o, asm.ShiftSll, 5, 5, 6)
		t.VShift(asm.ShiftW, t.o, asm.ShiftSrl, 4, 4, 10)
		t.op(asm.MaxUW, quickRegMax, quickRegMax, 4)
		t.op(asm.MaxUW, 4, 4, quickRegOne)
		t.op(asm.AddW, 4, 4, 5)
	case matrixBF16:
		t.op(asm.AndD, 4, x, quickRegMag)
		t.op(asm.SubW, 5, 4, quickRegOne)
		t.op(asm.MinUW, quickRegMin, quickRegMin, 5)
		t.VShift(asm.ShiftW, t.o, asm.ShiftSrl, 4, 4, 7)
		t.op(asm.MaxUW, quickRegMax, quickRegMax, 4)
		t.op(asm.MinUW, 5, 4, quickRegOne)
		t.op(asm.SubW, 5, 5, quickRegOne)
		t.VShift(asm.ShiftW, t.o, asm.ShiftSll, 5, 5, 13)
		t.op(asm.AddW, 4, 4, 5)
	default:
		t.op(asm.AndD, 4, x, quickRegMag)
		t.op(asm.SubD, 5, 4, quickRegOne)
		t.op(asm.MinUD, quickRegMin, quickRegMin, 5)
		t.shift(asm.ShiftSrl, 4, 4, 23)
		t.op(asm.MaxSD, quickRegMax, quickRegMax, 4)
		t.op(asm.MinSD, 5, 4, quickRegOne)
		t.op(asm.SubD, 5, 5, quickRegOne)
		t.shift(asm.ShiftSll, 5, 5, 13)
		t.op(asm.AddD, 4, 4, 5)
	}
}

// quickJoin adds to the exponents in a register those in register 4 of the next k, or of none.
func (t *matrixRoutine) quickJoin(d, x asm.Vec, next bool) {
	switch {
	case !next:
		t.every(5, t.ofFormat(quickNone))
	case t.m.format == matrixF16:
		t.VShift(asm.ShiftW, t.o, asm.ShiftSll, 5, 4, 8)
	default:
		t.shift(asm.ShiftSll, 5, 4, 16)
	}
	t.op(asm.AndD, d, x, quickRegPart)
	t.op(asm.OrD, d, d, 5)
}

// quickNumber makes element j of the words of a register numbers, in register 6.
func (t *matrixRoutine) quickNumber(x asm.Vec, j int32) {
	switch {
	case t.m.format == matrixF16:
		if j == 0 {
			t.shift(asm.ShiftSll, 6, x, 16)
			x = 6
		}
		t.shift(asm.ShiftSra, 6, x, 3)
		t.op(asm.AndD, 6, 6, quickRegNum)
		t.op(asm.MulPS, 6, 6, quickRegMul)
	case t.m.format == matrixBF16 && j == 0:
		t.shift(asm.ShiftSll, 6, x, 16)
	default:
		t.op(asm.AndD, 6, x, quickRegNum)
	}
}

// quickSpecial compares with zero what is left of elements that are not for the quick way.
func (t *matrixRoutine) quickSpecial() {
	if t.m.format == matrixTF32 {
		t.combine(asm.AddD, quickRegMax, quickRegMax, 4, t.ofFormat(quickTop))
	} else {
		t.every(4, t.ofFormat(quickTop))
		t.op(asm.AddW, quickRegMax, quickRegMax, 4)
	}
	switch t.m.format {
	case matrixBF16:
		t.every(4, t.ofFormat(quickLow))
		t.op(asm.SubW, quickRegMin, quickRegMin, 4)
		t.op(asm.OrD, quickRegMax, quickRegMax, quickRegMin)
	case matrixTF32:
		t.combine(asm.SubD, quickRegMin, quickRegMin, 4, t.ofFormat(quickLow))
		t.op(asm.OrD, quickRegMax, quickRegMax, quickRegMin)
	}
	t.combine(asm.AndD, quickRegMax, quickRegMax, 4, t.ofFormat(quickSign))
	t.anyBit(quickRegMax)
}

// quads stores each element of a vector's quads in all lanes of the quad, as four vectors.
func (t *matrixRoutine) quads(x asm.Vec, off int32) {
	for s := range int32(4) {
		t.VI(asm.ShufD, t.o, 7, 0, x, uint8(s)*0x55)
		t.slot(7, off+256*s, true)
	}
}

// quickA prepares A.
func (t *matrixRoutine) quickA() {
	per, chunks := t.per(), t.chunksOfK()
	for v := range t.rowVectors() {
		for q := range chunks {
			t.load(0, matrixOffsets.a+256*q+t.bytes*v)
			t.slot(0, slotOffsets.raw+256*q+t.bytes*v, true)
			t.quickExponent(0)
			switch {
			case t.m.format == matrixBF16:
				t.quads(4, slotOffsets.exp+1024*q+t.bytes*v)
			case q+1 < chunks:
				t.op(asm.OrD, quickRegKeep, 4, 4)
			case chunks == 1:
				t.quickJoin(4, 4, false)
				t.quads(4, slotOffsets.exp+t.bytes*v)
			default:
				t.quickJoin(4, quickRegKeep, true)
				t.quads(4, slotOffsets.exp+t.bytes*v)
			}
			for j := range per {
				t.quickNumber(0, j)
				t.quads(6, slotOffsets.num+1024*(q*per+j)+t.bytes*v)
			}
		}
	}
	t.quickSpecial()
	t.MovI32(asm.RAX, 0)
	t.MovI32(asm.RCX, 1)
	t.Cmov32(asm.NE, asm.RAX, asm.RCX)
	t.St32(asm.At(asm.R8, slotOffsets.special), asm.RAX)
}

// quickB prepares B: the elements of four columns for every k. Of a register of B, 512-bit vectors have the even and
// the odd columns of four k each, 256-bit vectors both of one k; inB tells where that puts them. The comparison at
// the end says whether B is not for the quick way.
func (t *matrixRoutine) quickB() {
	num, exp := inQuick(unsafe.Offsetof(matrixQuick{}.num)), inQuick(unsafe.Offsetof(matrixQuick{}.exp))
	tmp := inQuick(unsafe.Offsetof(matrixQuick{}.tmp))
	index := inQuick(unsafe.Offsetof(matrixQuick{}.index))
	per, chunks := t.per(), t.chunksOfK()
	for q := range chunks {
		list := []asm.Vec{0, 1, 2, 3}
		if t.wide {
			list = []asm.Vec{2, 3}
			t.load(0, matrixOffsets.b+128*q)
			t.load(1, matrixOffsets.b+128*q+64)
			for p := range int32(2) {
				t.load(asm.Vec(2+p), index+64*p)
				t.op(asm.PermI2D, asm.Vec(2+p), 0, 1)
			}
		} else {
			for i := range int32(4) {
				t.load(asm.Vec(i), matrixOffsets.b+128*q+32*i)
			}
			t.transpose()
		}
		for i, x := range list {
			off := t.bytes * int32(i)
			t.quickExponent(x)
			switch {
			case t.m.format == matrixBF16:
				t.store(exp+128*q+off, 4)
			case q+1 < chunks:
				t.store(tmp+off, 4)
			case chunks == 1:
				t.quickJoin(4, 4, false)
				t.store(exp+off, 4)
			default:
				t.load(6, tmp+off)
				t.quickJoin(6, 6, true)
				t.store(exp+off, 6)
			}
			for j := range per {
				t.quickNumber(x, j)
				t.store(num+128*(q*per+j)+off, 6)
			}
		}
	}
	t.quickSpecial()
}

// fourColumns loads, for the even or the odd columns, what quickB has stored of number s of four.
func (t *matrixRoutine) fourColumns(z asm.Vec, base asm.GPR, off, p, s int32) {
	if t.wide {
		off += 64*p + 16*s
	} else {
		off += 32*s + 16*p
	}
	t.VM(asm.BroadcastX, t.o, z, 0, asm.At(base, off))
}

// quickExponents finds E and prepares C, of the even or the odd columns of four vectors: registers 4 to 7 become
// 2^(25-E), and C in units of its inverse goes to tmp.
func (t *matrixRoutine) quickExponents(p, r int32) {
	add, most, groups := asm.AddW, asm.MaxSW, int32(4)
	switch t.m.format {
	case matrixF16:
		add, most = asm.AddB, asm.MaxSB
	case matrixBF16:
		groups = 4 * t.chunksOfK()
	}
	for s := range groups {
		t.fourColumns(quickRegB, asm.RSI, inQuick(unsafe.Offsetof(matrixQuick{}.exp))+128*(s/4), p, s%4)
		for i := range int32(4) {
			d := asm.Vec(i)
			if s > 0 {
				d = quickRegX
			}
			t.VM(add, t.o, d, quickRegB, asm.At(asm.R8, slotOffsets.exp+256*s+t.bytes*(4*r+i)))
			if s > 0 {
				t.op(most, asm.Vec(i), asm.Vec(i), d)
			}
		}
	}
	for i := range int32(4) {
		e, f := asm.Vec(i), asm.Vec(4+i)
		t.shift(asm.ShiftSll, quickRegX, e, 16)
		t.op(most, e, e, quickRegX)
		down := uint8(16)
		if t.m.format == matrixF16 {
			t.shift(asm.ShiftSll, quickRegX, e, 8)
			t.op(most, e, e, quickRegX)
			down = 24
		}
		t.shift(asm.ShiftSra, e, e, down)
		t.combine(asm.AddD, e, e, quickRegX, t.ofFormat(quickBias))
		if t.m.format != matrixF16 {
			t.combine(asm.AddD, quickRegX, e, quickRegX, quickCon(quickZeros))
			t.op(asm.MinUD, quickNothing, quickNothing, quickRegX)
		}
		t.load(quickRegX, matrixOffsets.c+256*p+t.bytes*(4*r+i))
		t.combine(asm.AndD, quickRegY, quickRegX, quickRegY, con(conAbs))
		t.combine(asm.AddD, quickRegB, quickRegY, quickRegB, quickCon(quickMinus))
		t.op(asm.MinUD, quickLeast, quickLeast, quickRegB)
		t.shift(asm.ShiftSrl, quickRegY, quickRegY, 23)
		t.op(asm.MaxSD, e, e, quickRegY)
		t.combine(asm.MaxSD, e, e, quickRegY, quickCon(quickLeastE))
		t.op(asm.MaxSD, quickLargest, quickLargest, e)
		t.every(f, quickCon(quickPower))
		t.op(asm.SubD, f, f, e)
		t.shift(asm.ShiftSll, f, f, 23)
		t.op(asm.MulPS, quickRegX, quickRegX, f)
		t.V(asm.CvtTPS2DQ, t.o, quickRegX, 0, quickRegX)
		t.store(inQuick(unsafe.Offsetof(matrixQuick{}.tmp))+t.bytes*i, quickRegX)
	}
}

// quickSums adds the products of the same vectors and stores results.
func (t *matrixRoutine) quickSums(p, r int32) {
	for i := range asm.Vec(4) {
		t.op(asm.XorD, i, i, i)
	}
	t.Lea(asm.RCX, work(inQuick(unsafe.Offsetof(matrixQuick{}.num))))
	t.Lea(asm.RDX, asm.At(asm.R8, slotOffsets.num))
	loop := t.NewLabel()
	t.MovI32(asm.RAX, uint32(t.blocks()))
	t.Bind(loop)
	for s := range int32(4) {
		t.fourColumns(quickRegB, asm.RCX, 0, p, s)
		for i := range int32(4) {
			x := quickRegX + asm.Vec(i&1)
			t.VM(asm.MulPS, t.o, x, quickRegB, asm.At(asm.RDX, 256*s+t.bytes*(4*r+i)))
			t.op(asm.MulPS, x, x, asm.Vec(4+i))
			t.V(asm.CvtTPS2DQ, t.o, x, 0, x)
			t.op(asm.AddD, asm.Vec(i), asm.Vec(i), x)
		}
	}
	t.AddI(asm.RCX, 128)
	t.AddI(asm.RDX, 1024)
	t.countDown(asm.RAX)
	t.J(asm.NE, loop)
	toward := t.o
	if t.wide {
		toward = asm.Rounded(asm.RoundZero)
	}
	for i := range int32(4) {
		s := asm.Vec(i)
		if t.blocks() == 4 {
			t.V(asm.AbsD, t.o, quickRegX, 0, s)
			t.op(asm.MaxUD, quickSum, quickSum, quickRegX)
		}
		t.VM(asm.AddD, t.o, s, s, work(inQuick(unsafe.Offsetof(matrixQuick{}.tmp))+t.bytes*i))
		t.V(asm.CvtDQ2PS, toward, s, 0, s)
		t.every(quickRegX, quickCon(quickBack))
		t.op(asm.SubD, quickRegX, quickRegX, asm.Vec(4+i))
		t.op(asm.MulPS, s, s, quickRegX)
		t.store(matrixOffsets.d+256*p+t.bytes*(4*r+i), s)
	}
}
