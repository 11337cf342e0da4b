package nccl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/internal/softnccl"
	"github.com/gocuda/cuda/nccl/raw"
)

// ID identifies a communicator while it is being created. [NewID] makes it; every rank needs it unchanged.
type ID [raw.NCCL_UNIQUE_ID_BYTES]byte

// NewID creates an identifier for ranks whose contexts are of the same kind as this one: GPUs or software devices. The
// process that created it must live until all ranks have joined; on software devices until they have closed their
// communicators.
func NewID(c *cuda.Context, cfg Config) (ID, error) {
	if c.Device().Kind() == cuda.Software {
		id, err := softnccl.NewID()
		if err != nil {
			return ID{}, &Error{Op: "ncclGetUniqueId", Code: ErrSystem, Detail: err.Error(), cause: err}
		}
		return ID(id), nil
	}
	l, err := cfg.library()
	if err != nil {
		return ID{}, err
	}
	id, err := l.GetUniqueId()
	if err != nil {
		return ID{}, libraryError(l, 0, "ncclGetUniqueId", err)
	}
	return ID(id.Internal), nil
}

var defaultLibrary = sync.OnceValues(func() (*raw.Library, error) { return raw.Open("") })

func (c *Config) library() (*raw.Library, error) {
	if c.Library != nil {
		return c.Library, nil
	}
	return defaultLibrary()
}

// Comm is one rank of a communicator. Its methods and the operations on it may be called from several goroutines;
// still, all ranks must issue operations in the same order.
type Comm struct {
	c    *cuda.Context
	cfg  Config
	rank int
	size int
	e    engine

	closed atomic.Bool
	first  atomic.Pointer[Error]
}

// engine does the work of a communicator: NCCL's library, or package softnccl.
type engine interface {
	// collective queues an operation; transfers queues sends and receives that go on together.
	collective(s *cuda.Stream, o *operation) error
	transfers(s *cuda.Stream, list []transfer) error
	failure() error // why the communicator failed after a call has returned
	abort() error
	finalize(ctx context.Context) error
	close() error
	split(ctx context.Context, color, key int, cfg *Config) (*Comm, error)
	shrink(ctx context.Context, exclude []int, abort bool, cfg *Config) (*Comm, error)
	newOp(u *userOp) error
	closeOp(u *userOp) error
	register(p uintptr, bytes uint64) (handle uintptr, err error)
	deregister(handle uintptr) error
	groupEnded() error // after the outermost group: waits for the library's call
}

// Init joins the communicator identified by id as the given rank of n, on the device of the context, and waits until
// all ranks have joined or ctx ends.
func Init(ctx context.Context, id ID, rank, n int, c *cuda.Context, cfg Config) (*Comm, error) {
	const op = "ncclCommInitRankConfig"
	if n < 1 || rank < 0 || rank >= n {
		return nil, usage(op, "rank %d of %d", rank, n)
	}
	ctx, cancel := cfg.bound(ctx)
	defer cancel()
	b := [softnccl.IDBytes]byte(id)
	if c.Device().Kind() == cuda.Software {
		s, err := softnccl.Join(ctx, &b, rank, n, cfg.Timeout)
		if err != nil {
			return nil, softError(op, err)
		}
		return newSoft(c, cfg, s), nil
	}
	if softnccl.IsID(&b) {
		return nil, usage(op, "the identifier is for software devices")
	}
	l, err := cfg.library()
	if err != nil {
		return nil, err
	}
	comms, err := initLibrary(ctx, l, []*cuda.Context{c}, id, rank, n, cfg)
	if err != nil {
		return nil, err
	}
	return comms[0], nil
}

