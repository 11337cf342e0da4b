package softdev

import (
	"bytes"
	"encoding/binary"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// coredumpNameSize is the room for a file name (cuCoredumpGetAttribute: 1023 characters).
const coredumpNameSize = 1024

// coredumps are the attributes of GPU core dumps (coredumpwrite.go). Dumps that the program's user asks for by a pipe
// are not made, and cannot be turned on.
type coredumps struct {
	written    atomic.Bool // the first fault counts
	mu         sync.Mutex
	enabled    bool   // CU_COREDUMP_ENABLE_ON_EXCEPTION
	process    bool   // of the process, not of a context
	file, pipe string // empty: the driver's default names, which cannot be read (recorded)
	flags      uint32
	noHost     bool // CU_COREDUMP_TRIGGER_HOST was set to false
	light      bool // CU_COREDUMP_LIGHTWEIGHT
}

// inherit takes over what is set for the process, as a new context does.
func (x *coredumps) inherit(from *coredumps) {
	from.mu.Lock()
	defer from.mu.Unlock()
	x.file, x.flags, x.noHost, x.light = from.file, from.flags, from.noHost, from.light
	x.enabled = from.enabled
}

// size is the size in bytes of an attribute's value, of a name the room for it; 0 for one that is not there. A context
// does not have the attributes of what the user triggers.
func (x *coredumps) size(attr driver.CUcoredumpSettings) uint64 {
	switch attr {
	case driver.CU_COREDUMP_ENABLE_ON_EXCEPTION, driver.CU_COREDUMP_TRIGGER_HOST, driver.CU_COREDUMP_LIGHTWEIGHT:
		return 1
	case driver.CU_COREDUMP_GENERATION_FLAGS:
		return 4
	case driver.CU_COREDUMP_FILE:
		return coredumpNameSize
	}
	switch {
	case !x.process:
	case attr == driver.CU_COREDUMP_ENABLE_USER_TRIGGER:
		return 1
	case attr == driver.CU_COREDUMP_PIPE:
		return coredumpNameSize
	}
	return 0
}

// fits says whether a value has the right size: exactly its own, or any for a name, which is cut to the room that there
// is (recorded).
func (x *coredumps) fits(attr driver.CUcoredumpSettings, size uint64) bool {
	want := x.size(attr)
	return want == coredumpNameSize || size == want
}

// coredumpGet: with a NULL value only the size is given; of a name that is read it is the number of its characters.
func (d *Driver) coredumpGet(x *coredumps, attr driver.CUcoredumpSettings, v unsafe.Pointer,
	size *uint64) driver.CUresult {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.ask(attr, v, size); r != success || v == nil {
		return r
	}
	room := *size
	if !x.fits(attr, room) {
		return invalidValue
	}
	var data [4]byte
	flag := func(on bool) {
		if on {
			data[0] = 1
		}
	}
	switch attr {
	case driver.CU_COREDUMP_FILE:
		*size = putName(v, room, x.file)
		return success
	case driver.CU_COREDUMP_PIPE:
		*size = putName(v, room, x.pipe)
		return success
	case driver.CU_COREDUMP_ENABLE_ON_EXCEPTION:
		flag(x.enabled)
	case driver.CU_COREDUMP_LIGHTWEIGHT:
		flag(x.light)
	case driver.CU_COREDUMP_TRIGGER_HOST:
		flag(!x.noHost)
	case driver.CU_COREDUMP_GENERATION_FLAGS:
		binary.LittleEndian.PutUint32(data[:], x.flags)
	}
	copy(unsafe.Slice((*byte)(v), room), data[:])
	return success
}

// ask gives the size of an attribute where no value is read or set.
func (x *coredumps) ask(attr driver.CUcoredumpSettings, v unsafe.Pointer, size *uint64) driver.CUresult {
	n := x.size(attr)
	if n == 0 {
		return invalidValue
	}
	if v == nil {
		*size = n
	}
	return success
}

// putName writes a name with a NUL, cut to fit, and returns the number of its characters.
func putName(p unsafe.Pointer, room uint64, name string) uint64 {
	if room == 0 {
		return 0
	}
	room = min(room, uint64(len(name))+1)
	b := unsafe.Slice((*byte)(p), room)
	n := copy(b[:room-1], name)
	b[n] = 0
	return uint64(n)
}

// coredumpSet: with a NULL value it gives the size as coredumpGet does (recorded).
func (d *Driver) coredumpSet(c *context, x *coredumps, attr driver.CUcoredumpSettings, v unsafe.Pointer,
	size *uint64) driver.CUresult {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.ask(attr, v, size); r != success || v == nil {
		return r
	}
	n := *size
	if !x.fits(attr, n) {
		return invalidValue
	}
	switch attr {
	case driver.CU_COREDUMP_LIGHTWEIGHT: // says what is in a dump, and makes none
		x.light = *(*byte)(v) != 0
	case driver.CU_COREDUMP_ENABLE_ON_EXCEPTION:
		x.enabled = *(*byte)(v) != 0
	case driver.CU_COREDUMP_ENABLE_USER_TRIGGER:
		if *(*byte)(v) != 0 {
			d.explain(c, "core dumps are written when a kernel faults, and not when a user asks for one by a pipe")
			return notSupported
		}
	case driver.CU_COREDUMP_TRIGGER_HOST:
		x.noHost = *(*byte)(v) == 0
	case driver.CU_COREDUMP_GENERATION_FLAGS:
		const known = 1<<6 - 1 // CUCoredumpGenerationFlags
		flags := load32(v)
		if flags&^uint32(known) != 0 {
			return invalidValue
		}
		x.flags = flags
	case driver.CU_COREDUMP_FILE, driver.CU_COREDUMP_PIPE:
		if n > coredumpNameSize {
			return invalidValue
		}
		name := unsafe.Slice((*byte)(v), n)
		if n := bytes.IndexByte(name, 0); n >= 0 {
			name = name[:n]
		}
		if attr == driver.CU_COREDUMP_FILE {
			x.file = string(name)
		} else {
			x.pipe = string(name)
		}
	}
	return success
}

func (d *Driver) coredumpGetAttribute(cur driver.CUcontext, attr driver.CUcoredumpSettings, v unsafe.Pointer,
	size *uint64) driver.CUresult {
	if size == nil {
		return invalidValue
	}
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	return d.coredumpGet(&c.coredump, attr, v, size)
}

func (d *Driver) coredumpSetAttribute(cur driver.CUcontext, attr driver.CUcoredumpSettings, v unsafe.Pointer,
	size *uint64) driver.CUresult {
	if size == nil {
		return invalidValue
	}
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	return d.coredumpSet(c, &c.coredump, attr, v, size)
}

func (d *Driver) coredumpGetAttributeGlobal(_ driver.CUcontext, attr driver.CUcoredumpSettings, v unsafe.Pointer,
	size *uint64) driver.CUresult {
	if size == nil {
		return invalidValue
	}
	if r := d.ready(); r != success {
		return r
	}
	return d.coredumpGet(&d.coredump, attr, v, size)
}

func (d *Driver) coredumpSetAttributeGlobal(_ driver.CUcontext, attr driver.CUcoredumpSettings, v unsafe.Pointer,
	size *uint64) driver.CUresult {
	if size == nil {
		return invalidValue
	}
	if r := d.ready(); r != success {
		return r
	}
	return d.coredumpSet(nil, &d.coredump, attr, v, size)
}

// coredumpCallback is a function that is told of core dumps (cuCoredumpRegisterStartCallback and its like, of
// CUDA 13.2, not recorded).
type coredumpCallback struct {
	complete bool // told of the end of a dump, not of its beginning
	fn       driver.CUcoredumpStatusCallback
	data     uintptr
}

// tellDump calls the functions that are told of the beginning of a dump, or of its end.
func (d *Driver) tellDump(dev *device, complete bool) {
	for _, c := range d.dumpCallbacks.all() {
		if c.complete != complete {
			continue
		}
		d.runHostAlone("CUcoredumpStatusCallback", func() {
			if c.fn.Go != nil {
				c.fn.Go(c.data, int32(os.Getpid()), driver.CUdevice(dev.ordinal))
				return
			}
			d.callC(c.fn.C, c.data, uintptr(os.Getpid()), uintptr(dev.ordinal))
		})
	}
}

func (d *Driver) coredumpRegister(complete bool) func(driver.CUcontext, driver.CUcoredumpStatusCallback, uintptr,
	*driver.CUcoredumpCallbackHandle) driver.CUresult {
	return func(_ driver.CUcontext, fn driver.CUcoredumpStatusCallback, data uintptr,
		out *driver.CUcoredumpCallbackHandle) driver.CUresult {
		if fn.IsNil() || out == nil {
			return invalidValue
		}
		if r := d.ready(); r != success {
			return r
		}
		h := d.dumpCallbacks.add(&coredumpCallback{complete, fn, data})
		if h == 0 {
			return driver.CUDA_ERROR_OUT_OF_MEMORY
		}
		*out = driver.CUcoredumpCallbackHandle(h)
		return success
	}
}

func (d *Driver) coredumpDeregister(complete bool) func(driver.CUcontext,
	driver.CUcoredumpCallbackHandle) driver.CUresult {
	return func(_ driver.CUcontext, h driver.CUcoredumpCallbackHandle) driver.CUresult {
		if r := d.ready(); r != success {
			return r
		}
		if c := d.dumpCallbacks.get(uintptr(h)); c == nil || c.complete != complete ||
			d.dumpCallbacks.remove(uintptr(h)) == nil {
			return invalidValue
		}
		return success
	}
}

// diagnosisTable fills in the error log and core dumps.
func (d *Driver) diagnosisTable(t *driver.Table) {
	t.LogsRegisterCallback = d.logsRegisterCallback
	t.LogsUnregisterCallback = d.logsUnregisterCallback
	t.LogsCurrent = d.logsCurrent
	t.LogsDumpToFile = d.logsDumpToFile
	t.LogsDumpToMemory = d.logsDumpToMemory
	t.CoredumpRegisterStartCallback = d.coredumpRegister(false)
	t.CoredumpRegisterCompleteCallback = d.coredumpRegister(true)
	t.CoredumpDeregisterStartCallback = d.coredumpDeregister(false)
	t.CoredumpDeregisterCompleteCallback = d.coredumpDeregister(true)
	t.CoredumpGetAttribute = d.coredumpGetAttribute
	t.CoredumpSetAttribute = d.coredumpSetAttribute
	t.CoredumpGetAttributeGlobal = d.coredumpGetAttributeGlobal
	t.CoredumpSetAttributeGlobal = d.coredumpSetAttributeGlobal
}
