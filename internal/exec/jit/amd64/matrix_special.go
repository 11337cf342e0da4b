package amd64

import "github.com/gocuda/cuda/internal/exec/jit/amd64/asm"

// class makes of numbers whose magnitude is what the mask takes: zero of zero, one of what is finite, infinities and
// NaNs of those of f32, with their signs. x, and with it y to v, are changed. top is the largest finite magnitude with
// all bits below set.
func (t *matrixRoutine) class(x, y, z, u, v asm.Vec, mask, top int, up uint8) {
	t.every(y, con(mask))
	t.op(asm.AndD, y, x, y) // magnitude
	t.op(asm.XorD, x, x, y) // sign, and what the mask leaves
	t.shift(asm.ShiftSrl, x, x, 31)
	t.shift(asm.ShiftSll, x, x, 31)
	t.every(z, con(top))
	t.op(asm.SubD, z, z, y)
	t.shift(asm.ShiftSra, z, z, 31) // infinities and NaNs
	t.op(asm.XorD, u, u, u)
	t.op(asm.SubD, u, u, y)
	t.shift(asm.ShiftSra, u, u, 31) // not zero
	t.every(v, con(conOneF))
	t.op(asm.AndD, u, u, v)
	t.op(asm.AndND, u, z, u)
	// The mantissa of f32 below the exponent.
	if up != 0 {
		t.shift(asm.ShiftSrl, y, y, up)
	}
	t.every(v, con(conMan23))
	t.op(asm.AndD, y, y, v)
	t.every(v, con(conInf))
	t.op(asm.OrD, y, y, v)
	t.op(asm.AndD, y, y, z)
	t.op(asm.OrD, x, x, y)
	t.op(asm.OrD, x, x, u)
}

// classOf is class for element j of a word of A or B.
func (t *matrixRoutine) classOf(j int32) {
	mask, top, up := conMag16, conTop16, uint8(3)
	switch {
	case t.m.format == matrixTF32:
		mask, top, up = conTF, conTopBF, 0
	case j == 0:
		t.shift(asm.ShiftSll, 0, 0, 16)
	}
	if t.m.format == matrixBF16 {
		top, up = conTopBF, 0
	}
	t.class(0, 1, 2, 3, 4, mask, top, up)
}

// specials computes results that an infinity or a NaN reaches.
func (t *matrixRoutine) specials() {
	none := t.NewLabel()
	t.Ld32(asm.RAX, work(matrixOffsets.special))
	t.Test32(asm.RAX, asm.RAX)
	t.J(asm.E, none)
	per := t.per()
	for g := range t.groups {
		for n := range 4 * t.blocks() / per {
			for j := range per {
				t.load(0, t.rows(matrixOffsets.rawA+64*n, g))
				t.classOf(j)
				t.store(t.rows(t.partA(partClass, 4*(n/4*per+j)+n%4), g), 0)
			}
		}
	}
	for r := range t.blocks() / per {
		for v := range t.vectors() {
			for j := range per {
				t.load(0, matrixOffsets.b+128*r+t.bytes*v)
				t.classOf(j)
				t.store(t.partB(partClass, r*per+j)+t.bytes*v, 0)
			}
		}
	}
	for g := range t.groups {
		for col := range 8 {
			out := t.rows(matrixOffsets.out+64*int32(col), g)
			t.load(0, t.rows(matrixOffsets.rawC+64*int32(col), g))
			if t.m.half {
				t.class(0, 1, 2, 3, 4, conMag16, conTop16, 3)
			} else {
				t.class(0, 1, 2, 3, 4, conAbs, conMaxF, 0)
			}
			t.begin(g)
			t.each(t.blocks(), func(i int32) {
				t.VM(asm.MovU32, t.o, 1, 0, t.inA(partClass, i))
				t.every(2, t.inB(partClass, col, i))
				t.op(asm.FMA231PS, 0, 1, 2)
			})
			t.every(1, con(conAbs))
			t.op(asm.AndD, 1, 0, 1)
			t.every(2, con(conMaxF))
			t.op(asm.SubD, 2, 2, 1)
			t.shift(asm.ShiftSra, 2, 2, 31) // infinity or NaN
			t.every(3, con(conInf))
			t.op(asm.SubD, 3, 3, 1)
			t.shift(asm.ShiftSra, 3, 3, 31) // NaN
			inf, nan := conInf, conNaN
			if t.m.half {
				inf, nan = conInf16, conNaN16
				t.shift(asm.ShiftSrl, 0, 0, 31)
				t.shift(asm.ShiftSll, 0, 0, 15)
			} else {
				t.shift(asm.ShiftSrl, 0, 0, 31)
				t.shift(asm.ShiftSll, 0, 0, 31)
			}
			t.every(4, con(inf))
			t.op(asm.OrD, 0, 0, 4)
			t.op(asm.AndND, 0, 3, 0)
			t.every(4, con(nan))
			t.op(asm.AndD, 4, 4, 3)
			t.op(asm.OrD, 0, 0, 4)
			t.op(asm.AndD, 0, 0, 2)
			t.load(1, out)
			t.op(asm.AndND, 1, 2, 1)
			t.op(asm.OrD, 0, 0, 1)
			t.store(out, 0)
		}
	}
	t.Bind(none)
}
