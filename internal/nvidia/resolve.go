//go:build !gocuda_nodriver && (linux || windows) && (amd64 || arm64)

package nvidia

import (
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/gocuda/cuda/internal/driver"
)

// entry says how to find a symbol.
type entry struct {
	name    string // C symbol, for dlsym
	base    string // name that cuGetProcAddress takes
	version int    // CUDA version at which cuGetProcAddress gives this symbol and no other; 0: only dlsym finds it
	since   int    // first CUDA version that has it, 0 when not recorded
	flags   uint64 // CUdriverProcAddress_flags
}

// Values of Driver.fn that are no addresses.
const (
	unresolvedSymbol = iota
	missingSymbol
	closedSymbol
	firstAddress = 4096
)

// resolve finds a symbol for the first call of it. When there is nothing to call, the address is 0 and the result says
// why.
func (d *Driver) resolve(sym int) (uintptr, driver.CUresult) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch fn := d.fn[sym].Load(); {
	case d.closed:
		return 0, driver.CUDA_ERROR_DEINITIALIZED
	case fn >= firstAddress:
		return fn, driver.CUDA_SUCCESS
	case fn == missingSymbol:
		for i := range d.missing {
			if d.missing[i].Name == symbols[sym].name {
				d.last = d.missing[i].Error()
			}
		}
		return 0, driver.CUDA_ERROR_NOT_SUPPORTED
	}
	e := &symbols[sym]
	fn := d.procAddress(e)
	if fn == 0 {
		fn = librarySymbol(d.handle, e.name)
	}
	if fn < firstAddress {
		m := MissingSymbol{Name: e.name, Since: e.since, Have: d.driverVersion(), Library: d.path}
		d.missing = append(d.missing, m)
		d.last = m.Error()
		d.fn[sym].Store(missingSymbol)
		return 0, driver.CUDA_ERROR_NOT_SUPPORTED
	}
	d.fn[sym].Store(fn)
	return fn, driver.CUDA_SUCCESS
}

// procAddress asks the driver for a symbol, with the version pinned. It returns 0 when the driver cannot be asked or
// does not have it.
func (d *Driver) procAddress(e *entry) uintptr {
	if !d.procDone {
		d.proc = librarySymbol(d.handle, "cuGetProcAddress_v2")
		d.procDone = true
	}
	if d.proc == 0 || e.version == 0 {
		return 0
	}
	name := append([]byte(e.base), 0)
	var fn uintptr
	status := driver.CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
	r, _, _ := purego.SyscallN(d.proc, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&fn)),
		uintptr(e.version), uintptr(e.flags), uintptr(unsafe.Pointer(&status)))
	if driver.CUresult(r) != driver.CUDA_SUCCESS || status != driver.CU_GET_PROC_ADDRESS_SUCCESS {
		return 0
	}
	return fn
}

// driverVersion is cuDriverGetVersion, which needs no cuInit; 0 when it fails.
func (d *Driver) driverVersion() int {
	if d.version == 0 {
		var v int32
		fn := librarySymbol(d.handle, "cuDriverGetVersion")
		if fn == 0 {
			return 0
		}
		if r, _, _ := purego.SyscallN(fn, uintptr(unsafe.Pointer(&v))); driver.CUresult(r) != driver.CUDA_SUCCESS {
			return 0
		}
		d.version = int(v)
	}
	return d.version
}
