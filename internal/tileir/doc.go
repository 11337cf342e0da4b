// Package tileir reads CUDA Tile IR bytecode (versions 13.1 to 13.5), checks it and prints it.
//
// Parse takes the sections of a file apart: strings, types, constants, globals, the table of functions. The body of a
// function is decoded when it is asked for. Verify decodes all of it and checks types, shapes and structure; what it
// refuses, NVIDIA's reader refuses, with the same words where they are known. Text prints a module as NVIDIA's
// tileirdisasm does.
//
// What operations there are stands in one table (ops.tab): reader, verifier and printer follow it.
//
// The format is published by NVIDIA: the Tile IR specification, and the reader and writer of
// github.com/NVIDIA/cuda-tile (Apache-2.0). Versions 13.4 and 13.5 are known from the writer in the Python package
// cuda-tile (Apache-2.0) and from what the tools print.
package tileir
