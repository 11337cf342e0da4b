package nccl

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gocuda/cuda/nccl/raw"
)

// Float16 is an IEEE half-precision number by its bits (ncclFloat16).
type Float16 uint16

// Bfloat16 is a bfloat16 number by its bits (ncclBfloat16).
type Bfloat16 uint16

// Float8E4M3 is an 8-bit float by its bits (ncclFloat8e4m3, NCCL 2.24).
type Float8E4M3 uint8

// Float8E5M2 is an 8-bit float by its bits (ncclFloat8e5m2, NCCL 2.24).
type Float8E5M2 uint8

// Number is an element type that NCCL can compute with, Float8E4M3 and Float8E5M2 included.
type Number interface {
	~int8 | ~uint8 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~int | ~uint | ~float32 | ~float64 | Float16 | Bfloat16
}

// Result is a code of NCCL (ncclResult_t). The constants are the values that errors of this package unwrap to.
type Result = raw.Result

// The results, for errors.Is.
const (
	ErrUnhandledCudaError = raw.UnhandledCudaError
	ErrSystem             = raw.SystemError
	ErrInternal           = raw.InternalError
	ErrInvalidArgument    = raw.InvalidArgument
	ErrInvalidUsage       = raw.InvalidUsage
	ErrRemote             = raw.RemoteError
	ErrTimeout            = raw.Timeout
)

// LoadError is the error when no NCCL library is found. It lists those that were tried.
type LoadError = raw.LoadError

// MissingError names a function that the NCCL library is too old for.
type MissingError = raw.MissingError

// Error is the error of a call or an operation. It unwraps to the code and to other causes.
type Error struct {
	Op     string // the function of NCCL, for example "ncclAllReduce"
	Code   Result
	Detail string // in words; of NCCL's library ncclGetLastError
	cause  error
}

func (e *Error) Error() string {
	code := e.Code.Error()
	if e.Detail != "" { // NCCL's text says how to find out more
		code, _, _ = strings.Cut(code, ":")
		code += ": " + e.Detail
	}
	return "nccl: " + e.Op + ": " + code
}

// Unwrap returns the code and the cause.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.cause}
}

func usage(op, format string, args ...any) error {
	return &Error{Op: op, Code: ErrInvalidArgument, Detail: fmt.Sprintf(format, args...)}
}

// dataType is NCCL's type of T; ok is false for one that it cannot compute with.
func dataType[T any]() (t raw.DataType, ok bool) {
	var v T
	switch any(v).(type) {
	case Float16:
		return raw.Float16, true
	case Bfloat16:
		return raw.Bfloat16, true
	case Float8E4M3:
		return raw.Float8e4m3, true
	case Float8E5M2:
		return raw.Float8e5m2, true
	}
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Int8:
		return raw.Int8, true
	case reflect.Uint8:
		return raw.Uint8, true
	case reflect.Int32:
		return raw.Int32, true
	case reflect.Uint32:
		return raw.Uint32, true
	case reflect.Int64, reflect.Int:
		return raw.Int64, true
	case reflect.Uint64, reflect.Uint:
		return raw.Uint64, true
	case reflect.Float32:
		return raw.Float32, true
	case reflect.Float64:
		return raw.Float64, true
	}
	return 0, false
}

// moved is the type under which elements are only moved, and how many of it an element is: any other T goes as bytes.
func moved[T any]() (t raw.DataType, each uint64) {
	if t, ok := dataType[T](); ok {
		return t, 1
	}
	return raw.Uint8, uint64(reflect.TypeFor[T]().Size())
}

// Op is a reduction.
type Op struct {
	op   raw.RedOp
	user *userOp
}

// The reductions. An average of integers is the sum divided, toward zero.
var (
	Sum  = Op{op: raw.Sum}
	Prod = Op{op: raw.Prod}
	Max  = Op{op: raw.Max}
	Min  = Op{op: raw.Min}
	Avg  = Op{op: raw.Avg}
)

// userOp is a reduction of a program.
type userOp struct {
	c      *Comm
	typ    raw.DataType
	host   []byte    // the scalar, or
	device region    // where it lies when the operation runs
	handle raw.RedOp // in the library
}
