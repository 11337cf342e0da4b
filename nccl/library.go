package nccl

import (
	"context"
	"errors"
	"time"
	"unsafe"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/internal/softnccl"
	"github.com/gocuda/cuda/nccl/raw"
)

// library is the engine of GPUs: NCCL. Its communicators are non-blocking; a call that goes on is waited for by looking
// at ncclCommGetAsyncError.
type library struct {
	c    *Comm
	l    *raw.Library
	comm raw.Comm
}

func inProgress(err error) bool { return errors.Is(err, raw.InProgress) }

// libraryError makes an error of what a call in the library returned.
func libraryError(l *raw.Library, comm raw.Comm, op string, err error) error {
	if err == nil {
		return nil
	}
	var code Result
	if !errors.As(err, &code) {
		return err // a MissingError
	}
	detail, e := l.GetLastError(comm)
	if e != nil {
		detail = ""
	}
	return &Error{Op: op, Code: code, Detail: detail}
}

func initLibrary(ctx context.Context, l *raw.Library, contexts []*cuda.Context, id ID, first, n int, cfg Config) (
	comms []*Comm, err error) {
	const op = "ncclCommInitRankConfig"
	made := func(c *cuda.Context, rank int) error {
		return c.With(func() error {
			h, err := l.CommInitRankConfig(int32(n), raw.UniqueId{Internal: id}, int32(rank), cfg.raw())
			if err != nil && !inProgress(err) {
				return libraryError(l, 0, op, err)
			}
			comm := &Comm{c: c, cfg: cfg, rank: rank, size: n}
			comm.e = &library{c: comm, l: l, comm: *h}
			comms = append(comms, comm)
			return nil
		})
	}
	if len(contexts) == 1 {
		err = made(contexts[0], first)
	} else {
		err = lockedGroup(l, func() error {
			for i, c := range contexts {
				if err := made(c, first+i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for _, c := range comms {
		if err == nil {
			err = c.e.(*library).settle(ctx, op)
		}
	}
	if err != nil {
		for _, c := range comms {
			err = errors.Join(err, c.Abort())
		}
		return nil, err
	}
	return comms, nil
}

// settle waits until a call of a non-blocking communicator has ended.
func (e *library) settle(ctx context.Context, op string) error {
	for pause := time.Microsecond; ; pause = min(2*pause, pollTime) {
		r, err := e.l.CommGetAsyncError(e.comm)
		if err != nil {
			return libraryError(e.l, e.comm, op, err)
		}
		if r != raw.InProgress {
			if r == raw.Success {
				return nil
			}
			return libraryError(e.l, e.comm, op, r)
		}
		if ctx.Err() != nil {
			x := &Error{Op: op, Code: ErrTimeout, Detail: "not waited for any longer: " + context.Cause(ctx).Error(),
				cause: context.Cause(ctx)}
			e.c.first.CompareAndSwap(nil, x)
			return x
		}
		time.Sleep(pause)
	}
}

// call makes a call of the communicator and waits until it has ended, unless it is in a group.
func (e *library) call(op string, f func() error) error {
	return e.c.c.With(func() error {
		g := current()
		if g != nil {
			if err := g.enter(e, e.c); err != nil {
				return err
			}
		}
		err := f()
		if err != nil && !inProgress(err) {
			return libraryError(e.l, e.comm, op, err)
		}
		if g != nil || err == nil {
			return nil
		}
		ctx, cancel := e.c.cfg.bound(context.Background())
		defer cancel()
		return e.settle(ctx, op)
	})
}

func (e *library) groupEnded() error {
	ctx, cancel := e.c.cfg.bound(context.Background())
	defer cancel()
	return e.settle(ctx, "ncclGroupEnd")
}

func (e *library) collective(s *cuda.Stream, o *operation) error {
	send, recv, stream := cu.CUdeviceptr(o.send.at), cu.CUdeviceptr(o.recv.at), s.Handle()
	l, root := e.l, int32(o.root)
	name := opNames[o.kind]
	err := e.call(name, func() error {
		switch o.kind {
		case softnccl.AllReduce:
			return l.AllReduce(send, recv, o.count, o.typ, o.op.op, e.comm, stream)
		case softnccl.Reduce:
			return l.Reduce(send, recv, o.count, o.typ, o.op.op, root, e.comm, stream)
		case softnccl.ReduceScatter:
			return l.ReduceScatter(send, recv, o.count, o.typ, o.op.op, e.comm, stream)
		case softnccl.Broadcast:
			return l.Broadcast(send, recv, o.count, o.typ, root, e.comm, stream)
		case softnccl.AllGather:
			return l.AllGather(send, recv, o.count, o.typ, e.comm, stream)
		case softnccl.AlltoAll:
			return l.AlltoAll(send, recv, o.count, o.typ, e.comm, stream)
		case softnccl.Gather:
			return l.Gather(send, recv, o.count, o.typ, root, e.comm, stream)
		}
		return l.Scatter(send, recv, o.count, o.typ, root, e.comm, stream)
	})
	var missing *MissingError
	if errors.As(err, &missing) && (o.kind == softnccl.AlltoAll || o.kind == softnccl.Gather ||
		o.kind == softnccl.Scatter) {
		return e.byTransfers(s, o)
	}
	return err
}

// byTransfers does what a library older than 2.28 has no function for.
func (e *library) byTransfers(s *cuda.Stream, o *operation) error {
	var list []transfer
	block := func(r region, i int) region {
		size := softnccl.DataType(o.typ).Size() * o.count
		return region{r.at + uintptr(uint64(i)*size), size}
	}
	add := func(peer int, send bool, r region) {
		list = append(list, transfer{peer: peer, send: send, typ: o.typ, count: o.count, memory: r})
	}
	isRoot := e.c.rank == o.root
	for i := range e.c.size {
		switch o.kind {
		case softnccl.AlltoAll:
			add(i, true, block(o.send, i))
			add(i, false, block(o.recv, i))
		case softnccl.Gather:
			if isRoot {
				add(i, false, block(o.recv, i))
			}
		case softnccl.Scatter:
			if isRoot {
				add(i, true, block(o.send, i))
			}
		}
	}
	switch o.kind {
	case softnccl.Gather:
		add(o.root, true, o.send)
	case softnccl.Scatter:
		add(o.root, false, o.recv)
	}
	return Group(func() error { return e.transfers(s, list) })
}

func (e *library) transfers(s *cuda.Stream, list []transfer) error {
	for _, t := range list {
		name := "ncclRecv"
		if t.send {
			name = "ncclSend"
		}
		err := e.call(name, func() error {
			p := cu.CUdeviceptr(t.memory.at)
			if t.send {
				return e.l.Send(p, t.count, t.typ, int32(t.peer), e.comm, s.Handle())
			}
			return e.l.Recv(p, t.count, t.typ, int32(t.peer), e.comm, s.Handle())
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *library) failure() error {
	r, err := e.l.CommGetAsyncError(e.comm)
	switch {
	case err != nil:
		return libraryError(e.l, e.comm, "ncclCommGetAsyncError", err)
	case r != raw.Success && r != raw.InProgress:
		return libraryError(e.l, e.comm, "ncclCommGetAsyncError", r)
	}
	return nil
}

func (e *library) abort() error {
	return e.c.c.With(func() error {
		err := e.l.CommAbort(e.comm)
		if inProgress(err) {
			return nil
		}
		return libraryError(e.l, 0, "ncclCommAbort", err)
	})
}

func (e *library) finalize(ctx context.Context) error {
	return e.c.c.With(func() error {
		if err := e.l.CommFinalize(e.comm); err != nil && !inProgress(err) {
			return libraryError(e.l, e.comm, "ncclCommFinalize", err)
		}
		return e.settle(ctx, "ncclCommFinalize")
	})
}

func (e *library) close() error {
	return e.c.c.With(func() error {
		err := e.l.CommDestroy(e.comm)
		if inProgress(err) {
			return nil
		}
		return libraryError(e.l, 0, "ncclCommDestroy", err)
	})
}

// made is the end of a call that makes a communicator of this one.
func (e *library) made(ctx context.Context, op string, cfg *Config, f func() (*raw.Comm, error)) (*Comm, error) {
	n := &Comm{c: e.c.c, cfg: *cfg}
	x := &library{c: n, l: e.l}
	n.e = x
	err := e.c.c.With(func() error {
		h, err := f()
		if err != nil && !inProgress(err) {
			return libraryError(e.l, e.comm, op, err)
		}
		err = e.settle(ctx, op)
		if x.comm = *h; err != nil || x.comm == 0 { // the handle is there when the call has ended
			return err
		}
		if err := x.settle(ctx, op); err != nil {
			return err
		}
		rank, err := e.l.CommUserRank(x.comm)
		if err != nil {
			return libraryError(e.l, x.comm, "ncclCommUserRank", err)
		}
		size, err := e.l.CommCount(x.comm)
		n.rank, n.size = int(rank), int(size)
		return libraryError(e.l, x.comm, "ncclCommCount", err)
	})
	if err != nil {
		if x.comm != 0 {
			err = errors.Join(err, n.Abort())
		}
		return nil, err
	}
	if x.comm == 0 {
		return nil, nil
	}
	return n, nil
}

func (e *library) split(ctx context.Context, color, key int, cfg *Config) (*Comm, error) {
	return e.made(ctx, "ncclCommSplit", cfg, func() (*raw.Comm, error) {
		return e.l.CommSplit(e.comm, int32(color), int32(key), cfg.raw())
	})
}

func (e *library) shrink(ctx context.Context, exclude []int, abort bool, cfg *Config) (*Comm, error) {
	list := make([]int32, len(exclude))
	for i, r := range exclude {
		list[i] = int32(r)
	}
	flags := int32(raw.NCCL_SHRINK_DEFAULT)
	if abort {
		flags = raw.NCCL_SHRINK_ABORT
	}
	return e.made(ctx, "ncclCommShrink", cfg, func() (*raw.Comm, error) {
		return e.l.CommShrink(e.comm, list, cfg.raw(), flags)
	})
}

func (e *library) newOp(u *userOp) error {
	return e.c.c.With(func() (err error) {
		if u.host != nil {
			u.handle, err = e.l.RedOpCreatePreMulSum(unsafe.Pointer(unsafe.SliceData(u.host)), u.typ,
				raw.ScalarHostImmediate, e.comm)
		} else {
			u.handle, err = e.l.RedOpCreatePreMulSum(*(*unsafe.Pointer)(unsafe.Pointer(&u.device.at)), u.typ,
				raw.ScalarDevice, e.comm)
		}
		return libraryError(e.l, e.comm, "ncclRedOpCreatePreMulSum", err)
	})
}

func (e *library) closeOp(u *userOp) error {
	return libraryError(e.l, e.comm, "ncclRedOpDestroy", e.l.RedOpDestroy(u.handle, e.comm))
}

func (e *library) register(p uintptr, bytes uint64) (h uintptr, err error) {
	err = e.c.c.With(func() error {
		var err error
		h, err = e.l.CommRegister(e.comm, cu.CUdeviceptr(p), bytes)
		return libraryError(e.l, e.comm, "ncclCommRegister", err)
	})
	return h, err
}

func (e *library) deregister(h uintptr) error {
	return e.c.c.With(func() error {
		return libraryError(e.l, e.comm, "ncclCommDeregister", e.l.CommDeregister(e.comm, h))
	})
}
