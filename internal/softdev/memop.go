package softdev

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// memOp is one memory operation of a stream: a wait for a value, a write of one, or nothing (barriers, which order what
// is in order already).
type memOp struct {
	kind  driver.CUstreamBatchMemOpType
	p     unsafe.Pointer
	value uint64
	flags uint32
}

type memOps []memOp

func (m memOps) execute(s *stream, skip bool) {
	if !skip {
		m.perform(s.ctx)
		if s.acting != nil {
			m.saw(s.acting)
		}
	}
}

// lost ends a context in which a memory operation has found no memory: not with the error that kernels and copies have
// then (recorded: reach/freed/other-context/write, and freed.c).
func (memOps) lost(c *context, addr uint64) {
	c.fail(driver.CUDA_ERROR_LAUNCH_FAILED, fmt.Sprintf("a memory operation reached %#x, where no memory is when it runs", addr))
}

func (m memOps) perform(c *context) {
	for i := range m {
		m[i].perform(c)
	}
}

func (o *memOp) perform(c *context) {
	switch o.kind {
	case driver.CU_STREAM_MEM_OP_WRITE_VALUE_32:
		atomic.StoreUint32((*uint32)(o.p), uint32(o.value))
		c.d.uninit.filled(o.p, 4)
	case driver.CU_STREAM_MEM_OP_WRITE_VALUE_64:
		atomic.StoreUint64((*uint64)(o.p), o.value)
		c.d.uninit.filled(o.p, 8)
	case driver.CU_STREAM_MEM_OP_WAIT_VALUE_32, driver.CU_STREAM_MEM_OP_WAIT_VALUE_64:
		// Whoever writes the value tells nobody, so that there is nothing but looking again.
		const longest = 200 * time.Microsecond
		for pause := time.Microsecond; !o.holds(); pause = min(2*pause, longest) {
			if c.ended() {
				return
			}
			time.Sleep(pause)
		}
	}
}

// holds evaluates the condition of a wait (CUstreamWaitValue_flags). GEQ compares cyclically: (int)(*addr - value) >=
// 0.
func (o *memOp) holds() bool {
	if o.kind == driver.CU_STREAM_MEM_OP_WAIT_VALUE_32 {
		v, x := atomic.LoadUint32((*uint32)(o.p)), uint32(o.value)
		switch driver.CUstreamWaitValue_flags(o.flags) {
		case driver.CU_STREAM_WAIT_VALUE_GEQ:
			return int32(v-x) >= 0
		case driver.CU_STREAM_WAIT_VALUE_EQ:
			return v == x
		case driver.CU_STREAM_WAIT_VALUE_AND:
			return v&x != 0
		}
		return ^(v | x) != 0
	}
	v, x := atomic.LoadUint64((*uint64)(o.p)), o.value
	switch driver.CUstreamWaitValue_flags(o.flags) {
	case driver.CU_STREAM_WAIT_VALUE_GEQ:
		return int64(v-x) >= 0
	case driver.CU_STREAM_WAIT_VALUE_EQ:
		return v == x
	case driver.CU_STREAM_WAIT_VALUE_AND:
		return v&x != 0
	}
	return ^(v | x) != 0
}

// memOp checks one operation of a batch.
func (m *memory) memOp(p *driver.CUstreamBatchMemOpParams) (memOp, driver.CUresult) {
	o := memOp{kind: *p.Operation()}
	var addr driver.CUdeviceptr
	size := uint64(4)
	switch o.kind {
	case driver.CU_STREAM_MEM_OP_WAIT_VALUE_64, driver.CU_STREAM_MEM_OP_WAIT_VALUE_32:
		w := p.WaitValue()
		addr, o.value, o.flags = w.Address, *w.Value64(), w.Flags
		if o.kind == driver.CU_STREAM_MEM_OP_WAIT_VALUE_32 {
			o.value = uint64(*w.Value())
		} else {
			size = 8
		}
		if o.flags&uint32(driver.CU_STREAM_WAIT_VALUE_FLUSH) != 0 {
			return o, notSupported // CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES is 0
		}
		if o.flags > uint32(driver.CU_STREAM_WAIT_VALUE_NOR) {
			return o, invalidValue
		}
	case driver.CU_STREAM_MEM_OP_WRITE_VALUE_64, driver.CU_STREAM_MEM_OP_WRITE_VALUE_32:
		w := p.WriteValue()
		addr, o.value, o.flags = w.Address, *w.Value64(), w.Flags
		if o.kind == driver.CU_STREAM_MEM_OP_WRITE_VALUE_32 {
			o.value = uint64(*w.Value())
		} else {
			size = 8
		}
		if o.flags != 0 {
			// CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER is for the first version of the calls (recorded)
			return o, invalidValue
		}
	case driver.CU_STREAM_MEM_OP_BARRIER:
		if p.MemoryBarrier().Flags > uint32(driver.CU_STREAM_MEMORY_BARRIER_TYPE_GPU) {
			return o, invalidValue
		}
		return o, success
	case driver.CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
		return o, notSupported
	default:
		return o, invalidValue
	}
	r, a, ok := m.find(addr)
	if !ok || r.Kind == mem.Managed || a.pool != nil { // recorded (freed.c)
		return o, invalidValue
	}
	if o.p, ok = m.device(addr, size); !ok || uint64(addr)%size != 0 {
		return o, invalidValue
	}
	if write := o.kind == driver.CU_STREAM_MEM_OP_WRITE_VALUE_64 ||
		o.kind == driver.CU_STREAM_MEM_OP_WRITE_VALUE_32; write && !m.writable(o.p) {
		return o, invalidValue
	}
	return o, success
}

