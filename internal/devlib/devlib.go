// Package devlib holds the device math library: the functions __nv_* of float, double and integers that clang's CUDA
// headers call (__clang_cuda_libdevice_declares.h, 430 of them), as LLVM bitcode that is linked into a program's
// device code with -mlink-builtin-bitcode.
//
// The sources lie in src, in C; internal/tools/devlibgen compiles them. They are of our own, after published methods:
// argument reduction after Cody and Waite and after Payne and Hanek, polynomials fitted by Remez's algorithm
// (src/coef.py), sums and products of two numbers where one is not exact enough, Shepherd and Laframboise's form of
// erfc, Giles' of its inverse, Miller's algorithm for Bessel functions of an order. No part comes from NVIDIA's
// library, which was never read. Bounds of the errors (functions.tab) are meant to be those of the CUDA C++ Programming
// Guide; those of the rarer functions have not been compared with its page yet.
package devlib

import _ "embed"

//go:embed devmath.bc
var bitcode string

// FileName is the name to write the bitcode under.
const FileName = "devmath.bc"

// Bitcode returns the library as LLVM bitcode, which clang 17 and later read. The bytes are the caller's. Clang 20 and
// later warn that their data layout is newer, which concerns no type that the library uses: -Wno-linker-warnings.
func Bitcode() []byte { return []byte(bitcode) }
