package softdev

import (
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/gocuda/cuda/internal/defect"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// attempt runs what reaches memory by an address that was checked earlier, or that the program gave: when the access
// comes the memory may be gone, freed by another context, another stream or the program itself. bad is then the address
// of the access. Panics that are no faults go on.
func attempt(f func()) (bad uint64, ok bool) {
	before := debug.SetPanicOnFault(true)
	defer func() {
		r := recover()
		debug.SetPanicOnFault(before)
		if r == nil {
			return
		}
		if bad, ok = mem.Faulted(r); !ok {
			panic(defect.Of(r))
		}
		ok = false
	}()
	f()
	return 0, true
}

// carryOut is what an operation does to memory.
func (o *op) carryOut(s *stream, skip bool) {
	switch {
	case o.kind == opTask:
		o.task.execute(s, skip)
	case skip:
	case o.kind == opCopy:
		copyBytes(o.dst, o.src, o.n)
		s.ctx.d.uninit.copied(o.dst, o.src, o.n)
	case o.kind == opFill:
		fill(o.dst, o.width, o.value, o.n)
		s.ctx.d.uninit.filled(o.dst, o.n*uint64(o.width))
	}
}

// what names an operation in explanations.
func (o *op) what() string {
	switch o.task.(type) {
	case *launch:
		return "a launch"
	case memOps:
		return "a memory operation"
	case *boxFill:
		return "a fill"
	}
	if o.kind == opFill {
		return "a fill"
	}
	return "a copy"
}

// lost ends an operation whose memory is not there. An address outside the window is a host pointer of the program, of
// which the call answers if it still waits. Launches have no such pointers: what their kernels reach ends in package
// exec.
func (s *stream) lost(o *op, addr uint64) {
	if _, ok := o.task.(*launch); ok && !s.ctx.d.memory.w.Contains(addr) {
		panic(fmt.Sprintf("a launch reached %#x outside its kernel", addr))
	}
	if !o.awaited || s.ctx.d.memory.w.Contains(addr) {
		if m, ok := o.task.(memOps); ok {
			m.lost(s.ctx, addr)
		} else {
			s.ctx.gone(o.what(), addr)
		}
		return
	}
	s.notReached()
	s.ctx.d.explainHost(s.ctx, o.what(), addr)
}

// notReached notes of the operation under way that it has not found its host memory.
func (s *stream) notReached() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unreached = append(s.unreached, s.done.Load()+1)
}

// reach does work in a context, which an access without memory ends.
func (c *context) reach(what string, f func()) {
	if addr, ok := attempt(f); !ok {
		c.gone(what, addr)
	}
}

// gone ends a context in which work has found no memory.
func (c *context) gone(what string, addr uint64) {
	c.fail(driver.CUDA_ERROR_ILLEGAL_ADDRESS, fmt.Sprintf("%s reached %#x, where no memory is when it runs", what,
		addr))
}

func (d *Driver) explainHost(c *context, what string, addr uint64) {
	d.explain(c, "%s reached %#x, where the program has no memory, or none that can be written", what, addr)
}

// readHost is copyBytes from memory of the program.
func (c *context) readHost(dst, src unsafe.Pointer, n uint64) driver.CUresult {
	if addr, ok := attempt(func() { copyBytes(dst, src, n) }); !ok {
		c.d.explainHost(c, "a copy", addr)
		return invalidValue
	}
	return success
}
