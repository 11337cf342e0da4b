package softnccl

// segment returns memory that other processes can see, of at least that size, for the operation that begins. Two take
// turns: what the others still read of the operation before stays as it is.
func (c *Comm) segment(size uint64) (*segment, error) {
	own := &c.own[c.seq%2]
	if *own != nil && uint64(len((*own).mem)) >= size {
		return *own, nil
	}
	(*own).close()
	*own = nil
	s, err := newSegment(max(size, smallestSegment))
	if err != nil {
		return nil, err
	}
	*own = s
	return s, nil
}

const smallestSegment = 64 << 10

// peer is the memory of another rank.
func (c *Comm) peer(rank int, name segmentName) (*segment, error) {
	if rank == c.rank {
		return c.own[c.seq%2], nil
	}
	at := rank*2 + int(c.seq%2)
	if s := c.peers[at]; s != nil {
		if s.name == name {
			return s, nil
		}
		s.close()
		delete(c.peers, at)
	}
	s, err := openSegment(name)
	if err != nil {
		return nil, err
	}
	c.peers[at] = s
	return s, nil
}
