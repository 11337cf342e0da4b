package softdev

import (
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// streamAttributes are the values of cuStreamSetAttribute.
type streamAttributes struct {
	window    driver.CUaccessPolicyWindow
	policy    driver.CUsynchronizationPolicy // plus one, 0 for none set
	domainMap driver.CUlaunchMemSyncDomainMap
	domain    driver.CUlaunchMemSyncDomain
}

// streamOf resolves a stream handle: the special ones in the current context; others know their context.
func (d *Driver) streamOf(cur driver.CUcontext, h driver.CUstream) (*stream, driver.CUresult) {
	switch h {
	case 0, driver.CU_STREAM_LEGACY, driver.CU_STREAM_PER_THREAD:
		c, r := d.enter(cur)
		if r != success {
			return nil, r
		}
		if h == driver.CU_STREAM_PER_THREAD {
			return c.threadStream(), success
		}
		return c.legacy, success
	}
	if r := d.ready(); r != success {
		return nil, r
	}
	s := d.streams.get(uintptr(h))
	if s == nil {
		return nil, badHandle
	}
	return s, s.ctx.fault()
}

// threadStream is the per-thread default stream of the calling thread.
func (c *context) threadStream() *stream {
	s, fresh := c.ofThread(threadID())
	if fresh {
		c.enlist(s)
	}
	return s
}

// ofThread finds or makes the stream of a thread.
func (c *context) ofThread(id uint64) (s *stream, fresh bool) {
	c.order.Lock()
	defer c.order.Unlock()
	if s := c.perThread[id]; s != nil {
		return s, false
	}
	s = newStream(c, streamPerThread, 0, 0)
	if c.perThread == nil {
		c.perThread = map[uint64]*stream{}
	}
	c.perThread[id] = s
	return s, true
}

func (d *Driver) streamCreate(cur driver.CUcontext, out *driver.CUstream, flags uint32) driver.CUresult {
	return d.streamCreateWithPriority(cur, out, flags, 0)
}

func (d *Driver) streamCreateWithPriority(cur driver.CUcontext, out *driver.CUstream, flags uint32,
	priority int32) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	if flags&^uint32(driver.CU_STREAM_NON_BLOCKING) != 0 {
		return invalidValue // before the context (recorded)
	}
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	// A priority out of range becomes the nearest that is in range (cuStreamCreateWithPriority).
	priority = c.dev.clampPriority(priority)
	s := newStream(c, streamOrdinary, flags, priority)
	s.handle = driver.CUstream(d.streams.add(s))
	if s.handle == 0 {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	c.enlist(s)
	*out = s.handle
	return success
}

// streamDestroy returns at once; work that is queued is still done.
func (d *Driver) streamDestroy(_ driver.CUcontext, h driver.CUstream) driver.CUresult {
	s := d.streams.get(uintptr(h))
	if s == nil {
		return badHandle
	}
	if r := d.ready(); r != success {
		return r
	}
	c := s.ctx
	if r := c.fault(); r != success {
		return r
	}
	if d.streams.remove(uintptr(h)) == nil {
		return badHandle
	}
	s.leaveCapture()
	if s.idle() {
		c.forget(s)
	} else {
		s.submit(&op{kind: opTask, task: leave{}})
	}
	return success
}

func (d *Driver) streamQuery(cur driver.CUcontext, h driver.CUstream) driver.CUresult {
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	if r := s.unsafeFor(); r != success {
		return r
	}
	m := s.moment()
	if s.kind == streamLegacy {
		// What is queued in blocking streams is before the legacy stream's next operation.
		var buf [8]point
		for _, p := range s.ctx.tails(buf[:0]) {
			if p.s.order {
				p.s.release()
				return driver.CUDA_ERROR_NOT_READY
			}
		}
	} else if !s.idle() {
		s.release()
		return driver.CUDA_ERROR_NOT_READY
	}
	d.learn(m)
	return s.ctx.fault()
}

func (d *Driver) streamSynchronize(cur driver.CUcontext, h driver.CUstream) driver.CUresult {
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	if r := s.unsafeFor(); r != success {
		return r
	}
	s.synchronize()
	d.settlePools()
	return s.ctx.fault()
}

func (s *stream) synchronize() {
	m := s.moment()
	if s.kind == streamLegacy {
		var buf [8]point
		for _, p := range s.ctx.tails(buf[:0]) {
			if p.s.order {
				p.wait()
			}
		}
	} else {
		s.tail().wait()
	}
	s.ctx.d.learn(m)
	s.ctx.output.flush()
}

func (d *Driver) streamGetPriority(cur driver.CUcontext, h driver.CUstream, out *int32) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	*out = s.priority
	return success
}

func (d *Driver) streamGetFlags(cur driver.CUcontext, h driver.CUstream, out *uint32) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	*out = s.flags
	return success
}

func (d *Driver) streamGetID(cur driver.CUcontext, h driver.CUstream, out *uint64) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	*out = s.id
	return success
}

func (d *Driver) streamGetCtx(cur driver.CUcontext, h driver.CUstream, out *driver.CUcontext) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	*out = s.ctx.handle
	return success
}

func (d *Driver) streamGetCtxV2(cur driver.CUcontext, h driver.CUstream, out *driver.CUcontext,
	green *driver.CUgreenCtx) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	if s.spoiled() { // recorded; that the first version does the same is not
		return driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
	}
	*out = s.ctx.handle
	if green != nil {
		*green = 0
	}
	if s.ctx.green != nil { // one of the two is given
		*out = 0
		if green != nil {
			*green = s.ctx.green.handle
		}
	}
	return success
}

func (d *Driver) streamGetDevice(cur driver.CUcontext, h driver.CUstream, out *driver.CUdevice) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	*out = driver.CUdevice(s.ctx.dev.ordinal)
	return success
}

