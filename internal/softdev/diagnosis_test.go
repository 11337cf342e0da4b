package softdev

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// The error log holds what LastDetail says (CUDA Driver API, Error Log Management Functions).
func TestErrorLog(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	var seen []string
	var h driver.CUlogsCallbackHandle
	must(t, tab.LogsRegisterCallback(ctx, driver.CUlogsCallback{Go: func(data uintptr, level driver.CUlogLevel,
		message *byte, n uint64) {
		if data == 5 && level == driver.CU_LOG_LEVEL_ERROR {
			seen = append(seen, string(unsafe.Slice(message, n)))
		}
	}}, 5, &h))
	var it driver.CUlogIterator
	must(t, tab.LogsCurrent(ctx, &it, 0))
	fail := func() {
		want(t, "failure", tab.GraphicsGLRegisterBuffer(ctx, new(driver.CUgraphicsResource), 1, 0),
			driver.CUDA_ERROR_NOT_SUPPORTED)
	}
	fail()
	must(t, tab.LogsUnregisterCallback(ctx, h))
	want(t, "twice", tab.LogsUnregisterCallback(ctx, h), bad)
	fail()
	const text = "cuGraphicsGLRegisterBuffer: " + noGraphics
	if len(seen) != 1 || seen[0] != text {
		t.Errorf("callback: %q", seen)
	}
	buf, n, from := make([]byte, 4096), uint64(4096), it
	must(t, tab.LogsDumpToMemory(ctx, &from, &buf[0], &n, 0))
	if got := driver.String(&buf[0]); strings.Count(got, text) != 2 || uint64(len(got)) != n || from != it+2 {
		t.Errorf("%d bytes, iterator %d of %d: %q", n, from, it, got)
	}
	n = 120 // room for the newest
	from = it
	must(t, tab.LogsDumpToMemory(ctx, &from, &buf[0], &n, 0))
	if got := driver.String(&buf[0]); strings.Count(got, text) != 1 {
		t.Errorf("short buffer: %q", got)
	}
	file := filepath.Join(t.TempDir(), "log")
	must(t, tab.LogsDumpToFile(ctx, &it, cstr(file), 0))
	if b, err := os.ReadFile(file); err != nil || strings.Count(string(b), "\n") != 2 {
		t.Errorf("%v %q", err, b)
	}
	must(t, tab.LogsCurrent(ctx, &it, 1)) // flags are not looked at (case logs of internal/conform/api)
}

// Names and flags are kept (cuCoredumpSetAttribute); dumps that a user asks for cannot be turned on.
func TestCoredumpAttributes(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	on, n := byte(1), uint64(1)
	want(t, "by a pipe", tab.CoredumpSetAttributeGlobal(ctx, driver.CU_COREDUMP_ENABLE_USER_TRIGGER,
		unsafe.Pointer(&on), &n), driver.CUDA_ERROR_NOT_SUPPORTED)
	must(t, tab.CoredumpGetAttribute(ctx, driver.CU_COREDUMP_ENABLE_ON_EXCEPTION, unsafe.Pointer(&on), &n))
	if on != 0 {
		t.Error("enabled")
	}
	buf := make([]byte, 1024)
	name := []byte("dump\x00")
	n = uint64(len(name))
	must(t, tab.CoredumpSetAttributeGlobal(ctx, driver.CU_COREDUMP_FILE, unsafe.Pointer(&name[0]), &n))
	n = uint64(len(buf))
	must(t, tab.CoredumpGetAttributeGlobal(ctx, driver.CU_COREDUMP_FILE, unsafe.Pointer(&buf[0]), &n))
	if driver.String(&buf[0]) != "dump" || n != 4 {
		t.Errorf("%q, %d characters", driver.String(&buf[0]), n)
	}
	n = uint64(len(buf))
	must(t, tab.CoredumpGetAttribute(ctx, driver.CU_COREDUMP_FILE, unsafe.Pointer(&buf[0]), &n))
	// the default names are not told (case coredump/attributes of internal/conform/api)
	if driver.String(&buf[0]) != "" || n != 0 {
		t.Errorf("default %q", driver.String(&buf[0]))
	}
	want(t, "unknown", tab.CoredumpGetAttribute(ctx, 99, unsafe.Pointer(&buf[0]), &n), bad)
}
