#include "textflag.h"

// Offsets in shared.
#define base 0
#define size 8
#define pages 16
#define old 24
#define number 32
#define list 40
#define last 6184
#define count 6192
#define dfl 6200

// handler is the action of SIGSEGV: DI is the signal, SI its siginfo, DX the ucontext.
TEXT ·handler(SB), NOSPLIT|NOFRAME|TOPFRAME, $0
	MOVQ 16(SI), AX             // si_addr
	LEAQ ·state(SB), R8
	MOVQ AX, R9
	SUBQ base(R8), R9
	CMPQ R9, size(R8)
	JAE  pass
	SHRQ $12, R9
	ADDQ pages(R8), R9
	MOVBLZX (R9), R10
	CMPL R10, $0
	JEQ  pass
	CMPL R10, $3
	JEQ  again
	MOVQ $1, R11
	LOCK
	XADDQ R11, number(R8)
	CMPQ R11, $256
	JAE  open
	LEAQ (R11)(R11*2), R11
	SHLQ $3, R11
	LEAQ list(R8)(R11*1), R11
	MOVQ AX, 0(R11)
	MOVQ 168(DX), CX            // uc_mcontext.gregs[REG_RIP]
	MOVQ CX, 8(R11)
	MOVQ 192(DX), CX            // REG_ERR: bit 1 is set by stores
	ANDQ $2, CX
	ORQ  $1, CX
	MOVQ CX, 16(R11)
open:
	MOVQ AX, DI
	ANDQ $~4095, DI
	MOVQ $4096, SI
	MOVQ $3, DX                 // PROT_READ | PROT_WRITE
	MOVL $10, AX                // mprotect
	SYSCALL
	MOVB $3, (R9)
	RET

again:
	// Another thread has opened the page; but where there is no memory any more it would fault for ever.
	CMPQ AX, last(R8)
	JNE  other
	INCQ count(R8)
	CMPQ count(R8), $64
	JA   pass
	RET
other:
	MOVQ AX, last(R8)
	MOVQ $0, count(R8)
	RET

pass:
	MOVQ old(R8), AX
	CMPQ AX, $1
	JBE  none
	JMP  AX
none:
	MOVQ $11, DI
	LEAQ dfl(R8), SI
	MOVQ $0, DX
	MOVQ $8, R10
	MOVL $13, AX                // rt_sigaction
	SYSCALL
	RET

TEXT ·restorer(SB), NOSPLIT|NOFRAME, $0
	MOVL $15, AX                // rt_sigreturn
	SYSCALL
	INT $3

// func entries() (handler, restorer uintptr)
TEXT ·entries(SB), NOSPLIT, $0-16
	LEAQ ·handler(SB), AX
	MOVQ AX, handler+0(FP)
	LEAQ ·restorer(SB), AX
	MOVQ AX, restorer+8(FP)
	RET
