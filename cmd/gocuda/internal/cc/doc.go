// Package cc compiles CUDA C++ with clang and without a CUDA toolkit: it finds a clang, understands nvcc's command
// line, compiles device and host code at the same time, packs the PTX, links device code of several files, and links
// programs with this project's CUDA runtime.
//
// Command line to [Options] is [Parse]; [Find] looks for clang; [Driver] does the work.
package cc
