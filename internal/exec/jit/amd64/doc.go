// Package amd64 writes machine code for x86-64, with AVX-512 or AVX2: of functions for single warps, and of kernels for
// whole CTAs.
//
// Each operation has a template (candidates by opcode in templates.go), a function that looks at the operation and
// returns what writes it, or nil when the interpreter has to do it.
//
// # Registers
//
// R15 is the context, RBX the frame, R12 the constant pool; RAX, RCX, RDX, RSI, RDI, R8 are scratch, R9 to R11 and R14
// hold predicates. Vectors are 64-byte pieces of rows: two of a 32-bit row, four of a 64-bit row. zmm0 to zmm7 are
// scratch, zmm8 to zmm30 cache pieces (cache.go), zmm31 is the canonical NaN of f32 in all lanes. k1, k2, k3, k4 are
// the split's mask shifted right by 0, 8, 16, 24; k5 the guard's, k6 a shifted guard; k0 and k7 are scratch.
//
// Products of matrices are routines behind the function's code (matrix.go), called with RSI at the matrixWork.
//
// # Instruction sets
//
// Templates write AVX-512 (F, BW, DQ, VL, CD). On a processor without it, package asm writes each such instruction as
// AVX2 instructions with the same result (asm.Asm.LowerToAVX2): the registers above stand in context.registers, and
// their halves and the masks in ymm registers as long as no other path joins (Asm.Bind; Asm.Join keeps them). A
// register of the cache that holds a piece of a row has its place in the row itself (Asm.Place), not in
// context.registers: it is loaded by the instruction that needs it, and stored there once. Templates need not know, but
// for two things that make the code better: gen.begin, join and rejoin say which registers hold nothing any more, and
// flags do not outlive a scatter or a masked move of 8- or 16-bit elements. An instruction without such a sequence
// (RangePS with other immediates than those of minimum and maximum, RndScalePS with a scale, masks on insertions and
// extractions) leaves its operation to the interpreter.
package amd64