// InitAll creates a communicator of contexts in this process: rank i on the device of contexts[i]. All devices must be
// of one kind.
func InitAll(ctx context.Context, contexts []*cuda.Context, cfg Config) ([]*Comm, error) {
	const op = "ncclCommInitAll"
	if len(contexts) == 0 {
		return nil, usage(op, "no contexts")
	}
	kind := contexts[0].Device().Kind()
	for _, c := range contexts {
		if c.Device().Kind() != kind {
			return nil, usage(op, "contexts of GPUs and of software devices")
		}
	}
	if kind == cuda.Software {
		all, err := softnccl.JoinAll(len(contexts), cfg.Timeout)
		if err != nil {
			return nil, softError(op, err)
		}
		comms := make([]*Comm, len(all))
		for i, s := range all {
			comms[i] = newSoft(contexts[i], cfg, s)
		}
		return comms, nil
	}
	l, err := cfg.library()
	if err != nil {
		return nil, err
	}
	id, err := l.GetUniqueId()
	if err != nil {
		return nil, libraryError(l, 0, "ncclGetUniqueId", err)
	}
	ctx, cancel := cfg.bound(ctx)
	defer cancel()
	return initLibrary(ctx, l, contexts, ID(id.Internal), 0, len(contexts), cfg)
}

// bound is a context.Context that ends with the timeout, too.
func (c *Config) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, c.Timeout, &Error{Op: "nccl.Config.Timeout", Code: ErrTimeout,
		Detail: c.Timeout.String() + " have passed", cause: context.DeadlineExceeded})
}

// Rank returns the rank in the communicator.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of ranks.
func (c *Comm) Size() int { return c.size }

// Context returns the context of the rank's device.
func (c *Comm) Context() *cuda.Context { return c.c }

// String returns the rank, for example "rank 2 of 8".
func (c *Comm) String() string { return fmt.Sprintf("rank %d of %d", c.rank, c.size) }

// Library returns NCCL's library and the communicator in it, for what this package does not offer; ok is false on
// software devices. Call its functions inside [cuda.Context.With].
func (c *Comm) Library() (l *raw.Library, comm raw.Comm, ok bool) {
	if e, ok := c.e.(*library); ok {
		return e.l, e.comm, true
	}
	return nil, 0, false
}

// Err returns why the communicator has failed, or nil: an error of an earlier operation, a dead peer, an abort. A
// failed communicator cannot be used any more.
func (c *Comm) Err() error {
	if e := c.first.Load(); e != nil {
		return e
	}
	if c.closed.Load() {
		return nil
	}
	return c.e.failure()
}

// check is the start of every call.
func (c *Comm) check(op string) error {
	if c.closed.Load() {
		return &Error{Op: op, Code: ErrInvalidUsage, Detail: "the communicator is closed", cause: cuda.ErrClosed}
	}
	return c.Err()
}

// pollTime is the longest pause between two looks at a stream and a communicator, pollFirst the shortest. Between them
// a pause is a small part of the time that has passed, pollShare, so that the end of work is seen late by no more than
// that. For pollSpin there is none.
const (
	pollTime  = time.Millisecond
	pollFirst = 50 * time.Microsecond
	pollSpin  = 30 * time.Microsecond
	pollShare = 512
)

// Wait waits until all work queued in the stream is done; nil is the default stream. It returns with an error as soon
// as the communicator fails, and when ctx ends or Config.Timeout passes: the communicator then counts as failed, and
// the error wraps the cause of the context.Context. On a GPU the stream becomes free when a failed communicator is
// aborted, by [Comm.Abort], [Comm.Close] or [Comm.Shrink].
func (c *Comm) Wait(ctx context.Context, s *cuda.Stream) error {
	if s == nil {
		s = c.c.Default()
	}
	return c.await(ctx, s)
}

// ends is a stream or an event.
type ends interface {
	Done() (bool, error)
	Synchronize() error
}

func (c *Comm) await(ctx context.Context, s ends) error {
	ctx, cancel := c.cfg.bound(ctx)
	defer cancel()
	for start := time.Now(); ; {
		done, err := s.Done()
		if err != nil {
			return errors.Join(err, c.Err())
		}
		if done {
			return errors.Join(s.Synchronize(), c.Err())
		}
		if err := c.Err(); err != nil {
			return err
		}
		if ctx.Err() != nil {
			e := &Error{Op: "nccl.Comm.Wait", Code: ErrTimeout, cause: context.Cause(ctx),
				Detail: "the wait was ended: " + context.Cause(ctx).Error()}
			c.first.CompareAndSwap(nil, e)
			return e
		}
		if waited := time.Since(start); waited < pollSpin {
			runtime.Gosched()
		} else {
			time.Sleep(min(pollTime, max(pollFirst, waited/pollShare)))
		}
	}
}

