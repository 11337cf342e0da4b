package nvidia

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/env"
)

// Options say where to look for the driver.
type Options struct {
	// Path is the only library that is tried, when not empty. When it is empty the environment variable GOCUDA_LIBCUDA
	// says so, and when that is empty too, the names and folders where drivers install the library are tried in turn.
	Path string
	// LookupEnv finds environment variables; nil is os.LookupEnv.
	LookupEnv env.Lookup
}

// Attempt is one library that could not be used.
type Attempt struct {
	Path string
	Err  error
	Here bool // the file exists, so that Err is more than that it does not
}

// ErrExcluded is in the chain of the [*LoadError] of a program that was built without the NVIDIA driver: with the build
// tag gocuda_nodriver, or for a system for which there is none.
var ErrExcluded = errors.New("built without NVIDIA driver support")

// errNotCUDA is the answer to a library that opens but is something else.
var errNotCUDA = errors.New("not a CUDA driver library: it has no cuInit")

// LoadError says that there is no usable driver library, and why. Its text is one line, which names those libraries
// that are there and cannot be used; [LoadError.Details] has all that were tried.
type LoadError struct {
	Tried  []Attempt // in order; empty when the program was built without the driver
	Forced string    // what named the only library that was tried: an option or the environment variable; else empty
	Reason error     // ErrExcluded or nil
	Detail string    // explains Reason
}

func (e *LoadError) Error() string {
	if e.Reason != nil {
		return fmt.Sprintf("NVIDIA driver: %v (%s); use the software device", e.Reason, e.Detail)
	}
	var b strings.Builder
	b.WriteString("NVIDIA driver: not found")
	use := "use the software device (GOCUDA_DEVICE=software)"
	if e.Forced != "" {
		for _, a := range e.Tried {
			b.WriteString(": " + a.text())
		}
		fmt.Fprintf(&b, "; nothing else was tried because of %s: correct or remove it, or %s", e.Forced, use)
		return b.String()
	}
	fmt.Fprintf(&b, " in %d places", len(e.Tried))
	for _, a := range e.Tried {
		if a.Here {
			b.WriteString("; " + a.text())
		}
	}
	b.WriteString("; install it (in a container: start it with the GPUs, docker run --gpus all), or name the library in ")
	b.WriteString(env.Driver + ", or " + use)
	return b.String()
}

// text is path and error.
func (a *Attempt) text() string {
	// the dynamic loader begins its text with the path
	return a.Path + ": " + strings.TrimPrefix(a.Err.Error(), a.Path+": ")
}

// Details lists every library that was tried and why it could not be used, one a line.
func (e *LoadError) Details() string {
	lines := make([]string, len(e.Tried))
	for i := range e.Tried {
		lines[i] = e.Tried[i].text()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the reason and the error of every attempt.
func (e *LoadError) Unwrap() []error {
	var errs []error
	if e.Reason != nil {
		errs = append(errs, e.Reason)
	}
	for _, a := range e.Tried {
		errs = append(errs, a.Err)
	}
	return errs
}

// MissingSymbol is a function that the loaded driver does not have; calls of it answer CUDA_ERROR_NOT_SUPPORTED.
type MissingSymbol struct {
	Name    string // C symbol, for example cuCtxCreate_v4
	Since   int    // first CUDA version that has it, 1000*major + 10*minor; 0 when not recorded
	Have    int    // CUDA version of the driver; 0 when it does not say
	Library string // path of the driver library
}

func (e *MissingSymbol) Error() string {
	s := e.Name + ": " + e.Library
	if e.Have > 0 {
		s += " (CUDA " + versionText(e.Have) + ")"
	}
	s += " does not have it"
	if e.Since > 0 {
		s += "; it needs a driver for CUDA " + versionText(e.Since) + " or newer"
		if e.Have >= e.Since {
			s = strings.TrimSuffix(s, " or newer") + " or a later one that still has it"
		}
	}
	return s
}

func versionText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// CallbackPanic is a panic of a Go callback on a thread of the driver.
type CallbackPanic struct {
	Signature string // C type of the callback, for example CUhostFn
	Value     any    // what was given to panic
	Stack     []byte // of the callback, as runtime/debug.Stack
}

func (e *CallbackPanic) Error() string {
	return fmt.Sprintf("panic in a %s callback: %v", e.Signature, e.Value)
}

// Unwrap returns the panic value if it is an error.
func (e *CallbackPanic) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
