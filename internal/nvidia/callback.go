//go:build !gocuda_nodriver && (linux || windows) && (amd64 || arm64)

package nvidia

import (
	"runtime/debug"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/gocuda/cuda/internal/driver"
)

// callbacks holds the Go functions that C may call. It is the one thing that belongs to the process and not to a
// Driver: a function that C can call cannot be unmade, and there are 2000 at most (purego.NewCallback), so all drivers
// share one per signature; keys are never used again, so a call that comes late finds nothing instead of another's
// function.
var callbacks driver.Registry

// The functions that C can call, made when first needed. Their user data is a key of callbacks.
var (
	hostTrampoline      = sync.OnceValue(func() uintptr { return purego.NewCallback(runHost) })
	streamTrampoline    = sync.OnceValue(func() uintptr { return purego.NewCallback(runStream) })
	asyncTrampoline     = sync.OnceValue(func() uintptr { return purego.NewCallback(runAsync) })
	logsTrampoline      = sync.OnceValue(func() uintptr { return purego.NewCallback(runLogs) })
	releaseTrampoline   = sync.OnceValue(func() uintptr { return purego.NewCallback(runRelease) })
	recaptureTrampoline = sync.OnceValue(func() uintptr { return purego.NewCallback(runRecapture) })
	coredumpTrampoline  = sync.OnceValue(func() uintptr { return purego.NewCallback(runCoredump) })
)

// callback is a registered Go function.
type callback[F any] struct {
	d        *Driver
	run      F
	userData uintptr
	once     bool // forget it when it is called
}

type (
	hostCall   = callback[func(userData uintptr)]
	streamCall = callback[func(stream driver.CUstream, status driver.CUresult, userData uintptr)]
	asyncCall  = callback[func(info *driver.CUasyncNotificationInfo, userData uintptr,
		handle driver.CUasyncCallbackHandle)]
	logsCall      = callback[func(userData uintptr, level driver.CUlogLevel, message *byte, length uint64)]
	recaptureCall = callback[func(userData uintptr, node driver.CUgraphNode,
		original, recaptured *driver.CUgraphNodeParams, status driver.CUgraphRecaptureStatus) driver.CUresult]
	coredumpCall = callback[func(userData uintptr, pid int32, dev driver.CUdevice)]
)

// lookup finds the function of a key. It is nil after the function was unregistered: a call can be on its way at that
// moment.
func lookup[F any](key uintptr) *callback[F] {
	c, ok := callbacks.Get(key).(*callback[F])
	if !ok {
		return nil
	}
	if c.once {
		if c, ok = callbacks.Take(key).(*callback[F]); !ok {
			return nil // another thread was faster
		}
	}
	return c
}

// keepPanics is deferred around every Go callback on a thread of the driver.
func keepPanics(d *Driver, signature string) {
	if v := recover(); v != nil {
		d.keepPanic(&CallbackPanic{Signature: signature, Value: v, Stack: debug.Stack()})
	}
}

// The results of the following functions are for purego, which wants one on Windows; C declares them void.

func runHost(key uintptr) uintptr {
	if c := lookup[func(uintptr)](key); c != nil {
		defer keepPanics(c.d, "CUhostFn")
		c.run(c.userData)
	}
	return 0
}

func runStream(stream, status, key uintptr) uintptr {
	if c := lookup[func(driver.CUstream, driver.CUresult, uintptr)](key); c != nil {
		defer keepPanics(c.d, "CUstreamCallback")
		c.run(driver.CUstream(stream), driver.CUresult(uint32(status)), c.userData)
	}
	return 0
}

func runAsync(info *driver.CUasyncNotificationInfo, key, handle uintptr) uintptr {
	if c := lookup[func(*driver.CUasyncNotificationInfo, uintptr, driver.CUasyncCallbackHandle)](key); c != nil {
		defer keepPanics(c.d, "CUasyncCallback")
		c.run(info, c.userData, driver.CUasyncCallbackHandle(handle))
	}
	return 0
}

func runLogs(key, level uintptr, message *byte, length uintptr) uintptr {
	if c := lookup[func(uintptr, driver.CUlogLevel, *byte, uint64)](key); c != nil {
		defer keepPanics(c.d, "CUlogsCallback")
		c.run(c.userData, driver.CUlogLevel(uint32(level)), message, uint64(length))
	}
	return 0
}

// runRecapture answers CUDA_ERROR_UNKNOWN for a function that panics or is gone, which ends the recapture.
func runRecapture(key, node uintptr, original, recaptured *driver.CUgraphNodeParams, status uintptr) (r uintptr) {
	r = uintptr(driver.CUDA_ERROR_UNKNOWN)
	if c := lookup[func(uintptr, driver.CUgraphNode, *driver.CUgraphNodeParams, *driver.CUgraphNodeParams,
		driver.CUgraphRecaptureStatus) driver.CUresult](key); c != nil {
		defer keepPanics(c.d, "CUgraphRecaptureCallback")
		r = uintptr(c.run(c.userData, driver.CUgraphNode(node), original, recaptured,
			driver.CUgraphRecaptureStatus(uint32(status))))
	}
	return r
}

