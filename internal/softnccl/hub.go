package softnccl

import (
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"time"
)

// hub connects the ranks of one identifier. It lies in the process that made the identifier, and ends when all ranks
// have left.
type hub struct {
	id     id
	n      int // ranks; 0 until the first has come
	mu     sync.Mutex
	ports  []port
	here   []hello
	left   []bool
	joined int
	alive  int
	begun  bool
	ln     net.Listener
	locals int           // ranks in this process that have not left
	empty  chan struct{} // closed when all have left
}

// port is the way to a rank.
type port interface {
	deliver(m message)
	end()
}

const (
	helloTime = 10 * time.Second // for what has connected to say who it is
	// meetTime is how long a hub waits for all ranks.
	meetTime = 30 * time.Minute
)

// hubs are the hubs of the process by their cookies, for ranks that lie beside them.
var hubs struct {
	sync.Mutex
	m map[cookie]*hub
}

func newHub(n int) *hub {
	h := &hub{id: id{cookie: newCookie()}, empty: make(chan struct{})}
	if n > 0 {
		h.size(n)
	}
	return h
}

func (h *hub) size(n int) {
	h.n = n
	h.ports, h.here, h.left = make([]port, n), make([]hello, n), make([]bool, n)
}

// NewID makes an identifier and waits, in the background, for ranks.
func NewID() ([IDBytes]byte, error) {
	h := newHub(0)
	var err error
	if runtime.GOOS == "linux" {
		// an abstract name: nothing is left in the file system when the process is killed
		h.id.net, h.id.address = netUnix, fmt.Sprintf("@gocuda-nccl-%d-%x", os.Getpid(), h.id.cookie[:8])
	} else {
		h.id.net, h.id.address = netTCP, "127.0.0.1:0"
	}
	if h.ln, err = net.Listen(h.id.net.String(), h.id.address); err != nil {
		return [IDBytes]byte{}, err
	}
	if h.id.net == netTCP {
		h.id.address = h.ln.Addr().String()
	}
	hubs.Lock()
	if hubs.m == nil {
		hubs.m = map[cookie]*hub{}
	}
	hubs.m[h.id.cookie] = h
	hubs.Unlock()
	go h.accept()
	time.AfterFunc(meetTime, func() {
		h.mu.Lock()
		begun := h.begun
		h.mu.Unlock()
		if !begun {
			h.forget()
		}
	})
	return h.id.encode(), nil
}

// forget ends the waiting for ranks.
func (h *hub) forget() {
	hubs.Lock()
	delete(hubs.m, h.id.cookie)
	hubs.Unlock()
	if h.ln != nil {
		_ = h.ln.Close() // nobody is to come any more
	}
}

func (h *hub) accept() {
	for {
		c, err := h.ln.Accept()
		if err != nil {
			return
		}
		go h.serve(c)
	}
}

// serve is the goroutine of a rank of another process.
func (h *hub) serve(c net.Conn) {
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(helloTime))
	b := make([]byte, helloSize)
	if _, err := io.ReadFull(c, b); err != nil {
		return
	}
	who, err := decodeHello(b)
	if err != nil || subtle.ConstantTimeCompare(who.cookie[:], h.id.cookie[:]) != 1 {
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	p := newWire(c)
	defer p.end()
	if err := h.join(who, p); err != nil {
		p.deliver(message{kind: msgReject, payload: []byte(err.Error())})
		p.drain()
		return
	}
	clean := false
	for {
		m, err := readMessage(c)
		if err != nil || m.from != who.rank {
			break
		}
		if m.kind == msgBye {
			clean = true
			break
		}
		if m.kind != msgData && m.kind != msgAbort {
			break
		}
		h.route(m)
	}
	h.leave(int(who.rank), clean)
}

// join adds a rank.
func (h *hub) join(who hello, p port) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n == 0 {
		h.size(int(who.n))
	}
	switch {
	case h.n != int(who.n):
		return fmt.Errorf("rank %d says that there are %d ranks, another says %d", who.rank, who.n, h.n)
	case h.ports[who.rank] != nil:
		return fmt.Errorf("there are two ranks %d", who.rank)
	}
	h.ports[who.rank], h.here[who.rank] = p, who
	h.joined++
	h.alive++
	if h.joined < h.n {
		return nil
	}
	h.begun = true
	b := make([]byte, 0, 8*h.n)
	for i := range h.here {
		b = binary.LittleEndian.AppendUint64(b, h.here[i].process)
	}
	for i, p := range h.ports {
		p.deliver(message{kind: msgStart, to: uint32(i), payload: b})
	}
	go h.forget()
	return nil
}

// route passes a message on.
func (h *hub) route(m message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if int(m.to) < len(h.ports) && h.ports[m.to] != nil && !h.left[m.to] {
		h.ports[m.to].deliver(m)
	}
}

// leave tells the others that a rank has left, or that its process has ended.
func (h *hub) leave(rank int, clean bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.left[rank] {
		return
	}
	if !h.begun { // another may come in its place
		h.ports[rank] = nil
		h.joined--
		h.alive--
		return
	}
	h.left[rank] = true
	kind := msgGone
	if clean {
		kind = msgLeft
	}
	for i, p := range h.ports {
		if !h.left[i] {
			p.deliver(message{kind: kind, from: uint32(rank), to: uint32(i)})
		}
	}
	if h.alive--; h.alive == 0 {
		close(h.empty)
	}
}

// leaveTime is how long the process with the hub stays for ranks of other processes, which need it until they leave.
const leaveTime = time.Minute

// linger waits, in the last rank of the hub's process, until the others have left.
func (h *hub) linger() {
	h.mu.Lock()
	h.locals--
	last := h.locals == 0 && h.begun
	h.mu.Unlock()
	if !last {
		return
	}
	t := time.NewTimer(leaveTime)
	defer t.Stop()
	select {
	case <-h.empty:
	case <-t.C:
	}
}

// wire is the port of a rank behind a connection. Messages wait in a queue, so that no rank can hold up another.
type wire struct {
	c      net.Conn
	mu     sync.Mutex
	queue  []message
	ready  chan struct{}
	done   chan struct{}
	closed bool
	broken bool // the other side reads no more
}

// mostWaiting bounds what a rank does not take.
const mostWaiting = 1 << 16

func newWire(c net.Conn) *wire {
	w := &wire{c: c, ready: make(chan struct{}, 1), done: make(chan struct{})}
	go w.write()
	return w
}

func (w *wire) deliver(m message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.broken {
		return
	}
	if len(w.queue) >= mostWaiting {
		_ = w.c.Close() // it does not read: the reader of the connection sees the end
		return
	}
	w.queue = append(w.queue, m)
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

func (w *wire) write() {
	defer close(w.done)
	for range w.ready {
		for {
			w.mu.Lock()
			list := w.queue
			w.queue = nil
			w.mu.Unlock()
			if len(list) == 0 {
				break
			}
			var b []byte
			for i := range list {
				b = append(b, list[i].encode()...)
			}
			if _, err := w.c.Write(b); err != nil {
				// The other side has closed: the reader of the connection finds its last words and tells.
				w.mu.Lock()
				w.queue, w.broken = nil, true
				w.mu.Unlock()
				break
			}
		}
	}
}

// drain waits until what was delivered is written.
func (w *wire) drain() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.ready)
	}
	w.mu.Unlock()
	<-w.done
}

func (w *wire) end() {
	_ = w.c.Close()
	w.drain()
}

var errRejected = errors.New("not taken into the communicator")
