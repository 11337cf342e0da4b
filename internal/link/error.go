package link

import (
	"errors"
	"strings"

	"github.com/gocuda/cuda/internal/image/fault"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// Class is a kind of failure. It is an error itself, so that errors.Is(err, link.Undefined) asks for it.
type Class uint8

// The classes.
const (
	// Image: an input is damaged, of another format or for another processor; Cause is a *fault.Error, whose class
	// tells more.
	Image Class = iota + 1
	// PTX: the text is not valid, or a function that it declares as its own is nowhere defined.
	PTX
	// Version: the text is of a newer PTX version than the device's compiler knows.
	Version
	// Duplicate: functions are defined a second time.
	Duplicate
	// DuplicateVariable: variables, perhaps besides functions, are defined a second time.
	DuplicateVariable
	// Undefined: names are used and nowhere defined.
	Undefined
	// Mismatch: declarations of one name disagree.
	Mismatch
	// Limit: the program needs more memory of a kind than a kernel may have.
	Limit
	// NotObject: an input is no host object or static library.
	NotObject
	// NoCompiler: the input is intermediate code of NVIDIA's compiler (NVVM, LTO-IR).
	NoCompiler
	// Unsupported: what the driver links and this linker does not.
	Unsupported
	// BadInput: the kind of input does not exist, or the link is complete already.
	BadInput
	// Complete: the link was completed before.
	Complete
)

// Where the driver was seen to answer with a code, it is that one (corpus: manifests' link records, broken.json,
// api.json); Mismatch and Unsupported are this project's choice.
var classes = [...]struct {
	text   string
	result fault.Result
}{
	Image:             {"image cannot be used", 0}, // the cause says it
	PTX:               {"PTX is not valid", fault.InvalidPTX},
	Version:           {"PTX version is not supported", fault.UnsupportedVersion},
	Duplicate:         {"multiple definition of a function", fault.InvalidSource},
	DuplicateVariable: {"multiple definition of a variable", fault.InvalidSource},
	Undefined:         {"undefined reference", fault.InvalidSource},
	Mismatch:          {"declarations disagree", fault.InvalidSource},
	Limit:             {"memory limit exceeded", fault.InvalidSource},
	NotObject:         {"not an object or library", fault.Unknown},
	NoCompiler:        {"no compiler for this input", fault.CompilerNotFound},
	Unsupported:       {"not supported by the software device", fault.NotSupported},
	BadInput:          {"not a possible input", fault.InvalidValue},
	Complete:          {"link is complete", fault.InvalidHandle},
}

// Error says what the class means.
func (c Class) Error() string {
	if int(c) < len(classes) && c != 0 {
		return classes[c].text
	}
	return "unknown link failure"
}

// Error is a failed step of a link.
type Error struct {
	Class  Class
	Log    string // the lines for the error log, separated by newlines; often empty
	Detail string // what a person should know when the log does not say it
	Cause  error  // a parser's, checker's or decompressor's error, or nil

	result fault.Result // where the class does not say it
}

func (e *Error) Error() string {
	switch {
	case e.Detail != "":
		return e.Detail
	case e.Log != "":
		return e.Log
	case e.Cause != nil:
		return e.Cause.Error()
	}
	return e.Class.Error()
}

// Unwrap gives the class and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Class}
	}
	return []error{e.Class, e.Cause}
}

// Result is the CUresult with which the driver answers.
func (e *Error) Result() fault.Result {
	if e.result != 0 {
		return e.result
	}
	var c fault.Class
	if e.Class == Image && errors.As(e.Cause, &c) {
		return c.Result()
	}
	if int(e.Class) < len(classes) && classes[e.Class].result != 0 {
		return classes[e.Class].result
	}
	return fault.Unknown
}

// imageError wraps what a parser of images says.
func imageError(err error, log string) *Error { return &Error{Class: Image, Log: log, Cause: err} }

// faultLog is the line that the driver writes for damage in a container, and an explanation where a real driver could
// go on and this one cannot.
func faultLog(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return ""
	}
	if f.Here {
		return "error   : " + err.Error()
	}
	return f.Class.Log()
}

// textError wraps what the parser or checker of PTX says.
func textError(err error) *Error {
	e := &Error{Class: PTX, Log: check.Log(err), Cause: err}
	var list check.Errors
	if errors.As(err, &list) {
		for _, x := range list {
			if x.Kind == check.UnsupportedVersion {
				e.Class = Version
			}
		}
	}
	return e
}

// unresolved is the compiler's word for a function or variable that must be defined in the module and is not.
func unresolved(what, name string) *Error {
	return &Error{Class: PTX, Log: "ptxas fatal   : Unresolved extern " + what + " '" + name + "'"}
}

// lines makes an error of log lines.
func lines(c Class, log []string) *Error { return &Error{Class: c, Log: strings.Join(log, "\n")} }
