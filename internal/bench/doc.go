// Package bench measures the software device against what else runs such work on a CPU: small GPU workloads, each as
// PTX for the software device, as OpenCL C for PoCL, and as C with OpenMP for the native limit. The three have the same
// work, data and checks.
//
//	vecadd, saxpy                       memory bound
//	mandelbrot                          a divergent loop
//	nbody                               rsqrt, a shared tile, barriers
//	sgemm_naive, sgemm_tiled            strided reads; 16x16 shared tiles and barriers
//	reduce_shared, reduce_shfl          a barrier tree; warp shuffles
//	hist_shared, hist_global            shared and global atomics
//	transpose                           a shared tile, 32x8 blocks
//	stencil5                            2-D neighbours, a border test
//	blackscholes                        exp, log, square root, division
//	hash64, sha256                      64-bit and 32-bit integers
//	matmul_f16, matmul_bf16, matmul_s8  mma.sync and ldmatrix
//	matmul_wmma                         wmma
//	attention                           mma.sync, one pass over keys and values
//	softmax, layernorm                  rows: shuffles and shared memory
//	stencil7_f64                        a cube of doubles
//	half_pairs                          f16x2 arithmetic
//	scan                                a prefix sum whose blocks look back
//	radix                               the scatter of one pass of a radix sort: match.any, stable
//	bilinear, bilinear_rgba             textures with linear filtering: an image turned about its centre
//	store_1, store_1_batch, store_10k   launch latency: blocks that store a word each
//	big5k, big50k                       code size: 5087 and 50370 PTX lines
//
// The PTX in kernels/ptx was made by clang 19 (sm_80, PTX 7.0, -O3, no toolkit: kernels/cuda/shim.h) from kernels/cuda
// and, for the two big ones, from what host/gen_big.c writes. The C programs in host are built with gcc when they are
// wanted (Hosts). Results are checked against references in float64 or exact integers, written a second time for each
// side.
package bench
