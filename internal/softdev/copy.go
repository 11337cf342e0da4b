package softdev

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// shortCopy is the number of bytes up to which work on an idle stream is done at once instead of by another goroutine,
// which takes a few microseconds to start.
const shortCopy = 256 << 10

// endpoint is one side of a copy.
type endpoint struct {
	p        unsafe.Pointer
	pageable bool
	host     bool // named by a host pointer, or not known to the driver
}

func (m *memory) deviceEnd(addr driver.CUdeviceptr, n uint64) (endpoint, bool) {
	p, ok := m.device(addr, n)
	if !ok {
		m.badCall(uint64(addr), n)
	}
	return endpoint{p: p}, ok
}

func (m *memory) hostEnd(p unsafe.Pointer, n uint64) (endpoint, bool) {
	q, pageable, ok := m.host(p, n)
	if !ok {
		m.badCall(uint64(uintptr(p)), n)
	}
	return endpoint{q, pageable, true}, ok
}

func (m *memory) anyEnd(addr driver.CUdeviceptr, n uint64) (endpoint, bool) {
	if p, ok := m.device(addr, n); ok {
		return endpoint{p: p}, true
	}
	return m.hostEnd(foreign(uint64(addr)), n)
}

// copyNow is a synchronous copy: in order with the legacy stream.
func (c *context) copyNow(dst, src endpoint, n uint64) driver.CUresult {
	r := c.legacy.perform(&op{kind: opCopy, dst: dst.p, src: src.p, n: n})
	c.legacy.copied(dst.p, src.p, false)
	c.output.flush()
	return r
}

// copyLater is an asynchronous copy. Memory that the driver does not know may be gone after the call: what is read from
// it is read now, and what is written to it is written before the call returns (CUDA Driver API, "API synchronization
// behavior").
func (s *stream) copyLater(dst, src endpoint, n uint64) driver.CUresult {
	const staged = 64 << 10
	o := &op{kind: opCopy, dst: dst.p, src: src.p, n: n}
	switch {
	case dst.pageable, src.pageable && (n > staged || s.idle()):
		r := s.perform(o)
		s.copied(dst.p, src.p, true)
		return r
	case src.pageable:
		stage := make([]byte, n)
		o.src = unsafe.Pointer(unsafe.SliceData(stage))
		if r := s.ctx.readHost(o.src, src.p, n); r != success {
			return r
		}
		s.submit(o)
	default:
		s.offer(o, n <= shortCopy)
	}
	return success
}

// offer queues an operation; one that is short is done at once when nothing is before it.
func (s *stream) offer(o *op, short bool) {
	s.put(o)
	if s.q != nil {
		defer s.settle(s.queued)
	}
	defer s.mu.Unlock()
	last := &s.ring[(s.head+s.n-1)&(len(s.ring)-1)]
	if short && s.n == 1 && !s.busy && last.ready() {
		s.take(s.queued)
	} else {
		s.start()
	}
}

// ready says whether nothing that the operation depends on is outstanding.
func (o *op) ready() bool {
	if !o.after.reached() {
		return false
	}
	for _, p := range o.more {
		if !p.reached() {
			return false
		}
	}
	return true
}

// target is the context and stream of a copy or fill: the given stream, or the current context's legacy stream for a
// synchronous one.
func (d *Driver) target(cur driver.CUcontext, stream driver.CUstream, async bool) (*context, *stream, driver.CUresult) {
	if async {
		s, r := d.streamOf(cur, stream)
		if r == success {
			r = s.admit()
		}
		if r != success {
			return nil, nil, r
		}
		return s.ctx, s, success
	}
	c, r := d.enter(cur)
	if r == success {
		r = c.legacy.admit()
	}
	if r != success {
		return nil, nil, r
	}
	return c, c.legacy, success
}

// linearCopy is a copy as a graph node's parameters.
func linearCopy(dst, src endpoint, n uint64) driver.CUDA_MEMCPY3D {
	p := driver.CUDA_MEMCPY3D{WidthInBytes: n, Height: 1, Depth: 1, SrcMemoryType: driver.CU_MEMORYTYPE_DEVICE,
		DstMemoryType: driver.CU_MEMORYTYPE_DEVICE}
	p.SrcDevice, p.DstDevice = driver.CUdeviceptr(uintptr(src.p)), driver.CUdeviceptr(uintptr(dst.p))
	if src.host {
		p.SrcMemoryType, p.SrcDevice, p.SrcHost = driver.CU_MEMORYTYPE_HOST, 0, uintptr(src.p)
	}
	if dst.host {
		p.DstMemoryType, p.DstDevice, p.DstHost = driver.CU_MEMORYTYPE_HOST, 0, uintptr(dst.p)
	}
	return p
}

// linear is the common part of the copies: context, then ends, then the copy. async nil is a synchronous copy.
func (d *Driver) linear(cur driver.CUcontext, n uint64, stream driver.CUstream, async bool,
	ends func(m *memory) (dst, src endpoint, ok bool)) driver.CUresult {
	c, s, r := d.target(cur, stream, async)
	if r != success {
		return r
	}
	if n == 0 {
		return success
	}
	dst, src, ok := ends(d.memory)
	if !ok || !d.memory.writable(dst.p) || !s.ctx.copies(dst.p, n) || !s.ctx.copies(src.p, n) {
		return s.spoil(invalidValue)
	}
	if s.capturing() {
		return s.captureWork(&copyWork{c, linearCopy(dst, src, n)})
	}
	if d.memory.asleep(dst.p, src.p) {
		return invalidValue
	}
	if async {
		return s.copyLater(dst, src, n)
	}
	return c.copyNow(dst, src, n)
}

