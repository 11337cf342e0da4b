//go:build linux && cgo

package main

/*
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "front.h"

extern char **environ;

static inline const char *gocuda_environ(size_t i) { return environ ? environ[i] : NULL; }

static inline uint64_t gocuda_callback(struct gocuda_front *front, uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return front->callback(fn, a, b, c, d);
}

extern int gocuda_end(void);

static void gocuda_last(void)
{
	int code = gocuda_end();
	if (code) {
		fflush(NULL);
		_exit(code);
	}
}

static inline int gocuda_at_exit(void) { return atexit(gocuda_last); }

// What kernels print goes the way of the program's own printf, behind what that has printed before.
static inline void gocuda_print(const void *text, size_t size)
{
	fwrite(text, 1, size, stdout);
	fflush(stdout);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gocuda/cuda/internal/cudart"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/nvidia"
	"github.com/gocuda/cuda/internal/softdev"
)

func start(front *C.struct_gocuda_front) driver.CUresult {
	lookup := programEnvironment()
	set := env.Read(lookup)
	if err := timers(); err != nil {
		fmt.Fprintln(os.Stderr, "libcuda.so.1:", err)
		return driver.CUDA_ERROR_OPERATING_SYSTEM
	}
	processors()
	if front.driver != nil {
		return startDriver(C.GoString(front.driver), lookup, set.Trace)
	}
	d, err := softdev.New(softdev.Options{
		Profiles: set.Profiles(), Masked: true, LookupEnv: lookup, Stdout: stdout{}, ProcAddr: addresses(front),
	})
	if err != nil {
		if none := new(softdev.NoDeviceError); !errors.As(err, &none) { // which a program may mean
			fmt.Fprintln(os.Stderr, "libcuda.so.1:", err)
		}
		return driver.CUDA_ERROR_NO_DEVICE
	}
	t := d.Table()
	t.CallC = func(fn uintptr, args ...uintptr) uintptr {
		var a [4]C.uint64_t
		for i, v := range args {
			a[i] = C.uint64_t(v)
		}
		return uintptr(C.gocuda_callback(front, C.uint64_t(fn), a[0], a[1], a[2], a[3]))
	}
	per := *t.PerThread
	per.FillNotSupported()
	core.device, core.table, core.perThread = d, t, &per
	core.runtime, core.modules = cudart.New(t, cudart.Options{}), make([]*cudart.Module, 1)
	core.trace = set.Trace == "errors"
	if core.exit = set.CheckExit; d.Checked() {
		C.gocuda_at_exit()
	}
	return driver.CUDA_SUCCESS
}

// startDriver makes the runtime API over the NVIDIA driver: the front is libcudart's, and this program's driver API is
// that driver's own.
func startDriver(path string, lookup env.Lookup, trace string) driver.CUresult {
	d, err := nvidia.Open(nvidia.Options{Path: path, LookupEnv: lookup})
	if err != nil {
		fmt.Fprintln(os.Stderr, "libcudart.so:", err)
		return driver.CUDA_ERROR_SHARED_OBJECT_INIT_FAILED
	}
	core.table = d.Table()
	core.table.FillNotSupported()
	per := *core.table.PerThread
	per.FillNotSupported()
	core.perThread = &per
	core.trace = trace == "errors"
	core.runtime, core.modules = cudart.New(core.table, cudart.Options{Native: true}), make([]*cudart.Module, 1)
	return driver.CUDA_SUCCESS
}

// processors leaves two threads at least in Go. A thread that calls again and again keeps its place for up to 10 ms at
// a time in C too, since the Go runtime looks after it only now and then: alone, it would keep the streams and all
// other threads waiting.
func processors() {
	if runtime.GOMAXPROCS(0) < 2 {
		runtime.GOMAXPROCS(2)
	}
}

// timers has the Go runtime open the two file descriptors that its timers need. It would do so at the first one, and
// end the process if the program had none left by then.
func timers() error {
	var opened []int
	done := func() {
		for _, fd := range opened {
			_ = unix.Close(fd)
		}
	}
	for range 2 {
		fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
		if err != nil {
			done()
			return fmt.Errorf("software device: no file descriptors for timers: %w", err)
		}
		opened = append(opened, fd)
	}
	done()
	time.AfterFunc(time.Hour, func() {}).Stop()
	return nil
}

// programEnvironment finds variables of the program as they are now, of those that the device may read: Go has the
// environment that the process was started with, and programs set variables before they first use the device
// (os.environ of a Python script). It is read once, and C's own is left as it is.
func programEnvironment() env.Lookup {
	now := map[string]string{}
	for i := C.size_t(0); ; i++ {
		p := C.gocuda_environ(i)
		if p == nil {
			break
		}
		name, value, ok := strings.Cut(C.GoString(p), "=")
		if ok && (strings.HasPrefix(name, "GOCUDA_") || strings.HasPrefix(name, "CUDA_")) {
			now[name] = value
		}
	}
	return func(name string) (string, bool) {
		v, ok := now[name]
		return v, ok
	}
}

// addresses finds the front's functions for cuGetProcAddress.
func addresses(front *C.struct_gocuda_front) func(string) uintptr {
	symbols := unsafe.Slice(front.symbols, front.symbol_count)
	return func(name string) uintptr {
		i := sort.Search(len(symbols), func(i int) bool { return C.GoString(symbols[i].name) >= name })
		if i == len(symbols) || C.GoString(symbols[i].name) != name {
			return 0
		}
		return *(*uintptr)(unsafe.Pointer(&symbols[i].address))
	}
}

// stdout is C's.
type stdout struct{}

func (stdout) Write(p []byte) (int, error) {
	if len(p) > 0 {
		C.gocuda_print(unsafe.Pointer(&p[0]), C.size_t(len(p)))
	}
	return len(p), nil
}

// names are the functions by number.
var names = func() (list [driver.NumSymbols]string) {
	for s := range driver.Symbols() {
		list[s.Field] = s.Name
	}
	return list
}

// name is what the documentation calls the function of a call.
func name(fn uint32) string {
	text := names()[fn&functionMask]
	if fn&perThread != 0 {
		text += " (per-thread default stream)"
	}
	return text
}

func trace(fn uint32, cur driver.CUcontext, r driver.CUresult) {
	text := name(fn) + ": " + r.String()
	if detail := core.device.TakeDetail(cur); detail != "" {
		text += ": " + detail
	}
	fmt.Fprintln(os.Stderr, text)
}
