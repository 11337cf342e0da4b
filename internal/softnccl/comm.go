package softnccl

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Comm is one rank of a communicator. [Comm.Run] and [Comm.Transfer] work in the goroutine that calls; the other
// methods may be called at any time.
type Comm struct {
	node  *node
	id    uint64
	ranks []int // of the node's hub, by rank here
	rank  int
	local bool // all ranks are in this process
	limit time.Duration

	run   sync.Mutex // one collective operation at a time
	seq   uint64
	born  uint64 // communicators made of this one
	own   [2]*segment
	peers map[int]*segment // by rank and parity

	transfers      sync.Mutex
	sent, received []uint64 // by rank

	first  atomic.Pointer[Error]
	dead   chan struct{}
	closed atomic.Bool
}

// Join makes rank of n with an identifier, and waits until all ranks are there or the context.Context ends. A limit of
// zero is none; else an operation that takes longer fails the communicator.
func Join(ctx context.Context, id *[IDBytes]byte, rank, n int, limit time.Duration) (*Comm, error) {
	if n < 1 || n > mostRanks || rank < 0 || rank >= n {
		return nil, fail(InvalidArgument, "rank %d of %d; at most %d ranks", rank, n, mostRanks)
	}
	d, err := join(ctx, id, rank, n)
	if err != nil {
		return nil, err
	}
	return d.world(limit), nil
}

// JoinAll makes all n ranks in this process.
func JoinAll(n int, limit time.Duration) ([]*Comm, error) {
	if n < 1 || n > mostRanks {
		return nil, fail(InvalidArgument, "%d ranks; at most %d", n, mostRanks)
	}
	h := newHub(n)
	nodes := make([]*node, n)
	for i := range nodes {
		var err error
		if nodes[i], err = h.attach(i, n); err != nil {
			return nil, err // cannot be: the ranks are all different
		}
	}
	comms := make([]*Comm, n)
	for i, d := range nodes {
		comms[i] = d.world(limit)
	}
	return comms, nil
}

func (d *node) world(limit time.Duration) *Comm {
	all := make([]int, d.n)
	for i := range all {
		all[i] = i
	}
	return d.comm(1, all, limit)
}

// comm makes the communicator of some ranks, of which this is one.
func (d *node) comm(id uint64, ranks []int, limit time.Duration) *Comm {
	c := &Comm{node: d, id: id, ranks: ranks, rank: slices.Index(ranks, d.rank), limit: limit,
		dead: make(chan struct{}), peers: map[int]*segment{}, sent: make([]uint64, len(ranks)),
		received: make([]uint64, len(ranks)), local: true}
	for _, r := range ranks {
		c.local = c.local && d.process[r] == d.process[d.rank]
	}
	d.mu.Lock()
	d.refs++
	d.comms[id] = c
	early := d.early[id]
	delete(d.early, id)
	for i, r := range ranks {
		if d.dead[r] && early == nil {
			early = fail(RemoteError, "the process of rank %d has ended", i)
		}
	}
	d.mu.Unlock()
	if early != nil {
		c.failed(early, false)
	}
	return c
}

// Rank and Size are those of the communicator.
func (c *Comm) Rank() int { return c.rank }

// Size is the number of ranks.
func (c *Comm) Size() int { return len(c.ranks) }

func (c *Comm) has(node int) bool { return slices.Contains(c.ranks, node) }

func (c *Comm) indexOf(node int) int { return slices.Index(c.ranks, node) }

// Err is why the communicator has failed, nil while it has not.
func (c *Comm) Err() error {
	if e := c.first.Load(); e != nil {
		return e
	}
	return nil
}

// Dead is closed when the communicator has failed.
func (c *Comm) Dead() <-chan struct{} { return c.dead }

// failed ends all waiting. tell says that the others do not know yet.
func (c *Comm) failed(e *Error, tell bool) error {
	if !c.first.CompareAndSwap(nil, e) {
		return c.first.Load()
	}
	close(c.dead)
	if tell {
		b := encodeAbort(e)
		for i := range c.ranks {
			if i != c.rank {
				c.post(i, message{kind: msgAbort, payload: b})
			}
		}
	}
	return e
}

