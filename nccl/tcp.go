package nccl

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"sync"
	"time"

	"github.com/gocuda/cuda"
)

// TCP is a rendezvous at an address that all ranks reach: rank 0 listens there for as long as it takes, and the others
// connect. The same address serves one communicator after the other, as long as all ranks make them in the same order.
//
// Who can connect there can join or get in the way of a communicator, so it is for networks whose machines trust each
// other, as those are that NCCL itself runs in. What connects and is no rank of the communicator is turned away.
type TCP struct {
	// Address is a host and a port, for example "node1:29500". Rank 0 listens on all its interfaces, unless the host is
	// an address of the machine itself ("127.0.0.1:29500").
	Address string
}

// What the two sides say to each other. A rank says hello: magic, number of ranks, its rank. Rank 0 answers: magic, a
// status, and the identifier. The rank confirms with a hash of it, and rank 0 with one byte that it has seen that: from
// then on whoever comes as that rank comes for the next communicator.
const (
	tcpMagic  = "gocuda nccl tcp1"
	tcpHello  = len(tcpMagic) + 4 + 4
	tcpAnswer = len(tcpMagic) + 4 + len(ID{})
	tcpThanks = 8
)

// The statuses of an answer.
const (
	tcpOK uint32 = iota
	tcpOtherSize
)

// tcpPatience bounds how long rank 0 waits for the bytes of one connection, tcpGuests how many connections it serves at
// a time beyond one for each rank.
const (
	tcpPatience = 10 * time.Second
	tcpGuests   = 64
)

var (
	errNoRank   = errors.New("what connected is no rank of a communicator")
	errNoMaster = errors.New("what answered is not rank 0 of a communicator")
	errMiddle   = errors.New("the connection ended after the identifier had come")
)

func encodeTCPHello(rank, n int) []byte {
	b := append(make([]byte, 0, tcpHello), tcpMagic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	return binary.LittleEndian.AppendUint32(b, uint32(rank))
}

func decodeTCPHello(b []byte) (rank, n int, err error) {
	if len(b) != tcpHello || string(b[:len(tcpMagic)]) != tcpMagic {
		return 0, 0, errNoRank
	}
	b = b[len(tcpMagic):]
	size, r := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	if size > 1<<30 || r == 0 || r >= size {
		return 0, 0, errNoRank
	}
	return int(r), int(size), nil
}

func encodeTCPAnswer(status uint32, id *ID) []byte {
	b := append(make([]byte, 0, tcpAnswer), tcpMagic...)
	return append(binary.LittleEndian.AppendUint32(b, status), id[:]...)
}

func decodeTCPAnswer(b []byte) (status uint32, id ID, err error) {
	if len(b) != tcpAnswer || string(b[:len(tcpMagic)]) != tcpMagic {
		return 0, id, errNoMaster
	}
	b = b[len(tcpMagic):]
	if status = binary.LittleEndian.Uint32(b); status > tcpOtherSize {
		return 0, id, errNoMaster
	}
	copy(id[:], b[4:])
	return status, id, nil
}

// thanks is what a rank confirms an identifier with.
func thanks(id *ID) []byte {
	h := fnv.New64a()
	_, _ = h.Write(id[:])
	return h.Sum(make([]byte, 0, tcpThanks))
}

// ID is the rendezvous. It returns in rank 0 when all others have the identifier.
func (t TCP) ID(ctx context.Context, rank, n int, c *cuda.Context, cfg Config) (ID, error) {
	const op = "nccl.TCP"
	host, port, err := net.SplitHostPort(t.Address)
	if err != nil {
		return ID{}, usage(op, "%q is not a host and a port: %v", t.Address, err)
	}
	if rank < 0 || n < 1 || rank >= n {
		return ID{}, usage(op, "rank %d of %d", rank, n)
	}
	if rank != 0 {
		return t.ask(ctx, rank, n)
	}
	id, err := NewID(c, cfg)
	if err != nil || n == 1 {
		return id, err
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		host = ""
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return ID{}, &Error{Op: op, Code: ErrSystem, Detail: err.Error(), cause: err}
	}
	return id, t.serve(ctx, l, &id, n)
}

// tcpServer hands an identifier to the ranks from 1 to n-1.
type tcpServer struct {
	id *ID
	n  int

	mu      sync.Mutex
	served  []bool
	missing int
	all     chan struct{} // closed when none is missing
	conns   map[net.Conn]struct{}
	odd     error // a rank of a communicator of another size
}

// serve hands the identifier out until all ranks have it. It closes the listener, and what it has started has ended
// when it returns.
func (t TCP) serve(ctx context.Context, l net.Listener, id *ID, n int) error {
	s := &tcpServer{id: id, n: n, served: make([]bool, n), missing: n - 1, all: make(chan struct{}),
		conns: map[net.Conn]struct{}{}}
	var wg sync.WaitGroup
	guests := make(chan struct{}, n+tcpGuests)
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			conn, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // for example too many open files: others may get through later
				time.Sleep(time.Millisecond)
				continue
			}
			select {
			case guests <- struct{}{}:
			default:
				_ = conn.Close() // a rank tries again
				continue
			}
			if !s.enter(conn) {
				_ = conn.Close()
				return
			}
			wg.Add(1)
			go func() {
				defer wg.Done()
				s.guest(conn)
				s.leave(conn)
				<-guests
			}()
		}
	}()
	var err error
	select {
	case <-s.all:
	case <-ctx.Done():
		err = s.late(ctx)
	}
	_ = l.Close()
	s.end()
	wg.Wait()
	return err
}

