// Package defect makes errors of panics. A panic of the module's own code is a defect: the error says what went wrong,
// where, and how to report it.
//
// Few places catch panics for good: the table of the software device, around each call, and what starts goroutines
// below it (internal/softdev/boundary.go, internal/exec/worker.go). Code in between that has to end something orderly
// uses defer and lets the panic go on; one that catches a panic to pass it on panics with what [Of] makes of it, which
// keeps the place.
package defect

import (
	"fmt"
	"path"
	"runtime"
	"runtime/debug"
	"strings"
)

// Tracker is where defects are reported.
const Tracker = "https://github.com/gocuda/cuda/issues"

const module = "github.com/gocuda/cuda"

// Error is a panic that was caught.
type Error struct {
	Value any // of the panic
	// file and line of the innermost frame of this module, the file relative to the module; for a callback that of the
	// innermost frame of the program
	Place    string
	Callback string // the kind of the program's function that panicked, for example CUhostFn; "" for a defect
	Stack    []byte // of the goroutine, as debug.Stack writes it
}

// Error says what happened, where, and what to do.
func (e *Error) Error() string { return e.Reason() + e.Request() }

// Reason is the text without the request.
func (e *Error) Reason() string {
	if e.Callback != "" {
		return fmt.Sprintf("the program's %s panicked: %s at %s", e.Callback, text(e.Value), e.Place)
	}
	return fmt.Sprintf("internal error: %s at %s", text(e.Value), e.Place)
}

// Request asks for a report; a callback's panic is the program's business.
func (e *Error) Request() string {
	if e.Callback != "" {
		return ""
	}
	return "; please report this with the image and the calls that led here at " + Tracker
}

// Unwrap gives the value, when it is an error.
func (e *Error) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// text is a panic's value in one line of moderate length.
func text(v any) string {
	const most = 500
	s := strings.ToValidUTF8(strings.Join(strings.Fields(fmt.Sprint(v)), " "), "?")
	if len(s) > most {
		s = s[:most] + "..."
	}
	return s
}

// Of makes an error of what recover returned. Only the deferred function that called recover may call it, or what it
// calls: the place is found on the stack. An *Error stays as it is.
func Of(v any) *Error {
	if e, ok := v.(*Error); ok {
		return e
	}
	return &Error{Value: v, Place: place(inModule), Stack: debug.Stack()}
}

// OfCallback is Of for a panic in a function of the program.
func OfCallback(kind string, v any) *Error {
	if e, ok := v.(*Error); ok {
		return e
	}
	return &Error{Value: v, Place: place(func(string) bool { return true }), Callback: kind, Stack: debug.Stack()}
}

func inModule(function string) bool {
	return function == module || strings.HasPrefix(function, module+"/") || strings.HasPrefix(function, module+".")
}

// place looks on the stack for the newest panic, and from there outwards for a function.
func place(wanted func(function string) bool) string {
	pcs := make([]uintptr, 256)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	panicking := false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicking = true
		case !panicking || strings.HasPrefix(f.Function, "runtime.") || !wanted(f.Function):
		default:
			return fmt.Sprintf("%s:%d", file(f), f.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}

// file is a frame's file: for the module's own relative to the module, wherever it was built.
func file(f runtime.Frame) string {
	if !inModule(f.Function) {
		return f.File
	}
	name := strings.TrimPrefix(strings.TrimPrefix(f.Function, module), "/")
	dir, last := path.Split(strings.SplitN(name, "[", 2)[0]) // type arguments may have slashes
	pkg, _, _ := strings.Cut(last, ".")
	return path.Join(dir, strings.TrimSuffix(pkg, "_test"), path.Base(strings.ReplaceAll(f.File, "\\", "/")))
}