// Abort ends everything that goes on, also of other ranks.
func (c *Comm) Abort() {
	_ = c.failed(fail(RemoteError, "rank %d has aborted", c.rank), true)
	_ = c.Close()
}

// Close gives the rank up. Operations must have ended. Other processes pass their messages through the one that made
// the identifier: its last rank stays, for a minute at most, until they have left, unless the communicator has failed.
func (c *Comm) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	healthy := c.first.Load() == nil
	_ = c.failed(fail(InvalidUsage, "the communicator is closed"), false)
	c.run.Lock() // an operation that was aborted may still look at memory
	for _, s := range c.own {
		s.close()
	}
	for _, s := range c.peers {
		s.close()
	}
	c.own, c.peers = [2]*segment{}, nil
	c.run.Unlock()
	d := c.node
	d.mu.Lock()
	delete(d.comms, c.id)
	for k := range d.boxes {
		if k.comm == c.id {
			delete(d.boxes, k)
		}
	}
	d.refs--
	last := d.refs == 0
	d.mu.Unlock()
	if last {
		d.bye(true)
		if healthy {
			d.linger()
		}
	}
	return nil
}

func (c *Comm) post(to int, m message) {
	m.comm, m.from, m.to = c.id, uint32(c.node.rank), uint32(c.ranks[to])
	c.node.send(m)
}

// Tags tell the messages of a communicator apart: collective operations by number and phase, transfers by number.
const (
	tagTransfer = 1 << 62
	tagTaken    = 1 << 63
	phases      = 4
)

// take waits for a message.
func (c *Comm) take(from int, tag uint64, limit <-chan time.Time, what string) (message, error) {
	d := c.node
	k := key{c.id, uint32(c.ranks[from]), tag}
	b := d.box(k)
	defer d.drop(k)
	select {
	case m := <-b:
		return m, nil
	default:
	}
	select {
	case m := <-b:
		return m, nil
	case <-c.dead:
	case <-d.gone[c.ranks[from]]:
		select {
		case m := <-b: // the last that it has sent
			return m, nil
		default:
		}
		return message{}, c.failed(fail(RemoteError, "rank %d has left; rank %d waits for it %s", from, c.rank, what), true)
	case <-limit:
		return message{}, c.failed(fail(Timeout, "rank %d has waited %v for rank %d %s", c.rank, c.limit, from, what),
			true)
	}
	return message{}, c.first.Load()
}

func (c *Comm) timer() (limit <-chan time.Time, stop func()) {
	if c.limit <= 0 {
		return nil, func() {}
	}
	t := time.NewTimer(c.limit)
	return t.C, func() { t.Stop() }
}

// exchange gives everybody the bytes of all ranks, and within one process their memory: by way of rank 0.
func (c *Comm) exchange(phase uint64, payload []byte, data []byte, limit <-chan time.Time, what string) (
	[][]byte, [][]byte, error) {
	tag := c.seq*phases + phase
	n := len(c.ranks)
	if c.rank != 0 {
		c.post(0, message{kind: msgData, tag: tag, payload: payload, data: [][]byte{data}})
		m, err := c.take(0, tag, limit, what)
		if err != nil {
			return nil, nil, err
		}
		parts, err := splitParts(m.payload, n)
		if err != nil || c.local && len(m.data) != n {
			return nil, nil, c.failed(fail(InternalError, "%v", errParts), true)
		}
		return parts, m.data, nil
	}
	parts, datas := make([][]byte, n), make([][]byte, n)
	parts[0], datas[0] = payload, data
	for i := 1; i < n; i++ {
		m, err := c.take(i, tag, limit, what)
		if err != nil {
			return nil, nil, err
		}
		parts[i] = m.payload
		if len(m.data) == 1 {
			datas[i] = m.data[0]
		}
	}
	all := joinParts(parts)
	if len(all) > mostPayload {
		return nil, nil, c.failed(fail(InternalError, "%v", errParts), true)
	}
	for i := 1; i < n; i++ {
		c.post(i, message{kind: msgData, tag: tag, payload: all, data: datas})
	}
	return parts, datas, nil
}

