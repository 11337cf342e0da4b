package api

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// otherVariable tells a process that it is the other one of a case: case, role, and bytes in hexadecimal.
const otherVariable = "GOCUDA_API_OTHER"

// otherMain is the other process of a case. It does not return.
func otherMain(open func() (*driver.Table, error)) {
	f := strings.Split(os.Getenv(otherVariable), " ")
	payload, err := hex.DecodeString(f[2])
	if err != nil {
		panic(err)
	}
	t, err := open()
	if err != nil {
		panic(err)
	}
	c := Case{Name: f[0], Start: WithContext, index: 0, group: func(of *cases) {
		of.add(f[0], ready(func(e *Env, a, b driver.CUcontext) { roles[f[1]](e, a, b, payload) }))
	}}
	c.Execute(t, "", os.Stdout)
	os.Exit(0)
}

// other runs a role of the case in another process, whose lines follow, and passes descriptors on from number 3.
func (e *Env) other(role string, payload []byte, fds ...int32) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), caseLimit*2/3)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %x", otherVariable, e.name, role, payload))
	for _, fd := range fds {
		f := os.NewFile(uintptr(fd), "shared")
		defer f.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	e.Note("other process")
	if _, werr := e.out.Write(out); werr != nil {
		panic(werr)
	}
	if len(out) > 0 && out[len(out)-1] != '\n' {
		fmt.Fprint(e.out, " -> CRASH\n")
	}
	if err != nil {
		e.Note("other process: %v", err)
	}
	e.Note("first process")
}

// roles are what other processes do.
var roles = map[string]func(e *Env, a, b driver.CUcontext, payload []byte){
	"memory-first":  func(e *Env, a, b driver.CUcontext, p []byte) { e.useShared(a, p) },
	"memory-second": func(e *Env, a, b driver.CUcontext, p []byte) { e.useShared(b, p) },
	"memory-both": func(e *Env, a, b driver.CUcontext, payload []byte) {
		var h driver.CUipcMemHandle
		copy(h.Reserved[:], payload)
		var p, q driver.CUdeviceptr
		e.Do("cuIpcOpenMemHandle_v2", hidden{&p}, named("handle", h), 1)
		e.Do("cuIpcOpenMemHandle_v2", hidden{&q}, named("handle", h), 1)
		e.Note("again the same: %v", p == q)
		e.in(b, func() { e.Do("cuIpcOpenMemHandle_v2", hidden{&q}, named("handle", h), 1) })
		e.Note("in the other context the same: %v", p == q)
		e.pointer(named("opened", q), 1, 2, 9, 10, 13, 16)
		e.Do("cuCtxEnablePeerAccess", b, 0)
		e.Do("cuIpcCloseMemHandle", named("opened", p))
		e.Do("cuIpcCloseMemHandle", named("opened", p))
		e.Do("cuIpcCloseMemHandle", named("opened", p))
		e.in(b, func() { e.Do("cuIpcCloseMemHandle", named("opened", q)) })
	},
	"event": func(e *Env, a, b driver.CUcontext, payload []byte) {
		var h driver.CUipcEventHandle
		copy(h.Reserved[:], payload)
		var x, y driver.CUevent
		e.Do("cuIpcOpenEventHandle", &x, named("handle", h))
		e.Do("cuEventQuery", x)
		e.Do("cuStreamWaitEvent", nil, x, 0)
		e.Do("cuCtxSynchronize")
		e.Do("cuEventRecord", x, nil)
		e.Do("cuEventSynchronize", x)
		e.in(b, func() {
			e.Do("cuIpcOpenEventHandle", &y, named("handle", h))
			e.Do("cuEventQuery", y)
			e.Do("cuStreamWaitEvent", nil, y, 0)
			e.Do("cuCtxSynchronize")
			e.Do("cuEventRecord", y, nil)
		})
		e.Do("cuEventDestroy_v2", x)
	},
	"store": func(e *Env, a, b driver.CUcontext, _ []byte) {
		var h driver.CUmemGenericAllocationHandle
		var prop driver.CUmemAllocationProp
		if e.Do("cuMemImportFromShareableHandle", &h, uintptr(3), 1) != driver.CUDA_SUCCESS {
			return
		}
		e.Do("cuMemGetAllocationPropertiesFromHandle", fields{&prop}, h)
		p := e.mappedFor(h, onDevice, onSecond)
		e.block(p)
		e.in(b, func() { e.block(p) })
		e.Do("cuMemsetD32_v2", p, 0x21, 2)
		e.Do("cuCtxSynchronize")
	},
	"pool": func(e *Env, a, b driver.CUcontext, payload []byte) {
		var pool driver.CUmemoryPool
		var flags driver.CUmemAccess_flags
		var p driver.CUdeviceptr
		if e.Do("cuMemPoolImportFromShareableHandle", &pool, uintptr(3), 1, 0) != driver.CUDA_SUCCESS {
			return
		}
		var data driver.CUmemPoolPtrExportData
		copy(data.Reserved[:], payload)
		for i := range 2 {
			l := driver.CUmemLocation{Type: 1, Id: int32(i)}
			e.Do("cuMemPoolGetAccess", &flags, pool, in{"device-" + itoa(i), &l})
		}
		e.Do("cuMemPoolImportPointer", hidden{&p}, pool, in{"data", &data})
		at := named("imported", p)
		var word uint32
		e.in(b, func() { e.Do("cuMemcpyDtoH_v2", &word, at, 4) })
		e.Do("cuMemcpyDtoH_v2", &word, at, 4)
		d := driver.CUmemAccessDesc{Location: onDevice, Flags: 3}
		e.Do("cuMemPoolSetAccess", pool, in{"device-0=3", &d}, 1)
		e.Do("cuMemcpyDtoH_v2", &word, at, 4)
		e.pointer(at, 1, 2, 9, 13, 16)
		e.in(b, func() { e.Do("cuMemFree_v2", at) })
	},
}

