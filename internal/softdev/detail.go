package softdev

import (
	"fmt"
	"sync"

	"github.com/gocuda/cuda/internal/driver"
)

// detail is the last explanation that a call left behind.
type detail struct {
	mu   sync.Mutex
	n    uint64 // orders details of different holders
	text string
}

func (x *detail) set(n uint64, text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.n, x.text = n, text
}

func (x *detail) get() (uint64, string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.n, x.text
}

// explain keeps a text for LastDetail beside the result that a call is about to return: in the context, or with the
// calling thread when the call has none.
func (d *Driver) explain(c *context, format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	n := d.details.Add(1)
	defer d.logError(text)
	if c != nil {
		c.detail.set(n, text)
		return
	}
	d.threads.self().detail.set(n, text)
}

// LastDetail is the newest explanation of a failure in the context, or (cur 0) in the calling thread's current context
// or the thread itself: the report of a kernel's fault, the feature behind a CUDA_ERROR_NOT_SUPPORTED, the log of a
// failed module load. It is the empty string when there is none, and stays until the next one; read it only after a
// call that failed.
func (d *Driver) LastDetail(cur driver.CUcontext) string {
	var n uint64
	var text string
	t := d.threads.self()
	if cur == 0 {
		cur = t.current()
	}
	if c := d.contexts.get(uintptr(cur)); c != nil {
		n, text = c.detail.get()
	}
	if m, s := t.detail.get(); m > n {
		return s
	}
	return text
}
