package mem

import (
	"errors"
	"fmt"
	"strings"
)

// ErrClosed is the error of calls on a closed window or heap.
var ErrClosed = errors.New("mem: closed")

// ReserveError says that the host gave no address window of any size.
type ReserveError struct {
	Sizes []uint64 // bytes, in the order tried
	Errs  []error  // the host's answer to each
}

func (e *ReserveError) Error() string {
	var b strings.Builder
	b.WriteString("mem: the host reserves no address window:")
	for i, n := range e.Sizes {
		if i > 0 {
			b.WriteByte(';')
		}
		fmt.Fprintf(&b, " %d GiB: %v", n>>30, e.Errs[i])
	}
	return b.String()
}

// Unwrap returns the host's answers.
func (e *ReserveError) Unwrap() []error { return e.Errs }

// OutOfMemoryError says why an allocation was refused (CUDA_ERROR_OUT_OF_MEMORY).
type OutOfMemoryError struct {
	Size  uint64 // bytes asked for
	Used  uint64 // bytes of the heap in use
	Limit uint64 // bytes the heap may have
	Err   error  // the host's answer, when it was the host that refused; else nil
}

func (e *OutOfMemoryError) Error() string {
	s := fmt.Sprintf("mem: out of memory: %d bytes asked for, %d of %d in use", e.Size, e.Used, e.Limit)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the host's answer.
func (e *OutOfMemoryError) Unwrap() error { return e.Err }

// AddressError says what is wrong with an address or a range given to a call.
type AddressError struct {
	Op   string
	Addr uint64
	Size uint64 // 0 when the call has none
	Why  string
}

func (e *AddressError) Error() string {
	if e.Size != 0 {
		return fmt.Sprintf("mem: %s [%#x,+%d): %s", e.Op, e.Addr, e.Size, e.Why)
	}
	return fmt.Sprintf("mem: %s %#x: %s", e.Op, e.Addr, e.Why)
}
