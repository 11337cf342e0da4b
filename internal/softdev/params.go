package softdev

import (
	"sync"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// paramBuffer is device memory for the parameters of one launch, so that kernels can take their addresses.
type paramBuffer struct {
	bytes []byte
	addr  uint64
	class int
}

// Parameters come in three sizes: most kernels, the limit before PTX 8.1 (4 KiB, rounded up), and the limit since
// (32764 bytes), each with room for the grid's workspace.
var paramSizes = [...]uint64{512, 8 << 10, 64 << 10}

// paramSlab is how much memory the pool takes at once, in bytes.
const paramSlab = 64 << 10

// paramPool keeps parameter buffers of a context.
type paramPool struct {
	mu    sync.Mutex
	free  [len(paramSizes)][]*paramBuffer
	slabs []driver.CUdeviceptr
}

func (p *paramPool) get(c *context, n uint64) (*paramBuffer, driver.CUresult) {
	class := 0
	for class < len(paramSizes)-1 && paramSizes[class] < n {
		class++
	}
	size := paramSizes[class]
	if n > size {
		return nil, invalidValue
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free[class]) == 0 {
		slab, r := c.allocate(c.dev.heap, paramSlab, size, &allocation{use: useInternal})
		if r != success {
			return nil, r
		}
		p.slabs = append(p.slabs, slab)
		for at := uint64(0); at+size <= paramSlab; at += size {
			addr := uint64(slab) + at
			p.free[class] = append(p.free[class], &paramBuffer{unsafe.Slice((*byte)(c.d.memory.w.Ptr(addr)), size),
				addr, class})
		}
	}
	list := p.free[class]
	b := list[len(list)-1]
	p.free[class] = list[:len(list)-1]
	return b, success
}

func (p *paramPool) put(b *paramBuffer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free[b.class] = append(p.free[b.class], b)
}

func (p *paramPool) close(c *context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, slab := range p.slabs {
		_ = c.dev.heap.Free(uint64(slab))
	}
	p.slabs = nil
	p.free = [len(paramSizes)][]*paramBuffer{}
}
