package amd64

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
)

// matrixWork is the memory of the routine.
type matrixWork struct {
	a [4][32]uint32 // fragments as they are in registers
	b [2][32]uint32
	// registers 0, 2, 1, 3 of C, then of D; two registers when C and D are f16
	c      [4][32]uint32
	d      [4][32]uint32 // as c
	rawA   [8][16]uint32 // A transposed: a pair of elements, or one of tf32, of 16 rows
	rawC   [8][16]uint32
	partsA [4][16][16]uint32 // mantissa, exponent, sign, class: by k, 16 rows
	partsB [4][4][32]uint32  // by block of four k: column and k
	partsC [3][8][16]uint32  // by column, 16 rows
	signA  [16]uint32        // the signs of a row as bits
	signB  [32]uint32        // those of a column, four times
	half   [8][16]uint32     // sums of the first half of k
	out    [8][16]uint32
	save   [poolEnd - poolStart][16]uint32
	quick  matrixQuick
	maxA   [16]uint32 // exponents of A
	shared uint64     // where the CTA's shared memory is
	// of a descriptor: bytes from row to row, from chunk to chunk, from eight rows to the next, and bits that the rows'
	// number changes
	rowStep, chunkStep, stride, swizzle uint32
	next                                uint32    // the next eight rows
	scale                               uint32    // all bits, or none when C is zero
	negate                              uint32    // sign bits of A that change
	steps, swizzles                     [4]uint32 // by the mode of a descriptor
	special                             uint32
	mxcsr                               uint32
	con                                 [conCount]uint32
	lut                                 [16]uint32 // number of ones in four bits, for vpshufb
}

// Parts of an element.
const (
	partMan = iota
	partExp
	partSign
	partClass // see matrixRoutine.class
)

// Constants of matrixWork.con.
const (
	conOne = iota
	conMan10
	conMan7
	conMan23
	conLowest // below every exponent
	conHalf   // 0xffff
	conNibble
	conByte
	con65536 // as f32
	con127
	con254
	conLeast // least exponent to scale by
	conInf
	conOneF
	conAbs
	conNaN
	conMaxF
	conInf16
	conNaN16
	conMXCSR
	conLimits                 // what exponents of elements, then of C, must not exceed: by format
	conBiasC  = conLimits + 8 // what brings C's exponent to that of products
	conUnit   = conBiasC + 8  // what brings an exponent of products to that of the sum's unit
	conMag16  = conUnit + 8   // magnitude of f16 and bf16 in the upper half of a word
	conTF     = conMag16 + 1  // that of tf32
	conTop16  = conTF + 1     // from here on infinities and NaNs of f16
	conTopBF  = conTop16 + 1
	conPairs  = conTopBF + 1 // the even bytes
	conCount  = conPairs + 1
)

func newMatrixWork() *matrixWork {
	w := &matrixWork{}
	c := &w.con
	c[conOne], c[conMan10], c[conMan7], c[conMan23] = 1, 0x3ff, 0x7f, asm.F32Mantissa
	c[conLowest], c[conHalf], c[conNibble], c[conByte], c[con65536] = 1<<32-300, 0xffff, 0x0f0f0f0f, 0xff, asm.F32Two16
	c[con127], c[con254], c[conLeast], c[conInf], c[conOneF], c[conAbs], c[conNaN], c[conMaxF] = 127, 254, 1<<32-250,
		asm.F32Inf, asm.F32One, asm.F32Abs, asm.F32NaN, asm.F32Max
	c[conInf16], c[conNaN16], c[conMXCSR] = 0x7c00, 0x7fff, 0x7f80 // all exceptions masked, toward zero
	c[conMag16], c[conTF], c[conTop16], c[conTopBF] = 0x7fff0000, 0x7fffe000, 0x7bffffff, 0x7f7fffff
	c[conPairs] = 0x00ff00ff
	for f, x := range matrixFormats {
		c[conLimits+f], c[conBiasC+f], c[conUnit+f] = x.top-1, 2*x.bias-127, 1<<32-25-2*x.bias
		c[conBiasC+4+f] = 2*x.bias - 15
	}
	c[conLimits+4], c[conLimits+5] = 254, 30 // C of f32, of f16
	w.steps, w.swizzles = [4]uint32{16, 128, 64, 32}, [4]uint32{0, 0x70, 0x30, 0x10}
	for i := range 4 {
		w.lut[4*i], w.lut[4*i+1], w.lut[4*i+2], w.lut[4*i+3] = 0x02010100, 0x03020201, 0x03020201, 0x04030302
	}
	w.quick.fill()
	return w
}

var matrixOffsets = struct {
	a, b, c, rawA, rawC, partsA, partsB, partsC, signA, signB, half, out, save, special, mxcsr, con, lut,
	maxA, shared, rowStep, chunkStep, stride, swizzle, next, scale, negate, steps, swizzles, d, quick int32
}{
	int32(unsafe.Offsetof(matrixWork{}.a)), int32(unsafe.Offsetof(matrixWork{}.b)),
	int32(unsafe.Offsetof(matrixWork{}.c)), int32(unsafe.Offsetof(matrixWork{}.rawA)),
	int32(unsafe.Offsetof(matrixWork{}.rawC)), int32(unsafe.Offsetof(matrixWork{}.partsA)),
	int32(unsafe.Offsetof(matrixWork{}.partsB)), int32(unsafe.Offsetof(matrixWork{}.partsC)),
	int32(unsafe.Offsetof(matrixWork{}.signA)), int32(unsafe.Offsetof(matrixWork{}.signB)),
	int32(unsafe.Offsetof(matrixWork{}.half)), int32(unsafe.Offsetof(matrixWork{}.out)),
	int32(unsafe.Offsetof(matrixWork{}.save)), int32(unsafe.Offsetof(matrixWork{}.special)),
	int32(unsafe.Offsetof(matrixWork{}.mxcsr)), int32(unsafe.Offsetof(matrixWork{}.con)),
	int32(unsafe.Offsetof(matrixWork{}.lut)), int32(unsafe.Offsetof(matrixWork{}.maxA)),
	int32(unsafe.Offsetof(matrixWork{}.shared)), int32(unsafe.Offsetof(matrixWork{}.rowStep)),
	int32(unsafe.Offsetof(matrixWork{}.chunkStep)), int32(unsafe.Offsetof(matrixWork{}.stride)),
	int32(unsafe.Offsetof(matrixWork{}.swizzle)), int32(unsafe.Offsetof(matrixWork{}.next)),
	int32(unsafe.Offsetof(matrixWork{}.scale)), int32(unsafe.Offsetof(matrixWork{}.negate)),
	int32(unsafe.Offsetof(matrixWork{}.steps)), int32(unsafe.Offsetof(matrixWork{}.swizzles)),
	int32(unsafe.Offsetof(matrixWork{}.d)), int32(unsafe.Offsetof(matrixWork{}.quick)),
}
