package mem

import (
	"math/bits"
	"os"
	"runtime"
	"unsafe"
)

// Scratch is memory outside the window, zero at first, for what may be large and may be refused: Go's heap ends the
// process when the host has no memory for it. It goes back when nothing refers to the Scratch any more.
type Scratch struct {
	p unsafe.Pointer
	n uint64
}

// NewScratch takes n bytes.
func NewScratch(n uint64) (*Scratch, error) {
	size := uint64(os.Getpagesize())
	if n > size {
		if n > 1<<40 {
			return nil, errTooLarge
		}
		size = 1 << bits.Len64(n-1)
	}
	m, err := reserve(size)
	if err != nil {
		return nil, err
	}
	if err := m.commit(0, size); err != nil {
		_ = m.release()
		return nil, err
	}
	s := &Scratch{m.base, size}
	runtime.AddCleanup(s, func(m *mapping) { _ = m.release() }, m)
	return s, nil
}

// Bytes is the memory; it stays as long as the Scratch does.
func (s *Scratch) Bytes() []byte { return unsafe.Slice((*byte)(s.p), s.n) }
