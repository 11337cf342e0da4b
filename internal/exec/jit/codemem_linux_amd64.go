package jit

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// codeBytes counts the bytes of executable memory that are mapped.
type codeBytes struct{ atomic.Int64 }

// region is mapped machine code.
type region struct {
	mem   []byte
	count *codeBytes
}

// mapCode maps the engine's code.
func (e *engine) mapCode(text []byte) (*region, error) {
	if e.refuseMemory != nil {
		return nil, &NoCodeError{Why: WhyMemory, Err: e.refuseMemory}
	}
	return mapCode(text, &e.mapped)
}

// mapCode maps code: writable while it is copied, executable after.
func mapCode(code []byte, count *codeBytes) (*region, error) {
	page := syscall.Getpagesize()
	n := (len(code) + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, &NoCodeError{Why: WhyMemory, Err: err}
	}
	copy(m, code)
	if err := syscall.Mprotect(m, syscall.PROT_READ|syscall.PROT_EXEC); err != nil {
		_ = syscall.Munmap(m)
		return nil, &NoCodeError{Why: WhyMemory, Detail: "the host does not let it be executed", Err: err}
	}
	count.Add(int64(n))
	return &region{m, count}, nil
}

func (r *region) base() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(r.mem))) }

func (r *region) free() {
	r.count.Add(-int64(len(r.mem)))
	_ = syscall.Munmap(r.mem)
	r.mem = nil
}

// hole is a mapped page without access.
type hole struct {
	mem  []byte
	addr uint64
}

func newHole() (*hole, error) {
	m, err := syscall.Mmap(-1, 0, syscall.Getpagesize(), syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("jit: %w", err)
	}
	return &hole{m, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m))))}, nil
}

func (h *hole) close() { _ = syscall.Munmap(h.mem) }
