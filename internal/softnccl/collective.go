package softnccl

import (
	"bytes"
	"math/bits"
	"time"
)

// pieceBytes is how much of its memory a rank offers at a time between processes.
const pieceBytes = 8 << 20

// check compares the sizes of the memory with what the operation needs.
func (o *Op) check(rank, n int) error {
	size := o.Type.Size()
	if size == 0 || o.Kind == 0 || o.Kind >= split || o.reduces() && o.Reduction >= numReductions {
		return fail(InvalidArgument, "%v of type %d with operation %d", o.Kind, o.Type, o.Reduction)
	}
	if o.hasRoot() && (o.Root < 0 || o.Root >= n) {
		return fail(InvalidArgument, "%v: root %d of %d ranks", o.Kind, o.Root, n)
	}
	send, recv := o.blocks(rank, n)
	for _, m := range []struct {
		what   string
		blocks uint64
		have   []byte
	}{{"send", send, o.Send}, {"receive", recv, o.Recv}} {
		hi, elements := bits.Mul64(m.blocks, o.Count)
		over, need := bits.Mul64(elements, size)
		if hi != 0 || over != 0 || need != uint64(len(m.have)) {
			return fail(InvalidArgument, "%v: rank %d has %d bytes to %s; %d blocks of %d elements of %d bytes are meant",
				o.Kind, rank, len(m.have), m.what, m.blocks, o.Count, size)
		}
	}
	return nil
}

// Run does the rank's part of a collective operation and waits for the others. After an error the communicator is of no
// use any more; the memory to receive then has any value.
func (c *Comm) Run(o *Op) error {
	if err := c.begin(); err != nil {
		return err
	}
	defer c.run.Unlock()
	if err := o.check(c.rank, len(c.ranks)); err != nil {
		return c.failed(err.(*Error), true)
	}
	if o.Count == 0 {
		return nil
	}
	return c.guarded(func() error {
		t, stop := c.timer()
		defer stop()
		r := &collective{c: c, Op: o, n: len(c.ranks), size: o.Type.Size(), limit: t, step: o.Count}
		r.offer = offer{kind: o.Kind, typ: o.Type, reduction: o.Reduction, root: uint32(o.Root), count: o.Count}
		if o.reduces() && o.Reduction == PreMulSum && o.Scalar != nil {
			copy(r.offer.scalar[:], o.Scalar())
		}
		if !c.local {
			// the same in all ranks: whoever has most to offer counts
			r.step = max(1, pieceBytes/r.size)
			if o.Kind == ReduceScatter || o.Kind == AlltoAll || o.Kind == Scatter {
				r.step = max(1, r.step/uint64(r.n))
			}
		}
		for at := uint64(0); at < o.Count; at += r.step {
			if err := r.piece(at, min(o.Count, at+r.step)); err != nil {
				return err
			}
			c.seq++
		}
		return nil
	})
}

// collective is a running operation.
type collective struct {
	*Op
	c     *Comm
	n     int
	size  uint64
	step  uint64
	offer offer
	limit <-chan time.Time

	lo, hi uint64   // the piece
	memory [][]byte // what each rank offers
	result []byte   // what this rank has computed
}

// part is which elements of a piece a rank reduces.
func (r *collective) part(rank int) (lo, hi uint64) {
	n, k := uint64(r.n), r.hi-r.lo
	at := func(i uint64) uint64 {
		h, l := bits.Mul64(k, i)
		q, _ := bits.Div64(h, l, n)
		return r.lo + q
	}
	return at(uint64(rank)), at(uint64(rank) + 1)
}

// block is the elements from lo to hi of a block that a rank sends.
func (r *collective) block(rank int, block, lo, hi uint64) []byte {
	m := r.memory[rank]
	if r.c.local {
		at := block * r.Count
		return m[(at+lo)*r.size : (at+hi)*r.size]
	}
	at := block * (r.hi - r.lo)
	return m[(at+lo-r.lo)*r.size : (at+hi-r.lo)*r.size]
}

// place is the elements from lo to hi of a block that this rank receives.
func (r *collective) place(block, lo, hi uint64) []byte {
	at := block * r.Count
	return r.Recv[(at+lo)*r.size : (at+hi)*r.size]
}

// piece does the elements from lo to hi of each block.
func (r *collective) piece(lo, hi uint64) error {
	c := r.c
	r.lo, r.hi = lo, hi
	send, _ := r.blocks(c.rank, r.n)
	var own *segment
	mine := r.Send
	if !c.local {
		var err error
		// behind what it sends is room for what it reduces
		in := send * (hi - lo) * r.size
		if own, err = c.segment(in + r.resultSize(c.rank)); err != nil {
			return c.failed(fail(SystemError, "rank %d: memory for other processes: %v", c.rank, err), true)
		}
		for b := range send {
			copy(own.mem[b*(hi-lo)*r.size:], r.Send[(b*r.Count+lo)*r.size:(b*r.Count+hi)*r.size])
		}
		r.offer.segment = own.name
		mine = nil
	}
	parts, datas, err := c.exchange(0, r.offer.encode(), mine, r.limit, "to begin "+r.Kind.String())
	if err != nil {
		return err
	}
	scalars, err := r.look(parts, datas)
	if err != nil {
		return err
	}
	if r.reduces() {
		r.reduce(own, scalars)
	} else {
		r.copyBlocks()
	}
	_, results, err := c.exchange(1, nil, r.result, r.limit, "to end "+r.Kind.String())
	if err != nil {
		return err
	}
	r.finish(results)
	return nil
}