// begin locks the communicator for a collective operation.
func (c *Comm) begin() error {
	c.run.Lock()
	if e := c.first.Load(); e != nil {
		c.run.Unlock()
		return e
	}
	return nil
}

// guarded runs f, in which memory may turn out to be gone.
func (c *Comm) guarded(f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if v := recover(); v != nil {
			var fault interface{ Addr() uintptr }
			if e, ok := v.(error); ok && errors.As(e, &fault) {
				err = c.failed(fail(InvalidArgument, "rank %d: memory at %#x is not there any more", c.rank, fault.Addr()),
					true)
				return
			}
			_ = c.failed(fail(InternalError, "rank %d: %v", c.rank, v), true)
			panic(v)
		}
	}()
	return f()
}

// NoColor is NCCL_SPLIT_NOCOLOR: the rank takes part in the split and gets no communicator.
const NoColor = -1

// Split makes a communicator of the ranks with the same colour, in the order of their keys; all ranks call it. The
// result is nil for NoColor.
func (c *Comm) Split(color, key int32, limit time.Duration) (*Comm, error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	defer c.run.Unlock()
	t, stop := c.timer()
	defer stop()
	b := binary.LittleEndian.AppendUint32([]byte{byte(split)}, uint32(color))
	b = binary.LittleEndian.AppendUint32(b, uint32(key))
	parts, _, err := c.exchange(0, b, nil, t, "to split")
	if err != nil {
		return nil, err
	}
	c.seq++
	type member struct {
		key  int32
		rank int
	}
	var group []member
	for i, p := range parts {
		if len(p) != len(b) || p[0] != byte(split) {
			return nil, c.failed(fail(InvalidUsage, "rank %d splits the communicator, rank %d does something else", c.rank, i),
				true)
		}
		if int32(binary.LittleEndian.Uint32(p[1:])) == color {
			group = append(group, member{int32(binary.LittleEndian.Uint32(p[5:])), i})
		}
	}
	c.born++
	if color < 0 {
		return nil, nil
	}
	slices.SortStableFunc(group, func(a, b member) int { return int(int64(a.key) - int64(b.key)) })
	ranks := make([]int, len(group))
	for i, m := range group {
		ranks[i] = c.ranks[m.rank]
	}
	return c.node.comm(c.child(uint64(uint32(color)), nil), ranks, limit), nil
}

// Shrink makes a communicator without some ranks, which need not take part, and may be dead. The communicator itself is
// left as it is; abort ends what goes on in it first.
func (c *Comm) Shrink(exclude []int, abort bool, limit time.Duration) (*Comm, error) {
	if abort {
		_ = c.failed(fail(RemoteError, "rank %d shrinks the communicator", c.rank), false)
	}
	var ranks, out []int
	for i, r := range c.ranks {
		if slices.Contains(exclude, i) {
			out = append(out, i)
		} else {
			ranks = append(ranks, r)
		}
	}
	if len(out) != len(exclude) || len(out) == 0 || slices.Contains(exclude, c.rank) {
		return nil, fail(InvalidArgument, "rank %d: %v cannot be excluded from %d ranks", c.rank, exclude, len(c.ranks))
	}
	c.run.Lock()
	defer c.run.Unlock()
	if e := c.first.Load(); e != nil && !abort && e.Code != RemoteError {
		return nil, e
	}
	c.born++
	return c.node.comm(c.child(1<<40, out), ranks, limit), nil
}

// child is the number of a communicator made of this one, the same in all ranks.
func (c *Comm) child(color uint64, out []int) uint64 {
	h := fnv.New64a()
	var b []byte
	for _, v := range []uint64{c.id, c.born, color} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	for _, r := range out {
		b = binary.LittleEndian.AppendUint64(b, uint64(r))
	}
	_, _ = h.Write(b) // a hash takes everything
	return h.Sum64()
}
