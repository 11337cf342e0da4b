package jit

// Listing is the machine code of a function.
type Listing struct {
	Func   string
	Native []bool // by operation: it has machine code; the others return to Go
	// Whole is the code that runs whole CTAs, and nil when there is none; Warps is that for whole warps, which runs CTAs that stop before their end.
	Whole, Warps *Code
	WhyNot       []*NoCodeError // what stood in the way of Whole; the last says why there is none
	Falls        []*NoCodeError // what is left to the interpreter of Warps
}

// Code is machine code with the operations that it was made of.
type Code struct {
	Bytes []byte
	Marks []Mark // by offset
}

// Size is the number of bytes; none for nil.
func (c *Code) Size() int {
	if c == nil {
		return 0
	}
	return len(c.Bytes)
}

// Mark says which operation's code begins at an offset: OutOfLine is what all operations before have behind the function's end. An operation may have several places.
type Mark struct{ Offset, Op int32 }

// OutOfLine stands for no operation in a Mark.
const OutOfLine = -1

// Count says how many of the operations have machine code.
func (l *Listing) Count() (native int) {
	for _, n := range l.Native {
		if n {
			native++
		}
	}
	return native
}
