package jit

// UnavailableError says why machine code cannot be generated or run on this host.
type UnavailableError struct{ Reason string }

func (e *UnavailableError) Error() string { return "jit: " + e.Reason }
