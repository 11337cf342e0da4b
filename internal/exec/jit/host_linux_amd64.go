package jit

import (
	"fmt"
	"syscall"
	"unsafe"
)

// What is tied to the host is in host_*.go and enter_linux_amd64.s; the code generator builds everywhere.

// hostError is why machine code cannot run here: nil.
func hostError() error { return nil }

// enter runs machine code; the result says why and where it stopped.
func enter(code uintptr, ctx unsafe.Pointer) uint64

// features is what CPUID says in ECX for leaf 1: bit 29 is F16C, which package cpu does not tell.
func features() uint32

// mapExecutable maps code: writable while it is copied, executable after.
func mapExecutable(code []byte) ([]byte, error) {
	page := syscall.Getpagesize()
	n := (len(code) + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	copy(m, code)
	if err := syscall.Mprotect(m, syscall.PROT_READ|syscall.PROT_EXEC); err != nil {
		_ = syscall.Munmap(m)
		return nil, fmt.Errorf("the host does not let it be executed: %w", err)
	}
	return m, nil
}

// mapHole maps a page without access.
func mapHole() ([]byte, error) {
	return syscall.Mmap(-1, 0, syscall.Getpagesize(), syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

// unmap gives back what mapExecutable or mapHole has mapped.
func unmap(m []byte) { _ = syscall.Munmap(m) }
