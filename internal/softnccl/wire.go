package softnccl

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
)

// IDBytes is the size of an identifier, NCCL_UNIQUE_ID_BYTES.
const IDBytes = 128

// An identifier is: magic, version, network, the cookie, the length of the address, the address.
const (
	idMagic    = "GOCUDA-S"
	idVersion  = 1
	idHeader   = len(idMagic) + 2 + cookieSize + 1
	cookieSize = 16
	mostRanks  = 1 << 12
)

type network uint8

const (
	netUnix network = iota + 1
	netTCP
)

func (n network) String() string {
	if n == netUnix {
		return "unix"
	}
	return "tcp"
}

type cookie [cookieSize]byte

func newCookie() (c cookie) {
	_, _ = rand.Read(c[:]) // it ends the process rather than fail
	return c
}

type id struct {
	net     network
	cookie  cookie
	address string
}

func (d *id) encode() (b [IDBytes]byte) {
	n := copy(b[:], idMagic)
	b[n], b[n+1] = idVersion, byte(d.net)
	n += 2
	n += copy(b[n:], d.cookie[:])
	b[n] = byte(len(d.address))
	copy(b[n+1:], d.address)
	return b
}

var errID = errors.New("not an identifier of a communicator of software devices")

func decodeID(b *[IDBytes]byte) (d id, err error) {
	if string(b[:len(idMagic)]) != idMagic || b[len(idMagic)] != idVersion {
		return d, errID
	}
	n := len(idMagic) + 1
	d.net = network(b[n])
	n += 1 + copy(d.cookie[:], b[n+1:])
	length := int(b[n])
	if d.net != netUnix && d.net != netTCP || length == 0 || length > IDBytes-idHeader {
		return d, errID
	}
	d.address = string(b[n+1 : n+1+length])
	return d, nil
}

// IsID says whether an identifier is of this package and not of the NCCL library.
func IsID(b *[IDBytes]byte) bool {
	_, err := decodeID(b)
	return err == nil
}

// A node says hello: magic, cookie, number of ranks, its rank, the token of its process, its process number. The hub
// answers with messages.
const helloSize = len(idMagic) + cookieSize + 4 + 4 + 8 + 4

type hello struct {
	cookie  cookie
	n, rank uint32
	process uint64 // a random number, the same for all ranks of a process
	pid     uint32
}

func (h *hello) encode() []byte {
	b := append(make([]byte, 0, helloSize), idMagic...)
	b = append(b, h.cookie[:]...)
	e := binary.LittleEndian
	b = e.AppendUint32(b, h.n)
	b = e.AppendUint32(b, h.rank)
	b = e.AppendUint64(b, h.process)
	return e.AppendUint32(b, h.pid)
}

var errHello = errors.New("what connected is no rank of a communicator")

func decodeHello(b []byte) (h hello, err error) {
	if len(b) != helloSize || string(b[:len(idMagic)]) != idMagic {
		return h, errHello
	}
	b = b[len(idMagic):]
	copy(h.cookie[:], b)
	b = b[cookieSize:]
	e := binary.LittleEndian
	h.n, h.rank, h.process, h.pid = e.Uint32(b), e.Uint32(b[4:]), e.Uint64(b[8:]), e.Uint32(b[16:])
	if h.n == 0 || h.n > mostRanks || h.rank >= h.n {
		return h, errHello
	}
	return h, nil
}

type messageKind uint8

const (
	msgData   messageKind = iota + 1
	msgStart              // from the hub: all are there; processes of the ranks
	msgReject             // from the hub: a reason
	msgAbort              // a communicator has failed: code and reason
	msgBye                // the rank leaves
	msgGone               // from the hub: a rank's process has ended without a bye
	msgLeft               // from the hub: a rank has left
	numMessages
)

// message is what ranks send each other.
type message struct {
	kind     messageKind
	from, to uint32
	comm     uint64
	tag      uint64
	payload  []byte
	data     [][]byte // memory, within a process
}

