// Package nvrtc opens NVIDIA's runtime compiler library (libnvrtc) and calls it. Package nvrtc in the root of the
// module is what programs use.
//
// Like package nvidia it opens a shared library at run time with purego, never at import, and is empty with the build
// tag gocuda_nodriver and on systems without such a library. It is apart from package nvidia, since the compiler is no
// device: it needs neither driver nor GPU.
package nvrtc

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/env"
)

// Attempt is a library that was tried.
type Attempt struct {
	Path string
	Err  error
}

// LoadError is the error when no usable compiler library is found. Its text names the libraries that are there and
// cannot be used; Details has all that were tried.
type LoadError struct {
	Forced string // what asked for a single path, or empty
	Tried  []Attempt
	Reason string // why none was tried
}

func (e *LoadError) Error() string {
	var b strings.Builder
	b.WriteString("nvrtc: no compiler library")
	if e.Forced != "" {
		b.WriteString(" (" + e.Forced + ")")
	}
	if e.Reason != "" {
		b.WriteString(": " + e.Reason)
	}
	if e.Forced == "" && len(e.Tried) > 0 {
		fmt.Fprintf(&b, " in %d places; install it, for example with pip install 'nvidia-cuda-nvrtc==13.0.*', or name it in "+
			"%s (docs/compilers.md)", len(e.Tried), env.NVRTC)
	}
	for i := range e.Tried {
		if t := &e.Tried[i]; e.Forced != "" || !t.absent() {
			b.WriteString("\n\t" + t.text())
		}
	}
	return b.String()
}

// Details lists every library that was tried and why it could not be used, one a line.
func (e *LoadError) Details() string {
	lines := make([]string, len(e.Tried))
	for i := range e.Tried {
		lines[i] = e.Tried[i].text()
	}
	return strings.Join(lines, "\n")
}

// text is path and error; the dynamic loader begins its text with the path.
func (a *Attempt) text() string {
	return a.Path + ": " + strings.TrimPrefix(a.Err.Error(), a.Path+": ")
}

// absent says whether there is no such library, in the words of the system's loader.
func (a *Attempt) absent() bool {
	text := strings.ToLower(a.Err.Error())
	return strings.Contains(text, "no such file") || strings.Contains(text, "not be found")
}

// Result is a code of NVRTC (nvrtcResult in nvrtc.h).
type Result int32

// The codes that callers tell apart (nvrtc.h).
const (
	Success       Result = 0
	InvalidOption Result = 5
	Compilation   Result = 6
)

// names are the codes in nvrtc.h, NVRTC_SUCCESS first.
var names = [...]string{
	"NVRTC_SUCCESS", "NVRTC_ERROR_OUT_OF_MEMORY", "NVRTC_ERROR_PROGRAM_CREATION_FAILURE", "NVRTC_ERROR_INVALID_INPUT",
	"NVRTC_ERROR_INVALID_PROGRAM",
	"NVRTC_ERROR_INVALID_OPTION", "NVRTC_ERROR_COMPILATION", "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
	"NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
	"NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION", "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
	"NVRTC_ERROR_INTERNAL_ERROR", "NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
}

func (r Result) Error() string {
	if r >= 0 && int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("nvrtcResult(%d)", int32(r))
}

// errNotNVRTC is a library without the functions of NVRTC.
var errNotNVRTC = errors.New("the library has no nvrtcCreateProgram")

// MissingError names a function that the library is too old for.
type MissingError struct{ Symbol string }

func (e *MissingError) Error() string { return "nvrtc: the library has no " + e.Symbol }
