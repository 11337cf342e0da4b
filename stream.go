package cuda

import (
	"context"
	"errors"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/internal/driver"
)

// Stream is a queue of work on a device. Work in one stream runs in order; streams run concurrently.
//
// Where a function takes a *Stream, nil is the default stream of the context that the rest of the call belongs to.
type Stream struct {
	owned
	c      *Context
	api    cu.API
	handle cu.CUstream

	capturing atomic.Bool
}

// StreamOptions are the options of [Context.NewStream]; the zero value is an ordinary (blocking) stream.
type StreamOptions struct {
	// NonBlocking streams run beside the default stream; others wait for its work, and it for theirs.
	NonBlocking bool
	// Priority is smaller for more urgent work; see [Context.PriorityRange].
	Priority int
}

// Default returns the default stream of the context (the legacy default stream, CU_STREAM_LEGACY). It need not be
// closed.
func (c *Context) Default() *Stream { return &c.legacy }

// NewStream creates a stream.
func (c *Context) NewStream(o StreamOptions) (*Stream, error) {
	const op = "cuStreamCreateWithPriority"
	if c.isClosed() {
		return nil, closedError(op, "context")
	}
	flags := cu.CU_STREAM_DEFAULT
	if o.NonBlocking {
		flags = cu.CU_STREAM_NON_BLOCKING
	}
	var h cu.CUstream
	var err error
	if c.what == contextGreen {
		// the only flag it takes (cuda.h)
		h, err = c.api.GreenCtxStreamCreate(c.green, uint32(cu.CU_STREAM_NON_BLOCKING), nearest32(o.Priority))
	} else {
		h, err = c.api.StreamCreateWithPriority(uint32(flags), nearest32(o.Priority))
	}
	if err != nil {
		return nil, c.fail(op, "", err)
	}
	s := &Stream{c: c, api: c.api, handle: h}
	s.born(&c.owned, "stream", 0, c.giveBack("cuStreamDestroy", "", func(api cu.API) error {
		return api.StreamDestroy(h)
	}))
	watch(s, &s.owned)
	return s, nil
}

// stream resolves the stream of a call in the context.
func (c *Context) stream(op string, s *Stream) (*Stream, error) {
	if s == nil {
		s = &c.legacy
	}
	if s.c.handle != c.handle {
		return nil, &Error{Op: op, Code: ErrInvalidContext, Detail: "the stream belongs to another context"}
	}
	if s.isClosed() || s.c.isClosed() {
		return nil, closedError(op, "stream")
	}
	return s, nil
}

// Context returns the context of the stream.
func (s *Stream) Context() *Context { return s.c }

// Handle returns the driver's handle of the stream; 0 is the default stream.
func (s *Stream) Handle() cu.CUstream { return s.handle }

// Close destroys the stream. Queued work is still completed. Closing the default stream does nothing. A stream cannot
// be closed inside its [Stream.Capture].
func (s *Stream) Close() error {
	if s == &s.c.legacy {
		return nil
	}
	if s.capturing.Load() {
		return &Error{Op: "cuStreamDestroy", Code: ErrIllegalState, Detail: "the stream is being captured"}
	}
	return s.end()
}

func (s *Stream) check(op string) error {
	if s.isClosed() || s.c.isClosed() {
		return closedError(op, "stream")
	}
	return nil
}

// Synchronize waits until all work queued in the stream is done. It reports errors of kernels and panics of host
// functions.
func (s *Stream) Synchronize() error {
	if err := s.check("cuStreamSynchronize"); err != nil {
		return err
	}
	return s.c.waited("cuStreamSynchronize", s.api.StreamSynchronize(s.handle))
}

// Wait is Synchronize with a context.Context that can end the wait. The error then wraps the cause of the
// context.Context (errors.Is with context.Canceled or context.DeadlineExceeded) and ErrLaunchTimeout.
//
// On a GPU only the wait ends: the work continues and the context remains usable. The software device stops the kernels
// of the context, which breaks it, as a launch timeout does on a GPU: close it. If the context.Context has ended before
// the call, the result is the same: running kernels are stopped too, and if nothing runs the context remains usable.
// Use [Stream.Done] to test without waiting.
func (s *Stream) Wait(ctx context.Context) error {
	if err := s.check("cuStreamSynchronize"); err != nil {
		return err
	}
	return s.c.wait(ctx, "cuStreamSynchronize", s.Synchronize)
}

