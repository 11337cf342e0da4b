package softdev

import (
	"os"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// TestCheckpoint: a process is locked, saved, restored and let go, in this order alone; calls of others wait meanwhile,
// and its memory is as it was (CUDA Driver API, CUDA Checkpointing).
func TestCheckpoint(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	pid := int32(os.Getpid())
	state := func() (s driver.CUprocessState) {
		t.Helper()
		must(t, tab.CheckpointProcessGetState(0, pid, &s))
		return s
	}
	p := alloc(t, tab, ctx, 64)
	must(t, tab.MemsetD32_v2(ctx, p, 5, 4))
	illegal := driver.CUDA_ERROR_ILLEGAL_STATE
	want(t, "checkpoint of what runs", tab.CheckpointProcessCheckpoint(0, pid, nil), illegal)
	want(t, "restore of what runs", tab.CheckpointProcessRestore(0, pid, nil), illegal)
	want(t, "unlock of what runs", tab.CheckpointProcessUnlock(0, pid, nil), illegal)

	// Work that does not end in time: everything goes on.
	s := newTestStream(t, tab, ctx, 1)
	gate := newGate()
	gate.hold(t, tab, ctx, s)
	want(t, "lock beside work without an end", tab.CheckpointProcessLock(0, pid,
		&driver.CUcheckpointLockArgs{TimeoutMs: 20}), driver.CUDA_ERROR_NOT_READY)
	if state() != driver.CU_PROCESS_STATE_RUNNING {
		t.Errorf("state %d after a lock that came too late", state())
	}
	must(t, tab.MemsetD32Async(ctx, p, 6, 4, s))
	close(gate.open)
	must(t, tab.CheckpointProcessLock(0, pid, nil))
	if state() != driver.CU_PROCESS_STATE_LOCKED || tab.CheckpointProcessLock(0, pid, nil) != illegal {
		t.Errorf("state %d, not locked once", state())
	}
	var began, ended atomic.Bool
	done := make(chan driver.CUresult, 1)
	go func() {
		began.Store(true)
		r := tab.MemsetD32_v2(ctx, p, 7, 1)
		ended.Store(true)
		done <- r
	}()
	for !began.Load() {
		time.Sleep(time.Millisecond)
	}
	want(t, "restore before a checkpoint", tab.CheckpointProcessRestore(0, pid, nil), illegal)
	must(t, tab.CheckpointProcessCheckpoint(0, pid, nil))
	if state() != driver.CU_PROCESS_STATE_CHECKPOINTED {
		t.Errorf("state %d after the checkpoint", state())
	}
	want(t, "unlock before the restore", tab.CheckpointProcessUnlock(0, pid, nil), illegal)
	id := driver.CUuuid{Bytes: d.devices[0].uuid()}
	pair := driver.CUcheckpointGpuPair{OldUuid: id, NewUuid: driver.CUuuid{}}
	want(t, "to a device that is not there", tab.CheckpointProcessRestore(0, pid,
		&driver.CUcheckpointRestoreArgs{GpuPairs: &pair, GpuPairsCount: 1}), bad)
	want(t, "no pairs", tab.CheckpointProcessRestore(0, pid, &driver.CUcheckpointRestoreArgs{GpuPairsCount: 1}), bad)
	pair.NewUuid = id
	must(t, tab.CheckpointProcessRestore(0, pid, &driver.CUcheckpointRestoreArgs{GpuPairs: &pair, GpuPairsCount: 1}))
	time.Sleep(5 * time.Millisecond)
	if ended.Load() {
		t.Error("a call was not held back")
	}
	want(t, "what is reserved", tab.CheckpointProcessUnlock(0, pid,
		&driver.CUcheckpointUnlockArgs{Reserved: [8]uint64{1}}), bad)
	must(t, tab.CheckpointProcessUnlock(0, pid, nil))
	must(t, <-done)
	var got [4]uint32
	must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&got[0]), p, 16))
	if got != [4]uint32{7, 6, 6, 6} {
		t.Errorf("memory %v", got)
	}
	tid := int32(0)
	must(t, tab.CheckpointProcessGetRestoreThreadId(0, pid, &tid))
	if tid != pid {
		t.Errorf("thread %d", tid)
	}
	if parent := int32(os.Getppid()); parent > 1 {
		want(t, "another process", tab.CheckpointProcessLock(0, parent, nil), driver.CUDA_ERROR_NOT_SUPPORTED)
	}
	// The driver can be closed while calls wait; they end.
	must(t, tab.CheckpointProcessLock(0, pid, nil))
	go func() { done <- tab.MemsetD32_v2(ctx, p, 7, 1) }()
	time.Sleep(2 * time.Millisecond)
	d.state.Store(driverClosed)
	d.letCalls()
	want(t, "a call when the driver is closed", <-done, driver.CUDA_ERROR_DEINITIALIZED)
	d.state.Store(driverLocked) // for the test's own Close
}

// TestCloseDuringLock: a driver that is closed while a lock waits for work without an end is not locked, and gives back
// once what the lock held.
func TestCloseDuringLock(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	pid := int32(os.Getpid())
	s := newTestStream(t, tab, ctx, 1)
	p := alloc(t, tab, ctx, 64)
	must(t, tab.MemsetD32_v2(ctx, p, 0, 4))
	must(t, tab.StreamWaitValue32_v2(ctx, s, p, 1, 0))
	locked, unlocked := make(chan driver.CUresult, 1), make(chan driver.CUresult, 1)
	go func() { locked <- tab.CheckpointProcessLock(0, pid, nil) }()
	for d.state.Load() != driverLocked {
		time.Sleep(time.Millisecond)
	}
	go func() { unlocked <- tab.CheckpointProcessUnlock(0, pid, nil) }()
	time.Sleep(20 * time.Millisecond) // the second call waits for the first
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]chan driver.CUresult{"lock": locked, "unlock": unlocked} {
		select {
		case r := <-c:
			// Which error comes is by the order of the two calls' ends.
			if r != driver.CUDA_ERROR_DEINITIALIZED && (name == "lock" || r != driver.CUDA_ERROR_ILLEGAL_STATE) {
				t.Errorf("%s gives %v once the driver is closed", name, r)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s does not end", name)
		}
	}
}
