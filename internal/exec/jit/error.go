package jit

// UnavailableError says why machine code cannot be generated or run on this host.
type UnavailableError struct{ Reason string }

func (e *UnavailableError) Error() string { return "jit: " + e.Reason }

// ISAVariable is the environment variable that chooses the instruction set of machine code: avx512 or avx2; unset, the best that the processor has.
const ISAVariable = "GOCUDA_JIT_ISA"
