package mem

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"os"
	"sync/atomic"
	"unsafe"
)

// Published names memory that other processes can open: a file of this process, of which the cookie makes sure that it
// is still the one that was meant. It holds no pointers and can be sent as bytes.
type Published struct {
	Process int32  // of the system
	File    int32  // the file's number in that process
	Cookie  uint64 // of the file's name
	Size    uint64 // bytes of the file
	Offset  uint64 // where in it the memory begins
	Bytes   uint64 // of the memory
}

// publication is memory in a file that has a cookie.
type publication struct {
	b    *backing
	what Published // but for the offset and bytes of one allocation
}

// newPublication makes such a file.
func newPublication(size uint64) (*publication, error) {
	var c [8]byte
	if _, err := rand.Read(c[:]); err != nil {
		return nil, err
	}
	p := &publication{what: Published{Process: int32(os.Getpid()), Cookie: binary.NativeEndian.Uint64(c[:]),
		Size: size}}
	b, err := newCookieBacking(size, p.what.Cookie)
	if err != nil {
		return nil, err
	}
	p.b = b
	p.what.File = b.number()
	return p, nil
}

// Publish lets other processes open an allocation of a heap: its granules move to a file, at the same addresses and
// with the same contents. Nobody may be writing to these granules during the call, which the caller sees to; once they
// are published later calls change nothing. The memory stays published until the last allocation in its granules is
// freed. Errors: *AddressError, and errors.ErrUnsupported on hosts without such files.
func (w *Window) Publish(addr uint64) (Published, error) {
	r, ok := w.Lookup(addr)
	if !ok || r.Heap == nil || r.Store != nil {
		return Published{}, &AddressError{Op: "publish", Addr: addr, Why: "no allocation is there"}
	}
	h := r.Heap
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return Published{}, ErrClosed
	}
	if now, ok := w.Lookup(addr); !ok || now.ID != r.ID {
		return Published{}, &AddressError{Op: "publish", Addr: addr, Why: "the allocation is gone"}
	}
	s := w.span(addr - w.base)
	if s.published == nil {
		if err := w.publish(s); err != nil {
			return Published{}, err
		}
	}
	p := s.published.what
	p.Offset, p.Bytes = r.Base-w.base-s.off, r.Size
	return p, nil
}

// IsPublished says whether the memory at an address has been published.
func (w *Window) IsPublished(addr uint64) bool {
	if addr-w.base >= w.m.size {
		return false
	}
	r, ok := w.Lookup(addr)
	if !ok || r.Heap == nil || r.Store != nil {
		return false
	}
	r.Heap.mu.Lock()
	defer r.Heap.mu.Unlock()
	s := w.span(addr - w.base)
	return s != nil && s.published != nil
}

// publish moves a span's memory to a file.
func (w *Window) publish(s *span) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	p, err := newPublication(s.n)
	if err != nil {
		return err
	}
	if err = w.copyOut(s, p.b); err == nil {
		err = w.m.move(s.off, s.n, p.b)
	}
	if err != nil {
		return errors.Join(err, p.b.close())
	}
	s.published = p
	w.published[p] = struct{}{}
	return nil
}

// copyOut writes a span's memory to a file, leaving out what is zero.
func (w *Window) copyOut(s *span, b *backing) error {
	const piece = 64 << 10
	all := unsafe.Slice((*byte)(unsafe.Add(w.m.base, s.off)), s.n)
	for at := uint64(0); at < s.n; at += piece {
		part := all[at : at+piece]
		if zero(part) {
			continue
		}
		if _, err := b.f.WriteAt(part, int64(at)); err != nil {
			return err
		}
	}
	return nil
}

func zero(b []byte) bool {
	for len(b) > 0 {
		if binary.NativeEndian.Uint64(b) != 0 {
			return false
		}
		b = b[8:]
	}
	return true
}

// unpublish makes a span's addresses ordinary ones again, without memory; w.mu is held.
func (w *Window) unpublish(s *span) error {
	err := w.m.unshare(s.off, s.n)
	if w.large(s.off) {
		w.m.adviseHuge(s.off, s.n)
	}
	delete(w.published, s.published)
	err = errors.Join(err, s.published.b.close())
	s.published = nil
	return err
}

// ErrNotPublished is returned for published memory that is there no longer, or never was.
var ErrNotPublished = errors.New("the process that published the memory has given it back, or ended")

