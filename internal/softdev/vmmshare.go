package softdev

import (
	"os"
	"runtime"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// Handles by which processes share memory of cuMemCreate and multicast objects: file descriptors, which the program
// hands over and closes, and handles of a fabric, 64 bytes that hold for processes of the same user as long as the
// process that gave them has the memory. There is a fabric where NVLink joins several devices (device.multicast);
// elsewhere its handles are refused as an H200 without it does (recorded).

const (
	fabricMemory    = 0x4246_6463 // in the first four bytes (packHandle)
	fabricMulticast = 0x5446_6463
)

// openByName says whether memory of a handle is to be one that others open by what the handle says. On systems whose
// memory files have no names it is a file with a name, and no program is to leave one behind that does not need it.
func openByName(p *driver.CUmemAllocationProp) bool {
	return runtime.GOOS == "linux" || p.RequestedHandleTypes&driver.CU_MEM_HANDLE_TYPE_FABRIC != 0
}

// memExportToShareableHandle: file descriptors are copies, which the program closes.
func (d *Driver) memExportToShareableHandle(_ driver.CUcontext, out unsafe.Pointer,
	handle driver.CUmemGenericAllocationHandle, typ driver.CUmemAllocationHandleType, flags uint64) driver.CUresult {
	h, r := d.memHandle(handle)
	if r != success {
		return r
	}
	if out == nil || flags != 0 || typ&shareableTypes == 0 || typ&^shareableTypes != 0 || typ == shareableTypes ||
		typ&h.prop.RequestedHandleTypes == 0 {
		return invalidValue
	}
	if typ == driver.CU_MEM_HANDLE_TYPE_FABRIC {
		handle, ok := h.fabric()
		if !ok {
			d.explain(nil, "the memory has no name by which others could open it")
			return notSupported
		}
		(*driver.CUmemFabricHandle)(out).Data = handle
		return success
	}
	fd, err := h.descriptor()
	if err != nil {
		d.explain(nil, "%s", err.Error())
		return notSupported
	}
	*(*int32)(out) = int32(fd)
	return success
}

func (h *memHandle) descriptor() (uintptr, error) {
	if h.multi != nil {
		return h.multi.team.page.Descriptor()
	}
	return h.store.Descriptor()
}

// fabric is the handle's fabric handle.
func (h *memHandle) fabric() (data [64]byte, ok bool) {
	if h.multi != nil {
		return packHandle(fabricMulticast, h.multi.team.published(), [16]byte{}), true
	}
	p, ok := h.store.Published()
	return packHandle(fabricMemory, p, h.dev.uuid()), ok
}

func (d *Driver) memImportFromShareableHandle(cur driver.CUcontext, out *driver.CUmemGenericAllocationHandle,
	osHandle uintptr, typ driver.CUmemAllocationHandleType) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil || typ == driver.CU_MEM_HANDLE_TYPE_NONE {
		return invalidValue
	}
	switch {
	case typ == driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR:
	case typ == driver.CU_MEM_HANDLE_TYPE_FABRIC && d.noMulticast() == success:
		return d.importFabric(out, osHandle)
	default:
		d.explain(nil, "of the shareable handles only file descriptors are supported, and those of a fabric between "+
			"devices that NVLink joins")
		return notSupported
	}
	if d.noMulticast() == success {
		if t, err := openTeam(mem.OpenPageFile(osHandle, teamPages)); err == nil {
			return d.addMulticast(out, t)
		}
	}
	dev := d.devices[0]
	if c, r := d.attach(cur); r == success {
		dev = c.dev
	}
	return d.importStore(out, dev, typ, func(h *memHandle) (err error) {
		h.store, err = dev.heap.OpenStore(osHandle, h)
		return err
	})
}

// importFabric: which codes a driver has for handles that are none is not recorded.
func (d *Driver) importFabric(out *driver.CUmemGenericAllocationHandle, at uintptr) driver.CUresult {
	if at == 0 {
		return invalidValue
	}
	data := (*driver.CUmemFabricHandle)(foreign(uint64(at))).Data
	if p, _, ok := unpackHandle(fabricMulticast, &data); ok {
		t, err := openTeam(mem.OpenPage(p, teamPages))
		if err != nil {
			d.explain(nil, "%s", err.Error())
			return invalidValue
		}
		return d.addMulticast(out, t)
	}
	p, id, ok := unpackHandle(fabricMemory, &data)
	if !ok {
		d.explain(nil, "the handle is none of a software device's fabric")
		return invalidValue
	}
	dev, r := d.deviceWithID(id)
	if r != success {
		return r
	}
	r = d.importStore(out, dev, driver.CU_MEM_HANDLE_TYPE_FABRIC, func(h *memHandle) (err error) {
		h.store, err = dev.heap.OpenPublishedStore(p, int(p.Process) != os.Getpid(), h)
		return err
	})
	if r == driver.CUDA_ERROR_UNKNOWN {
		return invalidValue
	}
	return r
}

// importStore gives memory that is opened its handle.
func (d *Driver) importStore(out *driver.CUmemGenericAllocationHandle, dev *device,
	typ driver.CUmemAllocationHandleType, open func(*memHandle) error) driver.CUresult {
	h := &memHandle{dev: dev, refs: 1}
	h.prop = driver.CUmemAllocationProp{Type: driver.CU_MEM_ALLOCATION_TYPE_PINNED,
		Location: driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE, Id: dev.ordinal}}
	if typ == driver.CU_MEM_HANDLE_TYPE_FABRIC {
		h.prop.RequestedHandleTypes = typ
	}
	r := d.addStore(out, h, func() error { return open(h) })
	if r == driver.CUDA_ERROR_OPERATING_SYSTEM {
		return driver.CUDA_ERROR_UNKNOWN // recorded for a number that is no file, and for a file that is no memory
	}
	return r
}
