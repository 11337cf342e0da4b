// Package nccl opens NVIDIA's collective communications library (libnccl) and calls it. Package nccl/raw has the
// functions with their types.
//
// Like package nvidia it opens a shared library at run time with purego, never at import, and is empty with the build
// tag gocuda_nodriver and on systems without such a library.
package nccl

import (
	"errors"
	"fmt"
	"strings"
)

// Attempt is a library that was tried.
type Attempt struct {
	Path string
	Err  error
}

// LoadError says that there is no usable library.
type LoadError struct {
	Forced string // what asked for a single path, or empty
	Tried  []Attempt
	Reason string // why none was tried
}

func (e *LoadError) Error() string {
	var b strings.Builder
	b.WriteString("nccl: no NCCL library")
	if e.Forced != "" {
		b.WriteString(" (" + e.Forced + ")")
	}
	if e.Reason != "" {
		b.WriteString(": " + e.Reason)
	}
	for _, t := range e.Tried {
		fmt.Fprintf(&b, "\n\t%s: %v", t.Path, t.Err)
	}
	return b.String()
}

// MissingError is a function that the library is too old for.
type MissingError struct {
	Symbol string
	Since  int // version that has it, as ncclGetVersion counts; 0 when it is not recorded
}

func (e *MissingError) Error() string {
	s := "nccl: the library has no " + e.Symbol
	if e.Since > 0 {
		s += fmt.Sprintf("; NCCL %d.%d has", e.Since/10000, e.Since/100%100)
	}
	return s
}

var errNotNCCL = errors.New("the library has no ncclGetVersion")
