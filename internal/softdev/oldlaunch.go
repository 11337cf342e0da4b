package softdev

import (
	"encoding/binary"
	"math"
	"sync"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// oldLaunch is what cuFuncSetBlockShape, cuFuncSetSharedSize and cuParamSet leave in a function for cuLaunch and
// cuLaunchGrid (deprecated since CUDA 4.0).
type oldLaunch struct {
	mu     sync.Mutex
	block  [3]uint32
	shared uint32
	size   uint32
	bytes  []byte
}

// paramsMax is the largest size of all parameters, in bytes (PTX ISA 8.1, .param).
const paramsMax = 32764

// legacyFunction resolves a handle for these calls, which look for a current context first.
func (d *Driver) legacyFunction(cur driver.CUcontext, h driver.CUfunction) (*function, driver.CUresult) {
	if _, r := d.enter(cur); r != success {
		return nil, r
	}
	return d.function(h)
}

func (d *Driver) funcSetBlockShape(cur driver.CUcontext, h driver.CUfunction, x, y, z int32) driver.CUresult {
	f, r := d.legacyFunction(cur, h)
	if r != success {
		return r
	}
	limits := &f.mod.ctx.dev.limits
	if x <= 0 || y <= 0 || z <= 0 || uint32(x) > limits.block[0] || uint32(y) > limits.block[1] ||
		uint32(z) > limits.block[2] ||
		int64(x)*int64(y)*int64(z) > int64(f.entry.maxThreads(f.mod.ctx.dev)) {
		return invalidValue
	}
	f.old.mu.Lock()
	defer f.old.mu.Unlock()
	f.old.block = [3]uint32{uint32(x), uint32(y), uint32(z)}
	return success
}

func (d *Driver) funcSetSharedSize(cur driver.CUcontext, h driver.CUfunction, n uint32) driver.CUresult {
	f, r := d.legacyFunction(cur, h)
	if r != success {
		return r
	}
	if err := f.prepare(); err != nil {
		return f.fail(err)
	}
	if uint64(n) > uint64(f.tune.maxDynamicShared(f.mod.ctx.dev, f.entry.shared(f.kernel))) {
		return invalidValue
	}
	f.old.mu.Lock()
	defer f.old.mu.Unlock()
	f.old.shared = n
	return success
}

func (d *Driver) paramSetSize(cur driver.CUcontext, h driver.CUfunction, n uint32) driver.CUresult {
	f, r := d.legacyFunction(cur, h)
	if r != success {
		return r
	}
	if n = (n + 3) &^ 3; n > paramsMax { // in 32 bits, so that -1 is 0 (recorded: it is taken, and 40,000 is not)
		return invalidValue
	}
	f.old.mu.Lock()
	defer f.old.mu.Unlock()
	f.old.size = n
	return success
}

func (d *Driver) paramSet(cur driver.CUcontext, h driver.CUfunction, offset int32, b []byte) driver.CUresult {
	f, r := d.legacyFunction(cur, h)
	if r != success {
		return r
	}
	end := int64(offset) + int64(len(b))
	if offset < 0 || end > int64(paramsMax) {
		return invalidValue
	}
	f.old.mu.Lock()
	defer f.old.mu.Unlock()
	if int64(len(f.old.bytes)) < end {
		f.old.bytes = append(f.old.bytes, make([]byte, end-int64(len(f.old.bytes)))...)
	}
	copy(f.old.bytes[offset:], b)
	return success
}

func (d *Driver) paramSeti(cur driver.CUcontext, h driver.CUfunction, offset int32, v uint32) driver.CUresult {
	return d.paramSet(cur, h, offset, binary.NativeEndian.AppendUint32(nil, v))
}

func (d *Driver) paramSetf(cur driver.CUcontext, h driver.CUfunction, offset int32, v float32) driver.CUresult {
	return d.paramSet(cur, h, offset, binary.NativeEndian.AppendUint32(nil, math.Float32bits(v)))
}

func (d *Driver) paramSetv(cur driver.CUcontext, h driver.CUfunction, offset int32, p unsafe.Pointer,
	n uint32) driver.CUresult {
	if p == nil {
		if _, r := d.legacyFunction(cur, h); r != success {
			return r
		}
		return invalidValue
	}
	return d.paramSet(cur, h, offset, unsafe.Slice((*byte)(p), n))
}

func (d *Driver) launch(cur driver.CUcontext, h driver.CUfunction) driver.CUresult {
	return d.launchGridAsync(cur, h, 1, 1, 0)
}

func (d *Driver) launchGrid(cur driver.CUcontext, h driver.CUfunction, x, y int32) driver.CUresult {
	return d.launchGridAsync(cur, h, x, y, 0)
}

func (d *Driver) launchGridAsync(cur driver.CUcontext, h driver.CUfunction, x, y int32,
	stream driver.CUstream) driver.CUresult {
	f, r := d.legacyFunction(cur, h)
	if r != success {
		return r
	}
	if x <= 0 || y <= 0 {
		return invalidValue
	}
	if err := f.prepare(); err != nil {
		return f.fail(err)
	}
	q, shared, buf := f.old.launched()
	if uint64(len(buf)) > (f.end+3)&^3 { // as cuParamSetSize rounds
		return driver.CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES // recorded
	}
	for i := range q {
		q[i] = max(q[i], 1) // a shape that nobody set is one thread (recorded)
	}
	// The bytes are laid out as the driver lays parameters out: parameter i at its offset.
	params := make([]unsafe.Pointer, len(f.entry.fn.Params))
	offs, end := f.entry.paramOffsets()
	if n := int(end) - len(buf); n > 0 {
		buf = append(buf, make([]byte, n)...) // parameters that nobody set are zero (recorded: the launch goes ahead)
	}
	for i, off := range offs {
		params[i] = unsafe.Pointer(&buf[off])
	}
	return d.launchKernel(cur, h, uint32(x), uint32(y), 1, q[0], q[1], q[2], shared, stream, unsafe.SliceData(params),
		nil)
}

// launched is what the next launch takes of what was set: the block, the dynamic shared memory and the parameters'
// bytes.
func (o *oldLaunch) launched() (block [3]uint32, shared uint32, buf []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	buf = append(make([]byte, 0, o.size), o.bytes[:min(len(o.bytes), int(o.size))]...)
	return o.block, o.shared, append(buf, make([]byte, int(o.size)-len(buf))...)
}
