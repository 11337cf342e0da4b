package nccl

import (
	"context"
	"errors"
	"sync"
	"unsafe"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/internal/softnccl"
	"github.com/gocuda/cuda/nccl/raw"
)

// soft is the engine of software devices. An operation is a host function of its stream, which meets those of the other
// ranks and reads their memory; an address of a software device is an address of the process.
type soft struct {
	c *Comm
	s *softnccl.Comm

	mu   sync.Mutex
	last *cuda.Stream // of the operation before
	done *cuda.Event  // recorded behind it
}

func newSoft(c *cuda.Context, cfg Config, s *softnccl.Comm) *Comm {
	comm := &Comm{c: c, cfg: cfg, rank: s.Rank(), size: s.Size()}
	comm.e = &soft{c: comm, s: s}
	return comm
}

// softError makes an error of package softnccl one of this package.
func softError(op string, err error) error {
	if err == nil {
		return nil
	}
	var e *softnccl.Error
	if errors.As(err, &e) {
		return &Error{Op: op, Code: Result(e.Code), Detail: e.Detail}
	}
	code := ErrSystem
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		code = ErrTimeout
	}
	return &Error{Op: op, Code: code, Detail: err.Error(), cause: err}
}

// memory is a region as bytes. The addresses were checked when the operation was issued; that memory is still there
// when it runs is checked by the access (softnccl).
func (r region) memory() []byte {
	if r.bytes == 0 {
		return nil
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&r.at)), r.bytes)
}

// queue gives a stream something to do behind the operation before, which may be in another stream: the operations of a
// communicator run in the order in which they were issued, as NCCL's do. In a capture the program has to see to it.
func (e *soft) queue(s *cuda.Stream, name string, f func() error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	state, err := e.c.c.API().StreamIsCapturing(s.Handle())
	if err != nil {
		return err
	}
	capturing := state != cu.CU_STREAM_CAPTURE_STATUS_NONE
	if !capturing && e.last != nil && e.last != s {
		if err := s.WaitEvent(e.done); err != nil {
			return err
		}
	}
	err = s.HostFunc(func() {
		if err := f(); err != nil {
			// the first is kept by the engine, too; here it gets the name of the operation
			e.c.first.CompareAndSwap(nil, softError(name, err).(*Error))
		}
	})
	if err != nil || capturing {
		return err
	}
	if e.done == nil {
		if e.done, err = e.c.c.NewEvent(cuda.EventOptions{NoTiming: true}); err != nil {
			return err
		}
	}
	e.last = s
	return e.done.Record(s)
}

func (e *soft) collective(s *cuda.Stream, o *operation) error {
	x := &softnccl.Op{Kind: o.kind, Type: softnccl.DataType(o.typ), Root: o.root, Count: o.count,
		Reduction: softnccl.Reduction(o.op.op), Send: o.send.memory(), Recv: o.recv.memory()}
	if u := o.op.user; u != nil {
		x.Reduction = softnccl.PreMulSum
		x.Scalar = func() []byte {
			if u.host != nil {
				return u.host
			}
			return u.device.memory()
		}
	}
	return e.queue(s, opNames[o.kind], func() error { return e.s.Run(x) })
}

func (e *soft) transfers(s *cuda.Stream, list []transfer) error {
	x := make([]softnccl.Transfer, len(list))
	for i, t := range list {
		x[i] = softnccl.Transfer{Peer: t.peer, Send: t.send, Data: t.memory.memory()}
	}
	name := "ncclRecv"
	if list[0].send {
		name = "ncclSend"
	}
	return e.queue(s, name, func() error { return e.s.Transfer(x) })
}

func (e *soft) failure() error { return softError("ncclCommGetAsyncError", e.s.Err()) }

func (e *soft) abort() error {
	e.s.Abort()
	return e.closeEvent()
}

func (e *soft) close() error { return errors.Join(e.s.Close(), e.closeEvent()) }

func (e *soft) closeEvent() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done == nil {
		return nil
	}
	err := e.done.Close()
	e.done, e.last = nil, nil
	return err
}

func (e *soft) finalize(ctx context.Context) error {
	e.mu.Lock()
	done := e.done
	e.mu.Unlock()
	if done == nil {
		return nil
	}
	return e.c.await(ctx, done) // the stream may be closed by now
}

// await runs f, which a context.Context ends by an abort of the communicator.
func (e *soft) await(ctx context.Context, op string, f func() (*softnccl.Comm, error)) (*softnccl.Comm, error) {
	stop := context.AfterFunc(ctx, func() {
		e.c.first.CompareAndSwap(nil, softError(op, context.Cause(ctx)).(*Error))
		e.s.Abort()
	})
	s, err := f()
	if !stop() && err != nil {
		err = context.Cause(ctx)
	}
	return s, softError(op, err)
}

func (e *soft) split(ctx context.Context, color, key int, cfg *Config) (*Comm, error) {
	s, err := e.await(ctx, "ncclCommSplit", func() (*softnccl.Comm, error) {
		return e.s.Split(int32(color), int32(key), cfg.Timeout)
	})
	if err != nil || s == nil {
		return nil, err
	}
	return newSoft(e.c.c, *cfg, s), nil
}

func (e *soft) shrink(_ context.Context, exclude []int, abort bool, cfg *Config) (*Comm, error) {
	s, err := e.s.Shrink(exclude, abort, cfg.Timeout)
	if err != nil {
		return nil, softError("ncclCommShrink", err)
	}
	return newSoft(e.c.c, *cfg, s), nil
}

func (e *soft) newOp(u *userOp) error {
	u.handle = raw.NumOps
	return nil
}

func (e *soft) closeOp(*userOp) error { return nil }

func (e *soft) register(p uintptr, _ uint64) (uintptr, error) { return p, nil }

func (e *soft) deregister(uintptr) error { return nil }

func (e *soft) groupEnded() error { return nil }