func (d *Driver) htod(cur driver.CUcontext, dst driver.CUdeviceptr, src unsafe.Pointer, n uint64, s driver.CUstream,
	async bool) driver.CUresult {
	return d.linear(cur, n, s, async, func(m *memory) (to, from endpoint, ok bool) {
		if to, ok = m.deviceEnd(dst, n); ok {
			from, ok = m.hostEnd(src, n)
		}
		return to, from, ok && !m.hostPools(dst, src)
	})
}

func (d *Driver) dtoh(cur driver.CUcontext, dst unsafe.Pointer, src driver.CUdeviceptr, n uint64, s driver.CUstream,
	async bool) driver.CUresult {
	return d.linear(cur, n, s, async, func(m *memory) (to, from endpoint, ok bool) {
		if from, ok = m.deviceEnd(src, n); ok {
			to, ok = m.hostEnd(dst, n)
		}
		return to, from, ok && !m.hostPools(src, dst)
	})
}

func (d *Driver) dtod(cur driver.CUcontext, dst, src driver.CUdeviceptr, n uint64, s driver.CUstream,
	async bool) driver.CUresult {
	return d.linear(cur, n, s, async, func(m *memory) (to, from endpoint, ok bool) {
		if to, ok = m.deviceEnd(dst, n); ok {
			from, ok = m.deviceEnd(src, n)
		}
		return
	})
}

func (d *Driver) anyToAny(cur driver.CUcontext, dst, src driver.CUdeviceptr, n uint64, s driver.CUstream,
	async bool) driver.CUresult {
	return d.linear(cur, n, s, async, func(m *memory) (to, from endpoint, ok bool) {
		if to, ok = m.anyEnd(dst, n); ok {
			from, ok = m.anyEnd(src, n)
		}
		return
	})
}

// hostPools says whether two addresses are both of pools of the host: copies that name one of them as device memory are
// refused (recorded: reach/host-pool/open-host-pool).
func (m *memory) hostPools(dev driver.CUdeviceptr, host unsafe.Pointer) bool {
	of := func(addr driver.CUdeviceptr) bool {
		r, a, ok := m.find(addr)
		return ok && a.pool != nil && r.Kind == mem.Pinned
	}
	return of(dev) && of(driver.CUdeviceptr(uintptr(host)))
}

func (d *Driver) memcpyHtoD(cur driver.CUcontext, dst driver.CUdeviceptr, src unsafe.Pointer,
	n uint64) driver.CUresult {
	return d.htod(cur, dst, src, n, 0, false)
}

func (d *Driver) memcpyHtoDAsync(cur driver.CUcontext, dst driver.CUdeviceptr, src unsafe.Pointer, n uint64,
	s driver.CUstream) driver.CUresult {
	return d.htod(cur, dst, src, n, s, true)
}

func (d *Driver) memcpyDtoH(cur driver.CUcontext, dst unsafe.Pointer, src driver.CUdeviceptr,
	n uint64) driver.CUresult {
	return d.dtoh(cur, dst, src, n, 0, false)
}

func (d *Driver) memcpyDtoHAsync(cur driver.CUcontext, dst unsafe.Pointer, src driver.CUdeviceptr, n uint64,
	s driver.CUstream) driver.CUresult {
	return d.dtoh(cur, dst, src, n, s, true)
}

func (d *Driver) memcpyDtoD(cur driver.CUcontext, dst, src driver.CUdeviceptr, n uint64) driver.CUresult {
	return d.dtod(cur, dst, src, n, 0, false)
}

func (d *Driver) memcpyDtoDAsync(cur driver.CUcontext, dst, src driver.CUdeviceptr, n uint64,
	s driver.CUstream) driver.CUresult {
	return d.dtod(cur, dst, src, n, s, true)
}

func (d *Driver) memcpy(cur driver.CUcontext, dst, src driver.CUdeviceptr, n uint64) driver.CUresult {
	return d.anyToAny(cur, dst, src, n, 0, false)
}

func (d *Driver) memcpyAsync(cur driver.CUcontext, dst, src driver.CUdeviceptr, n uint64,
	s driver.CUstream) driver.CUresult {
	return d.anyToAny(cur, dst, src, n, s, true)
}

// peerContexts checks the contexts of a peer copy; NULL is the current one (recorded).
func (d *Driver) peerContexts(list ...driver.CUcontext) driver.CUresult {
	for _, h := range list {
		if h == 0 {
			continue
		}
		if _, r := d.contextOf(h); r != success {
			return invalidCtx
		}
	}
	return success
}

func (d *Driver) memcpyPeer(cur driver.CUcontext, dst driver.CUdeviceptr, dctx driver.CUcontext, src driver.CUdeviceptr,
	sctx driver.CUcontext, n uint64) driver.CUresult {
	if _, r := d.enter(cur); r != success {
		return r
	}
	if n == 0 {
		return success
	}
	if r := d.peerContexts(dctx, sctx); r != success {
		return r
	}
	return d.dtod(cur, dst, src, n, 0, false)
}

func (d *Driver) memcpyPeerAsync(cur driver.CUcontext, dst driver.CUdeviceptr, dctx driver.CUcontext,
	src driver.CUdeviceptr, sctx driver.CUcontext, n uint64, s driver.CUstream) driver.CUresult {
	if _, r := d.enter(cur); r != success {
		return r
	}
	if n == 0 {
		return success
	}
	if r := d.peerContexts(dctx, sctx); r != success {
		return r
	}
	if t, r := d.streamOf(cur, s); r == success && t.capturing() {
		return t.spoil(driver.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) // recorded
	}
	return d.dtod(cur, dst, src, n, s, true)
}
