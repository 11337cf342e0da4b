package checker

import (
	"math/bits"
	"sync/atomic"
)

// Origin names how an undefined value came about (Init.origins). 0 is memory or a register that nobody has written.
type Origin uint32

// computed marks values that are more than a copy of what nobody wrote.
const computed Origin = 1 << 31

// Computed says whether the value is more than a copy.
func (o Origin) Computed() bool { return o&computed != 0 }

// Value is the undefined bits of up to 16 bytes, and where they are from. Its zero value is wholly defined.
type Value struct {
	Lo, Hi uint64
	Origin Origin
}

// Undefined says whether any bit is.
func (v Value) Undefined() bool { return v.Lo|v.Hi != 0 }

// Bytes says which bits of a memory nobody has written, byte by byte. Memory takes nothing of it until it is touched:
// whole chunks and pages are of one kind. It is not safe for several goroutines.
type Bytes struct {
	fresh  bool // what has no chunk is undefined
	chunks map[uint64]*bytesChunk
	last   uint64 // of the chunk found last, plus one
	chunk  *bytesChunk
	spare  []*bytesPage
	lost   atomic.Uint64 // changes when defined bytes may become undefined
}

const (
	bytesPageBits  = 12
	bytesPageSize  = 1 << bytesPageBits
	bytesChunkBits = 20
	bytesChunkSize = 1 << bytesChunkBits
)

// bytesChunk is a MiB. Pages that are missing are undefined, or defined.
type bytesChunk struct {
	fresh bool
	pages [bytesChunkSize / bytesPageSize]*bytesPage
}

type bytesPage struct {
	defined [bytesPageSize / 64]uint64 // a bit for each byte all of whose bits are
	more    *bytesMore                 // of undefined bytes that are not simply unwritten
}

type bytesMore struct {
	bits   [bytesPageSize]uint8 // the undefined ones of bytes that are not defined
	origin [bytesPageSize / 4]Origin
}

// wholePage is that of memory all of which is defined. Nobody writes to it.
var wholePage = func() *bytesPage {
	p := new(bytesPage)
	for i := range p.defined {
		p.defined[i] = ^uint64(0)
	}
	return p
}()

// NewBytes is a memory that nobody has written yet, or all of which is defined.
func NewBytes(fresh bool) *Bytes { return &Bytes{fresh: fresh} }

// Reset makes the memory as it was at first, fresh or not.
func (b *Bytes) Reset() {
	for _, c := range b.chunks {
		c.fresh = b.fresh
		for i, p := range c.pages {
			b.drop(p)
			c.pages[i] = nil
		}
	}
}

func (b *Bytes) drop(p *bytesPage) {
	if p != nil && p != wholePage && len(b.spare) < 64 {
		p.more = nil
		b.spare = append(b.spare, p)
	}
}

// at is the chunk of an address, nil where there is none.
func (b *Bytes) at(addr uint64) *bytesChunk {
	n := addr >> bytesChunkBits
	if b.last != n+1 {
		c := b.chunks[n]
		if c == nil {
			return nil
		}
		b.chunk, b.last = c, n+1
	}
	return b.chunk
}

// make is the chunk of an address.
func (b *Bytes) make(addr uint64) *bytesChunk {
	if c := b.at(addr); c != nil {
		return c
	}
	if b.chunks == nil {
		b.chunks = map[uint64]*bytesChunk{}
	}
	c := &bytesChunk{fresh: b.fresh}
	b.chunks[addr>>bytesChunkBits] = c
	return c
}

// look is the page of an address for reading; nil with what all its bytes are.
func (b *Bytes) look(addr uint64) (p *bytesPage, fresh bool) {
	c := b.at(addr)
	if c == nil {
		return nil, b.fresh
	}
	return c.pages[addr>>bytesPageBits%(bytesChunkSize/bytesPageSize)], c.fresh
}

// page is the page of an address for writing.
func (b *Bytes) page(addr uint64) *bytesPage {
	c := b.make(addr)
	at := &c.pages[addr>>bytesPageBits%(bytesChunkSize/bytesPageSize)]
	switch {
	case *at == wholePage || *at == nil && !c.fresh:
		p := b.newPage()
		p.defined = wholePage.defined
		*at = p
	case *at == nil:
		p := b.newPage()
		clear(p.defined[:])
		*at = p
	}
	return *at
}

func (b *Bytes) newPage() *bytesPage {
	if n := len(b.spare); n > 0 {
		p := b.spare[n-1]
		b.spare = b.spare[:n-1]
		return p
	}
	return new(bytesPage)
}

// each calls f for the parts of a range that are whole chunks, whole pages, or parts of pages.
func each(addr, n uint64, f func(addr, n uint64)) {
	for n > 0 {
		k := min(n, bytesPageSize-addr%bytesPageSize)
		if addr%bytesChunkSize == 0 && n >= bytesChunkSize {
			k = bytesChunkSize
		}
		f(addr, k)
		addr += k
		n -= k
	}
}

