//go:build !gocuda_nodriver

#include "textflag.h"
#include "go_asm.h"

GLOBL ·bracketABI0(SB), NOPTR|RODATA, $8
DATA ·bracketABI0(SB)/8, $gocuda_nvidia_bracket(SB)

// int gocuda_nvidia_bracket(frame *f): see bracket_linux.go. AAPCS64: R0 is f; R19 and R30 are saved here, the other registers that belong
// to the caller are not touched; the stack is a multiple of 16. Words 0 to 7 go to registers, 8 to 15 to the stack.
TEXT gocuda_nvidia_bracket(SB), NOSPLIT|NOFRAME, $0
	SUB  $80, RSP
	MOVD R30, 64(RSP)
	MOVD R19, 72(RSP)
	MOVD R0, R19

	MOVD frame_cur(R19), R0
	CBZ  R0, call
	MOVD frame_push(R19), R9
	BL   (R9)
	MOVWU R0, R0                  // a CUresult has 32 bits
	MOVD R0, frame_result(R19)
	CBNZ R0, done

call:
	MOVD (frame_a+64)(R19), R9
	MOVD R9, 0(RSP)
	MOVD (frame_a+72)(R19), R9
	MOVD R9, 8(RSP)
	MOVD (frame_a+80)(R19), R9
	MOVD R9, 16(RSP)
	MOVD (frame_a+88)(R19), R9
	MOVD R9, 24(RSP)
	MOVD (frame_a+96)(R19), R9
	MOVD R9, 32(RSP)
	MOVD (frame_a+104)(R19), R9
	MOVD R9, 40(RSP)
	MOVD (frame_a+112)(R19), R9
	MOVD R9, 48(RSP)
	MOVD (frame_a+120)(R19), R9
	MOVD R9, 56(RSP)
	FMOVD (frame_x+0)(R19), F0
	FMOVD (frame_x+8)(R19), F1
	MOVD (frame_a+0)(R19), R0
	MOVD (frame_a+8)(R19), R1
	MOVD (frame_a+16)(R19), R2
	MOVD (frame_a+24)(R19), R3
	MOVD (frame_a+32)(R19), R4
	MOVD (frame_a+40)(R19), R5
	MOVD (frame_a+48)(R19), R6
	MOVD (frame_a+56)(R19), R7
	MOVD frame_fn(R19), R9
	BL   (R9)
	MOVWU R0, R0
	MOVD R0, frame_result(R19)

	MOVD frame_cur(R19), R0
	CBZ  R0, done
	ADD  $frame_popped, R19, R0
	MOVD frame_pop(R19), R9
	BL   (R9)

done:
	MOVD ZR, R0
	MOVD 64(RSP), R30
	MOVD 72(RSP), R19
	ADD  $80, RSP
	RET
