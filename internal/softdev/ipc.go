package softdev

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// Memory of cuMemAlloc is shared with other processes through its pages: when it is first asked for a handle they move
// to a file that the other process opens (mem.Window.Publish). As on a GPU, other small allocations in the same 2 MiB
// come along.
//
// A handle is 64 bytes: what it is, the published file, and the UUID of the device.

const (
	ipcMemory = 0x4d41_6463 // in the first four bytes, with the file's place in the others
	ipcEvent  = 0x5645_6463
)

// ipcImport is memory that a context has open.
type ipcImport struct {
	key  ipcKey
	p    driver.CUdeviceptr
	refs int
}

type ipcKey struct{ cookie, offset uint64 }

func packHandle(kind uint32, p mem.Published, id [16]byte) (b [64]byte) {
	e := binary.NativeEndian
	e.PutUint32(b[0:], kind)
	e.PutUint32(b[4:], uint32(p.Process))
	e.PutUint64(b[8:], uint64(p.File))
	e.PutUint64(b[16:], p.Cookie)
	e.PutUint64(b[24:], p.Size)
	e.PutUint64(b[32:], p.Offset)
	e.PutUint64(b[40:], p.Bytes)
	copy(b[48:], id[:])
	return b
}

func unpackHandle(kind uint32, b *[64]byte) (p mem.Published, id [16]byte, ok bool) {
	e := binary.NativeEndian
	if e.Uint32(b[0:]) != kind {
		return p, id, false
	}
	p = mem.Published{Process: int32(e.Uint32(b[4:])), File: int32(e.Uint64(b[8:])), Cookie: e.Uint64(b[16:]),
		Size: e.Uint64(b[24:]), Offset: e.Uint64(b[32:]), Bytes: e.Uint64(b[40:])}
	copy(id[:], b[48:])
	return p, id, true
}

// ipcFailure is the result of an error of package mem.
func (d *Driver) ipcFailure(c *context, err error) driver.CUresult {
	d.explain(c, "%s", err.Error())
	var full *mem.OutOfMemoryError
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return notSupported
	case errors.As(err, &full):
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	return driver.CUDA_ERROR_MAP_FAILED
}

// shareable says whether memory can have a handle for other processes: memory of cuMemAlloc, and not what belongs to
// pools, mappings and modules, which have their own ways (cuIpcGetMemHandle: "allocated with cuMemAlloc").
func (a *allocation) shareable(kind mem.Kind) bool {
	return kind == mem.Device && a.use == useProgram && a.pool == nil && a.graph == nil && a.mapped == nil &&
		a.ipc == nil && a.external == nil
}

func (d *Driver) ipcGetMemHandle(cur driver.CUcontext, out *driver.CUipcMemHandle,
	p driver.CUdeviceptr) driver.CUresult {
	if out == nil || p == 0 {
		return invalidValue // even before cuInit (recorded)
	}
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	rng, a, ok := d.memory.find(p)
	if !ok || !a.shareable(rng.Kind) {
		return invalidValue
	}
	w := d.memory.w
	var at mem.Published
	publish := func() driver.CUresult {
		var err error
		if at, err = w.Publish(rng.Base); err != nil {
			return d.ipcFailure(c, err)
		}
		return success
	}
	if w.IsPublished(rng.Base) {
		r = publish()
	} else {
		r = d.freeze(publish)
	}
	if r == success {
		out.Reserved = packHandle(ipcMemory, at, a.device().uuid())
	}
	return r
}

// deviceWithID is the device that another process means.
func (d *Driver) deviceWithID(id [16]byte) (*device, driver.CUresult) {
	for _, dev := range d.devices {
		if dev.uuid() == id {
			return dev, success
		}
	}
	d.explain(nil, "the memory belongs to a device that this process does not have")
	return nil, driver.CUDA_ERROR_INVALID_DEVICE
}

// ipcOpenMemHandle maps another process's memory. A handle that is open in the context gives the same address again, to
// be closed as often (cuIpcOpenMemHandle).
func (d *Driver) ipcOpenMemHandle(cur driver.CUcontext, out *driver.CUdeviceptr, handle driver.CUipcMemHandle,
	flags uint32) driver.CUresult {
	if out == nil {
		return invalidValue // even before cuInit (recorded)
	}
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	// "Must be specified as"; other bits do not matter (recorded)
	if flags&uint32(driver.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) == 0 {
		return invalidValue
	}
	at, id, ok := unpackHandle(ipcMemory, &handle.Reserved)
	if !ok {
		return invalidValue // recorded for handles of zeros and of ones
	}
	if int(at.Process) == os.Getpid() {
		d.explain(c, "the memory is of this process")
		return invalidCtx
	}
	if _, r := d.deviceWithID(id); r != success {
		return r
	}
	key := ipcKey{at.Cookie, at.Offset}
	c.mu.Lock()
	defer c.mu.Unlock()
	if x := c.imports[key]; x != nil {
		x.refs++
		*out = x.p
		return success
	}
	x := &ipcImport{key: key, refs: 1}
	// It counts as memory of the context's device, whosoever it is (recorded): its kernels reach it.
	rng, err := c.dev.heap.OpenPublished(at, &allocation{ctx: c, home: c.dev, ipc: x})
	if err != nil {
		return d.ipcFailure(c, err)
	}
	x.p = driver.CUdeviceptr(rng.Base)
	if c.imports == nil {
		c.imports = map[ipcKey]*ipcImport{}
	}
	c.imports[key] = x
	*out = x.p
	return success
}

func (d *Driver) ipcCloseMemHandle(cur driver.CUcontext, p driver.CUdeviceptr) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	rng, a, ok := d.memory.find(p)
	if !ok || a.ipc == nil || rng.Base != uint64(p) {
		return invalidValue
	}
	if r := d.settle(cur, a); r != success {
		return r
	}
	o := a.ctx
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.imports[a.ipc.key] != a.ipc {
		return invalidValue
	}
	if a.ipc.refs--; a.ipc.refs > 0 {
		return success
	}
	delete(o.imports, a.ipc.key)
	if err := d.memory.w.ClosePublished(rng.Base); err != nil {
		d.explain(c, "%s", err.Error())
		return driver.CUDA_ERROR_UNMAP_FAILED
	}
	return success
}

// closeImports ends what a context that is torn down has open.
func (c *context) closeImports() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.imports {
		_ = c.d.memory.w.ClosePublished(uint64(x.p)) // mapped by ipcOpenMemHandle
	}
	c.imports = nil
}

func (d *Driver) ipcTable(t *driver.Table) {
	t.IpcGetMemHandle = d.ipcGetMemHandle
	t.IpcOpenMemHandle = d.ipcOpenMemHandle
	t.IpcOpenMemHandle_v2 = d.ipcOpenMemHandle
	t.IpcCloseMemHandle = d.ipcCloseMemHandle
	t.IpcGetEventHandle = d.ipcGetEventHandle
	t.IpcOpenEventHandle = d.ipcOpenEventHandle
}

// ipcHost says whether the host lets processes share memory this way.
const ipcHost = runtime.GOOS == "linux" || runtime.GOOS == "darwin"
