//go:build !gocuda_nodriver && (linux || windows) && (amd64 || arm64)

package nvidia

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// recapture is a stream that records into a graph that exists, as the driver knows it.
type recapture struct {
	stream    driver.CUstream
	perThread bool // stream 0 is that of the thread
}

func (d *Driver) streamBeginRecaptureToGraph(sym int) func(driver.CUcontext, driver.CUstream,
	driver.CUstreamCaptureMode, driver.CUgraph, driver.CUgraphRecaptureCallback, uintptr) driver.CUresult {
	return func(cur driver.CUcontext, hStream driver.CUstream, mode driver.CUstreamCaptureMode,
		graph driver.CUgraph, fn driver.CUgraphRecaptureCallback, userData uintptr) driver.CUresult {
		if fn.Go == nil {
			return d.call5(sym, cur, uintptr(hStream), uintptr(mode), uintptr(graph), fn.C, userData)
		}
		key := callbacks.Add(&recaptureCall{d: d, run: fn.Go, userData: userData})
		r := d.call5(sym, cur, uintptr(hStream), uintptr(mode), uintptr(graph), recaptureTrampoline(), key)
		if r != driver.CUDA_SUCCESS {
			callbacks.Take(key)
			return r
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.recaptures == nil {
			d.recaptures = make(map[recapture]uintptr)
		}
		d.recaptures[recapture{hStream, sym == symStreamBeginRecaptureToGraph_ptsz}] = key
		return r
	}
}

// streamEndCapture forgets the function of a recapture, whose last call it makes.
func (d *Driver) streamEndCapture(sym int) func(driver.CUcontext, driver.CUstream, *driver.CUgraph) driver.CUresult {
	return func(cur driver.CUcontext, hStream driver.CUstream, graph *driver.CUgraph) driver.CUresult {
		r := d.call2(sym, cur, uintptr(hStream), uintptr(unsafe.Pointer(graph)))
		if r == driver.CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD {
			return r // the capture goes on
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		k := recapture{hStream, sym == symStreamEndCapture_ptsz}
		if key, ok := d.recaptures[k]; ok {
			callbacks.Take(key)
			delete(d.recaptures, k)
		}
		return r
	}
}

func (d *Driver) coredumpRegister(sym int) func(driver.CUcontext, driver.CUcoredumpStatusCallback, uintptr,
	*driver.CUcoredumpCallbackHandle) driver.CUresult {
	return func(cur driver.CUcontext, fn driver.CUcoredumpStatusCallback, userData uintptr,
		handle *driver.CUcoredumpCallbackHandle) driver.CUresult {
		if fn.Go == nil {
			return d.call3(sym, cur, fn.C, userData, uintptr(unsafe.Pointer(handle)))
		}
		key := callbacks.Add(&coredumpCall{d: d, run: fn.Go, userData: userData})
		r := d.call3(sym, cur, coredumpTrampoline(), key, uintptr(unsafe.Pointer(handle)))
		if r != driver.CUDA_SUCCESS {
			callbacks.Take(key)
		} else if handle != nil {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.coredumps == nil {
				d.coredumps = make(map[driver.CUcoredumpCallbackHandle]uintptr)
			}
			d.coredumps[*handle] = key
		}
		return r
	}
}

func (d *Driver) coredumpDeregister(sym int) func(driver.CUcontext, driver.CUcoredumpCallbackHandle) driver.CUresult {
	return func(cur driver.CUcontext, handle driver.CUcoredumpCallbackHandle) driver.CUresult {
		r := d.call1(sym, cur, uintptr(handle))
		if r == driver.CUDA_SUCCESS {
			d.mu.Lock()
			defer d.mu.Unlock()
			callbacks.Take(d.coredumps[handle])
			delete(d.coredumps, handle)
		}
		return r
	}
}