// useShared opens another process's memory in a context, reads it by a copy and by a kernel, and writes.
func (e *Env) useShared(c driver.CUcontext, payload []byte) {
	var h driver.CUipcMemHandle
	copy(h.Reserved[:], payload)
	var p driver.CUdeviceptr
	q := e.allocIn(c, 64, 1)
	f := e.fnIn(c, peerPTX(peerForms[0].body), "k")
	e.Do("cuCtxSetCurrent", c)
	if e.Do("cuIpcOpenMemHandle_v2", hidden{&p}, named("handle", h), 1) != driver.CUDA_SUCCESS {
		return
	}
	at := named("opened", p)
	e.pointer(at, 1, 2, 8, 9, 10, 12, 13, 16)
	var word uint32
	e.Do("cuMemcpyDtoH_v2", &word, at, 4)
	e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, nil, named("{opened,mine}", params{p, q}), nil)
	e.Do("cuCtxSynchronize")
	e.block(q)
	e.Do("cuMemsetD32_v2", at, 0x33, 2)
	e.Do("cuCtxSynchronize")
	e.Do("cuIpcCloseMemHandle", at)
}

func peerShareCases(c *cases) {
	for _, owner := range []string{"first", "second"} {
		of := func(a, b driver.CUcontext) driver.CUcontext {
			if owner == "first" {
				return a
			}
			return b
		}
		for _, role := range []string{"memory-first", "memory-second", "memory-both"} {
			c.twoAlone("ipc/"+owner+"/"+role, func(e *Env, a, b driver.CUcontext) {
				var h driver.CUipcMemHandle
				p := e.allocIn(of(a, b), 4096, 5)
				e.Do("cuIpcGetMemHandle", hidden{&h}, p)
				e.other(role, h.Reserved[:])
				e.block(p)
			})
		}
		c.twoAlone("ipc/"+owner+"/event", func(e *Env, a, b driver.CUcontext) {
			var h driver.CUipcEventHandle
			e.in(of(a, b), func() {
				x := e.event(6)
				e.Must("cuEventRecord", x, nil)
				e.Must("cuEventSynchronize", x)
				e.Do("cuIpcGetEventHandle", hidden{&h}, x)
				e.other("event", h.Reserved[:])
				e.Do("cuEventQuery", x)
				e.Do("cuStreamWaitEvent", nil, x, 0)
				e.Do("cuCtxSynchronize")
			})
		})
	}
	c.twoAlone("ipc/store", func(e *Env, a, b driver.CUcontext) {
		var fd int32
		h := e.store(driver.CUmemAllocationProp{Type: 1, Location: onSecond, RequestedHandleTypes: 1}, granule)
		p := e.mappedFor(h, onSecond)
		e.in(b, func() {
			e.Must("cuMemsetD8_v2", p, 5, 64)
			e.Must("cuCtxSynchronize")
		})
		if e.Do("cuMemExportToShareableHandle", hidden{&fd}, h, 1, 0) == driver.CUDA_SUCCESS {
			e.other("store", nil, fd)
			e.in(b, func() { e.block(p) })
		}
	})
	c.twoAlone("ipc/pool", func(e *Env, a, b driver.CUcontext) {
		var (
			fd   int32
			pool driver.CUmemoryPool
			p    driver.CUdeviceptr
			data driver.CUmemPoolPtrExportData
		)
		e.in(b, func() {
			e.Must("cuMemPoolCreate", &pool, in{"prop", &driver.CUmemPoolProps{AllocType: 1, HandleTypes: 1,
				Location: onSecond}})
			e.Must("cuMemAllocFromPoolAsync", &p, 4096, pool, nil)
			e.Must("cuMemsetD8_v2", p, 5, 64)
			e.Must("cuCtxSynchronize")
		})
		e.Do("cuMemPoolExportPointer", hidden{&data}, named("memory", p))
		if e.Do("cuMemPoolExportToShareableHandle", hidden{&fd}, pool, 1, 0) == driver.CUDA_SUCCESS {
			e.other("pool", unsafe.Slice((*byte)(unsafe.Pointer(&data)), unsafe.Sizeof(data)), fd)
		}
	})
}
