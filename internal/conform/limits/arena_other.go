//go:build !linux

package limits

import (
	"runtime"
	"unsafe"
)

// Where there is no way to have memory with none around it, blocks are Go's, and a call that goes too far may not be
// noticed.
const block = 4 << 10

type arena struct {
	base   unsafe.Pointer
	pins   runtime.Pinner
	blocks [][]byte
}

func newArena() (*arena, error) {
	a := &arena{}
	a.base = a.block()
	return a, nil
}

// block is zeros.
func (a *arena) block() unsafe.Pointer {
	b := make([]byte, block)
	a.pins.Pin(&b[0])
	a.blocks = append(a.blocks, b)
	return unsafe.Pointer(&b[0])
}

func (a *arena) reset() {
	a.pins.Unpin()
	a.blocks = nil
}

func (a *arena) holds(uint64) bool { return false }

func (a *arena) close() { a.reset() }

// limitMemory has no limit to set.
func limitMemory(uint64) error { return nil }
