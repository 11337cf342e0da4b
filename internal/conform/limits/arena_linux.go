package limits

import (
	"syscall"
	"unsafe"
)

// Memory for arguments: blocks with no memory before and behind them, so that a call that reads or writes more than it
// was given finds nothing there.
const (
	block  = 4 << 10
	guard  = 60 << 10
	before = 28 << 10 // of the guard
	room   = 4096     // blocks

	reserved = 12 << 30 // bytes, where a long copy that begins at its end finds no memory either
)

type arena struct {
	all  []byte
	base unsafe.Pointer
	used uintptr
}

func newArena() (*arena, error) {
	b, err := syscall.Mmap(-1, 0, reserved, syscall.PROT_NONE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	return &arena{all: b, base: unsafe.Pointer(unsafe.SliceData(b))}, nil
}

// block is zeros.
func (a *arena) block() unsafe.Pointer {
	if a.used == room {
		panic(failure{"no room for arguments"})
	}
	p := unsafe.Add(a.base, a.used*(block+guard)+before)
	a.used++
	b := unsafe.Slice((*byte)(p), block)
	if err := syscall.Mprotect(b, syscall.PROT_READ|syscall.PROT_WRITE); err != nil {
		panic(failure{err.Error()})
	}
	clear(b)
	return p
}

// reset gives all blocks back.
func (a *arena) reset() {
	for i := range a.used {
		_ = syscall.Mprotect(unsafe.Slice((*byte)(unsafe.Add(a.base, i*(block+guard)+before)), block),
			syscall.PROT_NONE)
	}
	a.used = 0
}

// holds says whether an address is one of the arena's, where calls find no memory when they go too far.
func (a *arena) holds(addr uint64) bool {
	return addr-uint64(uintptr(a.base)) < reserved
}

// limitMemory bounds the memory that the process can take for itself, besides what it only reserves.
func limitMemory(n uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: n, Max: n})
}

func (a *arena) close() { _ = syscall.Munmap(a.all) }
