//go:build linux && cgo

package main

/*
#include <stdio.h>
#include "front.h"

extern char **environ;

static inline const char *gocuda_environ(size_t i) { return environ ? environ[i] : NULL; }

static inline uint64_t gocuda_callback(struct gocuda_front *front, uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return front->callback(fn, a, b, c, d);
}

// What kernels print goes the way of the program's own printf, behind what that has printed before.
static inline void gocuda_print(const void *text, size_t size)
{
	fwrite(text, 1, size, stdout);
	fflush(stdout);
}
*/
import "C"

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/softdev"
)

// The environment variables that this door reads besides those of the software device.
const (
	profileVariable = "GOCUDA_PROFILE" // names of profiles with commas between them, a device for each, as package device reads it
	visibleVariable = "CUDA_VISIBLE_DEVICES"
	traceVariable   = "GOCUDA_TRACE" // errors: every call that fails is told on standard error
)

func start(front *C.struct_gocuda_front) driver.CUresult {
	if err := adoptEnvironment(programEnvironment()); err != nil {
		fmt.Fprintln(os.Stderr, "libcuda.so.1:", err)
		return driver.CUDA_ERROR_NO_DEVICE
	}
	profiles := visible(os.Getenv(profileVariable), os.LookupEnv)
	if len(profiles) == 0 {
		return driver.CUDA_ERROR_NO_DEVICE
	}
	d, err := softdev.New(softdev.Options{Profiles: profiles, Stdout: stdout{}, ProcAddr: addresses(front)})
	if err != nil {
		fmt.Fprintln(os.Stderr, "libcuda.so.1:", err)
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
	core.trace = os.Getenv(traceVariable) == "errors"
	return driver.CUDA_SUCCESS
}

// ours says whether a variable is one that the software device or this door may read.
func ours(name string) bool {
	return strings.HasPrefix(name, "GOCUDA_") || strings.HasPrefix(name, "CUDA_")
}

// programEnvironment is what the program has in its environment now, of what is ours.
func programEnvironment() map[string]string {
	now := map[string]string{}
	for i := C.size_t(0); ; i++ {
		p := C.gocuda_environ(i)
		if p == nil {
			return now
		}
		if name, value, ok := strings.Cut(C.GoString(p), "="); ok && ours(name) {
			now[name] = value
		}
	}
}

// adoptEnvironment makes Go's environment that of the program, of what is ours: Go has the one that the process was started with, and programs set variables before they first use
// the device. C's own environment, which os.Setenv writes too, stays as it is: the values are those that it has.
func adoptEnvironment(now map[string]string) error {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if _, ok := now[name]; ours(name) && !ok {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	for name, value := range now {
		if old, ok := os.LookupEnv(name); ok && old == value {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// visible is the list of profiles, one for each device, that CUDA_VISIBLE_DEVICES leaves of those named: its ordinals in their order, up to the first that is none
// (CUDA C++ Programming Guide, CUDA Environment Variables).
func visible(names string, lookup func(string) (string, bool)) []string {
	all := strings.Split(names, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	list, ok := lookup(visibleVariable)
	if !ok {
		return all
	}
	var out []string
	seen := make([]bool, len(all))
	for _, s := range strings.Split(list, ",") {
		i, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || i < 0 || i >= len(all) || seen[i] {
			break
		}
		seen[i] = true
		out = append(out, all[i])
	}
	return out
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
