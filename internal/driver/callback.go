package driver

import (
	"sync"
	"unsafe"
)

// A function pointer in a parameter is one of the structs below: either the address of a C function or a Go function,
// never both; both zero is a NULL pointer. A device that runs in C (the NVIDIA driver) has one C-callable trampoline
// per signature and passes a Go function by a key in the user data (see Registry); a device in Go calls Go directly and
// a C address through a caller that the C library supplies.
//
// User data is a number, not a Go pointer: C programs put anything in it. A Go function that needs a value captures it.
type (
	// CUhostFn is C's void (*)(void *userData): cuLaunchHostFunc, cuUserObjectCreate.
	CUhostFn struct {
		C  uintptr
		Go func(userData uintptr)
	}
	// CUstreamCallback is C's void (*)(CUstream, CUresult, void *userData): cuStreamAddCallback.
	CUstreamCallback struct {
		C  uintptr
		Go func(stream CUstream, status CUresult, userData uintptr)
	}
	// CUoccupancyB2DSize is C's size_t (*)(int blockSize): the dynamic shared memory, in bytes, that a block of so many
	// threads needs.
	CUoccupancyB2DSize struct {
		C  uintptr
		Go func(blockSize int32) uint64
	}
	// CUasyncCallback is C's void (*)(CUasyncNotificationInfo *, void *userData, CUasyncCallbackHandle).
	CUasyncCallback struct {
		C  uintptr
		Go func(info *CUasyncNotificationInfo, userData uintptr, callback CUasyncCallbackHandle)
	}
	// CUlogsCallback is C's void (*)(void *userData, CUlogLevel, char *message, size_t length); the message is not
	// NUL-terminated by contract.
	CUlogsCallback struct {
		C  uintptr
		Go func(userData uintptr, level CUlogLevel, message *byte, length uint64)
	}
	// CUgraphRecaptureCallback is C's CUresult (*)(void *userData, CUgraphNode, const CUgraphNodeParams *original,
	// const CUgraphNodeParams *recaptured, CUgraphRecaptureStatus).
	CUgraphRecaptureCallback struct {
		C  uintptr
		Go func(userData uintptr, node CUgraphNode, original, recaptured *CUgraphNodeParams,
			status CUgraphRecaptureStatus) CUresult
	}
	// CUcoredumpStatusCallback is C's void (*)(void *userData, int pid, CUdevice).
	CUcoredumpStatusCallback struct {
		C  uintptr
		Go func(userData uintptr, pid int32, dev CUdevice)
	}
)

// IsNil reports a NULL function pointer.
func (f CUhostFn) IsNil() bool { return f.C == 0 && f.Go == nil }

// IsNil reports a NULL function pointer.
func (f CUstreamCallback) IsNil() bool { return f.C == 0 && f.Go == nil }

// IsNil reports a NULL function pointer.
func (f CUoccupancyB2DSize) IsNil() bool { return f.C == 0 && f.Go == nil }

// IsNil reports a NULL function pointer.
func (f CUasyncCallback) IsNil() bool { return f.C == 0 && f.Go == nil }

// IsNil reports a NULL function pointer.
func (f CUlogsCallback) IsNil() bool { return f.C == 0 && f.Go == nil }

// IsNil reports a NULL function pointer.
func (f CUgraphRecaptureCallback) IsNil() bool { return f.C == 0 && f.Go == nil }

// IsNil reports a NULL function pointer.
func (f CUcoredumpStatusCallback) IsNil() bool { return f.C == 0 && f.Go == nil }

// Registry gives Go values a number that can travel through C as user data. A device owns one; the zero value is ready.
//
// Function pointers inside structs (CUDA_HOST_NODE_PARAMS.Fn and the like) stay addresses. Such an address is that of a
// C function, or the trampoline of the device, in which case the user data beside it is a key of the device's registry
// whose value is a func(). Table.HostFunc of the device makes such a pair; its release takes the key out again.
//
// Keys start at 1 and are not used again.
type Registry struct {
	mu   sync.Mutex
	last uintptr
	m    map[uintptr]any
}

// Add stores v and returns its key.
func (r *Registry) Add(v any) uintptr {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.m == nil {
		r.m = make(map[uintptr]any)
	}
	r.last++
	r.m[r.last] = v
	return r.last
}

// Get returns the value of a key, nil when there is none.
func (r *Registry) Get(key uintptr) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.m[key]
}

// Take returns the value of a key and forgets it: for functions that run once.
func (r *Registry) Take(key uintptr) any {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.m[key]
	delete(r.m, key)
	return v
}

// Len is the number of values stored.
func (r *Registry) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.m)
}

// String reads a NUL-terminated C string; nil is the empty string.
func String(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
