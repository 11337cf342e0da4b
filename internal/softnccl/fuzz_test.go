package softnccl

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"
)

// FuzzWire: whatever stands in an identifier, a hello, an offer, an exchange or a frame is refused or means what it
// would be written as again.
func FuzzWire(f *testing.F) {
	at := id{net: netUnix, cookie: cookie{1, 2, 3}, address: "@gocuda-nccl-1-2"}
	name := at.encode()
	f.Add(name[:])
	f.Add((&hello{n: 8, rank: 3, process: 5, pid: 6}).encode())
	f.Add((&offer{kind: AllReduce, typ: 7, count: 9, segment: segmentName{1, 2, 3, 4}}).encode())
	f.Add((&message{kind: msgData, from: 1, to: 2, comm: 3, tag: 4, payload: []byte("x")}).encode())
	f.Add(joinParts([][]byte{{1}, nil, {2, 3}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= IDBytes {
			if d, err := decodeID((*[IDBytes]byte)(b)); err == nil {
				c := d.encode()
				if again, err := decodeID(&c); err != nil || again != d {
					t.Errorf("identifier %+v becomes %+v, %v", d, again, err)
				}
			}
		}
		if h, err := decodeHello(b); err == nil && !bytes.Equal(h.encode(), b) {
			t.Errorf("hello %+v", h)
		}
		if o, err := decodeOffer(b); err == nil && !bytes.Equal(o.encode(), b) {
			t.Errorf("offer %+v", o)
		}
		for _, n := range []int{1, 3, 8} {
			if parts, err := splitParts(b, n); err == nil && (len(parts) != n || !bytes.Equal(joinParts(parts), b)) {
				t.Errorf("%d parts: %q", n, parts)
			}
		}
		if m, err := readMessage(bytes.NewReader(b)); err == nil && !bytes.HasPrefix(b, m.encode()) {
			t.Errorf("message %+v", m)
		}
	})
}

// FuzzNode: a rank that gets frames which no hub sends goes on, or its communicator fails; an operation ends.
func FuzzNode(f *testing.F) {
	frames := func(list ...message) (b []byte) {
		for i := range list {
			b = append(b, list[i].encode()...)
		}
		return b
	}
	f.Add(frames(message{kind: msgStart, payload: make([]byte, 16)}, message{kind: msgData, from: 1, comm: 0, tag: 1,
		payload: (&offer{kind: AllReduce, count: 1}).encode()}))
	f.Add(frames(message{kind: msgAbort, from: 1, payload: []byte{1, 0, 0, 0, 'x'}}, message{kind: msgGone, from: 1}))
	f.Add(frames(message{kind: msgReject, payload: []byte("no")}, message{kind: msgLeft, from: 7}))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := newNode(0, 2)
		d.send, d.bye, d.linger = func(message) {}, func(bool) {}, func() {}
		for r := bytes.NewReader(b); ; {
			m, err := readMessage(r)
			if err != nil {
				break
			}
			d.deliver(m)
		}
		d.start(message{kind: msgStart, payload: make([]byte, 16)})
		d.lost(fail(RemoteError, "the connection has ended"))
		for box := range d.boxes {
			if box.from >= 2 {
				t.Errorf("a message of rank %d of 2 waits", box.from)
			}
		}
	})
}

// FuzzHub: whatever comes on a connection that then ends, the hub's goroutine for it ends, and no rank counts as there.
func FuzzHub(f *testing.F) {
	f.Add([]byte{0}, []byte(nil))
	f.Add([]byte{1}, (&message{kind: msgData, from: 1, to: 0, payload: []byte("x")}).encode())
	f.Add([]byte{1}, (&message{kind: msgBye, from: 1}).encode())
	f.Add([]byte{3}, (&message{kind: msgAbort, from: 3, to: 99}).encode())
	f.Fuzz(func(t *testing.T, rank, b []byte) {
		h := newHub(4)
		here, there := net.Pipe()
		_ = there.SetDeadline(time.Now().Add(time.Minute))
		served := make(chan struct{})
		go func() {
			h.serve(here)
			close(served)
		}()
		go func() { _, _ = io.Copy(io.Discard, there) }()
		if len(rank) == 1 {
			who := hello{cookie: h.id.cookie, n: 4, rank: uint32(rank[0]), process: 1, pid: 1}
			_, _ = there.Write(who.encode())
		} else {
			_, _ = there.Write(rank)
		}
		_, _ = there.Write(b)
		_ = there.Close()
		select {
		case <-served:
		case <-time.After(time.Minute):
			t.Fatal("the hub still serves a connection that has ended")
		}
		h.mu.Lock()
		joined, alive := h.joined, h.alive
		h.mu.Unlock()
		if joined != 0 || alive != 0 {
			t.Errorf("%d ranks have joined and %d live after the only connection has ended", joined, alive)
		}
	})
}

// TestJoinGarbage: an identifier whose address nobody listens at ends with the context.Context.
func TestJoinGarbage(t *testing.T) {
	at := id{net: netTCP, address: "127.0.0.1:1"}
	b := at.encode()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := Join(ctx, &b, 1, 2, time.Second); err == nil {
		t.Error("a communicator of nobody")
	}
}
