package softdev

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/gocuda/cuda/internal/defect"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// The boundary for panics. A panic below the table is a defect of this module (package defect). It ends where it is
// met:
//
//   - in a call, at the table (caught);
//   - in an operation of a stream or a node of a graph, at the operation, so that the queue goes on (stream.perform,
//     graphRun.node);
//   - in a worker of a launch, in package exec, which gives a Fault with a Defect;
//   - in goroutines and cleanups, where they start (goFor, guard).
//
// The context that it was met in is broken with CUDA_ERROR_UNKNOWN; others are not, unlike after a fault of a kernel:
// there is no hardware that has lost its state. So whoever holds a lock of more than its context gives it back by
// defer, and leaves behind it what others can go on with.

// callerPanic is a panic of a function of the program that runs in a call, on the caller's stack: it goes on in the
// caller.
type callerPanic struct{ value any }

// caught is the end of a call that panicked (driver.Table.Guard).
func (d *Driver) caught(_ int, cur driver.CUcontext, v any) driver.CUresult {
	if p, ok := v.(callerPanic); ok {
		panic(p.value)
	}
	if addr, ok := mem.Faulted(v); ok && !d.memory.w.Contains(addr) {
		panic(v) // by a pointer of the caller's; who has called debug.SetPanicOnFault knows what to do (cmd/libcuda)
	}
	d.defective(d.contexts.get(uintptr(d.current(cur))), defect.Of(v), "")
	return driver.CUDA_ERROR_UNKNOWN
}

// defective breaks the context in which a defect was met; c is nil when there is none. The text is the defect's own,
// when it is empty.
func (d *Driver) defective(c *context, e *defect.Error, text string) {
	defer func() { _ = recover() }() // telling of a defect must not end the process
	if text == "" {
		text = e.Error()
	}
	if c != nil && c.sticky.CompareAndSwap(0, uint32(driver.CUDA_ERROR_UNKNOWN)) {
		c.halt()
	}
	if d.env.Stack {
		_, _ = fmt.Fprintf(d.opts.Stderr, "%s\n%s\n", text, e.Stack)
	}
	d.explain(c, "%s", text)
}

// guard is deferred where work is done for the context.
func (c *context) guard() {
	if v := recover(); v != nil {
		c.d.defective(c, defect.Of(v), "")
	}
}

// guard is deferred where work is done for no context.
func (d *Driver) guard() {
	if v := recover(); v != nil {
		d.defective(nil, defect.Of(v), "")
	}
}

// goFor starts a goroutine that works for a context, and that a group waits for if there is one.
func (c *context) goFor(group *sync.WaitGroup, f func()) {
	if group != nil {
		group.Add(1)
	}
	go func() {
		defer func() {
			if v := recover(); v != nil {
				c.d.defective(c, defect.Of(v), "")
			}
			if group != nil {
				group.Done()
			}
		}()
		f()
	}()
}

// runHost calls a function of the program that the driver runs by itself, in a context or in none (nil), of the kind
// that driver.CUhostFn and its like name. The thread is marked, so that calls of the API from it are recognised. Its
// panic is the program's, and comes out as a *defect.Error that says so.
func (d *Driver) runHost(c *context, kind string, f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(false)) // its faults are its own
	t := d.threads.self()
	t.enterCallback(1)
	d.callbacks.Add(1)
	returned := false
	defer func() {
		d.callbacks.Add(-1)
		t.enterCallback(-1)
		switch v := recover(); {
		case v != nil:
			panic(defect.OfCallback(kind, v))
		case !returned: // nothing can keep the goroutine from ending, but it is told
			d.defective(c, defect.OfCallback(kind, "it called runtime.Goexit"), "")
		}
	}()
	f()
	returned = true
}

func (t *thread) enterCallback(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.callback += n
}

// runHostAlone is runHost where no context is broken by what the function does: its panic is told and nothing else.
func (d *Driver) runHostAlone(kind string, f func()) {
	defer d.guard()
	d.runHost(nil, kind, f)
}

// inCallback says whether the calling thread is running a host function.
func (d *Driver) inCallback() bool {
	// Else the goroutine may leave the thread in between, which then runs the host function of another one.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t := d.threads.self()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.callback > 0
}
