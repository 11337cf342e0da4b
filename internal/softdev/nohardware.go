package softdev

import (
	"errors"
	"os"
	"reflect"
	"runtime"
	"syscall"

	"github.com/gocuda/cuda/internal/driver"
)

// absent says how a function answers whose subject the device does not have: graphics, buses.
type absent struct {
	name  string
	needs need
	null  driver.CUresult // for a NULL or 0 argument
	// for every other argument too: the function is about an object that nothing can make, or of an API that is not
	// there
	every bool
	why   string
}

// need is what a function looks at first.
type need int

const (
	needsInit       need = iota // cuInit
	needsNothing                // nothing: the arguments come before cuInit
	needsContext                // a current context
	needsOldContext             // one of the API's first version
)

const (
	noGraphics = "there is no graphics API to share resources with"
)

const noSystem = driver.CUDA_ERROR_OPERATING_SYSTEM // a library or module of the operating system is not there

// absents holds the recorded order of the checks (testdata/null_arguments.json; cases zeros of internal/conform/api).
var absents = []absent{
	{"GraphicsMapResources", needsInit, invalidValue, true, noGraphics},
	{"GraphicsUnmapResources", needsInit, invalidValue, true, noGraphics},
	{"GraphicsUnregisterResource", needsInit, badHandle, true, noGraphics},
	{"GraphicsResourceGetMappedEglFrame", needsInit, badHandle, true, noGraphics},
	{"GraphicsResourceGetMappedMipmappedArray", needsInit, badHandle, true, noGraphics},
	{"GraphicsResourceGetMappedPointer", needsInit, badHandle, true, noGraphics},
	{"GraphicsResourceGetMappedPointer_v2", needsInit, badHandle, true, noGraphics},
	{"GraphicsResourceSetMapFlags", needsInit, badHandle, true, noGraphics},
	{"GraphicsResourceSetMapFlags_v2", needsInit, badHandle, true, noGraphics},
	{"GraphicsSubResourceGetMappedArray", needsInit, badHandle, true, noGraphics},
	{"GraphicsEGLRegisterImage", needsContext, invalidValue, false, noGraphics},
	{"GraphicsGLRegisterBuffer", needsContext, invalidValue, false, noGraphics},
	{"GraphicsGLRegisterImage", needsContext, invalidValue, false, noGraphics},
	{"GraphicsVDPAURegisterOutputSurface", needsContext, invalidCtx, true, noGraphics},
	{"GraphicsVDPAURegisterVideoSurface", needsContext, invalidCtx, true, noGraphics},
	{"GLCtxCreate", needsInit, invalidValue, false, noGraphics},
	{"GLCtxCreate_v2", needsInit, invalidValue, false, noGraphics},
	{"VDPAUCtxCreate", needsInit, invalidValue, false, noGraphics},
	{"VDPAUCtxCreate_v2", needsInit, invalidValue, false, noGraphics},
	{"VDPAUGetDevice", needsInit, invalidValue, false, noGraphics},
	{"GLGetDevices", needsInit, noSystem, true, noGraphics},
	{"GLGetDevices_v2", needsInit, noSystem, true, noGraphics},
	{"GLInit", needsContext, noSystem, true, noGraphics},
	{"GLRegisterBufferObject", needsContext, noSystem, true, noGraphics},
	{"GLMapBufferObject", needsOldContext, invalidValue, true, noGraphics},
	{"GLMapBufferObjectAsync", needsOldContext, invalidValue, true, noGraphics},
	{"GLMapBufferObject_v2", needsContext, invalidValue, true, noGraphics},
	{"GLMapBufferObjectAsync_v2", needsContext, invalidValue, true, noGraphics},
	{"GLSetBufferObjectMapFlags", needsContext, invalidValue, true, noGraphics},
	{"GLUnmapBufferObject", needsContext, invalidValue, true, noGraphics},
	{"GLUnmapBufferObjectAsync", needsContext, invalidValue, true, noGraphics},
	{"GLUnregisterBufferObject", needsContext, invalidValue, true, noGraphics},
	{"EGLStreamConsumerConnect", needsNothing, badHandle, true, noGraphics},
	{"EGLStreamConsumerConnectWithFlags", needsNothing, badHandle, true, noGraphics},
	{"EGLStreamConsumerDisconnect", needsNothing, badHandle, true, noGraphics},
	{"EGLStreamConsumerAcquireFrame", needsNothing, badHandle, true, noGraphics},
	{"EGLStreamConsumerReleaseFrame", needsNothing, badHandle, true, noGraphics},
	{"EGLStreamProducerConnect", needsNothing, badHandle, true, noGraphics},
	{"EGLStreamProducerDisconnect", needsNothing, badHandle, true, noGraphics},
	{"EGLStreamProducerPresentFrame", needsNothing, badHandle, true, noGraphics},
	{"EGLStreamProducerReturnFrame", needsNothing, badHandle, true, noGraphics},
	{"DeviceGetNvSciSyncAttributes", needsInit, badHandle, false, "there is no NvSciSync"},
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
	null := a.every || a.null0(args[1:])
	var c *context
	r := success
	if a.needs != needsNothing {
		r = d.ready()
	}
	if cur := driver.CUcontext(args[0].Uint()); a.needs == needsContext || a.needs == needsOldContext {
		c, r = d.enter(cur)
		if r == success && a.needs == needsOldContext {
			r = d.firstVersion(cur)
		}
	}
	switch {
	case r != success:
		return r
	case null:
		if a.every {
			d.explain(c, "cu%s: %s", a.name, a.why)
		}
		return a.null
	}
	d.explain(c, "cu%s: %s", a.name, a.why)
	return notSupported
}

// processRuns says whether there is a process of that number.
func processRuns(pid int) bool {
	if pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }()
	// on Windows none is found that does not run
	return runtime.GOOS == "windows" || !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// null0 says whether arguments are ones that the function takes for nothing: NULL, or numbers that name nothing.
func (a *absent) null0(args []reflect.Value) bool {
	for _, x := range args {
		if x.Kind() == reflect.Pointer && x.IsNil() || x.Kind() == reflect.Uintptr && x.Uint() == 0 {
			return true
		}
	}
	return false
}
