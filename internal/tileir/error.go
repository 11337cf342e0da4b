package tileir

import (
	"errors"
	"fmt"
)

// ErrStopped is the error of work that was given up because its caller set the flag that it had given for that.
var ErrStopped = errors.New("stopped")

// Class says what kind of thing is wrong with a module.
type Class uint8

// The classes of error.
const (
	// Malformed bytes: cut off, out of range, an index without its object.
	Malformed Class = iota + 1
	// IllTyped: the bytes can be read, but an operation, a type or an attribute breaks a rule.
	IllTyped
	// Version of the format that is not known here, or preview content.
	Version
	// TooLarge: beyond a limit of this package (MaxNesting, MaxText).
	TooLarge
)

var classNames = [...]string{"unknown", "malformed", "ill-typed", "unsupported version", "too large"}

// String is a short lower-case name.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return classNames[0]
}

// Error is the complaint about one place in a module.
type Error struct {
	Class Class
	// Offset of the place, in bytes from the start of the file; for an error of the verifier, of the operation.
	Offset uint64
	// Words say what is wrong, as NVIDIA's reader does.
	Words string
	// Local is the offset that NVIDIA's reader prints with the words: it counts from the start of the part that it is
	// in. Negative when it prints none.
	Local int64
}

func (e *Error) Error() string {
	return fmt.Sprintf("Tile IR at %#x: %s", e.Offset, e.Words)
}

// Reference gives the message in the form in which NVIDIA's reader prints it.
func (e *Error) Reference() string {
	if e.Local < 0 {
		return e.Words
	}
	return fmt.Sprintf("error at offset %d: %s", e.Local, e.Words)
}