func runCoredump(key, pid, dev uintptr) uintptr {
	if c := lookup[func(uintptr, int32, driver.CUdevice)](key); c != nil {
		defer keepPanics(c.d, "CUcoredumpStatusCallback")
		c.run(c.userData, int32(pid), driver.CUdevice(int32(dev)))
	}
	return 0
}

// runRelease is the destructor of the user object that ties a captured host function to its graph.
func runRelease(key uintptr) uintptr {
	callbacks.Take(key)
	return 0
}

// hostFunc is Table.HostFunc.
func (d *Driver) hostFunc(run func()) (fn, userData uintptr, release func()) {
	key := callbacks.Add(&hostCall{d: d, run: func(uintptr) { run() }})
	return hostTrampoline(), key, func() { callbacks.Take(key) }
}

func (d *Driver) launchHostFunc(sym int) func(driver.CUcontext, driver.CUstream, driver.CUhostFn,
	uintptr) driver.CUresult {
	return func(cur driver.CUcontext, hStream driver.CUstream, fn driver.CUhostFn, userData uintptr) driver.CUresult {
		return d.hostFuncCall(cur, hStream, fn, userData, sym == symLaunchHostFunc_ptsz,
			func(fn, userData uintptr) driver.CUresult {
				return d.call3(sym, cur, uintptr(hStream), fn, userData)
			})
	}
}

func (d *Driver) launchHostFuncV2(sym int) func(driver.CUcontext, driver.CUstream, driver.CUhostFn, uintptr,
	uint32) driver.CUresult {
	return func(cur driver.CUcontext, hStream driver.CUstream, fn driver.CUhostFn, userData uintptr,
		syncMode uint32) driver.CUresult {
		return d.hostFuncCall(cur, hStream, fn, userData, sym == symLaunchHostFunc_v2_ptsz,
			func(fn, userData uintptr) driver.CUresult {
				return d.call4(sym, cur, uintptr(hStream), fn, userData, uintptr(syncMode))
			})
	}
}

// hostFuncCall queues a host function by call, which gets its address and user data.
func (d *Driver) hostFuncCall(cur driver.CUcontext, hStream driver.CUstream, fn driver.CUhostFn, userData uintptr,
	perThread bool, call func(fn, userData uintptr) driver.CUresult) driver.CUresult {
	if fn.Go == nil {
		return call(fn.C, userData)
	}
	capturing, graph := d.capture(cur, hStream, perThread)
	key := callbacks.Add(&hostCall{d: d, run: fn.Go, userData: userData, once: !capturing})
	r := call(hostTrampoline(), key)
	switch {
	case r != driver.CUDA_SUCCESS:
		callbacks.Take(key)
	case capturing && graph != 0:
		d.tie(cur, key, graph)
	}
	return r
}

// capture reports whether a stream is capturing, in which case a host function becomes a node that runs at each launch
// of the graph, and the graph that is made, 0 when the driver cannot tell (before CUDA 11.3).
func (d *Driver) capture(cur driver.CUcontext, hStream driver.CUstream, perThread bool) (bool, driver.CUgraph) {
	isCapturing, info3, info2 := symStreamIsCapturing, symStreamGetCaptureInfo_v3, symStreamGetCaptureInfo_v2
	if perThread {
		isCapturing, info3, info2 = symStreamIsCapturing_ptsz, symStreamGetCaptureInfo_v3_ptsz,
			symStreamGetCaptureInfo_v2_ptsz
	}
	out := new(struct {
		status driver.CUstreamCaptureStatus
		id     uint64
		graph  driver.CUgraph
	})
	// A failure here (a stream that may not be asked, a bad handle) makes the launch itself fail; a driver before 10.0
	// has no capture.
	if d.call2(isCapturing, cur, uintptr(hStream), uintptr(unsafe.Pointer(&out.status))) != driver.CUDA_SUCCESS ||
		out.status == driver.CU_STREAM_CAPTURE_STATUS_NONE {
		return false, 0
	}
	r := d.call7(info3, cur, uintptr(hStream), uintptr(unsafe.Pointer(&out.status)), uintptr(unsafe.Pointer(&out.id)),
		uintptr(unsafe.Pointer(&out.graph)), 0, 0, 0)
	if r != driver.CUDA_SUCCESS {
		r = d.call6(info2, cur, uintptr(hStream), uintptr(unsafe.Pointer(&out.status)),
			uintptr(unsafe.Pointer(&out.id)), uintptr(unsafe.Pointer(&out.graph)), 0, 0)
	}
	if r != driver.CUDA_SUCCESS {
		return true, 0
	}
	return true, out.graph
}

// tie lets a key live as long as the graph and what is made of it: the graph retains a user object whose destructor
// forgets the key. When that fails the key stays for good, since the function may still be called.
func (d *Driver) tie(cur driver.CUcontext, key uintptr, graph driver.CUgraph) {
	object := new(driver.CUuserObject)
	r := d.call5(symUserObjectCreate, cur, uintptr(unsafe.Pointer(object)), key, releaseTrampoline(), 1,
		uintptr(driver.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC))
	if r == driver.CUDA_SUCCESS {
		_ = d.call4(symGraphRetainUserObject, cur, uintptr(graph), uintptr(*object), 1,
			uintptr(driver.CU_GRAPH_USER_OBJECT_MOVE))
	}
}

