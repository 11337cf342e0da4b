package amd64

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
)

// Products of 8-bit integers (mma.m16n8k16, m16n8k32 and m8n8k16). Bytes become pairs of 16-bit numbers, even ones and
// odd ones, whose products vpmaddwd adds; the order of k does not matter. The layout of vectors is that of
// matrixRoutine.

// integers writes the routine.
func (t *matrixRoutine) integers(l matrixLabels) {
	t.enter(l.begin)
	t.every(regOne, con(conPairs))
	for g := range t.groups {
		for h := range t.chunks() {
			t.fragment(matrixOffsets.a+256*h, g)
			for i := range int32(4) {
				for odd := range int32(2) {
					t.pairs(asm.Vec(i), odd, t.m.signedA)
					t.store(t.rows(t.partA(partMan, 8*h+4*odd+i), g), 4)
				}
			}
		}
	}
	for v := range t.vectors() {
		for h := range t.chunks() {
			t.load(0, matrixOffsets.b+128*h+t.bytes*v)
			for odd := range int32(2) {
				t.pairs(0, odd, t.m.signedB)
				t.store(t.partB(partMan, 2*h+odd)+t.bytes*v, 4)
			}
		}
	}
	for g := range t.groups {
		for c := range int32(2) {
			t.fragment(matrixOffsets.c+256*c, g)
			for q := range int32(4) {
				t.store(t.rows(matrixOffsets.out+64*(2*q+c), g), asm.Vec(q))
			}
		}
	}
	for g := range t.groups {
		for col := 0; col < 8; col += t.cols {
			t.integerSums(g, col)
		}
	}
	t.assemble()
	t.leave()
	t.Bind(l.sameA) // wgmma has its own way
	t.Ret()
}

// chunks is how many groups of 16 there are in k.
func (t *matrixRoutine) chunks() int32 { return int32(t.m.k) / 16 }

// pairs widens the even or the odd bytes of a register to 16 bits, into register 4.
func (t *matrixRoutine) pairs(x asm.Vec, odd int32, signed bool) {
	switch {
	case signed && odd != 0:
		t.VShift(asm.ShiftW, t.o, asm.ShiftSra, 4, x, 8)
	case signed:
		t.VShift(asm.ShiftW, t.o, asm.ShiftSll, 4, x, 8)
		t.VShift(asm.ShiftW, t.o, asm.ShiftSra, 4, 4, 8)
	case odd != 0:
		t.VShift(asm.ShiftW, t.o, asm.ShiftSrl, 4, x, 8)
	default:
		t.op(asm.AndD, 4, x, regOne)
	}
}

// integerSums adds the products of columns to C. The products' sum alone is far below 2^31.
func (t *matrixRoutine) integerSums(g, col int) {
	x, y, z := t.reg(regX), t.reg(regY), t.reg(regZ)
	for c := range t.cols {
		t.op(asm.XorD, t.sum(c), t.sum(c), t.sum(c))
	}
	t.begin(g)
	t.each(2*t.chunks(), func(i int32) {
		t.VM(asm.MovU32, t.o, t.reg(regManA), 0, t.inA(partMan, i))
		for c := range t.cols {
			t.every(y, t.inB(partMan, col+c, i))
			t.op(asm.MAddWD, y, t.reg(regManA), y)
			t.op(asm.AddD, t.sum(c), t.sum(c), y)
		}
	})
	for c := range t.cols {
		out := t.rows(matrixOffsets.out+64*int32(col+c), g)
		s := t.sum(c)
		t.load(x, out)
		t.op(asm.AddD, y, x, s)
		if t.m.saturate {
			t.op(asm.XorD, z, x, y)
			t.op(asm.XorD, s, s, y)
			t.op(asm.AndD, z, z, s)
			t.shift(asm.ShiftSra, z, z, 31) // overflow
			t.shift(asm.ShiftSra, x, x, 31)
			t.every(s, con(conAbs))
			t.op(asm.XorD, x, x, s) // the end of the range on C's side
			t.op(asm.AndD, x, x, z)
			t.op(asm.AndND, y, z, y)
			t.op(asm.OrD, y, y, x)
		}
		t.store(out, y)
	}
}

var _ = [1]struct{}{}[unsafe.Sizeof(matrixWork{}.partsA[0])-16*64]