// A frame is the length of what follows, kind, from, to, comm, tag and the payload.
const (
	frameHeader = 4
	frameFixed  = 1 + 4 + 4 + 8 + 8
	mostPayload = 1 << 20
)

func (m *message) encode() []byte {
	e := binary.LittleEndian
	b := make([]byte, 0, frameHeader+frameFixed+len(m.payload))
	b = e.AppendUint32(b, uint32(frameFixed+len(m.payload)))
	b = append(b, byte(m.kind))
	b = e.AppendUint32(b, m.from)
	b = e.AppendUint32(b, m.to)
	b = e.AppendUint64(b, m.comm)
	b = e.AppendUint64(b, m.tag)
	return append(b, m.payload...)
}

var errFrame = errors.New("a frame that no rank sends")

// readMessage reads a frame. Its size is checked before memory is taken for it.
func readMessage(r io.Reader) (m message, err error) {
	var head [frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return m, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n < frameFixed || n > frameFixed+mostPayload {
		return m, errFrame
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return m, err
	}
	e := binary.LittleEndian
	m = message{kind: messageKind(b[0]), from: e.Uint32(b[1:]), to: e.Uint32(b[5:]), comm: e.Uint64(b[9:]),
		tag: e.Uint64(b[17:]), payload: b[frameFixed:]}
	if m.kind == 0 || m.kind >= numMessages {
		return m, errFrame
	}
	return m, nil
}

// offer is what a rank says at the start of a collective operation: what it was asked for, and where its memory is.
type offer struct {
	kind      Kind
	typ       DataType
	reduction Reduction
	root      uint32
	count     uint64
	scalar    [8]byte
	segment   segmentName
}

// segmentName is a memory file of a process: its number there, and how large it is.
type segmentName struct {
	pid, fd uint32
	cookie  uint64
	size    uint64
}

const offerSize = 3 + 1 + 4 + 8 + 8 + 8 + 8 + 8

func (o *offer) encode() []byte {
	e := binary.LittleEndian
	b := append(make([]byte, 0, offerSize), byte(o.kind), byte(o.typ), byte(o.reduction), 0)
	b = e.AppendUint32(b, o.root)
	b = e.AppendUint64(b, o.count)
	b = append(b, o.scalar[:]...)
	b = e.AppendUint32(b, o.segment.pid)
	b = e.AppendUint32(b, o.segment.fd)
	b = e.AppendUint64(b, o.segment.cookie)
	return e.AppendUint64(b, o.segment.size)
}

var errOffer = errors.New("an offer that no rank makes")

func decodeOffer(b []byte) (o offer, err error) {
	if len(b) != offerSize || b[3] != 0 {
		return o, errOffer
	}
	e := binary.LittleEndian
	o = offer{kind: Kind(b[0]), typ: DataType(b[1]), reduction: Reduction(b[2]), root: e.Uint32(b[4:]),
		count: e.Uint64(b[8:])}
	copy(o.scalar[:], b[16:])
	o.segment = segmentName{e.Uint32(b[24:]), e.Uint32(b[28:]), e.Uint64(b[32:]), e.Uint64(b[40:])}
	if o.kind == 0 || o.kind >= numKinds || o.typ >= numTypes || o.reduction >= numReductions {
		return o, errOffer
	}
	return o, nil
}

// joinParts puts the payloads of all ranks into one, and splitParts takes them out.
func joinParts(parts [][]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(p)))
		b = append(b, p...)
	}
	return b
}

var errParts = errors.New("an exchange that no rank makes")

func splitParts(b []byte, n int) ([][]byte, error) {
	if n > mostRanks {
		return nil, errParts
	}
	parts := make([][]byte, n)
	for i := range parts {
		if len(b) < 4 {
			return nil, errParts
		}
		size := binary.LittleEndian.Uint32(b)
		if b = b[4:]; uint64(size) > uint64(len(b)) {
			return nil, errParts
		}
		parts[i], b = b[:size:size], b[size:]
	}
	if len(b) != 0 {
		return nil, errParts
	}
	return parts, nil
}