// Abort ends all operations of the communicator (ncclCommAbort) and destroys it: its streams become free, and the
// memory of those operations is undefined. Operations of other ranks fail.
func (c *Comm) Abort() error {
	if c.closed.Swap(true) {
		return nil
	}
	c.first.CompareAndSwap(nil, &Error{Op: "ncclCommAbort", Code: ErrInvalidUsage,
		Detail: "the communicator was aborted"})
	return c.e.abort()
}

// Finalize waits until queued operations are done and other ranks need nothing more of this one (ncclCommFinalize). If
// ctx ends the communicator is aborted. Close is still required afterwards.
func (c *Comm) Finalize(ctx context.Context) error {
	if err := c.check("ncclCommFinalize"); err != nil {
		return err
	}
	ctx, cancel := c.cfg.bound(ctx)
	defer cancel()
	return c.e.finalize(ctx)
}

// Close destroys the communicator (ncclCommDestroy). Queued operations must have finished; a communicator that has
// failed is aborted. A second Close, and Close after Abort, return [cuda.ErrClosed].
func (c *Comm) Close() error {
	if c.Err() != nil && !c.closed.Load() {
		return c.Abort()
	}
	if c.closed.Swap(true) {
		return cuda.ErrClosed
	}
	return c.e.close()
}

// NoColor is the colour of a rank that gets no communicator from [Comm.Split].
const NoColor = softnccl.NoColor

// Split creates communicators of the ranks with the same colour, a number that is not negative, ordered by key and then
// by rank (ncclCommSplit). All ranks call it, each from a goroutine or process of its own. The result is nil for
// [NoColor].
func (c *Comm) Split(ctx context.Context, color, key int, cfg Config) (*Comm, error) {
	const op = "ncclCommSplit"
	if err := c.check(op); err != nil {
		return nil, err
	}
	if color < NoColor || color > 1<<31-1 || key != int(int32(key)) {
		return nil, usage(op, "colour %d, key %d", color, key)
	}
	ctx, cancel := cfg.bound(ctx)
	defer cancel()
	return c.e.split(ctx, color, key, &cfg)
}

// Shrink creates a communicator without the excluded ranks (ncclCommShrink, NCCL 2.27). All remaining ranks call it
// with the same list. After a failure abort must be true: operations in progress are ended first. The original
// communicator must still be closed.
func (c *Comm) Shrink(ctx context.Context, exclude []int, abort bool, cfg Config) (*Comm, error) {
	const op = "ncclCommShrink"
	if c.closed.Load() {
		return nil, c.check(op)
	}
	for i, r := range exclude {
		if r < 0 || r >= c.size || r == c.rank || slices.Contains(exclude[:i], r) {
			return nil, usage(op, "rank %d of %d cannot exclude %v", c.rank, c.size, exclude)
		}
	}
	if len(exclude) == 0 {
		return nil, usage(op, "no rank is excluded")
	}
	ctx, cancel := cfg.bound(ctx)
	defer cancel()
	return c.e.shrink(ctx, exclude, abort, &cfg)
}

// Registration is memory that NCCL may use without copies.
type Registration struct {
	c      *Comm
	handle uintptr
	closed atomic.Bool
}

// Register lets NCCL access memory in place (ncclCommRegister, NCCL 2.19). This only makes operations faster; software
// devices always access memory in place. Close the registration before the memory and the communicator.
func Register[T any](c *Comm, v cuda.View[T]) (*Registration, error) {
	const op = "ncclCommRegister"
	if err := c.check(op); err != nil {
		return nil, err
	}
	if err := within(op, c, v); err != nil || v.Len() == 0 {
		return nil, errors.Join(err, usageIf(v.Len() == 0, op, "no memory"))
	}
	h, err := c.e.register(uintptr(v.DevicePtr()), v.Bytes())
	if err != nil {
		return nil, err
	}
	return &Registration{c: c, handle: h}, nil
}

// Close ends the registration (ncclCommDeregister).
func (r *Registration) Close() error {
	if r.closed.Swap(true) {
		return cuda.ErrClosed
	}
	if r.c.closed.Load() {
		return nil
	}
	return r.c.e.deregister(r.handle)
}

func usageIf(bad bool, op, text string) error {
	if bad {
		return usage(op, "%s", text)
	}
	return nil
}
