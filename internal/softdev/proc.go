package softdev

import "github.com/gocuda/cuda/internal/driver"

func (d *Driver) init(_ driver.CUcontext, flags uint32) driver.CUresult {
	if d.state.Load() == driverClosed {
		return driver.CUDA_ERROR_DEINITIALIZED
	}
	if flags != 0 {
		return invalidValue
	}
	d.state.CompareAndSwap(driverNew, driverReady)
	return success
}

// driverGetVersion works before cuInit.
func (d *Driver) driverGetVersion(_ driver.CUcontext, out *int32) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	*out = d.version()
	return success
}

func (d *Driver) getErrorName(_ driver.CUcontext, code driver.CUresult, out **byte) driver.CUresult {
	return d.errorText(out, code, driver.CUresult.Name)
}

func (d *Driver) getErrorString(_ driver.CUcontext, code driver.CUresult, out **byte) driver.CUresult {
	return d.errorText(out, code, driver.CUresult.Text)
}

func (d *Driver) errorText(out **byte, code driver.CUresult,
	text func(driver.CUresult) (string, bool)) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	s, ok := text(code)
	if !ok || !code.InVersion(d.version()) {
		*out = nil
		return invalidValue
	}
	*out = d.cString(s)
	return success
}

// getExportTable: the tables behind cuGetExportTable are not public; a program that asks for one it has no use for goes
// on without.
func (d *Driver) getExportTable(_ driver.CUcontext, out *uintptr, id *driver.CUuuid) driver.CUresult {
	if out != nil && id != nil {
		*out = 0
	}
	return invalidValue
}

func (d *Driver) getProcAddress(cur driver.CUcontext, symbol *byte, out *uintptr, version int32,
	flags uint64) driver.CUresult {
	var (
		status driver.CUdriverProcAddressQueryResult
		p      uintptr
		to     *uintptr
	)
	if out != nil {
		to = &p
	}
	r := d.getProcAddressV2(cur, symbol, to, version, flags, &status)
	switch {
	case r != success:
		return r
	case status != driver.CU_GET_PROC_ADDRESS_SUCCESS:
		return driver.CUDA_ERROR_NOT_FOUND // without writing NULL (recorded)
	}
	*out = p
	return success
}

// getProcAddressV2 works before cuInit. A symbol that is missing is a success with a NULL pointer and a status
// (recorded). Without a C library there are no addresses to give.
func (d *Driver) getProcAddressV2(_ driver.CUcontext, symbol *byte, out *uintptr, version int32, flags uint64,
	status *driver.CUdriverProcAddressQueryResult) driver.CUresult {
	const known = uint64(driver.CU_GET_PROC_ADDRESS_LEGACY_STREAM |
		driver.CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
	if symbol == nil || out == nil || flags&^known != 0 || version > d.version() {
		return invalidValue
	}
	if version < 0 {
		version = d.version() // unsigned to the driver, and newer than all (recorded)
	}
	*out = 0
	name, found := driver.ResolveProc(driver.String(symbol), int(version), int(d.version()), flags)
	if found == driver.CU_GET_PROC_ADDRESS_SUCCESS {
		if d.opts.ProcAddr == nil {
			d.explain(nil, "%s has no C address in a Go program", name)
			return notSupported
		}
		if *out = d.opts.ProcAddr(name); *out == 0 {
			found = driver.CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
		}
	}
	if status != nil {
		*status = found
	}
	return success
}

func (d *Driver) profilerStart(cur driver.CUcontext) driver.CUresult {
	_, r := d.enter(cur)
	return r
}

func (d *Driver) profilerStop(cur driver.CUcontext) driver.CUresult {
	_, r := d.enter(cur)
	return r
}

// profilerInitialize is gone from the driver (recorded: whatever the arguments, also before cuInit).
func (d *Driver) profilerInitialize(driver.CUcontext, *byte, *byte, driver.CUoutput_mode) driver.CUresult {
	return notSupported
}
