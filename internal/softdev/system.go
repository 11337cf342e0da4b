package softdev

import (
	"io"
	"sync"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// printBuffer keeps what kernels print until the program synchronises.
type printBuffer struct {
	mu   sync.Mutex
	text []byte
	d    *Driver
}

// flush gives out what has been printed.
func (b *printBuffer) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.text) > 0 {
		b.d.print(b.text)
		b.text = b.text[:0]
	}
}

// deviceHeap is what kernels ask of the system in one context (exec.System): the heap behind malloc in kernels, and
// printing.
type deviceHeap struct {
	c    *context
	mu   sync.Mutex
	live map[uint64]uint64 // bytes of the heap that it takes, by address
	used uint64
}

// Printf implements exec.System. The hardware's buffer drops the oldest text when it is full; here it is given out
// early instead, so that nothing is lost.
func (h *deviceHeap) Printf(text []byte) {
	b := &h.c.output
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, text...)
	if uint64(len(b.text)) >= h.c.limit(driver.CU_LIMIT_PRINTF_FIFO_SIZE) {
		b.d.print(b.text)
		b.text = b.text[:0]
	}
}

// heapAlign is the alignment of what malloc in kernels gives (Programming Guide, "Dynamic Global Memory Allocation"),
// and so the least that an allocation takes of the heap.
const heapAlign = 16

// Malloc implements exec.System: 0 when CU_LIMIT_MALLOC_HEAP_SIZE is used up.
func (h *deviceHeap) Malloc(size uint64) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	limit := h.c.limit(driver.CU_LIMIT_MALLOC_HEAP_SIZE)
	if size == 0 || size > limit {
		return 0
	}
	takes := (size + heapAlign - 1) &^ (heapAlign - 1)
	if h.used+takes > limit {
		return 0
	}
	p, err := h.c.dev.heap.AllocFor(size, mem.MinAlign, &allocation{ctx: h.c, use: useHeap})
	if err != nil {
		return 0
	}
	if h.live == nil {
		h.live = map[uint64]uint64{}
	}
	h.live[p.Base] = takes
	h.used += takes
	return p.Base
}

// Free implements exec.System. Freeing what was not allocated does nothing, as free of NULL.
func (h *deviceHeap) Free(addr uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	size, ok := h.live[addr]
	if !ok {
		return
	}
	delete(h.live, addr)
	h.used -= size
	_ = h.c.dev.heap.Free(addr)
}

// Assert implements exec.System: the message goes to standard error, after what was printed before.
func (h *deviceHeap) Assert(text string) {
	h.c.output.flush()
	d := h.c.d
	d.stdout.Lock()
	defer d.stdout.Unlock()
	_, _ = io.WriteString(d.opts.Stderr, text)
}

func (h *deviceHeap) close(c *context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for addr := range h.live {
		_ = c.dev.heap.Free(addr)
	}
	h.live, h.used = nil, 0
}
