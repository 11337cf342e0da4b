package nccl

import (
	"errors"
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/internal/softnccl"
	"github.com/gocuda/cuda/nccl/raw"
)

// operation is a collective operation with the addresses of its memory.
type operation struct {
	kind       softnccl.Kind
	typ        raw.DataType
	op         Op
	root       int
	count      uint64 // of elements of typ, as NCCL counts
	send, recv region
}

// region is memory of a device.
type region struct {
	at    uintptr
	bytes uint64
}

// transfer is a send or a receive.
type transfer struct {
	peer   int
	send   bool
	typ    raw.DataType
	count  uint64
	memory region
}

// names are the functions of NCCL.
var opNames = map[softnccl.Kind]string{softnccl.AllReduce: "ncclAllReduce", softnccl.Broadcast: "ncclBroadcast",
	softnccl.Reduce: "ncclReduce", softnccl.AllGather: "ncclAllGather", softnccl.ReduceScatter: "ncclReduceScatter",
	softnccl.AlltoAll: "ncclAlltoAll", softnccl.Gather: "ncclGather", softnccl.Scatter: "ncclScatter"}

// within checks that memory belongs to the communicator's device and is there.
func within[T any](op string, c *Comm, v cuda.View[T]) error {
	if v.Len() == 0 {
		return nil
	}
	if v.Context() == nil || v.Context().Device() != c.c.Device() {
		return usage(op, "%v: the memory is not on the device of the communicator", c)
	}
	base, size, err := c.c.API().MemGetAddressRange(v.DevicePtr())
	if err != nil {
		return &Error{Op: op, Code: ErrInvalidArgument, Detail: "no memory at the address of the view", cause: err}
	}
	if at := uint64(v.DevicePtr() - base); at > size || v.Bytes() > size-at {
		return usage(op, "the view extends past the end of its memory")
	}
	return nil
}

func regionOf[T any](v cuda.View[T]) region { return region{uintptr(v.DevicePtr()), v.Bytes()} }

// issue checks the memory of an operation and queues it. count is what NCCL counts, in elements of T.
func issue[T any](c *Comm, s *cuda.Stream, o operation, count int, send, recv cuda.View[T]) error {
	name := opNames[o.kind]
	each := uint64(1)
	ok := true
	if o.kind == softnccl.AllReduce || o.kind == softnccl.Reduce || o.kind == softnccl.ReduceScatter {
		o.typ, ok = dataType[T]()
		if u := o.op.user; u != nil && (u.c != c || u.typ != o.typ) {
			return usage(name, "the reduction was made for another communicator or another type")
		}
	} else {
		o.typ, each = moved[T]()
	}
	if !ok {
		var v T
		return usage(name, "NCCL does not compute with %T", v)
	}
	if err := c.check(name); err != nil {
		return err
	}
	if s == nil {
		s = c.c.Default()
	}
	if s.Context().Device() != c.c.Device() {
		return usage(name, "%v: the stream is not on the device of the communicator", c)
	}
	if err := errors.Join(within(name, c, send), within(name, c, recv)); err != nil {
		return err
	}
	if o.root < 0 || o.root >= c.size {
		return usage(name, "root %d of %d ranks", o.root, c.size)
	}
	o.count = uint64(count) * each
	o.send, o.recv = regionOf(send), regionOf(recv)
	if count == 0 {
		return nil
	}
	if g := current(); g != nil {
		if _, soft := c.e.(*soft); soft {
			g.queued = append(g.queued, queued{c: c, s: s, op: &o})
			return nil
		}
	}
	return c.e.collective(s, &o)
}

// blocks checks that v is n blocks of count elements, where n may be 0 for a rank that has none.
func blocks[T any](name string, c *Comm, what string, v cuda.View[T], n, count int) error {
	hi, need := bits.Mul64(uint64(n), uint64(count))
	if hi != 0 || need != uint64(v.Len()) {
		return usage(name, "%v: %d elements to %s; %d blocks of %d are meant", c, v.Len(), what, n, count)
	}
	return nil
}

// AllReduce reduces the elements of all ranks into recv of all ranks. send and recv have the same length, and may be
// the same memory. A nil stream is the default stream of the communicator's context, here as everywhere.
func AllReduce[T Number](c *Comm, s *cuda.Stream, send, recv cuda.View[T], op Op) error {
	if err := blocks("ncclAllReduce", c, "receive", recv, 1, send.Len()); err != nil {
		return err
	}
	return issue(c, s, operation{kind: softnccl.AllReduce, op: op}, send.Len(), send, recv)
}

// Reduce reduces the elements of all ranks into recv of the root; other ranks may pass the zero View. In the root send
// and recv may be the same memory.
func Reduce[T Number](c *Comm, s *cuda.Stream, send, recv cuda.View[T], op Op, root int) error {
	if c.rank != root {
		recv = cuda.View[T]{}
	} else if err := blocks("ncclReduce", c, "receive", recv, 1, send.Len()); err != nil {
		return err
	}
	return issue(c, s, operation{kind: softnccl.Reduce, op: op, root: root}, send.Len(), send, recv)
}

// Broadcast copies send of the root to recv of all ranks; other ranks may pass the zero View as send. In the root both
// may be the same memory. Elements may be of any type that device memory can have.
func Broadcast[T any](c *Comm, s *cuda.Stream, send, recv cuda.View[T], root int) error {
	if c.rank != root {
		send = cuda.View[T]{}
	} else if err := blocks("ncclBroadcast", c, "send", send, 1, recv.Len()); err != nil {
		return err
	}
	return issue(c, s, operation{kind: softnccl.Broadcast, root: root}, recv.Len(), send, recv)
}