func (d *Driver) streamAddCallback(sym int) func(driver.CUcontext, driver.CUstream, driver.CUstreamCallback, uintptr,
	uint32) driver.CUresult {
	return func(cur driver.CUcontext, hStream driver.CUstream, fn driver.CUstreamCallback, userData uintptr,
		flags uint32) driver.CUresult {
		if fn.Go == nil {
			return d.call4(sym, cur, uintptr(hStream), fn.C, userData, uintptr(flags))
		}
		key := callbacks.Add(&streamCall{d: d, run: fn.Go, userData: userData, once: true})
		r := d.call4(sym, cur, uintptr(hStream), streamTrampoline(), key, uintptr(flags))
		if r != driver.CUDA_SUCCESS {
			callbacks.Take(key)
		}
		return r
	}
}

func (d *Driver) userObjectCreate(sym int) func(driver.CUcontext, *driver.CUuserObject, uintptr, driver.CUhostFn,
	uint32, uint32) driver.CUresult {
	return func(cur driver.CUcontext, object *driver.CUuserObject, ptr uintptr, destroy driver.CUhostFn,
		initialRefcount, flags uint32) driver.CUresult {
		if destroy.Go == nil {
			return d.call5(sym, cur, uintptr(unsafe.Pointer(object)), ptr, destroy.C, uintptr(initialRefcount),
				uintptr(flags))
		}
		key := callbacks.Add(&hostCall{d: d, run: destroy.Go, userData: ptr, once: true})
		r := d.call5(sym, cur, uintptr(unsafe.Pointer(object)), key, hostTrampoline(), uintptr(initialRefcount),
			uintptr(flags))
		if r != driver.CUDA_SUCCESS {
			callbacks.Take(key)
		}
		return r
	}
}

func (d *Driver) deviceRegisterAsyncNotification(sym int) func(driver.CUcontext, driver.CUdevice,
	driver.CUasyncCallback, uintptr, *driver.CUasyncCallbackHandle) driver.CUresult {
	return func(cur driver.CUcontext, device driver.CUdevice, fn driver.CUasyncCallback, userData uintptr,
		handle *driver.CUasyncCallbackHandle) driver.CUresult {
		if fn.Go == nil {
			return d.call4(sym, cur, uintptr(device), fn.C, userData, uintptr(unsafe.Pointer(handle)))
		}
		key := callbacks.Add(&asyncCall{d: d, run: fn.Go, userData: userData})
		r := d.call4(sym, cur, uintptr(device), asyncTrampoline(), key, uintptr(unsafe.Pointer(handle)))
		if r != driver.CUDA_SUCCESS {
			callbacks.Take(key)
		} else if handle != nil {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.async == nil {
				d.async = make(map[driver.CUasyncCallbackHandle]uintptr)
			}
			d.async[*handle] = key
		}
		return r
	}
}

func (d *Driver) deviceUnregisterAsyncNotification(sym int) func(driver.CUcontext, driver.CUdevice,
	driver.CUasyncCallbackHandle) driver.CUresult {
	return func(cur driver.CUcontext, device driver.CUdevice, handle driver.CUasyncCallbackHandle) driver.CUresult {
		r := d.call2(sym, cur, uintptr(device), uintptr(handle))
		if r == driver.CUDA_SUCCESS {
			d.mu.Lock()
			defer d.mu.Unlock()
			callbacks.Take(d.async[handle])
			delete(d.async, handle)
		}
		return r
	}
}

func (d *Driver) logsRegisterCallback(sym int) func(driver.CUcontext, driver.CUlogsCallback, uintptr,
	*driver.CUlogsCallbackHandle) driver.CUresult {
	return func(cur driver.CUcontext, fn driver.CUlogsCallback, userData uintptr,
		handle *driver.CUlogsCallbackHandle) driver.CUresult {
		if fn.Go == nil {
			return d.call3(sym, cur, fn.C, userData, uintptr(unsafe.Pointer(handle)))
		}
		key := callbacks.Add(&logsCall{d: d, run: fn.Go, userData: userData})
		r := d.call3(sym, cur, logsTrampoline(), key, uintptr(unsafe.Pointer(handle)))
		if r != driver.CUDA_SUCCESS {
			callbacks.Take(key)
		} else if handle != nil {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.logs == nil {
				d.logs = make(map[driver.CUlogsCallbackHandle]uintptr)
			}
			d.logs[*handle] = key
		}
		return r
	}
}

func (d *Driver) logsUnregisterCallback(sym int) func(driver.CUcontext, driver.CUlogsCallbackHandle) driver.CUresult {
	return func(cur driver.CUcontext, handle driver.CUlogsCallbackHandle) driver.CUresult {
		r := d.call1(sym, cur, uintptr(handle))
		if r == driver.CUDA_SUCCESS {
			d.mu.Lock()
			defer d.mu.Unlock()
			callbacks.Take(d.logs[handle])
			delete(d.logs, handle)
		}
		return r
	}
}
