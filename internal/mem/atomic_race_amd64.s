//go:build race

#include "textflag.h"

// func AddUint32(p *uint32, n uint32)
TEXT ·AddUint32(SB), NOSPLIT, $0-12
	MOVQ p+0(FP), BX
	MOVL n+8(FP), AX
	LOCK
	ADDL AX, 0(BX)
	RET

// func LoadUint32(p *uint32) uint32
TEXT ·LoadUint32(SB), NOSPLIT, $0-12
	MOVQ p+0(FP), BX
	MOVL 0(BX), AX
	MOVL AX, ret+8(FP)
	RET

// func LoadUint64(p *uint64) uint64
TEXT ·LoadUint64(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), BX
	MOVQ 0(BX), AX
	MOVQ AX, ret+8(FP)
	RET

// func CompareAndSwapUint32(p *uint32, old, n uint32) bool
TEXT ·CompareAndSwapUint32(SB), NOSPLIT, $0-17
	MOVQ p+0(FP), BX
	MOVL old+8(FP), AX
	MOVL n+12(FP), CX
	LOCK
	CMPXCHGL CX, 0(BX)
	SETEQ ret+16(FP)
	RET

// func CompareAndSwapUint64(p *uint64, old, n uint64) bool
TEXT ·CompareAndSwapUint64(SB), NOSPLIT, $0-25
	MOVQ p+0(FP), BX
	MOVQ old+8(FP), AX
	MOVQ n+16(FP), CX
	LOCK
	CMPXCHGQ CX, 0(BX)
	SETEQ ret+24(FP)
	RET