// SetRange makes a range of any size undefined (fresh), or defined.
func (b *Bytes) SetRange(addr, n uint64, fresh bool) {
	if fresh {
		b.lost.Add(1)
	}
	each(addr, n, func(addr, n uint64) {
		switch n {
		case bytesChunkSize:
			if c := b.at(addr); c != nil || fresh != b.fresh {
				c = b.make(addr)
				c.fresh = fresh
				for i, p := range c.pages {
					b.drop(p)
					c.pages[i] = nil
				}
			}
		case bytesPageSize:
			if p, is := b.look(addr); p == nil && is == fresh {
				return
			}
			c := b.make(addr)
			at := &c.pages[addr>>bytesPageBits%(bytesChunkSize/bytesPageSize)]
			b.drop(*at)
			*at = nil
			if c.fresh && !fresh {
				*at = wholePage
			} else if !c.fresh && fresh {
				p := b.newPage()
				clear(p.defined[:])
				*at = p
			}
		default:
			if p, is := b.look(addr); p == nil && is == fresh || p == wholePage && !fresh {
				return
			}
			p := b.page(addr)
			first := addr % bytesPageSize
			for at := first; at < first+n; {
				k := min(first+n-at, 64-at%64)
				m := ^uint64(0) >> (64 - k) << (at % 64)
				if fresh {
					p.defined[at/64] &^= m
				} else {
					p.defined[at/64] |= m
				}
				at += k
			}
			if fresh && p.more != nil {
				for at := first; at < first+n; at++ {
					p.more.bits[at] = 0xff
					p.more.origin[at/4] = 0
				}
			}
		}
	})
}

// Defined says whether all of a range is.
func (b *Bytes) Defined(addr, n uint64) bool {
	if first := addr % bytesPageSize; first%64+n <= 64 { // most accesses of kernels
		p, fresh := b.look(addr)
		if p == nil {
			return !fresh
		}
		m := ^uint64(0) >> (64 - n) << (first % 64)
		return p.defined[first/64]&m == m
	} else if first+n <= bytesPageSize {
		p, fresh := b.look(addr)
		return p.whole(fresh, first, n)
	}
	ok := true
	each(addr, n, func(addr, n uint64) {
		if !ok {
			return
		}
		c := b.at(addr)
		switch {
		case c == nil:
			ok = !b.fresh
		case n == bytesChunkSize:
			for i := range c.pages {
				ok = ok && c.pages[i].whole(c.fresh, 0, bytesPageSize)
			}
		default:
			p := c.pages[addr>>bytesPageBits%(bytesChunkSize/bytesPageSize)]
			ok = p.whole(c.fresh, addr%bytesPageSize, n)
		}
	})
	return ok
}

func (p *bytesPage) whole(fresh bool, first, n uint64) bool {
	if p == nil {
		return !fresh
	}
	if p == wholePage {
		return true
	}
	for at := first; at < first+n; {
		k := min(first+n-at, 64-at%64)
		if m := ^uint64(0) >> (64 - k) << (at % 64); p.defined[at/64]&m != m {
			return false
		}
		at += k
	}
	return true
}

// byteAt is the undefined bits of a byte, and their origin.
func (p *bytesPage) byteAt(at uint64) (uint8, Origin) {
	switch {
	case p.defined[at/64]>>(at%64)&1 != 0:
		return 0, 0
	case p.more == nil:
		return 0xff, 0
	}
	return p.more.bits[at], p.more.origin[at/4]
}

// byteAt is that of an address.
func (b *Bytes) byteAt(addr uint64) (uint8, Origin) {
	p, fresh := b.look(addr)
	if p == nil {
		if fresh {
			return 0xff, 0
		}
		return 0, 0
	}
	return p.byteAt(addr % bytesPageSize)
}

// Load is what is undefined of up to 16 bytes. Of several origins it is that of a value that is more than a copy, or
// else the first.
func (b *Bytes) Load(addr, n uint64) (v Value) {
	if b.Defined(addr, n) {
		return v
	}
	first := true
	for i := range n {
		u, o := b.byteAt(addr + i)
		if u == 0 {
			continue
		}
		if i < 8 {
			v.Lo |= uint64(u) << (8 * i)
		} else {
			v.Hi |= uint64(u) << (8 * (i - 8))
		}
		if first || o.Computed() && !v.Origin.Computed() {
			v.Origin = o
		}
		first = false
	}
	return v
}

// Store writes up to 16 bytes.
func (b *Bytes) Store(addr, n uint64, v Value) {
	if !v.Undefined() {
		if !b.Defined(addr, n) {
			b.SetRange(addr, n, false)
		}
		return
	}
	for i := range n {
		u := uint8(v.Lo >> (8 * i))
		if i >= 8 {
			u = uint8(v.Hi >> (8 * (i - 8)))
		}
		b.setByte(addr+i, u, v.Origin)
	}
}

func (b *Bytes) setByte(addr uint64, u uint8, o Origin) {
	p := b.page(addr)
	at := addr % bytesPageSize
	if u == 0 {
		p.defined[at/64] |= 1 << (at % 64)
		return
	}
	b.lost.Add(1)
	p.defined[at/64] &^= 1 << (at % 64)
	if p.more == nil {
		if u == 0xff && o == 0 {
			return
		}
		p.more = new(bytesMore)
		for i := range p.more.bits {
			p.more.bits[i] = 0xff
		}
	}
	p.more.bits[at] = u
	p.more.origin[at/4] = o
}

