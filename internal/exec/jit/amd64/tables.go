package amd64

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
)

// engineTables are constants that machine code reads.
type engineTables struct {
	nan    [4]uint32
	stepsQ [4][16]uint64 // i times 1, 2, 4, 8
	stepsD [4][32]uint32
	low    [4]uint64 // 0, 1, 3, 7
	lowD   [4]uint32
	magic  [16]uint32
	approx approxTables
	mini   miniTables
}

var (
	offNaN    = int32(unsafe.Offsetof(engineTables{}.nan))
	offStepsQ = int32(unsafe.Offsetof(engineTables{}.stepsQ))
	offStepsD = int32(unsafe.Offsetof(engineTables{}.stepsD))
	offMagic  = int32(unsafe.Offsetof(engineTables{}.magic))
	offApprox = int32(unsafe.Offsetof(engineTables{}.approx))
	offMini   = int32(unsafe.Offsetof(engineTables{}.mini))
)

// Words of engineTables.magic.
const (
	magicSign   = iota // 0x80000000
	magicAbs           // 0x7fffffff
	magicOne           // 1.0
	magicHalf          // 0.5
	magicOneInt        // 1
	magic31
	magic32
	magicInf
	magicByte
)

func newTables() *engineTables {
	t := &engineTables{nan: [4]uint32{0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff}}
	for e := range 4 {
		for i := range 16 {
			t.stepsQ[e][i] = uint64(i) << e
		}
		for i := range 32 {
			t.stepsD[e][i] = uint32(i) << e
		}
		t.low[e], t.lowD[e] = 1<<e-1, 1<<e-1
	}
	t.magic = [16]uint32{magicSign: asm.F32Sign, magicAbs: asm.F32Abs, magicOne: asm.F32One, magicHalf: asm.F32Half,
		magicOneInt: 1, magic31: 31, magic32: 32, magicInf: asm.F32Inf, magicByte: 0xff}
	t.approx.fill()
	t.mini.fill()
	return t
}
