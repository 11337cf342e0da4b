package interp

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// has128 says whether the processor compares and exchanges 16 bytes: machine code of package jit does so too, on the
// same memory.
var has128 = cpu.X86.HasCX16

// cas128 is lock cmpxchg16b: it returns what was at p, a multiple of 16.
//
//go:noescape
func cas128(p unsafe.Pointer, oldLow, oldHigh, newLow, newHigh uint64) (low, high uint64)
