#include "textflag.h"

// func cas128(p unsafe.Pointer, oldLow, oldHigh, newLow, newHigh uint64) (low, high uint64)
TEXT ·cas128(SB), NOSPLIT, $0-56
	MOVQ p+0(FP), R8
	MOVQ oldLow+8(FP), AX
	MOVQ oldHigh+16(FP), DX
	MOVQ newLow+24(FP), BX
	MOVQ newHigh+32(FP), CX
	LOCK
	CMPXCHG16B (R8)
	MOVQ AX, low+40(FP)
	MOVQ DX, high+48(FP)
	RET
