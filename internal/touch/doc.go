// Package touch sees loads and stores of the process in ranges of its memory, which it takes the rights from. A handler
// of SIGSEGV notes the address and lets the access go on: the page is open then until ranges are set again, so that of
// the accesses to a page the first is seen. System calls that are given closed memory fail with EFAULT; who sets ranges
// keeps them small.
//
// Handlers belong to the process, and so there is one Guard at a time. Faults at other addresses go to the handler that
// was there before: Go's, or that of libcuda.so.1.
package touch

import "errors"

// Access is one that was seen.
type Access struct {
	Addr  uint64
	Write bool
}

// Range is memory from one address to another, in whole pages.
type Range struct {
	Lo, Hi uint64
	Reads  bool // loads are seen too, not only stores
}

// PageSize is what ranges are multiples of.
const PageSize = 4096

// ErrUnsupported says that accesses cannot be seen: on this system, or since another Guard is at work.
var ErrUnsupported = errors.New("touch: loads and stores of the process cannot be seen")