// batch checks a list of operations. 256 and more are refused (recorded).
func (m *memory) batch(n uint32, params *driver.CUstreamBatchMemOpParams, flags uint32) (memOps, driver.CUresult) {
	const most = 255
	if flags != 0 || n > most || n > 0 && params == nil {
		return nil, invalidValue
	}
	ops := make(memOps, n)
	for i := range ops {
		var r driver.CUresult
		if ops[i], r = m.memOp(&unsafe.Slice(params, n)[i]); r != success {
			return nil, r
		}
	}
	return ops, success
}

func (d *Driver) streamBatchMemOp(cur driver.CUcontext, h driver.CUstream, n uint32,
	params *driver.CUstreamBatchMemOpParams, flags uint32) driver.CUresult {
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	if r := s.admit(); r != success {
		return r
	}
	ops, r := d.memory.batch(n, params, flags)
	if r == success && slices.ContainsFunc(ops, func(o memOp) bool {
		return o.p != nil && !s.ctx.reaches(driver.CUdeviceptr(uintptr(o.p)), 4)
	}) {
		r = invalidValue // recorded
	}
	if r != success {
		return s.spoil(r)
	}
	if n == 0 {
		return success // recorded
	}
	if s.capturing() {
		return s.captureWork(&batchWork{s.ctx, slices.Clone(unsafe.Slice(params, n))})
	}
	waits := slices.ContainsFunc(ops, func(o memOp) bool {
		return o.kind == driver.CU_STREAM_MEM_OP_WAIT_VALUE_32 || o.kind == driver.CU_STREAM_MEM_OP_WAIT_VALUE_64
	})
	s.offer(&op{kind: opTask, task: ops}, !waits)
	return success
}

// memOps1 is what the first versions of the calls answer: the kernel module has them turned off
// (CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1 is 0, and recorded).
func (d *Driver) memOps1(cur driver.CUcontext, h driver.CUstream) driver.CUresult {
	if _, r := d.streamOf(cur, h); r != success {
		return r
	}
	return notSupported
}

func (d *Driver) waitValue(cur driver.CUcontext, h driver.CUstream, kind driver.CUstreamBatchMemOpType,
	addr driver.CUdeviceptr, value uint64, flags uint32) driver.CUresult {
	var p driver.CUstreamBatchMemOpParams
	w := p.WaitValue()
	w.Operation, w.Address, w.Flags = kind, addr, flags
	*w.Value64() = value
	return d.streamBatchMemOp(cur, h, 1, &p, 0)
}

func (d *Driver) writeValue(cur driver.CUcontext, h driver.CUstream, kind driver.CUstreamBatchMemOpType,
	addr driver.CUdeviceptr, value uint64, flags uint32) driver.CUresult {
	var p driver.CUstreamBatchMemOpParams
	w := p.WriteValue()
	w.Operation, w.Address, w.Flags = kind, addr, flags
	*w.Value64() = value
	return d.streamBatchMemOp(cur, h, 1, &p, 0)
}

func (d *Driver) streamWaitValue32(cur driver.CUcontext, h driver.CUstream, addr driver.CUdeviceptr, value uint32,
	flags uint32) driver.CUresult {
	return d.waitValue(cur, h, driver.CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, uint64(value), flags)
}

func (d *Driver) streamWaitValue64(cur driver.CUcontext, h driver.CUstream, addr driver.CUdeviceptr, value uint64,
	flags uint32) driver.CUresult {
	return d.waitValue(cur, h, driver.CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags)
}

func (d *Driver) streamWriteValue32(cur driver.CUcontext, h driver.CUstream, addr driver.CUdeviceptr, value uint32,
	flags uint32) driver.CUresult {
	return d.writeValue(cur, h, driver.CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, uint64(value), flags)
}

func (d *Driver) streamWriteValue64(cur driver.CUcontext, h driver.CUstream, addr driver.CUdeviceptr, value uint64,
	flags uint32) driver.CUresult {
	return d.writeValue(cur, h, driver.CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags)
}
