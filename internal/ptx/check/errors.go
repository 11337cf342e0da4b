package check

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/ptx"
)

// Kind says what sort of fault an [Error] is; the driver turns kinds into result codes.
type Kind uint8

// The kinds of fault.
const (
	// Semantic is a module that means nothing: CUDA_ERROR_INVALID_PTX.
	Semantic Kind = iota
	// UnsupportedVersion is a .version newer than [MaxPTX]: CUDA_ERROR_UNSUPPORTED_PTX_VERSION.
	UnsupportedVersion
	// UnsupportedTarget is a .target that does not exist or that the device cannot run: CUDA_ERROR_INVALID_PTX.
	UnsupportedTarget
	// Feature is something that the module's .version or .target does not have: CUDA_ERROR_INVALID_PTX.
	Feature
	// Limit is too much parameter, constant or shared memory: CUDA_ERROR_INVALID_PTX.
	Limit
)

// MaxErrors is how many faults are kept for one module; ptxas has a limit too.
const MaxErrors = 100

// Error is one fault of a module. A zero Pos means that the fault has no line.
type Error struct {
	ptx.Pos
	Kind  Kind
	Fatal bool   // the compiler stops here and says "fatal" instead of "error"
	Text  string // in the words of the driver's compiler where they are known
	// Advice is what to do about it, where there is something to say; the compiler's log does not have it.
	Advice string
}

// Error returns "line:column: text".
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Text
	}
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Text)
}

// Log returns the line that the driver's compiler writes into the error log.
func (e *Error) Log() string {
	sev := "error  "
	if e.Fatal {
		sev = "fatal  "
	}
	if e.Line == 0 {
		return fmt.Sprintf("ptxas %s : %s", sev, e.Text)
	}
	return fmt.Sprintf("ptxas application ptx input, line %d; %s : %s", e.Line, sev, e.Text)
}

// Errors holds the faults of a module in the order in which they were found, at most [MaxErrors].
type Errors []*Error

// Error returns all faults, one a line.
func (l Errors) Error() string {
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

// Advice is the first advice of an error of [Check], empty when it has none.
func Advice(err error) string {
	var list Errors
	if errors.As(err, &list) {
		for _, e := range list {
			if e.Advice != "" {
				return e.Advice
			}
		}
	}
	return ""
}

// Unwrap lets errors.As find an *Error.
func (l Errors) Unwrap() []error {
	errs := make([]error, len(l))
	for i, e := range l {
		errs[i] = e
	}
	return errs
}

// Log formats an error of ptx.Parse or [Check] as the error log of the driver's compiler, closing line included.
func Log(err error) string {
	const aborted = "ptxas fatal   : Ptx assembly aborted due to errors"
	var b strings.Builder
	line := func(s string) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s)
	}
	var syntax ptx.ErrorList
	if errors.As(err, &syntax) && len(syntax) > 0 {
		line(syntax[0].Log()) // the driver's compiler stops at the first
		line(aborted)
		return b.String()
	}
	var one *ptx.Error
	if errors.As(err, &one) {
		line(one.Log())
		line(aborted)
		return b.String()
	}
	var list Errors
	if !errors.As(err, &list) {
		if err == nil {
			return ""
		}
		return "ptxas fatal   : " + err.Error()
	}
	placed := false
	for _, e := range list {
		line(e.Log())
		placed = placed || e.Kind == Feature || e.Line != 0 && e.Kind != UnsupportedVersion
	}
	if placed { // faults of the module as a whole end the log without it
		line(aborted)
	}
	return b.String()
}

// Warnings are the lines that the driver's compiler writes into the info log when it has read the module's text. The
// line is that of a body's closing brace, where the compiler knows all directives (recorded).
func (m *Module) Warnings() (lines []string) {
	for _, f := range m.Funcs {
		d := f.Decl
		if !f.Entry || d == nil || d.Body == nil || d.Directive("minnctapersm") == nil ||
			d.Directive("maxntid") != nil || d.Directive("reqntid") != nil {
			continue
		}
		lines = append(lines, fmt.Sprintf("ptxas application ptx input, line %d; warning : .minnctapersm is ignored when neither .maxntid nor .reqntid is specified.", d.Body.EndPos.Line))
	}
	return lines
}
