package softnccl

import "math"

// Transfer is a send to, or a receive from, another rank.
type Transfer struct {
	Peer int
	Send bool
	Data []byte
}

// Transfer does a group of sends and receives: all go on at the same time. A send has ended when the other rank has
// taken the memory, a receive when it is there. Transfers between two ranks meet in the order in which they are given.
func (c *Comm) Transfer(list []Transfer) error {
	if e := c.first.Load(); e != nil {
		return e
	}
	return c.guarded(func() error { return c.transfer(list) })
}

func (c *Comm) transfer(list []Transfer) error {
	limit, stop := c.timer()
	defer stop()
	tags := make([]uint64, len(list))
	c.transfers.Lock()
	for i, x := range list {
		if x.Peer < 0 || x.Peer >= len(c.ranks) {
			c.transfers.Unlock()
			return c.failed(fail(InvalidArgument, "peer %d of %d ranks", x.Peer, len(c.ranks)), true)
		}
		if len(x.Data) == 0 {
			continue
		}
		if x.Send {
			tags[i] = tagTransfer | c.sent[x.Peer]
			c.sent[x.Peer]++
		} else {
			tags[i] = tagTransfer | c.received[x.Peer]
			c.received[x.Peer]++
		}
	}
	c.transfers.Unlock()
	var files []*segment
	defer func() {
		for _, s := range files {
			s.close()
		}
	}()
	for i, x := range list {
		if !x.Send || len(x.Data) == 0 {
			continue
		}
		m := message{kind: msgData, tag: tags[i]}
		o := offer{kind: AlltoAll, count: uint64(len(x.Data))}
		if c.local {
			m.data = [][]byte{x.Data}
		} else {
			s, err := newSegment(uint64(len(x.Data)))
			if err != nil {
				return c.failed(fail(SystemError, "rank %d: memory for other processes: %v", c.rank, err), true)
			}
			files = append(files, s)
			copy(s.mem, x.Data)
			o.segment = s.name
		}
		m.payload = o.encode()
		c.post(x.Peer, m)
	}
	for i, x := range list {
		if x.Send || len(x.Data) == 0 {
			continue
		}
		m, err := c.take(x.Peer, tags[i], limit, "to send")
		if err != nil {
			return err
		}
		if err := c.receive(x, &m); err != nil {
			return err
		}
		c.post(x.Peer, message{kind: msgData, tag: tags[i]&^tagTransfer | tagTaken})
	}
	for i, x := range list {
		if !x.Send || len(x.Data) == 0 {
			continue
		}
		if _, err := c.take(x.Peer, tags[i]&^tagTransfer|tagTaken, limit, "to receive"); err != nil {
			return err
		}
	}
	return nil
}

func (c *Comm) receive(x Transfer, m *message) error {
	o, err := decodeOffer(m.payload)
	if err != nil {
		return c.failed(fail(InternalError, "%v", err), true)
	}
	if o.count != uint64(len(x.Data)) {
		return c.failed(fail(InvalidUsage, "rank %d sends %d bytes, rank %d receives %d", x.Peer, o.count, c.rank,
			len(x.Data)), true)
	}
	if c.local {
		if len(m.data) != 1 || len(m.data[0]) != len(x.Data) {
			return c.failed(fail(InternalError, "%v", errOffer), true)
		}
		copy(x.Data, m.data[0])
		return nil
	}
	s, err := openSegment(o.segment)
	if err == nil && (o.count > math.MaxInt || uint64(len(s.mem)) < o.count) {
		s.close()
		err = errOffer
	}
	if err != nil {
		return c.failed(fail(SystemError, "rank %d: memory of rank %d: %v", c.rank, x.Peer, err), true)
	}
	defer s.close()
	copy(x.Data, s.mem)
	return nil
}