func (d *Driver) streamGetGreenCtx(cur driver.CUcontext, h driver.CUstream, out *driver.CUgreenCtx) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	*out = 0
	if s.ctx.green != nil {
		*out = s.ctx.green.handle
	}
	return success
}

func (d *Driver) streamGetAttribute(cur driver.CUcontext, h driver.CUstream, id driver.CUstreamAttrID,
	v *driver.CUstreamAttrValue) driver.CUresult {
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	if v == nil {
		return invalidValue
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch id {
	case driver.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
		*v.AccessPolicyWindow() = s.attrs.window
	case driver.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
		*v.SyncPolicy() = s.attrs.policy - 1 // none set reads as -1 (recorded)
	case driver.CU_LAUNCH_ATTRIBUTE_PRIORITY:
		*v.Priority() = s.priority
	case driver.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
		*v.MemSyncDomainMap() = s.attrs.domainMap
	case driver.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
		*v.MemSyncDomain() = s.attrs.domain
	default:
		return invalidValue
	}
	return success
}

func (d *Driver) streamSetAttribute(cur driver.CUcontext, h driver.CUstream, id driver.CUstreamAttrID,
	v *driver.CUstreamAttrValue) driver.CUresult {
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	if v == nil {
		return invalidValue
	}
	if r := s.ctx.dev.validHint(id, v); r != success {
		return r
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch id {
	case driver.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
		s.attrs.window = *v.AccessPolicyWindow()
	case driver.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
		p := *v.SyncPolicy()
		if p < driver.CU_SYNC_POLICY_AUTO || p > driver.CU_SYNC_POLICY_BLOCKING_SYNC {
			return invalidValue
		}
		s.attrs.policy = p + 1
	case driver.CU_LAUNCH_ATTRIBUTE_PRIORITY:
		s.priority = s.ctx.dev.clampPriority(*v.Priority())
	case driver.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
		s.attrs.domainMap = *v.MemSyncDomainMap()
	case driver.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
		s.attrs.domain = *v.MemSyncDomain()
	default:
		return invalidValue
	}
	return success
}

func (d *Driver) streamCopyAttributes(cur driver.CUcontext, dst, src driver.CUstream) driver.CUresult {
	to, r := d.streamOf(cur, dst)
	if r != success {
		return r
	}
	from, r := d.streamOf(cur, src)
	if r != success {
		return r
	}
	if !to.ctx.kin(from.ctx) {
		return invalidValue // recorded
	}
	if to == from {
		return success
	}
	from.mu.Lock()
	attrs := from.attrs
	from.mu.Unlock()
	to.mu.Lock()
	to.attrs = attrs
	to.mu.Unlock()
	return success
}

func (d *Driver) launchHostFunc(cur driver.CUcontext, h driver.CUstream, fn driver.CUhostFn,
	data uintptr) driver.CUresult {
	if fn.IsNil() {
		return invalidValue
	}
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	if fn.Go == nil && d.table.CallC == nil {
		d.explain(s.ctx, "a C function can be called through libcuda.so.1 only")
		return notSupported
	}
	if r := s.admit(); r != success {
		return r
	}
	if s.capturing() {
		p := driver.CUDA_HOST_NODE_PARAMS{Fn: fn.C, UserData: data}
		if fn.Go != nil {
			p.Fn, p.UserData, _ = d.hostFunc(func() { fn.Go(data) })
		}
		return s.captureWork(&hostWork{d: d, fn: fn, data: data, p: p})
	}
	s.submit(&op{kind: opHost, task: &hostFunction{fn, data}})
	return success
}

// launchHostFuncV2 is of CUDA 13.1 and not recorded. How the thread waits that runs host functions makes no difference
// here.
func (d *Driver) launchHostFuncV2(cur driver.CUcontext, h driver.CUstream, fn driver.CUhostFn, data uintptr,
	mode uint32) driver.CUresult {
	if mode > uint32(driver.CU_HOST_TASK_SPINWAIT) {
		return invalidValue
	}
	return d.launchHostFunc(cur, h, fn, data)
}

func (d *Driver) streamAddCallback(cur driver.CUcontext, h driver.CUstream, fn driver.CUstreamCallback, data uintptr,
	flags uint32) driver.CUresult {
	if fn.IsNil() || flags != 0 { // before the context (recorded)
		return invalidValue
	}
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	if fn.Go == nil && d.table.CallC == nil {
		d.explain(s.ctx, "a C function can be called through libcuda.so.1 only")
		return notSupported
	}
	if s.capturing() { // cannot be captured (cuStreamAddCallback)
		return s.spoil(driver.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
	}
	if r := s.admit(); r != success {
		return r
	}
	s.submit(&op{kind: opTask, task: &streamCallback{fn, h, data}})
	return success
}

func (d *Driver) streamAttachMem(cur driver.CUcontext, h driver.CUstream, p driver.CUdeviceptr, n uint64,
	flags uint32) driver.CUresult {
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	switch driver.CUmemAttach_flags(flags) {
	case driver.CU_MEM_ATTACH_GLOBAL, driver.CU_MEM_ATTACH_HOST, driver.CU_MEM_ATTACH_SINGLE:
	default:
		return invalidValue
	}
	rng, a, ok := s.ctx.d.memory.find(p)
	if !ok || a.use != useProgram || rng.Kind != mem.Managed || rng.Base != uint64(p) || n != 0 && n != rng.Size {
		return invalidValue
	}
	if driver.CUmemAttach_flags(flags) == driver.CU_MEM_ATTACH_SINGLE && s.kind != streamOrdinary {
		return invalidValue
	}
	return success
}
