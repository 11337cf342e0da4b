package cuda

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/internal/driver"
)

// Result is a result code of the driver. The codes are the constants Err..., so that
//
//	errors.Is(err, cuda.ErrOutOfMemory)
//
// works for every error of this package that came from the driver. They are the same values as cu.CUDA_ERROR_....
type Result = cu.CUresult

// Error is the error of a driver call.
type Error struct {
	Op     string // the driver's function, for example "cuLaunchKernel"
	Code   Result
	Symbol string // kernel, variable or file that the call was about; may be empty
	// Detail says more than the code: the argument that is wrong, the kernel with block, thread and PTX line that
	// faulted (software device), the feature that is missing, or the earlier call that broke the context. May be empty.
	Detail string
	Log    string // what the compiler or linker wrote; may be empty
	cause  error
	breaks bool // the context
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("cuda: ")
	b.WriteString(e.Op)
	if e.Symbol != "" {
		fmt.Fprintf(&b, " (%s)", e.Symbol)
	}
	b.WriteString(": ")
	b.WriteString(e.Code.Error())
	if e.Detail != "" && !strings.Contains(e.Log, e.Detail) { // the log of a link has its reasons, too
		b.WriteString(": ")
		b.WriteString(e.Detail)
	}
	if e.Log != "" {
		b.WriteString("\n")
		b.WriteString(strings.TrimRight(e.Log, "\n"))
	}
	return b.String()
}

// Unwrap returns the code and other causes: ErrClosed, or the error of the context.Context that ended a wait.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.cause}
}

// Sticky reports whether the error has broken its context: every later call in the context fails with the same code
// until it is closed, on a GPU even until the process ends.
func (e *Error) Sticky() bool { return e.breaks || sticky(e.Code) }

// sticky lists the codes whose description in cuda.h says that the context cannot be used any more.
func sticky(code Result) bool {
	switch code {
	case ErrECCUncorrectable, ErrNVLinkUncorrectable, ErrIllegalAddress, ErrLaunchTimeout, ErrAssert,
		ErrHardwareStackError, ErrIllegalInstruction,
		ErrMisalignedAddress, ErrInvalidAddressSpace, ErrInvalidPC, ErrLaunchFailed, ErrTensorMemoryLeak, ErrContained,
		ErrExternalDevice:
		return true
	}
	return false
}

// PanicError is a panic in a Go function that a stream has called. The next call that waits for the device returns it.
type PanicError struct {
	Value any
	Stack string
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("cuda: panic in a host function of a stream: %v\n%s", e.Value, e.Stack)
}

// invalid is an argument that this package refuses before the driver sees it.
func invalid(op, symbol, format string, args ...any) error {
	return &Error{Op: op, Code: ErrInvalidValue, Symbol: symbol, Detail: fmt.Sprintf(format, args...)}
}

// closedError is the use of something that was closed.
func closedError(op string, kind string) error {
	return &Error{Op: op, Code: ErrInvalidHandle, Detail: "the " + kind + " is closed", cause: ErrClosed}
}

// health is what is known of the state of a CUDA context; all Contexts of one primary context share it.
type health struct {
	broken atomic.Pointer[Error]  // the first sticky error
	kernel atomic.Pointer[string] // name of the kernel launched last
	panics atomic.Pointer[PanicError]
}

// wrap makes an Error of what cu returned.
func (s *System) wrap(op, symbol string, cur cu.CUcontext, err error) *Error {
	e := &Error{Op: op, Symbol: symbol, Code: ErrUnknown}
	var missing *cu.MissingError
	var arg *cu.ArgumentError
	var image *cu.ImageError
	switch {
	case errors.As(err, &missing), errors.As(err, &arg), errors.As(err, &image):
		e.Detail = err.Error()
		errors.As(err, &e.Code)
	case errors.As(err, &e.Code):
		// The driver explains only what it does not have; the software device explains most failures.
		if s.Kind() == Software || e.Code == ErrNotSupported {
			e.Detail = s.dev.TakeDetail(driver.CUcontext(cur))
		}
	default:
		e.Detail, e.cause = err.Error(), err
	}
	return e
}

// fail makes an Error of what cu returned for a call in the context; nil stays nil.
func (c *Context) fail(op, symbol string, err error) error {
	if err == nil {
		return nil
	}
	e := c.dev.sys.wrap(op, symbol, c.handle, err)
	h := c.health
	e.breaks = sticky(e.Code)
	// Of the codes that the software device breaks contexts with some say no such thing by themselves: a kernel that
	// meets what the device does not have ends with NOT_SUPPORTED, a defect with UNKNOWN.
	if r, ok := c.dev.sys.dev.Broken(driver.CUcontext(c.handle)); ok {
		e.breaks = r != driver.CUDA_SUCCESS && Result(r) == e.Code
	}
	if first := h.broken.Load(); first != nil && first.Code == e.Code {
		e.Detail = "the context was broken earlier: " + strings.TrimPrefix(first.Error(), "cuda: ")
		return e
	}
	if !e.breaks {
		return e
	}
	if e.Detail == "" {
		e.Detail = "reported by this call, caused by one before it"
		if k := h.kernel.Load(); k != nil {
			e.Detail += "; the last kernel launched was " + *k
		}
	}
	h.broken.CompareAndSwap(nil, e)
	return e
}

// waited is the end of a call that waits for the device: it adds a panic of a host function.
func (c *Context) waited(op string, err error) error {
	err = c.fail(op, "", err)
	if p := c.health.panics.Swap(nil); p != nil {
		return errors.Join(err, p)
	}
	if p := c.dev.sys.dev.CallbackPanic(); p != nil {
		return errors.Join(err, p)
	}
	return err
}
