// Package raw is the whole public API of NCCL, function by function, under the C names without the prefix nccl:
// ncclAllReduce is [Library.AllReduce]. It needs no C compiler: NVIDIA's library is opened at run time. Package nccl is
// built on this one and is what most programs want.
//
// The rule of signatures is that of package cu: inputs stay in C order, an output becomes a result, a pointer and its
// count become a slice, memory of devices is a [cu.CUdeviceptr].
//
// NCCL works on the device whose context is current on the calling OS thread, and counts groups by thread. So a call
// belongs inside [github.com/gocuda/cuda.Context.With], and the calls of a group all on one thread held by
// [runtime.LockOSThread].
//
// The error of a call is nil, a [Result] that is not ncclSuccess, or a [*MissingError]. [InProgress] is the answer of a
// non-blocking communicator whose call goes on; [Library.CommGetAsyncError] tells when it has ended. A call that makes
// a communicator returns where its handle is written, for a non-blocking one at the latest when the call has ended.
package raw

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	internal "github.com/gocuda/cuda/internal/nccl"
)

// LoadError says that there is no usable library, and which were tried.
type LoadError = internal.LoadError

// MissingError names a function that the library is too old for.
type MissingError = internal.MissingError

// Library is an open NCCL library. It may be used from several goroutines and stays loaded until the process ends.
type Library struct {
	l *internal.Library

	mu    sync.Mutex
	slots []*Comm
}

// Open opens the library at a path. The empty path is that of the environment variable GOCUDA_NCCL, or the folders of
// the dynamic loader and of Python's packages, where "pip install nvidia-nccl-cu13" puts it. The error is a
// [*LoadError].
func Open(path string) (*Library, error) {
	l, err := internal.Open(path)
	if err != nil {
		return nil, err
	}
	return &Library{l: l}, nil
}

// Path is the name under which the library was opened.
func (l *Library) Path() string { return l.l.Path() }

// Error is the name and the text of the result.
func (r Result) Error() string {
	name, ok := names[r]
	if !ok {
		return fmt.Sprintf("ncclResult_t(%d)", int32(r))
	}
	if text := texts[r]; text != "" {
		return name + ": " + text
	}
	return name
}

// slot is memory for the handle of a communicator. A non-blocking call writes it from a thread of its own, when it has
// long returned (seen: ncclCommSplit), so the library keeps these 8 bytes for ever.
func (l *Library) slot() *Comm {
	c := new(Comm)
	l.mu.Lock()
	l.slots = append(l.slots, c)
	l.mu.Unlock()
	return c
}

func result(r uintptr, err error) error {
	var missing *MissingError
	if errors.As(err, &missing) {
		missing.Since = symbols[missing.Symbol]
	}
	if err != nil {
		return err
	}
	if r := Result(int32(r)); r != Success {
		return r
	}
	return nil
}

//go:uintptrescapes
func (l *Library) call(name string, args ...uintptr) error { return result(l.l.Call(name, args...)) }

//go:uintptrescapes
func (l *Library) callStruct(name string, value [128]byte, at int, args ...uintptr) error {
	return result(l.l.CallStruct(name, value, at, args...))
}

//go:uintptrescapes
func (l *Library) callVoid(name string, args ...uintptr) error {
	_, err := l.l.Call(name, args...)
	return result(0, err)
}

// GetErrorString is ncclGetErrorString.
func (l *Library) GetErrorString(r Result) (string, error) {
	p, err := l.l.Call("ncclGetErrorString", uintptr(r))
	return goString(*(**byte)(unsafe.Pointer(&p))), result(0, err)
}

// GetLastError is ncclGetLastError (NCCL 2.13): what NCCL last complained about, which may concern another call. A
// comm of 0 is allowed.
func (l *Library) GetLastError(comm Comm) (string, error) {
	p, err := l.l.Call("ncclGetLastError", uintptr(comm))
	return goString(*(**byte)(unsafe.Pointer(&p))), result(0, err)
}

// ParamGetParameter is ncclParamGetParameter.
func (l *Library) ParamGetParameter(key string) (string, error) {
	value, n := new(*byte), new(int32)
	err := l.call("ncclParamGetParameter", uintptr(unsafe.Pointer(cString(key))), uintptr(unsafe.Pointer(value)),
		uintptr(unsafe.Pointer(n)))
	return goString(*value), err
}

// ParamGetAllParameterKeys is ncclParamGetAllParameterKeys.
func (l *Library) ParamGetAllParameterKeys() ([]string, error) {
	table, n := new(**byte), new(int32)
	err := l.call("ncclParamGetAllParameterKeys", uintptr(unsafe.Pointer(table)), uintptr(unsafe.Pointer(n)))
	if err != nil || *table == nil || *n <= 0 {
		return nil, err
	}
	keys := make([]string, 0, *n)
	for _, k := range unsafe.Slice(*table, *n) {
		keys = append(keys, goString(k))
	}
	return keys, nil
}

// mostText bounds a text of the library.
const mostText = 1 << 20

func goString(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for n < mostText && *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// cString ends a text for C at its first NUL.
func cString(s string) *byte {
	b := append([]byte(s), 0)
	return &b[:bytes.IndexByte(b, 0)+1][0]
}