// late says who has not come.
func (s *tcpServer) late(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []int
	for r := 1; r < s.n && len(names) < 8; r++ {
		if !s.served[r] {
			names = append(names, r)
		}
	}
	text := fmt.Sprintf("%d of %d ranks have not come, among them %v", s.missing, s.n, names)
	if s.odd != nil {
		text += "; " + s.odd.Error()
	}
	return &Error{Op: "nccl.TCP", Code: ErrTimeout, Detail: text, cause: context.Cause(ctx)}
}

func (s *tcpServer) enter(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns != nil {
		s.conns[conn] = struct{}{}
	}
	return s.conns != nil
}

func (s *tcpServer) leave(conn net.Conn) {
	_ = conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, conn)
}

// end closes all connections, so that what waits for their bytes returns.
func (s *tcpServer) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		_ = conn.Close()
	}
	s.conns = nil
}

// guest serves one connection. A rank that has its identifier already is one that makes the next communicator: it is
// left without an answer, and tries again.
func (s *tcpServer) guest(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(tcpPatience))
	b := make([]byte, tcpHello)
	if _, err := io.ReadFull(conn, b); err != nil {
		return
	}
	rank, n, err := decodeTCPHello(b)
	if err != nil {
		return
	}
	if n != s.n {
		s.mu.Lock()
		s.odd = fmt.Errorf("a rank %d of %d came", rank, n)
		s.mu.Unlock()
		_, _ = conn.Write(encodeTCPAnswer(tcpOtherSize, &ID{}))
		return
	}
	s.mu.Lock()
	again := s.served[rank]
	s.mu.Unlock()
	if again {
		return
	}
	if _, err := conn.Write(encodeTCPAnswer(tcpOK, s.id)); err != nil {
		return
	}
	if _, err := io.ReadFull(conn, b[:tcpThanks]); err != nil || !bytes.Equal(b[:tcpThanks], thanks(s.id)) {
		return
	}
	s.mu.Lock()
	again, s.served[rank] = s.served[rank], true
	s.mu.Unlock()
	if again {
		return
	}
	_, _ = conn.Write(b[:1]) // the rank says so if it does not get it
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.missing--; s.missing == 0 {
		close(s.all)
	}
}

// ask gets the identifier from rank 0, which need not be there yet.
func (t TCP) ask(ctx context.Context, rank, n int) (ID, error) {
	const op = "nccl.TCP"
	for pause := time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		status, id, err := t.askOnce(ctx, rank, n)
		switch {
		case err == nil && status == tcpOK:
			return id, nil
		case err == nil:
			return ID{}, usage(op, "rank 0 at %s has another number of ranks than %d", t.Address, n)
		case errors.Is(err, errNoMaster), errors.Is(err, errMiddle):
			return ID{}, &Error{Op: op, Code: ErrSystem, Detail: t.Address + ": " + err.Error(), cause: err}
		}
		select {
		case <-ctx.Done():
			return ID{}, &Error{Op: op, Code: ErrTimeout, Detail: "no answer from rank 0 at " + t.Address + ": " +
				err.Error(), cause: context.Cause(ctx)}
		case <-time.After(pause):
		}
	}
}

func (t TCP) askOnce(ctx context.Context, rank, n int) (status uint32, id ID, err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", t.Address)
	if err != nil {
		return 0, id, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	_ = conn.SetDeadline(time.Now().Add(tcpPatience))
	if _, err := conn.Write(encodeTCPHello(rank, n)); err != nil {
		return 0, id, err
	}
	b := make([]byte, tcpAnswer)
	got, err := io.ReadFull(conn, b)
	if err != nil {
		if got > 0 && !bytes.HasPrefix([]byte(tcpMagic), b[:min(got, len(tcpMagic))]) {
			err = errNoMaster
		}
		return 0, id, err
	}
	if status, id, err = decodeTCPAnswer(b); err != nil {
		return 0, id, err
	}
	if status == tcpOK {
		if _, err = conn.Write(thanks(&id)); err == nil {
			_, err = io.ReadFull(conn, b[:1])
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", errMiddle, err)
		}
	}
	return status, id, err
}
