package mem

import (
	"errors"
	"sync/atomic"
	"unsafe"
)

// ErrNotMemory says that a descriptor is none of memory: nothing is open by that number, or what is open is no file of
// bytes, or it cannot be read and written.
var ErrNotMemory = errors.New("mem: the descriptor is none of a file that is open for reading and writing")

// TakeFile makes a store of the first size bytes of a file of the program's: a memory file, one of shared memory or any
// other. The descriptor belongs to the store when it is returned, and stays the caller's otherwise. The memory counts
// for this heap in whole granules. Errors: ErrNotMemory, *AddressError for a size that the file does not have,
// ErrClosed, *OutOfMemoryError, errors.ErrUnsupported, and those of the system.
func (h *Heap) TakeFile(fd uintptr, size uint64, owner any) (*Store, error) {
	have, err := fileSize(fd)
	if err != nil {
		return nil, err
	}
	if size == 0 || size > have {
		return nil, &AddressError{Op: "take file", Size: size, Why: "the file does not have that size"}
	}
	b, _, err := openBacking(fd)
	if err != nil {
		return nil, err
	}
	s := &Store{Owner: owner, heap: h, size: size, held: roundUp(size, Granule), b: b, refs: 1}
	if err := h.admit(s); err != nil {
		return nil, errors.Join(err, b.close())
	}
	closeDescriptor(fd)
	return s, nil
}

// MapBytes maps a part of a store at addresses of its own, which UnmapBytes gives back. Errors: *AddressError and those
// of the system.
func (w *Window) MapBytes(s *Store, offset, bytes uint64, owner any) (Range, error) {
	if bytes == 0 || offset > s.size || bytes > s.size-offset {
		return Range{}, &AddressError{Op: "map", Size: bytes, Why: "the store does not hold that"}
	}
	lead := offset % PartAlign
	return w.mapAlone(s, offset-lead, roundUp(lead+bytes, Granule), lead, bytes, owner)
}

// UnmapBytes undoes MapBytes; addr is the range's.
func (w *Window) UnmapBytes(addr uint64) error { return w.ClosePublished(addr) }

// Semaphore is a semaphore that several processes have: a word of 64 bits in a file, or an eventfd of Linux.
type Semaphore struct {
	b    *backing
	data []byte // of the file; nil for an eventfd
	id   uint64
}

// TakeSemaphore makes a semaphore of a descriptor, which belongs to it when it is returned. A file has the word at its
// beginning; with word set nothing but a file will do. Errors: ErrNotMemory, errors.ErrUnsupported, and those of the
// system.
func TakeSemaphore(fd uintptr, word bool) (*Semaphore, error) {
	event := !word && isEventfd(fd)
	if !event {
		if n, err := fileSize(fd); err != nil {
			return nil, err
		} else if n < 8 {
			return nil, ErrNotMemory
		}
	}
	b, _, err := openBacking(fd)
	if err != nil {
		return nil, err
	}
	s := &Semaphore{b: b, id: b.id()}
	if !event {
		if s.data, err = b.mapAll(8); err != nil {
			return nil, errors.Join(err, b.close())
		}
	}
	closeDescriptor(fd)
	return s, nil
}

// ID is the same number for all semaphores of one file.
func (s *Semaphore) ID() uint64 { return s.id }

// Word is the word of a semaphore in a file; nil for an eventfd.
func (s *Semaphore) Word() *atomic.Uint64 {
	if s.data == nil {
		return nil
	}
	return (*atomic.Uint64)(unsafe.Pointer(&s.data[0]))
}

// Post adds one to the count of an eventfd.
func (s *Semaphore) Post() error { return s.b.post() }

// Take takes one from the count of an eventfd, or all of it, as that was made; it does not wait. ok is false when the
// count is zero.
func (s *Semaphore) Take() (ok bool, err error) { return s.b.take() }

// Close gives the semaphore up; it must not be used any more.
func (s *Semaphore) Close() error {
	if s.data == nil {
		return s.b.close()
	}
	return errors.Join(unmapAll(s.data), s.b.close())
}
