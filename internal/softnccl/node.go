package softnccl

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"sync"
)

// node is a rank of an identifier, with the messages that it has received.
type node struct {
	rank, n int
	send    func(m message) // to another rank
	bye     func(clean bool)
	linger  func()   // after a bye, where others need this process
	process []uint64 // of the ranks

	started chan struct{}
	startMu sync.Mutex
	reject  error

	mu    sync.Mutex
	boxes map[key]chan message
	comms map[uint64]*Comm
	// ranks that will send nothing any more
	gone []chan struct{}
	dead []bool // without a bye
	// aborts of communicators that this rank has not made yet
	early map[uint64]*Error
	refs  int
}

const mostEarly = 1 << 10

type key struct {
	comm uint64
	from uint32
	tag  uint64
}

// processToken is the same for all nodes of a process.
var processToken = sync.OnceValue(func() uint64 {
	c := newCookie()
	return binary.LittleEndian.Uint64(c[:])
})

func newNode(rank, n int) *node {
	d := &node{rank: rank, n: n, started: make(chan struct{}), boxes: map[key]chan message{}, comms: map[uint64]*Comm{},
		early: map[uint64]*Error{},
		gone:  make([]chan struct{}, n), dead: make([]bool, n)}
	for i := range d.gone {
		d.gone[i] = make(chan struct{})
	}
	return d
}

// box is where a message waits, or is waited for.
func (d *node) box(k key) chan message {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.boxes[k]
	if b == nil {
		b = make(chan message, 1)
		d.boxes[k] = b
	}
	return b
}

func (d *node) drop(k key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.boxes, k)
}

// deliver takes a message from the hub. It never waits.
func (d *node) deliver(m message) {
	switch m.kind {
	case msgStart, msgReject:
		d.start(m)
	case msgData:
		if int(m.from) >= d.n {
			return
		}
		d.mu.Lock()
		full := len(d.boxes) >= mostWaiting
		d.mu.Unlock()
		if full {
			d.lost(fail(InternalError, "rank %d has sent what nobody takes", m.from))
			return
		}
		select {
		case d.box(key{m.comm, m.from, m.tag}) <- m:
		default: // twice the same: the first counts
		}
	case msgAbort:
		e := decodeAbort(m.payload, int(m.from))
		d.mu.Lock()
		c := d.comms[m.comm]
		if c == nil && len(d.early) < mostEarly {
			d.early[m.comm] = e
		}
		d.mu.Unlock()
		if c != nil {
			c.failed(e, false)
		}
	case msgGone, msgLeft:
		d.leftBy(int(m.from), m.kind == msgGone)
	}
}

func (d *node) start(m message) {
	d.startMu.Lock()
	defer d.startMu.Unlock()
	select {
	case <-d.started:
		return
	default:
	}
	if m.kind == msgReject || len(m.payload) != 8*d.n {
		d.reject = fmt.Errorf("%w: %q", errRejected, m.payload)
	} else {
		d.process = make([]uint64, d.n)
		for i := range d.process {
			d.process[i] = binary.LittleEndian.Uint64(m.payload[8*i:])
		}
	}
	close(d.started)
}

// leftBy marks a rank that will send nothing any more.
func (d *node) leftBy(rank int, dead bool) {
	if rank >= d.n {
		return
	}
	d.mu.Lock()
	select {
	case <-d.gone[rank]:
		d.mu.Unlock()
		return
	default:
	}
	close(d.gone[rank])
	d.dead[rank] = dead
	var hit []*Comm
	for _, c := range d.comms {
		if dead && c.has(rank) {
			hit = append(hit, c)
		}
	}
	d.mu.Unlock()
	for _, c := range hit {
		c.failed(fail(RemoteError, "the process of rank %d has ended", c.indexOf(rank)), false)
	}
}

// lost is the end of the way to the hub.
func (d *node) lost(e *Error) {
	d.mu.Lock()
	all := make([]*Comm, 0, len(d.comms))
	for _, c := range d.comms {
		all = append(all, c)
	}
	d.mu.Unlock()
	for _, c := range all {
		c.failed(e, false)
	}
}

func (d *node) end() {}

// attach makes a node beside its hub.
func (h *hub) attach(rank, n int) (*node, error) {
	d := newNode(rank, n)
	d.send = func(m message) { h.route(m) }
	d.bye = func(clean bool) { h.leave(rank, clean) }
	who := hello{cookie: h.id.cookie, n: uint32(n), rank: uint32(rank), process: processToken(),
		pid: uint32(os.Getpid())}
	d.linger = h.linger
	h.mu.Lock()
	h.locals++
	h.mu.Unlock()
	if err := h.join(who, d); err != nil {
		h.mu.Lock()
		h.locals--
		h.mu.Unlock()
		return nil, fmt.Errorf("%w: %w", errRejected, err)
	}
	return d, nil
}

// connect makes a node of a hub in another process.
func connect(ctx context.Context, at id, rank, n int) (*node, error) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, at.net.String(), at.address)
	if err != nil {
		return nil, err
	}
	d := newNode(rank, n)
	w := newWire(c)
	who := hello{cookie: at.cookie, n: uint32(n), rank: uint32(rank), process: processToken(), pid: uint32(os.Getpid())}
	if _, err := c.Write(who.encode()); err != nil {
		w.end()
		return nil, err
	}
	d.linger = func() {}
	d.send = w.deliver
	d.bye = func(clean bool) {
		if clean {
			w.deliver(message{kind: msgBye, from: uint32(rank)})
			w.drain()
		}
		w.end()
	}
	go func() {
		r := bufio.NewReader(c)
		for {
			m, err := readMessage(r)
			if err != nil {
				d.start(message{kind: msgReject, payload: []byte("the process with the identifier has ended")})
				d.lost(fail(RemoteError, "the process that made the identifier has ended"))
				return
			}
			d.deliver(m)
		}
	}()
	return d, nil
}

// join makes the node of a rank and waits for all others.
func join(ctx context.Context, b *[IDBytes]byte, rank, n int) (*node, error) {
	at, err := decodeID(b)
	if err != nil {
		return nil, fail(InvalidArgument, "%v", err)
	}
	hubs.Lock()
	h := hubs.m[at.cookie]
	hubs.Unlock()
	var d *node
	if h != nil {
		d, err = h.attach(rank, n)
	} else {
		d, err = connect(ctx, at, rank, n)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fail(RemoteError, "%v", err)
	}
	select {
	case <-d.started:
	case <-ctx.Done():
		d.bye(false)
		return nil, context.Cause(ctx)
	}
	if d.reject != nil {
		d.bye(false)
		return nil, fail(InvalidUsage, "%v", d.reject)
	}
	return d, nil
}

func encodeAbort(e *Error) []byte {
	detail := e.Detail
	if len(detail) > mostDetail {
		detail = detail[:mostDetail]
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(e.Code)), detail...)
}

const mostDetail = 4096

func decodeAbort(b []byte, from int) *Error {
	if len(b) < 4 {
		return fail(RemoteError, "rank %d has given up", from)
	}
	code := Code(binary.LittleEndian.Uint32(b))
	if code != InvalidUsage && code != Timeout {
		code = RemoteError
	}
	return &Error{code, string(b[4:min(len(b), 4+mostDetail)])}
}
