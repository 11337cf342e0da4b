package ptx

import (
	"fmt"
	"strings"
)

// ErrorKind says what is wrong with a text.
type ErrorKind uint8

const (
	// SyntaxError is a token where it cannot stand.
	SyntaxError ErrorKind = iota
	// MissingVersion means that the text does not begin with .version.
	MissingVersion
	// MissingTarget means that .target does not follow .version.
	MissingTarget
	// NonASCII is a byte above 0x7f, which the language has nowhere.
	NonASCII
	// BadConstant is a literal or constant expression without a value:
	// too large, divided by zero, not constant.
	BadConstant
	// Overflow is an integer literal that 64 bits do not hold. It alone is no fatal fault to the driver's compiler,
	// which goes on with the low bits.
	Overflow
	// TooLarge means that a limit of this package was passed: length of the
	// text, nesting depth.
	TooLarge
)

// Error is one fault in a PTX text.
type Error struct {
	Pos
	Kind ErrorKind
	Text string // in the words of the driver's compiler where they are known
}

// Error returns "line:column: text".
func (e *Error) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Text)
}

// Log returns the line that the driver's compiler writes into the error log,
// where its words are known, without the closing "Ptx assembly aborted due to
// errors".
func (e *Error) Log() string {
	if e.Kind == NonASCII {
		return "ptxas fatal   : " + e.Text
	}
	severity := "fatal  "
	if e.Kind == Overflow {
		severity = "error  "
	}
	return fmt.Sprintf("ptxas application ptx input, line %d; %s : %s", e.Line, severity, e.Text)
}

// ErrorList holds the faults of a text in source order, at most maxErrors of
// them. The driver's compiler stops at the first.
type ErrorList []*Error

// Error returns all faults, one a line.
func (l ErrorList) Error() string {
	if len(l) == 0 {
		return "no errors"
	}
	var b strings.Builder
	for i, e := range l {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Error())
	}
	return b.String()
}

// Unwrap lets errors.As find an *Error.
func (l ErrorList) Unwrap() []error {
	errs := make([]error, len(l))
	for i, e := range l {
		errs[i] = e
	}
	return errs
}
