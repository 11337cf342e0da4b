#include "textflag.h"
#include "funcdata.h"

// func enter(code uintptr, ctx unsafe.Pointer) uint64
// The code may change every register but SP and BP. It calls nothing and must not move SP where it can fault.
TEXT ·enter(SB), 0, $64-24
	NO_LOCAL_POINTERS
	MOVQ code+0(FP), AX
	MOVQ ctx+8(FP), R15
	CALL AX
	MOVQ AX, ret+16(FP)
	RET

// func features() uint32
TEXT ·features(SB), NOSPLIT, $0-4
	MOVL $1, AX
	MOVL $0, CX
	CPUID
	MOVL CX, ret+0(FP)
	RET