// AllGather copies send of rank i to block i of recv, in all ranks: recv is Size times as long as send. send may be the
// rank's own block of recv.
func AllGather[T any](c *Comm, s *cuda.Stream, send, recv cuda.View[T]) error {
	if err := blocks("ncclAllGather", c, "receive", recv, c.size, send.Len()); err != nil {
		return err
	}
	return issue(c, s, operation{kind: softnccl.AllGather}, send.Len(), send, recv)
}

// ReduceScatter reduces block i of send of all ranks into recv of rank i: send is Size times as long. recv may be the
// rank's own block of send.
func ReduceScatter[T Number](c *Comm, s *cuda.Stream, send, recv cuda.View[T], op Op) error {
	if err := blocks("ncclReduceScatter", c, "send", send, c.size, recv.Len()); err != nil {
		return err
	}
	return issue(c, s, operation{kind: softnccl.ReduceScatter, op: op}, recv.Len(), send, recv)
}

// AlltoAll copies block j of send of rank i to block i of recv of rank j. Both have Size blocks, and must not be the
// same memory. Libraries older than NCCL 2.28 use sends and receives instead.
func AlltoAll[T any](c *Comm, s *cuda.Stream, send, recv cuda.View[T]) error {
	count := send.Len() / max(c.size, 1)
	if err := errors.Join(blocks("ncclAlltoAll", c, "send", send, c.size, count),
		blocks("ncclAlltoAll", c, "receive", recv, c.size, count)); err != nil {
		return err
	}
	return issue(c, s, operation{kind: softnccl.AlltoAll}, count, send, recv)
}

// Gather copies send of rank i to block i of recv of the root; other ranks may pass the zero View as recv. Libraries
// older than NCCL 2.28 use sends and receives instead.
func Gather[T any](c *Comm, s *cuda.Stream, send, recv cuda.View[T], root int) error {
	if c.rank != root {
		recv = cuda.View[T]{}
	} else if err := blocks("ncclGather", c, "receive", recv, c.size, send.Len()); err != nil {
		return err
	}
	return issue(c, s, operation{kind: softnccl.Gather, root: root}, send.Len(), send, recv)
}

// Scatter copies block i of send of the root to recv of rank i; other ranks may pass the zero View as send. Libraries
// older than NCCL 2.28 use sends and receives instead.
func Scatter[T any](c *Comm, s *cuda.Stream, send, recv cuda.View[T], root int) error {
	if c.rank != root {
		send = cuda.View[T]{}
	} else if err := blocks("ncclScatter", c, "send", send, c.size, recv.Len()); err != nil {
		return err
	}
	return issue(c, s, operation{kind: softnccl.Scatter, root: root}, recv.Len(), send, recv)
}

// Send sends elements to a rank that calls [Recv] with the same number. It blocks its stream until they are received:
// ranks that send to each other use a [Group].
func Send[T any](c *Comm, s *cuda.Stream, v cuda.View[T], peer int) error {
	return move("ncclSend", c, s, v, peer, true)
}

// Recv receives elements from a rank that calls [Send].
func Recv[T any](c *Comm, s *cuda.Stream, v cuda.View[T], peer int) error {
	return move("ncclRecv", c, s, v, peer, false)
}

func move[T any](name string, c *Comm, s *cuda.Stream, v cuda.View[T], peer int, send bool) error {
	if err := c.check(name); err != nil {
		return err
	}
	if peer < 0 || peer >= c.size {
		return usage(name, "peer %d of %d ranks", peer, c.size)
	}
	if s == nil {
		s = c.c.Default()
	}
	if s.Context().Device() != c.c.Device() {
		return usage(name, "%v: the stream is not on the device of the communicator", c)
	}
	if err := within(name, c, v); err != nil || v.Len() == 0 {
		return err
	}
	t, each := moved[T]()
	list := []transfer{{peer: peer, send: send, typ: t, count: uint64(v.Len()) * each, memory: regionOf(v)}}
	if g := current(); g != nil {
		if _, soft := c.e.(*soft); soft {
			g.queued = append(g.queued, queued{c: c, s: s, list: list})
			return nil
		}
	}
	return c.e.transfers(s, list)
}

// PreMulSum creates a reduction that multiplies the elements of this rank by a scalar and adds them up
// (ncclRedOpCreatePreMulSum, NCCL 2.11). Each rank creates its own, with its own scalar. It is for this communicator
// and T.
func PreMulSum[T Number](c *Comm, scalar T) (Op, error) {
	b := append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(&scalar)), unsafe.Sizeof(scalar))...)
	return newUserOp[T](c, &userOp{c: c, host: b})
}

// PreMulSumAt is PreMulSum with a scalar on the device, which is read when an operation runs.
func PreMulSumAt[T Number](c *Comm, scalar cuda.View[T]) (Op, error) {
	const op = "ncclRedOpCreatePreMulSum"
	if err := within(op, c, scalar); err != nil || scalar.Len() != 1 {
		return Op{}, errors.Join(err, usageIf(scalar.Len() != 1, op, "the scalar is one element"))
	}
	return newUserOp[T](c, &userOp{c: c, device: regionOf(scalar)})
}

func newUserOp[T Number](c *Comm, u *userOp) (Op, error) {
	if err := c.check("ncclRedOpCreatePreMulSum"); err != nil {
		return Op{}, err
	}
	u.typ, _ = dataType[T]()
	if err := c.e.newOp(u); err != nil {
		return Op{}, err
	}
	return Op{op: u.handle, user: u}, nil
}

// Close destroys a reduction that the program created (ncclRedOpDestroy). The predefined ones need no Close.
func (o Op) Close() error {
	if o.user == nil || o.user.c.closed.Load() {
		return nil
	}
	return o.user.c.e.closeOp(o.user)
}
