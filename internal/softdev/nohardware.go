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
	noProcess  = "the state of processes cannot be saved"
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
	{"CheckpointProcessGetRestoreThreadId", needsNothing, invalidValue, false, noProcess},
	{"CheckpointProcessGetState", needsNothing, invalidValue, false, noProcess},
	{"CheckpointProcessLock", needsNothing, noSystem, false, noProcess},
	{"CheckpointProcessCheckpoint", needsNothing, noSystem, false, noProcess},
	{"CheckpointProcessRestore", needsNothing, noSystem, false, noProcess},
	{"CheckpointProcessUnlock", needsNothing, noSystem, false, noProcess},
	{"FlushGPUDirectRDMAWrites", needsContext, invalidValue, false,
		"no other device writes to the memory (CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED)"},
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
	if a.why == noProcess {
		if r, known := d.ofProcess(args[1:]); known {
			return r
		}
	}
	d.explain(c, "cu%s: %s", a.name, a.why)
	return notSupported
}

// ofProcess is what a function about a process answers before it would have to save one (recorded: reach/checkpoint):
// there has to be such a process, and CUDA has to run in it.
func (d *Driver) ofProcess(args []reflect.Value) (r driver.CUresult, known bool) {
	pid := int(args[0].Int())
	switch {
	case !processRuns(pid):
		return noSystem, true
	case pid != os.Getpid():
		return 0, false
	}
	if r := d.ready(); r != success {
		return r, true
	}
	if state, ok := args[1].Interface().(*driver.CUprocessState); ok {
		*state = driver.CU_PROCESS_STATE_RUNNING // nothing can bring it into another
		return success, true
	}
	return 0, false
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
	switch a.name {
	case "CheckpointProcessLock", "CheckpointProcessCheckpoint", "CheckpointProcessRestore", "CheckpointProcessUnlock":
		return args[0].Int() <= 0 // no process; the second argument may be NULL
	case "FlushGPUDirectRDMAWrites": // recorded: of targets only the current context, and of scopes the two
		scope := driver.CUflushGPUDirectRDMAWritesScope(args[1].Uint())
		return args[0].Uint() != uint64(driver.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX) ||
			scope != driver.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER &&
				scope != driver.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES
	}
	for _, x := range args {
		if x.Kind() == reflect.Pointer && x.IsNil() || x.Kind() == reflect.Uintptr && x.Uint() == 0 {
			return true
		}
	}
	return false
}
