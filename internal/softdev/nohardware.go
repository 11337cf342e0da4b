package softdev

import (
	"reflect"

	"github.com/gocuda/cuda/internal/driver"
)

// absent says how a function answers whose subject the device does not have: other APIs' memory and semaphores, graphics, buses.
type absent struct {
	name   string
	first  bool            // the arguments are looked at before cuInit is
	ctx    bool            // a current context is needed
	null   driver.CUresult // for a NULL or 0 argument
	handle bool            // the function is about an object that nothing can make: every handle is as bad as NULL
	why    string
}

const (
	noImport   = "memory and semaphores of other APIs and processes cannot be imported"
	noGraphics = "there is no graphics API to share resources with"
)

// absents holds the recorded order of the checks (testdata/null_arguments.json).
var absents = []absent{
	{"ImportExternalMemory", false, true, invalidValue, false, noImport},
	{"ImportExternalSemaphore", false, true, invalidValue, false, noImport},
	{"DestroyExternalMemory", false, false, invalidValue, true, noImport},
	{"DestroyExternalSemaphore", false, false, invalidValue, true, noImport},
	{"ExternalMemoryGetMappedBuffer", false, false, invalidValue, true, noImport},
	{"ExternalMemoryGetMappedMipmappedArray", false, false, invalidValue, true, noImport},
	{"SignalExternalSemaphoresAsync", false, true, invalidValue, true, noImport},
	{"WaitExternalSemaphoresAsync", false, true, invalidValue, true, noImport},
	{"GraphicsMapResources", false, false, invalidValue, true, noGraphics},
	{"GraphicsUnmapResources", false, false, invalidValue, true, noGraphics},
	{"GraphicsUnregisterResource", false, false, badHandle, true, noGraphics},
	{"GraphicsResourceGetMappedEglFrame", false, false, badHandle, true, noGraphics},
	{"GraphicsResourceGetMappedMipmappedArray", false, false, badHandle, true, noGraphics},
	{"GraphicsResourceGetMappedPointer", false, false, badHandle, true, noGraphics},
	{"GraphicsResourceGetMappedPointer_v2", false, false, badHandle, true, noGraphics},
	{"GraphicsResourceSetMapFlags", false, false, badHandle, true, noGraphics},
	{"GraphicsResourceSetMapFlags_v2", false, false, badHandle, true, noGraphics},
	{"GraphicsSubResourceGetMappedArray", false, false, badHandle, true, noGraphics},
	{"FlushGPUDirectRDMAWrites", false, true, invalidValue, false, "no other device writes to the memory (CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED)"},
	{"DeviceGetNvSciSyncAttributes", false, false, badHandle, false, "there is no NvSciSync"},
}

// absentTable fills in what makes no sense without hardware. Implements still says no for these functions.
func (d *Driver) absentTable(t *driver.Table) {
	v := reflect.ValueOf(t).Elem()
	for _, a := range absents {
		f := v.FieldByName(a.name)
		if !f.IsValid() || !f.IsNil() {
			continue
		}
		d.refused["cu"+a.name] = true
		f.Set(reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
			return []reflect.Value{reflect.ValueOf(d.refuse(a, args))}
		}))
	}
}

func (d *Driver) refuse(a absent, args []reflect.Value) driver.CUresult {
	cur := driver.CUcontext(args[0].Uint())
	null := a.handle
	for _, x := range args[1:] {
		if x.Kind() == reflect.Pointer && x.IsNil() || x.Kind() == reflect.Uintptr && x.Uint() == 0 {
			null = true
		}
	}
	if a.name == "FlushGPUDirectRDMAWrites" && args[1].Uint() == 0 && args[2].Uint() == 0 {
		null = true
	}
	if a.first && null {
		return a.null
	}
	if r := d.ready(); r != success {
		return r
	}
	var c *context
	if a.ctx {
		var r driver.CUresult
		if c, r = d.enter(cur); r != success {
			return r
		}
	}
	if null {
		return a.null
	}
	d.explain(c, "cu%s: %s", a.name, a.why)
	return notSupported
}
