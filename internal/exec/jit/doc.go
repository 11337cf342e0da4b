// Package jit is the engine that turns kernels into machine code. It works over the register frame of package ir as the interpreter does, and gives the same
// bits.
//
// A function is compiled when it first runs, once for warps with all lanes active and once for any mask. Operations without a template
// are left to the interpreter one at a time (interp.Single): the code stores what it holds in registers, returns to Go, and is entered
// again after the operation. So is everything that schedules: barriers, calls, divergence.
//
// # Machine code
//
// The code runs on the goroutine's stack as a leaf that leaves the stack pointer alone, so a memory fault in it is a fault of its
// caller to the Go runtime and becomes a panic there (debug.SetPanicOnFault), like those of the interpreter. Before an access that can fault the code notes its
// operation, and where a lane's address cannot be told otherwise the addresses (context.go), so the fault names operation and thread. Global
// addresses outside the device window, misaligned ones and those of other state spaces are found by explicit checks and left to the interpreter.
//
// A CTA of a cluster has its shared memory in the shared window at its rank: accesses to its own are checked against context.sharedLow, those to others' go by way of the
// cluster (tmpl_cluster.go), and what is neither is left to the interpreter.
//
// Every back edge counts the split's budget, so control returns to Go within a bounded number of operations.
//
// # Whole CTAs
//
// Kernels whose operations all have templates, and that call nothing and need no scheduler (ctaReady), also have code for whole CTAs of given dimensions (cta.go), which a launch
// prefers: it stays in machine code from the first warp's beginning to the last one's end, and goes on to the next CTA. Every warp has a frame with what the CTA's code keeps behind the
// rows (layout): the next warp's frame, where it goes on, which lanes it began with and which are left. At a barrier a warp notes where it goes on and jumps to where the next one does;
// without barriers warps run one after the other.
//
// Values are known better than in code of single warps, since dimensions are constants (values.go): what is the same for all lanes, or grows by a stride from lane to lane, is kept as a
// scalar (scalar.go) and takes no row. Where lanes part, those of the lower block run on, and the others wait at theirs (pend); whoever comes by takes them along. There is code for all
// lanes and code for some (cta_versions.go); large kernels have the two written at the same time.
//
// What the code cannot do (a fault's report, an address of another state space) stops the CTA (blockRunner.Restore): its warps go on as splits of the scheduler, each at the
// operation where it stood, and the kernel is compiled again without the assumption that did not hold.
//
// # Registers
//
// R15 is the context, RBX the frame, R12 the constant pool; RAX, RCX, RDX, RSI, RDI, R8 are scratch, R9 to R11 and R14 hold predicates. Vectors are 64-byte pieces of rows:
// two of a 32-bit row, four of a 64-bit row. zmm0 to zmm7 are scratch, zmm8 to zmm30 cache pieces (cache.go), zmm31 is
// the canonical NaN of f32 in all lanes. k1, k2, k3, k4 are the split's mask shifted right by 0, 8, 16, 24; k5 the guard's, k6 a shifted guard; k0 and k7 are scratch.
//
// Products of matrices are routines behind the function's code (matrix.go), called with RSI at the matrixWork.
//
// # Instruction sets
//
// Templates write AVX-512 (F, BW, DQ, VL, CD). On a processor without it, package asm writes each such instruction as AVX2 instructions with the same result
// (asm.Asm.LowerToAVX2): the registers above stand in context.registers, and their halves and the masks in ymm registers as long as no other path joins
// (Asm.Bind; Asm.Join keeps them). Templates need not know, but for two things that make the code better: gen.begin, join and rejoin say which registers hold nothing any more,
// and flags do not outlive a scatter or a masked move of 8- or 16-bit elements. An instruction without such a sequence (RangePS with other immediates than those of minimum
// and maximum, RndScalePS with a scale, masks on insertions and extractions) leaves its operation to the interpreter. The environment variable GOCUDA_JIT_ISA, avx512 or avx2,
// chooses; unset, the best that the processor has.
package jit