// interruptGrace is how long a wait that was ended still waits for the kernels that the software device is stopping; a
// host function can hold them up.
const interruptGrace = 2 * time.Second

// idleGrace is how long work has to show that it is done when the context.Context of a wait has ended before it. A wait
// for nothing takes microseconds.
const idleGrace = 20 * time.Millisecond

func (c *Context) wait(ctx context.Context, op string, block func() error) error {
	if ctx.Done() == nil {
		return block()
	}
	ended := ctx.Err() != nil
	late := &Error{Op: op, Code: ErrLaunchTimeout, cause: context.Cause(ctx)}
	if ended {
		late.Detail = "not waited for: " + late.cause.Error()
		if c.dev.Kind() != Software {
			return late
		}
	}
	done := make(chan error, 1)
	go func() { done <- block() }()
	if ended {
		select {
		case <-done:
			return late
		case <-time.After(idleGrace):
		}
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	e := &Error{Op: op, Code: ErrLaunchTimeout, Detail: "the wait was ended: " + cause.Error(), cause: cause}
	if !c.dev.sys.dev.Interrupt(driver.CUcontext(c.handle)) {
		return e
	}
	select {
	case err := <-done:
		var stopped *Error
		if errors.As(err, &stopped) && stopped.Detail != "" {
			e.Detail += "; " + stopped.Detail
		}
	case <-time.After(interruptGrace):
	}
	c.broken.CompareAndSwap(nil, e)
	return e
}

// Done reports whether all work queued in the stream is done, without waiting.
func (s *Stream) Done() (bool, error) {
	if err := s.check("cuStreamQuery"); err != nil {
		return false, err
	}
	switch err := s.api.StreamQuery(s.handle); {
	case err == nil:
		return true, nil
	case errors.Is(err, ErrNotReady):
		return false, nil
	default:
		return false, s.c.fail("cuStreamQuery", "", err)
	}
}

// WaitEvent makes work queued in the stream from now on wait for the last record of an event, which may belong to
// another context.
func (s *Stream) WaitEvent(e *Event) error {
	if err := s.check("cuStreamWaitEvent"); err != nil {
		return err
	}
	if e.isClosed() {
		return closedError("cuStreamWaitEvent", "event")
	}
	return s.c.fail("cuStreamWaitEvent", "", s.api.StreamWaitEvent(s.handle, e.handle, 0))
}

// Record records a new event in the stream; see [Event.Record].
func (s *Stream) Record() (*Event, error) {
	if err := s.check("cuEventRecord"); err != nil {
		return nil, err
	}
	e, err := s.c.NewEvent(EventOptions{})
	if err != nil {
		return nil, err
	}
	if err := e.Record(s); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// HostFunc queues a call of a Go function. The stream waits for it, on a thread of the driver, so it should be short
// and must not call functions of this package: the driver answers ErrNotPermitted. A panic in it is returned by the
// next call that waits, as a [*PanicError]. It is not called if the context is broken by then.
func (s *Stream) HostFunc(f func()) error {
	if err := s.check("cuLaunchHostFunc"); err != nil {
		return err
	}
	if f == nil {
		return invalid("cuLaunchHostFunc", "", "the function is nil")
	}
	return s.c.fail("cuLaunchHostFunc", "", s.api.LaunchHostFunc(s.handle, s.c.guarded(f)))
}

// guarded catches a panic of a host function for the next wait.
func (c *Context) guarded(f func()) func() {
	h := c.health
	return func() {
		defer func() {
			if v := recover(); v != nil {
				h.panics.CompareAndSwap(nil, &PanicError{Value: v, Stack: string(debug.Stack())})
			}
		}()
		f()
	}
}

// Priority returns the priority that the driver gave the stream.
func (s *Stream) Priority() (int, error) {
	if err := s.check("cuStreamGetPriority"); err != nil {
		return 0, err
	}
	p, err := s.api.StreamGetPriority(s.handle)
	return int(p), s.c.fail("cuStreamGetPriority", "", err)
}

// SetAttribute sets the default of an attribute for all launches in the stream: [AccessPolicy], [MemSyncDomain],
// [MemSyncDomainMap], [LaunchPriority] or [SyncPolicy].
func (s *Stream) SetAttribute(a LaunchAttr) error {
	const op = "cuStreamSetAttribute"
	if err := s.check(op); err != nil {
		return err
	}
	if a.owner != nil && a.owner.isClosed() {
		return closedError(op, a.owner.kind)
	}
	return s.c.fail(op, "", s.api.StreamSetAttribute(s.handle, a.a.Id, &a.a.Value))
}

// Event is a point in a stream that others can wait for, with a time stamp.
type Event struct {
	owned
	c      *Context
	handle cu.CUevent
}

// EventOptions are the options of [Context.NewEvent]; the zero value is an event with timing.
type EventOptions struct {
	// NoTiming makes an event for order only, which is cheaper.
	NoTiming bool
	// BlockingSync makes [Event.Synchronize] sleep instead of spin.
	BlockingSync bool
}

// NewEvent creates an event. It counts as reached until it is recorded.
func (c *Context) NewEvent(o EventOptions) (*Event, error) {
	if c.isClosed() {
		return nil, closedError("cuEventCreate", "context")
	}
	flags := cu.CU_EVENT_DEFAULT
	if o.NoTiming {
		flags |= cu.CU_EVENT_DISABLE_TIMING
	}
	if o.BlockingSync {
		flags |= cu.CU_EVENT_BLOCKING_SYNC
	}
	h, err := c.api.EventCreate(uint32(flags))
	if err != nil {
		return nil, c.fail("cuEventCreate", "", err)
	}
	e := &Event{c: c, handle: h}
	e.born(&c.owned, "event", 0, c.giveBack("cuEventDestroy", "", func(api cu.API) error {
		return api.EventDestroy(h)
	}))
	watch(e, &e.owned)
	return e, nil
}

// Handle returns the driver's handle of the event.
func (e *Event) Handle() cu.CUevent { return e.handle }

// Close destroys the event. Work that waits for it is not affected.
func (e *Event) Close() error { return e.end() }

// Record marks the point in the stream after all work queued so far. It replaces an earlier record.
func (e *Event) Record(s *Stream) error {
	if e.isClosed() {
		return closedError("cuEventRecord", "event")
	}
	s, err := e.c.stream("cuEventRecord", s)
	if err != nil {
		return err
	}
	return e.c.fail("cuEventRecord", "", e.c.api.EventRecord(e.handle, s.handle))
}

// Done reports whether the last record has been reached, without waiting.
func (e *Event) Done() (bool, error) {
	if e.isClosed() {
		return false, closedError("cuEventQuery", "event")
	}
	switch err := e.c.api.EventQuery(e.handle); {
	case err == nil:
		return true, nil
	case errors.Is(err, ErrNotReady):
		return false, nil
	default:
		return false, e.c.fail("cuEventQuery", "", err)
	}
}

// Synchronize waits until the last record has been reached.
func (e *Event) Synchronize() error {
	if e.isClosed() {
		return closedError("cuEventSynchronize", "event")
	}
	return e.c.waited("cuEventSynchronize", e.c.api.EventSynchronize(e.handle))
}

// Wait is Synchronize with a context.Context that can end the wait; see [Stream.Wait].
func (e *Event) Wait(ctx context.Context) error {
	if e.isClosed() {
		return closedError("cuEventSynchronize", "event")
	}
	return e.c.wait(ctx, "cuEventSynchronize", e.Synchronize)
}

// Since returns the time between two recorded events that have been reached. Its resolution is about half a microsecond
// on a GPU.
func (e *Event) Since(start *Event) (time.Duration, error) {
	if e.isClosed() || start.isClosed() {
		return 0, closedError("cuEventElapsedTime", "event")
	}
	ms, err := e.c.api.EventElapsedTime(start.handle, e.handle)
	return time.Duration(float64(ms) * float64(time.Millisecond)), e.c.fail("cuEventElapsedTime", "", err)
}
