//go:build !gocuda_nodriver && linux && (amd64 || arm64)

package nvidia

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
)

// noneLeft checks that a test leaves as many registered functions as it found.
func noneLeft(t *testing.T) {
	t.Helper()
	n := callbacks.Len()
	t.Cleanup(func() {
		if callbacks.Len() != n {
			t.Errorf("%d functions are still registered", callbacks.Len()-n)
		}
	})
}

func TestHostFuncRunsOnceOnForeignThread(t *testing.T) {
	noneLeft(t)
	f := openFake(t)
	var sum atomic.Uint64
	for i := range 20 {
		want(t, f.t.LaunchHostFunc(0, 0x51, driver.CUhostFn{Go: func(u uintptr) {
			sum.Add(uint64(u))
		}}, uintptr(i)), driver.CUDA_SUCCESS)
	}
	f.c(t, "fake_wait")
	if sum.Load() != 190 {
		t.Errorf("sum of user data %d, want 190", sum.Load())
	}
	want(t, f.t.LaunchHostFunc(0, 0xbad, driver.CUhostFn{Go: func(uintptr) {}}, 0), driver.CUDA_ERROR_INVALID_HANDLE)
	want(t, f.t.LaunchHostFunc(0, 0, driver.CUhostFn{}, 0), driver.CUDA_ERROR_INVALID_VALUE) // NULL reaches the driver
	want(t, f.t.LaunchHostFunc(0, 0x51, driver.CUhostFn{C: f.sym(t, "fake_c_host")}, 99), driver.CUDA_SUCCESS)
	f.c(t, "fake_wait")
	if got := f.c(t, "fake_c_seen"); got != 99 {
		t.Errorf("the C function saw %d, want 99", got)
	}
}

func TestHostFuncCaptured(t *testing.T) {
	noneLeft(t)
	f := openFake(t)
	before := callbacks.Len()
	n := 0
	f.c(t, "fake_capture", 1)
	want(t, f.t.LaunchHostFunc(0, 0x51, driver.CUhostFn{Go: func(u uintptr) { n += int(u) }}, 10), driver.CUDA_SUCCESS)
	f.c(t, "fake_capture", 0)
	for range 3 {
		f.c(t, "fake_graph_launch")
	}
	if n != 30 {
		t.Errorf("%d after three launches of the graph, want 30", n)
	}
	if callbacks.Len() != before+1 {
		t.Errorf("%d functions registered while the graph lives, want 1", callbacks.Len()-before)
	}
	f.c(t, "fake_graph_destroy") // noneLeft: the user object's destructor ran
}

func TestStreamCallback(t *testing.T) {
	noneLeft(t)
	f := openFake(t)
	var got []any
	cb := driver.CUstreamCallback{Go: func(s driver.CUstream, r driver.CUresult, u uintptr) {
		got = append(got, s, r, u)
	}}
	want(t, f.t.StreamAddCallback(0, 0x51, cb, 5, 0), driver.CUDA_SUCCESS)
	f.c(t, "fake_wait")
	if len(got) != 3 || got[0] != driver.CUstream(0x51) || got[1] != driver.CUDA_ERROR_ILLEGAL_ADDRESS ||
		got[2] != uintptr(5) {
		t.Errorf("arguments %v", got)
	}
	want(t, f.t.StreamAddCallback(0, 0x51, cb, 5, 1), driver.CUDA_ERROR_INVALID_VALUE)
}

func TestUserObject(t *testing.T) {
	noneLeft(t)
	f := openFake(t)
	var object driver.CUuserObject
	var seen uintptr
	want(t, f.t.UserObjectCreate(0, &object, 123, driver.CUhostFn{Go: func(p uintptr) {
		seen = p
	}}, 1, 1), driver.CUDA_SUCCESS)
	want(t, f.t.UserObjectRelease(0, object, 1), driver.CUDA_SUCCESS)
	if seen != 123 {
		t.Errorf("the destructor saw %d, want 123", seen)
	}
	want(t, f.t.UserObjectCreate(0, &object, 123, driver.CUhostFn{Go: func(uintptr) {}}, 1, 0),
		driver.CUDA_ERROR_INVALID_VALUE)
}

func TestLongLivedCallbacks(t *testing.T) {
	noneLeft(t)
	f := openFake(t)
	var ah driver.CUasyncCallbackHandle
	type note struct {
		info driver.CUasyncNotificationType
		user uintptr
		h    driver.CUasyncCallbackHandle
	}
	var notes []note
	cb := driver.CUasyncCallback{Go: func(i *driver.CUasyncNotificationInfo, u uintptr,
		h driver.CUasyncCallbackHandle) {
		notes = append(notes, note{i.Type, u, h})
	}}
	want(t, f.t.DeviceRegisterAsyncNotification(0, 0, cb, 8, &ah), driver.CUDA_SUCCESS)
	f.c(t, "fake_notify")
	f.c(t, "fake_notify")
	want(t, f.t.DeviceUnregisterAsyncNotification(0, 0, 1), driver.CUDA_ERROR_INVALID_HANDLE)
	f.c(t, "fake_notify")
	want(t, f.t.DeviceUnregisterAsyncNotification(0, 0, ah), driver.CUDA_SUCCESS)
	f.c(t, "fake_notify") // on its way when it was unregistered: nothing happens
	if len(notes) != 3 || notes[0] != (note{42, 8, 0xa5}) {
		t.Errorf("notes %v", notes)
	}
	want(t, f.t.DeviceRegisterAsyncNotification(0, 1, cb, 8, &ah), driver.CUDA_ERROR_INVALID_DEVICE)

	var lh driver.CUlogsCallbackHandle
	var lines []string
	want(t, f.t.LogsRegisterCallback(0, driver.CUlogsCallback{Go: func(u uintptr, l driver.CUlogLevel, m *byte,
		n uint64) {
		lines = append(lines, driver.String(m)[:n])
		if u != 6 || l != driver.CU_LOG_LEVEL_WARNING {
			t.Errorf("user data %d, level %d", u, l)
		}
	}}, 6, &lh), driver.CUDA_SUCCESS)
	f.c(t, "fake_log")
	want(t, f.t.LogsUnregisterCallback(0, lh), driver.CUDA_SUCCESS)
	f.c(t, "fake_log")
	if len(lines) != 1 || lines[0] != "hello" {
		t.Errorf("lines %q", lines)
	}
}