// resultSize is the size of what a rank computes of the piece in bytes.
func (r *collective) resultSize(rank int) uint64 {
	switch r.Kind {
	case AllReduce, Reduce:
		lo, hi := r.part(rank)
		return (hi - lo) * r.size
	}
	return 0
}

// look compares what the ranks were asked for, and finds their memory.
func (r *collective) look(parts, datas [][]byte) (scalars [][]byte, err error) {
	c := r.c
	if r.reduces() && r.Reduction == PreMulSum {
		scalars = make([][]byte, r.n)
	}
	r.memory = make([][]byte, r.n)
	for i, p := range parts {
		x, err := decodeOffer(p)
		if err != nil {
			return nil, c.failed(fail(InvalidUsage, "%v: rank %d does something else", r.Kind, i), true)
		}
		mine := r.offer
		if x.kind != mine.kind || x.typ != mine.typ || x.count != mine.count || x.root != mine.root ||
			r.reduces() && x.reduction != mine.reduction {
			return nil, c.failed(fail(InvalidUsage, "rank %d: %v of %d elements of type %d, operation %d, root %d; "+
				"rank %d: %v of %d elements of type %d, operation %d, root %d", c.rank, mine.kind, mine.count, mine.typ,
				mine.reduction, mine.root, i, x.kind, x.count, x.typ, x.reduction, x.root), true)
		}
		if scalars != nil {
			scalars[i] = bytes.Clone(x.scalar[:r.size])
		}
		send, _ := r.blocks(i, r.n)
		need := send * (r.hi - r.lo) * r.size
		switch {
		case c.local:
			if uint64(len(datas[i])) != send*r.Count*r.size {
				return nil, c.failed(fail(InternalError, "rank %d offers %d bytes", i, len(datas[i])), true)
			}
			r.memory[i] = datas[i]
		case need+r.resultSize(i) == 0: // it has nothing that anybody reads
		default:
			s, err := c.peer(i, x.segment)
			if err == nil && uint64(len(s.mem)) < need+r.resultSize(i) {
				err = errOffer
			}
			if err != nil {
				return nil, c.failed(fail(SystemError, "rank %d: memory of rank %d: %v", c.rank, i, err), true)
			}
			r.memory[i] = s.mem
		}
	}
	return scalars, nil
}

// reduce computes this rank's part into memory of its own.
func (r *collective) reduce(own *segment, scalars [][]byte) {
	lo, hi, block, whole := r.lo, r.hi, uint64(0), -1
	switch r.Kind {
	case ReduceScatter:
		block, whole = uint64(r.c.rank), r.c.rank
	case Reduce:
		lo, hi = r.part(r.c.rank)
		whole = r.Root
	default:
		lo, hi = r.part(r.c.rank)
	}
	if own != nil && r.Kind != ReduceScatter {
		send, _ := r.blocks(r.c.rank, r.n)
		in := send * (r.hi - r.lo) * r.size
		r.result = own.mem[in : in+(hi-lo)*r.size]
	} else {
		r.result = make([]byte, (hi-lo)*r.size)
	}
	newReduction(r.Op, r.n, whole, scalars).run(r.result, lo, hi, func(rank int, lo, hi uint64) []byte {
		return r.block(rank, block, lo, hi)
	})
}

// copyBlocks receives where nothing is computed.
func (r *collective) copyBlocks() {
	me, root := uint64(r.c.rank), uint64(r.Root)
	switch r.Kind {
	case Broadcast:
		copy(r.place(0, r.lo, r.hi), r.block(r.Root, 0, r.lo, r.hi))
	case Scatter:
		copy(r.place(0, r.lo, r.hi), r.block(r.Root, me, r.lo, r.hi))
	case AllGather, AlltoAll, Gather:
		if r.Kind == Gather && me != root {
			return
		}
		for i := range r.n {
			from := uint64(0)
			if r.Kind == AlltoAll {
				from = me
			}
			copy(r.place(uint64(i), r.lo, r.hi), r.block(i, from, r.lo, r.hi))
		}
	}
}

// finish receives what the ranks have computed. Nobody reads what this rank sends any more.
func (r *collective) finish(results [][]byte) {
	switch {
	case r.Kind == ReduceScatter:
		copy(r.place(0, r.lo, r.hi), r.result)
	case r.Kind == AllReduce, r.Kind == Reduce && r.c.rank == r.Root:
		for i := range r.n {
			lo, hi := r.part(i)
			from := r.result
			switch {
			case i == r.c.rank:
			case r.c.local:
				from = results[i]
			default:
				send, _ := r.blocks(i, r.n)
				in := send * (r.hi - r.lo) * r.size
				from = r.memory[i][in : in+(hi-lo)*r.size]
			}
			copy(r.place(0, lo, hi), from)
		}
	}
	r.result = nil
}
