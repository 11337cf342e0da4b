// Package tiletest is for tests of Tile IR: it reads recordings, writes bytecode, generates random modules and computes
// what their kernels write, as a second opinion beside the lowering.
package tiletest
