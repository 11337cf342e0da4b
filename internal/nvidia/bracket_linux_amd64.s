//go:build !gocuda_nodriver

#include "textflag.h"
#include "go_asm.h"

GLOBL ·bracketABI0(SB), NOPTR|RODATA, $8
DATA ·bracketABI0(SB)/8, $gocuda_nvidia_bracket(SB)

// int gocuda_nvidia_bracket(frame *f): see bracket_linux.go. System V calling convention: DI is f; BX, BP, R12-R15 belong to the caller; the stack is
// a multiple of 16 at each CALL. Words 0 to 5 go to registers, 6 to 15 to the stack.
TEXT gocuda_nvidia_bracket(SB), NOSPLIT|NOFRAME, $0
	PUSHQ BX
	MOVQ  DI, BX
	SUBQ  $80, SP                 // 8 return address + 8 BX + 80 = 96

	MOVQ  frame_cur(BX), DI
	TESTQ DI, DI
	JZ    call
	MOVQ  frame_push(BX), AX
	CALL  AX
	MOVL  AX, AX                  // a CUresult has 32 bits
	MOVQ  AX, frame_result(BX)
	TESTL AX, AX
	JNZ   done

call:
	MOVUPS (frame_a+48)(BX), X8
	MOVUPS (frame_a+64)(BX), X9
	MOVUPS (frame_a+80)(BX), X10
	MOVUPS (frame_a+96)(BX), X11
	MOVUPS (frame_a+112)(BX), X12
	MOVUPS X8, 0(SP)
	MOVUPS X9, 16(SP)
	MOVUPS X10, 32(SP)
	MOVUPS X11, 48(SP)
	MOVUPS X12, 64(SP)
	MOVQ   (frame_x+0)(BX), X0
	MOVQ   (frame_x+8)(BX), X1
	MOVQ   (frame_a+0)(BX), DI
	MOVQ   (frame_a+8)(BX), SI
	MOVQ   (frame_a+16)(BX), DX
	MOVQ   (frame_a+24)(BX), CX
	MOVQ   (frame_a+32)(BX), R8
	MOVQ   (frame_a+40)(BX), R9
	MOVQ   frame_fn(BX), R10
	XORL   AX, AX
	CALL   R10
	MOVL   AX, AX
	MOVQ   AX, frame_result(BX)

	MOVQ  frame_cur(BX), DI
	TESTQ DI, DI
	JZ    done
	LEAQ  frame_popped(BX), DI
	MOVQ  frame_pop(BX), AX
	CALL  AX

done:
	XORL AX, AX
	ADDQ $80, SP
	POPQ BX
	RET
