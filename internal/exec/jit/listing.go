package jit

// Listing is the machine code of a function as it runs for whole warps.
type Listing struct {
	Func   string
	Code   []byte
	Entry  []int32 // by operation: offset in Code at which it can be entered, -1 when it cannot
	Native []bool  // by operation: it has machine code; the others return to Go
}

// Count says how many of the operations have machine code.
func (l *Listing) Count() (native int) {
	for _, n := range l.Native {
		if n {
			native++
		}
	}
	return native
}