func TestTableHostFunc(t *testing.T) {
	noneLeft(t)
	f := openFake(t)
	n := 0
	fn, user, release := f.t.HostFunc(func() { n++ })
	// what a driver does with the members of CUDA_HOST_NODE_PARAMS
	for range 2 {
		want(t, f.t.LaunchHostFunc(0, 0x51, driver.CUhostFn{C: fn}, user), driver.CUDA_SUCCESS)
		f.c(t, "fake_wait")
	}
	release()
	want(t, f.t.LaunchHostFunc(0, 0x51, driver.CUhostFn{C: fn}, user), driver.CUDA_SUCCESS)
	f.c(t, "fake_wait")
	if n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
}

// The test library adds size(limit), size(limit/2), ..., size(1) in grid.
func TestOccupancy(t *testing.T) {
	f := openFake(t)
	var grid, block int32
	size := driver.CUoccupancyB2DSize{Go: func(b int32) uint64 { return uint64(b) * 2 }}
	for _, cur := range []driver.CUcontext{0, 0x7700} {
		want(t, f.t.OccupancyMaxPotentialBlockSize(cur, &grid, &block, 1, size, 0, 1024), driver.CUDA_SUCCESS)
		if grid != 2*2047 || block != 1024 {
			t.Errorf("Go function: %d, %d", grid, block)
		}
		want(t, f.t.OccupancyMaxPotentialBlockSizeWithFlags(cur, &grid, &block, 1, size, 0, 4, 1), driver.CUDA_SUCCESS)
		if grid != 2*7 || block != 5 {
			t.Errorf("Go function, flags: %d, %d", grid, block)
		}
	}
	want(t, f.t.OccupancyMaxPotentialBlockSize(0, &grid, &block, 1,
		driver.CUoccupancyB2DSize{C: f.sym(t, "fake_c_size")}, 0, 4), driver.CUDA_SUCCESS)
	if grid != 3*7 {
		t.Errorf("C function: %d", grid)
	}
	want(t, f.t.OccupancyMaxPotentialBlockSize(0, &grid, &block, 1, driver.CUoccupancyB2DSize{}, 5, 4),
		driver.CUDA_SUCCESS)
	if grid != 15 {
		t.Errorf("NULL: %d", grid)
	}

	// each running call has its own function, and a call can be made inside of one
	var wg sync.WaitGroup
	for g := range 3 * maxOccupancySlots {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var grid, block, inner int32
			r := f.t.OccupancyMaxPotentialBlockSize(0, &grid, &block, 1,
				driver.CUoccupancyB2DSize{Go: func(b int32) uint64 {
					if b == 1 && g == 0 {
						f.t.OccupancyMaxPotentialBlockSize(0, &inner, &block, 1, size, 0, 1)
					}
					return uint64(g)
				}}, 0, 256)
			if r != driver.CUDA_SUCCESS || grid != int32(9*g) || g == 0 && inner != 2 {
				t.Errorf("goroutine %d: %v %d %d", g, r, grid, inner)
			}
		}()
	}
	wg.Wait()
	slots.mu.Lock()
	defer slots.mu.Unlock()
	if len(slots.free) != slots.made || slots.made > maxOccupancySlots {
		t.Errorf("%d of %d slots are free", len(slots.free), slots.made)
	}
}

func TestCallbackPanics(t *testing.T) {
	noneLeft(t)
	f := openFake(t)
	if p := f.CallbackPanic(); p != nil {
		t.Fatal(p)
	}
	boom := errors.New("boom")
	want(t, f.t.LaunchHostFunc(0, 0x51, driver.CUhostFn{Go: func(uintptr) { panic(boom) }}, 0), driver.CUDA_SUCCESS)
	f.c(t, "fake_wait")
	p := f.CallbackPanic()
	if p == nil || p.Signature != "CUhostFn" || !errors.Is(p, boom) ||
		!strings.Contains(string(p.Stack), "TestCallbackPanics") {
		t.Errorf("kept: %+v", p)
	}
	if p := f.CallbackPanic(); p != nil {
		t.Errorf("kept twice: %v", p)
	}

	// inside the call the panic goes on in the caller
	calls := 0
	func() {
		defer func() {
			if v := recover(); v != boom {
				t.Errorf("recovered %v, want %v", v, boom)
			}
		}()
		var grid, block int32
		f.t.OccupancyMaxPotentialBlockSize(0, &grid, &block, 1, driver.CUoccupancyB2DSize{Go: func(int32) uint64 {
			calls++
			panic(boom)
		}}, 0, 1024)
		t.Error("no panic")
	}()
	if calls != 1 || f.CallbackPanic() != nil {
		t.Errorf("%d calls, want 1", calls)
	}
	var grid, block int32
	want(t, f.t.OccupancyMaxPotentialBlockSize(0, &grid, &block, 1, driver.CUoccupancyB2DSize{Go: func(int32) uint64 {
		return 1
	}}, 0, 1), driver.CUDA_SUCCESS)
}
