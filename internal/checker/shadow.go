package checker

import "math/bits"

// Pages are the parts of a shadow that are made when they are touched first.
const (
	pageBits = 12
	pageSize = 1 << pageBits
)

type page [pageSize / lineSize]line

// shadow is the lines of an address space.
type shadow struct {
	pages map[uint64]*page
	near  [32]found // pages found last, by the low bits of their numbers
	free  []*page   // for use again
	cells []*cells  // the same
}

type found struct {
	n    uint64 // of the page, plus one
	page *page
}

// line is the line that an address lies in.
func (s *shadow) line(addr uint64) *line {
	n := addr >> pageBits
	f := &s.near[n%uint64(len(s.near))]
	if f.n != n+1 {
		f.n, f.page = n+1, s.find(n)
	}
	return &f.page[addr%pageSize>>lineBits]
}

func (s *shadow) find(n uint64) *page {
	p := s.pages[n]
	if p == nil {
		if s.pages == nil {
			s.pages = map[uint64]*page{}
		}
		if k := len(s.free) - 1; k >= 0 {
			p, s.free = s.free[k], s.free[:k]
		} else {
			p = new(page)
		}
		s.pages[n] = p
	}
	return p
}

// clear forgets every access. Pages are kept for what comes.
func (s *shadow) clear() {
	for _, p := range s.pages {
		for i := range p {
			if c := p[i].cells; c != nil {
				clear(c[:])
				s.cells = append(s.cells, c)
			}
		}
		clear(p[:])
		s.free = append(s.free, p)
	}
	clear(s.pages)
	clear(s.near[:])
}

func (s *shadow) newCells() (c *cells) {
	if k := len(s.cells) - 1; k >= 0 {
		c, s.cells = s.cells[k], s.cells[:k]
		return c
	}
	return new(cells)
}

// cell is that of an address, of a line that is split or becomes so.
func (s *shadow) cell(addr uint64) *cell {
	ln := s.line(addr)
	if ln.cells == nil {
		ln.split(&access{s: s}, &span{}, addr&^(lineSize-1))
	}
	return &ln.cells[addr%lineSize>>2]
}

// touch checks an access of n bytes at addr by lanes of e, and remembers it.
func (s *shadow) touch(x *access, lanes uint32, addr uint64, n uint32) {
	x.s = s
	for n > 0 {
		off := uint32(addr % lineSize)
		k := min(lineSize-off, n)
		p := span{e: x.e, lanes: lanes, at: int32(off), size: int32(k)}
		s.line(addr).touch(x, &p, addr-uint64(off))
		addr += uint64(k)
		n -= k
	}
}

// touchStrong is touch for elements of strong operations, which cells remember.
func (s *shadow) touchStrong(x *access, lanes uint32, addr uint64, n uint32) {
	start := uint8(addr & 63)
	for n > 0 {
		off := uint32(addr & 3)
		k := min(4-off, n)
		s.cell(addr).touch(x, record{e: x.e, lanes: lanes, bytes: uint8(1<<k-1) << off, start: start}, addr)
		addr += uint64(k)
		n -= k
	}
}

// touchRun is an access by lanes, of which lane l accesses size bytes at first+stride*l.
func (s *shadow) touchRun(x *access, lanes uint32, first uint64, stride int64, size uint32) {
	if lanes&(lanes-1) == 0 || stride == 0 {
		s.touch(x, lanes, first+uint64(stride*int64(bits.TrailingZeros32(lanes))), size)
		return
	}
	whole := size&(size-1) == 0 && size <= lineSize && (first|uint64(stride))&uint64(size-1) == 0
	if stride < 0 || stride > lineSize/2 || !whole {
		for ; lanes != 0; lanes &= lanes - 1 {
			s.touch(x, lanes&-lanes, first+uint64(stride*int64(bits.TrailingZeros32(lanes))), size)
		}
		return
	}
	x.s = s
	// Elements lie inside of lines, which come one after the other.
	for lanes != 0 {
		l := bits.TrailingZeros32(lanes)
		addr := first + uint64(stride*int64(l))
		begin := addr &^ (lineSize - 1)
		n := uint32((begin+lineSize-addr-1)/uint64(stride)) + 1 // lanes from l on that lie in the line
		mine := lanes
		if uint32(l)+n < 32 {
			mine &= 1<<(uint32(l)+n) - 1
		}
		lanes &^= mine
		p := span{e: x.e, lanes: mine, at: int32(int64(first) - int64(begin)), stride: int32(stride), size: int32(size)}
		if mine&(mine-1) == 0 {
			p.at, p.stride = int32(addr-begin), 0
		}
		s.line(addr).touch(x, &p, begin)
	}
}
