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
}

// ErrExcluded is in the chain of the [*LoadError] of a program that was built without the NVIDIA driver: with the build
// tag gocuda_nodriver, or for a system for which there is none.
var ErrExcluded = errors.New("built without NVIDIA driver support")

// errNotCUDA is the answer to a library that opens but is something else.
var errNotCUDA = errors.New("not a CUDA driver library: it has no cuInit")

// LoadError says that there is no usable driver library, and why.
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
	b.WriteString("NVIDIA driver: no driver library could be opened; tried")
	for _, a := range e.Tried {
		// the dynamic loader begins its text with the path
		fmt.Fprintf(&b, "\n\t%s: %s", a.Path, strings.TrimPrefix(a.Err.Error(), a.Path+": "))
	}
	if e.Forced != "" {
		fmt.Fprintf(&b, "\nNothing else was tried because of %s. ", e.Forced)
		b.WriteString("Correct or remove it, or use the software device (GOCUDA_DEVICE=software).")
		return b.String()
	}
	b.WriteString("\nInstall the NVIDIA driver (in a container: start it with access to the GPUs, for example docker run --gpus all), ")
	b.WriteString("or name the library in " + env.Driver + ", or use the software device (GOCUDA_DEVICE=software).")
	return b.String()
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
