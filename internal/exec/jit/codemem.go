package jit

import (
	"fmt"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"sync/atomic"
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
		return nil, &plan.NoCodeError{Why: plan.WhyMemory, Err: e.refuseMemory}
	}
	return mapCode(text, &e.mapped)
}

func mapCode(code []byte, count *codeBytes) (*region, error) {
	m, err := mapExecutable(code)
	if err != nil {
		return nil, &plan.NoCodeError{Why: plan.WhyMemory, Err: err}
	}
	count.Add(int64(len(m)))
	return &region{m, count}, nil
}

func (r *region) base() uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(r.mem))) }

func (r *region) free() {
	r.count.Add(-int64(len(r.mem)))
	unmap(r.mem)
	r.mem = nil
}

// hole is a mapped page without access.
type hole struct {
	mem  []byte
	addr uint64
}

func newHole() (*hole, error) {
	m, err := mapHole()
	if err != nil {
		return nil, fmt.Errorf("jit: %w", err)
	}
	return &hole{m, uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m))))}, nil
}

func (h *hole) close() { unmap(h.mem) }