// mostAround is how far from an address Around looks, in chunks.
const mostAround = 16

// Around is the longest range of defined bytes around an address, as far as it is worth to look; high is low where the
// byte is undefined. It holds until lost changes.
func (b *Bytes) Around(addr uint64) (low, high uint64) {
	if !b.Defined(addr, 1) {
		return addr, addr
	}
	low, high = addr, addr
	for range mostAround {
		end := high | (bytesChunkSize - 1)
		if high = b.until(high, end); high <= end {
			break
		}
	}
	for range mostAround {
		if low == 0 {
			break
		}
		first := (low - 1) &^ (bytesChunkSize - 1)
		if low = b.since(first, low); low > first {
			break
		}
	}
	return low, high
}

// until is the first undefined byte from addr on up to end, which lies in the same chunk; end+1 where there is none.
func (b *Bytes) until(addr, end uint64) uint64 {
	c := b.at(addr)
	if c == nil {
		if b.fresh {
			return addr
		}
		return end + 1
	}
	for addr <= end {
		p := c.page(addr)
		if p == nil && c.fresh {
			return addr
		}
		next := addr | (bytesPageSize - 1)
		for at := addr % bytesPageSize; p != nil && p != wholePage && at < bytesPageSize; at = at&^63 + 64 {
			if gaps := ^p.defined[at/64] >> (at % 64); gaps != 0 {
				return addr&^(bytesPageSize-1) + at + uint64(bits.TrailingZeros64(gaps))
			}
		}
		addr = next + 1
	}
	return end + 1
}

// since is the first byte from which on all up to addr are defined, not below first, which lies in the same chunk.
func (b *Bytes) since(first, addr uint64) uint64 {
	c := b.at(first)
	if c == nil {
		if b.fresh {
			return addr
		}
		return first
	}
	for addr > first {
		p := c.page(addr - 1)
		if p == nil && c.fresh {
			return addr
		}
		start := (addr - 1) &^ (bytesPageSize - 1)
		if p != nil && p != wholePage {
			for at := (addr - 1) % bytesPageSize; ; at = at&^63 - 1 {
				if gaps := ^p.defined[at/64] << (63 - at%64); gaps != 0 {
					return start + at + 1 - uint64(bits.LeadingZeros64(gaps))
				}
				if at < 64 {
					break
				}
			}
		}
		addr = start
	}
	return first
}

// page is the page of an address; nil for one of the kind that the chunk says. A page that has been filled counts as
// whole from then on.
func (c *bytesChunk) page(addr uint64) *bytesPage {
	at := &c.pages[addr>>bytesPageBits%(bytesChunkSize/bytesPageSize)]
	if p := *at; p != nil && p != wholePage && p.defined == wholePage.defined {
		*at = wholePage
	}
	return *at
}

// Copy makes n bytes at dst what those of src are. The ranges may overlap.
func (b *Bytes) Copy(dst uint64, from *Bytes, src, n uint64) {
	if from.Defined(src, n) {
		b.SetRange(dst, n, false)
		return
	}
	if b == from && dst > src && dst < src+n {
		for i := n; i > 0; i-- {
			u, o := from.byteAt(src + i - 1)
			b.setByte(dst+i-1, u, o)
		}
		return
	}
	for n > 0 {
		k := min(n, bytesPageSize-src%bytesPageSize)
		p, fresh := from.look(src)
		if p == nil && fresh {
			b.SetRange(dst, k, true)
		} else if p.whole(fresh, src%bytesPageSize, k) {
			b.SetRange(dst, k, false)
		} else {
			for i := range k {
				u, o := from.byteAt(src + i)
				b.setByte(dst+i, u, o)
			}
		}
		dst, src, n = dst+k, src+k, n-k
	}
}

// Find calls f with undefined bytes of a range that are more than copies, one for each four at most.
func (b *Bytes) Find(addr, n uint64, f func(addr uint64, o Origin)) {
	each(addr, n, func(addr, n uint64) {
		c := b.at(addr)
		if c == nil {
			return
		}
		for end := addr + n; addr < end; {
			k := min(end-addr, bytesPageSize-addr%bytesPageSize)
			if p := c.pages[addr>>bytesPageBits%(bytesChunkSize/bytesPageSize)]; p != nil && p.more != nil {
				p.find(addr, k, f)
			}
			addr += k
		}
	})
}

func (p *bytesPage) find(addr, n uint64, f func(addr uint64, o Origin)) {
	first := addr % bytesPageSize
	for at := first; at < first+n; at++ {
		w := ^p.defined[at/64] >> (at % 64)
		if w == 0 {
			at |= 63
			continue
		}
		at += uint64(bits.TrailingZeros64(w))
		if at >= first+n {
			return
		}
		if o := p.more.origin[at/4]; o.Computed() {
			f(addr-first+at, o)
			at |= 3
		}
	}
}