// OpenPublished maps memory that another process has published and returns the range of the one allocation in it. The
// granules count for this heap until ClosePublished. Errors: ErrNotPublished, *OutOfMemoryError, *AddressError,
// ErrClosed, and errors.ErrUnsupported.
func (h *Heap) OpenPublished(p Published, owner any) (Range, error) {
	if p.Size == 0 || p.Size%Granule != 0 || p.Bytes == 0 || p.Offset > p.Size || p.Bytes > p.Size-p.Offset {
		return Range{}, &AddressError{Op: "open published memory", Size: p.Size, Why: "the size is not possible"}
	}
	b, err := openCookieBacking(p)
	if err != nil {
		return Range{}, err
	}
	s := &Store{heap: h, size: p.Size, held: p.Size, b: b, refs: 1}
	if err := h.adopt(s); err != nil {
		return Range{}, errors.Join(err, b.close())
	}
	r, err := h.w.mapAlone(s, 0, p.Size, p.Offset, p.Bytes, owner)
	// From here on the mapping keeps the store.
	return r, errors.Join(err, s.Release())
}

// mapAlone maps a part of a store in a reserved range of its own; of that, one range of memory is to be found.
func (w *Window) mapAlone(s *Store, from, size, lead, bytes uint64, owner any) (Range, error) {
	at, err := w.ReserveOwned(size)
	if err != nil {
		return Range{}, err
	}
	r, err := w.mapRange(at, size, s, from, lead, bytes, owner)
	if err == nil {
		err = w.Protect(at, size, ReadWrite)
		r.Access = ReadWrite
	}
	if err != nil {
		_ = w.Unmap(at, size) // nothing, or what was mapped just now
		_ = w.Unreserve(at, size)
		return Range{}, err
	}
	return r, nil
}

// ClosePublished undoes OpenPublished; addr is the range's.
func (w *Window) ClosePublished(addr uint64) error {
	base, size, ok := w.Reservation(addr)
	if !ok {
		return &AddressError{Op: "close published memory", Addr: addr, Why: "nothing is mapped there"}
	}
	if err := w.Unmap(base, size); err != nil {
		return err
	}
	return w.Unreserve(base, size)
}

// pageSize is what the size of a Page is a multiple of.
const pageSize = 4096

// Page is a little memory that several processes share for words that they change atomically: one page of the host, or
// several side by side.
type Page struct {
	b    *backing
	what Published // the zero value for a page that was opened by its descriptor
	data []byte
}

// NewPage makes n pages of zeros. Errors: errors.ErrUnsupported, and those of the system.
func NewPage(n int) (*Page, error) {
	p, err := newPublication(uint64(n) * pageSize)
	if err != nil {
		return nil, err
	}
	return mapPage(p.b, p.what, n)
}

// OpenPage opens n pages of another process. Errors: ErrNotPublished, errors.ErrUnsupported, and those of the system.
func OpenPage(what Published, n int) (*Page, error) {
	if what.Size != uint64(n)*pageSize {
		return nil, ErrNotPublished
	}
	b, err := openCookieBacking(what)
	if err != nil {
		return nil, err
	}
	return mapPage(b, what, n)
}

// OpenPageFile opens n pages by a file descriptor that Descriptor gave in this or another process; it stays the
// caller's. The error is ErrNotPublished for a file of another size.
func OpenPageFile(fd uintptr, n int) (*Page, error) {
	b, size, err := openBacking(fd)
	if err != nil {
		return nil, err
	}
	if size != uint64(n)*pageSize {
		return nil, errors.Join(ErrNotPublished, b.close())
	}
	return mapPage(b, Published{}, n)
}

func mapPage(b *backing, what Published, n int) (*Page, error) {
	data, err := b.mapAll(n * pageSize)
	if err != nil {
		return nil, errors.Join(err, b.close())
	}
	return &Page{b, what, data}, nil
}

// Published says how others open the page; the zero value for one that was opened by its descriptor.
func (p *Page) Published() Published { return p.what }

// Descriptor gives a file descriptor of the page, which is the caller's.
func (p *Page) Descriptor() (uintptr, error) { return p.b.descriptor() }

// Words is how many words the page has.
func (p *Page) Words() int { return len(p.data) / 8 }

// Word is the i-th word of the page.
func (p *Page) Word(i int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&p.data[8*i]))
}

// Close gives the page up; words must not be used any more. Other processes that have opened it keep it.
func (p *Page) Close() error {
	return errors.Join(unmapAll(p.data), p.b.close())
}
