package cu

import (
	"bytes"
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/image"
)

// maxElements bounds the arrays that a call allocates for a count given as a number: no driver has so many of anything,
// and the count is not checked by C before the array is there.
const maxElements = 1 << 24

// slice is the C form of a slice: a pointer to its first element, NULL when it is empty. D has the layout of T.
func slice[D, T any](s []T) *D {
	if len(s) == 0 {
		return nil
	}
	return (*D)(unsafe.Pointer(unsafe.SliceData(s)))
}

// bytesPointer is the C form of host memory.
func bytesPointer(b []byte) unsafe.Pointer { return unsafe.Pointer(slice[byte](b)) }

// imagePointer is the C form of an image. C takes none of its length: text gets a NUL, and an image that ends before
// what its header declares is refused, since the driver would read on.
func imagePointer(function, parameter string, b []byte) (unsafe.Pointer, error) {
	if len(b) == 0 {
		return nil, nil
	}
	if err := image.Cut(b); err != nil {
		return nil, &ImageError{Func: function, Param: parameter, Reason: err.Error()}
	}
	const header = 64 // bytes of a binary format that are read before they say how many there are
	if bytes.IndexByte(b, 0) >= 0 && (len(b) >= header || image.Detect(b) == image.PTX) {
		return bytesPointer(b), nil
	}
	c := make([]byte, max(len(b)+1, header))
	copy(c, b)
	return unsafe.Pointer(&c[0]), nil
}

// copied is a copy of memory that the driver owns.
func copied[T any](p *T, n uint64) []T {
	if p == nil || n == 0 {
		return nil
	}
	return append([]T(nil), unsafe.Slice(p, n)...)
}

// cut is the text in a buffer up to its NUL.
func cut(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// textBuffer holds the C form of a short string inside the struct of outputs, so that a call allocates once.
type textBuffer [64]byte

func (b *textBuffer) set(s string) (*byte, bool) {
	if strings.IndexByte(s, 0) >= 0 {
		return nil, false
	}
	if len(s) < len(b) {
		copy(b[:], s)
		return &b[0], true
	}
	long := make([]byte, len(s)+1)
	copy(long, s)
	return &long[0], true
}

// alignedTensorMap has room for a tensor map at a multiple of 64 bytes, which the driver asks for and Go does not
// promise. It must be on the heap, where it does not move.
type alignedTensorMap [24]uint64

func (m *alignedTensorMap) at() *CUtensorMap {
	p := unsafe.Pointer(m)
	return (*CUtensorMap)(unsafe.Add(p, -uintptr(p)&63))
}

// launchExtra is the array that C's extra points to, with what it points to.
type launchExtra struct {
	list [5]uintptr
	size uint64
	data *byte // keeps the buffer
}

// launchBuffer makes extra from a parameter buffer.
func launchBuffer(b []byte) *launchExtra {
	if len(b) == 0 {
		return nil
	}
	l := &launchExtra{size: uint64(len(b)), data: unsafe.SliceData(b)}
	l.list = [5]uintptr{
		CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT, uintptr(unsafe.Pointer(l.data)),
		CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT, uintptr(unsafe.Pointer(&l.size)),
		CU_LAUNCH_PARAM_END_AS_INT,
	}
	return l
}

func (l *launchExtra) pointer() *uintptr {
	if l == nil {
		return nil
	}
	return &l.list[0]
}

func toCUhostFn(f func()) driver.CUhostFn {
	if f == nil {
		return driver.CUhostFn{}
	}
	return driver.CUhostFn{Go: func(uintptr) { f() }}
}

func toCUstreamCallback(f func(CUstream, CUresult)) driver.CUstreamCallback {
	if f == nil {
		return driver.CUstreamCallback{}
	}
	return driver.CUstreamCallback{Go: func(s driver.CUstream, r driver.CUresult, _ uintptr) {
		f(CUstream(s), CUresult(r))
	}}
}

func toCUoccupancyB2DSize(f func(int32) uint64) driver.CUoccupancyB2DSize {
	return driver.CUoccupancyB2DSize{Go: f}
}

func toCUasyncCallback(f func(*CUasyncNotificationInfo, CUasyncCallbackHandle)) driver.CUasyncCallback {
	if f == nil {
		return driver.CUasyncCallback{}
	}
	return driver.CUasyncCallback{Go: func(i *driver.CUasyncNotificationInfo, _ uintptr,
		h driver.CUasyncCallbackHandle) {
		f((*CUasyncNotificationInfo)(unsafe.Pointer(i)), CUasyncCallbackHandle(h))
	}}
}

func toCUlogsCallback(f func(CUlogLevel, string)) driver.CUlogsCallback {
	if f == nil {
		return driver.CUlogsCallback{}
	}
	return driver.CUlogsCallback{Go: func(_ uintptr, l driver.CUlogLevel, p *byte, n uint64) {
		f(CUlogLevel(l), string(copied(p, n)))
	}}
}

func toCUgraphRecaptureCallback(f func(CUgraphNode, *CUgraphNodeParams, *CUgraphNodeParams,
	CUgraphRecaptureStatus) CUresult) driver.CUgraphRecaptureCallback {
	if f == nil {
		return driver.CUgraphRecaptureCallback{}
	}
	return driver.CUgraphRecaptureCallback{Go: func(_ uintptr, n driver.CUgraphNode,
		original, recaptured *driver.CUgraphNodeParams, s driver.CUgraphRecaptureStatus) driver.CUresult {
		return driver.CUresult(f(CUgraphNode(n), (*CUgraphNodeParams)(unsafe.Pointer(original)),
			(*CUgraphNodeParams)(unsafe.Pointer(recaptured)), CUgraphRecaptureStatus(s)))
	}}
}

func toCUcoredumpStatusCallback(f func(int32, CUdevice)) driver.CUcoredumpStatusCallback {
	if f == nil {
		return driver.CUcoredumpStatusCallback{}
	}
	return driver.CUcoredumpStatusCallback{Go: func(_ uintptr, pid int32, dev driver.CUdevice) {
		f(pid, CUdevice(dev))
	}}
}
